//! The extension for JupyterLab (`workbench/python/labextension`): built by Node.js into the wheel's data, from where pip puts it in place.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::python::Environment;
use crate::{root, step};

/// The folder of its source.
const SOURCE: &str = "workbench/python/labextension";

/// The folder that the wheel's data are in, and that of the built extension there.
const DATA: &str = "workbench/python/workbench.data/data";
const BUILT: &str = "share/jupyter/labextensions/workbench-labextension";

/// Builds the extension where its source is newer. Without Node.js the wheel has none, and a line says so.
pub fn build(env: &Environment) -> Result<(), String> {
    let (source, data) = (root().join(SOURCE), root().join(DATA));
    std::fs::create_dir_all(&data).map_err(|e| format!("{}: {e}", data.display()))?;
    let built = newest(&data.join(BUILT).join("package.json"));
    let changed = [source.join("src"), source.join("package.json"), source.join("package-lock.json")];
    if built.is_some() && changed.iter().filter_map(|path| newest(path)).max() <= built {
        return Ok(());
    }
    if step::read(Command::new("npm").arg("--version")).is_err() {
        println!(
            "    without Node.js (`node`, `npm`) the wheel has no extension for JupyterLab: CUDA C++ in cells is not highlighted"
        );
        return Ok(());
    }
    let mark = newest(&source.join("node_modules/.package-lock.json"));
    if mark.is_none() || mark < newest(&source.join("package-lock.json")) {
        step::show(
            "install the packages that build the extension for JupyterLab",
            Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&source),
        )?;
    }
    let find = "import jupyterlab, pathlib; print(pathlib.Path(jupyterlab.__file__).parent / 'staging')";
    let core = step::read(Command::new(env.python()).args(["-c", find]))?;
    let log = step::read(
        Command::new("node")
            .arg("node_modules/@jupyterlab/builder/lib/build-labextension.js")
            .args(["--core-path", &core, "."])
            .current_dir(&source),
    );
    // The builder exits with 0 when a module is missing.
    match log {
        Ok(log) if log.contains("compiled successfully") => Ok(()),
        Ok(log) => Err(format!("the extension for JupyterLab was not built:\n{log}")),
        Err(why) => Err(format!("the extension for JupyterLab was not built: {why}")),
    }
}

/// The time of the last change of a file, or of any file in a folder.
fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).ok()?;
        let paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
        return paths.iter().filter_map(|path| newest(path)).max();
    }
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}
