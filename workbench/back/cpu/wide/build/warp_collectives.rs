//! Warps whose threads run in step: a group is a warp, and what a warp does together is operations of its lanes.
//!
//! A vote is bits of masks, a shuffle takes lanes of both chunks by their numbers, a reduction is a tree of operations. That is so where one
//! mask names the lanes, and those of them that have not left the kernel are there. Where lanes name different masks, or some are missing,
//! the run time joins them, or says who is missing.

use std::rc::Rc;

use super::control::Stretch;
use super::names::Name;
use super::{Builder, Form, Mask, Place, node, types};
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::abi::masks::{OPERANDS, WARP_ARRAY, WARP_BRANCHES, WARP_BYTES};
use crate::back::cpu::abi::site::{Joined, SiteKind};
use crate::back::cpu::wide::in_step::{CHUNKS, joins_lanes};
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::cpu::wide::value_forms::LANES;
use crate::back::lane::build::{change, host, int, pointer, set, ty, uint, when};
use crate::back::lane::families;
use crate::back::lane::memory::{Access, Element};
use crate::back::lane::table::LaneOp;
use crate::back::lane::tree::{Binary, Expr, Field as Member, Stmt as Code};
use crate::back::lane::types::{Kind, Ty};
use crate::ir::{Collective, ReduceOp, Scalar, Shuffle, Value};
use crate::source::Span;

/// Threads of a warp.
const WARP: i64 = 32;

/// All lanes of a warp.
const ALL: i64 = 0xffff_ffff;

/// A joint operation.
#[derive(Clone, Copy)]
struct Joint<'a> {
    result: Option<Value>,
    op: Collective,
    args: &'a [Value],
}

/// The lanes of a warp that are here: those of each chunk, and all in one number.
struct Here {
    masks: [Expr; CHUNKS as usize],
    bits: Expr,
}

impl Builder<'_> {
    /// Declares what a stretch needs in which lanes are joined.
    pub(super) fn begin_warp(&mut self, stretch: Stretch<'_>, mask: Mask) {
        if !self.info.in_step || !joins_lanes(stretch.stmts) {
            return;
        }
        self.declare(Name::Warp, Ty::Array(Rc::new(ty::I8), WARP_BYTES));
        if self.walk.has_masks {
            return;
        }
        for u in 0..self.chunks {
            let all = match mask {
                Mask::Full => int(0xffff),
                Mask::Some(m) => self.get(Name::Mask(m, u)),
            };
            self.begin_as(Name::Alive(u), Ty::Mask, all);
        }
    }

    /// Notes that the threads of a place leave the kernel.
    pub(super) fn note_exit(&mut self, place: Place) {
        let Mask::Some(m) = place.mask else { return };
        for u in 0..self.chunks {
            if let Some(alive) = self.k.find(Name::Alive(u)) {
                let gone = self.get(Name::Mask(m, u));
                self.push(change(Expr::Var(alive), Binary::And, gone.inverted()));
            }
        }
    }

    /// The lanes of a chunk that have not left the kernel, where not all of the group are there.
    fn alive(&self, u: u32) -> Expr {
        match self.walk.has_masks {
            true => {
                let threads = self.geometry.threads();
                let gone = self.chunk_of_mask(node::EXITED, u).inverted().cast(Ty::Mask);
                // The last chunks of a block may have fewer threads.
                let left = (int(i64::from(threads)) - self.first_of(u).cast(ty::I32)).cast(ty::I32);
                let some = left.clone().gt(int(0)).choose(int(1).with(Binary::Shl, left.clone()) - int(1), int(0));
                let there = left.ge(int(i64::from(LANES))).choose(int(0xffff), some);
                if threads.is_multiple_of(LANES * CHUNKS) { gone } else { (gone & there).cast(Ty::Mask) }
            }
            false => self.get(Name::Alive(u)),
        }
    }

    /// Both chunks' bits as one number.
    fn bits_of(masks: [Expr; 2]) -> Expr {
        let [low, high] = masks.map(|mask| mask.cast(Ty::Mask).cast(ty::U32));
        (low | high.with(Binary::Shl, int(i64::from(LANES)))).cast(ty::U32)
    }

    /// A joint operation of the lanes at a place.
    pub(super) fn join_lanes(
        &mut self,
        (result, op, args): (Option<Value>, Collective, &[Value]),
        span: Span,
        place: Place,
    ) -> Result<()> {
        if !self.info.in_step || self.chunks != CHUNKS || op.is_block() {
            return Err(Unsupported("a warp function inside a region"));
        }
        let joint = Joint { result, op, args };
        if let Some(v) = result {
            self.defined.insert(v);
            self.made[v.index()] = place.version;
            self.lazy.remove(&v);
        }
        // The stretch ends here for a block in which something has gone wrong before.
        if !self.known.safe {
            let end = Code::Goto(self.end);
            self.push(when(self.field(Member::Faulted).unlikely(), end));
        }
        let masks = [0, 1].map(|u| self.mask(place, u));
        let bits = match place.mask {
            Mask::Full => uint(ALL as u32),
            Mask::Some(_) => {
                let n = self.fresh();
                self.constant_as(format!("here{n}"), ty::U32, Self::bits_of(masks.clone()))
            }
        };
        let here = Here { masks, bits };
        if op == Collective::ActiveMask {
            self.define_joint(joint, &here)?;
            return self.keep_joint(joint);
        }
        let Some(named) = args.first() else { return Err(Unsupported("a warp function without a mask")) };
        let is_whole = place.mask == Mask::Full && self.known(*named).is_some_and(|n| n & ALL == ALL);
        if is_whole && self.is_known(joint) {
            self.define_joint(joint, &here)?;
            return self.keep_joint(joint);
        }
        self.declare_joint(joint)?;
        let slow = self.joined_by_run_time(joint, &here, span, place)?;
        if self.form(*named) != Form::Group || !self.is_known(joint) {
            self.add(slow);
            return self.keep_joint(joint);
        }
        let mask = self.one(*named, 0).cast(ty::U32);
        let test = match place.mask {
            Mask::Full => mask.equals(uint(ALL as u32)),
            // All that are named and have not left are here, and nobody else.
            Mask::Some(_) => {
                let alive = Self::bits_of([0, 1].map(|u| self.alive(u)));
                (mask & alive).cast(ty::U32).equals(here.bits.clone())
            }
        };
        self.begin();
        self.set_joint(joint, &here)?;
        let fast = Code::Block(self.k.end());
        self.add_if(test.likely(), fast, Some(slow));
        self.keep_joint(joint)
    }

    /// True if there are operations of lanes for a joint operation where one mask names them.
    fn is_known(&self, Joint { op, args, .. }: Joint<'_>) -> bool {
        match (op, args) {
            (Collective::MatchAny | Collective::MatchAll, _) => false,
            (Collective::Shfl(_), [_, _, _, width]) => {
                self.known(*width).is_some_and(|w| (1..=WARP).contains(&w) && w.count_ones() == 1)
            }
            _ => true,
        }
    }

    /// Declares the result, as something that both ways of making it set.
    fn declare_joint(&mut self, Joint { result, .. }: Joint<'_>) -> Result<()> {
        let Some(v) = result else { return Ok(()) };
        let s = self.scalar(v);
        match self.form(v) {
            Form::Group => self.begin_as(Name::Value(v, None), types::one(s), int(0).cast(types::one(s))),
            _ => {
                for u in 0..CHUNKS {
                    let zero = if s == Scalar::Bool { int(0) } else { Self::zero(s) };
                    self.begin_as(Name::Value(v, Some(u)), types::lanes(s), zero);
                }
            }
        }
        Ok(())
    }

    /// Zero in all lanes.
    fn zero(s: Scalar) -> Expr {
        Self::splat(s, int(0).cast(types::one(s)))
    }

    fn keep_joint(&mut self, Joint { result, .. }: Joint<'_>) -> Result<()> {
        result.map_or(Ok(()), |v| self.keep(v, Mask::Full))
    }

    fn define_joint(&mut self, joint: Joint<'_>, here: &Here) -> Result<()> {
        let Some(v) = joint.result else { return Ok(()) };
        let s = self.scalar(v);
        match self.form(v) {
            Form::Group => {
                let one = self.joint_one(joint, here)?;
                self.define(Name::Value(v, None), types::one(s), one);
            }
            _ => {
                for (u, lanes) in (0..).zip(self.joint_lanes(joint, here)?) {
                    self.define(Name::Value(v, Some(u)), types::lanes(s), lanes);
                }
            }
        }
        Ok(())
    }

    fn set_joint(&mut self, joint: Joint<'_>, here: &Here) -> Result<()> {
        let Some(v) = joint.result else { return Ok(()) };
        match self.form(v) {
            Form::Group => {
                let one = self.joint_one(joint, here)?;
                self.push(set(self.get(Name::Value(v, None)), one));
            }
            _ => {
                for (u, lanes) in (0..).zip(self.joint_lanes(joint, here)?) {
                    self.push(set(self.get(Name::Value(v, Some(u))), lanes));
                }
            }
        }
        Ok(())
    }

    /// The lanes of a joint operation's result.
    fn joint_lanes(&mut self, joint: Joint<'_>, here: &Here) -> Result<[Expr; 2]> {
        let Joint { result, op, args } = joint;
        match (op, args) {
            (Collective::Shfl(kind), [_, value, by, width]) => {
                let width = self.known(*width).unwrap_or(WARP);
                let of = types::kind(self.scalar(*value))?;
                let values = self.of_here(*value, here)?;
                let mut all = [int(0), int(0)];
                for (u, lanes) in (0..).zip(&mut all) {
                    let from = self.source(kind, *by, width, u)?;
                    let [low, high] = values.clone();
                    *lanes = families::take(of).on([low, high, from]);
                }
                Ok(all)
            }
            _ => {
                let s = result.map_or(Scalar::U32, |v| self.scalar(v));
                let one = self.joint_one(joint, here)?;
                let n = self.fresh();
                let one = self.constant_as(format!("joint{n}"), types::one(s), one);
                Ok([0, 1].map(|_| Self::splat(s, one.clone())))
            }
        }
    }

    /// Both chunks of a value, named, with zero in lanes that are not here.
    fn of_here(&mut self, v: Value, here: &Here) -> Result<[Expr; 2]> {
        let s = self.scalar(v);
        let mut all = [int(0), int(0)];
        for (u, lanes) in (0..).zip(&mut all) {
            let value = self.lanes(v, u)?;
            let value = match here.bits == uint(ALL as u32) {
                true => value,
                false => {
                    let mask = here.masks[u as usize].clone();
                    families::select(types::vector(s)).on([mask, value, Self::zero(s)])
                }
            };
            let n = self.fresh();
            *lanes = self.constant_as(format!("lanes{n}"), types::lanes(s), value);
        }
        Ok(all)
    }

    /// For the lanes of a chunk the lanes that a shuffle takes its values from: a lane's own where the other is not in its segment.
    fn source(&mut self, kind: Shuffle, by: Value, width: i64, u: u32) -> Result<Expr> {
        let number = |n: i64| LaneOp::SplatI32.on([int(n)]);
        let own = LaneOp::LineI32.on([int(i64::from(LANES * u)), int(1)]);
        let by = match self.known(by) {
            Some(n) => number(n & (WARP - 1)),
            None => LaneOp::AndI32.on([self.lanes(by, u)?, number(WARP - 1)]),
        };
        // The first lane of each lane's segment, and the places within one.
        let (first, within) = (LaneOp::AndI32.on([own.clone(), number(WARP - width)]), width - 1);
        let last = LaneOp::OrI32.on([first.clone(), number(within)]);
        let (from, is_inside) = match kind {
            Shuffle::Idx => {
                let place = LaneOp::AndI32.on([by, number(within)]);
                return Ok(if width == WARP { place } else { LaneOp::OrI32.on([first, place]) });
            }
            Shuffle::Xor => {
                let from = LaneOp::XorI32.on([own.clone(), by]);
                if width == WARP {
                    return Ok(from);
                }
                (from.clone(), LaneOp::LeI32.on([from, last]))
            }
            Shuffle::Down => {
                let from = LaneOp::AddI32.on([own.clone(), by]);
                (from.clone(), LaneOp::LeI32.on([from, last]))
            }
            Shuffle::Up => {
                let from = LaneOp::SubI32.on([own.clone(), by]);
                (from.clone(), LaneOp::GeI32.on([from, first]))
            }
        };
        Ok(LaneOp::SelectI32.on([is_inside, from, own]))
    }

    /// The one result that all lanes of a joint operation get.
    fn joint_one(&mut self, Joint { result, op, args }: Joint<'_>, here: &Here) -> Result<Expr> {
        let of = types::one(result.map_or(Scalar::U32, |v| self.scalar(v)));
        if op == Collective::ActiveMask {
            return Ok(here.bits.clone().cast(of));
        }
        let Some(value) = args.get(1).copied() else { return Err(Unsupported("an unknown warp function")) };
        let one = match op {
            Collective::Ballot | Collective::Any | Collective::All | Collective::Uni => {
                let mut holds = here.masks.clone();
                for (u, mask) in (0..).zip(&mut holds) {
                    *mask = mask.clone() & self.lanes(value, u)?;
                }
                let n = self.fresh();
                let bits = self.constant_as(format!("holds{n}"), ty::U32, Self::bits_of(holds));
                match op {
                    Collective::Ballot => bits,
                    Collective::Any => bits.differs(int(0)),
                    Collective::All => bits.equals(here.bits.clone()),
                    _ => bits.clone().equals(int(0)).either(bits.equals(here.bits.clone())),
                }
            }
            Collective::Reduce(reduce) => self.reduced(reduce, value, here)?,
            Collective::Shfl(Shuffle::Idx) => {
                let s = self.scalar(value);
                let [low, high] = self.of_here(value, here)?;
                let by = self.one(args.get(2).copied().unwrap_or(value), 0);
                let kind = types::kind(s)?;
                let place = LaneOp::SplatI32.on([(by & int(WARP - 1)).cast(ty::I32)]);
                families::lane(kind).on([families::take(kind).on([low, high, place]), int(0)])
            }
            _ => return Err(Unsupported("an unknown warp function")),
        };
        Ok(one.cast(of))
    }

    /// Integers of all lanes that are here, in any order: of no operation does that matter.
    fn reduced(&mut self, reduce: ReduceOp, value: Value, here: &Here) -> Result<Expr> {
        let s = self.scalar(value);
        let (of, word) = (types::integer(s)?, types::word(s)?);
        let (op, none) = match reduce {
            ReduceOp::Add => (families::add(Kind::I32), 0),
            ReduceOp::And => (families::and(word), -1),
            ReduceOp::Or => (families::or(word), 0),
            ReduceOp::Xor => (families::xor(word), 0),
            ReduceOp::Min => (families::min(of), if s.is_signed() { i64::from(i32::MAX) } else { -1 }),
            ReduceOp::Max => (families::max(of), if s.is_signed() { i64::from(i32::MIN) } else { 0 }),
        };
        let mut both = [int(0), int(0)];
        for (u, lanes) in (0..).zip(&mut both) {
            let (mask, value) = (here.masks[u as usize].clone(), self.lanes(value, u)?);
            *lanes = LaneOp::SelectI32.on([mask, value, LaneOp::SplatI32.on([int(none)])]);
        }
        let mut all = op.on(both);
        for distance in [8, 4, 2, 1] {
            let n = self.fresh();
            let before = self.constant_as(format!("tree{n}"), Ty::Lanes(Kind::I32), all);
            let places = LaneOp::LineI32.on([int(distance), int(1)]);
            all = op.on([before.clone(), LaneOp::TakeI32.on([before.clone(), before, places])]);
        }
        Ok(LaneOp::LaneI32.on([all, int(0)]))
    }

    /// The place of a chunk's part of an operand, or of the result, in what the run time is given.
    fn in_warp(&self, operand: usize, size: u32, u: u32) -> Expr {
        let at = operand as u32 * WARP_ARRAY + size * LANES * u;
        self.get(Name::Warp).cast(pointer(ty::I8)) + int(i64::from(at))
    }

    /// A joint operation by the run time, which sets the declared result or ends the block.
    fn joined_by_run_time(&mut self, joint: Joint<'_>, here: &Here, span: Span, place: Place) -> Result<Code> {
        let Joint { result, op, args } = joint;
        self.begin();
        let mut of = Scalar::U32;
        for (k, v) in args.iter().enumerate() {
            let s = self.scalar(*v);
            if k == 1 {
                of = s;
            }
            for u in 0..CHUNKS {
                let lanes = self.lanes(*v, u)?;
                let (lanes, element, size) = match s {
                    Scalar::Bool => (LaneOp::B1ToI32.on([lanes]), Element::I32, 4),
                    s => (lanes, types::whole(s), types::whole(s).size()),
                };
                let to = self.in_warp(k, size, u);
                self.push(self.k.access(Access::Store, element, vec![to, lanes]).stmt());
            }
        }
        let branches: Vec<(u32, Span)> = self.branches.iter().take(WARP_BRANCHES).copied().collect();
        for (k, (mask, _)) in (0..).zip(&branches) {
            let took = Self::bits_of([0, 1].map(|u| self.get(Name::Mask(*mask, u))));
            let words = self.in_warp(OPERANDS + 1, 0, 0).cast(pointer(ty::U32));
            self.push(set(words.index(int(k)), took));
        }
        let mut join = self.joint_site(Joined::Collective(op, of.size(), of.is_signed()));
        join.branches = branches.into_iter().map(|(_, span)| span).collect();
        let site = self.site(span, SiteKind::Join(Box::new(join)));
        let alive = match place.mask {
            Mask::Full => here.bits.clone(),
            Mask::Some(_) => Self::bits_of([0, 1].map(|u| self.alive(u))),
        };
        let lanes = here.bits.clone().cast(ty::U64) | alive.cast(ty::U64).with(Binary::Shl, int(WARP));
        let params = [pointer(ty::I8), ty::U64, ty::U64, ty::U64, pointer(Ty::Void), pointer(ty::I8)];
        let array = self.get(Name::Warp).cast(pointer(ty::I8));
        let args = vec![self.context(), site, self.first_of(0).cast(ty::U64), lanes, self.masks(), array];
        let joined = host(ty::I64, &params, self.host(HostFn::CollectWarp)?, args);
        self.push(when(joined.lt(int(0)), Code::Return(Some(int(1)))));
        if let Some(v) = result {
            let s = self.scalar(v);
            let (element, size) = match s {
                Scalar::Bool => (Element::I32, 4),
                s => (types::whole(s), types::whole(s).size()),
            };
            let parts: Vec<Expr> = (0..CHUNKS)
                .map(|u| {
                    let lanes = self.k.access(Access::Load, element, vec![self.in_warp(OPERANDS, size, u)]);
                    if s == Scalar::Bool { LaneOp::TruthI32.on([lanes]) } else { lanes }
                })
                .collect();
            if self.form(v) == Form::Group {
                // All lanes that are here got the same, which the run time stores for all 32.
                let first = match s {
                    Scalar::Bool => parts[0].clone().cast(Ty::Mask).differs(int(0)).cast(Ty::Bool),
                    s => families::lane(types::kind(s)?).on([parts[0].clone(), int(0)]).cast(types::one(s)),
                };
                self.push(set(self.get(Name::Value(v, None)), first));
            } else {
                for (u, part) in (0..).zip(parts) {
                    self.push(set(self.get(Name::Value(v, Some(u))), part));
                }
            }
        }
        Ok(Code::Block(self.k.end()))
    }
}
