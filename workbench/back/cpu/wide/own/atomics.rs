//! Atomics of 16 lanes, one after the other.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::helpers::{Arg, D, F, Helper, I, L, Lanes, M, N, P, Q, U, V, set};
use super::parse::Ty;

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
/// elements, where nobody asks what was there before; `up1`: with one number for all; `up1_bytes`: at indices that are bytes in memory.
macro_rules! atomics {
    ($($name:literal $ty:ty, $kind:ident, $num:ident, |$old:ident, $val:ident| $new:expr;)*) => {
        pub(super) fn find(name: &str) -> Option<Helper> {
            $({
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
                        // SAFETY: as above; that it is aligned has been checked as well.
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
                if let Some(op) = name.strip_suffix("_shared").and_then(|op| op.strip_prefix("at_"))
                    && op == $name
                {
                    return made(shared as *const () as usize, &[M, P, L, $kind], $kind);
                }
                if let Some(op) = name.strip_suffix("_global").and_then(|op| op.strip_prefix("at_"))
                    && op == $name
                {
                    return made(global as *const () as usize, &[M, P, L, $kind], $kind);
                }
                if name.strip_prefix("up_") == Some($name) {
                    return made(up as *const () as usize, &[M, P, I, $kind, N], V);
                }
                if name.strip_prefix("up1_bytes_") == Some($name) {
                    return made(up1_bytes as *const () as usize, &[P, P, $num], V);
                }
                if name.strip_prefix("up1_") == Some($name) {
                    return made(up1 as *const () as usize, &[M, P, I, $num, N], V);
                }
            })*
            compare_and_swap(name)
        }
    };
}

const X: Arg = Arg::Num(Ty::F32);
const Y: Arg = Arg::Num(Ty::F64);

macro_rules! integer_atomics {
    ($($add:literal $sub:literal $and:literal $or:literal $xor:literal $exch:literal $min:literal $max:literal $inc:literal $dec:literal
        $ty:ty, $kind:ident, $num:ident;)*) => {
        atomics! {
            $(
                $add $ty, $kind, $num, |old, val| old.wrapping_add(val);
                $sub $ty, $kind, $num, |old, val| old.wrapping_sub(val);
                $and $ty, $kind, $num, |old, val| old & val;
                $or $ty, $kind, $num, |old, val| old | val;
                $xor $ty, $kind, $num, |old, val| old ^ val;
                $exch $ty, $kind, $num, |_old, val| val;
                $min $ty, $kind, $num, |old, val| old.min(val);
                $max $ty, $kind, $num, |old, val| old.max(val);
                $inc $ty, $kind, $num, |old, val| if old >= val { 0 } else { old.wrapping_add(1) };
                $dec $ty, $kind, $num, |old, val| if old == 0 || old > val { val } else { old.wrapping_sub(1) };
            )*
            "add_f32" f32, F, X, |old, val| old + val;
            "sub_f32" f32, F, X, |old, val| old - val;
            "exch_f32" f32, F, X, |_old, val| val;
            "add_f64" f64, D, Y, |old, val| old + val;
            "sub_f64" f64, D, Y, |old, val| old - val;
            "exch_f64" f64, D, Y, |_old, val| val;
        }
    };
}

integer_atomics! {
    "add_i32" "sub_i32" "and_i32" "or_i32" "xor_i32" "exch_i32" "min_i32" "max_i32" "inc_i32" "dec_i32" i32, I, N;
    "add_u32" "sub_u32" "and_u32" "or_u32" "xor_u32" "exch_u32" "min_u32" "max_u32" "inc_u32" "dec_u32" u32, I, U;
    "add_i64" "sub_i64" "and_i64" "or_i64" "xor_i64" "exch_i64" "min_i64" "max_i64" "inc_i64" "dec_i64" i64, L, Q;
    "add_u64" "sub_u64" "and_u64" "or_u64" "xor_u64" "exch_u64" "min_u64" "max_u64" "inc_u64" "dec_u64" u64, L, P;
}

macro_rules! swaps {
    ($($shared:literal $global:literal $ty:ty, $kind:ident;)*) => {
        fn compare_and_swap(name: &str) -> Option<Helper> {
            $({
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
                        // SAFETY: as above; that it is aligned has been checked as well.
                        out[l] = unsafe {
                            <$ty as Cell>::update(p.offset(o[l] as isize).cast(), |old: $ty| if old == c[l] { x[l] } else { old })
                        };
                    }
                }
                let made = |address| Some(Helper { address, args: vec![M, P, L, $kind, $kind], gives: $kind });
                match name {
                    $shared => return made(shared as *const () as usize),
                    $global => return made(global as *const () as usize),
                    _ => {}
                }
            })*
            None
        }
    };
}

swaps! {
    "at_cas_i32_shared" "at_cas_i32_global" i32, I;
    "at_cas_u32_shared" "at_cas_u32_global" u32, I;
    "at_cas_i64_shared" "at_cas_i64_global" i64, L;
    "at_cas_u64_shared" "at_cas_u64_global" u64, L;
}
