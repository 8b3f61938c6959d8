//! Gradients that a call of host code has recorded, for Python's autograd.

use pyo3::prelude::*;
use pyo3::types::PyList;
use workbench::runtime::Error;
use workbench::runtime::host::{self, Limits, Value, tensors_of};

use crate::errors::argument;
use crate::foreign::Kept;
use crate::host::Given;
use crate::interrupt::Poll;
use crate::output;

/// A call that has ended, with the function from gradients of its results to gradients of its arguments.
#[pyclass(module = "workbench", frozen)]
pub struct Recording {
    recording: host::Recording,
    /// The arrays among the arguments, in order.
    inputs: Vec<Py<PyAny>>,
}

/// The tensors of a call's arguments that require grad, by the answer of `wants` about the arrays they are of; and those arrays.
pub fn wanted(py: Python<'_>, values: &[Value], wants: &Bound<'_, PyAny>) -> PyResult<(Vec<bool>, Vec<Py<PyAny>>)> {
    let (mut flags, mut inputs) = (Vec::new(), Vec::new());
    for tensor in tensors_of(values) {
        let Some(kept) = Kept::of(tensor.storage()) else {
            return Err(argument(py, "a gradient is asked of an array that is a copy"));
        };
        flags.push(tensor.dtype().is_float() && wants.call1((kept.object.bind(py),))?.is_truthy()?);
        inputs.push(kept.object.clone_ref(py));
    }
    Ok((flags, inputs))
}

impl Recording {
    pub fn new(recording: host::Recording, inputs: Vec<Py<PyAny>>) -> Self {
        Recording { recording, inputs }
    }
}

#[pymethods]
impl Recording {
    /// The arrays among the arguments, in order.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.inputs)
    }

    /// True for each array of the result that a gradient goes through, and after them for each that it wrote (`dirty`).
    #[getter]
    fn differentiable(&self) -> Vec<bool> {
        self.recording.differentiable()
    }

    /// The argument that each array of the result is; None if it is a new array.
    #[getter]
    fn aliases(&self) -> Vec<Option<usize>> {
        self.recording.aliases.clone()
    }

    /// The arguments that it wrote in place, in ways that gradients follow.
    #[getter]
    fn dirty(&self) -> Vec<usize> {
        self.recording.dirty.clone()
    }

    /// True for each array of the arguments that the gradient reads, and for each of the result.
    #[getter]
    fn reads(&self) -> (Vec<bool>, Vec<bool>) {
        (self.recording.reads_inputs.clone(), self.recording.reads_outputs.clone())
    }

    /// True if the call drew random numbers.
    #[getter]
    fn is_random(&self) -> bool {
        self.recording.is_random
    }

    /// A gradient for each array of the arguments (None for zero), given one for each array of the result and for each that it wrote.
    fn backward<'py>(&self, py: Python<'py>, grads: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut given = Given::recorded();
        let mut values = Vec::with_capacity(grads.len());
        for (i, grad) in grads.iter().enumerate() {
            values.push(match given.value(grad, &format_args!("the gradient of result {i}"))?.sealed() {
                Value::Tensor(tensor) => Some(tensor),
                _ => None,
            });
        }
        let poll = Poll::new(true);
        let limits = Limits { interrupt: Some(&poll), ..Limits::default() };
        let made = self.recording.backward(values, limits);
        let (made, report) = match made {
            Ok(made) => made,
            Err(error @ Error::Argument(_)) => return Err(crate::errors::to_py(py, error)),
            Err(error) => return Err(crate::kernel::failed(py, error, poll)),
        };
        output::write(py, &report.output, report.dropped)?;
        output::warn(py, &report.warnings)?;
        made.into_iter().map(|grad| given.object(py, &grad.map_or(Value::None, Value::Tensor))).collect()
    }
}
