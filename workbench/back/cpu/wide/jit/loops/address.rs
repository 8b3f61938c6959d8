//! Addresses of a round: a loop-invariant pointer, plus a multiple of the counter.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::graph::{Index, Place};
use super::read::{DEPTH, Local, Read};
use crate::back::cpu::wide::jit::value::At;
use crate::back::lane::tree::{Binary, Expr, Var};
use crate::back::lane::types::Ty;

/// A loop-invariant value, with a text that identifies it.
type Same = (clif::Value, String);

/// A number of 64 bits: a loop-invariant one plus a multiple of the counter.
#[derive(Clone)]
pub(super) struct Linear {
    base: Option<Same>,
    bytes: i64,
    by: By,
}

#[derive(Clone)]
enum By {
    Known(i64),
    Value(Same),
}

/// The address in `*(const ty*)(...)`, whose pointer is to bytes.
pub(super) fn element<'k>(at: &'k Expr, ty: &Ty) -> Option<&'k Expr> {
    match at {
        Expr::Cast(Ty::Ptr(of), inner) if **of == *ty => Some(inner),
        _ => None,
    }
}

impl<'k> Read<'_, 'k, '_> {
    pub(super) fn place(&mut self, at: &'k Expr) -> Option<Place> {
        let Linear { base, bytes, by } = self.linear(at)?;
        let (base, key) = base?;
        let (base, key, bytes) = match i32::try_from(bytes) {
            Ok(bytes) => (base, key, bytes),
            Err(_) => (self.e.b.ins().iadd_imm_s(base, bytes), format!("({key}+{bytes})"), 0),
        };
        let next = self.pointers.len();
        let pointer = *self.pointer_keys.entry(key).or_insert(next);
        if pointer == next {
            self.pointers.push(base);
        }
        let index = match by {
            By::Known(0) => Index::None,
            By::Known(n @ (1 | 2 | 4 | 8)) => Index::Scaled(n as u8),
            By::Known(n) => {
                let value = self.e.b.ins().iconst(types::I64, n);
                self.factor(value, n.to_string())
            }
            By::Value((value, key)) => self.factor(value, key),
        };
        Some(Place { pointer, index, bytes })
    }

    /// The known number that is added to the counter.
    pub(super) fn more(&mut self, expr: &'k Expr) -> Option<i64> {
        match self.linear(expr)? {
            Linear { base: None, bytes, by: By::Known(1) } => Some(bytes),
            _ => None,
        }
    }

    fn factor(&mut self, value: clif::Value, key: String) -> Index {
        let next = self.factors.len();
        let at = *self.factor_keys.entry(key).or_insert(next);
        if at == next {
            self.factors.push(value);
        }
        Index::Times(at)
    }

    fn linear(&mut self, expr: &'k Expr) -> Option<Linear> {
        if self.is_fixed(expr)
            && let Some(same) = self.same(expr)?
        {
            return Some(same);
        }
        match expr {
            Expr::Var(var) => match self.locals.get(var).copied()? {
                Local::Number(Ty::Int { bits: 64, .. }, inner) => self.named_linear(*var, inner),
                _ => None,
            },
            Expr::Cast(Ty::Int { bits: 64, .. }, inner) => match self.is_counter(inner) {
                true => Some(Linear { base: None, bytes: 0, by: By::Known(1) }),
                false => self.linear(inner),
            },
            Expr::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                self.sum(*op, a, b)
            }
            Expr::Binary(Binary::Mul, a, b) => {
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                // One factor has to be invariant; a known number is preferred.
                match (&a.by, &b.by) {
                    (_, By::Known(0)) if b.base.is_none() => self.product(a, b),
                    (By::Known(0), _) => self.product(b, a),
                    (_, By::Known(0)) => self.product(a, b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn named_linear(&mut self, var: Var, inner: &'k Expr) -> Option<Linear> {
        if let Some(known) = self.linear.get(&var) {
            return known.clone();
        }
        if self.depth.get() == DEPTH {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let linear = self.linear(inner);
        self.depth.set(self.depth.get() - 1);
        self.linear.insert(var, linear.clone());
        linear
    }

    /// A loop-invariant number; none if it is a sum or a product in 64 bits whose known part is worth having.
    #[expect(clippy::option_option, reason = "no words at all is something else")]
    fn same(&mut self, expr: &'k Expr) -> Option<Option<Linear>> {
        let (num, key) = self.fixed(expr)?;
        // Pointers to larger elements advance by more than the number that is added.
        if matches!(&num.ty, Ty::Ptr(of) if of.size() != 1) {
            return None;
        }
        let is_long = matches!(num.ty, Ty::Int { bits: 64, .. } | Ty::Ptr(_));
        let num = self.long(&num)?;
        let v = match num.at {
            At::Known(n) => return Some(Some(Linear { base: None, bytes: i64::try_from(n).ok()?, by: By::Known(0) })),
            At::Value(v) => v,
        };
        let parts = match expr {
            Expr::Binary(Binary::Add | Binary::Sub, ..) => is_long,
            Expr::Binary(Binary::Mul, a, b) => is_long && (self.is_known(a) || self.is_known(b)),
            Expr::Cast(Ty::Int { bits: 64, .. }, inner) => {
                is_long && matches!(self.fixed(inner)?.0.ty, Ty::Int { bits: 64, .. })
            }
            _ => false,
        };
        Some((!parts).then_some(Linear { base: Some((v, key)), bytes: 0, by: By::Known(0) }))
    }

    fn is_known(&mut self, expr: &'k Expr) -> bool {
        self.fixed(expr).is_some_and(|(num, _)| matches!(num.at, At::Known(_)))
    }

    /// True if an expression is the counter, itself or by way of constants and casts of its type.
    fn is_counter(&self, expr: &Expr) -> bool {
        let Some((counter, ty)) = &self.counter else { return false };
        match expr {
            Expr::Var(var) if var == counter => true,
            Expr::Var(var) => {
                matches!(self.locals.get(var), Some(Local::Number(of, inner)) if *of == ty && self.is_counter(inner))
            }
            Expr::Cast(of, inner) => of == ty && self.is_counter(inner),
            _ => false,
        }
    }

    fn sum(&mut self, op: Binary, a: Linear, b: Linear) -> Option<Linear> {
        let bytes = if op == Binary::Add { a.bytes.checked_add(b.bytes)? } else { a.bytes.checked_sub(b.bytes)? };
        let base = match (a.base, b.base) {
            (a, None) => a,
            (None, Some(b)) if op == Binary::Add => Some(b),
            (None, Some((b, key))) => Some((self.e.b.ins().ineg(b), format!("-{key}"))),
            (Some((a, x)), Some((b, y))) => Some((self.combined(op, a, b), format!("({x}{}{y})", op.sign()))),
        };
        let by = match (a.by, b.by) {
            (By::Known(a), By::Known(b)) => {
                By::Known(if op == Binary::Add { a.checked_add(b)? } else { a.checked_sub(b)? })
            }
            (by, By::Known(0)) => by,
            (By::Known(0), by) if op == Binary::Add => by,
            _ => return None,
        };
        Some(Linear { base, bytes, by })
    }

    /// A product with a loop-invariant factor.
    fn product(&mut self, a: Linear, same: Linear) -> Option<Linear> {
        let (factor, n) = match (same.base, same.bytes) {
            (None, n) => (None, n),
            (Some(value), 0) => (Some(value), 0),
            (Some((value, key)), n) => (Some((self.e.b.ins().iadd_imm_s(value, n), format!("({key}+{n})"))), 0),
        };
        let Some((factor, key)) = factor else {
            let base = a.base.map(|(value, key)| (self.e.b.ins().imul_imm_s(value, n), format!("({key}*{n})")));
            let by = match a.by {
                By::Known(by) => By::Known(by.checked_mul(n)?),
                By::Value((value, key)) => By::Value((self.e.b.ins().imul_imm_s(value, n), format!("({key}*{n})"))),
            };
            return Some(Linear { base, bytes: a.bytes.checked_mul(n)?, by });
        };
        let by = match a.by {
            By::Known(0) => By::Known(0),
            By::Known(1) => By::Value((factor, key.clone())),
            By::Known(by) => By::Value((self.e.b.ins().imul_imm_s(factor, by), format!("({key}*{by})"))),
            By::Value((value, by)) => By::Value((self.combined(Binary::Mul, value, factor), format!("({by}*{key})"))),
        };
        let more = (a.bytes != 0).then(|| (self.e.b.ins().imul_imm_s(factor, a.bytes), format!("({key}*{})", a.bytes)));
        let base = match (a.base, more) {
            (Some((value, x)), Some((more, y))) => Some((
                {
                    let product = self.combined(Binary::Mul, value, factor);
                    self.combined(Binary::Add, product, more)
                },
                format!("(({x}*{key})+{y})"),
            )),
            (Some((value, x)), None) => Some((self.combined(Binary::Mul, value, factor), format!("({x}*{key})"))),
            (None, more) => more,
        };
        Some(Linear { base, bytes: 0, by })
    }
}
