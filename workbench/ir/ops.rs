//! The operations: one row each, which the walks of [`visit`](super::visit), [`print`](super::print) and [`read`](super::read) read alike.

use super::entities::{FuncId, Global, Local, Shared, Slot, Value};
use super::math::MathFn;
use super::types::{Builtin, Const, Scalar, Stride, Type};
use super::words::words;

words! {
    /// One operand in, one result of the same type out.
    UnaryOp {
        /// Arithmetic negation: integers and floats.
        Neg "neg",
        /// Complement of integers; logical on `Bool`.
        Not "not",
    }

    /// Two operands of one type (`Shl`, `Shr`: the amount is any integer type), result of the left's.
    BinaryOp {
        /// Sum.
        Add "add",
        /// Difference.
        Sub "sub",
        /// Product.
        Mul "mul",
        /// Quotient, truncated for integers.
        Div "div",
        /// Integer remainder, with the dividend's sign.
        Rem "rem",
        /// Bitwise and; also on `Bool`.
        And "and",
        /// Bitwise or; also on `Bool`.
        Or "or",
        /// Bitwise exclusive or; also on `Bool`.
        Xor "xor",
        /// Left shift.
        Shl "shl",
        /// Right shift, arithmetic for signed types.
        Shr "shr",
        /// The smaller, integers only (floats: [`MathFn::Fmin`]).
        Min "min",
        /// The larger, integers only.
        Max "max",
        /// High half of the full product, 32- or 64-bit integers.
        MulHi "mul_hi",
    }

    /// A comparison; the result is `Bool`.
    CompareOp {
        /// Equal.
        Eq "eq",
        /// Not equal (true for NaN).
        Ne "ne",
        /// Less.
        Lt "lt",
        /// Less or equal.
        Le "le",
        /// Greater.
        Gt "gt",
        /// Greater or equal.
        Ge "ge",
    }

    /// Functions of bits, on 32- or 64-bit integers; the counting ones give `i32`.
    BitFn {
        /// Leading zeros (`__clz`): the width for 0.
        Clz "clz",
        /// Set bits (`__popc`).
        Popc "popc",
        /// One plus the index of the lowest set bit, 0 for 0 (`__ffs`).
        Ffs "ffs",
        /// Bits in reverse order (`__brev`); same type.
        Brev "brev",
        /// The bits of the `float` with the value of the half in the low 16 bits; same type, of 32 bits. NaN keeps its payload and is quiet.
        HalfToFloat "half_to_float",
        /// The bits of the half that is nearest to the `float` of these bits, ties to even; same type, of 32 bits. NaN is 0x7fff.
        FloatToHalf "float_to_half",
    }
}

/// The types that an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Integers and floats.
    Numbers,
    /// Integers and `Bool`.
    Bits,
    /// Integers.
    Integers,
    /// Integers of 32 or 64 bits.
    WideIntegers,
    /// Integers of 32 bits.
    Words,
}

impl Takes {
    /// True if the type is one of them.
    pub fn has(self, s: Scalar) -> bool {
        match self {
            Takes::Numbers => s != Scalar::Bool,
            Takes::Bits => !s.is_float(),
            Takes::Integers => s.is_int(),
            Takes::WideIntegers => s.is_int() && s.size() >= 4,
            Takes::Words => s.is_int() && s.size() == 4,
        }
    }

    /// One of them, in words.
    pub fn one(self) -> &'static str {
        match self {
            Takes::Numbers => "an integer or float",
            Takes::Bits => "an integer or `bool`",
            Takes::Integers => "an integer",
            Takes::WideIntegers => "an integer of 32 or 64 bits",
            Takes::Words => "an integer of 32 bits",
        }
    }
}

impl UnaryOp {
    /// The types that it takes.
    pub fn takes(self) -> Takes {
        match self {
            UnaryOp::Neg => Takes::Numbers,
            UnaryOp::Not => Takes::Bits,
        }
    }
}

impl BinaryOp {
    /// The types that it takes on the left, and on the right unless it is a shift.
    pub fn takes(self) -> Takes {
        match self {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => Takes::Numbers,
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Takes::Bits,
            BinaryOp::Rem | BinaryOp::Min | BinaryOp::Max | BinaryOp::Shl | BinaryOp::Shr => Takes::Integers,
            BinaryOp::MulHi => Takes::WideIntegers,
        }
    }

    /// True if the right operand is an amount, of any integer type.
    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }
}

impl BitFn {
    /// The types that it takes.
    pub fn takes(self) -> Takes {
        match self {
            BitFn::HalfToFloat | BitFn::FloatToHalf => Takes::Words,
            BitFn::Clz | BitFn::Popc | BitFn::Ffs | BitFn::Brev => Takes::WideIntegers,
        }
    }

    /// The type of its result on a type.
    pub fn result(self, operand: Type) -> Type {
        match self {
            BitFn::Brev | BitFn::HalfToFloat | BitFn::FloatToHalf => operand,
            BitFn::Clz | BitFn::Popc | BitFn::Ffs => Type::Scalar(Scalar::I32),
        }
    }
}

/// The table of operations, given to the macro `$read`. A row is
///
/// ```text
/// Variant(field: Type, ...) how [text and fields, in the order in which they are printed] of [fields that the result's type is];
/// ```
///
/// `word "select"`: the word and a blank stand before them, and the operation is read back by this row. `kind`: the first field, one of a kind
/// of operation, is the word. `other`: neither; [`read`](super::read) tells it in its own way.
macro_rules! ops {
    ($read:ident) => {
        $read! {
            /// A constant.
            Const(constant: Const) other [constant];
            /// The function's parameter of that index.
            Param(index: u32) word "param" [index];
            /// The value that a local holds now.
            Get(local: Local) word "get" [local];
            /// The address of a slot.
            SlotAddr(slot: Slot) other ["addr " slot];
            /// The address of module data; [`GlobalData::space`](super::GlobalData::space) says who may change it.
            GlobalAddr(global: Global) other ["addr " global];
            /// The address of a shared variable: the running block's.
            SharedAddr(shared: Shared) other ["addr " shared];
            /// The address of a function that host code may call, with the number of its type ([`Stmt::Dispatch`](super::Stmt::Dispatch)).
            /// It points into no memory.
            FuncAddr(func: FuncId, signature: u64) other ["addr " func];
            /// A built-in variable.
            Builtin(variable: Builtin) kind [variable];
            /// See [`UnaryOp`].
            Unary(op: UnaryOp, a: Value) kind [op " " a];
            /// See [`BinaryOp`].
            Binary(op: BinaryOp, a: Value, b: Value) kind [op " " a ", " b];
            /// See [`CompareOp`].
            Compare(op: CompareOp, a: Value, b: Value) kind [op " " a ", " b];
            /// To the type of the value being defined, by value.
            Convert(to: Scalar, a: Value) word "convert" [a] of [to];
            /// To a scalar of the same width, by bits.
            Bitcast(to: Scalar, a: Value) word "bitcast" [a] of [to];
            /// `cond ? a : b`, both evaluated.
            Select(cond: Value, a: Value, b: Value) word "select" [cond ", " a ", " b];
            /// A math function on floats of one type.
            Math(function: MathFn, args: Vec<Value>) kind [function " " args];
            /// A bit function.
            Bit(function: BitFn, a: Value) kind [function " " a];
            /// The sum of the products of the four bytes of `a` and `b`, plus `c` (`__dp4a`): all `i32`, and the bytes have signs, or all
            /// `u32`, and they have none. Wraps around.
            Dot4(a: Value, b: Value, c: Value) word "dot4" [a ", " b ", " c];
            /// `ptr + index * stride`; the index is `i64`.
            PtrAdd {
                /// The pointer moved.
                ptr: Value,
                /// The distance in units of `stride`; `i64`.
                index: Value,
                /// The unit.
                stride: Stride,
            } word "ptr_add" [ptr ", " index " * " stride];
            /// `(a - b) / stride` as `i64`.
            PtrDiff(a: Value, b: Value, stride: Stride) word "ptr_diff" [a ", " b " / " stride];
            /// The address as `u64`.
            PtrToInt(ptr: Value) word "ptr_to_int" [ptr];
            /// A pointer from a `u64`; its buffer is looked up among all live allocations.
            IntToPtr(address: Value) word "int_to_ptr" [address];
            /// Reads memory.
            Load {
                /// The address.
                ptr: Value,
                /// The type that is read.
                ty: Type,
                /// True if the access is neither merged nor moved.
                volatile: bool,
            } word "load" [volatile ptr] of [ty];
        }
    };
}
pub(crate) use ops;

macro_rules! variants {
    ($($(#[$doc:meta])* $variant:ident $(($($place:ident: $place_ty:ty),*))? $({$($(#[$field_doc:meta])* $field:ident: $field_ty:ty,)*})?
        $how:ident $($word:literal)? [$($text:tt)*] $(of $result:tt)?;)*) => {
        /// A computation without side effects; see the module page for what each means.
        #[derive(Debug, Clone, PartialEq, Hash)]
        pub enum Op {
            $($(#[$doc])* $variant $(($($place_ty),*))? $({$($(#[$field_doc])* $field: $field_ty,)*})?,)*
        }
    };
}

ops!(variants);
