//! The outcome of a tuning: one row for each configuration, and which of them is best.

use std::fmt;

use serde::Serialize;

use crate::bench::elimination::Standing;
use crate::bench::units;
use crate::line_width::folded;
use crate::runtime::{Error, Result};

/// How much slower than the best of the last round is near it.
const NEAR: f64 = 1.5;

/// The share of a time that is no difference: intervals of many configurations miss it by chance, and code is faster or slower by where it lies.
const MARGIN: f64 = 0.01;

/// The words for a configuration that is not told apart from the best.
const NO_DIFFERENCE: &str = "no difference shown";

/// Rows of the table as text.
const SHOWN: usize = 12;

/// A parameter: its name and the texts of its values, in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
}

/// The outcome of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Right: it was made and agrees with the reference, if there is one.
    Ok,
    /// Other than the reference.
    Wrong,
    /// Neither made nor run.
    Failed,
    /// Lost with the worker that measured it.
    Lost,
}

impl Status {
    /// `ok`, `wrong`, `failed` or `lost`.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Wrong => "wrong",
            Status::Failed => "failed",
            Status::Lost => "lost",
        }
    }

    /// The status of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Status::Ok, Status::Wrong, Status::Failed, Status::Lost].into_iter().find(|status| status.name() == name)
    }
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TuneRow {
    /// The texts of its values, in the order of the parameters.
    pub config: Vec<String>,
    /// Its outcome.
    pub status: Status,
    /// The reason where it is not ok.
    pub message: String,
    /// Its times, where it was timed: a stop may come between its check and its timing.
    pub standing: Option<Standing>,
    /// The machine that measured it, where there are several.
    pub machine: String,
}

impl TuneRow {
    fn ratio(&self) -> Option<f64> {
        self.standing.filter(|_| self.status == Status::Ok).map(|s| s.ratio).filter(|ratio| ratio.is_finite())
    }
}

/// A configuration in words, from the texts of its values.
pub(super) fn words_of(params: &[Parameter], config: &[String]) -> String {
    let words = params.iter().zip(config).map(|(param, value)| format!("{}={value}", param.name));
    words.collect::<Vec<_>>().join(" ")
}

/// A tuning: configurations of an operator, which of them are right, and their times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TuneReport {
    /// The operator's name.
    pub name: String,
    /// The size of the arguments; 0 where there is none.
    pub size: u64,
    /// The parameters.
    pub params: Vec<Parameter>,
    /// A row for each configuration that was measured.
    pub rows: Vec<TuneRow>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl TuneReport {
    /// A configuration of this tuning in words: `BLOCK=128 TILE=8`.
    pub fn words(&self, row: &TuneRow) -> String {
        words_of(&self.params, &row.config)
    }

    /// The last round that a row took part in.
    fn last_round(&self) -> Option<usize> {
        self.rows.iter().filter(|r| r.ratio().is_some()).filter_map(|r| r.standing).map(|s| s.round).max()
    }

    /// True for the row of the first configuration, which all are compared with.
    fn is_first(row: &TuneRow) -> bool {
        row.ratio() == Some(1.0) && row.standing.is_some_and(|s| s.ratio_low == 1.0 && s.ratio_high == 1.0)
    }

    /// The numbers of the rows that are right and timed, the best first: the fastest of those that are shown to be faster than the first
    /// configuration by more than 1 %, else that one. Then by time: those that were near the best in the last round, then the others.
    pub fn ranked(&self) -> Vec<usize> {
        let last = self.last_round();
        let is_last = |row: &TuneRow| row.standing.map(|s| s.round) == last;
        let ratio = |row: &TuneRow| row.ratio().unwrap_or(f64::INFINITY);
        let near = self.rows.iter().filter(|row| is_last(row)).map(ratio).fold(f64::INFINITY, f64::min) * NEAR;
        let key = |&at: &usize| (!is_last(&self.rows[at]) || ratio(&self.rows[at]) > near, ratio(&self.rows[at]));
        let mut right: Vec<usize> = (0..self.rows.len()).filter(|&at| self.rows[at].ratio().is_some()).collect();
        right.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let is_shown = |&at: &usize| {
            let row = &self.rows[at];
            Self::is_first(row) || row.standing.is_some_and(|s| s.ratio_high < 1.0 - MARGIN)
        };
        if let Some(best) = right.iter().position(is_shown) {
            right[..=best].rotate_right(1);
        }
        right
    }

    /// The numbers of the rows that are not told apart from the best, which is none of them: the intervals of their ratios meet its own, or miss it by
    /// less than 1 %.
    pub fn tied(&self) -> Vec<usize> {
        let ranked = self.ranked();
        let Some((&best, others)) = ranked.split_first() else { return Vec::new() };
        let interval = |at: usize| self.rows[at].standing.map(|s| (s.ratio_low, s.ratio_high));
        let Some((low, high)) = interval(best) else { return Vec::new() };
        // Those that left earlier were clearly behind.
        let last = self.last_round();
        let stayed = |at: usize| Self::is_first(&self.rows[at]) || self.rows[at].standing.map(|s| s.round) == last;
        let meets = |&at: &usize| {
            stayed(at)
                && interval(at).is_some_and(|own| own.0 <= high * (1.0 + MARGIN) && low <= own.1 * (1.0 + MARGIN))
        };
        others.iter().copied().filter(meets).collect()
    }

    /// The number of the best row, as [`TuneReport::ranked`] has it.
    ///
    /// # Errors
    /// [`Error::Argument`] if none is right, with the reason of the first row that has one, or if a stop came before any was timed.
    pub fn best(&self) -> Result<usize> {
        self.ranked().first().copied().ok_or_else(|| {
            if self.rows.iter().any(|row| row.status == Status::Ok) {
                return Error::argument(format!("`{}`: no configuration was timed", self.name));
            }
            let first = self.rows.iter().find(|row| !row.message.is_empty());
            let why = first.map_or(String::new(), |row| format!(": {}: {}", self.words(row), row.message));
            Error::argument(format!("`{}`: no configuration is right{why}", self.name))
        })
    }

    /// The time of a row in seconds, and its ratio to the first configuration's: that ratio times the first's own time, because both were
    /// measured in turns, and other rows at another moment. `None` where it was not timed.
    pub fn time(&self, row: &TuneRow) -> Option<(f64, f64)> {
        let ratio = row.ratio()?;
        let first = self.rows.iter().find(|row| Self::is_first(row)).and_then(|row| row.standing);
        let time = first.map_or(row.standing?.median, |first| first.median * ratio);
        Some((time, ratio))
    }

    /// The best row among some by its ratio alone.
    fn best_of<'r>(&self, rows: impl Iterator<Item = &'r TuneRow>) -> Option<&'r TuneRow> {
        rows.filter(|row| row.ratio().is_some())
            .min_by(|a, b| a.ratio().partial_cmp(&b.ratio()).unwrap_or(std::cmp::Ordering::Equal))
    }

    /// The parameters by their numbers, the one whose values differ most in their best times first.
    pub fn by_effect(&self) -> Vec<usize> {
        let effect = |at: usize| {
            let best = |value: &String| {
                self.best_of(self.rows.iter().filter(|row| row.config.get(at) == Some(value))).and_then(TuneRow::ratio)
            };
            let values = &self.params[at].values;
            let known: Vec<f64> = values.iter().filter_map(best).map(f64::ln).collect();
            match known.len() {
                0 => -1.0,
                // A value of which no configuration is right makes the largest difference of all.
                some if some < values.len() => f64::INFINITY,
                _ => {
                    known.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                        - known.iter().copied().fold(f64::INFINITY, f64::min)
                }
            }
        };
        let effects: Vec<f64> = (0..self.params.len()).map(effect).collect();
        let mut order: Vec<usize> = (0..self.params.len()).collect();
        order.sort_by(|&a, &b| effects[b].total_cmp(&effects[a]));
        order
    }

    /// Facts in short: counts, and the fastest.
    pub fn facts(&self) -> Vec<(String, String)> {
        let ranked = self.ranked();
        let right = self.rows.iter().filter(|row| row.status == Status::Ok).count();
        let mut facts = vec![("configurations", self.rows.len().to_string()), ("right", right.to_string())];
        if ranked.len() < right {
            facts.push(("timed", ranked.len().to_string()));
        }
        let best = ranked.first().map(|&at| &self.rows[at]);
        if let Some((row, (time, _))) = best.and_then(|row| Some((row, self.time(row)?))) {
            let best = format!("{}, {}", self.words(row), units::seconds(time));
            match self.tied().len() {
                0 => facts.push(("fastest", best)),
                1 => facts.extend([("best", best), (NO_DIFFERENCE, "to 1 other".to_owned())]),
                n => facts.extend([("best", best), (NO_DIFFERENCE, format!("to {n} others"))]),
            }
        }
        let mut machines: Vec<&str> = self.rows.iter().map(|r| r.machine.as_str()).filter(|m| !m.is_empty()).collect();
        machines.sort_unstable();
        machines.dedup();
        if machines.len() > 1 {
            facts.push(("processes", machines.len().to_string()));
        }
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Titles of columns, true for those of numbers, and the rows: the right ones by their time, then the others.
    pub fn table(&self) -> (Vec<(String, bool)>, Vec<Vec<String>>) {
        let mut columns: Vec<(String, bool)> = self.params.iter().map(|p| (p.name.clone(), false)).collect();
        columns.extend([("time", true), ("of the first's", true), ("", false)].map(|(t, n)| (t.to_owned(), n)));
        let line = |row: &TuneRow, cells: [String; 3]| row.config.iter().cloned().chain(cells).collect();
        let tied = self.tied();
        let right = self.ranked().into_iter().filter_map(|at| {
            let row = &self.rows[at];
            let (time, ratio) = self.time(row)?;
            let note = if tied.contains(&at) { NO_DIFFERENCE } else { "" };
            Some(line(row, [units::seconds(time), format!("{ratio:.2}"), note.to_owned()]))
        });
        let others = self.rows.iter().filter(|row| row.ratio().is_none()).map(|row| {
            let why = match row.status {
                Status::Ok => "right, not timed".to_owned(),
                status => format!("{}: {}", status.name(), row.message),
            };
            line(row, [String::new(), String::new(), why])
        });
        (columns, right.chain(others).collect())
    }

    /// The report as JSON. Numbers that are not finite are the texts `"NaN"`, `"Infinity"` and `"-Infinity"`.
    ///
    /// # Errors
    /// [`Error::Other`] where it cannot be written.
    pub fn to_json(&self) -> Result<String> {
        Ok(crate::json::text(self)?)
    }
}

impl fmt::Display for TuneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (columns, rows) = self.table();
        let facts: Vec<String> = self.facts().iter().map(|(name, value)| format!("{name} {value}")).collect();
        write!(f, "{}", folded(&format!("tuning of {}: {}", self.name, facts.join(", "))).join("\n"))?;
        let titles: Vec<String> = columns.iter().map(|(title, _)| title.clone()).collect();
        let shown: Vec<&Vec<String>> = std::iter::once(&titles).chain(rows.iter().take(SHOWN)).collect();
        let width = |column: usize| shown.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns.len()).map(width).collect();
        for line in &shown {
            let cells: Vec<String> = (line.iter().zip(&widths).zip(&columns))
                .map(|((cell, &w), (_, numeric))| if *numeric { format!("{cell:>w$}") } else { format!("{cell:<w$}") })
                .collect();
            for line in folded(&format!("  {}", cells.join("  "))) {
                write!(f, "\n{line}")?;
            }
        }
        if let Some(rest @ 1..) = rows.len().checked_sub(SHOWN) {
            write!(f, "\n  and {rest} more; .rows has them all")?;
        }
        self.notes.iter().flat_map(|note| folded(&format!("note: {note}"))).try_for_each(|line| write!(f, "\n{line}"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(config: [&str; 2], status: Status, ratio: f64, round: usize) -> TuneRow {
        // The median is one of another moment, when the machine was slower.
        let median = if ratio == 1.0 { 1e-6 } else { 3e-6 };
        let (ratio_low, ratio_high) = (ratio, ratio);
        let standing = Standing { median, low: median, high: median, ratio, ratio_low, ratio_high, samples: 11, round };
        TuneRow {
            config: config.map(str::to_owned).to_vec(),
            status,
            message: if status == Status::Ok { String::new() } else { "3 elements differ".to_owned() },
            standing: (status == Status::Ok).then_some(standing),
            machine: String::new(),
        }
    }

    fn report(rows: Vec<TuneRow>) -> TuneReport {
        let param = |name: &str, values: &[&str]| Parameter {
            name: name.to_owned(),
            values: values.iter().map(|&v| v.to_owned()).collect(),
        };
        let params = vec![param("BLOCK", &["64", "128"]), param("TILE", &["8", "16"])];
        TuneReport { name: "lab::mm".into(), size: 4096, params, rows, notes: vec!["a note".into()] }
    }

    fn sample() -> TuneReport {
        report(vec![
            row(["64", "8"], Status::Ok, 1.0, 3),
            // Faster by its numbers, but it left after the first round, whose samples are few.
            row(["64", "16"], Status::Ok, 0.4, 1),
            row(["128", "8"], Status::Ok, 0.5, 3),
            row(["128", "16"], Status::Wrong, 0.0, 0),
        ])
    }

    #[test]
    fn those_of_the_last_round_come_first_unless_they_are_far_behind() {
        let sample = sample();
        // 0.5 is the best of the last round; 1.0 is more than 1.5 times as much, so it stands behind by its number.
        assert_eq!(sample.ranked(), [2, 1, 0]);
        assert_eq!(sample.best().unwrap(), 2);
    }

    /// The ratio of a row, with an interval.
    fn with_interval(mut row: TuneRow, low: f64, high: f64) -> TuneRow {
        row.standing = row.standing.map(|s| Standing { ratio_low: low, ratio_high: high, ..s });
        row
    }

    #[test]
    fn what_is_not_shown_to_be_faster_does_not_take_the_place_of_the_first() {
        let ok = |block, tile, ratio, low, high| with_interval(row([block, tile], Status::Ok, ratio, 3), low, high);
        let first = || row(["64", "8"], Status::Ok, 1.0, 3);
        // The intervals of the second and the third hold 1, the fourth is slower.
        let tied = report(vec![
            first(),
            ok("64", "16", 0.98, 0.9, 1.01),
            ok("128", "8", 1.02, 0.99, 1.1),
            ok("128", "16", 2.0, 1.9, 2.1),
        ]);
        assert_eq!((tied.ranked(), tied.tied()), (vec![0, 1, 2, 3], vec![1, 2]));
        let text = tied.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("best BLOCK=64 TILE=8, 1.00 µs, no difference shown to 2 others"), "{text}");
        assert_eq!(text.matches("no difference shown").count(), 3, "{text}");
        // The third is faster than the first for sure; whether the second is faster still is not known.
        let faster = report(vec![first(), ok("64", "16", 0.8, 0.5, 1.1), ok("128", "8", 0.85, 0.8, 0.9)]);
        assert_eq!((faster.ranked(), faster.tied()), (vec![2, 1, 0], vec![1]));
        // A difference of less than 1 % is none, however narrow the interval is.
        let near = report(vec![first(), ok("64", "16", 0.993, 0.992, 0.994), ok("128", "8", 1.02, 1.015, 1.03)]);
        assert_eq!((near.ranked()[0], near.tied()), (0, vec![1]));
        // One that left in an earlier round was clearly behind, whatever the interval is.
        let left = report(vec![first(), with_interval(row(["64", "16"], Status::Ok, 1.3, 1), 0.9, 1.5)]);
        assert_eq!(left.tied(), [0; 0]);
    }

    #[test]
    fn configurations_that_a_stop_left_untimed_are_shown() {
        let mut untimed = row(["64", "8"], Status::Ok, 1.0, 1);
        untimed.standing = None;
        let stopped = report(vec![untimed.clone(), row(["64", "16"], Status::Wrong, 0.0, 0)]);
        assert_eq!(stopped.best().unwrap_err().to_string(), "`lab::mm`: no configuration was timed");
        let text = stopped.to_string();
        assert!(text.contains("configurations 2, right 1, timed 0") && text.contains("right, not timed"), "{text}");
    }

    #[test]
    fn the_parameter_that_matters_more_comes_first() {
        let ok = |block, tile, ratio| row([block, tile], Status::Ok, ratio, 3);
        // The best of BLOCK are 1 and 0.9, of TILE 0.9 and 4.
        let other = report(vec![ok("64", "8", 1.0), ok("64", "16", 4.0), ok("128", "8", 0.9), ok("128", "16", 4.1)]);
        assert_eq!(other.by_effect(), [1, 0]);
        // The best of BLOCK are 1 and 3, of TILE 1 and 1.1.
        let other = report(vec![ok("64", "8", 1.0), ok("64", "16", 1.1), ok("128", "8", 3.0), ok("128", "16", 3.0)]);
        assert_eq!(other.by_effect(), [0, 1]);
    }

    #[test]
    fn a_value_that_is_never_right_has_the_largest_effect() {
        let mut sample = sample();
        sample.rows[1] = row(["64", "16"], Status::Failed, 0.0, 0);
        assert_eq!(sample.by_effect(), [1, 0]);
    }

    #[test]
    fn without_a_right_one_the_error_says_why() {
        let error = report(vec![row(["64", "8"], Status::Wrong, 0.0, 0)]).best().unwrap_err();
        assert_eq!(error.to_string(), "`lab::mm`: no configuration is right: BLOCK=64 TILE=8: 3 elements differ");
    }

    #[test]
    fn the_text_is_a_table() {
        expect![[r#"
            tuning of lab::mm: configurations 4, right 3, fastest BLOCK=128 TILE=8, 500 ns
              BLOCK  TILE     time  of the first's
              128    8      500 ns            0.50
              64     16     400 ns            0.40
              64     8     1.00 µs            1.00
              128    16                             wrong: 3 elements differ
            note: a note"#]]
        .assert_eq(&sample().to_string());
    }
}
