//! Compiler builtins without arguments that matter, which are constants. The names of `limits.h` and its kin are macros of
//! the preprocessor, which spell infinities and NaNs by these.

use crate::front::types::Num;
use crate::ir::Const;

const TABLE: &[(&str, Num, Const)] = &[
    ("__builtin_inff", Num::Float, Const::F32(f32::INFINITY)),
    ("__builtin_inf", Num::Double, Const::F64(f64::INFINITY)),
    ("__builtin_huge_valf", Num::Float, Const::F32(f32::INFINITY)),
    ("__builtin_huge_val", Num::Double, Const::F64(f64::INFINITY)),
    ("__builtin_nanf", Num::Float, Const::F32(f32::NAN)),
    ("__builtin_nan", Num::Double, Const::F64(f64::NAN)),
];

/// The constant that a call of this name is.
pub fn constant(name: &str) -> Option<(Num, Const)> {
    TABLE.iter().find(|(n, ..)| *n == name).map(|&(_, num, c)| (num, c))
}
