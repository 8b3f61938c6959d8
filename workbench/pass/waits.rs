//! Loops that may wait for other threads: the loop has a way out, and every way out depends on the result of an atomic or a volatile read,
//! so that nothing the thread does by itself ends it.

use crate::ir::{Block, Function, Label, Op, Stmt};

/// True for each label of such a loop.
pub fn find(func: &Function) -> Vec<bool> {
    let mut waits = vec![false; func.labels as usize];
    let mut any = false;
    func.body.for_each_stmt(&mut |stmt| any |= reads_others(stmt));
    if !any {
        return waits;
    }
    let mut facts = WaitFacts { values: vec![false; func.values.len()], locals: vec![false; func.locals.len()] };
    while facts.block(&func.body, false) {}
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Loop { label, body, step } = stmt {
            let mut ways = Ways { facts: &facts, label: *label, any: false, all: true };
            for block in [body, step] {
                ways.block(block, false, &mut Vec::new());
            }
            if let Some(place) = waits.get_mut(label.index()) {
                *place = ways.any && ways.all;
            }
        }
    });
    waits
}

/// True for each label of a loop that looks at what other threads do, or that may do so in a function that it calls.
pub fn looks(func: &Function) -> Vec<bool> {
    let mut looks = vec![false; func.labels as usize];
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Loop { label, body, step } = stmt {
            let mut any = false;
            let mut look = |stmt: &Stmt| any |= reads_others(stmt) || matches!(stmt, Stmt::Call { .. });
            [body, step].into_iter().for_each(|block| block.for_each_stmt(&mut look));
            if let Some(place) = looks.get_mut(label.index()) {
                *place = any;
            }
        }
    });
    looks
}

fn reads_others(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Atomic { .. } | Stmt::Let(_, Op::Load { volatile: true, .. }))
}

/// The values and locals that depend on other threads.
struct WaitFacts {
    values: Vec<bool>,
    locals: Vec<bool>,
}

impl WaitFacts {
    /// One round over a block; `inside` is true if other threads decide whether the block runs. True if a fact was found.
    fn block(&mut self, block: &Block, inside: bool) -> bool {
        let mut changed = false;
        for stmt in &block.stmts {
            match stmt {
                Stmt::Set(l, v) => {
                    let depends = inside || self.values[v.index()];
                    changed |= depends && !std::mem::replace(&mut self.locals[l.index()], true);
                }
                other => {
                    if let Some(v) = other.result() {
                        let mut depends =
                            reads_others(other) || matches!(other, Stmt::Let(_, Op::Get(l)) if self.locals[l.index()]);
                        other.for_each_value(|a| depends |= self.values[a.index()]);
                        changed |= depends && !std::mem::replace(&mut self.values[v.index()], true);
                    }
                }
            }
            let inside = inside || self.decides(stmt);
            for inner in stmt.blocks() {
                changed |= self.block(inner, inside);
            }
        }
        changed
    }

    fn decides(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::If { cond: v, .. } | Stmt::Switch { value: v, .. } => self.values[v.index()],
            _ => false,
        }
    }
}

/// The ways out of a loop.
struct Ways<'a> {
    facts: &'a WaitFacts,
    label: Label,
    any: bool,
    all: bool,
}

impl Ways<'_> {
    fn block(&mut self, block: &Block, inside: bool, within: &mut Vec<Label>) {
        for stmt in &block.stmts {
            let leaves = match stmt {
                Stmt::Return(_) => true,
                Stmt::Break(l) => *l == self.label || !within.contains(l),
                Stmt::Continue(l) => *l != self.label && !within.contains(l),
                _ => false,
            };
            if leaves {
                self.any |= inside;
                self.all &= inside;
            }
            let inside = inside || self.facts.decides(stmt);
            let label = match stmt {
                Stmt::Loop { label, .. } | Stmt::Switch { label, .. } | Stmt::Scope { label, .. } => Some(*label),
                _ => None,
            };
            within.extend(label);
            for inner in stmt.blocks() {
                self.block(inner, inside, within);
            }
            within.truncate(within.len() - usize::from(label.is_some()));
        }
    }
}
