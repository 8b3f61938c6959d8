//! Values that pass between the notebook, host code and tensor operations.

use super::array::{DeviceTag, HostTensor};
use super::foreign::Foreign;
use crate::runtime::DType;

/// A value.
#[derive(Debug, Clone)]
pub enum Value {
    /// `None`, an empty optional.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer that a signed 64-bit one does not hold, in decimal digits; only Python's C interface takes it as an argument.
    BigInt(String),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes of Python's; only its C interface takes them.
    Bytes(Vec<u8>),
    /// A tensor.
    Tensor(HostTensor),
    /// A list, or a tuple that is an argument.
    List(Vec<Value>),
    /// A tuple that is a result.
    Tuple(Vec<Value>),
    /// A set that is a result.
    Set(Vec<Value>),
    /// Pairs of a key and a value.
    Dict(Vec<(Value, Value)>),
    /// An element type.
    DType(DType),
    /// A device.
    Device(DeviceTag),
    /// Any other object of the notebook's.
    Foreign(Foreign),
}

// Values are moved at each step of a call: up to 128 bytes by a few instructions, more by a call of `memcpy`.
const _: () = assert!(size_of::<Value>() <= 128);

impl Value {
    /// The number of its kind to host code (`top_kind`).
    pub fn kind(&self) -> i64 {
        match self {
            Value::None => 0,
            Value::Bool(_) => 1,
            Value::Int(_) => 2,
            Value::Float(_) => 3,
            Value::Text(_) => 4,
            Value::Tensor(_) => 5,
            Value::List(_) | Value::Tuple(_) | Value::Set(_) => 6,
            Value::DType(_) => 7,
            Value::Device(_) => 8,
            Value::Dict(_) => 9,
            Value::BigInt(_) => 10,
            Value::Bytes(_) => 11,
            Value::Foreign(_) => 12,
        }
    }

    /// The same value, with its tensors on a device.
    pub fn on(self, device: DeviceTag) -> Self {
        match self {
            Value::Tensor(t) => Value::Tensor(t.on(device)),
            Value::List(all) => Value::List(all.into_iter().map(|v| v.on(device)).collect()),
            Value::Tuple(all) => Value::Tuple(all.into_iter().map(|v| v.on(device)).collect()),
            Value::Dict(all) => Value::Dict(all.into_iter().map(|(k, v)| (k, v.on(device))).collect()),
            other => other,
        }
    }

    /// True if two results have the same shapes and types; values other than tensors must be the same.
    pub fn is_alike(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Tensor(a), Value::Tensor(b)) => a.dtype() == b.dtype() && a.shape() == b.shape(),
            (Value::List(a) | Value::Tuple(a), Value::List(b) | Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_alike(b))
            }
            (a, b) => a.kind() == b.kind() && a.to_string() == b.to_string(),
        }
    }

    /// The same value, with its tensors to be read only.
    pub fn sealed(self) -> Self {
        match self {
            Value::Tensor(t) => Value::Tensor(t.sealed()),
            Value::List(all) => Value::List(all.into_iter().map(Value::sealed).collect()),
            Value::Tuple(all) => Value::Tuple(all.into_iter().map(Value::sealed).collect()),
            Value::Dict(all) => Value::Dict(all.into_iter().map(|(k, v)| (k, v.sealed())).collect()),
            other => other,
        }
    }

    /// True if it is a tensor, or holds one.
    pub fn has_tensor(&self) -> bool {
        match self {
            Value::Tensor(_) => true,
            Value::List(all) | Value::Tuple(all) | Value::Set(all) => all.iter().any(Value::has_tensor),
            Value::Dict(all) => all.iter().any(|(key, value)| key.has_tensor() || value.has_tensor()),
            _ => false,
        }
    }

    /// True if pybind11 takes it for an object of that type of Python's.
    pub fn is_object_of(&self, name: &str) -> bool {
        match (name, self) {
            ("object", _) => true,
            // Truth values are integers in Python.
            ("int", Value::Bool(_)) => true,
            ("function", Value::Foreign(object)) => object.is_callable(),
            ("iterable", Value::Foreign(_)) => true,
            ("sequence" | "iterable", Value::List(_) | Value::Tuple(_) | Value::Text(_) | Value::Bytes(_)) => true,
            ("iterable", Value::Dict(_) | Value::Set(_)) => true,
            (name, value) => value.type_name() == name,
        }
    }

    /// The name of its type in messages: Python's.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::BigInt(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "str",
            Value::Bytes(_) => "bytes",
            Value::Tensor(_) => "Tensor",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Set(_) => "set",
            Value::DType(_) => "dtype",
            Value::Device(_) => "device",
            Value::Dict(_) => "dict",
            Value::Foreign(_) => "object",
        }
    }
}

impl std::fmt::Display for Value {
    /// The text in `TORCH_CHECK`'s message.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(b) => write!(f, "{}", u8::from(*b)),
            Value::Int(i) => write!(f, "{i}"),
            Value::Float(x) => f.write_str(&general(*x)),
            Value::BigInt(text) | Value::Text(text) => f.write_str(text),
            Value::Bytes(bytes) => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Value::Tensor(t) => write!(f, "Tensor({}, {:?})", t.dtype(), t.shape()),
            Value::List(all) | Value::Tuple(all) | Value::Set(all) => {
                f.write_str("[")?;
                for (i, value) in all.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Dict(all) => {
                f.write_str("{")?;
                for (i, (key, value)) in all.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Value::DType(d) => f.write_str(cpp_name(*d)),
            Value::Device(d) => write!(f, "{d}"),
            Value::Foreign(object) => f.write_str(&object.show(false).unwrap_or_else(|(_, why)| why)),
        }
    }
}

/// A number as C++ streams write it: six significant digits.
fn general(x: f64) -> String {
    if x == 0.0 {
        return if x.is_sign_negative() { "-0".to_owned() } else { "0".to_owned() };
    }
    if !x.is_finite() {
        return if x.is_nan() {
            "nan"
        } else if x > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    }
    let scientific = format!("{x:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let trim =
        |s: &str| if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_owned() } else { s.to_owned() };
    if (-4..6).contains(&power) {
        return trim(&format!("{x:.*}", (5 - power).max(0) as usize));
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(mantissa), power.abs())
}

/// The name of an element type as C++ torch writes it.
pub fn cpp_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "Bool",
        DType::Int8 => "Char",
        DType::UInt8 => "Byte",
        DType::Int16 => "Short",
        DType::UInt16 => "UInt16",
        DType::Int32 => "Int",
        DType::UInt32 => "UInt32",
        DType::Int64 => "Long",
        DType::UInt64 => "UInt64",
        DType::Float16 => "Half",
        DType::BFloat16 => "BFloat16",
        DType::Float32 => "Float",
        DType::Float64 => "Double",
    }
}

/// torch's number of an element type (`c10/core/ScalarType.h`).
pub fn torch_number(dtype: DType) -> i64 {
    match dtype {
        DType::UInt8 => 0,
        DType::Int8 => 1,
        DType::Int16 => 2,
        DType::Int32 => 3,
        DType::Int64 => 4,
        DType::Float16 => 5,
        DType::Float32 => 6,
        DType::Float64 => 7,
        DType::Bool => 11,
        DType::BFloat16 => 15,
        DType::UInt16 => 27,
        DType::UInt32 => 28,
        DType::UInt64 => 29,
    }
}

/// The element type of torch's number.
pub fn of_torch_number(number: i64) -> Option<DType> {
    DType::ALL.into_iter().find(|d| torch_number(*d) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_streams_write_them() {
        // The text that `std::cout << x` gives for each.
        for (x, text) in [
            (0.5, "0.5"),
            (1.0, "1"),
            (100_000.0, "100000"),
            (1e6, "1e+06"),
            (1.0 / 3.0, "0.333333"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (-2.5e-10, "-2.5e-10"),
            (123_456.7, "123457"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(general(x), text);
        }
    }
}
