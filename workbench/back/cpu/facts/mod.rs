//! Facts about functions of the IR, found before any code is made: roots and alignment of pointers, affine rows, splits between barriers,
//! loops that may run in vectors. They describe a function and say nothing of how it is compiled.

pub mod affine;
pub mod analysis;
pub mod roots;
pub mod split;
pub mod vector;
