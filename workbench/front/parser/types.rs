//! Types: specifiers, and what they name together.

use std::sync::Arc;

use super::declared_names::NameKind;
use super::fundamental_types::TypeWords;
use super::name::Position;
use super::{PResult, Parser, Reported};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{
    BaseType, EnumDecl, Expr, ExprKind, Name, Specifiers, StructDecl, TemplateHead, TypeLayer, TypeName,
};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// Kind of a declaration without a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untyped {
    /// `S(...)`
    Constructor,
    /// `~S()`
    Destructor,
    /// `operator T()`
    Conversion,
}

/// Specifiers before the declarators.
pub(super) struct DeclSpecs {
    pub specs: Specifiers,
    pub base: BaseType,
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_explicit: bool,
    pub is_friend: bool,
    /// The base is `void`, and a member of this sort follows.
    pub untyped: Option<Untyped>,
    pub launch_bounds: Vec<Expr>,
    pub align: Option<Arc<Expr>>,
    /// `__attribute__((packed))` among the specifiers.
    pub packed: bool,
    /// An enum declared on the way.
    pub enum_decl: Option<EnumDecl>,
    /// A struct declared on the way.
    pub struct_decl: Option<Arc<StructDecl>>,
    /// The type alone.
    pub ty_span: Span,
}

impl DeclSpecs {
    /// The type with a declarator's layers on top.
    pub fn with(&self, layers: Vec<TypeLayer>, end: Span) -> TypeName {
        let span = self.ty_span.to(end);
        TypeName { base: self.base.clone(), is_const: self.is_const, is_volatile: self.is_volatile, layers, span }
    }
}

impl Parser<'_> {
    /// decl-specifier-seq: specifiers, qualifiers and one type, in any order.
    #[inline(never)]
    pub(super) fn decl_specifiers(&mut self) -> PResult<DeclSpecs> {
        self.decl_specifiers_of(&mut Vec::new())
    }

    /// [`Parser::decl_specifiers`] after `templates`, which a struct defined here takes over.
    #[inline(never)]
    pub(super) fn decl_specifiers_of(&mut self, templates: &mut Vec<TemplateHead>) -> PResult<DeclSpecs> {
        // Types nest in types (`decltype`, template arguments, structs), and each takes much of the stack.
        self.nested_by(5, |p| p.decl_specifier_seq(templates))
    }

    #[inline(never)]
    fn decl_specifier_seq(&mut self, templates: &mut Vec<TemplateHead>) -> PResult<DeclSpecs> {
        let mut out = DeclSpecs {
            specs: Specifiers::default(),
            base: BaseType::Void,
            is_const: false,
            is_volatile: false,
            is_explicit: false,
            is_friend: false,
            untyped: None,
            launch_bounds: Vec::new(),
            align: None,
            packed: false,
            enum_decl: None,
            struct_decl: None,
            ty_span: Span::NONE,
        };
        let mut words = TypeWords::default();
        let mut any_word = false;
        let mut named: Option<BaseType> = None;
        loop {
            let token = self.peek();
            let fresh = named.is_none() && !any_word;
            match token.kind {
                T::Keyword(word) => {
                    if word == K::Auto && !fresh {
                        break;
                    }
                    if let Some(count) = words.of(word) {
                        if named.is_some() {
                            break;
                        }
                        *count = count.saturating_add(1);
                        any_word = true;
                        out.ty_span = out.ty_span.to(token.span);
                        self.bump();
                        continue;
                    }
                    match word {
                        K::Typename if fresh => {
                            self.bump();
                            named = Some(self.type_of_name(&mut out.ty_span)?);
                            continue;
                        }
                        K::Enum if fresh => {
                            out.ty_span = out.ty_span.to(token.span);
                            named = Some(self.enum_specifier(out.specs.is_typedef, &mut out.enum_decl)?);
                        }
                        K::Struct | K::Class | K::Union if fresh => {
                            out.ty_span = out.ty_span.to(token.span);
                            named =
                                Some(self.struct_specifier(templates, out.specs.is_typedef, &mut out.struct_decl)?);
                        }
                        K::Decltype if fresh => {
                            out.ty_span = out.ty_span.to(token.span);
                            named = Some(self.decltype()?);
                        }
                        K::Operator if fresh => {
                            out.untyped = Some(Untyped::Conversion);
                            break;
                        }
                        _ if self.specifier(word, &mut out)? => {
                            if matches!(word, K::Const | K::Volatile) {
                                out.ty_span = out.ty_span.to(token.span);
                            }
                            continue;
                        }
                        _ => break,
                    }
                    out.ty_span = out.ty_span.to(self.prev());
                }
                T::LBracket if self.kind_at(1) == T::LBracket => {
                    self.skip_brackets();
                }
                T::Tilde if fresh && self.class.is_some() => {
                    out.untyped = Some(Untyped::Destructor);
                    break;
                }
                T::Ident | T::ColonColon if fresh => {
                    if self.unknown_specifier() {
                        continue;
                    }
                    out.untyped = self.untyped_member();
                    if out.untyped.is_some() || !self.name_can_be_type() {
                        break;
                    }
                    named = Some(self.type_of_name(&mut out.ty_span)?);
                }
                _ => break,
            }
        }
        out.base = self.specified_base(&mut out, named, &words, any_word)?;
        Ok(out)
    }

    /// The type that a sequence of specifiers names: `named`, that of its `words`, or `void` where a member without a type follows.
    fn specified_base(
        &mut self,
        out: &mut DeclSpecs,
        named: Option<BaseType>,
        words: &TypeWords,
        any_word: bool,
    ) -> PResult<BaseType> {
        if words.double == 1 && words.long == 1 && words.base().is_some() {
            self.unsupported(out.ty_span, "`long double` is not supported", "write `double`, which it is on a GPU");
        }
        match named {
            Some(base) => Ok(base),
            None if any_word => words.base().ok_or_else(|| {
                let text = "these words name no type together";
                self.report(Diagnostic::error(Code::Syntax, out.ty_span, text))
            }),
            None if out.untyped.is_some() => {
                out.ty_span = self.peek().span;
                Ok(BaseType::Void)
            }
            None => Err(self.no_type()),
        }
    }

    /// A specifier that is no type, consumed; whether there was one.
    fn specifier(&mut self, word: K, out: &mut DeclSpecs) -> PResult<bool> {
        let specs = &mut out.specs;
        match word {
            K::Const => out.is_const = true,
            K::Volatile => out.is_volatile = true,
            K::Global => specs.global = true,
            K::Device => specs.device = true,
            K::Managed => {
                specs.device = true;
                specs.managed = true;
            }
            K::Host => specs.host = true,
            K::Shared => specs.shared = true,
            K::Constant => specs.constant = true,
            K::Static => specs.is_static = true,
            K::Extern => {
                specs.is_extern = true;
                if self.kind_at(1) == T::Str {
                    specs.extern_c = true;
                    self.bump();
                }
            }
            K::Inline | K::ForceInline => specs.inline = true,
            K::NoInline => specs.noinline = true,
            K::Constexpr => specs.constexpr = true,
            K::Mutable => specs.mutable = true,
            K::Typedef => specs.is_typedef = true,
            K::Explicit => {
                out.is_explicit = true;
                self.bump();
                self.skip_brackets();
                return Ok(true);
            }
            K::Friend => out.is_friend = true,
            // None changes anything for a value: hints to compilers and launches.
            K::Register | K::GridConstant | K::Restrict => {}
            K::LaunchBounds => {
                self.bump();
                out.launch_bounds = self.launch_bounds()?;
                return Ok(true);
            }
            K::Attribute | K::Align | K::Alignas => {
                let mut layout =
                    super::attribute::LayoutAttributes { align: out.align.take(), packed: out.packed, pack: None };
                self.attributes(&mut layout)?;
                out.align = layout.align;
                out.packed = layout.packed;
                return Ok(true);
            }
            _ => return self.unsupported_specifier(word),
        }
        self.bump();
        Ok(true)
    }

    /// `alignas(n)`, `alignas(T)`, `__align__(n)`
    pub(super) fn alignment(&mut self) -> PResult<Arc<Expr>> {
        let start = self.bump().span;
        let open = self.expect(T::LParen)?;
        let expr = self.unangled(|p| {
            if !p.type_at(p.pos) {
                return p.assignment_expr();
            }
            let (ty, below) = p.measured(Self::type_id)?;
            p.node(ExprKind::AlignofType(Box::new(ty)), p.since(start), below)
        })?;
        self.expect_close(T::RParen, open)?;
        Ok(Arc::new(expr))
    }

    /// `decltype(e)`, `decltype(auto)`
    fn decltype(&mut self) -> PResult<BaseType> {
        let start = self.bump().span;
        let open = self.expect(T::LParen)?;
        if self.at_word(K::Auto) && self.kind_at(1) == T::RParen {
            self.bump();
            self.bump();
            return Ok(BaseType::DecltypeAuto);
        }
        let expr = self.unangled(Self::expression)?;
        self.expect_close(T::RParen, open)?;
        if self.at(T::ColonColon) {
            let span = self.since(start);
            let text = "`decltype(...)::` is not supported";
            return Err(self.unsupported(span, text, "name the type first: `using T = decltype(...);`"));
        }
        Ok(BaseType::Decltype(Arc::new(expr)))
    }

    /// The constructor, destructor or conversion that starts at the name here: `S(`, `S::S(`, `S<T>::~S(`, `S::operator T(`.
    fn untyped_member(&mut self) -> Option<Untyped> {
        let token = self.peek();
        if self.kind_at(1) == T::LParen {
            let own = token.kind == T::Ident && self.class == Some(token.symbol);
            return (own && self.kind_at(2) != T::Star).then_some(Untyped::Constructor);
        }
        if !matches!(self.kind_at(1), T::ColonColon | T::Lt) && token.kind != T::ColonColon {
            return None;
        }
        let scan = self.scan_name(self.pos)?;
        match (self.at_index(scan.end).kind, self.at_index(scan.end + 1).kind) {
            (T::LParen, _) if scan.before == Some(scan.symbol) => Some(Untyped::Constructor),
            (T::ColonColon, T::Tilde) => Some(Untyped::Destructor),
            (T::ColonColon, T::Keyword(K::Operator)) => Some(Untyped::Conversion),
            _ => None,
        }
    }

    /// Reports that a type is missing.
    #[cold]
    fn no_type(&mut self) -> Reported {
        let token = self.peek();
        if token.kind == T::Ident && self.kind_at(1) == T::LParen {
            let name = token.text(self.interner).to_owned();
            let text = format!("`{name}` needs a result type before its name");
            return self.report(
                Diagnostic::error(Code::Syntax, token.span, text)
                    .help(format!("write `void {name}(...)`; if `{name}` is meant to be a macro, it is not defined")),
            );
        }
        self.expected_type()
    }

    /// Reports what stands where a type must.
    pub(super) fn expected_type(&mut self) -> Reported {
        let token = self.peek();
        if token.text(self.interner) == "std" && self.kind_at(1) == T::ColonColon {
            let words: Vec<&str> = (self.pos..self.pos + 3).map(|i| self.at_index(i).text(self.interner)).collect();
            let text = format!("`{}` is not supported: it is a part of the standard library", words.concat());
            return self.unsupported(token.span, &text, "use plain C++");
        }
        self.expected("a type")
    }

    /// `( expr, ... )` after `__launch_bounds__`.
    fn launch_bounds(&mut self) -> PResult<Vec<Expr>> {
        let open = self.expect(T::LParen)?;
        let mut args = Vec::new();
        if !self.at(T::RParen) {
            loop {
                args.push(self.assignment_expr()?);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        self.expect_close(T::RParen, open)?;
        Ok(args)
    }

    /// Reports and skips a name that stands where a specifier should: `__globl__ void k()`. Whether there was one.
    fn unknown_specifier(&mut self) -> bool {
        let token = self.peek();
        if token.kind != T::Ident || self.names.kind(token.symbol, self.interner) != NameKind::Free {
            return false;
        }
        let follows = match self.kind_at(1) {
            T::Keyword(word) => TypeWords::default().of(word).is_some() || is_function_specifier(word),
            _ => false,
        };
        if !follows {
            return false;
        }
        let name = token.text(self.interner).to_owned();
        let mut diag = Diagnostic::error(Code::Syntax, token.span, format!("`{name}` is no specifier"));
        let known = ["__global__", "__device__", "__host__", "__shared__", "__constant__", "__forceinline__", "const"];
        let near = known.into_iter().map(|k| (crate::front::preprocess::headers::distance(&name, k), k)).min();
        diag = match near {
            Some((edits, near)) if edits * 3 <= near.len() => {
                diag.help(format!("write `{near}`")).replacement(token.span, near)
            }
            _ => diag.help("if it is meant to be a macro, it is not defined"),
        };
        self.report(diag);
        self.bump();
        true
    }

    /// The name here, known or not, can be a type by what follows it.
    fn name_can_be_type(&mut self) -> bool {
        let Some(scan) = self.scan_name(self.pos) else { return false };
        scan.kind == NameKind::Type
            || matches!(
                self.at_index(scan.end).kind,
                T::Ident
                    | T::Star
                    | T::Amp
                    | T::AmpAmp
                    | T::Comma
                    | T::RParen
                    | T::Gt
                    | T::Shr
                    | T::LaunchClose
                    | T::Ellipsis
                    | T::Keyword(
                        K::Const
                            | K::Volatile
                            | K::Restrict
                            | K::GridConstant
                            | K::LaunchBounds
                            | K::Global
                            | K::Device
                            | K::Host
                            | K::Static
                            | K::Inline
                            | K::ForceInline
                            | K::Constexpr
                            | K::Operator
                    )
            )
            || scan.has_args && !matches!(self.at_index(scan.end).kind, T::LParen | T::LBrace)
            // `using X = ns::T;` and `template <ns::T = 0>`.
            || self.want_type && matches!(self.at_index(scan.end).kind, T::Semi | T::Assign | T::LBrace | T::LBracket)
    }

    /// Consumes a name that is a type.
    fn type_of_name(&mut self, span: &mut Span) -> PResult<BaseType> {
        if !matches!(self.kind(), T::Ident | T::ColonColon) {
            return Err(self.expected("the name of a type"));
        }
        let name = self.name(Position::Type)?;
        *span = span.to(name.span);
        Ok(BaseType::Named(self.plain_type_name(name)))
    }

    /// `std::size_t` is `size_t`, as for all types of the C library.
    fn plain_type_name(&mut self, mut name: Name) -> Name {
        let std = |p: &Self, n: &Name| {
            n.qualifiers().iter().all(|q| q.is_plain() && matches!(p.interner.name(q.ident.name), "std" | "cuda"))
        };
        if name.parts.len() > 1
            && name.last_part().is_plain()
            && std(self, &name)
            && super::declared_names::is_builtin_type(self.interner.name(name.last().name))
        {
            name.parts.drain(..name.parts.len() - 1);
        }
        name
    }

    /// type-id: a type without a name.
    #[inline(never)]
    pub(super) fn type_id(&mut self) -> PResult<TypeName> {
        let outer = std::mem::replace(&mut self.want_type, true);
        let specs = self.decl_specifiers();
        self.want_type = outer;
        let specs = specs?;
        if specs.untyped.is_some() {
            return Err(self.expected_type());
        }
        let declarator = self.declarator(false)?;
        if let Some(name) = declarator.name {
            let text = "a type is expected here, not a declaration";
            return Err(self.report(Diagnostic::error(Code::Syntax, name.span, text)));
        }
        Ok(specs.with(declarator.layers, self.prev()))
    }
}

/// The keyword can only start a declaration.
pub(super) fn is_function_specifier(word: K) -> bool {
    matches!(
        word,
        K::Global
            | K::Device
            | K::Host
            | K::Shared
            | K::Constant
            | K::Managed
            | K::Static
            | K::Extern
            | K::Inline
            | K::ForceInline
            | K::NoInline
            | K::Constexpr
            | K::LaunchBounds
            | K::ClusterDims
            | K::BlockSize
            | K::GridConstant
            | K::Register
            | K::ThreadLocal
            | K::Typedef
            | K::Alignas
            | K::Align
            | K::Attribute
            | K::Explicit
            | K::Friend
            | K::Mutable
            | K::Virtual
    )
}
