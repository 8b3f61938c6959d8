//! Conditions of `#if`: 64-bit integer arithmetic, short circuit, and the operators that ask about macros and headers.

use super::Preprocessor;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{IntSuffix, Interner, Literal};
use crate::front::lexer::{Token, TokenKind, literal};
use crate::source::Span;

/// Deepest nesting of parentheses and operators in a condition.
const MAX_DEPTH: u32 = 100;

impl Preprocessor<'_> {
    /// Evaluates a condition; one that cannot be read is reported and false.
    pub(super) fn condition(&mut self, line: Vec<Token>, directive: Span) -> bool {
        if line.is_empty() {
            self.error(Code::BadDirective, directive, "this conditional needs a condition");
            return false;
        }
        self.in_condition = true;
        let tokens = self.expand_list(line);
        self.in_condition = false;
        if self.stopped {
            return false;
        }
        let mut reader = Reader { tokens: &tokens, pos: 0, interner: self.interner, end: directive, depth: 0 };
        let value = reader.expression(0, true).and_then(|value| match tokens.get(reader.pos) {
            Some(extra) => Err((extra.span, format!("`{}` cannot follow a condition", extra.text(reader.interner)))),
            None => Ok(value),
        });
        match value {
            Ok(value) => value.bits != 0,
            Err((span, message)) => {
                self.diags.push(Diagnostic::error(Code::BadDirective, span, message));
                false
            }
        }
    }

    /// `defined X`, `__has_include(<x>)` and its kin, as `1` or `0`; `None` when `token` is none of them.
    pub(super) fn condition_operator(&mut self, token: Token) -> Option<Token> {
        let name = self.interner.name(token.symbol);
        let value = match name {
            "defined" => self.defined_operator(token),
            "__has_include" => self.has_include(token),
            "__has_attribute" | "__has_cpp_attribute" | "__has_builtin" | "__has_feature" => {
                self.skip_parentheses();
                false
            }
            _ => return None,
        };
        Some(self.text_token(TokenKind::Number, if value { "1" } else { "0" }, token))
    }

    fn defined_operator(&mut self, token: Token) -> bool {
        let mut next = self.next_raw();
        let paren = next.is_some_and(|t| t.kind == TokenKind::LParen);
        if paren {
            next = self.next_raw();
        }
        let name = next.filter(|t| t.kind == TokenKind::Ident);
        let closed = !paren || self.next_raw().is_some_and(|t| t.kind == TokenKind::RParen);
        match name {
            Some(name) if closed => self.is_defined(name),
            _ => {
                self.error(Code::BadDirective, token.span, "`defined` needs the name of a macro, as in `defined(X)`");
                false
            }
        }
    }

    /// The name is a macro; operators of conditions count as defined.
    pub(super) fn is_defined(&mut self, name: Token) -> bool {
        self.lookup(name.symbol).is_some()
            || matches!(self.interner.name(name.symbol), "__has_include" | "__has_attribute" | "__has_cpp_attribute")
    }

    fn has_include(&mut self, token: Token) -> bool {
        let mut name = String::new();
        let mut quoted = false;
        if self.next_raw().is_some_and(|t| t.kind == TokenKind::LParen) {
            let mut depth = 1;
            while let Some(next) = self.next_raw() {
                match next.kind {
                    TokenKind::LParen => depth += 1,
                    TokenKind::RParen => depth -= 1,
                    TokenKind::Str => quoted = true,
                    _ => {}
                }
                if depth == 0 {
                    let name = name.trim_matches(['<', '>', '"']).to_owned();
                    return self.find_header(&name, quoted);
                }
                name.push_str(next.text(self.interner));
            }
        }
        self.error(Code::BadDirective, token.span, "`__has_include` needs a header, as in `__has_include(<cmath>)`");
        false
    }

    fn skip_parentheses(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.next_raw() {
            match token.kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return;
            }
        }
    }
}

/// A value of a condition: `intmax_t`, or `uintmax_t` when `unsigned`.
#[derive(Debug, Clone, Copy)]
struct Value {
    bits: u64,
    unsigned: bool,
}

type Result<T> = std::result::Result<T, (Span, String)>;

/// Reads an expanded condition.
struct Reader<'a> {
    tokens: &'a [Token],
    pos: usize,
    interner: &'a Interner,
    end: Span,
    depth: u32,
}

/// The power with which an infix operator binds; 0 for everything else.
fn power(kind: TokenKind) -> u8 {
    use TokenKind as T;
    match kind {
        T::Comma => 1,
        T::Question => 2,
        T::PipePipe => 3,
        T::AmpAmp => 4,
        T::Pipe => 5,
        T::Caret => 6,
        T::Amp => 7,
        T::EqEq | T::NotEq => 8,
        T::Lt | T::Le | T::Gt | T::Ge => 9,
        T::Shl | T::Shr => 10,
        T::Plus | T::Minus => 11,
        T::Star | T::Slash | T::Percent => 12,
        _ => 0,
    }
}

impl Reader<'_> {
    /// Operators that bind tighter than `least`. `live` is false where short circuit leaves the value unused.
    fn expression(&mut self, least: u8, live: bool) -> Result<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.end, "this condition is nested too deeply".to_owned()));
        }
        let mut left = self.unary(live)?;
        while let Some(&op) = self.tokens.get(self.pos) {
            let kind = match (op.kind, op.text(self.interner)) {
                (TokenKind::Ident, "and") => TokenKind::AmpAmp,
                (TokenKind::Ident, "or") => TokenKind::PipePipe,
                (kind, _) => kind,
            };
            let bind = power(kind);
            if bind == 0 || bind <= least {
                break;
            }
            self.pos += 1;
            left = match kind {
                TokenKind::Question => self.ternary(left, live)?,
                TokenKind::AmpAmp => {
                    let right = self.expression(bind, live && left.bits != 0)?;
                    truth(left.bits != 0 && right.bits != 0)
                }
                TokenKind::PipePipe => {
                    let right = self.expression(bind, live && left.bits == 0)?;
                    truth(left.bits != 0 || right.bits != 0)
                }
                _ => {
                    let right = self.expression(bind, live)?;
                    binary(kind, left, right, live).ok_or((op.span, "division by zero in a condition".to_owned()))?
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// After `?`.
    fn ternary(&mut self, cond: Value, live: bool) -> Result<Value> {
        let then = self.expression(0, live && cond.bits != 0)?;
        self.expect(TokenKind::Colon)?;
        let els = self.expression(1, live && cond.bits == 0)?;
        let unsigned = then.unsigned || els.unsigned;
        Ok(Value { bits: if cond.bits != 0 { then.bits } else { els.bits }, unsigned })
    }

    fn expect(&mut self, kind: TokenKind) -> Result<()> {
        match self.tokens.get(self.pos) {
            Some(t) if t.kind == kind => {
                self.pos += 1;
                Ok(())
            }
            Some(t) => Err((t.span, format!("`{}` is expected in this condition", kind.spelling()))),
            None => Err((self.end, format!("`{}` is missing in this condition", kind.spelling()))),
        }
    }

    fn unary(&mut self, live: bool) -> Result<Value> {
        let Some(&token) = self.tokens.get(self.pos) else {
            return Err((self.end, "this condition ends too early".to_owned()));
        };
        self.pos += 1;
        match token.kind {
            TokenKind::Plus | TokenKind::Minus | TokenKind::Tilde | TokenKind::Bang => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err((token.span, "this condition is nested too deeply".to_owned()));
                }
                let value = self.unary(live)?;
                self.depth -= 1;
                Ok(match token.kind {
                    TokenKind::Minus => Value { bits: value.bits.wrapping_neg(), ..value },
                    TokenKind::Tilde => Value { bits: !value.bits, ..value },
                    TokenKind::Bang => truth(value.bits == 0),
                    _ => value,
                })
            }
            TokenKind::LParen => {
                let value = self.expression(0, live)?;
                self.expect(TokenKind::RParen)?;
                Ok(value)
            }
            TokenKind::Number => match literal::number(token.text(self.interner)) {
                Ok(literal::Number { literal: Literal::Int(bits, ty), .. }) => {
                    let unsigned = matches!(ty, IntSuffix::ULong | IntSuffix::ULongLong)
                        || token.text(self.interner).contains(['u', 'U']);
                    Ok(Value { bits, unsigned })
                }
                Ok(_) => Err((token.span, "a condition holds integers only".to_owned())),
                Err(message) => Err((token.span, message)),
            },
            TokenKind::Char => match literal::character(token.text(self.interner)) {
                Ok(value) => Ok(Value { bits: i64::from(value) as u64, unsigned: false }),
                Err(message) => Err((token.span, message)),
            },
            TokenKind::Ident => {
                let name = token.text(self.interner);
                if name == "not" {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err((token.span, "this condition is nested too deeply".to_owned()));
                    }
                    let value = self.unary(live)?;
                    self.depth -= 1;
                    return Ok(truth(value.bits == 0));
                }
                if self.tokens.get(self.pos).is_some_and(|t| t.kind == TokenKind::LParen) {
                    return Err((token.span, format!("no macro `{name}` that takes arguments is defined")));
                }
                Ok(truth(name == "true"))
            }
            _ => Err((token.span, format!("`{}` cannot stand here in a condition", token.text(self.interner)))),
        }
    }
}

fn truth(value: bool) -> Value {
    Value { bits: u64::from(value), unsigned: false }
}

/// A binary operator; `None` for a division by zero that counts.
fn binary(kind: TokenKind, left: Value, right: Value, live: bool) -> Option<Value> {
    use TokenKind as T;
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (sa, sb) = (a as i64, b as i64);
    let make = |bits: u64| Some(Value { bits, unsigned });
    if matches!(kind, T::Slash | T::Percent) && b == 0 {
        return if live { None } else { make(0) };
    }
    match kind {
        T::Comma => Some(right),
        T::Star => make(a.wrapping_mul(b)),
        T::Plus => make(a.wrapping_add(b)),
        T::Minus => make(a.wrapping_sub(b)),
        T::Slash => make(if unsigned { a / b } else { sa.wrapping_div(sb) as u64 }),
        T::Percent => make(if unsigned { a % b } else { sa.wrapping_rem(sb) as u64 }),
        T::Pipe => make(a | b),
        T::Caret => make(a ^ b),
        T::Amp => make(a & b),
        T::Shl => Some(Value { bits: if b < 64 { a << b } else { 0 }, unsigned: left.unsigned }),
        T::Shr => {
            let bits =
                if left.unsigned { a.checked_shr(b.min(64) as u32).unwrap_or(0) } else { (sa >> b.min(63)) as u64 };
            Some(Value { bits, unsigned: left.unsigned })
        }
        T::EqEq => Some(truth(a == b)),
        T::NotEq => Some(truth(a != b)),
        T::Lt => Some(truth(if unsigned { a < b } else { sa < sb })),
        T::Le => Some(truth(if unsigned { a <= b } else { sa <= sb })),
        T::Gt => Some(truth(if unsigned { a > b } else { sa > sb })),
        T::Ge => Some(truth(if unsigned { a >= b } else { sa >= sb })),
        _ => make(0),
    }
}
