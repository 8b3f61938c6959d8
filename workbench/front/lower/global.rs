//! Variables at namespace scope: constants, which are folded or become read-only data; the rest is the host's or refused.

use super::names::Decl;
use super::tree::Typed;
use super::{Lowerer, Storage, Variable, fold};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Declaration, Expr, ExprKind, Init, Specifiers, VarDecl};
use crate::front::types::Ty;
use crate::ir::{Const, Global, GlobalData, Scalar};

/// Most bytes of one constant table: CUDA's constant memory.
const MAX_TABLE: u32 = 64 * 1024;

impl Lowerer<'_> {
    pub(super) fn global_variables(&mut self, decl: &Declaration) {
        for var in &decl.vars {
            self.global_variable(&decl.specs, var);
        }
    }

    fn global_variable(&mut self, specs: &Specifiers, var: &VarDecl) {
        let name = self.text(&var.name).to_owned();
        let ty = match self.declared_type(var) {
            Some(ty) => ty.qualified(specs.constexpr, false),
            None => Ty::error(),
        };
        let is_const = ty.innermost().is_const || specs.constant;
        let storage = if ty.is_error() {
            Storage::Nowhere
        } else if specs.shared {
            let message = format!("shared memory is not supported yet (T2): `{name}`");
            self.report(
                Diagnostic::error(Code::Unsupported, var.name.span, message)
                    .help("use a local array, or a buffer passed as a parameter"),
            );
            Storage::Nowhere
        } else if (specs.constant || specs.device) && !(is_const && var.init.is_some()) {
            let (what, help) = if specs.constant {
                (
                    "a `__constant__` variable that the host fills",
                    "give it an initialiser, or pass the values to the kernel as `const` pointer",
                )
            } else {
                ("a `__device__` variable", "pass a pointer to the memory as a parameter")
            };
            let message = format!("{what} is not supported yet (T8): `{name}`");
            self.report(Diagnostic::error(Code::Unsupported, var.name.span, message).help(help));
            Storage::Nowhere
        } else if is_const && var.init.is_some() {
            self.constant_variable(specs, var, ty.constant());
            return;
        } else {
            Storage::Host
        };
        self.declare_var(var, ty, storage, None);
    }

    pub(super) fn declare_var(&mut self, var: &VarDecl, ty: Ty, storage: Storage, constant: Option<Const>) {
        let id = self.add_var(Variable { name: var.name.name, ty, span: var.name.span, storage, constant });
        self.declare(var.name.name, Decl::Var(id), var.name.span);
    }

    /// A const variable with an initialiser, at namespace scope.
    fn constant_variable(&mut self, specs: &Specifiers, var: &VarDecl, ty: Ty) {
        let must = specs.constexpr || specs.constant || specs.device;
        if ty.is_array() {
            let (ty, storage) = match self.constant_table(var, ty.clone(), must) {
                Some((ty, global)) => (ty, Storage::Global(global)),
                None => (ty, if must { Storage::Nowhere } else { Storage::Host }),
            };
            self.declare_var(var, ty, storage, None);
            return;
        }
        if ty.is_reference() {
            let message = "references at namespace scope are not supported";
            self.report(Diagnostic::error(Code::Unsupported, var.name.span, message).help("name the constant itself"));
            self.declare_var(var, ty, Storage::Nowhere, None);
            return;
        }
        let value = self.scalar_init(var, &ty);
        match value.as_ref().and_then(Typed::constant) {
            Some(c) => self.declare_var(var, ty, Storage::Constant, Some(c)),
            None => {
                if let Some(value) = value.filter(|v| must && !v.is_error()) {
                    let what = format!("the value of `{}`", self.text(&var.name));
                    self.not_constant(&value, &what);
                }
                let storage = if must { Storage::Nowhere } else { Storage::Host };
                self.declare_var(var, ty, storage, None);
            }
        }
    }

    /// A const array as data of the module, when all its values are known; its type with its length.
    pub(super) fn constant_table(&mut self, var: &VarDecl, ty: Ty, must: bool) -> Option<(Ty, Global)> {
        let init = var.init.as_ref()?;
        let name = self.interner.name(var.name.name);
        let (ty, elements) = self.array_elements(name, ty, init)?;
        let elem = ty.innermost().clone();
        let scalar = elem.scalar()?;
        if let Some((_, e)) = elements.iter().find(|(_, e)| e.constant().is_none()) {
            if must && !e.is_error() {
                let what = format!("every value of `{}`", self.text(&var.name));
                self.not_constant(e, &what);
            }
            return None;
        }
        let size = ty.size()?;
        if size > MAX_TABLE && must {
            let message = format!("`{}` takes {size} bytes, and constant memory has {MAX_TABLE}", self.text(&var.name));
            self.report(
                Diagnostic::error(Code::StackLimit, var.name.span, message).help("pass the table as a parameter"),
            );
            return None;
        }
        let values: Vec<(u32, Const)> = elements.iter().filter_map(|(i, e)| Some((*i, e.constant()?))).collect();
        let mut data = vec![0u8; size as usize];
        let mut bytes = Vec::with_capacity(8);
        for (i, c) in values {
            bytes.clear();
            fold::bytes(c, &mut bytes);
            let at = i as usize * scalar.size() as usize;
            data[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Some((ty, self.add_global(name.to_owned(), data, scalar)))
    }

    /// Adds read-only data.
    pub(super) fn add_global(&mut self, name: String, bytes: Vec<u8>, elem: Scalar) -> Global {
        self.module.globals.push(GlobalData { name, bytes, align: elem.size(), elem: Some(elem) });
        Global::new(self.module.globals.len() - 1)
    }

    /// Adds a string literal with its closing NUL.
    pub(super) fn add_string(&mut self, text: &str) -> Global {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        let same = |g: &GlobalData| g.name.is_empty() && g.bytes == bytes;
        match self.module.globals.iter().position(same) {
            Some(i) => Global::new(i),
            None => self.add_global(String::new(), bytes, Scalar::I8),
        }
    }
}

/// The expression that an initialiser of a scalar is: itself, or the only one in braces.
pub(super) fn only_expr(init: &Init) -> Option<&Expr> {
    match init {
        Init::Expr(e) => Some(e),
        Init::List(items, _) => match items.as_slice() {
            [Init::Expr(e)] => Some(e),
            _ => None,
        },
        Init::Paren(args, _) => match args.as_slice() {
            [e] => Some(e),
            _ => None,
        },
        Init::Designated(..) => None,
    }
}

/// The text of a string literal that initialises an array.
pub(super) fn string_literal(init: &Init) -> Option<&str> {
    match only_expr(init).map(|e| &super::expr::bare(e).kind) {
        Some(ExprKind::Str(text)) => Some(text),
        _ => None,
    }
}
