//! Equality and order of objects.

use std::cmp::Ordering;

use super::super::answer::Answer;
use super::super::value::Value;
use super::{Object, Python};
use crate::back::Exception;

impl Python {
    /// `a == b`
    pub(super) fn equal(&self, a: i64, b: i64, depth: u32) -> Answer<bool> {
        self.look(depth)?;
        if a == b || a == 0 || b == 0 {
            return Ok(a == b);
        }
        Ok(match (self.get(a)?, self.get(b)?) {
            (Object::List(x), Object::List(y)) | (Object::Tuple(x), Object::Tuple(y)) => {
                if x.len() != y.len() {
                    return Ok(false);
                }
                for (x, y) in x.iter().zip(y) {
                    if !self.equal(*x, *y, depth + 1)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Object::Dict(x), Object::Dict(y)) => {
                if x.places.len() != y.places.len() {
                    return Ok(false);
                }
                for (key, value) in x.live() {
                    let other = match self.key(key, depth + 1)? {
                        Some(key) => y.places.get(&key).and_then(|i| y.pairs.get(*i)).copied().flatten(),
                        None => None,
                    };
                    match other {
                        Some((_, other)) if self.equal(value, other, depth + 1)? => {}
                        _ => return Ok(false),
                    }
                }
                true
            }
            (Object::Leaf(Value::Tensor(_)), _) | (_, Object::Leaf(Value::Tensor(_))) => {
                return Err((
                    Exception::NotImplemented,
                    "arrays are not compared by Python's C interface here".to_owned(),
                ));
            }
            (Object::Leaf(Value::Foreign(foreign)), _) => foreign.equals(&self.export(b)?)?,
            (_, Object::Leaf(Value::Foreign(foreign))) => foreign.equals(&self.export(a)?)?,
            (Object::Leaf(x), Object::Leaf(y)) => match leaf_order(x, y) {
                Some(order) => order == Some(Ordering::Equal),
                None => a == b,
            },
            _ => a == b,
        })
    }

    /// The order of two objects; `None` where they cannot be ordered (or one is NaN).
    pub(super) fn order(&self, a: i64, b: i64, depth: u32) -> Answer<Option<Ordering>> {
        self.look(depth)?;
        Ok(match (self.get(a)?, self.get(b)?) {
            (Object::List(x), Object::List(y)) | (Object::Tuple(x), Object::Tuple(y)) => {
                for (x, y) in x.iter().zip(y) {
                    if !self.equal(*x, *y, depth + 1)? {
                        return self.order(*x, *y, depth + 1);
                    }
                }
                Some(x.len().cmp(&y.len()))
            }
            (Object::Leaf(x), Object::Leaf(y)) => leaf_order(x, y).flatten(),
            _ => None,
        })
    }

    pub(super) fn compare(&mut self, a: i64, b: i64, operation: i64) -> Answer<Value> {
        if operation == 2 || operation == 3 {
            return Ok(Value::Int((self.equal(a, b, 0)? == (operation == 2)).into()));
        }
        let both_numbers = (1..=3).contains(&self.type_of(a)?) && (1..=3).contains(&self.type_of(b)?);
        let (sign, wanted): (_, &[Ordering]) = match operation {
            0 => ("<", &[Ordering::Less]),
            1 => ("<=", &[Ordering::Less, Ordering::Equal]),
            4 => (">", &[Ordering::Greater]),
            _ => (">=", &[Ordering::Greater, Ordering::Equal]),
        };
        match self.order(a, b, 0)? {
            Some(order) => Ok(Value::Int(wanted.contains(&order).into())),
            // NaN.
            None if both_numbers => Ok(Value::Int(0)),
            None => {
                let (a, b) = (self.type_name(a)?, self.type_name(b)?);
                self.failed(Exception::Type, format!("'{sign}' not supported between instances of '{a}' and '{b}'"))
            }
        }
    }
}

/// The order of two values that hold nothing; `None` where they are of kinds that are never equal, `Some(None)` for
/// NaN.
fn leaf_order(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    let whole = |v: &Value| match v {
        Value::Int(i) => Some(*i),
        Value::Bool(b) => Some(i64::from(*b)),
        _ => None,
    };
    let big = |v: &Value| match v {
        Value::BigInt(digits) => Some((digits.starts_with('-'), digits.len(), digits.clone())),
        _ => None,
    };
    let side = |negative: bool| Some(Some(if negative { Ordering::Less } else { Ordering::Greater }));
    match (a, b) {
        (Value::Text(x), Value::Text(y)) => Some(Some(x.cmp(y))),
        (Value::Bytes(x), Value::Bytes(y)) => Some(Some(x.cmp(y))),
        (Value::DType(x), Value::DType(y)) => (x == y).then_some(Some(Ordering::Equal)),
        (Value::Float(x), Value::Float(y)) => Some(x.partial_cmp(y)),
        (Value::Float(x), y) if whole(y).is_some() => Some(float_order(*x, whole(y)?)),
        (x, Value::Float(y)) if whole(x).is_some() => Some(float_order(*y, whole(x)?).map(Ordering::reverse)),
        (x, y) => match (whole(x), whole(y), big(x), big(y)) {
            (Some(x), Some(y), ..) => Some(Some(x.cmp(&y))),
            (None, Some(_), Some((negative, ..)), None) => side(negative),
            (Some(_), None, None, Some((negative, ..))) => side(!negative),
            (None, None, Some(x), Some(y)) => Some(Some(match (x.0, y.0) {
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => (x.1, x.2).cmp(&(y.1, y.2)),
                (true, true) => (y.1, y.2).cmp(&(x.1, x.2)),
            })),
            (None, None, Some((_, _, digits)), None) => match y {
                Value::Float(y) => Some(digits.parse::<f64>().ok().and_then(|x| x.partial_cmp(y))),
                _ => None,
            },
            (None, None, None, Some((_, _, digits))) => match x {
                Value::Float(x) => Some(digits.parse::<f64>().ok().and_then(|y| x.partial_cmp(&y))),
                _ => None,
            },
            _ => None,
        },
    }
}

/// The order of a float and an integer, exactly.
fn float_order(x: f64, i: i64) -> Option<Ordering> {
    if x.is_nan() {
        return None;
    }
    if x >= 9_223_372_036_854_775_808.0 {
        return Some(Ordering::Greater);
    }
    if x < -9_223_372_036_854_775_808.0 {
        return Some(Ordering::Less);
    }
    let whole = x.floor();
    let rest = if x > whole { Ordering::Greater } else { Ordering::Equal };
    Some((whole as i64).cmp(&i).then(rest))
}
