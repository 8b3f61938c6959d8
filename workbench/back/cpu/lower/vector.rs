//! A row in chunks of threads, as [`vector`](crate::back::cpu::facts::vector) planned it: 128-bit lanes, four threads at a time.
//!
//! The uniform values of a chunk and the start of each affine offset are computed once, by scalar lowering with the
//! chunk's first thread; the body then runs on groups of four threads, one group to its end before the next, so that few
//! registers are live. The address of a group's access is the start of its affine offset plus a constant.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::four_lanes::{Group, unaligned};
use super::row::Ops;
use super::{FuncLower, Result, Shortcut};
use crate::back::cpu::facts::roots::guarded_side;
use crate::back::cpu::facts::vector::{Kind, LANES, VectorPlan};
use crate::ir::{Block, Op, Scalar, Stmt, Value};
use crate::source::Span;

impl<'m> FuncLower<'_, 'm> {
    /// The row's threads: chunk by chunk in a `good` row, thread by thread with every check in others, at a row's end, and where a
    /// guard cuts a chunk; goes on in `done`.
    pub(super) fn vector_row(
        &mut self,
        plan: &'m VectorPlan,
        good: clif::Value,
        width: clif::Value,
        done: clif::Block,
    ) -> Result<()> {
        let [head, look, chunk, scalar, rest] = [(); 5].map(|()| self.b.create_block());
        let index = self.b.append_block_param(head, types::I32);
        let first = self.b.append_block_param(scalar, types::I32);
        let end = self.b.append_block_param(scalar, types::I32);
        let zero = self.int(types::I32, 0);
        let branch = self.b.ins().brif(good, head, &[zero.into()], scalar, &[zero.into(), width.into()]);
        self.shortcuts.push(Shortcut(branch));

        self.b.switch_to_block(head);
        let size = self.int(types::I32, plan.chunk());
        let next = self.b.ins().iadd(index, size);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, next, width);
        self.b.ins().brif(fits, look, &[], scalar, &[index.into(), width.into()]);

        self.b.switch_to_block(look);
        self.b.seal_block(look);
        self.good_row = true;
        let all = self.guards_hold(plan, index)?;
        self.b.ins().brif(all, chunk, &[], scalar, &[index.into(), next.into()]);
        self.b.seal_block(scalar);

        self.b.switch_to_block(chunk);
        self.b.seal_block(chunk);
        self.chunk(plan, index)?;
        self.good_row = false;
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, width);
        self.b.ins().brif(more, head, &[next.into()], done, &[]);

        self.b.switch_to_block(scalar);
        self.row(first, end, rest)?;
        self.b.switch_to_block(rest);
        self.b.seal_block(rest);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, end, width);
        let branch = self.b.ins().brif(more, head, &[end.into()], done, &[]);
        self.shortcuts.push(Shortcut(branch));
        self.b.seal_block(head);
        Ok(())
    }

    /// A value that is true if all guards let all threads of the chunk through.
    fn guards_hold(&mut self, plan: &VectorPlan, index: clif::Value) -> Result<clif::Value> {
        let ops = self.ops();
        let by = self.int(types::I32, plan.chunk() - 1);
        let last = self.b.ins().iadd(index, by);
        let mut all = self.int(types::I8, 1);
        for thread in [index, last] {
            self.thread = Some(thread);
            for guard in &plan.guards {
                self.first(guard.a, &self.info.row, &ops)?;
                self.first(guard.b, &self.info.row, &ops)?;
                let holds = self.compare(guard.op, guard.a, guard.b)?;
                all = if guard.want { self.b.ins().band(all, holds) } else { self.b.ins().band_not(all, holds) };
            }
            self.values.fill(None);
        }
        self.thread = None;
        Ok(all)
    }

    fn chunk(&mut self, plan: &'m VectorPlan, index: clif::Value) -> Result<()> {
        self.thread = Some(index);
        let ops = self.ops();
        let body = &self.func.body;
        self.lines(plan, body)?;
        for number in 0..plan.groups {
            let mut group = Group { number, lanes: vec![None; self.func.values.len()], locals: BTreeMap::new() };
            self.group(plan, &ops, body, &mut group)?;
        }
        self.values.fill(None);
        self.thread = None;
        Ok(())
    }

    /// Computes the uniform values of the chunk, and the first thread's value of each affine one.
    fn lines(&mut self, plan: &VectorPlan, block: &'m Block) -> Result<()> {
        for (stmt, span) in block.iter() {
            match stmt {
                Stmt::Let(v, op) if matches!(plan.kinds[v.index()], Kind::Line(_)) => {
                    let val = match plan.alias[v.index()] {
                        Some(from) => self.val(from)?,
                        None => self.op(*v, op, span)?,
                    };
                    self.define(*v, val)?;
                }
                Stmt::If { cond, then, els } => match guarded_side(then, els) {
                    Some((side, _)) if plan.conds.contains(cond) => self.lines(plan, side)?,
                    _ => {
                        self.lines(plan, then)?;
                        self.lines(plan, els)?;
                    }
                },
                Stmt::Scope { body, .. } => self.lines(plan, body)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn group(&mut self, plan: &VectorPlan, ops: &Ops<'m>, block: &'m Block, group: &mut Group) -> Result<()> {
        for (stmt, _) in block.iter() {
            match stmt {
                Stmt::Let(v, op) => {
                    let lanes = match (plan.kinds[v.index()], op, plan.alias[v.index()]) {
                        (Kind::Line(_) | Kind::Unused, ..) => continue,
                        (_, Op::Get(_), Some(from)) => self.lanes(plan, group, from)?,
                        (_, Op::Get(local), None) => match group.locals.get(local) {
                            Some(lanes) => lanes.clone(),
                            None => return Err(self.bad(Span::NONE, format_args!("{local} was not joined"))),
                        },
                        _ => self.lane_op(plan, ops, group, *v, op)?,
                    };
                    group.lanes[v.index()] = Some(lanes);
                }
                // The joined value is read through its local; other uses read the value that was set.
                Stmt::Set(local, v) if self.func.ty(*v).scalar().is_some() => {
                    if let Ok(lanes) = self.lanes(plan, group, *v) {
                        group.locals.insert(*local, lanes);
                    }
                }
                Stmt::Store { ptr, value, .. } => {
                    let lanes = self.lanes(plan, group, *value)?;
                    let size = i64::from(self.scalar_of(*value)?.size());
                    let at = self.start_of_line(*ptr)?;
                    for (i, vector) in lanes.into_iter().enumerate() {
                        let offset = group.number * LANES * size + 16 * i as i64;
                        self.b.ins().store(unaligned(), vector, at, offset as i32);
                    }
                }
                Stmt::If { cond, then, els } => match guarded_side(then, els) {
                    Some((side, _)) if plan.conds.contains(cond) => self.group(plan, ops, side, group)?,
                    _ => self.join(plan, ops, group, *cond, then, els)?,
                },
                Stmt::Scope { body, .. } => self.group(plan, ops, body, group)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Joins both sides of a branch: for each local, each thread takes the value of its side.
    fn join(
        &mut self,
        plan: &VectorPlan,
        ops: &Ops<'m>,
        group: &mut Group,
        cond: Value,
        then: &'m Block,
        els: &'m Block,
    ) -> Result<()> {
        let before = group.locals.clone();
        self.group(plan, ops, then, group)?;
        let yes = std::mem::replace(&mut group.locals, before);
        self.group(plan, ops, els, group)?;
        for (local, a) in yes {
            let Some(b) = group.locals.get(&local).cloned() else { continue };
            if a != b
                && let Some(scalar) = self.func.locals.get(local.index()).and_then(|l| l.ty.scalar())
            {
                // A mask is selected as integers.
                let (scalar, b) = match (scalar, a.len()) {
                    (Scalar::Bool, 1) => (Scalar::U32, self.resize_mask(b, 4)),
                    (Scalar::Bool, _) => (Scalar::U64, self.resize_mask(b, 8)),
                    (scalar, _) => (scalar, b),
                };
                let chosen = self.select_lanes(plan, group, cond, scalar, &a, &b)?;
                group.locals.insert(local, chosen);
            }
        }
        Ok(())
    }

    pub(super) fn start_of_line(&mut self, ptr: Value) -> Result<clif::Value> {
        let ptr = self.ptr(ptr)?;
        self.address(ptr)
    }
}
