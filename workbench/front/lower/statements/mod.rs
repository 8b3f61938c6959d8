//! Statements ([stmt]): to the structured control flow of the IR, and what happens at the ends of scopes.
//!
//! Whichever way control leaves a scope of the text, the objects that were made in it are destroyed first, the last one first.
//!
//! - `control_flow`: conditions, loops, jumps. `switch`: its cases, with fall through. `range_for`: `for` over a range.
//! - `exceptions`: `try`, its handlers, and what goes when an exception leaves a block.
//! - `lifetimes`: pointers into a variable whose life ends. `returned_addresses`: `return` of a pointer or reference to such a variable.

mod control_flow;
mod exceptions;
mod lifetimes;
mod range_for;
mod returned_addresses;
mod switch;
