//! Barriers and fences.

use super::short::*;
use super::warp::collective;
use super::{Lower, P, Sig, sigs};
use crate::ir::{Builder, Collective, Scalar, Scope, Stmt, Value};

const BARRIER: Lower = Lower::Effect(|b, _| b.push(Stmt::Barrier(Scope::Block)));
const FENCE: Lower = Lower::Effect(|b, _| b.push(Stmt::Fence));

/// A barrier that also counts or combines a predicate, as an `int`.
fn vote(b: &mut Builder, op: Collective, pred: Value) -> Value {
    let pred = b.convert(Scalar::Bool, pred);
    let ty = if op == Collective::SyncCount { Scalar::I32 } else { Scalar::Bool };
    let result = collective(b, op, ty, vec![pred]);
    b.convert(Scalar::I32, result)
}

/// Barriers and fences.
pub const TABLE: &[Sig] = sigs! {
    "__syncthreads" () -> P::Void, BARRIER, "Waits for all threads of the block.";
    "__syncthreads_count" (I) -> I, Lower::Value(|b, a| vote(b, Collective::SyncCount, a[0])), "As `__syncthreads`; for how many threads the predicate holds.";
    "__syncthreads_and" (I) -> I, Lower::Value(|b, a| vote(b, Collective::SyncAnd, a[0])), "As `__syncthreads`; whether the predicate holds for all threads.";
    "__syncthreads_or" (I) -> I, Lower::Value(|b, a| vote(b, Collective::SyncOr, a[0])), "As `__syncthreads`; whether the predicate holds for any thread.";
    "__threadfence" () -> P::Void, FENCE, "Orders the thread's accesses for the whole device.";
    "__threadfence_block" () -> P::Void, FENCE, "Orders the thread's accesses for the block.";
    "__threadfence_system" () -> P::Void, FENCE, "Orders the thread's accesses for the whole system.";
    "__nanosleep" (U) -> P::Void, Lower::Effect(|_, _| {}), "A hint to wait; waiting no time at all is allowed.";
    "__prof_trigger" (I) -> P::Void, Lower::Effect(|_, _| {}), "Adds one to a profiler's counter, of which there are none here.";
};
