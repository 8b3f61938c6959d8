//! Boxed kernels: a call of torch's dispatcher, from its stack to an operator and back. No Python runs, unless the operator needs some.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::exceptions::{PyException, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;
use workbench::ops::schema::{Kind, Schema};
use workbench::ops::{self, ArgValue, ArrayRef, Definition, RunConfig, library};
use workbench::runtime::host::{Limits, Value};
use workbench::runtime::{Device, Error, Queue, Report, Result};

use super::abi::{self, Abi, StableIValue, c_text};
use super::gpu;
use super::tensor::Handle;
use super::value::{Lent, Taken, known, take};
use crate::gil;
use crate::interrupt::Poll;
use crate::op::with_call;
use crate::output;

/// The operator whose calls come through a trampoline.
pub enum Target {
    /// An operator of `wb.op`.
    Op(ops::Op),
    /// An overload of an operator that a text registers, by its names.
    Library(String, String),
}

/// The operator as registered, which a trampoline's fourth argument points at.
pub struct Registered {
    /// The operator.
    pub target: Target,
    /// Its name, for torch.
    pub title: CString,
    /// The schema that torch has: the stack follows it, even if the operator has another schema by now.
    pub schema: RwLock<Arc<Schema>>,
    /// The number of calls that run now.
    pub inside: AtomicU32,
}

impl Registered {
    /// True if this thread is in a call of it.
    pub fn is_mine(&self) -> bool {
        CALLS.with_borrow(|calls| calls.iter().any(|call| std::ptr::eq(*call, self)))
    }
}

/// Counts a call while it lasts.
struct Inside(&'static Registered);

impl Inside {
    fn enter(registered: &'static Registered) -> Self {
        registered.inside.fetch_add(1, Ordering::SeqCst);
        CALLS.with_borrow_mut(|calls| calls.push(registered));
        Inside(registered)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(|calls| calls.pop());
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The arguments of a call.
type Stack = SmallVec<[Taken; 8]>;

thread_local! {
    /// The text of the last error, for as long as torch copies it.
    static TEXT: RefCell<CString> = RefCell::default();
    /// The exception itself, for callers that come through a handle of ours.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// The operators whose calls this thread is in, innermost last.
    static CALLS: RefCell<Vec<*const Registered>> = const { RefCell::new(Vec::new()) };
    /// True if a caller will take [`RAISED`].
    static TAKEN: Cell<bool> = const { Cell::new(false) };
}

/// The function that every trampoline jumps to.
///
/// # Safety
/// Called by torch's dispatcher, with as many values as the schema says.
pub unsafe extern "C-unwind" fn boxed(
    stack: *mut StableIValue,
    arguments: u64,
    results: u64,
    registered: *const Registered,
) {
    let Some(abi) = abi::get() else { return };
    // SAFETY: registered operators are never freed.
    let registered: &'static Registered = unsafe { &*registered };
    let made = catch_unwind(AssertUnwindSafe(|| {
        let _inside = Inside::enter(registered);
        // SAFETY: the stack has room for the larger of the two.
        let stack = unsafe { std::slice::from_raw_parts_mut(stack, arguments.max(results) as usize) };
        registered.call(abi, stack, arguments as usize)
    }));
    let message = match made {
        Ok(Ok(())) => return,
        Ok(Err(message)) => message,
        Err(_) => "the operator failed in a way that it should not; please report it".to_owned(),
    };
    TEXT.set(c_text(&message));
    let text: *const CStr = TEXT.with(|text| std::ptr::from_ref(text.borrow().as_c_str()));
    drop(message);
    // SAFETY: the text stays until the next failure of this thread; nothing is left to drop here.
    unsafe { abi.raise(registered.title.as_c_str(), &*text) }
}

impl Registered {
    fn call(&self, abi: &'static Abi, stack: &mut [StableIValue], arguments: usize) -> std::result::Result<(), String> {
        let poll = Poll::new(false);
        let schema = self.schema.read().unwrap_or_else(PoisonError::into_inner).clone();
        // A stack that does not follow the schema is not touched.
        let fits = schema.args.len() == arguments;
        let taken = if fits { taken(abi, &schema, stack, arguments) } else { Stack::new() };
        let called = match &self.target {
            _ if !fits => Err(changing(&schema)),
            Target::Op(op) => call_op(abi, op, &schema, taken, stack, &poll),
            Target::Library(name, overload) => call_library(abi, name, overload, &schema, taken, stack, &poll),
        };
        let report = match called {
            Ok(report) => report,
            Err(error) => return Err(remember(|py| crate::kernel::failed(py, error, poll))),
        };
        if report.output.is_empty() && report.dropped == 0 && report.warnings.is_empty() {
            return Ok(());
        }
        gil::attach(|py| show(py, &report)).map_err(|error| remember(|_| error))
    }
}

/// Shows the output and the warnings of a call.
fn show(py: Python<'_>, report: &Report) -> PyResult<()> {
    output::write(py, &report.output, report.dropped)?;
    for text in &report.warnings {
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &c_text(text), 1)?;
    }
    Ok(())
}

/// Keeps an exception for a caller that came through a handle of ours; gives its text, for torch. A request to stop is raised again when
/// control is back in Python.
fn remember(error: impl FnOnce(Python<'_>) -> PyErr) -> String {
    gil::attach(|py| {
        let error = error(py);
        let mut text = error.value(py).to_string();
        if text.is_empty() {
            // `KeyboardInterrupt` has no text of its own.
            text = error.get_type(py).name().map_or_else(|_| "interrupted".to_owned(), |name| name.to_string());
        }
        if TAKEN.get() {
            RAISED.set(Some(error));
        } else if !error.is_instance_of::<PyException>(py) {
            // SAFETY: the interpreter is attached.
            unsafe { pyo3::ffi::PyErr_SetInterrupt() };
        }
        text
    })
}

/// Calls an operator of `torch.ops`; an exception of ours is raised itself, rather than torch's `RuntimeError`.
#[pyfunction]
#[pyo3(signature = (operator, args, kwargs))]
pub fn torch_call<'py>(
    operator: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, pyo3::types::PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let before = TAKEN.replace(true);
    RAISED.set(None);
    let result = operator.call(args, kwargs);
    TAKEN.set(before);
    match (result, RAISED.take()) {
        (Err(theirs), Some(ours)) => {
            let py = operator.py();
            // The error may be another one by now.
            let (said, text) = (theirs.value(py).to_string(), ours.value(py).to_string());
            let same =
                if text.is_empty() { ours.get_type(py).name()?.to_string() == said } else { said.contains(&text) };
            Err(if same { ours } else { theirs })
        }
        (result, _) => result,
    }
}

/// Takes the arguments off the stack, by the schema that torch has.
fn taken(abi: &'static Abi, schema: &Schema, stack: &[StableIValue], arguments: usize) -> Stack {
    schema.args.iter().zip(&stack[..arguments]).map(|(arg, raw)| take(abi, &arg.kind, *raw)).collect()
}

/// The error about a call that comes while its operator gets another schema.
fn changing(schema: &Schema) -> Error {
    Error::argument(format!("`{}` is getting another schema just now; call it again", schema.qualified_name()))
}

/// True if a call by one schema is also a call by the other: arguments and results are of the same types.
fn is_alike(one: &Schema, other: &Schema) -> bool {
    let args = one.args.len() == other.args.len() && one.returns.len() == other.returns.len();
    args && one.args.iter().zip(&other.args).all(|(a, b)| a.kind == b.kind && a.mutated == b.mutated)
        && one.returns.iter().zip(&other.returns).all(|(a, b)| a.kind == b.kind && a.mutated == b.mutated)
}

/// The number that an argument of a kernel is.
fn scalar<'a>(kind: &Kind, word: StableIValue) -> Option<ArgValue<'a>> {
    match kind {
        Kind::Int | Kind::SymInt => Some(ArgValue::Int(word as i64)),
        Kind::Float => Some(ArgValue::Float(f64::from_bits(word))),
        Kind::Bool => Some(ArgValue::Bool(word & 0xff != 0)),
        Kind::Optional(inner) => scalar(inner, word),
        _ => None,
    }
}

/// A definition that may be the last reference, if its name got another definition meanwhile: its callables must be dropped with Python.
struct Last(ManuallyDrop<Arc<Definition>>);

impl Drop for Last {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let definition = unsafe { ManuallyDrop::take(&mut self.0) };
        if Arc::strong_count(&definition) == 1 {
            gil::attach(|_| drop(definition));
        }
    }
}

fn call_op(
    abi: &'static Abi,
    op: &ops::Op,
    registered: &Schema,
    taken: Stack,
    stack: &mut [StableIValue],
    poll: &Poll,
) -> Result<Report> {
    let definition = Last(ManuallyDrop::new(op.definition()));
    let definition: &Definition = &definition.0;
    let schema = &definition.schema;
    let fail = |why: String| Error::argument(format!("`{}`: {why}", op.name()));
    if !is_alike(registered, schema) {
        return Err(changing(registered));
    }
    let gpu = gpu::of(schema, &taken).map_err(fail)?;
    let stream = gpu.map(gpu::current_stream).transpose().map_err(fail)?;
    let mut copies: SmallVec<[Option<Handle>; 8]> = SmallVec::new();
    let mut args: SmallVec<[ArgValue<'_>; 8]> = SmallVec::new();
    for (arg, value) in schema.args.iter().zip(&taken) {
        let mut copy = None;
        args.push(match value {
            Taken::None => ArgValue::None,
            Taken::Text(text) => ArgValue::Str(text),
            Taken::Tensor(tensor) => {
                let dtype = known(tensor, &arg.name, gpu.is_some()).map_err(fail)?;
                let shape = tensor.sizes().into();
                let tensor = match gpu.filter(|_| tensor.gpu().is_none()) {
                    Some(gpu) => &*copy.insert(gpu::join(tensor, &arg.name, arg.mutated, gpu).map_err(fail)?),
                    None if tensor.is_contiguous() => tensor,
                    None => &*copy.insert(tensor.contiguous().map_err(fail)?),
                };
                ArgValue::Array(ArrayRef { ptr: tensor.data(arg.mutated), dtype, shape, writable: true })
            }
            Taken::Word(word) => scalar(&arg.kind, *word)
                .ok_or_else(|| fail(format!("argument `{}` of type `{}` cannot be passed", arg.name, arg.kind)))?,
            Taken::List(_) => {
                return Err(fail(format!(
                    "argument `{}` of type `{}` cannot be passed to a kernel",
                    arg.name, arg.kind
                )));
            }
        });
        copies.push(copy);
    }
    let device = if gpu.is_some() { Device::Cuda } else { Device::Cpu };
    let plan = match definition.has_shape_callable() {
        true => planned(op, device, &args)?,
        false => definition.plan_on(op.name(), device, &args)?,
    };
    let mut outputs: SmallVec<[Handle; 2]> = SmallVec::new();
    let mut pointers: SmallVec<[*mut u8; 4]> = SmallVec::new();
    for spec in &plan.outputs {
        let made = Handle::empty(abi, spec.dtype, &spec.shape, gpu).map_err(fail)?;
        pointers.push(made.data(true));
        outputs.push(made);
    }
    // The arrays made here are torch's own, on the same stream: torch keeps the memory for as long as kernels on it use that.
    let queue = gpu.zip(stream).map(|(device, stream)| Queue { device, stream, ..Queue::default() });
    let config = RunConfig { timeout: definition.timeout, interrupt: Some(poll), queue };
    let report = op.run(&plan, &args, &pointers, &config)?;
    drop(args);
    for ((arg, value), copy) in schema.args.iter().zip(&taken).zip(&copies) {
        if let (true, Taken::Tensor(tensor), Some(copy)) = (arg.mutated, value, copy) {
            tensor.copy_from(copy).map_err(fail)?;
        }
    }
    let mut fresh = outputs.into_iter();
    let mut results: SmallVec<[Handle; 4]> = SmallVec::new();
    for ret in &schema.returns {
        let written = schema.args.iter().position(|a| ret.mutated && a.mutated && a.alias == ret.alias);
        let made = match written.map(|i| &taken[i]) {
            Some(Taken::Tensor(tensor)) => tensor.again().map_err(fail)?,
            _ => fresh.next().ok_or_else(|| fail("it gave fewer results than its schema says".to_owned()))?,
        };
        results.push(made);
    }
    for (slot, made) in stack.iter_mut().zip(results) {
        *slot = made.into_value();
    }
    Ok(report)
}

/// A plan with shapes from a callable of Python's.
fn planned(op: &ops::Op, device: Device, args: &[ArgValue<'_>]) -> Result<Arc<ops::Plan>> {
    gil::attach(|py| {
        let objects = || -> PyResult<Bound<'_, PyTuple>> {
            let spec = py.import("workbench.spec")?.getattr("Spec")?;
            let objects = args.iter().map(|value| {
                Ok(match value {
                    ArgValue::Array(a) => spec.call1((PyTuple::new(py, &a.shape)?, a.dtype.name()))?,
                    ArgValue::Int(v) => v.into_pyobject(py)?.into_any(),
                    ArgValue::Float(v) => v.into_pyobject(py)?.into_any(),
                    ArgValue::Bool(v) => v.into_pyobject(py)?.to_owned().into_any(),
                    ArgValue::Str(v) => v.into_pyobject(py)?.into_any(),
                    ArgValue::None => py.None().into_bound(py),
                })
            });
            PyTuple::new(py, objects.collect::<PyResult<Vec<_>>>()?)
        };
        match objects() {
            Ok(objects) => with_call(objects.unbind(), || op.plan_on(device, args)),
            Err(error) => Err(crate::errors::from_py(py, error)),
        }
    })
}

fn call_library(
    abi: &'static Abi,
    name: &str,
    overload: &str,
    registered: &Schema,
    taken: Stack,
    stack: &mut [StableIValue],
    poll: &Poll,
) -> Result<Report> {
    let found = library::overloads(name).and_then(|all| all.iter().find(|o| o.name() == overload).cloned());
    let Some(found) = found else {
        return Err(Error::argument(format!("there is no operator `{name}` any more")));
    };
    let Some(schema) = &found.schema else {
        return Err(Error::argument(format!("`{name}` has no schema any more")));
    };
    let fail = |why: String| Error::argument(format!("{name}(): {why}"));
    if !is_alike(registered, schema) {
        return Err(changing(registered));
    }
    let mut lent = Lent::default();
    let mut values = Vec::with_capacity(taken.len());
    for (arg, value) in schema.args.iter().zip(&taken) {
        values.push(lent.value(value, &arg.kind, &arg.name, found.may_write(arg)).map_err(fail)?);
    }
    let positional = schema.args.iter().filter(|a| !a.keyword_only).count();
    let named = values.split_off(positional);
    let named = schema.args[positional..].iter().map(|a| a.name.clone()).zip(named).collect();
    let values = found.bind(values, named)?;
    let limits = Limits { interrupt: Some(poll), ..Limits::default() };
    let (value, report) = found.call(values, false, limits)?;
    let given = match &value {
        Value::None if schema.returns.is_empty() => &[][..],
        Value::Tuple(all) if schema.returns.len() != 1 => all,
        one => std::slice::from_ref(one),
    };
    if given.len() != schema.returns.len() {
        return Err(fail(format!("it gave {} results, and its schema says {}", given.len(), schema.returns.len())));
    }
    // All results are made first: nobody could clean up a stack with some results and some arguments.
    let mut results: SmallVec<[StableIValue; 4]> = SmallVec::new();
    for (value, ret) in given.iter().zip(&schema.returns) {
        results.push(lent.result(abi, value, &ret.kind).map_err(fail)?);
    }
    stack[..results.len()].copy_from_slice(&results);
    Ok(report)
}
