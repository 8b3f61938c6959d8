//! `cargo xtask`: the commands for developers. `lab` opens a notebook, `test` runs every test, `check` runs format and lints, `bench`
//! measures, `kernels` checks the operators that ship, `ulp` finds the largest errors of the math functions, `pictures` draws those of the
//! README, `structure` shows the imports between files.

mod bench;
mod evcxr;
mod kernels;
mod lab;
mod labextension;
mod pictures;
mod python;
mod step;
mod test;
mod ulp;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask <command>

  lab      build, make a virtual environment, install, open notebooks/python/01-first-operator.ipynb
             --execute      run the notebook headless instead; fails if a cell does
             --no-browser   start the server and print its address
             --rust         the Rust notebook; builds its kernel once
             --port N       the server's port
  test     every test: Rust, file tests, Python, GPU compilation, notebooks executed
             --only PART    one of: rust, python, notebooks, browser, rust-notebook, torch (may be repeated); browser drives JupyterLab
                            in Chromium, and is skipped where there is none unless it is asked for; torch, which compares host
                            functions with torch itself, downloads 3 GB and is run only when it is asked for
  check    format and lints, as errors
  bench    the table of latencies and throughputs, side by side
             cpu            textbook kernels alone, beside hand-tuned C++ and other compilers; `cpu --help` lists its options
             general        kernels as people write them, beside plain C++ with OpenMP; `general --help` lists its options
             notebook       milliseconds from a key to a picture, names and problems in JupyterLab, in Chromium
             inline         whole inline extensions beside torch, from text to first result; downloads 3 GB
             tensors        operations on tensors in host code beside torch's; downloads 3 GB; `tensors --help` lists its options
             torch          calls through torch.ops beside torch's own operators; downloads 3 GB
  kernels  [NAME ...]: every operator in kernels/ beside its reference: values, gradients, shapes; one table
  pictures draws the README's pictures again, on this machine
  structure [FOLDER]: the rooms of a folder (its files and folders), their floors, who names whom, what runs up, circles;
             FOLDER is the crate's, workbench, unless it is given
             --svg FILE     writes a picture too
  ulp      [NAME ...] [--stride N]: largest errors of the float functions over all 2^32 arguments; takes hours
             --stride N     every N-th argument only

Environment: PYTHON (the interpreter to use, 3.10 or newer), XDG_CACHE_HOME (where the kernel of Rust notebooks is kept).
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let rest: Vec<String> = args.collect();
    let result = match command.as_deref() {
        Some("lab") => lab::run(&rest),
        Some("test") => test::run(&rest),
        Some("check") => test::check(&rest),
        Some("bench") => bench::run(&rest),
        Some("kernels") => kernels::run(&rest),
        Some("pictures") => pictures::run(&rest),
        Some("structure") => structure::run(&root(), &rest),
        Some("ulp") => ulp::run(&rest),
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => Err(format!("there is no `cargo xtask {other}`\n\n{HELP}")),
        None => Err(HELP.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
fn root() -> PathBuf {
    // The checkout that cargo runs this in: a binary that was built in another checkout with the same build folder holds another path.
    let run_in = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let here = run_in.as_deref().unwrap_or(Path::new(env!("CARGO_MANIFEST_DIR")));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
