//! Cards of checks and gradient checks.

use std::sync::Arc;

use super::card::{check_card, slider, tier_card};
use super::html::{Column, Table};
use super::{MimeBundle, Show};
use crate::autograd::{GradReport, Jacobian};
use crate::check::Value;
use crate::check::compare::unravel;
use crate::check::report::{CheckReport, OutputCheck, REFERENCE, index, writer};
use crate::plot::{
    CountScale, DifferenceOptions, ErrorKind, LeftOut, Side, Slice, Svg, difference_map, difference_slices,
    error_histogram, error_scatter,
};
use crate::runtime::TierReport;

/// The number of elements that differ from which their distribution is drawn.
const LEAST_DISTRIBUTION: usize = 20;

/// A number short enough for a table.
fn short(v: f64) -> String {
    if v == 0.0 || (v.abs() >= 1e-3 && v.abs() < 1e6) {
        format!("{v:.7}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{v:.4e}")
    }
}

/// An element short enough for a table; an integer has all its digits.
fn element(value: Value) -> String {
    match value {
        Value::Float(v) => short(v),
        Value::Integer(v) => v.to_string(),
    }
}

fn ulp(v: f64) -> String {
    if v < 1e6 { format!("{v:.0}") } else { format!("{v:.2e}") }
}

impl OutputCheck {
    /// The options of its pictures, of which `what` names the subject: its tolerance, and its name in the title.
    pub fn picture_options(&self, what: &str) -> DifferenceOptions {
        DifferenceOptions {
            title: format!("{}: {}", self.name, self.in_words(what)),
            against: self.other().to_owned(),
            rtol: self.comparison.tolerance.rtol,
            atol: self.comparison.tolerance.atol,
            equal_nan: self.equal_nan,
            left_out: self.left_out(),
            ..DifferenceOptions::default()
        }
    }

    /// For each element who left it out; empty where all were written.
    fn left_out(&self) -> Arc<[LeftOut]> {
        let c = &self.comparison;
        if c.left_out() == 0 {
            return Arc::new([]);
        }
        let mut left_out = vec![LeftOut::ByNobody; self.actual.len()];
        c.expected_unwritten.iter().for_each(|&i| left_out[i] = LeftOut::ByOther);
        c.unwritten.iter().for_each(|&i| left_out[i] = LeftOut::ByResult);
        left_out.into()
    }

    /// The errors of the elements that were written, in ULP.
    pub fn written_ulps(&self) -> Vec<f64> {
        let left_out = self.left_out();
        let is_written = |i: &usize| matches!(left_out.get(*i), None | Some(LeftOut::ByNobody));
        (0..self.ulps.len()).filter(is_written).map(|i| self.ulps[i]).collect()
    }

    /// The map of the differences: a mosaic of slices for three and more dimensions.
    pub fn difference_map(&self) -> Svg {
        let options = self.picture_options("difference from the reference");
        difference_map(&self.actual, &self.expected, &self.shape, &options)
    }

    /// The slices of three and more dimensions, each as a map.
    pub fn slices(&self) -> Vec<Slice> {
        let options = self.picture_options("difference from the reference");
        difference_slices(&self.actual, &self.expected, &self.shape, &options)
    }

    /// The errors in ULP as a histogram; for floats.
    pub fn histogram(&self) -> Svg {
        error_histogram(&self.written_ulps(), ErrorKind::Ulp, CountScale::Auto, &self.name)
    }

    /// The errors against the size of the reference, with the tolerance as a line.
    pub fn scatter(&self) -> Svg {
        error_scatter(&self.actual, &self.expected, &self.picture_options("error against the size of the reference"))
    }

    /// The pictures of a card, as HTML. Of what agrees, the map and the scatter are folded away.
    fn pictures(&self) -> String {
        let slices = self.slices();
        let map = if slices.is_empty() {
            self.difference_map().into_string()
        } else {
            slider(&slices, self.shape[..self.shape.len() - 2].iter().product())
        };
        // The distribution of a few errors is the table of mismatches.
        let differing = self.actual.iter().zip(&self.expected).filter(|(a, e)| a != e).count();
        let differing = differing - self.comparison.left_out();
        if !self.dtype.contains("float") || differing < LEAST_DISTRIBUTION {
            return if self.comparison.passed && differing == 0 { String::new() } else { map };
        }
        let (histogram, scatter) = (self.histogram(), self.scatter());
        if self.comparison.passed {
            format!("{histogram}<details><summary>where the errors are</summary>{map}{scatter}</details>")
        } else {
            format!("{map}{scatter}{histogram}")
        }
    }
}

impl CheckReport {
    /// The outputs that could be compared.
    pub fn compared(&self) -> impl Iterator<Item = &OutputCheck> {
        self.outputs.iter().filter(|o| o.comparison.incomparable.is_none())
    }

    /// Maps of the differences, one picture per output.
    pub fn difference_maps(&self) -> Vec<Svg> {
        self.compared().map(OutputCheck::difference_map).collect()
    }

    /// Histograms of the errors in ULP, one picture per output of floats.
    pub fn histograms(&self) -> Vec<Svg> {
        self.compared().filter(|o| o.dtype.contains("float")).map(OutputCheck::histogram).collect()
    }
}

impl Show for CheckReport {
    fn bundle(&self) -> MimeBundle {
        let mut facts = Vec::new();
        for o in &self.outputs {
            let c = &o.comparison;
            let prefix = if self.outputs.len() > 1 { format!("{}: ", o.name) } else { String::new() };
            if let Some(why) = &c.incomparable {
                facts.push((format!("{prefix}cannot be compared"), why.clone()));
                continue;
            }
            facts.push((format!("{prefix}mismatches"), format!("{} of {}", c.mismatches, c.total)));
            if !c.unwritten.is_empty() {
                facts.push((
                    format!("{prefix}unwritten"),
                    format!(
                        "{}: nobody wrote {}",
                        c.unwritten.len(),
                        if c.unwritten.len() == 1 { "it" } else { "them" }
                    ),
                ));
            }
            if !c.expected_unwritten.is_empty() {
                facts.push((format!("{prefix}left out by {}", o.other()), c.expected_unwritten.len().to_string()));
            }
            if o.has_errors() {
                facts.push((format!("{prefix}{}", o.worst_name()), c.share()));
                facts.push((format!("{prefix}max abs"), short(c.max_abs)));
                facts.push((format!("{prefix}max rel"), short(c.max_rel)));
                facts.push((format!("{prefix}max ULP"), ulp(c.max_ulp)));
            }
            facts.push((format!("{prefix}tolerance"), tolerance(c.tolerance.rtol, c.tolerance.atol)));
            facts.extend(o.notes().into_iter().map(|note| (format!("{prefix}note"), note)));
        }
        // Versions are named, as neither is more right than the other.
        let is_reference = self.against == REFERENCE;
        let [got, wanted] = if is_reference { ["result", "reference"] } else { [&*self.name, &*self.against] };
        let mut table = Table {
            columns: vec![
                Column::text("at"),
                Column::number(got),
                Column::number(wanted),
                Column::number("abs"),
                Column::number("ULP"),
            ],
            rows: Vec::new(),
        };
        let is_known = self.outputs.iter().flat_map(|o| &o.comparison.first).any(|m| writer(m).is_some());
        table.columns.extend(is_known.then(|| Column::text("written by")));
        for o in &self.outputs {
            for m in o.comparison.listed() {
                let at = format!("{}{}", o.name, index(&m.index));
                let nothing = || "-".to_owned();
                let got = if m.unwritten { nothing() } else { element(m.actual) };
                let wanted = if m.expected_unwritten { nothing() } else { element(m.expected) };
                let [abs, ulp] = if m.unwritten || m.expected_unwritten {
                    [nothing(), nothing()]
                } else {
                    [short(m.abs), ulp(m.ulp)]
                };
                let mut row = vec![at, got, wanted, abs, ulp];
                row.extend(is_known.then(|| writer(m).unwrap_or_else(|| "unknown".to_owned())));
                table.rows.push(row);
            }
        }
        let first = self.outputs.iter().map(|o| o.comparison.first.len()).sum();
        let all = self.compared().map(|o| o.comparison.mismatches).sum();
        let pictures = rest(table.rows.len() > first, first, all)
            + &self.compared().map(OutputCheck::pictures).collect::<String>();
        let title = format!("{} beside {}", self.name, self.against);
        MimeBundle {
            plain: self.to_string(),
            html: Some(check_card(&title, self.passed, &facts, &table, &pictures)),
            svg: None,
            // A report that cannot be written as JSON still has its other forms.
            json: self.to_json().ok(),
        }
    }
}

impl Show for TierReport {
    fn bundle(&self) -> MimeBundle {
        let columns = ["tier", "code", ""].map(Column::text).to_vec();
        let mut table = Table { columns, rows: Vec::new() };
        for row in &self.rows {
            let mut notes = row.state.why().into_iter().chain(row.notes.iter().map(String::as_str));
            let first = notes.next().unwrap_or_default().to_owned();
            table.rows.push(vec![row.tier.to_owned(), row.state.name().to_owned(), first]);
            table.rows.extend(notes.map(|note| vec![String::new(), String::new(), note.to_owned()]));
        }
        MimeBundle { plain: self.to_string(), html: Some(tier_card(self, &table)), svg: None, json: None }
    }
}

/// A line for a table that lists the first mismatches alone, after the worst where it is none of these; none where it lists all.
fn rest(has_worst: bool, first: usize, all: usize) -> String {
    if first == 0 || first >= all {
        return String::new();
    }
    let worst = if has_worst { "the worst, then " } else { "" };
    format!("<p class=\"wb-muted\">{worst}the first {first} of {all} mismatches; the map below has the rest</p>")
}

/// A tolerance in words.
fn tolerance(rtol: f64, atol: f64) -> String {
    let number = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:e}") };
    format!("rtol {}, atol {}", number(rtol), number(atol))
}

/// A name as it stands in tables and pictures: without backticks.
fn plain(name: String) -> String {
    name.replace('`', "")
}

impl GradReport {
    /// Maps of the differences between the Jacobians, one picture for each argument: a row for each element of the outputs, a column for each
    /// of the argument.
    pub fn pictures(&self) -> Vec<Svg> {
        let picture = |jacobian: &Jacobian| {
            let options = DifferenceOptions {
                title: format!("Jacobian of {}: backward less differences", self.input(jacobian.input)),
                rtol: self.options.rtol,
                atol: self.options.atol,
                sides: Some(self.sides(jacobian)),
                ..DifferenceOptions::default()
            };
            difference_map(&jacobian.analytical, &jacobian.numerical, &jacobian.shape, &options)
        };
        self.jacobians.iter().map(picture).collect()
    }

    /// The names down and across a Jacobian: the elements of the outputs, and those of the argument.
    fn sides(&self, jacobian: &Jacobian) -> [Side; 2] {
        let elements = |name: &str, shape: &[usize]| -> Vec<String> {
            // An array of no dimensions is its one element.
            let place = |i| if shape.is_empty() { String::new() } else { index(&unravel(i, shape)) };
            (0..shape.iter().product()).map(|i| format!("{name}{}", place(i))).collect()
        };
        let outputs: Vec<String> = jacobian.outputs.iter().map(|(number, _)| plain(self.output(*number))).collect();
        let rows = outputs.iter().zip(&jacobian.outputs).flat_map(|(name, (_, shape))| elements(name, shape));
        let input = plain(self.input(jacobian.input));
        let down = Side { title: format!("elements of {}", outputs.join(" and ")), names: rows.collect() };
        let names = elements(&input, &jacobian.input_shape);
        [down, Side { title: format!("elements of {input}"), names }]
    }
}

impl Show for GradReport {
    fn bundle(&self) -> MimeBundle {
        let mut facts = vec![
            ("precision".to_owned(), self.precision.clone()),
            ("compared".to_owned(), format!("{} elements of Jacobians", self.compared)),
            ("eps".to_owned(), format!("{:e}", self.options.eps)),
            ("tolerance".to_owned(), tolerance(self.options.rtol, self.options.atol)),
        ];
        facts.extend(
            self.max_error.iter().map(|(i, e)| (format!("{}: largest error", plain(self.input(*i))), short(*e))),
        );
        let mut table = Table {
            columns: vec![
                Column::text("output"),
                Column::text("argument"),
                Column::number("by backward"),
                Column::number("by differences"),
            ],
            rows: Vec::new(),
        };
        // The column of writers is there where any is known: a gradient may be the result of no kernel.
        let has_writers = self.worst.iter().chain(&self.first).any(|m| m.written_by().is_some());
        if has_writers {
            table.columns.push(Column::text("gradient written by"));
        }
        if !self.passed {
            facts.insert(0, ("mismatches".to_owned(), format!("{} of {}", self.mismatches, self.compared)));
        }
        // The worst comes first, if it is not among the first anyway.
        let worst = self.worst.iter().filter(|w| !self.passed && !self.first.contains(w));
        for w in worst.chain(&self.first) {
            let mut row = vec![
                format!("{}{}", plain(self.output(w.output)), index(&w.output_index)),
                format!("{}{}", plain(self.input(w.input)), index(&w.input_index)),
                short(w.analytical),
                short(w.numerical),
            ];
            if has_writers {
                row.push(w.written_by().unwrap_or_default());
            }
            table.rows.push(row);
        }
        let pictures = if self.passed {
            String::new()
        } else {
            rest(table.rows.len() > self.first.len(), self.first.len(), self.mismatches)
                + &self.pictures().iter().map(Svg::as_str).collect::<String>()
        };
        let title = format!("Gradient of {} beside finite differences", self.name);
        MimeBundle {
            plain: self.to_string(),
            html: Some(check_card(&title, self.passed, &facts, &table, &pictures)),
            svg: None,
            json: self.to_json().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::GradOptions;

    fn report(input_shape: Vec<usize>, outputs: Vec<(usize, Vec<usize>)>) -> GradReport {
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        let shape = [outputs.iter().map(|(_, shape)| count(shape)).sum(), count(&input_shape)];
        let numerical = vec![0.0; shape[0] * shape[1]];
        let mut analytical = numerical.clone();
        let at = (shape[1] + 1).min(analytical.len() - 1);
        analytical[at] = 3.0;
        let jacobian = Jacobian { input: 0, shape, input_shape, outputs, analytical, numerical };
        GradReport {
            name: "twice".into(),
            inputs: vec!["x".into()],
            outputs: vec!["y".into(), "z".into()],
            passed: false,
            precision: "float64".into(),
            options: GradOptions::default(),
            max_error: vec![(0, 3.0)],
            worst: None,
            compared: shape[0] * shape[1],
            mismatches: 1,
            first: Vec::new(),
            jacobians: vec![jacobian],
        }
    }

    #[test]
    fn a_jacobian_names_its_rows_and_columns() {
        let svg = report(vec![2, 2], vec![(0, vec![3])]).pictures()[0].to_string();
        assert!(svg.contains("down: elements of y; across: elements of x"), "{svg}");
        for shown in ["y[0]", "y[2]", "x[0, 0]", "x[1, 1]", "y[1] by x[0, 1]: 3 instead of 0"] {
            assert!(svg.contains(shown), "{shown} in {svg}");
        }
        assert!(!svg.contains('`'), "{svg}");
        let two = report(vec![], vec![(0, vec![1]), (1, vec![2])]);
        let sides = two.sides(&two.jacobians[0]);
        assert_eq!(sides[0].names, ["y[0]", "z[0]", "z[1]"]);
        assert_eq!(
            (sides[0].title.as_str(), sides[1].names.as_slice()),
            ("elements of y and z", &["x".to_owned()][..])
        );
    }

    #[test]
    fn a_card_of_a_gradient_has_no_backticks() {
        let html = report(vec![4], vec![(0, vec![4])]).bundle().html.expect("a card");
        assert!(html.contains("x: largest error") && !html.contains('`'), "{html}");
    }

    #[test]
    fn a_table_of_the_first_mismatches_says_so() {
        assert_eq!(rest(false, 8, 8), "");
        assert!(rest(false, 8, 123).contains(">the first 8 of 123 mismatches"));
        assert!(rest(true, 8, 123).contains(">the worst, then the first 8 of 123 mismatches"));
    }
}
