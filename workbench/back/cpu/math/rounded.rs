//! Rounding to integers and `fma`, which the code generator calls on processors that lack the instructions.

/// Functions with C's calling convention: name of the `float` form, name of the `double` form, parameters, bodies.
macro_rules! forms {
    ($($float:ident $double:ident ($($arg:ident),*) $f32:expr, $f64:expr;)*) => {$(
        pub extern "C" fn $float($($arg: f32),*) -> f32 { $f32 }
        pub extern "C" fn $double($($arg: f64),*) -> f64 { $f64 }
    )*};
}

forms! {
    ceil_f32 ceil_f64 (x) x.ceil(), x.ceil();
    floor_f32 floor_f64 (x) x.floor(), x.floor();
    fma_f32 fma_f64 (x, y, z) x.mul_add(y, z), x.mul_add(y, z);
    rint_f32 rint_f64 (x) x.round_ties_even(), x.round_ties_even();
    trunc_f32 trunc_f64 (x) x.trunc(), x.trunc();
}
