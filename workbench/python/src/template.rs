//! Templates of kernels: `m.scale[grid, block](...)`, where the arguments decide the instance.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyTuple};
use workbench::front::kernel_calls::{KernelArg, KernelArgs, KernelCall};
use workbench::ir::{Elem, Scalar};
use workbench::runtime::{DType, Device, Error, Program};

use crate::args;
use crate::errors::{self, argument};
use crate::interrupt::compiling;
use crate::kernel::{Kernel, Shape, refuse_named, seconds};
use crate::module::Module;
use crate::ndarray::View;
use crate::on_gpu::GpuArray;
use crate::stale::Stale;

/// A template of kernels.
#[pyclass(module = "workbench", frozen)]
pub struct KernelTemplate {
    pub program: Program,
    pub name: String,
    /// Timeout in seconds, for launches that name none.
    pub timeout: Option<f64>,
    /// The warning that the next call gives once.
    pub stale: Stale,
}

/// A template with its grid and block chosen; call it with the kernel's arguments.
#[pyclass(module = "workbench", frozen)]
pub struct TemplateLauncher {
    template: Py<KernelTemplate>,
    shape: Shape,
}

#[pymethods]
impl KernelTemplate {
    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// The template's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The text it is in.
    #[getter]
    fn text(&self) -> &str {
        self.program.text()
    }

    /// The module it belongs to.
    #[getter]
    fn module(&self) -> Module {
        Module { program: self.program.clone(), timeout: self.timeout }
    }

    /// The instance that these arguments ask for, compiled if it is new: by C++'s deduction from the arrays' element types, and from numbers
    /// where arrays leave a type open (a Python float is a double, an int an int). Default arguments of the template apply.
    ///
    /// Raises ArgumentError if its template arguments do not follow from these, CompileError if the instance does not compile.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> m = wb.compile("template <typename T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }")
    /// >>> m.fill.instance(np.zeros(3, np.int16), 7)
    /// <kernel void fill<short>(short* x, short v)>
    #[pyo3(signature = (*args))]
    fn instance(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Kernel> {
        self.stale.warn(py)?;
        let mut shapes = Vec::with_capacity(args.len());
        for (at, object) in args.iter().enumerate() {
            shapes.push(ParamHint::of(&object, at, self.program.options().device)?);
        }
        let call = |numbers: bool| KernelCall {
            template: self.name.clone(),
            args: KernelArgs::InOrder(shapes.iter().map(|known| known.arg(numbers)).collect()),
        };
        // Numbers of Python's fit any type, if arrays decide the type.
        let (typed, loose) = (call(false), call(true));
        let kernel = match compiling(py, || self.program.deduce(&typed))? {
            Err(Error::Argument(_)) if shapes.iter().any(|known| matches!(known, ParamHint::Number(_))) => {
                compiling(py, || self.program.deduce(&loose))?
            }
            found => found,
        };
        let kernel = kernel.map_err(|e| errors::to_py(py, e))?;
        Ok(Kernel { kernel, timeout: self.timeout, stale: Stale::default() })
    }

    fn __getitem__(slf: Py<Self>, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<TemplateLauncher> {
        let shape = Shape::of_index(py, &slf.get().name, slf.get().program.options().device, index)?;
        Ok(TemplateLauncher { template: slf, shape })
    }

    /// Runs the instance that the arguments ask for and waits for it; as `Kernel.launch`.
    ///
    /// >>> import numpy as np, workbench as wb
    /// >>> m = wb.compile("template <typename T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }")
    /// >>> x = np.zeros(3); m.fill.launch(1, 3, (x, 7.5), timeout=5.0)
    /// >>> x
    /// array([7.5, 7.5, 7.5])
    #[pyo3(signature = (grid, block, args, shared_mem=0, stream=None, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "the published signature")]
    fn launch(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyAny>,
        shared_mem: i64,
        stream: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let shape = Shape::of_parts(py, &self.name, self.program.options().device, (grid, block), shared_mem, stream)?;
        seconds(py, timeout)?;
        let args = py.get_type::<PyTuple>().call1((args,))?.cast_into::<PyTuple>()?;
        self.instance(py, &args)?.run(py, &shape, &args, timeout.or(self.timeout))
    }

    fn _mark_stale(&self, why: String) {
        self.stale.mark(why);
    }

    #[pyo3(signature = (*_args, **_named))]
    fn __call__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let name = &self.name;
        Err(argument(
            py,
            format!(
                "`{name}` is a template of kernels: choose a grid and a block first, as in {name}[grid, block](...)"
            ),
        ))
    }

    fn __repr__(&self) -> String {
        format!("<template of kernels {}>", self.name)
    }

    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = Bound::new(py, slf.get().module())?;
        let getter = py.import("operator")?.getattr("getitem")?;
        Ok((getter, (module, slf.get().name.as_str())).into_pyobject(py)?.into_any())
    }
}

#[pymethods]
impl TemplateLauncher {
    /// Runs the instance that these arguments ask for and waits for it.
    #[pyo3(signature = (*args, **named))]
    fn __call__(&self, py: Python<'_>, args: &Bound<'_, PyTuple>, named: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let template = self.template.get();
        refuse_named(py, &template.name, named)?;
        template.instance(py, args)?.run(py, &self.shape, args, template.timeout)
    }

    /// The template.
    #[getter]
    fn template(&self, py: Python<'_>) -> Py<KernelTemplate> {
        self.template.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!("<launch of the template {} {}>", self.template.get().name, self.shape)
    }
}

/// The hint that an object gives about the type of its parameter.
enum ParamHint {
    Nothing,
    Array(Elem),
    Number(Elem),
}

impl ParamHint {
    /// The hint of an object; `at` is the argument's position, since its parameter has no name until the instance is known.
    fn of(object: &Bound<'_, PyAny>, at: usize, device: Device) -> PyResult<Self> {
        let py = object.py();
        if object.is_none() || object.is_instance_of::<PyDict>() {
            return Ok(ParamHint::Nothing);
        }
        // The types are those of C++ literals.
        for (is, scalar) in [
            (object.is_instance_of::<PyBool>(), Scalar::Bool),
            (object.is_instance_of::<PyInt>(), Scalar::I32),
            (object.is_instance_of::<PyFloat>(), Scalar::F64),
        ] {
            if is {
                return Ok(ParamHint::Number(scalar.into()));
            }
        }
        if let Some(view) = View::of(object) {
            return match view.dtype() {
                Some(dtype) => Ok(ParamHint::Array(dtype.into())),
                None => Err(argument(py, format!("an array of {} is nothing that C can point at", view.dtype_name()))),
            };
        }
        if device == Device::Cuda
            && let Some(array) = GpuArray::of(object, &format!("arg{at}"))?
        {
            return match array.dtype() {
                Some(dtype) => Ok(ParamHint::Array(dtype.into())),
                None => Err(argument(py, format!("an array of {} is nothing that C can point at", array.dtype_name))),
            };
        }
        // Numbers of NumPy's have a dtype and no dimension; so do 0-d tensors, which are arrays with memory.
        if args::float(object).is_some()
            && let Ok(name) =
                object.getattr("dtype").and_then(|d| d.getattr("name")).and_then(|n| n.extract::<String>())
        {
            return Ok(DType::from_name(&name).map_or(ParamHint::Nothing, |dtype| ParamHint::Number(dtype.into())));
        }
        let array = args::interop(py)?.call_method1("as_array", (object, false, format!("arg{at}"), "T*"))?;
        match View::of(&array).and_then(|view| view.dtype()) {
            Some(dtype) => Ok(ParamHint::Array(dtype.into())),
            None => Ok(ParamHint::Nothing),
        }
    }

    fn arg(&self, numbers: bool) -> KernelArg {
        match self {
            ParamHint::Array(elem) => KernelArg::Array(*elem),
            ParamHint::Number(elem) if numbers => KernelArg::Number(*elem),
            ParamHint::Number(_) | ParamHint::Nothing => KernelArg::Any,
        }
    }
}
