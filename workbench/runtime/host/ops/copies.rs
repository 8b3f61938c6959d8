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

/// Bytes up to which a copy on one thread is as fast as one on all.
const FEW: usize = 1 << 18;

/// Bytes that lie side by side from which copying them at once pays.
const RUN: usize = 64;

/// Copies few elements that lie in long runs on both sides, as those of a view of rows; false where it is not done, since they are many, or
/// short runs, or of another type or shape. The two have no memory in common.
fn copy_in_runs(from: &HostTensor, to: &HostTensor) -> bool {
    let (size, count) = (to.dtype().size(), to.numel());
    if from.dtype() != to.dtype() || from.shape() != to.shape() || count as usize * size > FEW {
        return false;
    }
    // The last dimensions, in which the elements lie side by side on both sides.
    let mut run = 1;
    let mut outer = to.dim();
    while outer > 0 {
        let (extent, strides) = (to.shape()[outer - 1], (from.strides()[outer - 1], to.strides()[outer - 1]));
        if extent != 1 && strides != (run, run) {
            break;
        }
        run *= extent;
        outer -= 1;
    }
    let bytes = run as usize * size;
    if bytes < RUN {
        return false;
    }
    let shape = &to.shape()[..outer];
    let mut index = vec![0i64; outer];
    for _ in 0..count / run {
        let place = |t: &HostTensor| {
            let elements: i64 = index.iter().zip(t.strides()).map(|(i, stride)| i * stride).sum();
            t.ptr().wrapping_offset(elements as isize * size as isize)
        };
        // SAFETY: both places are of a run of the tensors' elements, which lie in their storages and have no byte in common; no other code
        // of this call runs meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(place(from).cast_const(), place(to), bytes) };
        // A piece takes as long as a few elements that are computed with.
        work::ticks(bytes / 16 + 1);
        for (i, extent) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
    }
    true
}

/// Writes a tensor's elements into one of a shape that they broadcast to, converted to its type.
///
/// # Errors
/// As [`Wide::write`].
pub fn written(from: &HostTensor, to: &HostTensor) -> Answer<()> {
    if to.numel() > 0 && broadcast(from.shape(), to.shape()).is_ok_and(|shape| shape == to.shape()) {
        may_write(to)?;
        // Elements of the same memory are taken out of it first.
        if !overlaps(from, to) {
            if copy_in_runs(from, to) {
                return Ok(());
            }
            if let Some(done) = kernels::copy(from, to) {
                return done;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A tensor of bytes that count up from `from`, contiguous.
    fn counted(dtype: DType, shape: &[i64], from: usize) -> HostTensor {
        let made = HostTensor::unfilled(dtype, shape, DeviceTag::CPU).expect("memory");
        for i in 0..made.numel() as usize * dtype.size() {
            // SAFETY: within the new tensor.
            unsafe { *made.ptr().add(i) = (from + i) as u8 };
        }
        made
    }

    fn bytes(t: &HostTensor) -> Vec<u8> {
        // SAFETY: `counted` made it contiguous, of so many bytes.
        unsafe { std::slice::from_raw_parts(t.ptr(), t.numel() as usize * t.dtype().size()) }.to_vec()
    }

    /// Some of the planes, rows and columns of a tensor of three dimensions: (start, length, step) of each.
    fn cut(t: &HostTensor, ranges: [(i64, i64, i64); 3]) -> HostTensor {
        let starts = ranges.iter().zip(t.strides()).map(|((start, _, _), stride)| start * stride);
        let shape = ranges.iter().map(|range| range.1).collect::<Vec<_>>();
        let strides = ranges.iter().zip(t.strides()).map(|(range, stride)| range.2 * stride).collect::<Vec<_>>();
        t.viewed(shape.as_slice().into(), strides.as_slice().into(), t.offset() + starts.sum::<i64>())
    }

    #[test]
    fn runs_are_copied_as_elements_are() {
        let (all, rows, tail) = ((0, 3, 1), (0, 4, 1), (3, 70, 1));
        let layouts = [
            ([all, rows, (0, 80, 1)], true),
            ([all, rows, tail], true),
            ([all, (0, 2, 2), tail], true),
            ([(0, 1, 1), (1, 1, 1), tail], true),
            ([(0, 2, 2), (1, 3, 1), (0, 80, 1)], true),
            // Runs of one element, and of a few.
            ([all, rows, (0, 40, 2)], false),
            ([all, rows, (0, 7, 1)], false),
        ];
        for dtype in [DType::UInt8, DType::Float32] {
            for (ranges, is_copied) in layouts {
                let shape = ranges.map(|range| range.1);
                let whole = counted(dtype, &[3, 4, 80], 1);
                for (from, to) in [
                    (cut(&whole, ranges), counted(dtype, &shape, 100)),
                    (counted(dtype, &shape, 50), cut(&counted(dtype, &[3, 4, 80], 7), ranges)),
                ] {
                    // Bytes of a run have to be 64, which are 64 elements of one byte and 16 of four.
                    let run_is_long = is_copied || (dtype == DType::Float32 && shape[2] * 4 >= 64 && ranges[2].2 == 1);
                    assert_eq!(copy_in_runs(&from, &to), run_is_long, "{dtype:?} {ranges:?}");
                    if run_is_long {
                        let wanted = counted(dtype, &shape, 0);
                        Wide::of(&from).write(&wanted).unwrap();
                        let got = counted(dtype, &shape, 0);
                        Wide::of(&to).write(&got).unwrap();
                        assert_eq!(bytes(&got), bytes(&wanted), "{dtype:?} {ranges:?}");
                    }
                }
            }
        }
        let two = counted(DType::Float32, &[2, 40], 0);
        for other in [counted(DType::Int32, &[2, 40], 0), counted(DType::Float32, &[80], 0)] {
            assert!(!copy_in_runs(&two, &other));
        }
        let many = [(); 2].map(|()| counted(DType::Float32, &[(FEW / 4) as i64 + 1], 0));
        assert!(!copy_in_runs(&many[0], &many[1]));
    }
}
