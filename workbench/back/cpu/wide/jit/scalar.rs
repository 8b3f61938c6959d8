//! Expressions of numbers.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, Signature, types};

use super::emit::{Binding, Emitter, free, is_cheap};
use super::helpers::State;
use super::value::{At, Mask, Num, Val, clif_type, wrapped};
use super::{Result, bad};
use crate::back::lane::table::{NumberOp, Op};
use crate::back::lane::tree::{Binary, Expr, Host, Unary};
use crate::back::lane::types::{Ty, bits_of, common};

/// The place of a value that may be set.
enum Place {
    Variable(Binding),
    Memory(clif::Value, i32, Ty),
}

pub(super) const I32: Ty = Ty::int(32, true);
pub(super) const U32: Ty = Ty::int(32, false);
pub(super) const I64: Ty = Ty::int(64, true);
pub(super) const U64: Ty = Ty::int(64, false);

impl<'k> Emitter<'k, '_> {
    pub(super) fn num(&mut self, expr: &'k Expr) -> Result<Num> {
        let value = self.eval(expr)?;
        self.as_num(&value)
    }

    /// A number as the machine's value of a type.
    pub(super) fn as_value(&mut self, expr: &'k Expr, ty: &Ty) -> Result<clif::Value> {
        let num = self.num(expr)?;
        let num = self.converted(&num, ty)?;
        Ok(self.value(&num))
    }

    pub(super) fn eval(&mut self, expr: &'k Expr) -> Result<Val> {
        Ok(match expr {
            Expr::Int(n, bits, unsigned) => {
                let ty = Ty::int(*bits, !unsigned);
                Val::Num(Num { at: At::Known(wrapped(i128::from(*n), &ty)), ty })
            }
            Expr::Real(x, true) => Val::Num(Num { at: At::Value(self.b.ins().f32const(*x as f32)), ty: Ty::F32 }),
            Expr::Real(x, false) => Val::Num(Num { at: At::Value(self.b.ins().f64const(*x)), ty: Ty::F64 }),
            Expr::Var(var) => {
                let binding = self.lookup(*var)?;
                self.get(&binding)?
            }
            Expr::At(..) | Expr::Index(..) | Expr::Field(..) => {
                let place = self.place(expr)?;
                self.load(&place)?
            }
            Expr::Unary(Unary::Not, of) => {
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
                (Unary::Invert, Val::Mask(mask)) => Val::Mask(self.mask_not(mask)),
                (op, value) => {
                    let num = self.as_num(&value)?;
                    Val::Num(self.unary(op, &num)?)
                }
            },
            Expr::Binary(op @ (Binary::Both | Binary::Either), a, b) => {
                // Both are computed here only if they are cheap and without effect, or if the result is no condition of a jump.
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                let at = match (a.at, b.at, *op == Binary::Both) {
                    (At::Known(0), _, true) | (_, At::Known(0), true) => At::Known(0),
                    (At::Known(_), other, true) | (other, At::Known(_), true) => other,
                    (At::Known(0), other, false) | (other, At::Known(0), false) => other,
                    (At::Known(n), ..) | (_, At::Known(n), _) => At::Known(i128::from(n != 0)),
                    (At::Value(x), At::Value(y), true) => At::Value(self.b.ins().band(x, y)),
                    (At::Value(x), At::Value(y), false) => At::Value(self.b.ins().bor(x, y)),
                };
                Val::Num(Num { at, ty: Ty::Bool })
            }
            Expr::Binary(op, a, b) => {
                if let Some(high) = self.high_half(*op, a, b)? {
                    return Ok(Val::Num(high));
                }
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                match (*op, &a, &b) {
                    (op, Val::Mask(x), Val::Mask(y)) if op.is_of_bits() => Val::Mask(self.mask_op(op, *x, *y)),
                    (op, Val::Mask(x), Val::Num(n)) | (op, Val::Num(n), Val::Mask(x))
                        if op.is_of_bits() && matches!(n.at, At::Known(0..=0xffff)) =>
                    {
                        let y = self.as_mask(&Val::Num(n.clone()))?;
                        Val::Mask(self.mask_op(op, *x, y))
                    }
                    (Binary::Eq, Val::Mask(Mask::Lanes([x, y, z, w])), Val::Num(Num { at: At::Known(0xffff), .. })) => {
                        let (low, high) = (self.b.ins().band(*x, *y), self.b.ins().band(*z, *w));
                        let all = self.b.ins().band(low, high);
                        Val::Num(Num { at: At::Value(self.b.ins().vall_true(all)), ty: Ty::Bool })
                    }
                    _ => {
                        let (x, y) = (self.as_num(&a)?, self.as_num(&b)?);
                        Val::Num(self.binary(*op, &x, &y)?)
                    }
                }
            }
            Expr::Choose(parts) => {
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
                if let Some(op) = *op {
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
            Expr::Op(op, args) => self.operation(*op, args)?,
            Expr::Call(id, args) => self.function(*id, args)?,
            Expr::Host(host) => self.call_address(host)?,
        })
    }

    /// The type of an expression of casts, names and arithmetic.
    fn type_of(&self, expr: &'k Expr) -> Result<Ty> {
        Ok(match expr {
            Expr::Int(_, bits, unsigned) => Ty::int(*bits, !unsigned),
            Expr::Var(var) => match self.lookup(*var)? {
                Binding::Value(Val::Num(num)) => num.ty,
                Binding::Value(Val::Mask(_)) => Ty::Mask,
                Binding::Variable(ty, _) => ty,
                _ => return Err(bad("a choice of something else")),
            },
            Expr::Cast(ty, _) => ty.clone(),
            Expr::Unary(Unary::Neg | Unary::Invert, of) => common(&self.type_of(of)?, &I32),
            Expr::Binary(_, a, b) => match (self.type_of(a)?, self.type_of(b)?) {
                (Ty::Mask, _) | (_, Ty::Mask) => Ty::Mask,
                (a, b) => common(&a, &b),
            },
            Expr::Choose(parts) => common(&self.type_of(&parts[1])?, &self.type_of(&parts[2])?),
            Expr::Op(Op::Number(op), _) => match op {
                NumberOp::FloatToI32 | NumberOp::DoubleToI32 => I32,
                NumberOp::FloatToU32 | NumberOp::DoubleToU32 => U32,
                NumberOp::ToI64 => I64,
                NumberOp::ToU64 => U64,
                _ => return Err(bad("a choice of something else")),
            },
            _ => return Err(bad("a choice of something else")),
        })
    }

    /// `cond ? a : b`, of which only one is computed.
    fn choice(&mut self, cond: clif::Value, a: &'k Expr, b: &'k Expr) -> Result<Val> {
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

    /// `(a * b) >> 64` in 128 bits.
    fn high_half(&mut self, op: Binary, a: &'k Expr, b: &'k Expr) -> Result<Option<Num>> {
        let (Binary::Shr, Expr::Binary(Binary::Mul, x, y), Expr::Int(64, ..)) = (op, a, b) else { return Ok(None) };
        let Expr::Cast(Ty::Int { bits: 128, signed }, x) = &**x else { return Ok(None) };
        let ty = Ty::int(64, *signed);
        let (x, y) = (self.as_value(x, &ty)?, self.as_value(y, &ty)?);
        let high = if *signed { self.b.ins().smulhi(x, y) } else { self.b.ins().umulhi(x, y) };
        Ok(Some(Num { at: At::Value(high), ty }))
    }

    fn place(&mut self, expr: &'k Expr) -> Result<Place> {
        match expr {
            Expr::Var(var) => Ok(Place::Variable(self.lookup(*var)?)),
            Expr::At(_, of) => {
                let num = self.num(of)?;
                let Ty::Ptr(ty) = &num.ty else { return Err(bad("what no pointer points to")) };
                Ok(Place::Memory(self.value(&num), 0, (**ty).clone()))
            }
            Expr::Index(of, index) => {
                let (of, index) = (self.num(of)?, self.num(index)?);
                let at = self.binary(Binary::Add, &of, &index)?;
                let Ty::Ptr(ty) = &at.ty else { return Err(bad("an element of no array")) };
                Ok(Place::Memory(self.value(&at), 0, (**ty).clone()))
            }
            Expr::Field(state, field) => match self.lookup(*state)? {
                Binding::Memory(Ty::State, slot) => {
                    let at = self.b.ins().stack_addr(types::I64, slot, 0);
                    Ok(Place::Memory(at, State::place_of(*field), U32))
                }
                _ => Err(bad("a member of something else")),
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

    /// The truth of an expression (it is not zero), as a number of 8 bits.
    pub(super) fn truth(&mut self, expr: &'k Expr) -> Result<Num> {
        if let Expr::Op(Op::Number(NumberOp::Likely | NumberOp::Unlikely), args) = expr
            && let [one] = &args[..]
        {
            return self.truth(one);
        }
        Ok(match self.eval(expr)? {
            Val::Mask(mask) => self.mask_any(mask),
            Val::Num(num) if num.ty == Ty::Bool => num,
            Val::Num(Num { at: At::Known(n), .. }) => Num { at: At::Known(i128::from(n != 0)), ty: Ty::Bool },
            Val::Num(num) => {
                let zero = self.converted(&Num { at: At::Known(0), ty: I32 }, &num.ty)?;
                self.compare(Binary::Ne, &num, &zero)?
            }
            Val::Lanes(..) | Val::Nothing => return Err(bad("a condition of lanes")),
        })
    }

    fn unary(&mut self, op: Unary, num: &Num) -> Result<Num> {
        let num = self.promoted(num)?;
        let at = match (op, num.at) {
            (Unary::Neg, At::Known(n)) => At::Known(wrapped(n.wrapping_neg(), &num.ty)),
            (Unary::Invert, At::Known(n)) => At::Known(wrapped(!n, &num.ty)),
            (Unary::Neg, At::Value(v)) if matches!(num.ty, Ty::F32 | Ty::F64) => At::Value(self.b.ins().fneg(v)),
            (Unary::Neg, At::Value(v)) => At::Value(self.b.ins().ineg(v)),
            (Unary::Invert, At::Value(v)) => At::Value(self.b.ins().bnot(v)),
            (Unary::Not, _) => return Err(bad("`!` of a number's bits")),
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

    pub(super) fn binary(&mut self, op: Binary, a: &Num, b: &Num) -> Result<Num> {
        if let (Ty::Ptr(of), Binary::Add | Binary::Sub) = (&a.ty, op) {
            let size = i128::from(of.size());
            let by = self.converted(b, &I64)?;
            let by = self.binary(Binary::Mul, &by, &Num { at: At::Known(size), ty: I64 })?;
            let base = Num { at: a.at, ty: I64 };
            let sum = self.binary(op, &base, &by)?;
            return Ok(Num { at: sum.at, ty: a.ty.clone() });
        }
        if op.compares() {
            return self.compare(op, a, b);
        }
        let (a, b) = (self.promoted(a)?, self.promoted(b)?);
        if matches!(op, Binary::Shl | Binary::Shr) {
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
            (Binary::Add, other, At::Known(0))
            | (Binary::Add, At::Known(0), other)
            | (Binary::Sub, other, At::Known(0))
            | (Binary::Mul, other, At::Known(1))
            | (Binary::Mul, At::Known(1), other) => return Ok(Num { at: other, ty }),
            (Binary::Mul, At::Known(0), _) | (Binary::Mul, _, At::Known(0)) => return Ok(Num { at: At::Known(0), ty }),
            _ => {}
        }
        let (x, y) = (self.value(&a), self.value(&b));
        let ins = self.b.ins();
        let v = if matches!(ty, Ty::F32 | Ty::F64) {
            match op {
                Binary::Add => ins.fadd(x, y),
                Binary::Sub => ins.fsub(x, y),
                Binary::Mul => ins.fmul(x, y),
                Binary::Div => ins.fdiv(x, y),
                _ => return Err(bad(format!("`{}` of floats", op.sign()))),
            }
        } else {
            let (_, signed) = bits_of(&ty);
            match op {
                Binary::Add => ins.iadd(x, y),
                Binary::Sub => ins.isub(x, y),
                Binary::Mul => ins.imul(x, y),
                Binary::Div if signed => ins.sdiv(x, y),
                Binary::Div => ins.udiv(x, y),
                Binary::Rem if signed => ins.srem(x, y),
                Binary::Rem => ins.urem(x, y),
                Binary::And => ins.band(x, y),
                Binary::Or => ins.bor(x, y),
                Binary::Xor => ins.bxor(x, y),
                _ => return Err(bad(format!("`{}`", op.sign()))),
            }
        };
        Ok(Num { at: At::Value(v), ty })
    }

    fn shift(&mut self, op: Binary, a: &Num, b: &Num) -> Result<Num> {
        let ty = a.ty.clone();
        let (_, signed) = bits_of(&ty);
        if let (At::Known(x), At::Known(n @ 0..=127)) = (a.at, b.at) {
            let n = n as u32;
            return Ok(Num { at: At::Known(wrapped(if op == Binary::Shl { x << n } else { x >> n }, &ty)), ty });
        }
        let by = self.converted(b, &I32)?;
        let (x, n) = (self.value(a), self.value(&by));
        let v = match (op, signed) {
            (Binary::Shl, _) => self.b.ins().ishl(x, n),
            (_, true) => self.b.ins().sshr(x, n),
            (_, false) => self.b.ins().ushr(x, n),
        };
        Ok(Num { at: At::Value(v), ty })
    }

    pub(super) fn compare(&mut self, op: Binary, a: &Num, b: &Num) -> Result<Num> {
        let (a, b) = (self.promoted(a)?, self.promoted(b)?);
        let ty = common(&a.ty, &b.ty);
        let (a, b) = (self.converted(&a, &ty)?, self.converted(&b, &ty)?);
        if let (At::Known(x), At::Known(y)) = (a.at, b.at) {
            let is = match op {
                Binary::Eq => x == y,
                Binary::Ne => x != y,
                Binary::Lt => x < y,
                Binary::Le => x <= y,
                Binary::Gt => x > y,
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
    fn call_address(&mut self, Host { gives: ret, params, address, args }: &'k Host) -> Result<Val> {
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

fn folded(op: Binary, x: i128, y: i128) -> Option<i128> {
    Some(match op {
        Binary::Add => x.wrapping_add(y),
        Binary::Sub => x.wrapping_sub(y),
        Binary::Mul => x.wrapping_mul(y),
        Binary::Div => x.checked_div(y)?,
        Binary::Rem => x.checked_rem(y)?,
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
        _ => return None,
    })
}

/// The code generator's comparison of integers.
pub(super) fn int_cc(op: Binary, signed: bool) -> IntCC {
    match (op, signed) {
        (Binary::Eq, _) => IntCC::Equal,
        (Binary::Ne, _) => IntCC::NotEqual,
        (Binary::Lt, true) => IntCC::SignedLessThan,
        (Binary::Lt, false) => IntCC::UnsignedLessThan,
        (Binary::Le, true) => IntCC::SignedLessThanOrEqual,
        (Binary::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (Binary::Gt, true) => IntCC::SignedGreaterThan,
        (Binary::Gt, false) => IntCC::UnsignedGreaterThan,
        (_, true) => IntCC::SignedGreaterThanOrEqual,
        (_, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}

/// The code generator's comparison of floats.
pub(super) fn float_cc(op: Binary) -> FloatCC {
    match op {
        Binary::Eq => FloatCC::Equal,
        Binary::Ne => FloatCC::NotEqual,
        Binary::Lt => FloatCC::LessThan,
        Binary::Le => FloatCC::LessThanOrEqual,
        Binary::Gt => FloatCC::GreaterThan,
        _ => FloatCC::GreaterThanOrEqual,
    }
}
