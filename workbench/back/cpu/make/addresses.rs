//! Addresses of the functions that generated code calls: helpers of the run time, and one table of math functions.
//!
//! A function that is one instruction (rounding, square root, `fma`, minimum) is lowered in place and only listed here for
//! completeness. The rest is the C library's, `libm`'s, or of [`math`](crate::back::cpu::math); `float` forms without a `float`
//! original round the result of the `double` one.

use std::sync::OnceLock;

use super::thunk;
use crate::back::cpu::abi::host_fn::host_fns;
use crate::back::cpu::math::directed::{self, Toward};
use crate::back::cpu::math::rounded::{
    ceil_f32, ceil_f64, floor_f32, floor_f64, fma_f32, fma_f64, rint_f32, rint_f64, trunc_f32, trunc_f64,
};
use crate::back::cpu::math::{bessel, lanes, logarithm, norm, reciprocal, special};
use crate::back::cpu::run::{block_sync, fault_messages, fibers, lookup, memory, output, services, tick};
use crate::ir::{MathFn, math_fns};

/// The address of a function of the process, according to its row.
macro_rules! host_address {
    (at($function:path)) => {
        $function as *const () as usize
    };
    (made($address:expr)) => {
        $address
    };
}

macro_rules! host_addresses {
    ($($(#[$doc:meta])* $variant:ident $name:literal $params:tt $ret:tt $kind:ident $address:tt;)*) => {
        vec![$(host_address!($kind $address)),*]
    };
}

/// The address of every function, by its number.
///
/// # Errors
/// A sentence, on a machine Cranelift makes no code for, or where there is no executable memory; the next call tries again.
pub fn addresses() -> Result<&'static [usize], String> {
    static ADDRESSES: OnceLock<Vec<usize>> = OnceLock::new();
    if let Some(known) = ADDRESSES.get() {
        return Ok(known);
    }
    let made = || -> Result<Vec<usize>, String> {
        let mut all = host_fns!(host_addresses);
        for math in MathFn::ALL {
            let (float, double) = math_addresses(*math);
            // A function with straight-line code computes the same bits in every tier.
            let float = lanes::float_address(*math).unwrap_or(float);
            let double = lanes::double_address(*math).unwrap_or(double);
            all.extend([float, double]);
        }
        Ok(all)
    };
    // The table is made outside the lock: a process may fork meanwhile.
    let made = made()?;
    Ok(ADDRESSES.get_or_init(|| made))
}

/// The addresses of the two forms of a math function, according to the computation that its row names.
macro_rules! forms {
    (each ($($arg:ident),+) ($float:expr, $double:expr)) => {{
        extern "C" fn float($($arg: f32),+) -> f32 { $float }
        extern "C" fn double($($arg: f64),+) -> f64 { $double }
        (float as *const () as usize, double as *const () as usize)
    }};
    (both $args:tt ($code:expr)) => { forms!(each $args ($code, $code)) };
    (rounded ($($arg:ident),+) ($code:expr)) => {{
        extern "C" fn float($($arg: f32),+) -> f32 { double($(f64::from($arg)),+) as f32 }
        extern "C" fn double($($arg: f64),+) -> f64 { $code }
        (float as *const () as usize, double as *const () as usize)
    }};
    (directed ($($arg:ident),+) ($toward:ident, $float:ident, $double:ident)) => {
        forms!(each ($($arg),+) (
            directed::$float($($arg,)+ Toward::$toward),
            directed::$double($($arg,)+ Toward::$toward)
        ))
    };
    (at $args:tt ($float:ident, $double:ident)) => {
        ($float as *const () as usize, $double as *const () as usize)
    };
}

macro_rules! math_addresses {
    ($($variant:ident $args:tt $whose:ident $name:literal ulp $ulp:tt $how:ident $code:tt
        $(lanes $floats:tt $doubles:tt)? $doc:literal;)*) => {
        /// The addresses of the `float` and of the `double` form.
        fn math_addresses(math: MathFn) -> (usize, usize) {
            match math { $(MathFn::$variant => forms!($how $args $code),)* }
        }
    };
}

math_fns!(math_addresses);
