//! The arguments of an operation on tensors, and the errors that all operations share.

use super::super::answer::Answer;
use super::super::array::{DeviceTag, HostTensor, count};
use super::super::memory_limit;
use super::super::value::{Value, cpp_name};
use crate::back::Exception;
use crate::runtime::DType;

/// Checks that there is memory to compute with a tensor of this shape at all.
///
/// # Errors
/// `MemoryError`.
pub fn room(shape: &[i64]) -> Answer<()> {
    let elements = usize::try_from(count(shape)?);
    match elements.is_ok_and(|n| memory_limit::has_elements::<u64>(n.saturating_mul(2))) {
        true => Ok(()),
        false => Err((Exception::Memory, format!("no memory to compute with a tensor of shape {shape:?}"))),
    }
}

/// The error for an operation on a type that torch has no code for.
pub fn not_implemented<T>(name: &str, dtype: DType) -> Answer<T> {
    let message = format!("\"{name}\" not implemented for '{}'", cpp_name(dtype));
    Err((Exception::NotImplemented, message))
}

/// The arguments of an operation, taken one after the other.
pub struct Args<'a> {
    /// The operation's name.
    pub name: &'a str,
    args: std::vec::IntoIter<Value>,
    at: usize,
    /// The device of tensors that are made of none.
    pub device: DeviceTag,
}

impl<'a> Args<'a> {
    /// The arguments of an operation of this name.
    pub fn new(name: &'a str, args: Vec<Value>, device: DeviceTag) -> Self {
        Args { name, args: args.into_iter(), at: 0, device }
    }

    /// The next argument; `None` where there is none left.
    pub fn next(&mut self) -> Value {
        self.at += 1;
        self.args.next().unwrap_or(Value::None)
    }

    /// The error for an argument of another type than the one that is wanted.
    pub fn misfit<T>(&self, value: &Value, wanted: &str) -> Answer<T> {
        let message = format!("{}(): argument {} must be {wanted}, not {}", self.name, self.at, value.type_name());
        Err((Exception::Type, message))
    }

    /// A tensor.
    pub fn tensor(&mut self) -> Answer<HostTensor> {
        match self.next() {
            Value::Tensor(t) => Ok(t),
            Value::None => Err((Exception::Runtime, format!("{}(): an undefined Tensor is used", self.name))),
            other => self.misfit(&other, "Tensor"),
        }
    }

    /// A list of tensors.
    pub fn tensors(&mut self) -> Answer<Vec<HostTensor>> {
        match self.next() {
            Value::List(all) => {
                let tensors = all.iter().map(|v| if let Value::Tensor(t) = v { Some(t.clone()) } else { None });
                match tensors.collect() {
                    Some(tensors) => Ok(tensors),
                    None => self.misfit(&Value::List(all), "a list of Tensors"),
                }
            }
            other => self.misfit(&other, "a list of Tensors"),
        }
    }

    /// An integer; `default` where none is given.
    pub fn int(&mut self, default: i64) -> Answer<i64> {
        match self.next() {
            Value::Int(i) => Ok(i),
            Value::Bool(b) => Ok(b.into()),
            Value::None => Ok(default),
            other => self.misfit(&other, "int"),
        }
    }

    /// A truth value; `default` where none is given.
    pub fn flag(&mut self, default: bool) -> Answer<bool> {
        match self.next() {
            Value::Bool(b) => Ok(b),
            Value::None => Ok(default),
            other => self.misfit(&other, "bool"),
        }
    }

    /// A text; empty where none is given.
    pub fn text(&mut self) -> Answer<String> {
        match self.next() {
            Value::Text(text) => Ok(text),
            Value::None => Ok(String::new()),
            other => self.misfit(&other, "str"),
        }
    }

    /// An element type, where one is given.
    pub fn dtype(&mut self) -> Answer<Option<DType>> {
        match self.next() {
            Value::DType(d) => Ok(Some(d)),
            Value::None => Ok(None),
            other => self.misfit(&other, "dtype"),
        }
    }

    /// A number; `default` where none is given.
    pub fn float(&mut self, default: f64) -> Answer<f64> {
        match self.next() {
            Value::Float(x) => Ok(x),
            Value::Int(i) => Ok(i as f64),
            Value::None => Ok(default),
            other => self.misfit(&other, "float"),
        }
    }

    /// Integers: a list, or one alone; empty where none is given.
    pub fn ints(&mut self) -> Answer<Vec<i64>> {
        match self.next() {
            Value::List(all) => {
                let ints = all.iter().map(|v| if let Value::Int(i) = v { Some(*i) } else { None });
                match ints.collect() {
                    Some(ints) => Ok(ints),
                    None => self.misfit(&Value::List(all), "a list of ints"),
                }
            }
            Value::Int(i) => Ok(vec![i]),
            Value::None => Ok(Vec::new()),
            other => self.misfit(&other, "a list of ints"),
        }
    }
}
