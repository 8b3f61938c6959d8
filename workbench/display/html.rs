//! Parts of cards: escaping, tables, the one style sheet.
//!
//! Every piece of HTML is self-contained: it carries its style, every rule of which begins with `.wb-card`, and loads nothing. Greys are
//! mixed from the page's text colour, so a card is readable on any page; JupyterLab's own variables come first if they are set.

use std::fmt::Write;

use crate::plot::theme;

/// Text as HTML content or attribute value.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A table of text. Cells are escaped when it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Column titles; numbers are aligned to the right.
    pub columns: Vec<Column>,
    /// Lines of as many cells as there are columns.
    pub rows: Vec<Vec<String>>,
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The title above it.
    pub title: String,
    /// True if its cells are numbers.
    pub numeric: bool,
}

impl Column {
    /// A column of words.
    pub fn text(title: impl Into<String>) -> Self {
        Column { title: title.into(), numeric: false }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>) -> Self {
        Column { title: title.into(), numeric: true }
    }
}

impl Table {
    /// The table as HTML. A line whose first cell is empty belongs to the line above: no rule separates them.
    pub fn html(&self) -> String {
        let class = |column: usize| match self.columns.get(column) {
            Some(c) if c.numeric => " class=\"wb-n\"",
            _ => "",
        };
        let mut out = String::from("<table class=\"wb-table\"><thead><tr>");
        for (i, column) in self.columns.iter().enumerate() {
            let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(i), escape(&column.title));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            let more = row.first().is_some_and(String::is_empty);
            out.push_str(if more { "<tr class=\"wb-more\">" } else { "<tr>" });
            for (i, cell) in row.iter().enumerate() {
                let _ = write!(out, "<td{}>{}</td>", class(i), escape(cell));
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table>");
        out
    }
}

/// A card around `body`, which is HTML already. Its style comes with it.
pub fn card(body: &str) -> String {
    format!("<div class=\"wb-card\"><style>{}</style>{}</div>", style(), without_empty_lines(body))
}

/// HTML with the ends of lines inside `pre` as references to characters: in Markdown an empty line ends a piece of HTML.
fn without_empty_lines(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("<pre") {
        let end = rest[at..].find("</pre>").map_or(rest.len(), |length| at + length);
        out.push_str(&rest[..at]);
        out.push_str(&rest[at..end].replace('\n', "&#10;"));
        rest = &rest[end..];
    }
    out + rest
}

/// Tables and texts are as wide as the page lets them, and lines of prose are not. Scroll bars are of the text's colour, which fits the page
/// where the page does not say whether it is dark.
const WIDE: &str = "\
.wb-card.wb-card{max-width:none;scrollbar-color:color-mix(in srgb,currentColor 45%,transparent) transparent}\
.wb-card>p,.wb-card>.wb-title,.wb-card>.wb-facts{max-width:780px}";

/// The style sheet of all cards.
pub fn style() -> String {
    // Selectors are specific enough to win over `.jp-RenderedHTMLCommon table` and its striped rows.
    const RULES: &str = "\
.wb-card{color:var(--jp-content-font-color1,inherit);font-family:FONTS;font-size:13px;line-height:1.45;\
max-width:CARDpx;margin:.3em 0 .6em}\
.wb-card .wb-title{font-size:15px;font-weight:600;margin:0 0 .3em;display:flex;align-items:baseline;gap:.6em;\
flex-wrap:wrap}\
.wb-card .wb-status{font-size:12px;font-weight:600;padding:0 .55em;border-radius:.75em;border:1px solid currentColor;\
line-height:1.5}\
.wb-card .wb-pass{color:var(--wb-pass)}\
.wb-card .wb-fail{color:var(--wb-fail)}\
.wb-card p{margin:0 0 .35em}\
.wb-card .wb-muted{color:var(--wb-muted);font-size:12px}\
.wb-card .wb-facts{display:flex;flex-wrap:wrap;gap:.2em 1.8em;margin:.1em 0 .6em}\
.wb-card .wb-facts>div{min-width:0;overflow-wrap:anywhere}\
.wb-card .wb-facts span{color:var(--wb-muted);margin-right:.5em}\
.wb-card .wb-facts b{font-weight:600;font-variant-numeric:tabular-nums}\
.wb-card svg{display:block;margin:.4em 0 .6em}\
.wb-card details{margin:.2em 0 .5em}\
.wb-card .wb-slider{display:flex;flex-wrap:wrap;gap:3px;position:relative;margin:.3em 0}\
.wb-card .wb-slider>label>input{position:absolute;opacity:0;width:1px;height:1px;margin:0}\
.wb-card .wb-slider>label{font-size:12px;font-variant-numeric:tabular-nums;padding:.1em .5em;border-radius:3px;cursor:pointer;\
border:1px solid var(--wb-rule);background:color-mix(in srgb,var(--wb-vermillion) calc(var(--wb-share)*.55),transparent)}\
.wb-card .wb-slider>label:has(:checked){border-color:currentColor;font-weight:600}\
.wb-card .wb-slider>label:has(:focus-visible){outline:2px solid var(--wb-blue);outline-offset:1px}\
.wb-card .wb-slider>div{order:1;flex-basis:100%}\
@supports selector(:has(a)){.wb-card .wb-slider>div{display:none}}\
.wb-card .wb-slider>label:has(:checked)+div{display:block}\
.wb-card summary{display:list-item;cursor:pointer;color:var(--wb-muted)}\
.wb-card .wb-scroll{overflow-x:auto}\
.wb-card table.wb-table{border-collapse:collapse;border:0;margin:.4em 0 .6em;font-size:13px;\
font-variant-numeric:tabular-nums;table-layout:auto;color:inherit;background:none}\
.wb-card .wb-table thead tr th{font-weight:600;text-align:left;padding:.25em .9em .25em 0;border:0;\
border-bottom:1px solid var(--wb-rule);background:none;white-space:nowrap;color:var(--wb-muted)}\
.wb-card .wb-table tbody tr:nth-child(n){background:none}\
.wb-card .wb-table tbody tr td{text-align:left;padding:.22em .9em .22em 0;border:0;\
border-top:1px solid var(--wb-rule);white-space:nowrap;vertical-align:baseline;max-width:none}\
.wb-card .wb-table tbody tr:first-child td,.wb-card .wb-table tbody tr.wb-more td{border-top:0}\
.wb-card .wb-table tr .wb-n.wb-n{text-align:right}\
.wb-card .wb-table tr .wb-n+td:not(.wb-n),.wb-card .wb-table tr .wb-n+th:not(.wb-n){padding-left:.9em}\
.wb-card pre.wb-pre{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12.5px;\
line-height:1.4;margin:.2em 0 .4em;padding:.1em 0 .1em .9em;border:0;border-left:3px solid var(--wb-vermillion);\
background:none;color:inherit;white-space:pre;overflow-x:auto}\
.wb-card pre.wb-diff{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12.5px;\
line-height:1.4;margin:.2em 0 .4em;padding:0;border:0;background:none;color:inherit;white-space:pre}\
.wb-card .wb-diff .wb-added{background:color-mix(in srgb,var(--wb-green) 16%,transparent)}\
.wb-card .wb-diff .wb-removed{background:color-mix(in srgb,var(--wb-vermillion) 16%,transparent)}\
.wb-card .wb-diff mark{color:inherit;border-radius:2px;background:none}\
.wb-card .wb-diff .wb-added mark{background:color-mix(in srgb,var(--wb-green) 38%,transparent)}\
.wb-card .wb-diff .wb-removed mark{background:color-mix(in srgb,var(--wb-vermillion) 38%,transparent)}\
@media print{.wb-card .wb-scroll{overflow:visible}\
.wb-card .wb-table tbody tr td,.wb-card .wb-table thead tr th{white-space:normal;overflow-wrap:anywhere}\
.wb-card pre.wb-diff,.wb-card pre.wb-pre{white-space:pre-wrap;overflow-wrap:anywhere}\
.wb-card details::details-content{content-visibility:visible;block-size:auto}}";
    let rules = RULES
        .replace("FONTS", &format!("var(--jp-content-font-family,{})", theme::FONTS))
        .replace("CARD", &theme::CARD_WIDTH.to_string());
    let rule = ".wb-card{--wb-rule:color-mix(in srgb,currentColor 16%,transparent)}";
    format!("{}{rule}{rules}{WIDE}", theme::page_css(".wb-card"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_escape_and_align() {
        let table = Table {
            columns: vec![Column::text("a<b"), Column::number("t")],
            rows: vec![vec!["x & y".into(), "1".into()], vec![String::new(), "2".into()]],
        };
        assert_eq!(
            table.html(),
            "<table class=\"wb-table\"><thead><tr><th scope=\"col\">a&lt;b</th><th scope=\"col\" class=\"wb-n\">t</th></tr>\
             </thead><tbody><tr><td>x &amp; y</td><td class=\"wb-n\">1</td></tr><tr class=\"wb-more\"><td></td>\
             <td class=\"wb-n\">2</td></tr></tbody></table>"
        );
    }

    #[test]
    fn every_rule_stays_inside_the_card_and_loads_nothing() {
        let style = style();
        for rule in style.split('}').filter(|r| !r.is_empty()) {
            let selectors = rule.split('{').next().unwrap_or("");
            if selectors.starts_with("@media") || selectors.starts_with("@supports") {
                continue;
            }
            assert!(selectors.split(',').all(|s| s.contains(".wb-card")), "{rule}");
        }
        assert!(!style.contains("url(") && !style.contains("@import"));
    }

    #[test]
    fn control_characters_do_not_reach_the_page() {
        assert_eq!(escape("a\u{1b}[31m\n"), "a\u{fffd}[31m\n");
    }
}
