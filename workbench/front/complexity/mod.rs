//! Complexity of compilation: the steps of a compilation are held against the size of its text, for every construct that nests or chains (`table.txt`).

use std::path::Path;

use super::{Options, compile};
use crate::source::SourceMap;
use crate::steps::counted;

/// Most by which the steps that a text takes more may grow when it is made twice as large. Exactly 2 is linear; the rest is for what happens
/// at thresholds, such as bodies that become large enough to be treated otherwise.
const MOST: f64 = 2.2;

const KERNEL: &str = "__global__ void k(float* p, int n, float x) {";
const HOST: &str = "\n#include <vector>\n#include <string>\nfloat h(float x, int n) {";

/// A pattern of the table with what repeats `n` times.
fn expanded(pattern: &str, n: usize) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('«') {
        let (inner, after) = after.split_once('»').unwrap_or((after, ""));
        text.push_str(before);
        for i in 0..n {
            text.push_str(&inner.replace("№+", &(i + 1).to_string()).replace('№', &i.to_string()));
        }
        rest = after;
    }
    text.push_str(rest);
    let mut text = text.replace('∞', &n.to_string()).replace('⏎', "\n").replace("K{", KERNEL);
    if text.contains("H{") {
        text = text.replace("H{", HOST);
        let end = text.rfind('}').unwrap_or(text.len());
        text.insert_str(end, " return x; ");
    }
    text
}

/// Steps that a text takes.
fn steps_of(text: &str) -> u64 {
    let before = counted();
    let _ = compile(&mut SourceMap::new(), "t.cu", text, &Options::default());
    counted() - before
}

#[test]
fn work_grows_no_faster_than_the_text() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("workbench/front/complexity/table.txt");
    let table = std::fs::read_to_string(path).expect("the table");
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let mut parts = line.splitn(3, " | ");
        let (Some(name), Some(n), Some(pattern)) = (parts.next(), parts.next(), parts.next()) else {
            panic!("a line of the table has three parts: {line}");
        };
        let n: usize = n.parse().expect("how many times");
        let texts = [n, 2 * n, 4 * n].map(|n| expanded(pattern, n));
        // The first time the library is read.
        steps_of(&texts[0]);
        let steps = texts.map(|text| steps_of(&text));
        let growth = steps[2].saturating_sub(steps[1]) as f64 / steps[1].saturating_sub(steps[0]).max(1) as f64;
        if growth > MOST && !name.starts_with('~') {
            wrong.push(format!("{name}: {steps:?}, {growth:.2} times as many more"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_compilation_ends_where_somebody_wants_it() {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::{Duration, Instant};

    use crate::steps::{Interrupted, interruptible};

    // More than a second's work each.
    let texts = [
        expanded("«__device__ int f№(int x) { return x + №; }\n»", 60_000),
        expanded("K{ «p[0] += x * 2;» }", 200_000),
        "#define A x + x + x + x\n#define B A + A + A + A\n#define C B + B + B + B\n__global__ void k(float x) { "
            .to_owned()
            + &"x = C;".repeat(20_000)
            + "}",
    ];
    for text in texts {
        let asked = Rc::new(Cell::new(None));
        let first = asked.clone();
        let begun = Instant::now();
        let ask = move || {
            let late = begun.elapsed() > Duration::from_millis(30);
            first.set(first.get().or(late.then(Instant::now)));
            late
        };
        let result = interruptible(Rc::new(ask), || compile(&mut SourceMap::new(), "t.cu", &text, &Options::default()));
        assert_eq!(result.err(), Some(Interrupted), "{}", &text[..60]);
        let wanted = asked.get().expect("somebody was asked");
        assert!(wanted.elapsed() < Duration::from_millis(500), "{:?}", wanted.elapsed());
    }
    let (_, diags) = compile(&mut SourceMap::new(), "t.cu", "__global__ void k() { }", &Options::default());
    assert!(diags.is_empty(), "{diags:?}");
}

#[test]
fn constructs_nest_forty_deep_and_more() {
    let patterns = [
        "K{ p[0] = «[&]() { return »x«; }()»; }",
        "K{ p[0] = «[=](float y) { return y + »x«; }(x)»; }",
        "K{ p[0] = «fmaxf(x, »x«)»; }",
        "K{ «if (n > 1) { »p[0] = 1;« }» }",
        "K{ «for (int i = 0; i < n; ++i) { »p[0] = 1;« }» }",
        "K{ p[0] = «(n ? »x« : x)»; }",
        "template <class T> struct A { T v; }; K{ «A<»int«>» a; p[0] = sizeof(a); }",
    ];
    for pattern in patterns {
        let (_, diags) = compile(&mut SourceMap::new(), "t.cu", &expanded(pattern, 40), &Options::default());
        let errors: Vec<_> = diags.iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{pattern}\n{errors:#?}");
    }
}

#[test]
fn sizes_are_refused_before_anything_of_them_is_made() {
    let compiled = |text: &str| compile(&mut SourceMap::new(), "t.cu", text, &Options::default());
    let begun = std::time::Instant::now();
    let text = "__global__ void k(int* p) { static const int a[1 << 28] = {1}; p[0] = a[p[1]]; }";
    let (_, diags) = compiled(text);
    let errors: Vec<_> = diags.iter().filter(|d| d.is_error()).collect();
    assert!(errors.iter().all(|d| text[d.span.start as usize..].starts_with("a[1 << 28]")), "{errors:#?}");
    assert_eq!(errors.len(), 1);
    assert!(begun.elapsed() < std::time::Duration::from_millis(500), "{:?}", begun.elapsed());
    // More than constant memory has, where nothing says that it lies there.
    for text in [
        "__device__ int t[20000] = {1, 2};",
        "__device__ const int t[20000] = {1, 2};",
        "static const int t[20000] = {1, 2};",
    ] {
        let (_, diags) = compiled(&format!("{text} __global__ void k(int* p) {{ p[0] = t[p[1]]; }}"));
        assert!(diags.iter().all(|d| !d.is_error()), "{text}: {diags:#?}");
    }
    let (_, diags) = compiled("__constant__ int t[20000] = {1, 2}; __global__ void k(int* p) { p[0] = t[p[1]]; }");
    assert_eq!(diags.iter().filter(|d| d.is_error()).count(), 1, "{diags:#?}");
}
