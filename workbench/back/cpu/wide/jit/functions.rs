//! Operations of one number.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::emit::Emitter;
use super::helpers::Callee;
use super::scalar::{I32, I64, U32, U64};
use super::value::{At, Num, Val, clif_type};
use super::{Result, bad};
use crate::back::cpu::abi::site::FAR;
use crate::back::cpu::lower::{dot, halves};
use crate::back::lane::table::{NumberOp, Op};
use crate::back::lane::tree::{Binary, Expr};
use crate::back::lane::types::{Ty, bits_of};

/// The operands of an operation, as many as the table says.
fn operands<const N: usize>(args: &[Expr]) -> Result<&[Expr; N]> {
    args.try_into().map_err(|_| bad("another number of operands"))
}

impl<'k> Emitter<'k, '_> {
    fn float_max(&mut self, max: bool, ty: &Ty, args: &'k [Expr]) -> Result<Val> {
        let [x, y] = operands(args)?;
        let (x, y) = (self.as_value(x, ty)?, self.as_value(y, ty)?);
        let bits = if *ty == Ty::F32 { types::I32 } else { types::I64 };
        let flags = clif::MemFlagsData::new();
        let (i, j) = (self.b.ins().bitcast(bits, flags, x), self.b.ins().bitcast(bits, flags, y));
        let both = if max { self.b.ins().band(i, j) } else { self.b.ins().bor(i, j) };
        let both = self.b.ins().bitcast(clif_type(ty), flags, both);
        let cc = if max { FloatCC::GreaterThan } else { FloatCC::LessThan };
        let wins = self.b.ins().fcmp(cc, x, y);
        let one = self.b.ins().select(wins, x, y);
        let equal = self.b.ins().fcmp(FloatCC::Equal, x, y);
        let one = self.b.ins().select(equal, both, one);
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, y, y);
        Ok(given(self.b.ins().select(is_nan, x, one), ty.clone()))
    }

    /// An operation that is one instruction of the code generator.
    fn instruction<const N: usize>(
        &mut self,
        ty: &Ty,
        args: &'k [Expr],
        make: impl FnOnce(&mut Self, [clif::Value; N]) -> clif::Value,
    ) -> Result<Val> {
        let args: &[Expr; N] = operands(args)?;
        let mut values = Vec::with_capacity(N);
        for arg in args {
            values.push(self.as_value(arg, ty)?);
        }
        let values: [clif::Value; N] = values.try_into().map_err(|_| bad("another number of operands"))?;
        Ok(given(make(self, values), ty.clone()))
    }

    /// The bits of a number as one of another type.
    fn recast(&mut self, args: &'k [Expr], from: &Ty, to: Ty) -> Result<Val> {
        let [a] = operands(args)?;
        let v = self.as_value(a, from)?;
        let v = self.b.ins().bitcast(clif_type(&to), clif::MemFlagsData::new(), v);
        Ok(given(v, to))
    }

    /// A count of bits of a number, as an `int`.
    fn counted(
        &mut self,
        args: &'k [Expr],
        from: &Ty,
        count: impl FnOnce(&mut Self, clif::Value) -> clif::Value,
    ) -> Result<Val> {
        let [x] = operands(args)?;
        let v = self.as_value(x, from)?;
        let found = count(self, v);
        Ok(given(if *from == U64 { self.b.ins().ireduce(types::I32, found) } else { found }, I32))
    }

    fn first_bit(&mut self, v: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(v);
        let (place, zero) = (self.b.ins().ctz(v), self.b.ins().iconst(ty, 0));
        let next = self.b.ins().iadd_imm_s(place, 1);
        let is_zero = self.b.ins().icmp(IntCC::Equal, v, zero);
        self.b.ins().select(is_zero, zero, next)
    }

    /// A float as an integer; of NaN zero, or the top bit alone.
    fn whole_number(&mut self, args: &'k [Expr], ty: Ty, top: bool) -> Result<Val> {
        let [x] = operands(args)?;
        let x = self.as_value(x, &Ty::F64)?;
        let (bits, signed) = bits_of(&ty);
        let into = clif_type(&ty);
        let v = match signed {
            true => self.b.ins().fcvt_to_sint_sat(into, x),
            false => self.b.ins().fcvt_to_uint_sat(into, x),
        };
        if !top {
            return Ok(given(v, ty));
        }
        let top = self.value(&Num { at: At::Known(1 << (bits - 1)), ty: Ty::int(bits, false) });
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
        Ok(given(self.b.ins().select(is_nan, top, v), ty))
    }

    /// The bits of a mask.
    fn bits_of_mask(&mut self, mask: &'k Expr) -> Result<clif::Value> {
        let mask = self.eval(mask)?;
        let mask = self.as_mask(&mask)?;
        Ok(self.mask_bits(mask))
    }

    fn far_shift(&mut self, op: NumberOp, args: &'k [Expr]) -> Result<Val> {
        let [x, n] = operands(args)?;
        let (x, n) = (self.num(x)?, self.num(n)?);
        let x = self.promoted_shift(op, &x)?;
        let bits = i64::from(bits_of(&x.ty).0);
        // Amounts are unsigned.
        let n = self.converted(&n, &U64)?;
        let (x_value, n) = (self.value(&x), self.value(&n));
        let most = self.b.ins().iconst(types::I64, bits - 1);
        let ty = clif_type(&x.ty);
        if op == NumberOp::Sar {
            let n = self.b.ins().umin(n, most);
            return Ok(given(self.b.ins().sshr(x_value, n), x.ty));
        }
        let shifted = if op == NumberOp::Shl { self.b.ins().ishl(x_value, n) } else { self.b.ins().ushr(x_value, n) };
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, n, most);
        let zero = self.b.ins().iconst(ty, 0);
        Ok(given(self.b.ins().select(fits, shifted, zero), x.ty))
    }

    /// An operation of one number.
    pub(super) fn number(&mut self, op: NumberOp, args: &'k [Expr]) -> Result<Val> {
        let (f32, f64) = (&Ty::F32, &Ty::F64);
        match op {
            NumberOp::Likely | NumberOp::Unlikely => {
                let [a] = operands(args)?;
                Ok(Val::Num(self.truth(a)?))
            }
            NumberOp::Fence => {
                self.b.ins().fence();
                Ok(Val::Nothing)
            }
            NumberOp::Prefetch => {
                let [at] = operands(args)?;
                let at = self.num(at)?;
                self.wanted.push(at);
                Ok(Val::Nothing)
            }
            NumberOp::Fill => {
                let [at, byte, bytes] = operands(args)?;
                let args = [self.eval(at)?, self.eval(byte)?, self.eval(bytes)?];
                self.call_helper(Callee::Op(Op::Number(op)), &args)
            }
            NumberOp::F32Of => self.recast(args, &U32, Ty::F32),
            NumberOp::F64Of => self.recast(args, &U64, Ty::F64),
            NumberOp::BitsF32 => self.recast(args, f32, U32),
            NumberOp::BitsF64 => self.recast(args, f64, U64),
            NumberOp::Largest => self.instruction(&I64, args, |e, [x, y]| e.b.ins().smax(x, y)),
            NumberOp::Within => {
                let [x, least, most] = operands(args)?;
                let (x, least, most) = (self.num(x)?, self.num(least)?, self.num(most)?);
                let (low, high) = (self.compare(Binary::Ge, &x, &least)?, self.compare(Binary::Lt, &x, &most)?);
                let (low, high) = (self.value(&low), self.value(&high));
                Ok(given(self.b.ins().band(low, high), Ty::Bool))
            }
            NumberOp::Shl | NumberOp::Shr | NumberOp::Sar => self.far_shift(op, args),
            NumberOp::Brev32 => self.instruction(&U32, args, |e, [x]| e.b.ins().bitrev(x)),
            NumberOp::Brev64 => self.instruction(&U64, args, |e, [x]| e.b.ins().bitrev(x)),
            NumberOp::HalfToFloat => self.instruction(&U32, args, |e, [x]| halves::to_float(&mut e.b, types::I32, x)),
            NumberOp::FloatToHalf => self.instruction(&U32, args, |e, [x]| halves::of_float(&mut e.b, types::I32, x)),
            NumberOp::Dot4I32 => self.instruction(&I32, args, |e, all| dot::dot4(&mut e.b, types::I32, true, all)),
            NumberOp::Dot4U32 => self.instruction(&U32, args, |e, all| dot::dot4(&mut e.b, types::I32, false, all)),
            NumberOp::Clz32 => self.counted(args, &U32, |e, v| e.b.ins().clz(v)),
            NumberOp::Clz64 => self.counted(args, &U64, |e, v| e.b.ins().clz(v)),
            NumberOp::Popc32 => self.counted(args, &U32, |e, v| e.b.ins().popcnt(v)),
            NumberOp::Popc64 => self.counted(args, &U64, |e, v| e.b.ins().popcnt(v)),
            NumberOp::Ffs32 => self.counted(args, &U32, Self::first_bit),
            NumberOp::Ffs64 => self.counted(args, &U64, Self::first_bit),
            NumberOp::FloatToI32 => self.whole_number(args, I32, false),
            NumberOp::FloatToU32 => self.whole_number(args, U32, false),
            NumberOp::ToI64 => self.whole_number(args, I64, true),
            NumberOp::ToU64 => self.whole_number(args, U64, true),
            NumberOp::DoubleToI32 => self.whole_number(args, I32, true),
            NumberOp::DoubleToU32 => self.whole_number(args, U32, true),
            NumberOp::FminF32 => self.float_max(false, f32, args),
            NumberOp::FmaxF32 => self.float_max(true, f32, args),
            NumberOp::FminF64 => self.float_max(false, f64, args),
            NumberOp::FmaxF64 => self.float_max(true, f64, args),
            NumberOp::CeilF32 => self.instruction(f32, args, |e, [x]| e.b.ins().ceil(x)),
            NumberOp::CeilF64 => self.instruction(f64, args, |e, [x]| e.b.ins().ceil(x)),
            NumberOp::FloorF32 => self.instruction(f32, args, |e, [x]| e.b.ins().floor(x)),
            NumberOp::FloorF64 => self.instruction(f64, args, |e, [x]| e.b.ins().floor(x)),
            NumberOp::TruncF32 => self.instruction(f32, args, |e, [x]| e.b.ins().trunc(x)),
            NumberOp::TruncF64 => self.instruction(f64, args, |e, [x]| e.b.ins().trunc(x)),
            NumberOp::RintF32 => self.instruction(f32, args, |e, [x]| e.b.ins().nearest(x)),
            NumberOp::RintF64 => self.instruction(f64, args, |e, [x]| e.b.ins().nearest(x)),
            NumberOp::SqrtF32 => self.instruction(f32, args, |e, [x]| e.b.ins().sqrt(x)),
            NumberOp::SqrtF64 => self.instruction(f64, args, |e, [x]| e.b.ins().sqrt(x)),
            NumberOp::FabsF32 => self.instruction(f32, args, |e, [x]| e.b.ins().fabs(x)),
            NumberOp::FabsF64 => self.instruction(f64, args, |e, [x]| e.b.ins().fabs(x)),
            NumberOp::CopysignF32 => self.instruction(f32, args, |e, [x, y]| e.b.ins().fcopysign(x, y)),
            NumberOp::CopysignF64 => self.instruction(f64, args, |e, [x, y]| e.b.ins().fcopysign(x, y)),
            NumberOp::FmaF32 => self.instruction(f32, args, |e, [x, y, z]| e.b.ins().fma(x, y, z)),
            NumberOp::FmaF64 => self.instruction(f64, args, |e, [x, y, z]| e.b.ins().fma(x, y, z)),
            NumberOp::IsLine => {
                let [p] = operands(args)?;
                let p = self.as_value(p, &U64)?;
                let low = self.b.ins().iconst(types::I64, 63);
                let low = self.b.ins().band(p, low);
                let zero = self.b.ins().iconst(types::I64, 0);
                Ok(given(self.b.ins().icmp(IntCC::Equal, low, zero), Ty::Bool))
            }
            NumberOp::Inside => self.inside(operands(args)?),
            NumberOp::Far => {
                let [index, reach, size] = operands(args)?;
                let (index, size) = (self.as_value(index, &I64)?, self.as_value(size, &I64)?);
                let reach = self.as_value(reach, &I64)?;
                let (sum, twice) = (self.b.ins().iadd(index, reach), self.b.ins().iadd(reach, reach));
                let near = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, sum, twice);
                let at = self.b.ins().imul(index, size);
                let far = self.b.ins().iconst(types::I64, FAR);
                Ok(given(self.b.ins().select(near, at, far), I64))
            }
            NumberOp::FirstLane => {
                let [mask] = operands(args)?;
                let bits = self.bits_of_mask(mask)?;
                Ok(given(self.b.ins().ctz(bits), U32))
            }
            NumberOp::LastLane => {
                let [mask] = operands(args)?;
                let bits = self.bits_of_mask(mask)?;
                let (zeros, most) = (self.b.ins().clz(bits), self.b.ins().iconst(types::I32, 31));
                Ok(given(self.b.ins().isub(most, zeros), U32))
            }
            NumberOp::LaneB1 => {
                let [mask, lane] = operands(args)?;
                let (bits, lane) = (self.bits_of_mask(mask)?, self.as_value(lane, &U32)?);
                let at = self.b.ins().ushr(bits, lane);
                let one = self.b.ins().iconst(types::I32, 1);
                let bit = self.b.ins().band(at, one);
                Ok(given(self.b.ins().ireduce(types::I8, bit), Ty::Bool))
            }
        }
    }

    /// True if the neighbouring elements of a mask's lanes are all in bounds.
    fn inside(&mut self, [mask, o, size, limit]: &'k [Expr; 4]) -> Result<Val> {
        let bits = self.bits_of_mask(mask)?;
        let (o, size) = (self.as_value(o, &I64)?, self.as_value(size, &I64)?);
        let limit = self.as_value(limit, &U64)?;
        let wide = self.b.ins().uextend(types::I64, bits);
        let (first, zeros) = (self.b.ins().ctz(wide), self.b.ins().clz(wide));
        let most = self.b.ins().iconst(types::I64, 63);
        let last = self.b.ins().isub(most, zeros);
        let [low, high] = [first, last].map(|lane| {
            let by = self.b.ins().imul(lane, size);
            let at = self.b.ins().iadd(o, by);
            self.b.ins().icmp(IntCC::UnsignedLessThan, at, limit)
        });
        let zero = self.b.ins().iconst(types::I32, 0);
        let nobody = self.b.ins().icmp(IntCC::Equal, bits, zero);
        let both = self.b.ins().band(low, high);
        Ok(given(self.b.ins().bor(both, nobody), Ty::Bool))
    }

    /// The type in which a number is shifted: a right shift keeps a narrow number as it is.
    fn promoted_shift(&mut self, op: NumberOp, x: &Num) -> Result<Num> {
        match x.ty {
            Ty::Bool | Ty::Int { bits: 8 | 16, .. } if op == NumberOp::Shl => self.converted(x, &I32),
            Ty::Bool => self.converted(x, &U32),
            _ => Ok(x.clone()),
        }
    }
}

fn given(v: clif::Value, ty: Ty) -> Val {
    Val::Num(Num { at: At::Value(v), ty })
}
