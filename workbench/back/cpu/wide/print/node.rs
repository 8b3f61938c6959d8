//! Between regions: control that a block shares, masks where it does not, barriers and warp functions.
//!
//! As in the code of the other tiers: mask 0 are the threads that run now, mask 1 those that left the kernel, the others those that a
//! construct has set aside; [`crate::back::cpu::run::block_sync`] does to them what they ask for.

use std::fmt::Write as _;

use super::control::Stretch;
use super::{Form, Place, Printer, Target, ctype};
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::abi::site::{Join, Joined, SiteKind};

pub(super) use crate::back::cpu::abi::masks::EXITED;
use crate::back::cpu::abi::masks::{FIRST_MASK, MaskOp, OPERAND_WORDS, OPERANDS};
use crate::back::cpu::facts::split::{SplitPlan, ValueHome};
use crate::back::cpu::wide::{Result, Unsupported};
use crate::ir::{Block, Collective, Scalar, Stmt, Value};
use crate::pass::regions::{Node, Sequence};
use crate::source::Span;

/// Most masks of a block.
const MAX_MASKS: u32 = 256;

/// What the walk over a block's regions knows.
#[derive(Default)]
pub struct Walk {
    /// Whether masks say who is active.
    pub has_masks: bool,
    /// How many there are.
    count: u32,
    /// Labels of where to go on when nobody is active, innermost last; with none, the end.
    empty: Vec<u32>,
    /// The masks of the constructs around, and where threads went their own way, unless each noted that itself; innermost last.
    around: Vec<(u32, Option<Span>)>,
    /// Whether a thread of the region being printed may go out of a construct around it.
    jumped: bool,
}

impl<'m> Printer<'m> {
    pub(super) fn start_masks(&mut self, plan: &SplitPlan) {
        self.walk.has_masks = plan.masks;
        self.walk.count = FIRST_MASK;
        if plan.masks {
            self.line("u32 masks[MASKS][32] __attribute__((aligned(64)));");
            self.line(format!("MASK({}, 0, 0, 0);", MaskOp::Init as u64));
        }
        self.line(format!("u64 operands[{OPERAND_WORDS}];"));
    }

    /// What the helpers between regions are called by.
    pub(super) fn print_joins(&mut self) {
        if self.split.is_none() {
            return;
        }
        let [mask, barrier, collect] = [HostFn::Mask, HostFn::Barrier, HostFn::Collect]
            .map(|host| self.addresses[crate::back::cpu::abi::host_fn::index(host) as usize]);
        let threads = self.geometry.threads();
        let masks = if self.walk.has_masks { "masks" } else { "0" };
        let _ = writeln!(
            self.out,
            "#define MASKS {}\n\
             #define MASK(op, number, array, site) ((u64 (*)(void*, u64, u64, char*, u64, u64)){mask:#x}ull)(masks, op, number, array, {threads}, site)\n\
             #define BARRIER(site) ((i64 (*)(char*, u64, void*)){barrier:#x}ull)(ctx, site, {masks})\n\
             #define COLLECT(site) ((i64 (*)(char*, u64, void*, u64*)){collect:#x}ull)(ctx, site, {masks}, operands)",
            self.walk.count.max(FIRST_MASK)
        );
    }

    fn new_mask(&mut self) -> Result<u32> {
        if !self.walk.has_masks || self.walk.count >= MAX_MASKS {
            return Err(Unsupported("too many constructs that threads leave one by one"));
        }
        self.walk.count += 1;
        Ok(self.walk.count - 1)
    }

    /// Goes on where somebody may be active.
    fn go_to_empty(&mut self) {
        match self.walk.empty.last() {
            Some(label) => self.line(format!("goto empty{label};")),
            None => self.line("goto end0;"),
        }
    }

    fn go_on_if(&mut self, any: &str) {
        self.line(format!("if (!{any})"));
        self.go_to_empty();
    }

    /// The lanes at a place leave what a mask of the block stands for.
    pub(super) fn leave(&mut self, number: u32, noted: Option<Span>, place: Place) {
        let parted = self.split.map_or(0, |plan| plan.parted);
        let note = noted.map(|span| self.site(span, SiteKind::Jump));
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            self.line(format!(
                "((m16*)masks[0])[t0 / 16 + {u}] &= ~{mask}; ((m16*)masks[{number}])[t0 / 16 + {u}] |= {mask};"
            ));
            if let Some(site) = &note {
                self.line(format!(
                    "LOOP_LANES({mask}) ((u32*)(scratch + {parted}))[t0 + {} + l] = (u32){site};",
                    16 * u
                ));
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
                        let any = format!("MASK({}, 0, 0, 0)", MaskOp::Any as u64);
                        self.go_on_if(&any);
                    }
                }
                Ok(())
            }
            // Without masks whoever is there has come as far: groups run one after the other, each to the end of the region.
            Node::Barrier(i) => {
                if self.walk.has_masks {
                    let site = self.join(Joined::Barrier, at(*i).1);
                    self.line(format!("if (BARRIER({site}) < 0) return 1;"));
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
                    self.line(format!("if (v{}) {{", cond.index()));
                    self.sequence(then, a)?;
                    self.line("} else {");
                    self.sequence(els, b)?;
                    self.line("}");
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
                let id = self.fresh();
                self.line("for (;;) {\n{");
                self.targets.push(Target { label: *label, id, masks: None, is_node: true });
                self.sequence(body, a)?;
                self.line(format!("}}\nstep{id}:; {{"));
                self.sequence(step, b)?;
                self.line("}");
                self.targets.pop();
                self.poll(*label, span, None);
                self.line(format!("}}\nexit{id}:;"));
                Ok(())
            }
            Node::Scope { stmt, body } => {
                let Stmt::Scope { label, body: a } = at(*stmt).0 else {
                    return Err(Unsupported("an unknown scope"));
                };
                let id = self.fresh();
                let masked = self.split.is_some_and(|plan| plan.masked.contains(label));
                self.line("{");
                if masked {
                    let left = self.new_mask()?;
                    self.line(format!("MASK({}, {left}, 0, 0);", MaskOp::Clear as u64));
                    self.targets.push(Target { label: *label, id, masks: Some((left, left)), is_node: true });
                    self.walk.around.push((left, None));
                    self.walk.empty.push(id);
                    self.sequence(body, a)?;
                    self.walk.empty.pop();
                    self.walk.around.pop();
                    self.targets.pop();
                    self.line(format!("}}\nempty{id}:;"));
                    self.end_masked(left);
                    return Ok(());
                }
                self.targets.push(Target { label: *label, id, masks: None, is_node: true });
                self.sequence(body, a)?;
                self.targets.pop();
                self.line(format!("}}\nexit{id}:;"));
                Ok(())
            }
        }
    }

    /// Those who left a construct are active again.
    fn end_masked(&mut self, left: u32) {
        let any = format!("MASK({}, {left}, 0, 0)", MaskOp::Merge as u64);
        self.go_on_if(&any);
    }

    /// A jump of all active threads.
    fn node_jump(&mut self, stmt: &Stmt, span: Span) -> Result<()> {
        let mask = match stmt {
            Stmt::Return(_) if self.split.is_some_and(|plan| plan.masked_return) => EXITED,
            Stmt::Return(_) => {
                self.line("goto end0;");
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
                        self.line(format!("goto {}{};", if goes_on { "step" } else { "exit" }, target.id));
                        return Ok(());
                    }
                }
            }
            _ => return Err(Unsupported("an unknown jump")),
        };
        let parted = self.split.map_or(0, |plan| plan.parted);
        let site = self.site(span, SiteKind::Jump);
        self.line(format!("MASK({}, {mask}, scratch + {parted}, {site});", MaskOp::Park as u64));
        self.go_to_empty();
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
            let id = self.fresh();
            self.line(format!("if (MASK({}, {other}, {cond}, 0)) {{", op as u64));
            self.walk.empty.push(id);
            self.sequence(sequence, block)?;
            self.walk.empty.pop();
            self.line(format!("}}\nempty{id}:;"));
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
            self.line(format!("MASK({}, {mask}, 0, 0);", MaskOp::Clear as u64));
        }
        let (next, exit) = (self.fresh(), self.fresh());
        self.line("for (;;) {\n{");
        self.targets.push(Target { label, id: next, masks: Some((left, again)), is_node: true });
        self.walk.around.extend([(left, None), (again, None)]);
        self.walk.empty.push(next);
        self.sequence(body.0, body.1)?;
        self.walk.empty.pop();
        self.walk.around.pop();
        self.line(format!("}}\nempty{next}:;\nif (!MASK({}, {again}, 0, 0)) break;\n{{", MaskOp::Merge as u64));
        self.walk.empty.push(exit);
        self.sequence(step.0, step.1)?;
        self.walk.empty.pop();
        self.walk.around.pop();
        self.line("}");
        self.targets.pop();
        self.poll(label, span, None);
        self.line(format!("}}\nempty{exit}:;"));
        self.end_masked(left);
        Ok(())
    }

    fn join(&mut self, op: Joined, span: Span) -> String {
        let around = self.walk.around.iter().rev().copied().collect();
        let parted = self.split.map_or(0, |plan| plan.parted);
        self.site(span, SiteKind::Join(Box::new(Join { op, around, parted })))
    }

    /// Where a value is kept for all threads.
    fn kept_array(&self, v: Value) -> Result<String> {
        match self.split.map(|plan| plan.values[v.index()]) {
            Some(ValueHome::Scratch(at, _)) => Ok(format!("scratch + {at}")),
            _ => Err(Unsupported("an operand that is not kept")),
        }
    }

    fn collective(&mut self, result: Option<Value>, op: Collective, args: &[Value], span: Span) -> Result<()> {
        let Some(plan) = self.split else { return Err(Unsupported("a warp function")) };
        let mut of = Scalar::U32;
        for (i, v) in args.iter().enumerate().take(OPERANDS) {
            let s = self.scalar(*v);
            if op.is_block() || i == 1 {
                of = s;
            }
            let (word, stride) = match plan.values[v.index()] {
                ValueHome::Shared => (self.as_word(*v, s), 0),
                _ => (format!("(u64)({})", self.kept_array(*v)?), s.size()),
            };
            self.line(format!("operands[{}] = {word}; operands[{}] = {stride};", 2 * i, 2 * i + 1));
        }
        let to = match result {
            Some(v) if !op.is_block() => format!("(u64)({})", self.kept_array(v)?),
            _ => "0".to_owned(),
        };
        self.line(format!("operands[{}] = {to};", 2 * OPERANDS));
        let site = self.join(Joined::Collective(op, of.size(), of.is_signed()), span);
        let n = self.fresh();
        self.line(format!("const i64 answer{n} = COLLECT({site}); if (answer{n} < 0) return 1;"));
        if let Some(v) = result.filter(|_| op.is_block()) {
            let ty = ctype(self.scalar(v));
            self.line(format!("const {ty} v{} = ({ty})answer{n};", v.index()));
        }
        Ok(())
    }

    /// The 64 bits that a number of a block is to the run time.
    fn as_word(&self, v: Value, s: Scalar) -> String {
        let one = self.one(v, 0);
        match s {
            Scalar::F32 => format!("(u64)bits_f32({one})"),
            Scalar::F64 => format!("bits_f64({one})"),
            s if s.is_signed() => format!("(u64)(i64){one}"),
            _ => format!("(u64){one}"),
        }
    }
}
