//! Operators for candle: [`CandleOp`] runs an operator on candle's tensors, as part of candle's backward pass. Feature `candle`.
//!
//! candle's custom operators take one to three tensors and give one; they read their arguments in place, and copy those that are not
//! contiguous. An operator's other arguments are set beforehand. Only the CPU is supported: tensors elsewhere are an error of candle's own.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use candle_core::backend::BackendStorage;
use candle_core::op::BackpropOp;
use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType as CandleType, Layout, Shape, Storage, Tensor, WithDType,
};

use crate::ops::schema::Kind;
use crate::ops::{ArgValue, ArrayRef, Context, GradientBy, Op, OwnedArg, RunConfig, Saved};
use crate::runtime::{self, DType, Element, Error};

/// An operator for candle.
///
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use workbench::candle::CandleOp;
/// use workbench::ops::Op;
///
/// let src = "
///     __global__ void scale(const float* x, float by, float* y, int n) {
///         int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * by;
///     }";
/// let scale = Op::new("doc::scale(Tensor x, float by) -> Tensor").source(src).shape("x[*] -> y[*]").build()?;
/// let backward = Op::new("doc::scale_backward(Tensor x, float by) -> Tensor").source(src).shape("x[*] -> y[*]").build()?;
/// scale.register_backward(&backward, &["by"], &["x"])?;
///
/// let x = Var::new(&[1.0f32, 2.0, 3.0], &Device::Cpu)?;
/// let y = CandleOp::new(&scale).with("by", 2.5).apply(&[x.as_tensor()])?;
/// assert_eq!(y.to_vec1::<f32>()?, [2.5, 5.0, 7.5]);
/// let grads = y.sum_all()?.backward()?;
/// assert_eq!(grads.get(&x).unwrap().to_vec1::<f32>()?, [2.5; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CandleOp {
    op: Op,
    name: &'static str,
    /// Arguments that are not tensors, by name.
    numbers: Vec<(String, OwnedArg)>,
    output: usize,
    only: bool,
}

type CandleResult<T> = candle_core::Result<T>;

impl CandleOp {
    /// The operator; every tensor argument is given by [`CandleOp::apply`], the others by [`CandleOp::with`] or their defaults.
    pub fn new(op: &Op) -> Self {
        CandleOp { op: op.clone(), name: forever(op.name()), numbers: Vec::new(), output: 0, only: true }
    }

    /// Sets an argument that is not a tensor.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OwnedArg>) -> Self {
        self.numbers.retain(|(known, _)| known != name);
        self.numbers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the output to give, for an operator that has several.
    #[must_use]
    pub fn output(mut self, k: usize) -> Self {
        (self.output, self.only) = (k, false);
        self
    }

    /// Runs it on one to three tensors: the tensor arguments in their order; optional ones after them may be left out.
    ///
    /// # Errors
    /// candle's error, with the operator's text: for arguments that do not fit, for an operator that writes its arguments, and for faults
    /// of the kernel.
    pub fn apply(&self, tensors: &[&Tensor]) -> CandleResult<Tensor> {
        self.check(tensors.len()).map_err(candle_core::Error::wrap)?;
        match tensors {
            [a] => a.apply_op1(self.clone()),
            [a, b] => a.apply_op2(b, self.clone()),
            [a, b, c] => a.apply_op3(b, c, self.clone()),
            many => Err(candle_core::Error::msg(format!(
                "`{}`: {} tensors; candle's operators take one to three",
                self.name,
                many.len()
            ))),
        }
    }

    fn check(&self, tensors: usize) -> runtime::Result<()> {
        let definition = self.op.definition();
        let schema = &definition.schema;
        let wrong = |why: String| Err(Error::argument(format!("`{}`: {why}", self.name)));
        if let Some(arg) = schema.args.iter().find(|a| a.mutated) {
            return wrong(format!("argument `{}` is written, and candle's tensors are not", arg.name));
        }
        for (name, _) in &self.numbers {
            match schema.args.iter().find(|a| a.name == *name) {
                None => return Err(Error::argument(crate::ops::unknown_argument(schema, name))),
                Some(arg) if arg.is_tensor() => {
                    return wrong(format!("argument `{name}` is a tensor; it is one of those that `apply` gets"));
                }
                Some(_) => {}
            }
        }
        let all = schema.args.iter().filter(|a| a.is_tensor()).count();
        let least = schema.args.iter().filter(|a| a.kind == Kind::Tensor).count();
        if !(least..=all).contains(&tensors) {
            let wanted = if least == all { least.to_string() } else { format!("{least} to {all}") };
            return wrong(format!("{tensors} tensors came; it takes {wanted}"));
        }
        let outputs = definition.output_count();
        if self.only && outputs != 1 {
            return wrong(format!("it has {outputs} outputs; say which with .output(k)"));
        }
        if self.output >= outputs {
            return wrong(format!("it has no output {}: it has {outputs}", self.output));
        }
        Ok(())
    }

    /// The arguments in the schema's order, with the tensors as `make` gives them.
    fn arguments<T>(&self, tensors: Vec<T>, make: impl Fn(Given<T>) -> T) -> runtime::Result<Vec<T>> {
        let definition = self.op.definition();
        let mut tensors = tensors.into_iter();
        definition
            .schema
            .args
            .iter()
            .map(|arg| {
                if arg.is_tensor() {
                    return Ok(make(tensors.next().map_or(Given::Number(OwnedArg::None), Given::Tensor)));
                }
                if let Some((_, value)) = self.numbers.iter().find(|(name, _)| *name == arg.name) {
                    return Ok(make(Given::Number(value.clone())));
                }
                let value = arg.default.as_ref().and_then(OwnedArg::of_default).ok_or_else(|| {
                    Error::argument(format!(
                        "`{}`: argument `{name}` is missing; set it with .with(\"{name}\", value)",
                        self.name,
                        name = arg.name
                    ))
                })?;
                Ok(make(Given::Number(value)))
            })
            .collect()
    }

    fn forward(&self, inputs: &[(&CpuStorage, &Layout)]) -> CandleResult<(CpuStorage, Shape)> {
        self.check(inputs.len()).map_err(candle_core::Error::wrap)?;
        let contiguous: Vec<Input> =
            inputs.iter().map(|(storage, layout)| Input::new(storage, layout)).collect::<CandleResult<_>>()?;
        let tensors = self.run(&contiguous).map_err(candle_core::Error::wrap)?;
        let made = &tensors[self.output];
        Ok((storage(made)?, Shape::from(made.shape())))
    }

    /// Every output.
    fn run(&self, inputs: &[Input]) -> runtime::Result<Vec<runtime::Tensor>> {
        // Rust closures take tensors that they own.
        if self.op.kernels().is_empty() {
            let tensors =
                inputs.iter().map(|i| Ok(OwnedArg::Tensor(i.tensor()?))).collect::<runtime::Result<Vec<_>>>()?;
            let args = self.arguments(tensors, Given::either)?;
            return Ok(self.op.call(args)?.tensors);
        }
        let arrays = inputs.iter().map(|i| ArgValue::Array(i.array.clone())).collect();
        let values = self.arguments(arrays, |given| match given {
            Given::Tensor(array) => array,
            Given::Number(OwnedArg::Int(v)) => ArgValue::Int(v),
            Given::Number(OwnedArg::Float(v)) => ArgValue::Float(v),
            Given::Number(OwnedArg::Bool(v)) => ArgValue::Bool(v),
            // No kernel takes a string, so none is bound to one.
            Given::Number(_) => ArgValue::None,
        })?;
        let plan = self.op.plan(&values)?;
        let shape = |s: &[i64]| s.iter().map(|&d| d as usize).collect::<Vec<_>>();
        let mut tensors: Vec<runtime::Tensor> = plan
            .outputs
            .iter()
            .map(|o| runtime::Tensor::try_poisoned(o.dtype, &shape(&o.shape)))
            .collect::<runtime::Result<_>>()?;
        let pointers: Vec<*mut u8> = tensors.iter_mut().map(runtime::Tensor::as_mut_ptr).collect();
        self.op.run(&plan, &values, &pointers, &RunConfig::default())?;
        Ok(tensors)
    }

    fn gradients<const N: usize>(
        &self,
        args: [&Tensor; N],
        result: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<[Option<Tensor>; N]> {
        let made = self.backward(&args, result, grad)?;
        made.try_into()
            .map_err(|_| candle_core::Error::msg(format!("`{}`: gradients and tensors differ in number", self.name)))
    }

    /// The gradients of the tensors.
    fn backward(&self, args: &[&Tensor], result: &Tensor, grad: &Tensor) -> CandleResult<Vec<Option<Tensor>>> {
        let Some(gradient) = self.op.gradient() else {
            return Err(candle_core::Error::BackwardNotSupported { op: self.name });
        };
        if let Some(by) = &gradient.by
            && let Some(made) = self.backward_by(by, args, result, grad)?
        {
            return Ok(made);
        }
        let definition = self.op.definition();
        let owned = args.iter().map(|t| Ok(OwnedArg::Tensor(tensor(t)?))).collect::<CandleResult<Vec<_>>>()?;
        let all = self.arguments(owned, Given::either).map_err(candle_core::Error::wrap)?;
        // candle does not keep the other outputs, so they are computed again if there are any.
        let outputs = match definition.output_count() {
            1 => vec![tensor(result)?],
            _ => self.op.call(all.clone()).map_err(candle_core::Error::wrap)?.tensors,
        };
        let grads = outputs
            .iter()
            .enumerate()
            .map(|(k, output)| {
                if k == self.output { tensor(grad) } else { Ok(runtime::Tensor::zeros(output.dtype(), output.shape())) }
            })
            .collect::<CandleResult<Vec<_>>>()?;
        let mut context = Context::new(all.iter().map(|a| a.tensor().is_some_and(|t| t.dtype().is_float())).collect());
        match &gradient.setup {
            Some(setup) => setup(&mut context, &all, &outputs),
            None => context.save_for_backward(all.iter().cloned()),
        }
        let made = (gradient.backward)(&context, &grads).map_err(candle_core::Error::wrap)?;
        if made.len() != all.len() {
            return Err(candle_core::Error::msg(format!(
                "`{}`: its backward returned {} gradients for {} arguments (None where one is no array)",
                self.name,
                made.len(),
                all.len()
            )));
        }
        let tensors = definition.schema.args.iter().zip(made).filter(|(arg, _)| arg.is_tensor()).map(|(_, grad)| grad);
        let mut found = Vec::new();
        for (grad, arg) in tensors.zip(args) {
            let Some(grad) = grad else {
                found.push(None);
                continue;
            };
            if grad.shape() != arg.dims() {
                return Err(candle_core::Error::msg(format!(
                    "`{}`: a gradient has shape {:?}, and its argument {:?}",
                    self.name,
                    grad.shape(),
                    arg.dims()
                )));
            }
            let storage = Storage::Cpu(storage(&grad)?);
            found.push(Some(Tensor::from_storage(storage, grad.shape(), BackpropOp::none(), false)));
        }
        Ok(found)
    }

    /// The gradient by an operator with one result, which candle can differentiate again if it has a gradient; `None` if it does not fit
    /// candle.
    fn backward_by(
        &self,
        by: &GradientBy,
        args: &[&Tensor],
        result: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<Option<Vec<Option<Tensor>>>> {
        let (definition, backward) = (self.op.definition(), by.operator.definition());
        let [wanted] = by.differentiable.as_slice() else { return Ok(None) };
        if definition.output_count() != 1 || backward.schema.args.iter().any(|a| a.mutated) {
            return Ok(None);
        }
        // The number of an argument among the tensors.
        let place = |a: usize| definition.schema.args[..a].iter().filter(|arg| arg.is_tensor()).count();
        let mut op = CandleOp::new(&by.operator);
        let mut tensors = vec![grad.clone()];
        for (saved, arg) in by.saves.iter().zip(&backward.schema.args[1..]) {
            match saved {
                Saved::Output(_) => tensors.push(result.clone()),
                Saved::Argument(a) if definition.schema.args[*a].is_tensor() => match args.get(place(*a)) {
                    Some(tensor) => tensors.push((*tensor).clone()),
                    None => return Ok(None),
                },
                Saved::Argument(a) => {
                    let numbers = self.arguments(vec![OwnedArg::None; args.len()], Given::either);
                    let value = numbers.map_err(candle_core::Error::wrap)?.swap_remove(*a);
                    op = op.with(&arg.name, value);
                }
            }
        }
        if tensors.len() > 3 {
            return Ok(None);
        }
        let made = op.apply(&tensors.iter().collect::<Vec<_>>())?;
        let at = place(*wanted);
        Ok(Some((0..args.len()).map(|i| (i == at).then(|| made.clone())).collect()))
    }
}

/// An argument as it is given: a tensor, or a number.
enum Given<T> {
    Tensor(T),
    Number(OwnedArg),
}

impl Given<OwnedArg> {
    fn either(self) -> OwnedArg {
        match self {
            Given::Tensor(value) | Given::Number(value) => value,
        }
    }
}

/// candle wants names that live for ever: each is kept once.
fn forever(name: &str) -> &'static str {
    static NAMES: LazyLock<Mutex<HashMap<String, &'static str>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name.to_owned(), kept);
    kept
}

/// The memory of an argument, row by row.
struct Input {
    array: ArrayRef,
    /// The owner of the memory, if it is not the argument's own.
    _copy: Option<CpuStorage>,
}

impl Input {
    fn new(storage: &CpuStorage, layout: &Layout) -> CandleResult<Self> {
        let dtype = dtype(storage.dtype())?;
        let (ptr, copy) = match layout.contiguous_offsets() {
            Some((start, _)) => (address(storage)?.wrapping_add(start * dtype.size()), None),
            None => {
                let copy = gathered(storage, layout)?;
                (address(&copy)?, Some(copy))
            }
        };
        let shape = layout.dims().iter().map(|&d| d as i64).collect();
        Ok(Input { array: ArrayRef { ptr: ptr.cast_mut(), dtype, shape, writable: false }, _copy: copy })
    }

    fn tensor(&self) -> runtime::Result<runtime::Tensor> {
        let shape: Vec<usize> = self.array.shape.iter().map(|&d| d as usize).collect();
        let mut made = runtime::Tensor::try_poisoned(self.array.dtype, &shape)?;
        // SAFETY: `array` and `made` have the same shape and type, so the same number of bytes, and `made` is new.
        unsafe { std::ptr::copy_nonoverlapping(self.array.ptr.cast_const(), made.as_mut_ptr(), made.bytes()) };
        Ok(made)
    }
}

/// Runs code on the elements of a storage, for any element type.
macro_rules! with_elements {
    ($storage:expr, $data:ident => $body:expr) => {
        match $storage {
            CpuStorage::U8($data) => Ok($body),
            CpuStorage::U32($data) => Ok($body),
            CpuStorage::I16($data) => Ok($body),
            CpuStorage::I32($data) => Ok($body),
            CpuStorage::I64($data) => Ok($body),
            CpuStorage::BF16($data) => Ok($body),
            CpuStorage::F16($data) => Ok($body),
            CpuStorage::F32($data) => Ok($body),
            CpuStorage::F64($data) => Ok($body),
            other => Err(unsupported(other.dtype())),
        }
    };
}

fn unsupported(dtype: CandleType) -> candle_core::Error {
    candle_core::Error::msg(format!("no kernel parameter has candle's type {dtype:?}"))
}

/// The first byte of a storage.
fn address(storage: &CpuStorage) -> CandleResult<*const u8> {
    with_elements!(storage, data => data.as_ptr().cast())
}

/// The elements of a layout, row by row.
fn gathered(storage: &CpuStorage, layout: &Layout) -> CandleResult<CpuStorage> {
    fn zeros<T: WithDType>(_like: &[T], count: usize) -> CpuStorage {
        T::to_cpu_storage_owned(vec![T::from_f64(0.0); count])
    }
    let mut made = with_elements!(storage, data => zeros(data, layout.shape().elem_count()))?;
    storage.copy_strided_src(&mut made, 0, layout)?;
    Ok(made)
}

fn dtype(dtype: CandleType) -> CandleResult<DType> {
    Ok(match dtype {
        CandleType::U8 => DType::UInt8,
        CandleType::U32 => DType::UInt32,
        CandleType::I16 => DType::Int16,
        CandleType::I32 => DType::Int32,
        CandleType::I64 => DType::Int64,
        CandleType::BF16 => DType::BFloat16,
        CandleType::F16 => DType::Float16,
        CandleType::F32 => DType::Float32,
        CandleType::F64 => DType::Float64,
        other => return Err(unsupported(other)),
    })
}

/// candle's tensor as ours.
fn tensor(tensor: &Tensor) -> CandleResult<runtime::Tensor> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => Input::new(storage, layout)?.tensor().map_err(candle_core::Error::wrap),
        _ => Err(candle_core::Error::msg("a tensor on the CPU is wanted")),
    }
}

/// Our tensor's elements as candle's.
fn storage(tensor: &runtime::Tensor) -> CandleResult<CpuStorage> {
    fn elements<T: Element + WithDType>(tensor: &runtime::Tensor) -> CandleResult<CpuStorage> {
        let data = tensor.as_slice::<T>().ok_or_else(|| candle_core::Error::msg("an element type changed"))?;
        Ok(T::to_cpu_storage(data))
    }
    match tensor.dtype() {
        DType::UInt8 => elements::<u8>(tensor),
        DType::UInt32 => elements::<u32>(tensor),
        DType::Int16 => elements::<i16>(tensor),
        DType::Int32 => elements::<i32>(tensor),
        DType::Int64 => elements::<i64>(tensor),
        DType::BFloat16 => elements::<half::bf16>(tensor),
        DType::Float16 => elements::<half::f16>(tensor),
        DType::Float32 => elements::<f32>(tensor),
        DType::Float64 => elements::<f64>(tensor),
        other => Err(candle_core::Error::msg(format!("candle has no element type {other}"))),
    }
}

impl CustomOp1 for CandleOp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cpu_fwd(&self, s: &CpuStorage, l: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        self.forward(&[(s, l)])
    }

    fn bwd(&self, arg: &Tensor, result: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let [a] = self.gradients([arg], result, grad)?;
        Ok(a)
    }
}

impl CustomOp2 for CandleOp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        self.forward(&[(s1, l1), (s2, l2)])
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        result: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<(Option<Tensor>, Option<Tensor>)> {
        let [a, b] = self.gradients([a, b], result, grad)?;
        Ok((a, b))
    }
}

impl CustomOp3 for CandleOp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        self.forward(&[(s1, l1), (s2, l2), (s3, l3)])
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        c: &Tensor,
        result: &Tensor,
        grad: &Tensor,
    ) -> CandleResult<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let [a, b, c] = self.gradients([a, b, c], result, grad)?;
        Ok((a, b, c))
    }
}
