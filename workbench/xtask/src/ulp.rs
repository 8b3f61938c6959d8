//! `cargo xtask ulp`: the accuracy of every `float` function over all 2^32 arguments, as a table.

use std::process::Command;

use crate::{root, step};

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    let stride = match args {
        [] => 1,
        [option, n] if option == "--stride" => match n.parse::<u64>() {
            Ok(n) if n > 0 => n,
            _ => return Err(format!("`--stride` takes a positive number, not `{n}`")),
        },
        _ => return Err(format!("cargo xtask ulp has no option `{}`", args.join(" "))),
    };
    step::show(
        "accuracy of the float functions",
        Command::new("cargo")
            .args(["test", "--release", "--test", "math", "every_float", "--", "--ignored", "--nocapture"])
            .env("WORKBENCH_ULP_STRIDE", stride.to_string())
            .current_dir(root()),
    )
}
