//! Overload resolution ([over.match]): the function of a set that fits a call best.
//!
//! The choice follows from the types of arguments and parameters alone. Trying a candidate reports nothing; what is wrong is said once, of the
//! call.
//!
//! - `resolution`: the choice among everything that a text can declare.
//! - `ranking`: implicit conversions, and which of two is better.
//! - `exact_matches`: the function of a large set whose parameters are of exactly the arguments' types.
//! - `operators`: operators that a text declares for its classes and enums.

pub(super) mod exact_matches;
pub(super) mod operators;
pub(super) mod ranking;
mod resolution;
