//! One result in several forms, and the results that have them.

use super::card;
use super::html::{Column, Table};
use crate::bench::BenchReport;
use crate::ops::Op;
use crate::plot::Svg;
use crate::runtime::{Error, Report};
use crate::tune::{TuneReport, Tuning};

/// The forms of one result. A notebook takes the richest that it knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MimeBundle {
    /// `text/plain`, always there.
    pub plain: String,
    /// `text/html`: self-contained, with its pictures in the page, so that they take its theme.
    pub html: Option<String>,
    /// `image/svg+xml`, if the result is mainly a picture.
    pub svg: Option<String>,
    /// `application/json`, for programs. JupyterLab prefers it to a picture: hand it out only when asked.
    pub json: Option<String>,
}

impl MimeBundle {
    /// Plain text alone.
    pub fn text(plain: impl Into<String>) -> Self {
        MimeBundle { plain: plain.into(), ..MimeBundle::default() }
    }

    /// Adds HTML.
    #[must_use]
    pub fn with_html(mut self, html: impl Into<String>) -> Self {
        self.html = Some(html.into());
        self
    }
}

/// Something that shows itself in a notebook.
pub trait Show {
    /// All its forms.
    fn bundle(&self) -> MimeBundle;
}

impl Show for BenchReport {
    fn bundle(&self) -> MimeBundle {
        let picture = self.plot();
        MimeBundle {
            plain: self.to_string(),
            html: Some(card::bench_card(self, &picture)),
            svg: Some(picture.into_string()),
            // A report that cannot be written as JSON still has its other forms.
            json: self.to_json().ok(),
        }
    }
}

impl Show for Svg {
    fn bundle(&self) -> MimeBundle {
        MimeBundle {
            plain: "(a picture)".to_owned(),
            html: Some(card::picture_card(self)),
            svg: Some(self.as_str().to_owned()),
            json: None,
        }
    }
}

impl Show for Error {
    fn bundle(&self) -> MimeBundle {
        let plain = self.to_string();
        let html = crate::runtime::fault_display::error_html(self);
        MimeBundle::text(plain).with_html(html)
    }
}

impl Show for TuneReport {
    fn bundle(&self) -> MimeBundle {
        let picture = self.plot();
        let (columns, rows) = self.table();
        let columns = columns.into_iter().map(|(title, numeric)| Column { title, numeric }).collect();
        let mut facts = self.facts();
        facts.extend(self.notes.iter().map(|note| ("note".to_owned(), note.clone())));
        let title = format!("Tuning of {}", self.name);
        let card = card::report_card(&title, None, &facts, &Table { columns, rows }, picture.as_str());
        MimeBundle {
            plain: self.to_string(),
            html: Some(card),
            svg: Some(picture.into_string()),
            json: self.to_json().ok(),
        }
    }
}

impl Show for Tuning {
    fn bundle(&self) -> MimeBundle {
        self.report.bundle()
    }
}

/// An operator shows what it is.
impl Show for Op {
    fn bundle(&self) -> MimeBundle {
        MimeBundle::text(self.describe())
    }
}

/// The output of a launch.
impl Show for Report {
    fn bundle(&self) -> MimeBundle {
        MimeBundle::text(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back::PrintfRecord;
    use crate::bench::report::tests::sample_report;

    #[test]
    fn a_bench_report_has_every_form() {
        let bundle = sample_report(&[1024, 2048]).bundle();
        assert!(bundle.plain.contains("mine"));
        assert!(bundle.html.is_some_and(|h| h.contains("<svg") && h.contains("<table")));
        assert!(bundle.svg.is_some_and(|s| s.starts_with("<svg")));
        assert!(bundle.json.is_some_and(|j| j.starts_with('{')));
    }

    #[test]
    fn errors_are_escaped() {
        let bundle = Error::argument("`x` is <b>bold</b> & wrong").bundle();
        assert_eq!(bundle.plain, "`x` is <b>bold</b> & wrong");
        assert!(
            bundle.html.is_some_and(|h| h.contains("&lt;b&gt;bold&lt;/b&gt; &amp; wrong") && !h.contains("<b>bold"))
        );
    }

    #[test]
    fn printed_text_says_what_was_dropped() {
        let record = |text: &str| PrintfRecord { block: [0; 3], thread: [0; 3], text: text.to_owned(), kernel: None };
        let report = Report { output: vec![record("a "), record("b")], dropped: 3, warnings: Vec::new() };
        assert_eq!(report.bundle().plain, "a b\n[3 more printf calls were dropped]\n");
        assert_eq!(Report::default().bundle().plain, "");
    }
}
