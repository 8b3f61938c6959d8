//! Texts of whatever kind: bounded nesting, no panics, every text ends.

use super::*;

/// Runs on a stack as small as a worker's may be.
/// A two-hundred-and-fiftieth of what a compilation has.
fn on_small_stack<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

#[test]
fn deep_nesting_is_one_diagnostic_and_no_overflow() {
    let wrap = |open: &str, middle: &str, close: &str, n: usize| {
        format!("void f(int a) {{ {}{middle}{} }}\nvoid g() {{ }}", open.repeat(n), close.repeat(n))
    };
    for text in [
        wrap("(", "a", ")", 10_000).replace(" }\n", "; }\n"),
        wrap("{", "a;", "}", 10_000),
        wrap("if (a) ", "a;", "", 10_000),
        wrap("if (a) a; else ", "a;", "", 10_000),
        wrap("while (a) {", "a;", "}", 10_000),
        wrap("do ", "a;", " while (a);", 10_000),
        wrap("a + ", "a;", "", 100_000),
        wrap("a = ", "a;", "", 100_000),
        wrap("a ? a : ", "a;", "", 10_000),
        wrap("a, ", "a;", "", 100_000),
        wrap("- ", "a;", "", 100_000),
        wrap("(int)", "a;", "", 100_000),
        wrap("sizeof ", "a;", "", 100_000),
        wrap("f(", "a", ")", 10_000).replace(" }\n", "; }\n"),
        wrap("a[", "a", "]", 10_000).replace(" }\n", "; }\n"),
        wrap("", "a", "[0]", 100_000).replace(" }\n", "; }\n"),
        wrap("static_cast<int>(", "a", ")", 10_000).replace(" }\n", "; }\n"),
        wrap("int x = ", "a;", "", 1) + &format!("int y{};", "[1]".repeat(10_000)),
        format!("int {}x{};", "(".repeat(10_000), ")".repeat(10_000)),
        format!("int {}x;", "*".repeat(10_000)),
        format!("int x = {}1{};", "{".repeat(10_000), "}".repeat(10_000)),
        format!("{}{}", "namespace a {".repeat(10_000), "}".repeat(10_000)),
        format!("void f(int a) {{ switch (a) {} a; }}", "case 1: ".repeat(10_000)),
    ] {
        let start = text[..40].to_owned();
        let diags = on_small_stack(move || faults(&text));
        assert_eq!(diags.len(), 1, "{start}: {:?}", &diags[..diags.len().min(4)]);
        assert!(diags[0].starts_with("WB0203"), "{start}: {}", diags[0]);
    }
}

#[test]
fn deep_nesting_of_cpp_is_one_diagnostic_and_no_overflow() {
    let around = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(5000), close.repeat(5000));
    let body = |text: String| format!("void f(int a) {{ {text}; }}\nvoid g() {{ }}");
    for text in [
        body(around("[] { ", "a;", " }; ")),
        body(around("f([] { return ", "a", "; })")),
        body(around("f({", "a", "})")),
        body(around("x = {", "a", "}")),
        body(around("decltype(", "a", ") x")),
        body(around("sizeof(int[", "a", "])")),
        body(around("(... + ", "a", ")")),
        body(around("struct S { void f() { ", "a;", " } };")),
        body(around("static_cast<decltype(", "a", ")>(1)")),
        around("struct S { ", "int x;", " };"),
        around("union { ", "int x;", " };"),
        format!("template <class T> struct P {{ }}; {} x;", around("P<", "int", "> ")),
        format!("template <int N> struct P {{ }}; P<{}> x;", around("sizeof(P<", "1", ">)")),
        format!("{} void f();", around("template <", "int N", "> class T>")),
        format!("{} void f();", "template <int N> ".repeat(5000)),
        format!("namespace {}a {{ }}", "a::".repeat(5000)),
        format!("int x = {}a;", "a::".repeat(5000)),
        format!("int {}x{};", "(*".repeat(5000), ")(int)".repeat(5000)),
        format!("void f(int {}x{});", "(*".repeat(5000), ")(int)".repeat(5000)),
    ] {
        let start = text[..40].to_owned();
        let diags = on_small_stack(move || faults(&text));
        assert!(diags.iter().any(|d| d.starts_with("WB0203")), "{start}: {:?}", &diags[..diags.len().min(4)]);
        assert!(diags.len() < 4, "{start}: {:?}", &diags[..diags.len().min(4)]);
    }
    // Types and lambdas count with the expressions they are in.
    let tall = |inner: &str| format!("sizeof(int[{inner}{}])", " + 1".repeat(400));
    let text = body(tall(&tall(&tall("1"))));
    assert!(on_small_stack(move || faults(&text)).iter().any(|d| d.starts_with("WB0203")));
    let tall = |inner: &str| format!("[] {{ return {inner}{}; }}()", " + 1".repeat(400));
    let text = body(tall(&tall(&tall("1"))));
    assert!(on_small_stack(move || faults(&text)).iter().any(|d| d.starts_with("WB0203")));
}

/// A text with most of what C++ adds to C.
const CPP: &str = r#"
namespace ns { inline namespace v1 { template <typename T, int N = 4> struct Vec { T d[N]; __device__ Vec() : d{} { }
  explicit Vec(T x) : d{x} { for (auto &e : d) e = x; } T &operator[](int i) { return d[i]; }
  template <typename U> Vec<U, N> as() const { Vec<U, N> r; for (int i = 0; i < N; ++i) r[i] = static_cast<U>(d[i]); return r; }
  operator T() const { return d[0]; } ~Vec() = default; friend bool operator==(const Vec &a, const Vec &b) { return a.d[0] == b.d[0]; }
  union { int bits : 3; float f; }; enum class E : int { A, B = N }; using value_type = T; static constexpr int n = N; }; } }
template <typename T> T ns::Vec<T, 3>::twice() { return d[0] * 2; }
template <typename T> struct is_f { static const bool value = false; };
template <> struct is_f<float> { static const bool value = true; };
template <typename... A> __device__ auto sum(A &&...a) -> decltype((a + ...)) { if constexpr (sizeof...(A) > 1) return (a + ...); else return 0; }
template <class F, typename = std::enable_if_t<!std::is_void<F>::value && (sizeof(F) > 1)>> void apply(F f) { f(1); }
typedef float (*fn)(float); struct alignas(8) P : public ns::Vec<int>, private is_f<P> { using ns::Vec<int>::n; fn f = nullptr; };
template <typename T, int N> __global__ void __launch_bounds__(N) k(T *__restrict__ out, ns::Vec<T, N> v) {
  auto g = [=, &out, x = v[0]] __device__ (auto y) mutable -> T { return x + y + T{1}; };
  auto [a, b] = ns::Vec<T, 2>{}; if (int i = threadIdx.x; i < N) out[i] = g(v.template as<float>()[i]) + (float)(a > b);
  while (T t = a) { b = {t}; break; } switch (N) { case 1 << 2: sum(a, b, typename is_f<T>::type(3)); default: ; }
}
template __global__ void k<float, 4>(float *, ns::Vec<float, 4>);
torch::Tensor run(at::Tensor x) { AT_DISPATCH_ALL_TYPES(x.type(), "k", ([&] { k<scalar_t, 4><<<dim3(1), (x.numel() + 3) / 4, 0, s>>>(x.data_ptr<scalar_t>(), {}); })); return {x}; }
"#;

#[test]
fn the_style_of_extensions_and_libraries_parses() {
    assert_eq!(faults(include_str!("library.cu")), Vec::<String>::new());
    assert_eq!(faults(include_str!("extension.cu")), Vec::<String>::new());
}

#[test]
fn the_cpp_sample_parses() {
    assert_eq!(faults(CPP), Vec::<String>::new());
}

/// Drops, doubles and swaps tokens of a text; what comes out must be read to its end.
#[test]
fn a_text_with_a_token_less_or_more_is_read_to_its_end() {
    let mut sources = SourceMap::new();
    let mut interner = Interner::default();
    let file = sources.add("cell", CPP);
    let tokens = preprocess(&mut sources, file, &Options::default(), &mut interner, &mut Vec::new()).tokens;
    let last = tokens.len() - 1;
    let read = |tokens: Vec<Token>, interner: &mut Interner| {
        let mut diags = Vec::new();
        let unit = parse(tokens, interner, &mut diags);
        assert!(diags.len() < 40, "{diags:?}");
        unit.items.len()
    };
    for i in 0..last {
        let mut less = tokens.clone();
        less.remove(i);
        read(less, &mut interner);
        let mut twice = tokens.clone();
        twice.insert(i, tokens[i]);
        read(twice, &mut interner);
        if i + 1 < last {
            let mut swapped = tokens.clone();
            swapped.swap(i, i + 1);
            read(swapped, &mut interner);
        }
        let mut cut = tokens[..i].to_vec();
        cut.push(tokens[last]);
        read(cut, &mut interner);
        let mut hole = tokens.clone();
        hole.drain(i..(i + 7).min(last));
        read(hole, &mut interner);
    }
}

#[test]
fn spans_nest() {
    for text in [CPP, SAMPLE] {
        let parsed = parse_text(text);
        spans::check(&parsed.unit);
    }
}

#[test]
fn nesting_below_the_limit_is_fine_even_dumped_recursively() {
    for text in [
        format!("void f(int a) {{ {}a{}; }}", "(".repeat(120), ")".repeat(120)),
        format!("void f(int a) {{ {}a; }}", "a + ".repeat(490)),
        format!("void f(int a) {{ {}a; }}", "if (a) a; else ".repeat(200)),
        format!("void f(int a) {{ switch (a) {{ {} }} }}", "case 1: ".repeat(10_000)),
        format!("void f(int a) {{ {} }}", "a = a + 1; ".repeat(10_000)),
    ] {
        let copy = text.clone();
        assert_eq!(on_small_stack(move || faults(&text)), Vec::<String>::new());
        assert!(dump(&copy).len() > 100);
    }
}

#[test]
fn errors_are_bounded() {
    let diags = faults(&format!("void f() {{ {} }}", "int = ;\n".repeat(1000)));
    assert_eq!(diags.len(), MAX_ERRORS + 2);
}

/// A kernel that uses most of the language.
const SAMPLE: &str = r#"
#include <cuda_runtime.h>
#define SQ(x) ((x) * (x))
#define LOG(f, ...) printf(f, ##__VA_ARGS__)
enum Mode { A, B = 2 };
__constant__ float table[2][2] = {{1.f, 2}, {.5}};
__device__ __forceinline__ float helper(const float *__restrict__ p, int i = 0) { return p[i] > 0 ? SQ(p[i]) : -1e-3f; }
extern "C" __global__ void __launch_bounds__(256) kernel(float *out, const float *in, int n, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, *q = &i; // index
    __shared__ float tile[16][17];
    if (i >= n) return;
#pragma unroll
    for (int k = 0; k < 4; ++k) { tile[k][0] = static_cast<float>(in[i]) + (double)k; if (k == 3) continue; else break; }
    switch (i & 3) { case 0: case 1: out[i] = std::max(1.0f, helper(in, i)); break; default: LOG("%d %s\n", i, "x\"y"); }
    do { i -= 0x1F'0u; } while (i > sizeof(float[3]) && !(*q));
    /* done */ typedef unsigned int u32; u32 z = u32(i) << 3 ^ 'a';
    out[i] += z % 7, assert(n > 0);
}
"#;

#[test]
fn the_sample_parses() {
    assert_eq!(faults(SAMPLE), Vec::<String>::new());
}

#[test]
fn a_text_cut_anywhere_never_panics() {
    for end in (0..SAMPLE.len()).filter(|&i| SAMPLE.is_char_boundary(i)) {
        parse_text(&SAMPLE[..end]);
        parse_text(&SAMPLE[end..]);
    }
}

#[test]
fn soups_of_tokens_never_panic() {
    let words: Vec<&str> = SAMPLE
        .split_inclusive([' ', '(', ')', ';', '\n', ',', '{', '}', '[', ']', '<', '>'])
        .chain(CPP.split_inclusive([' ', '(', ')', ';', '\n', ',', '{', '}', '[', ']', '<', '>']))
        .chain([
            "template <",
            "struct ",
            "<<<",
            ">>>",
            ">>",
            "::",
            "operator",
            "lambda [",
            "[[",
            "]]",
            "#if 0\n",
            "\n#endif\n",
            "\n#else\n",
            "##",
            "try {",
            "goto x;",
            "x:",
            "...",
            "typename ",
            "enum ",
            "using ",
            "namespace ",
            "extern \"C\" {",
            "\\\n",
            "@",
            "'",
            "\"",
            "/*",
            "*/",
            "R\"(",
            "->",
            ".",
            "?",
            ":",
            "decltype(",
            "new ",
            "asm(",
            "__attribute__((",
        ])
        .collect();
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    for _ in 0..6000 {
        let len = 1 + random(60);
        let text: String = (0..len).map(|_| words[random(words.len())]).collect();
        let shown = text.clone();
        let result = std::panic::catch_unwind(|| parse_text(&text));
        assert!(result.is_ok(), "{shown}");
    }
}

#[test]
fn a_megabyte_of_text_is_read() {
    let line = "    out[i] = in[i] * 2.0f + SQ(in[i + 1]) - (float)(i % 7); // comment\n";
    let mut text = String::from("#define SQ(x) ((x) * (x))\n");
    while text.len() < 1 << 20 {
        text.push_str("__global__ void k(float *out, const float *in, int i) {\n");
        text.push_str(&line.repeat(40));
        text.push_str("}\n");
    }
    assert_eq!(faults(&text), Vec::<String>::new());
    // One function, and one of a single endless line of errors.
    let body = line.repeat((1 << 20) / line.len());
    let head = "#define SQ(x) ((x) * (x))\n__global__ void k(float *out, const float *in, int i) {\n";
    assert_eq!(faults(&format!("{head}{body}}}")), Vec::<String>::new());
    assert!(faults(&"( [ { x < ".repeat(100_000)).len() < 100);
    assert!(faults(&"a < ".repeat(250_000)).len() < 100);
    assert!(faults(&format!("void f() {{ {} }}", "if (a; ".repeat(100_000))).len() < 100);
}

/// These took minutes where a bracket looked for its end through all that follow.
#[test]
fn brackets_of_launches_are_looked_for_once() {
    for text in ["k<<<(1 ", "k<< <1 ", "k<<<1 >> , "] {
        let diags = faults(&format!("void f() {{ {} }}", text.repeat(200_000)));
        assert!(!diags.is_empty(), "{text}");
    }
}
