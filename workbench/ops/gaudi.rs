//! Operator descriptors of Intel Gaudi's dialect: the inputs and outputs of a kernel, and the function that fills its parameters.
//!
//! A kernel is a `__global__` kernel of the text, or a host function without a result that takes a tensor first. Its parameters are bound
//! by their types, in order: a pointer, a `tpc::tensor<T>` or a tensor is the next tensor, inputs before outputs; a number is the next
//! scalar input, and one more number is the element count of the first output; a struct is the user's parameters. A kernel runs with a
//! thread for each element of the first output. The text must mention `habana`.

use std::sync::Arc;

use crate::runtime::host::{HostTensor, LibraryLine, Limits, Value, torch_number};
use crate::runtime::{DType, Error, Program, Report, Result};

/// The role of an input in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A tensor, or a list of tensors.
    Tensor = 0,
    /// A number, or a list of integers.
    Scalar = 1,
    /// An input that only the callbacks read.
    UserParams = 2,
}

/// A function that computes the extents of an output from the inputs.
pub type ShapeFn = dyn Fn(&[Value]) -> Result<Vec<i64>> + Send + Sync;

/// A function that makes the bytes of the kernel's struct from the inputs.
pub type ParamsFn = dyn Fn(&[Value]) -> Result<Vec<u8>> + Send + Sync;

/// An output.
#[derive(Clone)]
pub struct OutputDesc {
    /// Its element type.
    pub dtype: DType,
    /// Its extents; `None`: those of input 0.
    pub shape: Option<Arc<ShapeFn>>,
}

/// An operator: a kernel of a text, with the roles of its inputs and its outputs.
///
/// ```
/// use workbench::ops::gaudi::{CustomOp, Role};
/// use workbench::runtime::host::{DeviceTag, HostTensor, Limits, Value};
/// use workbench::runtime::{CompileOptions, DType, Program};
///
/// let text = "namespace habana {}
///     __global__ void scale_f32(const float* x, float by, float* out, int n) {
///         int i = blockIdx.x * blockDim.x + threadIdx.x;
///         if (i < n) out[i] = by * x[i];
///     }";
/// let program = Program::compile(text, &CompileOptions::default())?;
/// let scale = CustomOp::new(&program, "doc::scale", "scale_f32").input(Role::Tensor).input(Role::Scalar).output(DType::Float32);
/// let x = HostTensor::new(DType::Float32, &[2, 3], DeviceTag::CPU, true).map_err(|(_, message)| message)?;
/// let (outputs, _) = scale.execute(vec![Value::Tensor(x), Value::Float(2.0)], Limits::default())?;
/// assert_eq!(outputs[0].shape(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CustomOp {
    program: Program,
    name: String,
    kernel: String,
    inputs: Vec<Role>,
    outputs: Vec<OutputDesc>,
    user_params: Option<Arc<ParamsFn>>,
}

impl CustomOp {
    /// An operator `ns::name` without inputs and outputs yet.
    #[must_use]
    pub fn new(program: &Program, name: &str, kernel: &str) -> Self {
        let (name, kernel) = (name.to_owned(), kernel.to_owned());
        CustomOp { program: program.clone(), name, kernel, inputs: Vec::new(), outputs: Vec::new(), user_params: None }
    }

    /// Adds an input.
    #[must_use]
    pub fn input(mut self, role: Role) -> Self {
        self.inputs.push(role);
        self
    }

    /// Adds an output, with the extents of input 0.
    #[must_use]
    pub fn output(mut self, dtype: DType) -> Self {
        self.outputs.push(OutputDesc { dtype, shape: None });
        self
    }

    /// Adds an output, with extents of its own.
    #[must_use]
    pub fn output_of(
        mut self,
        dtype: DType,
        shape: impl Fn(&[Value]) -> Result<Vec<i64>> + Send + Sync + 'static,
    ) -> Self {
        self.outputs.push(OutputDesc { dtype, shape: Some(Arc::new(shape)) });
        self
    }

    /// The function that fills the kernel's struct.
    #[must_use]
    pub fn user_params(mut self, fill: impl Fn(&[Value]) -> Result<Vec<u8>> + Send + Sync + 'static) -> Self {
        self.user_params = Some(Arc::new(fill));
        self
    }

    /// Calls it: the outputs, and the report with the kernel's output.
    ///
    /// # Errors
    /// [`Error::Argument`] for a wrong number of inputs, [`Error::Fault`] when the kernel does not fit the descriptor or faults, and errors
    /// of the callbacks.
    pub fn execute(&self, inputs: Vec<Value>, limits: Limits<'_>) -> Result<(Vec<HostTensor>, Report)> {
        if inputs.len() != self.inputs.len() {
            let (wanted, came) = (self.inputs.len(), inputs.len());
            return Err(Error::argument(format!("{} has {wanted} inputs, {came} given", self.name)));
        }
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let shape = match (&output.shape, inputs.first()) {
                (Some(shape), _) => shape(&inputs)?,
                (None, Some(Value::Tensor(first))) => first.shape().to_vec(),
                (None, _) => {
                    let message =
                        format!("{}: an output has no shape, and input 0 is no tensor to take it from", self.name);
                    return Err(Error::argument(message));
                }
            };
            outputs.push((output.dtype, shape));
        }
        let params = self.user_params.as_ref().map(|fill| fill(&inputs)).transpose()?;
        let inputs = inputs.into_iter().zip(self.inputs.iter().copied()).collect();
        let (value, report) = execute(&self.program, &self.kernel, inputs, &outputs, params.as_deref(), limits)?;
        let Value::List(all) = value else { return Ok((Vec::new(), report)) };
        let tensors = all.into_iter().filter_map(|v| if let Value::Tensor(t) = v { Some(t) } else { None });
        Ok((tensors.collect(), report))
    }
}

/// Runs a kernel of a text on inputs, for outputs of those types and extents: a list of tensors.
///
/// # Errors
/// [`Error::Argument`] for a text that is not of this dialect, [`Error::Fault`] when the kernel does not fit or faults.
pub fn execute(
    program: &Program,
    kernel: &str,
    inputs: Vec<(Value, Role)>,
    outputs: &[(DType, Vec<i64>)],
    params: Option<&[u8]>,
    limits: Limits<'_>,
) -> Result<(Value, Report)> {
    let ints = |all: &[i64]| Value::List(all.iter().copied().map(Value::Int).collect());
    let roles: Vec<i64> = inputs.iter().map(|(_, role)| *role as i64).collect();
    let dtypes: Vec<i64> = outputs.iter().map(|(dtype, _)| torch_number(*dtype)).collect();
    let bytes = |all: &[u8]| Value::List(all.iter().map(|b| Value::Int(i64::from(*b))).collect());
    let args = vec![
        Value::Text(kernel.to_owned()),
        Value::List(inputs.into_iter().map(|(value, _)| value).collect()),
        ints(&roles),
        Value::List(outputs.iter().map(|(_, shape)| ints(shape)).collect()),
        ints(&dtypes),
        params.map_or(Value::None, bytes),
    ];
    call(program, "tpc_execute", args, limits)
}

/// An operator of TensorFlow's that a text registers.
#[derive(Debug, Clone)]
pub struct TensorFlowOp {
    /// Its name, `CustomDivOp`.
    pub name: String,
    /// The lines of its registration: `in x: T`, `out y: T`, `attr T: {float}`.
    pub lines: Vec<String>,
}

/// The operators that a text registers with `REGISTER_OP`, in order.
///
/// # Errors
/// [`Error::Fault`] when a registration faults.
pub fn tensorflow_ops(program: &Program) -> Result<Vec<TensorFlowOp>> {
    let ops = program.library()?.iter().filter_map(|line| match &line.what {
        LibraryLine::TensorFlow(name, lines) => {
            Some(TensorFlowOp { name: name.clone(), lines: lines.lines().map(str::to_owned).collect() })
        }
        _ => None,
    });
    Ok(ops.collect())
}

/// Calls an operator of TensorFlow's with its inputs and attributes; types are TensorFlow's numbers. The result is a list of tensors.
///
/// # Errors
/// As [`execute`], and errors that the operator's functor finds.
pub fn tensorflow_execute(
    program: &Program,
    op: &str,
    inputs: Vec<Value>,
    attributes: Vec<(String, Value)>,
    limits: Limits<'_>,
) -> Result<(Value, Report)> {
    let (names, values): (Vec<_>, Vec<_>) = attributes.into_iter().map(|(n, v)| (Value::Text(n), v)).unzip();
    let args = vec![Value::Text(op.to_owned()), Value::List(inputs), Value::List(names), Value::List(values)];
    call(program, "tf_execute", args, limits)
}

fn call(program: &Program, entry: &str, args: Vec<Value>, limits: Limits<'_>) -> Result<(Value, Report)> {
    let Some(export) = program.entry(entry)? else {
        let message = "the text is not of Gaudi's dialect: it must include <hpu_custom_op.h> and mention `habana`";
        return Err(Error::argument(message));
    };
    program.call_export(export, args, limits)
}
