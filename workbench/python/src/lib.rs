//! The native half of the Python package `workbench`: compiling, launching, operators; everything that must be fast.
//!
//! The other half, `py/workbench`, is in Python: exceptions, magics, displays, elementwise kernels.
//!
//! This crate's own code uses mimalloc as allocator; Rust programs choose their own.

mod args;
mod bench;
mod check;
mod devices;
mod dlpack;
mod errors;
mod foreign;
mod gil;
mod history;
mod host;
mod interrupt;
mod kernel;
mod keywords;
mod language_service;
mod library;
mod module;
mod ndarray;
mod on_gpu;
mod op;
mod output;
mod pictures;
mod pool;
mod recorded_gradients;
mod records;
mod stale;
mod structs;
mod symbol;
mod template;
mod tier;
mod torch;
mod tune;
mod values;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native half of `workbench`.
#[pymodule]
fn _workbench(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // NumPy's table is looked up while no other thread can fork.
    ndarray::View::of(m.as_any());
    workbench::runtime::host::foreign::set_importer(foreign::import);
    tier::look_in_packages(m.py())?;
    m.add_function(wrap_pyfunction!(tier::stop_compilers, m)?)?;
    m.py().import("atexit")?.call_method1("register", (m.getattr("stop_compilers")?,))?;
    m.add_class::<check::NativeWriters>()?;
    m.add_class::<module::Module>()?;
    m.add_class::<kernel::Kernel>()?;
    m.add_class::<symbol::Symbol>()?;
    m.add_class::<kernel::Launcher>()?;
    m.add_class::<template::KernelTemplate>()?;
    m.add_class::<template::TemplateLauncher>()?;
    m.add_class::<kernel::HostFunction>()?;
    m.add_class::<host::ExtensionFunction>()?;
    m.add_function(wrap_pyfunction!(library::neuron_kernels, m)?)?;
    m.add_function(wrap_pyfunction!(library::load_neuron, m)?)?;
    m.add_function(wrap_pyfunction!(library::tpc_execute, m)?)?;
    m.add_function(wrap_pyfunction!(library::tf_operators, m)?)?;
    m.add_function(wrap_pyfunction!(library::tf_execute, m)?)?;
    m.add_class::<library::LibraryOp>()?;
    m.add_function(wrap_pyfunction!(library::library_names, m)?)?;
    m.add_function(wrap_pyfunction!(library::define_schema, m)?)?;
    m.add_function(wrap_pyfunction!(library::set_shape_rule, m)?)?;
    m.add_function(wrap_pyfunction!(library::hold_to_schema, m)?)?;
    m.add_function(wrap_pyfunction!(library::read_manifest, m)?)?;
    m.add_function(wrap_pyfunction!(library::write_manifest, m)?)?;
    m.add_function(wrap_pyfunction!(keywords::arrange_arguments, m)?)?;
    m.add_function(wrap_pyfunction!(module::compile_source, m)?)?;
    m.add_function(wrap_pyfunction!(language_service::complete, m)?)?;
    m.add_function(wrap_pyfunction!(language_service::hover, m)?)?;
    m.add_function(wrap_pyfunction!(language_service::signature_help, m)?)?;
    m.add_function(wrap_pyfunction!(language_service::problems, m)?)?;
    m.add_function(wrap_pyfunction!(interrupt::interrupt, m)?)?;
    m.add_function(wrap_pyfunction!(devices::add_search_path, m)?)?;
    m.add_function(wrap_pyfunction!(devices::cuda_devices, m)?)?;
    m.add_function(wrap_pyfunction!(on_gpu::synchronize, m)?)?;
    m.add_function(wrap_pyfunction!(on_gpu::has_queued, m)?)?;
    m.add_class::<bench::BenchReport>()?;
    m.add_class::<pictures::Svg>()?;
    m.add_function(wrap_pyfunction!(pictures::ceilings, m)?)?;
    m.add_class::<tune::NativeTuneReport>()?;
    m.add_function(wrap_pyfunction!(tune::eliminate, m)?)?;
    m.add("FINAL_ROUND", workbench::bench::elimination::FINAL_ROUND)?;
    m.add_function(wrap_pyfunction!(pictures::report_card, m)?)?;
    m.add_function(wrap_pyfunction!(pictures::case_picture, m)?)?;
    m.add_function(wrap_pyfunction!(pictures::stacked_pictures, m)?)?;
    m.add_function(wrap_pyfunction!(pictures::text_picture, m)?)?;
    m.add_class::<tier::TierReport>()?;
    m.add_class::<tier::HeldMaker>()?;
    m.add_function(wrap_pyfunction!(bench::sweep, m)?)?;
    m.add_function(wrap_pyfunction!(bench::format_seconds, m)?)?;
    m.add_function(wrap_pyfunction!(tier::set_tier, m)?)?;
    m.add_function(wrap_pyfunction!(pool::pooled_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(bench::time_function, m)?)?;
    m.add_class::<op::NativeOp>()?;
    m.add_class::<history::NativeHistory>()?;
    m.add_function(wrap_pyfunction!(history::history_of_texts, m)?)?;
    m.add_class::<torch::TorchImplementation>()?;
    m.add_function(wrap_pyfunction!(torch::torch_implement, m)?)?;
    m.add_function(wrap_pyfunction!(torch::torch_call, m)?)?;
    m.add_function(wrap_pyfunction!(torch::torch_streams, m)?)?;
    m.add_function(wrap_pyfunction!(torch::torch_is_here, m)?)?;
    m.add_class::<check::CheckReport>()?;
    m.add_class::<check::GradReport>()?;
    m.add_function(wrap_pyfunction!(op::schema_parts, m)?)?;
    m.add_function(wrap_pyfunction!(op::schema_arguments, m)?)?;
    m.add_function(wrap_pyfunction!(op::schema_text, m)?)?;
    m.add_function(wrap_pyfunction!(op::schema_returns, m)?)?;
    m.add_function(wrap_pyfunction!(check::check_op, m)?)?;
    m.add_function(wrap_pyfunction!(check::check_versions, m)?)?;
    m.add_function(wrap_pyfunction!(check::check_results, m)?)?;
    m.add_function(wrap_pyfunction!(check::writers_of, m)?)?;
    m.add_function(wrap_pyfunction!(check::work_of, m)?)?;
    m.add_function(wrap_pyfunction!(check::gradcheck_op, m)?)?;
    m.add_function(wrap_pyfunction!(check::gradcheck_call, m)?)?;
    Ok(())
}
