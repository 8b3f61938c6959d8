//! Buffers: module data, the descriptors of a launch's arguments, and the search for the allocation an address lies in.

use std::cell::{Cell, UnsafeCell};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::context::{BufferDesc, DANGLING_DESC, DescKind, NULL_DESC, Side, SlotFrame, SlotTable, WorkerCtx};
use super::faults::Named;
use super::glue;
use super::{HostMemory, Placed, SharedPlan};
use crate::back::{Dim3, RawArg};
use crate::ir::{Elem, FuncId, GlobalData, MAX_SHARED_ALIGN, MemberAt, Module, Op, POISON, ParamType, Space, Stmt};

/// Module data in memory of its own, 16-byte aligned, at addresses that are baked into code.
pub struct Globals {
    /// Kept for the addresses in `descs`; kernels write to it.
    _storage: Box<[UnsafeCell<u128>]>,
    /// Kept for those of data that is in other memory.
    _others: Option<Arc<Globals>>,
    /// One for each [`crate::ir::Global`]; generated code holds their addresses.
    pub descs: Box<[BufferDesc]>,
    /// What each is to those who may not touch it.
    away: Box<[BufferDesc]>,
    /// What messages call them.
    pub names: Vec<Named>,
    /// Who may change them.
    spaces: Vec<Space>,
}

/// Who may touch the data of a space.
fn side_of(space: Space) -> Side {
    match space {
        Space::Constant | Space::Device => Side::Device,
        Space::Host => Side::Host,
        // A literal of the device's is in its memory, one of the host's in the host's.
        Space::ReadOnly | Space::Managed => Side::Both,
    }
}

/// Memory that data of a module may have already.
pub enum Others {
    None,
    /// Another program's of the same text: variables of the same names are the same.
    Program(Arc<Globals>),
    /// That of the first data of this very module.
    First(Arc<Globals>),
}

impl Others {
    /// For each datum of a module where it is, if it has memory already.
    fn places(&self, module: &Module) -> Vec<Option<u64>> {
        let place = |others: &Globals, at: usize| others.descs.get(at).map(|desc| desc.base);
        let mut taken = HashSet::new();
        let mut find = |(i, global): (usize, &GlobalData)| match self {
            Others::None => None,
            Others::First(others) => place(others, i),
            Others::Program(_) if global.space == Space::ReadOnly => None,
            Others::Program(others) => {
                // Of several of a name the first is the first.
                let same = |j: &usize| {
                    others.names[*j].name == global.name
                        && (others.descs[*j].len, others.spaces[*j]) == (global.bytes.len() as u64, global.space)
                        && !taken.contains(j)
                };
                let found = (0..others.names.len()).find(same)?;
                taken.insert(found);
                place(others, found)
            }
        };
        module.globals.iter().enumerate().map(&mut find).collect()
    }
}

impl Globals {
    /// Copies the data of a module, but for what is in the memory of `others`.
    pub fn new(module: &Module, others: Others) -> Self {
        let places = others.places(module);
        let own = || module.globals.iter().zip(&places).filter(|(_, place)| place.is_none()).map(|(global, _)| global);
        let words: usize = own().map(|g| g.bytes.len().div_ceil(16)).sum();
        let mut storage: Box<[UnsafeCell<u128>]> = (0..words).map(|_| UnsafeCell::new(0)).collect();
        let base = storage.as_mut_ptr() as u64;
        let mut starts = Vec::new();
        let mut start = 0;
        for global in own() {
            for (cell, chunk) in storage[start / 16..].iter_mut().zip(global.bytes.chunks(16)) {
                bytemuck::bytes_of_mut(cell.get_mut())[..chunk.len()].copy_from_slice(chunk);
            }
            starts.push(base + start as u64);
            start += global.bytes.len().next_multiple_of(16);
        }
        let mut starts = starts.into_iter();
        let (mut descs, mut names) = (Vec::new(), Vec::new());
        for (i, (global, place)) in module.globals.iter().zip(places).enumerate() {
            let (len, meta) = (global.bytes.len() as u64, BufferDesc::meta(DescKind::Global, i as u32));
            let at = place.or_else(|| starts.next()).unwrap_or_default();
            let desc = BufferDesc::new(at, len, global.space.is_writable(), meta).of(side_of(global.space));
            descs.push(if global.is_literal() { desc.literal() } else { desc });
            names.push(Named { name: global.name.clone(), size: len, elem: global.elem });
        }
        let spaces = module.globals.iter().map(|g| g.space).collect();
        let others = match others {
            Others::None => None,
            Others::Program(others) | Others::First(others) => Some(others),
        };
        let away = descs.iter().map(|desc: &BufferDesc| desc.away()).collect();
        Globals { _storage: storage, _others: others, descs: descs.into(), away, names, spaces }
    }

    /// The descriptor of a datum for those of a side.
    pub fn view(&self, index: usize, side: Side) -> Option<&BufferDesc> {
        let desc = self.descs.get(index)?;
        if side.sees(desc.side()) { Some(desc) } else { self.away.get(index) }
    }

    /// The bytes of a datum as they are now.
    pub fn read(&self, index: usize) -> Option<Vec<u8>> {
        let desc = self.descs.get(index)?;
        let mut bytes = vec![0; desc.len as usize];
        // SAFETY: the descriptor is of storage that lives as long as `self`.
        unsafe { std::ptr::copy_nonoverlapping(desc.base as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Some(bytes)
    }

    /// Replaces the bytes of a datum; `false` when there are not as many.
    pub fn write(&self, index: usize, bytes: &[u8]) -> bool {
        let Some(desc) = self.descs.get(index).filter(|d| d.len == bytes.len() as u64) else { return false };
        // SAFETY: as above; the storage is made of cells.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), desc.base as *mut u8, bytes.len()) };
        true
    }
}

// SAFETY: what is in the cells is read and written through raw pointers only; kernels that race do so as their text says.
unsafe impl Sync for Globals {}

/// Where the shared variables that a kernel or a function it calls names lie in a block's memory: static ones one after the other in the
/// order of their declarations, then all dynamic ones at one place.
pub fn place_shared(module: &Module, kernel: FuncId) -> SharedPlan {
    let mut plan = SharedPlan::default();
    if module.shared.is_empty() {
        return plan;
    }
    // As much work as it reaches: this is asked of every kernel of a module.
    let (mut named, mut seen, mut work) = (BTreeSet::new(), HashSet::from([kernel]), vec![kernel]);
    while let Some(id) = work.pop() {
        module.func(id).body.for_each_stmt(&mut |stmt| {
            if let Stmt::Let(_, Op::SharedAddr(m)) = stmt {
                named.insert(m.index());
            }
            work.extend(stmt.mentions().into_iter().filter(|id| seen.insert(*id)));
        });
    }
    let variables = || named.iter().filter_map(|index| Some((*index, module.shared.get(*index)?)));
    let mut fixed: Vec<_> = variables().filter(|(_, data)| !data.dynamic).collect();
    let padded =
        fixed.iter().fold(0u32, |end, (_, data)| end.next_multiple_of(data.align.max(1)).saturating_add(data.size));
    if padded > super::MAX_STATIC_SHARED {
        // As ptxas has them, without gaps between.
        fixed.sort_by_key(|(_, data)| std::cmp::Reverse(data.align));
    }
    for (index, data) in fixed {
        let at = plan.fixed.next_multiple_of(data.align.max(1));
        plan.placed.push(Placed { index, at, size: data.size, dynamic: false });
        plan.fixed = at.saturating_add(data.size);
    }
    for (index, _) in variables().filter(|(_, data)| data.dynamic) {
        if !plan.dynamic {
            let asked = variables().filter(|(_, data)| data.dynamic).map(|(_, data)| data.align).max();
            plan.fixed = plan.fixed.next_multiple_of(asked.unwrap_or(1).max(1));
            plan.dynamic = true;
        }
        plan.placed.push(Placed { index, at: plan.fixed, size: 0, dynamic: true });
    }
    plan
}

/// Most bytes of local arrays that the threads of a block keep.
const MAX_KEPT: usize = 512 << 20;
/// What a thread of the pool holds on to for the next launch.
const MAX_CACHED: usize = 64 << 20;

thread_local! {
    static KEPT: Cell<Option<Kept>> = const { Cell::new(None) };
}

/// What the threads of the blocks that a worker runs keep while others run.
#[derive(Default)]
pub struct Kept {
    pub scratch: Vec<u128>,
    pub slots: Vec<u128>,
    /// For each thread of a block its index, packed.
    pub threads: Vec<u32>,
}

impl Kept {
    /// Memory for blocks of those extents, local arrays for so many threads; `None` when that is too much.
    pub fn new((scratch, slots): (usize, usize), room: usize, block: Dim3) -> Option<Self> {
        let slots = slots.checked_mul(room).filter(|bytes| *bytes <= MAX_KEPT)?;
        let mut kept = KEPT.take().unwrap_or_default();
        for (memory, bytes) in [(&mut kept.scratch, scratch), (&mut kept.slots, slots)] {
            // What grows is made anew: fresh pages are zero and cost nothing until they are used.
            if memory.len() < bytes.div_ceil(16) {
                *memory = Vec::new();
                *memory = vec![0; bytes.div_ceil(16)];
            }
            // Code that reads what it never kept shall not find what an earlier launch did.
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

/// What the shared memory of a block begins at a multiple of.
const SHARED_ALIGN: usize = MAX_SHARED_ALIGN as usize;

/// The shared memory of the blocks a worker runs, one after the other.
pub struct SharedMemory {
    /// Kept for the addresses in `descs`.
    storage: Vec<u128>,
    /// How many elements of it lie before the memory, which begins at a multiple of [`SHARED_ALIGN`].
    skipped: usize,
    descs: Vec<BufferDesc>,
    bytes: usize,
    /// What is poisoned for all blocks but the first: where in the memory, and how many bytes.
    again: Vec<(usize, usize)>,
    is_new: bool,
}

impl SharedMemory {
    /// Memory for a kernel's blocks with so many bytes of dynamic memory. No block sees of the variables in `overwritten` what an earlier
    /// one left.
    pub fn new(count: usize, plan: &SharedPlan, dynamic: u32, overwritten: &[usize]) -> Self {
        let bytes = if plan.placed.is_empty() { 0 } else { plan.fixed as usize + dynamic as usize };
        let spare = if bytes == 0 { 0 } else { SHARED_ALIGN / 16 };
        let mut storage = vec![0u128; bytes.div_ceil(16) + spare];
        let skipped = storage.as_ptr().addr().wrapping_neg() % SHARED_ALIGN / 16;
        // SAFETY: within the storage, which has so much to spare.
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

    /// Makes it what a block finds when it starts.
    pub fn poison(&mut self) {
        let whole = [(0, self.bytes)];
        let parts = if std::mem::take(&mut self.is_new) { whole.as_slice() } else { self.again.as_slice() };
        for &(at, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
            // SAFETY: the storage is as long; generated code that uses it does not run now.
            unsafe { fill(self.storage.as_mut_ptr().add(self.skipped).cast::<u8>().add(at), bytes as u64) };
        }
    }
}

/// The descriptor of an argument; a scalar has none and gets the null one.
pub fn describe_arg(index: usize, arg: &RawArg) -> BufferDesc {
    let index = index as u32;
    match *arg {
        RawArg::Scalar(_) => NULL_DESC,
        RawArg::Null => BufferDesc::new(0, 0, false, BufferDesc::meta(DescKind::NullParam, index)),
        RawArg::Buffer { ptr, bytes, writable } => {
            BufferDesc::new(ptr as u64, bytes as u64, writable, BufferDesc::meta(DescKind::Param, index))
        }
        RawArg::Away { ptr, bytes } => {
            let desc = BufferDesc::new(ptr as u64, bytes as u64, false, BufferDesc::meta(DescKind::Param, index));
            desc.of(Side::Host).away()
        }
    }
}

/// What a launch's kernels may reach besides their own memory.
pub struct Outside<'a> {
    /// Of the launch's arguments and what they point at.
    pub descs: &'a [BufferDesc],
    pub globals: &'a Globals,
    pub host: Option<&'a dyn super::Host>,
    /// Who asks.
    pub side: Side,
}

/// A search for the allocation of an address. One past the end belongs to its allocation unless another one starts there.
struct Search {
    addr: u64,
    past_end: *const BufferDesc,
}

impl Search {
    fn new(addr: u64) -> Self {
        Search { addr, past_end: &raw const DANGLING_DESC }
    }

    /// Of several that hold it one that may be written: what one parameter only reads another may write.
    fn among(&mut self, descs: &[BufferDesc]) -> Option<*const BufferDesc> {
        let mut found = None;
        for desc in descs.iter().filter(|d| d.base != 0) {
            let off = self.addr.wrapping_sub(desc.base);
            if off < desc.len && desc.write[0] > 0 {
                return Some(std::ptr::from_ref(desc));
            }
            if off < desc.len {
                found = found.or(Some(std::ptr::from_ref(desc)));
            }
            if off == desc.len {
                self.past_end = desc;
            }
        }
        found
    }

    fn outside(&mut self, outside: &Outside<'_>) -> Option<*const BufferDesc> {
        if self.addr == 0 {
            return Some(&raw const NULL_DESC);
        }
        let globals = outside.globals;
        if let Some(found) = self.among(outside.descs).or_else(|| self.among(&globals.descs)) {
            // SAFETY: one of the two lists'.
            let (kind, index) = unsafe { (*found).kind() };
            let view = globals.view(index, outside.side).filter(|_| kind == DescKind::Global);
            return Some(view.map_or(found, std::ptr::from_ref));
        }
        let memory = outside.host?.memory();
        self.of_host(memory, outside.side).or_else(|| self.of_locals(memory, outside.side))
    }

    /// Among the local variables of host code that waits for a launch.
    fn of_locals(&mut self, memory: &HostMemory, side: Side) -> Option<*const BufferDesc> {
        let frames = memory.frames.load(Ordering::Relaxed);
        // SAFETY: they stay as long as the launch.
        let found = unsafe { self.in_frames(frames) }?;
        // SAFETY: one of theirs.
        if side.sees(Side::Host) { Some(found) } else { Some(memory.stray(unsafe { &*found })) }
    }

    /// Among the slots of activations, innermost first.
    ///
    /// # Safety
    /// They go on until the search is over.
    unsafe fn in_frames(&mut self, mut frame: *const SlotFrame) -> Option<*const BufferDesc> {
        // SAFETY: generated code links a frame while its activation runs and unlinks it before it ends.
        while let Some(SlotFrame { prev, descs, count }) = unsafe { frame.as_ref() } {
            // SAFETY: `count` descriptors start there, on the stack of that activation.
            if let Some(found) = self.among(unsafe { std::slice::from_raw_parts(*descs, *count as usize) }) {
                return Some(found);
            }
            frame = *prev;
        }
        None
    }

    /// Among what host code has, and text of the library's, whose address a class of the user's keeps. Allocations may lie next to one
    /// another: what one ends at another begins at.
    fn of_host(&mut self, memory: &HostMemory, side: Side) -> Option<*const BufferDesc> {
        let mut holds = |desc: *const BufferDesc| {
            // SAFETY: a static descriptor, or the host's, which keeps all it ever had.
            let (base, len) = unsafe { ((*desc).base, (*desc).len) };
            if self.addr - base >= len {
                self.past_end = desc;
            }
            self.addr - base < len
        };
        let own = memory.find(self.addr, side).filter(|desc| holds(*desc));
        own.or_else(|| glue::find(self.addr).map(std::ptr::from_ref).filter(|desc| holds(*desc)))
    }
}

/// The buffer of an address that no thread of the launch made.
///
/// # Safety
/// Nobody changes the host's memory meanwhile.
pub unsafe fn lookup_outside(outside: &Outside<'_>, addr: u64) -> BufferDesc {
    let mut search = Search::new(addr);
    let found = search.outside(outside).unwrap_or(search.past_end);
    // SAFETY: a static descriptor, one of `outside`'s, or the host's, which keeps all it ever had.
    unsafe { *found }
}

/// The buffer of a pointer member of a struct: that of the launch's which the address is in, from there on. Accesses of `size` bytes fail
/// where the address is not aligned to that; code relies on it.
///
/// # Safety
/// As for [`lookup_outside`].
pub unsafe fn describe_member(outside: &Outside<'_>, addr: u64, size: Option<u32>) -> BufferDesc {
    // SAFETY: the caller's promise.
    let whole = unsafe { lookup_outside(outside, addr) };
    let left = if whole.base == 0 { 0 } else { whole.len - addr.wrapping_sub(whole.base) };
    let mut desc = BufferDesc::new(addr, left, whole.write[0] > 0, whole.meta);
    if whole.is_away() {
        desc = desc.away();
    }
    hold_aligned(&mut desc, size.unwrap_or(1));
    desc
}

/// The bits of a struct's member, with the buffer they point into.
///
/// # Safety
/// The struct is there, and as large as its parameter says; nobody changes the host's memory meanwhile.
pub unsafe fn read_member(
    member: MemberAt,
    ty: ParamType,
    args: &[RawArg],
    outside: &Outside<'_>,
) -> (u64, BufferDesc) {
    let (offset, size) = (member.offset as usize, ty.ty().size() as usize);
    let ptr = match args.get(member.param as usize) {
        Some(RawArg::Buffer { ptr, bytes, .. }) if offset + size <= *bytes => ptr,
        _ => return (0, NULL_DESC),
    };
    let mut bytes = [0; 8];
    // SAFETY: the member lies inside of the struct.
    unsafe {
        std::ptr::copy_nonoverlapping(ptr.add(offset), bytes.as_mut_ptr(), size);
    }
    let bits = u64::from_le_bytes(bytes);
    match ty {
        ParamType::Ptr { elem, .. } => {
            // SAFETY: the caller's promise.
            (bits, unsafe { describe_member(outside, bits, elem.map(Elem::size)) })
        }
        ParamType::Scalar(_) | ParamType::Bytes { .. } => (bits, NULL_DESC),
    }
}

/// Lets no access of `size` bytes succeed where the buffer does not start at a multiple of that; code relies on it.
fn hold_aligned(desc: &mut BufferDesc, size: u32) {
    if !desc.base.is_multiple_of(u64::from(size)) {
        let k = size.trailing_zeros() as usize;
        (desc.read[k], desc.write[k]) = (0, 0);
    }
}

/// Makes the buffer that a pointer of host code's was to begin the whole allocation that it points into; how many units before it that
/// starts.
pub fn anchor(buffer: &mut BufferDesc, unit: u32, host: Option<&dyn super::Host>) -> u64 {
    let host = host.filter(|_| buffer.base != 0 && !buffer.is_away());
    let Some(whole) = host.and_then(|host| host.memory().find(buffer.base, Side::Both)) else { return 0 };
    // SAFETY: the host keeps all it ever had, and nobody changes it while its code waits for a launch.
    let whole = unsafe { *whole };
    let (before, size) = (buffer.base - whole.base, u64::from(unit));
    if !before.is_multiple_of(size) || !whole.base.is_multiple_of(size) {
        hold_aligned(buffer, unit);
        return 0;
    }
    if before == 0 || before + buffer.len != whole.len {
        return 0;
    }
    // What nothing is left of tells nothing of whether it may be written.
    let is_writable = whole.write[0] > 0 && (buffer.len == 0 || buffer.write[0] > 0);
    *buffer = BufferDesc::new(whole.base, whole.len, is_writable, buffer.meta);
    before / size
}

/// The buffer of an address that came out of memory or an integer.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn lookup(ctx: *const WorkerCtx, addr: u64) -> *const BufferDesc {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { (&*ctx, &*(*ctx).launch) };
    lookup_in(ctx, &launch.outside(), addr)
}

/// The same as one of a side finds it.
pub fn lookup_as(ctx: &WorkerCtx, addr: u64, side: Side) -> *const BufferDesc {
    // SAFETY: the launch outlives its workers.
    let launch = unsafe { &*ctx.launch };
    lookup_in(ctx, &Outside { side, ..launch.outside() }, addr)
}

fn lookup_in(ctx: &WorkerCtx, outside: &Outside<'_>, addr: u64) -> *const BufferDesc {
    // SAFETY: as above.
    let launch = unsafe { &*ctx.launch };
    let mut search = Search::new(addr);
    if let Some(found) = search.outside(outside) {
        return found;
    }
    if !ctx.shared.is_null() {
        // SAFETY: a worker has a descriptor for each shared variable of the module, or none at all.
        let shared = unsafe { std::slice::from_raw_parts(ctx.shared, launch.image.shared.len()) };
        if let Some(found) = search.among(shared) {
            return found;
        }
    }
    // SAFETY: they are of activations that wait for this.
    unsafe { search.in_frames(ctx.frames) }.unwrap_or(search.past_end)
}

/// Makes the slots of a function: their descriptors, and where the table says so the memory behind those.
///
/// # Safety
/// What the table describes is the caller's to write, from `frame` on.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Scalar;

    #[test]
    fn what_begins_where_something_else_ends_is_what_begins() {
        let bytes = b"fifteen letters\0".to_vec();
        let text = GlobalData { name: String::new(), bytes, align: 1, elem: Some(Scalar::I8), space: Space::ReadOnly };
        let (text, _) = glue::literal(&text).expect("there is room");
        let memory = HostMemory::default();
        memory.lend(text.base - 32, 32, true, "before", None);
        memory.lend(text.base + text.len, 8, true, "behind", None);
        let found = |addr: u64| {
            let mut search = Search::new(addr);
            let found = search.of_host(&memory, Side::Host).unwrap_or(search.past_end);
            // SAFETY: descriptors of `memory`, and static ones.
            unsafe { (*found).base }
        };
        assert_eq!(found(text.base - 32), text.base - 32);
        assert_eq!(found(text.base - 1), text.base - 32);
        assert_eq!(found(text.base), text.base);
        assert_eq!(found(text.base + text.len), text.base + text.len);
        // One past the end of what nothing begins behind.
        assert_eq!(found(text.base + text.len + 8), text.base + text.len);
        assert_eq!(found(text.base + text.len + 9), DANGLING_DESC.base);
    }
}
