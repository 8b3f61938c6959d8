//! Python objects that host code has no values for: its questions about them go to Python, on the thread that made the call.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use std::thread::ThreadId;

use pyo3::exceptions::{
    PyArithmeticError, PyAssertionError, PyAttributeError, PyBufferError, PyEOFError, PyFloatingPointError,
    PyImportError, PyIndexError, PyKeyError, PyLookupError, PyMemoryError, PyNameError, PyNotImplementedError,
    PyOSError, PyOverflowError, PyRuntimeError, PyStopIteration, PySystemError, PyTypeError, PyValueError,
    PyZeroDivisionError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple};
use workbench::back::Exception;
use workbench::runtime::host::{Answer, Foreign, ForeignObject, Storage, Value, one_at_a_time};

use crate::gil;
use crate::host::Given;
use crate::ndarray::View;

thread_local! {
    /// The last exception that Python code raised for host code, with the text that host code was given.
    static RAISED: RefCell<Option<(String, PyErr)>> = const { RefCell::new(None) };
}

/// Forgets an exception that was raised before.
pub fn forget_raised() {
    RAISED.with(|slot| slot.borrow_mut().take());
}

/// The Python exception that ended host code, whose text is `message`.
pub fn take_raised(message: &str) -> Option<PyErr> {
    RAISED.with(|slot| slot.borrow_mut().take()).filter(|(text, _)| text == message).map(|(_, err)| err)
}

/// A Python object.
#[derive(Debug)]
pub struct Object {
    object: Py<PyAny>,
    /// The thread that made the call.
    thread: ThreadId,
    is_callable: bool,
}

/// An array whose memory a tensor uses, and the object that the caller knows it as.
pub struct Kept {
    pub array: Py<PyAny>,
    pub object: Py<PyAny>,
}

impl Kept {
    /// Storage over the array's memory.
    pub fn storage(view: &View<'_, '_>, bytes: usize, object: &Bound<'_, PyAny>) -> Arc<Storage> {
        let kept = Kept { array: view.object().clone().unbind(), object: object.clone().unbind() };
        // SAFETY: the array stays where it is, and is there for as long as this holds it.
        unsafe { Storage::owned(view.data(), bytes, view.is_writeable(), Arc::new(kept)) }
    }

    /// The array that a tensor's storage was made of.
    pub fn of(storage: &Storage) -> Option<&Kept> {
        storage.owner()?.downcast_ref()
    }
}

/// A key and its value.
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The contents that a list or dict had when host code gave it to Python: it is a copy of host code's.
enum Contents<'py> {
    List(Bound<'py, PyList>, Vec<Bound<'py, PyAny>>),
    Dict(Bound<'py, PyDict>, Vec<Pair<'py>>),
}

impl<'py> Contents<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(list) = object.cast_exact::<PyList>() {
            return Ok(Some(Contents::List(list.clone(), list.iter().collect())));
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            return Ok(Some(Contents::Dict(dict.clone(), dict.iter().collect())));
        }
        Ok(None)
    }

    fn has_changed(&self) -> bool {
        match self {
            Contents::List(list, before) => {
                list.len() != before.len() || list.iter().zip(before).any(|(now, before)| !now.is(before))
            }
            Contents::Dict(dict, before) => {
                dict.len() != before.len()
                    || dict.iter().zip(before).any(|(now, before)| !now.0.is(&before.0) || !now.1.is(&before.1))
            }
        }
    }
}

impl Object {
    /// The object as a value for host code.
    pub fn value(object: &Bound<'_, PyAny>) -> Value {
        let thread = std::thread::current().id();
        let is_callable = object.is_callable();
        Value::Foreign(Foreign::new(Object { object: object.clone().unbind(), thread, is_callable }))
    }

    /// The object of a value.
    pub fn of<'py>(py: Python<'py>, foreign: &Foreign) -> Option<Bound<'py, PyAny>> {
        foreign.as_any().downcast_ref::<Object>().map(|object| object.object.bind(py).clone())
    }

    fn ask<T>(&self, ask: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> Answer<T> {
        if std::thread::current().id() != self.thread {
            let message = "Python objects are asked on the thread that called the host function only, whose stack is too small here";
            return Err((Exception::Runtime, message.to_owned()));
        }
        // Python may let other threads run.
        one_at_a_time::paused(|| gil::attach(|py| ask(py, self.object.bind(py)).map_err(|err| told(py, err))))
    }

    fn ask_value(
        &self,
        ask: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> Answer<Value> {
        self.ask(|py, object| {
            let object = object.clone();
            let found = ask(py, &object)?;
            Given::kept().value(&found, &"a Python object")
        })
    }
}

/// The exception as host code is told of it; Python's own is kept.
fn told(py: Python<'_>, err: PyErr) -> (Exception, String) {
    macro_rules! first_of {
        ($($class:ty => $exception:ident,)*) => {
            $(if err.is_instance_of::<$class>(py) {
                Exception::$exception
            } else)* {
                Exception::Any
            }
        };
    }
    // Derived classes first.
    let exception = first_of! {
        PyKeyError => Key,
        PyIndexError => Index,
        PyLookupError => Lookup,
        PyZeroDivisionError => ZeroDivision,
        PyOverflowError => Overflow,
        PyFloatingPointError => FloatingPoint,
        PyArithmeticError => Arithmetic,
        PyNotImplementedError => NotImplemented,
        PyRuntimeError => Runtime,
        PyValueError => Value,
        PyTypeError => Type,
        PyAttributeError => Attribute,
        PyStopIteration => StopIteration,
        PyAssertionError => Assertion,
        PyImportError => Import,
        PyNameError => Name,
        PyMemoryError => Memory,
        PyBufferError => Buffer,
        PyEOFError => Eof,
        PyOSError => Os,
        PySystemError => System,
    };
    let message = err.value(py).to_string();
    RAISED.with(|slot| *slot.borrow_mut() = Some((message.clone(), err)));
    (exception, message)
}

/// A value for Python code, which may keep it after the call.
fn given<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Given::kept().object(py, &value.clone().kept())
}

fn objects<'py>(py: Python<'py>, values: &[Value]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values.iter().map(|value| given(py, value)).collect()
}

/// A module, for host code.
pub fn import(name: &str) -> Answer<Value> {
    gil::attach(|py| match py.import(name) {
        Ok(module) => Ok(Object::value(module.as_any())),
        Err(err) => Err(told(py, err)),
    })
}

impl ForeignObject for Object {
    fn type_name(&self) -> String {
        self.ask(|_, object| Ok(object.get_type().name()?.to_string())).unwrap_or_else(|_| "object".to_owned())
    }

    fn identity(&self) -> usize {
        self.object.as_ptr() as usize
    }

    fn attribute(&self, name: &str) -> Answer<Value> {
        self.ask_value(|_, object| object.getattr(name))
    }

    fn set_attribute(&self, name: &str, value: &Value) -> Answer<()> {
        self.ask(|py, object| object.setattr(name, given(py, value)?))
    }

    fn call(&self, args: &[Value], keywords: &[(Value, Value)]) -> Answer<Value> {
        self.ask_value(|py, object| {
            let named = PyDict::new(py);
            for (name, value) in keywords {
                named.set_item(given(py, name)?, given(py, value)?)?;
            }
            let args = objects(py, args)?;
            let own: Vec<_> = args.iter().map(Contents::of).collect::<PyResult<_>>()?;
            let result = object.call(PyTuple::new(py, &args)?, Some(&named))?;
            if own.iter().flatten().any(Contents::has_changed) {
                let message = "Python code changed a list or dict that host code gave it, which is not supported: host code would not see it";
                return Err(PyNotImplementedError::new_err(message));
            }
            Ok(result)
        })
    }

    fn item(&self, key: &Value) -> Answer<Value> {
        self.ask_value(|py, object| object.get_item(given(py, key)?))
    }

    fn set_item(&self, key: &Value, value: &Value) -> Answer<()> {
        self.ask(|py, object| object.set_item(given(py, key)?, given(py, value)?))
    }

    fn contains(&self, value: &Value) -> Answer<bool> {
        self.ask(|py, object| object.contains(given(py, value)?))
    }

    fn size(&self) -> Answer<usize> {
        self.ask(|_, object| object.len())
    }

    fn items(&self) -> Answer<Vec<Value>> {
        self.ask(|_, object| {
            let mut given = Given::kept();
            object.try_iter()?.map(|item| given.value(&item?, &"an element of a Python object")).collect()
        })
    }

    fn iter(&self) -> Answer<Value> {
        self.ask(|_, object| Ok(Object::value(object.try_iter()?.as_any())))
    }

    fn next(&self) -> Answer<Option<Value>> {
        self.ask(|_, object| match object.cast::<PyIterator>() {
            Ok(iterator) => {
                let next = iterator.clone().next().transpose()?;
                next.map(|item| Given::kept().value(&item, &"an element of a Python object")).transpose()
            }
            Err(_) => {
                let message = format!("'{}' object is not an iterator", object.get_type().name()?);
                Err(PyTypeError::new_err(message))
            }
        })
    }

    fn truth(&self) -> Answer<bool> {
        self.ask(|_, object| object.is_truthy())
    }

    fn show(&self, repr: bool) -> Answer<String> {
        self.ask(|_, object| Ok(if repr { object.repr()? } else { object.str()? }.to_string()))
    }

    fn equals(&self, other: &Value) -> Answer<bool> {
        self.ask(|py, object| object.eq(given(py, other)?))
    }

    fn is_callable(&self) -> bool {
        self.is_callable
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
