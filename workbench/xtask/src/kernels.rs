//! `cargo xtask kernels`: every operator in `kernels/` checked (values, gradients, shapes, edge cases), as one table.

use std::process::Command;

use crate::python::Environment;
use crate::{root, step};

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    if let Some(option) = args.iter().find(|a| a.starts_with('-')) {
        return Err(format!("cargo xtask kernels has no option `{option}`; it takes parts of operators' names"));
    }
    let env = Environment::prepare(true)?;
    step::show(
        "operators beside their references",
        Command::new(env.python()).arg("workbench/xtask/kernels.py").args(args).current_dir(root()),
    )
}
