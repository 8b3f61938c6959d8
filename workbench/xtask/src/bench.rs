//! `cargo xtask bench`: the Rust benchmarks, then the Python call path, all in release; `cargo xtask bench inline`: whole inline extensions
//! beside torch; `cargo xtask bench torch`: calls through `torch.ops` beside torch's own operators.

use std::process::Command;

use crate::python::Environment;
use crate::{root, step};

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    match args {
        [] => all(),
        [only] if only == "inline" => inline(),
        [only] if only == "torch" => torch(),
        [arg, ..] => Err(format!("cargo xtask bench has no option `{arg}`; it has `inline` and `torch`")),
    }
}

fn all() -> Result<(), String> {
    step::show("Rust benchmarks", Command::new("cargo").arg("bench").current_dir(root()))?;
    let env = Environment::prepare(true)?;
    step::show(
        "Python call path, beside NumPy",
        Command::new(env.python()).arg("workbench/xtask/bench_python.py").current_dir(root()),
    )
}

fn torch() -> Result<(), String> {
    let env = Environment::prepare(true)?;
    let torch = Environment::of_torch()?;
    step::show(
        "calls through torch.ops",
        Command::new(torch.python())
            .arg("workbench/xtask/bench_torch.py")
            .arg(env.python())
            .env("TORCH_EXTENSIONS_DIR", root().join(".lab/torch-extensions"))
            .env("PATH", torch.path())
            .current_dir(root()),
    )
}

fn inline() -> Result<(), String> {
    let env = Environment::prepare(true)?;
    let torch = Environment::of_torch()?;
    let (script, record) = ("workbench/xtask/bench_inline.py", root().join(".lab/torch-inline.json"));
    step::show(
        "torch.utils.cpp_extension.load_inline",
        Command::new(torch.python()).args([script, "torch"]).arg(&record).env("PATH", torch.path()).current_dir(root()),
    )?;
    step::show(
        "the same by Workbench",
        Command::new(env.python()).args([script, "workbench"]).arg(&record).current_dir(root()),
    )
}
