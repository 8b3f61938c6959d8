//! Long steps with their progress: what runs, what it says when it fails, how long it took.

use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs a command with its output shown.
pub fn show(title: &str, command: &mut Command) -> Result<(), String> {
    println!("==> {title}");
    let start = Instant::now();
    let status = command.status().map_err(|e| format!("{title}: {e}"))?;
    if status.success() {
        println!("    {title}: done in {:.1} s", start.elapsed().as_secs_f64());
        Ok(())
    } else {
        Err(format!("{title} failed ({status}): {}", describe(command)))
    }
}

/// Runs a command and returns what it prints.
pub fn read(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|e| format!("{}: {e}", describe(command)))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{} failed:\n{}", describe(command), String::from_utf8_lossy(&output.stderr)))
    }
}

fn describe(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}
