//! `new` and `delete`: calls of the library's functions that ask host code's heap.
//!
//! The library's templates ask what a class has of its own (`__wb_has_new`).

use super::{PResult, Parser};
use crate::front::ast::{Expr, ExprKind, Ident, Name, NamePart, TemplateArg, TemplateArgKind, TypeLayer, TypeName};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

impl Parser<'_> {
    /// `new T`, `new T(a)`, `new T{a}`, `new T[n]`, `new T[n]()`
    pub(super) fn new_expression(&mut self) -> PResult<Expr> {
        let start = self.bump().span;
        let mut throws = true;
        if self.at(T::LParen) {
            // `new (std::nothrow) T` is null where there is no memory.
            let nothrow = (1..5).any(|n| self.peek_at(n).text(self.interner) == "nothrow");
            if !nothrow {
                let span = self.peek().span;
                return Err(self.unsupported(span, "placement `new` is not supported", "assign to the place"));
            }
            self.skip_brackets();
            throws = false;
        }
        // The function for each form, with and without an exception.
        let [one, plain, array, empty] = if throws {
            ["__wb_new", "__wb_new_plain", "__wb_new_array", "__wb_new_zeroed"]
        } else {
            ["__wb_new_nothrow", "__wb_new_plain_nothrow", "__wb_new_array_nothrow", "__wb_new_zeroed_nothrow"]
        };
        let ty = self.new_type()?;
        match self.kind() {
            T::LBracket => {
                let open = self.bump().span;
                let (count, height) = self.measured(|p| p.nested(|p| p.unangled(Self::expression)))?;
                self.expect_close(T::RBracket, open)?;
                let zeroed = match (self.kind(), self.kind_at(1)) {
                    (T::LParen, T::RParen) | (T::LBrace, T::RBrace) => {
                        self.bump();
                        self.bump();
                        true
                    }
                    _ => false,
                };
                let name = if zeroed { empty } else { array };
                self.heap_call(name, Some(ty), vec![count], start, height)
            }
            T::LParen => {
                let (args, height) = self.measured(Self::call_args)?;
                self.heap_call(one, Some(ty), args, start, height)
            }
            T::LBrace => {
                let inside = self.peek().span;
                let (entries, height) = self.measured(|p| p.nested_by(4, |p| p.unangled(Self::braced_entries)))?;
                let span = self.since(inside);
                let value = self.node(ExprKind::Braced { ty: Some(Box::new(ty.clone())), entries }, span, height)?;
                self.heap_call(one, Some(ty), vec![value], start, height + 1)
            }
            _ => self.heap_call(plain, Some(ty), Vec::new(), start, 0),
        }
    }

    /// `delete p`, `delete[] p`
    pub(super) fn delete_expression(&mut self) -> PResult<Expr> {
        let start = self.bump().span;
        let is_array = self.at(T::LBracket) && self.kind_at(1) == T::RBracket;
        if is_array {
            self.bump();
            self.bump();
        }
        let (place, height) = self.measured(|p| p.nested(Self::unary))?;
        let name = if is_array { "__wb_delete_array" } else { "__wb_delete" };
        self.heap_call(name, None, vec![place], start, height)
    }

    /// A type as `new` takes it: what follows it in brackets is no part of it.
    fn new_type(&mut self) -> PResult<TypeName> {
        let outer = std::mem::replace(&mut self.want_type, true);
        let specs = self.decl_specifiers();
        self.want_type = outer;
        let specs = specs?;
        if specs.untyped.is_some() {
            return Err(self.expected_type());
        }
        let mut layers = Vec::new();
        while self.eat(T::Star) {
            let is_const = self.eat_word(K::Const);
            layers.push(TypeLayer::Pointer { is_const, is_volatile: false, restrict: false });
        }
        Ok(specs.with(layers, self.prev()))
    }

    fn heap_call(
        &mut self,
        name: &str,
        ty: Option<TypeName>,
        args: Vec<Expr>,
        start: Span,
        height: u32,
    ) -> PResult<Expr> {
        let ident = Ident { name: self.interner.intern(name), span: start };
        let args_of = ty.map(|ty| {
            let span = ty.span;
            [TemplateArg { kind: TemplateArgKind::Type(ty), pack: false, span }].into()
        });
        let name = Name { global: true, parts: vec![NamePart { ident, args: args_of }], span: start };
        let callee = self.leaf(ExprKind::Name(name), start);
        let span = self.since(start);
        self.node(ExprKind::Call(Box::new(callee), args), span, height)
    }
}
