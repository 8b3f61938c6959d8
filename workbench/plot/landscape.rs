//! The landscape of a tuning: the time of each value of one or two parameters, the best marked.

use plotters_backend::text_anchor::{HPos, VPos};

use super::Svg;
use super::canvas::{
    CAPTION_LINE, Canvas, Drawn, Weight, caption_lines, caption_width, notice, picture, shorten, text_width,
};
use super::theme::{CARD_WIDTH, Role};
use crate::bench::units;
use crate::runtime::{Error, Result};
use crate::tune::{Parameter, Status, TuneReport};

/// The outcome of the configurations that a cell stands for.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    /// Seconds of a call of the fastest.
    Time(f64),
    /// None was right.
    Wrong,
    /// None could be made or run.
    Failed,
    /// None was measured.
    Nothing,
}

/// Data of the picture.
#[derive(Debug, Clone, PartialEq)]
struct Landscape {
    /// The title.
    title: String,
    /// The line under it.
    caption: String,
    /// The parameter along the columns.
    across: Parameter,
    /// The parameter along the rows, if there are two.
    down: Option<Parameter>,
    /// One outcome per cell, row by row, and the text under the pointer.
    cells: Vec<(Outcome, String)>,
    /// The number of the cell that has the best configuration.
    best: Option<usize>,
}

const LEFT: f64 = 16.0;
const TOP: f64 = 88.0;
const ROW: f64 = 34.0;
/// Most characters of a value.
const VALUE: usize = 14;
/// Most columns and rows that are drawn.
const MOST: usize = 40;
/// The most that a picture is wide: a card scales a wider one, and its letters, down.
const WIDEST: f64 = CARD_WIDTH as f64;
/// The least width of a cell with its time in words.
const BROAD: f64 = 62.0;
/// The gap between two cells.
const GAP: f64 = 2.0;
/// Most letters of the names of parameters in a caption.
const NAMES: usize = 48;

impl TuneReport {
    /// The landscape: times of the values of two parameters (by default those with the largest effect), each the best over the others.
    ///
    /// # Errors
    /// [`Error::Argument`] for a name that is no parameter.
    pub fn plot_of(&self, across: Option<&str>, down: Option<&str>) -> Result<Svg> {
        let number = |name: &str| {
            self.params.iter().position(|param| param.name == name).ok_or_else(|| {
                let names: Vec<&str> = self.params.iter().map(|param| param.name.as_str()).collect();
                Error::argument(format!("there is no parameter `{name}`; these are {}", names.join(", ")))
            })
        };
        let mut axes: Vec<usize> = [across, down].into_iter().flatten().map(number).collect::<Result<_>>()?;
        axes.dedup();
        let others: Vec<usize> = self.by_effect().into_iter().filter(|axis| !axes.contains(axis)).collect();
        axes.extend(others);
        Ok(self.landscape(&axes[..axes.len().min(2)]))
    }

    /// The landscape of the parameters with the largest effect.
    pub fn plot(&self) -> Svg {
        let axes = self.by_effect();
        self.landscape(&axes[..axes.len().min(2)])
    }

    fn landscape(&self, axes: &[usize]) -> Svg {
        let names: Vec<&str> = axes.iter().map(|&axis| self.params[axis].name.as_str()).collect();
        let title = format!("{}: time by {}", self.name, names.join(" and "));
        let Some(&across) = axes.first() else { return notice(&title, "nothing was measured") };
        let others = (0..self.params.len()).filter(|axis| !axes.contains(axis));
        let others: Vec<&str> = others.map(|axis| self.params[axis].name.as_str()).collect();
        let best_over = match others.join(", ") {
            none if none.is_empty() => none,
            names if names.len() <= NAMES => format!("; the best over {names}"),
            _ => format!("; the best over the {} other parameters", others.len()),
        };
        let down = axes.get(1).map(|&axis| self.params[axis].clone());
        let rows: Vec<Option<&String>> = match &down {
            Some(param) => param.values.iter().map(Some).collect(),
            None => vec![None],
        };
        let (mut cells, mut framed) = (Vec::new(), None);
        let winner = self.best().ok().map(|at| &self.rows[at].config);
        for y in rows {
            for x in &self.params[across].values {
                let values = [Some((across, x)), axes.get(1).copied().zip(y)];
                if winner.is_some_and(|config| fits(config, &values)) {
                    framed = Some(cells.len());
                }
                cells.push(self.cell(&values));
            }
        }
        landscape(&Landscape {
            title,
            caption: format!("time of a call at size {}; stronger colour: faster{best_over}", units::count(self.size)),
            across: self.params[across].clone(),
            down,
            cells,
            best: framed,
        })
    }

    /// The outcome of the configurations with these values, and the text under the pointer.
    fn cell(&self, values: &[Option<(usize, &String)>]) -> (Outcome, String) {
        let inside: Vec<_> = self.rows.iter().filter(|row| fits(&row.config, values)).collect();
        let ranked = self.ranked();
        let best = ranked.iter().map(|&at| &self.rows[at]).find(|row| fits(&row.config, values));
        if let Some((row, (time, ratio))) = best.and_then(|row| Some((row, self.time(row)?))) {
            let tip = format!("{}: {}, {ratio:.2} of the first's time", self.words(row), units::seconds(time));
            return (Outcome::Time(time), tip);
        }
        let of = |status: Status| inside.iter().find(|row| row.status == status);
        let found = [Status::Wrong, Status::Failed, Status::Lost].into_iter().find_map(of);
        match found {
            Some(row) => {
                let outcome = if row.status == Status::Wrong { Outcome::Wrong } else { Outcome::Failed };
                (outcome, format!("{}: {}", self.words(row), row.message))
            }
            None => {
                let words = values.iter().flatten().map(|(axis, value)| format!("{}={value}", self.params[*axis].name));
                (Outcome::Nothing, words.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// True if a configuration has these values of these parameters.
fn fits(config: &[String], values: &[Option<(usize, &String)>]) -> bool {
    values.iter().flatten().all(|(axis, value)| config.get(*axis) == Some(*value))
}

/// Draws the landscape: the stronger the colour of a cell, the faster; the best has a frame.
fn landscape(data: &Landscape) -> Svg {
    let title = shorten(&data.title, 70);
    let rows = data.down.as_ref().map_or(1, |p| p.values.len());
    let columns = data.across.values.len();
    if rows * columns != data.cells.len() || data.cells.is_empty() {
        return notice(&title, "nothing was measured");
    }
    if rows > MOST || columns > MOST {
        return notice(&title, &format!("{columns} by {rows} values are too many for a picture; the table has them"));
    }
    let names = data.down.iter().flat_map(|p| &p.values).map(|v| text_width(&shorten(v, VALUE), 12.0));
    let beside =
        data.down.as_ref().map_or(0.0, |p| names.fold(text_width(&shorten(&p.name, VALUE), 12.0), f64::max) + 16.0);
    let widest = data.across.values.iter().map(|v| text_width(&shorten(v, VALUE), 12.0)).fold(BROAD, f64::max);
    let room = (WIDEST - LEFT - beside - 16.0) / columns as f64;
    let pitch = (widest + 8.0).min(110.0).min(room);
    let mut caption = data.caption.clone();
    let words = Words::for_cells(data, pitch - GAP);
    match words {
        Words::Times => {}
        Words::Numbers { unit, .. } => caption.push_str(&format!("; in {unit}")),
        // The pointer shows what has no room, and the caption the best.
        Words::None => {
            if let Some(best) = data.best.and_then(|at| time(&data.cells[at].0)) {
                caption.push_str(&format!("; the frame: {}", units::seconds(best)));
            }
        }
    }
    let width = (LEFT + beside + pitch * columns as f64 + 16.0)
        .max(caption_width(&caption))
        .max(text_width(&title, 15.0) + 8.0)
        .clamp(420.0, WIDEST);
    let caption = caption_lines(&caption, width);
    let top = TOP + CAPTION_LINE * caption.len().saturating_sub(1) as f64;
    let height = top + ROW * rows as f64 + 16.0;
    picture(width as u32, height as u32, &title, |canvas| {
        canvas.heading_of_lines(&title, &caption)?;
        draw(canvas, data, words, (rows, columns), (LEFT + beside, top), pitch)
    })
}

/// The words in the cells.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Words {
    /// Times with their units, and outcomes.
    Times,
    /// Numbers alone, all in one unit of so many seconds, and marks for outcomes.
    Numbers { unit: &'static str, seconds: f64 },
    /// Marks for outcomes alone.
    None,
}

impl Words {
    /// The words for which cells have room.
    fn for_cells(data: &Landscape, width: f64) -> Words {
        const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
        if width >= BROAD {
            return Words::Times;
        }
        let times = || data.cells.iter().filter_map(|(outcome, _)| time(outcome));
        let least = times().fold(f64::INFINITY, f64::min);
        let Some(&(unit, seconds)) = UNITS.iter().find(|(_, seconds)| least >= *seconds).or(UNITS.last()) else {
            return Words::None;
        };
        let numbers = Words::Numbers { unit, seconds };
        let fits = |t: f64| text_width(&numbers.of(t), 12.0) + 4.0 <= width;
        if least.is_finite() && times().all(fits) { numbers } else { Words::None }
    }

    /// A time.
    fn of(self, time: f64) -> String {
        match self {
            Words::Times => units::seconds(time),
            Words::Numbers { seconds, .. } => {
                let value = time / seconds;
                let digits = (2.0 - value.log10().floor()).clamp(0.0, 2.0) as usize;
                format!("{value:.digits$}")
            }
            Words::None => String::new(),
        }
    }
}

fn draw(
    canvas: &Canvas,
    data: &Landscape,
    words: Words,
    (rows, columns): (usize, usize),
    (left, top): (f64, f64),
    pitch: f64,
) -> Drawn {
    let muted = |h, at, text: &str| canvas.text(Role::Muted, 12.0, Weight::Normal, (h, VPos::Center), at, text);
    let ink = |h, at, text: &str| canvas.text(Role::Ink, 12.0, Weight::Bold, (h, VPos::Center), at, text);
    ink(HPos::Left, (left, top - 30.0), &shorten(&data.across.name, 40))?;
    let widest = data.across.values.iter().map(|v| text_width(&shorten(v, VALUE), 12.0)).fold(0.0, f64::max);
    // Where the values have no room side by side, every second one stands, or every third, ...
    let every = ((widest + 6.0) / pitch).ceil().max(1.0) as usize;
    for (i, value) in data.across.values.iter().enumerate().step_by(every) {
        muted(HPos::Center, (left + pitch * (i as f64 + 0.5), top - 11.0), &shorten(value, VALUE))?;
    }
    if let Some(down) = &data.down {
        ink(HPos::Right, (left - 10.0, top - 11.0), &shorten(&down.name, VALUE))?;
        for (i, value) in down.values.iter().enumerate() {
            muted(HPos::Right, (left - 10.0, top + ROW * (i as f64 + 0.5)), &shorten(value, VALUE))?;
        }
    }
    let times = data.cells.iter().filter_map(|(outcome, _)| time(outcome));
    let (best, worst) = times.fold((f64::INFINITY, 0.0f64), |(low, high), t| (low.min(t), high.max(t)));
    for row in 0..rows {
        for column in 0..columns {
            let (outcome, tip) = &data.cells[row * columns + column];
            let at = (left + pitch * column as f64, top + ROW * row as f64);
            let is_best = data.best == Some(row * columns + column);
            cell(canvas, words, (outcome, is_best), tip, at, (pitch - GAP, ROW - GAP), (best, worst))?;
        }
    }
    Ok(())
}

/// The time of an outcome that can be drawn.
fn time(outcome: &Outcome) -> Option<f64> {
    match outcome {
        Outcome::Time(t) if t.is_finite() && *t > 0.0 => Some(*t),
        _ => None,
    }
}

fn cell(
    canvas: &Canvas,
    words: Words,
    (outcome, is_best): (&Outcome, bool),
    tip: &str,
    at: (f64, f64),
    size: (f64, f64),
    (best, worst): (f64, f64),
) -> Drawn {
    let middle = (at.0 + size.0 / 2.0, at.1 + size.1 / 2.0);
    let say = |role, weight, text: &str, mark: &str| {
        let text = if words == Words::Times { text } else { mark };
        if text.is_empty() {
            return Ok(());
        }
        canvas.text(role, 12.0, weight, (HPos::Center, VPos::Center), middle, text)
    };
    match (time(outcome), outcome) {
        (Some(t), _) => {
            // By the logarithm; the text on the deepest cell is readable on both pages.
            let share = if worst > best { 1.0 - (t / best).ln() / (worst / best).ln() } else { 1.0 };
            canvas.rect(Canvas::fill(Role::Series(0), 0.06 + 0.44 * share), at, size)?;
            if is_best {
                canvas.rect(Canvas::stroke(Role::Ink, 2.0), at, size)?;
            }
            let text = words.of(t);
            say(Role::Ink, if is_best { Weight::Bold } else { Weight::Normal }, &text, &text)?;
        }
        (None, Outcome::Wrong) => {
            canvas.rect(Canvas::fill(Role::Positive, 0.3), at, size)?;
            say(Role::Ink, Weight::Normal, "wrong", "✗")?;
        }
        (None, Outcome::Failed) => {
            canvas.rect(Canvas::fill(Role::Zero, 1.0), at, size)?;
            say(Role::Muted, Weight::Normal, "failed", "!")?;
        }
        (None, _) => canvas.rect(Canvas::fill(Role::Zero, 1.0), at, size)?,
    }
    canvas.tip(tip);
    canvas.rect(Canvas::fill(Role::Pointer, 1.0), at, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, values: &[&str]) -> Parameter {
        Parameter { name: name.into(), values: values.iter().map(|v| (*v).to_owned()).collect() }
    }

    #[test]
    fn a_landscape_shows_every_outcome() {
        let cells = vec![
            (Outcome::Time(2e-6), "BLOCK=64 TILE=8".to_owned()),
            (Outcome::Time(1e-6), "BLOCK=128 TILE=8".to_owned()),
            (Outcome::Wrong, "<3 elements differ>".to_owned()),
            (Outcome::Failed, "no".to_owned()),
        ];
        let data = Landscape {
            title: "scale".into(),
            caption: "a caption".into(),
            across: parameter("BLOCK", &["64", "128"]),
            down: Some(parameter("TILE", &["8", "16"])),
            cells,
            best: Some(1),
        };
        let text = landscape(&data).into_string();
        for shown in ["1.00 µs", "2.00 µs", "wrong", "failed", "&lt;3 elements differ&gt;", "BLOCK", "TILE"] {
            assert!(text.contains(shown), "{shown} in {text}");
        }
        // The best alone has a frame.
        assert_eq!(text.matches("font-weight=\"600\">1.00 µs").count(), 1);
        let alone = Landscape { down: None, cells: data.cells[..2].to_vec(), ..data.clone() };
        assert!(landscape(&alone).as_str().contains("1.00 µs"));
        let none = Landscape { cells: Vec::new(), ..data };
        assert!(landscape(&none).as_str().contains("nothing was measured"));
    }

    /// Times of so many values of a parameter; the first is the best, the second wrong.
    fn wide(columns: usize) -> String {
        let outcome = |i: usize| match i {
            1 => Outcome::Wrong,
            _ => Outcome::Time(1e-6 * (i + 1) as f64),
        };
        let values: Vec<String> = (0..columns).map(|i| (1000 + i).to_string()).collect();
        let data = Landscape {
            title: "scale".into(),
            caption: "a caption; the best over A, B".into(),
            across: Parameter { name: "TILE".into(), values },
            down: None,
            cells: (0..columns).map(|i| (outcome(i), format!("cell {i}"))).collect(),
            best: Some(0),
        };
        landscape(&data).into_string()
    }

    #[test]
    fn a_landscape_fits_a_card() {
        for columns in [1, 2, 11, 12, 13, 20, MOST] {
            let text = wide(columns);
            let width: f64 =
                text.split(" width=\"").nth(1).and_then(|s| s.split('"').next()).expect("a width").parse().unwrap();
            assert!(width <= 780.0, "{columns}: {width}");
            assert!(text.contains(&format!("cell {}", columns - 1)), "{columns}: {text}");
            let best = if columns <= 11 {
                ">1.00 µs<"
            } else if columns <= 20 {
                ">1.00<"
            } else {
                "the frame: 1.00 µs"
            };
            assert!(text.contains(best), "{columns}: {text}");
            assert!(columns == 1 || text.contains("wrong") || text.contains("✗"), "{columns}: {text}");
        }
        assert!(wide(MOST).contains("the frame: 1.00 µs") && !wide(3).contains("the frame"));
        assert!(wide(12).contains("; in µs") && wide(12).contains(">12.0<") && !wide(3).contains("in µs"));
    }
}
