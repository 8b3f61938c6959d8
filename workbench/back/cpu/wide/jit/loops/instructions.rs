//! Instructions of each operation.

use iced_x86::code_asm::*;

use super::encode::{Code, Made, Source, Stop};
use super::graph::{Binary, Both, Compare, Id, Op, Unary};
use super::registers::{MASKS, ZMM};

impl Code<'_> {
    /// The instructions of an operation.
    pub(super) fn op(&mut self, id: Id) -> Made<()> {
        let op = self.of.ops[id];
        match op {
            Op::Carried(_) => {}
            Op::Given(_) | Op::One(_) | Op::Load(_) | Op::LoadOne(_) => {
                if !self.in_memory[id] && self.registers.places[id].is_none() {
                    let to = self.registers.target(id)?;
                    self.load(id, to)?;
                }
            }
            Op::Unary(unary, a) => {
                let a = self.source(a)?;
                self.registers.done(op);
                let to = self.registers.target(id)?;
                self.unary(unary, to, a)?;
            }
            Op::Binary(binary, a, b) => {
                // One of two operands in memory has to be loaded; if the operation commutes, the one in memory comes last.
                let swap = matches!(
                    binary,
                    Binary::Add | Binary::Mul | Binary::AddInt | Binary::And | Binary::Or | Binary::Xor
                ) && self.in_memory[a]
                    && !self.in_memory[b];
                let (a, b) = if swap { (b, a) } else { (a, b) };
                let (a, b) = (self.register(a)?, self.source(b)?);
                self.registers.done(op);
                let to = self.registers.target(id)?;
                self.binary(binary, to, a, b)?;
            }
            Op::Fused(minus, a, b, c) => self.fused(id, minus, [a, b, c])?,
            Op::Compare(how, a, b) => {
                let (a, b) = (self.register(a)?, self.source(b)?);
                self.registers.done(op);
                let to = self.registers.mask_target(id)?;
                let code = |n: u8| u32::from(n);
                match (how, b) {
                    (Compare::Float(n), Source::Register(b)) => self.asm.vcmpps(to, a, b, code(n))?,
                    (Compare::Float(n), Source::Memory(b)) => self.asm.vcmpps(to, a, b, code(n))?,
                    (Compare::Int(n), Source::Register(b)) => self.asm.vpcmpd(to, a, b, code(n))?,
                    (Compare::Int(n), Source::Memory(b)) => self.asm.vpcmpd(to, a, b, code(n))?,
                    (Compare::Uint(n), Source::Register(b)) => self.asm.vpcmpud(to, a, b, code(n))?,
                    (Compare::Uint(n), Source::Memory(b)) => self.asm.vpcmpud(to, a, b, code(n))?,
                }
            }
            Op::Both(both, a, b) => {
                let (a, b) = (self.registers.mask(a).ok_or(Stop::Broken)?, self.registers.mask(b).ok_or(Stop::Broken)?);
                self.registers.done(op);
                let to = self.registers.mask_target(id)?;
                match both {
                    Both::And => self.asm.kandw(to, a, b)?,
                    Both::Or => self.asm.korw(to, a, b)?,
                    Both::Xor => self.asm.kxorw(to, a, b)?,
                }
            }
            Op::Not(a) => {
                let a = self.registers.mask(a).ok_or(Stop::Broken)?;
                self.registers.done(op);
                let to = self.registers.mask_target(id)?;
                self.asm.knotw(to, a)?;
            }
            Op::Choose(m, a, b) => {
                let (mask, b, a) = (self.registers.mask(m).ok_or(Stop::Broken)?, self.register(b)?, self.source(a)?);
                self.registers.done(op);
                let to = masked(self.registers.target(id)?, mask)?;
                match a {
                    Source::Register(a) => self.asm.vblendmps(to, b, a)?,
                    Source::Memory(a) => self.asm.vblendmps(to, b, a)?,
                }
            }
        }
        Ok(())
    }

    fn unary(&mut self, unary: Unary, to: AsmRegisterZmm, a: Source) -> Made<()> {
        macro_rules! with {
            ($op:ident $(, $n:expr)?) => {
                match a {
                    Source::Register(a) => self.asm.$op(to, a $(, $n)?)?,
                    Source::Memory(a) => self.asm.$op(to, a $(, $n)?)?,
                }
            };
        }
        match unary {
            Unary::Sqrt => with!(vsqrtps),
            Unary::Round => with!(vrndscaleps, 8),
            Unary::Floor => with!(vrndscaleps, 9),
            Unary::Ceil => with!(vrndscaleps, 10),
            Unary::Trunc => with!(vrndscaleps, 11),
            Unary::ToFloat => with!(vcvtdq2ps),
            Unary::Whole => with!(vcvttps2dq),
            Unary::Rsqrt => with!(vrsqrt14ps),
            // The mantissa in [3/4, 3/2); NaN for negative numbers.
            Unary::Mantissa => with!(vgetmantps, 0b1011),
            Unary::Exponent => with!(vgetexpps),
        }
        Ok(())
    }

    fn binary(&mut self, binary: Binary, to: AsmRegisterZmm, a: AsmRegisterZmm, b: Source) -> Made<()> {
        macro_rules! with {
            ($op:ident) => {
                match b {
                    Source::Register(b) => self.asm.$op(to, a, b)?,
                    Source::Memory(b) => self.asm.$op(to, a, b)?,
                }
            };
        }
        match binary {
            Binary::Add => with!(vaddps),
            Binary::Sub => with!(vsubps),
            Binary::Mul => with!(vmulps),
            Binary::Div => with!(vdivps),
            Binary::Min => with!(vminps),
            Binary::Max => with!(vmaxps),
            Binary::Scale => with!(vscalefps),
            Binary::AddInt => with!(vpaddd),
            Binary::SubInt => with!(vpsubd),
            Binary::MulInt => with!(vpmulld),
            Binary::And => with!(vpandd),
            Binary::Or => with!(vpord),
            Binary::Xor => with!(vpxord),
            Binary::Shl => with!(vpsllvd),
            Binary::Shr => with!(vpsrlvd),
            Binary::Sar => with!(vpsravd),
            Binary::MinInt => with!(vpminsd),
            Binary::MaxInt => with!(vpmaxsd),
            Binary::MinUint => with!(vpminud),
            Binary::MaxUint => with!(vpmaxud),
        }
        Ok(())
    }

    /// A fused multiply-add, which overwrites one of its operands: the addend if it is not used again, else a factor, else a copy.
    fn fused(&mut self, id: Id, minus: bool, [a, b, c]: [Id; 3]) -> Made<()> {
        let op = self.of.ops[id];
        let ends = |code: &Self, part: Id| {
            let uses = op.uses().filter(|other| *other == part).count();
            code.registers.places[part].is_some() && code.registers.left[part] == uses
        };
        let (a, b) = if self.in_memory[a] && !self.in_memory[b] { (b, a) } else { (a, b) };
        if !ends(self, c) && ends(self, a) && a != b && a != c {
            let (x, y, z) = (self.register(a)?, self.register(b)?, self.source(c)?);
            let place = self.registers.places[a].take().ok_or(Stop::Broken)?;
            self.registers.done(op);
            // The result takes the factor's register.
            match (minus, z) {
                (false, Source::Register(z)) => self.asm.vfmadd213ps(x, y, z)?,
                (false, Source::Memory(z)) => self.asm.vfmadd213ps(x, y, z)?,
                (true, Source::Register(z)) => self.asm.vfnmadd213ps(x, y, z)?,
                (true, Source::Memory(z)) => self.asm.vfnmadd213ps(x, y, z)?,
            }
            self.registers.places[id] = Some(place);
            return Ok(());
        }
        let x = self.register(a)?;
        let to = if ends(self, c) && a != c && b != c {
            let place = self.registers.places[c].take().ok_or(Stop::Broken)?;
            self.registers.places[id] = Some(place);
            ZMM[place]
        } else {
            // The factors are used again.
            let to = self.registers.target(id)?;
            match self.registers.places[c] {
                Some(place) => self.asm.vmovaps(to, ZMM[place])?,
                None => self.load(c, to)?,
            }
            to
        };
        let y = self.source(b)?;
        self.registers.done(op);
        match (minus, y) {
            (false, Source::Register(y)) => self.asm.vfmadd231ps(to, x, y)?,
            (false, Source::Memory(y)) => self.asm.vfmadd231ps(to, x, y)?,
            (true, Source::Register(y)) => self.asm.vfnmadd231ps(to, x, y)?,
            (true, Source::Memory(y)) => self.asm.vfnmadd231ps(to, x, y)?,
        }
        Ok(())
    }
}

fn masked(of: AsmRegisterZmm, mask: AsmRegisterK) -> Made<AsmRegisterZmm> {
    Ok(match MASKS.iter().position(|k| *k == mask) {
        Some(0) => of.k1(),
        Some(1) => of.k2(),
        Some(2) => of.k3(),
        Some(3) => of.k4(),
        Some(4) => of.k5(),
        Some(5) => of.k6(),
        Some(6) => of.k7(),
        _ => return Err(Stop::Broken),
    })
}
