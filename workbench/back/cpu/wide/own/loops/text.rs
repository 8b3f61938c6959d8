//! Pieces of a loop's text.

use super::super::emit::skip;
use super::super::parse::{Expr, Reader, Ty};
use super::super::token::Tok;

/// Whether computing something does nothing else.
pub(super) fn does_nothing(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Int(..) | Expr::Real(..) | Expr::Name(_) => true,
        Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) => does_nothing(a),
        Expr::Binary(_, a, b) | Expr::Index(a, b) => does_nothing(a) && does_nothing(b),
        Expr::Cond(parts) => parts.iter().all(does_nothing),
        Expr::Call(callee, args) => {
            let Expr::Name(name) = **callee else { return false };
            let of_lanes =
                ["lt_", "le_", "gt_", "ge_", "eq_", "ne_", "line_", "splat_", "widen_", "add_", "sub_", "mul_", "shl_"];
            let known = matches!(name, "likely" | "unlikely" | "within" | "f32_of");
            (known || of_lanes.iter().any(|start| name.starts_with(start))) && args.iter().all(does_nothing)
        }
        Expr::Assign(..) => false,
    }
}

/// The names that a body's statements set, up to the bracket that closes it.
pub(super) fn assigned<'t>(r: &Reader<'_, 't>) -> Option<Vec<&'t str>> {
    let (mut depth, mut set) = (0, Vec::new());
    // From the bracket on.
    for words in r.words[r.at - 1..].windows(3) {
        match words {
            [_, _, Tok::Sign("|=" | "&=" | "+=" | "-=")] => return None,
            // What begins a statement; a declaration has its type before the name.
            [Tok::Sign(";" | "{" | "}"), Tok::Name(name), Tok::Sign("=")] if !set.contains(name) => set.push(*name),
            _ => {}
        }
        match words[0] {
            Tok::Sign("{") => depth += 1,
            Tok::Sign("}") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(set);
        }
    }
    None
}

/// Whether the rest of the block that the reader is in has one of some names.
pub(super) fn is_mentioned(r: &Reader<'_, '_>, names: &[&str]) -> bool {
    let mut depth = 0;
    for word in &r.words[r.at..] {
        match word {
            Tok::Sign("{") => depth += 1,
            Tok::Sign("}") if depth == 0 => return false,
            Tok::Sign("}") => depth -= 1,
            Tok::Name(name) if names.contains(name) => return true,
            _ => {}
        }
    }
    true
}

/// `if (cond) { } else { ... goto label; }` and `if (!cond) { ... break; }`: the condition to stay, and the label.
pub(super) fn leaving<'t>(r: &mut Reader<'_, 't>) -> Option<(Expr<'t>, Option<&'t str>)> {
    r.eat_name("if");
    r.want("(").ok()?;
    let cond = r.expr().ok()?;
    r.want(")").ok()?;
    let cond = match cond {
        Expr::Unary("!", cond) => *cond,
        cond => {
            r.want("{").ok()?;
            r.want("}").ok()?;
            if !r.eat_name("else") {
                return None;
            }
            cond
        }
    };
    skip(r).ok()?;
    // It leaves in the end.
    match r.words.get(r.at.checked_sub(4)?..r.at)? {
        [_, Tok::Name("break"), Tok::Sign(";"), Tok::Sign("}")] => Some((cond, None)),
        [Tok::Name("goto"), Tok::Name(label), Tok::Sign(";"), Tok::Sign("}")] => Some((cond, Some(label))),
        _ => None,
    }
}

/// `if (unlikely((budget -= cost) < 0)) { ... }`: the cost, and where the bracket is.
pub(super) fn budget(r: &mut Reader<'_, '_>) -> Option<(i32, usize)> {
    if !r.eat_name("if") {
        return None;
    }
    r.want("(").ok()?;
    let cond = r.expr().ok()?;
    r.want(")").ok()?;
    let Expr::Call(callee, args) = cond else { return None };
    let ([Expr::Binary("<", assign, zero)], Expr::Name("unlikely")) = (&args[..], &*callee) else { return None };
    let (Expr::Assign("-", name, cost), Expr::Int(0, ..)) = (&**assign, &**zero) else { return None };
    let (Expr::Name("budget"), Expr::Int(cost, ..)) = (&**name, &**cost) else { return None };
    let refill = r.at;
    skip(r).ok()?;
    Some((i32::try_from(*cost).ok()?, refill))
}

/// `const type name = expression;`.
pub(super) fn declared<'t>(r: &mut Reader<'_, 't>) -> Option<(Ty, &'t str, Expr<'t>)> {
    let (ty, constant) = r.ty().ok()?;
    let name = r.name().ok()?;
    if !constant || !r.eat("=") {
        return None;
    }
    let expr = r.expr().ok()?;
    r.want(";").ok()?;
    Some((ty, name, expr))
}
