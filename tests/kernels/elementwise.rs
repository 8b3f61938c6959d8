//! Elementwise kernels: functors, lambdas, and activations in half precision.

use half::{bf16, f16};

use crate::case::{Element, Kernel, Rng, Run, U, U16, UB16, args, cover, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "elementwise_functor", runs: elementwise_functor },
    Kernel { name: "gelu_half2", runs: gelu_half2 },
    Kernel { name: "swiglu_bf16", runs: swiglu_bf16 },
];

fn elementwise_functor() -> Vec<Run> {
    let mut runs = Vec::new();
    for n in [1, 63, 500, 1025] {
        let mut rng = Rng::new(n as u64);
        let [x, y, z] = [0; 3].map(|_| rng.uniform(n, -8.0, 8.0));
        let k = rng.ints(n, -100, 100);
        let w = wide(&rng.floats(n));
        let mut run = Run::new(format!("n = {n}"));
        let [a, b, c] = [&x, &y, &z].map(|v| run.input(v));
        let (alpha, beta) = (0.75f32, -1.25f32);

        let out = run.output::<f32>(n);
        run.launch("axpby", cover(n, 4 * 32), 32, 0, args![out, a, b, n as i32, alpha, beta]);
        let terms: Vec<[f64; 2]> = x
            .iter()
            .zip(&y)
            .map(|(x, y)| [f64::from(alpha) * f64::from(*x), f64::from(beta) * f64::from(*y)])
            .collect();
        let bound = terms.iter().map(|[a, b]| 2.0 * U * (a.abs() + b.abs())).collect();
        run.near(out, terms.iter().map(|[a, b]| a + b).collect(), bound);

        let (dx, dy, dz) = (wide(&x), wide(&y), wide(&z));
        let lengths: Vec<f64> = (0..n).map(|i| (dx[i] * dx[i] + dy[i] * dy[i] + dz[i] * dz[i]).sqrt()).collect();
        let out = run.output::<f32>(n);
        run.launch("hypot3<float>", cover(n, 2 * 64), 64, 0, args![out, a, b, c, n as i32]);
        // Three roundings of squares, halved by the root, which rounds once.
        run.near_relative(out, lengths.clone(), 2.6 * U);
        let [a64, b64, c64] = [&dx, &dy, &dz].map(|v| run.input(v));
        let out = run.output::<f64>(n);
        run.launch("hypot3<double>", cover(n, 2 * 64), 64, 0, args![out, a64, b64, c64, n as i32]);
        run.near_relative(out, lengths, 6.0 * 2f64.powi(-53));

        let (out, clamped) = (run.output::<i32>(n), run.state(&[0i32]));
        run.launch("clamp_count", cover(n, 3 * 32), 32, 0, args![out, a, n as i32, -4.5f32, 5.0f32, clamped]);
        run.exactly(out, &x.iter().map(|v| v.clamp(-4.5, 5.0) as i32).collect::<Vec<_>>());
        run.exactly(clamped, &[x.iter().filter(|v| **v < -4.5 || **v > 5.0).count() as i32]);

        let (ints, weights) = (run.input(&k), run.input(&w));
        let [two, three] = [2, 3].map(|terms| {
            let out = run.output::<f32>(n);
            run.launch(format!("weighted<{terms}>"), cover(n, 64), 64, 0, args![out, a, ints, weights, n as i32]);
            out
        });
        // A float and an integer add as floats. The fold begins at the right: an integer and a double, then a float and a double.
        run.exactly(two, &x.iter().zip(&k).map(|(x, k)| x + *k as f32).collect::<Vec<_>>());
        run.exactly(three, &(0..n).map(|i| (dx[i] + (f64::from(k[i]) + w[i])) as f32).collect::<Vec<_>>());
        runs.push(run);
    }
    runs
}

/// GELU by its tanh form with the kernel's constants, and the error bound of computing it in floats and rounding to half.
fn gelu(x: f64) -> (f64, f64) {
    let inner = f64::from(0.797_884_6_f32) * (x + f64::from(0.044715f32) * x * x * x);
    let t = inner.tanh();
    let y = 0.5 * x * (1.0 + t);
    // Six roundings of the argument, damped by tanh's slope; `tanhf` good to two units in the last place; sum and products. Then
    // half a unit of the half, which below 2^-14 is 2^-25.
    let float = 0.5 * x.abs() * (6.0 * U * inner.abs() * (1.0 - t * t) + 5.0 * U) + 2.0 * U * y.abs();
    (y, float + (y.abs() + float) * U16 + 2f64.powi(-25))
}

fn gelu_half2() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols) in [(1, 2), (3, 34), (7, 100)] {
        let mut rng = Rng::new(cols as u64);
        let n = rows * cols - 1;
        let mut halves = |n: usize| rng.uniform(n, -6.0, 6.0).into_iter().map(f16::from_f32).collect::<Vec<_>>();
        let (x, y, bias) = (halves(n), halves(rows * cols), halves(cols));
        let mut run = Run::new(format!("{rows} x {cols}"));
        let (input, out) = (run.input(&x), run.output::<f16>(n));
        run.launch("gelu_half", cover(n / 2 + 1, 32), 32, 0, args![input, out, n as i32]);
        let (want, bound) = x.iter().map(|v| gelu(v.to_f64())).unzip();
        run.near(out, want, bound);
        let (state, offsets) = (run.state(&y), run.input(&bias));
        run.launch("add_bias_gelu", 2, 32, 0, args![state, offsets, rows as i32, (cols / 2) as i32]);
        // The sum is rounded to half. It is exact in float before, which has enough bits that this changes nothing.
        let sums = y.iter().enumerate().map(|(i, v)| f16::from_f32(v.to_f32() + bias[i % cols].to_f32()).to_f64());
        let (want, bound) = sums.map(gelu).unzip();
        run.near(state, want, bound);
        runs.push(run);
    }
    runs
}

fn swiglu<T: Element + Into<f64>>(run: &mut Run, ty: &str, u: f64, round: fn(f32) -> T, [rows, d]: [usize; 2]) {
    let x: Vec<T> = Rng::new(d as u64).uniform(rows * 2 * d, -9.0, 9.0).into_iter().map(round).collect();
    let (input, out) = (run.input(&x), run.output::<T>(rows * d));
    run.launch(format!("act_and_mul<{ty}, silu>"), rows, 32, 0, args![out, input, d as i32]);
    let mut want = Vec::new();
    for row in x.chunks(2 * d) {
        want.extend(row[..d].iter().zip(&row[d..]).map(|(g, v)| {
            let (g, v): (f64, f64) = ((*g).into(), (*v).into());
            g / (1.0 + (-g).exp()) * v
        }));
    }
    // `expf` good to two units in the last place, a sum, a quotient, a product; then the rounding to storage.
    run.near_relative(out, want, 7.0 * U + u * (1.0 + 7.0 * U));
}

fn swiglu_bf16() -> Vec<Run> {
    let mut runs = Vec::new();
    for shape in [[1, 2], [3, 34], [5, 128]] {
        let mut run = Run::new(format!("{shape:?}"));
        swiglu::<bf16>(&mut run, "__nv_bfloat16", UB16, bf16::from_f32, shape);
        swiglu::<f32>(&mut run, "float", 0.0, |x| x, shape);
        runs.push(run);
    }
    runs
}
