//! Running code: [`schedule`] runs a [`launch`] over a grid of blocks on the caller's thread and the pool's. The other files are what
//! generated code calls meanwhile ([`faults`], [`tick`], [`block_sync`], [`output`], [`services`], [`lookup`]) and what a launch is made of ([`bind`], [`memory`],
//! [`pool`], [`records`], [`stop`]).

pub mod bind;
pub mod block_sync;
pub mod faults;
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
