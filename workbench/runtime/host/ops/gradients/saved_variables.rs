//! The values that a derivative reads, which may not be written before the gradient comes: torch's saved variables. It stands beside each
//! derivative.

use crate::runtime::host::array::HostTensor;
use crate::runtime::host::value::Value;

/// The tensors and the results of an operation that its derivative reads.
pub struct Reads {
    /// True for each of the tensors, in order, that is read.
    pub tensors: Vec<bool>,
    /// The results that are read.
    pub results: Results,
}

/// Results that a derivative reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// No result.
    None,
    /// Every result.
    All,
    /// The places, which are the second result.
    Places,
}

impl Results {
    /// True if the result at this place is among them.
    pub fn has(self, at: usize) -> bool {
        self == Results::All || self == Results::Places && at == 1
    }
}

impl Reads {
    fn new(tensors: Vec<bool>, results: Results) -> Self {
        Reads { tensors, results }
    }

    /// No tensor and no result.
    pub(super) fn none(of: &Operation<'_>) -> Self {
        Reads::new(of.each(|_| false), Results::None)
    }

    /// Every tensor and these results.
    pub(super) fn all(of: &Operation<'_>, results: Results) -> Self {
        Reads::new(of.each(|_| true), results)
    }

    /// These results alone.
    pub(super) fn results(of: &Operation<'_>, results: Results) -> Self {
        Reads::new(of.each(|_| false), results)
    }

    /// The tensors at the places that `reads` selects, and no result.
    pub(super) fn tensors(of: &Operation<'_>, reads: impl Fn(usize) -> bool) -> Self {
        Reads::new(of.each(reads), Results::None)
    }

    /// Each of two factors, the tensors at `first` and after it, for the gradient of the other one.
    pub(super) fn factors(of: &Operation<'_>, first: usize) -> Self {
        Reads::tensors(of, |i| (first..first + 2).contains(&i) && of.needs(2 * first + 1 - i))
    }

    /// Places and masks.
    pub(super) fn chosen(of: &Operation<'_>) -> Self {
        Reads::tensors(of, |i| !of.tensors[i].dtype().is_float())
    }
}

/// An operation whose derivative is asked about.
pub(super) struct Operation<'a> {
    pub name: &'a str,
    pub args: &'a [Value],
    /// All tensors among the arguments, in order.
    pub tensors: &'a [&'a HostTensor],
    /// Of each of them, whether its gradient is wanted.
    pub needs: &'a [bool],
}

impl Operation<'_> {
    /// The number of tensors it takes.
    pub fn count(&self) -> usize {
        self.tensors.len()
    }

    /// True if the gradient of a tensor is wanted, by its place among the tensors.
    pub fn needs(&self, i: usize) -> bool {
        self.needs.get(i).copied().unwrap_or(false)
    }

    /// True if an argument is a tensor.
    pub fn is_tensor(&self, i: usize) -> bool {
        matches!(self.args.get(i), Some(Value::Tensor(_)))
    }

    fn each(&self, of: impl Fn(usize) -> bool) -> Vec<bool> {
        (0..self.count()).map(of).collect()
    }
}
