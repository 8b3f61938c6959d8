//! Functions: parameters, what follows them, bodies.

use super::declarator::Declarator;
use super::declared_names::NameKind;
use super::name::Position;
use super::types::{DeclSpecs, Untyped};
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Compound, Expr, ExprKind, FunctionDecl, FunctionKind, Init, MemberInit, ParamDecl, Stmt, TemplateHead,
    TemplateParamKind, TypeLayer, TypeName,
};
use crate::front::lexer::{Flags, Keyword as K, TokenKind as T};
use crate::source::Span;

/// The function is `operator new`, `operator delete` or one of those for arrays.
pub fn is_of_heap(name: &str) -> bool {
    name.starts_with("operator new") || name.starts_with("operator delete")
}

impl Parser<'_> {
    /// function-definition or the declaration of a function, from behind its parameters; whether its body was refused.
    pub(super) fn function(
        &mut self,
        templates: Vec<TemplateHead>,
        specs: DeclSpecs,
        declarator: Declarator,
        target: Option<TypeName>,
        start: Span,
    ) -> PResult<(FunctionDecl, bool)> {
        let mut func = self.function_head(templates, specs, declarator, target, start)?;
        let (qualifiers, global) = (func.name.qualifiers().to_vec(), func.name.global);
        let refused = self.within(&qualifiers, global, |p| p.function_rest(&mut func))?;
        Ok((func, refused))
    }

    /// The body or the `;` of a function outside a struct.
    fn function_rest(&mut self, func: &mut FunctionDecl) -> PResult<bool> {
        if matches!(self.kind(), T::LBrace | T::Colon | T::Keyword(K::Try)) {
            self.function_body(func)?;
        } else {
            self.expect_function_end()?;
        }
        Ok(false)
    }

    /// The `;` of a function that has no body.
    pub(super) fn expect_function_end(&mut self) -> PResult<()> {
        if !self.at(T::Semi) && !self.at(T::Eof) && !self.peek().flags.has(Flags::LINE_START) {
            return Err(self.expected("the body of the function, or `;`,"));
        }
        self.expect_semi("this declaration")
    }

    /// A function up to where its body or `;` stands.
    #[inline(never)]
    pub(super) fn function_head(
        &mut self,
        templates: Vec<TemplateHead>,
        specs: DeclSpecs,
        declarator: Declarator,
        target: Option<TypeName>,
        start: Span,
    ) -> PResult<FunctionDecl> {
        let (Some(name), Some(params)) = (declarator.name, declarator.params.as_ref()) else {
            return Err(self.expected("the name of a function"));
        };
        let span = self.since(start);
        let ret = match &target {
            Some(target) => target.clone(),
            None => specs.with(declarator.layers, declarator.ty_end),
        };
        let kind = match (specs.untyped, target) {
            (_, Some(target)) => FunctionKind::Conversion(target),
            (Some(Untyped::Constructor), _) => FunctionKind::Constructor,
            (Some(Untyped::Destructor), _) => FunctionKind::Destructor,
            _ => FunctionKind::Plain,
        };
        let names: Vec<_> = params.iter().filter_map(|p| p.name).collect();
        // A class's own `operator new` has no object, whether it says so or not ([class.free]).
        let word = self.interner.name(name.last().name);
        let mut specs = specs;
        specs.specs.is_static |= self.in_members && is_of_heap(word);
        if let (Some(ident), FunctionKind::Plain) = (name.simple(), &kind)
            && !specs.is_friend
        {
            let template = templates.last().is_some_and(|head| !head.params.is_empty());
            self.names.declare_function(ident.name, template, self.interner);
        }
        let mut func = FunctionDecl {
            templates,
            specs: specs.specs,
            kind,
            ret,
            name,
            params: declarator.params.unwrap_or_default(),
            launch_bounds: specs.launch_bounds,
            is_const: false,
            is_explicit: specs.is_explicit,
            is_defaulted: false,
            is_deleted: false,
            ctor_inits: Vec::new(),
            body: None,
            span,
        };
        self.names.open();
        for name in names {
            self.names.declare(name.name, NameKind::Value);
        }
        let result = self.function_suffixes(&mut func);
        self.names.close();
        result?;
        Ok(func)
    }

    /// `noexcept`, `noexcept(true)`, `noexcept(false)`; of any other condition nothing is known.
    pub(super) fn noexcept_specifier(&mut self) -> Option<bool> {
        self.bump();
        if !self.at(T::LParen) {
            return Some(true);
        }
        let said = match (self.kind_at(1), self.kind_at(2)) {
            (T::Keyword(K::True), T::RParen) => Some(true),
            (T::Keyword(K::False), T::RParen) => Some(false),
            _ => None,
        };
        self.skip_brackets();
        said
    }

    /// Specifiers between the parameters and the body.
    fn function_suffixes(&mut self, func: &mut FunctionDecl) -> PResult<()> {
        loop {
            match self.kind() {
                T::Keyword(K::Const) => {
                    func.is_const = true;
                    self.bump();
                }
                T::Keyword(K::Volatile) | T::Amp | T::AmpAmp => {
                    self.bump();
                }
                T::Keyword(K::Noexcept) => func.specs.noexcept = self.noexcept_specifier(),
                T::Keyword(K::Attribute) => {
                    self.bump();
                    self.skip_brackets();
                }
                T::Keyword(K::Throw) if self.kind_at(1) == T::LParen => {
                    self.bump();
                    func.specs.noexcept = (self.kind_at(1) == T::RParen).then_some(true);
                    self.skip_brackets();
                }
                T::LBracket if self.kind_at(1) == T::LBracket => {
                    self.skip_brackets();
                }
                T::Keyword(K::LaunchBounds) => {
                    let span = self.peek().span;
                    let text = "`__launch_bounds__` stands after the parameters";
                    let diag = Diagnostic::error(Code::Syntax, span, text);
                    self.report(diag.help("write it before the function's name"));
                    self.bump();
                    self.skip_brackets();
                }
                T::Arrow if func.ret.base.is_auto() => {
                    self.bump();
                    let (qualifiers, global) = (func.name.qualifiers().to_vec(), func.name.global);
                    func.ret = self.within(&qualifiers, global, Self::type_id)?;
                }
                // Reported with `virtual`, which must stand in the base.
                T::Ident if matches!(self.peek().text(self.interner), "override" | "final") => {
                    self.bump();
                }
                T::Ident if self.at_context_word("requires") => self.required(&mut func.templates)?,
                T::Assign => {
                    self.bump();
                    match self.kind() {
                        // Outside of the class it is a body, in which these leave all to the members.
                        T::Keyword(K::Default)
                            if func.name.parts.len() > 1
                                && func.params.is_empty()
                                && matches!(func.kind, FunctionKind::Constructor | FunctionKind::Destructor) =>
                        {
                            func.body = Some(Compound { stmts: Vec::new(), span: self.peek().span });
                        }
                        T::Keyword(K::Default) => func.is_defaulted = true,
                        T::Keyword(K::Delete) => func.is_deleted = true,
                        // A pure virtual function; `virtual` has been reported.
                        T::Number => func.is_deleted = true,
                        _ => return Err(self.expected("`default` or `delete`")),
                    }
                    self.bump();
                }
                _ => return Ok(()),
            }
        }
    }

    /// The initialisers of a constructor and the body.
    pub(super) fn function_body(&mut self, func: &mut FunctionDecl) -> PResult<()> {
        self.names.open();
        for name in func.params.iter().filter_map(|p| p.name) {
            self.names.declare(name.name, NameKind::Value);
        }
        let outer = self.function.replace(func.name.last().name);
        let in_members = std::mem::replace(&mut self.in_members, false);
        let class = self.class.take();
        let result = self.body_parts(func);
        self.class = class;
        self.in_members = in_members;
        self.function = outer;
        self.names.close();
        result
    }

    fn body_parts(&mut self, func: &mut FunctionDecl) -> PResult<()> {
        // Round all of it, where the members are made and go as well.
        let whole = self.at_word(K::Try) && matches!(func.kind, FunctionKind::Constructor | FunctionKind::Destructor);
        if whole {
            let span = self.bump().span;
            let text = "a `try` round the whole of a constructor or destructor is not supported";
            self.unsupported(span, text, "write it in the body's braces");
        }
        if self.at(T::Colon) {
            let colon = self.bump().span;
            if !matches!(func.kind, FunctionKind::Constructor) {
                let text = "only a constructor has initialisers for members";
                return Err(self.report(Diagnostic::error(Code::Syntax, colon, text)));
            }
            loop {
                let init = self.member_init()?;
                func.ctor_inits.push(init);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        if self.at_word(K::Try) {
            let start = self.peek().span;
            let kind = self.try_statement()?;
            let span = self.since(start);
            func.body = Some(Compound { stmts: vec![Stmt { kind, span }], span });
            return Ok(());
        }
        if !self.at(T::LBrace) {
            return Err(self.expected("the body of the function"));
        }
        func.body = Some(self.compound()?);
        while whole && self.at_word(K::Catch) {
            self.handler()?;
        }
        Ok(())
    }

    /// `member(args)`, `Base<T>{...}`
    fn member_init(&mut self) -> PResult<MemberInit> {
        let name = self.name(Position::Type)?;
        let open = self.peek().span;
        let init = match self.kind() {
            T::LParen => {
                let args = self.call_args()?;
                Init::Paren(args, self.since(open))
            }
            T::LBrace => self.initializer()?,
            _ => return Err(self.expected("`(` or `{`")),
        };
        let pack = self.eat(T::Ellipsis);
        Ok(MemberInit { name, init, pack })
    }

    /// Makes the parameters of templates known again, for a body that is read later; as many scopes as there are heads.
    pub(super) fn reopen_params(&mut self, templates: &[TemplateHead]) {
        for head in templates {
            self.names.open_params();
            for param in &head.params {
                let Some(name) = param.name else { continue };
                match param.kind {
                    TemplateParamKind::Type { .. } => self.names.declare_param(name.name, NameKind::Type, false),
                    TemplateParamKind::Value { .. } => self.names.declare_param(name.name, NameKind::Value, false),
                    TemplateParamKind::Template { .. } => self.names.declare_param(name.name, NameKind::Type, true),
                }
            }
        }
    }

    /// parameter-declaration-clause, with its parentheses.
    pub(super) fn parameters(&mut self) -> PResult<Vec<ParamDecl>> {
        let outer = std::mem::replace(&mut self.in_angle, false);
        let params = self.nested_by(2, Self::parameter_list);
        self.in_angle = outer;
        params
    }

    /// The declaration ends without a body.
    fn declares_only(&self, mut at: usize) -> bool {
        loop {
            match self.at_index(at).kind {
                T::Semi => return true,
                T::LParen => at = self.bracket_end(at).unwrap_or(at) + 1,
                T::LBrace | T::RBrace | T::Eof | T::Comma | T::Assign => return false,
                _ => at += 1,
            }
        }
    }

    fn parameter_list(&mut self) -> PResult<Vec<ParamDecl>> {
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
                // A declaration alone is of the host, and whoever calls it with more than it names is told.
                let declared = self.kind_at(1) == T::RParen && self.declares_only(self.pos + 2);
                if declared {
                    self.bump();
                    break;
                }
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

    /// parameter-declaration. Arrays become pointers to their elements, functions pointers to them.
    #[inline(never)]
    pub(super) fn parameter(&mut self) -> PResult<ParamDecl> {
        let start = self.peek().span;
        // `S(S)` in `S` takes an `S`.
        let class = self.class.take();
        let outer = std::mem::replace(&mut self.want_type, true);
        let specs = self.decl_specifiers();
        self.want_type = outer;
        self.class = class;
        let specs = specs?;
        if specs.untyped.is_some() {
            return Err(self.expected("the type of a parameter"));
        }
        let declarator = self.declarator(true)?;
        let mut layers = declarator.layers;
        let pointer = TypeLayer::Pointer { is_const: false, is_volatile: false, restrict: false };
        if let Some(params) = declarator.params {
            layers.push(TypeLayer::Function(params.into()));
        }
        match layers.last_mut() {
            Some(last @ TypeLayer::Array(_)) => *last = pointer,
            Some(TypeLayer::Function(_)) => layers.push(pointer),
            _ => {}
        }
        let ty = specs.with(layers, declarator.ty_end);
        let name = match declarator.name {
            Some(name) => match name.simple() {
                Some(ident) => Some(ident),
                None => {
                    let text = "the name of a parameter is one identifier";
                    return Err(self.report(Diagnostic::error(Code::Syntax, name.span, text)));
                }
            },
            None => None,
        };
        self.skip_attributes();
        let default = if self.eat(T::Assign) { Some(self.argument_value()?) } else { None };
        if !matches!(self.kind(), T::Comma | T::RParen | T::LBrace | T::Semi | T::Eof) {
            return Err(self.expected("`,` or `)`"));
        }
        Ok(ParamDecl { ty, name, default, pack: declarator.pack, span: self.since(start) })
    }

    /// An expression or a braced list that stands for one.
    pub(super) fn argument_value(&mut self) -> PResult<Expr> {
        if !self.at(T::LBrace) {
            return self.assignment_expr();
        }
        let start = self.peek().span;
        let (entries, below) = self.measured(|p| p.nested_by(4, |p| p.unangled(Self::braced_entries)))?;
        self.node(ExprKind::Braced { ty: None, entries }, self.since(start), below)
    }
}
