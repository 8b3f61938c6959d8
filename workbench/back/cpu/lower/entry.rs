//! The frame around a body: parameters, slots, the loop over a row of threads of a kernel, prologue and epilogue of a
//! device function, the entry point of a host function.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, Signature, types};
use cranelift_codegen::isa::TargetIsa;

use super::{
    FuncLower, LocalVar, ParamVal, Ptr, Result, Shortcut, SlotVal, Val, constant, device_signature, scalar_type,
};
use crate::back::cpu::abi::context::{BufferDesc, DANGLING_DESC, DescField, DescKind, Field, SlotFrame, SlotTable};
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::abi::site::{Named, SiteKind};
use crate::back::cpu::code::jit::NAMESPACE_MODULE;
use crate::back::cpu::code::kept_code;
use crate::back::cpu::facts::analysis::StridedInfo;
use crate::back::cpu::facts::roots::Root;
use crate::ir::{POISON, ParamType, Scalar, Type};

/// Slots up to this size are filled with poison by stores, larger ones by a call.
const FILL_INLINE: u32 = 256;

/// Eight poison bytes.
const POISON_WORD: u64 = u64::from_ne_bytes([POISON; 8]);

/// `EntryFn`'s signature.
pub fn entry_signature(isa: &dyn TargetIsa) -> Signature {
    let mut sig = Signature::new(isa.default_call_conv());
    sig.params.extend([AbiParam::new(types::I64); 2]);
    sig.returns.push(AbiParam::new(types::I32));
    sig
}

impl FuncLower<'_, '_> {
    /// Loads the values that a launch bound to the parameters; `args` points at a word for each.
    pub(super) fn load_params(&mut self, args: clif::Value) {
        for (i, param) in self.m.module.func(self.id).params.iter().enumerate() {
            let at = 8 * i as i32;
            let value = match param.ty {
                ParamType::Scalar(s) => {
                    let bits = self.b.ins().load(scalar_type(s), constant(), args, at);
                    let value = if s == Scalar::Bool { self.truth(bits) } else { bits };
                    ParamVal { val: Val::Scalar(value), desc: value, base: value, given: None }
                }
                ParamType::Ptr { .. } | ParamType::Bytes { .. } => {
                    let desc = self.b.ins().load(types::I64, constant(), args, at);
                    let base = self.b.ins().load(types::I64, constant(), desc, DescField::BASE);
                    let off = self.int(types::I64, 0);
                    ParamVal { val: Val::Ptr(Ptr::Known { root: Root::Param(i as u32), off }), desc, base, given: None }
                }
            };
            self.params.push(value);
        }
        self.load_limits();
    }

    /// Loads the limits of parameters' buffers, once; not for host code, whose callees may free the memory.
    fn load_limits(&mut self) {
        if self.func.kind.is_host() {
            return;
        }
        for &(param, write, log2) in &self.info.limits {
            if let Some(desc) = self.params.get(param as usize).map(|p| p.desc) {
                let limit = self.b.ins().load(types::I64, constant(), desc, DescField::limit(write, log2));
                self.limits.insert((param, write, log2), limit);
            }
        }
    }

    /// Makes the function's slots: their descriptors and their memory, one after the other on the stack, are filled in from a table; then
    /// the link that lookups follow.
    pub(super) fn make_slots(&mut self, poisons: bool) -> Result<()> {
        let func = self.func;
        if func.slots.is_empty() {
            return Ok(());
        }
        let mut end = DescField::SIZE * func.slots.len() as u32;
        let mut table = SlotTable { descs: Vec::with_capacity(func.slots.len()), poisoned: 0 };
        for (i, data) in func.slots.iter().enumerate() {
            // A slot that threads keep while others run is not on the stack; its descriptor is.
            let size = if self.is_kept_slot(i) { 1 } else { data.size.max(1) };
            let memory = end.next_multiple_of(data.align.max(1));
            end = memory + size;
            let named = Named { name: data.name.clone(), size: u64::from(data.size), elem: data.elem };
            let index = if self.is_keepable {
                kept_code::slot_index(named).unwrap_or(u32::MAX)
            } else {
                self.m.slots.push(named);
                self.m.slots.len() as u32 - 1
            };
            let desc_at = (DescField::SIZE * i as u32) as i32;
            self.slots.push(SlotVal { memory: memory as i32, desc_at, index, size: data.size });
            let meta = BufferDesc::meta(DescKind::Slot, index);
            table.descs.push(BufferDesc::new(u64::from(memory), u64::from(data.size), true, meta));
        }
        let align = func.slots.iter().map(|data| data.align).max().unwrap_or(1);
        let descs = self.stack_slot(end, align.max(8));
        self.descs = Some(descs);
        if poisons {
            table.poisoned = end;
        }
        let table = Box::new(table);
        let address = std::ptr::from_ref::<SlotTable>(&table) as i64;
        if self.is_keepable {
            Box::leak(table);
        } else {
            self.m.tables.push(table);
        }
        let (first, table) = (self.b.ins().stack_addr(types::I64, descs, 0), self.int(types::I64, address));
        self.call_host(HostFn::Slots, &[first, table])?;
        if self.m.linked.get(self.id.index()).copied().unwrap_or(true) {
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
        Ok(())
    }

    pub(super) fn unlink_slots(&mut self) {
        if let Some(frame) = self.frame {
            let at = std::mem::offset_of!(SlotFrame, prev) as i32;
            let prev = self.stack_get(frame, at);
            self.b.ins().store(trusted(), prev, self.ctx, Field::FRAMES);
        }
    }

    fn poison_slots(&mut self) -> Result<()> {
        (0..self.slots.len()).try_for_each(|i| self.poison_slot(i))
    }

    pub(super) fn poison_slot(&mut self, index: usize) -> Result<()> {
        let slot = self.slots[index];
        let Some(descs) = self.descs else { return Ok(()) };
        if slot.size > FILL_INLINE {
            let start = self.b.ins().stack_addr(types::I64, descs, slot.memory);
            let size = self.int(types::I64, i64::from(slot.size));
            self.call_host(HostFn::Fill, &[start, size])?;
            return Ok(());
        }
        let mut at = 0;
        for (ty, size) in [(types::I64, 8), (types::I32, 4), (types::I16, 2), (types::I8, 1)] {
            let poison = self.int(ty, POISON_WORD as i64);
            while at + size <= slot.size {
                self.stack_put(poison, descs, slot.memory + at as i32);
                at += size;
            }
        }
        Ok(())
    }

    pub(super) fn declare_locals(&mut self) {
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
        (0..self.locals.len()).for_each(|i| self.poison_local(i));
    }

    pub(super) fn poison_local(&mut self, index: usize) {
        match self.locals[index] {
            LocalVar::Scalar(var) => {
                let value = match self.func.locals[index].ty.scalar() {
                    Some(Scalar::F32) => self.b.ins().f32const(f32::from_bits(POISON_WORD as u32)),
                    Some(Scalar::F64) => self.b.ins().f64const(f64::from_bits(POISON_WORD)),
                    Some(Scalar::Bool) => self.int(types::I8, 1),
                    Some(s) => self.int(scalar_type(s), POISON_WORD as i64),
                    None => self.int(types::I64, 0),
                };
                self.b.def_var(var, value);
            }
            LocalVar::Known(_, var) => {
                // An offset past any buffer; aligned, because the alignment found for a local ignores this.
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

    pub(super) fn load_budget(&mut self) {
        let budget = self.b.ins().load(types::I64, trusted(), self.ctx, Field::BUDGET);
        self.b.def_var(self.budget, budget);
    }

    pub(super) fn store_budget(&mut self) {
        let budget = self.b.use_var(self.budget);
        self.b.ins().store(trusted(), budget, self.ctx, Field::BUDGET);
    }

    /// Stores the budget to the context before a call, which uses it there.
    pub(super) fn publish_budget(&mut self) {
        if !self.keeps_none {
            self.store_budget();
        }
    }

    /// Loads the budget again after a call.
    pub(super) fn reload_budget(&mut self) {
        if !self.keeps_none {
            self.load_budget();
        }
    }

    /// A `u32` of the context that does not change during an activation.
    pub(super) fn ctx_u32(&mut self, at: i32) -> clif::Value {
        self.b.ins().load(types::I32, constant(), self.ctx, at)
    }

    /// The body of a kernel in a loop over the threads of a row. Rows and blocks are counted outside, so that the body has
    /// the registers: block and row indices are in the context. `round` is the loop whose round it is, if any.
    pub(super) fn kernel(&mut self, round: Option<&StridedInfo>) -> Result<()> {
        let entry = self.b.current_block().ok_or_else(|| self.bad(self.func.span, "no entry block"))?;
        let args = self.b.block_params(entry)[1];
        self.load_params(args);
        let polls = self.info.polls();
        if polls {
            self.load_budget();
        }
        self.make_slots(false)?;
        self.declare_locals();
        let width = self.ctx_u32(Field::DIMS);
        let done = self.b.create_block();
        let width = match round {
            Some(strided) => {
                self.start_round(strided, width)?;
                width
            }
            None => self.busy_threads(&self.info.row, width, done)?,
        };
        self.rows(width, done)?;
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        self.unlink_slots();
        if polls {
            self.store_budget();
        }
        let ok = self.int(types::I32, 0);
        self.b.ins().return_(&[ok]);
        Ok(())
    }

    /// The body for all threads of a row, with and without the checks that the row's plan makes needless; goes on in `done`.
    fn rows(&mut self, width: clif::Value, done: clif::Block) -> Result<()> {
        if !self.info.row.is_empty() {
            let good = self.row_is_good(&self.info.row, width)?;
            if let Some(plan) = &self.info.vector {
                return self.vector_row(plan, good, width, done);
            }
            let (fast, checked) = (self.b.create_block(), self.b.create_block());
            let branch = self.b.ins().brif(good, fast, &[], checked, &[]);
            self.shortcuts.push(Shortcut(branch));
            self.b.switch_to_block(fast);
            self.b.seal_block(fast);
            self.good_row = true;
            self.whole_row(width, done)?;
            self.b.switch_to_block(checked);
            self.b.seal_block(checked);
            self.good_row = false;
            self.values.fill(None);
            self.published = false;
        }
        self.whole_row(width, done)
    }

    fn whole_row(&mut self, width: clif::Value, done: clif::Block) -> Result<()> {
        let first = self.int(types::I32, 0);
        self.row(first, width, done)
    }

    /// The loop over the threads `first..end` of a row, at least one; goes on in `done`.
    pub(super) fn row(&mut self, first: clif::Value, end: clif::Value, done: clif::Block) -> Result<()> {
        let (body, next) = (self.b.create_block(), self.b.create_block());
        let index = self.b.append_block_param(body, types::I32);
        self.b.ins().jump(body, &[first.into()]);

        self.b.switch_to_block(body);
        self.thread = Some(index);
        if !self.info.calls.is_empty() {
            self.publish_thread();
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
        let one = self.int(types::I32, 1);
        let following = self.b.ins().iadd(index, one);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, following, end);
        self.b.ins().brif(more, body, &[following.into()], done, &[]);
        self.b.seal_block(body);
        self.finish_exits()
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
                    ParamVal { val: Val::Scalar(value), desc: value, base: value, given: None }
                }
                ParamType::Ptr { .. } | ParamType::Bytes { .. } => {
                    let (addr, desc) = (next()?, next()?);
                    let base = self.b.ins().load(types::I64, constant(), desc, DescField::BASE);
                    let off = self.b.ins().isub(addr, base);
                    let val = Val::Ptr(Ptr::Known { root: Root::Param(i as u32), off });
                    ParamVal { val, desc, base, given: Some(addr) }
                }
            };
            self.params.push(value);
        }
        let pointer = self.b.ins().get_stack_pointer(types::I64);
        let limit = self.b.ins().load(types::I64, constant(), self.ctx, Field::STACK_LIMIT);
        let overflow = self.b.ins().icmp(IntCC::UnsignedLessThan, pointer, limit);
        let site = self.new_site(self.func.span, SiteKind::Stack(self.func.name.clone()));
        self.fault_if(overflow, site, &[]);
        self.load_budget();
        let cost = self.int(types::I64, self.info.straight.min(1 << 32) as i64);
        // A function without loops polls here alone.
        self.keeps_none = !self.info.has_loops;
        self.poll(cost, self.func.span)?;
        self.load_limits();
        self.make_slots(true)?;
        self.declare_locals();
        self.poison_locals();
        if self.lower_block(&self.func.body)? {
            // The front end demands that every path of a function with a result returns; this path has none.
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
        self.publish_budget();
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
                ParamType::Ptr { .. } | ParamType::Bytes { .. } => {
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

    /// A value as the 64 bits that callers outside see: integers extended by their signedness, floats by their bits.
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
