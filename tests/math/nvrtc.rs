//! A check that every builtin function of the front end exists in CUDA with the same parameters and result: NVRTC compiles a call of each.
//! Passes with a note if NVRTC cannot be found, unless `WORKBENCH_TEST_NVRTC` is set, as `cargo xtask test` sets it.

use std::collections::BTreeSet;

use workbench::back::cuda::{self, Code, CompileFailure, NvrtcOptions, Options};
use workbench::front::builtins;
use workbench::source::SourceMap;

/// Functions whose result is `bool` in C++, and an `int` in NVRTC's own headers.
const TRUTHS: [&str; 4] = ["isfinite", "isinf", "isnan", "signbit"];

/// The functions that compute capability 7.0 took away: warp functions without masks.
const LEGACY: [&str; 9] =
    ["__all", "__any", "__ballot", "__shfl", "__shfl_down", "__shfl_up", "__shfl_xor", "__uni", "__uni_sync"];

/// A call of one overload, with a check of its result's type.
fn overload(sig: &builtins::Sig, n: usize) -> String {
    let types: Vec<String> = sig.params.iter().map(|p| p.ty().to_string()).collect();
    let args: Vec<String> = types.iter().map(|t| format!("any<{t}>()")).collect();
    let call = format!("{}({})", sig.name, args.join(", "));
    let ret = sig.ret.ty();
    let check = match TRUTHS.contains(&sig.name) {
        true => format!("(void)(bool){call};"),
        false => format!("static_assert(same<decltype({call}), {ret}>::value, \"{ret}\");"),
    };
    format!("__device__ void f{n}() {{ {check} }}")
}

/// Both forms of a math function.
fn math(name: &str, arity: usize, n: usize) -> String {
    let args = |ty: &str| vec![format!("any<{ty}>()"); arity].join(", ");
    let check =
        |name: String, ty: &str| format!("static_assert(same<decltype({name}({})), {ty}>::value, \"{ty}\");", args(ty));
    let checks =
        [check(name.to_owned(), "double"), check(name.to_owned(), "float"), check(format!("{name}f"), "float")];
    format!("__device__ void f{n}() {{ {} }}", checks.join(" "))
}

/// Functions of GCC that NVRTC has, too.
const OF_GCC: [&str; 2] = ["__builtin_copysign", "__builtin_copysignf"];

#[test]
fn every_builtin_is_cudas_with_its_types() {
    cuda::add_search_path(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".lab").join("venv"));
    if let Err(e) = cuda::nvrtc_version() {
        assert!(std::env::var_os("WORKBENCH_TEST_NVRTC").is_none(), "{e}");
        eprintln!("skipped: {e}");
        return;
    }
    let names: BTreeSet<String> = builtins::names().map(|n| n.into_owned()).collect();
    let mut lines = vec![
        "template <class A, class B> struct same { enum { value = 0 }; };".to_owned(),
        "template <class A> struct same<A, A> { enum { value = 1 }; };".to_owned(),
        "template <class T> __device__ T& any();".to_owned(),
    ];
    // Other functions of GCC belong to the host compiler.
    let is_of_host = |n: &str| n.starts_with("__builtin_") && !OF_GCC.contains(&n);
    let is_cudas = |n: &&String| !LEGACY.contains(&n.as_str()) && !is_of_host(n);
    for name in names.iter().filter(is_cudas) {
        for sig in builtins::lookup(name) {
            // <cmath> has this overload; NVRTC's overloads leave the call ambiguous.
            if sig.declaration() != "double ldexp(int, int)" {
                lines.push(overload(sig, lines.len()));
            }
        }
        if let Some((f, builtins::Form::Overloaded)) = builtins::math(name) {
            lines.push(math(name, f.arity(), lines.len()));
        }
    }
    assert!(lines.len() > 500, "{} functions", lines.len());
    let text = lines.join("\n");
    let mut sources = SourceMap::new();
    let file = sources.add("t.cu", text.as_str());
    let nvrtc = NvrtcOptions { arch: Some("compute_90".to_owned()), ..NvrtcOptions::default() };
    let options = Options { name: "t.cu".to_owned(), nvrtc, ..Options::default() };
    match Code::compile(file, &text, &mut sources, &options) {
        Ok(_) => {}
        Err(CompileFailure::Unavailable(e) | CompileFailure::Argument(e)) => panic!("{e}"),
        Err(CompileFailure::Diagnostics(diags)) => {
            let all: Vec<String> = diags.iter().map(|d| format!("{}: {}", sources.text(d.span), d.message)).collect();
            panic!("{}", all.join("\n"));
        }
    }
}
