//! The text's functions of numbers.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::emit::Emitter;
use super::parse::{Expr, Ty};
use super::scalar::{I32, I64, U32, U64};
use super::value::{At, Num, Val, bits_of, clif_type};
use super::{Result, bad};
use crate::back::cpu::abi::site::FAR;

impl<'t> Emitter<'_, 't, '_> {
    fn float_max(&mut self, max: bool, ty: &Ty, x: clif::Value, y: clif::Value) -> clif::Value {
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
        self.b.ins().select(is_nan, x, one)
    }

    /// A function of numbers; none where it is about lanes.
    pub(super) fn call_scalar(&mut self, name: &str, args: &[Expr<'t>]) -> Result<Option<Val>> {
        let made = |v, ty| Ok(Some(Val::Num(Num { at: At::Value(v), ty })));
        let flags = clif::MemFlagsData::new();
        match (name, args) {
            ("likely" | "unlikely", [a]) => Ok(Some(Val::Num(self.truth(a)?))),
            ("__atomic_thread_fence", [_]) => {
                self.b.ins().fence();
                Ok(Some(Val::Nothing))
            }
            ("__builtin_prefetch", [at]) => {
                let at = self.num(at)?;
                self.wanted.push(at);
                Ok(Some(Val::Nothing))
            }
            ("f32_of", [a]) => {
                let v = self.as_value(a, &U32)?;
                made(self.b.ins().bitcast(types::F32, flags, v), Ty::F32)
            }
            ("f64_of", [a]) => {
                let v = self.as_value(a, &U64)?;
                made(self.b.ins().bitcast(types::F64, flags, v), Ty::F64)
            }
            ("bits_f32", [a]) => {
                let v = self.as_value(a, &Ty::F32)?;
                made(self.b.ins().bitcast(types::I32, flags, v), U32)
            }
            ("bits_f64", [a]) => {
                let v = self.as_value(a, &Ty::F64)?;
                made(self.b.ins().bitcast(types::I64, flags, v), U64)
            }
            ("largest", [a, b]) => {
                let (x, y) = (self.as_value(a, &I64)?, self.as_value(b, &I64)?);
                made(self.b.ins().smax(x, y), I64)
            }
            ("within", [x, least, most]) => {
                let (x, least, most) = (self.num(x)?, self.num(least)?, self.num(most)?);
                let (low, high) = (self.compare(">=", &x, &least)?, self.compare("<", &x, &most)?);
                let (low, high) = (self.value(&low), self.value(&high));
                made(self.b.ins().band(low, high), Ty::Bool)
            }
            ("SLL" | "SRL" | "SRA", [x, n]) => {
                let (x, n) = (self.num(x)?, self.num(n)?);
                let x = self.promoted_shift(name, &x)?;
                let bits = i64::from(bits_of(&x.ty).0);
                // Amounts are unsigned.
                let n = self.converted(&n, &U64)?;
                let (x_value, n) = (self.value(&x), self.value(&n));
                let most = self.b.ins().iconst(types::I64, bits - 1);
                let ty = clif_type(&x.ty);
                if name == "SRA" {
                    let n = self.b.ins().umin(n, most);
                    return made(self.b.ins().sshr(x_value, n), x.ty);
                }
                let shifted = if name == "SLL" { self.b.ins().ishl(x_value, n) } else { self.b.ins().ushr(x_value, n) };
                let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, n, most);
                let zero = self.b.ins().iconst(ty, 0);
                made(self.b.ins().select(fits, shifted, zero), x.ty)
            }
            ("brev_s32" | "brev_s64", [x]) => {
                let ty = if name == "brev_s32" { U32 } else { U64 };
                let v = self.as_value(x, &ty)?;
                made(self.b.ins().bitrev(v), ty)
            }
            (
                "clz_s32"
                | "clz_s64"
                | "__builtin_popcount"
                | "__builtin_popcountll"
                | "__builtin_ffs"
                | "__builtin_ffsll",
                [x],
            ) => {
                let is_long = name.ends_with("ll") || name.ends_with("64");
                let from = if is_long { U64 } else { U32 };
                let v = self.as_value(x, &from)?;
                let ty = if is_long { types::I64 } else { types::I32 };
                let found = if name.starts_with("clz") {
                    self.b.ins().clz(v)
                } else if name.contains("popcount") {
                    self.b.ins().popcnt(v)
                } else {
                    let (place, zero) = (self.b.ins().ctz(v), self.b.ins().iconst(ty, 0));
                    let next = self.b.ins().iadd_imm_s(place, 1);
                    let is_zero = self.b.ins().icmp(IntCC::Equal, v, zero);
                    self.b.ins().select(is_zero, zero, next)
                };
                made(if is_long { self.b.ins().ireduce(types::I32, found) } else { found }, I32)
            }
            ("s_to_i32" | "s_to_u32" | "s_to_i64" | "s_to_u64" | "d_to_i32" | "d_to_u32", [x]) => {
                let x = self.as_value(x, &Ty::F64)?;
                let ty = match &name[5..] {
                    "i32" => I32,
                    "u32" => U32,
                    "i64" => I64,
                    _ => U64,
                };
                let (bits, signed) = bits_of(&ty);
                let into = clif_type(&ty);
                let v = match signed {
                    true => self.b.ins().fcvt_to_sint_sat(into, x),
                    false => self.b.ins().fcvt_to_uint_sat(into, x),
                };
                if bits == 32 && name.starts_with('s') {
                    return made(v, ty);
                }
                let top = self.value(&Num { at: At::Known(1 << (bits - 1)), ty: Ty::int(bits, false) });
                let is_nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
                made(self.b.ins().select(is_nan, top, v), ty)
            }
            ("sfmin_f32" | "sfmax_f32" | "sfmin_f64" | "sfmax_f64", [x, y]) => {
                let ty = if name.ends_with("32") { Ty::F32 } else { Ty::F64 };
                let (x, y) = (self.as_value(x, &ty)?, self.as_value(y, &ty)?);
                made(self.float_max(name.starts_with("sfmax"), &ty, x, y), ty)
            }
            ("is_line", [p]) => {
                let p = self.as_value(p, &U64)?;
                let low = self.b.ins().iconst(types::I64, 63);
                let low = self.b.ins().band(p, low);
                let zero = self.b.ins().iconst(types::I64, 0);
                made(self.b.ins().icmp(IntCC::Equal, low, zero), Ty::Bool)
            }
            ("inside", [m, o, size, limit]) => {
                let m = self.eval(m)?;
                let m = self.as_mask(&m)?;
                let bits = self.mask_bits(m);
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
                made(self.b.ins().bor(both, nobody), Ty::Bool)
            }
            ("far_s", [index, reach, size]) => {
                let (index, size) = (self.as_value(index, &I64)?, self.as_value(size, &I64)?);
                let reach = self.as_value(reach, &I64)?;
                let (sum, twice) = (self.b.ins().iadd(index, reach), self.b.ins().iadd(reach, reach));
                let near = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, sum, twice);
                let at = self.b.ins().imul(index, size);
                let far = self.b.ins().iconst(types::I64, FAR);
                made(self.b.ins().select(near, at, far), I64)
            }
            ("last_lane" | "first_lane", [m]) => {
                let m = self.eval(m)?;
                let m = self.as_mask(&m)?;
                let bits = self.mask_bits(m);
                if name == "first_lane" {
                    return made(self.b.ins().ctz(bits), U32);
                }
                let (zeros, most) = (self.b.ins().clz(bits), self.b.ins().iconst(types::I32, 31));
                made(self.b.ins().isub(most, zeros), U32)
            }
            ("lane_b1", [m, lane]) => {
                let m = self.eval(m)?;
                let m = self.as_mask(&m)?;
                let (bits, lane) = (self.mask_bits(m), self.as_value(lane, &U32)?);
                let at = self.b.ins().ushr(bits, lane);
                let one = self.b.ins().iconst(types::I32, 1);
                let bit = self.b.ins().band(at, one);
                made(self.b.ins().ireduce(types::I8, bit), Ty::Bool)
            }
            _ => self.call_builtin(name, args),
        }
    }

    /// Shifted to the right a narrow number stays what it is.
    fn promoted_shift(&mut self, name: &str, x: &Num) -> Result<Num> {
        match x.ty {
            Ty::Bool | Ty::Int { bits: 8 | 16, .. } if name == "SLL" => self.converted(x, &I32),
            Ty::Bool => self.converted(x, &U32),
            _ => Ok(x.clone()),
        }
    }

    /// `__builtin_sqrtf` and the like.
    fn call_builtin(&mut self, name: &str, args: &[Expr<'t>]) -> Result<Option<Val>> {
        let Some(rest) = name.strip_prefix("__builtin_") else { return Ok(None) };
        let (rest, ty) = rest.strip_suffix('f').map_or((rest, Ty::F64), |rest| (rest, Ty::F32));
        let mut values = Vec::with_capacity(args.len());
        if !matches!(rest, "ceil" | "floor" | "trunc" | "rint" | "sqrt" | "fabs" | "copysign" | "fma") {
            return Ok(None);
        }
        for arg in args {
            values.push(self.as_value(arg, &ty)?);
        }
        let ins = self.b.ins();
        let v = match (rest, &values[..]) {
            ("ceil", [x]) => ins.ceil(*x),
            ("floor", [x]) => ins.floor(*x),
            ("trunc", [x]) => ins.trunc(*x),
            ("rint", [x]) => ins.nearest(*x),
            ("sqrt", [x]) => ins.sqrt(*x),
            ("fabs", [x]) => ins.fabs(*x),
            ("copysign", [x, y]) => ins.fcopysign(*x, *y),
            ("fma", [x, y, z]) => ins.fma(*x, *y, *z),
            _ => return Err(bad(name)),
        };
        Ok(Some(Val::Num(Num { at: At::Value(v), ty })))
    }
}
