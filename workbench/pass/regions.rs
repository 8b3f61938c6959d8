//! A kernel cut at its barriers into regions: stretches a block's threads run one after the other, each to the end of the
//! stretch, with nothing of another thread's to wait for.
//!
//! [`Regions`] is a tree that mirrors the body. A construct without a barrier in it is part of a region, whatever it is. A
//! construct that holds one must be entered by all threads or none, and is a node of its own; that is where an `If` or
//! `Loop` on a uniform condition will go. Barriers below the top level of the body are not supported yet.
//!
//! Calls are taken to hold no barrier: [`super::inline`] leaves none that does, save in recursion.

use std::ops::Range;

use super::uniformity::Uniformity;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Block, Function, Scope, Stmt};

/// A function's regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    /// What the body is made of.
    pub body: Sequence,
}

/// What a block is made of, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequence {
    /// The parts; statement numbers are those of the block the sequence stands for.
    pub nodes: Vec<Node>,
}

/// A part of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Statements without a barrier; never empty.
    Region(Range<usize>),
    /// A barrier.
    Barrier {
        /// The statement.
        stmt: usize,
        /// Which threads it joins.
        scope: Scope,
    },
    /// An `If` on a uniform condition that holds a barrier.
    If {
        /// The statement.
        stmt: usize,
        /// When true.
        then: Sequence,
        /// When false.
        els: Sequence,
    },
    /// A `Loop` that all threads leave together and that holds a barrier.
    Loop {
        /// The statement.
        stmt: usize,
        /// Its body.
        body: Sequence,
        /// Its step.
        step: Sequence,
    },
}

impl Regions {
    /// Whether nothing splits the function: each thread runs from beginning to end.
    pub fn is_whole(&self) -> bool {
        self.body.nodes.iter().all(|node| matches!(node, Node::Region(_)))
    }
}

/// Cuts a function at its barriers.
///
/// # Errors
/// A barrier inside a construct, as [`Code::Unsupported`]; the message tells whether all threads would meet there.
pub fn split(func: &Function, uniformity: &Uniformity) -> Result<Regions, Vec<Diagnostic>> {
    let mut nodes = Vec::new();
    let mut diags = Vec::new();
    let mut start = 0;
    let mut close = |nodes: &mut Vec<Node>, end: usize, next: usize| {
        if start < end {
            nodes.push(Node::Region(start..end));
        }
        start = next;
    };
    for (i, stmt) in func.body.stmts.iter().enumerate() {
        match stmt {
            Stmt::Barrier(scope) => {
                close(&mut nodes, i, i + 1);
                nodes.push(Node::Barrier { stmt: i, scope: *scope });
            }
            other => nested(other, uniformity, false, &mut diags),
        }
    }
    close(&mut nodes, func.body.stmts.len(), func.body.stmts.len());
    if diags.is_empty() { Ok(Regions { body: Sequence { nodes } }) } else { Err(diags) }
}

/// Reports the barriers inside a construct.
fn nested(stmt: &Stmt, uniformity: &Uniformity, divergent: bool, diags: &mut Vec<Diagnostic>) {
    let divergent = divergent
        || match stmt {
            Stmt::If { cond, .. } => !uniformity.is_uniform(*cond),
            Stmt::Switch { label, value, .. } => !uniformity.is_uniform(*value) || !uniformity.leaves_together(*label),
            Stmt::Loop { label, .. } | Stmt::Scope { label, .. } => !uniformity.leaves_together(*label),
            _ => false,
        };
    for block in stmt.blocks() {
        report(block, uniformity, divergent, diags);
    }
}

fn report(block: &Block, uniformity: &Uniformity, divergent: bool, diags: &mut Vec<Diagnostic>) {
    for (stmt, span) in block.iter() {
        if let Stmt::Barrier(scope) = stmt {
            let name = match scope {
                Scope::Block => "__syncthreads()",
                Scope::Warp => "__syncwarp()",
            };
            let why = if divergent { " that not all threads need to reach" } else { "" };
            let message = format!("`{name}` inside a loop or condition{why} is not supported on the CPU yet");
            let help = "move the barrier to the top level of the kernel, or run it with `device=\"cuda\"`";
            diags.push(Diagnostic::error(Code::Unsupported, span, message).help(help));
        }
        nested(stmt, uniformity, divergent, diags);
    }
}
