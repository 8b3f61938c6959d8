//! The cards: a timing report, a check, a message. They take plain data, so that every report can feed them.

use std::fmt::Write;

use super::html::{Column, Table, card, escape};
use crate::bench::report::is_numeric;
use crate::bench::{BenchReport, machine::Machine};
use crate::plot::{Slice, Svg};
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
    let code = report.code().map_or(String::new(), |code| escape(&code) + "<br>");
    let method = escape(&report.method());
    let _ = write!(body, "<p class=\"wb-muted\">{code}{method}<br>{}</p>", machine(&report.machine));
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

/// A check: title and outcome, facts by name and value (`max ulp`, `1`), the first mismatches, pictures (HTML already).
///
/// Nothing is repeated: give an empty table if there is no mismatch, and no picture if it would show nothing.
pub fn check_card(title: &str, passed: bool, facts: &[(String, String)], mismatches: &Table, pictures: &str) -> String {
    let mut body = format!("<div class=\"wb-title\">{}{}</div>", escape(title), status(passed));
    body.push_str(&facts_of(facts));
    body.push_str(&folded(mismatches, "listed mismatches"));
    body.push_str(pictures);
    card(&body)
}

/// Maps of slices of which one is shown: a row of marks, each with its count of mismatches and the darker the more of a slice is wrong, that the pointer and the arrow keys choose
/// from. It needs no script; where a page takes styles out, all maps are shown. It is a form, because the marks of a form belong together: no
/// name is needed that nothing else on the page has, and an output may stand there twice.
/// `total` is the number of slices of the array.
pub fn slider(slices: &[Slice], total: usize) -> String {
    let worst = slices.iter().enumerate().max_by_key(|(i, slice)| (slice.mismatches, std::cmp::Reverse(*i)));
    let shown = worst.map_or(0, |(i, _)| i);
    let mut out = "<form method=\"dialog\" class=\"wb-slider\" role=\"radiogroup\" aria-label=\"slices\">".to_owned();
    for (i, slice) in slices.iter().enumerate() {
        let checked = if i == shown { " checked" } else { "" };
        let share = 100.0 * slice.mismatches as f64 / slice.elements.max(1) as f64;
        // The smallest share above none is seen.
        let depth = if slice.mismatches == 0 { 0.0 } else { (8.0 + 92.0 * (share / 100.0).sqrt()).min(100.0) };
        let count = if slice.mismatches == 0 { "✓".to_owned() } else { format!("✗ {}", slice.mismatches) };
        let tip = format!("{}: {} of {} elements beyond the tolerance", slice.name, slice.mismatches, slice.elements);
        let _ = write!(
            out,
            "<label title=\"{}\" style=\"--wb-share:{depth:.0}%\"><input type=\"radio\" name=\"slice\"{checked}>{} {count}</label><div>{}</div>",
            escape(&tip),
            escape(&slice.name),
            slice.map
        );
    }
    if slices.len() < total {
        let _ = write!(out, "<span class=\"wb-muted\">the worst of {total} slices</span>");
    }
    out.push_str("</form>");
    out
}

/// A report of another kind: title, outcome if it has one, facts, a picture (HTML already), a table.
pub fn report_card(
    title: &str,
    passed: Option<bool>,
    facts: &[(String, String)],
    table: &Table,
    picture: &str,
) -> String {
    let mut body = format!("<div class=\"wb-title\">{}{}</div>", escape(title), passed.map(status).unwrap_or_default());
    body.push_str(&facts_of(facts));
    body.push_str(picture);
    body.push_str(&folded(table, "all"));
    card(&body)
}

/// The outcome of a check in words, with its mark.
fn status(passed: bool) -> String {
    let (class, status) = if passed { ("wb-pass", "✓ passed") } else { ("wb-fail", "✗ failed") };
    format!("<span class=\"wb-status {class}\">{status}</span>")
}

/// Facts by name and value.
fn facts_of(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let mut out = "<div class=\"wb-facts\">".to_owned();
    for (name, value) in facts {
        let _ = write!(out, "<div><span>{}</span> <b>{}</b></div>", escape(name), escape(value));
    }
    out.push_str("</div>");
    out
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
    fn one_slice_of_a_slider_is_chosen_and_nothing_has_a_name_of_its_own() {
        let map = notice_like("map");
        let slice = |name: &str, mismatches| Slice { name: name.into(), mismatches, elements: 10, map: map.clone() };
        let slices = [slice("[0, :, :]", 0), slice("[1, :, :]", 5), slice("[2, :, :]", 5)];
        let (one, two) = (slider(&slices, 3), slider(&slices, 9));
        assert!(!one.contains("the worst of") && two.contains("the worst of 9 slices"));
        assert_eq!(one.matches(" checked").count(), 1);
        assert!(one.contains(" checked>[1, :, :] ✗ 5</label>") && one.contains(">[0, :, :] ✓</label>"), "{one}");
        assert!(one.contains("[1, :, :]: 5 of 10 elements beyond the tolerance"), "{one}");
        // The same output twice is two forms.
        assert!(one.starts_with("<form method=\"dialog\"") && one.ends_with("</form>"));
        assert_eq!(one.split("<svg").next().map(|head| head.contains(" id=")), Some(false));
    }

    fn notice_like(title: &str) -> Svg {
        crate::plot::difference_map(
            &[],
            &[],
            &[0],
            &crate::plot::DifferenceOptions { title: title.into(), ..Default::default() },
        )
    }

    #[test]
    fn a_check_says_its_outcome_in_words() {
        let facts = [("max ulp".to_owned(), "1".to_owned())];
        let html = check_card("a < b", true, &facts, &Table::default(), "");
        assert!(html.contains("a &lt; b") && html.contains("✓ passed") && html.contains("<b>1</b>"));
        assert!(check_card("x", false, &[], &Table::default(), "").contains("✗ failed"));
    }
}
