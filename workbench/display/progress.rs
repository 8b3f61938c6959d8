//! Progress of a benchmark in a notebook: a line that says how far it is, above the picture so far.

use crate::back::notebook;
use crate::bench::operator::OpBench;
use crate::bench::report::BenchReport;
use crate::bench::sampling::{Asking, Progress};
use crate::runtime::Result;

impl OpBench<'_> {
    /// Runs it. In a cell that lasts, a line says how far it is; the picture grows with the sizes.
    ///
    /// # Errors
    /// As [`OpBench::run_while`].
    pub fn run(self) -> Result<BenchReport> {
        let line = notebook::Line::default();
        let tell = |now: &Progress<'_>| line.show(&now.line(), &picture_so_far(&now.report));
        self.run_while(&Asking::notebook(Some(&tell)))
    }
}

/// The picture of a report that grows; none before it has two sizes.
fn picture_so_far(report: &BenchReport) -> String {
    if report.sizes().len() > 1 { report.plot().into_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::sample_report;

    #[test]
    fn a_picture_needs_two_sizes() {
        assert_eq!(picture_so_far(&sample_report(&[])), "");
        assert_eq!(picture_so_far(&sample_report(&[1024])), "");
        assert!(picture_so_far(&sample_report(&[1024, 2048])).starts_with("<svg"));
    }
}
