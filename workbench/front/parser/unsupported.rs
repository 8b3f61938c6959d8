//! What the language understands but does not support yet: each construct is named once and skipped whole, so that
//! everything around it is still examined.

use super::names::NameKind;
use super::{PResult, Parser, Reported};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::Symbol;
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

/// Macros that register functions with a host: `NAME(args) { ... }`.
const REGISTRATIONS: &[&str] =
    &["PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL", "NEURON_LIBRARY"];

impl Parser<'_> {
    /// Reports an unsupported construct.
    #[cold]
    pub(super) fn unsupported(&mut self, span: Span, text: &str, help: &str) -> Reported {
        self.report(Diagnostic::error(Code::Unsupported, span, text).help(help))
    }

    /// Reports and skips `PYBIND11_MODULE(...) { ... }` and its like; whether one stood here.
    pub(super) fn registration(&mut self) -> bool {
        let token = self.peek();
        let name = token.text(self.interner).to_owned();
        if self.kind_at(1) != T::LParen || !REGISTRATIONS.contains(&name.as_str()) {
            return false;
        }
        self.unsupported(
            token.span,
            &format!("`{name}` is not supported yet"),
            "leave it out: kernels are called by their own names",
        );
        self.bump();
        self.skip_brackets();
        self.skip_braces();
        self.eat(T::Semi);
        true
    }

    /// Reports and skips a specifier. `Ok(false)` when it is none.
    pub(super) fn unsupported_specifier(&mut self, word: K) -> PResult<bool> {
        let span = self.peek().span;
        let name = word.spelling();
        match word {
            K::Align | K::Alignas => {
                self.unsupported(span, &format!("`{name}` is not supported yet"), "leave it out");
                self.bump();
                self.skip_brackets();
            }
            K::ClusterDims => {
                self.unsupported(span, "thread block clusters are not supported yet", "leave it out");
                self.bump();
                self.skip_brackets();
            }
            K::Managed => {
                self.unsupported(span, "managed memory is not supported yet", "pass the array as a parameter");
                self.bump();
            }
            K::ThreadLocal | K::Mutable | K::Virtual | K::Explicit | K::Friend => {
                self.unsupported(span, &format!("`{name}` is not supported"), "leave it out");
                self.bump();
            }
            K::Struct | K::Class | K::Union => {
                let (text, help) = record_advice(word);
                return Err(self.unsupported(span, text, help));
            }
            K::Decltype => {
                return Err(self.unsupported(span, "`decltype` is not supported yet", "write the type, or `auto`"));
            }
            K::Operator => return Err(self.operator_overload()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reports an operator function.
    #[cold]
    pub(super) fn operator_overload(&mut self) -> Reported {
        let span = self.peek().span;
        self.unsupported(span, "operator overloads are not supported yet", "write an ordinary function")
    }

    /// Reports and skips a declaration that starts with a keyword we do not follow; whether one stood here.
    pub(super) fn unsupported_declaration(&mut self, word: K) -> bool {
        match word {
            K::Template => self.template(),
            K::Struct | K::Class | K::Union => self.record(word),
            K::Typedef => match self.kind_at(1) {
                T::Keyword(record @ (K::Struct | K::Class | K::Union)) => self.record(record),
                _ => return false,
            },
            K::Namespace => {
                let span = self.bump().span;
                self.unsupported(span, "namespace aliases are not supported yet", "write the namespace's own name");
                self.skip_to_semi();
            }
            K::Asm => self.unsupported_statement(word),
            _ => return false,
        }
        true
    }

    /// `template < ... > declaration`
    fn template(&mut self) {
        let start = self.bump().span;
        let mut depth = 0i32;
        while !matches!(self.kind(), T::Eof | T::Semi | T::LBrace | T::RBrace) {
            depth += match self.kind() {
                T::Lt => 1,
                T::Gt => -1,
                T::Shr => -2,
                T::LaunchClose => -3,
                _ => 0,
            };
            if self.at(T::LParen) {
                self.skip_brackets();
                continue;
            }
            if depth == 0 && !matches!(self.kind(), T::Gt | T::Shr | T::LaunchClose) {
                break;
            }
            self.bump();
            if depth <= 0 {
                break;
            }
        }
        self.unsupported(
            self.since(start),
            "templates are not supported yet",
            "write the function once for each type, with the type in place of the parameter",
        );
        while self.at_word(K::Template) {
            self.bump();
        }
        let first = self.pos;
        if let T::Keyword(K::Struct | K::Class | K::Union | K::Using | K::Enum) = self.kind() {
            if self.kind_at(1) == T::Ident {
                self.skip_name(self.peek_at(1).symbol, NameKind::Type);
            }
            self.skip_to_semi();
            return;
        }
        // The function's name stands before its parameters; `__launch_bounds__(n)` and the like stand after a keyword.
        let mut found = None;
        loop {
            match self.kind() {
                T::LParen => {
                    if let (None, true) = (found, self.pos > first) {
                        let before = self.at_index(self.pos - 1);
                        found = (before.kind == T::Ident).then_some(before.symbol);
                    }
                    self.skip_brackets();
                }
                T::LBrace => {
                    self.skip_braces();
                    break;
                }
                T::Semi => {
                    self.bump();
                    break;
                }
                T::RBrace | T::Eof => break,
                _ => {
                    self.bump();
                }
            }
        }
        if let Some(name) = found {
            self.skip_name(name, NameKind::Value);
        }
    }

    /// struct, class or union, with `typedef` before it or not.
    fn record(&mut self, word: K) {
        let typedef = self.eat_word(K::Typedef);
        let start = self.bump().span;
        while matches!(self.kind(), T::Keyword(K::Align | K::Alignas | K::Attribute)) || self.at(T::LBracket) {
            if !self.at(T::LBracket) {
                self.bump();
            }
            self.skip_brackets();
        }
        let name = self.peek();
        if name.kind == T::Ident {
            self.bump();
            self.skip_name(name.symbol, NameKind::Type);
        }
        let (text, help) = record_advice(word);
        self.unsupported(self.since(start), text, help);
        while !matches!(self.kind(), T::LBrace | T::Semi | T::RBrace | T::Eof) {
            self.bump();
        }
        self.skip_braces();
        let tail = self.pos;
        self.skip_to_semi();
        for index in tail..self.pos {
            let token = self.at_index(index);
            if token.kind == T::Ident {
                self.skip_name(token.symbol, if typedef { NameKind::Type } else { NameKind::Value });
            }
        }
    }

    /// Declares a name that later stages know nothing of.
    fn skip_name(&mut self, name: Symbol, kind: NameKind) {
        self.names.declare(name, kind);
        self.unit.skipped.insert(name);
    }

    /// Skips to past the next `;` outside brackets and braces; a closing brace ends it, too.
    fn skip_to_semi(&mut self) {
        loop {
            match self.kind() {
                T::Semi => {
                    self.bump();
                    return;
                }
                T::RBrace | T::Eof => return,
                T::LBrace => self.skip_braces(),
                T::LParen | T::LBracket => {
                    self.skip_brackets();
                }
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Reports and skips a whole statement that starts with `word`.
    pub(super) fn unsupported_statement(&mut self, word: K) {
        let span = self.peek().span;
        let (text, help) = match word {
            K::Goto => ("`goto` is not supported", "write a loop with `break` and `continue`, or a flag"),
            K::Asm => {
                ("inline PTX is not supported yet", "write the operation in C++, or call CUDA's intrinsic for it")
            }
            K::Throw => ("exceptions are not supported", "return an error code, or use `assert`"),
            K::Delete => ("`delete` is not supported", "use a local array, or pass the memory as a parameter"),
            _ => {
                self.exception_handling();
                return;
            }
        };
        self.unsupported(span, text, help);
        self.skip_to_semi();
    }

    /// `try { ... } catch (...) { ... }`
    pub(super) fn exception_handling(&mut self) {
        let span = self.bump().span;
        self.unsupported(span, "exceptions are not supported", "return an error code, or use `assert`");
        self.skip_braces();
        while self.eat_word(K::Catch) {
            self.skip_brackets();
            self.skip_braces();
        }
    }

    /// A lambda expression: `[captures] (params) specifiers { ... }`.
    pub(super) fn lambda(&mut self) -> Span {
        let start = self.peek().span;
        self.skip_brackets();
        self.unsupported(self.since(start), "lambdas are not supported yet", "write a `__device__` function");
        while !matches!(self.kind(), T::LBrace | T::Semi | T::Comma | T::RParen | T::RBrace | T::Eof) {
            if self.at(T::LParen) {
                self.skip_brackets();
            } else {
                self.bump();
            }
        }
        self.skip_braces();
        self.since(start)
    }

    /// `<<< grid, block >>> ( args )` after a kernel's name.
    pub(super) fn launch(&mut self) -> Span {
        let start = self.bump().span;
        while !matches!(self.kind(), T::LaunchClose | T::Semi | T::LBrace | T::RBrace | T::Eof) {
            match self.kind() {
                T::LParen | T::LBracket => {
                    self.skip_brackets();
                }
                _ => {
                    self.bump();
                }
            }
        }
        self.eat(T::LaunchClose);
        self.unsupported(
            self.since(start),
            "launches in host functions are not supported yet",
            "call the kernel from Python or Rust with its grid and block",
        );
        self.skip_brackets();
        self.since(start)
    }

    /// An expression that starts with `new`, `throw` and the like: skipped up to where it must end.
    pub(super) fn unsupported_expression(&mut self, word: K) -> Reported {
        let span = self.peek().span;
        let (text, help) = match word {
            K::New => ("`new` is not supported", "use a local array, or pass the memory as a parameter"),
            K::Delete => ("`delete` is not supported", "use a local array, or pass the memory as a parameter"),
            K::Throw => ("exceptions are not supported", "return an error code, or use `assert`"),
            K::Typeid | K::DynamicCast => ("run-time type information is not supported", "leave it out"),
            K::This => ("structs are not supported yet", "pass the members as separate parameters"),
            K::Decltype => ("`decltype` is not supported yet", "write the type"),
            _ => ("this is not supported", "leave it out"),
        };
        self.unsupported(span, text, help)
    }
}

/// What to say about structs and their kin.
fn record_advice(word: K) -> (&'static str, &'static str) {
    match word {
        K::Union => ("unions are not supported yet", "convert with `__float_as_int` and its like"),
        K::Class => ("classes are not supported yet", "pass the members as separate parameters"),
        _ => ("structs are not supported yet", "pass the members as separate parameters"),
    }
}
