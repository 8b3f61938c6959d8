//! Loops whose accesses are checked once, before the first round.
//!
//! Where a loop counts up to a bound that does not change, and an access is at a place that moves evenly with the counter, the places in
//! the first and the last round bound all others. If both are in bounds, for each such access, the loop runs without their checks; else it
//! runs with them. The conditions are computed in 128 bits, which nothing here leaves, or in 64 where that is certain: a 32-bit number
//! that is widened has to be in its type's range at both ends, where it then is what the kernel computes modulo 2^32.

use std::collections::HashSet;

use super::{Form, MAX_EXPRESSION, Printer, Version};
use crate::back::cpu::analysis::Root;
use crate::back::cpu::wide::Result;
use crate::back::cpu::wide::forms::{FOLLOWED, LANES, SMALL, first_exit};
use crate::ir::{BinaryOp, Block, CompareOp, Local, Op, Scalar, Stmt, Type, Value};

/// Deepest expression that is followed.
const MAX_DEPTH: u32 = 24;

/// Bytes to look ahead: what a memory's latency is worth.
const AHEAD: i64 = 4096;

/// Numbers below this may be added up in 64 bits.
const LARGE: f64 = 1e18;

/// Most conditions on the parts of one expression.
const MAX_NEEDS: usize = 32;

/// Most products of two numbers in one: each is of 64 bits at most.
const MAX_PRODUCTS: u32 = 2;

/// What a loop counts.
struct Counter {
    local: Local,
    bound: Value,
    /// Whether the bound is passed by the last round's counter, and not reached.
    inclusive: bool,
    /// What a round adds.
    by: Value,
    /// Bound on its absolute value.
    most: f64,
    /// The locals that the loop sets, and the values that it defines.
    sets: HashSet<Local>,
    own: HashSet<Value>,
    version: Version,
}

/// Accesses of a loop that need no checks.
pub(super) struct Unchecked {
    /// On what condition.
    pub test: String,
    /// Their pointers.
    pub proven: HashSet<Value>,
    /// Whether nothing else in the loop may fault.
    pub all: bool,
}

/// `a + b * counter`, as C.
struct Line {
    a: String,
    b: String,
    products: u32,
    /// Bounds on the absolute values of `a` and `b`, and on those of all that they are made of.
    most: (f64, f64),
    peak: f64,
    /// Expressions, as this one, with the least and most that they may be.
    needs: Vec<(String, String, String, String)>,
}

impl Line {
    fn of(a: String, most: u64) -> Self {
        let most = most as f64;
        Line { a, b: "0".to_owned(), products: 0, most: (most, 0.0), peak: most, needs: Vec::new() }
    }

    /// Notes how large the expression itself may be.
    fn noted(mut self, counter: &Counter) -> Self {
        self.peak = self.peak.max(self.most.0 + self.most.1 * counter.most);
        self
    }

    fn need(&mut self, least: impl ToString, most: impl ToString) {
        self.needs.push((self.a.clone(), self.b.clone(), least.to_string(), most.to_string()));
    }
}

fn for_each(body: &Block, step: &Block, mut f: impl FnMut(&Stmt)) {
    body.for_each_stmt(&mut f);
    step.for_each_stmt(&mut f);
}

impl Printer<'_> {
    /// The condition on which some accesses of a loop need no checks, and their pointers; `None` where there are none.
    pub(super) fn unchecked(&mut self, stmt: &Stmt, version: Version) -> Result<Option<Unchecked>> {
        let Some((counter, body, step)) = self.counter(stmt, version) else { return Ok(None) };
        let mut accesses = Vec::new();
        let mut others = false;
        for_each(body, step, |stmt| match stmt {
            Stmt::Let(v, Op::Load { ptr, ty: Type::Scalar(s), .. }) => accesses.push((*ptr, *s, false, Some(*v))),
            Stmt::Store { ptr, value, .. } => {
                if let Some(s) = self.func.ty(*value).scalar() {
                    accesses.push((*ptr, s, true, None));
                }
            }
            Stmt::Let(v, Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..)) => others |= !self.scalar(*v).is_float(),
            Stmt::Let(..) | Stmt::Set(..) | Stmt::If { .. } | Stmt::Scope { .. } => {}
            Stmt::Break(_) | Stmt::Continue(_) => {}
            _ => others = true,
        });
        let Some(mut conditions) = self.ends(&counter)? else { return Ok(None) };
        let mut proven = HashSet::new();
        // What may fault besides must find every store checked: after a fault it writes no more.
        let mut found = Vec::new();
        for (ptr, s, write, _) in &accesses {
            match self.bounds(*ptr, *s, *write, &counter)? {
                Some(all) => found.push((*ptr, *write, all)),
                None => others = true,
            }
        }
        for (ptr, write, all) in found {
            if !(write && others) {
                proven.insert(ptr);
                conditions.extend(all);
            }
        }
        conditions.sort();
        conditions.dedup();
        let is_any = !proven.is_empty() && conditions.len() <= 120;
        let test = format!("!st.faulted && {}", conditions.join(" && "));
        Ok(is_any.then_some(Unchecked { test, proven, all: !others }))
    }

    /// What a loop counts: a local that its step alone sets, by adding what does not change, up to what does not change.
    fn counter<'s>(&self, stmt: &'s Stmt, version: Version) -> Option<(Counter, &'s Block, &'s Block)> {
        let Stmt::Loop { body, step, .. } = stmt else { return None };
        let (_, cond, stays) = first_exit(stmt)?;
        let mut sets = Vec::new();
        let mut own = HashSet::new();
        let mut inner = false;
        for_each(body, step, |stmt| {
            match stmt {
                Stmt::Set(l, v) => sets.push((*l, *v)),
                Stmt::Loop { .. } => inner = true,
                _ => {}
            }
            own.extend(stmt.result());
        });
        let Some(Op::Compare(op, a, b)) = self.op_of(cond) else { return None };
        let (op, first, bound) = match (op, stays) {
            (CompareOp::Lt | CompareOp::Le, true) => (*op, *a, *b),
            (CompareOp::Gt | CompareOp::Ge, true) => (*op, *b, *a),
            (CompareOp::Ge | CompareOp::Gt, false) => (*op, *a, *b),
            (CompareOp::Le | CompareOp::Lt, false) => (*op, *b, *a),
            _ => return None,
        };
        let inclusive =
            matches!((op, stays), (CompareOp::Le | CompareOp::Ge, true) | (CompareOp::Gt | CompareOp::Lt, false));
        let Some(Op::Get(local)) = self.op_of(first) else { return None };
        let mut own_sets = sets.iter().filter(|(l, _)| l == local);
        let (Some((_, next)), None) = (own_sets.next(), own_sets.next()) else { return None };
        let in_step = step.stmts.iter().any(|s| matches!(s, Stmt::Set(l, _) if l == local));
        let next = self.same_bits(*next);
        let Some(Op::Binary(BinaryOp::Add, x, y)) = self.op_of(next) else { return None };
        let is_own = |v: &Value| matches!(self.op_of(self.same_bits(*v)), Some(Op::Get(l)) if l == local);
        let by = match (is_own(x), is_own(y)) {
            (true, false) => *y,
            (false, true) => *x,
            _ => return None,
        };
        let s = self.func.locals[local.index()].ty.scalar()?;
        let fits = matches!(s, Scalar::I32 | Scalar::U32 | Scalar::I64) && in_step && !inner;
        let sets = sets.into_iter().map(|(l, _)| l).collect();
        let most = if s.bits() == 32 { 4.3e9 } else { 1.9e19 };
        let counter = Counter { local: *local, bound, inclusive, by, most, sets, own, version };
        (fits && self.func.ty(bound).scalar() == Some(s)).then_some((counter, body, step))
    }

    /// What a value is but for its signedness.
    fn same_bits(&self, v: Value) -> Value {
        match self.op_of(v) {
            Some(Op::Convert(to, a))
                if self.func.ty(*a).scalar().is_some_and(|s| s.is_int() && s.bits() == to.bits()) =>
            {
                self.same_bits(*a)
            }
            _ => v,
        }
    }

    /// Declares the counter at both ends, once or for each chunk: `first<u>` and `last<u>`; the conditions on which these are the ends.
    fn ends(&mut self, counter: &Counter) -> Result<Option<Vec<String>>> {
        let (prefix, form) = self.local(counter.local, counter.version);
        let reach = self.reach(form);
        let s = self.func.locals[counter.local.index()].ty.scalar();
        let (Some(s), false) = (s, form == Form::Lanes || reach < 0) else { return Ok(None) };
        let parts = (self.line_of(counter.bound, 0, counter, 0), self.line_of(counter.by, 0, counter, 0));
        let (Some(bound), Some(by)) = parts else { return Ok(None) };
        let group = |v| self.ahead(v, counter.version) == Form::Group;
        if bound.b != "0"
            || by.b != "0"
            || !bound.needs.is_empty()
            || !by.needs.is_empty()
            || !group(counter.bound)
            || !group(counter.by)
        {
            return Ok(None);
        }
        let most = match s {
            Scalar::I32 => i64::from(i32::MAX),
            Scalar::U32 => i64::from(u32::MAX),
            _ => i64::MAX,
        };
        let number = if bound.peak.max(by.peak).max(counter.most) < LARGE { "i64" } else { "wide" };
        let as_number = |text: &str| text.replace("(wide)", &format!("({number})"));
        let (bound, by) = (as_number(&bound.a), as_number(&by.a));
        let last = if counter.inclusive { bound } else { format!("({bound} - 1)") };
        let times = self.times(form);
        for u in 0..times {
            let now = match form.is_whole() {
                true => format!("{prefix}{}", counter.local.index()),
                false => format!("{prefix}{}_{u}", counter.local.index()),
            };
            self.line(format!("const {number} first{u} = ({number}){now}, last{u} = {last} - {reach};"));
        }
        let mut all = vec![format!("({by} > 0 && {last} + {by} <= {most}ll)")];
        all.extend((0..times).map(|u| format!("first{u} <= last{u}")));
        Ok(Some(all))
    }

    /// The counter of a chunk's first thread at an end.
    fn at_end(&self, end: &str, counter: &Counter, u: u32) -> String {
        match self.local(counter.local, counter.version).1 {
            Form::Row(step) if u > 0 => format!("({end}0 + {})", step * i64::from(LANES * u)),
            form if form.is_whole() => format!("{end}0"),
            _ => format!("{end}{u}"),
        }
    }

    /// The conditions on which an access is in bounds in all rounds; `None` where nothing is known.
    fn bounds(&mut self, ptr: Value, s: Scalar, write: bool, counter: &Counter) -> Result<Option<Vec<String>>> {
        let root = self.root_of(ptr);
        if matches!(root, Root::Slot(_) | Root::Null | Root::Unset | Root::Dynamic) {
            return Ok(None);
        }
        let form = self.ahead(ptr, counter.version);
        let size = i64::from(s.size());
        if form == Form::Lanes {
            return Ok(None);
        }
        // Of neighbours the first tells where the window of limits allows it, of others both ends do.
        let near = form.slope() == Some(size);
        let ends = if near || form.is_one() { vec![0] } else { vec![0, self.reach(form)] };
        let mut all = Vec::new();
        let mut ahead = None;
        for u in 0..self.times(form) {
            let Some(line) = self.line_of(ptr, u, counter, 0) else { return Ok(None) };
            let limit = self.limit(root, write, s.size(), 0)?;
            let limit = format!("{}{limit}", if write { "X" } else { "" });
            let limit = if near { format!("((wide){limit} - {})", self.reach(form)) } else { format!("(wide){limit}") };
            let number = if line.peak < LARGE && counter.most < LARGE { "(i64)" } else { "(wide)" };
            let mut push = |text: String| all.push(text.replace("(wide)", number));
            for end in ["first", "last"] {
                let at = self.at_end(end, counter, u);
                for end in &ends {
                    push(format!("within({} + {} * {at} + {end}, 0, {limit})", line.a, line.b));
                }
                for (a, b, least, most) in &line.needs {
                    push(format!("within({a} + {b} * {at}, {least}, {most})"));
                }
            }
            ahead = Some(line.b);
        }
        // The machine sees by itself where small steps go.
        let by = self.line_of(counter.by, 0, counter, 0).filter(|_| !write && near && self.known(counter.by).is_none());
        if let (Some(ahead), Some(by)) = (ahead, by) {
            let rounds = (AHEAD / (i64::from(LANES * self.chunks) * size)).max(1);
            self.looks_ahead.insert(ptr, format!("(i64)({ahead} * {}) * {rounds}", by.a));
        }
        Ok(Some(all))
    }

    /// A bound on the absolute value of an integer.
    fn most(&self, v: Value) -> u64 {
        self.forms[0].magnitude(v, FOLLOWED)
    }

    /// A value of a loop as a line of its counter: of a chunk's first thread.
    fn line_of(&self, v: Value, u: u32, counter: &Counter, depth: u32) -> Option<Line> {
        if depth > MAX_DEPTH {
            return None;
        }
        let ty = self.func.ty(v);
        if ty.scalar().is_some_and(|s| !s.is_int()) {
            return None;
        }
        let form = self.ahead(v, counter.version);
        if !counter.own.contains(&v) {
            let is_line = form.is_one() || form != Form::Lanes && self.rests_of(v).is_empty();
            return is_line.then(|| Line::of(format!("(wide){}", self.one(v, u)), self.most(v)));
        }
        let of = |v: &Value| self.line_of(*v, u, counter, depth + 1);
        let op = self.op_of(v)?;
        let line = match op {
            Op::Const(c) => Line::of(format!("(wide){}", Self::constant(*c)), self.most(v)),
            Op::Param(_) | Op::SharedAddr(_) | Op::GlobalAddr(_) if ty == Type::Ptr => {
                Line::of("(wide)0".to_owned(), 0)
            }
            Op::Param(i) => {
                Line::of(format!("(wide)*(const {}*)(args + {i})", super::ctype(ty.scalar()?)), self.most(v))
            }
            Op::Builtin(b) if form != Form::Lanes => {
                Line::of(format!("(wide){}", self.builtin_one(*b, u)), self.most(v))
            }
            Op::Get(l) if *l == counter.local => {
                let zero = Line::of("(wide)0".to_owned(), 0);
                Line { b: "1".to_owned(), most: (0.0, 1.0), ..zero }.noted(counter)
            }
            Op::Get(l) if !counter.sets.contains(l) => {
                let (name, form) = self.local(*l, counter.version);
                let name = format!("{name}{}", l.index());
                let text = match form {
                    Form::Group => name,
                    Form::Row(step) => super::in_row(&name, super::scalar_of(ty), step, u),
                    Form::Chunk | Form::Line(_) => format!("{name}_{u}"),
                    Form::Lanes => return None,
                };
                Line::of(format!("(wide){text}"), self.most(v))
            }
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) => {
                let (mut x, y) = (of(x)?, of(y)?);
                let sign = if *op == BinaryOp::Add { '+' } else { '-' };
                x.needs.extend(y.needs);
                Line {
                    a: format!("({} {sign} {})", x.a, y.a),
                    b: if x.b == "0" && y.b == "0" { x.b } else { format!("({} {sign} {})", x.b, y.b) },
                    products: x.products.max(y.products),
                    most: (x.most.0 + y.most.0, x.most.1 + y.most.1),
                    peak: x.peak.max(y.peak),
                    needs: x.needs,
                }
                .noted(counter)
            }
            Op::Binary(BinaryOp::Mul, x, y) => {
                let (x, y) = (of(x)?, of(y)?);
                let (mut x, y) = if y.b == "0" { (x, y) } else { (y, x) };
                if y.b != "0" || x.products + y.products >= MAX_PRODUCTS {
                    return None;
                }
                x.needs.extend(y.needs);
                Line {
                    a: format!("({} * {})", x.a, y.a),
                    b: if x.b == "0" { x.b } else { format!("({} * {})", x.b, y.a) },
                    products: x.products + y.products + 1,
                    most: (x.most.0 * y.most.0, x.most.1 * y.most.0),
                    peak: x.peak.max(y.peak),
                    needs: x.needs,
                }
                .noted(counter)
            }
            Op::Binary(BinaryOp::Shl, x, y) => {
                let by = self.known(*y).filter(|n| (0..31).contains(n))?;
                let x = of(x)?;
                let times =
                    |part: &str| if part == "0" { "0".to_owned() } else { format!("({part} * {})", 1i64 << by) };
                let grown = (1i64 << by) as f64;
                let most = (x.most.0 * grown, x.most.1 * grown);
                Line { a: times(&x.a), b: times(&x.b), most, ..x }.noted(counter)
            }
            Op::Convert(to, x) => {
                let from = self.func.ty(*x).scalar()?;
                let mut line = of(x)?;
                if from.bits() < 32 || to.bits() < 32 {
                    return None;
                }
                if from.bits() < to.bits() && self.most(*x) >= SMALL {
                    let reach = match self.ahead(*x, counter.version) {
                        Form::Lanes => return None,
                        form => self.reach(form),
                    };
                    let (least, most) =
                        if from.is_signed() { (i64::from(i32::MIN), 1i64 << 31) } else { (0, 1i64 << 32) };
                    line.need(least - reach.min(0), most - reach.max(0));
                }
                line
            }
            Op::PtrAdd { ptr, index, stride } => {
                let (p, mut i) = (of(ptr)?, of(index)?);
                if !self.is_near(*index, *stride) {
                    let reach = super::op::reach(*stride);
                    i.need(-reach, reach);
                }
                let bytes = stride.bytes();
                i.needs.extend(p.needs);
                Line {
                    a: format!("({} + {} * {bytes})", p.a, i.a),
                    b: if p.b == "0" && i.b == "0" { p.b } else { format!("({} + {} * {bytes})", p.b, i.b) },
                    products: p.products.max(i.products),
                    most: (p.most.0 + i.most.0 * f64::from(bytes), p.most.1 + i.most.1 * f64::from(bytes)),
                    peak: p.peak.max(i.peak),
                    needs: i.needs,
                }
                .noted(counter)
            }
            _ => return None,
        };
        (line.a.len() + line.b.len() <= MAX_EXPRESSION && line.needs.len() <= MAX_NEEDS).then_some(line)
    }
}
