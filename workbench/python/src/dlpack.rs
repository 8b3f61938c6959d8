//! torch's tensors in host memory as NumPy arrays and back, through DLPack's C interface for exchange: functions that a class of arrays
//! offers in its `__dlpack_c_exchange_api__` (DLPack 1.3; torch has them from 2.10 on). A tensor costs a tenth of a microsecond so, where
//! torch's methods and their checks cost ten.
//!
//! Tensors that are not plain memory of the CPU go the long way (`_array_exchange.py`), which says what is wrong: those of other classes
//! than `torch.Tensor` itself, those that require grad, lazy negatives, those without memory, on other devices, of other element types.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use dlpack_ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensorVersioned, DLPACK_MAJOR_VERSION,
    DLPACK_MINOR_VERSION, DLPackExchangeAPI, DLPackVersion, DLTensor,
};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use workbench::runtime::DType;

use crate::gil;
use crate::ndarray::{self, View};
use crate::torch;

/// The functions of `torch.Tensor`.
struct Exchange {
    view: unsafe extern "C" fn(*mut c_void, *mut DLTensor) -> c_int,
    make: unsafe extern "C" fn(*mut DLManagedTensorVersioned, *mut *mut c_void) -> c_int,
}

/// The name that DLPack requires of the capsule.
const CAPSULE: &CStr = c"dlpack_exchange_api";

/// The functions of torch, where torch is loaded and has them.
fn exchange(py: Python<'_>) -> Option<&'static Exchange> {
    static EXCHANGE: PyOnceLock<Option<Exchange>> = PyOnceLock::new();
    let tensor = torch::tensor_class(py)?;
    EXCHANGE
        .get_or_init(py, || {
            let capsule = tensor.getattr(intern!(py, "__dlpack_c_exchange_api__")).ok()?;
            // SAFETY: the capsule is alive; without a pointer of this name an exception is set, which is taken.
            let api = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), CAPSULE.as_ptr()) };
            let mut api: *const DLPackExchangeAPI = api.cast_const().cast();
            if api.is_null() {
                drop(PyErr::take(py));
                return None;
            }
            // A table of another major version may offer an older one.
            // SAFETY: tables live as long as the process, and their heads are the same in all versions.
            let api = unsafe {
                while (*api).header.version.major != DLPACK_MAJOR_VERSION {
                    api = (*api).header.prev_api.cast_const().cast();
                    if api.is_null() {
                        return None;
                    }
                }
                &*api
            };
            Some(Exchange {
                view: api.dltensor_from_py_object_no_sync?,
                make: api.managed_tensor_to_py_object_no_sync?,
            })
        })
        .as_ref()
}

/// True for a tensor of torch's that is of no derived class.
pub fn is_tensor(object: &Bound<'_, PyAny>) -> bool {
    torch::tensor_class(object.py()).is_some_and(|class| object.get_type_ptr() == class.as_type_ptr())
}

/// A NumPy array over the memory of a tensor of torch's that lies in host memory; `None` for all other objects, and for tensors that need
/// a closer look.
pub fn array<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = object.py();
    let exchange = if is_tensor(object) { exchange(py)? } else { return None };
    let mut seen = DLTensor {
        data: ptr::null_mut(),
        device: DLDevice { device_type: DLDeviceType::kDLCPU, device_id: 0 },
        ndim: 0,
        dtype: DLDataType { code: 0, bits: 0, lanes: 0 },
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    // SAFETY: the object is of the class whose function this is, and the GIL is held.
    if unsafe { (exchange.view)(object.as_ptr().cast(), &raw mut seen) } != 0 {
        drop(PyErr::take(py));
        return None;
    }
    let dtype = dtype(seen.dtype)?;
    if seen.device.device_type != DLDeviceType::kDLCPU || seen.data.is_null() {
        return None;
    }
    if object.getattr(intern!(py, "requires_grad")).ok()?.is_truthy().ok()? {
        return None;
    }
    // DLPack says nothing of tensors that are to be read as negatives of their memory.
    if object.call_method0(intern!(py, "is_neg")).ok()?.is_truthy().ok()? {
        return None;
    }
    let rank = usize::try_from(seen.ndim).ok()?;
    let dims = |words: *const i64| match rank {
        0 => &[][..],
        // SAFETY: both hold `ndim` numbers for as long as nothing else runs.
        _ => unsafe { std::slice::from_raw_parts(words, rank) },
    };
    let (shape, strides) = (dims(seen.shape), dims(seen.strides));
    if shape.contains(&0) {
        return None;
    }
    let data = seen.data.cast::<u8>().wrapping_add(seen.byte_offset as usize);
    // SAFETY: the tensor describes its memory, and the array keeps the tensor.
    unsafe { ndarray::over(py, data, (shape, strides), dtype, object.clone(), true) }.ok()
}

/// An array as a tensor of torch's that shares its memory; `None` where torch has no functions for it, and for arrays that need a closer
/// look.
///
/// # Errors
/// torch's.
pub fn tensor<'py>(array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let (Some(exchange), Some(view)) = (exchange(py), View::of(array)) else { return Ok(None) };
    let Some(dtype) = view.dtype() else { return Ok(None) };
    let size = dtype.size() as isize;
    let fits = view.is_writeable() && view.strides().iter().all(|s| *s >= 0 && s % size == 0);
    if !fits || view.len() == 0 {
        return Ok(None);
    }
    let shape = view.shape().iter().map(|extent| *extent as i64);
    let mut owner = Box::new(Owner {
        managed: DLManagedTensorVersioned {
            version: DLPackVersion { major: DLPACK_MAJOR_VERSION, minor: DLPACK_MINOR_VERSION },
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete),
            flags: 0,
            dl_tensor: DLTensor {
                data: view.data().cast(),
                device: DLDevice { device_type: DLDeviceType::kDLCPU, device_id: 0 },
                ndim: view.shape().len() as i32,
                dtype: described(dtype),
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
        },
        dims: shape.chain(view.strides().iter().map(|step| (step / size) as i64)).collect(),
        _array: array.clone().unbind(),
    });
    let tensor = &mut owner.managed.dl_tensor;
    tensor.shape = owner.dims.as_mut_ptr();
    tensor.strides = owner.dims.as_mut_ptr().wrapping_add(view.shape().len());
    let owner = Box::into_raw(owner);
    let mut made = ptr::null_mut();
    // SAFETY: the owner is on the heap, and its deleter frees it; it begins with the managed tensor. The function takes it over, and gives
    // a new reference or sets an exception.
    unsafe {
        (*owner).managed.manager_ctx = owner.cast();
        if (exchange.make)(&raw mut (*owner).managed, &raw mut made) != 0 {
            return Err(PyErr::fetch(py));
        }
        Bound::from_owned_ptr_or_err(py, made.cast()).map(Some)
    }
}

/// A managed tensor with what it points at.
struct Owner {
    managed: DLManagedTensorVersioned,
    /// The extents, then the strides.
    dims: Box<[i64]>,
    _array: Py<PyAny>,
}

/// Frees an owner. torch may call it from any thread.
unsafe extern "C" fn delete(managed: *mut DLManagedTensorVersioned) {
    // SAFETY: made in `tensor`, and deleted once. When the interpreter has ended, what it owned is gone with it.
    unsafe {
        if ffi::Py_IsInitialized() != 0 {
            let owner = Box::from_raw((*managed).manager_ctx.cast::<Owner>());
            gil::attach(|_| drop(owner));
        }
    }
}

/// The element type; `None` for one that no kernel parameter can have.
fn dtype(said: DLDataType) -> Option<DType> {
    const INT: u32 = DLDataTypeCode::kDLInt.0;
    const UINT: u32 = DLDataTypeCode::kDLUInt.0;
    const FLOAT: u32 = DLDataTypeCode::kDLFloat.0;
    const BFLOAT: u32 = DLDataTypeCode::kDLBfloat.0;
    const BOOL: u32 = DLDataTypeCode::kDLBool.0;
    Some(match (u32::from(said.code), said.bits, said.lanes) {
        (BOOL, 8, 1) => DType::Bool,
        (INT, 8, 1) => DType::Int8,
        (INT, 16, 1) => DType::Int16,
        (INT, 32, 1) => DType::Int32,
        (INT, 64, 1) => DType::Int64,
        (UINT, 8, 1) => DType::UInt8,
        (UINT, 16, 1) => DType::UInt16,
        (UINT, 32, 1) => DType::UInt32,
        (UINT, 64, 1) => DType::UInt64,
        (FLOAT, 16, 1) => DType::Float16,
        (BFLOAT, 16, 1) => DType::BFloat16,
        (FLOAT, 32, 1) => DType::Float32,
        (FLOAT, 64, 1) => DType::Float64,
        _ => return None,
    })
}

/// DLPack's description of an element type.
fn described(dtype: DType) -> DLDataType {
    let code = match dtype {
        DType::Bool => DLDataTypeCode::kDLBool,
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => DLDataTypeCode::kDLInt,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => DLDataTypeCode::kDLUInt,
        DType::Float16 | DType::Float32 | DType::Float64 => DLDataTypeCode::kDLFloat,
        DType::BFloat16 => DLDataTypeCode::kDLBfloat,
    };
    DLDataType { code: code.0 as u8, bits: 8 * dtype.size() as u8, lanes: 1 }
}
