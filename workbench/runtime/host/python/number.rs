//! Numbers of Python's C interface: integers of any size, and their conversion to C's types.

use super::super::answer::Answer;
use super::super::value::Value;
use super::{NULL, Object, Python};
use crate::back::Exception;

/// An integer.
pub(super) enum Integer {
    Small(i64),
    Big(String),
}

impl Integer {
    pub(super) fn is_negative(&self) -> bool {
        match self {
            Integer::Small(i) => *i < 0,
            Integer::Big(digits) => digits.starts_with('-'),
        }
    }

    /// The low 64 bits.
    pub(super) fn low(&self) -> i64 {
        match self {
            Integer::Small(i) => *i,
            Integer::Big(digits) => {
                let low = digits
                    .bytes()
                    .filter(u8::is_ascii_digit)
                    .fold(0u64, |n, d| n.wrapping_mul(10).wrapping_add(u64::from(d - b'0')));
                let low = if self.is_negative() { low.wrapping_neg() } else { low };
                low as i64
            }
        }
    }

    pub(super) fn unsigned(&self) -> Option<u64> {
        match self {
            Integer::Small(i) => u64::try_from(*i).ok(),
            Integer::Big(digits) => digits.parse().ok(),
        }
    }
}

impl Python {
    pub(super) fn integer(&self, handle: i64) -> Answer<Option<Integer>> {
        Ok(match self.get(handle)? {
            Object::Leaf(Value::Int(i)) => Some(Integer::Small(*i)),
            Object::Leaf(Value::Bool(b)) => Some(Integer::Small((*b).into())),
            Object::Leaf(Value::BigInt(digits)) => Some(Integer::Big(digits.clone())),
            _ => None,
        })
    }

    pub(super) fn not_an_integer(&mut self, handle: i64) -> Answer<()> {
        let came = self.type_name(handle)?;
        self.set(Exception::Type, format!("'{came}' object cannot be interpreted as an integer"));
        Ok(())
    }

    /// An integer as a type of C has it; `None` where the error is set.
    pub(super) fn as_int(&mut self, handle: i64, what: &str) -> Answer<Option<i64>> {
        let Some(integer) = self.integer(handle)? else {
            match what {
                "ssize_t" | "size_t" | "unsigned long" | "unsigned long long" => {
                    self.set(Exception::Type, "an integer is required");
                }
                _ => self.not_an_integer(handle)?,
            }
            return Ok(None);
        };
        let found = match what {
            "mask" => Some(integer.low()),
            "size_t" | "unsigned long" | "unsigned long long" => {
                if integer.is_negative() {
                    let to = if what == "size_t" { "size_t" } else { "unsigned int" };
                    self.set(Exception::Overflow, format!("can't convert negative value to {to}"));
                    return Ok(None);
                }
                integer.unsigned().map(|u| u as i64)
            }
            "int" => match integer {
                Integer::Small(i) => i32::try_from(i).ok().map(i64::from),
                Integer::Big(_) => None,
            },
            _ => match integer {
                Integer::Small(i) => Some(i),
                Integer::Big(_) => None,
            },
        };
        if found.is_none() {
            let message = match what {
                "long long" | "unsigned long long" => "int too big to convert".to_owned(),
                what => format!("Python int too large to convert to C {what}"),
            };
            self.set(Exception::Overflow, message);
        }
        Ok(found)
    }

    /// A number as a double; `None` where the error is set.
    pub(super) fn as_double(&mut self, handle: i64) -> Answer<Option<f64>> {
        let found = match self.get(handle)? {
            Object::Leaf(Value::Float(x)) => Some(*x),
            Object::Leaf(Value::Int(i)) => Some(*i as f64),
            Object::Leaf(Value::Bool(b)) => Some(f64::from(u8::from(*b))),
            Object::Leaf(Value::BigInt(digits)) => {
                let x = digits.parse().unwrap_or(f64::INFINITY);
                if x.is_infinite() {
                    self.set(Exception::Overflow, "int too large to convert to float");
                    return Ok(None);
                }
                Some(x)
            }
            _ => None,
        };
        if found.is_none() {
            let came = self.type_name(handle)?;
            self.set(Exception::Type, format!("must be real number, not {came}"));
        }
        Ok(found)
    }

    pub(super) fn int_of_float(&mut self, x: f64) -> Answer<Value> {
        if x.is_nan() {
            return self.null(Exception::Value, "cannot convert float NaN to integer");
        }
        if x.is_infinite() {
            return self.null(Exception::Overflow, "cannot convert float infinity to integer");
        }
        let whole = x.trunc();
        // 2^63 is a double, and every double below it that is whole fits.
        if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) {
            return self.leaf(Value::Int(whole as i64));
        }
        self.leaf(Value::BigInt(format!("{whole:.0}")))
    }

    pub(super) fn arithmetic(&mut self, sign: &str, a: i64, b: i64) -> Answer<Value> {
        if let (Some(x), Some(y)) = (self.integer(a)?, self.integer(b)?) {
            let (Integer::Small(x), Integer::Small(y)) = (x, y) else {
                let message = "arithmetic on ints of more than 64 bits is not supported";
                return Err((Exception::NotImplemented, message.to_owned()));
            };
            let (x, y) = (i128::from(x), i128::from(y));
            let sum = match sign {
                "+" => x + y,
                "-" => x - y,
                "*" => x * y,
                _ if y == 0 => return self.null(Exception::ZeroDivision, "division by zero"),
                // The quotient is rounded once while both are exact.
                _ if x.unsigned_abs() <= 1 << 53 && y.unsigned_abs() <= 1 << 53 => {
                    return self.leaf(Value::Float(x as f64 / y as f64));
                }
                _ => {
                    let message = "true division of ints of more than 53 bits is not supported";
                    return Err((Exception::NotImplemented, message.to_owned()));
                }
            };
            return match i64::try_from(sum) {
                Ok(i) => self.leaf(Value::Int(i)),
                Err(_) => self.leaf(Value::BigInt(sum.to_string())),
            };
        }
        let is_number = |kind: usize| (1..=3).contains(&kind);
        if is_number(self.type_of(a)?) && is_number(self.type_of(b)?) {
            let (Some(x), Some(y)) = (self.as_double(a)?, self.as_double(b)?) else { return Ok(NULL) };
            return match sign {
                "+" => self.leaf(Value::Float(x + y)),
                "-" => self.leaf(Value::Float(x - y)),
                "*" => self.leaf(Value::Float(x * y)),
                _ if y == 0.0 => self.null(Exception::ZeroDivision, "float division by zero"),
                _ => self.leaf(Value::Float(x / y)),
            };
        }
        if sign == "+" {
            let joined = match (self.get(a)?, self.get(b)?) {
                (Object::Leaf(Value::Text(x)), Object::Leaf(Value::Text(y))) => {
                    Some(Object::Leaf(Value::Text(format!("{x}{y}"))))
                }
                (Object::Leaf(Value::Bytes(x)), Object::Leaf(Value::Bytes(y))) => {
                    Some(Object::Leaf(Value::Bytes([&**x, y].concat())))
                }
                (Object::List(x), Object::List(y)) => Some(Object::List([&**x, y].concat())),
                (Object::Tuple(x), Object::Tuple(y)) => Some(Object::Tuple([&**x, y].concat())),
                _ => None,
            };
            if let Some(joined) = joined {
                return self.add(joined).map(Value::Int);
            }
        }
        let (left, right) = (self.type_name(a)?, self.type_name(b)?);
        self.null(Exception::Type, format!("unsupported operand type(s) for {sign}: '{left}' and '{right}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_any_size_have_low_bits() {
        let low = |digits: &str| Integer::Big(digits.to_owned()).low();
        assert_eq!(low("18446744073709551615"), -1);
        assert_eq!(low("-18446744073709551617"), -1);
        assert_eq!(low("340282366920938463463374607431768211456"), 0);
    }
}
