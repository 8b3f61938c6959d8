//! The validator. After it, passes and back ends index, match and recurse without checks of their own, and never panic.
//!
//! # Rules
//! Modules:
//!  1. A global is aligned to a power of two up to 16, and is a whole number of its elements.
//!  2. A format follows the grammar of [`crate::ir::printf_format`].
//!
//! Functions:
//!  3. A kernel has no result.
//!  4. A slot is aligned to a power of two up to 16, and is a whole number of its elements.
//!  5. A block has one span per statement.
//!  6. Constructs nest at most [`MAX_NESTING`] deep.
//!  7. A function with a result never runs to its end. (An `If` on a constant counts as the side it takes.)
//!
//! Handles:
//!  8. Every value, local, slot, global, function, format and label named exists.
//!  9. A value is defined at most once.
//! 10. A value is used only after its definition, in the same block or in blocks nested in it.
//! 11. A label is defined by one construct.
//! 12. `Break` names a construct around it, `Continue` a loop around it, and not from that loop's own `step`.
//!
//! Types:
//! 13. A constant is in the form [`crate::ir::Const`] gives: an integer type, bits extended by its signedness.
//! 14. A parameter op names a parameter, and has its type; a built-in variable has dimension 0, 1 or 2 and type `u32`.
//! 15. Operands and results have the types the op's documentation gives. (The table is [`types`].)
//! 16. `Set` gives a local a value of its type.
//! 17. Pointers of `Load` and `Store` are pointers; a load's result has the type that is read.
//! 18. Conditions of `If`, `Assert` and `Select` are `Bool`.
//! 19. A switch is over an integer; its case values fit that type and differ; at most one case is the default.
//! 20. `Return` has a value exactly when the function has a result, of that type.
//!
//! Calls:
//! 21. A call has one argument per parameter, of its type, and binds a result of the function's type, or none; `raised` is a `Bool`, and
//!     only host functions bind it, for calls of host functions.
//! 22. A kernel is never called, a host function only by host functions. A host function holds no barrier.
//! 23. A printf has a promoted argument for every conversion and `*` of its format, of its class: integer (of 32 or 64
//!     bits; the conversion cuts it to its length), `f64`, or pointer. Its result is an `i32`.
//!
//! Threads together:
//! 24. A shared variable is aligned to a power of two up to 4096, and is a whole number of its elements; a dynamic one has no size.
//! 25. An atomic works on numbers of 32 or 64 bits (`Cas` also 16; floats only in `Add` and `Exch`; `Inc`, `Dec` on `u32`), has a
//!     comparison exactly when it is `Cas`, and binds a result of its operand's type.
//! 26. A collective has the operands and the result that [`crate::ir::Collective`] gives. No host function holds one, or names
//!     shared memory.
//!
//! Host code:
//! 27. A service has the operands and the result that [`crate::ir::Service`] gives; only host functions ask for one.
//! 28. A launch names a kernel, has six extents of `u32`, bytes of shared memory as `u64` and one argument per parameter that is not derived; only
//!     host functions launch.
//! 29. A function whose code is kept from before is a host function or a helper of such, and has no body; so it need not return.
//! 30. Only host functions take the address of a function, which must not be a kernel, and only they dispatch, on a first parameter that is
//!     a pointer.

mod calls;
mod structure;
mod types;

use std::fmt::Arguments;

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::printf_format::{self, ArgKind};
use crate::ir::{FormatData, FuncKind, Function, MAX_SHARED_ALIGN, Module, Scalar};
use crate::source::Span;

pub use crate::ir::MAX_NESTING;

/// The number of violations that are reported; one defect of the front end often makes many.
const MAX_REPORTED: usize = 20;

/// Every violation of a rule in a module; empty for a valid one.
///
/// Each is an error of [`Code::BadIr`] at the statement, except for nesting, which a user's text can cause: that is one of
/// [`Code::NestingLimit`].
pub fn validate(module: &Module) -> Vec<Diagnostic> {
    let mut errors = Errors::default();
    for (i, global) in module.globals.iter().enumerate() {
        let what = format_args!("global g{i}");
        check_memory(&mut errors, what, global.bytes.len(), (global.align, 16), global.elem, Span::NONE);
    }
    for (i, shared) in module.shared.iter().enumerate() {
        let what = format_args!("shared variable m{i}");
        check_memory(
            &mut errors,
            what,
            shared.size as usize,
            (shared.align, MAX_SHARED_ALIGN),
            shared.elem,
            shared.span,
        );
        if shared.dynamic && shared.size != 0 {
            errors.push(shared.span, format!("{what} is dynamic and has a size"));
        }
    }
    let mut formats = Vec::with_capacity(module.formats.len());
    for (i, data) in module.formats.iter().enumerate() {
        match printf_format::parse(&data.text) {
            Ok(pieces) => formats.push(Some(printf_format::arg_kinds(&pieces))),
            Err(e) => {
                formats.push(None);
                errors.push(data.span, format!("format p{i} is malformed: {}", e.message));
            }
        }
    }
    for (id, _) in &module.addressed {
        if module.functions.get(id.index()).is_none_or(|f| f.kind == FuncKind::Kernel) {
            errors.push(Span::NONE, format!("the address of {id} is taken, which is no function to call"));
        }
    }
    for func in &module.functions {
        check_function(&mut errors, module, &formats, func);
    }
    errors.diags
}

/// The violations in one function of a valid module, whose other functions need no bodies.
pub fn problems(module: &Module, func: &Function) -> Vec<String> {
    let kinds =
        |data: &FormatData| printf_format::parse(&data.text).ok().map(|pieces| printf_format::arg_kinds(&pieces));
    let formats: Vec<_> = module.formats.iter().map(kinds).collect();
    let mut errors = Errors::default();
    check_function(&mut errors, module, &formats, func);
    errors.diags.into_iter().map(|diag| diag.message).collect()
}

fn check_function(errors: &mut Errors, module: &Module, formats: &[Option<Vec<ArgKind>>], func: &Function) {
    if func.kind == FuncKind::Kernel && func.ret.is_some() {
        errors.push(func.span, format!("kernel `{}` has a result", func.name));
    }
    for (i, slot) in func.slots.iter().enumerate() {
        let what = format_args!("slot s{i} of `{}`", func.name);
        check_memory(errors, what, slot.size as usize, (slot.align, 16), slot.elem, func.span);
    }
    if func.kept.is_some() {
        if !func.kind.is_host() || !func.body.stmts.is_empty() {
            errors.push(func.span, format!("`{}` is kept, and no host function without a body", func.name));
        }
        return;
    }
    let deep = structure::too_deep(&func.body);
    if let Some(span) = deep {
        let message = format!("statements of `{}` are nested more than {MAX_NESTING} deep", func.name);
        let help = "move the inner ones into a `__device__` function";
        errors.add(Diagnostic::error(Code::NestingLimit, span, message).help(help));
        return;
    }
    structure::Checker::new(errors, module, formats, func).run();
}

fn check_memory(
    errors: &mut Errors,
    what: Arguments<'_>,
    size: usize,
    (align, most): (u32, u32),
    elem: Option<Scalar>,
    span: Span,
) {
    if !align.is_power_of_two() || align > most {
        errors.push(span, format!("{what} is aligned to {align}"));
    }
    if let Some(elem) = elem.filter(|e| !size.is_multiple_of(e.size() as usize)) {
        errors.push(span, format!("{what} holds {size} bytes, no whole number of {elem}"));
    }
}

/// Collects violations up to the bound.
#[derive(Default)]
struct Errors {
    diags: Vec<Diagnostic>,
}

impl Errors {
    fn push(&mut self, span: Span, message: String) {
        self.add(Diagnostic::error(Code::BadIr, span, message));
    }

    fn add(&mut self, diag: Diagnostic) {
        if self.diags.len() < MAX_REPORTED {
            self.diags.push(diag);
        }
    }
}

#[cfg(test)]
mod tests;
