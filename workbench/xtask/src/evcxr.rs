//! The Rust notebook's kernel: a pinned evcxr, installed once in the user's cache, with a dependency cache of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{root, step};

/// The newest version that works with the pinned toolchain, and only with its own lock file.
const VERSION: &str = "0.22.0";

/// The commands that evcxr runs at the start of every notebook: compiled dependencies are kept (in MiB), so that a new notebook does not
/// rebuild the code generator.
const INIT: &str = ":cache 4000\n:opt 2\n";

/// An installed kernel.
pub struct Kernel {
    dir: PathBuf,
}

impl Kernel {
    /// The kernel, installed if it is not yet.
    pub fn prepare() -> Result<Self, String> {
        let dir = cache().join("workbench").join(format!("evcxr-{VERSION}"));
        let kernel = Kernel { dir };
        if !kernel.binary().exists() {
            step::show(
                "install evcxr_jupyter, the Rust notebook kernel (once, about ten minutes)",
                Command::new("cargo")
                    .args(["install", "--locked", "evcxr_jupyter", "--version", VERSION, "--root"])
                    .arg(&kernel.dir)
                    .env("CARGO_TARGET_DIR", kernel.dir.join("build")),
            )?;
            // The build folder of the installation takes half a gigabyte and is not needed again.
            let _ = std::fs::remove_dir_all(kernel.dir.join("build"));
        }
        write(&kernel.config().join("init.evcxr"), INIT)?;
        let spec = kernel_spec(&kernel.binary());
        write(&kernel.jupyter().join("kernels/rust/kernel.json"), &spec)?;
        Ok(kernel)
    }

    fn binary(&self) -> PathBuf {
        self.dir.join("bin").join(if cfg!(windows) { "evcxr_jupyter.exe" } else { "evcxr_jupyter" })
    }

    fn config(&self) -> PathBuf {
        self.dir.join("config")
    }

    /// The folder to put on `JUPYTER_PATH`.
    pub fn jupyter(&self) -> PathBuf {
        self.dir.join("jupyter")
    }

    /// Compiles the dependencies of the Rust notebooks once, by running a notebook that does nothing else.
    pub fn warm(&self, env: &crate::python::Environment) -> Result<(), String> {
        let notebook = root().join("workbench/xtask/warm.ipynb");
        env.execute(&notebook, Some("rust"), &self.env())
    }

    /// The environment variables that Jupyter needs to find the kernel.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        // The kernel rewrites its own kernel.json when it first starts, so its configuration travels in the environment.
        vec![
            ("JUPYTER_PATH", self.jupyter().display().to_string()),
            ("EVCXR_CONFIG_DIR", self.config().display().to_string()),
        ]
    }
}

/// Jupyter's kernel description. The path is escaped as a JSON string.
fn kernel_spec(binary: &Path) -> String {
    let binary = binary.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "{{\n  \"argv\": [\"{binary}\", \"--control_file\", \"{{connection_file}}\"],\n  \"display_name\": \"Rust\",\n  \
         \"language\": \"rust\",\n  \"interrupt_mode\": \"message\"\n}}\n"
    )
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
