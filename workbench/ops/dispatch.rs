//! Choice of the implementation that serves a call: the first whose parameters have the arrays' element types. Nothing is cast.
//!
//! An operator of a template begins with the first of a few types that its text compiles for, which shows how its parameters are bound; a
//! call with arrays that no kernel takes adds one. `register_kernel` adds kernels by their parameters' types, and callables by the type of
//! the first array (`python_implementations.py`). The choice is made here alone (`Implementation::Outside` is a number that the Python half knows), so
//! shapes and types without data follow the same choice. Where callables serve some calls, torch asks in Python; otherwise the boxed kernel
//! stays. Results share no memory with arguments unless the schema says so: those of host functions and callables that do are copied.

use std::cell::Cell;
use std::sync::{Arc, PoisonError};

use super::binding::{Bound, Source};
use super::plan::ArgValue;
use super::registry::{Definition, Implementation, KernelImpl, Template};
use crate::ir::{Elem, ParamType};
use crate::runtime::program::param_type;
use crate::runtime::{DType, Device, Error, Result};

thread_local! {
    static TWINS: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` with float64 twins allowed: an operator whose kernel is `float` then serves float64 arrays through a twin of its
/// kernel with every `float` widened. For gradcheck only.
pub fn with_twins<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            TWINS.set(self.0);
        }
    }
    let _restore = Restore(TWINS.replace(true));
    f()
}

/// True if float64 twins may serve the calls of this thread.
pub(crate) fn twins_serve() -> bool {
    TWINS.get()
}

/// The implementation that serves a call.
pub(crate) enum Picked {
    Kernel(Arc<Bound>),
    Host(Arc<Implementation>),
    Outside(usize),
}

/// The implementation for a call whose arrays lie in host memory.
pub(crate) fn pick(name: &str, definition: &Definition, args: &[ArgValue<'_>]) -> Result<Picked> {
    if let Some(first) = definition.first()
        && !is_on_gpu(&first)
        && let Some(picked) = fits(&first, args)
    {
        return Ok(picked);
    }
    let all = definition.implementations();
    let served = |on_gpu: bool| all.iter().filter(|i| is_on_gpu(i) == on_gpu).find_map(|i| fits(i, args));
    if let Some(picked) = served(false) {
        return Ok(picked);
    }
    if let Some(template) = &definition.template {
        match instance(name, definition, template, args) {
            Ok(Some(bound)) => return Ok(Picked::Kernel(bound)),
            Ok(None) => {}
            Err(error) => return served(true).ok_or(error),
        }
    }
    if TWINS.get() {
        for implementation in &all {
            if let Implementation::Kernel(kernel) = &**implementation {
                let twin = twin(kernel).map_err(|why| Error::Other(format!("`{name}`: {why}")))?;
                if mismatch(&twin, args).is_none() {
                    return Ok(Picked::Kernel(twin));
                }
            }
        }
    }
    // Kernels compiled for a GPU serve host arrays, too, where nothing else does.
    served(true).ok_or_else(|| unserved(name, &all, args, "it has no implementation"))
}

/// The implementation for a call whose arrays lie on a GPU: a kernel compiled for one, else one compiled for the CPU, whose text is then
/// compiled for the GPU.
pub(crate) fn pick_on_gpu(name: &str, definition: &Definition, args: &[ArgValue<'_>]) -> Result<Picked> {
    let all = definition.implementations();
    let kernels = |device: Device| {
        all.iter().filter_map(move |i| match &**i {
            Implementation::Kernel(k) if k.bound.kernel.device() == device => Some(k),
            _ => None,
        })
    };
    for device in [Device::Cuda, Device::Cpu] {
        if let Some(kernel) = kernels(device).find(|k| mismatch(&k.bound, args).is_none()) {
            return on_gpu(name, definition, kernel).map(Picked::Kernel);
        }
    }
    if let Some(template) = &definition.template
        && let Some(bound) = instance(name, definition, template, args)?
    {
        let all = definition.implementations();
        let made = all.iter().find_map(|i| match &**i {
            Implementation::Kernel(k) if Arc::ptr_eq(&k.bound, &bound) => Some(k),
            _ => None,
        });
        if let Some(kernel) = made {
            return on_gpu(name, definition, kernel).map(Picked::Kernel);
        }
    }
    let what = "its arrays lie on a GPU, and it has no kernel, only host code; copy them to the CPU, or register what serves \
                them: register_kernel(\"cuda\", f)";
    Err(unserved(name, &all, args, what))
}

/// A kernel bound as it is, compiled for a GPU.
fn on_gpu(name: &str, definition: &Definition, kernel: &KernelImpl) -> Result<Arc<Bound>> {
    if kernel.bound.kernel.device() == Device::Cuda {
        return Ok(kernel.bound.clone());
    }
    let named = |error| match error {
        Error::Argument(why) => Error::argument(format!("`{name}`: {why}")),
        error => error,
    };
    let mut known = kernel.for_gpu.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bound) = &*known {
        kernel.bound.kernel.check_variables().map_err(named)?;
        return Ok(bound.clone());
    }
    kernel.bound.check_writes(&definition.schema)?;
    let made = kernel.bound.kernel.for_gpu().map_err(named)?;
    let (sources, outputs) = (kernel.bound.sources.clone(), kernel.bound.outputs.clone());
    Ok(known.insert(Arc::new(Bound { kernel: made, sources, outputs })).clone())
}

/// The error when nothing serves a call, with the reason.
fn unserved(name: &str, all: &[Arc<Implementation>], args: &[ArgValue<'_>], otherwise: &str) -> Error {
    // The first kernel's complaint is the helpful one.
    let complaint = all.iter().find_map(|i| match &**i {
        Implementation::Kernel(k) => mismatch(&k.bound, args),
        Implementation::Host(_) | Implementation::Outside(..) => None,
    });
    let more = if all.len() > 1 {
        format!(" (nor does any of its {} other kernels fit)", all.len() - 1)
    } else {
        String::new()
    };
    Error::argument(format!("`{name}`: {}{more}", complaint.unwrap_or_else(|| otherwise.to_owned())))
}

/// The instance of an operator's template for the arrays of a call, if there is one; it serves later calls, too.
fn instance(
    name: &str,
    definition: &Definition,
    template: &Template,
    args: &[ArgValue<'_>],
) -> Result<Option<Arc<Bound>>> {
    let arrays = definition.schema.args.iter().zip(args).filter_map(|(arg, value)| match value {
        ArgValue::Array(array) => Some((arg.name.clone(), Elem::from(array.dtype))),
        _ => None,
    });
    match template.instance(arrays.collect()) {
        Ok(kernel) => {
            let bound = definition.add(name, kernel)?;
            Ok(mismatch(&bound, args).is_none().then_some(bound))
        }
        // The complaint about the existing kernels says more.
        Err(Error::Argument(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_on_gpu(implementation: &Implementation) -> bool {
    matches!(implementation, Implementation::Kernel(k) if k.bound.kernel.device() == Device::Cuda)
}

fn fits(implementation: &Arc<Implementation>, args: &[ArgValue<'_>]) -> Option<Picked> {
    match &**implementation {
        Implementation::Host(_) => Some(Picked::Host(implementation.clone())),
        Implementation::Outside(dtypes, number) => {
            let first = args.iter().find_map(|a| if let ArgValue::Array(a) = a { Some(a.dtype) } else { None });
            let serves = dtypes.as_ref().is_none_or(|all| first.is_some_and(|d| all.contains(&d)));
            serves.then_some(Picked::Outside(*number))
        }
        Implementation::Kernel(k) => mismatch(&k.bound, args).is_none().then(|| Picked::Kernel(k.bound.clone())),
    }
}

fn twin(kernel: &KernelImpl) -> std::result::Result<Arc<Bound>, String> {
    let made = kernel.twin.get_or_init(|| {
        let widened = kernel.bound.kernel.widened().map_err(|e| e.to_string())?;
        let wide = |d: &DType| if *d == DType::Float32 { DType::Float64 } else { *d };
        Ok(Arc::new(Bound {
            kernel: widened,
            sources: kernel.bound.sources.clone(),
            outputs: kernel.bound.outputs.iter().map(wide).collect(),
        }))
    });
    made.clone()
}

/// The reason why arguments do not fit a kernel, in one sentence; `None` when they do.
fn mismatch(bound: &Bound, args: &[ArgValue<'_>]) -> Option<String> {
    for (source, param) in bound.sources.iter().zip(bound.kernel.params()) {
        let Source::Input(a, _) = *source else { continue };
        let ParamType::Ptr { elem, .. } = param.ty else { continue };
        match &args[a] {
            ArgValue::Array(array) => {
                if let Some(elem) = elem
                    && DType::from(elem) != array.dtype
                {
                    let want = DType::from(elem);
                    return Some(format!(
                        "argument `{}` is an array of {}, and kernel parameter `{}` is `{}`; try {}.astype(np.{})",
                        param.name,
                        array.dtype,
                        param.name,
                        param_type(param.ty),
                        param.name,
                        if want == DType::Bool { "bool_" } else { want.name() }
                    ));
                }
            }
            ArgValue::None => {}
            other => {
                let kind = match other {
                    ArgValue::Int(_) | ArgValue::Float(_) | ArgValue::Bool(_) => "a number",
                    _ => "a str",
                };
                return Some(format!("argument `{}` is {kind}; an array is wanted", param.name));
            }
        }
    }
    None
}
