//! Calls from outside that ask for an instance of a kernel's template: C++ would deduce its arguments from those of the launch.

use crate::ir::Elem;

/// Call from outside: the template and what is known of the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelCall {
    /// The template's name, without namespaces.
    pub template: String,
    /// Arguments.
    pub args: KernelArgs,
}

/// The arguments of a [`KernelCall`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KernelArgs {
    /// Arguments in order; the others are left to default arguments.
    InOrder(Vec<KernelArg>),
    /// Arguments known by the names of their parameters; nothing is known of the others.
    Named(Vec<(String, KernelArg)>),
}

/// One argument of a [`KernelCall`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelArg {
    /// Nothing follows from it: a number of Python's fits any type.
    Any,
    /// An array of such elements, for a pointer or an accessor.
    Array(Elem),
    /// A number of that type.
    Number(Elem),
}

/// The words of the library that calls mention by what they pass, for a text that `mentions` some of its own: torch's 16-bit floats where
/// it is about torch and names none of CUDA's.
pub(super) fn words(calls: &[KernelCall], mentions: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let passes = |elem: Elem| {
        let is_it = |arg: &KernelArg| matches!(arg, KernelArg::Array(e) | KernelArg::Number(e) if *e == elem);
        calls.iter().any(|call| match &call.args {
            KernelArgs::InOrder(args) => args.iter().any(is_it),
            KernelArgs::Named(args) => args.iter().any(|(_, arg)| is_it(arg)),
        })
    };
    let mut words = Vec::new();
    for (elem, cuda, torch) in [(Elem::F16, &CUDA_F16, "Half"), (Elem::BF16, &CUDA_BF16, "BFloat16")] {
        if passes(elem) {
            match is_of_torch(cuda, &mentions) {
                true => words.extend(["c10", torch]),
                false => words.push(cuda[0]),
            }
        }
    }
    words
}

/// CUDA's names of 16-bit floats, the type first.
pub(super) const CUDA_F16: [&str; 2] = ["__half", "half"];
/// The same as [`CUDA_F16`], for bfloat16.
pub(super) const CUDA_BF16: [&str; 2] = ["__nv_bfloat16", "nv_bfloat16"];

/// The text means torch's type, and names neither of two of CUDA's.
pub(super) fn is_of_torch(cuda: &[&str; 2], mentions: impl Fn(&str) -> bool) -> bool {
    !cuda.iter().any(|name| mentions(name)) && ["at", "c10", "torch"].iter().any(|name| mentions(name))
}
