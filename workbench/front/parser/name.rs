//! Names: qualified ones, template arguments, operators as names.

use std::sync::Arc;

use super::declared_names::{NameEntry, NameKind, NameScopeId};
use super::fundamental_types::is_type_word;
use super::{PResult, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Ident, Name, NamePart, Symbol, TemplateArg, TemplateArgKind};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// Most parts of one name.
pub(super) const MAX_PARTS: usize = 64;

/// Place of a name, which decides doubtful `<`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Place where a type or the name of a declaration may stand.
    Type,
    /// A name in an expression.
    Expr,
}

/// Place where the next part of a qualified name is looked up.
#[derive(Clone, Copy)]
pub(super) enum Lookup {
    /// It is the first part.
    Here,
    /// After a leading `::`.
    Global,
    /// The next part is in a scope of the text.
    Scope(NameScopeId),
    /// The next part is in a namespace that the text does not declare.
    Foreign,
    /// The next part is in a type that is not known yet, as after `T::`.
    Dependent,
}

impl Parser<'_> {
    /// The entry of a part of a name.
    pub(super) fn lookup_part(&mut self, at: Lookup, symbol: Symbol) -> NameEntry {
        let free = NameEntry::plain(NameKind::Free);
        match at {
            Lookup::Here => self.names.lookup(symbol, self.interner),
            Lookup::Global => match self.names.global(symbol) {
                Some(entry) => entry,
                None => free,
            },
            Lookup::Scope(scope) => self.names.member(scope, symbol).unwrap_or(free),
            Lookup::Foreign if super::declared_names::is_builtin_type(self.interner.name(symbol)) => {
                NameEntry::plain(NameKind::Type)
            }
            Lookup::Foreign | Lookup::Dependent => free,
        }
    }

    /// The place where the part after `entry::` is looked up.
    pub(super) fn lookup_in(at: Lookup, entry: NameEntry) -> Lookup {
        match (entry.scope, entry.kind) {
            (Some(scope), _) => Lookup::Scope(scope),
            (None, NameKind::Type) => Lookup::Dependent,
            _ if matches!(at, Lookup::Dependent) => Lookup::Dependent,
            _ => Lookup::Foreign,
        }
    }

    /// A name of at least one part. What `<` means after a part is decided as [`Parser::scan_name`] does.
    pub(super) fn name(&mut self, position: Position) -> PResult<Name> {
        let start = self.peek().span;
        let global = self.eat(T::ColonColon);
        let mut at = if global { Lookup::Global } else { Lookup::Here };
        let mut parts = Vec::new();
        loop {
            let template = !parts.is_empty() && self.eat_word(K::Template);
            let ident = match self.kind() {
                T::Keyword(K::Operator) => self.operator_name()?,
                T::Tilde if self.kind_at(1) == T::Ident => self.destructor_name(),
                _ => self.ident("a name")?,
            };
            let entry = self.lookup_part(at, ident.name);
            let args = if self.at(T::Lt) && (template || self.args_follow(entry, at, self.pos, position).is_some()) {
                Some(self.template_args()?)
            } else {
                None
            };
            parts.push(NamePart { ident, args });
            let more = self.at(T::ColonColon)
                && match self.kind_at(1) {
                    T::Ident | T::Keyword(K::Template | K::Operator) => true,
                    T::Tilde => self.kind_at(2) == T::Ident,
                    _ => false,
                };
            if !more {
                break;
            }
            if parts.len() >= MAX_PARTS {
                let span = self.since(start);
                return Err(self.too_deep(span));
            }
            self.bump();
            at = Self::lookup_in(at, entry);
        }
        Ok(Name { global, parts, span: self.since(start) })
    }

    /// The scope that the qualifiers of a name lead to.
    pub(super) fn scope_of(&mut self, parts: &[NamePart], global: bool) -> Option<NameScopeId> {
        let mut at = if global { Lookup::Global } else { Lookup::Here };
        let mut scope = None;
        for part in parts {
            let entry = self.lookup_part(at, part.ident.name);
            scope = entry.scope;
            at = Self::lookup_in(at, entry);
        }
        scope
    }

    /// `~S`
    fn destructor_name(&mut self) -> Ident {
        let start = self.bump().span;
        let token = self.bump();
        let text = format!("~{}", token.text(self.interner));
        Ident { name: self.interner.intern(&text), span: self.since(start) }
    }

    /// `operator+`, `operator()`, `operator float`: one identifier by its spelling.
    fn operator_name(&mut self) -> PResult<Ident> {
        let start = self.bump().span;
        let token = self.peek();
        let sign: String = match token.kind {
            T::LParen if self.kind_at(1) == T::RParen => {
                self.bump();
                "()".to_owned()
            }
            T::LBracket if self.kind_at(1) == T::RBracket => {
                self.bump();
                "[]".to_owned()
            }
            T::Str => {
                let text = "literals with operators of one's own are not supported";
                return Err(self.unsupported(token.span, text, "call an ordinary function with the value"));
            }
            T::Keyword(K::New | K::Delete) => {
                let word = token.text(self.interner).to_owned();
                let is_array = self.kind_at(1) == T::LBracket && self.kind_at(2) == T::RBracket;
                if is_array {
                    self.bump();
                    self.bump();
                }
                format!(" {word}{}", if is_array { "[]" } else { "" })
            }
            kind if is_overloadable(kind) => kind.spelling().to_owned(),
            _ => return Err(self.expected("an operator")),
        };
        self.bump();
        let name = self.interner.intern(&format!("operator{sign}"));
        Ok(Ident { name, span: self.since(start) })
    }

    /// `< ... >`
    pub(super) fn template_args(&mut self) -> PResult<Arc<[TemplateArg]>> {
        let open = self.peek().span;
        self.nested(|p| {
            let outer = std::mem::replace(&mut p.in_angle, true);
            let args = p.template_arg_list(open);
            p.in_angle = outer;
            args
        })
    }

    fn template_arg_list(&mut self, open: Span) -> PResult<Arc<[TemplateArg]>> {
        self.bump();
        let mut args = Vec::new();
        if !self.at_angle_close() {
            loop {
                args.push(self.template_arg()?);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        self.close_angle(open)?;
        Ok(args.into())
    }

    fn template_arg(&mut self) -> PResult<TemplateArg> {
        let start = self.peek().span;
        let kind = if self.type_arg_follows() {
            TemplateArgKind::Type(self.type_id()?)
        } else {
            TemplateArgKind::Expr(self.assignment_expr()?)
        };
        let pack = self.eat(T::Ellipsis);
        Ok(TemplateArg { kind, pack, span: self.since(start) })
    }

    /// The template argument here is a type.
    fn type_arg_follows(&mut self) -> bool {
        match self.kind() {
            T::Keyword(word) if super::fundamental_types::is_simple_type_word(word) => {
                let mut at = self.pos;
                while matches!(self.at_index(at).kind, T::Keyword(word) if super::fundamental_types::is_simple_type_word(word))
                {
                    at += 1;
                }
                match self.at_index(at).kind {
                    T::LBrace => false,
                    T::LParen => self.function_type_at(at),
                    _ => true,
                }
            }
            T::Keyword(word) => is_type_word(word),
            T::Ident | T::ColonColon => {
                if self.declared_value(self.pos) {
                    return false;
                }
                let Some(scan) = self.scan_name(self.pos) else { return false };
                let next = self.at_index(scan.end).kind;
                match scan.kind {
                    NameKind::Value => false,
                    NameKind::Type => match next {
                        T::LBrace | T::ColonColon => false,
                        T::LParen => self.function_type_at(scan.end),
                        _ => true,
                    },
                    _ => {
                        if matches!(next, T::Keyword(K::Const | K::Volatile)) {
                            return true;
                        }
                        if next == T::LParen && self.function_type_at(scan.end) {
                            let end = self.bracket_end(scan.end).map_or(T::Eof, |at| self.at_index(at + 1).kind);
                            return matches!(end, T::Comma | T::Gt | T::Shr | T::LaunchClose);
                        }
                        let end = self.skip_pointers(scan.end);
                        end > scan.end
                            && matches!(
                                self.at_index(end).kind,
                                T::Comma | T::Gt | T::Shr | T::LaunchClose | T::Ellipsis
                            )
                    }
                }
            }
            _ => false,
        }
    }

    /// The `(` at `index`, after a type, starts parameters or a declarator rather than a value.
    pub(super) fn function_type_at(&mut self, index: usize) -> bool {
        match self.at_index(index + 1).kind {
            T::RParen | T::Star | T::Amp | T::AmpAmp => true,
            _ => self.type_at(index + 1),
        }
    }

    /// Template arguments or parameters end here.
    pub(super) fn at_angle_close(&self) -> bool {
        matches!(self.kind(), T::Gt | T::Shr | T::LaunchClose)
    }

    /// The `>` of the `<` at `open`, which may be the first of a `>>`.
    pub(super) fn close_angle(&mut self, open: Span) -> PResult<()> {
        match self.kind() {
            T::Gt => {
                self.bump();
            }
            T::Shr => self.split_angle(1),
            T::LaunchClose => self.split_angle(2),
            _ => {
                let (found, span) = (self.found(), self.peek().span);
                let text = format!("`>` is expected here, not {found}");
                let diag = Diagnostic::error(Code::Syntax, span, text);
                return Err(self.report(diag.related(open, "to close this `<`")));
            }
        }
        Ok(())
    }
}

/// Signs that can follow `operator` as they are.
pub(in crate::front) fn is_overloadable(kind: T) -> bool {
    matches!(
        kind,
        T::Plus
            | T::Minus
            | T::Star
            | T::Slash
            | T::Percent
            | T::Caret
            | T::Amp
            | T::Pipe
            | T::Tilde
            | T::Bang
            | T::Assign
            | T::Lt
            | T::Gt
            | T::PlusAssign
            | T::MinusAssign
            | T::StarAssign
            | T::SlashAssign
            | T::PercentAssign
            | T::CaretAssign
            | T::AmpAssign
            | T::PipeAssign
            | T::Shl
            | T::Shr
            | T::ShlAssign
            | T::ShrAssign
            | T::EqEq
            | T::NotEq
            | T::Le
            | T::Ge
            | T::AmpAmp
            | T::PipePipe
            | T::PlusPlus
            | T::MinusMinus
            | T::Comma
            | T::Arrow
            | T::ArrowStar
    )
}
