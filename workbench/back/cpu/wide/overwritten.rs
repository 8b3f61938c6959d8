//! Shared variables in which no block sees the values of an earlier block, so that they need to be poisoned for a worker's first block
//! alone.
//!
//! A variable is one of them if each block, before it reads any of it, writes all the bytes that it ever writes: bytes that are never
//! written are still poison. The first region that mentions the variable is run here thread by thread, with the numbers that follow from
//! the block's extents and nothing else, which shows the bytes that are surely written. Filling 4 KiB for each block took a quarter of the
//! time of a transpose, most of it because prefetched lines were evicted.

use std::collections::HashSet;

use super::build::scalar_of;
use crate::back::Dim3;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::facts::split::SplitPlan;
use crate::ir::{Block, Builtin, Const, Function, Label, Module, Op, Scalar, Shared, Stmt, Type, Value, eval};
use crate::pass::regions::{Node, Sequence};

/// Most statements that are run for a kernel, over all threads and variables.
const BUDGET: u32 = 2_000_000;

/// Most bytes of a variable.
const MAX_BYTES: usize = 256 << 10;

/// Most operations that are followed to find the address of a later store.
const MAX_DEPTH: u32 = 12;

/// The shared variables that each block of that shape overwrites before it reads them, by their numbers in the module.
pub fn variables(module: &Module, func: &Function, plan: &SplitPlan, roots: &[Root], block: Dim3) -> Vec<usize> {
    let is_anywhere = |v: usize| func.values[v].ty == Type::Ptr && roots[v] == Root::Dynamic;
    // Some threads may be absent where masks are used.
    if plan.masks || (0..func.values.len()).any(is_anywhere) {
        return Vec::new();
    }
    let (mut named, mut ops) = (HashSet::new(), vec![None; func.values.len()]);
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Let(v, op) = stmt {
            ops[v.index()] = Some(op);
            if let Op::SharedAddr(m) = op {
                named.insert(*m);
            }
        }
    });
    let data = |m: Shared| module.shared.get(m.index());
    // All dynamic variables are one memory.
    let dynamic = named.iter().filter(|m| data(**m).is_none_or(|d| d.dynamic)).count();
    let mut budget = BUDGET;
    let mut is_overwritten = |m: Shared| {
        let size = data(m).filter(|d| !d.dynamic).map(|d| d.size as usize);
        let is_apart = size.map_or(dynamic == 1, |bytes| bytes <= MAX_BYTES);
        let variable = Variable { func, roots, ops: &ops, block, this: m, size };
        is_apart && variable.is_overwritten(plan, &mut budget).unwrap_or(false)
    };
    let mut found: Vec<usize> = named.into_iter().filter(|m| is_overwritten(*m)).map(Shared::index).collect();
    found.sort_unstable();
    found
}

/// A variable under analysis.
struct Variable<'f> {
    func: &'f Function,
    roots: &'f [Root],
    ops: &'f [Option<&'f Op>],
    block: Dim3,
    this: Shared,
    /// The size; none for dynamic memory.
    size: Option<usize>,
}

/// A part of the way to the region that mentions a variable first.
enum Step<'f> {
    /// Statements that every thread runs.
    Run(&'f [Stmt]),
    /// Control, or a construct around the region: the values that it sets are unknown.
    Forget(&'f Stmt),
}

/// The first region that mentions the variable.
struct First<'f> {
    stmts: &'f [Stmt],
    /// The number of accesses to the variable from here on in the innermost block around.
    mentions: usize,
}

impl<'f> Variable<'f> {
    fn is_this(&self, v: Value) -> bool {
        self.roots[v.index()] == Root::Shared(self.this)
    }

    /// True if a statement reads or writes the variable.
    fn accesses(&self, stmt: &Stmt) -> bool {
        self.reads(stmt) || matches!(stmt, Stmt::Store { ptr, .. } if self.is_this(*ptr))
    }

    fn reads(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(_, Op::Load { ptr, .. }) | Stmt::Atomic { ptr, .. } => self.is_this(*ptr),
            _ => false,
        }
    }

    /// The number of accesses in statements.
    fn count(&self, stmts: &[Stmt]) -> usize {
        let mut count = 0;
        each(stmts, &mut |stmt| count += usize::from(self.accesses(stmt)));
        count
    }

    /// True if the variable's address goes where it is not followed.
    fn escapes(&self) -> bool {
        let mut escapes = false;
        self.func.body.for_each_stmt(&mut |stmt| {
            let followed = match stmt {
                Stmt::Let(
                    _,
                    Op::PtrAdd { .. } | Op::PtrDiff(..) | Op::Compare(..) | Op::Select(..) | Op::Load { .. },
                )
                | Stmt::Set(..)
                | Stmt::Aligned { .. } => true,
                Stmt::Store { value, .. } => !self.is_this(*value),
                Stmt::Atomic { value, compare, .. } => {
                    !self.is_this(*value) && !compare.is_some_and(|v| self.is_this(v))
                }
                _ => false,
            };
            stmt.for_each_value(|v| escapes |= !followed && self.is_this(v));
        });
        escapes
    }

    fn is_overwritten(&self, plan: &SplitPlan, budget: &mut u32) -> Option<bool> {
        if self.escapes() {
            return None;
        }
        let mut way = Vec::new();
        let first = self.first(&plan.regions.body, &self.func.body, &mut way)?;
        let (mut reads, mut own) = (false, HashSet::new());
        each(first.stmts, &mut |stmt| {
            reads |= self.reads(stmt);
            own.insert(std::ptr::from_ref(stmt));
        });
        // Threads that do not run this region must not read the variable later.
        if reads || first.mentions != self.count(&self.func.body.stmts) {
            return None;
        }
        let mut thread = Thread::new(self, budget);
        for at in threads(self.block) {
            thread.begin(at);
            for step in &way {
                match step {
                    Step::Run(stmts) => thread.run(stmts).map(|_| ())?,
                    Step::Forget(stmt) => thread.forget(stmt),
                }
            }
            thread.notes = true;
            thread.run(first.stmts)?;
        }
        // Bytes that the other statements may write.
        let mut later = Vec::new();
        self.func.body.for_each_stmt(&mut |stmt| match stmt {
            Stmt::Store { ptr, value, .. } | Stmt::Atomic { ptr, value, .. }
                if self.is_this(*ptr) && !own.contains(&std::ptr::from_ref(stmt)) =>
            {
                later.push((*ptr, scalar_of(self.func.ty(*value)).size()));
            }
            _ => {}
        });
        for (ptr, size) in later {
            for at in threads(self.block) {
                if thread.written.is_all() {
                    return Some(true);
                }
                thread.begin(at);
                let place = thread.address(ptr, 0);
                thread.written.may(place, size);
            }
        }
        Some(thread.written.is_enough())
    }

    /// The region that mentions the variable first, and the steps of threads on the way there.
    fn first(&self, sequence: &Sequence, block: &'f Block, way: &mut Vec<Step<'f>>) -> Option<First<'f>> {
        for node in &sequence.nodes {
            let (from, inner): (usize, Vec<(&Sequence, &Block)>) = match node {
                Node::Region(range) => {
                    let stmts = &block.stmts[range.clone()];
                    if self.count(stmts) > 0 {
                        return Some(First { stmts, mentions: self.count(&block.stmts[range.start..]) });
                    }
                    way.push(Step::Run(stmts));
                    continue;
                }
                Node::Barrier(_) => continue,
                Node::Jump(_) => return None,
                Node::Collective(i) => (*i, Vec::new()),
                Node::If { stmt, then, els } => {
                    (*stmt, vec![(then, block.stmts[*stmt].blocks()[0]), (els, block.stmts[*stmt].blocks()[1])])
                }
                Node::Loop { stmt, body, .. } => (*stmt, vec![(body, block.stmts[*stmt].blocks()[0])]),
                Node::Scope { stmt, body } => (*stmt, vec![(body, block.stmts[*stmt].blocks()[0])]),
            };
            let stmt = &block.stmts[from];
            way.push(Step::Forget(stmt));
            if self.count(std::slice::from_ref(stmt)) > 0 {
                let (sequence, block) = inner.into_iter().find(|(_, block)| self.count(&block.stmts) > 0)?;
                return self.first(sequence, block, way);
            }
        }
        None
    }
}

/// Calls `f` with each statement, nested ones too.
fn each<'f>(stmts: &'f [Stmt], f: &mut impl FnMut(&'f Stmt)) {
    for stmt in stmts {
        f(stmt);
        stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(f));
    }
}

fn threads(Dim3 { x, y, z }: Dim3) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}

/// The bytes that are written.
struct Written {
    /// The size; none for dynamic memory, of which [`MAX_BYTES`] are tracked.
    size: Option<usize>,
    sure: Vec<bool>,
    /// The bytes that may be written.
    maybe: Vec<bool>,
    /// True if bytes at unknown places may be written, too.
    anywhere: bool,
}

impl Written {
    fn new(size: Option<usize>) -> Self {
        let bytes = size.unwrap_or(MAX_BYTES);
        Written { size, sure: vec![false; bytes], maybe: vec![false; bytes], anywhere: false }
    }

    fn surely(&mut self, at: i64, size: u32) {
        // A place out of bounds is a fault.
        let range = usize::try_from(at).ok().and_then(|at| self.sure.get_mut(at..at + size as usize));
        match range {
            Some(bytes) => bytes.fill(true),
            None => self.anywhere |= self.size.is_none(),
        }
    }

    fn may(&mut self, at: Option<i64>, size: u32) {
        let range =
            at.and_then(|at| usize::try_from(at).ok()).and_then(|at| self.maybe.get_mut(at..at + size as usize));
        match range {
            Some(bytes) => bytes.fill(true),
            None => self.anywhere = true,
        }
    }

    /// True if every byte is surely written.
    fn is_all(&self) -> bool {
        self.size.is_some() && self.sure.iter().all(|byte| *byte)
    }

    /// True if every byte that may be written is surely written.
    fn is_enough(&self) -> bool {
        self.is_all() || (!self.anywhere && self.sure.iter().zip(&self.maybe).all(|(sure, maybe)| *sure >= *maybe))
    }
}

/// The place where control goes after a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break(Label),
    Continue(Label),
}

/// A thread that is run with the known values. Pointers into the variable are numbers: byte offsets in it.
struct Thread<'v, 'f> {
    of: &'v Variable<'f>,
    at: [u32; 3],
    values: Vec<Option<Const>>,
    locals: Vec<Option<Const>>,
    /// True if its writes count.
    notes: bool,
    written: Written,
    budget: &'v mut u32,
}

impl<'v, 'f> Thread<'v, 'f> {
    fn new(of: &'v Variable<'f>, budget: &'v mut u32) -> Self {
        let (values, locals) = (vec![None; of.func.values.len()], vec![None; of.func.locals.len()]);
        Thread { of, at: [0; 3], values, locals, notes: false, written: Written::new(of.size), budget }
    }

    fn begin(&mut self, at: [u32; 3]) {
        (self.at, self.notes) = (at, false);
        self.values.fill(None);
        self.locals.fill(None);
    }

    /// Runs statements; None if it is not known where control goes.
    fn run(&mut self, stmts: &'f [Stmt]) -> Option<Flow> {
        for stmt in stmts {
            *self.budget = self.budget.checked_sub(1)?;
            match self.stmt(stmt)? {
                Flow::Next => {}
                flow => return Some(flow),
            }
        }
        Some(Flow::Next)
    }

    fn stmt(&mut self, stmt: &'f Stmt) -> Option<Flow> {
        match stmt {
            Stmt::Let(v, op) => self.values[v.index()] = self.value(op, |t, v| t.values[v.index()]),
            Stmt::Set(l, v) => self.locals[l.index()] = self.values[v.index()],
            Stmt::Store { ptr, value, .. } if self.notes && self.of.is_this(*ptr) => {
                let size = scalar_of(self.of.func.ty(*value)).size();
                match self.values[ptr.index()] {
                    Some(Const::Int(_, at)) => self.written.surely(at, size),
                    _ => self.written.anywhere = true,
                }
            }
            Stmt::If { cond, then, els } => match self.values[cond.index()] {
                Some(Const::Bool(true)) => return self.run(&then.stmts),
                Some(Const::Bool(false)) => return self.run(&els.stmts),
                _ => return self.unsure(stmt),
            },
            Stmt::Scope { label, body } => {
                return Some(match self.run(&body.stmts)? {
                    Flow::Break(l) if l == *label => Flow::Next,
                    flow => flow,
                });
            }
            // Other loops are not run, because they do not access the variable.
            Stmt::Loop { label, body, step } if self.of.count(std::slice::from_ref(stmt)) > 0 => loop {
                match self.run(&body.stmts)? {
                    Flow::Next => {}
                    Flow::Continue(l) if l == *label => {}
                    Flow::Break(l) if l == *label => return Some(Flow::Next),
                    flow => return Some(flow),
                }
                self.run(&step.stmts)?;
            },
            Stmt::Loop { .. } | Stmt::Switch { .. } => return self.unsure(stmt),
            Stmt::Break(l) => return Some(Flow::Break(*l)),
            Stmt::Continue(l) => return Some(Flow::Continue(*l)),
            Stmt::Return(_) => return None,
            other => {
                if let Some(v) = other.result() {
                    self.values[v.index()] = None;
                }
            }
        }
        Some(Flow::Next)
    }

    /// Skips a construct that cannot be run with the known values.
    fn unsure(&mut self, stmt: &'f Stmt) -> Option<Flow> {
        let (mut inside, mut leaves) = (HashSet::new(), false);
        if let Stmt::Loop { label, .. } | Stmt::Switch { label, .. } = stmt {
            inside.insert(*label);
        }
        let mut writes = Vec::new();
        stmt.blocks().into_iter().for_each(|b| {
            b.for_each_stmt(&mut |s| match s {
                Stmt::Loop { label, .. } | Stmt::Switch { label, .. } | Stmt::Scope { label, .. } => {
                    inside.insert(*label);
                }
                Stmt::Break(l) | Stmt::Continue(l) => leaves |= !inside.contains(l),
                Stmt::Return(_) => leaves = true,
                Stmt::Store { ptr, value, .. } if self.of.is_this(*ptr) => writes.push((*ptr, *value)),
                _ => {}
            });
        });
        if leaves {
            return None;
        }
        self.forget(stmt);
        if self.notes {
            for (ptr, value) in writes {
                let place = self.address(ptr, 0);
                self.written.may(place, scalar_of(self.of.func.ty(value)).size());
            }
        }
        Some(Flow::Next)
    }

    /// Forgets the values that a construct sets.
    fn forget(&mut self, stmt: &Stmt) {
        let mut forget = |s: &Stmt| match s {
            Stmt::Set(l, _) => self.locals[l.index()] = None,
            other => {
                if let Some(v) = other.result() {
                    self.values[v.index()] = None;
                }
            }
        };
        forget(stmt);
        stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut forget));
    }

    /// The offset of a pointer into the variable, whatever the values of locals are by then.
    fn address(&mut self, v: Value, depth: u32) -> Option<i64> {
        match self.number(v, depth)? {
            Const::Int(_, at) => Some(at),
            _ => None,
        }
    }

    fn number(&mut self, v: Value, depth: u32) -> Option<Const> {
        *self.budget = self.budget.checked_sub(1)?;
        let op = self.of.ops[v.index()].filter(|op| depth < MAX_DEPTH && !matches!(op, Op::Get(_)))?;
        self.value(op, |t, v| t.number(v, depth + 1))
    }

    fn value(&mut self, op: &Op, mut of: impl FnMut(&mut Self, Value) -> Option<Const>) -> Option<Const> {
        let Dim3 { x, y, z } = self.of.block;
        let index = |numbers: [u32; 3], d: u8| Some(Const::Int(Scalar::U32, i64::from(numbers[usize::from(d)])));
        match op {
            Op::Const(c) => Some(*c),
            Op::Get(l) => self.locals[l.index()],
            Op::SharedAddr(m) => (*m == self.of.this).then_some(Const::Int(Scalar::I64, 0)),
            Op::Builtin(Builtin::ThreadIdx(d)) => index(self.at, *d),
            Op::Builtin(Builtin::BlockDim(d)) => index([x, y, z], *d),
            Op::Unary(op, a) => eval::unary(*op, of(self, *a)?),
            Op::Binary(op, a, b) => eval::binary(*op, of(self, *a)?, of(self, *b)?),
            Op::Compare(op, a, b) if self.of.func.ty(*a).scalar().is_some() => {
                eval::compare(*op, of(self, *a)?, of(self, *b)?)
            }
            Op::Convert(to, a) => eval::convert(*to, of(self, *a)?),
            Op::Select(c, a, b) => match of(self, *c)? {
                Const::Bool(true) => of(self, *a),
                _ => of(self, *b),
            },
            Op::PtrAdd { ptr, index, stride } => match (of(self, *ptr)?, of(self, *index)?) {
                (Const::Int(_, at), Const::Int(_, by)) => {
                    let by = by.checked_mul(i64::from(stride.bytes()))?;
                    Some(Const::Int(Scalar::I64, at.checked_add(by)?))
                }
                _ => None,
            },
            _ => None,
        }
    }
}
