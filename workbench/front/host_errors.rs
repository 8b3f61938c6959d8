//! Mistakes in host code that no kernel needs: what is wrong whatever libraries a text uses, as opposed to what only we do not know.

use super::ast::Interner;
use super::lexer::{Keyword as K, Token, TokenKind as T};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// Namespaces of libraries.
pub(super) const LIBRARIES: [&str; 11] =
    ["std", "torch", "at", "c10", "thrust", "cub", "cutlass", "cute", "py", "pybind11", "cooperative_groups"];

/// Beginnings of names of libraries' functions and types.
pub(super) const BEGINNINGS: [&str; 8] = ["cuda", "cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl"];

/// The same of libraries whose names no text is taken to use them by.
const MORE_BEGINNINGS: [&str; 14] = [
    "cutensor", "cutlass", "nvtx", "nvml", "nvrtc", "nvjpeg", "omp_", "mpi_", "pthread_", "hip", "gl", "_mm", "__",
    "sycl",
];

/// Functions of C and of the system that no table of ours has: names, in order.
const SYSTEM: [&str; 74] = [
    "_exit",
    "abort",
    "access",
    "aligned_alloc",
    "alloca",
    "asprintf",
    "atexit",
    "basename",
    "bcopy",
    "bzero",
    "chdir",
    "clearerr",
    "close",
    "closedir",
    "dlclose",
    "dlopen",
    "dlsym",
    "dup",
    "dup2",
    "execl",
    "execv",
    "fdopen",
    "feof",
    "ferror",
    "fileno",
    "fork",
    "fputc",
    "fputs",
    "freopen",
    "fseeko",
    "fstat",
    "ftell",
    "ftello",
    "fwprintf",
    "getcwd",
    "getdelim",
    "getline",
    "getopt_long",
    "getpid",
    "getrusage",
    "gettid",
    "gmtime",
    "index",
    "ioctl",
    "isatty",
    "kill",
    "localtime",
    "lseek",
    "madvise",
    "mkdir",
    "mktime",
    "mlock",
    "mmap",
    "mprotect",
    "munmap",
    "nanosleep",
    "open",
    "opendir",
    "pclose",
    "pipe",
    "popen",
    "posix_memalign",
    "pread",
    "putenv",
    "putc",
    "pwrite",
    "raise",
    "read",
    "readdir",
    "realpath",
    "rewind",
    "signal",
    "strdup",
    "write",
];

/// Tells mistakes from the rest in the host code of a text.
pub(super) struct HostErrors<'a> {
    tokens: &'a [Token],
    interner: &'a Interner,
    /// Names may come of headers that are not there.
    lacks_headers: bool,
    /// Names may come of a library, whose names the text takes over.
    takes_over: bool,
}

impl<'a> HostErrors<'a> {
    /// Judgement of errors in a text of these tokens.
    pub fn new(tokens: &'a [Token], interner: &'a Interner, lacks_headers: bool) -> Self {
        let takes_over = tokens.windows(3).any(|three| {
            let [using, namespace, name] = three else { return false };
            using.kind == T::Keyword(K::Using)
                && namespace.kind == T::Keyword(K::Namespace)
                && LIBRARIES.contains(&interner.name(name.symbol))
        });
        HostErrors { tokens, interner, lacks_headers, takes_over }
    }

    /// The error is a mistake: `own` tells whether a place is in the user's text.
    pub fn is_mistake(&self, diag: &Diagnostic, own: impl Fn(Span) -> bool) -> bool {
        // The parameters of a function of the text itself are known.
        let of_own = || diag.related.iter().any(|(place, what)| own(*place) && what == "declared here");
        match diag.code {
            Code::BadControlFlow => true,
            Code::ArgumentCount | Code::NoOverload => of_own(),
            Code::UnknownName => self.is_nobodys(diag),
            _ => false,
        }
    }

    /// The unknown name of an error is one that no library has.
    fn is_nobodys(&self, diag: &Diagnostic) -> bool {
        let what = diag.message.strip_prefix("unknown ").and_then(|m| m.split(' ').next()).unwrap_or("");
        let is_function = match what {
            "kernel" | "name" => false,
            "function" => true,
            // Types are what libraries are made of.
            _ => return false,
        };
        let at = self.tokens.iter().position(|t| t.kind == T::Ident && t.span == start_of(diag.span, t.span));
        let Some(at) = at else { return false };
        let kind = |i: usize| self.tokens.get(i).map(|t| t.kind);
        let before = at.checked_sub(1).and_then(kind);
        let is_qualified =
            kind(at + 1) == Some(T::ColonColon) || matches!(before, Some(T::ColonColon | T::Dot | T::Arrow));
        let name = self.interner.name(self.tokens[at].symbol);
        let lower = name.to_lowercase();
        let begins = |all: &[&str]| all.iter().any(|b| lower.starts_with(b));
        // `cuInit`
        let of_driver = name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        // A macro of a header's, unless the text has one like it.
        let is_macro = !name.chars().any(|c| c.is_ascii_lowercase()) && name.len() > 1 && diag.help.is_none();
        let of_library = begins(&BEGINNINGS)
            || begins(&MORE_BEGINNINGS)
            || of_driver
            || is_macro
            || is_function && (self.takes_over || SYSTEM.contains(&name))
            || super::builtins::unsupported(name).is_some();
        !is_qualified && !self.lacks_headers && !of_library
    }
}

/// A place of the length of another where a longer one begins.
fn start_of(whole: Span, part: Span) -> Span {
    Span { end: whole.start + (part.end - part.start), ..whole }
}
