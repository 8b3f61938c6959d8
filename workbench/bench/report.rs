//! Results of a sweep: rows of numbers, verdicts, and the policy of the measurement; shown as an aligned table.

use std::fmt;

use serde::Serialize;

use super::machine::Machine;
use super::sampling::CachePolicy;
use super::stats::{self, CONFIDENCE, Outcome, Verdict};
use super::units;
use crate::line_width::{folded, write_line};
use crate::ops::Op;
use crate::ops::history::TimeNote;

/// One contestant at one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchRow {
    /// The contestant.
    pub name: String,
    /// The size.
    pub size: u64,
    /// Median seconds per call.
    pub median_s: f64,
    /// Lower end of the median's interval.
    pub ci_low: f64,
    /// Upper end of the median's interval.
    pub ci_high: f64,
    /// The probability with which the interval holds the true median.
    pub coverage: f64,
    /// Arithmetic mean.
    pub mean_s: f64,
    /// Smallest sample.
    pub min_s: f64,
    /// Largest sample.
    pub max_s: f64,
    /// Scaled median absolute deviation.
    pub mad_s: f64,
    /// Samples further than 3.5 MADs from the median; they are part of every number here.
    pub outliers: usize,
    /// The number of samples.
    pub samples: usize,
    /// Calls in a sample.
    pub batch: u64,
    /// Bytes a call moves, where known.
    pub bytes: Option<u64>,
    /// Operations on floats that a call does, where known.
    pub flops: Option<u64>,
    /// The tiers of the machine code that the samples ran, as `wide`; `None` where they launched nothing on the CPU.
    pub tier: Option<String>,
    /// Every sample, seconds per call, by round.
    pub times_s: Vec<f64>,
}

impl BenchRow {
    /// The row of these samples.
    pub fn from_samples(name: &str, size: u64, batch: u64, times_s: Vec<f64>) -> Self {
        let interval = stats::median_interval(&times_s, CONFIDENCE);
        let ascending = stats::sorted(&times_s);
        BenchRow {
            name: name.to_owned(),
            size,
            median_s: interval.median,
            ci_low: interval.low,
            ci_high: interval.high,
            coverage: interval.coverage,
            mean_s: stats::mean(&times_s),
            min_s: stats::quantile(&ascending, 0.0),
            max_s: stats::quantile(&ascending, 1.0),
            mad_s: stats::mad(&times_s),
            outliers: stats::outliers(&times_s),
            samples: times_s.len(),
            batch,
            bytes: None,
            flops: None,
            tier: None,
            times_s,
        }
    }

    /// Bytes per second at the median, where the bytes are known.
    pub fn rate(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / self.median_s).filter(|r| r.is_finite())
    }

    /// Operations on floats per second at the median, where they are known.
    pub fn flop_rate(&self) -> Option<f64> {
        self.flops.map(|flops| flops as f64 / self.median_s).filter(|r| r.is_finite())
    }
}

/// The policy by which a sweep was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// Level of every interval.
    pub confidence: f64,
    /// The overhead that was subtracted from every sample.
    pub timer_overhead_s: f64,
    /// The time up to which calls were batched into a sample.
    pub min_sample_s: f64,
    /// The time that a contestant ran unmeasured before the samples.
    pub warm_up_s: f64,
    /// Time for sampling at each size.
    pub target_time_per_size_s: f64,
    /// Most samples of a contestant at a size.
    pub max_rounds: usize,
}

/// A sweep of contestants over sizes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchReport {
    /// The title: the thing that was timed; may be empty.
    pub title: String,
    /// The name of the size, such as `n`.
    pub size_name: String,
    /// All rows, by size in the order measured, then by contestant.
    pub rows: Vec<BenchRow>,
    /// The machine it was measured on.
    pub machine: Machine,
    /// The contents of the caches when a sample began.
    pub cache: CachePolicy,
    /// The policy by which it was measured.
    pub policy: Policy,
    /// Notes for the reader, such as sizes left out.
    pub notes: Vec<String>,
}

/// The score of the first contestant against another over all sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Tally {
    faster: usize,
    slower: usize,
    same: usize,
    open: usize,
}

impl BenchReport {
    /// Notes the times of a contestant in the history of an operator, whose version of this number it was.
    pub fn note_in(&self, op: &Op, number: u32, contestant: &str) {
        let own = self.rows.iter().filter(|row| row.name == contestant);
        let note =
            |row: &BenchRow| TimeNote { size: row.size, seconds: row.median_s, low: row.ci_low, high: row.ci_high };
        op.note_times(number, own.map(note).collect());
    }

    /// Sets the title of the sweep.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the number of bytes that a call of a contestant moves at a size, so that throughput can be shown.
    #[must_use]
    pub fn with_bytes(mut self, bytes: impl Fn(&str, u64) -> Option<u64>) -> Self {
        for row in &mut self.rows {
            row.bytes = bytes(&row.name, row.size);
        }
        self
    }

    /// Sets the number of operations on floats that a call of a contestant does at a size.
    #[must_use]
    pub fn with_flops(mut self, flops: impl Fn(&str, u64) -> Option<u64>) -> Self {
        for row in &mut self.rows {
            row.flops = flops(&row.name, row.size);
        }
        self
    }

    /// The contestants, in the order given.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.name.as_str()) {
                names.push(&row.name);
            }
        }
        names
    }

    /// The sizes, in the order measured.
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = Vec::new();
        for row in &self.rows {
            if !sizes.contains(&row.size) {
                sizes.push(row.size);
            }
        }
        sizes
    }

    /// The row of a contestant at a size.
    pub fn row(&self, name: &str, size: u64) -> Option<&BenchRow> {
        self.rows.iter().find(|r| r.size == size && r.name == name)
    }

    /// The verdict on `a` against `b` at a size; `None` where either was not measured.
    pub fn verdict(&self, a: &str, b: &str, size: u64) -> Option<Verdict> {
        Some(stats::verdict(&self.row(a, size)?.times_s, &self.row(b, size)?.times_s))
    }

    /// One sentence for each contestant after the first: how the first compares with it, over all sizes.
    pub fn headlines(&self) -> Vec<String> {
        let names = self.names();
        let Some((first, others)) = names.split_first() else { return Vec::new() };
        others.iter().map(|other| self.headline(first, other)).collect()
    }

    fn headline(&self, first: &str, other: &str) -> String {
        let verdicts: Vec<Verdict> = self.sizes().iter().filter_map(|&s| self.verdict(first, other, s)).collect();
        if let [only] = verdicts.as_slice() {
            return format!("{first} against {other}: {only}");
        }
        let mut tally = Tally::default();
        for verdict in &verdicts {
            match verdict.outcome {
                Outcome::Faster => tally.faster += 1,
                Outcome::Slower => tally.slower += 1,
                Outcome::NoDifference => tally.same += 1,
                Outcome::Undecided | Outcome::TooFew => tally.open += 1,
            }
        }
        let parts = [
            (tally.faster, "faster"),
            (tally.same, "no difference shown"),
            (tally.slower, "slower"),
            (tally.open, "undecided"),
        ];
        let said: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what} at {count}")).collect();
        format!("{first} against {other}: {} of {} sizes", said.join(", "), verdicts.len())
    }

    /// One sentence on the method of the measurement.
    pub fn method(&self) -> String {
        let cache = match self.cache {
            CachePolicy::Warm => "caches warm",
            CachePolicy::Flush => "caches flushed before every sample",
        };
        let samples = self.rows.iter().map(|r| r.samples);
        let samples = match (samples.clone().min(), samples.max()) {
            (Some(low), Some(high)) if low != high => format!("{low} to {high} samples"),
            (Some(low), _) => format!("{low} samples"),
            _ => "no samples".to_owned(),
        };
        format!(
            "medians with {:.0} % intervals, {samples} in interleaved rounds, {cache}, clock overhead of {} taken off",
            self.policy.confidence * 100.0,
            units::seconds(self.policy.timer_overhead_s),
        )
    }

    /// One sentence on the machine code that contestants ran: `machine code: mine wide, version 1 good at 64, wide at 1 Ki`. `None` where
    /// none ran a kernel on the CPU.
    pub fn code(&self) -> Option<String> {
        let said: Vec<String> = self.names().into_iter().filter_map(|name| self.code_of(name)).collect();
        (!said.is_empty()).then(|| format!("machine code: {}", said.join("; ")))
    }

    fn code_of(&self, name: &str) -> Option<String> {
        let mut by_tier: Vec<(&str, Vec<String>)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.name == name) {
            let Some(tier) = row.tier.as_deref() else { continue };
            match by_tier.iter_mut().find(|(known, _)| *known == tier) {
                Some((_, sizes)) => sizes.push(units::count(row.size)),
                None => by_tier.push((tier, vec![units::count(row.size)])),
            }
        }
        match by_tier.as_slice() {
            [] => None,
            [(tier, _)] => Some(format!("{name} {tier}")),
            several => {
                let parts: Vec<String> =
                    several.iter().map(|(tier, sizes)| format!("{tier} at {}", sizes.join(" and "))).collect();
                Some(format!("{name} {}", parts.join(", ")))
            }
        }
    }

    /// The report as JSON. Numbers that are not finite are the texts `"NaN"`, `"Infinity"` and `"-Infinity"`.
    ///
    /// # Errors
    /// [`crate::Error::Other`] where it cannot be written.
    pub fn to_json(&self) -> crate::runtime::Result<String> {
        Ok(crate::json::text(self)?)
    }

    /// The rows as comma-separated values (RFC 4180): times in seconds, and the samples left out.
    pub fn csv(&self) -> String {
        let mut text = Vec::new();
        // A `Vec` takes whatever is written.
        let mut written = csv::Writer::from_writer(&mut text);
        let head = [
            "name", "size", "median", "low", "high", "mean", "min", "max", "samples", "batch", "bytes", "flops", "tier",
        ];
        let _ = written.write_record(head);
        for row in &self.rows {
            let times = [row.median_s, row.ci_low, row.ci_high, row.mean_s, row.min_s, row.max_s];
            let mut cells = vec![row.name.clone(), row.size.to_string()];
            cells.extend(times.map(|time| format!("{time:e}")));
            cells.extend([row.samples.to_string(), row.batch.to_string()]);
            cells.extend([row.bytes, row.flops].map(|work| work.map_or_else(String::new, |count| count.to_string())));
            cells.push(row.tier.clone().unwrap_or_default());
            let _ = written.write_record(cells);
        }
        drop(written);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Column titles and cells of the table, with verdicts against the first contestant; the text as people see it.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let names = self.names();
        let several = names.len() > 1;
        let with_rate = self.rows.iter().any(|r| r.bytes.is_some());
        let with_flops = self.rows.iter().any(|r| r.flops.is_some());
        let mut head = vec![self.size_name.clone(), "name".to_owned(), "median".to_owned(), "interval".to_owned()];
        if with_rate {
            head.push("throughput".to_owned());
        }
        if with_flops {
            head.push("arithmetic".to_owned());
        }
        if several {
            head.push(format!("against {}", names[0]));
        }
        let mut previous = None;
        let mut cells = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let size = if previous == Some(row.size) { String::new() } else { units::count(row.size) };
            previous = Some(row.size);
            let mut line = vec![
                size,
                row.name.clone(),
                units::seconds(row.median_s),
                units::seconds_range(row.ci_low, row.ci_high),
            ];
            if with_rate {
                line.push(row.rate().map_or_else(|| units::MISSING.to_owned(), units::rate));
            }
            if with_flops {
                line.push(row.flop_rate().map_or_else(|| units::MISSING.to_owned(), units::flop_rate));
            }
            if several {
                let verdict = (row.name != names[0]).then(|| self.verdict(&row.name, names[0], row.size)).flatten();
                line.push(verdict.map(|v| v.to_string()).unwrap_or_default());
            }
            cells.push(line);
        }
        (head, cells)
    }
}

/// The columns of [`BenchReport::table`] that hold numbers, and so are aligned to the right.
pub fn is_numeric(title: &str, column: usize) -> bool {
    column == 0 || matches!(title, "median" | "interval" | "throughput" | "arithmetic")
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.title.is_empty() {
            writeln!(f, "{}", self.title)?;
        }
        for headline in self.headlines() {
            write_line(f, &headline)?;
        }
        let (head, cells) = self.table();
        let width = |column: usize| {
            let all = cells.iter().map(|line| &line[column]).chain([&head[column]]);
            all.map(|text| text.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        for line in [&head].into_iter().chain(&cells) {
            let mut text = String::new();
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                text.push_str("  ");
                if is_numeric(&head[column], column) {
                    text.push_str(&format!("{cell:>width$}"));
                } else {
                    text.push_str(&format!("{cell:<width$}"));
                }
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        for note in &self.notes {
            write_line(f, &format!("note: {note}"))?;
        }
        if let Some(code) = self.code() {
            write_line(f, &code)?;
        }
        write_line(f, &self.method())?;
        write!(f, "{}", folded(&self.machine.to_string()).join("\n"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;

    use super::super::stats::tests::Random;
    use super::*;

    /// A report with fixed numbers: two contestants over the sizes, `other` slower by 1.8 below 1 Mi and equal above.
    pub(crate) fn sample_report(sizes: &[u64]) -> BenchReport {
        let mut random = Random(1);
        let mut times = |median: f64| (0..25).map(|_| median * (0.97 + 0.06 * random.uniform())).collect::<Vec<_>>();
        let mut rows = Vec::new();
        for &size in sizes {
            let base = 1e-6 + size as f64 * 2.5e-10;
            let factor = if size >= 1 << 20 { 1.0 } else { 1.8 };
            rows.push(BenchRow::from_samples("mine", size, 32, times(base)));
            rows.push(BenchRow::from_samples("numpy", size, 16, times(base * factor)));
        }
        BenchReport {
            title: "muladd".into(),
            size_name: "n".into(),
            rows,
            machine: Machine {
                cpu: "Test CPU".into(),
                cores: 4,
                last_level_cache: Some(32 << 20),
                platform: "linux x86_64".into(),
                debug_build: false,
            },
            cache: CachePolicy::Warm,
            policy: Policy {
                confidence: 0.95,
                timer_overhead_s: 21e-9,
                min_sample_s: 50e-6,
                warm_up_s: 0.01,
                target_time_per_size_s: 0.2,
                max_rounds: 200,
            },
            notes: vec![],
        }
    }

    #[test]
    fn the_table_is_aligned_and_says_how_it_was_measured() {
        let report = sample_report(&[1024, 65_536, 1 << 20]).with_bytes(|_, n| Some(16 * n));
        expect![[r#"
            muladd
            mine against numpy: faster at 2, no difference shown at 1 of 3 sizes
                  n  name    median      interval  throughput  against mine
               1 Ki  mine   1.26 µs  1.24–1.27 µs   13.0 GB/s
                     numpy  2.25 µs  2.23–2.30 µs   7.29 GB/s  slower by 1.81x (1.78–1.82)
              64 Ki  mine   17.4 µs  17.3–17.5 µs   60.2 GB/s
                     numpy  31.5 µs  31.2–31.8 µs   33.3 GB/s  slower by 1.81x (1.78–1.83)
               1 Mi  mine    264 µs    260–265 µs   63.5 GB/s
                     numpy   263 µs    261–267 µs   63.8 GB/s  no difference shown (0.99–1.01)
            medians with 95 % intervals, 25 samples in interleaved rounds, caches warm,
                clock overhead of 21.0 ns taken off
            Test CPU, 4 cores, last-level cache 32 MiB, linux x86_64"#]]
        .assert_eq(&report.to_string());
    }

    #[test]
    fn empty_one_row_and_nan_reports_show_themselves() {
        let mut report = sample_report(&[]);
        assert!(report.to_string().contains("no samples"));
        report.rows = vec![BenchRow::from_samples("only", 7, 1, vec![])];
        assert!(report.to_string().contains("only"));
        report.rows.push(BenchRow::from_samples("nan", 7, 1, vec![f64::NAN, f64::INFINITY]));
        assert!(report.to_string().contains("too few rounds to say"));
        assert!(report.to_json().is_ok_and(|json| json.contains("\"median_s\": \"NaN\"")));
    }

    #[test]
    fn the_machine_code_of_each_contestant_is_told() {
        let mut report = sample_report(&[64, 1024, 4096]);
        assert_eq!(report.code(), None);
        for (row, tier) in report.rows.iter_mut().zip([Some("good"), None, Some("wide"), None, Some("wide"), None]) {
            row.tier = tier.map(str::to_owned);
        }
        assert_eq!(report.code().unwrap(), "machine code: mine good at 64, wide at 1 Ki and 4 Ki");
        report.rows.iter_mut().for_each(|row| row.tier = Some("lanes".to_owned()));
        assert_eq!(report.code().unwrap(), "machine code: mine lanes; numpy lanes");
        assert!(report.to_string().contains("\nmachine code: mine lanes; numpy lanes\n"));
        assert!(report.csv().lines().nth(1).unwrap().ends_with(",lanes"));
    }

    #[test]
    fn verdicts_are_looked_up_by_name() {
        let report = sample_report(&[1024]);
        let verdict = report.verdict("mine", "numpy", 1024).map(|v| v.outcome);
        assert_eq!(verdict, Some(Outcome::Faster));
        assert_eq!(report.verdict("mine", "nobody", 1024), None);
    }
}
