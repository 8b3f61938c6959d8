//! Facts about functions of the IR, found before any code is made: roots and alignment of pointers, affine rows, splits between barriers,
//! what may run in vectors. They say what is true of a function and nothing of how it is compiled.

pub mod affine;
pub mod analysis;
pub mod roots;
pub mod split;
pub mod vector;
