//! Shared variables: `__shared__` in a function or at namespace scope, static in its lifetime, of which a block has one for each kernel that
//! names it; and `extern __shared__`, all of which are one memory.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Specifiers, Symbol, VarDecl};
use crate::front::lower::scopes::names::{GLOBAL, ScopeKind};
use crate::front::lower::{Lowerer, Side, Storage};
use crate::front::types::Ty;
use crate::ir::{MAX_SHARED_ALIGN, Shared, SharedData};
use crate::source::Span;

/// Most bytes of static shared memory of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub(super) const MAX_STATIC: u32 = 48 * 1024;

impl<'a> Lowerer<'a> {
    pub(super) fn shared_variable(&mut self, specs: &Specifiers, var: &'a VarDecl) {
        let (ty, storage) = match self.shared_storage(specs, var) {
            Some((ty, shared)) => (ty, Storage::Shared(shared)),
            None => (Ty::error(), Storage::Nowhere),
        };
        self.declare_var(var, ty, storage, None);
    }

    /// Dynamic shared memory of that name has no other type elsewhere in the namespace: all of one name is one variable, as every
    /// `extern` is.
    fn is_same_dynamic(&mut self, name: Symbol, ty: &Ty, span: Span) -> bool {
        let mut scope = self.scopes.current();
        while self.scopes.kind(scope) != ScopeKind::Namespace {
            scope = self.scopes.parent(scope).unwrap_or(GLOBAL);
        }
        let key = (scope, span.file, name);
        let (known, place) = match self.dynamic.get(&key) {
            Some((known, place)) => (known.clone(), *place),
            None => {
                self.dynamic.insert(key, (ty.clone(), span));
                return true;
            }
        };
        if known == *ty {
            return true;
        }
        let name = self.interner.name(name);
        let message = format!("`{name}` is dynamic shared memory of type `{ty}` here and of type `{known}` elsewhere");
        let help = if place == span {
            "a template's instances share it: declare `extern __shared__ __align__(16) unsigned char` and cast its address"
        } else {
            "give one of them another name, or declare `unsigned char` in both and cast its address"
        };
        self.report(
            Diagnostic::error(Code::Redefinition, span, message).related(place, format!("`{known}` here")).help(help),
        );
        false
    }

    fn shared_storage(&mut self, specs: &Specifiers, var: &'a VarDecl) -> Option<(Ty, Shared)> {
        let (name, span) = (self.text(&var.name).to_owned(), var.name.span);
        let ty = self.declared_type(var)?;
        if ty.is_error() {
            return None;
        }
        let refuse = |message: String, help: &str, code| Some(Diagnostic::error(code, span, message).help(help));
        let open = ty.is_array() && ty.size().is_none();
        let size = ty.size().unwrap_or(0);
        let elem = ty.innermost();
        let problem = if self.f.inside && self.f.side == Side::Host {
            refuse(
                format!("`{name}` is shared memory, and this is host code"),
                "write `__device__` before the function",
                Code::WrongSide,
            )
        } else if var.init.is_some() {
            refuse(
                format!("shared variable `{name}` has an initialiser"),
                "assign it in the kernel, by one thread, and let the others wait with `__syncthreads()`",
                Code::BadInitializer,
            )
        } else if ty.is_reference() || elem.ir().is_none() && !elem.is_struct() {
            refuse(format!("`{name}` cannot be shared memory"), "share an array of numbers", Code::Unsupported)
        } else if specs.is_extern && !open {
            refuse(
                format!("dynamic shared memory `{name}` has a length"),
                "leave the brackets empty: the launch says how large it is",
                Code::BadInitializer,
            )
        } else if open && !specs.is_extern {
            refuse(
                format!("`{name}` has no length"),
                "write the length: `[n]`, or `extern` before it",
                Code::BadInitializer,
            )
        } else if size > MAX_STATIC {
            refuse(
                format!("`{name}` takes {size} bytes, and a block has {MAX_STATIC} of static shared memory"),
                "use `extern __shared__`, whose size the launch gives",
                Code::StackLimit,
            )
        } else {
            None
        };
        if let Some(diag) = problem {
            self.report(diag);
            return None;
        }
        if open && !self.is_same_dynamic(var.name.name, &ty, span) {
            return None;
        }
        let asked = self.asked_alignment(var.align.as_deref(), MAX_SHARED_ALIGN);
        // Dynamic memory starts where any type may.
        let own = if open { 16 } else { ty.variable_align() };
        let data =
            SharedData { name, size, align: own.max(ty.align()).max(asked), elem: ty.uniform(), dynamic: open, span };
        self.module.shared.push(data);
        Some((ty, Shared::new(self.module.shared.len() - 1)))
    }
}
