//! Streaming kernels on arrays larger than the cache, against a native Rust loop over all cores, in interleaved rounds.
//!
//! `cargo bench --bench streams` prints one line per kernel with the ratio and its spread: native time over ours, so that 1.0 is as fast as
//! native and 0.8 is the contract.

use std::time::Instant;

use rayon::prelude::*;
use workbench::prelude::*;

const SRC: &str = "
__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void muladd(const float* a, const float* b, const float* c, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] * b[i] + c[i];
}
__global__ void triad_stride(const float* a, const float* b, float* y, float s, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a[i] + s * b[i];
}
__global__ void daxpy(double a, const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
";

const N: usize = 1 << 24;
const ROUNDS: usize = 31;
const CHUNK: usize = 1 << 16;

/// Times both sides in turn and prints the median ratio with its quartiles.
fn compare(name: &str, mut ours: impl FnMut(), mut native: impl FnMut()) {
    let time = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    ours();
    workbench::runtime::settle();
    native();
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|r| {
            if r % 2 == 0 {
                let a = time(&mut ours);
                (a, time(&mut native))
            } else {
                let b = time(&mut native);
                (time(&mut ours), b)
            }
        })
        .collect();
    rounds.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let ratio = |q: usize| rounds[ROUNDS * q / 4 - usize::from(q == 4)];
    let median = |pick: fn(&(f64, f64)) -> f64| {
        let mut v: Vec<f64> = rounds.iter().map(pick).collect();
        v.sort_by(f64::total_cmp);
        v[ROUNDS / 2] * 1e3
    };
    println!(
        "{name:<14} ours {:6.2} ms   native {:6.2} ms   ratio {:.2} (quartiles {:.2} to {:.2})",
        median(|r| r.0),
        median(|r| r.1),
        ratio(2).1 / ratio(2).0,
        ratio(1).1 / ratio(1).0,
        ratio(3).1 / ratio(3).0,
    );
}

fn main() {
    let program = wb::compile(SRC).expect("compiles");
    let kernel = |name: &str| program.kernel(name).expect("is there");
    let blocks = N.div_ceil(256) as u32;
    let n = N as i32;
    let make = |seed: f32| Array1::from_iter((0..N).map(|i| seed + (i % 1000) as f32 * 1e-3));
    let (a, b, c) = (make(0.5), make(1.5), make(2.5));
    let (mut y, mut z) = (Array1::<f32>::zeros(N), Array1::<f32>::zeros(N));
    let slices = |x: &Array1<f32>| x.as_slice().expect("contiguous").to_vec();
    let (ra, rb, rc) = (slices(&a), slices(&b), slices(&c));

    let k = kernel("copy");
    compare(
        "copy",
        || drop(k.launch(blocks, 256).arg(&a).arg(&mut y).arg(n).run().expect("runs")),
        || {
            let out = z.as_slice_mut().expect("contiguous");
            out.par_chunks_mut(CHUNK).zip(ra.par_chunks(CHUNK)).for_each(|(o, a)| o.copy_from_slice(a));
        },
    );
    let k = kernel("muladd");
    compare(
        "muladd",
        || drop(k.launch(blocks, 256).arg(&a).arg(&b).arg(&c).arg(&mut y).arg(n).run().expect("runs")),
        || {
            let out = z.as_slice_mut().expect("contiguous");
            let sources = ra.par_chunks(CHUNK).zip(rb.par_chunks(CHUNK)).zip(rc.par_chunks(CHUNK));
            out.par_chunks_mut(CHUNK).zip(sources).for_each(|(o, ((a, b), c))| {
                for (((o, a), b), c) in o.iter_mut().zip(a).zip(b).zip(c) {
                    *o = a * b + c;
                }
            });
        },
    );
    assert_eq!(y, z);
    let k = kernel("triad_stride");
    compare(
        "triad, strided",
        || drop(k.launch(64, 256).arg(&a).arg(&b).arg(&mut y).arg(3.0f32).arg(n).run().expect("runs")),
        || {
            let out = z.as_slice_mut().expect("contiguous");
            out.par_chunks_mut(CHUNK).zip(ra.par_chunks(CHUNK).zip(rb.par_chunks(CHUNK))).for_each(|(o, (a, b))| {
                for ((o, a), b) in o.iter_mut().zip(a).zip(b) {
                    *o = a + 3.0 * b;
                }
            });
        },
    );
    assert_eq!(y, z);
    let k = kernel("daxpy");
    let x = a.mapv(f64::from);
    let (mut y, mut z) = (Array1::<f64>::zeros(N), vec![0.0f64; N]);
    let rx = x.as_slice().expect("contiguous").to_vec();
    compare(
        "daxpy, double",
        || drop(k.launch(blocks, 256).arg(1e-3f64).arg(&x).arg(&mut y).arg(n).run().expect("runs")),
        || {
            z.par_chunks_mut(CHUNK).zip(rx.par_chunks(CHUNK)).for_each(|(o, x)| {
                for (o, x) in o.iter_mut().zip(x) {
                    *o += 1e-3 * x;
                }
            });
        },
    );
}
