//! Kernels that are queued. Nobody waits for them, so their errors show later (at `wb.synchronize()`, at a later launch, at the end of a
//! cell), and are then reported with the kernels' names.
//!
//! A wait polls an event after the last kernel of each stream, so it can be interrupted, also while it waits for another thread's launch.
//! The event is recorded at once, because the stream may be gone by the time of the wait. The default stream never goes, so there the event
//! is recorded only for a wait, as an event costs the GPU time (`MEASUREMENTS.md`). The driver only says that one of the kernels before an
//! error made it, so every kernel queued since the last wait is named.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};

use super::Code;
use super::driver::{self, GpuState, Previous};
use crate::back::{FaultKind, Interrupt, RawFault};
use crate::source::{SourceMap, Span};

/// The reason why a launch was not made.
#[derive(Debug)]
pub enum Refused {
    /// One sentence on why no kernel can run here.
    Unavailable(String),
    /// A kernel that was queued earlier has faulted.
    Late(Box<Late>),
}

impl From<Box<Late>> for Refused {
    fn from(late: Box<Late>) -> Self {
        Refused::Late(late)
    }
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Refused::Unavailable(why)
    }
}

/// The error of a queued kernel, or of one of several.
#[derive(Debug)]
pub struct Late {
    /// The kernel.
    pub kernel: String,
    /// The fault.
    pub fault: RawFault,
    /// The texts that the fault points into.
    pub sources: Arc<SourceMap>,
}

/// A kernel that was queued.
struct Origin {
    kernel: String,
    span: Span,
    sources: Arc<SourceMap>,
}

/// The kernels queued on a GPU since the last wait.
#[derive(Default)]
pub(super) struct Queued {
    /// The kernels, each once, the last queued last.
    kernels: Vec<Origin>,
    /// The event after the last kernel of each stream.
    marks: Vec<(u64, sys::CUevent)>,
    /// True if kernels are on the default stream with no event after them yet.
    is_unmarked: bool,
    spare: Vec<sys::CUevent>,
}

/// The legacy default stream.
const DEFAULT: u64 = 0;

/// An event without timing.
fn event() -> Result<sys::CUevent, DriverError> {
    result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
}

/// An event that happens when all work that is now on a stream has ended.
pub(super) fn end_of(stream: sys::CUstream) -> Result<sys::CUevent, DriverError> {
    let event = event()?;
    // SAFETY: the event is fresh, and of the current context, as the stream is.
    unsafe { result::event::record(event, stream) }?;
    Ok(event)
}

/// Makes later work on `later` wait for the work that is on `earlier`.
pub(super) fn order(earlier: u64, later: u64) -> Result<(), DriverError> {
    if earlier == later {
        return Ok(());
    }
    let event = end_of(earlier as sys::CUstream)?;
    // SAFETY: the event was recorded; the driver keeps it for as long as it is waited for.
    unsafe {
        let waits = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        let made = result::stream::wait_event(later as sys::CUstream, event, waits);
        let _ = result::event::destroy(event);
        made
    }
}

/// True if work put on a stream is recorded into a graph, rather than run.
pub(super) fn is_captured(stream: sys::CUstream) -> Result<bool, DriverError> {
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: a handle that is no stream is an error.
    unsafe { sys::cuStreamIsCapturing(stream, &raw mut status) }.result()?;
    Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}

/// Waits for an event of the current context; `false` when interrupted.
pub(super) fn wait_for(event: sys::CUevent, patience: &mut Patience<'_>) -> Result<bool, DriverError> {
    loop {
        // SAFETY: the event is ours, and of the current context.
        match unsafe { result::event::query(event) } {
            Ok(()) => return Ok(true),
            Err(e) if e.0 == CUresult::CUDA_ERROR_NOT_READY => {
                if patience.interrupted() {
                    return Ok(false);
                }
            }
            Err(e) => return Err(e),
        }
    }
}

impl Queued {
    /// True if nothing is to be waited for.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Counts a kernel that has just been queued on a stream.
    pub fn add(&mut self, code: &Code, kernel: &str, stream: u64) -> Result<(), DriverError> {
        let same = |o: &Origin| o.kernel == kernel && Arc::ptr_eq(&o.sources, &code.sources);
        let origin = match self.kernels.iter().rposition(same) {
            Some(at) => self.kernels.remove(at),
            None => {
                let (span, sources) = (code.kernel_span(kernel), code.sources.clone());
                Origin { kernel: kernel.to_owned(), span, sources }
            }
        };
        self.kernels.push(origin);
        if stream == DEFAULT {
            self.is_unmarked = true;
            return Ok(());
        }
        self.mark(stream)
    }

    /// Records the event of a stream after the work that is on it now.
    fn mark(&mut self, stream: u64) -> Result<(), DriverError> {
        let mark = match self.marks.iter().find(|(s, _)| *s == stream) {
            Some((_, mark)) => *mark,
            None => {
                let mark = self.spare.pop().map_or_else(event, Ok)?;
                self.marks.push((stream, mark));
                mark
            }
        };
        // SAFETY: the event is ours, and of the current context.
        unsafe { result::event::record(mark, stream as sys::CUstream) }
    }

    /// Waits for all that was queued; `false` when interrupted.
    fn wait(&mut self, interrupt: Option<&dyn Interrupt>) -> Result<bool, DriverError> {
        let mut patience = Patience::new(interrupt);
        if self.is_unmarked {
            self.mark(DEFAULT)?;
            self.is_unmarked = false;
        }
        while let Some(&(_, mark)) = self.marks.last() {
            if !wait_for(mark, &mut patience)? {
                return Ok(false);
            }
            self.marks.pop();
            self.spare.push(mark);
        }
        self.kernels.clear();
        Ok(true)
    }
}

impl GpuState {
    /// Waits for all that was queued on this GPU, whose context is current; `false` when interrupted.
    ///
    /// # Errors
    /// The error of a queued kernel; or the reason why the driver does not tell, as while a graph is recorded, and then the kernels stay
    /// queued.
    pub fn settle(&mut self, interrupt: Option<&dyn Interrupt>) -> Result<bool, Refused> {
        self.queued.wait(interrupt).map_err(|error| match driver::breaks_context(error) {
            true => self.late(error, None).into(),
            false => format!("kernels queued earlier cannot be waited for now: {}", driver::describe(error)).into(),
        })
    }

    /// The error of a queued kernel. `unlaunched`: the kernel whose launch met it.
    pub fn late(&mut self, error: DriverError, unlaunched: Option<&str>) -> Box<Late> {
        let mut all = std::mem::take(&mut self.queued).kernels;
        let names: Vec<String> = all.iter().map(|o| format!("`{}`", o.kernel)).collect();
        if driver::breaks_context(error) {
            let who = match names.as_slice() {
                [] => "something else that it ran there".to_owned(),
                [one] => format!("kernel {one}"),
                several => format!("one of the kernels {}", several.join(", ")),
            };
            self.lose(&who, error);
        }
        let mut detail = driver::explained(error).unwrap_or_else(|| format!("it failed: {}", driver::describe(error)));
        detail += match names.len() {
            0 | 1 => "; it was queued, so the error shows only now",
            _ => "; it, or another that was queued since the last wb.synchronize(): ",
        };
        if names.len() > 1 {
            detail += &names[1..].join(", ");
            detail += " (with CUDA_LAUNCH_BLOCKING=1 in the environment the driver waits for each)";
        }
        if let Some(kernel) = unlaunched {
            detail += &format!("; `{kernel}` was not launched");
        }
        let (kernel, span, sources) = match all.is_empty() {
            true => (String::new(), Span::NONE, Arc::default()),
            false => {
                let first = all.swap_remove(0);
                (first.kernel, first.span, first.sources)
            }
        };
        let (block, thread) = ([0; 3], [0; 3]);
        let kind = FaultKind::Device;
        Box::new(Late {
            kernel,
            fault: RawFault { kind, span, block, thread, detail, related: None, kernel: None, called: None },
            sources,
        })
    }
}

/// Waits for the kernels that were queued, on every GPU; `false` when interrupted.
///
/// # Errors
/// The error of one of them.
pub fn synchronize(interrupt: Option<&dyn Interrupt>) -> Result<bool, Refused> {
    if !driver::is_ours() {
        return Ok(true);
    }
    for device in driver::used() {
        let Some(mut state) = driver::state(device, interrupt) else { return Ok(false) };
        if state.queued.is_empty() {
            continue;
        }
        let _previous = Previous::remember();
        state.ready()?;
        if !state.settle(interrupt)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if kernels were queued that nobody has waited for, or may be queued now, because a launch of another thread is under way.
pub fn has_queued() -> bool {
    let busy = |device| driver::try_state(device).is_none_or(|state| !state.queued.is_empty());
    driver::is_ours() && driver::used().into_iter().any(busy)
}

/// Waiting by polling: at first without sleeping, since most kernels take microseconds.
pub(super) struct Patience<'a> {
    begun: Instant,
    polled: Instant,
    interrupt: Option<&'a dyn Interrupt>,
}

impl<'a> Patience<'a> {
    pub fn new(interrupt: Option<&'a dyn Interrupt>) -> Self {
        let begun = Instant::now();
        Patience { begun, polled: begun, interrupt }
    }

    /// The time it has waited.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Waits a little; true if the user wants it to stop.
    pub fn interrupted(&mut self) -> bool {
        const AWAKE: Duration = Duration::from_micros(200);
        const LONGEST_NAP: Duration = Duration::from_millis(2);
        const BETWEEN_POLLS: Duration = Duration::from_millis(5);
        if self.polled.elapsed() >= BETWEEN_POLLS {
            self.polled = Instant::now();
            if self.interrupt.is_some_and(|i| i.interrupted()) {
                return true;
            }
        }
        let elapsed = self.elapsed();
        if elapsed < AWAKE {
            std::hint::spin_loop();
        } else {
            std::thread::sleep((elapsed / 8).min(LONGEST_NAP));
        }
        false
    }
}
