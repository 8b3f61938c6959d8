//! Kernels: `m.saxpy[grid, block](...)` and `m.saxpy.launch(...)`.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use workbench::back::Dim3;
use workbench::plural::plural;
use workbench::runtime::host::Limits;
use workbench::runtime::{self, Device, LaunchConfig};

use crate::args;
use crate::errors::{self, argument};
use crate::interrupt::Poll;
use crate::module::Module;
use crate::on_gpu::{HOST_STREAM, Stream};
use crate::output;
use crate::stale::Stale;
use crate::tier::TierReport;

/// A launch of fewer threads keeps the GIL: it usually ends sooner than a release and a lock would take, and if it does not, [`Poll`] lets
/// other threads run.
const KEEP_GIL_BELOW: u64 = 4096;

/// A kernel of a compiled text.
#[pyclass(module = "workbench", frozen)]
pub struct Kernel {
    pub kernel: runtime::Kernel,
    /// Timeout in seconds, for launches that name none.
    pub timeout: Option<f64>,
    /// The warning that the next call gives once.
    pub stale: Stale,
}

/// A kernel with its grid and block chosen; call it with the kernel's arguments.
#[pyclass(module = "workbench", frozen)]
pub struct Launcher {
    kernel: Py<Kernel>,
    shape: Shape,
}

/// Extents of a launch, its dynamic shared memory and its stream.
pub struct Shape {
    grid: Dim3,
    block: Dim3,
    shared_mem: u32,
    stream: Option<Stream>,
}

#[pymethods]
impl Kernel {
    /// The kernel's name.
    #[getter]
    fn name(&self) -> &str {
        self.kernel.name()
    }

    /// The parameters' names, in order.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.kernel.params().iter().map(|p| p.name.as_str()))
    }

    /// The threads of a block where nothing says how many.
    fn _default_block(&self) -> u32 {
        self.kernel.default_block()
    }

    /// The declaration as C++ writes it.
    #[getter]
    fn signature(&self) -> String {
        self.kernel.signature()
    }

    /// The text the kernel was compiled from.
    #[getter]
    fn text(&self) -> &str {
        self.kernel.program().text()
    }

    /// The machine code that the last launch on the CPU ran: `"soon"`, `"good"`, `"lanes"`, `"wide"`, or `"fibers"` where its threads wait for one
    /// another (see `set_tier`); `None` before the first one, and on a GPU. `workbench.set_tier` chooses.
    #[getter]
    fn tier(&self) -> Option<&'static str> {
        self.kernel.tier()
    }

    /// The IR of the kernel and of the functions that it calls, as text.
    ///
    /// >>> import workbench as wb
    /// >>> one = wb.compile("__global__ void one(float* y) { y[threadIdx.x] = 1; }").one
    /// >>> print(one.ir())  # doctest: +ELLIPSIS
    /// kernel f0 one(y: ptr f32) contracts {
    /// ...
    fn ir(&self) -> String {
        self.kernel.ir()
    }

    /// The machine code of the kernel for this CPU, as text: the good tier's, which runs one thread.
    ///
    /// Raises `ArgumentError` for a kernel of a GPU, whose code is its module's `ptx()`.
    ///
    /// >>> import workbench as wb
    /// >>> wb.compile("__global__ void one(float* y) { y[threadIdx.x] = 1; }").one.asm().splitlines()[0]
    /// '; one'
    fn asm(&self, py: Python<'_>) -> PyResult<String> {
        let made = py.detach(|| self.kernel.asm());
        made.map_err(|why| argument(py, format!("`{}` has no machine code here: {why}", self.kernel.name())))
    }

    /// The C that the wide tier compiles for blocks of these extents: the code of each statement, for 16 threads at a time.
    ///
    /// Raises `ArgumentError` where there is none, with the reason.
    ///
    /// >>> import workbench as wb
    /// >>> one = wb.compile("__global__ void one(float* y) { y[threadIdx.x] = 1; }").one
    /// >>> "st_f32(" in one.c_source(64)  # doctest: +SKIP
    /// True
    fn c_source(&self, py: Python<'_>, block: &Bound<'_, PyAny>) -> PyResult<String> {
        let name = self.kernel.name();
        let block = dim3(name, "block", block)?;
        self.kernel.c_source(block).map_err(|why| argument(py, format!("`{name}` has no wide code: {why}")))
    }

    /// The machine code on the CPU for blocks of these extents, tier by tier: the code there is, what makes the rest, the reason why there
    /// is none faster, and the loops that run in the processor's widest registers. Lanes are made for the report, which takes some
    /// milliseconds.
    ///
    /// Raises `ArgumentError` for a kernel of a GPU, and for a block that CUDA does not have.
    ///
    /// >>> import workbench as wb
    /// >>> one = wb.compile("__global__ void one(float* y) { y[threadIdx.x] = 1; }").one
    /// >>> print(one.tier_report(64))  # doctest: +ELLIPSIS
    /// one in blocks of 64 x 1 x 1; it has not been launched
    ///   soon ...
    fn tier_report(&self, py: Python<'_>, block: &Bound<'_, PyAny>) -> PyResult<TierReport> {
        let name = self.kernel.name();
        let block = dim3(name, "block", block)?;
        let report = py.detach(|| self.kernel.tier_report(block));
        report.map(TierReport).map_err(|why| argument(py, format!("`{name}` has no tier report: {why}")))
    }

    /// The module the kernel belongs to.
    #[getter]
    fn module(&self) -> Module {
        Module { program: self.kernel.program().clone(), timeout: self.timeout }
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.kernel.name()
    }

    #[getter]
    fn __text_signature__(&self) -> String {
        let names: Vec<&str> = self.kernel.params().iter().map(|p| p.name.as_str()).collect();
        format!("({})", names.join(", "))
    }

    fn __getitem__(slf: Py<Self>, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Launcher> {
        let shape = Shape::of_index(py, slf.get().kernel.name(), slf.get().device(), index)?;
        Ok(Launcher { kernel: slf, shape })
    }

    /// Runs the kernel and waits for it; on arrays that lie on a GPU (torch's, CuPy's, any with `__cuda_array_interface__`) it is queued.
    ///
    /// `grid` and `block` are ints or up to three of them; `args` holds one value per parameter: arrays whose dtype is
    /// the pointer's, scalars, or None for a null pointer. Arrays for pointers that are not const are written in place.
    /// `timeout` is in seconds, and a launch that has one is waited for.
    ///
    /// A kernel compiled for "cuda" takes arrays of one GPU by their addresses, without copies. `stream` is a handle or a stream of torch's
    /// or CuPy's; None is the one that the arrays' library uses now. The arrays must live until the kernel has run, as arrays of torch's
    /// and CuPy's do that are used on that stream; `synchronize` waits, and raises errors. Host arrays take no stream.
    ///
    /// Raises ArgumentError, KernelFault, KernelTimeout or KeyboardInterrupt.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> m = wb.compile("__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }")
    /// >>> x = np.zeros(4, np.int32)
    /// >>> m.fill.launch(1, 4, (x,), timeout=5.0)
    /// >>> x
    /// array([0, 1, 2, 3], dtype=int32)
    #[pyo3(signature = (grid, block, args, shared_mem=0, stream=None, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "the published signature")]
    fn launch(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyAny>,
        shared_mem: i64,
        stream: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let shape = Shape::of_parts(py, self.kernel.name(), self.device(), (grid, block), shared_mem, stream)?;
        let args = py.get_type::<PyTuple>().call1((args,))?.cast_into::<PyTuple>()?;
        self.run(py, &shape, &args, timeout.or(self.timeout))
    }

    fn _mark_stale(&self, why: String) {
        self.stale.mark(why);
    }

    #[pyo3(signature = (*_args, **_named))]
    fn __call__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let name = self.kernel.name();
        Err(argument(
            py,
            format!("`{name}` is a kernel: choose a grid and a block first, as in {name}[grid, block](...)"),
        ))
    }

    fn __repr__(&self) -> String {
        format!("<kernel {}>", self.kernel.signature())
    }

    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = Bound::new(py, slf.get().module())?;
        let getter = py.import("operator")?.getattr("getitem")?;
        Ok((getter, (module, slf.get().kernel.name())).into_pyobject(py)?.into_any())
    }
}

impl Kernel {
    /// The device it is compiled for.
    fn device(&self) -> Device {
        self.kernel.program().options().device
    }

    /// A launch of these extents; waits for it, unless its arrays lie on a GPU.
    pub fn run(&self, py: Python<'_>, shape: &Shape, given: &Bound<'_, PyTuple>, timeout: Option<f64>) -> PyResult<()> {
        self.stale.warn(py)?;
        let bundle = args::bind(py, self.kernel.name(), self.kernel.params(), self.device(), given.iter())?;
        let held = bundle.queue(py, shape.stream.as_ref())?;
        let threads = shape.grid.count().saturating_mul(shape.block.count());
        let on_cpu = self.device() == Device::Cpu;
        let small = on_cpu && threads < KEEP_GIL_BELOW && timeout.is_none();
        let poll = Poll::new(small);
        let reach = bundle.reach();
        let mut config = LaunchConfig { reach: &reach, ..LaunchConfig::new(shape.grid, shape.block) };
        config.shared_mem = shape.shared_mem.into();
        config.timeout = seconds(py, timeout)?;
        config.interrupt = Some(&poll);
        config.queue = held.as_ref().map(|held| held.queue());
        let result = if small {
            self.kernel.launch_raw(&config, &bundle.args)
        } else {
            let lent = LentArgs(&bundle.args);
            let kernel = &self.kernel;
            py.detach(|| kernel.launch_raw(&config, lent.get()))
        };
        drop(bundle);
        finish(py, result, poll)
    }
}

/// Arguments that pass the release of the GIL: the arrays they point into are kept alive by the caller.
pub struct LentArgs<'a>(pub &'a [runtime::Arg]);

// SAFETY: `Arg` holds plain addresses and numbers; their memory outlives the launch, which blocks the lender.
unsafe impl Send for LentArgs<'_> {}
// SAFETY: as above.
unsafe impl Sync for LentArgs<'_> {}

impl<'a> LentArgs<'a> {
    /// The arguments.
    pub fn get(&self) -> &'a [runtime::Arg] {
        self.0
    }
}

/// Shows the output of a launch, and raises its error.
pub fn finish(py: Python<'_>, result: runtime::Result<runtime::Report>, poll: Poll) -> PyResult<()> {
    match result {
        Ok(report) => output::write(py, &report.output, report.dropped),
        Err(error) => Err(failed(py, error, poll)),
    }
}

/// Shows the output of a launch that failed; gives the exception to raise.
pub fn failed(py: Python<'_>, error: runtime::Error, poll: Poll) -> PyErr {
    if let runtime::Error::Fault(fault) = &error
        && let Err(err) =
            output::write(py, &fault.output, fault.dropped).and_then(|()| output::warn(py, &fault.warnings))
    {
        return err;
    }
    poll.into_raised().unwrap_or_else(|| errors::to_py(py, error))
}

/// A timeout in seconds, checked.
pub fn seconds(py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(value) = timeout else { return Ok(None) };
    if value.is_nan() || value <= 0.0 {
        return Err(argument(py, format!("timeout is {value} s; it must be more than 0")));
    }
    // A timeout too long for a Duration never passes.
    Ok(Duration::try_from_secs_f64(value).ok())
}

#[pymethods]
impl Launcher {
    /// Runs the kernel with these arguments and waits for it, or queues it on arrays that lie on a GPU.
    #[pyo3(signature = (*args, **named))]
    fn __call__(&self, py: Python<'_>, args: &Bound<'_, PyTuple>, named: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let kernel = self.kernel.get();
        refuse_named(py, kernel.kernel.name(), named)?;
        kernel.run(py, &self.shape, args, kernel.timeout)
    }

    /// The kernel.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> Py<Kernel> {
        self.kernel.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!("<launch of {} {}>", self.kernel.get().kernel.name(), self.shape)
    }
}

/// The error for arguments by name in `k[grid, block](...)`, which takes one value a parameter, by position.
pub fn refuse_named(py: Python<'_>, name: &str, named: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(key) = named.and_then(|named| named.keys().iter().next()) else { return Ok(()) };
    let key: String = key.extract()?;
    let right = match key.as_str() {
        "timeout" | "stream" | "shared_mem" => format!("{name}.launch(grid, block, (...), {key}=...)"),
        _ => format!("{name}[grid, block, shared_mem, stream](...), or {name}.launch(grid, block, (...), timeout=...)"),
    };
    let message = format!("`{name}[grid, block](...)` takes one value a parameter, by position, and no `{key}=`");
    Err(argument(py, format!("{message}; options of a launch are given as in {right}")))
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "on grid {} x block {}", self.grid, self.block)
    }
}

impl Shape {
    /// `[grid, block]`, `[grid, block, shared]` or `[grid, block, shared, stream]`.
    pub fn of_index(py: Python<'_>, name: &str, device: Device, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(parts) = index.cast::<PyTuple>() else {
            return Err(argument(py, format!("`{name}[...]` wants grid and block, as in {name}[grid, block]")));
        };
        if !(2..=4).contains(&parts.len()) {
            return Err(argument(
                py,
                format!("`{name}[...]` wants grid, block, shared bytes and stream, got {} of them", parts.len()),
            ));
        }
        let shared_mem = match parts.get_item(2) {
            Ok(bytes) => match bytes.extract::<i64>() {
                Ok(bytes) => shared(py, name, bytes)?,
                Err(_) => return Err(argument(py, format!("`{name}`: shared memory is a number of bytes"))),
            },
            Err(_) => 0,
        };
        Ok(Shape {
            grid: dim3(name, "grid", &parts.get_item(0)?)?,
            block: dim3(name, "block", &parts.get_item(1)?)?,
            shared_mem,
            stream: stream_of(device, parts.get_item(3).ok().as_ref())?,
        })
    }

    /// The shape made of the arguments of `launch`.
    pub fn of_parts(
        py: Python<'_>,
        name: &str,
        device: Device,
        (grid, block): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        shared_mem: i64,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Shape {
            stream: stream_of(device, stream)?,
            grid: dim3(name, "grid", grid)?,
            block: dim3(name, "block", block)?,
            shared_mem: shared(py, name, shared_mem)?,
        })
    }
}

fn shared(py: Python<'_>, name: &str, bytes: i64) -> PyResult<u32> {
    u32::try_from(bytes).map_err(|_| argument(py, format!("`{name}`: {bytes} bytes of shared memory are out of range")))
}

/// The stream of a launch. The CPU has none.
fn stream_of(device: Device, stream: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Stream>> {
    match (stream.filter(|s| !s.is_none()), device) {
        (None, _) => Ok(None),
        (Some(stream), Device::Cpu) => Err(argument(stream.py(), HOST_STREAM)),
        (Some(stream), Device::Cuda) => Stream::of(stream).map(Some),
    }
}

/// Extents from an int or up to three.
fn dim3(name: &str, what: &str, object: &Bound<'_, PyAny>) -> PyResult<Dim3> {
    let py = object.py();
    let one = |object: &Bound<'_, PyAny>| -> PyResult<u32> {
        let value = match args::integer(object) {
            Some(value) => value?,
            None => {
                return Err(argument(
                    py,
                    format!("`{name}`: {what} is an int or a tuple of up to three, got {}", object.repr()?),
                ));
            }
        };
        match value.map(u32::try_from) {
            Some(Ok(value)) if value > 0 => Ok(value),
            _ => {
                let message = format!("`{name}`: {what} {} is out of range", object.repr()?);
                Err(argument(py, format!("{message}; extents are 1 or more, and {} at most", i32::MAX)))
            }
        }
    };
    let sequence: Vec<Bound<'_, PyAny>> = if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple.iter().collect()
    } else if let Ok(list) = object.cast::<pyo3::types::PyList>() {
        list.iter().collect()
    } else {
        return Ok(Dim3::new(one(object)?, 1, 1));
    };
    if sequence.is_empty() || sequence.len() > 3 {
        let text = match sequence.len() {
            0 => format!("`{name}`: {what} has no extents; give an int or up to three of them"),
            many => format!("`{name}`: {what} has at most three extents, x, y and z; got {many} of them"),
        };
        return Err(argument(py, text));
    }
    let mut extents = [1u32; 3];
    for (extent, object) in extents.iter_mut().zip(&sequence) {
        *extent = one(object)?;
    }
    Ok(Dim3::new(extents[0], extents[1], extents[2]))
}

/// A host function of scalars; call it like any function.
#[pyclass(module = "workbench", frozen)]
pub struct HostFunction {
    pub program: runtime::Program,
    pub name: String,
    /// Seconds after which a call ends.
    pub timeout: Option<f64>,
    /// The warning that the next call gives once.
    pub stale: Stale,
}

#[pymethods]
impl HostFunction {
    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// The declaration as C++ writes it, the result left out.
    #[getter]
    fn signature(&self, py: Python<'_>) -> PyResult<String> {
        let params = self.program.host_params(&self.name).map_err(|e| errors::to_py(py, e))?;
        let ret = self.program.module().functions.iter().find(|f| f.name == self.name).and_then(|f| f.ret);
        let ret = ret.and_then(workbench::ir::Type::scalar).map(workbench::ir::Scalar::c_name);
        Ok(args::signature(ret, &self.name, params))
    }

    /// The parameters' names, in order.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let params = self.program.host_params(&self.name).map_err(|e| errors::to_py(py, e))?;
        PyTuple::new(py, params.iter().map(|p| p.name.as_str()))
    }

    #[getter]
    fn __text_signature__(&self, py: Python<'_>) -> PyResult<String> {
        let params = self.program.host_params(&self.name).map_err(|e| errors::to_py(py, e))?;
        let names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
        Ok(format!("({})", names.join(", ")))
    }

    /// Calls the function with Python scalars; its result is a Python scalar, or None for void.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.stale.warn(py)?;
        let params = self.program.host_params(&self.name).map_err(|e| errors::to_py(py, e))?;
        let mut given: Vec<Bound<'py, PyAny>> = args.iter().collect();
        let mut left = kwargs.map_or(0, |k| k.len());
        for param in params.iter().skip(given.len()) {
            let Some(value) = kwargs.map(|k| k.get_item(&param.name)).transpose()?.flatten() else { break };
            given.push(value);
            left -= 1;
        }
        if left > 0 || given.len() != params.len() {
            let text = args::signature(None, &self.name, params);
            let wanted = plural(params.len(), "argument");
            return Err(argument(py, format!("`{}` takes {wanted}: `{text}`", self.name)));
        }
        let mut consts = Vec::with_capacity(given.len());
        for (param, object) in params.iter().zip(&given) {
            let workbench::ir::ParamType::Scalar(ty) = param.ty else {
                return Err(argument(
                    py,
                    format!("`{}`: a host function of pointers cannot be called from Python", self.name),
                ));
            };
            consts.push(args::scalar(object, ty, &param.name)?);
        }
        let timeout = seconds(py, self.timeout)?;
        let poll = Poll::new(true);
        let deadline = timeout.map(|t| std::time::Instant::now() + t);
        let limits = Limits { interrupt: Some(&poll), deadline, ..Limits::default() };
        match self.program.call_host(&self.name, &consts, limits) {
            Ok((value, report)) => {
                output::write(py, &report.output, report.dropped)?;
                value.map_or_else(|| Ok(py.None().into_bound(py)), |v| args::to_python(py, v))
            }
            Err(error) => Err(failed(py, error, poll)),
        }
    }

    fn _mark_stale(&self, why: String) {
        self.stale.mark(why);
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<host function {}>", self.signature(py)?))
    }

    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = Bound::new(py, Module { program: slf.get().program.clone(), timeout: slf.get().timeout })?;
        let getter = py.import("operator")?.getattr("getitem")?;
        Ok((getter, (module, slf.get().name.as_str())).into_pyobject(py)?.into_any())
    }
}
