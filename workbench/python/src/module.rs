//! Compiled texts as Python modules of kernels, and the cache that gives equal texts the same code.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString};
use workbench::ir::{FuncKind, Space};
use workbench::runtime::{CompileOptions, Error, OptionValue, Program, discard};

use crate::errors;
use crate::errors::argument;
use crate::gil;
use crate::host::ExtensionFunction;
use crate::interrupt::compiling;
use crate::kernel::{HostFunction, Kernel};
use crate::stale::Stale;
use crate::symbol::Symbol;
use crate::template::KernelTemplate;

/// The number of compiled texts that are kept; the one unused for longest goes first.
const CACHE_SIZE: usize = 64;

/// A compiled text: its kernels and host functions are attributes, `m["name"]` works as well.
#[pyclass(module = "workbench", frozen)]
pub struct Module {
    pub program: Program,
    /// Timeout in seconds, for launches that name none.
    pub timeout: Option<f64>,
}

impl Module {
    fn find<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(export) = crate::host::exports(py, &self.program)?.iter().find(|e| e.name == name) {
            if let Some(constant) = crate::host::constant(py, export)? {
                return Ok(Some(constant));
            }
            let others =
                crate::host::exports(py, &self.program)?.iter().filter(|e| e.name == name).skip(1).cloned().collect();
            let (program, export) = (self.program.clone(), export.clone());
            let function = ExtensionFunction {
                program,
                export,
                others,
                timeout: self.timeout,
                stale: Stale::default(),
                has_gradient: std::sync::OnceLock::new(),
            };
            return Ok(Some(Bound::new(py, function)?.into_any()));
        }
        // Overloads with tensors cannot be called without a registration.
        let callable =
            |f: &&workbench::ir::Function| f.name == name && matches!(f.kind, FuncKind::Kernel | FuncKind::Host);
        let Some(function) = self.program.module().functions.iter().find(callable) else {
            if self.program.template_names().iter().any(|template| template == name) {
                let (program, timeout) = (self.program.clone(), self.timeout);
                let template = KernelTemplate { program, name: name.to_owned(), timeout, stale: Stale::default() };
                return Ok(Some(Bound::new(py, template)?.into_any()));
            }
            if !name.contains('<') {
                return Ok(None);
            }
            // An instance of a template, compiled when it is first used.
            let kernel = match compiling(py, || self.program.kernel(name))? {
                Ok(kernel) => kernel,
                Err(Error::Argument(_)) => return Ok(None),
                Err(error) => return Err(errors::to_py(py, error)),
            };
            let kernel = Kernel { kernel, timeout: self.timeout, stale: Stale::default() };
            return Ok(Some(Bound::new(py, kernel)?.into_any()));
        };
        if function.kind == FuncKind::Kernel {
            let kernel = self.program.kernel(name).map_err(|e| errors::to_py(py, e))?;
            return Ok(Some(
                Bound::new(py, Kernel { kernel, timeout: self.timeout, stale: Stale::default() })?.into_any(),
            ));
        }
        if function.kind == FuncKind::Host {
            let (program, timeout) = (self.program.clone(), self.timeout);
            let function = HostFunction { program, name: name.to_owned(), timeout, stale: Stale::default() };
            return Ok(Some(Bound::new(py, function)?.into_any()));
        }
        Ok(None)
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.program.kernel_names();
        names.extend(gil::attach(|py| self.host_names(py)).unwrap_or_default());
        names
    }

    /// The host functions: those the text registers, or else all that can be called.
    fn host_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut names: Vec<String> = crate::host::exports(py, &self.program)?
            .iter()
            .map(|e| e.name.clone())
            .filter(|n| n != "__doc__")
            .collect();
        names.dedup();
        for name in self.program.host_functions() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn missing(&self, name: &str) -> String {
        let names: Vec<String> = self.names().iter().map(|n| format!("`{n}`")).collect();
        let have = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        if self.program.symbol_names().iter().any(|n| n == name) {
            return format!("`{name}` is a variable of the text: write m.symbol(\"{name}\"), then .get() or .set(...)");
        }
        if let Some(why) = self.program.left_out(name) {
            return why;
        }
        if let Some(why) = self.program.uncallable(name) {
            return why;
        }
        let near = workbench::front::nearest(name, self.names().iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("no kernel or host function `{name}`; the text has {have}{}{near}", self.program.template_hint())
    }
}

#[pymethods]
impl Module {
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.find(py, name)?.ok_or_else(|| PyAttributeError::new_err(self.missing(name)))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(name) = name.extract::<&str>() else {
            let what =
                format!("module[...] takes the name of a kernel or a host function, a str, got {}", name.repr()?);
            return Err(argument(py, what));
        };
        self.find(py, name)?.ok_or_else(|| PyKeyError::new_err(self.missing(name)))
    }

    fn __dir__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let names = slf.py().get_type::<Self>().dir()?;
        for name in slf.get().names().iter().chain(slf.get().program.template_names()) {
            names.append(name)?;
        }
        Ok(names)
    }

    /// The text of `m.doc() = "..."`, which describes the module; None where there is none.
    #[getter]
    fn doc(&self, py: Python<'_>) -> PyResult<Option<String>> {
        match crate::host::exports(py, &self.program)?.iter().find(|e| e.name == "__doc__") {
            Some(export) => crate::host::constant(py, export)?.map(|doc| doc.extract()).transpose(),
            None => Ok(None),
        }
    }

    /// Names of the kernels, in text order.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        self.program.kernel_names()
    }

    /// Names of the templates of kernels, in text order: each is an attribute whose launches deduce the instance.
    #[getter]
    fn templates(&self) -> Vec<String> {
        self.program.template_names().to_vec()
    }

    /// Names of the host functions, in text order.
    #[getter]
    fn host_functions(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.host_names(py)
    }

    /// Names of the `__constant__` and `__device__` variables, in text order.
    #[getter]
    fn symbols(&self) -> Vec<String> {
        self.program.symbol_names()
    }

    /// A `__constant__` or `__device__` variable by name, to read and to write between launches.
    ///
    /// Raises ArgumentError where there is none of that name, and on a GPU.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> m = wb.compile("__constant__ float w[2]; __global__ void k(float* y) { y[0] = w[0] + w[1]; }")
    /// >>> m.symbol("w").set(np.array([1, 2], np.float32))
    /// >>> y = np.zeros(1, np.float32); m.k[1, 1](y)
    /// >>> y, m.symbol("w").get()
    /// (array([3.], dtype=float32), array([1., 2.], dtype=float32))
    fn symbol(&self, py: Python<'_>, name: &str) -> PyResult<Symbol> {
        self.program.symbol(name).map(|symbol| Symbol { symbol }).map_err(|e| errors::to_py(py, e))
    }

    /// Names of the host functions that no other function of the text calls or takes the address of, in text order.
    #[getter]
    fn entry_points(&self) -> Vec<String> {
        let module = self.program.module();
        let mut called: HashSet<usize> = module.addressed.iter().map(|(id, _)| id.index()).collect();
        for function in &module.functions {
            function.body.for_each_stmt(&mut |stmt| called.extend(stmt.mentions().map(|id| id.index())));
        }
        let functions = self.program.module().functions.iter().enumerate();
        functions
            .filter(|(i, f)| f.kind == FuncKind::Host && !f.name.starts_with("__wb") && !called.contains(i))
            .map(|(_, f)| f.name.clone())
            .collect()
    }

    /// The text as given.
    #[getter]
    fn text(&self) -> &str {
        self.program.text()
    }

    /// The device it runs on: "cpu" or "cuda".
    #[getter]
    fn device(&self) -> &'static str {
        self.program.options().device.name()
    }

    /// Warnings of the compilation, as `Diagnostic` objects.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let list = errors::diagnostics(py, self.program.warnings(), self.program.sources())?;
        py.import("workbench.errors")?.call_method1("make_diagnostics", (list,))
    }

    /// The intermediate representation, as text.
    ///
    /// >>> import workbench as wb
    /// >>> "store" in wb.compile("__global__ void k(int* x) { *x = 1; }").ir()
    /// True
    fn ir(&self) -> String {
        self.program.ir()
    }

    /// The code that runs, as text: machine code of this CPU, or PTX.
    ///
    /// >>> import workbench as wb
    /// >>> len(wb.compile("__global__ void k(int* x) { *x = 1; }").asm()) > 0
    /// True
    fn asm(&self) -> String {
        self.program.asm()
    }

    /// The PTX of a text compiled with `device="cuda"`; ArgumentError for the CPU.
    ///
    /// >>> import workbench as wb
    /// >>> text = "__global__ void k(int* x) { *x = 1; }"
    /// >>> ".entry" in wb.compile(text, device="cuda").ptx()  # doctest: +SKIP
    /// True
    /// >>> wb.compile(text).ptx()
    /// Traceback (most recent call last):
    ///   ...
    /// workbench.errors.ArgumentError: ...
    fn ptx(&self, py: Python<'_>) -> PyResult<String> {
        self.program.ptx().map(str::to_owned).map_err(|e| errors::to_py(py, e))
    }

    /// The machine code for the GPU (an ELF file) of a text compiled with `device="cuda"`; ArgumentError for the CPU.
    ///
    /// >>> import workbench as wb
    /// >>> text = "__global__ void k(int* x) { *x = 1; }"
    /// >>> wb.compile(text, device="cuda").cubin()[:4]  # doctest: +SKIP
    /// b'\x7fELF'
    /// >>> wb.compile(text).cubin()
    /// Traceback (most recent call last):
    ///   ...
    /// workbench.errors.ArgumentError: ...
    fn cubin<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.program.cubin().map(|bytes| PyBytes::new(py, bytes)).map_err(|e| errors::to_py(py, e))
    }

    /// What the assembler for the GPU says besides errors and warnings: with `options=["--ptxas-options=-v"]` the registers, spills and
    /// shared memory of each kernel. Empty for the CPU, and for an architecture such as "compute_90", which has no machine code.
    ///
    /// >>> import workbench as wb
    /// >>> m = wb.compile("__global__ void k(int* x) { *x = 1; }", device="cuda", options=["--ptxas-options=-v"])  # doctest: +SKIP
    /// >>> "registers" in m.build_log  # doctest: +SKIP
    /// True
    #[getter]
    fn build_log(&self) -> &str {
        self.program.build_log()
    }

    /// The GPU architecture compiled for, such as "sm_90"; ArgumentError for the CPU.
    #[getter]
    fn arch(&self, py: Python<'_>) -> PyResult<String> {
        self.program.arch().map(str::to_owned).map_err(|e| errors::to_py(py, e))
    }

    /// The same code, with launches that fault after `seconds` unless they say otherwise (None: never).
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> m = wb.compile("__global__ void spin(volatile int* x) { while (*x == 0) { } }").with_timeout(0.05)
    /// >>> try:
    /// ...     m.spin[1, 1](np.zeros(1, np.int32))
    /// ... except wb.KernelTimeout:
    /// ...     print("stopped")
    /// stopped
    #[pyo3(signature = (seconds))]
    fn with_timeout(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<Module> {
        crate::kernel::seconds(py, seconds)?;
        Ok(Module { program: self.program.clone(), timeout: seconds })
    }

    fn __repr__(&self) -> String {
        let name = &self.program.options().name;
        let name = if name.is_empty() { "<kernel>" } else { name };
        let names = self.names();
        let names = if names.is_empty() { "empty".to_owned() } else { names.join(", ") };
        format!("<workbench module {name} on {}: {names}>", self.device())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = PyDict::new(py);
        for (name, value) in self.program.options().by_name() {
            state.set_item(name, option_object(py, value)?)?;
        }
        let rebuild = py.import("workbench._compile")?.getattr("rebuild")?;
        Ok((rebuild, (self.program.text(), state, self.timeout)).into_pyobject(py)?.into_any())
    }
}

/// An option's value as a Python object.
fn option_object(py: Python<'_>, value: OptionValue) -> PyResult<Bound<'_, PyAny>> {
    match value {
        OptionValue::Nothing => Ok(py.None().into_bound(py)),
        OptionValue::Flag(flag) => flag.into_bound_py_any(py),
        OptionValue::Text(text) | OptionValue::Other(text) => text.into_bound_py_any(py),
        OptionValue::Texts(texts) => texts.into_bound_py_any(py),
        OptionValue::Pairs(pairs) => pairs.into_bound_py_any(py),
        OptionValue::Table(table) => table.into_bound_py_any(py),
    }
}

/// An option's value from a Python object.
fn option_value(object: &Bound<'_, PyAny>) -> PyResult<OptionValue> {
    if object.is_none() {
        return Ok(OptionValue::Nothing);
    }
    // Types by a look each: a conversion that fails costs more than the rest of a call whose text is known.
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(OptionValue::Text(text.extract()?));
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(OptionValue::Flag(flag.is_true()));
    }
    if object.is_instance_of::<PyDict>()
        && let Ok(table) = object.extract()
    {
        return Ok(OptionValue::Table(table));
    }
    if let Ok(texts) = object.extract() {
        return Ok(OptionValue::Texts(texts));
    }
    if let Ok(pairs) = object.extract() {
        return Ok(OptionValue::Pairs(pairs));
    }
    // NumPy's truth values.
    if let Ok(flag) = object.extract() {
        return Ok(OptionValue::Flag(flag));
    }
    Ok(OptionValue::Other(object.repr()?.to_string()))
}

/// Everything that a compilation depends on: the text and the options.
type Key = (String, CompileOptions);

/// Compiled texts with the time they were last used.
#[derive(Default)]
struct Cache {
    entries: HashMap<Key, (u64, Program)>,
    clock: u64,
}

impl Cache {
    fn get(&mut self, key: &Key) -> Option<Program> {
        self.clock += 1;
        let (used, program) = self.entries.get_mut(key)?;
        *used = self.clock;
        Some(program.clone())
    }

    /// Adds a program; gives the one that had to make room.
    fn insert(&mut self, key: Key, program: Program) -> Option<Program> {
        let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used).map(|(k, _)| k.clone());
        let oldest = oldest.filter(|_| self.entries.len() >= CACHE_SIZE);
        let dropped = oldest.and_then(|oldest| self.entries.remove(&oldest)).map(|(_, program)| program);
        self.clock += 1;
        self.entries.insert(key, (self.clock, program));
        dropped
    }
}

static CACHE: Mutex<Option<Cache>> = Mutex::new(None);

fn with_cache<R>(f: impl FnOnce(&mut Cache) -> R) -> R {
    f(CACHE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Compiles a text; `workbench.compile` is the public function. Options are those of [`CompileOptions::set`].
#[pyfunction]
#[pyo3(signature = (source, *, timeout=None, **options))]
pub fn compile_source(
    py: Python<'_>,
    source: String,
    timeout: Option<f64>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Module> {
    let limit = crate::kernel::seconds(py, timeout)?;
    let mut compile = CompileOptions::default();
    for (name, value) in options.into_iter().flatten() {
        let name: String = name.extract()?;
        compile.set(&name, option_value(&value)?).map_err(|e| errors::to_py(py, e))?;
    }
    let key = (source, compile);
    if let Some(program) = with_cache(|c| c.get(&key)) {
        crate::library::adopt(py, &program, limit)?;
        return Ok(Module { program, timeout });
    }
    let program = compiling(py, || Program::compile(&key.0, &key.1))?.map_err(|e| errors::to_py(py, e))?;
    // Variables start with their initial values in every compilation, so a text that has any is not cached.
    if program.module().globals.iter().all(|g| g.space == Space::ReadOnly)
        && let Some(dropped) = with_cache(|c| c.insert(key, program.clone()))
    {
        discard(dropped);
    }
    crate::library::adopt(py, &program, limit)?;
    Ok(Module { program, timeout })
}
