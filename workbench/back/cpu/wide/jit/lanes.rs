//! Operations of lanes: an instruction a vector where the machine has one, else a helper for all 16.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::emit::Emitter;
use super::helpers::Callee;
use super::scalar::{float_cc, int_cc};
use super::value::{At, Mask, Num, Parts, Val, Vectors, clif_type};
use super::{Result, bad};
use crate::back::cpu::abi::site::FAR;
use crate::back::cpu::lower::{dot, halves};
use crate::back::lane::table::{Kind, LaneOp, Op};
use crate::back::lane::tree::{Binary, Expr, FunctionId};
use crate::back::lane::types::{Operand, Ty};

impl<'k> Emitter<'k, '_> {
    /// An operation of the table.
    pub(super) fn operation(&mut self, op: Op, args: &'k [Expr]) -> Result<Val> {
        if let Op::Number(op) = op {
            return self.number(op, args);
        }
        let values = self.all(args)?;
        match op {
            Op::Lanes(op) => self.lanes(op, &values),
            Op::Memory(op) => self.access(op, &values),
            Op::Number(_) | Op::Atomic(_) | Op::Fault(_) => self.call_helper(Callee::Op(op), &values),
        }
    }

    /// A call of one of the kernel's functions: in the processor's widest vectors, if this process has such a function.
    pub(super) fn function(&mut self, id: FunctionId, args: &'k [Expr]) -> Result<Val> {
        let values = self.all(args)?;
        let kernel = self.kernel;
        match kernel.function(id).math.map(|(math, kind)| Callee::Math(math, kind)) {
            Some(callee) if callee.is_there() => self.call_helper(callee, &values),
            _ => self.inline(id, values),
        }
    }

    /// The values of operands.
    fn all(&mut self, args: &'k [Expr]) -> Result<Vec<Val>> {
        let mut values = Vec::with_capacity(args.len());
        for (i, arg) in args.iter().enumerate() {
            // A fault of lanes has two operands of lanes, mostly equal expressions, which are evaluated once.
            let is_call = matches!(arg, Expr::Op(..) | Expr::Call(..) | Expr::Host(_));
            let same = if is_call { args[..i].iter().position(|before| before == arg) } else { None };
            let value = match same.and_then(|i| values.get(i)) {
                Some(value) => Val::clone(value),
                None => self.eval(arg)?,
            };
            values.push(value);
        }
        Ok(values)
    }

    pub(super) fn each(
        &mut self,
        kind: Kind,
        a: &Parts,
        mut f: impl FnMut(&mut Self, clif::Value) -> clif::Value,
    ) -> Parts {
        let mut all = *a;
        for part in &mut all[..kind.count()] {
            *part = f(self, *part);
        }
        all
    }

    pub(super) fn each2(
        &mut self,
        kind: Kind,
        a: &Parts,
        b: &Parts,
        mut f: impl FnMut(&mut Self, clif::Value, clif::Value) -> clif::Value,
    ) -> Parts {
        let mut all = *a;
        for (part, b) in all[..kind.count()].iter_mut().zip(b) {
            *part = f(self, *part, *b);
        }
        all
    }

    /// A number in all lanes.
    pub(super) fn splat(&mut self, kind: Kind, num: &Num) -> Result<Parts> {
        let num = self.converted(num, &kind.scalar())?;
        if let At::Known(n) = num.at {
            let bytes = match kind.count() {
                4 => (n as i32).to_le_bytes().repeat(4),
                _ => (n as i64).to_le_bytes().repeat(2),
            };
            return Ok([self.constant(kind.vector(), bytes); 8]);
        }
        let v = self.value(&num);
        Ok([self.b.ins().splat(kind.vector(), v); 8])
    }

    fn known_lanes(&mut self, kind: Kind, bits: u64) -> Parts {
        let bytes = match kind.count() {
            4 => (bits as u32).to_le_bytes().repeat(4),
            _ => bits.to_le_bytes().repeat(2),
        };
        [self.constant(kind.vector(), bytes); 8]
    }

    /// A float in all lanes.
    fn floats(&mut self, kind: Kind, x: f64) -> Parts {
        self.known_lanes(kind, if kind == Kind::F32 { u64::from((x as f32).to_bits()) } else { x.to_bits() })
    }

    /// Numbers at equal steps.
    pub(super) fn line(&mut self, kind: Kind, first: &Num, step: &Num) -> Result<Parts> {
        let base = self.splat(kind, first)?;
        let (per, ty) = (16 / kind.count() as i64, kind.vector());
        let mut all = base;
        for (i, part) in all.iter_mut().enumerate().take(kind.count()) {
            let start = i as i64 * per;
            let places = match step.at {
                At::Known(step) => {
                    let of = |lane: i64| lane.wrapping_mul(step as i64);
                    let bytes = match kind {
                        Kind::I32 => (start..start + per).flat_map(|l| (of(l) as i32).to_le_bytes()).collect(),
                        _ => (start..start + per).flat_map(|l| of(l).to_le_bytes()).collect(),
                    };
                    self.constant(ty, bytes)
                }
                At::Value(_) => {
                    let bytes = match kind {
                        Kind::I32 => (start..start + per).flat_map(|l| (l as i32).to_le_bytes()).collect(),
                        _ => (start..start + per).flat_map(i64::to_le_bytes).collect(),
                    };
                    let numbers = self.constant(ty, bytes);
                    let by = self.splat(kind, step)?[0];
                    self.b.ins().imul(numbers, by)
                }
            };
            *part = self.b.ins().iadd(base[i], places);
        }
        Ok(all)
    }

    /// Lanes of the first operand where the mask is set, of the second elsewhere.
    pub(super) fn select(&mut self, kind: Kind, mask: Mask, a: &Parts, b: &Parts) -> Parts {
        match mask {
            Mask::Known(0xffff) => return *a,
            Mask::Known(0) => return *b,
            _ => {}
        }
        let masks = if kind.count() == 8 {
            self.mask_pairs(mask)
        } else {
            let [x, y, z, w] = self.mask_lanes(mask);
            [x, y, z, w, x, y, z, w]
        };
        let mut all = *a;
        for i in 0..kind.count() {
            all[i] = self.choose(kind, masks[i], a[i], b[i]);
        }
        all
    }

    fn choose(&mut self, kind: Kind, mask: clif::Value, a: clif::Value, b: clif::Value) -> clif::Value {
        let mask = self.cast(mask, kind.vector());
        self.b.ins().bitselect(mask, a, b)
    }

    fn compare_lanes(&mut self, op: Binary, kind: Kind, unsigned: bool, a: &Parts, b: &Parts) -> Mask {
        let found = self.each2(kind, a, b, |e, a, b| match kind.is_float() {
            true => e.b.ins().fcmp(float_cc(op), a, b),
            false => e.b.ins().icmp(int_cc(op, !unsigned), a, b),
        });
        if kind.count() == 8 {
            self.mask_of_pairs(&found)
        } else {
            Mask::Lanes([found[0], found[1], found[2], found[3]])
        }
    }

    /// `fmin` and `fmax` of CUDA: a NaN loses to a number; of two zeros the sign decides.
    fn float_min(&mut self, kind: Kind, max: bool, a: &Parts, b: &Parts) -> Parts {
        self.each2(kind, a, b, |e, x, y| {
            let one = e.min2(kind, max, x, y);
            // Equal operands give the second; with the first's bits that is `y & x`, or `y | x`. A selection takes three times as long.
            let equal = e.b.ins().fcmp(FloatCC::Equal, x, y);
            let equal = e.cast(equal, kind.vector());
            let one = if max {
                let cleared = e.b.ins().band_not(equal, x);
                e.b.ins().band_not(one, cleared)
            } else {
                let set = e.b.ins().band(equal, x);
                e.b.ins().bor(one, set)
            };
            let is_nan = e.b.ins().fcmp(FloatCC::Unordered, y, y);
            e.choose(kind, is_nan, x, one)
        })
    }

    /// `fdim` of CUDA: nothing is less than a NaN or equal to it, and the difference of a NaN is one.
    fn difference(&mut self, kind: Kind, args: &[Val]) -> Result<Val> {
        self.two(args, kind, |e, x, y| {
            let difference = e.b.ins().fsub(x, y);
            let is_none = e.b.ins().fcmp(FloatCC::LessThanOrEqual, x, y);
            let is_none = e.cast(is_none, kind.vector());
            e.b.ins().band_not(difference, is_none)
        })
    }

    /// The minimum or maximum; the second operand if either is NaN or both are equal.
    fn min2(&mut self, kind: Kind, max: bool, x: clif::Value, y: clif::Value) -> clif::Value {
        let wins =
            if max { self.b.ins().fcmp(FloatCC::LessThan, y, x) } else { self.b.ins().fcmp(FloatCC::LessThan, x, y) };
        self.choose(kind, wins, x, y)
    }

    /// `p` times two to the power of `n`: the bits that `Lanes::scale` gives.
    fn scale(&mut self, kind: Kind, p: &Parts, n: &Parts) -> Parts {
        let ints = kind.integers();
        let whole = if kind == Kind::F32 {
            self.each(kind, n, |e, n| e.whole(n))
        } else {
            let rounder = self.floats(kind, 6_755_399_441_055_744.0);
            self.each2(kind, n, &rounder, |e, n, rounder| {
                let sum = e.b.ins().fadd(n, rounder);
                let (sum, rounder) = (e.cast(sum, types::I64X2), e.cast(rounder, types::I64X2));
                e.b.ins().isub(sum, rounder)
            })
        };
        let (mantissa, one) = if kind == Kind::F32 { (23, 0x3f80_0000) } else { (52, 0x3ff0_0000_0000_0000) };
        let one = self.known_lanes(ints, one);
        let half = self.each(ints, &whole, |e, n| {
            if kind == Kind::F32 {
                return e.b.ins().sshr_imm_s(n, 1);
            }
            let high = e.b.ins().ishl_imm_s(n, 51);
            e.b.ins().sshr_imm_s(high, 52)
        });
        let rest = self.each2(ints, &whole, &half, |e, n, half| e.b.ins().isub(n, half));
        let mut out = *p;
        let mut powers = vec![rest];
        if kind == Kind::F32 {
            // Half of the exponent cannot take `p` out of the normal numbers, so it may be added to its bits. Nothing is added where `n` is
            // 0, nor where it is NaN: NaN converts to a number that is shifted out altogether.
            out = self.each2(kind, p, &half, |e, p, half| {
                let (bits, by) = (e.cast(p, ints.vector()), e.b.ins().ishl_imm_s(half, mantissa));
                let sum = e.b.ins().iadd(bits, by);
                e.cast(sum, kind.vector())
            });
        } else {
            powers.insert(0, half);
        }
        for by in powers {
            let power = self.each2(ints, &by, &one, |e, by, one| {
                let by = e.b.ins().ishl_imm_s(by, mantissa);
                let sum = e.b.ins().iadd(by, one);
                e.cast(sum, kind.vector())
            });
            out = self.each2(kind, &out, &power, |e, p, power| e.b.ins().fmul(p, power));
        }
        out
    }

    /// The integer of an integral float; any where it does not fit.
    fn whole(&mut self, x: clif::Value) -> clif::Value {
        if cfg!(target_arch = "x86_64") {
            self.b.ins().x86_cvtt2dq(types::I32X4, x)
        } else {
            self.b.ins().fcvt_to_sint_sat(types::I32X4, x)
        }
    }

    /// Exponent and mantissa, as `Lanes::split` has it, operation by operation.
    fn split(&mut self, x: &Parts) -> (Parts, Parts) {
        let kind = Kind::F32;
        let [least, up, zero, shift, infinity, nan, minus] =
            [f64::from(f32::MIN_POSITIVE), 16_777_216.0, 0.0, 24.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY]
                .map(|x| self.floats(kind, x)[0]);
        let start = self.known_lanes(Kind::I32, 0x3f40_0000)[0];
        let (mut exponents, mut mantissas) = (*x, *x);
        for i in 0..4 {
            let x = x[i];
            let tiny = self.b.ins().fcmp(FloatCC::LessThan, x, least);
            let scaled = self.b.ins().fmul(x, up);
            let scaled = self.choose(kind, tiny, scaled, x);
            let bits = self.cast(scaled, types::I32X4);
            let e = self.b.ins().isub(bits, start);
            let e = self.b.ins().sshr_imm_s(e, 23);
            let high = self.b.ins().ishl_imm_s(e, 23);
            let m = self.b.ins().isub(bits, high);
            let m = self.cast(m, types::F32X4);
            let e = self.b.ins().fcvt_from_sint(types::F32X4, e);
            let shift = self.choose(kind, tiny, shift, zero);
            let e = self.b.ins().fsub(e, shift);
            let is_zero = self.b.ins().fcmp(FloatCC::Equal, x, zero);
            let is_infinite = self.b.ins().fcmp(FloatCC::Equal, x, infinity);
            let is_good = self.b.ins().fcmp(FloatCC::LessThanOrEqual, zero, x);
            let e = self.choose(kind, is_zero, minus, e);
            exponents[i] = self.choose(kind, is_infinite, infinity, e);
            mantissas[i] = self.choose(kind, is_good, m, nan);
        }
        (exponents, mantissas)
    }

    /// The high half of each vector's lanes, as its low half.
    fn high_half_first(&mut self, v: clif::Value, ty: clif::Type) -> clif::Value {
        self.shuffled(v, v, [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7], ty)
    }

    /// Lanes of 32 bits as lanes of 64: the low half and the high half of each vector.
    fn widened(&mut self, a: &Parts, mut f: impl FnMut(&mut Self, clif::Value, bool) -> clif::Value) -> Parts {
        let mut all = *a;
        for i in 0..4 {
            all[2 * i] = f(self, a[i], false);
            all[2 * i + 1] = f(self, a[i], true);
        }
        all
    }

    fn narrowed(&mut self, a: &Parts, mut f: impl FnMut(&mut Self, clif::Value, clif::Value) -> clif::Value) -> Parts {
        let mut all = *a;
        for i in 0..4 {
            all[i] = f(self, a[2 * i], a[2 * i + 1]);
        }
        all
    }

    /// The amount of a shift, if it is known and the same for all lanes.
    fn same_known(&self, amounts: &Parts, count: usize) -> Option<u64> {
        let dfg = &self.b.func.dfg;
        let first = *amounts.first()?;
        if amounts[..count].iter().any(|v| *v != first) {
            return None;
        }
        let clif::InstructionData::UnaryConst { constant_handle, .. } = dfg.insts[dfg.value_def(first).inst()?] else {
            return None;
        };
        let bytes = dfg.constants.get(constant_handle).as_slice();
        let (size, wide) = (count, 16);
        let lane = |i: usize| {
            let mut all = [0; 8];
            all[..size].copy_from_slice(&bytes[size * i..size * (i + 1)]);
            u64::from_le_bytes(all)
        };
        let size_ok = bytes.len() == wide && (1..wide / size).all(|i| lane(i) == lane(0));
        size_ok.then(|| lane(0))
    }

    /// A shift by instructions if the amount is known and the same for all lanes; else by a helper.
    fn shifted(&mut self, op: LaneOp, args: &[Val]) -> Result<Val> {
        let kind = match op.gives() {
            Operand::Lanes(kind) => kind,
            _ => return Err(bad("a shift of something else")),
        };
        let [a, b] = self.operands(args, kind)?;
        let bits: u64 = if kind == Kind::I32 { 32 } else { 64 };
        // A vector holds two 64-bit lanes.
        let Some(n) = self.same_known(&b, kind.count()) else {
            return self.call_helper(Callee::Op(Op::Lanes(op)), args);
        };
        let is_signed = matches!(op, LaneOp::ShrI32 | LaneOp::ShrI64);
        let parts = if n >= bits && !is_signed {
            self.known_lanes(kind, 0)
        } else {
            let n = n.min(bits - 1) as i64;
            self.each(kind, &a, |e, v| match op {
                LaneOp::ShlI32 | LaneOp::ShlI64 => e.b.ins().ishl_imm_s(v, n),
                LaneOp::ShrU32 | LaneOp::ShrU64 => e.b.ins().ushr_imm_s(v, n),
                _ => e.b.ins().sshr_imm_s(v, n),
            })
        };
        Ok(Val::Lanes(kind, parts))
    }

    /// Operands that are all lanes of a kind.
    fn operands<const N: usize>(&mut self, args: &[Val], kind: Kind) -> Result<[Parts; N]> {
        let args: &[Val; N] = args.try_into().map_err(|_| bad("another number of operands"))?;
        let mut all = Vec::with_capacity(N);
        for arg in args {
            all.push(self.as_lanes(arg, kind)?);
        }
        all.try_into().map_err(|_| bad("another number of operands"))
    }

    /// An operation of one operand's vectors, one by one.
    fn one(
        &mut self,
        args: &[Val],
        (from, to): (Kind, Kind),
        make: impl FnMut(&mut Self, clif::Value) -> clif::Value,
    ) -> Result<Val> {
        let [a] = self.operands(args, from)?;
        Ok(Val::Lanes(to, self.each(from, &a, make)))
    }

    /// An operation of two operands' vectors, one by one.
    fn two(
        &mut self,
        args: &[Val],
        kind: Kind,
        make: impl FnMut(&mut Self, clif::Value, clif::Value) -> clif::Value,
    ) -> Result<Val> {
        let [a, b] = self.operands(args, kind)?;
        Ok(Val::Lanes(kind, self.each2(kind, &a, &b, make)))
    }

    fn compared(&mut self, args: &[Val], op: Binary, kind: Kind, unsigned: bool) -> Result<Val> {
        let [a, b] = self.operands(args, kind)?;
        Ok(Val::Mask(self.compare_lanes(op, kind, unsigned, &a, &b)))
    }

    /// The smaller or the larger one of 64-bit integers, which no instruction gives.
    fn least_long(&mut self, args: &[Val], unsigned: bool, max: bool) -> Result<Val> {
        let [a, b] = self.operands(args, Kind::I64)?;
        let less = self.compare_lanes(Binary::Lt, Kind::I64, unsigned, &a, &b);
        let (a, b) = if max { (b, a) } else { (a, b) };
        Ok(Val::Lanes(Kind::I64, self.select(Kind::I64, less, &a, &b)))
    }

    fn selected(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let [m, a, b] = args else { return Err(bad("another number of operands")) };
        let (m, a, b) = (self.as_mask(m)?, self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
        Ok(Val::Lanes(kind, self.select(kind, m, &a, &b)))
    }

    fn splatted(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let [a] = args else { return Err(bad("another number of operands")) };
        let num = self.as_num(a)?;
        Ok(Val::Lanes(kind, self.splat(kind, &num)?))
    }

    fn lined(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let [first, step] = args else { return Err(bad("another number of operands")) };
        let (first, step) = (self.as_num(first)?, self.as_num(step)?);
        Ok(Val::Lanes(kind, self.line(kind, &first, &step)?))
    }

    /// One where a mask is set, zero elsewhere.
    fn ones(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let [m] = args else { return Err(bad("another number of operands")) };
        let m = self.as_mask(m)?;
        let one = if kind.is_float() { self.floats(kind, 1.0) } else { self.known_lanes(kind, 1) };
        let zero = self.known_lanes(kind, 0);
        Ok(Val::Lanes(kind, self.select(kind, m, &one, &zero)))
    }

    fn is_set(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let ([a], zero) = (self.operands(args, kind)?, self.known_lanes(kind, 0));
        Ok(Val::Mask(self.compare_lanes(Binary::Ne, kind, false, &a, &zero)))
    }

    /// Lanes wrapped to fewer bits.
    fn fitted(&mut self, args: &[Val], bits: i64, signed: bool) -> Result<Val> {
        let kind = Kind::I32;
        if signed {
            return self.one(args, (kind, kind), |e, v| {
                let high = e.b.ins().ishl_imm_s(v, 32 - bits);
                e.b.ins().sshr_imm_s(high, 32 - bits)
            });
        }
        let ([a], low) = (self.operands(args, kind)?, self.known_lanes(kind, (1 << bits) - 1));
        Ok(Val::Lanes(kind, self.each2(kind, &a, &low, |e, a, b| e.b.ins().band(a, b))))
    }

    fn dot4(&mut self, args: &[Val], signed: bool) -> Result<Val> {
        let [x, y, mut sum] = self.operands(args, Kind::I32)?;
        for (sum, (x, y)) in sum.iter_mut().zip(x.into_iter().zip(y)).take(Kind::I32.count()) {
            *sum = dot::dot4(&mut self.b, types::I32X4, signed, [x, y, *sum]);
        }
        Ok(Val::Lanes(Kind::I32, sum))
    }

    fn fused(&mut self, op: LaneOp, args: &[Val], kind: Kind) -> Result<Val> {
        if !self.known.has_fma {
            return self.call_helper(Callee::Op(Op::Lanes(op)), args);
        }
        let [a, b, c] = self.operands(args, kind)?;
        let mut all = a;
        for i in 0..kind.count() {
            all[i] = self.b.ins().fma(a[i], b[i], c[i]);
        }
        Ok(Val::Lanes(kind, all))
    }

    fn one_lane(&mut self, args: &[Val], of: Kind) -> Result<Val> {
        let [a, lane] = args else { return Err(bad("another number of operands")) };
        let (a, lane) = (self.as_lanes(a, of)?, self.as_num(lane)?);
        let slot = self.room(0, if of.count() == 4 { 64 } else { 128 });
        self.keep(of, &a, slot);
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        let at = Num { at: At::Value(at), ty: Ty::Ptr(of.scalar().into()) };
        let at = self.binary(Binary::Add, &at, &lane)?;
        let at = self.value(&at);
        let v = self.b.ins().load(clif_type(&of.scalar()), super::emit::free(), at, 0);
        Ok(Val::Num(Num { at: At::Value(v), ty: of.scalar() }))
    }

    /// Lanes of 32 bits as doubles.
    fn as_doubles(&mut self, args: &[Val], signed: bool) -> Result<Val> {
        let [a] = self.operands(args, Kind::I32)?;
        let all = self.widened(&a, |e, v, high| {
            let v = if high { e.high_half_first(v, types::I32X4) } else { v };
            if signed {
                let wide = e.b.ins().swiden_low(v);
                e.b.ins().fcvt_from_sint(types::F64X2, wide)
            } else {
                let wide = e.b.ins().uwiden_low(v);
                e.b.ins().fcvt_from_uint(types::F64X2, wide)
            }
        });
        Ok(Val::Lanes(Kind::F64, all))
    }

    /// The lanes that are not below one number, unsigned.
    fn past(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let [o, limit] = args else { return Err(bad("another number of operands")) };
        let (o, limit) = (self.as_lanes(o, kind)?, self.as_num(limit)?);
        let limit = self.splat(kind, &limit)?;
        Ok(Val::Mask(self.compare_lanes(Binary::Ge, kind, true, &o, &limit)))
    }

    fn far(&mut self, args: &[Val]) -> Result<Val> {
        let kind = Kind::I64;
        let [index, reach, size] = args else { return Err(bad("another number of operands")) };
        let (index, reach, size) = (self.as_lanes(index, kind)?, self.as_num(reach)?, self.as_num(size)?);
        let twice = self.binary(Binary::Add, &reach, &reach)?;
        let (reach, twice, size) = (self.splat(kind, &reach)?, self.splat(kind, &twice)?, self.splat(kind, &size)?);
        let sum = self.each2(kind, &index, &reach, |e, a, b| e.b.ins().iadd(a, b));
        let near = self.compare_lanes(Binary::Le, kind, true, &sum, &twice);
        let at = self.each2(kind, &index, &size, |e, a, b| e.b.ins().imul(a, b));
        let far = self.known_lanes(kind, FAR as u64);
        Ok(Val::Lanes(kind, self.select(kind, near, &at, &far)))
    }

    fn truths(&mut self, args: &[Val]) -> Result<Val> {
        let [a] = args else { return Err(bad("another number of operands")) };
        let num = self.as_num(a)?;
        Ok(Val::Mask(match num.at {
            At::Known(n) => Mask::Known(if n != 0 { 0xffff } else { 0 }),
            At::Value(_) => {
                let num = self.converted(&num, &Ty::Bool)?;
                let v = self.value(&num);
                let all = self.b.ins().bmask(types::I32, v);
                Mask::Lanes([self.b.ins().splat(types::I32X4, all); 4])
            }
        }))
    }

    fn selected_mask(&mut self, args: &[Val]) -> Result<Val> {
        let [m, a, b] = args else { return Err(bad("another number of operands")) };
        let (m, a, b) = (self.as_mask(m)?, self.as_mask(a)?, self.as_mask(b)?);
        let rest = self.mask_not(m);
        let (a, b) = (self.mask_op(Binary::And, m, a), self.mask_op(Binary::And, rest, b));
        Ok(Val::Mask(self.mask_op(Binary::Or, a, b)))
    }

    /// The nearest integers, halves away from zero: what is cut off the size is exact.
    fn rounded(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let [a] = self.operands(args, kind)?;
        let [sign, half, one] = [-0.0, 0.5, 1.0].map(|x| self.floats(kind, x)[0]);
        let all = self.each(kind, &a, |e, v| {
            let size = e.b.ins().fabs(v);
            let whole = e.b.ins().trunc(size);
            let rest = e.b.ins().fsub(size, whole);
            let up = e.b.ins().fcmp(FloatCC::GreaterThanOrEqual, rest, half);
            let up = e.cast(up, kind.vector());
            let more = e.b.ins().band(up, one);
            let sum = e.b.ins().fadd(whole, more);
            e.b.ins().bitselect(sign, v, sum)
        });
        Ok(Val::Lanes(kind, all))
    }

    /// Exponents: the bits of the sizes, those of subnormal numbers made normal, as numbers behind the bits of two to the power of their place. What
    /// is not finite gives its square.
    fn exponents(&mut self, args: &[Val], kind: Kind) -> Result<Val> {
        let (place, bias, shift, least) = match kind {
            Kind::F32 => (23, 127.0, 24, f64::from(f32::MIN_POSITIVE)),
            _ => (52, 1023.0, 54, f64::MIN_POSITIVE),
        };
        let (whole, shift, up) = (f64::from(place).exp2(), f64::from(shift), f64::from(shift).exp2());
        let ints = kind.integers().vector();
        let [least, up, shift, whole, bias, zero, infinity, minus] =
            [least, up, shift, whole, whole + bias, 0.0, f64::INFINITY, f64::NEG_INFINITY]
                .map(|x| self.floats(kind, x)[0]);
        self.one(args, (kind, kind), |e, x| {
            let size = e.b.ins().fabs(x);
            let tiny = e.b.ins().fcmp(FloatCC::LessThan, size, least);
            let scaled = e.b.ins().fmul(size, up);
            let normal = e.choose(kind, tiny, scaled, size);
            let bits = e.cast(normal, ints);
            let bits = e.b.ins().ushr_imm_s(bits, i64::from(place));
            let bits = e.cast(bits, kind.vector());
            let exponent = e.b.ins().bor(bits, whole);
            let exponent = e.b.ins().fsub(exponent, bias);
            let tiny = e.cast(tiny, kind.vector());
            let less = e.b.ins().band(tiny, shift);
            let exponent = e.b.ins().fsub(exponent, less);
            let is_zero = e.b.ins().fcmp(FloatCC::Equal, size, zero);
            let exponent = e.choose(kind, is_zero, minus, exponent);
            let is_finite = e.b.ins().fcmp(FloatCC::LessThan, size, infinity);
            let square = e.b.ins().fmul(x, x);
            e.choose(kind, is_finite, exponent, square)
        })
    }

    /// An operation of lanes.
    fn lanes(&mut self, op: LaneOp, args: &[Val]) -> Result<Val> {
        use Kind::{F32, F64, I32, I64};
        use LaneOp as L;
        match op {
            L::SplatF32 => self.splatted(args, F32),
            L::SplatF64 => self.splatted(args, F64),
            L::SplatI32 => self.splatted(args, I32),
            L::SplatI64 => self.splatted(args, I64),
            L::SplatB1 => self.truths(args),
            L::LineI32 => self.lined(args, I32),
            L::LineI64 => self.lined(args, I64),
            L::AddF32 => self.two(args, F32, |e, a, b| e.b.ins().fadd(a, b)),
            L::AddF64 => self.two(args, F64, |e, a, b| e.b.ins().fadd(a, b)),
            L::AddI32 => self.two(args, I32, |e, a, b| e.b.ins().iadd(a, b)),
            L::AddI64 => self.two(args, I64, |e, a, b| e.b.ins().iadd(a, b)),
            L::SubF32 => self.two(args, F32, |e, a, b| e.b.ins().fsub(a, b)),
            L::SubF64 => self.two(args, F64, |e, a, b| e.b.ins().fsub(a, b)),
            L::SubI32 => self.two(args, I32, |e, a, b| e.b.ins().isub(a, b)),
            L::SubI64 => self.two(args, I64, |e, a, b| e.b.ins().isub(a, b)),
            L::MulF32 => self.two(args, F32, |e, a, b| e.b.ins().fmul(a, b)),
            L::MulF64 => self.two(args, F64, |e, a, b| e.b.ins().fmul(a, b)),
            L::MulI32 => self.two(args, I32, |e, a, b| e.b.ins().imul(a, b)),
            L::MulI64 => self.two(args, I64, |e, a, b| e.b.ins().imul(a, b)),
            L::DivF32 => self.two(args, F32, |e, a, b| e.b.ins().fdiv(a, b)),
            L::DivF64 => self.two(args, F64, |e, a, b| e.b.ins().fdiv(a, b)),
            L::FmaF32 => self.fused(op, args, F32),
            L::FmaF64 => self.fused(op, args, F64),
            L::Min2F32 => self.two(args, F32, |e, a, b| e.min2(F32, false, a, b)),
            L::Min2F64 => self.two(args, F64, |e, a, b| e.min2(F64, false, a, b)),
            L::Max2F32 => self.two(args, F32, |e, a, b| e.min2(F32, true, a, b)),
            L::Max2F64 => self.two(args, F64, |e, a, b| e.min2(F64, true, a, b)),
            L::FminF32 | L::FmaxF32 => {
                let [a, b] = self.operands(args, F32)?;
                Ok(Val::Lanes(F32, self.float_min(F32, op == L::FmaxF32, &a, &b)))
            }
            L::FminF64 | L::FmaxF64 => {
                let [a, b] = self.operands(args, F64)?;
                Ok(Val::Lanes(F64, self.float_min(F64, op == L::FmaxF64, &a, &b)))
            }
            L::FdimF32 => self.difference(F32, args),
            L::FdimF64 => self.difference(F64, args),
            L::LogbF32 => self.exponents(args, F32),
            L::LogbF64 => self.exponents(args, F64),
            L::CopysignF32 | L::CopysignF64 => {
                let kind = if op == L::CopysignF32 { F32 } else { F64 };
                let ([a, b], sign) = (self.operands(args, kind)?, self.floats(kind, -0.0)[0]);
                Ok(Val::Lanes(kind, self.each2(kind, &a, &b, |e, a, b| e.b.ins().bitselect(sign, b, a))))
            }
            L::NegF32 => self.one(args, (F32, F32), |e, v| e.b.ins().fneg(v)),
            L::NegF64 => self.one(args, (F64, F64), |e, v| e.b.ins().fneg(v)),
            L::NegI32 => self.one(args, (I32, I32), |e, v| e.b.ins().ineg(v)),
            L::NegI64 => self.one(args, (I64, I64), |e, v| e.b.ins().ineg(v)),
            L::FabsF32 => self.one(args, (F32, F32), |e, v| e.b.ins().fabs(v)),
            L::FabsF64 => self.one(args, (F64, F64), |e, v| e.b.ins().fabs(v)),
            L::SqrtF32 => self.one(args, (F32, F32), |e, v| e.b.ins().sqrt(v)),
            L::SqrtF64 => self.one(args, (F64, F64), |e, v| e.b.ins().sqrt(v)),
            L::RsqrtF32 if self.known.has_estimate => self.call_helper(Callee::Op(Op::Lanes(op)), args),
            L::RsqrtF32 => {
                let ([a], one) = (self.operands(args, F32)?, self.floats(F32, 1.0));
                let all = self.each2(F32, &one, &a, |e, one, v| {
                    let root = e.b.ins().sqrt(v);
                    e.b.ins().fdiv(one, root)
                });
                Ok(Val::Lanes(F32, all))
            }
            L::RintF32 => self.one(args, (F32, F32), |e, v| e.b.ins().nearest(v)),
            L::RintF64 => self.one(args, (F64, F64), |e, v| e.b.ins().nearest(v)),
            L::FloorF32 => self.one(args, (F32, F32), |e, v| e.b.ins().floor(v)),
            L::FloorF64 => self.one(args, (F64, F64), |e, v| e.b.ins().floor(v)),
            L::CeilF32 => self.one(args, (F32, F32), |e, v| e.b.ins().ceil(v)),
            L::CeilF64 => self.one(args, (F64, F64), |e, v| e.b.ins().ceil(v)),
            L::TruncF32 => self.one(args, (F32, F32), |e, v| e.b.ins().trunc(v)),
            L::TruncF64 => self.one(args, (F64, F64), |e, v| e.b.ins().trunc(v)),
            L::RoundF32 => self.rounded(args, F32),
            L::RoundF64 => self.rounded(args, F64),
            L::ScaleF32 | L::ScaleF64 => {
                let kind = if op == L::ScaleF32 { F32 } else { F64 };
                let [p, n] = self.operands(args, kind)?;
                Ok(Val::Lanes(kind, self.scale(kind, &p, &n)))
            }
            L::MantissaF32 => {
                let [a] = self.operands(args, F32)?;
                Ok(Val::Lanes(F32, self.split(&a).1))
            }
            // The exponent belongs to the number that the mantissa was taken from.
            L::ExponentF32 => {
                let [a, _] = self.operands(args, F32)?;
                Ok(Val::Lanes(F32, self.split(&a).0))
            }
            L::AndI32 => self.two(args, I32, |e, a, b| e.b.ins().band(a, b)),
            L::AndI64 => self.two(args, I64, |e, a, b| e.b.ins().band(a, b)),
            L::OrI32 => self.two(args, I32, |e, a, b| e.b.ins().bor(a, b)),
            L::OrI64 => self.two(args, I64, |e, a, b| e.b.ins().bor(a, b)),
            L::XorI32 => self.two(args, I32, |e, a, b| e.b.ins().bxor(a, b)),
            L::XorI64 => self.two(args, I64, |e, a, b| e.b.ins().bxor(a, b)),
            L::NotI32 => self.one(args, (I32, I32), |e, v| e.b.ins().bnot(v)),
            L::NotI64 => self.one(args, (I64, I64), |e, v| e.b.ins().bnot(v)),
            L::ShlI32 | L::ShlI64 | L::ShrU32 | L::ShrU64 | L::ShrI32 | L::ShrI64 => self.shifted(op, args),
            L::MinI32 => self.two(args, I32, |e, a, b| e.b.ins().smin(a, b)),
            L::MaxI32 => self.two(args, I32, |e, a, b| e.b.ins().smax(a, b)),
            L::MinU32 => self.two(args, I32, |e, a, b| e.b.ins().umin(a, b)),
            L::MaxU32 => self.two(args, I32, |e, a, b| e.b.ins().umax(a, b)),
            L::MinI64 => self.least_long(args, false, false),
            L::MaxI64 => self.least_long(args, false, true),
            L::MinU64 => self.least_long(args, true, false),
            L::MaxU64 => self.least_long(args, true, true),
            L::FitI8 => self.fitted(args, 8, true),
            L::FitU8 => self.fitted(args, 8, false),
            L::FitI16 => self.fitted(args, 16, true),
            L::FitU16 => self.fitted(args, 16, false),
            L::HalfToFloat => self.one(args, (I32, I32), |e, v| halves::to_float(&mut e.b, types::I32X4, v)),
            L::FloatToHalf => self.one(args, (I32, I32), |e, v| halves::of_float(&mut e.b, types::I32X4, v)),
            L::Dot4I32 => self.dot4(args, true),
            L::Dot4U32 => self.dot4(args, false),
            L::EqF32 => self.compared(args, Binary::Eq, F32, false),
            L::EqF64 => self.compared(args, Binary::Eq, F64, false),
            L::EqI32 | L::EqU32 => self.compared(args, Binary::Eq, I32, false),
            L::EqI64 | L::EqU64 => self.compared(args, Binary::Eq, I64, false),
            L::NeF32 => self.compared(args, Binary::Ne, F32, false),
            L::NeF64 => self.compared(args, Binary::Ne, F64, false),
            L::NeI32 | L::NeU32 => self.compared(args, Binary::Ne, I32, false),
            L::NeI64 | L::NeU64 => self.compared(args, Binary::Ne, I64, false),
            L::LtF32 => self.compared(args, Binary::Lt, F32, false),
            L::LtF64 => self.compared(args, Binary::Lt, F64, false),
            L::LtI32 | L::LtU32 => self.compared(args, Binary::Lt, I32, op == L::LtU32),
            L::LtI64 | L::LtU64 => self.compared(args, Binary::Lt, I64, op == L::LtU64),
            L::LeF32 => self.compared(args, Binary::Le, F32, false),
            L::LeF64 => self.compared(args, Binary::Le, F64, false),
            L::LeI32 | L::LeU32 => self.compared(args, Binary::Le, I32, op == L::LeU32),
            L::LeI64 | L::LeU64 => self.compared(args, Binary::Le, I64, op == L::LeU64),
            L::GtF32 => self.compared(args, Binary::Gt, F32, false),
            L::GtF64 => self.compared(args, Binary::Gt, F64, false),
            L::GtI32 | L::GtU32 => self.compared(args, Binary::Gt, I32, op == L::GtU32),
            L::GtI64 | L::GtU64 => self.compared(args, Binary::Gt, I64, op == L::GtU64),
            L::GeF32 => self.compared(args, Binary::Ge, F32, false),
            L::GeF64 => self.compared(args, Binary::Ge, F64, false),
            L::GeI32 | L::GeU32 => self.compared(args, Binary::Ge, I32, op == L::GeU32),
            L::GeI64 | L::GeU64 => self.compared(args, Binary::Ge, I64, op == L::GeU64),
            L::SelectF32 => self.selected(args, F32),
            L::SelectF64 => self.selected(args, F64),
            L::SelectI32 => self.selected(args, I32),
            L::SelectI64 => self.selected(args, I64),
            L::SelectB1 => self.selected_mask(args),
            L::WidenI32 => {
                let [a] = self.operands(args, I32)?;
                let all = self
                    .widened(&a, |e, v, high| if high { e.b.ins().swiden_high(v) } else { e.b.ins().swiden_low(v) });
                Ok(Val::Lanes(I64, all))
            }
            L::WidenU32 => {
                let [a] = self.operands(args, I32)?;
                let all = self
                    .widened(&a, |e, v, high| if high { e.b.ins().uwiden_high(v) } else { e.b.ins().uwiden_low(v) });
                Ok(Val::Lanes(I64, all))
            }
            L::NarrowI64 => {
                let [a] = self.operands(args, I64)?;
                Ok(Val::Lanes(I32, self.narrowed(&a, |e, a, b| e.low_halves(a, b, types::I32X4))))
            }
            L::NarrowU64 => {
                let ([a], most) = (self.operands(args, I64)?, self.known_lanes(I64, u64::from(u32::MAX)));
                let fits = self.compare_lanes(Binary::Lt, I64, true, &a, &most);
                let a = self.select(I64, fits, &a, &most);
                Ok(Val::Lanes(I32, self.narrowed(&a, |e, a, b| e.low_halves(a, b, types::I32X4))))
            }
            L::F32ToF64 => {
                let [a] = self.operands(args, F32)?;
                let all = self.widened(&a, |e, v, high| {
                    let v = if high { e.high_half_first(v, types::F32X4) } else { v };
                    e.b.ins().fvpromote_low(v)
                });
                Ok(Val::Lanes(F64, all))
            }
            L::F64ToF32 => {
                let [a] = self.operands(args, F64)?;
                let all = self.narrowed(&a, |e, a, b| {
                    let (a, b) = (e.b.ins().fvdemote(a), e.b.ins().fvdemote(b));
                    e.shuffled(a, b, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23], types::F32X4)
                });
                Ok(Val::Lanes(F32, all))
            }
            L::I32ToF32 => self.one(args, (I32, F32), |e, v| e.b.ins().fcvt_from_sint(types::F32X4, v)),
            L::U32ToF32 => self.one(args, (I32, F32), |e, v| e.b.ins().fcvt_from_uint(types::F32X4, v)),
            L::I32ToF64 => self.as_doubles(args, true),
            L::U32ToF64 => self.as_doubles(args, false),
            L::F32ToI32 => self.one(args, (F32, I32), |e, v| e.b.ins().fcvt_to_sint_sat(types::I32X4, v)),
            L::F32ToU32 => self.one(args, (F32, I32), |e, v| e.b.ins().fcvt_to_uint_sat(types::I32X4, v)),
            L::WholeI32 => self.one(args, (F32, I32), Self::whole),
            L::B1ToI32 => self.ones(args, I32),
            L::B1ToI64 => self.ones(args, I64),
            L::B1ToF32 => self.ones(args, F32),
            L::B1ToF64 => self.ones(args, F64),
            L::TruthI32 => self.is_set(args, I32),
            L::TruthI64 => self.is_set(args, I64),
            L::TruthF32 => self.is_set(args, F32),
            L::TruthF64 => self.is_set(args, F64),
            L::CastI32F32 => self.one(args, (I32, F32), |e, v| e.cast(v, types::F32X4)),
            L::CastF32I32 => self.one(args, (F32, I32), |e, v| e.cast(v, types::I32X4)),
            L::CastI64F64 => self.one(args, (I64, F64), |e, v| e.cast(v, types::F64X2)),
            L::CastF64I64 => self.one(args, (F64, I64), |e, v| e.cast(v, types::I64X2)),
            L::Outside => self.past(args, I64),
            L::OutsideX => self.past(args, I32),
            L::FarV => self.far(args),
            L::LaneF32 => self.one_lane(args, F32),
            L::LaneF64 => self.one_lane(args, F64),
            L::LaneI32 => self.one_lane(args, I32),
            L::LaneI64 => self.one_lane(args, I64),
            _ => self.call_helper(Callee::Op(Op::Lanes(op)), args),
        }
    }

    /// A comparison of 32-bit lanes with zero, for the result of a helper.
    pub(super) fn truth_of(&mut self, parts: &Parts) -> Mask {
        let zero = self.known_lanes(Kind::I32, 0);
        let found = self.each2(Kind::I32, parts, &zero, |e, a, b| e.b.ins().icmp(IntCC::NotEqual, a, b));
        Mask::Lanes([found[0], found[1], found[2], found[3]])
    }
}
