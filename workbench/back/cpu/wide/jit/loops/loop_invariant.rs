//! Loop-invariant values, which are computed ahead of the loop.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::graph::{Id, Op};
use super::read::{DEPTH, Local, Read};
use crate::back::cpu::wide::jit::emit::Binding;
use crate::back::cpu::wide::jit::scalar::I64;
use crate::back::cpu::wide::jit::value::{At, Num, Val, clif_type};
use crate::back::lane::table::{self, NumberOp};
use crate::back::lane::tree::{Binary, Expr, Var};
use crate::back::lane::types::Ty;

impl<'k> Read<'_, 'k, '_> {
    /// True if an expression is loop-invariant, and evaluating it is safe even if there are no rounds.
    pub fn is_fixed(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Var(var) => self.is_var_fixed(*var),
            Expr::Int(..) | Expr::Real(..) => true,
            Expr::Unary(_, a) | Expr::Cast(_, a) => self.is_fixed(a),
            // The divisor is a constant, because another one might be zero.
            Expr::Binary(Binary::Div | Binary::Rem, a, b) => {
                matches!(**b, Expr::Int(1..=0xffff, ..)) && self.is_fixed(a)
            }
            Expr::Binary(_, a, b) => self.is_fixed(a) && self.is_fixed(b),
            Expr::Op(table::Op::Number(op), args) => {
                matches!(op, NumberOp::F32Of | NumberOp::Likely | NumberOp::Unlikely | NumberOp::IsLine)
                    && args.iter().all(|a| self.is_fixed(a))
            }
            _ => false,
        }
    }

    /// True if a variable is loop-invariant.
    pub fn is_var_fixed(&self, var: Var) -> bool {
        match self.locals.get(&var) {
            Some(Local::Number(_, inner)) => self.is_local_fixed(var, inner),
            Some(_) => false,
            None => {
                let varies = self.set.contains(&var) || self.counter.as_ref().is_some_and(|(c, _)| *c == var);
                !varies && matches!(self.e.lookup(var), Ok(Binding::Value(Val::Num(_)) | Binding::Variable(..)))
            }
        }
    }

    fn is_local_fixed(&self, var: Var, inner: &Expr) -> bool {
        if let Some(known) = self.fixed.borrow().get(&var) {
            return *known;
        }
        if self.depth.get() == DEPTH {
            return false;
        }
        self.depth.set(self.depth.get() + 1);
        let is_fixed = self.is_fixed(inner);
        self.depth.set(self.depth.get() - 1);
        self.fixed.borrow_mut().insert(var, is_fixed);
        is_fixed
    }

    /// A loop-invariant value, with a text that is the same for equal values.
    pub fn fixed(&mut self, expr: &'k Expr) -> Option<(Num, String)> {
        if !self.is_fixed(expr) {
            return None;
        }
        self.bind(expr)?;
        let num = self.e.num(expr).ok()?;
        let key = match num.at {
            At::Known(n) => n.to_string(),
            At::Value(_) => self.key(expr)?,
        };
        Some((num, key))
    }

    /// Binds the variables in a loop-invariant expression to their values.
    pub fn bind(&mut self, expr: &'k Expr) -> Option<()> {
        match expr {
            Expr::Var(var) => {
                if let Some(Local::Number(ty, inner)) = self.locals.get(var).copied()
                    && self.bound.insert(*var)
                {
                    if self.depth.get() == DEPTH {
                        return None;
                    }
                    self.depth.set(self.depth.get() + 1);
                    let bound = self.bind(inner);
                    self.depth.set(self.depth.get() - 1);
                    bound?;
                    let value = self.e.eval(inner).ok()?;
                    let value = self.e.as_type(&value, ty).ok()?;
                    self.e.bind(*var, Binding::Value(value));
                }
            }
            Expr::Unary(_, a) | Expr::Cast(_, a) => self.bind(a)?,
            Expr::Binary(_, a, b) => {
                self.bind(a)?;
                self.bind(b)?;
            }
            Expr::Op(_, args) => args.iter().try_for_each(|arg| self.bind(arg))?,
            _ => {}
        }
        Some(())
    }

    /// A text that identifies an expression, with variables replaced by their values.
    fn key(&mut self, expr: &Expr) -> Option<String> {
        Some(match expr {
            Expr::Var(var) => {
                let binding = self.e.lookup(*var).ok()?;
                let Val::Num(num) = self.e.get(&binding).ok()? else { return None };
                match num.at {
                    At::Known(n) => n.to_string(),
                    // The type is part of the text, as the same bits may be two numbers.
                    At::Value(v) => format!("{:?}{}", num.ty, self.e.b.func.dfg.resolve_aliases(v)),
                }
            }
            Expr::Cast(ty, a) => format!("({ty:?}){}", self.key(a)?),
            Expr::Unary(op, a) => format!("{op:?}({})", self.key(a)?),
            Expr::Binary(op, a, b) => format!("({}{}{})", self.key(a)?, op.sign(), self.key(b)?),
            other => format!("{other:?}"),
        })
    }

    /// A number in all lanes.
    pub fn one(&mut self, num: &Num, key: String) -> Option<Id> {
        let at = match self.one_keys.get(&key) {
            Some(at) => *at,
            None => {
                if !matches!(clif_type(&num.ty), types::I32 | types::F32) {
                    return None;
                }
                let value = self.e.value(num);
                self.one_keys.insert(key, self.ones.len());
                self.ones.push(value);
                self.ones.len() - 1
            }
        };
        self.values.add(Op::One(at))
    }

    /// Bits in all lanes.
    pub fn bits(&mut self, bits: u32) -> Option<Id> {
        let num = Num { at: At::Known(i128::from(bits)), ty: Ty::int(32, false) };
        self.one(&num, format!("{bits:#x}"))
    }

    /// A number in 64 bits.
    pub fn long(&mut self, num: &Num) -> Option<Num> {
        match num.ty {
            Ty::Ptr(_) => Some(num.clone()),
            _ => self.e.converted(num, &I64).ok(),
        }
    }

    /// Machine instructions for loop-invariant values.
    pub fn combined(&mut self, op: Binary, a: clif::Value, b: clif::Value) -> clif::Value {
        match op {
            Binary::Add => self.e.b.ins().iadd(a, b),
            Binary::Sub => self.e.b.ins().isub(a, b),
            _ => self.e.b.ins().imul(a, b),
        }
    }
}
