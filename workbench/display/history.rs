//! The card of an operator's versions: a sparkline of their times, a table, and the difference of each text from the one before.

use std::fmt::{self, Write};
use std::time::SystemTime;

use super::html::{Column, Table, card, escape};
use super::text_diff::{Difference, counts, difference, shortened};
use super::{MimeBundle, Show};
use crate::bench::units;
use crate::line_width::folded;
use crate::ops::history::{CheckNote, History, TimeNote, Version, bare};
use crate::plot::sparkline::{Spark, sparkline};

/// Most versions that a card in a notebook shows; the older ones are left out, and counted.
const SHOWN: usize = 50;

/// Most versions whose texts' differences a card in a notebook has.
const DIFFERENCES: usize = 12;

/// The place of a card: a notebook, which says how long ago a version was made, or a file, which has all versions and when each was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Notebook,
    File,
}

impl History {
    /// The difference between the texts of two versions.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] where a version does not exist.
    pub fn difference(&self, from: u32, to: u32) -> crate::runtime::Result<Difference> {
        Ok(difference(&self.version(from)?.text, &self.version(to)?.text))
    }

    /// The difference between the texts of two versions, as a card.
    ///
    /// # Errors
    /// As [`History::difference`].
    pub fn difference_card(&self, from: u32, to: u32) -> crate::runtime::Result<String> {
        let found = self.difference(from, to)?;
        let title = format!("Version {to} beside version {from}: {}", found.counts());
        let title = format!("<div class=\"wb-title\">{}</div>", escape(&title));
        let shown = if found.lines.is_empty() { String::new() } else { found.html() };
        Ok(card(&format!("{title}<div class=\"wb-scroll\">{shown}</div>")))
    }

    /// The card of all versions, for a file.
    pub fn file_html(&self) -> String {
        self.card(Place::File)
    }

    /// The text of all versions, for a file.
    pub fn file_text(&self) -> String {
        let mut text = String::new();
        // A string takes whatever is written.
        let _ = self.write(&mut text, Place::File);
        text
    }

    /// Each version that is shown, with the one before it.
    fn shown(&self, place: Place) -> impl Iterator<Item = (Option<&Version>, &Version)> {
        let skipped = if place == Place::File { 0 } else { self.versions.len().saturating_sub(SHOWN) };
        let before = |at: usize| at.checked_sub(1).map(|before| &self.versions[before]);
        self.versions.iter().enumerate().skip(skipped).map(move |(at, version)| (before(at), version))
    }

    fn table(&self, place: Place) -> Table {
        let columns = vec![
            Column::number("version"),
            Column::text("made"),
            Column::text("change"),
            Column::text("check"),
            Column::number("time"),
            Column::text("beside the one before"),
        ];
        let when = if place == Place::File { moment } else { ago };
        let rows = self.shown(place).map(|(before, version)| {
            let (time, beside) = times(before, version, self.common_size());
            let check = version.check.as_ref().map_or_else(String::new, checked);
            vec![version.number.to_string(), when(version.made), changed(before, version), check, time, beside]
        });
        Table { columns, rows: rows.collect() }
    }

    fn title(&self) -> String {
        let name = self.name.rsplit("::").next().unwrap_or(&self.name);
        match self.versions.len() {
            1 => format!("{name}: 1 version"),
            n => format!("{name}: {n} versions"),
        }
    }

    fn write(&self, f: &mut dyn Write, place: Place) -> fmt::Result {
        write!(f, "{}", self.title())?;
        for row in self.table(place).rows {
            let cells: Vec<&str> = row.iter().skip(1).filter(|cell| !cell.is_empty()).map(String::as_str).collect();
            for line in folded(&format!("  {}: {}", row[0], cells.join("; "))) {
                write!(f, "\n{line}")?;
            }
        }
        // A terminal has no folds: it shows the newest change.
        if let (Some(before), Some(last)) = (self.versions.iter().nth_back(1), self.versions.back()) {
            let found = difference(&before.text, &last.text);
            if !found.lines.is_empty() {
                write!(f, "\n{}", found.to_string().trim_end())?;
            }
        }
        Ok(())
    }

    fn card(&self, place: Place) -> String {
        let mut body = format!("<div class=\"wb-title\">{}</div>", escape(&self.title()));
        if let Some(size) = self.common_size() {
            let sparks: Vec<Spark> = self
                .shown(place)
                .map(|(_, version)| Spark {
                    name: format!("version {}", version.number),
                    seconds: version.time(size).map(|time| time.seconds),
                    is_broken: version.check.as_ref().is_some_and(|check| !check.passed),
                })
                .collect();
            if sparks.len() > 1 {
                body.push_str(sparkline(&sparks).as_str());
            }
        }
        if let Some(left_out) = self.versions.len().checked_sub(self.shown(place).count()).filter(|n| *n > 0) {
            let _ = write!(body, "<p class=\"wb-muted\">{left_out} older versions are left out</p>");
        }
        let _ = write!(body, "<div class=\"wb-scroll\">{}</div>", self.table(place).html());
        if self.versions.iter().filter(|version| !version.times.is_empty()).count() > 1 {
            body.push_str(
                "<p class=\"wb-muted\">times of separate benchmarks, between which the machine may have drifted; \
                 <code>compare</code> measures two versions in turns</p>",
            );
        }
        body.push_str(&differences(self, place));
        card(&body)
    }
}

/// The moment at which a version was made, as `2026-11-30 08:15:00 UTC`.
fn moment(made: SystemTime) -> String {
    let seconds = made.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    // Years begin in March here, so that a leap day is the last one; 719468 days lie between the first of March of year 0 and 1970.
    let days = seconds / 86400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (400 * era + year_of_era + month / 10, (month + 2) % 12 + 1);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The time since a version was made, roughly.
fn ago(made: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(made).unwrap_or_default().as_secs();
    match seconds {
        0 => "just now".to_owned(),
        1..=99 => format!("{seconds} s ago"),
        100..=5999 => format!("{} min ago", seconds / 60),
        6000..=172_799 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86400),
    }
}

/// The change of a version, in a few words.
fn changed(before: Option<&Version>, version: &Version) -> String {
    let mut words = Vec::new();
    if let Some(number) = version.restores {
        words.push(format!("restores {number}"));
    }
    match before {
        None if version.text.is_empty() => words.push("a closure".to_owned()),
        None => {
            let count = bare(&version.text).lines().count();
            words.push(format!("{count} {}", if count == 1 { "line" } else { "lines" }));
        }
        Some(before) => {
            if bare(&before.text) != bare(&version.text) {
                words.push(counts(&before.text, &version.text));
            }
            words.extend(version.changes.iter().cloned());
        }
    }
    words.join(", ")
}

fn checked(check: &CheckNote) -> String {
    let CheckNote { passed, mismatches, max_share } = check;
    match (passed, mismatches) {
        (true, _) if *max_share == 0.0 => "✓ exact".to_owned(),
        (true, _) => format!("✓ {} of tolerance", percent(*max_share)),
        (false, 0) => "✗ cannot be compared".to_owned(),
        (false, 1) => "✗ 1 element differs".to_owned(),
        (false, n) => format!("✗ {} elements differ", units::count(*n as u64)),
    }
}

fn percent(share: f64) -> String {
    if share < 0.01 { "less than 1 %".to_owned() } else { format!("{:.0} %", 100.0 * share) }
}

/// A time with its size, and how it compares with that of the version before.
fn times(before: Option<&Version>, version: &Version, common: Option<u64>) -> (String, String) {
    let both = before.and_then(|before| version.times_beside(before));
    let own = match &both {
        Some((own, _)) => Some(*own),
        None => common.and_then(|size| version.time(size)).or(version.times.last()),
    };
    let time = own.map_or_else(String::new, |own| match own.size {
        0 => units::seconds(own.seconds),
        size => format!("{} at {}", units::seconds(own.seconds), units::count(size)),
    });
    (time, both.map_or_else(String::new, |(new, old)| compared(new, old)))
}

/// The comparison of a time with an older one. The intervals are those of two benchmarks, so they hold no drift of the machine between them.
fn compared(new: &TimeNote, old: &TimeNote) -> String {
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { f64::INFINITY };
    let (least, most) = (ratio(old.low, new.high), ratio(old.high, new.low));
    let shown = |r: f64, low: f64, high: f64, word: &str| format!("{word} by {r:.2}x ({low:.2}\u{2013}{high:.2})");
    if least > 1.0 {
        shown(ratio(old.seconds, new.seconds), least, most, "faster")
    } else if most < 1.0 {
        shown(ratio(new.seconds, old.seconds), 1.0 / most, 1.0 / least, "slower")
    } else {
        "no difference shown".to_owned()
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Place::Notebook)
    }
}

/// The differences of the texts, each folded but for the newest.
fn differences(history: &History, place: Place) -> String {
    let mut out = String::new();
    let last = history.last();
    let most = if place == Place::File { usize::MAX } else { DIFFERENCES };
    for (before, version) in history.shown(place).collect::<Vec<_>>().into_iter().rev().take(most) {
        let found = before.map(|before| difference(&before.text, &version.text));
        let (what, body) = match &found {
            Some(found) if found.lines.is_empty() => continue,
            Some(found) => (format!("version {}: {}", version.number, found.counts()), found.html()),
            None if version.text.is_empty() => continue,
            None => (
                format!("version {}: the text", version.number),
                format!("<pre class=\"wb-diff\">{}</pre>", escape(&shortened(version.text.trim_matches('\n')))),
            ),
        };
        let open = if version.number == last && found.is_some() { " open" } else { "" };
        let _ = write!(
            out,
            "<details{open}><summary>{}</summary><div class=\"wb-scroll\">{body}</div></details>",
            escape(&what)
        );
    }
    out
}

impl Show for History {
    fn bundle(&self) -> MimeBundle {
        let html = Some(self.card(Place::Notebook));
        MimeBundle { plain: self.to_string(), html, svg: None, json: self.to_json().ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Op;

    const TEXT: &str = "__global__ void twice(const float* x, float* y, int n) {\n    int i = threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];\n}\n";

    fn define(name: &str, text: &str, block: u32) -> Op {
        let schema = format!("history::{name}(Tensor x) -> Tensor");
        Op::new(schema).source(text).shape("x[n] -> y[n]").block(block, 1, 1).build().expect("an operator")
    }

    fn note(seconds: f64, size: u64) -> TimeNote {
        TimeNote { size, seconds, low: seconds * 0.9, high: seconds * 1.1 }
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        let at = |seconds| moment(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(at(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(at(951_868_799), "2000-02-29 23:59:59 UTC");
        assert_eq!(at(951_868_800), "2000-03-01 00:00:00 UTC");
        assert_eq!(at(1_798_761_599), "2026-12-31 23:59:59 UTC");
        assert_eq!(at(1_798_761_600), "2027-01-01 00:00:00 UTC");
    }

    #[test]
    fn blank_lines_round_a_text_make_no_version() {
        let op = define("blank", TEXT, 32);
        define("blank", &format!("\n \n{}", TEXT.trim_end()), 32);
        assert_eq!(op.history().versions.len(), 1);
        define("blank", &TEXT.replace("int i", "\nint i"), 32);
        assert_eq!(op.history().versions.len(), 2, "a blank line within it is its own");
    }

    #[test]
    fn a_file_has_all_versions_and_when_they_were_made() {
        let texts = (0..60).map(|i| (SystemTime::UNIX_EPOCH, format!("int a = {i};\n")));
        let history = History::of_texts("lab::scale".to_owned(), texts);
        let (html, text) = (history.file_html(), history.file_text());
        assert!(html.contains("version 60") && html.contains("version 2:") && html.contains("version 1: the text"));
        assert!(!html.contains("left out") && !html.contains(" ago"));
        assert_eq!(html.matches("1970-01-01 00:00:00 UTC").count(), 60);
        assert!(text.contains("\n  1: 1970-01-01 00:00:00 UTC; 1 line\n") && text.contains("\n  60: 1970-01-01"));
        let shown = history.bundle().html.unwrap_or_default();
        assert!(shown.contains("10 older versions are left out") && shown.contains("days ago"));
    }

    #[test]
    fn each_change_is_a_version_that_can_be_called() {
        let op = define("calls", TEXT, 32);
        define("calls", TEXT, 32);
        assert_eq!(op.history().versions.len(), 1, "nothing has changed");
        define("calls", &TEXT.replace("2 * x", "3 * x"), 32);
        define("calls", &TEXT.replace("2 * x", "3 * x"), 64);
        let history = op.history();
        assert_eq!(history.versions.iter().map(|v| v.number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(history.versions[2].changes, ["block=64"]);
        let call = |op: &Op| {
            let x = ndarray::array![1.0f32];
            op.call((&x,)).expect("a call").tensors[0].to_f64_vec()
        };
        assert_eq!(
            (call(&op), call(&op.version(1).expect("one")), call(&op.version(2).expect("two"))),
            (vec![3.0], vec![2.0], vec![3.0])
        );
        assert!(op.version(4).is_err_and(|e| e.to_string().contains("its versions are 1 to 3")));
        op.restore(1).expect("the first");
        assert_eq!((call(&op), op.history().versions[3].restores), (vec![2.0], Some(1)));
        // A version's own versions are the operator's.
        assert_eq!(op.version(1).expect("one").history().versions.len(), 4);
    }

    #[test]
    fn old_versions_are_compiled_again_and_the_oldest_forgotten() {
        let op = define("many", TEXT, 1);
        for block in 2..=1010 {
            define("many", TEXT, block.min(1024));
        }
        let history = op.history();
        assert_eq!((history.versions.len(), history.versions[0].number, history.last()), (1000, 11, 1010));
        assert_eq!(
            op.version(11).expect("an old one").definition().schema.to_string(),
            op.definition().schema.to_string()
        );
        assert!(op.version(10).is_err());
        let html = history.bundle().html.expect("a card");
        assert!(html.contains("950 older versions are left out"));
    }

    #[test]
    fn checks_and_times_are_noted_in_the_version_that_ran() {
        let op = define("notes", TEXT, 32);
        op.note_check(op.version_number(), CheckNote { passed: true, mismatches: 0, max_share: 0.0 });
        op.note_times(op.version_number(), vec![note(1e-3, 1024), note(1e-5, 64)]);
        define("notes", &TEXT.replace("2 * x", "1 * x"), 32);
        op.note_check(op.version_number(), CheckNote { passed: false, mismatches: 3, max_share: 7.0 });
        op.note_times(op.version_number(), vec![note(5e-4, 1024)]);
        op.note_times(1, vec![note(2e-3, 2048)]);
        let history = op.history();
        assert_eq!(history.versions[0].times.iter().map(|t| t.size).collect::<Vec<_>>(), [64, 1024, 2048]);
        let text = history.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "notes: 2 versions");
        assert!(lines[1].contains("4 lines; ✓ exact; 1.00 ms at 1 Ki"), "{text}");
        let second = format!("{} {}", lines[2], lines[3].trim_start());
        assert!(
            second.contains("+1 \u{2212}1; ✗ 3 elements differ; 500 µs at 1 Ki; faster by 2.00x (1.64\u{2013}2.44)"),
            "{text}"
        );
        let html = history.bundle().html.expect("a card");
        assert!(html.contains("<mark>") && html.contains("<svg") && html.contains("broken"), "{html}");
        assert!(html.contains("<details open><summary>version 2: +1 \u{2212}1</summary>"));
        let json: serde_json::Value = serde_json::from_str(&history.bundle().json.expect("data")).expect("JSON");
        assert_eq!(json["versions"][1]["check"]["mismatches"], 3);
    }

    #[test]
    fn intervals_that_overlap_show_no_difference() {
        assert_eq!(compared(&note(1.0, 1), &note(1.1, 1)), "no difference shown");
        assert_eq!(compared(&note(2.0, 1), &note(1.0, 1)), "slower by 2.00x (1.64\u{2013}2.44)");
    }
}
