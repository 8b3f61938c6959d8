//! `cargo xtask bench`: the Rust benchmarks, then the Python call path, then kernels on the CPU against hand-tuned C++ and other installed compilers,
//! all in release. `cargo xtask bench cpu [option ...]`: the last of these alone; `cargo xtask bench inline`: whole inline extensions against torch;
//! `cargo xtask bench torch`: calls through `torch.ops` against torch's own operators; `cargo xtask bench gpu`: kernels on a GPU against torch and
//! nvcc.

use std::process::Command;

use crate::python::Environment;
use crate::{root, step};

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    match args {
        [] => all(),
        [only] if only == "inline" => inline(),
        [only] if only == "torch" => torch("bench_torch.py", "calls through torch.ops"),
        [only] if only == "gpu" => torch("bench_gpu.py", "kernels on a GPU, beside torch and nvcc"),
        [only, options @ ..] if only == "cpu" => cpu(options),
        [arg, ..] => Err(format!("cargo xtask bench has no option `{arg}`; it has `cpu`, `gpu`, `inline` and `torch`")),
    }
}

fn all() -> Result<(), String> {
    step::show("Rust benchmarks", Command::new("cargo").arg("bench").current_dir(root()))?;
    let env = Environment::prepare(true)?;
    step::show(
        "Python call path, beside NumPy",
        Command::new(env.python()).arg("workbench/xtask/bench_python.py").current_dir(root()),
    )?;
    cpu(&[])
}

/// Runs kernels against hand-tuned C++ and keeps the report as JSON and SVG; with `--checks` the cost of the checks, kept as JSON.
fn cpu(options: &[String]) -> Result<(), String> {
    let env = Environment::prepare(true)?;
    let kept = root().join("target/bench");
    std::fs::create_dir_all(&kept).map_err(|e| format!("{}: {e}", kept.display()))?;
    let report = |name: &str| kept.join(name).into_os_string();
    let (title, files) = match options.iter().any(|option| option == "--checks") {
        true => ("kernels on the CPU, with and without checks", vec!["--json".into(), report("checks.json")]),
        false => (
            "kernels on the CPU, beside hand-tuned C++",
            vec!["--json".into(), report("cpu.json"), "--svg".into(), report("cpu.svg")],
        ),
    };
    let mut command = Command::new(env.python());
    command.arg("workbench/xtask/bench_cpu").args(files).args(options);
    step::show(title, command.current_dir(root()))
}

/// A script that needs torch.
fn torch(script: &str, title: &str) -> Result<(), String> {
    let env = Environment::prepare(true)?;
    let torch = Environment::of_torch()?;
    step::show(
        title,
        Command::new(torch.python())
            .arg(format!("workbench/xtask/{script}"))
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
