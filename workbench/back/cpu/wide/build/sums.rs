//! Arrays of integers that a kernel only adds to: each worker adds to a copy of its own, which is all zeros at first, and at its end adds
//! that to the array. Sums of integers are the same in any order, and nobody sees them before the launch has ended. So the processors do not
//! wait for each other at every addition: a histogram whose blocks add their bins to one array took a fifth longer.
//!
//! A launch decides itself whether it does so ([`crate::back::cpu::run::sums`]): the text has both ways.

use std::collections::{BTreeMap, BTreeSet};

use super::atomic::Update;
use super::memory::Access;
use super::names::Name;
use super::{Builder, Form, Mask, Place, types};
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::Result;
use crate::back::lane::build::{all, choice};
use crate::back::lane::families;
use crate::back::lane::memory as lanes;
use crate::back::lane::tree::{Expr, Stmt as Code};
use crate::ir::{AtomicOp, Op, Stmt};

impl Builder<'_> {
    /// The parameters whose arrays the kernel only adds integers to, with the size of these.
    pub(super) fn sums(&self) -> BTreeMap<u32, u32> {
        let (mut sizes, mut others) = (BTreeMap::new(), BTreeSet::new());
        self.func.body.for_each_stmt(&mut |stmt| {
            let moved = match stmt {
                Stmt::Let(_, Op::PtrAdd { ptr, .. }) | Stmt::Aligned { ptr, .. } | Stmt::Set(_, ptr) => Some(*ptr),
                Stmt::Atomic { result: None, op: AtomicOp::Add | AtomicOp::Sub, ptr, value, compare: None } => {
                    let s = self.scalar(*value);
                    if let (Root::Param(i), true) = (self.root_of(*ptr), s.is_int() && s.size() >= 4)
                        && *sizes.entry(i).or_insert(s.size()) == s.size()
                    {
                        Some(*ptr)
                    } else {
                        None
                    }
                }
                _ => None,
            };
            stmt.for_each_value(|v| {
                if let (Root::Param(i), true) = (self.root_of(v), moved != Some(v)) {
                    others.insert(i);
                }
            });
        });
        sizes.retain(|i, _| !others.contains(i));
        sizes
    }

    /// A worker's own copy of an array, which is null where it has none.
    pub(super) fn own_sums(&self, root: Root) -> Option<Expr> {
        match root {
            Root::Param(i) if self.sums.contains_key(&i) => Some(self.get(Name::Own(i))),
            _ => None,
        }
    }

    /// True if lanes are added to neighbours in memory.
    pub(super) fn adds_line(&self, update: &Update, access: &Access) -> bool {
        let s = access.s;
        let near = matches!(self.form(update.ptr), Form::Row(step) | Form::Line(step) if step == i64::from(s.size()));
        near && matches!(update.op, AtomicOp::Add | AtomicOp::Sub) && s.is_int() && update.result.is_none()
    }

    /// Adds lanes to neighbours in memory that nobody else adds to meanwhile; `other` is how it is done where these are not all in bounds.
    pub(super) fn add_line(
        &mut self,
        update: &Update,
        access: &Access,
        place: Place,
        u: u32,
        other: Vec<Code>,
    ) -> Result<()> {
        let (ptr, s) = (update.ptr, access.s);
        let window = self.limit(access.root, true, s.size(), 1)?;
        let (off, mask, lanes) = (self.one(ptr, u), self.mask(place, u), self.lanes(update.value, u)?);
        let test = self.are_inside(access, &off, &window, (place, &mask));
        let test = all(self.rests(ptr, u).into_iter().chain([test]));
        let (of, at) = (types::element(s), update.base.clone() + off);
        let (load, store) = match place.mask {
            Mask::Full => (lanes::Access::Load, lanes::Access::Store),
            Mask::Some(_) => (lanes::Access::LoadSome, lanes::Access::StoreSome),
        };
        let some = |at: Expr| match place.mask {
            Mask::Full => vec![at],
            Mask::Some(_) => vec![mask.clone(), at],
        };
        let kind = types::kind(s)?;
        let op = if update.op == AtomicOp::Add { families::add(kind) } else { families::sub(kind) };
        self.begin();
        let sum = op.on([self.k.access(load, of, some(at.clone())), lanes]);
        let sum = self.constant_as("sum", types::lanes(s), sum);
        let put = some(at).into_iter().chain([sum]).collect();
        self.push(self.k.access(store, of, put).stmt());
        let then = Code::Block(self.k.end());
        self.push(choice(test.likely(), then, Code::Block(other)));
        Ok(())
    }
}
