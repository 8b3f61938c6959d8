//! Value numbering: an op on the same operands is computed once, if the first of the ops dominates the others.
//!
//! Ops of a block are known in the blocks inside it and forgotten at its end. Left out are reads of memory, the making of pointers from
//! integers, and pointer arithmetic: the value an access goes through carries the place that a fault is reported at. Constants are only
//! found to be equal (equal means equal bits: `0.0` and `-0.0` differ, a NaN equals itself). They are not shared: a constant costs nothing
//! where it is used, but one with a live range through a large function would.

use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use rustc_hash::FxHashMap;

use crate::ir::{Const, Op, Type, Value};

/// An op that is numbered. It is no constant, so it equals itself.
#[derive(Clone, PartialEq)]
struct Key(Op);

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(&self.0).hash(state);
        self.0.for_each_value(|v| v.hash(state));
    }
}

impl Key {
    /// The key of an op, whose operands are `same`'s.
    fn of(op: &Op, same: impl FnMut(Value) -> Value) -> Option<Key> {
        match op {
            Op::Const(_)
            | Op::Param(_)
            | Op::Get(_)
            | Op::SlotAddr(_)
            | Op::GlobalAddr(_)
            | Op::SharedAddr(_)
            | Op::FuncAddr(..)
            | Op::PtrAdd { .. }
            | Op::IntToPtr(_)
            | Op::Load { .. } => None,
            op => {
                let mut op = op.clone();
                op.map_values(same);
                Some(Key(op))
            }
        }
    }
}

fn bits(c: Const) -> u64 {
    match c {
        Const::Bool(b) => u64::from(b),
        Const::Int(_, v) => v as u64,
        Const::F32(v) => u64::from(v.to_bits()),
        Const::F64(v) => v.to_bits(),
        Const::Null => 0,
    }
}

/// The available expressions at the statement that is visited.
#[derive(Default)]
pub(super) struct Numbers {
    values: FxHashMap<Key, Value>,
    /// The keys to forget, newest last.
    added: Vec<Key>,
    /// The first value of each constant.
    constants: FxHashMap<(Type, u64), Value>,
    /// The first value of the constant, for each value that is a constant.
    first: FxHashMap<Value, Value>,
}

impl Numbers {
    /// The value that the op already has; otherwise `v` is noted as its value from here on.
    pub(super) fn find(&mut self, op: &Op, v: Value) -> Option<Value> {
        if let Op::Const(c) = op {
            let first = *self.constants.entry((c.ty(), bits(*c))).or_insert(v);
            self.first.insert(v, first);
            return None;
        }
        let key = Key::of(op, |v| self.first.get(&v).copied().unwrap_or(v))?;
        match self.values.entry(key) {
            Entry::Occupied(found) => Some(*found.get()),
            Entry::Vacant(free) => {
                self.added.push(free.key().clone());
                free.insert(v);
                None
            }
        }
    }

    /// The mark of a block's beginning, for [`Numbers::forget`].
    pub(super) fn mark(&self) -> usize {
        self.added.len()
    }

    /// Forgets the ops of the block that began at the mark.
    pub(super) fn forget(&mut self, mark: usize) {
        for key in self.added.drain(mark..) {
            self.values.remove(&key);
        }
    }
}
