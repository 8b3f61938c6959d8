//! Variables at namespace scope: constants, which are folded or become read-only data; the rest is the host's or refused.

use super::MAX_DEVICE;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Declaration, ExprKind, Init, Specifiers, VarDecl};
use crate::front::lower::expressions::typed_tree::{Node, Typed, VarId};
use crate::front::lower::host::variables::HostVar;
use crate::front::lower::scopes::names::Decl;
use crate::front::lower::{Lowerer, Side, Storage, Variable};
use crate::front::types::{Kind, Ty};
use crate::ir::{Const, Global, GlobalData, Scalar, Space};
use crate::source::Span;

/// Most bytes of one constant table: CUDA's constant memory.
const MAX_TABLE: u32 = 64 * 1024;

impl<'a> Lowerer<'a> {
    pub(in crate::front::lower) fn global_variables(&mut self, decl: &'a Declaration) {
        if decl.templates.last().is_some_and(|h| !h.params.is_empty()) || self.is_variable_specialisation(decl) {
            return self.variable_template(decl);
        }
        for var in &decl.vars {
            // `int S::count = 0;`: declared in its struct.
            if var.qualified.as_ref().is_some_and(|n| n.parts.len() > 1) {
                continue;
            }
            self.global_variable(&decl.specs, var);
        }
    }

    fn is_variable_specialisation(&self, decl: &Declaration) -> bool {
        !decl.templates.is_empty()
            && decl.vars.iter().any(|v| v.qualified.as_ref().is_some_and(|n| n.last_part().args.is_some()))
    }

    /// A constant member of a struct, in whose scope it is declared.
    pub(in crate::front::lower) fn member_constant(&mut self, specs: &Specifiers, var: &'a VarDecl) {
        let Some(ty) = self.declared_type(var) else {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        };
        let specs = Specifiers { constexpr: true, is_static: false, ..*specs };
        self.constant_variable(&specs, var, ty.constant());
    }

    /// An instance of a variable template.
    pub(in crate::front::lower) fn template_variable(&mut self, decl: &'a Declaration, var: &'a VarDecl) -> VarId {
        let before = self.vars.len();
        self.scopes.open();
        match self.declared_type(var) {
            Some(ty) => {
                let specs = Specifiers { constexpr: true, is_static: false, ..decl.specs };
                self.constant_variable(&specs, var, ty.constant());
            }
            None => self.declare_var(var, Ty::error(), Storage::Nowhere, None),
        }
        let found = self.here(var.name.name);
        self.scopes.close();
        match found {
            Some(Decl::Var(id)) => id,
            _ => VarId(before as u32),
        }
    }

    fn global_variable(&mut self, specs: &'a Specifiers, var: &'a VarDecl) {
        let ty = match self.declared_type(var) {
            Some(ty) => ty.qualified(specs.constexpr, false),
            None => Ty::error(),
        };
        let was_extern = self.was_extern(var.name.name);
        if self.is_declared_again(specs, var, &ty) {
            return;
        }
        let is_const = ty.innermost().is_const || specs.constant;
        let storage = if ty.is_error() {
            Storage::Nowhere
        } else if specs.shared {
            self.shared_variable(specs, var);
            return;
        } else if (specs.constant || specs.device)
            && (specs.managed || !(ty.innermost().is_const && var.init.is_some()))
        {
            self.module_variable(specs, var, ty);
            if !specs.managed {
                // The variable just made.
                self.symbols.extend(self.vars.len().checked_sub(1).map(|last| VarId(last as u32)));
            }
            return;
        } else if is_const && var.init.is_some() {
            let ty = self.host_type(var, ty.constant());
            let before = self.vars.len();
            self.constant_variable(specs, var, ty);
            self.note_host_var(before, (specs, var), was_extern);
            if specs.is_extern || was_extern {
                self.share_constant(before, var);
            }
            return;
        } else {
            Storage::Host
        };
        let ty = self.host_type(var, ty);
        let before = self.vars.len();
        self.declare_var(var, ty, storage, None);
        self.note_host_var(before, (specs, var), was_extern);
    }

    /// Remembers how a variable of the host is declared, should a host function name it.
    fn note_host_var(&mut self, before: usize, (specs, var): (&'a Specifiers, &'a VarDecl), was_extern: bool) {
        let mut declared = (before as u32..self.vars.len() as u32).map(VarId);
        if let Some(id) = declared.find(|id| self.var(*id).name == var.name.name && self.var(*id).is_host()) {
            let scope = self.scopes.current();
            let defines = !specs.is_extern || var.init.is_some();
            let ty = self.var(id).ty.clone();
            let symbol = self.host_linkage(specs, var.name.name, &ty, was_extern);
            let order = self.host_vars.len();
            let known =
                HostVar { specs, decl: var, scope, data: None, busy: false, symbol, defines, order, is_remade: false };
            self.host_vars.insert(id, known);
            match defines {
                true => self.define_host_var(id),
                false => _ = self.only_declared.insert(id),
            }
        }
    }

    pub(in crate::front::lower) fn declare_var(
        &mut self,
        var: &'a VarDecl,
        ty: Ty,
        storage: Storage,
        constant: Option<Const>,
    ) {
        self.held = None;
        let fixed = matches!(storage, Storage::Global(_) | Storage::Shared(_) | Storage::Constant | Storage::Host);
        let owner = if fixed || !self.f.inside { 0 } else { self.f.serial };
        let id = self.add_var(Variable { name: var.name.name, ty, span: var.name.span, storage, constant, owner });
        self.declare(var.name.name, Decl::Var(id), var.name.span);
    }

    /// A `__constant__` or `__device__` variable that somebody may change: data with its values at the start, zero where it
    /// says none.
    pub(super) fn module_variable(&mut self, specs: &Specifiers, var: &'a VarDecl, ty: Ty) {
        let (name, span) = (self.text(&var.name).to_owned(), var.name.span);
        let space = match specs {
            Specifiers { constant: true, .. } => Space::Constant,
            Specifiers { managed: true, .. } => Space::Managed,
            Specifiers { device: false, .. } if self.f.side == Side::Host && self.f.inside => Space::Host,
            _ => Space::Device,
        };
        let limit = if specs.constant { MAX_TABLE } else { MAX_DEVICE };
        let (ty, bytes) = self.static_bytes(var, ty);
        let too_large = ty.size().is_some_and(|n| n > limit);
        if let Some(size) = ty.size().filter(|_| too_large) {
            self.too_large(&name, size, limit, span);
        } else if ty.is_array() && ty.size().is_none() {
            let message = format!("`{name}` has neither a length nor a list to take it from");
            self.report(Diagnostic::error(Code::BadInitializer, span, message).help("write the length: `[n]`"));
        }
        let storage = match bytes {
            Some(bytes) if !too_large && self.f.inside => {
                Storage::Global(self.kept_data(name, bytes, (&ty, span), space))
            }
            Some(bytes) if !too_large => {
                let data = Self::data_of(name, bytes, &ty, space);
                let defines = !specs.is_extern || var.init.is_some();
                Storage::Global(self.device_data(specs, var.name.name, data, (&ty, span), defines))
            }
            _ => Storage::Nowhere,
        };
        let ty = if matches!(storage, Storage::Nowhere) { Ty::error() } else { ty };
        let declared = VarId(self.vars.len() as u32);
        self.declare_var(var, ty, storage, None);
        if specs.is_extern && var.init.is_none() && !self.f.inside {
            self.only_declared.insert(declared);
        }
    }

    /// The bytes of a variable that is there before the program runs, and its type with its length; what is no constant is reported.
    pub(in crate::front::lower) fn static_bytes(&mut self, var: &'a VarDecl, ty: Ty) -> (Ty, Option<Vec<u8>>) {
        let (name, span) = (self.text(&var.name).to_owned(), var.name.span);
        // Whoever declares it says so.
        if ty.size().is_some_and(|size| size > MAX_DEVICE) {
            return (ty, None);
        }
        match &var.init {
            None => match self.default_initialised(&ty, span) {
                None => (ty.clone(), ty.size().map(|n| vec![0; n as usize])),
                Some(value) => {
                    let bytes = self.constant_object(&value, &ty);
                    if bytes.is_none() && !value.is_error() {
                        self.not_constant(&value, &format!("the value of `{name}`"));
                    }
                    (ty, bytes)
                }
            },
            Some(_) if ty.is_array() || ty.is_struct() => match self.object_bytes(var, ty.clone(), true) {
                Some((ty, bytes)) => (ty, Some(bytes)),
                None => (ty, None),
            },
            Some(_) => {
                let value = self.scalar_init(var, &ty).map(|v| self.folded(v));
                let mut bytes = Vec::new();
                match value.as_ref().map(|v| (v, v.constant())) {
                    Some((_, Some(c))) => bytes.extend(c.bytes()),
                    Some((v, None)) if matches!(ty.kind, Kind::Pointer(_)) && !v.is_error() => {
                        match self.constant_object(v, &ty) {
                            Some(found) => bytes = found,
                            None => self.not_constant(&v.clone(), &format!("the value of `{name}`")),
                        }
                    }
                    Some((v, None)) if !v.is_error() => self.not_constant(v, &format!("the value of `{name}`")),
                    _ => {}
                }
                (ty, Some(bytes).filter(|b| !b.is_empty()))
            }
        }
    }

    /// A const variable with an initialiser, at namespace scope.
    fn constant_variable(&mut self, specs: &Specifiers, var: &'a VarDecl, ty: Ty) {
        let must = specs.constexpr || specs.constant || specs.device;
        if ty.is_array() || ty.is_struct() {
            let (ty, storage) = match self.constant_table(var, ty.clone(), must) {
                Some((ty, _)) if specs.constant && ty.size().is_some_and(|size| size > MAX_TABLE) => {
                    let name = self.text(&var.name).to_owned();
                    self.too_large(&name, ty.size().unwrap_or(0), MAX_TABLE, var.name.span);
                    (Ty::error(), Storage::Nowhere)
                }
                Some((ty, global)) => (ty, Storage::Global(global)),
                None => (ty, if must { Storage::Nowhere } else { Storage::Host }),
            };
            self.declare_var(var, ty, storage, None);
            return;
        }
        // A variable that only registers something, `static const auto& done = register_it();`, is a variable of the host; a use of its
        // name is reported then.
        let is_call = matches!(&var.init, Some(Init::Expr(e)) if matches!(e.kind, ExprKind::Call(..)));
        if ty.is_reference() && is_call && !must {
            self.declare_var(var, ty, Storage::Host, None);
            return;
        }
        if ty.is_reference() {
            let message = "references at namespace scope are not supported";
            self.report(Diagnostic::error(Code::Unsupported, var.name.span, message).help("name the constant itself"));
            self.declare_var(var, ty, Storage::Nowhere, None);
            return;
        }
        let value = self.scalar_init(var, &ty);
        let value = value.map(|v| self.folded(v));
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

    /// A const array or struct as data of the module, when all its values are known; its type with its length.
    pub(super) fn constant_table(&mut self, var: &'a VarDecl, ty: Ty, must: bool) -> Option<(Ty, Global)> {
        let (ty, bytes) = self.object_bytes(var, ty, must)?;
        let name = self.interner.name(var.name.name).to_owned();
        Some((ty.clone(), self.add_data(name, bytes, &ty, Space::ReadOnly)))
    }

    /// The bytes of an array or struct whose values are all known, and its type with its length.
    fn object_bytes(&mut self, var: &'a VarDecl, ty: Ty, must: bool) -> Option<(Ty, Vec<u8>)> {
        let init = var.init.as_ref()?;
        let name = self.interner.name(var.name.name).to_owned();
        // Before anything of that size is made.
        if let Some(size) = ty.size().filter(|size| *size > MAX_DEVICE) {
            if must {
                self.too_large(&name, size, MAX_DEVICE, var.name.span);
            }
            return None;
        }
        let is_const = ty.innermost().is_const || ty.is_const;
        let value = if ty.is_array() {
            let (ty, elements) = self.array_elements(&name, ty, init)?;
            Typed::value(ty, var.name.span, Node::Init(elements.into()))
        } else {
            self.init_value(&name, &ty, init)?
        };
        let ty = value.ty.clone().qualified(is_const, false);
        let size = ty.size()?;
        let data = match flat_bytes(&value, size) {
            Some(data) => Some(data),
            // Running an initialiser costs time: only where it has to be known, or is no larger than a constant may be.
            None if must || size <= MAX_TABLE => self.constant_object(&value, &ty),
            None => None,
        };
        let Some(data) = data else {
            if must {
                let what =
                    if ty.is_array() { format!("every value of `{name}`") } else { format!("the value of `{name}`") };
                let culprit = match &value.node {
                    Node::Init(items) => items.iter().map(|(_, e)| e).find(|e| e.constant().is_none()),
                    _ => None,
                };
                let culprit = culprit.unwrap_or(&value).clone();
                if !culprit.is_error() {
                    self.not_constant(&culprit, &what);
                }
            }
            return None;
        };
        Some((ty, data))
    }

    fn too_large(&mut self, name: &str, size: u32, limit: u32, span: Span) {
        let message = format!("`{name}` takes {size} bytes, and at most {limit} are possible");
        self.report(Diagnostic::error(Code::StackLimit, span, message).help("pass an array as a parameter"));
    }

    /// Adds data of a type.
    pub(in crate::front::lower) fn add_data(&mut self, name: String, bytes: Vec<u8>, ty: &Ty, space: Space) -> Global {
        self.module.globals.push(Self::data_of(name, bytes, ty, space));
        Global::new(self.module.globals.len() - 1)
    }

    /// Data of a type.
    pub(in crate::front::lower) fn data_of(name: String, bytes: Vec<u8>, ty: &Ty, space: Space) -> GlobalData {
        GlobalData { name, bytes, align: ty.variable_align(), elem: ty.uniform(), space }
    }

    /// Adds data that a function keeps between calls; units that have the same function share it.
    pub(in crate::front::lower) fn kept_data(
        &mut self,
        name: String,
        bytes: Vec<u8>,
        (ty, span): (&Ty, Span),
        space: Space,
    ) -> Global {
        match self.kept_symbol(&name) {
            Some(symbol) => {
                let data = Self::data_of(name, bytes, ty, space);
                self.linked_variable(&symbol, true, data, (ty, span))
            }
            None => self.add_data(name, bytes, ty, space),
        }
    }

    /// Adds read-only data.
    pub(super) fn add_global(&mut self, name: String, bytes: Vec<u8>, elem: Scalar) -> Global {
        self.module.globals.push(GlobalData {
            name,
            bytes,
            align: elem.size(),
            elem: Some(elem),
            space: Space::ReadOnly,
        });
        Global::new(self.module.globals.len() - 1)
    }

    /// Adds a string literal with its closing NUL.
    pub(in crate::front::lower) fn add_string(&mut self, text: &str) -> Global {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        match self.strings.get(&bytes) {
            Some(known) => *known,
            None => {
                let made = self.add_global(String::new(), bytes.clone(), Scalar::I8);
                self.strings.insert(bytes, made);
                made
            }
        }
    }
}

/// The bytes of an object written out with constants only.
fn flat_bytes(value: &Typed, size: u32) -> Option<Vec<u8>> {
    let Node::Init(items) = &value.node else { return None };
    let mut data = vec![0u8; size as usize];
    let mut bytes = Vec::with_capacity(8);
    for (at, e) in items.iter() {
        bytes.clear();
        if let Node::Bits(value, bits) = &e.node {
            let raw = value.constant()?.bytes().iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
            let word = u128::from(raw & u64::MAX >> (64 - bits.width)) << bits.first;
            let target = data.get_mut(*at as usize..(*at + bits.bytes()) as usize)?;
            target.iter_mut().zip(word.to_le_bytes()).for_each(|(byte, new)| *byte |= new);
            continue;
        }
        match e.constant() {
            Some(c) if c != Const::Null => bytes.extend(c.bytes()),
            Some(_) => return None,
            None => bytes = flat_bytes(e, e.ty.size()?)?,
        }
        let at = *at as usize;
        data.get_mut(at..at + bytes.len())?.copy_from_slice(&bytes);
    }
    Some(data)
}
