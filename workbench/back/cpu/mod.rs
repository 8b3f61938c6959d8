//! IR to machine code of this CPU, and its execution.
//!
//! [`lower`] turns functions into CLIF after a look at the whole of each ([`facts`]); [`make`] has machine code made of them, which
//! [`code`] keeps, and [`wide`] vector code of kernels that turn out to be hot; [`run`] runs ranges of blocks on the caller's thread and
//! the pool's. The interface between generated code and all of these is [`abi`]. Every access, division and call is checked in generated
//! code, which leaves through a status and never through a signal.
//!
//! Imports point one way: `math < abi < {facts, data, isa, stack, tier} < code < {image, lower} < run < wide < make < mod.rs`.

mod abi;
mod code;
mod data;
mod facts;
mod image;
mod isa;
mod lower;
mod make;
mod math;
mod run;
mod stack;
mod tier;
mod wide;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::back::{FaultKind, LaunchConfig, Outcome, RawArg, RawFault};
use crate::diagnostic::Diagnostic;
use crate::ir::{FuncId, Global, Module};
use crate::plural::plural;
use crate::source::Span;
use data::{Globals, Others};
use make::choose_tier::Later;
use make::compiled::CompiledModule;
use make::{background, build, choose_tier, plan, tier_report};
use run::bind::Binding;
use run::launch::{Better, BoundArgs, LaunchCode};
use run::schedule;

pub use abi::context::Side;
pub use code::kept_code::known;
pub use make::ahead::{Ahead, Claim, absent};
pub use make::background::{Settled, discard, forget_own, hurried, settle, settle_while};
pub use make::build::{prepare, prepare_part};
pub use make::tier_report::{TierReport, TierRow, TierState};
pub use math::special::erfinv;
pub use run::host::{Host, HostMemory, Lent, Raised, Refusal, Reply, Source, Word};
pub use run::pool::{Parts, share};
pub use tier::{Tier, Tiers};

/// Operations, estimated, of the smallest launch that is timed to find out whether its kernel is hot.
const MIN_TIMED_WORK: u64 = 20_000;

/// Machine code of one module. Clones share it; its memory is freed when the last holder lets go, and a running launch is
/// a holder.
#[derive(Clone)]
pub struct Code(Arc<CompiledModule>);

impl Code {
    /// Compiles every kernel and host function of a valid module, and the functions they call. The `__constant__` and `__device__` variables
    /// of `same`, compiled from the same text, are shared with it. A kernel made `ahead` is [`absent`] in the module and a part of the code.
    /// `None` where one could not be made after all, or where functions that are [`known`] turn out to be needed with their bodies.
    ///
    /// # Errors
    /// Constructs the CPU does not run yet, a limit on code size or stack, as diagnostics.
    pub fn compile(
        module: &Module,
        same: Option<&Code>,
        tier: Tier,
        ahead: Option<&Claim>,
    ) -> Result<Option<Code>, Vec<Diagnostic>> {
        let others = match (ahead.and_then(|claim| claim.globals.clone()), same) {
            (Some(first), _) => Others::First(first),
            (None, Some(code)) => Others::Program(code.0.image.globals.clone()),
            (None, None) => Others::None,
        };
        let globals = Arc::new(Globals::new(module, others));
        let compiled = build::build(module, globals, tier).map_err(|diag| vec![*diag])?;
        let Some(mut compiled) = compiled else { return Ok(None) };
        if let Some(claim) = ahead {
            let Some(ahead) = claim.modules() else { return Ok(None) };
            if ahead.iter().fold(compiled.stmts, |sum, made| sum + made.stmts) > plan::MAX_STMTS {
                return Ok(None);
            }
            for made in &ahead {
                let _ = made.image.all_globals.set(compiled.image.globals.clone());
                background::improve(made);
            }
            compiled.add(ahead);
        }
        let compiled = Arc::new(compiled);
        background::improve(&compiled);
        Ok(Some(Code(compiled)))
    }

    /// The part of the program that a function is in.
    fn part(&self, func: FuncId) -> &Arc<CompiledModule> {
        self.0.ahead.iter().find(|made| made.image.has(func)).unwrap_or(&self.0)
    }

    /// True if launches run the best code they ever will.
    pub fn is_settled(&self) -> bool {
        self.0.tiers.are_settled() && self.0.ahead.iter().all(|image| image.tiers.are_settled())
    }

    /// Runs a kernel over its grid, or a host function as one thread.
    pub fn launch(&self, func: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> Outcome {
        self.call(func, args, config).1
    }

    /// As [`Code::launch`], with the result of a host function: its bits, integers extended to 64 by their signedness.
    /// A function without a result, or one that faulted, gives none.
    pub fn call(&self, func: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> (Option<u64>, Outcome) {
        let deadline = config.timeout.and_then(|limit| Instant::now().checked_add(limit));
        let compiled = self.part(func);
        background::attend(compiled);
        let image = &*compiled.image;
        let Some(entry) = image.entries.get(func.index()).and_then(Option::as_ref) else {
            return (None, misuse(Span::NONE, format!("{func} cannot be launched")));
        };
        if args.len() != entry.params.len() {
            let wanted = plural(entry.params.len(), "argument");
            let detail = format!("`{}` takes {wanted}, not {}", entry.name, args.len());
            return (None, misuse(entry.span, detail));
        }
        if let Some((param, _)) =
            entry.params.iter().zip(args).find(|(p, a)| p.is_ptr == matches!(a, RawArg::Scalar(_)))
        {
            let wanted = if param.is_ptr { "an array" } else { "a number" };
            return (None, misuse(entry.span, format!("`{}` of `{}` is {wanted}", param.name, entry.name)));
        }
        let binding = Binding::new(image, entry, args, config);
        let words = binding.words(entry, args);
        let wide = match choose_tier::code(compiled, func, &words, config, deadline) {
            Ok(wide) => wide,
            Err((kind, detail)) => return (None, unlaunched(kind, entry.span, detail)),
        };
        // The clock costs more than a small launch.
        let work = config.grid.count().saturating_mul(config.block.count()).saturating_mul(entry.estimate);
        let may_improve = wide.as_ref().is_none_or(|(_, better)| *better);
        let may_be_wide = compiled.wide.is_some() && wide::may_be_wide(config.grid, config.block);
        let is_timed = may_be_wide && may_improve && work > MIN_TIMED_WORK;
        let later = Later { module: compiled, func, block: config.block, args: &words };
        let better = is_timed.then_some(&later as &dyn Better);
        let wide = wide.map(|(code, _)| code);
        let start = is_timed.then(Instant::now);
        if wide.is_none() && schedule::is_worth_good_code(entry, config) {
            background::settle_soon(&compiled.tiers);
        }
        let machine = compiled.tiers.now();
        let tier = choose_tier::tier(compiled, entry, wide.as_deref());
        let code = LaunchCode { machine, wide, tier, better };
        let bound = BoundArgs { descs: &binding.descs, derived: &binding.derived, args: &words, deadline };
        let (bits, outcome) = schedule::run(image, entry, code, &bound, config);
        if let Some(start) = start {
            background::note_launch(compiled, (func, config.block), &words, start.elapsed());
        }
        ((entry.returns && outcome.fault.is_none()).then_some(bits), outcome)
    }

    /// The bytes of module data as they are now.
    pub fn read_global(&self, global: Global) -> Option<Vec<u8>> {
        self.0.image.globals.read(global.index())
    }

    /// Replaces the bytes of module data; `false` when there are not as many.
    pub fn write_global(&self, global: Global, bytes: &[u8]) -> bool {
        self.0.image.globals.write(global.index(), bytes)
    }

    /// Bytes of static shared memory a block of a kernel takes.
    pub fn static_shared(&self, func: FuncId) -> u32 {
        self.0.image.entry(func).map_or(0, |e| e.shared.fixed)
    }

    /// The code that the last launch of a kernel ran: `soon`, `good`, `lanes`, `wide`, or `fibers`; none before the
    /// first.
    pub fn last_tier(&self, func: FuncId) -> Option<&'static str> {
        let entry = self.0.image.entry(func)?;
        Tier::of_number(entry.last.load(Ordering::Relaxed)).filter(|tier| *tier != Tier::Auto).map(Tier::name)
    }

    /// The C that a kernel becomes for blocks of a shape; or the reason that there is none, or that it did not compile.
    pub fn wide_text(&self, func: FuncId, block: super::Dim3) -> Result<String, String> {
        if !is_block(block) {
            return Err("no block is like that".to_owned());
        }
        let compiled = self.part(func);
        match &compiled.wide {
            Some(wide) => match wide.reason(func, block) {
                Some(why) => Err(why),
                None => wide.text(&compiled.image.globals, func, block),
            },
            None => Err(match wide::available() {
                Ok(()) => "it was compiled without a wide tier".to_owned(),
                Err(why) => format!("this machine has no wide tier: {why}"),
            }),
        }
    }

    /// The machine code that a kernel has for blocks of a shape, tier by tier.
    ///
    /// # Errors
    /// The function is no kernel, or no block is like that.
    pub fn tier_report(&self, func: FuncId, block: super::Dim3) -> Result<TierReport, String> {
        if !is_block(block) {
            return Err("no block is like that".to_owned());
        }
        let compiled = self.part(func);
        let entry = compiled.image.entry(func).ok_or("it is not launched")?;
        Ok(tier_report::report(compiled, entry, func, block))
    }

    /// The machine code of a function of the module this was compiled from, as text; of all functions without `func`.
    /// It is made anew at each call, and is the good code, whatever launches run now.
    pub fn asm(&self, module: &Module, func: Option<FuncId>) -> String {
        build::disassemble(module, func).unwrap_or_else(|diag| format!("; {}\n", diag.message))
    }
}

/// True if CUDA allows blocks of a shape.
fn is_block(block: super::Dim3) -> bool {
    block.count() > 0 && block.count() <= 1024 && block.z <= 64
}

/// A launch that does not fit the code; `runtime` checks arguments before it comes here.
fn misuse(span: Span, detail: String) -> Outcome {
    unlaunched(FaultKind::Device, span, detail)
}

/// A launch that has not begun.
fn unlaunched(kind: FaultKind, span: Span, detail: String) -> Outcome {
    let (block, thread) = ([0; 3], [0; 3]);
    let fault = RawFault { kind, span, block, thread, detail, related: None, kernel: None, called: None };
    Outcome { fault: Some(fault), ..Outcome::default() }
}

/// `Ok` if this machine can make wide code.
///
/// # Errors
/// A sentence that says what is missing.
pub fn wide_is_available() -> Result<(), &'static str> {
    wide::available()
}

/// Adds folders of Python packages to the places where a C compiler for wide code is looked for: the package `ziglang` brings one. It
/// must be called before the first hot kernel, which looks for the compiler.
pub fn look_in_packages(folders: impl IntoIterator<Item = std::path::PathBuf>) {
    wide::compiler::add_packages(folders);
}

/// Stops the compilers that run in the background, and removes their unfinished files: for a process that ends.
pub fn stop_compilers() {
    wide::compiler_process::end();
}
