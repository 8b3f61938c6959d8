//! Arguments of operators from Python objects, by the schema; and results on their way back.

use numpy::npyffi::npy_intp;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};
use workbench::check::Precision;
use workbench::ops::schema::{Argument, Default, Kind};
use workbench::ops::{ArgValue, ArrayRef, OwnedArg, Shape};
use workbench::runtime::records::advice;
use workbench::runtime::{DType, Error, Result, Tensor};

use crate::args::{self, Keep};
use crate::dlpack;
use crate::errors::{argument, from_py};
use crate::ndarray::{self, View};
use crate::on_gpu::GpuArray;

/// The value of an object for a schema argument.
///
/// # Errors
/// `ArgumentError` naming the operator and the argument, with what was given and what was expected.
pub fn value<'a, 'py: 'a>(
    op: &str,
    arg: &Argument,
    object: &'a Bound<'py, PyAny>,
    keep: &mut Keep<'py>,
) -> PyResult<ArgValue<'a>> {
    let kind = match &arg.kind {
        Kind::Optional(_) if object.is_none() => return Ok(ArgValue::None),
        Kind::Optional(inner) => inner,
        kind => kind,
    };
    let wrong = || {
        let came = object.get_type().name().map_or_else(|_| "object".to_owned(), |n| n.to_string());
        argument(object.py(), format!("`{op}`: argument `{}` is `{}`, got {came}", arg.name, arg.kind))
    };
    match kind {
        Kind::Tensor => array(op, arg, object, keep).map(ArgValue::Array),
        Kind::Int | Kind::SymInt => int(object).transpose()?.map(ArgValue::Int).ok_or_else(wrong),
        Kind::Float => args::float(object).transpose()?.map(ArgValue::Float).ok_or_else(wrong),
        Kind::Bool => match int(object).transpose()? {
            Some(v @ (0 | 1)) => Ok(ArgValue::Bool(v == 1)),
            _ => Err(wrong()),
        },
        Kind::Str => match object.cast::<PyString>() {
            Ok(text) => Ok(ArgValue::Str(text.to_str()?)),
            Err(_) => Err(wrong()),
        },
        Kind::Scalar if object.is_instance_of::<PyBool>() => Ok(ArgValue::Bool(object.is_truthy()?)),
        Kind::Scalar => match int(object).transpose()? {
            Some(v) => Ok(ArgValue::Int(v)),
            None => args::float(object).transpose()?.map(ArgValue::Float).ok_or_else(wrong),
        },
        Kind::ScalarType | Kind::Named(_) | Kind::Generic(..) | Kind::Tuple(_) | Kind::List(..) | Kind::Optional(_) => {
            Err(argument(
                object.py(),
                format!("`{op}`: argument `{}` of type `{}` cannot be passed to a kernel", arg.name, arg.kind),
            ))
        }
    }
}

/// An integer that fits 64 bits; `None` if the object is no integer.
fn int(object: &Bound<'_, PyAny>) -> Option<PyResult<i64>> {
    let value = args::integer(object)?;
    Some(value.and_then(|v| {
        v.and_then(|v| i64::try_from(v).ok())
            .ok_or_else(|| argument(object.py(), format!("{object} does not fit 64 bits, signed")))
    }))
}

fn array<'py>(op: &str, arg: &Argument, object: &Bound<'py, PyAny>, keep: &mut Keep<'py>) -> PyResult<ArrayRef> {
    let py = object.py();
    if let Some(view) = View::of(object) {
        return reference(op, arg, &view, keep);
    }
    if let Some(array) = dlpack::array(object)
        && let Some(view) = View::of(&array)
    {
        let lent = reference(op, arg, &view, keep)?;
        keep.objects.push(array);
        return Ok(lent);
    }
    if let Some(array) = keep.gpu(object, &arg.name)? {
        return on_gpu(op, arg, array, keep);
    }
    let what = if arg.mutated { "Tensor, written" } else { "Tensor" };
    // A NumPy scalar is read as a 0-d array.
    let converted = args::interop(py)?.call_method1("as_tensor", (object, arg.mutated, &arg.name, what))?;
    keep.objects.push(converted.clone());
    match View::of(&converted) {
        Some(view) => reference(op, arg, &view, keep),
        None => Err(argument(py, format!("`{op}`: argument `{}` is no array", arg.name))),
    }
}

fn reference<'py>(op: &str, arg: &Argument, view: &View<'_, 'py>, keep: &mut Keep<'py>) -> PyResult<ArrayRef> {
    let py = view.object().py();
    let dtype = view.dtype().ok_or_else(|| no_element(py, op, arg, &view.dtype_name()))?;
    let mut shape = Shape::new();
    for &extent in view.shape() {
        shape.push(extent as i64);
    }
    if view.is_contiguous() && view.is_aligned() {
        return Ok(ArrayRef { ptr: view.data(), dtype, shape, writable: view.is_writeable() });
    }
    if arg.mutated {
        return Err(gaps(py, op, arg));
    }
    let copy = args::contiguous(view.object())?;
    let ptr = View::of(&copy).map(|v| v.data()).ok_or_else(|| argument(py, "NumPy made no array of an array"))?;
    keep.objects.push(copy);
    Ok(ArrayRef { ptr, dtype, shape, writable: false })
}

fn no_element(py: Python<'_>, op: &str, arg: &Argument, came: &str) -> PyErr {
    let what = format!("`{op}`: argument `{}` is an array of {came}", arg.name);
    let help = advice(&arg.name, came, None, DType::Float32);
    argument(py, format!("{what}, which no parameter of an operator takes{help}"))
}

fn gaps(py: Python<'_>, op: &str, arg: &Argument) -> PyErr {
    let name = &arg.name;
    argument(
        py,
        format!("`{op}`: argument `{name}` is written, but the array is not contiguous; pass a contiguous one"),
    )
}

/// An array on a GPU; one with gaps as a copy that its library makes there.
fn on_gpu<'py>(op: &str, arg: &Argument, array: GpuArray<'py>, keep: &mut Keep<'py>) -> PyResult<ArrayRef> {
    let py = array.object.py();
    let dtype = array.dtype().ok_or_else(|| no_element(py, op, arg, &array.dtype_name))?;
    let mut memory = array;
    if !memory.is_contiguous(dtype.size()) {
        if arg.mutated {
            return Err(gaps(py, op, arg));
        }
        let copy = args::interop(py)?.call_method1("gpu_contiguous", (&memory.object, &arg.name))?;
        memory = keep.gpu(&copy, &arg.name)?.ok_or_else(|| gaps(py, op, arg))?;
        keep.objects.push(copy);
    }
    let shape = memory.shape.iter().map(|&n| n as i64).collect();
    Ok(ArrayRef { ptr: memory.ptr as *mut u8, dtype, shape, writable: memory.writable })
}

/// A schema default as a Python object.
pub fn default<'py>(py: Python<'py>, op: &str, arg: &Argument) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &arg.default {
        Some(Default::Int(v)) => PyInt::new(py, *v).into_any(),
        Some(Default::Float(v)) => PyFloat::new(py, *v).into_any(),
        Some(Default::Bool(v)) => PyBool::new(py, *v).to_owned().into_any(),
        Some(Default::Str(v)) => PyString::new(py, v).into_any(),
        Some(Default::None) => py.None().into_bound(py),
        Some(v @ (Default::Imaginary(_) | Default::List(_))) => {
            return Err(argument(py, format!("`{op}`: give argument `{}`; its default `{v}` is no number", arg.name)));
        }
        None => return Err(argument(py, format!("`{op}`: argument `{}` is missing", arg.name))),
    })
}

/// A copy that owns its array, for checks.
pub fn owned(value: &ArgValue<'_>) -> OwnedArg {
    match value {
        ArgValue::Array(array) => {
            let shape: Vec<usize> = array.shape.iter().map(|&d| d as usize).collect();
            let mut tensor = Tensor::zeros(array.dtype, &shape);
            // SAFETY: both have the number of bytes given by shape and type, and the tensor is fresh.
            unsafe { std::ptr::copy_nonoverlapping(array.ptr, tensor.as_mut_ptr(), tensor.bytes()) };
            OwnedArg::Tensor(tensor)
        }
        ArgValue::Int(v) => OwnedArg::Int(*v),
        ArgValue::Float(v) => OwnedArg::Float(*v),
        ArgValue::Bool(v) => OwnedArg::Bool(*v),
        ArgValue::Str(v) => OwnedArg::Str((*v).to_owned()),
        ArgValue::None => OwnedArg::None,
    }
}

/// A tensor as a fresh NumPy array.
pub fn to_numpy<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let (array, data) = ndarray::empty(py, tensor.shape(), tensor.dtype())?;
    // SAFETY: the array was made for this shape and type.
    unsafe { std::ptr::copy_nonoverlapping(tensor.as_ptr(), data, tensor.bytes()) };
    Ok(array)
}

/// An owned argument as a Python object.
pub fn to_python<'py>(py: Python<'py>, arg: &OwnedArg) -> PyResult<Bound<'py, PyAny>> {
    Ok(match arg {
        OwnedArg::Tensor(tensor) => to_numpy(py, tensor)?,
        OwnedArg::Int(v) => PyInt::new(py, *v).into_any(),
        OwnedArg::Float(v) => PyFloat::new(py, *v).into_any(),
        OwnedArg::Bool(v) => PyBool::new(py, *v).to_owned().into_any(),
        OwnedArg::Str(v) => PyString::new(py, v).into_any(),
        OwnedArg::None => py.None().into_bound(py),
    })
}

/// A copy of the array that NumPy makes of an object.
pub fn tensor(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Tensor> {
    let py = object.py();
    let array = args::interop(py)?.call_method1("as_result", (object, what))?;
    let made = View::of(&array).and_then(|view| {
        let shape: Vec<usize> = view.shape().iter().map(|&d: &npy_intp| d as usize).collect();
        let mut tensor = Tensor::zeros(view.dtype()?, &shape);
        // SAFETY: `as_result` gives a contiguous array; the tensor holds as many bytes and is fresh.
        unsafe { std::ptr::copy_nonoverlapping(view.data(), tensor.as_mut_ptr(), tensor.bytes()) };
        Some(tensor)
    });
    made.ok_or_else(|| argument(py, format!("{what} is no array that can be compared")))
}

/// The results of a callable as tensors, with the precision that each had before: the elements of a tuple or list, or the only result.
pub fn measured(object: &Bound<'_, PyAny>, what: &str) -> PyResult<(Vec<Tensor>, Vec<Precision>)> {
    let interop = args::interop(object.py())?;
    if object.is_none() {
        let whose = what.strip_prefix("the result of ").unwrap_or("the function");
        return Err(argument(
            object.py(),
            format!("{whose} returned None; it has to return what is compared: an array or a tuple of arrays"),
        ));
    }
    let one = |object: Bound<'_, PyAny>| -> PyResult<(Tensor, Precision)> {
        let tensor = tensor(&object, what)?;
        let half: Option<String> = interop.call_method1("half_of", (&object,))?.extract()?;
        let precision = match half.as_deref() {
            Some("float16") => Precision::Float16,
            Some("bfloat16") => Precision::BFloat16,
            _ => tensor.dtype().into(),
        };
        Ok((tensor, precision))
    };
    let made: Vec<(Tensor, Precision)> = if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple.iter().map(one).collect::<PyResult<_>>()?
    } else if let Ok(list) = object.cast::<PyList>() {
        list.iter().map(one).collect::<PyResult<_>>()?
    } else {
        vec![one(object.clone())?]
    };
    Ok(made.into_iter().unzip())
}

/// A result of Python code as a Rust result.
pub fn carried<T>(py: Python<'_>, result: PyResult<T>) -> Result<T, Error> {
    result.map_err(|e| from_py(py, e))
}
