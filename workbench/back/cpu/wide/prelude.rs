//! The prelude: the C that every text begins with, which defines the operations of the lane IR for this machine's registers. Most of the
//! time that a small kernel's text takes is reading the prelude and the headers of the compiler's intrinsics.
//!
//! GCC can read both precompiled, in a fifth of the time. The precompiled header is made once in a process, by a thread of its own, as soon
//! as [`ENOUGH`] texts have been compiled. Its file has no name: it goes with the process, however that ends. A compiler finds it by a link
//! beside `prelude.h`, and reads the text where the link leads nowhere.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::compiler::{self, Compiler, Vectors};
use super::compiler_process::{Ended, Folder};
use crate::back::cpu::abi::site::FAR;
use crate::back::cpu::math::reciprocal;
use crate::once::Once;

/// The part that needs no vectors.
const SCALAR: &str = include_str!("prelude/scalar.h");

/// The part for registers of 512 bits.
const AVX512: &str = include_str!("prelude/avx512.h");

/// The part for registers of 256 bits.
const AVX2: &str = include_str!("prelude/avx2.h");

/// The part that is made of both.
const LANES: &str = include_str!("prelude/lanes.h");

/// The part about faults, which follows the prelude because a kernel's text may define macros for it.
pub const FAULTS: &str = include_str!("prelude/faults.h");

/// The file's name in a folder of a text.
const HEADER: &str = "prelude.h";

/// The name by which GCC looks for the precompiled header.
const PRECOMPILED: &str = "prelude.h.gch";

/// The first bytes of GCC's precompiled headers. Clang reads its own for an option of the command alone, not for an `#include`.
const GCC: [u8; 4] = *b"gpch";

/// The number of texts after which more are likely enough: the header takes as long as three texts.
const ENOUGH: u32 = 2;

/// The prelude of this machine. Where the machine has no vectors a text is for somebody to read, and has those of AVX-512.
pub fn text() -> &'static str {
    static TEXT: Once<String> = Once::new(|| {
        let registers = match compiler::vectors() {
            Ok(Vectors::Avx2) => AVX2,
            Ok(Vectors::Avx512) | Err(_) => AVX512,
        };
        let estimate = if reciprocal::has_estimate() { "#define RSQRT_ESTIMATE\n" } else { "" };
        format!("#define FAR {FAR}ll\n{estimate}{SCALAR}{registers}{LANES}")
    });
    &TEXT
}

/// A precompiled header: an open file without a name.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no header is made there"))]
struct Header {
    file: File,
    identity: (u64, u64),
}

/// The precompiled header of this process, once it is made.
static MADE: OnceLock<Header> = OnceLock::new();

/// Writes `text` to the file `source` in a folder. A text that begins with the prelude includes it instead, from a file beside it.
///
/// # Errors
/// The system's.
pub fn write(compiler: &'static Compiler, folder: &Path, source: &Path, text: &str) -> std::io::Result<()> {
    let Some(rest) = text.strip_prefix(self::text()) else { return std::fs::write(source, text) };
    std::fs::write(folder.join(HEADER), self::text())?;
    match MADE.get() {
        Some(made) => link(made, &folder.join(PRECOMPILED)),
        None => count(compiler),
    }
    std::fs::write(source, format!("#include \"{HEADER}\"\n{rest}"))
}

/// Counts a text that is compiled without the precompiled header, and has that made when there are enough, where it can be of use.
fn count(compiler: &'static Compiler) {
    static TEXTS: AtomicU32 = AtomicU32::new(0);
    let has_link = cfg!(target_os = "linux") && !compiler.is_zig();
    if has_link && TEXTS.fetch_add(1, Ordering::Relaxed) + 1 == ENOUGH {
        // Without a thread there is no header, and the texts are compiled as before.
        let _ = std::thread::Builder::new().name("workbench-header".to_owned()).spawn(|| {
            if let Some(made) = precompile(compiler) {
                let _ = MADE.set(made);
            }
        });
    }
}

/// The precompiled header, if this compiler is GCC.
fn precompile(compiler: &Compiler) -> Option<Header> {
    let folder = Folder::new().ok()?;
    let [header, made, said] = [HEADER, PRECOMPILED, "said"].map(|name| folder.path().join(name));
    std::fs::write(&header, text()).ok()?;
    let mut command: Command = compiler.command(folder.path());
    command.args(["-x", "c-header"]).arg(&header).arg("-o").arg(&made);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&said).ok()?);
    match folder.run(&mut command, &said, None).ok()? {
        Ended::Done(status) if status.success() => {}
        _ => return None,
    }
    let mut file = File::open(&made).ok()?;
    let mut first = [0; GCC.len()];
    file.read_exact(&mut first).ok()?;
    let identity = identity(&file)?;
    (first == GCC).then_some(Header { file, identity })
}

/// Makes a link to a file without a name. Where it cannot be made, the compiler reads the text.
///
/// The link is to the number of the open file. A process that closes all its files, as daemons do, may have another one under that number, so
/// the file is compared first.
#[cfg(target_os = "linux")]
fn link(made: &Header, place: &Path) {
    use std::os::fd::AsRawFd as _;
    if identity(&made.file) == Some(made.identity) {
        let file = format!("/proc/{}/fd/{}", std::process::id(), made.file.as_raw_fd());
        let _ = std::os::unix::fs::symlink(file, place);
    }
}

/// Elsewhere files without a name have no path.
#[cfg(not(target_os = "linux"))]
fn link(_: &Header, _: &Path) {}

/// The device and the number of a file, by which the system knows it.
#[cfg(unix)]
fn identity(file: &File) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_: &File) -> Option<(u64, u64)> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Compiles a text beside the link to a precompiled header; gives the files that the compiler says it read.
    fn read_by(compiler: &Compiler, folder: &Folder) -> String {
        let source = folder.path().join("kernel.c");
        std::fs::write(folder.path().join(HEADER), text()).expect("a folder");
        std::fs::write(&source, format!("#include \"{HEADER}\"\n{FAULTS}i32 one(void) {{ return 1; }}\n"))
            .expect("a folder");
        let mut command = compiler.command(folder.path());
        // `-H` lists the files, a precompiled one with an exclamation mark.
        let output = command.arg("-H").arg(&source).arg("-o").arg(folder.path().join("kernel.so")).output();
        let output = output.expect("the compiler starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    }

    #[test]
    fn gcc_reads_the_header_precompiled_and_the_text_where_it_is_gone() {
        let Ok(compiler) = compiler::available() else { return };
        let Some(made) = precompile(compiler) else {
            let version = compiler.command(Path::new("")).arg("-dM").args(["-E", "-x", "c", "/dev/null"]).output();
            let macros = String::from_utf8_lossy(&version.expect("the compiler starts").stdout).into_owned();
            assert!(macros.contains("__clang__"), "GCC makes a precompiled header");
            return;
        };
        let folder = Folder::new().expect("a folder");
        link(&made, &folder.path().join(PRECOMPILED));
        let said = read_by(compiler, &folder);
        assert!(said.lines().any(|line| line.starts_with('!') && line.ends_with(PRECOMPILED)), "{said}");
        assert!(!said.contains("immintrin.h"), "{said}");
        // A link that leads nowhere, as after the end of the process that made it.
        let place = folder.path().join(PRECOMPILED);
        std::fs::remove_file(&place)
            .and_then(|()| std::os::unix::fs::symlink("/proc/self/fd/nothing", &place))
            .expect("a folder");
        let said = read_by(compiler, &folder);
        assert!(!said.lines().any(|line| line.starts_with('!')) && said.contains("immintrin.h"), "{said}");
    }

    #[test]
    fn another_file_under_the_number_is_not_linked() {
        let folder = Folder::new().expect("a folder");
        let file = File::create(folder.path().join("other")).expect("a folder");
        let place = folder.path().join(PRECOMPILED);
        let (device, number) = identity(&file).expect("a file");
        let mut header = Header { file, identity: (device, number + 1) };
        link(&header, &place);
        assert!(place.symlink_metadata().is_err());
        header.identity = (device, number);
        link(&header, &place);
        assert!(place.exists());
    }

    #[test]
    fn a_text_includes_the_prelude_only_where_it_begins_with_it() {
        let Ok(compiler) = compiler::available() else { return };
        let folder = Folder::new().expect("a folder");
        let source = folder.path().join("kernel.c");
        write(compiler, folder.path(), &source, &format!("{}int x;\n", text())).expect("a folder");
        assert_eq!(std::fs::read_to_string(&source).expect("a file"), format!("#include \"{HEADER}\"\nint x;\n"));
        assert_eq!(std::fs::read_to_string(folder.path().join(HEADER)).expect("a file"), text());
        write(compiler, folder.path(), &source, "int y;\n").expect("a folder");
        assert_eq!(std::fs::read_to_string(&source).expect("a file"), "int y;\n");
    }
}
