//! The plan of what to compile of a module: the functions that may run, in their order, the facts about each, and the limits they
//! keep.

use std::collections::{BTreeMap, HashMap};

use super::failure::{Result, too_large};
use crate::back::cpu::abi::context::is_direct;
use crate::back::cpu::code::kept_code::KeptUses;
use crate::back::cpu::code::size;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::roots::walk;
use crate::back::cpu::stack;
use crate::back::cpu::tier::Tier;
use crate::diagnostic::{self, Diagnostic};
use crate::ir::{FuncId, FuncKind, Function, Module};

/// Most statements of all functions of a module together.
pub const MAX_STMTS: usize = 500_000;

/// Most bytes of scratch for the values of a block's threads.
const MAX_SCRATCH: u32 = 64 << 20;

/// The functions to compile, in order: functions that others may call, entry points of host functions, then for each kernel
/// that is a grid-stride loop the code of its numbers and of one round.
pub struct Plan {
    pub infos: Vec<Option<FuncInfo>>,
    pub numbers: Vec<Option<u32>>,
    pub order: Vec<FuncId>,
    pub hosts: Vec<FuncId>,
    pub strided: Vec<FuncId>,
    /// True for each function whose slots' pointers may be looked up.
    pub linked: Vec<bool>,
    /// The functions whose address the program's own code knows, each with the signature of its type.
    pub functions: BTreeMap<FuncId, u64>,
    /// The functions that are compiled apart, once for all programs.
    pub kept: KeptUses,
    /// The number of statements in all of it.
    pub stmts: usize,
}

impl Plan {
    /// The program's own functions that a function may call, through kept code and pointers too: kept code calls kept code and the functions
    /// that pointers point at.
    fn callees(&self, id: FuncId) -> Vec<FuncId> {
        let Some(info) = &self.infos[id.index()] else { return Vec::new() };
        let (mut found, mut signatures) = (Vec::new(), Vec::from_iter(info.dispatches));
        let mut call = |callee: FuncId, signatures: &mut Vec<u64>| match self.kept.get(callee) {
            Some(kept) => signatures.extend(&kept.dispatches),
            None if callee.index() < self.infos.len() => found.push(callee),
            None => {}
        };
        info.calls.iter().for_each(|callee| call(*callee, &mut signatures));
        let mut asked = Vec::new();
        while let Some(signature) = signatures.pop() {
            if !asked.contains(&signature) {
                asked.push(signature);
                let fits = self.functions.iter().filter(|(_, known)| **known == signature);
                fits.for_each(|(callee, _)| call(*callee, &mut signatures));
                let kept = self.kept.list.iter().filter(|kept| kept.points_with(signature));
                kept.for_each(|kept| signatures.extend(&kept.dispatches));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// True if a function may come to call itself.
    pub fn recurses(&self) -> bool {
        self.innermost_first().is_none()
    }

    /// The most bytes that a chain of calls takes in frames; `None` where a function may come to call itself.
    pub fn deepest(&self, frames: &HashMap<FuncId, usize>) -> Option<usize> {
        let mut deepest = vec![0; self.infos.len()];
        for (id, callees) in self.innermost_first()? {
            let inner = callees.iter().map(|callee| deepest[callee.index()]).max().unwrap_or(0);
            deepest[id.index()] = inner + frames.get(&id).copied().unwrap_or(0);
        }
        Some(deepest.into_iter().max().unwrap_or(0))
    }

    /// Its functions in post-order of the call graph, each with its callees; `None` where one may come to call itself.
    fn innermost_first(&self) -> Option<Vec<(FuncId, Vec<FuncId>)>> {
        // A function is done when all it calls is; the rest call into a cycle.
        let mut calls: Vec<Vec<FuncId>> = (0..self.infos.len()).map(|i| self.callees(FuncId::new(i))).collect();
        let mut left: Vec<usize> = calls.iter().map(Vec::len).collect();
        let mut callers: Vec<Vec<FuncId>> = vec![Vec::new(); self.infos.len()];
        for id in &self.order {
            calls[id.index()].iter().for_each(|callee| callers[callee.index()].push(*id));
        }
        let mut done: Vec<FuncId> = self.order.iter().copied().filter(|id| left[id.index()] == 0).collect();
        let mut ordered = Vec::with_capacity(self.order.len());
        while let Some(id) = done.pop() {
            ordered.push((id, std::mem::take(&mut calls[id.index()])));
            for caller in &callers[id.index()] {
                left[caller.index()] -= 1;
                if left[caller.index()] == 0 {
                    done.push(*caller);
                }
            }
        }
        (ordered.len() == self.order.len()).then_some(ordered)
    }
}

/// The plan of what to compile of a module, and of the calls between the parts; the tier says whether all kernels run
/// as fibers.
///
/// # Errors
/// A limit on code size or stack, as a diagnostic.
pub fn plan(module: &Module, kept: KeptUses, tier: Tier) -> Result<Plan> {
    let mut infos: Vec<Option<FuncInfo>> = module.functions.iter().map(|_| None).collect();
    let mut numbers = vec![None; infos.len()];
    let mut order = Vec::new();
    let mut stmts = 0;
    let starts = |f: &Function| matches!(f.kind, FuncKind::Kernel | FuncKind::Host);
    let start = module.functions.iter().enumerate().filter(|(_, f)| starts(f)).map(|(i, _)| FuncId::new(i));
    let mut work: Vec<FuncId> = start.chain(module.addressed.iter().map(|(id, _)| *id)).collect();
    work.reverse();
    while let Some(id) = work.pop() {
        let (Some(func), Some(info)) = (module.functions.get(id.index()), infos.get_mut(id.index())) else { continue };
        if info.is_some() || kept.index(id).is_some() && !kept.is_new(id) {
            continue;
        }
        check_limits(func, &mut stmts)?;
        let mut found = FuncInfo::new(module, func);
        if tier == Tier::Fibers && func.kind == FuncKind::Kernel {
            found.run_as_fibers(module, func);
        }
        work.extend(found.calls.iter().rev());
        work.extend(found.addresses.iter().map(|(id, _)| *id));
        if found.split.as_ref().is_some_and(|s| s.scratch > MAX_SCRATCH) {
            return Err(too_large(func));
        }
        *info = Some(found);
        if kept.index(id).is_none() {
            numbers[id.index()] = Some(order.len() as u32);
            order.push(id);
        }
    }
    let needs_thunk = |f: &Function| f.kind == FuncKind::Host && !is_direct(f);
    let hosts = order.iter().copied().filter(|id| needs_thunk(module.func(*id))).collect();
    let is_strided = |id: &FuncId| infos[id.index()].as_ref().is_some_and(|i: &FuncInfo| i.strided.is_some());
    let strided = order.iter().copied().filter(is_strided).collect();
    // Slots must be found by address where a function that runs meanwhile makes pointers out of integers. Kernels run no host
    // code.
    let mut linked = vec![false; infos.len()];
    for is_host in [false, true] {
        let roots = order.iter().copied().filter(|id| match module.func(*id).kind {
            FuncKind::Kernel => !is_host,
            kind => kind.is_host() && is_host,
        });
        let side = reach(&infos, roots.collect());
        let makes_pointers = |(i, info): (usize, &Option<FuncInfo>)| {
            let kept = || kept.get(FuncId::new(i)).is_some_and(|kept| kept.makes_pointers);
            side[i] && (info.as_ref().is_some_and(|info| info.makes_pointers) || kept())
        };
        if infos.iter().enumerate().any(makes_pointers) {
            linked.iter_mut().zip(&side).for_each(|(linked, there)| *linked |= there);
        }
    }
    // Kept code is made for one program and called by others.
    kept.new.iter().for_each(|(id, _)| linked[id.index()] = true);
    let mut functions = BTreeMap::new();
    let taken = order.iter().filter_map(|id| infos[id.index()].as_ref()).flat_map(|info| info.addresses.iter());
    functions.extend(module.addressed.iter().chain(taken).copied());
    Ok(Plan { infos, numbers, order, hosts, strided, linked, functions, kept, stmts })
}

/// True for each function of `work` and each that they call; the callees of known kept code are not listed.
fn reach(infos: &[Option<FuncInfo>], mut work: Vec<FuncId>) -> Vec<bool> {
    let mut seen = vec![false; infos.len()];
    while let Some(id) = work.pop() {
        let Some(seen) = seen.get_mut(id.index()) else { continue };
        if !std::mem::replace(seen, true)
            && let Some(info) = &infos[id.index()]
        {
            work.extend(&info.calls);
            work.extend(info.addresses.iter().map(|(id, _)| *id));
        }
    }
    seen
}

fn check_limits(func: &Function, stmts: &mut usize) -> Result<()> {
    let slots: u64 = func.slots.iter().map(|s| u64::from(s.size)).sum();
    if slots > stack::MAX_SLOTS {
        let message =
            format!("the local arrays of `{}` take {slots} bytes of a thread's {}", func.name, stack::MAX_SLOTS);
        let help = "pass an array from outside, or make them smaller";
        return Err(Box::new(Diagnostic::error(diagnostic::Code::StackLimit, func.span, message).help(help)));
    }
    walk(&func.body, |_, _, _| *stmts += 1);
    if *stmts > MAX_STMTS || size::is_too_entangled(func) {
        return Err(too_large(func));
    }
    Ok(())
}
