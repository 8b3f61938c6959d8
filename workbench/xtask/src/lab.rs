//! `cargo xtask lab`: from a clone to an open notebook.

use std::process::Command;

use crate::evcxr::Kernel;
use crate::python::Environment;
use crate::{root, step};

const PYTHON_NOTEBOOK: &str = "notebooks/python/01-first-operator.ipynb";
const RUST_NOTEBOOK: &str = "notebooks/rust/01-first-operator.ipynb";

/// Runs the command.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut execute, mut browser, mut rust, mut port) = (false, true, false, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--execute" => execute = true,
            "--no-browser" => browser = false,
            "--rust" => rust = true,
            "--port" => {
                let value = args.next().ok_or("--port takes a number")?;
                port = Some(value.parse::<u16>().map_err(|_| format!("--port {value}: not a port"))?);
            }
            other => return Err(format!("cargo xtask lab has no option `{other}`; see cargo xtask help")),
        }
    }
    if let Some(port) = port {
        is_free(port)?;
    }
    let env = Environment::prepare(false)?;
    let kernel = if rust { Some(Kernel::prepare(&env)?) } else { None };
    if let Some(kernel) = &kernel {
        kernel.warm(&env, true)?;
    }
    let notebook = root().join(if rust { RUST_NOTEBOOK } else { PYTHON_NOTEBOOK });
    if execute {
        let vars = kernel.as_ref().map(Kernel::env).unwrap_or_default();
        return env.execute(&notebook, rust.then_some("rust"), &vars);
    }
    let mut command = Command::new(env.bin("jupyter"));
    command.arg("lab").arg(&notebook).current_dir(root());
    if let Some(kernel) = &kernel {
        command.envs(kernel.env());
    }
    if !browser {
        command.arg("--no-browser");
    }
    if let Some(port) = port {
        command.arg(format!("--port={port}")).arg("--ServerApp.port_retries=0");
    }
    // JupyterLab refuses to run as root (containers) unless told to.
    if step::read(Command::new("id").arg("-u")).is_ok_and(|uid| uid == "0") {
        command.arg("--allow-root");
    }
    let _pool = match &kernel {
        Some(kernel) => Some(kernel.pool(&env)?),
        None => None,
    };
    println!("==> JupyterLab: its address stands below; stop it with Ctrl-C");
    let status = command.status().map_err(|e| format!("jupyter lab: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("jupyter lab ended with {status}")) }
}

/// An error if another program listens on a port. JupyterLab would take the next one, and open an address at which there is no notebook.
fn is_free(port: u16) -> Result<(), String> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", port));
    listener.map(drop).map_err(|e| format!("--port {port}: {e}; choose another one, or leave it to JupyterLab"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = taken.local_addr().expect("an address").port();
        assert!(is_free(port).is_err_and(|why| why.starts_with(&format!("--port {port}: "))));
        drop(taken);
        assert_eq!(is_free(port), Ok(()));
    }
}
