//! Machine code of a loop: registers for the values of a round, and AVX-512 instructions.
//!
//! The code is a function of one address, at which lies all that the loop reads from outside ([`Frame`]). Registers are allocated in one
//! pass over the round, as everything in it is used after it is computed. Values from outside stay in registers while there are enough,
//! else instructions read them from memory; if registers are too few even so, there is no code.

use iced_x86::code_asm::*;
use iced_x86::{IcedError, Register};

use super::values::{Id, Index, Op, Place};
use crate::back::lane::tree::Binary;

/// A loop.
pub struct Loop {
    pub ops: Vec<Op>,
    /// The order of a round.
    pub order: Vec<Id>,
    /// The final value of each variable.
    pub roots: Vec<Id>,
    /// The place where a variable is read and left, if not in the frame.
    pub homes: Vec<Option<Place>>,
    pub given: usize,
    pub ones: usize,
    pub pointers: usize,
    pub factors: usize,
    /// Bits that choose between stores.
    pub flags: usize,
    /// The counter; none if there is but one round.
    pub counter: Option<Counter>,
    /// The stores, in their order.
    pub stores: Vec<Store>,
    /// Lines of the cache that a round asks for.
    pub asked: Vec<Place>,
}

/// A store at the end of a round.
#[derive(Debug, Clone, Copy)]
pub struct Store {
    /// The flag that guards the store, and the value that it has to have.
    pub when: Option<(usize, bool)>,
    /// True if it goes past the cache.
    pub past: bool,
    pub place: Place,
    pub id: Id,
}

/// The counter of the rounds.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    pub is_long: bool,
    pub signed: bool,
    /// The comparison with the limit that holds while there are rounds.
    pub goes_on: Binary,
    /// The cost of a round in the budget.
    pub cost: i32,
}

/// Offsets from the address that the code gets: all numbers of 8 bytes, then numbers of 4, then vectors.
pub struct Frame {
    pub pointers: i32,
    pub factors: i32,
    pub flags: i32,
    pub ones: i32,
    pub carried: i32,
    pub given: i32,
    pub bytes: i32,
}

impl Frame {
    pub const COUNTER: i32 = 0;
    pub const BUDGET: i32 = 8;
    pub const LIMIT: i32 = 16;
    pub const STEP: i32 = 24;

    pub fn new(of: &Loop) -> Frame {
        let pointers = 32;
        let factors = pointers + 8 * of.pointers as i32;
        let flags = factors + 8 * of.factors as i32;
        let ones = flags + 8 * of.flags as i32;
        let carried = (ones + 4 * of.ones as i32 + 63) & -64;
        let given = carried + 64 * of.roots.len() as i32;
        Frame { pointers, factors, flags, ones, carried, given, bytes: given + 64 * of.given as i32 }
    }
}

/// The reason why there is no code.
pub(super) enum Stop {
    /// Too few registers.
    Full,
    Broken,
}

impl From<IcedError> for Stop {
    fn from(_: IcedError) -> Self {
        Stop::Broken
    }
}

pub(super) type Made<T> = Result<T, Stop>;

/// The code of a loop; none where registers are too few.
pub fn encode(of: &Loop) -> Option<Vec<u8>> {
    // The most used ones stay in registers.
    let mut outside: Vec<(usize, Id)> = Vec::new();
    let mut uses = vec![0; of.ops.len()];
    of.order.iter().for_each(|id| of.ops[*id].uses().for_each(|part| uses[part] += 1));
    outside.extend(
        of.order.iter().filter(|id| matches!(of.ops[**id], Op::Given(_) | Op::One(_))).map(|id| (uses[*id], *id)),
    );
    outside.sort_by_key(|(uses, id)| (std::cmp::Reverse(*uses), *id));
    let room = ZMM.len().checked_sub(of.roots.len())?;
    (0..=outside.len().min(room)).rev().find_map(|kept| {
        let mut code = Code::new(of, &uses).ok()?;
        let kept: Vec<Id> = outside[..kept].iter().map(|(_, id)| *id).collect();
        match code.function(&kept) {
            Ok(()) => code.asm.assemble(0).ok(),
            Err(_) => None,
        }
    })
}

/// The registers of pointers and factors: all factors have one, and the pointers that rounds use most; none if there are too few.
fn addresses(of: &Loop) -> Option<Vec<Option<AsmRegister64>>> {
    let mut uses = vec![0_usize; of.pointers];
    let loads = of.order.iter().filter_map(|id| match of.ops[*id] {
        Op::Load(place) | Op::LoadOne(place) => Some(place),
        _ => None,
    });
    let stores = of.stores.iter().map(|store| store.place);
    loads.chain(stores).chain(of.asked.iter().copied()).for_each(|place| uses[place.pointer] += 1);
    // A pointer that is used once, in code that runs once, is read once anyway.
    let worth = if of.counter.is_some() { 1 } else { 2 };
    let mut wanted: Vec<usize> = (0..of.pointers).filter(|i| uses[*i] >= worth).collect();
    wanted.sort_by_key(|i| (std::cmp::Reverse(uses[*i]), *i));
    wanted.truncate(ADDRESSES.len().checked_sub(of.factors)?);
    let mut all = vec![None; of.pointers + of.factors];
    let given = wanted.into_iter().chain(of.pointers..of.pointers + of.factors);
    given.zip(ADDRESSES).for_each(|(i, register)| all[i] = Some(register));
    Some(all)
}

pub(super) const ZMM: [AsmRegisterZmm; 32] = [
    zmm0, zmm1, zmm2, zmm3, zmm4, zmm5, zmm6, zmm7, zmm8, zmm9, zmm10, zmm11, zmm12, zmm13, zmm14, zmm15, zmm16, zmm17,
    zmm18, zmm19, zmm20, zmm21, zmm22, zmm23, zmm24, zmm25, zmm26, zmm27, zmm28, zmm29, zmm30, zmm31,
];
pub(super) const MASKS: [AsmRegisterK; 7] = [k1, k2, k3, k4, k5, k6, k7];
/// Registers for addresses; those from the sixth on have to be saved for the caller. Other pointers are read from memory into `rcx`.
const ADDRESSES: [AsmRegister64; 11] = [rsi, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15];
const CALLERS: usize = 5;

/// The last operand of an instruction.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Register(AsmRegisterZmm),
    Memory(AsmMemoryOperand),
}

pub(super) struct Code<'a> {
    pub(super) of: &'a Loop,
    frame: Frame,
    pub(super) asm: CodeAssembler,
    /// The register of each pointer, then of each factor.
    addresses: Vec<Option<AsmRegister64>>,
    /// The register of each value, by its place among all; of masks, by their place among mask registers.
    pub(super) places: Vec<Option<usize>>,
    /// The number of uses to come of each value.
    pub(super) left: Vec<usize>,
    free: Vec<usize>,
    free_masks: Vec<usize>,
    /// Registers to be freed after the current instruction.
    passing: Vec<usize>,
    /// True for each value that is read from memory.
    pub(super) in_memory: Vec<bool>,
}

impl<'a> Code<'a> {
    fn new(of: &'a Loop, uses: &[usize]) -> Made<Self> {
        let mut left = uses.to_vec();
        // The final values of variables are used at the end.
        of.roots.iter().for_each(|root| left[*root] += 1);
        of.stores.iter().for_each(|store| left[store.id] += 1);
        // A load may be part of the one operation that uses it; a value that is stored or kept has to be read before anything is written.
        let in_memory = of.ops.iter().zip(uses).zip(&left).map(|((op, uses), left)| match op {
            Op::Load(_) | Op::LoadOne(_) => *uses == 1 && *left == 1,
            Op::Given(_) | Op::One(_) => true,
            _ => false,
        });
        Ok(Code {
            frame: Frame::new(of),
            asm: CodeAssembler::new(64)?,
            addresses: addresses(of).ok_or(Stop::Full)?,
            places: vec![None; of.ops.len()],
            free: (of.roots.len()..ZMM.len()).rev().collect(),
            free_masks: (0..MASKS.len()).rev().collect(),
            passing: Vec::new(),
            in_memory: in_memory.collect(),
            left,
            of,
        })
    }

    fn function(&mut self, kept: &[Id]) -> Made<()> {
        let of = self.of;
        let saved = self.addresses.iter().flatten().count().saturating_sub(CALLERS);
        for register in &ADDRESSES[CALLERS..CALLERS + saved] {
            self.asm.push(*register)?;
        }
        if of.counter.is_some() {
            self.asm.mov(rax, qword_ptr(rdi + Frame::COUNTER))?;
            self.asm.mov(rdx, qword_ptr(rdi + Frame::BUDGET))?;
        }
        for i in 0..of.pointers {
            if let Some(register) = self.addresses[i] {
                self.asm.mov(register, qword_ptr(rdi + (self.frame.pointers + 8 * i as i32)))?;
            }
        }
        for (i, home) in of.homes.iter().enumerate() {
            match home {
                Some(place) => {
                    let at = self.address(*place)?;
                    self.asm.vmovups(ZMM[i], zmmword_ptr(at))?;
                }
                None => self.joined(ZMM[i], self.frame.carried + 64 * i as i32)?,
            }
        }
        for id in kept {
            let register = self.free.pop().ok_or(Stop::Full)?;
            match of.ops[*id] {
                Op::Given(i) => self.joined(ZMM[register], self.frame.given + 64 * i as i32)?,
                Op::One(i) => {
                    self.asm.vbroadcastss(ZMM[register], dword_ptr(rdi + (self.frame.ones + 4 * i as i32)))?;
                }
                _ => return Err(Stop::Broken),
            }
            self.places[*id] = Some(register);
            self.in_memory[*id] = false;
            // These registers are never freed.
            self.left[*id] += 1;
        }
        match of.counter {
            Some(counter) => self.rounds(counter)?,
            None => {
                self.round()?;
                self.asm.xor(eax, eax)?;
            }
        }
        for (i, home) in of.homes.iter().enumerate() {
            let at = match home {
                Some(place) => self.address(*place)?,
                None => rdi + (self.frame.carried + 64 * i as i32),
            };
            self.asm.vmovups(zmmword_ptr(at), ZMM[i])?;
        }
        self.asm.vzeroupper()?;
        for register in ADDRESSES[CALLERS..CALLERS + saved].iter().rev() {
            self.asm.pop(*register)?;
        }
        self.asm.ret()?;
        Ok(())
    }

    /// The rounds; in the end `eax` says if the budget is used up.
    fn rounds(&mut self, counter: Counter) -> Made<()> {
        let (mut again, mut done, mut out) =
            (self.asm.create_label(), self.asm.create_label(), self.asm.create_label());
        self.asm.cmp(rax, qword_ptr(rdi + Frame::LIMIT))?;
        self.jump_if(counter, again)?;
        self.asm.jmp(done)?;
        self.asm.set_label(&mut again)?;
        self.round()?;
        if counter.is_long {
            self.asm.add(rax, qword_ptr(rdi + Frame::STEP))?;
        } else {
            self.asm.add(eax, dword_ptr(rdi + Frame::STEP))?;
            if counter.signed {
                self.asm.movsxd(rax, eax)?;
            }
        }
        self.asm.sub(rdx, counter.cost)?;
        self.asm.js(out)?;
        self.asm.cmp(rax, qword_ptr(rdi + Frame::LIMIT))?;
        self.jump_if(counter, again)?;
        self.asm.set_label(&mut done)?;
        self.asm.mov(qword_ptr(rdi + Frame::COUNTER), rax)?;
        // The sign of the budget is all that counted.
        self.asm.xor(eax, eax)?;
        let mut leave = self.asm.create_label();
        self.asm.jmp(leave)?;
        self.asm.set_label(&mut out)?;
        self.asm.mov(qword_ptr(rdi + Frame::COUNTER), rax)?;
        self.asm.mov(eax, 1)?;
        self.asm.set_label(&mut leave)?;
        self.asm.mov(qword_ptr(rdi + Frame::BUDGET), rdx)?;
        Ok(())
    }

    /// Loads a vector from four parts that were stored a moment ago: one load of them all would have to wait until they have reached the
    /// cache.
    fn joined(&mut self, to: AsmRegisterZmm, at: i32) -> Made<()> {
        let low = xmm(to)?;
        self.asm.vmovups(low, xmmword_ptr(rdi + at))?;
        for part in 1..4 {
            self.asm.vinsertf32x4(to, to, xmmword_ptr(rdi + (at + 16 * part)), part)?;
        }
        Ok(())
    }

    /// Jumps by a comparison of numbers of 64 bits, whatever their size was.
    fn jump_if(&mut self, counter: Counter, to: CodeLabel) -> Made<()> {
        match (counter.goes_on, counter.signed) {
            (Binary::Lt, true) => self.asm.jl(to)?,
            (Binary::Le, true) => self.asm.jle(to)?,
            (Binary::Gt, true) => self.asm.jg(to)?,
            (Binary::Ge, true) => self.asm.jge(to)?,
            (Binary::Lt, false) => self.asm.jb(to)?,
            (Binary::Le, false) => self.asm.jbe(to)?,
            (Binary::Gt, false) => self.asm.ja(to)?,
            (Binary::Ge, false) => self.asm.jae(to)?,
            (Binary::Ne, _) => self.asm.jne(to)?,
            _ => return Err(Stop::Broken),
        }
        Ok(())
    }

    fn round(&mut self) -> Made<()> {
        let of = self.of;
        // The multiples of the counter; their factors are read from memory.
        for i in 0..of.factors {
            let register = self.addresses[of.pointers + i].ok_or(Stop::Broken)?;
            self.asm.mov(register, rax)?;
            self.asm.imul_2(register, qword_ptr(rdi + (self.frame.factors + 8 * i as i32)))?;
        }
        for place in &of.asked {
            let at = self.address(*place)?;
            self.asm.prefetcht0(byte_ptr(at))?;
        }
        // Variables keep their registers.
        for id in &of.order {
            if let Op::Carried(i) = of.ops[*id] {
                self.places[*id] = Some(i);
            }
        }
        for id in &of.order {
            self.op(*id)?;
        }
        self.stores()?;
        self.settle()
    }

    /// The stores, in order; stores that the same flag guards stand together.
    fn stores(&mut self) -> Made<()> {
        let of = self.of;
        for same in of.stores.chunk_by(|a, b| a.when == b.when) {
            let mut past = self.asm.create_label();
            let when = same.first().and_then(|store| store.when);
            if let Some((flag, side)) = when {
                self.asm.cmp(byte_ptr(rdi + (self.frame.flags + 8 * flag as i32)), 0)?;
                if side { self.asm.je(past)? } else { self.asm.jne(past)? }
            }
            for store in same {
                let from = self.register(store.id)?;
                let to = zmmword_ptr(self.address(store.place)?);
                if store.past {
                    self.asm.vmovntps(to, from)?
                } else {
                    self.asm.vmovups(to, from)?
                }
                self.free.append(&mut self.passing);
            }
            if when.is_some() {
                // A label needs an instruction of its own.
                self.asm.set_label(&mut past)?;
                self.asm.nop()?;
            }
        }
        Ok(())
    }

    /// Frees the registers of operands that are not used again, after an instruction has read them.
    pub(super) fn done(&mut self, op: Op) {
        for part in op.uses() {
            self.left[part] -= 1;
            if self.left[part] == 0
                && let Some(place) = self.places[part].take()
            {
                if self.of.ops[part].is_mask() {
                    self.free_masks.push(place);
                } else if place >= self.of.roots.len() {
                    self.free.push(place);
                }
            }
        }
        self.free.append(&mut self.passing);
    }

    /// A register for a result: the variable's own if the result is that variable's final value and its old value is not needed any more.
    pub(super) fn target(&mut self, id: Id) -> Made<AsmRegisterZmm> {
        let own = self.of.roots.iter().position(|root| *root == id).filter(|own| !self.is_taken(*own));
        let place = match own {
            Some(own) => own,
            None => self.free.pop().ok_or(Stop::Full)?,
        };
        self.places[id] = Some(place);
        Ok(ZMM[place])
    }

    /// True if a variable's register holds a value that is still to be read.
    fn is_taken(&self, place: usize) -> bool {
        self.places.iter().zip(&self.of.ops).any(|(at, op)| *at == Some(place) && !op.is_mask())
    }

    pub(super) fn mask_target(&mut self, id: Id) -> Made<AsmRegisterK> {
        let place = self.free_masks.pop().ok_or(Stop::Full)?;
        self.places[id] = Some(place);
        Ok(MASKS[place])
    }

    pub(super) fn mask(&self, id: Id) -> Made<AsmRegisterK> {
        self.places[id].map(|place| MASKS[place]).ok_or(Stop::Broken)
    }

    /// A value in a register, loaded for the one instruction if need be.
    pub(super) fn register(&mut self, id: Id) -> Made<AsmRegisterZmm> {
        if let Some(place) = self.places[id] {
            return Ok(ZMM[place]);
        }
        let place = self.free.pop().ok_or(Stop::Full)?;
        self.passing.push(place);
        self.load(id, ZMM[place])?;
        Ok(ZMM[place])
    }

    /// The operand for a value; valid until the next address is needed.
    pub(super) fn source(&mut self, id: Id) -> Made<Source> {
        match self.places[id] {
            Some(place) => Ok(Source::Register(ZMM[place])),
            None => Ok(Source::Memory(match self.of.ops[id] {
                Op::Given(i) => zmmword_ptr(rdi + (self.frame.given + 64 * i as i32)),
                Op::One(i) => dword_bcst(rdi + (self.frame.ones + 4 * i as i32)),
                Op::Load(place) => zmmword_ptr(self.address(place)?),
                Op::LoadOne(place) => dword_bcst(self.address(place)?),
                _ => return Err(Stop::Broken),
            })),
        }
    }

    pub(super) fn load(&mut self, id: Id, to: AsmRegisterZmm) -> Made<()> {
        match self.of.ops[id] {
            Op::Given(i) => self.asm.vmovups(to, zmmword_ptr(rdi + (self.frame.given + 64 * i as i32)))?,
            Op::One(i) => self.asm.vbroadcastss(to, dword_ptr(rdi + (self.frame.ones + 4 * i as i32)))?,
            Op::Load(place) => {
                let at = self.address(place)?;
                self.asm.vmovups(to, zmmword_ptr(at))?;
            }
            Op::LoadOne(place) => {
                let at = self.address(place)?;
                self.asm.vbroadcastss(to, dword_ptr(at))?;
            }
            _ => return Err(Stop::Broken),
        }
        Ok(())
    }

    /// An operand in memory; valid until the next one is needed.
    fn address(&mut self, place: Place) -> Made<AsmMemoryOperand> {
        let pointer = match self.addresses[place.pointer] {
            Some(register) => register,
            None => {
                self.asm.mov(rcx, qword_ptr(rdi + (self.frame.pointers + 8 * place.pointer as i32)))?;
                rcx
            }
        };
        Ok(match place.index {
            Index::None => pointer + place.bytes,
            Index::Scaled(by) => pointer + rax * i32::from(by) + place.bytes,
            Index::Times(i) => pointer + self.addresses[self.of.pointers + i].ok_or(Stop::Broken)? + place.bytes,
        })
    }

    /// Moves the final values of variables into their registers, if they are elsewhere.
    fn settle(&mut self) -> Made<()> {
        let of = self.of;
        let elsewhere: Vec<usize> = (0..of.roots.len()).filter(|i| self.places[of.roots[*i]] != Some(*i)).collect();
        // A value in another variable's register is saved before that is overwritten.
        let mut copies = Vec::new();
        for &i in &elsewhere {
            let from = self.places[of.roots[i]];
            match from {
                Some(place) if place < of.roots.len() => {
                    let spare = self.free.pop().ok_or(Stop::Full)?;
                    self.asm.vmovaps(ZMM[spare], ZMM[place])?;
                    copies.push(Some(spare));
                }
                Some(place) => copies.push(Some(place)),
                None => copies.push(None),
            }
        }
        for (&i, copy) in elsewhere.iter().zip(copies) {
            match copy {
                Some(place) => self.asm.vmovaps(ZMM[i], ZMM[place])?,
                None => self.load(of.roots[i], ZMM[i])?,
            }
        }
        Ok(())
    }
}

fn xmm(of: AsmRegisterZmm) -> Made<AsmRegisterXmm> {
    let n = Register::from(of) as u32 - Register::ZMM0 as u32;
    get_xmm(Register::XMM0 + n).ok_or(Stop::Broken)
}
