//! A lexical view of a text: tokens, and the declarations at its namespace scope. It understands strings, comments, directives and brackets
//! but no types, so it also reads texts that the front end does not understand.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or keyword.
    Ident,
    /// A number.
    Number,
    /// A string or character literal.
    Literal,
    /// One byte of punctuation.
    Punct(u8),
    /// A whole directive, continuation lines included.
    Directive,
}

/// A token and its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub fn is(&self, punct: u8) -> bool {
        self.kind == Kind::Punct(punct)
    }

    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }
}

fn is_ident(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// The tokens of a text, comments left out.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let (mut i, mut line_begins) = (0, true);
    while i < bytes.len() {
        let start = i;
        let kind = match bytes[i] {
            b'\n' => {
                (i, line_begins) = (i + 1, true);
                continue;
            }
            b if b.is_ascii_whitespace() || b == b'\\' => {
                i += 1;
                continue;
            }
            b'/' if matches!(bytes.get(i + 1), Some(b'/' | b'*')) => {
                i = skip_comment(bytes, i);
                continue;
            }
            b'#' if line_begins => {
                i = skip_directive(bytes, i);
                Kind::Directive
            }
            b'"' | b'\'' => {
                i = skip_literal(bytes, i);
                Kind::Literal
            }
            b if b.is_ascii_digit() => {
                // A number, with exponents' signs and digit separators.
                while i < bytes.len()
                    && (is_ident(bytes[i])
                        || bytes[i] == b'.'
                        || bytes[i] == b'\'' && bytes.get(i + 1).is_some_and(u8::is_ascii_alphanumeric)
                        || matches!(bytes[i], b'+' | b'-') && matches!(bytes[i - 1], b'e' | b'E' | b'p' | b'P'))
                {
                    i += 1;
                }
                Kind::Number
            }
            b if is_ident(b) => {
                while i < bytes.len() && is_ident(bytes[i]) {
                    i += 1;
                }
                match (bytes.get(i), &text[start..i]) {
                    (Some(b'"'), "R" | "LR" | "uR" | "UR" | "u8R") => {
                        i = skip_raw_string(bytes, i);
                        Kind::Literal
                    }
                    (Some(b'"' | b'\''), "L" | "u" | "U" | "u8") => {
                        i = skip_literal(bytes, i);
                        Kind::Literal
                    }
                    _ => Kind::Ident,
                }
            }
            b => {
                i += 1;
                Kind::Punct(b)
            }
        };
        line_begins = false;
        out.push(Token { kind, start, end: i });
    }
    out
}

fn skip_comment(bytes: &[u8], i: usize) -> usize {
    if bytes[i + 1] == b'/' {
        return bytes[i..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| i + n);
    }
    bytes[i + 2..].windows(2).position(|w| w == b"*/").map_or(bytes.len(), |n| i + n + 4)
}

/// The end of a directive: of the first line without a continuation; a comment may carry it on.
fn skip_directive(bytes: &[u8], mut i: usize) -> usize {
    while i < bytes.len() {
        match bytes[i] {
            b'\n' => return i,
            b'\\' => i += if bytes.get(i + 1) == Some(&b'\r') { 3 } else { 2 },
            b'/' if bytes.get(i + 1) == Some(&b'*') => i = skip_comment(bytes, i),
            b'/' if bytes.get(i + 1) == Some(&b'/') => return skip_comment(bytes, i),
            _ => i += 1,
        }
    }
    bytes.len()
}

/// The place after the closing quote, or the end of the line where there is none.
fn skip_literal(bytes: &[u8], open: usize) -> usize {
    let mut i = open + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'\n' => return i,
            b if b == bytes[open] => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

fn skip_raw_string(bytes: &[u8], quote: usize) -> usize {
    let Some(n) = bytes[quote..].iter().position(|&b| b == b'(') else { return bytes.len() };
    let mut close = vec![b')'];
    close.extend_from_slice(&bytes[quote + 1..quote + n]);
    close.push(b'"');
    let begin = quote + n + 1;
    bytes[begin..].windows(close.len()).position(|w| w == close).map_or(bytes.len(), |k| begin + k + close.len())
}

/// A `#define`: true if it takes arguments, and the tokens of its replacement as text.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    /// True if it takes arguments.
    pub function_like: bool,
    /// The replacement.
    pub body: String,
}

/// The macros a text defines, added to `macros`.
pub(super) fn collect_macros(text: &str, tokens: &[Token], macros: &mut BTreeMap<String, Macro>) {
    for token in tokens.iter().filter(|t| t.kind == Kind::Directive) {
        if let Some(definition) = directive(token.text(text), "define") {
            define(definition, macros);
        }
    }
}

/// The text after the name of a directive, if that is `name`.
pub(super) fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix('#')?.trim_start().strip_prefix(name)?;
    (!rest.bytes().next().is_some_and(is_ident)).then_some(rest)
}

/// Adds a definition, in the form that follows `#define`.
pub(super) fn define(definition: &str, macros: &mut BTreeMap<String, Macro>) {
    let definition = definition.trim_start();
    let end = definition.bytes().position(|b| !is_ident(b)).unwrap_or(definition.len());
    let (name, rest) = definition.split_at(end);
    let function_like = rest.starts_with('(');
    let body = match (function_like, rest.find(')')) {
        (true, Some(close)) => &rest[close + 1..],
        _ => rest,
    };
    if !name.is_empty() {
        macros.insert(name.to_owned(), Macro { function_like, body: body.to_owned() });
    }
}

/// The words that put a declaration on the device.
const DEVICE_WORDS: [&str; 6] =
    ["__global__", "__device__", "__constant__", "__shared__", "__managed__", "__grid_constant__"];

/// The meaning that the macros of a text give to the names that use them.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Names that put a declaration on the device: CUDA's, and macros that contain one.
    device: BTreeSet<String>,
    /// Names that make a function a kernel.
    kernel: BTreeSet<String>,
    /// Function-like macros that stand for whole declarations.
    declaring: BTreeSet<String>,
    /// Those of them that stand for host code.
    host: BTreeSet<String>,
}

impl Words {
    /// Derives the words from the macros of a text and its headers.
    pub fn new(macros: &BTreeMap<String, Macro>) -> Self {
        let mut words = Words::default();
        words.device.extend(DEVICE_WORDS.map(str::to_owned));
        words.kernel.insert("__global__".to_owned());
        let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, m) in macros {
            for token in tokens(&m.body).iter().filter(|t| t.kind == Kind::Ident) {
                users.entry(token.text(&m.body)).or_default().push(name);
            }
        }
        // Macros use macros: follow the uses.
        for known in [&mut words.device, &mut words.kernel] {
            let mut work: Vec<String> = known.iter().cloned().collect();
            while let Some(name) = work.pop() {
                for user in users.get(name.as_str()).into_iter().flatten() {
                    if known.insert((*user).to_owned()) {
                        work.push((*user).to_owned());
                    }
                }
            }
        }
        for (name, m) in macros {
            if m.function_like && m.body.contains('{') {
                words.declaring.insert(name.clone());
                if !words.device.contains(name)
                    && ["<<<", "torch::", "at::", "TORCH_"].iter().any(|s| m.body.contains(s))
                {
                    words.host.insert(name.clone());
                }
            }
        }
        words
    }

    /// True if the name puts a declaration on the device.
    pub fn is_device(&self, name: &str) -> bool {
        self.device.contains(name)
    }

    /// True if the name makes a function a kernel.
    pub fn is_kernel(&self, name: &str) -> bool {
        self.kernel.contains(name)
    }

    /// True if the name is a macro that stands for host declarations.
    pub fn is_host(&self, name: &str) -> bool {
        self.host.contains(name)
    }
}

/// The kind of a declaration at namespace scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// A directive.
    Directive,
    /// `namespace x {` or `extern "C" {`, with the name (empty for the latter and for unnamed ones).
    Open(String),
    /// The `}` of an `Open`.
    Close,
    /// A function, declared or defined, or a use of a macro that looks like one.
    Function,
    /// A use of a macro that stands for whole declarations.
    MacroUse,
    /// Anything else: variables, types, aliases.
    Other,
}

/// One item at namespace scope.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub shape: Shape,
    /// Its tokens.
    pub range: Range<usize>,
    /// Its tokens up to the body.
    pub header: Range<usize>,
}

/// Words that may stand before a parenthesis in a declaration without making it a function.
pub(super) const ATTRIBUTES: [&str; 12] = [
    "__launch_bounds__",
    "__attribute__",
    "__declspec",
    "__align__",
    "__builtin_align__",
    "alignas",
    "decltype",
    "noexcept",
    "__cluster_dims__",
    "__maxnreg__",
    "__block_size__",
    "static_assert",
];

/// Splits a text into the items at its namespace scope.
pub(super) fn items(text: &str, tokens: &[Token], words: &Words) -> Vec<Item> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let item = item_at(text, tokens, words, i);
        i = item.range.end.max(i + 1);
        out.push(item);
    }
    out
}

fn item_at(text: &str, tokens: &[Token], words: &Words, start: usize) -> Item {
    let whole = |shape, end: usize| Item { shape, range: start..end, header: start..end };
    let first = &tokens[start];
    if first.kind == Kind::Directive {
        return whole(Shape::Directive, start + 1);
    }
    if first.is(b'}') {
        return whole(Shape::Close, start + 1);
    }
    if words.declaring.contains(first.text(text)) && tokens.get(start + 1).is_some_and(|t| t.is(b'(')) {
        return whole(Shape::MacroUse, closing(text, tokens, start + 1));
    }
    let (mut function, mut assigned, mut opens) = (false, false, None);
    let mut i = start;
    while i < tokens.len() {
        let token = &tokens[i];
        match token.kind {
            Kind::Ident => match token.text(text) {
                "template" if tokens.get(i + 1).is_some_and(|t| t.is(b'<')) => {
                    i = closing_angle(text, tokens, i + 1);
                    continue;
                }
                "namespace" if i == start || tokens[i - 1].kind == Kind::Ident => opens = Some(String::new()),
                "operator" => {
                    function = true;
                    // The operator's own punctuation does not count as structure.
                    i += 1;
                    while tokens.get(i).is_some_and(|t| matches!(t.kind, Kind::Punct(p) if p != b'(')) {
                        i += 1;
                    }
                    if tokens.get(i).is_some_and(|t| t.is(b'(')) && tokens.get(i + 1).is_some_and(|t| t.is(b')')) {
                        i += 2;
                    }
                    continue;
                }
                name => {
                    if let Some(opened) = &mut opens {
                        *opened = if opened.is_empty() { name.to_owned() } else { format!("{opened}::{name}") };
                    }
                }
            },
            Kind::Literal
                if i == start + 1
                    && tokens[start].text(text) == "extern"
                    && tokens.get(i + 1).is_some_and(|t| t.is(b'{')) =>
            {
                return whole(Shape::Open(String::new()), i + 2);
            }
            Kind::Punct(b'=') => assigned = true,
            Kind::Punct(b';') => return whole(if function { Shape::Function } else { Shape::Other }, i + 1),
            Kind::Punct(b'}') => return whole(Shape::Other, i),
            Kind::Punct(b'(') => {
                let named =
                    i > start && tokens[i - 1].kind == Kind::Ident && !ATTRIBUTES.contains(&tokens[i - 1].text(text));
                // An explicit instantiation or specialisation: `template void f<int>(int*);`
                let instance = i > start && tokens[i - 1].is(b'>') && first.text(text) == "template";
                function |= (named || instance) && !assigned;
                i = closing(text, tokens, i);
                continue;
            }
            Kind::Punct(b'[') => {
                i = closing(text, tokens, i);
                continue;
            }
            Kind::Punct(b'{') => {
                if let (Some(name), false) = (&opens, assigned) {
                    return whole(Shape::Open(name.clone()), i + 1);
                }
                let end = closing(text, tokens, i);
                if function && !assigned {
                    return Item { shape: Shape::Function, range: start..end, header: start..i };
                }
                i = end;
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    whole(if function { Shape::Function } else { Shape::Other }, tokens.len())
}

/// One past the bracket that closes the one at `open`. The branches of a conditional directive each start at the depth
/// that the first one started at.
pub(super) fn closing(text: &str, tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    let mut saved = Vec::new();
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Punct(b'(' | b'[' | b'{') => depth += 1,
            Kind::Punct(b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i + 1;
                }
            }
            Kind::Directive => {
                let line = token.text(text);
                if ["if", "ifdef", "ifndef"].iter().any(|d| directive(line, d).is_some()) {
                    saved.push(depth);
                } else if ["else", "elif"].iter().any(|d| directive(line, d).is_some()) {
                    // A conditional entered before `open` had depth 0 there.
                    depth = saved.last().copied().unwrap_or(0);
                } else if directive(line, "endif").is_some() {
                    saved.pop();
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// One past the `>` that closes the `<` at `open`.
fn closing_angle(text: &str, tokens: &[Token], open: usize) -> usize {
    let (mut depth, mut i) = (0usize, open);
    while i < tokens.len() {
        match tokens[i].kind {
            Kind::Punct(b'<') => depth += 1,
            Kind::Punct(b'>') => {
                depth -= 1;
                if depth == 0 {
                    return i + 1;
                }
            }
            Kind::Punct(b'(' | b'[' | b'{') => {
                i = closing(text, tokens, i);
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(text: &str) -> Vec<Shape> {
        let tokens = tokens(text);
        let mut macros = BTreeMap::new();
        collect_macros(text, &tokens, &mut macros);
        items(text, &tokens, &Words::new(&macros)).into_iter().map(|i| i.shape).collect()
    }

    #[test]
    fn namespace_scope_is_split_into_declarations() {
        let text = "namespace a { int f(int x) { return x; } } struct S { int g() { return 1; } };\n\
                    float y = sqrtf(2.f); template <class T, int N = (3 > 2)> T h(T t);\n#define X 1\nextern \"C\" { }";
        let open = |s: &str| Open(s.to_owned());
        use Shape::*;
        assert_eq!(shapes(text), [open("a"), Function, Close, Other, Other, Function, Directive, open(""), Close]);
    }

    #[test]
    fn braces_in_strings_comments_and_both_branches_of_a_conditional_do_not_count() {
        let text = "void f() { const char* s = \"}\"; /* } */ char c = '}'; // }\n}\n\
                    void g(int a)\n#if 1\n{\n#else\n{\n#endif\n}\nint x;";
        assert_eq!(shapes(text).len(), 3);
        assert_eq!(shapes("auto s = R\"x(})x\"; int y;").len(), 2);
    }

    #[test]
    fn garbage_and_unclosed_things_end() {
        for text in
            ["{{{((", "}}}", "\"abc", "/*", "R\"(", "operator", "template <", "#define", "'", "\\", "a\\\nb", "#\\"]
        {
            shapes(text);
        }
    }
}
