//! The picture of a sweep over shapes and dtypes: a cell for each case, in the order checked, a block of lines for each dtype.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{Canvas, Drawn, Weight, caption_width, notice, picture, shorten, text_width};
use super::theme::Role;

/// One case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The block that it belongs to, such as its dtype; may be empty.
    pub group: String,
    /// The text in its cell, such as its extents.
    pub label: String,
    /// The outcome.
    pub outcome: CaseOutcome,
    /// The text under the pointer.
    pub tip: String,
}

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseOutcome {
    /// The results agree.
    Right,
    /// The results differ.
    Wrong,
    /// It was refused or raised an error.
    Failed,
    /// It could not be checked.
    Unknown,
}

const LEFT: f64 = 16.0;
const TOP: f64 = 62.0;
const ROW: f64 = 30.0;
/// The width that lines of cells fill.
const WIDTH: f64 = 720.0;
/// Most characters of a label.
const LABEL: usize = 22;
/// Most cases that are drawn; those that fail come first among more.
const MOST: usize = 600;

const OUTCOMES: [(CaseOutcome, &str); 4] = [
    (CaseOutcome::Right, "right"),
    (CaseOutcome::Wrong, "wrong"),
    (CaseOutcome::Failed, "failed"),
    (CaseOutcome::Unknown, "not checked"),
];

impl CaseOutcome {
    /// The mark before a label, for those who do not tell the fills apart.
    fn mark(self) -> &'static str {
        match self {
            CaseOutcome::Right => "",
            CaseOutcome::Wrong => "✗ ",
            CaseOutcome::Failed => "! ",
            CaseOutcome::Unknown => "– ",
        }
    }

    /// The fill of its cell.
    fn fill(self) -> (Role, f64) {
        match self {
            CaseOutcome::Right => (Role::Series(0), 0.16),
            CaseOutcome::Wrong => (Role::Positive, 0.32),
            CaseOutcome::Failed => (Role::Odd, 0.32),
            CaseOutcome::Unknown => (Role::Zero, 1.0),
        }
    }
}

/// A picture of cases under a title and a caption, with a key of the outcomes that there are.
pub fn cases(title: &str, caption: &str, cases: &[Case]) -> Svg {
    let (title, mut caption) = (shorten(title, 70), caption.to_owned());
    if cases.is_empty() {
        return notice(&title, "nothing was checked");
    }
    let mut shown: Vec<&Case> = cases.iter().collect();
    if cases.len() > MOST {
        shown.sort_by_key(|case| matches!(case.outcome, CaseOutcome::Right | CaseOutcome::Unknown));
        shown.truncate(MOST);
        caption.push_str(&format!("; {} cases are left out", cases.len() - MOST));
    }
    let caption = shorten(&caption, 118);
    let mut groups: Vec<(&str, Vec<&Case>)> = Vec::new();
    for case in shown {
        match groups.iter_mut().find(|(name, _)| *name == case.group) {
            Some((_, of)) => of.push(case),
            None => groups.push((&case.group, vec![case])),
        }
    }
    // Bold letters are a tenth wider.
    let labels = cases.iter().map(|case| 1.1 * text_width(&label(case), 12.0));
    let pitch = labels.fold(26.0, f64::max) + 14.0;
    let columns = ((WIDTH / pitch).floor() as usize).max(1);
    let named = |name: &str| if name.is_empty() { 0.0 } else { 22.0 };
    let tall: f64 = groups.iter().map(|(name, of)| named(name) + ROW * of.len().div_ceil(columns) as f64 + 8.0).sum();
    let widest = groups.iter().map(|(_, of)| of.len().min(columns)).max().unwrap_or(1);
    let width = (2.0 * LEFT + pitch * widest as f64)
        .max(caption_width(&caption))
        .max(text_width(&title, 15.0) + 8.0)
        .max(420.0);
    picture(width as u32, (TOP + tall + 34.0) as u32, &title, |canvas| {
        canvas.heading(&title, &caption)?;
        let mut top = TOP;
        for (name, of) in &groups {
            if !name.is_empty() {
                let (at, name) = ((LEFT, top + 10.0), shorten(name, 40));
                canvas.text(Role::Ink, 12.0, Weight::Bold, (HPos::Left, VPos::Center), at, &name)?;
                top += named(&name);
            }
            for (i, case) in of.iter().enumerate() {
                let at = (LEFT + pitch * (i % columns) as f64, top + ROW * (i / columns) as f64);
                cell(canvas, case, at, (pitch - 2.0, ROW - 2.0))?;
            }
            top += ROW * of.len().div_ceil(columns) as f64 + 8.0;
        }
        key(canvas, cases, top + 14.0)
    })
}

fn label(case: &Case) -> String {
    format!("{}{}", case.outcome.mark(), shorten(&case.label, LABEL))
}

fn cell(canvas: &Canvas, case: &Case, at: (f64, f64), size: (f64, f64)) -> Drawn {
    let (role, alpha) = case.outcome.fill();
    canvas.rect(Canvas::fill(role, alpha), at, size)?;
    let middle = (at.0 + size.0 / 2.0, at.1 + size.1 / 2.0);
    let (ink, weight) = match case.outcome {
        CaseOutcome::Right => (Role::Ink, Weight::Normal),
        CaseOutcome::Unknown => (Role::Muted, Weight::Normal),
        _ => (Role::Ink, Weight::Bold),
    };
    canvas.text(ink, 12.0, weight, (HPos::Center, VPos::Center), middle, &label(case))?;
    canvas.tip(&*case.tip);
    canvas.rect(Canvas::fill(Role::Pointer, 1.0), at, size)
}

/// The outcomes that there are, each with its fill and its count.
fn key(canvas: &Canvas, cases: &[Case], middle: f64) -> Drawn {
    let mut left = LEFT;
    for (outcome, name) in OUTCOMES {
        let count = cases.iter().filter(|case| case.outcome == outcome).count();
        if count == 0 {
            continue;
        }
        let ((role, alpha), text) = (outcome.fill(), format!("{}{count} {name}", outcome.mark()));
        canvas.rect(Canvas::fill(role, alpha), (left, middle - 6.0), (12.0, 12.0))?;
        canvas.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Center), (left + 18.0, middle), &text)?;
        left += 18.0 + text_width(&text, 12.0) + 20.0;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(group: &str, label: &str, outcome: CaseOutcome) -> Case {
        Case { group: group.to_owned(), label: label.to_owned(), outcome, tip: format!("tip of {label}") }
    }

    #[test]
    fn every_case_is_a_cell_with_its_words() {
        let all = [
            case("float32", "33", CaseOutcome::Right),
            case("float32", "(3, <0>)", CaseOutcome::Wrong),
            case("int64", "1", CaseOutcome::Failed),
            case("int64", "2", CaseOutcome::Unknown),
            case("int64", "3", CaseOutcome::Right),
        ];
        let text = cases("scale", "5 cases", &all).into_string();
        for shown in [
            "float32",
            "int64",
            ">33<",
            "(3, &lt;0&gt;)",
            "tip of 33",
            "2 right",
            "1 wrong",
            "1 failed",
            "1 not checked",
        ] {
            assert!(text.contains(shown), "{shown} in {text}");
        }
        assert!(!cases("scale", "", &all[..1]).as_str().contains("wrong"));
        assert!(cases("scale", "", &[]).as_str().contains("nothing was checked"));
    }

    #[test]
    fn of_very_many_cases_those_that_fail_are_drawn() {
        let mut all = vec![case("", "1", CaseOutcome::Right); 700];
        all[699].outcome = CaseOutcome::Wrong;
        let text = cases("scale", "700 cases", &all).into_string();
        assert!(
            text.contains("; 100 cases are left out") && text.contains("1 wrong") && text.contains("699 right"),
            "{text}"
        );
        assert_eq!(text.matches("font-weight=\"600\">✗ 1<").count(), 1);
    }
}
