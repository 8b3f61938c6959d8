//! Matrix products.

use crate::case::{Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "matmul_tiled", runs: matmul_tiled },
    Kernel { name: "matmul_register_blocked", runs: matmul_register_blocked },
    Kernel { name: "matmul_grouped", runs: matmul_grouped },
    Kernel { name: "matvec_vectorised", runs: matvec_vectorised },
];

/// The product of row-major matrices, and that of their absolute values.
fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> (Vec<f64>, Vec<f64>) {
    let (mut c, mut absolute) = (vec![0.0; m * n], vec![0.0; m * n]);
    for i in 0..m {
        for j in 0..n {
            for l in 0..k {
                let term = a[i * k + l] * b[l * n + j];
                c[i * n + j] += term;
                absolute[i * n + j] += term.abs();
            }
        }
    }
    (c, absolute)
}

fn matmul_tiled() -> Vec<Run> {
    let mut runs = Vec::new();
    for (shape, tile) in [([1, 1, 1], 8), ([33, 17, 70], 16), ([64, 32, 16], 32), ([5, 40, 3], 8)] {
        let [m, n, k] = shape;
        let mut rng = Rng::new(k as u64);
        let (a, b) = (rng.floats(m * k), rng.floats(k * n));
        let (want, absolute) = product(&wide(&a), &wide(&b), shape);
        let mut run = Run::new(format!("{m} x {n} x {k}, tiles of {tile}"));
        let grid = (cover(n, tile), cover(m, tile));

        let (x, y, c) = (run.input(&a), run.input(&b), run.output::<f32>(m * n));
        let args = args![x, y, c, m as i32, n as i32, k as i32];
        run.launch(format!("matmul_tiled<float, {tile}>"), grid, (tile, tile), 0, args);
        run.near(c, want.clone(), absolute.iter().map(|s| gamma(k) * s).collect());

        let (x, y, c) = (run.input(&wide(&a)), run.input(&wide(&b)), run.output::<f64>(m * n));
        let args = args![x, y, c, m as i32, n as i32, k as i32];
        run.launch(format!("matmul_tiled<double, {tile}>"), grid, (tile, tile), 0, args);
        // Both sides round in double.
        run.near(c, want, absolute.iter().map(|s| 2.0 * k as f64 * 2f64.powi(-53) * s).collect());
        runs.push(run);
    }
    runs
}

fn matmul_register_blocked() -> Vec<Run> {
    let mut runs = Vec::new();
    let blockings = [(64, 64, 8, 8, 8), (32, 32, 16, 4, 4), (16, 32, 4, 2, 8)];
    let shapes = [[1, 1, 1], [64, 64, 8], [70, 37, 19], [33, 130, 40]];
    for (i, shape) in shapes.into_iter().enumerate() {
        let [m, n, k] = shape;
        let (bm, bn, bk, tm, tn) = blockings[i % blockings.len()];
        let mut rng = Rng::new(100 + k as u64);
        let (a, b, c) = (rng.floats(m * k), rng.floats(k * n), rng.floats(m * n));
        let (alpha, beta) = (1.5f32, -0.75f32);
        let mut run = Run::new(format!("{m} x {n} x {k}, blocks of {bm} x {bn} x {bk}"));
        let (x, y, z) = (run.input(&a), run.input(&b), run.state(&c));
        run.launch(
            format!("sgemm_blocked<{bm}, {bn}, {bk}, {tm}, {tn}>"),
            (cover(n, bn), cover(m, bm)),
            bm * bn / (tm * tn),
            0,
            args![m as i32, n as i32, k as i32, alpha, x, y, beta, z],
        );
        let (sum, absolute) = product(&wide(&a), &wide(&b), shape);
        let (alpha, beta) = (f64::from(alpha), f64::from(beta));
        let old = wide(&c);
        let want = sum.iter().zip(&old).map(|(s, c)| alpha * s + beta * c).collect();
        let bound = absolute.iter().zip(&old).map(|(s, c)| gamma(k + 2) * (alpha * s + (beta * c).abs())).collect();
        run.near(z, want, bound);
        runs.push(run);
    }
    runs
}

fn matmul_grouped() -> Vec<Run> {
    let mut runs = Vec::new();
    let cases: [(&[usize], usize, usize); 3] = [(&[1], 1, 1), (&[5, 0, 17, 3], 19, 13), (&[0, 40, 9, 1, 0], 33, 24)];
    for (counts, n, k) in cases {
        let tokens: usize = counts.iter().sum();
        let mut rng = Rng::new(tokens as u64);
        let x = rng.floats(tokens * k);
        let weight = rng.floats(counts.len() * k * n);
        let bias = rng.floats(counts.len() * n);
        let mut offsets = vec![0];
        for count in counts {
            offsets.push(offsets[offsets.len() - 1] + *count as i32);
        }
        let (mut sums, mut bounds, mut biases) = (Vec::new(), Vec::new(), Vec::new());
        for (e, count) in counts.iter().enumerate() {
            let rows = &x[offsets[e] as usize * k..][..count * k];
            let (sum, absolute) = product(&wide(rows), &wide(&weight[e * k * n..][..k * n]), [*count, n, k]);
            for (i, (s, a)) in sum.iter().zip(&absolute).enumerate() {
                let b = f64::from(bias[e * n + i % n]);
                sums.push(*s);
                biases.push(b);
                bounds.push(gamma(k + 1) * (a + b.abs()));
            }
        }
        let mut run = Run::new(format!("groups {counts:?}, N = {n}, K = {k}"));
        let (x, weight, bias) = (run.input(&x), run.input(&weight), run.input(&bias));
        let offsets = run.input(&offsets);
        let with_bias: Vec<f64> = sums.iter().zip(&biases).map(|(s, b)| s + b).collect();
        let relu = with_bias.iter().map(|v| v.max(0.0)).collect();
        // Clamping does not increase an error; the cube of a number in [-1, 1] increases it threefold and rounds twice more.
        let cube = with_bias.iter().map(|v| v.clamp(-1.0, 1.0).powi(3)).collect();
        let cube_bounds = bounds.iter().map(|b| 3.0 * b + 3.0 * U).collect();
        let expected =
            [("Identity", sums, bounds.clone()), ("BiasRelu", relu, bounds), ("ClampedPower<3>", cube, cube_bounds)];
        for (epilogue, want, bound) in expected {
            let y = run.output::<f32>(tokens * n);
            run.launch(
                format!("grouped_gemm<8, 16, 8, {epilogue}>"),
                (cover(n, 16), 2, counts.len()),
                (16, 8),
                0,
                args![x, weight, bias, offsets, y, n as i32, k as i32],
            );
            run.near(y, want, bound);
        }
        runs.push(run);
    }
    runs
}

fn matvec_vectorised() -> Vec<Run> {
    let mut runs = Vec::new();
    for (m, k) in [(1, 1), (5, 128), (7, 130), (33, 1000), (2, 4)] {
        let mut rng = Rng::new(200 + k as u64);
        let (a, x) = (rng.floats(m * k), rng.floats(k));
        let (want, absolute) = product(&wide(&a), &wide(&x), [m, 1, k]);
        let mut run = Run::new(format!("{m} x {k}"));
        let (a, x, y) = (run.input(&a), run.input(&x), run.output::<f32>(m));
        run.launch("sgemv_warp<4>", cover(m, 4), (32, 4), 0, args![a, x, y, m as i32, k as i32]);
        run.near(y, want, absolute.iter().map(|s| gamma(k) * s).collect());
        runs.push(run);
    }
    runs
}
