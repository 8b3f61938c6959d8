//! `cargo xtask bench`: the Rust benchmarks, then the Python call path, all in release.

use std::process::Command;

use crate::python::Environment;
use crate::{root, step};

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("cargo xtask bench has no option `{arg}`"));
    }
    step::show("Rust benchmarks", Command::new("cargo").arg("bench").current_dir(root()))?;
    let env = Environment::prepare(true)?;
    step::show(
        "Python call path, beside NumPy",
        Command::new(env.python()).arg("workbench/xtask/bench_python.py").current_dir(root()),
    )
}
