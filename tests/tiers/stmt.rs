//! Statements of kernels and their helpers. Memory that a thread writes is read by that thread alone, or by all after a barrier.

use super::expr::Scope;
use super::text::Node;
use super::ty::Ty::{self, Bool, F32, F64, I16, I32, I64, U8, U32, U64};
use super::ty::{Array, COMMON, TYPES, Var};

/// Mask of all lanes.
pub const FULL: &str = "0xffffffffu";

/// The threads that may do something together at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sync {
    /// None: they may have diverged.
    None,
    /// Those of a warp.
    Warp,
    /// Those of a block.
    Block,
}

/// Writes the statements of one function.
pub struct Writer {
    pub scope: Scope,
    pub sync: Sync,
    /// The number of statements that may still be written.
    pub fuel: usize,
    /// For each enclosing loop, the threads that may do something together in its body; `None` in a `switch`, where nothing jumps.
    loops: Vec<Option<Sync>>,
    next: usize,
    /// Shared variables, to be declared at the start.
    pub shared: Vec<String>,
    /// True if parts of a warp may diverge and meet again.
    pub parts: bool,
    /// The type of an early `return`'s value, which a kernel's `return` leaves out; `None` where there must be no early `return`.
    pub leave: Option<Ty>,
}

impl Writer {
    pub fn new(scope: Scope, sync: Sync, fuel: usize) -> Self {
        Writer { scope, sync, fuel, loops: Vec::new(), next: 0, shared: Vec::new(), parts: false, leave: None }
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.scope.rng.below(n)
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.scope.rng.one_in(n)
    }

    pub fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn ty(&mut self) -> Ty {
        let types = if self.scope.simple { &TYPES[..COMMON] } else { &TYPES[..] };
        *self.scope.rng.pick(types)
    }

    pub fn expr(&mut self, ty: Ty) -> String {
        let depth = 1 + self.below(3);
        self.scope.expr(ty, depth)
    }

    pub fn small(&mut self, ty: Ty) -> String {
        self.scope.expr(ty, 1)
    }

    pub fn add(&mut self, name: &str, ty: Ty, mutable: bool, max: Option<usize>) {
        self.scope.vars.push(Var { name: name.to_owned(), ty, mutable, uniform: false, max });
    }

    /// Statements in a scope of their own, most of which assign to variables outside.
    pub fn body(&mut self, count: usize, sync: Sync) -> Vec<Node> {
        let (vars, arrays) = (self.scope.vars.len(), self.scope.arrays.len());
        let before = std::mem::replace(&mut self.sync, sync);
        let mut out = self.statements(count);
        if !self.one_in(4) {
            let own = self.scope.kernel && self.one_in(3);
            out.push(if own { self.output() } else { self.outer_assignment(vars) });
        }
        self.sync = before;
        self.scope.vars.truncate(vars);
        self.scope.arrays.truncate(arrays);
        out
    }

    /// Statements in the current scope.
    pub fn open(&mut self, count: usize, sync: Sync) -> Vec<Node> {
        let before = std::mem::replace(&mut self.sync, sync);
        let out = self.statements(count);
        self.sync = before;
        out
    }

    pub fn statements(&mut self, count: usize) -> Vec<Node> {
        let mut out = Vec::new();
        for _ in 0..count {
            if self.fuel == 0 {
                break;
            }
            self.fuel -= 1;
            out.push(self.statement());
        }
        out
    }

    fn count(&mut self) -> usize {
        1 + self.below(4)
    }

    fn statement(&mut self) -> Node {
        if self.sync == Sync::Block && self.one_in(4) {
            return self.together();
        }
        if self.sync >= Sync::Warp && self.one_in(5) {
            return self.warp();
        }
        match self.below(40) {
            0..=8 => self.declaration(),
            9..=14 => self.assignment(),
            15..=20 if self.scope.kernel => self.output(),
            21..=24 => self.branch(),
            25 | 26 => self.counted(),
            27 => self.conditional_loop(),
            28 | 29 => self.jump(),
            30 => self.switch(),
            31 | 32 => self.array(),
            33 | 34 => self.array_write(),
            35 if self.scope.kernel => self.atomic(),
            36 if self.sync == Sync::Block => self.uniform_declaration(),
            37 => {
                let count = self.count();
                let sync = self.sync;
                let body = self.body(count, sync);
                Node::block("{", body, "}")
            }
            _ => self.declaration(),
        }
    }

    fn declaration(&mut self) -> Node {
        let ty = self.ty();
        let e = self.expr(ty);
        let name = self.name("v");
        let mutable = self.below(4) > 0;
        self.add(&name, ty, mutable, None);
        Node::line(format!("{}{} {name} = {e};", if mutable { "" } else { "const " }, ty.name()))
    }

    fn uniform_declaration(&mut self) -> Node {
        let ty = *self.scope.rng.pick(&[F32, I32, I32, U32, F64]);
        let e = self.scope.uniformly(|s| s.expr(ty, 2));
        let name = self.name("c");
        self.scope.vars.push(Var { name: name.clone(), ty, mutable: false, uniform: true, max: None });
        Node::line(format!("const {} {name} = {e};", ty.name()))
    }

    fn assignment(&mut self) -> Node {
        self.outer_assignment(usize::MAX)
    }

    /// An assignment to one of the first so many variables.
    fn outer_assignment(&mut self, among: usize) -> Node {
        let vars = self.scope.vars.iter().take(among);
        let mutable: Vec<(String, Ty)> = vars.filter(|v| v.mutable).map(|v| (v.name.clone(), v.ty)).collect();
        if mutable.is_empty() {
            return self.declaration();
        }
        let (name, ty) = self.scope.rng.pick(&mutable).clone();
        if ty == Bool {
            return Node::line(format!("{name} = {};", self.expr(ty)));
        }
        if self.one_in(8) {
            return Node::line(format!("{name}{};", if self.one_in(2) { "++" } else { "--" }));
        }
        let op = *self.scope.rng.pick(if ty.is_float() {
            &["=", "+=", "-=", "*=", "=", "+="]
        } else {
            &["=", "+=", "-=", "*=", "^=", "|=", "&=", "="]
        });
        Node::line(format!("{name} {op} {};", self.expr(ty)))
    }

    fn output(&mut self) -> Node {
        if !self.scope.cell {
            return self.declaration();
        }
        let arrays = [("y", F32), ("y", F32), ("y", F32), ("r", I32), ("r", I32), ("e", F64), ("z", I64), ("g", I16)];
        let (array, ty) = *self.scope.rng.pick(&arrays[..if self.scope.simple { 6 } else { 8 }]);
        let op = *self.scope.rng.pick(&["=", "=", "=", "=", "=", "+=", "-="]);
        Node::line(format!("{array}[i] {op} {};", self.expr(ty)))
    }

    /// A condition, and the threads that may do something together where it holds.
    fn parting(&mut self) -> (String, Sync) {
        if self.sync == Sync::Block && self.one_in(2) || self.one_in(6) {
            return (self.scope.uniformly(|s| s.expr(Bool, 2)), self.sync);
        }
        if self.sync >= Sync::Warp && self.parts && self.one_in(3) {
            let c = self.below(3);
            return (format!("(tid / 32 + {c}) % 2 == 0"), Sync::Warp);
        }
        (self.expr(Bool), Sync::None)
    }

    fn branch(&mut self) -> Node {
        let (cond, sync) = self.parting();
        let (then, els) = (self.count(), self.count());
        let then = self.body(then, sync);
        match self.below(5) {
            0..=2 => Node::block(format!("if ({cond}) {{"), then, "}"),
            3 => {
                let els = self.body(els, sync);
                let both = vec![
                    Node::block(format!("if ({cond}) {{"), then, "}"),
                    Node::Block { head: "else {".to_owned(), body: els, tail: "}".to_owned() },
                ];
                Node::Group(both)
            }
            _ => {
                let other = self.expr(Bool);
                let (more, els) = (self.body(els, Sync::None), self.body(1, Sync::None));
                Node::Group(vec![
                    Node::block(format!("if ({cond}) {{"), then, "}"),
                    Node::block(format!("else if ({other}) {{"), more, "}"),
                    Node::block("else {", els, "}"),
                ])
            }
        }
    }

    /// A loop with a counter, up to a number that is the same for all threads or differs.
    fn counted(&mut self) -> Node {
        let name = self.name("j");
        let (limit, max, sync) = match self.below(6) {
            0 | 1 => {
                let c = 1 + self.below(9);
                (c.to_string(), c, self.sync)
            }
            2 if self.scope.kernel => ("(k & 7)".to_owned(), 7, self.sync),
            3 if self.scope.kernel => ("(int)(blockIdx.x % 4 + 1)".to_owned(), 5, self.sync),
            4 if self.scope.kernel => ("(int)threadIdx.x % 5".to_owned(), 5, Sync::None),
            _ => (format!("({} & 7)", self.small(I32)), 7, Sync::None),
        };
        let head = match self.below(6) {
            0 => format!("for (int {name} = {limit} - 1; {name} >= 0; {name}--) {{"),
            1 => format!("for (int {name} = 0; {name} < {limit}; {name} += 2) {{"),
            2 => format!("for (unsigned {name} = 0; {name} < (unsigned)({limit}); ++{name}) {{"),
            3 => format!("for (int {name} = {limit}; {name} > 0; {name} >>= 1) {{"),
            _ => format!("for (int {name} = 0; {name} < {limit}; {name}++) {{"),
        };
        let ty = if head.contains("unsigned") { U32 } else { I32 };
        let uniform = sync == self.sync && sync == Sync::Block;
        self.scope.vars.push(Var { name, ty, mutable: false, uniform, max: Some(max) });
        self.loops.push(Some(sync));
        let count = self.count();
        let body = self.body(count, sync);
        self.loops.pop();
        self.scope.vars.pop();
        Node::block(head, body, "}")
    }

    fn conditional_loop(&mut self) -> Node {
        let name = self.name("w");
        let most = 1 + self.below(9);
        let voted = self.sync >= Sync::Warp && self.parts;
        let (cond, sync) = if voted {
            self.add(&name, I32, false, Some(most));
            let cond = self.expr(Bool);
            self.scope.vars.pop();
            (format!("__any_sync({FULL}, {cond})"), Sync::Warp)
        } else {
            (self.expr(Bool), Sync::None)
        };
        self.add(&name, I32, false, Some(most + 1));
        self.loops.push(Some(sync));
        let count = self.count();
        let mut body = vec![Node::pinned(format!("{name}++;"))];
        body.extend(self.body(count, sync));
        self.loops.pop();
        let start = Node::pinned(format!("int {name} = 0;"));
        let bounded = format!("{name} < {most} && {cond}");
        let looped = if self.one_in(3) && !voted {
            Node::block("do {", body, format!("}} while ({bounded});"))
        } else {
            Node::block(format!("while ({bounded}) {{"), body, "}")
        };
        self.scope.vars.pop();
        Node::Group(vec![start, looped])
    }

    fn jump(&mut self) -> Node {
        let inner = self.loops.last().copied();
        let leaves = self.leave.is_some() && (inner.is_none() || self.one_in(4));
        if let Some(ty) = self.leave.filter(|_| leaves) {
            let cond = if self.sync == Sync::Block && self.one_in(2) {
                self.scope.uniformly(|s| s.expr(Bool, 2))
            } else {
                self.expr(Bool)
            };
            let value = if self.scope.kernel { String::new() } else { format!(" {}", self.small(ty)) };
            return Node::line(format!("if ({cond}) return{value};"));
        }
        let Some(Some(sync)) = inner else { return self.assignment() };
        let word = if self.one_in(2) { "break" } else { "continue" };
        match sync {
            Sync::None => Node::line(format!("if ({}) {word};", self.expr(Bool))),
            Sync::Block if self.sync == Sync::Block => {
                Node::line(format!("if ({}) {word};", self.scope.uniformly(|s| s.expr(Bool, 2))))
            }
            _ => self.assignment(),
        }
    }

    fn switch(&mut self) -> Node {
        let uniform = self.sync == Sync::Block && self.one_in(2);
        let value = if uniform { self.scope.uniformly(|s| s.expr(I32, 1)) } else { self.expr(I32) };
        let sync = if uniform { self.sync } else { Sync::None };
        let cases = 1 + self.below(4);
        let default = self.below(6);
        self.loops.push(None);
        let mut body = Vec::new();
        for case in 0..=cases {
            let head = match () {
                () if case == default => "default: {".to_owned(),
                () if self.one_in(5) => format!("case {case}: case {}: {{", case + 6),
                () => format!("case {case}: {{"),
            };
            let count = 1 + self.below(2);
            let inner = self.body(count, sync);
            body.push(Node::block(head, inner, if self.one_in(4) { "}" } else { "} break;" }));
        }
        self.loops.pop();
        Node::block(format!("switch ({value} & 7) {{"), body, "}")
    }

    fn array(&mut self) -> Node {
        let ty = *self.scope.rng.pick(&[F32, F32, I32, I32, U32, F64, U8, I16, I64]);
        let len = *self.scope.rng.pick(&[2usize, 4, 4, 8, 16]);
        let name = self.name("t");
        let node = if len <= 4 && self.one_in(2) {
            let first: Vec<String> = (0..len).map(|_| format!("({})({})", ty.name(), self.small(ty))).collect();
            Node::line(format!("{} {name}[{len}] = {{{}}};", ty.name(), first.join(", ")))
        } else {
            let j = self.name("j");
            self.add(&j, I32, false, Some(len));
            let e = self.expr(ty);
            self.scope.vars.pop();
            Node::Group(vec![
                Node::pinned(format!("{} {name}[{len}];", ty.name())),
                Node::pinned(format!("for (int {j} = 0; {j} < {len}; {j}++) {name}[{j}] = {e};")),
            ])
        };
        self.scope.arrays.push(Array { name, ty, len });
        node
    }

    fn array_write(&mut self) -> Node {
        let arrays = self.scope.arrays.clone();
        if arrays.is_empty() {
            return self.array();
        }
        let array = self.scope.rng.pick(&arrays).clone();
        let at = self.scope.element(array.len, 1);
        let op = if self.one_in(3) { "+=" } else { "=" };
        Node::line(format!("{}[{at}] {op} {};", array.name, self.expr(array.ty)))
    }
}

impl Writer {
    /// Variables with the elements of the arrays for the thread.
    pub fn inputs(&mut self) -> Vec<Node> {
        let mut out = Vec::new();
        for (array, ty) in [("a", F32), ("b", F32), ("p", I32), ("u", U32), ("d", F64), ("q", I64), ("c", U8)] {
            let wanted = !self.scope.simple || !matches!(ty, I64 | U8);
            if wanted && self.one_in(if ty == F32 { 2 } else { 4 }) {
                let name = self.name("v");
                out.push(Node::line(format!("{} {name} = {array}[{}];", ty.name(), self.scope.index(1))));
                self.add(&name, ty, true, None);
            }
        }
        out
    }

    /// Statements without branches that only access arrays at consecutive places.
    pub fn plain(&mut self, count: usize) -> Vec<Node> {
        (0..count)
            .map(|_| match self.below(5) {
                0 | 1 => self.declaration(),
                2 => self.assignment(),
                _ => self.output(),
            })
            .collect()
    }

    /// A sum over a row and a column.
    pub fn product(&mut self) -> Node {
        let (sum, j) = (self.name("v"), self.name("j"));
        self.add(&sum, F32, true, None);
        let line = match self.below(3) {
            0 => format!("{sum} += a[row * k + {j}] * b[({j} & 7) * k + col];"),
            1 => format!("{sum} = fmaf(a[row * k + {j}], b[({j} & 7) * k + col], {sum});"),
            _ => format!("{sum} = fmaxf({sum}, a[row * k + {j}] - b[col * 2 + {j}]);"),
        };
        Node::Group(vec![
            Node::pinned(format!("float {sum} = 0.0f;")),
            Node::block(format!("for (int {j} = 0; {j} < k; {j}++) {{"), vec![Node::line(line)], "}"),
        ])
    }
}

/// Stores to each array that a thread writes, of values from the scope.
pub fn results(writer: &mut Writer) -> Vec<Node> {
    let mut out = Vec::new();
    let arrays = [("y", F32), ("r", I32), ("e", F64), ("z", I64)];
    for (array, ty) in &arrays[..if writer.scope.simple { 3 } else { 4 }] {
        if *array == "y" && !writer.scope.simple || writer.scope.rng.one_in(2) {
            out.push(Node::line(format!("{array}[i] = {};", writer.scope.expr(*ty, 2))));
        }
    }
    let vars: Vec<Var> = writer.scope.vars.iter().filter(|v| v.mutable).cloned().collect();
    for var in vars.iter().take(6) {
        out.push(Node::line(match var.ty {
            F32 => format!("y[i] += {};", var.name),
            F64 => format!("e[i] += {};", var.name),
            I64 | U64 => format!("z[i] ^= (long long){};", var.name),
            _ => format!("r[i] ^= (int){};", var.name),
        }));
    }
    out
}
