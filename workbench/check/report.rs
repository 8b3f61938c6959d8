//! Reports of checks, as text and as data.

use std::fmt;

use serde::Serialize;

use super::compare::{Comparison, Mismatch, linear, worse};
use crate::line_width::write_line;
use crate::ops::history::CheckNote;
use crate::runtime::Tensor;

/// The words for what results are compared with, where there are no others.
pub const REFERENCE: &str = "its reference";

/// One output compared with its reference.
#[derive(Debug, Clone, Serialize)]
pub struct OutputCheck {
    /// The output's name, or its number.
    pub name: String,
    /// The comparison.
    pub comparison: Comparison,
    /// The extents.
    pub shape: Vec<usize>,
    /// The element type.
    pub dtype: String,
    /// True if an element that differs depends on what the output held before the launch: it was read before it was written.
    pub read_early: bool,
    /// The thing that it was compared with, as the report has it.
    #[serde(skip)]
    pub against: String,
    /// True if NaN agrees with NaN.
    #[serde(skip)]
    pub equal_nan: bool,
    /// The elements, for pictures.
    #[serde(skip)]
    pub actual: Vec<f64>,
    /// The reference's elements, for pictures.
    #[serde(skip)]
    pub expected: Vec<f64>,
    /// ULP distances, for pictures.
    #[serde(skip)]
    pub ulps: Vec<f64>,
}

/// The report of [`crate::check::check`].
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// The name of the operator or function that was checked.
    pub name: String,
    /// The thing that it was compared with, in words: "its reference", "version 2".
    pub against: String,
    /// True if every output agrees.
    pub passed: bool,
    /// One entry per output.
    pub outputs: Vec<OutputCheck>,
}

impl CheckReport {
    /// Sets what it was compared with.
    #[must_use]
    pub fn with_against(mut self, against: impl Into<String>) -> Self {
        self.against = against.into();
        for output in &mut self.outputs {
            output.against.clone_from(&self.against);
            let why = output.comparison.incomparable.take();
            output.comparison.incomparable = why.map(|why| output.in_words(&why));
        }
        self
    }

    /// Notes which outputs were read before they were written: elements that differ from the reference, are the same in a call that is made
    /// `again`, and others in one whose outputs were `zeroed`. Elements that nobody wrote say nothing.
    pub fn note_early_reads(&mut self, again: &[Tensor], zeroed: &[Tensor]) {
        for (output, (again, zeroed)) in self.outputs.iter_mut().zip(again.iter().zip(zeroed)) {
            let (again, zeroed) = (again.to_f64_vec(), zeroed.to_f64_vec());
            let tolerance = output.comparison.tolerance;
            let is_early = |m: &&Mismatch| {
                let at = linear(&m.index, &output.shape);
                let (Some(&got), Some(&again), Some(&zeroed)) = (output.actual.get(at), again.get(at), zeroed.get(at))
                else {
                    return false;
                };
                let is_near = got.to_bits() == zeroed.to_bits() || (got - zeroed).abs() <= tolerance.of(got);
                !m.unwritten && got.to_bits() == again.to_bits() && !is_near
            };
            output.read_early = output.comparison.listed().any(|m| is_early(&m));
        }
    }

    /// Largest absolute error of any output; infinite and NaN as [`Comparison::max_abs`].
    pub fn max_abs(&self) -> f64 {
        self.outputs.iter().map(|o| o.comparison.max_abs).fold(0.0, worse)
    }

    /// Largest relative error of any output; infinite and NaN as [`Comparison::max_rel`].
    pub fn max_rel(&self) -> f64 {
        self.outputs.iter().map(|o| o.comparison.max_rel).fold(0.0, worse)
    }

    /// Largest share of its tolerance of any output; infinite and NaN as [`Comparison::max_share`].
    pub fn max_share(&self) -> f64 {
        self.outputs.iter().map(|o| o.comparison.max_share).fold(0.0, worse)
    }

    /// Largest ULP distance of any output; infinite and NaN as [`Comparison::max_ulp`].
    pub fn max_ulp(&self) -> f64 {
        self.outputs.iter().map(|o| o.comparison.max_ulp).fold(0.0, worse)
    }

    /// The note that the history of an operator keeps of it.
    pub fn note(&self) -> CheckNote {
        CheckNote { passed: self.passed, mismatches: self.mismatches(), max_share: self.max_share() }
    }

    /// The fact about the first output that does not agree, in a sentence; `None` where all agree.
    pub fn first_fact(&self) -> Option<String> {
        let output = self.outputs.iter().find(|output| !output.comparison.passed)?;
        let c = &output.comparison;
        Some(match &c.incomparable {
            Some(why) => format!("{}: {why}", output.name),
            None if !output.has_errors() => format!("{}: {}", output.name, output.verdict()),
            None => format!("{}: {}; {}: {}", output.name, output.verdict(), output.worst_name(), c.share()),
        })
    }

    /// True if the writers of the elements have to tell whether all of an output was written.
    pub fn needs_writers(&self) -> bool {
        self.outputs.iter().any(OutputCheck::needs_writers)
    }

    /// The number of elements that do not agree because nobody wrote them.
    pub fn unwritten(&self) -> usize {
        self.outputs.iter().map(|o| o.comparison.unwritten.len()).sum()
    }

    /// The mismatch whose error takes the largest share of its tolerance, and its output; `None` where there is none that somebody wrote.
    pub fn worst(&self) -> Option<(&OutputCheck, &Mismatch)> {
        let found = self.outputs.iter().filter_map(|o| Some((o, o.comparison.worst.as_ref()?)));
        // A share is no number where an element is none, which is as bad as an infinite one.
        let share = |o: &OutputCheck| match o.comparison.max_share {
            share if share.is_nan() => f64::INFINITY,
            share => share,
        };
        found.fold(None, |best, one| match best {
            Some((output, _)) if share(output) >= share(one.0) => best,
            _ => Some(one),
        })
    }

    /// The number of elements that do not agree.
    pub fn mismatches(&self) -> usize {
        self.outputs.iter().map(|o| o.comparison.mismatches).sum()
    }

    /// The report as JSON. Numbers that are not finite are the texts `"NaN"`, `"Infinity"` and `"-Infinity"`; integers have all their digits.
    ///
    /// # Errors
    /// [`crate::Error::Other`] where it cannot be written.
    pub fn to_json(&self) -> crate::runtime::Result<String> {
        Ok(crate::json::text(self)?)
    }
}

impl OutputCheck {
    /// The thing that it was compared with, as pictures call it: "the reference", "version 2".
    pub fn other(&self) -> &str {
        if self.against == REFERENCE { "the reference" } else { &self.against }
    }

    /// A text about the reference as one about what it was compared with.
    pub fn in_words(&self, text: &str) -> String {
        text.replace("the reference", self.other())
    }

    /// The mismatches in words: "3 of 8 elements differ, 2 of which nobody wrote".
    pub fn verdict(&self) -> String {
        let c = &self.comparison;
        let differ = format!("{} of {} elements differ", c.mismatches, c.total);
        let (own, other, left_out) = (c.unwritten.len(), c.expected_unwritten.len(), c.left_out());
        let who = match (own, other) {
            (0, 0) => return differ,
            (_, 0) => "nobody wrote".to_owned(),
            (0, _) => format!("{} leaves out", self.other()),
            _ if own == left_out && other == left_out => "neither side wrote".to_owned(),
            _ => "one side leaves out".to_owned(),
        };
        match (left_out == c.mismatches, left_out) {
            (false, _) => format!("{differ}, {left_out} of which {who}"),
            (true, 1) => format!("{differ}, which {who}"),
            (true, _) => format!("{differ}, all of which {who}"),
        }
    }

    /// True if the writers of the elements have to tell whether all of it was written: it differs, or some of it has the bytes of the poison.
    pub fn needs_writers(&self) -> bool {
        !self.comparison.passed || self.comparison.has_poison[0]
    }

    /// True if some element was written on both sides, so that there are errors.
    pub fn has_errors(&self) -> bool {
        self.comparison.total == 0 || self.comparison.left_out() < self.comparison.total
    }

    /// An element of a mismatch as text, or of what it is compared with: `-`, where nobody wrote it.
    fn shown(&self, mismatch: &Mismatch, other: bool) -> String {
        match (other, mismatch.unwritten, mismatch.expected_unwritten) {
            (false, true, _) | (true, _, true) => "-".to_owned(),
            (false, ..) => mismatch.actual.to_string(),
            (true, ..) => mismatch.expected.to_string(),
        }
    }

    /// The name of the largest share: of the elements that were written, where some were not.
    pub fn worst_name(&self) -> &'static str {
        if self.comparison.left_out() == 0 { "worst element" } else { "worst of the others" }
    }

    /// Notes on the elements that differ, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.read_early {
            notes.push(format!(
                "`{}` was read before it was written; outputs are not zeroed (as torch.empty)",
                self.name
            ));
        }
        match self.comparison.both_nan {
            0 => {}
            1 => notes.push("1 of them is NaN on both sides; equal_nan=True lets NaN agree with NaN".to_owned()),
            n => notes.push(format!("{n} of them are NaN on both sides; equal_nan=True lets NaN agree with NaN")),
        }
        notes
    }
}

/// An index as Python writes it.
pub fn index(index: &[usize]) -> String {
    format!("[{}]", index.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

/// The thread that wrote an element, in words; `None` where it is not known, as for results of no kernel.
pub fn writer(mismatch: &Mismatch) -> Option<String> {
    match mismatch.writer {
        Some(w) => {
            let triple = |t: [u32; 3]| format!("({}, {}, {})", t[0], t[1], t[2]);
            Some(format!("block {} thread {}", triple(w.block), triple(w.thread)))
        }
        None if mismatch.unwritten => Some("nobody: it still holds the poison".to_owned()),
        None => mismatch.kept.then(|| "nobody: it keeps its value".to_owned()),
    }
}

/// The place of a mismatch among those that are listed, in words; empty for one of the first.
fn place(mismatch: &Mismatch, first: &[Mismatch]) -> &'static str {
    if first.iter().any(|m| m.index == mismatch.index) { "" } else { "   the worst" }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed { "agrees with" } else { "DIFFERS from" };
        write_line(f, &format!("{} {verdict} {}", self.name, self.against))?;
        for output in &self.outputs {
            let c = &output.comparison;
            if let Some(why) = &c.incomparable {
                write_line(f, &format!("  {}: {why}", output.name))?;
                continue;
            }
            let verdict = output.verdict();
            let facts = match output.has_errors() {
                false => format!("  {}: {verdict}", output.name),
                true => format!(
                    "  {}: {verdict}; {}: {} (rtol {:.2e}, atol {:.2e}); max abs {:.3e}, max rel {:.3e}, max ULP {}",
                    output.name,
                    output.worst_name(),
                    c.share(),
                    c.tolerance.rtol,
                    c.tolerance.atol,
                    c.max_abs,
                    c.max_rel,
                    c.max_ulp
                ),
            };
            write_line(f, &facts)?;
            for m in c.listed() {
                let abs =
                    if m.unwritten || m.expected_unwritten { String::new() } else { format!("   abs {:.2e}", m.abs) };
                let row = format!(
                    "    {:<12} {:>16} instead of {:>16}{abs}{}{}",
                    index(&m.index),
                    output.shown(m, false),
                    output.shown(m, true),
                    writer(m).map_or(String::new(), |who| format!("   written by {who}")),
                    place(m, &c.first)
                );
                write_line(f, &row)?;
            }
            for note in output.notes() {
                write_line(f, &format!("    note: {note}"))?;
            }
        }
        Ok(())
    }
}
