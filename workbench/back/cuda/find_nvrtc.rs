//! The search for NVRTC and the headers beside it: Python wheels, environments, toolkits, the loader's own path.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::Library;

/// A library that was loaded, and the include folders that belong to it.
pub(super) struct Found {
    pub library: Library,
    /// The place where it was found, for messages.
    pub name: String,
    pub include: Vec<String>,
}

static EXTRA: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Adds a place to search for NVRTC: a Python environment, its `site-packages` or the `nvidia` folder there, a toolkit, a folder of
/// libraries, or the library itself.
pub fn add_search_path(path: PathBuf) {
    let mut extra = EXTRA.lock().unwrap_or_else(PoisonError::into_inner);
    if !extra.contains(&path) {
        extra.push(path);
    }
}

/// The variable that names NVRTC, or a place that has it; nothing else is searched then.
const NAMED_BY: &str = "WORKBENCH_NVRTC";

/// Loads NVRTC from the place that the variable names, else from the first place that has one.
pub(super) fn library() -> Result<Found, String> {
    if let Some(place) = env::var_os(NAMED_BY).filter(|place| !place.is_empty()) {
        return named(Path::new(&place));
    }
    let mut failures = Vec::new();
    let roots = roots();
    for root in &roots {
        for path in libraries_under(root) {
            match open(&path) {
                Ok(library) => {
                    let include = include_folders(&path);
                    return Ok(Found { library, name: path.display().to_string(), include });
                }
                Err(e) => failures.push(format!("{}: {e}", path.display())),
            }
        }
    }
    for name in LOADER_NAMES {
        // SAFETY: NVRTC's initialisers have no requirements.
        if let Ok(library) = unsafe { Library::new(*name) } {
            return Ok(Found { library, name: (*name).to_owned(), include: toolkit_includes() });
        }
    }
    let looked: Vec<String> = roots.iter().map(|r| r.display().to_string()).collect();
    let looked = if looked.is_empty() { String::new() } else { format!(" in {} and", looked.join(", ")) };
    let failed = if failures.is_empty() { String::new() } else { format!(" ({})", failures.join("; ")) };
    Err(format!(
        "NVRTC, NVIDIA's run-time compiler, was not found: looked for {}{looked} on the loader's path{failed}; \
         `pip install nvidia-cuda-nvrtc nvidia-cuda-runtime` brings it, or set {NAMED_BY} to its path",
        LOADER_NAMES[0]
    ))
}

/// Loads NVRTC from one place: the library, a folder that has it, or a name for the loader.
fn named(place: &Path) -> Result<Found, String> {
    let mut failures = Vec::new();
    for path in with_packages(place).iter().flat_map(|root| libraries_under(root)) {
        match open(&path) {
            Ok(library) => {
                let include = include_folders(&path);
                return Ok(Found { library, name: path.display().to_string(), include });
            }
            Err(e) => failures.push(format!("{}: {e}", path.display())),
        }
    }
    let why = if place.is_dir() && failures.is_empty() {
        "that folder has no NVRTC".to_owned()
    } else if failures.is_empty() {
        match open(place) {
            Ok(library) => {
                return Ok(Found { library, name: place.display().to_string(), include: toolkit_includes() });
            }
            Err(e) => e,
        }
    } else {
        failures.join("; ")
    };
    Err(format!(
        "NVRTC cannot be loaded from `{}`, which {NAMED_BY} names: {why}; set it to the library ({}), to a CUDA toolkit or to a Python \
         environment that has one, or unset it, and NVRTC is looked for",
        place.display(),
        LOADER_NAMES[0]
    ))
}

#[cfg(not(windows))]
const LOADER_NAMES: &[&str] = &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
#[cfg(windows)]
const LOADER_NAMES: &[&str] = &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"];

/// The places to search, most explicit first.
fn roots() -> Vec<PathBuf> {
    let mut places = EXTRA.lock().unwrap_or_else(PoisonError::into_inner).clone();
    places.extend(["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os).map(PathBuf::from));
    places.extend(toolkit_roots());
    places.iter().flat_map(|place| with_packages(place)).collect()
}

/// A place and, before it, the packages of the environment that it may be; none if it does not exist.
fn with_packages(place: &Path) -> Vec<PathBuf> {
    let pythons = children(&place.join("lib"));
    let mut roots: Vec<PathBuf> = pythons.iter().map(|p| p.join("site-packages")).filter(|p| p.is_dir()).collect();
    roots.extend(Some(place.to_owned()).filter(|p| p.exists()));
    roots
}

fn toolkit_roots() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(env::var_os).map(PathBuf::from);
    named.chain([PathBuf::from("/usr/local/cuda")]).collect()
}

/// The include folders of the toolkits that are installed.
fn toolkit_includes() -> Vec<String> {
    toolkit_roots().iter().flat_map(|root| existing_includes(root)).collect()
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut out: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    out.sort();
    out
}

/// NVRTC libraries at, in, or a known distance below a path, the newest first.
fn libraries_under(root: &Path) -> Vec<PathBuf> {
    if root.is_file() {
        return vec![root.to_owned()];
    }
    let mut folders = vec![root.to_owned()];
    let mut library_folders = |base: &Path| {
        folders.extend(
            ["lib", "lib64", "bin", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|f| base.join(f)),
        );
    };
    library_folders(root);
    // Wheels: `nvidia/cu13/lib`, before CUDA 13 `nvidia/cuda_nvrtc/lib`.
    for nvidia in [root.join("nvidia"), root.to_owned()] {
        if nvidia.file_name().is_some_and(|n| n == "nvidia") {
            children(&nvidia).iter().for_each(|package| library_folders(package));
        }
    }
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| children(folder)).filter(|p| is_nvrtc(p)).collect();
    found.sort_by_key(|path| std::cmp::Reverse(version(path)));
    found
}

/// The numbers in a library's file name: `[13]` of `libnvrtc.so.13`.
fn version(path: &Path) -> Vec<u32> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.trim_start_matches("nvrtc64_").split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

fn is_nvrtc(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with("libnvrtc.so") || name.starts_with("nvrtc64_") && name.ends_with(".dll") && !name.contains(".alt")
}

/// Loads the library. Its builtins, which it opens by name later, are loaded first, so that no search path need contain them.
fn open(path: &Path) -> Result<Library, String> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_LAZY};
        for builtins in children(path.parent().unwrap_or(Path::new("/"))) {
            let name = builtins.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            if name.starts_with("libnvrtc-builtins.so") {
                // SAFETY: the library holds data only. One of another version does no harm: NVRTC asks for its own by name.
                if let Ok(library) = unsafe { UnixLibrary::open(Some(&builtins), RTLD_LAZY | RTLD_GLOBAL) } {
                    std::mem::forget(library);
                }
            }
        }
    }
    // SAFETY: NVRTC's initialisers have no requirements.
    unsafe { Library::new(path) }
        .map_err(|e| std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string))
}

/// The include folders of the installation that holds a library.
fn include_folders(library: &Path) -> Vec<String> {
    let Some(base) = library.parent().and_then(Path::parent) else { return Vec::new() };
    let mut out = existing_includes(base);
    if let Some(nvidia) = base.parent().filter(|p| p.file_name().is_some_and(|n| n == "nvidia")) {
        // The wheels before CUDA 13 have a folder for each part.
        for part in ["cuda_runtime", "cuda_nvrtc", "cuda_cccl", "cuda_crt", "curand"] {
            out.extend(existing_includes(&nvidia.join(part)));
        }
    }
    let installed = toolkit_includes().into_iter();
    if out.is_empty() {
        out.extend(installed);
    } else if !out.iter().any(|folder| has_cccl(folder)) {
        // The wheels of NVRTC and its headers come without CCCL, which cooperative groups include.
        out.extend(installed.filter(|folder| has_cccl(folder)).take(1));
    }
    out
}

/// True if a folder for `#include` holds CCCL.
fn has_cccl(folder: &str) -> bool {
    Path::new(folder).join("cuda/std/cstdint").is_file()
}

fn existing_includes(base: &Path) -> Vec<String> {
    let folders = ["include", "include/cccl", "targets/x86_64-linux/include", "targets/sbsa-linux/include"];
    folders.iter().map(|f| base.join(f)).filter(|p| p.is_dir()).map(|p| p.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_place_that_has_no_library_is_an_error_with_the_variable_and_the_path() {
        let root = env::temp_dir().join(format!("workbench-named-{}", std::process::id()));
        let broken = root.join("broken");
        std::fs::create_dir_all(root.join("empty")).unwrap();
        std::fs::create_dir_all(&broken).unwrap();
        std::fs::write(broken.join("libnvrtc.so.13"), "no library").unwrap();
        let refused = |place: &Path| named(place).err().expect("nothing there can be loaded");
        for (place, why) in [
            (root.join("nothing"), ""),
            (root.join("empty"), "that folder has no NVRTC"),
            (broken.clone(), "libnvrtc.so.13: "),
            (broken.join("libnvrtc.so.13"), "libnvrtc.so.13: "),
            (PathBuf::from("libnvrtc-of-nobody.so"), ""),
        ] {
            let message = refused(&place);
            let said = format!("NVRTC cannot be loaded from `{}`, which WORKBENCH_NVRTC names: ", place.display());
            assert!(message.starts_with(&said) && message.contains(why), "{message}");
            assert!(message.ends_with("or unset it, and NVRTC is looked for"), "{message}");
        }
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn libraries_are_found_in_both_layouts_of_the_wheels() {
        let root = env::temp_dir().join(format!("workbench-search-{}", std::process::id()));
        for (folder, file) in [("nvidia/cu13/lib", "libnvrtc.so.13"), ("nvidia/cuda_nvrtc/lib", "libnvrtc.so.12")] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            std::fs::write(root.join(folder).join(file), "").unwrap();
            std::fs::write(root.join(folder).join("libnvrtc-builtins.so.1"), "").unwrap();
        }
        std::fs::create_dir_all(root.join("nvidia/cuda_runtime/include")).unwrap();
        for from in [root.clone(), root.join("nvidia")] {
            let found: Vec<String> =
                libraries_under(&from).iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
            assert_eq!(found, ["libnvrtc.so.13", "libnvrtc.so.12"]);
        }
        let include = include_folders(&root.join("nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
        assert!(include[0].ends_with("cuda_runtime/include"), "{include:?}");
        std::fs::remove_dir_all(&root).unwrap();
    }
}
