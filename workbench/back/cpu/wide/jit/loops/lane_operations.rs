//! Instructions of the processor for operations on lanes.

use std::collections::HashMap;

use super::address::element;
use super::graph::{Binary, Both, Compare, Id, Op, Unary};
use super::read::{Local, Read};
use crate::back::cpu::wide::jit::value::At;
use crate::back::lane::not_vectorised::Reason;
use crate::back::lane::table::{self, Access, Element, LaneOp, NumberOp, Space};
use crate::back::lane::tree::{self, Expr, FunctionId, Stmt};
use crate::back::lane::types::Ty;

/// The processor's predicates.
const EQ: u8 = 0;
const LT: u8 = 1;
const LE: u8 = 2;
const NE: u8 = 4;
const UNORDERED: u8 = 3;

impl<'k> Read<'_, 'k, '_> {
    /// Lanes, or a number that all of them have.
    pub(super) fn lanes(&mut self, expr: &'k Expr) -> Option<Id> {
        match expr {
            Expr::Var(var) => self.named(*var),
            Expr::Cast(Ty::F32 | Ty::Lanes(_), inner) => self.lanes(inner),
            Expr::At(space, at) => match element(at, &Ty::F32) {
                Some(at) => match self.place(at) {
                    Some(place) => self.read(Op::LoadOne(place), *space),
                    None => self.no(Reason::Address),
                },
                None => self.no(Reason::Numbers),
            },
            Expr::Op(op, args) => self.operation(*op, args),
            Expr::Call(id, args) => {
                let args = self.all(args)?;
                self.inlined(*id, &args)
            }
            _ => self.no(Reason::Numbers),
        }
    }

    fn all(&mut self, args: &'k [Expr]) -> Option<Vec<Id>> {
        args.iter().map(|arg| self.lanes(arg)).collect()
    }

    /// Adds a read. Reads come before the writes, which are done at the end: so it is in the kernel as well, or the memories are disjoint.
    fn read(&mut self, op: Op, from: Space) -> Option<Id> {
        if self.spaces.iter().all(|to| to.is_elsewhere(from)) {
            self.values.add(op)
        } else {
            self.no(Reason::ReadsWritten)
        }
    }

    fn operation(&mut self, op: table::Op, args: &'k [Expr]) -> Option<Id> {
        match (op, args) {
            (table::Op::Number(NumberOp::F32Of), [bits]) => {
                let Some((num, _)) = self.fixed(bits) else { return self.no(Reason::Numbers) };
                let At::Known(n) = num.at else { return self.no(Reason::Numbers) };
                self.bits(n as u32)
            }
            (table::Op::Lanes(LaneOp::SplatF32), [x]) => self.lanes(x),
            (table::Op::Lanes(LaneOp::SplatI32), [n]) => {
                let Some((num, key)) = self.fixed(n) else { return self.no(Reason::Numbers) };
                let num = self.e.converted(&num, &Ty::int(32, true)).ok()?;
                match num.at {
                    At::Known(n) => self.bits(n as u32),
                    At::Value(_) => self.one(&num, format!("i{key}")),
                }
            }
            (table::Op::Memory(memory), [at])
                if memory.access == Access::Load && matches!(memory.of, Element::F32 | Element::I32) =>
            {
                let Some(place) = self.place(at) else { return self.no(Reason::Address) };
                self.read(Op::Load(place), memory.space)
            }
            (table::Op::Lanes(LaneOp::SelectF32 | LaneOp::SelectI32), [m, a, b]) => {
                let (m, a, b) = (self.mask(m)?, self.lanes(a)?, self.lanes(b)?);
                self.values.add(Op::Choose(m, a, b))
            }
            (table::Op::Lanes(lanes), _) => match instruction(lanes) {
                Instruction::None => self.no(Reason::Operation(op)),
                found => {
                    let args = self.all(args)?;
                    self.computed(lanes, found, &args)
                }
            },
            _ => self.no(Reason::Operation(op)),
        }
    }

    fn computed(&mut self, op: LaneOp, instruction: Instruction, args: &[Id]) -> Option<Id> {
        let made = match (instruction, args) {
            (Instruction::Same, [x]) => return Some(*x),
            (Instruction::One(unary), [x]) => Op::Unary(unary, *x),
            (Instruction::Two(binary), [x, y]) => Op::Binary(binary, *x, *y),
            (Instruction::Fused, [x, y, z]) => Op::Fused(false, *x, *y, *z),
            _ => return self.several(op, args),
        };
        self.values.add(made)
    }

    /// An operation that takes several instructions.
    fn several(&mut self, op: LaneOp, args: &[Id]) -> Option<Id> {
        match (op, args) {
            (LaneOp::NegF32, &[x]) => self.with_bits(Binary::Xor, x, 0x8000_0000),
            (LaneOp::FabsF32, &[x]) => self.with_bits(Binary::And, x, 0x7fff_ffff),
            (LaneOp::CopysignF32, &[x, y]) => {
                let (x, y) =
                    (self.with_bits(Binary::And, x, 0x7fff_ffff)?, self.with_bits(Binary::And, y, 0x8000_0000)?);
                self.values.add(Op::Binary(Binary::Or, x, y))
            }
            (LaneOp::NegI32, &[x]) => {
                let zero = self.bits(0)?;
                self.values.add(Op::Binary(Binary::SubInt, zero, x))
            }
            (LaneOp::NotI32, &[x]) => self.with_bits(Binary::Xor, x, u32::MAX),
            (LaneOp::ExponentF32, &[x, m]) => {
                let (x, m) =
                    (self.values.add(Op::Unary(Unary::Exponent, x))?, self.values.add(Op::Unary(Unary::Exponent, m))?);
                self.values.add(Op::Binary(Binary::Sub, x, m))
            }
            // The definition is the prelude's: a NaN loses to a number; of two zeros the sign decides.
            (LaneOp::FminF32 | LaneOp::FmaxF32, &[x, y]) => {
                let (which, both) =
                    if op == LaneOp::FminF32 { (Binary::Min, Binary::Or) } else { (Binary::Max, Binary::And) };
                let first = self.values.add(Op::Binary(which, x, y))?;
                let both = self.values.add(Op::Binary(both, x, y))?;
                let equal = self.values.add(Op::Compare(Compare::Float(EQ), x, y))?;
                let one = self.values.add(Op::Choose(equal, both, first))?;
                let is_nan = self.values.add(Op::Compare(Compare::Float(UNORDERED), y, y))?;
                self.values.add(Op::Choose(is_nan, x, one))
            }
            (LaneOp::FdimF32, &[x, y]) => {
                let zero = self.bits(0)?;
                let difference = self.values.add(Op::Binary(Binary::Sub, x, y))?;
                let is_none = self.values.add(Op::Compare(Compare::Float(LE), x, y))?;
                self.values.add(Op::Choose(is_none, zero, difference))
            }
            (LaneOp::NextafterF32, &[x, y]) => self.next(x, y),
            (LaneOp::RsqrtF32, &[x]) => self.rsqrt(x),
            (LaneOp::RoundF32, &[x]) => self.rounded(x),
            _ => self.no(Reason::Operation(table::Op::Lanes(op))),
        }
    }

    fn with_bits(&mut self, binary: Binary, x: Id, bits: u32) -> Option<Id> {
        let bits = self.bits(bits)?;
        self.values.add(Op::Binary(binary, x, bits))
    }

    /// The definition is the prelude's.
    fn next(&mut self, x: Id, y: Id) -> Option<Id> {
        let [zero, one, minus] = [0, 1, u32::MAX].map(|bits| self.bits(bits));
        let less = self.values.add(Op::Compare(Compare::Float(LT), x, y))?;
        let greater = self.values.add(Op::Compare(Compare::Float(LT), y, x))?;
        let is_positive = self.values.add(Op::Compare(Compare::Float(LT), zero?, x))?;
        let down = self.values.add(Op::Both(Both::Xor, less, is_positive))?;
        let step = self.values.add(Op::Choose(down, minus?, one?))?;
        let moved = self.values.add(Op::Binary(Binary::AddInt, x, step))?;
        let sign = self.with_bits(Binary::And, y, 0x8000_0000)?;
        let least = self.values.add(Op::Binary(Binary::Or, sign, one?))?;
        let is_zero = self.values.add(Op::Compare(Compare::Float(EQ), x, zero?))?;
        let next = self.values.add(Op::Choose(is_zero, least, moved))?;
        let equal = self.values.add(Op::Compare(Compare::Float(EQ), x, y))?;
        let sum = self.values.add(Op::Binary(Binary::Add, x, y))?;
        let same = self.values.add(Op::Choose(equal, y, sum))?;
        let differ = self.values.add(Op::Both(Both::Or, less, greater))?;
        self.values.add(Op::Choose(differ, next, same))
    }

    /// The definition is that of `math/reciprocal.rs`, operation by operation.
    fn rsqrt(&mut self, x: Id) -> Option<Id> {
        let (one, half) = (self.bits(1f32.to_bits())?, self.bits(0.5f32.to_bits())?);
        if !self.e.known.has_estimate {
            let root = self.values.add(Op::Unary(Unary::Sqrt, x))?;
            return self.values.add(Op::Binary(Binary::Div, one, root));
        }
        let y = self.values.add(Op::Unary(Unary::Rsqrt, x))?;
        let t = self.values.add(Op::Binary(Binary::Mul, x, y))?;
        let e = self.values.add(Op::Fused(true, t, y, one))?;
        let h = self.values.add(Op::Binary(Binary::Mul, y, half))?;
        let better = self.values.add(Op::Fused(false, h, e, y))?;
        let is_nan = self.values.add(Op::Compare(Compare::Float(UNORDERED), t, t))?;
        self.values.add(Op::Choose(is_nan, y, better))
    }

    /// The definition is the prelude's; the sum's sign is not set, unless it is a NaN's.
    fn rounded(&mut self, x: Id) -> Option<Id> {
        let [zero, half, one] = [0.0f32, 0.5, 1.0].map(|n| self.bits(n.to_bits()));
        let size = self.with_bits(Binary::And, x, 0x7fff_ffff)?;
        let whole = self.values.add(Op::Unary(Unary::Trunc, size))?;
        let rest = self.values.add(Op::Binary(Binary::Sub, size, whole))?;
        let up = self.values.add(Op::Compare(Compare::Float(LE), half?, rest))?;
        let more = self.values.add(Op::Choose(up, one?, zero?))?;
        let sum = self.values.add(Op::Binary(Binary::Add, whole, more))?;
        let sign = self.with_bits(Binary::And, x, 0x8000_0000)?;
        self.values.add(Op::Binary(Binary::Or, sum, sign))
    }

    /// One of the kernel's functions: straight-line code with one `return`, at its end.
    fn inlined(&mut self, id: FunctionId, args: &[Id]) -> Option<Id> {
        let kernel = self.e.kernel;
        let function = kernel.function(id);
        // The function sees nothing of its caller.
        let inner: HashMap<_, _> =
            function.params.iter().copied().zip(args.iter().map(|id| Local::Lanes(*id))).collect();
        let outer = self.enter(inner);
        let mut found = None;
        for stmt in &function.body {
            match stmt {
                Stmt::Let(var, expr) if kernel.var(*var).constant => {
                    if self.define(*var, expr).is_none() {
                        break;
                    }
                }
                Stmt::Return(Some(expr)) => {
                    found = self.lanes(expr);
                    break;
                }
                _ => {
                    self.why.get_or_insert(Reason::Branches);
                    break;
                }
            }
        }
        self.leave(outer);
        found
    }

    /// A mask.
    pub(super) fn mask(&mut self, expr: &'k Expr) -> Option<Id> {
        let op = match expr {
            Expr::Var(var) => match self.locals.get(var) {
                Some(Local::Mask(id)) => return Some(*id),
                _ => return self.no(Reason::OtherLanes),
            },
            Expr::Cast(Ty::Mask, inner) => return self.mask(inner),
            Expr::Unary(tree::Unary::Invert, inner) => Op::Not(self.mask(inner)?),
            Expr::Binary(op, a, b) if op.is_of_bits() => {
                let (a, b) = (self.mask(a)?, self.mask(b)?);
                let both = match op {
                    tree::Binary::And => Both::And,
                    tree::Binary::Or => Both::Or,
                    _ => Both::Xor,
                };
                Op::Both(both, a, b)
            }
            Expr::Op(op, args) => {
                let compared = if let table::Op::Lanes(op) = op { comparison(*op) } else { None };
                let (Some((compare, swap)), [a, b]) = (compared, &args[..]) else {
                    return self.no(Reason::Operation(*op));
                };
                let (a, b) = (self.lanes(a)?, self.lanes(b)?);
                let (a, b) = if swap { (b, a) } else { (a, b) };
                Op::Compare(compare, a, b)
            }
            _ => return self.no(Reason::Numbers),
        };
        self.values.add(op)
    }
}

/// The processor's form of an operation on lanes.
enum Instruction {
    One(Unary),
    Two(Binary),
    Fused,
    /// The operand itself: bits are bits.
    Same,
    /// Several instructions.
    Several,
    /// No instruction that is used here.
    None,
}

fn instruction(op: LaneOp) -> Instruction {
    use Instruction::{Fused, None, One, Same, Several, Two};
    use LaneOp as L;
    match op {
        L::CastF32I32 | L::CastI32F32 => Same,
        L::SqrtF32 => One(Unary::Sqrt),
        L::RintF32 => One(Unary::Round),
        L::FloorF32 => One(Unary::Floor),
        L::CeilF32 => One(Unary::Ceil),
        L::TruncF32 => One(Unary::Trunc),
        L::I32ToF32 => One(Unary::ToFloat),
        L::WholeI32 => One(Unary::Whole),
        L::MantissaF32 => One(Unary::Mantissa),
        // The processor's exponent is that of any number.
        L::LogbF32 => One(Unary::Exponent),
        L::AddF32 => Two(Binary::Add),
        L::SubF32 => Two(Binary::Sub),
        L::MulF32 => Two(Binary::Mul),
        L::DivF32 => Two(Binary::Div),
        L::Min2F32 => Two(Binary::Min),
        L::Max2F32 => Two(Binary::Max),
        L::ScaleF32 => Two(Binary::Scale),
        L::AddI32 => Two(Binary::AddInt),
        L::SubI32 => Two(Binary::SubInt),
        L::MulI32 => Two(Binary::MulInt),
        L::AndI32 => Two(Binary::And),
        L::OrI32 => Two(Binary::Or),
        L::XorI32 => Two(Binary::Xor),
        L::ShlI32 => Two(Binary::Shl),
        L::ShrU32 => Two(Binary::Shr),
        L::ShrI32 => Two(Binary::Sar),
        L::MinI32 => Two(Binary::MinInt),
        L::MaxI32 => Two(Binary::MaxInt),
        L::MinU32 => Two(Binary::MinUint),
        L::MaxU32 => Two(Binary::MaxUint),
        L::FmaF32 => Fused,
        L::NegF32
        | L::FabsF32
        | L::CopysignF32
        | L::NegI32
        | L::NotI32
        | L::ExponentF32
        | L::FminF32
        | L::FmaxF32
        | L::FdimF32
        | L::NextafterF32
        | L::RsqrtF32
        | L::RoundF32 => Several,
        // The rest: 64-bit lanes, masks, operations without a vector instruction, and those that are read before their operands are.
        _ => None,
    }
}

/// The processor's comparison, and true if its operands are swapped.
fn comparison(op: LaneOp) -> Option<(Compare, bool)> {
    use LaneOp as L;
    Some(match op {
        L::EqF32 => (Compare::Float(EQ), false),
        L::NeF32 => (Compare::Float(NE), false),
        L::LtF32 => (Compare::Float(LT), false),
        L::LeF32 => (Compare::Float(LE), false),
        L::GtF32 => (Compare::Float(LT), true),
        L::GeF32 => (Compare::Float(LE), true),
        L::EqI32 => (Compare::Int(EQ), false),
        L::NeI32 => (Compare::Int(NE), false),
        L::LtI32 => (Compare::Int(LT), false),
        L::LeI32 => (Compare::Int(LE), false),
        L::GtI32 => (Compare::Int(LT), true),
        L::GeI32 => (Compare::Int(LE), true),
        L::EqU32 => (Compare::Uint(EQ), false),
        L::NeU32 => (Compare::Uint(NE), false),
        L::LtU32 => (Compare::Uint(LT), false),
        L::LeU32 => (Compare::Uint(LE), false),
        L::GtU32 => (Compare::Uint(LT), true),
        L::GeU32 => (Compare::Uint(LE), true),
        _ => return None,
    })
}
