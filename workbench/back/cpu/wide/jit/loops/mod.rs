//! Loops in the processor's widest registers.
//!
//! The code generator has vectors of 128 bits. On a processor with AVX-512, two kinds of piece run in registers of 512 instead: loops whose rounds
//! compute lanes of 32 bits and nothing else, read memory at addresses that move with a counter, write to such addresses in the end and do not
//! branch; and *stretches*, statements that an `if` guards or that need no checks, which do the same once. Their computations are read from the lane
//! IR ([`read`], [`shape`], [`loop_invariant`], [`lane_operations`], [`address`]) into a graph ([`graph`]), which becomes instructions of its own ([`encode`],
//! [`instructions`]). The code is a function that the rest calls, with all its inputs in one piece of memory, or in the scratch of a block; that of a
//! loop returns when there are no more rounds, or when the budget is used up. The checks are the kernel's own: it checks the places of the first and
//! the last round ahead of such loops, and the condition of a stretch. All else stays as it was, and [`Left`] says why.

mod address;
mod encode;
mod graph;
mod instructions;
mod lane_operations;
mod loop_invariant;
mod read;
mod registers;
mod shape;
#[cfg(test)]
mod tests;

use cranelift_codegen::ir::{
    self as clif, AbiParam, ExtFuncData, ExternalName, InstBuilder, MemFlagsData, Signature, UserExternalName, types,
};

use self::encode::Frame;
use self::graph::Place;
use self::graph::{Counter, Loop};
use self::read::{Found, Read};
use super::emit::{After, Binding, Emitter, free};
use super::scalar::I64;
use super::value::{At, Num, Parts, Val, Vectors, clif_type};
use super::{Result, bad};
use crate::back::cpu::code::jit::NAMESPACE_MODULE;
use crate::back::lane::not_vectorised::{Left, Piece, Reason};
use crate::back::lane::table::Kind;
use crate::back::lane::tree::{Role, Stmt};
use crate::back::lane::types::Ty;

/// True if the processor has the instructions.
pub fn available() -> bool {
    // The code takes its argument where Unix calls pass it.
    cfg!(unix) && std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl")
}

/// The values that a loop reads from outside, in the order in which they lie, and those that it sets.
struct Outside {
    given: Vec<Parts>,
    ones: Vec<clif::Value>,
    pointers: Vec<clif::Value>,
    factors: Vec<clif::Value>,
    flags: Vec<clif::Value>,
    set: Vec<Binding>,
    homes: Vec<Option<Place>>,
}

/// Code with the places of its inputs.
struct Ready {
    code: Vec<u8>,
    frame: Frame,
    outside: Outside,
}

/// The number of the slot for them, which no helper's argument has.
const OUTSIDE: usize = 99;

/// The least number of vector operations that is worth a call.
const FEW: usize = 8;

impl<'k> Emitter<'k, '_> {
    /// Emits the body of `for (;;)` in the widest registers, if possible; gives the number of statements after the loop that are done as
    /// well. Otherwise nothing has been emitted.
    pub(super) fn widest_loop(&mut self, body: &'k Stmt, after: &After<'_, 'k>) -> Result<Option<usize>> {
        let read = self.tried(Piece::Loop, |read| {
            let found = read.body(body, after)?;
            let counter = Some(found.counter);
            if read.set.is_empty() && read.stores.is_empty() {
                return read.no(Reason::Short);
            }
            Some((found, counter))
        });
        let Some((found, ready)) = read else { return Ok(None) };
        self.written += 1;
        self.emit_loop(&found, ready)?;
        // The statements after the loop are done already, except for the label.
        let done = found.kept.unwrap_or_default();
        if done > 0 {
            self.statements(&after.here[..1])?;
        }
        Ok(Some(done))
    }

    /// Emits statements of a block that run once, as [`Emitter::widest_loop`] does.
    pub(super) fn widest_stretch(&mut self, all: &'k [Stmt], after: &After<'_, 'k>) -> Result<bool> {
        let read = self.tried(Piece::Stretch, |read| {
            read.stretch(all, after)?;
            if read.stores.is_empty() || read.values.ops.len() < FEW {
                return read.no(Reason::Short);
            }
            Some(((), None))
        });
        let Some(((), ready)) = read else { return Ok(false) };
        self.written += 1;
        let at = self.keep_outside(&ready.frame, &ready.outside)?;
        self.call_code(ready.code, at);
        Ok(true)
    }

    /// The result of reading a piece, with its code.
    fn tried<T>(
        &mut self,
        piece: Piece,
        read: impl FnOnce(&mut Read<'_, 'k, '_>) -> Option<(T, Option<Counter>)>,
    ) -> Option<(T, Ready)> {
        if !self.known.has_widest {
            return None;
        }
        self.push_scope();
        let mut reading = Read::new(self);
        let found = read(&mut reading);
        // A stretch that computes next to nothing is not reported.
        let is_worth_it = piece == Piece::Loop || reading.values.ops.len() >= FEW;
        let found = match found {
            Some((found, counter)) => made(reading, counter).map(|ready| (found, ready)).ok_or(Reason::Registers),
            None => Err(reading.why.unwrap_or(Reason::Numbers)),
        };
        self.pop_scope();
        match found {
            Ok(found) => return Some(found),
            Err(reason) if is_worth_it => self.left.push(Left { piece, reason }),
            Err(_) => {}
        }
        None
    }

    fn emit_loop(&mut self, found: &Found<'k>, ready: Ready) -> Result<()> {
        let Ready { code, frame, outside } = ready;
        let flags = MemFlagsData::trusted();
        let at = self.keep_outside(&frame, &outside)?;
        let counter = self.lookup(found.var)?;
        let ty = Ty::int(if found.counter.is_long { 64 } else { 32 }, found.counter.signed);
        let long = Ty::int(64, found.counter.signed);
        let value = self.get(&counter)?;
        let first = self.as_num(&value)?;
        for (num, offset) in [(&first, Frame::COUNTER), (&found.limit, Frame::LIMIT), (&found.step, Frame::STEP)] {
            let num = self.converted(num, &long)?;
            let value = self.value(&num);
            self.b.ins().store(flags, value, at, offset);
        }
        let budget = self.of_role(Role::Budget).ok_or_else(|| bad("a loop without a budget"))?;
        let budget = self.lookup(budget)?;
        self.keep_budget(&budget, at)?;

        let (head, again, done, exit) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.jump(head)?;
        self.begin(head);
        let out = self.call_code(code, at);
        let left = self.b.ins().load(types::I64, flags, at, Frame::BUDGET);
        self.set(&budget, Val::Num(Num { at: At::Value(left), ty: I64 }))?;
        self.b.set_cold_block(again);
        self.branch_on(out, again, done);
        self.b.seal_block(done);

        self.begin(again);
        self.statements(std::slice::from_ref(found.refill))?;
        if !self.is_ended() {
            self.keep_budget(&budget, at)?;
        }
        self.jump(head)?;

        // The kernel's own statements leave the loop.
        self.begin(done);
        let now = self.b.ins().load(clif_type(&ty), flags, at, Frame::COUNTER);
        self.set(&counter, Val::Num(Num { at: At::Value(now), ty }))?;
        for (i, binding) in outside.set.iter().enumerate() {
            let Binding::Variable(Ty::Lanes(kind @ (Kind::F32 | Kind::I32)), _) = binding else { continue };
            // The variables are read from their places, in case a later statement uses them.
            let (from, flags, first) = match outside.homes[i] {
                Some(Place { pointer, bytes, .. }) => (outside.pointers[pointer], free(), bytes),
                None => (at, flags, frame.carried + 64 * i as i32),
            };
            let mut parts = [now; 8];
            for (part, value) in parts[..4].iter_mut().enumerate() {
                *value = self.b.ins().load(kind.vector(), flags, from, first + 16 * part as i32);
            }
            self.set(binding, Val::Lanes(*kind, parts))?;
        }
        self.push_scope();
        self.push_exit(exit);
        self.statements(found.leaving)?;
        self.pop_exit();
        self.pop_scope();
        // The loop has been left. If it ever were not, the thread that waits could still stop it.
        self.jump(again)?;
        self.b.seal_block(again);
        self.b.seal_block(head);
        self.b.seal_block(exit);
        self.begin(exit);
        Ok(())
    }

    /// Stores the values that the code reads from outside; gives their address.
    fn keep_outside(&mut self, frame: &Frame, outside: &Outside) -> Result<clif::Value> {
        // The values are not needed once another loop begins, so loops whose frames have the same size share a slot.
        let slot = self.room(OUTSIDE, (frame.bytes as u32 + 64).next_multiple_of(512));
        let any = self.b.ins().stack_addr(types::I64, slot, 63);
        let at = self.b.ins().band_imm_s(any, -64);
        let flags = MemFlagsData::trusted();
        let longs =
            [(frame.pointers, &outside.pointers), (frame.factors, &outside.factors), (frame.flags, &outside.flags)];
        for (first, all) in longs {
            for (i, value) in all.iter().enumerate() {
                self.b.ins().store(flags, *value, at, first + 8 * i as i32);
            }
        }
        for (i, value) in outside.ones.iter().enumerate() {
            self.b.ins().store(flags, *value, at, frame.ones + 4 * i as i32);
        }
        let mut lanes = Vec::with_capacity(outside.set.len() + outside.given.len());
        for (i, binding) in outside.set.iter().enumerate().filter(|(i, _)| outside.homes[*i].is_none()) {
            let value = self.get(binding)?;
            let Val::Lanes(_, parts) = value else { return Err(bad("a loop that sets something else than lanes")) };
            lanes.push((frame.carried + 64 * i as i32, parts));
        }
        lanes.extend((outside.given.iter().enumerate()).map(|(i, parts)| (frame.given + 64 * i as i32, *parts)));
        for (first, parts) in lanes {
            for (part, value) in parts[..4].iter().enumerate() {
                self.b.ins().store(flags, *value, at, first + 16 * part as i32);
            }
        }
        Ok(at)
    }

    /// Calls code with the address of its inputs; gives its result.
    fn call_code(&mut self, code: Vec<u8>, at: clif::Value) -> clif::Value {
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
        self.b.inst_results(call)[0]
    }

    fn keep_budget(&mut self, budget: &Binding, at: clif::Value) -> Result<()> {
        let value = self.get(budget)?;
        let num = self.as_num(&value)?;
        let value = self.value(&num);
        self.b.ins().store(MemFlagsData::trusted(), value, at, Frame::BUDGET);
        Ok(())
    }
}

/// The code of a piece that has been read.
fn made(read: Read<'_, '_, '_>, counter: Option<Counter>) -> Option<Ready> {
    let roots = read.set.iter().map(|var| read.now.get(var).copied()).collect::<Option<Vec<_>>>()?;
    let Read { e, values, given, ones, pointers, factors, flags, set, homes, stores, asked, .. } = read;
    let set = set.iter().map(|var| e.lookup(*var).ok()).collect::<Option<Vec<_>>>()?;
    let ends: Vec<_> = roots.iter().copied().chain(stores.iter().map(|store| store.id)).collect();
    let order = values.schedule(&ends);
    let of = Loop {
        ops: values.ops,
        order,
        roots,
        homes: homes.clone(),
        given: given.len(),
        ones: ones.len(),
        pointers: pointers.len(),
        factors: factors.len(),
        flags: flags.len(),
        counter,
        stores,
        asked,
    };
    let code = encode::encode(&of)?;
    let outside = Outside { given, ones, pointers, factors, flags, set, homes };
    Some(Ready { code, frame: Frame::new(&of), outside })
}
