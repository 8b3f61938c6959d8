//! Pointers into the middle of memory: what a kernel is given by host code may point anywhere into a tensor, and what lies before it
//! belongs to the kernel as much as what follows (`k<<<grid, block>>>(x + 1)` whose threads read `x[-1]`).
//!
//! Bounds are checked as one comparison of an offset with the memory's size, so offsets count from where the memory starts: each pointer
//! becomes the allocation's start moved by an *anchor*, a number that the launch works out ([`Derived::Anchor`]) and that threads share.
//! Only kernels that host code launches get them: what anybody else passes is an array from its first element on.

use crate::ir::{
    Anchor, Block, Derived, Elem, FuncId, FuncKind, Function, Module, Op, Param, ParamType, Scalar, Stmt, Stride, Type,
};

/// For each function, whether host code launches it.
pub fn launched(module: &Module) -> Vec<bool> {
    let mut launched = vec![false; module.functions.len()];
    let mut note = |kernel: FuncId| launched[kernel.index()] = true;
    for func in module.functions.iter().filter(|f| f.kind != FuncKind::Kernel) {
        func.body.for_each_stmt(&mut |stmt| {
            if let Stmt::Launch { kernel, .. } = stmt {
                note(*kernel);
            }
        });
    }
    launched
}

/// Rewrites the pointers that a kernel is given; whether there were any.
pub fn run(func: &mut Function) -> bool {
    let mut used = vec![false; func.params.len()];
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Let(_, Op::Param(i)) = stmt {
            used[*i as usize] = true;
        }
    });
    let mut anchors: Vec<Option<(u32, Stride)>> = vec![None; func.params.len()];
    for (param, used) in used.into_iter().enumerate() {
        let ParamType::Ptr { elem, .. } = func.params[param].ty else { continue };
        if used {
            // The pointee of a `void` pointer is unknown, and so is its alignment.
            let unit = elem.map_or(1, Elem::size);
            let (stride, anchor) = (Stride::Bytes(unit), Anchor { param: param as u32, unit });
            let (name, span) = (format!("{}.anchor", func.params[param].name), func.params[param].span);
            anchors[param] = Some((func.params.len() as u32, stride));
            let ty = ParamType::Scalar(Scalar::I64);
            func.params.push(Param { derived: Some(Derived::Anchor(anchor)), ..Param::new(name, ty, span) });
        }
    }
    if anchors.iter().all(Option::is_none) {
        return false;
    }
    let body = std::mem::take(&mut func.body);
    func.body = rewrite(func, &anchors, body);
    true
}

fn rewrite(func: &mut Function, anchors: &[Option<(u32, Stride)>], block: Block) -> Block {
    let mut out = Block::default();
    for (mut stmt, span) in block.stmts.into_iter().zip(block.spans) {
        stmt.blocks_mut().into_iter().for_each(|inner| *inner = rewrite(func, anchors, std::mem::take(inner)));
        if let Stmt::Let(v, op @ Op::Param(_)) = &mut stmt
            && let Op::Param(param) = *op
            && let Some((anchor, stride)) = anchors[param as usize]
        {
            let at = func.values[v.index()].span;
            let (start, index) = (func.new_value(Type::Ptr, at), func.new_value(Scalar::I64.into(), at));
            *op = Op::PtrAdd { ptr: start, index, stride };
            out.push(Stmt::Let(start, Op::Param(param)), span);
            out.push(Stmt::Let(index, Op::Param(anchor)), span);
        }
        out.push(stmt, span);
    }
    out
}
