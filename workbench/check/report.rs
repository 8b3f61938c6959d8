//! Reports of checks, as text and as data.

use std::fmt;

use serde::Serialize;

use super::compare::{Comparison, Mismatch, worse};
use crate::line_width::write_line;
use crate::ops::history::CheckNote;

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
        self
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
            None => {
                let (wrong, total, share) = (c.mismatches, c.total, c.share());
                format!("{}: {wrong} of {total} elements differ; worst element: {share}", output.name)
            }
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
        None => mismatch.unwritten.then(|| "nobody: it still holds the poison".to_owned()),
    }
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
            let facts = format!(
                "  {}: {} of {} elements differ; worst element: {} (rtol {:.2e}, atol {:.2e}); max abs {:.3e}, max rel {:.3e}, max ULP {}",
                output.name,
                c.mismatches,
                c.total,
                c.share(),
                c.tolerance.rtol,
                c.tolerance.atol,
                c.max_abs,
                c.max_rel,
                c.max_ulp
            );
            write_line(f, &facts)?;
            for m in &c.first {
                let row = format!(
                    "    {:<12} {:>16} instead of {:>16}   abs {:.2e}{}",
                    index(&m.index),
                    m.actual,
                    m.expected,
                    m.abs,
                    writer(m).map_or(String::new(), |who| format!("   written by {who}"))
                );
                write_line(f, &row)?;
            }
        }
        Ok(())
    }
}
