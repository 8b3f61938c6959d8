//! Options of a compilation, and the units that it reads.

use std::collections::BTreeMap;

use super::{kernel_calls, lexer};
use crate::source::FileId;

/// Options of a compilation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Macros: name and replacement (`-DN=4` is `("N", "4")`, `-DN` is `("N", "1")`); function-like ones as `("F(x)", "x+1")`.
    pub defines: Vec<(String, String)>,
    /// User headers by the name they are included as.
    pub headers: BTreeMap<String, String>,
    /// Files that the text includes are each a translation unit of its own: read alone, linked with the others ([`link`](super::link)).
    pub units: bool,
    /// Instances of kernels' templates to make, by name: `scale<float, 4>`.
    pub instances: Vec<String>,
    /// True if kernels may compute a product and a sum as one `fma`, which rounds once (`-fmad`); `None`: as nvcc does, which is true.
    pub fmad: Option<bool>,
    /// Calls whose instances of kernels' templates to make.
    pub calls: Vec<kernel_calls::KernelCall>,
}

/// Name by which `load_inline` calls the text that binds the functions it is asked for.
pub const FUNCTIONS: &str = "functions";

/// A translation unit: its file, and its tokens.
pub type Unit = (FileId, Vec<lexer::Token>);
