//! Register allocation for the code of a loop: which values of a round, pointers and factors have a register, and when it is free again.
//!
//! It is one pass over the round, as everything in it is used after it is computed.

use iced_x86::code_asm::*;

use super::graph::{Id, Loop, Op};

pub(super) const ZMM: [AsmRegisterZmm; 32] = [
    zmm0, zmm1, zmm2, zmm3, zmm4, zmm5, zmm6, zmm7, zmm8, zmm9, zmm10, zmm11, zmm12, zmm13, zmm14, zmm15, zmm16, zmm17,
    zmm18, zmm19, zmm20, zmm21, zmm22, zmm23, zmm24, zmm25, zmm26, zmm27, zmm28, zmm29, zmm30, zmm31,
];
pub(super) const MASKS: [AsmRegisterK; 7] = [k1, k2, k3, k4, k5, k6, k7];
/// Registers for addresses; those from the sixth on have to be saved for the caller. Other pointers are read from memory into `rcx`.
pub(super) const ADDRESSES: [AsmRegister64; 11] = [rsi, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15];
pub(super) const CALLERS: usize = 5;

/// The registers of pointers and factors: all factors have one, and the pointers that rounds use most; an error if there are too few.
pub(super) fn addresses(of: &Loop) -> Result<Vec<Option<AsmRegister64>>, Full> {
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
    wanted.truncate(ADDRESSES.len().checked_sub(of.factors).ok_or(Full)?);
    let mut all = vec![None; of.pointers + of.factors];
    let given = wanted.into_iter().chain(of.pointers..of.pointers + of.factors);
    given.zip(ADDRESSES).for_each(|(i, register)| all[i] = Some(register));
    Ok(all)
}

/// There are too few registers.
#[derive(Debug)]
pub(super) struct Full;

/// The registers of a round's values.
pub(super) struct Registers<'a> {
    of: &'a Loop,
    /// The register of each value, by its place among all; of masks, by their place among mask registers.
    pub(super) places: Vec<Option<usize>>,
    /// The number of uses to come of each value.
    pub(super) left: Vec<usize>,
    free: Vec<usize>,
    free_masks: Vec<usize>,
    /// Registers to be freed after the current instruction.
    pub(super) passing: Vec<usize>,
}

impl<'a> Registers<'a> {
    /// All are free, but for those of variables; `left` is the number of uses of each value.
    pub(super) fn new(of: &'a Loop, left: Vec<usize>) -> Self {
        Registers {
            of,
            places: vec![None; of.ops.len()],
            left,
            free: (of.roots.len()..ZMM.len()).rev().collect(),
            free_masks: (0..MASKS.len()).rev().collect(),
            passing: Vec::new(),
        }
    }

    /// A free register.
    pub(super) fn take(&mut self) -> Result<usize, Full> {
        self.free.pop().ok_or(Full)
    }

    /// Frees the registers that one instruction alone needed.
    pub(super) fn end_of_instruction(&mut self) {
        self.free.append(&mut self.passing);
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
        self.end_of_instruction();
    }

    /// A register for a result: the variable's own if the result is that variable's final value and its old value is not needed any more.
    pub(super) fn target(&mut self, id: Id) -> Result<AsmRegisterZmm, Full> {
        let own = self.of.roots.iter().position(|root| *root == id).filter(|own| !self.is_taken(*own));
        let place = match own {
            Some(own) => own,
            None => self.take()?,
        };
        self.places[id] = Some(place);
        Ok(ZMM[place])
    }

    /// True if a variable's register holds a value that is still to be read.
    fn is_taken(&self, place: usize) -> bool {
        self.places.iter().zip(&self.of.ops).any(|(at, op)| *at == Some(place) && !op.is_mask())
    }

    /// A mask register for a result.
    pub(super) fn mask_target(&mut self, id: Id) -> Result<AsmRegisterK, Full> {
        let place = self.free_masks.pop().ok_or(Full)?;
        self.places[id] = Some(place);
        Ok(MASKS[place])
    }

    /// The register of a mask.
    pub(super) fn mask(&self, id: Id) -> Option<AsmRegisterK> {
        self.places[id].map(|place| MASKS[place])
    }
}
