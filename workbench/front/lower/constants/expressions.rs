//! Constant expressions: what folding leaves over is lowered into a function of its own and run ([`super::evaluator`]).

use super::evaluator::{Evaluator, Stop};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed};
use crate::front::lower::{Lowerer, Progress, Storage};
use crate::front::types::Ty;
use crate::ir::{Const, FuncId, Function, Op, Stmt, Type};
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// A scalar expression with its value found, when it has one while compiling; else itself.
    pub(in crate::front::lower) fn folded(&mut self, e: Typed) -> Typed {
        if e.is_error() || e.constant().is_some() || e.ty.scalar().is_none() {
            return e;
        }
        match self.evaluated(&e) {
            Some(c) => Typed::value(e.ty.clone(), e.span, Node::Const(c)),
            None => e,
        }
    }

    fn evaluated(&mut self, e: &Typed) -> Option<Const> {
        let ty = e.ty.ir()?;
        let func = self.scratch(Some(ty), |this| {
            let value = this.emit_value(e);
            this.at(e.span).push(Stmt::Return(Some(value)));
        })?;
        self.run(&func, |evaluator, func| evaluator.number(func))
    }

    /// The bytes of an object of struct or array type, when they are known while compiling.
    pub(in crate::front::lower) fn constant_object(&mut self, value: &Typed, ty: &Ty) -> Option<Vec<u8>> {
        let size = ty.size()?;
        let func = self.scratch(None, |this| {
            let slot = this.f.b.func.new_slot(crate::ir::SlotData {
                name: String::new(),
                size,
                align: ty.align().clamp(1, 16),
                elem: ty.uniform(),
            });
            let to = this.at(value.span).bind(Type::Ptr, Op::SlotAddr(slot));
            this.emit_into(value, to);
            this.at(value.span).push(Stmt::Return(None));
        })?;
        self.run(&func, |evaluator, func| evaluator.object(func))
    }

    /// A function that nothing but the evaluator sees; `None` when it needs variables of a running function.
    fn scratch(&mut self, ret: Option<Type>, what: impl FnOnce(&mut Self)) -> Option<Function> {
        self.obstacle_found = None;
        let foreign = self.f.foreign.take();
        let (((), fine), func) = self.in_scratch(ret, |this| this.quietly(what));
        let missing = std::mem::replace(&mut self.f.foreign, foreign);
        (fine && missing.is_none()).then_some(func)
    }

    fn run<T>(
        &mut self,
        func: &Function,
        start: impl Fn(&mut Evaluator<'_>, &Function) -> Result<T, Stop>,
    ) -> Option<T> {
        // Each round lowers one more body that the evaluation has come to.
        for _ in 0..1000 {
            let allowed: std::collections::HashSet<FuncId> =
                self.funcs.iter().filter(|f| f.constexpr && !f.broken).filter_map(|f| f.id).collect();
            // A body that is still being lowered is not there yet.
            let pending: std::collections::HashMap<FuncId, FuncIndex> = (0u32..)
                .zip(&self.funcs)
                .filter(|(_, f)| f.progress != Progress::Done && f.constexpr)
                .filter_map(|(i, f)| Some((f.id?, FuncIndex(i))))
                .collect();
            let result = {
                let ready = |id: FuncId| allowed.contains(&id);
                let mut evaluator = Evaluator::new(&self.module, &ready);
                evaluator.pending = pending.keys().copied().collect();
                start(&mut evaluator, func)
            };
            match result {
                Ok(value) => return Some(value),
                Err(Stop::Body(id)) => {
                    let index = *pending.get(&id)?;
                    if self.func(index).code.is_none() || self.func(index).progress == Progress::Running {
                        return None;
                    }
                    let ((), fine) = self.outside_quiet(|this| this.lower_body(index));
                    if !fine {
                        return None;
                    }
                }
                Err(Stop::NotConstant(what, span)) => {
                    self.obstacle_found = Some((what, span));
                    return None;
                }
            }
        }
        None
    }

    /// Lowers something with messages let through: a body is lowered once, and its errors are errors wherever it is used.
    fn outside_quiet(&mut self, what: impl FnOnce(&mut Self)) -> ((), bool) {
        let quiet = std::mem::replace(&mut self.quiet, 0);
        let errors = self.diags.iter().filter(|d| d.is_error()).count();
        what(self);
        self.quiet = quiet;
        ((), self.diags.iter().filter(|d| d.is_error()).count() == errors)
    }

    /// Reports an expression that has to be constant and is not.
    pub(in crate::front::lower) fn not_constant(&mut self, typed: &Typed, what: &str) {
        let found = self.obstacle_found.take();
        let mut diag = Diagnostic::error(
            Code::NotConstant,
            typed.span,
            format!("{what} must be known when compiling, and this is not"),
        );
        diag.help = Some(match (self.obstacle(typed), found) {
            (Some(Obstacle::Division), _) => "it divides by zero, or overflows".to_owned(),
            (Some(Obstacle::Variable(name, span)), _) => {
                diag = diag.related(span, format!("`{name}` gets its value only when running"));
                format!("make `{name}` a `const` with a constant value, or a macro")
            }
            (None, Some((what, span))) => {
                if span != Span::NONE && span != typed.span {
                    diag = diag.related(span, what);
                    "use literals, `constexpr` variables and functions".to_owned()
                } else {
                    what
                }
            }
            (None, None) => "use literals, `constexpr` variables and macros".to_owned(),
        });
        self.report(diag);
    }

    /// The first thing in an expression that keeps it from being constant.
    fn obstacle(&self, e: &Typed) -> Option<Obstacle> {
        match &e.node {
            Node::Var(id) if self.var(*id).constant.is_none() => {
                let var = self.var(*id);
                let data = matches!(var.storage, Storage::Global(_) | Storage::Constant);
                (!data).then(|| Obstacle::Variable(self.interner.name(var.name).to_owned(), var.span))
            }
            Node::Binary(_, a, b) => {
                let constant = a.constant().is_some() && b.constant().is_some();
                if constant { Some(Obstacle::Division) } else { self.obstacle(a).or_else(|| self.obstacle(b)) }
            }
            Node::Load(a)
            | Node::Convert(a)
            | Node::Unary(_, a)
            | Node::Decay(a)
            | Node::Deref(a)
            | Node::AddrOf(a)
            | Node::Temporary(a)
            | Node::BitField(a, _)
            | Node::Bits(a, _)
            | Node::Member(a, _) => self.obstacle(a),
            Node::Compare(_, a, b) | Node::Logical(_, a, b) | Node::PtrAdd(a, b, _) => {
                self.obstacle(a).or_else(|| self.obstacle(b))
            }
            Node::Call(_, args) => args.iter().find_map(|a| self.obstacle(a)),
            Node::Conditional(parts) => parts.iter().find_map(|p| self.obstacle(p)),
            _ => None,
        }
    }
}

enum Obstacle {
    Division,
    Variable(String, Span),
}
