//! The machine's own C compiler: found once, asked in the background. Where there is none, Zig's, which is Clang with all that it needs in
//! one folder: `pip install ziglang` brings it in seconds and without rights.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use libloading::Library;

use crate::once::Once;

/// One rounding an operation, wrapping integers, memory that has no types: what the IR says. The vectors are ours, so the compiler need
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

/// Most names that are tried for a folder.
const MAX_FOLDERS: u64 = 1 << 20;

/// Names a compiler may have, `WORKBENCH_CC` before all.
const NAMES: &[&str] = &["cc", "gcc", "clang", "zig"];

/// Zig's compiler in its wheel.
const IN_WHEEL: &str = "ziglang/zig";

/// What generated code calls, if anything, is in the process already; without libraries to link Zig makes none.
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
    /// What comes before all other arguments.
    leading: Vec<OsString>,
    is_zig: bool,
}

impl Compiler {
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

/// Whether this machine has what generated C is written in; a sentence where it has not.
pub fn available() -> Result<&'static Compiler, &'static str> {
    static FOUND: Once<Result<Compiler, &'static str>> = Once::new(find);
    FOUND.as_ref().map_err(|why| *why)
}

/// The widest registers of this machine, or those that `WORKBENCH_VECTORS` names; a sentence where it has none.
pub fn vectors() -> Result<Vectors, &'static str> {
    static WIDEST: Once<Result<Vectors, &'static str>> = Once::new(widest);
    *WIDEST
}

#[cfg(target_arch = "x86_64")]
fn widest() -> Result<Vectors, &'static str> {
    use std::arch::is_x86_feature_detected as has;
    let has_512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("avx512cd");
    let has_256 = has!("avx2") && has!("fma");
    match std::env::var("WORKBENCH_VECTORS").as_deref() {
        Ok("avx512") if has_512 => Ok(Vectors::Avx512),
        Ok("avx2") if has_256 => Ok(Vectors::Avx2),
        Ok("avx512" | "avx2") => Err("this processor lacks the vectors that `WORKBENCH_VECTORS` names"),
        Ok(other) if !other.is_empty() => Err("`WORKBENCH_VECTORS` is neither `avx512` nor `avx2`"),
        _ if has_512 => Ok(Vectors::Avx512),
        _ if has_256 => Ok(Vectors::Avx2),
        _ => Err("this processor has neither AVX-512 nor AVX2 with FMA"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn widest() -> Result<Vectors, &'static str> {
    Err("wide code is written for x86-64 only")
}

#[cfg(unix)]
fn find() -> Result<Compiler, &'static str> {
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
        // Or a program with its first arguments: `zig cc`.
        let in_words = || {
            let mut words = named.to_str()?.split_whitespace();
            let program = in_path(Path::new(words.next()?))?;
            Some(Compiler::new(program, words.map(OsString::from).collect()))
        };
        return whole.or_else(in_words).ok_or("`WORKBENCH_CC` names no compiler");
    }
    let packages = PACKAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let in_packages = || packages.iter().map(|folder| folder.join(IN_WHEEL)).find(|file| file.is_file());
    let found = NAMES.iter().find_map(|name| in_path(Path::new(name))).or_else(in_packages);
    found
        .map(|program| Compiler::new(program, Vec::new()))
        .ok_or("there is no C compiler: install `cc`, or the Python package `ziglang`, which brings one")
}

#[cfg(not(unix))]
fn find() -> Result<Compiler, &'static str> {
    Err("wide code is compiled on Unix only")
}

/// Compiles a text and loads what came of it.
///
/// # Errors
/// What the compiler or the loader said.
pub fn load(text: &str) -> Result<Library, String> {
    let compiler = available()?;
    let dir = own_folder().map_err(|e| format!("no folder for generated code: {e}"))?;
    let made = compile(compiler, &dir, text);
    // The mapping stays when the file goes.
    let _ = std::fs::remove_dir_all(&dir);
    made
}

/// A new folder that nobody else may enter: what is loaded from it must be what was compiled.
fn own_folder() -> std::io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("workbench-{}-{number}", std::process::id()));
        match builder.create(&dir) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && number < MAX_FOLDERS => {}
            made => return made.map(|()| dir),
        }
    }
}

fn compile(compiler: &Compiler, dir: &Path, text: &str) -> Result<Library, String> {
    let (source, library) = (dir.join("kernel.c"), dir.join("kernel.so"));
    std::fs::write(&source, text).map_err(|e| format!("no file for generated code: {e}"))?;
    let mut command = Command::new(&compiler.program);
    command.args(&compiler.leading).args(FLAGS);
    if compiler.is_zig {
        command.args(ZIG_FLAGS);
        // It keeps what it made; here that goes with the folder.
        for cache in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"] {
            command.env(cache, dir);
        }
    }
    command.arg(&source).arg("-o").arg(&library);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let done = command.output().map_err(|e| format!("the C compiler did not start: {e}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let first: String = said.lines().take(6).collect::<Vec<_>>().join("\n");
        return Err(format!("the C compiler refused generated code: {first}"));
    }
    // SAFETY: the library is ours and runs nothing when loaded.
    unsafe { Library::new(&library) }.map_err(|e| format!("generated code did not load: {e}"))
}
