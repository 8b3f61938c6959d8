//! Behaviour of the lowering as a whole: valid IR for what is accepted, a message in the right place for what is not.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::types::Num;
use crate::front::{Options, compile};
use crate::ir::{Function, Module, Op, Stmt, Type};
use crate::source::SourceMap;
use crate::valid::validate;

fn lowered(text: &str) -> (Module, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    compile(&mut sources, "t.cu", text, &Options::default())
}

/// Compiles without errors to valid IR.
fn accepted(text: &str) -> Module {
    let (module, diags) = lowered(text);
    let errors: Vec<&Diagnostic> = diags.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    let broken = validate(&module);
    assert!(broken.is_empty(), "{text}\n{broken:#?}");
    module
}

/// The errors of a text: code and the text they point at.
fn errors(text: &str) -> Vec<(Code, String)> {
    let (module, diags) = lowered(text);
    let broken = validate(&module);
    let accepted = !diags.iter().any(Diagnostic::is_error);
    assert!(!accepted || broken.is_empty(), "{text}\n{broken:#?}");
    let at = |d: &Diagnostic| text.get(d.span.start as usize..d.span.end as usize).unwrap_or("").to_owned();
    diags.iter().filter(|d| d.is_error()).map(|d| (d.code, at(d))).collect()
}

fn warnings(text: &str) -> Vec<Code> {
    lowered(text).1.iter().filter(|d| !d.is_error()).map(|d| d.code).collect()
}

/// The type of the value stored or returned last.
fn result(func: &Function) -> Option<Type> {
    func.body.stmts.iter().rev().find_map(|s| match s {
        Stmt::Return(Some(v)) => Some(func.ty(*v)),
        _ => None,
    })
}

#[test]
fn operators_have_the_type_of_the_usual_conversions() {
    for a in Num::ALL {
        for b in Num::ALL {
            let (x, y) = (a.name(), b.name());
            let probes: String = Num::ALL
                .iter()
                .map(|n| format!("__device__ int probe({} v) {{ return {}; }}\n", n.name(), *n as u32))
                .collect();
            let text = format!("{probes}__device__ int f({x} a, {y} b) {{ return probe(a * b); }}");
            let module = accepted(&text);
            let func = module.functions.iter().find(|f| f.name == "f").expect("f is defined");
            let called = func.body.stmts.iter().find_map(|s| match s {
                Stmt::Call { func, .. } => Some(module.func(*func).params[0].ty),
                _ => None,
            });
            let expected = crate::ir::ParamType::Scalar(a.usual(b).scalar());
            assert_eq!(called, Some(expected), "{x} * {y}");
        }
    }
}

/// One text or more for each construct of the language.
const TEXTS: &[&str] = &[
    "__global__ void k(const float* a, float* c, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] * 2; }",
    "__global__ void k(float* c, int n) { for (int i = 0; i < n; ++i) { if (i == 3) continue; if (i == 9) break; c[i] += 1; } }",
    "__global__ void k(float* c, int n) { while (n--) *c++ = n; do { c--; } while (n++ < 0); do { c[0] = 1; } while (0); }",
    "__device__ int f(int n) { return n <= 1 ? 1 : n * f(n - 1); } __global__ void k(int* o) { o[0] = f(5); }",
    "__device__ int f(int n) { switch (n) { case 0: return 1; case 1: case 2: n++; default: n += 2; break; case 7: n = 0; } return n; }",
    "__device__ void g(int& a, const int& b) { a += b; } __global__ void k(int* o) { int x = 1; g(x, 2); g(o[0], x); }",
    "__global__ void k(int* o) { int a[2][3] = {{1, 2}, {3}}; int* p = a[1]; int b[] = {1, 2, 3, 4}; o[0] = *p + 2[b] + a[1][2]; }",
    "const int N = 4; constexpr float W[N] = {1, 2.5f}; __constant__ int T[2] = {7, 8}; __global__ void k(float* o) { o[0] = W[threadIdx.x] + T[1] + N; }",
    "enum Op { ADD, SUB = 4, MUL }; enum class M : unsigned char { A = 1, B }; __device__ int f(Op o, M m) { return o == MUL && m == M::B ? (int)m : o; }",
    "typedef float real; using index = unsigned long long; __global__ void k(real* p, index n) { size_t m = n; p[m] = real(n) + sizeof(real); }",
    "__global__ void k(float* o) { float s, c; sincosf(o[0], &s, &c); int e; o[1] = frexpf(s, &e) + c + e; double w; modf(1.5, &w); o[2] = w; }",
    "__global__ void k(int* o) { int x = 3; int* p = &x; *p = 4; int** q = &p; **q = 5; o[0] = x; }",
    "__global__ void k(int* o, int n) { printf(\"%d %5.2f %s %c %lld %p\\n\", n, 1.5f, \"x\", 'c', 4LL, (void*)o); assert(n > 0); if (!o) __trap(); }",
    "__global__ void k(int* o, bool b) { b |= o[0] > 1; o[1] = b + b; unsigned char c = 255; c++; o[2] = c; short s = 1; s <<= 3; o[3] = ~s; }",
    "__global__ void k(float* o) { auto x = o[0]; auto* p = o; auto& r = o[1]; r = x + p[2]; const auto y = 2; o[y] = 1; }",
    "__device__ float f(float x, float y = 2, int n = 3) { return x + y + n; } __global__ void k(float* o) { o[0] = f(1) + f(1, 2) + f(1, 2, 3); }",
    "__device__ int f(int); __global__ void k(int* o) { o[0] = f(1); } __device__ int f(int x) { return x; }",
    "__device__ int f(int a) { if (a) { return 1; } else { return 2; } } __device__ int g() { for (;;) { } } __device__ int h() { while (true) return 1; }",
    "__global__ void k(volatile int* p, long n) { volatile int x = 1; p[0] = x; x += p[1]; n = reinterpret_cast<long>(p); int* q = (int*)n; *q = (int)n; }",
    "__global__ void k(float* a, float* b) { float* p = a < b ? a : b; p += 2; p -= 1; p[0] = (p - a) + (b == nullptr) + (0 != a); a = NULL; }",
    "int add(int a, int b) { return a + b; } static double half_of(double x) { return x / 2; }",
    "__global__ void k(int* o) { (o[0] = 1) += 2; ++(++o[1]); int x; (x = 3)++; o[2] = (x, 5); (o[3] ? o[4] : o[5]) = x; }",
    "__global__ void __launch_bounds__(128) k(int* o) { if constexpr (sizeof(int) == 4) o[0] = 1; else o[0] = 2; static_assert(1 + 1 == 2, \"\"); }",
    "__device__ int& pick(int* p) { return p[1]; } __global__ void k(int* p) { pick(p) = 3; p[0] = pick(p); }",
    "__global__ void k(int* o) { char s[] = \"abc\"; const char* t = \"x\"; o[0] = s[1] + t[0] + \"lit\"[2]; }",
    "__global__ void k(int* o) { static const int T[3] = {1, 2, 3}; const int big[100] = {1}; int z[100] = {5}; o[0] = T[o[1]] + big[2] + z[3]; }",
    "__global__ void k(float* o, unsigned u, int i) { o[0] = max(u, i) + min(1.0f, 2.0) + fmaxf(1, 2) + abs(-2) + std::max(u, 3u) + std::sqrt(2.0f) + pow(2, 3); }",
    "__global__ void k(int* o) { o[0] = __float_as_int(1.0f) + __clz(3) + __popc(3u) + __ldg(o) + __dp4a(1, 2, 3) + __byte_perm(1, 2, 3); }",
    "__global__ void k(int* o) { int x; { return; } o[0] = x; }",
    "__global__ void k(int* o, int n) { switch (n) { int x; case 1: x = 2; o[0] = x; break; case 2: { int y = 3; o[1] = y; } } for (;;) { switch (n) { case 1: continue; default: break; } break; } }",
    "__host__ __device__ inline float sq(float x) { return x * x; } float host(float x) { return sq(x) + sinf(x); } __global__ void k(float* o) { o[0] = sq(o[1]); }",
    "__global__ void k(float* o) { float x = o[0]; float& y = reinterpret_cast<float&>(x); unsigned b = *(unsigned*)&x; o[1] = y + b + *reinterpret_cast<int*>(&x); }",
];

#[test]
fn what_people_write_lowers_to_valid_ir() {
    for text in TEXTS {
        accepted(text);
    }
}

#[test]
fn messages_name_the_place() {
    let in_kernel = |body: &str| format!("__global__ void k(float* p, const float* q, double* d, int n) {{ {body} }}");
    let cases: &[(&str, Code, &str)] = &[
        ("p[0] = m;", Code::UnknownName, "m"),
        ("p[0] = foo(1);", Code::UnknownName, "foo"),
        ("p = d;", Code::TypeMismatch, "d"),
        ("p = q;", Code::TypeMismatch, "q"),
        ("float* r = d;", Code::TypeMismatch, "d"),
        ("q[0] = 1;", Code::NotAssignable, "q[0]"),
        ("const int c = 1; c = 2;", Code::NotAssignable, "c"),
        ("n + 1 = 2;", Code::NotAssignable, "n + 1"),
        ("int a[2]; int b[2]; a = b;", Code::NotAssignable, "a"),
        ("n[0] = 1;", Code::TypeMismatch, "n"),
        ("p[1.5f] = 1;", Code::TypeMismatch, "1.5f"),
        ("*n = 1;", Code::TypeMismatch, "*n"),
        ("n(1);", Code::TypeMismatch, "n"),
        ("p % 2;", Code::TypeMismatch, "%"),
        ("p[0] = p[1] % 2;", Code::TypeMismatch, "%"),
        ("p[0] = sqrtf(1, 2);", Code::ArgumentCount, "sqrtf(1, 2)"),
        ("p[0] = max(1, 2.5f);", Code::NoOverload, "max(1, 2.5f)"),
        ("p[0] = std::max(1, 2u);", Code::NoOverload, "std::max(1, 2u)"),
        ("p[0] = sinf(p);", Code::TypeMismatch, "p"),
        ("int a[n];", Code::NotConstant, "n"),
        ("int a[1 / 0];", Code::NotConstant, "1 / 0"),
        ("int a[-1];", Code::TypeMismatch, "-1"),
        ("constexpr int c = n;", Code::NotConstant, "n"),
        ("int a[2] = {1, 2, 3};", Code::BadInitializer, "3"),
        ("int a[2] = 1;", Code::BadInitializer, "1"),
        ("int x = {1, 2};", Code::BadInitializer, "{1, 2}"),
        ("const int c;", Code::BadInitializer, "c"),
        ("int& r;", Code::BadInitializer, "r"),
        ("int& r = 1;", Code::TypeMismatch, "1"),
        ("break;", Code::BadControlFlow, "break;"),
        ("continue;", Code::BadControlFlow, "continue;"),
        ("return 1;", Code::BadControlFlow, "1"),
        ("int x; int x;", Code::Redefinition, "x"),
        ("switch (n) { case 1: case 1: break; }", Code::Redefinition, "1"),
        ("switch (n) { case 1: int x = 2; break; case 2: break; }", Code::BadControlFlow, "2"),
        ("switch (p[0]) { default: break; }", Code::TypeMismatch, "p[0]"),
        ("threadIdx.w;", Code::UnknownName, "w"),
        ("n.x;", Code::TypeMismatch, "n.x"),
        ("k(p, q, d, n);", Code::WrongSide, "k(p, q, d, n)"),
        ("__syncthreads(1);", Code::ArgumentCount, "__syncthreads(1)"),
        ("atomicAdd(q, 1.0f);", Code::NoOverload, "atomicAdd(q, 1.0f)"),
        ("float4 v; v.q = 1;", Code::UnknownName, "q"),
        ("static_assert(false, \"no\");", Code::UserError, "static_assert(false, \"no\")"),
        ("printf(\"%d\\n\");", Code::BadPrintf, "printf(\"%d\\n\")"),
        ("printf(\"%d\\n\", 1.5f);", Code::BadPrintf, "1.5f"),
        ("printf(\"%d\\n\", 1LL);", Code::BadPrintf, "1LL"),
        ("printf(p);", Code::BadPrintf, "p"),
        ("char s[2] = \"abc\";", Code::BadInitializer, "\"abc\""),
        ("float big[1000][200];", Code::StackLimit, "big"),
        ("static_cast<float*>(d);", Code::TypeMismatch, "static_cast<float*>(d)"),
        ("float f = p;", Code::TypeMismatch, "p"),
        ("void* v = p; *v;", Code::TypeMismatch, "*v"),
        ("if (n) { m; } else { l; }", Code::UnknownName, "m"),
    ];
    for (body, code, place) in cases {
        let found = errors(&in_kernel(body));
        assert!(found.first() == Some(&(*code, (*place).to_owned())), "{body}: {found:?}");
    }
}

#[test]
fn an_error_is_reported_once_and_others_beside_it_too() {
    let text = "__global__ void k(float* p) {\n  p[0] = (m + 1) * 2 + sinf(m2);\n  int x = m3;\n  x = x + 1;\n}";
    let found = errors(text);
    let names: Vec<&str> = found.iter().map(|(_, at)| at.as_str()).collect();
    assert_eq!(names, ["m", "m2", "m3"]);
}

#[test]
fn declarations_are_checked() {
    let cases: &[(&str, Code)] = &[
        ("__global__ int k() { return 1; }", Code::BadKernel),
        ("__global__ void k(int& x) { }", Code::BadKernel),
        ("__device__ int f() { return 1; } __device__ int f() { return 2; }", Code::Redefinition),
        ("__device__ int f(int); __device__ float f(int) { return 1; }", Code::Redefinition),
        ("__device__ int f(int); __global__ void k(int* o) { o[0] = f(1); }", Code::Incomplete),
        ("int f(int x) { return x; } __global__ void k(int* o) { o[0] = f(1); }", Code::WrongSide),
        ("__device__ int f(int x) { return x; } int g() { return f(1); }", Code::WrongSide),
        ("__device__ int x = f(1);", Code::UnknownName),
        ("__constant__ float w[4]; __device__ void f() { w[0] = 1; }", Code::NotAssignable),
        ("__global__ void k(int* o) { o[0] = late(1); } __device__ int late(int x) { return x; }", Code::UnknownName),
        (
            "__device__ int f(int x, float y) { return 1; } __device__ int f(float x, int y) { return 2; } __device__ int g() { return f(1, 1); }",
            Code::NoOverload,
        ),
        ("__device__ int f(int x, int y) { return 1; } __device__ int g() { return f(1); }", Code::ArgumentCount),
        ("__device__ int f(float* x) { return 1; } __device__ int g(double* d) { return f(d); }", Code::TypeMismatch),
        ("int n = 3; __global__ void k(int* o) { o[0] = n; }", Code::WrongSide),
        ("__global__ void __launch_bounds__(5000) k() { }", Code::BadKernel),
        ("constexpr int a[2] = {1, f()};", Code::UnknownName),
    ];
    for (text, code) in cases {
        let found = errors(text);
        assert!(found.len() == 1 && found[0].0 == *code, "{text}: {found:?}");
    }
}

#[test]
fn host_code_that_notebooks_cannot_run_is_left_out_with_a_warning() {
    for host in [
        "int main() { return 0; }",
        "void f() { std::thread t; k<<<1, 1>>>(0); }",
        "void f() { cudnnHandle_t h; k<<<1, 1>>>(0); }",
    ] {
        let text = format!("__global__ void k(int* x) {{ x[0] = 1; }}\n{host}\n");
        let mut sources = SourceMap::new();
        let (module, diags) = compile(&mut sources, "t.cu", &text, &Options::default());
        assert!(diags.len() == 1 && !diags[0].is_error() && diags[0].message.contains("left out"), "{host}: {diags:?}");
        assert!(sources.place(diags[0].span).starts_with("t.cu:2:"), "{host}");
        assert_eq!(module.functions.len(), 1, "{host}");
    }
}

#[test]
fn doubtful_code_is_warned_about() {
    assert_eq!(warnings("__device__ int f(int a) { if (a) return 1; }"), [Code::MissingReturn]);
    assert_eq!(warnings("__device__ void f(int a, int b) { a == b; }"), [Code::Unused]);
    assert_eq!(warnings("__device__ void f(int a, int b) { if (a = b) { } if ((a = b)) { } }"), [Code::Unused]);
    assert_eq!(warnings("__device__ void f() { printf(\"x\", 1); }"), [Code::BadPrintf]);
    assert_eq!(warnings("__device__ int f(int a) { (void)a; while (1) { if (a++ > 3) return a; } }"), []);
}

#[test]
fn constants_fold_and_unassigned_variables_need_no_register() {
    let module = accepted("__device__ int f() { const int n = 4; int a = n * 2 + sizeof(float); return a; }");
    let func = &module.functions[0];
    assert!(func.locals.is_empty() && func.slots.is_empty());
    assert!(!func.body.stmts.iter().any(|s| matches!(s, Stmt::Let(_, Op::Binary(..)))));
    assert_eq!(result(func), Some(Type::Scalar(crate::ir::Scalar::I32)));
    let module = accepted("__global__ void k(float* o) { float s, c; sincosf(o[0], &s, &c); o[1] = s + c; }");
    assert!(module.functions[0].slots.is_empty(), "outputs of a builtin stay in registers");
}

#[test]
fn accesses_carry_the_place_of_the_access() {
    let text = "__global__ void k(int* c, int* a, int i) { c[i + 1] = a[i] / a[2]; }";
    let module = accepted(text);
    let func = &module.functions[0];
    let at = |span: crate::source::Span| &text[span.start as usize..span.end as usize];
    let mut seen = Vec::new();
    for (stmt, span) in func.body.iter() {
        match stmt {
            Stmt::Let(v, Op::Load { .. } | Op::Binary(crate::ir::BinaryOp::Div, ..)) => {
                seen.push(at(func.values[v.index()].span));
            }
            Stmt::Store { .. } => seen.push(at(span)),
            _ => {}
        }
    }
    assert_eq!(seen, ["a[i]", "a[2]", "a[i] / a[2]", "c[i + 1]"]);
}

#[test]
fn messages_are_bounded() {
    let body: String = (0..1000).map(|i| format!("x{i}x = 1;\n")).collect();
    let (_, diags) = lowered(&format!("__global__ void k() {{ {body} }}"));
    assert!(diags.len() <= 100);
}

#[test]
fn deep_and_long_texts_end_in_a_message_or_a_function() {
    let sum = vec!["a"; 400].join(" + ");
    accepted(&format!("__device__ int f(int a) {{ return {sum}; }}"));
    let deep = format!("{}a{}", "(".repeat(200), ")".repeat(200));
    let text = format!("__device__ int f(int a) {{ return {deep}; }}");
    let (_, diags) = lowered(&text);
    assert!(diags.iter().all(|d| d.code == Code::NestingLimit), "{diags:?}");
    let chain: String = (0..200).map(|i| format!("if (a == {i}) a = {i}; else ")).collect();
    let (_, diags) = lowered(&format!("__device__ void f(int a) {{ {chain} a = 0; }}"));
    assert!(diags.iter().all(|d| d.code == Code::NestingLimit), "{diags:?}");
}

#[test]
fn damaged_texts_end_in_messages_or_valid_ir() {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let tokens: Vec<Vec<&str>> = TEXTS
        .iter()
        .map(|text| {
            let ends = text.char_indices().filter(|&(_, c)| !is_word(c)).flat_map(|(i, c)| [i, i + c.len_utf8()]);
            let mut cuts: Vec<usize> = [0].into_iter().chain(ends).chain([text.len()]).collect();
            cuts.dedup();
            cuts.windows(2).map(|w| &text[w[0]..w[1]]).collect()
        })
        .collect();
    // A fixed linear congruential sequence (Knuth, MMIX), so that a failure can be repeated.
    let mut state = 1u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for _ in 0..2000 {
        let mut text = tokens[next(tokens.len())].clone();
        let other = &tokens[next(tokens.len())];
        for _ in 0..=next(3) {
            let (at, from) = (next(text.len()), other[next(other.len())]);
            match next(3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, from),
                _ => text[at] = from,
            }
        }
        errors(&text.concat());
    }
}
