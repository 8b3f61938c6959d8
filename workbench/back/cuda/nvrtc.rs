//! Bindings of NVIDIA's run-time compiler, looked up at run time: nothing links against it.
//!
//! Signatures and meanings are from NVRTC's user guide, "Basic Usage" and its API reference.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use libloading::Library;

use super::find_nvrtc;

/// `nvrtcResult`; 0 is success, 5 an option that is none, 6 a text that does not compile.
type Status = c_int;
/// `nvrtcProgram`, opaque.
type Handle = *mut std::ffi::c_void;

const INVALID_OPTION: Status = 5;
const COMPILATION: Status = 6;

macro_rules! bindings {
    ($($field:ident $symbol:literal ($($arg:ty),*) -> $ret:ty;)*) => {
        /// The functions that are used, by NVRTC's names.
        struct Functions { $($field: unsafe extern "C" fn($($arg),*) -> $ret,)* }

        impl Functions {
            /// Looks all of them up.
            fn load(library: &Library) -> Result<Self, String> {
                Ok(Functions {
                    // SAFETY: the signatures are those of nvrtc.h, unchanged since CUDA 11.2, and the library is never unloaded.
                    $($field: unsafe { *library.get(concat!($symbol, "\0").as_bytes()).map_err(|e| e.to_string())? },)*
                })
            }
        }
    };
}

bindings! {
    version "nvrtcVersion" (*mut c_int, *mut c_int) -> Status;
    error_string "nvrtcGetErrorString" (Status) -> *const c_char;
    arch_count "nvrtcGetNumSupportedArchs" (*mut c_int) -> Status;
    archs "nvrtcGetSupportedArchs" (*mut c_int) -> Status;
    create "nvrtcCreateProgram" (*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> Status;
    destroy "nvrtcDestroyProgram" (*mut Handle) -> Status;
    add_name "nvrtcAddNameExpression" (Handle, *const c_char) -> Status;
    compile "nvrtcCompileProgram" (Handle, c_int, *const *const c_char) -> Status;
    lowered_name "nvrtcGetLoweredName" (Handle, *const c_char, *mut *const c_char) -> Status;
    log_size "nvrtcGetProgramLogSize" (Handle, *mut usize) -> Status;
    log "nvrtcGetProgramLog" (Handle, *mut c_char) -> Status;
    ptx_size "nvrtcGetPTXSize" (Handle, *mut usize) -> Status;
    ptx "nvrtcGetPTX" (Handle, *mut c_char) -> Status;
    cubin_size "nvrtcGetCUBINSize" (Handle, *mut usize) -> Status;
    cubin "nvrtcGetCUBIN" (Handle, *mut c_char) -> Status;
}

/// The loaded compiler.
pub(super) struct Nvrtc {
    functions: Functions,
    /// (major, minor).
    pub version: (i32, i32),
    /// Folders for `#include`, beside the library.
    pub include: Vec<String>,
    /// Compute capabilities it compiles for, as 10 * major + minor.
    pub archs: Vec<i32>,
}

/// The output of one compilation.
pub(super) struct Output {
    /// PTX text.
    pub ptx: String,
    /// Machine code; empty for a virtual architecture.
    pub cubin: Vec<u8>,
    /// The mangled name of each name asked for.
    pub lowered: Vec<(String, String)>,
}

/// The reason why a compilation has no result that is about the text.
pub(super) enum Refusal {
    /// An option is none, or has no value that NVRTC knows: its own words.
    Option(String),
    /// Everything else: one sentence.
    Other(String),
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Refusal::Other(what)
    }
}

/// The lock that compilations take: old versions are not safe for several threads.
static TURN: Mutex<()> = Mutex::new(());

/// The compiler thread's stack: NVRTC recurses with the nesting of the text.
const STACK: usize = 256 << 20;

impl Nvrtc {
    /// The compiler, loaded at the first call that finds it.
    ///
    /// # Errors
    /// One sentence that names the library that was looked for and how to get it.
    pub fn get() -> Result<&'static Nvrtc, String> {
        static LOADED: Mutex<Option<&'static Nvrtc>> = Mutex::new(None);
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nvrtc) = *loaded {
            return Ok(nvrtc);
        }
        // A failure is not remembered: the next try may come after `pip install`.
        let found = find_nvrtc::library()?;
        let nvrtc: &'static Nvrtc = Box::leak(Box::new(Self::new(found)?));
        *loaded = Some(nvrtc);
        Ok(nvrtc)
    }

    fn new(found: find_nvrtc::Found) -> Result<Self, String> {
        let functions = Functions::load(&found.library).map_err(|e| {
            format!("{} is no NVRTC that Workbench can use: {e}; use one of CUDA 12 or later", found.name)
        })?;
        // The functions stay for the life of the process, and so does their code.
        std::mem::forget(found.library);
        let (mut major, mut minor, mut count) = (0, 0, 0);
        let check = |status: Status, what: &str| match status {
            0 => Ok(()),
            s => Err(format!("{what} of {} failed with status {s}", found.name)),
        };
        // SAFETY: the pointers are valid for the call; `archs` gets as many numbers as `arch_count` says.
        let archs = unsafe {
            check((functions.version)(&raw mut major, &raw mut minor), "nvrtcVersion")?;
            check((functions.arch_count)(&raw mut count), "nvrtcGetNumSupportedArchs")?;
            let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
            check((functions.archs)(archs.as_mut_ptr()), "nvrtcGetSupportedArchs")?;
            archs
        };
        Ok(Nvrtc { functions, version: (major, minor), include: found.include, archs })
    }

    /// Compiles one text. `names` are looked up afterwards, so that the user's text needs no `extern "C"`.
    ///
    /// # Errors
    /// The inner error is the log of a text that does not compile.
    pub fn compile(
        &self,
        text: &str,
        name: &str,
        headers: &[(String, String)],
        names: &[String],
        options: &[String],
    ) -> Result<Result<(Output, String), String>, Refusal> {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .name("nvrtc".to_owned())
                .stack_size(STACK)
                .spawn_scoped(scope, || self.compile_here(text, name, headers, names, options))
                .map_err(|e| format!("no thread for NVRTC: {e}"))?
                .join()
                .map_err(|_| Refusal::Other("NVRTC's thread ended unexpectedly".to_owned()))?
        })
    }

    fn compile_here(
        &self,
        text: &str,
        name: &str,
        headers: &[(String, String)],
        names: &[String],
        options: &[String],
    ) -> Result<Result<(Output, String), String>, Refusal> {
        let f = &self.functions;
        let (text, name) = (c_string(text)?, c_string(name)?);
        let header_names = headers.iter().map(|(n, _)| c_string(n)).collect::<Result<Vec<_>, _>>()?;
        let header_texts = headers.iter().map(|(_, t)| c_string(t)).collect::<Result<Vec<_>, _>>()?;
        let expressions = names.iter().map(|n| c_string(n)).collect::<Result<Vec<_>, _>>()?;
        let options = options.iter().map(|o| c_string(o)).collect::<Result<Vec<_>, _>>()?;
        let pointers = |strings: &[CString]| strings.iter().map(|s| s.as_ptr()).collect::<Vec<_>>();
        let (include_names, contents, flags) = (pointers(&header_names), pointers(&header_texts), pointers(&options));
        let mut program = Program { nvrtc: self, handle: ptr::null_mut() };
        // SAFETY: all strings outlive the calls, and the counts are the lengths of the arrays.
        unsafe {
            let status = (f.create)(
                &raw mut program.handle,
                text.as_ptr(),
                name.as_ptr(),
                headers.len() as c_int,
                contents.as_ptr(),
                include_names.as_ptr(),
            );
            self.check(status, "nvrtcCreateProgram")?;
            for expression in &expressions {
                self.check((f.add_name)(program.handle, expression.as_ptr()), "nvrtcAddNameExpression")?;
            }
            let status = (f.compile)(program.handle, flags.len() as c_int, flags.as_ptr());
            let log = String::from_utf8_lossy(&program.bytes(f.log_size, f.log)?).into_owned();
            if let Some(words) = wrong_option(status, &log) {
                return Err(Refusal::Option(words));
            }
            if status == COMPILATION {
                return Ok(Err(log));
            }
            if status != 0 {
                let reason = self.message(status);
                return Err(Refusal::Other(format!(
                    "NVRTC refused to compile: {reason}{}{}",
                    if log.is_empty() { "" } else { ": " },
                    log.trim()
                )));
            }
            let mut lowered = Vec::new();
            for (name, expression) in names.iter().zip(&expressions) {
                let mut mangled: *const c_char = ptr::null();
                self.check(
                    (f.lowered_name)(program.handle, expression.as_ptr(), &raw mut mangled),
                    "nvrtcGetLoweredName",
                )?;
                if !mangled.is_null() {
                    lowered.push((name.clone(), CStr::from_ptr(mangled).to_string_lossy().into_owned()));
                }
            }
            let ptx = String::from_utf8_lossy(&program.bytes(f.ptx_size, f.ptx)?).into_owned();
            let cubin = program.raw_bytes(f.cubin_size, f.cubin)?;
            Ok(Ok((Output { ptx, cubin, lowered }, log)))
        }
    }

    fn check(&self, status: Status, what: &str) -> Result<(), String> {
        if status == 0 { Ok(()) } else { Err(format!("{what} failed: {}", self.message(status))) }
    }

    fn message(&self, status: Status) -> String {
        // SAFETY: the function returns a static string for every number.
        unsafe {
            let text = (self.functions.error_string)(status);
            if text.is_null() {
                format!("status {status}")
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        }
    }
}

/// NVRTC's words for an option that it does not take; `None` if it is something else.
fn wrong_option(status: Status, log: &str) -> Option<String> {
    // A suffix that the architecture does not have (`sm_80a`) is found late, after NVRTC has begun to compile.
    const LATE: &str = "Command-line error: ";
    let first = log.lines().next().unwrap_or_default();
    let words = match status {
        INVALID_OPTION => first.trim_start_matches("nvrtc: error: "),
        COMPILATION => first.strip_prefix(LATE)?,
        _ => return None,
    };
    Some(words.trim().to_owned())
}

/// A program that is destroyed when dropped.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: Handle,
}

impl Program<'_> {
    unsafe fn raw_bytes(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        get: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ) -> Result<Vec<u8>, String> {
        let mut length = 0usize;
        // SAFETY: the caller passes a pair of functions of this program's API; `get` writes `length` bytes.
        unsafe {
            self.nvrtc.check(size(self.handle, &raw mut length), "an NVRTC size query")?;
            let mut bytes = vec![0u8; length];
            if length > 0 {
                self.nvrtc.check(get(self.handle, bytes.as_mut_ptr().cast()), "an NVRTC result query")?;
            }
            Ok(bytes)
        }
    }

    /// The same for text, without its closing NUL.
    unsafe fn bytes(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        get: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ) -> Result<Vec<u8>, String> {
        // SAFETY: as the caller promises.
        let mut bytes = unsafe { self.raw_bytes(size, get)? };
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(bytes)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle came from nvrtcCreateProgram and is destroyed once.
            unsafe { (self.nvrtc.functions.destroy)(&raw mut self.handle) };
        }
    }
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "a text for the GPU cannot hold a NUL character".to_owned())
}
