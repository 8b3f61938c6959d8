//! Launches of kernels. With host arrays: they are copied to device 0, the kernel is waited for, arrays are copied back and the log is
//! read. Arrays that lie on a GPU are passed as they are, and the kernel is queued there.

use std::ffi::c_void;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUfunction_attribute_enum as Attribute, CUresult};

use super::driver::{self, Abandoned, Context, GpuState, Previous};
use super::queue::{self, Patience, Refused};
use super::{Code, record, variables};
use crate::back::{FaultKind, Interrupt, LaunchConfig, Outcome, Queue, RawArg, RawFault, Reach, name_kernel};
use crate::ir::{Param, ParamType};

/// The pointer of the prelude to the log.
pub(super) const LOG_SYMBOL: &str = "__wb_log";

/// Dynamic shared memory that a kernel gets without asking for more (CUDA C++ Programming Guide, "Shared Memory").
const SHARED_BY_DEFAULT: u32 = 48 << 10;

/// The reason why a kernel that is waited for is not put into a graph.
const CAPTURED: &str = "the stream is being captured into a graph, and a launch is waited for where it prints, asserts, has a timeout, or is \
                        given arrays of a library that does not say on which stream it works";

/// A run of host memory that is copied to the device as one.
struct Region {
    start: usize,
    end: usize,
    /// Device address of `start`; 0 until allocated.
    device: sys::CUdeviceptr,
}

/// A failure on the way: the driver's error, and the step that met it.
struct Failure {
    error: DriverError,
    doing: String,
}

fn doing(what: impl Into<String>) -> impl FnOnce(DriverError) -> Failure {
    move |error| Failure { error, doing: what.into() }
}

/// The end of a wait for a kernel.
enum End {
    Done,
    GivenUp(FaultKind, String),
}

/// A launch on a GPU: the launch's own arguments, with the kernel's name in the machine code.
struct GpuLaunch<'a> {
    kernel: &'a str,
    lowered: &'a str,
    params: &'a [Param],
    args: &'a [RawArg],
    config: &'a LaunchConfig<'a>,
}

impl Code {
    /// Runs a kernel. With host memory every pointer's array is copied in, the kernel is waited for, and the arrays of non-const pointers
    /// are copied out if there was no fault. With a [`Queue`] nothing is copied, and the kernel is waited for only if it writes a log (which
    /// holds the records of one launch) or has a timeout.
    ///
    /// # Errors
    /// The reason why no kernel can run here, or the error of a kernel that was queued earlier. An error of this kernel is in the outcome.
    pub fn launch(
        &self,
        kernel: &str,
        params: &[Param],
        args: &[RawArg],
        config: &LaunchConfig<'_>,
    ) -> Result<Outcome, Refused> {
        let Some(lowered) = self.lowered(kernel) else {
            return Err(Refused::Unavailable(match self.unlaunchable(kernel) {
                Some(reason) => reason,
                None => format!("the program compiled for the GPU has no kernel `{kernel}`"),
            }));
        };
        let launch = GpuLaunch { kernel, lowered, params, args, config };
        let gone = |kind, detail: &str| {
            self.outcome(kernel, record::Log::default(), Some(self.fault_at_kernel(kernel, kind, detail.to_owned())))
        };
        let late = || gone(FaultKind::Interrupted, "interrupted while it waited for earlier work; it was not launched");
        driver::own()?;
        let _previous = Previous::remember();
        let Some(mut state) = driver::state(config.queue.map_or(0, |q| q.device), config.interrupt) else {
            return Ok(late());
        };
        state.ready()?;
        if let Some(queue) = config.queue {
            let is_waited_for = self.logs || config.timeout.is_some() || queue.waits;
            let ready = match queue::is_captured(queue.stream as sys::CUstream) {
                Ok(is_captured) if !is_waited_for => {
                    // The driver loads a module only after every kernel has ended, and cannot be interrupted meanwhile.
                    let loads = !is_captured && !self.modules().has(state.device);
                    if loads && !state.settle(config.interrupt)? {
                        return Ok(late());
                    }
                    self.put(&mut state, &launch, queue, is_captured).map(|()| None)
                }
                Ok(true) => return Ok(gone(FaultKind::Device, CAPTURED)),
                Ok(false) => {
                    // Earlier kernels' errors are not this kernel's, nor is the time they took.
                    if !state.settle(config.interrupt)? {
                        return Ok(late());
                    }
                    others_end(queue, config.interrupt).map(Some)
                }
                Err(error) => Err(doing("looking at the stream")(error)),
            };
            match ready {
                Ok(None) => return Ok(Outcome::default()),
                Ok(Some(true)) => {}
                Ok(Some(false)) => return Ok(late()),
                Err(failure) => return self.not_queued(&mut state, kernel, &failure),
            }
        } else if !state.settle(config.interrupt)? {
            return Ok(late());
        }
        let mut memory = Vec::new();
        let outcome = match self.run(&mut state, &launch, &mut memory) {
            Ok(outcome) => outcome,
            Err(failure) => self.failed(&mut state, kernel, &failure),
        };
        if let Some(context) = state.context.as_ref().filter(|_| state.abandoned.is_none()) {
            for device in memory {
                context.free(device);
            }
        }
        Ok(outcome)
    }

    /// Queues a kernel, or puts it into the graph that the stream is recorded into.
    fn put(
        &self,
        state: &mut GpuState,
        launch: &GpuLaunch<'_>,
        queue: Queue<'_>,
        is_captured: bool,
    ) -> Result<(), Failure> {
        let function = self.function(state, launch)?;
        self.start(launch, function, queue.stream as sys::CUstream, &[])?;
        if is_captured {
            self.modules().pin(state.device);
            return Ok(());
        }
        state.queued.add(self, launch.kernel, queue.stream).map_err(doing("marking the stream"))
    }

    /// The outcome for a kernel that could not be queued.
    fn not_queued(&self, state: &mut GpuState, kernel: &str, failure: &Failure) -> Result<Outcome, Refused> {
        if !driver::breaks_context(failure.error) || driver::launches_block() {
            return Ok(self.failed(state, kernel, failure));
        }
        if !state.queued.is_empty() {
            return Err(state.late(failure.error, Some(kernel)).into());
        }
        state.lose("something else that it ran there", failure.error);
        let what = driver::describe(failure.error);
        let detail = format!(
            "it was not launched: something else that this process ran on the GPU broke the context, {what}; restart the process"
        );
        Ok(self.outcome(kernel, record::Log::default(), Some(self.fault_at_kernel(kernel, FaultKind::Device, detail))))
    }

    /// The kernel as a function in the module of the current context.
    fn function(&self, state: &GpuState, launch: &GpuLaunch<'_>) -> Result<sys::CUfunction, Failure> {
        let function = self
            .modules()
            .function(state, self.cubin(), self.ptx(), launch.lowered)
            .map_err(doing("loading the machine code"))?;
        let bytes = launch.config.shared_mem;
        if bytes > u64::from(SHARED_BY_DEFAULT) {
            let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is the module's.
            unsafe {
                result::function::set_function_attribute(function, attribute, i32::try_from(bytes).unwrap_or(i32::MAX))
            }
            .map_err(doing(format!("asking for {bytes} bytes of dynamic shared memory")))?;
        }
        Ok(function)
    }

    /// Puts the kernel on a stream, after the streams it waits for and before those that wait for it. `regions` gives the device's
    /// addresses of host memory.
    fn start(
        &self,
        launch: &GpuLaunch<'_>,
        function: sys::CUfunction,
        stream: sys::CUstream,
        regions: &[Region],
    ) -> Result<(), Failure> {
        let config = launch.config;
        let queue = config.queue.unwrap_or_default();
        for &other in queue.after.iter().chain(queue.before) {
            queue::order(other, queue.stream).map_err(doing("waiting for another stream"))?;
        }
        let on_device = config.queue.is_some();
        let mut words: Vec<u64> = launch.args.iter().map(|arg| word(arg, regions, on_device)).collect();
        let mut pointers: Vec<*mut c_void> = words.iter_mut().map(|w| std::ptr::from_mut(w).cast()).collect();
        let mut structs = structs(launch.params, launch.args, config.reach, regions, on_device);
        for (i, bytes) in &mut structs {
            pointers[*i] = bytes.as_mut_ptr().cast();
        }
        let (grid, block) = (config.grid, config.block);
        // SAFETY: one pointer a parameter, each to at least as many bytes as the parameter has (little-endian scalars sit
        // in the low bytes); the driver copies them before it returns.
        unsafe {
            result::launch_kernel(
                function,
                (grid.x, grid.y, grid.z),
                (block.x, block.y, block.z),
                u32::try_from(config.shared_mem).unwrap_or(u32::MAX),
                stream,
                &mut pointers,
            )
        }
        .map_err(doing(format!("launching grid {grid} of blocks {block}")))?;
        for &other in queue.before {
            queue::order(queue.stream, other).map_err(doing("having another stream wait"))?;
        }
        Ok(())
    }

    /// Runs a kernel and waits for it.
    fn run(
        &self,
        state: &mut GpuState,
        launch: &GpuLaunch<'_>,
        memory: &mut Vec<sys::CUdeviceptr>,
    ) -> Result<Outcome, Failure> {
        let (kernel, config) = (launch.kernel, launch.config);
        let function = self.function(state, launch)?;
        let Some(context) = &state.context else {
            return Err(Failure {
                error: DriverError(CUresult::CUDA_ERROR_INVALID_CONTEXT),
                doing: "launching".to_owned(),
            });
        };
        let stream = config.queue.map_or(context.stream, |q| q.stream as sys::CUstream);
        let mut regions = Vec::new();
        if config.queue.is_none() {
            let lent = config.reach.iter().map(|r| RawArg::Buffer { ptr: r.ptr, bytes: r.bytes, writable: r.writable });
            regions = self::regions(launch.args.iter().copied().chain(lent));
            for region in &mut regions {
                upload(region, context, memory)?;
            }
        }
        if self.logs {
            let log = context.log().map_err(doing("preparing the log"))?;
            let module = self.module(state).map_err(doing("loading the machine code"))?;
            let (symbol, _) = variables::address(module, LOG_SYMBOL).map_err(doing("finding the log"))?;
            let log_pointer = [log.device];
            // SAFETY: the symbol is a pointer of the module; the copy is ordered before the kernel by the stream, and
            // `log_pointer` is pageable, so it has been read when the call returns.
            unsafe { result::memcpy_htod_async(symbol, &log_pointer, stream) }.map_err(doing("preparing the log"))?;
        }
        self.start(launch, function, stream, &regions)?;
        let end = queue::end_of(stream).map_err(doing("marking the stream"))?;
        match wait(end, config).map_err(doing("running"))? {
            End::Done => {
                // SAFETY: ours, and nothing waits for it any more.
                let _ = unsafe { result::event::destroy(end) };
            }
            End::GivenUp(kind, detail) => {
                let log = context.take_log(true);
                state.abandoned = Some(Abandoned { kernel: kernel.to_owned(), memory: std::mem::take(memory), end });
                return Ok(self.outcome(kernel, log, Some(self.fault_at_kernel(kernel, kind, detail))));
            }
        }
        let log = context.take_log(false);
        let fault = log.fault.as_ref().map(|f| self.reported(kernel, f));
        if fault.is_none() && config.queue.is_none() {
            download(launch.params, launch.args, config.reach, &regions, stream)?;
        }
        Ok(self.outcome(kernel, log, fault))
    }

    /// The module, loaded once in each context.
    pub(super) fn module(&self, state: &GpuState) -> Result<sys::CUmodule, DriverError> {
        self.modules().of(state, self.cubin(), self.ptx())
    }

    pub(super) fn modules(&self) -> std::sync::MutexGuard<'_, driver::Modules> {
        self.loaded.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn outcome(&self, kernel: &str, mut log: record::Log, fault: Option<RawFault>) -> Outcome {
        name_kernel(&mut log.output, kernel);
        Outcome { output: log.output, dropped: log.dropped, fault }
    }

    /// The outcome of a launch that the driver ended.
    fn failed(&self, state: &mut GpuState, kernel: &str, failure: &Failure) -> Outcome {
        let broken = driver::breaks_context(failure.error);
        // Records written before the fault are in host memory, whatever became of the context.
        let log = match &state.context {
            Some(context) => context.take_log(false),
            None => record::Log::default(),
        };
        if broken {
            state.lose(&format!("kernel `{kernel}`"), failure.error);
        }
        let what = driver::describe(failure.error);
        let detail = match failure.error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => format!("the GPU has no room for {}: {what}", failure.doing),
            CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => format!(
                "{} needs more registers or shared memory than a multiprocessor has: {what}; launch smaller blocks",
                failure.doing
            ),
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => format!(
                "the code compiled for {} by NVRTC is not for this GPU or newer than its driver: {what}; compile with its own \
                 arch, update the driver, or install an NVRTC of its CUDA version",
                self.arch()
            ),
            _ => driver::explained(failure.error).unwrap_or_else(|| format!("{} failed: {what}", failure.doing)),
        };
        // A fault that a thread reported before the context broke tells more.
        let fault = match log.fault.as_ref() {
            Some(reported) => self.reported(kernel, reported),
            None => self.fault_at_kernel(kernel, FaultKind::Device, detail),
        };
        self.outcome(kernel, log, Some(fault))
    }

    fn fault_at_kernel(&self, kernel: &str, kind: FaultKind, detail: String) -> RawFault {
        RawFault {
            kind,
            span: self.kernel_span(kernel),
            block: [0; 3],
            thread: [0; 3],
            detail,
            related: None,
            kernel: None,
            called: None,
        }
    }

    fn reported(&self, kernel: &str, fault: &record::Reported) -> RawFault {
        let span = self.line_span(&fault.file, fault.line).unwrap_or_else(|| self.kernel_span(kernel));
        let (kind, detail) = match fault.kind {
            record::ASSERT => (FaultKind::Assert, format!("`{}` does not hold", fault.text)),
            _ => (FaultKind::Trap, "`__trap()` was called".to_owned()),
        };
        RawFault {
            kind,
            span,
            block: fault.block,
            thread: fault.thread,
            detail,
            related: None,
            kernel: None,
            called: None,
        }
    }
}

/// The memory of all buffer arguments, with overlapping arrays joined: arrays that alias on the host alias on the device.
fn regions(args: impl Iterator<Item = RawArg>) -> Vec<Region> {
    let mut spans: Vec<(usize, usize)> = args
        .filter_map(|arg| match arg {
            RawArg::Buffer { ptr, bytes, .. } | RawArg::Away { ptr, bytes } => {
                Some((ptr as usize, ptr as usize + bytes))
            }
            RawArg::Scalar(_) | RawArg::Null => None,
        })
        .collect();
    spans.sort_unstable();
    let mut out: Vec<Region> = Vec::new();
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if start < last.end || start == last.start => last.end = last.end.max(end),
            _ => out.push(Region { start, end, device: 0 }),
        }
    }
    out
}

/// The device's allocations are aligned to this; a region keeps its host address's remainder, and with it the alignment
/// of every array in it.
const ALIGNMENT: usize = 256;

fn upload(region: &mut Region, context: &Context, memory: &mut Vec<sys::CUdeviceptr>) -> Result<(), Failure> {
    let (size, shift) = (region.end - region.start, region.start % ALIGNMENT);
    let base = context.allocate((size + shift).max(1)).map_err(doing(format!("an array of {size} bytes")))?;
    memory.push(base);
    region.device = base + shift as u64;
    if size > 0 {
        // SAFETY: a context is current; the host memory is lent for the launch, pageable, and read before the call returns.
        unsafe {
            let host = std::slice::from_raw_parts(region.start as *const u8, size);
            result::memcpy_htod_async(region.device, host, context.stream)
        }
        .map_err(doing("copying an array to the GPU"))?;
    }
    Ok(())
}

/// The structs by value, with the device's addresses in place of the host's, where they are not the device's already.
fn structs(
    params: &[Param],
    args: &[RawArg],
    reach: &[Reach],
    regions: &[Region],
    on_device: bool,
) -> Vec<(usize, Vec<u128>)> {
    let mut out = Vec::new();
    for (i, (param, arg)) in params.iter().zip(args).enumerate() {
        let (ParamType::Bytes { .. }, RawArg::Buffer { ptr, bytes, .. }) = (param.ty, *arg) else { continue };
        let mut copy = vec![0u128; bytes.div_ceil(16)];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut copy);
        // SAFETY: the lender keeps `bytes` bytes at `ptr` alive; the copy is at least as long.
        unsafe { std::ptr::copy_nonoverlapping(ptr, memory.as_mut_ptr(), bytes) };
        for r in reach.iter().filter(|r| r.param == i && !on_device) {
            if let Some(place) = memory.get_mut(r.offset as usize..r.offset as usize + 8) {
                place.copy_from_slice(&device_address(r.ptr as usize, regions).to_le_bytes());
            }
        }
        out.push((i, copy));
    }
    out
}

/// The 8 bytes a parameter is read from.
fn word(arg: &RawArg, regions: &[Region], on_device: bool) -> u64 {
    match *arg {
        RawArg::Scalar(bits) => bits,
        RawArg::Null => 0,
        RawArg::Buffer { ptr, .. } if on_device => ptr as u64,
        RawArg::Buffer { ptr, .. } | RawArg::Away { ptr, .. } => device_address(ptr as usize, regions),
    }
}

fn device_address(host: usize, regions: &[Region]) -> u64 {
    let index = regions.partition_point(|r| r.start <= host);
    index.checked_sub(1).map_or(0, |i| regions[i].device + (host - regions[i].start) as u64)
}

fn download(
    params: &[Param],
    args: &[RawArg],
    reach: &[Reach],
    regions: &[Region],
    stream: sys::CUstream,
) -> Result<(), Failure> {
    let own = params.iter().zip(args).filter_map(|(param, arg)| match *arg {
        RawArg::Buffer { ptr, bytes, writable: true } => {
            matches!(param.ty, ParamType::Ptr { is_const: false, .. }).then_some((&param.name, ptr, bytes))
        }
        _ => None,
    });
    let lent = reach.iter().filter(|r| r.writable).map(|r| (&r.name, r.ptr, r.bytes));
    for (name, ptr, bytes) in own.chain(lent).filter(|(_, _, bytes)| *bytes > 0) {
        // SAFETY: the lender keeps `bytes` bytes at `ptr` alive and allows writing them; the region holds as many.
        unsafe {
            sys::cuMemcpyDtoHAsync_v2(ptr.cast(), device_address(ptr as usize, regions), bytes, stream)
                .result()
                .map_err(doing(format!("copying `{name}` from the GPU")))?;
        }
    }
    // SAFETY: the stream is ours. It ends before the lent memory goes back.
    unsafe { result::stream::synchronize(stream) }.map_err(doing("copying from the GPU"))
}

/// Waits for the work of others on the streams that the kernel comes after; `false` when interrupted.
fn others_end(queue: Queue<'_>, interrupt: Option<&dyn Interrupt>) -> Result<bool, Failure> {
    let waiting = || doing("waiting for what is on its stream");
    for &other in queue.after.iter().chain(queue.before) {
        queue::order(other, queue.stream).map_err(waiting())?;
    }
    let end = queue::end_of(queue.stream as sys::CUstream).map_err(waiting())?;
    let ended = queue::wait_for(end, &mut Patience::new(interrupt));
    // SAFETY: ours, and nothing waits for it any more.
    let _ = unsafe { result::event::destroy(end) };
    ended.map_err(waiting())
}

/// Waits for a kernel, by the event after it.
fn wait(end: sys::CUevent, config: &LaunchConfig<'_>) -> Result<End, DriverError> {
    let mut patience = Patience::new(config.interrupt);
    loop {
        // SAFETY: the event belongs to the current context.
        match unsafe { result::event::query(end) } {
            Ok(()) => return Ok(End::Done),
            Err(e) if e.0 == CUresult::CUDA_ERROR_NOT_READY => {}
            Err(e) => return Err(e),
        }
        let running_on = "it runs on, for CUDA cannot stop it, and the GPU is refused while it does";
        if let Some(limit) = config.timeout.filter(|&t| patience.elapsed() >= t) {
            let detail = format!("the kernel was still running after {:.3} s; {running_on}", limit.as_secs_f64());
            return Ok(End::GivenUp(FaultKind::Timeout, detail));
        }
        if patience.interrupted() {
            return Ok(End::GivenUp(FaultKind::Interrupted, format!("the launch was interrupted; {running_on}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(start: usize, bytes: usize) -> RawArg {
        RawArg::Buffer { ptr: start as *mut u8, bytes, writable: true }
    }

    #[test]
    fn arrays_that_overlap_share_device_memory() {
        let args = [
            buffer(4096, 64),
            RawArg::Scalar(1),
            buffer(4128, 64),
            buffer(8192, 16),
            buffer(4096, 64),
            buffer(8208, 0),
        ];
        let mut regions = regions(args.iter().copied());
        let ranges: Vec<(usize, usize)> = regions.iter().map(|r| (r.start, r.end)).collect();
        assert_eq!(ranges, [(4096, 4192), (8192, 8208), (8208, 8208)]);
        for (i, region) in regions.iter_mut().enumerate() {
            region.device = 0x1_0000 * (i as u64 + 1);
        }
        let words: Vec<u64> = args.iter().map(|a| word(a, &regions, false)).collect();
        assert_eq!(words, [0x1_0000, 1, 0x1_0020, 0x2_0000, 0x1_0000, 0x3_0000]);
    }
}
