//! A kernel that also records which thread wrote each element: `check` names the thread of a mismatch.
//!
//! For every parameter `p` that is a non-const pointer to elements, the instrumented kernel takes one more, `p.writer`,
//! after the others and in their order: a pointer to as many `u64`s as `p` has elements. After every store through a
//! pointer that comes from `p` and no other memory, the elements written get the thread's number plus one (0: nobody):
//!
//! `(linear block * threads per block + linear thread) + 1`, x running fastest in both.
//!
//! Stores whose memory cannot be told from the text (pointers loaded from memory, or from one of two parameters) are left
//! alone. The last writer wins, as it does in `p` itself.

use super::Adder;
use crate::ir::{Block, Const, FuncId, Function, Module, Op, Param, ParamType, Scalar, Stmt, Stride, Type, Value};
use crate::pass::check_and_dump::Watch;
use crate::pass::inline;
use crate::pass::pointers::{self, Origin};
use crate::source::Span;

/// The thread of a record in the writer array: (block, thread), by linear index; `None` for nobody.
pub fn writer(record: u64, threads_per_block: u64) -> Option<(u64, u64)> {
    let linear = record.checked_sub(1)?;
    Some((linear.checked_div(threads_per_block)?, linear.checked_rem(threads_per_block)?))
}

/// The module in which `kernel` records its writers, with its device functions inlined so that their stores are seen; and the parameters
/// that are tracked, by index: the `k`th has its writers in the `k`th parameter added.
///
/// Handles of functions stay the same.
pub fn track_writers(module: &Module, kernel: FuncId) -> (Module, Vec<usize>) {
    let mut module = module.clone();
    let watch = Watch::new(&module);
    inline::run(&mut module, &watch);
    let func = &mut module.functions[kernel.index()];
    let first = func.params.len();
    let mut params = Vec::new();
    let mut elems = vec![None; first];
    for (i, elem) in elems.iter_mut().enumerate() {
        if let ParamType::Ptr { elem: Some(of), is_const: false } = func.params[i].ty {
            *elem = Some((of.bits(), params.len()));
            params.push(i);
            let ty = ParamType::Ptr { elem: Some(Scalar::U64.into()), is_const: false };
            let name = format!("{}.writer", func.params[i].name);
            func.params.push(Param::new(name, ty, func.params[i].span));
        }
    }
    if !params.is_empty() {
        let origins = pointers::origins(func, |op| match op {
            Op::Param(i) => Origin::One(Some(*i)),
            // Other memory counts as an origin too, so that a pointer to either is unknown.
            _ => Origin::One(None),
        });
        let body = std::mem::take(&mut func.body);
        let mut out = Block::default();
        let mut add = Adder { func, out: &mut out, span: Span::NONE };
        let id = add.thread_number();
        let tracked: Vec<Tracker> = params
            .iter()
            .enumerate()
            .map(|(k, &p)| Tracker { base: add.param(p), writers: add.param(first + k) })
            .collect();
        let mut walk = WriteWalk { func, origins, elems, tracked, id };
        let body = walk.block(body);
        out.stmts.extend(body.stmts);
        out.spans.extend(body.spans);
        func.body = out;
    }
    (module, params)
}

struct Tracker {
    base: Value,
    writers: Value,
}

struct WriteWalk<'a> {
    func: &'a mut Function,
    origins: Vec<Origin<Option<u32>>>,
    elems: Vec<Option<(Scalar, usize)>>,
    tracked: Vec<Tracker>,
    id: Value,
}

impl WriteWalk<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::default();
        for (mut stmt, span) in block.stmts.into_iter().zip(block.spans) {
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            let store = match stmt {
                Stmt::Store { ptr, value, .. } | Stmt::Atomic { ptr, value, .. } => Some((ptr, value)),
                _ => None,
            };
            out.push(stmt, span);
            if let Some((ptr, value)) = store {
                self.record(&mut out, ptr, value, span);
            }
        }
        out
    }

    fn record(&mut self, out: &mut Block, ptr: Value, value: Value, span: Span) {
        let Some(Some(param)) = self.origins[ptr.index()].one() else { return };
        let Some((elem, k)) = self.elems[param as usize] else { return };
        let size = self.func.ty(value).size();
        let Tracker { base, writers } = self.tracked[k];
        let mut add = Adder { func: self.func, out, span };
        let index = add.op(Scalar::I64, Op::PtrDiff(ptr, base, Stride::Elem(elem)));
        let mut at = add.op(Type::Ptr, Op::PtrAdd { ptr: writers, index, stride: Stride::Elem(Scalar::U64) });
        add.out.push(Stmt::Store { ptr: at, value: self.id, volatile: false }, span);
        // A store wider than an element writes several.
        for _ in 1..size / elem.size() {
            let one = add.op(Scalar::I64, Op::Const(Const::Int(Scalar::I64, 1)));
            at = add.op(Type::Ptr, Op::PtrAdd { ptr: at, index: one, stride: Stride::Elem(Scalar::U64) });
            add.out.push(Stmt::Store { ptr: at, value: self.id, volatile: false }, span);
        }
    }
}
