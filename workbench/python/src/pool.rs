//! Memory of large results, kept when the results go: an operator that is called again writes to the memory of its last result, so the
//! system need not provide and clear a page for every 4 KiB.
//!
//! NumPy asks through a memory handler ([`PyDataMem_SetHandler`], NumPy 1.22 on), so results own their memory as any array does. At most
//! [`limit`] bytes are kept, and none for much longer than [`LONGEST`]. Offering the memory to the system meanwhile (`MADV_FREE`) gains
//! nothing (`MEASUREMENTS.md`).
//!
//! [`PyDataMem_SetHandler`]: https://numpy.org/doc/stable/reference/c-api/data_memory.html

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use memmap2::{MmapMut, MmapOptions};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Arrays of at least this many bytes get their memory here: the C library keeps smaller ones by itself.
pub const LEAST: usize = 4 << 20;

/// Sizes are multiples of this, a large page.
const GRAIN: usize = 2 << 20;

/// A kept block serves a request that needs all of it except this part.
const SLACK: usize = 4;

/// The number of bytes that are kept, unless the machine's memory is small.
const MOST_KEPT: usize = 512 << 20;

/// The part of the machine's memory that may be kept.
const PART_OF_MACHINE: usize = 16;

/// The time for which an unused block is kept; it is given back when the next result comes or goes.
const LONGEST: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Pool {
    /// Unused blocks, each with the time since it is unused, the latest at the end.
    kept: Vec<(MmapMut, Instant)>,
    /// Blocks of living arrays, by address.
    used: HashMap<usize, MmapMut>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

fn locked() -> MutexGuard<'static, Option<Pool>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of bytes that may be kept.
fn limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let said = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let total = said
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok());
        total.map_or(MOST_KEPT, |kib: usize| (kib * 1024 / PART_OF_MACHINE).min(MOST_KEPT))
    })
}

impl Pool {
    /// A block of at least so many bytes; null where there is no memory.
    fn take(&mut self, bytes: usize) -> *mut u8 {
        let Some(size) = bytes.max(1).checked_next_multiple_of(GRAIN) else { return ptr::null_mut() };
        let fits = |(block, _): &(MmapMut, Instant)| block.len() >= size && block.len() - size <= size / SLACK;
        let mut block = match self.kept.iter().rposition(fits) {
            Some(at) => self.kept.remove(at).0,
            None => {
                let Ok(block) = MmapOptions::new().len(size).map_anon() else { return ptr::null_mut() };
                #[cfg(target_os = "linux")]
                let _ = block.advise(memmap2::Advice::HugePage);
                block
            }
        };
        let start = block.as_mut_ptr();
        self.used.insert(start as usize, block);
        start
    }

    /// Takes a block back; the oldest blocks are freed if too much is kept.
    fn give(&mut self, start: *mut u8) {
        let Some(block) = self.used.remove(&(start as usize)) else { return };
        let now = Instant::now();
        self.kept.push((block, now));
        self.kept.retain(|(_, since)| now.duration_since(*since) < LONGEST);
        let mut total = self.kept();
        while total > limit() {
            total -= self.kept.remove(0).0.len();
        }
    }

    /// The number of bytes that are kept.
    fn kept(&self) -> usize {
        self.kept.iter().map(|(block, _)| block.len()).sum()
    }

    /// The size of a living block.
    fn size(&self, start: *mut u8) -> usize {
        self.used.get(&(start as usize)).map_or(0, |block| block.len())
    }
}

extern "C" fn malloc(_: *mut c_void, bytes: usize) -> *mut c_void {
    locked().get_or_insert_default().take(bytes).cast()
}

extern "C" fn calloc(_: *mut c_void, count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    let start = malloc(ptr::null_mut(), bytes);
    if !start.is_null() {
        // SAFETY: the block has at least so many bytes.
        unsafe { ptr::write_bytes(start.cast::<u8>(), 0, bytes) };
    }
    start
}

extern "C" fn realloc(_: *mut c_void, old: *mut c_void, bytes: usize) -> *mut c_void {
    let mut pool = locked();
    let pool = pool.get_or_insert_default();
    let new = pool.take(bytes);
    if !new.is_null() && !old.is_null() {
        let both = pool.size(old.cast()).min(bytes);
        // SAFETY: two blocks, each of at least so many bytes.
        unsafe { ptr::copy_nonoverlapping(old.cast::<u8>(), new, both) };
        pool.give(old.cast());
    }
    new.cast()
}

extern "C" fn free(_: *mut c_void, start: *mut c_void, _: usize) {
    locked().get_or_insert_default().give(start.cast());
}

/// NumPy's `PyDataMem_Handler`, version 1.
#[repr(C)]
struct Handler {
    name: [c_char; 127],
    version: u8,
    context: *mut c_void,
    malloc: extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: extern "C" fn(*mut c_void, *mut c_void, usize),
}

// SAFETY: constants.
unsafe impl Sync for Handler {}

static HANDLER: Handler = Handler {
    name: {
        let (mut name, text) = ([0; 127], b"workbench");
        let mut i = 0;
        while i < text.len() {
            name[i] = text[i] as c_char;
            i += 1;
        }
        name
    },
    version: 1,
    context: ptr::null_mut(),
    malloc,
    calloc,
    realloc,
    free,
};

/// The name that NumPy requires of a handler's capsule.
const CAPSULE: &CStr = c"mem_handler";

/// The offset of `PyDataMem_SetHandler` in NumPy's table of functions.
const SET_HANDLER: usize = 304;

type SetHandler = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;

struct Api {
    set: SetHandler,
    capsule: Py<PyAny>,
}

fn api(py: Python<'_>) -> PyResult<&'static Api> {
    static API: PyOnceLock<Api> = PyOnceLock::new();
    API.get_or_try_init(py, || {
        let umath =
            py.import("numpy._core._multiarray_umath").or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let table = umath.getattr("_ARRAY_API")?;
        // SAFETY: NumPy's capsule of its functions, which has no name; from 1.22 on entry 304 is the one we want. A capsule of ours holds
        // an address that stays.
        unsafe {
            let functions: *const *const c_void = ffi::PyCapsule_GetPointer(table.as_ptr(), ptr::null()).cast();
            if functions.is_null() {
                return Err(PyErr::fetch(py));
            }
            let set = std::mem::transmute::<*const c_void, SetHandler>(*functions.add(SET_HANDLER));
            let handler = (&raw const HANDLER).cast_mut().cast();
            let capsule = Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(handler, CAPSULE.as_ptr(), None))?;
            Ok(Api { set, capsule: capsule.unbind() })
        }
    })
}

/// Runs `make`, which makes an array, such that its memory comes from here; `make` gives a new reference, or null with an exception set.
///
/// # Errors
/// The exception; one of NumPy's, if it takes no handlers.
pub fn with_pool<'py>(py: Python<'py>, make: impl FnOnce() -> *mut ffi::PyObject) -> PyResult<Bound<'py, PyAny>> {
    let api = api(py)?;
    // SAFETY: the capsule is a handler's; the earlier handler is a new reference, and is set again whatever `make` does.
    unsafe {
        let before = Bound::from_owned_ptr_or_err(py, (api.set)(api.capsule.as_ptr()))?;
        let made = Bound::from_owned_ptr_or_err(py, make());
        drop(Bound::from_owned_ptr_or_err(py, (api.set)(before.as_ptr()))?);
        made
    }
}

/// The number of bytes that are kept for results to come.
#[pyfunction]
pub fn pooled_bytes() -> usize {
    locked().as_ref().map_or(0, Pool::kept)
}
