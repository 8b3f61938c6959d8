//! Launches that record the writers of elements while their thread watches: a gradient check finds by them who wrote a wrong gradient.

use std::cell::{Cell, RefCell};

use super::binding::Source;
use crate::back::Dim3;
use crate::pass::instrument::writers;
use crate::runtime::{Arg, DType, Kernel, LaunchConfig, Report, Result, Tensor};

/// The writers of one array.
#[derive(Debug, Clone)]
pub struct Written {
    /// The fresh output or the argument.
    pub source: Source,
    pub(super) records: Tensor,
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
}

impl Written {
    /// Extents of a block (x, y, z) of the launch that was recorded.
    pub fn block(&self) -> [u32; 3] {
        [self.block.x, self.block.y, self.block.z]
    }

    /// (block, thread) of the thread that wrote an element last; `None`: no write was seen.
    pub fn writer(&self, element: usize) -> Option<([u32; 3], [u32; 3])> {
        let (block, thread) = writers::writer(*self.records.as_slice::<u64>()?.get(element)?, self.block.count())?;
        Some((self.grid.unflatten(block), self.block.unflatten(thread)))
    }
}

thread_local! {
    /// The launches of this thread since it began to watch; `None` while it does not.
    static WATCHED: RefCell<Option<Vec<Watched>>> = const { RefCell::new(None) };
}

thread_local! {
    /// True while operators' outputs are poisoned on this thread.
    static POISONS: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` with the outputs of operators' kernels for the CPU poisoned before their launches on this thread, so that elements which nobody
/// writes show.
pub fn poison_outputs<T>(f: impl FnOnce() -> T) -> T {
    /// Ends it however `f` ends.
    struct Guard(bool);
    impl Drop for Guard {
        fn drop(&mut self) {
            POISONS.set(self.0);
        }
    }
    let _guard = Guard(POISONS.replace(true));
    f()
}

/// Poisons the fresh outputs among a kernel's arguments, where that is wanted.
pub(super) fn poison(sources: &[Source], raw: &[Arg]) {
    if !POISONS.get() {
        return;
    }
    for (source, arg) in sources.iter().zip(raw) {
        if let (Source::Output(_), Arg::Buffer(lent)) = (source, arg) {
            Tensor::poison(lent);
        }
    }
}

/// An array that an operator's kernel wrote while its thread watched.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The kernel's name.
    pub kernel: String,
    /// The elements after the launch.
    pub values: Tensor,
    /// Their writers.
    pub written: Written,
}

/// Runs `f`, and gives each array that operators' kernels for the CPU wrote on this thread meanwhile, in the order of the launches. The launches
/// record their writers, so they take longer.
pub fn watch_writers<T>(f: impl FnOnce() -> T) -> (T, Vec<Watched>) {
    /// Ends watching however `f` ends.
    struct Guard(Option<Vec<Watched>>);
    impl Drop for Guard {
        fn drop(&mut self) {
            WATCHED.set(self.0.take());
        }
    }
    let guard = Guard(WATCHED.replace(Some(Vec::new())));
    let made = f();
    let watched = WATCHED.take().unwrap_or_default();
    drop(guard);
    (made, watched)
}

/// True if the launches of this thread record their writers.
pub(super) fn is_watching() -> bool {
    WATCHED.with_borrow(Option::is_some)
}

/// Launches a kernel on its arguments with the writers recorded; `sources` are those of the arguments.
pub(super) fn launch_watched(
    kernel: &Kernel,
    sources: &[Source],
    config: &LaunchConfig<'_>,
    raw: &[Arg],
) -> Result<Report> {
    let (recording, params) = kernel.with_writers()?;
    let mut records: Vec<Tensor> = params.iter().map(|&param| records_of(&raw[param])).collect();
    let mut all = raw.to_vec();
    all.extend(records.iter_mut().map(|tensor| Arg::Buffer(tensor.buffer(true))));
    let report = recording.launch_raw(config, &all)?;
    for (&param, records) in params.iter().zip(records) {
        if let Arg::Buffer(lent) = &raw[param] {
            let written = Written { source: sources[param], records, grid: config.grid, block: config.block };
            let one = Watched { kernel: kernel.name().to_owned(), values: Tensor::copy_of(lent), written };
            WATCHED.with_borrow_mut(|watched| watched.as_mut().map(|watched| watched.push(one)));
        }
    }
    Ok(report)
}

/// The memory for the writers of an argument's elements.
pub(super) fn records_of(arg: &Arg) -> Tensor {
    let size = if let Arg::Buffer(buffer) = arg { buffer.dtype.size() } else { 1 };
    Tensor::zeros(DType::UInt64, &[elements(arg, size)])
}

/// The number of elements of an array argument, by the size of an element in bytes; none for a null pointer.
pub(super) fn elements(arg: &Arg, size: usize) -> usize {
    match arg {
        Arg::Buffer(buffer) => buffer.bytes / size,
        _ => 0,
    }
}
