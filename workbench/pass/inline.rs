//! Inlining of device functions, callees first, so that one round flattens a whole call tree.
//!
//! Some calls stay: recursion (every function of a cycle), large callees, and calls that would make a function or the module grow without
//! bound. A callee that holds a barrier or collective is inlined whatever its size, because no split may stand in a call.
//!
//! A body that returns only at its end is pasted as it is. Any other body becomes a `Scope`; its returns set a local and break out.
//! Statements keep the callee's spans, so a fault names the line in the helper; statements of the library get the span of the call.
//!
//! Locals and slots of a callee are then initialised (to poison) once per thread, no longer once per call: a callee that reads memory it
//! never wrote may see values of an earlier call. No program without such reads can tell.

use rustc_hash::FxHashMap;

use crate::ir::{Block, FuncId, FuncKind, Function, Label, Local, MAX_NESTING, Module, Op, Slot, Stmt, Value};
use crate::pass::check_and_dump::Watch;
use crate::source::Span;

/// The largest callee, in statements, that is inlined.
const CALLEE_LIMIT: usize = 2_000;
/// The largest growth of a function by inlining, in statements.
const CALLER_LIMIT: usize = 50_000;
/// The largest function of the library that host code inlines: host code runs once per call, and is compiled each time.
pub(crate) const HOST_LIBRARY_LIMIT: usize = 8;
/// The number of statements that inlining may add to a module.
const MODULE_LIMIT: usize = 200_000;

/// Inlines where possible, in every function of the module.
pub fn run(module: &mut Module, watch: &Watch) {
    let order = bottom_up(module);
    let mut facts: Vec<CalleeFacts> = module.functions.iter().map(CalleeFacts::of).collect();
    let mut budget = MODULE_LIMIT;
    for visit in &order {
        facts[visit.id.index()].recursive = visit.recursive;
    }
    for Visit { id, recursive } in order {
        crate::steps::look();
        let at = id.index();
        if !facts[at].calls {
            continue;
        }
        // The function is taken out, so that callees can be read meanwhile; a function in a cycle is never read.
        let mut func = std::mem::replace(&mut module.functions[at], Function::new("", FuncKind::Device, Span::NONE));
        let (module_now, budget) = (&*module, &mut budget);
        watch.run("inline", &mut func, |func| {
            let mut inliner = Inliner {
                module: module_now,
                facts: &facts,
                aliases: (0..func.values.len()).map(Value::new).collect(),
                slots: FxHashMap::default(),
                size: facts[at].size,
                budget,
                caller: func,
            };
            let body = std::mem::take(&mut inliner.caller.body);
            let body = inliner.block(body, 0);
            func.body = body;
        });
        facts[at] = CalleeFacts { recursive, ..CalleeFacts::of(&func) };
        module.functions[at] = func;
    }
}

/// The facts known about a function.
struct CalleeFacts {
    size: usize,
    depth: usize,
    calls: bool,
    /// True if it passes all of its parameters on.
    dispatches: bool,
    /// True if it joins threads, or may have to: a volatile store to shared memory happens in step over a warp.
    splits: bool,
    /// True if it is in a cycle of calls.
    recursive: bool,
    /// True if it is the library's and the host's.
    host_library: bool,
    /// True if its code is kept elsewhere.
    kept: bool,
}

impl CalleeFacts {
    fn of(func: &Function) -> Self {
        let (mut calls, mut splits, mut dispatches) = (false, false, false);
        func.body.for_each_stmt(&mut |stmt| {
            dispatches |= matches!(stmt, Stmt::Dispatch(_));
            calls |= matches!(stmt, Stmt::Call { .. });
            splits |= matches!(stmt, Stmt::Barrier(_) | Stmt::Collective { .. } | Stmt::Store { volatile: true, .. });
        });
        CalleeFacts {
            size: func.body.count(),
            depth: func.body.depth(),
            calls,
            dispatches,
            splits,
            recursive: false,
            host_library: func.library && func.kind.is_host(),
            kept: func.kept.is_some(),
        }
    }
}

/// A function on the way from callees to callers.
pub(crate) struct Visit {
    pub id: FuncId,
    /// True if it may call itself, directly or through others.
    pub recursive: bool,
}

/// Functions with callees before callers; functions on a cycle are marked. Tarjan's algorithm with a stack of its own.
pub(crate) fn bottom_up(module: &Module) -> Vec<Visit> {
    const UNSEEN: usize = usize::MAX;
    let callees: Vec<Vec<usize>> = module
        .functions
        .iter()
        .map(|func| {
            let mut list = Vec::new();
            func.body.for_each_stmt(&mut |stmt| {
                list.extend(stmt.mentions().map(FuncId::index));
            });
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let count = callees.len();
    let (mut index, mut low, mut on_stack) = (vec![UNSEEN; count], vec![0; count], vec![false; count]);
    let (mut stack, mut order, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        // Each entry is a function, with the number of its callees that have been entered.
        let mut path = if index[root] == UNSEEN { vec![(root, 0)] } else { Vec::new() };
        while let Some((at, entered)) = path.last_mut() {
            let at = *at;
            if *entered == 0 {
                (index[at], low[at]) = (next, next);
                next += 1;
                stack.push(at);
                on_stack[at] = true;
            }
            if let Some(&callee) = callees[at].get(*entered) {
                *entered += 1;
                match index[callee] {
                    UNSEEN => path.push((callee, 0)),
                    i if on_stack[callee] => low[at] = low[at].min(i),
                    _ => {}
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[at]);
            }
            if low[at] == index[at] {
                let start = stack.iter().rposition(|&f| f == at).expect("a component's root is on the stack");
                let component = stack.split_off(start);
                let recursive = component.len() > 1 || callees[at].contains(&at);
                for f in component {
                    on_stack[f] = false;
                    order.push(Visit { id: FuncId::new(f), recursive });
                }
            }
        }
    }
    order
}

struct Inliner<'a> {
    module: &'a Module,
    facts: &'a [CalleeFacts],
    caller: &'a mut Function,
    /// The present name of each value of the caller.
    aliases: Vec<Value>,
    /// The first of a callee's slots here. Its copies share them, as calls share the stack.
    slots: FxHashMap<FuncId, usize>,
    size: usize,
    budget: &'a mut usize,
}

impl Inliner<'_> {
    fn block(&mut self, block: Block, depth: usize) -> Block {
        let mut out = Block::default();
        for (mut stmt, span) in block.stmts.into_iter().zip(block.spans) {
            stmt.map_values(|v| self.aliases[v.index()]);
            match stmt {
                Stmt::Call { result, func, args, raised: None } if self.wants(func, depth) => {
                    self.paste(&mut out, result, func, &args, span);
                }
                mut other => {
                    for inner in other.blocks_mut() {
                        *inner = self.block(std::mem::take(inner), depth + 1);
                    }
                    out.push(other, span);
                }
            }
        }
        out
    }

    fn wants(&self, id: FuncId, depth: usize) -> bool {
        let facts = &self.facts[id.index()];
        let fits = facts.size <= CALLEE_LIMIT && self.size + facts.size <= CALLER_LIMIT && facts.size <= *self.budget;
        // The user's own code is not mixed with the library's code that calls it: the owner of a statement decides how its faults are
        // reported.
        let apart = self.caller.library && self.caller.kind.is_host() && !self.module.func(id).library;
        let fits = fits && !apart && (!facts.host_library || facts.size <= HOST_LIBRARY_LIMIT);
        !facts.recursive
            && !facts.kept
            && !facts.dispatches
            && depth + facts.depth < MAX_NESTING
            && (fits || facts.splits)
    }

    fn paste(&mut self, out: &mut Block, result: Option<Value>, id: FuncId, args: &[Value], span: Span) {
        let callee = self.module.func(id);
        let size = self.facts[id.index()].size;
        self.size += size;
        *self.budget = self.budget.saturating_sub(size);
        let mut copy = Copy {
            values: self.append_values(callee, args),
            locals: self.caller.locals.len(),
            slots: *self.slots.entry(id).or_insert_with(|| {
                self.caller.slots.extend(callee.slots.iter().cloned());
                self.caller.slots.len() - callee.slots.len()
            }),
            labels: self.caller.labels as usize,
            exit: None,
            place: callee.library.then_some(span),
        };
        self.caller.locals.extend(callee.locals.iter().cloned());
        self.caller.labels += callee.labels;
        if let Some(returned) = returns_at_end(callee) {
            let body = copy.block(&callee.body, false);
            let value = returned.map(|v| copy.values[v.index()]);
            out.stmts.extend(body.stmts);
            out.spans.extend(body.spans);
            if let (Some(result), Some(value)) = (result, value) {
                self.aliases[result.index()] = value;
            }
            return;
        }
        let label = self.caller.new_label();
        let local = callee.ret.map(|ty| self.caller.new_local(format!("{}.result", callee.name), ty));
        copy.exit = Some((label, local));
        let body = copy.block(&callee.body, true);
        out.push(Stmt::Scope { label, body }, span);
        if let (Some(result), Some(local)) = (result, local) {
            out.push(Stmt::Let(result, Op::Get(local)), span);
        }
    }

    /// New values for the callee's, except for its parameters, which are the arguments.
    fn append_values(&mut self, callee: &Function, args: &[Value]) -> Vec<Value> {
        let base = self.caller.values.len();
        self.caller.values.extend(callee.values.iter().copied());
        self.aliases.extend((base..self.caller.values.len()).map(Value::new));
        let mut values: Vec<Value> = (base..self.caller.values.len()).map(Value::new).collect();
        callee.body.for_each_stmt(&mut |stmt| {
            if let Stmt::Let(v, Op::Param(i)) = stmt {
                values[v.index()] = args[*i as usize];
            }
        });
        values
    }
}

/// The value of the one `Return`, if that is the last statement of the body or if there is none at all.
fn returns_at_end(func: &Function) -> Option<Option<Value>> {
    let mut returns = 0;
    func.body.for_each_stmt(&mut |stmt| returns += usize::from(matches!(stmt, Stmt::Return(_))));
    match func.body.stmts.last() {
        Some(Stmt::Return(value)) if returns == 1 => Some(*value),
        // A function with a result but no return ends in a trap or an endless loop: the scope's local stands for the value.
        _ if returns == 0 && func.ret.is_none() => Some(None),
        _ => None,
    }
}

/// Copies a callee's statements under the names they get in the caller.
struct Copy {
    values: Vec<Value>,
    locals: usize,
    slots: usize,
    labels: usize,
    /// The span of the call, if the callee's own text is not the user's.
    place: Option<Span>,
    /// The label that a `Return` breaks to, and the local that it sets.
    exit: Option<(Label, Option<Local>)>,
}

impl Copy {
    fn label(&self, l: Label) -> Label {
        Label::new(l.index() + self.labels)
    }

    /// Copies a block; `last` is true if its end is the end of the callee.
    fn block(&self, block: &Block, last: bool) -> Block {
        let mut out = Block::default();
        for (i, (stmt, span)) in block.iter().enumerate() {
            let last = last && i + 1 == block.stmts.len();
            // The user's own text keeps its place, also inside a function of the library, such as the body of a lambda.
            let span = self.place.filter(|_| span.file.is_common() || span.is_none()).unwrap_or(span);
            match stmt {
                Stmt::Let(_, Op::Param(_)) => {}
                Stmt::Return(value) => {
                    // This is the end of the body already, if there is no exit.
                    let Some((label, local)) = self.exit else { continue };
                    if let (Some(v), Some(local)) = (value, local) {
                        out.push(Stmt::Set(local, self.values[v.index()]), span);
                    }
                    if !last {
                        out.push(Stmt::Break(label), span);
                    }
                }
                other => out.push(self.stmt(other, last), span),
            }
        }
        out
    }

    fn stmt(&self, stmt: &Stmt, last: bool) -> Stmt {
        let mut copy = match stmt {
            Stmt::Let(v, op) => {
                let op = match op {
                    Op::Get(l) => Op::Get(self.local(*l)),
                    Op::SlotAddr(s) => Op::SlotAddr(Slot::new(s.index() + self.slots)),
                    other => other.clone(),
                };
                Stmt::Let(self.values[v.index()], op)
            }
            Stmt::Set(l, v) => Stmt::Set(self.local(*l), *v),
            // The two sides of an `If` end with the `If`; a loop's body and a case do not.
            Stmt::If { cond, then, els } => {
                Stmt::If { cond: *cond, then: self.block(then, last), els: self.block(els, last) }
            }
            Stmt::Loop { label, body, step } => {
                Stmt::Loop { label: self.label(*label), body: self.block(body, false), step: self.block(step, false) }
            }
            Stmt::Scope { label, body } => Stmt::Scope { label: self.label(*label), body: self.block(body, last) },
            Stmt::Switch { label, value, cases } => {
                let mut cases = cases.clone();
                for case in &mut cases {
                    case.body = self.block(&case.body, false);
                }
                Stmt::Switch { label: self.label(*label), value: *value, cases }
            }
            Stmt::Break(l) => Stmt::Break(self.label(*l)),
            Stmt::Continue(l) => Stmt::Continue(self.label(*l)),
            Stmt::Call { result, func, args, raised } => {
                let (result, raised) = (self.result(*result), self.result(*raised));
                Stmt::Call { result, func: *func, args: args.clone(), raised }
            }
            Stmt::Printf { result, format, args } => {
                Stmt::Printf { result: self.result(*result), format: *format, args: args.clone() }
            }
            Stmt::Atomic { result, op, ptr, value, compare } => {
                Stmt::Atomic { result: self.result(*result), op: *op, ptr: *ptr, value: *value, compare: *compare }
            }
            Stmt::Collective { result, op, args } => {
                Stmt::Collective { result: self.result(*result), op: *op, args: args.clone() }
            }
            Stmt::Service { result, service, args } => {
                Stmt::Service { result: self.result(*result), service: *service, args: args.clone() }
            }
            other => other.clone(),
        };
        copy.map_values(|v| self.values[v.index()]);
        copy
    }

    fn local(&self, l: Local) -> Local {
        Local::new(l.index() + self.locals)
    }

    fn result(&self, v: Option<Value>) -> Option<Value> {
        v.map(|v| self.values[v.index()])
    }
}
