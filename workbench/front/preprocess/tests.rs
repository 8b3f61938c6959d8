//! Tests of the preprocessor.
use super::*;
use crate::diagnostic::Severity;

/// Preprocesses a text with options; the tokens as text, and the diagnostics as `code line:column message`.
fn run_with(text: &str, options: &Options) -> (String, Vec<String>) {
    let mut sources = SourceMap::new();
    let mut interner = Interner::default();
    let mut diags = Vec::new();
    let file = sources.add("cell", text);
    let tokens = preprocess(&mut sources, file, options, &mut interner, &mut diags).tokens;
    assert_eq!(tokens.iter().filter(|t| t.kind == TokenKind::Eof).count(), 1);
    let mut out = String::new();
    for token in &tokens[..tokens.len() - 1] {
        if token.spaced() && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(token.text(&interner));
    }
    let seen = diags
        .iter()
        .map(|d| {
            let mark = if d.severity == Severity::Warning { "warning " } else { "" };
            format!("{mark}{} {} {}", d.code, sources.place(d.span), d.message)
        })
        .collect();
    (out, seen)
}

fn run(text: &str) -> (String, Vec<String>) {
    run_with(text, &Options::default())
}

fn expand(text: &str) -> String {
    let (out, diags) = run(text);
    assert_eq!(diags, Vec::<String>::new(), "{text}");
    out
}

/// The only diagnostic of a text.
fn fault(text: &str) -> String {
    let (_, diags) = run(text);
    assert_eq!(diags.len(), 1, "{text}: {diags:?}");
    diags.into_iter().next().unwrap()
}

#[test]
fn macros_expand() {
    for (text, expected) in [
        ("#define N 4\nint a[N];", "int a[4];"),
        ("#define E\na E b", "a b"),
        ("#define SQ(x) ((x)*(x))\nSQ(a + 1) SQ (b) SQ", "((a + 1)*(a + 1)) ((b)*(b)) SQ"),
        // Only a parenthesis right after the name makes parameters.
        ("#define F (x)\nF(1)", "(x)(1)"),
        ("#define F(a, b) a-b\nF((1, 2), {3)", "(1, 2)-{3"),
        ("#define Z() 7\nZ() Z( )", "7 7"),
        ("#define ID(x) x\nID(ID)(1) ID(ID(2))", "ID(1) 2"),
        ("#define F(x) <x>\n F\n(\n1\n)", "<1>"),
        // Names in bodies are looked up at the use.
        ("#define A B\n#define B 1\nA\n#undef B\nA", "1 B"),
        // The macro's own name stays, directly and in a circle.
        ("#define x x + 1\nx", "x + 1"),
        ("#define p q + p\n#define q p * 2\np q", "p * 2 + p q + p * 2"),
        ("#define f(a) f(a + 1)\nf(f(0))", "f(f(0 + 1) + 1)"),
        // Indirect expansion of an argument before the call it makes.
        ("#define two a,b\n#define sub(x, y) (x - y)\n#define call(args) sub(args)\ncall(two)", "(a - b)"),
        ("#define EMPTY\n#define L(x) x EMPTY (2)\n#define g(x) [x]\nL(g)", "g (2)"),
    ] {
        assert_eq!(expand(text), expected, "{text}");
    }
}

#[test]
fn circles_of_functions_stop() {
    let text = "#define NIL(x) x\n#define A(x) NIL(B)(x)\n#define B(x) NIL(A)(x)\nA(1)";
    let (out, diags) = run(text);
    assert!(diags.is_empty());
    assert!(out.ends_with("(1)"), "{out}");
}

#[test]
fn hash_makes_strings_of_arguments_as_written() {
    for (text, expected) in [
        ("#define S(x) #x\nS( a  +\n b )", "\"a + b\""),
        ("#define N 3\n#define S(x) #x\n#define XS(x) S(x)\nS(N) XS(N)", "\"N\" \"3\""),
        ("#define S(x) #x\nS(\"a\\n\" '\"')", "\"\\\"a\\\\n\\\" '\\\"'\""),
        ("#define S(...) #__VA_ARGS__\nS(a, b,c) S()", "\"a, b,c\" \"\""),
        ("#define S(x) # x\nS(/* no */ y)", "\"y\""),
    ] {
        assert_eq!(expand(text), expected, "{text}");
    }
}

#[test]
fn double_hash_joins() {
    for (text, expected) in [
        ("#define C(a, b) a ## b\nC(ke, rnel) C(1, f) C(+, +) C(, x) C(x, ) C(,)", "kernel 1f ++ x x"),
        ("#define AB 1\n#define A 2\n#define C(a, b) a##b\n#define XC(a, b) C(a, b)\nC(A, B) XC(A, B)", "1 2B"),
        ("#define C(a, b, c) a##b##c\nC(x, , y) C(1 2, 3, 4 5)", "xy 1 234 5"),
        // The joined token is expanded afterwards; `#` runs first.
        ("#define xy 9\n#define J(a) x ## a\nJ(y)", "9"),
        ("#define K(T) __global__ void add_##T(T *x)\nK(float)", "__global__ void add_float(float *x)"),
        ("#define D #define\n#define hash_hash # ## #\nhash_hash", "##"),
    ] {
        assert_eq!(expand(text), expected, "{text}");
    }
    assert_eq!(fault("#define C(a,b) a##b\nC(+, x)"), "WB0103 cell:2:1 `##` makes no token of `+x`");
    assert_eq!(fault("#define C(a) ## a"), "WB0103 cell:1:14 `##` needs a token on either side");
}

#[test]
fn variadic_macros() {
    for (text, expected) in [
        ("#define P(f, ...) printf(f, __VA_ARGS__)\nP(\"x\", 1, 2)", "printf(\"x\", 1, 2)"),
        (
            "#define P(f, ...) printf(f, ##__VA_ARGS__)\nP(\"x\") P(\"x\", N) P(\"x\", (1, 2), 3)",
            "printf(\"x\") printf(\"x\",N) printf(\"x\",(1, 2), 3)",
        ),
        ("#define N 1\n#define P(f, args...) p(f, ##args)\nP(a) P(a, N, c)", "p(a) p(a,1, c)"),
        ("#define V(f, ...) p(f __VA_OPT__(, [__VA_ARGS__]))\nV(a) V(a, b) V(a, )", "p(a) p(a , [b]) p(a)"),
        ("#define V(...) f(__VA_ARGS__)\nV() V(1,2)", "f() f(1,2)"),
    ] {
        assert_eq!(expand(text), expected, "{text}");
    }
    assert!(fault("#define F(x) __VA_ARGS__").contains("`__VA_ARGS__`"));
}

#[test]
fn conditionals_choose() {
    for (condition, expected) in [
        ("1", true),
        ("0", false),
        ("defined N && N == 4", true),
        ("defined(M) || !defined M", true),
        ("M", false),
        ("M && 1 / M", false),
        ("1 || 1 / 0", true),
        ("N > 3 ? 0 : 1", false),
        ("0 ? 1 / 0 : 5", true),
        ("-1 < 0", true),
        ("-1 < 0u", false),
        ("1 << 40 == 1099511627776", true),
        ("-8 >> 1 == -4", true),
        ("(2 + 3) * 4 % 7 == 6", true),
        ("'a' == 97", true),
        ("true && !false", true),
        ("0x7fffffffffffffff + 1 < 0", true),
        ("SQ(3) == 9", true),
        ("__CUDA_ARCH__ >= 700 && defined(__CUDACC__)", true),
        ("__cplusplus >= 201703L", true),
        ("__has_include(<cmath>) && !__has_include(\"nope.h\")", true),
        ("defined HAS && HAS", true),
        ("not 0 and 1", true),
        ("1 ? 2 ? 0 : 1 : 1", false),
        ("~0 == -1", true),
    ] {
        let head = "#define N 4\n#define SQ(x) ((x)*(x))\n#define HAS defined(N)\n";
        let text = format!("{head}#if {condition}\nyes\n#else\nno\n#endif");
        assert_eq!(expand(&text), if expected { "yes" } else { "no" }, "{condition}");
    }
    assert_eq!(expand("#if 0\na\n#elif 1\nb\n#elif 1 / 0\nc\n#else\nd\n#endif"), "b");
    assert_eq!(expand("#ifdef X\na\n#elifndef X\nb\n#endif"), "b");
    assert_eq!(expand("#if 0\n# if 1\n bad 'x @@ \"\n# else\n# endif\n#nonsense\n#else\nok\n#endif"), "ok");
    assert_eq!(expand("#ifndef A\n#define A\n#ifdef A\nin\n#endif\n#endif\nout"), "in out");
}

#[test]
fn bad_conditions_name_their_place() {
    for (text, expected) in [
        ("#if 1 / 0\n#endif", "WB0101 cell:1:7 division by zero in a condition"),
        ("#if\n#endif", "WB0101 cell:1:1 this conditional needs a condition"),
        ("#if 1.0\n#endif", "WB0101 cell:1:5 a condition holds integers only"),
        ("#if F(1)\n#endif", "WB0101 cell:1:5 no macro `F` that takes arguments is defined"),
        ("#if 1 2\n#endif", "WB0101 cell:1:7 `2` cannot follow a condition"),
        ("x\n  #if 1\ny", "WB0101 cell:2:3 this conditional is never closed"),
        ("#if 0\n/* x */", "WB0101 cell:1:1 this conditional is never closed"),
        ("#else", "WB0101 cell:1:1 `#else` without `#if`"),
        ("#if 1\n#else\n#else\n#endif", "WB0101 cell:3:1 `#else` after `#else`"),
        ("#defin X", "WB0101 cell:1:1 `#defin` is not a directive"),
        ("#define 3", "WB0101 cell:1:9 the name of a macro is expected here"),
        ("#define F(a", "WB0103 cell:1:9 the parameter list of this macro is never closed"),
        ("#define F(x) #y", "WB0103 cell:1:14 `#` must be followed by a parameter of the macro"),
        ("#error stop it, don't", "WB0105 cell:1:1 stop it, don't"),
        ("#pragma frobnicate", "warning WB0101 cell:1:1 unknown pragma `frobnicate` is ignored"),
        ("#define A 1\n#define A 2", "warning WB0103 cell:2:9 macro `A` is defined anew with another replacement"),
    ] {
        assert_eq!(fault(text), expected, "{text}");
    }
    let deep = format!("#if {}1{}\n#endif", "(".repeat(5000), ")".repeat(5000));
    assert!(fault(&deep).contains("nested too deeply"));
    let deep = format!("#if {}1\n#endif", "!".repeat(5000));
    assert!(fault(&deep).contains("nested too deeply"));
}

#[test]
fn uses_must_fit_definitions() {
    assert_eq!(fault("#define F(a, b) a\nint x = F(1);"), "WB0103 cell:2:9 macro `F` takes 2 arguments, 1 given");
    assert_eq!(fault("#define Z() a\nZ(1)"), "WB0103 cell:2:1 macro `Z` takes 0 arguments, 1 given");
    assert_eq!(fault("#define F(a) a\n F(1, (2)"), "WB0103 cell:2:2 the arguments of macro `F` are never closed");
    assert_eq!(
        fault("#define F(a) a\n#define G F(\nG 1"),
        "WB0103 cell:3:1 the arguments of macro `F` are never closed"
    );
}

#[test]
fn constants_and_builtins_need_no_include() {
    assert_eq!(expand("FLT_MIN_EXP __LINE__\n\n__LINE__ __COUNTER__ __COUNTER__"), "(-125) 1 3 0 1");
    assert_eq!(expand("#define L __LINE__\n\nL"), "3");
    assert_eq!(expand("__FILE__ WORKBENCH"), "\"cell\" 1");
    assert_eq!(expand("UINT64_C(5) M_PI"), "5UL 3.14159265358979323846");
    assert_eq!(expand("assert(a)\n#define NDEBUG\n#include <assert.h>\nassert(a)"), "assert(a) ((void)0)");
    assert_eq!(expand("#ifdef INFINITY\n#undef INFINITY\n#define INFINITY 1\n#endif\nINFINITY"), "1");
    assert_eq!(expand("#define M_PI 3\nM_PI"), "3");
    assert_eq!(expand("#pragma unroll 4\nfor _Pragma(\"unroll\") x"), "for x");
}

#[test]
fn headers_are_built_in_or_given() {
    assert_eq!(
        expand("#include <torch/extension.h>\n#include <cuda_runtime.h>\n#include <ATen/cuda/CUDAContext.h>\nx"),
        "x"
    );
    assert_eq!(fault("\n#include \"mine.h\"\nx"), "WB0102 cell:2:10 there is no header \"mine.h\"");
    let mut options = Options::default();
    let header = |options: &mut Options, name: &str, text: &str| {
        options.headers.insert(name.to_owned(), text.to_owned());
    };
    header(&mut options, "once.h", "#pragma once\nonce");
    header(&mut options, "guard.h", "#ifndef G\n#define G\nguard\n#endif");
    header(&mut options, "dir/a.h", "#include \"b.h\"\na");
    header(&mut options, "dir/b.h", "#include \"../once.h\"\nb @");
    let (out, diags) =
        run_with("#include <once.h>\n#include \"guard.h\"\n#include \"guard.h\"\n#include \"dir/a.h\"\nx", &options);
    assert_eq!(out, "once guard b a x");
    assert_eq!(diags, ["WB0001 dir/b.h:2:3 this character starts no token: `@`"]);
    let (out, diags) = run_with("#define H \"once.h\"\n#include H\n#define OPEN <\n#include OPEN once.h>\n", &options);
    assert_eq!((out.as_str(), diags), ("once", vec![]));
    header(&mut options, "self.h", "#include \"self.h\"\n#include \"self.h\"\n");
    let (_, diags) = run_with("#include \"self.h\"", &options);
    assert_eq!(diags.len(), 1);
    assert!(diags[0].contains("64 deep"), "{diags:?}");
    header(&mut options, "l0.h", "");
    for i in 1..30 {
        header(&mut options, &format!("l{i}.h"), &format!("#include \"l{0}.h\"\n#include \"l{0}.h\"", i - 1));
    }
    let (_, diags) = run_with("#include \"l29.h\"", &options);
    assert!(diags.len() == 1 && diags[0].starts_with("WB0104"), "{diags:?}");
}

#[test]
fn options_define_macros() {
    let define = |n: &str, v: &str| (n.to_owned(), v.to_owned());
    let options = Options { defines: vec![define("N", "4"), define("F(x)", "x+N")], ..Options::default() };
    assert_eq!(run_with("N F(1)", &options), ("4 1+4".to_owned(), vec![]));
    let options = Options { defines: vec![define("3", "4")], ..Options::default() };
    assert_eq!(run_with("x", &options).1, ["WB0101 <options>:1:9 the name of a macro is expected here"]);
}

#[test]
fn tokens_of_bodies_stand_at_the_use_and_arguments_where_written() {
    let mut sources = SourceMap::new();
    let mut interner = Interner::default();
    let text = "#define IN(x) (x)\n#define OUT(x) IN(x) + 1\nOUT(ab);";
    let file = sources.add("cell", text);
    let tokens = preprocess(&mut sources, file, &Options::default(), &mut interner, &mut Vec::new()).tokens;
    let seen: Vec<_> = tokens.iter().map(|t| (t.text(&interner), sources.text(t.span))).collect();
    let usage = "OUT(ab)";
    assert_eq!(seen, [("(", usage), ("ab", "ab"), (")", usage), ("+", usage), ("1", usage), (";", ";"), ("", "")]);
}

#[test]
fn expansion_without_end_is_refused_at_the_use() {
    let mut text = String::from("#define A0 x x\n");
    for i in 1..64 {
        text.push_str(&format!("#define A{i} A{0} A{0}\n", i - 1));
    }
    text.push_str("int a; A63");
    assert_eq!(fault(&text), format!("WB0104 cell:65:8 macro expansion produces more than {MAX_TOKENS} tokens"));
    let mut text = String::from("#define A0 x\n");
    for i in 1..5000 {
        text.push_str(&format!("#define A{i} A{}\n", i - 1));
    }
    text.push_str("A4999");
    assert_eq!(fault(&text), "WB0104 cell:5001:1 macros nest more than 200 deep");
}

#[test]
fn nested_arguments_fit_a_small_stack() {
    let depth = 5000;
    let text = format!("#define F(x) x\n{}1{}", "F(".repeat(depth), ")".repeat(depth));
    let nested = std::thread::Builder::new().stack_size(512 << 10).spawn(move || fault(&text)).unwrap();
    assert!(nested.join().unwrap().starts_with("WB0104 cell:2:"));
    let text = format!("#define F(x) x\n{}1{}", "F(".repeat(90), ")".repeat(90));
    assert_eq!(expand(&text), "1");
}

#[test]
fn garbage_is_reported_once_a_run_and_bounded() {
    assert_eq!(fault("int \u{201c}x;"), "WB0001 cell:1:5 this character starts no token: `\u{201c}`");
    assert_eq!(fault("a @@@ b"), "WB0001 cell:1:3 these characters start no token: `@`");
    let (_, diags) = run(&"@ ".repeat(1000));
    assert_eq!(diags.len(), 21);
    assert_eq!(diags[20], "WB0001 cell:1:2001 and 980 more runs of unknown characters");
    assert_eq!(fault("x \"abc\ny"), "WB0002 cell:1:3 this string is never closed");
    assert_eq!(fault("x /* y\n"), "WB0002 cell:1:3 this comment is never closed");
}

#[test]
fn too_long_a_text_is_refused() {
    let (out, diags) = run(&" ".repeat(MAX_SOURCE + 1));
    assert_eq!((out.as_str(), diags.len()), ("", 1));
    assert!(diags[0].starts_with("WB0204"));
}
