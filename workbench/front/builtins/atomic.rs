//! Atomics with exactly the overloads of CUDA's headers. The `_block` and `_system` forms mean what the plain ones do: all are
//! sequentially consistent for everybody.

use super::{Lower, P, Sig};
use crate::front::types::Num;
use crate::ir::{AtomicOp, Builder, Stmt, Value};

fn atomic(b: &mut Builder, op: AtomicOp, ptr: Value, value: Value, compare: Option<Value>) -> Value {
    let result = b.func.new_value(b.ty(value), b.span);
    b.push(Stmt::Atomic { result: Some(result), op, ptr, value, compare });
    result
}

macro_rules! atomics {
    ($($name:literal $op:ident: $($num:ident)*;)*) => {
        &[$($(
            atomics!(@ $name, $op, $num),
            atomics!(@ concat!($name, "_block"), $op, $num),
            atomics!(@ concat!($name, "_system"), $op, $num),
        )*)*]
    };
    (@ $name:expr, Cas, $num:ident) => {
        Sig {
            name: $name,
            params: &[P::Out(Num::$num), P::Num(Num::$num), P::Num(Num::$num)],
            ret: P::Num(Num::$num),
            lower: Lower::Value(|b, a| atomic(b, AtomicOp::Cas, a[0], a[2], Some(a[1]))),
            doc: "Replaces the value if it is the one expected; what was there.",
        }
    };
    (@ $name:expr, $op:ident, $num:ident) => {
        Sig {
            name: $name,
            params: &[P::Out(Num::$num), P::Num(Num::$num)],
            ret: P::Num(Num::$num),
            lower: Lower::Value(|b, a| atomic(b, AtomicOp::$op, a[0], a[1], None)),
            doc: "Computes and stores in one step; what was there.",
        }
    };
}

/// The one atomic of 16 bits; it has no scoped forms.
pub const SHORT: &[Sig] = &[atomics!(@ "atomicCAS", Cas, UShort)];

/// Atomics.
pub const TABLE: &[Sig] = atomics! {
    "atomicAdd" Add: Int UInt ULongLong Float Double;
    "atomicSub" Sub: Int UInt;
    "atomicExch" Exch: Int UInt ULongLong Float;
    "atomicMin" Min: Int UInt LongLong ULongLong;
    "atomicMax" Max: Int UInt LongLong ULongLong;
    "atomicInc" Inc: UInt;
    "atomicDec" Dec: UInt;
    "atomicCAS" Cas: Int UInt ULongLong;
    "atomicAnd" And: Int UInt ULongLong;
    "atomicOr" Or: Int UInt ULongLong;
    "atomicXor" Xor: Int UInt ULongLong;
};
