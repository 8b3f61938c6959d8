//! Implicit conversions and their ranking ([conv], [over.ics.rank]), and the choice among overloads that follows from it.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::types::{Kind, Num, Ty};

/// Argument as conversions look at it.
#[derive(Debug, Clone)]
pub struct Arg {
    /// Type.
    pub ty: Ty,
    /// The argument is a place.
    pub lvalue: bool,
    /// A place whose value may be taken over.
    pub xvalue: bool,
    /// The argument is `0` or `nullptr`.
    pub null: bool,
    /// A braced list or a set of functions: its index in the lowerer's table.
    pub list: Option<u32>,
}

impl From<&Typed> for Arg {
    fn from(e: &Typed) -> Self {
        let list = match e.node {
            Node::Braced(at) | Node::Overloads(at) => Some(at),
            _ => None,
        };
        Arg { ty: e.ty.clone(), lvalue: e.lvalue, xvalue: e.xvalue, null: e.null, list }
    }
}

/// The three ranks of standard conversions, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Identity, lvalue to rvalue, decay, added qualifiers.
    Exact,
    /// Integer promotion, `float` to `double`.
    Promotion,
    /// Every other arithmetic or pointer conversion, and that to a base.
    Conversion,
    /// A conversion by a constructor or conversion function.
    User,
}

/// One implicit conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    /// Rank.
    pub rank: Rank,
    /// A pointer to `bool`: worse than any other conversion.
    to_bool: bool,
    /// A pointer to `void*`: worse than staying.
    to_void: bool,
    /// Qualifiers were added below a pointer or reference.
    qualified: bool,
    /// A value bound to an lvalue reference, where an rvalue reference would do too.
    to_lvalue: bool,
    /// The conversion is not to a `std::initializer_list`, for which a braced list is best.
    no_list: bool,
    /// Number of steps down to a base.
    base: u32,
    /// A reference was bound: what it is bound to and with which qualifiers is compared with other references only.
    reference: bool,
}

impl Conversion {
    const EXACT: Conversion = Conversion {
        rank: Rank::Exact,
        to_bool: false,
        to_void: false,
        qualified: false,
        to_lvalue: false,
        no_list: true,
        base: 0,
        reference: false,
    };

    /// The conversion of the object a method is called on.
    pub fn object(qualified: bool) -> Self {
        Conversion { qualified, reference: true, ..Self::EXACT }
    }

    /// A conversion of a rank, without anything special.
    pub fn of(rank: Rank) -> Self {
        Conversion { rank, ..Self::EXACT }
    }

    /// The conversion of a braced list to a `std::initializer_list` whose elements convert so at worst.
    pub fn of_list(self) -> Self {
        Conversion { no_list: false, ..self }
    }

    fn bound(self) -> Self {
        Conversion { reference: true, ..self }
    }

    /// The conversion by what makes a value, which then is bound to `to` where that is a reference.
    pub fn made_for(self, to: &Ty) -> Self {
        match to.kind {
            Kind::Reference(_) => Conversion { to_lvalue: true, ..self.bound() },
            Kind::RvalueReference(_) => self.bound(),
            _ => self,
        }
    }

    /// `Less` when `self` is the better one.
    pub fn order(&self, other: &Self) -> Ordering {
        let key = |c: &Self| (c.no_list, c.rank, c.to_bool, c.to_void, c.base);
        let detail = |c: &Self| (c.to_lvalue, c.qualified);
        let details =
            if self.reference == other.reference { detail(self).cmp(&detail(other)) } else { Ordering::Equal };
        key(self).cmp(&key(other)).then(details)
    }
}

/// The implicit conversion of an argument to a type, if there is one.
pub fn implicit(arg: &Arg, to: &Ty) -> Option<Conversion> {
    if arg.ty.is_error() || to.is_error() {
        return Some(Conversion::EXACT);
    }
    match &to.kind {
        Kind::Reference(target) => return reference(arg, target).map(Conversion::bound),
        Kind::RvalueReference(target) => return rvalue_reference(arg, target).map(Conversion::bound),
        _ => {}
    }
    if arg.list.is_some() {
        return None;
    }
    let from = arg.ty.decayed();
    if from.kind == to.kind {
        return if from.is_void() { None } else { Some(Conversion::EXACT) };
    }
    match (&from.kind, &to.kind) {
        (Kind::Num(a), Kind::Num(b)) => Some(Conversion::of(arithmetic(*a, *b))),
        (Kind::Enum(e), Kind::Num(b)) if !e.scoped => {
            let promoted = *b == e.underlying.promoted() || *b == e.underlying;
            Some(Conversion::of(if promoted { Rank::Promotion } else { Rank::Conversion }))
        }
        (Kind::Num(_) | Kind::Nullptr, Kind::Pointer(_)) if arg.null => Some(Conversion::of(Rank::Conversion)),
        (Kind::Nullptr, Kind::Pointer(_)) => Some(Conversion::of(Rank::Conversion)),
        (Kind::Pointer(_), Kind::Num(Num::Bool)) => {
            Some(Conversion { to_bool: true, ..Conversion::of(Rank::Conversion) })
        }
        (Kind::Pointer(a), Kind::Pointer(b)) => pointer(a, b),
        (Kind::Struct(_), Kind::Struct(_)) => base(&from, to).or_else(|| {
            let plain = |t: &Ty| t.as_struct().and_then(|s| s.vector) == Some((Num::UInt, 3));
            // `dim3` is made from `uint3`, and gives one.
            (plain(&from) && plain(to)).then_some(Conversion::of(Rank::User))
        }),
        _ => None,
    }
}

/// The conversion of a struct to a base of it.
fn base(from: &Ty, to: &Ty) -> Option<Conversion> {
    let steps = steps_to_base(from, to)?;
    Some(Conversion { base: steps, ..Conversion::of(Rank::Conversion) })
}

fn steps_to_base(from: &Ty, to: &Ty) -> Option<u32> {
    from.layout()?.bases.iter().find_map(
        |(b, _)| {
            if b.kind == to.kind { Some(1) } else { steps_to_base(b, to).map(|n| n + 1) }
        },
    )
}

fn arithmetic(from: Num, to: Num) -> Rank {
    if from == to {
        Rank::Exact
    } else if from.is_integral() && from.promoted() == to || (from, to) == (Num::Float, Num::Double) {
        Rank::Promotion
    } else {
        Rank::Conversion
    }
}

fn pointer(from: &Ty, to: &Ty) -> Option<Conversion> {
    let keeps = (to.is_const || !from.is_const) && (to.is_volatile || !from.is_volatile);
    if similar(from, to, true) {
        return Some(Conversion { qualified: from != to, ..Conversion::EXACT });
    }
    let added = to.is_const != from.is_const || to.is_volatile != from.is_volatile;
    if let Some(conversion) = base(from, to) {
        return keeps.then_some(Conversion { qualified: added, ..conversion });
    }
    let inner = from.innermost();
    let inner_keeps = (to.is_const || !inner.is_const) && (to.is_volatile || !inner.is_volatile);
    (to.is_void() && keeps && inner_keeps).then_some(Conversion {
        to_void: true,
        qualified: added,
        ..Conversion::of(Rank::Conversion)
    })
}

/// A pointer to `from` may become one to `to` by adding qualifiers ([conv.qual]): below the first level where one
/// is added, every level up to the outermost must be const.
fn similar(from: &Ty, to: &Ty, outer_const: bool) -> bool {
    if (from.is_const && !to.is_const) || (from.is_volatile && !to.is_volatile) {
        return false;
    }
    let adds = from.is_const != to.is_const || from.is_volatile != to.is_volatile;
    if adds && !outer_const {
        return false;
    }
    match (&from.kind, &to.kind) {
        (Kind::Pointer(a), Kind::Pointer(b)) => similar(a, b, outer_const && to.is_const),
        (Kind::Array(a, n), Kind::Array(b, m)) => n == m && similar(a, b, outer_const),
        (a, b) => a == b,
    }
}

fn reference(arg: &Arg, target: &Ty) -> Option<Conversion> {
    let keeps = (target.is_const || !arg.ty.is_const) && (target.is_volatile || !arg.ty.is_volatile);
    let same = arg.ty.unqualified() == target.unqualified() || (arg.ty.is_array() && similar(&arg.ty, target, true));
    let derived = if same { None } else { base(&arg.ty, target) };
    if arg.lvalue && (same || derived.is_some()) {
        if keeps && (!arg.xvalue || target.is_const) {
            let qualified = target.is_const != arg.ty.is_const || target.is_volatile != arg.ty.is_volatile;
            return Some(Conversion { qualified, to_lvalue: arg.xvalue, ..derived.unwrap_or(Conversion::EXACT) });
        }
        return None;
    }
    if !target.is_const || target.is_volatile || target.is_array() {
        return None;
    }
    let inner = implicit(arg, &target.unqualified())?;
    Some(Conversion { to_lvalue: true, ..inner })
}

fn rvalue_reference(arg: &Arg, target: &Ty) -> Option<Conversion> {
    let keeps = (target.is_const || !arg.ty.is_const) && (target.is_volatile || !arg.ty.is_volatile);
    let same = arg.ty.unqualified() == target.unqualified();
    let derived = if same { None } else { base(&arg.ty, target) };
    if same || derived.is_some() {
        if (arg.lvalue && !arg.xvalue) || !keeps {
            return None;
        }
        let qualified = target.is_const != arg.ty.is_const || target.is_volatile != arg.ty.is_volatile;
        return Some(Conversion { qualified, ..derived.unwrap_or(Conversion::EXACT) });
    }
    if target.is_array() {
        return None;
    }
    implicit(arg, &target.unqualified())
}

/// Outcome of a choice among overloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The best candidate.
    Best(usize),
    /// None takes the arguments.
    None,
    /// These do equally well.
    Ambiguous(Vec<usize>),
}

/// Chooses among `count` candidates; `arity` gives how many arguments each takes, `param` the type of its parameters.
pub fn choose(
    count: usize,
    args: &[Arg],
    arity: impl Fn(usize) -> RangeInclusive<usize>,
    param: impl Fn(usize, usize) -> Ty,
) -> Choice {
    let mut viable: Vec<(usize, Vec<Conversion>)> = Vec::new();
    for i in 0..count {
        if !arity(i).contains(&args.len()) {
            continue;
        }
        let conversions: Option<Vec<Conversion>> =
            args.iter().enumerate().map(|(j, arg)| implicit(arg, &param(i, j))).collect();
        if let Some(conversions) = conversions {
            viable.push((i, conversions));
        }
    }
    let best = viable.iter().find(|(i, a)| viable.iter().all(|(j, b)| i == j || better(a, b)));
    match (best, viable.len()) {
        (Some((i, _)), _) => Choice::Best(*i),
        (None, 0) => Choice::None,
        (None, _) => Choice::Ambiguous(viable.into_iter().map(|(i, _)| i).collect()),
    }
}

/// No argument worse, one better.
pub fn better(a: &[Conversion], b: &[Conversion]) -> bool {
    let orders = || a.iter().zip(b).map(|(x, y)| x.order(y));
    orders().all(Ordering::is_le) && orders().any(Ordering::is_lt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg(ty: impl Into<Ty>) -> Arg {
        Arg { ty: ty.into(), lvalue: false, xvalue: false, null: false, list: None }
    }

    fn pick(sets: &[&[Ty]], args: &[Arg]) -> Choice {
        choose(sets.len(), args, |i| sets[i].len()..=sets[i].len(), |i, j| sets[i][j].clone())
    }

    #[test]
    fn exact_beats_promotion_beats_conversion() {
        let (int, float, double) = (Ty::int(), Ty::from(Num::Float), Ty::from(Num::Double));
        let set: &[&[Ty]] = &[std::slice::from_ref(&int), std::slice::from_ref(&float), std::slice::from_ref(&double)];
        assert_eq!(pick(set, &[arg(Num::Short)]), Choice::Best(0));
        assert_eq!(pick(set, &[arg(Num::Bool)]), Choice::Best(0));
        assert_eq!(pick(set, &[arg(Num::Float)]), Choice::Best(1));
        assert_eq!(pick(set, &[arg(Num::Double)]), Choice::Best(2));
        assert_eq!(pick(set, &[arg(Num::UInt)]), Choice::Ambiguous(vec![0, 1, 2]));
        assert_eq!(pick(&set[..1], &[arg(Ty::int().pointer())]), Choice::None);
        assert_eq!(pick(&[set[2], set[0]], &[arg(Num::Float)]), Choice::Best(0));
    }

    #[test]
    fn an_argument_pulling_each_way_is_ambiguous() {
        let (int, float) = (Ty::int(), Ty::from(Num::Float));
        let set: &[&[Ty]] = &[&[int.clone(), int], &[float.clone(), float]];
        assert_eq!(pick(set, &[arg(Num::Int), arg(Num::Float)]), Choice::Ambiguous(vec![0, 1]));
        assert_eq!(pick(set, &[arg(Num::Short), arg(Num::Int)]), Choice::Best(0));
    }

    #[test]
    fn pointers_prefer_their_own_qualifiers_then_void_then_bool() {
        let float = Ty::from(Num::Float);
        let own = float.clone().pointer();
        let constant = float.clone().constant().pointer();
        let void = Ty::void().pointer();
        let truth = Ty::bool();
        let all = [own.clone(), constant.clone(), void, truth];
        for first in 0..all.len() {
            let set: Vec<&[Ty]> = all[first..].iter().map(std::slice::from_ref).collect();
            assert_eq!(pick(&set, &[arg(own.clone())]), Choice::Best(0), "from {}", all[first]);
        }
        assert_eq!(implicit(&arg(constant.clone()), &own), None);
        assert_eq!(implicit(&arg(own.clone().pointer()), &constant.pointer()), None);
        let safe = Ty::from(Num::Float).constant().pointer().constant().pointer();
        assert!(implicit(&arg(own.pointer()), &safe).is_some());
    }

    #[test]
    fn references_bind_to_places_of_their_type() {
        let int = Ty::int();
        let place = Arg { ty: int.clone(), lvalue: true, xvalue: false, null: false, list: None };
        let constant = Arg { ty: int.clone().constant(), lvalue: true, xvalue: false, null: false, list: None };
        assert!(implicit(&place, &int.clone().reference()).is_some());
        assert_eq!(implicit(&constant, &int.clone().reference()), None);
        assert_eq!(implicit(&arg(Num::Int), &int.clone().reference()), None);
        assert!(implicit(&arg(Num::Float), &int.clone().constant().reference()).is_some());
        let set: &[&[Ty]] = &[&[int.clone().constant().reference()], &[int.reference()]];
        assert_eq!(pick(set, &[place]), Choice::Best(1));
    }

    #[test]
    fn only_null_constants_become_pointers() {
        let ptr = Ty::int().pointer();
        let null = Arg { ty: Ty::int(), lvalue: false, xvalue: false, null: true, list: None };
        assert!(implicit(&null, &ptr).is_some());
        assert_eq!(implicit(&arg(Num::Int), &ptr), None);
        assert!(implicit(&arg(Ty::new(Kind::Nullptr)), &ptr).is_some());
    }
}
