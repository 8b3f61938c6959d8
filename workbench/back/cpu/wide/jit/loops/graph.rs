//! The values of one round of a loop: operations on 16 lanes of 32 bits, each there once.

use std::collections::HashMap;

use crate::back::lane::tree;

/// The number of an operation.
pub type Id = usize;

/// The address of a read: a pointer, plus a multiple of the counter, plus bytes.
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
    /// The factor is one that an address may have: 1, 2, 4 or 8.
    Scaled(u8),
    /// The factor is one of the loop's factors.
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
    /// The processor's estimate of the reciprocal square root.
    Rsqrt,
    /// A positive number's mantissa, in [3/4, 3/2); NaN of negative ones.
    Mantissa,
    /// The exponent of any number as a float: of zero negative infinity, of infinities infinity.
    Exponent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// The minimum; the second operand if there is a NaN or both are equal.
    Min,
    Max,
    Scale,
    AddInt,
    SubInt,
    MulInt,
    And,
    Or,
    Xor,
    /// Shifts by amounts that may be the width or more.
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

/// A comparison of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    /// A comparison of floats, by the number of the processor's predicate.
    Float(u8),
    Int(u8),
    Uint(u8),
}

/// An operation of two masks.
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
    /// The sum `a * b + c`, rounded once; with `true` the product is negated.
    Fused(bool, Id, Id, Id),
    Compare(Compare, Id, Id),
    Both(Both, Id, Id),
    Not(Id),
    Choose(Id, Id, Id),
}

impl Op {
    /// The operands.
    pub fn uses(&self) -> impl Iterator<Item = Id> + use<> {
        let (all, count) = match *self {
            Op::Carried(_) | Op::Given(_) | Op::One(_) | Op::Load(_) | Op::LoadOne(_) => ([0; 3], 0),
            Op::Unary(_, a) | Op::Not(a) => ([a, 0, 0], 1),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Both(_, a, b) => ([a, b, 0], 2),
            Op::Fused(_, a, b, c) | Op::Choose(a, b, c) => ([a, b, c], 3),
        };
        all.into_iter().take(count)
    }

    /// True if it is a mask.
    pub fn is_mask(&self) -> bool {
        matches!(self, Op::Compare(..) | Op::Both(..) | Op::Not(_))
    }
}

/// Most operations: a loop with more is not worth compiling this way.
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

    /// An order that keeps few values alive: the root that lacks the fewest operations always comes next, and the larger operands of an
    /// operation come first.
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

    /// The number of operations to do for a root.
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
        // A pair is an operation, and true if its operands have been visited.
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
                // The part that is pushed last is done first.
                left.extend(parts.into_iter().map(|part| (part, false)));
            }
        }
    }
}

/// A loop.
pub struct Loop {
    pub ops: Vec<Op>,
    /// The order of a round.
    pub order: Vec<Id>,
    /// The final value of each variable.
    pub roots: Vec<Id>,
    /// The place where a variable is read and left, if not in the frame.
    pub homes: Vec<Option<Place>>,
    pub given: usize,
    pub ones: usize,
    pub pointers: usize,
    pub factors: usize,
    /// Bits that choose between stores.
    pub flags: usize,
    /// The counter; none if there is but one round.
    pub counter: Option<Counter>,
    /// The stores, in their order.
    pub stores: Vec<Store>,
    /// Lines of the cache that a round asks for.
    pub asked: Vec<Place>,
}

/// A store at the end of a round.
#[derive(Debug, Clone, Copy)]
pub struct Store {
    /// The flag that guards the store, and the value that it has to have.
    pub when: Option<(usize, bool)>,
    /// True if it goes past the cache.
    pub past: bool,
    pub place: Place,
    pub id: Id,
}

/// The counter of the rounds.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    pub is_long: bool,
    pub signed: bool,
    /// The comparison with the limit that holds while there are rounds.
    pub goes_on: tree::Binary,
    /// The cost of a round in the budget.
    pub cost: i32,
}
