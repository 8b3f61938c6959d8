//! The NVIDIA driver, looked up at run time, and this process's contexts: on each GPU the primary one, which torch and CuPy use too.
//!
//! A fault such as an illegal address breaks the context it happened in, and with it CUDA for the whole process: every later use of the GPU
//! gives the same error, even in a new context, as the driver's manual says. So the GPU is refused from then on, with the name of the
//! kernel that faulted.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use cudarc::driver::result::{self, DriverError, stream::StreamKind};
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};

use super::queue::{Patience, Queued};
use super::record::{self, CAPACITY, HEADER};
use super::variables;
use crate::back::Interrupt;

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The name, as the driver gives it.
    pub name: String,
    /// The architecture to compile for: `sm_90`.
    pub arch: String,
    /// Its memory in bytes.
    pub memory: usize,
}

/// True if the driver's library can be loaded. Every call of cudarc comes after this check, because it panics where there is no driver.
fn present() -> bool {
    static PRESENT: OnceLock<()> = OnceLock::new();
    if PRESENT.get().is_some() {
        return true;
    }
    // SAFETY: loading the driver has no requirements.
    let found = unsafe { sys::is_culib_present() };
    if found {
        PRESENT.get_or_init(|| ());
    }
    found
}

/// Starts the driver.
///
/// # Errors
/// One sentence on what is missing and how to get it.
fn start() -> Result<(), String> {
    if !present() {
        return Err("no NVIDIA driver (libcuda.so.1) was found on this machine; a launch on device=\"cuda\" needs an \
                    NVIDIA GPU and its driver, device=\"cpu\" runs the same text here"
            .to_owned());
    }
    result::init().map_err(|e| match e.0 {
        CUresult::CUDA_ERROR_NO_DEVICE => {
            "the NVIDIA driver found no GPU; check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or use device=\"cpu\""
                .to_owned()
        }
        _ => format!("the NVIDIA driver did not start: {}", describe(e)),
    })
}

/// The GPUs of this machine; none where there is no driver.
pub(super) fn devices() -> Vec<DeviceInfo> {
    if start().is_err() {
        return Vec::new();
    }
    let count = result::device::get_count().unwrap_or(0);
    (0..count).filter_map(|i| info(result::device::get(i).ok()?).ok()).collect()
}

/// Checks that a kernel can run: there is a driver and a GPU.
///
/// # Errors
/// One sentence on what is missing and how to get it.
pub(super) fn availability() -> Result<(), String> {
    start()?;
    match result::device::get_count() {
        Ok(0) => Err("the NVIDIA driver found no GPU; check `nvidia-smi` and CUDA_VISIBLE_DEVICES".to_owned()),
        Ok(_) => Ok(()),
        Err(e) => Err(format!("the NVIDIA driver does not list its GPUs: {}", describe(e))),
    }
}

fn info(device: sys::CUdevice) -> Result<DeviceInfo, DriverError> {
    // SAFETY: the device came from `device::get`.
    unsafe {
        let attribute = |a| result::device::get_attribute(device, a);
        let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(DeviceInfo {
            name: result::device::get_name(device)?,
            arch: format!("sm_{major}{minor}"),
            memory: result::device::total_mem(device)?,
        })
    }
}

/// An error as the driver's name and sentence: `CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)`.
pub(super) fn describe(error: DriverError) -> String {
    let text = error.error_string().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if text.is_empty() { format!("{:?}", error.0) } else { format!("{:?} ({text})", error.0) }
}

/// The explanation of an error that a kernel made, where it is one of those.
pub(super) fn explained(error: DriverError) -> Option<String> {
    let what = describe(error);
    match error.0 {
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => Some(format!(
            "a thread accessed memory outside every array: {what}; the GPU does not say which, device=\"cpu\" names the \
             line and the thread"
        )),
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => Some(format!(
            "a thread accessed an address that is no multiple of the access's size: {what}; device=\"cpu\" names the line \
             and the thread"
        )),
        _ => None,
    }
}

/// True if the context is broken after this error: every later call in it gives the same error.
pub(super) fn breaks_context(error: DriverError) -> bool {
    matches!(
        error.0,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_UNKNOWN
    )
}

/// True if the driver waits for each kernel that is launched, so that an error at a launch is that kernel's.
pub(super) fn launches_block() -> bool {
    std::env::var_os("CUDA_LAUNCH_BLOCKING").is_some_and(|said| said == "1")
}

/// The log's memory: page-locked host memory that the GPU writes, so that it can be read while a kernel runs and after
/// a fault.
pub(super) struct LogMemory {
    host: *mut u8,
    /// The address by which kernels know it.
    pub device: sys::CUdeviceptr,
}

impl LogMemory {
    fn new() -> Result<Self, DriverError> {
        let mut device = 0;
        // SAFETY: a context is current; the allocation is freed by `free` or with the context.
        unsafe {
            let host = result::malloc_host(HEADER + CAPACITY, sys::CU_MEMHOSTALLOC_DEVICEMAP)?;
            sys::cuMemHostGetDevicePointer_v2(&raw mut device, host, 0).result()?;
            ptr::write_bytes(host.cast::<u8>(), 0, HEADER + CAPACITY);
            let log = LogMemory { host: host.cast(), device };
            log.reset();
            Ok(log)
        }
    }

    /// Reads the records, and prepares the log for the next launch unless a kernel may still write it.
    pub fn take(&self, running: bool) -> record::Log {
        // The header is copied first: the GPU may still write it, and references to memory that changes are not allowed.
        let mut header = vec![0u8; HEADER];
        // SAFETY: the memory has HEADER + CAPACITY bytes and lives as long as the context, which the caller holds.
        unsafe { ptr::copy_nonoverlapping(self.host, header.as_mut_ptr(), HEADER) };
        let used = record::used(&header, CAPACITY);
        let mut records = vec![0u8; used];
        // SAFETY: as above; `used` is at most CAPACITY.
        unsafe {
            ptr::copy_nonoverlapping(self.host.add(HEADER), records.as_mut_ptr(), used);
            if !running {
                // Zeros after the header, so that an old record is never read as a new one.
                ptr::write_bytes(self.host.add(HEADER), 0, used);
                self.reset();
            }
        }
        record::decode(&header, &records)
    }

    /// Writes a fresh header.
    ///
    /// # Safety
    /// No kernel writes the log, and its context lives.
    unsafe fn reset(&self) {
        let fresh = record::fresh_header(CAPACITY);
        // SAFETY: the memory begins with HEADER bytes.
        unsafe { ptr::copy_nonoverlapping(fresh.as_ptr(), self.host, HEADER) };
    }
}

/// This process's context on a GPU.
pub(super) struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// Our own stream: the work of others in the context neither waits for ours nor is delayed by it.
    pub stream: sys::CUstream,
    /// Memory for arrays of the host. Memory freed into the pool waits for no kernel of others, as `cuMemFree` would.
    pool: Option<sys::CUmemoryPool>,
    log: OnceCell<LogMemory>,
    process: u32,
}

// SAFETY: driver handles may be used from any thread; the log is reached only through the state's lock.
unsafe impl Send for Context {}

/// A launch that was given up while its kernel ran on. Its memory stays allocated until the kernel ends.
pub(super) struct Abandoned {
    pub kernel: String,
    pub memory: Vec<sys::CUdeviceptr>,
    /// Happens when the kernel has ended.
    pub end: sys::CUevent,
}

/// The state that launches on a GPU share, one at a time.
#[derive(Default)]
pub(super) struct GpuState {
    /// The GPU's index.
    pub device: u32,
    pub context: Option<Context>,
    pub abandoned: Option<Abandoned>,
    /// The kernels queued since the last wait.
    pub queued: Queued,
    refused: Option<String>,
}

// SAFETY: driver handles may be used from any thread.
unsafe impl Send for GpuState {}

/// The process that has launched something; 0 before.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// True unless this process was forked from one that had used a GPU. Kernels queued there are not for this process to wait for, and a lock
/// may have been held by a thread that this process does not have.
pub(super) fn is_ours() -> bool {
    let owner = OWNER.load(Ordering::Relaxed);
    owner == 0 || owner == std::process::id()
}

/// The error in a process forked from one that used a GPU.
const FORKED: &str = "CUDA cannot be used in a process forked after its first use; start workers with `spawn`";

/// Makes this process the owner, before it takes a lock that a fork would leave locked.
///
/// # Errors
/// The reason why no kernel can run in a process forked from the owner.
pub(super) fn own() -> Result<(), String> {
    let process = std::process::id();
    match OWNER.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
        Err(owner) if owner != process && present() => Err(FORKED.to_owned()),
        _ => Ok(()),
    }
}

/// A GPU's state; it stays for as long as the process runs.
type Shared = &'static Mutex<GpuState>;

static STATES: Mutex<BTreeMap<u32, Shared>> = Mutex::new(BTreeMap::new());

/// Modules whose programs are gone: unloading one waits for running kernels, so it is left to the next launch.
static UNUSED: Mutex<Vec<Module>> = Mutex::new(Vec::new());

/// The state of a GPU, locked for one launch; `None` when interrupted while another launch, which may take long, holds it. Call it only
/// after [`own`], or where [`is_ours`].
pub(super) fn state(device: u32, interrupt: Option<&dyn Interrupt>) -> Option<MutexGuard<'static, GpuState>> {
    let mut patience = Patience::new(interrupt);
    loop {
        match try_state(device) {
            Some(state) => return Some(state),
            None if patience.interrupted() => return None,
            None => {}
        }
    }
}

/// The state of a GPU; `None` while another thread holds it.
pub(super) fn try_state(device: u32) -> Option<MutexGuard<'static, GpuState>> {
    let shared: Shared = {
        let mut all = STATES.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(device).or_insert_with(|| Box::leak(Box::new(Mutex::new(GpuState { device, ..GpuState::default() }))))
    };
    match shared.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The GPUs that launches have used.
pub(super) fn used() -> Vec<u32> {
    STATES.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
}

/// The GPU that an address lies on; `None` if the driver knows of none.
pub fn device_of(address: u64) -> Option<u32> {
    if address == 0 || start().is_err() {
        return None;
    }
    let mut index = -1i32;
    let what = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the attribute is an `int`; an address that the driver does not know is an error, not a fault.
    unsafe { sys::cuPointerGetAttribute((&raw mut index).cast(), what, address) }.result().ok()?;
    u32::try_from(index).ok()
}

impl GpuState {
    /// Makes the context ready: created if there is none, current on this thread and with no kernel of ours running.
    ///
    /// # Errors
    /// One sentence on why no kernel can run.
    pub fn ready(&mut self) -> Result<(), String> {
        if let Some(reason) = &self.refused {
            return Err(reason.clone());
        }
        if self.context.as_ref().is_some_and(|c| c.process != std::process::id()) {
            return Err(FORKED.to_owned());
        }
        if self.context.is_none() {
            start()?;
            let made = Context::new(self.device);
            self.context = Some(made.map_err(|e| format!("no CUDA context could be made: {}", describe(e)))?);
        }
        let Some(context) = &self.context else { return Err("no CUDA context".to_owned()) };
        // SAFETY: the context is retained until `lose` releases it.
        unsafe { result::ctx::set_current(context.context) }
            .map_err(|e| format!("the CUDA context: {}", describe(e)))?;
        if let Some(abandoned) = &self.abandoned {
            // SAFETY: the event belongs to the current context.
            match unsafe { result::event::query(abandoned.end) } {
                Err(e) if e.0 == CUresult::CUDA_ERROR_NOT_READY => {
                    return Err(format!(
                        "the GPU is refused: kernel `{}`, given up earlier, is still running, and CUDA has no way to stop it; \
                         restart the process to use the GPU again",
                        abandoned.kernel
                    ));
                }
                Err(e) if !breaks_context(e) => {
                    return Err(format!(
                        "the GPU cannot be asked now whether kernel `{}` has ended: {}",
                        abandoned.kernel,
                        describe(e)
                    ));
                }
                Err(e) => {
                    let kernel = format!("kernel `{}`, given up earlier,", abandoned.kernel);
                    self.lose(&kernel, e);
                    return self.ready();
                }
                Ok(()) => {
                    for &memory in &abandoned.memory {
                        context.free(memory);
                    }
                    // SAFETY: nothing waits for it any more.
                    let _ = unsafe { result::event::destroy(abandoned.end) };
                    context.take_log(false);
                    self.abandoned = None;
                }
            }
        }
        self.unload_unused();
        Ok(())
    }

    fn unload_unused(&self) {
        if !self.queued.is_empty() {
            return;
        }
        let mine = |module: &mut Module| module.device == self.device;
        // Unloading is not done under the lock, which every program takes when it is dropped: it may wait for the GPU.
        let gone: Vec<Module> = UNUSED.lock().unwrap_or_else(PoisonError::into_inner).extract_if(.., mine).collect();
        for module in gone {
            // SAFETY: the module was loaded in this context, its program is gone and no kernel runs.
            let _ = unsafe { result::module::unload(module.handle) };
        }
    }

    /// Releases a broken context with everything allocated in it, and refuses the GPU from now on. `who` broke it.
    pub fn lose(&mut self, who: &str, error: DriverError) {
        self.abandoned = None;
        self.queued = Queued::default();
        self.refused.get_or_insert_with(|| {
            format!(
                "the GPU is refused: {who} broke CUDA for this process ({}), and CUDA takes no work from a process after that; restart the \
                 process to use the GPU again (device=\"cpu\" works on)",
                describe(error)
            )
        });
        if let Some(context) = self.context.take() {
            // SAFETY: nothing of ours uses the context after this. When others hold it too, it lives on, broken, and the
            // log's memory with it.
            unsafe {
                let _ = result::ctx::set_current(ptr::null_mut());
                let _ = result::primary_ctx::release(context.device);
            }
        }
    }
}

impl Context {
    fn new(index: u32) -> Result<Self, DriverError> {
        let device = result::device::get(i32::try_from(index).unwrap_or(i32::MAX))?;
        // SAFETY: the device came from `device::get`; a failure below releases what was retained.
        unsafe {
            let context = result::primary_ctx::retain(device)?;
            let made = (|| {
                result::ctx::set_current(context)?;
                // A context that another library broke is found here.
                result::ctx::synchronize()?;
                result::stream::create(StreamKind::NonBlocking)
            })();
            match made {
                Ok(stream) => {
                    let pool = pool(device, index);
                    Ok(Context { device, context, stream, pool, log: OnceCell::new(), process: std::process::id() })
                }
                Err(e) => {
                    let _ = result::ctx::set_current(ptr::null_mut());
                    let _ = result::primary_ctx::release(device);
                    Err(e)
                }
            }
        }
    }
}

/// Bytes of a pool that stay allocated while unused.
const KEPT: u64 = 256 << 20;

/// A memory pool of a GPU; `None` where it has none, as some virtual GPUs.
fn pool(device: sys::CUdevice, index: u32) -> Option<sys::CUmemoryPool> {
    // SAFETY: the device came from `device::get`.
    let attribute =
        unsafe { result::device::get_attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) };
    if attribute != Ok(1) {
        return None;
    }
    // SAFETY: the manual says that all zeros are the defaults.
    let mut props: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
    props.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = i32::try_from(index).ok()?;
    let (mut pool, mut kept) = (ptr::null_mut(), KEPT);
    let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the pointers are valid for the calls; the attribute is a 64-bit number.
    unsafe {
        sys::cuMemPoolCreate(&raw mut pool, &raw const props).result().ok()?;
        sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut kept).cast()).result().ok()?;
    }
    Some(pool)
}

impl Context {
    /// Memory of the GPU for work on our stream. The context is current.
    pub fn allocate(&self, bytes: usize) -> Result<sys::CUdeviceptr, DriverError> {
        let Some(pool) = self.pool else {
            // SAFETY: a context is current.
            return unsafe { result::malloc_sync(bytes) };
        };
        let mut address = 0;
        // SAFETY: pool and stream are ours and of this context.
        unsafe { sys::cuMemAllocFromPoolAsync(&raw mut address, bytes, pool, self.stream) }.result()?;
        Ok(address)
    }

    /// Frees memory of [`Context::allocate`], after the work on our stream. A failure leaks the memory, and shows in the next call.
    pub fn free(&self, address: sys::CUdeviceptr) {
        // SAFETY: allocated there, and nothing uses it after the work on our stream.
        let _ = unsafe {
            match self.pool {
                Some(_) => result::free_async(address, self.stream),
                None => result::free_sync(address),
            }
        };
    }

    /// The log, made for the first kernel that may write one. The context is current.
    pub fn log(&self) -> Result<&LogMemory, DriverError> {
        match self.log.get() {
            Some(log) => Ok(log),
            None => {
                let made = LogMemory::new()?;
                Ok(self.log.get_or_init(|| made))
            }
        }
    }

    /// The records, as [`LogMemory::take`]; none where no kernel has had a log.
    pub fn take_log(&self, running: bool) -> record::Log {
        self.log.get().map_or_else(record::Log::default, |log| log.take(running))
    }
}

/// Restores, when dropped, the context that was current on this thread: torch and others have theirs.
pub(super) struct Previous(sys::CUcontext);

impl Previous {
    /// Remembers the current context.
    pub fn remember() -> Option<Self> {
        present().then(|| Previous(result::ctx::get_current().ok().flatten().unwrap_or(ptr::null_mut())))
    }
}

impl Drop for Previous {
    fn drop(&mut self) {
        // SAFETY: the context was current before; where it has been destroyed since, the driver refuses.
        let _ = unsafe { result::ctx::set_current(self.0) };
    }
}

/// A module loaded on a GPU.
pub(super) struct Module {
    device: u32,
    handle: sys::CUmodule,
    /// Its kernels that were launched, by their names.
    functions: BTreeMap<String, sys::CUfunction>,
    /// True if a graph holds a launch of it, which may be replayed when its program is gone: it is never unloaded.
    pinned: bool,
}

// SAFETY: a handle, used under the state's lock.
unsafe impl Send for Module {}

/// The modules of a program, one on each GPU that it has run on.
#[derive(Default)]
pub(super) struct Modules {
    loaded: Vec<Module>,
    /// The bytes written to variables, by their names in the machine code.
    written: BTreeMap<String, Vec<u8>>,
}

impl Module {
    /// Loads machine code, or PTX where there is none for this device. The context is current.
    fn load(state: &GpuState, cubin: &[u8], ptx: &str) -> Result<Self, DriverError> {
        let image = |bytes: &[u8]| {
            // SAFETY: the bytes were made by NVRTC; the driver copies them. PTX ends in a NUL.
            unsafe { result::module::load_data(bytes.as_ptr().cast::<c_void>()) }
        };
        let text = || image(&[ptx.as_bytes(), b"\0"].concat());
        let handle = if cubin.is_empty() {
            text()?
        } else {
            match image(cubin) {
                // Machine code for another architecture: the driver compiles the PTX.
                Err(e)
                    if matches!(e.0, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU | CUresult::CUDA_ERROR_INVALID_IMAGE) =>
                {
                    text()?
                }
                other => other?,
            }
        };
        Ok(Module { device: state.device, handle, functions: BTreeMap::new(), pinned: false })
    }
}

impl Modules {
    /// True if it is loaded on a GPU.
    pub fn has(&self, device: u32) -> bool {
        self.devices().any(|d| d == device)
    }

    /// The GPUs that it is loaded on, in the order in which it first ran on them.
    pub fn devices(&self) -> impl Iterator<Item = u32> + '_ {
        self.loaded.iter().map(|m| m.device)
    }

    /// The bytes last written to a variable.
    pub fn written(&self, symbol: &str) -> Option<Vec<u8>> {
        self.written.get(symbol).cloned()
    }

    /// Sets the bytes with which a variable begins wherever the program is loaded from now on.
    pub fn write(&mut self, symbol: &str, data: &[u8]) {
        self.written.insert(symbol.to_owned(), data.to_vec());
    }

    /// A kernel of the module of the current context.
    pub fn function(
        &mut self,
        state: &GpuState,
        cubin: &[u8],
        ptx: &str,
        name: &str,
    ) -> Result<sys::CUfunction, DriverError> {
        let handle = self.of(state, cubin, ptx)?;
        let loaded = self.loaded.iter_mut().find(|m| m.device == state.device);
        if let Some(known) = loaded.as_ref().and_then(|m| m.functions.get(name)) {
            return Ok(*known);
        }
        // SAFETY: the module is loaded in the current context.
        let function = unsafe { result::module::get_function(handle, CString::new(name).unwrap_or_default()) }?;
        if let Some(module) = loaded {
            module.functions.insert(name.to_owned(), function);
        }
        Ok(function)
    }

    /// The module of the current context, loaded at the first call.
    pub fn of(&mut self, state: &GpuState, cubin: &[u8], ptx: &str) -> Result<sys::CUmodule, DriverError> {
        if let Some(known) = self.loaded.iter().find(|m| m.device == state.device) {
            return Ok(known.handle);
        }
        let module = Module::load(state, cubin, ptx)?;
        let stream = variables::stream(state)?;
        for (symbol, data) in &self.written {
            let (address, size) = variables::address(module.handle, symbol)?;
            if size != data.len() {
                return Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
            }
            // SAFETY: the variable has as many bytes as `data`; pageable memory has been read when the call returns.
            unsafe { result::memcpy_htod_async(address, data, stream) }?;
        }
        if !self.written.is_empty() {
            // SAFETY: the stream is ours.
            unsafe { result::stream::synchronize(stream) }?;
        }
        let handle = module.handle;
        self.loaded.push(module);
        Ok(handle)
    }

    /// Keeps the module of a GPU loaded for as long as the process runs.
    pub fn pin(&mut self, device: u32) {
        self.loaded.iter_mut().filter(|m| m.device == device).for_each(|m| m.pinned = true);
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        let unpinned = self.loaded.drain(..).filter(|m| !m.pinned);
        UNUSED.lock().unwrap_or_else(PoisonError::into_inner).extend(unpinned);
    }
}
