//! Pictures as SVG text: alone, on a page of their own, several as one.

use std::fmt;

use super::theme::{self, Page};

/// The margin of a picture on a page of its own.
const MARGIN: u32 = 14;
/// The gap between pictures of a stack.
const GAP: u32 = 22;

/// A picture as SVG text, complete and self-contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Svg(String);

impl Svg {
    /// A picture from its text.
    pub(super) fn new(text: String) -> Self {
        Svg(text)
    }

    /// The text, for a file, an `image/svg+xml` bundle or for putting into a page.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The picture on a page of its own, for a file: with a ground, a margin, and the tones of that page as plain colours, for readers that know no
    /// CSS variables.
    #[must_use]
    pub fn on_page(&self, page: Page) -> Svg {
        let plain = self.with_tones(|name| theme::tone_on(page, name));
        let Some(((width, height), at)) = self.size().zip(plain.find(">\n")) else { return Svg(plain) };
        let (wide, tall) = (width + 2 * MARGIN, height + 2 * MARGIN);
        let head = plain[..at]
            .replacen(
                &format!("viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\""),
                &format!("viewBox=\"-{MARGIN} -{MARGIN} {wide} {tall}\" width=\"{wide}\" height=\"{tall}\""),
                1,
            )
            .replacen(&format!("max-width:{width}px"), &format!("max-width:{wide}px"), 1);
        let ground = page.ground();
        let rect =
            format!("<rect x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"{wide}\" height=\"{tall}\" fill=\"{ground}\"/>");
        Svg(format!("{head}>\n{rect}\n{}", &plain[at + 2..]))
    }

    /// The text without a ground, in tones that are readable on white and on black, for readers that know no CSS variables.
    pub fn without_variables(&self) -> String {
        self.with_tones(|_| None)
    }

    /// The text with plain colours in the place of variables: those that `tone` gives for the variables' names, else those of a picture alone.
    fn with_tones(&self, tone: impl Fn(&str) -> Option<&'static str>) -> String {
        const VARIABLE: &str = "var(--wb-";
        // A rule has the plain colour first, then the same property with a variable.
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some(at) = rest.find(VARIABLE) {
            let name: &str = rest[at + VARIABLE.len()..].split(',').next().unwrap_or_default();
            let to = rest[at..].find(')').map_or(rest.len(), |end| at + end + 1);
            match tone(name) {
                Some(tone) => {
                    out.push_str(&rest[..at]);
                    out.push_str(tone);
                }
                None => out.push_str(&rest[..rest[..at].rfind(';').unwrap_or(at)]),
            }
            rest = &rest[to..];
        }
        out.push_str(rest);
        out
    }

    /// Width and height.
    pub(super) fn size(&self) -> Option<(u32, u32)> {
        let (_, rest) = self.0.split_once(" viewBox=\"0 0 ")?;
        let (width, height) = rest.split_once('"')?.0.split_once(' ')?;
        Some((width.parse().ok()?, height.parse().ok()?))
    }

    /// Pictures as one, each below the one before.
    pub fn stacked(label: &str, pictures: &[Svg]) -> Svg {
        let (mut width, mut height, mut body) = (0, 0, String::new());
        for picture in pictures {
            let Some((own, tall)) = picture.size() else { continue };
            height += if height > 0 { GAP } else { 0 };
            // Inside a picture the size is as it is drawn.
            let style = format!("style=\"width:100%;max-width:{own}px;height:auto\"");
            body.push_str(&picture.0.replacen(&style, &format!("y=\"{height}\""), 1));
            (width, height) = (width.max(own), height + tall);
        }
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" style=\"width:100%;max-width:{width}px;height:auto\">\n{body}</svg>\n",
            escape(label)
        ))
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Text as XML content or attribute. Characters that XML forbids become the replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
