//! The interface of generated code and the Rust around it: the layout of a worker's context and of buffer descriptors.
//!
//! Generated code reads and writes these structures by the offsets below; nothing else in the crate knows them.

use std::ffi::c_void;
use std::mem::offset_of;

use crate::ir::{FuncKind, Function, Param, ParamType, Scalar};

/// Access sizes that a descriptor has limits for: 1, 2, 4 and 8 bytes, by their logarithm.
pub const SIZES: usize = 4;

/// The kind of memory that a descriptor describes; the upper half of [`BufferDesc::meta`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum DescKind {
    /// No memory: the null pointer constant.
    Null = 0,
    /// No memory: an address that no live allocation holds.
    Dangling = 1,
    /// The buffer bound to the launched kernel's parameter of that index.
    Param = 2,
    /// A null pointer bound to the parameter of that index.
    NullParam = 3,
    /// A slot, by its index in the code's slot table.
    Slot = 4,
    /// Module data.
    Global = 5,
    /// A shared variable, by its index in the module.
    Shared = 6,
    /// Memory of host code, by its number in [`HostMemory`](crate::back::cpu::run::host::HostMemory).
    Host = 7,
}

/// The side that may touch memory, or that asks for it: host code, the device's code, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Side {
    /// Both sides: tensors, arrays of the caller, `cudaMallocManaged`, pinned memory.
    Both = 0,
    /// Host code: `malloc`, `new`, variables of host code.
    Host = 1,
    /// Kernels: `cudaMalloc`, `__device__` variables.
    Device = 2,
}

impl Side {
    /// True if code of one side may touch memory of the other.
    pub fn sees(self, memory: Side) -> bool {
        self == memory || self == Side::Both || memory == Side::Both
    }
}

/// The bit of [`BufferDesc::meta`] that marks memory which exists, but which the holder of the descriptor may not
/// touch.
const AWAY: u64 = 1 << 63;

/// The bit that marks a literal there: the device has its own copy, and the address of host code's is none of the
/// device's.
const LITERAL: u64 = 1 << 62;

/// The place in [`BufferDesc::meta`] of the side that may touch the memory, in two bits.
const SIDE: u32 = 60;

/// A live allocation. An access of `1 << k` bytes at offset `off` is in bounds exactly when `off < read[k]` (or `write[k]`),
/// compared unsigned, so that one comparison rejects negative offsets, buffers that are too small and read-only ones alike.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct BufferDesc {
    /// Address of the first byte.
    pub base: u64,
    /// The number of offsets a read may start at, by size.
    pub read: [u64; SIZES],
    /// The number of offsets a write may start at, by size; all zero for read-only memory.
    pub write: [u64; SIZES],
    /// Size in bytes.
    pub len: u64,
    /// [`DescKind`] and its index.
    pub meta: u64,
}

impl BufferDesc {
    /// A descriptor of `len` bytes at `base`.
    pub const fn new(base: u64, len: u64, writable: bool, meta: u64) -> Self {
        let read = [Self::starts(len, 1), Self::starts(len, 2), Self::starts(len, 4), Self::starts(len, 8)];
        BufferDesc { base, read, write: if writable { read } else { [0; SIZES] }, len, meta }
    }

    /// The same memory, marked as one that a side may touch.
    pub const fn of(self, side: Side) -> Self {
        BufferDesc { meta: self.meta & !(3 << SIDE) | (side as u64) << SIDE, ..self }
    }

    /// The side that may touch the memory. Local variables are known by their kind: only a kernel of host code's asks
    /// for those of another function.
    pub fn side(&self) -> Side {
        match (self.meta >> SIDE & 3, self.kind().0) {
            (1, _) | (0, DescKind::Slot) => Side::Host,
            (2, _) => Side::Device,
            _ => Side::Both,
        }
    }

    /// The same memory, marked as that of a literal.
    pub const fn literal(self) -> Self {
        BufferDesc { meta: self.meta | LITERAL, ..self }
    }

    /// The side it belongs to where host code has a pointer to it.
    pub fn side_in_host(&self) -> Side {
        if self.meta & LITERAL != 0 { Side::Host } else { self.side() }
    }

    /// The same memory for a side that may not touch it: no access is in bounds.
    pub const fn away(self) -> Self {
        BufferDesc { read: [0; SIZES], write: [0; SIZES], meta: self.meta | AWAY, ..self }
    }

    /// True if it is memory of the other side.
    pub const fn is_away(&self) -> bool {
        self.meta & AWAY != 0
    }

    /// The number of offsets an access of `size` bytes may start at in a buffer of `len` bytes.
    pub const fn starts(len: u64, size: u64) -> u64 {
        (len + 1).saturating_sub(size)
    }

    /// The word that holds a descriptor's kind and index.
    pub const fn meta(kind: DescKind, index: u32) -> u64 {
        (kind as u64) << 32 | index as u64
    }

    /// The kind of memory it describes, with the index.
    pub fn kind(&self) -> (DescKind, usize) {
        let kind = match self.meta >> 32 & 0xff {
            0 => DescKind::Null,
            2 => DescKind::Param,
            3 => DescKind::NullParam,
            4 => DescKind::Slot,
            5 => DescKind::Global,
            6 => DescKind::Shared,
            7 => DescKind::Host,
            _ => DescKind::Dangling,
        };
        (kind, self.meta as u32 as usize)
    }
}

/// The buffer of the null pointer: every access through it faults.
pub static NULL_DESC: BufferDesc = BufferDesc::new(0, 0, false, BufferDesc::meta(DescKind::Null, 0));

/// The buffer of an address in no live allocation: every access through it faults.
pub static DANGLING_DESC: BufferDesc = BufferDesc::new(0, 0, false, BufferDesc::meta(DescKind::Dangling, 0));

/// The slots of one activation, linked so that an address can be looked up among them.
#[derive(Debug)]
#[repr(C)]
pub struct SlotFrame {
    /// The slots of the caller's activation, or null.
    pub prev: *const SlotFrame,
    /// Descriptors of this activation.
    pub descs: *const BufferDesc,
    /// The number of descriptors.
    pub count: u64,
}

/// The tables that the slots of a function are made from.
#[derive(Debug)]
pub struct SlotTable {
    /// The descriptors. Each has for its base the distance of its memory from the first descriptor.
    pub descs: Vec<BufferDesc>,
    /// The end of their memory, as a distance from the same place, if it is to be poisoned; else 0.
    pub poisoned: u32,
}

/// State of one worker during one launch, as far as generated code reads and writes it. It is the head of a
/// [`Running`](crate::back::cpu::run::launch::Running).
#[repr(C)]
pub struct WorkerCtx {
    /// The work left until the next poll; see `tick`.
    pub budget: i64,
    /// The lowest stack address a function may use.
    pub stack_limit: u64,
    /// Slots of the activations now running, innermost first; kept only where the module makes pointers from integers.
    pub frames: *const SlotFrame,
    /// Linear index of the running block.
    pub block_linear: u64,
    /// Index of the running block.
    pub block: [u32; 3],
    /// The number of blocks that wide code is to run, from that one on in x.
    pub run: u32,
    /// The block's place in a walk over memory that blocks of wide code do together: 0 where this block walks by itself, 1 in the first
    /// of those that walk together, which walks for all, and counting from there. Code sets it to 0 where nothing came of it.
    pub walk: u32,
    /// Index of the running thread; x is kept up to date for kernels that call functions, else it is written before a
    /// helper is called, or by a helper that is given the index packed.
    pub thread: [u32; 3],
    /// `gridDim`.
    pub grid: [u32; 3],
    /// `blockDim`.
    pub dims: [u32; 3],
    /// A host function's result, as bits.
    pub ret: u64,
    /// The buffer of a returned pointer.
    pub ret_desc: u64,
    /// The number to add to the threads' index in this round of a grid-stride loop.
    pub offset: i64,
    /// The distance of the first thread's index from its bound at the start, and the stride; see `rounds`.
    pub trip: [i64; 2],
    /// Descriptors of the module's shared variables, in the running block's memory.
    pub shared: *const BufferDesc,
    /// The values that a block's threads keep while others run; see `blocks`.
    pub scratch: *mut u8,
    /// The local arrays that the threads keep.
    pub slots: *mut u8,
    /// The index of each thread of a block: x in the low 10 bits, y in the next 10, z above.
    pub threads: *const u32,
    /// The copy that the worker adds to instead of the array, for each parameter, or null; see `sums`. It is set for wide code
    /// with such sums alone.
    pub sums: *const *mut u8,
    /// A count that grows on events that a loop which only waits cannot cause; see `tick`.
    pub progress: u64,
    /// The fault: its site, and two operands that depend on the site.
    pub fault: [u64; 3],
    /// The yielder of the running thread, where threads are fibers; else null.
    pub fiber: *const c_void,
    /// The code that [`direct`] calls, and how many arguments it takes.
    pub direct: (usize, usize),
}

/// A value in place of a packed thread index: the context's index is right.
pub const THREAD_KNOWN: u32 = u32::MAX;

impl WorkerCtx {
    /// Notes the index of the running thread, packed as in [`WorkerCtx::threads`], or [`THREAD_KNOWN`]. Paths that are hardly ever
    /// taken leave the unpacking to Rust.
    pub fn unpack_thread(&mut self, packed: u32) {
        if packed != THREAD_KNOWN {
            self.thread = [packed & 1023, packed >> 10 & 1023, packed >> 20];
        }
    }
}

/// A field of [`WorkerCtx`] that generated code uses, as its byte offset.
pub struct Field;

impl Field {
    pub const BUDGET: i32 = offset_of!(WorkerCtx, budget) as i32;
    pub const STACK_LIMIT: i32 = offset_of!(WorkerCtx, stack_limit) as i32;
    pub const FRAMES: i32 = offset_of!(WorkerCtx, frames) as i32;
    pub const BLOCK_LINEAR: i32 = offset_of!(WorkerCtx, block_linear) as i32;
    pub const BLOCK: i32 = offset_of!(WorkerCtx, block) as i32;
    pub const WALK: i32 = offset_of!(WorkerCtx, walk) as i32;
    pub const RUN: i32 = offset_of!(WorkerCtx, run) as i32;
    pub const THREAD: i32 = offset_of!(WorkerCtx, thread) as i32;
    pub const GRID: i32 = offset_of!(WorkerCtx, grid) as i32;
    pub const DIMS: i32 = offset_of!(WorkerCtx, dims) as i32;
    pub const RET: i32 = offset_of!(WorkerCtx, ret) as i32;
    pub const RET_DESC: i32 = offset_of!(WorkerCtx, ret_desc) as i32;
    pub const OFFSET: i32 = offset_of!(WorkerCtx, offset) as i32;
    pub const TRIP: i32 = offset_of!(WorkerCtx, trip) as i32;
    pub const SHARED: i32 = offset_of!(WorkerCtx, shared) as i32;
    pub const SCRATCH: i32 = offset_of!(WorkerCtx, scratch) as i32;
    pub const SLOTS: i32 = offset_of!(WorkerCtx, slots) as i32;
    pub const THREADS: i32 = offset_of!(WorkerCtx, threads) as i32;
    pub const SUMS: i32 = offset_of!(WorkerCtx, sums) as i32;
    pub const PROGRESS: i32 = offset_of!(WorkerCtx, progress) as i32;
    pub const FAULT: i32 = offset_of!(WorkerCtx, fault) as i32;
}

/// Byte offsets in [`BufferDesc`].
pub struct DescField;

impl DescField {
    pub const BASE: i32 = offset_of!(BufferDesc, base) as i32;
    pub const READ: i32 = offset_of!(BufferDesc, read) as i32;
    pub const WRITE: i32 = offset_of!(BufferDesc, write) as i32;
    pub const LEN: i32 = offset_of!(BufferDesc, len) as i32;
    pub const SIZE: u32 = size_of::<BufferDesc>() as u32;

    /// The limit of accesses of `1 << log2` bytes.
    pub fn limit(write: bool, log2: u32) -> i32 {
        (if write { Self::WRITE } else { Self::READ }) + 8 * log2 as i32
    }
}

/// The machine code of an entry point: runs the row of threads that the context names, or the block, or a host function. It gives 0 when
/// all went well, 1 when the launch has to stop.
///
/// # Safety
/// The context and the arguments are those the code was compiled for.
pub type EntryFn = unsafe extern "C" fn(ctx: *mut WorkerCtx, args: *const u64) -> u32;

/// Most arguments of a host function that [`direct`] calls.
pub const MAX_DIRECT: usize = 2;

/// The entry point of host functions that take numbers of 64 bits, [`MAX_DIRECT`] at most, and give no result: such a function needs no
/// entry code of its own.
///
/// # Safety
/// The context names such a function, and as many arguments as it takes are there.
pub unsafe extern "C" fn direct(ctx: *mut WorkerCtx, args: *const u64) -> u32 {
    type None = unsafe extern "C" fn(*mut WorkerCtx) -> u32;
    type One = unsafe extern "C" fn(*mut WorkerCtx, u64) -> u32;
    type Two = unsafe extern "C" fn(*mut WorkerCtx, u64, u64) -> u32;
    // SAFETY: as above; generated code has C's calling convention.
    unsafe {
        let (code, count) = (*ctx).direct;
        match count {
            0 => std::mem::transmute::<usize, None>(code)(ctx),
            1 => std::mem::transmute::<usize, One>(code)(ctx, *args),
            _ => std::mem::transmute::<usize, Two>(code)(ctx, *args, *args.add(1)),
        }
    }
}

/// Host functions that need no code to be called; see [`direct`].
pub fn is_direct(func: &Function) -> bool {
    let is_word = |p: &Param| matches!(p.ty, ParamType::Scalar(Scalar::I64 | Scalar::U64));
    func.kind == FuncKind::Host
        && func.ret.is_none()
        && func.params.len() <= MAX_DIRECT
        && func.params.iter().all(is_word)
}
