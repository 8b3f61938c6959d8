//! Memory that a call of host code allocates and frees, and tensors that become others.

use std::alloc::Layout;
use std::sync::{Arc, PoisonError};

use super::super::answer::Answer;
use super::super::array::{HostTensor, MAX_BYTES, Storage};
use super::super::value::{Value, cpp_name};
use super::super::{memory_limit, work};
use super::operands::Operands;
use super::{Allocated, Call, CallState, MAX_VALUES};
use crate::back::cpu::{Host as _, HostMemory, Lent, Raised, Reply, Side, Source};
use crate::back::{Exception, FaultKind};
use crate::ir::Service;
use crate::runtime::DType;
use crate::source::{FileId, Span};

/// CUDA's codes (CUDA Runtime API, `cudaError_t`): `cudaErrorInvalidValue`,
const INVALID_VALUE: i32 = 1;
/// `cudaErrorInvalidMemcpyDirection`,
const INVALID_DIRECTION: i32 = 21;
/// `cudaErrorHostMemoryAlreadyRegistered`,
const ALREADY_REGISTERED: i32 = 712;
/// `cudaErrorHostMemoryNotRegistered`,
const NOT_REGISTERED: i32 = 713;
/// `cudaErrorNotSupported`.
const NOT_SUPPORTED: i32 = 801;

/// CUDA's words for an error of its runtime (`cudaGetErrorString`).
pub(super) fn words(code: i64) -> String {
    let words = match code {
        1 => "invalid argument",
        2 => "out of memory",
        12 => "invalid pitch argument",
        21 => "invalid copy direction for memcpy",
        101 => "invalid device ordinal",
        400 => "invalid resource handle",
        801 => "operation not supported",
        _ => return format!("CUDA's error {code}, for which nothing asked"),
    };
    format!("{words} (CUDA's error {code})")
}

/// The number of bytes copied between two looks at the clock.
const CHUNK: usize = 16 << 20;

/// The direction of a copy by its `cudaMemcpyKind`: the sides from which and to which it goes; `cudaMemcpyDefault` asks
/// the pointers.
fn direction(to: Side, from: Side, kind: i64) -> i32 {
    let (wants_to, wants_from) = match kind {
        0 => (Side::Host, Side::Host),
        1 => (Side::Device, Side::Host),
        2 => (Side::Host, Side::Device),
        3 => (Side::Device, Side::Device),
        4 => return 0,
        _ => return INVALID_DIRECTION,
    };
    if wants_to.sees(to) && wants_from.sees(from) { 0 } else { INVALID_VALUE }
}

fn named(side: Side) -> &'static str {
    match side {
        Side::Host => "the host",
        Side::Device => "the device",
        Side::Both => "both sides",
    }
}

/// Checks that so many bytes can be read or written, and says why where they cannot.
fn check(lent: Lent, bytes: usize, writes: bool) -> Result<(), Raised> {
    let verb = if writes { "writes" } else { "reads" };
    let s = if bytes == 1 { "" } else { "s" };
    let kind = match (lent.ptr.is_null(), lent.bytes) {
        (true, _) => FaultKind::NullPointer,
        (false, 0) => FaultKind::DanglingPointer,
        (false, there) if there < bytes && writes => FaultKind::OutOfBoundsWrite,
        (false, there) if there < bytes => FaultKind::OutOfBoundsRead,
        (false, _) if writes && !lent.writable => FaultKind::ReadOnlyWrite,
        _ => return Ok(()),
    };
    let detail = match kind {
        FaultKind::NullPointer => format!("{verb} {bytes} byte{s} through a null pointer"),
        FaultKind::DanglingPointer => {
            format!("{verb} {bytes} byte{s} at address {:#x}, which is in no live allocation", lent.ptr as u64)
        }
        FaultKind::ReadOnlyWrite => format!("{verb} {bytes} byte{s} of memory that is read-only"),
        _ => format!("{verb} {bytes} byte{s} of memory that has {} from there on", lent.bytes),
    };
    Err(Raised { kind, detail })
}

impl Call<'_> {
    /// Runs `cudaMemcpy`, `cudaMemset` and their queries; `None` for other services.
    pub(super) fn copying(&self, service: Service, given: &Operands<'_>) -> Option<Result<i32, Raised>> {
        match service {
            Service::Direction => Some(Ok(self.direction(given.memory(0), given.memory(1), given.int(2)))),
            Service::Copy => Some(self.copy(given.memory(0), given.memory(1), given.int(2), given.int(3))),
            Service::Fill => Some(self.fill(given.memory(0), given.int(1), given.int(2))),
            _ => None,
        }
    }

    /// The side of memory as copies see it: with unified memory the host's memory is the device's as well.
    fn side(&self, lent: Lent) -> Side {
        if lent.ptr.is_null() || lent.bytes == 0 || lent.side == Side::Host && self.is_unified() {
            return Side::Both;
        }
        lent.side
    }

    fn direction(&self, to: Lent, from: Lent, kind: i64) -> i32 {
        let (to, from) = (self.side(to), self.side(from));
        let code = direction(to, from, kind);
        if code == INVALID_VALUE {
            let names = ["HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice"];
            let name = usize::try_from(kind).ok().and_then(|kind| names.get(kind)).copied().unwrap_or_default();
            self.note(format!(
                "invalid argument: a copy by `cudaMemcpy{name}` goes from memory of {} to memory of {}, and nothing was copied",
                named(from),
                named(to)
            ));
        } else if code != 0 {
            self.note(format!("invalid copy direction for memcpy: {kind} is no `cudaMemcpyKind`"));
        }
        code
    }

    fn note(&self, why: String) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).why = Some(why);
    }

    fn copy(&self, to: Lent, from: Lent, bytes: i64, kind: i64) -> Result<i32, Raised> {
        let code = self.direction(to, from, kind);
        let size = bytes as usize;
        if code != 0 || size == 0 {
            return Ok(code);
        }
        check(from, size, false)?;
        check(to, size, true)?;
        // A copy in chunks would read a part after it was written where the two overlap.
        let apart = (to.ptr as usize).abs_diff(from.ptr as usize) >= size;
        let chunk = if apart { CHUNK } else { size };
        for at in (0..size).step_by(chunk) {
            // SAFETY: as many bytes are there, of memory that is live for this service.
            unsafe { std::ptr::copy(from.ptr.add(at), to.ptr.add(at), chunk.min(size - at)) };
            self.poll()?;
        }
        Ok(0)
    }

    fn fill(&self, to: Lent, value: i64, bytes: i64) -> Result<i32, Raised> {
        let size = bytes as usize;
        if self.side(to) == Side::Host {
            self.note("invalid argument: `cudaMemset` of memory of the host, where nothing was set".to_owned());
            return Ok(INVALID_VALUE);
        }
        if size == 0 {
            return Ok(0);
        }
        check(to, size, true)?;
        for at in (0..size).step_by(CHUNK) {
            // SAFETY: as above.
            unsafe { to.ptr.add(at).write_bytes(value as u8, CHUNK.min(size - at)) };
            self.poll()?;
        }
        Ok(0)
    }
}

impl CallState {
    /// Memory of so many bytes.
    pub(super) fn allocate(&mut self, memory: &HostMemory, bytes: i64, source: Source) -> Answer<Reply> {
        let failed = || (Exception::Memory, format!("no memory for {bytes} bytes"));
        let size = usize::try_from(bytes).ok().filter(|b| *b <= MAX_BYTES).ok_or_else(failed)?;
        if self.blocks.len() >= MAX_VALUES {
            return Err((Exception::Runtime, "too many allocations".to_owned()));
        }
        // The record of an allocation takes room beside its bytes.
        if !memory_limit::has(size.saturating_add(256)) || self.blocks.try_reserve(1).is_err() {
            return Err(failed());
        }
        let layout = Layout::from_size_align(size.max(1), 16).map_err(|_| failed())?;
        // SAFETY: the layout's size is not 0.
        let ptr = unsafe { std::alloc::alloc(layout) };
        if ptr.is_null() {
            return Err(failed());
        }
        // SAFETY: that many bytes are there, and no other code has them.
        work::fill(unsafe { std::slice::from_raw_parts_mut(ptr.cast(), layout.size()) }, crate::ir::POISON);
        self.blocks.insert(ptr as u64, Allocated { layout, size, source });
        memory.lend_allocated(source, ptr as u64, size as u64);
        Ok(Reply::Address(ptr as u64))
    }

    /// Memory of so many bytes as C's heap and CUDA give it: null where there is none.
    pub(super) fn allocate_from(&mut self, memory: &HostMemory, bytes: i64, source: Source) -> Answer<Reply> {
        match self.allocate(memory, bytes, source) {
            Err((Exception::Memory, _)) => {
                // C's heap gives no error of CUDA's.
                if source != Source::Heap {
                    let why = format!("out of memory: there are no {} bytes, and nothing was allocated", bytes as u64);
                    self.why = Some(why);
                }
                Ok(Reply::Address(0))
            }
            reply => reply,
        }
    }

    /// How many bytes were asked for of memory that is not freed.
    pub(super) fn block_size(&self, address: u64) -> Answer<Reply> {
        match self.blocks.get(&address) {
            Some(block) => Ok(Reply::Int(block.size as i64)),
            None => Err((Exception::Runtime, "memory is freed that was not allocated, or is freed already".to_owned())),
        }
    }

    /// Notes where the text is about to give memory back.
    pub(super) fn begin_freeing(&mut self, [file, start, end]: [u32; 3]) -> Answer<Reply> {
        self.freeing = Some(Span { file: FileId(file), start, end });
        Ok(Reply::Nothing)
    }

    /// Gives memory back; `place` is given where the text does that itself.
    pub(super) fn free(&mut self, memory: &HostMemory, address: u64, place: Option<Span>) -> Answer<Reply> {
        if address == 0 {
            return Ok(Reply::Nothing);
        }
        if let Some(Allocated { source, .. }) = self.blocks.get(&address)
            && *source != Source::Heap
        {
            let (by, how) = match source {
                Source::Pinned => ("cudaMallocHost", "cudaFreeHost"),
                Source::Managed => ("cudaMallocManaged", "cudaFree"),
                _ => ("cudaMalloc", "cudaFree"),
            };
            let message = format!("`free` or `delete` of memory that `{by}` gave: give it back with `{how}`");
            return Err((Exception::Runtime, message));
        }
        self.give_back(memory, address, place)
    }

    /// `cudaFree` and `cudaFreeHost`.
    pub(super) fn free_from(&mut self, memory: &HostMemory, address: u64, pinned: bool) -> Answer<Reply> {
        let place = self.freeing.take();
        match self.blocks.get(&address) {
            Some(block) if (block.source == Source::Pinned) != pinned || block.source == Source::Heap => {
                let (by, given) = match (pinned, block.source) {
                    (true, _) => ("cudaFreeHost", "that `cudaMallocHost` and `cudaHostAlloc` did not give"),
                    (_, Source::Pinned) => ("cudaFree", "that `cudaMallocHost` gave: give it back with `cudaFreeHost`"),
                    _ => ("cudaFree", "of the host: give it back with `free` or `delete`"),
                };
                self.why = Some(format!("invalid argument: `{by}` of memory {given}"));
                Ok(Reply::Int(INVALID_VALUE.into()))
            }
            None if address != 0 => {
                let by = if pinned { "cudaFreeHost" } else { "cudaFree" };
                let what = match memory.ask(address) {
                    Some((_, _, base, _)) if base == address => "memory that is a tensor's, or the caller's",
                    Some((_, Source::Lent, ..)) => "a place in memory that is a tensor's, or the caller's",
                    Some(_) => "a place inside of an allocation: give back the pointer to its first byte",
                    None if memory.freed_at(address).is_some() => "memory that was freed already",
                    None => "memory that was not allocated, or was freed already",
                };
                self.why = Some(format!("invalid argument: `{by}` of {what}"));
                Ok(Reply::Int(INVALID_VALUE.into()))
            }
            _ => self.give_back(memory, address, place).map(|_| Reply::Int(0)),
        }
    }

    fn give_back(&mut self, memory: &HostMemory, address: u64, place: Option<Span>) -> Answer<Reply> {
        if address == 0 {
            return Ok(Reply::Nothing);
        }
        let Some(Allocated { layout, size, .. }) = self.blocks.remove(&address) else {
            let message = format!("address {address:#x} is freed, which was not allocated or is freed already");
            return Err((Exception::Runtime, message));
        };
        memory.take_back(address);
        if let Some(place) = place {
            memory.note_freed(address, size as u64, place);
        }
        if self.has_blobs {
            self.zombies.push((address, layout));
            return Ok(Reply::Nothing);
        }
        // SAFETY: the block was allocated in `allocate` with this layout, and is out of the table now.
        unsafe { std::alloc::dealloc(address as *mut u8, layout) };
        Ok(Reply::Nothing)
    }

    /// A pointer's `cudaMemoryType`: 0 not registered, 1 the host's that the device reaches, 2 the device's, 3 managed.
    pub(super) fn memory_type(memory: &HostMemory, lent: Lent) -> i64 {
        match (lent.side, memory.ask(lent.ptr as u64)) {
            (Side::Host, _) => 0,
            (Side::Device, _) => 2,
            (Side::Both, Some((_, Source::Pinned | Source::Heap, ..))) => 1,
            (Side::Both, Some((_, Source::Managed, ..))) => 3,
            (Side::Both, Some(_)) => 2,
            // A `__managed__` variable, or a table that may not be written.
            (Side::Both, None) => {
                if lent.writable {
                    3
                } else {
                    0
                }
            }
        }
    }

    /// `cudaHostRegister` (1) and `cudaHostUnregister` (0); 2 lets host code touch memory of the device's. Gives CUDA's
    /// code.
    pub(super) fn register(memory: &HostMemory, lent: Lent, how: i64) -> i32 {
        let (at, both) = (lent.ptr as u64, how != 0);
        if how == 2 {
            memory.register(at, Side::Device, Side::Both);
            return 0;
        }
        let (from, to) = if both { (Side::Host, Side::Both) } else { (Side::Both, Side::Host) };
        match memory.ask(at) {
            Some((Side::Host | Side::Both, Source::Heap, ..)) if memory.register(at, from, to) => 0,
            Some((_, Source::Heap, ..)) => {
                if both {
                    ALREADY_REGISTERED
                } else {
                    NOT_REGISTERED
                }
            }
            Some(_) => INVALID_VALUE,
            // Local variables have no allocation of their own.
            None if lent.bytes > 0 => NOT_SUPPORTED,
            None => INVALID_VALUE,
        }
    }

    /// `cudaMemcpyToSymbol`. It may write variables that no kernel may write; arrays of the caller are not symbols.
    pub(super) fn write_symbol(&self, to: Lent, bytes: &[u8]) -> Answer<Reply> {
        let at = to.ptr as u64;
        let holds = |s: &Storage| (s.ptr() as u64..s.ptr() as u64 + s.bytes() as u64).contains(&at);
        let is_array = self.tensors.iter().flatten().any(|(t, _)| holds(t.storage()));
        if bytes.len() > to.bytes || to.ptr.is_null() || is_array {
            let message =
                format!("cudaMemcpyToSymbol: {} bytes for a symbol of which {} are left", bytes.len(), to.bytes);
            return Err((Exception::Runtime, message));
        }
        // SAFETY: the back end has checked that so many bytes lie behind the pointer; no kernel runs while a service does.
        unsafe { std::ptr::copy(bytes.as_ptr(), to.ptr, bytes.len()) };
        Ok(Reply::Nothing)
    }

    /// A tensor of bytes in memory of the call.
    pub(super) fn blob(&mut self, lent: Lent, bytes: i64) -> Answer<Value> {
        let size = usize::try_from(bytes).ok().filter(|n| *n <= lent.bytes);
        let Some(size) = size.filter(|n| *n == 0 || !lent.ptr.is_null()) else {
            let message = format!("from_blob: a tensor of {bytes} bytes on memory of {}", lent.bytes);
            return Err((Exception::Runtime, message));
        };
        let at = lent.ptr as u64;
        let holds = |s: &&Arc<Storage>| (s.ptr() as u64..s.ptr() as u64 + s.bytes() as u64).contains(&at);
        let within = self.tensors.iter().flatten().map(|(t, _)| t.storage()).find(holds).cloned();
        self.has_blobs = true;
        // SAFETY: from now on blocks are freed only at the end of the call, frames stay until then, and a tensor's
        // storage is held.
        let storage = unsafe { Storage::borrowed(lent.ptr, size, lent.writable, within) };
        let device = self.device;
        Ok(Value::Tensor(HostTensor::view(storage, DType::UInt8, [size as i64][..].into(), [1][..].into(), 0, device)))
    }

    /// `set_`: gives a handle another tensor. Arrays of the caller keep their memory.
    pub(super) fn rebind(&mut self, memory: &HostMemory, handle: i64, from: i64) -> Answer<Reply> {
        let source = self.tensor(from)?.clone();
        let target = self.tensor(handle)?;
        if target.storage().lender().is_some() {
            let message = "a tensor of the caller's is given other memory or another size (set_, resize_), which the caller would not \
                           see; return the tensor instead";
            return Err((Exception::NotImplemented, message.to_owned()));
        }
        if target.dtype() != source.dtype() {
            let (a, b) = (cpp_name(source.dtype()), cpp_name(target.dtype()));
            return Err((Exception::Runtime, format!("Could not set tensor of type {a} to a tensor of type {b}")));
        }
        let place = handle as usize - 1;
        if let Some(Some((tensor, _))) = self.tensors.get_mut(place) {
            *tensor = source;
        }
        for strides in [false, true] {
            if let Some(words) = self.extents.remove(&(place + 1, strides)) {
                memory.take_back(words.as_ptr() as u64);
            }
        }
        Ok(Reply::Nothing)
    }
}
