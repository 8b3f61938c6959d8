//! `__constant__` and `__device__` variables from Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyList, PyTuple};
use workbench::ir::Elem;
use workbench::runtime::{DType, Symbol as Native};

use crate::args::{interop, scalar};
use crate::errors::argument;
use crate::interrupt::Poll;
use crate::kernel::failed;
use crate::ndarray::{self, View};

/// A `__constant__` or `__device__` variable of a compiled text: read with `get()`, written with `set(...)`.
///
/// >>> import workbench as wb
/// >>> wb.compile("__device__ int n = 5; __global__ void k() { n += 1; }").symbol("n")
/// Symbol(n: 1 x int32)
#[pyclass(module = "workbench", frozen)]
pub struct Symbol {
    pub symbol: Native,
}

impl Symbol {
    fn count(&self, dtype: DType) -> usize {
        self.symbol.size() / dtype.size()
    }

    fn wrong(&self, py: Python<'_>, wanted: &str, came: &str) -> PyErr {
        argument(py, format!("`{}` holds {wanted}; {came} given", self.symbol.name()))
    }
}

#[pymethods]
impl Symbol {
    /// The variable's name.
    #[getter]
    fn name(&self) -> &str {
        self.symbol.name()
    }

    /// NumPy's name of its element type; None where elements differ.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.symbol.dtype().map(DType::name)
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.symbol.size()
    }

    /// The contents: a fresh array of one dimension in row-major order, or bytes where elements differ. Each GPU has its own copy of a
    /// variable; a module for the GPU gives that of the first GPU that a kernel of it ran on, after every kernel that was queued.
    ///
    /// >>> import workbench as wb
    /// >>> m = wb.compile("__device__ int n = 5; __global__ void add() { n += 1; }")
    /// >>> m.add[1, 1](); m.symbol("n").get()
    /// array([6], dtype=int32)
    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let poll = Poll::new(false);
        let bytes = match py.detach(|| self.symbol.bytes_unless(Some(&poll))) {
            Ok(bytes) => bytes,
            Err(error) => return Err(failed(py, error, poll)),
        };
        let Some(dtype) = self.symbol.dtype() else { return Ok(PyBytes::new(py, &bytes).into_any()) };
        let (array, data) = ndarray::empty(py, &[self.count(dtype)], dtype)?;
        // SAFETY: the array is fresh and holds as many bytes as the variable.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, self.count(dtype) * dtype.size()) };
        Ok(array)
    }

    /// Replaces the contents, for the launches that begin from now on: with an array of its dtype and number of elements, a list of
    /// numbers, one number if it has one element, or bytes.
    ///
    /// A module for the GPU sets it on every GPU. Raises ArgumentError for anything else.
    ///
    /// >>> import workbench as wb
    /// >>> w = wb.compile("__constant__ float w[2]; __global__ void get(float* y) { y[0] = w[1]; }").symbol("w")
    /// >>> w.set([1, 2.5]); w.get()
    /// array([1. , 2.5], dtype=float32)
    fn set(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let put = |bytes: &[u8]| {
            let poll = Poll::new(false);
            let done = py.detach(|| self.symbol.set_bytes_unless(bytes, Some(&poll)));
            done.map_err(|error| failed(py, error, poll))
        };
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return put(bytes.as_bytes());
        }
        let Some(dtype) = self.symbol.dtype() else {
            let size = self.symbol.size();
            return Err(self.wrong(py, &format!("a struct of {size} bytes"), "something else than bytes"));
        };
        let (count, number) = (self.count(dtype), Elem::from(dtype).bits());
        let wanted = format!("{count} x {dtype}");
        if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
            let one = scalar(value, number, self.symbol.name())?;
            return if count == 1 { put(&one.bytes()) } else { Err(self.wrong(py, &wanted, "one number")) };
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            let mut bytes = Vec::with_capacity(self.symbol.size());
            for item in value.try_iter()? {
                bytes.extend(scalar(&item?, number, self.symbol.name())?.bytes());
            }
            let given = bytes.len() / dtype.size();
            return if given == count {
                put(&bytes)
            } else {
                Err(self.wrong(py, &wanted, &format!("{given} numbers")))
            };
        }
        let array = interop(py)?.call_method1("as_tensor", (value, false, self.symbol.name(), &wanted))?;
        let copy = py.import("numpy")?.call_method1("ascontiguousarray", (&array,))?;
        let view = View::of(&copy).ok_or_else(|| self.wrong(py, &wanted, "no array"))?;
        if view.dtype() != Some(dtype) || view.len() != count {
            let came = format!("{} x {}", view.len(), view.dtype_name());
            return Err(self.wrong(py, &wanted, &came));
        }
        // SAFETY: the array is contiguous and lives as long as `copy`.
        put(unsafe { std::slice::from_raw_parts(view.data(), view.len() * dtype.size()) })
    }

    fn __repr__(&self) -> String {
        let what = self.symbol.dtype().map_or_else(|| "bytes".to_owned(), |d| format!("{} x {d}", self.count(d)));
        format!("Symbol({}: {what})", self.symbol.name())
    }
}
