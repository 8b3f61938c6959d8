//! Loads and stores of lanes, and calls of helpers, which get lanes by way of memory.

use cranelift_codegen::ir::{
    self as clif, AbiParam, ExtFuncData, ExternalName, InstBuilder, Signature, StackSlot, UserExternalName, types,
};

use super::emit::{Emitter, free};
use super::helpers::{Arg, Callee};
use super::value::{At, Mask, Num, Parts, Val, Vectors, clif_type};
use super::{Result, bad};
use crate::back::lane::table::{Access, Element, Kind, MemoryOp};
use crate::back::lane::tree::Binary;
use crate::back::lane::types::Ty;

/// The number of lanes in a known mask of the first 1, 2, 4 or 8 lanes of 32 bits.
fn first_lanes(mask: Mask, size: u32) -> Option<u32> {
    match mask {
        Mask::Known(bits) => [1u32, 2, 4, 8].into_iter().find(|n| size == 4 && u32::from(bits) == (1 << n) - 1),
        _ => None,
    }
}

/// The type of one or two lanes of 32 bits as a number, and of the vector of such numbers.
fn short(count: u32) -> Option<(clif::Type, clif::Type)> {
    match count {
        1 => Some((types::I32, types::I32X4)),
        2 => Some((types::I64, types::I64X2)),
        _ => None,
    }
}

impl Emitter<'_, '_> {
    /// The slot for the argument of a helper with that number; number 8 is the result.
    pub(super) fn room(&mut self, number: usize, bytes: u32) -> StackSlot {
        if let Some(slot) = self.rooms.get(&(number, bytes)) {
            return *slot;
        }
        let slot = self.slot(bytes);
        self.rooms.insert((number, bytes), slot);
        slot
    }

    /// Stores lanes in a slot.
    pub(super) fn keep(&mut self, kind: Kind, parts: &Parts, slot: StackSlot) {
        for (i, part) in parts[..kind.count()].iter().enumerate() {
            self.b.ins().stack_store(types::I64, *part, slot, 16 * i as i32);
        }
    }

    /// The lanes in a slot.
    fn kept(&mut self, kind: Kind, slot: StackSlot) -> Parts {
        let first = self.b.ins().stack_load(types::I64, kind.vector(), slot, 0);
        let mut parts = [first; 8];
        for (i, part) in parts.iter_mut().enumerate().take(kind.count()).skip(1) {
            *part = self.b.ins().stack_load(types::I64, kind.vector(), slot, 16 * i as i32);
        }
        parts
    }

    /// Neighbouring elements.
    fn load_lanes(&mut self, kind: Kind, size: u32, signed: bool, at: clif::Value) -> Parts {
        let ty = kind.vector();
        if kind.count() as u32 * 16 == 16 * size {
            let first = self.b.ins().load(ty, free(), at, 0);
            let mut parts = [first; 8];
            for (i, part) in parts.iter_mut().enumerate().take(kind.count()).skip(1) {
                *part = self.b.ins().load(ty, free(), at, 16 * i as i32);
            }
            return parts;
        }
        // Narrow numbers are extended, once or twice.
        let halves = |e: &mut Self, v: clif::Value| match signed {
            true => [e.b.ins().swiden_low(v), e.b.ins().swiden_high(v)],
            false => [e.b.ins().uwiden_low(v), e.b.ins().uwiden_high(v)],
        };
        let words = if size == 1 {
            let bytes = self.b.ins().load(types::I8X16, free(), at, 0);
            halves(self, bytes)
        } else {
            [self.b.ins().load(types::I16X8, free(), at, 0), self.b.ins().load(types::I16X8, free(), at, 16)]
        };
        let [[a, b], [c, d]] = words.map(|v| halves(self, v));
        [a, b, c, d, a, b, c, d]
    }

    fn store_lanes(&mut self, kind: Kind, size: u32, at: clif::Value, parts: &Parts) {
        if kind.count() as u32 * 16 == 16 * size {
            for (i, part) in parts[..kind.count()].iter().enumerate() {
                self.b.ins().store(free(), *part, at, 16 * i as i32);
            }
            return;
        }
        // The low bits of each lane, so that narrowing does not saturate.
        let all = if size == 1 { 0xff_i64 } else { 0xffff };
        let low = self.constant(types::I32X4, (all as i32).to_le_bytes().repeat(4));
        let low = self.each2(Kind::I32, parts, &[low; 8], |e, v, low| e.b.ins().band(v, low));
        let words = [self.b.ins().unarrow(low[0], low[1]), self.b.ins().unarrow(low[2], low[3])];
        if size == 1 {
            let bytes = self.b.ins().unarrow(words[0], words[1]);
            self.b.ins().store(free(), bytes, at, 0);
        } else {
            self.b.ins().store(free(), words[0], at, 0);
            self.b.ins().store(free(), words[1], at, 16);
        }
    }

    /// The first lanes of 32-bit neighbours, as in a step of a tree of reductions; zeros after them.
    fn load_first(&mut self, kind: Kind, count: u32, at: clif::Value) -> Parts {
        let zero = self.constant(kind.vector(), vec![0; 16]);
        let mut parts = [zero; 8];
        for (i, part) in parts.iter_mut().enumerate().take(count as usize / 4) {
            *part = self.b.ins().load(kind.vector(), free(), at, 16 * i as i32);
        }
        if let Some((ty, vector)) = short(count) {
            let one = self.b.ins().load(ty, free(), at, 0);
            let first = self.b.ins().scalar_to_vector(vector, one);
            parts[0] = self.cast(first, kind.vector());
        }
        parts
    }

    fn store_first(&mut self, count: u32, at: clif::Value, parts: &Parts) {
        for (i, part) in parts.iter().enumerate().take(count as usize / 4) {
            self.b.ins().store(free(), *part, at, 16 * i as i32);
        }
        if let Some((_, vector)) = short(count) {
            let all = self.cast(parts[0], vector);
            let one = self.b.ins().extractlane(all, 0u8);
            self.b.ins().store(free(), one, at, 0);
        }
    }

    /// True if a mask has all lanes, if that is known; else a condition.
    fn is_full(&mut self, mask: Mask) -> std::result::Result<bool, clif::Value> {
        match mask {
            Mask::Known(bits) => Ok(bits == 0xffff),
            Mask::Lanes([a, b, c, d]) => {
                let (low, high) = (self.b.ins().band(a, b), self.b.ins().band(c, d));
                let all = self.b.ins().band(low, high);
                Err(self.b.ins().vall_true(all))
            }
            Mask::Bits(v) => {
                let all = self.b.ins().iconst(types::I32, 0xffff);
                Err(self.b.ins().icmp(clif::condcodes::IntCC::Equal, v, all))
            }
        }
    }

    /// An access of memory.
    pub(super) fn access(&mut self, op: MemoryOp, args: &[Val]) -> Result<Val> {
        let helped = |e: &mut Self| e.call_helper(Callee::access(op), args);
        let (of, kind, size) = (op.of, op.of.kind(), op.of.size());
        match (op.access, args) {
            (Access::Load, [at]) => {
                let at = self.pointer(at)?;
                let parts = self.load_lanes(kind, size, of.is_signed(), at);
                Ok(self.loaded(of, parts))
            }
            // A processor without stores past the cache has no helper for them.
            (Access::Store, _) if op.past_cache && Callee::access(op).is_there() => helped(self),
            (Access::Store, [at, value]) => {
                let at = self.pointer(at)?;
                let parts = self.stored(of, value)?;
                self.store_lanes(kind, size, at, &parts);
                Ok(Val::Nothing)
            }
            (Access::LoadSome, [mask, at]) => {
                let (mask, at) = (self.as_mask(mask)?, self.pointer(at)?);
                let parts = match self.is_full(mask) {
                    Ok(true) => self.load_lanes(kind, size, of.is_signed(), at),
                    Ok(false) => match first_lanes(mask, size) {
                        Some(count) => self.load_first(kind, count, at),
                        None => return helped(self),
                    },
                    Err(full) => self.diamond(
                        full,
                        Some(kind),
                        |e| Ok(e.load_lanes(kind, size, of.is_signed(), at)),
                        |e| e.load_some(op, mask, at),
                    )?,
                };
                Ok(self.loaded(of, parts))
            }
            (Access::StoreSome, [mask, at, value]) => {
                let (mask, at) = (self.as_mask(mask)?, self.pointer(at)?);
                let parts = self.stored(of, value)?;
                match self.is_full(mask) {
                    Ok(true) => self.store_lanes(kind, size, at, &parts),
                    Ok(false) => match first_lanes(mask, size) {
                        Some(count) => self.store_first(count, at, &parts),
                        None => self.store_some(op, mask, at, &parts)?,
                    },
                    Err(full) => {
                        self.diamond(
                            full,
                            None,
                            |e| {
                                e.store_lanes(kind, size, at, &parts);
                                Ok(parts)
                            },
                            |e| e.store_some(op, mask, at, &parts).map(|()| parts),
                        )?;
                    }
                }
                Ok(Val::Nothing)
            }
            // A line of elements: their addresses need no lanes.
            (Access::LoadLine, [mask, at, step]) => {
                let mask = self.as_mask(mask)?;
                if self.is_full(mask) != Ok(true) {
                    return helped(self);
                }
                let addresses = self.in_line(at, step)?;
                Ok(Val::Lanes(kind, self.gathered(kind, &addresses)))
            }
            (Access::LoadIndexed | Access::LoadAt, [mask, at, Val::Lanes(places, index)]) if size >= 4 => {
                let mask = self.as_mask(mask)?;
                if self.is_full(mask) != Ok(true) {
                    return helped(self);
                }
                let (places, index, at) = (*places, *index, self.pointer(at)?);
                let slot = self.room(0, if places.count() == 4 { 64 } else { 128 });
                self.keep(places, &index, slot);
                let mut addresses = Vec::with_capacity(16);
                for lane in 0..16 {
                    let by = if places == Kind::I32 {
                        let index = self.b.ins().stack_load(types::I64, types::I32, slot, 4 * lane);
                        let index = self.b.ins().uextend(types::I64, index);
                        self.b.ins().ishl_imm_s(index, i64::from(size.trailing_zeros()))
                    } else {
                        self.b.ins().stack_load(types::I64, types::I64, slot, 8 * lane)
                    };
                    addresses.push(self.b.ins().iadd(at, by));
                }
                Ok(Val::Lanes(kind, self.gathered(kind, &addresses)))
            }
            (
                Access::LoadAt
                | Access::LoadIndexed
                | Access::LoadChecked
                | Access::StoreAt
                | Access::StoreChecked
                | Access::Load
                | Access::LoadSome
                | Access::LoadLine
                | Access::StoreLine
                | Access::Store
                | Access::StoreSome,
                _,
            ) => helped(self),
        }
    }

    /// The addresses of a line of elements.
    fn in_line(&mut self, at: &Val, step: &Val) -> Result<Vec<clif::Value>> {
        let (at, step) = (self.pointer(at)?, self.as_num(step)?);
        let step = self.converted(&step, &Ty::int(64, true))?;
        (0..16)
            .map(|lane| {
                let by = self.binary(Binary::Mul, &step, &Num { at: At::Known(lane), ty: Ty::int(64, true) })?;
                let by = self.value(&by);
                Ok(self.b.ins().iadd(at, by))
            })
            .collect()
    }

    /// The result of a load: a mask for truth values.
    fn loaded(&mut self, of: Element, parts: Parts) -> Val {
        match of {
            Element::B1 => Val::Mask(self.truth_of(&parts)),
            _ => Val::Lanes(of.kind(), parts),
        }
    }

    /// Loads neighbours of a mask by a helper.
    fn load_some(&mut self, op: MemoryOp, mask: Mask, at: clif::Value) -> Result<Parts> {
        let at = Val::Num(Num { at: At::Value(at), ty: Ty::int(64, true) });
        match self.call_helper(Callee::access(op), &[Val::Mask(mask), at])? {
            Val::Lanes(_, parts) => Ok(parts),
            // Truth values are lanes here.
            Val::Mask(mask) => {
                let [a, b, c, d] = self.mask_lanes(mask);
                Ok([a, b, c, d, a, b, c, d])
            }
            Val::Num(_) | Val::Nothing => Err(bad("an access that gives something else")),
        }
    }

    /// Elements at sixteen addresses.
    fn gathered(&mut self, kind: Kind, addresses: &[clif::Value]) -> Parts {
        let per = 16 / kind.count();
        let ty = clif_type(&kind.scalar());
        let mut all = [addresses[0]; 8];
        for (part, chunk) in all.iter_mut().zip(addresses.chunks(per)) {
            let first = self.b.ins().load(ty, free(), chunk[0], 0);
            let mut vector = self.b.ins().scalar_to_vector(kind.vector(), first);
            for (lane, at) in chunk.iter().enumerate().skip(1) {
                let one = self.b.ins().load(ty, free(), *at, 0);
                vector = self.b.ins().insertlane(vector, one, lane as u8);
            }
            *part = vector;
        }
        all
    }

    fn store_some(&mut self, op: MemoryOp, mask: Mask, at: clif::Value, parts: &Parts) -> Result<()> {
        let at = Val::Num(Num { at: At::Value(at), ty: Ty::int(64, true) });
        let value = match op.of {
            Element::B1 => {
                let mask = self.truth_of(parts);
                Val::Mask(mask)
            }
            of => Val::Lanes(of.kind(), *parts),
        };
        self.call_helper(Callee::access(op), &[Val::Mask(mask), at, value]).map(|_| ())
    }

    fn pointer(&mut self, value: &Val) -> Result<clif::Value> {
        let num = self.as_num(value)?;
        Ok(self.value(&num))
    }

    /// The lanes to store: zeros and ones for truth values.
    fn stored(&mut self, of: Element, value: &Val) -> Result<Parts> {
        if of != Element::B1 {
            return self.as_lanes(value, of.kind());
        }
        let mask = self.as_mask(value)?;
        let lanes = self.mask_lanes(mask);
        let one = self.constant(types::I32X4, 1i32.to_le_bytes().repeat(4));
        let [a, b, c, d] = lanes.map(|v| self.b.ins().band(v, one));
        Ok([a, b, c, d, a, b, c, d])
    }

    /// A call of a helper.
    pub(super) fn call_helper(&mut self, callee: Callee, args: &[Val]) -> Result<Val> {
        let Some(helper) = callee.find() else { return Err(bad(callee.name())) };
        if helper.args.len() != args.len() {
            return Err(bad(format!("{} of {} arguments", callee.name(), args.len())));
        }
        let mut sig = Signature::new(self.known.conv);
        let mut values = Vec::with_capacity(args.len() + 1);
        for (i, (kind, arg)) in helper.args.iter().zip(args).enumerate() {
            let (ty, value) = match kind {
                Arg::Lanes(kind) => {
                    let parts = self.as_lanes(arg, *kind)?;
                    let slot = self.room(i, if kind.count() == 4 { 64 } else { 128 });
                    self.keep(*kind, &parts, slot);
                    (types::I64, self.b.ins().stack_addr(types::I64, slot, 0))
                }
                Arg::Mask => {
                    let mask = self.as_mask(arg)?;
                    (types::I32, self.mask_bits(mask))
                }
                Arg::Num(ty) => {
                    let num = self.as_num(arg)?;
                    let num = match (&num.ty, ty) {
                        (Ty::Ptr(_), Ty::Int { bits: 64, .. }) => num,
                        _ => self.converted(&num, ty)?,
                    };
                    (clif_type(ty), self.value(&num))
                }
                Arg::Nothing => return Err(bad(callee.name())),
            };
            sig.params.push(AbiParam::new(ty));
            values.push(value);
        }
        let out = match &helper.gives {
            Arg::Lanes(kind) => {
                let slot = self.room(8, if kind.count() == 4 { 64 } else { 128 });
                sig.params.push(AbiParam::new(types::I64));
                values.push(self.b.ins().stack_addr(types::I64, slot, 0));
                Some((*kind, slot))
            }
            Arg::Mask => {
                sig.returns.push(AbiParam::new(types::I32));
                None
            }
            Arg::Num(ty) => {
                sig.returns.push(AbiParam::new(clif_type(ty)));
                None
            }
            Arg::Nothing => None,
        };
        let called = match self.helpers.get(&callee) {
            Some(called) => *called,
            None => {
                let signature = self.b.import_signature(sig);
                let index = self.known.host(helper.address);
                let user =
                    self.b.func.declare_imported_user_function(UserExternalName { namespace: super::HOST, index });
                let called = self.b.import_function(ExtFuncData {
                    name: ExternalName::user(user),
                    signature,
                    colocated: false,
                    patchable: false,
                });
                self.helpers.insert(callee, called);
                called
            }
        };
        let call = self.b.ins().call(called, &values);
        let result = self.b.inst_results(call).first().copied();
        Ok(match (&helper.gives, out, result) {
            (_, Some((kind, slot)), _) => Val::Lanes(kind, self.kept(kind, slot)),
            (Arg::Mask, _, Some(v)) => Val::Mask(Mask::Bits(v)),
            (Arg::Num(ty), _, Some(v)) => Val::Num(Num { at: At::Value(v), ty: ty.clone() }),
            _ => Val::Nothing,
        })
    }
}
