//! Places of statements: the path to each from the function's body.

use crate::ir::{Block, Function, Stmt, Value};

/// Limit on the steps of all paths together; functions that have more are not analysed.
const MAX_STEPS: usize = 1 << 20;

/// A step of the path to a statement.
#[derive(Debug, Clone, Copy)]
pub struct Level<'f> {
    /// The block.
    pub block: &'f Block,
    /// The number of the statement in the block.
    pub at: usize,
    /// The number of that statement's block which the next step goes into.
    pub side: usize,
}

impl<'f> Level<'f> {
    /// The statement.
    pub fn stmt(&self) -> &'f Stmt {
        &self.block.stmts[self.at]
    }
}

/// A statement's place.
#[derive(Debug, Clone)]
pub struct Place<'f> {
    /// The path there; the last step is the statement's own.
    pub levels: Vec<Level<'f>>,
    /// Conditions that hold there (true) or do not (false).
    pub guards: Vec<(Value, bool)>,
}

/// The relation of two places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// In one block, at that step: true if the first comes before the second.
    Order(usize, bool),
    /// In different blocks of one statement, at that step.
    Sides(usize),
    /// One is the other, or contains it.
    Within,
}

impl<'f> Place<'f> {
    /// The statement.
    pub fn stmt(&self) -> &'f Stmt {
        self.levels[self.last()].stmt()
    }

    /// The number of the last step.
    pub fn last(&self) -> usize {
        self.levels.len() - 1
    }

    /// Its relation to another place.
    pub fn relation(&self, other: &Place<'f>) -> Relation {
        let count = self.levels.len().min(other.levels.len());
        for i in 0..count {
            let (a, b) = (self.levels[i], other.levels[i]);
            if a.at != b.at {
                return Relation::Order(i, a.at < b.at);
            }
            if i + 1 < count && a.side != b.side {
                return Relation::Sides(i);
            }
        }
        Relation::Within
    }

    /// True if both paths take the same steps, up to and including that number, into the same blocks.
    pub fn shares(&self, other: &Place<'f>, level: usize) -> bool {
        self.levels.len() > level + 1
            && other.levels.len() > level + 1
            && (0..=level).all(|i| {
                let (a, b) = (self.levels[i], other.levels[i]);
                a.at == b.at && a.side == b.side
            })
    }

    /// True if the statement holds another.
    pub fn holds(&self, other: &Place<'f>) -> bool {
        let last = self.last();
        other.levels.len() > last + 1
            && (0..last).all(|i| self.same_step(other, i))
            && self.levels[last].at == other.levels[last].at
    }

    /// True if both lie in the statement at that step of this path.
    pub fn both_in(&self, other: &Place<'f>, level: usize) -> bool {
        self.levels.len() > level + 1
            && other.levels.len() > level + 1
            && (level == 0 || self.shares(other, level - 1))
            && self.levels[level].at == other.levels[level].at
    }

    /// True if every path to `other` passes this place: it dominates `other`.
    pub fn is_on_way_to(&self, other: &Place<'f>) -> bool {
        let last = self.last();
        other.levels.len() > last
            && (last == 0 || (0..last).all(|i| self.same_step(other, i)))
            && self.levels[last].at < other.levels[last].at
    }

    fn same_step(&self, other: &Place<'f>, i: usize) -> bool {
        let (a, b) = (self.levels[i], other.levels[i]);
        a.at == b.at && a.side == b.side
    }

    /// True if it is passed in each round of the loop at that step of `other`'s path.
    pub fn is_always_in(&self, other: &Place<'f>, level: usize) -> bool {
        self.both_in(other, level)
            && self.levels[level + 1..self.last()].iter().all(|step| matches!(step.stmt(), Stmt::Scope { .. }))
    }
}

/// The places of the wanted statements; none where there are too many to look at.
pub fn find<'f>(func: &'f Function, wanted: &dyn Fn(&Stmt) -> bool) -> Vec<Place<'f>> {
    let mut finder = Finder { wanted, levels: Vec::new(), guards: Vec::new(), found: Vec::new(), steps: 0 };
    finder.block(&func.body);
    if finder.steps > MAX_STEPS { Vec::new() } else { finder.found }
}

struct Finder<'f, 'w> {
    wanted: &'w dyn Fn(&Stmt) -> bool,
    levels: Vec<Level<'f>>,
    guards: Vec<(Value, bool)>,
    found: Vec<Place<'f>>,
    steps: usize,
}

impl<'f> Finder<'f, '_> {
    fn block(&mut self, block: &'f Block) {
        let guards = self.guards.len();
        for (at, stmt) in block.stmts.iter().enumerate() {
            self.levels.push(Level { block, at, side: 0 });
            if (self.wanted)(stmt) && self.steps <= MAX_STEPS {
                self.steps += self.levels.len();
                self.found.push(Place { levels: self.levels.clone(), guards: self.guards.clone() });
            }
            for (side, inner) in stmt.blocks().into_iter().enumerate() {
                if let Some(level) = self.levels.last_mut() {
                    level.side = side;
                }
                let guard = match stmt {
                    Stmt::If { cond, .. } => Some((*cond, side == 0)),
                    _ => None,
                };
                self.guards.extend(guard);
                self.block(inner);
                self.guards.truncate(self.guards.len() - usize::from(guard.is_some()));
            }
            self.levels.pop();
            if let Stmt::If { cond, then, els } = stmt {
                let leaves = |block: &Block| block.stmts.last().is_some_and(Stmt::is_terminator);
                self.guards.extend(leaves(then).then_some((*cond, false)));
                self.guards.extend(leaves(els).then_some((*cond, true)));
            }
        }
        self.guards.truncate(guards);
    }
}
