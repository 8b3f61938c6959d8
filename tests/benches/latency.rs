//! Latency that a person notices: text to first result, compile time by length of text, a launch by size of array.
//!
//! `cargo bench --bench latency`

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use workbench::prelude::*;

const THREE_LINES: &str = "__global__ void scale(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}";

/// A kernel of about `n` statements of mixed arithmetic.
fn long_text(n: usize) -> String {
    let mut text = "__global__ void chain(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                    if (i >= n) return;\n    float a = x[i];\n"
        .to_owned();
    for k in 0..n {
        text.push_str(&match k % 4 {
            0 => format!("    float t{k} = a * {k}.5f + 1.0f;\n"),
            1 => format!("    if (t{} > 2.0f) a = a - t{};\n", k - 1, k - 1),
            2 => format!("    a += t{} * 0.25f;\n", k - 2),
            _ => "    a = fmaxf(a, -1.0f);\n".to_owned(),
        });
    }
    text.push_str("    y[i] = a;\n}\n");
    text
}

fn text_to_result(c: &mut Criterion) {
    let x = Array1::from_elem(8, 1.5f32);
    let mut group = c.benchmark_group("text to first result");
    let mut y = Array1::<f32>::zeros(8);
    // A comment that differs each time: nothing can be cached.
    let mut count = 0u64;
    group.bench_function("three lines", |b| {
        b.iter(|| {
            count += 1;
            let program = wb::compile(&format!("{THREE_LINES} // {count}")).expect("compiles");
            let kernel = program.kernel("scale").expect("is there");
            kernel.launch(1, 32).arg(&x).arg(&mut y).arg(2.0f32).arg(8i32).run().expect("runs");
        });
    });
    group.bench_function("100 statements", |b| {
        let text = long_text(100);
        b.iter(|| {
            count += 1;
            let program = wb::compile(&format!("{text} // {count}")).expect("compiles");
            let kernel = program.kernel("chain").expect("is there");
            kernel.launch(1, 32).arg(&x).arg(&mut y).arg(8i32).run().expect("runs");
        });
    });
    group.finish();
}

fn compile_by_length(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile by statements");
    group.sample_size(20);
    for n in [10, 100, 1000] {
        let text = long_text(n);
        group.throughput(criterion::Throughput::Elements(n as u64));
        group.bench_with_input(BenchmarkId::from_parameter(n), &text, |b, text| {
            b.iter(|| black_box(wb::compile(text).expect("compiles")));
        });
    }
    group.finish();
}

fn launch_by_size(c: &mut Criterion) {
    let program = wb::compile(THREE_LINES).expect("compiles");
    let kernel = program.kernel("scale").expect("is there");
    let mut group = c.benchmark_group("launch of one thread by array size");
    for n in [8usize, 1 << 20, 1 << 24] {
        let x = Array1::from_elem(n, 1.5f32);
        let mut y = Array1::<f32>::zeros(n);
        group.bench_function(BenchmarkId::from_parameter(n), |b| {
            b.iter(|| kernel.launch(1, 1).arg(&x).arg(&mut y).arg(2.0f32).arg(1i32).run().expect("runs"));
        });
    }
    group.finish();
}

criterion_group!(benches, text_to_result, compile_by_length, launch_by_size);
criterion_main!(benches);
