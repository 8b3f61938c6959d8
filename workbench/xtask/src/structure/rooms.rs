//! A folder's rooms (its files and folders; a file and the folder of its name are one), the arrows between them, and their floors.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{self, Arrows};
use super::modules::{Arrow, Crate};
use super::order;

/// A room of a folder.
#[derive(Debug)]
pub struct Room {
    /// Its name, without `.rs`.
    pub name: String,
    /// The number of its files, those of tests left out.
    pub files: usize,
    /// The number of lines of these.
    pub lines: usize,
    /// Its floor, 0 the lowest.
    pub floor: usize,
}

/// A folder's rooms and the arrows between them.
#[derive(Debug)]
pub struct House {
    /// The folder.
    pub folder: String,
    /// The rooms, sorted by name.
    pub rooms: Vec<Room>,
    /// The arrows between rooms, from the room that names to the room that is named, each with its names.
    pub arrows: BTreeMap<(usize, usize), Vec<Arrow>>,
    /// True if its floors are declared.
    pub declared: bool,
    /// Rooms that its declaration does not name.
    pub unnamed: Vec<String>,
    /// Names in its declaration that are not rooms.
    pub missing: Vec<String>,
    /// The rooms' arrows that run up, or sideways where the floors are declared.
    pub up: Vec<(usize, usize)>,
    /// Circles of rooms.
    pub circles: Vec<Vec<usize>>,
}

/// The room of a folder that a file is in.
pub fn room_of<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?;
    let entry = inner.split('/').next()?;
    Some(entry.strip_suffix(".rs").unwrap_or(entry))
}

/// True if a path is a folder, or in it.
pub fn is_in(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl House {
    /// The rooms of a folder of a crate.
    pub fn of(whole: &Crate, folder: &str) -> House {
        let mut sizes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for file in whole.files.iter().filter(|f| !f.test) {
            if let Some(room) = room_of(folder, &file.path) {
                let (files, lines) = sizes.entry(room).or_default();
                *files += 1;
                *lines += file.lines;
            }
        }
        let names: Vec<&str> = sizes.keys().copied().collect();
        let place = |file: usize| {
            let room = room_of(folder, &whole.files[file].path)?;
            names.binary_search(&room).ok()
        };
        let mut arrows: BTreeMap<(usize, usize), Vec<Arrow>> = BTreeMap::new();
        for arrow in &whole.arrows {
            if let (Some(from), Some(to)) = (place(arrow.from), place(arrow.to))
                && from != to
            {
                arrows.entry((from, to)).or_default().push(arrow.clone());
            }
        }
        let order = order::declared(folder);
        // The first module of a crate or folder only hands on the names of the others: that makes no circle.
        let used = |(ends, names): (&(usize, usize), &Vec<Arrow>)| {
            let count = names.iter().filter(|a| !a.handed_on).count();
            (count > 0).then_some((*ends, count))
        };
        let weights: Arrows = arrows.iter().filter_map(used).collect();
        let floors = match order {
            Some(order) => {
                let floor = |name: &&str| order.order.iter().position(|f| f.contains(name)).unwrap_or(0);
                names.iter().map(floor).collect()
            }
            None => graph::floors(&graph::order(names.len(), &weights), &weights),
        };
        let declares = |name: &str| order.is_none_or(|o| o.order.iter().any(|f| f.contains(&name)));
        let unnamed = names.iter().filter(|n| !declares(n)).map(|n| (*n).to_owned()).collect();
        let all = order.into_iter().flat_map(|o| o.order.iter().copied().flatten());
        let missing = all.filter(|n| !names.contains(n)).map(|n| (*n).to_owned()).collect();
        let counted = |ends: &&(usize, usize)| order.is_some() || weights.contains_key(*ends);
        let up = arrows.keys().filter(counted).filter(|(from, to)| floors[*from] <= floors[*to]).copied().collect();
        let rooms = names.iter().zip(&floors).map(|(name, floor)| {
            let (files, lines) = sizes[name];
            Room { name: (*name).to_owned(), files, lines, floor: *floor }
        });
        House {
            folder: folder.to_owned(),
            rooms: rooms.collect(),
            circles: graph::circles(names.len(), &weights),
            declared: order.is_some(),
            arrows,
            unnamed,
            missing,
            up,
        }
    }
}

/// The circles of the crate's files under a folder, the largest first, each with the folder that holds all of it.
pub fn circles_of_files(whole: &Crate, folder: &str) -> Vec<(String, Vec<usize>)> {
    let mut arrows = Arrows::new();
    let inside = |file: usize| is_in(folder, &whole.files[file].path);
    for arrow in whole.arrows.iter().filter(|a| !a.handed_on && inside(a.from) && inside(a.to)) {
        *arrows.entry((arrow.from, arrow.to)).or_default() += 1;
    }
    let found = graph::circles(whole.files.len(), &arrows);
    found.into_iter().map(|circle| (common(whole, &circle), circle)).collect()
}

/// The folder that all these files are in.
fn common(whole: &Crate, files: &[usize]) -> String {
    let mut folders = files.iter().map(|f| {
        let mut parts: Vec<&str> = whole.files[*f].path.split('/').collect();
        parts.pop();
        parts
    });
    let mut shared = folders.next().unwrap_or_default();
    for parts in folders {
        let same = shared.iter().zip(&parts).take_while(|(a, b)| a == b).count();
        shared.truncate(same);
    }
    shared.join("/")
}

/// The arrows between a circle's files without which no circle is left.
pub fn ties<'a>(whole: &'a Crate, circle: &[usize]) -> Vec<&'a Arrow> {
    let members: BTreeSet<usize> = circle.iter().copied().collect();
    let inside = |a: &&Arrow| !a.handed_on && members.contains(&a.from) && members.contains(&a.to);
    let place = |file: usize| circle.binary_search(&file).unwrap_or(0);
    let mut weights = Arrows::new();
    for arrow in whole.arrows.iter().filter(inside) {
        *weights.entry((place(arrow.from), place(arrow.to))).or_default() += 1;
    }
    let order = graph::order(circle.len(), &weights);
    let mut height = vec![0; circle.len()];
    order.iter().enumerate().for_each(|(at, node)| height[*node] = at);
    let up = |a: &&Arrow| height[place(a.from)] < height[place(a.to)];
    whole.arrows.iter().filter(inside).filter(up).collect()
}
