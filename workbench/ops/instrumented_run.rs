//! One more run of an operator's kernel, instrumented so that it records something in parameters that are added after its own.

use smallvec::SmallVec;

use super::binding::Source;
use super::call::{OwnedArg, fill_defaults};
use super::plan::{ArgValue, Halves, Run, RunConfig, raw_args};
use super::registry::Op;
use crate::back::Dim3;
use crate::runtime::{Arg, Device, Kernel, LaunchConfig, Result, Tensor};

/// The outcome of the run.
pub(super) enum Recorded {
    /// No kernel for the CPU runs in such a call.
    NoKernel,
    /// The call launches nothing, as its outputs are empty.
    NoLaunch,
    /// The launch that was recorded.
    Launch {
        /// Extents of the grid.
        grid: Dim3,
        /// Extents of a block.
        block: Dim3,
        /// The origin of each of the kernel's own arguments.
        sources: Vec<Source>,
        /// The memory of the added parameters after the launch, in their order.
        added: Vec<Tensor>,
    },
}

impl Op {
    /// Runs the kernel that `instrument` makes of the operator's, on fresh outputs, with the memory that it gives for the added parameters;
    /// it gets the kernel and the kernel's own arguments.
    ///
    /// # Errors
    /// As [`Op::run`], and those of `instrument`.
    pub(super) fn record(
        &self,
        mut args: Vec<OwnedArg>,
        run_config: &RunConfig<'_>,
        instrument: impl FnOnce(&Kernel, &[Arg]) -> Result<(Kernel, Vec<Tensor>)>,
    ) -> Result<Recorded> {
        let definition = self.definition();
        fill_defaults(&definition.schema, &mut args)?;
        let values: SmallVec<[ArgValue<'_>; 8]> = args.iter_mut().map(OwnedArg::value).collect();
        let plan = self.plan(&values)?;
        let Run::Kernel(run) = &plan.run else { return Ok(Recorded::NoKernel) };
        if run.bound.kernel.program().options().device != Device::Cpu {
            return Ok(Recorded::NoKernel);
        }
        let Some((grid, block)) = run.launch else { return Ok(Recorded::NoLaunch) };
        let shape = |s: &[i64]| s.iter().map(|&d| d as usize).collect::<Vec<_>>();
        let mut outputs: Vec<Tensor> =
            plan.outputs.iter().map(|o| Tensor::try_poisoned(o.dtype, &shape(&o.shape))).collect::<Result<_>>()?;
        let pointers: SmallVec<[*mut u8; 4]> = outputs.iter_mut().map(Tensor::as_mut_ptr).collect();
        let mut halves = Halves::new();
        let mut raw = raw_args(self.name(), run, &values, &plan, &pointers, &mut halves)?;
        let (kernel, mut added) = instrument(&run.bound.kernel, &raw)?;
        raw.extend(added.iter_mut().map(|tensor| Arg::Buffer(tensor.buffer(true))));
        let config = LaunchConfig {
            timeout: run_config.timeout,
            interrupt: run_config.interrupt,
            shared_mem: run.shared_mem.into(),
            ..LaunchConfig::new(grid, block)
        };
        kernel.launch_raw(&config, &raw)?;
        Ok(Recorded::Launch { grid, block, sources: run.bound.sources.to_vec(), added })
    }
}
