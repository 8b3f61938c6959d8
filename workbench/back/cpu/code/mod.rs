//! Machine code in memory: [`jit`] makes it of CLIF and lays it out, [`machine`] holds the code of a module and replaces it by better
//! code, [`kept_code`] the library's functions, whose code is kept for all texts, [`size`] the limits of the code generator.

pub mod jit;
pub mod kept_code;
pub mod machine;
pub mod size;
