//! The kernel of Rust notebooks (`workbench/evcxr`): the program that runs cells, built once in the user's cache, and a *seed*: a folder in
//! which the dependencies of notebooks are compiled, which every session begins with a copy of (`workbench/evcxr/session.py`).

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::python::Environment;
use crate::{root, step};

/// The commands that evcxr runs at the start of every notebook.
const INIT: &str = ":opt 2\n";

/// How cargo builds the dependencies of sessions, which lie below the folder of this file. evcxr's profile has
/// debug assertions and overflow checks in all of them, and link-time optimisation of each; they cost more than they give.
const BUILD: &str = "\
[profile.dev]
lto = \"off\"
[profile.dev.package.\"*\"]
debug-assertions = false
overflow-checks = false
";

/// What tests add: the dependencies are optimised as little as in other tests.
const BUILD_FOR_TESTS: &str = "opt-level = 1\n";

/// The kernel, and the folder of its seed and its sessions.
pub struct Kernel {
    program: PathBuf,
    lab: PathBuf,
}

impl Kernel {
    /// The kernel, built if it is not yet.
    pub fn prepare(env: &Environment) -> Result<Self, String> {
        Self::prepare_in(env, "rust", BUILD)
    }

    /// The kernel for tests. Its sessions are not those of an open notebook, as their dependencies are built in another way.
    pub fn for_tests(env: &Environment) -> Result<Self, String> {
        Self::prepare_in(env, "rust-tests", &format!("{BUILD}{BUILD_FOR_TESTS}"))
    }

    fn prepare_in(env: &Environment, lab: &str, build: &str) -> Result<Self, String> {
        let target = target();
        step::show(
            "build the session of Rust notebooks (the first time compiles rust-analyzer: some minutes)",
            Command::new("cargo")
                .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
                .arg(folder().join("Cargo.toml"))
                .arg("--target-dir")
                .arg(&target),
        )?;
        let name = format!("workbench-evcxr{}", std::env::consts::EXE_SUFFIX);
        let kernel = Kernel { program: target.join("release").join(name), lab: root().join(".lab").join(lab) };
        if kernel.lab.to_string_lossy().contains(' ') {
            let lab = kernel.lab.display();
            return Err(format!(
                "{lab}: evcxr loads cells by paths without spaces; put the checkout into such a folder"
            ));
        }
        write(&kernel.config().join("init.evcxr"), INIT)?;
        write(&kernel.lab.join(".cargo/config.toml"), build)?;
        write(&kernel.jupyter().join("kernels/rust/kernel.json"), &kernel.spec(env))?;
        Ok(kernel)
    }

    /// Runs the tests of the session's program.
    pub fn test(&self) -> Result<(), String> {
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--release", "--locked", "--manifest-path"]).arg(folder().join("Cargo.toml"));
        step::tests(
            "tests of the session of Rust notebooks",
            cargo.arg("--target-dir").arg(target()),
            step::is_failure_of_rust,
        )
    }

    fn config(&self) -> PathBuf {
        self.lab.join("config")
    }

    /// The folder to put on `JUPYTER_PATH`.
    fn jupyter(&self) -> PathBuf {
        self.lab.join("jupyter")
    }

    /// Jupyter's description of the kernel. Paths are escaped as JSON strings.
    fn spec(&self, env: &Environment) -> String {
        let quoted =
            |path: &Path| format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""));
        format!(
            "{{\n  \"argv\": [{}, {}, \"-f\", \"{{connection_file}}\"],\n  \"display_name\": \"Rust\",\n  \
             \"language\": \"rust\",\n  \"interrupt_mode\": \"message\",\n  \"env\": {{\n    \
             \"WORKBENCH_RUST_LAB\": {},\n    \"WORKBENCH_RUST_ROOT\": {},\n    \"WORKBENCH_RUST_SESSION\": {},\n    \
             \"EVCXR_CONFIG_DIR\": {}\n  }}\n}}\n",
            quoted(&env.python()),
            quoted(&folder().join("kernel.py")),
            quoted(&self.lab),
            quoted(&root()),
            quoted(&self.program),
            quoted(&self.config()),
        )
    }

    /// A command of one of the kernel's programs.
    fn command(&self, env: &Environment, script: &str) -> Command {
        let mut command = Command::new(env.python());
        command.arg(folder().join(script)).arg(&self.lab).arg(root()).arg(&self.program);
        command.env("EVCXR_CONFIG_DIR", self.config());
        command
    }

    /// Brings the seed up to date. `errors`: also for cells that do not compile, which takes a minute more.
    pub fn warm(&self, env: &Environment, errors: bool) -> Result<(), String> {
        let mut command = self.command(env, "session.py");
        command.arg("--fill").args(errors.then_some("--errors"));
        step::show("compile the dependencies of Rust notebooks (the first time: some minutes)", &mut command)
    }

    /// Starts the pool, which keeps a session ready as long as the result lives.
    pub fn pool(&self, env: &Environment) -> Result<Pool, String> {
        // Sessions run in the folder of the notebooks.
        let mut command = self.command(env, "pool.py");
        command.stdin(Stdio::piped()).current_dir(root().join("notebooks/rust"));
        let child = command.spawn().map_err(|e| format!("pool.py: {e}"))?;
        Ok(Pool { child })
    }

    /// The environment variables that Jupyter needs to find the kernel.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        vec![("JUPYTER_PATH", self.jupyter().display().to_string())]
    }
}

/// A running pool of sessions.
pub struct Pool {
    child: Child,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The folder of the kernel's files.
fn folder() -> PathBuf {
    root().join("workbench/evcxr")
}

/// The folder in which the session's program is built. It is kept: it is shared by all checkouts, and a change of our few files compiles these
/// alone.
fn target() -> PathBuf {
    cache().join("workbench").join("evcxr")
}

/// The user's cache folder.
fn cache() -> PathBuf {
    if let Some(dir) = std::env::var_os("XDG_CACHE_HOME") {
        return PathBuf::from(dir);
    }
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    home.map_or_else(|| root().join(".lab"), |h| PathBuf::from(h).join(".cache"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let parent = path.parent().ok_or("a file has a folder")?;
    std::fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
