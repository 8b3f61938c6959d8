//! Owned, contiguous host arrays of any element type.

use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn};

use super::{BufferArg, DType, Element, Error, Result};
use crate::ir::{Elem, POISON};

/// An owned host array, contiguous in row-major order. Its memory is aligned to 8 bytes, the largest element.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    words: Vec<u64>,
}

impl Tensor {
    /// An array of zeros.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Self {
        let bytes = shape.iter().product::<usize>() * dtype.size();
        Tensor { dtype, shape: shape.to_vec(), words: vec![0; bytes.div_ceil(8)] }
    }

    /// As [`Tensor::poisoned`], for a shape that may need more memory than there is.
    ///
    /// # Errors
    /// [`Error::Argument`] when it is too large, or the memory is not there.
    pub fn try_poisoned(dtype: DType, shape: &[usize]) -> Result<Self> {
        let wanted = shape.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d));
        let bytes = if shape.contains(&0) { Some(0) } else { wanted };
        let words = bytes.and_then(|b| {
            let mut words = Vec::new();
            words.try_reserve_exact(b.div_ceil(8)).ok()?;
            words.resize(b.div_ceil(8), u64::from_ne_bytes([POISON; 8]));
            Some(words)
        });
        match words {
            Some(words) => Ok(Tensor { dtype, shape: shape.to_vec(), words }),
            None => {
                Err(Error::argument(format!("an array of {dtype} and shape {shape:?} is too large for the memory")))
            }
        }
    }

    /// An array filled with the poison pattern ([`POISON`]), so that elements that are never written show.
    pub fn poisoned(dtype: DType, shape: &[usize]) -> Self {
        let mut tensor = Self::zeros(dtype, shape);
        tensor.words.fill(u64::from_ne_bytes([POISON; 8]));
        tensor
    }

    /// An array of `values` in row-major order.
    ///
    /// # Errors
    /// [`Error::Argument`] when their number is not the shape's.
    pub fn from_slice<T: Element>(shape: &[usize], values: &[T]) -> Result<Self> {
        let count: usize = shape.iter().product();
        if count != values.len() {
            return Err(Error::argument(format!("a shape of {count} elements and {} values", values.len())));
        }
        let mut tensor = Self::zeros(T::DTYPE, shape);
        tensor.write(values);
        Ok(tensor)
    }

    fn write<T: Element>(&mut self, values: &[T]) {
        let bytes = size_of_val(values);
        debug_assert!(bytes <= self.words.len() * 8);
        // SAFETY: the words are at least as many bytes, both sides are plain data, and they do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), self.words.as_mut_ptr().cast(), bytes) };
    }

    /// A copy of an ndarray array of any layout.
    pub fn from_array<T: Element, S: Data<Elem = T>, D: Dimension>(array: &ArrayBase<S, D>) -> Self {
        let mut tensor = Self::zeros(T::DTYPE, array.shape());
        match array.as_slice() {
            Some(values) => tensor.write(values),
            None => tensor.write(&array.iter().copied().collect::<Vec<T>>()),
        }
        tensor
    }

    /// An array of doubles rounded to `dtype`; integers are truncated and saturate.
    pub fn from_f64(dtype: DType, shape: &[usize], values: &[f64]) -> Result<Self> {
        match dtype {
            DType::Bool => Self::from_slice(shape, &values.iter().map(|v| *v != 0.0).collect::<Vec<_>>()),
            DType::Int8 => Self::from_slice(shape, &values.iter().map(|v| *v as i8).collect::<Vec<_>>()),
            DType::UInt8 => Self::from_slice(shape, &values.iter().map(|v| *v as u8).collect::<Vec<_>>()),
            DType::Int16 => Self::from_slice(shape, &values.iter().map(|v| *v as i16).collect::<Vec<_>>()),
            DType::UInt16 => Self::from_slice(shape, &values.iter().map(|v| *v as u16).collect::<Vec<_>>()),
            DType::Int32 => Self::from_slice(shape, &values.iter().map(|v| *v as i32).collect::<Vec<_>>()),
            DType::UInt32 => Self::from_slice(shape, &values.iter().map(|v| *v as u32).collect::<Vec<_>>()),
            DType::Int64 => Self::from_slice(shape, &values.iter().map(|v| *v as i64).collect::<Vec<_>>()),
            DType::UInt64 => Self::from_slice(shape, &values.iter().map(|v| *v as u64).collect::<Vec<_>>()),
            DType::Float16 | DType::BFloat16 => {
                let elem = Elem::from(dtype);
                let bits: Vec<u16> = values.iter().filter_map(|v| elem.half_bits(*v)).collect();
                Ok(Self { dtype, ..Self::from_slice(shape, &bits)? })
            }
            DType::Float32 => Self::from_slice(shape, &values.iter().map(|v| *v as f32).collect::<Vec<_>>()),
            DType::Float64 => Self::from_slice(shape, values),
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.numel() * self.dtype.size()
    }

    /// First byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }

    /// First byte.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// The elements, when they are of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if T::DTYPE != self.dtype || self.dtype == DType::Bool {
            return None;
        }
        // SAFETY: the memory holds that many elements, aligned; every bit pattern of a number is one (bool is refused).
        Some(unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.numel()) })
    }

    /// The elements as doubles; 64-bit integers are rounded.
    pub fn to_f64_vec(&self) -> Vec<f64> {
        fn wide<T: Element>(tensor: &Tensor, f: impl Fn(T) -> f64) -> Vec<f64> {
            tensor.as_slice::<T>().unwrap_or(&[]).iter().map(|v| f(*v)).collect()
        }
        match self.dtype {
            DType::Bool => self.raw().iter().map(|b| f64::from(u8::from(*b != 0))).collect(),
            DType::Int8 => wide::<i8>(self, f64::from),
            DType::UInt8 => wide::<u8>(self, f64::from),
            DType::Int16 => wide::<i16>(self, f64::from),
            DType::UInt16 => wide::<u16>(self, f64::from),
            DType::Int32 => wide::<i32>(self, f64::from),
            DType::UInt32 => wide::<u32>(self, f64::from),
            DType::Int64 => wide::<i64>(self, |v| v as f64),
            DType::UInt64 => wide::<u64>(self, |v| v as f64),
            DType::Float16 => wide::<half::f16>(self, |v| f64::from(v.to_f32())),
            DType::BFloat16 => wide::<half::bf16>(self, |v| f64::from(v.to_f32())),
            DType::Float32 => wide::<f32>(self, f64::from),
            DType::Float64 => wide::<f64>(self, |v| v),
        }
    }

    /// The memory.
    pub fn raw(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes()]
    }

    /// The same elements as another element type, rounded and saturated as [`Tensor::from_f64`] does.
    ///
    /// # Errors
    /// None in practice: the count stays.
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        Self::from_f64(dtype, &self.shape, &self.to_f64_vec())
    }

    /// An ndarray view of the elements in their memory.
    ///
    /// # Errors
    /// [`Error::Argument`] naming both types when the elements are of another type; for a bool that is neither.
    pub fn view<T: Element>(&self) -> Result<ArrayViewD<'_, T>> {
        if T::DTYPE != self.dtype {
            return Err(Error::argument(format!("the array is {}, not {}", self.dtype, T::DTYPE)));
        }
        if self.dtype == DType::Bool
            && let Some(i) = self.raw().iter().position(|b| *b > 1)
        {
            let byte = self.raw()[i];
            return Err(Error::argument(format!("element {i} holds {byte:#04x}, which is neither false nor true")));
        }
        // SAFETY: the memory holds that many elements, aligned, each a valid value: bools are looked at above.
        let values = unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast::<T>(), self.numel()) };
        ArrayViewD::from_shape(IxDyn(&self.shape), values).map_err(|e| Error::Other(e.to_string()))
    }

    /// A copy as an ndarray array of `T`.
    ///
    /// # Errors
    /// As [`Tensor::view`].
    pub fn to_array<T: Element>(&self) -> Result<ArrayD<T>> {
        Ok(self.view()?.to_owned())
    }

    /// A copy of the memory that is lent to a launch, as a vector.
    pub(crate) fn copy_of(lent: &BufferArg) -> Self {
        let mut tensor = Self::zeros(lent.dtype, &[lent.bytes / lent.dtype.size()]);
        let bytes = tensor.bytes();
        if bytes > 0 {
            // SAFETY: the lender keeps so many bytes alive while the argument is in use, and the tensor's memory is its own.
            unsafe { std::ptr::copy_nonoverlapping(lent.ptr.cast_const(), tensor.as_mut_ptr(), bytes) };
        }
        tensor
    }

    /// Fills the memory that is lent to a launch with the poison.
    pub(crate) fn poison(lent: &BufferArg) {
        if lent.writable && lent.bytes > 0 {
            // SAFETY: the lender keeps so many bytes alive while the argument is in use, and lets the launch write them.
            unsafe { std::ptr::write_bytes(lent.ptr, POISON, lent.bytes) };
        }
    }

    /// The array as an argument of a launch.
    pub fn buffer(&mut self, writable: bool) -> BufferArg {
        BufferArg { ptr: self.as_mut_ptr(), bytes: self.bytes(), dtype: self.dtype, writable }
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let values = self.to_f64_vec();
        let head = &values[..values.len().min(8)];
        let more = if values.len() > 8 { ", .." } else { "" };
        write!(f, "Tensor({}, {:?}, {head:?}{more})", self.dtype, self.shape)
    }
}
