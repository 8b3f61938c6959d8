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
//! | `Dot4` | three integers of 32 bits of one type | theirs |
//! | `Bit` | an integer of 32 or 64 bits; conversions of halves: of 32 bits | `i32`; `Brev` and conversions: the same |
//! | `PtrAdd` | pointer, `i64` | pointer |
//! | `PtrDiff` | two pointers, a stride that is not 0 | `i64` |
//! | `PtrToInt`, `IntToPtr` | pointer, `u64` | `u64`, pointer |
//! | `Load` | pointer | the type read |
//! | `FuncAddr` | | pointer |

use crate::ir::{Builtin, Const, FuncId, FuncKind, Function, MathFn, Module, Op, Scalar, Stride, Takes, Type, Value};

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

/// The rules for an op of a function, as far as several ops have them.
struct Rules<'a> {
    module: &'a Module,
    func: &'a Function,
    /// The type of the value that the op defines.
    result: Type,
}

fn want(found: Type, wanted: Type, what: &str) -> Result<(), String> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{what} is {found}, not {wanted}")),
    }
}

impl Rules<'_> {
    fn ty(&self, v: &Value) -> Type {
        self.func.ty(*v)
    }

    fn same(&self, a: &Value, b: &Value) -> Result<(), String> {
        want(self.ty(b), self.ty(a), "the second operand")
    }

    fn given(&self, wanted: Type) -> Result<(), String> {
        want(self.result, wanted, "the result")
    }

    fn is(&self, v: &Value, test: &dyn Fn(Scalar) -> bool, what: &str) -> Result<(), String> {
        match self.ty(v) {
            Type::Scalar(s) if test(s) => Ok(()),
            other => Err(format!("the operand is {other}, not {what}")),
        }
    }

    fn takes(&self, v: &Value, takes: Takes) -> Result<(), String> {
        self.is(v, &|s| takes.has(s), takes.one())
    }

    fn constant(&self, c: Const) -> Result<(), String> {
        if let Const::Int(s, bits) = c
            && (!s.is_int() || !is_extended(s, bits))
        {
            return Err(format!("{bits} is no {s} extended to 64 bits"));
        }
        self.given(c.ty())
    }

    fn function(&self, id: FuncId) -> Result<(), String> {
        match self.module.functions.get(id.index()) {
            None => Err("no such function".to_owned()),
            Some(to) if to.kind == FuncKind::Kernel => Err("the address of a kernel".to_owned()),
            Some(_) if !self.func.kind.is_host() => {
                Err("the address of a function in a function of the device".to_owned())
            }
            Some(_) => self.given(Type::Ptr),
        }
    }

    fn math(&self, math: MathFn, args: &[Value]) -> Result<(), String> {
        if args.len() != math.arity() {
            return Err(format!("{} operands, {math} takes {}", args.len(), math.arity()));
        }
        for arg in args {
            self.is(arg, &Scalar::is_float, "a float")?;
            self.same(&args[0], arg)?;
        }
        args.first().map_or(Ok(()), |a| self.given(self.ty(a)))
    }
}

/// Checks an op whose operands exist against the type of the value it defines.
pub(super) fn check(module: &Module, func: &Function, op: &Op, result: Type) -> Result<(), String> {
    let rules = Rules { module, func, result };
    match op {
        Op::Const(c) => rules.constant(*c),
        Op::Param(i) => match func.params.get(*i as usize) {
            Some(param) => rules.given(param.ty.ty()),
            None => Err("no such parameter".to_owned()),
        },
        Op::Get(l) => match func.locals.get(l.index()) {
            Some(data) => rules.given(data.ty),
            None => Err("no such local".to_owned()),
        },
        Op::SlotAddr(s) if s.index() >= func.slots.len() => Err("no such slot".to_owned()),
        Op::GlobalAddr(g) if g.index() >= module.globals.len() => Err("no such global".to_owned()),
        Op::SharedAddr(m) if m.index() >= module.shared.len() => Err("no such shared variable".to_owned()),
        Op::SharedAddr(_) if func.kind.is_host() => Err("shared memory in a host function".to_owned()),
        Op::FuncAddr(id, _) => rules.function(*id),
        Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) => rules.given(Type::Ptr),
        Op::Builtin(Builtin::ThreadIdx(d) | Builtin::BlockIdx(d) | Builtin::BlockDim(d) | Builtin::GridDim(d)) => {
            match d {
                0..=2 => rules.given(Scalar::U32.into()),
                _ => Err("no such dimension".to_owned()),
            }
        }
        Op::Unary(op, a) => {
            rules.takes(a, op.takes())?;
            rules.given(rules.ty(a))
        }
        Op::Binary(op, a, b) => {
            rules.takes(a, op.takes())?;
            if op.is_shift() {
                rules.takes(b, Takes::Integers)?;
            } else {
                rules.same(a, b)?;
            }
            rules.given(rules.ty(a))
        }
        Op::Compare(_, a, b) => {
            rules.same(a, b)?;
            rules.given(BOOL)
        }
        Op::Convert(to, a) => {
            rules.is(a, &|_| true, "a scalar")?;
            rules.given((*to).into())
        }
        Op::Bitcast(to, a) => {
            rules.is(a, &|s| s != Scalar::Bool, "a number")?;
            if *to == Scalar::Bool || to.size() != rules.ty(a).size() {
                return Err(format!("{} and {to} differ in size or meaning", rules.ty(a)));
            }
            rules.given((*to).into())
        }
        Op::Select(c, a, b) => {
            want(rules.ty(c), BOOL, "the condition")?;
            want(rules.ty(b), rules.ty(a), "the second choice")?;
            rules.given(rules.ty(a))
        }
        Op::Math(math, args) => rules.math(*math, args),
        Op::Bit(bit, a) => {
            rules.takes(a, bit.takes())?;
            rules.given(bit.result(rules.ty(a)))
        }
        Op::Dot4(a, b, c) => {
            rules.takes(a, Takes::Words)?;
            rules.same(a, b)?;
            rules.same(a, c)?;
            rules.given(rules.ty(a))
        }
        Op::PtrAdd { ptr, index, stride: _ } => {
            want(rules.ty(ptr), Type::Ptr, "the pointer")?;
            want(rules.ty(index), I64, "the index")?;
            rules.given(Type::Ptr)
        }
        Op::PtrDiff(a, b, stride) => {
            want(rules.ty(a), Type::Ptr, "the first operand")?;
            want(rules.ty(b), Type::Ptr, "the second operand")?;
            if *stride == Stride::Bytes(0) {
                return Err("the stride is 0".to_owned());
            }
            rules.given(I64)
        }
        Op::PtrToInt(a) => {
            want(rules.ty(a), Type::Ptr, "the operand")?;
            rules.given(U64)
        }
        Op::IntToPtr(a) => {
            want(rules.ty(a), U64, "the operand")?;
            rules.given(Type::Ptr)
        }
        Op::Load { ptr, ty: read, volatile: _ } => {
            want(rules.ty(ptr), Type::Ptr, "the pointer")?;
            rules.given(*read)
        }
    }
}
