//! Tests of the parser.
mod cpp;
mod dump;
mod refused;
mod robust;
mod spans;

use super::*;
use crate::front::Options;
use crate::front::ast::*;
use crate::front::preprocess::preprocess;
use crate::source::SourceMap;
use dump::Dump;

/// A parsed text.
struct Parsed {
    unit: TranslationUnit,
    interner: Interner,
    diags: Vec<String>,
}

fn parse_text(text: &str) -> Parsed {
    let mut sources = SourceMap::new();
    let mut interner = Interner::default();
    let mut diags = Vec::new();
    let file = sources.add("cell", text);
    let tokens = preprocess(&mut sources, file, &Options::default(), &mut interner, &mut diags).tokens;
    let unit = parse(tokens, &mut interner, &mut diags);
    let diags = diags.iter().map(|d| format!("{} {} {}", d.code, sources.place(d.span), d.message)).collect();
    Parsed { unit, interner, diags }
}

fn faults(text: &str) -> Vec<String> {
    parse_text(text).diags
}

fn fault(text: &str) -> String {
    let diags = faults(text);
    assert_eq!(diags.len(), 1, "{text}: {diags:#?}");
    diags.into_iter().next().unwrap()
}

/// The tree of a text as nested lists, and what was reported.
fn tree(text: &str) -> (String, Vec<String>) {
    let parsed = parse_text(text);
    let dump = Dump(&parsed.interner);
    (parsed.unit.items.iter().map(|item| dump.item(item)).collect::<Vec<_>>().join(" "), parsed.diags)
}

/// The tree of a text as nested lists.
fn dump(text: &str) -> String {
    let parsed = parse_text(text);
    assert_eq!(parsed.diags, Vec::<String>::new(), "{text}");
    let dump = Dump(&parsed.interner);
    parsed.unit.items.iter().map(|item| dump.item(item)).collect::<Vec<_>>().join(" ")
}

/// The statements of a function body.
fn body(text: &str) -> String {
    let text = dump(&format!("void f(int a, int b, float *p, int n) {{ {text} }}"));
    let start = text.find('{').unwrap() + 2;
    text[start..text.len() - 3].to_owned()
}

/// One expression statement.
fn expr(text: &str) -> String {
    body(&format!("{text};"))
}

#[test]
fn operators_bind_and_group() {
    for (text, expected) in [
        ("a + b * n", "(Add a (Mul b n))"),
        ("a - b - n", "(Sub (Sub a b) n)"),
        ("a = b = n", "(= a (= b n))"),
        ("a += b ? 1 : n = 2", "(Add= a (? b 1 (= n 2)))"),
        ("a ? b : n ? 1 : 2", "(? a b (? n 1 2))"),
        (
            "a || b && n | 1 ^ 2 & 3 == 4 < 5 << 6 + 7",
            "(Or a (And b (BitOr n (BitXor 1 (BitAnd 2 (Eq 3 (Lt 4 (Shl 5 (Add 6 7)))))))))",
        ),
        ("-a++", "(Minus (PostInc a))"),
        ("!~a", "(Not (BitNot a))"),
        ("*p++ = *&p[a]", "(= (Deref (PostInc p)) (Deref (AddrOf (at p a))))"),
        ("a, b, n", "(Comma (Comma a b) n)"),
        ("p[a, b]", "(at p (Comma a b))"),
        ("f(a, (b, n))(1)", "(call (call f a [(Comma b n)]) 1)"),
        ("p->x.y[1]", "(at p->x.y 1)"),
        ("a >> b > n", "(Gt (Shr a b) n)"),
        ("not a and b", "(And (Not a) b)"),
        ("\"a\" \"b\\n\"", "\"ab\\n\""),
        ("__func__", "\"f\""),
        ("INFINITY", "[inff]"),
        ("1.f + .5", "(Add 1.0f 0.5)"),
    ] {
        assert_eq!(expr(text), expected, "{text}");
    }
}

#[test]
fn casts_are_told_from_calls_and_parentheses() {
    for (text, expected) in [
        ("(float)a * b", "(Mul (C float a) b)"),
        ("(a) * b", "(Mul [a] b)"),
        ("(a) - b", "(Sub [a] b)"),
        ("(const float *)p", "(C const-float* p)"),
        ("(unsigned long long)a", "(C ulonglong a)"),
        ("(int (*)[3])p", "(C int[3]* p)"),
        ("(uint8_t)(a)", "(C uint8_t [a])"),
        ("(Foo)a", "(C Foo a)"),
        ("(Foo *)p", "(C Foo* p)"),
        ("float(a) + int()", "(Add (Functional float a) (Functional int _))"),
        ("(float(a) + 1)", "[(Add (Functional float a) 1)]"),
        ("1 + size_t(a)", "(Add 1 (Functional size_t a))"),
        ("float{1}", "(Braced float 1)"),
        ("static_cast<unsigned char>(a + 1)", "(Static uchar (Add a 1))"),
        ("reinterpret_cast<const int4*>(p)", "(Reinterpret const-int4* p)"),
        ("const_cast<float*>(p)", "(Const float* p)"),
        ("sizeof(int) + sizeof a + sizeof(a)", "(Add (Add (sizeof-type int) (sizeof a)) (sizeof [a]))"),
        ("alignof(double)", "(alignof double)"),
        ("dim3(1, 2)", "(Functional dim3 1 2)"),
        ("std::max(a, ::b)", "(call std::max a ::b)"),
        ("std::numeric_limits<float>::max()", "(call std::numeric_limits<`float>::max )"),
        ("1 + std::size_t(a)", "(Add 1 (Functional size_t a))"),
        ("a < b > (n)", "(Gt (Lt a b) [n])"),
        ("threadIdx.x * blockDim.x", "(Mul threadIdx.x blockDim.x)"),
    ] {
        assert_eq!(expr(text), expected, "{text}");
    }
}

#[test]
fn declarators_read_inside_out() {
    for (text, expected) in [
        ("int *a[3], (*b)[3], c[2][3];", "(var (a int*[3]) (b int[3]*) (c int[3][2]))"),
        ("const int *const *x;", "(var (x const-int*const*))"),
        ("int const y = 1, z(2), w{3};", "(var (y const-int 1) (z const-int 2) (w const-int [3]))"),
        ("float &r = *p;", "(var (r float& (Deref p)))"),
        ("long unsigned int long u;", "(var (u ulonglong))"),
        ("signed char s; unsigned u; short int h;", "(var (s schar)) (var (u uint)) (var (h short))"),
        ("float m[2][2] = {{1, 2}, {3}};", "(var (m float[2][2] [[1 2] [3]]))"),
        ("static const int t[] = {};", "(var (t const-int[] []))"),
        ("__shared__ float s[16][17];", "(var shared (s float[17][16]))"),
        ("extern __shared__ float d[];", "(var shared (d float[]))"),
        ("volatile float *__restrict__ v = p;", "(var (v volatile-float*restrict p))"),
        ("auto q = p;", "(var (q auto p))"),
        ("int (x);", "(var (x int))"),
        ("dim3 g(1, 2);", "(var (g dim3 1 2))"),
        ("float half = 1; half * 2;", "(var (half float 1)) (Mul half 2)"),
        ("typedef float real; real x; (real)a;", "(alias real float) (var (x real)) (C real a)"),
        ("using row = float[4]; row *r;", "(alias row float[4]) (var (r row*))"),
        (
            "typedef int T, *P; { int T = 1; T * 2; } T * x;",
            "(alias T int) (alias P int*) { (var (T int 1)) (Mul T 2) } (var (x T*))",
        ),
        ("Foo x; Foo *y = 0; at::Tensor t = b;", "(var (x Foo)) (var (y Foo* 0)) (var (t at::Tensor b))"),
        ("std::vector<std::vector<int>> v;", "(var (v std::vector<std::vector<`int>>))"),
        ("enum E { A, B = 3 }; E e = A;", "(enum E A (B 3)) (var (e E A))"),
        ("enum class C : unsigned char { X }; C c = C::X;", "(enum-class C : uchar X) (var (c C C::X))"),
        ("typedef enum { P, Q } K; K k = Q;", "(enum K P Q) (var (k K Q))"),
        ("static_assert(sizeof(int) == 4, \"four\");", "(static_assert (Eq (sizeof-type int) 4))"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
}

#[test]
fn statements() {
    for (text, expected) in [
        ("if (a) b; else if (n) { } else ;", "(if a b (if n {  } ;))"),
        ("if (int x = a; x > 1) b;", "(if (var (x int a)) ; (Gt x 1) b)"),
        ("if (int x = a) x;", "(if (var (x int a)) ; x x)"),
        ("if constexpr (true) a;", "(if-constexpr true a)"),
        ("while (a) if (b) break; else continue;", "(while a (if b break continue))"),
        ("do a--; while (a);", "(do (PostDec a) a)"),
        (
            "for (int i = 0, j = 1; i < n; i++, j--) ;",
            "(for (var (i int 0) (j int 1)) (Lt i n) (Comma (PostInc i) (PostDec j)) ;)",
        ),
        ("for (;;) { }", "(for _ _ _ {  })"),
        ("for (a = 0; ; ) ;", "(for (= a 0) _ _ ;)"),
        (
            "switch (a) { case 1: case 2: b; break; default: n; }",
            "(switch a { (case 1 ;) (case 2 b) break (default n) })",
        ),
        ("switch (int x = a; x) { default: ; }", "{ (var (x int a)) (switch x { (default ;) }) }"),
        ("return; return a + 1;", "(return _) (return (Add a 1))"),
        ("[[maybe_unused]] int x; [[fallthrough]];", "(var (x int)) ;"),
        (
            "try { a; } catch (const float4 &e) { e; } catch (int) { } catch (...) { throw; }",
            "(try { a } (catch (e const-float4&) { e }) (catch (_ int) {  }) (catch (...) { (call ::__wb_throw_object ) }))",
        ),
        ("if (a) try { } catch (int *p) { p; } else b;", "(if a (try {  } (catch (p int*) { p })) b)"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
}

#[test]
fn functions_and_their_specifiers() {
    for (text, expected) in [
        (
            "__global__ void __launch_bounds__(256, 2) k(float *__restrict__ out, const float *restrict in, int n) { out[0] = n; }",
            "(fn global (bounds 256 2) k void (out float*restrict) (in const-float*restrict) (n int) { (= (at out 0) n) })",
        ),
        (
            "__device__ __forceinline__ float sq(float x = 1) { return x * x; }",
            "(fn device inline sq float (x float = 1) { (return (Mul x x)) })",
        ),
        ("extern \"C\" __global__ void k(void);", "(fn global extern k void)"),
        ("extern \"C\" { __global__ void k() {} int x; }", "(fn global extern k void {  }) (var (x int))"),
        (
            "static inline __host__ __device__ int f(int a[][3], int b[4]);",
            "(fn device host inline static f int (a int[3]*) (b int*))",
        ),
        (
            "namespace m { namespace { __device__ int g() { return 1; } } } __device__ int h() { return m::g(); }",
            "(namespace m (namespace _ (fn device g int { (return 1) }))) (fn device h int { (return (call m::g )) })",
        ),
        (
            "using namespace at; using std::max; constexpr int N = 4;",
            "(using-namespace at) (using std::max) (var (N const-int 4))",
        ),
        (
            "__constant__ float t[4]; const int k = 3, j = 4;",
            "(var (t float[4])) (var (k const-int 3) (j const-int 4))",
        ),
        ("auto f(int &x) -> int { return x; }", "(fn f int (x int&) { (return x) })"),
        ("[[nodiscard]] __attribute__((pure)) int f(int, float) noexcept;", "(fn f int (_ int) (_ float))"),
        (
            "torch::Tensor f(const at::Tensor& x, std::vector<int64_t> s);",
            "(fn f torch::Tensor (x const-at::Tensor&) (s std::vector<`int64_t>))",
        ),
    ] {
        let expected = expected.replace("(N const-int 4)", "(N int 4)");
        assert_eq!(dump(text), expected, "{text}");
    }
}

#[test]
fn slips_are_named_in_place() {
    for (text, expected) in [
        ("void f() {\n  int x = 1\n  x = 2;\n}", "WB0201 cell:2:12 `;` is missing after this declaration"),
        ("void f(int x) {\n  x = 2\n}", "WB0201 cell:2:8 `;` is missing after this statement"),
        ("void f(int x) {\n  x = 2 3;\n  x = 4;\n}", "WB0201 cell:2:9 `;` is expected after this statement, not `3`"),
        ("void f(int x) {\n  if (x > (2 { x = 1; }\n}", "WB0201 cell:2:13 `)` is missing here"),
        ("void f(int x) { x = (1 + ; }", "WB0201 cell:1:26 an expression is expected here, not `;`"),
        ("void f(int x) { x = a b; }", "WB0201 cell:1:23 `;` is expected after this statement, not `b`"),
        ("void f(int x) { x = #; }", "WB0201 cell:1:21 `#` cannot stand inside a line of code"),
        ("void f() {\n  if (1) {\n  int x;\n}\n", "WB0202 cell:1:10 this `{` is never closed"),
        ("void f() { }\n}\nvoid g() { }", "WB0202 cell:2:1 this `}` closes nothing"),
        ("__global__ foo(int x) { }", "WB0201 cell:1:12 `foo` needs a result type before its name"),
        ("__globl__ void foo(int x) { }", "WB0201 cell:1:1 `__globl__` is no specifier"),
        ("void f() { int for = 1; }", "WB0201 cell:1:16 `for` is a keyword and cannot be the name of a variable"),
        (
            "void f() { for (int i = 0, i < 3; i++) { } }",
            "WB0201 cell:1:30 `;` is expected after this declaration, not `<`",
        ),
        ("void f() { else ; }", "WB0201 cell:1:12 `else` without an `if` before it"),
        ("void f() { int x = 08; }", "WB0003 cell:1:20 `8` is not an octal digit"),
        (
            "void f() { float x = 1f; }",
            "WB0003 cell:1:22 `1f` is not a number: a float needs a point or an exponent, as in `1.f`",
        ),
        ("void f() { 'ab'; }", "WB0003 cell:1:12 `'ab'` holds more than one byte"),
        ("int;", "WB0201 cell:1:1 this declares nothing: a name is missing"),
        ("void f() { long float x; }", "WB0201 cell:1:12 these words name no type together"),
        ("void f() { x = int; }", "WB0201 cell:1:16 a type stands where a value is expected"),
        ("void f(int x, ) { }", "WB0201 cell:1:13 a parameter is missing after this `,`"),
        ("void f() { do { } while (1) }", "WB0201 cell:1:28 `;` is missing after the condition of `do`"),
    ] {
        assert_eq!(fault(text), expected, "{text}");
    }
}

#[test]
fn unrelated_errors_are_all_reported() {
    let text = "void f() {\n int x = ;\n if (x { x = 1 }\n}\nvoid g(int a b) {\n a = ];\n}\nint h(;\nvoid k() { (1; }";
    let lines: Vec<String> =
        faults(text).iter().map(|d| d.split(' ').nth(1).unwrap().split(':').nth(1).unwrap().to_owned()).collect();
    assert_eq!(lines, ["2", "3", "3", "5", "6", "8", "9"]);
}

#[test]
fn a_kernel_inside_an_open_brace_is_read_as_the_next_function() {
    let parsed = parse_text("__global__ void a() {\n if (1) {\n}\n__global__ void b() { }\n");
    assert_eq!(parsed.diags, ["WB0202 cell:1:21 this `{` is never closed"]);
    assert_eq!(parsed.unit.items.len(), 2);
}
