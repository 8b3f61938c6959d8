//! The windows of a convolution as the columns of a matrix (*im2col*), which makes it a product of matrices, and the sums of such columns back
//! into the input (*col2im*). Where a window reaches past the input there are zeros.

use std::ops::Range;

use ndarray::{ArrayView2, LinalgScalar};

use super::super::work::{reserved, ticks};

/// Elements of a band of columns: what the second cache holds.
const BAND: usize = 1 << 17;

/// A dimension of a convolution.
#[derive(Debug, Clone, Copy)]
pub struct Along {
    /// The extents of input, kernel and result.
    pub input: usize,
    pub kernel: usize,
    pub result: usize,
    pub stride: i64,
    pub padding: i64,
    pub dilation: i64,
}

impl Along {
    /// The place in the input that an element of the result and one of the kernel meet at, if the result's were the first.
    fn shift(&self, kernel: usize) -> i64 {
        kernel as i64 * self.dilation - self.padding
    }

    /// The elements of the result which an element of the kernel meets the input for.
    fn met(&self, kernel: usize) -> Range<usize> {
        let shift = self.shift(kernel);
        let up_to = |place: i64| (place - shift + self.stride - 1).div_euclid(self.stride).clamp(0, self.result as i64);
        up_to(0) as usize..up_to(self.input as i64) as usize
    }

    /// The place in the input; there has to be one.
    fn place(&self, result: usize, kernel: usize) -> usize {
        (result as i64 * self.stride + self.shift(kernel)) as usize
    }
}

/// The windows of some planes.
#[derive(Debug, Clone, Copy)]
pub struct Windows {
    /// The planes that a window goes through.
    pub channels: usize,
    pub rows: Along,
    pub columns: Along,
}

impl Windows {
    /// The elements of a window: the rows of the matrix.
    pub fn size(&self) -> usize {
        self.channels * self.rows.kernel * self.columns.kernel
    }

    /// Bands of rows of the result, whose columns are made at once.
    pub fn bands(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (all, step) = (self.rows.result, (BAND / (self.size() * self.columns.result).max(1)).max(1));
        (0..all).step_by(step).map(move |first| first..all.min(first + step))
    }

    /// Calls a closure for each row of the kernel and of a band: the row of the matrix it belongs to, its first column, the elements of the
    /// result that meet the input, and the place in the planes of the first of these.
    fn pieces(&self, band: &Range<usize>, mut each: impl FnMut(usize, usize, Range<usize>, usize)) {
        let (rows, columns) = (&self.rows, &self.columns);
        let mut row = 0;
        for channel in 0..self.channels {
            for i in 0..rows.kernel {
                let inside = rows.met(i);
                for j in 0..columns.kernel {
                    let met = columns.met(j);
                    for at in band.clone().filter(|at| inside.contains(at) && !met.is_empty()) {
                        let plane = (channel * rows.input + rows.place(at, i)) * columns.input;
                        let first = (at - band.start) * columns.result;
                        each(row, first, met.clone(), plane + columns.place(met.start, j));
                    }
                    ticks((met.len() + 8) * band.len() / 8);
                    row += 1;
                }
            }
        }
    }

    /// The windows of a band, each a column of the matrix.
    pub fn columns<T: LinalgScalar>(&self, planes: &[T], band: &Range<usize>) -> Vec<T> {
        let width = band.len() * self.columns.result;
        let mut made: Vec<T> = reserved(self.size() * width);
        made.resize(self.size() * width, T::zero());
        let stride = self.columns.stride as usize;
        self.pieces(band, |row, first, met, from| {
            let to = &mut made[row * width + first..][met.clone()];
            match stride {
                1 => to.copy_from_slice(&planes[from..from + met.len()]),
                _ => to.iter_mut().zip(planes[from..].iter().step_by(stride)).for_each(|(to, x)| *to = *x),
            }
        });
        made
    }

    /// Adds each element of the columns of a band to the place that it was read from.
    pub fn add<T: LinalgScalar>(&self, columns: &ArrayView2<'_, T>, band: &Range<usize>, planes: &mut [T]) {
        let stride = self.columns.stride as usize;
        self.pieces(band, |row, first, met, to| {
            let from = columns.row(row);
            let to = planes[to..].iter_mut().step_by(stride);
            to.zip(from.iter().skip(first + met.start).take(met.len())).for_each(|(to, x)| *to = *to + *x);
        });
    }
}
