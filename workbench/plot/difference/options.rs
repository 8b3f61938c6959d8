//! Options of the pictures, and the words for places in an array.

use std::sync::Arc;

use crate::bench::units;
use crate::check::compare::unravel;
use crate::check::report::index;
use crate::plot::canvas::shorten;

/// The difference that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DifferenceKind {
    /// `actual - expected`: too large and too small each have a hue.
    #[default]
    Signed,
    /// `|actual - expected|`.
    Absolute,
    /// `|actual - expected| / |expected|`; not finite where zero was expected and something else came.
    Relative,
    /// `|actual - expected| / (atol + rtol |expected|)`: an element agrees up to 1.
    Tolerance,
}

/// The way in which the depth of a colour grows with the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DepthScale {
    /// Logarithmic where a tenth of the errors is below a hundredth of the largest, else by the square root.
    #[default]
    Auto,
    /// In proportion.
    Linear,
    /// By the square root, so that small errors are visible.
    SquareRoot,
    /// By the logarithm, over at most six decades.
    Log,
}

/// The side that did not write an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeftOut {
    /// None.
    #[default]
    ByNobody,
    /// The result.
    ByResult,
    /// The thing that it is compared with, as another version of an operator.
    ByOther,
}

/// The options of the picture, and of what counts as a mismatch.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferenceOptions {
    /// The title, which names the arrays; may be empty.
    pub title: String,
    /// The thing that the differences are from, in words, such as `version 2`.
    pub against: String,
    /// The difference that is shown.
    pub kind: DifferenceKind,
    /// The scale of the colours.
    pub scale: DepthScale,
    /// The slice that is shown of an array of three and more dimensions: an index into all but the last two. Empty for all of them.
    pub slice: Vec<usize>,
    /// An element matches where `|actual - expected| <= atol + rtol * |expected|`, as in torch.testing.
    pub rtol: f64,
    /// See [`rtol`](Self::rtol).
    pub atol: f64,
    /// True if NaN matches NaN.
    pub equal_nan: bool,
    /// For each element who left it out, so that its values are no results; empty where all were written.
    pub left_out: Arc<[LeftOut]>,
    /// The names down and across an array of two dimensions, where its elements have names, as those of a Jacobian.
    pub sides: Option<[Side; 2]>,
}

/// The names along a side of an array of two dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// In words, such as `elements of x`.
    pub title: String,
    /// The name of each row, or of each column, such as `x[0, 3]`.
    pub names: Vec<String>,
}

impl Default for DifferenceOptions {
    /// torch.testing's tolerances for float32.
    fn default() -> Self {
        DifferenceOptions {
            title: String::new(),
            against: "the reference".to_owned(),
            kind: DifferenceKind::Signed,
            scale: DepthScale::Auto,
            slice: Vec::new(),
            rtol: 1.3e-6,
            atol: 1e-5,
            equal_nan: false,
            left_out: Arc::new([]),
            sides: None,
        }
    }
}

impl DifferenceOptions {
    pub(super) fn heading(&self) -> String {
        let against = &self.against;
        let kind = match self.kind {
            DifferenceKind::Signed => format!("Difference from {against}"),
            DifferenceKind::Absolute => format!("Absolute difference from {against}"),
            DifferenceKind::Relative => format!("Relative difference from {against}"),
            DifferenceKind::Tolerance => format!("Difference from {against} in tolerances"),
        };
        if self.title.is_empty() { kind } else { shorten(&self.title, 70) }
    }

    /// The sides of an array of this shape, where they are given and fit it.
    pub(super) fn sides_of(&self, shape: &[usize]) -> Option<&[Side; 2]> {
        let [rows, columns] = *shape else { return None };
        self.sides.as_ref().filter(|[down, across]| (down.names.len(), across.names.len()) == (rows, columns))
    }

    /// An element in words: by the names of its row and its column, or by its index, such as `[3, 17]`.
    pub(super) fn place(&self, flat: usize, shape: &[usize]) -> String {
        match self.sides_of(shape) {
            Some([down, across]) => {
                let columns = across.names.len();
                format!("{} by {}", down.names[flat / columns], across.names[flat % columns])
            }
            None => coordinates(flat, shape),
        }
    }

    /// Who left an element out.
    pub fn left_out(&self, flat: usize) -> LeftOut {
        self.left_out.get(flat).copied().unwrap_or_default()
    }

    /// True for an element that was written on both sides.
    pub fn is_written(&self, flat: usize) -> bool {
        self.left_out(flat) == LeftOut::ByNobody
    }

    /// An error as the picture's kind counts it.
    pub(super) fn number(&self, value: f64) -> String {
        let text = units::number(value);
        if self.kind == DifferenceKind::Tolerance { format!("{text}×") } else { text }
    }
}

/// The index of an element, such as `[3, 17]`.
pub(super) fn coordinates(flat: usize, shape: &[usize]) -> String {
    index(&unravel(flat, shape))
}

/// The name of a slice, such as `[3, :, :]`.
pub(super) fn slice_name(lead: &[usize]) -> String {
    let index: Vec<String> = lead.iter().map(usize::to_string).chain([":".to_owned(), ":".to_owned()]).collect();
    format!("[{}]", index.join(", "))
}

/// The maximal half-open runs of `0..count` where `holds`.
pub(super) fn runs(count: usize, holds: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = None;
    for i in 0..=count {
        match (from, i < count && holds(i)) {
            (None, true) => from = Some(i),
            (Some(start), false) => {
                found.push((start, i));
                from = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_maximal() {
        assert_eq!(runs(6, |i| i != 2 && i != 5), [(0, 2), (3, 5)]);
        assert_eq!(runs(0, |_| true), []);
        assert_eq!(coordinates(23, &[2, 3, 4]), "[1, 2, 3]");
        assert_eq!(coordinates(0, &[]), "[]");
    }
}
