//! Tests of the passes: their results for small functions, as text; every result is checked to be valid.

use expect_test::{Expect, expect};

use super::uniformity::Shape;
use super::*;
use crate::ir::testing::{Builder, pointer};
use crate::ir::*;
use crate::source::Span;
use crate::valid::validate;

const I32: Type = Type::Scalar(Scalar::I32);
const N: (&str, ParamType) = ("n", ParamType::Scalar(Scalar::I32));

fn check(module: &Module, expected: &Expect) {
    assert_eq!(validate(module), [], "{module}");
    expected.assert_eq(&module.to_string());
}

fn folded(mut module: Module, expected: &Expect) {
    assert_eq!(validate(&module), [], "{module}");
    fold::run(&mut module.functions[0]);
    check(&module, expected);
}

fn inlined(mut module: Module, expected: &Expect) {
    assert_eq!(validate(&module), [], "{module}");
    let watch = Watch::new(&module);
    inline::run(&mut module, &watch);
    module.functions.drain(..module.functions.len() - 1);
    expected.assert_eq(&module.to_string());
}

/// A device function `i32 (i32 a)`.
fn device(fill: impl FnOnce(&mut Builder, Value)) -> Function {
    let (mut b, p) = Builder::new(FuncKind::Device, &[("a", ParamType::Scalar(Scalar::I32))]);
    b.func.ret = Some(I32);
    fill(&mut b, p[0]);
    b.finish()
}

/// A kernel that stores `f0(n)` to `out[0]`, `times` times.
fn caller(callee: Function, times: usize) -> Module {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    for _ in 0..times {
        let result = b.func.new_value(I32, Span::NONE);
        b.stmt(Stmt::Call { result: Some(result), func: FuncId::new(0), args: vec![p[0]], raised: None });
        b.store(p[1], result);
    }
    Module { functions: vec![callee, b.finish()], ..Module::default() }
}

#[test]
fn a_callee_with_one_return_is_pasted() {
    let callee = device(|b, a| {
        let sum = b.binary(BinaryOp::Add, a, a);
        b.stmt(Stmt::Return(Some(sum)));
    });
    inlined(
        caller(callee, 2),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          v0: i32 = param 0
          v1: ptr = param 1
          v5: i32 = add v0, v0
          store v1, v5
          v7: i32 = add v0, v0
          store v1, v7
        }
    "#]],
    );
}

#[test]
fn early_returns_break_out_of_a_scope_and_slots_are_shared() {
    let callee = device(|b, a| {
        let slot = b.func.new_slot(SlotData { name: "t".into(), size: 4, align: 4, elem: Some(Scalar::I32) });
        let at = b.op(Type::Ptr, Op::SlotAddr(slot));
        b.store(at, a);
        let zero = b.i32(0);
        let negative = b.compare(CompareOp::Lt, a, zero);
        b.if_then(negative, |b| b.stmt(Stmt::Return(Some(zero))));
        b.stmt(Stmt::Return(Some(a)));
    });
    inlined(
        caller(callee, 2),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          local l0 test.result: i32
          local l1 test.result: i32
          slot s0 t: 4 bytes, align 4, i32
          v0: i32 = param 0
          v1: ptr = param 1
          b0: scope {
            v5: ptr = addr s0
            store v5, v0
            v6: i32 = 0i32
            v7: bool = lt v0, v6
            if v7 {
              l0 = v6
              break b0
            }
            l0 = v0
          }
          v2: i32 = get l0
          store v1, v2
          b1: scope {
            v9: ptr = addr s0
            store v9, v0
            v10: i32 = 0i32
            v11: bool = lt v0, v10
            if v11 {
              l1 = v10
              break b1
            }
            l1 = v0
          }
          v3: i32 = get l1
          store v1, v3
        }
    "#]],
    );
}

#[test]
fn recursion_is_left_as_a_call() {
    let callee = device(|b, a| {
        let result = b.func.new_value(I32, Span::NONE);
        b.stmt(Stmt::Call { result: Some(result), func: FuncId::new(0), args: vec![a], raised: None });
        b.stmt(Stmt::Return(Some(result)));
    });
    inlined(
        caller(callee, 1),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          v0: i32 = param 0
          v1: ptr = param 1
          v2: i32 = call f0(v0)
          store v1, v2
        }
    "#]],
    );
}

#[test]
fn call_trees_that_double_stay_bounded() {
    let mut functions = vec![device(|b, a| {
        let sum = b.binary(BinaryOp::Add, a, a);
        b.stmt(Stmt::Return(Some(sum)));
    })];
    for level in 0..40 {
        functions.push(device(|b, a| {
            let mut v = a;
            for _ in 0..2 {
                let result = b.func.new_value(I32, Span::NONE);
                b.stmt(Stmt::Call { result: Some(result), func: FuncId::new(level), args: vec![v], raised: None });
                v = result;
            }
            b.stmt(Stmt::Return(Some(v)));
        }));
    }
    let mut module = Module { functions, ..Module::default() };
    prepare_for_cpu(&mut module);
    assert_eq!(validate(&module), []);
    assert!(module.functions.iter().map(|f| f.body.count()).sum::<usize>() < 300_000);
}

#[test]
fn constants_copies_and_dead_code_go() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    let two = b.i32(2);
    let three = b.i32(3);
    let six = b.binary(BinaryOp::Mul, two, three);
    let zero = b.binary(BinaryOp::Sub, six, six);
    let same = b.binary(BinaryOp::Add, p[0], zero);
    let truth = b.compare(CompareOp::Lt, same, six);
    let wide = b.op(I32, Op::Convert(Scalar::I32, truth));
    let cond = b.compare(CompareOp::Ne, wide, zero);
    let at = b.at(p[1], zero, Scalar::I32);
    b.if_then(cond, |b| b.store(at, six));
    b.binary(BinaryOp::Mul, p[0], p[0]);
    folded(
        b.module(),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          v0: i32 = param 0
          v1: ptr = param 1
          v4: i32 = 6i32
          v7: bool = lt v0, v4
          if v7 {
            store v1, v4
          }
        }
    "#]],
    );
}

/// The number of ops of that name left after folding.
fn left_after_folding(module: &Module, op: &str) -> usize {
    let mut module = module.clone();
    fold::run(&mut module.functions[0]);
    assert_eq!(validate(&module), [], "{module}");
    module.to_string().matches(&format!("= {op} ")).count()
}

#[test]
fn what_was_computed_before_is_not_computed_again() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    let zero = b.i32(0);
    let cond = b.compare(CompareOp::Lt, p[0], zero);
    let product = |b: &mut Builder| {
        let square = b.binary(BinaryOp::Mul, p[0], p[0]);
        b.store(p[1], square);
    };
    let sum = |b: &mut Builder| {
        // Two equal constants make the same sum.
        let seven = b.i32(7);
        let sum = b.binary(BinaryOp::Add, p[0], seven);
        b.store(p[1], sum);
    };
    product(&mut b);
    product(&mut b);
    b.if_then(cond, |b| {
        product(b);
        sum(b);
        sum(b);
    });
    // The branch may not have been taken.
    sum(&mut b);
    let rest = b.binary(BinaryOp::Rem, p[0], p[0]);
    b.store(p[1], rest);
    let again = b.binary(BinaryOp::Rem, p[0], p[0]);
    b.store(p[1], again);
    let module = b.module();
    assert_eq!([left_after_folding(&module, "mul"), left_after_folding(&module, "add")], [1, 2]);
    assert_eq!(left_after_folding(&module, "rem"), 1, "the first one faulted, or the second cannot");
}

#[test]
fn what_looks_alike_and_is_not_stays() {
    let f32 = Type::Scalar(Scalar::F32);
    let (mut b, p) =
        Builder::new(FuncKind::Kernel, &[("x", ParamType::Scalar(Scalar::F32)), ("out", pointer(Scalar::F32))]);
    for zero in [0.0, -0.0] {
        let zero = b.constant(Const::F32(zero));
        let product = b.binary(BinaryOp::Mul, p[0], zero);
        b.store(p[1], product);
    }
    // The place of each access is its own.
    for _ in 0..2 {
        let read = b.load(p[1], f32);
        let one = b.i32(1);
        let at = b.at(p[1], one, Scalar::F32);
        b.store(at, read);
    }
    let module = b.module();
    assert_eq!([left_after_folding(&module, "mul"), left_after_folding(&module, "load")], [2, 2], "{module}");
    assert_eq!(left_after_folding(&module, "ptr_add"), 2, "{module}");
}

#[test]
fn what_may_fault_stays() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    let (one, zero, seven) = (b.i32(1), b.i32(0), b.i32(7));
    b.binary(BinaryOp::Div, one, zero);
    b.binary(BinaryOp::Rem, one, p[0]);
    b.binary(BinaryOp::Div, p[0], seven);
    b.load(p[1], I32);
    folded(
        b.module(),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          v0: i32 = param 0
          v1: ptr = param 1
          v2: i32 = 1i32
          v3: i32 = 0i32
          v5: i32 = div v2, v3
          v6: i32 = rem v2, v0
          v8: i32 = load v1
        }
    "#]],
    );
}

#[test]
fn branches_on_constants_take_their_side() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    let (no, two) = (b.constant(Const::Bool(false)), b.i32(2));
    b.if_then(no, |b| b.stmt(Stmt::Trap));
    let label = b.func.new_label();
    let case = |values, body, falls_through| Case { values, default: false, body, falls_through };
    let skipped = b.block(|b| b.stmt(Stmt::Trap));
    let first = b.block(|b| b.store(p[1], two));
    let second = b.block(|b| {
        b.store(p[1], p[0]);
        b.stmt(Stmt::Break(label));
        b.stmt(Stmt::Trap);
    });
    let cases = vec![case(vec![1], skipped, false), case(vec![2], first, true), case(vec![3], second, false)];
    b.stmt(Stmt::Switch { label, value: two, cases });
    b.stmt(Stmt::Return(None));
    b.stmt(Stmt::Trap);
    folded(
        b.module(),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          v0: i32 = param 0
          v1: ptr = param 1
          v3: i32 = 2i32
          store v1, v3
          store v1, v0
        }
    "#]],
    );
}

#[test]
fn locals_are_forwarded_until_a_construct_sets_them() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    let (kept, looped) = (b.func.new_local("kept", I32), b.func.new_local("looped", I32));
    let zero = b.i32(0);
    b.stmt(Stmt::Set(kept, p[0]));
    b.stmt(Stmt::Set(looped, zero));
    let label = b.func.new_label();
    let body = b.block(|b| {
        let (i, n) = (b.op(I32, Op::Get(looped)), b.op(I32, Op::Get(kept)));
        let done = b.compare(CompareOp::Ge, i, n);
        b.if_then(done, |b| b.stmt(Stmt::Break(label)));
    });
    let step = b.block(|b| {
        let (i, one) = (b.op(I32, Op::Get(looped)), b.i32(1));
        let next = b.binary(BinaryOp::Add, i, one);
        b.stmt(Stmt::Set(looped, next));
    });
    b.stmt(Stmt::Loop { label, body, step });
    let (i, n) = (b.op(I32, Op::Get(looped)), b.op(I32, Op::Get(kept)));
    let sum = b.binary(BinaryOp::Add, i, n);
    b.store(p[1], sum);
    folded(
        b.module(),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          local l0 kept: i32
          local l1 looped: i32
          v0: i32 = param 0
          v1: ptr = param 1
          v2: i32 = 0i32
          l1 = v2
          b0: loop {
            v3: i32 = get l1
            v5: bool = ge v3, v0
            if v5 {
              break b0
            }
          } step {
            v6: i32 = get l1
            v7: i32 = 1i32
            v8: i32 = add v6, v7
            l1 = v8
          }
          v9: i32 = get l1
          v11: i32 = add v9, v0
          store v1, v11
        }
    "#]],
    );
}

#[test]
fn a_local_set_before_a_jump_is_forgotten_where_it_lands() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    let local = b.func.new_local("x", I32);
    let (one, two) = (b.i32(1), b.i32(2));
    b.stmt(Stmt::Set(local, one));
    let label = b.func.new_label();
    let body = b.block(|b| {
        let cond = b.compare(CompareOp::Lt, p[0], one);
        b.if_then(cond, |b| {
            b.stmt(Stmt::Set(local, two));
            b.stmt(Stmt::Break(label));
        });
        // Here it is 1 for certain.
        let x = b.op(I32, Op::Get(local));
        b.store(p[1], x);
    });
    b.stmt(Stmt::Scope { label, body });
    let x = b.op(I32, Op::Get(local));
    b.store(p[1], x);
    folded(
        b.module(),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          local l0 x: i32
          v0: i32 = param 0
          v1: ptr = param 1
          v2: i32 = 1i32
          v3: i32 = 2i32
          l0 = v2
          b0: scope {
            v4: bool = lt v0, v2
            if v4 {
              l0 = v3
              break b0
            }
            store v1, v2
          }
          v6: i32 = get l0
          store v1, v6
        }
    "#]],
    );
}

#[test]
fn small_ifs_become_selections() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N, ("out", pointer(Scalar::I32))]);
    let local = b.func.new_local("x", I32);
    let zero = b.i32(0);
    let cond = b.compare(CompareOp::Lt, p[0], zero);
    let then = b.block(|b| {
        let negated = b.op(I32, Op::Unary(UnaryOp::Neg, p[0]));
        b.stmt(Stmt::Set(local, negated));
    });
    let els = b.block(|b| b.stmt(Stmt::Set(local, p[0])));
    b.stmt(Stmt::If { cond, then, els });
    let then = b.block(|b| {
        let loaded = b.load(p[1], I32);
        b.stmt(Stmt::Set(local, loaded));
    });
    // The load may fault where its side is not taken: it stays.
    b.stmt(Stmt::If { cond, then, els: Block::default() });
    let x = b.op(I32, Op::Get(local));
    b.store(p[1], x);
    folded(
        b.module(),
        &expect![[r#"
        kernel f0 test(n: i32, out: ptr i32) {
          local l0 x: i32
          v0: i32 = param 0
          v1: ptr = param 1
          v2: i32 = 0i32
          v3: bool = lt v0, v2
          v4: i32 = neg v0
          v7: i32 = select v3, v4, v0
          l0 = v7
          if v3 {
            v5: i32 = load v1
            l0 = v5
          }
          v6: i32 = get l0
          store v1, v6
        }
    "#]],
    );
}

#[test]
fn global_indices_are_affine() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[("x", pointer(Scalar::F32))]);
    let builtin = |b: &mut Builder, which| b.op(Scalar::U32, Op::Builtin(which));
    let (block, dim) = (builtin(&mut b, Builtin::BlockIdx(0)), builtin(&mut b, Builtin::BlockDim(0)));
    let (tid, tid_y) = (builtin(&mut b, Builtin::ThreadIdx(0)), builtin(&mut b, Builtin::ThreadIdx(1)));
    let base = b.binary(BinaryOp::Mul, block, dim);
    let i = b.binary(BinaryOp::Add, base, tid);
    let wide_base = b.op(Scalar::I64, Op::Convert(Scalar::I64, base));
    let wide_tid = b.op(Scalar::I64, Op::Convert(Scalar::I64, tid));
    let wide = b.binary(BinaryOp::Add, wide_base, wide_tid);
    let at = b.op(Type::Ptr, Op::PtrAdd { ptr: p[0], index: wide, stride: Stride::Elem(Scalar::F32) });
    let wrapped = b.op(Scalar::I64, Op::Convert(Scalar::I64, i));
    let three = b.constant(Const::Int(Scalar::U32, 3));
    let scaled = b.binary(BinaryOp::Mul, three, tid);
    let two_dims = b.binary(BinaryOp::Add, tid_y, tid);
    let read = b.load(at, Scalar::F32);
    let func = b.finish();
    let found = uniformity::analyze(&Module::default(), &func);
    let affine = |stride, exact| Shape::Affine { stride, exact };
    assert_eq!(found.value(base), Shape::Uniform);
    assert_eq!(found.value(i), affine(1, false));
    assert_eq!(found.value(wrapped), Shape::Varying);
    assert_eq!(found.value(wide), affine(1, true));
    assert_eq!(found.value(at), affine(4, true));
    assert_eq!(found.value(scaled), affine(3, true));
    assert_eq!(found.value(two_dims), Shape::Varying);
    assert_eq!(found.value(read), Shape::Varying);
}

#[test]
fn locals_vary_with_who_sets_them() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N]);
    let [uniform, varying, counter, after] = ["u", "v", "c", "a"].map(|name| b.func.new_local(name, I32));
    let tid = b.op(Scalar::U32, Op::Builtin(Builtin::ThreadIdx(0)));
    let tid = b.op(I32, Op::Convert(Scalar::I32, tid));
    let cond = b.compare(CompareOp::Lt, tid, p[0]);
    b.if_then(cond, |b| b.stmt(Stmt::Return(None)));
    b.stmt(Stmt::Set(uniform, p[0]));
    b.if_then(cond, |b| b.stmt(Stmt::Set(varying, p[0])));
    b.stmt(Stmt::Set(counter, p[0]));
    let (even, odd) = (b.func.new_label(), b.func.new_label());
    let body = b.block(|b| {
        let (c, one) = (b.op(I32, Op::Get(counter)), b.i32(1));
        let next = b.binary(BinaryOp::Sub, c, one);
        b.stmt(Stmt::Set(counter, next));
        let done = b.compare(CompareOp::Le, next, one);
        b.if_then(done, |b| b.stmt(Stmt::Break(even)));
    });
    b.stmt(Stmt::Loop { label: even, body, step: Block::default() });
    let body = b.block(|b| {
        b.if_then(cond, |b| b.stmt(Stmt::Break(odd)));
        b.stmt(Stmt::Set(after, p[0]));
    });
    b.stmt(Stmt::Loop { label: odd, body, step: Block::default() });
    let found = uniformity::analyze(&Module::default(), &b.finish());
    assert_eq!(found.local(uniform), Shape::Uniform);
    assert_eq!(found.local(varying), Shape::Varying);
    assert_eq!(found.local(counter), Shape::Uniform);
    assert_eq!(found.local(after), Shape::Varying);
    assert!(found.leaves_together(even) && !found.leaves_together(odd));
    assert_eq!(found.value(tid), Shape::Affine { stride: 1, exact: true });
}

#[test]
fn long_chains_of_locals_end_in_varying() {
    let (mut b, _) = Builder::new(FuncKind::Kernel, &[]);
    let locals: Vec<Local> = (0..100).map(|_| b.func.new_local("l", Type::Scalar(Scalar::U32))).collect();
    let tid = b.op(Scalar::U32, Op::Builtin(Builtin::ThreadIdx(1)));
    let label = b.func.new_label();
    let body = b.block(|b| {
        for pair in locals.windows(2) {
            let v = b.op(Scalar::U32, Op::Get(pair[1]));
            b.stmt(Stmt::Set(pair[0], v));
        }
        b.stmt(Stmt::Set(locals[99], tid));
    });
    b.stmt(Stmt::Loop { label, body, step: Block::default() });
    let found = uniformity::analyze(&Module::default(), &b.finish());
    assert!(locals.iter().all(|&l| found.local(l) == Shape::Varying));
}

#[test]
fn barriers_cut_the_top_level_into_regions() {
    use regions::Node;
    let barrier = Stmt::Barrier(Scope::Block);
    let split = |func: &Function| {
        regions::split(func, &regions::Splits::new(func), &uniformity::analyze(&Module::default(), func))
    };
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N]);
    b.stmt(barrier.clone());
    let x = b.binary(BinaryOp::Add, p[0], p[0]);
    b.binary(BinaryOp::Add, x, x);
    let found = split(&b.finish());
    assert_eq!(found.body.nodes, [Node::Region(0..1), Node::Barrier(1), Node::Region(2..4)]);
    assert!(!found.is_whole());

    // A condition that holds a barrier is a node; one that does not is part of a region.
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N]);
    let many = b.compare(CompareOp::Lt, p[0], p[0]);
    b.if_then(many, |b| b.stmt(barrier.clone()));
    b.if_then(many, |b| b.stmt(Stmt::Fence));
    let found = split(&b.finish());
    let then = regions::Sequence { nodes: vec![Node::Barrier(0)] };
    let nodes = [Node::Region(0..2), Node::If { stmt: 2, then, els: regions::Sequence::default() }, Node::Region(3..4)];
    assert_eq!(found.body.nodes, nodes);
}

#[test]
fn a_switch_with_a_barrier_becomes_a_chain() {
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[N]);
    let label = b.func.new_label();
    let with = b.block(|b| b.stmt(Stmt::Barrier(Scope::Block)));
    let cases = vec![
        Case { values: vec![1, 2], default: false, body: with, falls_through: true },
        Case { values: vec![], default: true, body: Block::default(), falls_through: false },
    ];
    b.stmt(Stmt::Switch { label, value: p[0], cases });
    let mut module = b.module();
    regions::unswitch(&mut module.functions[0]);
    assert!(validate(&module).is_empty(), "{module}");
    let text = module.to_string();
    assert!(text.contains("scope") && !text.contains("switch"), "{text}");
}

#[test]
fn stores_record_their_thread() {
    let input = ParamType::Ptr { elem: Some(Scalar::F32.into()), is_const: true };
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[("a", input), ("out", pointer(Scalar::F32)), N]);
    let local = b.func.new_local("p", Type::Ptr);
    let at = b.at(p[1], p[2], Scalar::F32);
    b.stmt(Stmt::Set(local, at));
    let moved = b.op(Type::Ptr, Op::Get(local));
    let read = b.load(p[0], Scalar::F32);
    b.store(moved, read);
    let (module, tracked) = instrument::writers::track_writers(&b.module(), FuncId::new(0));
    assert_eq!(tracked, [1]);
    check(
        &module,
        &expect![[r#"
        kernel f0 test(a: ptr const f32, out: ptr f32, n: i32, out.writer: ptr u64) {
          local l0 p: ptr
          v7: u32 = block_idx.z
          v8: u64 = convert v7
          v9: u32 = grid_dim.y
          v10: u64 = convert v9
          v11: u32 = block_idx.y
          v12: u64 = convert v11
          v13: u64 = mul v8, v10
          v14: u64 = add v13, v12
          v15: u32 = grid_dim.x
          v16: u64 = convert v15
          v17: u32 = block_idx.x
          v18: u64 = convert v17
          v19: u64 = mul v14, v16
          v20: u64 = add v19, v18
          v21: u32 = block_dim.x
          v22: u64 = convert v21
          v23: u64 = mul v20, v22
          v24: u32 = block_dim.y
          v25: u64 = convert v24
          v26: u64 = mul v23, v25
          v27: u32 = block_dim.z
          v28: u64 = convert v27
          v29: u64 = mul v26, v28
          v30: u32 = thread_idx.z
          v31: u64 = convert v30
          v32: u32 = block_dim.y
          v33: u64 = convert v32
          v34: u32 = thread_idx.y
          v35: u64 = convert v34
          v36: u64 = mul v31, v33
          v37: u64 = add v36, v35
          v38: u32 = block_dim.x
          v39: u64 = convert v38
          v40: u32 = thread_idx.x
          v41: u64 = convert v40
          v42: u64 = mul v37, v39
          v43: u64 = add v42, v41
          v44: u64 = 1u64
          v45: u64 = add v29, v43
          v46: u64 = add v45, v44
          v47: ptr = param 1
          v48: ptr = param 3
          v0: ptr = param 0
          v1: ptr = param 1
          v2: i32 = param 2
          v3: i64 = convert v2
          v4: ptr = ptr_add v1, v3 * f32
          l0 = v4
          v5: ptr = get l0
          v6: f32 = load v0
          store v5, v6
          v49: i64 = ptr_diff v5, v47 / f32
          v50: ptr = ptr_add v48, v49 * u64
          store v50, v46
        }
    "#]],
    );
    assert_eq!(instrument::writers::writer(0, 256), None);
    assert_eq!(instrument::writers::writer(256 + 5 + 1, 256), Some((1, 5)));
}

#[test]
fn stores_through_a_pointer_of_unknown_origin_are_left_alone() {
    let out = pointer(Scalar::F32);
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[("a", out), ("b", out), N]);
    let cond = b.compare(CompareOp::Lt, p[2], p[2]);
    let either = b.op(Type::Ptr, Op::Select(cond, p[0], p[1]));
    let one = b.constant(Const::F32(1.0));
    b.store(either, one);
    let (module, tracked) = instrument::writers::track_writers(&b.module(), FuncId::new(0));
    let mut stores = 0;
    module.functions[0].body.for_each_stmt(&mut |s| stores += usize::from(matches!(s, Stmt::Store { .. })));
    assert_eq!((stores, tracked), (1, vec![0, 1]));
}

#[test]
fn a_float_kernel_widens() {
    let (mut b, p) =
        Builder::new(FuncKind::Kernel, &[("x", pointer(Scalar::F32)), N, ("a", ParamType::Scalar(Scalar::F32))]);
    let slot = b.func.new_slot(SlotData { name: "t".into(), size: 32, align: 4, elem: Some(Scalar::F32) });
    let local = b.func.new_local("sum", Scalar::F32.into());
    let at = b.at(p[0], p[1], Scalar::F32);
    let read = b.load(at, Scalar::F32);
    let half = b.constant(Const::F32(0.5));
    let scaled = b.binary(BinaryOp::Mul, read, half);
    b.stmt(Stmt::Set(local, scaled));
    let rows = b.op(Type::Ptr, Op::SlotAddr(slot));
    let one = b.constant(Const::Int(Scalar::I64, 1));
    let row = b.op(Type::Ptr, Op::PtrAdd { ptr: rows, index: one, stride: Stride::Bytes(16) });
    b.store(row, p[2]);
    let wide = b.op(Scalar::F64, Op::Convert(Scalar::F64, scaled));
    b.op(Scalar::F64, Op::Math(MathFn::Exp, vec![wide]));
    let module = widen::widen(&b.module(), FuncId::new(0)).expect("nothing is punned");
    check(
        &module,
        &expect![[r#"
        kernel f0 test(x: ptr f64, n: i32, a: f64) {
          local l0 sum: f64
          slot s0 t: 64 bytes, align 8, f64
          v0: ptr = param 0
          v1: i32 = param 1
          v2: f64 = param 2
          v3: i64 = convert v1
          v4: ptr = ptr_add v0, v3 * f64
          v5: f64 = load v4
          v6: f64 = 0.5f64
          v7: f64 = mul v5, v6
          l0 = v7
          v8: ptr = addr s0
          v9: i64 = 1i64
          v10: ptr = ptr_add v8, v9 * 32 bytes
          store v10, v2
          v11: f64 = convert v7
          v12: f64 = exp v11
        }
    "#]],
    );
}

#[test]
fn punning_refuses_to_widen() {
    let refuse = |wanted: &str, fill: &dyn Fn(&mut Builder, &[Value]) -> Value| {
        let any = ParamType::Ptr { elem: None, is_const: false };
        let params = [("x", pointer(Scalar::F32)), ("i", pointer(Scalar::I32)), ("v", any), N];
        let (mut b, p) = Builder::new(FuncKind::Kernel, &params);
        fill(&mut b, &p);
        let module = b.module();
        assert_eq!(validate(&module), [], "{module}");
        let err = widen::widen(&module, FuncId::new(0)).expect_err(wanted);
        assert!(err.reason.contains(wanted), "{err}");
    };
    refuse("bits of a `float`", &|b, p| {
        let read = b.load(p[0], Scalar::F32);
        b.op(I32, Op::Bitcast(Scalar::I32, read))
    });
    refuse("accessed as another type", &|b, p| b.load(p[0], I32));
    refuse("memory of another type is accessed as `float`", &|b, p| b.load(p[1], Scalar::F32));
    refuse("it cannot be told", &|b, p| b.load(p[2], Scalar::F32));
    refuse("taken as an integer", &|b, p| b.op(Scalar::U64, Op::PtrToInt(p[0])));
    refuse("whole `float`s", &|b, p| b.at(p[0], p[3], Scalar::U8));
}

/// A kernel with one slot of 16 bytes, aligned to 8.
fn with_slot(fill: impl FnOnce(&mut Builder, Value, &[Value])) -> Module {
    let (mut b, p) =
        Builder::new(FuncKind::Kernel, &[("out", pointer(Scalar::F32)), N, ("a", ParamType::Scalar(Scalar::F32))]);
    let slot = b.func.new_slot(SlotData { name: "s".to_owned(), size: 16, align: 8, elem: None });
    let start = b.op(Type::Ptr, Op::SlotAddr(slot));
    fill(&mut b, start, &p);
    b.module()
}

/// `ptr + n` in units of `elem`.
fn offset(b: &mut Builder, ptr: Value, n: i64, elem: Scalar) -> Value {
    let index = b.constant(Const::Int(Scalar::I64, n));
    b.op(Type::Ptr, Op::PtrAdd { ptr, index, stride: Stride::Elem(elem) })
}

fn promoted(mut module: Module) -> (bool, String) {
    assert_eq!(validate(&module), [], "{module}");
    let changed = promote::run(&mut module.functions[0]);
    assert_eq!(validate(&module), [], "{module}");
    (changed, module.to_string())
}

#[test]
fn a_slot_of_scalars_at_known_places_becomes_locals() {
    let (changed, text) = promoted(with_slot(|b, s, p| {
        b.store(s, p[2]);
        let next = offset(b, s, 1, Scalar::F32);
        b.store(next, p[1]);
        // The bits of the float as an integer, and the integer's as a float.
        let bits = b.load(s, Scalar::I32);
        b.store(next, bits);
        let read = b.load(next, Scalar::F32);
        b.store(p[0], read);
    }));
    assert!(changed);
    expect![[r#"
        kernel f0 test(out: ptr f32, n: i32, a: f32) {
          local l0 s: f32
          local l1 s+4: i32
          v0: ptr = param 0
          v1: i32 = param 1
          v2: f32 = param 2
          l0 = v2
          v4: i64 = 1i64
          l1 = v1
          v8: f32 = get l0
          v6: i32 = bitcast v8
          l1 = v6
          v9: i32 = get l1
          v7: f32 = bitcast v9
          store v0, v7
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_slot_whose_address_is_more_than_that_stays() {
    let stays = |what: &str, fill: &dyn Fn(&mut Builder, Value, &[Value])| {
        let (changed, text) = promoted(with_slot(fill));
        assert!(!changed, "{what}: {text}");
    };
    stays("an index known only when running", &|b, s, p| {
        let index = b.op(Scalar::I64, Op::Convert(Scalar::I64, p[1]));
        let at = b.at(s, index, Scalar::F32);
        b.store(at, p[2]);
    });
    stays("an access outside", &|b, s, p| {
        let at = offset(b, s, 4, Scalar::F32);
        b.store(at, p[2]);
    });
    stays("an access before it", &|b, s, p| {
        let at = offset(b, s, -1, Scalar::F32);
        b.store(at, p[2]);
    });
    stays("a misaligned access", &|b, s, p| {
        let at = offset(b, s, 2, Scalar::U8);
        b.store(at, p[2]);
    });
    stays("accesses that overlap", &|b, s, p| {
        b.store(s, p[2]);
        b.load(s, Scalar::F64);
    });
    stays("a truth value seen as a byte", &|b, s, _| {
        b.load(s, Scalar::Bool);
        b.load(s, Scalar::U8);
    });
    stays("an address taken as a number", &|b, s, p| {
        b.store(s, p[2]);
        b.op(Scalar::U64, Op::PtrToInt(s));
    });
    stays("an address that is stored", &|b, s, p| b.store(p[0], s));
    stays("a volatile access", &|b, s, p| b.stmt(Stmt::Store { ptr: s, value: p[2], volatile: true }));
}

#[test]
fn a_slot_of_pointers_becomes_locals_and_pointers_have_no_bits() {
    let (changed, text) = promoted(with_slot(|b, s, p| {
        b.store(s, p[0]);
        let next = offset(b, s, 1, Scalar::I64);
        b.store(next, p[1]);
        let out = b.load(s, Type::Ptr);
        b.store(out, p[2]);
    }));
    assert!(changed);
    assert!(text.contains("local l0 s: ptr") && text.contains("get l0") && !text.contains("slot"), "{text}");
    let (changed, text) = promoted(with_slot(|b, s, p| {
        b.store(s, p[0]);
        b.load(s, Scalar::I64);
    }));
    assert!(!changed, "{text}");
}

#[test]
fn members_of_a_struct_by_value_become_parameters_once_each() {
    let block = ParamType::Bytes { size: 24, align: 8 };
    let (mut b, p) = Builder::new(FuncKind::Kernel, &[("s", block), N]);
    let data = b.load(p[0], Type::Ptr);
    let weight = offset(&mut b, p[0], 2, Scalar::F64);
    let count = b.load(weight, Scalar::I32);
    let bits = b.load(weight, Scalar::F32);
    b.load(weight, Scalar::I32);
    let at = b.at(data, count, Scalar::F32);
    b.store(at, bits);
    // Reads at an index known only when running, outside, or across the alignment stay reads.
    for (index, of) in [(p[1], Scalar::I32), (b.i32(6), Scalar::I32), (b.i32(3), Scalar::U16)] {
        let from = b.at(p[0], index, of);
        b.load(from, Scalar::I32);
    }
    let mut module = b.module();
    assert_eq!(validate(&module), [], "{module}");
    assert!(members::run(&mut module.functions[0]));
    assert_eq!(validate(&module), [], "{module}");
    let params = &module.functions[0].params;
    let found: Vec<_> = params.iter().filter_map(|p| Some((p.derived?, p.ty))).collect();
    let member = |offset| Derived::Member(MemberAt { param: 0, offset });
    let expected = [
        (member(0), pointer(Scalar::F32)),
        (member(16), ParamType::Scalar(Scalar::I32)),
        (member(16), ParamType::Scalar(Scalar::F32)),
    ];
    assert_eq!(found, expected, "{module}");
    assert_eq!(module.to_string().matches("= load").count(), 3, "{module}");
    assert!(!members::run(&mut module.functions[0]), "nothing is left to do");
}
