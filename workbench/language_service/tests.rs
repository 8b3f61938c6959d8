//! Texts with a cursor in them, and what an editor is told.

use super::*;

/// The text without its `|`, and where that stood.
fn cursor(text: &str) -> (String, usize) {
    let at = text.find('|').expect("a cursor");
    (text.replacen('|', "", 1), at)
}

fn completions(text: &str) -> Completions {
    let (text, at) = cursor(text);
    complete(&text, at, &Options::default())
}

fn names(text: &str) -> Vec<String> {
    completions(text).items.into_iter().map(|item| item.name).collect()
}

fn declaration(text: &str, name: &str) -> Option<String> {
    completions(text).items.into_iter().find(|item| item.name == name).map(|item| item.declaration)
}

fn hovered(text: &str) -> Option<Hover> {
    let (text, at) = cursor(text);
    hover(&text, at, &Options::default())
}

fn help(text: &str) -> Option<(Vec<String>, usize, usize)> {
    let (text, at) = cursor(text);
    let help = signature_help(&text, at, &Options::default())?;
    let shown = help.signatures.iter().map(|s| s.declaration.clone()).collect();
    Some((shown, help.active_signature, help.active_parameter))
}

const HEAD: &str = "struct Pair { float first; int second[2]; __device__ float sum(float scale) const { return first * scale; } };\n\
                    // Scales a number.\n__device__ float scaled(float value, float by) { return value * by; }\n\
                    enum class Mode { Fast, Exact };\nnamespace inner { const int width = 4; __device__ int twice(int n) { return 2 * n; } }\n";

/// A kernel with `HEAD` before it and `body` in it.
fn kernel(body: &str) -> String {
    format!("{HEAD}__global__ void run(float4* out, const Pair* pairs, int count) {{\n{body}\n}}\n")
}

#[test]
fn members_of_an_object_are_its_fields_and_methods() {
    for body in
        ["Pair p = pairs[0]; float a = p.|;", "Pair p = pairs[0]; float a = p.|", "float a = pairs[threadIdx.x].|"]
    {
        assert_eq!(names(&kernel(body)), ["first", "second", "sum"], "{body}");
    }
    assert_eq!(names(&kernel("float a = pairs->|")), ["first", "second", "sum"]);
    assert_eq!(names(&kernel("float a = pairs->se|cond[0];")), ["second"]);
    assert_eq!(declaration(&kernel("float a = pairs->|"), "second").as_deref(), Some("int second[2]"));
    let sum = "__device__ float sum(float scale) const";
    assert_eq!(declaration(&kernel("float a = pairs->|"), "sum").as_deref(), Some(sum.trim_end_matches(" const")));
    assert_eq!(names(&kernel("out[0].|")), ["w", "x", "y", "z"]);
    assert_eq!(names(&kernel("out[count].|x = 1;")), ["w", "x", "y", "z"]);
}

#[test]
fn what_is_open_before_the_cursor_does_not_matter() {
    for body in [
        "if (pairs[0].|",
        "for (int i = 0; i < pairs->|",
        "for (int i = 0; i < count; i += pairs->|",
        "out[(int)pairs[0].|",
        "float a = scaled(pairs[0].|\nout[0].x = a;",
        "while (true) { if (count > 0) { out[0].x = pairs->|\n",
        "return pairs->|",
    ] {
        assert!(names(&kernel(body)).contains(&"first".to_owned()), "{body}: {:?}", names(&kernel(body)));
    }
    let open = format!("{HEAD}__global__ void run(const Pair* pairs) {{ pairs->|");
    assert_eq!(names(&open), ["first", "second", "sum"]);
}

#[test]
fn names_in_scope_come_innermost_first() {
    let body = "int counter = 0; { float cost = 1; auto copied = pairs[0]; co| }";
    let found = names(&kernel(body));
    assert_eq!(found[..4], ["copied", "cost", "count", "counter"], "{found:?}");
    assert!(found.contains(&"copysignf".to_owned()) && found.contains(&"const".to_owned()));
    assert_eq!(declaration(&kernel(body), "copied").as_deref(), Some("Pair copied"));
    assert_eq!(declaration(&kernel(body), "count").as_deref(), Some("int count"));
    // A name of a later block, and one that is declared below.
    assert!(!names(&kernel("{ int early = 1; } ear| int earth = 2;")).iter().any(|name| name.starts_with("ear")));
    let found = names(&kernel("sc|"));
    assert!(found.contains(&"scaled".to_owned()), "{found:?}");
}

#[test]
fn names_of_a_namespace_and_of_an_enum_follow_two_colons() {
    assert_eq!(names(&kernel("int a = inner::|;")), ["twice", "width"]);
    assert_eq!(declaration(&kernel("int a = inner::|;"), "width").as_deref(), Some("const int width"));
    assert_eq!(names(&kernel("Mode mode = Mode::|;")), ["Fast", "Exact"]);
    assert_eq!(names(&kernel("Mode mode = Mode::|")), ["Fast", "Exact"]);
    let found = names(&kernel("auto most = std::ma|"));
    assert!(found.contains(&"max".to_owned()), "{found:?}");
}

#[test]
fn cudas_names_come_with_their_declarations_and_meanings() {
    let found = completions(&kernel("__sync|"));
    let barrier = found.items.iter().find(|item| item.name == "__syncthreads").expect("the barrier");
    assert_eq!((barrier.declaration.as_str(), barrier.kind), ("void __syncthreads()", NameKind::Function));
    assert!(barrier.documentation.contains("block"), "{}", barrier.documentation);
    assert_eq!(names(&kernel("int i = threadIdx.|")), ["x", "y", "z"]);
    assert_eq!(names(&kernel("int i = blockDim.|x;")), ["x", "y", "z"]);
    assert!(names("__glo|").contains(&"__global__".to_owned()));
    assert!(names(&kernel("float4 v = make_float|")).contains(&"make_float4".to_owned()));
    assert_eq!(declaration(&kernel("atomicA|"), "atomicAdd").as_deref(), Some("int atomicAdd(int*, int)"));
}

#[test]
fn what_is_replaced_is_the_beginning_of_the_word() {
    let (text, at) = cursor("__global__ void k(int* wide) { wi|de[0] = 1; }");
    let found = complete(&text, at, &Options::default());
    assert_eq!(found.replaced, at - 2..at);
    assert!(found.items.iter().any(|item| item.name == "wide"));
}

#[test]
fn comments_literals_and_numbers_have_no_completions() {
    for body in [
        "// out|",
        "/* out| */",
        "const char* s = \"out|\";",
        "const char* s = \"out|",
        "char c = 'o|",
        "int n = 12|;",
        "int n = 0x|",
    ] {
        assert_eq!(names(&kernel(body)), Vec::<String>::new(), "{body}");
    }
    assert!(!names(&kernel("/* a */ ou|")).is_empty());
    assert!(!names(&kernel("const char* s = \"out\"; ou|")).is_empty());
}

#[test]
fn directives_headers_and_macros() {
    assert!(names("#inc|").contains(&"include".to_owned()));
    let found = names("#include <cuda_f|");
    assert!(
        found.contains(&"cuda_fp16.h".to_owned()) && found.iter().all(|name| name.starts_with("cuda_f")),
        "{found:?}"
    );
    let text =
        "#define TILE 32 // a tile\n#define SQUARE(x) ((x) * (x))\n__global__ void k(int* out) { out[0] = TI|LE; }";
    assert_eq!(declaration(text, "TILE").as_deref(), Some("#define TILE 32"));
    assert_eq!(hovered(text).map(|h| h.declarations), Some(vec!["#define TILE 32".to_owned()]));
    assert_eq!(hovered(text).map(|h| h.documentation), Some("a tile".to_owned()));
    let text = text.replace("TI|LE", "SQ|");
    assert_eq!(declaration(&text, "SQUARE").as_deref(), Some("#define SQUARE(x) ((x) * (x))"));
}

#[test]
fn templates_that_nothing_instantiates_know_their_names() {
    let text = "template <typename T, int N> __global__ void fill(T* out, float4* rows, int count) { int column = N; |";
    let found = names(&text.replace('|', "co| }"));
    assert_eq!(found[..2], ["column", "count"], "{found:?}");
    assert_eq!(names(&text.replace('|', "rows[0].| }")), ["w", "x", "y", "z"]);
    let inner = format!("namespace a {{ {} }}", text.replace('|', "rows->| }"));
    assert_eq!(names(&inner), ["w", "x", "y", "z"]);
    let lambda = kernel("auto add = [&](int step) { return count + st| }; add(1);");
    assert_eq!(names(&lambda)[0], "step");
}

#[test]
fn where_nothing_is_known_the_words_of_the_text_are_offered() {
    let found = names("template <template <typename> class C> struct Odd { C<int> wrapped; void f() { wra| } };");
    assert!(found.contains(&"wrapped".to_owned()), "{found:?}");
}

#[test]
fn a_name_is_explained() {
    let found = hovered(&kernel("out[0].x = sca|led(1, 2);")).expect("a function");
    assert_eq!(found.declarations, ["__device__ float scaled(float value, float by)"]);
    assert_eq!(found.documentation, "Scales a number.");
    let declared = found.declared.expect("a place");
    assert!(kernel("")[declared].starts_with("__device__ float scaled"));
    for (body, declaration) in [
        ("float to|tal = 1; out[0].x = total;", "float total"),
        ("float total = 1; out[0].x = to|tal;", "float total"),
        ("out[0].x = pairs[cou|nt].first;", "int count"),
        ("out[0].x = pairs[count].fi|rst;", "float first"),
        ("out[0].x = pairs[count].fi|rst", "float first"),
        ("Pa|ir p;", "struct Pair"),
        ("int a = inner::wi|dth;", "const int width"),
        ("int a = in|ner::width;", "namespace inner"),
        ("Mode m = Mode::Ex|act;", "Mode Exact = 1"),
        ("float v = sqr|tf(2);", "float sqrtf(float)"),
        ("int i = threadI|dx.x;", "const uint3 threadIdx"),
        ("int i = threadIdx.x|;", "unsigned int x"),
        ("flo|at4 v;", "struct float4 { float x, y, z, w; }"),
    ] {
        let found = hovered(&kernel(body));
        assert_eq!(found.as_ref().map(|h| h.declarations[0].as_str()), Some(declaration), "{body}");
    }
    for body in ["// sca|led", "int n = 1|2;", "unknown_na|me();", "| "] {
        assert_eq!(hovered(&kernel(body)), None, "{body}");
    }
}

#[test]
fn a_call_shows_what_it_takes() {
    let scaled = "__device__ float scaled(float value, float by)".to_owned();
    for (body, argument) in [
        ("float a = scaled(|", 0),
        ("float a = scaled(1|", 0),
        ("float a = scaled(1, |", 1),
        ("float a = scaled(pairs[0].sum(1), |)", 1),
        ("float a = scaled((1, 2), |);", 1),
    ] {
        assert_eq!(help(&kernel(body)), Some((vec![scaled.clone()], 0, argument)), "{body}");
    }
    let (shown, _, argument) = help(&kernel("int old = atomicAdd(&out[0].x, |")).expect("help");
    assert!(shown.contains(&"float atomicAdd(float*, float)".to_owned()) && argument == 1, "{shown:?}");
    let (shown, ..) = help(&kernel("float a = pairs->sum(|")).expect("help");
    assert_eq!(shown, ["__device__ float sum(float scale)"]);
    let launch = format!("{}void host(float4* o, Pair* p) {{ run<<<1, |>>>(o, p, 1); }}", kernel(""));
    assert_eq!(help(&launch).map(|(_, _, argument)| argument), Some(1));
    let launch = launch.replace('|', "32").replace("p, 1)", "p, |");
    let (shown, _, argument) = help(&launch).expect("help");
    assert_eq!((shown[0].as_str(), argument), ("__global__ void run(float4* out, const Pair* pairs, int count)", 2));
    for body in ["if (|", "for (int i = 0; |", "int a = 1; |", "// scaled(|", "int a = sizeof(|"] {
        assert_eq!(help(&kernel(body)), None, "{body}");
    }
}

#[test]
fn parameters_are_ranges_of_the_declaration() {
    let of = |text: &str| {
        let found = Signature::of(text.to_owned())?;
        Some(found.parameters.iter().map(|range| found.declaration[range.clone()].to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(of("void f()"), Some(vec![]));
    assert_eq!(of("template <typename T> T f(T a, std::pair<int, int> b)").map(|p| p.len()), Some(2));
    assert_eq!(
        of("__launch_bounds__(256) void f(int (*g)(int, int), int n)"),
        Some(vec!["int (*g)(int, int)".into(), "int n".into()])
    );
    assert_eq!(of("struct S"), None);
}

#[test]
fn problems_have_places_and_replacements() {
    let text = "__global__ void k(float* out, int count) {\n  int i = threadidx.x;\n  float v = 1\n  if (i < conut) out[i] = v;\n}\n";
    let found = problems(text, &Options::default());
    let mut mended = text.to_owned();
    let mut replaced: Vec<_> = found.iter().filter_map(|p| p.replacement.clone()).collect();
    assert_eq!(replaced.len(), 3, "{found:?}");
    replaced.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    for (at, new) in replaced {
        mended.replace_range(at, &new);
    }
    assert_eq!(problems(&mended, &Options::default()), []);
    assert!(mended.contains("threadIdx.x") && mended.contains("float v = 1;") && mended.contains("i < count"));
    // A macro's use is not what the message is about.
    let text = "#define WRONG conut\n__global__ void k(int* out, int count) { out[0] = WRONG; }";
    let found = problems(text, &Options::default());
    assert_eq!(found.iter().map(|p| p.replacement.is_some()).collect::<Vec<_>>(), [false], "{found:?}");
    let text = format!("{HEAD}__global__ void k(Pair* p) {{ p.first = 1; }}");
    let found = problems(&text, &Options::default());
    assert_eq!(found[0].replacement.as_ref().map(|(at, new)| (&text[at.clone()], new.as_str())), Some((".", "->")));
    // A text that is right has none.
    assert_eq!(problems(&kernel("out[0].x = scaled(pairs[0].first, 2.0f);"), &Options::default()), []);
}

#[test]
fn members_come_through_macros() {
    let check = "#define CHECK(x) do { if (!(x)) return; } while (0)\n";
    for body in ["CHECK(pairs[0].|);", "CHECK(pairs[0].|", "CHECK(count > 1 && pairs->|)\nout[0].x = 1;"] {
        let text = format!("{check}{}", kernel(body));
        assert_eq!(names(&text), ["first", "second", "sum"], "{body}");
    }
    let text = format!("{check}{}", kernel("CHECK(scaled(1, |"));
    assert_eq!(help(&text).map(|(_, _, argument)| argument), Some(1));
}

#[test]
fn behind_a_dot_stand_members_or_nothing() {
    for body in ["count.|", "out.|", "nothing.|", "out[0].x.|", "float a = 1.|", "out[0].x = pairs[0].first.|"] {
        let found = names(&kernel(body));
        assert!(!found.iter().any(|name| name == "count" || name == "threadIdx"), "{body}: {found:?}");
    }
    // Members that the text uses elsewhere are offered where the type is not known.
    let found = names("template <typename T> struct S { T part; __device__ void f() { part.size(); part.| } };");
    assert_eq!(found, ["size"]);
}

#[test]
fn lists_and_launches_that_are_open_are_closed() {
    for body in ["float4 v{pairs->|", "float4 v = {1, pairs->|", "scaled(float4{pairs->|", "return pairs->|"] {
        assert!(names(&kernel(body)).contains(&"first".to_owned()), "{body}");
    }
    let launch = format!("{}void host(float4* o, Pair p) {{ run<<<1, p.|", kernel(""));
    assert_eq!(names(&launch), ["first", "second", "sum"]);
}

#[test]
fn lambdas_that_nothing_calls_know_their_names() {
    let body = "auto f = [&](int quantity, Pair pair) { int local = quantity; CURSOR };";
    assert_eq!(names(&kernel(&body.replace("CURSOR", "pair.|")))[..2], ["first", "second"]);
    assert_eq!(names(&kernel(&body.replace("CURSOR", "qu|")))[0], "quantity");
    assert_eq!(names(&kernel(&body.replace("CURSOR", "lo|")))[0], "local");
}

#[test]
fn a_declaration_explains_what_it_declares() {
    for (text, declaration) in [
        ("struct Mo|ments { double sum; double sum_sq; };", "struct Moments"),
        ("union Va|lue { float f; int i; };", "union Value"),
        ("struct Moments { double s|um; double sum_sq; };", "double sum"),
        ("typedef struct { int a; } Qu|ad;", "using Quad = Quad"),
        ("enum Col|our { Red };", "enum Colour"),
    ] {
        let found = hovered(text);
        let kind = found.as_ref().map(|h| h.declarations[0].clone());
        let words = |text: &str| text.split(' ').next_back().map(str::to_owned);
        assert_eq!(kind.as_deref().and_then(words), words(declaration), "{text}: {kind:?}");
    }
}

#[test]
fn the_comment_is_that_of_the_declaration_itself() {
    let explained = |text: &str| hovered(text).map(|h| h.documentation);
    let same = "struct P { int x; }; __global__ void k(float* o, int x) { // count of x\n P p; o[0] = p.x|; }";
    assert_eq!(explained(same).as_deref(), Some(""));
    let same = "// The global.\n__device__ int v; struct S { int v; }; __global__ void k(int* o, S s) { o[0] = s.v|; }";
    assert_eq!(explained(same).as_deref(), Some(""));
    let field = "struct S {\n  int first; // The first one.\n  int next;\n}; __global__ void k(int* o, S s) { o[0] = s.fi|rst; }";
    assert_eq!(explained(field).as_deref(), Some("The first one."));
    let one_line = "// Adds.\ntemplate <typename T> __device__ T add(T a, T b) { return a + b; }\n__device__ float twice(float x) { return x; }\n__global__ void k(float* o) { o[0] = twi|ce(1); }";
    assert_eq!(explained(one_line).as_deref(), Some(""));
    let block =
        "int a; /* the count */\n__device__ int f(int x) { return x; }\n__global__ void k(int* o) { o[0] = f|(1); }";
    assert_eq!(explained(block).as_deref(), Some(""));
    let block = "/* Gives it back,\n * as it is. */\n__device__ int f(int x) { return x; }\n__global__ void k(int* o) { o[0] = f|(1); }";
    assert_eq!(explained(block).as_deref(), Some("Gives it back,\nas it is."));
}

#[test]
fn nothing_internal_is_shown() {
    let host = "#include <torch/extension.h>\n#include <vector>\nat::Tensor f(at::Tensor x) { std::vector<int> v; CURSOR return x; }";
    let found = names(&host.replace("CURSOR", "v.|"));
    assert!(found.contains(&"size".to_owned()) && found.contains(&"push_back".to_owned()), "{found:?}");
    assert!(!found.iter().any(|name| name.ends_with('_') || name.starts_with('_') || name == "vector"), "{found:?}");
    let found = names(&host.replace("CURSOR", "x.|"));
    assert!(found.contains(&"sum".to_owned()) && found.len() > 50 && !found.contains(&"handle_".to_owned()));
    let (shown, ..) = help(&host.replace("CURSOR", "auto z = torch::zeros(|")).expect("help");
    assert!(shown.iter().all(|text| !text.contains("__wb") && !text.contains("__WB")), "{shown:?}");
    let half = "#include <cuda_fp16.h>\n__global__ void k(__half* o) { o[0] = __float2half(1); o[1] = __float2|; }";
    let text = declaration(half, "__float2half").expect("a function");
    assert!(text.contains("__float2half(") && !text.contains("__WB"), "{text}");
    assert!(!names(&host.replace("CURSOR", "std::|")).iter().any(|name| name.starts_with("__")));
}

#[test]
fn macros_are_those_that_hold_at_the_cursor() {
    let text = "#define N 3\n#undef N\n#define N 4\n#define GONE 1\n#undef GONE\n#define LONG(x) \\\n  do { x; } while (0)\n\
                __global__ void k(int* o) { o[0] = | }\n#define LATER 1\n";
    assert_eq!(declaration(text, "N").as_deref(), Some("#define N 4"));
    assert_eq!(declaration(text, "LONG").as_deref(), Some("#define LONG(x) do { x; } while (0)"));
    let found = names(text);
    assert!(!found.contains(&"GONE".to_owned()) && !found.contains(&"LATER".to_owned()), "{found:?}");
    assert!(names("float x = INF|").contains(&"INFINITY".to_owned()));
    let options = Options { defines: vec![("TILE_WIDTH".into(), "16".into())], ..Options::default() };
    let (text, at) = cursor("__global__ void k(int* o) { o[0] = TILE| }");
    let found = complete(&text, at, &options);
    assert!(found.items.iter().any(|item| item.declaration == "#define TILE_WIDTH 16"));
}

#[test]
fn any_place_of_any_text_is_answered() {
    let texts = [
        kernel("for (int i = 0; i < count; i++) out[i].x += pairs[i].sum(2.0f) * scaled(1, 2); // é ü"),
        "#".into(),
        "é".into(),
        String::new(),
    ];
    for text in texts {
        for offset in 0..=text.len() + 2 {
            let options = Options::default();
            complete(&text, offset, &options);
            hover(&text, offset, &options);
            signature_help(&text, offset, &options);
            let cut = text.get(..offset).unwrap_or("");
            complete(cut, offset, &options);
        }
    }
}
