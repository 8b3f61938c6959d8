//! Calls whose tensors lie on a GPU: the GPU, and the stream that torch uses there now.
//!
//! Outputs come from torch's own allocator, on torch's current stream, which a function of `libtorch_cuda.so` gives; Python hands over the
//! address of that function. Host functions run on the CPU, and the boxed kernel says so.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use workbench::ops::schema::Schema;

use super::tensor::Handle;
use super::value::Taken;
use crate::on_gpu;

/// The address of torch's function that gives its current stream on a GPU; 0: not known.
static CURRENT: AtomicUsize = AtomicUsize::new(0);

/// `aoti_torch_get_current_cuda_stream`: the GPU's index, the stream's handle.
type CurrentStream = unsafe extern "C" fn(i32, *mut *mut c_void) -> i32;

/// Sets the address of the function that gives torch's current stream: it is in a library of its own, which a torch without CUDA does not
/// have.
#[pyfunction]
pub fn torch_streams(address: usize) {
    CURRENT.store(address, Ordering::Relaxed);
}

/// The stream that torch uses on a GPU now.
///
/// # Errors
/// One sentence, if torch cannot tell.
pub fn current_stream(gpu: u32) -> Result<u64, String> {
    let address = CURRENT.load(Ordering::Relaxed);
    if address == 0 {
        return Err("this torch does not say which stream it uses on a GPU; it is built without CUDA".to_owned());
    }
    let mut stream = std::ptr::null_mut();
    // SAFETY: the address is that of such a function, in a library that stays.
    let code = unsafe { std::mem::transmute::<usize, CurrentStream>(address)(gpu as i32, &raw mut stream) };
    if code == 0 { Ok(stream as u64) } else { Err(format!("torch does not say which stream it uses on cuda:{gpu}")) }
}

/// The GPU that the tensors of a call lie on; `None` if they lie in host memory.
///
/// # Errors
/// One sentence, naming tensors of two GPUs.
pub fn of(schema: &Schema, taken: &[Taken]) -> Result<Option<u32>, String> {
    let mut found: Option<(u32, &str)> = None;
    for (arg, value) in schema.args.iter().zip(taken) {
        let Taken::Tensor(tensor) = value else { continue };
        match (tensor.gpu(), found) {
            (Some(here), None) => found = Some((here, &arg.name)),
            (Some(here), Some((there, first))) if here != there => {
                return Err(format!(
                    "`{first}` is on cuda:{there} and `{}` on cuda:{here}; both have to be on one GPU",
                    arg.name
                ));
            }
            _ => {}
        }
    }
    if found.is_some() {
        // The text is compiled when it is first called on a GPU.
        on_gpu::find_nvrtc().map_err(|error| error.to_string())?;
    }
    Ok(found.map(|(gpu, _)| gpu))
}

/// A tensor of host memory, brought to the GPU of the others: a number may be the host's, as in torch.
///
/// # Errors
/// One sentence, if it is more than a number.
pub fn join(tensor: &Handle, name: &str, written: bool, gpu: u32) -> Result<Handle, String> {
    let dtype = super::value::known(tensor, name, true)?;
    if written || !tensor.sizes().is_empty() || !tensor.is_on_cpu() {
        return Err(format!("argument `{name}` is not on cuda:{gpu}, where others are; try {name}.cuda({gpu})"));
    }
    let copy = Handle::empty(tensor.abi(), dtype, &[], Some(gpu))?;
    copy.copy_from(tensor)?;
    Ok(copy)
}
