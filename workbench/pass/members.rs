//! Promotion of members of structs by value to parameters: a member that a kernel reads at a constant offset of such a struct (an
//! accessor's data, sizes and strides, an argument block's pointers) becomes a parameter of its own, which the launch reads once for all
//! threads.
//!
//! A pointer that is loaded from memory could point anywhere, so each use would have to search for its allocation; for a parameter the
//! launch has found the allocation. The struct's own parameter stays for reads at other offsets.

use std::collections::BTreeMap;

use super::pointers::{self, Origin};
use crate::ir::{Block, Const, Derived, FuncKind, Function, MemberAt, Op, Param, ParamType, Scalar, Stmt, Type, Value};
use crate::source::Span;

/// Most members that become parameters.
const MAX_MEMBERS: usize = 128;

/// Rewrites a kernel's reads; true if there were any.
pub fn run(func: &mut Function) -> bool {
    let is_struct = |param: &Param| matches!(param.ty, ParamType::Bytes { .. });
    if func.kind != FuncKind::Kernel || !func.params.iter().any(is_struct) {
        return false;
    }
    let mut reads = Reads { func, ints: BTreeMap::new(), places: BTreeMap::new(), found: BTreeMap::new() };
    func.body.for_each_stmt(&mut |stmt| reads.stmt(stmt));
    let (places, found) = (reads.places, reads.found);
    if found.is_empty() {
        return false;
    }
    let first = func.params.len();
    let mut numbers = BTreeMap::new();
    for (i, (key, span)) in found.into_iter().enumerate() {
        let Key { member, scalar } = key;
        let ty = scalar.map_or(ParamType::Ptr { elem: None, is_const: false }, ParamType::Scalar);
        let whole = &func.params[member.param as usize];
        let known = whole.layout.as_deref().filter(|_| scalar.is_none());
        let known = known.and_then(|layout| layout.pointer_at(&whole.name, member.offset));
        let name = known.unwrap_or_else(|| format!("{}+{}", whole.name, member.offset));
        func.params.push(Param { derived: Some(Derived::Member(member)), ..Param::new(name, ty, span) });
        numbers.insert(key, (first + i) as u32);
    }
    let mut body = std::mem::take(&mut func.body);
    rewrite(&mut body, &places, &numbers);
    func.body = body;
    align(func, first);
    true
}

/// A read: its member and its type, because the same bytes may be read as several types. Without a scalar it is a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    member: MemberAt,
    scalar: Option<Scalar>,
}

struct Reads<'f> {
    func: &'f Function,
    ints: BTreeMap<Value, i64>,
    /// Pointers to a constant offset of a struct.
    places: BTreeMap<Value, (u32, i64)>,
    /// The place of each first read.
    found: BTreeMap<Key, Span>,
}

impl Reads<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        let Stmt::Let(v, op) = stmt else { return };
        match op {
            Op::Const(Const::Int(_, n)) => {
                self.ints.insert(*v, *n);
            }
            Op::Param(i) if matches!(self.func.params[*i as usize].ty, ParamType::Bytes { .. }) => {
                self.places.insert(*v, (*i, 0));
            }
            Op::PtrAdd { ptr, index, stride } => {
                let Some((param, offset)) = self.places.get(ptr) else { return };
                let by = self.ints.get(index).and_then(|n| n.checked_mul(i64::from(stride.bytes())));
                if let Some(offset) = by.and_then(|by| offset.checked_add(by)) {
                    self.places.insert(*v, (*param, offset));
                }
            }
            Op::Load { ptr, ty, volatile: false } => {
                if let Some(key) = self.places.get(ptr).and_then(|place| self.key(*place, *ty))
                    && (self.found.len() < MAX_MEMBERS || self.found.contains_key(&key))
                {
                    self.found.entry(key).or_insert(self.func.values[v.index()].span);
                }
            }
            _ => {}
        }
    }

    /// The member, if the read is of a whole one, aligned by the struct's alignment.
    fn key(&self, (param, offset): (u32, i64), ty: Type) -> Option<Key> {
        let ParamType::Bytes { size, align } = self.func.params[param as usize].ty else { return None };
        let offset = u32::try_from(offset).ok()?;
        let inside = offset.checked_add(ty.size()).is_some_and(|end| end <= size);
        (inside && align >= ty.size() && offset.is_multiple_of(ty.size()))
            .then_some(Key { member: MemberAt { param, offset }, scalar: ty.scalar() })
    }
}

fn rewrite(block: &mut Block, places: &BTreeMap<Value, (u32, i64)>, numbers: &BTreeMap<Key, u32>) {
    for stmt in &mut block.stmts {
        if let Stmt::Let(_, op) = stmt {
            if let Op::Load { ptr, ty, volatile: false } = op
                && let Some((param, offset)) = places.get(ptr)
                && let Ok(offset) = u32::try_from(*offset)
                && let Some(number) =
                    numbers.get(&Key { member: MemberAt { param: *param, offset }, scalar: ty.scalar() })
            {
                *op = Op::Param(*number);
            }
        } else {
            stmt.blocks_mut().into_iter().for_each(|inner| rewrite(inner, places, numbers));
        }
    }
}

/// Gives each pointer among the new parameters a type, if it is read and written as types of one size: the launch then makes sure that the
/// pointer is aligned to that size, or that no such access succeeds.
fn align(func: &mut Function, first: usize) {
    let origins = pointers::origins(func, |op| match op {
        Op::Param(i) if *i as usize >= first => Origin::One(*i as usize),
        _ => Origin::Unknown,
    });
    let mut accessed: Vec<Option<Scalar>> = vec![None; func.params.len()];
    let mut differ = vec![false; func.params.len()];
    func.body.for_each_stmt(&mut |stmt| {
        let (ptr, ty) = match stmt {
            Stmt::Let(_, Op::Load { ptr, ty, .. }) => (*ptr, *ty),
            Stmt::Store { ptr, value, .. } | Stmt::Atomic { ptr, value, .. } => (*ptr, func.ty(*value)),
            _ => return,
        };
        if let Some(param) = origins[ptr.index()].one() {
            let scalar = ty.scalar().unwrap_or(Scalar::U64);
            let seen = *accessed[param].get_or_insert(scalar);
            differ[param] |= seen.size() != scalar.size();
        }
    });
    for ((param, scalar), differ) in func.params.iter_mut().zip(accessed).zip(differ).skip(first) {
        if let (ParamType::Ptr { elem, .. }, false) = (&mut param.ty, differ) {
            *elem = scalar.map(Into::into);
        }
    }
}
