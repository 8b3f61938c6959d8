//! Gradients of views, by the places of their elements.

use super::{Answer, HostTensor, Value, op, reshaped, tensor};
use crate::back::Exception;
use crate::runtime::host::array::Dims;
use crate::runtime::host::ops::run;

/// The places of a tensor's elements in its memory.
#[derive(Clone)]
pub struct ElementPlaces {
    /// Its extents.
    pub shape: Dims,
    /// The distances between neighbouring elements in each dimension.
    pub strides: Dims,
    /// The place of its first element.
    pub offset: i64,
}

impl ElementPlaces {
    /// The places of a tensor's elements.
    pub fn of(tensor: &HostTensor) -> Self {
        ElementPlaces { shape: tensor.shape().into(), strides: tensor.strides().into(), offset: tensor.offset() }
    }

    /// The distance of its last element from its first.
    pub fn reach(&self) -> i64 {
        self.shape.iter().zip(&self.strides).map(|(n, s)| (n - 1).max(0) * s).sum()
    }

    /// True if two of its elements may lie at one place: a dimension begins before those within it end.
    fn overlaps(&self) -> bool {
        let mut dims: Vec<(i64, i64)> = self.strides.iter().copied().zip(self.shape.iter().copied()).collect();
        dims.retain(|(_, n)| *n > 1);
        dims.sort_unstable();
        let mut reached = 0;
        dims.into_iter().any(|(stride, n)| {
            let is_within = stride <= reached;
            reached += (n - 1) * stride;
            is_within
        })
    }
}

/// The gradient of a whole from the gradient of a part of it: each element gets the sum of those that lie on it.
///
/// # Errors
/// A part that reaches beyond the whole, or a whole whose elements lie on each other.
pub fn of_whole(grad: &HostTensor, whole: &ElementPlaces, part: &ElementPlaces) -> Answer<HostTensor> {
    let device = grad.device();
    if grad.numel() == 0 {
        return HostTensor::new(grad.dtype(), &whole.shape, device, true);
    }
    let from = part.offset - whole.offset;
    if whole.overlaps() || from < 0 || from + part.reach() > whole.reach() {
        let message = "a gradient comes to a view that reaches beyond what it is a view of, or to a view of a tensor \
                       whose elements lie on each other: make the view of a tensor that is `contiguous()`";
        return Err((Exception::Runtime, message.to_owned()));
    }
    let end = whole.reach() + 1;
    let line = tensor(run("arange", vec![Value::Int(0), Value::Int(end), Value::Int(1)], device)?)?;
    let places = Value::Tensor(line.viewed(part.shape.clone(), part.strides.clone(), from));
    let buffer = Value::Tensor(HostTensor::new(grad.dtype(), &[end], device, true)?);
    let [places, grad] = [places, Value::Tensor(grad.clone())].map(|t| reshaped(&t, &[-1]));
    let sum = tensor(op("index_add", vec![buffer, Value::Int(0), places?, grad?])?)?;
    Ok(sum.viewed(whole.shape.clone(), whole.strides.clone(), 0))
}
