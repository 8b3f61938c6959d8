//! The tier report: which machine code a kernel has for blocks of a shape, which it may still get, and why it has no other.

use std::fmt;
use std::sync::atomic::Ordering;

use super::compiled::CompiledModule;
use crate::back::Dim3;
use crate::back::cpu::image::EntryPoint;
use crate::back::cpu::tier::Tier;
use crate::back::cpu::wide::{self, HOT, Wide};
use crate::back::lane::not_vectorised::Left;
use crate::ir::FuncId;
use crate::line_width::folded;

/// The machine code of one kernel for blocks of one shape, tier by tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierReport {
    /// The kernel's name.
    pub kernel: String,
    /// The extents of its blocks.
    pub block: Dim3,
    /// The code that its last launch ran, with blocks of any shape; `None` before the first.
    pub last: Option<&'static str>,
    /// `soon`, `good`, `lanes` and `wide`, in this order.
    pub rows: Vec<TierRow>,
}

/// The state of a kernel in one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierRow {
    /// The tier's name.
    pub tier: &'static str,
    /// The state of its code.
    pub state: TierState,
    /// Other facts about it, a sentence each.
    pub notes: Vec<String>,
}

/// The state of a tier's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TierState {
    /// The code has been made.
    Made,
    /// The code has not been made yet; the text says what makes it.
    Later(String),
    /// There will be no code; the text says why.
    Never(String),
}

impl TierState {
    /// `made`, `not yet` or `none`.
    pub fn name(&self) -> &'static str {
        match self {
            TierState::Made => "made",
            TierState::Later(_) => "not yet",
            TierState::Never(_) => "none",
        }
    }

    /// The event that makes the code, or the reason there is none.
    pub fn why(&self) -> Option<&str> {
        match self {
            TierState::Made => None,
            TierState::Later(why) | TierState::Never(why) => Some(why),
        }
    }
}

impl fmt::Display for TierReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dim3 { x, y, z } = self.block;
        write!(f, "{} in blocks of {x} x {y} x {z}; ", self.kernel)?;
        match self.last {
            Some(tier) => writeln!(f, "the last launch ran {tier} code")?,
            None => writeln!(f, "it has not been launched")?,
        }
        for row in &self.rows {
            let head = format!("  {:<6} {:<8}", row.tier, row.state.name());
            let notes = row.state.why().into_iter().chain(row.notes.iter().map(String::as_str));
            let mut lines: Vec<String> = notes.flat_map(|note| folded(&format!("{:17}{note}", ""))).collect();
            match lines.first_mut() {
                Some(first) => first.replace_range(..head.len(), &head),
                None => lines.push(head.trim_end().to_owned()),
            }
            lines.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        }
        Ok(())
    }
}

/// The report of a kernel; its lanes are made for it, which takes some milliseconds, and thrown away.
pub fn report(compiled: &CompiledModule, entry: &EntryPoint, func: FuncId, block: Dim3) -> TierReport {
    let last = Tier::of_number(entry.last.load(Ordering::Relaxed)).filter(|tier| *tier != Tier::Auto).map(Tier::name);
    let is_good = compiled.is_good || compiled.tiers.are_good();
    let soon =
        if compiled.is_good { TierState::Never("good code was made at once".to_owned()) } else { TierState::Made };
    let good =
        if is_good { TierState::Made } else { TierState::Later("a thread makes it in the background".to_owned()) };
    let mut good_notes = Vec::new();
    if entry.fibers {
        good_notes
            .push("threads of a block wait for one another, so each is a fiber, with a stack of its own".to_owned());
    }
    let row = |tier: Tier, state, notes| TierRow { tier: tier.name(), state, notes };
    let mut rows = vec![row(Tier::Soon, soon, Vec::new()), row(Tier::Good, good, good_notes)];
    match &compiled.wide {
        Some(wide) => {
            let (state, notes) = lanes(compiled, wide, func, block);
            rows.push(row(Tier::Lanes, state, notes));
            rows.push(row(Tier::Wide, by_compiler(compiled, wide, func, block), Vec::new()));
        }
        None => {
            let why = "it was compiled for other tiers alone (`set_tier`), or this processor has none";
            for tier in [Tier::Lanes, Tier::Wide] {
                rows.push(row(tier, TierState::Never(why.to_owned()), Vec::new()));
            }
        }
    }
    TierReport { kernel: entry.name.clone(), block, last, rows }
}

/// The event that makes vector code where launches wait for it.
const FIRST: &str = "the first launch makes it";

/// The event that makes vector code elsewhere.
fn later() -> String {
    format!("launches that take {} ms in all make it", HOT.as_millis())
}

fn lanes(compiled: &CompiledModule, wide: &Wide, func: FuncId, block: Dim3) -> (TierState, Vec<String>) {
    let (loops, left) = match wide.try_lanes(&compiled.image.globals, func, block) {
        Ok(found) => found,
        Err(why) => return (TierState::Never(why), Vec::new()),
    };
    let mut notes = Vec::new();
    if loops > 0 || !left.is_empty() {
        notes.push(format!("in the widest registers: {loops} of {} loops and stretches", loops + left.len()));
    }
    notes.extend(counted(&left));
    let steered = wide.count_steered(func, block);
    if steered > 0 {
        notes.push(format!("also made for the values that scalars had in {steered} kinds of launches"));
    }
    let state = if wide.is_by_compiler() && wide.is_wanted_now() {
        TierState::Never("it was compiled for wide code (`set_tier`)".to_owned())
    } else {
        match wide.made(func, block) {
            Some(code) if code.tier == Tier::Lanes => TierState::Made,
            Some(_) => TierState::Never("wide code has taken its place".to_owned()),
            None => TierState::Later(if wide.is_wanted_now() { FIRST.to_owned() } else { later() }),
        }
    };
    (state, notes)
}

/// The reasons, each once, with the number of times where it is more than one.
fn counted(left: &[Left]) -> Vec<String> {
    let mut sentences: Vec<(String, usize)> = Vec::new();
    for left in left {
        let sentence = left.to_string();
        match sentences.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, count)) => *count += 1,
            None => sentences.push((sentence, 1)),
        }
    }
    let times = |(sentence, count)| if count > 1 { format!("{sentence} ({count} times)") } else { sentence };
    sentences.into_iter().map(times).collect()
}

fn by_compiler(compiled: &CompiledModule, wide: &Wide, func: FuncId, block: Dim3) -> TierState {
    if !wide.is_by_compiler() {
        return TierState::Never(match wide::available() {
            Ok(()) => "it was compiled for lanes (`set_tier`)".to_owned(),
            Err(why) => format!("this machine makes none: {why}"),
        });
    }
    if wide.made(func, block).is_some_and(|code| code.tier == Tier::Wide) {
        return TierState::Made;
    }
    if let Some(why) = wide.reason(func, block) {
        return TierState::Never(why);
    }
    match wide.text(&compiled.image.globals, func, block) {
        Ok(_) if wide.is_wanted_now() => TierState::Later(FIRST.to_owned()),
        Ok(_) => TierState::Later(later()),
        Err(why) => TierState::Never(why),
    }
}
