//! Emission: typed expressions to IR.
//!
//! Order of evaluation is C++17's; arguments, which C++ leaves open, are evaluated from left to right.
//!
//! - `expressions`: values, places, effects. `calls`: calls.
//! - `objects`: objects of struct and array type, written straight into the place they are made for.

mod calls;
mod expressions;
mod objects;
