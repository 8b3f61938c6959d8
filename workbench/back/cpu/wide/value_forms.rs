//! Forms of values: the shape that each value of a kernel has across 16 neighbouring threads, once the block's extents are known.
//!
//! A *chunk* is 16 threads of consecutive linear index, a *group* a few chunks that run in step. [`Form`] says what has to be computed for
//! a value: one number for the group, one per chunk, the first of a line (of the whole group or of a chunk), or 16 numbers. As in
//! [`crate::pass::uniformity`], the form of a local also depends on the control around its assignments: where the group does not share that
//! control, the local is lanes. Lanes that left by `return` never read a local again.

use std::collections::{HashMap, HashSet};

use super::unsupported::Unsupported;
use crate::back::Dim3;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::facts::split::{LocalHome, SplitPlan, ValueHome};
use crate::ir::{
    BinaryOp, Block, Builtin, Collective, Const, Function, Label, Local, Op, Scalar, Shuffle, Stmt, Type, UnaryOp,
    Value,
};

/// Threads of a chunk.
pub const LANES: u32 = 16;

/// Rounds of the fixpoint over locals before they are all taken to be lanes.
const MAX_ROUNDS: usize = 12;

/// Most conditions that the form of one line may depend on (`Forms::rests`).
const MAX_RESTS: usize = 3;

/// Most operations that are followed to bound a number.
pub const FOLLOWED: u32 = 8;

/// Most threads of a launch in one dimension: launches of more run the tier below. With it indices such as `blockIdx.x * blockDim.x + threadIdx.x`
/// are [`SMALL`].
pub const MOST_THREADS: u64 = 1 << 29;

/// The bound below which numbers of 32 bits do not wrap around from one thread of a block to another.
pub const SMALL: u64 = 1 << 30;

/// The shape of a value across a group of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The same number for all threads.
    Group,
    /// The same number for the threads of a chunk.
    Chunk,
    /// A number that grows by so much from thread to thread of the group, modulo two to the width: integers, and offsets of pointers in
    /// bytes.
    Row(i64),
    /// A row of the threads of one chunk.
    Line(i64),
    /// Any numbers.
    Lanes,
}

impl Form {
    /// True if a chunk has one number.
    pub fn is_one(self) -> bool {
        matches!(self, Form::Group | Form::Chunk)
    }

    fn step(self) -> Option<i64> {
        match self {
            Form::Group | Form::Chunk => Some(0),
            Form::Row(step) | Form::Line(step) => Some(step),
            Form::Lanes => None,
        }
    }

    /// The difference from one thread to the next, if the threads of a chunk are a line that is not one number.
    pub fn slope(self) -> Option<i64> {
        match self {
            Form::Row(step) | Form::Line(step) => Some(step),
            _ => None,
        }
    }

    /// True if one number of the group determines the numbers of all its threads.
    pub fn is_whole(self) -> bool {
        matches!(self, Form::Group | Form::Row(_))
    }

    /// A line with that step, computed from both; with step 0 the form of both together.
    fn line(step: i64, a: Form, b: Form) -> Form {
        match step {
            0 => a.with(b),
            _ if a.is_whole() && b.is_whole() => Form::Row(step),
            _ => Form::Line(step),
        }
    }

    /// The form of a value that is computed from both.
    fn with(self, other: Form) -> Form {
        match (self, other) {
            (Form::Group, Form::Group) => Form::Group,
            (a, b) if a.is_one() && b.is_one() => Form::Chunk,
            _ => Form::Lanes,
        }
    }

    /// The form of a value that is one or the other.
    fn join(self, other: Form) -> Form {
        match (self, other) {
            _ if self == other => self,
            (Form::Row(a) | Form::Line(a), Form::Row(b) | Form::Line(b)) if a == b => Form::Line(a),
            _ => self.with(other),
        }
    }
}

/// A block's extents and their relation to chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    pub block: Dim3,
    /// Most chunks of a group.
    pub chunks: u32,
    /// True if groups run along rows of blocks that are neighbours in x.
    pub spans: bool,
}

impl Geometry {
    pub fn threads(self) -> u32 {
        self.block.x * self.block.y * self.block.z
    }

    /// The form of `threadIdx`.
    pub fn index(self, dim: u8) -> Form {
        let Dim3 { x, y, z } = self.block;
        let even = |n: u32| n.is_multiple_of(LANES);
        let whole = |n: u32| n.is_multiple_of(LANES * self.chunks);
        match dim {
            // Only places are computed from these indices then, and places are rows.
            _ if self.spans => Form::Group,
            0 if x == 1 => Form::Group,
            0 if whole(x) || y * z == 1 => Form::Row(1),
            0 if even(x) => Form::Line(1),
            1 if y == 1 || whole(x) => Form::Group,
            1 if even(x) => Form::Chunk,
            2 if z == 1 || whole(x * y) => Form::Group,
            2 if even(x * y) => Form::Chunk,
            _ => Form::Lanes,
        }
    }
}

/// How quotients and rests of lines by one number are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotients {
    /// By pieces.
    Pieces,
    /// Each lane its own.
    Lanes,
}

/// A dividend and its divisor, which cut the rest of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub pair: (Value, Value),
    /// The depth of the block.
    pub depth: usize,
    /// The place of the first quotient or rest.
    pub place: u32,
}

/// The facts about a function's values.
pub struct Forms<'f> {
    pub(super) func: &'f Function,
    geometry: Geometry,
    pub(super) split: Option<&'f SplitPlan>,
    /// The values that are a thread's place in the long row, for blocks that form one.
    places: Option<&'f HashSet<Value>>,
    /// The form of each value.
    pub values: Vec<Form>,
    /// The form of each local.
    pub locals: Vec<Form>,
    /// The op that defines each value.
    pub ops: Vec<Option<&'f Op>>,
    /// The memory that each pointer points to.
    pub roots: Vec<Root>,
    /// The widenings that each value's form depends on: their operands must not wrap within a chunk for it to be a line, or within the
    /// group for it to be a row.
    pub rests: Vec<Vec<Value>>,
    /// Constructs that lanes leave at different times.
    pub divergent: Vec<bool>,
    local_roots: &'f [Root],
    /// True if a group is a warp whose threads run in step.
    pub(super) in_step: bool,
    known: Vec<bool>,
    /// The places where locals are mentioned, and the loops with an exit.
    pub(super) survey: &'f Survey,
    /// Loops whose rounds all lanes are assumed to do together.
    pub rounds: HashSet<Label>,
    /// The quotients and rests of lines by one number: taken in pieces, or each lane's own.
    pub(super) quotients: Quotients,
    /// The quotients and rests that are taken in pieces.
    pub is_cut: Vec<bool>,
    /// The pairs that the rest of a block around is cut by.
    pub(super) cuts: Vec<Cut>,
    /// True if nothing that follows in the block joins lanes of several pieces.
    pub(super) may_cut: bool,
    /// The number of statements, of the next block, that nothing is cut in: they are made apart from the rest.
    uncut: usize,
    /// True if lanes leave the kernel by a `return` that others do not take.
    leaves: bool,
    /// Locals that are lanes whatever is assigned to them.
    forced: HashSet<Local>,
    /// The blocks around, the outermost first: `Yes` where some of the lanes of the enclosing block may be absent.
    pub(super) varies: Vec<Varies>,
    /// Labels of the constructs around, each with the depth of its body in blocks.
    enclosing: Vec<(Label, usize)>,
    changed: bool,
}

/// The presence of lanes in a block: `No` if all lanes of the enclosing block are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Varies {
    No,
    Yes,
    /// All lanes are present in the rounds of this loop that all of them do.
    Later(Label),
}

/// The mentions of a local, by the places of statements in the text.
#[derive(Debug, Default)]
pub struct Life {
    /// The blocks around all mentions, the outermost first.
    around: Vec<u32>,
    /// The blocks around the first mention, if it sets the local.
    first: Option<Vec<u32>>,
    mentions: Vec<u32>,
}

impl Life {
    /// The depth of the innermost block that holds the local: lanes that diverge outside of that block do not affect it. Its first mention
    /// there has to set it, or a lane may find the value of an earlier visit.
    fn home(&self) -> usize {
        if self.first.as_ref() == Some(&self.around) { self.around.len() } else { 1 }
    }

    /// True if the local lives in what follows a place of a block of that depth: nothing else of the function mentions it, and it is set there first.
    pub(super) fn is_after(&self, depth: usize, place: u32) -> bool {
        let is_set_first = self.first.as_ref() == Some(&self.around);
        is_set_first && self.around.len() >= depth && self.mentions.first().is_some_and(|first| *first > place)
    }
}

/// A loop that lanes leave by its first `if`.
#[derive(Debug)]
struct Candidate {
    label: Label,
    /// The first and the last place in the loop.
    places: (u32, u32),
    /// The depth of the body of the innermost loop around.
    outer: usize,
}

/// The result of a walk over a function.
#[derive(Debug, Default)]
pub struct Survey {
    pub(super) lives: Vec<Life>,
    candidates: Vec<Candidate>,
    /// The places of quotients and rests.
    pub(super) quotients: HashMap<Value, u32>,
}

impl Survey {
    /// Looks at a function.
    pub fn new(func: &Function) -> Self {
        let lives = func.locals.iter().map(|_| Life::default()).collect();
        let mut survey = Survey { lives, candidates: Vec::new(), quotients: HashMap::new() };
        survey.walk(&func.body, &mut Vec::new(), (&mut 0, &mut 0), 0);
        survey
    }

    /// True if there are loops that lanes leave by their first `if`.
    pub fn has_exits(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// True if there are quotients or rests.
    pub fn has_quotients(&self) -> bool {
        !self.quotients.is_empty()
    }

    fn walk(&mut self, block: &Block, path: &mut Vec<u32>, (next, place): (&mut u32, &mut u32), outer: usize) {
        path.push(*next);
        *next += 1;
        for stmt in &block.stmts {
            *place += 1;
            let start = *place;
            if let Stmt::Let(v, Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..)) = stmt {
                self.quotients.insert(*v, start);
            }
            let mention = match stmt {
                Stmt::Set(l, _) => Some((*l, true)),
                Stmt::Let(_, Op::Get(l)) => Some((*l, false)),
                _ => None,
            };
            if let Some((l, sets)) = mention {
                let life = &mut self.lives[l.index()];
                if life.mentions.is_empty() {
                    life.around.clone_from(path);
                    life.first = sets.then(|| path.clone());
                }
                let same = life.around.iter().zip(path.iter()).take_while(|(a, b)| a == b).count();
                life.around.truncate(same);
                life.mentions.push(start);
            }
            let around = if matches!(stmt, Stmt::Loop { .. }) { path.len() + 1 } else { outer };
            for inner in stmt.blocks() {
                self.walk(inner, path, (next, place), around);
            }
            if let Stmt::Loop { label, .. } = stmt
                && first_exit(stmt).is_some()
            {
                self.candidates.push(Candidate { label: *label, places: (start, *place), outer });
            }
        }
        path.pop();
    }

    /// True if a local is not read after a loop before it is set anew.
    fn is_private(&self, l: Local, label: Label) -> bool {
        let Some(candidate) = self.candidates.iter().find(|c| c.label == label) else { return false };
        let (life, (_, end)) = (&self.lives[l.index()], candidate.places);
        life.mentions.last().is_none_or(|last| *last <= end) && life.home() >= candidate.outer
    }
}

/// The only exit of a loop: its first `if`, which nothing but computations may precede. Gives its place in the body, its condition, and the
/// value of the condition for lanes that stay.
pub fn first_exit(stmt: &Stmt) -> Option<(usize, Value, bool)> {
    let Stmt::Loop { label, body, step } = stmt else { return None };
    let at = body.stmts.iter().position(|s| !matches!(s, Stmt::Let(..)))?;
    let Stmt::If { cond, then, els } = &body.stmts[at] else { return None };
    let only = |block: &Block| matches!(block.stmts.as_slice(), [Stmt::Break(l)] if l == label);
    let stays = match (then.is_empty(), els.is_empty()) {
        (true, _) if only(els) => true,
        (_, true) if only(then) => false,
        _ => return None,
    };
    let mut inside = Vec::new();
    let others = body.stmts[at + 1..].iter().chain(&step.stmts).any(|s| escapes(s, *label, &mut inside));
    (!others).then_some((at, *cond, stays))
}

/// True if a statement of a loop may leave it.
fn escapes(stmt: &Stmt, label: Label, inside: &mut Vec<Label>) -> bool {
    match stmt {
        Stmt::Return(_) => true,
        Stmt::Break(l) => !inside.contains(l),
        Stmt::Continue(l) => *l != label && !inside.contains(l),
        other => {
            let own = match other {
                Stmt::Loop { label, .. } | Stmt::Scope { label, .. } | Stmt::Switch { label, .. } => Some(*label),
                _ => None,
            };
            inside.extend(own);
            let found = other.blocks().into_iter().any(|b| b.stmts.iter().any(|s| escapes(s, label, inside)));
            if own.is_some() {
                inside.pop();
            }
            found
        }
    }
}

impl<'f> Forms<'f> {
    /// Analyses a kernel twice: as if all lanes of a group went round its loops together as long as they can, and as it is.
    ///
    /// # Errors
    /// Pointers that this tier does not follow.
    pub fn both(
        func: &'f Function,
        info: &'f FuncInfo,
        geometry: Geometry,
        survey: &'f Survey,
        places: Option<&'f HashSet<Value>>,
        quotients: Quotients,
    ) -> Result<[Self; 2], Unsupported> {
        let solve = |rounds| Forms::solve(func, info, geometry, survey, places, (rounds, quotients, HashSet::new()));
        let apart = solve(HashSet::new())?;
        let divergent = |c: &&Candidate| apart.divergent[c.label.index()];
        let mut rounds: HashSet<Label> = survey.candidates.iter().filter(divergent).map(|c| c.label).collect();
        loop {
            let together = solve(rounds.clone())?;
            // Loops that lanes leave at different times after all, or whose exit condition differs from lane to lane, are removed.
            let mut good = rounds.clone();
            func.body.for_each_stmt(&mut |stmt| {
                if let Stmt::Loop { label, .. } = stmt
                    && let Some((_, cond, _)) = first_exit(stmt)
                    && (together.divergent[label.index()] || !together.is_coherent(cond))
                {
                    good.remove(label);
                }
            });
            if good.len() == rounds.len() {
                return Ok([together, apart]);
            }
            rounds = good;
        }
    }

    /// True if neighbours mostly agree on a condition.
    pub fn is_coherent(&self, cond: Value) -> bool {
        match self.ops[cond.index()] {
            _ if self.form(cond).is_one() => true,
            Some(Op::Compare(_, a, b)) => self.form(*a) != Form::Lanes && self.form(*b) != Form::Lanes,
            Some(Op::Binary(BinaryOp::And | BinaryOp::Or, a, b)) => self.is_coherent(*a) && self.is_coherent(*b),
            Some(Op::Unary(UnaryOp::Not, a)) => self.is_coherent(*a),
            _ => false,
        }
    }

    /// Analyses a kernel: the loops that lanes go round together, how quotients are taken, and the locals that are lanes in any case.
    ///
    /// # Errors
    /// Pointers that this tier does not follow.
    pub(super) fn solve(
        func: &'f Function,
        info: &'f FuncInfo,
        geometry: Geometry,
        survey: &'f Survey,
        places: Option<&'f HashSet<Value>>,
        (rounds, quotients, forced): (HashSet<Label>, Quotients, HashSet<Local>),
    ) -> Result<Self, Unsupported> {
        let values = func.values.len();
        let mut forms = Forms {
            func,
            geometry,
            split: info.split.as_deref(),
            places,
            values: vec![Form::Group; values],
            locals: vec![Form::Group; func.locals.len()],
            ops: vec![None; values],
            roots: vec![Root::Unset; values],
            rests: vec![Vec::new(); values],
            divergent: vec![false; func.labels as usize],
            local_roots: &info.local_root,
            in_step: info.in_step,
            known: vec![false; func.locals.len()],
            survey,
            rounds,
            quotients,
            is_cut: vec![false; values],
            cuts: Vec::new(),
            may_cut: true,
            uncut: 0,
            leaves: false,
            forced,
            varies: Vec::new(),
            enclosing: Vec::new(),
            changed: true,
        };
        for (l, data) in func.locals.iter().enumerate() {
            if let Some(LocalHome::Scratch(..)) = forms.split.map(|s| s.locals[l]) {
                (forms.locals[l], forms.known[l]) = (Form::Lanes, true);
            }
            if data.ty == Type::Ptr && !info.local_root[l].is_known() {
                return Err(Unsupported("a pointer that may point into several arrays"));
            }
        }
        let mut rounds = 0;
        while forms.changed {
            if rounds == MAX_ROUNDS {
                forms.locals.fill(Form::Lanes);
                forms.divergent.fill(true);
            }
            rounds += 1;
            forms.changed = false;
            forms.block(&func.body, Varies::No);
        }
        Ok(forms)
    }

    /// The value of an integer constant.
    pub fn constant(&self, v: Value) -> Option<i64> {
        match self.ops[v.index()] {
            Some(Op::Const(Const::Int(_, n))) => Some(*n),
            Some(Op::Convert(to, a)) if to.is_int() => {
                let n = self.constant(*a)?;
                let back = truncate(*to, n);
                (back == n).then_some(n)
            }
            Some(Op::Builtin(Builtin::BlockDim(d))) => {
                let Dim3 { x, y, z } = self.geometry.block;
                [x, y, z].get(usize::from(*d)).map(|n| i64::from(*n))
            }
            _ => None,
        }
    }

    /// A bound on the absolute value of an integer.
    pub fn magnitude(&self, v: Value, followed: u32) -> u64 {
        let by_type = match self.func.ty(v).scalar() {
            Some(s) if s.bits() < 64 => 1u64 << s.bits(),
            _ => u64::MAX,
        };
        let Some(op) = self.ops[v.index()].filter(|_| followed > 0) else { return by_type };
        let of = |v: &Value| self.magnitude(*v, followed - 1);
        let found = match op {
            Op::Const(Const::Int(_, n)) => Some(n.unsigned_abs()),
            Op::Builtin(Builtin::ThreadIdx(d) | Builtin::BlockDim(d)) => Some(self.extent(*d)),
            Op::Builtin(Builtin::BlockIdx(d) | Builtin::GridDim(d)) => Some(MOST_THREADS / self.extent(*d).max(1)),
            Op::Convert(_, a) if self.func.ty(*a).scalar().is_some_and(|s| !s.is_float()) => {
                let n = of(a);
                // A conversion to a narrower type, or of a negative number to an unsigned one, may give any number.
                (n < by_type || by_type == u64::MAX).then_some(n).filter(|n| self.keeps_value(v, *a, *n))
            }
            Op::Binary(BinaryOp::Add, a, b) => of(a).checked_add(of(b)),
            // An unsigned difference may wrap around.
            Op::Binary(BinaryOp::Sub, a, b) if self.func.ty(v).scalar().is_some_and(|s| s.is_signed()) => {
                of(a).checked_add(of(b))
            }
            Op::Binary(BinaryOp::Mul, a, b) => of(a).checked_mul(of(b)),
            Op::Binary(BinaryOp::Shl, a, b) => {
                self.constant(*b).and_then(|n| of(a).checked_mul(1u64.checked_shl(u32::try_from(n).ok()?)?))
            }
            Op::Binary(BinaryOp::And, a, b) => {
                [*a, *b].into_iter().find_map(|v| self.constant(v)).filter(|n| *n >= 0).map(i64::unsigned_abs)
            }
            // The line of a piece begins with a lane that may not be in it, where an unsigned rest has wrapped around.
            Op::Binary(BinaryOp::Rem, ..)
                if self.is_cut[v.index()] && !self.func.ty(v).scalar().is_some_and(Scalar::is_signed) =>
            {
                None
            }
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, a, _) => Some(of(a)),
            Op::Param(_) | Op::SharedAddr(_) | Op::GlobalAddr(_) if self.func.ty(v) == Type::Ptr => Some(0),
            Op::PtrAdd { ptr, index, stride } => {
                of(index).checked_mul(u64::from(stride.bytes())).and_then(|n| n.checked_add(of(ptr)))
            }
            _ => None,
        };
        found.filter(|n| *n < 1 << 63).map_or(by_type, |n| n.min(by_type))
    }

    /// The extent of blocks in one dimension.
    fn extent(&self, dim: u8) -> u64 {
        let Dim3 { x, y, z } = self.geometry.block;
        u64::from([x, y, z][usize::from(dim.min(2))])
    }

    fn keeps_value(&self, v: Value, a: Value, n: u64) -> bool {
        let (Some(to), Some(from)) = (self.func.ty(v).scalar(), self.func.ty(a).scalar()) else { return false };
        match to.bits() > from.bits() {
            true => to.is_signed() || !from.is_signed(),
            // A small number is the same in both types.
            false => !from.is_signed() && n < 1 << (to.bits() - 1),
        }
    }

    /// Visits a block. `varies`: `Yes` if some of the lanes around it may be absent.
    fn block(&mut self, block: &'f Block, varies: Varies) {
        self.varies.push(varies);
        let (cuts, joins, uncut) = (self.cuts.len(), self.last_join(block), std::mem::take(&mut self.uncut));
        for (i, stmt) in block.stmts.iter().enumerate() {
            self.may_cut = i >= uncut && joins.is_none_or(|last| i > last);
            self.stmt(stmt);
        }
        self.cuts.truncate(cuts);
        self.varies.pop();
    }

    /// True if some of the lanes of the block at that depth may be absent here.
    fn apart(&self, depth: usize) -> bool {
        self.varies.iter().skip(depth).any(|varies| *varies == Varies::Yes)
    }

    /// True if a local that is set here may be set for only some of its lanes.
    fn is_set_apart(&self, l: Local) -> bool {
        let is_cut = self.cuts.iter().any(|cut| !self.survey.lives[l.index()].is_after(cut.depth, cut.place));
        is_cut
            || self.forced.contains(&l)
            || self.varies.iter().skip(self.survey.lives[l.index()].home()).any(|varies| match varies {
                Varies::No => false,
                Varies::Yes => true,
                Varies::Later(label) => !self.survey.is_private(l, *label),
            })
    }

    fn stmt(&mut self, stmt: &'f Stmt) {
        match stmt {
            Stmt::Let(v, op) => {
                let i = v.index();
                self.ops[i] = Some(op);
                self.roots[i] = self.root(op);
                let is_place = self.places.is_some_and(|places| places.contains(v));
                let piece = self.piece(*v, op);
                self.is_cut[i] = piece.is_some();
                let (form, rests) = match piece {
                    _ if is_place => (Form::Row(1), Vec::new()),
                    Some(form) => (form, Vec::new()),
                    None => self.op(*v, op),
                };
                let is_kept = matches!(self.split.map(|s| s.values[i]), Some(ValueHome::Scratch(..)));
                if rests.len() > MAX_RESTS || is_kept && !self.is_kept_as_one(*v, form) {
                    (self.values[i], self.rests[i]) = (Form::Lanes, Vec::new());
                } else {
                    (self.values[i], self.rests[i]) = (form, rests);
                }
            }
            Stmt::Set(l, v) => {
                let unsure = self.is_set_apart(*l) || !self.rests[v.index()].is_empty();
                let form = if unsure { Form::Lanes } else { self.values[v.index()] };
                let i = l.index();
                let joined = if std::mem::replace(&mut self.known[i], true) { self.locals[i].join(form) } else { form };
                self.changed |= self.locals[i] != joined;
                self.locals[i] = joined;
            }
            Stmt::If { cond, then, els } => {
                let varies = if self.values[cond.index()] == Form::Group { Varies::No } else { Varies::Yes };
                self.block(then, varies);
                self.block(els, varies);
            }
            Stmt::Loop { label, body, step } if self.rounds.contains(label) => {
                self.uncut = first_exit(stmt).map_or(0, |(at, ..)| at);
                self.enclosing.push((*label, self.varies.len() + 1));
                for block in [body, step] {
                    self.block(block, Varies::Later(*label));
                }
                self.enclosing.pop();
            }
            Stmt::Loop { label, body, step } => {
                self.uncut = first_exit(stmt).map_or(0, |(at, ..)| at);
                self.construct(*label, &[body, step]);
            }
            Stmt::Scope { label, body } => self.construct(*label, &[body]),
            Stmt::Break(label) | Stmt::Continue(label) => {
                for i in (0..self.enclosing.len()).rev() {
                    let (around, depth) = self.enclosing[i];
                    // The exit of a loop that all lanes leave together does not affect its rounds.
                    let is_exit = around == *label && self.rounds.contains(label) && matches!(stmt, Stmt::Break(_));
                    if self.apart(depth) && !(is_exit && self.varies.len() == depth + 1) {
                        self.changed |= !std::mem::replace(&mut self.divergent[around.index()], true);
                    }
                    if around == *label {
                        break;
                    }
                }
            }
            Stmt::Return(_) => {
                let leaves = self.varies.iter().any(|varies| *varies != Varies::No);
                self.changed |= leaves && !std::mem::replace(&mut self.leaves, true);
            }
            other => {
                if let Some(v) = other.result() {
                    // Among statements with a result, only collectives give one number for all.
                    let is_shared = match other {
                        Stmt::Collective { op, .. } if op.is_block() => true,
                        Stmt::Collective { op, args, .. } => {
                            let is_kept =
                                matches!(self.split.map(|s| s.values[v.index()]), Some(ValueHome::Scratch(..)));
                            self.in_step && !is_kept && self.gives_one(*op, args)
                        }
                        _ => false,
                    };
                    self.values[v.index()] = if is_shared { Form::Group } else { Form::Lanes };
                }
            }
        }
    }

    /// True if other regions find a value in scratch as one number: all threads compute it, so that of a chunk's first is that of all.
    fn is_kept_as_one(&self, v: Value, form: Form) -> bool {
        let all_compute_it = !self.leaves && self.cuts.is_empty() && self.varies.iter().all(|v| *v == Varies::No);
        form.is_one() && all_compute_it && self.func.ty(v).scalar() != Some(Scalar::Bool)
    }

    fn construct(&mut self, label: Label, blocks: &[&'f Block]) {
        self.enclosing.push((label, self.varies.len() + 1));
        for block in blocks {
            self.block(block, if self.divergent[label.index()] { Varies::Yes } else { Varies::No });
        }
        self.enclosing.pop();
    }

    /// True if a collective of a warp gives all its threads one number, and one mask names them all.
    fn gives_one(&self, op: Collective, args: &[Value]) -> bool {
        let is_group = |v: &Value| self.form(*v) == Form::Group;
        match (op, args) {
            (Collective::ActiveMask, _) => true,
            (Collective::Shfl(Shuffle::Idx), [named, _, by, width]) => {
                is_group(named) && is_group(by) && self.constant(*width) == Some(32)
            }
            (Collective::Shfl(_) | Collective::MatchAny, _) => false,
            (_, [named, ..]) => is_group(named),
            _ => false,
        }
    }

    /// The form of the quotient or the rest of a line by a constant that chunks divide: as `threadIdx.x / 32` and `threadIdx.x % 32` are.
    pub(super) fn part_of_line(&self, op: BinaryOp, a: Value, b: Value) -> Option<Form> {
        let is_signed = self.func.ty(a).scalar()?.is_signed();
        let n = self.constant(b).filter(|n| *n > 0)?;
        let (size, is_rest) = match op {
            BinaryOp::Div | BinaryOp::Rem if is_signed && !self.is_natural(a, FOLLOWED) => return None,
            BinaryOp::Div => (n, false),
            BinaryOp::Rem => (n, true),
            BinaryOp::Shr => (1i64.checked_shl(u32::try_from(n).ok()?).filter(|n| *n > 0)?, false),
            BinaryOp::And => (n.checked_add(1).filter(|n| n.count_ones() == 1)?, true),
            _ => return None,
        };
        if !self.rests[a.index()].is_empty() || self.geometry.spans {
            return None;
        }
        let (chunk, group) = (i64::from(LANES), i64::from(LANES * self.geometry.chunks));
        let begins = i64::from(self.multiple(a, FOLLOWED));
        match self.form(a) {
            Form::Row(1) if size % group == 0 && begins % group == 0 => {
                Some(if is_rest { Form::Row(1) } else { Form::Group })
            }
            Form::Row(1) | Form::Line(1) if size % chunk == 0 && begins % chunk == 0 => {
                Some(if is_rest { Form::Line(1) } else { Form::Chunk })
            }
            _ => None,
        }
    }

    /// A power of two of which a line's first number is a multiple in each group.
    fn multiple(&self, v: Value, followed: u32) -> u32 {
        const MOST: u32 = 1 << 12;
        let Some(op) = self.ops[v.index()].filter(|_| followed > 0) else { return 1 };
        if let Some(n) = self.constant(v) {
            return if n == 0 { MOST } else { 1 << n.trailing_zeros().min(12) };
        }
        let of = |v: &Value| self.multiple(*v, followed - 1);
        match op {
            Op::Builtin(Builtin::ThreadIdx(0)) => match self.form(v) {
                Form::Row(1) => LANES * self.geometry.chunks,
                Form::Line(1) => LANES,
                _ => 1,
            },
            Op::Convert(to, a) if to.is_int() && to.bits() >= 32 && !self.is_float(*a) => of(a),
            Op::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => of(a).min(of(b)),
            Op::Binary(BinaryOp::Mul, a, b) => of(a).saturating_mul(of(b)).min(MOST),
            _ => 1,
        }
    }

    fn is_float(&self, v: Value) -> bool {
        self.func.ty(v).scalar().is_none_or(Scalar::is_float)
    }

    /// True if a number is not negative, whatever type it has.
    fn is_natural(&self, v: Value, followed: u32) -> bool {
        let Some(op) = self.ops[v.index()].filter(|_| followed > 0) else { return false };
        let is_small = || self.magnitude(v, FOLLOWED) < 1 << 31;
        match op {
            Op::Const(Const::Int(_, n)) => *n >= 0,
            Op::Builtin(_) => true,
            Op::Convert(_, a) => is_small() && !self.is_float(*a) && self.is_natural(*a, followed - 1),
            Op::Binary(BinaryOp::Add | BinaryOp::Mul, a, b) => {
                is_small() && [a, b].iter().all(|v| self.is_natural(**v, followed - 1))
            }
            _ => false,
        }
    }

    fn root(&self, op: &Op) -> Root {
        match op {
            Op::Const(Const::Null) => Root::Null,
            Op::Param(i) => Root::Param(*i),
            Op::Get(l) => self.local_roots[l.index()],
            Op::SlotAddr(s) => Root::Slot(*s),
            Op::GlobalAddr(g) => Root::Global(*g),
            Op::SharedAddr(m) => Root::Shared(*m),
            Op::PtrAdd { ptr, .. } => self.roots[ptr.index()],
            Op::Select(_, a, b) if self.roots[a.index()] == self.roots[b.index()] => self.roots[a.index()],
            _ => Root::Dynamic,
        }
    }

    pub(super) fn form(&self, v: Value) -> Form {
        self.values[v.index()]
    }

    fn rest_on(&self, a: Value, b: Value) -> Vec<Value> {
        let mut all = self.rests[a.index()].clone();
        all.extend(self.rests[b.index()].iter().filter(|v| !self.rests[a.index()].contains(v)));
        all
    }

    fn op(&self, v: Value, op: &Op) -> (Form, Vec<Value>) {
        let plain = |form| (form, Vec::new());
        let is_int = self.func.ty(v).scalar().is_some_and(|s| s.is_int() && s.bits() >= 32);
        match op {
            Op::Builtin(Builtin::ThreadIdx(d)) => plain(self.geometry.index(*d)),
            Op::Get(l) => plain(self.locals[l.index()]),
            Op::Unary(UnaryOp::Neg | UnaryOp::Not, a) if is_int => match self.form(*a) {
                Form::Row(step) => (Form::Row(step.wrapping_neg()), self.rests[a.index()].clone()),
                Form::Line(step) => (Form::Line(step.wrapping_neg()), self.rests[a.index()].clone()),
                form => plain(form),
            },
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl), a, b) if is_int => {
                let (fa, fb) = (self.form(*a), self.form(*b));
                let (Some(sa), Some(sb)) = (fa.step(), fb.step()) else { return plain(Form::Lanes) };
                let step = match op {
                    BinaryOp::Add => sa.checked_add(sb),
                    BinaryOp::Sub => sa.checked_sub(sb),
                    BinaryOp::Mul if (sa, sb) == (0, 0) => Some(0),
                    BinaryOp::Mul if sa == 0 => self.constant(*a).and_then(|n| sb.checked_mul(n)),
                    BinaryOp::Mul if sb == 0 => self.constant(*b).and_then(|n| sa.checked_mul(n)),
                    BinaryOp::Shl if (sa, sb) == (0, 0) => Some(0),
                    BinaryOp::Shl if sb == 0 => {
                        self.constant(*b).filter(|n| (0..31).contains(n)).and_then(|n| sa.checked_mul(1 << n))
                    }
                    _ => None,
                };
                match step {
                    Some(step) if step.unsigned_abs() < 1 << 31 => match Form::line(step, fa, fb) {
                        form @ (Form::Row(_) | Form::Line(_)) => (form, self.rest_on(*a, *b)),
                        // Lines that cancel out leave nothing but the conditions that they depend on.
                        _ if sa != 0 || sb != 0 => plain(Form::Lanes),
                        form => plain(form),
                    },
                    _ => plain(Form::Lanes),
                }
            }
            Op::Binary(op @ (BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr | BinaryOp::And), a, b)
                if is_int && self.part_of_line(*op, *a, *b).is_some() =>
            {
                plain(self.part_of_line(*op, *a, *b).unwrap_or(Form::Lanes))
            }
            Op::Convert(to, a) => match (self.form(*a), self.func.ty(*a).scalar()) {
                (form, _) if form.is_one() => plain(form),
                (form @ (Form::Row(_) | Form::Line(_)), Some(from)) if is_int && from.is_int() => {
                    let mut rests = self.rests[a.index()].clone();
                    if from.bits() < to.bits() && self.magnitude(*a, FOLLOWED) >= SMALL {
                        rests.push(v);
                    }
                    (form, rests)
                }
                _ => plain(Form::Lanes),
            },
            Op::PtrAdd { ptr, index, stride } => {
                let (fp, fi) = (self.form(*ptr), self.form(*index));
                let step = fp
                    .step()
                    .zip(fi.step())
                    .and_then(|(p, i)| p.checked_add(i.checked_mul(i64::from(stride.bytes()))?));
                match step.filter(|s| s.unsigned_abs() < 1 << 26) {
                    Some(step) => match Form::line(step, fp, fi) {
                        form @ (Form::Row(_) | Form::Line(_)) => (form, self.rest_on(*ptr, *index)),
                        _ if !fp.is_one() || !fi.is_one() => plain(Form::Lanes),
                        form => plain(form),
                    },
                    None => plain(Form::Lanes),
                }
            }
            Op::Select(c, a, b) if self.form(*c).is_one() => {
                let joined = self.form(*a).join(self.form(*b));
                match (self.form(*c), joined) {
                    (Form::Chunk, Form::Group) => plain(Form::Chunk),
                    (Form::Chunk, Form::Row(step)) => (Form::Line(step), self.rest_on(*a, *b)),
                    (_, form @ (Form::Row(_) | Form::Line(_))) => (form, self.rest_on(*a, *b)),
                    (_, form) => plain(form),
                }
            }
            Op::Load { ptr, volatile: false, .. } => plain(match self.form(*ptr) {
                // A thread's own array holds its own numbers.
                form if form.is_one() && !matches!(self.roots[ptr.index()], Root::Slot(_)) => form,
                _ => Form::Lanes,
            }),
            other => {
                let mut form = Form::Group;
                other.for_each_value(|v| form = form.with(self.form(v)));
                plain(form)
            }
        }
    }
}

/// A number as its type has it, extended to 64 bits.
pub fn truncate(s: Scalar, n: i64) -> i64 {
    let drop = 64 - s.bits();
    if s.is_signed() { n << drop >> drop } else { ((n as u64) << drop >> drop) as i64 }
}
