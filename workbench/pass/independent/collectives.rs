//! Collectives that lanes may come to at different places.
//!
//! A collective behind a divergent condition acts on the lanes that are there. Nothing more is needed where its mask names no other lanes:
//! either the mask was computed where the same lanes were together, or mask and condition are known for each lane. Any other collective may
//! have to wait for lanes elsewhere: lanes that went another way may reach the same operation with the same mask before a barrier of the
//! block.

use std::collections::HashMap;

use super::joins_block;
use super::lanes::{LANES, Tables};
use super::places::{self, Place, Relation};
use super::shapes::Shapes;
use crate::ir::{BinaryOp, Collective, CompareOp, Function, Local, Op, Stmt, UnaryOp, Value};

/// The number of collectives up to which a function is analysed.
const MAX: usize = 2000;

/// Deepest operation that a mask is followed through.
const MAX_DEPTH: usize = 16;

/// The point at which lanes diverge.
#[derive(Debug, Clone, Copy)]
enum Parting {
    /// At the condition at that step.
    If(usize),
    /// Some leave the loop at that step before others.
    Left(usize),
    /// Some jump out of the construct at step `to`, or to its next round, by the statement `at` of the block at step `from`.
    Jump { to: usize, again: bool, from: usize, at: usize },
}

impl Parting {
    /// The step at whose statement lanes are apart.
    fn level(self) -> usize {
        match self {
            Parting::If(i) | Parting::Left(i) | Parting::Jump { to: i, .. } => i,
        }
    }
}

/// A collective that names lanes which may not be there.
struct Open<'p, 'f> {
    place: &'p Place<'f>,
    partings: Vec<Parting>,
    op: Collective,
    /// The size of the operand in bytes.
    size: u32,
    /// The mask, where it is the same for all.
    mask: Option<u32>,
}

fn op_of<'f>(place: &Place<'f>) -> Option<(Collective, &'f [Value], Option<Value>)> {
    match place.stmt() {
        Stmt::Collective { op, args, result } => Some((*op, args, *result)),
        _ => None,
    }
}

/// True if lanes of a warp may have to meet at different collectives, or in different rounds.
pub fn may_meet(func: &Function) -> bool {
    let joins =
        |stmt: &Stmt| matches!(stmt, Stmt::Collective { op, .. } if !op.is_block() && *op != Collective::ActiveMask);
    let mut any = false;
    func.body.for_each_stmt(&mut |stmt| any |= joins(stmt));
    if !any {
        return false;
    }
    let all = places::find(func, &|stmt| matches!(stmt, Stmt::Collective { .. } | Stmt::Barrier(_)));
    let warps: Vec<&Place<'_>> = all.iter().filter(|place| joins(place.stmt()) && place.last() > 0).collect();
    if warps.is_empty() || warps.len() > MAX {
        return false;
    }
    let barriers: Vec<&Place<'_>> = all.iter().filter(|place| joins_block(place.stmt())).collect();
    let mut finder = Finder { func, tables: Tables::new(func), shapes: HashMap::new(), all: &all };
    let open: Vec<Open<'_, '_>> = warps.iter().filter_map(|place| finder.open(place)).collect();
    open.iter().any(|one| open.iter().any(|other| meets(one, other, &barriers)))
}

struct Finder<'p, 'f> {
    func: &'f Function,
    tables: Tables<'f>,
    /// Shapes by the size of a group, and by the group's mask if its place alone does not decide the group.
    shapes: HashMap<(u32, Option<Value>), Shapes>,
    all: &'p [Place<'f>],
}

impl<'p, 'f> Finder<'p, 'f> {
    /// A collective, if it may name lanes that are not there.
    fn open(&mut self, place: &'p Place<'f>) -> Option<Open<'p, 'f>> {
        let (op, args, _) = op_of(place)?;
        let masks = self.tables.masks(args[0]);
        let group = masks.as_ref().map_or(LANES as u32, |masks| group(masks));
        let func = self.func;
        // Lanes that name one another have the same mask, and so the same values computed from it.
        let (mut shared, mut kept) = (Vec::new(), Vec::new());
        self.copies(args[0], &mut shared, &mut kept);
        let key = (group, shared.last().copied());
        let shapes = self.shapes.entry(key).or_insert_with(|| Shapes::new(func, group, &shared, &kept));
        let partings = partings(func, place, shapes);
        if partings.is_empty() || self.is_exact(place, &partings, masks.as_deref()) {
            return None;
        }
        if self.names_own(args[0], place, &partings, 0) {
            return None;
        }
        let first = masks.as_ref().map(|masks| masks[0]);
        let mask = first.filter(|first| masks.iter().flatten().all(|mask| mask == first));
        let size = args.get(1).and_then(|v| self.func.ty(*v).scalar()).map_or(0, |scalar| scalar.size());
        Some(Open { place, partings, op, size, mask })
    }

    /// The values and locals that a mask is a copy of, the first of them last.
    fn copies(&self, mask: Value, values: &mut Vec<Value>, locals: &mut Vec<Local>) {
        let mut from = Some(mask);
        while let Some(v) = from.filter(|_| values.len() < MAX_DEPTH) {
            values.push(v);
            from = match self.tables.op(v) {
                Some(Op::Convert(_, a) | Op::Bitcast(_, a)) => Some(*a),
                Some(Op::Get(l)) => match self.tables.sets[l.index()][..] {
                    [only] => {
                        locals.push(*l);
                        Some(only)
                    }
                    _ => None,
                },
                _ => None,
            };
        }
    }

    /// True if mask and conditions are known for each lane, and the mask names only lanes that are there.
    fn is_exact(&self, place: &Place<'f>, partings: &[Parting], masks: Option<&[u32]>) -> bool {
        let Some(masks) = masks else { return false };
        let mut live = vec![true; masks.len()];
        for parting in partings {
            let Parting::If(i) = parting else { return false };
            let (Stmt::If { cond, .. }, side) = (place.levels[*i].stmt(), place.levels[*i].side) else { return false };
            let Some(truth) = self.tables.truth(*cond) else { return false };
            live.iter_mut().zip(truth).for_each(|(live, holds)| *live &= holds == (side == 0));
        }
        let warps = live.chunks(LANES).zip(masks.chunks(LANES));
        let exact = |live: &[bool], masks: &[u32]| {
            let there = live.iter().enumerate().fold(0u32, |bits, (l, live)| bits | u32::from(*live) << l);
            live.iter().zip(masks).all(|(live, mask)| !live || mask & !there == 0)
        };
        warps.into_iter().all(|(live, masks)| exact(live, masks))
    }

    /// True if a mask was computed from votes of the lanes where the same lanes were together.
    fn names_own(&self, mask: Value, place: &Place<'f>, partings: &[Parting], depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let follow = |v: Value| self.names_own(v, place, partings, depth + 1);
        match self.tables.made[mask.index()] {
            Some(Stmt::Let(_, op)) => match op {
                Op::Binary(BinaryOp::And, a, b) => follow(*a) || follow(*b),
                Op::Convert(_, a) | Op::Bitcast(_, a) => follow(*a),
                Op::Select(_, a, b) => follow(*a) && follow(*b),
                Op::Get(l) => {
                    let sets = &self.tables.sets[l.index()];
                    !sets.is_empty() && sets.iter().all(|v| follow(*v))
                }
                _ => false,
            },
            Some(Stmt::Collective { op, .. }) => {
                let asks = matches!(
                    op,
                    Collective::ActiveMask | Collective::Ballot | Collective::MatchAny | Collective::MatchAll
                );
                let from = self.all.iter().find(|other| op_of(other).is_some_and(|(_, _, v)| v == Some(mask)));
                asks && from.is_some_and(|from| partings.iter().all(|p| self.is_behind(from, place, *p)))
            }
            _ => false,
        }
    }

    /// True if lanes had already diverged at `from`, where the mask was computed, or if the condition they diverge on is the one they voted
    /// on there.
    fn is_behind(&self, from: &Place<'f>, place: &Place<'f>, parting: Parting) -> bool {
        if !from.is_on_way_to(place) {
            return false;
        }
        let said = match op_of(from) {
            Some((Collective::Ballot, args, _)) => args.get(1).copied(),
            _ => None,
        };
        let is_said = |cond: Value, holds: bool| {
            said.is_some_and(|said| if holds { self.agree(said, cond) } else { self.oppose(said, cond, 0) })
        };
        match parting {
            Parting::If(i) => match place.levels[i].stmt() {
                Stmt::If { cond, .. } if from.last() <= i => is_said(*cond, place.levels[i].side == 0),
                _ => from.shares(place, i),
            },
            Parting::Left(i) => from.shares(place, i),
            Parting::Jump { from: level, at, .. } => {
                let behind = from.levels.len() > level
                    && (level == 0 || from.shares(place, level - 1))
                    && from.levels[level].at > at;
                let leaves = || match &place.levels[level].block.stmts[at] {
                    Stmt::If { cond, then, els } => match (then.is_empty(), els.is_empty()) {
                        (false, true) => is_said(*cond, false),
                        (true, false) => is_said(*cond, true),
                        _ => false,
                    },
                    _ => false,
                };
                behind || leaves()
            }
        }
    }

    /// True if two conditions are the same.
    fn agree(&self, a: Value, b: Value) -> bool {
        let same = || self.tables.op(a).zip(self.tables.op(b)).is_some_and(|(a, b)| a == b && !reads(a));
        let truth = |v| self.tables.truth(v);
        a == b || same() || truth(a).is_some_and(|a| truth(b) == Some(a))
    }

    /// True if one condition holds where the other does not.
    fn oppose(&self, a: Value, b: Value, depth: usize) -> bool {
        let not = |v: Value| match self.tables.op(v) {
            Some(Op::Unary(UnaryOp::Not, of)) => Some(*of),
            _ => None,
        };
        let opposite = match (self.tables.op(a), self.tables.op(b)) {
            (Some(Op::Compare(op, a, b)), Some(Op::Compare(other, c, d))) => {
                // Two comparisons of floats are never opposites.
                let is_int = self.func.ty(*a).scalar().is_some_and(|s| !s.is_float());
                a == c && b == d && is_int && inverse(*op) == *other
            }
            _ => false,
        };
        let truth = |v| self.tables.truth(v);
        let known = || truth(a).zip(truth(b)).is_some_and(|(a, b)| a.iter().zip(&b).all(|(a, b)| a != b));
        opposite
            || not(a).is_some_and(|of| self.agree(of, b))
            || not(b).is_some_and(|of| self.agree(a, of))
            || depth == 0 && known()
    }
}

fn reads(op: &Op) -> bool {
    matches!(op, Op::Load { .. } | Op::Get(_))
}

fn inverse(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
    }
}

/// The size of the smallest groups of neighbouring lanes such that no lane names a lane of another group.
fn group(masks: &[u32]) -> u32 {
    let fits = |size: usize| {
        masks.iter().enumerate().all(|(t, mask)| {
            let (lane, own) = (t % LANES, u32::MAX >> (LANES - size));
            let group = own << (lane / size * size);
            mask >> lane & 1 == 0 || mask & !group == 0
        })
    };
    [2usize, 4, 8, 16].into_iter().find(|size| fits(*size)).unwrap_or(LANES) as u32
}

/// The points at which lanes of a group diverge on the way to a place.
fn partings(func: &Function, place: &Place<'_>, shapes: &Shapes) -> Vec<Parting> {
    let mut found = Vec::new();
    let mut labels: Vec<(usize, usize)> = Vec::new();
    let mut jumps = Vec::new();
    for (i, level) in place.levels.iter().enumerate() {
        if func.labels > 0 {
            for (at, stmt) in level.block.stmts.iter().enumerate().take(level.at) {
                if stmt.blocks().is_empty() {
                    continue;
                }
                jumps.clear();
                shapes.jumps(stmt, &mut jumps);
                for (label, again) in &jumps {
                    if let Some((_, to)) = labels.iter().rfind(|(known, _)| known == label) {
                        found.push(Parting::Jump { to: *to, again: *again, from: i, at });
                    }
                }
            }
        }
        if i == place.last() {
            break;
        }
        match level.stmt() {
            Stmt::If { cond, .. } if !shapes.is_same(*cond) => found.push(Parting::If(i)),
            Stmt::Loop { label, .. } => {
                if shapes.left[label.index()] {
                    found.push(Parting::Left(i));
                }
                labels.push((label.index(), i));
            }
            Stmt::Scope { label, .. } | Stmt::Switch { label, .. } => labels.push((label.index(), i)),
            _ => {}
        }
    }
    found
}

/// True if lanes that do not come to one collective may come to another instead, while the lanes at the first wait.
fn meets(one: &Open<'_, '_>, other: &Open<'_, '_>, barriers: &[&Place<'_>]) -> bool {
    let is_alike = one.op == other.op && one.size == other.size;
    let is_possible = one.mask.is_none() || other.mask.is_none() || one.mask == other.mask;
    is_alike && is_possible && one.partings.iter().any(|p| reaches(one.place, *p, other.place, barriers))
}

/// True if lanes that diverge from those at `from` come to `to` before a barrier.
fn reaches<'f>(from: &Place<'f>, parting: Parting, to: &Place<'f>, barriers: &[&Place<'f>]) -> bool {
    let level = parting.level();
    let found = match from.relation(to) {
        Relation::Sides(i) => matches!(parting, Parting::If(at) if at == i),
        Relation::Order(i, true) if i <= level => !barriers.iter().any(|barrier| {
            let is_between = matches!(from.relation(barrier), Relation::Order(j, true) if j <= level);
            is_between && barrier.is_on_way_to(to)
        }),
        _ => false,
    };
    let again = |i: usize| {
        let is_round = matches!(from.levels[i].stmt(), Stmt::Loop { .. })
            && (i < level || matches!(parting, Parting::Jump { again: true, to, .. } if to == i));
        is_round && from.both_in(to, i) && !barriers.iter().any(|barrier| barrier.is_always_in(from, i))
    };
    found || (0..=level).any(again)
}
