//! Arrays of integers that a kernel only adds to: each worker adds to a copy of its own, which is all zeros at first, and at its end adds
//! that to the array. Sums of integers are the same in any order, and nobody sees them before the launch has ended. So the processors do not
//! wait for each other at every addition: a histogram whose blocks add their bins to one array took a fifth longer.
//!
//! Whether a launch does so it decides itself ([`crate::back::cpu::run::sums`]): the text has both ways.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::{Access, Update};
use super::{Form, Mask, Place, Printer, suffix, vtype};
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::Result;
use crate::ir::{AtomicOp, Op, Stmt};

impl Printer<'_> {
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

    /// The C name of a worker's own copy of an array, which is null where it has none.
    pub(super) fn own_sums(&self, root: Root) -> Option<String> {
        match root {
            Root::Param(i) if self.sums.contains_key(&i) => Some(format!("Q_p{i}")),
            _ => None,
        }
    }

    /// Adds lanes to neighbours in memory that nobody else adds to meanwhile; `other` is how it is done where these are not all in bounds.
    pub(super) fn add_line(
        &mut self,
        update: &Update,
        access: &Access,
        place: Place,
        u: u32,
        other: &str,
    ) -> Result<bool> {
        let (ptr, value, s) = (update.ptr, update.value, access.s);
        let near = matches!(self.form(ptr), Form::Row(step) | Form::Line(step) if step == i64::from(s.size()));
        let adds = matches!(update.op, AtomicOp::Add | AtomicOp::Sub) && s.is_int() && update.result.is_none();
        if !(near && adds) {
            return Ok(false);
        }
        let window = self.limit(access.root, true, s.size(), 1)?;
        let (off, mask, rests, limit) = (self.one(ptr, u), self.mask(place, u), self.rests(ptr, u), &access.limit);
        let (base, kind, vty, lanes) = (&update.base, suffix(s), vtype(s), self.lanes(value, u)?);
        let (test, load, store) = match place.mask {
            Mask::Full => (
                format!("(u64){off} < {window}"),
                format!("ld_{kind}({base} + {off})"),
                format!("st_{kind}({base} + {off}, sum)"),
            ),
            Mask::Some(_) => (
                format!("((u64){off} < {window} || inside({mask}, {off}, {}, {limit}))", s.size()),
                format!("ldm_{kind}({mask}, {base} + {off})"),
                format!("stm_{kind}({mask}, {base} + {off}, sum)"),
            ),
        };
        let sign = if update.op == AtomicOp::Add { "add" } else { "sub" };
        self.line(format!(
            "if (likely({rests}{test})) {{ const {vty} sum = {sign}_{kind}({load}, {lanes}); {store}; }}\nelse {{ {other} }}"
        ));
        Ok(true)
    }
}
