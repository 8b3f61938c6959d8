//! NumPy arrays through their C structure: no borrow tracking, no Python call, a few nanoseconds per access.
//!
//! Layout facts come from NumPy's C API reference, "Array structure" and "Array flags"; they are the same in 1.x and 2.x.

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicI32, Ordering};

use numpy::npyffi::{self, PY_ARRAY_API, PyArrayObject, npy_intp};
use pyo3::prelude::*;
use smallvec::SmallVec;
use workbench::runtime::DType;

use crate::pool;

const C_CONTIGUOUS: c_int = 0x0001;
const ALIGNED: c_int = 0x0100;
const WRITEABLE: c_int = 0x0400;

/// A NumPy array seen through its C structure.
#[derive(Clone, Copy)]
pub struct View<'a, 'py> {
    object: &'a Bound<'py, PyAny>,
}

impl<'a, 'py> View<'a, 'py> {
    /// The view of an object that is a NumPy array (or a subclass of one).
    pub fn of(object: &'a Bound<'py, PyAny>) -> Option<Self> {
        // SAFETY: the pointer is a live object and the GIL is held.
        let is_array = unsafe { npyffi::PyArray_Check(object.py(), object.as_ptr()) } != 0;
        is_array.then_some(View { object })
    }

    fn raw(&self) -> &npyffi::objects::PyArrayObject_fields {
        // SAFETY: `of` made sure that the object is an array; it outlives `self`.
        unsafe { &(*self.object.as_ptr().cast::<PyArrayObject>()).fields }
    }

    /// The element type; `None` for one that no kernel parameter can have (complex, object, text, byte-swapped).
    pub fn dtype(&self) -> Option<DType> {
        // SAFETY: every array has a descriptor.
        let descr = unsafe { &(*self.raw().descr).fields };
        let swapped = if cfg!(target_endian = "little") { b'>' } else { b'<' };
        if descr.byteorder as u8 == swapped {
            return None;
        }
        dtype_of(descr.type_num).or_else(|| self.is_bfloat16(descr.type_num).then_some(DType::BFloat16))
    }

    /// True if a type number is that of ml_dtypes' bfloat16, which NumPy hands out as modules register theirs.
    fn is_bfloat16(&self, type_num: c_int) -> bool {
        // NPY_USERDEF: the first number of a registered type.
        if type_num < 256 {
            return false;
        }
        let known = BFLOAT16.load(Ordering::Relaxed);
        if known != 0 {
            return known == type_num;
        }
        let is = self.dtype_name() == "bfloat16";
        if is {
            BFLOAT16.store(type_num, Ordering::Relaxed);
        }
        is
    }

    /// First byte.
    pub fn data(&self) -> *mut u8 {
        self.raw().data.cast()
    }

    /// Extents.
    pub fn shape(&self) -> &'a [npy_intp] {
        let raw = self.raw();
        if raw.nd == 0 || raw.dimensions.is_null() {
            return &[];
        }
        // SAFETY: `dimensions` holds `nd` entries for as long as the array lives.
        unsafe { std::slice::from_raw_parts(raw.dimensions, raw.nd as usize) }
    }

    /// Strides in bytes.
    pub fn strides(&self) -> &'a [npy_intp] {
        let raw = self.raw();
        if raw.nd == 0 || raw.strides.is_null() {
            return &[];
        }
        // SAFETY: `strides` holds `nd` entries for as long as the array lives.
        unsafe { std::slice::from_raw_parts(raw.strides, raw.nd as usize) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape().iter().map(|&d| d as usize).product()
    }

    /// True if it is row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.raw().flags & C_CONTIGUOUS != 0
    }

    /// True if every element is at a multiple of its alignment.
    pub fn is_aligned(&self) -> bool {
        self.raw().flags & ALIGNED != 0
    }

    /// True if it may be written.
    pub fn is_writeable(&self) -> bool {
        self.raw().flags & WRITEABLE != 0
    }

    /// The dtype by NumPy's name, for messages.
    pub fn dtype_name(&self) -> String {
        self.object.getattr("dtype").map_or_else(|_| "unknown".to_owned(), |d| d.to_string())
    }

    /// The object itself.
    pub fn object(&self) -> &'a Bound<'py, PyAny> {
        self.object
    }
}

/// The element type of a NumPy type number.
fn dtype_of(type_num: c_int) -> Option<DType> {
    // NPY_TYPES: BOOL, BYTE, UBYTE, SHORT, USHORT, INT, UINT, LONG, ULONG, LONGLONG, ULONGLONG, FLOAT, DOUBLE.
    const LONG_IS_64: bool = size_of::<c_long>() == 8;
    Some(match type_num {
        0 => DType::Bool,
        1 => DType::Int8,
        2 => DType::UInt8,
        3 => DType::Int16,
        4 => DType::UInt16,
        5 => DType::Int32,
        6 => DType::UInt32,
        7 if LONG_IS_64 => DType::Int64,
        7 => DType::Int32,
        8 if LONG_IS_64 => DType::UInt64,
        8 => DType::UInt32,
        9 => DType::Int64,
        10 => DType::UInt64,
        11 => DType::Float32,
        12 => DType::Float64,
        // NPY_HALF.
        23 => DType::Float16,
        _ => return None,
    })
}

/// The number of ml_dtypes' bfloat16, once known.
static BFLOAT16: AtomicI32 = AtomicI32::new(0);

/// The NumPy type number of an element type.
///
/// # Errors
/// `ArgumentError` for bfloat16 without ml_dtypes.
pub fn type_num(py: Python<'_>, dtype: DType) -> PyResult<c_int> {
    const LONG_IS_64: bool = size_of::<c_long>() == 8;
    Ok(match dtype {
        DType::Float16 => 23,
        DType::BFloat16 => {
            if BFLOAT16.load(Ordering::Relaxed) == 0 {
                let interop = crate::args::interop(py)?;
                let number: c_int = interop.call_method0("bfloat16")?.getattr("num")?.extract()?;
                BFLOAT16.store(number, Ordering::Relaxed);
            }
            BFLOAT16.load(Ordering::Relaxed)
        }
        DType::Bool => 0,
        DType::Int8 => 1,
        DType::UInt8 => 2,
        DType::Int16 => 3,
        DType::UInt16 => 4,
        DType::Int32 => 5,
        DType::UInt32 => 6,
        // `np.int64` is `long` where `long` has 64 bits.
        DType::Int64 if LONG_IS_64 => 7,
        DType::Int64 => 9,
        DType::UInt64 if LONG_IS_64 => 8,
        DType::UInt64 => 10,
        DType::Float32 => 11,
        DType::Float64 => 12,
    })
}

/// A fresh, uninitialised, contiguous array, with its first byte.
///
/// # Errors
/// NumPy's, when memory runs out or an extent is absurd.
pub fn empty<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> PyResult<(Bound<'py, PyAny>, *mut u8)> {
    let mut dims = [0 as npy_intp; 64];
    let Some(dims) = dims.get_mut(..shape.len()) else {
        return Err(crate::errors::argument(py, format!("an array of rank {} is beyond NumPy's limit", shape.len())));
    };
    for (dim, &extent) in dims.iter_mut().zip(shape) {
        *dim = npy_intp::try_from(extent)
            .map_err(|_| crate::errors::argument(py, format!("extent {extent} is beyond NumPy's limit")))?;
    }
    let number = type_num(py, dtype)?;
    let bytes =
        shape.iter().try_fold(dtype.size(), |product, extent| product.checked_mul(*extent)).unwrap_or(usize::MAX);
    // SAFETY: PyArray_New allocates when given no data; `dims` has as many entries as stated; the result is a new reference or null with an
    // exception set.
    let mut make = || unsafe {
        PY_ARRAY_API.PyArray_New(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            dims.len() as c_int,
            dims.as_mut_ptr(),
            number,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            0,
            0,
            std::ptr::null_mut(),
        )
    };
    let array = match bytes {
        pool::LEAST.. => pool::with_pool(py, make)?,
        // SAFETY: as above.
        _ => unsafe { Bound::from_owned_ptr_or_err(py, make()) }?,
    };
    // SAFETY: it is an array.
    let data = unsafe { (*array.as_ptr().cast::<PyArrayObject>()).fields.data.cast() };
    Ok((array, data))
}

/// An array over memory at `data`, which `base` keeps. Extents and strides are numbers of elements.
///
/// # Errors
/// NumPy's; `ArgumentError` for bfloat16 without ml_dtypes.
///
/// # Safety
/// The elements lie in memory that stays for as long as `base`, and that may be written if `writeable`.
pub unsafe fn over<'py>(
    py: Python<'py>,
    data: *mut u8,
    (shape, strides): (&[i64], &[i64]),
    dtype: DType,
    base: Bound<'py, PyAny>,
    writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let size = dtype.size() as i64;
    let mut dims: SmallVec<[npy_intp; 8]> = shape.iter().map(|n| *n as npy_intp).collect();
    let mut steps: SmallVec<[npy_intp; 8]> = strides.iter().map(|s| (s * size) as npy_intp).collect();
    let number = type_num(py, dtype)?;
    let flags = if writeable { WRITEABLE } else { 0 };
    // SAFETY: as the caller promises; both lists have as many entries as stated. The array takes over the reference to `base`.
    unsafe {
        let ptr = PY_ARRAY_API.PyArray_New(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            dims.len() as c_int,
            dims.as_mut_ptr(),
            number,
            steps.as_mut_ptr(),
            data.cast(),
            0,
            flags,
            std::ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, ptr)?;
        if PY_ARRAY_API.PyArray_SetBaseObject(py, ptr.cast::<PyArrayObject>(), base.into_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}
