//! Training: optimiser, embeddings, recurrent cells, batch norm.

use crate::case::{Argument, Element, Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "adam_step", runs: adam_step },
    Kernel { name: "embedding_bag", runs: embedding_bag },
    Kernel { name: "lstm_cell", runs: lstm_cell },
    Kernel { name: "batch_norm_accessor", runs: batch_norm_accessor },
];

fn adam_step() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, step, decay) in [(1, 1, "kL2"), (67, 3, "kDecoupled"), (1000, 10, "kL2"), (258, 1000, "kDecoupled")] {
        let mut rng = Rng::new(n as u64);
        let (p, g, m) = (rng.floats(n), rng.floats(n), rng.floats(n));
        let v = rng.uniform(n, 0.25, 1.0);
        let [lr, b1, b2, eps, wd] = [0.01f32, 0.9, 0.999, 1e-8, 0.1];
        let mut run = Run::new(format!("n = {n}, step {step}, {decay}"));
        let (params, grads) = (run.state(&p), run.input(&g));
        let (exp_avg, exp_avg_sq) = (run.state(&m), run.state(&v));
        let mut config: Vec<u8> = [lr, b1, b2, eps, wd].iter().flat_map(|x| x.to_le_bytes()).collect();
        config.extend(i32::to_le_bytes(step));
        let mut args = args![params, grads, exp_avg, exp_avg_sq, n as i32];
        args.push(Argument::Struct(config));
        run.launch(format!("adam_step<Decay::{decay}>"), 2, 64, 0, args);

        let [lr, b1, b2, eps, wd] = [lr, b1, b2, eps, wd].map(f64::from);
        let (c1, c2) = (1.0 - b1.powi(step), 1.0 - b2.powi(step));
        let (mut new_p, mut new_m, mut new_v) = ((vec![], vec![]), (vec![], vec![]), (vec![], vec![]));
        for i in 0..n {
            let (mut p, mut g) = (f64::from(p[i]), f64::from(g[i]));
            let mut g_bound = 0.0;
            if decay == "kL2" {
                g += wd * p;
                g_bound = U * ((wd * p).abs() + g.abs());
            } else {
                p -= lr * wd * p;
            }
            let (m, v) = (b1 * f64::from(m[i]), b2 * f64::from(v[i]));
            let m_bound = (1.0 - b1) * g_bound + 4.0 * U * (m.abs() + ((1.0 - b1) * g).abs());
            let m = m + (1.0 - b1) * g;
            let v_bound = (1.0 - b2) * 2.0 * g.abs() * g_bound + 5.0 * U * (v + (1.0 - b2) * g * g);
            let v = v + (1.0 - b2) * g * g;
            let denominator = (v / c2).sqrt() + eps;
            let change = lr / c1 * m / denominator;
            // `powf` is good to four units in the last place, so a correction to 9 U in all; the second one's root halves that.
            let relative = 9.0 * U / c1 + 4.5 * U / c2 + 0.5 * v_bound / v + 8.0 * U;
            new_m.0.push(m);
            new_m.1.push(m_bound);
            new_v.0.push(v);
            new_v.1.push(v_bound);
            new_p.0.push(p - change);
            let bound = change.abs() * relative + lr / c1 * m_bound / denominator;
            new_p.1.push(bound + 3.0 * U * p.abs() + U * (p - change).abs());
        }
        run.near(params, new_p.0, new_p.1);
        run.near(exp_avg, new_m.0, new_m.1);
        run.near(exp_avg_sq, new_v.0, new_v.1);
        runs.push(run);
    }
    runs
}

fn embedding_bag() -> Vec<Run> {
    let mut runs = Vec::new();
    let cases: [(usize, usize, &[usize]); 3] =
        [(1, 1, &[1]), (10, 33, &[3, 0, 5, 1]), (50, 100, &[20, 7, 0, 0, 31, 2])];
    for (rows, dim, lengths) in cases {
        let mut rng = Rng::new(dim as u64);
        let n: usize = lengths.iter().sum();
        let padding = if rows > 1 { 3 } else { -1 };
        let table = rng.floats(rows * dim);
        let indices: Vec<i64> = (0..n).map(|_| rng.below(rows) as i64).collect();
        let bag_of: Vec<i32> = lengths.iter().enumerate().flat_map(|(b, l)| vec![b as i32; *l]).collect();
        let mut offsets = vec![0i64];
        for l in lengths {
            offsets.push(offsets[offsets.len() - 1] + *l as i64);
        }
        let bags = lengths.len();
        let mut run = Run::new(format!("{rows} x {dim}, bags {lengths:?}"));
        let (weights, places, starts) = (run.input(&table), run.input(&indices), run.input(&offsets));
        for mode in ["BAG_SUM", "BAG_MEAN", "BAG_MAX"] {
            let out = run.output::<f32>(bags * dim);
            let winners = run.state(&vec![-7i32; bags * dim]);
            let args = args![weights, places, starts, out, winners, bags as i32, dim as i32, padding];
            run.launch(format!("embedding_bag_forward<{mode}>"), 2, 64, 0, args);
            let (mut want, mut bound, mut best) = (Vec::new(), Vec::new(), Vec::new());
            for b in 0..bags {
                let used: Vec<usize> = (offsets[b]..offsets[b + 1])
                    .map(|i| indices[i as usize])
                    .filter(|row| *row != i64::from(padding))
                    .map(|row| row as usize)
                    .collect();
                for d in 0..dim {
                    let value = |row: usize| f64::from(table[row * dim + d]);
                    let sum: f64 = used.iter().map(|row| value(*row)).sum();
                    let absolute: f64 = used.iter().map(|row| value(*row).abs()).sum();
                    let count = used.len().max(1) as f64;
                    let most = used.iter().copied().reduce(|a, b| if value(b) > value(a) { b } else { a });
                    best.push(most.map_or(-1, |row| row as i32));
                    want.push(match mode {
                        "BAG_SUM" => sum,
                        "BAG_MEAN" => sum / count,
                        _ => most.map_or(0.0, value),
                    });
                    bound.push(match mode {
                        "BAG_SUM" => gamma(used.len()) * absolute,
                        "BAG_MEAN" => gamma(used.len() + 1) * absolute / count,
                        _ => 0.0,
                    });
                }
            }
            run.near(out, want, bound);
            run.exactly(winners, &if mode == "BAG_MAX" { best } else { vec![-7; bags * dim] });
        }

        let g = rng.floats(bags * dim);
        let (grad_out, owners, grad) = (run.input(&g), run.input(&bag_of), run.state(&vec![0f32; rows * dim]));
        let args = args![grad_out, places, owners, grad, n as i32, dim as i32, padding];
        run.launch("embedding_bag_backward", (3, cover(dim, 32)), (32, 2), 0, args);
        let mut sums = vec![(0.0, 0.0); rows * dim];
        for (row, bag) in indices.iter().zip(&bag_of).filter(|(row, _)| **row != i64::from(padding)) {
            for d in 0..dim {
                let value = f64::from(g[*bag as usize * dim + d]);
                let sum = &mut sums[*row as usize * dim + d];
                *sum = (sum.0 + value, sum.1 + value.abs());
            }
        }
        run.near(grad, sums.iter().map(|s| s.0).collect(), sums.iter().map(|s| gamma(n) * s.1).collect());
        runs.push(run);
    }
    runs
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Forward and backward passes in arithmetic of unit roundoff `u`. Functions are good to two units in the last place, which are four `u`.
fn lstm<T: Element + Into<f64>>(run: &mut Run, ty: &str, u: f64, round: fn(f32) -> T, batch: usize, hidden: usize) {
    let mut rng = Rng::new(hidden as u64);
    let mut data = |n: usize, scale: f32| rng.uniform(n, -scale, scale).into_iter().map(round).collect::<Vec<T>>();
    let (a, b, bias) = (data(4 * batch * hidden, 3.0), data(4 * batch * hidden, 3.0), data(4 * hidden, 1.0));
    let [c_prev, grad_h, grad_c] = [0; 3].map(|_| data(batch * hidden, 2.0));
    let [from_input, from_hidden, offset, before] = [&a, &b, &bias, &c_prev].map(|v| run.input(v));
    let (h, c) = (run.output::<T>(batch * hidden), run.output::<T>(batch * hidden));
    let saved = run.output::<T>(4 * batch * hidden);
    let grid = (cover(hidden, 32), batch);
    let args = args![from_input, from_hidden, offset, before, h, c, saved, hidden as u64];
    run.launch(format!("lstm_cell_forward<{ty}>"), grid, 32, 0, args);

    let count = batch * hidden;
    let [mut want_h, mut want_c] = [(); 2].map(|()| (vec![0.0; count], vec![0.0; count]));
    let mut want_gates = (vec![0.0; 4 * count], vec![0.0; 4 * count]);
    for (at, old) in c_prev.iter().enumerate() {
        let (row, column) = (at / hidden, at % hidden);
        let mut gates = [(0.0, 0.0); 4];
        for (g, gate) in gates.iter_mut().enumerate() {
            let place = (row * 4 + g) * hidden + column;
            let terms: [f64; 3] = [a[place].into(), b[place].into(), bias[g * hidden + column].into()];
            let sum: f64 = terms.iter().sum();
            let slack = 2.0 * u * terms.iter().map(|t| t.abs()).sum::<f64>();
            // The slope of a sigmoid is at most a quarter, that of tanh one.
            *gate = if g == 2 {
                (sum.tanh(), slack + 4.0 * u * sum.tanh().abs())
            } else {
                (sigmoid(sum), slack / 4.0 + 7.0 * u * sigmoid(sum))
            };
            want_gates.0[place] = gate.0;
            want_gates.1[place] = gate.1;
        }
        let [(i, ei), (f, ef), (z, ez), (o, eo)] = gates;
        let old: f64 = (*old).into();
        let new = f * old + i * z;
        let slack = old.abs() * ef + z.abs() * ei + i * ez + 3.0 * u * ((f * old).abs() + (i * z).abs());
        (want_c.0[at], want_c.1[at]) = (new, slack);
        let t = new.tanh();
        (want_h.0[at], want_h.1[at]) =
            (o * t, t.abs() * eo + o * (slack + 4.0 * u * t.abs()) + 2.0 * u * (o * t).abs());
    }

    // The backward pass starts from states of its own, so that errors do not add up.
    let states: Vec<T> = want_c.0.iter().map(|v| round(*v as f32)).collect();
    let activations: Vec<T> = want_gates.0.iter().map(|v| round(*v as f32)).collect();
    run.near(h, want_h.0, want_h.1);
    run.near(c, want_c.0, want_c.1);
    run.near(saved, want_gates.0, want_gates.1);
    let [gh, gc, now, gates] = [&grad_h, &grad_c, &states, &activations].map(|v| run.input(v));
    let (d_gates, d_before) = (run.output::<T>(4 * count), run.output::<T>(count));
    let args = args![gh, gc, now, before, gates, d_gates, d_before, hidden as u64];
    run.launch(format!("lstm_cell_backward<{ty}>"), grid, 32, 0, args);
    let (mut want, mut bound) = (vec![0.0; 4 * count], vec![0.0; 4 * count]);
    let (mut want_before, mut bound_before) = (Vec::new(), Vec::new());
    for at in 0..count {
        let (row, column) = (at / hidden, at % hidden);
        let gate = |g: usize| -> f64 { activations[(row * 4 + g) * hidden + column].into() };
        let (i, f, z, o) = (gate(0), gate(1), gate(2), gate(3));
        let [gh, gc, c, old]: [f64; 4] = [grad_h[at].into(), grad_c[at].into(), states[at].into(), c_prev[at].into()];
        let t = c.tanh();
        let dc = gc + gh * o * (1.0 - t * t);
        // 1 - t^2 is off by ten u at most, its product with two more by twelve.
        let slack = 12.0 * u * (gh * o).abs() + 2.0 * u * dc.abs();
        for (g, factor) in [z * (1.0 - i) * i, old * (1.0 - f) * f, i * (1.0 - z * z)].into_iter().enumerate() {
            let place = (row * 4 + g) * hidden + column;
            want[place] = dc * factor;
            // 1 - z^2 cancels: two roundings of one.
            let cancelled = if g == 2 { 2.0 * u * i } else { 0.0 };
            bound[place] = slack * factor.abs() + dc.abs() * (5.0 * u * factor.abs() + cancelled);
        }
        let place = (row * 4 + 3) * hidden + column;
        want[place] = gh * t * (1.0 - o) * o;
        bound[place] = 10.0 * u * want[place].abs();
        want_before.push(dc * f);
        bound_before.push(slack * f + u * (dc * f).abs());
    }
    run.near(d_gates, want, bound);
    run.near(d_before, want_before, bound_before);
}

fn lstm_cell() -> Vec<Run> {
    let mut runs = Vec::new();
    for (batch, hidden) in [(1, 1), (3, 33), (2, 100)] {
        let mut run = Run::new(format!("{batch} x {hidden}"));
        lstm::<f32>(&mut run, "float", U, |x| x, batch, hidden);
        // Twice the roundoff, because the reference rounds as well.
        lstm::<f64>(&mut run, "double", 2f64.powi(-52), f64::from, batch, hidden);
        runs.push(run);
    }
    runs
}

fn batch_norm_accessor() -> Vec<Run> {
    let mut runs = Vec::new();
    for [n, c, l] in [[1, 1, 2], [4, 3, 17], [2, 5, 100]] {
        let mut rng = Rng::new((c * l) as u64);
        let x = rng.uniform(n * c * l, -1.0, 2.0);
        let (w, b, running) = (rng.floats(c), rng.floats(c), rng.floats(c));
        let (momentum, eps) = (0.1f32, 1e-5f32);
        let mut run = Run::new(format!("{n} x {c} x {l}"));
        let (input, weight, bias) = (run.input(&x), run.input(&w), run.input(&b));
        let (out, means) = (run.output::<f32>(x.len()), run.state(&running));
        let mut args = vec![Argument::Accessor(input, vec![n, c, l])];
        args.extend([weight, bias].map(|h| Argument::Accessor(h, vec![c])));
        args.extend([Argument::Accessor(out, vec![n, c, l]), Argument::Accessor(means, vec![c])]);
        args.extend(args![momentum, eps]);
        run.launch("batch_norm_train<float, 64>", c, 64, 0, args);

        let (x, eps) = (wide(&x), f64::from(eps));
        let (mut want, mut bound) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let (mut new, mut new_bound) = (Vec::new(), Vec::new());
        for channel in 0..c {
            let places: Vec<usize> = (0..n * l).map(|i| (i / l * c + channel) * l + i % l).collect();
            let count = places.len() as f64;
            let mean = places.iter().map(|p| x[*p]).sum::<f64>() / count;
            let var = places.iter().map(|p| (x[*p] - mean).powi(2)).sum::<f64>() / count;
            let mean_bound = gamma(places.len() + 1) * places.iter().map(|p| x[*p].abs()).sum::<f64>() / count;
            // The bound is that of layer norm: the sum of squares about a mean that is off, half of it by the root, then root, sum and
            // quotient.
            let relative = 0.5 * (gamma(places.len() + 4) * var + mean_bound * mean_bound) / (var + eps) + 3.0 * U;
            let (w, b, rstd) = (f64::from(w[channel]), f64::from(b[channel]), (var + eps).sqrt().recip());
            for p in places {
                let scaled = (x[p] - mean) * rstd * w;
                want[p] = scaled + b;
                bound[p] = (w * rstd).abs() * mean_bound + scaled.abs() * (relative + 4.0 * U) + U * want[p].abs();
            }
            let (old, m) = (f64::from(running[channel]), f64::from(momentum));
            new.push((1.0 - m) * old + m * mean);
            new_bound.push(m * mean_bound + 4.0 * U * (old.abs() + (m * mean).abs()));
        }
        run.near(out, want, bound);
        run.near(means, new, new_bound);
        runs.push(run);
    }
    runs
}
