//! Ops on lanes, for four threads at once. Each means the same as its scalar form in `arith` and `expr`.
//!
//! Numbers of 32 bits are one vector, of 64 bits two; a truth value is all ones or zeros in lanes as wide as the
//! numbers compared.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    self as clif, ConstantData, Endianness, InstBuilder, MemFlagsData, Type as ClifType, types,
};

use super::row::Ops;
use super::{FuncLower, Result, scalar_type};
use crate::back::cpu::facts::vector::{Kind, LANES, VectorPlan};
use crate::ir::{BinaryOp, CompareOp, Const, Local, MathFn, Op, Scalar, UnaryOp, Value};
use crate::source::Span;

/// The vectors that hold a group's numbers: one of 32-bit lanes, or two of 64-bit lanes.
pub(super) type Lanes = Vec<clif::Value>;

/// The values that a group of threads has computed so far.
pub(super) struct Group {
    /// The group's place in the chunk.
    pub number: i64,
    pub lanes: Vec<Option<Lanes>>,
    pub locals: BTreeMap<Local, Lanes>,
}

fn vector_type(s: Scalar) -> ClifType {
    match s {
        Scalar::F32 => types::F32X4,
        Scalar::F64 => types::F64X2,
        _ if s.size() == 8 => types::I64X2,
        _ => types::I32X4,
    }
}

/// Flags of a checked access that is aligned to its element, not to the vector.
pub(super) fn unaligned() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

fn bits() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

impl<'m> FuncLower<'_, 'm> {
    /// The lanes of a value, computed from its affine form if need be.
    pub(super) fn lanes(&mut self, plan: &VectorPlan, group: &Group, v: Value) -> Result<Lanes> {
        if let Some(Some(lanes)) = group.lanes.get(v.index()) {
            return Ok(lanes.clone());
        }
        let Some(Kind::Line(step)) = plan.kinds.get(v.index()).copied() else {
            return Err(self.bad(Span::NONE, format_args!("{v} has no lanes")));
        };
        let (scalar, first) = (self.scalar_of(v)?, self.scalar(v)?);
        if scalar == Scalar::Bool {
            let bits = self.b.ins().bmask(types::I32, first);
            return Ok(vec![self.b.ins().splat(types::I32X4, bits)]);
        }
        if !matches!(scalar, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32) {
            return Err(self.bad(Span::NONE, format_args!("{v} is not of a type that lanes have")));
        }
        let mut vector = self.b.ins().splat(vector_type(scalar), first);
        if step != 0 {
            let start = group.number * LANES;
            let places: Vec<u8> =
                (start..start + LANES).flat_map(|lane| ((lane * step) as u32).to_le_bytes()).collect();
            let places = self.b.func.dfg.constants.insert(ConstantData::from(places));
            let places = self.b.ins().vconst(types::I32X4, places);
            vector = self.b.ins().iadd(vector, places);
        }
        Ok(vec![vector; scalar.size() as usize / 4])
    }

    fn each2(
        &mut self,
        a: &Lanes,
        b: &Lanes,
        mut f: impl FnMut(&mut Self, clif::Value, clif::Value) -> clif::Value,
    ) -> Lanes {
        a.iter().zip(b).map(|(a, b)| f(self, *a, *b)).collect()
    }

    fn each(&mut self, a: &Lanes, mut f: impl FnMut(&mut Self, clif::Value) -> clif::Value) -> Lanes {
        a.iter().map(|a| f(self, *a)).collect()
    }

    pub(super) fn lane_op(
        &mut self,
        plan: &VectorPlan,
        ops: &Ops<'m>,
        group: &Group,
        v: Value,
        op: &Op,
    ) -> Result<Lanes> {
        match op {
            Op::Load { ptr, .. } => {
                let scalar = self.scalar_of(v)?;
                let size = i64::from(scalar.size());
                let at = self.start_of_line(*ptr)?;
                let vectors = size / 4;
                Ok((0..vectors)
                    .map(|i| {
                        let offset = group.number * LANES * size + 16 * i;
                        self.b.ins().load(vector_type(scalar), unaligned(), at, offset as i32)
                    })
                    .collect())
            }
            Op::Unary(op, a) => {
                let is_float = self.scalar_of(*a)?.is_float();
                let a = self.lanes(plan, group, *a)?;
                Ok(self.each(&a, |l, a| match (op, is_float) {
                    (UnaryOp::Neg, true) => l.b.ins().fneg(a),
                    (UnaryOp::Neg, false) => l.b.ins().ineg(a),
                    (UnaryOp::Not, _) => l.b.ins().bnot(a),
                }))
            }
            Op::Binary(op, a, b) => self.lane_binary(plan, ops, group, *op, *a, *b),
            Op::Compare(op, a, b) => {
                let scalar = self.scalar_of(*a)?;
                let (a, b) = (self.lanes(plan, group, *a)?, self.lanes(plan, group, *b)?);
                Ok(self.each2(&a, &b, |l, a, b| l.compare_lanes(*op, scalar, a, b)))
            }
            Op::Convert(to, a) => {
                let from = self.scalar_of(*a)?;
                let a = self.lanes(plan, group, *a)?;
                Ok(match (from, *to) {
                    (Scalar::Bool, _) => {
                        let one = self.int(types::I32, 1);
                        let one = self.b.ins().splat(types::I32X4, one);
                        let a = self.resize_mask(a, 4);
                        self.each(&a, |l, a| l.b.ins().band(a, one))
                    }
                    (_, Scalar::Bool) => {
                        let zero = self.zero(scalar_type(from));
                        let zero = self.b.ins().splat(vector_type(from), zero);
                        self.each(&a, |l, a| l.compare_lanes(CompareOp::Ne, from, a, zero))
                    }
                    _ => self.convert_lanes(from, *to, a),
                })
            }
            Op::Bitcast(to, a) => {
                let from = self.scalar_of(*a)?;
                let a = self.lanes(plan, group, *a)?;
                let (from, to) = (vector_type(from), vector_type(*to));
                Ok(if from == to { a } else { self.each(&a, |l, a| l.b.ins().bitcast(to, bits(), a)) })
            }
            Op::Select(cond, a, b) => {
                let scalar = self.scalar_of(*a)?;
                let (a, b) = (self.lanes(plan, group, *a)?, self.lanes(plan, group, *b)?);
                self.select_lanes(plan, group, *cond, scalar, &a, &b)
            }
            Op::Math(math, args) => self.lane_math(plan, ops, group, *math, args),
            _ => Err(self.bad(Span::NONE, format_args!("{v} cannot be computed in lanes"))),
        }
    }

    fn lane_binary(
        &mut self,
        plan: &VectorPlan,
        ops: &Ops<'m>,
        group: &Group,
        op: BinaryOp,
        a: Value,
        b: Value,
    ) -> Result<Lanes> {
        let scalar = self.scalar_of(a)?;
        let x = self.lanes(plan, group, a)?;
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let amount = match ops.get(b.index()).copied().flatten() {
                Some(Op::Const(Const::Int(_, n))) => self.int(types::I32, *n),
                _ => return Err(self.bad(Span::NONE, "a shift of lanes by a number that is not constant")),
            };
            return Ok(self.each(&x, |l, x| match (op, scalar.is_signed()) {
                (BinaryOp::Shl, _) => l.b.ins().ishl(x, amount),
                (_, true) => l.b.ins().sshr(x, amount),
                (_, false) => l.b.ins().ushr(x, amount),
            }));
        }
        let mut y = self.lanes(plan, group, b)?;
        if scalar == Scalar::Bool {
            y = self.resize_mask(y, if x.len() == 1 { 4 } else { 8 });
        }
        let (float, signed) = (scalar.is_float(), scalar.is_signed());
        let of_lanes = |l: &mut Self, x, y| {
            let ins = l.b.ins();
            Some(match op {
                BinaryOp::Add if float => ins.fadd(x, y),
                BinaryOp::Sub if float => ins.fsub(x, y),
                BinaryOp::Mul if float => ins.fmul(x, y),
                BinaryOp::Div if float => ins.fdiv(x, y),
                BinaryOp::Add => ins.iadd(x, y),
                BinaryOp::Sub => ins.isub(x, y),
                BinaryOp::Mul => ins.imul(x, y),
                BinaryOp::And => ins.band(x, y),
                BinaryOp::Or => ins.bor(x, y),
                BinaryOp::Xor => ins.bxor(x, y),
                BinaryOp::Min if signed => ins.smin(x, y),
                BinaryOp::Min => ins.umin(x, y),
                BinaryOp::Max if signed => ins.smax(x, y),
                BinaryOp::Max => ins.umax(x, y),
                _ => return None,
            })
        };
        let lanes: Option<Lanes> = x.iter().zip(&y).map(|(x, y)| of_lanes(self, *x, *y)).collect();
        lanes.ok_or_else(|| self.bad(Span::NONE, format_args!("{op:?} of lanes")))
    }

    fn compare_lanes(&mut self, op: CompareOp, scalar: Scalar, a: clif::Value, b: clif::Value) -> clif::Value {
        if scalar.is_float() {
            let cc = match op {
                CompareOp::Eq => FloatCC::Equal,
                CompareOp::Ne => FloatCC::NotEqual,
                CompareOp::Lt => FloatCC::LessThan,
                CompareOp::Le => FloatCC::LessThanOrEqual,
                CompareOp::Gt => FloatCC::GreaterThan,
                CompareOp::Ge => FloatCC::GreaterThanOrEqual,
            };
            return self.b.ins().fcmp(cc, a, b);
        }
        self.b.ins().icmp(super::arith::int_cc(op, scalar.is_signed()), a, b)
    }

    /// The lanes of a mask's low and high half, at twice the size, or of two masks at half the size.
    pub(super) fn resize_mask(&mut self, mask: Lanes, bytes: u32) -> Lanes {
        match (mask[..].len(), bytes) {
            (1, 8) => vec![self.b.ins().swiden_low(mask[0]), self.b.ins().swiden_high(mask[0])],
            (2, 4) => {
                let halves = self.each(&mask, |l, m| l.b.ins().bitcast(types::I8X16, bits(), m));
                let joined = self.low_halves(halves[0], halves[1]);
                vec![self.b.ins().bitcast(types::I32X4, bits(), joined)]
            }
            _ => mask,
        }
    }

    /// Lanes 0 and 2 of two vectors of four, seen as bytes.
    fn low_halves(&mut self, a: clif::Value, b: clif::Value) -> clif::Value {
        let order = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27u8];
        let order = self.b.func.dfg.immediates.push(ConstantData::from(&order[..]));
        self.b.ins().shuffle(a, b, order)
    }

    pub(super) fn select_lanes(
        &mut self,
        plan: &VectorPlan,
        group: &Group,
        cond: Value,
        scalar: Scalar,
        a: &Lanes,
        b: &Lanes,
    ) -> Result<Lanes> {
        let Some(Some(mask)) = group.lanes.get(cond.index()).cloned() else {
            let Some(Kind::Line(_)) = plan.kinds.get(cond.index()) else {
                return Err(self.bad(Span::NONE, format_args!("{cond} is no truth value of lanes")));
            };
            let cond = self.scalar(cond)?;
            return Ok(self.each2(a, b, |l, a, b| l.b.ins().select(cond, a, b)));
        };
        let mask = self.resize_mask(mask, scalar.size());
        let ty = vector_type(scalar);
        let mask = if scalar.is_float() { self.each(&mask, |l, m| l.b.ins().bitcast(ty, bits(), m)) } else { mask };
        Ok(mask.iter().zip(a.iter().zip(b)).map(|(m, (a, b))| self.b.ins().bitselect(*m, *a, *b)).collect())
    }

    fn convert_lanes(&mut self, from: Scalar, to: Scalar, a: Lanes) -> Lanes {
        match (from, to) {
            (Scalar::I32, Scalar::F32) => self.each(&a, |l, a| l.b.ins().fcvt_from_sint(types::F32X4, a)),
            (Scalar::U32, Scalar::F32) => self.each(&a, |l, a| l.b.ins().fcvt_from_uint(types::F32X4, a)),
            (Scalar::F32, Scalar::I32) => self.each(&a, |l, a| l.b.ins().fcvt_to_sint_sat(types::I32X4, a)),
            (Scalar::F32, Scalar::F64) => {
                let low = self.b.ins().fvpromote_low(a[0]);
                let bytes = self.b.ins().bitcast(types::I8X16, bits(), a[0]);
                let order: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7];
                let order = self.b.func.dfg.immediates.push(ConstantData::from(&order[..]));
                let swapped = self.b.ins().shuffle(bytes, bytes, order);
                let swapped = self.b.ins().bitcast(types::F32X4, bits(), swapped);
                vec![low, self.b.ins().fvpromote_low(swapped)]
            }
            (Scalar::F64, Scalar::F32) => {
                let halves = self.each(&a, |l, a| {
                    let half = l.b.ins().fvdemote(a);
                    l.b.ins().bitcast(types::I8X16, bits(), half)
                });
                let order: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
                let order = self.b.func.dfg.immediates.push(ConstantData::from(&order[..]));
                let joined = self.b.ins().shuffle(halves[0], halves[1], order);
                vec![self.b.ins().bitcast(types::F32X4, bits(), joined)]
            }
            // Integers of one width are the same bits.
            _ => a,
        }
    }

    fn lane_math(
        &mut self,
        plan: &VectorPlan,
        ops: &Ops<'m>,
        group: &Group,
        math: MathFn,
        args: &[Value],
    ) -> Result<Lanes> {
        let mut given = Vec::with_capacity(3);
        for arg in args {
            given.push(self.lanes(plan, group, *arg)?);
        }
        let (Some(a), Some(arg)) = (given.first().cloned(), args.first()) else {
            return Err(self.bad(Span::NONE, format_args!("`{}` of nothing", math.name())));
        };
        let scalar = self.scalar_of(*arg)?;
        let ty = vector_type(scalar);
        Ok(match (math, given.get(1), given.get(2)) {
            (MathFn::Ceil, ..) => self.each(&a, |l, a| l.b.ins().ceil(a)),
            (MathFn::Floor, ..) => self.each(&a, |l, a| l.b.ins().floor(a)),
            (MathFn::Trunc, ..) => self.each(&a, |l, a| l.b.ins().trunc(a)),
            (MathFn::Rint, ..) => self.each(&a, |l, a| l.b.ins().nearest(a)),
            (MathFn::Sqrt, ..) => self.each(&a, |l, a| l.b.ins().sqrt(a)),
            (MathFn::Fabs, ..) => self.each(&a, |l, a| l.b.ins().fabs(a)),
            (MathFn::Rsqrt, ..) => {
                let one = self.b.ins().f32const(1.0);
                let one = self.b.ins().splat(ty, one);
                self.each(&a, |l, a| {
                    let root = l.b.ins().sqrt(a);
                    l.b.ins().fdiv(one, root)
                })
            }
            (MathFn::Fmin | MathFn::Fmax, Some(b), _)
                if args.get(1).is_some_and(|b| decides_alone(math, ops.get(b.index()).copied().flatten())) =>
            {
                let cc = if math == MathFn::Fmin { FloatCC::LessThan } else { FloatCC::GreaterThan };
                self.each2(&a, b, |l, a, b| {
                    let wins = l.b.ins().fcmp(cc, a, b);
                    let wins = l.b.ins().bitcast(ty, bits(), wins);
                    l.b.ins().bitselect(wins, a, b)
                })
            }
            (MathFn::Fmin | MathFn::Fmax, Some(b), _) => self.each2(&a, b, |l, a, b| {
                let both = if math == MathFn::Fmin { l.b.ins().fmin(a, b) } else { l.b.ins().fmax(a, b) };
                let with_b = l.unless_nan(ty, b, a, both);
                l.unless_nan(ty, a, b, with_b)
            }),
            (MathFn::Fma, Some(b), Some(c)) => {
                a.iter().zip(b.iter().zip(c)).map(|(a, (b, c))| self.b.ins().fma(*a, *b, *c)).collect()
            }
            _ => return Err(self.bad(Span::NONE, format_args!("`{}` of lanes", math.name()))),
        })
    }

    /// `value`, or `other` in the lanes where `tested` is NaN.
    fn unless_nan(&mut self, ty: ClifType, tested: clif::Value, other: clif::Value, value: clif::Value) -> clif::Value {
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, tested, tested);
        let is_nan = self.b.ins().bitcast(ty, bits(), is_nan);
        self.b.ins().bitselect(is_nan, other, value)
    }
}

/// True if a comparison alone finds the smaller or larger of any number and this one: a constant that wins over NaN, and that
/// is right where the two compare equal, whatever the sign of a zero.
fn decides_alone(math: MathFn, op: Option<&Op>) -> bool {
    let c = match op {
        Some(Op::Const(Const::F32(x))) => f64::from(*x),
        Some(Op::Const(Const::F64(x))) => *x,
        _ => return false,
    };
    !c.is_nan() && (c != 0.0 || c.is_sign_negative() == (math == MathFn::Fmin))
}
