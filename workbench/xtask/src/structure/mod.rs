//! The structure of the crates: imports between files, floors, circles. `cargo xtask structure` shows it, `tests/tidy.rs` checks it.

pub mod file;
pub mod graph;
pub mod modules;
pub mod order;
mod picture;
pub mod rooms;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use modules::{Arrow, Crate};
use rooms::House;

/// The number of names shown for an arrow; a count tells how many there are.
const SHOWN: usize = 8;

/// `cargo xtask structure [FOLDER] [--svg FILE]`.
///
/// # Errors
/// A message about the arguments, or about a file that cannot be read or written.
pub fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let (mut folder, mut svg) = (None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--svg" => svg = Some(args.next().ok_or("--svg takes a file's name")?),
            option if option.starts_with('-') => {
                return Err(format!("cargo xtask structure has no option `{option}`; see cargo xtask help"));
            }
            name if folder.is_none() => folder = Some(name.trim_end_matches('/')),
            _ => return Err("cargo xtask structure takes one folder".to_owned()),
        }
    }
    let folder = folder.unwrap_or("workbench");
    let first = first_file(root, folder)?;
    let whole = Crate::read(&root, &first)?;
    let house = House::of(&whole, folder);
    if house.rooms.is_empty() {
        return Err(format!("{folder} holds no file of the crate of {first}"));
    }
    print!("{}", text(&whole, &house));
    if let Some(file) = svg {
        std::fs::write(file, picture::svg(&house)).map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(())
}

/// The first file of the crate that a folder belongs to.
///
/// # Errors
/// No folder around it holds a `lib.rs` or `main.rs`.
fn first_file(root: &Path, folder: &str) -> Result<String, String> {
    for above in Path::new(folder).ancestors().filter(|a| !a.as_os_str().is_empty()) {
        for name in ["lib.rs", "main.rs", "src/lib.rs", "src/main.rs"] {
            let file = above.join(name);
            if root.join(&file).is_file() {
                return Ok(file.display().to_string().replace('\\', "/"));
            }
        }
    }
    Err(format!("{folder}: no crate; name a folder from the repository's root, such as workbench/back"))
}

/// The names of arrows, the first few, and how many there are.
fn names(arrows: &[&Arrow]) -> String {
    let mut names: Vec<&str> = arrows.iter().map(|a| a.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{rest}", names.join(", "))
}

/// The text of a house.
fn text(whole: &Crate, house: &House) -> String {
    let mut out = String::new();
    let (files, lines) = house.rooms.iter().fold((0, 0), |(f, l), r| (f + r.files, l + r.lines));
    let kind = if house.declared { "declared" } else { "found" };
    // Writing to a string does not fail.
    let _ =
        writeln!(out, "{}: {} rooms, {files} files, {lines} lines, tests left out", house.folder, house.rooms.len());
    let top = house.rooms.iter().map(|r| r.floor).max().unwrap_or(0);
    let _ = writeln!(out, "\nfloors ({kind}), the highest first");
    for floor in (0..=top).rev() {
        let on = house.rooms.iter().filter(|r| r.floor == floor);
        let on: Vec<String> = on.map(|r| format!("{} ({})", r.name, r.lines)).collect();
        if !on.is_empty() {
            let _ = writeln!(out, "  {floor:>2}  {}", on.join("  "));
        }
    }
    let name = |room: usize| house.rooms[room].name.as_str();
    let _ = writeln!(
        out,
        "\narrows: {} between rooms; the room that names, how many names, the room that defines",
        house.arrows.len()
    );
    for ((from, to), arrows) in &house.arrows {
        let mark = if house.up.contains(&(*from, *to)) { "  up" } else { "" };
        let only = if arrows.iter().all(|a| a.handed_on) { "  pub use" } else { "" };
        let _ = writeln!(out, "  {} -{}-> {}{only}{mark}", name(*from), arrows.len(), name(*to));
    }
    let _ = writeln!(out, "\narrows that run up: {}", house.up.len());
    for (from, to) in &house.up {
        let _ = writeln!(out, "  {} -> {}", name(*from), name(*to));
        let _ = write!(out, "{}", by_file(whole, &house.arrows[&(*from, *to)].iter().collect::<Vec<_>>()));
    }
    let _ = writeln!(out, "\ncircles of rooms: {}", house.circles.len());
    for circle in &house.circles {
        let rooms: Vec<&str> = circle.iter().map(|r| name(*r)).collect();
        let _ = writeln!(out, "  {} rooms: {}", circle.len(), rooms.join(", "));
    }
    let circles = rooms::circles_of_files(whole, &house.folder);
    let _ = writeln!(out, "\ncircles of files: {}", circles.len());
    for (folder, circle) in &circles {
        let _ = writeln!(out, "  {} files in {folder}/", circle.len());
        for file in circle {
            let _ = writeln!(out, "      {}", whole.files[*file].path);
        }
        let ties = rooms::ties(whole, circle);
        let _ = writeln!(out, "    tied by {} names", ties.len());
        let _ = write!(out, "{}", by_file(whole, &ties));
    }
    out
}

/// Arrows, one line for each pair of files.
fn by_file(whole: &Crate, arrows: &[&Arrow]) -> String {
    let mut pairs: BTreeMap<(usize, usize), Vec<&Arrow>> = BTreeMap::new();
    for arrow in arrows {
        pairs.entry((arrow.from, arrow.to)).or_default().push(arrow);
    }
    let mut out = String::new();
    for ((from, to), arrows) in pairs {
        let line = arrows.iter().map(|a| a.line).min().unwrap_or(0);
        let (from, to) = (&whole.files[from].path, &whole.files[to].path);
        let _ = writeln!(out, "      {from}:{line} -> {to}: {}", names(&arrows));
    }
    out
}
