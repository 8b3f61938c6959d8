//! Grid-stride loops: kernels whose threads each walk an array with a stride, in a form that can run in the other loop order.
//!
//! ```text
//! for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) BODY
//! ```
//!
//! Threads that run one after the other each read the whole array with a stride, a cache line per step. CUDA gives no order between
//! threads, so a back end may run one step of all threads, then the next: `BODY` for neighbouring `i`. [`find`] recognises such a kernel
//! and gives that step as a function of its own. The back end checks at run time if the numbers allow the exchange (no wrapping).
//!
//! # What is recognised
//! A kernel of pure statements, then the loop, then nothing. The index is set once before the loop and once at its end, by adding the same
//! amount; `<` or `<=` against a bound that does not change is the only way out. Nothing else goes from one round of a thread to its next
//! through registers: every other local that the loop sets is set before it is read in the same round. A kernel with slots is left alone,
//! and so is a loop that prints, because the output stays in the threads' order.

use std::collections::{BTreeSet, HashMap};

use crate::ir::{
    BinaryOp, Block, CompareOp, Const, FuncKind, Function, Label, Local, Op, Param, ParamType, Scalar, Stmt, UnaryOp,
    Value,
};
use crate::source::Span;

/// Tallest expression of bound and stride that is followed.
const MAX_HEIGHT: u32 = 48;

/// A grid-stride loop, taken apart. The values are those of `func`.
#[derive(Debug)]
pub struct Strided {
    /// One round of one thread: the kernel with the loop's body in place of the loop. It has one more parameter, of type `index`, that is
    /// added to the index. It checks the bound itself.
    pub func: Function,
    /// The index's type, an integer of 32 or 64 bits.
    pub index: Scalar,
    /// The start of the index.
    pub start: Value,
    /// The amount added to it after each round.
    pub stride: Value,
    /// The value it is compared with.
    pub bound: Value,
    /// The type it is compared in, at least as wide as the index.
    pub compared: Scalar,
    /// True if the bound itself is still run.
    pub inclusive: bool,
    /// The loop.
    pub span: Span,
}

/// The grid-stride loop that a kernel consists of, if it does.
pub fn find(func: &Function) -> Option<Strided> {
    if func.kind != FuncKind::Kernel || !func.slots.is_empty() {
        return None;
    }
    let at = func.body.stmts.iter().position(|stmt| matches!(stmt, Stmt::Loop { .. }))?;
    let Stmt::Loop { label, body, step } = &func.body.stmts[at] else { return None };
    let shape = Shape::new(func, &func.body.stmts[at]);
    let pure = |stmt: &Stmt| match stmt {
        Stmt::Let(_, op) => shape.harmless(op),
        Stmt::Set(..) => true,
        _ => false,
    };
    let (before, after) = (&func.body.stmts[..at], &func.body.stmts[at + 1..]);
    if !before.iter().all(pure) || !after.iter().all(|stmt| matches!(stmt, Stmt::Return(None))) {
        return None;
    }
    let guard = shape.guard(body, *label)?;
    let stride = shape.stride(guard.index, body, step)?;
    if !shape.invariant(guard.bound, 0) || !shape.invariant(stride, 0) {
        return None;
    }
    let (set_at, start) = shape.start(guard.index, before)?;
    let mut rounds = Rounds {
        shape: &shape,
        index: guard.index,
        label: *label,
        may_continue: !step.is_empty(),
        leaves: HashMap::new(),
        independent: true,
    };
    // The guard is the only statement that may leave the loop; before it are only values.
    let mut assigned = Some(BTreeSet::new());
    for stmt in body.stmts.iter().filter(|stmt| !std::ptr::eq(*stmt, guard.stmt)) {
        assigned = rounds.stmt(stmt, assigned);
    }
    if !rounds.independent {
        return None;
    }
    let index = shape.int(start)?;
    let one = one_round(func, at, set_at, guard.index, index)?;
    let span = func.body.spans[at];
    let Guard { bound, compared, inclusive, .. } = guard;
    Some(Strided { func: one, index, start, stride, bound, compared, inclusive, span })
}

/// The kernel with one round in place of the loop at `at`; the index is set at `set_at`.
fn one_round(func: &Function, at: usize, set_at: usize, index: Local, ty: Scalar) -> Option<Function> {
    let mut one = func.clone();
    one.params.push(Param::new("offset".to_owned(), ParamType::Scalar(ty), Span::NONE));
    let mut old = std::mem::take(&mut one.body);
    old.stmts.truncate(at + 1);
    for (i, (stmt, span)) in old.stmts.into_iter().zip(old.spans).enumerate() {
        match stmt {
            Stmt::Set(local, start) if i == set_at => {
                let (offset, sum) = (one.new_value(ty.into(), span), one.new_value(ty.into(), span));
                one.body.push(Stmt::Let(offset, Op::Param(func.params.len() as u32)), span);
                one.body.push(Stmt::Let(sum, Op::Binary(BinaryOp::Add, start, offset)), span);
                one.body.push(Stmt::Set(local, sum), span);
            }
            Stmt::Loop { label, mut body, step } => {
                leave_instead(&mut body, label);
                for (stmt, span) in step.stmts.into_iter().zip(step.spans) {
                    body.push(stmt, span);
                }
                // The last change of the index. The statements before it stay, because they compute the stride.
                let Some(Stmt::Set(local, _)) = body.stmts.pop() else { return None };
                debug_assert_eq!(local, index);
                body.spans.pop();
                one.body.push(Stmt::Scope { label, body }, span);
            }
            stmt => one.body.push(stmt, span),
        }
    }
    Some(one)
}

/// Replaces every `Continue` of a loop that is gone by a `Break`.
fn leave_instead(block: &mut Block, label: Label) {
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::Continue(l) if *l == label => *stmt = Stmt::Break(label),
            stmt => stmt.blocks_mut().into_iter().for_each(|inner| leave_instead(inner, label)),
        }
    }
}

/// The condition that ends a loop.
struct Guard<'f> {
    stmt: &'f Stmt,
    index: Local,
    bound: Value,
    compared: Scalar,
    inclusive: bool,
}

/// A kernel and its loop, analysed.
struct Shape<'f> {
    func: &'f Function,
    ops: Vec<Option<&'f Op>>,
    /// The number of times that each local is set and read, in all and in the loop.
    sets: Vec<Uses>,
    gets: Vec<Uses>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    all: u32,
    inside: u32,
}

impl<'f> Shape<'f> {
    fn new(func: &'f Function, the_loop: &'f Stmt) -> Self {
        let locals = vec![Uses::default(); func.locals.len()];
        let mut shape = Shape { func, ops: vec![None; func.values.len()], sets: locals.clone(), gets: locals };
        func.body.for_each_stmt(&mut |stmt| {
            if let Stmt::Let(v, op) = stmt {
                shape.ops[v.index()] = Some(op);
            }
            if let Some(uses) = shape.uses(stmt) {
                uses.all += 1;
            }
        });
        for block in the_loop.blocks() {
            block.for_each_stmt(&mut |stmt| {
                if let Some(uses) = shape.uses(stmt) {
                    uses.inside += 1;
                }
            });
        }
        shape
    }

    fn uses(&mut self, stmt: &Stmt) -> Option<&mut Uses> {
        match stmt {
            Stmt::Set(l, _) => self.sets.get_mut(l.index()),
            Stmt::Let(_, Op::Get(l)) => self.gets.get_mut(l.index()),
            _ => None,
        }
    }

    fn op(&self, v: Value) -> Option<&'f Op> {
        self.ops.get(v.index()).copied().flatten()
    }

    /// The type of an integer of 32 or 64 bits.
    fn int(&self, v: Value) -> Option<Scalar> {
        self.func.ty(v).scalar().filter(|s| s.is_int() && s.bits() >= 32)
    }

    /// True if an op can be computed again in every round, at little cost: it reads no memory and cannot fault.
    fn harmless(&self, op: &Op) -> bool {
        match op {
            Op::Load { .. } | Op::IntToPtr(_) | Op::SlotAddr(_) => false,
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) => {
                self.func.ty(*by).scalar().is_some_and(Scalar::is_float)
                    || matches!(self.op(*by), Some(Op::Const(Const::Int(_, n))) if *n != 0 && *n != -1)
            }
            _ => true,
        }
    }

    /// True if a value is invariant: the same in all rounds of a thread.
    fn invariant(&self, v: Value, height: u32) -> bool {
        let Some(op) = self.op(v).filter(|op| height < MAX_HEIGHT && self.harmless(op)) else { return false };
        if let Op::Get(l) = op {
            return self.sets.get(l.index()).is_some_and(|sets| sets.inside == 0);
        }
        let mut all = true;
        op.for_each_value(|operand| all = all && self.invariant(operand, height + 1));
        all
    }

    /// The local of a value, read as it is or converted once to a type no narrower.
    fn local(&self, v: Value) -> Option<Local> {
        match self.op(v)? {
            Op::Get(l) => Some(*l),
            Op::Convert(to, a) if to.bits() >= self.int(*a)?.bits() => match self.op(*a)? {
                Op::Get(l) => Some(*l),
                _ => None,
            },
            _ => None,
        }
    }

    /// The first statement of a round: it leaves, unless the index is below the bound.
    fn guard<'b>(&self, body: &'b Block, label: Label) -> Option<Guard<'b>> {
        let stmt = body.stmts.iter().find(|stmt| !matches!(stmt, Stmt::Let(_, op) if self.harmless(op)))?;
        let Stmt::If { cond, then, els } = stmt else { return None };
        let leaves = [Stmt::Break(label)];
        let (mut cond, mut stays) = match (&then.stmts[..], &els.stmts[..]) {
            (then, []) if then == leaves => (*cond, false),
            ([], els) if els == leaves => (*cond, true),
            _ => return None,
        };
        while let Op::Unary(UnaryOp::Not, inner) = self.op(cond)? {
            (cond, stays) = (*inner, !stays);
        }
        let Op::Compare(op, a, b) = *self.op(cond)? else { return None };
        let compared = self.int(a)?;
        // The condition to stay, with the index on the left.
        let op = if stays { op } else { negated(op) };
        let changes = |v: Value| self.local(v).filter(|l| self.sets[l.index()].inside > 0);
        let (index, op, bound) = match (changes(a), changes(b)) {
            (Some(index), None) => (index, op, b),
            (None, Some(index)) => (index, mirrored(op), a),
            _ => return None,
        };
        let inclusive = match op {
            CompareOp::Lt => false,
            CompareOp::Le => true,
            _ => return None,
        };
        Some(Guard { stmt, index, bound, compared, inclusive })
    }

    /// The amount added to the index at the end of a round, which does nothing else.
    fn stride(&self, index: Local, body: &Block, step: &Block) -> Option<Value> {
        let last = if step.is_empty() { body } else { step };
        let (Stmt::Set(local, next), rest) = last.stmts.split_last()? else { return None };
        let only = step.is_empty() || rest.iter().all(|stmt| matches!(stmt, Stmt::Let(_, op) if self.harmless(op)));
        let bits = self.int(*next)?.bits();
        let sum = match self.op(*next)? {
            Op::Convert(_, sum) => *sum,
            _ => *next,
        };
        let Op::Binary(BinaryOp::Add, a, b) = *self.op(sum)? else { return None };
        if *local != index || !only || self.int(sum)?.bits() < bits {
            return None;
        }
        match (self.local(a) == Some(index), self.local(b) == Some(index)) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        }
    }

    /// The statement before the loop that sets the index, and the value: the only other set is at a round's end, and only the loop reads
    /// it.
    fn start(&self, index: Local, before: &[Stmt]) -> Option<(usize, Value)> {
        let (sets, gets) = (self.sets[index.index()], self.gets[index.index()]);
        if sets.all != 2 || sets.inside != 1 || gets.all != gets.inside {
            return None;
        }
        before.iter().enumerate().find_map(|(i, stmt)| match stmt {
            Stmt::Set(l, v) if *l == index => Some((i, *v)),
            _ => None,
        })
    }
}

fn negated(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}

fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same => same,
    }
}

/// The locals that are certainly set in this round so far; `None` where control does not come.
type Assigned = Option<BTreeSet<Local>>;

fn meet(a: Assigned, b: Assigned) -> Assigned {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
    }
}

/// Follows one round, to check that it reads nothing that an earlier round has set.
struct Rounds<'a, 'f> {
    shape: &'a Shape<'f>,
    index: Local,
    /// The loop's label.
    label: Label,
    /// True if `Continue` of the loop still moves the index.
    may_continue: bool,
    /// The locals assigned where a construct is left by `Break`.
    leaves: HashMap<Label, Assigned>,
    independent: bool,
}

impl Rounds<'_, '_> {
    fn block(&mut self, block: &Block, mut assigned: Assigned) -> Assigned {
        for stmt in &block.stmts {
            assigned = self.stmt(stmt, assigned);
        }
        assigned
    }

    fn stmt(&mut self, stmt: &Stmt, mut assigned: Assigned) -> Assigned {
        match stmt {
            Stmt::Let(_, Op::Get(l)) => {
                let carried = *l != self.index && self.shape.sets[l.index()].inside > 0;
                if carried && assigned.as_ref().is_some_and(|set| !set.contains(l)) {
                    self.independent = false;
                }
                assigned
            }
            Stmt::Set(l, _) => {
                if let Some(set) = &mut assigned {
                    set.insert(*l);
                }
                assigned
            }
            Stmt::If { then, els, .. } => {
                let then = self.block(then, assigned.clone());
                let els = self.block(els, assigned);
                meet(then, els)
            }
            Stmt::Loop { label, body, step } => {
                self.block(body, assigned.clone());
                // `Continue` comes here too, with at least the locals that were set when the loop was entered.
                self.block(step, assigned);
                self.leaves.remove(label).flatten()
            }
            Stmt::Switch { label, cases, .. } => {
                let mut exit = if cases.iter().any(|case| case.default) { None } else { assigned.clone() };
                for case in cases {
                    // A case that is fallen into is entered with at least the locals that were set before the switch.
                    let end = self.block(&case.body, assigned.clone());
                    exit = meet(exit, end);
                }
                let left = self.leaves.remove(label).flatten();
                meet(exit, left)
            }
            Stmt::Scope { label, body } => {
                let end = self.block(body, assigned);
                let left = self.leaves.remove(label).flatten();
                meet(end, left)
            }
            Stmt::Break(label) => {
                self.independent &= *label != self.label;
                let known = self.leaves.remove(label).flatten();
                self.leaves.insert(*label, meet(known, assigned));
                None
            }
            Stmt::Continue(label) => {
                self.independent &= *label != self.label || self.may_continue;
                None
            }
            Stmt::Trap | Stmt::MissingReturn(_) => None,
            // Statements that other threads may wait for keep their order too.
            Stmt::Return(_)
            | Stmt::Call { .. }
            | Stmt::Dispatch(_)
            | Stmt::Printf { .. }
            | Stmt::Barrier(_)
            | Stmt::Atomic { .. }
            | Stmt::Collective { .. }
            | Stmt::Fence
            | Stmt::Service { .. }
            | Stmt::Launch { .. }
            | Stmt::Store { volatile: true, .. }
            | Stmt::Let(_, Op::Load { volatile: true, .. }) => {
                self.independent = false;
                assigned
            }
            Stmt::Let(..) | Stmt::Store { .. } | Stmt::Assert { .. } | Stmt::Aligned { .. } => assigned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front;
    use crate::ir::Module;
    use crate::pass;
    use crate::source::SourceMap;

    /// The kernel `(float* x, const float* y, int n, long long wide)` with that body, as the CPU back end gets it.
    fn kernel(body: &str) -> Function {
        let text = format!(
            "__device__ int pick(int a) {{ if (a > 3) return a * 2; return a - 1; }}
             __global__ void k(float* x, const float* y, int n, long long wide) {{ {body} }}"
        );
        let (mut module, diags) = front::compile(&mut SourceMap::default(), "t.cu", &text, &front::Options::default());
        assert!(diags.is_empty(), "{diags:?}\n{text}");
        pass::prepare_for_cpu(&mut module);
        let id = module.find("k").expect("the kernel is there");
        let func = module.functions.swap_remove(id.index());
        if let Some(strided) = find(&func) {
            let one = Function { span: func.span, ..strided.func };
            let module = Module { functions: vec![one], ..Module::default() };
            assert_eq!(crate::valid::validate(&module), [], "{module}");
        }
        func
    }

    #[test]
    fn grid_stride_loops_are_recognised() {
        let start = "blockIdx.x * blockDim.x + threadIdx.x";
        for body in [
            format!("for (int i = {start}; i < n; i += gridDim.x * blockDim.x) x[i] = y[i];"),
            format!("for (unsigned i = {start}; i < n; i += gridDim.x * blockDim.x) x[i] = y[i];"),
            format!("for (size_t i = {start}; i < wide; i += blockDim.x) x[i] = y[i];"),
            format!("for (int i = {start}; i < wide; i += blockDim.x) x[i] = y[i];"),
            format!("for (long long i = {start}; wide > i; i = 7 + i) x[i] = y[i];"),
            format!("int i = {start}; int s = gridDim.x * blockDim.x; while (i <= n / 4) {{ x[i] = y[i]; i += s; }}"),
            format!("for (int i = {start}; i < n; i += 64) {{ if (y[i] > 0) continue; x[i] = y[i]; }}"),
            format!(
                "for (int i = {start}; i < n; i += 64) {{ float s = 0; for (int k = 0; k < 9; k++) s += y[k]; x[i] = s; }}"
            ),
            format!(
                "for (int i = {start}; i < n; i += 64) {{ float s; if (i % 2) s = sinf(y[i]); else s = cosf(y[i]); x[i] = s; }}"
            ),
            format!("for (int i = {start}; i < n; i += 64) x[i] = pick(i) + pick(2 * i);"),
            "for (int row = blockIdx.x; row < n; row += gridDim.x) x[row * blockDim.x + threadIdx.x] = 1;".to_owned(),
        ] {
            let func = kernel(&body);
            let Some(strided) = find(&func) else {
                panic!("{body}\n{}", Module { functions: vec![func], ..Module::default() })
            };
            assert!(strided.func.body.count() > 0 && strided.func.params.len() == func.params.len() + 1);
        }
    }

    #[test]
    fn what_goes_from_round_to_round_is_refused() {
        let header = "for (int i = threadIdx.x; i < n; i += 64)";
        for body in [
            // A sum, and a local that only some rounds set.
            format!("float s = 0; {header} s += y[i]; x[threadIdx.x] = s;"),
            format!("float s = 0; {header} {{ s += y[i]; x[i] = s; }}"),
            format!("float s = 0; {header} {{ if (y[i] > 0) s = sinf(y[i]); x[i] = s; }}"),
            format!("float s = 0; {header} {{ for (int k = 0; k < i; k++) s = y[k]; x[i] = s; }}"),
            format!("const float* p = y; {header} {{ x[i] = *p; p += 64; }}"),
            // Other ways out of the loop, and other ways on.
            format!("{header} {{ if (y[i] > 0) break; x[i] = 1; }}"),
            format!("{header} {{ if (y[i] > 0) return; x[i] = 1; }}"),
            format!("{header} {{ x[i] = 1; if (y[i] > 0) i++; }}"),
            "int i = threadIdx.x; while (i < n) { if (y[i] > 0) continue; x[i] = 1; i += 64; }".to_owned(),
            "int i = threadIdx.x; for (; i < n; i += 64) x[i] = 1; x[0] = i;".to_owned(),
            format!("{header} x[i] = 1; x[0] = 2;"),
            // Bounds and strides that change, or that cannot be computed before the loop.
            "for (int i = threadIdx.x; i < n; i += i) x[i] = 1;".to_owned(),
            "for (int i = threadIdx.x; i < n; i += (int)y[i]) x[i] = 1;".to_owned(),
            "for (int i = threadIdx.x; i < n; i += 64) { x[i] = 1; n--; }".to_owned(),
            "for (int i = threadIdx.x; i != n; i += 64) x[i] = 1;".to_owned(),
            "for (int i = n - threadIdx.x; i >= 0; i -= 64) x[i] = 1;".to_owned(),
            "for (short i = threadIdx.x; i < n; i += 64) x[i] = 1;".to_owned(),
            // A statement that runs before the loop once per thread must not run once per round.
            format!("x[threadIdx.x] += 1; {header} x[i] = 1;"),
            format!("float s = y[0]; {header} x[i] = s;"),
            format!("{header} printf(\"%d\", i);"),
            format!("float t[2]; t[1] = 0; {header} {{ x[i] = t[i % 2]; t[i % 2] = 1; }}"),
        ] {
            let func = kernel(&body);
            assert!(find(&func).is_none(), "{body}\n{}", Module { functions: vec![func], ..Module::default() });
        }
    }
}
