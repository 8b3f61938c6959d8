//! Element types of arrays for kernels: numbers by their dtype; structs, complex numbers and 8-bit floats by their layout in memory.

use pyo3::prelude::*;
use workbench::ir::layout::{Member, MemberType, StructLayout};
use workbench::ir::{Elem, Param};
use workbench::runtime::DType;
use workbench::runtime::program::declared_type;
use workbench::runtime::records::{advice, describe, is_same_memory, named_element};

use crate::errors::argument;
use crate::ndarray::View;
use crate::on_gpu::GpuArray;

/// The element type of an array in host memory, in the form that the parameter has it, and the size of an element.
///
/// # Errors
/// `ArgumentError` that names both, and says what to write.
pub fn view_element(view: &View<'_, '_>, elem: Option<Elem>, param: &Param) -> PyResult<(DType, usize)> {
    let wanted = elem.map(DType::from);
    if let Some(dtype) = view.dtype().filter(|d| wanted.is_none_or(|w| w == *d)) {
        return Ok((dtype, dtype.size()));
    }
    let (py, dtype) = (view.object().py(), view.object().getattr("dtype")?);
    let layout = if view.dtype().is_none() { member_of(&dtype)? } else { None };
    fitting(py, &view.dtype_name(), layout, elem, param)
}

/// The same for an array on a GPU, whose elements are known by name only.
///
/// # Errors
/// The same as [`view_element`], on a GPU.
pub fn gpu_element(
    py: Python<'_>,
    array: &GpuArray<'_>,
    elem: Option<Elem>,
    param: &Param,
) -> PyResult<(DType, usize)> {
    let wanted = elem.map(DType::from);
    if let Some(dtype) = array.dtype().filter(|d| wanted.is_none_or(|w| w == *d)) {
        return Ok((dtype, dtype.size()));
    }
    let layout = named_element(&array.dtype_name).map(|l| MemberType::Struct(Box::new(l)));
    fitting(py, &array.dtype_name, layout, elem, param)
}

/// The element type and the size with which an array of that layout is passed; an error if it does not fit the parameter's pointee.
fn fitting(
    py: Python<'_>,
    name: &str,
    layout: Option<MemberType>,
    elem: Option<Elem>,
    param: &Param,
) -> PyResult<(DType, usize)> {
    let structs = layout.as_ref().filter(|l| matches!(l, MemberType::Struct(_)));
    let pointee = param.pointee.as_deref();
    if let Some(layout) = structs {
        let is_void = elem.is_none() && pointee.is_none();
        if is_void || pointee.is_some_and(|wanted| is_same_memory(wanted, layout)) {
            return Ok((elem.map_or(DType::UInt8, DType::from), layout.size() as usize));
        }
    }
    let came = match structs {
        Some(layout @ MemberType::Struct(l)) if !l.members.is_empty() => format!("structs {}", describe(layout)),
        _ => name.to_owned(),
    };
    let what = format!("parameter `{}` (`{}`) got an array of {came}", param.name, declared_type(param));
    let both = match pointee {
        Some(wanted @ MemberType::Struct(l)) => format!(", and a `{}` is {}", l.name, describe(wanted)),
        _ => String::new(),
    };
    let text = match (elem.map(DType::from), structs) {
        (Some(wanted), None) => format!("{what}, but wants {wanted}{}", advice(&param.name, name, None, wanted)),
        (_, Some(_)) if !both.is_empty() => format!("{what}{both}"),
        (Some(wanted), _) => format!("{what}, but wants {wanted}{}", advice(&param.name, name, structs, wanted)),
        (None, _) => format!("{what}; its elements are nothing C can point at"),
    };
    Err(argument(py, text))
}

/// The C++ type of a dtype of NumPy's; `None` for one that C++ does not have: objects, texts, the other byte order.
fn member_of(dtype: &Bound<'_, PyAny>) -> PyResult<Option<MemberType>> {
    let shape: Vec<u32> = dtype.getattr("shape")?.extract()?;
    if !shape.is_empty() {
        let of = member_of(&dtype.getattr("base")?)?;
        let array = |of: MemberType, &count: &u32| MemberType::Array(Box::new(of), count);
        return Ok(of.map(|of| shape.iter().rev().fold(of, array)));
    }
    let size: u32 = dtype.getattr("itemsize")?.extract()?;
    let names: Option<Vec<String>> = dtype.getattr("names")?.extract()?;
    if let Some(names) = names {
        let fields = dtype.getattr("fields")?;
        let mut members = Vec::with_capacity(names.len());
        for name in names {
            let field = fields.get_item(&name)?;
            let Some(ty) = member_of(&field.get_item(0)?)? else { return Ok(None) };
            members.push(Member { name, offset: field.get_item(1)?.extract()?, ty });
        }
        return Ok(Some(MemberType::Struct(Box::new(StructLayout { name: String::new(), size, members }))));
    }
    if !dtype.getattr("isnative")?.extract::<bool>()? {
        return Ok(None);
    }
    let name: String = dtype.getattr("name")?.extract()?;
    if let Some(number) = DType::from_name(&name) {
        return Ok(Some(MemberType::Scalar(Elem::from(number))));
    }
    if let Some(layout) = named_element(&name) {
        return Ok(Some(MemberType::Struct(Box::new(layout))));
    }
    let is_bytes = name.starts_with("void") && dtype.getattr("kind")?.extract::<char>()? == 'V';
    Ok(is_bytes.then_some(MemberType::Opaque(size)))
}
