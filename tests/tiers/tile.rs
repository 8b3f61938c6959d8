//! Tiles: between barriers all threads of a block copy elements into shared memory, at places that are affine in the thread's index, up to
//! the very end of an array, or past it if a fault is wanted; then loops read these elements. Bounds checks hoisted to once per block must
//! agree with the accesses of each thread.

use super::stmt::Writer;
use super::text::Node;

/// A number that differs by thread, or is the same for a block, from 0 on.
struct Part {
    name: String,
    most: i64,
}

/// The threads that ask for elements, and their numbers.
struct Threads {
    block: [u32; 3],
    parts: Vec<Part>,
}

/// The element type of a tile, the array it is read from, and the type of its sums.
const KINDS: [(&str, &str, &str); 5] = [
    ("float", "a", "float"),
    ("float", "b", "float"),
    ("int", "p", "int"),
    ("unsigned", "u", "unsigned"),
    ("double", "d", "double"),
];

impl Writer {
    /// The statements of threads that have one cell each, of arrays that are read with `inputs` elements; past an end where `astray`.
    pub fn tiles(&mut self, inputs: usize, (grid, block): ([u32; 3], [u32; 3]), astray: bool) -> Vec<Node> {
        let part = |name: &str, count: u32| Part { name: name.to_owned(), most: i64::from(count) - 1 };
        let mut parts = vec![
            part("threadIdx.x", block[0]),
            part("threadIdx.y", block[1]),
            part("threadIdx.z", block[2]),
            part("blockIdx.x", grid[0]),
            part("(k & 3)", 4),
        ];
        let mut nodes = Vec::new();
        let rounds = self.below(4);
        if rounds > 0 {
            parts.push(part("t", rounds as u32));
        }
        let threads = Threads { block, parts };
        let count = 1 + self.below(2);
        let astray = if astray { self.below(count + 1) } else { count + 1 };
        let mut sums = Vec::new();
        let mut body = Vec::new();
        let mut tiles = Vec::new();
        for (which, usual) in KINDS.into_iter().enumerate().take(count) {
            let far = if which == astray { 1 + self.below(3) } else { 0 };
            let (ty, from, sum) = if self.one_in(3) { *self.scope.rng.pick(&KINDS) } else { usual };
            let tile = self.name("m");
            self.shared.push(format!("__shared__ {ty} {tile}[{}];", self.scope.threads));
            let index = self.index(&threads, inputs as i64, far as i64);
            let own = self.own(block);
            let element = format!("{from}[{index}]");
            let other = format!("({ty}){}", 1 + self.below(9));
            let value = match self.below(9) {
                0 => format!("p[i] > 0 ? {element} : {other}"),
                1 => format!("{element} + ({ty})n"),
                2 | 3 => format!("{} ? {element} : {other}", self.guard(&threads, true)),
                4 => format!("{} ? {other} : {element}", self.guard(&threads, false)),
                _ => element.clone(),
            };
            body.push(match self.below(6) {
                0 => {
                    let sides = vec![Node::line(format!("{tile}[{own}] = {element};"))];
                    let otherwise = Node::block("else {", vec![Node::line(format!("{tile}[{own}] = {other};"))], "}");
                    let head = format!("if ({}) {{", self.guard(&threads, true));
                    Node::Group(vec![Node::block(head, sides, "}"), otherwise])
                }
                _ => Node::line(format!("{tile}[{own}] = {value};")),
            });
            tiles.push((tile, sum));
        }
        match self.below(6) {
            0 => body.push(Node::line(format!("y[i] += a[{}];", self.index(&threads, inputs as i64, 0)))),
            1 => body.insert(0, Node::line("y[i] = a[i] - b[i + 1];")),
            // These arrays are a little too short.
            2 if astray == count => body.push(Node::line("z[i] = q[i] + 1;")),
            _ => {}
        }
        body.push(Node::pinned("__syncthreads();"));
        if self.one_in(4) {
            let (tile, _) = self.scope.rng.pick(&tiles).clone();
            let own = self.own(block);
            let some = format!(
                "if ({} < {}) {{",
                self.scope.rng.pick(&["threadIdx.x", "(int)threadIdx.x", "tid"]),
                1 + self.below(40)
            );
            body.push(Node::block(some, vec![Node::line(format!("{tile}[{own}] = {tile}[{own}] * 3 + 1;"))], "}"));
            body.push(Node::pinned("__syncthreads();"));
        }
        body.extend(self.used(&tiles, &threads, &mut sums));
        if self.one_in(3) {
            let far = if astray == count && self.one_in(2) { 1 + self.below(3) } else { 0 };
            body.push(self.rows(&threads, inputs as i64, far as i64, &mut sums));
        }
        body.push(Node::pinned("__syncthreads();"));
        for (sum, ty) in &sums {
            nodes.push(Node::pinned(format!("{ty} {sum} = ({ty})b[i];")));
        }
        match rounds {
            0 => nodes.extend(body),
            _ => nodes.push(Node::block(format!("for (int t = 0; t < {rounds}; ++t) {{"), body, "}")),
        }
        nodes.extend(sums.iter().map(|(sum, ty)| {
            Node::line(match *ty {
                "float" => format!("y[i] += {sum};"),
                "double" => format!("e[i] = {sum};"),
                _ => format!("r[i] ^= (int){sum};"),
            })
        }));
        nodes
    }

    /// The position of a thread in its block.
    fn own(&mut self, [x, y, z]: [u32; 3]) -> String {
        match (self.below(4), z) {
            (0, _) => "tid".to_owned(),
            (_, 1) if y == 1 => "threadIdx.x".to_owned(),
            (1, 1) => format!("(int)threadIdx.y * {x} + (int)threadIdx.x"),
            (_, 1) => format!("threadIdx.y * {x} + threadIdx.x"),
            _ => format!("(threadIdx.z * {y} + threadIdx.y) * {x} + threadIdx.x"),
        }
    }

    /// The uses of tiles by threads: sums, in loops or not.
    fn used(
        &mut self,
        tiles: &[(String, &'static str)],
        threads: &Threads,
        sums: &mut Vec<(String, &'static str)>,
    ) -> Vec<Node> {
        let mut nodes = Vec::new();
        let room = self.scope.threads as i64;
        for _ in 0..1 + self.below(2) {
            let ((a, ty), (b, _)) = (self.scope.rng.pick(tiles).clone(), self.scope.rng.pick(tiles).clone());
            let sum = self.name("w");
            let rounds = self.below(20).min(self.scope.threads);
            let mut inner = Threads { block: threads.block, parts: Vec::new() };
            inner.parts.extend(threads.parts.iter().take(3).map(|p| Part { name: p.name.clone(), most: p.most }));
            let counter = self.name("j");
            if rounds > 0 {
                inner.parts.push(Part { name: counter.clone(), most: rounds as i64 - 1 });
            }
            let (x, y) = (self.index(&inner, room, 0), self.index(&inner, room, 0));
            let line = match self.below(4) {
                0 => format!("{sum} += {a}[{x}];"),
                1 => format!("{sum} = {sum} * ({ty})2 - ({ty}){a}[{x}];"),
                _ => format!("{sum} += ({ty})({a}[{x}] * {b}[{y}]);"),
            };
            nodes.push(match rounds {
                0 => Node::line(line),
                _ => Node::block(
                    format!("for (int {counter} = 0; {counter} < {rounds}; ++{counter}) {{"),
                    vec![Node::line(line)],
                    "}",
                ),
            });
            sums.push((sum, ty));
        }
        nodes
    }

    /// A loop over elements of an array, in rows chosen by the thread's index.
    fn rows(&mut self, threads: &Threads, room: i64, far: i64, sums: &mut Vec<(String, &'static str)>) -> Node {
        let (sum, counter, rounds) = (self.name("w"), self.name("j"), 1 + self.below(20));
        let mut inner = Threads { block: threads.block, parts: Vec::new() };
        inner.parts.extend(threads.parts.iter().take(5).map(|p| Part { name: p.name.clone(), most: p.most }));
        inner.parts.push(Part { name: counter.clone(), most: rounds as i64 - 1 });
        let line = format!("{sum} += a[{}];", self.index(&inner, room, far));
        sums.push((sum, "float"));
        let head = format!("for (int {counter} = 0; {counter} < {rounds}; ++{counter}) {{");
        Node::block(head, vec![Node::line(line)], "}")
    }

    /// A condition that is mostly `wanted` for all threads of a block, or for most.
    fn guard(&mut self, threads: &Threads, wanted: bool) -> String {
        let one = |this: &mut Self| {
            let room = 64 + this.below(64) as i64;
            // A number below zero is a large one without a sign.
            let far = this.below(3) as i64;
            let index = this.index(threads, room, far);
            let bound = match this.below(5) {
                0 => "(n & 127)".to_owned(),
                1 => format!("(k & 3) * {}", room / 3 + 1),
                2 => format!("(long long){room}"),
                _ => (room - this.below(9) as i64).to_string(),
            };
            match (wanted, this.below(3)) {
                (true, 0) => format!("{bound} > {index}"),
                (true, 1) => format!("!({index} >= {bound})"),
                (true, _) => format!("{index} < {bound}"),
                (false, 0) => format!("{bound} <= {index}"),
                (false, _) => format!("{index} >= {bound}"),
            }
        };
        let (first, count) = (one(self), self.below(3));
        let join = if wanted { "&&" } else { "||" };
        (0..count).fold(format!("({first})"), |all, _| format!("({all} {join} {})", one(self)))
    }

    /// A place in an array of `room` elements as a sum of multiples, mostly such that the last or the first thread's place is an end of the
    /// array, and `far` past that.
    fn index(&mut self, threads: &Threads, room: i64, far: i64) -> String {
        let ty = *self.scope.rng.pick(&["int", "int", "int", "unsigned", "long long"]);
        let row = i64::from(threads.block[0]);
        let (mut text, mut least, mut most) = (String::new(), 0, 0);
        for (i, part) in threads.parts.iter().enumerate() {
            let by = match i {
                0 => *self.scope.rng.pick(&[1, 1, 1, 1, 0, 2, -1]),
                1 | 2 => *self.scope.rng.pick(&[row, row, 16, 3, 0, 1, -row]),
                _ => *self.scope.rng.pick(&[1, 0, 16, row, -2]),
            };
            // The length of some rows is known only when it runs.
            let by_k = i == 1 && self.one_in(4);
            let (low, high) = match (by_k, by * part.most) {
                (true, _) => (0, 3 * part.most),
                (_, most) => (most.min(0), most.max(0)),
            };
            if part.most == 0 || high - low == 0 || (most - least) + (high - low) >= room {
                continue;
            }
            (least, most) = (least + low, most + high);
            // The index leaves 32 bits in one launch of four.
            let wraps = ty == "long long" && by == 1 && self.one_in(4);
            text += &match by {
                _ if wraps && !by_k => {
                    format!(" + (long long)((unsigned){} + (k & 3) * 1500000000u) - (k & 3) * 1500000000LL", part.name)
                }
                _ if by_k => format!(" + ({ty}){} * ({ty})(k & 3)", part.name),
                1 => format!(" + ({ty}){}", part.name),
                by if by < 0 => format!(" - ({ty}){} * {}", part.name, -by),
                by => format!(" + ({ty}){} * {by}", part.name),
            };
        }
        let offset = match self.below(3) {
            0 => -least - far,
            _ => room - 1 - most + far,
        };
        format!("({ty}){offset}{text}")
    }
}
