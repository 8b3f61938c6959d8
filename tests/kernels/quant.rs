//! Quantised arithmetic.

use half::f16;

use crate::case::{Kernel, Rng, Run, args, cover, gamma};

pub const KERNELS: &[Kernel] =
    &[Kernel { name: "quantized_dot", runs: quantized_dot }, Kernel { name: "int4_unpack", runs: int4_unpack }];

fn quantized_dot() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, blocks) in [(1, 1), (5, 3), (9, 33), (4, 70)] {
        let mut rng = Rng::new(blocks as u64);
        let n = blocks * 32;
        let mut x = rng.floats(n);
        if blocks > 2 {
            x[32..64].fill(0.0);
        }
        // The reference quantises as the kernel does, operation for operation: one division for the scale, one for the number.
        let scales: Vec<f32> = x.chunks(32).map(|b| b.iter().fold(0f32, |m, v| m.max(v.abs())) / 127.0).collect();
        let quantise =
            |(i, v): (usize, &f32)| if scales[i / 32] == 0.0 { 0 } else { (v / scales[i / 32]).round() as i8 };
        let q: Vec<i8> = x.iter().enumerate().map(quantise).collect();
        let w: Vec<i8> = (0..rows * n).map(|_| rng.bits() as i8).collect();
        let w_scales = rng.uniform(rows * blocks, 0.01, 0.1);

        let mut run = Run::new(format!("{rows} rows of {blocks} blocks"));
        let (input, quants, factors) = (run.input(&x), run.output::<i8>(n), run.output::<f32>(blocks));
        run.launch("quantize_q8", cover(n, 64), 64, 0, args![input, quants, factors, n as i32]);
        run.exactly(quants, &q);
        run.exactly(factors, &scales);
        let (weights, weight_scales, y) = (run.input(&w), run.input(&w_scales), run.output::<f32>(rows));
        let args = args![weights, weight_scales, quants, factors, y, rows as i32, blocks as i32];
        run.launch("matvec_q8", cover(rows, 4), (32, 4), 0, args);
        let (mut want, mut bound) = (Vec::new(), Vec::new());
        for r in 0..rows {
            let (mut sum, mut absolute) = (0.0, 0.0);
            for b in 0..blocks {
                let pairs = w[(r * blocks + b) * 32..][..32].iter().zip(&q[b * 32..][..32]);
                let dot: i32 = pairs.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
                let term = f64::from(dot) * f64::from(w_scales[r * blocks + b]) * f64::from(scales[b]);
                sum += term;
                absolute += term.abs();
            }
            want.push(sum);
            // Integers below 2^24 are exact; then there are two products and the sum.
            bound.push(gamma(blocks + 2) * absolute);
        }
        run.near(y, want, bound);
        runs.push(run);
    }
    runs
}

fn int4_unpack() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols, group) in [(1, 8, 1), (6, 24, 3), (32, 136, 16)] {
        let mut rng = Rng::new(cols as u64);
        let groups = rows / group;
        let values: Vec<u8> = (0..rows * cols).map(|_| rng.below(16) as u8).collect();
        let zeros: Vec<u8> = (0..groups * cols).map(|_| rng.below(16) as u8).collect();
        let scales = rng.uniform(groups * cols, 0.001, 0.1);
        let pack = |v: &[u8]| {
            v.chunks(8).map(|w| w.iter().rev().fold(0u32, |a, n| a << 4 | u32::from(*n))).collect::<Vec<_>>()
        };
        let mut run = Run::new(format!("{rows} x {cols}, groups of {group}"));
        let (bytes, packed) = (run.input(&values), run.output::<u32>(rows * cols / 8));
        run.launch("pack_int4", cover(rows * cols / 8, 32), 32, 0, args![bytes, packed, (rows * cols / 8) as i32]);
        run.exactly(packed, &pack(&values));
        let (qzeros, factors) = (run.input(&pack(&zeros)), run.input(&scales));
        // An integer times a float is rounded once, and to half once more.
        let want: Vec<f32> = (0..rows * cols)
            .map(|i| {
                let at = i / cols / group * cols + i % cols;
                (f32::from(values[i]) - f32::from(zeros[at])) * scales[at]
            })
            .collect();
        let (floats, halves) = (run.output::<f32>(rows * cols), run.output::<f16>(rows * cols));
        for (ty, out) in [("float", floats), ("__half", halves)] {
            let args = args![packed, qzeros, factors, out, rows as i32, cols as i32, group as i32];
            run.launch(format!("dequantize_int4<{ty}>"), (cover(cols / 8, 8), cover(rows, 4)), (8, 4), 0, args);
        }
        run.exactly(floats, &want);
        run.exactly(halves, &want.iter().map(|v| f16::from_f32(*v)).collect::<Vec<_>>());
        runs.push(run);
    }
    runs
}
