//! Cards of checks and gradient checks.

use super::card::{check_card, tier_card};
use super::html::{Column, Table};
use super::{MimeBundle, Show};
use crate::autograd::GradReport;
use crate::check::report::{CheckReport, index, writer};
use crate::plot::{DifferenceOptions, ErrorKind, Svg, difference_map, error_histogram};
use crate::runtime::TierReport;

/// A number short enough for a table.
fn short(v: f64) -> String {
    if v == 0.0 || (v.abs() >= 1e-3 && v.abs() < 1e6) {
        format!("{v:.7}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{v:.4e}")
    }
}

fn ulp(v: f64) -> String {
    if v < 1e6 { format!("{v:.0}") } else { format!("{v:.2e}") }
}

impl CheckReport {
    /// Maps of the differences, one picture per output.
    pub fn difference_maps(&self) -> Vec<Svg> {
        self.outputs
            .iter()
            .filter(|o| o.comparison.incomparable.is_none())
            .map(|o| {
                let options = DifferenceOptions {
                    title: format!("{}: difference from the reference", o.name),
                    rtol: o.comparison.tolerance.rtol,
                    atol: o.comparison.tolerance.atol,
                    ..DifferenceOptions::default()
                };
                difference_map(&o.actual, &o.expected, &o.shape, &options)
            })
            .collect()
    }

    /// Histograms of the errors in ULP, one picture per output.
    pub fn histograms(&self) -> Vec<Svg> {
        self.outputs
            .iter()
            .filter(|o| o.comparison.incomparable.is_none() && o.dtype.contains("float"))
            .map(|o| error_histogram(&o.ulps, ErrorKind::Ulp, &o.name))
            .collect()
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
            facts.push((format!("{prefix}worst element"), c.share()));
            facts.push((format!("{prefix}max abs"), short(c.max_abs)));
            facts.push((format!("{prefix}max rel"), short(c.max_rel)));
            facts.push((format!("{prefix}max ULP"), ulp(c.max_ulp)));
            facts.push((
                format!("{prefix}tolerance"),
                format!("rtol {:e}, atol {:e}", c.tolerance.rtol, c.tolerance.atol),
            ));
        }
        let mut table = Table {
            columns: vec![
                Column::text("at"),
                Column::number("result"),
                Column::number("reference"),
                Column::number("abs"),
                Column::number("ULP"),
                Column::text("written by"),
            ],
            rows: Vec::new(),
        };
        for o in &self.outputs {
            for m in &o.comparison.first {
                table.rows.push(vec![
                    format!("{}{}", o.name, index(&m.index)),
                    short(m.actual),
                    short(m.expected),
                    short(m.abs),
                    ulp(m.ulp),
                    writer(m),
                ]);
            }
        }
        let mut pictures = self.difference_maps();
        pictures.extend(self.histograms());
        let title = format!("{} beside its reference", self.name);
        MimeBundle {
            plain: self.to_string(),
            html: Some(check_card(&title, self.passed, &facts, &table, &pictures)),
            svg: None,
            // A report that cannot be written as JSON still has its other forms.
            json: serde_json::to_string(self).ok(),
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

impl Show for GradReport {
    fn bundle(&self) -> MimeBundle {
        let mut facts = vec![
            ("precision".to_owned(), self.precision.clone()),
            ("compared".to_owned(), format!("{} elements of Jacobians", self.compared)),
            ("eps".to_owned(), format!("{:e}", self.options.eps)),
            ("tolerance".to_owned(), format!("rtol {:e}, atol {:e}", self.options.rtol, self.options.atol)),
        ];
        facts.extend(self.max_error.iter().map(|(i, e)| (format!("argument {i}: largest error"), short(*e))));
        let mut table = Table {
            columns: vec![
                Column::text("output"),
                Column::text("argument"),
                Column::number("by backward"),
                Column::number("by differences"),
            ],
            rows: Vec::new(),
        };
        if let Some(w) = self.worst.as_ref().filter(|_| !self.passed) {
            table.rows.push(vec![
                format!("{}{}", w.output, index(&w.output_index)),
                format!("{}{}", w.input, index(&w.input_index)),
                short(w.analytical),
                short(w.numerical),
            ]);
        }
        let title = format!("gradient of {} beside finite differences", self.name);
        MimeBundle {
            plain: self.to_string(),
            html: Some(check_card(&title, self.passed, &facts, &table, &[])),
            svg: None,
            json: serde_json::to_string(self).ok(),
        }
    }
}
