//! Declarations: namespaces, variables, aliases, `using`.

use super::declarator::Declarator;
use super::declared_names::{NameEntry, NameKind, NameScopeId};
use super::name::Position;
use super::types::DeclSpecs;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Alias, BaseType, Declaration, ExprKind, Ident, Init, Item, Name, Namespace, NamespaceAlias, StaticAssert,
    TemplateHead, TypeLayer, TypeName, VarDecl,
};
use crate::front::lexer::{Flags, Keyword as K, TokenKind as T};
use crate::source::Span;

impl Parser<'_> {
    /// translation-unit, or the inside of a namespace when `nested`: then the closing brace is left.
    pub(super) fn items(&mut self, nested: bool, out: &mut Vec<Item>) {
        loop {
            match self.kind() {
                T::Eof => return,
                T::RBrace if nested => return,
                // Reported with the braces.
                T::RBrace | T::Semi => {
                    self.bump();
                }
                _ => {
                    let (start, mark, place) = (self.pos, self.names.mark(), out.len());
                    if self.item(out).is_err() {
                        self.skip_item(start, mark);
                    }
                    // A declaration of the namespace's inside a block is known before the function that has the block.
                    let place = place.min(out.len());
                    out.splice(place..place, std::mem::take(&mut self.ahead));
                    if self.pos == start {
                        self.bump();
                    }
                }
            }
        }
    }

    /// declaration, at namespace scope.
    fn item(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        match self.kind() {
            T::Keyword(K::Namespace) => self.namespace(false, out),
            T::Keyword(K::Inline) if self.kind_at(1) == T::Keyword(K::Namespace) => {
                self.bump();
                self.namespace(true, out)
            }
            T::Keyword(K::Extern) if self.kind_at(1) == T::Str && self.kind_at(2) == T::LBrace => {
                self.bump();
                self.bump();
                self.linkage(out)
            }
            _ => self.declaration(out),
        }
    }

    /// namespace-definition: `namespace a::b { ... }`; or `namespace a = b::c;`.
    fn namespace(&mut self, is_inline: bool, out: &mut Vec<Item>) -> PResult<()> {
        if self.kind_at(1) == T::Ident && self.kind_at(2) == T::Assign {
            let alias = self.namespace_alias()?;
            out.push(Item::NamespaceAlias(alias));
            return Ok(());
        }
        let start = self.bump().span;
        self.skip_attributes();
        let mut names: Vec<(Option<Ident>, bool)> = Vec::new();
        while self.at(T::Ident) {
            names.push((Some(self.ident("the name of a namespace")?), false));
            if !self.eat(T::ColonColon) {
                break;
            }
            self.eat_word(K::Inline);
        }
        self.skip_attributes();
        if names.is_empty() {
            names.push((None, false));
        }
        if let Some(last) = names.last_mut() {
            last.1 = is_inline;
        }
        let span = self.since(start);
        let mut items = Vec::new();
        self.namespace_body(&names, &mut items)?;
        while let Some((name, is_inline)) = names.pop() {
            items = vec![Item::Namespace(Namespace { name, is_inline, items, span })];
        }
        out.append(&mut items);
        Ok(())
    }

    /// Opens namespaces one in the other and reads what they hold.
    fn namespace_body(&mut self, names: &[(Option<Ident>, bool)], items: &mut Vec<Item>) -> PResult<()> {
        let Some(((name, is_inline), rest)) = names.split_first() else { return self.braced_items(items) };
        let scope = match name {
            Some(name) => {
                let old = self.names.lookup(name.name, self.interner);
                let scope = match (old.kind, old.scope) {
                    (NameKind::Namespace, Some(scope)) => scope,
                    _ => self.names.new_scope(),
                };
                let entry = NameEntry { kind: NameKind::Namespace, template: false, scope: Some(scope) };
                self.names.declare_entry(name.name, entry);
                scope
            }
            None => self.names.new_scope(),
        };
        self.names.reopen(scope);
        let result = self.nested(|p| p.namespace_body(rest, items));
        self.names.close();
        if *is_inline || name.is_none() {
            self.names.merge(scope);
        }
        result
    }

    /// `namespace a = b::c;`
    fn namespace_alias(&mut self) -> PResult<NamespaceAlias> {
        self.bump();
        let name = self.ident("the name of a namespace")?;
        self.bump();
        let target = self.name(Position::Type)?;
        let scope = self.scope_of(&target.parts, target.global);
        let kind = if scope.is_some() { NameKind::Namespace } else { NameKind::Free };
        self.names.declare_entry(name.name, NameEntry { kind, template: false, scope });
        self.expect_semi("this namespace alias")?;
        Ok(NamespaceAlias { name, target })
    }

    /// `{ declarations }` of `extern "C"`.
    fn linkage(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        let first = out.len();
        let result = self.nested(|p| p.braced_items(out));
        for item in &mut out[first..] {
            match item {
                Item::Function(func) => (func.specs.is_extern, func.specs.extern_c) = (true, true),
                Item::Variables(decl) => decl.specs.extern_c = true,
                _ => {}
            }
        }
        result
    }

    /// `{ declarations }`
    fn braced_items(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        self.expect(T::LBrace)?;
        self.items(true, out);
        self.eat(T::RBrace);
        Ok(())
    }

    /// A declaration at any scope.
    pub(super) fn declaration(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        self.declaration_of(Vec::new(), out)
    }

    /// simple-declaration, function-definition, alias-declaration, static_assert-declaration or using-directive, after
    /// `templates`.
    #[inline(never)] // Its frame is large, and namespaces nest through its callers.
    pub(super) fn declaration_of(&mut self, mut templates: Vec<TemplateHead>, out: &mut Vec<Item>) -> PResult<()> {
        match self.kind() {
            T::Ident if !templates.is_empty() && self.at_context_word("concept") => {
                return self.concept(templates, out);
            }
            T::Keyword(K::Using) => return self.using(templates, out),
            T::Keyword(K::StaticAssert) => {
                let assertion = self.static_assertion()?;
                out.push(Item::StaticAssert(assertion));
                return Ok(());
            }
            T::Keyword(K::Template) => return self.template(out),
            T::Keyword(K::Extern) if self.kind_at(1) == T::Keyword(K::Template) => return self.template(out),
            T::Keyword(K::Namespace) if self.kind_at(1) == T::Ident && self.kind_at(2) == T::Assign => {
                let alias = self.namespace_alias()?;
                out.push(Item::NamespaceAlias(alias));
                return Ok(());
            }
            T::Keyword(K::Namespace) => {
                let span = self.bump().span;
                let text = "a namespace cannot be opened here";
                return Err(self.report(Diagnostic::error(Code::Syntax, span, text)));
            }
            T::Keyword(K::Asm) => {
                self.unsupported_statement(K::Asm);
                return Ok(());
            }
            _ if self.binding_at(self.pos) => {
                let span = self.peek().span;
                let text = "structured bindings outside functions are not supported";
                return Err(self.unsupported(span, text, "declare each variable by itself"));
            }
            _ => {}
        }
        let start = self.peek().span;
        let mut specs = self.decl_specifiers_of(&mut templates)?;
        let declared = self.declared_types(&mut specs, out);
        if self.at(T::Semi) {
            if declared || specs.is_friend {
                self.bump();
                return Ok(());
            }
            let span = self.since(start);
            self.bump();
            return Err(self.report(Diagnostic::error(Code::Syntax, span, "this declares nothing: a name is missing")));
        }
        if specs.specs.is_typedef {
            return self.typedef(&specs, out);
        }
        if declared && self.declares_no_more() {
            return self.expect_semi("this declaration of a type");
        }
        let (first, target) = match specs.untyped {
            Some(untyped) => self.untyped_declarator(untyped)?,
            None => (self.declarator(true)?, None),
        };
        if first.params.is_some() {
            let (func, skipped) = self.function(templates, specs, first, target, start)?;
            if !skipped {
                out.push(Item::Function(func));
            }
            return Ok(());
        }
        let declaration = self.variables(templates, specs, first, start)?;
        out.push(Item::Variables(declaration));
        Ok(())
    }

    /// Tokens after a struct or enum are no declarator of the same declaration: its `;` is missing.
    pub(super) fn declares_no_more(&self) -> bool {
        let next = self.peek();
        let fresh = next.flags.has(Flags::LINE_START);
        matches!(next.kind, T::Eof | T::RBrace) || fresh && !matches!(next.kind, T::Ident | T::Star)
    }

    /// Moves an enum or struct declared by the specifiers into `out`; whether there was one. A struct without a name stays in
    /// the type.
    pub(super) fn declared_types(&mut self, specs: &mut DeclSpecs, out: &mut Vec<Item>) -> bool {
        if let Some(decl) = specs.enum_decl.take() {
            out.push(Item::Enum(decl));
            return true;
        }
        let Some(decl) = specs.struct_decl.take() else { return false };
        if decl.name.is_none() {
            return false;
        }
        out.push(Item::Struct(decl));
        true
    }

    /// init-declarator-list `;`
    fn variables(
        &mut self,
        templates: Vec<TemplateHead>,
        specs: DeclSpecs,
        first: Declarator,
        start: Span,
    ) -> PResult<Declaration> {
        let mut vars = Vec::new();
        let mut next = Some(first);
        while let Some(declarator) = next.take() {
            vars.push(self.variable_of(!templates.is_empty(), &specs, declarator)?);
            if self.eat(T::Comma) {
                let declarator = self.declarator(true)?;
                if declarator.params.is_some() {
                    let span = declarator.name.map_or(self.prev(), |n| n.span);
                    let text = "a function needs a declaration of its own";
                    return Err(self.report(Diagnostic::error(Code::Syntax, span, text)));
                }
                next = Some(declarator);
            }
        }
        self.expect_semi("this declaration")?;
        Ok(Declaration { templates, specs: specs.specs, align: specs.align, vars, span: self.since(start) })
    }

    /// init-declarator.
    pub(super) fn variable(&mut self, specs: &DeclSpecs, declarator: Declarator) -> PResult<VarDecl> {
        self.variable_of(false, specs, declarator)
    }

    fn variable_of(&mut self, template: bool, specs: &DeclSpecs, declarator: Declarator) -> PResult<VarDecl> {
        let Some(name) = declarator.name else {
            self.ident("the name of a variable")?;
            return Err(self.expected("the name of a variable"));
        };
        // The name is in scope from here on, in its own initializer, too.
        let simple = name.simple();
        if let Some(name) = simple {
            let entry = NameEntry { kind: NameKind::Value, template, scope: None };
            self.names.declare_entry(name.name, entry);
        }
        // The attributes of a variable stand here in GCC's grammar.
        let mut layout =
            super::attribute::LayoutAttributes { align: specs.align.clone(), packed: specs.packed, pack: None };
        self.attributes(&mut layout)?;
        let ty = specs.with(declarator.layers, declarator.ty_end);
        let qualifiers = name.qualifiers().to_vec();
        let init = self.within(&qualifiers, name.global, Self::variable_init)?;
        let qualified = if simple.is_some() { None } else { Some(name.clone()) };
        let super::attribute::LayoutAttributes { align, packed, .. } = layout;
        Ok(VarDecl { ty, name: name.last(), qualified, bits: None, align, packed, init })
    }

    /// Initialiser after the name of a variable.
    fn variable_init(&mut self) -> PResult<Option<Init>> {
        Ok(match self.kind() {
            T::Assign => {
                self.bump();
                Some(self.initializer()?)
            }
            T::LBrace => Some(self.initializer()?),
            T::LParen => {
                let open = self.peek().span;
                let args = self.call_args()?;
                let span = self.since(open);
                if args.is_empty() {
                    let text = "a value is expected in these parentheses";
                    return Err(self.report(Diagnostic::error(Code::Syntax, span, text)));
                }
                Some(Init::Paren(args, span))
            }
            _ => None,
        })
    }

    /// initializer-clause: an expression or a braced list.
    pub(super) fn initializer(&mut self) -> PResult<Init> {
        if self.at(T::LBrace) {
            let start = self.peek().span;
            let entries = self.nested_by(2, |p| p.unangled(Self::braced_entries))?;
            return Ok(Init::List(entries, self.since(start)));
        }
        Ok(Init::Expr(self.assignment_expr()?))
    }

    /// `{ entries }`
    pub(super) fn braced_entries(&mut self) -> PResult<Vec<Init>> {
        self.expect(T::LBrace)?;
        let mut entries = Vec::new();
        while !self.at(T::RBrace) {
            entries.push(self.braced_entry()?);
            if !self.eat(T::Comma) {
                break;
            }
        }
        if !self.at(T::RBrace) {
            return Err(self.expected("`,` or `}`"));
        }
        self.bump();
        Ok(entries)
    }

    fn braced_entry(&mut self) -> PResult<Init> {
        if self.at(T::LBracket)
            && self.bracket_end(self.pos).is_some_and(|end| self.at_index(end + 1).kind == T::Assign)
        {
            let span = self.peek().span;
            let text = "initializers by index are not supported";
            return Err(self.unsupported(span, text, "write the values in order"));
        }
        if self.at(T::Dot) && self.kind_at(1) == T::Ident {
            self.bump();
            let name = self.ident("the name of a member")?;
            if !self.at(T::LBrace) {
                self.expect(T::Assign)?;
            }
            let value = self.initializer()?;
            return Ok(Init::Designated(name, Box::new(value)));
        }
        if self.at(T::LBrace) {
            return self.initializer();
        }
        Ok(Init::Expr(self.argument()?))
    }

    /// `typedef` declarators `;`
    pub(super) fn typedef(&mut self, specs: &DeclSpecs, out: &mut Vec<Item>) -> PResult<()> {
        loop {
            let mut declarator = self.declarator(true)?;
            let Some(name) = declarator.name.as_ref().and_then(Name::simple) else {
                return Err(self.expected("the name of the new type"));
            };
            if let Some(params) = declarator.params.take() {
                declarator.layers.push(TypeLayer::Function(params.into()));
            }
            let ty = specs.with(declarator.layers, declarator.ty_end);
            // `typedef struct { ... } S;` has named the struct already.
            let same = matches!(&ty.base, BaseType::Named(base) if base.simple().is_some_and(|b| b.name == name.name));
            if !(same && ty.layers.is_empty()) {
                self.declare_alias(name, &ty, false);
                out.push(Item::Alias(Alias { templates: Vec::new(), name, ty }));
            }
            if !self.eat(T::Comma) {
                return self.expect_semi("this typedef");
            }
        }
    }

    /// An alias of a struct reaches the struct's members.
    fn declare_alias(&mut self, name: Ident, ty: &TypeName, template: bool) {
        let scope: Option<NameScopeId> = match &ty.base {
            BaseType::Named(base) if ty.layers.is_empty() => self.scope_of(&base.parts, base.global),
            _ => None,
        };
        self.names.declare_entry(name.name, NameEntry { kind: NameKind::Type, template, scope });
    }

    /// `using X = T;`, `using namespace x;`, `using a::b;`
    pub(super) fn using(&mut self, templates: Vec<TemplateHead>, out: &mut Vec<Item>) -> PResult<()> {
        self.bump();
        if self.eat_word(K::Namespace) {
            if !matches!(self.kind(), T::Ident | T::ColonColon) {
                return Err(self.expected("the name of a namespace"));
            }
            let name = self.name(Position::Type)?;
            if let Some(scope) = self.scope_of(&name.parts, name.global) {
                self.names.use_namespace(scope);
            }
            out.push(Item::UsingNamespace(name));
            return self.expect_semi("this using directive");
        }
        if self.at_word(K::Enum) {
            let span = self.peek().span;
            return Err(self.unsupported(
                span,
                "`using enum` is not supported",
                "write the enum's name before its constants",
            ));
        }
        let attributed = self.at(T::Ident) && self.kind_at(1) == T::LBracket && self.kind_at(2) == T::LBracket;
        if self.at(T::Ident) && (self.kind_at(1) == T::Assign || attributed) {
            let name = self.ident("the name of the new type")?;
            self.skip_attributes();
            self.expect(T::Assign)?;
            let ty = self.type_id()?;
            self.declare_alias(name, &ty, !templates.is_empty());
            out.push(Item::Alias(Alias { templates, name, ty }));
            return self.expect_semi("this alias");
        }
        loop {
            let typename = self.eat_word(K::Typename);
            if !matches!(self.kind(), T::Ident | T::ColonColon) {
                return Err(self.expected("a name"));
            }
            let name = self.name(Position::Type)?;
            self.declare_using(&name, typename);
            out.push(Item::UsingDecl(name));
            self.eat(T::Ellipsis);
            if !self.eat(T::Comma) {
                return self.expect_semi("this using declaration");
            }
        }
    }

    fn declare_using(&mut self, name: &Name, typename: bool) {
        let last = name.last().name;
        let known = match self.scope_of(name.qualifiers(), name.global) {
            Some(scope) => self.names.member(scope, last),
            None => None,
        };
        let builtin = super::declared_names::is_builtin_type(self.interner.name(last));
        match known {
            Some(entry) => self.names.declare_entry(last, entry),
            None if typename || builtin => self.names.declare(last, NameKind::Type),
            None => {}
        }
    }

    /// `static_assert ( cond , "text" ) ;`
    pub(super) fn static_assertion(&mut self) -> PResult<StaticAssert> {
        let start = self.bump().span;
        let open = self.expect(T::LParen)?;
        let cond = self.assignment_expr()?;
        let message = if self.eat(T::Comma) {
            if !self.at(T::Str) {
                return Err(self.expected("a string"));
            }
            match self.string_literal().kind {
                ExprKind::Str(text) => Some(text),
                _ => None,
            }
        } else {
            None
        };
        self.expect_close(T::RParen, open)?;
        let span = self.since(start);
        self.expect_semi("this static_assert")?;
        Ok(StaticAssert { cond, message, span })
    }
}
