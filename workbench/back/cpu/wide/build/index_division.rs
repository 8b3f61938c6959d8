//! Quotients and rests of lines by pieces; see `wide/index_division.rs`.

use std::mem::take;

use super::control::Stretch;
use super::names::Name;
use super::{Builder, Mask, Place, Quotient, Version, types};
use crate::back::cpu::wide::index_division::FEWEST_LANES;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::cpu::wide::value_forms::LANES;
use crate::back::lane::build::{all, change, forever, int, joined, set, ty, uint, ulong, when};
use crate::back::lane::table::NumberOp;
use crate::back::lane::tree::{self as lane, Binary, Expr, Stmt as Code};
use crate::back::lane::types::Ty;
use crate::ir::{BinaryOp, Block, Op, Scalar, Stmt, Value};

/// The largest number of an integer type.
fn largest(s: Scalar) -> Expr {
    let bits = s.bits() - u32::from(s.is_signed());
    ulong(u64::MAX >> (64 - bits)).cast(types::one(s))
}

impl Builder<'_> {
    /// The dividend and the divisor of what is taken by pieces.
    fn pair(&self, stmt: &Stmt, version: Version) -> Option<(Value, Value)> {
        match stmt {
            Stmt::Let(v, Op::Binary(_, a, b)) if self.forms_in(version).is_cut[v.index()] => Some((*a, *b)),
            _ => None,
        }
    }

    /// True if a statement is the first of a quotient or rest that lanes may have several of.
    pub(super) fn begins_cut(&self, stmt: &Stmt, version: Version) -> bool {
        let pair = self.pair(stmt, version);
        pair.is_some_and(|pair| self.pieces.quotients.iter().all(|known| known.pair != pair))
    }

    /// True if a block, but for what is inside its statements, has quotients or rests that are taken by pieces.
    pub(super) fn has_cuts(&self, block: &Block, version: Version) -> bool {
        block.stmts.iter().any(|stmt| self.pair(stmt, version).is_some())
    }

    /// True if a statement may be done again: a fault that it notes is the same then.
    pub(super) fn only_computes(stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::Let(_, op) if !matches!(op, Op::Load { volatile: true, .. }))
    }

    /// A quotient or a rest of the lanes that run now.
    pub(super) fn taken_by_pieces(&self, op: &Op, s: Scalar, u: u32) -> Result<Expr> {
        let Op::Binary(op, a, b) = op else { return Err(Unsupported("a quotient of nothing")) };
        let known = self.pieces.quotients.iter().find(|known| known.pair == (*a, *b));
        let Some(Quotient { of_chunks, .. }) = known else { return Err(Unsupported("a quotient of several pieces")) };
        let quotient = of_chunks[u as usize].clone();
        Ok(match op {
            BinaryOp::Div => quotient,
            _ => (self.one(*a, u) - quotient * self.one(*b, u)).cast(types::one(s)),
        })
    }

    /// Makes what follows a quotient or rest that lanes may have several of; gives `false` where that is left to do.
    pub(super) fn cut(&mut self, stretch: Stretch<'_>, place: Place) -> Result<bool> {
        let Some(pair) = stretch.stmts.first().and_then(|stmt| self.pair(stmt, place.version)) else {
            return Ok(false);
        };
        match (place.mask, self.pieces.instead[0]) {
            (Mask::Some(mask), _) => self.by_pieces(stretch, place, (mask, pair)).map(|()| true),
            (Mask::Full, Some(instead)) => {
                self.whole(pair, instead);
                Ok(false)
            }
            (Mask::Full, None) => self.whole_or_by_pieces(stretch, place).map(|()| true),
        }
    }

    /// The step of a dividend, which is a line.
    fn step_of(&self, a: Value) -> i64 {
        self.form(a).slope().unwrap_or(1)
    }

    /// Goes elsewhere unless all lanes of each chunk have one quotient.
    fn whole(&mut self, pair: (Value, Value), instead: lane::Label) {
        let (a, b) = pair;
        let (s, reach) = (self.scalar(a), self.step_of(a) * i64::from(LANES - 1));
        let (one, divisor) = (types::one(s), self.one(b, 0));
        let number = |n: i64| int(n).cast(one.clone());
        // Divisors smaller than a chunk leave no whole chunk, and the test below would wrap around for them.
        self.push(when(divisor.clone().le(number(reach)), Code::Goto(instead)));
        let (id, mut of_chunks, mut tests) = (self.fresh(), Vec::new(), Vec::new());
        for u in 0..self.chunks {
            let first = self.one(a, u);
            let quotient = (first.clone() / divisor.clone()).cast(one.clone());
            let quotient = self.constant_as(format!("q{id}_{u}"), one.clone(), quotient);
            let rest = (first.clone() - quotient.clone() * divisor.clone()).cast(one.clone());
            tests.extend(self.rests(a, u));
            if s.is_signed() {
                tests.push(first.clone().ge(number(0)));
            }
            tests.push(first.le((largest(s) - number(reach)).cast(one.clone())));
            tests.push(rest.lt((divisor.clone() - number(reach)).cast(one.clone())));
            of_chunks.push(quotient);
        }
        let test = all(tests);
        self.push(when((!test).unlikely(), Code::Goto(instead)));
        self.pieces.quotients.push(Quotient { pair, of_chunks });
    }

    /// A stretch for whole chunks, and by pieces.
    fn whole_or_by_pieces(&mut self, stretch: Stretch<'_>, place: Place) -> Result<()> {
        let id = self.fresh();
        let (pieces, done) = (self.label("pieces", id), self.label("whole", id));
        let place = Place { last: false, ..place };
        self.begin();
        self.pieces.instead = [Some(pieces), None];
        self.stretch(stretch, place)?;
        self.push(Code::Goto(done));
        self.end_block();
        self.here(pieces);
        self.begin();
        let mask = self.new_masks(|_, _| int(0xffff));
        self.stretch(stretch, Place { mask: Mask::Some(mask), apart: true, ..place })?;
        self.end_block();
        self.here(done);
        self.check_length()
    }

    /// A stretch piece by piece, or, where pieces would have few lanes, with quotients of each lane.
    fn by_pieces(&mut self, stretch: Stretch<'_>, place: Place, (mask, pair): (u32, (Value, Value))) -> Result<()> {
        let id = self.fresh();
        let (own, done) = (self.label("own", id), self.label("cut", id));
        let instead = self.pieces.instead[1].unwrap_or(own);
        self.begin();
        if let Some(test) = self.leaves_pieces(pair) {
            self.push(when(test.unlikely(), Code::Goto(instead)));
            self.pieces.left_for.insert(instead);
        }
        let left = self.new_masks(|builder, u| builder.get(Name::Mask(mask, u)));
        let stay = self.new_masks(|_, _| int(0));
        self.begin();
        self.push(when(!self.any(left), Code::Break));
        let piece = self.piece(pair, left);
        self.begin();
        let known = self.pieces.quotients.len();
        self.pieces.quotients.push(piece.1);
        self.pieces.instead = [None, Some(instead)];
        self.stretch(stretch, Place { mask: Mask::Some(piece.0), apart: true, last: false, ..place })?;
        self.pieces.quotients.truncate(known);
        self.end_block();
        for u in 0..self.chunks {
            let (stay, piece) = (self.get(Name::Mask(stay, u)), self.get(Name::Mask(piece.0, u)));
            self.push(change(stay, Binary::Or, piece));
        }
        let round = self.k.end();
        self.add(forever(round));
        for u in 0..self.chunks {
            self.push(set(self.get(Name::Mask(mask, u)), self.get(Name::Mask(stay, u))));
        }
        if !self.pieces.left_for.contains(&own) {
            self.end_block();
            return self.check_length();
        }
        self.push(Code::Goto(done));
        self.end_block();
        self.here(own);
        self.begin();
        if place.version == Version::Together {
            let all: Vec<&Stmt> = stretch.stmts.iter().collect();
            self.part(&all)?;
        }
        // What is proven of lines is not of lanes.
        let known = (take(&mut self.known), take(&mut self.looks_ahead), take(&mut self.next_blocks));
        let made = self.stretch(stretch, Place { version: Version::Own, apart: true, last: false, ..place });
        (self.known, self.looks_ahead, self.next_blocks) = known;
        made?;
        self.end_block();
        self.here(done);
        self.check_length()
    }

    /// True where lanes take quotients of their own: pieces would have few lanes, or the dividend turns out to be no line.
    fn leaves_pieces(&self, (a, b): (Value, Value)) -> Option<Expr> {
        let one = types::one(self.scalar(a));
        let few = int(FEWEST_LANES * self.step_of(a)).cast(one);
        let few = self.known(b).is_none().then(|| self.one(b, 0).lt(few));
        let bent = (0..self.chunks).flat_map(|u| self.rests(a, u)).map(|rest| !rest);
        joined(Binary::Either, few.into_iter().chain(bent))
    }

    /// The lanes of a mask whose quotient is that of the first, as a mask of their own; they are taken out of the mask.
    fn piece(&mut self, pair: (Value, Value), left: u32) -> (u32, Quotient) {
        let (a, b) = pair;
        let (s, step) = (self.scalar(a), self.step_of(a));
        let (one, divisor) = (types::one(s), self.one(b, 0));
        let number = |n: i64| int(n).cast(one.clone());
        let (piece, mut of_chunks) = (self.fresh(), Vec::new());
        for u in 0..self.chunks {
            let mask = self.get(Name::Mask(left, u));
            // A chunk without lanes has some number, which nobody looks at.
            let lane = NumberOp::FirstLane.on([mask.clone()]) & uint(LANES - 1);
            let lane = self.constant_as(format!("lane{piece}_{u}"), ty::U32, lane);
            let first = (self.one(a, u) + lane.clone().cast(one.clone()) * number(step)).cast(one.clone());
            let first = self.constant_as(format!("a{piece}_{u}"), one.clone(), first);
            let quotient = (first.clone() / divisor.clone()).cast(one.clone());
            let quotient = self.constant_as(format!("q{piece}_{u}"), one.clone(), quotient);
            // The lanes up to the next multiple of the divisor: one where numbers are negative or may wrap around.
            let rest = (first.clone() - quotient.clone() * divisor.clone()).cast(one.clone());
            let up_to =
                ((divisor.clone() - rest + number(step - 1)).cast(one.clone()) / number(step)).cast(one.clone());
            let end = (largest(s) - number(step * i64::from(LANES))).cast(one.clone());
            let mut is_alone = first.clone().gt(end);
            if s.is_signed() {
                is_alone = is_alone.either(first.lt(number(0)));
            }
            let most = number(i64::from(LANES));
            let count = up_to.clone().lt(most.clone()).choose(up_to, most);
            let count = is_alone.choose(uint(1), count.cast(ty::U32));
            let lanes = (uint(1).with(Binary::Shl, count) - uint(1)).with(Binary::Shl, lane);
            let lanes = (mask.clone() & lanes).cast(Ty::Mask);
            self.begin_as(Name::Mask(piece, u), Ty::Mask, lanes);
            self.push(change(mask, Binary::And, self.get(Name::Mask(piece, u)).inverted()));
            of_chunks.push(quotient);
        }
        (piece, Quotient { pair, of_chunks })
    }
}
