//! The types of ops: rules 13 to 15 and 17, 18.
//!
//! | op | operands | result |
//! |---|---|---|
//! | `Unary(Neg)` | integer or float | the same |
//! | `Unary(Not)` | integer or `Bool` | the same |
//! | `Binary(Add, Sub, Mul, Div)` | two integers or floats of one type | the same |
//! | `Binary(Rem, Min, Max)` | two integers of one type | the same |
//! | `Binary(And, Or, Xor)` | two integers of one type, or `Bool`s | the same |
//! | `Binary(Shl, Shr)` | an integer, any integer | the left's |
//! | `Binary(MulHi)` | two integers of one type, 32 or 64 bits | the same |
//! | `Compare` | two scalars of one type, or pointers | `Bool` |
//! | `Convert` | a scalar | the scalar named |
//! | `Bitcast` | a scalar of the same size, neither is `Bool` | the scalar named |
//! | `Select` | `Bool`, two of one type | the same |
//! | `Math` | as many as the function takes, all `f32` or all `f64` | the same |
//! | `Bit` | an integer of 32 or 64 bits | `i32`; `Brev`: the same |
//! | `PtrAdd` | pointer, `i64` | pointer |
//! | `PtrDiff` | two pointers, a stride that is not 0 | `i64` |
//! | `PtrToInt`, `IntToPtr` | pointer, `u64` | `u64`, pointer |
//! | `Load` | pointer | the type read |
//! | `FuncAddr` | | pointer |

use crate::ir::{Builtin, Const, FuncKind, Function, Module, Op, Scalar, Stride, Takes, Type, Value};

const BOOL: Type = Type::Scalar(Scalar::Bool);
const I64: Type = Type::Scalar(Scalar::I64);
const U64: Type = Type::Scalar(Scalar::U64);

/// True if the 64 bits are a value of the integer type, extended by its signedness.
pub(crate) fn is_extended(s: Scalar, bits: i64) -> bool {
    let spare = 64 - s.bits();
    match s.is_signed() {
        true => bits << spare >> spare == bits,
        false => ((bits as u64) << spare >> spare) as i64 == bits,
    }
}

/// Checks an op whose operands exist against the type of the value it defines.
pub(super) fn check(module: &Module, func: &Function, op: &Op, result: Type) -> Result<(), String> {
    let ty = |v: &Value| func.ty(*v);
    let want = |found: Type, wanted: Type, what: &str| match found == wanted {
        true => Ok(()),
        false => Err(format!("{what} is {found}, not {wanted}")),
    };
    let same = |a: &Value, b: &Value| want(ty(b), ty(a), "the second operand");
    let given = |wanted: Type| want(result, wanted, "the result");
    let is = |v: &Value, test: &dyn Fn(Scalar) -> bool, what: &str| match ty(v) {
        Type::Scalar(s) if test(s) => Ok(()),
        other => Err(format!("the operand is {other}, not {what}")),
    };
    let takes = |v: &Value, takes: Takes| is(v, &|s| takes.has(s), takes.one());
    match op {
        Op::Const(c) => {
            if let Const::Int(s, bits) = *c
                && (!s.is_int() || !is_extended(s, bits))
            {
                return Err(format!("{bits} is no {s} extended to 64 bits"));
            }
            given(c.ty())
        }
        Op::Param(i) => match func.params.get(*i as usize) {
            Some(param) => given(param.ty.ty()),
            None => Err("no such parameter".to_owned()),
        },
        Op::Get(l) => match func.locals.get(l.index()) {
            Some(data) => given(data.ty),
            None => Err("no such local".to_owned()),
        },
        Op::SlotAddr(s) if s.index() >= func.slots.len() => Err("no such slot".to_owned()),
        Op::GlobalAddr(g) if g.index() >= module.globals.len() => Err("no such global".to_owned()),
        Op::SharedAddr(m) if m.index() >= module.shared.len() => Err("no such shared variable".to_owned()),
        Op::SharedAddr(_) if func.kind.is_host() => Err("shared memory in a host function".to_owned()),
        Op::FuncAddr(id, _) => match module.functions.get(id.index()) {
            None => Err("no such function".to_owned()),
            Some(to) if to.kind == FuncKind::Kernel => Err("the address of a kernel".to_owned()),
            Some(_) if !func.kind.is_host() => Err("the address of a function in a function of the device".to_owned()),
            Some(_) => given(Type::Ptr),
        },
        Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) => given(Type::Ptr),
        Op::Builtin(Builtin::ThreadIdx(d) | Builtin::BlockIdx(d) | Builtin::BlockDim(d) | Builtin::GridDim(d)) => {
            match d {
                0..=2 => given(Scalar::U32.into()),
                _ => Err("no such dimension".to_owned()),
            }
        }
        Op::Unary(op, a) => {
            takes(a, op.takes())?;
            given(ty(a))
        }
        Op::Binary(op, a, b) => {
            takes(a, op.takes())?;
            if op.is_shift() {
                takes(b, Takes::Integers)?;
            } else {
                same(a, b)?;
            }
            given(ty(a))
        }
        Op::Compare(_, a, b) => {
            same(a, b)?;
            given(BOOL)
        }
        Op::Convert(to, a) => {
            is(a, &|_| true, "a scalar")?;
            given((*to).into())
        }
        Op::Bitcast(to, a) => {
            is(a, &|s| s != Scalar::Bool, "a number")?;
            if *to == Scalar::Bool || to.size() != ty(a).size() {
                return Err(format!("{} and {to} differ in size or meaning", ty(a)));
            }
            given((*to).into())
        }
        Op::Select(c, a, b) => {
            want(ty(c), BOOL, "the condition")?;
            want(ty(b), ty(a), "the second choice")?;
            given(ty(a))
        }
        Op::Math(math, args) => {
            if args.len() != math.arity() {
                return Err(format!("{} operands, {math} takes {}", args.len(), math.arity()));
            }
            for arg in args {
                is(arg, &Scalar::is_float, "a float")?;
                same(&args[0], arg)?;
            }
            args.first().map_or(Ok(()), |a| given(ty(a)))
        }
        Op::Bit(bit, a) => {
            takes(a, bit.takes())?;
            given(bit.result(ty(a)))
        }
        Op::PtrAdd { ptr, index, stride: _ } => {
            want(ty(ptr), Type::Ptr, "the pointer")?;
            want(ty(index), I64, "the index")?;
            given(Type::Ptr)
        }
        Op::PtrDiff(a, b, stride) => {
            want(ty(a), Type::Ptr, "the first operand")?;
            want(ty(b), Type::Ptr, "the second operand")?;
            if *stride == Stride::Bytes(0) {
                return Err("the stride is 0".to_owned());
            }
            given(I64)
        }
        Op::PtrToInt(a) => {
            want(ty(a), Type::Ptr, "the operand")?;
            given(U64)
        }
        Op::IntToPtr(a) => {
            want(ty(a), U64, "the operand")?;
            given(Type::Ptr)
        }
        Op::Load { ptr, ty: read, volatile: _ } => {
            want(ty(ptr), Type::Ptr, "the pointer")?;
            given(*read)
        }
    }
}
