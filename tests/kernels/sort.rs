//! Sorting, counting and selecting.

use crate::case::{Kernel, Rng, Run, args, cover};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "bitonic_sort", runs: bitonic_sort },
    Kernel { name: "histogram", runs: histogram },
    Kernel { name: "radix_pass", runs: radix_pass },
    Kernel { name: "top_k", runs: top_k },
];

fn bitonic_sort() -> Vec<Run> {
    let mut runs = Vec::new();
    for (blocks, length, ascending) in [(1, 2, true), (3, 64, false), (2, 512, true), (1, 2048, true)] {
        let mut rng = Rng::new(length as u64);
        let n = blocks * length;
        let keys = rng.floats(n);
        // A value that the key determines, so that equal keys do no harm.
        let tag = |k: f32| k.to_bits() ^ 0x5555;
        let mut run = Run::new(format!("{blocks} x {length}, ascending = {ascending}"));
        let (k, v) = (run.state(&keys), run.state(&keys.iter().map(|k| tag(*k)).collect::<Vec<_>>()));
        let kernel = format!("bitonic_sort_shared<float, unsigned int, {length}, {ascending}>");
        run.launch(kernel, blocks, length / 2, 0, args![k, v]);
        let mut sorted = keys;
        for part in sorted.chunks_mut(length) {
            part.sort_by(f32::total_cmp);
            if !ascending {
                part.reverse();
            }
        }
        run.exactly(k, &sorted);
        run.exactly(v, &sorted.iter().map(|k| tag(*k)).collect::<Vec<_>>());

        let mut ints = rng.ints(length, -500, 500);
        let data = run.state(&ints);
        let mut k = 2;
        while k <= length {
            let mut j = k / 2;
            while j > 0 {
                run.launch("bitonic_step", cover(length, 96), 96, 0, args![data, j as i32, k as i32, length as i32]);
                j /= 2;
            }
            k *= 2;
        }
        ints.sort_unstable();
        run.exactly(data, &ints);
        runs.push(run);
    }
    runs
}

fn histogram() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, nbins) in [(1, 1), (1003, 7), (5000, 100)] {
        let mut rng = Rng::new(n as u64);
        // A skewed distribution: bins collide.
        let data: Vec<u8> = (0..n).map(|_| (rng.bits() & rng.bits()) as u8).collect();
        let mut want = vec![0u32; 256];
        for byte in &data {
            want[usize::from(*byte)] += 1;
        }
        let mut run = Run::new(format!("n = {n}, {nbins} bins"));
        let input = run.input(&data);
        let (global, shared) = (run.state(&[0u32; 256]), run.state(&[0u32; 256]));
        run.launch("histogram_global", cover(n, 128), 128, 0, args![input, global, n as u32]);
        run.launch("histogram_shared", 3, 96, 0, args![input, shared, n as u32]);
        run.exactly(global, &want);
        run.exactly(shared, &want);

        // Bins a power of two wide and numbers on a grid of a quarter bin: no rounding at the edges.
        let width = 0.25f32;
        let (lo, hi) = (-1.0f32, -1.0 + width * nbins as f32);
        let x: Vec<f32> = (0..n).map(|_| lo + width / 4.0 * (rng.below(4 * nbins + 20) as f32 - 10.0)).collect();
        let (mut counts, mut outside) = (vec![0i32; nbins], 0i32);
        for v in &x {
            match ((v - lo) / width).floor() {
                bin if bin >= 0.0 && bin < nbins as f32 => counts[bin as usize] += 1,
                _ => outside += 1,
            }
        }
        let (input, bins, rest) = (run.input(&x), run.state(&vec![0i32; nbins]), run.state(&[0i32]));
        let args = args![input, bins, rest, n as i32, nbins as i32, lo, hi];
        run.launch("histogram_range", 2, 64, (nbins + 1) * 4, args);
        run.exactly(bins, &counts);
        run.exactly(rest, &[outside]);
        runs.push(run);
    }
    runs
}

fn radix_pass() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block, bits) in [(1, 32, 4), (77, 64, 4), (1000, 128, 4), (600, 64, 2)] {
        let mut rng = Rng::new(n as u64 + 1);
        // Twelve significant bits: three passes of four sort them, six of two.
        let keys: Vec<u32> = (0..n).map(|_| rng.below(4096) as u32).collect();
        let values: Vec<u32> = (0..n as u32).collect();
        let blocks = cover(n, block);
        let mut run = Run::new(format!("n = {n}, {bits} bits a pass"));
        let (mut k, mut v) = (run.input(&keys), run.input(&values));
        for shift in (0..12).step_by(bits) {
            let counts = run.output::<u32>(blocks << bits);
            let (next_k, next_v) = (run.output::<u32>(n), run.output::<u32>(n));
            let tail = |more: Vec<_>| more.into_iter().chain(args![n as i32, shift]).collect::<Vec<_>>();
            run.launch(format!("radix_count<{bits}>"), blocks, block, 0, tail(args![k, counts]));
            run.launch("radix_exclusive_scan", 1, 32, 0, args![counts, (blocks << bits) as i32]);
            let args = tail(args![k, v, counts, next_k, next_v]);
            run.launch(format!("radix_scatter<{bits}, {block}>"), blocks, block, 0, args);
            (k, v) = (next_k, next_v);
        }
        let mut order = values;
        order.sort_by_key(|i| keys[*i as usize]);
        run.exactly(k, &order.iter().map(|i| keys[*i as usize]).collect::<Vec<_>>());
        run.exactly(v, &order);
        runs.push(run);
    }
    runs
}

fn top_k() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols, k, block) in [(1, 1, 1, 32), (3, 50, 5, 32), (2, 1001, 8, 128), (4, 3, 5, 64)] {
        let mut rng = Rng::new(cols as u64);
        let mut x: Vec<f32> = (0..rows * cols).map(|i| i as f32 - (rows * cols / 2) as f32).collect();
        for i in (1..x.len()).rev() {
            x.swap(i, rng.below(i + 1));
        }
        let mut run = Run::new(format!("{k} of {cols}, {rows} rows"));
        let (input, values, indices) = (run.input(&x), run.output::<f32>(rows * k), run.output::<i32>(rows * k));
        run.launch(format!("top_k_rows<{k}, {block}>"), rows, block, 0, args![input, values, indices, cols as i32]);
        let (mut want, mut places) = (Vec::new(), Vec::new());
        for row in x.chunks(cols) {
            let mut order: Vec<usize> = (0..cols).collect();
            order.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
            for i in 0..k {
                want.push(order.get(i).map_or(f32::MIN, |at| row[*at]));
                places.push(order.get(i).map_or(-1, |at| *at as i32));
            }
        }
        run.exactly(values, &want);
        run.exactly(indices, &places);
        runs.push(run);
    }
    runs
}
