//! `cargo xtask bench`: the Rust benchmarks, then the Python call path, then kernels on the CPU against hand-tuned C++ and other installed compilers,
//! all in release. `cargo xtask bench cpu [option ...]`: the last of these alone; `cargo xtask bench general [option ...]`: kernels as people write
//! them against plain C++ with OpenMP; `cargo xtask bench inline`: whole inline extensions against torch; `cargo xtask bench torch`: calls through
//! `torch.ops` against torch's own operators; `cargo xtask bench gpu`: kernels on a GPU against torch and nvcc; `cargo xtask bench notebook`: what a
//! person at JupyterLab waits for.

use std::process::Command;

use crate::python::Environment;
use crate::{root, step};

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    match args {
        [] => all(),
        [only] if only == "inline" => inline(),
        [only] if only == "torch" => torch("bench_torch.py", "calls through torch.ops", &[]),
        [only, options @ ..] if only == "tensors" => {
            torch("bench_tensors.py", "operations on tensors in host code, beside torch's", options)
        }
        [only] if only == "notebook" => notebook(),
        [only] if only == "gpu" => torch("bench_gpu.py", "kernels on a GPU, beside torch and nvcc", &[]),
        [only, options @ ..] if only == "cpu" => cpu(options),
        [only, options @ ..] if only == "general" => general(options),
        [arg, ..] => Err(format!(
            "cargo xtask bench has no option `{arg}`; it has `cpu`, `general`, `gpu`, `inline`, `notebook`, `tensors` and `torch`"
        )),
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
    match options.iter().any(|option| option == "--checks") {
        true => {
            package("bench_cpu", "kernels on the CPU, with and without checks", &[("--json", "checks.json")], options)
        }
        false => package(
            "bench_cpu",
            "kernels on the CPU, beside hand-tuned C++",
            &[("--json", "cpu.json"), ("--svg", "cpu.svg")],
            options,
        ),
    }
}

/// Runs kernels as people write them against plain C++, and keeps the report as JSON and SVG.
fn general(options: &[String]) -> Result<(), String> {
    package(
        "bench_general",
        "kernels as people write them, beside plain C++",
        &[("--json", "general.json"), ("--svg", "general.svg")],
        options,
    )
}

/// A package of this folder, with the files that it is to keep in `target/bench`, each after its option. The user's options come last, so that
/// they win.
fn package(name: &str, title: &str, files: &[(&str, &str)], options: &[String]) -> Result<(), String> {
    let env = Environment::prepare(true)?;
    let kept = root().join("target/bench");
    std::fs::create_dir_all(&kept).map_err(|e| format!("{}: {e}", kept.display()))?;
    let mut command = Command::new(env.python());
    command.arg(format!("workbench/xtask/{name}"));
    for (option, file) in files {
        command.arg(option).arg(kept.join(file));
    }
    step::show(title, command.args(options).current_dir(root()))
}

/// Milliseconds that a person at JupyterLab waits; needs Chromium.
fn notebook() -> Result<(), String> {
    let env = Environment::prepare(true)?;
    env.with_playwright()?;
    let pytest = ["-m", "pytest", "-q", "-s", "tests/browser/latency.py"];
    step::show("waits in JupyterLab", Command::new(env.python()).args(pytest).current_dir(root()))
}

/// A script that needs torch.
fn torch(script: &str, title: &str, options: &[String]) -> Result<(), String> {
    let env = Environment::prepare(true)?;
    let torch = Environment::of_torch()?;
    step::show(
        title,
        Command::new(torch.python())
            .arg(format!("workbench/xtask/{script}"))
            .arg(env.python())
            .args(options)
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
