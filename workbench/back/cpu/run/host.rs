//! The host side as launches see it: the trait of the run time of host code, and memory that is lent and given back while it
//! runs.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicPtr;
use std::sync::{PoisonError, RwLock};

use crate::back::cpu::abi::context::{BufferDesc, DescKind, Side, SlotFrame};
use crate::back::cpu::abi::site::Named;
use crate::back::{FaultKind, LaunchConfig, Outcome, RawArg, RawFault};
use crate::ir::{FuncId, Scalar, Service};
use crate::source::Span;

/// Memory behind a pointer.
#[derive(Debug, Clone, Copy)]
pub struct Lent {
    /// The address that the pointer points at.
    pub ptr: *mut u8,
    /// The number of bytes that may be read from there on.
    pub bytes: usize,
    /// True if they may be written, by the side that may touch them.
    pub writable: bool,
    /// The side that may touch them.
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

/// The answer of a service.
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
    /// An exception that was caught and goes on.
    Again(Box<RawFault>),
}

/// The reason that a service ends the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Raised {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// One sentence.
    pub detail: String,
}

/// The reason that a launch could not begin.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// CUDA's code (CUDA Runtime API, `cudaError_t`).
    pub code: i32,
    /// One sentence.
    pub detail: String,
    /// True if there was nothing to do anyhow: a grid without blocks, as of an empty tensor.
    pub is_empty: bool,
}

/// The run time that host code runs on.
pub trait Host: Sync {
    /// Memory that its pointers may point into.
    fn memory(&self) -> &HostMemory;

    /// Does a service.
    ///
    /// # Errors
    /// The reason that the call ends.
    fn service(&self, service: Service, operands: &[Word]) -> Result<Reply, Raised>;

    /// True if kernels may touch the host's own memory (`unified_memory`).
    fn is_unified(&self) -> bool;

    /// Keeps an exception that is caught: it is in flight from now on. Gives it back where it is one that ends the call.
    fn catch(&self, exception: RawFault) -> Option<RawFault>;

    /// Launches a kernel of the program.
    ///
    /// # Errors
    /// The reason that the kernel could not be launched.
    fn launch(&self, kernel: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> Result<Outcome, Refusal>;

    /// One sentence about an error of CUDA's that a service has given.
    fn why(&self, code: i32) -> String;

    /// Keeps the reason that a kernel was not launched, or memory not copied; the call goes on.
    fn refuse(&self, refusal: &Refusal, fault: RawFault);
}

/// The most allocations whose place of being given back is kept.
const MOST_FREED: usize = 4096;

/// Allocations that host code's pointers may point into. Code keeps addresses of descriptors, so they stay for as long as this does; after
/// memory was given back, its descriptor describes nothing.
#[derive(Default)]
pub struct HostMemory {
    state: RwLock<Allocations>,
    /// The local variables of host code that waits for a launch; null while none does.
    pub(super) frames: AtomicPtr<SlotFrame>,
}

#[derive(Default)]
struct Allocations {
    live: BTreeMap<u64, Lending>,
    /// All views there ever were; freed at the end.
    all: Vec<*mut Views>,
    /// The views of local variables that kernels came to.
    strays: Vec<*mut Views>,
    /// The memory that the text gave back, by its first address: its end, and the place in the text. The last time counts for
    /// memory that is used again.
    freed: BTreeMap<u64, (u64, Span)>,
    names: Vec<(Named, Source)>,
}

/// Memory that is lent now.
struct Lending {
    views: *mut Views,
    /// The number of times it is lent.
    times: u32,
}

/// The descriptors of an allocation: for a side that may not touch it, and for one that may.
type Views = [BufferDesc; 2];

impl Lending {
    /// The whole of it.
    fn desc(&self) -> &BufferDesc {
        // SAFETY: the pointer is to a box of the memory's, which changes only under the lock's write side.
        unsafe { &(*self.views)[1] }
    }

    /// The descriptor for code of a side.
    fn view(&self, side: Side) -> *const BufferDesc {
        let place = self.views.cast::<BufferDesc>().cast_const();
        // SAFETY: the place is one of the two.
        unsafe { place.add(usize::from(side.sees(self.desc().side()))) }
    }

    fn set(&mut self, desc: BufferDesc) {
        // SAFETY: the pointer is to a box of the memory's, whose lock is held.
        unsafe { *self.views = [if desc.side() == Side::Both { desc } else { desc.away() }, desc] }
    }
}

/// The source of an allocation, for messages.
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
    /// The side that may touch such memory.
    pub fn side(self) -> Side {
        match self {
            Source::Heap => Side::Host,
            Source::Device => Side::Device,
            Source::Lent | Source::Pinned | Source::Managed => Side::Both,
        }
    }

    /// The source with a number of the library's (`library/cudart.cuh`).
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
unsafe impl Send for Allocations {}

// SAFETY: descriptors change only under the lock's write side, in a service, while no kernel of the host code runs.
unsafe impl Sync for Allocations {}

impl HostMemory {
    /// Lends so many bytes at `base`. For memory lent twice the larger size holds, and it may be written, and touched, if one of
    /// the two may.
    pub fn lend(&self, base: u64, bytes: u64, writable: bool, name: &str, elem: Option<Scalar>) {
        self.lend_from(Source::Lent, base, bytes, writable, Named { name: name.to_owned(), size: bytes, elem });
    }

    /// Lends memory that the text has allocated.
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

    /// Takes memory back, once for each time it was lent; a pointer into it then points at nothing.
    pub fn take_back(&self, base: u64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let Some(lending) = state.live.get_mut(&base) else { return };
        lending.times -= 1;
        if lending.times == 0
            && let Some(lending) = state.live.remove(&base)
        {
            let gone = BufferDesc::new(base, 0, false, BufferDesc::meta(DescKind::Dangling, 0));
            // SAFETY: the pointer is to a box of this memory's.
            unsafe { *lending.views = [gone, gone] };
        }
    }

    /// Notes where the text gave memory back, for the message of a later use.
    pub fn note_freed(&self, base: u64, bytes: u64, place: Span) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.freed.len() == MOST_FREED {
            state.freed.pop_first();
        }
        state.freed.insert(base, (base.saturating_add(bytes.max(1)), place));
    }

    /// The place in the text that gave back the memory that an address lies in, or ends.
    pub fn freed_at(&self, address: u64) -> Option<Span> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let (_, (end, place)) = state.freed.range(..=address).next_back()?;
        (address <= *end).then_some(*place)
    }

    /// The descriptor of the memory an address lies in, or ends, for code of a side.
    pub fn find(&self, address: u64, side: Side) -> Option<*const BufferDesc> {
        self.with(address, |lending| lending.view(side))
    }

    /// The descriptor of a local variable of host code for code that may not touch it.
    pub(super) fn stray(&self, desc: &BufferDesc) -> *const BufferDesc {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        // It has no name: slots are numbered in each image separately.
        let meta = BufferDesc::meta(DescKind::Host, u32::MAX);
        let away = BufferDesc { meta, ..*desc }.of(Side::Host).away();
        // SAFETY: the pointers are to boxes of this memory's.
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

    /// The side that may touch the memory that an address lies in, or ends; then its source, its first address and its
    /// bytes.
    pub fn ask(&self, address: u64) -> Option<(Side, Source, u64, u64)> {
        let desc = self.with(address, |lending| *lending.desc())?;
        let source = self.source(desc.kind().1).unwrap_or_default();
        Some((desc.side(), source, desc.base, desc.len))
    }

    /// Gives the memory that an address lies in to another side; `false` where there is none of side `from`.
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
        // Arrays may overlap, so the nearest one that begins below need not hold the address.
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

    /// The name in messages of the memory of a number.
    pub(super) fn named(&self, index: usize) -> Option<Named> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).names.get(index).map(|(named, _)| named.clone())
    }

    /// The source of the memory of a number.
    pub(super) fn source(&self, index: usize) -> Option<Source> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).names.get(index).map(|(_, source)| *source)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for desc in state.all.drain(..) {
            // SAFETY: each was made by `Box::into_raw` in `lend`, once.
            drop(unsafe { Box::from_raw(desc) });
        }
    }
}
