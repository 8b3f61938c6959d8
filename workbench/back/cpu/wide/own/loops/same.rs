//! What is the same in all rounds, which is computed ahead of them.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::super::emit::Binding;
use super::super::parse::{Expr, Ty};
use super::super::scalar::I64;
use super::super::value::{At, Num, Val, clif_type};
use super::read::{DEPTH, Local, Read};
use super::values::{Id, Op};

impl<'t> Read<'_, '_, 't, '_> {
    /// Whether something is the same in all rounds, and costs nothing that rounds that never are might not have.
    pub fn is_fixed(&self, expr: &Expr<'t>) -> bool {
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(_, inner)) => self.is_name_fixed(name, inner),
                Some(_) => false,
                None => {
                    let varies = self.set.contains(name) || self.counter.as_ref().is_some_and(|(c, _)| c == name);
                    !varies && matches!(self.e.lookup(name), Ok(Binding::Value(Val::Num(_)) | Binding::Variable(..)))
                }
            },
            Expr::Int(..) | Expr::Real(..) => true,
            Expr::Unary("-" | "~" | "!", a) | Expr::Cast(_, a) => self.is_fixed(a),
            // By something else it might be a division by zero.
            Expr::Binary("/" | "%", a, b) => matches!(**b, Expr::Int(1..=0xffff, ..)) && self.is_fixed(a),
            Expr::Binary(_, a, b) => self.is_fixed(a) && self.is_fixed(b),
            Expr::Call(callee, args) => {
                matches!(**callee, Expr::Name("f32_of" | "likely" | "unlikely" | "is_line"))
                    && args.iter().all(|a| self.is_fixed(a))
            }
            _ => false,
        }
    }

    fn is_name_fixed(&self, name: &'t str, inner: &Expr<'t>) -> bool {
        if let Some(known) = self.fixed.borrow().get(name) {
            return *known;
        }
        if self.depth.get() == DEPTH {
            return false;
        }
        self.depth.set(self.depth.get() + 1);
        let is_fixed = self.is_fixed(inner);
        self.depth.set(self.depth.get() - 1);
        self.fixed.borrow_mut().insert(name, is_fixed);
        is_fixed
    }

    /// What is the same in all rounds, and words that are the same where that is the same.
    pub fn fixed(&mut self, expr: &Expr<'t>) -> Option<(Num, String)> {
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

    /// Gives the names in something that is the same in all rounds their values.
    pub fn bind(&mut self, expr: &Expr<'t>) -> Option<()> {
        match expr {
            Expr::Name(name) => {
                if let Some(Local::Number(ty, inner)) = self.locals.get(name).cloned()
                    && self.bound.insert(name)
                {
                    if self.depth.get() == DEPTH {
                        return None;
                    }
                    self.depth.set(self.depth.get() + 1);
                    let bound = self.bind(&inner);
                    self.depth.set(self.depth.get() - 1);
                    bound?;
                    let value = self.e.eval(&inner).ok()?;
                    let value = self.e.as_type(&value, &ty).ok()?;
                    self.e.bind(name, Binding::Value(value));
                }
            }
            Expr::Unary(_, a) | Expr::Cast(_, a) => self.bind(a)?,
            Expr::Binary(_, a, b) => {
                self.bind(a)?;
                self.bind(b)?;
            }
            Expr::Call(_, args) => args.iter().try_for_each(|arg| self.bind(arg))?,
            _ => {}
        }
        Some(())
    }

    /// Words for an expression in which names are what they stand for.
    fn key(&mut self, expr: &Expr<'t>) -> Option<String> {
        Some(match expr {
            Expr::Name(name) => {
                let binding = self.e.lookup(name).ok()?;
                let Val::Num(num) = self.e.get(&binding).ok()? else { return None };
                match num.at {
                    At::Known(n) => n.to_string(),
                    // The same bits may be two numbers.
                    At::Value(v) => format!("{:?}{}", num.ty, self.e.b.func.dfg.resolve_aliases(v)),
                }
            }
            Expr::Cast(ty, a) => format!("({ty:?}){}", self.key(a)?),
            Expr::Unary(op, a) => format!("{op}{}", self.key(a)?),
            Expr::Binary(op, a, b) => format!("({}{op}{})", self.key(a)?, self.key(b)?),
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

    /// Machine instructions for what is the same in all rounds.
    pub fn combined(&mut self, op: &str, a: clif::Value, b: clif::Value) -> clif::Value {
        match op {
            "+" => self.e.b.ins().iadd(a, b),
            "-" => self.e.b.ins().isub(a, b),
            _ => self.e.b.ins().imul(a, b),
        }
    }
}
