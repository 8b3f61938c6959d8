//! `enum`.

use super::declared_names::NameKind;
use super::{PResult, Parser};
use crate::front::ast::{BaseType, EnumDecl, Ident};
use crate::front::lexer::{Keyword as K, TokenKind as T};

impl Parser<'_> {
    /// enum-specifier or elaborated-type-specifier: `enum [class] [E] [: T] [{ ... }]`; the type it names.
    pub(super) fn enum_specifier(&mut self, typedef: bool, decl: &mut Option<EnumDecl>) -> PResult<BaseType> {
        let start = self.bump().span;
        let scoped = self.eat_word(K::Class) || self.eat_word(K::Struct);
        self.skip_attributes();
        let mut name = if self.at(T::Ident) { Some(self.ident("the name of the enum")?) } else { None };
        let mut base = match name {
            Some(name) => {
                self.names.declare(name.name, NameKind::Type);
                BaseType::Named(name.into())
            }
            None => BaseType::Int,
        };
        let underlying = if self.eat(T::Colon) { Some(self.type_id()?) } else { None };
        if !self.at(T::LBrace) {
            if name.is_none() {
                return Err(self.expected("the name of the enum"));
            }
            return Ok(base);
        }
        self.bump();
        let mut constants = Vec::new();
        while !self.at(T::RBrace) {
            let constant = self.ident("the name of an enumerator")?;
            self.skip_attributes();
            let value = if self.eat(T::Assign) { Some(self.unangled(Self::assignment_expr)?) } else { None };
            if !scoped {
                self.names.declare(constant.name, NameKind::Value);
            }
            constants.push((constant, value));
            if !self.eat(T::Comma) {
                break;
            }
        }
        if !self.at(T::RBrace) {
            return Err(self.expected("`,` or `}`"));
        }
        self.bump();
        // `typedef enum { ... } E;` is an enum called E.
        if name.is_none() && typedef && self.at(T::Ident) {
            let ident = Ident { name: self.peek().symbol, span: self.peek().span };
            (name, base) = (Some(ident), BaseType::Named(ident.into()));
        }
        *decl = Some(EnumDecl { name, scoped, underlying, constants, span: self.since(start) });
        Ok(base)
    }
}
