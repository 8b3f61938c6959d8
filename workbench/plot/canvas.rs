//! The plotters backend that writes our SVG, and the few strokes of which pictures consist.
//!
//! Plotters uses whole pixels; ours are tenths of a picture's, so lines are smooth at any scale. Colours carry roles (see
//! [`super::theme`]). Consecutive rectangles of the same look become one path: a map of four thousand cells is a few dozen elements.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write;
use std::rc::Rc;

use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::style::{Color, IntoFont, ShapeStyle, TextStyle};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
};

use super::svg::{Svg, escape};
use super::theme::{CODE_FONTS, FONTS, Role};

/// Plotters' pixels per pixel of ours.
const GRAIN: f64 = 10.0;

pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<Infallible>>;

/// The drawing area in data coordinates.
pub(super) type Plane = DrawingArea<Pen, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The text so far.
#[derive(Default)]
struct Sheet {
    body: String,
    /// Filled rectangles of one class and opacity, not yet written.
    cells: Option<(String, String)>,
    tip: Option<String>,
    used: Vec<(Role, bool)>,
}

impl Sheet {
    fn class(&mut self, role: Role, filled: bool) -> String {
        if !self.used.contains(&(role, filled)) {
            self.used.push((role, filled));
        }
        role.class(filled)
    }

    fn flush(&mut self) {
        if let Some((look, path)) = self.cells.take() {
            let _ = writeln!(self.body, "<path {look} d=\"{path}\"/>");
        }
    }

    /// One element, with the tip that waits for it.
    fn element(&mut self, text: &str) {
        self.flush();
        match (self.tip.take(), text.strip_suffix("/>")) {
            (Some(tip), Some(open)) => {
                let name: String = open.chars().skip(1).take_while(char::is_ascii_alphabetic).collect();
                let _ = writeln!(self.body, "{open}><title>{}</title></{name}>", escape(&tip));
            }
            _ => {
                let _ = writeln!(self.body, "{text}");
            }
        }
    }
}

/// The backend: writes elements as plotters asks for them.
pub(super) struct Pen {
    sheet: Rc<RefCell<Sheet>>,
    size: (u32, u32),
}

type Stroke<T = ()> = Result<T, DrawingErrorKind<Infallible>>;

/// A coordinate in our pixels, without needless digits.
fn px(tenths: i32) -> String {
    let (sign, tenths) = if tenths < 0 { ("-", -tenths) } else { ("", tenths) };
    if tenths % 10 == 0 { format!("{sign}{}", tenths / 10) } else { format!("{sign}{}.{}", tenths / 10, tenths % 10) }
}

fn opacity(color: BackendColor) -> String {
    if color.alpha >= 1.0 { String::new() } else { format!(" opacity=\"{:.2}\"", color.alpha) }
}

fn points(path: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut text = String::new();
    for (x, y) in path {
        let _ = write!(text, "{}{},{}", if text.is_empty() { "M" } else { "L" }, px(x), px(y));
    }
    text
}

impl Pen {
    fn look<S: BackendStyle>(&self, style: &S, filled: bool) -> String {
        let color = style.color();
        let class = self.sheet.borrow_mut().class(Role::from_rgb(color.rgb), filled);
        let width =
            if filled { String::new() } else { format!(" stroke-width=\"{}\"", px(style.stroke_width() as i32)) };
        format!("class=\"{class}\"{}{width}", opacity(color))
    }
}

impl DrawingBackend for Pen {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Stroke {
        Ok(())
    }

    fn present(&mut self) -> Stroke {
        self.sheet.borrow_mut().flush();
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Stroke {
        self.draw_rect((x, y), (x + 1, y + 1), &Pixel(color), true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Stroke {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Stroke {
        let look = self.look(style, false);
        self.sheet.borrow_mut().element(&format!("<path {look} d=\"{}\"/>", points(path)));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Stroke {
        let look = self.look(style, true);
        self.sheet.borrow_mut().element(&format!("<path {look} d=\"{}Z\"/>", points(path)));
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (x0, y0): BackendCoord,
        (x1, y1): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Stroke {
        let look = self.look(style, fill);
        let (w, h) = (px(x1 - x0), px(y1 - y0));
        let path = format!("M{},{}h{w}v{h}h-{w}Z", px(x0), px(y0));
        let mut sheet = self.sheet.borrow_mut();
        if !fill || sheet.tip.is_some() {
            sheet.element(&format!("<path {look} d=\"{path}\"/>"));
            return Ok(());
        }
        // Cells touch: without antialiasing no seam shows between them.
        let look = format!("{look} shape-rendering=\"crispEdges\"");
        match &mut sheet.cells {
            Some((open, cells)) if *open == look => cells.push_str(&path),
            _ => {
                sheet.flush();
                sheet.cells = Some((look, path));
            }
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, (x, y): BackendCoord, radius: u32, style: &S, fill: bool) -> Stroke {
        let look = self.look(style, fill);
        let circle = format!("<circle {look} cx=\"{}\" cy=\"{}\" r=\"{}\"/>", px(x), px(y), px(radius as i32));
        self.sheet.borrow_mut().element(&circle);
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, (x, y): BackendCoord) -> Stroke {
        let mut sheet = self.sheet.borrow_mut();
        let class = sheet.class(Role::from_rgb(style.color().rgb), true);
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        let dy = match style.anchor().v_pos {
            VPos::Top => ".76em",
            VPos::Center => ".35em",
            VPos::Bottom => "-.2em",
        };
        let weight = if matches!(style.style(), FontStyle::Bold) { " font-weight=\"600\"" } else { "" };
        let size = px(style.size() as i32);
        let open = format!("<text class=\"{class}\" x=\"{}\" y=\"{}\" dy=\"{dy}\" font-size=\"{size}\"", px(x), px(y));
        sheet.element(&format!("{open}{anchor}{weight}>{}</text>", escape(text)));
        Ok(())
    }
}

/// The style of a single pixel.
struct Pixel(BackendColor);

impl BackendStyle for Pixel {
    fn color(&self) -> BackendColor {
        self.0
    }
}

/// A picture in the making. Lengths are in the picture's own pixels, from the top left.
pub(super) struct Canvas {
    sheet: Rc<RefCell<Sheet>>,
    root: DrawingArea<Pen, Shift>,
    size: (u32, u32),
    fonts: &'static str,
}

/// Draws a picture of `width` by `height`; `label` is the text for screen readers.
pub(super) fn picture(width: u32, height: u32, label: &str, draw: impl FnOnce(&Canvas) -> Drawn) -> Svg {
    drawn(Canvas::new(width, height), label, draw)
}

/// [`picture`], with letters of one width.
pub(super) fn code_picture(width: u32, height: u32, label: &str, draw: impl FnOnce(&Canvas) -> Drawn) -> Svg {
    drawn(Canvas { fonts: CODE_FONTS, ..Canvas::new(width, height) }, label, draw)
}

fn drawn(canvas: Canvas, label: &str, draw: impl FnOnce(&Canvas) -> Drawn) -> Svg {
    if let Err(error) = draw(&canvas) {
        // Only plotters' own bookkeeping can fail: the pen cannot.
        return notice(label, &format!("the picture could not be drawn: {error}"));
    }
    canvas.finish(label)
}

/// A picture of one line, which says why there is nothing to see.
pub(super) fn notice(title: &str, message: &str) -> Svg {
    let canvas = Canvas::new(560, 76);
    let drawn =
        canvas.text(Role::Ink, 15.0, Weight::Bold, (HPos::Left, VPos::Bottom), (1.0, 28.0), title).and_then(|()| {
            canvas.text(Role::Muted, 13.0, Weight::Normal, (HPos::Left, VPos::Bottom), (1.0, 54.0), message)
        });
    debug_assert!(drawn.is_ok(), "text on an empty canvas");
    canvas.finish(&format!("{title}: {message}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Normal,
    Bold,
}

fn tenths((x, y): (f64, f64)) -> (i32, i32) {
    ((x * GRAIN).round() as i32, (y * GRAIN).round() as i32)
}

impl Canvas {
    fn new(width: u32, height: u32) -> Self {
        let sheet = Rc::new(RefCell::new(Sheet::default()));
        let grain = GRAIN as u32;
        let pen = Pen { sheet: Rc::clone(&sheet), size: (width * grain, height * grain) };
        Canvas { sheet, root: pen.into_drawing_area(), size: (width, height), fonts: FONTS }
    }

    /// A filled look of a role.
    pub(super) fn fill(role: Role, alpha: f64) -> ShapeStyle {
        role.color().mix(alpha).filled()
    }

    /// A stroked look of a role; the width in our pixels.
    pub(super) fn stroke(role: Role, width: f64) -> ShapeStyle {
        ShapeStyle::from(role.color()).stroke_width((width * GRAIN).round() as u32)
    }

    /// Sets the text that is shown when the pointer hovers over the next element.
    pub(super) fn tip(&self, text: impl Into<String>) {
        self.sheet.borrow_mut().tip = Some(self.words(&text.into()));
    }

    /// Text as it is drawn: without the backticks of names, but for letters of one width, which show text as it is.
    fn words(&self, text: &str) -> String {
        if self.fonts == CODE_FONTS { text.to_owned() } else { text.replace('`', "") }
    }

    pub(super) fn text(
        &self,
        role: Role,
        size: f64,
        weight: Weight,
        (h, v): (HPos, VPos),
        at: (f64, f64),
        text: &str,
    ) -> Drawn {
        let font = ("sans-serif", size * GRAIN).into_font();
        let font = if weight == Weight::Bold { font.style(FontStyle::Bold) } else { font };
        let color = role.color();
        let style = TextStyle::from(font).color(&color).pos(Pos::new(h, v));
        self.root.draw_text(&self.words(text), &style, tenths(at))
    }

    /// Title and caption, as every picture has them.
    pub(super) fn heading(&self, title: &str, caption: &str) -> Drawn {
        self.heading_of_lines(title, &[caption.to_owned()])
    }

    /// Title and a caption of several lines, each [`CAPTION_LINE`] below the one before.
    pub(super) fn heading_of_lines(&self, title: &str, caption: &[String]) -> Drawn {
        self.text(Role::Ink, 15.0, Weight::Bold, (HPos::Left, VPos::Bottom), (1.0, 24.0), title)?;
        for (i, line) in caption.iter().enumerate() {
            let at = (1.0, 43.0 + CAPTION_LINE * i as f64);
            self.text(Role::Muted, 12.0, Weight::Normal, (HPos::Left, VPos::Bottom), at, line)?;
        }
        Ok(())
    }

    pub(super) fn line(&self, role: Role, width: f64, path: &[(f64, f64)]) -> Drawn {
        let path: Vec<_> = path.iter().copied().map(tenths).collect();
        self.root.draw(&PathElement::new(path, Self::stroke(role, width)))
    }

    /// Lines apart from one another, as one element.
    pub(super) fn strokes(&self, role: Role, width: f64, lines: &[[(f64, f64); 2]]) {
        if lines.is_empty() {
            return;
        }
        let path: String = lines.iter().map(|line| points(line.map(tenths))).collect();
        let mut sheet = self.sheet.borrow_mut();
        let (class, width) = (sheet.class(role, false), px((width * GRAIN).round() as i32));
        sheet.element(&format!("<path class=\"{class}\" stroke-width=\"{width}\" d=\"{path}\"/>"));
    }

    /// A filled outline.
    pub(super) fn polygon(&self, style: ShapeStyle, corners: &[(f64, f64)]) -> Drawn {
        let corners: Vec<_> = corners.iter().copied().map(tenths).collect();
        self.root.draw(&Polygon::new(corners, style))
    }

    pub(super) fn circle(&self, style: ShapeStyle, at: (f64, f64), radius: f64) -> Drawn {
        self.root.draw(&Circle::new(tenths(at), (radius * GRAIN).round() as i32, style))
    }

    pub(super) fn rect(&self, style: ShapeStyle, (x, y): (f64, f64), (w, h): (f64, f64)) -> Drawn {
        self.root.draw(&Rectangle::new([tenths((x, y)), tenths((x + w, y + h))], style))
    }

    /// A plane for data: `x` and `y` are its ends in data coordinates, `y` pointing up.
    pub(super) fn plane(&self, at: (f64, f64), (w, h): (f64, f64), x: (f64, f64), y: (f64, f64)) -> Plane {
        let ((left, top), (right, bottom)) = (tenths(at), tenths((at.0 + w, at.1 + h)));
        let coord = Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(x.0..x.1, y.0..y.1, (left..right, bottom..top));
        self.root.clone().apply_coord_spec(coord)
    }

    fn finish(self, label: &str) -> Svg {
        let label = &self.words(label);
        let mut sheet = self.sheet.borrow_mut();
        sheet.flush();
        let (width, height) = self.size;
        let id = format!("wb-{:016x}", fingerprint(&[label, &sheet.body]));
        let mut style = format!("#{id} text{{font-family:{};font-variant-numeric:tabular-nums}}", self.fonts);
        for &(role, filled) in &sheet.used {
            let other = if filled { "" } else { ";fill:none;stroke-linejoin:round;stroke-linecap:round" };
            let _ = write!(style, "#{id} .{}{{{}{other}}}", role.class(filled), role.rule(filled));
        }
        Svg::new(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"{id}\" role=\"img\" aria-label=\"{}\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             style=\"width:100%;max-width:{width}px;height:auto\">\n<style>{style}</style>\n{}</svg>\n",
            escape(label),
            sheet.body
        ))
    }
}

/// The place of a data point, in our pixels.
pub(super) fn place(plane: &Plane, point: (f64, f64)) -> (f64, f64) {
    let (x, y) = plane.map_coordinate(&point);
    (f64::from(x) / GRAIN, f64::from(y) / GRAIN)
}

/// A line through data points.
pub(super) fn curve(plane: &Plane, style: ShapeStyle, path: Vec<(f64, f64)>) -> Drawn {
    plane.draw(&PathElement::new(path, style))
}

/// A filled outline through data points.
pub(super) fn region(plane: &Plane, style: ShapeStyle, path: Vec<(f64, f64)>) -> Drawn {
    plane.draw(&Polygon::new(path, style))
}

/// A dot at a data point; the radius in our pixels.
pub(super) fn dot(plane: &Plane, style: ShapeStyle, at: (f64, f64), radius: f64) -> Drawn {
    plane.draw(&Circle::new(at, (radius * GRAIN).round() as i32, style))
}

/// A bar between two corners in data coordinates.
pub(super) fn bar(plane: &Plane, style: ShapeStyle, from: (f64, f64), to: (f64, f64)) -> Drawn {
    plane.draw(&Rectangle::new([from, to], style))
}

/// The likely width of a text; no font is available to measure it.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.58
}

/// The width of a picture that has room for a caption.
pub(super) fn caption_width(caption: &str) -> f64 {
    text_width(caption, 12.0) + 8.0
}

/// The distance of two lines of a caption.
pub(super) const CAPTION_LINE: f64 = 16.0;

/// The lines of a caption in a picture of this width: broken between clauses, and between words where a clause is too long for a line.
pub(super) fn caption_lines(caption: &str, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    // True if the text had room on the last line, and stands there.
    let append = |lines: &mut Vec<String>, text: &str| {
        let Some(line) = lines.last_mut() else { return false };
        let joined = if line.is_empty() { text.to_owned() } else { format!("{line} {text}") };
        let fits = caption_width(&joined) <= width;
        if fits {
            *line = joined;
        }
        fits
    };
    for clause in caption.split_inclusive("; ").map(str::trim_end) {
        if append(&mut lines, clause) {
            continue;
        }
        if lines.last().is_some_and(|line| !line.is_empty()) {
            lines.push(String::new());
        }
        for word in clause.split(' ') {
            if !append(&mut lines, word) {
                lines.push(word.to_owned());
            }
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Text with a large first letter, for titles that begin with a word and not with a name.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// At most `most` characters; the rest becomes an ellipsis.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// FNV-1a (Fowler, Noll, Vo; RFC draft "The FNV Non-Cryptographic Hash Algorithm"), 64 bits: the same picture has the same id
/// everywhere, different pictures have different ones.
fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|p| p.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_break_between_clauses() {
        let caption = "the first clause; the second one; a third";
        assert_eq!(caption_lines(caption, caption_width(caption)), [caption]);
        assert_eq!(caption_lines(caption, 260.0), ["the first clause; the second one;", "a third"]);
        assert_eq!(caption_lines("a clause that is long; b", 90.0), ["a clause", "that is", "long; b"]);
        assert_eq!(caption_lines("unbreakable", 20.0), ["unbreakable"]);
        assert_eq!(caption_lines("", 90.0), [""; 0]);
    }
}
