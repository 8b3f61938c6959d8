//! The user's text to PTX and CUBIN through NVRTC, and its execution on an NVIDIA GPU.
//!
//! NVRTC compiles the text itself: `emit` blanks its host part in place and puts a prelude before it, `log_map` maps messages back to the
//! user's lines. Nothing links against CUDA: `nvrtc` and `driver` load it at run time, so a machine without a GPU can compile, and one
//! without NVRTC says what is missing.
//!
//! # Text
//! Host functions and host includes are blanked in place, so that every line keeps its number. The prelude (`prelude.cuh`) supplies
//! typedefs, constants, and `printf` and `assert` that write to a log of our own. NVRTC comes without a standard library and without
//! torch's headers: a text that names `std`, or parts of ATen that kernels use, gets our versions of them (`library/`) before it. A struct
//! by value is copied, and the device's addresses are put in place of the host's (`Reach` says where). If a part of NVRTC or the driver is
//! missing, the error is `DeviceUnavailable`, which says how to get it.
//!
//! # Launches
//! Host arrays are copied to device 0 and back, on a stream of our own that is waited for. Arrays that lie on a GPU are passed by their
//! addresses, and the launch is queued (`LaunchConfig::queue`); their interfaces are read in `python/src/on_gpu.rs`. A launch goes to the
//! GPU of its arrays, in the primary context. Its stream is the one asked for, else the one that the arrays' library uses now, else the one
//! that their interface names. Streams of other arrays in the same launch come before it and after it, by events; where a stream is asked
//! for, the streams that interfaces name come before it, and nothing waits for it.
//!
//! The owner of memory keeps it until the kernel has run: torch and CuPy do so for memory used on the stream that it was made on. A library
//! that does not make its stream known (JAX) may reuse memory once the array is gone, so a launch on such arrays is waited for, unless a
//! stream is asked for.
//!
//! # The driver
//! While a kernel runs the driver loads no module, unloads none and frees no memory, and cannot be interrupted meanwhile. So a module is
//! loaded after the queued kernels have ended, in a wait that can be interrupted, and memory for host arrays comes from a pool of our own
//! (`Context::allocate`), which frees in the order of our stream. Modules are unloaded only when nothing is queued, and never if a graph
//! holds a kernel of theirs.
//!
//! # Logs
//! The log of printf, asserts and traps holds the records of one launch. So a text that still has one of them is waited for, as is a launch
//! with a timeout. Its wait begins after the work of others on its stream, which neither counts against the timeout nor as its fault. Both
//! are refused while a stream is captured into a graph.
//!
//! # Tests
//! Tests run on a driver that stands in for NVIDIA's (`tests/python/driver/standin.c`): kernels are C functions, device memory cannot be
//! touched by anything else, and queued work does not run until it is asked for. Tests that need a GPU are in `tests/gpu/`, whose `run.py`
//! keeps the result as JSON.

mod driver;
mod emit;
mod find_nvrtc;
mod intrinsics;
mod launch;
mod lex;
mod log_map;
mod nvrtc;
mod queue;
mod record;
pub mod scan;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub use driver::{DeviceInfo, device_of};
pub use find_nvrtc::add_search_path;
pub use queue::{Late, Refused, has_queued, synchronize};
pub use scan::Signature;

use crate::diagnostic::Diagnostic;
use crate::library::STD;
use crate::source::{FileId, SourceMap, Span};
use log_map::Files;
use nvrtc::{Nvrtc, Refusal};

/// The kernels of a text: their names without namespaces, and with them.
pub fn qualified_kernels(text: &str) -> Vec<(String, String)> {
    let words = emit::words(text, &BTreeMap::new(), &[]);
    scan::kernels(text, FileId(0), &words).into_iter().map(|s| (s.name, s.qualified)).collect()
}

/// The names in a text, macros' bodies included, that have a meaning in CUDA without a declaration; `is_one` is true for these. Each once,
/// in order.
pub fn device_words(text: &str, is_one: fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for token in lex::tokens(text).iter().filter(|t| matches!(t.kind, lex::Kind::Ident | lex::Kind::Directive)) {
        let written = token.text(text);
        if written.trim_start_matches(['#', ' ', '\t']).starts_with("include") && token.kind == lex::Kind::Directive {
            continue;
        }
        for word in written.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if is_one(word) && !found.iter().any(|f| f == word) {
                found.push(word.to_owned());
            }
        }
    }
    found
}

/// The options of NVRTC besides a text and its headers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct NvrtcOptions {
    /// The GPU architecture: `sm_90` for machine code, `compute_90` for PTX alone; `None`: the device at hand, else `sm_90`.
    pub arch: Option<String>,
    /// Further options as NVRTC spells them, such as `--use_fast_math`.
    pub extra: Vec<String>,
}

/// The options of a compilation.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name of the text in messages.
    pub name: String,
    /// Macros: name (with parameters) and replacement.
    pub defines: Vec<(String, String)>,
    /// The user's headers by the name they are included as.
    pub headers: BTreeMap<String, String>,
    /// The kernels, where the front end knows them; otherwise the text is scanned for them.
    pub kernels: Vec<String>,
    /// True if a product and a sum may become one `fma`, which rounds once; `None`: NVRTC's default, which is true.
    pub fmad: Option<bool>,
    /// The options of NVRTC.
    pub nvrtc: NvrtcOptions,
}

/// The reason why there is no code.
#[derive(Debug, Clone)]
pub enum CompileFailure {
    /// The text is wrong.
    Diagnostics(Vec<Diagnostic>),
    /// NVRTC does not take the architecture or an option: one sentence with its words, and what it takes.
    Argument(String),
    /// Something is missing: one sentence on what, and how to get it.
    Unavailable(String),
}

/// A compiled text for the GPU.
pub struct Code {
    arch: String,
    ptx: String,
    cubin: Vec<u8>,
    /// Mangled names by the user's names, with and without namespaces.
    lowered: BTreeMap<String, String>,
    signatures: Vec<Signature>,
    /// Names in the machine code of variables, by their names without namespaces.
    variables: BTreeMap<String, Vec<String>>,
    files: Files,
    /// The texts as compiled, for places in faults.
    sources: Arc<SourceMap>,
    whole: Span,
    /// The assembler's words about registers, spills and shared memory, where the options ask for it.
    build_log: String,
    /// True if a kernel of it writes the log: it prints, asserts or traps.
    logs: bool,
    loaded: Mutex<driver::Modules>,
}

/// The GPUs of this machine; none where there is no driver.
pub fn devices() -> Vec<DeviceInfo> {
    driver::devices()
}

/// Checks that kernels can be compiled and run here.
///
/// # Errors
/// One sentence on what is missing and how to get it.
pub fn availability() -> Result<(), String> {
    Nvrtc::get()?;
    driver::availability()
}

/// The version of NVRTC that is found, (major, minor).
///
/// # Errors
/// One sentence on what is missing and how to get it.
pub fn nvrtc_version() -> Result<(i32, i32), String> {
    Nvrtc::get().map(|nvrtc| nvrtc.version)
}

impl Code {
    /// Compiles a text of `sources`, and adds headers that are not there yet. Also gives NVRTC's warnings.
    ///
    /// # Errors
    /// The messages of NVRTC about the text, or the thing that is missing to compile it.
    pub fn compile(
        file: FileId,
        text: &str,
        sources: &mut SourceMap,
        options: &Options,
    ) -> Result<(Code, Vec<Diagnostic>), CompileFailure> {
        let nvrtc = Nvrtc::get().map_err(CompileFailure::Unavailable)?;
        let arch = architecture(nvrtc, options.nvrtc.arch.as_deref())?;
        let whole = Span::new(file, 0, text.lines().next().map_or(0, |l| l.len() as u32));
        let files = known_files(file, sources, options);

        let words = emit::words(text, &options.headers, &options.defines);
        let device = emit::device_part(text, &words, &options.headers);
        let parts = emit::library_parts(&device, options);
        let program = emit::program(&options.name, &device, &options.defines, &parts);
        let own = options.headers.iter();
        let mut headers: Vec<(String, String)> =
            own.map(|(name, text)| (name.clone(), emit::device_part(text, &words, &options.headers))).collect();
        headers.extend(emit::sample_headers(text, &options.headers));

        let signatures = scan::kernels(text, file, &words);
        let mut names = expressions(&signatures, &options.kernels);
        let flags = flags(nvrtc, &arch, options, parts.iter().any(|p| p.name == STD.name));
        let compile = |names: &[String]| {
            let done = nvrtc.compile(&program, &options.name, &headers, names, &flags);
            done.map_err(|refusal| refused(nvrtc, refusal))
        };
        let mut result = compile(&names)?;
        if let Err(log) = &result
            && let Some(failed) = log_map::failed_names(log)
        {
            // A kernel that only one branch of a conditional declares, or that is overloaded, is compiled without its name.
            names.retain(|n| !failed.contains(n));
            result = compile(&names)?;
        }
        let (output, log) = match result {
            Ok(done) => done,
            Err(log) => return Err(CompileFailure::Diagnostics(log_map::errors(&log, &files, sources, whole))),
        };
        let warnings = log_map::diagnostics(&log, &files, sources, whole);
        let mut lowered = BTreeMap::new();
        for (name, mangled) in output.lowered {
            if let Some(short) = name.rsplit("::").next() {
                lowered.entry(short.to_owned()).or_insert_with(|| mangled.clone());
            }
            lowered.insert(name, mangled);
        }
        // NVRTC also looks among CUDA's functions, so a kernel called `all` is one of several of that name.
        let found = variables::kernels(&output.ptx);
        for name in signatures.iter().filter(|s| !s.template).flat_map(|s| [&s.name, &s.qualified]) {
            let short = name.rsplit("::").next().unwrap_or(name);
            if let (false, Some([symbol])) = (lowered.contains_key(name), found.get(short).map(Vec::as_slice)) {
                lowered.insert(name.clone(), (*symbol).to_owned());
            }
        }
        let code = Code {
            arch,
            variables: variables::declared(&output.ptx),
            // The log's declaration is in every text, so a second mention is a use.
            logs: output.ptx.matches(launch::LOG_SYMBOL).count() > 1,
            build_log: log_map::information(&log),
            ptx: output.ptx,
            cubin: output.cubin,
            lowered,
            signatures,
            files,
            sources: Arc::new(sources.clone()),
            whole,
            loaded: Mutex::default(),
        };
        Ok((code, warnings))
    }

    /// The PTX text.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The machine code; empty for a virtual architecture.
    pub fn cubin(&self) -> &[u8] {
        &self.cubin
    }

    /// The assembler's words besides errors and warnings, with `--ptxas-options=-v` the registers and spills of each kernel.
    pub fn build_log(&self) -> &str {
        &self.build_log
    }

    /// The architecture compiled for: `sm_90`.
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// The kernels that the text declares, by a lexical scan.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// The reason why a kernel that the text declares cannot be launched: one sentence, or `None`.
    pub fn unlaunchable(&self, kernel: &str) -> Option<String> {
        let found = self.signatures.iter().find(|s| s.name == kernel || s.qualified == kernel)?;
        if !found.template && variables::kernels(&self.ptx).get(found.name.as_str()).is_some_and(|all| all.len() > 1) {
            return Some(format!("kernel `{kernel}` is overloaded; for a GPU give each a name of its own"));
        }
        if found.template {
            return Some(format!(
                "kernel `{kernel}` is a template; name an instance with `template __global__ void ...;` in the text"
            ));
        }
        found.params.as_ref().err().cloned()
    }

    /// The mangled name of a kernel.
    fn lowered(&self, kernel: &str) -> Option<&str> {
        self.lowered.get(kernel).map(String::as_str)
    }

    /// The declaration of a kernel, else the first line of the text.
    fn kernel_span(&self, kernel: &str) -> Span {
        self.signatures.iter().find(|s| s.name == kernel || s.qualified == kernel).map_or(self.whole, |s| s.span)
    }

    /// The call of `assert` or `__trap` in a line, else the line.
    fn line_span(&self, file: &str, line: u32) -> Option<Span> {
        let span = self.files.line(&self.sources, file, line)?;
        let text = self.sources.text(span);
        let Some(at) = ["assert", "__trap"].iter().find_map(|call| text.find(call)) else { return Some(span) };
        let tokens = lex::tokens(&text[at..]);
        let close = lex::closing(&text[at..], &tokens, 1);
        let len = tokens.get(close.saturating_sub(1)).map_or(text.len() - at, |t| t.end);
        Some(Span::new(span.file, span.start + at as u32, span.start + (at + len) as u32))
    }
}

/// The texts that NVRTC's messages may name.
fn known_files(file: FileId, sources: &mut SourceMap, options: &Options) -> Files {
    let mut files = Files::default();
    files.add(options.name.clone(), file);
    let mut present: BTreeMap<String, FileId> = BTreeMap::new();
    for id in (0..).map(FileId) {
        let Some(source) = sources.file(id) else { break };
        present.insert(source.name.clone(), id);
    }
    for (name, text) in &options.headers {
        let id = present.get(name).copied().unwrap_or_else(|| sources.add(name.clone(), text.as_str()));
        files.add(name.clone(), id);
    }
    files
}

/// The architecture to compile for, checked against those that NVRTC knows. A device newer than NVRTC gets PTX, which its driver compiles.
fn architecture(nvrtc: &Nvrtc, asked: Option<&str>) -> Result<String, CompileFailure> {
    let arch = match asked {
        Some(arch) => arch.to_owned(),
        None => driver::devices().into_iter().next().map_or_else(|| "sm_90".to_owned(), |d| d.arch),
    };
    let number = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix("compute_"));
    // A suffix names features of one architecture (`sm_90a`) or family (`sm_100f`).
    let number: Option<i32> = number.and_then(|n| n.strip_suffix(['a', 'f']).unwrap_or(n).parse().ok());
    if number.is_some_and(|n| nvrtc.archs.contains(&n)) {
        return Ok(arch);
    }
    let newest = nvrtc.archs.iter().copied().max().unwrap_or(0);
    if asked.is_none() && number.is_some_and(|n| n > newest) {
        return Ok(format!("compute_{newest}"));
    }
    let (major, minor) = nvrtc.version;
    let what = format!("NVRTC {major}.{minor} does not compile for `{arch}`; it knows {}", known(nvrtc));
    Err(match asked {
        Some(_) => CompileFailure::Argument(what),
        None => CompileFailure::Unavailable(format!("{what}; the GPU of this machine needs an older NVRTC")),
    })
}

/// The architectures that NVRTC compiles for, as a list for messages.
fn known(nvrtc: &Nvrtc) -> String {
    nvrtc.archs.iter().map(|n| format!("sm_{n}")).collect::<Vec<_>>().join(", ")
}

/// The failure of a compilation that NVRTC did not begin or end.
fn refused(nvrtc: &Nvrtc, refusal: Refusal) -> CompileFailure {
    let (major, minor) = nvrtc.version;
    match refusal {
        Refusal::Option(words) if words.contains("(-arch)") || words.contains("nv_arch") => CompileFailure::Argument(
            format!("NVRTC {major}.{minor} refuses the architecture: {words}; it knows {}", known(nvrtc)),
        ),
        Refusal::Option(words) => CompileFailure::Argument(format!(
            "NVRTC {major}.{minor} refuses an option: {words}; its user guide lists them as \"supported compile options\""
        )),
        Refusal::Other(why) => CompileFailure::Unavailable(why),
    }
}

/// The name expressions to look up: those of the front end, else those of the scan; qualified where the scan knows the namespaces.
fn expressions(signatures: &[Signature], kernels: &[String]) -> Vec<String> {
    let qualified = |name: &String| {
        signatures
            .iter()
            .find(|s| s.name == *name || s.qualified == *name)
            .map_or_else(|| name.clone(), |s| s.qualified.clone())
    };
    let mut names: Vec<String> = if kernels.is_empty() {
        signatures.iter().filter(|s| !s.template).map(|s| s.qualified.clone()).collect()
    } else {
        // The name of an overloaded kernel has its parameters in it, so it is no expression.
        kernels.iter().filter(|name| !name.contains('(')).map(qualified).collect()
    };
    names.sort();
    names.dedup();
    names
}

fn flags(nvrtc: &Nvrtc, arch: &str, options: &Options, uses_std: bool) -> Vec<String> {
    let mut flags = vec![format!("--gpu-architecture={arch}"), "--device-as-default-execution-space".to_owned()];
    if !options.nvrtc.extra.iter().any(|o| o.starts_with("-std") || o.starts_with("--std")) {
        flags.push("--std=c++17".to_owned());
    }
    if uses_std {
        // Our `std` has these functions; NVRTC's would be a second definition.
        flags.push("--builtin-move-forward=false".to_owned());
    }
    if let Some(fmad) = options.fmad {
        flags.push(format!("--fmad={fmad}"));
    }
    flags.extend(nvrtc.include.iter().map(|folder| format!("--include-path={folder}")));
    flags.extend(options.nvrtc.extra.iter().cloned());
    flags
}
