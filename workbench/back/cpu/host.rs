//! Host code's way out: services it asks for, kernels it launches, and memory that is lent and given back while it runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{PoisonError, RwLock};

use super::context::{BufferDesc, DANGLING_DESC, DescKind, Side, SlotFrame, WorkerCtx};
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
    /// Whether they may be written, by those who may touch them.
    pub writable: bool,
    /// Who may.
    pub side: Side,
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

    /// Whether kernels may touch what is the host's (`unified_memory`).
    fn is_unified(&self) -> bool;

    /// Keeps an exception that is caught: it is in flight from now on. Gives it back where it is one that ends the call.
    fn catch(&self, exception: RawFault) -> Option<RawFault>;

    /// Launches a kernel of the program.
    ///
    /// # Errors
    /// Why it could not be launched.
    fn launch(&self, kernel: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> Result<Outcome, Refusal>;

    /// One sentence about an error of CUDA's that a service has given.
    fn why(&self, code: i32) -> String;

    /// Keeps why a kernel was not launched, or memory not copied; the call goes on.
    fn refuse(&self, refusal: &Refusal, fault: RawFault);
}

/// Of how many allocations it is known where they were given back.
const MOST_FREED: usize = 4096;

/// Allocations that host code's pointers may point into. Code keeps addresses of descriptors, so they stay for as long as this does; that of
/// memory that was given back describes nothing any more.
#[derive(Default)]
pub struct HostMemory {
    state: RwLock<State>,
    /// The local variables of host code that waits for a launch; null while none does.
    pub(super) frames: AtomicPtr<SlotFrame>,
}

#[derive(Default)]
struct State {
    live: BTreeMap<u64, Lending>,
    /// All there ever were; freed at the end.
    all: Vec<*mut Views>,
    /// Those of local variables that kernels came to.
    strays: Vec<*mut Views>,
    /// What the text gave back: where it ended, and where in the text that was. Of memory that is used again the last time counts.
    freed: BTreeMap<u64, (u64, Span)>,
    names: Vec<(Named, Source)>,
}

/// Memory that is lent now.
struct Lending {
    views: *mut Views,
    /// How often.
    times: u32,
}

/// What an allocation is to those who may not touch it, and to those who may.
type Views = [BufferDesc; 2];

impl Lending {
    /// The whole of it.
    fn desc(&self) -> &BufferDesc {
        // SAFETY: a box of the memory's, which changes under the lock's write side alone.
        unsafe { &(*self.views)[1] }
    }

    /// What it is to one of a side.
    fn view(&self, side: Side) -> *const BufferDesc {
        let place = self.views.cast::<BufferDesc>().cast_const();
        // SAFETY: one of the two.
        unsafe { place.add(usize::from(side.sees(self.desc().side()))) }
    }

    fn set(&mut self, desc: BufferDesc) {
        // SAFETY: a box of the memory's, whose lock is held.
        unsafe { *self.views = [if desc.side() == Side::Both { desc } else { desc.away() }, desc] }
    }
}

/// What gave an allocation, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// The caller, torch, the library.
    #[default]
    Lent,
    /// `malloc`, `new`, a container.
    Heap,
    /// `cudaMalloc` and its like.
    Device,
    /// `cudaMallocHost`, `cudaHostAlloc`.
    Pinned,
    /// `cudaMallocManaged`.
    Managed,
}

impl Source {
    /// Who may touch such memory.
    pub fn side(self) -> Side {
        match self {
            Source::Heap => Side::Host,
            Source::Device => Side::Device,
            Source::Lent | Source::Pinned | Source::Managed => Side::Both,
        }
    }

    /// That of a number of the library's (`library/cudart.cuh`).
    pub fn of_number(number: i64) -> Self {
        match number {
            1 => Source::Device,
            2 => Source::Pinned,
            3 => Source::Managed,
            _ => Source::Heap,
        }
    }
}

// SAFETY: the pointers are this structure's own boxes.
unsafe impl Send for State {}
// SAFETY: descriptors change only under the lock's write side, in a service, while no kernel of the host code runs.
unsafe impl Sync for State {}

impl HostMemory {
    /// Lends so many bytes at `base`. Lent twice, the larger size holds, and it may be written, and touched, if one of the two may.
    pub fn lend(&self, base: u64, bytes: u64, writable: bool, name: &str, elem: Option<Scalar>) {
        self.lend_from(Source::Lent, base, bytes, writable, Named { name: name.to_owned(), size: bytes, elem });
    }

    /// Lends what the text has allocated.
    pub fn lend_allocated(&self, source: Source, base: u64, bytes: u64) {
        self.lend_from(source, base, bytes, true, Named { name: String::new(), size: bytes, elem: None });
    }

    /// Lends a tensor's extents or strides, which are the host's and may only be read.
    pub fn lend_extents(&self, base: u64, bytes: u64) {
        let named = Named { name: String::new(), size: bytes, elem: Some(Scalar::I64) };
        self.lend_from(Source::Heap, base, bytes, false, named);
    }

    fn lend_from(&self, source: Source, base: u64, bytes: u64, writable: bool, named: Named) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let meta = BufferDesc::meta(DescKind::Host, state.names.len() as u32);
        let desc = BufferDesc::new(base, bytes, writable, meta).of(source.side());
        if let Some(old) = state.live.get_mut(&base) {
            old.times += 1;
            let known = *old.desc();
            let side = if known.side() == source.side() { known.side() } else { Side::Both };
            let grown = BufferDesc::new(base, bytes.max(known.len), writable || known.write[0] > 0, known.meta);
            old.set(grown.of(side));
            return;
        }
        state.names.push((named, source));
        let views = Box::into_raw(Box::new([desc.away(), desc]));
        state.live.insert(base, Lending { views, times: 1 });
        state.all.push(views);
    }

    /// Takes memory back, once for each time it was lent: whoever then still has a pointer into it has one to nothing.
    pub fn take_back(&self, base: u64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let Some(lending) = state.live.get_mut(&base) else { return };
        lending.times -= 1;
        if lending.times == 0
            && let Some(lending) = state.live.remove(&base)
        {
            let gone = BufferDesc::new(base, 0, false, BufferDesc::meta(DescKind::Dangling, 0));
            // SAFETY: a box of ours.
            unsafe { *lending.views = [gone, gone] };
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
    pub fn freed_at(&self, address: u64) -> Option<Span> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let (_, (end, place)) = state.freed.range(..=address).next_back()?;
        (address <= *end).then_some(*place)
    }

    /// The descriptor of the memory an address lies in, or ends, for those of a side.
    pub fn find(&self, address: u64, side: Side) -> Option<*const BufferDesc> {
        self.with(address, |lending| lending.view(side))
    }

    /// What a local variable of host code is to those who may not touch it.
    pub(super) fn stray(&self, desc: &BufferDesc) -> *const BufferDesc {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        // No name: slots are numbered in each image by itself.
        let meta = BufferDesc::meta(DescKind::Host, u32::MAX);
        let away = BufferDesc { meta, ..*desc }.of(Side::Host).away();
        // SAFETY: boxes of ours.
        let same = |views: &*mut Views| unsafe { ((**views)[0].base, (**views)[0].len) == (away.base, away.len) };
        let views = match state.strays.iter().copied().find(same) {
            Some(views) => views,
            None => {
                let views = Box::into_raw(Box::new([away, away]));
                state.strays.push(views);
                state.all.push(views);
                views
            }
        };
        views.cast::<BufferDesc>().cast_const()
    }

    /// Who may touch the memory that an address lies in, or ends; what gave it, where it begins and how many bytes it has.
    pub fn ask(&self, address: u64) -> Option<(Side, Source, u64, u64)> {
        let desc = self.with(address, |lending| *lending.desc())?;
        let source = self.source(desc.kind().1).unwrap_or_default();
        Some((desc.side(), source, desc.base, desc.len))
    }

    /// Makes the memory that an address lies in that of others; `false` where there is none of those it is to be from.
    pub fn register(&self, address: u64, from: Side, to: Side) -> bool {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let found = state.live.range_mut(..=address).next_back().map(|(_, lending)| lending);
        match found.filter(|l| l.desc().side() == from && address - l.desc().base < l.desc().len.max(1)) {
            Some(lending) => {
                lending.set(lending.desc().of(to));
                true
            }
            None => false,
        }
    }

    fn with<R>(&self, address: u64, give: impl Fn(&Lending) -> R) -> Option<R> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut past_end = None;
        // Arrays may overlap, so the nearest that begins below need not be the one.
        for (_, lending) in state.live.range(..=address).rev() {
            let BufferDesc { base, len, .. } = *lending.desc();
            match address - base {
                off if off < len => return Some(give(lending)),
                off if off == len => past_end = past_end.or(Some(lending)),
                _ => {}
            }
        }
        past_end.map(give)
    }

    /// What messages say of the memory of a number.
    pub(super) fn named(&self, index: usize) -> Option<Named> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).names.get(index).map(|(named, _)| named.clone())
    }

    /// What gave the memory of a number.
    pub(super) fn source(&self, index: usize) -> Option<Source> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).names.get(index).map(|(_, source)| *source)
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
    let side = desc.side_in_host();
    Lent { ptr: address as *mut u8, bytes, writable: desc.write[0] > 0 || desc.is_away(), side }
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
    if let (Service::Unasked, Word::Int(code)) = (service, operands[0]) {
        if code != 0 {
            let detail = host.why(code as i32);
            let refusal = Refusal { code: code as i32, detail: detail.clone(), is_empty: false };
            let span = launch.site(site).map_or(launch.entry.span, |s| s.span);
            host.refuse(&refusal, faults::at(ctx, launch, FaultKind::Raised(Exception::Runtime), span, detail));
        }
        return 0;
    }
    if *service == Service::Seen {
        // SAFETY: the caller's promise.
        unsafe { *words.add(1) = super::memory::lookup_as(ctx, *words, Side::Both) as u64 };
        return 0;
    }
    let away = |word: &Word| matches!(word, Word::Memory(lent) if lent.side == Side::Device && lent.bytes > 0);
    if !service.takes_device() && operands.iter().any(away) {
        let detail = "host code uses memory of the device's: copy it with cudaMemcpy, or allocate with cudaMallocManaged, which both \
                      sides may use";
        return u64::from(fail(ctx, site, Raised { kind: FaultKind::WrongMemory, detail: detail.to_owned() }));
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
    let side = entry.side(Some(host));
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
            let Lent { ptr, bytes, writable, side: of } = unsafe { lent(address, word(at)) };
            match address {
                0 => RawArg::Null,
                _ if param.by_value || side.sees(of) => RawArg::Buffer { ptr, bytes, writable },
                _ => RawArg::Away { ptr, bytes },
            }
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
    // What is the host's own stays as it is until the launch is over.
    let before = host.memory().frames.swap(ctx.frames.cast_mut(), Ordering::Relaxed);
    let launched = host.launch(*kernel, &args, &config);
    host.memory().frames.store(before, Ordering::Relaxed);
    match launched {
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
            ctx.worker.is_uncalled = false;
            ctx.worker.fault = outcome.fault.map(|f| RawFault { kernel: f.kernel.or(Some(*kernel)), ..f });
            // A kernel of the library's is an algorithm that a line of the text calls.
            if let (Some(fault), Some(site)) = (&mut ctx.worker.fault, launch.site(site))
                && entry.span.file.is_common()
            {
                if fault.span.file.is_common() {
                    fault.span = site.span;
                    ctx.worker.in_library = site.library;
                }
                fault.called = Some(site.span);
                ctx.worker.is_uncalled = site.library;
            }
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
    let (Some(fault), Some(site)) = (&mut ctx.worker.fault, launch.site(site)) else { return };
    if std::mem::take(&mut ctx.worker.is_uncalled) {
        fault.called = Some(site.span);
        ctx.worker.is_uncalled = site.library;
    }
    if ctx.worker.in_library {
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
