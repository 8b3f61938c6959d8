//! `cargo xtask pictures`: draws the README's pictures again, in `notebooks/pictures/`.

use std::process::Command;

use crate::python::Environment;
use crate::{root, step};

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("cargo xtask pictures has no option `{arg}`"));
    }
    let env = Environment::prepare(true)?;
    step::show(
        "pictures of the README",
        Command::new(env.python()).args(["workbench/xtask/pictures.py", "notebooks/pictures"]).current_dir(root()),
    )
}
