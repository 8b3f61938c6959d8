//! Kernels whose threads run in vectors give the same bits as the same kernels thread by thread.
//!
//! A block narrower than a group of four runs thread by thread; a wide one in chunks, with a remainder. The scalar code is tested against
//! expected results elsewhere (`filetests`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use workbench::prelude::*;
use workbench::runtime::Tier;

/// Bodies over `float a[], b[], c[]`, `int p[]`, `unsigned u[]`, `double d[]`, `float y[]`, `int q[]`, `double e[]` at `i`.
const BODIES: &[&str] = &[
    "y[i] = a[i];",
    "y[i] = a[i] * b[i] + c[i];",
    "y[i] = -a[i] / b[i] - s;",
    "e[i] = d[i] * 0.5 + s;",
    "y[i] = 0.5 * a[i] + b[i];",
    "e[i] = a[i]; q[i] = (int)b[i];",
    "y[i] = (float)d[i];",
    "y[i] = a[i] > 0 ? a[i] : 0.01f * a[i];",
    "y[i] = d[i] > 0 ? a[i] : b[i];",
    "e[i] = a[i] >= b[i] ? d[i] : -d[i];",
    "float t = a[i]; if (t < b[i]) t = c[i]; else t = t + 1; y[i] = t;",
    "float t = 0; if (a[i] != b[i] && c[i] <= 2) { t = sqrtf(fabsf(a[i])); } y[i] = t;",
    "y[i] = fminf(a[i], b[i]) + fmaxf(b[i], c[i]);",
    "y[i] = fmaxf(a[i], 0.f) + fminf(b[i], -0.f); e[i] = fmax(d[i], -0.0) / fmin(d[i], 0.0);",
    "y[i] = fmaxf(a[i], 1.f) - fminf(b[i], -0.5f);",
    "y[i] = floorf(a[i]) + ceilf(b[i]) * truncf(c[i]) - rintf(a[i]);",
    "y[i] = fmaf(a[i], b[i], c[i]); e[i] = fma(d[i], 3.0, 1.0);",
    "y[i] = 1 / sqrtf(a[i]); e[i] = sqrt(d[i]);",
    "q[i] = p[i] * 3 + (p[i] << 5) - (p[i] >> 3);",
    "q[i] = (int)((u[i] >> 7) ^ (u[i] & 255u) | 4u);",
    "int j = i; q[i] = min(p[i], j) + max(p[i], 100 - 3 * j);",
    "int j = i; q[i] = j; y[i] = j; e[i] = (3.f - j) * 0.25;",
    "y[i] = p[i]; q[i] = __float_as_int(a[i]);",
    "y[i] = u[i]; q[i] = ~p[i] - -p[i];",
    "y[i] = a[0] * b[i] + a[1];",
    "y[i] = s > 0 ? a[i] : b[i];",
    "y[i] = a[i] + 1; y[i] = y[i] * 2;",
    "y[i] = i % 2 ? 1.f : s;",
    "bool in = a[i] > -1 && a[i] < 1; bool out = !(b[i] > 0); y[i] = in ^ out ? a[i] : b[i];",
];

/// All bodies, with two so long that a chunk has fewer groups of threads.
fn bodies() -> Vec<String> {
    let long = |terms| format!("float t = a[i], r = b[i]; {} y[i] = r;", "r = r * t + 0.25f;".repeat(terms));
    BODIES.iter().map(|body| (*body).to_owned()).chain([long(10), long(30)]).collect()
}

/// The forms in which a kernel gets `i` and keeps it below `n`.
const FRAMES: &[(&str, &str)] = &[
    ("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {", "}"),
    ("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; {", "}"),
    ("unsigned i = threadIdx.x + blockIdx.x * blockDim.x; if (n > i && i >= skip) {", "}"),
    ("long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i >= n || i < skip) return; {", "}"),
    ("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {", "}"),
];

struct Data {
    floats: [Array1<f32>; 3],
    ints: Array1<i32>,
    doubles: Array1<f64>,
}

impl Data {
    fn new(n: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 32) as u32
        };
        // Mostly ordinary numbers, and now and then any bit pattern: NaN, infinities, subnormals, both zeros.
        let mut float = || match next() % 8 {
            0 => f32::from_bits(next()),
            1 => [0.0, -0.0, f32::NAN, f32::INFINITY, -f32::INFINITY, 1e-40, 0.5, -2.5][next() as usize % 8],
            _ => next() as i32 as f32 / (1u32 << 29) as f32,
        };
        let floats = [(); 3].map(|()| Array1::from_iter((0..n).map(|_| float())));
        let doubles = Array1::from_iter((0..n).map(|_| f64::from(float()) * 1.1));
        let ints = Array1::from_iter((0..n).map(|_| next() as i32));
        Data { floats, ints, doubles }
    }
}

type Results = (Vec<u32>, Vec<i32>, Vec<u64>);

fn run(kernel: &Kernel, data: &Data, n: i32, skip: i32, s: f32, threads: u32, grid_stride: bool) -> Results {
    let len = data.ints.len();
    let (mut y, mut q) = (Array1::<f32>::from_elem(len, 7.0), Array1::<i32>::from_elem(len, 7));
    let mut e = Array1::<f64>::from_elem(len, 7.0);
    let unsigned = data.ints.mapv(|x| x as u32);
    let blocks = if grid_stride { 2 } else { (len as u32).div_ceil(threads) };
    let [a, b, c] = &data.floats;
    let launch = kernel.launch(blocks, threads).arg(a).arg(b).arg(c).arg(&data.ints).arg(&unsigned).arg(&data.doubles);
    launch.arg(&mut y).arg(&mut q).arg(&mut e).arg(s).arg(n).arg(skip).run().unwrap();
    // The language leaves open which NaN an operation on two NaNs gives.
    let float = |x: &f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    let double = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    (y.iter().map(float).collect(), q.to_vec(), e.iter().map(double).collect())
}

fn compile(body: &str, frame: (&str, &str)) -> Program {
    let source = format!(
        "__global__ void k(const float* a, const float* b, const float* c, const int* p, const unsigned* u, const double* d,
             float* y, int* q, double* e, float s, int n, int skip) {{ {} {body} {} }}",
        frame.0, frame.1
    );
    good(&source)
}

/// A program that runs the code under test, whatever other code may be made later.
fn good(source: &str) -> Program {
    let options = CompileOptions { tier: Tier::Good, ..CompileOptions::default() };
    Program::compile(source, &options).unwrap()
}

/// True if code moves four floats or two doubles at a time to or from memory.
fn is_vector(program: &Program) -> bool {
    let asm = program.asm();
    ["movups", "movupd", "movdqu", "ldr q", "str q"].iter().any(|op| asm.contains(op))
}

#[test]
fn chunks_give_what_threads_give() {
    for (body, frame) in bodies().iter().flat_map(|b| FRAMES.iter().map(move |f| (b, *f))) {
        let program = compile(body, frame);
        assert_eq!(is_vector(&program), !body.contains('%'), "{body} in {}", frame.0);
        let kernel = program.kernel("k").unwrap();
        let strided = frame.0.starts_with("for");
        for (n, threads) in [(1, 32), (16, 16), (777, 96), (777, 1000), (1003, 128)] {
            let data = Data::new(n + 5, n as u64);
            let n = n as i32;
            let run = |threads| run(&kernel, &data, n, 3, 1.5, threads, strided);
            assert!(run(threads) == run(3), "{body} in {}, n = {n}, blocks of {threads}", frame.0);
        }
    }
}

#[test]
fn a_fault_in_a_chunk_is_the_first_threads() {
    let program = compile("y[i + 40] = a[i];", FRAMES[0]);
    let kernel = program.kernel("k").unwrap();
    let (data, mut y) = (Data::new(100, 1), Array1::<f32>::zeros(100));
    let (mut q, mut e) = (Array1::<i32>::zeros(100), Array1::<f64>::zeros(100));
    let [a, b, c] = &data.floats;
    let u = data.ints.mapv(|x| x as u32);
    let launch = kernel.launch(1, 96).arg(a).arg(b).arg(c).arg(&data.ints).arg(&u).arg(&data.doubles);
    let error = launch.arg(&mut y).arg(&mut q).arg(&mut e).arg(1.0f32).arg(96).arg(0).run().unwrap_err();
    assert!(error.to_string().contains("thread (60, 0, 0)"), "{error}");
}

#[test]
fn an_index_that_wraps_in_a_row_is_guarded_thread_by_thread() {
    let source = "__global__ void k(const float* a, float* y, int start, int n) {
        int i = start + (int)threadIdx.x;
        if (i < n) y[threadIdx.x] = a[threadIdx.x];
    }";
    let kernel = good(source).kernel("k").unwrap();
    let (a, mut y) = (Array1::from_elem(64, 1.0f32), Array1::<f32>::zeros(64));
    // Threads 0 to 3 are below n, 4 to 7 are not; from 8 on the index has wrapped to a negative number, and is below n again.
    kernel.launch(1, 64).arg(&a).arg(&mut y).arg(i32::MAX - 7).arg(i32::MAX - 3).run().unwrap();
    let expected = Array1::from_iter((0..64).map(|t| if (4..8).contains(&t) { 0.0 } else { 1.0 }));
    assert_eq!(y, expected);
}

proptest! {
    #[test]
    fn any_numbers_give_the_same(which in 0..BODIES.len() + 2, frame in 0..FRAMES.len(), seed: u64, n in 0i32..300, skip in 0i32..40) {
        let program = compile(&bodies()[which], FRAMES[frame]);
        let kernel = program.kernel("k").unwrap();
        let data = Data::new(300, seed);
        let strided = FRAMES[frame].0.starts_with("for");
        let run = |threads| run(&kernel, &data, n, skip, -0.25, threads, strided);
        prop_assert!(run(64) == run(3));
    }
}
