//! What one round of a loop computes: operations on 16 lanes of 32 bits, each there once.

use std::collections::HashMap;

/// The number of an operation.
pub type Id = usize;

/// Where a round reads: a pointer, and what is added for the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    pub pointer: usize,
    pub index: Index,
    pub bytes: i32,
}

/// A multiple of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Index {
    None,
    /// By what an address may have: 1, 2, 4 or 8.
    Scaled(u8),
    /// By one of the loop's factors.
    Times(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    Sqrt,
    Round,
    Floor,
    Ceil,
    Trunc,
    ToFloat,
    Whole,
    /// The processor's estimate.
    Rsqrt,
    Mantissa,
    Exponent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// The second with a NaN or equal numbers.
    Min,
    Max,
    Scale,
    AddInt,
    SubInt,
    MulInt,
    And,
    Or,
    Xor,
    /// By amounts that may be the width and more.
    Shl,
    Shr,
    Sar,
    MinInt,
    MaxInt,
    MinUint,
    MaxUint,
}

impl Binary {
    fn commutes(self) -> bool {
        use Binary::{Add, AddInt, And, MaxInt, MaxUint, MinInt, MinUint, Mul, MulInt, Or, Xor};
        matches!(self, Add | Mul | AddInt | MulInt | And | Or | Xor | MinInt | MaxInt | MinUint | MaxUint)
    }
}

/// How lanes are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    /// By the number of the processor's predicate.
    Float(u8),
    Int(u8),
    Uint(u8),
}

/// What masks do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Both {
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// A variable, as it is when the round begins.
    Carried(usize),
    /// Lanes from before the loop.
    Given(usize),
    /// A number from before the loop in all lanes.
    One(usize),
    Load(Place),
    LoadOne(Place),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// `a * b + c`, rounded once; with minus `a * b`.
    Fused(bool, Id, Id, Id),
    Compare(Compare, Id, Id),
    Both(Both, Id, Id),
    Not(Id),
    Choose(Id, Id, Id),
}

impl Op {
    /// What it is made of.
    pub fn uses(&self) -> impl Iterator<Item = Id> + use<> {
        let (all, count) = match *self {
            Op::Carried(_) | Op::Given(_) | Op::One(_) | Op::Load(_) | Op::LoadOne(_) => ([0; 3], 0),
            Op::Unary(_, a) | Op::Not(a) => ([a, 0, 0], 1),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Both(_, a, b) => ([a, b, 0], 2),
            Op::Fused(_, a, b, c) | Op::Choose(a, b, c) => ([a, b, c], 3),
        };
        all.into_iter().take(count)
    }

    /// Whether it is a mask.
    pub fn is_mask(&self) -> bool {
        matches!(self, Op::Compare(..) | Op::Both(..) | Op::Not(_))
    }
}

/// More than fit no loop worth the trouble.
const MOST: usize = 2000;

/// The operations of a round, in an order in which they may be done.
#[derive(Default)]
pub struct Values {
    pub ops: Vec<Op>,
    known: HashMap<Op, Id>,
}

impl Values {
    pub fn add(&mut self, op: Op) -> Option<Id> {
        let op = match op {
            Op::Binary(binary, a, b) if binary.commutes() && a > b => Op::Binary(binary, b, a),
            other => other,
        };
        if let Some(id) = self.known.get(&op) {
            return Some(*id);
        }
        if self.ops.len() == MOST {
            return None;
        }
        self.known.insert(op, self.ops.len());
        self.ops.push(op);
        Some(self.ops.len() - 1)
    }

    /// The order that leaves few of them alive: of what the variables become always that next which has least left to compute, and of an
    /// operation's parts the larger first.
    pub fn schedule(&self, roots: &[Id]) -> Vec<Id> {
        let mut done = vec![false; self.ops.len()];
        let mut order = Vec::new();
        let mut left: Vec<Id> = roots.to_vec();
        while !left.is_empty() {
            let sizes = left.iter().map(|root| self.missing(*root, &done));
            let least = sizes.enumerate().min_by_key(|(_, size)| *size).map_or(0, |(at, _)| at);
            let root = left.remove(least);
            self.visit(root, &mut done, &mut order);
        }
        order
    }

    /// How much an operation takes that is not done.
    fn missing(&self, root: Id, done: &[bool]) -> usize {
        let mut seen = vec![false; self.ops.len()];
        let (mut left, mut count) = (vec![root], 0);
        while let Some(id) = left.pop() {
            if !done[id] && !std::mem::replace(&mut seen[id], true) {
                count += 1;
                left.extend(self.ops[id].uses());
            }
        }
        count
    }

    fn visit(&self, root: Id, done: &mut [bool], order: &mut Vec<Id>) {
        // A pair is an operation, and whether its parts have been seen to.
        let mut left = vec![(root, false)];
        while let Some((id, ready)) = left.pop() {
            if ready {
                if !std::mem::replace(&mut done[id], true) {
                    order.push(id);
                }
            } else if !done[id] {
                left.push((id, true));
                let mut parts: Vec<Id> = self.ops[id].uses().collect();
                parts.sort_by_key(|part| self.missing(*part, done));
                // What is pushed last is done first.
                left.extend(parts.into_iter().map(|part| (part, false)));
            }
        }
    }
}
