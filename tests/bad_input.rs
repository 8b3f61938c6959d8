//! The table of bad inputs: any text that a person may type ends in the named error with a place in the text, and the next call works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use workbench::prelude::*;
use workbench::runtime::FaultKind;

/// The codes and places of a text's errors.
fn errors(text: &str) -> Vec<(String, String)> {
    match wb::compile(text) {
        Ok(_) => Vec::new(),
        Err(Error::Compile { diagnostics, sources }) => diagnostics
            .iter()
            .filter(|d| d.is_error())
            .map(|d| {
                let place =
                    sources.line_column(d.span).map_or("none".to_owned(), |p| format!("{}:{}", p.line, p.column));
                (d.code.id().to_owned(), place)
            })
            .collect(),
        Err(other) => panic!("{other}"),
    }
}

fn assert_error(text: &str, code: &str, place: &str) {
    let found = errors(text);
    assert!(
        found.iter().any(|(c, p)| c == code && p == place),
        "{code} at {place} is missing from {found:?} of:\n{}",
        &text[..text.len().min(300)]
    );
    works();
}

/// Checks that a small kernel still compiles and runs.
fn works() {
    let program = wb::compile("__global__ void f(int* x) { x[threadIdx.x] = threadIdx.x; }").expect("compiles");
    let mut x = array![7, 7, 7];
    program.kernel("f").expect("is there").launch(1, 3).arg(&mut x).run().expect("runs");
    assert_eq!(x, array![0, 1, 2]);
}

fn kernel(body: &str) -> String {
    format!("__global__ void f(int* x, int n) {{\n{body}\n}}\n")
}

#[test]
fn lexical_garbage() {
    assert_error(&kernel("x[0] = 1 @ 2;"), "WB0001", "2:10");
    assert_error("\u{1}\u{2}\u{7f}", "WB0001", "1:1");
    assert_error(&kernel("x[0] = 'a;"), "WB0002", "2:8");
    assert_error(&kernel("printf(\"no end);"), "WB0002", "2:8");
    assert_error("__global__ void f() {} /* no end", "WB0002", "1:24");
    assert_error(&kernel("x[0] = 12345678901234567890123;"), "WB0003", "2:8");
    assert_error(&kernel("x[0] = 0x;"), "WB0003", "2:8");
    assert_error(&kernel("x[0] = 1.0q;"), "WB0003", "2:8");
}

#[test]
fn unbalanced_braces_at_the_end_of_the_text() {
    assert_error("__global__ void f(int* x) {\n    if (x[0]) {\n        x[0] = 1;\n", "WB0202", "1:27");
    assert_error("__global__ void f(int* x) {\n    x[0] = 1;\n}\n}\n", "WB0202", "4:1");
}

#[test]
fn an_unknown_name_comes_with_the_nearest_known_one() {
    let Err(error) = wb::compile(&kernel("int value = 1; x[0] = vlaue;")) else { panic!("it compiled") };
    let text = error.to_string();
    assert!(text.contains("`vlaue`") && text.contains("`value`"), "{text}");
    works();
}

#[test]
fn a_literal_that_is_never_closed_is_the_only_error() {
    for (text, place) in [
        (kernel("x[0] = 1; /* no end\n x[1] = 2;"), "2:11"),
        ("__global__ void f(int* x) { printf(\"no end); }".to_owned(), "1:36"),
        ("__global__ void f(int* x) { x[0] = 'a; }".to_owned(), "1:36"),
        (kernel("printf(R\"(no end);\n x[0] = 1;"), "2:8"),
        (kernel("if (n) { /* no end"), "2:10"),
    ] {
        let found = errors(&text);
        assert_eq!(found[0], ("WB0002".to_owned(), place.to_owned()), "{text}\n{found:?}");
        assert!(found.iter().all(|(code, _)| code != "WB0202"), "{text}\n{found:?}");
    }
    let Err(error) = wb::compile(&kernel("printf(R\"ab(no end);")) else { panic!("it compiled") };
    assert!(error.to_string().contains("close it with `)ab\"`"), "{error}");
    works();
}

#[test]
fn a_misspelt_statement_is_named_and_read_as_meant() {
    for (line, word, column) in [
        ("retrun;", "return", 1),
        ("if (n) braek;", "break", 8),
        ("for (;;) { if (n) contineu; }", "continue", 19),
        ("whlie (n > 0) { n--; }", "while", 1),
        ("fro (int i = 0; i < n; i++) { x[i] = i; }", "for", 1),
        ("if (n) x[0] = 1; else { } switc (n) { default: break; }", "switch", 27),
        ("if (n) { x[0] = 1; } esle { x[0] = 2; }", "else", 22),
        ("if (n) x[0] = 1; esle x[0] = 2;", "else", 18),
        ("if (n) x[0] = 1; esle if (n > 2) { x[0] = 2; } else { }", "else", 18),
        ("switch (n) { case 1: break; defualt: x[0] = 2; }", "default", 29),
    ] {
        let looped = if word == "break" { format!("for (;;) {line}") } else { line.to_owned() };
        let column = column + looped.len() - line.len();
        let text = kernel(&looped);
        let found = errors(&text);
        let wanted = ("WB0301".to_owned(), format!("2:{column}"));
        assert_eq!(found, [wanted], "{line}");
        let Err(error) = wb::compile(&text) else { panic!("it compiled") };
        assert!(error.to_string().contains(&format!("write `{word}`")), "{error}");
    }
    let device = |body: &str| format!("__device__ int g(int a) {{ {body} }}\n{}", kernel("x[0] = g(n);"));
    for body in ["retrun a;", "retrun 1;", "if (a) retunr a; return 2;", "retrun a + 1;"] {
        let found = errors(&device(body));
        assert!(found.len() == 1 && found[0].0 == "WB0301", "{body}: {found:?}");
    }
    // Declared names keep their meaning.
    assert_eq!(errors(&kernel("int brake = 1; brake; x[0] = brake;")), []);
    let text = format!("__device__ int fort(int a) {{ return a; }}\n{}", kernel("x[0] = fort(n);"));
    assert_eq!(errors(&text), []);
    works();
}

#[test]
fn an_error_in_an_expansion_names_the_macro() {
    let text = "#define ADD(a, b) a + b\n#define TWICE(v) ADD(v, w)\n#define N M\n__global__ void f(int* x, int* y) {\n\
                x[0] = ADD(x, y);\nx[1] = TWICE(1);\nx[2] = N;\nx[3] = z;\n}\n";
    let Err(Error::Compile { diagnostics, sources }) = wb::compile(text) else { panic!("it compiled") };
    let found: Vec<(String, Vec<(String, String)>)> = diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| {
            let macros = d.related.iter().filter(|(_, label)| label.contains("macro"));
            let related = macros.map(|(span, label)| (sources.place(*span), label.clone())).collect();
            (sources.place(d.span), related)
        })
        .collect();
    let note = |place: &str, name: &str| {
        let file = sources.place(diagnostics[0].span);
        let file = file.split(':').next().unwrap_or("").to_owned();
        vec![(format!("{file}:{place}"), format!("in expansion of macro `{name}`"))]
    };
    let related: Vec<_> = found.into_iter().map(|(_, related)| related).collect();
    assert_eq!(related, [note("1:9", "ADD"), note("2:9", "TWICE"), note("3:9", "N"), vec![]]);
}

#[test]
fn the_address_of_a_local_variable_is_not_returned() {
    for (result, body, what) in [
        ("int*", "int a[3] = {1, 2, 3}; return a;", "`a`"),
        ("int*", "int v = k; return &v;", "`v`"),
        ("int*", "return &k;", "`k`"),
        ("int*", "int a[3] = {1, 2, 3}; return a + k;", "`a`"),
        ("int*", "int a[3] = {1, 2, 3}; return &a[k];", "`a`"),
        ("const int*", "int a[3] = {1, 2, 3}; return k ? p : a + 1;", "`a`"),
        ("int*", "float a[3] = {1, 2, 3}; return (int*)a;", "`a`"),
        ("int&", "int v = k; return v;", "`v`"),
        ("int&", "int a[2] = {k, k}; return a[1];", "`a`"),
        ("const int&", "return k + 1;", "a value"),
        ("int&", "struct { int u, v; } s = {k, k}; return s.v;", "`s`"),
        ("int*", "struct { int u, v[2]; } s = {k, {k, k}}; return s.v + k;", "`s`"),
    ] {
        let text = format!("__device__ {result} g(int* p, int k) {{ {body} }}\n{}", kernel("x[0] = 1;"));
        let Err(error) = wb::compile(&text) else { panic!("it compiled: {body}") };
        let message = error.to_string();
        assert!(message.contains("WB0317") && message.contains(what), "{body}: {message}");
    }
    for (result, body) in [
        ("int*", "return p;"),
        ("int*", "return p + k;"),
        ("int*", "return &p[k];"),
        ("int&", "return *p;"),
        ("int&", "struct { int* at; } s = {p}; return s.at[k];"),
        ("int&", "int& r = p[k]; return r;"),
        ("int*", "int& r = p[k]; return &r;"),
        ("int", "int a[3] = {1, 2, 3}; return a[k];"),
        ("long", "int a[3] = {1, 2, 3}; return &a[k] - a;"),
    ] {
        let text = format!("__device__ {result} g(int* p, int k) {{ {body} }}\n{}", kernel("x[0] = 1;"));
        assert_eq!(errors(&text), [], "{body}");
    }
    works();
}

#[test]
fn a_kernel_that_expands_without_end() {
    // Each macro doubles the next one's text: 2^40 tokens if nothing stopped it.
    let mut text = "#define A0 1\n".to_owned();
    for i in 1..=40 {
        text.push_str(&format!("#define A{i} A{} + A{}\n", i - 1, i - 1));
    }
    text.push_str(&kernel("x[0] = A40;"));
    let start = Instant::now();
    assert_error(&text, "WB0104", "43:8");
    assert!(start.elapsed() < Duration::from_secs(10));
    // A macro that names itself is not expanded again: it is an unknown name.
    assert_error(&format!("#define X X + 1\n{}", kernel("x[0] = X;")), "WB0301", "3:8");
}

#[test]
fn a_token_that_doubles_without_end() {
    // `##` doubles one token's length, `#` its backslashes: 2^40 bytes in a handful of tokens if nothing stopped them.
    for what in ["A39(1)", "A39(ab)"] {
        let mut text = "#define A0(x) x\n".to_owned();
        for i in 1..=40 {
            text.push_str(&format!("#define A{i}(x) A{}(x##x)\n", i - 1));
        }
        text.push_str(&kernel(&format!("x[0] = {what};")));
        let start = Instant::now();
        assert_error(&text, "WB0104", "43:8");
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    let mut text = "#define S(x) #x\n#define A0(x) S(x)\n".to_owned();
    for i in 1..=40 {
        text.push_str(&format!("#define A{i}(x) A{}(S(x))\n", i - 1));
    }
    text.push_str(&kernel("const char* s = A39(1);"));
    let start = Instant::now();
    assert_error(&text, "WB0104", "44:17");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_long_token_used_again_and_again() {
    // 1,000,000 uses of a name of 100,000 bytes are few tokens and much text.
    let mut text = format!("#define A0 {} +\n", "y".repeat(100_000));
    for i in 1..=20 {
        text.push_str(&format!("#define A{i} A{} A{}\n", i - 1, i - 1));
    }
    text.push_str(&kernel("x[0] = A20 1;"));
    assert_error(&text, "WB0104", "23:8");
}

#[test]
fn messages_do_not_repeat_a_long_token() {
    let long = "1".repeat(60_000);
    for (text, code) in [
        (kernel(&format!("x[0] = {long};")), "WB0003"),
        (kernel(&format!("x[0] = y{long};")), "WB0301"),
        (format!("#define P(a, b) a##b\n{}", kernel(&format!("x[0] = P({long}, +);"))), "WB0103"),
    ] {
        let Err(error) = wb::compile(&text) else { panic!("it compiled") };
        let message = error.to_string();
        assert!(message.contains(code) && message.contains('…'), "{}", &message[..message.len().min(500)]);
        assert!(message.len() < 3000, "{} bytes", message.len());
    }
    works();
}

#[test]
fn deeply_nested_expressions() {
    let deep = format!("x[0] = {}1{};", "(".repeat(10_000), ")".repeat(10_000));
    let found = errors(&kernel(&deep));
    assert_eq!(found.iter().filter(|(c, _)| c == "WB0203").count(), 1, "{found:?}");
    works();
    for (open, close) in [("{", "}"), ("if (n) {", "}"), ("for (;;) {", "}"), ("while (n) { if (n) {", "}}")] {
        let deep = format!("{}x[0] = 1;{}", open.repeat(5_000), close.repeat(5_000));
        assert!(errors(&kernel(&deep)).iter().any(|(c, _)| c == "WB0203"));
    }
    for op in ["-", "!", "~", "*", "&", "++", "(int)", "sizeof "] {
        assert!(!errors(&kernel(&format!("x[0] = {}n;", op.repeat(20_000)))).is_empty());
    }
    let chain = format!("x[0] = n{};", " + n".repeat(50_000));
    let _ = errors(&kernel(&chain));
    let ternary = format!("x[0] = {}1;", "n ? 2 : ".repeat(20_000));
    let _ = errors(&kernel(&ternary));
    let els = format!("{} x[0] = 1;", "if (n == 1) x[0] = 2; else ".repeat(20_000));
    let _ = errors(&kernel(&els));
    let index = format!("x[0] = {}0{};", "x[".repeat(10_000), "]".repeat(10_000));
    let _ = errors(&kernel(&index));
    let pointer = format!("int {}p;", "*".repeat(20_000));
    let _ = errors(&kernel(&pointer));
    let list = format!("int a[1] = {}1{};", "{".repeat(20_000), "}".repeat(20_000));
    let _ = errors(&kernel(&list));
    works();
}

#[test]
fn a_text_of_a_megabyte() {
    let mut body = String::new();
    let mut i = 0;
    while body.len() < 1_000_000 {
        body.push_str(&format!("__device__ int f{i}(int a) {{ return a * {i} + {}; }}\n", i % 7));
        i += 1;
    }
    body.push_str("__global__ void last(int* x) { x[0] = f3(10); }\n");
    let program = wb::compile(&body).expect("compiles");
    let mut x = array![0];
    program.kernel("last").expect("is there").launch(1, 1).arg(&mut x).run().expect("runs");
    assert_eq!(x[0], 33);
    works();
}

/// Statements of an ordinary kernel, `n` bytes or a little more.
fn statements(n: usize) -> String {
    let mut body = "int i = blockIdx.x * blockDim.x + threadIdx.x; int acc = i; float s = 0.0f;\n".to_owned();
    for k in 0.. {
        if body.len() >= n {
            break;
        }
        body.push_str(&format!(
            "acc = acc * {} + i;\nif (acc > {k}) s += x[i % n] * {k}.5f;\nx[(i + {k}) % n] = s - acc;\n",
            k % 7 + 1
        ));
    }
    body
}

#[test]
fn a_megabyte_of_real_statements() {
    // Kernels of ordinary size: all of them are compiled.
    let body = statements(2_000);
    let mut text = String::new();
    let mut kernels = 0;
    while text.len() < 1_000_000 {
        text.push_str(&format!("__global__ void f{kernels}(int* x, int n) {{\n{body}}}\n"));
        kernels += 1;
    }
    let start = Instant::now();
    let program = wb::compile(&text).expect("compiles");
    assert_eq!(program.kernel_names().len(), kernels);
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());

    // A kernel of tens of kilobytes is compiled and right; one of a megabyte is refused, by name and quickly.
    let large = wb::compile(&kernel(&(statements(60_000) + "if (i == 0) x[0] = 42;"))).expect("compiles");
    let mut x = array![1, 2, 3];
    large.kernel("f").expect("is there").launch(1, 1).arg(&mut x).arg(3).run().expect("runs");
    assert_eq!(x[0], 42);
    let start = Instant::now();
    match wb::compile(&kernel(&statements(1_000_000))) {
        Err(Error::Compile { diagnostics, .. }) => {
            assert_eq!(diagnostics.len(), 1);
            assert!(diagnostics[0].message.contains("`f` is too large to compile"), "{:?}", diagnostics[0]);
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it compiled, so the bound moved: run it here"),
    }
    // As many values alive at once as statements: the slowest case for the code generator.
    let entangled: String = (0..15_000).map(|k| format!("int v{k} = x[{k}]; if (n > {k}) v{k} += n;\n")).collect();
    let sum: String = (0..15_000).map(|k| format!("x[0] += v{k};\n")).collect();
    assert_error(&kernel(&(entangled + &sum)), "WB0502", "1:1");
    // Loops, one after the other.
    let loops: String = (0..20_000).map(|k| format!("for (int j = 0; j < n; j++) x[j] += {k};\n")).collect();
    assert!(!errors(&kernel(&loops)).is_empty());
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
    works();
}

#[test]
fn a_million_lines_of_printf() {
    let program =
        wb::compile("__global__ void f() { printf(\"%d %d\\n\", blockIdx.x, threadIdx.x); }").expect("compiles");
    let report = program.kernel("f").expect("is there").launch(1000, 1000).run().expect("runs");
    assert_eq!(report.output.len() as u64 + report.dropped, 1_000_000);
    assert!(report.dropped > 0 && !report.output.is_empty());
    assert!(report.text().ends_with(&format!("[{} more printf calls were dropped]\n", report.dropped)));
    works();
}

#[test]
fn an_endless_loop_interrupted_from_another_thread() {
    struct Flag(AtomicBool);
    impl Interrupt for Flag {
        fn interrupted(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
    let program = wb::compile("__global__ void spin(int* x) { while (true) { x[0] = x[0] + 1; } }").expect("compiles");
    let flag = Flag(AtomicBool::new(false));
    let mut x = array![0];
    let started = Instant::now();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            flag.0.store(true, Ordering::Relaxed);
        });
        program.kernel("spin").expect("is there").launch(4, 64).arg(&mut x).interrupt(&flag).run()
    });
    let Err(Error::Fault(fault)) = result else { panic!("no fault") };
    assert_eq!(fault.kind, FaultKind::Interrupted);
    // The promise is 100 ms after the flag; a loaded machine gets more time here.
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
    works();
}

#[test]
fn wrong_arguments_name_parameter_and_types() {
    let program =
        wb::compile("__global__ void f(const float* a, float* out, int n) { out[0] = a[0] * n; }").expect("compiles");
    let f = program.kernel("f").expect("is there");
    let (a, mut out) = (array![1.0f64], array![0.0f32]);
    let message = |r: Result<Report>| match r {
        Err(Error::Argument(m)) => m,
        other => panic!("{other:?}"),
    };
    let m = message(f.launch(1, 1).arg(&a).arg(&mut out).arg(1i32).run());
    assert!(m.contains("`a`") && m.contains("float64") && m.contains("try a.astype(np.float32)"), "{m}");
    let a = array![1.0f32];
    let m = message(f.launch(1, 1).arg(&a).arg(&mut out).arg(1.5f32).run());
    assert!(m.contains("`n`") && m.contains("int") && m.contains("float"), "{m}");
    let m = message(f.launch(1, 1).arg(&a).arg(&mut out).run());
    assert!(m.contains("takes 3 arguments"), "{m}");
    let matrix = Array2::<f32>::zeros((4, 4));
    let m = message(f.launch(1, 1).arg(&matrix.t().slice(ndarray::s![.., ..2])).arg(&mut out).arg(1i32).run());
    assert!(m.contains("`a`") && m.contains("contiguous"), "{m}");
    works();
}

#[test]
fn an_index_that_would_wrap_around_is_out_of_bounds() {
    // In bytes every one of these is a small number modulo 2^64.
    let indices = [1i64 << 62, -(1 << 62), (1 << 62) + 1, i64::MIN, i64::MIN + 2, 3 << 62, 1 << 61, 1 << 46];
    for (body, places) in [
        ("x[i] = 1;", 1),
        ("if (i != 3) x[i] = x[0];", 1),
        ("int* p = x; for (int k = 0; k < 4; k++) p += i / 4; *p = 1;", 0),
        ("int a[4]; a[0] = 1; a[i] = 2; x[0] = a[0];", 1),
        ("for (long long k = i; k != 0; k = 0) x[k + threadIdx.x] = 1;", 1),
        ("(x + 1)[i] = 1;", 0),
        ("size_t k = i; x[k] = 1;", 1),
    ] {
        let program = wb::compile(&format!("__global__ void f(int* x, long long i) {{ {body} }}")).expect("compiles");
        let kernel = program.kernel("f").expect("is there");
        for index in indices {
            let mut x = array![7, 7, 7, 7];
            let Err(Error::Fault(fault)) = kernel.launch(1, 1).arg(&mut x).arg(index).run() else {
                panic!("no fault at {index} in {body}")
            };
            assert_eq!(fault.kind, FaultKind::OutOfBoundsWrite, "{index} in {body}");
            if places == 1 {
                assert!(fault.detail.starts_with(&format!("writes index {index} of ")), "{body}: {}", fault.detail);
            }
            assert_eq!(x, array![7, 7, 7, 7]);
        }
        let mut x = array![7, 7, 7, 7];
        kernel.launch(1, 1).arg(&mut x).arg(2i64).run().expect("is in bounds");
    }
    let constant = wb::compile("__global__ void f(int* x) { x[1LL << 62] = 1; }").expect("compiles");
    let mut x = array![7];
    let Err(Error::Fault(fault)) = constant.kernel("f").expect("is there").launch(1, 1).arg(&mut x).run() else {
        panic!("no fault")
    };
    assert_eq!(fault.detail, "writes index 4611686018427387904 of `x`, which has 1 element (int)");
}

#[test]
fn a_shared_borrow_is_never_written() {
    let program = wb::compile("__global__ void f(float* x) { x[0] = 5.0f; }").expect("compiles");
    let x = array![1.0f32];
    match program.kernel("f").expect("is there").launch(1, 1).arg(&x).run() {
        Err(Error::Fault(fault)) => assert_eq!(fault.kind, FaultKind::ReadOnlyWrite),
        other => panic!("{other:?}"),
    }
    assert_eq!(x[0], 1.0);
    works();
}

#[test]
fn several_unrelated_errors_are_all_reported() {
    let text = "__global__ void a(float* x) { x[0] = one; }\n__global__ void b(float* x) { x = 3.5; }\n\
                __global__ void c(float* x) { x[0] = 1.0f }\n__global__ int d(float* x) { return 1; }\n";
    let found = errors(text);
    for line in ["1:", "2:", "3:", "4:"] {
        assert!(found.iter().any(|(_, p)| p.starts_with(line)), "line {line} is missing from {found:?}");
    }
}

#[test]
fn random_text_never_ends_the_process() {
    // Pieces of the language in random order: most do not compile, none may panic, hang or overflow the stack.
    let pieces = [
        "__global__ ",
        "void ",
        "f",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "int ",
        "float* ",
        "x",
        "n",
        "=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "<",
        ">",
        "<<<",
        ">>>",
        ";",
        ",",
        "if ",
        "else ",
        "for ",
        "while ",
        "do ",
        "switch ",
        "case ",
        "default",
        ":",
        "?",
        "return ",
        "break;",
        "continue;",
        "1",
        "2.5f",
        "\"s\"",
        "'c'",
        "#define A B\n",
        "#if 1\n",
        "#endif\n",
        "#else\n",
        "A",
        "threadIdx.x",
        "->",
        "::",
        "const ",
        "sizeof",
        "&",
        "&&",
        "|",
        "!",
        "~",
        "struct ",
        "template ",
        "typedef ",
        "printf(",
        "\\\n",
        "/*",
        "*/",
        "//",
        "\n",
        "\"",
        "static_cast<int>(",
        "__shared__ ",
        "enum ",
        "using ",
        "namespace ",
        "operator",
        "0x",
        "1e",
        ".",
        "...",
        "##",
        "#",
    ];
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for round in 0..3000 {
        let mut text = if round % 2 == 0 { "__global__ void f(float* x, int n) { ".to_owned() } else { String::new() };
        for _ in 0..next() % 60 {
            text.push_str(pieces[next() % pieces.len()]);
        }
        let _ = wb::compile(&text);
    }
    works();
}
