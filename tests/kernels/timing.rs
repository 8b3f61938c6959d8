//! Compile time of whole kernels, and a check that memory comes back: `cargo bench --test kernels`.
//!
//! A compilation is everything that a user waits for when asking for one instance of a text: reading it, making the instance, machine code. Each is done
//! [`TIMES`] times, and the median and the fastest are taken; a kernel's time is that of its slowest instance. On a machine that others use too,
//! the fastest times say more.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use workbench::runtime::{CompileOptions, Program, settle};

use crate::case::{Kernel, Step};

const TIMES: usize = 15;
/// Compilations whose memory must come back.
const MANY: usize = 10_000;

/// Prints the table.
pub fn run(families: &[&[Kernel]], root: &Path) {
    let mut rows: Vec<(f64, f64, String)> = Vec::new();
    let mut texts: Vec<(String, CompileOptions)> = Vec::new();
    for kernel in families.iter().copied().flatten() {
        let Ok(text) = std::fs::read_to_string(root.join(kernel.name).with_extension("cu")) else { continue };
        let mut names = BTreeSet::new();
        for run in (kernel.runs)() {
            names.extend(run.steps.into_iter().filter_map(|step| match step {
                Step::Launch { kernel, .. } => Some(kernel),
                Step::Symbol { .. } => None,
            }));
        }
        let (mut slowest, mut quiet) = (0.0f64, 0.0f64);
        for name in names {
            let mut options = CompileOptions::default();
            if name.contains('<') {
                options.front.instances.push(name);
            }
            let mut times: Vec<f64> = (0..TIMES)
                .map(|_| {
                    let start = Instant::now();
                    let program = Program::compile(&text, &options);
                    let time = start.elapsed().as_secs_f64() * 1e3;
                    assert!(program.is_ok(), "{} compiles", kernel.name);
                    // The better code made in the background belongs to this compilation, not to the next.
                    drop(program);
                    settle();
                    time
                })
                .collect();
            times.sort_by(f64::total_cmp);
            slowest = slowest.max(times[TIMES / 2]);
            quiet = quiet.max(times[0]);
            texts.push((text.clone(), options));
        }
        rows.push((slowest, quiet, kernel.name.to_owned()));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (time, quiet, name) in &rows {
        println!("{name:<32} {time:>8.2} ms {quiet:>8.2} ms");
    }
    let mut quiet: Vec<f64> = rows.iter().map(|row| row.1).collect();
    quiet.sort_by(f64::total_cmp);
    println!(
        "\n{} kernels: median {:.2} ms, slowest {:.2} ms; each at its fastest: median {:.2} ms, slowest {:.2} ms",
        rows.len(),
        rows[rows.len() / 2].0,
        rows[rows.len() - 1].0,
        quiet[quiet.len() / 2],
        quiet[quiet.len() - 1],
    );
    memory(&texts);
}

/// Compiles thousands of times, and prints the growth of memory after the first tenth.
fn memory(texts: &[(String, CompileOptions)]) {
    let mut after_tenth = 0;
    for i in 0..MANY {
        let (text, options) = &texts[i % texts.len()];
        // The comment differs each time, so nothing can be cached.
        let program = Program::compile(&format!("{text}\n// {i}\n"), options);
        assert!(program.is_ok());
        if i == MANY / 10 {
            after_tenth = resident();
        }
    }
    let (before, after) = (after_tenth as f64 / 1e6, resident() as f64 / 1e6);
    println!("{MANY} compilations: {before:.1} MB after a tenth, {after:.1} MB after all");
}

/// Memory of the process in bytes; 0 if the system does not tell.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
