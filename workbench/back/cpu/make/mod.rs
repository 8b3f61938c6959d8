//! Making code: [`plan`] says what of a module is compiled, [`build`] lowers and compiles it, [`parallel`] several functions at a time,
//! [`ahead`] kernels of a text that is still being lowered, [`tiers`] better code in the background.

pub mod addresses;
pub mod ahead;
pub mod build;
pub mod compiled;
pub mod failure;
pub mod parallel;
pub mod plan;
pub mod thunk;
pub mod tiers;
pub mod wanted;
