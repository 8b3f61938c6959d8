//! Memory of running blocks: the values that threads keep, shared memory, and the slots of functions.

use std::cell::Cell;

use crate::back::Dim3;
use crate::back::cpu::abi::context::{BufferDesc, DANGLING_DESC, DescKind, SlotTable};
use crate::back::cpu::image::SharedPlan;
use crate::ir::{MAX_SHARED_ALIGN, POISON};

/// Most bytes of local arrays that the threads of a block keep.
const MAX_KEPT: usize = 512 << 20;

/// The most memory that a thread of the pool holds on to for the next launch.
const MAX_CACHED: usize = 64 << 20;

thread_local! {
    static KEPT: Cell<Option<BlockMemory>> = const { Cell::new(None) };
}

/// The memory for the values and local arrays that threads of a worker's blocks keep while others run.
#[derive(Default)]
pub struct BlockMemory {
    pub scratch: Vec<u128>,
    pub slots: Vec<u128>,
    /// The index of each thread of a block, packed.
    pub threads: Vec<u32>,
}

impl BlockMemory {
    /// Memory for blocks of these extents, and local arrays for so many threads; `None` when that is too much.
    pub fn new((scratch, slots): (usize, usize), room: usize, block: Dim3) -> Option<Self> {
        let slots = slots.checked_mul(room).filter(|bytes| *bytes <= MAX_KEPT)?;
        let mut kept = KEPT.take().unwrap_or_default();
        for (memory, bytes) in [(&mut kept.scratch, scratch), (&mut kept.slots, slots)] {
            // Memory that has to grow is made anew: fresh pages are zero and cost nothing until they are used.
            if memory.len() < bytes.div_ceil(16) {
                *memory = Vec::new();
                *memory = vec![0; bytes.div_ceil(16)];
            }
            // Code that reads values it never kept shall not find those of an earlier launch.
            if cfg!(debug_assertions) {
                memory.fill(u128::from_ne_bytes([0xa5; 16]));
            }
        }
        kept.threads.clear();
        for z in 0..block.z {
            for y in 0..block.y {
                kept.threads.extend((0..block.x).map(|x| x | y << 10 | z << 20));
            }
        }
        Some(kept)
    }

    /// Leaves the memory to the next launch on this thread.
    pub fn put_back(self) {
        if 16 * (self.scratch.len() + self.slots.len()) <= MAX_CACHED {
            KEPT.set(Some(self));
        }
    }
}

/// The alignment of a block's shared memory.
const SHARED_ALIGN: usize = MAX_SHARED_ALIGN as usize;

/// The shared memory of the blocks a worker runs, one after the other.
pub struct SharedMemory {
    /// Kept for the addresses in `descs`.
    storage: Vec<u128>,
    /// The number of elements of the storage before the memory, which begins at a multiple of [`SHARED_ALIGN`].
    skipped: usize,
    descs: Vec<BufferDesc>,
    bytes: usize,
    /// The parts that are poisoned for all blocks but the first: the offset in the memory, and the number of bytes.
    again: Vec<(usize, usize)>,
    is_new: bool,
}

impl SharedMemory {
    /// Memory for a kernel's blocks with so many bytes of dynamic memory. No block reads from the variables in `overwritten` what an
    /// earlier one left there.
    pub fn new(count: usize, plan: &SharedPlan, dynamic: u32, overwritten: &[usize]) -> Self {
        let bytes = if plan.placed.is_empty() { 0 } else { plan.fixed as usize + dynamic as usize };
        let spare = if bytes == 0 { 0 } else { SHARED_ALIGN / 16 };
        let mut storage = vec![0u128; bytes.div_ceil(16) + spare];
        let skipped = storage.as_ptr().addr().wrapping_neg() % SHARED_ALIGN / 16;
        // SAFETY: the place is within the storage, which has so much to spare.
        let base = if spare == 0 { 0 } else { unsafe { storage.as_mut_ptr().add(skipped) as u64 } };
        let mut descs = vec![DANGLING_DESC; if plan.placed.is_empty() { 0 } else { count }];
        let mut again = Vec::new();
        for placed in &plan.placed {
            let len = u64::from(if placed.dynamic { dynamic } else { placed.size });
            let meta = BufferDesc::meta(DescKind::Shared, placed.index as u32);
            descs[placed.index] = BufferDesc::new(base + u64::from(placed.at), len, true, meta);
            if !overwritten.contains(&placed.index) {
                again.push((placed.at as usize, len as usize));
            }
        }
        if overwritten.is_empty() && bytes > 0 {
            again = vec![(0, bytes)];
        }
        SharedMemory { storage, skipped, descs, bytes, again, is_new: true }
    }

    /// The descriptors, by the variables' index in the module; null where the kernel names none.
    pub fn descs(&self) -> *const BufferDesc {
        if self.descs.is_empty() { std::ptr::null() } else { self.descs.as_ptr() }
    }

    /// Poisons the memory, as a block finds it when it starts.
    pub fn poison(&mut self) {
        let whole = [(0, self.bytes)];
        let parts = if std::mem::take(&mut self.is_new) { whole.as_slice() } else { self.again.as_slice() };
        for &(at, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
            // SAFETY: the storage is as long; generated code that uses it does not run now.
            unsafe { fill(self.storage.as_mut_ptr().add(self.skipped).cast::<u8>().add(at), bytes as u64) };
        }
    }
}

/// Makes the slots of a function: their descriptors, and, where the table says so, poison in the memory behind those.
///
/// # Safety
/// The memory that the table describes, from `frame` on, is the caller's to write.
pub unsafe extern "C" fn slots(frame: *mut u8, table: &SlotTable) {
    let size = size_of::<BufferDesc>();
    for (i, desc) in table.descs.iter().enumerate() {
        let desc = BufferDesc { base: desc.base + frame as u64, ..*desc };
        // SAFETY: as above.
        unsafe { frame.add(i * size).cast::<BufferDesc>().write(desc) }
    }
    let start = table.descs.len() * size;
    if let Some(len) = (table.poisoned as usize).checked_sub(start) {
        // SAFETY: as above.
        unsafe { frame.add(start).write_bytes(POISON, len) }
    }
}

/// Fills uninitialised memory with the poison pattern.
///
/// # Safety
/// `len` bytes at `ptr` are the caller's to write.
pub unsafe extern "C" fn fill(ptr: *mut u8, len: u64) {
    // SAFETY: as above.
    unsafe { ptr.write_bytes(POISON, len as usize) }
}
