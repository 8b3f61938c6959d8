//! Structs by value from Python objects: members by name or in order, arrays for pointers and accessors.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use workbench::ir::layout::{Accessor, MemberType, StructLayout};
use workbench::ir::{Elem, Param, ParamType};
use workbench::runtime::records::advice;
use workbench::runtime::{Arg, BufferArg, DType, Given};
use workbench::source::Span;

use crate::args::{Keep, half, interop, pointer, scalar};
use crate::errors::argument;
use crate::ndarray::View;

/// The bytes of a struct, made of an object. `path` is its name in messages; `keep` holds the objects that must live until the launch
/// returns.
///
/// # Errors
/// `ArgumentError` naming the member, with what was given and what was expected.
pub fn structure<'py>(
    keep: &mut Keep<'py>,
    object: &Bound<'py, PyAny>,
    layout: &StructLayout,
    path: &str,
) -> PyResult<Given> {
    let py = object.py();
    if let Some(accessor) = layout.accessor() {
        return tensor(keep, object, &accessor, path);
    }
    if let Some(elem) = layout.half() {
        return half(object, elem, path).map(|bits| Given::Half(elem, bits));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return raw(bytes.as_bytes().to_vec(), layout, py, path);
    }
    if let Ok(members) = object.cast::<PyDict>() {
        let mut out = Vec::with_capacity(members.len());
        for (name, value) in members.iter() {
            let name: String = name.extract()?;
            let Some(member) = layout.member(&name) else {
                return Err(argument(py, layout.no_member(path, &name)));
            };
            let given = member_value(keep, &value, &member.ty, &format!("{path}.{name}"))?;
            out.push((name, given));
        }
        return Ok(Given::Members(out));
    }
    if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
        let count = object.len()?;
        if count != layout.members.len() {
            let names: Vec<&str> = layout.members.iter().map(|m| m.name.as_str()).collect();
            let what = format!("`{path}` has {} members ({}), {count} given", names.len(), names.join(", "));
            return Err(argument(py, what));
        }
        let mut out = Vec::with_capacity(count);
        for (member, value) in layout.members.iter().zip(object.try_iter()?) {
            let given = member_value(keep, &value?, &member.ty, &format!("{path}.{}", member.name))?;
            out.push((member.name.clone(), given));
        }
        return Ok(Given::Members(out));
    }
    // A scalar, or array without dimensions, of a structured dtype.
    let array = py.import("numpy")?.call_method1("asarray", (object,))?;
    if array.getattr("dtype")?.getattr("names")?.is_none() || !array.getattr("shape")?.is_empty()? {
        let names: Vec<String> = layout.members.iter().map(|m| format!("\"{}\": ...", m.name)).collect();
        let (size, came) = (layout.size, object.get_type().name()?);
        let what = format!("`{path}` is a struct of {size} bytes, not `{came}`; pass {{{}}}", names.join(", "));
        return Err(argument(py, what));
    }
    raw(array.call_method0("tobytes")?.extract()?, layout, py, path)
}

fn raw(bytes: Vec<u8>, layout: &StructLayout, py: Python<'_>, path: &str) -> PyResult<Given> {
    if bytes.len() == layout.size as usize {
        return Ok(Given::Bytes(bytes));
    }
    let (size, came) = (layout.size, bytes.len());
    Err(argument(py, format!("`{path}` is a struct of {size} bytes, not {came} bytes; was it packed with align=True?")))
}

/// The bytes of a member, or of an element of a table of pointers, made of an object. `path` is its name in messages.
///
/// # Errors
/// The same as [`structure`], for a member.
pub fn member_value<'py>(
    keep: &mut Keep<'py>,
    object: &Bound<'py, PyAny>,
    ty: &MemberType,
    path: &str,
) -> PyResult<Given> {
    let py = object.py();
    match ty {
        MemberType::Scalar(Elem::Scalar(s)) => scalar(object, *s, path).map(Given::Scalar),
        MemberType::Bits(s, _) => scalar(object, *s, path).map(Given::Scalar),
        MemberType::Scalar(elem) => half(object, *elem, path).map(|bits| Given::Half(*elem, bits)),
        MemberType::Pointer { elem, is_const } => {
            let param = Param::new(path, ParamType::Ptr { elem: *elem, is_const: *is_const }, Span::NONE);
            let arg = pointer(keep, object, &param, *elem, *is_const)?;
            keep.objects.push(object.clone());
            Ok(match arg {
                Arg::Buffer(buffer) => Given::Buffer(buffer),
                _ => Given::Null,
            })
        }
        MemberType::Array(of, count) => {
            if let Ok(bytes) = object.cast::<PyBytes>() {
                return Ok(Given::Bytes(bytes.as_bytes().to_vec()));
            }
            let items = if object.is_instance_of::<PyString>() { None } else { object.try_iter().ok() };
            let Some(items) = items else {
                let what = format!("`{path}` is an array of {count}, not `{}`; pass a list", object.get_type().name()?);
                return Err(argument(py, what));
            };
            let mut out = Vec::new();
            for (i, item) in items.enumerate() {
                if i == *count as usize {
                    return Err(argument(py, format!("`{path}` has {count} elements, more are given")));
                }
                out.push(member_value(keep, &item?, of, &format!("{path}[{i}]"))?);
            }
            Ok(Given::List(out))
        }
        MemberType::Struct(layout) => structure(keep, object, layout, path),
        MemberType::Opaque(size) => match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Given::Bytes(bytes.as_bytes().to_vec())),
            Err(_) => Err(argument(py, format!("`{path}` is a union: pass its {size} bytes as `bytes`"))),
        },
    }
}

/// An array for an accessor, in place, with its strides.
fn tensor<'py>(keep: &mut Keep<'py>, object: &Bound<'py, PyAny>, accessor: &Accessor, path: &str) -> PyResult<Given> {
    let py = object.py();
    if let Some(array) = keep.gpu(object, path)? {
        let dtype = element(py, array.dtype(), || array.dtype_name.clone(), accessor, path)?;
        let memory = (array.ptr as *mut u8, dtype, array.writable);
        let given = strided(py, path, memory, array.shape.clone(), &array.strides(dtype.size()))?;
        keep.objects.push(object.clone());
        return Ok(given);
    }
    keep.host(py, path)?;
    let converted;
    let view = match View::of(object) {
        Some(view) => view,
        None => {
            let wanted = format!("accessor of {} dimensions", accessor.rank);
            converted = interop(py)?.call_method1("as_array", (object, false, path, wanted))?;
            keep.objects.push(converted.clone());
            View::of(&converted).ok_or_else(|| argument(py, format!("parameter `{path}` cannot take this object")))?
        }
    };
    let dtype = element(py, view.dtype(), || view.dtype_name(), accessor, path)?;
    let shape: Vec<usize> = view.shape().iter().map(|&n| n as usize).collect();
    if !view.is_aligned() {
        return Err(backwards(py, path));
    }
    let given = strided(py, path, (view.data(), dtype, view.is_writeable()), shape, view.strides())?;
    keep.objects.push(object.clone());
    Ok(given)
}

/// The element type of an array for an accessor, if it is the expected one.
fn element(
    py: Python<'_>,
    came: Option<DType>,
    came_name: impl FnOnce() -> String,
    accessor: &Accessor,
    path: &str,
) -> PyResult<DType> {
    let wanted = accessor.elem.map(DType::from);
    came.filter(|d| wanted.is_none_or(|w| w == *d)).ok_or_else(|| {
        let came = came_name();
        let help = wanted.map_or_else(String::new, |w| format!(", but wants {w}{}", advice(path, &came, None, w)));
        argument(py, format!("parameter `{path}` got an array of {came}{help}"))
    })
}

fn backwards(py: Python<'_>, path: &str) -> PyErr {
    argument(py, format!("parameter `{path}` got an array that runs backwards or is not aligned; pass {path}.copy()"))
}

/// The array at an address, with its strides in bytes; true if it may be written.
fn strided(
    py: Python<'_>,
    path: &str,
    (ptr, dtype, writable): (*mut u8, DType, bool),
    shape: Vec<usize>,
    strides: &[isize],
) -> PyResult<Given> {
    let size = dtype.size() as isize;
    if strides.iter().any(|s| s % size != 0 || *s < 0) {
        return Err(backwards(py, path));
    }
    let strides: Vec<isize> = strides.iter().map(|&s| s / size).collect();
    let last: usize = shape.iter().zip(&strides).map(|(&n, &s)| n.saturating_sub(1) * s as usize).sum();
    let len = if shape.contains(&0) { 0 } else { last + 1 };
    let buffer = BufferArg { ptr, bytes: len * dtype.size(), dtype, writable };
    Ok(Given::Tensor { buffer, shape, strides })
}
