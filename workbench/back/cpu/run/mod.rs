//! Running code: [`schedule`] runs a [`launch`] over a grid of blocks on the caller's thread and the pool's. The other files hold the
//! functions that generated code calls meanwhile ([`fault_messages`], [`tick`], [`block_sync`], [`output`], [`services`], [`lookup`]) and the parts
//! of a launch ([`bind`], [`memory`], [`pool`], [`records`], [`stop`]).
//!
//! # Blocks
//! Workers claim ranges of blocks in ascending order from one counter, so a block may wait for a lower one. A launch whose estimated work
//! is small stays on the calling thread. Generated code runs a row of threads or a whole block; the schedule counts `y`, `z` and blocks,
//! because loops over blocks inside generated code would spill the registers of the inner loop.
//!
//! The threads of the pool have stacks of a known size, are kept off the processor of the thread that wakes them (`placement.rs`), and are
//! made anew in a forked child.
//!
//! # Faults
//! A fault is a status that generated code returns, with the number of its site; no signal and no unwinding passes through generated code.
//! The lowest of several faulting blocks is reported, and the lowest of its threads: lower blocks finish, higher ones are not started.
//!
//! # Polls
//! Back edges of loops count down a budget in a register. At zero, [`tick`] polls the clock, the cancel flag and, on the launching thread,
//! the user's interrupt. When for a while no worker has done anything but go round loops whose every exit depends on a volatile read or an
//! atomic (`pass/waits.rs`), that is the fault `NoProgress`.
//!
//! # Memory
//! Shared memory is the worker's and is filled with poison before each block. Each variable is a buffer of its own; all dynamic variables
//! are one memory. Atomics are checked like writes and are the processor's own instructions. PTX's 32-bit addresses of shared memory are
//! the low halves of addresses here; the high half is that of any shared variable of the block, and the buffer is looked up as for every
//! pointer made of an integer.
//!
//! Memory has a *side* ([`Side`](crate::back::cpu::abi::context::Side)): `cudaMalloc` gives the device's; `malloc`, `new`, containers,
//! local variables and variables of host code are the host's; tensors, arrays of the caller, `cudaMallocManaged`, `__managed__` and pinned
//! memory belong to both. All of it lies in one address space, so descriptors find what would be wrong on a GPU: an allocation has a whole
//! descriptor and one that is *away*, in which no access is in bounds. A lookup gives the descriptor of the side that asks, and a launch
//! hands a kernel the host's memory as `RawArg::Away`. So checks know nothing of sides; only the sentence after a fault
//! (`fault_messages::wrong_side`) asks why. With `unified_memory`, kernels see all memory; host code still does not see what `cudaMalloc` gave.
//!
//! # printf
//! Records are kept by each worker in the order of its blocks. Both the number and the bytes that a launch keeps are bounded, and the
//! records kept do not depend on which worker ran which block.

pub mod bind;
pub mod block_sync;
mod change_tier;
pub mod fault_messages;
pub mod fibers;
pub mod float_env;
pub mod host;
pub mod launch;
pub mod lookup;
pub mod memory;
pub mod output;
pub mod placement;
pub mod poll;
pub mod pool;
pub mod records;
pub mod rounds;
pub mod schedule;
pub mod services;
pub mod stop;
pub mod sums;
pub mod tick;
pub mod wide_code;
