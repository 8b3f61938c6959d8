//! Operators that texts register with the dispatcher, called as `torch.ops` calls them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyAttributeError, PyException, PyNotImplementedError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyList, PyString, PyTuple};
use workbench::ops::gaudi::{self, Role};
use workbench::ops::library::{self, Overload};
use workbench::ops::manifest::Manifest;
use workbench::ops::schema::{self, Return, Schema};
use workbench::runtime::arrange::{Misarranged, arrange};
use workbench::runtime::host::{Limits, Value};
use workbench::runtime::{DType, Error, Program};

use crate::errors::{self, argument};
use crate::gil;
use crate::host::Given;
use crate::interrupt::Poll;
use crate::keywords::Keywords;
use crate::module::Module;
use crate::recorded_gradients::{self, Recording};
use crate::torch;

/// Registers the operators of a text, and tells the Python half their names. The code that computes its variables and registers may take up
/// to `timeout`.
pub fn adopt(py: Python<'_>, program: &Program, timeout: Option<Duration>) -> PyResult<()> {
    let poll = Poll::new(true);
    let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
    if let Err(error) = program.register(Limits { interrupt: Some(&poll), deadline, ..Limits::default() }) {
        return Err(crate::kernel::failed(py, error, poll));
    }
    let names = library::load(program).map_err(|e| errors::to_py(py, e))?;
    if !names.is_empty() {
        py.import("workbench.operators")?.call_method1("adopt_library", (names,))?;
    }
    Ok(())
}

/// The qualified names of the operators that a module registers or implements.
#[pyfunction]
pub fn library_names(py: Python<'_>, module: &Module) -> PyResult<Vec<String>> {
    library::load(&module.program).map_err(|e| errors::to_py(py, e))
}

/// Defines an operator by its schema alone; gives its name.
#[pyfunction]
pub fn define_schema(py: Python<'_>, schema: &str) -> PyResult<String> {
    library::define(schema).map_err(|e| errors::to_py(py, e))
}

/// Checks the results of an operator's calls against `rule(*specs)`: a list of dtypes and shapes, or None if it gives none; `who` is the
/// rule's name in messages. Without a rule nothing is checked.
#[pyfunction]
#[pyo3(signature = (name, rule, who))]
pub fn set_shape_rule(name: String, rule: Option<Py<PyAny>>, who: String) {
    let Some(rule) = rule else { return library::set_shape_rule(&name, None) };
    let title = name.clone();
    let known: Mutex<HashMap<u64, Wanted>> = Mutex::default();
    let check = move |given: &[Value], value: &Value| {
        let mut hasher = DefaultHasher::new();
        for one in given {
            hash_spec(one, &mut hasher);
        }
        let key = hasher.finish();
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).cloned();
        let wanted = match found {
            Some(wanted) => wanted,
            None => {
                let made = gil::attach(|py| said(py, rule.bind(py), given).map_err(|e| errors::from_py(py, e)))?;
                let mut known = known();
                if known.len() >= MOST_SHAPES {
                    known.clear();
                }
                known.entry(key).or_insert(made).clone()
            }
        };
        let Some(wanted) = wanted else { return Ok(()) };
        let mut came = Vec::new();
        specs_of(value, &mut came);
        if came == *wanted {
            return Ok(());
        }
        let told = |all: &[(String, Vec<i64>)]| {
            let each: Vec<String> = all.iter().map(|(dtype, shape)| format!("{dtype} {shape:?}")).collect();
            if each.is_empty() { "nothing".to_owned() } else { each.join(", ") }
        };
        Err(Error::argument(format!("`{title}` gave {}, and {who} said {}", told(&came), told(&wanted))))
    };
    library::set_shape_rule(&name, Some(Arc::new(check)));
}

/// The shapes that a rule gives for some arguments; None: it gives none.
type Wanted = Option<Arc<Vec<(String, Vec<i64>)>>>;

/// The number of shapes of arguments for which a rule's answer is kept.
const MOST_SHAPES: usize = 256;

fn said(py: Python<'_>, rule: &Bound<'_, PyAny>, given: &[Value]) -> PyResult<Wanted> {
    let shapes = Given::shapes();
    let specs = given.iter().map(|one| shapes.object(py, one)).collect::<PyResult<Vec<_>>>()?;
    match rule.call1(PyTuple::new(py, specs)?) {
        Ok(made) => Ok(made.extract::<Option<Vec<(String, Vec<i64>)>>>()?.map(Arc::new)),
        // A rule that fails here serves torch only, as one of sizes that depend on data does. A request to stop is no such failure.
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

fn hash_spec(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Tensor(t) => (t.dtype().name(), t.shape()).hash(hasher),
        Value::List(all) | Value::Tuple(all) => {
            all.len().hash(hasher);
            all.iter().for_each(|one| hash_spec(one, hasher));
        }
        other => other.to_string().hash(hasher),
    }
}

fn specs_of(value: &Value, out: &mut Vec<(String, Vec<i64>)>) {
    match value {
        Value::Tensor(t) => out.push((t.dtype().name().to_owned(), t.shape().to_vec())),
        Value::List(all) | Value::Tuple(all) => all.iter().for_each(|one| specs_of(one, out)),
        _ => {}
    }
}

/// Takes an inferred schema as exact.
#[pyfunction]
pub fn hold_to_schema(name: &str) {
    library::hold_to_schema(name);
}

/// Reads and checks a manifest, as dicts and lists; `name` is its name in messages.
#[pyfunction]
pub fn read_manifest<'py>(py: Python<'py>, name: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let manifest = Manifest::parse(name, text).map_err(|e| errors::to_py(py, e))?;
    let value = toml::Value::try_from(&manifest).map_err(|e| argument(py, format!("{name}: {e}")))?;
    from_toml(py, &value)
}

/// The text of a manifest: its operators and the keys before them, as `read_manifest` gives them.
#[pyfunction]
#[pyo3(signature = (name, table))]
pub fn write_manifest(py: Python<'_>, name: &str, table: &Bound<'_, PyDict>) -> PyResult<String> {
    let made: Result<Manifest, _> = to_toml(table.as_any())?.try_into();
    let text = made.map_err(|e| Error::argument(format!("{name}: {e}"))).and_then(|manifest| manifest.to_text());
    // A manifest that is written can be read.
    text.and_then(|text| Manifest::parse(name, &text).map(|_| text)).map_err(|e| errors::to_py(py, e))
}

fn to_toml(object: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    if let Ok(table) = object.cast::<PyDict>() {
        let pairs = table.iter().map(|(key, value)| Ok((key.extract::<String>()?, to_toml(&value)?)));
        return Ok(toml::Value::Table(pairs.collect::<PyResult<_>>()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.map(|item| to_toml(&item?));
        return Ok(toml::Value::Array(items.collect::<PyResult<_>>()?));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(toml::Value::Boolean(object.extract()?));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(toml::Value::Float(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(toml::Value::String(object.extract()?));
    }
    Ok(toml::Value::Integer(object.extract()?))
}

fn from_toml<'py>(py: Python<'py>, value: &toml::Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        toml::Value::String(text) => text.into_pyobject(py)?.into_any(),
        toml::Value::Integer(v) => v.into_pyobject(py)?.into_any(),
        toml::Value::Float(v) => v.into_pyobject(py)?.into_any(),
        toml::Value::Boolean(v) => v.into_pyobject(py)?.to_owned().into_any(),
        toml::Value::Datetime(v) => v.to_string().into_pyobject(py)?.into_any(),
        toml::Value::Array(all) => {
            PyList::new(py, all.iter().map(|v| from_toml(py, v)).collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        toml::Value::Table(table) => {
            let dict = PyDict::new(py);
            for (key, value) in table {
                dict.set_item(key, from_toml(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// The kernels that a module of Neuron's shape functions names.
#[pyfunction]
pub fn neuron_kernels(py: Python<'_>, shape: &Module) -> PyResult<Vec<String>> {
    library::neuron_kernels(&shape.program).map_err(|e| errors::to_py(py, e))
}

/// Registers the operators of Neuron's shape functions, whose kernels are in `compute`; gives their qualified names.
#[pyfunction]
pub fn load_neuron(py: Python<'_>, shape: &Module, compute: &Module, cores: u32) -> PyResult<Vec<String>> {
    library::load_neuron(&shape.program, &compute.program, cores).map_err(|e| errors::to_py(py, e))
}

/// Runs a kernel for a descriptor of Gaudi's dialect: inputs with their roles and true if they may be written, types and extents of the
/// outputs, the bytes of the user's parameters. Gives a list of arrays.
#[pyfunction]
#[pyo3(signature = (module, kernel, inputs, outputs, params=None))]
pub fn tpc_execute<'py>(
    py: Python<'py>,
    module: &Module,
    kernel: &str,
    inputs: Vec<(Bound<'py, PyAny>, i64, bool)>,
    outputs: Vec<(String, Vec<i64>)>,
    params: Option<Vec<u8>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut given = Given::default();
    let mut values = Vec::with_capacity(inputs.len());
    for (i, (object, role, writable)) in inputs.iter().enumerate() {
        let value = given.value(object, &format_args!("input {i}"))?;
        let role = match role {
            0 => Role::Tensor,
            1 => Role::Scalar,
            _ => Role::UserParams,
        };
        values.push((if *writable { value } else { value.sealed() }, role));
    }
    let mut made = Vec::with_capacity(outputs.len());
    for (name, shape) in outputs {
        let Some(dtype) = DType::from_name(&name) else {
            return Err(argument(py, format!("`{name}` is no element type")));
        };
        made.push((dtype, shape));
    }
    let poll = Poll::new(true);
    let limits = Limits { interrupt: Some(&poll), ..Limits::default() };
    let result = gaudi::execute(&module.program, kernel, values, &made, params.as_deref(), limits);
    given.finish(py, result, poll)
}

/// The operators of TensorFlow's that a module registers: names, and the lines of their registrations.
#[pyfunction]
pub fn tf_operators(py: Python<'_>, module: &Module) -> PyResult<Vec<(String, Vec<String>)>> {
    let ops = gaudi::tensorflow_ops(&module.program).map_err(|e| errors::to_py(py, e))?;
    Ok(ops.into_iter().map(|op| (op.name, op.lines)).collect())
}

/// Calls an operator of TensorFlow's. Gives a list of arrays.
#[pyfunction]
pub fn tf_execute<'py>(
    py: Python<'py>,
    module: &Module,
    op: &str,
    inputs: Vec<(String, Bound<'py, PyAny>)>,
    attributes: Vec<(String, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut given = Given::default();
    let mut values = Vec::with_capacity(inputs.len());
    for (name, object) in &inputs {
        values.push(given.value(object, name)?);
    }
    let mut attrs = Vec::with_capacity(attributes.len());
    for (name, object) in &attributes {
        attrs.push((name.clone(), given.value(object, name)?));
    }
    let poll = Poll::new(true);
    let limits = Limits { interrupt: Some(&poll), ..Limits::default() };
    let result = gaudi::tensorflow_execute(&module.program, op, values, attrs, limits);
    given.finish(py, result, poll)
}

/// An operator of the dispatcher: `wb.ops.lab.muladd(a, b, 2.0)`; one of its overloads as an attribute: `.default`, `.Scalar`.
///
/// >>> import numpy as np, workbench as wb
/// >>> source = """
/// ... at::Tensor twice(const at::Tensor& x) { return x * 2; }
/// ... TORCH_LIBRARY(doc_lab, m) { m.def("twice(Tensor x) -> Tensor"); }
/// ... TORCH_LIBRARY_IMPL(doc_lab, CPU, m) { m.impl("twice", &twice); }
/// ... """
/// >>> _ = wb.load_inline("doc_lab", source, is_python_module=False)
/// >>> wb.ops.doc_lab.twice(np.array([1.5, 4.0], np.float32))
/// array([3., 8.], dtype=float32)
/// >>> wb.ops.doc_lab.twice.default
/// <op doc_lab::twice(Tensor x) -> Tensor>
#[pyclass(module = "workbench", name = "NativeLibraryOp", subclass, frozen)]
pub struct LibraryOp {
    name: String,
    overload: Option<String>,
    /// True if callables of Python's serve some of its calls.
    has_outside: AtomicBool,
}

impl LibraryOp {
    fn overloads(&self, py: Python<'_>) -> PyResult<Vec<Arc<Overload>>> {
        let all = library::overloads(&self.name);
        let mut all: Vec<_> = all.iter().flat_map(|packet| packet.iter().cloned()).collect();
        if let Some(wanted) = &self.overload {
            all.retain(|o| o.name() == wanted);
        }
        if all.is_empty() {
            return Err(argument(py, format!("there is no operator `{}` any more", self.name)));
        }
        Ok(all)
    }

    /// The schema of the chosen overload; of the first, if none is chosen.
    fn schema_of(&self, py: Python<'_>) -> PyResult<Schema> {
        let found = self.overloads(py)?.iter().find_map(|o| o.schema.clone());
        found.ok_or_else(|| argument(py, format!("`{}` has no schema", self.name)))
    }

    /// The overload that takes the arguments, the arguments bound to it, and true if CUDA's implementation is preferred.
    fn bind<'py>(
        &self,
        py: Python<'py>,
        given: &mut Given<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Arc<Overload>, Vec<Value>, bool)> {
        let overloads = self.overloads(py)?;
        let schemas = || overloads.iter().filter_map(|o| o.schema.as_ref());
        let is_argument = |name: &str| schemas().any(|s| s.args.iter().any(|a| a.name == name));
        let mut values = Vec::with_capacity(args.len());
        let first = schemas().next();
        for (i, object) in args.iter().enumerate() {
            let arg = first.and_then(|s| s.args.get(i));
            given.copies = arg.is_some_and(|a| !a.mutated);
            values.push(match arg {
                Some(arg) => given.value(&object, &arg.name)?,
                None => given.value(&object, &format_args!("argument {}", i + 1))?,
            });
        }
        let (mut named, mut prefer_cuda) = (Vec::new(), false);
        for (name, object) in kwargs.iter().flat_map(|k| k.iter()) {
            let name: String = name.extract()?;
            if name == "prefer" && !is_argument("prefer") {
                prefer_cuda = match object.extract::<String>().as_deref() {
                    Ok("cuda") => true,
                    Ok("cpu") => false,
                    _ => {
                        return Err(argument(
                            py,
                            format!("prefer is {}; it must be \"cpu\" or \"cuda\"", object.repr()?),
                        ));
                    }
                };
                continue;
            }
            given.copies = schemas().flat_map(|s| &s.args).any(|a| a.name == name && !a.mutated);
            let value = given.value(&object, &name)?;
            named.push((name, value));
        }
        let bound = library::resolve(&self.name, &overloads, &values, &named);
        let (overload, values) = bound.map_err(|e| errors::to_py(py, e))?;
        Ok((overload, values, prefer_cuda))
    }
}

#[pymethods]
impl LibraryOp {
    #[new]
    #[pyo3(signature = (name, overload=None))]
    fn new(name: String, overload: Option<String>) -> Self {
        LibraryOp { name, overload, has_outside: AtomicBool::new(false) }
    }

    /// The name with its namespace.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// The schema; one per line if there are several overloads.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<String> {
        let schemas: Vec<String> =
            self.overloads(py)?.iter().filter_map(|o| o.schema.as_ref().map(ToString::to_string)).collect();
        Ok(schemas.join("\n"))
    }

    /// The dispatch keys of the implementations, in the order of their registration; "" is for any device.
    #[getter]
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.overloads(py)?.iter().flat_map(|o| o.implementations.iter().map(|i| i.key.clone())).collect())
    }

    /// The module that `m.set_python_module` names, if any.
    #[getter]
    fn python_module(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.overloads(py)?.iter().find_map(|o| o.python_module.clone()))
    }

    /// Names of the overloads, as in `torch.ops`.
    ///
    /// >>> import workbench as wb
    /// >>> source = 'TORCH_LIBRARY(doc_names, m) { m.def("scale(Tensor x) -> Tensor"); m.def("scale.by(Tensor x, float s) -> Tensor"); }'
    /// >>> _ = wb.load_inline("doc_names", source, is_python_module=False)
    /// >>> wb.ops.doc_names.scale.overloads()
    /// ['default', 'by']
    #[pyo3(name = "overloads")]
    fn overload_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.overloads(py)?.iter().map(|o| o.name().to_owned()).collect())
    }

    /// One of the overloads.
    fn _overload(&self, py: Python<'_>, name: &str) -> PyResult<LibraryOp> {
        if self.overload.is_none() && self.overloads(py)?.iter().any(|o| o.name() == name) {
            return Ok(Self::new(self.name.clone(), Some(name.to_owned())));
        }
        Err(PyAttributeError::new_err(format!("the operator `{}` has no overload or attribute `{name}`", self.name)))
    }

    /// The number of arguments that may be passed by position.
    #[getter]
    fn _positional(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.schema_of(py)?.positional())
    }

    /// The names of the arguments, in order.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.schema_of(py)?.args.into_iter().map(|a| a.name))
    }

    /// The names of the arguments that it writes.
    #[getter]
    fn _writes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.schema_of(py)?.args.into_iter().filter(|a| a.mutated).map(|a| a.name).collect())
    }

    /// The position of the argument that each result is; None if it is fresh.
    #[getter]
    fn _results(&self, py: Python<'_>) -> PyResult<Vec<Option<usize>>> {
        let schema = self.schema_of(py)?;
        let source = |ret: &Return| schema.args.iter().position(|a| ret.alias.is_some() && a.alias == ret.alias);
        Ok(schema.returns.iter().map(source).collect())
    }

    /// Checks that the arguments of a call fit the schema; an ArgumentError if not.
    #[pyo3(signature = (*args, **kwargs))]
    fn _check_arguments<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        self.bind(py, &mut Given::objects(), args, kwargs).map(drop)
    }

    /// Every argument of a call in the schema's order, defaults included.
    #[pyo3(signature = (args, kwargs))]
    fn _arguments<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let schema = self.schema_of(py)?;
        let mut objects: Vec<Bound<'py, PyAny>> = Vec::with_capacity(schema.args.len());
        let wrong = |wrong| errors::to_py(py, library::misarranged(&schema, wrong));
        let put = |at: usize, object: Option<Bound<'py, PyAny>>| {
            let arg = &schema.args[at];
            if let Some(object) = object {
                objects.push(object);
                return Ok(());
            }
            objects.push(match (&arg.default, library::default_of(arg)) {
                (Some(schema::Default::Imaginary(v)), _) => PyComplex::from_doubles(py, 0.0, *v).into_any(),
                (_, Some(value)) => Given::default().object(py, &value)?,
                _ => return Err(wrong(Misarranged::Missing { at, unknown: None })),
            });
            Ok(())
        };
        arrange(&schema.args, schema.positional(), args.iter(), &mut Keywords(Some(kwargs)), put, wrong)?;
        PyTuple::new(py, objects)
    }

    /// Calls the operator: arguments by position or by name, as in its schema. `prefer="cuda"` runs the CUDA implementation even if there
    /// is one for the CPU.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let chosen = kwargs.is_some_and(|kwargs| kwargs.contains("prefer").unwrap_or(false));
        if !chosen && torch::has_tensor(args, kwargs) {
            let name = match &this.overload {
                Some(overload) => format!("{}.{overload}", this.name),
                None => this.name.clone(),
            };
            if let Some(result) = torch::through_torch(py, &name, args, kwargs)? {
                return Ok(result);
            }
        }
        if !chosen && this.has_outside.load(Ordering::Relaxed) {
            return slf.call_method("_elsewhere", args, kwargs);
        }
        this._direct(py, args, kwargs)
    }

    /// Sets if every call asks for a callable that serves it.
    fn _ask_outside(&self, asks: bool) {
        self.has_outside.store(asks, Ordering::Relaxed);
    }

    /// Calls the operator without torch's dispatcher, whatever the arguments are.
    #[pyo3(signature = (*args, **kwargs))]
    fn _direct<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut given = Given::default();
        let (overload, values, prefer_cuda) = self.bind(py, &mut given, args, kwargs)?;
        overload.implementation(prefer_cuda).map_err(PyNotImplementedError::new_err)?;
        let poll = Poll::new(true);
        let limits = Limits { interrupt: Some(&poll), ..Limits::default() };
        let result = overload.call(values, prefer_cuda, limits);
        given.finish(py, result, poll)
    }

    /// True if calls may have a gradient that is recorded as they run.
    #[getter]
    fn _has_gradient(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.overloads(py)?.iter().any(|overload| overload.has_gradient()))
    }

    /// Calls the operator and records its operations on the arrays for which `wants(array)` is true: its result and the `Recording`, which
    /// is None if it has no gradient.
    #[pyo3(signature = (wants, args, kwargs))]
    fn _record<'py>(
        &self,
        py: Python<'py>,
        wants: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Recording>)> {
        let mut given = Given::recorded();
        let (overload, values, prefer_cuda) = self.bind(py, &mut given, args, Some(kwargs))?;
        overload.implementation(prefer_cuda).map_err(PyNotImplementedError::new_err)?;
        let (flags, inputs) = recorded_gradients::wanted(py, &values, wants)?;
        let poll = Poll::new(true);
        let limits = Limits { interrupt: Some(&poll), ..Limits::default() };
        let (result, made) = match overload.record(values, &flags, prefer_cuda, limits) {
            Ok(((value, made), report)) => (Ok((value, report)), made),
            Err(error) => (Err(error), None),
        };
        let result = given.finish(py, result, poll)?;
        Ok((result, made.map(|made| Recording::new(made, inputs))))
    }

    /// The shapes and dtypes of the results, as `Spec`s, for arguments that are `Spec`s or arrays, whose values are not read: the
    /// implementation runs on tensors without data, and its launches are left out.
    #[pyo3(signature = (*args, **kwargs))]
    fn _derived<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut given = Given::shapes();
        let (overload, values, _) = self.bind(py, &mut given, args, kwargs)?;
        let poll = Poll::new(true);
        let found = overload.shapes(&values, Limits { interrupt: Some(&poll), ..Limits::default() });
        let value = found.map_err(|error| crate::kernel::failed(py, error, poll))?;
        given.object(py, &value)
    }

    /// The texts that define and implement it, each once, as modules.
    #[getter]
    fn _modules(&self, py: Python<'_>) -> PyResult<Vec<Module>> {
        let mut programs: Vec<Program> = Vec::new();
        for overload in self.overloads(py)? {
            let all = overload.definition.iter().chain(overload.implementations.iter().map(|i| &i.program));
            for program in all {
                if !programs.iter().any(|known| known.text() == program.text()) {
                    programs.push(program.clone());
                }
            }
        }
        Ok(programs.into_iter().map(|program| Module { program, timeout: None }).collect())
    }

    /// A hash that tells its texts from others.
    #[getter]
    fn _text_print(&self, py: Python<'_>) -> PyResult<String> {
        let mut hasher = DefaultHasher::new();
        for overload in self.overloads(py)? {
            for implementation in &overload.implementations {
                (&implementation.key, implementation.program.text()).hash(&mut hasher);
            }
        }
        Ok(format!("{:016x}", hasher.finish()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<op {}>", self.schema(py)?.replace('\n', ", ")))
    }
}
