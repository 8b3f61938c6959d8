//! Passes: IR to IR, and analyses of IR. All take valid IR (see [`crate::valid`]) and give valid IR.
//!
//! | module | what it does |
//! |---|---|
//! | [`inline`] | device functions into their callers |
//! | [`contract`] | products and sums into `fma` |
//! | [`fold`] | constants, copies, branches, dead code |
//! | [`slot_selects`] | selects of slots' addresses into selects of what they hold |
//! | [`promote`] | slots into locals |
//! | [`members`] | members of a kernel's structs by value into parameters |
//! | [`anchors`] | pointers that host code passes, as offsets from where their memory starts |
//! | [`uniformity`] | values that are uniform over a block, or affine in `threadIdx.x` |
//! | [`independent`] | kernels whose threads may wait for one another in an order not known at compile time |
//! | [`stride`] | grid-stride loops, one round at a time |
//! | [`regions`] | a kernel cut at its barriers and collectives |
//! | [`pointers`] | the memory a pointer comes from |
//! | [`instrument`] | kernels that record who wrote each element, or count their work |
//! | [`check_and_dump`] | no pass: a check after each, and text before and after |
//! | [`waits`] | loops that may wait for other threads |
//! | [`widen`] | the float64 twin of a float32 kernel |
//! | [`writes`] | the parameters whose memory a kernel writes |
//!
//! Kernels of one text are prepared in parallel; `prepare_alone` is the part that takes each function by itself.

pub mod anchors;
pub mod check_and_dump;
pub mod contract;
pub mod fold;
pub mod independent;
pub mod inline;
pub mod instrument;
pub mod members;
pub mod pointers;
pub mod promote;
pub mod regions;
pub mod slot_selects;
pub mod stride;
pub mod uniformity;
pub mod waits;
pub mod widen;
pub mod writes;

use crate::ir::{FuncId, FuncKind, Function, Module};
use check_and_dump::Watch;

/// The depth to which structs may point at each other and still all be promoted.
const MAX_NESTING: usize = 4;

/// The preparation of a module for the CPU back end: calls inlined, constants folded, slots in registers where possible, members of structs as
/// parameters, pointers as offsets from where their memory starts, kernels ready to be cut into regions.
pub fn prepare_for_cpu(module: &mut Module) {
    let watch = Watch::new(module);
    let left = prepare_together(module, &watch);
    for (id, launched) in left {
        prepare_alone(&mut module.functions[id.index()], launched, &watch);
    }
}

/// The part of [`prepare_for_cpu`] that takes all functions together: inlines calls. Gives the functions that are left for
/// [`prepare_alone`], each with true if host code launches it; most helpers have no callers any more.
pub fn prepare_together(module: &mut Module, watch: &Watch) -> Vec<(FuncId, bool)> {
    inline::run(module, watch);
    let launched = anchors::launched(module);
    let reached = reachable(module);
    let all = (0..).map(FuncId::new).zip(launched).zip(reached);
    all.filter(|(_, reached)| *reached).map(|(function, _)| function).collect()
}

/// The part of [`prepare_for_cpu`] that takes each function alone.
pub fn prepare_alone(func: &mut Function, launched: bool, watch: &Watch) {
    watch.run("fold", func, fold::run);
    // A slot is promoted after the slot that holds its address.
    for _ in 0..MAX_NESTING {
        watch.run("slot_selects", func, slot_selects::run);
        if !watch.run("promote", func, promote::run) {
            break;
        }
        watch.run("fold", func, fold::run);
    }
    let has_members = watch.run("members", func, members::run);
    if launched && watch.run("anchors", func, anchors::run) || has_members {
        watch.run("fold", func, fold::run);
    }
    watch.run("contract", func, contract::run);
    watch.run("drop_locals", func, fold::drop_locals);
    if func.kind == FuncKind::Kernel {
        watch.run("unswitch", func, regions::unswitch);
    }
}

/// True for each function that may run: a kernel, a host function, and every function that those reach by calls and by address. No other
/// needs code.
pub fn reachable(module: &Module) -> Vec<bool> {
    let roots =
        module.functions.iter().enumerate().filter(|(_, f)| matches!(f.kind, FuncKind::Kernel | FuncKind::Host));
    let addressed = module.addressed.iter().map(|(id, _)| *id);
    reachable_from(module, roots.map(|(i, _)| FuncId::new(i)).chain(addressed).collect())
}

/// True for each function that is one of `roots`, or that one of them reaches by calls or by taking its address.
pub fn reachable_from(module: &Module, roots: Vec<FuncId>) -> Vec<bool> {
    let mut seen = vec![false; module.functions.len()];
    let mut pending = roots;
    while let Some(id) = pending.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            module.func(id).body.for_each_stmt(&mut |stmt| {
                pending.extend(stmt.mentions());
            });
        }
    }
    seen
}

#[cfg(test)]
mod tests;
