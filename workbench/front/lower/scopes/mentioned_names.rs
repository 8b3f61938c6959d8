//! The names that a piece of syntax mentions, found without resolving anything: what a pack expansion expands, what a
//! lambda may capture.

use crate::front::ast::{
    BaseType, CaptureKind, Expr, ExprKind, Init, Name, Stmt, StmtKind, Symbol, TemplateArg, TemplateArgKind, TypeLayer,
    TypeName,
};

/// Calls `found` for every name that could be a variable, parameter or pack.
pub struct NameWalk<'f> {
    found: &'f mut dyn FnMut(Symbol),
    /// `this`, written or meant.
    this: bool,
}

/// The names in an expression; whether it mentions `this`.
pub fn names_in_expr(e: &Expr, found: &mut dyn FnMut(Symbol)) -> bool {
    let mut walk = NameWalk { found, this: false };
    walk.expr(e);
    walk.this
}

/// The names in statements; whether they mention `this`.
pub fn names_in_stmts(stmts: &[Stmt], found: &mut dyn FnMut(Symbol)) -> bool {
    let mut walk = NameWalk { found, this: false };
    stmts.iter().for_each(|s| walk.stmt(s));
    walk.this
}

/// The names in a type.
pub fn names_in_type(ty: &TypeName, found: &mut dyn FnMut(Symbol)) {
    NameWalk { found, this: false }.ty(ty);
}

/// The names in a qualified name with template arguments.
pub fn names_in_name(name: &Name, found: &mut dyn FnMut(Symbol)) {
    NameWalk { found, this: false }.name(name);
}

impl NameWalk<'_> {
    fn name(&mut self, name: &Name) {
        if let Some(first) = name.parts.first() {
            (self.found)(first.ident.name);
        }
        for part in &name.parts {
            part.args.iter().flat_map(|a| a.iter()).for_each(|a| self.arg(a));
        }
    }

    fn arg(&mut self, arg: &TemplateArg) {
        match &arg.kind {
            TemplateArgKind::Type(ty) => self.ty(ty),
            TemplateArgKind::Expr(e) => self.expr(e),
        }
    }

    fn ty(&mut self, ty: &TypeName) {
        match &ty.base {
            BaseType::Named(name) => self.name(name),
            BaseType::Decltype(e) => self.expr(e),
            _ => {}
        }
        for layer in &ty.layers {
            match layer {
                TypeLayer::Array(Some(len)) => self.expr(len),
                TypeLayer::Function(params) => params.iter().for_each(|p| self.ty(&p.ty)),
                _ => {}
            }
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::Paren(args, _) => args.iter().for_each(|e| self.expr(e)),
            Init::List(items, _) => items.iter().for_each(|i| self.init(i)),
            Init::Designated(_, value) => self.init(value),
        }
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>) {
        all.into_iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Literal(_) | ExprKind::Str(_) | ExprKind::Error => {}
            ExprKind::Name(name) => self.name(name),
            ExprKind::This => self.this = true,
            ExprKind::Binary(..) => {
                // A chain leans left: walked in a loop.
                let mut at = e;
                while let ExprKind::Binary(_, a, b, _) = &at.kind {
                    self.expr(b);
                    at = a;
                }
                self.expr(at);
            }
            ExprKind::Unary(_, a)
            | ExprKind::Paren(a)
            | ExprKind::PackExpansion(a)
            | ExprKind::Noexcept(a)
            | ExprKind::SizeofExpr(a) => self.expr(a),
            ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => self.exprs([&**a, &**b]),
            ExprKind::Conditional(a, b, c) => self.exprs([&**a, &**b, &**c]),
            ExprKind::Call(f, args) => {
                self.expr(f);
                self.exprs(args);
            }
            ExprKind::Launch { callee, config, args } => {
                self.expr(callee);
                self.exprs(config.iter().chain(args));
            }
            ExprKind::Member { object, member, .. } => {
                self.expr(object);
                for part in &member.parts {
                    part.args.iter().flat_map(|a| a.iter()).for_each(|a| self.arg(a));
                }
            }
            ExprKind::Cast { ty, operand, .. } => {
                self.ty(ty);
                self.expr(operand);
            }
            ExprKind::Construct { ty, args } => {
                self.ty(ty);
                self.exprs(args);
            }
            ExprKind::Braced { ty, entries } => {
                if let Some(ty) = ty {
                    self.ty(ty);
                }
                entries.iter().for_each(|i| self.init(i));
            }
            ExprKind::Lambda(lambda) => {
                for capture in &lambda.captures {
                    match &capture.kind {
                        CaptureKind::Variable(_, ident) => (self.found)(ident.name),
                        CaptureKind::Init(_, _, init) => self.init(init),
                        CaptureKind::This(_) => self.this = true,
                    }
                }
                lambda.params.iter().for_each(|p| self.ty(&p.ty));
                lambda.body.stmts.iter().for_each(|s| self.stmt(s));
            }
            ExprKind::SizeofType(ty) | ExprKind::AlignofType(ty) => self.ty(ty),
            ExprKind::SizeofPack(ident) => (self.found)(ident.name),
            ExprKind::Fold { left, right, .. } => self.exprs([left, right].into_iter().flatten().map(|e| &**e)),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Enum(_) | StmtKind::Struct(_) => {}
            StmtKind::UsingNamespace(_) | StmtKind::UsingDecl(_) | StmtKind::NamespaceAlias(_) => {}
            StmtKind::Return(None) => {}
            StmtKind::StaticAssert(assertion) => self.expr(&assertion.cond),
            StmtKind::Alias(alias) => self.ty(&alias.ty),
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => self.expr(e),
            StmtKind::Declaration(decl) => {
                for var in &decl.vars {
                    self.ty(&var.ty);
                    if let Some(init) = &var.init {
                        self.init(init);
                    }
                }
            }
            StmtKind::Binding(binding) => self.expr(&binding.init),
            StmtKind::Compound(block) => block.stmts.iter().for_each(|s| self.stmt(s)),
            StmtKind::If { init, cond, then, els, .. } => {
                init.iter().for_each(|s| self.stmt(s));
                self.expr(cond);
                self.stmt(then);
                if let Some(els) = els {
                    self.stmt(els);
                }
            }
            StmtKind::While(e, s) | StmtKind::DoWhile(s, e) | StmtKind::Switch(e, s) | StmtKind::Case(e, s) => {
                self.expr(e);
                self.stmt(s);
            }
            StmtKind::Try(whole) => {
                self.expr(&whole.land);
                whole.body.stmts.iter().for_each(|s| self.stmt(s));
                for handler in &whole.handlers {
                    handler.param.iter().for_each(|p| self.ty(&p.ty));
                    handler.body.stmts.iter().for_each(|s| self.stmt(s));
                }
            }
            StmtKind::Default(s) => self.stmt(s),
            StmtKind::For { init, cond, step, body } => {
                if let Some(init) = init {
                    self.stmt(init);
                }
                self.exprs([cond, step].into_iter().flatten());
                self.stmt(body);
            }
            StmtKind::RangeFor { init, range, body, .. } => {
                if let Some(init) = init {
                    self.stmt(init);
                }
                self.expr(range);
                self.stmt(body);
            }
        }
    }
}
