//! Writers of elements: one more run of a kernel with the writing threads recorded.

use super::call::OwnedArg;
use super::instrumented_run::Recorded;
use super::plan::RunConfig;
use super::recorded_writers::{Written, records_of};
use super::registry::Op;
use crate::runtime::Result;

impl Op {
    /// Runs the operator once more, and records which thread wrote each element of each array. Empty for an implementation that is no
    /// kernel for the CPU.
    ///
    /// # Errors
    /// As [`Op::run`].
    pub fn writers(&self, args: Vec<OwnedArg>) -> Result<Vec<Written>> {
        let mut tracked = Vec::new();
        let recorded = self.record(args, &RunConfig::default(), |kernel, raw| {
            let (kernel, params) = kernel.with_writers()?;
            tracked = params;
            Ok((kernel, tracked.iter().map(|&param| records_of(&raw[param])).collect()))
        })?;
        let Recorded::Launch { grid, block, sources, added } = recorded else { return Ok(Vec::new()) };
        let sources = tracked.iter().map(|&param| sources[param]);
        Ok(sources.zip(added).map(|(source, records)| Written { source, records, grid, block }).collect())
    }
}
