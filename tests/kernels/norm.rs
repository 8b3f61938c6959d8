//! Normalisations.

use half::{bf16, f16};

use crate::case::{Argument, Element, Kernel, Rng, Run, U, U16, UB16, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "layernorm_forward", runs: layernorm_forward },
    Kernel { name: "layernorm_backward", runs: layernorm_backward },
    Kernel { name: "rms_norm", runs: rms_norm },
    Kernel { name: "group_norm_welford", runs: group_norm_welford },
];

const EPS: f32 = 1e-5;

/// Mean and (biased) variance.
fn moments(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (mean, x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64)
}

fn mean_abs(x: &[f64]) -> f64 {
    x.iter().map(|v| v.abs()).sum::<f64>() / x.len() as f64
}

/// The layer norm of one row in arithmetic of unit roundoff `u`: outputs with bounds, mean and 1/deviation likewise.
struct Row {
    y: Vec<(f64, f64)>,
    mean: (f64, f64),
    rstd: (f64, f64),
}

fn layer_norm(x: &[f64], affine: impl Fn(usize) -> (f64, f64), u: f64) -> Row {
    let n = x.len() as f64;
    let (mean, var) = moments(x);
    let eps = f64::from(EPS);
    let rstd = (var + eps).sqrt().recip();
    let mean_bound = (n + 1.0) * u * mean_abs(x);
    // Squares about a mean that is off: the error's square adds to the variance; the sum rounds n + 3 times. A root halves a
    // relative error; root, sum and quotient round.
    let rstd_relative = 0.5 * ((n + 5.0) * u * var + mean_bound * mean_bound) / (var + eps) + 3.0 * u;
    let y = x
        .iter()
        .enumerate()
        .map(|(j, v)| {
            let (g, b) = affine(j);
            let scaled = (v - mean) * rstd * g;
            let bound =
                (g * rstd).abs() * mean_bound + scaled.abs() * (rstd_relative + 4.0 * u) + u * (scaled + b).abs();
            (scaled + b, bound)
        })
        .collect();
    Row { y, mean: (mean, mean_bound), rstd: (rstd, rstd * rstd_relative) }
}

/// Launches the forward kernel in `float` or `double`, with the expected results.
fn layernorm<T: Element>(
    run: &mut Run,
    name: &str,
    u: f64,
    data: [&[T]; 3],
    wide: [&[f64]; 3],
    cols: usize,
    eps: Argument,
) {
    let rows = data[0].len() / cols;
    let x = run.input(data[0]);
    let affine = [1, 2].map(|i| if data[i].is_empty() { Argument::Null } else { Argument::Array(run.input(data[i])) });
    let (y, mean, rstd) = (run.output::<T>(rows * cols), run.output::<T>(rows), run.output::<T>(rows));
    let [g, b] = affine;
    let args = vec![(cols as i32).into(), eps, x.into(), g, b, y.into(), mean.into(), rstd.into()];
    run.launch(format!("layernorm_forward<{name}>"), rows, 128, 0, args);
    let at = |values: &[f64], j: usize, default| values.get(j).copied().unwrap_or(default);
    let rows: Vec<Row> =
        wide[0].chunks(cols).map(|row| layer_norm(row, |j| (at(wide[1], j, 1.0), at(wide[2], j, 0.0)), u)).collect();
    let (want, bound) = rows.iter().flat_map(|r| r.y.iter().copied()).unzip();
    run.near(y, want, bound);
    let (want, bound) = rows.iter().map(|r| r.mean).unzip();
    run.near(mean, want, bound);
    let (want, bound) = rows.iter().map(|r| r.rstd).unzip();
    run.near(rstd, want, bound);
}

fn layernorm_forward() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols) in [(1, 1), (3, 33), (2, 1000), (5, 129)] {
        let mut rng = Rng::new(cols as u64);
        let (x, g, b) = (rng.uniform(rows * cols, -1.0, 3.0), rng.floats(cols), rng.floats(cols));
        let mut run = Run::new(format!("{rows} x {cols}"));
        let doubles = [wide(&x), wide(&g), wide(&b)];
        let [wx, wg, wb] = [&doubles[0][..], &doubles[1], &doubles[2]];
        layernorm(&mut run, "float", U, [&x, &g, &b], [wx, wg, wb], cols, EPS.into());
        layernorm(&mut run, "float", U, [&x, &[], &b], [wx, &[], wb], cols, EPS.into());
        // Twice the roundoff, because the reference rounds as well.
        layernorm(&mut run, "double", 2f64.powi(-52), [wx, wg, &[]], [wx, wg, &[]], cols, f64::from(EPS).into());
        runs.push(run);
    }
    runs
}

fn layernorm_backward() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols) in [(1, 2), (9, 33), (3, 300), (20, 64)] {
        let mut rng = Rng::new(cols as u64 + 1);
        let (dy, x, g) = (rng.floats(rows * cols), rng.uniform(rows * cols, -1.0, 3.0), rng.floats(cols));
        let statistics = wide(&x).chunks(cols).map(moments).collect::<Vec<_>>();
        let means: Vec<f32> = statistics.iter().map(|s| s.0 as f32).collect();
        let rstds: Vec<f32> = statistics.iter().map(|s| (s.1 + f64::from(EPS)).sqrt().recip() as f32).collect();
        let mut run = Run::new(format!("{rows} x {cols}"));
        let [a, b, c, d, e] = [&dy, &x, &means, &rstds, &g].map(|v| run.input(v));
        let dx = run.output::<f32>(rows * cols);
        let (dgamma, dbeta) = (run.output::<f32>(cols), run.output::<f32>(cols));
        run.launch("layernorm_grad_input<64>", rows, 64, 0, args![a, b, c, d, e, dx, cols as i32]);
        let args = args![a, b, c, d, dgamma, dbeta, rows as i32, cols as i32];
        run.launch("layernorm_grad_weights<32, 8>", cover(cols, 32), (32, 8), 0, args);

        let (dy, x, g, means, rstds) = (wide(&dy), wide(&x), wide(&g), wide(&means), wide(&rstds));
        let (mut want, mut bound) = (Vec::new(), Vec::new());
        let mut gradients = vec![[0.0; 4]; cols];
        let n = cols as f64;
        for r in 0..rows {
            let hat: Vec<f64> = (0..cols).map(|j| (x[r * cols + j] - means[r]) * rstds[r]).collect();
            let loss: Vec<f64> = (0..cols).map(|j| dy[r * cols + j] * g[j]).collect();
            let (s1, a1): (f64, f64) = (loss.iter().sum(), loss.iter().map(|v| v.abs()).sum());
            let s2: f64 = loss.iter().zip(&hat).map(|(c, h)| c * h).sum();
            let a2: f64 = loss.iter().zip(&hat).map(|(c, h)| (c * h).abs()).sum();
            for j in 0..cols {
                want.push(rstds[r] / n * (n * loss[j] - hat[j] * s2 - s1));
                // Sums of n terms of up to four roundings each, then eight more to the end.
                bound.push(rstds[r] / n * gamma(cols + 12) * (n * loss[j].abs() + hat[j].abs() * a2 + a1));
                let (d, h) = (dy[r * cols + j], hat[j]);
                for (sum, term) in gradients[j].iter_mut().zip([d * h, (d * h).abs(), d, d.abs()]) {
                    *sum += term;
                }
            }
        }
        run.near(dx, want, bound);
        run.near(
            dgamma,
            gradients.iter().map(|g| g[0]).collect(),
            gradients.iter().map(|g| gamma(rows + 3) * g[1]).collect(),
        );
        run.near(
            dbeta,
            gradients.iter().map(|g| g[2]).collect(),
            gradients.iter().map(|g| gamma(rows) * g[3]).collect(),
        );
        runs.push(run);
    }
    runs
}

/// One RMS norm in storage type `T` of unit roundoff `u` (zero for floats).
fn rms<T: Element + Into<f32>>(run: &mut Run, name: &str, u: f64, round: fn(f32) -> T, shape: [usize; 2], seed: u64) {
    let [rows, cols] = shape;
    let mut rng = Rng::new(seed);
    let [x, r] = [0, 1].map(|_| rng.floats(rows * cols).into_iter().map(round).collect::<Vec<T>>());
    let w: Vec<T> = rng.uniform(cols, 0.5, 1.5).into_iter().map(round).collect();
    // One addition of floats, rounded to storage: exact.
    let sums: Vec<T> = x.iter().zip(&r).map(|(x, r)| round((*x).into() + (*r).into())).collect();
    let (input, residual, weight) = (run.state(&x), run.state(&r), run.input(&w));
    let args = args![input, residual, weight, EPS, cols as i32];
    run.launch(format!("add_rms_norm<{name}>"), rows, 96, 3 * 4, args);
    run.exactly(residual, &sums);
    let z: Vec<f64> = sums.iter().map(|v| f64::from((*v).into())).collect();
    let mut want = Vec::new();
    for row in z.chunks(cols) {
        let mean = row.iter().map(|v| v * v).sum::<f64>() / cols as f64;
        want.extend(row.iter().zip(&w).map(|(v, w)| v / (mean + f64::from(EPS)).sqrt() * f64::from((*w).into())));
    }
    // Half the relative error of the mean of squares; `rsqrtf` (two units in the last place) and two products; the rounding to
    // storage, which among the smallest halves is half a step of 2^-24.
    let relative = 0.5 * gamma(cols + 3) + 6.0 * U + u;
    let bound = want.iter().map(|w| w.abs() * relative + if u == 0.0 { 0.0 } else { 2f64.powi(-25) }).collect();
    run.near(input, want, bound);
}

fn rms_norm() -> Vec<Run> {
    let mut runs = Vec::new();
    for shape in [[1, 1], [3, 33], [4, 100], [2, 1025]] {
        let mut run = Run::new(format!("{shape:?}"));
        rms::<f32>(&mut run, "float", 0.0, |x| x, shape, 1);
        rms::<f16>(&mut run, "__half", U16, f16::from_f32, shape, 2);
        rms::<bf16>(&mut run, "__nv_bfloat16", UB16, bf16::from_f32, shape, 3);
        runs.push(run);
    }
    runs
}

fn group_norm_welford() -> Vec<Run> {
    let mut runs = Vec::new();
    for (batch, groups, channels, spatial) in [(1, 1, 1, 2), (2, 3, 6, 25), (3, 4, 32, 49), (1, 2, 10, 333)] {
        let mut rng = Rng::new(spatial as u64);
        let x = rng.uniform(batch * channels * spatial, -1.0, 2.0);
        let (w, b) = (rng.floats(channels), rng.floats(channels));
        let mut run = Run::new(format!("{batch} x {channels} x {spatial}, {groups} groups"));
        let [input, weight, bias] = [&x, &w, &b].map(|v| run.input(v));
        let (x, per_group) = (wide(&x), channels / groups);
        let size = per_group * spatial;
        for (acc, eps, u) in [("float", Argument::from(EPS), U), ("double", f64::from(EPS).into(), 2f64.powi(-53))] {
            let y = run.output::<f32>(x.len());
            let mut args = args![input, weight, bias, y, groups as i32, channels as i32, spatial as i32];
            args.push(eps);
            run.launch(format!("group_norm<float, {acc}, 2>"), batch * groups, 64, 0, args);
            let (mut want, mut bound) = (Vec::new(), Vec::new());
            for (block, part) in x.chunks(size).enumerate() {
                let (mean, var) = moments(part);
                let rstd = (var + f64::from(EPS)).sqrt().recip();
                // Steps a value goes through: the loop, five shuffles, two warps; each rounds four times. The variance's error grows
                // with the condition number of the data (Chan, Golub, LeVeque 1983).
                let steps = (size.div_ceil(64) + 7) as f64;
                let condition = (1.0 + mean * mean / (var + f64::from(EPS))).sqrt();
                let mean_bound = 4.0 * steps * u * mean_abs(part).max(1.0) * 2.0;
                let relative = 4.0 * steps * u * condition + 8.0 * u;
                for (i, v) in part.iter().enumerate() {
                    let c = block % groups * per_group + i / spatial;
                    let (w, b) = (f64::from(w[c]), f64::from(b[c]));
                    let scaled = (v - mean) * rstd * w;
                    want.push(scaled + b);
                    bound.push((rstd * w).abs() * mean_bound + scaled.abs() * relative + U * (scaled + b).abs());
                }
            }
            run.near(y, want, bound);
        }
        runs.push(run);
    }
    runs
}
