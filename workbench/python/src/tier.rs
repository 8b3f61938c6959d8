//! Tiers: the machine code that kernels get, and the report on a kernel's code.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use workbench::back::cpu;
use workbench::runtime::{self, Tier};

use crate::bench::mime;
use crate::errors::argument;

/// Chooses the machine code that kernels compiled from now on get on the CPU; returns the choice before.
///
/// `"auto"`, as at the start: code that is ready at once, better code a little later, and for hot kernels code that runs 16 threads side by side,
/// made in the background: `"lanes"` by Workbench (some tens of milliseconds), then `"wide"` by the machine's C compiler, if it has one, with vectors
/// as wide as the machine's (a few tenths of a second). `"soon"` and `"good"`: only the first, only the second. `"lanes"` and `"wide"`: the first
/// launch of a kernel with blocks of a shape waits for this code; a kernel that cannot have it runs good code, as `kernel.tier` says. All compute the
/// same bits, except for the order in which a thread's several float atomics are added; after a fault, arrays may hold more in `"lanes"` and
/// `"wide"`. Shapes and dtypes do not matter.
///
/// A kernel in which threads of a block may have to wait for one another in an order that is not known at compile time (warp functions in both
/// branches of a condition, a loop that waits for another thread of the block) runs each thread on a stack of its own, in every tier;
/// `kernel.tier` is then `"fibers"`. After `set_tier("fibers")` all kernels do so: slow, but no thread keeps another one waiting.
///
/// Raises `ArgumentError` for another name, and for `"wide"` if the machine has no C compiler (`pip install ziglang` brings one) or its
/// vectors are too short.
///
/// >>> import workbench as wb
/// >>> before = wb.set_tier("good")
/// >>> wb.set_tier(before)
/// 'good'
#[pyfunction]
pub fn set_tier(py: Python<'_>, tier: &str) -> PyResult<&'static str> {
    let Some(new) = Tier::of_name(tier) else {
        return Err(argument(
            py,
            format!(
                "`wb.set_tier` takes \"auto\", \"soon\", \"good\", \"lanes\", \"wide\" or \"fibers\", not {tier:?}"
            ),
        ));
    };
    if new == Tier::Wide
        && let Err(why) = cpu::wide_is_available()
    {
        return Err(argument(py, format!("this machine has no wide tier: {why}")));
    }
    let before = Tier::default().name();
    new.make_default();
    Ok(before)
}

/// The machine code of a kernel for blocks of one shape; `Kernel.tier_report` makes it.
#[pyclass(module = "workbench", frozen)]
pub struct TierReport(pub runtime::TierReport);

#[pymethods]
impl TierReport {
    /// The kernel's name.
    #[getter]
    fn kernel(&self) -> &str {
        &self.0.kernel
    }

    /// The extents of its blocks.
    #[getter]
    fn block(&self) -> (u32, u32, u32) {
        let block = self.0.block;
        (block.x, block.y, block.z)
    }

    /// The code that its last launch ran; None before the first.
    #[getter]
    fn last(&self) -> Option<&'static str> {
        self.0.last
    }

    /// One dict per tier, from `"soon"` to `"wide"`: `tier`; `code` (`"made"`, `"not yet"` or `"none"`); `why` (what makes it, or the reason
    /// why there is none; else None); `notes`, a list of sentences.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for row in &self.0.rows {
            let dict = PyDict::new(py);
            dict.set_item("tier", row.tier)?;
            dict.set_item("code", row.state.name())?;
            dict.set_item("why", row.state.why())?;
            dict.set_item("notes", &row.notes)?;
            rows.append(dict)?;
        }
        Ok(rows)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    #[pyo3(signature = (include=None, exclude=None))]
    fn _repr_mimebundle_<'py>(
        &self,
        py: Python<'py>,
        include: Option<&Bound<'py, PyAny>>,
        exclude: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = (include, exclude);
        mime(py, &self.0)
    }
}

/// The time after which a full queue is tried again.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Garbage whose drop blocks until nobody can send to it any more; but for the thread that made it, which drops it where the queue is full.
struct Blocker {
    receiver: Receiver<()>,
    maker: ThreadId,
    is_refused: Arc<AtomicBool>,
}

impl Drop for Blocker {
    fn drop(&mut self) {
        if thread::current().id() == self.maker {
            self.is_refused.store(true, Ordering::Relaxed);
        } else {
            let _ = self.receiver.recv();
        }
    }
}

/// A context manager: inside its `with`, the thread that makes good code waits, for tests of what others do meanwhile.
#[pyclass(module = "workbench", frozen)]
pub struct HeldMaker(Mutex<Option<Sender<()>>>);

#[pymethods]
impl HeldMaker {
    #[new]
    fn new() -> Self {
        HeldMaker(Mutex::new(None))
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
        loop {
            let (sender, receiver) = channel();
            let is_refused = Arc::new(AtomicBool::new(false));
            cpu::discard(Blocker { receiver, maker: thread::current().id(), is_refused: is_refused.clone() });
            if !is_refused.load(Ordering::Relaxed) {
                if let Ok(mut held) = self.0.lock() {
                    *held = Some(sender);
                }
                return Ok(());
            }
            py.check_signals()?;
            py.detach(|| thread::sleep(LOOK_AGAIN));
        }
    }

    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) {
        if let Ok(mut held) = self.0.lock() {
            *held = None;
        }
    }
}

/// Stops the compilations in the background; Python's `atexit` calls it.
#[pyfunction]
pub fn stop_compilers() {
    cpu::stop_compilers();
}

/// Searches Python's packages for a C compiler as well.
pub fn look_in_packages(py: Python<'_>) -> PyResult<()> {
    let path = py.import("sys")?.getattr("path")?;
    let folders = path.try_iter()?.filter_map(|entry| entry.ok()?.extract::<PathBuf>().ok());
    cpu::look_in_packages(folders.filter(|folder| folder.is_absolute()).collect::<Vec<_>>());
    Ok(())
}
