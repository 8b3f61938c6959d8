//! Making code: [`plan`] says which functions of a module are compiled, [`build`] lowers and compiles it, [`parallel`] several
//! functions at a time, [`ahead`] kernels of a text that is still being lowered, [`background`] better code in the background.
//!
//! # Which tier runs
//! 1. *Soon*: at once, without value numbering and with register allocation in one pass.
//! 2. *Good*: from the same CLIF with everything, on a thread of its own. One store puts it in place. A launch that is estimated to take
//!    milliseconds waits for it, and timing always does for what it launches. Functions that call themselves have one tier, because frames
//!    tell how deep they may go. Functions whose frames are too large in the first tier get good code at once.
//! 3. *Lanes*: for kernels whose launches have taken a while, 16 threads side by side by our own compiler
//!    ([`wide`](crate::back::cpu::wide)).
//! 4. *Wide*: where the machine has a C compiler and AVX-512, or AVX2 with FMA and F16C, that compiler's code of the same text takes the place of
//!    lanes. Where it fails, lanes stay.
//!
//! A launch that lasts moves to lanes or wide code between two blocks, once there is some (`run/schedule.rs`). All tiers compute the same bits,
//! but for the sign and payload of NaN, and in wide code for the order of float atomics. `wb.set_tier` chooses a tier, `kernel.tier` tells which one ran, `kernel.tier_report(block)` says which code there is and why there is no
//! more ([`report`]); the file tests and whole kernels run in all.
//!
//! # Processors
//! A compilation uses two processors where it can: functions are shared out, the largest first, for the passes that work on one function
//! and for machine code. The front end runs on one processor. So kernels of a text that launches some are made ahead, each as soon as it
//! is lowered with all that it calls. A prepared module, and a program that others have crowded out, are freed on the thread that makes
//! good code.

pub mod addresses;
pub mod ahead;
pub mod background;
pub mod build;
pub mod choose_tier;
pub mod compiled;
pub mod failure;
pub mod parallel;
pub mod plan;
pub mod thunk;
pub mod tier_report;
