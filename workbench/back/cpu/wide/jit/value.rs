//! Values: numbers, lanes, masks.
//!
//! Lanes of 32 bits are four vectors, lanes of 64 bits eight. A mask is kept as a comparison gives it, four vectors of 32-bit lanes that
//! are all ones or zeros, until its 16 bits are needed; so a mask that only selects never becomes bits.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, ConstantData, Endianness, InstBuilder, MemFlagsData, Type, types};

use super::emit::Emitter;
use super::{Result, bad};
use crate::back::lane::table::Kind;
use crate::back::lane::tree::Binary;
use crate::back::lane::types::{Ty, bits_of};

/// Vectors of lanes; only the first four are used for 32-bit lanes.
pub(super) type Parts = [clif::Value; 8];

/// The vectors that hold lanes.
pub(super) trait Vectors {
    /// Their type.
    fn vector(self) -> Type;
    /// Their number.
    fn count(self) -> usize;
    /// The integers of the same size.
    fn integers(self) -> Kind;
}

impl Vectors for Kind {
    fn vector(self) -> Type {
        match self {
            Kind::F32 => types::F32X4,
            Kind::I32 => types::I32X4,
            Kind::F64 => types::F64X2,
            Kind::I64 => types::I64X2,
        }
    }

    fn count(self) -> usize {
        match self {
            Kind::F32 | Kind::I32 => 4,
            Kind::F64 | Kind::I64 => 8,
        }
    }

    fn integers(self) -> Kind {
        if self.count() == 4 { Kind::I32 } else { Kind::I64 }
    }
}

/// A number: known, or computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum At {
    /// A known number, for integers and addresses alone.
    Known(i128),
    Value(clif::Value),
}

/// A number of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Num {
    pub at: At,
    pub ty: Ty,
}

/// A set of lanes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mask {
    Known(u16),
    /// The 16 bits, in a 32-bit number.
    Bits(clif::Value),
    /// Lanes of all ones or zeros.
    Lanes([clif::Value; 4]),
}

/// The value of an expression.
#[derive(Debug, Clone)]
pub(super) enum Val {
    Num(Num),
    Lanes(Kind, Parts),
    Mask(Mask),
    Nothing,
}

/// The machine's type of a number.
pub(super) fn clif_type(ty: &Ty) -> Type {
    match ty {
        Ty::Int { bits: 8, .. } | Ty::Bool => types::I8,
        Ty::Int { bits: 16, .. } => types::I16,
        Ty::Int { bits: 32, .. } | Ty::Mask => types::I32,
        Ty::Int { bits: 128, .. } => types::I128,
        Ty::F32 => types::F32,
        Ty::F64 => types::F64,
        Ty::Lanes(kind) => kind.vector(),
        _ => types::I64,
    }
}

/// A number wrapped to the bits of its type.
pub(super) fn wrapped(n: i128, ty: &Ty) -> i128 {
    match ty {
        Ty::Int { bits: 128, .. } => n,
        Ty::Int { bits, signed } => {
            let shift = 128 - u32::from(*bits);
            if *signed { (n << shift) >> shift } else { (((n as u128) << shift) >> shift) as i128 }
        }
        Ty::Bool => n & 0xff,
        _ => i128::from(n as u64),
    }
}

fn little() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

impl Emitter<'_, '_> {
    /// The bits of a vector as one of another type.
    pub(super) fn cast(&mut self, v: clif::Value, to: Type) -> clif::Value {
        if self.b.func.dfg.value_type(v) == to {
            return v;
        }
        // The code generator recognises a comparison through one cast alone.
        self.b.ins().bitcast(to, little(), v)
    }

    /// Vector constants.
    pub(super) fn constant(&mut self, ty: Type, bytes: Vec<u8>) -> clif::Value {
        let bytes = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
        self.b.ins().vconst(ty, bytes)
    }

    /// Bytes of two vectors, by their positions.
    pub(super) fn shuffled(&mut self, a: clif::Value, b: clif::Value, order: [u8; 16], to: Type) -> clif::Value {
        let (a, b) = (self.cast(a, types::I8X16), self.cast(b, types::I8X16));
        let order = self.b.func.dfg.immediates.push(ConstantData::from(&order[..]));
        let both = self.b.ins().shuffle(a, b, order);
        self.cast(both, to)
    }

    /// The machine's value of a number.
    pub(super) fn value(&mut self, num: &Num) -> clif::Value {
        match num.at {
            At::Value(v) => v,
            At::Known(n) => match clif_type(&num.ty) {
                types::I128 => {
                    let (low, high) =
                        (self.b.ins().iconst(types::I64, n as i64), self.b.ins().iconst(types::I64, (n >> 64) as i64));
                    self.b.ins().iconcat(low, high)
                }
                // The immediate of an unsigned number of that many bits.
                ty => {
                    let bits = ty.bits();
                    let n = if bits == 64 { n as i64 } else { (n as u64 & ((1u64 << bits) - 1)) as i64 };
                    self.b.ins().iconst(ty, n)
                }
            },
        }
    }

    pub(super) fn as_num(&mut self, value: &Val) -> Result<Num> {
        match value {
            Val::Num(num) => Ok(num.clone()),
            Val::Mask(mask) => Ok(match *mask {
                Mask::Known(bits) => Num { at: At::Known(i128::from(bits)), ty: Ty::int(32, true) },
                mask => Num { at: At::Value(self.mask_bits(mask)), ty: Ty::int(32, true) },
            }),
            Val::Lanes(..) | Val::Nothing => Err(bad("lanes where a number belongs")),
        }
    }

    pub(super) fn as_mask(&mut self, value: &Val) -> Result<Mask> {
        match value {
            Val::Mask(mask) => Ok(*mask),
            Val::Num(num) => {
                let num = self.converted(num, &Ty::int(16, false))?;
                let num = self.converted(&num, &Ty::int(32, false))?;
                Ok(match num.at {
                    At::Known(n) => Mask::Known(n as u16),
                    At::Value(v) => Mask::Bits(v),
                })
            }
            Val::Lanes(..) | Val::Nothing => Err(bad("lanes where a mask belongs")),
        }
    }

    pub(super) fn as_lanes(&mut self, value: &Val, kind: Kind) -> Result<Parts> {
        match value {
            Val::Lanes(of, parts) if *of == kind => Ok(*parts),
            _ => Err(bad(format!("something else where lanes of {kind:?} belong"))),
        }
    }

    pub(super) fn as_type(&mut self, value: &Val, ty: &Ty) -> Result<Val> {
        Ok(match ty {
            Ty::Lanes(kind) => Val::Lanes(*kind, self.as_lanes(value, *kind)?),
            Ty::Mask => Val::Mask(self.as_mask(value)?),
            Ty::Void => Val::Nothing,
            ty => {
                let num = self.as_num(value)?;
                Val::Num(self.converted(&num, ty)?)
            }
        })
    }

    /// A number as C's cast makes it.
    pub(super) fn converted(&mut self, num: &Num, to: &Ty) -> Result<Num> {
        if num.ty == *to {
            return Ok(num.clone());
        }
        let made = |at| Ok(Num { at, ty: to.clone() });
        let from_float = matches!(num.ty, Ty::F32 | Ty::F64);
        match (to, num.at) {
            (Ty::F32 | Ty::F64, _) if from_float => {
                let v = self.value(num);
                made(At::Value(match to {
                    Ty::F64 => self.b.ins().fpromote(types::F64, v),
                    _ => self.b.ins().fdemote(types::F32, v),
                }))
            }
            (Ty::F32, At::Known(n)) if n.unsigned_abs() < 1 << 24 => made(At::Value(self.b.ins().f32const(n as f32))),
            (Ty::F64, At::Known(n)) if n.unsigned_abs() < 1 << 53 => made(At::Value(self.b.ins().f64const(n as f64))),
            (Ty::F32 | Ty::F64, _) => {
                let (bits, signed) = bits_of(&num.ty);
                // Narrow numbers have no conversion.
                let wide = if bits < 32 { self.converted(num, &Ty::int(32, signed))? } else { num.clone() };
                let v = self.value(&wide);
                let ty = clif_type(to);
                made(At::Value(match signed {
                    true => self.b.ins().fcvt_from_sint(ty, v),
                    false => self.b.ins().fcvt_from_uint(ty, v),
                }))
            }
            _ if from_float => Err(bad("a float as an integer")),
            (_, At::Known(n)) => made(At::Known(wrapped(n, to))),
            (_, At::Value(v)) => {
                let (from, into) = (clif_type(&num.ty), clif_type(to));
                let (_, signed) = bits_of(&num.ty);
                made(At::Value(match into.bits().cmp(&from.bits()) {
                    std::cmp::Ordering::Equal => v,
                    std::cmp::Ordering::Less => self.b.ins().ireduce(into, v),
                    std::cmp::Ordering::Greater if signed => self.b.ins().sextend(into, v),
                    std::cmp::Ordering::Greater => self.b.ins().uextend(into, v),
                }))
            }
        }
    }

    /// The 16 bits of a mask.
    pub(super) fn mask_bits(&mut self, mask: Mask) -> clif::Value {
        match mask {
            Mask::Known(bits) => self.b.ins().iconst(types::I32, i64::from(bits)),
            Mask::Bits(v) => v,
            Mask::Lanes([a, b, c, d]) => {
                let (low, high) = (self.b.ins().snarrow(a, b), self.b.ins().snarrow(c, d));
                let all = self.b.ins().snarrow(low, high);
                self.b.ins().vhigh_bits(types::I32, all)
            }
        }
    }

    /// A mask as lanes of 32 bits.
    pub(super) fn mask_lanes(&mut self, mask: Mask) -> [clif::Value; 4] {
        let of = |part: u32| (0..4).flat_map(|lane| (1u32 << (4 * part + lane)).to_le_bytes()).collect::<Vec<u8>>();
        match mask {
            Mask::Lanes(lanes) => lanes,
            Mask::Known(bits) => [0, 1, 2, 3].map(|part| {
                let lanes =
                    (0..4).flat_map(|lane| (0u32.wrapping_sub(u32::from(bits >> (4 * part + lane) & 1))).to_le_bytes());
                let lanes = lanes.collect();
                self.constant(types::I32X4, lanes)
            }),
            Mask::Bits(v) => {
                let all = self.b.ins().splat(types::I32X4, v);
                [0, 1, 2, 3].map(|part| {
                    let places = self.constant(types::I32X4, of(part));
                    let there = self.b.ins().band(all, places);
                    self.b.ins().icmp(IntCC::Equal, there, places)
                })
            }
        }
    }

    /// A mask as lanes of 64 bits.
    pub(super) fn mask_pairs(&mut self, mask: Mask) -> Parts {
        let lanes = self.mask_lanes(mask);
        let mut pairs = [lanes[0]; 8];
        for (i, lane) in lanes.into_iter().enumerate() {
            pairs[2 * i] = self.b.ins().swiden_low(lane);
            pairs[2 * i + 1] = self.b.ins().swiden_high(lane);
        }
        pairs
    }

    /// The mask of lanes of 64 bits that are all ones or zeros.
    pub(super) fn mask_of_pairs(&mut self, pairs: &Parts) -> Mask {
        Mask::Lanes([0, 1, 2, 3].map(|i| self.low_halves(pairs[2 * i], pairs[2 * i + 1], types::I32X4)))
    }

    /// The low halves of the 64-bit lanes of two vectors.
    pub(super) fn low_halves(&mut self, a: clif::Value, b: clif::Value, to: Type) -> clif::Value {
        self.shuffled(a, b, [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27], to)
    }

    pub(super) fn mask_not(&mut self, mask: Mask) -> Mask {
        match mask {
            Mask::Known(bits) => Mask::Known(!bits),
            Mask::Bits(v) => {
                let all = self.b.ins().iconst(types::I32, 0xffff);
                Mask::Bits(self.b.ins().bxor(v, all))
            }
            Mask::Lanes(lanes) => Mask::Lanes(lanes.map(|v| self.b.ins().bnot(v))),
        }
    }

    /// `&`, `|` or `^` of masks.
    pub(super) fn mask_op(&mut self, op: Binary, a: Mask, b: Mask) -> Mask {
        match (op, a, b) {
            (Binary::And, Mask::Known(x), Mask::Known(y)) => return Mask::Known(x & y),
            (Binary::Or, Mask::Known(x), Mask::Known(y)) => return Mask::Known(x | y),
            (Binary::Xor, Mask::Known(x), Mask::Known(y)) => return Mask::Known(x ^ y),
            (Binary::And, Mask::Known(0xffff), other) | (Binary::And, other, Mask::Known(0xffff)) => return other,
            (Binary::Or | Binary::Xor, Mask::Known(0), other) | (Binary::Or | Binary::Xor, other, Mask::Known(0)) => {
                return other;
            }
            (Binary::And, Mask::Known(0), _) | (Binary::And, _, Mask::Known(0)) => return Mask::Known(0),
            _ => {}
        }
        if let (Mask::Lanes(x), Mask::Lanes(y)) = (a, b) {
            return Mask::Lanes([0, 1, 2, 3].map(|i| match op {
                Binary::And => self.b.ins().band(x[i], y[i]),
                Binary::Or => self.b.ins().bor(x[i], y[i]),
                _ => self.b.ins().bxor(x[i], y[i]),
            }));
        }
        let (x, y) = (self.mask_bits(a), self.mask_bits(b));
        Mask::Bits(match op {
            Binary::And => self.b.ins().band(x, y),
            Binary::Or => self.b.ins().bor(x, y),
            _ => self.b.ins().bxor(x, y),
        })
    }

    /// True if any lane is set.
    pub(super) fn mask_any(&mut self, mask: Mask) -> Num {
        let at = match mask {
            Mask::Known(bits) => At::Known(i128::from(bits != 0)),
            Mask::Bits(v) => {
                let zero = self.b.ins().iconst(types::I32, 0);
                At::Value(self.b.ins().icmp(IntCC::NotEqual, v, zero))
            }
            Mask::Lanes([a, b, c, d]) => {
                let (low, high) = (self.b.ins().bor(a, b), self.b.ins().bor(c, d));
                let all = self.b.ins().bor(low, high);
                At::Value(self.b.ins().vany_true(all))
            }
        };
        Num { at, ty: Ty::Bool }
    }
}
