//! `cargo xtask ulp`: the accuracy of every `float` function over all 2^32 arguments, kept in the table of `LANGUAGE.md`.

use std::process::Command;

use crate::{root, step};

/// Runs the command: `[NAME ...] [--stride N]`.
pub fn run(args: &[String]) -> Result<(), String> {
    let mut stride = 1;
    let mut names = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--stride" {
            let n = rest.next().map_or("", String::as_str);
            stride = match n.parse::<u64>() {
                Ok(n) if n > 0 => n,
                _ => return Err(format!("`--stride` takes a positive number, not `{n}`")),
            };
        } else if arg.starts_with('-') {
            return Err(format!("cargo xtask ulp has no option `{arg}`"));
        } else {
            names.push(arg.clone());
        }
    }
    step::show(
        "accuracy of the float functions",
        Command::new("cargo")
            .args(["test", "--release", "--test", "math", "every_float", "--", "--ignored", "--nocapture"])
            .env("WORKBENCH_ULP_STRIDE", stride.to_string())
            .env("WORKBENCH_ULP_ONLY", names.join(" "))
            .current_dir(root()),
    )?;
    if stride == 1 {
        println!("kept in workbench/front/LANGUAGE.md");
    }
    Ok(())
}
