//! Numbers of a loop as lines of what it counts: `a + b * counter`, with bounds that say in how many bits they may be computed.

use std::collections::HashSet;

use super::names::Name;
use super::range::{Counter, Counts};
use super::{Builder, Form, MAX_EXPRESSION, Version, in_row, scalar_of};
use crate::back::Dim3;
use crate::back::cpu::wide::value_forms::{FOLLOWED, LANES, SMALL};
use crate::back::lane::build::{int, long, ty};
use crate::back::lane::table::NumberOp;
use crate::back::lane::tree::{Binary, Expr};
use crate::ir::{BinaryOp, Builtin, Op, Stmt, Type, Value};

/// Deepest expression that is followed.
const MAX_DEPTH: u32 = 24;

/// Numbers below this may be added up in 64 bits.
pub(super) const LARGE: f64 = 1e18;

/// Numbers below this are themselves in 128 bits, however large what they are the sum of has been in between: it wraps around.
const HUGE: f64 = 1.6e38;

/// Most conditions on the parts of one expression.
const MAX_NEEDS: usize = 32;

/// The factor of a line's counter.
#[derive(Clone)]
pub(super) enum Slope {
    /// A known number of times.
    Known(i64),
    /// As many times as this says.
    Times(Expr),
}

impl Slope {
    /// The number.
    pub fn expr(self) -> Expr {
        match self {
            Slope::Known(n) => int(n),
            Slope::Times(by) => by,
        }
    }

    /// The number, where it is known.
    pub fn known(&self) -> Option<i64> {
        match self {
            Slope::Known(n) => Some(*n),
            Slope::Times(_) => None,
        }
    }

    /// True if the counter is not in the line.
    pub fn is_none(&self) -> bool {
        self.known() == Some(0)
    }
}

/// An expression as a line, with the least that it may be, and the least that it may not.
pub(super) struct Need {
    a: Expr,
    pub b: Slope,
    least: i64,
    most: i64,
}

impl Need {
    /// The condition, for a counter.
    pub fn at(&self, counter: &Expr) -> Expr {
        NumberOp::Within.on([at(&self.a, &self.b, counter), long(self.least), long(self.most)])
    }
}

fn at(a: &Expr, b: &Slope, counter: &Expr) -> Expr {
    match b {
        Slope::Known(0) => a.clone(),
        Slope::Known(1) => a.clone() + counter.clone(),
        b => a.clone() + b.clone().expr() * counter.clone(),
    }
}

/// `a + b * counter`.
pub(super) struct Line {
    pub a: Expr,
    pub b: Slope,
    /// The value of the whole, where that is known.
    value: Option<i64>,
    /// Bound on the absolute value of the whole where all of `needs` hold.
    total: f64,
    /// Bounds on the absolute values of `a` and `b`, and on those of all that they are made of.
    most: (f64, f64),
    pub peak: f64,
    pub needs: Vec<Need>,
    /// The range of this number, unless that follows from its use.
    range: Option<(i64, i64)>,
    /// In which powers what stands for `threadIdx` is in it.
    powers: [u32; 3],
    /// The largest limit of a buffer with which the index of a pointer in bounds is in range, and the need that it stands for.
    pub implied: Option<(i64, Need)>,
}

impl Line {
    fn of(a: Expr, most: u64) -> Self {
        let (most, value) = (most as f64, (most == 0).then_some(0));
        Line {
            a,
            b: Slope::Known(0),
            value,
            total: most,
            most: (most, 0.0),
            peak: most,
            needs: Vec::new(),
            range: None,
            powers: [0; 3],
            implied: None,
        }
    }

    /// A number of the loop's surroundings.
    fn leaf(of: Expr, most: u64, counter: &Counter) -> Self {
        let mut line = Line::of(of.cast(ty::WIDE), most);
        if let Some(cap) = counter.cap.filter(|cap| cap.unsigned_abs() < most) {
            line.need(1 - cap, cap);
            let cap = cap as f64;
            (line.total, line.most.0, line.peak) = (cap, cap, cap);
        }
        line
    }

    /// Notes how large the expression itself may be.
    fn noted(mut self, counter: &Counter) -> Self {
        self.peak = self.peak.max(self.most.0 + self.most.1 * counter.most);
        self
    }

    fn need(&mut self, least: i64, most: i64) {
        self.needs.push(Need { a: self.a.clone(), b: self.b.clone(), least, most });
    }

    /// The line with all that it needs among its needs.
    fn settled(mut self) -> Self {
        if let Some((least, most)) = self.range.take() {
            self.need(least, most);
        }
        self.needs.extend(self.implied.take().map(|(_, need)| need));
        self
    }

    /// The number, for a counter.
    pub fn at(&self, counter: &Expr) -> Expr {
        at(&self.a, &self.b, counter)
    }

    /// True if it is one number that needs nothing.
    pub fn is_plain(&self) -> bool {
        self.b.is_none() && self.needs.is_empty() && self.range.is_none()
    }

    fn plus(self, other: Line, op: Binary, counter: &Counter) -> Self {
        let (mut x, y) = (self.settled(), other.settled());
        x.needs.extend(y.needs);
        let known = |x: Option<i64>, y: Option<i64>| {
            x.zip(y).and_then(|(x, y)| if op == Binary::Add { x.checked_add(y) } else { x.checked_sub(y) })
        };
        let b = match known(x.b.known(), y.b.known()) {
            Some(slope) => Slope::Known(slope),
            None => Slope::Times(x.b.expr().with(op, y.b.expr())),
        };
        Line {
            a: if y.value == Some(0) { x.a } else { x.a.with(op, y.a) },
            b,
            value: known(x.value, y.value),
            total: x.total + y.total,
            powers: [0, 1, 2].map(|i| x.powers[i].max(y.powers[i])),
            most: (x.most.0 + y.most.0, x.most.1 + y.most.1),
            peak: x.peak.max(y.peak),
            needs: x.needs,
            range: None,
            implied: None,
        }
        .noted(counter)
    }

    /// Times a line that is one number.
    fn times(self, other: Line, counter: &Counter) -> Self {
        let (mut x, y) = (self.settled(), other.settled());
        x.needs.extend(y.needs);
        let slope = match (x.b.known(), y.value) {
            (Some(0), _) => Some(0),
            (Some(slope), Some(n)) => slope.checked_mul(n),
            _ => None,
        };
        let b = match slope {
            Some(slope) => Slope::Known(slope),
            None => Slope::Times(x.b.expr() * y.a.clone()),
        };
        Line {
            a: x.a * y.a,
            b,
            value: x.value.zip(y.value).and_then(|(x, y)| x.checked_mul(y)),
            total: x.total * y.total,
            powers: [0, 1, 2].map(|i| x.powers[i] + y.powers[i]),
            most: (x.most.0 * y.most.0, x.most.1 * y.most.0),
            peak: x.peak.max(y.peak),
            needs: x.needs,
            range: None,
            implied: None,
        }
        .noted(counter)
    }
}

/// A known number. As wide as what it is multiplied with: two of them may make more than 64 bits hold.
fn number(n: i64) -> Line {
    Line { value: Some(n), ..Line::of(long(n).cast(ty::WIDE), n.unsigned_abs()) }
}

impl Builder<'_> {
    /// A bound on the absolute value of an integer.
    fn most(&self, v: Value) -> u64 {
        self.forms[0].magnitude(v, FOLLOWED)
    }

    /// Values that are made of a thread's place in its block and of what groups have one of.
    pub(super) fn of_threads(&self) -> HashSet<Value> {
        let mut found = HashSet::new();
        self.func.body.for_each_stmt(&mut |stmt| {
            let Stmt::Let(v, op) = stmt else { return };
            let is_of = match op {
                Op::Builtin(Builtin::ThreadIdx(_)) => true,
                Op::Convert(_, x) => found.contains(x),
                Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, x, y) => {
                    let is_one = |v: &Value| self.ahead(*v, Version::Together) == Form::Group;
                    [(x, y), (y, x)].iter().any(|(x, y)| found.contains(*x) && (found.contains(*y) || is_one(y)))
                }
                _ => false,
            };
            if is_of {
                found.insert(*v);
            }
        });
        found
    }

    /// True if each chunk of a group has a value of its own by where it is in the block: of a loop the first chunk and the last bound those
    /// between.
    fn is_of_chunks(&self, v: Value, counter: &Counter) -> bool {
        let Counts::Local(local) = counter.counts else { return false };
        let form = self.ahead(v, counter.version);
        let differs = !form.is_whole() && form != Form::Lanes && self.of_threads.contains(&v);
        // The counter may not differ as well.
        differs && self.local(local, counter.version).1.is_whole() && self.has_rows()
    }

    /// A value of a loop as a line of its counter: of a chunk's first thread.
    pub(super) fn line_of(&self, v: Value, u: u32, counter: &Counter, depth: u32) -> Option<Line> {
        if depth > MAX_DEPTH {
            return None;
        }
        let ty = self.func.ty(v);
        if ty.scalar().is_some_and(|s| !s.is_int()) {
            return None;
        }
        let form = self.ahead(v, counter.version);
        if counter.own.contains(&v) {
            return self.line_made(v, u, counter, depth);
        }
        if self.is_of_chunks(v, counter)
            && let Some(line) = self.line_made(v, u, counter, depth)
        {
            return Some(line);
        }
        let is_line = form.is_one() || form != Form::Lanes && self.rests_of(v).is_empty();
        is_line.then(|| Line::leaf(self.one(v, u), self.most(v), counter))
    }

    /// As [`Builder::line_of`], by what a value is made of.
    fn line_made(&self, v: Value, u: u32, counter: &Counter, depth: u32) -> Option<Line> {
        let (ty, form) = (self.func.ty(v), self.ahead(v, counter.version));
        let of = |v: &Value| self.line_of(*v, u, counter, depth + 1);
        let counted = || {
            let (b, value) = (Slope::Known(1), None);
            Line { b, value, total: counter.most, most: (0.0, 1.0), ..number(0) }.noted(counter)
        };
        let op = self.op_of(v)?;
        let line = match op {
            _ if counter.counts == Counts::Place && self.places.is_some_and(|places| places.contains(&v)) => counted(),
            Op::Const(_) => number(self.known(v)?),
            Op::Param(_) | Op::SharedAddr(_) | Op::GlobalAddr(_) if ty == Type::Ptr => number(0),
            Op::Param(i) => Line::leaf(self.get(Name::Argument(*i)), self.most(v), counter),
            Op::Builtin(Builtin::BlockDim(d)) => {
                let Dim3 { x, y, z } = self.geometry.block;
                number(i64::from([x, y, z][usize::from(*d)]))
            }
            Op::Builtin(Builtin::ThreadIdx(d @ 0..=2))
                if counter.counts == Counts::Threads
                    || counter.counts == Counts::Place && *d > 0
                    || self.is_of_chunks(v, counter) =>
            {
                let (i, Dim3 { x, y, z }) = (usize::from(*d), self.geometry.block);
                match [x.div_ceil(LANES), y, z][i] {
                    1 => number(0),
                    _ => {
                        let mut line = Line::of(Expr::Var(self.rows[i]).cast(ty::WIDE), u64::from([x, y, z][i]));
                        line.powers[i] = 1;
                        line
                    }
                }
            }
            Op::Builtin(b) if form != Form::Lanes => Line::leaf(self.builtin_one(*b, u), self.most(v), counter),
            Op::Get(l) if counter.counts == Counts::Local(*l) => counted(),
            Op::Get(l) if !counter.sets.contains(l) => {
                let (is_apart, form) = self.local(*l, counter.version);
                let of_group = || self.local_part(*l, is_apart, None);
                let one = match form {
                    Form::Group => of_group(),
                    Form::Row(step) => in_row(of_group(), scalar_of(ty), step, u),
                    Form::Chunk | Form::Line(_) => self.local_part(*l, is_apart, Some(u)),
                    Form::Lanes => return None,
                };
                Line::leaf(one, self.most(v), counter)
            }
            Op::Binary(BinaryOp::Add, x, y) => of(x)?.plus(of(y)?, Binary::Add, counter),
            Op::Binary(BinaryOp::Sub, x, y) => of(x)?.plus(of(y)?, Binary::Sub, counter),
            Op::Binary(BinaryOp::Mul, x, y) => {
                let (x, y) = (of(x)?, of(y)?);
                let (x, y) = if y.b.is_none() { (x, y) } else { (y, x) };
                if !y.b.is_none() {
                    return None;
                }
                x.times(y, counter)
            }
            Op::Binary(BinaryOp::Shl, x, y) => {
                let by = self.known(*y).filter(|n| (0..31).contains(n))?;
                of(x)?.times(number(1 << by), counter)
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
                    line = line.settled();
                    line.range = Some((least - reach.min(0), most - reach.max(0)));
                    line.total = line.total.min(most as f64);
                }
                line
            }
            Op::PtrAdd { ptr, index, stride } => {
                let (p, mut i) = (of(ptr)?, of(index)?);
                let (bytes, reach) = (i64::from(stride.bytes()), super::op::reach(*stride));
                // An index from an array's start is as small as the array, in bounds.
                let is_start = p.value == Some(0) && bytes > 0 && i.total * (bytes as f64) < HUGE;
                let range = i.range.take_if(|_| is_start);
                let implied =
                    range.map(|(least, most)| (bytes << 31, Need { a: i.a.clone(), b: i.b.clone(), least, most }));
                if !is_start && !self.is_near(*index, *stride) {
                    i = i.settled();
                    i.need(-reach, reach);
                    i.total = i.total.min(reach as f64);
                }
                Line { implied, ..i.times(number(bytes), counter).plus(p, Binary::Add, counter) }
            }
            _ => return None,
        };
        let times = if let Slope::Times(by) = &line.b { self.k.length_of(by) } else { 0 };
        let is_short = self.k.length_of(&line.a) + times <= MAX_EXPRESSION && line.needs.len() <= MAX_NEEDS;
        // Between their ends rows are no straight line if a square is in it.
        (is_short && line.total < HUGE && line.powers.iter().all(|n| *n <= 1)).then_some(line)
    }
}
