//! Kernel arguments from Python objects: arrays by dtype, scalars by the C signature. No value is cast without a message.

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};
use workbench::ir::layout::MemberType;
use workbench::ir::{Const, Elem, Param, ParamType, Scalar};
use workbench::plural::plural;
use workbench::runtime::program::declared_type;
use workbench::runtime::{Arg, BufferArg, DType, Device, Packed, Reach};

use crate::dlpack;
use crate::errors::{self, argument};
use crate::gil;
use crate::ndarray::View;
use crate::on_gpu::{GpuArray, Held, Places, Stream};
use crate::records;
use crate::structs::{member_value, structure};

/// The arguments of one launch, with whatever must stay alive until it returns.
#[derive(Default)]
pub struct Bundle<'py> {
    /// The arguments, in the order of the parameters.
    pub args: Vec<Arg>,
    keep: Keep<'py>,
    /// The structs by value.
    structs: Vec<Packed>,
}

/// Objects that arguments need until their launch returns, and the places of their arrays.
#[derive(Default)]
pub struct Keep<'py> {
    /// Arrays, as given, or converted or copied on the way in.
    pub objects: Vec<Bound<'py, PyAny>>,
    /// The places of the arrays.
    pub places: Places<'py>,
    /// True if arrays on a GPU are taken.
    takes_gpu: bool,
}

impl<'py> Keep<'py> {
    /// The objects of a launch on a device: on the CPU no array on a GPU is taken.
    pub fn new(device: Device) -> Self {
        Keep { takes_gpu: device == Device::Cuda, ..Keep::default() }
    }

    /// Notes an array in host memory, as [`Places::host`].
    ///
    /// # Errors
    /// `ArgumentError` if another array lies on a GPU.
    pub fn host(&mut self, py: Python<'py>, name: &str) -> PyResult<()> {
        if self.takes_gpu { self.places.host(py, name) } else { Ok(()) }
    }

    /// The array of an object that lies on a GPU, if such arrays are taken.
    ///
    /// # Errors
    /// `ArgumentError` if other arrays lie in host memory, or if the array does not give its memory.
    pub fn gpu(&mut self, object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<GpuArray<'py>>> {
        if !self.takes_gpu || View::of(object).is_some() {
            return Ok(None);
        }
        let Some(array) = GpuArray::of(object, name)? else { return Ok(None) };
        self.places.gpu(name, &array)?;
        Ok(Some(array))
    }
}

impl<'py> Bundle<'py> {
    /// The memory that pointers in structs point at.
    pub fn reach(&self) -> Vec<Reach> {
        self.structs.iter().flat_map(Packed::reach).cloned().collect()
    }

    /// The queue of the launch, as [`Places::queue`].
    ///
    /// # Errors
    /// `ArgumentError` for a stream that does not fit the arrays.
    pub fn queue(&self, py: Python<'py>, stream: Option<&Stream>) -> PyResult<Option<Held>> {
        self.keep.places.queue(py, stream)
    }
}

/// A function as C++ declares it: `void saxpy(float a, const float* x)`.
pub fn signature(ret: Option<&str>, name: &str, params: &[Param]) -> String {
    let list: Vec<String> = params.iter().map(|p| format!("{} {}", declared_type(p), p.name)).collect();
    format!("{} {name}({})", ret.unwrap_or("void"), list.join(", "))
}

/// Binds positional arguments to the parameters of a kernel compiled for `device`.
///
/// # Errors
/// `ArgumentError` naming the parameter, with what was given and what was expected.
pub fn bind<'py>(
    py: Python<'py>,
    function: &str,
    params: &[Param],
    device: Device,
    given: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Bundle<'py>> {
    let left = params.get(given.len()..).unwrap_or_default();
    if given.len() > params.len() || left.iter().any(|p| p.default.is_none()) {
        return Err(argument(
            py,
            format!(
                "`{function}` takes {}, got {}: `{}`",
                plural(params.len(), "argument"),
                given.len(),
                signature(None, function, params)
            ),
        ));
    }
    let mut bundle = Bundle { args: Vec::with_capacity(params.len()), keep: Keep::new(device), structs: Vec::new() };
    for (param, object) in params.iter().zip(given) {
        let arg = match param.ty {
            ParamType::Scalar(s) => Arg::Scalar(scalar(&object, s, &param.name)?),
            ParamType::Ptr { elem, is_const } => {
                let arg = match param.pointee.as_deref() {
                    Some(of @ MemberType::Pointer { .. })
                        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() =>
                    {
                        let packed = table(&mut bundle.keep, &object, param, of, bundle.args.len(), device)?;
                        let arg = Arg::Buffer(packed.buffer());
                        bundle.structs.push(packed);
                        arg
                    }
                    _ => pointer(&mut bundle.keep, &object, param, elem, is_const)?,
                };
                // The tuple of the call keeps the object itself alive, but an iterator may have made it.
                bundle.keep.objects.push(object);
                arg
            }
            ParamType::Bytes { .. } => {
                let Some(layout) = param.layout.as_deref() else {
                    return Err(argument(py, format!("parameter `{}` is a struct of unknown members", param.name)));
                };
                let given = structure(&mut bundle.keep, &object, layout, &param.name)?;
                let packed =
                    Packed::new(&param.name, bundle.args.len(), layout, &given).map_err(|e| errors::to_py(py, e))?;
                let arg = Arg::Buffer(packed.buffer());
                bundle.structs.push(packed);
                arg
            }
        };
        bundle.args.push(arg);
    }
    bundle.args.extend(left.iter().filter_map(|p| p.default).map(Arg::of_default));
    Ok(bundle)
}

/// A list of arrays for a pointer to pointers, the `index`th parameter.
fn table<'py>(
    keep: &mut Keep<'py>,
    list: &Bound<'py, PyAny>,
    param: &Param,
    of: &MemberType,
    index: usize,
    device: Device,
) -> PyResult<Packed> {
    let py = list.py();
    if device == Device::Cuda {
        let what = format!("parameter `{}` (`{}`) got a list of arrays", param.name, declared_type(param));
        return Err(argument(
            py,
            format!("{what}, which a launch on a GPU takes none of; pass an array of their addresses there"),
        ));
    }
    let mut given = Vec::with_capacity(list.len()?);
    for (i, item) in list.try_iter()?.enumerate() {
        given.push(member_value(keep, &item?, of, &format!("{}[{i}]", param.name))?);
    }
    Packed::table(&param.name, index, of, &given).map_err(|e| errors::to_py(py, e))
}

/// An array for a pointer parameter.
///
/// # Errors
/// `ArgumentError` naming the parameter, with what was given and what was expected.
pub fn pointer<'py>(
    keep: &mut Keep<'py>,
    object: &Bound<'py, PyAny>,
    param: &Param,
    elem: Option<Elem>,
    is_const: bool,
) -> PyResult<Arg> {
    let py = object.py();
    if object.is_none() {
        return Ok(Arg::Null);
    }
    let tensor = dlpack::array(object);
    if tensor.is_none()
        && let Some(array) = keep.gpu(object, &param.name)?
    {
        return on_gpu(py, &array, param, elem, is_const);
    }
    keep.host(py, &param.name)?;
    let converted;
    let view = match View::of(object) {
        Some(view) => view,
        None => {
            converted = match tensor {
                Some(array) => array,
                None => {
                    interop(py)?.call_method1("as_array", (object, !is_const, &param.name, declared_type(param)))?
                }
            };
            keep.objects.push(converted.clone());
            View::of(&converted)
                .ok_or_else(|| argument(py, format!("parameter `{}` cannot take this object", param.name)))?
        }
    };
    let (dtype, size) = records::view_element(&view, elem, param)?;
    if !is_const {
        let problem = if !view.is_writeable() {
            Some(("read-only", "copy it first"))
        } else if !view.is_contiguous() {
            Some(("not contiguous", "pass np.ascontiguousarray(x) and copy the result back"))
        } else if !view.is_aligned() {
            Some(("not aligned to its element type", "copy it first"))
        } else {
            None
        };
        if let Some((what, help)) = problem {
            return Err(unwritable(py, param, what, &help.replace("(x)", &format!("({})", param.name))));
        }
    }
    if view.is_contiguous() && view.is_aligned() {
        return Ok(buffer(&view, (dtype, size), !is_const));
    }
    let copy = contiguous(view.object())?;
    let view = View::of(&copy).ok_or_else(|| argument(py, "NumPy made no array of an array"))?;
    let arg = buffer(&view, (dtype, size), false);
    keep.objects.push(copy.clone());
    Ok(arg)
}

fn unwritable(py: Python<'_>, param: &Param, what: &str, help: &str) -> PyErr {
    let (name, ty) = (&param.name, declared_type(param));
    argument(py, format!("parameter `{name}` (`{ty}`) may be written, but the array is {what}; {help}"))
}

/// An array on a GPU for a pointer parameter: its address, never a copy.
fn on_gpu(py: Python<'_>, array: &GpuArray<'_>, param: &Param, elem: Option<Elem>, is_const: bool) -> PyResult<Arg> {
    let (dtype, size) = records::gpu_element(py, array, elem, param)?;
    if !is_const && !array.writable {
        return Err(unwritable(py, param, "read-only", "copy it first"));
    }
    if !array.is_contiguous(size) {
        let help = array.copy_help(&param.name);
        if !is_const {
            return Err(unwritable(py, param, "not contiguous", &format!("{help} and copy the result back")));
        }
        let (name, ty) = (&param.name, declared_type(param));
        let what = format!("parameter `{name}` (`{ty}`) got an array that is not contiguous");
        return Err(argument(py, format!("{what}, and one on a GPU is not copied in silence; {help}")));
    }
    let bytes = array.len() * size;
    Ok(Arg::Buffer(BufferArg { ptr: array.ptr as *mut u8, bytes, dtype, writable: !is_const }))
}

/// The array as an argument, with the kernel's element type, and the size of an element.
pub fn buffer(view: &View<'_, '_>, (dtype, size): (DType, usize), writable: bool) -> Arg {
    Arg::Buffer(BufferArg { ptr: view.data(), bytes: view.len() * size, dtype, writable })
}

/// A contiguous, aligned copy.
pub fn contiguous<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.call_method1("copy", ("C",))
}

/// The helper module for objects that are not NumPy arrays.
pub fn interop(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    gil::once(py, &MODULE, || Ok(py.import("workbench._array_exchange")?.into_any().unbind()))
}

/// A Python or NumPy scalar as a C one.
///
/// # Errors
/// `ArgumentError` when the kind or the range does not fit.
pub fn scalar(object: &Bound<'_, PyAny>, ty: Scalar, name: &str) -> PyResult<Const> {
    match ty {
        Scalar::F32 | Scalar::F64 => {
            let value = float(object).ok_or_else(|| wrong_kind(object, ty.c_name(), name, ""))??;
            if ty == Scalar::F64 {
                return Ok(Const::F64(value));
            }
            let narrow = value as f32;
            if narrow.is_infinite() && value.is_finite() {
                return Err(out_of_range(object, ty.c_name(), name));
            }
            Ok(Const::F32(narrow))
        }
        Scalar::Bool => {
            match integer(object).ok_or_else(|| wrong_kind(object, ty.c_name(), name, "; try bool(x)"))?? {
                Some(value @ (0 | 1)) => Ok(Const::Bool(value == 1)),
                _ => Err(out_of_range(object, ty.c_name(), name)),
            }
        }
        _ => {
            let help = if object.is_instance_of::<PyFloat>() { "; try int(x)" } else { "" };
            let value = integer(object).ok_or_else(|| wrong_kind(object, ty.c_name(), name, help))??;
            let fits = value.filter(|&v| in_range(v, ty));
            // The bits of an Int are extended by the type's own signedness.
            fits.map(|v| Const::Int(ty, v as i64)).ok_or_else(|| out_of_range(object, ty.c_name(), name))
        }
    }
}

/// A Python or NumPy number as a 16-bit float, rounded once.
///
/// # Errors
/// `ArgumentError` when it is no real number, or too large.
pub fn half(object: &Bound<'_, PyAny>, elem: Elem, name: &str) -> PyResult<u16> {
    let value = float(object).ok_or_else(|| wrong_kind(object, elem.c_name(), name, ""))??;
    let bits = elem.half_bits(value).unwrap_or(0);
    if elem.half_value(bits).is_some_and(f64::is_infinite) && value.is_finite() {
        return Err(out_of_range(object, elem.c_name(), name));
    }
    Ok(bits)
}

/// True if an integer is one of the type's.
pub fn in_range(value: i128, ty: Scalar) -> bool {
    let bits = ty.bits();
    if ty.is_signed() {
        value >= -(1i128 << (bits - 1)) && value < (1i128 << (bits - 1))
    } else {
        value >= 0 && value < (1i128 << bits)
    }
}

/// The value of an integer-like object: `None` if it is not one, `Some(Ok(None))` if it exceeds 64 bits.
pub fn integer(object: &Bound<'_, PyAny>) -> Option<PyResult<Option<i128>>> {
    if object.is_instance_of::<PyFloat>() || object.is_instance_of::<PyString>() {
        return None;
    }
    let indexed;
    let int = if object.is_instance_of::<PyInt>() {
        object
    } else if is_bool(object) {
        return Some(object.is_truthy().map(|b| Some(i128::from(b))));
    } else {
        // NumPy integers and 0-d integer arrays.
        // SAFETY: a live object; a new reference or null with an exception set.
        match unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyNumber_Index(object.as_ptr())) } {
            Ok(value) => {
                indexed = value;
                &indexed
            }
            Err(_) => return None,
        }
    };
    let narrow = int.extract::<i64>().map(i128::from);
    Some(match narrow.or_else(|_| int.extract::<u64>().map(i128::from)) {
        Ok(value) => Ok(Some(value)),
        Err(err) if err.is_instance_of::<PyOverflowError>(int.py()) => Ok(None),
        Err(err) => Err(err),
    })
}

/// The value of an object that is like a real number.
pub fn float(object: &Bound<'_, PyAny>) -> Option<PyResult<f64>> {
    if let Ok(value) = object.cast::<PyFloat>() {
        return Some(Ok(value.value()));
    }
    if object.is_instance_of::<PyInt>() || is_bool(object) {
        let value = object.extract::<f64>();
        return Some(
            value.map_err(|_| argument(object.py(), format!("{object} is too large for a floating-point value"))),
        );
    }
    // NumPy reals and 0-d arrays of them; complex numbers, text and arrays are none.
    let kind: String = object.getattr("dtype").ok()?.getattr("kind").ok()?.extract().ok()?;
    let scalar = object.getattr("ndim").and_then(|d| d.extract::<usize>()).unwrap_or(1) == 0;
    // ml_dtypes' bfloat16 is of kind "V", as all registered types are.
    let brain = || object.get_type().name().is_ok_and(|n| n == "bfloat16");
    (scalar && (matches!(kind.as_str(), "f" | "i" | "u" | "b") || brain()))
        .then(|| object.call_method0("__float__")?.extract())
}

pub fn is_bool(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBool>()
        || object.get_type().name().is_ok_and(|n| n == "bool_" || n == "bool")
            && object.hasattr("dtype").unwrap_or(false)
}

fn wrong_kind(object: &Bound<'_, PyAny>, ty: &str, name: &str, help: &str) -> PyErr {
    let came = match View::of(object) {
        Some(view) => format!("an array of {} with shape {:?}", view.dtype_name(), view.shape()),
        None => {
            let ty = object.get_type().name().map_or_else(|_| "object".to_owned(), |n| n.to_string());
            let text = object.repr().map_or_else(|_| String::new(), |r| short(&r.to_string()));
            format!("{ty} {text}")
        }
    };
    argument(
        object.py(),
        format!("parameter `{name}` is `{ty}`, got {came}{}", help.replace("(x)", &format!("({name})"))),
    )
}

fn out_of_range(object: &Bound<'_, PyAny>, ty: &str, name: &str) -> PyErr {
    let text = object.repr().map_or_else(|_| "this value".to_owned(), |r| short(&r.to_string()));
    argument(object.py(), format!("parameter `{name}` is `{ty}`, which cannot hold {text}"))
}

/// A text cut to 60 characters.
fn short(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("...".chars()).collect()
}

/// A constant as a Python object.
pub fn to_python<'py>(py: Python<'py>, value: Const) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Const::Bool(b) => PyBool::new(py, b).to_owned().into_any(),
        Const::Int(Scalar::U64, v) => (v as u64).into_pyobject(py)?.into_any(),
        Const::Int(_, v) => v.into_pyobject(py)?.into_any(),
        Const::F32(v) => PyFloat::new(py, f64::from(v)).into_any(),
        Const::F64(v) => PyFloat::new(py, v).into_any(),
        Const::Null => py.None().into_bound(py),
    })
}
