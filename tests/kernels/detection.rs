//! Detection: suppression of boxes, pooling of regions.

use crate::case::{Kernel, Rng, Run, U, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[Kernel { name: "nms", runs: nms }, Kernel { name: "roi_align", runs: roi_align }];

fn nms() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, span) in [(1, 10), (10, 20), (64, 60), (65, 30), (300, 150)] {
        let mut rng = Rng::new(n as u64);
        // Corners are integers, so areas and the test against a half are exact.
        let boxes: Vec<[i32; 4]> = (0..n)
            .map(|_| {
                let (x, y) = (rng.below(span) as i32, rng.below(span) as i32);
                [x, y, x + 1 + rng.below(span) as i32, y + 1 + rng.below(span) as i32]
            })
            .collect();
        let flat: Vec<f32> = boxes.iter().flatten().map(|v| *v as f32).collect();
        let tiles = cover(n, 64);
        let mut run = Run::new(format!("{n} boxes"));
        let input = run.input(&flat);
        // Tiles below the diagonal are never written.
        let mask = run.state(&vec![0u64; n * tiles]);
        let (keep, kept) = (run.output::<u8>(n), run.output::<i32>(1));
        run.launch("nms_mask<float>", (tiles, tiles), 64, 0, args![n as i32, 0.5f32, input, mask]);
        run.launch("nms_gather", 1, 32, tiles * 8, args![n as i32, mask, keep, kept]);

        let overlap = |a: &[i32; 4], b: &[i32; 4]| {
            let side = |d: usize| (a[d + 2].min(b[d + 2]) - a[d].max(b[d])).max(0);
            let area = |x: &[i32; 4]| (x[2] - x[0]) * (x[3] - x[1]);
            let shared = side(0) * side(1);
            2 * shared > area(a) + area(b) - shared
        };
        let mut bits = vec![0u64; n * tiles];
        for i in 0..n {
            for j in (i + 1..n).filter(|j| overlap(&boxes[i], &boxes[*j])) {
                bits[i * tiles + j / 64] |= 1 << (j % 64);
            }
        }
        let mut chosen: Vec<usize> = Vec::new();
        for i in 0..n {
            if !chosen.iter().any(|c| overlap(&boxes[*c], &boxes[i])) {
                chosen.push(i);
            }
        }
        run.exactly(mask, &bits);
        run.exactly(keep, &(0..n).map(|i| u8::from(chosen.contains(&i))).collect::<Vec<_>>());
        run.exactly(kept, &[chosen.len() as i32]);
        runs.push(run);
    }
    runs
}

/// Weights of a sample at (y, x): a triangle around it, nothing for a sample more than a pixel outside.
fn weight(y: f64, x: f64, [h, w]: [usize; 2], pixel: usize) -> f64 {
    if y < -1.0 || y > h as f64 || x < -1.0 || x > w as f64 {
        return 0.0;
    }
    let triangle =
        |at: f64, size: usize, j: usize| (1.0 - (at.clamp(0.0, (size - 1) as f64) - j as f64).abs()).max(0.0);
    triangle(y, h, pixel / w) * triangle(x, w, pixel % w)
}

fn roi_align() -> Vec<Run> {
    let mut runs = Vec::new();
    let cases = [([1, 1, 1, 1], 1, 1, 1), ([2, 3, 9, 12], 5, 2, 2), ([1, 2, 16, 7], 4, 3, 2), ([2, 1, 8, 8], 7, 4, 3)];
    for ([images, channels, h, w], count, pooled, ratio) in cases {
        let mut rng = Rng::new((h * w) as u64);
        let features = rng.floats(images * channels * h * w);
        let rois: Vec<f32> = (0..count)
            .flat_map(|_| {
                let image = rng.below(images) as f32;
                // Some boxes extend beyond the image, which is twice as large as its features.
                let (x, y) = (rng.between(-6.0, 2.0 * w as f32), rng.between(-6.0, 2.0 * h as f32));
                [image, x, y, x + rng.between(1.0, 16.0), y + rng.between(1.0, 16.0)]
            })
            .collect();
        let total = count * channels * pooled * pooled;
        let grads = rng.floats(total);
        let scale = 0.5f32;
        let mut run = Run::new(format!("{count} boxes on {images} x {channels} x {h} x {w}"));
        let (input, boxes, grad_out) = (run.input(&features), run.input(&rois), run.input(&grads));
        let (out, grad_in) = (run.output::<f32>(total), run.state(&vec![0f32; features.len()]));
        let tail = args![count as i32, channels as i32, h as i32, w as i32, pooled as i32, ratio as i32, scale];
        let with = |head: Vec<_>| head.into_iter().chain(tail.iter().cloned()).collect::<Vec<_>>();
        run.launch("roi_align_forward", 2, 64, 0, with(args![input, boxes, out]));
        run.launch("roi_align_backward", 3, 32, 0, with(args![grad_out, boxes, grad_in]));

        let (features, rois, grads) = (wide(&features), wide(&rois), wide(&grads));
        let samples = (ratio * ratio) as f64;
        // Coordinates are below the extent and a box: nine roundings; a weight moves with both of them and rounds three times.
        let slack = 2.0 * 9.0 * U * (h.max(w) + 16) as f64 + 3.0 * U;
        let (mut want, mut bound) = (Vec::new(), Vec::new());
        let mut gradients = vec![(0.0, 0.0, 0usize); features.len()];
        for id in 0..total {
            let (px, py, c) = (id % pooled, id / pooled % pooled, id / pooled / pooled % channels);
            let roi = &rois[id / pooled / pooled / channels * 5..][..5];
            let plane = (roi[0] as usize * channels + c) * h * w;
            let mut sum = 0.0;
            for s in 0..ratio * ratio {
                let at = |low: f64, high: f64, bin: usize, s: usize| {
                    let size = (high - low) * 0.5 / pooled as f64;
                    low * 0.5 - 0.5 + size * (bin as f64 + (s as f64 + 0.5) / ratio as f64)
                };
                let (y, x) = (at(roi[2], roi[4], py, s / ratio), at(roi[1], roi[3], px, s % ratio));
                for pixel in 0..h * w {
                    let weight = weight(y, x, [h, w], pixel);
                    sum += weight * features[plane + pixel];
                    let near =
                        |at: f64, size: usize, j: usize| (at.clamp(0.0, (size - 1) as f64) - j as f64).abs() < 1.01;
                    if near(y, h, pixel / w) && near(x, w, pixel % w) {
                        let gradient = &mut gradients[plane + pixel];
                        gradient.0 += weight * grads[id] / samples;
                        gradient.1 += (grads[id] / samples).abs();
                        gradient.2 += 1;
                    }
                }
            }
            want.push(sum / samples);
            // Each sample has four weights, of features below one; an average of sums of four products each.
            bound.push(4.0 * slack + gamma(4 * ratio * ratio + 2));
        }
        run.near(out, want, bound);
        let bound = gradients.iter().map(|(_, a, count)| a * (slack + gamma(count + 3))).collect();
        run.near(grad_in, gradients.iter().map(|g| g.0).collect(), bound);
        runs.push(run);
    }
    runs
}
