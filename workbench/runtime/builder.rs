//! Launches from Rust: `kernel.launch(grid, block).arg(2.0f32).arg(&x).arg(&mut y).run()`.

use std::marker::PhantomData;
use std::time::Duration;

use ndarray::{ArrayBase, Data, DataMut, Dimension};

use super::program::declared_type;
use super::records::describe;
use super::{
    Arg, BufferArg, DType, Dim3, Error, Given, Interrupt, Kernel, LaunchConfig, Packed, Reach, Report, Result, Template,
};
use crate::ir::layout::MemberType;
use crate::ir::{Const, Elem, Param, ParamType, Scalar};

mod sealed {
    /// Types that this crate chooses.
    pub trait Sealed {}
}

/// An element type of Rust arrays. Kernels write any bytes of the named type into arrays of these, so the types are those
/// below and no others:
///
/// ```compile_fail,E0277
/// use workbench::prelude::*;
/// #[derive(Clone, Copy)]
/// struct Always7(u8);
/// impl Element for Always7 {
///     const DTYPE: DType = DType::UInt8;
///     fn constant(self) -> workbench::ir::Const {
///         workbench::ir::Const::Bool(true)
///     }
/// }
/// ```
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The element type's name here.
    const DTYPE: DType;
    /// The value as a constant; a 16-bit float as a `float`.
    fn constant(self) -> Const;
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident, |$x:ident| $constant:expr;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn constant(self) -> Const {
                let $x = self;
                $constant
            }
        }

        impl<'a> IntoArg<'a> for $ty {
            fn into_arg(self) -> std::result::Result<Given, String> {
                Ok(Given::Scalar(self.constant()))
            }
        }
    )*};
}

elements! {
    bool => Bool, |x| Const::Bool(x);
    i8 => Int8, |x| Const::Int(Scalar::I8, i64::from(x));
    u8 => UInt8, |x| Const::Int(Scalar::U8, i64::from(x));
    i16 => Int16, |x| Const::Int(Scalar::I16, i64::from(x));
    u16 => UInt16, |x| Const::Int(Scalar::U16, i64::from(x));
    i32 => Int32, |x| Const::Int(Scalar::I32, i64::from(x));
    u32 => UInt32, |x| Const::Int(Scalar::U32, i64::from(x));
    i64 => Int64, |x| Const::Int(Scalar::I64, x);
    u64 => UInt64, |x| Const::Int(Scalar::U64, x as i64);
    f32 => Float32, |x| Const::F32(x);
    f64 => Float64, |x| Const::F64(x);
}

macro_rules! halves {
    ($($ty:ty => $dtype:ident, $elem:expr;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn constant(self) -> Const {
                Const::F32(self.to_f32())
            }
        }

        impl<'a> IntoArg<'a> for $ty {
            fn into_arg(self) -> std::result::Result<Given, String> {
                Ok(Given::Half($elem, self.to_bits()))
            }
        }
    )*};
}

halves! {
    half::f16 => Float16, Elem::F16;
    half::bf16 => BFloat16, Elem::BF16;
}

/// A value that may be an argument of a launch: Rust scalars (`half::f16` and `half::bf16` for 16-bit floats), ndarray arrays and views of any
/// dimension, slices. A shared borrow is read only: a kernel that writes through it faults. `None::<f32>`-like nulls are [`NULL`].
pub trait IntoArg<'a> {
    /// The argument, or the reason that it cannot be one.
    ///
    /// # Errors
    /// One sentence, for an array that is not contiguous.
    fn into_arg(self) -> std::result::Result<Given, String>;
}

/// A null pointer as an argument.
#[derive(Debug, Clone, Copy)]
pub struct Null;

/// A null pointer as an argument.
pub const NULL: Null = Null;

impl IntoArg<'_> for Null {
    fn into_arg(self) -> std::result::Result<Given, String> {
        Ok(Given::Null)
    }
}

fn buffer<T: Element>(ptr: *const T, len: usize, writable: bool) -> Given {
    Given::Buffer(BufferArg { ptr: ptr.cast_mut().cast(), bytes: len * size_of::<T>(), dtype: T::DTYPE, writable })
}

impl<'a, T: Element> IntoArg<'a> for &'a [T] {
    fn into_arg(self) -> std::result::Result<Given, String> {
        Ok(buffer(self.as_ptr(), self.len(), false))
    }
}

impl<'a, T: Element> IntoArg<'a> for &'a mut [T] {
    fn into_arg(self) -> std::result::Result<Given, String> {
        Ok(buffer(self.as_mut_ptr(), self.len(), true))
    }
}

impl<'a, T: Element> IntoArg<'a> for &'a Vec<T> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        self.as_slice().into_arg()
    }
}

impl<'a, T: Element> IntoArg<'a> for &'a mut Vec<T> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        self.as_mut_slice().into_arg()
    }
}

impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> IntoArg<'a> for &'a ArrayBase<S, D> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        match self.as_slice() {
            Some(s) => Ok(buffer(s.as_ptr(), s.len(), false)),
            None => Err("the array is not contiguous in row-major order; try .as_standard_layout()".to_owned()),
        }
    }
}

impl<'a, T: Element, S: DataMut<Elem = T>, D: Dimension> IntoArg<'a> for &'a mut ArrayBase<S, D> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        match self.as_slice_mut() {
            Some(s) => Ok(buffer(s.as_mut_ptr(), s.len(), true)),
            None => Err("the array is not contiguous in row-major order, so it cannot be written in place".to_owned()),
        }
    }
}

/// A list. For a member of a struct that is an array: its numbers or pointers; for a pointer to pointers: the arrays these point at.
impl<'a, T: IntoArg<'a>, const N: usize> IntoArg<'a> for [T; N] {
    fn into_arg(self) -> std::result::Result<Given, String> {
        self.into_iter().map(IntoArg::into_arg).collect::<std::result::Result<_, _>>().map(Given::List)
    }
}

/// A list of a known length.
impl<'a, T: IntoArg<'a>> IntoArg<'a> for Vec<T> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        self.into_iter().map(IntoArg::into_arg).collect::<std::result::Result<_, _>>().map(Given::List)
    }
}

/// A struct by value, member by member; every member is given.
///
/// ```
/// use workbench::prelude::*;
/// use workbench::runtime::Struct;
/// let text = "struct P { const float* x; float a; int n; };
///     __global__ void scale(P p, float* y) { int i = threadIdx.x; if (i < p.n) y[i] = p.a * p.x[i]; }";
/// let (x, mut y) = (array![1.0f32, 2.0, 3.0], Array1::from_elem(3, 0.0f32));
/// let p = Struct::new().member("x", &x).member("a", 2.0f32).member("n", 3);
/// wb::compile(text)?.kernel("scale")?.launch(1, 32).arg(p).arg(&mut y).run()?;
/// assert_eq!(y, array![2.0, 4.0, 6.0]);
/// # Ok::<(), workbench::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Struct<'a> {
    members: Vec<(String, Given)>,
    error: Option<String>,
    borrowed: PhantomData<&'a mut ()>,
}

impl<'a> Struct<'a> {
    /// A struct without members so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// A member by its name: a number of its type, an array for a pointer, a list for an array, a struct.
    #[must_use]
    pub fn member(mut self, name: &str, value: impl IntoArg<'a>) -> Self {
        match value.into_arg() {
            Ok(value) => self.members.push((name.to_owned(), value)),
            Err(why) => self.error = self.error.or(Some(format!("member `{name}`: {why}"))),
        }
        self
    }
}

impl<'a> IntoArg<'a> for Struct<'a> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Given::Members(self.members)),
        }
    }
}

/// Structs for a pointer to them; made by [`records`] and [`records_mut`].
#[derive(Debug)]
pub struct Records<'a> {
    value: Given,
    borrowed: PhantomData<&'a mut ()>,
}

/// Structs of Rust's (`#[repr(C)]` ones that bytemuck takes) for a pointer to the kernel's structs, which must be as large. They are
/// read only.
///
/// ```
/// use workbench::prelude::*;
/// use workbench::runtime::records;
/// let text = "__global__ void sum(const float2* p, float* y) { int i = threadIdx.x; y[i] = p[i].x + p[i].y; }";
/// let (pairs, mut y) = ([[1.0f32, 2.0], [3.0, 4.0]], Array1::from_elem(2, 0.0f32));
/// wb::compile(text)?.kernel("sum")?.launch(1, 2).arg(records(&pairs)).arg(&mut y).run()?;
/// assert_eq!(y, array![3.0, 7.0]);
/// # Ok::<(), workbench::Error>(())
/// ```
pub fn records<T: bytemuck::NoUninit>(structs: &[T]) -> Records<'_> {
    lend(structs.as_ptr(), structs.len(), false)
}

/// An argument as of [`records`], to be written as well.
pub fn records_mut<T: bytemuck::NoUninit + bytemuck::AnyBitPattern>(structs: &mut [T]) -> Records<'_> {
    lend(structs.as_mut_ptr(), structs.len(), true)
}

fn lend<'a, T>(first: *const T, len: usize, writable: bool) -> Records<'a> {
    let bytes = len * size_of::<T>();
    let buffer = BufferArg { ptr: first.cast_mut().cast(), bytes, dtype: DType::UInt8, writable };
    Records { value: Given::Records(buffer, size_of::<T>()), borrowed: PhantomData }
}

impl<'a> IntoArg<'a> for Records<'a> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        Ok(self.value)
    }
}

/// An array for a parameter such as `torch::PackedTensorAccessor32<float, 2>`; made by [`accessor`] and [`accessor_mut`].
#[derive(Debug)]
pub struct Accessor<'a> {
    value: std::result::Result<Given, String>,
    borrowed: PhantomData<&'a mut ()>,
}

/// An array of any layout to be read through an accessor.
pub fn accessor<'a, T: Element, S: Data<Elem = T>, D: Dimension>(array: &'a ArrayBase<S, D>) -> Accessor<'a> {
    Accessor { value: tensor(array.as_ptr(), array.shape(), array.strides(), false), borrowed: PhantomData }
}

/// An array of any layout to be read and written through an accessor.
pub fn accessor_mut<'a, T: Element, S: DataMut<Elem = T>, D: Dimension>(
    array: &'a mut ArrayBase<S, D>,
) -> Accessor<'a> {
    let first = array.as_mut_ptr();
    Accessor { value: tensor(first, array.shape(), array.strides(), true), borrowed: PhantomData }
}

fn tensor<T: Element>(
    first: *const T,
    shape: &[usize],
    strides: &[isize],
    writable: bool,
) -> std::result::Result<Given, String> {
    if shape.iter().zip(strides).any(|(&n, &s)| n > 1 && s < 0) {
        return Err("the array runs backwards; try .as_standard_layout()".to_owned());
    }
    let last: usize = shape.iter().zip(strides).map(|(&n, &s)| n.saturating_sub(1) * s.unsigned_abs()).sum();
    let len = if shape.contains(&0) { 0 } else { last + 1 };
    let Given::Buffer(buffer) = buffer(first, len, writable) else { return Err("no memory".to_owned()) };
    Ok(Given::Tensor { buffer, shape: shape.to_vec(), strides: strides.to_vec() })
}

impl<'a> IntoArg<'a> for Accessor<'a> {
    fn into_arg(self) -> std::result::Result<Given, String> {
        self.value
    }
}

/// A launch being put together. Arrays stay borrowed until it has run.
#[must_use = "a launch does nothing until `.run()`"]
pub struct Launch<'a> {
    target: Target,
    config: LaunchConfig<'a>,
    args: Vec<Given>,
    error: Option<Error>,
    borrowed: PhantomData<&'a mut ()>,
}

/// The kernel of a launch, or the template whose instance the arguments decide.
enum Target {
    Kernel(Kernel),
    Template(Template),
}

impl Kernel {
    /// Begins a launch of `grid` blocks of `block` threads each; extents are numbers or tuples of up to three.
    pub fn launch<'a>(&self, grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Launch<'a> {
        Launch::new(Target::Kernel(self.clone()), grid, block)
    }
}

impl Template {
    /// Begins a launch of the instance that the arguments decide; extents are those of [`Kernel::launch`].
    pub fn launch<'a>(&self, grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Launch<'a> {
        Launch::new(Target::Template(self.clone()), grid, block)
    }
}

impl<'a> Launch<'a> {
    fn new(target: Target, grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        let config = LaunchConfig::new(grid, block);
        Launch { target, config, args: Vec::new(), error: None, borrowed: PhantomData }
    }

    /// The next argument, in the order of the kernel's parameters.
    pub fn arg(mut self, arg: impl IntoArg<'a>) -> Self {
        match arg.into_arg() {
            Ok(arg) => self.args.push(arg),
            Err(why) => {
                let at = self.args.len();
                let (kernel, name) = match &self.target {
                    Target::Kernel(kernel) => (kernel.name(), kernel.params().get(at).map_or("?", |p| p.name.as_str())),
                    // Parameters have names once the instance is known.
                    Target::Template(template) => (template.name(), &*at.to_string()),
                };
                self.error.get_or_insert(Error::argument(format!("`{kernel}`: argument `{name}`: {why}")));
                self.args.push(Given::Null);
            }
        }
        self
    }

    /// Sets the time after which the launch faults with `FaultKind::Timeout`.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.timeout = Some(timeout);
        self
    }

    /// Sets the number of bytes of dynamic shared memory.
    pub fn shared_mem(mut self, bytes: u32) -> Self {
        self.config.shared_mem = bytes.into();
        self
    }

    /// Sets an interrupt, which is polled every few milliseconds while the launch runs; `true` stops it.
    pub fn interrupt(mut self, interrupt: &'a dyn Interrupt) -> Self {
        self.config.interrupt = Some(interrupt);
        self
    }

    /// Runs the blocks in order on the calling thread.
    pub fn serial(mut self) -> Self {
        self.config.serial = true;
        self
    }

    /// Runs it and waits.
    ///
    /// # Errors
    /// As [`Kernel::launch_raw`]; of a template also [`Error::Argument`] where the instance does not follow from the arguments, and
    /// [`Error::Compile`] where it does not compile.
    pub fn run(self) -> Result<Report> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let kernel = match self.target {
            Target::Kernel(kernel) => kernel,
            Target::Template(template) => template.instance(&self.args)?,
        };
        let (args, packed) = pack(&kernel, self.args)?;
        let reach: Vec<Reach> = packed.iter().flat_map(Packed::reach).cloned().collect();
        kernel.launch_raw(&LaunchConfig { reach: &reach, ..self.config }, &args)
    }
}

fn is_pointer(ty: &MemberType) -> bool {
    matches!(ty, MemberType::Pointer { .. })
}

/// The memory of structs, when those that the parameter points at are as large.
fn records_for(kernel: &Kernel, param: Option<&Param>, mut buffer: BufferArg, size: usize) -> Result<BufferArg> {
    let Some(param) = param else { return Ok(buffer) };
    let (name, ty) = (&param.name, declared_type(param));
    let refused =
        |what: String| Err(Error::argument(format!("`{}`: argument `{name}` ({ty}) got {what}", kernel.name())));
    let ParamType::Ptr { elem, .. } = param.ty else { return refused(format!("structs of {size} bytes")) };
    if let Some(elem) = elem {
        buffer.dtype = DType::from(elem);
    }
    match param.pointee.as_deref() {
        Some(MemberType::Struct(layout)) if layout.size as usize == size => Ok(buffer),
        Some(of @ MemberType::Struct(layout)) => {
            let wanted = describe(of);
            refused(format!("structs of {size} bytes, and a `{}` is {wanted}", layout.name))
        }
        _ if elem.is_none() => Ok(buffer),
        _ => refused(format!("structs of {size} bytes, and it points at none")),
    }
}

/// The arguments as a launch takes them, with the structs they are bytes of.
fn pack(kernel: &Kernel, values: Vec<Given>) -> Result<(Vec<Arg>, Vec<Packed>)> {
    let (mut args, mut structs) = (Vec::with_capacity(values.len()), Vec::new());
    for (i, value) in values.into_iter().enumerate() {
        let param = kernel.params().get(i);
        args.push(match value {
            Given::Scalar(c) => Arg::Scalar(c),
            Given::Buffer(buffer) => Arg::Buffer(buffer),
            Given::Null => Arg::Null,
            Given::Records(buffer, size) => Arg::Buffer(records_for(kernel, param, buffer, size)?),
            Given::List(items)
                if let Some(of) = param.and_then(|p| p.pointee.as_deref()).filter(|of| is_pointer(of)) =>
            {
                let name = param.map_or("?", |p| p.name.as_str());
                let packed = Packed::table(name, i, of, &items)?;
                let arg = Arg::Buffer(packed.buffer());
                structs.push(packed);
                arg
            }
            value => {
                let name = param.map_or("?", |p| p.name.as_str());
                let Some(layout) = param.and_then(|p| p.layout.as_deref()) else {
                    let what = format!("`{}`: argument `{name}` takes no struct, accessor or list", kernel.name());
                    return Err(Error::argument(what));
                };
                let packed = Packed::new(name, i, layout, &value)?;
                let arg = Arg::Buffer(packed.buffer());
                structs.push(packed);
                arg
            }
        });
    }
    Ok((args, structs))
}
