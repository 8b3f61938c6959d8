//! Functions of this process that work on 16 lanes at once: operations without a vector instruction, faults, atomics.
//!
//! Lanes are passed by address, as arrays; lanes that a function returns go to the last address.

use super::{atomics, masked};
use crate::back::cpu::abi::context::WorkerCtx;
use crate::back::cpu::math::{lanes, reciprocal};
use crate::back::cpu::run::{fault_messages, tick};
use crate::back::lane::table::{Access, Element, FaultOp, Kind, LaneOp, MemoryOp, NumberOp, Op, Space};
use crate::back::lane::tree::Field;
use crate::back::lane::types::Ty;
use crate::ir::MathFn;

pub(super) type Lanes<T> = [T; 16];

/// The way in which an argument is passed.
#[derive(Debug, Clone)]
pub(super) enum Arg {
    Lanes(Kind),
    /// A mask, in 32 bits.
    Mask,
    Num(Ty),
    Nothing,
}

/// A function of this process.
pub(super) struct Helper {
    pub address: usize,
    pub args: Vec<Arg>,
    pub gives: Arg,
}

/// The record of a fault: of all faults, the one of the lowest block's lowest thread is kept, as in the C's `State`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct State {
    faulted: u32,
    thread: u32,
    block: u32,
    /// The running block, counted from the first of the call.
    now: u32,
    /// The row of threads that runs, if blocks are one long row.
    row: u32,
    /// The number of threads of a block side by side in such a row; else 0.
    span: u32,
    site: u64,
    a: u64,
    b: u64,
    /// The numbers of threads of a block in x and y.
    x: u32,
    y: u32,
}

impl State {
    /// The place of a member.
    pub(super) fn place_of(field: Field) -> i32 {
        let at = match field {
            Field::Faulted => std::mem::offset_of!(State, faulted),
            Field::Thread => std::mem::offset_of!(State, thread),
            Field::Block => std::mem::offset_of!(State, block),
            Field::Now => std::mem::offset_of!(State, now),
            Field::Row => std::mem::offset_of!(State, row),
        };
        at as i32
    }

    /// The places of the members that describe blocks: the span, the threads in x and in y.
    pub(super) fn shape() -> [i32; 3] {
        [std::mem::offset_of!(State, span), std::mem::offset_of!(State, x), std::mem::offset_of!(State, y)]
            .map(|at| at as i32)
    }

    /// The block and the thread of a place in the row.
    fn place(&self, t: u32) -> (u32, u32) {
        match self.span {
            0 => (self.now, t),
            span => (t / span, self.row * span + t % span),
        }
    }

    fn note(&mut self, site: u64, t: u32, a: u64, b: u64) {
        let (block, thread) = self.place(t);
        if self.faulted != 0 && (self.block, self.thread) <= (block, thread) {
            return;
        }
        *self = State { faulted: 1, thread, block, site, a, b, ..*self };
    }

    /// Notes a fault at a place of lanes; nothing if the mask is empty.
    fn note_lanes(&mut self, site: u64, t: u32, mask: u32, a: &Lanes<i64>, b: &Lanes<i64>) {
        if mask != 0 {
            let lane = mask.trailing_zeros();
            self.note(site, t + lane, a[lane as usize] as u64, b[lane as usize] as u64);
        }
    }

    /// The lanes of a chunk that still run: those below the fault.
    fn alive(&self, t: u32) -> u32 {
        if self.faulted == 0 {
            return 0xffff;
        }
        (0..16).filter(|l| self.place(t + l) < (self.block, self.thread)).fold(0, |m, l| m | 1 << l)
    }

    /// The thread that faulted, packed as a fault needs it.
    fn packed(&self, t: u32) -> u32 {
        (t % self.x) | ((t / self.x % self.y) << 10) | ((t / (self.x * self.y)) << 20)
    }
}

/// Reports the fault.
unsafe extern "C" fn stop(ctx: *mut WorkerCtx, state: &State) -> u32 {
    // SAFETY: generated code passes the context it was given.
    unsafe {
        (*ctx).fault = [state.site, state.a, state.b];
        (*ctx).block_linear += u64::from(state.block);
        fault_messages::fault(ctx, state.packed(state.thread));
    }
    1
}

unsafe extern "C" fn poll(ctx: *mut WorkerCtx, state: &State, site: u64, t: u32) -> i64 {
    if state.faulted != 0 && state.now >= state.block && state.thread <= t {
        // SAFETY: as the caller's.
        unsafe { stop(ctx, state) };
        return -1;
    }
    // SAFETY: as the caller's.
    unsafe { tick::tick(ctx, site, state.packed(t)) }
}

extern "C" fn note_one(state: &mut State, site: u64, t: u32, mask: u32, a: u64, b: u64) {
    if mask != 0 {
        state.note(site, t + mask.trailing_zeros(), a, b);
    }
}

extern "C" fn note_lanes(state: &mut State, site: u64, t: u32, mask: u32, a: &Lanes<i64>, b: &Lanes<i64>) {
    state.note_lanes(site, t, mask, a, b);
}

extern "C" fn alive(state: &State, t: u32) -> u32 {
    state.alive(t)
}

fn outside(o: &Lanes<i64>, limit: u64) -> u32 {
    (0..16).filter(|l| o[*l] as u64 >= limit).fold(0, |m, l| m | 1 << l)
}

extern "C" fn bad_lanes(
    state: &mut State,
    site: u64,
    t: u32,
    mask: u32,
    limit: u64,
    o: &Lanes<i64>,
    b: &Lanes<i64>,
) -> u32 {
    let bad = outside(o, limit) & mask & state.alive(t);
    state.note_lanes(site, t, bad, o, b);
    (bad | !state.alive(t)) & 0xffff
}

/// The numbers of the lanes in a mask.
pub(super) fn set(mask: u32) -> impl Iterator<Item = usize> {
    (0..16).filter(move |l| mask >> l & 1 != 0)
}

/// The elements at sixteen places; zero where the mask is not set.
///
/// # Safety
/// The places of the mask's lanes are in bounds.
unsafe fn gather<T: Copy, R: Copy + Default>(
    mask: u32,
    from: *const u8,
    at: impl Fn(usize) -> isize,
    as_lane: impl Fn(T) -> R,
) -> Lanes<R> {
    let mut out = [R::default(); 16];
    for l in set(mask) {
        // SAFETY: the caller's promise.
        out[l] = as_lane(unsafe { from.offset(at(l)).cast::<T>().read_unaligned() });
    }
    out
}

/// # Safety
/// The same as for [`gather`].
unsafe fn scatter<T: Copy, S: Copy>(
    mask: u32,
    to: *mut u8,
    at: impl Fn(usize) -> isize,
    lanes: &Lanes<S>,
    as_element: impl Fn(S) -> T,
) {
    for l in set(mask) {
        // SAFETY: the caller's promise.
        unsafe { to.offset(at(l)).cast::<T>().write_unaligned(as_element(lanes[l])) };
    }
}

pub(super) const P: Arg = Arg::Num(Ty::int(64, false));
pub(super) const Q: Arg = Arg::Num(Ty::int(64, true));
pub(super) const U: Arg = Arg::Num(Ty::int(32, false));
pub(super) const N: Arg = Arg::Num(Ty::int(32, true));
pub(super) const M: Arg = Arg::Mask;
pub(super) const F: Arg = Arg::Lanes(Kind::F32);
pub(super) const D: Arg = Arg::Lanes(Kind::F64);
pub(super) const I: Arg = Arg::Lanes(Kind::I32);
pub(super) const L: Arg = Arg::Lanes(Kind::I64);
pub(super) const V: Arg = Arg::Nothing;

/// The operation that a helper does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Callee {
    Op(Op),
    /// A math function of lanes, which kernels have as well.
    Math(MathFn, Kind),
    /// A prefetch of lines of the cache.
    Ask,
}

impl Callee {
    /// The callee of an access, in whatever memory.
    pub(super) fn access(op: MemoryOp) -> Callee {
        Callee::Op(Op::Memory(MemoryOp { space: Space::Unknown, ..op }))
    }

    pub(super) fn name(self) -> String {
        match self {
            Callee::Op(op) => format!("`{}`", op.name()),
            Callee::Math(math, kind) => format!("`{}` of {}", math.name(), kind.name()),
            Callee::Ask => "`ask`".to_owned(),
        }
    }

    /// True if there is a helper.
    pub(super) fn is_there(self) -> bool {
        self.find().is_some()
    }

    /// The helper.
    pub(super) fn find(self) -> Option<Helper> {
        match self {
            Callee::Op(Op::Lanes(op)) => {
                lane_by_lane(op).or_else(|| by_one(op)).or_else(|| take(op)).or_else(|| each(op))
            }
            Callee::Op(Op::Number(NumberOp::Fill)) => made(fill as *const () as usize, &[P, N, P], V),
            Callee::Op(Op::Number(_)) => None,
            Callee::Op(Op::Memory(op)) => {
                let found = access(op)?;
                // An instruction of the processor is used if it has one.
                Some(Helper { address: masked::find(op).unwrap_or(found.address), ..found })
            }
            Callee::Op(Op::Atomic(op)) => atomics::find(op),
            Callee::Op(Op::Fault(op)) => of_faults(op),
            Callee::Math(math, kind) => of_math(math, kind),
            Callee::Ask => made(ask as *const () as usize, &[P, P, P, P, P, P, P, P], V),
        }
    }
}

fn made(address: usize, args: &[Arg], gives: Arg) -> Option<Helper> {
    Some(Helper { address, args: args.to_vec(), gives })
}

fn of_faults(op: FaultOp) -> Option<Helper> {
    match op {
        FaultOp::Stop => made(stop as *const () as usize, &[P, P], U),
        FaultOp::Tick => made(poll as *const () as usize, &[P, P, P, U], Q),
        FaultOp::NoteOne => made(note_one as *const () as usize, &[P, P, U, M, P, P], V),
        FaultOp::NoteLanes => made(note_lanes as *const () as usize, &[P, P, U, M, L, L], V),
        FaultOp::Alive => made(alive as *const () as usize, &[P, U], M),
        FaultOp::BadLanes => made(bad_lanes as *const () as usize, &[P, P, U, M, P, L, L], M),
    }
}

/// Accesses of truth values, whose lanes are masks.
fn of_truths(access: Access) -> Option<Helper> {
    match access {
        Access::LoadAt => made(gather_b1 as *const () as usize, &[M, P, L], M),
        Access::LoadSome => made(load_b1 as *const () as usize, &[M, P], M),
        Access::LoadChecked => made(bad_load_b1 as *const () as usize, &[P, P, U, M, P, P, L, L], M),
        Access::StoreAt => made(scatter_b1 as *const () as usize, &[M, P, L, M], V),
        Access::StoreSome => made(store_b1 as *const () as usize, &[M, P, M], V),
        Access::StoreChecked => made(bad_store_b1 as *const () as usize, &[P, P, U, M, P, P, L, L, M], V),
        Access::Load | Access::Store | Access::LoadLine | Access::StoreLine | Access::LoadIndexed => None,
    }
}

/// Stores past the cache; none if the processor has no such stores.
fn past_cache(op: MemoryOp) -> Option<Helper> {
    let lanes = match op.of.kind() {
        Kind::F32 => F,
        Kind::I32 => I,
        Kind::F64 => D,
        Kind::I64 => L,
    };
    made(masked::find(op)?, &[P, lanes], V)
}

/// Prefetches lines of the cache, at any addresses.
extern "C" fn ask(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) {
    #[cfg(target_arch = "x86_64")]
    for at in [a, b, c, d, e, f, g, h] {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at as *const i8) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (a, b, c, d, e, f, g, h);
}

extern "C" fn fill(at: *mut u8, byte: i32, bytes: u64) {
    // SAFETY: generated code fills its own arrays.
    unsafe { at.write_bytes(byte as u8, bytes as usize) };
}

fn as_mask(lanes: &Lanes<i32>) -> u32 {
    (0..16).filter(|l| lanes[*l] != 0).fold(0, |m, l| m | 1 << l)
}

fn as_truth(mask: u32) -> Lanes<i32> {
    std::array::from_fn(|l| (mask >> l & 1) as i32)
}

unsafe extern "C" fn gather_b1(mask: u32, from: *const u8, o: &Lanes<i64>) -> u32 {
    // SAFETY: generated code has checked the places.
    as_mask(&unsafe { gather(mask, from, |l| o[l] as isize, i32::from as fn(u8) -> i32) })
}

unsafe extern "C" fn load_b1(mask: u32, from: *const u8) -> u32 {
    // SAFETY: as above.
    as_mask(&unsafe { gather(mask, from, |l| l as isize, i32::from as fn(u8) -> i32) })
}

unsafe extern "C" fn bad_load_b1(
    state: &mut State,
    site: u64,
    t: u32,
    mask: u32,
    from: *const u8,
    limit: u64,
    o: &Lanes<i64>,
    b: &Lanes<i64>,
) -> u32 {
    let bad = outside(o, limit) & mask;
    state.note_lanes(site, t, bad, o, b);
    // SAFETY: lanes out of bounds are left out.
    unsafe { gather_b1(mask & !bad, from, o) }
}

unsafe extern "C" fn scatter_b1(mask: u32, to: *mut u8, o: &Lanes<i64>, x: u32) {
    // SAFETY: the same as for `gather_b1`.
    unsafe { scatter(mask, to, |l| o[l] as isize, &as_truth(x), |n| n as u8) };
}

unsafe extern "C" fn store_b1(mask: u32, to: *mut u8, x: u32) {
    // SAFETY: the same as for `gather_b1`.
    unsafe { scatter(mask, to, |l| l as isize, &as_truth(x), |n| n as u8) };
}

unsafe extern "C" fn bad_store_b1(
    state: &mut State,
    site: u64,
    t: u32,
    mask: u32,
    to: *mut u8,
    limit: u64,
    o: &Lanes<i64>,
    b: &Lanes<i64>,
    x: u32,
) {
    let bad = bad_lanes(state, site, t, mask, limit, o, b);
    // SAFETY: lanes out of bounds are left out.
    unsafe { scatter_b1(mask & !bad, to, o, x) };
}

/// Accesses of elements of a type, in lanes of a type: name, element, lane, kind of lanes.
macro_rules! accesses {
    ($($of:ident $element:ty, $lane:ty, $kind:ident;)*) => {
        fn access(op: MemoryOp) -> Option<Helper> {
            match op.of {
            Element::B1 => of_truths(op.access),
            $(Element::$of => {
                unsafe extern "C" fn ga(mask: u32, from: *const u8, o: &Lanes<i64>, out: &mut Lanes<$lane>) {
                    // SAFETY: generated code has checked the places.
                    *out = unsafe { gather(mask, from, |l| o[l] as isize, |x: $element| x as $lane) };
                }
                unsafe extern "C" fn gx(mask: u32, from: *const u8, i: &Lanes<i32>, out: &mut Lanes<$lane>) {
                    // SAFETY: as above.
                    *out = unsafe { gather(mask, from, |l| i[l] as u32 as isize * size_of::<$element>() as isize, |x: $element| x as $lane) };
                }
                unsafe extern "C" fn gl(mask: u32, from: *const u8, step: i32, out: &mut Lanes<$lane>) {
                    // SAFETY: as above.
                    *out = unsafe { gather(mask, from, |l| l as isize * step as isize, |x: $element| x as $lane) };
                }
                unsafe extern "C" fn ldm(mask: u32, from: *const u8, out: &mut Lanes<$lane>) {
                    // SAFETY: as above.
                    *out = unsafe { gather(mask, from, |l| (l * size_of::<$element>()) as isize, |x: $element| x as $lane) };
                }
                unsafe extern "C" fn bad_ld(
                    state: &mut State, site: u64, t: u32, mask: u32, from: *const u8, limit: u64, o: &Lanes<i64>, b: &Lanes<i64>,
                    out: &mut Lanes<$lane>,
                ) {
                    let bad = outside(o, limit) & mask;
                    state.note_lanes(site, t, bad, o, b);
                    // SAFETY: lanes out of bounds are left out.
                    unsafe { ga(mask & !bad, from, o, out) };
                }
                unsafe extern "C" fn sc(mask: u32, to: *mut u8, o: &Lanes<i64>, x: &Lanes<$lane>) {
                    // SAFETY: the same as for `ga`.
                    unsafe { scatter(mask, to, |l| o[l] as isize, x, |x| x as $element) };
                }
                unsafe extern "C" fn sl(mask: u32, to: *mut u8, step: i32, x: &Lanes<$lane>) {
                    // SAFETY: the same as for `ga`.
                    unsafe { scatter(mask, to, |l| l as isize * step as isize, x, |x| x as $element) };
                }
                unsafe extern "C" fn stm(mask: u32, to: *mut u8, x: &Lanes<$lane>) {
                    // SAFETY: the same as for `ga`.
                    unsafe { scatter(mask, to, |l| (l * size_of::<$element>()) as isize, x, |x| x as $element) };
                }
                unsafe extern "C" fn bad_st(
                    state: &mut State, site: u64, t: u32, mask: u32, to: *mut u8, limit: u64, o: &Lanes<i64>, b: &Lanes<i64>,
                    x: &Lanes<$lane>,
                ) {
                    let bad = bad_lanes(state, site, t, mask, limit, o, b);
                    // SAFETY: lanes out of bounds are left out.
                    unsafe { sc(mask & !bad, to, o, x) };
                }
                match op.access {
                    Access::LoadAt => made(ga as *const () as usize, &[M, P, L], $kind),
                    Access::LoadIndexed => made(gx as *const () as usize, &[M, P, I], $kind),
                    Access::LoadLine => made(gl as *const () as usize, &[M, P, N], $kind),
                    Access::LoadSome => made(ldm as *const () as usize, &[M, P], $kind),
                    Access::LoadChecked => made(bad_ld as *const () as usize, &[P, P, U, M, P, P, L, L], $kind),
                    Access::StoreAt => made(sc as *const () as usize, &[M, P, L, $kind], V),
                    Access::StoreLine => made(sl as *const () as usize, &[M, P, N, $kind], V),
                    Access::StoreSome => made(stm as *const () as usize, &[M, P, $kind], V),
                    Access::StoreChecked => made(bad_st as *const () as usize, &[P, P, U, M, P, P, L, L, $kind], V),
                    Access::Store if op.past_cache => past_cache(op),
                    Access::Load | Access::Store => None,
                }
            })*
            }
        }
    };
}

accesses! {
    F32 f32, f32, F;
    F64 f64, f64, D;
    I32 i32, i32, I;
    I64 i64, i64, L;
    I8 i8, i32, I;
    U8 u8, i32, I;
    I16 i16, i32, I;
    U16 u16, i32, I;
}

/// Operations done lane by lane: the operation, kinds and types of the arguments, kind and type of the result, the lane's expression.
macro_rules! lanewise {
    ($($op:ident ($($arg:ident: $kind:ident $ty:ty),*) -> $gives:ident $out:ty { $lane:expr })*) => {
        fn lane_by_lane(op: LaneOp) -> Option<Helper> {
            match op {
                $(LaneOp::$op => {
                    extern "C" fn f($($arg: &Lanes<$ty>,)* out: &mut Lanes<$out>) {
                        for (l, out) in out.iter_mut().enumerate() {
                            $(let $arg = $arg[l];)*
                            *out = $lane;
                        }
                    }
                    Some(Helper { address: f as *const () as usize, args: vec![$($kind),*], gives: $gives })
                })*
                _ => None,
            }
        }
    };
}

// Inactive lanes may have any result, but must not trap.
lanewise! {
    DivI32 (a: I i32, b: I i32) -> I i32 { if b == 0 { 0 } else { a.wrapping_div(b) } }
    DivU32 (a: I u32, b: I u32) -> I u32 { a.checked_div(b).unwrap_or(0) }
    RemI32 (a: I i32, b: I i32) -> I i32 { if b == 0 { 0 } else { a.wrapping_rem(b) } }
    RemU32 (a: I u32, b: I u32) -> I u32 { a.checked_rem(b).unwrap_or(0) }
    DivI64 (a: L i64, b: L i64) -> L i64 { if b == 0 { 0 } else { a.wrapping_div(b) } }
    DivU64 (a: L u64, b: L u64) -> L u64 { a.checked_div(b).unwrap_or(0) }
    RemI64 (a: L i64, b: L i64) -> L i64 { if b == 0 { 0 } else { a.wrapping_rem(b) } }
    RemU64 (a: L u64, b: L u64) -> L u64 { a.checked_rem(b).unwrap_or(0) }
    MulhiI32 (a: I i32, b: I i32) -> I i32 { ((i64::from(a) * i64::from(b)) >> 32) as i32 }
    MulhiU32 (a: I u32, b: I u32) -> I u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
    MulhiI64 (a: L i64, b: L i64) -> L i64 { ((i128::from(a) * i128::from(b)) >> 64) as i64 }
    MulhiU64 (a: L u64, b: L u64) -> L u64 { ((u128::from(a) * u128::from(b)) >> 64) as u64 }
    ShlI32 (a: I u32, n: I u32) -> I u32 { a.checked_shl(n).unwrap_or(0) }
    ShrU32 (a: I u32, n: I u32) -> I u32 { a.checked_shr(n).unwrap_or(0) }
    ShrI32 (a: I i32, n: I u32) -> I i32 { a >> n.min(31) }
    ShlI64 (a: L u64, n: L u64) -> L u64 { if n < 64 { a << n } else { 0 } }
    ShrU64 (a: L u64, n: L u64) -> L u64 { if n < 64 { a >> n } else { 0 } }
    ShrI64 (a: L i64, n: L u64) -> L i64 { a >> n.min(63) }
    Clz32 (a: I u32) -> I u32 { a.leading_zeros() }
    Popc32 (a: I u32) -> I u32 { a.count_ones() }
    Brev32 (a: I u32) -> I u32 { a.reverse_bits() }
    Ffs32 (a: I u32) -> I u32 { if a == 0 { 0 } else { a.trailing_zeros() + 1 } }
    Clz64 (a: L u64) -> I u32 { a.leading_zeros() }
    Popc64 (a: L u64) -> I u32 { a.count_ones() }
    Ffs64 (a: L u64) -> I u32 { if a == 0 { 0 } else { a.trailing_zeros() + 1 } }
    Brev64 (a: L u64) -> L u64 { a.reverse_bits() }
    F64ToI32 (a: D f64) -> I i32 { if a.is_nan() { i32::MIN } else { a as i32 } }
    F64ToU32 (a: D f64) -> I u32 { if a.is_nan() { 1 << 31 } else { a as u32 } }
    F64ToI64 (a: D f64) -> L i64 { if a.is_nan() { i64::MIN } else { a as i64 } }
    F64ToU64 (a: D f64) -> L u64 { if a.is_nan() { 1 << 63 } else { a as u64 } }
    F32ToI64 (a: F f32) -> L i64 { if a.is_nan() { i64::MIN } else { a as i64 } }
    F32ToU64 (a: F f32) -> L u64 { if a.is_nan() { 1 << 63 } else { a as u64 } }
    I64ToF32 (a: L i64) -> F f32 { a as f32 }
    U64ToF32 (a: L u64) -> F f32 { a as f32 }
    I64ToF64 (a: L i64) -> D f64 { a as f64 }
    U64ToF64 (a: L u64) -> D f64 { a as f64 }
    FmaF32 (a: F f32, b: F f32, c: F f32) -> F f32 { a.mul_add(b, c) }
    FmaF64 (a: D f64, b: D f64, c: D f64) -> D f64 { a.mul_add(b, c) }
    NextafterF32 (a: F f32, b: F f32) -> F f32 { libm::nextafterf(a, b) }
    NextafterF64 (a: D f64, b: D f64) -> D f64 { libm::nextafter(a, b) }
}

/// Lanes of two vectors by their numbers.
fn take(op: LaneOp) -> Option<Helper> {
    extern "C" fn f<T: Copy>(a: &Lanes<T>, b: &Lanes<T>, from: &Lanes<u32>, out: &mut Lanes<T>) {
        *out = from.map(|n| if n & 16 == 0 { a[n as usize % 16] } else { b[n as usize % 16] });
    }
    let of =
        |address: usize, kind: Arg| Some(Helper { address, args: vec![kind.clone(), kind.clone(), I], gives: kind });
    let words = || masked::take().unwrap_or(f::<u32> as *const () as usize);
    match op {
        LaneOp::TakeF32 => of(words(), F),
        LaneOp::TakeF64 => of(f::<f64> as *const () as usize, D),
        LaneOp::TakeI32 => of(words(), I),
        LaneOp::TakeI64 => of(f::<i64> as *const () as usize, L),
        _ => None,
    }
}

/// Lanes divided by one number. Kernels have none that is 0, and a panic would end the process.
fn by_one(op: LaneOp) -> Option<Helper> {
    extern "C" fn div_i(a: &Lanes<i32>, n: i32, out: &mut Lanes<i32>) {
        *out = a.map(|a| if n == 0 { 0 } else { a.wrapping_div(n) });
    }
    extern "C" fn div_u(a: &Lanes<u32>, n: u32, out: &mut Lanes<u32>) {
        *out = a.map(|a| a.checked_div(n).unwrap_or(0));
    }
    extern "C" fn rem_i(a: &Lanes<i32>, n: i32, out: &mut Lanes<i32>) {
        *out = a.map(|a| if n == 0 { 0 } else { a.wrapping_rem(n) });
    }
    extern "C" fn rem_u(a: &Lanes<u32>, n: u32, out: &mut Lanes<u32>) {
        *out = a.map(|a| a.checked_rem(n).unwrap_or(0));
    }
    extern "C" fn rsqrt(a: &Lanes<f32>, out: &mut Lanes<f32>) {
        reciprocal::rsqrt_lanes(a, out);
    }
    match op {
        LaneOp::DivByI32 => made(div_i as *const () as usize, &[I, N], I),
        LaneOp::DivByU32 => made(div_u as *const () as usize, &[I, U], I),
        LaneOp::RemByI32 => made(rem_i as *const () as usize, &[I, N], I),
        LaneOp::RemByU32 => made(rem_u as *const () as usize, &[I, U], I),
        LaneOp::RsqrtF32 => made(rsqrt as *const () as usize, &[F], F),
        _ => None,
    }
}

/// A math function in the processor's widest vectors, where these are wide enough for a call to be worth it. Kernels have each as well.
fn of_math(math: MathFn, kind: Kind) -> Option<Helper> {
    let (address, lanes) = match kind {
        Kind::F32 => (lanes::sixteen_floats(math)?, F),
        Kind::F64 => (lanes::sixteen_doubles(math)?, D),
        Kind::I32 | Kind::I64 => return None,
    };
    Some(Helper { address, args: vec![lanes.clone(); math.arity()], gives: lanes })
}

/// A function of numbers for each lane of a mask; the others stay.
fn each(op: LaneOp) -> Option<Helper> {
    macro_rules! each {
        ($($op:ident $ty:ty, $kind:ident, ($($arg:ident),*);)*) => {
            match op {
                $(LaneOp::$op => {
                    type Function = extern "C" fn($(each!(@ $arg $ty)),*) -> $ty;
                    extern "C" fn f(mask: u32, f: Function, $($arg: &Lanes<$ty>,)* out: &mut Lanes<$ty>) {
                        for l in 0..16 {
                            out[l] = if mask >> l & 1 != 0 { f($($arg[l]),*) } else { each!(^ $($arg),*)[l] };
                        }
                    }
                    let args = vec![M, P, $(each!(# $arg $kind)),*];
                    Some(Helper { address: f as *const () as usize, args, gives: $kind })
                })*
                _ => None,
            }
        };
        (^ $first:ident $(, $rest:ident)*) => { $first };
        (@ $arg:ident $ty:ty) => { $ty };
        (# $arg:ident $kind:ident) => { $kind };
    }
    each! {
        Each1F32 f32, F, (a);
        Each2F32 f32, F, (a, b);
        Each3F32 f32, F, (a, b, c);
        Each1F64 f64, D, (a);
        Each2F64 f64, D, (a, b);
        Each3F64 f64, D, (a, b, c);
    }
}
