//! The Python side: an interpreter, a virtual environment under `.lab/`, and the wheel, built and installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{root, step};

/// A virtual environment with the package installed.
pub struct Environment {
    dir: PathBuf,
}

/// The packages in the environment besides our own; one list, so that `lab` and `test` agree.
const PACKAGES: &[&str] = &[
    "numpy>=1.24",
    "ml_dtypes>=0.3",
    "ipykernel",
    "nbclient",
    "nbformat",
    "maturin>=1.7,<2",
    "jupyterlab>=4",
    // Notebook 09's pictures.
    "matplotlib",
    // NVRTC with its headers, which compiles for a GPU without one: 65 MB to fetch. There is none for macOS.
    "nvidia-cuda-nvrtc>=13; sys_platform != 'darwin'",
    "nvidia-cuda-runtime>=13; sys_platform != 'darwin'",
    "nvidia-cuda-cccl>=13; sys_platform != 'darwin'",
];

/// The packages that only the tests need.
const TEST_PACKAGES: &[&str] = &[
    "pytest>=8",
    // Tests side by side, on as many processors as there are.
    "pytest-xdist>=3.6",
    "cloudpickle",
    "dask[array]",
    "pandas",
    "polars",
    // Pictures as PNG.
    "resvg-py",
    // Strategies for tests of operators.
    "hypothesis",
    // Another front end of notebooks.
    "marimo",
    // A C compiler for machines without one.
    "ziglang",
    "distributed",
    "jax",
];

/// The package that drives a browser.
const BROWSER_PACKAGES: &[&str] = &["playwright"];

/// The packages that torch's own extensions are built with.
const TORCH_PACKAGES: &[&str] = &["torch>=2.6", "numpy>=1.24", "ml_dtypes>=0.3", "ninja", "setuptools"];

/// How packages are installed. Python compiles a module when it is first imported; compiling all of every package takes longer.
const PIP: [&str; 6] = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"];

impl Environment {
    /// An environment with torch, and without the package. It is separate because it takes gigabytes.
    pub fn of_torch() -> Result<Self, String> {
        let env = Environment { dir: root().join(".lab").join("torch") };
        env.make(".lab/torch")?;
        env.with(TORCH_PACKAGES, "torch")?;
        Ok(env)
    }

    /// The search path with the environment's programs first.
    pub fn path(&self) -> std::ffi::OsString {
        let own = self.bin("python").parent().map(Path::to_path_buf).unwrap_or_default();
        let old = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&old))).unwrap_or(old)
    }

    fn make(&self, name: &str) -> Result<(), String> {
        if self.python().exists() {
            return Ok(());
        }
        let title = format!("make a virtual environment in {name}");
        step::show(&title, Command::new(interpreter()?).args(["-m", "venv"]).arg(&self.dir))
    }

    /// Installs packages, where they are not installed yet.
    fn with(&self, wanted: &[&str], what: &str) -> Result<(), String> {
        let mark = self.dir.join("workbench-packages.txt");
        let have = std::fs::read_to_string(&mark).unwrap_or_default();
        if wanted.iter().all(|w| have.lines().any(|h| h == *w)) {
            return Ok(());
        }
        step::show(&format!("install Python packages ({what})"), Command::new(self.python()).args(PIP).args(wanted))?;
        std::fs::write(&mark, wanted.join("\n")).map_err(|e| format!("{}: {e}", mark.display()))
    }

    /// The environment with the package installed, made or brought up to date; `tests` adds what only the tests need.
    pub fn prepare(tests: bool) -> Result<Self, String> {
        let env = Self::without_package(tests)?;
        env.install(&["--release"])?;
        Ok(env)
    }

    /// The environment for tests. The package is built as the Rust tests are, with debug assertions, and from what they have built.
    pub fn for_tests() -> Result<Self, String> {
        let env = Self::without_package(true)?;
        env.install(&crate::test::FEATURES)?;
        Ok(env)
    }

    /// The environment with the packages of other projects, as it is or brought up to date.
    pub fn without_package(tests: bool) -> Result<Self, String> {
        let dir = root().join(".lab").join("venv");
        let env = Environment { dir };
        env.make(".lab/venv")?;
        let mut wanted: Vec<&str> = PACKAGES.to_vec();
        if tests {
            wanted.extend(TEST_PACKAGES);
        }
        env.with(&wanted, "JupyterLab, NumPy, maturin")?;
        Ok(env)
    }

    /// Adds the package that drives a browser.
    pub fn with_playwright(&self) -> Result<(), String> {
        if step::read(Command::new(self.python()).args(["-c", "import playwright"])).is_ok() {
            return Ok(());
        }
        step::show("install Python packages (Playwright)", Command::new(self.python()).args(PIP).args(BROWSER_PACKAGES))
    }

    /// Builds the wheel with these options and installs it.
    fn install(&self, options: &[&str]) -> Result<(), String> {
        let dist = root().join(".lab").join("dist");
        let _ = std::fs::remove_dir_all(&dist);
        crate::labextension::build(self)?;
        step::show(
            "build the workbench wheel (the first time compiles the code generator: some minutes)",
            Command::new(self.bin("maturin"))
                .arg("build")
                .args(options)
                .arg("--out")
                .arg(&dist)
                .arg("--interpreter")
                .arg(self.python())
                .current_dir(root().join("workbench/python")),
        )?;
        let wheel = std::fs::read_dir(&dist)
            .map_err(|e| format!("{}: {e}", dist.display()))?
            .filter_map(|e| e.ok().map(|e| e.path()))
            .find(|p| p.extension().is_some_and(|x| x == "whl"))
            .ok_or_else(|| format!("no wheel in {}", dist.display()))?;
        step::show(
            "install the wheel",
            Command::new(self.python()).args(PIP).args(["--force-reinstall", "--no-deps"]).arg(wheel),
        )
    }

    /// The environment's interpreter.
    pub fn python(&self) -> PathBuf {
        self.bin("python")
    }

    /// A program of the environment.
    pub fn bin(&self, name: &str) -> PathBuf {
        if cfg!(windows) {
            self.dir.join("Scripts").join(format!("{name}.exe"))
        } else {
            self.dir.join("bin").join(name)
        }
    }

    /// The folder of its packages, for the interpreter of another environment.
    pub fn packages(&self) -> Result<String, String> {
        step::read(Command::new(self.python()).args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]))
    }

    /// Executes a notebook headless, cell by cell; fails when a cell does or when any output holds a Rust panic.
    pub fn execute(&self, notebook: &Path, kernel: Option<&str>, env: &[(&str, String)]) -> Result<(), String> {
        let out = root().join(".lab").join("executed");
        let mut command = Command::new(self.python());
        command.arg(root().join("workbench/xtask/execute.py")).arg(notebook).arg("--out").arg(out);
        if let Some(kernel) = kernel {
            command.args(["--kernel", kernel]);
        }
        command.envs(env.iter().map(|(k, v)| (k, v.as_str()))).current_dir(root());
        let name = notebook.strip_prefix(root()).unwrap_or(notebook).display().to_string();
        step::show(&format!("execute {name}"), &mut command)
    }
}

/// The first interpreter of version 3.10 or newer.
fn interpreter() -> Result<String, String> {
    let named = std::env::var("PYTHON").ok();
    let candidates = match &named {
        Some(p) => vec![p.as_str()],
        None => vec!["python3", "python", "python3.13", "python3.12", "python3.11", "python3.10"],
    };
    for candidate in &candidates {
        let test = "import sys; print(sys.version_info >= (3, 10))";
        if step::read(Command::new(candidate).args(["-c", test])).is_ok_and(|out| out == "True") {
            return Ok((*candidate).to_owned());
        }
    }
    Err(format!("Python 3.10 or newer is needed; tried {} (set PYTHON to name one)", candidates.join(", ")))
}
