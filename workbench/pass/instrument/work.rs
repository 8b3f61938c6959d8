//! A kernel that also counts its work: operations on floats, and the bytes of its arrays that it touches.
//!
//! The counting kernel takes one more parameter, `work`, a pointer to as many `u64`s as [`Count::ALL`] has, to which every thread adds its
//! counts when it leaves; and for each pointer parameter `p` one called `p.touched`, two bytes for each element of `p` (for each byte of a
//! `void*`): the first becomes 1 when the element is read, the second when it is written.
//!
//! Sums of a thread are locals. A straight run of statements adds its counts to them once, before whatever ends it.

use super::Adder;
use crate::ir::{
    AtomicOp, BinaryOp, Block, Const, FuncId, Function, Local, MathFn, Module, Op, Param, ParamType, Scalar, Stmt,
    Stride, Type, Value,
};
use crate::pass::check_and_dump::Watch;
use crate::pass::inline;
use crate::pass::pointers::{self, Origin};
use crate::source::Span;

/// A count that the threads of a launch add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Operations on floats.
    Flops,
    /// Those of them that are math functions.
    MathFunctions,
    /// Bytes that loads from arrays ask for.
    Loaded,
    /// Bytes that stores to arrays ask for.
    Stored,
    /// Bytes of accesses through pointers that come from no parameter alone.
    Elsewhere,
}

impl Count {
    /// Every count, in the order in which the kernel keeps them.
    pub const ALL: [Count; 5] = [Count::Flops, Count::MathFunctions, Count::Loaded, Count::Stored, Count::Elsewhere];
}

/// The module in which `kernel` counts its work, and the pointer parameters whose elements are marked, by index: the `k`th has its marks in
/// the `k`th parameter after `work`. Device functions are inlined, so that their work is seen.
///
/// Handles of functions stay the same.
///
/// # Errors
/// The name of a function that is called and cannot be inlined, as it calls itself or is large.
pub fn count_work(module: &Module, kernel: FuncId) -> Result<(Module, Vec<usize>), String> {
    let mut module = module.clone();
    let watch = Watch::new(&module);
    inline::run(&mut module, &watch);
    let mut called = None;
    module.func(kernel).body.for_each_stmt(&mut |stmt| {
        if let Stmt::Call { func, .. } = stmt {
            called = Some(module.func(*func).name.clone());
        }
    });
    if let Some(name) = called {
        return Err(name);
    }
    let func = &mut module.functions[kernel.index()];
    let own = func.params.len();
    let counts = Param::new("work".to_owned(), pointer_to(Scalar::U64), func.span);
    func.params.push(counts);
    let mut params = Vec::new();
    let mut elems = vec![None; own];
    for (i, elem) in elems.iter_mut().enumerate() {
        if let ParamType::Ptr { elem: of, .. } = func.params[i].ty {
            *elem = Some((of.map_or(Scalar::U8, |of| of.bits()), params.len()));
            params.push(i);
            let name = format!("{}.touched", func.params[i].name);
            func.params.push(Param::new(name, pointer_to(Scalar::U8), func.params[i].span));
        }
    }
    let origins = pointers::origins(func, |op| match op {
        Op::Param(i) => Origin::One(Memory::Param(*i)),
        _ => Origin::One(Memory::Own),
    });
    let body = std::mem::take(&mut func.body);
    let mut out = Block::default();
    let sums = Count::ALL.map(|count| func.new_local(format!("{count:?}").to_lowercase(), Scalar::U64.into()));
    let mut add = Adder { func, out: &mut out, span: Span::NONE };
    let zero = add.op(Scalar::U64, Op::Const(Const::Int(Scalar::U64, 0)));
    for sum in sums {
        add.out.push(Stmt::Set(sum, zero), Span::NONE);
    }
    let work = add.param(own);
    let arrays = params
        .iter()
        .enumerate()
        .map(|(k, &p)| Array { base: add.param(p), touched: add.param(own + 1 + k) })
        .collect();
    let mut walk =
        Walk { func, origins, elems, arrays, sums, work, pending: [0; Count::ALL.len()], counts: Vec::new() };
    // Counts that no statement adds to stay zero and need no addition to those of the launch.
    body.for_each_stmt(&mut |stmt| walk.count(stmt));
    let ever = std::mem::take(&mut walk.pending);
    walk.counts = Count::ALL.into_iter().filter(|&count| ever[count as usize] > 0).collect();
    let mut body = walk.block(body);
    if !body.stmts.last().is_some_and(Stmt::is_terminator) {
        walk.add_up(&mut body);
    }
    out.stmts.extend(body.stmts);
    out.spans.extend(body.spans);
    func.body = out;
    Ok((module, params))
}

fn pointer_to(elem: Scalar) -> ParamType {
    ParamType::Ptr { elem: Some(elem.into()), is_const: false }
}

/// The memory that a pointer points into.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    /// The array of a parameter.
    Param(u32),
    /// A variable of the text.
    Own,
}

struct Array {
    base: Value,
    touched: Value,
}

struct Walk<'a> {
    func: &'a mut Function,
    origins: Vec<Origin<Memory>>,
    elems: Vec<Option<(Scalar, usize)>>,
    arrays: Vec<Array>,
    sums: [Local; Count::ALL.len()],
    work: Value,
    /// Counts of the statements since the sums were changed last.
    pending: [u64; Count::ALL.len()],
    /// The counts that some statement adds to.
    counts: Vec<Count>,
}

impl Walk<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::default();
        let mut ends = false;
        for (mut stmt, span) in block.stmts.into_iter().zip(block.spans) {
            self.count(&stmt);
            ends = stmt.is_terminator();
            if ends || !stmt.blocks().is_empty() {
                self.settle(&mut out);
            }
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            if matches!(stmt, Stmt::Return(_)) {
                self.add_up(&mut out);
            }
            let (read, written) = touched(self.func, &stmt);
            out.push(stmt, span);
            for (mark, access) in [(0, read), (1, written)] {
                if let Some((ptr, size)) = access {
                    self.mark(&mut out, ptr, size, mark, span);
                }
            }
        }
        if !ends {
            self.settle(&mut out);
        }
        out
    }

    /// Counts what a statement itself does.
    fn count(&mut self, stmt: &Stmt) {
        let (flops, math) = flops(self.func, stmt);
        self.pending[Count::Flops as usize] += flops;
        self.pending[Count::MathFunctions as usize] += math;
        let (read, written) = touched(self.func, stmt);
        for (count, access) in [(Count::Loaded, read), (Count::Stored, written)] {
            let Some((ptr, size)) = access else { continue };
            let count = match self.origins[ptr.index()] {
                Origin::One(Memory::Own) | Origin::Nothing => continue,
                // A struct that is passed by value is no array.
                Origin::One(Memory::Param(p)) if self.elems[p as usize].is_none() => continue,
                Origin::One(Memory::Param(_)) => count,
                Origin::Unknown => Count::Elsewhere,
            };
            self.pending[count as usize] += u64::from(size);
        }
    }

    /// Adds the pending counts to the thread's sums.
    fn settle(&mut self, out: &mut Block) {
        for (sum, pending) in self.sums.into_iter().zip(std::mem::take(&mut self.pending)) {
            if pending > 0 {
                let mut add = Adder { func: self.func, out, span: Span::NONE };
                let before = add.op(Scalar::U64, Op::Get(sum));
                let more = add.op(Scalar::U64, Op::Const(Const::Int(Scalar::U64, pending as i64)));
                let after = add.binary(BinaryOp::Add, before, more);
                add.out.push(Stmt::Set(sum, after), Span::NONE);
            }
        }
    }

    /// Adds the thread's sums to those of the launch.
    fn add_up(&mut self, out: &mut Block) {
        for &count in &self.counts {
            let sum = self.sums[count as usize];
            let mut add = Adder { func: self.func, out, span: Span::NONE };
            let index = add.op(Scalar::I64, Op::Const(Const::Int(Scalar::I64, count as i64)));
            let ptr = add.op(Type::Ptr, Op::PtrAdd { ptr: self.work, index, stride: Stride::Elem(Scalar::U64) });
            let value = add.op(Scalar::U64, Op::Get(sum));
            let atomic = Stmt::Atomic { result: None, op: AtomicOp::Add, ptr, value, compare: None };
            add.out.push(atomic, Span::NONE);
        }
    }

    /// Marks the elements of an access of `size` bytes: `mark` 0 as read, 1 as written.
    fn mark(&mut self, out: &mut Block, ptr: Value, size: u32, mark: i64, span: Span) {
        let Some(Memory::Param(param)) = self.origins[ptr.index()].one() else { return };
        let Some((elem, k)) = self.elems[param as usize] else { return };
        let Array { base, touched } = self.arrays[k];
        let mut add = Adder { func: self.func, out, span };
        let index = add.op(Scalar::I64, Op::PtrDiff(ptr, base, Stride::Elem(elem)));
        let first = add.op(Type::Ptr, Op::PtrAdd { ptr: touched, index, stride: Stride::Bytes(2) });
        let one = add.op(Scalar::U8, Op::Const(Const::Int(Scalar::U8, 1)));
        // An access that is wider than an element touches several.
        for element in 0..i64::from((size / elem.size()).max(1)) {
            let index = add.op(Scalar::I64, Op::Const(Const::Int(Scalar::I64, 2 * element + mark)));
            let at = add.op(Type::Ptr, Op::PtrAdd { ptr: first, index, stride: Stride::Elem(Scalar::U8) });
            add.out.push(Stmt::Store { ptr: at, value: one, volatile: false }, span);
        }
    }
}

/// The access that a statement reads memory by, and the one that it writes by: pointer and size in bytes.
type Access = Option<(Value, u32)>;

fn touched(func: &Function, stmt: &Stmt) -> (Access, Access) {
    match stmt {
        Stmt::Let(_, Op::Load { ptr, ty, .. }) => (Some((*ptr, ty.size())), None),
        Stmt::Store { ptr, value, .. } => (None, Some((*ptr, func.ty(*value).size()))),
        Stmt::Atomic { ptr, value, .. } => {
            let access = Some((*ptr, func.ty(*value).size()));
            (access, access)
        }
        _ => (None, None),
    }
}

/// The operations on floats that a statement does, and the math functions among them. Sums, differences, products, quotients and math functions
/// are one each, and a multiply-add is two, as profilers of GPUs count them; comparisons, conversions, signs and rounding to whole numbers are none.
fn flops(func: &Function, stmt: &Stmt) -> (u64, u64) {
    let is_float = |v: Value| func.ty(v).scalar().is_some_and(Scalar::is_float);
    match stmt {
        Stmt::Let(_, Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, a, _)) => {
            (u64::from(is_float(*a)), 0)
        }
        Stmt::Let(_, Op::Math(function, _)) => of_math(*function),
        Stmt::Atomic { op: AtomicOp::Add | AtomicOp::Sub, value, .. } => (u64::from(is_float(*value)), 0),
        _ => (0, 0),
    }
}

fn of_math(function: MathFn) -> (u64, u64) {
    use MathFn::*;
    match function {
        Fma | FmaRd | FmaRu | FmaRz => (2, 0),
        AddRn | AddRd | AddRu | AddRz | MulRn | MulRd | MulRu | MulRz | DivRd | DivRu | DivRz => (1, 0),
        Fabs | Copysign | Fmax | Fmin | Ceil | Floor | Trunc | Rint | Round | FrexpExp | FrexpMant | Ldexp | Logb
        | Nextafter => (0, 0),
        _ => (1, 1),
    }
}
