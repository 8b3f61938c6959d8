//! Steering scalars: flags that an `if` tests, bounds of short loops, and factors and divisors of what threads differ in (the stride of a
//! convolution). They are the same for all threads and for most launches, and code that knows them has no such `if` and no such loop, and knows
//! how far threads are apart.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::value_forms::first_exit;
use crate::ir::{BinaryOp, Block, Const, Function, Local, Op, ParamType, Scalar, Stmt, Type, Value};

/// The largest value that counts as known: larger numbers are mostly amounts of data, which differ from launch to launch.
const MOST: i64 = 16;

/// Deepest condition that is looked at.
const DEPTH: u32 = 16;

/// The values of a launch's steering parameters, if they are small numbers. Empty: nothing is known.
pub type Fixed = SmallVec<[Option<i8>; 4]>;

/// A parameter that steers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steer {
    pub param: u32,
    ty: Scalar,
}

/// The parameters of a kernel that steer, in order.
pub fn find(func: &Function) -> Vec<Steer> {
    let steers = |p: &crate::ir::Param| matches!(p.ty, ParamType::Scalar(s) if s == Scalar::Bool || s.is_int());
    if !func.params.iter().any(steers) {
        return Vec::new();
    }
    let mut look = Look { ops: vec![None; func.values.len()], sets: HashMap::new(), found: HashSet::new() };
    func.body.for_each_stmt(&mut |stmt| match stmt {
        Stmt::Let(v, op) => look.ops[v.index()] = Some(op),
        Stmt::Set(local, v) => look.sets.entry(*local).or_default().push(*v),
        _ => {}
    });
    func.body.for_each_stmt(&mut |stmt| match stmt {
        Stmt::If { cond, .. } => look.condition(*cond, None),
        Stmt::Switch { value, .. } => look.condition(*value, None),
        Stmt::Let(v, Op::Binary(op @ (BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem), a, b))
            if func.ty(*v).scalar().is_some_and(Scalar::is_int) =>
        {
            match (look.is_fixed(*a), look.is_fixed(*b)) {
                (false, true) => look.condition(*b, None),
                (true, false) if *op == BinaryOp::Mul => look.condition(*a, None),
                _ => {}
            }
        }
        Stmt::Loop { .. } => {
            if let Some((_, cond, _)) = first_exit(stmt)
                && let Some(Op::Compare(_, a, b)) = look.ops[cond.index()]
            {
                // The counter is on one side of the comparison.
                for (counted, bound) in [(*a, *b), (*b, *a)] {
                    if let Some(local) = look.counter(counted, DEPTH) {
                        look.condition(bound, Some(local));
                    }
                }
            }
        }
        _ => {}
    });
    let mut all: Vec<Steer> = (0..)
        .zip(&func.params)
        .filter(|(i, _)| look.found.contains(i))
        .filter_map(|(param, p)| match p.ty {
            ParamType::Scalar(ty) if ty == Scalar::Bool || ty.is_int() => Some(Steer { param, ty }),
            _ => None,
        })
        .collect();
    all.sort_by_key(|s| s.param);
    all
}

struct Look<'f> {
    ops: Vec<Option<&'f Op>>,
    sets: HashMap<Local, Vec<Value>>,
    found: HashSet<u32>,
}

impl Look<'_> {
    /// Notes the parameters of a condition that depends on nothing else; in the condition of a loop, the loop's counter is allowed, too.
    fn condition(&mut self, v: Value, counted: Option<Local>) {
        let mut params = HashSet::new();
        let sets = counted.and_then(|local| self.sets.get(&local)).map_or(&[][..], Vec::as_slice);
        if sets.iter().all(|set| self.is_known(*set, counted, &mut params, DEPTH))
            && self.is_known(v, None, &mut params, DEPTH)
        {
            self.found.extend(params);
        }
    }

    /// True if a value depends on constants and parameters alone.
    fn is_fixed(&self, v: Value) -> bool {
        self.is_known(v, None, &mut HashSet::new(), DEPTH)
    }

    /// The one local that a number depends on, besides constants.
    fn counter(&self, v: Value, depth: u32) -> Option<Local> {
        match self.ops[v.index()]? {
            Op::Get(local) => Some(*local),
            Op::Convert(_, a) | Op::Unary(_, a) if depth > 0 => self.counter(*a, depth - 1),
            _ => None,
        }
    }

    /// True if a value depends on constants, parameters and the given local alone.
    fn is_known(&self, v: Value, local: Option<Local>, params: &mut HashSet<u32>, depth: u32) -> bool {
        let Some(op) = self.ops[v.index()] else { return false };
        if depth == 0 {
            return false;
        }
        let mut all = |values: &[Value]| values.iter().all(|v| self.is_known(*v, local, params, depth - 1));
        match op {
            Op::Const(_) => true,
            Op::Param(i) => {
                params.insert(*i);
                true
            }
            Op::Get(l) => Some(*l) == local,
            Op::Unary(_, a) | Op::Convert(_, a) => all(&[*a]),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => all(&[*a, *b]),
            _ => false,
        }
    }
}

/// The values of a launch's steering parameters, from the words that it passes.
pub fn fixed(steers: &[Steer], args: &[u64]) -> Fixed {
    let of = |steer: &Steer| {
        let bits = *args.get(steer.param as usize)?;
        let n = match (steer.ty.bits(), steer.ty.is_signed()) {
            _ if steer.ty == Scalar::Bool => i64::from(bits as u8 != 0),
            (8, true) => i64::from(bits as i8),
            (8, false) => i64::from(bits as u8),
            (16, true) => i64::from(bits as i16),
            (16, false) => i64::from(bits as u16),
            (32, true) => i64::from(bits as i32),
            (32, false) => i64::from(bits as u32),
            (_, true) => bits as i64,
            (_, false) => i64::try_from(bits).ok()?,
        };
        i8::try_from(n).ok().filter(|_| (-MOST..=MOST).contains(&n))
    };
    let all: Fixed = steers.iter().map(of).collect();
    if all.iter().all(Option::is_none) { Fixed::new() } else { all }
}

/// Replaces the parameters by their known values.
pub fn fix(func: &mut Function, steers: &[Steer], fixed: &Fixed) {
    let known: HashMap<u32, Const> = (steers.iter().zip(fixed))
        .filter_map(|(steer, n)| {
            let n = i64::from((*n)?);
            let c = if steer.ty == Scalar::Bool { Const::Bool(n != 0) } else { Const::Int(steer.ty, n) };
            Some((steer.param, c))
        })
        .collect();
    let types: Vec<Type> = func.values.iter().map(|data| data.ty).collect();
    put(&mut func.body, &|v, i| known.get(&i).copied().filter(|_| types[v.index()].scalar().is_some()));
}

fn put(block: &mut Block, known: &impl Fn(Value, u32) -> Option<Const>) {
    for stmt in &mut block.stmts {
        if let Stmt::Let(v, op) = stmt
            && let Op::Param(i) = op
            && let Some(c) = known(*v, *i)
        {
            *op = Op::Const(c);
        }
        stmt.blocks_mut().into_iter().for_each(|b| put(b, known));
    }
}
