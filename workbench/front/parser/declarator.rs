//! Declarators: pointers, references, arrays and parameters around a name.

use super::name::Position;
use super::types::{DeclSpecs, Untyped};
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Ident, Name, NamePart, ParamDecl, TypeLayer, TypeName};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// Most pointers and arrays of one type.
const MAX_LAYERS: usize = 64;

/// Layers of a type that stand around a declared name.
pub(super) struct Declarator {
    /// The layers from the base outward.
    pub layers: Vec<TypeLayer>,
    pub name: Option<Name>,
    /// Parameters, when it declares a function.
    pub params: Option<Vec<ParamDecl>>,
    /// `...` before the name.
    pub pack: bool,
    /// The last `*` or `&` before the name: where the type's own text ends.
    pub ty_end: Span,
}

impl Declarator {
    fn new() -> Self {
        Declarator { layers: Vec::new(), name: None, params: None, pack: false, ty_end: Span::NONE }
    }
}

impl Parser<'_> {
    /// declarator: `*`, `&`, parentheses, arrays and parameters around a name, which only `named` ones may have.
    pub(super) fn declarator(&mut self, named: bool) -> PResult<Declarator> {
        let declarator = self.nested_by(2, |p| p.declarator_inner(named))?;
        if declarator.layers.len() > MAX_LAYERS {
            let span = self.prev();
            return Err(self.too_deep(span));
        }
        Ok(declarator)
    }

    #[inline(never)]
    fn declarator_inner(&mut self, named: bool) -> PResult<Declarator> {
        let mut out = Declarator::new();
        self.pointers(&mut out)?;
        out.pack = named && self.eat(T::Ellipsis);
        let mut inner = None;
        if self.at(T::LParen) && self.nested_declarator(named) {
            let open = self.bump().span;
            inner = Some(self.declarator(named)?);
            self.expect_close(T::RParen, open)?;
        } else if named && matches!(self.kind(), T::Ident | T::ColonColon | T::Keyword(K::Operator)) {
            out.name = Some(self.declared_name()?);
        }
        let suffixes = self.suffixes(named, &mut out, &mut inner)?;
        out.layers.extend(suffixes.into_iter().rev());
        if let Some(mut inner) = inner {
            out.layers.append(&mut inner.layers);
            out.name = inner.name;
            out.pack |= inner.pack;
            out.ty_end = out.ty_end.to(inner.ty_end);
            if let Some(params) = inner.params {
                // `int (*f(int x))[3]` is a function of odd result.
                out.params = Some(params);
            }
        }
        Ok(out)
    }

    /// The name in a declarator: `x`, `S<T>::f`, `operator+`.
    fn declared_name(&mut self) -> PResult<Name> {
        if self.at(T::Ident) && !matches!(self.kind_at(1), T::ColonColon | T::Lt) {
            return Ok(self.ident("a name")?.into());
        }
        let name = self.name(Position::Type)?;
        if self.at(T::ColonColon) && self.kind_at(1) == T::Star {
            let span = self.since(name.span);
            return Err(self.unsupported(span, "pointers to members are not supported", "name the member"));
        }
        Ok(name)
    }

    /// Arrays and parameters after a name or an inner declarator, outermost last.
    fn suffixes(
        &mut self,
        named: bool,
        out: &mut Declarator,
        inner: &mut Option<Declarator>,
    ) -> PResult<Vec<TypeLayer>> {
        let mut layers = Vec::new();
        loop {
            match self.kind() {
                T::LBracket if self.kind_at(1) == T::LBracket => {
                    self.skip_brackets();
                }
                T::LBracket => {
                    let open = self.bump().span;
                    let size =
                        if self.at(T::RBracket) { None } else { Some(Box::new(self.unangled(Self::assignment_expr)?)) };
                    self.expect_close(T::RBracket, open)?;
                    layers.push(TypeLayer::Array(size));
                }
                T::LParen if layers.is_empty() => {
                    // `int (f)(int x)` declares a function, `int (*f)(int x)` a pointer to one.
                    let plain = inner.as_ref().is_some_and(|i| i.layers.is_empty() && i.params.is_none());
                    if let Some(inner) = inner.as_mut().filter(|_| plain) {
                        if !(inner.name.is_some() && self.parameters_follow()) {
                            break;
                        }
                        inner.params = Some(self.parameters()?);
                        break;
                    }
                    if inner.is_some() || !named && self.parameters_follow() {
                        layers.push(TypeLayer::Function(self.parameters()?.into()));
                        self.eat_word(K::Noexcept);
                        continue;
                    }
                    let Some(name) = &out.name else { break };
                    if !(self.in_members || self.parameters_follow()) {
                        break;
                    }
                    let (qualifiers, global) = (name.qualifiers().to_vec(), name.global);
                    out.params = Some(self.within(&qualifiers, global, Self::parameters)?);
                    break;
                }
                _ => break,
            }
            if layers.len() > MAX_LAYERS {
                let span = self.prev();
                return Err(self.too_deep(span));
            }
        }
        Ok(layers)
    }

    /// Runs a production in the scope that qualifiers lead to.
    pub(super) fn within<R>(
        &mut self,
        qualifiers: &[NamePart],
        global: bool,
        production: impl FnOnce(&mut Self) -> PResult<R>,
    ) -> PResult<R> {
        let scope = if qualifiers.is_empty() { None } else { self.scope_of(qualifiers, global) };
        let Some(scope) = scope else { return production(self) };
        self.names.reopen(scope);
        let class = std::mem::replace(&mut self.class, qualifiers.last().map(|p| p.ident.name));
        let result = production(self);
        self.class = class;
        self.names.close();
        result
    }

    /// The name and parameters of a member without a type; its type, for a conversion.
    pub(super) fn untyped_declarator(&mut self, untyped: Untyped) -> PResult<(Declarator, Option<TypeName>)> {
        let mut out = Declarator::new();
        let mut target = None;
        let mut name = match untyped {
            Untyped::Constructor | Untyped::Destructor => self.name(Position::Type)?,
            Untyped::Conversion => {
                let start = self.peek().span;
                let mut name = match self.kind() {
                    T::Keyword(K::Operator) => Name { global: false, parts: Vec::new(), span: start },
                    _ => self.qualifiers_of_operator()?,
                };
                let from = self.pos + 1;
                let word = self.bump().span;
                if super::name::is_overloadable(self.kind()) || matches!(self.kind(), T::LParen | T::LBracket) {
                    let text = "an operator needs a result type before it";
                    let diag = Diagnostic::error(Code::Syntax, word, text);
                    return Err(self.report(diag.help("write `T operator...`; only a conversion has none")));
                }
                let qualifiers = name.parts.clone();
                let ty = self.within(&qualifiers, name.global, Self::conversion_type)?;
                let text: Vec<&str> = (from..self.pos).map(|i| self.tokens[i].text(self.interner)).collect();
                let text = text.join(" ");
                let symbol = self.interner.intern(&format!("operator {text}"));
                name.parts.push(NamePart { ident: Ident { name: symbol, span: self.since(word) }, args: None });
                name.span = self.since(start);
                target = Some(ty);
                name
            }
        };
        if !self.at(T::LParen) {
            return Err(self.expected("`(`"));
        }
        let qualifiers = name.qualifiers().to_vec();
        out.params = Some(self.within(&qualifiers, name.global, Self::parameters)?);
        name.span = name.span.to(name.last().span);
        out.name = Some(name);
        Ok((out, target))
    }

    /// `S<T>::` before `operator`.
    fn qualifiers_of_operator(&mut self) -> PResult<Name> {
        let Some(scan) = self.scan_name(self.pos) else { return Err(self.expected("a name")) };
        // Cut off at the `::` before `operator`, the name is one of its own.
        let end = scan.end;
        let kept = std::mem::replace(&mut self.tokens[end].kind, T::Semi);
        let name = self.name(Position::Type);
        self.tokens[end].kind = kept;
        let name = name?;
        self.expect(T::ColonColon)?;
        Ok(name)
    }

    /// conversion-type-id: a type with pointers and references, and no more.
    pub(super) fn conversion_type(&mut self) -> PResult<TypeName> {
        let outer = std::mem::replace(&mut self.want_type, true);
        let specs = self.conversion_specifiers();
        self.want_type = outer;
        let specs = specs?;
        let mut declarator = Declarator::new();
        self.pointers(&mut declarator)?;
        Ok(specs.with(declarator.layers, self.prev()))
    }

    fn conversion_specifiers(&mut self) -> PResult<DeclSpecs> {
        // `operator S()` in `S` itself names a type, no constructor.
        let class = self.class.take();
        let specs = self.decl_specifiers();
        self.class = class;
        let specs = specs?;
        if specs.untyped.is_some() {
            return Err(self.expected_type());
        }
        Ok(specs)
    }

    /// ptr-operators.
    fn pointers(&mut self, out: &mut Declarator) -> PResult<()> {
        loop {
            match self.kind() {
                T::Star => {
                    self.bump();
                    let (mut is_const, mut is_volatile, mut restrict) = (false, false, false);
                    loop {
                        match self.kind() {
                            T::Keyword(K::Const) => is_const = true,
                            T::Keyword(K::Volatile) => is_volatile = true,
                            T::Keyword(K::Restrict) => restrict = true,
                            // `restrict` is a word of C only: a name unless another name follows.
                            T::Ident
                                if self.kind_at(1) == T::Ident && self.peek().text(self.interner) == "restrict" =>
                            {
                                restrict = true;
                            }
                            _ => break,
                        }
                        self.bump();
                    }
                    out.layers.push(TypeLayer::Pointer { is_const, is_volatile, restrict });
                }
                T::Amp | T::AmpAmp => {
                    let rvalue = self.bump().kind == T::AmpAmp;
                    while self.eat_word(K::Restrict) {}
                    out.layers.push(TypeLayer::Reference { rvalue });
                }
                _ => return Ok(()),
            }
            out.ty_end = self.prev();
            if out.layers.len() > MAX_LAYERS {
                let span = self.prev();
                return Err(self.too_deep(span));
            }
        }
    }

    /// The `(` here belongs to the declarator.
    fn nested_declarator(&mut self, named: bool) -> bool {
        match self.kind_at(1) {
            T::Star | T::Amp | T::AmpAmp => true,
            T::LParen => named || self.kind_at(2) == T::Star,
            T::Ident => named && !self.type_at(self.pos + 1),
            _ => false,
        }
    }
}
