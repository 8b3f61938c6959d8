//! Memory: pointer arithmetic, and the checks before every access.
//!
//! An access at offset `off` of a buffer is allowed exactly when `off` is below the buffer's limit for that size and
//! direction, compared unsigned. A pointer into a known allocation is carried as an offset anyway, so a check is one
//! comparison with a value loaded once. There is none where `row` has made it for all threads of the row.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};

use super::{FuncLower, Ptr, Result, Val, constant, scalar_type};
use crate::back::cpu::abi::context::{BufferDesc, DescField};
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::abi::site::{FAR, SiteKind, SiteRoot};
use crate::back::cpu::facts::roots::Root;
use crate::ir::{FuncKind, Scalar, Stride, Type, Value};
use crate::source::Span;

/// The farthest that an index moves a pointer, in bytes: more than the address space of processors.
const MAX_REACH: i64 = 1 << 48;

/// The most operations an index is followed through to see how large it can be.
const MAX_FOLLOWED: u32 = 6;

impl FuncLower<'_, '_> {
    /// `ptr + index * stride`, which is the pointer `v`. An index that would leave any possible memory gives an offset that
    /// does so as well, rather than one that wraps around to the start.
    pub(super) fn ptr_add(&mut self, v: Value, ptr: Ptr, index: clif::Value, stride: Stride) -> Ptr {
        let reach = MAX_REACH / i64::from(stride.bytes().max(1));
        self.far.remove(&v);
        let by = match (self.known_int(index), stride.bytes()) {
            (Some(0), _) => return ptr,
            (Some(n), bytes) if n.unsigned_abs() <= reach as u64 => self.int(types::I64, n * i64::from(bytes)),
            (Some(_), _) => {
                self.far.insert(v, index);
                self.int(types::I64, FAR)
            }
            (None, bytes) => {
                let by = match bytes {
                    1 => index,
                    bytes if bytes.is_power_of_two() => {
                        let shift = self.int(types::I64, i64::from(bytes.trailing_zeros()));
                        self.b.ins().ishl(index, shift)
                    }
                    bytes => {
                        let bytes = self.int(types::I64, i64::from(bytes));
                        self.b.ins().imul(index, bytes)
                    }
                };
                let in_good_row = self.good_row && self.info.row.accesses.iter().any(|(p, ..)| *p == v);
                if in_good_row || self.magnitude(index, MAX_FOLLOWED) <= reach as u64 {
                    by
                } else {
                    self.far.insert(v, index);
                    let (low, span) = (self.int(types::I64, reach), self.int(types::I64, 2 * reach));
                    let from_low = self.b.ins().iadd(index, low);
                    let near = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, from_low, span);
                    let far = self.int(types::I64, FAR);
                    self.b.ins().select(near, by, far)
                }
            }
        };
        match ptr {
            Ptr::Known { root, off } => {
                let off = match (self.known_int(off), self.known_int(by)) {
                    (Some(0), _) => by,
                    (Some(a), Some(b)) => self.int(types::I64, a.wrapping_add(b)),
                    _ => self.b.ins().iadd(off, by),
                };
                Ptr::Known { root, off }
            }
            Ptr::Dynamic { addr, desc } => Ptr::Dynamic { addr: self.b.ins().iadd(addr, by), desc },
        }
    }

    /// A bound on the absolute value of a 64-bit number.
    fn magnitude(&self, v: clif::Value, followed: u32) -> u64 {
        use clif::{InstructionData as Data, Opcode};
        let dfg = &self.b.func.dfg;
        let Some(inst) = dfg.value_def(v).inst().filter(|_| followed > 0) else { return u64::MAX };
        match dfg.insts[inst] {
            Data::UnaryImm { opcode: Opcode::Iconst, imm } => imm.bits().unsigned_abs(),
            Data::Unary { opcode: Opcode::Sextend | Opcode::Uextend, arg } => {
                1u64.checked_shl(dfg.value_type(arg).bits()).unwrap_or(u64::MAX)
            }
            Data::Binary { opcode: opcode @ (Opcode::Iadd | Opcode::Isub | Opcode::Imul), args: [a, b] } => {
                let (a, b) = (self.magnitude(a, followed - 1), self.magnitude(b, followed - 1));
                // A sum or product that itself wraps may be any number.
                match opcode {
                    Opcode::Imul => a.checked_mul(b),
                    _ => a.checked_add(b),
                }
                .filter(|n| *n < 1 << 63)
                .unwrap_or(u64::MAX)
            }
            _ => u64::MAX,
        }
    }

    /// `(a - b) / stride`.
    pub(super) fn ptr_diff(&mut self, a: Ptr, b: Ptr, stride: Stride) -> Result<clif::Value> {
        let bytes = match (a, b) {
            (Ptr::Known { root: r, off: a }, Ptr::Known { root: s, off: b }) if r == s => self.b.ins().isub(a, b),
            _ => {
                let (a, b) = (self.address(a)?, self.address(b)?);
                self.b.ins().isub(a, b)
            }
        };
        match stride.bytes() {
            // A difference of pointers to nothing has no meaning; it must only not divide by zero.
            0 | 1 => Ok(bytes),
            size => {
                let size = self.int(types::I64, i64::from(size));
                Ok(self.b.ins().sdiv(bytes, size))
            }
        }
    }

    /// A pointer from an address: its buffer is looked up.
    pub(super) fn ptr_from(&mut self, addr: clif::Value) -> Result<Ptr> {
        let desc = self.call_host(HostFn::Lookup, &[self.ctx, addr])?[0];
        Ok(Ptr::Dynamic { addr, desc })
    }

    /// `cond ? a : b` on pointers.
    pub(super) fn ptr_select(&mut self, cond: clif::Value, a: Ptr, b: Ptr) -> Result<Ptr> {
        if let (Ptr::Known { root: r, off: a }, Ptr::Known { root: s, off: b }) = (a, b)
            && r == s
        {
            return Ok(Ptr::Known { root: r, off: self.b.ins().select(cond, a, b) });
        }
        let ((addr_a, desc_a), (addr_b, desc_b)) = (self.pair(a)?, self.pair(b)?);
        let addr = self.b.ins().select(cond, addr_a, addr_b);
        let desc = self.b.ins().select(cond, desc_a, desc_b);
        Ok(Ptr::Dynamic { addr, desc })
    }

    /// Reads memory.
    pub(super) fn load(&mut self, ptr: Value, ty: Type, volatile: bool, span: Span) -> Result<Val> {
        let addr = self.checked(ptr, ty, false, span)?;
        let scalar = match ty {
            Type::Scalar(s) => s,
            Type::Ptr => Scalar::U64,
        };
        let clif_ty = scalar_type(scalar);
        let value = if !volatile {
            self.b.ins().load(clif_ty, trusted(), addr, 0)
        } else if scalar.is_float() {
            let bits = self.b.ins().atomic_load(clif_ty.as_int(), trusted(), addr);
            self.b.ins().bitcast(clif_ty, MemFlagsData::new(), bits)
        } else {
            self.b.ins().atomic_load(clif_ty, trusted(), addr)
        };
        match ty {
            Type::Ptr => Ok(Val::Ptr(self.ptr_from(value)?)),
            Type::Scalar(Scalar::Bool) => Ok(Val::Scalar(self.truth(value))),
            Type::Scalar(_) => Ok(Val::Scalar(value)),
        }
    }

    /// Writes memory.
    pub(super) fn store(&mut self, ptr: Value, value: Value, volatile: bool, span: Span) -> Result<()> {
        let (bits, ty) = match self.val(value)? {
            Val::Scalar(bits) => (bits, Type::Scalar(self.scalar_of(value)?)),
            Val::Ptr(stored) => (self.address(stored)?, Type::Ptr),
        };
        let addr = self.checked(ptr, ty, true, span)?;
        if !volatile {
            self.b.ins().store(trusted(), bits, addr, 0);
            self.note_progress();
            return Ok(());
        }
        let bits = match ty.scalar() {
            Some(s) if s.is_float() => self.b.ins().bitcast(scalar_type(s).as_int(), MemFlagsData::new(), bits),
            _ => bits,
        };
        self.b.ins().atomic_store(trusted(), bits, addr);
        self.note_progress();
        Ok(())
    }

    /// The address of an access that has passed its checks.
    pub(super) fn checked(&mut self, v: Value, ty: Type, write: bool, span: Span) -> Result<clif::Value> {
        let ptr = self.ptr(v)?;
        let root = self.site_root(ptr);
        let far = self.far.get(&v).copied().filter(|_| root.is_plain());
        let site = SiteKind::Access { write, ty, root, indexed: far.is_some() };
        let site = self.new_site(self.access_span(v, span), site);
        let log2 = ty.size().trailing_zeros();
        let (off, b, in_bounds) = match ptr {
            Ptr::Known { root, off } => {
                let limit = self.limit(root, write, log2)?;
                // The descriptor of a device function's parameter is only known at run time.
                let b = if self.passes_desc(root) { self.desc_of(root)? } else { far.unwrap_or(off) };
                (off, b, self.proven(off, limit).map_err(|limit| (off, limit)))
            }
            Ptr::Dynamic { addr, desc } => {
                // The function writes the descriptors of its own slots, so its loads of them may not move.
                let flags = self.desc_flags();
                let base = self.b.ins().load(types::I64, flags, desc, DescField::BASE);
                let limit = self.b.ins().load(types::I64, flags, desc, DescField::limit(write, log2));
                let off = self.b.ins().isub(addr, base);
                (addr, desc, Err((off, limit)))
            }
        };
        let in_good_row = self.good_row && self.info.row.covers(v, write, log2);
        let addr = self.address(ptr)?;
        let mut cold = None;
        if let (Err((off_in, limit)), false) = (in_bounds, in_good_row) {
            let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, off_in, limit);
            let block = *cold.get_or_insert_with(|| self.b.create_block());
            self.go_cold_if(outside, block);
        }
        if u32::from(self.info.align.get(v.index()).copied().unwrap_or(0)) < log2 {
            let mask = self.int(types::I64, i64::from(ty.size()) - 1);
            let low = self.b.ins().band(addr, mask);
            let block = *cold.get_or_insert_with(|| self.b.create_block());
            self.go_cold_if(low, block);
        }
        if let Some(cold) = cold {
            let needs_second = far.is_some() || matches!(root, SiteRoot::Offset | SiteRoot::Address);
            self.fill_cold(cold, site, &[off, b][..1 + usize::from(needs_second)]);
        }
        Ok(addr)
    }

    /// `Ok` if an offset is known to be below a limit, otherwise `Err` of the limit.
    fn proven(&self, off: clif::Value, limit: clif::Value) -> std::result::Result<(), clif::Value> {
        match (self.known_int(off), self.known_int(limit)) {
            (Some(off), Some(limit)) if (off as u64) < limit as u64 => Ok(()),
            _ => Err(limit),
        }
    }

    pub(super) fn limit(&mut self, root: Root, write: bool, log2: u32) -> Result<clif::Value> {
        let len = match root {
            Root::Param(i) => {
                if let Some(limit) = self.limits.get(&(i, write, log2)) {
                    return Ok(*limit);
                }
                let desc = self.param(i)?.desc;
                let flags = self.desc_flags();
                return Ok(self.b.ins().load(types::I64, flags, desc, DescField::limit(write, log2)));
            }
            Root::Slot(s) => self.slots.get(s.index()).map_or(0, |s| u64::from(s.size)),
            Root::Global(g) => {
                let of = |desc: &BufferDesc| (if write { desc.write } else { desc.read })[log2 as usize];
                let limit = self.global(g).map_or(0, |(desc, _)| of(desc));
                return Ok(self.int(types::I64, limit as i64));
            }
            Root::Shared(m) => match self.m.module.shared.get(m.index()) {
                Some(data) if !data.dynamic => u64::from(data.size),
                _ => {
                    let desc = self.desc_of(root)?;
                    return Ok(self.b.ins().load(types::I64, constant(), desc, DescField::limit(write, log2)));
                }
            },
            Root::Null | Root::Unset | Root::Dynamic => 0,
        };
        Ok(self.int(types::I64, BufferDesc::starts(len, 1 << log2) as i64))
    }

    /// The flags of loads from descriptors. A function writes the descriptors of its own slots, and host code may free the memory of any, so
    /// there loads of them do not move.
    fn desc_flags(&self) -> MemFlagsData {
        if self.descs.is_some() || self.func.kind.is_host() { trusted() } else { constant() }
    }

    fn passes_desc(&self, root: Root) -> bool {
        matches!(root, Root::Param(_)) && self.func.kind != FuncKind::Kernel
    }

    fn site_root(&self, ptr: Ptr) -> SiteRoot {
        match ptr {
            Ptr::Dynamic { .. } => SiteRoot::Address,
            Ptr::Known { root, .. } => match root {
                Root::Param(_) if self.passes_desc(root) => SiteRoot::Offset,
                Root::Param(i) => SiteRoot::KernelParam(i),
                Root::Slot(s) => SiteRoot::Slot(self.slots.get(s.index()).map_or(0, |s| s.index)),
                Root::Global(g) => SiteRoot::Global(self.global(g).map_or(g.index() as u32, |(_, index)| index)),
                Root::Shared(m) => SiteRoot::Shared(m.index() as u32),
                Root::Null | Root::Unset | Root::Dynamic => SiteRoot::Null,
            },
        }
    }

    /// The span to report: the expression accessed when it lies in the statement, else the statement.
    fn access_span(&self, ptr: Value, stmt: Span) -> Span {
        match self.func.values.get(ptr.index()).map(|d| d.span) {
            Some(s) if s.file == stmt.file && s.start >= stmt.start && s.end <= stmt.end => s,
            _ => stmt,
        }
    }
}
