//! Tests that every picture is well-formed, self-contained, and readable on light and dark, whatever a report holds.

use super::theme::{self, HUES, Role};
use super::*;
use crate::bench::report::tests::sample_report;
use crate::bench::{BenchReport, BenchRow, Ceilings};

/// Checks that tags balance, attributes are quoted, and no control character or bare ampersand is left.
fn well_formed(svg: &str) {
    assert!(!svg.chars().any(|c| c.is_control() && c != '\n'), "control character");
    let mut open: Vec<String> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "stray `>` in {:?}", &rest[..at]);
        for (i, _) in rest[..at].match_indices('&') {
            let entity = ["&lt;", "&gt;", "&amp;", "&quot;"].iter().any(|e| rest[i..].starts_with(e));
            assert!(entity, "bare ampersand in {:?}", &rest[..at]);
        }
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in <{tag}>");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or("").to_owned());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "unclosed {open:?}");
}

/// The rules a picture must keep, whatever it shows.
fn sound(svg: &Svg) {
    let text = svg.as_str();
    well_formed(text);
    let lower = text.to_lowercase();
    for fixed in ["#000", "#fff", "black", "white", "nan,", ",nan", "infinity"] {
        assert!(!lower.replace("inf, nan", "").contains(fixed), "`{fixed}` in\n{text}");
    }
    assert!(!text.contains("http") || text.matches("http").count() == 1, "only the namespace is an address");
    assert!(text.contains("viewBox") && text.contains("role=\"img\""));
    // Colours are in the style sheet alone, each a variable with a fallback.
    let body = &text[text.find("</style>").expect("a style sheet")..];
    assert!(!body.contains("fill=\"") && !body.contains("stroke=\""), "{body}");
}

fn id(svg: &Svg) -> &str {
    svg.as_str().split("id=\"").nth(1).and_then(|s| s.split('"').next()).expect("an id")
}

fn every_report() -> Vec<BenchReport> {
    let full = sample_report(&[1024, 4096, 65_536, 1 << 20, 1 << 24]);
    let single = sample_report(&[1000]);
    let mut one_row = sample_report(&[7]);
    one_row.rows.truncate(1);
    let mut broken = sample_report(&[0, 7]);
    broken.rows.push(BenchRow::from_samples("nan", 7, 1, vec![f64::NAN]));
    broken.rows.push(BenchRow::from_samples("zero", 7, 1, vec![0.0, 0.0]));
    broken.rows.push(BenchRow::from_samples("<&\"\u{1}", u64::MAX, 1, vec![1e-300, 1e300]));
    let throughput = full.clone().with_bytes(|_, n| Some(n * 12));
    let mut many = sample_report(&[]);
    for i in 0..20 {
        many.rows.push(BenchRow::from_samples(&format!("contestant number {i}"), 8, 1, vec![1e-6; 8]));
    }
    vec![full, single, one_row, broken, throughput, many, sample_report(&[])]
}

#[test]
fn sweeps_of_any_report_are_sound() {
    for report in every_report() {
        let all = [Quantity::Auto, Quantity::Time, Quantity::Throughput, Quantity::Arithmetic, Quantity::SpeedUp];
        for quantity in all {
            sound(&sweep(&report, quantity));
        }
        for size in [0, 7, 1024, u64::MAX] {
            sound(&samples(&report, size));
        }
        for (bytes, flops) in [(12, 2), (1, 1000), (0, 0), (u64::MAX, 1)] {
            let report = report.clone().with_bytes(|_, _| Some(bytes)).with_flops(|_, n| Some(n.saturating_mul(flops)));
            let ceilings = Ceilings { bytes_per_s: 1e10, flops_per_s: 1e11 };
            sound(&roofline(&report, &ceilings));
            sound(&sweep(&report, Quantity::Arithmetic));
        }
    }
}

#[test]
fn pictures_say_what_they_lack() {
    let report = sample_report(&[1024, 4096]);
    let says = |svg: Svg, what: &str| assert!(svg.as_str().contains(what), "{what} in {svg}");
    says(sweep(&report, Quantity::Throughput), "wb.bench takes bytes=");
    says(sweep(&report, Quantity::Arithmetic), "wb.bench takes flops=");
    let ceilings = Ceilings { bytes_per_s: 1e10, flops_per_s: 1e11 };
    says(roofline(&report, &ceilings), "takes bytes= and flops=");
    let mut alone = report.clone();
    alone.rows.retain(|row| row.name == "mine");
    says(sweep(&alone, Quantity::SpeedUp), "nothing to be compared with");
    says(samples(&report, 5), "nothing was measured at this size");
}

#[test]
fn a_speed_up_is_the_ratio_of_the_paired_samples() {
    // The second contestant takes three and four times as long in the two rounds: the median ratio is 3.5.
    let mut report = sample_report(&[8]);
    report.rows = vec![
        BenchRow::from_samples("mine", 8, 1, vec![1e-6, 1e-6]),
        BenchRow::from_samples("numpy", 8, 1, vec![3e-6, 4e-6]),
    ];
    let svg = sweep(&report, Quantity::SpeedUp);
    assert!(svg.as_str().contains("over numpy") && svg.as_str().contains("3.50x"), "{svg}");
}

#[test]
fn a_point_of_a_roofline_tells_its_share_of_the_ceiling() {
    // 2 operations for 8 bytes are 0.25 a byte; at 10 GB/s that is 2.5 GFLOP/s at most. 2,000 operations in 1.6 us are 1.25 GFLOP/s.
    let mut report = sample_report(&[1000]);
    report.rows = vec![BenchRow::from_samples("mine", 1000, 1, vec![1.6e-6; 4])];
    let report = report.with_bytes(|_, n| Some(8 * n)).with_flops(|_, n| Some(2 * n));
    let svg = roofline(&report, &Ceilings { bytes_per_s: 1e10, flops_per_s: 1e12 });
    assert!(svg.as_str().contains("1.25 GFLOP/s at 0.25 operations per byte, 50 % of the ceiling"), "{svg}");
}

#[test]
fn differences_of_any_shape_are_sound() {
    let shapes: [&[usize]; 9] = [&[], &[1], &[5], &[1000], &[0, 4], &[1, 1], &[3, 200], &[300, 2], &[2, 3, 4]];
    for shape in shapes {
        let count: usize = shape.iter().product();
        let expected: Vec<f64> = (0..count).map(|i| i as f64).collect();
        let mut actual: Vec<f64> = expected.iter().map(|x| x + (x * 0.7).sin() * 1e-6).collect();
        let kinds =
            [DifferenceKind::Signed, DifferenceKind::Absolute, DifferenceKind::Relative, DifferenceKind::Tolerance];
        let scales = [DepthScale::Auto, DepthScale::Linear, DepthScale::SquareRoot, DepthScale::Log];
        for (kind, scale) in kinds.into_iter().flat_map(|kind| scales.map(|scale| (kind, scale))) {
            let options = DifferenceOptions { kind, scale, ..DifferenceOptions::default() };
            sound(&difference_map(&actual, &expected, shape, &options));
            sound(&difference_map(&expected, &expected, shape, &options));
            difference_slices(&actual, &expected, shape, &options).iter().for_each(|slice| sound(&slice.map));
        }
        sound(&error_scatter(&actual, &expected, &DifferenceOptions::default()));
        if let [rows, columns] = *shape {
            let side = |count: usize| Side { title: "all < of".into(), names: vec!["x\u{1}[<]".into(); count] };
            let sides = Some([side(rows), side(columns)]);
            sound(&difference_map(&actual, &expected, shape, &DifferenceOptions { sides, ..Default::default() }));
        }
        for (i, bad) in [f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX, 5e-324].into_iter().enumerate() {
            if let Some(x) = actual.get_mut(i) {
                *x = bad;
            }
        }
        sound(&difference_map(&actual, &expected, shape, &DifferenceOptions::default()));
        sound(&error_scatter(&actual, &expected, &DifferenceOptions::default()));
        let exact = DifferenceOptions { rtol: 0.0, atol: 0.0, ..DifferenceOptions::default() };
        sound(&error_scatter(&actual, &expected, &exact));
    }
}

#[test]
fn arrays_that_do_not_fit_are_said_to() {
    let svg = difference_map(&[1.0], &[1.0, 2.0], &[2], &DifferenceOptions::default());
    assert!(svg.as_str().contains("1 elements against 2 do not fill the shape [2]"));
    sound(&difference_map(&[1.0], &[1.0], &[usize::MAX, 2], &DifferenceOptions::default()));
}

#[test]
fn histograms_of_any_errors_are_sound() {
    let all: [&[f64]; 6] =
        [&[], &[0.0], &[1.0, 2.0, 700.0], &[f64::NAN, f64::INFINITY], &[5e-324, f64::MAX], &[-1.0, 0.0, 3.0]];
    for errors in all {
        for kind in [ErrorKind::Ulp, ErrorKind::Absolute, ErrorKind::Relative] {
            for scale in [CountScale::Auto, CountScale::Linear, CountScale::Log] {
                sound(&error_histogram(errors, kind, scale, "a < b"));
            }
        }
    }
}

#[test]
fn cases_versions_and_texts_are_sound() {
    let outcomes = [CaseOutcome::Right, CaseOutcome::Wrong, CaseOutcome::Failed, CaseOutcome::Unknown];
    let case = |i: usize| Case {
        group: ["", "float32", "<&\"\u{1}"][i % 3].to_owned(),
        label: format!("{} × (3, {i})", "9".repeat(i % 40)),
        outcome: outcomes[i % 4],
        tip: "a < b\n&".to_owned(),
    };
    for count in [0, 1, 2, 50, 1000] {
        sound(&cases("lab::add", "a caption", &(0..count).map(case).collect::<Vec<_>>()));
    }
    for shown in ["", "\n\n", "one line", "  a\tb\u{1b}[31m\n<&>\n", &"long ".repeat(200), &"many\n".repeat(300)] {
        sound(&text("a <label>", shown));
    }
    let mut history = crate::ops::history::History::default();
    sound(&versions(&history));
    for (size, seconds) in [(0, 1e-6), (0, f64::NAN), (0, f64::INFINITY), (0, 0.0), (0, 1e300), (7, 1.0)] {
        let text = (std::time::SystemTime::UNIX_EPOCH, String::new());
        let mut one = crate::ops::history::History::of_texts("lab::scale".to_owned(), [text].into_iter());
        let time = crate::ops::history::TimeNote { size, seconds, low: -seconds, high: f64::NAN };
        one.versions.iter_mut().for_each(|version| version.times = vec![time.clone()]);
        sound(&versions(&one));
        history.versions.extend(one.versions);
        sound(&versions(&history));
    }
}

#[test]
fn titles_without_a_name_begin_with_a_large_letter() {
    let mut report = sample_report(&[1000, 2000]).with_bytes(|_, n| Some(8 * n)).with_flops(|_, n| Some(n));
    report.title = String::new();
    let ceilings = Ceilings { bytes_per_s: 1e10, flops_per_s: 1e11 };
    let writers = Writers { name: "out".into(), shape: vec![1], writers: vec![None], block: [1; 3] };
    let (one, other, options) = ([1.0, 3.0], [1.0, 2.0], DifferenceOptions::default());
    let pictures = [
        sweep(&report, Quantity::Auto),
        samples(&report, 1000),
        roofline(&report, &ceilings),
        writer_map(&writers, None),
        difference_map(&one, &other, &[2], &options),
        error_scatter(&one, &other, &options),
        error_histogram(&[1.0], ErrorKind::Ulp, CountScale::Auto, ""),
    ];
    for svg in pictures {
        let title =
            svg.as_str().split("font-weight=\"600\">").nth(1).and_then(|s| s.split('<').next()).expect("a title");
        assert!(title.starts_with(char::is_uppercase), "{title}");
        // The other words are small, but for units and names in capitals.
        let words = title.split(' ').skip(1).filter(|word| !word.chars().all(char::is_uppercase));
        assert!(words.clone().all(|word| !word.starts_with(char::is_uppercase)), "{title}");
    }
}

#[test]
fn backticks_of_names_are_not_drawn() {
    let mut report = sample_report(&[1024, 4096]);
    report.title = "`muladd` and `mul`".into();
    let svg = sweep(&report, Quantity::Time);
    assert!(svg.as_str().contains(">muladd and mul: time per call<") && !svg.as_str().contains('`'), "{svg}");
    // A text in letters of one width is shown as it is.
    assert!(text("a `name`", "launch of `k`").as_str().contains("`k`"));
}

#[test]
fn contestants_of_a_roofline_have_shapes_of_their_own() {
    let report = sample_report(&[1024]).with_bytes(|_, n| Some(8 * n)).with_flops(|_, n| Some(n));
    let svg = roofline(&report, &Ceilings { bytes_per_s: 1e10, flops_per_s: 1e11 }).into_string();
    // Each has a point and a mark in the list of names: circles for the first, squares for the second.
    assert_eq!(
        (svg.matches("<circle class=\"f70\"").count(), svg.matches("<path class=\"f71\"").count()),
        (2, 2),
        "{svg}"
    );
}

#[test]
fn pictures_in_one_page_do_not_clash() {
    let (a, b) = (sample_report(&[1, 2]).plot(), sample_report(&[1, 3]).plot());
    assert_ne!(id(&a), id(&b));
    let rules = a.as_str().split("<style>").nth(1).and_then(|s| s.split("</style>").next()).expect("rules");
    assert!(rules.split('}').filter(|r| !r.is_empty()).all(|rule| rule.starts_with(&format!("#{}", id(&a)))));
    assert_eq!(sample_report(&[1, 2]).plot(), a, "the same data give the same picture");
}

#[test]
fn a_picture_without_variables_has_its_plain_colours() {
    let picture = sample_report(&[1, 2]).plot();
    let plain = picture.without_variables();
    assert!(
        picture.as_str().contains("var(--wb-") && !plain.contains("var(") && plain.contains("fill:#7b7b7b"),
        "{plain}"
    );
    well_formed(&plain);
    assert_eq!(plain.matches("<path").count(), picture.as_str().matches("<path").count());
}

#[test]
fn a_picture_on_a_page_has_its_ground_a_margin_and_its_tones() {
    let picture = sample_report(&[1, 2]).plot();
    let (width, height) = picture.size().expect("a size");
    for (page, ground, ink) in [(Page::Light, "#ffffff", "#1c1c1c"), (Page::Dark, "#111111", "#e6e6e6")] {
        let saved = picture.on_page(page).into_string();
        well_formed(&saved);
        let size = format!("viewBox=\"-14 -14 {} {}\" width=\"{}\"", width + 28, height + 28, width + 28);
        assert!(saved.contains(&size) && saved.contains(&format!("fill=\"{ground}\"/>\n<style>")), "{saved}");
        assert!(!saved.contains("var(") && saved.contains(&format!("fill:{ink}")), "{saved}");
    }
}

#[test]
fn words_in_the_cells_of_a_saved_landscape_read() {
    // The deepest cell, a wrong one and a failed one, as `landscape` fills them, and the places where nothing differs.
    for page in [Page::Light, Page::Dark] {
        let tone = |name: &str| theme::tone_on(page, name).expect("a tone");
        let cells = [("blue", 0.5, "ink"), ("vermillion", 0.3, "ink"), ("ink", 0.09, "muted"), ("blue", 0.06, "ink")];
        for (fill, alpha, text) in cells {
            let ground = mixed(tone(fill), page.ground(), alpha);
            let got = contrast(tone(text), &ground);
            assert!(got >= 4.5, "{text} on {fill} at {alpha}, {page:?}: {got:.2}");
        }
    }
}

/// A colour over another one, with an opacity.
fn mixed(over: &str, under: &str, alpha: f64) -> String {
    let byte = |hex: &str, i: usize| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).expect("hex"));
    let channel = |i: usize| (alpha * byte(over, i) + (1.0 - alpha) * byte(under, i)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", channel(1), channel(3), channel(5))
}

#[test]
fn stacked_pictures_keep_their_sizes() {
    let (a, b) = (sample_report(&[1, 2]).plot(), sample_report(&[1]).plot());
    let ((wide, high), (broad, low)) = (a.size().expect("a size"), b.size().expect("a size"));
    let both = Svg::stacked("two <pictures>", &[a, b]);
    assert_eq!(both.size(), Some((wide.max(broad), high + 22 + low)));
    well_formed(both.as_str());
    assert!(both.as_str().contains(&format!("y=\"{}\"", high + 22)) && both.as_str().contains("two &lt;pictures&gt;"));
    well_formed(both.on_page(Page::Dark).as_str());
}

/// The contrast of two colours as WCAG 2.1 defines it.
fn contrast(a: &str, b: &str) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = |hex: &str| {
        let channel = |i: usize| linear(u8::from_str_radix(&hex[i..i + 2], 16).expect("hex"));
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn verdicts_read_on_the_pages_of_notebooks() {
    for tone in &theme::VERDICTS {
        // White and JupyterLab's light grey; JupyterLab's dark page and VS Code's.
        for (text, page) in
            [(tone.light, "#ffffff"), (tone.light, "#f5f5f5"), (tone.dark, "#111111"), (tone.dark, "#1f1f1f")]
        {
            let got = contrast(text, page);
            assert!(got >= 4.5, "{text} on {page}: {got:.2}");
        }
    }
}

#[test]
fn tones_of_a_picture_alone_read_on_white_and_on_near_black() {
    for role in [Role::Ink, Role::Muted].into_iter().chain((0..HUES).map(Role::Series)) {
        let rule = role.rule(true);
        let hex = rule.split("fill:").nth(1).and_then(|s| s.split(';').next()).expect("a colour");
        let least = if matches!(role, Role::Series(_)) { 3.0 } else { 4.0 };
        for page in ["#ffffff", "#111111"] {
            let got = contrast(hex, page);
            assert!(got >= least, "{role:?} {hex} on {page}: {got:.2}");
        }
    }
}

#[test]
fn reports_are_saved_by_their_ending() {
    let folder = std::env::temp_dir().join(format!("workbench-plot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let report = sample_report(&[1024]);
    for (name, begins) in [("r.json", "{"), ("r.SVG", "<svg"), ("r.txt", "muladd")] {
        let path = folder.join(name);
        report.save(&path).expect("saved");
        assert!(std::fs::read_to_string(&path).expect("read").starts_with(begins), "{name}");
    }
    assert!(report.save(folder.join("r.png")).is_err());
    assert!(report.save(folder.join("missing").join("r.svg")).is_err());
    std::fs::remove_dir_all(&folder).expect("removed");
}
