//! Parameters whose memory a kernel writes, as far as its text tells.

use super::check_and_dump::Watch;
use super::inline;
use super::pointers::{self, Origin};
use crate::ir::{Block, FuncId, Module, Op, Stmt};
use crate::source::Span;

/// The pointer parameters that a kernel writes through, by index, each with the first place in the text that does so. A pointer that may
/// come from other memory as well does not count.
pub fn written_params(module: &Module, kernel: FuncId) -> Vec<(usize, Span)> {
    let mut module = module.clone();
    let watch = Watch::new(&module);
    inline::run(&mut module, &watch);
    let func = &module.functions[kernel.index()];
    let origins = pointers::origins(func, |op| match op {
        Op::Param(i) => Origin::One(Some(*i as usize)),
        _ => Origin::One(None),
    });
    let mut found = Vec::new();
    collect(&func.body, &origins, &mut found);
    found
}

fn collect(block: &Block, origins: &[Origin<Option<usize>>], found: &mut Vec<(usize, Span)>) {
    for (stmt, span) in block.iter() {
        if let Stmt::Store { ptr, .. } | Stmt::Atomic { ptr, .. } = stmt
            && let Some(Some(param)) = origins[ptr.index()].one()
            && !found.iter().any(|(known, _)| *known == param)
        {
            found.push((param, span));
        }
        stmt.blocks().into_iter().for_each(|inner| collect(inner, origins, found));
    }
}
