//! Variables of host code at namespace scope, `static long calls;`: data of the module, made where a host function first names one. What
//! is no constant (a table of functions and texts) is computed once, by a function that runs before any other of the program. There all of
//! the text's variables get their values in the order they are defined in, those that nobody names as well where that may do something.
//!
//! A computed `static` of a function gets its value where control first passes it. An object that owns memory cannot outlive its call:
//! constant ones are made anew, others are refused.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Init, Specifiers, VarDecl};
use crate::front::link::Linkage;
use crate::front::lower::declarations::MAX_DEVICE;
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed, VarId};
use crate::front::lower::functions::usage;
use crate::front::lower::scopes::names::{Callable, GLOBAL, ScopeId};
use crate::front::lower::{FuncInfo, FuncState, Lowerer, Progress, Role, Side, Storage};
use crate::front::types::{Kind, Num, Ty};
use crate::ir::{Block, Builder, Global, Op, Scalar, Space, Stmt, Type};
use crate::source::Span;
use std::rc::Rc;

/// The function that computes variables. Its name sorts before those of registrations.
const COMPUTE: &str = "__wb_entry_register_0_globals";

/// A variable of the host.
#[derive(Clone)]
pub(in crate::front::lower) struct HostVar<'a> {
    pub specs: &'a Specifiers,
    pub decl: &'a VarDecl,
    pub scope: ScopeId,
    /// Data, once asked for.
    pub data: Option<Global>,
    /// Its first value is being worked out.
    pub busy: bool,
    /// Symbol by which other units know it.
    pub symbol: Option<(Rc<str>, Linkage)>,
    /// This unit defines it: it is not only declared `extern`.
    pub defines: bool,
    /// Number of those declared before it.
    pub order: usize,
    /// Functions that name it make it anew.
    pub is_remade: bool,
}

impl<'a> Lowerer<'a> {
    /// The type of a variable of the host: an array's length follows from its list.
    pub(in crate::front::lower) fn host_type(&self, var: &'a VarDecl, ty: Ty) -> Ty {
        match (&ty.kind, &var.init) {
            (Kind::Array(elem, None), Some(Init::List(items, _)))
                if !items.iter().any(|i| matches!(i, Init::Designated(..))) =>
            {
                let made = Kind::Array(elem.clone(), u32::try_from(items.len()).ok());
                Ty { kind: made, ..ty.clone() }
            }
            _ => ty,
        }
    }

    /// The data of a variable of the host, for a host function; `None` where it cannot be.
    pub(in crate::front::lower) fn host_data(&mut self, id: VarId, span: Span) -> Option<Global> {
        let known = self.host_vars.get(&id)?.clone();
        if self.f.side != Side::Host {
            return None;
        }
        if known.data.is_some() {
            return known.data;
        }
        let ty = self.var(id).ty.clone();
        let name = self.interner.name(self.var(id).name).to_owned();
        if ty.is_reference() {
            let message = "references at namespace scope are not supported";
            self.report(Diagnostic::error(Code::Unsupported, span, message).help("make it a variable"));
            return None;
        }
        let size = ty.size()?;
        if !self.has_room(&name, size, span) {
            return None;
        }
        if self.needs_destructor(&ty) && ty.is_const {
            return None;
        }
        if self.needs_destructor(&ty) {
            self.owns_memory(&name, span);
            return None;
        }
        if known.busy {
            // It names itself: what it is then is no constant.
            self.failed = true;
            return None;
        }
        if let Some(known) = self.host_vars.get_mut(&id) {
            known.busy = true;
        }
        let (bytes, fine) = self.quietly(|this| this.static_bytes(known.decl, ty.clone()));
        let bytes = bytes.1.filter(|b| fine && b.len() == size as usize);
        let is_constant = bytes.is_some() || !known.defines;
        let bytes = bytes.unwrap_or_else(|| vec![0; size as usize]);
        let (data, is_constant) = match known.symbol {
            Some((symbol, _)) => {
                let made = self.links.variable_defined(&symbol).is_some();
                let data = Self::data_of(name, bytes, &ty, Space::Host);
                (self.linked_variable(&symbol, known.defines, data, (&ty, known.decl.name.span)), is_constant || made)
            }
            None => (self.add_data(name, bytes, &ty, Space::Host), is_constant),
        };
        if let Some(known) = self.host_vars.get_mut(&id) {
            (known.data, known.busy) = (Some(data), false);
        }
        if !is_constant {
            self.computed.push(id);
        }
        Some(data)
    }

    /// Reports a variable that would keep memory between calls.
    pub(in crate::front::lower) fn owns_memory(&mut self, name: &str, span: Span) {
        let message = format!("`{name}` owns memory, and memory ends with the call that asked for it");
        let help = "make it inside of the function, without `static`";
        self.report(Diagnostic::error(Code::Unsupported, span, message).help(help));
    }

    /// A variable of that size is possible; reports where it is not.
    fn has_room(&mut self, name: &str, size: u32, span: Span) -> bool {
        if size > MAX_DEVICE {
            let message = format!("`{name}` takes {size} bytes, and at most {MAX_DEVICE} are possible");
            self.report(Diagnostic::error(Code::StackLimit, span, message).help("allocate it inside of the function"));
        }
        size <= MAX_DEVICE
    }

    /// A constant object of the host's that owns memory: it is made anew where a function names it, for memory ends with its call.
    pub(in crate::front::lower) fn host_object(&mut self, id: VarId) -> Option<VarId> {
        let known = self.host_vars.get(&id)?.clone();
        let ty = self.var(id).ty.clone();
        self.try_complete(&ty);
        if self.f.side != Side::Host || !ty.is_const || !self.needs_destructor(&ty) || known.decl.init.is_none() {
            return None;
        }
        if let Some(known) = self.host_vars.get_mut(&id) {
            known.is_remade = true;
        }
        let inner = self.body_scope(known.scope);
        let here = self.scopes.enter(inner);
        let plain = Specifiers { is_static: false, is_extern: false, constexpr: false, ..*known.specs };
        let made = VarId(self.vars.len() as u32);
        self.local_variable(&plain, known.decl);
        self.scopes.enter(here);
        // The variable is the first that is declared, but for those that its initialiser keeps.
        let name = known.decl.name.name;
        let mut declared = (made.0..self.vars.len() as u32).map(VarId);
        declared.find(|id| self.var(*id).name == name && !self.var(*id).ty.is_error())
    }

    /// Asks for the variables of the text that nobody names and whose first values do something: one of them may register, or count.
    fn ask_for_effects(&mut self) {
        let waits = |this: &Self, id: VarId, var: &HostVar<'a>| {
            let is_left = var.defines && var.data.is_none() && !var.is_remade && !this.in_library(var.decl.name.span);
            is_left && this.has_effects(&this.var(id).ty, var.decl)
        };
        let waiting = self.host_vars.iter().filter(|(id, var)| waits(self, **id, var));
        let mut ids: Vec<(usize, VarId)> = waiting.map(|(id, var)| (var.order, *id)).collect();
        ids.sort_unstable_by_key(|(order, _)| *order);
        let side = std::mem::replace(&mut self.f.side, Side::Host);
        for (_, id) in ids {
            let ty = self.var(id).ty.clone();
            self.try_complete(&ty);
            // A value that cannot stay is computed all the same, and is never seen.
            if ty.is_reference() || self.needs_destructor(&ty) {
                self.computed.push(id);
            } else {
                let span = self.host_vars.get(&id).map_or(Span::NONE, |var| var.decl.name.span);
                self.host_data(id, span);
            }
        }
        self.f.side = side;
    }

    /// The first value of a variable may do more than give that value.
    fn has_effects(&self, ty: &Ty, decl: &VarDecl) -> bool {
        // Making a `torch::RegisterOperators` registers.
        let registers = ty.as_struct().is_some_and(|s| s.name == "RegisterOperators");
        registers || decl.init.as_ref().is_some_and(usage::may_act) || self.has_own_constructor(ty)
    }

    /// An object of the type is made by functions of the text that run.
    fn has_own_constructor(&self, ty: &Ty) -> bool {
        let Some(s) = ty.innermost().as_struct() else { return false };
        let class = self.class(s.id);
        let runs = |c: &Callable| !matches!(c, Callable::Func(f) if self.func(*f).constexpr);
        let own = !self.in_library(class.span) && class.constructors.iter().any(runs);
        own || class.defaults.iter().any(|(_, init)| usage::may_act(init))
            || s.layout.get().is_some_and(|layout| {
                let fields = layout.fields.iter().map(|f| &f.ty);
                fields.chain(layout.bases.iter().map(|(base, _)| base)).any(|ty| self.has_own_constructor(ty))
            })
    }

    /// Writes the function that computes the variables which are no constants: the library's, then the text's by their definitions.
    pub(in crate::front::lower) fn finish_host_data(&mut self) {
        self.ask_for_effects();
        if self.computed.is_empty() {
            return;
        }
        let index = self.compute_function();
        let id = self.func_id(index);
        let func = self.module.functions[id.index()].clone();
        self.serials += 1;
        let mut state = FuncState {
            b: Builder::new(func),
            side: Side::Host,
            inside: true,
            serial: self.serials,
            ..FuncState::outside()
        };
        let mut parts: Vec<((bool, usize), Block)> = Vec::new();
        // Computing one may name others, and so may the functions that it calls.
        while parts.len() < self.computed.len() {
            let outer = std::mem::replace(&mut self.f, state);
            while let Some(&id) = self.computed.get(parts.len()) {
                self.f.b.open();
                self.compute(id);
                let place =
                    self.host_vars.get(&id).map_or((true, 0), |var| (!self.in_library(var.decl.name.span), var.order));
                parts.push((place, self.f.b.close()));
            }
            state = std::mem::replace(&mut self.f, outer);
            self.drain();
        }
        parts.sort_by_key(|(place, _)| *place);
        parts.into_iter().for_each(|(_, part)| state.b.splice(part, false));
        state.b.span = self.func(index).span;
        state.b.push(Stmt::Return(None));
        self.module.functions[id.index()] = state.b.finish();
    }

    fn compute_function(&mut self) -> FuncIndex {
        self.add_func(FuncInfo {
            name: self.known.call,
            display: COMPUTE.to_owned(),
            side: Side::Host,
            role: Role::Plain,
            defaults: Vec::new(),
            params: Vec::new(),
            ret: Ty::void(),
            auto: None,
            span: Span::NONE,
            whole: Span::NONE,
            id: None,
            defined: true,
            called: None,
            called_in: None,
            callers: Vec::new(),
            broken: false,
            code: None,
            bounds: &[],
            scope: GLOBAL,
            this: None,
            constexpr: false,
            deleted: false,
            explicit: false,
            guard: None,
            progress: Progress::Done,
            template: None,
            context: None,
            linkage: Linkage::Internal,
            symbol: None,
        })
    }

    /// Writes a variable's first value, in which its name means the variable itself.
    fn compute(&mut self, id: VarId) {
        let Some(HostVar { decl, scope, data, .. }) = self.host_vars.get(&id).cloned() else { return };
        let (ty, span) = (self.var(id).ty.unqualified(), decl.name.span);
        let inner = self.body_scope(scope);
        let here = self.scopes.enter(inner);
        let mark = self.begin_scope();
        match (&decl.init, data) {
            (Some(init), None) if ty.is_reference() => {
                if let Some(e) = init.only_expr() {
                    let e = self.expr(e);
                    self.effect(&e);
                }
            }
            _ => {
                if let Some(value) = self.first_value(decl, &ty) {
                    self.write_first(&value, data, span);
                }
            }
        }
        self.end_scope(mark, span);
        self.scopes.enter(here);
    }

    /// The value that a declaration gives; `None` where it gives none, or is wrong.
    fn first_value(&mut self, decl: &'a VarDecl, ty: &Ty) -> Option<Typed> {
        let name = self.interner.name(decl.name.name).to_owned();
        let value = match (&decl.init, &ty.kind) {
            (None, Kind::Struct(_) | Kind::Array(..)) => self.default_initialised(ty, decl.name.span)?,
            (None, _) => return None,
            (Some(init), Kind::Array(..)) => {
                let (ty, elements) = self.array_elements(&name, ty.clone(), init)?;
                Typed::value(ty, decl.name.span, Node::Init(elements.into()))
            }
            (Some(init), Kind::Struct(_)) => self.init_value(&name, ty, init)?,
            (Some(_), _) => self.scalar_init(decl, ty)?,
        };
        (!value.is_error()).then_some(value)
    }

    /// Writes a first value to its data; without any to memory that is forgotten.
    fn write_first(&mut self, value: &Typed, data: Option<Global>, span: Span) {
        let Some(data) = data else {
            let size = value.ty.size().unwrap_or(1);
            let slot = self.slot(String::new(), size, value.ty.align(), value.ty.uniform(), span);
            let to = self.at(span).bind(Type::Ptr, Op::SlotAddr(slot));
            return self.emit_into(value, to);
        };
        if value.ty.is_struct() || value.ty.is_array() {
            let to = self.at(span).bind(Type::Ptr, Op::GlobalAddr(data));
            self.emit_into(value, to);
        } else {
            let value = self.emit_value(value);
            let b = self.at(span);
            let to = b.bind(Type::Ptr, Op::GlobalAddr(data));
            b.store(to, value, false);
        }
    }

    /// `static T x = f();` in a function of the host's: the first time that this is reached the value is computed, and stays.
    pub(in crate::front::lower) fn computed_static(&mut self, var: &'a VarDecl, ty: &Ty) -> bool {
        let ty = self.host_type(var, ty.clone());
        let Some(size) = ty.size() else { return false };
        let (name, span) = (self.interner.name(var.name.name).to_owned(), var.name.span);
        if !self.has_room(&name, size, span) {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return true;
        }
        let data = self.kept_data(name.clone(), vec![0; size as usize], (&ty, span), Space::Host);
        let is_made = self.kept_data(format!("{name} is made"), vec![0], (&Ty::from(Num::Bool), span), Space::Host);
        let b = self.at(span);
        let flag = b.bind(Type::Ptr, Op::GlobalAddr(is_made));
        let made = b.load(flag, Type::Scalar(Scalar::Bool), false);
        self.f.b.open();
        self.declare_var(var, ty.clone(), Storage::Global(data), None);
        let mark = self.begin_scope();
        if let Some(value) = self.first_value(var, &ty.unqualified()) {
            self.write_first(&value, Some(data), span);
        }
        self.end_scope(mark, span);
        let b = self.at(span);
        let flag = b.bind(Type::Ptr, Op::GlobalAddr(is_made));
        let one = b.constant(crate::ir::Const::Bool(true));
        b.store(flag, one, false);
        let els = self.f.b.close();
        self.at(span).push(Stmt::If { cond: made, then: Block::default(), els });
        true
    }
}
