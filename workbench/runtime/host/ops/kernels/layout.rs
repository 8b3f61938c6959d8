//! Elements of tensors side by side: how a kernel finds them.

use std::cmp::Reverse;

use smallvec::SmallVec;

use super::super::super::array::HostTensor;
use super::compiled::int;
use crate::back::RawArg;

/// Most dimensions that kernels walk.
const DIMS: usize = 3;

/// Most elements of a launch, whose last block may have threads without any.
pub const MOST: i64 = i32::MAX as i64 - 1024;

/// A dimension: its extent, and the stride of each tensor in it.
#[derive(Debug, Clone, PartialEq)]
struct Dim {
    extent: i64,
    strides: SmallVec<[i64; 4]>,
}

/// The dimensions of tensors side by side, as few as their strides allow, the innermost first.
#[derive(Debug, PartialEq)]
pub struct Layout {
    dims: SmallVec<[Dim; DIMS]>,
}

/// A stride as a text has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    None,
    One,
    /// A number that the launch gives.
    Given,
}

impl Step {
    fn of(stride: i64) -> Self {
        match stride {
            0 => Step::None,
            1 => Step::One,
            _ => Step::Given,
        }
    }
}

impl Layout {
    /// The layout of tensors that broadcast to the shape of the first; its elements are walked in their order in memory. `None` where that has
    /// more dimensions or larger numbers than kernels take.
    pub fn of(tensors: &[&HostTensor]) -> Option<Self> {
        let first = tensors.first()?;
        let mut order: SmallVec<[usize; 5]> = (0..first.dim()).filter(|&d| first.shape()[d] != 1).collect();
        order.sort_by_key(|&d| Reverse(first.strides()[d]));
        let mut dims: SmallVec<[Dim; DIMS]> = SmallVec::new();
        for d in order {
            let stride = |t: &&HostTensor| {
                let own = (d + t.dim()).checked_sub(first.dim()).filter(|&own| t.shape()[own] != 1);
                own.map_or(0, |own| t.strides()[own])
            };
            let next = Dim { extent: first.shape()[d], strides: tensors.iter().map(stride).collect() };
            match dims.last_mut() {
                Some(outer)
                    if outer.strides.iter().zip(&next.strides).all(|(outer, inner)| *outer == inner * next.extent) =>
                {
                    *outer = Dim { extent: outer.extent * next.extent, ..next };
                }
                _ => dims.push(next),
            }
        }
        dims.reverse();
        let layout = Layout { dims };
        let fits = layout.dims.len() <= DIMS
            && layout.count() <= MOST
            && (0..tensors.len()).all(|t| layout.last(t) < i64::from(i32::MAX));
        (fits && !layout.dims.is_empty()).then_some(layout)
    }

    /// The number of elements.
    pub fn count(&self) -> i64 {
        self.dims.iter().map(|dim| dim.extent).product()
    }

    /// The place of a tensor's last element, from its first.
    pub fn last(&self, tensor: usize) -> i64 {
        self.dims.iter().map(|dim| (dim.extent - 1) * dim.strides[tensor]).sum()
    }

    /// The strides of a tensor, the innermost first.
    pub fn strides(&self, tensor: usize) -> SmallVec<[i64; DIMS]> {
        self.dims.iter().map(|dim| dim.strides[tensor]).collect()
    }

    /// The extents, the innermost first.
    pub fn extents(&self) -> SmallVec<[i64; DIMS]> {
        self.dims.iter().map(|dim| dim.extent).collect()
    }

    /// A number for the text's form: two texts of one number are the same.
    pub fn form(&self) -> u64 {
        let steps = self.dims.iter().flat_map(|dim| &dim.strides).map(|stride| Step::of(*stride) as u64);
        steps.fold(self.dims.len() as u64, |form, step| form << 2 | step)
    }

    /// The statements that find the places of an element `i` of all, and the parameters of extents for them.
    pub fn places(&self) -> (&'static str, &'static str) {
        match self.dims.len() {
            1 => ("int i0 = i;", ""),
            2 => ("int i0 = i % n0; int i1 = i / n0;", ", int n0"),
            _ => ("int i0 = i % n0; int r = i / n0; int i1 = r % n1; int i2 = r / n1;", ", int n0, int n1"),
        }
    }

    /// The expression for a tensor's place, and the parameters of its strides.
    pub fn place(&self, tensor: usize, name: char) -> (String, String) {
        let (mut place, mut params) = (String::new(), String::new());
        for (d, stride) in self.strides(tensor).into_iter().enumerate() {
            let term = match Step::of(stride) {
                Step::None => continue,
                Step::One => format!("i{d}"),
                Step::Given => {
                    params.push_str(&format!(", int {name}{d}"));
                    format!("i{d} * {name}{d}")
                }
            };
            if !place.is_empty() {
                place.push_str(" + ");
            }
            place.push_str(&term);
        }
        if place.is_empty() {
            place.push('0');
        }
        (place, params)
    }

    /// The arguments for the parameters of [`Layout::places`].
    pub fn extent_args(&self) -> impl Iterator<Item = RawArg> {
        let dims = self.dims.len();
        self.extents().into_iter().take(dims - 1).map(int)
    }

    /// The arguments for the parameters of [`Layout::place`].
    pub fn stride_args(&self, tensor: usize) -> impl Iterator<Item = RawArg> {
        self.strides(tensor).into_iter().filter(|stride| Step::of(*stride) == Step::Given).map(int)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::array::{DeviceTag, HostTensor};
    use super::*;
    use crate::runtime::DType;

    fn tensor(shape: &[i64]) -> HostTensor {
        HostTensor::new(DType::Float32, shape, DeviceTag::CPU, true).unwrap()
    }

    fn swapped(t: &HostTensor) -> HostTensor {
        t.viewed(t.shape().iter().rev().copied().collect(), t.strides().iter().rev().copied().collect(), t.offset())
    }

    #[test]
    fn dimensions_are_merged_where_strides_allow() {
        let (a, row, column, one) = (tensor(&[4, 5, 6]), tensor(&[6]), tensor(&[5, 1]), tensor(&[]));
        let found = |tensors: &[&HostTensor]| {
            let layout = Layout::of(tensors).unwrap();
            let strides: Vec<Vec<i64>> = (0..tensors.len()).map(|t| layout.strides(t).to_vec()).collect();
            (layout.extents().to_vec(), strides)
        };
        assert_eq!(found(&[&a, &a]), (vec![120], vec![vec![1], vec![1]]));
        assert_eq!(found(&[&a, &a, &one]), (vec![120], vec![vec![1], vec![1], vec![0]]));
        assert_eq!(found(&[&a, &row]), (vec![6, 20], vec![vec![1, 6], vec![1, 0]]));
        assert_eq!(found(&[&a, &column]), (vec![6, 5, 4], vec![vec![1, 6, 30], vec![0, 1, 0]]));
        // The result's order is walked: a transposed one with a transposed operand is one run.
        let b = tensor(&[6, 5, 4]);
        assert_eq!(found(&[&swapped(&b), &swapped(&b)]), (vec![120], vec![vec![1], vec![1]]));
        assert_eq!(found(&[&swapped(&b), &a]), (vec![4, 5, 6], vec![vec![1, 4, 20], vec![30, 6, 1]]));
        // A view of every second row.
        let half = a.viewed([2, 5, 6].into_iter().collect(), [60, 6, 1].into_iter().collect(), 0);
        assert_eq!(found(&[&half, &half]).0, [30, 2]);
        assert_eq!(Layout::of(&[&half]).unwrap().last(0), 60 + 29);
    }

    #[test]
    fn places_are_written_as_their_strides_are() {
        let (a, column) = (tensor(&[4, 5, 6]), tensor(&[5, 1]));
        let layout = Layout::of(&[&a, &column]).unwrap();
        assert_eq!(layout.place(0, 'a'), ("i0 + i1 * a1 + i2 * a2".to_owned(), ", int a1, int a2".to_owned()));
        assert_eq!(layout.place(1, 'b'), ("i1".to_owned(), String::new()));
        // One number for one text.
        let other = Layout::of(&[&tensor(&[7, 3, 8]), &tensor(&[3, 1])]).unwrap();
        assert_eq!(layout.form(), other.form());
        assert_ne!(layout.form(), Layout::of(&[&a, &tensor(&[5, 6])]).unwrap().form());
    }
}
