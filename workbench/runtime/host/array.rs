//! Tensors: strided views of shared memory.

use std::alloc::{self, Layout};
use std::any::Any;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use memmap2::{MmapMut, MmapOptions};
use smallvec::SmallVec;

use super::answer::Answer;
use super::{memory_limit, work};
use crate::back::Exception;
use crate::back::cpu::HostMemory;
use crate::ir::POISON;
use crate::runtime::DType;

/// Most bytes of a tensor or allocation: a larger size is a mistake.
pub const MAX_BYTES: usize = 1 << 40;

/// Extents or strides.
pub type Dims = SmallVec<[i64; 5]>;

/// The device that a tensor says it is on. Its memory is the host's either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTag {
    /// True for `cuda`, false for `cpu`.
    pub is_cuda: bool,
    /// The number of the device; -1: none said.
    pub index: i8,
}

impl DeviceTag {
    /// The CPU.
    pub const CPU: DeviceTag = DeviceTag { is_cuda: false, index: -1 };
    /// The first GPU.
    pub const CUDA: DeviceTag = DeviceTag { is_cuda: true, index: 0 };

    /// The number of it, as services give it.
    pub fn number(self) -> i64 {
        i64::from(self.is_cuda) | (i64::from(self.index) + 1) << 8
    }
}

impl std::fmt::Display for DeviceTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_cuda { "cuda" } else { "cpu" })?;
        if self.index >= 0 { write!(f, ":{}", self.index) } else { Ok(()) }
    }
}

/// The owner of memory that is lent to a call, so that results that are views of it are found again: any number of the
/// caller's.
pub type Lender = u32;

thread_local! {
    /// True while new storage on this thread is address space alone, for calls of which only the shapes are wanted.
    static HOLLOW: Cell<bool> = const { Cell::new(false) };
}

/// The contents of tensors that stand for others of their shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// Numbers from -1 to 3 in no order.
    Mixed,
}

impl Fill {
    /// The number of an element.
    fn number(self, i: usize) -> f32 {
        match self {
            Fill::Zeros => 0.0,
            Fill::Ones => 1.0,
            // Multiplication by the golden ratio's bits spreads neighbouring numbers.
            Fill::Mixed => ((i as u32 + 1).wrapping_mul(0x9e37_79b9) >> 16) as f32 / 16_384.0 - 1.0,
        }
    }
}

/// Storage from this many bytes on is address space alone where nothing is to be computed.
const HOLLOW_BYTES: usize = 1 << 16;

/// Zeros from this many bytes on are fresh pages of the system's, which take no memory until they are written; smaller ones are in memory
/// that was used before, which is quicker to clear than pages are to fetch.
const UNTOUCHED_BYTES: usize = 256 << 20;

/// Runs a function during which new storage takes no memory until it is written.
pub fn hollowly<R>(run: impl FnOnce() -> R) -> R {
    let before = HOLLOW.replace(true);
    let result = run();
    HOLLOW.set(before);
    result
}

/// Memory that tensors share.
pub struct Storage {
    ptr: *mut u8,
    bytes: usize,
    writable: bool,
    lender: Option<Lender>,
    /// Memory of the running call, not to outlive it; with the storage it lies in, if that is a tensor's.
    borrowed: Option<Option<Arc<Storage>>>,
    /// The storage whose memory it is, to be read only.
    sealed: Option<Arc<Storage>>,
    /// The mapping whose memory it is.
    map: Option<MmapMut>,
    /// The owner that keeps the memory, where it is the notebook's.
    owner: Option<Arc<dyn Any + Send + Sync>>,
    /// The calls of host code that it is lent to, once they have asked for an address.
    seen: Mutex<SmallVec<[Weak<HostMemory>; 1]>>,
}

// SAFETY: the pointer is an address; the call that holds it decides which threads read and write there.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

/// The alignment of storage, the same as torch's.
const ALIGN: usize = 64;

impl Storage {
    /// New memory, filled with zeros or with the poison pattern.
    ///
    /// # Errors
    /// `MemoryError` when there is none.
    pub fn new(bytes: usize, zeroed: bool) -> Answer<Arc<Self>> {
        Storage::filled(bytes, Some(if zeroed { 0 } else { POISON }))
    }

    /// New memory, filled with a byte, or left to be written.
    fn filled(bytes: usize, byte: Option<u8>) -> Answer<Arc<Self>> {
        let zeroed = byte == Some(0);
        let failed = || (Exception::Memory, format!("no memory for a tensor of {bytes} bytes"));
        let layout = Layout::from_size_align(bytes.max(1), ALIGN).map_err(|_| failed())?;
        if bytes > MAX_BYTES {
            return Err(failed());
        }
        let is_hollow = HOLLOW.get() && bytes >= HOLLOW_BYTES;
        if !is_hollow && !memory_limit::has(bytes) {
            return Err(failed());
        }
        if is_hollow || zeroed && bytes >= UNTOUCHED_BYTES {
            let mut options = MmapOptions::new();
            let options = if is_hollow { options.len(bytes).no_reserve_swap() } else { options.len(bytes) };
            let mut map = options.map_anon().map_err(|_| failed())?;
            return Ok(Arc::new(Storage {
                ptr: map.as_mut_ptr(),
                bytes,
                writable: true,
                lender: None,
                borrowed: None,
                sealed: None,
                map: Some(map),
                owner: None,
                seen: Mutex::default(),
            }));
        }
        // SAFETY: the layout's size is not 0.
        let ptr = unsafe { alloc::alloc(layout) };
        if ptr.is_null() {
            return Err(failed());
        }
        let made = Arc::new(Storage {
            ptr,
            bytes,
            writable: true,
            lender: None,
            borrowed: None,
            sealed: None,
            map: None,
            owner: None,
            seen: Mutex::default(),
        });
        if let Some(byte) = byte {
            // SAFETY: that many bytes are there, and no other code has them.
            work::fill(unsafe { std::slice::from_raw_parts_mut(ptr.cast(), bytes) }, byte);
        }
        Ok(made)
    }

    /// Memory that another owner lends.
    ///
    /// # Safety
    /// It stays where it is for as long as anything made from this does.
    pub unsafe fn lent(ptr: *mut u8, bytes: usize, writable: bool, lender: Lender) -> Arc<Self> {
        Arc::new(Storage {
            ptr,
            bytes,
            writable,
            lender: Some(lender),
            borrowed: None,
            sealed: None,
            map: None,
            owner: None,
            seen: Mutex::default(),
        })
    }

    /// Memory of the notebook's that `owner` keeps.
    ///
    /// # Safety
    /// It stays where it is for as long as `owner` is there.
    pub unsafe fn owned(ptr: *mut u8, bytes: usize, writable: bool, owner: Arc<dyn Any + Send + Sync>) -> Arc<Self> {
        Arc::new(Storage {
            ptr,
            bytes,
            writable,
            lender: None,
            borrowed: None,
            sealed: None,
            map: None,
            owner: Some(owner),
            seen: Mutex::default(),
        })
    }

    /// Memory of the running call: its own, or part of a tensor's.
    ///
    /// # Safety
    /// It stays where it is until the call ends, or for as long as `within` does.
    pub unsafe fn borrowed(ptr: *mut u8, bytes: usize, writable: bool, within: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Storage {
            ptr,
            bytes,
            writable,
            lender: None,
            borrowed: Some(within),
            sealed: None,
            map: None,
            owner: None,
            seen: Mutex::default(),
        })
    }

    /// The same memory, to be read only.
    pub fn sealed(self: &Arc<Self>) -> Arc<Self> {
        Arc::new(Storage {
            ptr: self.ptr,
            bytes: self.bytes,
            writable: false,
            lender: self.lender,
            borrowed: self.borrowed.clone(),
            sealed: Some(self.clone()),
            map: None,
            owner: None,
            seen: Mutex::default(),
        })
    }

    /// True if the memory ends with the running call.
    pub fn is_borrowed(&self) -> bool {
        self.borrowed.is_some()
    }

    /// First byte.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The lender, when it was lent.
    pub fn lender(&self) -> Option<Lender> {
        self.lender
    }

    /// The owner that keeps the memory, where it is the notebook's.
    pub fn owner(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.owner.as_ref().or_else(|| self.sealed.as_ref()?.owner())
    }

    /// True if it may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Makes the storage known to the pointers of a call of host code.
    pub fn show(&self, memory: &Arc<HostMemory>, name: &str, dtype: DType) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(memory))) {
            return;
        }
        seen.retain(|known| known.strong_count() > 0);
        memory.lend(self.ptr as u64, self.bytes as u64, self.writable, name, dtype.scalar());
        seen.push(Arc::downgrade(memory));
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let seen = self.seen.get_mut().unwrap_or_else(PoisonError::into_inner);
        for memory in seen.iter().filter_map(Weak::upgrade) {
            memory.take_back(self.ptr as u64);
        }
        if self.lender.is_none()
            && self.borrowed.is_none()
            && self.sealed.is_none()
            && self.map.is_none()
            && self.owner.is_none()
            && let Ok(layout) = Layout::from_size_align(self.bytes.max(1), ALIGN)
        {
            // SAFETY: the memory was allocated in `new` with this layout.
            unsafe { alloc::dealloc(self.ptr, layout) };
        }
    }
}

/// A tensor: a strided view of storage.
#[derive(Clone)]
pub struct HostTensor {
    storage: Arc<Storage>,
    dtype: DType,
    shape: Dims,
    /// The strides in elements, as torch's.
    strides: Dims,
    /// The first element's place in the storage, in elements.
    offset: i64,
    device: DeviceTag,
    /// Its number on the tape of the call that records gradients; 0: none.
    variable: u32,
}

impl std::fmt::Debug for HostTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostTensor({}, {:?}, {})", self.dtype, self.shape, self.device)
    }
}

/// The strides of a contiguous tensor.
pub fn contiguous_strides(shape: &[i64]) -> Dims {
    let mut strides: Dims = SmallVec::from_elem(1, shape.len());
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(shape[i].max(1));
    }
    strides
}

/// The number of elements of a shape.
///
/// # Errors
/// `RuntimeError` for negative extents and for too many elements.
pub fn count(shape: &[i64]) -> Answer<i64> {
    if let Some(d) = shape.iter().find(|d| **d < 0) {
        let message = format!("Trying to create tensor with negative dimension {d}: {shape:?}");
        return Err((Exception::Runtime, message));
    }
    if shape.contains(&0) {
        return Ok(0);
    }
    let all = shape.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
    all.ok_or_else(|| (Exception::Memory, format!("a tensor of shape {shape:?} has too many elements")))
}

impl HostTensor {
    /// A contiguous tensor of zeros or of poison.
    ///
    /// # Errors
    /// As [`count`] and [`Storage::new`].
    pub fn new(dtype: DType, shape: &[i64], device: DeviceTag, zeroed: bool) -> Answer<Self> {
        let bytes = (count(shape)? as usize).checked_mul(dtype.size());
        let too_large = || (Exception::Memory, format!("a tensor of shape {shape:?} is too large"));
        let storage = Storage::new(bytes.ok_or_else(too_large)?, zeroed)?;
        Ok(HostTensor::view(storage, dtype, shape.into(), contiguous_strides(shape), 0, device))
    }

    /// A contiguous tensor whose elements are all about to be written.
    ///
    /// # Errors
    /// As [`count`] and [`Storage::new`].
    pub fn unfilled(dtype: DType, shape: &[i64], device: DeviceTag) -> Answer<Self> {
        let bytes = (count(shape)? as usize).checked_mul(dtype.size());
        let too_large = || (Exception::Memory, format!("a tensor of shape {shape:?} is too large"));
        let storage = Storage::filled(bytes.ok_or_else(too_large)?, None)?;
        Ok(HostTensor::view(storage, dtype, shape.into(), contiguous_strides(shape), 0, device))
    }

    /// A contiguous tensor of zeros, or one that begins with the numbers that `fill` says.
    ///
    /// # Errors
    /// As [`HostTensor::new`].
    pub fn filled(dtype: DType, shape: &[i64], device: DeviceTag, fill: Fill) -> Answer<Self> {
        let made = HostTensor::new(dtype, shape, device, true)?;
        // The first pages of a large tensor will do.
        let first = made.storage.bytes.min(HOLLOW_BYTES);
        if fill != Fill::Zeros {
            // SAFETY: the storage is its own, no other code has seen it, and so many bytes are there.
            let bytes = unsafe { std::slice::from_raw_parts_mut(made.storage.ptr, first) };
            for (i, element) in bytes.chunks_exact_mut(dtype.size()).enumerate() {
                dtype.write(element, fill.number(i));
            }
        }
        Ok(made)
    }

    /// A view of storage; extents, strides and offset stay within it.
    pub fn view(
        storage: Arc<Storage>,
        dtype: DType,
        shape: Dims,
        strides: Dims,
        offset: i64,
        device: DeviceTag,
    ) -> Self {
        HostTensor { storage, dtype, shape, strides, offset, device, variable: 0 }
    }

    /// Another view of the same storage.
    pub fn viewed(&self, shape: Dims, strides: Dims, offset: i64) -> Self {
        HostTensor { shape, strides, offset, variable: 0, ..self.clone() }
    }

    /// The same, to be read only.
    pub fn sealed(mut self) -> Self {
        self.storage = self.storage.sealed();
        self
    }

    /// The same tensor with another device tag.
    pub fn on(mut self, device: DeviceTag) -> Self {
        self.device = device;
        self
    }

    /// The same with a number on a tape; 0: none.
    pub(super) fn numbered(mut self, variable: u32) -> Self {
        self.variable = variable;
        self
    }

    /// Its number on the tape of the call that records gradients; 0: none.
    pub(super) fn variable(&self) -> u32 {
        self.variable
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The strides, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The first element's place in the storage, in elements.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The device it says it is on.
    pub fn device(&self) -> DeviceTag {
        self.device
    }

    /// The memory.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The number of dimensions.
    pub fn dim(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn numel(&self) -> i64 {
        self.shape.iter().product()
    }

    /// The address of the first element; null when there is none.
    pub fn ptr(&self) -> *mut u8 {
        if self.numel() == 0 {
            return std::ptr::null_mut();
        }
        // The address lies within the storage, which every view stays in.
        self.storage.ptr.wrapping_offset((self.offset * self.dtype.size() as i64) as isize)
    }

    /// True if the elements lie one after the other in row-major order; extents of 1 have any stride.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.numel() == 0
            || self.shape.iter().zip(&self.strides).rev().all(|(&n, &s)| {
                let fits = n == 1 || s == expected;
                expected *= n;
                fits
            })
    }

    /// True if the elements fill the memory from the first to the last without gaps or overlaps, in whatever order of
    /// dimensions.
    pub fn is_dense(&self) -> bool {
        let mut order: Vec<usize> = (0..self.dim()).filter(|&d| self.shape[d] != 1).collect();
        order.sort_by_key(|&d| self.strides[d]);
        let mut expected = 1;
        self.numel() == 0
            || order.into_iter().all(|d| {
                let fits = self.strides[d] == expected;
                expected *= self.shape[d];
                fits
            })
    }

    /// A new tensor, of zeros, of the same shape; its dimensions lie in the same order where that is dense, as torch keeps it.
    ///
    /// # Errors
    /// As [`HostTensor::new`].
    pub fn new_like(&self, dtype: DType, device: DeviceTag) -> Answer<Self> {
        HostTensor::new(dtype, &self.shape, device, true).map(|made| made.ordered_as(self))
    }

    /// This contiguous tensor's memory with the dimensions in the order of another of the same shape, where that is dense.
    pub fn ordered_as(self, like: &HostTensor) -> Self {
        if self.shape == like.shape && !like.is_contiguous() && like.is_dense() {
            self.viewed(like.shape.clone(), like.strides.clone(), 0)
        } else {
            self
        }
    }

    /// A dimension's number, negative ones counted from the end.
    ///
    /// # Errors
    /// `IndexError`, as torch words it.
    pub fn axis(&self, i: i64) -> Answer<usize> {
        axis(i, self.dim())
    }
}

/// A dimension's number among so many.
///
/// # Errors
/// `IndexError`, as torch words it.
pub fn axis(i: i64, dims: usize) -> Answer<usize> {
    let n = dims.max(1) as i64;
    if i < -n || i >= n {
        let message = format!("Dimension out of range (expected to be in range of [{}, {}], but got {i})", -n, n - 1);
        return Err((Exception::Index, message));
    }
    Ok(if i < 0 { i + n } else { i } as usize)
}
