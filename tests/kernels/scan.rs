//! Prefix sums and their relatives.

use crate::case::{Element, Kernel, Rng, Run, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "scan_blelloch", runs: scan_blelloch },
    Kernel { name: "scan_hillis_steele", runs: scan_hillis_steele },
    Kernel { name: "scan_warp_shuffle", runs: scan_warp_shuffle },
    Kernel { name: "scan_lookback", runs: scan_lookback },
    Kernel { name: "cumulative_max", runs: cumulative_max },
    Kernel { name: "segmented_sum", runs: segmented_sum },
];

/// The inclusive scan.
fn scan<T: Copy>(x: &[T], op: impl Fn(T, T) -> T) -> Vec<T> {
    let mut out: Vec<T> = Vec::with_capacity(x.len());
    for v in x {
        out.push(out.last().map_or(*v, |last| op(*last, *v)));
    }
    out
}

fn scan_blelloch() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block) in [(1, 16), (64, 32), (1000, 64), (1537, 128)] {
        let x = Rng::new(n as u64).ints(n, -1000, 1000);
        let blocks = cover(n, 2 * block);
        let shared = |block: usize| (2 * block + 2 * block / 32) * 4;
        let mut run = Run::new(format!("n = {n}, block = {block}"));
        let (input, out) = (run.input(&x), run.output::<i32>(n));
        let (sums, offsets, whole) = (run.output::<i32>(blocks), run.output::<i32>(blocks), run.output::<i32>(1));
        run.launch("prescan", blocks, block, shared(block), args![out, sums, input, n as i32]);
        run.launch("prescan", 1, 16, shared(16), args![offsets, whole, sums, blocks as i32]);
        run.launch("add_block_offsets", blocks, block, 0, args![out, offsets, n as i32]);
        let inclusive = scan(&x, |a, b| a + b);
        run.exactly(out, &inclusive.iter().zip(&x).map(|(s, v)| s - v).collect::<Vec<_>>());
        run.exactly(whole, &[inclusive[n - 1]]);
        runs.push(run);
    }
    runs
}

fn scan_hillis_steele() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols) in [(1, 1), (3, 31), (2, 128), (4, 301)] {
        let mut rng = Rng::new(cols as u64);
        let (x, bits) = (rng.floats(rows * cols), (0..rows * cols).map(|_| rng.bits()).collect::<Vec<u64>>());
        let mut run = Run::new(format!("{rows} x {cols}"));
        let (input, out) = (run.input(&x), run.output::<f32>(rows * cols));
        run.launch("scan_rows<float, Plus, 64>", rows, 64, 0, args![input, out, cols as i32]);
        let (mut want, mut bound) = (Vec::new(), Vec::new());
        for row in wide(&x).chunks(cols) {
            want.extend(scan(row, |a, b| a + b));
            let absolute = scan(&row.iter().map(|v| v.abs()).collect::<Vec<_>>(), |a, b| a + b);
            bound.extend(absolute.iter().enumerate().map(|(i, a)| gamma(i) * a));
        }
        run.near(out, want, bound);
        let (input, out) = (run.input(&bits), run.output::<u64>(rows * cols));
        run.launch("scan_rows<unsigned long long, Xor, 128>", rows, 128, 0, args![input, out, cols as i32]);
        run.exactly(out, &bits.chunks(cols).flat_map(|row| scan(row, |a, b| a ^ b)).collect::<Vec<_>>());
        runs.push(run);
    }
    runs
}

fn scan_warp_shuffle() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block, items) in [(1, 32, 1), (100, 32, 3), (257, 64, 2), (2000, 128, 4), (1024, 1024, 1)] {
        let mut rng = Rng::new(n as u64 + 1);
        let mut run = Run::new(format!("n = {n}, {items} items a thread of {block}"));
        let ints = rng.ints(n, -1_000_000, 1_000_000);
        let (input, out) = (run.input(&ints), run.output::<i32>(n));
        run.launch(format!("block_inclusive_scan<int, {items}>"), 1, block, 0, args![input, out, n as i32]);
        run.exactly(out, &scan(&ints, |a, b| a.wrapping_add(b)));
        let x = rng.floats(n);
        let (input, out) = (run.input(&x), run.output::<f32>(n));
        run.launch(format!("block_inclusive_scan<float, {items}>"), 1, block, 0, args![input, out, n as i32]);
        let x = wide(&x);
        let absolute = scan(&x.iter().map(|v| v.abs()).collect::<Vec<_>>(), |a, b| a + b);
        // The prefix before a thread is that of its last item minus its own items: both go through n roundings at most.
        let bound = (0..n).map(|i| 2.0 * gamma(n + 3) * absolute[((i / items + 1) * items).min(n) - 1]).collect();
        run.near(out, scan(&x, |a, b| a + b), bound);
        runs.push(run);
    }
    runs
}

fn scan_lookback() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, block, items) in [(1, 32, 4), (500, 32, 4), (5000, 64, 2), (33_333, 128, 4)] {
        let mut rng = Rng::new(n as u64 + 2);
        let x: Vec<u32> = (0..n).map(|_| (rng.bits() >> 40) as u32).collect();
        let tiles = cover(n, block * items);
        let mut run = Run::new(format!("n = {n}, {tiles} tiles"));
        let (input, out) = (run.input(&x), run.output::<u32>(n));
        let (states, counter) = (run.output::<u64>(tiles), run.output::<u32>(1));
        run.launch("init_tiles", cover(tiles, 64), 64, 0, args![states, counter, tiles as i32]);
        let args = args![input, out, states, counter, n as i32];
        run.launch(format!("lookback_scan<{block}, {items}>"), tiles, block, 0, args);
        run.exactly(out, &scan(&x, |a, b| a.wrapping_add(b)));
        run.exactly(counter, &[tiles as u32]);
        runs.push(run);
    }
    runs
}

/// Values and places of the running maximum; of equal ones the last.
fn cummax<T: Copy + PartialOrd, I>(x: &[T], index: fn(usize) -> I) -> (Vec<T>, Vec<I>) {
    let mut best = 0;
    (0..x.len())
        .map(|i| {
            if x[i] >= x[best] {
                best = i;
            }
            (x[best], index(best))
        })
        .unzip()
}

fn cummax_rows<T: Element + PartialOrd>(
    run: &mut Run,
    ty: &str,
    x: &[T],
    cols: usize,
    init: T,
    args: crate::case::Argument,
) {
    let rows = x.len() / cols;
    let (input, values, indices) = (run.input(x), run.output::<T>(x.len()), run.output::<i64>(x.len()));
    let mut all = args![input, values, indices, rows as i32, cols as i32];
    all.push(args);
    run.launch(format!("cummax_kernel<{ty}, long long, 2>"), 2, (32, 2), 0, all);
    debug_assert!(x.iter().all(|v| *v > init));
    let (want, places): (Vec<_>, Vec<_>) = x.chunks(cols).map(|row| cummax(row, |i| i as i64)).unzip();
    run.exactly(values, &want.concat());
    run.exactly(indices, &places.concat());
}

fn cumulative_max() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, cols) in [(1, 1), (5, 33), (3, 100), (9, 64)] {
        let mut rng = Rng::new(cols as u64 + 3);
        let mut run = Run::new(format!("{rows} x {cols}"));
        // Few values, so that there are ties.
        cummax_rows(&mut run, "int", &rng.ints(rows * cols, 0, 6), cols, i32::MIN, i32::MIN.into());
        cummax_rows(&mut run, "float", &rng.floats(rows * cols), cols, f32::MIN, f32::MIN.into());
        runs.push(run);
    }
    runs
}

fn segmented_sum() -> Vec<Run> {
    let mut runs = Vec::new();
    let cases: [&[usize]; 4] = [&[1], &[3, 0, 40, 1, 0, 7], &[100, 29, 31, 32, 33, 64, 2], &[0, 500]];
    for lengths in cases {
        let n: usize = lengths.iter().sum();
        let x = Rng::new(n as u64 + 4).floats(n);
        let ids: Vec<i32> = lengths.iter().enumerate().flat_map(|(s, l)| vec![s as i32; *l]).collect();
        let mut offsets = vec![0];
        for l in lengths {
            offsets.push(offsets[offsets.len() - 1] + *l as i32);
        }
        let mut run = Run::new(format!("{lengths:?}"));
        let (values, keys, starts) = (run.input(&x), run.input(&ids), run.input(&offsets));
        let by_key = run.state(&vec![0f32; lengths.len()]);
        let (by_offset, counts) = (run.output::<f32>(lengths.len()), run.output::<i32>(lengths.len()));
        run.launch("segmented_sum_sorted", 2, 64, 0, args![values, keys, by_key, n as i32]);
        let args = args![values, starts, by_offset, counts, lengths.len() as i32];
        run.launch("segmented_sum_offsets", cover(lengths.len(), 2), 64, 0, args);
        let (mut want, mut bound) = (Vec::new(), Vec::new());
        for (s, l) in lengths.iter().enumerate() {
            let part = &wide(&x)[offsets[s] as usize..][..*l];
            want.push(part.iter().sum::<f64>());
            bound.push(gamma(*l) * part.iter().map(|v| v.abs()).sum::<f64>());
        }
        run.near(by_key, want.clone(), bound.clone());
        run.near(by_offset, want, bound);
        run.exactly(counts, &lengths.iter().map(|l| *l as i32).collect::<Vec<_>>());
        runs.push(run);
    }
    runs
}
