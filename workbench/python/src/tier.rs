//! Which machine code kernels get.

use std::path::PathBuf;

use pyo3::prelude::*;
use workbench::back::cpu;
use workbench::runtime::Tier;

use crate::errors::argument;

/// Chooses the machine code that kernels compiled from now on get on the CPU; returns the choice before.
///
/// `"auto"`, as at the start: code that is there at once, better code a little later, and for kernels that turn out to be hot code that runs
/// 16 threads side by side, made in the background: `"lanes"` by Workbench (some tens of milliseconds), then `"wide"` by the machine's C compiler,
/// if it has one, with vectors as wide as the machine's (a few tenths of a second). `"soon"` and `"good"`: only the first, only the second. `"lanes"`
/// and `"wide"`: the first launch of a kernel with blocks of a shape waits for it; a kernel that has none runs good code, as `kernel.tier` says. All compute the same bits, but for the order in which a
/// thread's several float atomics are added; after a fault, arrays may hold more in `"lanes"` and `"wide"`. Shapes and dtypes do not matter.
///
/// A kernel in which threads of a block may have to wait for one another in no order known when it is compiled (warp functions in both branches
/// of a condition, a loop that waits for another thread of the block) runs each thread on a stack of its own, in every tier; `kernel.tier` is
/// `"fibers"` then. After `set_tier("fibers")` all kernels do: slow, but no thread keeps another one waiting.
///
/// Raises `ArgumentError` for another name, and for `"wide"` where the machine has no C compiler (`pip install ziglang` brings one) or too
/// short vectors.
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
            format!("`set_tier` takes \"auto\", \"soon\", \"good\", \"lanes\", \"wide\" or \"fibers\", not {tier:?}"),
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

/// Stops what compiles in the background; Python's `atexit` calls it.
#[pyfunction]
pub fn stop_compilers() {
    cpu::stop_compilers();
}

/// Has a C compiler looked for among Python's packages as well.
pub fn look_in_packages(py: Python<'_>) -> PyResult<()> {
    let path = py.import("sys")?.getattr("path")?;
    let folders = path.try_iter()?.filter_map(|entry| entry.ok()?.extract::<PathBuf>().ok());
    cpu::look_in_packages(folders.filter(|folder| folder.is_absolute()).collect::<Vec<_>>());
    Ok(())
}
