//! A house as a picture: rooms as boxes on their floors, arrows between them, those that run up in another colour.

use std::fmt::Write;

use super::rooms::House;

/// Colours follow the reader's theme.
const STYLE: &str = "
  svg { --page: #ffffff; --ink: #1f2933; --soft: #6b7785; --box: #f4f7fa; --edge: #9fb0c0; --line: #5b7da3; --up: #d9480f; --band: #fafbfc; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #14181d; --ink: #e6ebf0; --soft: #93a1b0; --box: #212932; --edge: #52616f; --line: #7fa6d1; --up: #ff9248; --band: #191e24; }
  }
  text { font-family: ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: var(--ink); }
  .page { fill: var(--page); }
  .band { fill: var(--band); }
  .room { fill: var(--box); stroke: var(--edge); }
  .name { font-size: 14px; font-weight: 600; }
  .small { font-size: 11px; fill: var(--soft); }
  .title { font-size: 20px; font-weight: 600; }
  .down { fill: none; stroke: var(--line); stroke-opacity: .38; }
  .up { fill: none; stroke: var(--up); stroke-opacity: .9; }
  .downhead { fill: var(--line); fill-opacity: .7; }
  .uphead { fill: var(--up); }
  path:hover { stroke-opacity: 1; stroke-width: 3; }
";

const MARGIN: f64 = 28.0;
const HEADER: f64 = 108.0;
const BOX: f64 = 46.0;
const GAP: f64 = 26.0;
const STOREY: f64 = 104.0;
/// The width that a floor's boxes may take before they continue in a second row.
const WIDEST: f64 = 1180.0;

struct Placed {
    x: f64,
    y: f64,
    width: f64,
}

impl Placed {
    fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

/// The picture.
pub fn svg(house: &House) -> String {
    let rows = rows(house);
    let (width, height, places) = places(house, &rows);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">"
    );
    let _ = writeln!(out, "<style>{STYLE}</style>");
    let _ = writeln!(out, "<defs>{}{}</defs>", head("down"), head("up"));
    let _ = writeln!(out, "<rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\"/>");
    let (files, lines) = house.rooms.iter().fold((0, 0), |(f, l), r| (f + r.files, l + r.lines));
    let _ = writeln!(out, "<text class=\"title\" x=\"{MARGIN}\" y=\"38\">{}</text>", house.folder);
    let kind = if house.declared { "declared" } else { "found" };
    let _ = writeln!(
        out,
        "<text class=\"small\" x=\"{MARGIN}\" y=\"58\">{} rooms, {files} files, {lines} lines; floors are {kind}; {} arrows, {} of them up; {} circles of rooms</text>",
        house.rooms.len(),
        house.arrows.len(),
        house.up.len(),
        house.circles.len()
    );
    legend(&mut out);
    bands(&mut out, house, &places, width);
    arrows(&mut out, house, &places);
    for (room, place) in house.rooms.iter().zip(&places) {
        let (x, y, middle) = (place.x, place.y, place.middle());
        let files = if room.files == 1 { "1 file".to_owned() } else { format!("{} files", room.files) };
        let _ = writeln!(
            out,
            "<g><rect class=\"room\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BOX}\" rx=\"8\"/>\
             <text class=\"name\" text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"small\" text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">{} lines, {files}</text></g>",
            place.width,
            y + 19.0,
            room.name,
            y + 36.0,
            room.lines,
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The legend of the lines, below the title.
fn legend(out: &mut String) {
    for (class, x, words) in [
        ("down", MARGIN, "names what lies below; thicker: more names"),
        ("up", MARGIN + 320.0, "names what lies above"),
    ] {
        let (end, text) = (x + 30.0, x + 38.0);
        let _ = writeln!(
            out,
            "<path class=\"{class}\" stroke-width=\"2\" marker-end=\"url(#{class})\" d=\"M{x} 76 H{end}\"/>\
             <text class=\"small\" x=\"{text}\" y=\"80\">{words}</text>"
        );
    }
}

fn head(class: &str) -> String {
    format!(
        "<marker id=\"{class}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"{class}head\" d=\"M0 0.8 L8 4 L0 7.2 Z\"/></marker>"
    )
}

fn width_of(house: &House, room: usize) -> f64 {
    let room = &house.rooms[room];
    let small = format!("{} lines, {} files", room.lines, room.files).len() as f64 * 5.9;
    (room.name.len() as f64 * 8.6).max(small) + 22.0
}

/// The rooms of each row, the highest first; a wide floor has several rows. Rooms lie near those they share arrows with.
fn rows(house: &House) -> Vec<Vec<usize>> {
    let top = house.rooms.iter().map(|r| r.floor).max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for floor in (0..=top).rev() {
        let on: Vec<usize> = (0..house.rooms.len()).filter(|r| house.rooms[*r].floor == floor).collect();
        let total: f64 = on.iter().map(|r| width_of(house, *r) + GAP).sum();
        let parts = (total / WIDEST).ceil().max(1.0) as usize;
        rows.extend(on.chunks(on.len().div_ceil(parts).max(1)).map(<[usize]>::to_vec));
    }
    let mut at = vec![0.0; house.rooms.len()];
    for _ in 0..8 {
        for row in &mut rows {
            let span = row.len() as f64;
            row.iter().enumerate().for_each(|(i, r)| at[*r] = (i as f64 + 0.5) / span);
        }
        for row in &mut rows {
            let mut keyed: Vec<(f64, usize)> = row.iter().map(|r| (pull(house, *r, &at), *r)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *row = keyed.into_iter().map(|(_, r)| r).collect();
            let span = row.len() as f64;
            row.iter().enumerate().for_each(|(i, r)| at[*r] = (i as f64 + 0.5) / span);
        }
    }
    rows
}

/// The average place of a room's neighbours.
fn pull(house: &House, room: usize, at: &[f64]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (from, to) in house.arrows.keys() {
        let other = if *from == room { *to } else { *from };
        if *from == room || *to == room {
            sum += at[other];
            count += 1.0;
        }
    }
    if count == 0.0 { at[room] } else { sum / count }
}

/// The picture's width and height, and the place of each room.
fn places(house: &House, rows: &[Vec<usize>]) -> (f64, f64, Vec<Placed>) {
    let row_width = |row: &Vec<usize>| row.iter().map(|r| width_of(house, *r) + GAP).sum::<f64>() - GAP;
    let inner = rows.iter().map(row_width).fold(560.0, f64::max);
    let mut places: Vec<Placed> = house.rooms.iter().map(|_| Placed { x: 0.0, y: 0.0, width: 0.0 }).collect();
    for (number, row) in rows.iter().enumerate() {
        let spare = (inner - row_width(row)) / (row.len() as f64 + 1.0);
        let mut x = 2.0 * MARGIN + spare;
        for room in row {
            let width = width_of(house, *room);
            places[*room] = Placed { x, y: HEADER + number as f64 * STOREY, width };
            x += width + GAP + spare;
        }
    }
    (inner + 4.0 * MARGIN, HEADER + rows.len() as f64 * STOREY - (STOREY - BOX) + MARGIN, places)
}

/// A band behind each floor, with its number.
fn bands(out: &mut String, house: &House, places: &[Placed], width: f64) {
    let top = house.rooms.iter().map(|r| r.floor).max().unwrap_or(0);
    for floor in 0..=top {
        let on = house.rooms.iter().zip(places).filter(|(r, _)| r.floor == floor);
        let (low, high) = on.fold((f64::MAX, f64::MIN), |(l, h), (_, p)| (l.min(p.y), h.max(p.y)));
        if low > high {
            continue;
        }
        let (y, tall) = (low - 12.0, high - low + BOX + 24.0);
        let _ = writeln!(
            out,
            "<rect class=\"band\" x=\"10\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" rx=\"10\"/>\
             <text class=\"small\" x=\"20\" y=\"{:.1}\">{floor}</text>",
            width - 20.0,
            low + BOX / 2.0 + 4.0
        );
    }
}

fn arrows(out: &mut String, house: &House, places: &[Placed]) {
    // Arrows that run up are drawn over the others.
    for upward in [false, true] {
        for ((from, to), names) in &house.arrows {
            if house.up.contains(&(*from, *to)) != upward {
                continue;
            }
            let class = if upward { "up" } else { "down" };
            let thick = 0.8 + (names.len() as f64).ln() * 0.45;
            let line = curve(&places[*from], &places[*to], if upward { 7.0 } else { 0.0 });
            let _ = writeln!(
                out,
                "<path class=\"{class}\" stroke-width=\"{thick:.1}\" marker-end=\"url(#{class})\" d=\"{line}\"><title>{} names {} of {}</title></path>",
                house.rooms[*from].name,
                names.len(),
                house.rooms[*to].name
            );
        }
    }
}

/// The line of an arrow: from the side of a box that faces the other box, `aside` of the middle.
fn curve(from: &Placed, to: &Placed, aside: f64) -> String {
    // Ends are apart on a box's side, towards the other box.
    let end = |own: &Placed, other: &Placed| {
        let lean = ((other.middle() - own.middle()) / 6.0).clamp(-own.width * 0.4, own.width * 0.4);
        own.middle() + lean
    };
    let (x0, x1) = (end(from, to) + aside, end(to, from) + aside);
    if (from.y - to.y).abs() < 1.0 {
        // A line between boxes of one row goes over the boxes.
        let lift = 26.0 + (x1 - x0).abs() * 0.04;
        let line = format!(
            "M{x0:.1} {:.1} C{x0:.1} {:.1} {x1:.1} {:.1} {x1:.1} {:.1}",
            from.y,
            from.y - lift,
            to.y - lift,
            to.y
        );
        return line;
    }
    let (y0, y1) = if from.y < to.y { (from.y + BOX, to.y) } else { (from.y, to.y + BOX) };
    let bend = (y1 - y0) * 0.42;
    format!("M{x0:.1} {y0:.1} C{x0:.1} {:.1} {x1:.1} {:.1} {x1:.1} {y1:.1}", y0 + bend, y1 - bend)
}
