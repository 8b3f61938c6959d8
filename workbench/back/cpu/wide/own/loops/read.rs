//! The text of a loop as what a round of it computes.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::super::emit::{Binding, Emitter, skip};
use super::super::parse::{Expr, Kind, Reader, Ty};
use super::super::scalar::I64;
use super::super::token::Tok;
use super::super::value::{At, Num, Parts, Val};
use super::address::Linear;
use super::encode::{Counter, Store};
use super::text::{assigned, budget, declared, does_nothing, is_mentioned, leaving};
use super::values::{Id, Index, Op, Place, Values};

/// A name of the loop's own.
#[derive(Clone)]
pub(super) enum Local<'t> {
    Lanes(Id),
    Mask(Id),
    Number(Ty, Expr<'t>),
}

/// A loop's text, being read. What is the same in all rounds is computed ahead of it.
pub(super) struct Read<'e, 'w, 't, 'f> {
    pub e: &'e mut Emitter<'w, 't, 'f>,
    pub values: Values,
    pub locals: HashMap<&'t str, Local<'t>>,
    /// What rounds set, in the order in which they do.
    pub set: Vec<&'t str>,
    /// Where they are found and left, if in memory that a block keeps.
    pub homes: Vec<Option<Place>>,
    /// What they are now.
    pub now: HashMap<&'t str, Id>,
    pub counter: Option<(&'t str, Ty)>,
    /// Whether there is but one round, which nothing counts.
    pub once: bool,
    /// What is written, once all is computed.
    pub stores: Vec<Store>,
    /// What the addresses of these are counted from, where that has a name.
    pub spaces: Vec<Option<&'t str>>,
    /// Lines of the cache that are asked for.
    pub asked: Vec<Place>,
    /// What chooses between stores.
    pub flags: Vec<clif::Value>,
    pub given: Vec<Parts>,
    given_names: HashMap<String, usize>,
    /// In 32 bits each.
    pub ones: Vec<clif::Value>,
    pub one_keys: HashMap<String, usize>,
    pub pointers: Vec<clif::Value>,
    pub pointer_keys: HashMap<String, usize>,
    pub factors: Vec<clif::Value>,
    pub factor_keys: HashMap<String, usize>,
    /// Names that are bound already.
    pub bound: HashSet<&'t str>,
    /// Which names are the same in all rounds.
    pub fixed: RefCell<HashMap<&'t str, bool>>,
    /// What names are as addresses.
    pub linear: HashMap<&'t str, Option<Linear>>,
    /// How many names are being looked into.
    pub depth: Cell<u32>,
}

/// What a text's function does not see of its caller.
pub(super) struct Outer<'t> {
    locals: HashMap<&'t str, Local<'t>>,
    bound: HashSet<&'t str>,
    fixed: HashMap<&'t str, bool>,
    linear: HashMap<&'t str, Option<Linear>>,
}

/// How many names may be made of one another; more are not worth the stack.
pub(super) const DEPTH: u32 = 200;

/// What is known of a loop besides its round.
pub(super) struct Found<'t> {
    pub counter: Counter,
    pub name: &'t str,
    pub limit: Num,
    pub step: Num,
    /// Where the words of a round are that end with leaving the loop.
    pub leaving: std::ops::Range<usize>,
    /// Where those are that refill the budget.
    pub refill: usize,
    /// Where the words go on, if the loop does what follows: to keep what it set.
    pub kept: Option<usize>,
}

impl<'e, 'w, 't, 'f> Read<'e, 'w, 't, 'f> {
    pub fn new(e: &'e mut Emitter<'w, 't, 'f>) -> Self {
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
        }
    }

    /// Goes into a function of the text, which knows these names.
    pub fn enter(&mut self, locals: HashMap<&'t str, Local<'t>>) -> Outer<'t> {
        self.e.push_scope();
        Outer {
            locals: std::mem::replace(&mut self.locals, locals),
            bound: std::mem::take(&mut self.bound),
            fixed: self.fixed.take(),
            linear: std::mem::take(&mut self.linear),
        }
    }

    pub fn leave(&mut self, outer: Outer<'t>) {
        self.e.pop_scope();
        let Outer { locals, bound, fixed, linear } = outer;
        (self.locals, self.bound, self.linear) = (locals, bound, linear);
        self.fixed = RefCell::new(fixed);
    }

    /// Reads a loop's body, from its first bracket to behind its last; none where there are no words for something.
    pub fn body(&mut self, r: &mut Reader<'w, 't>) -> Option<Found<'t>> {
        r.want("{").ok()?;
        r.want("{").ok()?;
        let begin = r.at;
        self.set = assigned(r)?;
        self.homes = vec![None; self.set.len()];
        let mut test = None;
        while !r.eat("}") {
            if r.is_name("if") && test.is_none() {
                // Before anything is computed, as what is the same in all rounds is known by what counts them.
                if !self.values.ops.is_empty() {
                    return None;
                }
                let (cond, label) = leaving(r)?;
                test = Some((self.test(&cond)?, label, begin..r.at));
            } else {
                self.statement(r)?;
            }
        }
        let ((goes_on, limit), label, leaving) = test?;
        if matches!(r.words.get(r.at + 1), Some(Tok::Sign(":"))) {
            // Whoever goes there goes on.
            if label == Some(r.name().ok()?) {
                return None;
            }
            r.at += 1;
            r.eat(";");
        }
        let (name, ty) = self.counter.clone()?;
        let step = self.step(r, name)?;
        let (cost, refill) = budget(r)?;
        r.want("}").ok()?;
        let Ty::Int { bits, signed } = ty else { return None };
        let counter = Counter { is_long: bits == 64, signed, goes_on, cost };
        let kept = label.and_then(|label| self.homes(r, label));
        Some(Found { counter, name, limit, step, leaving, refill, kept })
    }

    /// Of what rounds set, what begins as what a block keeps and is kept there again right after the loop: it need not be brought. Gives
    /// where the words go on behind that.
    fn homes(&mut self, r: &Reader<'w, 't>, label: &'t str) -> Option<usize> {
        let mut r = Reader::new(r.words, r.at);
        if !(r.eat_name(label) && r.eat(":")) {
            return None;
        }
        r.eat(";");
        let mut past = None;
        while r.is_name("st_f32") || r.is_name("st_i32") {
            let expr = r.expr().ok()?;
            r.want(";").ok()?;
            let Expr::Call(_, args) = &expr else { break };
            let [to, Expr::Name(name)] = &args[..] else { break };
            let Some(i) = self.set.iter().position(|set| set == name) else { break };
            let (Some(from), Some(to)) = (self.found_at(name), self.place(to)) else { break };
            if from != to || to.index != Index::None || self.homes[i].is_some() {
                break;
            }
            self.homes[i] = Some(to);
            past = Some(r.at);
        }
        past
    }

    /// Where in memory a variable still is as it begins.
    fn found_at(&mut self, name: &str) -> Option<Place> {
        let kept = self.e.kept.get(name).filter(|kept| kept.written == self.e.written)?;
        let (at, parts) = (kept.at.clone(), kept.parts);
        let binding = self.e.lookup(name).ok()?;
        let Val::Lanes(_, now) = self.e.get(&binding).ok()? else { return None };
        (now[..4] == parts).then(|| self.place(&at)).flatten()
    }

    /// Reads what is done once, from its first bracket to behind its last.
    pub fn stretch(&mut self, r: &mut Reader<'w, 't>) -> Option<()> {
        r.want("{").ok()?;
        self.once = true;
        self.set = assigned(r)?;
        while !r.eat("}") {
            self.statement(r)?;
        }
        // What is set is of use here alone.
        let set = std::mem::take(&mut self.set);
        let ends = set.iter().all(|name| self.e.is_of_outer(name)) && !is_mentioned(r, &set);
        ends.then_some(())
    }

    fn statement(&mut self, r: &mut Reader<'w, 't>) -> Option<()> {
        if r.eat(";") {
            return Some(());
        }
        if r.is("{") || r.is_name("if") {
            return self.stores(r, None);
        }
        if r.at_type() {
            let (ty, name, expr) = declared(r)?;
            return self.define(ty, name, expr);
        }
        let name = r.name().ok()?;
        if r.is("(") {
            r.at -= 1;
            return self.access(r, None);
        }
        r.want("=").ok()?;
        let expr = r.expr().ok()?;
        r.want(";").ok()?;
        let Ok(Binding::Variable(Ty::Lanes(Kind::F32 | Kind::I32), _)) = self.e.lookup(name) else { return None };
        let id = self.lanes(&expr)?;
        self.now.insert(name, id);
        Some(())
    }

    /// Stores in brackets, and a choice of such.
    fn stores(&mut self, r: &mut Reader<'w, 't>, when: Option<(usize, bool)>) -> Option<()> {
        if r.eat("{") {
            while !r.eat("}") {
                match r.is("{") || r.is_name("if") {
                    true => self.stores(r, when)?,
                    false => self.access(r, when)?,
                }
            }
            return Some(());
        }
        if when.is_some() || !r.eat_name("if") {
            return None;
        }
        r.want("(").ok()?;
        let cond = r.expr().ok()?;
        r.want(")").ok()?;
        if !self.is_fixed(&cond) {
            return None;
        }
        self.bind(&cond)?;
        let truth = self.e.truth(&cond).ok()?;
        let flag = match truth.at {
            At::Known(n) => Err(n != 0),
            At::Value(v) => {
                let v = self.e.b.ins().uextend(types::I64, v);
                self.flags.push(v);
                Ok(self.flags.len() - 1)
            }
        };
        for side in [true, false] {
            if !side && !r.eat_name("else") {
                break;
            }
            match flag {
                Ok(flag) => self.stores(r, Some((flag, side)))?,
                Err(known) if known == side => self.stores(r, None)?,
                Err(_) => skip(r).ok()?,
            }
        }
        Some(())
    }

    /// A store, or asking for a line of the cache.
    fn access(&mut self, r: &mut Reader<'w, 't>, when: Option<(usize, bool)>) -> Option<()> {
        let Expr::Call(callee, args) = r.expr().ok()? else { return None };
        r.want(";").ok()?;
        let Expr::Name(name) = *callee else { return None };
        match (name, &args[..]) {
            ("st_f32" | "st_i32" | "nt_f32" | "nt_i32", [at, value]) => {
                let (place, id) = (self.place(at)?, self.lanes(value)?);
                self.spaces.push(at.space());
                self.stores.push(Store { when, past: name.starts_with("nt"), place, id });
            }
            ("__builtin_prefetch", [at]) if when.is_none() => {
                let place = self.place(at)?;
                self.asked.push(place);
            }
            _ => return None,
        }
        Some(())
    }

    /// A constant of the round.
    pub fn define(&mut self, ty: Ty, name: &'t str, expr: Expr<'t>) -> Option<()> {
        // What is the same in all rounds is known by what counts them, so before that nothing is computed.
        let known = self.once || self.counter.is_some();
        let computed = match ty {
            Ty::Lanes(Kind::F32 | Kind::I32) | Ty::F32 if known => self.lanes(&expr).map(Local::Lanes),
            Ty::Mask if known => self.mask(&expr).map(Local::Mask),
            _ => None,
        };
        // Whether there are words for it shows where it is used, if it is.
        let local = match computed {
            Some(local) => local,
            None if does_nothing(&expr) => Local::Number(ty, expr),
            None => return None,
        };
        self.locals.insert(name, local);
        // What is known of a name is found when it is defined, not by way of all that it is made of.
        if known {
            self.is_fixed(&Expr::Name(name));
        }
        Some(())
    }

    /// `counter < limit`, by way of names; also with something added to the counter, in 64 bits.
    fn test(&mut self, cond: &Expr<'t>) -> Option<(&'static str, Num)> {
        let cond = self.meant(cond).clone();
        let Expr::Binary(op @ ("<" | "<=" | ">" | ">=" | "!="), a, b) = cond else { return None };
        let a = self.meant(&a).clone();
        let name = self.counted(&a)?;
        let Ok(Binding::Variable(ty @ Ty::Int { bits: 32 | 64, .. }, _)) = self.e.lookup(name) else { return None };
        self.counter = Some((name, ty.clone()));
        self.fixed.take();
        self.linear.clear();
        let (limit, _) = self.fixed(&b)?;
        if matches!(a, Expr::Name(_)) {
            // What is compared is of one type.
            (limit.ty == ty || matches!(limit.at, At::Known(0..=0x7fff_ffff))).then_some(())?;
            let limit = self.e.converted(&limit, &ty).ok()?;
            return Some((op, limit));
        }
        // Both are of 32 bits, so that nothing wraps around.
        let is_short = matches!(&*b, Expr::Cast(Ty::Int { bits: 64, signed: true }, b) if self.is_short(b));
        (is_short && ty == Ty::int(32, true) && limit.ty == I64).then_some(())?;
        let more = self.more(&a).filter(|more| more.unsigned_abs() < 1 << 31)?;
        let limit = self.e.value(&limit);
        let limit = self.e.b.ins().iadd_imm_s(limit, -more);
        Some((op, Num { at: At::Value(limit), ty: I64 }))
    }

    /// The variable that a sum of it and known numbers is of.
    fn counted(&self, expr: &Expr<'t>) -> Option<&'t str> {
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(_, inner)) => self.counted(inner),
                Some(_) => None,
                None => Some(name),
            },
            Expr::Cast(_, inner) => self.counted(inner),
            Expr::Binary("+", a, _) => self.counted(a),
            _ => None,
        }
    }

    /// The type of a name or a cast.
    fn type_of(&self, expr: &Expr<'t>) -> Option<Ty> {
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(ty, _)) => Some(ty.clone()),
                Some(_) => None,
                None => match self.e.lookup(name).ok()? {
                    Binding::Value(Val::Num(num)) => Some(num.ty),
                    Binding::Variable(ty, _) => Some(ty),
                    _ => None,
                },
            },
            Expr::Cast(ty, _) => Some(ty.clone()),
            _ => None,
        }
    }

    /// Whether something has 32 bits or fewer.
    fn is_short(&self, expr: &Expr<'t>) -> bool {
        matches!(self.type_of(expr), Some(Ty::Int { bits: 8..=32, .. }))
    }

    /// What a name or a cast to the same type stands for in the end.
    fn meant<'a>(&'a self, expr: &'a Expr<'t>) -> &'a Expr<'t> {
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(ty, inner)) if *ty == Ty::Bool || self.type_of(inner).as_ref() == Some(ty) => {
                    self.meant(inner)
                }
                _ => expr,
            },
            Expr::Cast(Ty::Bool, inner) => self.meant(inner),
            _ => expr,
        }
    }

    /// What a name or a cast to a type of as many bits stands for in the end.
    fn same_bits<'a>(&'a self, expr: &'a Expr<'t>, bits: u8) -> &'a Expr<'t> {
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(Ty::Int { bits: of, .. }, inner)) if *of == bits => self.same_bits(inner, bits),
                _ => expr,
            },
            Expr::Cast(Ty::Int { bits: of, .. }, inner) if *of == bits => self.same_bits(inner, bits),
            _ => expr,
        }
    }

    /// `{ ... counter = counter + step; }`.
    fn step(&mut self, r: &mut Reader<'w, 't>, counter: &'t str) -> Option<Num> {
        r.want("{").ok()?;
        let mut step = None;
        while !r.eat("}") {
            if r.at_type() {
                self.statement(r)?;
                continue;
            }
            let name = r.name().ok()?;
            r.want("=").ok()?;
            let expr = r.expr().ok()?;
            r.want(";").ok()?;
            if name != counter || step.is_some() {
                return None;
            }
            let (_, ty) = self.counter.clone()?;
            let Ty::Int { bits, .. } = ty else { return None };
            // By way of types of as many bits: sums of them are the same.
            let sum = self.same_bits(&expr, bits).clone();
            let Expr::Binary("+", a, b) = sum else { return None };
            if !matches!(self.same_bits(&a, bits), Expr::Name(name) if *name == counter) {
                return None;
            }
            let (num, _) = self.fixed(&b)?;
            step = Some(self.e.converted(&num, &ty).ok()?);
        }
        step
    }

    /// Lanes, or a float, of a name.
    pub fn named(&mut self, name: &'t str) -> Option<Id> {
        match self.locals.get(name) {
            Some(Local::Lanes(id)) => return Some(*id),
            Some(_) => return None,
            None => {}
        }
        if let Some(id) = self.now.get(name) {
            return Some(*id);
        }
        if let Some(at) = self.set.iter().position(|set| *set == name) {
            if self.once {
                return None;
            }
            return self.values.add(Op::Carried(at));
        }
        let binding = self.e.lookup(name).ok()?;
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
            _ => None,
        }
    }
}
