//! Types: specifiers and declarators.

use super::names::NameKind;
use super::{PResult, Parser, Reported};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{BaseType, EnumDecl, Expr, Ident, ParamDecl, Specifiers, TypeLayer, TypeName};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// Most pointers and arrays of one type.
const MAX_LAYERS: usize = 64;

/// What stands before the declarators.
pub(super) struct DeclSpecs {
    pub specs: Specifiers,
    pub base: BaseType,
    pub is_const: bool,
    pub is_volatile: bool,
    pub launch_bounds: Vec<Expr>,
    /// An enum declared on the way.
    pub enum_decl: Option<EnumDecl>,
    /// All of it.
    pub span: Span,
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

/// What stands around a declared name.
pub(super) struct Declarator {
    /// From the base outward.
    pub layers: Vec<TypeLayer>,
    pub name: Option<Ident>,
    /// Parameters, when it declares a function.
    pub params: Option<Vec<ParamDecl>>,
    /// The last `*` or `&` before the name: where the type's own text ends.
    pub ty_end: Span,
}

/// Words of fundamental types seen so far, in any order.
#[derive(Default)]
struct Words {
    void: u8,
    bool: u8,
    char: u8,
    short: u8,
    int: u8,
    long: u8,
    signed: u8,
    unsigned: u8,
    float: u8,
    double: u8,
    auto: u8,
}

impl Words {
    /// The counter of a keyword.
    fn of(&mut self, word: K) -> Option<&mut u8> {
        Some(match word {
            K::Void => &mut self.void,
            K::Bool => &mut self.bool,
            K::Char => &mut self.char,
            K::Short => &mut self.short,
            K::Int => &mut self.int,
            K::Long => &mut self.long,
            K::Signed => &mut self.signed,
            K::Unsigned => &mut self.unsigned,
            K::Float => &mut self.float,
            K::Double => &mut self.double,
            K::Auto => &mut self.auto,
            _ => return None,
        })
    }

    /// The type they name together; `None` for a mixture that names none.
    fn base(&self) -> Option<BaseType> {
        let others = |skip: &[u8]| {
            let all = [self.void, self.bool, self.char, self.float, self.double, self.auto];
            all.iter().map(|&n| u32::from(n)).sum::<u32>() - skip.iter().map(|&n| u32::from(n)).sum::<u32>()
        };
        let sign = self.signed + self.unsigned;
        let integer = sign + self.short + self.long + self.int;
        let unsigned = self.unsigned > 0;
        if sign > 1 || self.int > 1 || self.short > 1 || self.long > 2 {
            return None;
        }
        if self.char == 1 && others(&[self.char]) == 0 && integer == sign {
            return Some(match (self.signed, unsigned) {
                (0, false) => BaseType::Char,
                (_, false) => BaseType::SChar,
                _ => BaseType::UChar,
            });
        }
        if others(&[]) == 0 {
            return match (self.short, self.long) {
                (0, 0) if integer == 0 => None,
                (0, 0) => Some(if unsigned { BaseType::UInt } else { BaseType::Int }),
                (1, 0) => Some(if unsigned { BaseType::UShort } else { BaseType::Short }),
                (0, 1) => Some(if unsigned { BaseType::ULong } else { BaseType::Long }),
                (0, 2) => Some(if unsigned { BaseType::ULongLong } else { BaseType::LongLong }),
                _ => None,
            };
        }
        if self.double == 1 && others(&[self.double]) == 0 && integer == self.long && self.long <= 1 {
            return Some(BaseType::Double);
        }
        if others(&[]) != 1 || integer != 0 {
            return None;
        }
        [
            (self.void, BaseType::Void),
            (self.bool, BaseType::Bool),
            (self.float, BaseType::Float),
            (self.auto, BaseType::Auto),
        ]
        .into_iter()
        .find(|(n, _)| *n == 1)
        .map(|(_, base)| base)
    }
}

impl Parser<'_> {
    /// decl-specifier-seq: specifiers, qualifiers and one type, in any order.
    pub(super) fn decl_specifiers(&mut self) -> PResult<DeclSpecs> {
        let start = self.peek().span;
        let mut out = DeclSpecs {
            specs: Specifiers::default(),
            base: BaseType::Void,
            is_const: false,
            is_volatile: false,
            launch_bounds: Vec::new(),
            enum_decl: None,
            span: start,
            ty_span: Span::NONE,
        };
        let mut words = Words::default();
        let mut any_word = false;
        let mut named: Option<BaseType> = None;
        loop {
            let token = self.peek();
            let specs = &mut out.specs;
            match token.kind {
                T::Keyword(word) => {
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
                        K::Const => out.is_const = true,
                        K::Volatile => out.is_volatile = true,
                        K::Global => specs.global = true,
                        K::Device => specs.device = true,
                        K::Host => specs.host = true,
                        K::Shared => specs.shared = true,
                        K::Constant => specs.constant = true,
                        K::Static => specs.is_static = true,
                        K::Extern => {
                            specs.is_extern = true;
                            if self.kind_at(1) == T::Str {
                                self.bump();
                            }
                        }
                        K::Inline | K::ForceInline => specs.inline = true,
                        K::NoInline => specs.noinline = true,
                        K::Constexpr => specs.constexpr = true,
                        K::Typedef => specs.is_typedef = true,
                        // Neither changes anything for a value: hints to compilers and launches.
                        K::Register | K::GridConstant => {}
                        K::Restrict => {}
                        K::LaunchBounds => {
                            self.bump();
                            out.launch_bounds = self.launch_bounds()?;
                            continue;
                        }
                        K::Attribute => {
                            self.bump();
                            self.skip_brackets();
                            continue;
                        }
                        K::Typename if named.is_none() && !any_word => {
                            self.bump();
                            named = Some(self.type_of_name(&mut out.ty_span)?);
                            continue;
                        }
                        K::Enum if named.is_none() && !any_word => {
                            out.ty_span = out.ty_span.to(token.span);
                            named = Some(self.enum_specifier(&mut out.enum_decl)?);
                            out.ty_span = out.ty_span.to(self.prev());
                            continue;
                        }
                        _ if self.unsupported_specifier(word)? => continue,
                        _ => break,
                    }
                    if matches!(word, K::Const | K::Volatile) {
                        out.ty_span = out.ty_span.to(token.span);
                    }
                    self.bump();
                }
                T::LBracket if self.kind_at(1) == T::LBracket => {
                    self.skip_brackets();
                }
                T::Ident | T::ColonColon if named.is_none() && !any_word => {
                    if self.unknown_specifier() {
                        continue;
                    }
                    if !self.name_can_be_type() {
                        break;
                    }
                    named = Some(self.type_of_name(&mut out.ty_span)?);
                }
                _ => break,
            }
        }
        out.span = self.since(start);
        if words.double == 1 && words.long == 1 && words.base().is_some() {
            self.unsupported(out.ty_span, "`long double` is not supported", "write `double`, which it is on a GPU");
        }
        out.base = match named {
            Some(base) => base,
            None if any_word => match words.base() {
                Some(base) => base,
                None => {
                    let text = "these words name no type together";
                    return Err(self.report(Diagnostic::error(Code::Syntax, out.ty_span, text)));
                }
            },
            None => return Err(self.no_type()),
        };
        Ok(out)
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
            T::Keyword(word) => Words::default().of(word).is_some() || is_function_specifier(word),
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
            Some((edits, near)) if edits * 3 <= near.len() => diag.help(format!("write `{near}`")),
            _ => diag.help("if it is meant to be a macro, it is not defined"),
        };
        self.report(diag);
        self.bump();
        true
    }

    /// Whether the name here, known or not, can be a type by what follows it.
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
                    | T::Ellipsis
                    | T::Keyword(
                        K::Const
                            | K::Volatile
                            | K::Restrict
                            | K::LaunchBounds
                            | K::Global
                            | K::Device
                            | K::Host
                            | K::Static
                    )
            )
    }

    /// Consumes a name that is a type.
    fn type_of_name(&mut self, span: &mut Span) -> PResult<BaseType> {
        let Some(scan) = self.scan_name(self.pos) else { return Err(self.expected("the name of a type")) };
        let start = self.peek().span;
        self.pos = scan.end;
        if scan.split > 0 {
            self.split_angle(scan.split);
        }
        *span = span.to(start).to(self.prev());
        let span = self.since(start);
        Ok(BaseType::Named(Ident { name: scan.symbol, span }.into()))
    }

    /// type-id: a type without a name.
    pub(super) fn type_id(&mut self) -> PResult<TypeName> {
        let specs = self.decl_specifiers()?;
        let declarator = self.declarator(false)?;
        if let Some(name) = declarator.name {
            let text = "a type is expected here, not a declaration";
            return Err(self.report(Diagnostic::error(Code::Syntax, name.span, text)));
        }
        Ok(specs.with(declarator.layers, self.prev()))
    }

    /// declarator: `*`, `&`, parentheses, arrays and parameters around a name, which only `named` ones may have.
    pub(super) fn declarator(&mut self, named: bool) -> PResult<Declarator> {
        self.enter()?;
        let result = self.declarator_inner(named);
        self.leave();
        let declarator = result?;
        if declarator.layers.len() > MAX_LAYERS {
            let span = self.prev();
            return Err(self.too_deep(span));
        }
        Ok(declarator)
    }

    fn declarator_inner(&mut self, named: bool) -> PResult<Declarator> {
        let mut out = Declarator { layers: Vec::new(), name: None, params: None, ty_end: Span::NONE };
        self.pointers(&mut out)?;
        let mut inner = None;
        if self.at(T::LParen) && self.nested_declarator(named) {
            let open = self.bump().span;
            inner = Some(self.declarator(named)?);
            self.expect_close(T::RParen, open)?;
        } else if named && self.at(T::Ident) {
            let name = self.ident("a name")?;
            if self.at(T::ColonColon) {
                let span = name.span.to(self.peek().span);
                return Err(self.unsupported(
                    span,
                    "members defined outside their struct are not supported yet",
                    "write an ordinary function",
                ));
            }
            out.name = Some(name);
        } else if self.at_word(K::Operator) {
            return Err(self.operator_overload());
        }
        let mut arrays = Vec::new();
        loop {
            match self.kind() {
                T::LBracket if self.kind_at(1) == T::LBracket => {
                    self.skip_brackets();
                }
                T::LBracket => {
                    let open = self.bump().span;
                    let size = if self.at(T::RBracket) { None } else { Some(Box::new(self.assignment_expr()?)) };
                    self.expect_close(T::RBracket, open)?;
                    arrays.push(TypeLayer::Array(size));
                }
                T::LParen if inner.is_some() || !named => {
                    let span = self.peek().span;
                    return Err(self.unsupported(
                        span,
                        "function types and pointers to functions are not supported yet",
                        "call the function directly, or choose with `switch`",
                    ));
                }
                T::LParen if out.name.is_some() && arrays.is_empty() && self.parameters_follow() => {
                    out.params = Some(self.parameters()?);
                    break;
                }
                _ => break,
            }
        }
        arrays.reverse();
        out.layers.append(&mut arrays);
        if let Some(mut inner) = inner {
            out.layers.append(&mut inner.layers);
            out.name = inner.name;
            out.ty_end = out.ty_end.to(inner.ty_end);
            if let Some(params) = inner.params {
                // `int (f)(int x)` is allowed and written by nobody; `int (*f(int x))[3]` is a function of odd result.
                out.params = Some(params);
            }
        }
        Ok(out)
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

    /// Whether the `(` here belongs to the declarator.
    fn nested_declarator(&mut self, named: bool) -> bool {
        match self.kind_at(1) {
            T::Star | T::Amp | T::AmpAmp => true,
            T::LParen => true,
            T::Ident => named && !self.type_at(self.pos + 1),
            _ => false,
        }
    }
}

/// Whether a keyword can start a type, storage aside.
pub(super) fn is_type_word(word: K) -> bool {
    Words::default().of(word).is_some()
        || matches!(
            word,
            K::Const | K::Volatile | K::Enum | K::Struct | K::Class | K::Union | K::Typename | K::Decltype
        )
}

/// Whether a keyword names a fundamental type (or part of one).
pub(super) fn is_simple_type_word(word: K) -> bool {
    Words::default().of(word).is_some()
}

/// Whether a keyword can only start a declaration.
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
            | K::Register
            | K::ThreadLocal
            | K::Typedef
            | K::Alignas
            | K::Align
            | K::Attribute
    )
}
