//! Templates: their heads, explicit instantiations.

use super::declared_names::NameKind;
use super::name::Position;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    Ident, Instantiate, InstantiationTarget, Item, TemplateHead, TemplateParam, TemplateParamKind, TypeLayer,
};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// Most heads of one declaration.
const MAX_HEADS: usize = 16;

impl Parser<'_> {
    /// template-declaration, explicit specialisation or explicit instantiation.
    pub(super) fn template(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        let after = usize::from(self.at_word(K::Extern)) + 1;
        if self.kind_at(after) != T::Lt {
            return self.instantiation(out);
        }
        self.nested_by(2, |p| p.with_heads(Vec::new(), |p, heads| p.declaration_of(heads, out)))
    }

    /// Reads the heads that stand here and runs a production with them in scope.
    pub(super) fn with_heads<R>(
        &mut self,
        mut heads: Vec<TemplateHead>,
        production: impl FnOnce(&mut Self, Vec<TemplateHead>) -> PResult<R>,
    ) -> PResult<R> {
        let mut opened = 0;
        let mut failed = None;
        while self.at_word(K::Template) && failed.is_none() {
            self.names.open_params();
            opened += 1;
            match self.template_head() {
                Ok(head) => heads.push(head),
                Err(reported) => failed = Some(reported),
            }
            if heads.len() > MAX_HEADS {
                let span = self.prev();
                failed = Some(self.too_deep(span));
            }
        }
        let result = match failed {
            Some(reported) => Err(reported),
            None => match self.required(&mut heads) {
                Ok(()) => production(self, heads),
                Err(reported) => Err(reported),
            },
        };
        for _ in 0..opened {
            self.names.close();
        }
        result
    }

    /// `template < parameters >`
    fn template_head(&mut self) -> PResult<TemplateHead> {
        let start = self.bump().span;
        let open = self.expect(T::Lt)?;
        let outer = std::mem::replace(&mut self.in_angle, true);
        let params = self.nested_by(2, |p| p.template_params(open));
        self.in_angle = outer;
        Ok(TemplateHead { params: params?, span: self.since(start) })
    }

    /// `<typename T>` of a lambda, its parameters declared in the current scope.
    pub(super) fn lambda_head(&mut self) -> PResult<TemplateHead> {
        let open = self.expect(T::Lt)?;
        let outer = std::mem::replace(&mut self.in_angle, true);
        let params = self.nested_by(2, |p| p.template_params(open));
        self.in_angle = outer;
        Ok(TemplateHead { params: params?, span: self.since(open) })
    }

    fn template_params(&mut self, open: Span) -> PResult<Vec<TemplateParam>> {
        let mut params = Vec::new();
        if !self.at_angle_close() {
            loop {
                params.push(self.template_param()?);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        self.close_angle(open)?;
        Ok(params)
    }

    fn template_param(&mut self) -> PResult<TemplateParam> {
        let start = self.peek().span;
        match self.kind() {
            T::Keyword(K::Template) => self.template_template_param(start),
            T::Ident | T::ColonColon if self.concept_at(self.pos) => self.constrained_param(start),
            T::Keyword(K::Typename | K::Class) if self.type_param_follows() => {
                self.bump();
                let pack = self.eat(T::Ellipsis);
                let name = self.param_name();
                if let Some(name) = name {
                    self.names.declare_param(name.name, NameKind::Type, false);
                }
                let default = if self.eat(T::Assign) { Some(self.type_id()?) } else { None };
                Ok(TemplateParam {
                    name,
                    kind: TemplateParamKind::Type { default },
                    pack,
                    constraints: Vec::new(),
                    span: self.since(start),
                })
            }
            _ => self.value_param(start),
        }
    }

    /// A `typename` or `class` here starts a parameter of its own rather than the type of a value.
    fn type_param_follows(&self) -> bool {
        let at = 1 + usize::from(self.kind_at(1) == T::Ellipsis);
        let at = at + usize::from(self.kind_at(at) == T::Ident);
        matches!(self.kind_at(at), T::Comma | T::Assign | T::Gt | T::Shr | T::LaunchClose | T::Eof)
            // `template <typename T int N>`: the message is about the missing comma.
            || matches!(self.kind_at(at), T::Keyword(_) | T::RParen | T::LBrace)
    }

    fn param_name(&mut self) -> Option<Ident> {
        let token = self.peek();
        if token.kind != T::Ident {
            return None;
        }
        self.bump();
        Some(Ident { name: token.symbol, span: token.span })
    }

    /// `template <...> class C = D`
    fn template_template_param(&mut self, start: Span) -> PResult<TemplateParam> {
        self.names.open_params();
        let head = self.template_head();
        self.names.close();
        let head = head?;
        if !self.eat_word(K::Class) && !self.eat_word(K::Typename) {
            return Err(self.expected("`class` or `typename`"));
        }
        let pack = self.eat(T::Ellipsis);
        let name = self.param_name();
        if let Some(name) = name {
            self.names.declare_param(name.name, NameKind::Type, true);
        }
        let default = if self.eat(T::Assign) { Some(self.name(Position::Type)?) } else { None };
        Ok(TemplateParam {
            name,
            kind: TemplateParamKind::Template { head, default },
            pack,
            constraints: Vec::new(),
            span: self.since(start),
        })
    }

    /// `int N = 4`, `float (*F)(float)`
    #[inline(never)]
    fn value_param(&mut self, start: Span) -> PResult<TemplateParam> {
        let outer = std::mem::replace(&mut self.want_type, true);
        let specs = self.decl_specifiers();
        self.want_type = outer;
        let specs = specs?;
        let declarator = self.declarator(true)?;
        let name = match &declarator.name {
            Some(name) => match name.simple() {
                Some(ident) => Some(ident),
                None => {
                    let text = "the name of a template's parameter is one identifier";
                    return Err(self.report(Diagnostic::error(Code::Syntax, name.span, text)));
                }
            },
            None => None,
        };
        let mut layers = declarator.layers;
        if let Some(params) = declarator.params {
            layers.push(TypeLayer::Function(params.into()));
            layers.push(TypeLayer::Pointer { is_const: false, is_volatile: false, restrict: false });
        }
        let ty = specs.with(layers, declarator.ty_end);
        if let Some(name) = name {
            self.names.declare_param(name.name, NameKind::Value, false);
        }
        let default = if self.eat(T::Assign) { Some(self.argument_value()?) } else { None };
        let kind = TemplateParamKind::Value { ty, default };
        Ok(TemplateParam { name, kind, pack: declarator.pack, constraints: Vec::new(), span: self.since(start) })
    }

    /// `template struct S<int>;`, `template void f<int>(int);`, `extern template ...`
    fn instantiation(&mut self, out: &mut Vec<Item>) -> PResult<()> {
        let start = self.peek().span;
        let is_extern = self.eat_word(K::Extern);
        self.bump();
        let what = if matches!(self.kind(), T::Keyword(K::Struct | K::Class | K::Union)) {
            self.bump();
            InstantiationTarget::Struct(self.name(Position::Type)?)
        } else {
            let first = self.peek().span;
            let specs = self.decl_specifiers()?;
            let (declarator, target) = match specs.untyped {
                Some(untyped) => self.untyped_declarator(untyped)?,
                None => (self.declarator(true)?, None),
            };
            if declarator.params.is_none() {
                let span = self.since(start);
                let text = "explicit instantiations of variables are not supported";
                return Err(self.unsupported(span, text, "leave it out: a template is instantiated where it is used"));
            }
            InstantiationTarget::Function(Box::new(self.function_head(Vec::new(), specs, declarator, target, first)?))
        };
        if self.at(T::LBrace) {
            let text = "`template` without `<>` instantiates, and takes no body";
            let span = self.since(start);
            let diag = Diagnostic::error(Code::Syntax, span, text);
            return Err(self.report(diag.help("write `template <>` for a specialisation")));
        }
        out.push(Item::Instantiate(Instantiate { what, is_extern, span: self.since(start) }));
        self.expect_semi("this instantiation")
    }
}
