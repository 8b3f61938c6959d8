//! Tests of texts through NVRTC, without a GPU. If NVRTC cannot be found they say so and pass: they run with the wheels in the environment
//! that `cargo xtask` makes, or in an active one, or with `WORKBENCH_NVRTC`. With `WORKBENCH_TEST_NVRTC` set they must run.

use super::*;
use crate::back::{Dim3, FaultKind, LaunchConfig, RawArg};
use crate::diagnostic::Code as DiagCode;
use crate::ir::ParamType;

fn found() -> bool {
    add_search_path(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".lab").join("venv"));
    match nvrtc_version() {
        Ok(_) => true,
        Err(e) => {
            assert!(std::env::var_os("WORKBENCH_TEST_NVRTC").is_none(), "{e}");
            eprintln!("skipped: {e}");
            false
        }
    }
}

fn options() -> Options {
    Options { name: "cell \"1\"".to_owned(), nvrtc: arch("sm_90"), ..Options::default() }
}

fn arch(name: &str) -> NvrtcOptions {
    NvrtcOptions { arch: Some(name.to_owned()), ..NvrtcOptions::default() }
}

fn compile(text: &str, options: &Options) -> (SourceMap, Result<(Code, Vec<Diagnostic>), CompileFailure>) {
    let mut sources = SourceMap::new();
    let file = sources.add(options.name.clone(), text);
    let result = Code::compile(file, text, &mut sources, options);
    (sources, result)
}

fn code(text: &str, options: &Options) -> Code {
    match compile(text, options).1 {
        Ok((code, _)) => code,
        Err(e) => panic!("{e:?}"),
    }
}

fn errors(text: &str, options: &Options) -> Vec<(String, String)> {
    let (sources, result) = compile(text, options);
    match result {
        Err(CompileFailure::Diagnostics(diags)) => diags
            .iter()
            .filter(|d| d.is_error())
            .map(|d| (sources.place(d.span), sources.text(d.span).to_owned()))
            .collect(),
        Err(CompileFailure::Unavailable(e) | CompileFailure::Argument(e)) => panic!("{e}"),
        Ok(_) => panic!("compiled"),
    }
}

const EVERYTHING: &str = r#"
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <math.h>
#include <cstdint>
#include <cuda_fp16.h>
#include "mine.h"

#define M_PI 3.14159265358979323846
#define CHECK(x) TORCH_CHECK(x.is_cuda(), #x " must be on the GPU")

__device__ float helper(float x) { return std::max(fmaxf(x, -INFINITY), FLT_MIN) * SCALE(2) + float(M_PI); }

__global__ void saxpy(float a, const float* __restrict__ x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i >= 0 && n < INT_MAX);
    if (i < n) y[i] = a * x[i] + helper(y[i]) + HALF * __half2float(__float2half(x[i]));
    if (i == n) __trap();
}

namespace inner {
__global__ void other(int64_t* out, size_t n) { out[0] = (int64_t)n + UINT64_MAX; }
}

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
    CHECK(x);
    saxpy<<<(x.numel() + 255) / 256, 256>>>(2.0f, x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"#;

fn everything() -> Options {
    Options {
        headers: BTreeMap::from([(
            "mine.h".to_owned(),
            "#include <vector>\n#define HALF 0.5f\nvoid host();\n".to_owned(),
        )]),
        defines: vec![("SCALE(x)".to_owned(), "(x *\n 3)".to_owned())],
        ..options()
    }
}

#[test]
fn an_unmodified_text_compiles_for_every_architecture() {
    if !found() {
        return;
    }
    for name in ["sm_80", "sm_90", "sm_100"] {
        let code = code(EVERYTHING, &Options { nvrtc: arch(name), ..everything() });
        assert_eq!(code.arch(), name);
        assert!(code.ptx().contains(&format!(".target {name}")), "{}", &code.ptx()[..300]);
        assert_eq!(&code.cubin()[..4], b"\x7fELF");
        assert_eq!(code.lowered("saxpy"), Some("_Z5saxpyfPKfPfi"));
        assert_eq!(code.lowered("inner::other"), code.lowered("other"));
        assert!(code.lowered("other").is_some());
    }
}

#[test]
fn a_virtual_architecture_gives_ptx_alone_and_an_unknown_one_is_refused() {
    if !found() {
        return;
    }
    let code = code("__global__ void k() {}", &Options { nvrtc: arch("compute_90"), ..options() });
    assert!(code.cubin().is_empty() && code.ptx().contains(".entry"));
    // The last one has a suffix that its architecture does not have, which NVRTC finds itself.
    for (name, what) in [
        ("sm_1", "does not compile for `sm_1`"),
        ("sm_90aa", "does not compile for `sm_90aa`"),
        ("sm_80a", "refuses the architecture: "),
    ] {
        let message = refused(&arch(name));
        assert!(message.contains(what) && message.contains("; it knows sm_"), "{message}");
    }
}

/// The mistake in options that NVRTC does not take.
fn refused(nvrtc: &NvrtcOptions) -> String {
    let (_, result) = compile("__global__ void k() {}", &Options { nvrtc: nvrtc.clone(), ..options() });
    match result {
        Err(CompileFailure::Argument(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn an_option_that_is_none_is_a_mistake_in_the_arguments() {
    if !found() {
        return;
    }
    let with = |option: &str| NvrtcOptions { extra: vec![option.to_owned()], ..arch("sm_90") };
    assert!(refused(&with("--nonsense")).contains(" refuses an option: unrecognized option --nonsense"));
    let message = refused(&with("-arch=sm_12"));
    assert!(message.contains(" refuses the architecture: ") && message.contains("; it knows sm_"), "{message}");
}

#[test]
fn registers_and_spills_are_kept_where_the_options_ask_for_them() {
    if !found() {
        return;
    }
    let text = "__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }";
    let with = |extra: &[&str]| {
        let extra = extra.iter().map(|&option| option.to_owned()).collect();
        code(text, &Options { nvrtc: NvrtcOptions { extra, ..arch("sm_90") }, ..options() })
    };
    assert_eq!(with(&[]).build_log(), "");
    let code = with(&["--ptxas-options=-v"]);
    assert!(code.build_log().contains("'_Z1kPf' for 'sm_90'\n"), "{}", code.build_log());
    assert!(code.build_log().contains(" registers, "), "{}", code.build_log());
}

#[test]
fn messages_point_into_the_users_text() {
    if !found() {
        return;
    }
    let place = |line: u32, column: u32| format!("cell \"1\":{line}:{column}");
    let text = "#include <torch/extension.h>\nvoid host() { launch(); }\n__global__ void k(float* x) {\n\t/* é */ x[0] = foo + 1;\n}\n";
    // The text up to `foo` has nine characters: a tab, a comment with one character of two bytes, `x[0] = `.
    assert_eq!(errors(text, &options()), [(place(4, 17), "foo".to_owned())]);

    let text = "struct S { float f; };\n\n__global__ void k(S* s) {\n  printf(\"%d\", *s);\n}\n";
    let found = errors(text, &options());
    assert_eq!(found[0].0, place(4, 3), "{found:?}");

    let text = "template <class T> __device__ T get(T t) {\n  return t.x;\n}\n__global__ void k(int* p) {\n  p[0] = get(1);\n}\n";
    let (sources, result) = compile(text, &options());
    let Err(CompileFailure::Diagnostics(diags)) = result else { panic!("compiled") };
    assert_eq!(sources.place(diags[0].span), place(2, 10));
    assert_eq!(sources.place(diags[0].related[0].0), place(5, 3));

    let with_header = Options {
        headers: BTreeMap::from([("h.h".to_owned(), "\n__device__ int f() { return nothing; }\n".to_owned())]),
        ..options()
    };
    assert_eq!(
        errors("#include \"h.h\"\n__global__ void k() {}", &with_header),
        [("h.h:2:29".to_owned(), "nothing".to_owned())]
    );
    assert_eq!(errors("#include \"none.h\"\n", &options()), [(place(1, 1), "#include \"none.h\"".to_owned())]);
    assert!(!errors("__global__ void k( {", &options()).is_empty());
}

#[test]
fn warnings_are_handed_back() {
    if !found() {
        return;
    }
    let (sources, result) = compile("__global__ void k(int* p) {\n  int unused;\n  p[0] = 1;\n}", &options());
    let Ok((_, warnings)) = result else { panic!("{result:?}", result = result.err()) };
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].code, DiagCode::NvrtcWarning);
    assert_eq!(sources.text(warnings[0].span), "unused");
}

#[test]
fn nothing_of_the_prelude_warns() {
    if !found() {
        return;
    }
    let (_, result) = compile(EVERYTHING, &everything());
    let Ok((_, warnings)) = result else { panic!("{:?}", result.err()) };
    assert_eq!(warnings, [], "the text redefines M_PI as it is");
}

#[test]
fn printf_takes_every_type_c_does() {
    if !found() {
        return;
    }
    let text = r#"
        enum Colour { RED, GREEN };
        __global__ void k(float* p, const int* q, char* s, volatile float* v, unsigned char* u, bool flag) {
            char c = 'x'; short h = 1; unsigned short uh = 2; long l = 3; unsigned long ul = 4;
            size_t z = sizeof(int); int64_t i64 = -1; uint64_t u64 = 1; int8_t i8 = -1; uint8_t u8 = 1;
            int r = printf("plain\n");
            r += printf("%c %d %u %ld %lu %zu %lld %llu %hhd %hhu\n", c, h, uh, l, ul, z, (long long)i64, u64, i8, u8);
            r += printf("%f %g %e %.3f %d %d", 1.0f, 2.0, p[0], (double)q[0], flag, RED);
            r += printf("%s %10.3s %-*d|%.*s %p %p %p %%", "literal", s, 5, 3, 2, u, p, q, (void*)v);
            r += std::printf("%d %p %p", true ? 1 : 0, nullptr, NULL);
            const char* format = flag ? "a %d" : "b %d";
            printf(format, threadIdx.x);
            p[0] = r;
        }"#;
    let code = code(text, &options());
    assert!(code.ptx().contains("__wb_log"));
}

#[test]
fn assertions_are_off_under_ndebug_and_the_log_is_not_touched() {
    if !found() {
        return;
    }
    let text = "__global__ void k(int* p) { assert(p[0] == 12345); p[1] = 2; }";
    let with = code(text, &options());
    let without = code(text, &Options { defines: vec![("NDEBUG".to_owned(), "1".to_owned())], ..options() });
    assert!(with.ptx().contains("12345") && !without.ptx().contains("12345"));
    assert!(with.ptx().contains("exit;"));
}

#[test]
fn fmad_is_nvrtcs_unless_said() {
    if !found() {
        return;
    }
    let text = "__global__ void k(float* p) { p[0] = p[1] * p[2] + p[3]; }";
    let fused = |fmad| code(text, &Options { fmad, nvrtc: arch("sm_90"), ..options() }).ptx().contains("fma.rn.f32");
    assert!(fused(None) && fused(Some(true)) && !fused(Some(false)));
}

#[test]
fn kernels_of_untaken_branches_templates_and_overloads_do_not_stop_the_others() {
    if !found() {
        return;
    }
    let text = "#if 0\n__global__ void absent(int) {}\n#endif\n__global__ void a(int) {}\n__global__ void twice(int) {}\n\
                __global__ void twice(float) {}\ntemplate <class T> __global__ void t(T* x) {}\nstatic __global__ void quiet() {}\n\
                __global__ void v(float4* x) {}\n";
    let code = code(text, &options());
    assert!(code.lowered("a").is_some() && code.lowered("quiet").is_some() && code.lowered("absent").is_none());
    assert!(code.unlaunchable("t").unwrap().contains("template"));
    assert!(code.unlaunchable("v").unwrap().contains("`float4* x`"));
    assert_eq!(code.unlaunchable("a"), None);
    let module = scan::declarations(text);
    let names: Vec<&str> = module.kernels().map(|(_, f)| f.name.as_str()).collect();
    assert_eq!(names, ["absent", "a", "twice", "quiet"]);
    assert!(matches!(module.functions[1].params[0].ty, ParamType::Scalar(_)));
}

#[test]
fn kernels_may_have_names_of_cudas_functions() {
    if !found() {
        return;
    }
    let text =
        "__global__ void all(int* x) { x[0] = 1; }\nnamespace mine { __global__ void any(int* x) { x[0] = 2; } }\n";
    let code = code(text, &options());
    assert_eq!(code.lowered("all"), Some("_Z3allPi"));
    assert_eq!(code.lowered("any"), Some("_ZN4mine3anyEPi"));
    assert_eq!(code.lowered("mine::any"), Some("_ZN4mine3anyEPi"));
}

#[test]
fn deep_nesting_and_long_texts_come_back() {
    if !found() {
        return;
    }
    let deep = format!("__global__ void k(int* p) {{ p[0] = {}1{}; }}", "(".repeat(10_000), ")".repeat(10_000));
    let _ = compile(&deep, &options());
    let text = "__global__ void k(int* p) { p[0] = '\0'; }";
    let (_, result) = compile(text, &options());
    assert!(matches!(result, Err(CompileFailure::Unavailable(_) | CompileFailure::Diagnostics(_))));
}

#[test]
fn faults_find_the_assert_in_its_line() {
    if !found() {
        return;
    }
    let code = code("__global__ void k(int n) {\n  if (n) assert(n < (3)); n = 1;\n}", &options());
    let span = code.line_span("cell \"1\"", 2).unwrap();
    assert_eq!(code.sources.text(span), "assert(n < (3))");
    assert_eq!(code.sources.text(code.kernel_span("k")), "k");
}

#[test]
fn without_a_driver_a_launch_says_what_is_missing() {
    if !found() || !devices().is_empty() {
        return;
    }
    let code = code("__global__ void k(int n) {}", &options());
    let message = code.launch("k", &[], &[RawArg::Scalar(1)], &LaunchConfig::new(1, 1)).unwrap_err();
    let Refused::Unavailable(message) = message else { panic!("{message:?}") };
    assert!(message.contains("no NVIDIA driver (libcuda.so.1) was found") || message.contains("GPU"), "{message}");
    assert!(availability().is_err());
}

/// Tests of kernels on a GPU, where there is one: copies, printf in thread order, an assert and a launch after it.
#[test]
fn a_gpu_runs_kernels() {
    if !found() || devices().is_empty() {
        eprintln!("skipped: no GPU");
        return;
    }
    let text = "__global__ void k(float a, const float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  \
                assert(n != 7);\n  if (i < n) y[i] = a * x[i];\n  if (i < 2) printf(\"%d of %s: %.1f\\n\", i, \"two\", y[i]);\n}\n\
                __global__ void wild(int* p) { p[1ull << 40] = 1; }";
    let code = code(text, &Options { nvrtc: NvrtcOptions::default(), ..options() });
    let params = |name: &str| {
        code.signatures()
            .iter()
            .find(|s| s.name == name)
            .and_then(|s| s.params.clone().ok())
            .expect("the text declares it")
    };
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut y = vec![0f32; 1000];
    let mut launch = |n: u64| {
        let args = [
            RawArg::Scalar(u64::from(2f32.to_bits())),
            RawArg::Buffer { ptr: x.as_ptr() as *mut u8, bytes: 4000, writable: false },
            RawArg::Buffer { ptr: y.as_mut_ptr().cast(), bytes: 4000, writable: true },
            RawArg::Scalar(n),
        ];
        code.launch("k", &params("k"), &args, &LaunchConfig::new(Dim3::new(8, 1, 1), 128u32)).unwrap()
    };
    let expect_lines = ["0 of two: 0.0\n", "1 of two: 2.0\n"];
    let outcome = launch(1000);
    assert_eq!(outcome.fault, None);
    assert_eq!(outcome.output.iter().map(|r| r.text.as_str()).collect::<Vec<_>>(), expect_lines);
    let fault = launch(7).fault.expect("the assert fails");
    assert_eq!((fault.kind, fault.block, fault.thread), (FaultKind::Assert, [0; 3], [0; 3]));
    assert_eq!(code.sources.text(fault.span), "assert(n != 7)");
    assert_eq!(launch(1000).fault, None, "the context lives on");

    assert!(y.iter().enumerate().all(|(i, &v)| v == 2.0 * i as f32));

    // The fault comes last: CUDA takes no work from the process after it.
    let mut word = [0i32];
    let args = [RawArg::Buffer { ptr: word.as_mut_ptr().cast(), bytes: 4, writable: true }];
    let outcome = code.launch("wild", &params("wild"), &args, &LaunchConfig::new(1, 1)).unwrap();
    assert_eq!(outcome.fault.map(|f| f.kind), Some(FaultKind::Device));
    let again = code.launch("wild", &params("wild"), &args, &LaunchConfig::new(1, 1));
    assert!(matches!(again, Err(Refused::Unavailable(why)) if why.contains("`wild` broke CUDA for this process")));
}

#[test]
fn the_standard_library_is_there() {
    if !found() {
        return;
    }
    let text = "#include <type_traits>\n#include <utility>\n#include <array>\n#include <limits>\n\
        static_assert(std::is_same_v<std::remove_cv_t<const int>, int> && !std::is_same<int, long>::value, \"\");\n\
        static_assert(std::is_integral<short>::value && std::is_floating_point_v<double>, \"\");\n\
        static_assert(std::is_same_v<std::conditional_t<sizeof(int) == 4, float, char>, float>, \"\");\n\
        static_assert(std::is_same_v<std::make_unsigned_t<int>, unsigned> && std::is_signed_v<float>, \"\");\n\
        static_assert(std::numeric_limits<float>::max() > 3e38f && std::numeric_limits<int>::lowest() < 0, \"\");\n\
        template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> __device__ T twice(T v) { return v + v; }\n\
        template <size_t... I> __device__ int sum(std::index_sequence<I...>) { return (0 + ... + int(I)); }\n\
        template <class F, class... A> __device__ auto call(F&& f, A&&... a) { return std::forward<F>(f)(std::forward<A>(a)...); }\n\
        __global__ void k(float* x, int n) {\n\
          std::array<float, 2> a{1.0f, std::numeric_limits<float>::infinity()};\n\
          std::pair<int, float> p = std::make_pair(n, 2.0f);\n  float low = 1, high = 2;\n  std::swap(low, high);\n\
          x[0] = twice(a[0]) + p.second + sum(std::make_index_sequence<4>{}) + std::move(low) + std::max(high, a.back());\n\
          x[1] = call(std::plus<float>(), 1.0f, 2.0f) + std::clamp(x[2], 0.0f, 1.0f) + std::exchange(high, 3.0f);\n}\n";
    let (sources, result) = compile(text, &options());
    match result {
        Ok((_, warnings)) => assert!(warnings.is_empty(), "{warnings:?}"),
        Err(CompileFailure::Unavailable(e) | CompileFailure::Argument(e)) => panic!("{e}"),
        Err(CompileFailure::Diagnostics(diags)) => {
            let all: Vec<String> = diags.iter().map(|d| format!("{}: {}", sources.place(d.span), d.message)).collect();
            panic!("{}", all.join("\n"));
        }
    }
}

#[test]
fn math_functions_take_two_types() {
    if !found() {
        return;
    }
    let mut text = "template <class A, class B> struct same { enum { value = 0 }; };\n\
        template <class A> struct same<A, A> { enum { value = 1 }; };\n\
        __device__ void f(float f, double d, int i, long l) {\n"
        .to_owned();
    for name in ["atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder"] {
        for args in ["f, d", "d, f", "i, d", "d, l", "l, f", "i, i", "l, i"] {
            text += &format!("static_assert(same<decltype({name}({args})), double>::value, \"{name}({args})\");\n");
        }
        text += &format!("static_assert(same<decltype({name}(f, f)), float>::value, \"{name}\");\n");
    }
    let (sources, result) = compile(&(text + "}\n"), &options());
    if let Err(CompileFailure::Diagnostics(diags)) = result {
        let all: Vec<String> = diags.iter().map(|d| format!("{}: {}", sources.place(d.span), d.message)).collect();
        panic!("{}", all.join("\n"));
    }
}
