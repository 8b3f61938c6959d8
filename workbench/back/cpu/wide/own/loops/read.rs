//! The text of a loop as what a round of it computes.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::super::emit::{Binding, Emitter, skip};
use super::super::parse::{Expr, Kind, Reader, Ty};
use super::super::scalar::I64;
use super::super::token::Tok;
use super::super::value::{At, Num, Parts, Val, clif_type};
use super::address::Linear;
use super::encode::{Counter, Store};
use super::values::{Id, Op, Place, Values};

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
    /// What these are now.
    pub now: HashMap<&'t str, Id>,
    pub counter: Option<(&'t str, Ty)>,
    /// Whether there is but one round, which nothing counts.
    pub once: bool,
    /// What is written, once all is computed.
    pub stores: Vec<Store>,
    /// Lines of the cache that are asked for.
    pub asked: Vec<Place>,
    /// What chooses between stores.
    pub flags: Vec<clif::Value>,
    pub given: Vec<Parts>,
    given_names: HashMap<String, usize>,
    /// In 32 bits each.
    pub ones: Vec<clif::Value>,
    one_keys: HashMap<String, usize>,
    pub pointers: Vec<clif::Value>,
    pub pointer_keys: HashMap<String, usize>,
    pub factors: Vec<clif::Value>,
    pub factor_keys: HashMap<String, usize>,
    /// Names that are bound already.
    bound: HashSet<&'t str>,
    /// Which names are the same in all rounds.
    fixed: RefCell<HashMap<&'t str, bool>>,
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
}

impl<'e, 'w, 't, 'f> Read<'e, 'w, 't, 'f> {
    pub fn new(e: &'e mut Emitter<'w, 't, 'f>) -> Self {
        Read {
            e,
            values: Values::default(),
            locals: HashMap::new(),
            set: Vec::new(),
            now: HashMap::new(),
            counter: None,
            once: false,
            stores: Vec::new(),
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
        let mut test = None;
        while !r.eat("}") {
            if r.is_name("if") && test.is_none() {
                // Before anything is computed, as what is the same in all rounds is known by what counts them.
                if !self.values.ops.is_empty() {
                    return None;
                }
                let cond = leaving(r)?;
                test = Some((self.test(&cond)?, begin..r.at));
            } else {
                self.statement(r)?;
            }
        }
        let ((goes_on, limit), leaving) = test?;
        if matches!(r.words.get(r.at + 1), Some(Tok::Sign(":"))) {
            r.at += 2;
            r.eat(";");
        }
        let (name, ty) = self.counter.clone()?;
        let step = self.step(r, name)?;
        let (cost, refill) = budget(r)?;
        r.want("}").ok()?;
        let Ty::Int { bits, signed } = ty else { return None };
        let counter = Counter { is_long: bits == 64, signed, goes_on, cost };
        Some(Found { counter, name, limit, step, leaving, refill })
    }

    /// Reads what is done once, from its first bracket to behind its last.
    pub fn stretch(&mut self, r: &mut Reader<'w, 't>) -> Option<()> {
        r.want("{").ok()?;
        self.once = true;
        if !assigned(r)?.is_empty() {
            return None;
        }
        while !r.eat("}") {
            self.statement(r)?;
        }
        Some(())
    }

    fn statement(&mut self, r: &mut Reader<'w, 't>) -> Option<()> {
        if r.eat(";") {
            return Some(());
        }
        if r.is("{") || r.is_name("if") {
            return self.stores(r, None);
        }
        if r.at_type() {
            let (ty, constant) = r.ty().ok()?;
            let name = r.name().ok()?;
            if !constant || !r.eat("=") {
                return None;
            }
            let expr = r.expr().ok()?;
            r.want(";").ok()?;
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
            (limit.ty == ty || matches!(limit.at, At::Known(n) if n >= 0 && n <= 0x7fff_ffff)).then_some(())?;
            let limit = self.e.converted(&limit, &ty).ok()?;
            return Some((op, limit));
        }
        // Both are of 32 bits, so that nothing wraps around.
        let is_short = matches!(&*b, Expr::Cast(Ty::Int { bits: 64, signed: true }, b) if self.is_short(b));
        (is_short && ty == Ty::int(32, true) && limit.ty == I64).then_some(())?;
        let more = self.more(&a)?;
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

    /// Whether something has 32 bits or fewer.
    fn is_short(&self, expr: &Expr<'t>) -> bool {
        let short = |ty: &Ty| matches!(ty, Ty::Int { bits: 8..=32, .. });
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(ty, _)) => short(ty),
                Some(_) => false,
                None => match self.e.lookup(name) {
                    Ok(Binding::Value(Val::Num(num))) => short(&num.ty),
                    Ok(Binding::Variable(ty, _)) => short(&ty),
                    _ => false,
                },
            },
            Expr::Cast(ty, _) => short(ty),
            _ => false,
        }
    }

    /// What a name or a cast to the same type stands for in the end.
    fn meant<'a>(&'a self, expr: &'a Expr<'t>) -> &'a Expr<'t> {
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(_, inner)) => self.meant(inner),
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

    /// Whether something is the same in all rounds, and costs nothing that rounds that never are might not have.
    pub fn is_fixed(&self, expr: &Expr<'t>) -> bool {
        match expr {
            Expr::Name(name) => match self.locals.get(name) {
                Some(Local::Number(_, inner)) => self.is_name_fixed(name, inner),
                Some(_) => false,
                None => {
                    let varies = self.set.contains(name) || self.counter.as_ref().is_some_and(|(c, _)| c == name);
                    !varies && matches!(self.e.lookup(name), Ok(Binding::Value(Val::Num(_)) | Binding::Variable(..)))
                }
            },
            Expr::Int(..) | Expr::Real(..) => true,
            Expr::Unary("-" | "~" | "!", a) | Expr::Cast(_, a) => self.is_fixed(a),
            // By something else it might be a division by zero.
            Expr::Binary("/" | "%", a, b) => matches!(**b, Expr::Int(1..=0xffff, ..)) && self.is_fixed(a),
            Expr::Binary(_, a, b) => self.is_fixed(a) && self.is_fixed(b),
            Expr::Call(callee, args) => {
                matches!(**callee, Expr::Name("f32_of" | "likely" | "unlikely" | "is_line"))
                    && args.iter().all(|a| self.is_fixed(a))
            }
            _ => false,
        }
    }

    fn is_name_fixed(&self, name: &'t str, inner: &Expr<'t>) -> bool {
        if let Some(known) = self.fixed.borrow().get(name) {
            return *known;
        }
        if self.depth.get() == DEPTH {
            return false;
        }
        self.depth.set(self.depth.get() + 1);
        let is_fixed = self.is_fixed(inner);
        self.depth.set(self.depth.get() - 1);
        self.fixed.borrow_mut().insert(name, is_fixed);
        is_fixed
    }

    /// What is the same in all rounds, and words that are the same where that is the same.
    pub fn fixed(&mut self, expr: &Expr<'t>) -> Option<(Num, String)> {
        if !self.is_fixed(expr) {
            return None;
        }
        self.bind(expr)?;
        let num = self.e.num(expr).ok()?;
        let key = match num.at {
            At::Known(n) => n.to_string(),
            At::Value(_) => self.key(expr)?,
        };
        Some((num, key))
    }

    /// Gives the names in something that is the same in all rounds their values.
    fn bind(&mut self, expr: &Expr<'t>) -> Option<()> {
        match expr {
            Expr::Name(name) => {
                if let Some(Local::Number(ty, inner)) = self.locals.get(name).cloned()
                    && self.bound.insert(name)
                {
                    if self.depth.get() == DEPTH {
                        return None;
                    }
                    self.depth.set(self.depth.get() + 1);
                    let bound = self.bind(&inner);
                    self.depth.set(self.depth.get() - 1);
                    bound?;
                    let value = self.e.eval(&inner).ok()?;
                    let value = self.e.as_type(&value, &ty).ok()?;
                    self.e.bind(name, Binding::Value(value));
                }
            }
            Expr::Unary(_, a) | Expr::Cast(_, a) => self.bind(a)?,
            Expr::Binary(_, a, b) => {
                self.bind(a)?;
                self.bind(b)?;
            }
            Expr::Call(_, args) => args.iter().try_for_each(|arg| self.bind(arg))?,
            _ => {}
        }
        Some(())
    }

    /// Words for an expression in which names are what they stand for.
    fn key(&mut self, expr: &Expr<'t>) -> Option<String> {
        Some(match expr {
            Expr::Name(name) => {
                let binding = self.e.lookup(name).ok()?;
                let Val::Num(num) = self.e.get(&binding).ok()? else { return None };
                match num.at {
                    At::Known(n) => n.to_string(),
                    At::Value(v) => self.e.b.func.dfg.resolve_aliases(v).to_string(),
                }
            }
            Expr::Cast(ty, a) => format!("({ty:?}){}", self.key(a)?),
            Expr::Unary(op, a) => format!("{op}{}", self.key(a)?),
            Expr::Binary(op, a, b) => format!("({}{op}{})", self.key(a)?, self.key(b)?),
            other => format!("{other:?}"),
        })
    }

    /// A number in all lanes.
    pub fn one(&mut self, num: &Num, key: String) -> Option<Id> {
        let at = match self.one_keys.get(&key) {
            Some(at) => *at,
            None => {
                if !matches!(clif_type(&num.ty), types::I32 | types::F32) {
                    return None;
                }
                let value = self.e.value(num);
                self.one_keys.insert(key, self.ones.len());
                self.ones.push(value);
                self.ones.len() - 1
            }
        };
        self.values.add(Op::One(at))
    }

    /// Bits in all lanes.
    pub fn bits(&mut self, bits: u32) -> Option<Id> {
        let num = Num { at: At::Known(i128::from(bits)), ty: Ty::int(32, false) };
        self.one(&num, format!("{bits:#x}"))
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

    /// A number in 64 bits.
    pub fn long(&mut self, num: &Num) -> Option<Num> {
        match num.ty {
            Ty::Ptr(_) => Some(num.clone()),
            _ => self.e.converted(num, &I64).ok(),
        }
    }

    /// Machine instructions for what is the same in all rounds.
    pub fn combined(&mut self, op: &str, a: clif::Value, b: clif::Value) -> clif::Value {
        match op {
            "+" => self.e.b.ins().iadd(a, b),
            "-" => self.e.b.ins().isub(a, b),
            _ => self.e.b.ins().imul(a, b),
        }
    }
}

/// Whether computing something does nothing else.
fn does_nothing(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Int(..) | Expr::Real(..) | Expr::Name(_) => true,
        Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) => does_nothing(a),
        Expr::Binary(_, a, b) | Expr::Index(a, b) => does_nothing(a) && does_nothing(b),
        Expr::Cond(parts) => parts.iter().all(does_nothing),
        Expr::Call(callee, args) => {
            let Expr::Name(name) = **callee else { return false };
            let of_lanes =
                ["lt_", "le_", "gt_", "ge_", "eq_", "ne_", "line_", "splat_", "widen_", "add_", "sub_", "mul_", "shl_"];
            let known = matches!(name, "likely" | "unlikely" | "within" | "f32_of");
            (known || of_lanes.iter().any(|start| name.starts_with(start))) && args.iter().all(does_nothing)
        }
        Expr::Assign(..) => false,
    }
}

/// The names that a body's statements set, up to the bracket that closes it.
fn assigned<'t>(r: &Reader<'_, 't>) -> Option<Vec<&'t str>> {
    let (mut depth, mut set) = (0, Vec::new());
    // From the bracket on.
    for words in r.words[r.at - 1..].windows(3) {
        match words {
            [_, _, Tok::Sign("|=" | "&=" | "+=" | "-=")] => return None,
            // What begins a statement; a declaration has its type before the name.
            [Tok::Sign(";" | "{" | "}"), Tok::Name(name), Tok::Sign("=")] if !set.contains(name) => set.push(*name),
            _ => {}
        }
        match words[0] {
            Tok::Sign("{") => depth += 1,
            Tok::Sign("}") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(set);
        }
    }
    None
}

/// `if (cond) { } else { ... goto label; }` and `if (!cond) { ... break; }`: the condition to stay.
fn leaving<'t>(r: &mut Reader<'_, 't>) -> Option<Expr<'t>> {
    r.eat_name("if");
    r.want("(").ok()?;
    let cond = r.expr().ok()?;
    r.want(")").ok()?;
    let cond = match cond {
        Expr::Unary("!", cond) => *cond,
        cond => {
            r.want("{").ok()?;
            r.want("}").ok()?;
            if !r.eat_name("else") {
                return None;
            }
            cond
        }
    };
    skip(r).ok()?;
    // It leaves in the end.
    let last = r.words.get(r.at.checked_sub(4)?..r.at)?;
    let leaves = matches!(
        last,
        [_, Tok::Name("break"), Tok::Sign(";"), Tok::Sign("}")]
            | [Tok::Name("goto"), Tok::Name(_), Tok::Sign(";"), Tok::Sign("}")]
    );
    leaves.then_some(cond)
}

/// `if (unlikely((budget -= cost) < 0)) { ... }`: the cost, and where the bracket is.
fn budget(r: &mut Reader<'_, '_>) -> Option<(i32, usize)> {
    if !r.eat_name("if") {
        return None;
    }
    r.want("(").ok()?;
    let cond = r.expr().ok()?;
    r.want(")").ok()?;
    let Expr::Call(callee, args) = cond else { return None };
    let ([Expr::Binary("<", assign, zero)], Expr::Name("unlikely")) = (&args[..], &*callee) else { return None };
    let (Expr::Assign("-", name, cost), Expr::Int(0, ..)) = (&**assign, &**zero) else { return None };
    let (Expr::Name("budget"), Expr::Int(cost, ..)) = (&**name, &**cost) else { return None };
    let refill = r.at;
    skip(r).ok()?;
    Some((i32::try_from(*cost).ok()?, refill))
}
