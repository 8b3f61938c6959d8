//! The host functions of a program that may have a gradient: those that reach an operation on tensors or a
//! `torch::autograd::Function`.

use super::super::host::Export;
use super::Program;
use crate::ir::{Function, ParamType, Scalar, Type};

/// Functions of the library that give tensors, or change them, and have no gradient.
const HARMLESS: &[&str] = &[
    "empty",
    "empty_like",
    "empty_strided",
    "zeros",
    "zeros_like",
    "ones",
    "ones_like",
    "full",
    "full_like",
    "arange",
    "linspace",
    "rand",
    "randn",
    "rand_like",
    "randn_like",
    "randint",
    "new_empty",
    "new_zeros",
    "new_ones",
    "new_full",
    "from_blob",
    "tensor",
    "scalar_tensor",
    "contiguous",
    "options",
    "Tensor",
    "~Tensor",
    "operator=",
    "zero_",
    "fill_",
    "cuda",
    "cpu",
    "argmax",
    "argmin",
    "eye",
    "__wb_adopt",
    "__wb_in_format",
    "get",
];

impl Program {
    /// True if a function may have a gradient.
    pub fn may_have_gradient(&self, export: &Export) -> bool {
        let functions = &self.module().functions;
        let Ok(start) = usize::try_from(export.pointers()[1] - 1) else { return true };
        let mut seen = vec![false; functions.len()];
        let mut waiting = vec![start];
        while let Some(at) = waiting.pop() {
            let Some(function) = functions.get(at) else { return true };
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if function.library && at != start {
                if makes_gradient(function) {
                    return true;
                }
                if is_harmless(function) {
                    continue;
                }
            }
            called(function, &mut waiting);
        }
        false
    }
}

/// The last part of a function's name, without template arguments.
fn plain_name(function: &Function) -> &str {
    let (mut depth, mut start, mut end) = (0, 0, None);
    for (i, c) in function.name.char_indices() {
        match c {
            '<' => {
                depth += 1;
                end.get_or_insert(i);
            }
            '>' => depth -= 1,
            ':' if depth == 0 => (start, end) = (i + 1, None),
            _ => {}
        }
    }
    // `operator<` ends in a `<`.
    function.name.get(start..end.unwrap_or(function.name.len())).unwrap_or(&function.name)
}

fn is_harmless(function: &Function) -> bool {
    HARMLESS.contains(&plain_name(function))
}

/// True if a function of the library runs operations that have gradients.
fn makes_gradient(function: &Function) -> bool {
    if is_harmless(function) {
        return false;
    }
    let name = plain_name(function);
    if name == "op"
        || name == "host_op"
        || name == "__wb_back"
        || name == "call" && function.name.starts_with("TypedOperatorHandle")
    {
        return function.params.iter().any(|p| p.name == "result") || name == "__wb_back";
    }
    // Code that is there already has no body at hand: its parameters tell.
    if function.kept.is_none() {
        return false;
    }
    let is_tensor = |ty: ParamType, is_const: bool| ty == ParamType::Ptr { elem: Some(Scalar::I64.into()), is_const };
    let takes_tensor = function.params.iter().any(|p| is_tensor(p.ty, true));
    let result = function.params.iter().find(|p| p.name == "result");
    match result {
        Some(result) => is_tensor(result.ty, false) || takes_tensor,
        // A function that writes to a tensor gives it back.
        None => takes_tensor && function.ret == Some(Type::Ptr),
    }
}

/// The functions that a function mentions.
fn called(function: &Function, out: &mut Vec<usize>) {
    function.body.for_each_stmt(&mut |stmt| out.extend(stmt.mentions().map(|id| id.index())));
}
