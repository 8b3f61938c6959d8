//! Pointers into the middle of memory. Host code may pass a kernel a pointer to anywhere in a tensor, and the kernel may access memory
//! before it as well as after it (`k<<<grid, block>>>(x + 1)` whose threads read `x[-1]`).
//!
//! Bounds are checked by one comparison of an offset with the memory's size, so offsets count from the start of the memory: each pointer
//! becomes the start of the allocation moved by an *anchor*, a number that the launch computes ([`Derived::Anchor`]) and that all threads
//! share. Only kernels that host code launches get anchors: every other launch passes arrays from their first element on.

use crate::ir::{
    Anchor, Block, Derived, Elem, FuncId, FuncKind, Function, Module, Op, Param, ParamType, Scalar, Stmt, Stride, Type,
};

/// True for each function that host code launches.
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

/// Rewrites the pointer parameters of a kernel; true if there were any.
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
