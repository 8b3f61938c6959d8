//! Constructs that the language has and that are not supported yet: each is named once and skipped whole, so that
//! everything around it is still examined.

use super::{PResult, Parser, Reported};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::lexer::{Keyword as K, TokenKind as T};
use crate::source::Span;

impl Parser<'_> {
    /// Reports an unsupported construct.
    #[cold]
    pub(super) fn unsupported(&mut self, span: Span, text: &str, help: &str) -> Reported {
        self.report(Diagnostic::error(Code::Unsupported, span, text).help(help))
    }

    /// Reports and skips a specifier. `Ok(false)` when it is none.
    pub(super) fn unsupported_specifier(&mut self, word: K) -> PResult<bool> {
        let span = self.peek().span;
        let name = word.spelling();
        match word {
            K::ClusterDims => {
                self.unsupported(span, "thread block clusters are not supported", "leave it out");
                self.bump();
                self.skip_brackets();
            }
            K::BlockSize => {
                let help = "leave it out, or write `__launch_bounds__` with the number of threads";
                self.unsupported(span, "`__block_size__` is not supported", help);
                self.bump();
                self.skip_brackets();
            }
            K::ThreadLocal => {
                self.unsupported(
                    span,
                    &format!("`{name}` is not supported"),
                    "leave it out: locals belong to a thread",
                );
                self.bump();
            }
            K::Virtual => {
                let help = "leave `virtual` out, or choose the type with a template parameter";
                self.unsupported(span, "virtual functions are not supported", help);
                self.bump();
            }
            _ => return Ok(false),
        }
        Ok(true)
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
            _ => ("inline PTX is not supported", "write the operation in C++, or call CUDA's intrinsic for it"),
        };
        let tokens = self.tokens.get(self.pos..).unwrap_or_default();
        let what = if word == K::Asm { crate::front::ptx::refusal(tokens, self.interner) } else { None };
        let text = what.map_or(text.to_owned(), |what| format!("{text} here: {what}"));
        self.unsupported(span, &text, help);
        self.skip_to_semi();
    }

    /// An expression that starts with `typeid` and the like: skipped up to where it must end.
    pub(super) fn unsupported_expression(&mut self, word: K) -> Reported {
        let span = self.peek().span;
        let (text, help) = match word {
            K::Typeid | K::DynamicCast => ("run-time type information is not supported", "leave it out"),
            _ => ("this is not supported", "leave it out"),
        };
        self.unsupported(span, text, help)
    }
}
