//! Arrays that lie on a GPU: the description that objects give of them, and the GPU and the stream of a launch on them.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use workbench::back::cuda;
use workbench::runtime::{self, DType, Queue};

use crate::args::interop;
use crate::errors::argument;
use crate::gil;
use crate::interrupt::Poll;
use crate::kernel::failed;

/// An array on a GPU, as its object describes it.
pub struct GpuArray<'py> {
    /// The object itself.
    pub object: Bound<'py, PyAny>,
    /// First byte, on the GPU.
    pub ptr: u64,
    /// The element type by its name; kernels do not have all of them.
    pub dtype_name: String,
    /// Extents.
    pub shape: Vec<usize>,
    /// Strides in bytes; `None`: row-major without gaps.
    strides: Option<Vec<isize>>,
    /// True if it may be written.
    pub writable: bool,
    /// The GPU, if the object or the driver tells it.
    device: Option<u32>,
    /// The stream that it was made on, if its interface tells it.
    stream: Option<u64>,
}

/// Pointer, dtype, extents, strides in bytes, true if it is read-only, GPU, stream.
type Described = (u64, String, Vec<usize>, Option<Vec<isize>>, bool, Option<u32>, Option<u64>);

impl<'py> GpuArray<'py> {
    /// The array of an object, as the object describes it; `None` where it has none on a GPU.
    ///
    /// # Errors
    /// `ArgumentError` for an array on a GPU that does not give its memory.
    pub fn of(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Self>> {
        let said = interop(object.py())?.call_method1("gpu_array", (object, name))?;
        let Some((ptr, dtype_name, shape, strides, read_only, device, stream)) = said.extract::<Option<Described>>()?
        else {
            return Ok(None);
        };
        let device = device.or_else(|| cuda::device_of(ptr));
        let object = object.clone();
        Ok(Some(GpuArray { object, ptr, dtype_name, shape, strides, writable: !read_only, device, stream }))
    }

    /// The element type; `None` for one that no kernel parameter can have.
    pub fn dtype(&self) -> Option<DType> {
        DType::from_name(&self.dtype_name)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Strides in bytes.
    pub fn strides(&self, size: usize) -> Vec<isize> {
        self.strides.clone().unwrap_or_else(|| {
            let after = |at: usize| self.shape[at + 1..].iter().product::<usize>();
            (0..self.shape.len()).map(|at| (after(at) * size) as isize).collect()
        })
    }

    /// True if it is row-major without gaps.
    pub fn is_contiguous(&self, size: usize) -> bool {
        let Some(strides) = &self.strides else { return true };
        let mut step = size;
        let mut fits = true;
        for (&extent, &stride) in self.shape.iter().zip(strides).rev() {
            fits &= extent == 1 || stride == step as isize;
            step *= extent;
        }
        fits || self.shape.contains(&0)
    }

    /// The advice on how to make a contiguous copy with its library.
    pub fn copy_help(&self, name: &str) -> String {
        let module = self.object.get_type().module().map_or_else(|_| String::new(), |m| m.to_string());
        match module.split('.').next() {
            Some("torch") => format!("pass {name}.contiguous()"),
            Some("cupy") => format!("pass cupy.ascontiguousarray({name})"),
            _ => "pass a contiguous copy".to_owned(),
        }
    }
}

/// A stream for a launch.
pub struct Stream {
    handle: u64,
    device: Option<u32>,
    /// Keeps the stream alive.
    _object: Py<PyAny>,
}

impl Stream {
    /// The stream of an object: a handle, or a stream of an array library's.
    ///
    /// # Errors
    /// `ArgumentError` for an object that is no stream.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (handle, device) = interop(object.py())?.call_method1("stream_of", (object,))?.extract()?;
        Ok(Stream { handle, device, _object: object.clone().unbind() })
    }
}

/// An array of a launch that lies on a GPU.
struct Seen<'py> {
    name: String,
    object: Bound<'py, PyAny>,
    device: Option<u32>,
    stream: Option<u64>,
}

/// The places of a launch's arrays: all in host memory, or all on one GPU.
#[derive(Default)]
pub struct Places<'py> {
    host: Option<String>,
    seen: Vec<Seen<'py>>,
}

/// The legacy default stream has two names.
fn named_once(stream: u64) -> u64 {
    if stream == 1 { 0 } else { stream }
}

fn mixed(host: &str, gpu: &str) -> String {
    format!(
        "`{gpu}` lies on a GPU and `{host}` in host memory; the arrays of a launch lie in one place, so copy one of them there first"
    )
}

impl<'py> Places<'py> {
    /// Notes an array in host memory.
    ///
    /// # Errors
    /// `ArgumentError` that names an array on a GPU.
    pub fn host(&mut self, py: Python<'py>, name: &str) -> PyResult<()> {
        if let Some(gpu) = self.seen.first() {
            return Err(argument(py, mixed(name, &gpu.name)));
        }
        self.host.get_or_insert_with(|| name.to_owned());
        Ok(())
    }

    /// Notes an array on a GPU.
    ///
    /// # Errors
    /// `ArgumentError` that names an array elsewhere.
    pub fn gpu(&mut self, name: &str, array: &GpuArray<'py>) -> PyResult<()> {
        let py = array.object.py();
        if let Some(host) = &self.host {
            return Err(argument(py, mixed(host, name)));
        }
        let other = self.seen.iter().find(|s| s.device.is_some());
        if let (Some(other), Some(here)) = (other, array.device)
            && let Some(there) = other.device.filter(|there| *there != here)
        {
            let what = format!("`{}` lies on cuda:{there} and `{name}` on cuda:{here}", other.name);
            return Err(argument(py, format!("{what}; the arrays of a launch lie on one GPU")));
        }
        let (object, device, stream) = (array.object.clone(), array.device, array.stream);
        self.seen.push(Seen { name: name.to_owned(), object, device, stream });
        Ok(())
    }

    /// True if arrays lie on a GPU.
    pub fn on_gpu(&self) -> bool {
        !self.seen.is_empty()
    }

    /// True if an array is one of those on a GPU, by its name.
    pub fn has(&self, name: &str) -> bool {
        self.seen.iter().any(|seen| seen.name == name)
    }

    /// An array of host memory, if it is a single number, as an array on the GPU of the others; `name` is its name in messages.
    ///
    /// # Errors
    /// `ArgumentError` that names an array on the GPU, if this one is more than a number.
    pub fn join(&self, name: &str, host: &Bound<'py, PyAny>, is_number: bool) -> PyResult<GpuArray<'py>> {
        let py = host.py();
        let wrong = || argument(py, mixed(name, self.seen.first().map_or("?", |seen| &seen.name)));
        let first = self.seen.first().filter(|_| is_number).ok_or_else(wrong)?;
        let copy = interop(py)?.call_method1("gpu_copy", (&first.object, host, self.device()))?;
        GpuArray::of(&copy, name)?.ok_or_else(wrong)
    }

    /// A fresh array of the first array's library, on the same GPU.
    ///
    /// # Errors
    /// `ArgumentError` for a library that makes none; the library's own errors.
    pub fn empty(&self, py: Python<'py>, shape: &[usize], dtype: DType) -> PyResult<GpuArray<'py>> {
        let none = || argument(py, "the arrays' library made no array on a GPU");
        let first = self.seen.first().ok_or_else(none)?;
        let shape = PyTuple::new(py, shape)?;
        let made = interop(py)?.call_method1("gpu_empty", (&first.object, shape, dtype.name(), self.device()))?;
        let array = GpuArray::of(&made, "out")?.filter(|a| a.is_contiguous(dtype.size())).ok_or_else(none)?;
        // The array is fresh: nobody else has it, so it may be written whatever its library says.
        Ok(GpuArray { writable: true, ..array })
    }

    /// The GPU that the arrays lie on.
    fn device(&self) -> u32 {
        self.seen.iter().find_map(|s| s.device).unwrap_or(0)
    }

    /// The queue of a launch on these arrays: the stream asked for, else the one that the arrays' library uses now. `None`: they are in host
    /// memory.
    ///
    /// # Errors
    /// `ArgumentError` for a stream with host arrays, or of another GPU.
    pub fn queue(&self, py: Python<'py>, stream: Option<&Stream>) -> PyResult<Option<Held>> {
        if self.seen.is_empty() && (stream.is_none() || self.host.is_some()) {
            return match stream {
                Some(_) => Err(argument(py, HOST_STREAM)),
                None => Ok(None),
            };
        }
        let device = self.seen.iter().find_map(|s| s.device).or_else(|| stream.and_then(|s| s.device)).unwrap_or(0);
        if let Some(other) = stream.and_then(|s| s.device).filter(|d| *d != device) {
            let what = format!("the stream is one of cuda:{other}, and the arrays lie on cuda:{device}");
            return Err(argument(py, what));
        }
        let mut own = Vec::new();
        let mut waits = false;
        if stream.is_none() {
            let mut asked: Option<(Bound<'_, PyType>, Option<u64>)> = None;
            for seen in &self.seen {
                let class = seen.object.get_type();
                let current = match asked.take().filter(|(of, _)| of.is(&class)) {
                    Some((_, current)) => current,
                    None => interop(py)?.call_method1("current_stream", (&seen.object, device))?.extract()?,
                };
                asked = Some((class, current));
                let on = current.or(seen.stream).map(named_once);
                // A library that does not make its stream known may reuse the memory as soon as the array is gone.
                waits |= on.is_none();
                own.extend(on);
            }
        }
        let on = stream.map_or_else(|| own.first().copied().unwrap_or(0), |s| named_once(s.handle));
        let others = |streams: &mut dyn Iterator<Item = u64>| {
            let mut all: Vec<u64> = streams.filter(|s| *s != on).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let before = others(&mut own.into_iter());
        let made_on = self.seen.iter().filter_map(|s| s.stream).map(named_once);
        let after = others(&mut made_on.filter(|s| !before.contains(s)));
        Ok(Some(Held { device, stream: on, after, before, waits }))
    }
}

/// The error about a stream with host arrays.
pub const HOST_STREAM: &str = "stream must be None: host arrays are launched synchronously, without a stream";

/// A [`Queue`] with the streams that it names.
pub struct Held {
    device: u32,
    stream: u64,
    after: Vec<u64>,
    before: Vec<u64>,
    waits: bool,
}

impl Held {
    /// The queue in the form that a launch takes.
    pub fn queue(&self) -> Queue<'_> {
        let Held { device, stream, ref after, ref before, waits } = *self;
        Queue { device, stream, after, before, waits }
    }
}

/// Waits for the kernels that were queued on arrays of a GPU, and raises the error of one of them.
///
/// Launches on such arrays return at once. Their errors are raised here, by a later launch, or at the end of a notebook's cell, as a
/// KernelFault that names the kernel. Work of other libraries is not waited for. Without such launches it does nothing.
///
/// >>> import workbench as wb
/// >>> wb.synchronize()
#[pyfunction]
pub fn synchronize(py: Python<'_>) -> PyResult<()> {
    let poll = Poll::new(false);
    match py.detach(|| runtime::synchronize(Some(&poll))) {
        Ok(true) => Ok(()),
        Ok(false) => Err(poll.into_raised().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))),
        Err(error) => Err(failed(py, error, poll)),
    }
}

/// Searches NVIDIA's wheels for NVRTC, once: an operator's text is compiled when it is first called on a GPU.
///
/// # Errors
/// Errors of Python's, when the package is broken.
pub fn find_nvrtc() -> PyResult<()> {
    static FOUND: AtomicBool = AtomicBool::new(false);
    if !FOUND.load(Ordering::Relaxed) {
        gil::attach(|py| py.import("workbench._compile")?.call_method0("find_nvidia").map(drop))?;
        FOUND.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// True if kernels were queued that nobody has waited for.
#[pyfunction]
pub fn has_queued(py: Python<'_>) -> bool {
    py.detach(runtime::has_queued)
}
