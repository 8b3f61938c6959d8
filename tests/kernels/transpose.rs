//! Transposes.

use crate::case::{Element, Kernel, Rng, Run, args, cover};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "transpose_naive", runs: transpose_naive },
    Kernel { name: "transpose_shared", runs: transpose_shared },
    Kernel { name: "transpose_float4", runs: transpose_float4 },
];

fn transposed<T: Element>(x: &[T], rows: usize, cols: usize) -> Vec<T> {
    (0..rows * cols).map(|i| x[i % rows * cols + i / rows]).collect()
}

fn transpose_naive() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols) in [(1, 1), (32, 64), (33, 31), (100, 7)] {
        let x = Rng::new(rows as u64).floats(rows * cols);
        let mut run = Run::new(format!("{rows} x {cols}"));
        let input = run.input(&x);
        let grid = (cover(cols, 32), cover(rows, 32));
        for (kernel, want) in [("copy", x.clone()), ("transpose_naive", transposed(&x, rows, cols))] {
            let out = run.output::<f32>(rows * cols);
            run.launch(kernel, grid, (32, 8), 0, args![out, input, cols as i32, rows as i32]);
            run.exactly(out, &want);
        }
        runs.push(run);
    }
    runs
}

fn batched<T: Element>(run: &mut Run, kernel: &str, x: &[T], shape: [usize; 3], tile: usize, rows_of_block: usize) {
    let [batch, rows, cols] = shape;
    let input = run.input(x);
    let out = run.output::<T>(x.len());
    let grid = (cover(cols, tile), cover(rows, tile), batch);
    run.launch(kernel, grid, (tile, rows_of_block), 0, args![input, out, rows as i32, cols as i32]);
    let want: Vec<T> = x.chunks(rows * cols).flat_map(|plane| transposed(plane, rows, cols)).collect();
    run.exactly(out, &want);
}

fn transpose_shared() -> Vec<Run> {
    let mut runs = Vec::new();
    for shape in [[1, 1, 1], [2, 32, 32], [3, 33, 65], [1, 17, 100]] {
        let n = shape.iter().product();
        let mut rng = Rng::new(n as u64);
        let mut run = Run::new(format!("{shape:?}"));
        let floats = rng.floats(n);
        batched(&mut run, "transpose_batched<float>", &floats, shape, 32, 8);
        let bytes: Vec<u8> = (0..n).map(|_| rng.bits() as u8).collect();
        batched(&mut run, "transpose_batched<unsigned char, 16, 16>", &bytes, shape, 16, 16);
        let longs: Vec<i64> = (0..n).map(|_| rng.bits() as i64).collect();
        batched(&mut run, "transpose_batched<long long, 16, 4>", &longs, shape, 16, 4);
        runs.push(run);
    }
    runs
}

fn transpose_float4() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols) in [(4, 4), (4, 100), (36, 20), (64, 128)] {
        let x = Rng::new(cols as u64).floats(rows * cols);
        let mut run = Run::new(format!("{rows} x {cols}"));
        let input = run.input(&x);
        let out = run.output::<f32>(rows * cols);
        let grid = (cover(cols / 4, 8), cover(rows / 4, 8));
        run.launch("transpose_float4", grid, (8, 8), 0, args![input, out, rows as i32, cols as i32]);
        run.exactly(out, &transposed(&x, rows, cols));
        runs.push(run);
    }
    runs
}
