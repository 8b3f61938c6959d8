//! Barriers and collectives (votes, shuffles, reductions) in regions: a call of the run time, which looks at all threads at once.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::{FuncLower, Result, Val, scalar_type};
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::abi::masks::{OPERAND_WORDS, OPERANDS};
use crate::back::cpu::abi::site::{Join, Joined, SiteKind};
use crate::back::cpu::facts::split::ValueHome;
use crate::ir::{Collective, Scalar, Value};
use crate::source::Span;

impl<'m> FuncLower<'_, 'm> {
    pub(super) fn join_site(&mut self, op: Joined, span: Span) -> Result<clif::Value> {
        let walk = self.walk()?;
        let (around, parted) = (walk.around.iter().rev().copied().collect(), walk.plan.parted);
        let site = self.new_site(span, SiteKind::Join(Box::new(Join { op, around, parted, branches: Vec::new() })));
        Ok(self.int(types::I64, site))
    }

    pub(super) fn barrier(&mut self, span: Span) -> Result<()> {
        // All threads are here if there are no masks.
        if self.walk()?.masks.is_none() {
            return Ok(());
        }
        let site = self.join_site(Joined::Barrier, span)?;
        let masks = self.masks_address()?;
        let status = self.call_host(HostFn::Barrier, &[self.ctx, site, masks])?[0];
        self.stop_if_negative(status);
        Ok(())
    }

    pub(super) fn collective(
        &mut self,
        result: Option<Value>,
        op: Collective,
        args: &[Value],
        span: Span,
    ) -> Result<()> {
        let plan = self.walk()?.plan;
        let area = match self.walk()?.operands {
            Some(area) => area,
            None => {
                let area = self.stack_slot(8 * OPERAND_WORDS, 8);
                self.walk()?.operands = Some(area);
                area
            }
        };
        let mut of = Scalar::U32;
        for (i, v) in args.iter().enumerate().take(OPERANDS) {
            let ty = self.scalar_of(*v)?;
            if op.is_block() || i == 1 {
                of = ty;
            }
            let (word, stride) = match plan.values[v.index()] {
                ValueHome::Shared => {
                    let value = self.scalar(*v)?;
                    (self.widen(value, ty.into()), 0)
                }
                _ => (self.kept_array(*v)?, ty.size()),
            };
            let stride = self.int(types::I64, i64::from(stride));
            self.stack_put(word, area, 16 * i as i32);
            self.stack_put(stride, area, 16 * i as i32 + 8);
        }
        let to = match result {
            Some(v) if !op.is_block() => self.kept_array(v)?,
            _ => self.int(types::I64, 0),
        };
        self.stack_put(to, area, 16 * OPERANDS as i32);
        let site = self.join_site(Joined::Collective(op, of.size(), of.is_signed()), span)?;
        let masks = self.masks_address()?;
        let start = self.b.ins().stack_addr(types::I64, area, 0);
        let answer = self.call_host(HostFn::Collect, &[self.ctx, site, masks, start])?[0];
        self.stop_if_negative(answer);
        if let Some(v) = result.filter(|_| op.is_block()) {
            let ty = scalar_type(self.scalar_of(v)?);
            let answer = self.b.ins().ireduce(ty, answer);
            self.define(v, Val::Scalar(answer))?;
        }
        Ok(())
    }
}
