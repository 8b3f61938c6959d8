//! Declarations: functions, variables, aliases, enums, namespaces.

use super::names::NameKind;
use super::types::{DeclSpecs, Declarator};
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Alias, BaseType, Declaration, EnumDecl, ExprKind, FunctionDecl, FunctionKind, Ident, Init, Item, Namespace,
    ParamDecl, StaticAssert, TypeLayer, VarDecl,
};
use crate::front::lexer::{Keyword as K, TokenKind as T};
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
                    let (start, mark) = (self.pos, self.names.mark());
                    if self.item(out).is_err() {
                        self.skip_item(start, mark);
                    }
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
                self.braced_items(out, true)
            }
            T::Ident if self.registration() => Ok(()),
            _ => self.declaration(out),
        }
    }

    /// namespace-definition: `namespace a::b { ... }`.
    fn namespace(&mut self, is_inline: bool, out: &mut Vec<Item>) -> PResult<()> {
        let start = self.bump().span;
        if self.at(T::Ident) && self.kind_at(1) == T::Assign {
            let text = "namespace aliases are not supported yet";
            return Err(self.unsupported(start, text, "write the namespace's own name"));
        }
        let mut names = Vec::new();
        while self.at(T::Ident) {
            let name = self.ident("the name of a namespace")?;
            self.names.declare(name.name, NameKind::Namespace);
            names.push(name);
            self.eat(T::ColonColon);
        }
        let span = self.since(start);
        let mut items = Vec::new();
        self.braced_items(&mut items, false)?;
        let inner = names.pop();
        let mut item = Item::Namespace(Namespace { name: inner, is_inline, items, span });
        while let Some(name) = names.pop() {
            item = Item::Namespace(Namespace { name: Some(name), is_inline: false, items: vec![item], span });
        }
        out.push(item);
        Ok(())
    }

    /// `{ declarations }` of a namespace or of `extern "C"`.
    fn braced_items(&mut self, out: &mut Vec<Item>, is_extern: bool) -> PResult<()> {
        self.expect(T::LBrace)?;
        self.enter()?;
        let first = out.len();
        self.items(true, out);
        self.leave();
        self.eat(T::RBrace);
        if is_extern {
            for item in &mut out[first..] {
                if let Item::Function(func) = item {
                    func.specs.is_extern = true;
                }
            }
        }
        Ok(())
    }

    /// simple-declaration, function-definition, alias-declaration, static_assert-declaration or using-directive, at any scope.
    #[inline(never)] // Its frame is large, and namespaces nest through its callers.
    pub(super) fn declaration(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        match self.kind() {
            T::Keyword(K::Using) => return self.using(out),
            T::Keyword(K::StaticAssert) => {
                let assertion = self.static_assertion()?;
                out.push(Item::StaticAssert(assertion));
                return Ok(());
            }
            T::Keyword(word) if self.unsupported_declaration(word) => return Ok(()),
            _ => {}
        }
        let start = self.peek().span;
        let mut specs = self.decl_specifiers()?;
        if self.declared_enum(&mut specs, out) && self.eat(T::Semi) {
            return Ok(());
        }
        if self.at(T::Semi) {
            let span = self.since(start);
            self.bump();
            return Err(self.report(Diagnostic::error(Code::Syntax, span, "this declares nothing: a name is missing")));
        }
        if specs.specs.is_typedef {
            return self.typedef(&specs, out);
        }
        if self.at(T::LBracket) && specs.base.is_auto() {
            let span = self.skip_brackets();
            return Err(self.unsupported(
                span,
                "structured bindings are not supported yet",
                "declare each variable by itself",
            ));
        }
        let first = self.declarator(true)?;
        if first.params.is_some() {
            return self.function(specs, first, start, out);
        }
        let declaration = self.variables(specs, first, start)?;
        out.push(Item::Variables(declaration));
        Ok(())
    }

    /// Moves an enum declared by the specifiers into `out`; whether there was one.
    fn declared_enum(&mut self, specs: &mut DeclSpecs, out: &mut Vec<Item>) -> bool {
        let Some(mut decl) = specs.enum_decl.take() else { return false };
        // `typedef enum { ... } E;` is an enum called E.
        if decl.name.is_none() && specs.specs.is_typedef && self.at(T::Ident) && self.kind_at(1) == T::Semi {
            let token = self.bump();
            decl.name = Some(Ident { name: token.symbol, span: token.span });
            self.names.declare(token.symbol, NameKind::Type);
        }
        out.push(Item::Enum(decl));
        true
    }

    /// init-declarator-list `;`
    fn variables(&mut self, specs: DeclSpecs, first: Declarator, start: Span) -> PResult<Declaration> {
        let mut vars = Vec::new();
        let mut next = Some(first);
        while let Some(declarator) = next.take() {
            vars.push(self.variable(&specs, declarator)?);
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
        Ok(Declaration { templates: Vec::new(), specs: specs.specs, align: None, vars, span: self.since(start) })
    }

    /// init-declarator.
    pub(super) fn variable(&mut self, specs: &DeclSpecs, declarator: Declarator) -> PResult<VarDecl> {
        let Some(name) = declarator.name else {
            self.ident("the name of a variable")?;
            return Err(self.expected("the name of a variable"));
        };
        // In scope from here on, its own initializer included.
        self.names.declare(name.name, NameKind::Value);
        while self.at_word(K::Attribute) {
            self.bump();
            self.skip_brackets();
        }
        let ty = specs.with(declarator.layers, declarator.ty_end);
        let init = match self.kind() {
            T::Assign => {
                self.bump();
                Some(self.initializer()?)
            }
            T::LBrace => Some(self.initializer()?),
            T::LParen => {
                let open = self.peek().span;
                let args = self.call_args()?;
                Some(Init::Paren(args, self.since(open)))
            }
            _ => None,
        };
        Ok(VarDecl { ty, name, qualified: None, bits: None, init })
    }

    /// initializer-clause: an expression or a braced list.
    pub(super) fn initializer(&mut self) -> PResult<Init> {
        if !self.at(T::LBrace) {
            return Ok(Init::Expr(self.assignment_expr()?));
        }
        self.enter()?;
        let start = self.bump().span;
        let mut entries = Vec::new();
        while !self.at(T::RBrace) {
            if self.at(T::Dot) && self.kind_at(1) == T::Ident
                || self.at(T::LBracket)
                    && self.bracket_end(self.pos).is_some_and(|e| self.at_index(e + 1).kind == T::Assign)
            {
                let span = self.peek().span;
                return Err(self.leave_with(|p| {
                    p.unsupported(span, "designated initializers are not supported yet", "write the values in order")
                }));
            }
            match self.initializer() {
                Ok(entry) => entries.push(entry),
                Err(reported) => return Err(self.leave_with(|_| reported)),
            }
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.leave();
        if !self.at(T::RBrace) {
            return Err(self.expected("`,` or `}`"));
        }
        self.bump();
        Ok(Init::List(entries, self.since(start)))
    }

    /// Leaves a nested production on the way out of an error.
    fn leave_with<T>(&mut self, result: impl FnOnce(&mut Self) -> T) -> T {
        self.leave();
        result(self)
    }

    /// `typedef` declarators `;`
    fn typedef(&mut self, specs: &DeclSpecs, out: &mut Vec<Item>) -> PResult<()> {
        loop {
            let declarator = self.declarator(true)?;
            let Some(name) = declarator.name else { return Err(self.expected("the name of the new type")) };
            if declarator.params.is_some() {
                let text = "function types are not supported yet";
                return Err(self.unsupported(name.span, text, "call the function directly"));
            }
            self.names.declare(name.name, NameKind::Type);
            let ty = specs.with(declarator.layers, declarator.ty_end);
            out.push(Item::Alias(Alias { templates: Vec::new(), name, ty }));
            if !self.eat(T::Comma) {
                return self.expect_semi("this typedef");
            }
        }
    }

    /// `using X = T;`, `using namespace x;`, `using a::b;`
    fn using(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        self.bump();
        if self.eat_word(K::Namespace) {
            // Names are looked up without their namespace anyway.
            if self.scan_name(self.pos).map(|scan| self.pos = scan.end).is_none() {
                return Err(self.expected("the name of a namespace"));
            }
            return self.expect_semi("this using directive");
        }
        if self.at(T::Ident) && self.kind_at(1) == T::Assign {
            let name = self.ident("the name of the new type")?;
            self.bump();
            let ty = self.type_id()?;
            self.names.declare(name.name, NameKind::Type);
            out.push(Item::Alias(Alias { templates: Vec::new(), name, ty }));
            return self.expect_semi("this alias");
        }
        self.eat_word(K::Typename);
        if self.scan_name(self.pos).map(|scan| self.pos = scan.end).is_none() {
            return Err(self.expected("a name"));
        }
        self.expect_semi("this using declaration")
    }

    /// `static_assert ( cond , "text" ) ;`
    fn static_assertion(&mut self) -> PResult<StaticAssert> {
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

    /// enum-specifier or elaborated-type-specifier: `enum [class] [E] [: T] [{ ... }]`; the type it names.
    pub(super) fn enum_specifier(&mut self, decl: &mut Option<EnumDecl>) -> PResult<BaseType> {
        let start = self.bump().span;
        let scoped = self.eat_word(K::Class) || self.eat_word(K::Struct);
        let name = if self.at(T::Ident) { Some(self.ident("the name of the enum")?) } else { None };
        let base = match name {
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
            let value = if self.eat(T::Assign) { Some(self.assignment_expr()?) } else { None };
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
        *decl = Some(EnumDecl { name, scoped, underlying, constants, span: self.since(start) });
        Ok(base)
    }

    /// function-definition or the declaration of a function.
    fn function(&mut self, specs: DeclSpecs, declarator: Declarator, start: Span, out: &mut Vec<Item>) -> PResult<()> {
        let (Some(name), Some(params)) = (declarator.name, declarator.params) else {
            return Err(self.expected("the name of a function"));
        };
        let mut ret = specs.with(declarator.layers, declarator.ty_end);
        self.names.declare(name.name, NameKind::Value);
        let span = self.since(start);
        loop {
            match self.kind() {
                T::Keyword(K::Noexcept) => {
                    self.bump();
                    self.skip_brackets();
                }
                T::Keyword(K::Attribute) => {
                    self.bump();
                    self.skip_brackets();
                }
                T::LBracket if self.kind_at(1) == T::LBracket => {
                    self.skip_brackets();
                }
                T::Arrow if ret.base.is_auto() => {
                    self.bump();
                    ret = self.type_id()?;
                }
                _ => break,
            }
        }
        let mut func = FunctionDecl {
            templates: Vec::new(),
            specs: specs.specs,
            kind: FunctionKind::Plain,
            ret,
            name: name.into(),
            params,
            launch_bounds: specs.launch_bounds,
            is_const: false,
            is_explicit: false,
            is_defaulted: false,
            is_deleted: false,
            ctor_inits: Vec::new(),
            body: None,
            span,
        };
        if self.at(T::LBrace) {
            self.names.open();
            for name in func.params.iter().filter_map(|p| p.name) {
                self.names.declare(name.name, NameKind::Value);
            }
            let outer = self.function.replace(name.name);
            let body = self.compound();
            self.function = outer;
            self.names.close();
            func.body = Some(body?);
        } else if self.at(T::Semi) || !self.at(T::Assign) {
            if self.at_word(K::Try) {
                self.exception_handling();
                self.unit.skipped.insert(name.name);
                return Ok(());
            }
            if !self.at(T::Semi) && !self.at(T::Eof) && !self.peek().flags.has(crate::front::lexer::Flags::LINE_START) {
                return Err(self.expected("the body of the function, or `;`,"));
            }
            self.expect_semi("this declaration")?;
        } else {
            let span = self.peek().span;
            let text = "`= default`, `= delete` and `= 0` are not supported yet";
            return Err(self.unsupported(span, text, "leave the declaration out"));
        }
        out.push(Item::Function(func));
        Ok(())
    }

    /// parameter-declaration-clause, with its parentheses.
    pub(super) fn parameters(&mut self) -> PResult<Vec<ParamDecl>> {
        let index = self.pos;
        let function = index.checked_sub(1).map(|i| self.at_index(i)).filter(|t| t.kind == T::Ident).map(|t| t.symbol);
        let open = self.bump().span;
        let mut params = Vec::new();
        if self.at_word(K::Void) && self.kind_at(1) == T::RParen {
            self.bump();
        }
        while !self.at(T::RParen) {
            if self.at(T::Ellipsis) {
                let span = self.peek().span;
                return Err(self.unsupported(span, "C variadic functions are not supported", "name every parameter"));
            }
            let start = self.pos;
            match self.parameter() {
                Ok(param) => params.push(param),
                Err(reported) => {
                    // The body may hold more to report: it is read with the names of the parameter as unknowns.
                    let Some(end) = self.bracket_end(index) else { return Err(reported) };
                    self.forget_names(start, end);
                    self.unit.skipped.extend(function);
                    self.pos = end;
                }
            }
            if !self.eat(T::Comma) {
                break;
            }
            if self.at(T::RParen) {
                let span = self.prev();
                self.report(Diagnostic::error(Code::Syntax, span, "a parameter is missing after this `,`"));
            }
        }
        self.expect_close(T::RParen, open)?;
        Ok(params)
    }

    /// parameter-declaration. Arrays become pointers to their elements.
    fn parameter(&mut self) -> PResult<ParamDecl> {
        let start = self.peek().span;
        let specs = self.decl_specifiers()?;
        let declarator = self.declarator(true)?;
        if declarator.params.is_some() {
            let span = self.since(start);
            let text = "parameters that are functions are not supported yet";
            return Err(self.unsupported(span, text, "call the function directly"));
        }
        let mut ty = specs.with(declarator.layers, declarator.ty_end);
        if let Some(last @ TypeLayer::Array(_)) = ty.layers.last_mut() {
            *last = TypeLayer::Pointer { is_const: false, is_volatile: false, restrict: false };
        }
        let default = if self.eat(T::Assign) { Some(self.assignment_expr()?) } else { None };
        if !matches!(self.kind(), T::Comma | T::RParen | T::LBrace | T::Semi | T::Eof) {
            return Err(self.expected("`,` or `)`"));
        }
        Ok(ParamDecl { ty, name: declarator.name, default, pack: false, span: self.since(start) })
    }
}
