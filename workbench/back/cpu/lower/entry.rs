//! The frame around a body: parameters, slots, the loops over blocks and threads of a kernel, prologue and epilogue of a
//! device function, the entry point of a host function.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, Signature, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::Variable;

use super::{
    FuncLower, LocalVar, ParamVal, Ptr, Result, SlotVal, Val, constant, device_signature, scalar_type, trusted,
};
use crate::back::cpu::analysis::Root;
use crate::back::cpu::context::{BufferDesc, DANGLING_DESC, DescField, DescKind, Field, SIZES, SlotFrame};
use crate::back::cpu::faults::{Named, SiteKind};
use crate::back::cpu::intrinsics::HostFn;
use crate::back::cpu::jit::NAMESPACE_MODULE;
use crate::ir::{POISON, ParamType, Scalar, Type};

/// Slots up to this size are filled with poison by stores, larger ones by a call.
const FILL_INLINE: u32 = 256;

/// Eight poison bytes.
const POISON_WORD: u64 = u64::from_ne_bytes([POISON; 8]);

/// `EntryFn`'s signature.
pub fn entry_signature(isa: &dyn TargetIsa) -> Signature {
    let mut sig = Signature::new(isa.default_call_conv());
    sig.params.extend([AbiParam::new(types::I64); 4]);
    sig.returns.push(AbiParam::new(types::I32));
    sig
}

impl FuncLower<'_, '_> {
    /// Loads what a launch bound to the parameters; `args` points at a word for each.
    fn load_params(&mut self, args: clif::Value) {
        for (i, param) in self.func.params.iter().enumerate() {
            let at = 8 * i as i32;
            let value = match param.ty {
                ParamType::Scalar(s) => {
                    let bits = self.b.ins().load(scalar_type(s), constant(), args, at);
                    let value = if s == Scalar::Bool { self.truth(bits) } else { bits };
                    ParamVal { val: Val::Scalar(value), desc: value, base: value }
                }
                ParamType::Ptr { .. } => {
                    let desc = self.b.ins().load(types::I64, constant(), args, at);
                    let base = self.b.ins().load(types::I64, constant(), desc, DescField::BASE);
                    let off = self.int(types::I64, 0);
                    ParamVal { val: Val::Ptr(Ptr::Known { root: Root::Param(i as u32), off }), desc, base }
                }
            };
            self.params.push(value);
        }
        self.load_limits();
    }

    fn load_limits(&mut self) {
        for &(param, write, log2) in &self.info.limits {
            if let Some(desc) = self.params.get(param as usize).map(|p| p.desc) {
                let limit = self.b.ins().load(types::I64, constant(), desc, DescField::limit(write, log2));
                self.limits.insert((param, write, log2), limit);
            }
        }
    }

    /// Makes the slots, their descriptors, and the link that lookups follow.
    fn make_slots(&mut self) {
        let func = self.func;
        if func.slots.is_empty() {
            return;
        }
        let descs = self.stack_slot(DescField::SIZE * func.slots.len() as u32, 8);
        self.descs = Some(descs);
        for (i, data) in func.slots.iter().enumerate() {
            let memory = self.stack_slot(data.size.max(1), data.align);
            let index = self.m.slots.len() as u32;
            self.m.slots.push(Named { name: data.name.clone(), size: u64::from(data.size), elem: data.elem });
            let desc_at = (DescField::SIZE * i as u32) as i32;
            self.slots.push(SlotVal { memory, desc_at, index, size: data.size });
            let desc = BufferDesc::new(0, u64::from(data.size), true, BufferDesc::meta(DescKind::Slot, index));
            let base = self.b.ins().stack_addr(types::I64, memory, 0);
            self.stack_put(base, descs, desc_at + DescField::BASE);
            let mut words = vec![(DescField::LEN, desc.len), (DescField::META, desc.meta)];
            for k in 0..SIZES {
                words.push((DescField::limit(false, k as u32), desc.read[k]));
                words.push((DescField::limit(true, k as u32), desc.write[k]));
            }
            for (at, word) in words {
                let word = self.int(types::I64, word as i64);
                self.stack_put(word, descs, desc_at + at);
            }
        }
        if self.m.makes_pointers {
            let frame = self.stack_slot(size_of::<SlotFrame>() as u32, 8);
            let prev = self.b.ins().load(types::I64, trusted(), self.ctx, Field::FRAMES);
            let first = self.b.ins().stack_addr(types::I64, descs, 0);
            let count = self.int(types::I64, func.slots.len() as i64);
            for (value, at) in [
                (prev, std::mem::offset_of!(SlotFrame, prev)),
                (first, std::mem::offset_of!(SlotFrame, descs)),
                (count, std::mem::offset_of!(SlotFrame, count)),
            ] {
                self.stack_put(value, frame, at as i32);
            }
            let link = self.b.ins().stack_addr(types::I64, frame, 0);
            self.b.ins().store(trusted(), link, self.ctx, Field::FRAMES);
            self.frame = Some(frame);
        }
    }

    fn unlink_slots(&mut self) {
        if let Some(frame) = self.frame {
            let at = std::mem::offset_of!(SlotFrame, prev) as i32;
            let prev = self.stack_get(frame, at);
            self.b.ins().store(trusted(), prev, self.ctx, Field::FRAMES);
        }
    }

    fn poison_slots(&mut self) -> Result<()> {
        for slot in self.slots.clone() {
            if slot.size > FILL_INLINE {
                let start = self.b.ins().stack_addr(types::I64, slot.memory, 0);
                let size = self.int(types::I64, i64::from(slot.size));
                self.call_host(HostFn::Fill, &[start, size])?;
                continue;
            }
            let mut at = 0;
            for (ty, size) in [(types::I64, 8), (types::I32, 4), (types::I16, 2), (types::I8, 1)] {
                let poison = self.int(ty, POISON_WORD as i64);
                while at + size <= slot.size {
                    self.stack_put(poison, slot.memory, at as i32);
                    at += size;
                }
            }
        }
        Ok(())
    }

    fn declare_locals(&mut self) {
        for (data, root) in self.func.locals.iter().zip(&self.info.local_root) {
            let var = match data.ty {
                Type::Scalar(s) => LocalVar::Scalar(self.b.declare_var(scalar_type(s))),
                Type::Ptr if root.is_known() => LocalVar::Known(*root, self.b.declare_var(types::I64)),
                Type::Ptr => {
                    LocalVar::Dynamic { addr: self.b.declare_var(types::I64), desc: self.b.declare_var(types::I64) }
                }
            };
            self.locals.push(var);
        }
    }

    fn poison_locals(&mut self) {
        for (i, data) in self.func.locals.iter().enumerate() {
            match self.locals[i] {
                LocalVar::Scalar(var) => {
                    let value = match data.ty.scalar() {
                        Some(Scalar::F32) => self.b.ins().f32const(f32::from_bits(POISON_WORD as u32)),
                        Some(Scalar::F64) => self.b.ins().f64const(f64::from_bits(POISON_WORD)),
                        Some(Scalar::Bool) => self.int(types::I8, 1),
                        Some(s) => self.int(scalar_type(s), POISON_WORD as i64),
                        None => self.int(types::I64, 0),
                    };
                    self.b.def_var(var, value);
                }
                LocalVar::Known(_, var) => {
                    // An offset past any buffer; aligned, because what was found of a local's alignment ignores this.
                    let off = self.int(types::I64, (POISON_WORD & !15) as i64);
                    self.b.def_var(var, off);
                }
                LocalVar::Dynamic { addr, desc } => {
                    let poison = self.int(types::I64, POISON_WORD as i64);
                    self.b.def_var(addr, poison);
                    let dangling = self.int(types::I64, &raw const DANGLING_DESC as i64);
                    self.b.def_var(desc, dangling);
                }
            }
        }
    }

    fn load_budget(&mut self) {
        let budget = self.b.ins().load(types::I64, trusted(), self.ctx, Field::BUDGET);
        self.b.def_var(self.budget, budget);
    }

    pub(super) fn store_budget(&mut self) {
        let budget = self.b.use_var(self.budget);
        self.b.ins().store(trusted(), budget, self.ctx, Field::BUDGET);
    }

    pub(super) fn reload_budget(&mut self) {
        self.load_budget();
    }

    /// A `u32` of the context that does not change while an activation runs.
    pub(super) fn ctx_u32(&mut self, at: i32) -> clif::Value {
        self.b.ins().load(types::I32, constant(), self.ctx, at)
    }

    /// The body of a kernel between loops over blocks and threads.
    pub(super) fn kernel(&mut self) -> Result<()> {
        let entry = self.b.current_block().ok_or_else(|| self.bad(self.func.span, "no entry block"))?;
        let [args, begin, end] = [1, 2, 3].map(|i| self.b.block_params(entry)[i]);
        self.load_params(args);
        self.load_budget();
        self.make_slots();
        self.declare_locals();
        let grid = [0, 1].map(|i| self.ctx_u32(Field::GRID + 4 * i));
        let dims = [0, 1, 2].map(|i| self.ctx_u32(Field::DIMS + 4 * i));
        let row_cost = {
            let width = self.b.ins().uextend(types::I64, dims[0]);
            let work = self.int(types::I64, self.info.straight.min(1 << 32) as i64);
            self.b.ins().imul(width, work)
        };

        let linear = self.b.declare_var(types::I64);
        let block = [(); 3].map(|()| self.b.declare_var(types::I32));
        let thread = [(); 3].map(|()| self.b.declare_var(types::I32));
        self.b.def_var(linear, begin);
        self.unflatten(begin, grid, block);

        let [blocks, one_block, planes, rows, row, body, next, done] = [(); 8].map(|()| self.b.create_block());
        self.b.ins().jump(blocks, &[]);

        self.b.switch_to_block(blocks);
        let index = self.b.use_var(linear);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, index, end);
        self.b.ins().brif(more, one_block, &[], done, &[]);

        self.b.switch_to_block(one_block);
        self.b.seal_block(one_block);
        self.b.ins().store(trusted(), index, self.ctx, Field::BLOCK_LINEAR);
        let block_now = block.map(|var| self.b.use_var(var));
        self.block = Some(block_now);
        if !self.info.calls.is_empty() {
            for (i, index) in block_now.into_iter().enumerate() {
                self.b.ins().store(trusted(), index, self.ctx, Field::BLOCK + 4 * i as i32);
            }
        }
        let zero = self.int(types::I32, 0);
        self.b.def_var(thread[2], zero);
        self.b.ins().jump(planes, &[]);

        self.b.switch_to_block(planes);
        self.b.def_var(thread[1], zero);
        self.b.ins().jump(rows, &[]);

        self.b.switch_to_block(rows);
        self.b.def_var(thread[0], zero);
        self.thread = Some([zero, self.b.use_var(thread[1]), self.b.use_var(thread[2])]);
        // A row of threads is taken off the budget at once; a stop here reports the row's first thread.
        self.poll(row_cost, self.func.span)?;
        self.b.ins().jump(row, &[]);

        self.b.switch_to_block(row);
        let thread_now = thread.map(|var| self.b.use_var(var));
        self.thread = Some(thread_now);
        self.b.ins().jump(body, &[]);
        self.b.switch_to_block(body);
        self.b.seal_block(body);
        if !self.info.calls.is_empty() {
            for (i, index) in thread_now.into_iter().enumerate() {
                self.b.ins().store(trusted(), index, self.ctx, Field::THREAD + 4 * i as i32);
            }
            self.published = true;
        }
        self.next_thread = Some(next);
        self.poison_slots()?;
        self.poison_locals();
        if self.lower_block(&self.func.body)? {
            self.b.ins().jump(next, &[]);
        }

        self.b.switch_to_block(next);
        self.b.seal_block(next);
        let row_end = self.advance(thread[0], dims[0], row);
        self.b.switch_to_block(row_end);
        let plane_end = self.advance(thread[1], dims[1], rows);
        self.b.switch_to_block(plane_end);
        let block_end = self.advance(thread[2], dims[2], planes);
        self.b.switch_to_block(block_end);
        for head in [row, rows, planes] {
            self.b.seal_block(head);
        }
        self.next_block(linear, block, grid);
        self.b.ins().jump(blocks, &[]);
        self.b.seal_block(blocks);

        // Faults leave from inside the loops, where the thread's index is known.
        self.finish_exits()?;
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        self.unlink_slots();
        self.store_budget();
        let ok = self.int(types::I32, 0);
        self.b.ins().return_(&[ok]);
        Ok(())
    }

    /// Splits a linear block index, x running fastest.
    fn unflatten(&mut self, linear: clif::Value, grid: [clif::Value; 2], block: [Variable; 3]) {
        let mut rest = linear;
        for (var, extent) in block.into_iter().zip(grid) {
            let extent = self.b.ins().uextend(types::I64, extent);
            let index = self.b.ins().urem(rest, extent);
            let index = self.b.ins().ireduce(types::I32, index);
            self.b.def_var(var, index);
            rest = self.b.ins().udiv(rest, extent);
        }
        let index = self.b.ins().ireduce(types::I32, rest);
        self.b.def_var(block[2], index);
    }

    /// The next index of a loop: back to `head` while it is below `extent`. Gives the block that follows the loop.
    fn advance(&mut self, var: Variable, extent: clif::Value, head: clif::Block) -> clif::Block {
        let index = self.b.use_var(var);
        let one = self.int(types::I32, 1);
        let index = self.b.ins().iadd(index, one);
        self.b.def_var(var, index);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, index, extent);
        let after = self.b.create_block();
        self.b.ins().brif(more, head, &[], after, &[]);
        self.b.seal_block(after);
        after
    }

    fn next_block(&mut self, linear: Variable, block: [Variable; 3], grid: [clif::Value; 2]) {
        let index = self.b.use_var(linear);
        let one = self.int(types::I64, 1);
        let index = self.b.ins().iadd(index, one);
        self.b.def_var(linear, index);
        let mut carry = self.int(types::I32, 1);
        let zero = self.int(types::I32, 0);
        for (var, extent) in block.into_iter().zip(grid) {
            let index = self.b.use_var(var);
            let sum = self.b.ins().iadd(index, carry);
            let wraps = self.b.ins().icmp(IntCC::Equal, sum, extent);
            let index = self.b.ins().select(wraps, zero, sum);
            self.b.def_var(var, index);
            carry = self.b.ins().uextend(types::I32, wraps);
        }
        let index = self.b.use_var(block[2]);
        let index = self.b.ins().iadd(index, carry);
        self.b.def_var(block[2], index);
    }

    /// A function that others call: checks the stack, polls, runs its body.
    pub(super) fn device(&mut self) -> Result<()> {
        let entry = self.b.current_block().ok_or_else(|| self.bad(self.func.span, "no entry block"))?;
        let given = self.b.block_params(entry).to_vec();
        let mut given = given.into_iter().skip(1);
        let mut next = || given.next().ok_or_else(|| super::bad_ir(self.func.span, "parameters do not fit".to_owned()));
        for (i, param) in self.func.params.iter().enumerate() {
            let value = match param.ty {
                ParamType::Scalar(_) => {
                    let value = next()?;
                    ParamVal { val: Val::Scalar(value), desc: value, base: value }
                }
                ParamType::Ptr { .. } => {
                    let (addr, desc) = (next()?, next()?);
                    let base = self.b.ins().load(types::I64, constant(), desc, DescField::BASE);
                    let off = self.b.ins().isub(addr, base);
                    ParamVal { val: Val::Ptr(Ptr::Known { root: Root::Param(i as u32), off }), desc, base }
                }
            };
            self.params.push(value);
        }
        let pointer = self.b.ins().get_stack_pointer(types::I64);
        let limit = self.b.ins().load(types::I64, constant(), self.ctx, Field::STACK_LIMIT);
        let overflow = self.b.ins().icmp(IntCC::UnsignedLessThan, pointer, limit);
        let site = self.new_site(self.func.span, SiteKind::Stack(self.func.name.clone()));
        self.fault_if(overflow, site, pointer, limit);
        self.load_budget();
        let cost = self.int(types::I64, self.info.straight.min(1 << 32) as i64);
        self.poll(cost, self.func.span)?;
        self.load_limits();
        self.make_slots();
        self.declare_locals();
        self.poison_slots()?;
        self.poison_locals();
        if self.lower_block(&self.func.body)? {
            // The front end wants every path of a function with a result to return; here is none.
            let value = match self.func.ret {
                None => None,
                Some(Type::Ptr) => {
                    let addr = self.int(types::I64, POISON_WORD as i64);
                    let desc = self.int(types::I64, &raw const DANGLING_DESC as i64);
                    Some(Val::Ptr(Ptr::Dynamic { addr, desc }))
                }
                Some(Type::Scalar(s)) => Some(Val::Scalar(self.zero(scalar_type(s)))),
            };
            self.return_value(value)?;
        }
        self.finish_exits()
    }

    /// Leaves a device function with a result.
    pub(super) fn return_value(&mut self, value: Option<Val>) -> Result<()> {
        let mut results = vec![self.int(types::I32, 0)];
        match value {
            None => {}
            Some(Val::Scalar(value)) => results.push(value),
            Some(Val::Ptr(ptr)) => {
                let (addr, desc) = self.pair(ptr)?;
                let desc = self.outliving(desc);
                self.b.ins().store(trusted(), desc, self.ctx, Field::RET_DESC);
                results.push(addr);
            }
        }
        self.unlink_slots();
        self.store_budget();
        self.b.ins().return_(&results);
        Ok(())
    }

    /// A descriptor that is still there after the function: pointers into its own slots dangle from now on.
    fn outliving(&mut self, desc: clif::Value) -> clif::Value {
        let Some(descs) = self.descs else { return desc };
        let first = self.b.ins().stack_addr(types::I64, descs, 0);
        let at = self.b.ins().isub(desc, first);
        let size = self.int(types::I64, i64::from(DescField::SIZE) * self.slots.len() as i64);
        let own = self.b.ins().icmp(IntCC::UnsignedLessThan, at, size);
        let dangling = self.int(types::I64, &raw const DANGLING_DESC as i64);
        self.b.ins().select(own, dangling, desc)
    }

    /// The entry point of a host function: calls its (status, result) form and stores the result in the context.
    pub(super) fn host_entry(&mut self) -> Result<()> {
        let entry = self.b.current_block().ok_or_else(|| self.bad(self.func.span, "no entry block"))?;
        let args = self.b.block_params(entry)[1];
        let mut given = vec![self.ctx];
        for (i, param) in self.func.params.iter().enumerate() {
            let at = 8 * i as i32;
            match param.ty {
                ParamType::Scalar(s) => {
                    let bits = self.b.ins().load(scalar_type(s), constant(), args, at);
                    given.push(if s == Scalar::Bool { self.truth(bits) } else { bits });
                }
                ParamType::Ptr { .. } => {
                    let desc = self.b.ins().load(types::I64, constant(), args, at);
                    given.push(self.b.ins().load(types::I64, constant(), desc, DescField::BASE));
                    given.push(desc);
                }
            }
        }
        let number = self.m.numbers.get(self.id.index()).copied().flatten();
        let number = number.ok_or_else(|| self.bad(self.func.span, "no code for a host function"))?;
        let sig = device_signature(self.m.isa, self.func);
        let func = self.import(NAMESPACE_MODULE, number, sig);
        let results = self.call(func, &given);
        if let (Some(ret), Some(value)) = (self.func.ret, results.get(1).copied()) {
            let bits = self.widen(value, ret);
            self.b.ins().store(trusted(), bits, self.ctx, Field::RET);
        }
        self.b.ins().return_(&results[..1]);
        self.finish_exits()
    }

    /// A value as the 64 bits the world outside sees: integers extended by their signedness, floats by their bits.
    pub(super) fn widen(&mut self, value: clif::Value, ty: Type) -> clif::Value {
        match ty {
            Type::Ptr | Type::Scalar(Scalar::I64 | Scalar::U64) => value,
            Type::Scalar(Scalar::F64) => self.b.ins().bitcast(types::I64, clif::MemFlagsData::new(), value),
            Type::Scalar(Scalar::F32) => {
                let bits = self.b.ins().bitcast(types::I32, clif::MemFlagsData::new(), value);
                self.b.ins().uextend(types::I64, bits)
            }
            Type::Scalar(s) if s.is_signed() => self.b.ins().sextend(types::I64, value),
            Type::Scalar(_) => self.b.ins().uextend(types::I64, value),
        }
    }

    /// 0 or 1 for a byte of memory.
    pub(super) fn truth(&mut self, byte: clif::Value) -> clif::Value {
        let zero = self.int(types::I8, 0);
        self.b.ins().icmp(IntCC::NotEqual, byte, zero)
    }
}
