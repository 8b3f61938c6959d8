//! Elements of any type as doubles or as 64-bit integers, in which operations compute. One operation on doubles, rounded to `float` or
//! less, is the operation on `float`s: 53 bits are more than twice 24 and two more.

use ndarray::{ArrayD, ArrayViewD, IxDyn, ShapeBuilder, Zip};

use super::super::answer::Answer;
use super::super::array::{DeviceTag, HostTensor};
use super::Value;
use super::sweep::{self, Sweep};
use crate::back::Exception;
use crate::runtime::DType;

/// The same for elements of either kind.
macro_rules! each {
    ($wide:expr, $a:ident => $made:expr) => {
        match $wide {
            Wide::Float($a) => Wide::Float($made),
            Wide::Int($a) => Wide::Int($made),
        }
    };
}
pub(super) use each;

/// Elements in the form that operations compute in.
#[derive(Debug)]
pub enum Wide {
    /// Elements of a floating-point type.
    Float(ArrayD<f64>),
    /// Elements of an integer type, or truth values.
    Int(ArrayD<i64>),
}

fn view<T>(t: &HostTensor) -> ArrayViewD<'_, T> {
    let shape: Vec<usize> = t.shape().iter().map(|n| *n as usize).collect();
    let strides: Vec<usize> = t.strides().iter().map(|s| *s as usize).collect();
    if t.numel() == 0 {
        // SAFETY: no element is read.
        return unsafe { ArrayViewD::from_shape_ptr(IxDyn(&shape), std::ptr::NonNull::dangling().as_ptr()) };
    }
    // SAFETY: every view stays within its storage, which `t` keeps; strides are not negative.
    unsafe { ArrayViewD::from_shape_ptr(IxDyn(&shape).strides(IxDyn(&strides)), t.ptr().cast()) }
}

/// Calls a closure with a view of the elements in their own type.
macro_rules! typed {
    ($t:expr, $view:ident => $float:expr, $int:expr) => {
        match $t.dtype() {
            DType::Bool | DType::UInt8 => {
                let $view = view::<u8>($t);
                $int
            }
            DType::Int8 => {
                let $view = view::<i8>($t);
                $int
            }
            DType::Int16 => {
                let $view = view::<i16>($t);
                $int
            }
            DType::UInt16 => {
                let $view = view::<u16>($t);
                $int
            }
            DType::Int32 => {
                let $view = view::<i32>($t);
                $int
            }
            DType::UInt32 => {
                let $view = view::<u32>($t);
                $int
            }
            DType::Int64 => {
                let $view = view::<i64>($t);
                $int
            }
            DType::UInt64 => {
                let $view = view::<u64>($t);
                $int
            }
            DType::Float16 => {
                let $view = view::<half::f16>($t);
                $float
            }
            DType::BFloat16 => {
                let $view = view::<half::bf16>($t);
                $float
            }
            DType::Float32 => {
                let $view = view::<f32>($t);
                $float
            }
            DType::Float64 => {
                let $view = view::<f64>($t);
                $float
            }
        }
    };
}

/// The conversions of an element type to and from the types that are computed with.
trait Elem: Copy {
    fn double(self) -> f64;
    fn integer(self) -> i64;
    fn of_double(x: f64) -> Self;
    fn of_integer(x: i64) -> Self;
}

/// The integer that C++ makes of a float on the machines torch runs on: by way of 32 bits where those hold the type, else of 64; a
/// number that does not fit is the smallest integer of that width.
fn converted(x: f64, narrow: bool) -> i64 {
    let (low, high) = if narrow { (-2_147_483_649.0, 2_147_483_648.0) } else { (-9.3e18, 9_223_372_036_854_775_808.0) };
    if x > low && x < high {
        x as i64
    } else if narrow {
        i64::from(i32::MIN)
    } else {
        i64::MIN
    }
}

macro_rules! elem {
    ($($ty:ty),*) => {$(
        impl Elem for $ty {
            fn double(self) -> f64 { self as f64 }
            fn integer(self) -> i64 { self as i64 }
            fn of_double(x: f64) -> Self { converted(x, size_of::<$ty>() <= 4 && <$ty>::MAX as u64 <= i32::MAX as u64) as $ty }
            fn of_integer(x: i64) -> Self { x as $ty }
        }
    )*};
}

elem!(u8, i8, i16, u16, i32, u32, i64, u64);

macro_rules! float_elem {
    ($($ty:ty, $wide:expr, $narrow:expr, $whole:expr;)*) => {$(
        impl Elem for $ty {
            fn double(self) -> f64 { $wide(self) }
            fn integer(self) -> i64 { $wide(self) as i64 }
            fn of_double(x: f64) -> Self { $narrow(x) }
            fn of_integer(x: i64) -> Self { $whole(x) }
        }
    )*};
}

float_elem! {
    f32, f64::from, |x: f64| x as f32, |x: i64| x as f32;
    f64, |x: f64| x, |x: f64| x, |x: i64| x as f64;
    // The number goes by way of `float`, as torch converts: it is rounded twice.
    half::f16, half::f16::to_f64, |x: f64| half::f16::from_f32(x as f32), |x: i64| half::f16::from_f32(x as f32);
    half::bf16, half::bf16::to_f64, |x: f64| half::bf16::from_f32(x as f32), |x: i64| half::bf16::from_f32(x as f32);
}

impl Clone for Wide {
    fn clone(&self) -> Self {
        each!(self, a => sweep::owned(a.view()))
    }
}

impl Wide {
    /// The elements of a tensor.
    pub fn of(t: &HostTensor) -> Self {
        typed!(t, v => Wide::Float(sweep::map(v, Elem::double)), Wide::Int(sweep::map(v, Elem::integer)))
    }

    /// The elements as doubles.
    pub fn floats(self) -> ArrayD<f64> {
        match self {
            Wide::Float(a) => a,
            Wide::Int(a) => sweep::map(a.view(), |x| x as f64),
        }
    }

    /// The elements as integers, truncated.
    pub fn ints(self) -> ArrayD<i64> {
        match self {
            Wide::Float(a) => sweep::map(a.view(), |x| x as i64),
            Wide::Int(a) => a,
        }
    }

    /// The elements converted to an element type, one by one: floats rounded to it, integers wrapped.
    pub fn brought(self, dtype: DType) -> Self {
        fn float<T: Elem>(a: Wide) -> Wide {
            Wide::Float(match a {
                Wide::Float(a) => sweep::replaced(a, |x| T::of_double(x).double()),
                Wide::Int(a) => sweep::map(a.view(), |x| T::of_integer(x).double()),
            })
        }
        fn integer<T: Elem>(a: Wide) -> Wide {
            Wide::Int(match a {
                Wide::Float(a) => sweep::map(a.view(), |x| T::of_double(x).integer()),
                Wide::Int(a) => sweep::replaced(a, |x| T::of_integer(x).integer()),
            })
        }
        match (dtype, self) {
            (DType::Float64, a @ Wide::Float(_)) | (DType::Int64, a @ Wide::Int(_)) => a,
            (DType::Bool, a) => Wide::Int(a.truth()),
            (DType::UInt8, a) => integer::<u8>(a),
            (DType::Int8, a) => integer::<i8>(a),
            (DType::Int16, a) => integer::<i16>(a),
            (DType::UInt16, a) => integer::<u16>(a),
            (DType::Int32, a) => integer::<i32>(a),
            (DType::UInt32, a) => integer::<u32>(a),
            (DType::Int64, a) => integer::<i64>(a),
            (DType::UInt64, a) => integer::<u64>(a),
            (DType::Float16, a) => float::<half::f16>(a),
            (DType::BFloat16, a) => float::<half::bf16>(a),
            (DType::Float32, a) => float::<f32>(a),
            (DType::Float64, a) => float::<f64>(a),
        }
    }

    /// 1 for each element that is not zero.
    pub fn truth(self) -> ArrayD<i64> {
        match self {
            Wide::Float(a) => sweep::map(a.view(), |x| i64::from(x != 0.0)),
            Wide::Int(a) => sweep::replaced(a, |x| i64::from(x != 0)),
        }
    }

    /// The extents.
    pub fn shape(&self) -> Vec<i64> {
        let shape = match self {
            Wide::Float(a) => a.shape(),
            Wide::Int(a) => a.shape(),
        };
        shape.iter().map(|n| *n as i64).collect()
    }

    /// The elements as a tensor of an element type.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn tensor(self, dtype: DType, device: DeviceTag) -> Answer<HostTensor> {
        let made = HostTensor::new(dtype, &self.shape(), device, true)?;
        self.write(&made)?;
        Ok(made)
    }

    /// The elements as a tensor of an element type, whose dimensions lie in the order of those of the first operand that is as
    /// large as the result.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn tensor_like(self, dtype: DType, device: DeviceTag, operands: &[&Value]) -> Answer<HostTensor> {
        let made = HostTensor::new(dtype, &self.shape(), device, true)?;
        let like = operands.iter().find_map(|v| match v {
            Value::Tensor(t) if t.shape() == made.shape() && t.is_dense() => Some(t),
            _ => None,
        });
        let made = if let Some(like) = like { made.ordered_as(like) } else { made };
        self.write(&made)?;
        Ok(made)
    }

    /// Writes the elements into a tensor of a shape that they broadcast to, converted to its type.
    ///
    /// # Errors
    /// `RuntimeError` for read-only memory, and for shapes that do not fit.
    pub fn write(self, to: &HostTensor) -> Answer<()> {
        if to.numel() == 0 {
            return Ok(());
        }
        may_write(to)?;
        let shape: Vec<usize> = to.shape().iter().map(|n| *n as usize).collect();
        let strides: Vec<usize> = to.strides().iter().map(|s| *s as usize).collect();
        let from = self.shape();
        let misfit = || (Exception::Runtime, format!("a tensor of shape {from:?} does not fit one of shape {shape:?}"));
        /// # Safety
        /// The tensor's elements are of type `T`.
        unsafe fn put<T: Elem>(to: &HostTensor, shape: &[usize], strides: &[usize], values: &Wide) -> Option<()> {
            // SAFETY: as in `view`; no other code looks at the memory while an operation runs.
            let mut out = unsafe {
                ndarray::ArrayViewMutD::<T>::from_shape_ptr(IxDyn(shape).strides(IxDyn(strides)), to.ptr().cast())
            };
            match values {
                Wide::Float(a) => {
                    Zip::from(&mut out).and(a.broadcast(IxDyn(shape))?).sweep(|(o, x)| *o = T::of_double(*x));
                }
                Wide::Int(a) => {
                    Zip::from(&mut out).and(a.broadcast(IxDyn(shape))?).sweep(|(o, x)| *o = T::of_integer(*x));
                }
            }
            Some(())
        }
        // SAFETY: the type is the tensor's.
        let done = unsafe {
            match to.dtype() {
                DType::Bool => put::<u8>(to, &shape, &strides, &Wide::Int(self.truth())),
                DType::UInt8 => put::<u8>(to, &shape, &strides, &self),
                DType::Int8 => put::<i8>(to, &shape, &strides, &self),
                DType::Int16 => put::<i16>(to, &shape, &strides, &self),
                DType::UInt16 => put::<u16>(to, &shape, &strides, &self),
                DType::Int32 => put::<i32>(to, &shape, &strides, &self),
                DType::UInt32 => put::<u32>(to, &shape, &strides, &self),
                DType::Int64 => put::<i64>(to, &shape, &strides, &self),
                DType::UInt64 => put::<u64>(to, &shape, &strides, &self),
                DType::Float16 => put::<half::f16>(to, &shape, &strides, &self),
                DType::BFloat16 => put::<half::bf16>(to, &shape, &strides, &self),
                DType::Float32 => put::<f32>(to, &shape, &strides, &self),
                DType::Float64 => put::<f64>(to, &shape, &strides, &self),
            }
        };
        done.ok_or_else(misfit)
    }
}

/// Checks that a tensor's elements may be written, each for itself.
///
/// # Errors
/// `RuntimeError`.
pub fn may_write(to: &HostTensor) -> Answer<()> {
    if !to.storage().is_writable() {
        return Err((Exception::Runtime, "a tensor that is only to be read is written: an array that is read-only, or an operator's argument that its schema does not mark \
             as written, `Tensor(a!)`"
                .to_owned()));
    }
    if to.shape().iter().zip(to.strides()).any(|(n, s)| *n > 1 && *s == 0) {
        let message = "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
                       Please clone() the tensor before performing the operation.";
        return Err((Exception::Runtime, message.to_owned()));
    }
    Ok(())
}

/// The elements of a tensor of `float`s, in their own type.
pub fn singles(t: &HostTensor) -> ArrayViewD<'_, f32> {
    assert_eq!(t.dtype(), DType::Float32, "elements are read in their own type");
    view(t)
}

/// A tensor of `float`s.
///
/// # Errors
/// `MemoryError`.
pub fn tensor_of_singles(made: &ArrayD<f32>, device: DeviceTag) -> Answer<HostTensor> {
    let shape: Vec<i64> = made.shape().iter().map(|n| *n as i64).collect();
    let tensor = HostTensor::new(DType::Float32, &shape, device, true)?;
    if made.is_empty() {
        return Ok(tensor);
    }
    // SAFETY: the tensor is new, contiguous, of that type and shape.
    let mut out = unsafe { ndarray::ArrayViewMutD::<f32>::from_shape_ptr(made.raw_dim(), tensor.ptr().cast()) };
    Zip::from(&mut out).and(made).sweep(|(to, x)| *to = *x);
    Ok(tensor)
}
