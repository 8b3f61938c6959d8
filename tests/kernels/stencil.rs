//! Stencils and cellular automata.

use crate::case::{Kernel, Rng, Run, U, args, cover, wide};

pub const KERNELS: &[Kernel] = &[
    Kernel { name: "stencil_2d5", runs: stencil_2d5 },
    Kernel { name: "stencil_3d7", runs: stencil_3d7 },
    Kernel { name: "game_of_life", runs: game_of_life },
];

fn stencil_2d5() -> Vec<Run> {
    let mut runs = Vec::new();
    for (nx, ny) in [(1, 1), (16, 8), (37, 21), (5, 40)] {
        let x = Rng::new((nx * ny) as u64).floats(nx * ny);
        let alpha = 0.2f32;
        let mut run = Run::new(format!("{nx} x {ny}"));
        let (first, second, third) = (run.input(&x), run.output::<f32>(x.len()), run.output::<f32>(x.len()));
        for (from, to) in [(first, second), (second, third)] {
            let grid = (cover(nx, 16), cover(ny, 8));
            run.launch("heat_step", grid, (16, 8), 0, args![from, to, nx as i32, ny as i32, alpha]);
        }
        let mut u = wide(&x);
        for _ in 0..2 {
            let old = u.clone();
            for at in 0..nx * ny {
                let (col, row) = (at % nx, at / nx);
                if col > 0 && row > 0 && col + 1 < nx && row + 1 < ny {
                    let sides = old[at - 1] + old[at + 1] + old[at - nx] + old[at + nx];
                    u[at] += f64::from(alpha) * (sides - 4.0 * old[at]);
                }
            }
        }
        // Values stay below one. A step takes a weighted mean, which does not increase an error; it rounds a Laplacian below eight six
        // times, and the result once.
        let step = (6.0 * 8.0 * f64::from(alpha) + 1.0) * U;
        run.near(third, u, vec![2.0 * step; x.len()]);
        runs.push(run);
    }
    runs
}

fn stencil_3d7() -> Vec<Run> {
    let mut runs = Vec::new();
    for [nx, ny, nz] in [[1, 1, 1], [16, 8, 3], [19, 11, 7], [3, 20, 2]] {
        let x = wide(&Rng::new((nx * ny * nz) as u64).floats(nx * ny * nz));
        let (mid, side) = (-5.5f64, 0.875f64);
        let mut run = Run::new(format!("{nx} x {ny} x {nz}"));
        let (input, out) = (run.input(&x), run.output::<f64>(x.len()));
        let args = args![input, out, nx as i32, ny as i32, nz as i32, mid, side];
        run.launch("laplace_3d<16, 8>", (cover(nx, 16), cover(ny, 8)), (16, 8), 0, args);
        let mut want: Vec<f64> = x.iter().map(|v| mid * v).collect();
        // Each value goes to its neighbours.
        for (at, v) in x.iter().enumerate() {
            let place = [at % nx, at / nx % ny, at / nx / ny];
            for (axis, (extent, step)) in [(nx, 1), (ny, nx), (nz, nx * ny)].into_iter().enumerate() {
                if place[axis] > 0 {
                    want[at - step] += side * v;
                }
                if place[axis] + 1 < extent {
                    want[at + step] += side * v;
                }
            }
        }
        // Inputs below one: the weights add up to 10.75, and either side rounds some eight times.
        run.near(out, want, vec![16.0 * 10.75 * 2f64.powi(-53); x.len()]);
        runs.push(run);
    }
    runs
}

fn game_of_life() -> Vec<Run> {
    let mut runs = Vec::new();
    for (width, height) in [(3, 3), (16, 16), (31, 9), (50, 50)] {
        let mut rng = Rng::new((width * height) as u64 + 1);
        let world: Vec<u8> = (0..width * height).map(|_| u8::from(rng.below(5) < 2)).collect();
        let mut run = Run::new(format!("{width} x {height}"));
        for (rule, birth, survive) in [("Conway", &[3][..], &[2, 3][..]), ("HighLife", &[3, 6], &[2, 3])] {
            let mut handle = run.input(&world);
            let mut cells = world.clone();
            for _ in 0..3 {
                let next = run.output::<u8>(world.len());
                let grid = (cover(width, 16), cover(height, 4));
                let args = args![handle, next, width as i32, height as i32];
                run.launch(format!("life_step<{rule}>"), grid, (16, 4), 0, args);
                handle = next;
                // Every living cell counts for the eight cells around it.
                let mut counts = vec![0usize; world.len()];
                for (at, _) in cells.iter().enumerate().filter(|(_, alive)| **alive == 1) {
                    for (dy, dx) in [(0, 1), (1, 0), (1, 1), (0, width - 1), (height - 1, 0)] {
                        counts[(at / width + dy) % height * width + (at % width + dx) % width] += 1;
                    }
                    for (dy, dx) in [(1, width - 1), (height - 1, 1), (height - 1, width - 1)] {
                        counts[(at / width + dy) % height * width + (at % width + dx) % width] += 1;
                    }
                }
                for (cell, count) in cells.iter_mut().zip(counts) {
                    *cell = u8::from(if *cell == 1 { survive } else { birth }.contains(&count));
                }
            }
            run.exactly(handle, &cells);
        }
        runs.push(run);
    }
    runs
}
