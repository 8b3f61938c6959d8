//! Variables, statements and control.

use std::collections::HashMap;

use cranelift_codegen::ir::{
    self as clif, Block, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};

use super::helpers::{Callee, State};
use super::value::{At, Mask, Num, Parts, Val, Vectors, clif_type};
use super::{Known, Result, bad};
use crate::back::lane::memory::{Access, Element, Space};
use crate::back::lane::not_vectorised::Left;
use crate::back::lane::table::{Kind, NumberOp, Op};
use crate::back::lane::tree::{Binary, Expr, FunctionId, If, Kernel, Label, Loop, Role, Stmt, Unary, Var};
use crate::back::lane::types::Ty;

/// The thing that a variable stands for.
#[derive(Clone)]
pub(super) enum Binding {
    /// A value that never changes.
    Value(Val),
    Variable(Ty, Vec<Variable>),
    /// An array, or the record of a fault.
    Memory(Ty, StackSlot),
    /// A constant array at that address.
    Table(Ty, u64),
}

/// The statements after a statement: the rest of its list (`here`), then those after the construct that it is the whole of (`outer`), up to
/// the end of the block that it is in.
#[derive(Clone, Copy)]
pub(super) struct After<'a, 'k> {
    pub here: &'k [Stmt],
    pub outer: Option<&'a After<'a, 'k>>,
}

impl<'k> After<'_, 'k> {
    /// All statements that follow.
    pub fn all(&self) -> impl Iterator<Item = &'k Stmt> {
        std::iter::successors(Some(*self), |after| after.outer.copied()).flat_map(|after| after.here)
    }
}

/// The emitter of the function that a kernel becomes.
pub(super) struct Emitter<'k, 'f> {
    pub b: FunctionBuilder<'f>,
    pub known: &'k Known,
    pub kernel: &'k Kernel,
    /// The bindings of variables, with the blocks that they were declared in.
    bindings: Vec<Option<(Binding, u32)>>,
    /// The blocks around, innermost last, and the number of blocks so far.
    blocks: Vec<u32>,
    count: u32,
    /// True for each variable that is set after its declaration.
    is_set: Vec<bool>,
    labels: Vec<Option<Block>>,
    /// The targets of `break`.
    exits: Vec<Block>,
    /// The result of the function being inlined.
    returned: Option<Val>,
    inlined: u32,
    /// True if the current block has its end.
    ended: bool,
    pub helpers: HashMap<Callee, clif::FuncRef>,
    /// Slots for lanes that helpers read and write: one per size and place.
    pub rooms: HashMap<(usize, u32), StackSlot>,
    pub tables: Vec<Box<[u32]>>,
    /// Machine code of loops, which the kernel calls by number, from 1 on.
    pub loops: Vec<Vec<u8>>,
    /// The reasons why other loops and stretches have none.
    pub left: Vec<Left>,
    /// Lines of the cache that this block prefetches: emitted at its end, several per call.
    pub wanted: Vec<Num>,
    /// Variables that begin with a value that a block keeps in scratch, and its place.
    pub kept: HashMap<Var, Kept<'k>>,
    /// The number of times that memory may have been written.
    pub written: usize,
}

/// The value that a variable begins with.
pub(super) struct Kept<'k> {
    pub at: &'k Expr,
    /// The first vectors that were read there.
    pub parts: [clif::Value; 4],
    /// The number of times that memory had been written by then.
    pub written: usize,
}

/// The data and code that the function needs besides itself.
pub(super) struct Made {
    pub tables: Vec<Box<[u32]>>,
    pub loops: Vec<Vec<u8>>,
    pub left: Vec<Left>,
}

/// The number of lines that one call prefetches: as many as a group of threads that walk memory has chunks.
pub(super) const LINES: usize = 8;

/// Flags of an access that has been checked, aligned to nothing.
pub(super) fn free() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'k, 'f> Emitter<'k, 'f> {
    /// Compiles a kernel.
    pub fn run(b: FunctionBuilder<'f>, kernel: &'k Kernel, known: &'k Known) -> Result<Made> {
        let mut is_set = vec![false; kernel.vars.len()];
        let functions = kernel.functions.iter().flat_map(|function| &function.body);
        let macros = kernel.macros.iter().flat_map(|of| &of.body);
        for stmt in functions.chain(macros).chain(&kernel.body) {
            stmt.for_each_expr(&mut |expr| {
                if let Expr::Assign(_, to, _) = expr
                    && let Expr::Var(var) = **to
                {
                    is_set[var.index()] = true;
                }
            });
        }
        let mut emitter = Emitter {
            b,
            known,
            kernel,
            bindings: vec![None; kernel.vars.len()],
            blocks: vec![0],
            count: 0,
            is_set,
            labels: vec![None; kernel.labels.len()],
            exits: Vec::new(),
            returned: None,
            inlined: 0,
            ended: false,
            helpers: HashMap::new(),
            rooms: HashMap::new(),
            tables: Vec::new(),
            loops: Vec::new(),
            left: Vec::new(),
            wanted: Vec::new(),
            kept: HashMap::new(),
            written: 0,
        };
        emitter.kernel()?;
        emitter.b.seal_all_blocks();
        emitter.b.finalize(known.frame);
        Ok(Made { tables: emitter.tables, loops: emitter.loops, left: emitter.left })
    }

    fn kernel(&mut self) -> Result<()> {
        let kernel = self.kernel;
        for table in &kernel.tables {
            let words = table.words.clone();
            self.bind(table.var, Binding::Table(kernel.var(table.var).ty.clone(), words.as_ptr() as u64));
            self.tables.push(words);
        }
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        let given = self.b.block_params(entry).to_vec();
        for (param, value) in kernel.params.iter().zip(given) {
            let ty = kernel.var(*param).ty.clone();
            self.bind(*param, Binding::Value(Val::Num(Num { at: At::Value(value), ty })));
        }
        self.block(&kernel.body)
    }

    pub(super) fn bind(&mut self, var: Var, binding: Binding) {
        let block = self.blocks.last().copied().unwrap_or_default();
        self.bindings[var.index()] = Some((binding, block));
    }

    pub(super) fn lookup(&self, var: Var) -> Result<Binding> {
        let found = self.bindings[var.index()].as_ref().map(|(binding, _)| binding.clone());
        found.ok_or_else(|| bad(format!("`{}`, which is not known", self.kernel.var(var).name)))
    }

    /// The variable of a role.
    pub(super) fn of_role(&self, role: Role) -> Option<Var> {
        self.kernel.vars.iter().position(|var| var.role == role).map(|at| Var(at as u32))
    }

    /// Goes on in a block.
    pub(super) fn begin(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.ended = false;
    }

    /// Emits the prefetches. A call costs more than it gains if each line has its own, or where vectors are alive.
    fn ask(&mut self) -> Result<()> {
        for lines in std::mem::take(&mut self.wanted).chunks(LINES) {
            let all = lines.iter().cycle().take(LINES).map(|num| Val::Num(num.clone())).collect::<Vec<_>>();
            self.call_helper(Callee::Ask, &all)?;
        }
        Ok(())
    }

    pub(super) fn jump(&mut self, to: Block) -> Result<()> {
        if !self.ended {
            self.ask()?;
            self.b.ins().jump(to, &[]);
        }
        self.wanted.clear();
        self.ended = true;
        Ok(())
    }

    pub(super) fn label(&mut self, label: Label) -> Block {
        if let Some(block) = self.labels[label.0 as usize] {
            return block;
        }
        let block = self.b.create_block();
        self.labels[label.0 as usize] = Some(block);
        block
    }

    /// Emits statements with variables of their own.
    fn block(&mut self, all: &'k [Stmt]) -> Result<()> {
        self.push_scope();
        self.statements(all)?;
        self.pop_scope();
        Ok(())
    }

    pub(super) fn statements(&mut self, all: &'k [Stmt]) -> Result<()> {
        let mut at = 0;
        while let Some(stmt) = all.get(at) {
            at += 1;
            at += self.statement(stmt, &After { here: &all[at..], outer: None })?;
        }
        Ok(())
    }

    /// Emits a statement; gives the number of statements after it in its list that it has emitted as well.
    pub(super) fn statement(&mut self, stmt: &'k Stmt, after: &After<'_, 'k>) -> Result<usize> {
        if self.ended {
            // A block for unreachable statements.
            let block = self.b.create_block();
            self.begin(block);
        }
        match stmt {
            Stmt::Block(all) => self.block(all)?,
            Stmt::Let(var, value) => self.begin_as(*var, value)?,
            Stmt::Declare(var) => self.declare(*var)?,
            Stmt::Do(expr) => {
                let is_name = matches!(expr, Expr::Assign(_, to, _) if matches!(**to, Expr::Var(_)));
                self.written += usize::from(!is_name);
                self.eval(expr)?;
            }
            Stmt::If(of) => self.if_statement(of, after)?,
            Stmt::Loop(of) => return self.loop_statement(of, after),
            Stmt::EachLane(mask, lane, body) => self.each_lane(mask, *lane, body, after)?,
            Stmt::Straight(body) => {
                if !self.stretch(body, after)? {
                    return self.statement(body, after);
                }
            }
            Stmt::Label(label) => {
                let block = self.label(*label);
                self.jump(block)?;
                self.begin(block);
                self.written += 1;
            }
            Stmt::Goto(label) => {
                let block = self.label(*label);
                self.jump(block)?;
            }
            Stmt::Break => {
                let exit = *self.exits.last().ok_or_else(|| bad("`break` outside of a loop"))?;
                self.jump(exit)?;
            }
            Stmt::Return(value) => self.return_statement(value.as_ref())?,
            Stmt::Macro(id) => {
                let kernel = self.kernel;
                for stmt in kernel.of_macro(*id) {
                    self.statement(stmt, after)?;
                }
            }
        }
        Ok(0)
    }

    fn return_statement(&mut self, value: Option<&'k Expr>) -> Result<()> {
        let value = match value {
            Some(expr) => self.eval(expr)?,
            None => Val::Nothing,
        };
        if self.inlined > 0 {
            self.returned = Some(value);
            return Ok(());
        }
        self.ask()?;
        let status = self.as_num(&value)?;
        let status = self.converted(&status, &Ty::int(32, false))?;
        let status = self.value(&status);
        self.b.ins().return_(&[status]);
        self.ended = true;
        Ok(())
    }

    fn if_statement(&mut self, of: &'k If, after: &After<'_, 'k>) -> Result<()> {
        let (then, other, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.branch(&of.cond, then, other, 0)?;
        self.b.seal_block(then);
        self.b.seal_block(other);
        self.begin(then);
        let els = of.els.as_slice();
        if !self.stretch(&of.then, &After { here: els, outer: Some(after) })? {
            // The list of the branch itself is empty.
            let behind = After { here: els, outer: Some(after) };
            self.statement(&of.then, &After { here: &[], outer: Some(&behind) })?;
        }
        self.jump(end)?;
        self.begin(other);
        if let Some(els) = &of.els {
            self.statement(els, &After { here: &[], outer: Some(after) })?;
        }
        self.jump(end)?;
        self.b.seal_block(end);
        self.begin(end);
        Ok(())
    }

    /// True if a statement is done in the widest registers.
    fn stretch(&mut self, stmt: &'k Stmt, after: &After<'_, 'k>) -> Result<bool> {
        #[cfg(target_arch = "x86_64")]
        if let Stmt::Block(all) = stmt
            && !self.ended
            && self.inlined == 0
        {
            return self.widest_stretch(all, after);
        }
        let _ = (stmt, after);
        Ok(false)
    }

    fn loop_statement(&mut self, of: &'k Loop, after: &After<'_, 'k>) -> Result<usize> {
        self.push_scope();
        if let Some(first) = &of.first {
            self.statement(first, &After { here: &[], outer: None })?;
        }
        #[cfg(target_arch = "x86_64")]
        if of.cond.is_none()
            && of.step.is_none()
            && let Some(done) = self.widest_loop(&of.body, after)?
        {
            self.pop_scope();
            return Ok(done);
        }
        let (head, body, exit) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.written += 1;
        self.jump(head)?;
        self.begin(head);
        match &of.cond {
            Some(cond) => self.branch(cond, body, exit, 0)?,
            None => self.jump(body)?,
        }
        self.b.seal_block(body);
        self.begin(body);
        self.exits.push(exit);
        self.statement(&of.body, &After { here: &[], outer: Some(after) })?;
        self.exits.pop();
        if let (Some(step), false) = (&of.step, self.ended) {
            self.eval(step)?;
        }
        self.jump(head)?;
        self.b.seal_block(head);
        self.b.seal_block(exit);
        self.begin(exit);
        self.pop_scope();
        Ok(0)
    }

    /// Emits a statement for each lane of a mask.
    fn each_lane(&mut self, mask: &'k Expr, number: Var, stmt: &'k Stmt, after: &After<'_, 'k>) -> Result<()> {
        let mask = self.eval(mask)?;
        let mask = self.as_mask(&mask)?;
        let bits = self.mask_bits(mask);
        let left = self.b.declare_var(types::I32);
        self.b.def_var(left, bits);
        let (head, body, exit) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.written += 1;
        self.jump(head)?;
        self.begin(head);
        let now = self.b.use_var(left);
        self.b.ins().brif(now, body, &[], exit, &[]);
        self.ended = true;
        self.b.seal_block(body);
        self.begin(body);
        let lane = self.b.ins().ctz(now);
        self.push_scope();
        self.bind(number, Binding::Value(Val::Num(Num { at: At::Value(lane), ty: Ty::int(32, false) })));
        self.statement(stmt, &After { here: &[], outer: Some(after) })?;
        self.pop_scope();
        let less = self.b.ins().iadd_imm_s(now, -1);
        let rest = self.b.ins().band(now, less);
        self.b.def_var(left, rest);
        self.jump(head)?;
        self.b.seal_block(head);
        self.b.seal_block(exit);
        self.begin(exit);
        Ok(())
    }

    /// Declares a variable that begins with the value of an expression.
    fn begin_as(&mut self, var: Var, expr: &'k Expr) -> Result<()> {
        let kernel = self.kernel;
        let data = kernel.var(var);
        let value = match (&data.ty, expr) {
            (Ty::Mask, Expr::Choose(parts)) => self.mask_by_branch(parts)?,
            _ => self.eval(expr)?,
        };
        let mut value = self.as_type(&value, &data.ty)?;
        // Stores past the cache are calls, for which a kernel that computes much has no time; a choice between them and plain stores would
        // have the stored value computed for each, and once more after the choice.
        if data.role == Role::PastCache && !kernel.functions.is_empty() {
            value = Val::Num(Num { at: At::Known(0), ty: data.ty.clone() });
        }
        // A known mask saves a call for each access under it.
        let stays = matches!(value, Val::Mask(Mask::Known(_))) && !self.is_set[var.index()];
        if data.constant || stays {
            self.bind(var, Binding::Value(value));
            return Ok(());
        }
        self.note_kept(var, expr, &value);
        let variable = self.variable(&data.ty)?;
        self.bind(var, variable.clone());
        self.set(&variable, value)
    }

    /// Notes the place of a variable that begins with a value that a block keeps in scratch.
    fn note_kept(&mut self, var: Var, expr: &'k Expr, value: &Val) {
        let (Expr::Op(Op::Memory(memory), args), Val::Lanes(Kind::F32 | Kind::I32, parts)) = (expr, value) else {
            return;
        };
        if let (Access::Load, Element::F32 | Element::I32, Space::Scratch, [at]) =
            (memory.access, memory.of, memory.space, &args[..])
        {
            let parts = std::array::from_fn(|i| parts[i]);
            self.kept.insert(var, Kept { at, parts, written: self.written });
        }
    }

    fn declare(&mut self, var: Var) -> Result<()> {
        let ty = &self.kernel.var(var).ty;
        match ty {
            Ty::Array(..) => {
                let slot = self.slot(ty.size());
                self.bind(var, Binding::Memory(ty.clone(), slot));
            }
            Ty::State => self.state(var),
            _ => {
                let variable = self.variable(ty)?;
                self.bind(var, variable);
            }
        }
        Ok(())
    }

    pub(super) fn slot(&mut self, bytes: u32) -> StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
    }

    fn state(&mut self, var: Var) {
        let slot = self.slot(size_of::<State>() as u32);
        let zero = self.b.ins().iconst(types::I64, 0);
        for at in (0..size_of::<State>()).step_by(8) {
            self.b.ins().stack_store(types::I64, zero, slot, at as i32);
        }
        let Known { span, rows: [x, y], .. } = *self.known;
        for (at, n) in State::shape().into_iter().zip([span, x, y]) {
            let n = self.b.ins().iconst(types::I32, i64::from(n));
            self.b.ins().stack_store(types::I64, n, slot, at);
        }
        self.bind(var, Binding::Memory(Ty::State, slot));
    }

    fn variable(&mut self, ty: &Ty) -> Result<Binding> {
        let (part, count) = match ty {
            Ty::Lanes(kind) => (kind.vector(), kind.count()),
            Ty::Mask => (types::I32, 1),
            Ty::Void | Ty::Array(..) | Ty::State => return Err(bad("a variable of that type")),
            ty => (clif_type(ty), 1),
        };
        Ok(Binding::Variable(ty.clone(), (0..count).map(|_| self.b.declare_var(part)).collect()))
    }

    pub(super) fn set(&mut self, variable: &Binding, value: Val) -> Result<()> {
        let Binding::Variable(ty, variables) = variable else { return Err(bad("a constant that is set")) };
        let value = self.as_type(&value, ty)?;
        let parts = match &value {
            Val::Num(num) => vec![self.value(num)],
            Val::Mask(mask) => vec![self.mask_bits(*mask)],
            Val::Lanes(kind, parts) => parts[..kind.count()].to_vec(),
            Val::Nothing => return Err(bad("a variable set to nothing")),
        };
        for (variable, part) in variables.iter().zip(parts) {
            self.b.def_var(*variable, part);
        }
        Ok(())
    }

    pub(super) fn get(&mut self, binding: &Binding) -> Result<Val> {
        Ok(match binding {
            Binding::Value(value) => value.clone(),
            Binding::Variable(Ty::Lanes(kind), variables) => {
                let first = self.b.use_var(variables[0]);
                let mut parts: Parts = [first; 8];
                for (part, variable) in parts.iter_mut().zip(variables).skip(1) {
                    *part = self.b.use_var(*variable);
                }
                Val::Lanes(*kind, parts)
            }
            Binding::Variable(Ty::Mask, variables) => Val::Mask(Mask::Bits(self.b.use_var(variables[0]))),
            Binding::Variable(ty, variables) => {
                Val::Num(Num { at: At::Value(self.b.use_var(variables[0])), ty: ty.clone() })
            }
            Binding::Memory(ty, slot) => {
                let at = self.b.ins().stack_addr(types::I64, *slot, 0);
                Val::Num(Num { at: At::Value(at), ty: ty.decayed() })
            }
            Binding::Table(ty, at) => Val::Num(Num { at: At::Known(i128::from(*at)), ty: ty.decayed() }),
        })
    }

    /// Jumps to one of two blocks. A condition that costs nothing is computed even if it is not needed.
    pub(super) fn branch(&mut self, cond: &'k Expr, then: Block, other: Block, depth: u32) -> Result<()> {
        self.ask()?;
        match cond {
            Expr::Unary(Unary::Not, inner) => return self.branch(inner, other, then, depth),
            Expr::Op(Op::Number(op @ (NumberOp::Likely | NumberOp::Unlikely)), args) => {
                if depth == 0 {
                    self.b.set_cold_block(if *op == NumberOp::Likely { other } else { then });
                }
                let [cond] = &args[..] else { return Err(bad("several conditions")) };
                return self.branch(cond, then, other, depth);
            }
            Expr::Binary(op @ (Binary::Both | Binary::Either), a, b) if !is_cheap(b) => {
                let middle = self.b.create_block();
                match op {
                    Binary::Both => self.branch(a, middle, other, depth + 1)?,
                    _ => self.branch(a, then, middle, depth + 1)?,
                }
                self.b.seal_block(middle);
                self.begin(middle);
                return self.branch(b, then, other, depth + 1);
            }
            _ => {}
        }
        let truth = self.truth(cond)?;
        match truth.at {
            At::Known(n) => self.jump(if n != 0 { then } else { other })?,
            At::Value(v) => {
                self.b.ins().brif(v, then, &[], other, &[]);
                self.ended = true;
            }
        }
        Ok(())
    }

    /// `cond ? a : b` of masks, of which only one is computed.
    fn mask_by_branch(&mut self, [cond, a, b]: &'k [Expr; 3]) -> Result<Val> {
        let (then, other, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(after, types::I32);
        self.branch(cond, then, other, 0)?;
        for (block, expr) in [(then, a), (other, b)] {
            self.b.seal_block(block);
            self.begin(block);
            let value = self.eval(expr)?;
            let mask = self.as_mask(&value)?;
            let bits = self.mask_bits(mask);
            self.b.ins().jump(after, &[bits.into()]);
            self.ended = true;
        }
        self.b.seal_block(after);
        self.begin(after);
        Ok(Val::Mask(Mask::Bits(result)))
    }

    pub(super) fn push_scope(&mut self) {
        self.count += 1;
        self.blocks.push(self.count);
    }

    pub(super) fn pop_scope(&mut self) {
        self.blocks.pop();
    }

    /// True if a variable belongs to the block around the innermost one.
    pub(super) fn is_of_outer(&self, var: Var) -> bool {
        let block = self.bindings[var.index()].as_ref().map(|(_, block)| *block);
        block.is_some() && block == self.blocks.iter().rev().nth(1).copied()
    }

    pub(super) fn push_exit(&mut self, exit: Block) {
        self.exits.push(exit);
    }

    pub(super) fn pop_exit(&mut self) {
        self.exits.pop();
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Jumps to one of two blocks.
    pub(super) fn branch_on(&mut self, cond: clif::Value, then: Block, other: Block) {
        self.b.ins().brif(cond, then, &[], other, &[]);
        self.ended = true;
    }

    /// A call of one of the kernel's functions: straight-line code with one `return`, at its end.
    pub(super) fn inline(&mut self, id: FunctionId, args: Vec<Val>) -> Result<Val> {
        let kernel = self.kernel;
        let function = kernel.function(id);
        for (param, arg) in function.params.iter().zip(args) {
            self.bind(*param, Binding::Value(arg));
        }
        self.inlined += 1;
        let done = self.statements(&function.body);
        self.inlined -= 1;
        done?;
        Ok(self.returned.take().unwrap_or(Val::Nothing))
    }

    /// A choice between two values by a condition, with a branch for each; gives the lanes if both are of one kind.
    pub(super) fn diamond(
        &mut self,
        cond: clif::Value,
        kind: Option<Kind>,
        then: impl FnOnce(&mut Self) -> Result<Parts>,
        other: impl FnOnce(&mut Self) -> Result<Parts>,
    ) -> Result<Parts> {
        let (yes, no, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let count = kind.map_or(0, Vectors::count);
        let params: Vec<clif::Value> =
            (0..count).map(|_| self.b.append_block_param(after, kind.map_or(types::I32X4, Vectors::vector))).collect();
        self.b.ins().brif(cond, yes, &[], no, &[]);
        self.b.seal_block(yes);
        self.b.seal_block(no);
        self.b.switch_to_block(yes);
        let parts = then(self)?;
        let given: Vec<clif::BlockArg> = parts[..count].iter().map(|v| (*v).into()).collect();
        self.b.ins().jump(after, &given);
        self.b.switch_to_block(no);
        let parts = other(self)?;
        let given: Vec<clif::BlockArg> = parts[..count].iter().map(|v| (*v).into()).collect();
        self.b.ins().jump(after, &given);
        self.b.seal_block(after);
        self.b.switch_to_block(after);
        let mut all = parts;
        all[..count].copy_from_slice(&params);
        Ok(all)
    }
}

/// True if computing something for nothing costs less than a jump, and has no effect.
pub(super) fn is_cheap(expr: &Expr) -> bool {
    match expr {
        Expr::Int(..) | Expr::Real(..) | Expr::Var(_) | Expr::Field(..) => true,
        Expr::At(..) | Expr::Index(..) | Expr::Assign(..) | Expr::Call(..) | Expr::Host(_) => false,
        Expr::Unary(_, a) | Expr::Cast(_, a) => is_cheap(a),
        Expr::Binary(Binary::Div | Binary::Rem, ..) => false,
        Expr::Binary(_, a, b) => is_cheap(a) && is_cheap(b),
        Expr::Choose(parts) => parts.iter().all(is_cheap),
        Expr::Op(op, args) => {
            let is_cheap_op =
                matches!(op, Op::Number(NumberOp::Likely | NumberOp::Unlikely | NumberOp::Within | NumberOp::IsLine));
            is_cheap_op && args.iter().all(is_cheap)
        }
    }
}
