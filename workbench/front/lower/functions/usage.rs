//! Usage of the names of a function, found before it is lowered: whose address is taken (they live in memory) and
//! which are assigned (the others are plain values). By name, not by declaration: a namesake only loses some speed.
//!
//! An operator may write its right operand (`in >> x`), which only those that read from streams and archives do, so of kernels only
//! declared operators count.

use crate::front::ast::{
    BaseType, BinaryOp, CaptureKind, CaptureMode, Compound, Expr, ExprKind, Init, Lambda, Stmt, StmtKind, Symbol,
    TypeLayer, TypeName, UnaryOp,
};
use crate::front::lower::expressions::check::bare;
use crate::front::lower::scopes::mentioned_names;
use rustc_hash::FxHashMap as HashMap;

/// Names that may keep a pointer into a variable: the most that are looked at.
const MOST_KEEPERS: usize = 8;

/// Usage of the names in a function.
#[derive(Default)]
pub struct Usage {
    flags: HashMap<Symbol, NameUsage>,
    /// The names that appear in values assigned to a name, up to [`MOST_KEEPERS`] for each.
    given_to: HashMap<Symbol, Vec<Symbol>>,
}

#[derive(Default, Clone, Copy)]
struct NameUsage {
    taken: bool,
    assigned: bool,
}

/// Answer about a called name, for the scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    /// Takes no references and keeps no addresses.
    Plain,
    /// Writes results through addresses, which it forgets: `sincosf(x, &s, &c)`.
    Outputs,
    /// Takes references.
    References,
    /// A name of the function's own, or one found through the types of its arguments: it may take references.
    Unknown,
}

impl Usage {
    /// Scans a body. `callee` tells about functions, `taking` which operators may take references to numbers.
    pub fn scan(body: &Compound, taking: &[BinaryOp], callee: &mut dyn FnMut(Symbol) -> Callee) -> Self {
        let mut scan = UsageScan { usage: Usage::default(), taking, callee };
        for stmt in &body.stmts {
            scan.stmt(stmt);
        }
        scan.usage
    }

    /// An address or reference of the name may exist.
    pub fn is_taken(&self, name: Symbol) -> bool {
        self.flags.get(&name).is_some_and(|f| f.taken)
    }

    /// Names that may be assigned a pointer into a variable, by themselves or by way of one another; the first ones alone, where there are many.
    pub fn keepers(&self, variable: Symbol) -> Vec<Symbol> {
        let mut found = Vec::new();
        let mut work = vec![variable];
        while let Some(name) = work.pop() {
            for &to in self.given_to.get(&name).into_iter().flatten() {
                if to != variable && !found.contains(&to) && found.len() < MOST_KEEPERS {
                    found.push(to);
                    work.push(to);
                }
            }
        }
        found
    }

    /// The name is assigned after its declaration.
    pub fn is_assigned(&self, name: Symbol) -> bool {
        self.flags.get(&name).is_some_and(|f| f.assigned)
    }
}

struct UsageScan<'s> {
    usage: Usage,
    taking: &'s [BinaryOp],
    callee: &'s mut dyn FnMut(Symbol) -> Callee,
}

impl UsageScan<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Alias(_) | StmtKind::Enum(_) => {}
            StmtKind::StaticAssert(_) | StmtKind::Return(None) | StmtKind::Struct(_) => {}
            StmtKind::UsingNamespace(_) | StmtKind::UsingDecl(_) | StmtKind::NamespaceAlias(_) => {}
            StmtKind::Binding(binding) => {
                self.mark(&binding.init, |f| f.taken = true);
                self.expr(&binding.init);
            }
            StmtKind::RangeFor { init, range, body, .. } => {
                if let Some(init) = init {
                    self.stmt(init);
                }
                self.mark(range, |f| f.taken = true);
                self.expr(range);
                self.stmt(body);
            }
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => self.expr(e),
            StmtKind::Declaration(decl) => {
                for var in &decl.vars {
                    if let Some(init) = &var.init {
                        // A struct's constructor may take references, and its members be some.
                        let object = !matches!(init, Init::Expr(_)) && matches!(var.ty.base, BaseType::Named(_));
                        self.init(init, is_reference(&var.ty) || object);
                    }
                }
            }
            StmtKind::Compound(block) => block.stmts.iter().for_each(|s| self.stmt(s)),
            StmtKind::If { init, cond, then, els, .. } => {
                for init in init {
                    self.stmt(init);
                }
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
                whole.body.stmts.iter().for_each(|s| self.stmt(s));
                whole.handlers.iter().flat_map(|h| &h.body.stmts).for_each(|s| self.stmt(s));
            }
            StmtKind::Default(s) => self.stmt(s),
            StmtKind::For { init, cond, step, body } => {
                if let Some(init) = init {
                    self.stmt(init);
                }
                for e in [cond, step].into_iter().flatten() {
                    self.expr(e);
                }
                self.stmt(body);
            }
        }
    }

    fn init(&mut self, init: &Init, reference: bool) {
        match init {
            Init::Expr(e) => {
                if reference {
                    self.mark(e, |f| f.taken = true);
                }
                self.expr(e);
            }
            Init::List(items, _) => items.iter().for_each(|i| self.init(i, reference)),
            Init::Paren(args, _) => {
                for e in args {
                    if reference {
                        self.mark(e, |f| f.taken = true);
                    }
                    self.expr(e);
                }
            }
            Init::Designated(_, value) => self.init(value, reference),
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Literal(_) | ExprKind::Str(_) | ExprKind::Name(_) | ExprKind::Error => {}
            ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) | ExprKind::AlignofType(_) => {}
            ExprKind::Unary(op, a) => {
                match op {
                    UnaryOp::AddrOf => self.mark(a, |f| f.taken = true),
                    UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => self.assigned(a),
                    _ => {}
                }
                self.expr(a);
            }
            ExprKind::Binary(..) => {
                // A chain of operators leans left; walking it in a loop keeps the stack flat.
                let mut at = e;
                while let ExprKind::Binary(op, a, b, _) = &at.kind {
                    if self.taking.contains(op) {
                        self.mark(b, |f| (f.taken, f.assigned) = (true, true));
                    }
                    self.expr(b);
                    at = a;
                }
                self.expr(at);
            }
            ExprKind::Assign(_, a, b) => {
                if let ExprKind::Name(to) = &a.kind
                    && let Some(to) = to.simple()
                {
                    let mut from = Vec::new();
                    pointed_at(b, &mut from);
                    for name in from {
                        let all = self.usage.given_to.entry(name).or_default();
                        if all.len() < MOST_KEEPERS && !all.contains(&to.name) {
                            all.push(to.name);
                        }
                    }
                }
                self.assigned(a);
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Index(a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Call(f, args) => self.call(f, args),
            ExprKind::Member { object, .. } => self.expr(object),
            ExprKind::Cast { ty, operand, .. } => {
                if is_reference(ty) {
                    self.mark(operand, |f| (f.taken, f.assigned) = (true, true));
                }
                self.expr(operand);
            }
            ExprKind::Paren(a) | ExprKind::PackExpansion(a) | ExprKind::Noexcept(a) => self.expr(a),
            ExprKind::Construct { ty, args } => {
                let named = matches!(ty.base, BaseType::Named(_));
                for arg in args {
                    if named {
                        self.mark(arg, |f| f.taken = true);
                    }
                    self.expr(arg);
                }
            }
            ExprKind::Braced { entries, .. } => entries.iter().for_each(|i| self.init(i, true)),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Fold { left, right, .. } => [left, right].into_iter().flatten().for_each(|e| self.expr(e)),
            ExprKind::Launch { callee, config, args } => {
                self.expr(callee);
                config.iter().chain(args).for_each(|e| self.expr(e));
            }
            ExprKind::This | ExprKind::SizeofPack(_) => {}
        }
    }

    /// Variables that a lambda captures by reference live in memory.
    fn lambda(&mut self, lambda: &Lambda) {
        let both = |f: &mut NameUsage| (f.taken, f.assigned) = (true, true);
        for capture in &lambda.captures {
            match &capture.kind {
                CaptureKind::Variable(CaptureMode::Reference, ident) => {
                    both(self.usage.flags.entry(ident.name).or_default());
                }
                CaptureKind::Init(mode, _, init) => self.init(init, *mode == CaptureMode::Reference),
                _ => {}
            }
        }
        if lambda.default_capture == Some(CaptureMode::Reference) {
            let flags = &mut self.usage.flags;
            mentioned_names::names_in_stmts(&lambda.body.stmts, &mut |name| both(flags.entry(name).or_default()));
        }
        // A lambda in it may capture by reference what this one captures.
        for stmt in &lambda.body.stmts {
            self.stmt(stmt);
        }
    }

    fn call(&mut self, f: &Expr, args: &[Expr]) {
        let callee = match &f.kind {
            ExprKind::Name(name) => (self.callee)(name.last().name),
            // A method, or an object that is called.
            _ => Callee::Unknown,
        };
        for arg in args {
            match (&arg.kind, callee) {
                (ExprKind::Unary(UnaryOp::AddrOf, place), Callee::Outputs)
                    if matches!(place.kind, ExprKind::Name(_)) =>
                {
                    self.assigned(place);
                    continue;
                }
                (_, Callee::References | Callee::Unknown) => self.mark(arg, |f| f.taken = true),
                _ => {}
            }
            self.expr(arg);
        }
        self.expr(f);
    }

    fn assigned(&mut self, place: &Expr) {
        self.mark(place, |f| f.assigned = true);
        let mut inner = place;
        while let ExprKind::Paren(a) = &inner.kind {
            inner = a;
        }
        // `(c ? a : b) = x` chooses between addresses.
        if matches!(inner.kind, ExprKind::Conditional(..)) {
            self.mark(inner, |f| f.taken = true);
        }
    }

    /// Applies a flag to the names that a place expression may stand for.
    fn mark(&mut self, e: &Expr, flag: fn(&mut NameUsage)) {
        match &e.kind {
            ExprKind::Name(name) => {
                if let Some(name) = name.simple() {
                    flag(self.usage.flags.entry(name.name).or_default());
                }
            }
            ExprKind::Paren(a) | ExprKind::Assign(_, a, _) => self.mark(a, flag),
            ExprKind::Unary(UnaryOp::PreInc | UnaryOp::PreDec, a) => self.mark(a, flag),
            ExprKind::Conditional(_, a, b) => [a, b].into_iter().for_each(|e| self.mark(e, flag)),
            ExprKind::Binary(_, _, b, _) => self.mark(b, flag),
            ExprKind::Cast { operand: a, .. } => self.mark(a, flag),
            _ => {}
        }
    }
}

/// The names of variables that a value may be a pointer into: what it takes the address of, and names that stand for arrays and pointers.
fn pointed_at(e: &Expr, names: &mut Vec<Symbol>) {
    match &e.kind {
        ExprKind::Name(name) => names.extend(name.simple().map(|n| n.name)),
        ExprKind::Paren(a) | ExprKind::Cast { operand: a, .. } | ExprKind::Assign(_, _, a) => pointed_at(a, names),
        ExprKind::Unary(UnaryOp::AddrOf | UnaryOp::PreInc | UnaryOp::PreDec, a) => pointed_at(a, names),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b, _) => {
            [a, b].into_iter().for_each(|e| pointed_at(e, names))
        }
        ExprKind::Conditional(_, a, b) => [a, b].into_iter().for_each(|e| pointed_at(e, names)),
        ExprKind::Index(a, _) | ExprKind::Member { object: a, .. } => pointed_at(a, names),
        _ => {}
    }
}

/// The initialiser names `symbol`, also where it is not evaluated.
pub fn mentions(init: &Init, symbol: Symbol) -> bool {
    any_expr(
        init,
        |e| matches!(&e.kind, ExprKind::Name(name) if name.parts.first().is_some_and(|p| p.ident.name == symbol)),
    )
}

/// The initialiser holds a lambda.
pub fn has_lambda(init: &Init) -> bool {
    any_expr(init, |e| matches!(e.kind, ExprKind::Lambda(_)))
}

/// The initialiser may do more than give a value: it calls something, makes an object, writes, or has operators that may be
/// functions.
pub fn may_act(init: &Init) -> bool {
    any_expr(init, |e| match &e.kind {
        ExprKind::Call(..) | ExprKind::Launch { .. } | ExprKind::Assign(..) => true,
        ExprKind::Construct { ty, .. } => matches!(ty.base, BaseType::Named(_)),
        ExprKind::Braced { ty, .. } => ty.as_ref().is_some_and(|ty| matches!(ty.base, BaseType::Named(_))),
        ExprKind::Unary(UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec, _) => true,
        ExprKind::Unary(op, a) => *op != UnaryOp::AddrOf && matches!(bare(a).kind, ExprKind::Name(_)),
        ExprKind::Binary(_, a, b, _) | ExprKind::Index(a, b) => {
            [a, b].into_iter().any(|e| matches!(bare(e).kind, ExprKind::Name(_)))
        }
        _ => false,
    })
}

fn any_expr(init: &Init, wanted: impl Fn(&Expr) -> bool) -> bool {
    let mut inits = vec![init];
    let mut exprs: Vec<&Expr> = Vec::new();
    loop {
        while let Some(init) = inits.pop() {
            match init {
                Init::Expr(e) => exprs.push(e),
                Init::Paren(items, _) => exprs.extend(items),
                Init::List(items, _) => inits.extend(items),
                Init::Designated(_, init) => inits.push(init),
            }
        }
        let Some(e) = exprs.pop() else { return false };
        if wanted(e) {
            return true;
        }
        match &e.kind {
            ExprKind::Literal(_) | ExprKind::Str(_) | ExprKind::Name(_) | ExprKind::This | ExprKind::Error => {}
            ExprKind::SizeofType(_) | ExprKind::AlignofType(_) | ExprKind::SizeofPack(_) | ExprKind::Lambda(_) => {}
            ExprKind::Unary(_, a)
            | ExprKind::SizeofExpr(a)
            | ExprKind::Noexcept(a)
            | ExprKind::PackExpansion(a)
            | ExprKind::Cast { operand: a, .. }
            | ExprKind::Paren(a) => exprs.push(a),
            ExprKind::Member { object, .. } => exprs.push(object),
            ExprKind::Binary(_, a, b, _) | ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => {
                exprs.extend([&**a, &**b]);
            }
            ExprKind::Conditional(a, b, c) => exprs.extend([&**a, &**b, &**c]),
            ExprKind::Call(f, args) => {
                exprs.push(f);
                exprs.extend(args);
            }
            ExprKind::Launch { callee, config, args } => {
                exprs.push(callee);
                exprs.extend(config.iter().chain(args));
            }
            ExprKind::Construct { args, .. } => exprs.extend(args),
            ExprKind::Braced { entries, .. } => inits.extend(entries),
            ExprKind::Fold { left, right, .. } => exprs.extend(left.iter().chain(right).map(|e| &**e)),
        }
    }
}

fn is_reference(ty: &TypeName) -> bool {
    matches!(ty.layers.last(), Some(TypeLayer::Reference { .. }))
}
