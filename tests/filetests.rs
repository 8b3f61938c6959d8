//! File tests: `tests/filetests/**/*.cu`, each a kernel with its expectations in comments, and `*.ir`, each a module for a pass.
//! `tests/filetests/README.md` is the format. `WORKBENCH_BLESS=1` rewrites the `ir`, `render` and `out` sections, and nothing else: results
//! are worked out by hand.

mod support;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Trial};

fn main() {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no file tests under {}", root.display());
    let trials = files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("").display().to_string();
            Trial::test(name, move || support::filetest::run(&path).map_err(Into::into))
        })
        .collect();
    libtest_mimic::run(&args, trials).exit();
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.ends_with("kernels") {
            // Whole kernels have their runs in `tests/kernels/`.
        } else if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|x| x == "cu" || x == "ir") {
            files.push(path);
        }
    }
}
