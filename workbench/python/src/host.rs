//! Host functions of a text, called with Python's values: arrays go in without a copy, tensors come out as the caller's own kind of array.

use std::fmt::Display;
use std::sync::OnceLock;
use std::time::Duration;

use numpy::npyffi::npy_intp;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};
use workbench::front::nearest;
use workbench::runtime::arrange::{Misarranged, Parameter, arrange};
use workbench::runtime::host::one_at_a_time::Turn;
use workbench::runtime::host::{DeviceTag, Export, Fill, HostTensor, Limits, Registration, Storage, Value, hollowly};
use workbench::runtime::{DType, Interrupt as _, Program, Report};
use workbench::steps::Interrupted;

use crate::args::{self, interop};
use crate::dlpack;
use crate::errors::{self, argument};
use crate::foreign;
use crate::interrupt::Poll;
use crate::keywords::Keywords;
use crate::module::Module;
use crate::ndarray::{self, View};
use crate::output;
use crate::recorded_gradients::{self, Recording};
use crate::stale::Stale;
use crate::torch;

/// A host function of a text: `m.f(x, 2.0)`.
#[pyclass(module = "workbench", frozen)]
pub struct ExtensionFunction {
    pub program: Program,
    pub export: Export,
    /// Other functions of its name, in the order of their registration: the first whose arguments fit is called.
    pub others: Vec<Export>,
    pub timeout: Option<f64>,
    pub stale: Stale,
    /// True if calls may have a gradient; set once that was asked.
    pub has_gradient: OnceLock<bool>,
}

/// The objects that the arguments of a call were made of.
#[derive(Default)]
pub struct Given<'py> {
    /// The arrays that were lent, as NumPy arrays; a lender is an index.
    arrays: Vec<Bound<'py, PyAny>>,
    /// The caller's own objects that these arrays were made of.
    objects: Vec<Bound<'py, PyAny>>,
    /// True for host code that handles Python objects: tuples stay tuples, and bytes, integers of any size and all other objects are values,
    /// too.
    exact: bool,
    /// True if anything that is nothing else is an object.
    any_object: bool,
    /// True if tensors keep their arrays themselves, and so may outlive this.
    keeps: bool,
    /// The number of containers around the value at hand.
    depth: u32,
    /// True if arrays that cannot be lent as they lie are copied: for arguments that nobody writes.
    pub copies: bool,
    /// True if anything with a shape and a dtype is a tensor that holds nothing, and tensors come out as a `Spec`.
    shapes_only: bool,
}

/// A tensor that holds nothing, of what has a shape and a dtype.
fn hollow(object: &Bound<'_, PyAny>, at: &dyn Display) -> PyResult<Option<Value>> {
    let py = object.py();
    let spec = interop(py)?.call_method1("host_spec", (object,))?.extract::<Option<(Vec<i64>, String)>>()?;
    let Some((shape, dtype)) = spec else { return Ok(None) };
    let strides = interop(py)?.call_method1("host_strides", (object,))?.extract::<Option<Vec<i64>>>()?;
    let Some(dtype) = DType::from_name(&dtype) else {
        return Err(argument(py, format!("{at} is of {dtype}, which host code does not know")));
    };
    match hollowly(|| HostTensor::filled(dtype, &shape, DeviceTag::CPU, Fill::Zeros)) {
        // The dimensions are laid out in the order of its strides, if those are dense.
        Ok(tensor) => Ok(Some(Value::Tensor(match strides {
            Some(strides) if strides.len() == shape.len() => {
                let like = tensor.viewed(shape.into(), strides.into(), 0);
                tensor.ordered_as(&like)
            }
            _ => tensor,
        }))),
        Err((_, message)) => Err(argument(py, format!("{at}: {message}"))),
    }
}

/// A dtype, a device or a number of NumPy's or torch's, if it is one.
fn described(object: &Bound<'_, PyAny>, at: &dyn Display) -> PyResult<Option<Value>> {
    let py = object.py();
    let kind = interop(py)?.call_method1("host_value", (object,))?;
    let Ok((kind, text)) = kind.extract::<(String, String)>() else { return Ok(None) };
    match kind.as_str() {
        "dtype" => match DType::from_name(&text) {
            Some(dtype) => Ok(Some(Value::DType(dtype))),
            None => Err(argument(py, format!("{at} is the dtype {text}, which host code does not know"))),
        },
        "float" => Ok(Some(Value::Float(object.extract()?))),
        "bool" => Ok(Some(Value::Bool(object.call_method0("item")?.extract()?))),
        _ => Ok(Some(Value::Device(DeviceTag { is_cuda: text.starts_with("cuda"), index: -1 }))),
    }
}

/// Limit on nested containers.
const MAX_DEPTH: u32 = 100;

impl<'py> Given<'py> {
    /// Conversion for a call of which only the shapes of the results are wanted.
    pub fn shapes() -> Self {
        Given { shapes_only: true, ..Given::default() }
    }

    /// Conversion for a callable of Python's, which may be given any object.
    pub fn objects() -> Self {
        Given { any_object: true, ..Given::default() }
    }

    /// Conversion for values that pass between host code and Python during a call.
    pub fn kept() -> Self {
        Given { exact: true, keeps: true, ..Given::default() }
    }

    /// Conversion for a call whose gradient is recorded, which outlives the call.
    pub fn recorded() -> Self {
        Given { keeps: true, ..Given::default() }
    }

    /// A Python object as a value; `at` is its name in messages.
    pub fn value(&mut self, object: &Bound<'py, PyAny>, at: &dyn Display) -> PyResult<Value> {
        let py = object.py();
        if object.is_none() {
            return Ok(Value::None);
        }
        if self.shapes_only
            && let Some(tensor) = hollow(object, at)?
        {
            return Ok(tensor);
        }
        if let Some(view) = View::of(object) {
            return self.array(&view, object, at);
        }
        if let Some(array) = dlpack::array(object)
            && let Some(view) = View::of(&array)
        {
            return self.array(&view, object, at);
        }
        if object.is_instance_of::<PyBool>() {
            return Ok(Value::Bool(object.extract()?));
        }
        if object.is_instance_of::<PyFloat>() {
            return Ok(Value::Float(object.extract()?));
        }
        if object.is_instance_of::<PyString>() {
            return Ok(Value::Text(object.extract()?));
        }
        if self.exact && args::is_bool(object) {
            return Ok(Value::Bool(object.is_truthy()?));
        }
        // A named tuple has more than its elements, so it stays an object.
        if self.exact && object.is_instance_of::<PyTuple>() && object.hasattr("_fields")? {
            return Ok(foreign::Object::value(object));
        }
        if let Some(container) = self.container(object, at)? {
            return Ok(container);
        }
        if self.exact
            && let Ok(bytes) = object.cast::<PyBytes>()
        {
            return Ok(Value::Bytes(bytes.as_bytes().to_vec()));
        }
        if self.any_object
            && let Ok(number) = object.cast::<PyComplex>()
        {
            // Complex numbers of NumPy's have a class of their own.
            let plain = PyComplex::from_doubles(py, number.real(), number.imag());
            return Ok(foreign::Object::value(&plain));
        }
        // An array of one number is an array, even if Python accepts it as an index.
        let is_array = !object.is_instance_of::<PyInt>() && object.hasattr("__dlpack__")?;
        if let Some(int) = if is_array { None } else { args::integer(object) } {
            return match int?.and_then(|v| i64::try_from(v).ok()) {
                Some(v) => Ok(Value::Int(v)),
                None if self.exact && object.is_instance_of::<PyInt>() => Ok(Value::BigInt(object.str()?.extract()?)),
                None => Err(PyOverflowError::new_err(format!("{at} does not fit in 64 bits"))),
            };
        }
        if let Some(value) = described(object, at)? {
            return Ok(value);
        }
        // Anything else is an object, for functions that know Python's objects.
        let interfaces = ["__array_interface__", "__cuda_array_interface__"];
        let has = |name: &&str| object.hasattr(*name).unwrap_or(false);
        if (self.exact || self.any_object) && !is_array && !interfaces.iter().any(has) {
            return Ok(foreign::Object::value(object));
        }
        let array = interop(py)?.call_method1("as_array", (object, true, at.to_string(), "Tensor"))?;
        match View::of(&array) {
            Some(view) => self.array(&view, object, at),
            None => Err(argument(
                py,
                format!("{at} got an object of type {}, which is no array", object.get_type().name()?),
            )),
        }
    }

    /// A list, a tuple, a set or a dictionary, if it is one.
    fn container(&mut self, object: &Bound<'py, PyAny>, at: &dyn Display) -> PyResult<Option<Value>> {
        let py = object.py();
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let items = object.try_iter()?.collect::<PyResult<Vec<_>>>()?;
            self.enter(py, at)?;
            let values = items.iter().enumerate().map(|(i, item)| self.value(item, &format_args!("{at}[{i}]")));
            let values = values.collect::<PyResult<_>>()?;
            self.depth -= 1;
            let is_tuple = self.exact && object.is_instance_of::<PyTuple>();
            return Ok(Some(if is_tuple { Value::Tuple(values) } else { Value::List(values) }));
        }
        if object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>() {
            let items = object.try_iter()?.collect::<PyResult<Vec<_>>>()?;
            self.enter(py, at)?;
            let values = items.iter().map(|item| self.value(item, at)).collect::<PyResult<_>>()?;
            self.depth -= 1;
            return Ok(Some(Value::Set(values)));
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            self.enter(py, at)?;
            let pairs =
                dict.iter().map(|(k, v)| Ok((self.value(&k, at)?, self.value(&v, &format_args!("{at}[{k}]"))?)));
            let pairs = pairs.collect::<PyResult<_>>()?;
            self.depth -= 1;
            return Ok(Some(Value::Dict(pairs)));
        }
        Ok(None)
    }

    fn enter(&mut self, py: Python<'_>, at: &dyn Display) -> PyResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(argument(py, format!("{at}: lists lie more than {MAX_DEPTH} deep in one another")));
        }
        Ok(())
    }

    fn array(&mut self, view: &View<'_, 'py>, object: &Bound<'py, PyAny>, at: &dyn Display) -> PyResult<Value> {
        let py = object.py();
        let Some(dtype) = view.dtype() else {
            let message = format!("{at} got an array of {}, which host code does not know", view.dtype_name());
            return Err(argument(py, message));
        };
        let size = dtype.size() as isize;
        let fits = view.is_aligned() && view.strides().iter().all(|s| s % size == 0 && *s >= 0);
        if !fits && self.copies {
            let copy = py.import("numpy")?.call_method1("array", (view.object(),))?;
            let Some(view) = View::of(&copy) else {
                return Err(argument(py, format!("{at} could not be copied")));
            };
            return self.array(&view, object, at).map(Value::sealed);
        }
        if !fits && !view.is_aligned() {
            let message = format!("{at} got an array whose elements are not aligned; try np.array({at})");
            return Err(argument(py, message));
        }
        if !fits {
            // torch has no negative strides either, and says so; its users are told to make a copy.
            let message = format!("{at} got an array with negative or odd strides; try np.ascontiguousarray({at})");
            return Err(argument(py, message));
        }
        let shape = view.shape();
        let lender = self.arrays.len() as u32;
        let last: isize = shape.iter().zip(view.strides()).map(|(n, s)| (n - 1).max(0) * s).sum();
        let bytes = if view.len() == 0 { 0 } else { (last + size) as usize };
        self.objects.push(object.clone());
        let storage = if self.keeps {
            foreign::Kept::storage(view, bytes, object)
        } else {
            self.arrays.push(view.object().clone());
            // SAFETY: the array is kept in `arrays` for as long as the call and the tensors that it returns.
            unsafe { Storage::lent(view.data(), bytes, view.is_writeable(), lender) }
        };
        let dims = |words: &[npy_intp], by: isize| words.iter().map(|w| (w / by) as i64).collect();
        let (shape, strides) = (dims(shape, 1), dims(view.strides(), size));
        Ok(Value::Tensor(HostTensor::view(storage, dtype, shape, strides, 0, DeviceTag::CPU)))
    }

    /// A value as a Python object.
    pub fn object(&self, py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
        Ok(match value {
            Value::None => py.None().into_bound(py),
            Value::Bool(b) => PyBool::new(py, *b).to_owned().into_any(),
            Value::Int(i) => i.into_pyobject(py)?.into_any(),
            Value::Float(x) => PyFloat::new(py, *x).into_any(),
            Value::BigInt(digits) => py.get_type::<PyInt>().call1((digits,))?,
            Value::Text(text) => PyString::new(py, text).into_any(),
            Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
            Value::List(all) => {
                let items = all.iter().map(|v| self.object(py, v)).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, items)?.into_any()
            }
            Value::Tuple(all) => {
                let items = all.iter().map(|v| self.object(py, v)).collect::<PyResult<Vec<_>>>()?;
                PyTuple::new(py, items)?.into_any()
            }
            Value::Set(all) => {
                let items = all.iter().map(|v| self.object(py, v)).collect::<PyResult<Vec<_>>>()?;
                PySet::new(py, items)?.into_any()
            }
            Value::Dict(all) => {
                let dict = PyDict::new(py);
                for (key, value) in all {
                    dict.set_item(self.object(py, key)?, self.object(py, value)?)?;
                }
                dict.into_any()
            }
            Value::DType(dtype) => interop(py)?.call_method1("dtype_of", (dtype.name(), self.objects.first()))?,
            Value::Device(device) => PyString::new(py, &device.to_string()).into_any(),
            Value::Foreign(object) => match foreign::Object::of(py, object) {
                Some(object) => object,
                None => return Err(argument(py, "an object that is none of Python's")),
            },
            Value::Tensor(tensor) if self.shapes_only => {
                let (shape, strides) = (PyTuple::new(py, tensor.shape())?, PyTuple::new(py, tensor.strides())?);
                let make = py.import("workbench.spec")?.getattr("spec_in_memory")?;
                make.call1((shape, tensor.dtype().name(), strides))?
            }
            Value::Tensor(tensor) => self.tensor(py, tensor)?,
        })
    }

    /// The results of a call, after its output and warnings.
    pub fn finish(
        &self,
        py: Python<'py>,
        result: workbench::runtime::Result<(Value, Report)>,
        poll: Poll,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (value, report) = result.map_err(|error| crate::kernel::failed(py, error, poll))?;
        output::write(py, &report.output, report.dropped)?;
        output::warn(py, &report.warnings)?;
        self.object(py, &value)
    }

    fn tensor(&self, py: Python<'py>, tensor: &HostTensor) -> PyResult<Bound<'py, PyAny>> {
        let lender = tensor.storage().lender().map(|l| l as usize);
        let lent = match (lender, foreign::Kept::of(tensor.storage())) {
            (Some(lent), _) => self.arrays.get(lent).zip(self.objects.get(lent)).map(|(a, o)| (a.clone(), o.clone())),
            (None, Some(kept)) => Some((kept.array.bind(py).clone(), kept.object.bind(py).clone())),
            (None, None) => None,
        };
        if let Some((array, object)) = &lent
            && let Some(view) = View::of(array)
        {
            let size = tensor.dtype().size() as isize;
            let same = tensor.offset() == 0
                && view.shape().iter().map(|n| *n as i64).eq(tensor.shape().iter().copied())
                && view.strides().iter().map(|s| (s / size) as i64).eq(tensor.strides().iter().copied());
            if same && view.dtype() == Some(tensor.dtype()) {
                return Ok(object.clone());
            }
        }
        let array = lent.as_ref().map(|(array, _)| array);
        let base = match array {
            Some(array) => array.clone(),
            None => Bound::new(py, Memory { _storage: tensor.storage().clone() })?.into_any(),
        };
        let writeable = match array.and_then(View::of) {
            Some(view) => view.is_writeable(),
            None => tensor.storage().is_writable(),
        };
        let array = wrap(py, tensor, base, writeable)?;
        let first = self.objects.first().or(lent.as_ref().map(|(_, object)| object));
        if first.is_none_or(dlpack::is_tensor)
            && let Some(tensor) = dlpack::tensor(&array)?
        {
            return Ok(tensor);
        }
        match first {
            Some(first) => interop(py)?.call_method1("like", (first, array)),
            None => interop(py)?.call_method1("of_nothing", (array,)),
        }
    }
}

/// Keeps the memory of arrays that are views of it.
#[pyclass(module = "workbench", frozen)]
struct Memory {
    _storage: std::sync::Arc<Storage>,
}

/// A NumPy array over a tensor's memory, which `base` keeps.
fn wrap<'py>(
    py: Python<'py>,
    tensor: &HostTensor,
    base: Bound<'py, PyAny>,
    writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if tensor.numel() == 0 {
        let shape: Vec<usize> = tensor.shape().iter().map(|n| *n as usize).collect();
        return ndarray::empty(py, &shape, tensor.dtype()).map(|(array, _)| array);
    }
    let dims = (tensor.shape(), tensor.strides());
    // SAFETY: the data lies in the tensor's storage, which `base` keeps; extents and strides stay within it.
    unsafe { ndarray::over(py, tensor.ptr().cast(), dims, tensor.dtype(), base, writeable) }
}

#[pymethods]
impl ExtensionFunction {
    /// The function's name.
    #[getter]
    fn __name__(&self) -> &str {
        &self.export.name
    }

    /// The text given for it where it is registered.
    #[getter]
    fn _doc(&self) -> Option<&str> {
        (!self.export.doc.is_empty()).then_some(&*self.export.doc)
    }

    /// Calls the function: arrays become tensors that share their memory, tensors come back as the kind of array that was given first, or
    /// as torch's if none was given and torch is loaded.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let py = slf.py();
        this.stale.warn(py)?;
        if torch::requires_grad(args, kwargs)? && this.may_have_gradient() {
            return torch::recorded(slf.as_any(), args, kwargs);
        }
        this.call_any(py, args, kwargs, &mut How::Plain)
    }

    /// The shapes and dtypes of the results, as `Spec`s, for arguments that are `Spec`s or arrays, whose values are not read. Results are
    /// on the device of the first array argument.
    ///
    /// >>> import workbench as wb
    /// >>> m = wb.load_inline("doc_fake", "torch::Tensor stack(torch::Tensor x, int n) { return x.repeat({n, 1}); }")
    /// >>> m.stack.fake(wb.Spec((2, 3), "float32"), 4)
    /// Spec(shape=(8, 3), dtype='float32', device='cpu')
    #[pyo3(signature = (*args, **kwargs))]
    fn fake<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = self.call_any(py, args, kwargs, &mut How::Shapes)?;
        let inputs = args.to_list();
        kwargs.into_iter().flat_map(|k| k.values()).try_for_each(|value| inputs.append(value))?;
        py.import("workbench.spec")?.getattr("moved_to_first")?.call1((made, inputs))
    }

    /// Calls the function and records its operations on the arrays for which `wants(array)` is true: its result and the `Recording`.
    #[pyo3(signature = (wants, args, kwargs))]
    fn _record<'py>(
        &self,
        py: Python<'py>,
        wants: Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Recording>)> {
        let mut how = How::Recorded(wants, None);
        let made = self.call_any(py, args, Some(kwargs), &mut how)?;
        let How::Recorded(_, recording) = how else { return Ok((made, None)) };
        Ok((made, recording.map(|recording| *recording)))
    }

    fn _mark_stale(&self, why: String) {
        self.stale.mark(why);
    }

    fn __repr__(&self) -> String {
        format!("<host function {}>", self.export.name)
    }

    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = Bound::new(py, Module { program: slf.get().program.clone(), timeout: slf.get().timeout })?;
        let getter = py.import("operator")?.getattr("getitem")?;
        Ok((getter, (module, slf.get().export.name.as_str())).into_pyobject(py)?.into_any())
    }
}

/// The way in which a function is called.
enum How<'py> {
    Plain,
    /// A call for the shapes of its results only.
    Shapes,
    /// A call with its gradient recorded: the arrays, and the place for the record.
    Recorded(Bound<'py, PyAny>, Option<Box<Recording>>),
}

/// True if a call failed before it began: its arguments are not of the types that this overload takes.
fn does_not_fit(py: Python<'_>, export: &Export, error: &PyErr) -> bool {
    let ours = interop(py).and_then(|_| py.import("workbench.errors")?.getattr("ArgumentError"));
    let refused = ours.is_ok_and(|class| error.matches(py, class).unwrap_or(false));
    refused || error.value(py).to_string().starts_with(&format!("{}(): argument ", export.name))
}

/// Keyword arguments that are no parameter's.
type Others<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// The keyword arguments of a call for parameters after the first `given`, and the others.
fn split<'py>(
    py: Python<'py>,
    export: &Export,
    given: usize,
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<(Bound<'py, PyDict>, Others<'py>)> {
    let (named, mut others) = (PyDict::new(py), Vec::new());
    for (key, object) in kwargs {
        let name: String = key.extract()?;
        if export.arguments.iter().skip(given).any(|(parameter, _)| *parameter == name) {
            named.set_item(key, object)?;
        } else {
            others.push((name, object));
        }
    }
    Ok((named, others))
}

/// The message about arguments that a host function does not take.
fn misarranged(export: &Export, wrong: Misarranged) -> String {
    let function = &export.name;
    match wrong {
        Misarranged::TooMany { most, given } => {
            format!("{function}(): {most} arguments may be given without names, not {given}")
        }
        Misarranged::Twice(at) => format!("{function}(): argument `{}` is given twice", export.arguments[at].0),
        Misarranged::Missing { at, unknown: None } => {
            format!("{function}(): argument `{}` is missing", export.arguments[at].0)
        }
        Misarranged::Missing { unknown: Some(keyword), .. } | Misarranged::Unknown(keyword) => {
            let names: Vec<&str> = export.arguments.iter().map(Parameter::name).collect();
            let near = nearest(&keyword, names.iter());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let all = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("{function}() has no argument `{keyword}`{hint} (those with names: {all})")
        }
    }
}

impl ExtensionFunction {
    /// True if calls may have a gradient. Methods of Python's C interface have none.
    fn may_have_gradient(&self) -> bool {
        let may = |export: &Export| {
            !matches!(export.registration, Registration::Python(_)) && self.program.may_have_gradient(export)
        };
        *self.has_gradient.get_or_init(|| [&self.export].into_iter().chain(&self.others).any(may))
    }

    /// Calls the first overload that takes the arguments.
    fn call_any<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        how: &mut How<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut first = None;
        for export in [&self.export].into_iter().chain(&self.others) {
            match self.call_one(py, export, args, kwargs, how) {
                Err(error) if !self.others.is_empty() && does_not_fit(py, export, &error) => {
                    first.get_or_insert(error);
                }
                done => return done,
            }
        }
        Err(first.unwrap_or_else(|| argument(py, format!("{}(): nothing to call", self.export.name))))
    }

    fn call_one<'py>(
        &self,
        py: Python<'py>,
        export: &Export,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        how: &mut How<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let is_method = matches!(export.registration, Registration::Python(_));
        let exact = is_method || export.objects.any();
        // Python code that is called meanwhile may keep the values it is given.
        let (shapes_only, is_recorded) = (matches!(how, How::Shapes), matches!(how, How::Recorded(..)));
        let mut given = Given { exact, keeps: exact || is_recorded, shapes_only, ..Given::default() };
        if is_method {
            let mut positional = Vec::with_capacity(args.len());
            for (i, object) in args.iter().enumerate() {
                positional.push(given.value(&object, &format_args!("argument {}", i + 1))?);
            }
            let mut named = Vec::new();
            for (name, object) in kwargs.iter().flat_map(|k| k.iter()) {
                let name: String = name.extract()?;
                let value = given.value(&object, &name)?;
                named.push((Value::Text(name), value));
            }
            return self.run(py, export, vec![Value::Tuple(positional), Value::Dict(named)], &given, how);
        }
        // The number of parameters that take one argument each; `py::args` and `py::kwargs` take the rest.
        let single = export.arity - usize::from(export.objects.args) - usize::from(export.objects.keywords);
        let (named, others) = match kwargs {
            Some(kwargs) if export.objects.keywords => {
                let (named, others) = split(py, export, args.len(), kwargs)?;
                (Some(named), others)
            }
            kwargs => (kwargs.cloned(), Vec::new()),
        };
        let (mut rest, mut values) = (Vec::new(), Vec::with_capacity(args.len()));
        let put = |at: usize, object: Option<Bound<'py, PyAny>>| {
            match (object, export.arguments.get(at)) {
                (Some(object), _) if export.objects.args && at >= single => {
                    rest.push(given.value(&object, &format_args!("argument {}", at + 1))?);
                }
                (Some(object), Some((name, _))) => values.push(given.value(&object, name)?),
                (Some(object), None) => values.push(given.value(&object, &format_args!("argument {}", at + 1))?),
                (None, argument) => values.extend(argument.and_then(|(_, default)| default.clone())),
            }
            Ok(())
        };
        let most = export.positional.unwrap_or(usize::MAX);
        let wrong = |wrong| argument(py, misarranged(export, wrong));
        arrange(&export.arguments, most, args.iter(), &mut Keywords(named.as_ref()), put, wrong)?;
        if export.objects.args {
            if values.len() < single {
                let (name, came) = (&export.name, values.len());
                return Err(argument(py, format!("{name}() takes at least {single} arguments, {came} given")));
            }
            values.push(Value::Tuple(rest));
        }
        if export.objects.keywords {
            let mut pairs = Vec::with_capacity(others.len());
            for (name, object) in others {
                let value = given.value(&object, &name)?;
                pairs.push((Value::Text(name), value));
            }
            values.push(Value::Dict(pairs));
        }
        self.run(py, export, values, &given, how)
    }

    /// Waits until other threads have finished host code that keeps variables, as all C++ code does that holds the GIL.
    ///
    /// # Errors
    /// [`Interrupted`] when it was asked to stop meanwhile.
    fn turn(&self, py: Python<'_>, poll: &Poll) -> Result<Option<Turn>, Interrupted> {
        let Some(turns) = self.program.turns() else { return Ok(None) };
        loop {
            if let Some(turn) = turns.try_take() {
                return Ok(Some(turn));
            }
            py.detach(|| turns.wait(Duration::from_millis(5)));
            if poll.interrupted() {
                return Err(Interrupted);
            }
        }
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        export: &Export,
        values: Vec<Value>,
        given: &Given<'py>,
        how: &mut How<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let timeout = crate::kernel::seconds(py, self.timeout)?;
        let poll = Poll::new(false);
        let deadline = timeout.map(|t| std::time::Instant::now() + t);
        let limits = Limits { interrupt: Some(&poll), deadline, shapes_only: given.shapes_only, ..Limits::default() };
        if given.shapes_only {
            let found = py.detach(|| self.program.shapes(export, &values, limits));
            let value = found.map_err(|error| crate::kernel::failed(py, error, poll))?;
            return given.object(py, &value);
        }
        foreign::forget_raised();
        let turn = self.turn(py, &poll);
        let Ok(turn) = turn else {
            return Err(poll.into_raised().unwrap_or_else(|| PyKeyboardInterrupt::new_err("interrupted")));
        };
        let result = match how {
            How::Recorded(wants, place) => {
                let (flags, inputs) = recorded_gradients::wanted(py, &values, wants)?;
                let made = py.detach(|| self.program.record_export(export, values, &flags, limits));
                made.map(|(value, report, made)| {
                    *place = Some(Box::new(Recording::new(made, inputs)));
                    (value, report)
                })
            }
            _ => py.detach(|| self.program.call_export(export, values, limits)),
        };
        drop(turn);
        match &result {
            Err(workbench::runtime::Error::Fault(fault)) => {
                if let Some(err) = foreign::take_raised(&fault.detail) {
                    return Err(err);
                }
            }
            // An exception that was caught holds its frames no longer.
            _ => foreign::forget_raised(),
        }
        given.finish(py, result, poll)
    }
}

/// The functions that a program offers, by name.
pub fn exports<'a>(py: Python<'_>, program: &'a Program) -> PyResult<&'a [Export]> {
    program.exports().map_err(|e| errors::to_py(py, e))
}

/// The constants that a program registers, as Python objects.
pub fn constant<'py>(py: Python<'py>, export: &Export) -> PyResult<Option<Bound<'py, PyAny>>> {
    match &export.registration {
        Registration::Constant(value) => Given::default().object(py, value).map(Some),
        _ => Ok(None),
    }
}
