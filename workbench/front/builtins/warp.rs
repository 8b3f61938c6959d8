//! Warp functions: shuffles, votes, matches, reductions. The forms without `_sync` act on the lanes that happen to be there.

use super::short::*;
use super::{Lower, Outs, P, Sig, sigs};
use crate::ir::{Builder, Collective, ReduceOp, Scalar, Shuffle, Stmt, Value};

/// A collective with its result.
pub fn collective(b: &mut Builder, op: Collective, ty: Scalar, args: Vec<Value>) -> Value {
    let result = b.func.new_value(ty.into(), b.span);
    b.push(Stmt::Collective { result: Some(result), op, args });
    result
}

fn active(b: &mut Builder) -> Value {
    collective(b, Collective::ActiveMask, Scalar::U32, Vec::new())
}

/// `(mask, value, lane, width)`
fn shuffle(b: &mut Builder, kind: Shuffle, mask: Value, args: &[Value]) -> Value {
    let lane = b.convert(Scalar::I32, args[1]);
    let width = match args.get(2) {
        Some(width) => *width,
        None => b.int(Scalar::I32, 32),
    };
    let ty = b.scalar(args[0]);
    collective(b, Collective::Shfl(kind), ty, vec![mask, args[0], lane, width])
}

/// A predicate's result as CUDA gives it: an `int`, or the ballot's `unsigned`.
fn vote(b: &mut Builder, op: Collective, mask: Value, pred: Value) -> Value {
    let pred = b.convert(Scalar::Bool, pred);
    if op == Collective::Ballot {
        return collective(b, op, Scalar::U32, vec![mask, pred]);
    }
    let result = collective(b, op, Scalar::Bool, vec![mask, pred]);
    b.convert(Scalar::I32, result)
}

fn match_all(b: &mut Builder, a: &[Value]) -> Outs {
    let found = collective(b, Collective::MatchAll, Scalar::U32, a.to_vec());
    let all = b.convert(Scalar::Bool, found);
    let pred = b.convert(Scalar::I32, all);
    Outs { result: Some(found), stores: vec![pred] }
}

fn reduce(b: &mut Builder, op: ReduceOp, a: &[Value]) -> Value {
    let ty = b.scalar(a[1]);
    collective(b, Collective::Reduce(op), ty, a.to_vec())
}

/// The forms of a shuffle on one type: with a mask or without, with a width or without.
macro_rules! shuffle_type {
    ($sync:literal $legacy:literal $kind:ident $lane:expr, $($ty:expr)*) => {
        &[$(
            Sig { name: $sync, params: &[U, $ty, $lane], ret: $ty, lower: Lower::Value(|b, a| shuffle(b, Shuffle::$kind, a[0], &a[1..])), doc: "Another lane's value." },
            Sig { name: $sync, params: &[U, $ty, $lane, I], ret: $ty, lower: Lower::Value(|b, a| shuffle(b, Shuffle::$kind, a[0], &a[1..])), doc: "Another lane's value, in segments of a width." },
            Sig { name: $legacy, params: &[$ty, $lane], ret: $ty, lower: Lower::Value(|b, a| { let mask = active(b); shuffle(b, Shuffle::$kind, mask, a) }), doc: "Another lane's value." },
            Sig { name: $legacy, params: &[$ty, $lane, I], ret: $ty, lower: Lower::Value(|b, a| { let mask = active(b); shuffle(b, Shuffle::$kind, mask, a) }), doc: "Another lane's value, in segments of a width." },
        )*]
    };
}

/// `__shfl_sync`
pub const SHFL: &[Sig] = shuffle_type!("__shfl_sync" "__shfl" Idx I, I U L UL LL ULL F D);
/// `__shfl_up_sync`
pub const SHFL_UP: &[Sig] = shuffle_type!("__shfl_up_sync" "__shfl_up" Up U, I U L UL LL ULL F D);
/// `__shfl_down_sync`
pub const SHFL_DOWN: &[Sig] = shuffle_type!("__shfl_down_sync" "__shfl_down" Down U, I U L UL LL ULL F D);
/// `__shfl_xor_sync`
pub const SHFL_XOR: &[Sig] = shuffle_type!("__shfl_xor_sync" "__shfl_xor" Xor I, I U L UL LL ULL F D);

macro_rules! matches {
    ($($ty:expr)*) => {
        &[$(
            Sig { name: "__match_any_sync", params: &[U, $ty], ret: U, lower: Lower::Value(|b, a| collective(b, Collective::MatchAny, Scalar::U32, a.to_vec())), doc: "The lanes with the same value." },
            Sig { name: "__match_all_sync", params: &[U, $ty, P::Out(crate::front::types::Num::Int)], ret: U, lower: Lower::Outs(match_all), doc: "The mask if all lanes have the same value, else 0." },
        )*]
    };
}

/// Matches.
pub const MATCHES: &[Sig] = matches!(I U L UL LL ULL F D);

macro_rules! votes {
    ($($name:literal $op:ident $ret:expr, $doc:literal;)*) => {
        &[$(
            Sig { name: concat!("__", $name, "_sync"), params: &[U, I], ret: $ret, lower: Lower::Value(|b, a| vote(b, Collective::$op, a[0], a[1])), doc: $doc },
            Sig { name: concat!("__", $name), params: &[I], ret: $ret, lower: Lower::Value(|b, a| { let mask = active(b); vote(b, Collective::$op, mask, a[0]) }), doc: $doc },
        )*]
    };
}

/// Votes.
pub const VOTES: &[Sig] = votes! {
    "ballot" Ballot U, "For each lane, whether its predicate holds.";
    "any" Any I, "Whether the predicate holds in any lane.";
    "all" All I, "Whether the predicate holds in all lanes.";
    "uni" Uni I, "Whether the predicate is the same in all lanes.";
};

/// The rest.
pub const TABLE: &[Sig] = sigs! {
    "__activemask" () -> U, Lower::Value(|b, _| active(b)), "The lanes that execute this together.";
    "__syncwarp" () -> P::Void, Lower::Effect(|b, _| { let all = b.int(Scalar::U32, 0xffff_ffff); sync(b, all); }), "Waits for all lanes of the warp.";
    "__syncwarp" (U) -> P::Void, Lower::Effect(|b, a| sync(b, a[0])), "Waits for the lanes of a mask.";
    "__reduce_add_sync" (U, U) -> U, Lower::Value(|b, a| reduce(b, ReduceOp::Add, a)), "The sum over the lanes.";
    "__reduce_add_sync" (U, I) -> I, Lower::Value(|b, a| reduce(b, ReduceOp::Add, a)), "The sum over the lanes.";
    "__reduce_min_sync" (U, U) -> U, Lower::Value(|b, a| reduce(b, ReduceOp::Min, a)), "The smallest over the lanes.";
    "__reduce_min_sync" (U, I) -> I, Lower::Value(|b, a| reduce(b, ReduceOp::Min, a)), "The smallest over the lanes.";
    "__reduce_max_sync" (U, U) -> U, Lower::Value(|b, a| reduce(b, ReduceOp::Max, a)), "The largest over the lanes.";
    "__reduce_max_sync" (U, I) -> I, Lower::Value(|b, a| reduce(b, ReduceOp::Max, a)), "The largest over the lanes.";
    "__reduce_and_sync" (U, U) -> U, Lower::Value(|b, a| reduce(b, ReduceOp::And, a)), "Bitwise and over the lanes.";
    "__reduce_or_sync" (U, U) -> U, Lower::Value(|b, a| reduce(b, ReduceOp::Or, a)), "Bitwise or over the lanes.";
    "__reduce_xor_sync" (U, U) -> U, Lower::Value(|b, a| reduce(b, ReduceOp::Xor, a)), "Bitwise exclusive or over the lanes.";
};

fn sync(b: &mut Builder, mask: Value) {
    b.push(Stmt::Collective { result: None, op: Collective::SyncWarp, args: vec![mask] });
}
