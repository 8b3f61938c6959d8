//! A kernel beside a native Rust loop over sizes, in interleaved rounds: a table, a picture, the data.
//!
//! `cargo run --release --example 04_timed_comparison [folder]` writes `gelu.svg` and `gelu.json` into the folder (the system's temporary one
//! by default).

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use workbench::bench::sweep;
use workbench::prelude::*;

const SRC: &str = include_str!("../kernels/elementwise/gelu.cu");

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let program = wb::compile(SRC)?;
    let gelu = program.kernel("gelu")?;
    let names = ["workbench", "Rust loop"].map(String::from);
    let sizes: Vec<u64> = (6..=18).step_by(3).map(|k| 1 << k).collect();
    let config = BenchConfig { target_time_per_size: Duration::from_millis(300), ..BenchConfig::default() };
    let report = sweep(
        &names,
        &sizes,
        |contestant, size| {
            let n = size as usize;
            let x = Array1::from_iter((0..n).map(|i| (i % 600) as f32 * 0.01 - 3.0));
            let mut y = Array1::<f32>::zeros(n);
            let kernel = gelu.clone();
            Ok(if contestant == 0 {
                Box::new(move || {
                    let blocks = n.div_ceil(256) as u32;
                    kernel.launch(blocks, 256).arg(&x).arg(&mut y).arg(n as i32).run().map(drop)
                }) as Contestant<'_>
            } else {
                Box::new(move || {
                    y.zip_mut_with(&x, |y, &x| {
                        *y = 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh());
                    });
                    black_box(&y);
                    Ok(())
                })
            })
        },
        &config,
    )?
    .with_title("gelu, float32");
    println!("{report}");
    for name in ["gelu.svg", "gelu.json"] {
        report.save(folder.join(name))?;
    }
    println!("wrote gelu.svg and gelu.json");
    Ok(())
}
