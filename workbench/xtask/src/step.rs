//! Long steps with their progress: the command that runs, its message when it fails, and its time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The number of failed tests that a message names.
const NAMED: usize = 30;

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

/// Runs tests with their output shown; a failure names the tests that failed, which are the lines that `is_failure` picks.
///
/// The names come last, so that a log with its middle cut out still has them.
pub fn tests(title: &str, command: &mut Command, is_failure: fn(&str) -> bool) -> Result<(), String> {
    println!("==> {title}");
    let start = Instant::now();
    let failed = |e: std::io::Error| format!("{title}: {e}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut named = Vec::new();
    let mut left = 0;
    if let Some(output) = child.stdout.take() {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            std::io::stdout().write_all(&line).map_err(failed)?;
            let text = String::from_utf8_lossy(&line);
            if is_failure(text.trim_end()) {
                if named.len() < NAMED {
                    named.push(format!("\n    {}", text.trim_end()));
                } else {
                    left += 1;
                }
            }
            line.clear();
        }
    }
    let status = child.wait().map_err(failed)?;
    if status.success() {
        println!("    {title}: done in {:.1} s", start.elapsed().as_secs_f64());
        return Ok(());
    }
    if left > 0 {
        named.push(format!("\n    and {left} more"));
    }
    Err(format!("{title} failed ({status}): {}{}", describe(command), named.concat()))
}

/// True for a line of pytest's summary that names a failed test.
pub fn is_failure_of_pytest(line: &str) -> bool {
    line.starts_with("FAILED ") || line.starts_with("ERROR ")
}

/// True for a line by which Rust's tests name a failed test.
pub fn is_failure_of_rust(line: &str) -> bool {
    line.starts_with("test ") && line.ends_with("... FAILED")
}

/// Runs a command and returns its output.
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
