//! The number of chunks of a group: as many as keep the machine busy without running out of registers.
//!
//! Short regions gain, long ones spill. A loop in which threads walk memory side by side (`for (i = tid; i < n; i += blockDim.x)`) wants
//! wide groups for another reason: a round then reads one long piece. A step of a tree of reductions wants narrow ones, because it halves
//! the threads that do anything, and what is not there costs nothing only by the group.

use super::control::Stretch;
use super::{Builder, Form, Version};
use crate::back::Dim3;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::split::ValueHome;
use crate::back::cpu::wide::value_forms::{FOLLOWED, LANES, SMALL, Survey, first_exit};
use crate::back::cpu::wide::{Maker, in_step, jit};
use crate::ir::{Block, Builtin, CompareOp, Function, Op, Stmt, Type, Value};
use crate::pass::regions::{Node, Sequence};

/// Most chunks of a group that walks memory side by side.
pub(super) fn most_chunks(maker: Maker) -> u32 {
    match maker {
        Maker::Compiler => 16,
        // A chunk is four vectors, of which there are sixteen. Half as many took a fifth off layer norm and a third off a sum.
        Maker::Jit => 8,
    }
}

/// True if loops and straight-line code become code for registers of 512 bits, of which a chunk is one.
pub(super) fn is_widest(maker: Maker) -> bool {
    matches!(maker, Maker::Jit) && jit::has_widest()
}

/// Chunks of a group in such registers, of what has few of them: as many sums are on their way as additions take, on two ports; what a round
/// does once for all of a group costs less. Took a fifth off the naive product of matrices, and a twelfth off that by tiles.
const FEW_REGISTERS: u32 = 8;

/// By how many statements a region has.
fn by_length(statements: usize) -> u32 {
    match statements {
        0..=70 => 4,
        71..=180 => 2,
        _ => 1,
    }
}

/// As many chunks as a region has by its length, and four where a good part of one of middling length is a loop of plain statements: what
/// a round does once for all of a group (counting, elements that all threads read) is then worth more than what registers cannot hold.
/// Took 6 % off n-body.
fn by_statements(stmts: &[Stmt], length: usize, is_widest: bool) -> u32 {
    let (mut longest, mut sums) = (0, Vec::new());
    let mut look = |stmt: &Stmt| {
        let Stmt::Loop { body, step, .. } = stmt else { return };
        let (mut branches, mut sets, mut calls) = (0, 0, false);
        for block in [body, step] {
            block.for_each_stmt(&mut |s| {
                branches += usize::from(matches!(s, Stmt::Loop { .. } | Stmt::If { .. }));
                calls |= is_call(s);
            });
        }
        body.for_each_stmt(&mut |s| sets += usize::from(matches!(s, Stmt::Set(..))));
        // One leaves it.
        if branches == 1 {
            longest = longest.max(body.count() + step.count());
        }
        sums.push(if branches == 1 && !calls { sets } else { usize::MAX });
    };
    for stmt in stmts {
        look(stmt);
        stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
    }
    match by_length(length) {
        // A loop with one sum.
        4 if is_widest && sums[..] == [1] => FEW_REGISTERS,
        2 if 5 * longest >= 2 * length => 4,
        size => size,
    }
}

fn length(stmts: &[Stmt]) -> usize {
    stmts.iter().map(|stmt| 1 + stmt.blocks().into_iter().map(Block::count).sum::<usize>()).sum()
}

/// True for a function of mathematics that is more than an instruction.
fn is_call(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Let(_, Op::Math(function, _)) if !function.is_arithmetic())
}

/// Straight-line code, as most of it is where what guards accesses is the same for all threads, with some loads, of 32 bits, and stores: of
/// a group in the widest registers all that is loaded is so at once.
fn is_straight(stmts: &[Stmt]) -> bool {
    let (mut loads, mut stores, mut others) = (0, 0, false);
    let mut look = |stmt: &Stmt| match stmt {
        Stmt::Let(_, Op::Load { ty: Type::Scalar(s), .. }) if s.bits() == 32 => loads += 1,
        Stmt::Let(_, Op::Load { .. }) => others = true,
        stmt if is_call(stmt) => others = true,
        Stmt::Store { .. } => stores += 1,
        Stmt::Let(..) | Stmt::Set(..) | Stmt::If { .. } => {}
        _ => others = true,
    };
    for stmt in stmts {
        look(stmt);
        stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
    }
    !others && stores > 0 && (1..=3).contains(&loads)
}

/// The most of something that regions have.
fn most_of(sequence: &Sequence, block: &Block, of: &dyn Fn(&[Stmt]) -> u32) -> u32 {
    let one = |node: &Node| match node {
        Node::Region(range) => of(&block.stmts[range.clone()]),
        Node::If { stmt, then: a, els: b } | Node::Loop { stmt, body: a, step: b } => {
            let blocks = block.stmts[*stmt].blocks();
            [a, b].into_iter().zip(blocks).map(|(s, b)| most_of(s, b, of)).max().unwrap_or(0)
        }
        Node::Scope { stmt, body } => block.stmts[*stmt].blocks().first().map_or(0, |b| most_of(body, b, of)),
        Node::Barrier(_) | Node::Collective(_) | Node::Jump(_) => 0,
    };
    sequence.nodes.iter().map(one).max().unwrap_or(0)
}

/// The most chunks that a group of a kernel's has anywhere. Where a block's rows of threads are several chunks long, no group is of several
/// rows: the threads of one are neighbours in all that they do.
pub(super) fn most(
    func: &Function,
    info: &FuncInfo,
    survey: &Survey,
    block: Dim3,
    (spans, maker): (bool, Maker),
) -> u32 {
    let Dim3 { x, y, z } = block;
    let is_widest = is_widest(maker);
    let (by_length, few) = match info.split.as_deref() {
        None => (by_statements(&func.body.stmts, info.stmts, is_widest), 1),
        Some(plan) => {
            let longest = most_of(&plan.regions.body, &func.body, &|stmts| length(stmts) as u32);
            let few = |stmts: &[Stmt]| match is_straight(stmts) {
                true => FEW_REGISTERS,
                false => by_statements(stmts, length(stmts), is_widest),
            };
            (by_length(longest as usize), if is_widest { most_of(&plan.regions.body, &func.body, &few) } else { 1 })
        }
    };
    if spans {
        return by_length;
    }
    let wanted = if info.in_step {
        in_step::CHUNKS
    } else if survey.has_exits() {
        most_chunks(maker)
    } else {
        by_length.max(few)
    };
    let chunks = (x * y * z).div_ceil(LANES);
    let fits = |size: u32| size <= chunks && (y * z == 1 || x < 2 * LANES || x.is_multiple_of(LANES * size));
    let mut size = 1;
    while size < wanted && fits(size * 2) {
        size *= 2;
    }
    size
}

impl Builder<'_> {
    /// The number of chunks of a region's group.
    pub(super) fn group_size(&self, stretch: Stretch<'_>) -> u32 {
        if in_step::joins_lanes(stretch.stmts) {
            return in_step::CHUNKS;
        }
        if self.halves(stretch) {
            return 1;
        }
        let by_statements = || by_statements(stretch.stmts, length(stretch.stmts), self.is_widest);
        // Quotients are taken chunk by chunk, and what follows them is made several times.
        let walk = if self.takes_pieces(stretch) { None } else { self.walk_width(stretch) };
        walk.unwrap_or_else(by_statements).min(self.geometry.chunks)
    }

    /// The number of chunks of a group, of a region that needs no checks.
    pub(super) fn unchecked_size(&self, stretch: Stretch<'_>) -> u32 {
        match self.is_widest && is_straight(stretch.stmts) {
            true => FEW_REGISTERS.min(self.geometry.chunks),
            false => self.group_size(stretch),
        }
    }

    /// True if quotients or rests of lines in a stretch are taken by pieces.
    fn takes_pieces(&self, stretch: Stretch<'_>) -> bool {
        let mut found = false;
        let mut look = |stmt: &Stmt| {
            found |= stmt.result().is_some_and(|v| self.forms.iter().any(|forms| forms.is_cut[v.index()]));
        };
        for stmt in stretch.stmts {
            look(stmt);
            stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
        }
        found
    }

    /// True if all that a stretch does is to walk memory side by side, with few registers.
    pub(super) fn walks_side_by_side(&self, stretch: Stretch<'_>) -> bool {
        self.walk_width(stretch) == Some(self.most_chunks)
    }

    /// The number of chunks that may run in step, of a region that walks memory.
    fn walk_width(&self, stretch: Stretch<'_>) -> Option<u32> {
        let mut widest = None;
        let mut look = |stmt: &Stmt| {
            let Some((_, cond, _)) = first_exit(stmt) else { return };
            let (mut lanes, mut calls) = (0, false);
            for block in stmt.blocks() {
                block.for_each_stmt(&mut |s| {
                    lanes += usize::from(s.result().is_some_and(|v| self.ahead(v, Version::Together) == Form::Lanes));
                    calls |= is_call(s);
                });
            }
            let of = match lanes {
                _ if self.row_below(cond).is_none() => return,
                0..=4 if !calls => self.most_chunks,
                0..=12 => self.most_chunks / 2,
                _ => return,
            };
            widest = Some(widest.map_or(of, |w: u32| w.min(of)));
        };
        for stmt in stretch.stmts {
            look(stmt);
            stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
        }
        widest
    }

    /// The row, where a condition is that a row that grows is below one number.
    fn row_below(&self, cond: Value) -> Option<Value> {
        let (row, one) = match self.op_of(cond) {
            Some(Op::Compare(CompareOp::Lt | CompareOp::Le, a, b)) => (*a, *b),
            Some(Op::Compare(CompareOp::Gt | CompareOp::Ge, a, b)) => (*b, *a),
            _ => return None,
        };
        let of = |v: Value| self.ahead(v, Version::Together);
        (matches!(of(row), Form::Row(step) if step > 0) && of(one) == Form::Group).then_some(row)
    }

    /// The place of the `if` and its condition, of a region that does nothing but what an `if` guards.
    fn guarded(&self, stretch: Stretch<'_>) -> Option<(usize, Value)> {
        let (Stmt::If { cond, els, .. }, before) = stretch.stmts.split_last()? else { return None };
        let plan = self.split.filter(|_| !self.walk.has_masks && !in_step::joins_lanes(stretch.stmts))?;
        // Values that the other threads need later are not there, either.
        let is_own = |v: &Value| !matches!(plan.values[v.index()], ValueHome::Scratch(..));
        let is_pure = |stmt: &Stmt| matches!(stmt, Stmt::Let(v, op) if !matches!(op, Op::Load { .. }) && is_own(v));
        (els.is_empty() && before.iter().all(is_pure)).then_some((before.len(), *cond))
    }

    /// True if a region does nothing but what an `if` guards that the first threads of a block take: a step of a tree of reductions. Of a
    /// group that does not take it, no later one does either.
    pub(super) fn halves(&self, stretch: Stretch<'_>) -> bool {
        let Some((at, cond)) = self.guarded(stretch) else { return false };
        // Else each row of threads has some that take it.
        let Dim3 { y, z, .. } = self.geometry.block;
        if y * z != 1 {
            return false;
        }
        // Small, so that it does not wrap around in any group of the block.
        let is_small = self.row_below(cond).is_some_and(|row| self.forms[0].magnitude(row, FOLLOWED) < SMALL);
        let mut loops = false;
        stretch.stmts[at].blocks().into_iter().for_each(|b| {
            b.for_each_stmt(&mut |s| loops |= matches!(s, Stmt::Loop { .. }));
        });
        is_small && !loops
    }

    /// The number of first threads that do a region alone, and the place of what they do.
    pub(super) fn first_threads(&self, stretch: Stretch<'_>) -> Option<(u32, usize)> {
        let (at, cond) = self.guarded(stretch)?;
        let Some(Op::Compare(op, a, b)) = self.op_of(cond) else { return None };
        let threads = self.geometry.threads();
        let (limit, op) = match (self.is_thread(*a), self.is_thread(*b)) {
            (true, _) => (self.known(*b)?, *op),
            (_, true) => (self.known(*a)?, super::control::turned(*op).unwrap_or(*op)),
            _ => return None,
        };
        let count = match op {
            CompareOp::Lt => limit,
            CompareOp::Le => limit.checked_add(1)?,
            CompareOp::Eq if limit == 0 => 1,
            _ => return None,
        };
        let count = u32::try_from(count).ok().filter(|n| (1..=threads).contains(n))?;
        Some((count, at))
    }

    /// True if a value is the number of a thread in its block.
    fn is_thread(&self, v: Value) -> bool {
        let Dim3 { y, z, .. } = self.geometry.block;
        match self.op_of(v) {
            Some(Op::Builtin(Builtin::ThreadIdx(0))) => y * z == 1,
            Some(Op::Convert(to, a)) => to.is_int() && to.bits() >= 32 && self.is_thread(*a),
            _ => false,
        }
    }
}
