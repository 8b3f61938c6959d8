//! A text of generated C compiled into a library of this process.

use std::fs::File;
use std::process::Stdio;

use libloading::Library;

use super::compiler::Compiler;
use super::compiler_process::{self, DEADLINE, Ended};
use super::prelude;
use crate::back::Interrupt;

/// The reason why there is no library.
#[derive(Debug)]
pub enum Failed {
    /// The user wants to stop the launch that waits for it.
    Interrupted,
    /// Another reason, as a sentence.
    Because(String),
}

/// Compiles a text and loads the library.
///
/// # Errors
/// The output of the compiler or the loader.
pub fn load(compiler: &'static Compiler, text: &str, interrupt: Option<&dyn Interrupt>) -> Result<Library, Failed> {
    let because = |e: std::io::Error| Failed::Because(format!("no folder for generated code: {e}"));
    let folder = compiler_process::Folder::new().map_err(because)?;
    compile(compiler, &folder, text, interrupt)
}

fn compile(
    compiler: &'static Compiler,
    folder: &compiler_process::Folder,
    text: &str,
    interrupt: Option<&dyn Interrupt>,
) -> Result<Library, Failed> {
    let because = |why: String| Failed::Because(why);
    let dir = folder.path();
    let [source, library, said] = ["kernel.c", "kernel.so", "said"].map(|name| dir.join(name));
    let written = prelude::write(compiler, dir, &source, text).and_then(|()| File::create(&said));
    // A file is used, because a pipe would stay open as long as any process that the compiler started holds it.
    let errors = written.map_err(|e| because(format!("no file for generated code: {e}")))?;
    let mut command = compiler.command(dir);
    command.arg(&source).arg("-o").arg(&library);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let name = compiler.name();
    let ended = folder.run(&mut command, &said, interrupt);
    let status = match ended.map_err(|e| because(format!("the C compiler {name} did not start: {e}")))? {
        Ended::Done(status) => status,
        Ended::Interrupted => return Err(Failed::Interrupted),
        Ended::Late => {
            return Err(because(format!("the C compiler {name} had not ended after {} s", DEADLINE.as_secs())));
        }
        Ended::Endless => return Err(because(format!("the C compiler {name} went on complaining"))),
    };
    if !status.success() {
        let said = std::fs::read(&said).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let first: String = said.lines().take(6).collect::<Vec<_>>().join("\n");
        let first = if first.trim().is_empty() { "it said nothing" } else { &first };
        return Err(because(format!("the C compiler {name} refused generated code ({status}): {first}")));
    }
    // SAFETY: the library is ours and runs nothing when loaded.
    unsafe { Library::new(&library) }
        .map_err(|e| because(format!("what the C compiler {name} made did not load: {}", explained(&e))))
}

/// The loader's own text of an error.
pub fn explained(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
