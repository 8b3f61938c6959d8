//! Operators in torch's dispatcher, as boxed kernels in Rust, through torch's stable C interface, which is looked up at run time in the
//! loaded libraries. Nothing is built, and a call runs no Python.
//!
//! The Python half (`_torch_ops.py`) defines schemas, shapes without data and gradients; this half implements them for the CPU
//! and for GPUs.
//!
//! # Definitions
//! Every operator is in `torch.ops` at once, or once torch is imported (`torch_side.py` waits for that without importing it). Calls of
//! handles with torch's tensors go the same way, so torch takes care of gradients, tracing and tensors without data. The trampoline calls a
//! name: a cell that is run again with the same schema changes nothing in torch but the gradient; another schema is another definition.
//!
//! A stack follows the schema that torch has, which the trampoline keeps; if the operator has another schema by now, the call is refused. A
//! schema changes when no call is running, and calls that come meanwhile wait: torch looks at the schema once more on the way out, and its
//! own objects in `torch.ops` point at memory that is freed with it. Objects that others may hold are given the new operator in place.
//!
//! # Failures
//! A boxed kernel is told neither its operator nor how to fail. Errors are raised by torch's own function from a frame that owns nothing;
//! the exception itself is kept for callers that come through a handle, which get it instead of torch's `RuntimeError`.
//!
//! # Autograd
//! Arguments that an operator writes count as changed for autograd, by a kernel for `ADInplaceOrView`. An operator that computes a gradient
//! and has none itself refuses to be differentiated: torch would take zeros. A kernel for `Autograd`, once registered, stays as long as the
//! operator's definition and asks for the gradient at every call: torch crashes if a kernel in Python goes while a compiled function or
//! another thread is about to call it. If there is no gradient by then, backward says so.
//!
//! # Dispatch keys
//! The boxed kernel serves CPU and CUDA. `Scalar` and complex arguments do not pass through boxed kernels: operators with them have kernels
//! in Python. Schemas without a tensor of their own are registered for `CompositeExplicitAutograd` as well, because a call without tensors
//! would find no kernel.

mod abi;
mod boxed;
mod gpu;
mod tensor;
mod trampoline;
mod value;

use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use workbench::ops::schema::Schema;
use workbench::ops::{self, library};

use self::abi::{BoxedKernel, c_text};
pub use self::boxed::torch_call;
use self::boxed::{Registered, Target};
pub use self::gpu::torch_streams;

static TENSOR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Sets the class `torch.Tensor`, once torch is imported.
#[pyfunction]
pub fn torch_is_here(tensor: &Bound<'_, PyType>) {
    let _ = TENSOR.set(tensor.py(), tensor.clone().unbind());
}

/// True if one of the arguments is a tensor of torch's.
pub fn has_tensor(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> bool {
    let py = args.py();
    let Some(tensor) = TENSOR.get(py).map(|t| t.bind(py)) else { return false };
    let is = |object: &Bound<'_, PyAny>| {
        // SAFETY: both are types.
        unsafe { pyo3::ffi::PyType_IsSubtype(object.get_type_ptr(), tensor.as_type_ptr()) != 0 }
    };
    // Lists of tensors, too.
    let any = |object: Bound<'_, PyAny>| match object.cast::<PyList>() {
        Ok(list) => list.iter().any(|item| is(&item)),
        Err(_) => is(&object),
    };
    args.iter().any(any) || kwargs.is_some_and(|kwargs| kwargs.values().iter().any(any))
}

/// The class `torch.Tensor`, where torch is loaded.
pub fn tensor_class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    if TENSOR.get(py).is_none() {
        // No operator has imported torch here, but the user may have.
        static MODULES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let modules = crate::gil::once(py, &MODULES, || Ok(py.import("sys")?.getattr("modules")?.unbind())).ok()?;
        // An exception at each call without torch would take a fifth of a short call's time.
        let torch = modules.cast::<PyDict>().ok()?.get_item(intern!(py, "torch")).ok()??;
        // While torch is being imported it has no class yet.
        torch_is_here(&torch.getattr("Tensor").ok()?.cast_into::<PyType>().ok()?);
    }
    TENSOR.get(py).map(|class| class.bind(py))
}

/// True if a tensor of torch's among the arguments requires grad, while torch records gradients.
///
/// # Errors
/// torch's.
pub fn requires_grad(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
    static IS_ENABLED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = args.py();
    let Some(class) = tensor_class(py) else { return Ok(false) };
    let among_named = |named: &Bound<'_, PyDict>| any_requires_grad(class, &mut named.values().iter(), MAX_DEPTH);
    if !any_requires_grad(class, &mut args.iter(), MAX_DEPTH)? && !kwargs.map_or(Ok(false), among_named)? {
        return Ok(false);
    }
    let ask = crate::gil::once(py, &IS_ENABLED, || Ok(py.import("torch")?.getattr("is_grad_enabled")?.unbind()))?;
    ask.call0()?.is_truthy()
}

/// Limit on nested containers, as of arguments: one that is deeper is refused afterwards.
const MAX_DEPTH: u32 = 100;

/// True if one of the values, or of those in their lists, tuples and dictionaries down to so many, is a tensor that requires grad.
fn any_requires_grad<'py>(
    class: &Bound<'py, PyType>,
    values: &mut dyn Iterator<Item = Bound<'py, PyAny>>,
    depth: u32,
) -> PyResult<bool> {
    if depth == 0 {
        return Ok(false);
    }
    for value in values {
        // SAFETY: both are types.
        let is_tensor = unsafe { pyo3::ffi::PyType_IsSubtype(value.get_type_ptr(), class.as_type_ptr()) != 0 };
        let found = if is_tensor {
            value.getattr(intern!(class.py(), "requires_grad"))?.is_truthy()?
        } else if let Ok(list) = value.cast::<PyList>() {
            any_requires_grad(class, &mut list.iter(), depth - 1)?
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            any_requires_grad(class, &mut tuple.iter(), depth - 1)?
        } else if let Ok(dict) = value.cast::<PyDict>() {
            any_requires_grad(class, &mut dict.values().iter(), depth - 1)?
        } else {
            false
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Calls a host function by way of torch's autograd.
pub fn recorded<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    function.py().import("workbench._torch_recorded")?.call_method1("call_function", (function, args, kwargs))
}

/// Calls an operator through torch's dispatcher, which handles gradients, tracing and tensors without data; None if torch does not know the
/// operator.
pub fn through_torch<'py>(
    py: Python<'py>,
    name: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static PACKET: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let packet = crate::gil::once(py, &PACKET, || Ok(py.import("workbench._torch_ops")?.getattr("packet")?.unbind()))?;
    let packet = packet.call1((name,))?;
    if packet.is_none() { Ok(None) } else { torch_call(&packet, args, kwargs).map(Some) }
}

/// An implementation in torch's dispatcher; it is removed when this is dropped.
#[pyclass(module = "workbench", frozen)]
pub struct TorchImplementation {
    library: Mutex<Option<usize>>,
    registered: &'static Registered,
}

impl TorchImplementation {
    fn remove(&self) {
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(library), Some(abi)) = (library, abi::get()) {
            // SAFETY: made by `library_impl`, and taken out once.
            unsafe { (abi.f.delete_library)(library as *mut c_void) };
        }
    }
}

#[pymethods]
impl TorchImplementation {
    /// Waits until no call is running, for so many seconds at most; true if none is. A call must not wait for its own end.
    fn _rest(&self, py: Python<'_>, seconds: f64) -> bool {
        let until = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        if self.registered.is_mine() {
            return false;
        }
        py.detach(|| {
            while self.registered.inside.load(Ordering::SeqCst) > 0 {
                if Instant::now() > until {
                    return false;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            // A call that has just left us is still on its way through torch, which looks at the schema once more.
            std::thread::sleep(Duration::from_millis(10));
            true
        })
    }

    /// Removes the implementation from the dispatcher.
    fn _destroy(&self) {
        self.remove();
    }
}

/// The trampolines by their operators: an operator that is redefined keeps its trampoline.
fn kernel(name: &str, overload: Option<&str>, schema: &Arc<Schema>) -> Option<(BoxedKernel, &'static Registered)> {
    /// The key is the operator's name and, for one that a text registers, the overload's name.
    type Kernels = HashMap<(String, Option<String>), (BoxedKernel, &'static Registered)>;
    static MADE: LazyLock<Mutex<Kernels>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (name.to_owned(), overload.map(str::to_owned));
    if let Some((kernel, registered)) = made.get(&key) {
        *registered.schema.write().unwrap_or_else(PoisonError::into_inner) = schema.clone();
        return Some((*kernel, *registered));
    }
    let target = match overload {
        Some(overload) => Target::Library(name.to_owned(), overload.to_owned()),
        None => Target::Op(ops::Op::get(name)?),
    };
    let schema = RwLock::new(schema.clone());
    let registered: &'static Registered =
        Box::leak(Box::new(Registered { target, title: c_text(name), schema, inside: AtomicU32::new(0) }));
    let kernel = trampoline::make(boxed::boxed as *const (), std::ptr::from_ref(registered).cast())?;
    made.insert(key, (kernel, registered));
    Some((kernel, registered))
}

/// True if values of every type of a schema pass through boxed kernels.
fn all_pass(schema: &Schema) -> bool {
    schema.args.iter().map(|a| &a.kind).chain(schema.returns.iter().map(|r| &r.kind)).all(value::passes)
}

/// Implements an operator of torch's dispatcher for a dispatch key: one of `wb.op`, or with `overload` one that a text registers. `folder`
/// is the folder of torch. None if torch, the machine or the schema's types have no boxed kernels: a kernel in Python must then serve.
#[pyfunction]
#[pyo3(signature = (folder, name, overload, key))]
pub fn torch_implement(
    folder: PathBuf,
    name: &str,
    overload: Option<&str>,
    key: &str,
) -> PyResult<Option<TorchImplementation>> {
    let Ok(abi) = abi::connect(&folder) else { return Ok(None) };
    let schema = match overload {
        // Operators that Python runs have no implementation here.
        Some(wanted) => library::overloads(name).and_then(|all| {
            let found = all.iter().find(|o| o.name() == wanted && !o.implementations.is_empty());
            found.and_then(|o| o.schema.clone())
        }),
        None => ops::Op::get(name).map(|op| op.definition().schema.clone()),
    };
    let Some(schema) = schema.filter(all_pass).map(Arc::new) else { return Ok(None) };
    let Some((kernel, registered)) = kernel(name, overload, &schema) else { return Ok(None) };
    let dot = if schema.overload.is_empty() { "" } else { "." };
    let target = c_text(&format!("{}::{}{dot}{}", schema.namespace, schema.name, schema.overload));
    let mut made = std::ptr::null_mut();
    // SAFETY: the texts end in zero bytes, and torch copies them; the kernel stays.
    let code = unsafe {
        let file = c"<workbench>".as_ptr();
        match (abi.f.library_impl)(c_text(&schema.namespace).as_ptr(), c_text(key).as_ptr(), file, 0, &raw mut made) {
            0 => (abi.f.implement)(made, target.as_ptr(), kernel, abi::VERSION),
            code => code,
        }
    };
    let made = TorchImplementation { library: Mutex::new((!made.is_null()).then_some(made as usize)), registered };
    if code != 0 {
        made.remove();
        return Ok(None);
    }
    Ok(Some(made))
}
