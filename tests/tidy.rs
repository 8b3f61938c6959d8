//! Tidy checks: layering, module docs, sizes, what must not be in the repository.

use std::path::{Path, PathBuf};

/// Who may import whom: a module sees those of a lower rank, its own, and what its line lists beside.
const LAYERS: &[(&str, u32, &[&str])] = &[
    ("source", 0, &[]),
    ("diagnostic", 1, &[]),
    ("ir", 2, &[]),
    ("library", 2, &[]),
    ("front", 3, &[]),
    ("valid", 3, &[]),
    ("pass", 3, &[]),
    ("back", 3, &["pass"]),
    ("runtime", 4, &[]),
    ("ops", 5, &[]),
    ("autograd", 6, &[]),
    ("check", 6, &["autograd"]),
    ("bench", 6, &[]),
    ("plot", 7, &[]),
    ("display", 8, &[]),
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

#[test]
fn imports_point_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in library() {
        let name = relative(&path);
        let Some(module) = name.strip_prefix("workbench/").and_then(|n| n.split('/').next()) else { continue };
        let Some(&(_, rank, beside)) = LAYERS.iter().find(|(m, _, _)| *m == module) else { continue };
        // Tests at the bottom of a file may use anything.
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        if name.ends_with("tests.rs") || name.contains("/tests/") {
            continue;
        }
        for (number, line) in code.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for (other, other_rank, _) in LAYERS {
                let uses = line.contains(&format!("crate::{other}::")) || line.contains(&format!("crate::{other};"));
                if uses && *other != module && *other_rank >= rank && !beside.contains(other) {
                    wrong.push(format!("{name}:{}: {module} imports {other}", number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "layering:\n{}", wrong.join("\n"));
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
    for (module, _, _) in LAYERS {
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
    for (path, text) in library() {
        let name = relative(&path);
        if !name.starts_with("workbench/") || name.contains("tests") || name.contains("xtask") {
            continue;
        }
        for (number, line) in text.split("#[cfg(test)]").next().unwrap_or("").lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if ["todo!(", "unimplemented!(", ".unwrap()"].iter().any(|w| code.contains(w)) {
                wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
