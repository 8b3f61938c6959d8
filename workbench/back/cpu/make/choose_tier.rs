//! The choice of the code that a launch runs. A launch may wait for its wide code, until it is interrupted or its time is up.

use std::sync::Arc;
use std::time::Instant;

use super::background;
use super::compiled::CompiledModule;
use crate::back::cpu::image::EntryPoint;
use crate::back::cpu::run::launch::Better;
use crate::back::cpu::run::wide_code::WideCode;
use crate::back::cpu::tier::Tier;
use crate::back::cpu::wide::{HOT, may_be_wide};
use crate::back::{Dim3, FaultKind, Interrupt, LaunchConfig};
use crate::ir::FuncId;

/// The user's wish to end a launch, or the end of its time.
struct Until<'a> {
    interrupt: Option<&'a dyn Interrupt>,
    deadline: Option<Instant>,
}

impl Until<'_> {
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Interrupt for Until<'_> {
    fn interrupted(&self) -> bool {
        self.is_late() || self.interrupt.is_some_and(Interrupt::interrupted)
    }
}

/// Wide code, with whether better may come; or the reason that a launch ends before it begins.
type Wanted = Result<Option<(Arc<WideCode>, bool)>, (FaultKind, String)>;

/// The wide code that a launch runs, where there is some, and whether better code may come. It is made now where the
/// program was compiled for it. Code that was not there at the deadline is made in the background.
///
/// # Errors
/// The reason that the launch ends before it begins.
pub fn code(
    module: &Arc<CompiledModule>,
    func: FuncId,
    args: &[u64],
    config: &LaunchConfig<'_>,
    deadline: Option<Instant>,
) -> Wanted {
    let Some(wide) = module.wide.as_ref().filter(|_| may_be_wide(config.grid, config.block)) else { return Ok(None) };
    if wide.is_wanted_now() && config.block.count() > 0 {
        let until = Until { interrupt: config.interrupt, deadline };
        if let Err(case) = wide.make_for(&module.image.globals, (func, config.block), args, &until) {
            let Some(limit) = config.timeout.filter(|_| until.is_late()) else {
                let detail = "interrupted while its code was compiled; it was not launched";
                return Err((FaultKind::Interrupted, detail.to_owned()));
            };
            background::make_later(module, case);
            let detail = format!(
                "its code was still being compiled after {limit:?}, and it was not launched: launch it again, or give it \
                 more time"
            );
            return Err((FaultKind::Timeout, detail));
        }
    }
    Ok(wide.code(func, config.block, args))
}

/// Code that is better than what a launch runs, made while it runs.
pub struct Later<'a> {
    /// The program.
    pub module: &'a Arc<CompiledModule>,
    /// The kernel.
    pub func: FuncId,
    /// The extents of its blocks.
    pub block: Dim3,
    /// A word for each parameter.
    pub args: &'a [u64],
}

impl Better for Later<'_> {
    fn begin(&self) {
        // A launch that lasts is as good a reason as many that have taken as long together.
        background::note_launch(self.module, (self.func, self.block), self.args, HOT);
    }

    fn code(&self, now: Option<&Arc<WideCode>>) -> Option<(Arc<WideCode>, bool)> {
        let found = self.module.wide.as_ref()?.code(self.func, self.block, self.args);
        found.filter(|(code, _)| now.is_none_or(|now| !Arc::ptr_eq(now, code)))
    }
}

/// The tier of a launch that has this wide code, or none.
pub fn tier(module: &CompiledModule, entry: &EntryPoint, wide: Option<&WideCode>) -> Tier {
    match wide {
        Some(code) => code.tier,
        None if entry.fibers => Tier::Fibers,
        None if module.is_good || module.tiers.are_good() => Tier::Good,
        None => Tier::Soon,
    }
}
