//! Limits on what a launch may ask for: extents and shared memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Error;
use crate::back::LaunchConfig;
use crate::back::cpu::Refusal;
use crate::ir::{self, FuncId};

/// CUDA's limits on a launch (CUDA C++ Programming Guide, "Features and Technical Specifications").
pub mod limits {
    /// Most threads of a block.
    pub const THREADS_PER_BLOCK: u64 = 1024;
    /// Most threads of a block in z.
    pub const BLOCK_Z: u32 = 64;
    /// Most blocks in x.
    pub const GRID_X: u32 = i32::MAX as u32;
    /// Most blocks in y and in z.
    pub const GRID_YZ: u32 = 65_535;
    /// Most bytes of dynamic shared memory a block may ask for (the opt-in limit of compute capability 9.0).
    pub const SHARED_MEMORY: u32 = 227 * 1024;
    /// Most bytes of shared memory, static and dynamic, that a block has unless host code asks for more (`cudaFuncSetAttribute`).
    pub const SHARED_BY_DEFAULT: u32 = 48 * 1024;
}

// Codes of the CUDA runtime (CUDA Runtime API, `cudaError_t`).
const INVALID_VALUE: i32 = 1;
const INVALID_CONFIGURATION: i32 = 9;
pub(super) const INVALID_DEVICE_FUNCTION: i32 = 98;
const LAUNCH_OUT_OF_RESOURCES: i32 = 701;
pub(super) const NOT_SUPPORTED: i32 = 801;

pub(super) fn refused(code: i32, detail: String) -> Refusal {
    Refusal { code, detail, is_empty: false }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::argument(refusal.detail)
    }
}

/// Checks that a device has such a grid and block, and that the kernel was compiled for it.
pub(super) fn check_extents(func: &ir::Function, config: &LaunchConfig<'_>) -> Result<(), Refusal> {
    let name = &func.name;
    let (grid, block) = (config.grid, config.block);
    if grid.count() == 0 || block.count() == 0 {
        let detail = format!("`{name}`: grid {grid} x block {block} holds no thread");
        return Err(Refusal { is_empty: block.count() > 0, ..refused(INVALID_CONFIGURATION, detail) });
    }
    if block.x > 1024 || block.y > 1024 || block.z > limits::BLOCK_Z || block.count() > limits::THREADS_PER_BLOCK {
        let detail = format!(
            "`{name}`: block {block} has {} threads; CUDA allows 1024 in all, at most (1024, 1024, 64)",
            block.count()
        );
        return Err(refused(INVALID_CONFIGURATION, detail));
    }
    if let Some(max) = func.max_threads
        && block.count() > u64::from(max)
    {
        let detail = format!(
            "`{name}`: block {block} has {} threads; its `__launch_bounds__({max})` allows {max}",
            block.count()
        );
        return Err(refused(LAUNCH_OUT_OF_RESOURCES, detail));
    }
    if grid.x > limits::GRID_X || grid.y > limits::GRID_YZ || grid.z > limits::GRID_YZ {
        let detail = format!("`{name}`: grid {grid} is larger than CUDA's limit (2147483647, 65535, 65535)");
        return Err(refused(INVALID_CONFIGURATION, detail));
    }
    if config.shared_mem > u64::from(limits::SHARED_MEMORY) {
        let detail = format!(
            "`{name}`: {} bytes of shared memory; a block has at most {}",
            config.shared_mem,
            limits::SHARED_MEMORY
        );
        return Err(refused(INVALID_VALUE, detail));
    }
    Ok(())
}

/// Checks that a block may have so much shared memory.
pub(super) fn check_shared(func: &ir::Function, fixed: u32, config: &LaunchConfig<'_>) -> Result<(), Refusal> {
    let all = u64::from(fixed) + config.shared_mem;
    if config.shared_mem > 0 && all > u64::from(limits::SHARED_MEMORY) {
        let detail = format!(
            "`{}`: {} bytes of dynamic and {fixed} of static shared memory; a block has at most {}",
            func.name,
            config.shared_mem,
            limits::SHARED_MEMORY
        );
        return Err(refused(INVALID_VALUE, detail));
    }
    Ok(())
}

/// The dynamic shared memory that host code has asked for, by kernel. CUDA keeps it with a function of a context; here it is kept with a
/// program.
#[derive(Default)]
pub(super) struct Allowed(Mutex<HashMap<FuncId, u32>>);

impl Allowed {
    /// `cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)`: CUDA's code.
    pub fn allow(&self, kernel: FuncId, fixed: u32, bytes: i64) -> i32 {
        let room = i64::from(limits::SHARED_MEMORY) - i64::from(fixed);
        match u32::try_from(bytes) {
            Ok(allowed) if bytes <= room => {
                self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(kernel, allowed);
                0
            }
            _ => INVALID_VALUE,
        }
    }

    /// Checks that a launch of host code may have the dynamic shared memory that it wants.
    pub fn check(
        &self,
        func: &ir::Function,
        kernel: FuncId,
        fixed: u32,
        config: &LaunchConfig<'_>,
    ) -> Result<(), Refusal> {
        let (name, bytes) = (&func.name, config.shared_mem);
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&kernel).copied();
        let most = asked.unwrap_or(limits::SHARED_BY_DEFAULT.saturating_sub(fixed));
        if bytes <= u64::from(most) {
            return Ok(());
        }
        let beside = if fixed > 0 { format!(" beside {fixed} of static") } else { String::new() };
        let set = "cudaFuncAttributeMaxDynamicSharedMemorySize";
        let detail = match asked {
            Some(most) => format!(
                "`{name}`: {bytes} bytes of dynamic shared memory; \
                 `cudaFuncSetAttribute` has set {most} as the most: give it {bytes} for `{set}`"
            ),
            None => format!(
                "`{name}`: {bytes} bytes of dynamic shared memory; without asking a block has {most}{beside}: \
                 call `cudaFuncSetAttribute({name}, {set}, {bytes})` before the launch"
            ),
        };
        Err(refused(INVALID_VALUE, detail))
    }
}
