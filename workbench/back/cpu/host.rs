//! Host code's way out: services it asks for, kernels it launches, and memory that is lent and given back while it runs.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use super::context::{BufferDesc, DANGLING_DESC, DescKind, WorkerCtx};
use super::faults::{self, Named, SiteKind};
use crate::back::{Dim3, Exception, FaultKind, LaunchConfig, Outcome, RawArg, RawFault};
use crate::ir::service::Kind;
use crate::ir::{FuncId, Scalar, Service};
use crate::source::Span;

/// Memory behind a pointer.
#[derive(Debug, Clone, Copy)]
pub struct Lent {
    /// What the pointer points at.
    pub ptr: *mut u8,
    /// How many bytes may be read from there on.
    pub bytes: usize,
    /// Whether they may be written.
    pub writable: bool,
}

/// An operand of a service.
#[derive(Debug, Clone, Copy)]
pub enum Word {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A pointer.
    Memory(Lent),
}

/// What a service gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Nothing.
    Nothing,
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// An address in memory that is lent ([`HostMemory::lend`]), or 0.
    Address(u64),
    /// An exception that was caught goes on.
    Again(Box<RawFault>),
}

/// Why a service ends the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Raised {
    /// What.
    pub kind: FaultKind,
    /// One sentence.
    pub detail: String,
}

/// Why a launch could not begin.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// CUDA's code (CUDA Runtime API, `cudaError_t`).
    pub code: i32,
    /// One sentence.
    pub detail: String,
    /// Whether there was nothing to do anyhow: a grid without blocks, as of an empty tensor.
    pub is_empty: bool,
}

/// What host code runs on.
pub trait Host: Sync {
    /// Memory that its pointers may point into.
    fn memory(&self) -> &HostMemory;

    /// Does what a service is there for.
    ///
    /// # Errors
    /// Why the call ends.
    fn service(&self, service: Service, operands: &[Word]) -> Result<Reply, Raised>;

    /// Keeps an exception that is caught: it is in flight from now on. Gives it back where it is one that ends the call.
    fn catch(&self, exception: RawFault) -> Option<RawFault>;

    /// Launches a kernel of the program.
    ///
    /// # Errors
    /// Why it could not be launched.
    fn launch(&self, kernel: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> Result<Outcome, Refusal>;

    /// Keeps why a kernel was not launched; the call goes on.
    fn refuse(&self, refusal: &Refusal, fault: RawFault);
}

/// Of how many allocations it is known where they were given back.
const MOST_FREED: usize = 4096;

/// Allocations that host code's pointers may point into. Code keeps addresses of descriptors, so they stay for as long as this does; that of
/// memory that was given back describes nothing any more.
#[derive(Default)]
pub struct HostMemory {
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    /// With how often it is lent.
    live: BTreeMap<u64, (*mut BufferDesc, u32)>,
    /// All there ever were; freed at the end.
    all: Vec<*mut BufferDesc>,
    /// What the text gave back: where it ended, and where in the text that was. Of memory that is used again the last time counts.
    freed: BTreeMap<u64, (u64, Span)>,
    names: Vec<Named>,
}

// SAFETY: the pointers are this structure's own boxes.
unsafe impl Send for State {}
// SAFETY: descriptors change only under the lock's write side, in a service, while no kernel of the host code runs.
unsafe impl Sync for State {}

impl HostMemory {
    /// Lends so many bytes at `base`. Lent twice, the larger size holds, and it may be written if one of the two may.
    pub fn lend(&self, base: u64, bytes: u64, writable: bool, name: &str, elem: Option<Scalar>) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let meta = BufferDesc::meta(DescKind::Host, state.names.len() as u32);
        let desc = BufferDesc::new(base, bytes, writable, meta);
        if let Some((old, times)) = state.live.get_mut(&base) {
            *times += 1;
            // SAFETY: a box of ours.
            unsafe {
                let may_write = writable || (**old).write[0] > 0;
                **old = BufferDesc::new(base, bytes.max((**old).len), may_write, (**old).meta);
            }
            return;
        }
        state.names.push(Named { name: name.to_owned(), size: bytes, elem });
        let place = Box::into_raw(Box::new(desc));
        state.live.insert(base, (place, 1));
        state.all.push(place);
    }

    /// Takes memory back, once for each time it was lent: whoever then still has a pointer into it has one to nothing.
    pub fn take_back(&self, base: u64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let Some((_, times)) = state.live.get_mut(&base) else { return };
        *times -= 1;
        if *times == 0
            && let Some((desc, _)) = state.live.remove(&base)
        {
            // SAFETY: a box of ours.
            unsafe { *desc = BufferDesc::new(base, 0, false, BufferDesc::meta(DescKind::Dangling, 0)) };
        }
    }

    /// Notes where the text gave memory back, for whoever uses it all the same.
    pub fn note_freed(&self, base: u64, bytes: u64, place: Span) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.freed.len() == MOST_FREED {
            state.freed.pop_first();
        }
        state.freed.insert(base, (base.saturating_add(bytes.max(1)), place));
    }

    /// Where the text gave back the memory that an address lies in, or ends.
    pub(super) fn freed_at(&self, address: u64) -> Option<Span> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let (_, (end, place)) = state.freed.range(..=address).next_back()?;
        (address <= *end).then_some(*place)
    }

    /// The descriptor of the memory an address lies in, or ends.
    pub fn find(&self, address: u64) -> Option<*const BufferDesc> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut past_end = None;
        // Arrays may overlap, so the nearest that begins below need not be the one.
        for (_, &(desc, _)) in state.live.range(..=address).rev() {
            // SAFETY: a box of ours.
            let (base, len) = unsafe { ((*desc).base, (*desc).len) };
            match address - base {
                off if off < len => return Some(desc),
                off if off == len => past_end = past_end.or(Some(desc.cast_const())),
                _ => {}
            }
        }
        past_end
    }

    /// What messages say of the memory of a number.
    pub(super) fn named(&self, index: usize) -> Option<Named> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).names.get(index).cloned()
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for desc in state.all.drain(..) {
            // SAFETY: made by `Box::into_raw` in `lend`, once each.
            drop(unsafe { Box::from_raw(desc) });
        }
    }
}

/// # Safety
/// `desc` is a live descriptor.
unsafe fn lent(address: u64, desc: u64) -> Lent {
    // SAFETY: the caller's promise.
    let desc = unsafe { (desc as *const BufferDesc).as_ref() }.unwrap_or(&DANGLING_DESC);
    let off = address.wrapping_sub(desc.base);
    let bytes = if off <= desc.len { (desc.len - off) as usize } else { 0 };
    Lent { ptr: address as *mut u8, bytes, writable: desc.write[0] > 0 }
}

fn fail(ctx: &mut WorkerCtx, site: u64, raised: Raised) -> u32 {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let launch = unsafe { &*ctx.launch };
    let site = launch.site(site);
    let span = site.map_or(launch.entry.span, |s| s.span);
    ctx.worker.in_library = site.is_some_and(|s| s.library);
    ctx.worker.fault = Some(faults::at(ctx, launch, raised.kind, span, raised.detail));
    1
}

fn nowhere() -> Raised {
    Raised { kind: FaultKind::Trap, detail: "host code runs without its surroundings".to_owned() }
}

/// Called by generated code: asks for a service. The result takes the place of the operands; 1 when the call ends here.
///
/// # Safety
/// `ctx` is the running worker's; `words` holds the operands of the site, two words (address, descriptor) for a pointer, and has
/// room for two.
pub unsafe extern "C" fn service(ctx: *mut WorkerCtx, site: u64, words: *mut u64) -> u64 {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { (&mut *ctx, &*(*ctx).launch) };
    let Some(SiteKind::Service(service)) = launch.site(site).map(|s| &s.kind) else { return 1 };
    let Some(host) = launch.host else { return u64::from(fail(ctx, site, nowhere())) };
    let mut operands = [Word::Int(0); 4];
    let mut at = 0;
    for (operand, kind) in operands.iter_mut().zip(service.params()) {
        // SAFETY: the caller's promise.
        unsafe {
            let word = *words.add(at);
            *operand = match kind {
                Kind::Int => Word::Int(word as i64),
                Kind::Float => Word::Float(f64::from_bits(word)),
                Kind::Ptr => {
                    at += 1;
                    Word::Memory(lent(word, *words.add(at)))
                }
            };
        }
        at += 1;
    }
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        host.service(*service, &operands[..service.params().len()])
    }));
    let reply = match answer {
        Ok(Ok(reply)) => reply,
        Ok(Err(mut raised)) => {
            // What it could not read or write may have been given back.
            let dead = operands.iter().filter_map(|word| match word {
                Word::Memory(lent) if lent.bytes == 0 => host.memory().freed_at(lent.ptr as u64),
                _ => None,
            });
            let place = dead.into_iter().next();
            if place.is_some() {
                raised.detail.push_str(": the memory was freed");
            }
            let failed = fail(ctx, site, raised);
            if let Some(fault) = &mut ctx.worker.fault {
                fault.related = place;
            }
            return u64::from(failed);
        }
        Err(_) => {
            let detail = format!("internal error in `{}`: please report it", service.name());
            return u64::from(fail(ctx, site, Raised { kind: FaultKind::Trap, detail }));
        }
    };
    // SAFETY: the caller's promise.
    unsafe {
        match reply {
            Reply::Nothing => {}
            Reply::Again(fault) => {
                ctx.worker.in_library = false;
                ctx.worker.fault = Some(*fault);
                return 1;
            }
            Reply::Int(value) => *words = value as u64,
            Reply::Float(value) => *words = value.to_bits(),
            Reply::Address(address) => {
                *words = address;
                *words.add(1) = super::memory::lookup(ctx, address) as u64;
            }
        }
    }
    0
}

/// Called by generated code: launches a kernel and waits for it; 1 when the call ends here.
///
/// # Safety
/// As for [`service`]; the words are seven of extents and shared memory, then the arguments.
pub unsafe extern "C" fn launch(ctx: *mut WorkerCtx, site: u64, words: *const u64) -> u64 {
    // SAFETY: as above.
    let (ctx, launch) = unsafe { (&mut *ctx, &*(*ctx).launch) };
    let Some(SiteKind::Launch(kernel)) = launch.site(site).map(|s| &s.kind) else { return 1 };
    let Some(host) = launch.host else { return u64::from(fail(ctx, site, nowhere())) };
    let Some(entry) = launch.image.entry(*kernel) else { return 1 };
    // SAFETY: the caller's promise.
    let word = |at: usize| unsafe { *words.add(at) };
    let mut at = 7;
    let mut args = Vec::with_capacity(entry.params.len());
    for param in &entry.params {
        args.push(if !param.is_ptr {
            RawArg::Scalar(word(at))
        } else {
            let address = word(at);
            at += 1;
            // SAFETY: the caller's promise.
            let Lent { ptr, bytes, writable } = unsafe { lent(address, word(at)) };
            if address == 0 { RawArg::Null } else { RawArg::Buffer { ptr, bytes, writable } }
        });
        at += 1;
    }
    let extents = |from: usize| Dim3::new(word(from) as u32, word(from + 1) as u32, word(from + 2) as u32);
    let config = LaunchConfig {
        shared_mem: word(6),
        timeout: launch.deadline.map(|d| d.saturating_duration_since(std::time::Instant::now())),
        interrupt: launch.interrupt,
        host: Some(host),
        ..LaunchConfig::new(extents(0), extents(3))
    };
    match host.launch(*kernel, &args, &config) {
        Err(refusal) => {
            let span = launch.site(site).map_or(launch.entry.span, |s| s.span);
            let kind = FaultKind::Raised(Exception::Runtime);
            host.refuse(&refusal, faults::at(ctx, launch, kind, span, refusal.detail.clone()));
            0
        }
        Ok(outcome) => {
            ctx.worker.output.append(outcome.output, outcome.dropped);
            let failed = outcome.fault.is_some();
            ctx.worker.in_library = false;
            ctx.worker.fault = outcome.fault.map(|f| RawFault { kernel: f.kernel.or(Some(*kernel)), ..f });
            u64::from(failed)
        }
    }
}

/// Called by generated code when a function of the library did not end well: to the user it happened where they called it.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn relocate(ctx: *mut WorkerCtx, site: u64) {
    // SAFETY: as above.
    let (ctx, launch) = unsafe { (&mut *ctx, &*(*ctx).launch) };
    if let (Some(fault), Some(site)) = (&mut ctx.worker.fault, launch.site(site))
        && ctx.worker.in_library
    {
        fault.span = site.span;
        ctx.worker.in_library = site.library;
    }
}

/// Called by generated code where a call went wrong and somebody wants to catch that: 1 where it was an exception, which is in flight now.
///
/// # Safety
/// `ctx` is the running worker's; `frames` is the link of the innermost slots of those who go on.
pub unsafe extern "C" fn catch(ctx: *mut WorkerCtx, frames: u64) -> u64 {
    // SAFETY: as above.
    let (ctx, launch) = unsafe { (&mut *ctx, &*(*ctx).launch) };
    let is_exception = |fault: &RawFault| matches!(fault.kind, FaultKind::Raised(_));
    match (ctx.worker.fault.take(), launch.host) {
        (Some(fault), Some(host)) if is_exception(&fault) => {
            // What was called has left without a word to its slots.
            ctx.frames = frames as *const _;
            ctx.worker.fault = host.catch(fault);
            u64::from(ctx.worker.fault.is_none())
        }
        (fault, _) => {
            ctx.worker.fault = fault;
            0
        }
    }
}

/// The code of the function at an address of host code's, where it is one of that signature; 0 where not.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn function(ctx: *mut WorkerCtx, address: u64, signature: u64) -> u64 {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let launch = unsafe { &*(*ctx).launch };
    launch.function(address, signature).unwrap_or(0) as u64
}
