//! Tensors of torch's, by their handles.

use std::ffi::c_void;

use super::abi::{Abi, StableIValue, VERSION};
use workbench::runtime::DType;

/// A reference to a tensor of torch's; given back on drop.
pub struct Handle {
    abi: &'static Abi,
    raw: *mut c_void,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: a handle that is ours.
            unsafe { (self.abi.f.delete_tensor)(self.raw) };
        }
    }
}

fn failed(what: &str) -> String {
    format!("torch does not {what}")
}

/// torch's error about a write to a tensor that has one element in several places, as an expanded one does.
const OVERLAP: &str = "unsupported operation: more than one element of the written-to tensor refers to a single memory \
                       location. Please clone() the tensor before performing the operation.";

impl Handle {
    /// A handle that torch hands over.
    pub fn owned(abi: &'static Abi, raw: StableIValue) -> Self {
        Handle { abi, raw: raw as *mut c_void }
    }

    /// The handle, handed over to torch.
    pub fn into_value(mut self) -> StableIValue {
        std::mem::replace(&mut self.raw, std::ptr::null_mut()) as StableIValue
    }

    /// The interface that it belongs to.
    pub fn abi(&self) -> &'static Abi {
        self.abi
    }

    /// Another reference to the same tensor.
    pub fn again(&self) -> Result<Handle, String> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the handle is ours, and a new one is handed over.
        match unsafe { (self.abi.f.new_tensor)(self.raw, &raw mut raw) } {
            0 => Ok(Handle { abi: self.abi, raw }),
            _ => Err(failed("hand out a tensor twice")),
        }
    }

    /// True if there is a tensor.
    pub fn is_defined(&self) -> bool {
        let mut is = false;
        // SAFETY: the handle is ours.
        !self.raw.is_null() && unsafe { (self.abi.f.is_defined)(self.raw, &raw mut is) } == 0 && is
    }

    /// A number that a function of torch's gives for the tensor.
    fn number(&self, ask: unsafe extern "C" fn(*mut c_void, *mut i32) -> i32) -> i32 {
        let mut number = -1;
        // SAFETY: the handle is ours.
        if unsafe { ask(self.raw, &raw mut number) } == 0 { number } else { -1 }
    }

    /// The element type; `None` for one that kernels do not have.
    pub fn dtype(&self) -> Option<DType> {
        self.abi.dtype_of(self.number(self.abi.f.dtype))
    }

    /// True if its memory is the host's.
    pub fn is_on_cpu(&self) -> bool {
        self.number(self.abi.f.device_type) == self.abi.cpu
    }

    /// The GPU of NVIDIA's that it lies on.
    pub fn gpu(&self) -> Option<u32> {
        let is_there = self.number(self.abi.f.device_type) == self.abi.cuda;
        is_there.then(|| u32::try_from(self.number(self.abi.f.device_index)).unwrap_or(0))
    }

    /// True if its elements lie at strides of memory: neither sparse nor of another layout.
    pub fn is_strided(&self) -> bool {
        self.number(self.abi.f.layout) == self.abi.strided
    }

    /// True if its elements lie one after another.
    pub fn is_contiguous(&self) -> bool {
        let mut is = false;
        // SAFETY: the handle is ours.
        unsafe { (self.abi.f.is_contiguous)(self.raw, &raw mut is) == 0 && is }
    }

    fn words(&self, ask: unsafe extern "C" fn(*mut c_void, *mut *const i64) -> i32) -> &[i64] {
        let (mut rank, mut words) = (0, std::ptr::null());
        // SAFETY: the handle is ours; torch lends as many words as the rank, for as long as the tensor lives.
        unsafe {
            if (self.abi.f.dim)(self.raw, &raw mut rank) != 0 || ask(self.raw, &raw mut words) != 0 || words.is_null() {
                return &[];
            }
            std::slice::from_raw_parts(words, rank.max(0) as usize)
        }
    }

    /// Extents.
    pub fn sizes(&self) -> &[i64] {
        self.words(self.abi.f.sizes)
    }

    /// Strides, in elements.
    pub fn strides(&self) -> &[i64] {
        self.words(self.abi.f.strides)
    }

    /// The first element. Memory that torch shares until it is written is not copied for reading.
    pub fn data(&self, write: bool) -> *mut u8 {
        let mut data = std::ptr::null_mut::<c_void>();
        // SAFETY: the handle is ours.
        let code = unsafe {
            match write {
                true => (self.abi.f.mutable_data)(self.raw, &raw mut data),
                false => (self.abi.f.const_data)(self.raw, (&raw mut data).cast()),
            }
        };
        if code == 0 { data.cast() } else { std::ptr::null_mut() }
    }

    /// A new contiguous tensor on a GPU, or on the CPU, with undefined contents.
    pub fn empty(abi: &'static Abi, dtype: DType, shape: &[i64], gpu: Option<u32>) -> Result<Handle, String> {
        let strides = workbench::runtime::host::contiguous_strides(shape);
        let number = abi.number(dtype).ok_or_else(|| format!("this torch has no {dtype}"))?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: there are as many extents and strides as the rank.
        let code = unsafe {
            (abi.f.empty_strided)(
                shape.len() as i64,
                shape.as_ptr(),
                strides.as_ptr(),
                number,
                if gpu.is_some() { abi.cuda } else { abi.cpu },
                gpu.map_or(0, |index| index as i32),
                &raw mut raw,
            )
        };
        match code {
            0 => Ok(Handle { abi, raw }),
            _ => Err(format!("torch has no memory for a tensor of {dtype} {shape:?}")),
        }
    }

    /// No tensor, which Python sees as None.
    pub fn undefined(abi: &'static Abi) -> Result<Handle, String> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a new handle is handed over.
        match unsafe { (abi.f.undefined)(&raw mut raw) } {
            0 => Ok(Handle { abi, raw }),
            _ => Err(failed("make an undefined tensor")),
        }
    }

    /// The tensor with its elements one after another: itself, or a copy.
    pub fn contiguous(&self) -> Result<Handle, String> {
        let mut stack = [self.again()?.into_value(), self.abi.contiguous_format as u32 as StableIValue];
        self.call(c"aten::contiguous", &mut stack)?;
        Ok(Handle::owned(self.abi, stack[0]))
    }

    /// Overwrites the elements with those of another tensor.
    pub fn copy_from(&self, from: &Handle) -> Result<(), String> {
        // torch refuses that, but its C interface does not give out the message.
        if self.sizes().iter().zip(self.strides()).any(|(&extent, &step)| extent > 1 && step == 0) {
            return Err(OVERLAP.to_owned());
        }
        let mut stack = [self.again()?.into_value(), from.again()?.into_value(), 0];
        self.call(c"aten::copy_", &mut stack)?;
        drop(Handle::owned(self.abi, stack[0]));
        Ok(())
    }

    /// A view of the same memory; the offset is from its first element, in elements.
    pub fn viewed(&self, shape: &[i64], strides: &[i64], offset: i64) -> Result<Handle, String> {
        let mut first = 0;
        // SAFETY: the handle is ours.
        if unsafe { (self.abi.f.storage_offset)(self.raw, &raw mut first) } != 0 {
            return Err(failed("say where a tensor begins"));
        }
        let list = |words: &[i64]| super::value::list(self.abi, words.iter().map(|w| Ok(*w as StableIValue)));
        let offset = self.abi.optional((first + offset) as u64);
        let mut stack = [self.again()?.into_value(), list(shape)?, list(strides)?, offset];
        self.call(c"aten::as_strided", &mut stack)?;
        Ok(Handle::owned(self.abi, stack[0]))
    }

    fn call(&self, operator: &std::ffi::CStr, stack: &mut [StableIValue]) -> Result<(), String> {
        // SAFETY: the stack holds the values of the operator's schema, handed over.
        match unsafe { (self.abi.f.call)(operator.as_ptr(), c"".as_ptr(), stack.as_mut_ptr(), VERSION) } {
            0 => Ok(()),
            _ => Err(failed(&format!("do {}", operator.to_string_lossy()))),
        }
    }
}
