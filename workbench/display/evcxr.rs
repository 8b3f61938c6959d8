//! evcxr's display protocol: a type with an inherent method `evcxr_display(&self)` is shown by it, and blocks on
//! standard output between `EVCXR_BEGIN_CONTENT <mime>` and `EVCXR_END_CONTENT` become the cell's output.
//!
//! The last of several blocks of one mime type in a cell wins. JSON is left out: JupyterLab would show it in place of the picture.

use std::io::{self, Write};

use super::html::escape;
use super::{MimeBundle, Show};
use crate::autograd::GradReport;
use crate::back::notebook;
use crate::bench::BenchReport;
use crate::check::CheckReport;
use crate::ops::Op;
use crate::ops::history::History;
use crate::plot::Svg;
use crate::runtime::{Error, Report, TierReport};
use crate::tune::Tuning;

const BEGIN: &str = "EVCXR_BEGIN_CONTENT";
const END: &str = "EVCXR_END_CONTENT";

/// The variable that evcxr sets for the process that runs cells.
const RUNTIME: &str = "EVCXR_IS_RUNTIME";

/// The bundle as blocks of the protocol: plain text, and HTML or else the picture.
pub fn blocks(bundle: &MimeBundle) -> String {
    let rich = match (&bundle.html, &bundle.svg) {
        (Some(html), _) => Some(("text/html", html)),
        (None, Some(svg)) => Some(("image/svg+xml", svg)),
        (None, None) => None,
    };
    let mut out = block("text/plain", &bundle.plain);
    if let Some((mime, text)) = rich {
        out.push_str(&block(mime, text));
    }
    out
}

fn block(mime: &str, text: &str) -> String {
    // A word of the protocol inside the text would end the block.
    let text = text.replace(END, "EVCXR END CONTENT").replace(BEGIN, "EVCXR BEGIN CONTENT");
    format!("{BEGIN} {mime}\n{text}\n{END}\n")
}

/// Shows something in the cell that is running.
pub fn display(shown: &dyn Show) {
    let mut out = io::stdout().lock();
    // A closed standard output means that nobody is left to show anything to, or to tell.
    let _ = out.write_all(blocks(&shown.bundle()).as_bytes()).and_then(|()| out.flush());
}

/// Shows several things as one output of the cell that is running; outside of a notebook their texts.
pub fn display_all(shown: &[MimeBundle]) {
    let texts: Vec<&str> = shown.iter().map(|bundle| bundle.plain.trim_end()).filter(|text| !text.is_empty()).collect();
    let plain = texts.join("\n");
    let html = |bundle: &MimeBundle| match &bundle.html {
        Some(html) => html.clone(),
        None => format!("<pre>{}</pre>", escape(&bundle.plain)),
    };
    let page = shown.iter().map(html).collect::<String>();
    // The kernel of ours shows all outputs of a cell; evcxr's own keeps the last one of each form, so both forms are of the same things.
    if notebook::show(&plain, &page) {
        return;
    }
    let bundle = MimeBundle::text(plain).with_html(page);
    let text = if std::env::var_os(RUNTIME).is_some() { blocks(&bundle) } else { format!("{}\n", bundle.plain) };
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Gives types that implement [`Show`] the inherent method that evcxr looks for; a new report needs only its name here.
macro_rules! evcxr_display {
    ($($ty:ty),+ $(,)?) => {$(
        impl $ty {
            /// Shows this in a cell of a Rust notebook; evcxr calls it.
            pub fn evcxr_display(&self) {
                display(self);
            }
        }
    )+};
}

evcxr_display!(BenchReport, CheckReport, GradReport, History, Op, Svg, TierReport, Tuning, Error);

impl Report {
    /// Prints the output of the kernel: evcxr calls it.
    ///
    /// Plain output rather than a block, so that several launches of one cell are all shown.
    pub fn evcxr_display(&self) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(self.bundle().plain.as_bytes()).and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_framed_and_the_richest_form_follows_the_text() {
        let bundle = MimeBundle::text("a").with_html("<b>a</b>");
        assert_eq!(
            blocks(&bundle),
            "EVCXR_BEGIN_CONTENT text/plain\na\nEVCXR_END_CONTENT\n\
             EVCXR_BEGIN_CONTENT text/html\n<b>a</b>\nEVCXR_END_CONTENT\n"
        );
        assert_eq!(blocks(&MimeBundle::text("a")).matches(END).count(), 1);
    }

    #[test]
    fn text_cannot_end_its_own_block() {
        let text = blocks(&MimeBundle::text("x\nEVCXR_END_CONTENT\ny"));
        assert_eq!(text.matches(END).count(), 1);
        assert!(text.ends_with("y\nEVCXR_END_CONTENT\n"));
    }
}
