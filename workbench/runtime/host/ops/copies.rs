//! Copies of tensors' elements.

use super::super::answer::Answer;
use super::super::array::{DeviceTag, HostTensor};
use super::super::work;
use super::broadcast::broadcast;
use super::kernels;
use super::wide::{Wide, may_write};
use crate::runtime::DType;

/// True if two tensors' storages have bytes in common.
fn overlaps(a: &HostTensor, b: &HostTensor) -> bool {
    let range = |t: &HostTensor| (t.storage().ptr() as usize, t.storage().ptr() as usize + t.storage().bytes());
    let ((a, a_end), (b, b_end)) = (range(a), range(b));
    a < b_end && b < a_end
}

/// Writes a tensor's elements into one of a shape that they broadcast to, converted to its type.
///
/// # Errors
/// As [`Wide::write`].
pub fn written(from: &HostTensor, to: &HostTensor) -> Answer<()> {
    if to.numel() > 0 && broadcast(from.shape(), to.shape()).is_ok_and(|shape| shape == to.shape()) {
        may_write(to)?;
        // Elements of the same memory are taken out of it first.
        if !overlaps(from, to)
            && let Some(done) = kernels::copy(from, to)
        {
            return done;
        }
    }
    Wide::of(from).write(to)
}

/// A copy, contiguous, of an element type, on a device.
///
/// # Errors
/// `MemoryError`.
pub fn copied(t: &HostTensor, dtype: DType, device: DeviceTag) -> Answer<HostTensor> {
    let made = HostTensor::unfilled(dtype, t.shape(), device)?;
    if t.numel() > 0 && t.dtype() == dtype && t.is_contiguous() {
        let bytes = t.numel() as usize * dtype.size();
        // SAFETY: both are contiguous and hold as many bytes; no other code has the new one.
        let (from, to) =
            unsafe { (std::slice::from_raw_parts(t.ptr(), bytes), std::slice::from_raw_parts_mut(made.ptr(), bytes)) };
        for (from, to) in from.chunks(work::PERIOD).zip(to.chunks_mut(work::PERIOD)) {
            to.copy_from_slice(from);
            // A piece takes as long as a few elements that are computed with.
            work::ticks(work::PERIOD / 16);
        }
        return Ok(made);
    }
    written(t, &made)?;
    Ok(made)
}
