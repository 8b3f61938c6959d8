//! Limits on the code generator's work on a function.
//!
//! Parts of it take time that grows with the square of a function: its optimiser walks the chain of blocks that dominate
//! one another, and every check begins a block; its register allocator looks at each value in each block that the value is
//! alive in. Functions that a person writes are far too small for that to show. Larger ones are optimised less, and those
//! that would take seconds are refused, so that compiling always ends soon.
//!
//! At most 64 checks share one exit block. Functions past [`MAX_OPTIMISED_BLOCKS`] blocks or [`MAX_OPTIMISED_VALUES`] values are not
//! optimised; functions past [`MAX_BLOCKS`] blocks or [`MAX_LIVE`] pairs of value and block are refused as too large. Every other stage
//! takes time linear in the text, so compile time is linear but for one huge function, where it is bounded.

use cranelift_codegen::ir as clif;

use crate::back::cpu::facts::roots::walk;
use crate::back::cpu::isa::Effort;
use crate::ir::{Function, Local, Op, Stmt};

/// Most basic blocks of a function that is optimised in full.
const MAX_OPTIMISED_BLOCKS: usize = 8_000;
/// Most values of a function that is optimised in full.
const MAX_OPTIMISED_VALUES: usize = 30_000;
/// Most basic blocks of a function.
const MAX_BLOCKS: usize = 65_536;
/// Most pairs of a value and a block that it is alive in.
const MAX_LIVE: u64 = 1 << 23;
/// Functions of fewer blocks cannot come near [`MAX_LIVE`] without passing [`MAX_OPTIMISED_VALUES`] first.
const SMALL: usize = 256;

/// The effort that a function is worth; `None` when it is too large to compile.
pub fn effort(func: &clif::Function) -> Option<Effort> {
    let (blocks, values) = (func.dfg.num_blocks(), func.dfg.num_values());
    let small = blocks < SMALL && values <= MAX_OPTIMISED_VALUES;
    if blocks > MAX_BLOCKS || (!small && live(func) > MAX_LIVE) {
        return None;
    }
    Some(if blocks > MAX_OPTIMISED_BLOCKS || values > MAX_OPTIMISED_VALUES { Effort::Reduced } else { Effort::Full })
}

/// True if a function has too many locals that live too long, so that merely finding their values at every block would
/// take too long: the estimate of [`live`], made before there are blocks.
pub fn is_too_entangled(func: &Function) -> bool {
    let mut spans: Vec<Option<(u32, u32)>> = vec![None; func.locals.len()];
    let mut blocks = 0u32;
    let mut mention = |local: Local, at: u32| {
        if let Some(span) = spans.get_mut(local.index()) {
            *span = Some((span.map_or(at, |(first, _)| first), at));
        }
    };
    walk(&func.body, |stmt, _, _| match stmt {
        Stmt::Let(_, Op::Get(local)) => mention(*local, blocks),
        Stmt::Set(local, _) => mention(*local, blocks),
        Stmt::Let(_, Op::Load { .. })
        | Stmt::Store { .. }
        | Stmt::Call { .. }
        | Stmt::Dispatch(_)
        | Stmt::Service { .. }
        | Stmt::Launch { .. } => {
            blocks += 1;
        }
        Stmt::If { .. } | Stmt::Loop { .. } | Stmt::Switch { .. } | Stmt::Scope { .. } => blocks += 1,
        _ => {}
    });
    let total = spans.iter().flatten().fold(0u64, |sum, (first, last)| sum.saturating_add(u64::from(last - first)));
    total > MAX_LIVE
}

/// An estimate, in linear time, of the pairs of a value and a block that it is alive in: the blocks from its definition to
/// its last use in layout order.
fn live(func: &clif::Function) -> u64 {
    // Number 0 belongs to no block.
    let mut defined = vec![0u32; func.dfg.num_values()];
    let mut total = 0u64;
    let mut last = defined.clone();
    for (number, block) in (1u32..).zip(func.layout.blocks()) {
        for value in func.dfg.block_params(block) {
            defined[value.as_u32() as usize] = number;
        }
        for inst in func.layout.block_insts(block) {
            for value in func.dfg.inst_results(inst) {
                defined[value.as_u32() as usize] = number;
            }
            for value in func.dfg.inst_values(inst) {
                last[func.dfg.resolve_aliases(value).as_u32() as usize] = number;
            }
        }
    }
    for (defined, last) in defined.iter().zip(&last) {
        total = total.saturating_add(u64::from(last.saturating_sub(*defined)));
    }
    total
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use crate::diagnostic::Code;
    use crate::front::{self, Options};
    use crate::source::SourceMap;

    /// The code of the error that compiling a body's text ends in.
    fn outcome(body: &str) -> Option<Code> {
        let text = format!("__global__ void f(float* x, const int* y, int n) {{\nint acc = n;\n{body}\n}}");
        let mut sources = SourceMap::new();
        let (mut module, diags) = front::compile(&mut sources, "f.cu", &text, &Options::default());
        assert!(diags.iter().all(|d| !d.is_error()), "{diags:?}");
        crate::pass::prepare_for_cpu(&mut module);
        crate::back::cpu::Code::compile(&module, None, crate::back::cpu::Tier::Auto, None)
            .err()
            .map(|diags| diags[0].code)
    }

    #[test]
    fn checks_beyond_counting_are_refused_and_a_few_thousand_are_not() {
        let body = |n: usize| (0..n).map(|k| format!("x[y[{k}]] = {k};\n")).collect::<String>();
        assert_eq!(outcome(&body(5_000)), None);
        assert_eq!(outcome(&body(40_000)), Some(Code::CodeLimit));
    }

    #[test]
    fn thousands_of_variables_alive_over_thousands_of_blocks_are_refused() {
        let body = |n: usize| {
            let mut text = String::new();
            for k in 0..n {
                let _ = writeln!(text, "int v{k} = acc * {k}; if (y[{k}] > {k}) v{k} += acc;");
            }
            for k in 0..n {
                let _ = writeln!(text, "acc += v{k};");
            }
            text + "x[0] = acc;"
        };
        assert_eq!(outcome(&body(200)), None);
        assert_eq!(outcome(&body(6_000)), Some(Code::CodeLimit));
    }
}
