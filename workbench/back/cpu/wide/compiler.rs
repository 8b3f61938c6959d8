//! The machine's own C compiler: found once, used in the background. A machine without one can use Zig's, which is Clang with all that it
//! needs in one folder: `pip install ziglang` installs it in seconds and needs no rights.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::once::Once;

/// One rounding per operation, wrapping integers, memory without types: the semantics of the IR. The vectors are ours, so the compiler need
/// not look for any.
const FLAGS: &[&str] = &[
    "-O2",
    "-march=native",
    "-std=gnu11",
    "-shared",
    "-fPIC",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fno-tree-vectorize",
    "-w",
];

/// Names a compiler may have, `WORKBENCH_CC` before all.
const NAMES: &[&str] = &["cc", "gcc", "clang", "zig"];

/// Zig's compiler in its wheel.
const IN_WHEEL: &str = "ziglang/zig";

/// Functions that generated code calls, if any, are in the process already; without libraries to link, Zig makes none.
const ZIG_FLAGS: &[&str] = &["-nostdlib"];

/// Folders of Python packages, among which Zig's may be.
static PACKAGES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Adds folders of Python packages to the places where a compiler is looked for; before it is looked for.
pub fn add_packages(folders: impl IntoIterator<Item = PathBuf>) {
    PACKAGES.lock().unwrap_or_else(PoisonError::into_inner).extend(folders);
}

/// A C compiler.
#[derive(Debug)]
pub struct Compiler {
    program: PathBuf,
    /// The arguments before all others.
    leading: Vec<OsString>,
    is_zig: bool,
}

impl Compiler {
    /// True if this is Clang as Zig comes with it.
    pub fn is_zig(&self) -> bool {
        self.is_zig
    }

    /// The compiler's name, for messages.
    pub fn name(&self) -> std::path::Display<'_> {
        self.program.display()
    }

    /// The command that compiles, without its files. Zig keeps what it made in a cache; here that goes with `folder`.
    pub fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.leading).args(FLAGS);
        if self.is_zig {
            command.args(ZIG_FLAGS);
            for cache in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"] {
                command.env(cache, folder);
            }
        }
        command
    }

    fn new(program: PathBuf, mut leading: Vec<OsString>) -> Self {
        let is_zig = program.file_stem().is_some_and(|stem| stem == "zig");
        if is_zig && leading.is_empty() {
            leading.push("cc".into());
        }
        Compiler { program, leading, is_zig }
    }
}

/// The registers that 16 lanes are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// One of 512 bits for 32-bit lanes.
    Avx512,
    /// Two of 256 bits for 32-bit lanes.
    Avx2,
}

/// The compiler and the vector registers that generated C needs, or a sentence that says which is missing.
pub fn available() -> Result<&'static Compiler, &'static str> {
    static FOUND: Once<Result<Compiler, String>> = Once::new(find);
    FOUND.as_ref().map_err(String::as_str)
}

/// The widest registers of this machine, or those that `WORKBENCH_VECTORS` names; a sentence where it has none.
pub fn vectors() -> Result<Vectors, &'static str> {
    static WIDEST: Once<Result<Vectors, &'static str>> = Once::new(widest);
    *WIDEST
}

#[cfg(target_arch = "x86_64")]
fn widest() -> Result<Vectors, &'static str> {
    use std::arch::is_x86_feature_detected as has;
    let has_512 =
        has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("avx512cd") && has!("f16c");
    let has_256 = has!("avx2") && has!("fma") && has!("f16c");
    match std::env::var("WORKBENCH_VECTORS").as_deref() {
        Ok("avx512") if has_512 => Ok(Vectors::Avx512),
        Ok("avx2") if has_256 => Ok(Vectors::Avx2),
        Ok("avx512" | "avx2") => Err("this processor lacks the vectors that `WORKBENCH_VECTORS` names"),
        Ok(other) if !other.is_empty() => Err("`WORKBENCH_VECTORS` is neither `avx512` nor `avx2`"),
        _ if has_512 => Ok(Vectors::Avx512),
        _ if has_256 => Ok(Vectors::Avx2),
        _ => Err("this processor has neither AVX-512 nor AVX2 with FMA and F16C"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn widest() -> Result<Vectors, &'static str> {
    Err("wide code is written for x86-64 only")
}

#[cfg(unix)]
fn find() -> Result<Compiler, String> {
    vectors()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let in_path = |name: &Path| {
        if name.components().count() > 1 {
            return name.is_file().then(|| name.to_owned());
        }
        places.iter().map(|dir| dir.join(name)).find(|file| file.is_file())
    };
    if let Some(named) = std::env::var_os("WORKBENCH_CC").filter(|named| !named.is_empty()) {
        let whole = in_path(Path::new(&named)).map(|program| Compiler::new(program, Vec::new()));
        // The variable may also name a program with its first arguments: `zig cc`.
        let in_words = || {
            let mut words = named.to_str()?.split_whitespace();
            let program = in_path(Path::new(words.next()?))?;
            Some(Compiler::new(program, words.map(OsString::from).collect()))
        };
        let none = || format!("`WORKBENCH_CC` names no compiler: there is no file {}", Path::new(&named).display());
        return whole.or_else(in_words).ok_or_else(none);
    }
    let packages = PACKAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let in_packages = || packages.iter().map(|folder| folder.join(IN_WHEEL)).find(|file| file.is_file());
    let found = NAMES.iter().find_map(|name| in_path(Path::new(name))).or_else(in_packages);
    found.map(|program| Compiler::new(program, Vec::new())).ok_or_else(|| {
        "there is no C compiler: install `cc`, or the Python package `ziglang`, which brings one".to_owned()
    })
}

#[cfg(not(unix))]
fn find() -> Result<Compiler, String> {
    Err("wide code is compiled on Unix only".to_owned())
}
