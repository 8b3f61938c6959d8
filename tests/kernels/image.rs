//! Resampling of images.

use crate::case::{Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] =
    &[Kernel { name: "bilinear_upsample", runs: bilinear_upsample }, Kernel { name: "grid_sample", runs: grid_sample }];

/// The weight of pixel `j` for a sample at `at`: the triangle of width one.
fn hat(at: f64, j: usize) -> f64 {
    (1.0 - (at - j as f64).abs()).max(0.0)
}

fn bilinear_upsample() -> Vec<Run> {
    let mut runs = Vec::new();
    let cases = [
        (1, [1, 1], [3, 2], false),
        (2, [5, 7], [11, 13], false),
        (3, [4, 6], [9, 4], true),
        (1, [9, 5], [4, 2], false),
    ];
    for (planes, [h1, w1], [h2, w2], align) in cases {
        let mut rng = Rng::new((h2 * w2) as u64);
        let (x, g) = (rng.floats(planes * h1 * w1), rng.floats(planes * h2 * w2));
        let scale = |input: usize, output: usize| match (align, output) {
            (true, 1) => 0.0,
            (true, _) => (input - 1) as f32 / (output - 1) as f32,
            (false, _) => input as f32 / output as f32,
        };
        let (sh, sw) = (scale(h1, h2), scale(w1, w2));
        let source = |scale: f32, dst: usize, size: usize| {
            let scale = f64::from(scale);
            let at = if align { scale * dst as f64 } else { scale * (dst as f64 + 0.5) - 0.5 };
            at.clamp(0.0, (size - 1) as f64)
        };
        let mut run = Run::new(format!("{planes} x {h1} x {w1} to {h2} x {w2}, align = {align}"));
        let n = h2 * w2;
        let (input, out) = (run.input(&x), run.output::<f32>(planes * n));
        let shape = args![planes as i32, h1 as i32, w1 as i32, h2 as i32, w2 as i32];
        let mut forward = args![n as i32, sh, sw, align, input, out];
        forward.extend(shape.iter().cloned());
        run.launch("upsample_bilinear<float>", cover(n, 32), 32, 0, forward);
        let (grad_out, grad_in) = (run.input(&g), run.state(&vec![0f32; x.len()]));
        let mut backward = args![n as i32, sh, sw, align, grad_in, grad_out];
        backward.extend(shape);
        run.launch("upsample_bilinear_backward", 2, 64, 0, backward);

        let (x, g) = (wide(&x), wide(&g));
        // Three roundings of numbers up to the size; a weight moves as its coordinate does, and is rounded once.
        let slack = 3.0 * U * (h1.max(w1) as f64 + 1.0) + U;
        let (mut want, mut bound) = (Vec::new(), Vec::new());
        let mut gradients = vec![(0.0, 0.0, 0usize); x.len()];
        for p in 0..planes {
            for i in 0..n {
                let (sy, sx) = (source(sh, i / w2, h1), source(sw, i % w2, w1));
                let mut value = 0.0;
                for j in 0..h1 * w1 {
                    let weight = hat(sy, j / w1) * hat(sx, j % w1);
                    value += weight * x[p * h1 * w1 + j];
                    let near = (sy - (j / w1) as f64).abs() < 1.01 && (sx - (j % w1) as f64).abs() < 1.01;
                    if near {
                        let gradient = &mut gradients[p * h1 * w1 + j];
                        gradient.0 += weight * g[p * n + i];
                        gradient.1 += g[p * n + i].abs();
                        gradient.2 += 1;
                    }
                }
                want.push(value);
                // Pixels are below one: four weights in two directions are off, then there are six roundings.
                bound.push(4.0 * slack + gamma(6));
            }
        }
        run.near(out, want, bound);
        let bound = gradients.iter().map(|(_, a, count)| a * (2.0 * slack + gamma(count + 2))).collect();
        run.near(grad_in, gradients.iter().map(|g| g.0).collect(), bound);
        runs.push(run);
    }
    runs
}

/// The place of a normalised coordinate among `size` pixels, by the padding mode.
fn locate(coord: f64, size: usize, padding: &str, align: bool) -> f64 {
    let n = size as f64;
    let at = if align { (coord + 1.0) / 2.0 * (n - 1.0) } else { ((coord + 1.0) * n - 1.0) / 2.0 };
    match padding {
        "Border" => at.clamp(0.0, n - 1.0),
        "Reflection" => {
            // A triangle wave between the outermost centres (aligned) or edges.
            let (low, span) = if align { (0.0, n - 1.0) } else { (-0.5, n) };
            if span == 0.0 {
                return 0.0;
            }
            let phase = (at - low).rem_euclid(2.0 * span);
            (low + if phase > span { 2.0 * span - phase } else { phase }).clamp(0.0, n - 1.0)
        }
        _ => at,
    }
}

fn grid_sample() -> Vec<Run> {
    let mut runs = Vec::new();
    for ([n, c, h, w, oh, ow], align) in
        [([1, 1, 1, 1, 2, 2], false), ([2, 3, 5, 7, 6, 4], false), ([1, 2, 8, 3, 9, 9], true)]
    {
        let mut rng = Rng::new((oh * ow) as u64 + 1);
        let x = rng.floats(n * c * h * w);
        // Points an odd number of 64ths off the middle: no tie among nearest pixels for these extents, which are odd or powers of two.
        let grid: Vec<f32> = (0..2 * n * oh * ow).map(|_| (2 * rng.below(100) + 1) as f32 / 64.0 - 1.578_125).collect();
        let mut run = Run::new(format!("{n} x {c} x {h} x {w} at {oh} x {ow}, align = {align}"));
        let (input, points) = (run.input(&x), run.input(&grid));
        let (x, grid) = (wide(&x), wide(&grid));
        for mode in ["Bilinear", "Nearest"] {
            for padding in ["Zeros", "Border", "Reflection"] {
                let total = n * c * oh * ow;
                let out = run.output::<f32>(total);
                let sizes = [n, c, h, w, oh, ow].map(|v| crate::case::Argument::I32(v as i32));
                let mut args = args![input, points, out];
                args.extend(sizes);
                args.extend(args![align]);
                run.launch(format!("sample_grid<Interpolation::{mode}, Padding::{padding}>"), 2, 64, 0, args);
                let (mut want, mut bound) = (Vec::new(), Vec::new());
                for at in 0..total {
                    let (point, plane, image) = (at % (oh * ow), at / (oh * ow), at / (oh * ow) / c);
                    let place = 2 * (image * oh * ow + point);
                    let (sx, sy) = (locate(grid[place], w, padding, align), locate(grid[place + 1], h, padding, align));
                    let pixel = |j: usize| x[plane * h * w + j];
                    want.push(if mode == "Bilinear" {
                        (0..h * w).map(|j| hat(sy, j / w) * hat(sx, j % w) * pixel(j)).sum::<f64>()
                    } else {
                        let (px, py) = (sx.round_ties_even(), sy.round_ties_even());
                        let inside = px >= 0.0 && px < w as f64 && py >= 0.0 && py < h as f64;
                        if inside { pixel(py as usize * w + px as usize) } else { 0.0 }
                    });
                    // Coordinates below three times the extent go through six roundings; weights are Lipschitz.
                    let slack = 6.0 * U * 3.0 * h.max(w) as f64;
                    bound.push(if mode == "Bilinear" { 4.0 * slack + gamma(8) } else { 0.0 });
                }
                run.near(out, want, bound);
            }
        }
        runs.push(run);
    }
    runs
}
