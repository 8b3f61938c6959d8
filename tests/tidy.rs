//! Tidy checks: floors, circles, module docs, sizes, names in docs, and text that must not be in the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use structure::modules::Crate;
use structure::order::{FLOORS, NEVER};
use structure::rooms::{House, circles_of_files, is_in};

/// The existing circles of files: the folder that contains each, and the number of its files. A circle may shrink, split or move to an
/// inner folder; `cargo xtask structure FOLDER` shows what ties it.
const CIRCLES: &[(&str, usize)] = &[
    ("workbench/back", 3),
    ("workbench/back/cpu/lower", 5),
    ("workbench/back/cpu/make", 2),
    ("workbench/back/cpu/wide", 10),
    ("workbench/back/cpu/wide/jit", 8),
    ("workbench/back/cpu/wide/jit", 2),
    ("workbench/back/cuda", 8),
    ("workbench/back/lane", 4),
    ("workbench/bench", 2),
    ("workbench/front", 2),
    ("workbench/front/builtins", 12),
    ("workbench/front/lower", 19),
    ("workbench/front/parser", 3),
    ("workbench/front/preprocess", 2),
    ("workbench/ir", 7),
    ("workbench/ir/read", 2),
    ("workbench/library", 2),
    ("workbench/ops", 6),
    ("workbench/ops/schema", 2),
    ("workbench/pass/independent", 3),
    ("workbench/plot", 2),
    ("workbench/runtime", 5),
    ("workbench/runtime", 2),
    ("workbench/runtime/host", 5),
    ("workbench/runtime/host", 2),
    ("workbench/runtime/host/ops", 10),
    ("workbench/runtime/host/ops/gradients", 8),
    ("workbench/valid", 2),
];

/// The number of lines up to which a function needs no entry in [`LONG`].
const LONGEST: usize = 100;

/// The reason of a function that is one match: to split it would tear the cases apart.
const OPERATIONS: &str = "an arm an operation";

/// Functions of more lines than [`LONGEST`], by name, each with the lines it may have, and why it has them. None may grow.
const LONG: &[(&str, usize, &str)] = &[
    ("Emitter::access", 103, "an arm a way to access memory"),
    ("Emitter::eval", 131, "an arm an expression"),
    ("Emitter::lanes", 233, OPERATIONS),
    ("Emitter::number", 113, OPERATIONS),
];

/// The reason for paths of headers that a user's text may include.
const HEADERS: &str = "headers of CUDA, torch and others, which a text includes";

/// Paths in docs that are not in the repository, and the reasons for them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("ATen/", HEADERS),
    ("c10/", HEADERS),
    ("cub/", HEADERS),
    ("cooperative_groups/", HEADERS),
    ("crt/", HEADERS),
    ("nv/", HEADERS),
    ("pybind11/", HEADERS),
    ("torchneuron/", HEADERS),
    ("habanalabs/", HEADERS),
    ("tensorflow/", HEADERS),
    ("THC/", HEADERS),
    ("nvtx3/", HEADERS),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                rust_files(&path, out);
            }
        } else if path.extension().is_some_and(|x| x == "rs") {
            out.push(path);
        }
    }
}

fn library() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for dir in ["workbench", "tests", "examples", "benches"] {
        rust_files(&root().join(dir), &mut files);
    }
    files
        .into_iter()
        .filter_map(|f| {
            let text = std::fs::read_to_string(&f).ok()?;
            Some((f.strip_prefix(root()).ok()?.to_owned(), text))
        })
        .collect()
}

fn relative(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// The library and its Python bindings, read once.
fn crates() -> &'static [Crate] {
    static READ: OnceLock<Vec<Crate>> = OnceLock::new();
    READ.get_or_init(|| {
        let python = "workbench/python/src/lib.rs";
        let first = ["workbench/lib.rs", python, "workbench/evcxr/src/main.rs", "workbench/evcxr/library/lib.rs"];
        first.iter().map(|f| Crate::read(&root(), f).unwrap_or_else(|e| panic!("{e}"))).collect()
    })
}

#[test]
fn rooms_name_only_rooms_of_floors_below() {
    let (whole, mut wrong) = (&crates()[0], Vec::new());
    for floors in FLOORS {
        let house = House::of(whole, floors.folder);
        let folder = floors.folder;
        wrong.extend(house.unnamed.iter().map(|room| format!("{folder}: {room} is on no floor")));
        wrong.extend(house.missing.iter().map(|room| format!("{folder}: {room} is declared, but not there")));
        let name = |room: usize| house.rooms[room].name.as_str();
        for ends in &house.up {
            let (from, to) = (name(ends.0), name(ends.1));
            if !floors.allowed.iter().any(|(f, t, _)| (*f, *t) == (from, to)) {
                for arrow in &house.arrows[ends] {
                    let file = &whole.files[arrow.from].path;
                    wrong.push(format!("{file}:{}: {from} names {} of {to}", arrow.line, arrow.name));
                }
            }
        }
        for (from, to, _) in floors.allowed {
            if !house.up.iter().any(|(f, t)| (name(*f), name(*t)) == (from, to)) {
                wrong.push(format!("{folder}: {from} names nothing of {to}; it need not be allowed"));
            }
        }
    }
    assert!(wrong.is_empty(), "floors:\n{}", wrong.join("\n"));
}

#[test]
fn some_folders_never_name_others() {
    let (whole, mut wrong) = (&crates()[0], Vec::new());
    for (folder, other) in NEVER {
        for end in [folder, other] {
            assert!(root().join(end).exists(), "{end} is not there");
        }
        for arrow in &whole.arrows {
            let (from, to) = (&whole.files[arrow.from].path, &whole.files[arrow.to].path);
            if is_in(folder, from) && is_in(other, to) {
                wrong.push(format!("{from}:{}: {folder} names {} of {to}", arrow.line, arrow.name));
            }
        }
    }
    assert!(wrong.is_empty(), "these never name those:\n{}", wrong.join("\n"));
}

#[test]
fn circles_of_files_only_shrink() {
    let whole = &crates()[0];
    let mut left: Vec<(&str, usize)> = CIRCLES.to_vec();
    let mut wrong = Vec::new();
    for (folder, circle) in circles_of_files(whole, "workbench") {
        // The entry in the nearest folder that allows so many files.
        let fits = left.iter_mut().filter(|(f, size)| is_in(f, &folder) && *size >= circle.len());
        match fits.max_by_key(|(f, size)| (f.len(), std::cmp::Reverse(*size))) {
            Some((_, size)) => *size -= circle.len(),
            None => {
                let files: Vec<&str> = circle.iter().map(|f| whole.files[*f].path.as_str()).collect();
                wrong.push(format!("{folder}: {} files: {}", circle.len(), files.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "new or larger circles; see cargo xtask structure:\n{}", wrong.join("\n"));
}

#[test]
fn every_file_is_in_a_crate() {
    let whole = &crates()[0];
    let mut unknown = whole.unknown(root(), "workbench");
    unknown.retain(|f| !f.starts_with("workbench/xtask/") && crates()[1..].iter().all(|c| c.file(f).is_none()));
    assert!(unknown.is_empty(), "no module declares:\n{}", unknown.join("\n"));
}

#[test]
fn long_functions_only_shrink() {
    let mut found: BTreeMap<&str, Vec<(usize, String)>> = BTreeMap::new();
    for file in crates().iter().flat_map(|c| &c.files).filter(|f| !f.test) {
        for function in file.file.functions.iter().filter(|f| f.lines > LONGEST) {
            let place = format!("{}:{}", file.path, function.line);
            found.entry(&function.name).or_default().push((function.lines, place));
        }
    }
    let mut wrong = Vec::new();
    for (name, all) in &mut found {
        all.sort();
        let mut allowed: Vec<usize> = LONG.iter().filter(|(n, ..)| n == name).map(|(_, lines, _)| *lines).collect();
        allowed.sort_unstable();
        // The longest have the largest entries.
        let spare = allowed.len().saturating_sub(all.len());
        let mut entries = allowed.split_off(spare);
        wrong.extend(allowed.iter().map(|lines| format!("{name} of {lines} lines is there no more")));
        while let Some((lines, place)) = all.pop() {
            if entries.pop().is_none_or(|most| most < lines) {
                wrong.push(format!("(\"{name}\", {lines}, REASON), // {place}"));
            }
        }
    }
    let gone = LONG.iter().filter(|(name, ..)| !found.contains_key(name));
    wrong.extend(gone.map(|(name, ..)| format!("{name} is long no more: take out its entry")));
    let without = LONG.iter().filter(|(.., reason)| reason.is_empty());
    wrong.extend(without.map(|(name, ..)| format!("{name} has no reason")));
    assert!(wrong.is_empty(), "functions of more than {LONGEST} lines:\n{}", wrong.join("\n"));
}

/// All files and folders of the repository, folders with `/` at the end, except for build outputs.
fn entries(folder: &Path, out: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let built = matches!(
            name.as_str(),
            "target" | ".git" | ".venv" | ".lab" | "__pycache__" | "node_modules" | "workbench.data"
        );
        let Ok(inner) = path.strip_prefix(root()) else { continue };
        if path.is_dir() {
            if !built {
                out.insert(format!("{}/", relative(inner)));
                entries(&path, out);
            }
        } else {
            out.insert(relative(inner));
        }
    }
}

/// Words that look like paths of the repository.
fn is_path(word: &str) -> bool {
    let ends = [".rs", ".py", ".cu", ".cuh", ".md", ".toml", ".sh", ".ipynb"].iter().any(|e| word.ends_with(e));
    word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && (ends || word.ends_with('/'))
}

#[test]
fn docs_name_files_that_are_there() {
    let mut all = BTreeSet::new();
    entries(root(), &mut all);
    let mut pages: Vec<(String, String)> = library().into_iter().map(|(p, t)| (relative(&p), t)).collect();
    for page in all.iter().filter(|p| p.ends_with(".md")) {
        pages.push((page.clone(), std::fs::read_to_string(root().join(page)).expect("a page")));
    }
    let mut unused: BTreeSet<&str> = ELSEWHERE.iter().map(|(path, _)| *path).collect();
    let mut wrong = Vec::new();
    for (page, text) in &pages {
        let mut code = false;
        for (number, line) in text.lines().enumerate() {
            if page.ends_with(".rs") && !line.starts_with("//!") {
                break;
            }
            if line.trim_start_matches("//!").trim_start().starts_with("```") {
                code = !code;
            }
            if code {
                continue;
            }
            // Paths in commands count, too.
            let words = line.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
            for word in words.filter(|word| is_path(word)) {
                // Short forms leave out the leading folders.
                let there = all.iter().any(|e| e.strip_suffix(word).is_some_and(|b| b.is_empty() || b.ends_with('/')));
                if !there && !unused.remove(word) && !ELSEWHERE.iter().any(|(path, _)| *path == word) {
                    wrong.push(format!("{page}:{}: {word}", number + 1));
                }
            }
        }
    }
    wrong.extend(unused.iter().map(|path| format!("no page names {path} any more")));
    assert!(wrong.is_empty(), "docs name what is not there:\n{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    let wrong: Vec<String> =
        library().into_iter().filter(|(_, t)| !t.starts_with("//!")).map(|(p, _)| relative(&p)).collect();
    assert!(wrong.is_empty(), "no module doc in:\n{}", wrong.join("\n"));
}

#[test]
fn files_read_well() {
    let wrong: Vec<String> = library()
        .into_iter()
        .filter(|(_, t)| t.lines().count() > 900)
        .map(|(p, t)| format!("{}: {} lines", relative(&p), t.lines().count()))
        .collect();
    assert!(wrong.is_empty(), "look for the seam in:\n{}", wrong.join("\n"));
}

#[test]
fn the_root_module_stays_short() {
    let text = std::fs::read_to_string(root().join("workbench/lib.rs")).expect("workbench/lib.rs");
    assert!(text.lines().count() < 150);
}

#[test]
fn every_module_is_in_the_architecture() {
    let text = std::fs::read_to_string(root().join("workbench/ARCHITECTURE.md")).expect("workbench/ARCHITECTURE.md");
    let rooms = FLOORS[0].order.iter().copied().flatten();
    for module in rooms.filter(|room| root().join("workbench").join(room).is_dir()) {
        assert!(text.contains(&format!("`{module}/`")), "ARCHITECTURE.md does not name `{module}/`");
    }
}

#[test]
fn notebooks_are_stored_without_outputs() {
    for dir in ["notebooks/python", "notebooks/rust"] {
        let mut any = false;
        for entry in std::fs::read_dir(root().join(dir)).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|x| x == "ipynb") {
                any = true;
                let text = std::fs::read_to_string(entry.path()).expect("a notebook");
                let json: serde_json::Value = serde_json::from_str(&text).expect("a notebook is JSON");
                for cell in json["cells"].as_array().into_iter().flatten() {
                    let outputs = cell["outputs"].as_array().map_or(0, Vec::len);
                    assert_eq!(outputs, 0, "{} holds outputs", entry.path().display());
                    assert!(cell["execution_count"].is_null(), "{} holds counts", entry.path().display());
                }
            }
        }
        assert!(any, "no notebook in {dir}");
    }
}

#[test]
fn library_code_does_not_give_up() {
    let mut wrong = Vec::new();
    for file in crates().iter().flat_map(|c| &c.files).filter(|f| !f.test) {
        let text = std::fs::read_to_string(root().join(&file.path)).expect("it was read before");
        for (number, line) in text.lines().enumerate().filter(|(number, _)| !file.file.is_test(number + 1)) {
            let code = line.split("//").next().unwrap_or("");
            if ["todo!(", "unimplemented!(", ".unwrap()"].iter().any(|w| code.contains(w)) {
                wrong.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
