//! Expressions of numbers, and what of the text's functions is about one number.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, Signature, types};

use super::emit::{Binding, Emitter, free, is_cheap};
use super::helpers::State;
use super::parse::{Expr, Ty};
use super::value::{At, Mask, Num, Val, bits_of, clif_type, wrapped};
use super::{Result, bad};
use crate::back::cpu::abi::site::FAR;

/// Where a value is kept that may be set.
enum Place {
    Variable(Binding),
    Memory(clif::Value, i32, Ty),
}

pub(super) const I32: Ty = Ty::int(32, true);
pub(super) const U32: Ty = Ty::int(32, false);
pub(super) const I64: Ty = Ty::int(64, true);
pub(super) const U64: Ty = Ty::int(64, false);

impl<'t> Emitter<'_, 't, '_> {
    pub(super) fn num(&mut self, expr: &Expr<'t>) -> Result<Num> {
        let value = self.eval(expr)?;
        self.as_num(&value)
    }

    /// A number as the machine's value of a type.
    pub(super) fn as_value(&mut self, expr: &Expr<'t>, ty: &Ty) -> Result<clif::Value> {
        let num = self.num(expr)?;
        let num = self.converted(&num, ty)?;
        Ok(self.value(&num))
    }

    pub(super) fn eval(&mut self, expr: &Expr<'t>) -> Result<Val> {
        Ok(match expr {
            Expr::Int(n, bits, unsigned) => {
                let ty = Ty::int(*bits, !unsigned);
                Val::Num(Num { at: At::Known(wrapped(i128::from(*n), &ty)), ty })
            }
            Expr::Real(x, true) => Val::Num(Num { at: At::Value(self.b.ins().f32const(*x as f32)), ty: Ty::F32 }),
            Expr::Real(x, false) => Val::Num(Num { at: At::Value(self.b.ins().f64const(*x)), ty: Ty::F64 }),
            Expr::Name("FAR") => Val::Num(Num { at: At::Known(i128::from(FAR)), ty: I64 }),
            Expr::Name(name) => {
                let binding = self.lookup(name)?;
                self.get(&binding)?
            }
            Expr::Unary("*", _) | Expr::Index(..) | Expr::Member(..) => {
                let place = self.place(expr)?;
                self.load(&place)?
            }
            Expr::Unary("&", of) => match self.place(of)? {
                Place::Memory(at, offset, ty) => {
                    let at = if offset == 0 { at } else { self.b.ins().iadd_imm_s(at, i64::from(offset)) };
                    Val::Num(Num { at: At::Value(at), ty: Ty::Ptr(ty.into()) })
                }
                Place::Variable(_) => return Err(bad("the address of a variable")),
            },
            Expr::Unary("!", of) => {
                let truth = self.truth(of)?;
                let at = match truth.at {
                    At::Known(n) => At::Known(i128::from(n == 0)),
                    At::Value(v) => {
                        let zero = self.b.ins().iconst(types::I8, 0);
                        At::Value(self.b.ins().icmp(IntCC::Equal, v, zero))
                    }
                };
                Val::Num(Num { at, ty: Ty::Bool })
            }
            Expr::Unary(op, of) => match (*op, self.eval(of)?) {
                ("~", Val::Mask(mask)) => Val::Mask(self.mask_not(mask)),
                (op, value) => {
                    let num = self.as_num(&value)?;
                    Val::Num(self.unary(op, &num)?)
                }
            },
            Expr::Binary(op @ ("&&" | "||"), a, b) => {
                // Only where both are cheap and do nothing, or in what is no condition of a jump.
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                let op = if *op == "&&" { "&" } else { "|" };
                let at = match (a.at, b.at, op) {
                    (At::Known(0), _, "&") | (_, At::Known(0), "&") => At::Known(0),
                    (At::Known(_), other, "&") | (other, At::Known(_), "&") => other,
                    (At::Known(0), other, _) | (other, At::Known(0), _) => other,
                    (At::Known(n), ..) | (_, At::Known(n), _) => At::Known(i128::from(n != 0)),
                    (At::Value(x), At::Value(y), "&") => At::Value(self.b.ins().band(x, y)),
                    (At::Value(x), At::Value(y), _) => At::Value(self.b.ins().bor(x, y)),
                };
                Val::Num(Num { at, ty: Ty::Bool })
            }
            Expr::Binary(op, a, b) => {
                if let Some(high) = self.high_half(op, a, b)? {
                    return Ok(Val::Num(high));
                }
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                match (*op, &a, &b) {
                    ("&" | "|" | "^", Val::Mask(x), Val::Mask(y)) => Val::Mask(self.mask_op(op, *x, *y)),
                    ("&" | "|" | "^", Val::Mask(x), Val::Num(n)) | ("&" | "|" | "^", Val::Num(n), Val::Mask(x))
                        if matches!(n.at, At::Known(0..=0xffff)) =>
                    {
                        let y = self.as_mask(&Val::Num(n.clone()))?;
                        Val::Mask(self.mask_op(op, *x, y))
                    }
                    ("==", Val::Mask(Mask::Lanes([x, y, z, w])), Val::Num(Num { at: At::Known(0xffff), .. })) => {
                        let (low, high) = (self.b.ins().band(*x, *y), self.b.ins().band(*z, *w));
                        let all = self.b.ins().band(low, high);
                        Val::Num(Num { at: At::Value(self.b.ins().vall_true(all)), ty: Ty::Bool })
                    }
                    _ => {
                        let (x, y) = (self.as_num(&a)?, self.as_num(&b)?);
                        Val::Num(self.binary(op, &x, &y)?)
                    }
                }
            }
            Expr::Cond(parts) => {
                let [cond, a, b] = &**parts;
                let cond = self.truth(cond)?;
                if let At::Known(n) = cond.at {
                    return self.eval(if n != 0 { a } else { b });
                }
                let cond = self.value(&cond);
                if !is_cheap(a) || !is_cheap(b) {
                    return self.choice(cond, a, b);
                }
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                if let (Val::Mask(_), _) | (_, Val::Mask(_)) = (&a, &b) {
                    let (a, b) = (self.as_mask(&a)?, self.as_mask(&b)?);
                    let (a, b) = (self.mask_bits(a), self.mask_bits(b));
                    return Ok(Val::Mask(Mask::Bits(self.b.ins().select(cond, a, b))));
                }
                let (a, b) = (self.as_num(&a)?, self.as_num(&b)?);
                let ty = common(&a.ty, &b.ty);
                let (a, b) = (self.converted(&a, &ty)?, self.converted(&b, &ty)?);
                let (a, b) = (self.value(&a), self.value(&b));
                Val::Num(Num { at: At::Value(self.b.ins().select(cond, a, b)), ty })
            }
            Expr::Cast(ty, of) => {
                let value = self.eval(of)?;
                self.as_type(&value, ty)?
            }
            Expr::Assign(op, to, from) => {
                let place = self.place(to)?;
                let mut value = self.eval(from)?;
                if !op.is_empty() {
                    let old = self.load(&place)?;
                    value = match (&old, &value) {
                        (Val::Mask(x), _) => {
                            let y = self.as_mask(&value)?;
                            Val::Mask(self.mask_op(op, *x, y))
                        }
                        _ => {
                            let (x, y) = (self.as_num(&old)?, self.as_num(&value)?);
                            Val::Num(self.binary(op, &x, &y)?)
                        }
                    };
                }
                self.store(&place, value)?
            }
            Expr::Call(callee, args) => match &**callee {
                Expr::Name(name) => self.call(name, args)?,
                Expr::Cast(Ty::Fn(ret, params), address) => self.call_address(address, ret, params, args)?,
                _ => return Err(bad("a call of that")),
            },
        })
    }

    /// The type of an expression of casts, names and arithmetic.
    fn type_of(&self, expr: &Expr<'t>) -> Result<Ty> {
        Ok(match expr {
            Expr::Int(_, bits, unsigned) => Ty::int(*bits, !unsigned),
            Expr::Name(name) => match self.lookup(name)? {
                Binding::Value(Val::Num(num)) => num.ty,
                Binding::Value(Val::Mask(_)) => Ty::Mask,
                Binding::Variable(ty, _) => ty,
                _ => return Err(bad("a choice of something else")),
            },
            Expr::Cast(ty, _) => ty.clone(),
            Expr::Unary("-" | "~", of) => common(&self.type_of(of)?, &I32),
            Expr::Binary(_, a, b) => match (self.type_of(a)?, self.type_of(b)?) {
                (Ty::Mask, _) | (_, Ty::Mask) => Ty::Mask,
                (a, b) => common(&a, &b),
            },
            Expr::Cond(parts) => common(&self.type_of(&parts[1])?, &self.type_of(&parts[2])?),
            Expr::Call(callee, _) => match **callee {
                Expr::Name("s_to_i32" | "d_to_i32") => I32,
                Expr::Name("s_to_u32" | "d_to_u32") => U32,
                Expr::Name("s_to_i64") => I64,
                Expr::Name("s_to_u64") => U64,
                _ => return Err(bad("a choice of something else")),
            },
            _ => return Err(bad("a choice of something else")),
        })
    }

    /// `cond ? a : b`, of which one alone is computed.
    fn choice(&mut self, cond: clif::Value, a: &Expr<'t>, b: &Expr<'t>) -> Result<Val> {
        let ty = common(&self.type_of(a)?, &self.type_of(b)?);
        let (then, other, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(after, clif_type(&ty));
        self.b.ins().brif(cond, then, &[], other, &[]);
        for (block, expr) in [(then, a), (other, b)] {
            self.b.seal_block(block);
            self.b.switch_to_block(block);
            let value = self.as_value(expr, &ty)?;
            self.b.ins().jump(after, &[value.into()]);
        }
        self.b.seal_block(after);
        self.b.switch_to_block(after);
        Ok(Val::Num(Num { at: At::Value(result), ty }))
    }

    /// `(a * b) >> 64` of 128 bits.
    fn high_half(&mut self, op: &str, a: &Expr<'t>, b: &Expr<'t>) -> Result<Option<Num>> {
        let (">>", Expr::Binary("*", x, y), Expr::Int(64, ..)) = (op, a, b) else { return Ok(None) };
        let Expr::Cast(Ty::Int { bits: 128, signed }, x) = &**x else { return Ok(None) };
        let ty = Ty::int(64, *signed);
        let (x, y) = (self.as_value(x, &ty)?, self.as_value(y, &ty)?);
        let high = if *signed { self.b.ins().smulhi(x, y) } else { self.b.ins().umulhi(x, y) };
        Ok(Some(Num { at: At::Value(high), ty }))
    }

    fn place(&mut self, expr: &Expr<'t>) -> Result<Place> {
        match expr {
            Expr::Name(name) => match self.lookup(name)? {
                Binding::Memory(Ty::State, slot) => {
                    Ok(Place::Memory(self.b.ins().stack_addr(types::I64, slot, 0), 0, Ty::State))
                }
                other => Ok(Place::Variable(other)),
            },
            Expr::Unary("*", of) => {
                let num = self.num(of)?;
                let Ty::Ptr(ty) = &num.ty else { return Err(bad("what no pointer points to")) };
                Ok(Place::Memory(self.value(&num), 0, (**ty).clone()))
            }
            Expr::Index(of, index) => {
                let (of, index) = (self.num(of)?, self.num(index)?);
                let at = self.binary("+", &of, &index)?;
                let Ty::Ptr(ty) = &at.ty else { return Err(bad("an element of no array")) };
                Ok(Place::Memory(self.value(&at), 0, (**ty).clone()))
            }
            Expr::Member(of, name) => match &**of {
                Expr::Name(state) => match (self.lookup(state)?, State::field(name)) {
                    (Binding::Memory(Ty::State, slot), Some((offset, bits))) => {
                        let at = self.b.ins().stack_addr(types::I64, slot, 0);
                        Ok(Place::Memory(at, offset, Ty::int(bits, false)))
                    }
                    _ => Err(bad(format!("a member `{name}`"))),
                },
                _ => Err(bad(format!("a member `{name}`"))),
            },
            _ => Err(bad("a place")),
        }
    }

    fn load(&mut self, place: &Place) -> Result<Val> {
        Ok(match place {
            Place::Variable(binding) => self.get(binding)?,
            Place::Memory(at, offset, Ty::Array(of, _)) => {
                let at = if *offset == 0 { *at } else { self.b.ins().iadd_imm_s(*at, i64::from(*offset)) };
                Val::Num(Num { at: At::Value(at), ty: Ty::Ptr(of.clone()) })
            }
            Place::Memory(at, offset, Ty::Mask) => {
                let bits = self.b.ins().uload16(types::I32, free(), *at, *offset);
                Val::Mask(Mask::Bits(bits))
            }
            Place::Memory(at, offset, ty) => {
                let at = self.b.ins().load(clif_type(ty), free(), *at, *offset);
                Val::Num(Num { at: At::Value(at), ty: ty.clone() })
            }
        })
    }

    fn store(&mut self, place: &Place, value: Val) -> Result<Val> {
        match place {
            Place::Variable(binding) => {
                self.set(binding, value)?;
                self.get(binding)
            }
            Place::Memory(at, offset, ty) => {
                let value = self.as_type(&value, ty)?;
                match &value {
                    Val::Mask(mask) => {
                        let bits = self.mask_bits(*mask);
                        self.b.ins().istore16(free(), bits, *at, *offset);
                    }
                    Val::Num(num) => {
                        let v = self.value(num);
                        self.b.ins().store(free(), v, *at, *offset);
                    }
                    Val::Lanes(..) | Val::Nothing => return Err(bad("lanes stored as a number")),
                }
                Ok(value)
            }
        }
    }

    /// Whether something is not zero, as a number of 8 bits.
    pub(super) fn truth(&mut self, expr: &Expr<'t>) -> Result<Num> {
        if let Expr::Call(callee, args) = expr
            && let (Expr::Name("likely" | "unlikely"), [one]) = (&**callee, &args[..])
        {
            return self.truth(one);
        }
        Ok(match self.eval(expr)? {
            Val::Mask(mask) => self.mask_any(mask),
            Val::Num(num) if num.ty == Ty::Bool => num,
            Val::Num(Num { at: At::Known(n), .. }) => Num { at: At::Known(i128::from(n != 0)), ty: Ty::Bool },
            Val::Num(num) => {
                let zero = self.converted(&Num { at: At::Known(0), ty: I32 }, &num.ty)?;
                self.compare("!=", &num, &zero)?
            }
            Val::Lanes(..) | Val::Nothing => return Err(bad("a condition of lanes")),
        })
    }

    fn unary(&mut self, op: &str, num: &Num) -> Result<Num> {
        let num = self.promoted(num)?;
        let at = match (op, num.at) {
            ("-", At::Known(n)) => At::Known(wrapped(n.wrapping_neg(), &num.ty)),
            ("~", At::Known(n)) => At::Known(wrapped(!n, &num.ty)),
            ("-", At::Value(v)) if matches!(num.ty, Ty::F32 | Ty::F64) => At::Value(self.b.ins().fneg(v)),
            ("-", At::Value(v)) => At::Value(self.b.ins().ineg(v)),
            ("~", At::Value(v)) => At::Value(self.b.ins().bnot(v)),
            _ => return Err(bad(format!("`{op}`"))),
        };
        Ok(Num { at, ty: num.ty })
    }

    /// A narrow number as an `int`.
    pub(super) fn promoted(&mut self, num: &Num) -> Result<Num> {
        match num.ty {
            Ty::Bool | Ty::Int { bits: 8 | 16, .. } => self.converted(num, &I32),
            _ => Ok(num.clone()),
        }
    }

    pub(super) fn binary(&mut self, op: &str, a: &Num, b: &Num) -> Result<Num> {
        if let (Ty::Ptr(of), "+" | "-") = (&a.ty, op) {
            let size = i128::from(of.size());
            let by = self.converted(b, &I64)?;
            let by = self.binary("*", &by, &Num { at: At::Known(size), ty: I64 })?;
            let base = Num { at: a.at, ty: I64 };
            let sum = self.binary(op, &base, &by)?;
            return Ok(Num { at: sum.at, ty: a.ty.clone() });
        }
        if matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=") {
            return self.compare(op, a, b);
        }
        let (a, b) = (self.promoted(a)?, self.promoted(b)?);
        if matches!(op, "<<" | ">>") {
            return self.shift(op, &a, &b);
        }
        let ty = common(&a.ty, &b.ty);
        let (a, b) = (self.converted(&a, &ty)?, self.converted(&b, &ty)?);
        if let (At::Known(x), At::Known(y)) = (a.at, b.at)
            && let Some(n) = folded(op, x, y)
        {
            return Ok(Num { at: At::Known(wrapped(n, &ty)), ty });
        }
        match (op, a.at, b.at) {
            ("+", other, At::Known(0))
            | ("+", At::Known(0), other)
            | ("-", other, At::Known(0))
            | ("*", other, At::Known(1))
            | ("*", At::Known(1), other) => return Ok(Num { at: other, ty }),
            ("*", At::Known(0), _) | ("*", _, At::Known(0)) => return Ok(Num { at: At::Known(0), ty }),
            _ => {}
        }
        let (x, y) = (self.value(&a), self.value(&b));
        let ins = self.b.ins();
        let v = if matches!(ty, Ty::F32 | Ty::F64) {
            match op {
                "+" => ins.fadd(x, y),
                "-" => ins.fsub(x, y),
                "*" => ins.fmul(x, y),
                "/" => ins.fdiv(x, y),
                _ => return Err(bad(format!("`{op}` of floats"))),
            }
        } else {
            let (_, signed) = bits_of(&ty);
            match op {
                "+" => ins.iadd(x, y),
                "-" => ins.isub(x, y),
                "*" => ins.imul(x, y),
                "/" if signed => ins.sdiv(x, y),
                "/" => ins.udiv(x, y),
                "%" if signed => ins.srem(x, y),
                "%" => ins.urem(x, y),
                "&" => ins.band(x, y),
                "|" => ins.bor(x, y),
                "^" => ins.bxor(x, y),
                _ => return Err(bad(format!("`{op}`"))),
            }
        };
        Ok(Num { at: At::Value(v), ty })
    }

    fn shift(&mut self, op: &str, a: &Num, b: &Num) -> Result<Num> {
        let ty = a.ty.clone();
        let (_, signed) = bits_of(&ty);
        if let (At::Known(x), At::Known(n @ 0..=127)) = (a.at, b.at) {
            let n = n as u32;
            return Ok(Num { at: At::Known(wrapped(if op == "<<" { x << n } else { x >> n }, &ty)), ty });
        }
        let by = self.converted(b, &I32)?;
        let (x, n) = (self.value(a), self.value(&by));
        let v = match (op, signed) {
            ("<<", _) => self.b.ins().ishl(x, n),
            (_, true) => self.b.ins().sshr(x, n),
            (_, false) => self.b.ins().ushr(x, n),
        };
        Ok(Num { at: At::Value(v), ty })
    }

    pub(super) fn compare(&mut self, op: &str, a: &Num, b: &Num) -> Result<Num> {
        let (a, b) = (self.promoted(a)?, self.promoted(b)?);
        let ty = common(&a.ty, &b.ty);
        let (a, b) = (self.converted(&a, &ty)?, self.converted(&b, &ty)?);
        if let (At::Known(x), At::Known(y)) = (a.at, b.at) {
            let is = match op {
                "==" => x == y,
                "!=" => x != y,
                "<" => x < y,
                "<=" => x <= y,
                ">" => x > y,
                _ => x >= y,
            };
            return Ok(Num { at: At::Known(i128::from(is)), ty: Ty::Bool });
        }
        let (x, y) = (self.value(&a), self.value(&b));
        let (_, signed) = bits_of(&ty);
        let v = if matches!(ty, Ty::F32 | Ty::F64) {
            self.b.ins().fcmp(float_cc(op), x, y)
        } else {
            self.b.ins().icmp(int_cc(op, signed), x, y)
        };
        Ok(Num { at: At::Value(v), ty: Ty::Bool })
    }

    /// A call of a function of this process, by its address.
    fn call_address(&mut self, address: &Expr<'t>, ret: &Ty, params: &[Ty], args: &[Expr<'t>]) -> Result<Val> {
        let mut sig = Signature::new(self.known.conv);
        let mut values = Vec::with_capacity(args.len());
        for (ty, arg) in params.iter().zip(args) {
            sig.params.push(AbiParam::new(clif_type(ty)));
            values.push(self.as_value(arg, ty)?);
        }
        if *ret != Ty::Void {
            sig.returns.push(AbiParam::new(clif_type(ret)));
        }
        let sig = self.b.import_signature(sig);
        let address = self.as_value(address, &U64)?;
        let call = self.b.ins().call_indirect(sig, address, &values);
        Ok(match self.b.inst_results(call).first() {
            Some(v) => Val::Num(Num { at: At::Value(*v), ty: ret.clone() }),
            None => Val::Nothing,
        })
    }
}

/// The type that two numbers are brought to.
fn common(a: &Ty, b: &Ty) -> Ty {
    match (a, b) {
        (Ty::F64, _) | (_, Ty::F64) => Ty::F64,
        (Ty::F32, _) | (_, Ty::F32) => Ty::F32,
        (Ty::Ptr(_), _) => a.clone(),
        (_, Ty::Ptr(_)) => b.clone(),
        _ => {
            let ((x, sx), (y, sy)) = (bits_of(a), bits_of(b));
            match x.cmp(&y) {
                std::cmp::Ordering::Equal => Ty::int(x.max(32), (sx && sy) || x < 32),
                std::cmp::Ordering::Greater => Ty::int(x.max(32), sx || x < 32),
                std::cmp::Ordering::Less => Ty::int(y.max(32), sy || y < 32),
            }
        }
    }
}

fn folded(op: &str, x: i128, y: i128) -> Option<i128> {
    Some(match op {
        "+" => x.wrapping_add(y),
        "-" => x.wrapping_sub(y),
        "*" => x.wrapping_mul(y),
        "/" => x.checked_div(y)?,
        "%" => x.checked_rem(y)?,
        "&" => x & y,
        "|" => x | y,
        "^" => x ^ y,
        _ => return None,
    })
}

pub(super) fn int_cc(op: &str, signed: bool) -> IntCC {
    match (op, signed) {
        ("==" | "eq", _) => IntCC::Equal,
        ("!=" | "ne", _) => IntCC::NotEqual,
        ("<" | "lt", true) => IntCC::SignedLessThan,
        ("<" | "lt", false) => IntCC::UnsignedLessThan,
        ("<=" | "le", true) => IntCC::SignedLessThanOrEqual,
        ("<=" | "le", false) => IntCC::UnsignedLessThanOrEqual,
        (">" | "gt", true) => IntCC::SignedGreaterThan,
        (">" | "gt", false) => IntCC::UnsignedGreaterThan,
        (_, true) => IntCC::SignedGreaterThanOrEqual,
        (_, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}

pub(super) fn float_cc(op: &str) -> FloatCC {
    match op {
        "==" | "eq" => FloatCC::Equal,
        "!=" | "ne" => FloatCC::NotEqual,
        "<" | "lt" => FloatCC::LessThan,
        "<=" | "le" => FloatCC::LessThanOrEqual,
        ">" | "gt" => FloatCC::GreaterThan,
        _ => FloatCC::GreaterThanOrEqual,
    }
}
