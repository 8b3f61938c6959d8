//! Templates, structs, lambdas, namespaces: every production.

use super::*;

fn same(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let (tree, diags) = tree(text);
            (tree != *expected || !diags.is_empty()).then(|| format!("{text}\n  is {tree}\n not {expected}\n{diags:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn same_bodies(cases: &[(&str, &str)]) {
    let whole: Vec<(String, String)> = cases
        .iter()
        .map(|(text, expected)| {
            let head = "(fn f void (a int) (b int) (p float*) (n int)";
            (format!("void f(int a, int b, float *p, int n) {{ {text} }}"), format!("{head} {{ {expected} }})"))
        })
        .collect();
    let cases: Vec<(&str, &str)> = whole.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    same(&cases);
}

#[test]
fn template_heads_and_what_they_declare() {
    same(&[
        ("template <typename T> T f(T x) { return x; }", "(fn <type T> f T (x T) { (return x) })"),
        (
            "template <class T = float, int N = 4, bool = true, typename... R> void f();",
            "(fn <type T=float, int N=4, bool _=true, type... R> f void)",
        ),
        ("template <auto V, int... I> void f();", "(fn <auto V, int... I> f void)"),
        ("template <float (*F)(float)> void f();", "(fn <float((_ float))* F> f void)"),
        (
            "template <template <typename, int> class C = D, class T> struct S;",
            "(struct <template<type _, int _> C=D, type T> S)",
        ),
        (
            "template <int N = (3 > 2), int M = sizeof(int[2 > 1])> void f();",
            "(fn <int N=[(Gt 3 2)], int M=(sizeof-type int[(Gt 2 1)])> f void)",
        ),
        ("template <typename T> using P = T *; P<float> p;", "(alias <type T> P T*) (var (p P<`float>))"),
        (
            "template <typename T> constexpr T pi = T(3.5); float x = pi<float>;",
            "(var <type T> (pi T (Functional T 3.5))) (var (x float pi<`float>))",
        ),
        ("template <> void f<int>(int x) { }", "(fn <> f<`int> void (x int) {  })"),
        (
            "template <typename T> struct S { T x; }; template <typename T> struct S<T *> { }; template <> struct S<int>;",
            "(struct <type T> S { (var (x T)) }) (struct <type T> S<`T*> { }) (struct <> S<`int>)",
        ),
        (
            "template <typename T> struct is_f { static const bool value = false; }; template <> struct is_f<float> { static const bool value = true; };",
            "(struct <type T> is_f { (var (value const-bool false)) }) (struct <> is_f<`float> { (var (value const-bool true)) })",
        ),
        (
            "template <typename T> bool v = false; template <> bool v<int> = true;",
            "(var <type T> (v bool false)) (var <> (v<`int> bool true))",
        ),
        (
            "template <typename T> void f(T x) { } template void f<int>(int); template void f(float); extern template void f<char>(char);",
            "(fn <type T> f void (x T) {  }) (instantiate (fn f<`int> void (_ int))) (instantiate (fn f void (_ float))) (extern-instantiate (fn f<`char> void (_ char)))",
        ),
        ("template <int N> struct S { }; template struct S<3>;", "(struct <int N> S { }) (instantiate S<3>)"),
        (
            "template <typename T, typename = std::enable_if_t<std::is_same<T, float>::value && (sizeof(T) > 2)>> void f(T);",
            "(fn <type T, type _=std::enable_if_t<(And std::is_same<`T,`float>::value [(Gt (sizeof-type T) 2)])>> f void (_ T))",
        ),
        (
            "template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0> void f(T);",
            "(fn <type T, std::enable_if_t<std::is_integral_v<`T>,`int> _=0> f void (_ T))",
        ),
        ("template <typename T, typename T::type N> typename T::type f();", "(fn <type T, T::type N> f T::type)"),
        (
            "template <typename scalar_t, int B> __global__ void __launch_bounds__(B) k(scalar_t *__restrict__ x) { }",
            "(fn global <type scalar_t, int B> (bounds B) k void (x scalar_t*restrict) {  })",
        ),
    ]);
}

#[test]
fn template_arguments_are_told_from_comparisons() {
    same(&[(
        "template <typename T> T g(T x); template <int N> int h(); void f(int a, int b) { g<float>(a) < b; h<3 + 1>(); h<(a > b)>(); a < b > (3); g<g<int>(1)>; }",
        "(fn <type T> g T (x T)) (fn <int N> h int) (fn f void (a int) (b int) { (Lt (call g<`float> a) b) (call h<(Add 3 1)> ) (call h<[(Gt a b)]> ) (Gt (Lt a b) [3]) g<(call g<`int> 1)> })",
    )]);
    let pair = "template <class A, class B = int> struct P { }; template <int N> struct I { };";
    let head = "(struct <type A, type B=int> P { }) (struct <int N> I { })";
    for (text, expected) in [
        ("P<P<int>> a;", "(var (a P<`P<`int>>))"),
        ("P<P<P<int>>> a;", "(var (a P<`P<`P<`int>>>))"),
        ("P<int, P<float *, const char &>> a;", "(var (a P<`int,`P<`float*,`const-char&>>))"),
        ("P<int (float, int), float (*)(int)> a;", "(var (a P<`int((_ float) (_ int)),`float((_ int))*>))"),
        ("I<(8 >> 1)> a; I<sizeof(P<int>)> b;", "(var (a I<[(Shr 8 1)]>)) (var (b I<(sizeof-type P<`int>)>))"),
        ("P<I<3>, unsigned long> *f();", "(fn f P<`I<3>,`ulong>*)"),
        ("int x = sizeof(P<int, int>);", "(var (x int (sizeof-type P<`int,`int>)))"),
        ("std::vector<P<int>> v;", "(var (v std::vector<`P<`int>>))"),
        ("P<Unknown> a; I<N> b;", "(var (a P<Unknown>)) (var (b I<N>))"),
        ("P<decltype(1 + 2), typename X::type> a;", "(var (a P<`decltype((Add 1 2)),`X::type>))"),
    ] {
        same(&[(&format!("{pair} {text}"), &format!("{head} {expected}"))]);
    }
    same_bodies(&[
        ("a < b && n > (3);", "(And (Lt a b) (Gt n [3]))"),
        ("a < b >> n;", "(Lt a (Shr b n))"),
        ("unknown < b; unknown < b > (n);", "(Lt unknown b) (call unknown<b> n)"),
        ("std::min<int>(a, b) < std::max<float>(n, 1);", "(Lt (call std::min<`int> a b) (call std::max<`float> n 1))"),
        ("p->x.get<int>() < 3; p->x < n && a > (b);", "(Lt (call p->x.get<`int> ) 3) (And (Lt p->x n) (Gt a [b]))"),
        ("p->template get<3>(a); p.template f<int>;", "(call p->get<3> a) p.f<`int>"),
        ("std::is_same<int, float>::value ? a : b;", "(? std::is_same<`int,`float>::value a b)"),
    ]);
}

#[test]
fn structs_hold_every_kind_of_member() {
    same(&[
        (
            "struct S { float x, *y; int z[2] = {1, 2}; };",
            "(struct S { (var (x float) (y float*)) (var (z int[2] [1 2])) })",
        ),
        (
            "class C { int a; public: int b; protected: int c; private: static int d; };",
            "(class C { private-(var (a int)) (var (b int)) protected-(var (c int)) private-(var (d int)) })",
        ),
        ("union U { int i; float f; };", "(union U { (var (i int)) (var (f float)) })"),
        (
            "struct S { S() : x(1), y{2} { x = y; } explicit S(int a); S(const S &) = default; S(S &&) = delete; ~S() { } int x, y; };",
            "(struct S { (fn ctor S void :x(1) :y([2]) { (= x y) }) (fn explicit ctor S void (a int)) (fn default ctor S void (_ const-S&)) (fn delete ctor S void (_ S&&)) (fn dtor ~S void {  }) (var (x int) (y int)) })",
        ),
        (
            "struct V { float x; __device__ V operator+(const V &o) const { return {x + o.x}; } V &operator+=(V o); float operator[](int i) const; int operator()(); bool operator<(V) const; V operator-() const; };",
            "(struct V { (var (x float)) (fn device const operator+ V (o const-V&) { (return (Braced _ (Add x o.x))) }) (fn operator+= V& (o V)) (fn const operator[] float (i int)) (fn operator() int) (fn const operator< bool (_ V)) (fn const operator- V) })",
        ),
        (
            "struct S { operator float() const { return 1; } explicit operator bool(); operator const S *() const; };",
            "(struct S { (fn const conversion operator float float { (return 1) }) (fn explicit conversion operator bool bool) (fn const conversion operator const S * const-S*) })",
        ),
        (
            "struct S { unsigned a : 3, b : 4; int : 0; bool c : 1 = true; };",
            "(struct S { (var (a uint :3) (b uint :4)) (var ( int :0)) (var (c bool :1 true)) })",
        ),
        (
            "struct S { using T = float; typedef int I; enum E { A, B }; struct N { T x; }; static_assert(sizeof(T) == 4, \"\"); N n; };",
            "(struct S { (alias T float) (alias I int) (enum E A B) (struct N { (var (x T)) }) (static_assert (Eq (sizeof-type T) 4)) (var (n N)) })",
        ),
        (
            "struct A { void f(); int m; }; struct B : A { }; class D : public B, private A { using A::f; void g() { this->m = m; } };",
            "(struct A { (fn f void) (var (m int)) }) (struct B :public-A { }) (class D :public-B :private-A { private-(using A::f) private-(fn g void { (= this->m m) }) })",
        ),
        (
            "struct S { friend S operator*(S a, S b) { return a; } friend class C; friend void f(S); };",
            "(struct S { (friend (fn operator* S (a S) (b S) { (return a) })) (friend C) (friend (fn f void (_ S))) })",
        ),
        (
            "struct __align__(16) S { float x; } s, *t; struct alignas(8) R { }; struct alignas(float) Q { };",
            "(struct align(16) S { (var (x float)) }) (var (s S) (t S*)) (struct align(8) R { }) (struct align((alignof float)) Q { })",
        ),
        ("struct { int x; } a;", "(var (a (struct _ { (var (x int)) })))"),
        (
            "typedef struct { int x; } T; T t; typedef struct N { N *next; } N, *P;",
            "(struct T { (var (x int)) }) (var (t T)) (struct N { (var (next N*)) }) (alias P N*)",
        ),
        (
            "struct U { union { int i; float f; }; struct { int y; } in; };",
            "(struct U { (union _ { (var (i int)) (var (f float)) }) (var (in (struct _ { (var (y int)) }))) })",
        ),
        ("struct S; struct S *f(struct S s); class C final { };", "(struct S) (fn f S* (s S)) (class C { })"),
        (
            "struct S { static constexpr int N = 4; float d[N]; mutable int m; int f(int a = N) volatile; };",
            "(struct S { (var (N int 4)) (var (d float[N])) (var (m int)) (fn f int (a int = N)) })",
        ),
        (
            "struct S { template <typename T> T get(T x) const { return x + y; } template <int N> void set(); int y; };",
            "(struct S { (fn const <type T> get T (x T) { (return (Add x y)) }) (fn <int N> set void) (var (y int)) })",
        ),
        (
            "struct S { auto f() -> int { return 1; } decltype(auto) g() { return 2; } auto h() const noexcept { return 3; } };",
            "(struct S { (fn f int { (return 1) }) (fn g decltypeauto { (return 2) }) (fn const h auto { (return 3) }) })",
        ),
    ]);
}

#[test]
fn bodies_of_members_see_all_members() {
    same(&[(
        "struct S { int f() { T x = n; return g<3>(x) + n * m; } typedef int T; template <int N> int g(int); int n, m; };",
        "(struct S { (fn f int { (var (x T n)) (return (Add (call g<3> x) (Mul n m))) }) (alias T int) (fn <int N> g int (_ int)) (var (n int) (m int)) })",
    )]);
}

#[test]
fn members_are_defined_outside() {
    same(&[
        (
            "struct S { typedef int T; T f(T); S(); ~S(); operator int(); static int c; S operator+(S); struct N { void g(); }; };\nint S::f(T x) { T y = x; return y; } S::S() : c(1) { } S::~S() { } S::operator int() { return 1; } int S::c = 3; S S::operator+(S o) { return o; } void S::N::g() { }",
            "(struct S { (alias T int) (fn f T (_ T)) (fn ctor S void) (fn dtor ~S void) (fn conversion operator int int) (var (c int)) (fn operator+ S (_ S)) (struct N { (fn g void) }) }) (fn S::f int (x T) { (var (y T x)) (return y) }) (fn ctor S::S void :c(1) {  }) (fn dtor S::~S void {  }) (fn conversion S::operator int int { (return 1) }) (var (S::c int 3)) (fn S::operator+ S (o S) { (return o) }) (fn S::N::g void {  })",
        ),
        (
            "template <typename T> struct S { T f(); template <typename U> void g(U); S(T); static const int n; };\ntemplate <typename T> T S<T>::f() { return T(); } template <typename T> template <typename U> void S<T>::g(U u) { } template <typename T> S<T>::S(T x) { } template <typename T> const int S<T>::n = 3;",
            "(struct <type T> S { (fn f T) (fn <type U> g void (_ U)) (fn ctor S void (_ T)) (var (n const-int)) }) (fn <type T> S<T>::f T { (return (Functional T _)) }) (fn <type T> <type U> S<T>::g void (u U) {  }) (fn ctor <type T> S<T>::S void (x T) {  }) (var <type T> (S<T>::n const-int 3))"
                .replace("S<T>", "S<`T>").as_str(),
        ),
    ]);
}

#[test]
fn operators_and_functions_of_all_kinds() {
    same(&[
        (
            "float2 operator+(float2 a, float2 b); bool operator==(int, int); void operator,(int, int);",
            "(fn operator+ float2 (a float2) (b float2)) (fn operator== bool (_ int) (_ int)) (fn operator, void (_ int) (_ int))",
        ),
        (
            "void f(int (*g)(int), float h(float), int (&r)[3], int &&m) { g(1); }",
            "(fn f void (g int((_ int))*) (h float((_ float))*) (r int[3]&) (m int&&) { (call g 1) })",
        ),
        (
            "typedef float (*fn)(float); using F = int(int, int); fn p[2]; F *q;",
            "(alias fn float((_ float))*) (alias F int((_ int) (_ int))) (var (p fn[2])) (var (q F*))",
        ),
        (
            "int (*f[3])(float); int (*g(int a))[4]; int (h)(int);",
            "(var (f int((_ float))*[3])) (fn g int[4]* (a int)) (fn h int (_ int))",
        ),
        (
            "template <typename... A> void f(A... a) { g(a...); h(sizeof...(A), &a...); }",
            "(fn <type... A> f void (a A...) { (call g a...) (call h (sizeof... A) (AddrOf a)...) })",
        ),
        (
            "template <typename... A> auto f(A &&...a) { return (a + ...) + (... + a) + (0 + ... + a) + (a * ... * 1); }",
            "(fn <type... A> f auto (a A&&...) { (return (Add (Add (Add (fold Add a _) (fold Add _ a)) (fold Add 0 a)) (fold Mul a 1))) })",
        ),
        (
            "template <class... A> void f(A... a) { (g(a), ...); (p << ... << a); (x = ... = a); }",
            "(fn <type... A> f void (a A...) { (fold Comma (call g a) _) (fold Shl p a) (fold = x a) })",
        ),
        (
            "template <class... B> struct D : B... { using B::f; D(B... b) : B(b)... { } };",
            "(struct <type... B> D :public-B... { (using B::f) (fn ctor D void (b B...) :B(b)... {  }) })",
        ),
        (
            "constexpr int f(int a = {}, int b = 3) noexcept(true);",
            "(fn constexpr f int (a int = (Braced _ )) (b int = 3))",
        ),
        ("auto f(int a) -> decltype(a + 1);", "(fn f decltype((Add a 1)) (a int))"),
        ("void f(auto x, const auto &y);", "(fn f void (x auto) (y const-auto&))"),
    ]);
}

#[test]
fn namespaces_and_using() {
    same(&[
        (
            "namespace a::b { struct T { }; } a::b::T x; namespace c = a::b; c::T y;",
            "(namespace a (namespace b (struct T { }))) (var (x a::b::T)) (namespace c=a::b) (var (y c::T))",
        ),
        (
            "inline namespace v { typedef int T; } T x; namespace { typedef int U; } U y;",
            "(inline-namespace v (alias T int)) (var (x T)) (namespace _ (alias U int)) (var (y U))",
        ),
        (
            "namespace n { template <class T> T f(T); } using namespace n; int x = f<int>(3); int y = n::f<int>(3);",
            "(namespace n (fn <type T> f T (_ T))) (using-namespace n) (var (x int (call f<`int> 3))) (var (y int (call n::f<`int> 3)))",
        ),
        (
            "namespace n { struct T { }; } using n::T; void f(T *p) { T * x; ::n::T y; }",
            "(namespace n (struct T { })) (using n::T) (fn f void (p T*) { (var (x T*)) (var (y ::n::T)) })",
        ),
        (
            "namespace n { typedef int T; } namespace n { T x; } void f(int T, int n) { T * n; }",
            "(namespace n (alias T int)) (namespace n (var (x T))) (fn f void (T int) (n int) { (Mul T n) })",
        ),
    ]);
    same_bodies(&[(
        "using namespace std; using std::max; namespace x = a::b; max(a, b);",
        "(using-namespace std) (using std::max) (namespace x=a::b) (call max a b)",
    )]);
}

#[test]
fn lambdas_and_launches() {
    same_bodies(&[
        (
            "auto g = [=](int x) { return x + a; }; g(1);",
            "(var (g auto (lambda [=] (x int) { (return (Add x a)) }))) (call g 1)",
        ),
        (
            "[&, a, &b, c = n, &d = b, this]() mutable -> float { return c; }();",
            "(call (lambda [& =a &b =c:n &d:b &this] mutable -> float { (return c) }) )",
        ),
        (
            "auto h = [] __device__ (auto x, float y = 1) { };",
            "(var (h auto (lambda [] device (x auto) (y float = 1) {  })))",
        ),
        (
            "f([*this] { }, []<typename T>(T x) { return T(x); });",
            "(call f (lambda [=this] {  }) (lambda []<type T> (x T) { (return (Functional T x)) }))",
        ),
        (
            "k<<<dim3(1, 2), 3>>>(p, n); k<<<1, 2, 3 * sizeof(float), s>>>();",
            "(launch k [(Functional dim3 1 2) 3] p n) (launch k [1 2 (Mul 3 (sizeof-type float)) s] )",
        ),
        (
            "k<<<(n > a), b>>>(); k<<<(n + 255) / 256, 256>>>(p);",
            "(launch k [[(Gt n a)] b] ) (launch k [(Div [(Add n 255)] 256) 256] p)",
        ),
    ]);
    same(&[(
        "template <typename T, int N> __global__ void k(T *p); void f(float *p) { k<float, 4><<<1, 2>>>(p); k<std::vector<int>, 1><<<1, 1>>>(p); }",
        "(fn global <type T, int N> k void (p T*)) (fn f void (p float*) { (launch k<`float,4> [1 2] p) (launch k<std::vector<`int>,1> [1 1] p) })",
    )]);
}

#[test]
fn statements_of_cpp() {
    same_bodies(&[
        (
            "for (auto x : p) a += x; for (const auto &[k, v] : n) ; for (int i = 0; int x : {1, 2}) ;",
            "(for (x auto) : p (Add= a x)) (for ([k v] const-auto&) : n ;) (for (var (i int 0)) ; (x int) : (Braced _ 1 2) ;)",
        ),
        (
            "auto [x, y] = f(a); const auto &[z] = p; x + y;",
            "(bind auto [x y] (call f a)) (bind const-auto& [z] p) (Add x y)",
        ),
        (
            "if (int x = a; x > 1) b; if (int x = a) b; if (int x = a; int y = x) b;",
            "(if (var (x int a)) ; (Gt x 1) b) (if (var (x int a)) ; x b) (if (var (x int a)) ; (var (y int x)) ; y b)",
        ),
        ("if constexpr (sizeof(int) == 4) a; else b;", "(if-constexpr (Eq (sizeof-type int) 4) a b)"),
        ("while (int x = a) b;", "(while true { (var (x int a)) (if (Not x) break) b })"),
        (
            "struct L { int x; L(int a) : x(a) { } }; L l(3); L m{4}, k = {5}; l = {6};",
            "(struct L { (var (x int)) (fn ctor L void (a int) :x(a) {  }) }) (var (l L 3)) (var (m L [4]) (k L [5])) (= l (Braced _ 6))",
        ),
        ("f({1, 2}, {}); return {a, {b}};", "(call f (Braced _ 1 2) (Braced _ )) (return (Braced _ a [b]))"),
        (
            "float4 v = {.x = 1, .y{2}}; float4{1, 2, 3, 4}.x; std::vector<int>{a, b};",
            "(var (v float4 [.x=1 .y=[2]])) (Braced float4 1 2 3 4).x (Braced std::vector<`int> a b)",
        ),
        (
            "decltype(a) x = b; decltype(auto) y = a; (decltype(a))b; using T = decltype(p[0]);",
            "(var (x decltype(a) b)) (var (y decltypeauto a)) (C decltype(a) b) (alias T decltype((at p 0)))",
        ),
        (
            "(float (*)(int))p; (std::vector<int> &)a; (const float4 *)p; reinterpret_cast<float4 *>(p)[a];",
            "(C float((_ int))* p) (C std::vector<`int>& a) (C const-float4* p) (at (Reinterpret float4* p) a)",
        ),
        (
            "[[maybe_unused]] int x; __attribute__((unused)) int y; alignas(16) float z[4]; __align__(8) int w;",
            "(var (x int)) (var (y int)) (var align(16) (z float[4])) (var align(8) (w int))",
        ),
        ("typename T::type x = a; typename T::type(b);", "(var (x T::type a)) (Functional T::type b)"),
        ("1'000'000; 0b1010; 0xFFu; R\"(a\\n)\";", "1000000 10 255:UInt \"a\\\\n\""),
        (
            "noexcept(f(a)); alignof(float4); sizeof(float4{}); this->x;",
            "(noexcept (call f a)) (alignof float4) (sizeof [(Braced float4 )]) this->x",
        ),
        ("operator+(a, b); a.operator+(b); ::f(a);", "(call operator+ a b) (call a.operator+ b) (call ::f a)"),
    ]);
}

#[test]
fn slips_in_templates_and_structs_are_named_once() {
    let cases = [
        ("template <typename T void f(T x) { }", "WB0201 cell:1:22 `>` is expected here, not `void`"),
        ("struct S { int x }; int y;", "WB0201 cell:1:17 `;` is missing after this member"),
        ("struct S { int x; } \nint y;", "WB0201 cell:1:20 `;` is missing after this declaration of a type"),
        ("template <class T> struct S { }; S<int x;", "WB0201 cell:1:40 `>` is expected here, not `x`"),
        ("struct S { operator+(S s); };", "WB0201 cell:1:12 an operator needs a result type before it"),
        (
            "void f() { k<<<1>>>(2); }",
            "WB0201 cell:1:13 a launch takes a grid and a block, then bytes and a stream; here are 1",
        ),
        ("void f() { k<<<1, 2>(3); }", "WB0201 cell:1:20 `>>>` is expected here, not `>`"),
        (
            "void f() { auto g = [](int x) return x; }",
            "WB0201 cell:1:31 the body of the lambda is expected here, not `return`",
        ),
        (
            "struct S { void f() { int x = ; } int g() { return 1; } };",
            "WB0201 cell:1:31 an expression is expected here, not `;`",
        ),
        ("template <int N> void f() { int x = ; }", "WB0201 cell:1:37 an expression is expected here, not `;`"),
        ("struct S : { };", "WB0201 cell:1:12 the name of a base is expected here, not `{`"),
        ("template void f<int>(int) { }", "WB0201 cell:1:1 `template` without `<>` instantiates, and takes no body"),
        ("void f() : x(1) { }", "WB0201 cell:1:10 only a constructor has initialisers for members"),
        ("void f() { {1, 2}; }", "WB0201 cell:1:17 `;` is missing after this statement"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let diags = faults(text);
            let right = diags.len() == 1 && diags[0].starts_with(expected);
            (!right).then(|| format!("{text}\n  gives {diags:#?}\n  not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
