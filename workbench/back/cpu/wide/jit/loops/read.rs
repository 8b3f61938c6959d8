//! Reading of a loop: the values that one round computes.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::address::Linear;
use super::graph::{Counter, Store};
use super::graph::{Id, Index, Op, Place, Values};
use super::shape::{assigned, budget, effect, is_mentioned, leaving};
use crate::back::cpu::wide::jit::emit::{After, Binding, Emitter};
use crate::back::cpu::wide::jit::scalar::I64;
use crate::back::cpu::wide::jit::value::{At, Num, Parts, Val};
use crate::back::lane::not_vectorised::Reason;
use crate::back::lane::table::{self, Access, Element, Kind, MemoryOp, NumberOp, Space};
use crate::back::lane::tree::{Binary, Expr, If, Label, Stmt, Var};
use crate::back::lane::types::Ty;

/// A variable of the loop's own.
#[derive(Clone, Copy)]
pub(super) enum Local<'k> {
    Lanes(Id),
    Mask(Id),
    Number(&'k Ty, &'k Expr),
}

/// A loop that is being read. Loop-invariant values are computed ahead of it.
pub(super) struct Read<'e, 'k, 'f> {
    pub e: &'e mut Emitter<'k, 'f>,
    pub values: Values,
    pub locals: HashMap<Var, Local<'k>>,
    /// The variables that rounds set, in that order.
    pub set: Vec<Var>,
    /// The places where these are read and left, if in memory that a block keeps.
    pub homes: Vec<Option<Place>>,
    /// The current values of these.
    pub now: HashMap<Var, Id>,
    pub counter: Option<(Var, Ty)>,
    /// True if there is but one round, without a counter.
    pub once: bool,
    /// The stores, done after all computations.
    pub stores: Vec<Store>,
    /// The memories of the stores.
    pub spaces: Vec<Space>,
    /// Lines of the cache that are prefetched.
    pub asked: Vec<Place>,
    /// The conditions that choose between stores.
    pub flags: Vec<clif::Value>,
    pub given: Vec<Parts>,
    given_names: HashMap<String, usize>,
    /// Numbers of 32 bits that all lanes get.
    pub ones: Vec<clif::Value>,
    pub one_keys: HashMap<String, usize>,
    pub pointers: Vec<clif::Value>,
    pub pointer_keys: HashMap<String, usize>,
    pub factors: Vec<clif::Value>,
    pub factor_keys: HashMap<String, usize>,
    /// Variables that are bound already.
    pub bound: HashSet<Var>,
    /// True for each variable that is loop-invariant.
    pub fixed: RefCell<HashMap<Var, bool>>,
    /// The linear forms of variables in addresses.
    pub linear: HashMap<Var, Option<Linear>>,
    /// The number of variables that are being followed.
    pub depth: Cell<u32>,
    /// The reason why the statement that was read last cannot be part of it.
    pub why: Option<Reason>,
}

/// The state of a caller that a kernel's function does not see.
pub(super) struct Outer<'k> {
    locals: HashMap<Var, Local<'k>>,
    bound: HashSet<Var>,
    fixed: HashMap<Var, bool>,
    linear: HashMap<Var, Option<Linear>>,
}

/// Deepest chain of variables that are defined by one another; longer ones are not worth the stack.
pub(super) const DEPTH: u32 = 200;

/// The facts about a loop besides its round.
pub(super) struct Found<'k> {
    pub counter: Counter,
    pub var: Var,
    pub limit: Num,
    pub step: Num,
    /// The statements of a round that end with leaving the loop.
    pub leaving: &'k [Stmt],
    /// The statement that refills the budget.
    pub refill: &'k Stmt,
    /// The number of statements after the loop that the loop does: those that keep the variables that it set.
    pub kept: Option<usize>,
}

impl<'e, 'k, 'f> Read<'e, 'k, 'f> {
    pub fn new(e: &'e mut Emitter<'k, 'f>) -> Self {
        Read {
            e,
            values: Values::default(),
            locals: HashMap::new(),
            set: Vec::new(),
            homes: Vec::new(),
            now: HashMap::new(),
            counter: None,
            once: false,
            stores: Vec::new(),
            spaces: Vec::new(),
            asked: Vec::new(),
            flags: Vec::new(),
            given: Vec::new(),
            given_names: HashMap::new(),
            ones: Vec::new(),
            one_keys: HashMap::new(),
            pointers: Vec::new(),
            pointer_keys: HashMap::new(),
            factors: Vec::new(),
            factor_keys: HashMap::new(),
            bound: HashSet::new(),
            fixed: RefCell::default(),
            linear: HashMap::new(),
            depth: Cell::new(0),
            why: None,
        }
    }

    /// Enters a function of the kernel, which knows these variables.
    pub fn enter(&mut self, locals: HashMap<Var, Local<'k>>) -> Outer<'k> {
        self.e.push_scope();
        Outer {
            locals: std::mem::replace(&mut self.locals, locals),
            bound: std::mem::take(&mut self.bound),
            fixed: self.fixed.take(),
            linear: std::mem::take(&mut self.linear),
        }
    }

    pub fn leave(&mut self, outer: Outer<'k>) {
        self.e.pop_scope();
        let Outer { locals, bound, fixed, linear } = outer;
        (self.locals, self.bound, self.linear) = (locals, bound, linear);
        self.fixed = RefCell::new(fixed);
    }

    /// Notes why a statement cannot be part of it, unless a reason is noted already.
    pub fn no<T>(&mut self, reason: Reason) -> Option<T> {
        self.why.get_or_insert(reason);
        None
    }

    /// The result as it is; if there is none, the reason is noted.
    fn or<T>(&mut self, found: Option<T>, reason: Reason) -> Option<T> {
        if found.is_none() { self.no(reason) } else { found }
    }

    /// Reads a loop's body; none if an instruction is missing.
    pub fn body(&mut self, body: &'k Stmt, after: &After<'_, 'k>) -> Option<Found<'k>> {
        let Stmt::Block(parts) = body else { return self.no(Reason::Shape) };
        let Some((Stmt::Block(round), parts)) = parts.split_first() else { return self.no(Reason::Shape) };
        self.set = self.or(assigned(round), Reason::Changes)?;
        self.homes = vec![None; self.set.len()];
        let mut test = None;
        for (i, stmt) in round.iter().enumerate() {
            match stmt {
                Stmt::If(of) if test.is_none() => {
                    // The test has to come before any computation, because the counter in it tells which values are invariant.
                    if !self.values.ops.is_empty() {
                        return self.no(Reason::LateTest);
                    }
                    let (cond, label) = self.or(leaving(of), Reason::Branches)?;
                    let tested = self.test(cond);
                    test = Some((self.or(tested, Reason::Uncounted)?, label, &round[..=i]));
                }
                _ => self.statement(stmt)?,
            }
        }
        let ((goes_on, limit), label, leaving) = self.or(test, Reason::Uncounted)?;
        let parts = match parts.split_first() {
            // A jump to that label continues the loop.
            Some((Stmt::Label(next), _)) if label == Some(*next) => return self.no(Reason::Shape),
            Some((Stmt::Label(_), parts)) => parts,
            _ => parts,
        };
        let [Stmt::Block(step), Stmt::If(poll)] = parts else { return self.no(Reason::Shape) };
        let (var, ty) = self.counter.clone()?;
        let step = self.step(step, var)?;
        let budget = budget(self.e.kernel, poll);
        let cost = self.or(budget, Reason::Shape)?;
        let Ty::Int { bits, signed } = ty else { return None };
        let counter = Counter { is_long: bits == 64, signed, goes_on, cost };
        let kept = label.and_then(|label| self.homes(after.here, label));
        Some(Found { counter, var, limit, step, leaving, refill: &poll.then, kept })
    }

    /// Finds variables that begin with a value from scratch and are stored there again right after the loop: the loop reads and writes them
    /// in place. Gives the number of statements after the loop that these stores are.
    fn homes(&mut self, after: &'k [Stmt], label: Label) -> Option<usize> {
        let Some((Stmt::Label(here), rest)) = after.split_first() else { return None };
        if *here != label {
            return None;
        }
        let mut past = None;
        for (n, stmt) in (2..).zip(rest) {
            let Stmt::Do(Expr::Op(table::Op::Memory(memory), args)) = stmt else { break };
            if !is_plain_store(*memory) || memory.past_cache {
                break;
            }
            let [to, Expr::Var(var)] = &args[..] else { break };
            let Some(i) = self.set.iter().position(|set| set == var) else { break };
            let (Some(from), Some(to)) = (self.found_at(*var), self.place(to)) else { break };
            if from != to || to.index != Index::None || self.homes[i].is_some() {
                break;
            }
            self.homes[i] = Some(to);
            past = Some(n);
        }
        past
    }

    /// The place in memory that still holds a variable's value at the beginning.
    fn found_at(&mut self, var: Var) -> Option<Place> {
        let kept = self.e.kept.get(&var).filter(|kept| kept.written == self.e.written)?;
        let (at, parts) = (kept.at, kept.parts);
        let binding = self.e.lookup(var).ok()?;
        let Val::Lanes(_, now) = self.e.get(&binding).ok()? else { return None };
        (now[..4] == parts).then(|| self.place(at)).flatten()
    }

    /// Reads statements that run once.
    pub fn stretch(&mut self, all: &'k [Stmt], after: &After<'_, 'k>) -> Option<()> {
        self.once = true;
        self.set = self.or(assigned(all), Reason::Changes)?;
        for stmt in all {
            self.statement(stmt)?;
        }
        // Variables that are set must not be used elsewhere.
        let set = std::mem::take(&mut self.set);
        let ends = set.is_empty() || set.iter().all(|var| self.e.is_of_outer(*var)) && !is_mentioned(after, &set);
        if ends { Some(()) } else { self.no(Reason::UsedLater) }
    }

    fn statement(&mut self, stmt: &'k Stmt) -> Option<()> {
        self.why = None;
        match stmt {
            Stmt::Block(_) | Stmt::If(_) => self.stores(stmt, None),
            Stmt::Let(var, expr) if self.e.kernel.var(*var).constant => self.define(*var, expr),
            Stmt::Do(Expr::Assign(None, to, expr)) => {
                let Expr::Var(var) = **to else { return self.no(Reason::SetsOther) };
                let Ok(Binding::Variable(Ty::Lanes(Kind::F32 | Kind::I32), _)) = self.e.lookup(var) else {
                    return self.no(Reason::SetsOther);
                };
                let id = self.lanes(expr)?;
                self.now.insert(var, id);
                Some(())
            }
            Stmt::Do(expr) => self.access(expr, None),
            Stmt::Let(..) | Stmt::Declare(_) => self.no(Reason::SetsOther),
            Stmt::Loop(_) | Stmt::EachLane(..) | Stmt::Straight(_) => self.no(Reason::Branches),
            Stmt::Label(_) | Stmt::Goto(_) | Stmt::Break | Stmt::Return(_) | Stmt::Macro(_) => {
                self.no(Reason::Branches)
            }
        }
    }

    /// Stores in a block, and a choice between such.
    fn stores(&mut self, stmt: &'k Stmt, when: Option<(usize, bool)>) -> Option<()> {
        let of = match stmt {
            Stmt::Block(all) => {
                for stmt in all {
                    match stmt {
                        Stmt::Block(_) | Stmt::If(_) => self.stores(stmt, when)?,
                        Stmt::Do(expr) => self.access(expr, when)?,
                        _ => return self.no(Reason::Branches),
                    }
                }
                return Some(());
            }
            Stmt::If(of) if when.is_none() => &**of,
            _ => return self.no(Reason::Branches),
        };
        let If { cond, then, els } = of;
        if !self.is_fixed(cond) {
            return self.no(Reason::Branches);
        }
        self.bind(cond)?;
        let truth = self.e.truth(cond).ok()?;
        let flag = match truth.at {
            At::Known(n) => Err(n != 0),
            At::Value(v) => {
                let v = self.e.b.ins().uextend(types::I64, v);
                self.flags.push(v);
                Ok(self.flags.len() - 1)
            }
        };
        for (side, stmt) in [(true, Some(then)), (false, els.as_ref())] {
            let Some(stmt) = stmt else { break };
            match flag {
                Ok(flag) => self.stores(stmt, Some((flag, side)))?,
                Err(known) if known == side => self.stores(stmt, None)?,
                Err(_) => {}
            }
        }
        Some(())
    }

    /// A store, or a prefetch.
    fn access(&mut self, expr: &'k Expr, when: Option<(usize, bool)>) -> Option<()> {
        let Expr::Op(op, args) = expr else { return self.no(Reason::SetsOther) };
        match (op, &args[..]) {
            (table::Op::Memory(memory), [at, value]) if is_plain_store(*memory) => {
                let place = self.place(at);
                let (place, id) = (self.or(place, Reason::Address)?, self.lanes(value)?);
                self.spaces.push(memory.space);
                self.stores.push(Store { when, past: memory.past_cache, place, id });
            }
            (table::Op::Number(NumberOp::Prefetch), [at]) if when.is_none() => {
                let place = self.place(at);
                let place = self.or(place, Reason::Address)?;
                self.asked.push(place);
            }
            _ => return self.no(Reason::Operation(*op)),
        }
        Some(())
    }

    /// A constant of the round.
    pub fn define(&mut self, var: Var, expr: &'k Expr) -> Option<()> {
        let ty = &self.e.kernel.var(var).ty;
        // The counter tells which values are invariant, so nothing is computed before it is known.
        let before = self.why;
        let known = self.once || self.counter.is_some();
        let computed = match ty {
            Ty::Lanes(Kind::F32 | Kind::I32) | Ty::F32 if known => self.lanes(expr).map(Local::Lanes),
            Ty::Mask if known => self.mask(expr).map(Local::Mask),
            _ => None,
        };
        // An expression without instructions fails only where it is used, if at all.
        let local = match computed {
            Some(local) => local,
            None => match effect(expr) {
                None => {
                    self.why = before;
                    Local::Number(ty, expr)
                }
                Some(reason) => return self.no(reason),
            },
        };
        self.locals.insert(var, local);
        // The answer for a variable is found at its definition, so that no long chain has to be followed.
        if known {
            self.is_var_fixed(var);
        }
        Some(())
    }

    /// `counter < limit`, by way of variables; a number may be added to the counter in 64 bits.
    fn test(&mut self, cond: &'k Expr) -> Option<(Binary, Num)> {
        let Expr::Binary(op, a, b) = self.meant(cond) else { return None };
        let (op, b) = (*op, &**b);
        if !op.compares() || op == Binary::Eq {
            return None;
        }
        let a = self.meant(a);
        let var = self.counted(a)?;
        let Ok(Binding::Variable(ty @ Ty::Int { bits: 32 | 64, .. }, _)) = self.e.lookup(var) else { return None };
        self.counter = Some((var, ty.clone()));
        self.fixed.take();
        self.linear.clear();
        let (limit, _) = self.fixed(b)?;
        if matches!(a, Expr::Var(_)) {
            // Both sides of the comparison have one type.
            (limit.ty == ty || matches!(limit.at, At::Known(0..=0x7fff_ffff))).then_some(())?;
            let limit = self.e.converted(&limit, &ty).ok()?;
            return Some((op, limit));
        }
        // Both sides have 32 bits, so nothing wraps around.
        let is_short = matches!(b, Expr::Cast(Ty::Int { bits: 64, signed: true }, b) if self.is_short(b));
        (is_short && ty == Ty::int(32, true) && limit.ty == I64).then_some(())?;
        let more = self.more(a).filter(|more| more.unsigned_abs() < 1 << 31)?;
        let limit = self.e.value(&limit);
        let limit = self.e.b.ins().iadd_imm_s(limit, -more);
        Some((op, Num { at: At::Value(limit), ty: I64 }))
    }

    /// The variable in a sum of a variable and known numbers.
    fn counted(&self, expr: &Expr) -> Option<Var> {
        match expr {
            Expr::Var(var) => match self.locals.get(var) {
                Some(Local::Number(_, inner)) => self.counted(inner),
                Some(_) => None,
                None => Some(*var),
            },
            Expr::Cast(_, inner) => self.counted(inner),
            Expr::Binary(Binary::Add, a, _) => self.counted(a),
            _ => None,
        }
    }

    /// The type of a variable or a cast.
    fn type_of(&self, expr: &Expr) -> Option<Ty> {
        match expr {
            Expr::Var(var) => match self.locals.get(var) {
                Some(Local::Number(ty, _)) => Some((*ty).clone()),
                Some(_) => None,
                None => match self.e.lookup(*var).ok()? {
                    Binding::Value(Val::Num(num)) => Some(num.ty),
                    Binding::Variable(ty, _) => Some(ty),
                    _ => None,
                },
            },
            Expr::Cast(ty, _) => Some(ty.clone()),
            _ => None,
        }
    }

    /// True if an expression has 32 bits or fewer.
    fn is_short(&self, expr: &Expr) -> bool {
        matches!(self.type_of(expr), Some(Ty::Int { bits: 8..=32, .. }))
    }

    /// The expression that a variable or a cast to the same type stands for in the end.
    fn meant(&self, expr: &'k Expr) -> &'k Expr {
        match expr {
            Expr::Var(var) => match self.locals.get(var) {
                Some(Local::Number(ty, inner)) if **ty == Ty::Bool || self.type_of(inner).as_ref() == Some(ty) => {
                    self.meant(inner)
                }
                _ => expr,
            },
            Expr::Cast(Ty::Bool, inner) => self.meant(inner),
            _ => expr,
        }
    }

    /// The expression that a variable or a cast to a type of as many bits stands for in the end.
    fn same_bits(&self, expr: &'k Expr, bits: u8) -> &'k Expr {
        match expr {
            Expr::Var(var) => match self.locals.get(var) {
                Some(Local::Number(Ty::Int { bits: of, .. }, inner)) if *of == bits => self.same_bits(inner, bits),
                _ => expr,
            },
            Expr::Cast(Ty::Int { bits: of, .. }, inner) if *of == bits => self.same_bits(inner, bits),
            _ => expr,
        }
    }

    /// `{ ... counter = counter + step; }`.
    fn step(&mut self, all: &'k [Stmt], counter: Var) -> Option<Num> {
        let mut step = None;
        for stmt in all {
            let (var, expr) = match stmt {
                Stmt::Let(..) => {
                    self.statement(stmt)?;
                    continue;
                }
                Stmt::Do(Expr::Assign(None, to, expr)) => match **to {
                    Expr::Var(var) => (var, &**expr),
                    _ => return self.no(Reason::Uncounted),
                },
                _ => return self.no(Reason::Uncounted),
            };
            if var != counter || step.is_some() {
                return self.no(Reason::Uncounted);
            }
            let (_, ty) = self.counter.clone()?;
            let Ty::Int { bits, .. } = ty else { return None };
            // Casts to types of as many bits are looked through: sums in them are the same.
            let Expr::Binary(Binary::Add, a, b) = self.same_bits(expr, bits) else {
                return self.no(Reason::Uncounted);
            };
            if !matches!(self.same_bits(a, bits), Expr::Var(var) if *var == counter) {
                return self.no(Reason::Uncounted);
            }
            let fixed = self.fixed(b);
            let (num, _) = self.or(fixed, Reason::Uncounted)?;
            step = Some(self.e.converted(&num, &ty).ok()?);
        }
        self.or(step, Reason::Uncounted)
    }

    /// Lanes, or a float, of a variable.
    pub fn named(&mut self, var: Var) -> Option<Id> {
        match self.locals.get(&var) {
            Some(Local::Lanes(id)) => return Some(*id),
            Some(_) => return self.no(Reason::OtherLanes),
            None => {}
        }
        if let Some(id) = self.now.get(&var) {
            return Some(*id);
        }
        if let Some(at) = self.set.iter().position(|set| *set == var) {
            if self.once {
                return self.no(Reason::Carries);
            }
            return self.values.add(Op::Carried(at));
        }
        let binding = self.e.lookup(var).ok()?;
        match self.e.get(&binding).ok()? {
            Val::Lanes(kind @ (Kind::F32 | Kind::I32), parts) => {
                let key = format!("{kind:?}{:?}", &parts[..4]);
                let next = self.given.len();
                let at = *self.given_names.entry(key).or_insert(next);
                if at == next {
                    self.given.push(parts);
                }
                self.values.add(Op::Given(at))
            }
            Val::Num(num) if num.ty == Ty::F32 => {
                let key = format!("f{:?}", num.at);
                self.one(&num, key)
            }
            _ => self.no(Reason::OtherLanes),
        }
    }
}

/// True if an access writes neighbours of 32 bits.
fn is_plain_store(op: MemoryOp) -> bool {
    op.access == Access::Store && matches!(op.of, Element::F32 | Element::I32)
}
