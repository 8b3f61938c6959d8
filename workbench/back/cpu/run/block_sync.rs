//! Operations that the threads of a block do together, called by generated code between regions: masks, barriers, warp
//! functions.
//!
//! Barriers check that all threads that have not left the kernel are there; warp functions, that the lanes which their masks name are there
//! or have left. A missing thread is a fault that names both lines. A shuffle from a lane that does not take part gives zero, as the
//! hardware does.

use std::slice;

use super::fault_messages;
use super::launch::{Launch, Running};
use crate::back::FaultKind;
use crate::back::cpu::abi::context::WorkerCtx;
use crate::back::cpu::abi::masks::{ACTIVE, EXITED, FIRST_MASK, LANES, MaskOp, OPERANDS, WARP_ARRAY, WARPS};
use crate::back::cpu::abi::site::{Join, Joined, Site, SiteKind};
use crate::ir::{Collective, ReduceOp, Shuffle};
use crate::source::Span;

/// The threads of each warp of a block.
fn full(threads: u64) -> [u32; WARPS] {
    std::array::from_fn(|w| match (threads as usize).saturating_sub(LANES * w) {
        left if left >= LANES => u32::MAX,
        left => (1 << left) - 1,
    })
}

/// Runs an operation on the masks; 1 if any thread is active then, else 0.
///
/// # Safety
/// `masks` has the masks of the running function; `array` a byte for each thread where the operation is [`MaskOp::If`], a word for each
/// where it is [`MaskOp::Park`].
pub unsafe extern "C" fn mask(
    masks: *mut [u32; WARPS],
    op: u64,
    number: u64,
    array: *mut u8,
    threads: u64,
    site: u64,
) -> u64 {
    // SAFETY: the caller's promise; the two masks are apart, since constructs' come after the active one.
    let active = unsafe { &mut *masks };
    // SAFETY: as above.
    let other = |number: u64| unsafe { &mut *masks.add((number as usize).max(1)) };
    match op {
        x if x == MaskOp::Init as u64 => {
            *active = full(threads);
            *other(u64::from(EXITED)) = [0; WARPS];
        }
        x if x == MaskOp::If as u64 => {
            let other = other(number);
            // SAFETY: the array has a byte for each thread.
            let cond = unsafe { slice::from_raw_parts(array, threads as usize) };
            for (w, conds) in cond.chunks(LANES).enumerate() {
                let taken = conds.iter().enumerate().fold(0, |bits, (l, c)| bits | u32::from(*c != 0) << l);
                other[w] = active[w] & !taken;
                active[w] &= taken;
            }
            other[(threads as usize).div_ceil(LANES)..].fill(0);
        }
        x if x == MaskOp::Swap as u64 => std::mem::swap(active, other(number)),
        x if x == MaskOp::Merge as u64 => {
            for (a, o) in active.iter_mut().zip(other(number)) {
                *a |= std::mem::take(o);
            }
        }
        x if x == MaskOp::Clear as u64 => *other(number) = [0; WARPS],
        x if x == MaskOp::Park as u64 => {
            // SAFETY: the array has a word for each thread.
            let notes = unsafe { slice::from_raw_parts_mut(array.cast::<u32>(), threads as usize) };
            let is_active = |t: usize| active[t / LANES] >> (t % LANES) & 1 != 0;
            notes.iter_mut().enumerate().filter(|(t, _)| is_active(*t)).for_each(|(_, note)| *note = site as u32);
            for (a, o) in active.iter_mut().zip(other(number)) {
                *o |= std::mem::take(a);
            }
        }
        _ => {}
    }
    u64::from(active.iter().any(|w| *w != 0))
}

/// The threads of a block: which are active, and which have left.
struct Participants<'a> {
    threads: usize,
    active: [u32; WARPS],
    /// Threads that have not left the kernel.
    live: [u32; WARPS],
    masks: Option<&'a [[u32; WARPS]]>,
}

impl Participants<'_> {
    /// # Safety
    /// `masks` is null or has the masks of the running function, those of `join` among them.
    unsafe fn new<'a>(ctx: &Running, masks: *const [u32; WARPS], join: &Join) -> Participants<'a> {
        let threads = ctx.dims.iter().map(|d| *d as usize).product();
        let all = full(threads as u64);
        if masks.is_null() {
            return Participants { threads, active: all, live: all, masks: None };
        }
        let count = join.around.iter().map(|(n, _)| n + 1).max().unwrap_or(0).max(FIRST_MASK);
        // SAFETY: the caller's promise.
        let masks = unsafe { slice::from_raw_parts(masks, count as usize) };
        let live = std::array::from_fn(|w| all[w] & !masks[EXITED as usize][w]);
        Participants { threads, active: masks[ACTIVE as usize], live, masks: Some(masks) }
    }

    fn warps(&self) -> usize {
        self.threads.div_ceil(LANES)
    }

    /// The place at which a thread that is not active went its own way.
    fn parted(&self, ctx: &Running, launch: &Launch<'_>, join: &Join, warp: usize, lane: usize) -> Option<Span> {
        let masks = self.masks?;
        let gone = |number: u32| masks.get(number as usize).is_some_and(|m| m[warp] >> lane & 1 != 0);
        let (_, span) = join.around.iter().find(|(number, _)| gone(*number))?;
        span.or_else(|| {
            // SAFETY: scratch has a word for each thread there, wherever masks are.
            let note = unsafe { *ctx.scratch.add(join.parted as usize).cast::<u32>().add(warp * LANES + lane) };
            launch.noted_site(note).map(|site| site.span)
        })
    }
}

pub fn index_of(ctx: &Running, thread: usize) -> [u32; 3] {
    let [x, y, _] = ctx.dims.map(|d| d.max(1) as usize);
    [(thread % x) as u32, (thread / x % y) as u32, (thread / (x * y)) as u32]
}

pub fn show([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

/// # Safety
/// As for [`barrier`].
unsafe fn site<'a>(ctx: *mut WorkerCtx, site: u64) -> Option<(&'a mut Running, &'a Launch<'a>, &'a Site, &'a Join)> {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    let site = launch.site(site)?;
    match &site.kind {
        SiteKind::Join(join) => Some((ctx, launch, site, join)),
        _ => None,
    }
}

/// A barrier of the block: 0 when all threads that have not left the kernel are at it, else -1.
///
/// # Safety
/// `ctx` is the running worker's, `masks` null or the running function's.
pub unsafe extern "C" fn barrier(ctx: *mut WorkerCtx, number: u64, masks: *const [u32; WARPS]) -> i64 {
    // SAFETY: the caller's promise.
    let Some((ctx, launch, site, join)) = (unsafe { site(ctx, number) }) else { return -1 };
    // SAFETY: as above.
    let here = unsafe { Participants::new(ctx, masks, join) };
    if all_here(ctx, launch, site, join, &here) { 0 } else { -1 }
}

fn all_here(ctx: &mut Running, launch: &Launch<'_>, site: &Site, join: &Join, here: &Participants<'_>) -> bool {
    let missing = (0..here.warps()).find(|w| here.active[*w] != here.live[*w]);
    let Some(warp) = missing else { return true };
    let lane = (here.live[warp] & !here.active[warp]).trailing_zeros() as usize;
    let first = (0..here.warps()).find_map(|w| {
        let bits = here.active[w];
        (bits != 0).then(|| w * LANES + bits.trailing_zeros() as usize)
    });
    ctx.thread = index_of(ctx, first.unwrap_or(0));
    let name = match join.op {
        Joined::Barrier => "__syncthreads",
        Joined::Collective(op, ..) => op.c_name(),
    };
    let absent = show(index_of(ctx, warp * LANES + lane));
    let detail = format!("waits at `{name}` for thread {absent}, which went another way");
    let mut fault = fault_messages::at(ctx, launch, FaultKind::BarrierDivergence, site.span, detail);
    fault.related = here.parted(ctx, launch, join, warp, lane);
    ctx.worker.fault = Some(fault);
    false
}

/// The operands of a collective.
#[derive(Clone, Copy)]
struct Operands(*const u64);

impl Operands {
    /// Operand `k` of a warp's lanes, zero-extended.
    ///
    /// # Safety
    /// The words are those of a collective in a block of `threads` threads.
    unsafe fn lanes(self, k: usize, warp: usize, threads: usize) -> [u64; LANES] {
        // SAFETY: the caller's promise.
        let (word, size) = unsafe { (*self.0.add(2 * k), *self.0.add(2 * k + 1)) };
        let first = warp * LANES;
        let count = threads.saturating_sub(first).min(LANES);
        /// # Safety
        /// `count` elements start at `from`.
        unsafe fn read<T: Copy + Into<u64>>(from: *const T, count: usize) -> [u64; LANES] {
            let mut lanes = [0; LANES];
            // SAFETY: the caller's promise.
            let from = unsafe { slice::from_raw_parts(from, count) };
            lanes.iter_mut().zip(from).for_each(|(lane, v)| *lane = (*v).into());
            lanes
        }
        // SAFETY: as above: an element of that size for each thread.
        unsafe {
            match size {
                0 => [word; LANES],
                1 => read((word as *const u8).add(first), count),
                4 => read((word as *const u32).add(first), count),
                _ => read((word as *const u64).add(first), count),
            }
        }
    }

    /// # Safety
    /// As for [`Operands::lanes`]; the result's elements are `size` bytes.
    unsafe fn put(self, warp: usize, active: u32, size: u32, values: &[u64; LANES]) {
        // SAFETY: the caller's promise.
        let to = unsafe { *self.0.add(2 * OPERANDS) };
        if to == 0 {
            return;
        }
        let first = warp * LANES;
        let mut left = active;
        while left != 0 {
            let l = left.trailing_zeros() as usize;
            left &= left - 1;
            let (at, value) = (first + l, values[l]);
            // SAFETY: as above.
            unsafe {
                match size {
                    1 => *(to as *mut u8).add(at) = value as u8,
                    4 => *(to as *mut u32).add(at) = value as u32,
                    _ => *(to as *mut u64).add(at) = value,
                }
            }
        }
    }
}

/// Runs a collective. Gives the result of one of the whole block, else 0; -1 after a fault.
///
/// # Safety
/// As for [`barrier`]; `operands` are the words [`OPERAND_WORDS`] describes.
pub unsafe extern "C" fn collect(
    ctx: *mut WorkerCtx,
    number: u64,
    masks: *const [u32; WARPS],
    operands: *const u64,
) -> i64 {
    // SAFETY: the caller's promise.
    let Some((ctx, launch, site, join)) = (unsafe { site(ctx, number) }) else { return -1 };
    let Joined::Collective(op, size, _) = join.op else { return -1 };
    // SAFETY: as above.
    let here = unsafe { Participants::new(ctx, masks, join) };
    let operands = Operands(operands);
    if op.is_block() {
        if !all_here(ctx, launch, site, join, &here) {
            return -1;
        }
        let mut count = 0;
        for w in 0..here.warps() {
            // SAFETY: as above.
            let preds = unsafe { operands.lanes(0, w, here.threads) };
            count += (0..LANES).filter(|l| here.active[w] >> l & 1 != 0 && preds[*l] as u8 != 0).count();
        }
        let live: u32 = here.active.iter().map(|w| w.count_ones()).sum();
        return match op {
            Collective::SyncAnd => i64::from(count == live as usize),
            Collective::SyncOr => i64::from(count > 0),
            _ => count as i64,
        };
    }
    for w in 0..here.warps() {
        let active = here.active[w];
        if active == 0 {
            continue;
        }
        // SAFETY: as above.
        let lanes = |k| unsafe { operands.lanes(k, w, here.threads) };
        if op == Collective::ActiveMask {
            // SAFETY: as above.
            unsafe { operands.put(w, active, 4, &[u64::from(active); LANES]) };
            continue;
        }
        let parted = |ctx: &Running, lane| here.parted(ctx, launch, join, w, lane);
        let warp = Warp { first: w * LANES, active, live: here.live[w] };
        let Some(result) = joined(ctx, launch, (site, join), warp, &lanes, &parted) else { return -1 };
        if op == Collective::SyncWarp {
            continue;
        }
        let size = match op {
            Collective::Any | Collective::All | Collective::Uni => 1,
            Collective::Shfl(_) => size,
            _ => 4,
        };
        // SAFETY: as above.
        unsafe { operands.put(w, active, size, &result) };
    }
    0
}

/// A warp: its first thread, the lanes that are here, and those that have not left the kernel.
#[derive(Clone, Copy)]
struct Warp {
    first: usize,
    active: u32,
    live: u32,
}

/// The results of a collective of a warp; `None` after a fault. `lanes` gives an operand's, `parted` where a lane went its own way.
fn joined(
    ctx: &mut Running,
    launch: &Launch<'_>,
    (site, join): (&Site, &Join),
    Warp { first, active, live }: Warp,
    lanes: &dyn Fn(usize) -> [u64; LANES],
    parted: &dyn Fn(&Running, usize) -> Option<Span>,
) -> Option<[u64; LANES]> {
    let Joined::Collective(op, _, signed) = join.op else { return None };
    let named = lanes(0).map(|m| m as u32);
    if let Err((lane, other, why)) = agree(active, live, &named) {
        ctx.thread = index_of(ctx, first + lane);
        let (name, mask) = (op.c_name(), named[lane]);
        let detail = match why {
            Trouble::Absent => {
                format!("`{name}` with mask {mask:#010x} waits for lane {other}, which went another way")
            }
            Trouble::OtherMask => {
                format!("`{name}` with mask {mask:#010x} names lane {other}, whose mask is {:#010x}", named[other])
            }
            Trouble::NotNamed => format!("the mask {mask:#010x} of `{name}` does not name lane {lane}, which calls it"),
        };
        let mut fault = fault_messages::at(ctx, launch, FaultKind::CollectiveMismatch, site.span, detail);
        if why == Trouble::Absent {
            fault.related = parted(ctx, other);
        }
        ctx.worker.fault = Some(fault);
        return None;
    }
    Some(match op {
        Collective::SyncWarp => [0; LANES],
        Collective::Shfl(kind) => shuffle(kind, active, &named, &lanes(1), &lanes(2), &lanes(3)),
        _ => combine(op, active, &named, &lanes(1), signed),
    })
}

/// Runs a collective of one warp, whose first thread that is; 0, or -1 after a fault. `lanes` are those that are here, and above them those
/// that have not left the kernel. A result goes to all 32 lanes, so that one which all get is anywhere.
///
/// # Safety
/// As for [`barrier`]; `arrays` are those that [`WARP_BYTES`](crate::back::cpu::abi::masks::WARP_BYTES) describes, with elements of 4 bytes,
/// or of 8 if a value's lanes have so many.
pub unsafe extern "C" fn collect_warp(
    ctx: *mut WorkerCtx,
    number: u64,
    first: u64,
    lanes: u64,
    masks: *const [u32; WARPS],
    arrays: *mut u8,
) -> i64 {
    // SAFETY: the caller's promise.
    let Some((ctx, launch, site, join)) = (unsafe { site(ctx, number) }) else { return -1 };
    let Joined::Collective(op, size, _) = join.op else { return -1 };
    let warp = Warp { first: first as usize, active: lanes as u32, live: (lanes >> LANES) as u32 };
    let array = |k: usize| arrays.wrapping_add(k * WARP_ARRAY as usize);
    let is_wide = |k: usize| k == 1 && size == 8;
    let operand = |k: usize| {
        std::array::from_fn(|l| match is_wide(k) {
            // SAFETY: the caller's promise.
            true => unsafe { array(k).cast::<u64>().add(l).read_unaligned() },
            // SAFETY: as above.
            false => u64::from(unsafe { array(k).cast::<u32>().add(l).read_unaligned() }),
        })
    };
    // The outermost branch that a lane did not take, or where it went its own way before.
    let parted = |ctx: &Running, lane: usize| {
        let took = |branch: usize| {
            let at = array(OPERANDS + 1).cast::<u32>().wrapping_add(branch);
            // SAFETY: there is a word for each branch that the site names.
            unsafe { at.read_unaligned() >> lane & 1 != 0 }
        };
        let branch = (0..join.branches.len()).find(|branch| !took(*branch));
        branch.map(|branch| join.branches[branch]).or_else(|| {
            // SAFETY: the caller's promise.
            let here = unsafe { Participants::new(ctx, masks, join) };
            here.parted(ctx, launch, join, warp.first / LANES, lane)
        })
    };
    let Some(mut result) = joined(ctx, launch, (site, join), warp, &operand, &parted) else { return -1 };
    let one = result[warp.active.trailing_zeros() as usize % LANES];
    let is_wide = size == 8 && matches!(op, Collective::Shfl(_));
    for (l, value) in result.iter_mut().enumerate() {
        if warp.active >> l & 1 == 0 {
            *value = one;
        }
        let to = array(OPERANDS);
        // SAFETY: the caller's promise.
        unsafe {
            match is_wide {
                true => to.cast::<u64>().add(l).write_unaligned(*value),
                false => to.cast::<u32>().add(l).write_unaligned(*value as u32),
            }
        }
    }
    0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Absent,
    OtherMask,
    NotNamed,
}

/// Checks that each active lane names itself, and otherwise only lanes with the same mask that are active, or that have left
/// the kernel.
fn agree(active: u32, live: u32, named: &[u32; LANES]) -> Result<(), (usize, usize, Trouble)> {
    // The lanes nearly always have one mask between them.
    let mask = named[active.trailing_zeros() as usize % LANES];
    let alike = (0..LANES).all(|l| active >> l & 1 == 0 || named[l] == mask);
    if alike && active & !mask == 0 && mask & live & !active == 0 {
        return Ok(());
    }
    for l in (0..LANES).filter(|l| active >> l & 1 != 0) {
        let mask = named[l];
        if mask >> l & 1 == 0 {
            return Err((l, l, Trouble::NotNamed));
        }
        let absent = mask & live & !active;
        if absent != 0 {
            return Err((l, absent.trailing_zeros() as usize, Trouble::Absent));
        }
        let other = (0..LANES).find(|j| (mask & active) >> j & 1 != 0 && named[*j] != mask);
        if let Some(j) = other {
            return Err((l, j, Trouble::OtherMask));
        }
    }
    Ok(())
}

/// The values that PTX's `shfl.sync` gives (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync"), with the segment mask
/// and the clamp that CUDA's header computes from the width.
pub fn shuffle(
    kind: Shuffle,
    active: u32,
    named: &[u32; LANES],
    values: &[u64; LANES],
    by: &[u64; LANES],
    width: &[u64; LANES],
) -> [u64; LANES] {
    let mut result = [0; LANES];
    let mut left = active;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let (own, by) = (lane as i32, by[lane] as i32 & 31);
        let segment = 32i32.wrapping_sub(width[lane] as i32) & 31;
        let clamp = if kind == Shuffle::Up { 0 } else { 31 };
        let last = own & segment | (clamp & !segment);
        let (from, inside) = match kind {
            Shuffle::Up => (own - by, own - by >= last),
            Shuffle::Down => (own + by, own + by <= last),
            Shuffle::Xor => (own ^ by, own ^ by <= last),
            Shuffle::Idx => {
                let from = own & segment | (by & !segment);
                (from, from <= last)
            }
        };
        // A lane inside its segment is one of the warp's.
        let from = from as usize % LANES;
        result[lane] = match inside {
            false => values[lane],
            true if (named[lane] & active) >> from & 1 != 0 => values[from],
            // CUDA leaves the result open. The hardware gives zero, and NVIDIA's own reductions count on that.
            true => 0,
        };
    }
    result
}

/// Votes, matches and reductions.
pub fn combine(op: Collective, active: u32, named: &[u32; LANES], values: &[u64; LANES], signed: bool) -> [u64; LANES] {
    let mut result = [0; LANES];
    let mut left = active;
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let group = named[first] & active;
        left &= !group;
        let members = || (0..LANES).filter(|l| group >> l & 1 != 0);
        let holds = members().filter(|l| values[*l] as u8 != 0).fold(0u32, |bits, l| bits | 1 << l);
        let same = |v: u64| members().filter(|l| values[*l] == v).fold(0u32, |bits, l| bits | 1 << l);
        let words = || members().map(|l| values[l] as u32);
        let all = match op {
            Collective::Ballot => Some(holds),
            Collective::Any => Some(u32::from(holds != 0)),
            Collective::All => Some(u32::from(holds == group)),
            Collective::Uni => Some(u32::from(holds == group || holds == 0)),
            Collective::MatchAll => Some(if same(values[first]) == group { group } else { 0 }),
            Collective::Reduce(reduce) => Some(match reduce {
                ReduceOp::Add => words().fold(0, u32::wrapping_add),
                ReduceOp::Min if signed => words().map(|w| w as i32).min().unwrap_or(0) as u32,
                ReduceOp::Min => words().min().unwrap_or(0),
                ReduceOp::Max if signed => words().map(|w| w as i32).max().unwrap_or(0) as u32,
                ReduceOp::Max => words().max().unwrap_or(0),
                ReduceOp::And => words().fold(u32::MAX, |a, b| a & b),
                ReduceOp::Or => words().fold(0, |a, b| a | b),
                ReduceOp::Xor => words().fold(0, |a, b| a ^ b),
            }),
            _ => None,
        };
        for l in members() {
            result[l] = u64::from(all.unwrap_or_else(|| same(values[l])));
        }
    }
    result
}
