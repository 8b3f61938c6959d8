//! Machine code of a loop: AVX-512 instructions.
//!
//! The code is a function of one address, at which lies all that the loop reads from outside ([`Frame`]). Values from
//! outside stay in registers ([`super::registers`]) while there are enough, else instructions read them from memory;
//! if registers are too few even so, there is no code.

use iced_x86::code_asm::*;
use iced_x86::{IcedError, Register};

use super::graph::{Counter, Id, Index, Loop, Op, Place};
use super::registers::{ADDRESSES, CALLERS, Full, Registers, ZMM, addresses};
use crate::back::lane::tree::Binary;

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

impl From<Full> for Stop {
    fn from(_: Full) -> Self {
        Stop::Full
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
    pub(super) registers: Registers<'a>,
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
            addresses: addresses(of)?,
            in_memory: in_memory.collect(),
            registers: Registers::new(of, left),
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
            let register = self.registers.take()?;
            match of.ops[*id] {
                Op::Given(i) => self.joined(ZMM[register], self.frame.given + 64 * i as i32)?,
                Op::One(i) => {
                    self.asm.vbroadcastss(ZMM[register], dword_ptr(rdi + (self.frame.ones + 4 * i as i32)))?;
                }
                _ => return Err(Stop::Broken),
            }
            self.registers.places[*id] = Some(register);
            self.in_memory[*id] = false;
            // These registers are never freed.
            self.registers.left[*id] += 1;
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
                self.registers.places[*id] = Some(i);
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
                self.registers.end_of_instruction();
            }
            if when.is_some() {
                // A label needs an instruction of its own.
                self.asm.set_label(&mut past)?;
                self.asm.nop()?;
            }
        }
        Ok(())
    }

    /// A value in a register, loaded for the one instruction if need be.
    pub(super) fn register(&mut self, id: Id) -> Made<AsmRegisterZmm> {
        if let Some(place) = self.registers.places[id] {
            return Ok(ZMM[place]);
        }
        let place = self.registers.take()?;
        self.registers.passing.push(place);
        self.load(id, ZMM[place])?;
        Ok(ZMM[place])
    }

    /// The operand for a value; valid until the next address is needed.
    pub(super) fn source(&mut self, id: Id) -> Made<Source> {
        match self.registers.places[id] {
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
        let elsewhere: Vec<usize> =
            (0..of.roots.len()).filter(|i| self.registers.places[of.roots[*i]] != Some(*i)).collect();
        // A value in another variable's register is saved before that is overwritten.
        let mut copies = Vec::new();
        for &i in &elsewhere {
            let from = self.registers.places[of.roots[i]];
            match from {
                Some(place) if place < of.roots.len() => {
                    let spare = self.registers.take()?;
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
