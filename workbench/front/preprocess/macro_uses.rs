//! Uses of macros, so that a message about what one made can name it.

use std::cmp::Reverse;

use crate::diagnostic::Diagnostic;
use crate::front::ast::{Interner, Symbol};
use crate::source::Span;

/// A use of a macro in the text, not in another macro's replacement.
#[derive(Debug, Clone, Copy)]
pub struct MacroUse {
    /// The span from the macro's name to the `)` of its arguments.
    pub span: Span,
    /// The macro.
    pub name: Symbol,
    /// Name where it is defined; [`Span::NONE`] for predefined ones.
    pub defined: Span,
}

/// Adds the macro that each message's place lies in the use of, with the place of its definition. Predefined macros have none.
pub fn explain(diags: &mut [Diagnostic], mut uses: Vec<MacroUse>, interner: &Interner) {
    if diags.is_empty() || uses.is_empty() {
        return;
    }
    let key = |span: Span| (span.file.0, span.start);
    // Uses nest (one stands in the argument of another) or lie apart: each knows the one around it.
    uses.sort_by_key(|u| (key(u.span), Reverse(u.span.end)));
    let mut outer: Vec<Option<usize>> = Vec::with_capacity(uses.len());
    let mut open: Option<usize> = None;
    for (i, this) in uses.iter().enumerate() {
        while let Some(around) = open
            && !contains(uses[around].span, this.span)
        {
            open = outer[around];
        }
        outer.push(open);
        open = Some(i);
    }
    for diag in diags {
        if diag.span.is_none() {
            continue;
        }
        let mut around = uses.partition_point(|u| key(u.span) <= key(diag.span)).checked_sub(1);
        while let Some(i) = around
            && !contains(uses[i].span, diag.span)
        {
            around = outer[i];
        }
        let Some(found) = around.map(|i| uses[i]) else { continue };
        let said = diag.related.iter().any(|(span, _)| *span == found.defined);
        if !found.defined.is_none() && !said {
            let label = format!("in expansion of macro `{}`", interner.name(found.name));
            diag.related.push((found.defined, crate::diagnostic::shortened(label)));
        }
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
