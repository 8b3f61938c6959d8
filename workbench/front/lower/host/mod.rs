//! Host code: what only functions of the host may do, and their variables.
//!
//! Launches, services of the run time and memory of the host stand in host functions alone; elsewhere they are refused.
//!
//! - `launches`: launches of kernels, and services of the run time. `early_kernels`: kernels handed over while host code is being lowered.
//! - `variables`: variables of the host at namespace scope. `device_variables`: variables of the device as host code names them.
//! - `left_out`: host functions that notebooks do not run.

pub(super) mod device_variables;
mod early_kernels;
pub(super) mod launches;
mod left_out;
pub(super) mod variables;
