//! The GPUs of this machine, and the folders in which to look for NVRTC.

use std::path::PathBuf;

use pyo3::prelude::*;
use workbench::back::cuda;

/// Adds a folder of NVIDIA's wheels, a toolkit or a library to the places in which NVRTC is searched.
#[pyfunction]
pub fn add_search_path(path: PathBuf) {
    cuda::add_search_path(path);
}

/// The GPUs: name and architecture of each, in the driver's order.
#[pyfunction]
pub fn cuda_devices(py: Python<'_>) -> Vec<(String, String)> {
    py.detach(cuda::devices).into_iter().map(|d| (d.name, d.arch)).collect()
}
