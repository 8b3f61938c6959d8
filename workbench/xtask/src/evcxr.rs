//! The Rust notebook's kernel: a pinned evcxr, installed once in the user's cache, and a *seed*: a folder in which the dependencies of the
//! notebooks are compiled, which every session begins with a copy of (`rust_session.py`).
//!
//! evcxr's own `:cache` is off: with it each cell compiled Workbench anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::Environment;
use crate::{root, step};

/// The newest version that works with the pinned toolchain, and only with its own lock file.
const VERSION: &str = "0.22.0";

/// The packages of rust-analyzer's analysis, with which evcxr looks at each cell. These are optimised; the rest
/// waits for cargo.
const ANALYSIS: &[&str] = &[
    "boxcar",
    "dashmap",
    "hashbrown",
    "indexmap",
    "memchr",
    "ra-ap-rustc_index",
    "ra-ap-rustc_lexer",
    "ra-ap-rustc_next_trait_solver",
    "ra-ap-rustc_type_ir",
    "ra_ap_base_db",
    "ra_ap_cfg",
    "ra_ap_hir_def",
    "ra_ap_hir_expand",
    "ra_ap_hir_ty",
    "ra_ap_intern",
    "ra_ap_mbe",
    "ra_ap_parser",
    "ra_ap_span",
    "ra_ap_syntax",
    "ra_ap_syntax-bridge",
    "ra_ap_tt",
    "rowan",
    "rustc-hash",
    "salsa",
    "serde_json",
    "smallvec",
];

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

/// An installed kernel.
pub struct Kernel {
    dir: PathBuf,
}

impl Kernel {
    /// The kernel, installed if it is not yet.
    pub fn prepare(env: &Environment) -> Result<Self, String> {
        let dir = cache().join("workbench").join(format!("evcxr-{VERSION}"));
        let kernel = Kernel { dir };
        if !kernel.binary().exists() {
            step::show(
                "install evcxr_jupyter, the Rust notebook kernel (once, some minutes)",
                Command::new("cargo")
                    .args(["install", "--locked", "evcxr_jupyter", "--version", VERSION, "--root"])
                    .arg(&kernel.dir)
                    .args(ANALYSIS.iter().flat_map(|package| {
                        ["--config".to_owned(), format!("profile.release.package.{package}.opt-level=1")]
                    }))
                    .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
                    .env("CARGO_TARGET_DIR", kernel.dir.join("build")),
            )?;
            // The build folder of the installation takes half a gigabyte and is not needed again.
            let _ = std::fs::remove_dir_all(kernel.dir.join("build"));
        }
        write(&Self::config().join("init.evcxr"), INIT)?;
        write(&Self::lab().join(".cargo/config.toml"), BUILD)?;
        let spec = kernel_spec(&[
            &env.python(),
            &root().join("workbench/xtask/rust_session.py"),
            &Self::lab().join("seed"),
            &kernel.binary(),
        ]);
        write(&Self::jupyter().join("kernels/rust/kernel.json"), &spec)?;
        Ok(kernel)
    }

    fn binary(&self) -> PathBuf {
        self.dir.join("bin").join(if cfg!(windows) { "evcxr_jupyter.exe" } else { "evcxr_jupyter" })
    }

    /// The folder of what belongs to this checkout.
    fn lab() -> PathBuf {
        root().join(".lab").join("rust")
    }

    fn config() -> PathBuf {
        Self::lab().join("config")
    }

    /// The folder to put on `JUPYTER_PATH`.
    fn jupyter() -> PathBuf {
        Self::lab().join("jupyter")
    }

    /// Brings the seed up to date, by running a notebook in it that does nothing else.
    pub fn warm(&self, env: &Environment) -> Result<(), String> {
        let notebook = root().join("workbench/xtask/warm.ipynb");
        let mut vars = self.env();
        vars.push(("WORKBENCH_FILL_SEED", "1".to_owned()));
        env.execute(&notebook, Some("rust"), &vars)
    }

    /// The environment variables that Jupyter needs to find the kernel.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        vec![
            ("JUPYTER_PATH", Self::jupyter().display().to_string()),
            ("EVCXR_CONFIG_DIR", Self::config().display().to_string()),
        ]
    }
}

/// Jupyter's kernel description. Paths are escaped as JSON strings.
fn kernel_spec(command: &[&Path]) -> String {
    let words: Vec<String> = command
        .iter()
        .map(|path| format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"")))
        .collect();
    format!(
        "{{\n  \"argv\": [{}, \"--control_file\", \"{{connection_file}}\"],\n  \"display_name\": \"Rust\",\n  \
         \"language\": \"rust\",\n  \"interrupt_mode\": \"message\"\n}}\n",
        words.join(", ")
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
