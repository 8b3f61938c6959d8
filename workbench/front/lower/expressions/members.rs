//! Members of objects: fields, methods, static members; `this`.

use std::rc::Rc;

use super::check::{bare, index_variable};
use super::typed_tree::{FuncIndex, Node, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind, Ident, Name};
use crate::front::lower::overloads::ranking::Arg;
use crate::front::lower::scopes::names::{Callable, Decl, FieldDecl, TArg};
use crate::front::lower::templates::declarations::TemplateKind;
use crate::front::lower::{Lowerer, Role, Side};
use crate::front::types::{Kind, Ty};
use crate::source::Span;

/// Member that `a.b` turned out to be.
pub(super) enum MemberFound {
    /// A value or place.
    Value(Typed),
    /// Methods of an object, with the template arguments written.
    Methods(Typed, Rc<[Callable]>, Option<Rc<[TArg]>>),
}

impl<'a> Lowerer<'a> {
    /// `this`
    pub(in crate::front::lower) fn this(&mut self, span: Span) -> Typed {
        match &self.f.this {
            Some(this) => Typed { span, ..this.clone() },
            None => {
                let message = "`this` exists only in methods";
                self.report(Diagnostic::error(Code::UnknownName, span, message));
                Typed::error(span)
            }
        }
    }

    /// The object that a method runs on, or nothing outside of one.
    pub(super) fn this_object(&mut self, span: Span) -> Option<Typed> {
        let this = self.f.this.clone()?;
        let class = this.ty.pointee()?.clone();
        Some(Typed::place(class, span, Node::Deref(Box::new(this))))
    }

    /// A field named without an object: one of `this`.
    pub(in crate::front::lower) fn own_field(&mut self, field: &FieldDecl, ident: &Ident, span: Span) -> Typed {
        if let Some(class) = self.this_object(span).and_then(|o| o.ty.as_struct().map(|s| s.id))
            && !self.may_name(class, ident, false)
        {
            return Typed::error(span);
        }
        match self.object_with(field.owner, span) {
            Some(object) => self.field(object, field, span),
            None => {
                let message = format!("`{}` is a member and needs an object here", self.text(ident));
                self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("write `object.member`"));
                Typed::error(span)
            }
        }
    }

    /// The object of the method being lowered, or of that round a lambda, that has the members of a struct.
    fn object_with(&mut self, owner: u32, span: Span) -> Option<Typed> {
        let object = self.this_object(span)?;
        if self.owner_of(&object.ty, owner).is_some() {
            return Some(object);
        }
        let closure = object.ty.as_struct()?.id;
        self.class(closure).captured_this.as_ref()?;
        let this = self.outer_this(span);
        let class = this.ty.pointee()?.clone();
        self.owner_of(&class, owner)?;
        Some(Typed::place(class, span, Node::Deref(Box::new(this))))
    }

    /// The offset in an object at which the struct that owns a field lies.
    fn owner_of(&self, ty: &Ty, owner: u32) -> Option<u32> {
        let owner = self.class(owner).ty.clone();
        ty.base_offset(&owner)
    }

    /// A field of an object.
    pub(in crate::front::lower) fn field(&mut self, object: Typed, field: &FieldDecl, span: Span) -> Typed {
        let offset = self.owner_of(&object.ty, field.owner).unwrap_or(0) + field.offset;
        let lvalue = object.lvalue;
        let xvalue = object.xvalue || !lvalue;
        if let Some(target) = field.ty.target() {
            let ptr_ty = target.clone().pointer();
            let place = Typed::place(ptr_ty.clone(), span, Node::Member(Box::new(object), offset));
            let ptr = Typed::value(ptr_ty, span, Node::Load(Box::new(place)));
            return Typed::place(target.clone(), span, Node::Deref(Box::new(ptr)));
        }
        let is_const = object.ty.is_const && !field.mutable;
        let ty = field.ty.clone().qualified(is_const, object.ty.is_volatile);
        if field.bits.is_some() {
            return Typed { xvalue, ..self.part(object, &ty, offset, field.bits, span) };
        }
        // A member of a value that is written out is that value.
        if !lvalue
            && let Node::Init(items) = &object.node
            && let Some((_, value)) = items.iter().find(|(at, v)| *at == offset && v.constant().is_some())
        {
            return Typed { span, ..value.clone() };
        }
        Typed { xvalue, ..Typed::place(ty, span, Node::Member(Box::new(object), offset)) }
    }

    /// `a.b`, `a->b` as a value.
    pub(in crate::front::lower) fn member(
        &mut self,
        object: &'a Expr,
        member: &'a Name,
        arrow: bool,
        span: Span,
    ) -> Typed {
        match self.find_member(object, member, arrow, span) {
            Some(MemberFound::Value(value)) => value,
            Some(MemberFound::Methods(..)) => {
                let message = format!("method `{}` must be called", self.text(&member.last()));
                self.report(
                    Diagnostic::error(Code::TypeMismatch, span, message)
                        .help(format!("write `{}(...)`", self.text(&member.last()))),
                );
                Typed::error(span)
            }
            None => Typed::error(span),
        }
    }

    /// Finds what `a.b` means; `None` once reported.
    pub(super) fn find_member(
        &mut self,
        object: &'a Expr,
        member: &'a Name,
        arrow: bool,
        span: Span,
    ) -> Option<MemberFound> {
        let ident = member.last();
        if !arrow
            && let ExprKind::Name(name) = &bare(object).kind
            && let Some(variable) = name.simple()
            && self.lookup(variable.name).is_none()
            && let Some(make) = index_variable(self.text(&variable))
        {
            return Some(MemberFound::Value(self.component(&variable, make, ident, span)));
        }
        let mut object = self.expr(object);
        if object.is_error() {
            return None;
        }
        if arrow {
            let mut steps = 0;
            while object.ty.is_struct() && steps < 8 {
                let arrow = self.known.arrow;
                object = self.named_method(object, arrow, "->", Vec::new(), span)?;
                steps += 1;
            }
            let ptr = self.operand(object);
            object = self.deref(ptr, span);
        }
        self.member_of(object, member, arrow, span)
    }

    fn member_of(&mut self, object: Typed, member: &'a Name, arrow: bool, span: Span) -> Option<MemberFound> {
        let ident = member.last();
        if object.is_error() {
            return None;
        }
        let Some(s) = object.ty.as_struct().cloned() else {
            let message = format!("`{}` has no members, so no `{}`", object.ty, self.text(&ident));
            let mut diag = Diagnostic::error(Code::TypeMismatch, span, message)
                .related(object.span, format!("this is `{}`", object.ty));
            if object.ty.pointee().is_some_and(Ty::is_struct) && !arrow {
                let dot = Span { start: object.span.end, end: ident.span.start, ..span };
                diag = diag.help(format!("write `->{}`", self.text(&ident)));
                // Blanks or a macro may stand there, too.
                if self.sources.text(dot) == "." {
                    diag = diag.replacement(dot, "->");
                }
            }
            self.report(diag);
            return None;
        };
        if !self.complete(&s, span) {
            return None;
        }
        // `a.Base::x`: the struct named before the member.
        let (mut scope, mut naming) = (self.class(s.id).scope, s.id);
        if !member.qualifiers().is_empty() {
            let mut outer = member.clone();
            outer.parts.pop();
            let first = outer.parts[0].ident;
            match self.lookup_in(scope, first.name).or_else(|| self.lookup(first.name)) {
                Some(Decl::Type(ty)) if ty.as_struct().is_some() => {
                    if let Some(base) = ty.as_struct() {
                        (scope, naming) = (self.class(base.id).scope, base.id);
                    }
                }
                _ => {
                    self.unknown(&first, member.span, "base");
                    return None;
                }
            }
        }
        let Some(decl) = self.lookup_in(scope, ident.name) else {
            self.no_member(&s, &ident);
            return None;
        };
        self.note_meaning(&ident, &decl, Some(scope));
        if !self.may_name(naming, &ident, matches!(decl, Decl::Functions(_))) {
            return None;
        }
        let explicit = match &member.last_part().args {
            Some(args) => Some(Rc::from(self.template_args(args)?)),
            None => None,
        };
        match decl {
            Decl::Field(field) => Some(MemberFound::Value(self.field(object, &field, span))),
            Decl::Functions(set) => Some(MemberFound::Methods(object, set, explicit)),
            Decl::Var(id) => Some(MemberFound::Value(self.variable(id, &ident, span))),
            Decl::Constant(ty, c) => Some(MemberFound::Value(Typed::value(ty, span, Node::Const(c)))),
            Decl::Place(place) => Some(MemberFound::Value((*place).clone())),
            _ => {
                let message = format!("`{}` is a type and no value of `{}`", self.text(&ident), s.name);
                self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("write `S::name`"));
                None
            }
        }
    }

    /// Calls a method by its name, such as an operator's.
    pub(in crate::front::lower) fn named_method(
        &mut self,
        object: Typed,
        name: crate::front::ast::Symbol,
        shown: &str,
        args: Vec<Typed>,
        span: Span,
    ) -> Option<Typed> {
        let s = object.ty.as_struct()?.clone();
        if !self.complete(&s, span) {
            return None;
        }
        let scope = self.class(s.id).scope;
        match self.lookup_in(scope, name) {
            Some(Decl::Functions(set)) => {
                let call = self.call_methods(shown, object, &set, None, args, span);
                (!call.is_error()).then_some(call)
            }
            _ => {
                let message = format!("`{}` has no operator `{shown}`", object.ty);
                self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                None
            }
        }
    }

    /// A call of one of several methods of an object.
    pub(super) fn call_methods(
        &mut self,
        name: &str,
        object: Typed,
        set: &[Callable],
        explicit: Option<&[TArg]>,
        args: Vec<Typed>,
        span: Span,
    ) -> Typed {
        if args.iter().any(Typed::is_error) || object.is_error() {
            return Typed::error(span);
        }
        let this = Arg::from(&object);
        match self.choose_function(name, set, explicit, Some(&this), &args, span) {
            Some(index) => self.method_call(index, object, args, span),
            None => Typed::error(span),
        }
    }

    /// A call of a method whose arguments have been checked; a static one leaves the object alone.
    pub(in crate::front::lower) fn method_call(
        &mut self,
        index: FuncIndex,
        object: Typed,
        args: Vec<Typed>,
        span: Span,
    ) -> Typed {
        let Some(this) = self.func(index).this.clone() else {
            let call = self.call_function(index, args, span);
            return if object.is_idle() || call.is_error() {
                call
            } else {
                let (ty, lvalue) = (call.ty.clone(), call.lvalue);
                Typed { lvalue, ..Typed::value(ty, span, Node::Comma(Box::new(object), Box::new(call))) }
            };
        };
        let Some(class) = this.as_struct().cloned() else { return Typed::error(span) };
        let object = if object.ty.as_struct().is_some_and(|s| s.id == class.id) {
            object
        } else {
            self.upcast_place(object, &class)
        };
        let place = if object.lvalue {
            object
        } else {
            Typed::place(object.ty.clone(), object.span, Node::Temporary(Box::new(object)))
        };
        let this = Typed::value(this.pointer(), place.span, Node::AddrOf(Box::new(place)));
        self.call_with(index, Some(this), args, span)
    }

    /// The object that a name of methods is used on without one written: `this`, in a method of the same struct.
    pub(in crate::front::lower) fn implicit_object(&mut self, set: &[Callable], span: Span) -> Option<Typed> {
        let method = set.iter().find_map(|c| match c {
            Callable::Func(index) => self.func(*index).this.clone(),
            Callable::Template(index) => match &self.template(*index).kind {
                TemplateKind::Function { decl, owner: Some(owner) } if !decl.specs.is_static => {
                    Some(Ty::new(Kind::Struct(self.class(*owner).ty.clone())))
                }
                _ => None,
            },
        })?;
        let class = method.as_struct()?.clone();
        let object = self.this_object(span)?;
        object.ty.base_offset(&class)?;
        Some(object)
    }

    /// Reports a method called without an object.
    pub(super) fn needs_object(&mut self, index: FuncIndex, span: Span) -> bool {
        let f = self.func(index);
        if f.this.is_none() || f.role == Role::Constructor {
            return false;
        }
        let message = format!("method `{}` needs an object", f.display);
        self.report(Diagnostic::error(Code::TypeMismatch, span, message).help("write `object.method(...)`"));
        true
    }

    fn component(&mut self, ident: &Ident, make: fn(u8) -> crate::ir::Builtin, member: Ident, span: Span) -> Typed {
        let name = self.text(ident).to_owned();
        if !self.device_variable(&name, span) {
            return Typed::error(span);
        }
        let dim = match self.text(&member) {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            other => {
                let message = format!("`{name}` has no member `{other}`");
                self.report(
                    Diagnostic::error(Code::UnknownName, member.span, message).help("its members are `x`, `y` and `z`"),
                );
                return Typed::error(span);
            }
        };
        Typed::value(crate::front::types::Num::UInt, span, Node::Builtin(make(dim)))
    }

    /// Reports a variable of the thread in host code.
    pub(super) fn device_variable(&mut self, name: &str, span: Span) -> bool {
        if self.f.side != Side::Host {
            return true;
        }
        let message = format!("`{name}` exists only in device code");
        self.report(
            Diagnostic::error(Code::WrongSide, span, message).help("make the function `__device__` or `__global__`"),
        );
        false
    }
}
