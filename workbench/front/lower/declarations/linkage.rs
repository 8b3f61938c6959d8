//! Linkage: which functions and variables of a unit other units know, and by what symbols ([basic.link]).
//!
//! Nothing here is asked for where a program has one unit alone, but for variables that are declared `extern`.

use std::fmt::Write;
use std::rc::Rc;

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Item, Specifiers, Symbol, VarDecl};
use crate::front::link::{Linkage, SymbolMeaning, forward, has_body, param_type};
use crate::front::lower::expressions::typed_tree::{FuncIndex, VarId};
use crate::front::lower::host::launches::ENTRY;
use crate::front::lower::host::variables::HostVar;
use crate::front::lower::scopes::names::{Decl, ScopeId, ScopeKind, TArg};
use crate::front::lower::{FuncInfo, Lowerer, Progress, Role, Side, Storage};
use crate::front::types::{Kind, StructTy, Ty};
use crate::ir::{FuncId, FuncKind, Function, Global, GlobalData, Param, Space};
use crate::source::Span;
use rustc_hash::FxHashSet as HashSet;

/// Structs within structs whose layout is held against other units'.
const MAX_DEPTH: u32 = 8;

impl<'a> Lowerer<'a> {
    /// The symbol of a function; `None` where its unit alone knows it.
    fn symbol_of(&self, index: FuncIndex) -> Option<String> {
        let func = self.func(index);
        if func.display.starts_with(ENTRY) {
            return None;
        }
        match func.linkage {
            Linkage::Internal => return None,
            Linkage::C => return Some(format!("{} C", self.interner.name(func.name))),
            Linkage::Inline | Linkage::External => {}
        }
        let mut text = self.interner.name(func.name).to_owned();
        if let Some((_, args)) = &func.template {
            self.write_args(args, &mut text)?;
        }
        text.push('(');
        for param in &func.params {
            self.write_type(&param.unqualified(), &mut text)?;
            text.push(',');
        }
        text.push(')');
        if func.this.as_ref().is_some_and(|this| this.is_const) {
            text.push_str("const");
        }
        self.write_scope(func.scope, &mut text)?;
        Some(text)
    }

    /// The symbol of a variable at namespace scope; `None` where it is in a namespace without a name.
    fn variable_symbol(&self, name: Symbol, scope: ScopeId) -> Option<String> {
        let mut text = self.interner.name(name).to_owned();
        self.write_scope(scope, &mut text)?;
        Some(text)
    }

    fn write_scope(&self, scope: ScopeId, out: &mut String) -> Option<()> {
        let mut at = scope;
        loop {
            let parent = self.scopes.parent(at);
            match self.scopes.kind(at) {
                ScopeKind::Namespace => match (self.scopes.name(at), parent) {
                    (Some(name), _) => _ = write!(out, "@{}", self.interner.name(name)),
                    // A namespace without a name.
                    (None, Some(_)) => return None,
                    (None, None) => return Some(()),
                },
                ScopeKind::Class(id) => {
                    out.push('@');
                    return self.write_class(id, out);
                }
                ScopeKind::Block => return None,
                ScopeKind::Template => {}
            }
            at = parent?;
        }
    }

    fn write_class(&self, id: u32, out: &mut String) -> Option<()> {
        let class = self.class(id);
        let name = class.ty.alias.get().unwrap_or(&class.ty.name);
        if class.is_closure || name == "struct" {
            return None;
        }
        match &class.template {
            Some((_, args)) => {
                out.push_str(name.split('<').next().unwrap_or_default());
                self.write_args(args, out)?;
            }
            None => out.push_str(name),
        }
        self.write_scope(self.scopes.parent(class.scope)?, out)
    }

    fn write_args(&self, args: &[TArg], out: &mut String) -> Option<()> {
        out.push('<');
        for arg in args {
            match arg {
                TArg::Type(ty) => self.write_type(ty, out)?,
                TArg::Value(ty, value) => {
                    _ = write!(out, "{value}:");
                    self.write_type(ty, out)?;
                }
                TArg::Function(index) => out.push_str(&self.symbol_of(*index)?),
                TArg::Template(index) => {
                    let template = self.template(*index);
                    out.push_str(self.interner.name(template.name));
                    self.write_scope(template.scope, out)?;
                }
                TArg::Pack(args) => self.write_args(args, out)?,
            }
            out.push(',');
        }
        out.push('>');
        Some(())
    }

    fn write_type(&self, ty: &Ty, out: &mut String) -> Option<()> {
        if ty.is_const {
            out.push_str("const ");
        }
        if ty.is_volatile {
            out.push_str("volatile ");
        }
        match &ty.kind {
            Kind::Error | Kind::Braced => return None,
            Kind::Void => out.push_str("void"),
            Kind::Nullptr => out.push_str("nullptr_t"),
            Kind::Num(num) => out.push_str(num.name()),
            Kind::Pointer(of) => {
                self.write_type(of, out)?;
                out.push('*');
            }
            Kind::Reference(of) => {
                self.write_type(of, out)?;
                out.push('&');
            }
            Kind::RvalueReference(of) => {
                self.write_type(of, out)?;
                out.push_str("&&");
            }
            Kind::Array(of, len) => {
                self.write_type(of, out)?;
                _ = write!(out, "[{}]", len.map_or(String::new(), |len| len.to_string()));
            }
            Kind::Enum(e) => {
                out.push_str(&e.name);
                let (_, scope) = *self.enum_places.get(e.id as usize)?;
                self.write_scope(scope, out)?;
            }
            Kind::Struct(s) if s.vector.is_some() => out.push_str(&s.name),
            Kind::Struct(s) => self.write_class(s.id, out)?,
            Kind::Function(func) => {
                self.write_type(&func.ret, out)?;
                out.push('(');
                for param in &func.params {
                    self.write_type(param, out)?;
                    out.push(',');
                }
                out.push(')');
            }
        }
        Some(())
    }

    /// A unit may define the function for itself although another does: it is inline, of the device, or an instance.
    fn is_repeated(func: &FuncInfo<'_>) -> bool {
        func.linkage == Linkage::Inline || func.template.is_some() || matches!(func.side, Side::Device | Side::Both)
    }

    /// This unit has a body for the function, here or further down.
    fn has_own_body(&self, index: FuncIndex) -> bool {
        let func = self.func(index);
        func.code.is_some() || func.template.is_none() && self.bodies.contains(&func.name)
    }

    /// The handle that a function has from another unit; enters its symbol where it has one.
    pub(in crate::front::lower) fn linked_function(&mut self, index: FuncIndex) -> Option<FuncId> {
        if self.links.is_single() {
            return None;
        }
        if self.in_library(self.func(index).span) {
            return self.linked_library(index);
        }
        let symbol = self.symbol_of(index)?;
        let repeated = Self::is_repeated(self.func(index));
        let span = self.func(index).span;
        if repeated && self.links.function_defined(&symbol).is_some() && self.has_own_body(index) {
            if self.func(index).linkage != Linkage::Inline && self.func(index).template.is_none() {
                self.links.own_function(&symbol, span);
            }
            return None;
        }
        self.hold_layouts(index);
        let ret = self.func(index).ret.clone();
        let mut shown = String::new();
        // A result that is not written is as its body has it.
        if self.func(index).auto.is_none() {
            self.write_type(&ret, &mut shown);
        }
        let found = self.links.function(&symbol, &shown);
        let id = match found {
            SymbolMeaning::Known(id) => Some(id),
            SymbolMeaning::Nothing => None,
            SymbolMeaning::Otherwise(id, other, place) => {
                if !other.is_empty() && !shown.is_empty() {
                    let name = self.func(index).display.clone();
                    let message = format!("`{name}` returns `{ret}` here and `{other}` in another file");
                    let diag = Diagnostic::error(Code::Redefinition, span, message);
                    self.links.report(diag.related(place, "declared there"));
                }
                Some(id)
            }
        };
        match id {
            Some(id) => self.func_mut(index).id = Some(id),
            None => {
                let id = self.new_function(index);
                self.links.add_function(&symbol, id, shown, span);
            }
        }
        self.func_mut(index).symbol = Some(symbol.into());
        self.func(index).id
    }

    /// The handle of a function of the library that an earlier unit has, whose body need not be looked at.
    fn linked_library(&mut self, index: FuncIndex) -> Option<FuncId> {
        let func = self.func(index);
        let written = func.code.is_some() && !func.constexpr && func.auto.is_none() && func.side != Side::Kernel;
        if !written || func.progress != Progress::Idle {
            return None;
        }
        let identity = self.identity(index)?;
        let id = self.links.library(identity)?;
        let func = self.func_mut(index);
        (func.id, func.progress) = (Some(id), Progress::Done);
        Some(id)
    }

    /// Another unit has the one definition of a function that there may be; a second one is reported.
    pub(in crate::front::lower) fn is_defined_elsewhere(&mut self, index: FuncIndex) -> bool {
        let func = self.func(index);
        let Some(symbol) = func.symbol.clone() else { return false };
        let Some(first) = self.links.function_defined(&symbol) else { return false };
        if !Self::is_repeated(func) {
            let (span, message) = (func.span, format!("`{}` is defined in two files", func.display));
            let diag = Diagnostic::error(Code::Redefinition, span, message).related(first.span, "first defined here");
            self.links.report(
                diag.help("make it `static` or `inline`, or define it in one file and declare it in the other"),
            );
        }
        true
    }

    /// Notes that a function is being defined.
    pub(in crate::front::lower) fn note_definition(&mut self, index: FuncIndex) {
        if let Some(symbol) = self.func(index).symbol.clone() {
            let span = self.func(index).span;
            self.links.define_function(&symbol, span, &self.module);
        }
    }

    /// Ends a unit: what it calls and does not define is other units' to define.
    pub(in crate::front::lower) fn ask_other_units(&mut self) {
        for i in 0..self.funcs.len() {
            let index = FuncIndex(i as u32);
            let func = self.func(index);
            let Some(called) = func.called.filter(|_| !func.defined && !func.broken && !func.deleted) else { continue };
            let (span, name) = (func.span, func.display.clone());
            if func.symbol.is_none() && !self.links.is_single() {
                self.enter_late(index);
            }
            match self.func(index).symbol.clone() {
                Some(symbol) => self.links.ask_function(&symbol, called, span, name),
                None => self.report_missing_body(&name, called, span),
            }
        }
        if self.links.is_single() {
            self.links.missing_variables(&self.module).into_iter().for_each(|diag| self.report(diag));
        }
    }

    /// Lowers what nobody calls here and other units may call: members of classes that are defined outside of them.
    pub(in crate::front::lower) fn define_for_others(&mut self) {
        if self.links.is_single() {
            return;
        }
        for i in 0..self.funcs.len() {
            let index = FuncIndex(i as u32);
            let func = self.func(index);
            let waits = func.progress == Progress::Idle && func.side == Side::Host && func.code.is_some();
            if !waits || func.broken || func.linkage != Linkage::External || self.in_library(func.span) {
                continue;
            }
            let class = match self.scopes.kind(func.scope) {
                ScopeKind::Class(id) => Some(id),
                _ => None,
            };
            let is_asked = class.is_some_and(|id| self.instantiated.contains(&id));
            let is_whole = func.template.is_none() && class.is_none_or(|id| self.class(id).template.is_none());
            if is_asked || is_whole && self.links.is_mentioned_elsewhere(func.name) {
                self.func_mut(index).progress = Progress::Queued;
                self.enqueue(index);
            }
        }
        self.drain();
    }

    /// Enters a function that seemed to be defined in this unit, as another of its name is. Its calls go to its handle here.
    fn enter_late(&mut self, index: FuncIndex) {
        let Some(symbol) = self.symbol_of(index) else { return };
        let id = self.func_id(index);
        let mut shown = String::new();
        let (ret, params, span) =
            (self.func(index).ret.clone(), self.func(index).params.clone(), self.func(index).span);
        self.write_type(&ret, &mut shown);
        match self.links.function(&symbol, &shown) {
            SymbolMeaning::Known(known) if known != id => {
                let func = &mut self.module.functions[id.index()];
                let mut types: Vec<_> = params.iter().map(param_type).collect();
                if ret.is_struct() {
                    types.push(param_type(&ret.pointer()));
                }
                func.params = types.into_iter().map(|ty| Param::new("argument", ty, span)).collect();
                func.span = span;
                let whole = func.clone();
                self.module.functions[id.index()] = forward(whole, known);
            }
            SymbolMeaning::Known(_) | SymbolMeaning::Otherwise(..) => {}
            SymbolMeaning::Nothing => self.links.add_function(&symbol, id, shown, span),
        }
        self.func_mut(index).symbol = Some(symbol.into());
    }

    /// The names of the functions that a unit has bodies for.
    pub(in crate::front::lower) fn names_with_bodies(items: &[Item], out: &mut HashSet<Symbol>) {
        for item in items {
            match item {
                Item::Function(func) if func.body.is_some() => _ = out.insert(func.name.last().name),
                Item::Namespace(inner) => Self::names_with_bodies(&inner.items, out),
                _ => {}
            }
        }
    }

    /// Holds the structs that a function takes or gives against what other units say of them.
    fn hold_layouts(&mut self, index: FuncIndex) {
        let func = self.func(index);
        let types: Vec<Ty> = func.params.iter().chain([&func.ret]).chain(&func.this).cloned().collect();
        for ty in types {
            self.hold_layout(&ty, index);
        }
    }

    fn hold_layout(&mut self, ty: &Ty, index: FuncIndex) {
        let mut ty = ty;
        while let Kind::Pointer(of) | Kind::Reference(of) | Kind::RvalueReference(of) | Kind::Array(of, _) = &ty.kind {
            ty = of;
        }
        let Some(s) = ty.as_struct().filter(|s| s.vector.is_none()).cloned() else { return };
        let place = self.class(s.id).span;
        if self.in_library(place) {
            return;
        }
        let mut symbol = String::new();
        let mut layout = String::new();
        if self.write_class(s.id, &mut symbol).is_none() || self.write_layout(&s, 0, &mut layout).is_none() {
            return;
        }
        if let Some(other) = self.links.layout(&symbol, layout, place) {
            let message = format!(
                "`{}` has other members here than in another file, and `{}` passes it between them",
                s.name,
                self.func(index).display
            );
            let diag = Diagnostic::error(Code::Redefinition, place, message).related(other, "the other one");
            self.links.report(diag.help("give one of the two another name, or put it into a namespace without a name"));
        }
    }

    fn write_layout(&self, s: &StructTy, depth: u32, out: &mut String) -> Option<()> {
        let layout = s.layout.get()?;
        _ = write!(out, "{}:{{", layout.size);
        for (base, offset) in &layout.bases {
            _ = write!(out, "{offset} ");
            self.write_member(base, depth, out)?;
        }
        for field in &layout.fields {
            let name = field.name.map_or("", |name| self.interner.name(name));
            _ = write!(out, "{name} {} ", field.offset);
            self.write_member(&field.ty, depth, out)?;
        }
        out.push('}');
        Some(())
    }

    fn write_member(&self, ty: &Ty, depth: u32, out: &mut String) -> Option<()> {
        self.write_type(ty, out)?;
        match ty.innermost().as_struct() {
            Some(inner) if depth < MAX_DEPTH && inner.vector.is_none() => self.write_layout(inner, depth + 1, out),
            _ => Some(()),
        }
    }

    // Variables.

    /// The symbol of a variable of the host that is being declared, and how it is declared.
    pub(super) fn host_linkage(
        &self,
        specs: &Specifiers,
        var: Symbol,
        ty: &Ty,
        was_extern: bool,
    ) -> Option<(Rc<str>, Linkage)> {
        let is_constant = ty.innermost().is_const || specs.constexpr;
        let internal = specs.is_static || is_constant && !specs.is_extern && !was_extern;
        if internal || self.f.inside || specs.constexpr {
            return None;
        }
        let linkage = if specs.inline { Linkage::Inline } else { Linkage::External };
        Some((self.variable_symbol(var, self.scopes.current())?.into(), linkage))
    }

    /// The name has been declared `extern`, and not defined, in the current scope.
    pub(super) fn was_extern(&self, name: Symbol) -> bool {
        matches!(self.scopes.here(name), Some(Decl::Var(id)) if self.only_declared.contains(id))
    }

    /// The variable of the current scope is declared once more by `extern`, which says nothing new. The definition of one that was
    /// only declared takes its place.
    pub(super) fn is_declared_again(&mut self, specs: &Specifiers, var: &VarDecl, ty: &Ty) -> bool {
        let name = var.name.name;
        let Some(Decl::Var(old)) = self.here(name) else { return false };
        let (declares, was) = (specs.is_extern && var.init.is_none(), self.was_extern(name));
        let place = self.var(old).span;
        if self.in_library(place) || !declares && !was {
            return false;
        }
        let before = self.var(old).ty.clone();
        let open = |ty: &Ty| match &ty.kind {
            Kind::Array(elem, _) => (**elem).clone().unqualified(),
            _ => ty.unqualified(),
        };
        if open(&before) != open(ty) && !before.is_error() && !ty.is_error() {
            let text = self.interner.name(name);
            let message = format!("`{text}` is `{ty}` here and `{before}` there");
            let diag = Diagnostic::error(Code::Redefinition, var.name.span, message);
            self.report(diag.related(place, "first declared here"));
        }
        if !declares {
            self.scopes.forget(self.scopes.current(), name);
        }
        declares
    }

    /// Lets other units know a constant that is `extern`.
    pub(super) fn share_constant(&mut self, before: usize, var: &VarDecl) {
        let Some(symbol) = self.variable_symbol(var.name.name, self.scopes.current()) else { return };
        let mut declared = (before as u32..self.vars.len() as u32).map(VarId);
        let Some(id) = declared.find(|id| self.var(*id).name == var.name.name) else { return };
        let (ty, span, name) = (self.var(id).ty.clone(), var.name.span, self.interner.name(var.name.name).to_owned());
        let bytes = match (self.var(id).storage, self.var(id).constant) {
            (Storage::Constant, Some(value)) => value.bytes().to_vec(),
            (Storage::Global(global), _) => self.module.globals[global.index()].bytes.clone(),
            _ => return,
        };
        if let Some(first) = self.links.variable_defined(&symbol) {
            let message = format!("`{name}` is defined in two files");
            let diag = Diagnostic::error(Code::Redefinition, span, message).related(first.span, "first defined here");
            self.links.report(diag.help("define it in one file and declare it `extern` in the other"));
            return;
        }
        let data = Self::data_of(name, bytes, &ty, Space::Host);
        self.linked_variable(&symbol, true, data, (&ty, span));
    }

    /// Notes the definition of a variable of the host; one that another unit has as well is reported.
    pub(super) fn define_host_var(&mut self, id: VarId) {
        let Some(HostVar { symbol: Some((symbol, linkage)), decl, .. }) = self.host_vars.get(&id).cloned() else {
            return;
        };
        let span = decl.name.span;
        if let Some(first) = self.links.variable_defined(&symbol) {
            if linkage == Linkage::External {
                let message = format!("`{}` is defined in two files", self.interner.name(decl.name.name));
                let diag = Diagnostic::error(Code::Redefinition, span, message);
                let help =
                    "make it `static` or `inline`, or define it in one file and declare it `extern` in the other";
                self.links.report(diag.related(first.span, "first defined here").help(help));
            }
            return;
        }
        if self.links.is_single() {
            return;
        }
        // Other units may name what nobody names here.
        let side = std::mem::replace(&mut self.f.side, Side::Host);
        let (_, _) = self.quietly(|this| this.host_data(id, span));
        self.f.side = side;
        self.links.define_variable(&symbol, span);
    }

    /// The data that a variable has from another unit, or from a declaration before it; enters its symbol where it has none.
    pub(in crate::front::lower) fn linked_variable(
        &mut self,
        symbol: &str,
        defines: bool,
        data: GlobalData,
        (ty, span): (&Ty, Span),
    ) -> Global {
        let mut shown = String::new();
        self.write_type(&ty.unqualified(), &mut shown);
        let name = data.name.clone();
        let global = match self.links.variable(symbol, &shown) {
            SymbolMeaning::Known(global) => global,
            SymbolMeaning::Otherwise(global, other, place) => {
                let fits = self.module.globals[global.index()].bytes.len() == data.bytes.len();
                // A declaration may leave the length of an array open.
                if !fits || !ty.is_array() {
                    let message = format!("`{name}` is `{ty}` here and `{other}` in another file");
                    let diag = Diagnostic::error(Code::Redefinition, span, message);
                    self.links.report(diag.related(place, "declared there"));
                }
                global
            }
            SymbolMeaning::Nothing => {
                self.module.globals.push(data);
                let global = Global::new(self.module.globals.len() - 1);
                self.links.add_variable(symbol, global, shown, span);
                if defines {
                    self.links.define_variable(symbol, span);
                } else {
                    self.links.ask_variable(symbol, span, name);
                }
                return global;
            }
        };
        if defines && self.links.variable_defined(symbol).is_none() {
            self.links.set_variable(global, data, &mut self.module);
            self.links.define_variable(symbol, span);
        } else if !defines {
            self.links.ask_variable(symbol, span, name);
        }
        global
    }

    /// The data of a `__device__` or `__constant__` variable: each unit has its own, and one that is declared `extern` is another's.
    pub(super) fn device_data(
        &mut self,
        specs: &Specifiers,
        name: Symbol,
        data: GlobalData,
        (ty, span): (&Ty, Span),
        defines: bool,
    ) -> Global {
        let symbol = match (self.f.inside || specs.is_static, data.space) {
            (true, _) | (_, Space::ReadOnly) => None,
            (false, _) => self.variable_symbol(name, self.scopes.current()),
        };
        match symbol {
            Some(symbol) if !defines || self.links.variable_defined(&symbol).is_none() => {
                self.linked_variable(&symbol, defines, data, (ty, span))
            }
            symbol => {
                if let Some(symbol) = symbol {
                    self.links.own_variable(&symbol, span);
                }
                self.module.globals.push(data);
                Global::new(self.module.globals.len() - 1)
            }
        }
    }

    /// The symbol of a variable that a function of the host keeps between calls: several units that have the function share it.
    pub(super) fn kept_symbol(&mut self, name: &str) -> Option<String> {
        if self.links.is_single() || self.f.side != Side::Host {
            return None;
        }
        let function = self.f.symbol.clone()?;
        self.f.kept += 1;
        Some(format!("{name}#{}@{function}", self.f.kept))
    }

    /// The symbol that an inline function's variables are known by.
    pub(in crate::front::lower) fn inline_symbol(&self, index: FuncIndex) -> Option<Rc<str>> {
        let func = self.func(index);
        let shared = func.linkage == Linkage::Inline || func.template.is_some();
        if self.links.is_single() || !shared || self.in_library(func.span) {
            return None;
        }
        self.symbol_of(index).map(Into::into)
    }

    /// A new function without a body.
    pub(in crate::front::lower) fn new_function(&mut self, index: FuncIndex) -> FuncId {
        let id = FuncId::new(self.module.functions.len());
        self.func_mut(index).id = Some(id);
        let func = self.empty_function(index);
        self.module.functions.push(func);
        id
    }

    /// A function of the module before its body is lowered.
    pub(in crate::front::lower) fn empty_function(&self, index: FuncIndex) -> Function {
        let info = self.func(index);
        let mut func = Function::new(info.display.clone(), self.function_kind(index), info.span);
        func.ret = info.ret.ir();
        func
    }

    /// The kind of function that the back end takes a function for.
    fn function_kind(&self, index: FuncIndex) -> FuncKind {
        let info = self.func(index);
        let ours = self.in_library(info.span);
        match info.side {
            Side::Kernel => FuncKind::Kernel,
            Side::Host => {
                let is_number = |ty: &Ty| ty.arithmetic().is_some();
                let plain = info.template.is_none() && info.this.is_none() && info.role == Role::Plain;
                let numbers = info.params.iter().all(is_number) && (info.ret.is_void() || is_number(&info.ret));
                let ours = ours && !info.display.starts_with(ENTRY);
                if plain && numbers && !ours { FuncKind::Host } else { FuncKind::HostHelper }
            }
            Side::Device | Side::Both => FuncKind::Device,
        }
    }

    /// Functions that earlier units have made whole.
    pub(in crate::front::lower) fn whole_before(&self) -> Vec<bool> {
        self.module.functions.iter().map(has_body).collect()
    }
}
