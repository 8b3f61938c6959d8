//! Loops in the processor's widest registers.
//!
//! Vectors of 128 bits are what the code generator has. Where a loop of the text computes nothing but lanes of 32 bits, reads memory at
//! addresses that move with its counter, writes none and never branches, a processor with AVX-512 runs it in registers of 512: what a
//! round computes is read from the text ([`read`], [`operations`], [`address`]) into a graph ([`values`]), which becomes instructions of
//! its own ([`encode`]). The code is a function that the rest calls, with all that it needs in one piece of memory; it comes back when
//! there are no more rounds, or when the budget wants to be looked at. Checks are those of the text, which looks at the places of the
//! first and the last round ahead of such loops. Loops of other kinds stay what they were.

mod address;
mod encode;
mod operations;
mod read;
#[cfg(test)]
mod tests;
mod values;

use cranelift_codegen::ir::{
    self as clif, AbiParam, ExtFuncData, ExternalName, InstBuilder, MemFlagsData, Signature, UserExternalName, types,
};

use self::encode::{Frame, Loop};
use self::read::{Found, Read};
use super::super::super::jit::NAMESPACE_MODULE;
use super::Result;
use super::emit::{Binding, Emitter};
use super::parse::{Kind, Reader, Ty};
use super::value::{Num, Val};

/// Whether the processor has the instructions.
pub fn available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl")
}

/// What a loop reads from outside, in the order in which it lies.
struct Outside {
    given: Vec<super::value::Parts>,
    ones: Vec<clif::Value>,
    pointers: Vec<clif::Value>,
    factors: Vec<clif::Value>,
    set: Vec<Binding>,
}

impl<'w, 't> Emitter<'w, 't, '_> {
    /// `for (;;)` with the reader at its body: whether it is done in the widest registers. Otherwise nothing has happened.
    pub(super) fn widest_loop(&mut self, r: &mut Reader<'w, 't>) -> Result<bool> {
        if !self.known.has_widest {
            return Ok(false);
        }
        let back = r.at;
        self.push_scope();
        let found = self.read_loop(r);
        self.pop_scope();
        let Some((found, code, frame, outside)) = found else {
            r.at = back;
            return Ok(false);
        };
        let after = r.at;
        self.emit_loop(&found, code, &frame, &outside)?;
        r.at = after;
        Ok(true)
    }

    fn read_loop(&mut self, r: &mut Reader<'w, 't>) -> Option<(Found<'t>, Vec<u8>, Frame, Outside)> {
        let mut read = Read::new(self);
        let found = read.body(r)?;
        if read.set.is_empty() {
            return None;
        }
        let roots = read.set.iter().map(|name| read.now.get(name).copied()).collect::<Option<Vec<_>>>()?;
        let Read { values, given, ones, pointers, factors, set, .. } = read;
        let order = values.schedule(&roots);
        let Found { counter, cost, .. } = &found;
        let of = Loop {
            ops: values.ops,
            order,
            roots,
            given: given.len(),
            ones: ones.len(),
            pointers: pointers.len(),
            factors: factors.len(),
            counter: *counter,
            cost: *cost,
        };
        let code = encode::encode(&of)?;
        let set = set.iter().map(|name| self.lookup(name).ok()).collect::<Option<Vec<_>>>()?;
        Some((found, code, Frame::new(&of), Outside { given, ones, pointers, factors, set }))
    }

    fn emit_loop(&mut self, found: &Found<'t>, code: Vec<u8>, frame: &Frame, outside: &Outside) -> Result<()> {
        let slot = self.slot(frame.bytes as u32 + 64);
        let any = self.b.ins().stack_addr(types::I64, slot, 63);
        let at = self.b.ins().band_imm_s(any, -64);
        let flags = MemFlagsData::trusted();
        for (first, all) in [(frame.pointers, &outside.pointers), (frame.factors, &outside.factors)] {
            for (i, value) in all.iter().enumerate() {
                self.b.ins().store(flags, *value, at, first + 8 * i as i32);
            }
        }
        for (i, value) in outside.ones.iter().enumerate() {
            self.b.ins().store(flags, *value, at, frame.ones + 4 * i as i32);
        }
        for (i, parts) in outside.given.iter().enumerate() {
            for (part, value) in parts[..4].iter().enumerate() {
                self.b.ins().store(flags, *value, at, frame.given + (64 * i + 16 * part) as i32);
            }
        }
        for (i, binding) in outside.set.iter().enumerate() {
            let Val::Lanes(_, parts) = self.get(binding)? else { continue };
            for (part, value) in parts[..4].iter().enumerate() {
                self.b.ins().store(flags, *value, at, frame.carried + (64 * i + 16 * part) as i32);
            }
        }
        let counter = self.lookup(found.name)?;
        let ty = Ty::int(if found.counter.is_long { 64 } else { 32 }, found.counter.signed);
        let long = Ty::int(64, found.counter.signed);
        let value = self.get(&counter)?;
        let first = self.as_num(&value)?;
        for (num, offset) in [(&first, Frame::COUNTER), (&found.limit, Frame::LIMIT), (&found.step, Frame::STEP)] {
            let num = self.converted(num, &long)?;
            let value = self.value(&num);
            self.b.ins().store(flags, value, at, offset);
        }
        let budget = self.lookup("budget")?;
        self.keep_budget(&budget, at)?;

        let (head, again, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.jump(head)?;
        self.begin(head);
        let mut sig = Signature::new(self.known.conv);
        sig.params.push(AbiParam::new(types::I64));
        sig.returns.push(AbiParam::new(types::I32));
        let signature = self.b.import_signature(sig);
        self.loops.push(code);
        // The kernel itself is number 0.
        let index = self.loops.len() as u32;
        let user = self.b.func.declare_imported_user_function(UserExternalName { namespace: NAMESPACE_MODULE, index });
        let name = ExternalName::user(user);
        let callee = self.b.import_function(ExtFuncData { name, signature, colocated: false, patchable: false });
        let call = self.b.ins().call(callee, &[at]);
        let out = self.b.inst_results(call)[0];
        let left = self.b.ins().load(types::I64, flags, at, Frame::BUDGET);
        self.set(&budget, Val::Num(Num { at: super::value::At::Value(left), ty: Ty::int(64, true) }))?;
        self.b.set_cold_block(again);
        self.branch_on(out, again, done);

        self.begin(again);
        let mut refill = Reader::new(self.words(), found.refill);
        self.statement(&mut refill)?;
        if !self.is_ended() {
            self.keep_budget(&budget, at)?;
        }
        self.jump(head)?;
        self.b.seal_block(head);

        self.begin(done);
        let now = self.b.ins().load(super::value::clif_type(&ty), flags, at, Frame::COUNTER);
        self.set(&counter, Val::Num(Num { at: super::value::At::Value(now), ty }))?;
        for (i, binding) in outside.set.iter().enumerate() {
            let Binding::Variable(Ty::Lanes(kind @ (Kind::F32 | Kind::I32)), _) = binding else { continue };
            let mut parts = [now; 8];
            for (part, value) in parts[..4].iter_mut().enumerate() {
                *value = self.b.ins().load(kind.vector(), flags, at, frame.carried + (64 * i + 16 * part) as i32);
            }
            self.set(binding, Val::Lanes(*kind, parts))?;
        }
        let exit = self.label(found.exit);
        self.jump(exit)
    }

    fn keep_budget(&mut self, budget: &Binding, at: clif::Value) -> Result<()> {
        let value = self.get(budget)?;
        let num = self.as_num(&value)?;
        let value = self.value(&num);
        self.b.ins().store(MemFlagsData::trusted(), value, at, Frame::BUDGET);
        Ok(())
    }
}
