//! Reductions of every style.

use crate::case::{Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "reduce_interleaved", runs: reduce_interleaved },
    Kernel { name: "reduce_sequential", runs: reduce_sequential },
    Kernel { name: "reduce_warp_volatile", runs: reduce_warp_volatile },
    Kernel { name: "reduce_shuffle", runs: reduce_shuffle },
    Kernel { name: "reduce_two_pass", runs: reduce_two_pass },
    Kernel { name: "reduce_last_block", runs: reduce_last_block },
    Kernel { name: "reduce_grid_stride", runs: reduce_grid_stride },
    Kernel { name: "reduce_cooperative", runs: reduce_cooperative },
];

/// The sum of a part of an array, and the error bound of summing it in floats in any order.
fn sum(part: &[f32]) -> (f64, f64) {
    let absolute: f64 = part.iter().map(|v| f64::from(v.abs())).sum();
    (part.iter().map(|v| f64::from(*v)).sum(), gamma(part.len()) * absolute)
}

fn reduce_interleaved() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block) in [(1, 32), (77, 64), (256, 128), (1000, 256)] {
        let x = Rng::new(n as u64).ints(n, -1000, 1000);
        let partials: Vec<i32> = x.chunks(block).map(|part| part.iter().sum()).collect();
        for kernel in ["reduce_interleaved", "reduce_interleaved_strided"] {
            let mut run = Run::new(format!("{kernel}, n = {n}, block = {block}"));
            let input = run.input(&x);
            let out = run.output::<i32>(partials.len());
            run.launch(kernel, partials.len(), block, block * 4, args![input, out, n as u32]);
            run.exactly(out, &partials);
            runs.push(run);
        }
    }
    runs
}

fn reduce_sequential() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block) in [(1, 32), (63, 32), (1027, 128), (5000, 512)] {
        let x = Rng::new(n as u64 + 1).floats(n);
        let blocks = cover(n, 2 * block);
        let mut run = Run::new(format!("n = {n}, block = {block}"));
        let input = run.input(&x);
        let sums = run.output::<f32>(blocks);
        let maxima = run.output::<f32>(blocks);
        run.launch("reduce_sum", blocks, block, block * 4, args![input, sums, n as i32]);
        run.launch("reduce_max", blocks, block, block * 4, args![input, maxima, n as i32]);
        let (want, bound) = x.chunks(2 * block).map(sum).unzip();
        run.near(sums, want, bound);
        let largest: Vec<f32> = x.chunks(2 * block).map(|part| part.iter().copied().fold(f32::MIN, f32::max)).collect();
        run.exactly(maxima, &largest);
        runs.push(run);
    }
    runs
}

/// The elements that a block sees in a grid-stride loop over `width` elements per block.
fn strided<T: Copy>(x: &[T], block: usize, blocks: usize, width: usize) -> Vec<T> {
    (0..x.len()).filter(|i| i / width % blocks == block).map(|i| x[i]).collect()
}

fn reduce_warp_volatile() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block, blocks) in [(5, 32, 1), (1000, 64, 3), (999, 128, 2), (4096, 256, 4), (3001, 512, 1)] {
        let x = Rng::new(n as u64 + 2).ints(n, -100_000, 100_000);
        let partials: Vec<i32> = (0..blocks).map(|b| strided(&x, b, blocks, 2 * block).iter().sum()).collect();
        let mut run = Run::new(format!("int, n = {n}, block = {block}"));
        let input = run.input(&x);
        let out = run.output::<i32>(blocks);
        run.launch(format!("reduce_unrolled<{block}, int>"), blocks, block, 0, args![input, out, n as u32]);
        run.exactly(out, &partials);
        runs.push(run);

        let x = Rng::new(n as u64 + 3).floats(n);
        let mut run = Run::new(format!("float, n = {n}, block = {block}"));
        let input = run.input(&x);
        let out = run.output::<f32>(blocks);
        run.launch(format!("reduce_unrolled<{block}, float>"), blocks, block, 0, args![input, out, n as u32]);
        let (want, bound) = (0..blocks).map(|b| sum(&strided(&x, b, blocks, 2 * block))).unzip();
        run.near(out, want, bound);
        runs.push(run);
    }
    runs
}

fn reduce_shuffle() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols, block) in [(1, 1, 32), (3, 33, 64), (5, 1000, 256), (2, 2049, 1024)] {
        let mut rng = Rng::new(cols as u64);
        let x = rng.floats(rows * cols);
        let mut run = Run::new(format!("{rows} x {cols}, block = {block}"));
        let input = run.input(&x);
        let floats = run.output::<f32>(rows);
        let doubles = run.output::<f64>(rows);
        run.launch("reduce_rows<float>", rows, block, 0, args![input, floats, cols as i32]);
        run.launch("reduce_rows<float, double>", rows, block, 0, args![input, doubles, cols as i32]);
        let (want, bound): (Vec<f64>, Vec<f64>) = x.chunks(cols).map(sum).unzip();
        run.near(floats, want.clone(), bound.clone());
        // The elements are multiples of 2^-23 below 1, so sums in double are exact.
        run.near(doubles, want, vec![0.0; rows]);
        let ints = rng.ints(rows * cols, -50, 50);
        let narrow: Vec<i8> = ints.iter().map(|v| *v as i8).collect();
        let input = run.input(&narrow);
        let out = run.output::<i32>(rows);
        run.launch("reduce_rows<signed char, int>", rows, block, 0, args![input, out, cols as i32]);
        run.exactly(out, &ints.chunks(cols).map(|row| row.iter().sum()).collect::<Vec<i32>>());
        runs.push(run);
    }
    runs
}

fn reduce_two_pass() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, blocks, block) in [(1, 1, 32), (100, 3, 64), (10_007, 7, 256), (4096, 300, 128)] {
        let x = Rng::new(n as u64 + 4).uniform(n, 0.5, 3.0);
        let mut run = Run::new(format!("n = {n}, {blocks} x {block}"));
        let input = run.input(&x);
        let partial = run.output::<f64>(2 * blocks);
        let mean = run.output::<f32>(1);
        let var = run.output::<f32>(1);
        run.launch(format!("moments_partial<{block}>"), blocks, block, 0, args![input, partial, n as i32]);
        let args = args![partial, mean, var, blocks as i32, n as i32];
        run.launch(format!("moments_final<{block}>"), 1, block, 0, args);
        let x = wide(&x);
        let average = x.iter().sum::<f64>() / n as f64;
        let variance = x.iter().map(|v| (v - average).powi(2)).sum::<f64>() / n as f64;
        run.near_relative(mean, vec![average], 2.0 * U);
        // Doubles cancel: E[x^2] is below 9, and each of at most n roundings is 2^-53 of it.
        run.near(var, vec![variance], vec![U * variance + 9.0 * (n + 3) as f64 * 2f64.powi(-52)]);
        runs.push(run);
    }
    runs
}

fn reduce_last_block() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, blocks) in [(1, 1), (1000, 3), (12_345, 37), (70_000, 300)] {
        let x = Rng::new(n as u64 + 5).floats(n);
        let y = Rng::new(n as u64 + 6).floats(n);
        let mut run = Run::new(format!("n = {n}, {blocks} blocks"));
        let partial = run.output::<f32>(blocks);
        // Launched twice: the counter is back at zero after the first launch.
        for data in [x, y] {
            let input = run.input(&data);
            let out = run.output::<f32>(1);
            run.launch("reduce_last_block<128>", blocks, 128, 0, args![input, partial, out, n as u32]);
            let (want, bound) = sum(&data);
            run.near(out, vec![want], vec![bound]);
        }
        runs.push(run);
    }
    runs
}

fn reduce_grid_stride() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, blocks) in [(1, 1), (31, 2), (1025, 3), (9999, 5)] {
        let mut rng = Rng::new(n as u64 + 7);
        let (x, k) = (rng.floats(n), rng.ints(n, -1_000_000, 1_000_000));
        let mut run = Run::new(format!("n = {n}, {blocks} blocks"));
        let floats = run.input(&x);
        let ints = run.input(&k);
        let parts: Vec<Vec<f32>> = (0..blocks).map(|b| strided(&x, b, blocks, 128)).collect();
        let counts: Vec<Vec<i32>> = (0..blocks).map(|b| strided(&k, b, blocks, 128)).collect();

        let out = run.output::<f32>(blocks);
        run.launch("reduce<float, ops::Sum, 128>", blocks, 128, 0, args![floats, out, n as i32]);
        let (want, bound) = parts.iter().map(|p| sum(p)).unzip();
        run.near(out, want, bound);

        let out = run.output::<f32>(blocks);
        run.launch("reduce<float, ops::Max, 128>", blocks, 128, 0, args![floats, out, n as i32]);
        run.exactly(out, &parts.iter().map(|p| p.iter().copied().fold(f32::MIN, f32::max)).collect::<Vec<_>>());

        let out = run.output::<i32>(blocks);
        run.launch("reduce<int, ops::Min, 128>", blocks, 128, 0, args![ints, out, n as i32]);
        run.exactly(out, &counts.iter().map(|p| p.iter().copied().fold(i32::MAX, i32::min)).collect::<Vec<_>>());
        runs.push(run);
    }
    runs
}

fn reduce_cooperative() -> Vec<Run> {
    let mut runs = Vec::new();
    for (groups, length, tile) in [(1, 1, 32), (9, 31, 8), (13, 100, 16), (5, 64, 4), (7, 257, 32)] {
        let x = Rng::new(length as u64 + 8).floats(groups * length);
        let mut run = Run::new(format!("{groups} groups of {length}, tiles of {tile}"));
        let input = run.input(&x);
        let out = run.output::<f32>(groups);
        let blocks = cover(groups, 64 / tile);
        let args = args![input, out, groups as i32, length as i32];
        run.launch(format!("sum_of_squares<{tile}>"), blocks, 64, 0, args);
        // Products are rounded once, then summed.
        let squares: Vec<f64> = wide(&x).chunks(length).map(|g| g.iter().map(|v| v * v).sum()).collect();
        run.near_relative(out, squares.clone(), gamma(length + 1));
        let whole = run.output::<f32>(1);
        run.launch("block_sum_of_squares", 1, 96, 96 * 4, args![input, whole, (groups * length) as i32]);
        run.near_relative(whole, vec![squares.iter().sum()], gamma(groups * length + 1));
        runs.push(run);
    }
    runs
}
