//! Atomics of 16 lanes, one after the other.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::helpers::{Arg, D, F, Helper, I, L, Lanes, M, N, P, Q, U, V, set};
use crate::back::lane::table::{Atomic, Cell as Of, Form, Space, Update};
use crate::back::lane::types::Ty;

/// A number that is changed in one step.
trait Cell: Copy {
    /// # Safety
    /// The address is that of such a number, aligned.
    unsafe fn update(at: *mut Self, f: impl Fn(Self) -> Self) -> Self;
}

macro_rules! cells {
    ($($ty:ident $atomic:ident, $of:expr, $to:expr;)*) => {$(
        impl Cell for $ty {
            unsafe fn update(at: *mut Self, f: impl Fn(Self) -> Self) -> Self {
                // SAFETY: the caller's promise.
                let cell = unsafe { $atomic::from_ptr(at.cast()) };
                let mut old = cell.load(Ordering::SeqCst);
                loop {
                    match cell.compare_exchange_weak(old, $to(f($of(old))), Ordering::SeqCst, Ordering::SeqCst) {
                        Ok(_) => return $of(old),
                        Err(now) => old = now,
                    }
                }
            }
        }
    )*};
}

cells! {
    i32 AtomicU32, (|n: u32| n as i32), (|n: i32| n as u32);
    u32 AtomicU32, (|n: u32| n), (|n: u32| n);
    i64 AtomicU64, (|n: u64| n as i64), (|n: i64| n as u64);
    u64 AtomicU64, (|n: u64| n), (|n: u64| n);
    f32 AtomicU32, f32::from_bits, f32::to_bits;
    f64 AtomicU64, f64::from_bits, f64::to_bits;
}

/// Atomics on 16 places, lane by lane; a block's own memory needs no lock, because a block runs on one core. `up`: at 32-bit indices of
/// elements, where the old value is not used; `up1`: with one number for all; `up1_bytes`: at indices that are bytes in memory.
macro_rules! atomics {
    ($($update:ident $of:ident $ty:ty, $kind:ident, $num:ident, |$old:ident, $val:ident| $new:expr;)*) => {
        pub(super) fn find(Atomic { update, cell, form }: Atomic) -> Option<Helper> {
            match (update, cell) {
            $((Update::$update, Of::$of) => {
                unsafe extern "C" fn shared(mask: u32, p: *mut u8, o: &Lanes<i64>, x: &Lanes<$ty>, out: &mut Lanes<$ty>) {
                    *out = Lanes::default();
                    for l in set(mask) {
                        // SAFETY: generated code has checked the places.
                        unsafe {
                            let at = p.offset(o[l] as isize).cast::<$ty>();
                            let ($old, $val) = (at.read_unaligned(), x[l]);
                            out[l] = $old;
                            at.write_unaligned($new);
                        }
                    }
                }
                unsafe extern "C" fn global(mask: u32, p: *mut u8, o: &Lanes<i64>, x: &Lanes<$ty>, out: &mut Lanes<$ty>) {
                    *out = Lanes::default();
                    for l in set(mask) {
                        let $val = x[l];
                        // SAFETY: as above; the alignment has been checked as well.
                        out[l] = unsafe { <$ty as Cell>::update(p.offset(o[l] as isize).cast(), |$old| $new) };
                    }
                }
                unsafe extern "C" fn up(mask: u32, p: *mut u8, i: &Lanes<i32>, x: &Lanes<$ty>, _bytes: i32) {
                    for l in set(mask) {
                        // SAFETY: as above.
                        unsafe {
                            let at = p.cast::<$ty>().add(i[l] as u32 as usize);
                            let ($old, $val) = (at.read_unaligned(), x[l]);
                            at.write_unaligned($new);
                        }
                    }
                }
                unsafe extern "C" fn up1(mask: u32, p: *mut u8, i: &Lanes<i32>, $val: $ty, _bytes: i32) {
                    for l in set(mask) {
                        // SAFETY: as above.
                        unsafe {
                            let at = p.cast::<$ty>().add(i[l] as u32 as usize);
                            let $old = at.read_unaligned();
                            at.write_unaligned($new);
                        }
                    }
                }
                unsafe extern "C" fn up1_bytes(p: *mut u8, from: &[u8; 16], $val: $ty) {
                    for i in from {
                        // SAFETY: as above.
                        unsafe {
                            let at = p.cast::<$ty>().add(usize::from(*i));
                            let $old = at.read_unaligned();
                            at.write_unaligned($new);
                        }
                    }
                }
                let made = |address, args: &[Arg], gives| Some(Helper { address, args: args.to_vec(), gives });
                match form {
                    Form::At(Space::Shared) => made(shared as *const () as usize, &[M, P, L, $kind], $kind),
                    Form::At(Space::Global) => made(global as *const () as usize, &[M, P, L, $kind], $kind),
                    Form::At(Space::Scratch | Space::Unknown) => None,
                    Form::Up => made(up as *const () as usize, &[M, P, I, $kind, N], V),
                    Form::UpOne => made(up1 as *const () as usize, &[M, P, I, $num, N], V),
                    Form::UpBytes => made(up1_bytes as *const () as usize, &[P, P, $num], V),
                }
            })*
                (Update::Cas, cell) => compare_and_swap(cell, form),
                // Floats have no other atomics.
                (_, Of::F32 | Of::F64) => None,
            }
        }
    };
}

const X: Arg = Arg::Num(Ty::F32);
const Y: Arg = Arg::Num(Ty::F64);

macro_rules! integer_atomics {
    ($($of:ident $ty:ty, $kind:ident, $num:ident;)*) => {
        atomics! {
            $(
                Add $of $ty, $kind, $num, |old, val| old.wrapping_add(val);
                Sub $of $ty, $kind, $num, |old, val| old.wrapping_sub(val);
                And $of $ty, $kind, $num, |old, val| old & val;
                Or $of $ty, $kind, $num, |old, val| old | val;
                Xor $of $ty, $kind, $num, |old, val| old ^ val;
                Exch $of $ty, $kind, $num, |_old, val| val;
                Min $of $ty, $kind, $num, |old, val| old.min(val);
                Max $of $ty, $kind, $num, |old, val| old.max(val);
                Inc $of $ty, $kind, $num, |old, val| if old >= val { 0 } else { old.wrapping_add(1) };
                Dec $of $ty, $kind, $num, |old, val| if old == 0 || old > val { val } else { old.wrapping_sub(1) };
            )*
            Add F32 f32, F, X, |old, val| old + val;
            Sub F32 f32, F, X, |old, val| old - val;
            Exch F32 f32, F, X, |_old, val| val;
            Add F64 f64, D, Y, |old, val| old + val;
            Sub F64 f64, D, Y, |old, val| old - val;
            Exch F64 f64, D, Y, |_old, val| val;
        }
    };
}

integer_atomics! {
    I32 i32, I, N;
    U32 u32, I, U;
    I64 i64, L, Q;
    U64 u64, L, P;
}

macro_rules! swaps {
    ($($of:ident $ty:ty, $kind:ident;)*) => {
        fn compare_and_swap(cell: Of, form: Form) -> Option<Helper> {
            match cell {
            $(Of::$of => {
                unsafe extern "C" fn shared(
                    mask: u32, p: *mut u8, o: &Lanes<i64>, x: &Lanes<$ty>, c: &Lanes<$ty>, out: &mut Lanes<$ty>,
                ) {
                    *out = Lanes::default();
                    for l in set(mask) {
                        // SAFETY: generated code has checked the places.
                        unsafe {
                            let at = p.offset(o[l] as isize).cast::<$ty>();
                            out[l] = at.read_unaligned();
                            if out[l] == c[l] {
                                at.write_unaligned(x[l]);
                            }
                        }
                    }
                }
                unsafe extern "C" fn global(
                    mask: u32, p: *mut u8, o: &Lanes<i64>, x: &Lanes<$ty>, c: &Lanes<$ty>, out: &mut Lanes<$ty>,
                ) {
                    *out = Lanes::default();
                    for l in set(mask) {
                        // SAFETY: as above; the alignment has been checked as well.
                        out[l] = unsafe {
                            <$ty as Cell>::update(p.offset(o[l] as isize).cast(), |old: $ty| if old == c[l] { x[l] } else { old })
                        };
                    }
                }
                let made = |address| Some(Helper { address, args: vec![M, P, L, $kind, $kind], gives: $kind });
                match form {
                    Form::At(Space::Shared) => made(shared as *const () as usize),
                    Form::At(Space::Global) => made(global as *const () as usize),
                    Form::At(Space::Scratch | Space::Unknown) | Form::Up | Form::UpOne | Form::UpBytes => None,
                }
            })*
                Of::F32 | Of::F64 => None,
            }
        }
    };
}

swaps! {
    I32 i32, I;
    U32 u32, I;
    I64 i64, L;
    U64 u64, L;
}
