//! Regions of a kernel, cut at its splits: stretches that a block's threads run one after the other, each thread to the end of the stretch,
//! without waiting for another thread.
//!
//! A *split* is a barrier, a collective, or a volatile store that may go to shared memory (it happens in step: reads of lanes before it
//! come before all stores, reads after it after all stores). [`Regions`] is a tree that mirrors the body. A construct without a split is
//! part of a region, whatever it is. A construct that holds a split is a node of its own, and so is an `If` on a uniform condition that
//! only decides if threads leave such a construct: all threads go the same way.
//!
//! Calls are assumed to hold no split: [`super::inline`] leaves no call that does, except in recursion. [`unswitch`] leaves no `Switch`
//! that does.

use std::ops::Range;

use super::pointers::{self, Origin};
use super::uniformity::Uniformity;
use crate::ir::{BinaryOp, Block, Case, CompareOp, Const, Function, Label, Op, Scalar, Stmt, Type, Value};
use crate::source::Span;

/// A function's regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    /// The parts of the body.
    pub body: Sequence,
}

/// The parts of a block, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequence {
    /// The parts; statement numbers are those of the block the sequence stands for.
    pub nodes: Vec<Node>,
}

/// A part of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Statements without a split; never empty. A volatile store that splits is a region of its own.
    Region(Range<usize>),
    /// A `Barrier`.
    Barrier(usize),
    /// A `Collective`.
    Collective(usize),
    /// An `If` that holds a split, or on a uniform condition leaves a construct that does.
    If {
        /// The statement.
        stmt: usize,
        /// The side that runs when the condition is true.
        then: Sequence,
        /// The side that runs when it is false.
        els: Sequence,
    },
    /// A `Loop` that holds a split.
    Loop {
        /// The statement.
        stmt: usize,
        /// Its body.
        body: Sequence,
        /// Its step.
        step: Sequence,
    },
    /// A `Scope` that holds a split.
    Scope {
        /// The statement.
        stmt: usize,
        /// Its body.
        body: Sequence,
    },
    /// A `Break`, `Continue` or `Return` that leaves a construct which is a node, or the function.
    Jump(usize),
}

impl Regions {
    /// True if nothing splits the function: each thread runs from beginning to end.
    pub fn is_whole(&self) -> bool {
        self.body.nodes.iter().all(|node| matches!(node, Node::Region(_) | Node::Jump(_)))
    }
}

/// The statements that split a function.
#[derive(Debug)]
pub struct Splits {
    /// True for each value that is a pointer which may point into shared memory.
    shared: Vec<bool>,
    /// True if the threads of a warp run in step, so that what a warp does together splits nothing.
    in_step: bool,
}

impl Splits {
    /// The splits of a function.
    pub fn new(func: &Function) -> Self {
        let mut any = false;
        func.body.for_each_stmt(&mut |stmt| any |= matches!(stmt, Stmt::Let(_, Op::SharedAddr(_))));
        if !any {
            return Splits { shared: vec![false; func.values.len()], in_step: false };
        }
        let origins = pointers::origins(func, |op| Origin::One(matches!(op, Op::SharedAddr(_))));
        let shared = origins.into_iter().map(|o| matches!(o, Origin::One(true) | Origin::Unknown)).collect();
        Splits { shared, in_step: false }
    }

    /// The splits of a function where the threads of a warp run in step: collectives of warps are none.
    pub fn of_warps_in_step(func: &Function) -> Self {
        Splits { in_step: true, ..Splits::new(func) }
    }

    /// True if a statement itself is a split.
    pub fn is_split(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Barrier(_) => true,
            Stmt::Collective { op, .. } => op.is_block() || !self.in_step,
            Stmt::Store { ptr, volatile: true, .. } => self.shared.get(ptr.index()).copied().unwrap_or(false),
            _ => false,
        }
    }

    /// True if a block holds a split.
    pub fn within(&self, block: &Block) -> bool {
        block.stmts.iter().any(|stmt| self.is_split(stmt) || stmt.blocks().into_iter().any(|inner| self.within(inner)))
    }

    fn held(&self, stmt: &Stmt) -> bool {
        stmt.blocks().into_iter().any(|inner| self.within(inner))
    }
}

/// Replaces every `Switch` that holds a split by a `Scope` of one `If` after the other.
pub fn unswitch(func: &mut Function) {
    let splits = Splits::new(func);
    unswitch_where(func, &|stmt| splits.held(stmt));
}

/// Replaces every `Switch`, as [`unswitch`] does.
pub fn unswitch_all(func: &mut Function) {
    unswitch_where(func, &|_| true);
}

fn unswitch_where(func: &mut Function, wanted: &dyn Fn(&Stmt) -> bool) {
    let mut body = std::mem::take(&mut func.body);
    unswitch_block(func, wanted, &mut body);
    func.body = body;
}

fn unswitch_block(func: &mut Function, wanted: &dyn Fn(&Stmt) -> bool, block: &mut Block) {
    for (stmt, span) in block.stmts.iter_mut().zip(&block.spans) {
        if !wanted(stmt) {
            continue;
        }
        for inner in stmt.blocks_mut() {
            unswitch_block(func, wanted, inner);
        }
        if let Stmt::Switch { label, value, cases } = stmt {
            *stmt = chain(func, *label, *value, std::mem::take(cases), *span);
        }
    }
}

/// `entered` is true if a case before fell through.
fn chain(func: &mut Function, label: Label, value: Value, cases: Vec<Case>, span: Span) -> Stmt {
    let ty = func.ty(value).scalar().unwrap_or(Scalar::I32);
    let entered = func.new_local("", Scalar::Bool.into());
    let mut body = Block::default();
    let bind = |func: &mut Function, body: &mut Block, ty: Type, op: Op| {
        let v = func.new_value(ty, span);
        body.push(Stmt::Let(v, op), span);
        v
    };
    let bool = Type::Scalar(Scalar::Bool);
    let no = bind(func, &mut body, bool, Op::Const(Const::Bool(false)));
    body.push(Stmt::Set(entered, no), span);
    // The default runs where no case matches.
    let mut hits = Vec::with_capacity(cases.len());
    let mut any = no;
    for case in &cases {
        let mut hit = no;
        for n in &case.values {
            let n = bind(func, &mut body, ty.into(), Op::Const(Const::Int(ty, *n)));
            let same = bind(func, &mut body, bool, Op::Compare(CompareOp::Eq, value, n));
            hit = bind(func, &mut body, bool, Op::Binary(BinaryOp::Or, hit, same));
        }
        any = bind(func, &mut body, bool, Op::Binary(BinaryOp::Or, any, hit));
        hits.push(hit);
    }
    for (case, mut hit) in cases.into_iter().zip(hits) {
        if case.default {
            let none = bind(func, &mut body, bool, Op::Unary(crate::ir::UnaryOp::Not, any));
            hit = bind(func, &mut body, bool, Op::Binary(BinaryOp::Or, hit, none));
        }
        let before = bind(func, &mut body, bool, Op::Get(entered));
        let cond = bind(func, &mut body, bool, Op::Binary(BinaryOp::Or, before, hit));
        let mut then = case.body;
        if !then.stmts.last().is_some_and(Stmt::is_terminator) {
            if case.falls_through {
                let yes = bind(func, &mut then, bool, Op::Const(Const::Bool(true)));
                then.push(Stmt::Set(entered, yes), span);
            } else {
                then.push(Stmt::Break(label), span);
            }
        }
        body.push(Stmt::If { cond, then, els: Block::default() }, span);
    }
    Stmt::Scope { label, body }
}

/// Cuts a function at its splits.
pub fn split(func: &Function, splits: &Splits, uniformity: &Uniformity) -> Regions {
    let mut cutter = Cutter { splits, uniformity, open: Vec::new() };
    Regions { body: cutter.block(&func.body) }
}

struct Cutter<'a> {
    splits: &'a Splits,
    uniformity: &'a Uniformity,
    /// Labels of the enclosing nodes.
    open: Vec<Label>,
}

impl Cutter<'_> {
    fn block(&mut self, block: &Block) -> Sequence {
        let mut nodes = Vec::new();
        let mut start = 0;
        for (i, stmt) in block.stmts.iter().enumerate() {
            let Some(node) = self.node(i, stmt) else { continue };
            if start < i {
                nodes.push(Node::Region(start..i));
            }
            nodes.push(node);
            start = i + 1;
        }
        if start < block.stmts.len() {
            nodes.push(Node::Region(start..block.stmts.len()));
        }
        Sequence { nodes }
    }

    /// The node of a statement, unless it is part of a larger region.
    fn node(&mut self, i: usize, stmt: &Stmt) -> Option<Node> {
        match stmt {
            Stmt::Barrier(_) => return Some(Node::Barrier(i)),
            Stmt::Collective { .. } if self.splits.is_split(stmt) => return Some(Node::Collective(i)),
            Stmt::Break(l) | Stmt::Continue(l) if self.open.contains(l) => return Some(Node::Jump(i)),
            Stmt::Return(_) => return Some(Node::Jump(i)),
            _ if self.splits.is_split(stmt) => return Some(Node::Region(i..i + 1)),
            _ => {}
        }
        let held = self.splits.held(stmt);
        match stmt {
            Stmt::If { cond, then, els } => {
                let leaves = || self.leaves(then) || self.leaves(els);
                let is_node = held || self.uniformity.is_uniform(*cond) && leaves();
                if !is_node {
                    return None;
                }
                let (then, els) = (self.block(then), self.block(els));
                Some(Node::If { stmt: i, then, els })
            }
            Stmt::Loop { label, body, step } if held => {
                self.open.push(*label);
                let (body, step) = (self.block(body), self.block(step));
                self.open.pop();
                Some(Node::Loop { stmt: i, body, step })
            }
            Stmt::Scope { label, body } if held => {
                self.open.push(*label);
                let body = self.block(body);
                self.open.pop();
                Some(Node::Scope { stmt: i, body })
            }
            _ => None,
        }
    }

    /// True if a block holds a jump out of a node, or a return.
    fn leaves(&self, block: &Block) -> bool {
        block.stmts.iter().any(|stmt| match stmt {
            Stmt::Return(_) => true,
            Stmt::Break(l) | Stmt::Continue(l) => self.open.contains(l),
            other => other.blocks().into_iter().any(|inner| self.leaves(inner)),
        })
    }
}
