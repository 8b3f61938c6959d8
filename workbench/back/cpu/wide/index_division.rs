//! Quotients and rests of lines by one number, as `i / width` and `i % width` are: threads with the same quotient run together, as a *piece*.
//! In a piece the quotient is one number and the rest a line, so what they index is walked side by side.
//!
//! The rest of the block that the first of them is in is made for whole chunks whose lanes have one quotient, for pieces, and, where the number
//! turns out to be so small that pieces have few lanes, for lanes with quotients of their own.

use std::collections::HashSet;

use super::unsupported::Unsupported;
use super::value_forms::{Cut, Form, Forms, Geometry, Quotients, Survey};
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::split::ValueHome;
use crate::ir::{BinaryOp, Block, Local, Op, Stmt, Value};

/// Fewest lanes of a piece that pay: of fewer, gathers are faster than one run each.
pub const FEWEST_LANES: i64 = 8;

/// Steepest line that is cut. Its ends stay far from the ends of 32 bits.
const STEEPEST: i64 = 1 << 16;

/// Most pairs that cut the same statements, each inside the pieces of those before.
const MAX_CUTS: usize = 4;

/// Rounds until the forms of two versions agree on their locals.
const MAX_ROUNDS: usize = 4;

impl<'f> Forms<'f> {
    /// The place of the last statement in a block at which lanes of several pieces would meet.
    pub(super) fn last_join(&self, block: &Block) -> Option<usize> {
        if !self.in_step {
            return None;
        }
        block.stmts.iter().rposition(|stmt| {
            let mut joins = matches!(stmt, Stmt::Collective { .. });
            for inner in stmt.blocks() {
                inner.for_each_stmt(&mut |s| joins |= matches!(s, Stmt::Collective { .. }));
            }
            joins
        })
    }

    /// The form of a quotient or rest that is taken by pieces; notes what it cuts.
    pub(super) fn piece(&mut self, v: Value, op: &Op) -> Option<Form> {
        let Op::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) = op else { return None };
        let is_int = self.func.ty(v).scalar().is_some_and(|s| s.is_int() && s.bits() >= 32);
        let step = self.form(*a).slope().filter(|step| (1..=STEEPEST).contains(step))?;
        let fits = is_int && self.may_cut && self.form(*b) == Form::Group && self.part_of_line(*op, *a, *b).is_none();
        let is_large = self.constant(*b).is_none_or(|n| n >= FEWEST_LANES * step);
        // Another region would take it anew, where nothing is cut.
        let is_own = self.split.is_none_or(|plan| plan.values[v.index()] == ValueHome::Region);
        if !fits || !is_large || !is_own {
            return None;
        }
        let pair = (*a, *b);
        if self.cuts.iter().all(|cut| cut.pair != pair) {
            // The conditions of a line are the same in all pieces of the first pair alone.
            if self.cuts.len() >= MAX_CUTS || !self.cuts.is_empty() && !self.rests[a.index()].is_empty() {
                return None;
            }
            let place = *self.survey.quotients.get(&v)?;
            self.cuts.push(Cut { pair, depth: self.varies.len(), place });
        }
        match (self.quotients, op) {
            (Quotients::Lanes, _) => None,
            (_, BinaryOp::Div) => Some(Form::Chunk),
            _ => Some(Form::Line(step)),
        }
    }

    /// True if anything is taken by pieces.
    fn has_cuts(&self) -> bool {
        self.is_cut.contains(&true)
    }

    fn lanes(&self) -> HashSet<Local> {
        let all = self.locals.iter().enumerate();
        all.filter(|(_, form)| **form == Form::Lanes).map(|(i, _)| Local::new(i)).collect()
    }

    /// Analyses a kernel by pieces: as [`Forms::both`] does, and for lanes that each take quotients of their own. `None` for the last where
    /// nothing is taken by pieces.
    ///
    /// # Errors
    /// Pointers that this tier does not follow.
    pub fn by_pieces(
        func: &'f crate::ir::Function,
        info: &'f FuncInfo,
        geometry: Geometry,
        survey: &'f Survey,
        places: Option<&'f HashSet<Value>>,
        quotients: Quotients,
    ) -> Result<([Self; 2], Option<Self>), Unsupported> {
        let [together, mut apart] = Forms::both(func, info, geometry, survey, places, quotients)?;
        if !together.has_cuts() && !apart.has_cuts() {
            return Ok(([together, apart], None));
        }
        // Lanes on their own and lanes with their own quotients share their locals.
        let solve =
            |quotients, forced| Forms::solve(func, info, geometry, survey, places, (HashSet::new(), quotients, forced));
        let mut forced: HashSet<Local> = together.lanes().union(&apart.lanes()).copied().collect();
        for _ in 0..MAX_ROUNDS {
            let own = solve(Quotients::Lanes, forced.clone())?;
            forced.extend(own.lanes());
            apart = solve(Quotients::Pieces, forced.clone())?;
            let differ = (0..own.locals.len()).filter(|l| own.locals[*l] != apart.locals[*l]).map(Local::new);
            let differ: Vec<Local> = differ.collect();
            if differ.is_empty() {
                return Ok(([together, apart], Some(own)));
            }
            forced.extend(differ);
        }
        Ok((Forms::both(func, info, geometry, survey, places, Quotients::Lanes)?, None))
    }
}
