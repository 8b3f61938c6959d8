//! Concepts and constraints of C++20: a concept is a constant of type `bool` that a template makes, and what a template requires is held by the
//! last of its parameters that it speaks of. Requirements in braces (`requires (T a) { a + a; }`) are not supported.

use std::sync::Arc;

use super::declared_names::{NameEntry, NameKind};
use super::name::Position;
use super::{PResult, Parser, Reported};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    BaseType, BinaryOp, Declaration, Expr, ExprKind, FoldOp, Ident, Init, Item, Name, Specifiers, TemplateArg,
    TemplateArgKind, TemplateHead, TemplateParam, TemplateParamKind, TypeName, VarDecl,
};
use crate::front::lexer::TokenKind as T;
use crate::source::Span;

impl Parser<'_> {
    /// The word, which is a keyword only here, stands at the current token.
    pub(super) fn at_context_word(&self, word: &str) -> bool {
        self.at(T::Ident) && self.peek().text(self.interner) == word
    }

    /// The name of a concept stands at `index`.
    pub(super) fn concept_at(&mut self, index: usize) -> bool {
        self.scan_name(index).is_some_and(|scan| scan.kind == NameKind::Concept)
    }

    /// `concept small = sizeof(T) <= 4;` after its head.
    pub(super) fn concept(&mut self, templates: Vec<TemplateHead>, out: &mut Vec<Item>) -> PResult<()> {
        let start = self.bump().span;
        let name = self.ident("the name of the concept")?;
        if templates.len() != 1 {
            let text = "a concept has one `template <...>` before it";
            return Err(self.report(Diagnostic::error(Code::Syntax, name.span, text)));
        }
        self.expect(T::Assign)?;
        let value = self.constant_expr()?;
        self.names.declare_entry(name.name, NameEntry { kind: NameKind::Concept, template: true, scope: None });
        self.expect_semi("this concept")?;
        let span = self.since(start);
        let ty =
            TypeName { base: BaseType::Bool, is_const: false, is_volatile: false, layers: Vec::new(), span: name.span };
        let init = Some(Init::Expr(value));
        let var = VarDecl { ty, name, qualified: None, bits: None, align: None, packed: false, init };
        let specs = Specifiers { constexpr: true, inline: true, ..Specifiers::default() };
        out.push(Item::Variables(Declaration { templates, specs, align: None, vars: vec![var], span }));
        Ok(())
    }

    /// `requires a<T> && (b)` after a head, held by its last parameter.
    pub(super) fn required(&mut self, heads: &mut [TemplateHead]) -> PResult<()> {
        while self.at_context_word("requires") {
            let start = self.bump().span;
            let (constraint, _) = self.measured(|p| p.unangled(|p| p.constraint(BinaryOp::Or)))?;
            match heads.last_mut().and_then(|head| head.params.last_mut()) {
                Some(param) => param.constraints.push(constraint),
                None => {
                    let text = "`requires` on what is no template itself is not supported";
                    return Err(self.unsupported(start, text, "write `static_assert` in the body"));
                }
            }
        }
        Ok(())
    }

    /// Primary expressions between `||`, or between `&&`.
    fn constraint(&mut self, op: BinaryOp) -> PResult<Expr> {
        let sign = if op == BinaryOp::Or { T::PipePipe } else { T::AmpAmp };
        let part = |p: &mut Self| if op == BinaryOp::Or { p.constraint(BinaryOp::And) } else { p.constraint_part() };
        let mut left = part(self)?;
        while self.at(sign) {
            let place = self.bump().span;
            let below = self.height;
            let right = part(self)?;
            let span = left.span.to(right.span);
            let height = self.height.max(below);
            left = self.node(ExprKind::Binary(op, Box::new(left), Box::new(right), place), span, height)?;
        }
        Ok(left)
    }

    fn constraint_part(&mut self) -> PResult<Expr> {
        if self.at_context_word("requires") {
            return Err(self.requirements());
        }
        if matches!(self.kind(), T::Ident | T::ColonColon) {
            // A body may follow in braces.
            let (name, below) = self.measured(|p| p.name(Position::Expr))?;
            let span = name.span;
            return self.node(ExprKind::Name(name), span, below);
        }
        self.nested(Self::primary)
    }

    /// Reports `requires (T a) { ... }`.
    #[cold]
    pub(super) fn requirements(&mut self) -> Reported {
        let span = self.peek().span;
        let help = "write a constant: `sizeof(T) == 4`, `std::is_same_v<T, float>`";
        self.unsupported(span, "`requires` with requirements in braces is not supported", help)
    }

    /// `small T`, `like<int>... T`
    pub(super) fn constrained_param(&mut self, start: Span) -> PResult<TemplateParam> {
        let mut concept = self.name(Position::Type)?;
        let place = concept.span;
        if self.at_word(crate::front::lexer::Keyword::Auto) {
            let text = "a concept before `auto` is not supported";
            return Err(self.unsupported(place, text, "write `auto`, and `requires` after the parameters"));
        }
        let pack = self.eat(T::Ellipsis);
        let token = self.peek();
        let name = if token.kind == T::Ident {
            self.bump();
            Ident { name: token.symbol, span: token.span }
        } else {
            Ident { name: self.interner.intern("__wb_constrained"), span: place }
        };
        self.names.declare_param(name.name, NameKind::Type, false);
        let default = if self.eat(T::Assign) { Some(self.type_id()?) } else { None };
        let base = BaseType::Named(name.into());
        let ty = TypeName { base, is_const: false, is_volatile: false, layers: Vec::new(), span: name.span };
        let own = TemplateArg { kind: TemplateArgKind::Type(ty), pack: false, span: name.span };
        if let Some(part) = concept.parts.last_mut() {
            let given = part.args.iter().flat_map(|args| args.iter().cloned());
            part.args = Some(std::iter::once(own).chain(given).collect::<Arc<[TemplateArg]>>());
        }
        let constraint = held(concept, pack);
        let kind = TemplateParamKind::Type { default };
        Ok(TemplateParam { name: Some(name), kind, pack, constraints: vec![constraint], span: self.since(start) })
    }
}

/// The constraint that a concept puts on a parameter; on a pack, on each of its elements.
fn held(concept: Name, pack: bool) -> Expr {
    let span = concept.span;
    let one = Expr { kind: ExprKind::Name(concept), span };
    if !pack {
        return one;
    }
    let op = FoldOp::Binary(BinaryOp::And);
    Expr { kind: ExprKind::Fold { op, left: Some(Box::new(one)), right: None }, span }
}
