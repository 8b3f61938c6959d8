//! Values that operations make of the tensors in others.

use super::array::DeviceTag;
use super::ops;
use super::value::Value;

impl Value {
    /// A tensor of one number as that number, as Python does for parameters that are numbers: a floating-point one only where such a
    /// number is wanted.
    pub fn number(self, wants_float: bool) -> Self {
        match self {
            Value::Tensor(t) if t.numel() == 1 && (wants_float || !t.dtype().is_float()) => {
                match ops::run("item", vec![Value::Tensor(t)], DeviceTag::CPU) {
                    Ok(number) => number,
                    Err(_) => Value::None,
                }
            }
            other => other,
        }
    }

    /// The same value, with copies of the tensors that end with their call.
    pub fn kept(self) -> Self {
        match self {
            Value::Tensor(t) if t.storage().is_borrowed() => match ops::copied(&t, t.dtype(), t.device()) {
                Ok(copy) => Value::Tensor(copy),
                Err(_) => Value::None,
            },
            Value::List(all) => Value::List(all.into_iter().map(Value::kept).collect()),
            Value::Tuple(all) => Value::Tuple(all.into_iter().map(Value::kept).collect()),
            Value::Dict(all) => Value::Dict(all.into_iter().map(|(k, v)| (k, v.kept())).collect()),
            other => other,
        }
    }
}
