//! Convolutions.

use crate::case::{Argument, Kernel, Rng, Run, args, cover, gamma, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "conv1d_constant", runs: conv1d_constant },
    Kernel { name: "conv2d_halo", runs: conv2d_halo },
    Kernel { name: "conv_depthwise", runs: conv_depthwise },
    Kernel { name: "im2col", runs: im2col },
];

/// A sum of products, and the sum of their absolute values.
#[derive(Clone, Copy, Default)]
struct Sum(f64, f64);

impl Sum {
    fn add(&mut self, term: f64) {
        self.0 += term;
        self.1 += term.abs();
    }
}

/// Expects sums of `n` products.
fn expect(run: &mut Run, array: crate::case::Handle, sums: &[Sum], n: usize) {
    run.near(array, sums.iter().map(|s| s.0).collect(), sums.iter().map(|s| gamma(n) * s.1).collect());
}

fn conv1d_constant() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, radius) in [(1, 0), (5, 3), (128, 1), (1000, 16)] {
        let mut rng = Rng::new(n as u64);
        let (x, filter) = (rng.floats(n), rng.floats(33));
        let mut run = Run::new(format!("n = {n}, radius = {radius}"));
        run.symbol("c_filter", &filter);
        let (input, basic, tiled) = (run.input(&x), run.output::<f32>(n), run.output::<f32>(n));
        run.launch("conv1d_basic", cover(n, 64), 64, 0, args![input, basic, n as i32, radius as i32]);
        run.launch("conv1d_tiled", cover(n, 128), 128, 0, args![input, tiled, n as i32, radius as i32]);
        let (x, filter) = (wide(&x), wide(&filter));
        let mut sums = vec![Sum::default(); n];
        // Every input contributes to the outputs around it.
        for (j, v) in x.iter().enumerate() {
            for (t, factor) in filter.iter().enumerate().take(2 * radius + 1) {
                if let Some(i) = (j + t).checked_sub(radius).filter(|i| *i < n) {
                    sums[i].add(v * factor);
                }
            }
        }
        expect(&mut run, basic, &sums, 2 * radius + 1);
        expect(&mut run, tiled, &sums, 2 * radius + 1);
        runs.push(run);
    }
    runs
}

/// The window of a plain convolution.
#[derive(Clone, Copy)]
struct Window {
    size: usize,
    stride: usize,
    pad: usize,
    dilation: usize,
}

impl Window {
    fn outputs(self, extent: usize) -> usize {
        (extent + 2 * self.pad - self.dilation * (self.size - 1) - 1) / self.stride + 1
    }

    /// The input that output `o` sees under the filter's element `k`.
    fn input(self, o: usize, k: usize, extent: usize) -> Option<usize> {
        (o * self.stride + k * self.dilation).checked_sub(self.pad).filter(|i| *i < extent)
    }
}

fn conv2d_halo() -> Vec<Run> {
    let mut runs = Vec::new();
    for (n, c, o, h, w, size, bias) in
        [(1, 1, 1, 1, 1, 3, false), (2, 3, 2, 17, 30, 3, true), (1, 2, 3, 20, 9, 5, true)]
    {
        let mut rng = Rng::new((h * w) as u64);
        let (x, f, b) = (rng.floats(n * c * h * w), rng.floats(o * c * size * size), rng.floats(o));
        let mut run = Run::new(format!("{n} x {c} x {h} x {w} to {o}, filter of {size}"));
        let (input, filter) = (run.input(&x), run.input(&f));
        let offset = if bias { Argument::Array(run.input(&b)) } else { Argument::Null };
        let out = run.output::<f32>(n * o * h * w);
        let mut args = args![input, filter];
        args.push(offset);
        args.extend(args![out, c as i32, o as i32, h as i32, w as i32]);
        let shared = ((16 + size - 1) * (8 + size - 1) + size * size) * 4;
        run.launch(format!("conv2d_tiled<{size}, 16, 8>"), (cover(w, 16), cover(h, 8), n * o), (16, 8), shared, args);

        let window = Window { size, stride: 1, pad: size / 2, dilation: 1 };
        let mut sums = Vec::new();
        for at in 0..n * o * h * w {
            let (x0, y0, channel, image) = (at % w, at / w % h, at / w / h % o, at / w / h / o);
            let mut sum = Sum::default();
            if bias {
                sum.add(f64::from(b[channel]));
            }
            for k in 0..c * size * size {
                let (kx, ky, plane) = (k % size, k / size % size, k / size / size);
                if let (Some(iy), Some(ix)) = (window.input(y0, ky, h), window.input(x0, kx, w)) {
                    let value = f64::from(x[((image * c + plane) * h + iy) * w + ix]);
                    sum.add(value * f64::from(f[channel * c * size * size + k]));
                }
            }
            sums.push(sum);
        }
        expect(&mut run, out, &sums, c * size * size + 1);
        runs.push(run);
    }
    runs
}

fn conv_depthwise() -> Vec<Run> {
    let mut runs = Vec::new();
    let cases = [
        (3, [1, 1, 1, 5, 5], Window { size: 3, stride: 1, pad: 1, dilation: 1 }, true),
        (0, [2, 3, 2, 11, 8], Window { size: 4, stride: 2, pad: 0, dilation: 1 }, false),
        (5, [1, 4, 1, 13, 17], Window { size: 5, stride: 2, pad: 3, dilation: 2 }, true),
        (1, [2, 2, 3, 4, 3], Window { size: 1, stride: 1, pad: 0, dilation: 1 }, true),
    ];
    for (known, [n, c, multiplier, h, w], window, bias) in cases {
        let mut rng = Rng::new((h * w) as u64 + 1);
        let (oh, ow, channels) = (window.outputs(h), window.outputs(w), c * multiplier);
        let taps = window.size * window.size;
        let (x, f, b) = (rng.floats(n * c * h * w), rng.floats(channels * taps), rng.floats(channels));
        let mut run = Run::new(format!("{n} x {c} x {h} x {w}, filter of {} ({known} known)", window.size));
        let [input, filter, offset] = [&x, &f, &b].map(|v| run.input(v));
        let total = n * channels * oh * ow;
        let mut sums = Vec::new();
        for at in 0..total {
            let (x0, y0, channel, image) = (at % ow, at / ow % oh, at / ow / oh % channels, at / ow / oh / channels);
            let mut sum = Sum::default();
            if bias {
                sum.add(f64::from(b[channel]));
            }
            for k in 0..taps {
                let iy = window.input(y0, k / window.size, h);
                let ix = window.input(x0, k % window.size, w);
                if let (Some(iy), Some(ix)) = (iy, ix) {
                    let value = f64::from(x[((image * c + channel / multiplier) * h + iy) * w + ix]);
                    sum.add(value * f64::from(f[channel * taps + k]));
                }
            }
            sums.push(sum);
        }
        for scalar in ["float", "double"] {
            let (mut args, out);
            if scalar == "float" {
                out = run.output::<f32>(total);
                args = args![input, out, filter, offset, bias];
            } else {
                let [input, filter, offset] = [&x, &f, &b].map(|v| run.input(&wide(v)));
                out = run.output::<f64>(total);
                args = args![input, out, filter, offset, bias];
            }
            let numbers =
                [total, channels, multiplier, w, h, ow, oh, window.size, window.size, window.stride, window.pad];
            args.extend(numbers.iter().chain([&window.dilation]).map(|v| Argument::I32(*v as i32)));
            run.launch(format!("depthwise_forward<{known}, {scalar}>"), 3, 64, 0, args);
            expect(&mut run, out, &sums, taps + 1);
        }
        runs.push(run);
    }
    runs
}

fn im2col() -> Vec<Run> {
    let mut runs = Vec::new();
    let unit = Window { size: 1, stride: 1, pad: 0, dilation: 1 };
    let cases = [
        ([1, 1, 1], unit, unit),
        ([3, 9, 7], Window { size: 3, pad: 1, ..unit }, Window { size: 2, pad: 1, ..unit }),
        (
            [2, 13, 10],
            Window { size: 3, stride: 2, pad: 2, dilation: 2 },
            Window { size: 4, stride: 3, pad: 1, dilation: 1 },
        ),
    ];
    for ([c, h, w], tall, broad) in cases {
        let (hc, wc, rows) = (tall.outputs(h), broad.outputs(w), c * tall.size * broad.size);
        let mut rng = Rng::new((h * w) as u64 + 2);
        let (image, columns) = (rng.floats(c * h * w), rng.floats(rows * hc * wc));
        let mut lowered = vec![0f32; columns.len()];
        let mut lifted = vec![Sum::default(); image.len()];
        for at in 0..columns.len() {
            let (x0, y0, row) = (at % wc, at / wc % hc, at / wc / hc);
            let (kx, ky, plane) = (row % broad.size, row / broad.size % tall.size, row / broad.size / tall.size);
            if let (Some(iy), Some(ix)) = (tall.input(y0, ky, h), broad.input(x0, kx, w)) {
                let pixel = (plane * h + iy) * w + ix;
                lowered[at] = image[pixel];
                lifted[pixel].add(f64::from(columns[at]));
            }
        }
        let pairs = [tall, broad].map(|v| [v.size, v.pad, v.stride, v.dilation]);
        let numbers = [h, w].into_iter().chain((0..4).flat_map(|i| [pairs[0][i], pairs[1][i]])).chain([hc, wc]);
        let geometry = Argument::Struct(numbers.flat_map(|v| (v as i32).to_le_bytes()).collect());
        let mut run = Run::new(format!("{c} x {h} x {w}"));
        let (input, out) = (run.input(&image), run.output::<f32>(columns.len()));
        let mut args = args![input, out, c as i32];
        args.push(geometry.clone());
        run.launch("image_to_columns<float>", 2, 64, 0, args);
        run.exactly(out, &lowered);
        let (input, out) = (run.input(&columns), run.output::<f32>(image.len()));
        let mut args = args![input, out, c as i32];
        args.push(geometry);
        run.launch("columns_to_image<float>", 2, 64, 0, args);
        expect(&mut run, out, &lifted, tall.size * broad.size);
        runs.push(run);
    }
    runs
}
