//! Constant folding, copies, common subexpressions, branches on constants, small `if`s as selections, and dead code, in two linear walks.
//!
//! Forward: operands that are copies are replaced by their originals; ops on constants are computed (by the rules of [`crate::ir`], see
//! `ir::eval`); a `Get` of a local whose value is known becomes that value; an `If` or `Switch` on a constant becomes the side it takes; a
//! `Scope` that nothing breaks out of is dissolved; statements after a jump are removed; an op that was computed already is not computed
//! again ([`number`]). Backward: [`dead`] removes statements whose results nothing reads.
//!
//! An op that may fault is never removed, moved or computed: loads stay, and divisions stay unless their divisor is harmless.

mod dead;
mod number;
mod simplify;

use crate::ir::{Block, Case, Const, Function, Local, MathFn, Op, Stmt, Type, Value, ValueData};
use crate::source::Span;

pub(crate) use dead::locals as drop_locals;
use number::Numbers;
use simplify::{KnownValues, Simple};

/// The limit on ops of an `if`'s two sides, if both sides are to be computed always.
const SELECT_OPS: usize = 4;

/// Folds a function in place.
pub fn run(func: &mut Function) {
    let body = std::mem::take(&mut func.body);
    let mut folder = Folder {
        aliases: (0..func.values.len()).map(Value::new).collect(),
        known: KnownValues {
            types: func.values.iter().map(|data| data.ty).collect(),
            consts: vec![None; func.values.len()],
            made: vec![None; func.values.len()],
        },
        held: vec![None; func.locals.len()],
        numbers: Numbers::default(),
        undo: Vec::new(),
        sets: Vec::new(),
        breaks: vec![0; func.labels as usize],
        func,
    };
    let mut body = folder.block(body);
    if let Some(Stmt::Return(None)) = body.stmts.last() {
        body.stmts.pop();
        body.spans.pop();
    }
    func.body = body;
    dead::run(func);
}

struct Folder<'a> {
    func: &'a mut Function,
    /// The value that each value is a copy of; itself for most.
    aliases: Vec<Value>,
    known: KnownValues,
    /// The value that each local is known to hold here; that value is visible here.
    held: Vec<Option<Value>>,
    /// The ops computed on every path to here, by number.
    numbers: Numbers,
    /// The log that undoes changes of `held`, newest last.
    undo: Vec<(Local, Option<Value>)>,
    /// Every local set so far, in order, with repetitions.
    sets: Vec<Local>,
    /// The number of `Break`s written out for each label.
    breaks: Vec<u32>,
}

impl Folder<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::default();
        let mark = self.numbers.mark();
        for (stmt, span) in block.stmts.into_iter().zip(block.spans) {
            self.stmt(&mut out, stmt, span);
            if self.ends(&out) {
                break;
            }
        }
        self.numbers.forget(mark);
        out
    }

    /// True if the end of a block is never reached.
    fn ends(&self, block: &Block) -> bool {
        block.stmts.last().is_some_and(|stmt| match stmt {
            Stmt::If { then, els, .. } => self.ends(then) && self.ends(els),
            Stmt::Loop { label, .. } => self.breaks[label.index()] == 0,
            other => other.is_terminator(),
        })
    }

    fn stmt(&mut self, out: &mut Block, mut stmt: Stmt, span: Span) {
        stmt.map_values(|v| self.aliases[v.index()]);
        match stmt {
            Stmt::Let(v, op) => self.let_op(out, v, op, span),
            Stmt::Set(l, v) => {
                if self.held[l.index()] != Some(v) {
                    self.hold(l, Some(v));
                    self.sets.push(l);
                    out.push(Stmt::Set(l, v), span);
                }
            }
            Stmt::If { cond, then, els } => match self.known.consts[cond.index()] {
                Some(Const::Bool(taken)) => {
                    let taken = self.block(if taken { then } else { els });
                    splice(out, taken);
                }
                _ => self.if_stmt(out, cond, then, els, span),
            },
            Stmt::Loop { label, body, step } => {
                self.forget_sets(&[&body, &step]);
                let mark = self.undo.len();
                let body = self.block(body);
                self.rewind(mark);
                let step = self.block(step);
                self.rewind(mark);
                out.push(Stmt::Loop { label, body, step }, span);
            }
            Stmt::Switch { label, value, cases } => {
                if let Some(Const::Int(_, bits)) = self.known.consts[value.index()] {
                    return self.stmt(out, Stmt::Scope { label, body: taken_case(cases, bits) }, span);
                }
                let bodies: Vec<&Block> = cases.iter().map(|c| &c.body).collect();
                self.forget_sets(&bodies);
                let mark = self.undo.len();
                let mut fold = |case: Case| {
                    let body = self.block(case.body);
                    self.rewind(mark);
                    Case { body, ..case }
                };
                let cases = cases.into_iter().map(&mut fold).collect();
                out.push(Stmt::Switch { label, value, cases }, span);
            }
            Stmt::Scope { label, body } => {
                let (mark, sets) = (self.undo.len(), self.sets.len());
                let mut body = self.block(body);
                self.breaks[label.index()] -= strip_trailing(&mut body, &Stmt::Break(label));
                self.rewind(mark);
                self.forget_since(sets);
                match self.breaks[label.index()] {
                    0 => splice(out, body),
                    _ => out.push(Stmt::Scope { label, body }, span),
                }
            }
            Stmt::Assert { cond, .. } if self.known.consts[cond.index()] == Some(Const::Bool(true)) => {}
            Stmt::Break(label) => {
                self.breaks[label.index()] += 1;
                out.push(stmt, span);
            }
            other => out.push(other, span),
        }
    }

    fn let_op(&mut self, out: &mut Block, v: Value, op: Op, span: Span) {
        let simple = match &op {
            Op::Get(l) => self.held[l.index()].map_or(Simple::Same, Simple::Alias),
            other => self.known.simplify(other),
        };
        let op = match simple {
            Simple::Alias(w) => {
                self.aliases[v.index()] = w;
                return;
            }
            Simple::Const(c) => {
                self.known.consts[v.index()] = Some(c);
                Op::Const(c)
            }
            Simple::Op(op) => op,
            Simple::Same => op,
        };
        if let Some(same) = self.numbers.find(&op, v) {
            self.aliases[v.index()] = same;
            return;
        }
        if let Op::Convert(..) | Op::Unary(..) = op {
            self.known.made[v.index()] = Some(op.clone());
        }
        // The local is known to hold the value that was read, from here until it is set.
        if let Op::Get(l) = op {
            self.hold(l, Some(v));
        }
        out.push(Stmt::Let(v, op), span);
    }

    fn if_stmt(&mut self, out: &mut Block, cond: Value, then: Block, els: Block, span: Span) {
        let mark = self.undo.len();
        let start = self.sets.len();
        let then = self.block(then);
        self.rewind(mark);
        let middle = self.sets.len();
        let els = self.block(els);
        self.rewind(mark);
        if let Some((local, value)) = self.select(out, cond, &then, &els) {
            self.hold(local, Some(value));
            return;
        }
        // A side that jumps away has no effect on what is known here; the construct that it jumps to forgets.
        let (then_ends, els_ends) = (self.ends(&then), self.ends(&els));
        let all: Vec<Local> = self.sets[start..].to_vec();
        for (i, local) in all.into_iter().enumerate() {
            if !(if start + i < middle { then_ends } else { els_ends }) {
                self.hold(local, None);
            }
        }
        if !then.is_empty() || !els.is_empty() {
            out.push(Stmt::If { cond, then, els }, span);
        }
    }

    /// `if (c) l = a; else l = b;` with cheap, harmless sides, as straight-line code; gives the value that `l` then holds.
    fn select(&mut self, out: &mut Block, cond: Value, then: &Block, els: &Block) -> Option<(Local, Value)> {
        let (then_local, then_value) = only_set(then)?;
        let els_set = only_set(els);
        if els_set.is_none() && !els.is_empty() || els_set.is_some_and(|(local, _)| local != then_local) {
            return None;
        }
        if then.stmts.len() + els.stmts.len() > SELECT_OPS + 1 + usize::from(els_set.is_some()) {
            return None;
        }
        let (local, set) = (then_local, then.spans[then.spans.len() - 1]);
        for (stmt, span) in then.iter().chain(els.iter()).filter(|(s, _)| matches!(s, Stmt::Let(..))) {
            out.push(stmt.clone(), span);
        }
        let els_value = match els_set {
            Some((_, value)) => value,
            None => match self.held[local.index()] {
                Some(value) => value,
                None => self.append(out, self.func.locals[local.index()].ty, Op::Get(local), set),
            },
        };
        let value = match then_value == els_value {
            true => then_value,
            false => {
                let op = Op::Select(cond, then_value, els_value);
                self.append(out, self.func.locals[local.index()].ty, op, set)
            }
        };
        out.push(Stmt::Set(local, value), set);
        Some((local, value))
    }

    fn append(&mut self, out: &mut Block, ty: Type, op: Op, span: Span) -> Value {
        self.func.values.push(ValueData { ty, span });
        self.known.types.push(ty);
        self.known.consts.push(None);
        self.known.made.push(None);
        let v = Value::new(self.func.values.len() - 1);
        self.aliases.push(v);
        out.push(Stmt::Let(v, op), span);
        v
    }

    fn hold(&mut self, l: Local, value: Option<Value>) {
        let old = std::mem::replace(&mut self.held[l.index()], value);
        if old != value {
            self.undo.push((l, old));
        }
    }

    fn rewind(&mut self, mark: usize) {
        while self.undo.len() > mark
            && let Some((l, old)) = self.undo.pop()
        {
            self.held[l.index()] = old;
        }
    }

    /// Forgets every local set since the log had that length.
    fn forget_since(&mut self, start: usize) {
        for i in start..self.sets.len() {
            self.hold(self.sets[i], None);
        }
    }

    /// Forgets every local that the blocks set, and appends them to the log, for the enclosing constructs.
    fn forget_sets(&mut self, blocks: &[&Block]) {
        let start = self.sets.len();
        for block in blocks {
            block.for_each_stmt(&mut |stmt| {
                if let Stmt::Set(l, _) = stmt {
                    self.sets.push(*l);
                }
            });
        }
        self.forget_since(start);
    }
}

fn splice(out: &mut Block, block: Block) {
    out.stmts.extend(block.stmts);
    out.spans.extend(block.spans);
}

/// The block that a switch over that constant runs, cases it falls into included.
fn taken_case(cases: Vec<Case>, bits: i64) -> Block {
    let hit = cases.iter().position(|c| c.values.contains(&bits)).or(cases.iter().position(|c| c.default));
    let mut body = Block::default();
    for case in cases.into_iter().skip(hit.unwrap_or(usize::MAX)) {
        splice(&mut body, case.body);
        if !case.falls_through {
            break;
        }
    }
    body
}

/// Removes a jump to where the block's end leads anyway; gives the number removed.
fn strip_trailing(block: &mut Block, jump: &Stmt) -> u32 {
    match block.stmts.last_mut() {
        Some(last) if last == jump => {
            block.stmts.pop();
            block.spans.pop();
            1
        }
        Some(Stmt::If { then, els, .. }) => strip_trailing(then, jump) + strip_trailing(els, jump),
        _ => 0,
    }
}

/// The `Set` at the end of a block that otherwise only computes cheap and harmless ops.
fn only_set(block: &Block) -> Option<(Local, Value)> {
    let (last, rest) = block.stmts.split_last()?;
    let Stmt::Set(local, value) = last else { return None };
    rest.iter().all(|s| matches!(s, Stmt::Let(_, op) if is_cheap(op))).then_some((*local, *value))
}

/// True if an op costs about as much as the branch it replaces, and never faults.
fn is_cheap(op: &Op) -> bool {
    use crate::ir::BinaryOp;
    match op {
        Op::Load { .. } | Op::IntToPtr(_) => false,
        Op::Binary(op, ..) => !matches!(op, BinaryOp::Div | BinaryOp::Rem),
        Op::Math(func, _) => matches!(func, MathFn::Fabs | MathFn::Fmin | MathFn::Fmax | MathFn::Copysign),
        _ => true,
    }
}
