//! Simulation and finance: kernels that compute much and load little.

use crate::case::{Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "nbody", runs: nbody },
    Kernel { name: "mandelbrot", runs: mandelbrot },
    Kernel { name: "black_scholes", runs: black_scholes },
    Kernel { name: "monte_carlo", runs: monte_carlo },
];

fn nbody() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block) in [(1, 32), (33, 32), (100, 64), (257, 128)] {
        let mut rng = Rng::new(n as u64);
        let bodies: Vec<f32> =
            (0..4 * n).map(|i| if i % 4 == 3 { rng.between(0.1, 1.0) } else { rng.between(-2.0, 2.0) }).collect();
        let velocities = rng.floats(4 * n);
        let dt = 0.125f32;
        let mut run = Run::new(format!("{n} bodies, block = {block}"));
        let (input, accel, state) = (run.input(&bodies), run.output::<f32>(3 * n), run.state(&velocities));
        run.launch("nbody_forces", cover(n, block), block, block * 16, args![input, accel, n as i32]);
        run.launch("nbody_kick", cover(n, block), block, 0, args![state, accel, n as i32, dt]);

        let (bodies, mut kicked) = (wide(&bodies), wide(&velocities));
        let (mut want, mut bound, mut kick_bound) = (Vec::new(), Vec::new(), vec![0.0; 4 * n]);
        for i in 0..n {
            let mut sums = [(0.0, 0.0); 3];
            for j in 0..n {
                let r: Vec<f64> = (0..3).map(|d| bodies[4 * j + d] - bodies[4 * i + d]).collect();
                let dist2 = r.iter().map(|v| v * v).sum::<f64>() + f64::from(1e-2f32);
                for (sum, r) in sums.iter_mut().zip(r) {
                    let term = bodies[4 * j + 3] * r * dist2.powf(-1.5);
                    sum.0 += term;
                    sum.1 += term.abs();
                }
            }
            for (d, (sum, absolute)) in sums.into_iter().enumerate() {
                want.push(sum);
                // A squared distance is good to six roundings, so its power -3/2 to nine; `rsqrtf` (two units in the last place)
                // enters three times, twelve more; five products and the difference; then the sum.
                let slack = gamma(n.next_multiple_of(block) + 27) * absolute;
                bound.push(slack);
                let change = sum * f64::from(dt);
                kicked[4 * i + d] += change;
                kick_bound[4 * i + d] = slack * f64::from(dt) + U * (2.0 * change.abs() + kicked[4 * i + d].abs());
            }
        }
        run.near(accel, want, bound);
        run.near(state, kicked, kick_bound);
        runs.push(run);
    }
    runs
}

fn mandelbrot() -> Vec<Run> {
    let mut runs = Vec::new();
    for (width, height, most) in [(1, 1, 5), (33, 17, 50), (64, 40, 200)] {
        let (x0, y0, step) = (-2.125f64, -1.25f64, 2.5 / height as f64);
        let mut run = Run::new(format!("{width} x {height}, {most} iterations"));
        let (counts, colours) = (run.output::<i32>(width * height), run.output::<u32>(width * height));
        let args = args![counts, colours, width as i32, height as i32, x0, y0, step, most];
        run.launch("mandelbrot", (cover(width, 16), cover(height, 8)), (16, 8), 0, args);
        // The operations are those of IEEE in the same order, so results are exact wherever products and sums are not contracted.
        let times: Vec<i32> = (0..width * height)
            .map(|at| {
                let (a, b) = (x0 + step * (at % width) as f64, y0 + step * (at / width) as f64);
                let (mut x, mut y, mut n) = (0.0f64, 0.0f64, 0);
                while n < most && x * x + y * y <= 4.0 {
                    (x, y) = (x * x - y * y + a, x * y + y * x + b);
                    n += 1;
                }
                n
            })
            .collect();
        let palette = [0xff00_40ffu32, 0xff40_ff00, 0xffff_4000];
        let shown = |n: &i32| if *n == most { 0xff00_0000 } else { palette[*n as usize % 3] };
        run.exactly(colours, &times.iter().map(shown).collect::<Vec<_>>());
        run.exactly(counts, &times);
        runs.push(run);
    }
    runs
}

fn black_scholes() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, per) in [(1, 1), (130, 1), (1001, 4), (63, 2)] {
        let mut rng = Rng::new(n as u64 + 1);
        let (s, k) = (rng.uniform(n, 5.0, 30.0), rng.uniform(n, 1.0, 100.0));
        let t = rng.uniform(n, 0.25, 10.0);
        let (rate, vol) = (0.02f32, 0.3f32);
        let mut run = Run::new(format!("{n} options, {per} a thread"));
        let (calls, puts) = (run.output::<f32>(n), run.output::<f32>(n));
        let [spots, strikes, years] = [&s, &k, &t].map(|v| run.input(v));
        let args = args![calls, puts, spots, strikes, years, rate, vol, n as i32];
        run.launch(format!("price_options<{per}>"), cover(n, 128 * per), 128, 0, args);
        let (r, v) = (f64::from(rate), f64::from(vol));
        let cdf = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
        let (mut call, mut put, mut bound) = (Vec::new(), Vec::new(), Vec::new());
        for ((s, k), t) in wide(&s).into_iter().zip(wide(&k)).zip(wide(&t)) {
            let (drift, log, width) = ((r + 0.5 * v * v) * t, (s / k).ln(), v * t.sqrt());
            let d1 = (log + drift) / width;
            let d2 = d1 - width;
            let paid = k * (-r * t).exp();
            call.push(s * cdf(d1) - paid * cdf(d2));
            put.push(paid * cdf(-d2) - s * cdf(-d1));
            // The quotient's rounding moves the logarithm by U, which is itself good to one unit in the last place; the drift rounds
            // four times, the numerator once, the denominator three times.
            let d1_bound =
                (U + 2.0 * U * log.abs() + 4.0 * U * drift + U * (log + drift).abs()) / width + 4.0 * U * d1.abs();
            let d2_bound = d1_bound + 3.0 * U * width + U * d2.abs();
            // The density is at most 0.4; the argument of `erfcf` rounds twice and the constant is rounded, `x` times the density is below
            // 0.25; four units in the last place of at most two. Then a discount: argument, `expf` and product.
            let cdf_bound = |d_bound: f64| 0.4 * d_bound + 3.0 * U * 0.25 + 8.0 * U;
            bound.push(s * (cdf_bound(d1_bound) + 2.0 * U) + paid * (cdf_bound(d2_bound) + (7.0 + r * t) * U));
        }
        run.near(calls, call, bound.clone());
        run.near(puts, put, bound);
        runs.push(run);
    }
    runs
}

fn monte_carlo() -> Vec<Run> {
    let mut runs = Vec::new();
    for (blocks, block, samples) in [(1, 32, 1), (3, 64, 50), (2, 128, 1000)] {
        let seed = 0x1234_5678_9abcu64;
        let threads = blocks * block;
        let mut run = Run::new(format!("{threads} threads of {samples}"));
        let (states, total) = (run.output::<u64>(threads), run.state(&[0u64]));
        for resume in [false, true] {
            run.launch("count_hits", blocks, block, 0, args![states, total, seed, samples, resume]);
        }
        let (mut ends, mut hits) = (Vec::new(), 0u64);
        for thread in 0..threads as u64 {
            let mut state = seed ^ (thread + 1).wrapping_mul(0xD134_2543_DE82_EF95);
            let mut next = || {
                state ^= state >> 12;
                state ^= state << 25;
                state ^= state >> 27;
                state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40
            };
            for _ in 0..4 {
                next();
            }
            for _ in 0..2 * samples {
                let (x, y) = (next(), next());
                hits += u64::from(x * x + y * y < 1 << 48);
            }
            ends.push(state);
        }
        run.exactly(states, &ends);
        run.exactly(total, &[hits]);
        runs.push(run);
    }
    runs
}
