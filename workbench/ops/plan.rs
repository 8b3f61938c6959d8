//! Plans of calls: arguments in, output shapes and a launch out, then the launch itself. The fast path from Python, torch and Rust.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use super::binding::{Bound, Source, half_of};
use super::dispatch;
use super::recorded_writers;
use super::registry::{Definition, Extent, Implementation, Op, ShapeFn, Spec};
use super::schema::{Kind, Schema};
use super::shape::{Dims, Expr, Shape, Signature, check_size, tuple};
use crate::back::{Dim3, notebook};
use crate::ir::{Const, Elem, ParamType, Scalar};
use crate::plural::{is_or_are, plural};
use crate::runtime::program::param_type;
use crate::runtime::{Arg, BufferArg, DType, Device, Error, Interrupt, LaunchConfig, Queue, Report, Result};

/// An array of the caller's, contiguous in row-major order: in host memory, or in the GPU's memory for a call on a GPU.
#[derive(Debug, Clone)]
pub struct ArrayRef {
    /// First byte.
    pub ptr: *mut u8,
    /// Element type.
    pub dtype: DType,
    /// Extents.
    pub shape: Shape,
    /// True if it may be written.
    pub writable: bool,
}

impl ArrayRef {
    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub enum ArgValue<'a> {
    /// An array.
    Array(ArrayRef),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Text.
    Str(&'a str),
    /// Nothing: an empty optional.
    None,
}

impl ArgValue<'_> {
    fn describe(&self) -> String {
        match self {
            ArgValue::Array(a) => format!("an array of {} with shape {}", a.dtype, tuple(&a.shape)),
            ArgValue::Int(v) => format!("the integer {v}"),
            ArgValue::Float(v) => format!("the float {v:?}"),
            ArgValue::Bool(v) => format!("the bool {v}"),
            ArgValue::Str(_) => "a str".to_owned(),
            ArgValue::None => "None".to_owned(),
        }
    }
}

/// A planned call: its outputs and its launch.
pub struct Plan {
    /// The fresh outputs to allocate, in order.
    pub outputs: SmallVec<[Spec; 2]>,
    pub(crate) run: Run,
}

impl Plan {
    /// The device on which it runs: host code and closures run on the CPU.
    pub fn device(&self) -> Device {
        match &self.run {
            Run::Kernel(run) => run.bound.kernel.device(),
            Run::Host(_) | Run::Outside => Device::Cpu,
        }
    }
}

pub(crate) enum Run {
    /// A kernel over a grid; `None` when there is nothing to do.
    Kernel(KernelRun),
    /// A Rust closure.
    Host(Arc<Implementation>),
    /// A function of the caller's, which is run outside.
    Outside,
}

/// A kernel's part of a plan.
pub(crate) struct KernelRun {
    pub bound: Arc<Bound>,
    /// Grid and block; `None` when there is nothing to do.
    pub launch: Option<(Dim3, Dim3)>,
    /// Bytes of dynamic shared memory.
    pub shared_mem: u32,
    /// The dims' values.
    pub dims: SmallVec<[i64; 8]>,
    /// Elements of output 0, or of the first written argument.
    pub count: i64,
}

/// The settings for a run of a planned call.
#[derive(Clone, Copy)]
pub struct RunConfig<'a> {
    /// Fault after this long.
    pub timeout: Option<Duration>,
    /// Polled while running.
    pub interrupt: Option<&'a dyn Interrupt>,
    /// The queue of the GPU on which the arrays lie, for a plan that was made for such arrays.
    pub queue: Option<Queue<'a>>,
}

impl Default for RunConfig<'_> {
    fn default() -> Self {
        RunConfig { timeout: None, interrupt: notebook::interrupt(), queue: None }
    }
}

impl Plan {
    /// True if it is run by whoever registered it, [`Op::register_outside`].
    pub fn is_outside(&self) -> bool {
        matches!(self.run, Run::Outside)
    }
}

impl Op {
    /// Plans a call: picks the implementation, matches shapes, computes outputs and launch.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the operator and the argument, with what was given and what was expected.
    pub fn plan(&self, args: &[ArgValue<'_>]) -> Result<Arc<Plan>> {
        self.plan_on(Device::Cpu, args)
    }

    /// Plans a call as [`Op::plan`] does, for arrays that lie on a device. A kernel's text is compiled for a GPU at its first call there.
    ///
    /// # Errors
    /// As [`Op::plan`]; [`Error::Compile`] and [`Error::DeviceUnavailable`] where the kernel does not compile for a GPU.
    pub fn plan_on(&self, device: Device, args: &[ArgValue<'_>]) -> Result<Arc<Plan>> {
        self.definition().plan_on(self.name(), device, args)
    }

    /// The element types of the fresh outputs, for the element types of the arguments that are arrays.
    ///
    /// # Errors
    /// [`Error::Argument`] when no implementation takes arrays of these types.
    pub fn output_dtypes(&self, dtypes: &[Option<DType>]) -> Result<SmallVec<[DType; 2]>> {
        let definition = self.definition();
        Ok(match self.picked(&definition, dtypes)? {
            dispatch::Picked::Kernel(bound) => bound.outputs.iter().copied().collect(),
            dispatch::Picked::Host(_) | dispatch::Picked::Outside(_) => {
                let first = dtypes.iter().flatten().next().copied().unwrap_or(DType::Float32);
                (0..definition.output_count()).map(|k| definition.other_dtype(k, first)).collect()
            }
        })
    }

    /// The number of the function that serves a call with arrays of these element types, if it was registered by [`Op::register_outside`].
    ///
    /// # Errors
    /// As [`Op::output_dtypes`].
    pub fn outside(&self, dtypes: &[Option<DType>]) -> Result<Option<usize>> {
        Ok(match self.picked(&self.definition(), dtypes)? {
            dispatch::Picked::Outside(number) => Some(number),
            _ => None,
        })
    }

    fn picked(&self, definition: &Definition, dtypes: &[Option<DType>]) -> Result<dispatch::Picked> {
        let args: SmallVec<[ArgValue<'_>; 8]> = definition
            .schema
            .args
            .iter()
            .zip(dtypes)
            .map(|(arg, dtype)| match dtype {
                Some(dtype) => ArgValue::Array(ArrayRef {
                    ptr: std::ptr::null_mut(),
                    dtype: *dtype,
                    shape: Shape::new(),
                    writable: true,
                }),
                None if arg.is_tensor() => ArgValue::None,
                None => ArgValue::Int(0),
            })
            .collect();
        dispatch::pick(self.name(), definition, &args)
    }

    /// Runs a planned call; `outputs` are the first bytes of the arrays that [`Plan::outputs`] describes.
    ///
    /// # Errors
    /// [`Error::Fault`] when the kernel faults; [`Error::Argument`] for a host implementation.
    pub fn run(
        &self,
        plan: &Plan,
        args: &[ArgValue<'_>],
        outputs: &[*mut u8],
        config: &RunConfig<'_>,
    ) -> Result<Report> {
        let Run::Kernel(run) = &plan.run else {
            return Err(Error::argument(format!(
                "`{}` is implemented by {}",
                self.name(),
                match &plan.run {
                    Run::Outside => "a callable of Python's: call it there",
                    _ => "a host function: call it with Op::call",
                }
            )));
        };
        let Some((grid, block)) = run.launch else { return Ok(Report::default()) };
        let mut halves = Halves::new();
        let raw = raw_args(self.name(), run, args, plan, outputs, &mut halves)?;
        let config = LaunchConfig {
            timeout: config.timeout,
            interrupt: config.interrupt,
            queue: config.queue,
            shared_mem: run.shared_mem.into(),
            ..LaunchConfig::new(grid, block)
        };
        let kernel = &run.bound.kernel;
        if kernel.device() == Device::Cpu {
            recorded_writers::poison(&run.bound.sources, &raw);
        }
        if recorded_writers::is_watching() && kernel.device() == Device::Cpu {
            return recorded_writers::launch_watched(kernel, &run.bound.sources, &config, &raw);
        }
        kernel.launch_raw(&config, &raw)
    }
}

impl Definition {
    /// Plans as [`Op::plan_on`] does, for an operator called `name`; gives the last plan where the call is like the last one.
    ///
    /// # Errors
    /// The errors of [`Op::plan_on`].
    pub fn plan_on(&self, name: &str, device: Device, args: &[ArgValue<'_>]) -> Result<Arc<Plan>> {
        // Plans are not kept on a GPU, where variables are read again, nor with a callable, which is asked again, nor for a twin.
        let is_kept = device == Device::Cpu && self.shape_fn.is_none() && !dispatch::twins_serve();
        if !is_kept {
            return plan(name, self, device, args).map(Arc::new);
        }
        if let Some(known) = self.last.of(args) {
            return Ok(known);
        }
        let age = self.last.age();
        let made = Arc::new(plan(name, self, device, args)?);
        self.last.keep(age, args, &made);
        Ok(made)
    }
}

fn plan(name: &str, definition: &Definition, device: Device, args: &[ArgValue<'_>]) -> Result<Plan> {
    let schema = &definition.schema;
    if args.len() != schema.args.len() {
        return Err(Error::argument(format!(
            "`{name}` takes {} ({}), {} given",
            plural(schema.args.len(), "argument"),
            schema.args.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", "),
            args.len()
        )));
    }
    let fail = |why: String| Error::argument(format!("`{name}`: {why}"));
    check_kinds(schema, args).map_err(fail)?;
    let picked = match device {
        Device::Cpu => dispatch::pick(name, definition, args)?,
        Device::Cuda => dispatch::pick_on_gpu(name, definition, args)?,
    };
    let names = definition.signature.as_ref().unwrap_or(&definition.plain);
    let mut dims = Dims::new(names);
    for (value, arg) in args.iter().zip(&schema.args) {
        if let ArgValue::Int(v) = value
            && let Some(d) = names.dim(&arg.name)
        {
            dims.set(d, *v);
        }
    }
    let call = Call { name, definition, args, picked: &picked };
    let outputs = match (&definition.signature, &definition.shape_fn) {
        (Some(signature), _) => call.signed_outputs(signature, &mut dims).map_err(fail)?,
        (None, Some(shape_fn)) => call.told_outputs(shape_fn)?,
        (None, None) => call.plain_outputs(),
    };
    let run = match picked {
        dispatch::Picked::Host(implementation) => Run::Host(implementation),
        dispatch::Picked::Outside(_) => Run::Outside,
        dispatch::Picked::Kernel(bound) => {
            Run::Kernel(kernel_run(definition, args, bound, &outputs, dims).map_err(fail)?)
        }
    };
    Ok(Plan { outputs, run })
}

/// A call whose outputs are worked out.
struct Call<'a> {
    name: &'a str,
    definition: &'a Definition,
    args: &'a [ArgValue<'a>],
    picked: &'a dispatch::Picked,
}

impl Call<'_> {
    fn first_array(&self) -> Option<&ArrayRef> {
        self.args.iter().find_map(|a| if let ArgValue::Array(a) = a { Some(a) } else { None })
    }

    /// The element type of output `k`. A kernel's pointer decides.
    fn dtype(&self, k: usize) -> DType {
        match self.picked {
            dispatch::Picked::Kernel(bound) => bound.outputs[k],
            dispatch::Picked::Host(_) | dispatch::Picked::Outside(_) => {
                self.definition.other_dtype(k, self.first_array().map_or(DType::Float32, |a| a.dtype))
            }
        }
    }

    /// The outputs by the shape signature, whose dims the arrays give.
    fn signed_outputs(
        &self,
        signature: &Signature,
        dims: &mut Dims,
    ) -> std::result::Result<SmallVec<[Spec; 2]>, String> {
        for (array, &a) in signature.inputs.iter().zip(&self.definition.signed) {
            match &self.args[a] {
                ArgValue::Array(given) => dims.bind(signature, array, &given.shape)?,
                ArgValue::None => {}
                other => {
                    return Err(format!("argument `{}` is {}; an array is wanted", array.name, other.describe()));
                }
            }
        }
        let mut outputs = SmallVec::new();
        for (k, array) in signature.outputs.iter().enumerate() {
            // What the signature says of the type was held against the kernel's pointer, and widens with a float64 twin.
            outputs.push(Spec { shape: dims.output(signature, array)?, dtype: self.dtype(k) });
        }
        Ok(outputs)
    }

    /// The outputs by a shape function.
    fn told_outputs(&self, shape_fn: &ShapeFn) -> Result<SmallVec<[Spec; 2]>> {
        let fail = |why: String| Error::argument(format!("`{}`: {why}", self.name));
        let specs: Vec<Spec> = self
            .args
            .iter()
            .filter_map(|a| {
                if let ArgValue::Array(a) = a { Some(Spec { shape: a.shape.clone(), dtype: a.dtype }) } else { None }
            })
            .collect();
        let made = shape_fn(&specs)?;
        if made.len() != self.definition.output_count() {
            return Err(fail(format!(
                "its shape function returned {}, and there {} {}",
                plural(made.len(), "spec"),
                is_or_are(self.definition.output_count()),
                plural(self.definition.output_count(), "output"),
            )));
        }
        let mut outputs = SmallVec::new();
        for (k, spec) in made.into_iter().enumerate() {
            if matches!(self.picked, dispatch::Picked::Kernel(_)) && spec.dtype != self.dtype(k) {
                return Err(fail(format!(
                    "its shape function says output {k} is {}, and the kernel writes {}",
                    spec.dtype,
                    self.dtype(k)
                )));
            }
            check_size(&spec.shape).map_err(|why| fail(format!("output {k} {why}")))?;
            outputs.push(spec);
        }
        Ok(outputs)
    }

    /// Outputs as large as the first array.
    fn plain_outputs(&self) -> SmallVec<[Spec; 2]> {
        let shape = self.first_array().map(|a| a.shape.clone()).unwrap_or_default();
        (0..self.definition.output_count()).map(|k| Spec { shape: shape.clone(), dtype: self.dtype(k) }).collect()
    }
}

/// How a kernel runs: its launch, by what it writes and by the dims.
fn kernel_run(
    definition: &Definition,
    args: &[ArgValue<'_>],
    bound: Arc<Bound>,
    outputs: &[Spec],
    mut dims: Dims,
) -> std::result::Result<KernelRun, String> {
    let schema = &definition.schema;
    let numel = |shape: &[i64]| shape.iter().product::<i64>();
    let elements = match outputs.first() {
        Some(out) => numel(&out.shape),
        None => written(schema, args).next().map_or(0, |a| numel(&a.shape)),
    };
    if definition.signature.is_none() {
        for &dim in &definition.plain.star {
            dims.set(dim, elements);
        }
    }
    let values = dims.values();
    let something = outputs.iter().map(|o| &o.shape).chain(written(schema, args).map(|a| &a.shape));
    let launch = match something.into_iter().all(|s| s.contains(&0)) {
        true => None,
        false => Some(launch(definition, elements, &values)?),
    };
    let shared_mem = match (&launch, &definition.shared_mem) {
        (Some(_), Some(bytes)) => shared_bytes(bytes, &values)?,
        _ => 0,
    };
    Ok(KernelRun { bound, launch, shared_mem, dims: values, count: elements })
}

/// The arrays that the schema marks as written.
fn written<'a>(schema: &'a Schema, args: &'a [ArgValue<'_>]) -> impl Iterator<Item = &'a ArrayRef> {
    schema.args.iter().zip(args).filter_map(|(s, a)| match a {
        ArgValue::Array(array) if s.mutated => Some(array),
        _ => None,
    })
}

/// Checks arguments that the kernel's own types cannot check: `None` where the schema has no `?`, a float for the schema's `int`.
fn check_kinds(schema: &Schema, args: &[ArgValue<'_>]) -> std::result::Result<(), String> {
    for (arg, value) in schema.args.iter().zip(args) {
        match (&arg.kind, value) {
            (Kind::Optional(_), ArgValue::None) => {}
            (Kind::Tensor, ArgValue::None) => {
                return Err(format!("argument `{}` is None; an array is wanted", arg.name));
            }
            (Kind::Int | Kind::SymInt, ArgValue::Float(_)) => {
                return Err(format!("argument `{}` (int) got {}; an integer is wanted", arg.name, value.describe()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Grid and block of a call that has an output to write. At least one block runs, even if an input is empty and `threads=` counts its
/// elements: the output of a sum over nothing must still be written.
fn launch(definition: &Definition, elements: i64, dims: &[i64]) -> std::result::Result<(Dim3, Dim3), String> {
    let [bx, by, bz] = definition.block;
    let block = Dim3::new(bx, by, bz);
    let extents = |exprs: &[Expr]| -> std::result::Result<[i64; 3], String> {
        let mut out = [1; 3];
        for (slot, expr) in out.iter_mut().zip(exprs) {
            *slot = expr.value(dims).map_err(|why| format!("{why} in {}", definition.written.extent()))?;
            if *slot < 0 {
                return Err(format!("its launch would have the extent {slot}, by {}", definition.written.extent()));
            }
        }
        Ok(out)
    };
    let (counts, blocks) = match &definition.extent {
        Extent::PerElement => ([elements, 1, 1], false),
        Extent::Threads(exprs) => (extents(exprs)?, false),
        Extent::Blocks(exprs) => (extents(exprs)?, true),
    };
    let mut grid = [1u32; 3];
    for ((slot, count), width) in grid.iter_mut().zip(counts).zip(definition.block) {
        let width = i64::from(width.max(1));
        let needed = if blocks { count } else { (count / width + i64::from(count % width != 0)).max(1) };
        *slot = u32::try_from(needed).map_err(|_| format!("its launch would have {needed} blocks"))?;
    }
    Ok((Dim3::new(grid[0], grid[1], grid[2]), block))
}

/// Bytes of dynamic shared memory.
fn shared_bytes(expr: &Expr, dims: &[i64]) -> std::result::Result<u32, String> {
    let bytes = expr.value(dims).map_err(|why| format!("{why} in `shared_mem=`"))?;
    u32::try_from(bytes).map_err(|_| format!("its launch would have {bytes} bytes of shared memory, by `shared_mem=`"))
}

pub(crate) type RawArgs = SmallVec<[Arg; 12]>;

/// The 16-bit floats among the arguments of a launch, which it reads from memory.
pub(crate) type Halves = Vec<Box<u16>>;

pub(crate) fn raw_args(
    name: &str,
    run: &KernelRun,
    args: &[ArgValue<'_>],
    plan: &Plan,
    outputs: &[*mut u8],
    halves: &mut Halves,
) -> Result<RawArgs> {
    let bound = &run.bound;
    let mut raw = RawArgs::new();
    for (source, param) in bound.sources.iter().zip(bound.kernel.params()) {
        raw.push(match *source {
            Source::Input(a, written) => match &args[a] {
                ArgValue::Array(array) => {
                    if written && !array.writable {
                        return Err(Error::argument(format!(
                            "`{name}`: argument `{}` is written, and the array is read-only",
                            param.name
                        )));
                    }
                    let bytes = array.numel() * array.dtype.size();
                    Arg::Buffer(BufferArg { ptr: array.ptr, bytes, dtype: array.dtype, writable: written })
                }
                _ => Arg::Null,
            },
            Source::Output(k) => {
                let spec = &plan.outputs[k];
                let bytes = spec.shape.iter().product::<i64>() as usize * spec.dtype.size();
                Arg::Buffer(BufferArg { ptr: outputs[k], bytes, dtype: spec.dtype, writable: true })
            }
            Source::Scalar(a) => match half_of(param) {
                Some(elem) => half(name, &param.name, elem, &args[a], halves)?,
                None => Arg::Scalar(scalar(name, &param.name, param.ty, &args[a])?),
            },
            Source::Dim(d) => Arg::Scalar(scalar(name, &param.name, param.ty, &ArgValue::Int(run.dims[d]))?),
            Source::Count => Arg::Scalar(scalar(name, &param.name, param.ty, &ArgValue::Int(run.count))?),
        });
    }
    Ok(raw)
}

/// A number as a 16-bit float, rounded once, in memory that outlives the launch.
fn half(op: &str, param: &str, elem: Elem, value: &ArgValue<'_>, halves: &mut Halves) -> Result<Arg> {
    let number = match value {
        ArgValue::Float(v) => *v,
        ArgValue::Int(v) => *v as f64,
        ArgValue::Bool(v) => f64::from(u8::from(*v)),
        _ => {
            let (ty, came) = (elem.c_name(), value.describe());
            return Err(Error::argument(format!("`{op}`: argument `{param}` ({ty}) got {came}; a number is wanted")));
        }
    };
    let bits = elem.half_bits(number).unwrap_or_default();
    if number.is_finite() && elem.half_value(bits).is_some_and(f64::is_infinite) {
        let (ty, came) = (elem.c_name(), value.describe());
        return Err(Error::argument(format!("`{op}`: argument `{param}` ({ty}) got {came}, which does not fit")));
    }
    halves.push(Box::new(bits));
    let ptr = halves.last_mut().map_or(std::ptr::null_mut(), |bits| std::ptr::from_mut(&mut **bits));
    Ok(Arg::Buffer(BufferArg { ptr: ptr.cast(), bytes: 2, dtype: DType::UInt8, writable: false }))
}

/// A number by the C signature; one that does not fit is an error.
///
/// # Errors
/// [`Error::Argument`] naming the parameter, with what was given and what was expected.
pub fn scalar(op: &str, param: &str, ty: ParamType, value: &ArgValue<'_>) -> Result<Const> {
    let wrong = |why: &str| {
        Err(Error::argument(format!("`{op}`: argument `{param}` ({}) got {}{why}", param_type(ty), value.describe())))
    };
    let ParamType::Scalar(s) = ty else { return wrong("; an array is wanted") };
    match (s, value) {
        (Scalar::F32, ArgValue::Float(v)) if v.is_finite() && (*v as f32).is_infinite() => {
            wrong(", which does not fit")
        }
        (Scalar::F32, ArgValue::Float(v)) => Ok(Const::F32(*v as f32)),
        (Scalar::F64, ArgValue::Float(v)) => Ok(Const::F64(*v)),
        (Scalar::F32, ArgValue::Int(v)) => Ok(Const::F32(*v as f32)),
        (Scalar::F64, ArgValue::Int(v)) => Ok(Const::F64(*v as f64)),
        (Scalar::F32, ArgValue::Bool(v)) => Ok(Const::F32(f32::from(u8::from(*v)))),
        (Scalar::F64, ArgValue::Bool(v)) => Ok(Const::F64(f64::from(u8::from(*v)))),
        (Scalar::Bool, ArgValue::Bool(v)) => Ok(Const::Bool(*v)),
        (Scalar::Bool, ArgValue::Int(v @ (0 | 1))) => Ok(Const::Bool(*v == 1)),
        (s, ArgValue::Bool(v)) => Ok(Const::Int(s, i64::from(*v))),
        (s, ArgValue::Int(v)) if s.is_int() => {
            let fits = if s.is_signed() {
                let half = 1i128 << (s.bits() - 1);
                (-half..half).contains(&i128::from(*v))
            } else {
                (0..1i128 << s.bits()).contains(&i128::from(*v))
            };
            if fits { Ok(Const::Int(s, *v)) } else { wrong(", which does not fit") }
        }
        (_, ArgValue::Float(_)) => wrong("; an integer is wanted"),
        _ => wrong("; a number is wanted"),
    }
}
