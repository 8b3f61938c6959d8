//! The functions of `double`s, as those of `float`s.

pub mod erf;
pub mod exp;
pub mod log;
pub mod power;
pub mod root;
pub mod trig;
