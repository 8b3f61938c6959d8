//! The text of a loop as what a round of it computes.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::super::emit::{Binding, Emitter, is_cheap};
use super::super::parse::{Expr, Kind, Reader, Ty};
use super::super::scalar::I64;
use super::super::token::Tok;
use super::super::value::{At, Num, Parts, Val, clif_type};
use super::encode::Counter;
use super::values::{Id, Op, Values};

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
}

/// What is known of a loop besides its round.
pub(super) struct Found<'t> {
    pub counter: Counter,
    pub name: &'t str,
    pub limit: Num,
    pub step: Num,
    pub cost: i32,
    pub exit: &'t str,
    /// Where the words are that refill the budget.
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
            given: Vec::new(),
            given_names: HashMap::new(),
            ones: Vec::new(),
            one_keys: HashMap::new(),
            pointers: Vec::new(),
            pointer_keys: HashMap::new(),
            factors: Vec::new(),
            factor_keys: HashMap::new(),
            bound: HashSet::new(),
        }
    }

    /// Reads a loop's body, from its first bracket to behind its last; none where there are no words for something.
    pub fn body(&mut self, r: &mut Reader<'w, 't>) -> Option<Found<'t>> {
        r.want("{").ok()?;
        r.want("{").ok()?;
        self.set = assigned(r)?;
        let mut test = None;
        while !r.eat("}") {
            if r.is_name("if") {
                // Before anything is computed, as what is the same in all rounds is known by what counts them.
                if test.is_some() || !self.values.ops.is_empty() {
                    return None;
                }
                let (cond, label) = leaving(r)?;
                test = Some((self.test(&cond)?, label));
            } else {
                self.statement(r)?;
            }
        }
        let ((goes_on, limit), exit) = test?;
        if matches!(r.words.get(r.at + 1), Some(Tok::Sign(":"))) {
            r.at += 2;
            r.eat(";");
        }
        let (name, ty) = self.counter.clone()?;
        let step = self.step(r, name)?;
        let (cost, refill) = budget(r)?;
        r.want("}").ok()?;
        let Ty::Int { bits, signed } = ty else { return None };
        let counter = Counter { is_long: bits == 64, signed, goes_on };
        Some(Found { counter, name, limit, step, cost, exit, refill })
    }

    fn statement(&mut self, r: &mut Reader<'w, 't>) -> Option<()> {
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
        r.want("=").ok()?;
        let expr = r.expr().ok()?;
        r.want(";").ok()?;
        let Ok(Binding::Variable(Ty::Lanes(Kind::F32 | Kind::I32), _)) = self.e.lookup(name) else { return None };
        let id = self.lanes(&expr)?;
        self.now.insert(name, id);
        Some(())
    }

    /// A constant of the round.
    pub fn define(&mut self, ty: Ty, name: &'t str, expr: Expr<'t>) -> Option<()> {
        // Whether that is the same in all rounds is known by what counts them.
        let computes = matches!(ty, Ty::Lanes(_) | Ty::F32 | Ty::Mask);
        if computes && self.counter.is_none() {
            return None;
        }
        let local = match ty {
            Ty::Lanes(Kind::F32 | Kind::I32) | Ty::F32 => Local::Lanes(self.lanes(&expr)?),
            Ty::Mask => Local::Mask(self.mask(&expr)?),
            // Whether there are words for it shows where it is used, if it is.
            Ty::Int { .. } | Ty::Bool | Ty::Ptr(_) if does_nothing(&expr) => Local::Number(ty, expr),
            _ => return None,
        };
        self.locals.insert(name, local);
        Some(())
    }

    /// `counter < limit`, by way of names.
    fn test(&mut self, cond: &Expr<'t>) -> Option<(&'static str, Num)> {
        let cond = self.meant(cond).clone();
        let Expr::Binary(op @ ("<" | "<=" | ">" | ">=" | "!="), a, b) = cond else { return None };
        let Expr::Name(name) = self.meant(&a) else { return None };
        let name = *name;
        let Ok(Binding::Variable(ty @ Ty::Int { bits: 32 | 64, .. }, _)) = self.e.lookup(name) else { return None };
        self.counter = Some((name, ty.clone()));
        let (limit, _) = self.fixed(&b)?;
        // What is compared is of one type.
        (limit.ty == ty || matches!(limit.at, At::Known(n) if n >= 0 && n <= 0x7fff_ffff)).then_some(())?;
        let limit = self.e.converted(&limit, &ty).ok()?;
        Some((op, limit))
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
            let mut sum = self.meant(&expr).clone();
            while let Expr::Cast(to, inner) = &sum {
                if *to != ty {
                    return None;
                }
                sum = self.meant(inner).clone();
            }
            let Expr::Binary("+", a, b) = sum else { return None };
            if !matches!(self.meant(&a), Expr::Name(name) if *name == counter) {
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
                Some(Local::Number(_, inner)) => self.is_fixed(inner),
                Some(_) => false,
                None => {
                    let varies = self.set.contains(name) || self.counter.as_ref().is_some_and(|(c, _)| c == name);
                    !varies && matches!(self.e.lookup(name), Ok(Binding::Value(Val::Num(_)) | Binding::Variable(..)))
                }
            },
            Expr::Int(..) | Expr::Real(..) => true,
            Expr::Unary("-" | "~" | "!", a) | Expr::Cast(_, a) => self.is_fixed(a),
            Expr::Binary(_, a, b) => is_cheap(expr) && self.is_fixed(a) && self.is_fixed(b),
            Expr::Call(callee, args) => {
                matches!(**callee, Expr::Name("f32_of" | "likely" | "unlikely"))
                    && args.iter().all(|a| self.is_fixed(a))
            }
            _ => false,
        }
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
                    self.bind(&inner)?;
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
            matches!(**callee, Expr::Name("likely" | "unlikely" | "within" | "f32_of")) && args.iter().all(does_nothing)
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

/// `if (cond) { } else { goto label; }`.
fn leaving<'t>(r: &mut Reader<'_, 't>) -> Option<(Expr<'t>, &'t str)> {
    r.eat_name("if");
    r.want("(").ok()?;
    let cond = r.expr().ok()?;
    r.want(")").ok()?;
    r.want("{").ok()?;
    r.want("}").ok()?;
    if !r.eat_name("else") {
        return None;
    }
    r.want("{").ok()?;
    if !r.eat_name("goto") {
        return None;
    }
    let label = r.name().ok()?;
    r.want(";").ok()?;
    r.want("}").ok()?;
    Some((cond, label))
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
    super::super::emit::skip(r).ok()?;
    Some((i32::try_from(*cost).ok()?, refill))
}
