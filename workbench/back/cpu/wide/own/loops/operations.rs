//! Which operation the text's words are.

use std::collections::HashMap;

use super::super::parse::{Expr, Reader, Ty};
use super::super::value::At;
use super::address::element;
use super::read::{Local, Read};
use super::text::declared;
use super::values::{Binary, Both, Compare, Id, Op, Unary};

/// The processor's predicates.
const EQ: u8 = 0;
const LT: u8 = 1;
const LE: u8 = 2;
const NE: u8 = 4;
const UNORDERED: u8 = 3;

/// Whether two addresses are in memory of different kinds: a caller's arrays, what a block's threads share, and what they keep.
fn is_elsewhere(a: Option<&str>, b: Option<&str>) -> bool {
    let kind = |name: &str| match name {
        "scratch" => Some(0),
        _ if name.starts_with("B_p") => Some(1),
        _ if name.starts_with("B_s") => Some(2),
        _ => None,
    };
    match (a.and_then(kind), b.and_then(kind)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    }
}

impl<'t> Read<'_, '_, 't, '_> {
    /// Lanes, or a number that all of them have.
    pub(super) fn lanes(&mut self, expr: &Expr<'t>) -> Option<Id> {
        match expr {
            Expr::Name(name) => self.named(name),
            Expr::Cast(Ty::F32 | Ty::Lanes(_), inner) => self.lanes(inner),
            Expr::Unary("*", at) => {
                let at = element(at, &Ty::F32)?;
                let place = self.place(at)?;
                self.read(Op::LoadOne(place), at)
            }
            Expr::Call(callee, args) => {
                let Expr::Name(name) = **callee else { return None };
                self.call(name, args)
            }
            _ => None,
        }
    }

    /// What is read comes before what is written, as that is written in the end: in the text as well, or it is elsewhere.
    fn read(&mut self, op: Op, at: &Expr<'t>) -> Option<Id> {
        let from = at.space();
        if self.spaces.iter().all(|to| is_elsewhere(*to, from)) { self.values.add(op) } else { None }
    }

    fn call(&mut self, name: &'t str, args: &[Expr<'t>]) -> Option<Id> {
        match (name, args) {
            ("f32_of", [bits]) => {
                let (num, _) = self.fixed(bits)?;
                let At::Known(n) = num.at else { return None };
                self.bits(n as u32)
            }
            ("splat_f32", [x]) => self.lanes(x),
            ("splat_i32", [n]) => {
                let (num, key) = self.fixed(n)?;
                let num = self.e.converted(&num, &Ty::int(32, true)).ok()?;
                match num.at {
                    At::Known(n) => self.bits(n as u32),
                    At::Value(_) => self.one(&num, format!("i{key}")),
                }
            }
            ("ld_f32" | "ld_i32", [at]) => {
                let place = self.place(at)?;
                self.read(Op::Load(place), at)
            }
            ("select_f32" | "select_i32", [m, a, b]) => {
                let (m, a, b) = (self.mask(m)?, self.lanes(a)?, self.lanes(b)?);
                self.values.add(Op::Choose(m, a, b))
            }
            _ => {
                let args = args.iter().map(|arg| self.lanes(arg)).collect::<Option<Vec<_>>>()?;
                self.computed(name, &args)
            }
        }
    }

    fn computed(&mut self, name: &str, args: &[Id]) -> Option<Id> {
        let one = |unary| Some(Op::Unary(unary, *args.first()?));
        let two = |binary| Some(Op::Binary(binary, *args.first()?, *args.get(1)?));
        let op = match name {
            "cast_f32_i32" | "cast_i32_f32" => return args.first().copied(),
            "sqrt_f32" => one(Unary::Sqrt),
            "rint_f32" => one(Unary::Round),
            "floor_f32" => one(Unary::Floor),
            "ceil_f32" => one(Unary::Ceil),
            "trunc_f32" => one(Unary::Trunc),
            "i32_to_f32" => one(Unary::ToFloat),
            "whole_i32" => one(Unary::Whole),
            "mantissa_f32" => one(Unary::Mantissa),
            "add_f32" => two(Binary::Add),
            "sub_f32" => two(Binary::Sub),
            "mul_f32" => two(Binary::Mul),
            "div_f32" => two(Binary::Div),
            "min2_f32" => two(Binary::Min),
            "max2_f32" => two(Binary::Max),
            "scale_f32" => two(Binary::Scale),
            "add_i32" => two(Binary::AddInt),
            "sub_i32" => two(Binary::SubInt),
            "mul_i32" => two(Binary::MulInt),
            "and_i32" => two(Binary::And),
            "or_i32" => two(Binary::Or),
            "xor_i32" => two(Binary::Xor),
            "shl_i32" => two(Binary::Shl),
            "shr_u32" => two(Binary::Shr),
            "shr_i32" => two(Binary::Sar),
            "min_i32" => two(Binary::MinInt),
            "max_i32" => two(Binary::MaxInt),
            "min_u32" => two(Binary::MinUint),
            "max_u32" => two(Binary::MaxUint),
            "fma_f32" => Some(Op::Fused(false, *args.first()?, *args.get(1)?, *args.get(2)?)),
            _ => return self.several(name, args),
        };
        self.values.add(op?)
    }

    /// What takes several operations.
    fn several(&mut self, name: &str, args: &[Id]) -> Option<Id> {
        match (name, args) {
            ("neg_f32", &[x]) => self.with_bits(Binary::Xor, x, 0x8000_0000),
            ("fabs_f32", &[x]) => self.with_bits(Binary::And, x, 0x7fff_ffff),
            ("copysign_f32", &[x, y]) => {
                let (x, y) =
                    (self.with_bits(Binary::And, x, 0x7fff_ffff)?, self.with_bits(Binary::And, y, 0x8000_0000)?);
                self.values.add(Op::Binary(Binary::Or, x, y))
            }
            ("neg_i32", &[x]) => {
                let zero = self.bits(0)?;
                self.values.add(Op::Binary(Binary::SubInt, zero, x))
            }
            ("not_i32", &[x]) => self.with_bits(Binary::Xor, x, u32::MAX),
            ("exponent_f32", &[x, m]) => {
                let (x, m) =
                    (self.values.add(Op::Unary(Unary::Exponent, x))?, self.values.add(Op::Unary(Unary::Exponent, m))?);
                self.values.add(Op::Binary(Binary::Sub, x, m))
            }
            // As the prelude has it: a NaN loses to a number, of two zeros the sign decides.
            ("fmin_f32" | "fmax_f32", &[x, y]) => {
                let (which, both) =
                    if name == "fmin_f32" { (Binary::Min, Binary::Or) } else { (Binary::Max, Binary::And) };
                let first = self.values.add(Op::Binary(which, x, y))?;
                let both = self.values.add(Op::Binary(both, x, y))?;
                let equal = self.values.add(Op::Compare(Compare::Float(EQ), x, y))?;
                let one = self.values.add(Op::Choose(equal, both, first))?;
                let is_nan = self.values.add(Op::Compare(Compare::Float(UNORDERED), y, y))?;
                self.values.add(Op::Choose(is_nan, x, one))
            }
            ("rsqrt_f32", &[x]) => self.rsqrt(x),
            _ => self.inlined(name, args),
        }
    }

    fn with_bits(&mut self, binary: Binary, x: Id, bits: u32) -> Option<Id> {
        let bits = self.bits(bits)?;
        self.values.add(Op::Binary(binary, x, bits))
    }

    /// As `math/reciprocal.rs` has it, operation by operation.
    fn rsqrt(&mut self, x: Id) -> Option<Id> {
        let (one, half) = (self.bits(1f32.to_bits())?, self.bits(0.5f32.to_bits())?);
        if !self.e.known.has_estimate {
            let root = self.values.add(Op::Unary(Unary::Sqrt, x))?;
            return self.values.add(Op::Binary(Binary::Div, one, root));
        }
        let y = self.values.add(Op::Unary(Unary::Rsqrt, x))?;
        let t = self.values.add(Op::Binary(Binary::Mul, x, y))?;
        let e = self.values.add(Op::Fused(true, t, y, one))?;
        let h = self.values.add(Op::Binary(Binary::Mul, y, half))?;
        let better = self.values.add(Op::Fused(false, h, e, y))?;
        let is_nan = self.values.add(Op::Compare(Compare::Float(UNORDERED), t, t))?;
        self.values.add(Op::Choose(is_nan, y, better))
    }

    /// One of the text's own functions: straight-line code with one `return`, at its end.
    fn inlined(&mut self, name: &str, args: &[Id]) -> Option<Id> {
        let (params, body) = self.e.function(name)?;
        let words = self.e.words();
        let mut r = Reader::new(words, body);
        r.want("{").ok()?;
        // It sees nothing of its caller's; what it calls a name need not be what the caller does.
        let inner: HashMap<_, _> = params.into_iter().zip(args.iter().map(|id| Local::Lanes(*id))).collect();
        let outer = self.enter(inner);
        let mut found = None;
        while found.is_none() {
            if r.eat_name("return") {
                found = Some(r.expr().ok().and_then(|expr| self.lanes(&expr)));
            } else if r.at_type() {
                let made = declared(&mut r).and_then(|(ty, name, expr)| self.define(ty, name, expr));
                if made.is_none() {
                    found = Some(None);
                }
            } else {
                found = Some(None);
            }
        }
        self.leave(outer);
        found?
    }

    /// A mask.
    pub(super) fn mask(&mut self, expr: &Expr<'t>) -> Option<Id> {
        let op = match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Mask(id)) => return Some(*id),
                _ => return None,
            },
            Expr::Cast(Ty::Mask, inner) => return self.mask(inner),
            Expr::Unary("~", inner) => Op::Not(self.mask(inner)?),
            Expr::Binary(op @ ("&" | "|" | "^"), a, b) => {
                let (a, b) = (self.mask(a)?, self.mask(b)?);
                let both = match *op {
                    "&" => Both::And,
                    "|" => Both::Or,
                    _ => Both::Xor,
                };
                Op::Both(both, a, b)
            }
            Expr::Call(callee, args) => {
                let (Expr::Name(name), [a, b]) = (&**callee, &args[..]) else { return None };
                let (op, of) = name.split_once('_')?;
                let (a, b) = (self.lanes(a)?, self.lanes(b)?);
                let (n, swap) = match op {
                    "eq" => (EQ, false),
                    "ne" => (NE, false),
                    "lt" => (LT, false),
                    "le" => (LE, false),
                    "gt" => (LT, true),
                    "ge" => (LE, true),
                    _ => return None,
                };
                let (a, b) = if swap { (b, a) } else { (a, b) };
                Op::Compare(
                    match of {
                        "f32" => Compare::Float(n),
                        "i32" => Compare::Int(n),
                        "u32" => Compare::Uint(n),
                        _ => return None,
                    },
                    a,
                    b,
                )
            }
            _ => return None,
        };
        self.values.add(op)
    }
}
