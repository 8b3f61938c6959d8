//! Softmax and kernels built on it.

use crate::case::{Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "softmax_warp", runs: softmax_warp },
    Kernel { name: "softmax_online", runs: softmax_online },
    Kernel { name: "cross_entropy", runs: cross_entropy },
];

/// Inputs are in [-RANGE / 2, RANGE / 2), so that no exponent is larger than this. `expf` is within two units in the last place, four `U`;
/// its argument is rounded, which costs another `RANGE * U` at most.
const RANGE: f64 = 20.0;

fn logits(rng: &mut Rng, n: usize) -> Vec<f32> {
    rng.uniform(n, -RANGE as f32 / 2.0, RANGE as f32 / 2.0)
}

/// The logarithm of the sum of exponentials.
fn lse(row: &[f64]) -> f64 {
    let max = row.iter().copied().fold(f64::MIN, f64::max);
    max + row.iter().map(|v| (v - max).exp()).sum::<f64>().ln()
}

/// The bound of an `lse` in floats: the relative error of the sum; the error of its logarithm (one unit in the last place); that of the
/// addition.
fn lse_bound(lse: f64, n: usize) -> f64 {
    (RANGE + 4.0) * U + gamma(n) + 2.0 * U * (n as f64).ln() + U * lse.abs()
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let lse = lse(row);
    row.iter().map(|v| (v - lse).exp()).collect()
}

fn softmax_warp() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols, per_lane, per_warp) in [(1, 1, 1, 1), (5, 31, 1, 2), (7, 100, 4, 2), (3, 256, 8, 1)] {
        let mut rng = Rng::new(cols as u64);
        let x = logits(&mut rng, rows * cols);
        let mut run = Run::new(format!("{rows} x {cols}"));
        let input = run.input(&x);
        let x = wide(&x);
        let grid = cover(rows, 4 * per_warp);

        let out = run.output::<f32>(rows * cols);
        let kernel = format!("softmax_warp_forward<{per_lane}, {per_warp}, false>");
        run.launch(kernel, grid, (32, 4), 0, args![out, input, rows as i32, cols as i32]);
        let want: Vec<f64> = x.chunks(cols).flat_map(softmax).collect();
        run.near_relative(out, want.clone(), 2.0 * (RANGE + 4.0) * U + gamma(cols + 2));

        let out = run.output::<f32>(rows * cols);
        let kernel = format!("softmax_warp_forward<{per_lane}, {per_warp}, true>");
        run.launch(kernel, grid, (32, 4), 0, args![out, input, rows as i32, cols as i32]);
        let logs: Vec<f64> =
            x.chunks(cols).flat_map(|row| row.iter().map(|v| v - lse(row)).collect::<Vec<_>>()).collect();
        let bound = logs.iter().map(|w| lse_bound(0.0, cols) + (RANGE + w.abs()) * U).collect();
        run.near(out, logs, bound);

        let y: Vec<f32> = want.iter().map(|v| *v as f32).collect();
        let g = rng.floats(rows * cols);
        let (grad_out, out, grad_in) = (run.input(&g), run.input(&y), run.output::<f32>(rows * cols));
        let kernel = format!("softmax_warp_backward<{per_lane}>");
        run.launch(kernel, cover(rows, 4), (32, 4), 0, args![grad_in, grad_out, out, rows as i32, cols as i32]);
        let (g, y) = (wide(&g), wide(&y));
        let (mut want, mut bound) = (Vec::new(), Vec::new());
        for (g, y) in g.chunks(cols).zip(y.chunks(cols)) {
            let dot: f64 = g.iter().zip(y).map(|(g, y)| g * y).sum();
            let absolute: f64 = g.iter().zip(y).map(|(g, y)| (g * y).abs()).sum();
            for (g, y) in g.iter().zip(y) {
                want.push((g - dot) * y);
                bound.push(y * (gamma(cols + 1) * absolute + 3.0 * U * (g - dot).abs()));
            }
        }
        run.near(grad_in, want, bound);
        runs.push(run);
    }
    runs
}

fn softmax_online() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols, block) in [(1, 1, 32), (3, 33, 64), (4, 1000, 128), (2, 4097, 256)] {
        let x = logits(&mut Rng::new(cols as u64 + 1), rows * cols);
        let mut run = Run::new(format!("{rows} x {cols}, block = {block}"));
        let (input, out) = (run.input(&x), run.output::<f32>(rows * cols));
        run.launch(format!("online_softmax<{block}>"), rows, block, 0, args![input, out, cols as i32]);
        let want = wide(&x).chunks(cols).flat_map(softmax).collect();
        // A term goes through this many merges; each costs an `expf` (4), a product and a sum, and the differences of maxima add up
        // to the range. Then an `expf`, a quotient and a product.
        let merges = (cols.div_ceil(block) + 5 + block / 32) as f64;
        run.near_relative(out, want, (6.0 * merges + 2.0 * RANGE + 7.0) * U);
        runs.push(run);
    }
    runs
}

fn cross_entropy() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, classes, block, smoothing) in
        [(1, 2, 32, 0.0f32), (5, 10, 64, 0.1), (6, 1001, 256, 0.05), (3, 257, 128, 0.0)]
    {
        let mut rng = Rng::new(classes as u64 + 2);
        let z = logits(&mut rng, rows * classes);
        let grads = rng.floats(rows);
        let mut labels: Vec<i64> = (0..rows).map(|_| rng.below(classes) as i64).collect();
        if rows > 2 {
            labels[1] = -100;
        }
        let mut run = Run::new(format!("{rows} x {classes}, smoothing = {smoothing}"));
        let (logits, targets, grad_out) = (run.input(&z), run.input(&labels), run.input(&grads));
        let (losses, sums) = (run.output::<f32>(rows), run.output::<f32>(rows));
        let forward = args![logits, targets, losses, sums, classes as i32, smoothing, -100i64];
        run.launch("cross_entropy_forward", rows, block, block * 4, forward);
        let grad_in = run.output::<f32>(rows * classes);
        let backward = args![grad_out, logits, targets, sums, grad_in, rows as i32, classes as i32, smoothing, -100i64];
        run.launch("cross_entropy_backward", 3, 128, 0, backward);

        let (z, s, n) = (wide(&z), f64::from(smoothing), classes as f64);
        let (mut loss, mut loss_bound) = (Vec::new(), Vec::new());
        let (mut total, mut total_bound) = (Vec::new(), Vec::new());
        let (mut grad, mut grad_bound) = (Vec::new(), Vec::new());
        for (r, z) in z.chunks(classes).enumerate() {
            let lse = lse(z);
            let slack = lse_bound(lse, classes);
            total.push(lse);
            total_bound.push(slack);
            if labels[r] == -100 {
                loss.push(0.0);
                loss_bound.push(0.0);
                grad.extend(vec![0.0; classes]);
                grad_bound.extend(vec![0.0; classes]);
                continue;
            }
            let label = labels[r] as usize;
            let (nll, uniform) = (lse - z[label], lse - z.iter().sum::<f64>() / n);
            let absolute = z.iter().map(|v| v.abs()).sum::<f64>() / n;
            loss.push((1.0 - s) * nll + s * uniform);
            // The lse enters with weight one, the mean with weight s; a subtraction, a product and a sum each.
            loss_bound.push(slack + s * gamma(classes + 1) * absolute + 4.0 * U * (nll.abs() + s * uniform.abs()));
            for (c, v) in z.iter().enumerate() {
                let p = (v - lse).exp();
                let target = if c == label { 1.0 - s } else { 0.0 } + s / n;
                let g = f64::from(grads[r]);
                grad.push(g * (p - target));
                let p_bound = p * (slack + (v - lse).abs() * U + 4.0 * U);
                grad_bound.push(g.abs() * (p_bound + 3.0 * U * target + 3.0 * U * (p - target).abs()));
            }
        }
        run.near(losses, loss, loss_bound);
        run.near(sums, total, total_bound);
        run.near(grad_in, grad, grad_bound);
        runs.push(run);
    }
    runs
}
