//! Tests with at least one module that breaks each rule.

use super::*;
use crate::ir::testing::{Builder, pointer};
use crate::ir::*;

fn broken(module: &Module, wanted: &str) {
    let diags = validate(module);
    assert!(diags.iter().any(|d| d.message.contains(wanted)), "`{wanted}` is not among {diags:#?}\n{module}");
}

/// A kernel `(i32 n, float* x)` that `fill` completes.
fn kernel<R>(fill: impl FnOnce(&mut Builder, Value, Value) -> R) -> Module {
    let params = [("n", ParamType::Scalar(Scalar::I32)), ("x", pointer(Scalar::F32))];
    let (mut b, p) = Builder::new(FuncKind::Kernel, &params);
    fill(&mut b, p[0], p[1]);
    b.module()
}

fn device(ret: Option<Type>, fill: impl FnOnce(&mut Builder)) -> Module {
    let (mut b, _) = Builder::new(FuncKind::Device, &[]);
    b.func.ret = ret;
    fill(&mut b);
    b.module()
}

fn block(stmts: Vec<Stmt>) -> Block {
    Block { spans: vec![Span::NONE; stmts.len()], stmts }
}

const I32: Type = Type::Scalar(Scalar::I32);

#[test]
fn a_sound_kernel_passes() {
    let mut module = kernel(|b, n, x| {
        let local = b.func.new_local("i", I32);
        let label = b.func.new_label();
        b.stmt(Stmt::Set(local, n));
        let body = b.block(|b| {
            let i = b.op(I32, Op::Get(local));
            let zero = b.i32(0);
            let done = b.compare(CompareOp::Le, i, zero);
            b.if_then(done, |b| b.stmt(Stmt::Break(label)));
            let at = b.at(x, i, Scalar::F32);
            let read = b.load(at, Scalar::F32);
            b.store(at, read);
            let wide = b.op(Scalar::F64, Op::Convert(Scalar::F64, read));
            b.stmt(Stmt::Printf { result: None, format: Format::new(0), args: vec![i, wide] });
            b.stmt(Stmt::Continue(label));
        });
        let step = b.block(|b| {
            let i = b.op(I32, Op::Get(local));
            let one = b.i32(1);
            let less = b.binary(BinaryOp::Sub, i, one);
            b.stmt(Stmt::Set(local, less));
        });
        b.stmt(Stmt::Loop { label, body, step });
    });
    module.formats.push(FormatData { text: "%d %f".into(), span: Span::NONE });
    assert_eq!(validate(&module), []);
}

#[test]
fn rule_1_globals() {
    let global = |align, elem, size| Module {
        globals: vec![GlobalData { name: String::new(), bytes: vec![0; size], align, elem, space: Space::ReadOnly }],
        ..Module::default()
    };
    broken(&global(3, None, 4), "global g0 is aligned to 3");
    broken(&global(32, None, 4), "global g0 is aligned to 32");
    broken(&global(4, Some(Scalar::F32), 6), "no whole number of f32");
}

#[test]
fn rule_2_formats() {
    let formats = vec![FormatData { text: "%q".into(), span: Span::NONE }];
    broken(&Module { formats, ..Module::default() }, "format p0 is malformed");
}

#[test]
fn rule_3_kernels_are_void() {
    let mut module = kernel(|_, _, _| {});
    module.functions[0].ret = Some(I32);
    broken(&module, "has a result");
}

#[test]
fn rule_4_slots() {
    let slot = |size, align| SlotData { name: "s".into(), size, align, elem: Some(Scalar::F32) };
    broken(&kernel(|b, _, _| b.func.new_slot(slot(4, 0))), "slot s0 of `test` is aligned to 0");
    broken(&kernel(|b, _, _| b.func.new_slot(slot(5, 4))), "no whole number");
}

#[test]
fn rule_5_spans() {
    let mut module = kernel(|b, _, _| b.stmt(Stmt::Trap));
    module.functions[0].body.spans.pop();
    broken(&module, "3 statements and 2 spans");
}

#[test]
fn rule_6_nesting() {
    let nest = |depth| {
        let mut inner = block(vec![Stmt::Trap]);
        let mut func = Function::new("test", FuncKind::Kernel, Span::NONE);
        for _ in 0..depth {
            inner = block(vec![Stmt::Scope { label: func.new_label(), body: inner }]);
        }
        func.body = inner;
        Module { functions: vec![func], ..Module::default() }
    };
    assert_eq!(validate(&nest(MAX_NESTING)), []);
    let diags = validate(&nest(MAX_NESTING + 1));
    assert_eq!(diags.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::NestingLimit]);
}

#[test]
fn rule_7_results_are_returned() {
    broken(&device(Some(I32), |_| {}), "can run to its end");
    broken(
        &device(Some(I32), |b| {
            let label = b.func.new_label();
            let body = b.block(|b| b.stmt(Stmt::Break(label)));
            b.stmt(Stmt::Loop { label, body, step: Block::default() });
        }),
        "can run to its end",
    );
    let endless = device(Some(I32), |b| {
        let label = b.func.new_label();
        let body = b.block(|b| {
            let no = b.constant(Const::Bool(false));
            b.if_then(no, |b| b.stmt(Stmt::Break(label)));
        });
        b.stmt(Stmt::Loop { label, body, step: Block::default() });
    });
    assert_eq!(validate(&endless), []);
}

#[test]
fn rule_8_handles_exist() {
    broken(&kernel(|b, _, _| b.op(I32, Op::Get(Local::new(7)))), "no such local");
    broken(&kernel(|b, n, _| b.stmt(Stmt::Set(Local::new(7), n))), "local l7 does not exist");
    broken(&kernel(|b, _, _| b.op(Type::Ptr, Op::SlotAddr(Slot::new(7)))), "no such slot");
    broken(&kernel(|b, _, _| b.op(Type::Ptr, Op::GlobalAddr(Global::new(7)))), "no such global");
    broken(&kernel(|b, _, _| b.stmt(Stmt::Return(Some(Value::new(99))))), "value v99 does not exist");
    broken(&kernel(|b, _, _| b.stmt(Stmt::Let(Value::new(99), Op::Param(0)))), "value v99 does not exist");
    let call =
        |b: &mut Builder, _, _| b.stmt(Stmt::Call { result: None, func: FuncId::new(9), args: vec![], raised: None });
    broken(&kernel(call), "function f9 does not exist");
    let printf = |b: &mut Builder, _, _| b.stmt(Stmt::Printf { result: None, format: Format::new(9), args: vec![] });
    broken(&kernel(printf), "format p9 does not exist");
    let scope = |b: &mut Builder, _, _| b.stmt(Stmt::Scope { label: Label::new(9), body: Block::default() });
    broken(&kernel(scope), "label b9 does not exist");
}

#[test]
fn rule_9_one_definition() {
    broken(&kernel(|b, n, _| b.stmt(Stmt::Let(n, Op::Param(0)))), "v0 is defined twice");
}

#[test]
fn rule_10_definition_before_use() {
    broken(
        &kernel(|b, n, _| {
            let later = b.func.new_value(I32, Span::NONE);
            b.binary(BinaryOp::Add, n, later);
            b.stmt(Stmt::Let(later, Op::Param(0)));
        }),
        "used before its definition",
    );
    broken(
        &kernel(|b, n, _| {
            let mut inner = None;
            let yes = b.constant(Const::Bool(true));
            b.if_then(yes, |b| inner = Some(b.i32(1)));
            b.binary(BinaryOp::Add, n, inner.unwrap());
        }),
        "outside the block that defines it",
    );
}

#[test]
fn rule_11_one_construct_a_label() {
    broken(
        &kernel(|b, _, _| {
            let label = b.func.new_label();
            b.stmt(Stmt::Scope { label, body: Block::default() });
            b.stmt(Stmt::Scope { label, body: Block::default() });
        }),
        "label b0 is defined twice",
    );
}

#[test]
fn rule_12_targets_of_jumps() {
    broken(
        &kernel(|b, _, _| {
            let label = b.func.new_label();
            b.stmt(Stmt::Scope { label, body: Block::default() });
            b.stmt(Stmt::Break(label));
        }),
        "`break b0` is in no construct",
    );
    broken(
        &kernel(|b, _, _| {
            let label = b.func.new_label();
            b.stmt(Stmt::Scope { label, body: block(vec![Stmt::Continue(label)]) });
        }),
        "`continue b0` is in no loop",
    );
    broken(
        &kernel(|b, _, _| {
            let label = b.func.new_label();
            let step = block(vec![Stmt::Continue(label)]);
            b.stmt(Stmt::Loop { label, body: block(vec![Stmt::Break(label)]), step });
        }),
        "in the step of its loop",
    );
}

#[test]
fn rule_13_constants() {
    broken(&kernel(|b, _, _| b.constant(Const::Int(Scalar::I8, 200))), "200 is no i8");
    broken(&kernel(|b, _, _| b.constant(Const::Int(Scalar::U32, -1))), "-1 is no u32");
    broken(&kernel(|b, _, _| b.constant(Const::Int(Scalar::F32, 0))), "0 is no f32");
}

#[test]
fn rule_14_parameters_and_builtins() {
    broken(&kernel(|b, _, _| b.op(I32, Op::Param(2))), "no such parameter");
    broken(&kernel(|b, _, _| b.op(I32, Op::Param(1))), "the result is i32, not ptr");
    broken(&kernel(|b, _, _| b.op(Scalar::U32, Op::Builtin(Builtin::GridDim(3)))), "no such dimension");
    broken(&kernel(|b, _, _| b.op(I32, Op::Builtin(Builtin::GridDim(0)))), "the result is i32, not u32");
}

#[test]
fn rule_15_operands() {
    let f32 = Type::Scalar(Scalar::F32);
    type Make = fn(Value, Value, Value) -> Op;
    let ops: Vec<(Make, Type)> = vec![
        (|_, x, _| Op::Unary(UnaryOp::Neg, x), Type::Ptr),
        (|_, _, f| Op::Unary(UnaryOp::Not, f), f32),
        (|n, _, f| Op::Binary(BinaryOp::Add, n, f), I32),
        (|_, x, _| Op::Binary(BinaryOp::Add, x, x), Type::Ptr),
        (|_, _, f| Op::Binary(BinaryOp::Rem, f, f), f32),
        (|_, _, f| Op::Binary(BinaryOp::Xor, f, f), f32),
        (|n, _, f| Op::Binary(BinaryOp::Shl, n, f), I32),
        (|_, _, f| Op::Binary(BinaryOp::MulHi, f, f), f32),
        (|n, _, _| Op::Binary(BinaryOp::Add, n, n), f32),
        (|n, _, f| Op::Compare(CompareOp::Lt, n, f), Type::Scalar(Scalar::Bool)),
        (|n, _, _| Op::Compare(CompareOp::Lt, n, n), I32),
        (|_, x, _| Op::Convert(Scalar::U64, x), Type::Scalar(Scalar::U64)),
        (|n, _, _| Op::Convert(Scalar::F64, n), f32),
        (|n, _, _| Op::Bitcast(Scalar::F64, n), Type::Scalar(Scalar::F64)),
        (|n, _, _| Op::Select(n, n, n), I32),
        (|n, _, _| Op::Math(MathFn::Sin, vec![n]), I32),
        (|_, _, f| Op::Math(MathFn::Fma, vec![f, f]), f32),
        (|_, _, f| Op::Bit(BitFn::Clz, f), I32),
        (|n, x, _| Op::PtrAdd { ptr: x, index: n, stride: Stride::Bytes(4) }, Type::Ptr),
        (|_, x, _| Op::PtrDiff(x, x, Stride::Bytes(0)), Type::Scalar(Scalar::I64)),
        (|n, _, _| Op::PtrToInt(n), Type::Scalar(Scalar::U64)),
        (|n, _, _| Op::IntToPtr(n), Type::Ptr),
    ];
    for (op, ty) in ops {
        let module = kernel(|b, n, x| {
            let float = b.constant(Const::F32(1.0));
            b.op(ty, op(n, x, float));
        });
        assert_eq!(validate(&module).len(), 1, "{module}");
    }
}

#[test]
fn rule_16_locals() {
    broken(
        &kernel(|b, n, _| {
            let local = b.func.new_local("f", Scalar::F32.into());
            b.stmt(Stmt::Set(local, n));
        }),
        "local l0 of type f32 is set to v0",
    );
}

#[test]
fn rule_17_accesses() {
    broken(&kernel(|b, n, _| b.load(n, I32)), "the pointer is i32");
    broken(&kernel(|b, n, _| b.store(n, n)), "the pointer of a store");
    broken(
        &kernel(|b, _, x| b.op(I32, Op::Load { ptr: x, ty: Type::Ptr, volatile: false })),
        "the result is i32, not ptr",
    );
}

#[test]
fn rule_18_conditions() {
    broken(&kernel(|b, n, _| b.if_then(n, |_| {})), "the condition of an `if`");
    broken(&kernel(|b, n, _| b.stmt(Stmt::Assert { cond: n, message: String::new() })), "the condition of an `assert`");
}

#[test]
fn rule_19_switches() {
    let switch = |values: Vec<Vec<i64>>, default: bool| {
        kernel(|b, n, _| {
            let case = |values| Case { values, default, body: Block::default(), falls_through: false };
            let label = b.func.new_label();
            b.stmt(Stmt::Switch { label, value: n, cases: values.into_iter().map(case).collect() });
        })
    };
    assert_eq!(validate(&switch(vec![vec![1, 2], vec![3]], false)), []);
    broken(&switch(vec![vec![1, 2], vec![2]], false), "case 2 appears twice");
    broken(&switch(vec![vec![1 << 40]], false), "does not fit");
    broken(&switch(vec![vec![], vec![]], true), "two defaults");
    broken(
        &kernel(|b, _, x| {
            let label = b.func.new_label();
            b.stmt(Stmt::Switch { label, value: x, cases: vec![] });
        }),
        "no integer",
    );
}

#[test]
fn rule_20_returns() {
    broken(&kernel(|b, n, _| b.stmt(Stmt::Return(Some(n)))), "with a value");
    broken(&device(Some(I32), |b| b.stmt(Stmt::Return(None))), "without a value");
    broken(
        &device(Some(Scalar::F32.into()), |b| {
            let one = b.i32(1);
            b.stmt(Stmt::Return(Some(one)));
        }),
        "`return` of i32",
    );
}

/// A kernel or host function that calls another function of its module.
fn calling(caller: FuncKind, callee: FuncKind, fill: impl FnOnce(&mut Builder, Value) -> Stmt) -> Module {
    let (mut c, p) = Builder::new(callee, &[("a", ParamType::Scalar(Scalar::I32))]);
    if callee != FuncKind::Kernel {
        c.func.ret = Some(I32);
        c.stmt(Stmt::Return(Some(p[0])));
    }
    let (mut b, p) = Builder::new(caller, &[("n", ParamType::Scalar(Scalar::I32))]);
    let stmt = fill(&mut b, p[0]);
    b.stmt(stmt);
    Module { functions: vec![c.finish(), b.finish()], ..Module::default() }
}

#[test]
fn rule_21_calls() {
    let f = FuncId::new(0);
    let call = |fill: &dyn Fn(&mut Builder, Value) -> Stmt| calling(FuncKind::Kernel, FuncKind::Device, fill);
    let good = call(&|_, n| Stmt::Call { result: None, func: f, args: vec![n], raised: None });
    assert_eq!(validate(&good), []);
    broken(&call(&|_, _| Stmt::Call { result: None, func: f, args: vec![], raised: None }), "takes 1 argument, not 0");
    let float = |b: &mut Builder, _| {
        let x = b.constant(Const::F32(1.0));
        Stmt::Call { result: None, func: f, args: vec![x], raised: None }
    };
    broken(&call(&float), "argument 0 of `test`");
    let result = |b: &mut Builder, n| {
        let result = b.func.new_value(Scalar::F32.into(), Span::NONE);
        Stmt::Call { result: Some(result), func: f, args: vec![n], raised: None }
    };
    broken(&call(&result), "is bound to a result of type i32");
    let mut void = calling(FuncKind::Kernel, FuncKind::Device, |b, n| {
        let result = b.func.new_value(I32, Span::NONE);
        Stmt::Call { result: Some(result), func: f, args: vec![n], raised: None }
    });
    void.functions[0].ret = None;
    broken(&void, "has no result to bind");
    let asks = |ty: Scalar| {
        move |b: &mut Builder, n| {
            let raised = b.func.new_value(ty.into(), Span::NONE);
            Stmt::Call { result: None, func: f, args: vec![n], raised: Some(raised) }
        }
    };
    assert_eq!(validate(&calling(FuncKind::Host, FuncKind::HostHelper, asks(Scalar::Bool))), []);
    broken(&calling(FuncKind::Host, FuncKind::HostHelper, asks(Scalar::I32)), "is bound to a result of type bool");
    broken(&call(&asks(Scalar::Bool)), "an exception of device code");
}

#[test]
fn rule_22_sides() {
    let call = |caller, callee| {
        calling(caller, callee, |_, n| Stmt::Call { result: None, func: FuncId::new(0), args: vec![n], raised: None })
    };
    broken(&call(FuncKind::Kernel, FuncKind::Kernel), "kernel `test` is called");
    broken(&call(FuncKind::Kernel, FuncKind::Host), "is called by device code");
    assert_eq!(validate(&call(FuncKind::Host, FuncKind::Host)), []);
    let (mut b, _) = Builder::new(FuncKind::Host, &[]);
    b.stmt(Stmt::Barrier(Scope::Block));
    broken(&b.module(), "a barrier in a host function");
}

#[test]
fn rule_24_shared_variables() {
    let shared = |size, align, dynamic| Module {
        shared: vec![SharedData { name: "s".into(), size, align, elem: Some(Scalar::F32), dynamic, span: Span::NONE }],
        ..Module::default()
    };
    assert_eq!(validate(&shared(8, 4, false)), []);
    assert_eq!(validate(&shared(0, 16, true)), []);
    broken(&shared(6, 4, false), "no whole number of f32");
    assert_eq!(validate(&shared(8, 1024, false)), []);
    assert_eq!(validate(&shared(4096, 4096, false)), []);
    broken(&shared(8, 3, false), "is aligned to 3");
    broken(&shared(8, 8192, false), "is aligned to 8192");
    broken(&shared(8, 4, true), "is dynamic and has a size");
}

#[test]
fn rule_25_atomics() {
    let atomic = |op, ty: Scalar, compare: bool, result: Option<Scalar>| {
        kernel(|b, _, p| {
            let v = b.op(ty, Op::Convert(ty, Value::new(0)));
            let result = result.map(|ty| b.func.new_value(ty.into(), Span::NONE));
            b.stmt(Stmt::Atomic { result, op, ptr: p, value: v, compare: compare.then_some(v) });
        })
    };
    assert_eq!(validate(&atomic(AtomicOp::Add, Scalar::F64, false, Some(Scalar::F64))), []);
    assert_eq!(validate(&atomic(AtomicOp::Cas, Scalar::U16, true, None)), []);
    broken(&atomic(AtomicOp::Min, Scalar::F32, false, None), "no number it works on");
    broken(&atomic(AtomicOp::Inc, Scalar::I32, false, None), "no number it works on");
    broken(&atomic(AtomicOp::Add, Scalar::U16, false, None), "no number it works on");
    broken(&atomic(AtomicOp::Cas, Scalar::U32, false, None), "without a comparison");
    broken(&atomic(AtomicOp::Or, Scalar::U32, true, None), "with a comparison");
    broken(&atomic(AtomicOp::Add, Scalar::U32, false, Some(Scalar::I32)), "is bound to a result of type u32");
}

#[test]
fn rule_26_collectives() {
    let collective = |op, types: &[Scalar], result: Option<Scalar>| {
        kernel(|b, n, _| {
            let args = types.iter().map(|ty| b.op(*ty, Op::Convert(*ty, n))).collect();
            let result = result.map(|ty| b.func.new_value(ty.into(), Span::NONE));
            b.stmt(Stmt::Collective { result, op, args });
        })
    };
    let (u, i, f, t) = (Scalar::U32, Scalar::I32, Scalar::F32, Scalar::Bool);
    let shuffle = Collective::Shfl(Shuffle::Down);
    assert_eq!(validate(&collective(shuffle, &[u, f, i, i], Some(f))), []);
    assert_eq!(validate(&collective(Collective::Ballot, &[u, t], Some(u))), []);
    broken(&collective(shuffle, &[u, f, i], Some(f)), "takes 4 operands, not 3");
    broken(&collective(shuffle, &[i, f, i, i], Some(f)), "a mask is");
    broken(&collective(shuffle, &[u, f, u, i], Some(f)), "a lane or width is");
    broken(&collective(shuffle, &[u, f, i, i], Some(i)), "is bound to a result of type f32");
    broken(&collective(Collective::Any, &[u, i], None), "a predicate is");
    broken(&collective(Collective::Reduce(ReduceOp::Add), &[u, f], None), "does not work on");
    broken(&collective(Collective::SyncWarp, &[u], Some(u)), "has no result to bind");
    let (mut b, _) = Builder::new(FuncKind::Host, &[]);
    b.stmt(Stmt::Collective { result: None, op: Collective::ActiveMask, args: vec![] });
    broken(&b.module(), "__activemask in a host function");
}

#[test]
fn rule_29_what_is_kept() {
    static MADE: () = ();
    let kept = |kind: FuncKind, says: bool| {
        let (mut b, _) = Builder::new(kind, &[]);
        b.func.ret = Some(I32);
        if says {
            b.stmt(Stmt::Trap);
        }
        b.func.kept = Some(KeptHandle(&MADE));
        b.module()
    };
    // The function has a result, and need not return.
    assert_eq!(validate(&kept(FuncKind::HostHelper, false)), []);
    assert_eq!(validate(&kept(FuncKind::Host, false)), []);
    broken(&kept(FuncKind::HostHelper, true), "is kept, and no host function without a body");
    broken(&kept(FuncKind::Device, false), "is kept, and no host function without a body");
}

#[test]
fn rule_23_printf() {
    let printf = |text: &str, result: Option<Type>| {
        let mut module = kernel(|b, n, _| {
            let result = result.map(|ty| b.func.new_value(ty, Span::NONE));
            b.stmt(Stmt::Printf { result, format: Format::new(0), args: vec![n] });
        });
        module.formats.push(FormatData { text: text.to_owned(), span: Span::NONE });
        module
    };
    assert_eq!(validate(&printf("%d", Some(I32))), []);
    broken(&printf("%d %d", None), "takes 2 arguments, not 1");
    broken(&printf("%f", None), "where a `double` is wanted");
    broken(&printf("%s", None), "where a string literal is wanted");
    broken(&printf("%d", Some(Scalar::F32.into())), "bound to a result of type i32");
}

#[test]
fn rule_30_addresses() {
    let address = |kind: FuncKind, of: usize| {
        let (callee, _) = Builder::new(FuncKind::Host, &[]);
        let (kernel, _) = Builder::new(FuncKind::Kernel, &[]);
        let (mut b, _) = Builder::new(kind, &[]);
        b.op(Type::Ptr, Op::FuncAddr(FuncId::new(of), 7));
        Module { functions: vec![callee.finish(), kernel.finish(), b.finish()], ..Module::default() }
    };
    assert_eq!(validate(&address(FuncKind::HostHelper, 0)), []);
    broken(&address(FuncKind::Host, 1), "the address of a kernel");
    broken(&address(FuncKind::Host, 9), "no such function");
    broken(&address(FuncKind::Device, 0), "in a function of the device");
    for (of, wanted) in [(1, "f1 is taken"), (9, "f9 is taken")] {
        let mut module = address(FuncKind::Host, 0);
        module.addressed.push((FuncId::new(of), 7));
        broken(&module, wanted);
    }
    let dispatch = |kind: FuncKind, param: ParamType| {
        let (mut b, _) = Builder::new(kind, &[("f", param)]);
        b.func.ret = Some(I32);
        b.stmt(Stmt::Dispatch(7));
        b.module()
    };
    assert_eq!(validate(&dispatch(FuncKind::HostHelper, pointer(Scalar::F32))), []);
    broken(&dispatch(FuncKind::HostHelper, ParamType::Scalar(Scalar::U64)), "a dispatch outside");
    broken(&dispatch(FuncKind::Device, pointer(Scalar::F32)), "a dispatch outside");
}
