//! Lambdas, folds and launches.

use std::sync::Arc;

use super::declared_names::NameKind;
use super::expr::fold_operator;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Capture, CaptureKind, CaptureMode, Compound, Expr, ExprKind, Init, Lambda, Specifiers};
use crate::front::lexer::{Keyword as K, Token, TokenKind as T};
use crate::source::Span;

/// `<< <` and `>> >`, as some formatters write the brackets of a launch, to what they mean.
pub(super) fn join_launches(tokens: &mut Vec<Token>) {
    let pair = |tokens: &[Token], i: usize, kinds: [T; 2]| {
        tokens.get(i..i + 2).is_some_and(|t| [t[0].kind, t[1].kind] == kinds)
    };
    let mut gone = Vec::new();
    let mut join = |tokens: &mut [Token], i: usize, kind: T| {
        tokens[i].kind = kind;
        tokens[i].span.end = tokens[i].span.end.max(tokens[i + 1].span.end);
        gone.push(i + 1);
    };
    for i in 0..tokens.len() {
        if pair(tokens, i, [T::Shl, T::Lt]) {
            join(tokens, i, T::LaunchOpen);
        } else if tokens[i].kind != T::LaunchOpen {
            continue;
        }
        let mut depth = 0;
        for j in i + 1..tokens.len() {
            match tokens[j].kind {
                T::LParen | T::LBracket | T::LBrace => depth += 1,
                T::RParen | T::RBracket | T::RBrace if depth > 0 => depth -= 1,
                T::RParen | T::RBracket | T::RBrace | T::LaunchOpen => break,
                T::LaunchClose | T::Semi if depth == 0 => break,
                T::Shl if pair(tokens, j, [T::Shl, T::Lt]) => break,
                T::Shr if depth == 0 && pair(tokens, j, [T::Shr, T::Gt]) => {
                    join(tokens, j, T::LaunchClose);
                    break;
                }
                _ => {}
            }
        }
    }
    gone.sort_unstable();
    if !gone.is_empty() {
        let (mut at, mut next) = (0, gone.iter().peekable());
        tokens.retain(|_| {
            at += 1;
            next.next_if_eq(&&(at - 1)).is_none()
        });
    }
}

impl Parser<'_> {
    /// `(... op pack)`
    pub(super) fn left_fold(&mut self, open: Span) -> PResult<Expr> {
        self.bump();
        let Some(op) = fold_operator(self.kind()) else { return Err(self.expected("an operator")) };
        self.bump();
        let right = Some(Box::new(self.unary()?));
        let height = self.height;
        self.expect_close(T::RParen, open)?;
        self.node(ExprKind::Fold { op, left: None, right }, self.since(open), height)
    }

    /// `(pack op ...)`, `(a op ... op b)`, from the operator on.
    pub(super) fn right_fold(&mut self, left: Expr, open: Span) -> PResult<Expr> {
        let mut height = self.height;
        let sign = self.bump().kind;
        self.bump();
        let Some(op) = fold_operator(sign) else { return Err(self.expected("an operator")) };
        let mut right = None;
        if !self.at(T::RParen) {
            if !self.eat(sign) {
                return Err(self.expected(&format!("`)` or `{}`", sign.spelling())));
            }
            right = Some(Box::new(self.unary()?));
            height = height.max(self.height);
        }
        self.expect_close(T::RParen, open)?;
        self.node(ExprKind::Fold { op, left: Some(Box::new(left)), right }, self.since(open), height)
    }

    /// `<<< grid, block >>> ( args )` after a kernel.
    pub(super) fn launch(&mut self, callee: Expr) -> PResult<ExprKind> {
        let open = self.bump().span;
        let outer = std::mem::replace(&mut self.in_angle, true);
        let config = self.nested(|p| p.arguments(T::LaunchClose));
        self.in_angle = outer;
        let (config, _) = config?;
        if !self.at(T::LaunchClose) {
            let (found, span) = (self.found(), self.peek().span);
            let diag = Diagnostic::error(Code::Syntax, span, format!("`>>>` is expected here, not {found}"));
            return Err(self.report(diag.related(open, "to close this `<<<`")));
        }
        self.bump();
        if !(2..=4).contains(&config.len()) {
            let text = format!("a launch takes a grid and a block, then bytes and a stream; here are {}", config.len());
            let diag = Diagnostic::error(Code::Syntax, self.since(open), text);
            self.report(diag.help("write `kernel<<<grid, block>>>(...)`"));
        }
        if !self.at(T::LParen) {
            return Err(self.expected("`(` with the kernel's arguments"));
        }
        let args = self.call_args()?;
        Ok(ExprKind::Launch { callee: Box::new(callee), config, args })
    }

    /// lambda-expression.
    pub(super) fn lambda_expr(&mut self) -> PResult<Expr> {
        let (lambda, below) = self.measured(|p| {
            p.nested_by(2, |p| {
                p.names.open();
                let (angle, want) = (std::mem::take(&mut p.in_angle), std::mem::take(&mut p.want_type));
                let (members, class) = (std::mem::take(&mut p.in_members), p.class.take());
                let lambda = p.lambda();
                (p.in_members, p.class) = (members, class);
                (p.in_angle, p.want_type) = (angle, want);
                p.names.close();
                lambda
            })
        })?;
        let span = lambda.span;
        self.node(ExprKind::Lambda(Arc::new(lambda)), span, below)
    }

    #[inline(never)]
    fn lambda(&mut self) -> PResult<Lambda> {
        let start = self.peek().span;
        let (default_capture, captures) = self.captures()?;
        let mut lambda = Lambda {
            default_capture,
            captures,
            template: None,
            params: Vec::new(),
            specs: Specifiers::default(),
            is_mutable: false,
            ret: None,
            body: Compound { stmts: Vec::new(), span: start },
            span: start,
        };
        if self.at(T::Lt) {
            lambda.template = Some(self.lambda_head()?);
        }
        self.lambda_specifiers(&mut lambda);
        if self.at(T::LParen) {
            lambda.params = self.parameters()?;
            for name in lambda.params.iter().filter_map(|p| p.name) {
                self.names.declare(name.name, NameKind::Value);
            }
        }
        self.lambda_specifiers(&mut lambda);
        if self.eat(T::Arrow) {
            lambda.ret = Some(self.type_id()?);
        }
        if !self.at(T::LBrace) {
            return Err(self.expected("the body of the lambda"));
        }
        let name = self.interner.intern("operator()");
        let outer = self.function.replace(name);
        let body = self.compound();
        self.function = outer;
        lambda.body = body?;
        lambda.span = self.since(start);
        Ok(lambda)
    }

    /// `mutable`, `__device__` and the like, which CUDA wants before the parameters.
    fn lambda_specifiers(&mut self, lambda: &mut Lambda) {
        loop {
            match self.kind() {
                T::Keyword(K::Mutable) => lambda.is_mutable = true,
                T::Keyword(K::Constexpr) => lambda.specs.constexpr = true,
                T::Keyword(K::Device) => lambda.specs.device = true,
                T::Keyword(K::Host) => lambda.specs.host = true,
                T::Keyword(K::ForceInline | K::Inline) => lambda.specs.inline = true,
                T::Keyword(K::Noexcept) => {
                    lambda.specs.noexcept = self.noexcept_specifier();
                    continue;
                }
                T::Keyword(K::Attribute) => {
                    self.bump();
                    self.skip_brackets();
                    continue;
                }
                T::LBracket if self.kind_at(1) == T::LBracket => {
                    self.skip_brackets();
                    continue;
                }
                _ => return,
            }
            self.bump();
        }
    }

    /// `[=, &x, y = e, this]`
    fn captures(&mut self) -> PResult<(Option<CaptureMode>, Vec<Capture>)> {
        let open = self.bump().span;
        let mut default = None;
        let mut captures = Vec::new();
        if matches!(self.kind(), T::Assign | T::Amp) && matches!(self.kind_at(1), T::Comma | T::RBracket) {
            let by_ref = self.bump().kind == T::Amp;
            default = Some(if by_ref { CaptureMode::Reference } else { CaptureMode::Copy });
            self.eat(T::Comma);
        }
        while !self.at(T::RBracket) {
            captures.push(self.capture()?);
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::RBracket, open)?;
        Ok((default, captures))
    }

    fn capture(&mut self) -> PResult<Capture> {
        let start = self.peek().span;
        if self.at(T::Star) && self.kind_at(1) == T::Keyword(K::This) {
            self.bump();
            self.bump();
            return Ok(Capture { kind: CaptureKind::This(CaptureMode::Copy), pack: false, span: self.since(start) });
        }
        if self.eat_word(K::This) {
            return Ok(Capture { kind: CaptureKind::This(CaptureMode::Reference), pack: false, span: start });
        }
        let mode = if self.eat(T::Amp) { CaptureMode::Reference } else { CaptureMode::Copy };
        let mut pack = self.eat(T::Ellipsis);
        let name = self.ident("the name of a captured variable")?;
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
        pack |= self.eat(T::Ellipsis);
        self.names.declare(name.name, NameKind::Value);
        let kind = match init {
            Some(init) => CaptureKind::Init(mode, name, init),
            None => CaptureKind::Variable(mode, name),
        };
        Ok(Capture { kind, pack, span: self.since(start) })
    }
}
