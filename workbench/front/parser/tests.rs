//! Tests of the parser.
use super::*;
use crate::front::Options;
use crate::front::ast::*;
use crate::front::preprocess::preprocess;
use crate::source::SourceMap;

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

struct Dump<'a>(&'a Interner);

impl Dump<'_> {
    fn list<T>(&self, items: &[T], show: impl Fn(&T) -> String) -> String {
        items.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    fn item(&self, item: &Item) -> String {
        match item {
            Item::Function(f) => {
                let mut out = String::from("(fn");
                for (on, word) in [
                    (f.specs.global, "global"),
                    (f.specs.device, "device"),
                    (f.specs.host, "host"),
                    (f.specs.inline, "inline"),
                    (f.specs.is_static, "static"),
                    (f.specs.is_extern, "extern"),
                    (f.specs.constexpr, "constexpr"),
                ] {
                    if on {
                        out += &format!(" {word}");
                    }
                }
                if !f.launch_bounds.is_empty() {
                    out += &format!(" (bounds {})", self.list(&f.launch_bounds, |e| self.expr(e)));
                }
                out += &format!(" {} {}", self.name(f.name.name), self.ty(&f.ret));
                for p in &f.params {
                    let name = p.name.map_or("_", |n| self.name(n.name));
                    out += &format!(" ({name} {}", self.ty(&p.ty));
                    if let Some(default) = &p.default {
                        out += &format!(" = {}", self.expr(default));
                    }
                    out += ")";
                }
                if let Some(body) = &f.body {
                    out += &format!(" {}", self.compound(body));
                }
                out + ")"
            }
            Item::Variables(d) => self.declaration(d),
            Item::Alias(a) => format!("(alias {} {})", self.name(a.name.name), self.ty(&a.ty)),
            Item::Enum(e) => self.enumeration(e),
            Item::StaticAssert(a) => format!("(static_assert {} {:?})", self.expr(&a.cond), a.message),
        }
    }

    fn enumeration(&self, e: &EnumDecl) -> String {
        let head = if e.scoped { "enum-class" } else { "enum" };
        let name = e.name.map_or("_", |n| self.name(n.name));
        let constants = self.list(&e.constants, |(n, v)| match v {
            Some(v) => format!("({} {})", self.name(n.name), self.expr(v)),
            None => self.name(n.name).to_owned(),
        });
        let under = e.underlying.as_ref().map_or(String::new(), |t| format!(" : {}", self.ty(t)));
        format!("({head} {name}{under} {constants})")
    }

    fn declaration(&self, d: &Declaration) -> String {
        let shared = if d.specs.shared { " shared" } else { "" };
        let vars = self.list(&d.vars, |v| {
            let init = v.init.as_ref().map_or(String::new(), |i| format!(" {}", self.init(i)));
            format!("({} {}{init})", self.name(v.name.name), self.ty(&v.ty))
        });
        format!("(var{shared} {vars})")
    }

    fn init(&self, init: &Init) -> String {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::List(entries, _) => format!("[{}]", self.list(entries, |i| self.init(i))),
        }
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.0.name(symbol)
    }

    fn ty(&self, ty: &TypeName) -> String {
        let mut out = match &ty.base {
            BaseType::Named(name) => self.name(*name).to_owned(),
            base => format!("{base:?}").to_lowercase(),
        };
        if ty.is_const {
            out = format!("const-{out}");
        }
        if ty.is_volatile {
            out = format!("volatile-{out}");
        }
        for layer in &ty.layers {
            match layer {
                TypeLayer::Pointer { is_const, is_volatile, restrict } => {
                    out.push('*');
                    out.push_str(if *is_const { "const" } else { "" });
                    out.push_str(if *is_volatile { "volatile" } else { "" });
                    out.push_str(if *restrict { "restrict" } else { "" });
                }
                TypeLayer::Reference { rvalue } => out.push_str(if *rvalue { "&&" } else { "&" }),
                TypeLayer::Array(None) => out.push_str("[]"),
                TypeLayer::Array(Some(n)) => out.push_str(&format!("[{}]", self.expr(n))),
            }
        }
        out
    }

    fn compound(&self, c: &Compound) -> String {
        format!("{{ {} }}", self.list(&c.stmts, |s| self.stmt(s)))
    }

    fn stmt(&self, stmt: &Stmt) -> String {
        let optional = |e: &Option<Expr>| e.as_ref().map_or("_".to_owned(), |e| self.expr(e));
        match &stmt.kind {
            StmtKind::Empty => ";".to_owned(),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Declaration(d) => self.declaration(d),
            StmtKind::Alias(a) => format!("(alias {} {})", self.name(a.name.name), self.ty(&a.ty)),
            StmtKind::Enum(e) => self.enumeration(e),
            StmtKind::StaticAssert(a) => format!("(static_assert {})", self.expr(&a.cond)),
            StmtKind::Compound(c) => self.compound(c),
            StmtKind::If { init, cond, then, els, is_constexpr } => {
                let init = init.as_ref().map_or(String::new(), |s| format!("{} ; ", self.stmt(s)));
                let word = if *is_constexpr { "if-constexpr" } else { "if" };
                let els = els.as_ref().map_or(String::new(), |s| format!(" {}", self.stmt(s)));
                format!("({word} {init}{} {}{els})", self.expr(cond), self.stmt(then))
            }
            StmtKind::While(c, b) => format!("(while {} {})", self.expr(c), self.stmt(b)),
            StmtKind::DoWhile(b, c) => format!("(do {} {})", self.stmt(b), self.expr(c)),
            StmtKind::For { init, cond, step, body } => {
                let init = init.as_ref().map_or("_".to_owned(), |s| self.stmt(s));
                format!("(for {init} {} {} {})", optional(cond), optional(step), self.stmt(body))
            }
            StmtKind::Switch(v, b) => format!("(switch {} {})", self.expr(v), self.stmt(b)),
            StmtKind::Case(v, s) => format!("(case {} {})", self.expr(v), self.stmt(s)),
            StmtKind::Default(s) => format!("(default {})", self.stmt(s)),
            StmtKind::Break => "break".to_owned(),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Return(e) => format!("(return {})", optional(e)),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Literal(l) => match l {
                Literal::Int(v, IntSuffix::Int) => v.to_string(),
                Literal::Int(v, ty) => format!("{v}:{ty:?}"),
                Literal::Float(v) => format!("{v:?}f"),
                Literal::Double(v) => format!("{v:?}"),
                Literal::Char(v) => format!("'{v}'"),
                Literal::Bool(v) => v.to_string(),
                Literal::Nullptr => "nullptr".to_owned(),
            },
            ExprKind::Str(s) => format!("{s:?}"),
            ExprKind::Name(parts) => parts.iter().map(|p| self.name(p.name)).collect::<Vec<_>>().join("::"),
            ExprKind::Unary(op, e) => format!("({op:?} {})", self.expr(e)),
            ExprKind::Binary(op, a, b, _) => format!("({op:?} {} {})", self.expr(a), self.expr(b)),
            ExprKind::Assign(None, a, b) => format!("(= {} {})", self.expr(a), self.expr(b)),
            ExprKind::Assign(Some(op), a, b) => format!("({op:?}= {} {})", self.expr(a), self.expr(b)),
            ExprKind::Conditional(c, a, b) => format!("(? {} {} {})", self.expr(c), self.expr(a), self.expr(b)),
            ExprKind::Call(f, args) => format!("(call {} {})", self.expr(f), self.list(args, |e| self.expr(e))),
            ExprKind::Index(a, i) => format!("(at {} {})", self.expr(a), self.expr(i)),
            ExprKind::Member { object, member, arrow } => {
                format!("{}{}{}", self.expr(object), if *arrow { "->" } else { "." }, self.name(member.name))
            }
            ExprKind::Cast { kind, ty, operand } => {
                let operand = operand.as_ref().map_or("_".to_owned(), |e| self.expr(e));
                format!("({kind:?} {} {operand})", self.ty(ty))
            }
            ExprKind::SizeofType(t) => format!("(sizeof-type {})", self.ty(t)),
            ExprKind::SizeofExpr(e) => format!("(sizeof {})", self.expr(e)),
            ExprKind::AlignofType(t) => format!("(alignof {})", self.ty(t)),
            ExprKind::Paren(e) => format!("[{}]", self.expr(e)),
            ExprKind::Error => "error".to_owned(),
        }
    }
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
        ("float{1}", "(Functional float 1)"),
        ("static_cast<unsigned char>(a + 1)", "(Static uchar (Add a 1))"),
        ("reinterpret_cast<const int4*>(p)", "(Reinterpret const-int4* p)"),
        ("const_cast<float*>(p)", "(Const float* p)"),
        ("sizeof(int) + sizeof a + sizeof(a)", "(Add (Add (sizeof-type int) (sizeof a)) (sizeof [a]))"),
        ("alignof(double)", "(alignof double)"),
        ("dim3(1, 2)", "(call dim3 1 2)"),
        ("std::max(a, ::b)", "(call std::max a b)"),
        ("std::numeric_limits<float>::max()", "(call std::numeric_limits<float>::max )"),
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
        ("dim3 g(1, 2);", "(var (g dim3 (call dim3 1 2)))"),
        ("float half = 1; half * 2;", "(var (half float 1)) (Mul half 2)"),
        ("typedef float real; real x; (real)a;", "(alias real float) (var (x real)) (C real a)"),
        ("using row = float[4]; row *r;", "(alias row float[4]) (var (r row*))"),
        (
            "typedef int T, *P; { int T = 1; T * 2; } T * x;",
            "(alias T int) (alias P int*) { (var (T int 1)) (Mul T 2) } (var (x T*))",
        ),
        ("Foo x; Foo *y = 0; at::Tensor t = b;", "(var (x Foo)) (var (y Foo* 0)) (var (t at::Tensor b))"),
        ("std::vector<std::vector<int>> v;", "(var (v std::vector<std::vector<int>>))"),
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
            "(fn device g int { (return 1) }) (fn device h int { (return (call g )) })",
        ),
        ("using namespace at; using std::max; constexpr int N = 4;", "(var (N const-int 4))"),
        (
            "__constant__ float t[4]; const int k = 3, j = 4;",
            "(var (t float[4])) (var (k const-int 3) (j const-int 4))",
        ),
        ("auto f(int &x) -> int { return x; }", "(fn f int (x int&) { (return x) })"),
        ("[[nodiscard]] __attribute__((pure)) int f(int, float) noexcept;", "(fn f int (_ int) (_ float))"),
        (
            "torch::Tensor f(const at::Tensor& x, std::vector<int64_t> s);",
            "(fn f torch::Tensor (x const-at::Tensor&) (s std::vector<int64_t>))",
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

#[test]
fn unsupported_constructs_are_named_once_and_skipped_whole() {
    let rest = "__global__ void k(int n) { n = 1; }";
    for (text, expected) in [
        ("template <typename T, int N = (3 > 2)> __global__ void t(T *x) { T y = x[0]; }", "1:1 templates"),
        ("template <class T> struct S { T x; };", "1:1 templates"),
        ("struct V { float x, y; V(int) {} };", "1:1 structs"),
        ("typedef struct { int x; } V; __device__ int f(V v);", "1:9 structs"),
        ("union U { int a; float b; };", "1:1 unions"),
        ("void f() { auto g = [=](int x) { return x; }; g(1); }", "1:21 lambdas"),
        ("void f() { try { int x; } catch (...) { } int y; }", "1:12 exceptions"),
        ("void f() { goto end; }", "1:12 `goto`"),
        ("void f() { asm volatile(\"x;\" : \"=r\"(1) : ); }", "1:12 inline PTX"),
        ("void f() { int *p = new int[3]; }", "1:21 `new`"),
        ("void f() { k<<<dim3(1, 2), 3>>>(1, 2); }", "1:13 launches in host"),
        ("void f(int n) { for (int x : n) { x; } }", "1:17 range-based"),
        ("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &f); }", "1:1 `PYBIND11_MODULE`"),
        ("int operator+(int a, int b) { return 1; }", "1:5 operator overloads"),
        ("void f(int (*g)(int)) { }", "1:16 function types"),
        ("void f() { float4 v = {.x = 1}; }", "1:24 designated"),
        ("__device__ __align__(16) float x[4];", "1:12 `__align__`"),
        ("void f() { long double x; }", "1:12 `long double`"),
        ("void f() { auto [a, b] = 1; }", "1:17 structured"),
        ("void f(int n) { n = max<int>(n, 2); }", "1:21 template arguments"),
        ("void f() { while (int x = 1) { } }", "1:12 declarations in the condition"),
    ] {
        let whole = format!("{text}\n{rest}");
        let parsed = parse_text(&whole);
        assert_eq!(parsed.diags.len(), 1, "{text}: {:?}", parsed.diags);
        let diag = &parsed.diags[0];
        assert!(diag.starts_with(&format!("WB0401 cell:{expected}")), "{text}: {diag}");
        let last = parsed.unit.items.last();
        assert!(matches!(last, Some(Item::Function(f)) if f.specs.global), "{text}");
    }
}

#[test]
fn names_of_skipped_declarations_are_remembered() {
    let parsed = parse_text(
        "template <class T> __device__ T g(T x) { return x; }\nstruct V { };\nvoid f() { int y = ; g<int>(y); }",
    );
    let mut names: Vec<&str> = parsed.unit.skipped.iter().map(|&s| parsed.interner.name(s)).collect();
    names.sort_unstable();
    assert_eq!(names, ["V", "g", "y"]);
    assert_eq!(parsed.diags.len(), 3);
}

/// Runs on a stack as small as a worker's may be.
fn on_small_stack<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap()
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
    for _ in 0..3000 {
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
