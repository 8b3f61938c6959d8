//! `struct`, `class` and `union`.

use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

use super::declared_names::{NameEntry, NameKind, NameScopeId};
use super::name::Position;
use super::types::DeclSpecs;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Access, Base, BaseType, Declaration, FunctionDecl, Ident, Item, Member, MemberKind, Name, StructDecl, StructKey,
    Symbol, TemplateHead, TypeName, VarDecl,
};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// A function of a struct whose body is read once all members are known.
struct Pending {
    member: usize,
    /// Index of the token where its initialisers or its body start.
    body: usize,
}

/// State of a struct that its inside needs to know.
struct Inside {
    access: Access,
    members: Vec<Member>,
    pending: Vec<Pending>,
}

impl Parser<'_> {
    /// class-specifier or elaborated-type-specifier. A definition, or a declaration that is nothing else, goes to `out` with
    /// the templates.
    pub(super) fn struct_specifier(
        &mut self,
        templates: &mut Vec<TemplateHead>,
        typedef: bool,
        out: &mut Option<Arc<StructDecl>>,
    ) -> PResult<BaseType> {
        self.nested_by(4, |p| {
            let outer = std::mem::replace(&mut p.in_angle, false);
            let base = p.struct_head(templates, typedef, out);
            p.in_angle = outer;
            base
        })
    }

    #[inline(never)]
    fn struct_head(
        &mut self,
        templates: &mut Vec<TemplateHead>,
        typedef: bool,
        out: &mut Option<Arc<StructDecl>>,
    ) -> PResult<BaseType> {
        let start = self.bump();
        let key = match start.kind {
            T::Keyword(K::Class) => StructKey::Class,
            T::Keyword(K::Union) => StructKey::Union,
            _ => StructKey::Struct,
        };
        let mut layout = super::attribute::LayoutAttributes::default();
        self.struct_attributes(&mut layout)?;
        let mut name = match self.kind() {
            T::Ident | T::ColonColon => Some(self.name(Position::Type)?),
            _ => None,
        };
        let is_final = self.at(T::Ident)
            && matches!(self.kind_at(1), T::LBrace | T::Colon)
            && self.peek().text(self.interner) == "final";
        if is_final {
            self.bump();
        }
        self.struct_attributes(&mut layout)?;
        let access = if key == StructKey::Class { Access::Private } else { Access::Public };
        if !(self.at(T::LBrace) || self.at(T::Colon) && !self.in_bit_field()) {
            let Some(name) = name else { return Err(self.expected("the name of the struct")) };
            if self.declares_struct(&name, templates) {
                *out = Some(Arc::new(StructDecl {
                    key,
                    templates: std::mem::take(templates),
                    name: Some(name.clone()),
                    bases: Vec::new(),
                    members: Vec::new(),
                    waiting: HashMap::default(),
                    align: layout.align,
                    packed: layout.packed,
                    pack: layout.pack,
                    complete: false,
                    span: self.since(start.span),
                }));
            }
            return Ok(BaseType::Named(name));
        }
        let head = self.since(start.span);
        let scope = match &name {
            Some(name) => match name.simple() {
                Some(ident) => self.declare_struct(ident, templates, false),
                // A specialisation, or a nested struct defined outside: what the first declaration had stays known.
                None => self.scope_of(&name.parts, name.global).unwrap_or_else(|| self.names.new_scope()),
            },
            None => self.names.new_scope(),
        };
        let bases = if self.eat(T::Colon) { self.bases(access, scope)? } else { Vec::new() };
        if !self.at(T::LBrace) {
            return Err(self.expected("`{`"));
        }
        let members = self.members_in(scope, name.as_ref().map(|n| n.last().name), access)?;
        // `struct { ... } __attribute__((packed)) x;` is an attribute of the type.
        self.attributes(&mut layout)?;
        // `typedef struct { ... } S;` is a struct called S; the members of one without a name belong to what is around it.
        if name.is_none() && typedef && self.at(T::Ident) {
            let ident = Ident { name: self.peek().symbol, span: self.peek().span };
            let entry = NameEntry { kind: NameKind::Type, template: false, scope: Some(scope) };
            self.names.declare_entry(ident.name, entry);
            name = Some(ident.into());
        } else if name.is_none() && self.at(T::Semi) {
            self.names.merge(scope);
        }
        let decl = Arc::new(StructDecl {
            key,
            templates: std::mem::take(templates),
            name: name.clone(),
            bases,
            members,
            waiting: HashMap::default(),
            align: layout.align,
            packed: layout.packed,
            pack: layout.pack,
            complete: true,
            span: head,
        });
        *out = Some(decl.clone());
        Ok(match name {
            Some(name) => BaseType::Named(name),
            None => BaseType::Struct(decl),
        })
    }

    /// An elaborated-type-specifier declares its struct: it stands alone, or names one that nobody knows. Its name is known from here on.
    fn declares_struct(&mut self, name: &Name, templates: &[TemplateHead]) -> bool {
        let Some(ident) = self.plain_or_special(name) else { return false };
        let alone = self.at(T::Semi);
        let known = self.names.kind(ident.name, self.interner) == NameKind::Type;
        if name.simple().is_some() && (alone || !known) {
            self.declare_struct(ident, templates, known);
        }
        // `struct S* p;` declares `S` where nothing has.
        alone || (!known && name.simple().is_some() && templates.is_empty())
    }

    /// member-specification, with the names of the scope of the class that is called so.
    fn members_in(&mut self, scope: NameScopeId, class: Option<Symbol>, access: Access) -> PResult<Vec<Member>> {
        self.names.reopen(scope);
        let class = std::mem::replace(&mut self.class, class);
        let in_members = std::mem::replace(&mut self.in_members, true);
        let function = self.function.take();
        let inside = self.members(access);
        self.function = function;
        self.in_members = in_members;
        self.class = class;
        self.names.close();
        self.names.complete(scope);
        let mut members = inside?;
        members.shrink_to_fit();
        Ok(members)
    }

    /// The `:` here, after the name of a struct, starts a bit-field: `struct S : 3;` is none that anyone writes.
    fn in_bit_field(&self) -> bool {
        self.kind_at(1) == T::Number
    }

    /// The identifier of a name that is not qualified.
    fn plain_or_special(&self, name: &Name) -> Option<Ident> {
        (name.parts.len() == 1 && !name.global).then(|| name.last())
    }

    /// Declares the name of a struct; the scope of its members. One that is `known` keeps what is known of it.
    fn declare_struct(&mut self, ident: Ident, templates: &[TemplateHead], known: bool) -> NameScopeId {
        let old = self.names.lookup(ident.name, self.interner);
        if let (NameKind::Type, Some(scope)) = (old.kind, old.scope)
            && (known || !self.names.is_complete(scope))
        {
            return scope;
        }
        let scope = self.names.new_scope();
        let template = templates.last().is_some_and(|head| !head.params.is_empty());
        self.names.declare_entry(ident.name, NameEntry { kind: NameKind::Type, template, scope: Some(scope) });
        scope
    }

    /// `alignas(n)`, `__align__(n)`, `__attribute__((packed))` and hints.
    fn struct_attributes(&mut self, layout: &mut super::attribute::LayoutAttributes) -> PResult<()> {
        loop {
            self.attributes(layout)?;
            // Lambdas may be called by either side; a struct needs no mark.
            if !self.at_word(K::Device) && !self.at_word(K::Host) {
                return Ok(());
            }
            self.bump();
        }
    }

    /// base-clause, after the `:`.
    fn bases(&mut self, access: Access, scope: NameScopeId) -> PResult<Vec<Base>> {
        let mut bases = Vec::new();
        loop {
            let mut access = access;
            loop {
                if let Some(written) = self.access_word() {
                    access = written;
                    self.bump();
                } else if self.at_word(K::Virtual) {
                    let span = self.bump().span;
                    self.unsupported(span, "virtual bases are not supported", "inherit without `virtual`");
                } else {
                    break;
                }
            }
            self.eat_word(K::Typename);
            if !matches!(self.kind(), T::Ident | T::ColonColon) {
                return Err(self.expected("the name of a base"));
            }
            let name = self.name(Position::Type)?;
            if let Some(base) = self.scope_of(&name.parts, name.global) {
                self.names.add_base(scope, base);
            }
            let pack = self.eat(T::Ellipsis);
            bases.push(Base { access, name, pack });
            if !self.eat(T::Comma) {
                return Ok(bases);
            }
        }
    }

    /// `public`, `protected` or `private`, which are plain names elsewhere.
    fn access_word(&self) -> Option<Access> {
        let token = self.peek();
        if token.kind != T::Ident {
            return None;
        }
        match token.text(self.interner) {
            "public" => Some(Access::Public),
            "protected" => Some(Access::Protected),
            "private" => Some(Access::Private),
            _ => None,
        }
    }

    /// `{ members }`, the bodies of functions last.
    fn members(&mut self, access: Access) -> PResult<Vec<Member>> {
        self.bump();
        let mut inside = Inside { access, members: Vec::new(), pending: Vec::new() };
        loop {
            match self.kind() {
                T::RBrace | T::Eof => break,
                T::Semi => {
                    self.bump();
                }
                T::Keyword(K::Global) if self.unbalanced => break,
                _ => {
                    if let Some(access) = self.access_word().filter(|_| self.kind_at(1) == T::Colon) {
                        inside.access = access;
                        self.bump();
                        self.bump();
                        continue;
                    }
                    let (start, mark) = (self.pos, self.names.mark());
                    if self.member(Vec::new(), &mut inside).is_err() {
                        self.skip_item(start, mark);
                    }
                    if self.pos == start {
                        self.bump();
                    }
                }
            }
        }
        let Inside { mut members, pending, .. } = inside;
        let end = self.pos;
        for Pending { member, body } in pending {
            let Some(Member { kind: MemberKind::Function(func) | MemberKind::FriendFunction(func), .. }) =
                members.get_mut(member)
            else {
                continue;
            };
            self.pos = body;
            self.late_body(func);
        }
        self.pos = end;
        self.eat(T::RBrace);
        Ok(members)
    }

    /// Reads the body of a member function.
    fn late_body(&mut self, func: &mut FunctionDecl) {
        let templates = std::mem::take(&mut func.templates);
        self.reopen_params(&templates);
        // Errors in the body have been reported; the function stays one without a body, which is no further error.
        if self.function_body(func).is_err() {
            self.unit.skipped.insert(func.name.last().name);
        }
        for _ in &templates {
            self.names.close();
        }
        func.templates = templates;
    }

    /// member-declaration, after `templates`.
    fn member(&mut self, templates: Vec<TemplateHead>, inside: &mut Inside) -> PResult<()> {
        match self.kind() {
            T::Keyword(K::Template) => {
                return self.nested_by(2, |p| p.with_heads(templates, |p, heads| p.member(heads, inside)));
            }
            T::Keyword(K::Using) => {
                let start = self.peek().span;
                let mut items = Vec::new();
                self.using(templates, &mut items)?;
                self.add_items(items, start, inside);
                return Ok(());
            }
            T::Keyword(K::StaticAssert) => {
                let assertion = self.static_assertion()?;
                let span = assertion.span;
                inside.members.push(Member { access: inside.access, kind: MemberKind::StaticAssert(assertion), span });
                return Ok(());
            }
            _ => {}
        }
        self.plain_member(templates, inside)
    }

    fn add_items(&mut self, items: Vec<Item>, start: Span, inside: &mut Inside) {
        let span = self.since(start);
        for item in items {
            let kind = match item {
                Item::Alias(alias) => MemberKind::Alias(alias),
                Item::Enum(decl) => MemberKind::Enum(decl),
                Item::Struct(decl) => MemberKind::Struct(decl),
                Item::UsingDecl(name) => MemberKind::Using(name),
                Item::UsingNamespace(name) => {
                    let text = "a using directive cannot stand in a struct";
                    self.report(Diagnostic::error(Code::Syntax, name.span, text));
                    continue;
                }
                _ => continue,
            };
            inside.members.push(Member { access: inside.access, kind, span });
        }
    }

    #[inline(never)]
    fn plain_member(&mut self, mut templates: Vec<TemplateHead>, inside: &mut Inside) -> PResult<()> {
        let start = self.peek().span;
        let mut specs = self.decl_specifiers_of(&mut templates)?;
        if specs.is_friend && self.at(T::Semi) {
            let ty = specs.with(Vec::new(), Span::NONE);
            self.bump();
            inside.members.push(Member {
                access: inside.access,
                kind: MemberKind::FriendType(ty),
                span: self.since(start),
            });
            return Ok(());
        }
        let anonymous = specs.struct_decl.clone().filter(|decl| decl.name.is_none());
        let mut items = Vec::new();
        let declared = self.declared_types(&mut specs, &mut items);
        if self.at(T::Semi) {
            items.extend(anonymous.map(Item::Struct));
            if items.is_empty() && !declared {
                let span = self.since(start);
                self.bump();
                let text = "this declares nothing: a name is missing";
                return Err(self.report(Diagnostic::error(Code::Syntax, span, text)));
            }
            self.add_items(items, start, inside);
            self.bump();
            return Ok(());
        }
        if specs.specs.is_typedef {
            let result = self.typedef(&specs, &mut items);
            self.add_items(items, start, inside);
            return result;
        }
        self.add_items(items, start, inside);
        if declared && self.declares_no_more() {
            return self.expect_semi("this declaration of a type");
        }
        let (first, target) = match specs.untyped {
            Some(untyped) => self.untyped_declarator(untyped)?,
            None if self.at(T::Colon) => return self.fields(templates, specs, None, start, inside),
            None => (self.declarator(true)?, None),
        };
        if first.params.is_some() {
            return self.member_function(templates, specs, first, target, start, inside);
        }
        self.fields(templates, specs, Some(first), start, inside)
    }

    fn member_function(
        &mut self,
        templates: Vec<TemplateHead>,
        specs: DeclSpecs,
        declarator: super::declarator::Declarator,
        target: Option<TypeName>,
        start: Span,
        inside: &mut Inside,
    ) -> PResult<()> {
        let is_friend = specs.is_friend;
        let func = self.function_head(templates, specs, declarator, target, start)?;
        let span = func.span;
        let body = self.pos;
        let has_body = matches!(self.kind(), T::LBrace | T::Colon | T::Keyword(K::Try));
        if has_body {
            self.skip_body();
        } else {
            self.expect_function_end()?;
        }
        let kind = if is_friend { MemberKind::FriendFunction(func) } else { MemberKind::Function(func) };
        inside.members.push(Member { access: inside.access, kind, span });
        if has_body {
            inside.pending.push(Pending { member: inside.members.len() - 1, body });
        }
        Ok(())
    }

    /// Skips the initialisers and the body of a function.
    fn skip_body(&mut self) {
        loop {
            match self.kind() {
                T::LBrace => {
                    // A brace after a name initialises a member.
                    let inits = matches!(self.at_index(self.pos.saturating_sub(1)).kind, T::Ident | T::Gt | T::Shr);
                    self.skip_braces();
                    // The handlers of a `try` round all of it belong to the body.
                    if !inits && !self.at_word(K::Catch) {
                        return;
                    }
                }
                T::LParen | T::LBracket => {
                    self.skip_brackets();
                }
                T::Semi | T::RBrace | T::Eof => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// member-declarator-list `;`
    fn fields(
        &mut self,
        templates: Vec<TemplateHead>,
        specs: DeclSpecs,
        first: Option<super::declarator::Declarator>,
        start: Span,
        inside: &mut Inside,
    ) -> PResult<()> {
        let mut vars = Vec::new();
        let mut next = first;
        loop {
            let mut var = match next.take() {
                Some(declarator) if declarator.params.is_some() => {
                    let span = declarator.name.map_or(self.prev(), |n| n.span);
                    let text = "a function needs a declaration of its own";
                    return Err(self.report(Diagnostic::error(Code::Syntax, span, text)));
                }
                Some(declarator) => self.variable(&specs, declarator)?,
                None => {
                    let span = self.peek().span;
                    let ty = specs.with(Vec::new(), Span::NONE);
                    let name = Ident { name: self.interner.intern(""), span };
                    VarDecl { ty, name, qualified: None, bits: None, align: None, packed: false, init: None }
                }
            };
            if self.eat(T::Colon) {
                var.bits = Some(Box::new(self.constant_expr()?));
                if self.at(T::LBrace) || self.eat(T::Assign) {
                    var.init = Some(self.initializer()?);
                }
            }
            vars.push(var);
            if !self.eat(T::Comma) {
                break;
            }
            next = if self.at(T::Colon) { None } else { Some(self.declarator(true)?) };
        }
        self.expect_semi("this member")?;
        let span = self.since(start);
        let decl = Declaration { templates, specs: specs.specs, align: specs.align, vars, span };
        inside.members.push(Member { access: inside.access, kind: MemberKind::Field(decl), span });
        Ok(())
    }
}
