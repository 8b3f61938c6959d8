//! `Let`: what a value is, once for the group, once a chunk, or for each lane.

use super::arith::{self, comparison, comparison_of_lanes};
use super::names::Name;
use super::{Builder, Form, Mask, Place, Version, in_row, scalar_of, types};
use crate::back::Dim3;
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::facts::split::ValueHome;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::cpu::wide::value_forms::{LANES, truncate};
use crate::back::lane::build::{int, long, pointer, set, ty, uint, when};
use crate::back::lane::families::{self, Number, Vector};
use crate::back::lane::memory::{Access, Element};
use crate::back::lane::table::{FaultOp, LaneOp, NumberOp};
use crate::back::lane::tree::{self as lane, Expr};
use crate::back::lane::types::Ty;
use crate::ir::{BinaryOp, Builtin, Const, Local, MathFn, Op, Scalar, Stmt, Stride, Value};
use crate::source::Span;

/// Farthest an index moves a pointer, in bytes, as in the code of the other tiers.
const MAX_REACH: i64 = 1 << 48;

/// The operations that an index is followed through to see how large it can be.
const MAX_FOLLOWED: u32 = 6;

impl Builder<'_> {
    /// Defines a value.
    pub(super) fn bind(&mut self, v: Value, op: &Op, span: Span, place: Place) -> Result<()> {
        self.defined.insert(v);
        self.made[v.index()] = place.version;
        if let Op::Load { ptr, ty, volatile } = op {
            if *volatile {
                return Err(Unsupported("a volatile access"));
            }
            self.load(v, *ptr, *ty, span, place)?;
            return self.keep(v, place.mask);
        }
        if let Op::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) = op
            && !self.scalar(v).is_float()
            && !self.forms_of(v).is_cut[v.index()]
        {
            self.check_division(*op, *a, *b, span, place)?;
        }
        if matches!(op, Op::Convert(..)) && self.rests_of(v).contains(&v) {
            self.note_rest(v, op);
        }
        let s = self.scalar(v);
        if self.can_wait(v, op) {
            self.lazy.insert(v);
            return Ok(());
        }
        self.lazy.remove(&v);
        match self.form(v) {
            Form::Group | Form::Row(_) => {
                let value = self.op_one(v, op, 0)?;
                self.define(Name::Value(v, None), types::one(s), value);
            }
            Form::Chunk | Form::Line(_) => {
                for u in 0..self.chunks {
                    let value = self.op_one(v, op, u)?;
                    self.define(Name::Value(v, Some(u)), types::one(s), value);
                }
            }
            Form::Lanes => {
                for u in 0..self.chunks {
                    let value = self.op_lanes(v, op, u)?;
                    self.define(Name::Value(v, Some(u)), types::lanes(s), value);
                }
            }
        }
        self.keep(v, place.mask)?;
        self.check_length()
    }

    /// True if a value need not have a name: an address of each lane, or an index widened for one, that no other region wants.
    fn can_wait(&self, v: Value, op: &Op) -> bool {
        let is_kept = self.split.is_some_and(|plan| !matches!(plan.values[v.index()], ValueHome::Region));
        let operands = match op {
            Op::PtrAdd { ptr, .. } => *ptr,
            Op::Convert(Scalar::I64 | Scalar::U64, a) if self.scalar(*a).is_int() && self.scalar(*a).bits() == 32 => *a,
            _ => return false,
        };
        self.form(v) == Form::Lanes && !is_kept && !self.lazy.contains(&operands)
    }

    /// True if the operand of a widening does not wrap within the chunk.
    fn note_rest(&mut self, v: Value, op: &Op) {
        let (Op::Convert(_, a), form) = (op, self.form(v)) else { return };
        let from = self.scalar(*a);
        let reach = self.reach(form);
        let (least, most) =
            if from.is_signed() { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        for u in 0..self.times(form) {
            let one = self.one(*a, u);
            let test = match reach > 0 {
                true => one.le(long(most - reach)),
                false => one.ge(long(least - reach)),
            };
            let part = if form.is_whole() { None } else { Some(u) };
            self.define(Name::Rest(v, part), Ty::Bool, test);
        }
    }

    /// The one number of a value: for the group, for a chunk, or the first of its line.
    fn op_one(&mut self, v: Value, op: &Op, u: u32) -> Result<Expr> {
        let s = self.scalar(v);
        if self.places.is_some_and(|places| places.contains(&v)) {
            let row = self.get(Name::FirstBlock).cast(ty::U64) * self.span();
            return Ok(in_row((row + self.get(Name::Thread)).cast(types::one(s)), s, 1, u));
        }
        if self.forms_of(v).is_cut[v.index()] {
            return self.taken_by_pieces(op, s, u);
        }
        Ok(match op {
            Op::Const(c) => Self::constant(*c),
            Op::Param(i) if self.func.ty(v).scalar().is_some() => self.get(Name::Argument(*i)),
            Op::Param(_) | Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) => long(0),
            Op::Get(l) => self.local_one(*l, v, u),
            Op::Builtin(b) => self.builtin_one(*b, u),
            Op::Unary(op, a) => arith::unary(*op, s, self.one(*a, u)),
            Op::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) if !s.is_float() => {
                let (a, b, of) = (self.one(*a, u), self.one(*b, u), types::one(s));
                // A noted fault must not be one of this process.
                let is_zero = b.clone().equals(int(0));
                let is_fault = if s.is_signed() { is_zero.either(b.clone().equals(int(-1))) } else { is_zero };
                let (instead, value) = match op {
                    BinaryOp::Div => (int(0) - a.clone(), a / b),
                    _ => (int(0), a % b),
                };
                is_fault.choose(instead.cast(of.clone()), value.cast(of))
            }
            Op::Binary(op, a, b) => arith::binary(*op, s, self.scalar(*b), self.one(*a, u), self.one(*b, u))?,
            Op::Compare(op, a, b) => {
                let (x, y) = match self.func.ty(*a).scalar() {
                    Some(_) => (self.one(*a, u), self.one(*b, u)),
                    None => (self.address_one(*a, u)?, self.address_one(*b, u)?),
                };
                x.with(comparison(*op), y).cast(Ty::Bool)
            }
            Op::Convert(to, a) => arith::convert(self.scalar(*a), *to, self.one(*a, u)),
            Op::Bitcast(to, a) => arith::bitcast(self.scalar(*a), *to, self.one(*a, u)),
            Op::Select(c, a, b) => self.one(*c, u).choose(self.one(*a, u), self.one(*b, u)),
            Op::Math(math, args) => {
                let args = args.iter().map(|a| self.one(*a, u)).collect();
                self.math_one(*math, s, args)?
            }
            Op::Bit(bit, a) => arith::bit(*bit, self.scalar(*a), self.one(*a, u))?,
            Op::Dot4(x, y, sum) => {
                let all = [*x, *y, *sum].map(|v| self.one(v, u));
                if s.is_signed() { NumberOp::Dot4I32.on(all) } else { NumberOp::Dot4U32.on(all) }
            }
            Op::PtrAdd { ptr, index, stride } => {
                let by = self.one(*index, u);
                let by = match self.is_near(*index, *stride) {
                    true => by * int(i64::from(stride.bytes())),
                    false => NumberOp::Far.on([by, long(reach(*stride)), long(i64::from(stride.bytes()))]),
                };
                (self.one(*ptr, u) + by).cast(ty::I64)
            }
            Op::PtrDiff(a, b, stride) => {
                let (a, b) = (self.address_one(*a, u)?, self.address_one(*b, u)?);
                (a - b).cast(ty::I64) / int(i64::from(stride.bytes().max(1)))
            }
            Op::PtrToInt(a) => self.address_one(*a, u)?,
            Op::IntToPtr(_) => return Err(Unsupported("a pointer made of a number")),
            Op::FuncAddr(..) => return Err(Unsupported("host code")),
            Op::Load { .. } => return Err(Unsupported("a load among operands")),
        })
    }

    /// The lanes of a value.
    pub(super) fn op_lanes(&mut self, v: Value, op: &Op, u: u32) -> Result<Expr> {
        let s = self.scalar(v);
        Ok(match op {
            Op::Get(l) => match self.local(*l, self.made[v.index()]) {
                (is_apart, Form::Lanes) => self.local_part(*l, is_apart, Some(u)),
                (_, Form::Row(step) | Form::Line(step)) => Self::line(s, self.local_one(*l, v, u), step)?,
                _ => Self::splat(s, self.local_one(*l, v, u)),
            },
            Op::Builtin(Builtin::ThreadIdx(d)) => {
                let at = self.table_of_threads(*d) + self.get(Name::Thread) + int(i64::from(LANES * u));
                self.k.access(Access::Load, Element::I32, vec![at.cast(pointer(ty::I8))])
            }
            Op::Const(_) | Op::Param(_) | Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) | Op::Builtin(_) => {
                let one = self.op_one(v, op, u)?;
                Self::splat(s, one)
            }
            Op::Unary(op, a) => arith::unary_lanes(*op, s, self.lanes(*a, u)?)?,
            Op::Binary(op, a, b) => self.binary_lanes(*op, s, *a, *b, u)?,
            Op::Compare(op, a, b) => {
                let (of, x, y) = match self.func.ty(*a).scalar() {
                    Some(Scalar::Bool) => {
                        let (a, b) = (self.lanes(*a, u)?, self.lanes(*b, u)?);
                        (Number::I32, LaneOp::B1ToI32.on([a]), LaneOp::B1ToI32.on([b]))
                    }
                    Some(s) => (types::number(s)?, self.lanes(*a, u)?, self.lanes(*b, u)?),
                    None => (Number::U64, self.address_lanes(*a, u)?, self.address_lanes(*b, u)?),
                };
                comparison_of_lanes(*op, of).on([x, y])
            }
            Op::Convert(to, a) => arith::convert_lanes(self.scalar(*a), *to, self.lanes(*a, u)?)?,
            Op::Bitcast(to, a) => arith::bitcast_lanes(self.scalar(*a), *to, self.lanes(*a, u)?)?,
            Op::Select(c, a, b) => {
                let (c, a, b) = (self.lanes(*c, u)?, self.lanes(*a, u)?, self.lanes(*b, u)?);
                families::select(types::vector(s)).on([c, a, b])
            }
            Op::Math(math, args) => self.math_lanes(*math, s, args, u)?,
            Op::Bit(bit, a) => arith::bit_lanes(*bit, self.scalar(*a), self.lanes(*a, u)?)?,
            Op::Dot4(x, y, sum) => {
                let all = [self.lanes(*x, u)?, self.lanes(*y, u)?, self.lanes(*sum, u)?];
                if s.is_signed() { LaneOp::Dot4I32.on(all) } else { LaneOp::Dot4U32.on(all) }
            }
            Op::PtrAdd { ptr, index, stride } => {
                let near = self.is_near(*index, *stride);
                let (p, i) = (self.lanes(*ptr, u)?, self.lanes(*index, u)?);
                let splat = |n: u32| LaneOp::SplatI64.on([int(i64::from(n))]);
                let by = match (near, stride.bytes()) {
                    (true, n) if n.is_power_of_two() => LaneOp::ShlI64.on([i, splat(n.trailing_zeros())]),
                    (true, n) => LaneOp::MulI64.on([i, splat(n)]),
                    (false, n) => LaneOp::FarV.on([i, long(reach(*stride)), long(i64::from(n))]),
                };
                if matches!(
                    self.op_of(*ptr),
                    Some(Op::Param(_) | Op::SharedAddr(_) | Op::GlobalAddr(_) | Op::SlotAddr(_))
                ) {
                    by
                } else {
                    LaneOp::AddI64.on([p, by])
                }
            }
            Op::PtrDiff(a, b, stride) => {
                let (a, b) = (self.address_lanes(*a, u)?, self.address_lanes(*b, u)?);
                let size = LaneOp::SplatI64.on([int(i64::from(stride.bytes().max(1)))]);
                LaneOp::DivI64.on([LaneOp::SubI64.on([a, b]), size])
            }
            Op::PtrToInt(a) => self.address_lanes(*a, u)?,
            Op::IntToPtr(_) => return Err(Unsupported("a pointer made of a number")),
            Op::FuncAddr(..) => return Err(Unsupported("host code")),
            Op::Load { .. } => return Err(Unsupported("a load among operands")),
        })
    }

    /// The number of a block's threads that lie side by side in a long row.
    pub(super) fn span(&self) -> Expr {
        uint(self.geometry.block.x)
    }

    /// True if an index cannot move a pointer past all memory.
    pub(super) fn is_near(&self, index: Value, stride: Stride) -> bool {
        self.forms[0].magnitude(index, MAX_FOLLOWED) <= reach(stride) as u64
    }

    fn math_lanes(&mut self, math: MathFn, s: Scalar, args: &[Value], u: u32) -> Result<Expr> {
        let constant = |v: &Value| match self.op_of(*v) {
            Some(Op::Const(Const::F32(x))) => Some(f64::from(*x)),
            Some(Op::Const(Const::F64(x))) => Some(*x),
            _ => None,
        };
        // The machine's minimum gives its second operand where either is NaN or both are zero.
        let easy = args
            .get(1)
            .and_then(constant)
            .is_some_and(|c| !c.is_nan() && (c != 0.0 || c.is_sign_negative() == (math == MathFn::Fmin)));
        let of = types::real(s)?;
        let args: Vec<Expr> = args.iter().map(|a| self.lanes(*a, u)).collect::<Result<_>>()?;
        let op = match math {
            MathFn::Ceil => families::ceil(of),
            MathFn::Floor => families::floor(of),
            MathFn::Trunc => families::trunc(of),
            MathFn::Rint => families::rint(of),
            MathFn::Round => families::round(of),
            MathFn::Sqrt => families::sqrt(of),
            MathFn::Fabs => families::fabs(of),
            MathFn::Copysign => families::copysign(of),
            MathFn::Fma => families::fma(of),
            MathFn::Fdim => families::fdim(of),
            MathFn::Nextafter => families::nextafter(of),
            MathFn::Logb => families::logb(of),
            MathFn::Fmin if easy => families::min2(of),
            MathFn::Fmax if easy => families::max2(of),
            MathFn::Fmin => families::fmin(of),
            MathFn::Fmax => families::fmax(of),
            MathFn::Rsqrt if s == Scalar::F32 => LaneOp::RsqrtF32,
            _ if math.arity() <= 3 => return self.math_call(math, s, args),
            _ => return Err(Unsupported("a function of four numbers")),
        };
        Ok(op.of(args))
    }

    pub(super) fn builtin_one(&self, builtin: Builtin, u: u32) -> Expr {
        let Dim3 { x, y, z } = self.geometry.block;
        let first = self.first_of(u);
        match builtin {
            // The value is not used where blocks are one long row.
            Builtin::BlockIdx(0) | Builtin::ThreadIdx(0) if self.geometry.spans => uint(0),
            Builtin::ThreadIdx(1) if self.geometry.spans => self.get(Name::Row) % uint(y),
            Builtin::ThreadIdx(_) if self.geometry.spans => self.get(Name::Row) / uint(y),
            Builtin::BlockIdx(0) if self.merges => self.get(Name::ThisBlock),
            Builtin::BlockIdx(d) => self.get(Name::Block(d)),
            Builtin::GridDim(d) => self.get(Name::Grid(d)),
            Builtin::BlockDim(d) => uint([x, y, z][usize::from(d.min(2))]),
            Builtin::ThreadIdx(0) if x == 1 => uint(0),
            Builtin::ThreadIdx(0) if y * z == 1 => first,
            // Chunks are rows: what is the same in all is one expression.
            Builtin::ThreadIdx(0) if x == LANES => uint(0),
            Builtin::ThreadIdx(0) => first % uint(x),
            Builtin::ThreadIdx(1) if y == 1 => uint(0),
            Builtin::ThreadIdx(1) => first / uint(x) % uint(y),
            Builtin::ThreadIdx(_) if z == 1 => uint(0),
            Builtin::ThreadIdx(_) => first / uint(x * y),
        }
    }

    /// The address that a pointer is.
    fn address_one(&self, v: Value, u: u32) -> Result<Expr> {
        let base = self.base(self.root_out_of_slots(v)?)?;
        Ok(base.cast(ty::U64) + self.one(v, u).cast(ty::U64))
    }

    fn address_lanes(&mut self, v: Value, u: u32) -> Result<Expr> {
        let base = self.base(self.root_out_of_slots(v)?)?;
        let offsets = self.lanes(v, u)?;
        Ok(LaneOp::AddI64.on([LaneOp::SplatI64.on([base.cast(ty::I64)]), offsets]))
    }

    fn root_out_of_slots(&self, v: Value) -> Result<Root> {
        match self.root_of(v) {
            Root::Slot(_) => Err(Unsupported("the address of a local array")),
            root => Ok(root),
        }
    }

    /// Notes who divides by zero, or the least number by -1.
    fn check_division(&mut self, op: BinaryOp, a: Value, b: Value, span: Span, place: Place) -> Result<()> {
        let s = self.scalar(a);
        let known = self.known(b).map(|n| truncate(s, n));
        let needs_zero = known.is_none_or(|n| n == 0);
        let needs_least = s.is_signed() && known.is_none_or(|n| n == -1);
        if !needs_zero && !needs_least {
            return Ok(());
        }
        let site = self.site(span, SiteKind::Divide { ty: s, rem: op == BinaryOp::Rem });
        let least = i64::MIN >> (64 - s.bits());
        let one = [a, b].iter().all(|v| self.form(*v).is_one());
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            if one {
                let (x, y, of) = (self.one(a, u), self.one(b, u), types::one(s));
                let mut is_fault = y.clone().equals(int(0));
                if s.is_signed() {
                    let is_least = x.clone().equals(long(least).cast(of.clone()));
                    is_fault = is_fault.either(is_least.both(y.clone().equals(int(-1).cast(of))));
                }
                let word = |x: Expr| if s.is_signed() { x.cast(ty::I64).cast(ty::U64) } else { x.cast(ty::U64) };
                let note = self.note_one(&site, u, mask, (word(x), word(y)));
                self.push(when(is_fault.unlikely(), lane::Stmt::Block(vec![note, self.close()])));
                continue;
            }
            let (x, y) = (self.lanes(a, u)?, self.lanes(b, u)?);
            let (n, eq) = (
                self.fresh(),
                families::eq(match types::number(s)? {
                    Number::U32 => Number::I32,
                    Number::U64 => Number::I64,
                    other => other,
                }),
            );
            let mut is_fault = eq.on([y.clone(), Self::splat(s, int(0))]);
            if s.is_signed() {
                let is_least = eq.on([x.clone(), Self::splat(s, long(least))]);
                is_fault = is_fault | is_least & eq.on([y.clone(), Self::splat(s, int(-1))]);
            }
            let bad = self.constant_as(format!("bad{n}"), Ty::Mask, mask & is_fault);
            let words = (Self::as_words(s, x), Self::as_words(s, y));
            self.note_lanes(&site, u, bad, words);
        }
        Ok(())
    }

    /// Notes a fault that all lanes of a mask share, with two words.
    pub(super) fn note_one(&self, site: &Expr, u: u32, mask: Expr, words: (Expr, Expr)) -> lane::Stmt {
        FaultOp::NoteOne.on([self.state(), site.clone(), self.first_of(u), mask, words.0, words.1]).stmt()
    }

    /// Notes the faults of the lanes of a mask, if it has any, with lanes of two words.
    pub(super) fn note_lanes(&mut self, site: &Expr, u: u32, bad: Expr, words: (Expr, Expr)) {
        let stmt = self.noted_lanes(site, u, bad, words);
        self.push(stmt);
    }

    /// As [`Builder::note_lanes`], the statement.
    pub(super) fn noted_lanes(&self, site: &Expr, u: u32, bad: Expr, words: (Expr, Expr)) -> lane::Stmt {
        let note = [self.state(), site.clone(), self.first_of(u), bad.clone(), words.0, words.1];
        when(bad.unlikely(), lane::Stmt::Block(vec![FaultOp::NoteLanes.on(note).stmt(), self.close()]))
    }

    /// Lanes extended to 64 bits.
    fn as_words(s: Scalar, lanes: Expr) -> Expr {
        match (types::vector(s), s) {
            (Vector::I64, _) => lanes,
            (_, Scalar::U32) => LaneOp::WidenU32.on([lanes]),
            _ => LaneOp::WidenI32.on([lanes]),
        }
    }

    /// The value of a local where a value reads it: one number for a chunk.
    fn local_one(&self, l: Local, v: Value, u: u32) -> Expr {
        match self.local(l, self.made[v.index()]) {
            (is_apart, Form::Group) => self.local_part(l, is_apart, None),
            (is_apart, Form::Row(step)) => in_row(self.local_part(l, is_apart, None), self.scalar(v), step, u),
            (is_apart, _) => self.local_part(l, is_apart, Some(u)),
        }
    }

    /// `Set`.
    pub(super) fn set(&mut self, l: Local, v: Value, place: Place) -> Result<()> {
        let s = scalar_of(self.func.locals[l.index()].ty);
        let (is_apart, form) = self.local(l, place.version);
        match form {
            Form::Group | Form::Row(_) => {
                let to = self.local_part(l, is_apart, None);
                self.push(set(to, self.one(v, 0)));
            }
            Form::Chunk | Form::Line(_) => {
                for u in 0..self.chunks {
                    let to = self.local_part(l, is_apart, Some(u));
                    self.push(set(to, self.one(v, u)));
                }
            }
            Form::Lanes => {
                for u in 0..self.chunks {
                    let (to, value) = (self.local_part(l, is_apart, Some(u)), self.lanes(v, u)?);
                    let value = match place.mask {
                        Mask::Some(m) if place.apart => {
                            families::select(types::vector(s)).on([self.get(Name::Mask(m, u)), value, to.clone()])
                        }
                        _ => value,
                    };
                    self.push(set(to, value));
                }
            }
        }
        Ok(())
    }

    /// Locals that lanes together know become those that each knows by itself: the locals that some statements mention.
    pub(super) fn part(&mut self, stmts: &[&Stmt]) -> Result<()> {
        let mut mentioned = Vec::new();
        for stmt in stmts {
            let mut look = |stmt: &Stmt| match stmt {
                Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) => mentioned.push(*l),
                _ => {}
            };
            look(stmt);
            stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
        }
        mentioned.sort_unstable_by_key(|l| l.index());
        mentioned.dedup();
        for l in mentioned {
            if !self.local(l, Version::Apart).0 {
                continue;
            }
            let s = scalar_of(self.func.locals[l.index()].ty);
            for u in 0..self.chunks {
                let (whole, part) = (Name::Local(l, None), Name::Local(l, Some(u)));
                let value = match self.local(l, Version::Together).1 {
                    Form::Group => Self::splat(s, self.get(whole)),
                    Form::Chunk => Self::splat(s, self.get(part)),
                    Form::Row(step) => Self::line(s, in_row(self.get(whole), s, step, u), step)?,
                    Form::Line(step) => Self::line(s, self.get(part), step)?,
                    Form::Lanes => self.get(part),
                };
                self.push(set(self.get(Name::Apart(l, Some(u))), value));
            }
        }
        Ok(())
    }
}

/// The farthest that an index moves a pointer.
pub(super) fn reach(stride: Stride) -> i64 {
    MAX_REACH / i64::from(stride.bytes().max(1))
}
