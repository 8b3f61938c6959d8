//! Reading ops: constants, and words with operands.

use std::collections::HashMap;

use super::cursor::{Cursor, Result};
use crate::ir::ops::ops;
use crate::ir::{
    AtomicOp, BinaryOp, BitFn, Builtin, Collective, CompareOp, Const, FuncId, Global, Local, MathFn, Op, ReduceOp,
    Scalar, Shared, Shuffle, Slot, Stride, Type, UnaryOp, Value,
};

const SCALARS: [Scalar; 11] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::F32,
    Scalar::F64,
];

/// The meaning of a word.
#[derive(Clone, Copy)]
enum Word {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Bit(BitFn),
    Math(MathFn),
    Builtin(Builtin),
}

/// The words that ops, atomics and collectives are printed as.
pub(super) struct Words {
    ops: HashMap<String, Word>,
    atomics: HashMap<String, AtomicOp>,
    collectives: HashMap<String, Collective>,
}

impl Words {
    /// All words.
    pub fn new() -> Self {
        let unary = UnaryOp::ALL.iter().map(|op| (op.to_string(), Word::Unary(*op)));
        let binary = BinaryOp::ALL.iter().map(|op| (op.to_string(), Word::Binary(*op)));
        let compare = CompareOp::ALL.iter().map(|op| (op.to_string(), Word::Compare(*op)));
        let bit = BitFn::ALL.iter().map(|op| (op.to_string(), Word::Bit(*op)));
        let math = MathFn::ALL.iter().map(|func| (func.to_string(), Word::Math(*func)));
        let builtin = (0..3).flat_map(|dim| {
            [Builtin::ThreadIdx(dim), Builtin::BlockIdx(dim), Builtin::BlockDim(dim), Builtin::GridDim(dim)]
                .map(|builtin| (builtin.to_string(), Word::Builtin(builtin)))
        });
        let ops = unary.chain(binary).chain(compare).chain(bit).chain(math).chain(builtin).collect();
        let atomics = AtomicOp::ALL.iter().map(|op| (op.to_string(), *op)).collect();
        let plain = {
            use Collective::{
                ActiveMask, All, Any, Ballot, MatchAll, MatchAny, SyncAnd, SyncCount, SyncOr, SyncWarp, Uni,
            };
            [SyncCount, SyncAnd, SyncOr, SyncWarp, Ballot, Any, All, Uni, MatchAny, MatchAll, ActiveMask]
        };
        let shuffles = [Shuffle::Idx, Shuffle::Up, Shuffle::Down, Shuffle::Xor].map(Collective::Shfl);
        let reductions = {
            use ReduceOp::{Add, And, Max, Min, Or, Xor};
            [Add, Min, Max, And, Or, Xor].map(Collective::Reduce)
        };
        let collectives = plain.into_iter().chain(shuffles).chain(reductions).map(|op| (op.to_string(), op)).collect();
        Words { ops, atomics, collectives }
    }

    /// The atomic of a word.
    pub fn atomic(&self, c: &mut Cursor<'_>) -> Result<AtomicOp> {
        c.read("what an atomic computes", |word| self.atomics.get(word).copied())
    }

    /// The collective that stands here, if one does.
    pub fn collective(&self, c: &mut Cursor<'_>) -> Option<Collective> {
        c.read("", |word| self.collectives.get(word).copied()).ok()
    }

    /// An op whose result is of a type.
    pub fn op(&self, c: &mut Cursor<'_>, ty: Type) -> Result<Op> {
        let start = c.clone();
        let word = c.word();
        if let Some(word) = self.ops.get(word) {
            return known(c, *word);
        }
        if !word.is_empty()
            && c.eats(" ")
            && let Some(op) = structural(c, word, ty, &start)?
        {
            return Ok(op);
        }
        *c = start;
        Ok(Op::Const(constant(c)?))
    }
}

/// The operands of a word.
fn known(c: &mut Cursor<'_>, word: Word) -> Result<Op> {
    if let Word::Builtin(builtin) = word {
        return Ok(Op::Builtin(builtin));
    }
    c.eat(" ")?;
    Ok(match word {
        Word::Builtin(builtin) => Op::Builtin(builtin),
        Word::Unary(op) => Op::Unary(op, value(c)?),
        Word::Bit(op) => Op::Bit(op, value(c)?),
        Word::Binary(op) => {
            let (a, b) = pair(c)?;
            Op::Binary(op, a, b)
        }
        Word::Compare(op) => {
            let (a, b) = pair(c)?;
            Op::Compare(op, a, b)
        }
        Word::Math(func) => {
            let args = values(c)?;
            if args.len() != func.arity() {
                return c.wanted(format!("{} operands of `{func}`", func.arity()));
            }
            Op::Math(func, args)
        }
    })
}

/// A field of an op, as it stands in a line.
trait Field: Sized {
    fn read(c: &mut Cursor<'_>) -> Result<Self>;
}

impl Field for u32 {
    fn read(c: &mut Cursor<'_>) -> Result<Self> {
        c.number()
    }
}

impl Field for Local {
    fn read(c: &mut Cursor<'_>) -> Result<Self> {
        Ok(Local::new(c.index('l', "a local")?))
    }
}

impl Field for Value {
    fn read(c: &mut Cursor<'_>) -> Result<Self> {
        value(c)
    }
}

impl Field for Stride {
    fn read(c: &mut Cursor<'_>) -> Result<Self> {
        stride(c)
    }
}

/// The word of a volatile access.
impl Field for bool {
    fn read(c: &mut Cursor<'_>) -> Result<Self> {
        Ok(c.eats("volatile "))
    }
}

/// A field of an op that is the type of its result.
trait OfResult: Sized {
    fn of(ty: Type, start: &Cursor<'_>) -> Result<Self>;
}

impl OfResult for Type {
    fn of(ty: Type, _start: &Cursor<'_>) -> Result<Self> {
        Ok(ty)
    }
}

impl OfResult for Scalar {
    fn of(ty: Type, start: &Cursor<'_>) -> Result<Self> {
        match ty {
            Type::Scalar(scalar) => Ok(scalar),
            Type::Ptr => start.wanted("an op whose result is a pointer"),
        }
    }
}

/// The next piece in the text of an op: a field, or a text that must stand there.
macro_rules! piece {
    ($c:ident $text:literal) => {
        $c.eat($text)?;
    };
    ($c:ident $field:ident) => {
        let $field = Field::read($c)?;
    };
}

/// Reads the op of a row, if the word is the row's.
macro_rules! by_word {
    (($c:ident $found:ident $ty:ident $start:ident) $word:literal [$($piece:tt)*] [$($result:ident)*] $op:expr) => {
        if $found == $word {
            $(let $result = OfResult::of($ty, $start)?;)*
            $(piece!($c $piece);)*
            return Ok(Some($op));
        }
    };
    ($place:tt [$($piece:tt)*] [] $op:expr) => {};
}

macro_rules! structural {
    ($($(#[$doc:meta])* $variant:ident $(($($place:ident: $place_ty:ty),*))? $({$($(#[$field_doc:meta])* $field:ident: $field_ty:ty,)*})?
        $how:ident $($word:literal)? [$($text:tt)*] $(of [$($result:ident)*])?;)*) => {
        /// An op that has a form of its own.
        fn structural(c: &mut Cursor<'_>, word: &str, ty: Type, start: &Cursor<'_>) -> Result<Option<Op>> {
            if word == "addr" {
                return address(c).map(Some);
            }
            $(by_word! {
                (c word ty start) $($word)? [$($text)*] [$($($result)*)?] Op::$variant $(($($place),*))? $({$($field),*})?
            })*
            Ok(None)
        }
    };
}

ops!(structural);

fn address(c: &mut Cursor<'_>) -> Result<Op> {
    Ok(match c.rest().chars().next() {
        Some('s') => Op::SlotAddr(Slot::new(c.index('s', "a slot")?)),
        Some('g') => Op::GlobalAddr(Global::new(c.index('g', "data")?)),
        Some('m') => Op::SharedAddr(Shared::new(c.index('m', "a shared variable")?)),
        Some('f') => {
            let func = FuncId::new(c.index('f', "a function")?);
            c.eat(" type ")?;
            Op::FuncAddr(func, c.number()?)
        }
        _ => return c.wanted("a slot, data, a shared variable or a function"),
    })
}

fn stride(c: &mut Cursor<'_>) -> Result<Stride> {
    if c.rest().starts_with(|first: char| first.is_ascii_digit()) {
        let bytes = c.number()?;
        c.eat(" bytes")?;
        return Ok(Stride::Bytes(bytes));
    }
    Ok(Stride::Elem(scalar(c)?))
}

/// A scalar type.
pub(super) fn scalar(c: &mut Cursor<'_>) -> Result<Scalar> {
    c.read("a scalar type", find_scalar)
}

/// The scalar type of a name.
pub(super) fn find_scalar(word: &str) -> Option<Scalar> {
    SCALARS.into_iter().find(|scalar| scalar.name() == word)
}

/// The type of a value.
pub(super) fn ty(c: &mut Cursor<'_>) -> Result<Type> {
    c.read("a type", |word| if word == "ptr" { Some(Type::Ptr) } else { find_scalar(word).map(Type::Scalar) })
}

/// A value.
pub(super) fn value(c: &mut Cursor<'_>) -> Result<Value> {
    Ok(Value::new(c.index('v', "a value")?))
}

fn pair(c: &mut Cursor<'_>) -> Result<(Value, Value)> {
    let a = value(c)?;
    c.eat(", ")?;
    Ok((a, value(c)?))
}

/// Values, at least one.
pub(super) fn values(c: &mut Cursor<'_>) -> Result<Vec<Value>> {
    let mut values = vec![value(c)?];
    while c.eats(", ") {
        values.push(value(c)?);
    }
    Ok(values)
}

/// Values in parentheses, perhaps none.
pub(super) fn arguments(c: &mut Cursor<'_>) -> Result<Vec<Value>> {
    c.eat("(")?;
    if c.eats(")") {
        return Ok(Vec::new());
    }
    let values = values(c)?;
    c.eat(")")?;
    Ok(values)
}

/// A constant with its type.
pub(super) fn constant(c: &mut Cursor<'_>) -> Result<Const> {
    let start = c.clone();
    if c.eats("nan(") {
        let bits = c.read("the bits of a NaN", |word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok())?;
        c.eat(")")?;
        return match (c.word(), u32::try_from(bits)) {
            ("f32", Ok(bits)) => Ok(Const::F32(f32::from_bits(bits))),
            ("f64", _) => Ok(Const::F64(f64::from_bits(bits))),
            _ => start.wanted("a NaN with its type, `f32` or `f64`"),
        };
    }
    c.read("an op or a constant with its type", |word| match word {
        "true" => Some(Const::Bool(true)),
        "false" => Some(Const::Bool(false)),
        "null" => Some(Const::Null),
        _ => {
            let scalar = SCALARS.into_iter().find(|scalar| word.ends_with(scalar.name()))?;
            number(scalar, word.strip_suffix(scalar.name())?)
        }
    })
}

/// The constant of a type and its digits.
pub(super) fn number(scalar: Scalar, digits: &str) -> Option<Const> {
    let fits = |n: i64, least: i64, most: i64| (least..=most).contains(&n).then_some(Const::Int(scalar, n));
    let bits = scalar.bits();
    match scalar {
        Scalar::Bool => None,
        Scalar::F32 => digits.parse().ok().map(Const::F32),
        Scalar::F64 => digits.parse().ok().map(Const::F64),
        Scalar::U64 => digits.parse::<u64>().ok().map(|n| Const::Int(scalar, n as i64)),
        Scalar::I64 => digits.parse().ok().map(|n| Const::Int(scalar, n)),
        Scalar::I8 | Scalar::I16 | Scalar::I32 => fits(digits.parse().ok()?, -(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        Scalar::U8 | Scalar::U16 | Scalar::U32 => fits(digits.parse().ok()?, 0, (1 << bits) - 1),
    }
}
