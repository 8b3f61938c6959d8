//! Sparse matrices, graphs, clusters and neighbours.

use crate::case::{Element, Kernel, Rng, Run, U, args, cover};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "spmv_csr", runs: spmv_csr },
    Kernel { name: "union_find", runs: union_find },
    Kernel { name: "kmeans_assign", runs: kmeans_assign },
    Kernel { name: "knn", runs: knn },
];

fn spmv<T: Element + Into<f64>>(run: &mut Run, ty: &str, u: f64, row_ptr: &[i32], cols: &[i32], values: &[T], x: &[T]) {
    let rows = row_ptr.len() - 1;
    let (ptr, idx, vals, vector) = (run.input(row_ptr), run.input(cols), run.input(values), run.input(x));
    let (mut want, mut bound) = (Vec::new(), Vec::new());
    for r in 0..rows {
        let range = row_ptr[r] as usize..row_ptr[r + 1] as usize;
        let terms = range.clone().map(|k| values[k].into() * x[cols[k] as usize].into());
        want.push(terms.clone().sum::<f64>());
        bound.push(range.len() as f64 * 1.001 * u * terms.map(f64::abs).sum::<f64>());
    }
    let mut launch = |kernel: String, grid: usize, block: usize| {
        let y = run.output::<T>(rows);
        run.launch(kernel, grid, block, 0, args![rows as i32, ptr, idx, vals, vector, y]);
        run.near(y, want.clone(), bound.clone());
    };
    launch(format!("spmv_scalar<int, {ty}>"), cover(rows, 32), 32);
    launch(format!("spmv_vector<4, int, {ty}>"), 2, 64);
    launch(format!("spmv_vector<32, int, {ty}>"), 3, 64);
}

fn spmv_csr() -> Vec<Run> {
    let mut runs = Vec::new();
    for (rows, columns, most) in [(1, 1, 2), (50, 40, 7), (33, 500, 200)] {
        let mut rng = Rng::new(rows as u64);
        let (mut row_ptr, mut cols) = (vec![0i32], Vec::new());
        for _ in 0..rows {
            let length = rng.below(most);
            cols.extend((0..length).map(|_| rng.below(columns) as i32));
            row_ptr.push(cols.len() as i32);
        }
        cols.push(0); // no array is empty; no row reaches this one
        let values = rng.floats(cols.len());
        let x = rng.floats(columns);
        let mut run = Run::new(format!("{rows} x {columns}, {} entries", cols.len() - 1));
        spmv(&mut run, "float", U, &row_ptr, &cols, &values, &x);
        let wide = crate::case::wide;
        // Both sides round in double.
        spmv(&mut run, "double", 2f64.powi(-52), &row_ptr, &cols, &wide(&values), &wide(&x));
        runs.push(run);
    }
    runs
}

fn union_find() -> Vec<Run> {
    let mut runs = Vec::new();
    for (width, height, density) in [(1, 1, 10), (17, 9, 6), (40, 33, 6), (64, 20, 9)] {
        let mut rng = Rng::new(width as u64);
        let n = width * height;
        let image: Vec<u8> = (0..n).map(|_| u8::from(rng.below(10) < density)).collect();
        let mut run = Run::new(format!("{width} x {height}"));
        let (input, labels) = (run.input(&image), run.output::<i32>(n));
        run.launch("init_labels", cover(n, 64), 64, 0, args![input, labels, n as i32]);
        let grid = (cover(width, 8), cover(height, 8));
        run.launch("merge_labels", grid, (8, 8), 0, args![input, labels, width as i32, height as i32]);
        run.launch("flatten_labels", cover(n, 64), 64, 0, args![labels, n as i32]);
        // Flood fill from each pixel not yet reached, in order, so that the pixel is the least of its component.
        let mut want = vec![-1i32; n];
        for start in 0..n {
            let mut stack = if image[start] == 1 && want[start] < 0 { vec![start] } else { Vec::new() };
            while let Some(at) = stack.pop() {
                if image[at] == 0 || want[at] >= 0 {
                    continue;
                }
                want[at] = start as i32;
                let (x, y) = (at % width, at / width);
                stack.extend((x > 0).then(|| at - 1));
                stack.extend((x + 1 < width).then(|| at + 1));
                stack.extend((y > 0).then(|| at - width));
                stack.extend((y + 1 < height).then(|| at + width));
            }
        }
        run.exactly(labels, &want);
        runs.push(run);
    }
    runs
}

/// Points with small integer coordinates: distances and sums are exact in floats.
fn points(rng: &mut Rng, n: usize, span: i32) -> Vec<f32> {
    rng.ints(n, -span, span).into_iter().map(|v| v as f32).collect()
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

fn kmeans_assign() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, k, dims) in [(1, 1, 2), (100, 5, 3), (1000, 17, 2), (333, 40, 5)] {
        let mut rng = Rng::new(n as u64);
        let (x, centres) = (points(&mut rng, n * dims, 100), points(&mut rng, k * dims, 100));
        let (mut labels, mut sums, mut counts) = (Vec::new(), vec![0f32; k * dims], vec![0u32; k]);
        for p in x.chunks(dims) {
            let mut best = 0;
            for (c, centre) in centres.chunks(dims).enumerate() {
                if distance(p, centre) < distance(p, &centres[best * dims..][..dims]) {
                    best = c;
                }
            }
            labels.push(best as i32);
            counts[best] += 1;
            for (sum, v) in sums[best * dims..].iter_mut().zip(p) {
                *sum += v;
            }
        }
        let mut run = Run::new(format!("{n} points of {dims}, {k} centroids"));
        let (input, centroids, out) = (run.input(&x), run.input(&centres), run.output::<i32>(n));
        let (totals, numbers) = (run.state(&vec![0f32; k * dims]), run.state(&vec![0u32; k]));
        let args = args![input, centroids, out, totals, numbers, n as i32, k as i32];
        run.launch(format!("kmeans_assign<{dims}>"), 3, 64, (2 * k * dims + k) * 4, args);
        run.exactly(out, &labels);
        // A sum over nothing is +0 on both sides; integers cancel to +0 as well.
        run.exactly(totals, &sums);
        run.exactly(numbers, &counts);
        runs.push(run);
    }
    runs
}

fn knn() -> Vec<Run> {
    let mut runs = Vec::new();
    for (queries, refs, k) in [(1, 1, 1), (10, 100, 5), (70, 65, 16), (33, 4, 6)] {
        let mut rng = Rng::new(refs as u64);
        // Few different places, so there are many ties, which the lower index wins.
        let (q, r) = (points(&mut rng, queries * 3, 6), points(&mut rng, refs * 3, 6));
        let (mut indices, mut distances) = (Vec::new(), Vec::new());
        for p in q.chunks(3) {
            let mut order: Vec<usize> = (0..refs).collect();
            order.sort_by(|a, b| distance(p, &r[3 * a..][..3]).total_cmp(&distance(p, &r[3 * b..][..3])));
            for i in 0..k {
                indices.push(order.get(i).map_or(-1, |at| *at as i32));
                distances.push(order.get(i).map_or(f32::INFINITY, |at| distance(p, &r[3 * at..][..3])));
            }
        }
        let mut run = Run::new(format!("{queries} in {refs}, k = {k}"));
        let (queried, from) = (run.input(&q), run.input(&r));
        let (places, lengths) = (run.output::<i32>(queries * k), run.output::<f32>(queries * k));
        let args = args![queried, from, places, lengths, queries as i32, refs as i32, k as i32];
        run.launch("knn_points", cover(queries, 32), 32, 0, args);
        run.exactly(places, &indices);
        run.exactly(lengths, &distances);
        runs.push(run);
    }
    runs
}
