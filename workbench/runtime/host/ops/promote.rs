//! torch's type promotion (`torch.result_type`): dimensioned tensors first, then those without dimensions, then numbers.

use super::super::value::Value;
use crate::runtime::DType;

/// The smallest type that both convert to (`torch.promote_types`).
pub fn promote(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    match (a.is_float(), b.is_float()) {
        (true, false) => return a,
        (false, true) => return b,
        (true, true) => {
            return match (a.size(), b.size()) {
                (2, 2) => DType::Float32,
                (x, y) if x > y => a,
                _ => b,
            };
        }
        (false, false) => {}
    }
    if a == DType::Bool {
        return b;
    }
    if b == DType::Bool {
        return a;
    }
    let signed = |d: DType| matches!(d, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
    match (signed(a), signed(b)) {
        (x, y) if x == y => {
            if a.size() > b.size() {
                a
            } else {
                b
            }
        }
        // An unsigned type and a signed one: the signed one that holds both.
        (is_a, _) => {
            let (s, u) = if is_a { (a, b) } else { (b, a) };
            if s.size() > u.size() {
                return s;
            }
            match u.size() {
                1 => DType::Int16,
                2 => DType::Int32,
                _ => DType::Int64,
            }
        }
    }
}

/// The weight of an operand's type in promotion: the number of its group, and the type.
fn priority(value: &Value) -> Option<(usize, DType)> {
    Some(match value {
        Value::Tensor(t) if t.dim() > 0 => (2, t.dtype()),
        Value::Tensor(t) => (1, t.dtype()),
        Value::Bool(_) => (0, DType::Bool),
        Value::Int(_) => (0, DType::Int64),
        Value::Float(_) => (0, DType::Float32),
        _ => return None,
    })
}

/// The type of an operation's result on operands.
pub fn result_type(operands: &[&Value]) -> DType {
    let mut found: [Option<DType>; 3] = [None; 3];
    for (level, dtype) in operands.iter().filter_map(|v| priority(v)) {
        found[level] = Some(found[level].map_or(dtype, |known| promote(known, dtype)));
    }
    let category = |d: DType| if d.is_float() { 2 } else { usize::from(d != DType::Bool) };
    let mut result = found[2];
    for lower in [found[1], found[0]] {
        result = match (result, lower) {
            (None, lower) => lower,
            // A type of a lower group only lifts the category.
            (Some(high), Some(low)) if category(low) > category(high) => Some(promote(high, low)),
            (high, _) => high,
        };
    }
    result.unwrap_or(DType::Float32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_promote_as_torchs_do() {
        use DType::*;
        // Results of `torch.promote_types`.
        for (a, b, both) in [
            (UInt8, Int8, Int16),
            (Int32, Int64, Int64),
            (Float16, BFloat16, Float32),
            (Float16, Int64, Float16),
            (Bool, UInt8, UInt8),
            (Float32, Float64, Float64),
            (UInt8, Int32, Int32),
        ] {
            assert_eq!(promote(a, b), both, "{a} {b}");
            assert_eq!(promote(b, a), both, "{b} {a}");
        }
        assert_eq!(result_type(&[&Value::Int(1), &Value::Float(0.5)]), Float32);
    }
}
