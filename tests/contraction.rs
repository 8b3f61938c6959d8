//! Contraction (`-fmad`): the products and sums that become one `fma` are those that NVRTC makes one of, over all kernels of the repository, as
//! its PTX shows them line by line; what they compute has one rounding, and the option and the intrinsics that forbid it do.
//! Without NVRTC the comparison is skipped with a note, unless `WORKBENCH_TEST_NVRTC` is set.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use workbench::back::cuda::{self, CompileFailure, NvrtcOptions};
use workbench::front::{self, Options};
use workbench::ir::{BinaryOp, Block, Const, FuncKind, Function, MathFn, Module, Op, Stmt, Value};
use workbench::pass::{self, contract};
use workbench::runtime::{CompileOptions, Program};
use workbench::source::{FileId, SourceMap, Span};

/// The operations of a line on floats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    fma: u32,
    products: u32,
    sums: u32,
    /// Operations that NVRTC makes several instructions of.
    others: u32,
}

impl Counts {
    /// The kinds that there are: unrolled loops repeat them.
    fn kinds(self) -> (bool, bool, bool) {
        (self.fma > 0, self.products > 0, self.sums > 0)
    }
}

type Lines = BTreeMap<u32, Counts>;

fn module(text: &str) -> Option<(Module, SourceMap)> {
    let mut sources = SourceMap::new();
    let (module, diags) = front::compile(&mut sources, "t.cu", text, &Options::default());
    (!diags.iter().any(|d| d.is_error())).then_some((module, sources))
}

fn of_ir(func: &Function, sources: &SourceMap, lines: &mut Lines) {
    let mut stmts = Vec::new();
    collect(&func.body, &mut stmts);
    let is_two = |op: &Op| matches!(op, Op::Const(Const::F32(2.0) | Const::F64(2.0)));
    let twos: Vec<Value> = stmts
        .iter()
        .filter_map(|(stmt, _)| if let Stmt::Let(v, op) = stmt { is_two(op).then_some(*v) } else { None })
        .collect();
    for (stmt, span) in stmts {
        let Stmt::Let(v, op) = stmt else { continue };
        if !func.ty(*v).scalar().is_some_and(|s| s.is_float()) || span.is_none() || span.file != FileId(0) {
            continue;
        }
        let line = sources.line_column(span).unwrap().line;
        let counts = lines.entry(line).or_default();
        match op {
            Op::Math(MathFn::Fma, _) => counts.fma += 1,
            // LLVM adds a number to itself instead of doubling it.
            Op::Binary(BinaryOp::Mul, a, b) if twos.contains(a) || twos.contains(b) => counts.sums += 1,
            Op::Binary(BinaryOp::Mul, ..) => counts.products += 1,
            Op::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => counts.sums += 1,
            Op::Binary(BinaryOp::Div, ..) => counts.others += 1,
            Op::Math(MathFn::Fabs | MathFn::Fmin | MathFn::Fmax, _) => {}
            Op::Math(..) => counts.others += 1,
            _ => {}
        }
    }
}

fn collect<'a>(block: &'a Block, out: &mut Vec<(&'a Stmt, Span)>) {
    for (stmt, span) in block.iter() {
        out.push((stmt, span));
        for inner in stmt.blocks() {
            collect(inner, out);
        }
    }
}

/// The operations in PTX, by the line of the text that `.loc` says.
fn of_ptx(ptx: &str) -> Lines {
    let files: Vec<&str> = ptx.lines().filter(|l| l.trim_start().starts_with(".file")).collect();
    let own: Vec<&str> =
        files.iter().filter(|l| l.contains("t.cu")).filter_map(|l| l.split_whitespace().nth(1)).collect();
    let (mut lines, mut line) = (Lines::new(), None);
    for text in ptx.lines() {
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else { continue };
        if first == ".loc" {
            let (file, at) = (words.next().unwrap(), words.next().unwrap());
            line = own.contains(&file).then(|| at.parse::<u32>().unwrap());
            continue;
        }
        let (Some(line), false) = (line, first.starts_with('.')) else { continue };
        let first = if first.starts_with('@') { words.next().unwrap_or("") } else { first };
        if !first.ends_with(".f32") && !first.ends_with(".f64") {
            continue;
        }
        let counts = lines.entry(line).or_insert_with(Counts::default);
        match first.split('.').next().unwrap() {
            "fma" => counts.fma += 1,
            "mul" => counts.products += 1,
            "add" | "sub" => counts.sums += 1,
            _ => {}
        }
    }
    lines
}

fn ptx(text: &str) -> Option<String> {
    let mut sources = SourceMap::new();
    let file = sources.add("t.cu", text);
    let nvrtc = NvrtcOptions { arch: Some("compute_90".to_owned()), extra: vec!["-lineinfo".to_owned()] };
    let options = cuda::Options { name: "t.cu".to_owned(), nvrtc, ..cuda::Options::default() };
    match cuda::Code::compile(file, text, &mut sources, &options) {
        Ok((code, _)) => Some(code.ptx().to_owned()),
        Err(CompileFailure::Unavailable(e) | CompileFailure::Argument(e)) => panic!("{e}"),
        Err(CompileFailure::Diagnostics(_)) => None,
    }
}

/// Every kernel's text of the repository.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["kernels", "tests/filetests", "examples"].map(|f| root.join(f)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "cu") {
                found.push(path);
            }
        }
    }
    found.sort();
    let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    found.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// Files with a line that NVRTC computes otherwise for a reason that is not contraction.
const OTHERWISE: &[(&str, &str)] = &[
    ("mandelbrot.cu", "the squares of `norm` are those of the next round's product, which LLVM moves ahead"),
    ("big_structs.cu", "LLVM follows values through structs in memory"),
    ("selected_structs.cu", "LLVM follows values through structs in memory"),
    ("large_locals.cu", "LLVM makes a `float` product of a `double` one that is exact and becomes a `float`"),
    ("math/undone.cu", "a product by -2 is a sum in PTX, with the same result"),
];

#[test]
fn what_becomes_one_operation_is_what_nvrtc_makes_one_of() {
    cuda::add_search_path(Path::new(env!("CARGO_MANIFEST_DIR")).join(".lab").join("venv"));
    if let Err(e) = cuda::nvrtc_version() {
        assert!(std::env::var_os("WORKBENCH_TEST_NVRTC").is_none(), "{e}");
        eprintln!("skipped: {e}");
        return;
    }
    let (mut same, mut fused, mut other) = (0, 0, Vec::new());
    for (name, text) in texts() {
        // Conversions of 16-bit floats are arithmetic here, and instructions there.
        if ["half", "Half", "bfloat"].iter().any(|word| text.contains(word)) {
            continue;
        }
        let Some((mut module, sources)) = module(&text) else { continue };
        let Some(ptx) = ptx(&text) else { continue };
        module.functions.iter_mut().for_each(|func| func.contracts = false);
        pass::prepare_for_cpu(&mut module);
        let mut ours = Lines::new();
        for func in module.functions.iter_mut().filter(|f| f.kind == FuncKind::Kernel) {
            func.contracts = true;
            contract::until(func, contract::Stage::Nvvm);
            of_ir(func, &sources, &mut ours);
        }
        let theirs = of_ptx(&ptx);
        for (line, ours) in &ours {
            // A line without operations has a result that LLVM knows.
            let Some(theirs) = theirs.get(line).filter(|counts| counts.kinds() != Counts::default().kinds()) else {
                continue;
            };
            if ours.others > 0 || ours.kinds() == Counts::default().kinds() {
                continue;
            }
            if ours.kinds() == theirs.kinds() {
                same += 1;
                fused += u32::from(ours.fma > 0);
            } else if !OTHERWISE.iter().any(|(file, _)| name.ends_with(file)) {
                let written = text.lines().nth(*line as usize - 1).unwrap_or("");
                other.push(format!("{name}:{line}: {ours:?} here, {theirs:?} in PTX: {}", written.trim()));
            }
        }
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
    assert!(same > 70 && fused > 20, "{same} lines, {fused} with an `fma`");
}

/// The parameters of [`CASES`]: a, b, c, d, e, f.
type Args = [f32; 6];

/// A body, and what it computes.
type Case = (&'static str, fn(Args) -> [f32; 2]);

/// Bodies of a kernel, with what `o[0]` and `o[1]` are: which products become part of an `fma` was read off the machine code that NVRTC 13.5 makes
/// for `sm_90` (`nvdisasm`).
const CASES: &[Case] = &[
    ("o[0] = a * b + c;", |[a, b, c, ..]| [a.mul_add(b, c), 0.0]),
    ("o[0] = c + a * b;", |[a, b, c, ..]| [a.mul_add(b, c), 0.0]),
    ("o[0] = a * b - c;", |[a, b, c, ..]| [a.mul_add(b, -c), 0.0]),
    ("o[0] = c - a * b;", |[a, b, c, ..]| [(-a).mul_add(b, c), 0.0]),
    ("o[0] = -(a * b) + c;", |[a, b, c, ..]| [(-a).mul_add(b, c), 0.0]),
    ("o[0] = -(a * b) - c;", |[a, b, c, ..]| [(-a).mul_add(b, -c), 0.0]),
    ("o[0] = c - (-(a * b));", |[a, b, c, ..]| [a.mul_add(b, c), 0.0]),
    ("o[0] = (-a) * b + c;", |[a, b, c, ..]| [(-a).mul_add(b, c), 0.0]),
    ("o[0] = a * b + (-c);", |[a, b, c, ..]| [a.mul_add(b, -c), 0.0]),
    ("float m = -(a * b); o[0] = m + c; o[1] = m + d;", |[a, b, c, d, ..]| [(-a).mul_add(b, c), (-a).mul_add(b, d)]),
    ("o[0] = -(a * b); o[1] = c - a * b;", |[a, b, c, ..]| [-(a * b), c - a * b]),
    // Two products: the one whose operands come first is taken.
    ("o[0] = a * b + c * d;", |[a, b, c, d, ..]| [a.mul_add(b, c * d), 0.0]),
    ("o[0] = c * d + a * b;", |[a, b, c, d, ..]| [a.mul_add(b, c * d), 0.0]),
    ("o[0] = a * d + b * c;", |[a, b, c, d, ..]| [b.mul_add(c, a * d), 0.0]),
    ("o[0] = a * b - c * d;", |[a, b, c, d, ..]| [a.mul_add(b, -(c * d)), 0.0]),
    ("o[0] = a * c - b * d; o[1] = a * d + b * c;", |[a, b, c, d, ..]| [a.mul_add(c, -(b * d)), b.mul_add(c, a * d)]),
    ("o[0] = a * b - c * d - e * f;", |[a, b, c, d, e, f]| [(-e).mul_add(f, a.mul_add(b, -(c * d))), 0.0]),
    ("o[0] = a * b + c * d + e * f;", |[a, b, c, d, e, f]| [e.mul_add(f, a.mul_add(b, c * d)), 0.0]),
    ("o[0] = ((a * b + c) * b + d) * b + e;", |[a, b, c, d, e, _]| [a.mul_add(b, c).mul_add(b, d).mul_add(b, e), 0.0]),
    ("o[0] = (a * b) * c - (d * e) * f;", |[a, b, c, d, e, f]| [(a * b).mul_add(c, -(d * e * f)), 0.0]),
    // A product with another use is a product.
    ("float p = a * b; o[0] = p; o[1] = p + c;", |[a, b, c, ..]| [a * b, a * b + c]),
    ("float p = a * b; o[0] = p + c; o[1] = p * d;", |[a, b, c, d, ..]| [a * b + c, a * b * d]),
    ("float p = a * b; o[0] = p * p + c;", |[a, b, c, ..]| [(a * b).mul_add(a * b, c), 0.0]),
    ("float p = a * b; o[0] = p + p;", |[a, b, ..]| [a.mul_add(b, a * b), 0.0]),
    ("float p = a * b; o[0] = c > d ? p + c : p;", |[a, b, c, d, ..]| [if c > d { a * b + c } else { a * b }, 0.0]),
    ("float p = a * b; o[1] = p; o[0] = p + c * d;", |[a, b, c, d, ..]| [c.mul_add(d, a * b), a * b]),
    ("float p = c * d; o[1] = p; o[0] = a * b - p;", |[a, b, c, d, ..]| [a.mul_add(b, -(c * d)), c * d]),
    ("o[0] = fabsf(a * b) + c;", |[a, b, c, ..]| [(a * b).abs() + c, 0.0]),
    ("o[0] = fmaf(a, b, c * d) + e;", |[a, b, c, d, e, _]| [a.mul_add(b, c * d) + e, 0.0]),
    // Two sums take one product.
    ("float p = a * b; o[0] = p + c; o[1] = p + d;", |[a, b, c, d, ..]| [a.mul_add(b, c), a.mul_add(b, d)]),
    ("float p = a * b; o[0] = p + c; o[1] = d - p;", |[a, b, c, d, ..]| [a.mul_add(b, c), (-a).mul_add(b, d)]),
    ("float p = a * b; o[0] = p + c; o[1] = p + d; o[2] = p + e; o[3] = p + f; o[4] = p + a;", |[a, b, c, d, ..]| {
        [a.mul_add(b, c), a.mul_add(b, d)]
    }),
    ("float p = a * b; float q = c * d; o[0] = p + q; o[1] = p - q;", |[a, b, c, d, ..]| {
        [a.mul_add(b, c * d), a.mul_add(b, -(c * d))]
    }),
    // A product that is left as an addend is taken nowhere.
    ("float p = c * d; o[1] = p + e; o[0] = a * b + p;", |[a, b, c, d, e, _]| [a.mul_add(b, c * d), c * d + e]),
    ("float p = a * b; o[1] = p + e; o[0] = p + c * d;", |[a, b, c, d, e, _]| [a.mul_add(b, c * d), a.mul_add(b, e)]),
    ("float p = c * d; o[1] = p - e; o[0] = a * b - p;", |[a, b, c, d, e, _]| [a.mul_add(b, -(c * d)), c * d - e]),
    ("float p = a * b; o[1] = p - e; o[0] = p - c * d;", |[a, b, c, d, e, _]| [(-c).mul_add(d, a * b), a * b - e]),
    // Behind a branch, where a factor stays anyway.
    ("float s = c; if (n > 3) s = s + a * b; o[0] = s;", |[a, b, c, ..]| [a.mul_add(b, c), 0.0]),
    ("float p = a * b; if (n > 3) { __syncthreads(); o[0] = p + c; } o[1] = p + d;", |[a, b, c, d, ..]| {
        [a.mul_add(b, c), a.mul_add(b, d)]
    }),
    ("float u = x[0]; float p = u * a; if (p + a > 1e9f) return; o[0] = p - b;", |[a, b, ..]| {
        [0.3f32.mul_add(a, -b), 0.0]
    }),
    ("float u = x[0]; float p = u * u; if (p + a > 1e9f) return; o[0] = p - b;", |[_, b, ..]| [0.3 * 0.3 - b, 0.0]),
    ("float u = x[0], v = x[1]; float p = u * v; if (n > 3) { __syncthreads(); o[0] = p + c; }", |[_, _, c, ..]| {
        [0.3f32.mul_add(0.7, c), 0.0]
    }),
    (
        "float u = x[0], v = x[1]; float p = u * v; o[1] = p + d; if (n > 3) { __syncthreads(); o[0] = p + c; }",
        |[_, _, c, d, ..]| [0.3 * 0.7 + c, 0.3 * 0.7 + d],
    ),
    ("float p = n > 3 ? a * b : c; o[0] = p + d;", |[a, b, _, d, ..]| [a * b + d, 0.0]),
    ("float p = a * b; for (int i = 0; i < 1; i++) o[i] = p + x[i];", |[a, b, ..]| [a.mul_add(b, 0.3), 0.0]),
    ("float s = a; for (int i = 0; i < 3; i++) s += x[i] * x[i + 1]; o[0] = s;", |[a, ..]| {
        [0.9f32.mul_add(1.1, 0.7f32.mul_add(0.9, 0.3f32.mul_add(0.7, a))), 0.0]
    }),
    // Doubles, and what is rounded on the way.
    ("o[0] = (float)((double)a * b + c);", |[a, b, c, ..]| [f64::from(a).mul_add(b.into(), c.into()) as f32, 0.0]),
    // Intrinsics are left alone.
    ("o[0] = __fmul_rn(a, b) + c;", |[a, b, c, ..]| [a * b + c, 0.0]),
    ("o[0] = __fadd_rn(a * b, c);", |[a, b, c, ..]| [a * b + c, 0.0]),
    ("o[0] = __fsub_rn(a * b, c); o[1] = __fmul_rn(a, d) - d * e;", |[a, b, c, d, e, _]| {
        [a * b - c, (-d).mul_add(e, a * d)]
    }),
];

fn run(body: &str, fmad: Option<bool>, args: Args) -> [f32; 2] {
    let text = format!(
        "__global__ void k(float* o, const float* x, float a, float b, float c, float d, float e, float f, int n) {{ {body} }}"
    );
    let options = CompileOptions { front: Options { fmad, ..Options::default() }, ..CompileOptions::default() };
    let program = Program::compile(&text, &options).unwrap();
    let mut o = ndarray::Array1::<f32>::zeros(8);
    let x = ndarray::arr1(&[0.3f32, 0.7, 0.9, 1.1]);
    let kernel = program.kernel("k").unwrap();
    let launch = args.iter().fold(kernel.launch(1, 1).arg(&mut o).arg(&x), |launch, &arg| launch.arg(arg));
    launch.arg(4i32).run().unwrap();
    [o[0], o[1]]
}

/// Arguments whose products and sums are all rounded.
fn samples() -> impl Iterator<Item = Args> {
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 + 0.1
    };
    (0..20).map(move |_| std::array::from_fn(|_| next()))
}

#[test]
fn one_rounding_is_where_machine_code_for_a_gpu_has_one() {
    for (body, expected) in CASES {
        for args in samples() {
            let (made, expected) = (run(body, None, args), expected(args));
            assert!(
                made.map(f32::to_bits) == expected.map(f32::to_bits),
                "{body} of {args:?}: {made:?}, not {expected:?}"
            );
        }
    }
}

#[test]
fn without_fmad_each_operation_rounds() {
    let mut differ = 0;
    for [a, b, c, d, e, f] in samples() {
        let args = [a, b, c, d, e, f];
        assert_eq!(run("o[0] = a * b + c; o[1] = d - e * f;", Some(false), args), [a * b + c, d - e * f]);
        differ += u32::from(run("o[0] = a * b + c;", Some(true), args)[0] != a * b + c);
    }
    assert!(differ > 0, "no argument tells the two apart");
}
