//! Simplification of one op at a time, when its operands are known or of a known form.
//!
//! Float ops are simplified only when every operand is a constant: `x + 0.0` and `x * 1.0` are not `x` for every bit pattern.

use crate::ir::eval;
use crate::ir::{BinaryOp, CompareOp, Const, Op, Scalar, Type, UnaryOp, Value};

/// The result of simplifying an op.
pub(super) enum Simple {
    /// The op stays.
    Same,
    /// The result is a constant.
    Const(Const),
    /// The result is a value that exists already.
    Alias(Value),
    /// The result is that of another op.
    Op(Op),
}

/// The facts known about values.
pub(super) struct KnownValues {
    pub(super) types: Vec<Type>,
    /// The constant that a value is.
    pub(super) consts: Vec<Option<Const>>,
    /// The conversion or unary op that made a value.
    pub(super) made: Vec<Option<Op>>,
}

impl KnownValues {
    fn constant(&self, v: Value) -> Option<Const> {
        self.consts[v.index()]
    }

    fn int(&self, v: Value) -> Option<i64> {
        match self.constant(v) {
            Some(Const::Int(_, x)) => Some(x),
            _ => None,
        }
    }

    fn bool(&self, v: Value) -> Option<bool> {
        match self.constant(v) {
            Some(Const::Bool(b)) => Some(b),
            _ => None,
        }
    }

    fn scalar(&self, v: Value) -> Option<Scalar> {
        self.types[v.index()].scalar()
    }

    /// Simplifies an op whose operands are already resolved.
    pub(super) fn simplify(&self, op: &Op) -> Simple {
        let folded = match op {
            Op::Const(c) => Some(*c),
            Op::Unary(op, a) => self.constant(*a).and_then(|a| eval::unary(*op, a)),
            Op::Binary(op, a, b) => self.constant(*a).zip(self.constant(*b)).and_then(|(a, b)| eval::binary(*op, a, b)),
            Op::Compare(op, a, b) => {
                self.constant(*a).zip(self.constant(*b)).and_then(|(a, b)| eval::compare(*op, a, b))
            }
            Op::Convert(to, a) => self.constant(*a).and_then(|a| eval::convert(*to, a)),
            Op::Bitcast(to, a) => self.constant(*a).and_then(|a| eval::bitcast(*to, a)),
            Op::Bit(func, a) => self.constant(*a).and_then(|a| eval::bit(*func, a)),
            Op::Math(func, args) => {
                let args: Option<Vec<Const>> = args.iter().map(|&a| self.constant(a)).collect();
                args.and_then(|args| eval::math(*func, &args))
            }
            _ => None,
        };
        if let Some(c) = folded {
            return Simple::Const(c);
        }
        match op {
            Op::Unary(op, a) => match self.made[a.index()] {
                // An op applied twice cancels out; for a float's sign bit too.
                Some(Op::Unary(inner, x)) if inner == *op => Simple::Alias(x),
                _ => Simple::Same,
            },
            Op::Binary(op, a, b) => self.binary(*op, *a, *b),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b),
            Op::Convert(to, a) if self.scalar(*a) == Some(*to) => Simple::Alias(*a),
            Op::Convert(to, a) => self.convert(*to, *a),
            Op::Bitcast(to, a) if self.scalar(*a) == Some(*to) => Simple::Alias(*a),
            Op::Select(c, a, b) => match self.bool(*c) {
                Some(true) => Simple::Alias(*a),
                Some(false) => Simple::Alias(*b),
                None if a == b => Simple::Alias(*a),
                None => Simple::Same,
            },
            Op::PtrAdd { ptr, index, .. } if self.int(*index) == Some(0) => Simple::Alias(*ptr),
            _ => Simple::Same,
        }
    }

    fn binary(&self, op: BinaryOp, a: Value, b: Value) -> Simple {
        let Some(s) = self.scalar(a).filter(|s| !s.is_float()) else { return Simple::Same };
        if s == Scalar::Bool {
            return self.logical(op, a, b);
        }
        let zero = Simple::Const(Const::Int(s, 0));
        let (x, y) = (self.int(a), self.int(b));
        let all_ones = Some(eval::extend(s, -1));
        match op {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if x == Some(0) => Simple::Alias(b),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr
                if y == Some(0) =>
            {
                Simple::Alias(a)
            }
            BinaryOp::Mul if x == Some(1) => Simple::Alias(b),
            BinaryOp::Mul | BinaryOp::Div if y == Some(1) => Simple::Alias(a),
            BinaryOp::Rem if y == Some(1) => zero,
            BinaryOp::Mul | BinaryOp::And if x == Some(0) || y == Some(0) => zero,
            BinaryOp::And if x == all_ones => Simple::Alias(b),
            BinaryOp::And if y == all_ones => Simple::Alias(a),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Min | BinaryOp::Max if a == b => Simple::Alias(a),
            BinaryOp::Sub | BinaryOp::Xor if a == b => zero,
            _ => Simple::Same,
        }
    }

    fn logical(&self, op: BinaryOp, a: Value, b: Value) -> Simple {
        let (known, other) = match (self.bool(a), self.bool(b)) {
            (Some(x), _) => (x, b),
            (_, Some(y)) => (y, a),
            _ if a == b && matches!(op, BinaryOp::And | BinaryOp::Or) => return Simple::Alias(a),
            _ => return Simple::Same,
        };
        match (op, known) {
            (BinaryOp::And, true) | (BinaryOp::Or | BinaryOp::Xor, false) => Simple::Alias(other),
            (BinaryOp::And, false) => Simple::Const(Const::Bool(false)),
            (BinaryOp::Or, true) => Simple::Const(Const::Bool(true)),
            (BinaryOp::Xor, true) => Simple::Op(Op::Unary(UnaryOp::Not, other)),
            _ => Simple::Same,
        }
    }

    fn compare(&self, op: CompareOp, a: Value, b: Value) -> Simple {
        let Some(s) = self.scalar(a).filter(|s| !s.is_float()) else { return Simple::Same };
        if a == b {
            return Simple::Const(Const::Bool(matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge)));
        }
        let against = match (s, self.constant(b)) {
            (Scalar::Bool, Some(Const::Bool(y))) => Some((a, y)),
            // The form that C++ gives a condition: a truth value widened, then compared with 0.
            (_, Some(Const::Int(_, 0))) => match self.made[a.index()] {
                Some(Op::Convert(_, truth)) if self.scalar(truth) == Some(Scalar::Bool) => Some((truth, false)),
                _ => None,
            },
            _ => None,
        };
        match (op, against) {
            (CompareOp::Eq, Some((truth, true))) | (CompareOp::Ne, Some((truth, false))) => Simple::Alias(truth),
            (CompareOp::Eq, Some((truth, false))) | (CompareOp::Ne, Some((truth, true))) => {
                match self.made[truth.index()] {
                    Some(Op::Unary(UnaryOp::Not, inner)) => Simple::Alias(inner),
                    _ => Simple::Op(Op::Unary(UnaryOp::Not, truth)),
                }
            }
            _ => Simple::Same,
        }
    }

    fn convert(&self, to: Scalar, a: Value) -> Simple {
        let Some(Op::Convert(_, x)) = self.made[a.index()] else { return Simple::Same };
        let (Some(from), Some(middle)) = (self.scalar(x), self.scalar(a)) else { return Simple::Same };
        if from == Scalar::Bool && !middle.is_float() {
            // Every integer type can hold 0 and 1.
            return if to == from { Simple::Alias(x) } else { Simple::Op(Op::Convert(to, x)) };
        }
        // A conversion to a wider integer of either sign and back depends on the low bits alone.
        let through = from.is_int() && middle.is_int() && to.is_int() && middle.size() >= from.size();
        if through && to == from {
            return Simple::Alias(x);
        }
        // Two widenings of the same signedness are one.
        if through && to.size() > middle.size() && middle.size() > from.size() && !from.is_signed() {
            return Simple::Op(Op::Convert(to, x));
        }
        Simple::Same
    }
}
