//! Lambdas: a struct of what they capture, with a call operator.

use super::declarations::{Signature, has_auto, side};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{CaptureKind, CaptureMode, Ident, Init, Lambda, Symbol};
use crate::front::class_layout::UNPACKED;
use crate::front::link::Linkage;
use crate::front::lower::classes::definitions::Stage;
use crate::front::lower::expressions::typed_tree::{Node, Typed, VarId};
use crate::front::lower::scopes::mentioned_names;
use crate::front::lower::scopes::names::{Callable, Decl, FieldDecl, ScopeId};
use crate::front::lower::templates::declarations::TemplateKind;
use crate::front::lower::{Body, Lowerer, Role, Side, Storage};
use crate::front::types::{Field, Kind, Layout, Ty};
use crate::source::Span;

/// Something a lambda holds.
struct Captured {
    name: Symbol,
    ty: Ty,
    value: Typed,
}

impl<'a> Lowerer<'a> {
    /// `[...](...) { ... }`
    pub(in crate::front::lower) fn lambda(&mut self, lambda: &'a Lambda, span: Span) -> Typed {
        let (captured, this) = self.captures(lambda);
        if captured.iter().any(|c| c.value.is_error()) {
            return Typed::error(span);
        }
        let holds_nothing = captured.is_empty() && this.is_none();
        let scope = self.scopes.current();
        let closure = self.new_struct("lambda".to_owned(), false, scope, span);
        let class_scope = self.class(closure.id).scope;
        let mut fields: Vec<Field> = captured
            .iter()
            .map(|c| Field { mutable: lambda.is_mutable, ..Field::new(Some(c.name), c.ty.clone()) })
            .collect();
        if let Some(this) = &this {
            fields.push(Field::new(None, this.ty.clone()));
        }
        let Some(layout) = Layout::new(Vec::new(), fields, false, 1, UNPACKED) else {
            self.report(Diagnostic::error(Code::TypeMismatch, span, "what this lambda captures is too large"));
            return Typed::error(span);
        };
        let mut items: Vec<(u32, Typed)> = Vec::new();
        let values = captured.into_iter().map(|c| (Some(c.name), c.value)).chain(this.clone().map(|t| (None, t)));
        for (field, (name, value)) in layout.fields.iter().zip(values) {
            if let Some(name) = name {
                let decl = FieldDecl {
                    owner: closure.id,
                    offset: field.offset,
                    ty: field.ty.clone(),
                    bits: None,
                    mutable: lambda.is_mutable,
                };
                let _ = self.scopes.declare_in(class_scope, name, Decl::Field(decl.into()), span);
            } else {
                self.class_mut(closure.id).captured_this = Some((field.offset, field.ty.clone()));
            }
            if value.is_error() {
                return Typed::error(span);
            }
            items.push((field.offset, value));
        }
        let _ = closure.layout.set(layout);
        let outer_side = if self.f.inside { self.f.side } else { Side::Both };
        let class = self.class_mut(closure.id);
        class.stage = Stage::Complete;
        class.is_closure = true;
        class.side = match outer_side {
            Side::Kernel => Side::Device,
            other => other,
        };
        let call = self.known.call;
        let here = self.scopes.enter(class_scope);
        let generic = lambda.template.is_some() || has_auto(&lambda.params);
        let callable = if generic {
            let params = lambda.template.as_ref().map_or(&[][..], |h| h.params.as_slice());
            let name = Ident { name: call, span };
            Callable::Template(self.add_template(name, params, TemplateKind::Lambda { lambda, owner: closure.id }))
        } else {
            let sig = self.lambda_signature(lambda, closure.id, class_scope);
            let info = self.signature(sig);
            let index = self.add_func(info);
            self.reach_lambda(index, lambda.span);
            if holds_nothing {
                let sig = Signature { this: None, ..self.lambda_signature(lambda, closure.id, class_scope) };
                let info = self.signature(sig);
                let plain = self.add_func(info);
                self.class_mut(closure.id).plain = Some(plain);
            }
            Callable::Func(index)
        };
        self.add_functions(call, &[callable], span);
        self.scopes.enter(here);
        Typed::value(Ty::new(Kind::Struct(closure)), span, Node::Init(items.into()))
    }

    /// The call operator of a lambda.
    pub(in crate::front::lower) fn lambda_signature(
        &mut self,
        lambda: &'a Lambda,
        owner: u32,
        scope: ScopeId,
    ) -> Signature<'a> {
        let written = side(&lambda.specs);
        let specified = lambda.specs.device || lambda.specs.host;
        let class = Ty::new(Kind::Struct(self.class(owner).ty.clone()));
        Signature {
            name: self.known.call,
            display: "lambda".to_owned(),
            span: lambda.span,
            whole: lambda.span,
            side: if specified { written } else { self.class(owner).side },
            role: Role::Plain,
            ret: lambda.ret.as_ref(),
            params: &lambda.params,
            code: Some(Body {
                params: &lambda.params,
                inits: &[],
                body: &lambda.body,
                noexcept: lambda.specs.noexcept == Some(true),
            }),
            bounds: &[],
            scope,
            this: Some(class.qualified(!lambda.is_mutable, false)),
            constexpr: true,
            unmarked: false,
            deleted: false,
            explicit: false,
            guard: None,
            autos: Vec::new(),
            linkage: Linkage::Internal,
        }
    }

    /// The captures of a lambda, and `this` when it uses it.
    fn captures(&mut self, lambda: &'a Lambda) -> (Vec<Captured>, Option<Typed>) {
        let mut out: Vec<Captured> = Vec::new();
        let mut this = None;
        for capture in &lambda.captures {
            match &capture.kind {
                CaptureKind::Variable(mode, ident) => {
                    if let Some(Decl::Vars(_)) = self.lookup(ident.name) {
                        self.refuse_pack(ident);
                        continue;
                    }
                    let value = self.captured_name(ident);
                    self.capture(*mode, ident.name, value, &mut out);
                }
                CaptureKind::Init(mode, ident, init) => {
                    let value = match init {
                        Init::Expr(e) => self.expr(e),
                        other => match other.only_expr() {
                            Some(e) => self.expr(e),
                            None => {
                                let message = "a capture is initialised with one value";
                                self.report(Diagnostic::error(Code::BadInitializer, capture.span, message));
                                Typed::error(capture.span)
                            }
                        },
                    };
                    self.capture(*mode, ident.name, value, &mut out);
                }
                CaptureKind::This(mode) => {
                    if *mode == CaptureMode::Copy {
                        let message = "capturing `*this` by copy is not supported";
                        self.report(
                            Diagnostic::error(Code::Unsupported, capture.span, message)
                                .help("capture the members that are needed: `[x = x]`"),
                        );
                    }
                    this = Some(self.outer_this(capture.span));
                }
            }
        }
        let mut mentioned: Vec<Symbol> = Vec::new();
        let mut uses_this = mentioned_names::names_in_stmts(&lambda.body.stmts, &mut |n| {
            if !mentioned.contains(&n) {
                mentioned.push(n);
            }
        });
        if let Some(mode) = lambda.default_capture {
            for name in mentioned {
                if out.iter().any(|c| c.name == name) {
                    continue;
                }
                match self.lookup(name) {
                    Some(Decl::Var(id)) if self.is_captured(id) => {
                        let ident = Ident { name, span: lambda.span };
                        let value = self.captured_name(&ident);
                        self.capture(mode, name, value, &mut out);
                    }
                    Some(Decl::Field(field)) if self.class(field.owner).is_closure => {
                        let ident = Ident { name, span: lambda.span };
                        let value = self.captured_name(&ident);
                        self.capture(mode, name, value, &mut out);
                    }
                    Some(Decl::Place(place)) => {
                        let value = (*place).clone();
                        self.capture(mode, name, value, &mut out);
                    }
                    Some(Decl::Vars(_)) => {
                        let ident = Ident { name, span: lambda.span };
                        self.refuse_pack(&ident);
                    }
                    Some(Decl::Field(_)) => uses_this = true,
                    Some(Decl::Functions(set)) => uses_this |= self.implicit_object(&set, lambda.span).is_some(),
                    _ => {}
                }
            }
            if uses_this && this.is_none() && self.f.this.is_some() {
                this = Some(self.outer_this(lambda.span));
            }
        }
        (out, this)
    }

    /// Reports the capture of a parameter pack.
    fn refuse_pack(&mut self, ident: &Ident) {
        let message = format!("capturing the parameter pack `{}` is not supported", self.text(ident));
        self.report(
            Diagnostic::error(Code::Unsupported, ident.span, message)
                .help("pass the pack to the lambda's call instead"),
        );
    }

    fn captured_name(&mut self, ident: &Ident) -> Typed {
        match self.lookup(ident.name) {
            Some(Decl::Var(id)) => self.variable(id, ident, ident.span),
            Some(Decl::Field(field)) => self.own_field(&field, ident, ident.span),
            Some(Decl::Place(place)) => (*place).clone(),
            _ => {
                self.unknown(ident, ident.span, "variable");
                Typed::error(ident.span)
            }
        }
    }

    /// The variable is one that a lambda has to hold: constants and what lives as long as the program are not.
    fn is_captured(&self, id: VarId) -> bool {
        let var = self.var(id);
        var.owner != 0
            && var.constant.is_none()
            && matches!(var.storage, Storage::Value(_) | Storage::Local(_) | Storage::Slot(_) | Storage::Reference(_))
    }

    fn capture(&mut self, mode: CaptureMode, name: Symbol, value: Typed, out: &mut Vec<Captured>) {
        let span = value.span;
        if value.is_error() {
            out.push(Captured { name, ty: Ty::error(), value });
            return;
        }
        let captured = match mode {
            CaptureMode::Reference => {
                let target = value.ty.clone();
                let ty = target.clone().reference();
                let value = self
                    .bind_reference(value, &target, |from| format!("this `{from}` cannot be captured by reference"));
                Captured { name, ty, value }
            }
            CaptureMode::Copy if value.ty.is_array() => {
                let ty = value.ty.unqualified();
                Captured { name, ty: ty.clone(), value: Typed::value(ty, span, Node::Load(Box::new(value))) }
            }
            CaptureMode::Copy => {
                let value = self.operand(value);
                Captured { name, ty: value.ty.unqualified(), value }
            }
        };
        out.push(captured);
    }

    /// `this` of the method round a lambda.
    pub(in crate::front::lower) fn outer_this(&mut self, span: Span) -> Typed {
        let this = self.this(span);
        let closure = this.ty.pointee().and_then(Ty::as_struct).cloned();
        let Some(closure) = closure else { return this };
        match self.class(closure.id).captured_this.clone() {
            Some((offset, ty)) => {
                let class = this.ty.pointee().cloned().unwrap_or_else(Ty::error);
                let object = Typed::place(class, span, Node::Deref(Box::new(this)));
                let place = Typed::place(ty.clone(), span, Node::Member(Box::new(object), offset));
                Typed::value(ty, span, Node::Load(Box::new(place)))
            }
            None => this,
        }
    }
}
