//! Loops that may wait for other threads: the loop has a way out, and every way out depends on the result of an atomic or a volatile read,
//! so that nothing the thread does by itself ends it.

use crate::ir::{Block, FuncId, Function, Label, Module, Op, Stmt};

/// True for each label of such a loop.
pub fn find(func: &Function) -> Vec<bool> {
    find_by(func, &reads_others)
}

/// True for each label of such a loop, where a function that reads what others wrote may be called.
pub fn find_with_calls(module: &Module, func: &Function) -> Vec<bool> {
    let callees = readers(module, func);
    find_by(func, &|stmt| reads_others(stmt) || calls_one_of(stmt, &callees))
}

fn find_by(func: &Function, reads: &dyn Fn(&Stmt) -> bool) -> Vec<bool> {
    let mut waits = vec![false; func.labels as usize];
    let mut any = false;
    func.body.for_each_stmt(&mut |stmt| any |= reads(stmt));
    if !any {
        return waits;
    }
    let mut facts = WaitFacts { reads, values: vec![false; func.values.len()], locals: vec![false; func.locals.len()] };
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

/// True for each label of a loop that looks at what other threads do, itself or in a function that it calls.
pub fn looks(module: &Module, func: &Function) -> Vec<bool> {
    let callees = readers(module, func);
    let mut looks = vec![false; func.labels as usize];
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Loop { label, body, step } = stmt {
            let mut any = false;
            let mut look = |stmt: &Stmt| any |= reads_others(stmt) || calls_one_of(stmt, &callees);
            [body, step].into_iter().for_each(|block| block.for_each_stmt(&mut look));
            if let Some(place) = looks.get_mut(label.index()) {
                *place = any;
            }
        }
    });
    looks
}

/// The functions called by `func`, in as many steps as it takes, that read what other threads wrote, or call one that does. One that calls
/// by address may call any.
fn readers(module: &Module, func: &Function) -> Vec<FuncId> {
    let callees = |func: &Function| {
        let mut found = Vec::new();
        func.body.for_each_stmt(&mut |stmt| {
            if let Stmt::Call { func, .. } = stmt
                && !found.contains(func)
            {
                found.push(*func);
            }
        });
        found
    };
    let (mut order, mut calls) = (callees(func), Vec::new());
    let mut next = 0;
    while let Some(id) = order.get(next).copied() {
        let called = module.functions.get(id.index()).map(callees).unwrap_or_default();
        order.extend(called.iter().filter(|id| !order.contains(id)).copied().collect::<Vec<_>>());
        calls.push(called);
        next += 1;
    }
    let mut found: Vec<FuncId> = order
        .iter()
        .filter(|id| {
            let mut any = false;
            if let Some(func) = module.functions.get(id.index()) {
                func.body.for_each_stmt(&mut |stmt| any |= reads_others(stmt) || matches!(stmt, Stmt::Dispatch(_)));
            }
            any
        })
        .copied()
        .collect();
    loop {
        let known = found.len();
        for (id, called) in order.iter().zip(&calls) {
            if !found.contains(id) && called.iter().any(|id| found.contains(id)) {
                found.push(*id);
            }
        }
        if found.len() == known {
            return found;
        }
    }
}

fn calls_one_of(stmt: &Stmt, functions: &[FuncId]) -> bool {
    matches!(stmt, Stmt::Call { func, .. } if functions.contains(func))
}

fn reads_others(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Atomic { .. } | Stmt::Let(_, Op::Load { volatile: true, .. }))
}

/// The values and locals that depend on other threads.
struct WaitFacts<'a> {
    /// True for a statement whose result depends on other threads by itself.
    reads: &'a dyn Fn(&Stmt) -> bool,
    values: Vec<bool>,
    locals: Vec<bool>,
}

impl WaitFacts<'_> {
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
                            (self.reads)(other) || matches!(other, Stmt::Let(_, Op::Get(l)) if self.locals[l.index()]);
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
    facts: &'a WaitFacts<'a>,
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
