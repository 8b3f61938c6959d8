//! What the text does with lanes: an instruction a vector where the machine has one, else a helper for all 16.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::emit::Emitter;
use super::parse::{Expr, Kind, Ty};
use super::scalar::{float_cc, int_cc};
use super::value::{At, Mask, Num, Parts, Val};
use super::{Result, bad};
use crate::back::cpu::abi::site::FAR;

/// The lanes that a name ends with; `true` where they are unsigned.
fn suffix(name: &str) -> Option<(&str, Kind, bool)> {
    let (op, end) = name.rsplit_once('_')?;
    Some(match end {
        "f32" => (op, Kind::F32, false),
        "f64" => (op, Kind::F64, false),
        "i32" => (op, Kind::I32, false),
        "u32" => (op, Kind::I32, true),
        "i64" => (op, Kind::I64, false),
        "u64" => (op, Kind::I64, true),
        _ => return None,
    })
}

impl<'t> Emitter<'_, 't, '_> {
    pub(super) fn call(&mut self, name: &str, args: &[Expr<'t>]) -> Result<Val> {
        if let Some(value) = self.call_scalar(name, args)? {
            return Ok(value);
        }
        let mut values = Vec::with_capacity(args.len());
        for (i, arg) in args.iter().enumerate() {
            // Of a fault at a place its lanes are told twice, mostly by the same words.
            let same = args[..i].iter().position(|before| before == arg);
            let value = match (same.and_then(|i| values.get(i)), arg) {
                (Some(value), Expr::Call(..)) => Val::clone(value),
                _ => self.eval(arg)?,
            };
            values.push(value);
        }
        if let Some(value) = self.call_lanes(name, &values)? {
            return Ok(value);
        }
        if let Some(value) = self.call_memory(name, &values)? {
            return Ok(value);
        }
        if let Some(value) = self.call_helper(name, &values)? {
            return Ok(value);
        }
        match self.inline(name, values)? {
            Some(value) => Ok(value),
            None => Err(bad(format!("`{name}`"))),
        }
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

    /// Numbers a step apart.
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

    /// The first where the mask is set.
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

    fn compare_lanes(&mut self, op: &str, kind: Kind, unsigned: bool, a: &Parts, b: &Parts) -> Mask {
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
            // Of equal ones the second; with the first's bits that is `y & x`, or `y | x`. A selection takes three times as long.
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

    /// The second where either is NaN or both are equal.
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
            // Half of the exponent cannot take `p` out of the normal numbers, so it may be added to its bits. Where `n` is 0 nothing is, nor
            // where it is NaN: that converts to what a shift leaves nothing of.
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

    /// Lanes of 32 bits as lanes of 64, of each vector the low half and the high one.
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

    /// Shifted by a number of lanes that are all the same and known; the amounts.
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

    fn shifted(&mut self, name: &str, kind: Kind, a: &Parts, b: &Parts) -> Result<Option<Val>> {
        let count = kind.count();
        let bits: u64 = if count == 4 { 32 } else { 64 };
        // 64-bit lanes are two in a vector.
        let Some(n) = self.same_known(b, count) else { return Ok(None) };
        let (op, most) = (&name[..5], bits as i64 - 1);
        let parts = if n >= bits && op != "shr_i" {
            self.known_lanes(kind, 0)
        } else {
            let n = n.min(most as u64) as i64;
            self.each(kind, a, |e, v| match op {
                "shl_i" => e.b.ins().ishl_imm_s(v, n),
                "shr_u" => e.b.ins().ushr_imm_s(v, n),
                _ => e.b.ins().sshr_imm_s(v, n),
            })
        };
        Ok(Some(Val::Lanes(kind, parts)))
    }

    fn call_lanes(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        use Kind::{F32, F64, I32, I64};
        let lanes = |kind, parts| Ok(Some(Val::Lanes(kind, parts)));
        let mask = |mask| Ok(Some(Val::Mask(mask)));
        match (name, args) {
            ("splat_b1", [a]) => {
                let num = self.as_num(a)?;
                return mask(match num.at {
                    At::Known(n) => Mask::Known(if n != 0 { 0xffff } else { 0 }),
                    At::Value(_) => {
                        let num = self.converted(&num, &Ty::Bool)?;
                        let v = self.value(&num);
                        let all = self.b.ins().bmask(types::I32, v);
                        Mask::Lanes([self.b.ins().splat(types::I32X4, all); 4])
                    }
                });
            }
            ("select_b1", [m, a, b]) => {
                let (m, a, b) = (self.as_mask(m)?, self.as_mask(a)?, self.as_mask(b)?);
                let rest = self.mask_not(m);
                let (a, b) = (self.mask_op("&", m, a), self.mask_op("&", rest, b));
                return mask(self.mask_op("|", a, b));
            }
            ("outside", [o, limit]) => {
                let (o, limit) = (self.as_lanes(o, I64)?, self.as_num(limit)?);
                let limit = self.splat(I64, &limit)?;
                return mask(self.compare_lanes("ge", I64, true, &o, &limit));
            }
            ("outside_x", [i, count]) => {
                let (i, count) = (self.as_lanes(i, I32)?, self.as_num(count)?);
                let count = self.splat(I32, &count)?;
                return mask(self.compare_lanes("ge", I32, true, &i, &count));
            }
            ("far_v", [index, reach, size]) => {
                let (index, reach, size) = (self.as_lanes(index, I64)?, self.as_num(reach)?, self.as_num(size)?);
                let twice = self.binary("+", &reach, &reach)?;
                let (reach, twice, size) =
                    (self.splat(I64, &reach)?, self.splat(I64, &twice)?, self.splat(I64, &size)?);
                let sum = self.each2(I64, &index, &reach, |e, a, b| e.b.ins().iadd(a, b));
                let near = self.compare_lanes("le", I64, true, &sum, &twice);
                let at = self.each2(I64, &index, &size, |e, a, b| e.b.ins().imul(a, b));
                let far = self.known_lanes(I64, FAR as u64);
                return lanes(I64, self.select(I64, near, &at, &far));
            }
            ("widen_i32", [a]) => {
                let a = self.as_lanes(a, I32)?;
                let all = self
                    .widened(&a, |e, v, high| if high { e.b.ins().swiden_high(v) } else { e.b.ins().swiden_low(v) });
                return lanes(I64, all);
            }
            ("widen_u32", [a]) => {
                let a = self.as_lanes(a, I32)?;
                let all = self
                    .widened(&a, |e, v, high| if high { e.b.ins().uwiden_high(v) } else { e.b.ins().uwiden_low(v) });
                return lanes(I64, all);
            }
            ("narrow_i64", [a]) => {
                let a = self.as_lanes(a, I64)?;
                return lanes(I32, self.narrowed(&a, |e, a, b| e.low_halves(a, b, types::I32X4)));
            }
            ("f32_to_f64", [a]) => {
                let a = self.as_lanes(a, F32)?;
                let all = self.widened(&a, |e, v, high| {
                    let v = if high { e.high_half_first(v, types::F32X4) } else { v };
                    e.b.ins().fvpromote_low(v)
                });
                return lanes(F64, all);
            }
            ("f64_to_f32", [a]) => {
                let a = self.as_lanes(a, F64)?;
                let all = self.narrowed(&a, |e, a, b| {
                    let (a, b) = (e.b.ins().fvdemote(a), e.b.ins().fvdemote(b));
                    e.shuffled(a, b, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23], types::F32X4)
                });
                return lanes(F32, all);
            }
            ("i32_to_f32" | "u32_to_f32", [a]) => {
                let a = self.as_lanes(a, I32)?;
                return lanes(
                    F32,
                    self.each(I32, &a, |e, v| match name {
                        "i32_to_f32" => e.b.ins().fcvt_from_sint(types::F32X4, v),
                        _ => e.b.ins().fcvt_from_uint(types::F32X4, v),
                    }),
                );
            }
            ("i32_to_f64" | "u32_to_f64", [a]) => {
                let a = self.as_lanes(a, I32)?;
                let all = self.widened(&a, |e, v, high| {
                    let v = if high { e.high_half_first(v, types::I32X4) } else { v };
                    if name == "i32_to_f64" {
                        let wide = e.b.ins().swiden_low(v);
                        e.b.ins().fcvt_from_sint(types::F64X2, wide)
                    } else {
                        let wide = e.b.ins().uwiden_low(v);
                        e.b.ins().fcvt_from_uint(types::F64X2, wide)
                    }
                });
                return lanes(F64, all);
            }
            ("f32_to_i32" | "f32_to_u32", [a]) => {
                let a = self.as_lanes(a, F32)?;
                return lanes(
                    I32,
                    self.each(F32, &a, |e, v| match name {
                        "f32_to_i32" => e.b.ins().fcvt_to_sint_sat(types::I32X4, v),
                        _ => e.b.ins().fcvt_to_uint_sat(types::I32X4, v),
                    }),
                );
            }
            ("whole_i32", [a]) => {
                let a = self.as_lanes(a, F32)?;
                return lanes(I32, self.each(F32, &a, |e, v| e.whole(v)));
            }
            ("b1_to_i32" | "b1_to_i64" | "b1_to_f32" | "b1_to_f64", [m]) => {
                let (m, kind) = (self.as_mask(m)?, suffix(name).map_or(I32, |(_, kind, _)| kind));
                let one = if kind.is_float() { self.floats(kind, 1.0) } else { self.known_lanes(kind, 1) };
                let zero = self.known_lanes(kind, 0);
                return lanes(kind, self.select(kind, m, &one, &zero));
            }
            ("truth_i32" | "truth_i64" | "truth_f32" | "truth_f64", [a]) => {
                let kind = suffix(name).map_or(I32, |(_, kind, _)| kind);
                let (a, zero) = (self.as_lanes(a, kind)?, self.known_lanes(kind, 0));
                return mask(self.compare_lanes("ne", kind, false, &a, &zero));
            }
            ("cast_i32_f32" | "cast_f32_i32" | "cast_i64_f64" | "cast_f64_i64", [Val::Lanes(from, a)]) => {
                let kind = suffix(name).map_or(*from, |(_, kind, _)| kind);
                let ty = kind.vector();
                return lanes(kind, self.each(*from, a, |e, v| e.cast(v, ty)));
            }
            ("fit_i8" | "fit_i16", [a]) => {
                let (a, n) = (self.as_lanes(a, I32)?, if name == "fit_i8" { 24 } else { 16 });
                return lanes(
                    I32,
                    self.each(I32, &a, |e, v| {
                        let high = e.b.ins().ishl_imm_s(v, n);
                        e.b.ins().sshr_imm_s(high, n)
                    }),
                );
            }
            ("fit_u8" | "fit_u16", [a]) => {
                let a = self.as_lanes(a, I32)?;
                let low = self.known_lanes(I32, if name == "fit_u8" { 0xff } else { 0xffff });
                return lanes(I32, self.each2(I32, &a, &low, |e, a, b| e.b.ins().band(a, b)));
            }
            ("min_i32" | "max_i32" | "min_u32" | "max_u32", [a, b]) => {
                let (a, b) = (self.as_lanes(a, I32)?, self.as_lanes(b, I32)?);
                return lanes(
                    I32,
                    self.each2(I32, &a, &b, |e, a, b| match name {
                        "min_i32" => e.b.ins().smin(a, b),
                        "max_i32" => e.b.ins().smax(a, b),
                        "min_u32" => e.b.ins().umin(a, b),
                        _ => e.b.ins().umax(a, b),
                    }),
                );
            }
            ("min_i64" | "max_i64" | "min_u64" | "max_u64", [a, b]) => {
                let (a, b) = (self.as_lanes(a, I64)?, self.as_lanes(b, I64)?);
                let less = self.compare_lanes("lt", I64, name.contains('u'), &a, &b);
                return lanes(
                    I64,
                    match name.starts_with("min") {
                        true => self.select(I64, less, &a, &b),
                        false => self.select(I64, less, &b, &a),
                    },
                );
            }
            ("shl_i32" | "shr_i32" | "shr_u32" | "shl_i64" | "shr_i64" | "shr_u64", [a, b]) => {
                let kind = if name.ends_with("32") { I32 } else { I64 };
                let (a, b) = (self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
                return self.shifted(name, kind, &a, &b);
            }
            _ => {}
        }
        let Some((op, kind, unsigned)) = suffix(name) else { return Ok(None) };
        match (op, args) {
            ("splat", [a]) => {
                let num = self.as_num(a)?;
                lanes(kind, self.splat(kind, &num)?)
            }
            ("line", [first, step]) => {
                let (first, step) = (self.as_num(first)?, self.as_num(step)?);
                lanes(kind, self.line(kind, &first, &step)?)
            }
            ("select", [m, a, b]) => {
                let (m, a, b) = (self.as_mask(m)?, self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
                lanes(kind, self.select(kind, m, &a, &b))
            }
            ("eq" | "ne" | "lt" | "le" | "gt" | "ge", [a, b]) => {
                let (a, b) = (self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
                mask(self.compare_lanes(op, kind, unsigned, &a, &b))
            }
            ("lane", [Val::Lanes(of, a), lane]) => {
                let (of, a) = (*of, *a);
                let lane = self.as_num(lane)?;
                let slot = self.room(0, if of.count() == 4 { 64 } else { 128 });
                self.keep(of, &a, slot);
                let at = self.b.ins().stack_addr(types::I64, slot, 0);
                let at = Num { at: At::Value(at), ty: Ty::Ptr(of.scalar().into()) };
                let at = self.binary("+", &at, &lane)?;
                let at = self.value(&at);
                let v = self.b.ins().load(super::value::clif_type(&of.scalar()), super::emit::free(), at, 0);
                Ok(Some(Val::Num(Num { at: At::Value(v), ty: of.scalar() })))
            }
            ("rsqrt", [a]) if !self.known.has_estimate => {
                let (a, one) = (self.as_lanes(a, kind)?, self.floats(kind, 1.0));
                lanes(
                    kind,
                    self.each2(kind, &one, &a, |e, one, v| {
                        let root = e.b.ins().sqrt(v);
                        e.b.ins().fdiv(one, root)
                    }),
                )
            }
            ("mantissa", [a]) => {
                let a = self.as_lanes(a, kind)?;
                lanes(kind, self.split(&a).1)
            }
            // The exponent of what its mantissa is given of.
            ("exponent", [a, _]) => {
                let a = self.as_lanes(a, kind)?;
                lanes(kind, self.split(&a).0)
            }
            ("scale", [p, n]) => {
                let (p, n) = (self.as_lanes(p, kind)?, self.as_lanes(n, kind)?);
                lanes(kind, self.scale(kind, &p, &n))
            }
            ("fma", [a, b, c]) if self.known.has_fma => {
                let (a, b, c) = (self.as_lanes(a, kind)?, self.as_lanes(b, kind)?, self.as_lanes(c, kind)?);
                let mut all = a;
                for i in 0..kind.count() {
                    all[i] = self.b.ins().fma(a[i], b[i], c[i]);
                }
                lanes(kind, all)
            }
            ("fmin" | "fmax", [a, b]) => {
                let (a, b) = (self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
                lanes(kind, self.float_min(kind, op == "fmax", &a, &b))
            }
            ("min2" | "max2", [a, b]) => {
                let (a, b) = (self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
                lanes(kind, self.each2(kind, &a, &b, |e, a, b| e.min2(kind, op == "max2", a, b)))
            }
            ("copysign", [a, b]) => {
                let (a, b) = (self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
                let sign = self.floats(kind, -0.0)[0];
                lanes(kind, self.each2(kind, &a, &b, |e, a, b| e.b.ins().bitselect(sign, b, a)))
            }
            (_, [a]) => self.unary_lanes(op, kind, a),
            (_, [a, b]) => self.binary_lanes(op, kind, a, b),
            _ => Ok(None),
        }
    }

    fn unary_lanes(&mut self, op: &str, kind: Kind, a: &Val) -> Result<Option<Val>> {
        if !matches!(op, "neg" | "not" | "fabs" | "sqrt" | "rint" | "floor" | "ceil" | "trunc") {
            return Ok(None);
        }
        let a = self.as_lanes(a, kind)?;
        let parts = self.each(kind, &a, |e, v| match op {
            "neg" if kind.is_float() => e.b.ins().fneg(v),
            "neg" => e.b.ins().ineg(v),
            "not" => e.b.ins().bnot(v),
            "fabs" => e.b.ins().fabs(v),
            "sqrt" => e.b.ins().sqrt(v),
            "rint" => e.b.ins().nearest(v),
            "floor" => e.b.ins().floor(v),
            "ceil" => e.b.ins().ceil(v),
            _ => e.b.ins().trunc(v),
        });
        Ok(Some(Val::Lanes(kind, parts)))
    }

    fn binary_lanes(&mut self, op: &str, kind: Kind, a: &Val, b: &Val) -> Result<Option<Val>> {
        let float = kind.is_float();
        if !matches!(op, "add" | "sub" | "mul" | "and" | "or" | "xor") && (op, float) != ("div", true) {
            return Ok(None);
        }
        let (a, b) = (self.as_lanes(a, kind)?, self.as_lanes(b, kind)?);
        let parts = self.each2(kind, &a, &b, |e, a, b| match op {
            "add" if float => e.b.ins().fadd(a, b),
            "sub" if float => e.b.ins().fsub(a, b),
            "mul" if float => e.b.ins().fmul(a, b),
            "div" => e.b.ins().fdiv(a, b),
            "add" => e.b.ins().iadd(a, b),
            "sub" => e.b.ins().isub(a, b),
            "mul" => e.b.ins().imul(a, b),
            "and" => e.b.ins().band(a, b),
            "or" => e.b.ins().bor(a, b),
            _ => e.b.ins().bxor(a, b),
        });
        Ok(Some(Val::Lanes(kind, parts)))
    }

    /// A comparison of 32-bit lanes with zero, as bits; of what a helper gives.
    pub(super) fn truth_of(&mut self, parts: &Parts) -> Mask {
        let zero = self.known_lanes(Kind::I32, 0);
        let found = self.each2(Kind::I32, parts, &zero, |e, a, b| e.b.ins().icmp(IntCC::NotEqual, a, b));
        Mask::Lanes([found[0], found[1], found[2], found[3]])
    }
}
