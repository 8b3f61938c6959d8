//! Control between regions: active threads, jumps of all of them, barriers and warp functions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::{FuncLower, Result};
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::abi::masks::{ACTIVE, EXITED, MASK_BYTES, MaskOp};
use crate::back::cpu::abi::site::SiteKind;
use crate::ir::Stmt;
use crate::source::Span;

impl<'m> FuncLower<'_, 'm> {
    /// A jump of all active threads.
    pub(super) fn node_jump(&mut self, stmt: &Stmt, span: Span) -> Result<()> {
        let park = match stmt {
            Stmt::Break(label) | Stmt::Continue(label) => {
                let goes_on = matches!(stmt, Stmt::Continue(_));
                let target = self.target(*label, span)?;
                match (target.masks, goes_on) {
                    (Some((left, _)), false) => Some(left),
                    (Some((_, again)), true) => Some(again),
                    (None, false) => {
                        target.exit_used = true;
                        let exit = target.exit;
                        self.b.ins().jump(exit, &[]);
                        None
                    }
                    (None, true) => {
                        target.step_used = true;
                        let Some(step) = target.step else {
                            return Err(self.bad(span, format_args!("`continue` of {label}, which is no loop")));
                        };
                        self.b.ins().jump(step, &[]);
                        None
                    }
                }
            }
            _ if self.walk()?.plan.masked_return => Some(EXITED),
            _ => {
                let done = self.walk()?.empty[0];
                self.b.ins().jump(done, &[]);
                None
            }
        };
        if let Some(mask) = park {
            let parted = self.parted()?;
            let site = self.new_site(span, SiteKind::Jump);
            self.mask_at(MaskOp::Park, mask, Some(parted), site)?;
            let empty = self.empty_target()?;
            self.b.ins().jump(empty, &[]);
        }
        Ok(())
    }

    pub(super) fn empty_target(&mut self) -> Result<clif::Block> {
        let walk = self.walk()?;
        Ok(walk.empty.last().copied().unwrap_or(walk.empty[0]))
    }

    /// Goes on if any thread is active; else jumps to where one may be.
    pub(super) fn go_on_if(&mut self, any: clif::Value) -> Result<()> {
        let (go, empty) = (self.b.create_block(), self.empty_target()?);
        self.b.ins().brif(any, go, &[], empty, &[]);
        self.b.switch_to_block(go);
        self.b.seal_block(go);
        Ok(())
    }

    /// Makes the threads that left a construct active again.
    pub(super) fn end_masked(&mut self, exit: clif::Block, left: u32, span: Span) -> Result<bool> {
        self.pop_target(span)?;
        self.b.switch_to_block(exit);
        self.b.seal_block(exit);
        let any = self.mask(MaskOp::Merge, left, None)?;
        self.go_on_if(any)?;
        Ok(true)
    }

    /// Has the running thread leave the construct of a mask.
    pub(super) fn jump_out(&mut self, mask: u32, span: Span) -> Result<()> {
        if mask != EXITED {
            let site = self.new_site(span, SiteKind::Jump);
            let (site, at) = (self.int(types::I32, site), self.walk()?.plan.parted);
            self.kept_store(at, site)?;
        }
        let walk = self.walk()?;
        walk.jumped = true;
        let (Some(masks), Some(tid), Some(end)) = (walk.masks, walk.tid, walk.thread_end) else {
            return Err(self.bad(Span::NONE, "a thread leaves where no mask says so"));
        };
        let five = self.int(types::I64, 5);
        let warp = self.b.ins().ushr(tid, five);
        let lane = self.b.ins().ireduce(types::I32, tid);
        let one = self.int(types::I32, 1);
        let bit = self.b.ins().ishl(one, lane);
        let active_at = self.mask_word(masks, warp, ACTIVE);
        let active = self.b.ins().load(types::I32, trusted(), active_at, 0);
        let rest = self.b.ins().band_not(active, bit);
        self.b.ins().store(trusted(), rest, active_at, 0);
        let other_at = self.mask_word(masks, warp, mask);
        let other = self.b.ins().load(types::I32, trusted(), other_at, 0);
        let more = self.b.ins().bor(other, bit);
        self.b.ins().store(trusted(), more, other_at, 0);
        self.b.ins().jump(end, &[]);
        Ok(())
    }

    pub(super) fn mask_word(&mut self, masks: clif::StackSlot, warp: clif::Value, mask: u32) -> clif::Value {
        let start = self.b.ins().stack_addr(types::I64, masks, (MASK_BYTES * mask) as i32);
        self.scaled(start, warp, 4)
    }

    pub(super) fn new_mask(&mut self) -> Result<u32> {
        let walk = self.walk()?;
        let Some(masks) = walk.masks else { return Err(self.bad(Span::NONE, "a mask where there are none")) };
        let mask = walk.mask_count;
        walk.mask_count += 1;
        self.b.func.sized_stack_slots[masks].size = MASK_BYTES * (mask + 1);
        Ok(mask)
    }

    pub(super) fn masks_address(&mut self) -> Result<clif::Value> {
        Ok(match self.walk()?.masks {
            Some(masks) => self.b.ins().stack_addr(types::I64, masks, 0),
            None => self.int(types::I64, 0),
        })
    }

    /// Runs an operation on the masks; gives whether any thread is active then.
    pub(super) fn mask(&mut self, op: MaskOp, mask: u32, cond: Option<clif::Value>) -> Result<clif::Value> {
        self.mask_at(op, mask, cond, 0)
    }

    /// The memory in which threads note the sites of their jumps.
    pub(super) fn parted(&mut self) -> Result<clif::Value> {
        let walk = self.walk()?;
        let (scratch, at) = (walk.scratch, walk.plan.parted);
        let at = self.int(types::I64, i64::from(at));
        Ok(self.b.ins().iadd(scratch, at))
    }

    /// As [`Self::mask`], for an operation that has a site, which threads note in `array`.
    pub(super) fn mask_at(
        &mut self,
        op: MaskOp,
        mask: u32,
        array: Option<clif::Value>,
        site: i64,
    ) -> Result<clif::Value> {
        let masks = self.masks_address()?;
        let (code, mask) = (self.int(types::I64, op as i64), self.int(types::I64, i64::from(mask)));
        let array = match array {
            Some(array) => array,
            None => self.int(types::I64, 0),
        };
        let (threads, site) = (self.walk()?.threads, self.int(types::I64, site));
        Ok(self.call_host(HostFn::Mask, &[masks, code, mask, array, threads, site])?[0])
    }

    pub(super) fn stop_if_negative(&mut self, value: clif::Value) {
        let zero = self.int(types::I64, 0);
        let negative = self.b.ins().icmp(IntCC::SignedLessThan, value, zero);
        self.stop_if(negative);
    }
}
