//! Whole kernels, `tests/filetests/kernels/*.cu`, in the idioms of real repositories: each is launched at several shapes, odd ones
//! included, and compared with a plain loop in double precision. Each bound says where it comes from.
//!
//! `pending.txt` beside the kernels lists those that do not run yet, `name: reason` a line. A kernel on the list that passes is a
//! failure, so that the list only shrinks; and so is one that runs and gives a wrong result, on the list or not.

mod attention;
mod case;
mod conv;
mod detection;
mod elementwise;
mod execute;
mod image;
mod matmul;
mod norm;
mod physics;
mod quant;
mod reduce;
mod scan;
mod softmax;
mod sort;
mod sparse;
mod stencil;
mod timing;
mod train;
mod transpose;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use execute::Failure;
use libtest_mimic::{Arguments, Failed, Trial};

const FAMILIES: &[&[case::Kernel]] = &[
    attention::KERNELS,
    conv::KERNELS,
    detection::KERNELS,
    elementwise::KERNELS,
    image::KERNELS,
    matmul::KERNELS,
    norm::KERNELS,
    physics::KERNELS,
    quant::KERNELS,
    reduce::KERNELS,
    scan::KERNELS,
    softmax::KERNELS,
    sort::KERNELS,
    sparse::KERNELS,
    stencil::KERNELS,
    train::KERNELS,
    transpose::KERNELS,
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/kernels");
    if std::env::args().any(|arg| arg == "--bench") {
        return timing::run(FAMILIES, &root);
    }
    let args = Arguments::from_args();
    let pending = pending(&root);
    let mut trials = vec![Trial::test("every_file_has_runs", {
        let (root, pending) = (root.clone(), pending.clone());
        move || every_file_has_runs(&root, &pending)
    })];
    for kernel in FAMILIES.iter().copied().flatten() {
        let path = root.join(kernel.name).with_extension("cu");
        let reason = pending.get(kernel.name).cloned();
        trials.push(Trial::test(kernel.name, move || {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            match (execute::kernel(kernel, &text), reason) {
                (Ok(()), Some(_)) => Err("it passes: take its line out of pending.txt".into()),
                (Err(Failure::Wrong(e)), _) | (Err(Failure::Refused(e)), None) => Err(e.into()),
                (Ok(()), None) | (Err(Failure::Refused(_)), Some(_)) => Ok(()),
            }
        }));
    }
    libtest_mimic::run(&args, trials).exit();
}

/// The kernels that do not run yet, with the reasons.
fn pending(root: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(root.join("pending.txt")).unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (name, reason) = line.split_once(':').unwrap_or((line, ""));
            (name.trim().to_owned(), reason.trim().to_owned())
        })
        .collect()
}

/// Files and runs belong together one to one, and the pending list names only kernels there are.
fn every_file_has_runs(root: &Path, pending: &BTreeMap<String, String>) -> Result<(), Failed> {
    let known: BTreeSet<String> = FAMILIES.iter().copied().flatten().map(|k| k.name.to_owned()).collect();
    let files: BTreeSet<String> = std::fs::read_dir(root)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|x| x == "cu"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    if let Some(name) = files.symmetric_difference(&known).next() {
        return Err(format!("`{name}` is a file without runs, or runs without a file").into());
    }
    match pending.iter().find(|(name, reason)| !known.contains(*name) || reason.is_empty()) {
        Some((name, _)) => Err(format!("pending.txt: `{name}` is no kernel here, or has no reason").into()),
        None => Ok(()),
    }
}
