//! Operators: the call path (arguments by the schema, outputs allocated, one launch) and their definition.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use workbench::ir::ParamType;
use workbench::ops::schema::{Argument, Return, Schema};
use workbench::ops::shape::{Expr, Extents, Operator};
use workbench::ops::{self, ArgValue, Definition, OpOptions, Plan, RunConfig, ShapeFn, ShapeRule, SourceCode, Spec};
use workbench::runtime::arrange::arrange;
use workbench::runtime::{DType, Device, Error, Queue, Report};

use crate::args::{self, Keep};
use crate::bench::BenchReport;
use crate::check::CheckReport;
use crate::dlpack;
use crate::errors::{self, argument};
use crate::gil;
use crate::history::NativeHistory;
use crate::interrupt::Poll;
use crate::kernel::{Kernel, failed, seconds};
use crate::keywords::Keywords;
use crate::module::Module;
use crate::ndarray;
use crate::on_gpu;
use crate::output;
use crate::stale::Stale;
use crate::torch;
use crate::values::{self, carried};

/// A call that makes fewer elements than this keeps the GIL, as small launches do.
const KEEP_GIL_BELOW: i64 = 4096;

thread_local! {
    /// The arguments of the running calls, innermost last, for shape callables.
    static CALLS: RefCell<Vec<Py<PyTuple>>> = const { RefCell::new(Vec::new()) };
}

/// The native half of `workbench.Op`.
#[pyclass(module = "workbench", subclass, frozen)]
pub struct NativeOp {
    op: ops::Op,
    /// The class of a namedtuple for several named outputs.
    result_type: Mutex<Option<Py<PyAny>>>,
    stale: Stale,
    /// True if callables of Python's serve some of its calls.
    has_outside: AtomicBool,
}

/// Text, macros, CUDA's launcher, the CPU's, the reason why there is none, the fake kernel.
type LauncherParts = (String, Vec<(String, String)>, String, String, Option<String>, String);

/// Objects of a call in the schema's order.
type Objects<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

#[pymethods]
impl NativeOp {
    #[new]
    #[pyo3(signature = (schema, module, kernel, shape, threads, block, grid, shared_mem, result_type, version=None, registered=true))]
    #[expect(clippy::too_many_arguments, reason = "one call from one place in Python")]
    fn new(
        py: Python<'_>,
        schema: &str,
        module: &Module,
        kernel: Option<String>,
        shape: Option<&Bound<'_, PyAny>>,
        threads: Option<String>,
        block: Option<[u32; 3]>,
        grid: Option<String>,
        shared_mem: Option<String>,
        result_type: Option<Py<PyAny>>,
        version: Option<(PyRef<'_, NativeOp>, u32)>,
        registered: bool,
    ) -> PyResult<Self> {
        let op = match version {
            Some((of, number)) => of.op.version(number).map_err(|e| errors::to_py(py, e))?,
            None => {
                let options = definition(py, module, kernel, shape, threads, block, (grid, shared_mem))?;
                let made = if registered { ops::Op::define } else { ops::Op::unregistered };
                made(schema, options).map_err(|e| errors::to_py(py, e))?
            }
        };
        let made = NativeOp {
            op,
            result_type: Mutex::new(None),
            stale: Stale::default(),
            has_outside: AtomicBool::new(false),
        };
        made.set(result_type);
        Ok(made)
    }

    /// Redefines the name.
    #[pyo3(signature = (schema, module, kernel, shape, threads, block, grid, shared_mem, result_type))]
    #[expect(clippy::too_many_arguments, reason = "one call from one place in Python")]
    fn _redefine(
        &self,
        py: Python<'_>,
        schema: &str,
        module: &Module,
        kernel: Option<String>,
        shape: Option<&Bound<'_, PyAny>>,
        threads: Option<String>,
        block: Option<[u32; 3]>,
        grid: Option<String>,
        shared_mem: Option<String>,
        result_type: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let options = definition(py, module, kernel, shape, threads, block, (grid, shared_mem))?;
        ops::Op::define(schema, options).map_err(|e| errors::to_py(py, e))?;
        self.set(result_type);
        self.has_outside.store(false, Ordering::Relaxed);
        self.stale.clear();
        Ok(())
    }

    /// The name of the kernel or of the template of its text; None for a closure.
    fn _kernel_name(&self) -> Option<String> {
        self.op.kernel_name()
    }

    /// The threads of a block of its launches.
    fn _block(&self) -> [u32; 3] {
        self.op.block()
    }

    /// Its launch in words.
    fn _launch_text(&self) -> String {
        self.op.launch_text()
    }

    /// Its versions.
    fn _history(&self) -> NativeHistory {
        NativeHistory(self.op.history())
    }

    /// The number of the version that it is.
    #[getter]
    fn _number(&self) -> u32 {
        self.op.version_number()
    }

    /// Says that the newest version restores another one.
    fn _note_restored(&self, number: u32) {
        self.op.note_restored(number);
    }

    /// Notes the outcome of a check.
    fn _note_check(&self, number: u32, report: &CheckReport) {
        self.op.note_check(number, report.0.note());
    }

    /// Notes the times of a benchmark's contestant, which it is.
    fn _note_times(&self, number: u32, report: &BenchReport, contestant: &str) {
        report.0.note_in(&self.op, number, contestant);
    }

    /// Its qualified name, `ns::name`.
    #[getter]
    fn name(&self) -> &str {
        self.op.name()
    }

    /// Its schema, in torch's grammar.
    #[getter]
    fn schema(&self) -> String {
        self.op.definition().schema.to_string()
    }

    /// The source of each kernel parameter, as a table.
    #[getter]
    fn binding(&self) -> String {
        self.op.binding()
    }

    /// The parts that `export` needs: the text and its macros, the launchers for CUDA and for the CPU or the reason why there is none, the
    /// fake kernel. `known`: the names of CUDA's that the CPU half has.
    fn _launcher(&self, py: Python<'_>, known: HashSet<String>) -> PyResult<LauncherParts> {
        let made = self.op.launcher(&|name| known.contains(name)).map_err(|e| errors::to_py(py, e))?;
        let (cpu, why) = match made.cpu {
            Ok(cpu) => (cpu, None),
            Err(why) => (String::new(), Some(why)),
        };
        Ok((made.text, made.defines, made.cuda, cpu, why, made.fake))
    }

    /// The number of arguments that may be passed by position.
    #[getter]
    fn _positional(&self) -> usize {
        self.op.definition().schema.args.iter().filter(|a| !a.keyword_only).count()
    }

    /// The names of the arguments, in order.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.op.definition().schema.args.iter().map(|a| a.name.clone()))
    }

    /// The type of each argument, and for an array the dtype that the first kernel takes.
    #[getter]
    fn _kinds(&self) -> Vec<(String, Option<&'static str>)> {
        let definition = self.op.definition();
        let kernels = self.op.kernels();
        let dtype = |name: &str| {
            let param = kernels.first()?.params().iter().find(|p| p.name == name)?;
            match param.ty {
                ParamType::Ptr { elem: Some(elem), .. } => Some(DType::from(elem).name()),
                _ => Some("float32"),
            }
        };
        let one = |a: &Argument| (a.kind.to_string(), if a.is_tensor() { dtype(&a.name) } else { None });
        definition.schema.args.iter().map(one).collect()
    }

    /// Calls the operator.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if let Some(kwargs) = kwargs
            && let Some((device, rest)) = this.device_of(kwargs)?
        {
            let made = this.by_kernel(py, args, Some(&rest), Some(device))?;
            return made.ok_or_else(|| argument(py, format!("`{}`: a callable serves this call", this.op.name())));
        }
        // torch knows the name alone, which means another version.
        if !this.op.is_version()
            && torch::has_tensor(args, kwargs)
            && let Some(result) = torch::through_torch(py, this.op.name(), args, kwargs)?
        {
            this.stale.warn(py)?;
            return Ok(result);
        }
        if this.has_outside.load(Ordering::Relaxed) {
            return slf.call_method("_elsewhere", args, kwargs);
        }
        match this.by_kernel(py, args, kwargs, None)? {
            Some(result) => Ok(result),
            // A thread has registered a callable since.
            None => slf.call_method("_elsewhere", args, kwargs),
        }
    }

    /// Calls a kernel; `NotImplemented` if a callable serves the call by now.
    #[pyo3(signature = (*args, **kwargs))]
    fn _by_kernel<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.by_kernel(py, args, kwargs, None)?.unwrap_or_else(|| py.NotImplemented().into_bound(py)))
    }

    /// Sets if every call asks for a callable that serves it.
    fn _ask_outside(&self, asks: bool) {
        self.has_outside.store(asks, Ordering::Relaxed);
    }

    /// Makes a callable, by its number, serve calls whose first array is of one of these types, or all calls.
    fn _register_outside(&self, py: Python<'_>, dtypes: Option<Vec<String>>, number: usize) -> PyResult<()> {
        let known = |name: String| {
            DType::from_name(&name).ok_or_else(|| argument(py, format!("`{name}` is no element type (float32, ...)")))
        };
        let dtypes = dtypes.map(|all| all.into_iter().map(known).collect::<PyResult<Vec<_>>>()).transpose()?;
        self.op.register_outside(dtypes, number);
        Ok(())
    }

    /// The number of the callable that serves a call, for arguments in the form of `_output_dtypes`; None if a kernel does.
    fn _outside_of(&self, py: Python<'_>, kinds: Vec<Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
        self.op.outside(&self.dtypes_of(py, &kinds)?).map_err(|e| errors::to_py(py, e))
    }

    /// Calls the operator without torch's dispatcher, whatever the arguments are.
    #[pyo3(signature = (*args, **kwargs))]
    fn _direct<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.by_kernel(py, args, kwargs, None)?;
        found.ok_or_else(|| argument(py, format!("`{}`: a callable serves this call", self.op.name())))
    }

    /// The shapes and dtypes of the fresh outputs, for arguments of a call whose arrays may be `Spec`s; nothing is run.
    fn _fresh<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyTuple>) -> PyResult<Vec<(Vec<i64>, &'static str)>> {
        let definition = self.op.definition();
        let objects: Objects<'py> = inputs.iter().collect();
        let mut keep = Keep::new(Device::Cuda);
        let mut args: SmallVec<[ArgValue<'_>; 8]> = SmallVec::new();
        for (arg, object) in definition.schema.args.iter().zip(&objects) {
            let spec = args::interop(py)?.call_method1("host_spec", (object,))?;
            let spec: Option<(Vec<i64>, String)> = if arg.is_tensor() { spec.extract()? } else { None };
            args.push(match spec {
                Some((shape, name)) => {
                    let Some(dtype) = DType::from_name(&name) else {
                        let message = format!("`{}`: argument `{}` is of {name}", self.op.name(), arg.name);
                        return Err(argument(py, message));
                    };
                    let shape = shape.into_iter().collect();
                    ArgValue::Array(ops::ArrayRef { ptr: std::ptr::null_mut(), dtype, shape, writable: true })
                }
                None => values::value(self.op.name(), arg, object, &mut keep)?,
            });
        }
        let plan = self.with_arguments(py, &objects, || self.op.plan(&args))?.map_err(|e| errors::to_py(py, e))?;
        Ok(plan.outputs.iter().map(|o| (o.shape.to_vec(), o.dtype.name())).collect())
    }

    /// The position of the argument that each result is; None if it is fresh.
    #[getter]
    fn _results(&self) -> Vec<Option<usize>> {
        let definition = self.op.definition();
        let schema = &definition.schema;
        let source = |ret: &Return| schema.args.iter().position(|a| ret.mutated && a.mutated && a.alias == ret.alias);
        schema.returns.iter().map(source).collect()
    }

    /// The names of the arguments that it writes.
    #[getter]
    fn _writes(&self) -> Vec<String> {
        self.op.definition().schema.args.iter().filter(|a| a.mutated).map(|a| a.name.clone()).collect()
    }

    /// The shape signature in Python's terms: names of the dims; for each array the position of its argument and its extents (None: any);
    /// the outputs' extents as one expression over `d`, the dims, and `s`, the any shape; the dims that are that shape's size.
    #[getter]
    fn _shape_rule<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let definition = self.op.definition();
        let Some((signature, positions)) = definition.signature() else { return Ok(None) };
        let mut inputs = Vec::new();
        for (array, position) in signature.inputs.iter().zip(positions) {
            let extents = match &array.extents {
                Extents::Any => py.None().into_bound(py),
                Extents::Listed(listed) => {
                    let extents = listed.iter().map(|extent| match extent {
                        Expr::Number(v) => Ok(v.into_pyobject(py)?.into_any()),
                        Expr::Dim(i) => Ok(signature.dims[*i].as_str().into_pyobject(py)?.into_any()),
                        Expr::Binary(..) => Err(argument(py, "an input's extent is a name or a number")),
                    });
                    PyTuple::new(py, extents.collect::<PyResult<Vec<_>>>()?)?.into_any()
                }
            };
            inputs.push((position, extents).into_pyobject(py)?);
        }
        let outputs: String = signature.outputs.iter().map(|o| in_python(&o.extents) + ", ").collect();
        let parts = (signature.dims.clone(), inputs, format!("({outputs})"), signature.star.clone());
        Ok(Some(parts.into_pyobject(py)?))
    }

    /// The element types of the fresh outputs, for arguments that are numbers or, for arrays, names of element types.
    fn _output_dtypes(&self, py: Python<'_>, kinds: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<&'static str>> {
        let found = self.op.output_dtypes(&self.dtypes_of(py, &kinds)?).map_err(|e| errors::to_py(py, e))?;
        Ok(found.into_iter().map(DType::name).collect())
    }

    /// Every argument of a call in the schema's order, defaults included.
    #[pyo3(signature = (args, kwargs))]
    fn _arguments<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut objects = Objects::new();
        self.objects(py, &self.op.definition().schema, args, Some(kwargs), &mut objects)?;
        PyTuple::new(py, objects)
    }

    /// Adds a kernel, or replaces the one of the same types.
    fn _register_kernel(&self, py: Python<'_>, kernel: &Kernel) -> PyResult<()> {
        self.op.register_kernel(kernel.kernel.clone()).map_err(|e| errors::to_py(py, e))
    }

    fn _mark_stale(&self, why: String) {
        self.stale.mark(why);
    }
}

impl NativeOp {
    /// The device that a call names, and its other keywords; `None` if it names none, or if the schema has an argument of that name.
    fn device_of<'py>(&self, kwargs: &Bound<'py, PyDict>) -> PyResult<Option<(Device, Bound<'py, PyDict>)>> {
        let Some(said) = kwargs.get_item("device")? else { return Ok(None) };
        if self.op.definition().schema.args.iter().any(|a| a.name == "device") {
            return Ok(None);
        }
        let name = said.extract::<String>().unwrap_or_default();
        let Some(device) = Device::from_name(&name) else {
            let what =
                format!("`{}`: device is {}; it must be {}", self.op.name(), said.repr()?, Device::wanted(&name));
            return Err(argument(kwargs.py(), what));
        };
        let rest = kwargs.copy()?;
        rest.del_item("device")?;
        Ok(Some((device, rest)))
    }

    /// Calls a kernel; `None` if a callable serves the call. `device` is where it runs, if the arrays do not decide.
    fn by_kernel<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        device: Option<Device>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.stale.warn(py)?;
        let definition = self.op.definition();
        let mut objects = Objects::new();
        self.objects(py, &definition.schema, args, kwargs, &mut objects)?;
        self.call(py, &definition, &objects, device)
    }

    /// The element types of arguments that are numbers or, for arrays, names of element types.
    fn dtypes_of(&self, py: Python<'_>, kinds: &[Bound<'_, PyAny>]) -> PyResult<Vec<Option<DType>>> {
        let definition = self.op.definition();
        let mut dtypes = Vec::with_capacity(kinds.len());
        for (arg, kind) in definition.schema.args.iter().zip(kinds) {
            let name = if arg.is_tensor() && !kind.is_none() { Some(kind.extract::<String>()?) } else { None };
            dtypes.push(match name {
                None => None,
                Some(name) => Some(DType::from_name(&name).ok_or_else(|| {
                    argument(py, format!("`{}`: argument `{}` is of {name}", self.op.name(), arg.name))
                })?),
            });
        }
        Ok(dtypes)
    }

    fn set(&self, result_type: Option<Py<PyAny>>) {
        *self.result_type.lock().unwrap_or_else(PoisonError::into_inner) = result_type;
    }

    /// The operator itself.
    pub fn op(&self) -> &ops::Op {
        &self.op
    }

    /// The time that a call may take.
    pub fn timeout(&self) -> Option<Duration> {
        self.op.definition().timeout
    }

    /// Appends the objects of a call in the schema's order, defaults filled in.
    fn objects<'py>(
        &self,
        py: Python<'py>,
        schema: &Schema,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        objects: &mut Objects<'py>,
    ) -> PyResult<()> {
        let put = |at: usize, object: Option<Bound<'py, PyAny>>| {
            objects.push(match object {
                Some(object) => object,
                None => values::default(py, self.op.name(), &schema.args[at])?,
            });
            Ok(())
        };
        let wrong = |wrong| errors::to_py(py, ops::misarranged(schema, wrong));
        arrange(&schema.args, schema.positional(), args.iter(), &mut Keywords(kwargs), put, wrong)
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        definition: &Definition,
        objects: &Objects<'py>,
        device: Option<Device>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let schema = &definition.schema;
        // The message about an array on a GPU is the helpful one on the CPU.
        let mut keep = Keep::new(device.unwrap_or(Device::Cuda));
        let mut args: SmallVec<[ArgValue<'_>; 8]> = SmallVec::new();
        for (arg, object) in schema.args.iter().zip(objects) {
            args.push(values::value(self.op.name(), arg, object, &mut keep)?);
        }
        let on_gpu = keep.places.on_gpu();
        if on_gpu {
            self.join(schema, objects, &mut args, &mut keep)?;
        }
        let device = if on_gpu { Device::Cuda } else { device.unwrap_or(Device::Cpu) };
        if device == Device::Cuda {
            on_gpu::find_nvrtc()?;
        }
        let planned = self.with_arguments(py, objects, || definition.plan_on(self.op.name(), device, &args))?;
        let plan = planned.map_err(|e| errors::to_py(py, e))?;
        if plan.is_outside() {
            return Ok(None);
        }
        let mut outputs: SmallVec<[Bound<'py, PyAny>; 2]> = SmallVec::new();
        let mut pointers: SmallVec<[*mut u8; 4]> = SmallVec::new();
        for spec in &plan.outputs {
            let mut shape: SmallVec<[usize; 6]> = SmallVec::new();
            for &extent in &spec.shape {
                shape.push(usize::try_from(extent).map_err(|_| {
                    argument(py, format!("`{}`: an output would have the extent {extent}", self.op.name()))
                })?);
            }
            if on_gpu {
                let array = keep.places.empty(py, &shape, spec.dtype)?;
                pointers.push(array.ptr as *mut u8);
                outputs.push(array.object);
                continue;
            }
            let (array, data) = ndarray::empty(py, &shape, spec.dtype)?;
            outputs.push(array);
            pointers.push(data);
        }
        let held = keep.places.queue(py, None)?;
        let queue = held.as_ref().map(|held| held.queue());
        self.run(py, &plan, &args, &pointers, (queue, definition.timeout))?;
        self.results(py, schema, objects, outputs, on_gpu).map(Some)
    }

    /// Joins arrays of host memory with arrays on a GPU: a single number is copied there, anything more is refused.
    fn join<'py>(
        &self,
        schema: &Schema,
        objects: &Objects<'py>,
        args: &mut [ArgValue<'_>],
        keep: &mut Keep<'py>,
    ) -> PyResult<()> {
        for ((arg, object), value) in schema.args.iter().zip(objects).zip(args) {
            if let ArgValue::Array(array) = value
                && !keep.places.has(&arg.name)
            {
                let is_number = array.shape.is_empty() && !arg.mutated;
                let copy = keep.places.join(&arg.name, object, is_number)?;
                array.ptr = copy.ptr as *mut u8;
                keep.objects.push(copy.object);
            }
        }
        Ok(())
    }

    fn run(
        &self,
        py: Python<'_>,
        plan: &Plan,
        args: &[ArgValue<'_>],
        outputs: &[*mut u8],
        (queue, timeout): (Option<Queue<'_>>, Option<Duration>),
    ) -> PyResult<()> {
        let count = |shape: &[i64]| shape.iter().product::<i64>();
        let made = plan.outputs.iter().map(|o| count(&o.shape)).max().unwrap_or(0);
        let read = args.iter().map(|a| if let ArgValue::Array(a) = a { count(&a.shape) } else { 0 }).max();
        // A thread that waits for a GPU's state must not hold the GIL: the thread that has the state may need the GIL, to ask whether to
        // stop.
        let on_cpu = queue.is_none() && plan.device() == Device::Cpu;
        let small = made.max(read.unwrap_or(0)) < KEEP_GIL_BELOW && timeout.is_none() && on_cpu;
        let poll = Poll::new(small);
        let config = RunConfig { timeout, interrupt: Some(&poll), queue };
        let result = if small {
            self.op.run(plan, args, outputs, &config)
        } else {
            let lent = LentPlan { plan, args, outputs };
            let op = &self.op;
            py.detach(|| lent.run(op, &config))
        };
        match result {
            Ok(report) => output::write(py, &report.output, report.dropped),
            Err(error) => Err(failed(py, error, poll)),
        }
    }

    /// The results by the schema: fresh arrays, and written arguments where the schema returns them.
    fn results<'py>(
        &self,
        py: Python<'py>,
        schema: &Schema,
        objects: &Objects<'py>,
        outputs: SmallVec<[Bound<'py, PyAny>; 2]>,
        on_gpu: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let first = schema.args.iter().zip(objects).find(|(a, o)| a.is_tensor() && !o.is_none()).map(|(_, o)| o);
        // Results on a GPU are of the caller's kind already.
        let foreign = first.filter(|o| !on_gpu && ndarray::View::of(o).is_none());
        let mut fresh = outputs.into_iter();
        let mut results: SmallVec<[Bound<'py, PyAny>; 2]> = SmallVec::new();
        for ret in &schema.returns {
            let written = ret.mutated.then(|| {
                schema.args.iter().zip(objects).find(|(a, _)| a.mutated && a.alias == ret.alias).map(|(_, o)| o.clone())
            });
            match written.flatten().or_else(|| fresh.next()) {
                Some(array) if !ret.mutated && foreign.is_some() => {
                    let tensor = if foreign.is_some_and(dlpack::is_tensor) { dlpack::tensor(&array)? } else { None };
                    results.push(match tensor {
                        Some(tensor) => tensor,
                        None => args::interop(py)?.call_method1("like", (foreign, array))?,
                    });
                }
                Some(object) => results.push(object),
                None => {}
            }
        }
        if results.len() == 1 {
            return Ok(results.remove(0));
        }
        if results.is_empty() {
            return Ok(py.None().into_bound(py));
        }
        let tuple = PyTuple::new(py, results)?;
        let made = self.result_type.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|t| t.clone_ref(py));
        match made {
            Some(ty) => ty.bind(py).call1(tuple),
            None => Ok(tuple.into_any()),
        }
    }

    /// Runs `f` while a shape callable can see the arguments of this call.
    pub fn with_arguments<'py, R>(
        &self,
        py: Python<'py>,
        objects: &[Bound<'py, PyAny>],
        f: impl FnOnce() -> R,
    ) -> PyResult<R> {
        if !self.op.definition().has_shape_callable() {
            return Ok(f());
        }
        Ok(with_call(PyTuple::new(py, objects)?.unbind(), f))
    }
}

/// Runs `f` while a shape callable can see these arguments.
pub fn with_call<R>(arguments: Py<PyTuple>, f: impl FnOnce() -> R) -> R {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            CALLS.with(|calls| calls.borrow_mut().pop());
        }
    }
    CALLS.with(|calls| calls.borrow_mut().push(arguments));
    let _pop = Pop;
    f()
}

/// A planned call that passes the release of the GIL.
struct LentPlan<'a> {
    plan: &'a Plan,
    args: &'a [ArgValue<'a>],
    outputs: &'a [*mut u8],
}

// SAFETY: plan and arguments are plain addresses and numbers; their memory outlives the launch, which blocks the lender.
unsafe impl Send for LentPlan<'_> {}
// SAFETY: as above.
unsafe impl Sync for LentPlan<'_> {}

impl LentPlan<'_> {
    fn run(&self, op: &ops::Op, config: &RunConfig<'_>) -> workbench::runtime::Result<Report> {
        op.run(self.plan, self.args, self.outputs, config)
    }
}

/// Extents as a Python expression; its `//` and `%` round as ours do.
fn in_python(extents: &Extents) -> String {
    fn one(expr: &Expr) -> String {
        let (op, a, b) = match expr {
            Expr::Number(v) => return format!("{v}"),
            Expr::Dim(i) => return format!("d[{i}]"),
            Expr::Binary(op, a, b) => (op, one(a), one(b)),
        };
        let sign = match op {
            Operator::Add => "+",
            Operator::Sub => "-",
            Operator::Mul => "*",
            Operator::Div => "//",
            Operator::Rem => "%",
            Operator::Min => return format!("min({a}, {b})"),
            Operator::Max => return format!("max({a}, {b})"),
        };
        format!("({a} {sign} {b})")
    }
    match extents {
        Extents::Any => "s".to_owned(),
        Extents::Listed(listed) => format!("({})", listed.iter().map(|e| one(e) + ", ").collect::<String>()),
    }
}

/// The options of an operator's definition.
fn definition(
    py: Python<'_>,
    module: &Module,
    kernel: Option<String>,
    shape: Option<&Bound<'_, PyAny>>,
    threads: Option<String>,
    block: Option<[u32; 3]>,
    (grid, shared_mem): (Option<String>, Option<String>),
) -> PyResult<OpOptions> {
    let mut options = OpOptions::new(SourceCode::Program(module.program.clone()));
    options.kernel = kernel;
    options.threads = threads;
    options.block = block;
    (options.grid, options.shared_mem) = (grid, shared_mem);
    options.timeout = seconds(py, module.timeout)?;
    options.shape = match shape {
        None => ShapeRule::LikeFirst,
        Some(shape) => match shape.extract::<String>() {
            Ok(text) => ShapeRule::Signature(text),
            Err(_) if shape.is_callable() => ShapeRule::Callable(shape_fn(shape.clone().unbind())),
            Err(_) => {
                return Err(argument(py, "shape is a signature such as \"a[n] -> out[n]\", or a callable"));
            }
        },
    };
    Ok(options)
}

/// A shape callable: `spec.run_shape` gives it `Spec`s and reads its answer.
fn shape_fn(callable: Py<PyAny>) -> ShapeFn {
    Arc::new(move |specs: &[Spec]| {
        gil::attach(|py| {
            let run = || -> PyResult<Vec<Spec>> {
                let helper = py.import("workbench.spec")?.getattr("run_shape")?;
                let call = CALLS.with(|calls| calls.borrow().last().map(|c| c.clone_ref(py)));
                let call = match call {
                    Some(call) => call.into_bound(py),
                    None => PyTuple::empty(py),
                };
                let given: Vec<(Vec<i64>, &str)> = specs.iter().map(|s| (s.shape.to_vec(), s.dtype.name())).collect();
                let made: Vec<(Vec<i64>, String)> = helper.call1((&callable, call, given))?.extract()?;
                made.into_iter()
                    .map(|(shape, dtype)| {
                        let dtype = DType::from_name(&dtype)
                            .ok_or_else(|| argument(py, format!("`{dtype}` is no element type of a kernel")))?;
                        Ok(Spec { shape: shape.into_iter().collect(), dtype })
                    })
                    .collect()
            };
            carried(py, run())
        })
    })
}

/// The qualified name of a schema, checked.
#[pyfunction]
#[pyo3(signature = (schema))]
pub fn schema_parts(py: Python<'_>, schema: &str) -> PyResult<(String, Vec<Option<String>>)> {
    let parsed = Schema::parse(schema).map_err(|e: Error| errors::to_py(py, e))?;
    Ok((parsed.qualified_name(), parsed.returns.into_iter().map(|r| r.name).collect()))
}

/// The types and names of a schema's results.
#[pyfunction]
#[pyo3(signature = (schema))]
pub fn schema_returns(py: Python<'_>, schema: &str) -> PyResult<Vec<(String, Option<String>)>> {
    let parsed = Schema::parse(schema).map_err(|e: Error| errors::to_py(py, e))?;
    Ok(parsed.returns.into_iter().map(|r| (r.kind.to_string(), r.name)).collect())
}

/// A schema as it is printed.
#[pyfunction]
#[pyo3(signature = (schema))]
pub fn schema_text(py: Python<'_>, schema: &str) -> PyResult<String> {
    Schema::parse(schema).map(|s| s.to_string()).map_err(|e: Error| errors::to_py(py, e))
}

/// Name, type, default, true if it follows the `*`, true if it is written.
type ArgumentParts = (String, String, Option<String>, bool, bool);

/// The arguments of a schema: name, type, default, true if they follow the `*`, true if they are written.
#[pyfunction]
#[pyo3(signature = (schema))]
pub fn schema_arguments(py: Python<'_>, schema: &str) -> PyResult<Vec<ArgumentParts>> {
    let parsed = Schema::parse(schema).map_err(|e: Error| errors::to_py(py, e))?;
    let one = |a: Argument| (a.name, a.kind.to_string(), a.default.map(|d| d.to_string()), a.keyword_only, a.mutated);
    Ok(parsed.args.into_iter().map(one).collect())
}
