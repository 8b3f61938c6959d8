//! Ops: constants, built-in variables, pointers, math functions. Arithmetic is in `arith`.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::{FuncLower, Ptr, Result, Val, dot, scalar_type};
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::math::reciprocal;
use crate::ir::{Builtin, Const, MathFn, Op, Scalar, Value};
use crate::source::Span;

impl FuncLower<'_, '_> {
    /// The value of an op that defines `v`.
    pub(super) fn op(&mut self, v: Value, op: &Op, span: Span) -> Result<Val> {
        match op {
            Op::Const(c) => Ok(self.constant(*c)),
            Op::Param(i) => Ok(self.param(*i)?.val),
            Op::Get(local) => self.get(*local, span),
            Op::SlotAddr(slot) => Ok(self.start_of(Root::Slot(*slot))),
            Op::GlobalAddr(global) => Ok(self.start_of(Root::Global(*global))),
            Op::SharedAddr(shared) => Ok(self.start_of(Root::Shared(*shared))),
            Op::FuncAddr(func, signature) => {
                let address = if self.is_keepable {
                    let found = self.m.kept.get(*func).and_then(|kept| kept.pointer(*signature));
                    found.ok_or_else(|| self.bad(span, format_args!("the address of {func}, which is not kept")))?
                } else {
                    func.address()
                };
                let off = self.int(types::I64, address);
                Ok(Val::Ptr(Ptr::Known { root: Root::Null, off }))
            }
            Op::Builtin(builtin) => self.builtin(*builtin, span).map(Val::Scalar),
            Op::Unary(op, a) => self.unary(*op, *a).map(Val::Scalar),
            Op::Binary(op, a, b) => self.binary(*op, *a, *b, span).map(Val::Scalar),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b).map(Val::Scalar),
            Op::Convert(to, a) => {
                let (from, value) = (self.scalar_of(*a)?, self.scalar(*a)?);
                Ok(Val::Scalar(self.convert(from, *to, value)))
            }
            Op::Bitcast(to, a) => self.bitcast(*to, *a, span).map(Val::Scalar),
            Op::Select(cond, a, b) => {
                let cond = self.scalar(*cond)?;
                match (self.val(*a)?, self.val(*b)?) {
                    (Val::Scalar(a), Val::Scalar(b)) => Ok(Val::Scalar(self.b.ins().select(cond, a, b))),
                    (Val::Ptr(a), Val::Ptr(b)) => self.ptr_select(cond, a, b).map(Val::Ptr),
                    _ => Err(self.bad(span, "a choice between a pointer and a number")),
                }
            }
            Op::Math(math, args) => self.math(*math, args, span).map(Val::Scalar),
            Op::Bit(bit, a) => self.bit(*bit, *a, span).map(Val::Scalar),
            Op::Dot4(x, y, sum) => {
                let signed = self.scalar_of(*sum)?.is_signed();
                let all = [self.scalar(*x)?, self.scalar(*y)?, self.scalar(*sum)?];
                Ok(Val::Scalar(dot::dot4(&mut self.b, types::I32, signed, all)))
            }
            Op::PtrAdd { ptr, index, stride } => {
                let (ptr, index) = (self.ptr(*ptr)?, self.scalar(*index)?);
                if self.b.func.dfg.value_type(index) != types::I64 {
                    return Err(self.bad(span, "a pointer's index is not `i64`"));
                }
                Ok(Val::Ptr(self.ptr_add(v, ptr, index, *stride)))
            }
            Op::PtrDiff(a, b, stride) => {
                let (a, b) = (self.ptr(*a)?, self.ptr(*b)?);
                self.ptr_diff(a, b, *stride).map(Val::Scalar)
            }
            Op::PtrToInt(ptr) => {
                let ptr = self.ptr(*ptr)?;
                self.address(ptr).map(Val::Scalar)
            }
            Op::IntToPtr(int) => {
                let addr = self.scalar(*int)?;
                self.ptr_from(addr).map(Val::Ptr)
            }
            Op::Load { ptr, ty, volatile } => {
                if self.func.values.get(v.index()).is_none_or(|d| d.ty != *ty) {
                    return Err(self.bad(span, format_args!("{v} is not of the type it loads")));
                }
                self.load(*ptr, *ty, *volatile, span)
            }
        }
    }

    fn constant(&mut self, c: Const) -> Val {
        Val::Scalar(match c {
            Const::Bool(truth) => self.int(types::I8, i64::from(truth)),
            Const::Int(s, bits) => self.int(scalar_type(s), bits),
            Const::F32(x) => self.b.ins().f32const(x),
            Const::F64(x) => self.b.ins().f64const(x),
            Const::Null => return self.start_of(Root::Null),
        })
    }

    fn start_of(&mut self, root: Root) -> Val {
        Val::Ptr(Ptr::Known { root, off: self.int(types::I64, 0) })
    }

    fn builtin(&mut self, builtin: Builtin, span: Span) -> Result<clif::Value> {
        let (at, dim) = match builtin {
            Builtin::ThreadIdx(d) => (Field::THREAD, d),
            Builtin::BlockIdx(d) => (Field::BLOCK, d),
            Builtin::BlockDim(d) => (Field::DIMS, d),
            Builtin::GridDim(d) => (Field::GRID, d),
        };
        if dim > 2 {
            return Err(self.bad(span, format_args!("dimension {dim} of a built-in variable")));
        }
        match (builtin, self.thread) {
            (Builtin::ThreadIdx(0), Some(index)) => Ok(index),
            (Builtin::ThreadIdx(d), None) if self.in_region() => {
                self.walked_index(d).ok_or_else(|| self.bad(span, "a thread's index outside a region"))
            }
            _ => Ok(self.ctx_u32(at + 4 * i32::from(dim))),
        }
    }

    fn math(&mut self, math: MathFn, args: &[Value], span: Span) -> Result<clif::Value> {
        let mut values = Vec::with_capacity(3);
        let mut scalar = Scalar::F64;
        for arg in args {
            scalar = self.scalar_of(*arg)?;
            values.push(self.scalar(*arg)?);
        }
        if values.len() != math.arity() || !scalar.is_float() {
            return Err(self.bad(span, format_args!("`{}` of {} values", math.name(), values.len())));
        }
        let ins = |lower: &mut Self, op: clif::Opcode| {
            let ty = scalar_type(scalar);
            let (inst, dfg) = lower.b.ins().Unary(op, ty, values[0]);
            dfg.first_result(inst)
        };
        Ok(match math {
            MathFn::Ceil => ins(self, clif::Opcode::Ceil),
            MathFn::Floor => ins(self, clif::Opcode::Floor),
            MathFn::Trunc => ins(self, clif::Opcode::Trunc),
            MathFn::Rint => ins(self, clif::Opcode::Nearest),
            MathFn::Sqrt => ins(self, clif::Opcode::Sqrt),
            MathFn::Fabs => ins(self, clif::Opcode::Fabs),
            MathFn::Copysign => self.b.ins().fcopysign(values[0], values[1]),
            MathFn::AddRn => self.b.ins().fadd(values[0], values[1]),
            MathFn::MulRn => self.b.ins().fmul(values[0], values[1]),
            MathFn::Fma => self.b.ins().fma(values[0], values[1], values[2]),
            MathFn::Fmin => {
                let least = self.b.ins().fmin(values[0], values[1]);
                self.without_nan(values[0], values[1], least)
            }
            MathFn::Fmax => {
                let most = self.b.ins().fmax(values[0], values[1]);
                self.without_nan(values[0], values[1], most)
            }
            // Within 2 ULP, CUDA's bound for `rsqrtf` (Programming Guide, "Mathematical Functions").
            MathFn::Rsqrt if scalar == Scalar::F32 && !reciprocal::has_estimate() => {
                let root = self.b.ins().sqrt(values[0]);
                let one = self.b.ins().f32const(1.0);
                self.b.ins().fdiv(one, root)
            }
            _ => self.call_host(HostFn::Math(math, scalar == Scalar::F64), &values)?[0],
        })
    }

    /// `both`, or the other operand where one is NaN.
    fn without_nan(&mut self, a: clif::Value, b: clif::Value, both: clif::Value) -> clif::Value {
        let mut value = both;
        for (nan, other) in [(b, a), (a, b)] {
            if !self.is_number(nan) {
                let is_nan = self.b.ins().fcmp(FloatCC::Unordered, nan, nan);
                value = self.b.ins().select(is_nan, other, value);
            }
        }
        value
    }

    /// True if a float is a constant other than NaN.
    fn is_number(&self, v: clif::Value) -> bool {
        let Some(inst) = self.b.func.dfg.value_def(v).inst() else { return false };
        match self.b.func.dfg.insts[inst] {
            clif::InstructionData::UnaryIeee32 { imm, .. } => !imm.as_f32().is_nan(),
            clif::InstructionData::UnaryIeee64 { imm, .. } => !imm.as_f64().is_nan(),
            _ => false,
        }
    }
}
