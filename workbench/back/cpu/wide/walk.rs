//! Walks over memory at the beginning of kernels, as in a reduction: `for (i = blockIdx.x * blockDim.x + tid; i < n; i += stride)`.
//!
//! A round of one block reads a kilobyte, and the next round reads a megabyte further on; where that distance is a power of two, all of it
//! falls on the same few lines of the caches. The round of the next block is adjacent. So the walks of a few neighbouring blocks are run in
//! step before the first of these blocks goes on: they only read, so the order cannot be observed. Locals that a walk sets are kept for its
//! block; if anything is out of bounds, all is discarded and each block walks by itself.

use std::collections::{HashMap, HashSet};

use super::compiler::{self, Vectors};
use super::spans;
use super::value_forms::{LANES, first_exit};
use crate::back::Dim3;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::split::LocalHome;
use crate::ir::{BinaryOp, Function, Label, Local, Op, Stmt, Value};
use crate::pass::regions::Node;

/// Chunks of all blocks that walk together: as many as there are registers for the sums.
pub const CHUNKS: u32 = 32;

/// A walk that a kernel begins with.
pub struct Walk {
    /// The loop.
    pub label: Label,
    /// The statements before the loop that it depends on, by their places in the body, and the loop's own place.
    pub before: Vec<usize>,
    pub at: usize,
    /// The values that are a thread's place among the threads of all blocks.
    pub places: HashSet<Value>,
    /// The number of blocks that walk together.
    pub blocks: u32,
    /// The locals of 32 bits in which the walk leaves its results.
    pub results: Vec<Local>,
}

/// Finds the walk of a kernel in blocks of one shape.
pub fn find(func: &Function, info: &FuncInfo, block: Dim3) -> Option<Walk> {
    let plan = info.split.as_deref()?;
    let blocks = CHUNKS * LANES / block.x.max(1);
    let fits =
        block.y * block.z == 1 && block.x.is_multiple_of(LANES) && blocks > 1 && blocks * block.x == CHUNKS * LANES;
    if plan.masks || !fits || compiler::vectors() != Ok(Vectors::Avx512) {
        return None;
    }
    let Node::Region(range) = plan.regions.body.nodes.first()? else { return None };
    let stmts = &func.body.stmts[..range.end];
    let at = stmts.iter().position(|stmt| matches!(stmt, Stmt::Loop { .. }))?;
    let (looped, before) = (&stmts[at], &stmts[..at]);
    let Stmt::Loop { label, .. } = looped else { return None };
    first_exit(looped)?;
    // The loop only reads, and nothing else in it may fault.
    let divides = |v: Value, op: &Op| {
        matches!(op, Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..)) && func.ty(v).scalar().is_none_or(|s| !s.is_float())
    };
    let mut own: Vec<&Stmt> = Vec::new();
    looped.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut |s| own.push(s)));
    let reads_alone = own.iter().all(|stmt| match stmt {
        Stmt::Let(v, op) => !divides(*v, op) && !matches!(op, Op::Load { volatile: true, .. }),
        Stmt::Set(..) | Stmt::If { .. } => true,
        Stmt::Break(l) | Stmt::Continue(l) => l == label,
        _ => false,
    });
    let is_plain = |stmt: &Stmt| match stmt {
        Stmt::Let(v, op) => !divides(*v, op) && !matches!(op, Op::Load { .. }),
        Stmt::Set(..) => true,
        _ => false,
    };
    if !reads_alone || !before.iter().all(is_plain) {
        return None;
    }
    let before = made_of(before, &own);
    let all = || before.iter().map(|i| &stmts[*i]).chain(own.iter().copied());
    let places = spans::places_among(func, &all().collect::<Vec<_>>(), block)?;
    let mut sets: Vec<Local> =
        own.iter().filter_map(|s| if let Stmt::Set(l, _) = s { Some(*l) } else { None }).collect();
    sets.sort_unstable_by_key(|l| l.index());
    sets.dedup();
    // Locals that later statements use.
    let mut later = HashSet::new();
    let mut look = |stmt: &Stmt| {
        if let Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) = stmt {
            later.insert(*l);
        }
    };
    for stmt in &func.body.stmts[at + 1..] {
        look(stmt);
        stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
    }
    let results: Vec<Local> = sets.into_iter().filter(|l| later.contains(l)).collect();
    let can_be_kept = |l: &Local| {
        let is_small = func.locals[l.index()].ty.scalar().is_some_and(|s| s.bits() == 32);
        is_small && plan.locals[l.index()] == LocalHome::Region
    };
    let fits = !results.is_empty() && results.iter().all(can_be_kept);
    fits.then_some(Walk { label: *label, before, at, places, blocks, results })
}

/// The plain statements that others depend on.
fn made_of(before: &[Stmt], others: &[&Stmt]) -> Vec<usize> {
    let defined: HashMap<Value, usize> =
        before.iter().enumerate().filter_map(|(i, stmt)| stmt.result().map(|v| (v, i))).collect();
    let (mut wanted, mut locals) = (vec![false; before.len()], HashSet::new());
    let mut values = Vec::new();
    let note = |stmt: &Stmt, values: &mut Vec<Value>, locals: &mut HashSet<Local>| {
        stmt.for_each_value(|v| values.push(v));
        if let Stmt::Let(_, Op::Get(l)) | Stmt::Set(l, _) = stmt {
            locals.insert(*l);
        }
    };
    others.iter().for_each(|stmt| note(stmt, &mut values, &mut locals));
    loop {
        let from_sets = before.iter().enumerate().filter(|(_, s)| matches!(s, Stmt::Set(l, _) if locals.contains(l)));
        let new: Vec<usize> = (values.drain(..).filter_map(|v| defined.get(&v).copied()))
            .chain(from_sets.map(|(i, _)| i))
            .filter(|i| !wanted[*i])
            .collect();
        if new.is_empty() {
            break;
        }
        for i in new {
            wanted[i] = true;
            note(&before[i], &mut values, &mut locals);
        }
    }
    (0..before.len()).filter(|i| wanted[*i]).collect()
}
