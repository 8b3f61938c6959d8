//! Objects of the notebook's language that are no values to host code, which asks that language whatever it wants to
//! know of them.
//!
//! A foreign object (a class's instance, a function) is a trait that the Python package implements, asked on the thread that made the call
//! and has the interpreter. Python code may keep what it is given, so the tensors of such a call hold their arrays themselves
//! (`Storage::owned`); an exception that Python code raised is kept beside and comes out as itself. pybind11's objects
//! (`library/pybind.cuh`) are those of the C interface, in pybind11's notation.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::answer::Answer;
use super::value::Value;
use crate::back::Exception;

/// An object that the notebook gave. Its methods may run code of the notebook's; a failure is an exception of that code.
pub trait ForeignObject: Debug + Send + Sync {
    /// The name of its type.
    fn type_name(&self) -> String;
    /// The identity of the object: equal for the same one.
    fn identity(&self) -> usize;
    /// `object.name`
    fn attribute(&self, name: &str) -> Answer<Value>;
    /// `object.name = value`
    fn set_attribute(&self, name: &str, value: &Value) -> Answer<()>;
    /// `object(*args, **keywords)`
    fn call(&self, args: &[Value], keywords: &[(Value, Value)]) -> Answer<Value>;
    /// `object[key]`
    fn item(&self, key: &Value) -> Answer<Value>;
    /// `object[key] = value`
    fn set_item(&self, key: &Value, value: &Value) -> Answer<()>;
    /// `value in object`
    fn contains(&self, value: &Value) -> Answer<bool>;
    /// `len(object)`
    fn size(&self) -> Answer<usize>;
    /// `list(object)`
    fn items(&self) -> Answer<Vec<Value>>;
    /// `iter(object)`
    fn iter(&self) -> Answer<Value>;
    /// `next(object)`; `None` at its end.
    fn next(&self) -> Answer<Option<Value>>;
    /// `bool(object)`
    fn truth(&self) -> Answer<bool>;
    /// `repr(object)`, or `str(object)`
    fn show(&self, repr: bool) -> Answer<String>;
    /// `object == other`
    fn equals(&self, other: &Value) -> Answer<bool>;
    /// True if it can be called.
    fn is_callable(&self) -> bool;
    /// The language's own handle of it, for the code that made it.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// The function that imports a module of the notebook's language.
static IMPORTER: OnceLock<fn(&str) -> Answer<Value>> = OnceLock::new();

/// Sets the function that imports modules.
pub fn set_importer(importer: fn(&str) -> Answer<Value>) {
    let _ = IMPORTER.set(importer);
}

/// A module of the notebook's language.
///
/// # Errors
/// The exception of the import; `ImportError` where the notebook's language has no modules.
pub fn import(name: &str) -> Answer<Value> {
    match IMPORTER.get() {
        Some(importer) => importer(name),
        None => Err((Exception::Import, format!("no module `{name}`: the host program is not Python"))),
    }
}

/// A counted reference to one.
#[derive(Debug, Clone)]
pub struct Foreign(Arc<dyn ForeignObject>);

impl Foreign {
    /// A foreign value for an object.
    pub fn new(object: impl ForeignObject + 'static) -> Self {
        Foreign(Arc::new(object))
    }
}

impl Deref for Foreign {
    type Target = dyn ForeignObject;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}
