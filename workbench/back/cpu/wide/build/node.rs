//! Between regions: control that a block shares, masks where it does not, barriers and warp functions.
//!
//! As in the code of the other tiers: mask 0 are the threads that run now, mask 1 those that left the kernel, the others those that a
//! construct has set aside; [`crate::back::cpu::run::block_sync`] does to them what they ask for.

use std::rc::Rc;

use super::control::Stretch;
use super::names::Name;
use super::{Builder, Form, Place, Target};
use crate::back::cpu::abi::host_fn::{HostFn, index};
use crate::back::cpu::abi::site::{Joined, SiteKind};

pub(super) use crate::back::cpu::abi::masks::EXITED;
use crate::back::cpu::abi::masks::{FIRST_MASK, MaskOp, OPERAND_WORDS};
use crate::back::cpu::facts::split::SplitPlan;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::build::{change, forever, host, int, pointer, set, ty, variable, when};
use crate::back::lane::tree::{self as lane, Binary, Expr, Label, Stmt as Code};
use crate::back::lane::types::Ty;
use crate::ir::{Block, Stmt, Value};
use crate::pass::regions::{Node, Sequence};
use crate::source::Span;

/// Most masks of a block.
const MAX_MASKS: u32 = 256;

/// The state of the walk over a block's regions.
#[derive(Default)]
pub struct Walk {
    /// True if masks say who is active.
    pub has_masks: bool,
    /// The number of masks.
    count: u32,
    /// Labels of where to go on when nobody is active, innermost last; with none, the end.
    empty: Vec<Label>,
    /// The end.
    end: Option<Label>,
    /// The variable of the masks, of which the number is known in the end.
    masks: Option<lane::Var>,
    /// The masks of the constructs around, and where threads went their own way, unless each noted that itself; innermost last.
    pub(super) around: Vec<(u32, Option<Span>)>,
    /// True if a thread of the current region may go out of a construct around it.
    jumped: bool,
}

impl<'m> Builder<'m> {
    pub(super) fn start_masks(&mut self, plan: &SplitPlan) {
        self.walk.has_masks = plan.masks;
        self.walk.count = FIRST_MASK;
        if plan.masks {
            let masks = self.make(Name::Masks, Self::type_of_masks(FIRST_MASK), false);
            self.walk.masks = Some(masks);
            self.push(Code::Declare(masks));
            let init = self.mask_helper(MaskOp::Init, 0, int(0), int(0));
            self.push(init.stmt());
        }
        self.declare(Name::Operands, Ty::Array(Rc::new(ty::U64), OPERAND_WORDS));
    }

    /// So many masks of a block, 32 words each.
    fn type_of_masks(count: u32) -> Ty {
        Ty::Array(Rc::new(Ty::Array(Rc::new(ty::U32), 32)), count)
    }

    /// Notes how many masks there are.
    pub(super) fn end_masks(&mut self) {
        let count = self.walk.count.max(FIRST_MASK);
        if let Some(masks) = self.walk.masks {
            self.k.kernel_mut().vars[masks.index()].ty = Self::type_of_masks(count);
        }
    }

    /// The end of a block's regions.
    pub(super) fn end_of_regions(&mut self) {
        let end = self.end_label();
        self.here(end);
    }

    fn end_label(&mut self) -> Label {
        match self.walk.end {
            Some(end) => end,
            None => *self.walk.end.insert(self.k.label("end0".to_owned())),
        }
    }

    /// All masks, where there are any.
    pub(super) fn masks(&self) -> Expr {
        if self.walk.has_masks { self.get(Name::Masks) } else { int(0) }
    }

    /// The words of a mask, or its chunks.
    fn words_of_mask(&self, number: u32) -> Expr {
        self.get(Name::Masks).index(int(i64::from(number)))
    }

    /// The mask of a chunk in a mask of the block's.
    pub(super) fn chunk_of_mask(&self, number: u32, u: u32) -> Expr {
        let chunk = self.get(Name::Thread) / int(16) + int(i64::from(u));
        self.words_of_mask(number).cast(pointer(Ty::Mask)).index(chunk)
    }

    fn helper(&self, host: HostFn) -> usize {
        self.addresses[index(host) as usize]
    }

    /// An operation on masks, which gives whether any thread is active then.
    fn mask_helper(&self, op: MaskOp, number: u32, array: Expr, site: Expr) -> Expr {
        let threads = int(i64::from(self.geometry.threads()));
        let params = [pointer(Ty::Void), ty::U64, ty::U64, pointer(ty::I8), ty::U64, ty::U64];
        let args = vec![self.masks(), int(op as i64), int(i64::from(number)), array, threads, site];
        host(ty::U64, &params, self.helper(HostFn::Mask), args)
    }

    fn barrier(&self, site: Expr) -> Expr {
        let params = [pointer(ty::I8), ty::U64, pointer(Ty::Void)];
        host(ty::I64, &params, self.helper(HostFn::Barrier), vec![self.context(), site, self.masks()])
    }

    pub(super) fn collect(&self, site: Expr) -> Expr {
        let params = [pointer(ty::I8), ty::U64, pointer(Ty::Void), pointer(ty::U64)];
        let args = vec![self.context(), site, self.masks(), self.get(Name::Operands)];
        host(ty::I64, &params, self.helper(HostFn::Collect), args)
    }

    fn new_mask(&mut self) -> Result<u32> {
        if !self.walk.has_masks || self.walk.count >= MAX_MASKS {
            return Err(Unsupported("too many constructs that threads leave one by one"));
        }
        self.walk.count += 1;
        Ok(self.walk.count - 1)
    }

    /// Goes on where somebody may be active.
    fn go_to_empty(&mut self) -> Code {
        let innermost = self.walk.empty.last().copied();
        Code::Goto(innermost.unwrap_or_else(|| self.end_label()))
    }

    fn go_on_if(&mut self, any: Expr) {
        let go = self.go_to_empty();
        self.push(when(!any, go));
    }

    /// The lanes at a place leave what a mask of the block stands for.
    pub(super) fn leave(&mut self, number: u32, noted: Option<Span>, place: Place) {
        let parted = self.split.map_or(0, |plan| plan.parted);
        let note = noted.map(|span| self.site(span, SiteKind::Jump));
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            self.push(change(self.chunk_of_mask(0, u), Binary::And, mask.clone().inverted()));
            self.push(change(self.chunk_of_mask(number, u), Binary::Or, mask.clone()));
            if let Some(site) = &note {
                let lane = self.k.var(variable("l", ty::U32, true));
                let threads = (self.get(Name::Scratch) + int(i64::from(parted))).cast(pointer(ty::U32));
                let to = threads.index(self.first_of(u) + Expr::Var(lane));
                let stmt = set(to, site.clone().cast(ty::U32));
                self.push(Code::EachLane(mask, lane, Box::new(stmt)));
            }
        }
        self.walk.jumped = true;
    }

    pub(super) fn sequence(&mut self, sequence: &Sequence, block: &'m Block) -> Result<()> {
        for node in &sequence.nodes {
            self.node(node, block)?;
            if matches!(node, Node::Jump(_)) {
                break;
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, block: &'m Block) -> Result<()> {
        let at = |i: usize| (&block.stmts[i], block.spans.get(i).copied().unwrap_or_default());
        match node {
            Node::Region(range) => {
                let stretch = Stretch { stmts: &block.stmts[range.clone()], spans: &block.spans[range.clone()] };
                let own = self.share(stretch)?;
                if stretch.stmts.iter().enumerate().any(|(i, _)| !own.contains(&i)) {
                    let own: Vec<usize> = own.into_iter().collect();
                    self.walk.jumped = false;
                    self.region(stretch, &own)?;
                    if std::mem::take(&mut self.walk.jumped) {
                        let any = self.mask_helper(MaskOp::Any, 0, int(0), int(0));
                        self.go_on_if(any);
                    }
                }
                Ok(())
            }
            // Without masks whoever is there has come as far: groups run one after the other, each to the end of the region.
            Node::Barrier(i) => {
                if self.walk.has_masks {
                    let site = self.join(Joined::Barrier, at(*i).1);
                    let failed = self.barrier(site).lt(int(0));
                    self.push(when(failed, Code::Return(Some(int(1)))));
                }
                Ok(())
            }
            Node::Collective(i) => match at(*i) {
                (Stmt::Collective { result, op, args }, span) => self.collective(*result, *op, args, span),
                _ => Err(Unsupported("an unknown warp function")),
            },
            Node::Jump(i) => self.node_jump(at(*i).0, at(*i).1),
            Node::If { stmt, then, els } => {
                let (Stmt::If { cond, then: a, els: b }, span) = at(*stmt) else {
                    return Err(Unsupported("an unknown branch"));
                };
                if self.split.is_some_and(|plan| plan.decides_once(*cond)) {
                    if self.form(*cond) != Form::Group {
                        return Err(Unsupported("a value that a block shares and a group does not"));
                    }
                    let then = self.bracketed(then, a)?;
                    let els = self.bracketed(els, b)?;
                    self.add_if(self.get(Name::Value(*cond, None)), then, Some(els));
                    return Ok(());
                }
                self.masked_if(*cond, [(then, a), (els, b)], span)
            }
            Node::Loop { stmt, body, step } => {
                let (Stmt::Loop { label, body: a, step: b }, span) = at(*stmt) else {
                    return Err(Unsupported("an unknown loop"));
                };
                if self.split.is_some_and(|plan| plan.masked.contains(label)) {
                    return self.masked_loop(*label, (body, a), (step, b), span);
                }
                let target = self.around(*label, None);
                self.begin();
                self.targets.push(target);
                let round = self.bracketed(body, a)?;
                self.add(round);
                self.here(target.step);
                let step = self.bracketed(step, b)?;
                self.add(step);
                self.targets.pop();
                self.poll(*label, span, None);
                let round = self.k.end();
                self.add(forever(round));
                self.here(target.exit);
                Ok(())
            }
            Node::Scope { stmt, body } => {
                let Stmt::Scope { label, body: a } = at(*stmt).0 else {
                    return Err(Unsupported("an unknown scope"));
                };
                if !self.split.is_some_and(|plan| plan.masked.contains(label)) {
                    let target = self.around(*label, None);
                    self.targets.push(target);
                    let inside = self.bracketed(body, a)?;
                    self.add(inside);
                    self.targets.pop();
                    self.here(target.exit);
                    return Ok(());
                }
                let left = self.new_mask()?;
                self.begin();
                let clear = self.mask_helper(MaskOp::Clear, left, int(0), int(0));
                self.push(clear.stmt());
                let target = self.around(*label, Some((left, left)));
                self.targets.push(target);
                self.walk.around.push((left, None));
                let empty = self.begin_empty();
                self.sequence(body, a)?;
                self.walk.empty.pop();
                self.walk.around.pop();
                self.targets.pop();
                self.end_block();
                self.here(empty);
                self.end_masked(left);
                Ok(())
            }
        }
    }

    /// A construct around regions.
    fn around(&mut self, label: crate::ir::Label, masks: Option<(u32, u32)>) -> Target {
        let id = self.fresh();
        let (step, exit) = (self.label("step", id), self.label("exit", id));
        Target { label, step, exit, masks, is_node: true }
    }

    /// A new label of where to go on when nobody is active.
    fn begin_empty(&mut self) -> Label {
        let id = self.fresh();
        let empty = self.label("empty", id);
        self.walk.empty.push(empty);
        empty
    }

    /// A sequence in brackets.
    fn bracketed(&mut self, sequence: &Sequence, block: &'m Block) -> Result<Code> {
        self.begin();
        self.sequence(sequence, block)?;
        Ok(Code::Block(self.k.end()))
    }

    /// Those who left a construct are active again.
    fn end_masked(&mut self, left: u32) {
        let any = self.mask_helper(MaskOp::Merge, left, int(0), int(0));
        self.go_on_if(any);
    }

    /// A jump of all active threads.
    fn node_jump(&mut self, stmt: &Stmt, span: Span) -> Result<()> {
        let mask = match stmt {
            Stmt::Return(_) if self.split.is_some_and(|plan| plan.masked_return) => EXITED,
            Stmt::Return(_) => {
                let end = self.end_label();
                self.push(Code::Goto(end));
                return Ok(());
            }
            Stmt::Break(label) | Stmt::Continue(label) => {
                let goes_on = matches!(stmt, Stmt::Continue(_));
                let target = self.targets.iter().rev().find(|t| t.label == *label).copied();
                let target = target.ok_or(Unsupported("a jump out of a region"))?;
                match target.masks {
                    Some((left, again)) => {
                        if goes_on {
                            again
                        } else {
                            left
                        }
                    }
                    None => {
                        self.push(Code::Goto(if goes_on { target.step } else { target.exit }));
                        return Ok(());
                    }
                }
            }
            _ => return Err(Unsupported("an unknown jump")),
        };
        let parted = self.split.map_or(0, |plan| plan.parted);
        let site = self.site(span, SiteKind::Jump);
        let array = self.get(Name::Scratch) + int(i64::from(parted));
        let park = self.mask_helper(MaskOp::Park, mask, array, site);
        self.push(park.stmt());
        let go = self.go_to_empty();
        self.push(go);
        Ok(())
    }

    /// Both sides in text order, each with the threads that take it.
    fn masked_if(&mut self, cond: Value, sides: [(&Sequence, &'m Block); 2], span: Span) -> Result<()> {
        let other = self.new_mask()?;
        let cond = self.kept_array(cond)?;
        self.walk.around.push((other, Some(span)));
        for (turn, (sequence, block)) in sides.into_iter().enumerate() {
            if turn == 1 && sequence.nodes.is_empty() {
                break;
            }
            let op = if turn == 0 { MaskOp::If } else { MaskOp::Swap };
            let any = self.mask_helper(op, other, cond.clone(), int(0));
            let empty = self.begin_empty();
            let side = self.bracketed(sequence, block)?;
            self.walk.empty.pop();
            self.add_if(any, side, None);
            self.here(empty);
        }
        self.walk.around.pop();
        self.end_masked(other);
        Ok(())
    }

    /// Round after round with the threads that are still in it.
    fn masked_loop(
        &mut self,
        label: crate::ir::Label,
        body: (&Sequence, &'m Block),
        step: (&Sequence, &'m Block),
        span: Span,
    ) -> Result<()> {
        let (left, again) = (self.new_mask()?, self.new_mask()?);
        for mask in [left, again] {
            let clear = self.mask_helper(MaskOp::Clear, mask, int(0), int(0));
            self.push(clear.stmt());
        }
        let target = self.around(label, Some((left, again)));
        self.begin();
        self.targets.push(target);
        self.walk.around.extend([(left, None), (again, None)]);
        let next = self.begin_empty();
        let round = self.bracketed(body.0, body.1)?;
        self.walk.empty.pop();
        self.walk.around.pop();
        self.add(round);
        self.here(next);
        let goes_on = self.mask_helper(MaskOp::Merge, again, int(0), int(0));
        self.push(when(!goes_on, Code::Break));
        let exit = self.begin_empty();
        let step = self.bracketed(step.0, step.1)?;
        self.walk.empty.pop();
        self.walk.around.pop();
        self.add(step);
        self.targets.pop();
        self.poll(label, span, None);
        let round = self.k.end();
        self.add(forever(round));
        self.here(exit);
        self.end_masked(left);
        Ok(())
    }
}
