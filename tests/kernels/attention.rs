//! Attention and position embeddings.

use crate::case::{Argument, Element, Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "flash_attention", runs: flash_attention },
    Kernel { name: "rotary_embedding", runs: rotary_embedding },
];

fn flash_attention() -> Vec<Run> {
    let mut runs = Vec::new();
    let cases = [(1, 1, 1, false), (2, 33, 50, false), (3, 40, 40, true), (1, 64, 17, true), (2, 5, 100, false)];
    for (heads, seq_q, seq_k, causal) in cases {
        let mut rng = Rng::new((seq_q * 1000 + seq_k) as u64);
        const D: usize = 16;
        let (br, bc) = (32, 16);
        let q = rng.uniform(heads * seq_q * D, -2.0, 2.0);
        let (k, v) = (rng.uniform(heads * seq_k * D, -2.0, 2.0), rng.floats(heads * seq_k * D));
        let scale = 0.25f32;
        let mut run = Run::new(format!("{heads} heads, {seq_q} x {seq_k}, causal = {causal}"));
        let [a, b, c] = [&q, &k, &v].map(|x| run.input(x));
        let (out, lse) = (run.output::<f32>(q.len()), run.output::<f32>(heads * seq_q));
        run.launch(
            format!("flash_forward<{br}, {bc}, {D}, {causal}>"),
            (cover(seq_q, br), heads),
            br,
            (2 * bc * D + br * (bc + 1)) * 4,
            args![a, b, c, out, lse, seq_q as i32, seq_k as i32, scale],
        );

        let (q, k, v) = (wide(&q), wide(&k), wide(&v));
        let (mut want, mut bound, mut sums, mut sum_bounds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for h in 0..heads {
            for i in 0..seq_q {
                let keys = if causal { seq_k.min(i + 1) } else { seq_k };
                let row = &q[(h * seq_q + i) * D..][..D];
                let (mut scores, mut slack) = (Vec::new(), 0f64);
                for j in 0..keys {
                    let terms = row.iter().zip(&k[(h * seq_k + j) * D..][..D]).map(|(a, b)| a * b * f64::from(scale));
                    scores.push(terms.clone().sum::<f64>());
                    slack = slack.max(gamma(D + 1) * terms.map(f64::abs).sum::<f64>());
                }
                let max = scores.iter().copied().fold(f64::MIN, f64::max);
                let range = max - scores.iter().copied().fold(f64::MAX, f64::min);
                let p: Vec<f64> = scores.iter().map(|s| (s - max).exp()).collect();
                let total: f64 = p.iter().sum();
                // Weights are off by twice the scores' error and the exponent's rounding, by `expf` and a product for each tile's
                // rescaling, and by the sums; above and below the fraction bar.
                let tiles = keys.div_ceil(bc) as f64;
                let relative = 2.0 * (2.0 * slack + U * (2.0 * range + 6.0 * tiles + 8.0) + gamma(keys + 1));
                for d in 0..D {
                    let column = |j: usize| v[(h * seq_k + j) * D + d];
                    want.push((0..keys).map(|j| p[j] * column(j)).sum::<f64>() / total);
                    bound.push(relative * (0..keys).map(|j| p[j] * column(j).abs()).sum::<f64>() / total);
                }
                sums.push(max + total.ln());
                sum_bounds.push(relative + U * (max.abs() + 3.0 * total.ln().abs() + (max + total.ln()).abs()));
            }
        }
        run.near(out, want, bound);
        run.near(lse, sums, sum_bounds);
        runs.push(run);
    }
    runs
}

/// Rotates in one of the two layouts, in `float` or `double`.
fn rotate<T: Element>(
    run: &mut Run,
    ty: &str,
    u: f64,
    neox: bool,
    data: [&[T]; 3],
    wide: [&[f64]; 3],
    shape: [usize; 5],
) {
    let [tokens, heads, kv_heads, head_size, rot_dim] = shape;
    let positions: Vec<i64> = (0..tokens).map(|t| (t * 7 % 11) as i64).collect();
    let at = run.input(&positions);
    let query = run.state(data[0]);
    let key = if kv_heads == 0 { None } else { Some(run.state(data[1])) };
    let cache = run.input(data[2]);
    let mut args = args![at, query];
    args.push(key.map_or(Argument::Null, Argument::Array));
    args.extend(args![cache, rot_dim as i32, heads as i32, kv_heads as i32, head_size as i32]);
    run.launch(format!("rotary_embedding<{ty}, {neox}>"), tokens, 32, 0, args);
    for (handle, values, count) in [(Some(query), wide[0], heads), (key, wide[1], kv_heads)] {
        let Some(handle) = handle else { continue };
        let mut want = values.to_vec();
        let mut bound = vec![0.0; want.len()];
        for head in 0..tokens * count {
            let half = rot_dim / 2;
            let table = &wide[2][positions[head / count] as usize * rot_dim..][..rot_dim];
            for i in 0..half {
                let (cos, sin) = (table[i], table[half + i]);
                let (a, b) = if neox { (i, half + i) } else { (2 * i, 2 * i + 1) };
                let (a, b) = (head * head_size + a, head * head_size + b);
                let (x, y) = (values[a], values[b]);
                (want[a], want[b]) = (x * cos - y * sin, y * cos + x * sin);
                // Two products and a sum.
                bound[a] = 2.0 * u * ((x * cos).abs() + (y * sin).abs());
                bound[b] = 2.0 * u * ((y * cos).abs() + (x * sin).abs());
            }
        }
        run.near(handle, want, bound);
    }
}

fn rotary_embedding() -> Vec<Run> {
    let mut runs = Vec::new();
    for shape in [[1, 1, 1, 2, 2], [5, 4, 2, 16, 16], [7, 3, 0, 20, 12], [3, 5, 5, 64, 32]] {
        let [tokens, heads, kv_heads, head_size, rot_dim] = shape;
        let mut rng = Rng::new(rot_dim as u64);
        let (q, k) = (rng.floats(tokens * heads * head_size), rng.floats(tokens * kv_heads * head_size));
        let cache = (0..11 * rot_dim).map(|i| {
            let (position, d) = (i / rot_dim, i % rot_dim);
            let half = rot_dim / 2;
            let angle = position as f64 * 10_000f64.powf(-((d % half) as f64) / half as f64);
            (if d < half { angle.cos() } else { angle.sin() }) as f32
        });
        let cache: Vec<f32> = cache.collect();
        let doubles = [wide(&q), wide(&k), wide(&cache)];
        let doubles = [&doubles[0][..], &doubles[1], &doubles[2]];
        let mut run = Run::new(format!("{shape:?}"));
        for neox in [true, false] {
            rotate(&mut run, "float", U, neox, [&q, &k, &cache], doubles, shape);
            // Both sides round in double.
            rotate(&mut run, "double", 2f64.powi(-52), neox, doubles, doubles, shape);
        }
        runs.push(run);
    }
    runs
}
