//! Whole kernels, `tests/filetests/kernels/*.cu`, in the idioms of real repositories: each is launched at several shapes, odd ones
//! included, and compared with a plain loop in double precision. A comment derives each bound.

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

use std::collections::BTreeSet;
use std::path::Path;

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
    let mut trials = vec![Trial::test("every_file_has_runs", {
        let root = root.clone();
        move || every_file_has_runs(&root)
    })];
    for kernel in FAMILIES.iter().copied().flatten() {
        let path = root.join(kernel.name).with_extension("cu");
        trials.push(Trial::test(kernel.name, move || {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            execute::kernel(kernel, &text).map_err(Failed::from)
        }));
    }
    libtest_mimic::run(&args, trials).exit();
}

/// Checks that each file has runs, and each run a file.
fn every_file_has_runs(root: &Path) -> Result<(), Failed> {
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
    Ok(())
}
