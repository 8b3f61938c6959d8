//! Writers of elements: one more run of a kernel with the writing threads recorded.

use smallvec::SmallVec;

use super::binding::Source;
use super::call::{OwnedArg, fill_defaults};
use super::plan::{ArgValue, Halves, Run, raw_args};
use super::registry::Op;
use crate::back::Dim3;
use crate::pass::instrument;
use crate::runtime::{Arg, BufferArg, DType, LaunchConfig, Result, Tensor};

/// The writers of one array.
#[derive(Debug, Clone)]
pub struct Written {
    /// The fresh output or the argument.
    pub source: Source,
    records: Vec<u64>,
    grid: Dim3,
    block: Dim3,
}

impl Written {
    /// Extents of a block (x, y, z) of the launch that was recorded.
    pub fn block(&self) -> [u32; 3] {
        [self.block.x, self.block.y, self.block.z]
    }

    /// (block, thread) of the thread that wrote an element last; `None`: no write was seen.
    pub fn writer(&self, element: usize) -> Option<([u32; 3], [u32; 3])> {
        let (block, thread) = instrument::writer(*self.records.get(element)?, self.block.count())?;
        Some((self.grid.unflatten(block), self.block.unflatten(thread)))
    }
}

impl Op {
    /// Runs the operator once more, and records which thread wrote each element of each array. Empty for an implementation that is no
    /// kernel for the CPU.
    ///
    /// # Errors
    /// As [`Op::run`].
    pub fn writers(&self, mut args: Vec<OwnedArg>) -> Result<Vec<Written>> {
        let definition = self.definition();
        fill_defaults(&definition.schema, &mut args)?;
        let values: SmallVec<[ArgValue<'_>; 8]> = args.iter_mut().map(OwnedArg::value).collect();
        let plan = self.plan(&values)?;
        let Run::Kernel(run) = &plan.run else { return Ok(Vec::new()) };
        let Some((grid, block)) = run.launch else { return Ok(Vec::new()) };
        if run.bound.kernel.program().options().device != crate::runtime::Device::Cpu {
            return Ok(Vec::new());
        }
        let shape = |s: &[i64]| s.iter().map(|&d| d as usize).collect::<Vec<_>>();
        let mut tensors: Vec<Tensor> =
            plan.outputs.iter().map(|o| Tensor::try_poisoned(o.dtype, &shape(&o.shape))).collect::<Result<_>>()?;
        let pointers: SmallVec<[*mut u8; 4]> = tensors.iter_mut().map(Tensor::as_mut_ptr).collect();
        let mut halves = Halves::new();
        let mut raw = raw_args(self.name(), run, &values, &plan, &pointers, &mut halves)?;
        let (kernel, tracked) = run.bound.kernel.with_writers()?;
        let mut records: Vec<Vec<u64>> = Vec::new();
        for &param in &tracked {
            let elements = match &raw[param] {
                Arg::Buffer(b) => b.bytes / b.dtype.size(),
                _ => 0,
            };
            records.push(vec![0u64; elements]);
        }
        for list in &mut records {
            let (ptr, bytes) = (list.as_mut_ptr().cast(), list.len() * 8);
            raw.push(Arg::Buffer(BufferArg { ptr, bytes, dtype: DType::UInt64, writable: true }));
        }
        let config = LaunchConfig { shared_mem: run.shared_mem.into(), ..LaunchConfig::new(grid, block) };
        kernel.launch_raw(&config, &raw)?;
        let sources = tracked.iter().map(|&param| run.bound.sources[param]);
        Ok(sources.zip(records).map(|(source, records)| Written { source, records, grid, block }).collect())
    }
}
