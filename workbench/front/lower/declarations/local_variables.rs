//! Variables of functions: where each lives, and how it gets its first value.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Declaration, Init, Specifiers, VarDecl};
use crate::front::lower::expressions::typed_tree::{Node, Typed, VarId};
use crate::front::lower::functions::usage;
use crate::front::lower::{Lowerer, Side, Storage};
use crate::front::types::{Kind, Ty};
use crate::ir::{Const, Op, Scalar, Slot, SlotData, Stmt, Type, Value};
use crate::source::Span;

/// CUDA's local memory of a thread (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MAX_LOCAL_MEMORY: u64 = 512 * 1024;

impl<'a> Lowerer<'a> {
    /// A declaration statement.
    pub(in crate::front::lower) fn local_declaration(&mut self, decl: &'a Declaration) {
        for var in &decl.vars {
            self.local_variable(&decl.specs, var);
        }
    }

    pub(in crate::front::lower) fn local_variable(&mut self, specs: &Specifiers, var: &'a VarDecl) {
        if specs.shared {
            self.shared_variable(specs, var);
            return;
        }
        let refused = self.refuse_storage(specs, var);
        // A name is declared before its initialiser, which then means the new variable ([basic.scope.pdecl]).
        let own = var.init.as_ref().is_some_and(|init| usage::mentions(init, var.name.name));
        if own && var.ty.base.is_auto() {
            self.own_initializer(var, "the type of `auto` is taken from it");
            return;
        }
        let is_plain = !refused && !specs.is_static && !specs.constexpr && var.init.is_none();
        if is_plain && self.array_of_run_time_length(var) {
            return;
        }
        let Some(ty) = self.declared_type(var).map(|ty| ty.qualified(specs.constexpr, false)) else {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        };
        if refused {
            self.declare_var(var, ty, Storage::Nowhere, None);
            return;
        }
        let on_host = specs.is_static && self.f.side == Side::Host && !ty.is_reference();
        // A constant object that owns memory is made anew in each call, with whose end memory ends: nobody can tell.
        let made = on_host && ty.is_const && self.needs_destructor(&ty);
        if on_host && !made && self.needs_destructor(&ty) {
            let name = self.text(&var.name).to_owned();
            self.owns_memory(&name, var.name.span);
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        }
        if on_host
            && !made
            && !self.needs_destructor(&ty)
            && var.init.is_some()
            && !own
            && !self.has_static_bytes(var, &ty)
            && self.computed_static(var, &ty)
        {
            return;
        }
        let plain = Specifiers { is_static: false, ..*specs };
        let specs = if made { &plain } else { specs };
        if specs.is_static && !is_const(specs, var) && !ty.is_reference() {
            // One for the whole program, as CUDA has it, set once and kept between launches: of the device, but in host code.
            let device = specs.device || self.f.side != Side::Host;
            let specs = Specifiers { is_static: false, device, ..*specs };
            return self.module_variable(&specs, var, ty);
        }
        match &ty.kind {
            Kind::Reference(_) | Kind::RvalueReference(_) if own => {
                self.own_initializer(var, "a reference needs something to refer to");
            }
            Kind::Reference(target) | Kind::RvalueReference(target) => {
                let storage = self.reference_variable(var, &ty, target);
                self.declare_var(var, ty, storage, None);
            }
            Kind::Array(..) if own && ty.size().is_none() => {
                self.own_initializer(var, "its length is taken from the list");
            }
            Kind::Array(..) => self.array_variable(specs, var, ty, own),
            Kind::Struct(_) if own => self.own_initializer(var, "a struct is made before it has members to read"),
            Kind::Struct(_) => self.struct_variable(specs, var, ty),
            _ if own => self.own_scalar(specs, var, ty),
            _ => {
                let mark = self.begin_scope();
                self.scalar_variable(specs, var, ty);
                self.end_scope(mark, var.name.span);
            }
        }
        self.note_end_of_life(var);
    }

    /// The variable is there before the program runs.
    fn has_static_bytes(&mut self, var: &'a VarDecl, ty: &Ty) -> bool {
        let ((_, bytes), fine) = self.quietly(|this| this.static_bytes(var, ty.clone()));
        fine && bytes.is_some()
    }

    /// Reports an initialiser that uses its variable where it cannot.
    fn own_initializer(&mut self, var: &'a VarDecl, why: &str) {
        let message = format!("`{}` is used in its own initialiser: {why}", self.text(&var.name));
        self.report(
            Diagnostic::error(Code::BadInitializer, var.name.span, message).help("give one of the two another name"),
        );
        self.declare_var(var, Ty::error(), Storage::Nowhere, None);
    }

    /// A scalar whose initialiser names it: the variable comes first, with no value yet.
    fn own_scalar(&mut self, specs: &Specifiers, var: &'a VarDecl, ty: Ty) {
        let (name, span) = (self.text(&var.name).to_owned(), var.name.span);
        let Some(ir) = ty.ir() else {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        };
        let storage = if self.f.usage.is_taken(var.name.name) || ty.is_volatile {
            Storage::Slot(self.slot(name.clone(), ir.size(), ir.size(), ty.scalar(), span))
        } else {
            Storage::Local(self.f.b.func.new_local(name.clone(), ir))
        };
        self.declare_var(var, ty.clone(), storage, None);
        let Some(value) = self.scalar_init(var, &ty) else { return };
        if specs.constexpr || specs.is_static {
            self.not_constant(&value, &format!("the value of `{name}`"));
            return;
        }
        let value = self.emit_value(&value);
        let b = self.at(span);
        match storage {
            Storage::Local(local) => b.push(Stmt::Set(local, value)),
            Storage::Slot(slot) => {
                let ptr = b.bind(Type::Ptr, Op::SlotAddr(slot));
                b.store(ptr, value, ty.is_volatile);
            }
            _ => {}
        }
    }

    /// Reports storage classes that are not supported.
    fn refuse_storage(&mut self, specs: &Specifiers, var: &'a VarDecl) -> bool {
        let name = self.text(&var.name).to_owned();
        let (message, help) = if specs.is_extern || specs.constant || specs.device {
            let message = format!("`{name}` cannot be declared like this inside a function");
            (message, "move the declaration to namespace scope")
        } else {
            return false;
        };
        self.report(Diagnostic::error(Code::Unsupported, var.name.span, message).help(help));
        true
    }

    fn reference_variable(&mut self, var: &'a VarDecl, reference: &Ty, target: &Ty) -> Storage {
        let name = self.text(&var.name).to_owned();
        let Some(init) = var.init.as_ref().and_then(Init::only_expr) else {
            let message = format!("reference `{name}` must be initialised");
            self.report(Diagnostic::error(Code::BadInitializer, var.name.span, message));
            return Storage::Nowhere;
        };
        let e = self.expr(init);
        let address = self.bind_to(e, reference, target, |from| {
            format!("`{name}` is `{reference}`, which cannot refer to this `{from}`")
        });
        if address.is_error() {
            return Storage::Nowhere;
        }
        Storage::Reference(self.emit_value(&address))
    }

    fn scalar_variable(&mut self, specs: &Specifiers, var: &'a VarDecl, ty: Ty) {
        let name = self.text(&var.name).to_owned();
        let symbol = var.name.name;
        let value = self.scalar_init(var, &ty);
        let value = match value {
            Some(v) if ty.is_const && !ty.is_volatile && (specs.constexpr || specs.is_static || self.cheap(&v)) => {
                Some(self.folded(v))
            }
            value => value,
        };
        if var.init.is_some() && value.is_none() {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        }
        if ty.is_const && var.init.is_none() {
            let message = format!("`{name}` is const and has no value");
            self.report(
                Diagnostic::error(Code::BadInitializer, var.name.span, message)
                    .help("initialise it, or take `const` away"),
            );
        }
        let constant = value.as_ref().and_then(Typed::constant).filter(|_| ty.is_const && !ty.is_volatile);
        if constant.is_some() {
            self.declare_var(var, ty, Storage::Constant, constant);
            return;
        }
        if let Some(value) = value.as_ref().filter(|_| specs.constexpr || specs.is_static) {
            // A function's address is known, and no number.
            let function = ty.pointee().is_some_and(|target| matches!(target.kind, Kind::Function(..)));
            let known =
                |this: &mut Self| Self::as_function(value).is_some() || this.constant_object(value, &ty).is_some();
            if !function || !known(self) {
                self.not_constant(value, &format!("the value of `{name}`"));
                self.declare_var(var, Ty::error(), Storage::Nowhere, None);
                return;
            }
        }
        let Some(ir) = ty.ir() else {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        };
        let span = var.name.span;
        let storage = if self.f.usage.is_taken(symbol) || ty.is_volatile {
            let value = value.map(|v| self.emit_value(&v));
            let slot = self.slot(name, ir.size(), ir.size(), ty.scalar(), span);
            if let Some(value) = value {
                let b = self.at(span);
                let ptr = b.bind(Type::Ptr, Op::SlotAddr(slot));
                b.store(ptr, value, ty.is_volatile);
            }
            Storage::Slot(slot)
        } else {
            match value.map(|v| self.emit_value(&v)) {
                Some(value) if !self.f.usage.is_assigned(symbol) => Storage::Value(value),
                value => {
                    let local = self.f.b.func.new_local(name, ir);
                    if let Some(value) = value {
                        self.at(span).push(Stmt::Set(local, value));
                    }
                    Storage::Local(local)
                }
            }
        };
        self.declare_var(var, ty, storage, None);
    }

    fn array_variable(&mut self, specs: &Specifiers, var: &'a VarDecl, ty: Ty, own: bool) {
        let name = self.text(&var.name).to_owned();
        let span = var.name.span;
        let Some(init) = &var.init else {
            if ty.innermost().is_struct() && ty.size().is_some() {
                let value = self.default_initialised(&ty, span);
                return self.object_variable(var, ty, value.filter(|v| !v.is_error()));
            }
            let storage = match ty.size() {
                Some(size) => Storage::Slot(self.slot(name, size, ty.variable_align(), ty.innermost().scalar(), span)),
                None => {
                    let message = format!("`{name}` has neither a length nor a list to take it from");
                    self.report(Diagnostic::error(Code::BadInitializer, span, message).help("write the length: `[n]`"));
                    Storage::Nowhere
                }
            };
            self.declare_var(var, ty, storage, None);
            return;
        };
        let must = specs.constexpr || specs.is_static;
        let slot = match ty.size().filter(|_| own) {
            Some(size) => {
                let slot = self.slot(name.clone(), size, ty.variable_align(), ty.innermost().scalar(), span);
                self.declare_var(var, ty.clone(), Storage::Slot(slot), None);
                Some(slot)
            }
            None => None,
        };
        if slot.is_some() && must {
            let message = format!("`{name}` is used in its own initialiser, which is no constant");
            self.report(Diagnostic::error(Code::BadInitializer, span, message).help("take the word away"));
            return;
        }
        if slot.is_none() && (must || ty.innermost().is_const) && !ty.innermost().is_volatile {
            let before = self.diags.len();
            if let Some((ty, global)) = self.constant_table(var, ty.clone(), must) {
                self.declare_var(var, ty, Storage::Global(global), None);
                return;
            }
            if must || self.diags.len() > before {
                self.declare_var(var, Ty::error(), Storage::Nowhere, None);
                return;
            }
        }
        let Some((ty, elements)) = self.array_elements(&name, ty, init) else {
            if slot.is_none() {
                self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            }
            return;
        };
        let value = Typed::value(ty.clone(), span, Node::Init(elements.into()));
        match slot {
            Some(slot) => self.fill(slot, &ty, Some(&value), span),
            None => self.object_variable(var, ty, Some(value)),
        }
    }

    /// A variable of struct type.
    fn struct_variable(&mut self, specs: &Specifiers, var: &'a VarDecl, ty: Ty) {
        let name = self.text(&var.name).to_owned();
        let must = specs.constexpr || specs.is_static;
        if must {
            let (ty, storage) = match self.constant_table(var, ty.clone(), true) {
                Some((ty, global)) => (ty, Storage::Global(global)),
                None => (Ty::error(), Storage::Nowhere),
            };
            self.declare_var(var, ty, storage, None);
            return;
        }
        // A callable that calls itself: a lambda of the initialiser captures the variable.
        if let (Side::Host, Some(size), Some(init)) = (self.f.side, ty.size(), &var.init)
            && !var.ty.base.is_auto()
            && usage::has_lambda(init)
        {
            let slot = self.slot(name.clone(), size, ty.variable_align(), ty.uniform(), var.name.span);
            self.declare_var(var, ty.clone(), Storage::Slot(slot), None);
            let value = self.init_value(&name, &ty, init).filter(|v| !v.is_error());
            if let Some(value) = value {
                self.fill(slot, &ty, Some(&value), var.name.span);
            }
            return;
        }
        let value = match &var.init {
            Some(init) => match self.init_value(&name, &ty, init) {
                Some(value) => Some(value),
                None => {
                    self.declare_var(var, Ty::error(), Storage::Nowhere, None);
                    return;
                }
            },
            None => self.default_initialised(&ty, var.name.span),
        };
        if value.as_ref().is_some_and(Typed::is_error) {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        }
        self.object_variable(var, ty, value);
    }

    /// Memory for a variable of struct or array type, written to when it has a value.
    fn object_variable(&mut self, var: &'a VarDecl, ty: Ty, value: Option<Typed>) {
        let (name, span) = (self.text(&var.name).to_owned(), var.name.span);
        let Some(size) = ty.size() else {
            self.declare_var(var, Ty::error(), Storage::Nowhere, None);
            return;
        };
        let slot = self.slot(name, size, ty.variable_align(), ty.uniform(), span);
        // Its name is known in its own initialiser.
        self.declare_var(var, ty.clone(), Storage::Slot(slot), None);
        self.fill(slot, &ty, value.as_ref(), span);
    }

    /// Gives memory its first value, if there is one; its destructor runs when the scope ends.
    fn fill(&mut self, slot: Slot, ty: &Ty, value: Option<&Typed>, span: Span) {
        if let Some(value) = value {
            // Temporaries of the initialiser end with it.
            let mark = self.begin_scope();
            let to = self.at(span).bind(Type::Ptr, Op::SlotAddr(slot));
            self.emit_into(value, to);
            self.end_scope(mark, span);
        }
        if self.needs_destructor(ty) {
            self.note_cleanup(slot, ty);
        }
    }

    /// An initialiser may be worth evaluating while compiling: it holds calls of `constexpr` functions only.
    fn cheap(&self, e: &Typed) -> bool {
        match &e.node {
            Node::Const(_) => true,
            Node::Convert(a) | Node::Unary(_, a) => self.cheap(a),
            Node::Binary(_, a, b) | Node::Compare(_, a, b) => self.cheap(a) && self.cheap(b),
            Node::Call(index, args) => self.func(*index).constexpr && args.iter().all(|a| self.cheap(a)),
            Node::Load(place) => match &place.node {
                Node::Member(inner, _) => self.is_global_constant(inner),
                Node::BitField(byte, _) => match &byte.node {
                    Node::Member(inner, _) => self.is_global_constant(inner),
                    _ => false,
                },
                _ => self.is_global_constant(place),
            },
            _ => false,
        }
    }

    fn is_global_constant(&self, e: &Typed) -> bool {
        e.as_var().is_some_and(|id| matches!(self.var(id).storage, Storage::Global(_) | Storage::Constant))
    }

    /// Memory of the thread, held against CUDA's limit.
    pub(in crate::front::lower) fn slot(
        &mut self,
        name: String,
        size: u32,
        align: u32,
        elem: Option<Scalar>,
        span: Span,
    ) -> Slot {
        self.f.stack += u64::from(size);
        if self.f.stack > MAX_LOCAL_MEMORY && !self.f.stack_reported {
            self.f.stack_reported = true;
            let message = format!(
                "the local variables of this function take {} bytes, and a thread has {MAX_LOCAL_MEMORY}",
                self.f.stack
            );
            self.report(Diagnostic::error(Code::StackLimit, span, message).help("pass a buffer as a parameter"));
        }
        // A refused function keeps small slots, so that nothing behind it has to cope.
        let size = if self.f.stack_reported { size.min(16) } else { size };
        self.f.b.func.new_slot(SlotData { name, size, align: align.clamp(1, 16), elem })
    }

    /// A place that holds a value until the function returns.
    pub(in crate::front::lower) fn temporary(&mut self, value: &Typed) -> Value {
        if value.ty.is_struct() || value.ty.is_array() {
            return self.emit_object(value);
        }
        let v = self.emit_value(value);
        let ir = self.f.b.ty(v);
        let slot = self.slot(String::new(), ir.size(), ir.size(), value.ty.scalar(), value.span);
        let b = self.at(value.span);
        let ptr = b.bind(Type::Ptr, Op::SlotAddr(slot));
        b.store(ptr, v, false);
        ptr
    }

    /// The data behind a constant whose address is taken.
    pub(in crate::front::lower) fn constant_address(&mut self, id: VarId, span: Span) -> Value {
        let var = self.var(id);
        let (name, c, storage) = (self.interner.name(var.name).to_owned(), var.constant, var.storage);
        let global = match (storage, c) {
            (Storage::Global(global), _) => global,
            (_, c) => {
                let c = c.unwrap_or(Const::Null);
                let mut bytes = Vec::new();
                bytes.extend(c.bytes());
                let global = self.add_global(name, bytes, c.ty().scalar().unwrap_or(Scalar::U64));
                self.vars[id.0 as usize].storage = Storage::Global(global);
                global
            }
        };
        self.at(span).bind(Type::Ptr, Op::GlobalAddr(global))
    }
}

impl Typed {
    /// The variable that the expression is, if it is one.
    pub(in crate::front::lower) fn as_var(&self) -> Option<VarId> {
        match self.node {
            Node::Var(id) => Some(id),
            _ => None,
        }
    }
}

/// The variable is declared never to change.
fn is_const(specs: &Specifiers, var: &VarDecl) -> bool {
    var.ty.is_const || specs.constexpr
}
