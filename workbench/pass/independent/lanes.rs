//! Values that threads of a one-dimensional block compute from their index alone, evaluated for each thread.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ir::{BinaryOp, Builtin, Const, Function, Op, Scalar, Stmt, Value, eval};

/// Threads of the largest block.
pub const THREADS: usize = 1024;
/// Threads of a warp.
pub const LANES: usize = 32;

/// Deepest operation that is followed.
const MAX_DEPTH: usize = 48;

/// A number for each thread.
type Table = Rc<[Const]>;

/// The facts known about values.
pub struct Tables<'f> {
    /// The statement that gives each value.
    pub made: Vec<Option<&'f Stmt>>,
    /// The values set to each local.
    pub sets: Vec<Vec<Value>>,
    known: RefCell<FxHashMap<Value, Option<Table>>>,
}

impl<'f> Tables<'f> {
    /// The tables of a function.
    pub fn new(func: &'f Function) -> Self {
        let mut tables = Tables {
            made: vec![None; func.values.len()],
            sets: vec![Vec::new(); func.locals.len()],
            known: RefCell::default(),
        };
        func.body.for_each_stmt(&mut |stmt: &'f Stmt| {
            if let Some(v) = stmt.result() {
                tables.made[v.index()] = Some(stmt);
            }
            if let Stmt::Set(l, v) = stmt {
                tables.sets[l.index()].push(*v);
            }
        });
        tables
    }

    /// The op that gives a value.
    pub fn op(&self, v: Value) -> Option<&'f Op> {
        match self.made[v.index()] {
            Some(Stmt::Let(_, op)) => Some(op),
            _ => None,
        }
    }

    /// The integer of a value that is a constant.
    pub fn number(&self, v: Value) -> Option<i64> {
        match self.op(v) {
            Some(Op::Const(Const::Int(_, n))) => Some(*n),
            _ => None,
        }
    }

    /// The value in each thread.
    pub fn of(&self, v: Value) -> Option<Table> {
        self.follow(v, 0)
    }

    /// The truth of a condition in each thread.
    pub fn truth(&self, v: Value) -> Option<Vec<bool>> {
        let holds = |c: &Const| match c {
            Const::Bool(b) => Some(*b),
            _ => None,
        };
        self.of(v)?.iter().map(holds).collect()
    }

    /// The mask in each thread.
    pub fn masks(&self, v: Value) -> Option<Vec<u32>> {
        let bits = |c: &Const| match c {
            Const::Int(_, n) => Some(*n as u32),
            _ => None,
        };
        self.of(v)?.iter().map(bits).collect()
    }

    fn follow(&self, v: Value, depth: usize) -> Option<Table> {
        if let Some(known) = self.known.borrow().get(&v) {
            return known.clone();
        }
        let found = if depth < MAX_DEPTH { self.work_out(v, depth + 1) } else { None };
        self.known.borrow_mut().insert(v, found.clone());
        found
    }

    fn work_out(&self, v: Value, depth: usize) -> Option<Table> {
        let one = |a: Value, f: &dyn Fn(Const) -> Option<Const>| -> Option<Table> {
            self.follow(a, depth)?.iter().map(|x| f(*x)).collect()
        };
        let two = |a: Value, b: Value, f: &dyn Fn(Const, Const) -> Option<Const>| -> Option<Table> {
            let (a, b) = (self.follow(a, depth)?, self.follow(b, depth)?);
            a.iter().zip(b.iter()).map(|(a, b)| f(*a, *b)).collect()
        };
        let index = |of: &dyn Fn(usize) -> i64| Some((0..THREADS).map(|t| Const::Int(Scalar::U32, of(t))).collect());
        match self.op(v)? {
            Op::Const(c @ (Const::Int(..) | Const::Bool(_))) => Some((0..THREADS).map(|_| *c).collect()),
            Op::Builtin(Builtin::ThreadIdx(0)) => index(&|t| t as i64),
            Op::Builtin(Builtin::ThreadIdx(_)) => index(&|_| 0),
            Op::Unary(op, a) => one(*a, &|x| eval::unary(*op, x)),
            Op::Binary(op @ (BinaryOp::Mul | BinaryOp::And), a, b) => {
                let zero = |v: Value| self.follow(v, depth).filter(|t| t.iter().all(|c| matches!(c, Const::Int(_, 0))));
                zero(*a).or_else(|| zero(*b)).or_else(|| two(*a, *b, &|x, y| eval::binary(*op, x, y)))
            }
            Op::Binary(op, a, b) => two(*a, *b, &|x, y| eval::binary(*op, x, y)),
            Op::Compare(op, a, b) => two(*a, *b, &|x, y| eval::compare(*op, x, y)),
            Op::Convert(to, a) => one(*a, &|x| eval::convert(*to, x)),
            Op::Bitcast(to, a) => one(*a, &|x| eval::bitcast(*to, x)),
            Op::Bit(op, a) => one(*a, &|x| eval::bit(*op, x)),
            Op::Select(c, a, b) => {
                let (c, a, b) = (self.truth(*c)?, self.follow(*a, depth)?, self.follow(*b, depth)?);
                Some(c.iter().zip(a.iter().zip(b.iter())).map(|(c, (a, b))| if *c { *a } else { *b }).collect())
            }
            Op::Get(l) => match self.sets[l.index()][..] {
                [only] => self.follow(only, depth),
                _ => None,
            },
            _ => None,
        }
    }
}
