//! `cargo xtask test` and `cargo xtask check`: every test, every lint, and a table of what ran.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::evcxr::Kernel;
use crate::python::Environment;
use crate::{root, step};

const PARTS: &[&str] = &["rust", "python", "notebooks", BROWSER, "rust-notebook", TORCH];

/// The features under test: all of them.
pub const FEATURES: [&str; 2] = ["--features", "workbench/candle"];

/// The options by which pytest shares tests among processes: an idle process takes tests from the one with most left.
const SIDE_BY_SIDE: [&str; 6] = ["-n", "auto", "--maxprocesses", "4", "--dist", "worksteal"];

/// The part that is skipped where there is no browser.
const BROWSER: &str = "browser";

/// The part that runs only when asked for: it downloads gigabytes.
const TORCH: &str = "torch";

/// Runs every part asked for and prints what ran; the first failure does not stop the rest.
pub fn run(args: &[String]) -> Result<(), String> {
    let mut only = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--only" => {
                let part = args.next().ok_or("--only takes a part")?;
                if !PARTS.contains(&part.as_str()) {
                    return Err(format!("there is no part `{part}`; there are {}", PARTS.join(", ")));
                }
                only.push(part.clone());
            }
            other => return Err(format!("cargo xtask test has no option `{other}`; see cargo xtask help")),
        }
    }
    let wanted = |part: &str| (only.is_empty() && part != TORCH) || only.iter().any(|o| o == part);
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut failed = Vec::new();
    let mut part = |name: &str, what: &mut dyn FnMut() -> Result<String, String>| {
        if !wanted(name) {
            let why = if name == TORCH && only.is_empty() {
                "skipped: it downloads torch, 3 GB; cargo xtask test --only torch"
            } else {
                "not asked for (--only)"
            };
            rows.push((name.to_owned(), why.to_owned()));
            return;
        }
        let start = Instant::now();
        let row = match what() {
            Ok(note) => format!("passed in {:.0} s; {note}", start.elapsed().as_secs_f64()),
            Err(message) => {
                failed.push(format!("{name}: {message}"));
                format!("FAILED after {:.0} s", start.elapsed().as_secs_f64())
            }
        };
        rows.push((name.to_owned(), row));
    };

    part("rust", &mut || {
        // The tests of builtin functions ask NVRTC for CUDA's types, and NVRTC is a package of the environment.
        Environment::without_package(true)?;
        let cargo = |title: &str, args: &[&str]| {
            let mut cargo = Command::new("cargo");
            cargo.args(args).env("WORKBENCH_TEST_NVRTC", "1").current_dir(root());
            step::tests(title, &mut cargo, step::is_failure_of_rust)
        };
        cargo(
            "Rust tests: units, file tests, properties, bad input, tidy",
            &["test", "--workspace", FEATURES[0], FEATURES[1], "--lib", "--bins", "--tests"],
        )?;
        cargo("Rust documentation tests", &["test", "--workspace", FEATURES[0], FEATURES[1], "--doc"])?;
        // All members are named, so that the library is the one that the tests have.
        cargo("build the examples", &["build", "--quiet", "--workspace", FEATURES[0], FEATURES[1], "--examples"])?;
        for example in examples()? {
            step::show(
                &format!("example {example}"),
                Command::new(built_examples().join(&example)).current_dir(root()),
            )?;
        }
        Ok("units, file tests, examples".to_owned())
    });
    let mut env = None;
    part("python", &mut || {
        let environment = Environment::for_tests()?;
        step::tests(
            "Python tests",
            Command::new(environment.python())
                .args(["-m", "pytest", "-q", "tests/python"])
                .args(SIDE_BY_SIDE)
                .current_dir(root()),
            step::is_failure_of_pytest,
        )?;
        let gpu = step::read(
            Command::new(environment.python())
                .args(["-c", "import workbench as wb; print(any(d.startswith('cuda') for d in wb.devices()))"]),
        )?;
        env = Some(environment);
        Ok(if gpu == "True" {
            "GPU: compiled and run".to_owned()
        } else {
            "GPU: every kernel compiled by NVRTC; running them skipped, because there is no GPU".to_owned()
        })
    });
    part("notebooks", &mut || {
        let environment = match env.take() {
            Some(environment) => environment,
            None => Environment::for_tests()?,
        };
        // Those about torch are executed where torch is.
        let (_, notebooks): (Vec<_>, Vec<_>) = notebooks("notebooks/python")?.into_iter().partition(is_of_torch);
        for notebook in &notebooks {
            environment.execute(notebook, None, &[])?;
        }
        env = Some(environment);
        Ok(format!("{} executed", notebooks.len()))
    });
    part(BROWSER, &mut || {
        let environment = match env.take() {
            Some(environment) => environment,
            None => Environment::for_tests()?,
        };
        let chromium = chromium();
        let row = match &chromium {
            Some(chromium) => {
                environment.with_playwright()?;
                step::tests(
                    "JupyterLab in Chromium",
                    Command::new(environment.python())
                        .args(["-m", "pytest", "-q", "tests/browser"])
                        .env("WORKBENCH_CHROMIUM", chromium)
                        .current_dir(root()),
                    step::is_failure_of_pytest,
                )?;
                Ok("JupyterLab driven; pictures are in .lab/screenshots".to_owned())
            }
            None if only.is_empty() => Ok(format!("skipped: {NO_CHROMIUM}")),
            None => Err(NO_CHROMIUM.to_owned()),
        };
        env = Some(environment);
        row
    });
    part("rust-notebook", &mut || {
        let environment = match env.take() {
            Some(environment) => environment,
            None => Environment::for_tests()?,
        };
        let kernel = Kernel::for_tests(&environment)?;
        kernel.warm(&environment, false)?;
        let notebooks = notebooks("notebooks/rust")?;
        for notebook in &notebooks {
            environment.execute(notebook, Some("rust"), &kernel.env())?;
        }
        let Some(chromium) = chromium() else {
            return Ok(format!("{} executed; in JupyterLab: skipped, {NO_CHROMIUM}", notebooks.len()));
        };
        environment.with_playwright()?;
        // The file's name is not that of a test, so that the browser's part leaves it alone.
        step::tests(
            "Rust notebooks in JupyterLab",
            Command::new(environment.python())
                .args(["-m", "pytest", "-q", "tests/browser/rust_notebook.py"])
                .env("WORKBENCH_CHROMIUM", chromium)
                .envs(kernel.env())
                .current_dir(root()),
            step::is_failure_of_pytest,
        )?;
        Ok(format!("{} executed, and cells run in JupyterLab", notebooks.len()))
    });

    part(TORCH, &mut || {
        let environment = match env.take() {
            Some(environment) => environment,
            None => Environment::for_tests()?,
        };
        let torch = Environment::of_torch()?;
        let (script, record) =
            (root().join("tests/torch/conformance.py"), root().join(".lab/torch-conformance.pickle"));
        step::show(
            "build the text with torch.utils.cpp_extension and run it",
            Command::new(torch.python())
                .arg(&script)
                .arg("record")
                .arg(&record)
                .env("TORCH_EXTENSIONS_DIR", root().join(".lab/torch-extensions"))
                .env("PATH", torch.path())
                .current_dir(root()),
        )?;
        step::show(
            "the same text, built by Workbench: same outcomes",
            Command::new(environment.python()).arg(&script).arg("compare").arg(&record).current_dir(root()),
        )?;
        let (script, record) = (root().join("tests/torch/exact.py"), root().join(".lab/torch-exact.pickle"));
        step::show(
            "operations of one element each, built with torch.utils.cpp_extension and run",
            Command::new(torch.python())
                .arg(&script)
                .arg("record")
                .arg(&record)
                .env("TORCH_EXTENSIONS_DIR", root().join(".lab/torch-extensions"))
                .env("PATH", torch.path())
                .current_dir(root()),
        )?;
        step::show(
            "the same, built by Workbench: bit for bit",
            Command::new(environment.python()).arg(&script).arg("compare").arg(&record).current_dir(root()),
        )?;
        step::show(
            "operators in torch: its dispatcher, checks, autograd, transforms and compiler",
            Command::new(torch.python())
                .arg(root().join("tests/torch/run.py"))
                .arg(environment.python())
                .arg("tests/torch")
                .args(SIDE_BY_SIDE)
                .env("PATH", torch.path())
                .current_dir(root()),
        )?;
        for notebook in notebooks("notebooks/python")?.iter().filter(is_of_torch) {
            torch.execute(notebook, None, &[("PYTHONPATH", environment.packages()?)])?;
        }
        Ok("host functions agree with torch's, and torch calls registered ones".to_owned())
    });

    println!("\nparts:");
    for (name, row) in &rows {
        println!("  {name:<14} {row}");
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("\n{}", failed.join("\n"))) }
}

/// Runs format and lints, with warnings as errors.
pub fn check(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("cargo xtask check has no option `{arg}`"));
    }
    let cargo = |title: &str, args: &[&str]| step::show(title, Command::new("cargo").args(args).current_dir(root()));
    cargo("format", &["fmt", "--all", "--check"])?;
    cargo(
        "format of the session of Rust notebooks",
        &["fmt", "--manifest-path", "workbench/evcxr/Cargo.toml", "--check"],
    )?;
    cargo(
        "lints",
        &["clippy", "--workspace", FEATURES[0], FEATURES[1], "--all-targets", "--quiet", "--", "-D", "warnings"],
    )
}

const NO_CHROMIUM: &str = "there is no Chromium; Debian's package is `chromium`";

/// The browser for tests.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file())
}

/// The folder of built examples.
fn built_examples() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target).join("debug").join("examples")
}

fn examples() -> Result<Vec<String>, String> {
    let mut names: Vec<String> = files("examples", "rs")?
        .iter()
        .filter_map(|p| p.file_stem().map(|s| s.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

fn notebooks(dir: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = files(dir, "ipynb")?;
    found.sort();
    if found.is_empty() { Err(format!("no notebook in {dir}")) } else { Ok(found) }
}

/// True for a notebook that needs torch; its name says so.
fn is_of_torch(notebook: &impl AsRef<Path>) -> bool {
    notebook.as_ref().file_stem().is_some_and(|name| name.to_string_lossy().contains("torch"))
}

fn files(dir: &str, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(root().join(dir)).map_err(|e| format!("{dir}: {e}"))?;
    Ok(entries
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|x| x == extension))
        .collect())
}
