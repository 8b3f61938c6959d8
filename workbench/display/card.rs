//! The cards: a timing report, a check, a message. They take plain data, so that every report can feed them.

use std::fmt::Write;

use super::html::{Column, Table, card, escape};
use crate::bench::report::is_numeric;
use crate::bench::{BenchReport, machine::Machine};
use crate::plot::Svg;
use crate::runtime::{Dim3, TierReport};

/// The number of rows up to which a table is shown without being asked for.
const SHORT_TABLE: usize = 8;

/// A timing report: the result in a sentence, the picture, the numbers, the method.
pub fn bench_card(report: &BenchReport, picture: &Svg) -> String {
    let mut body = String::new();
    for headline in report.headlines() {
        let _ = write!(body, "<p>{}</p>", escape(&headline));
    }
    for note in &report.notes {
        let _ = write!(body, "<p>note: {}</p>", escape(note));
    }
    body.push_str(picture.as_str());
    let (head, rows) = report.table();
    let numeric = |(i, title): (usize, &String)| is_numeric(title, i);
    let flags: Vec<bool> = head.iter().enumerate().map(numeric).collect();
    let columns = head.into_iter().zip(flags).map(|(title, numeric)| Column { title, numeric }).collect();
    body.push_str(&folded(&Table { columns, rows }, "numbers"));
    let _ = write!(body, "<p class=\"wb-muted\">{}<br>{}</p>", escape(&report.method()), machine(&report.machine));
    card(&body)
}

fn machine(machine: &Machine) -> String {
    escape(&machine.to_string())
}

/// A table, folded if it is long.
fn folded(table: &Table, what: &str) -> String {
    match table.rows.len() {
        0 => String::new(),
        n if n <= SHORT_TABLE => format!("<div class=\"wb-scroll\">{}</div>", table.html()),
        n => format!(
            "<details><summary>{} ({n} rows)</summary><div class=\"wb-scroll\">{}</div></details>",
            escape(what),
            table.html()
        ),
    }
}

/// A check: title and outcome, facts by name and value (`max ulp`, `1`), the first mismatches, pictures.
///
/// Nothing is repeated: give an empty table if there is no mismatch, and no picture if it would show nothing.
pub fn check_card(
    title: &str,
    passed: bool,
    facts: &[(String, String)],
    mismatches: &Table,
    pictures: &[Svg],
) -> String {
    let (class, status) = if passed { ("wb-pass", "✓ passed") } else { ("wb-fail", "✗ failed") };
    let mut body =
        format!("<div class=\"wb-title\">{}<span class=\"wb-status {class}\">{status}</span></div>", escape(title));
    if !facts.is_empty() {
        body.push_str("<div class=\"wb-facts\">");
        for (name, value) in facts {
            let _ = write!(body, "<div><span>{}</span><b>{}</b></div>", escape(name), escape(value));
        }
        body.push_str("</div>");
    }
    body.push_str(&folded(mismatches, "first mismatches"));
    for picture in pictures {
        body.push_str(picture.as_str());
    }
    card(&body)
}

/// A tier report: the kernel and its blocks, the code that ran last, a table of tiers.
pub fn tier_card(report: &TierReport, table: &Table) -> String {
    let Dim3 { x, y, z } = report.block;
    let last = report.last.map_or_else(|| "not launched".to_owned(), |tier| format!("ran {tier} code"));
    card(&format!(
        "<div class=\"wb-title\">{} in blocks of {x} \u{d7} {y} \u{d7} {z}<span class=\"wb-muted\">{}</span></div>\
         <div class=\"wb-scroll\">{}</div>",
        escape(&report.kernel),
        escape(&last),
        table.html()
    ))
}

/// A message in fixed-width text, such as a rendered diagnostic or fault.
pub fn message_card(title: &str, text: &str) -> String {
    card(&format!(
        "<div class=\"wb-title\"><span class=\"wb-status wb-fail\">{}</span></div><pre class=\"wb-pre\">{}</pre>",
        escape(title),
        escape(text)
    ))
}

/// A picture alone, in the page's colours.
pub fn picture_card(picture: &Svg) -> String {
    card(picture.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::sample_report;

    #[test]
    fn long_tables_fold_and_short_ones_do_not() {
        let short = sample_report(&[1, 2]);
        assert!(!bench_card(&short, &short.plot()).contains("<details>"));
        let long = sample_report(&[1, 2, 3, 4, 5]);
        assert!(bench_card(&long, &long.plot()).contains("numbers (10 rows)"));
        let empty = sample_report(&[]);
        assert!(!bench_card(&empty, &empty.plot()).contains("<table"));
    }

    #[test]
    fn a_check_says_its_outcome_in_words() {
        let facts = [("max ulp".to_owned(), "1".to_owned())];
        let html = check_card("a < b", true, &facts, &Table::default(), &[]);
        assert!(html.contains("a &lt; b") && html.contains("✓ passed") && html.contains("<b>1</b>"));
        assert!(check_card("x", false, &[], &Table::default(), &[]).contains("✗ failed"));
    }
}
