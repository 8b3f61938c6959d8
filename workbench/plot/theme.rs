//! Looks of the roles of a picture, on its own and inside a page.
//!
//! A role's colour is a CSS variable with a fallback. The variables are set by [`page_css`] on the card around a
//! picture; a picture alone has only the fallbacks, tones with a contrast of at least 3 (text: 4) on white and
//! on `#111`; a picture in a file has a page of its own and the tones of that page ([`tone_on`]). Hues are those of Okabe and Ito, "Color Universal Design" (2008), which stay apart under every common
//! colour blindness.

use plotters::style::RGBColor;

/// Fonts of all text.
pub const FONTS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

/// Fonts of text in letters of one width.
pub const CODE_FONTS: &str = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

/// The most that a card is wide, in pixels; pictures in it are no wider.
pub const CARD_WIDTH: u32 = 780;

/// The number of contestants with a hue of their own; as many more repeat the hues with dashed lines.
pub const HUES: usize = 7;

/// The role of a mark in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Titles, labels, outlines.
    Ink,
    /// Ticks, captions.
    Muted,
    /// Thin lines behind the data.
    Grid,
    /// Places where nothing differs.
    Zero,
    /// Too large.
    Positive,
    /// Too small.
    Negative,
    /// Not a finite number.
    Odd,
    /// A contestant, by its place.
    Series(usize),
    /// A place that is not seen and tells something under the pointer.
    Pointer,
}

/// CSS variable, alone, on a light page, on a dark page.
pub(super) struct Tone {
    variable: &'static str,
    alone: &'static str,
    pub(super) light: &'static str,
    pub(super) dark: &'static str,
}

impl Tone {
    /// The light page's tone where the text is dark, and the dark page's where it is light; `None` for tones that are the text's own.
    fn by_text(&self) -> Option<String> {
        let (light, dark) = (oklab(self.light)?, oklab(self.dark)?);
        // Dark text has a lightness near 0 and light text one near 1; at 0.6 a clamped steep line goes from one tone to the other.
        let part = |(light, dark): (&f64, &f64)| {
            let steep = if dark >= light { 1000 } else { -1000 };
            format!("clamp({:.4},(l - .6)*{steep},{:.4})", light.min(*dark), light.max(*dark))
        };
        let parts: Vec<String> = light.iter().zip(&dark).map(part).collect();
        Some(format!("oklab(from currentColor {})", parts.join(" ")))
    }
}

/// A colour `#rrggbb` in Oklab: Björn Ottosson, "A perceptual color space for image processing" (2020).
fn oklab(hex: &str) -> Option<[f64; 3]> {
    let byte = |at: usize| u8::from_str_radix(hex.strip_prefix('#')?.get(at..at + 2)?, 16).ok();
    let linear = |byte: u8| {
        let c = f64::from(byte) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let (r, g, b) = (linear(byte(0)?), linear(byte(2)?), linear(byte(4)?));
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    Some([
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ])
}

const INK: Tone = Tone { variable: "ink", alone: "#7b7b7b", light: "currentColor", dark: "currentColor" };
const MUTED: Tone = Tone {
    variable: "muted",
    alone: "#7b7b7b",
    light: "color-mix(in srgb,currentColor 68%,transparent)",
    dark: "color-mix(in srgb,currentColor 68%,transparent)",
};

const SERIES: [Tone; HUES] = [
    Tone { variable: "blue", alone: "#1a80c0", light: "#0072b2", dark: "#3d9be0" },
    Tone { variable: "vermillion", alone: "#d55e00", light: "#d55e00", dark: "#f0762a" },
    Tone { variable: "green", alone: "#009e73", light: "#009e73", dark: "#16b88c" },
    Tone { variable: "purple", alone: "#c56d9e", light: "#c0629a", dark: "#d98bb8" },
    Tone { variable: "orange", alone: "#c48600", light: "#c48600", dark: "#e9a820" },
    Tone { variable: "sky", alone: "#3b98cc", light: "#3b98cc", dark: "#7cc8f2" },
    Tone { variable: "grey", alone: "#868686", light: "#767676", dark: "#a3a3a3" },
];

/// Tones of the words "passed" and "failed": the hues of their marks with a contrast of at least 4.5 on the page.
pub(super) const VERDICTS: [Tone; 2] = [
    Tone { variable: "pass", alone: "#007a58", light: "#007a58", dark: "#16b88c" },
    Tone { variable: "fail", alone: "#b85100", light: "#b85100", dark: "#f58a48" },
];

impl Role {
    /// The colour that carries the role through plotters to our backend.
    pub(super) fn color(self) -> RGBColor {
        let (kind, index) = match self {
            Role::Ink => (0, 0),
            Role::Muted => (1, 0),
            Role::Grid => (2, 0),
            Role::Zero => (3, 0),
            Role::Positive => (4, 0),
            Role::Negative => (5, 0),
            Role::Odd => (6, 0),
            Role::Series(i) => (7, (i % (2 * HUES)) as u8),
            Role::Pointer => (8, 0),
        };
        RGBColor(kind, index, 0)
    }

    /// The role that a colour carries.
    pub(super) fn from_rgb((kind, index, _): (u8, u8, u8)) -> Role {
        match kind {
            1 => Role::Muted,
            2 => Role::Grid,
            3 => Role::Zero,
            4 => Role::Positive,
            5 => Role::Negative,
            6 => Role::Odd,
            7 => Role::Series(index as usize),
            8 => Role::Pointer,
            _ => Role::Ink,
        }
    }

    /// The class of marks of this role, `f` for filled, `s` for stroked.
    pub(super) fn class(self, filled: bool) -> String {
        let RGBColor(kind, index, _) = self.color();
        format!("{}{kind}{index}", if filled { 'f' } else { 's' })
    }

    fn tone(self) -> &'static Tone {
        match self {
            Role::Ink | Role::Grid | Role::Zero | Role::Pointer => &INK,
            Role::Muted => &MUTED,
            Role::Positive => &SERIES[1],
            Role::Negative => &SERIES[0],
            Role::Odd => &SERIES[3],
            Role::Series(i) => &SERIES[i % HUES],
        }
    }

    /// The rule of one class. The plain colour comes first, for readers that know no CSS variables.
    pub(super) fn rule(self, filled: bool) -> String {
        let Tone { variable, alone, .. } = self.tone();
        let property = if filled { "fill" } else { "stroke" };
        let mut rule = format!("{property}:{alone};{property}:var(--wb-{variable},{alone})");
        match self {
            Role::Grid => rule.push_str(&format!(";{property}-opacity:.2")),
            Role::Zero => rule.push_str(&format!(";{property}-opacity:.09")),
            // Not `none`, which the pointer does not see.
            Role::Pointer => rule.push_str(&format!(";{property}-opacity:0")),
            Role::Series(i) if !filled && i >= HUES => rule.push_str(";stroke-dasharray:5 4"),
            _ => {}
        }
        rule
    }
}

/// The page of a picture in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// White.
    #[default]
    Light,
    /// Nearly black.
    Dark,
}

impl Page {
    /// The colour of the page.
    pub fn ground(self) -> &'static str {
        match self {
            Page::Light => "#ffffff",
            Page::Dark => "#111111",
        }
    }
}

/// The tone of a variable on a page. Ink and its mixture with the page, which follow the text in a notebook, are plain colours here.
pub(super) fn tone_on(page: Page, variable: &str) -> Option<&'static str> {
    let of_page = |light, dark| if page == Page::Light { light } else { dark };
    match variable {
        "ink" => Some(of_page("#1c1c1c", "#e6e6e6")),
        "muted" => Some(of_page("#5c5c5c", "#a8a8a8")),
        name => SERIES.iter().find(|tone| tone.variable == name).map(|tone| of_page(tone.light, tone.dark)),
    }
}

/// Sets the variables for everything inside `selector`: by the lightness of the page's text where the browser can, else by the system's
/// preference; then by the settings of JupyterLab, VS Code and Colab for their page. Greys follow the page's text colour in any case.
pub fn page_css(selector: &str) -> String {
    let tones = || [&INK, &MUTED].into_iter().chain(&SERIES).chain(&VERDICTS);
    let light: String = tones().map(|t| format!("--wb-{}:{};", t.variable, t.light)).collect();
    let dark: String = tones().map(|t| format!("--wb-{}:{};", t.variable, t.dark)).collect();
    let by_text: String = tones().filter_map(|t| Some(format!("--wb-{}:{};", t.variable, t.by_text()?))).collect();
    format!(
        "{selector}{{{light}}}\
         @media (prefers-color-scheme:dark){{{selector}{{{dark}}}}}\
         @supports (color:oklab(from red l a b)){{{selector}{{{by_text}}}}}\
         [data-jp-theme-light=\"true\"] {selector},.vscode-light {selector},html[theme=light] {selector}{{{light}}}\
         [data-jp-theme-light=\"false\"] {selector},.vscode-dark {selector},html[theme=dark] {selector}{{{dark}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_is_what_its_author_says() {
        // White is (1, 0, 0); sRGB's red is (0.62796, 0.22486, 0.12585) by the conversion that CSS Color 4 gives.
        for (hex, wanted) in
            [("#ffffff", [1.0, 0.0, 0.0]), ("#000000", [0.0; 3]), ("#ff0000", [0.62796, 0.22486, 0.12585])]
        {
            for (got, wanted) in oklab(hex).unwrap().iter().zip(wanted) {
                // Five digits are given.
                assert!((got - wanted).abs() < 1e-4, "{hex}: {got} for {wanted}");
            }
        }
        assert_eq!(oklab("currentColor"), None);
    }

    #[test]
    fn a_tone_by_the_text_is_that_of_the_page() {
        let blue = SERIES[0].by_text().unwrap();
        let (light, dark) = (oklab("#0072b2").unwrap(), oklab("#3d9be0").unwrap());
        assert!(
            blue.starts_with(&format!("oklab(from currentColor clamp({:.4},(l - .6)*1000,{:.4})", light[0], dark[0]))
        );
        assert!(INK.by_text().is_none() && MUTED.by_text().is_none());
    }
}
