//! A kernel's text as a tree of statements, so that a failing kernel can be made smaller.

/// A piece of the text.
#[derive(Debug, Clone)]
pub enum Node {
    /// A statement that may go.
    Line(String),
    /// A statement that goes with the block it is in.
    Pinned(String),
    /// A construct with a body: `if (x) {`, statements, `}`.
    Block { head: String, body: Vec<Node>, tail: String },
    /// Statements that belong together.
    Group(Vec<Node>),
}

impl Node {
    pub fn line(text: impl Into<String>) -> Node {
        Node::Line(text.into())
    }

    pub fn pinned(text: impl Into<String>) -> Node {
        Node::Pinned(text.into())
    }

    pub fn block(head: impl Into<String>, body: Vec<Node>, tail: impl Into<String>) -> Node {
        Node::Block { head: head.into(), body, tail: tail.into() }
    }

    fn write(&self, depth: usize, out: &mut String) {
        match self {
            Node::Line(text) | Node::Pinned(text) => {
                out.push_str(&"    ".repeat(depth));
                out.push_str(text);
                out.push('\n');
            }
            Node::Block { head, body, tail } => {
                Node::line(head.as_str()).write(depth, out);
                body.iter().for_each(|n| n.write(depth + 1, out));
                Node::line(tail.as_str()).write(depth, out);
            }
            Node::Group(nodes) => nodes.iter().for_each(|n| n.write(depth, out)),
        }
    }
}

/// The text of nodes.
pub fn render(nodes: &[Node]) -> String {
    let mut out = String::new();
    nodes.iter().for_each(|n| n.write(0, &mut out));
    out
}

/// The number of nodes that may go.
pub fn removable(nodes: &[Node]) -> usize {
    nodes
        .iter()
        .map(|node| match node {
            Node::Line(_) => 1,
            Node::Pinned(_) => 0,
            Node::Block { body, .. } => 1 + removable(body),
            Node::Group(body) => 1 + removable(body),
        })
        .sum()
}

/// The nodes without one of those that may go, by its number `which`.
pub fn without(nodes: &[Node], which: usize) -> Vec<Node> {
    let mut left = which as isize;
    drop_one(nodes, &mut left)
}

fn drop_one(nodes: &[Node], left: &mut isize) -> Vec<Node> {
    let mut out = Vec::with_capacity(nodes.len());
    for node in nodes {
        if !matches!(node, Node::Pinned(_)) {
            *left -= 1;
            if *left == -1 {
                continue;
            }
        }
        out.push(match node {
            Node::Line(_) | Node::Pinned(_) => node.clone(),
            Node::Block { head, body, tail } => {
                Node::Block { head: head.clone(), body: drop_one(body, left), tail: tail.clone() }
            }
            Node::Group(body) => Node::Group(drop_one(body, left)),
        });
    }
    out
}

/// Texts with one expression in parentheses replaced by a constant, or by one of the two sides of its operator, the largest first.
pub fn simpler(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    for start in 0..bytes.len() {
        let called = start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_');
        if bytes[start] != b'(' || called {
            continue;
        }
        let Some(end) = closing(bytes, start) else { continue };
        let inner = &text[start + 1..end];
        let with = |piece: &str| format!("{}{}{}", &text[..start], piece, &text[end + 1..]);
        if inner.len() <= 1 {
            continue;
        }
        out.push((inner.len(), with("1")));
        for (left, right) in halves(inner) {
            out.push((inner.len() - left.len(), with(left)));
            out.push((inner.len() - right.len(), with(right)));
        }
    }
    out.sort_by_key(|(saved, _)| std::cmp::Reverse(*saved));
    out.into_iter().map(|(_, text)| text).collect()
}

fn closing(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, b) in bytes.iter().enumerate().skip(start) {
        match b {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'\n' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// The operands left and right of each operator that is not in parentheses.
fn halves(text: &str) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ' ' if depth == 0 => {
                let rest = &text[i + 1..];
                if let Some((operator, right)) = rest.split_once(' ')
                    && !operator.is_empty()
                    && operator.chars().all(|c| "+-*/%&|^<>=!?:".contains(c))
                {
                    out.push((&text[..i], right));
                }
            }
            _ => {}
        }
    }
    out
}
