//! `printf`: the format must be a literal, its conversions and the arguments must fit.

use super::check::bare;
use super::typed_tree::{Node, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind};
use crate::front::lower::Lowerer;
use crate::front::types::{Kind, Num};
use crate::ir::printf_format::{self, ArgKind, Conversion, Count, Piece};
use crate::ir::{Format, FormatData};
use crate::source::Span;

/// An argument that the format asks for.
struct Wanted {
    kind: ArgKind,
    /// The conversion as written.
    text: String,
    /// A `*` of it rather than its value.
    star: bool,
    /// `%d` for `%lld` and the other way round.
    other_size: Option<String>,
}

impl<'a> Lowerer<'a> {
    /// `printf(format, args...)`: the format as written, all arguments checked.
    pub(in crate::front::lower) fn printf(
        &mut self,
        format: Option<&'a Expr>,
        mut typed: Vec<Typed>,
        span: Span,
    ) -> Typed {
        let Some(first) = format else {
            self.report(
                Diagnostic::error(Code::ArgumentCount, span, "`printf` needs a format")
                    .help("write `printf(\"...\\n\")`"),
            );
            return Typed::error(span);
        };
        let ExprKind::Str(text) = &bare(first).kind else {
            let message = "the format of `printf` must be a string literal";
            self.report(Diagnostic::error(Code::BadPrintf, first.span, message).help("write `printf(\"%s\", text)`"));
            return Typed::error(span);
        };
        typed.drain(..1.min(typed.len()));
        let pieces = match printf_format::parse(text) {
            Ok(pieces) => pieces,
            Err(error) => {
                self.report(Diagnostic::error(Code::BadPrintf, first.span, error.message));
                return Typed::error(span);
            }
        };
        if typed.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let wanted = wanted(text, &pieces);
        if typed.len() < wanted.len() {
            let message = format!("the format asks for {}, and {} given", plural(wanted.len()), is_or_are(typed.len()));
            let missing = &wanted[typed.len()].text;
            self.report(
                Diagnostic::error(Code::BadPrintf, span, message)
                    .label(format!("nothing for `{missing}`"))
                    .help("give one argument for each conversion; a percent sign itself is `%%`"),
            );
            return Typed::error(span);
        }
        if typed.len() > wanted.len() {
            let message = format!("the format asks for {}, and {} given", plural(wanted.len()), is_or_are(typed.len()));
            let extra = typed[wanted.len()].span;
            self.report(Diagnostic::warning(Code::BadPrintf, extra, message).label("never printed"));
        }
        let mut values = Vec::with_capacity(wanted.len());
        let mut rest = typed.into_iter();
        for (wanted, arg) in wanted.iter().zip(rest.by_ref()) {
            values.push(self.printf_argument(wanted, arg));
        }
        // Arguments beyond the format are evaluated, for their effects, and passed nowhere.
        let extra: Vec<Typed> = rest.map(|e| self.operand(e)).collect();
        if values.iter().chain(&extra).any(Typed::is_error) {
            return Typed::error(span);
        }
        let id = Format::new(self.module.formats.len());
        self.module.formats.push(FormatData { text: text.clone(), span: first.span });
        let mut call = Typed::value(Num::Int, span, Node::Printf(id, values));
        for e in extra.into_iter().rev() {
            call = Typed::value(Num::Int, span, Node::Comma(Box::new(e), Box::new(call)));
        }
        call
    }

    fn printf_argument(&mut self, wanted: &Wanted, arg: Typed) -> Typed {
        let arg = self.operand(arg);
        if arg.is_error() {
            return arg;
        }
        let number = match &arg.ty.kind {
            Kind::Enum(e) => Some(e.underlying),
            _ => arg.ty.num(),
        };
        let promoted = number.map(|n| if n == Num::Float { Num::Double } else { n.promoted() });
        let bits = promoted.filter(|n| n.is_integral()).map(|n| n.scalar().bits());
        let fits = match wanted.kind {
            ArgKind::Int32 => bits == Some(32),
            ArgKind::Int64 => bits == Some(64),
            ArgKind::Double => promoted == Some(Num::Double),
            ArgKind::Str => {
                arg.ty.pointee().is_some_and(|p| matches!(p.num(), Some(Num::Char | Num::SChar | Num::UChar)))
            }
            ArgKind::Pointer => matches!(arg.ty.kind, Kind::Pointer(_) | Kind::Nullptr),
        };
        if fits {
            return match promoted {
                Some(num) => self.number(arg, num),
                None => arg,
            };
        }
        let what = if wanted.star { format!("`*` of `{}`", wanted.text) } else { format!("`{}`", wanted.text) };
        let message = format!("{what} prints {}, and this is `{}`", wanted.kind.describe(), arg.ty);
        let help = match (wanted.kind, promoted) {
            (_, _) if wanted.star => Some("pass an `int`".to_owned()),
            (ArgKind::Int32 | ArgKind::Int64, Some(num)) if num.is_integral() => {
                wanted.other_size.as_ref().map(|other| format!("write `{other}`"))
            }
            (ArgKind::Int32 | ArgKind::Int64, Some(_)) => Some("write `%f`, or cast to an integer".to_owned()),
            (ArgKind::Double, Some(num)) => {
                let letter = if num.scalar().bits() == 64 { "%lld" } else { "%d" };
                Some(format!("write `{letter}`, or cast to `float`"))
            }
            (ArgKind::Str, Some(num)) if num.is_integral() => Some("write `%d`".to_owned()),
            (ArgKind::Str, Some(_)) => Some("write `%f`".to_owned()),
            (_, None) if arg.ty.pointee().is_some() => {
                Some("write `%p` for the address, or read what it points at".to_owned())
            }
            _ => None,
        };
        let mut diag = Diagnostic::error(Code::BadPrintf, arg.span, message);
        diag.help = help;
        self.report(diag);
        Typed::error(arg.span)
    }
}

/// The arguments a format asks for, in order.
fn wanted(text: &str, pieces: &[Piece]) -> Vec<Wanted> {
    let mut all = Vec::new();
    for piece in pieces {
        let Piece::Conversion(conv) = piece else { continue };
        let written = text.get(conv.start..conv.end).unwrap_or("%").to_owned();
        for count in [conv.width, conv.precision] {
            if count == Some(Count::Star) {
                all.push(Wanted { kind: ArgKind::Int32, text: written.clone(), star: true, other_size: None });
            }
        }
        let kind = conv.arg_kind();
        all.push(Wanted { kind, other_size: other_size(&written, conv, kind), text: written, star: false });
    }
    all
}

/// The conversion for integers of the other size: `%5d` and `%5lld`.
fn other_size(written: &str, conv: &Conversion, kind: ArgKind) -> Option<String> {
    let stem = written.strip_suffix(conv.letter)?.trim_end_matches(['l', 'h', 'z', 'j', 't', 'L']);
    match kind {
        ArgKind::Int32 if conv.letter == 'c' => None,
        ArgKind::Int32 => Some(format!("{stem}ll{}", conv.letter)),
        ArgKind::Int64 => Some(format!("{stem}{}", conv.letter)),
        _ => None,
    }
}

fn plural(n: usize) -> String {
    match n {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

fn is_or_are(n: usize) -> String {
    match n {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        n => format!("{n} are"),
    }
}
