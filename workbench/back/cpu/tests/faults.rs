//! Every way a launch can go wrong, the message for it, and that the next launch works.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::build::*;
use crate::back::cpu::tier::Tier;
use crate::back::{FaultKind, Interrupt, LaunchConfig, RawArg, RawFault};
use crate::ir::*;

/// `c[i + shift] = 1` or `x = c[i + shift]` on an array of `elem`s.
fn access(write: bool, elem: Scalar) -> Function {
    let mut b = Build::kernel("access");
    let (c, shift) = (b.ptr("c", elem), b.scalar("shift", Scalar::I32));
    let i = b.global_index();
    let index = b.bin(BinaryOp::Add, i, shift);
    let at = b.at(c, index, elem);
    let value = if write { b.int(Scalar::I32, 1) } else { b.load(at, elem) };
    let value = b.convert(elem, value);
    let to = if write { at } else { b.at(c, i, elem) };
    b.store(to, value);
    b.done()
}

fn fault_of(outcome: crate::back::Outcome) -> RawFault {
    outcome.fault.expect("a fault")
}

fn shift(n: i32) -> RawArg {
    RawArg::Scalar(n as i64 as u64)
}

#[test]
fn a_write_past_the_end_names_buffer_index_and_thread() {
    let code = compile(vec![access(true, Scalar::F32)]);
    let mut c = vec![0f32; 1000];
    let fault = fault_of(launch(&code, 8, 128, &[buffer(&mut c), shift(0)]));
    assert_eq!(fault.kind, FaultKind::OutOfBoundsWrite);
    assert_eq!(fault.detail, "writes index 1000 of `c`, which has 1000 elements (float)");
    assert_eq!((fault.block, fault.thread), ([7, 0, 0], [104, 0, 0]));
    // Writes before the fault have happened.
    assert!(c.iter().all(|v| *v == 1.0));
    assert_eq!(launch(&code, 1, 1000, &[buffer(&mut c), shift(0)]).fault, None);
}

#[test]
fn reads_outside_and_negative_indices_are_faults() {
    let code = compile(vec![access(false, Scalar::F64)]);
    let mut c = vec![0f64; 10];
    for (by, index) in [(1, 10), (-1, -1), (i32::MAX, i32::MAX), (i32::MIN, i32::MIN)] {
        let fault = fault_of(launch(&code, 1, 10, &[buffer(&mut c), shift(by)]));
        assert_eq!(fault.kind, FaultKind::OutOfBoundsRead);
        assert_eq!(fault.detail, format!("reads index {index} of `c`, which has 10 elements (double)"));
    }
}

#[test]
fn an_empty_buffer_has_no_elements() {
    let code = compile(vec![access(true, Scalar::I8)]);
    let fault = fault_of(launch(&code, 1, 1, &[buffer::<i8>(&mut []), shift(0)]));
    assert_eq!(fault.detail, "writes index 0 of `c`, which has 0 elements (signed char)");
    let three = [0u8; 3];
    let code = compile(vec![access(true, Scalar::I32)]);
    let RawArg::Buffer { ptr, writable, .. } = buffer(&mut [0i32; 1]) else { return };
    // Three bytes hold no int.
    let arg = RawArg::Buffer { ptr, bytes: three.len(), writable };
    assert_eq!(fault_of(launch(&code, 1, 1, &[arg, shift(0)])).kind, FaultKind::OutOfBoundsWrite);
}

#[test]
fn null_and_read_only_arguments_are_named() {
    let code = compile(vec![access(true, Scalar::F32)]);
    let fault = fault_of(launch(&code, 1, 1, &[RawArg::Null, shift(3)]));
    assert_eq!(
        (fault.kind, fault.detail.as_str()),
        (FaultKind::NullPointer, "writes index 3 of `c`, which is a null pointer")
    );
    let fault = fault_of(launch(&code, 1, 1, &[read_only(&[0f32; 4]), shift(3)]));
    assert_eq!(
        (fault.kind, fault.detail.as_str()),
        (FaultKind::ReadOnlyWrite, "writes index 3 of `c`, which is read-only")
    );
}

/// `*(double *)((char *)p + 4) = 0` and friends: an address that is no multiple of the size, one in no allocation.
#[test]
fn misaligned_and_dangling_pointers_are_faults() {
    let mut b = Build::kernel("misaligned");
    let p = b.ptr("p", Scalar::F64);
    let four = b.i64(4);
    let at = b.op(Type::Ptr, Op::PtrAdd { ptr: p, index: four, stride: Stride::Bytes(1) });
    b.load(at, Scalar::F64);
    let code = compile(vec![b.done()]);
    let fault = fault_of(launch(&code, 1, 1, &[buffer(&mut [0f64; 4])]));
    assert_eq!(fault.kind, FaultKind::Misaligned);
    assert!(fault.detail.starts_with("reads a `double` at byte 4 of `p` (address 0x"), "{}", fault.detail);

    let mut b = Build::kernel("dangling");
    let address = b.int(Scalar::U64, 0x1234_5678);
    let p = b.op(Type::Ptr, Op::IntToPtr(address));
    b.load(p, Scalar::I32);
    let code = compile(vec![b.done()]);
    let fault = fault_of(launch(&code, 1, 1, &[]));
    assert_eq!(fault.kind, FaultKind::DanglingPointer);
    assert_eq!(fault.detail, "reads 4 bytes at address 0x12345678, which is in no live allocation");

    let mut b = Build::kernel("null");
    let p = b.op(Type::Ptr, Op::Const(Const::Null));
    b.load(p, Scalar::I32);
    let code = compile(vec![b.done()]);
    let fault = fault_of(launch(&code, 1, 1, &[]));
    assert_eq!((fault.kind, fault.detail.as_str()), (FaultKind::NullPointer, "reads 4 bytes through a null pointer"));
}

/// A function that returns the address of its own array.
#[test]
fn the_array_of_a_function_that_returned_is_gone() {
    let mut b = Build::new("leak", FuncKind::Device);
    b.func.ret = Some(Type::Ptr);
    let a = b.slot("a", Scalar::I32, 4);
    b.stmt(Stmt::Return(Some(a)));
    let leak = b.done();
    let mut b = Build::kernel("k");
    let p = b.func.new_value(Type::Ptr, place(0));
    b.stmt(Stmt::Call { result: Some(p), func: FuncId::new(1), args: vec![], raised: None });
    b.load(p, Scalar::I32);
    let code = compile(vec![b.done(), leak]);
    assert_eq!(fault_of(launch(&code, 1, 1, &[])).kind, FaultKind::DanglingPointer);
}

#[test]
fn local_arrays_and_literals_are_named() {
    let mut b = Build::kernel("local");
    let n = b.scalar("n", Scalar::I32);
    let a = b.slot("tile", Scalar::I32, 8);
    let at = b.at(a, n, Scalar::I32);
    b.store(at, n);
    let code = compile(vec![b.done()]);
    let fault = fault_of(launch(&code, 1, 1, &[shift(-2)]));
    assert_eq!(fault.detail, "writes index -2 of `tile`, which has 8 elements (int)");
    assert_eq!(launch(&code, 1, 1, &[shift(7)]).fault, None);

    let mut b = Build::kernel("literal");
    let g = b.op(Type::Ptr, Op::GlobalAddr(Global::new(0)));
    let v = b.int(Scalar::I8, 1);
    b.store(g, v);
    let mut module = module(vec![b.done()]);
    module.globals.push(GlobalData {
        name: String::new(),
        bytes: b"hi\0".to_vec(),
        align: 1,
        elem: Some(Scalar::I8),
        space: Space::ReadOnly,
    });
    let fault = fault_of(launch(&compile_module(&module), 1, 1, &[]));
    assert_eq!(
        (fault.kind, fault.detail.as_str()),
        (FaultKind::ReadOnlyWrite, "writes index 0 of a literal, which is read-only")
    );
}

/// A device function that reads through its parameter: the buffer is the caller's.
#[test]
fn a_fault_in_a_called_function_names_the_kernels_buffer() {
    let mut b = Build::new("get", FuncKind::Device);
    b.func.ret = Some(Scalar::F32.into());
    let (p, i) = (b.ptr("p", Scalar::F32), b.scalar("i", Scalar::I32));
    let at = b.at(p, i, Scalar::F32);
    let v = b.load(at, Scalar::F32);
    b.stmt(Stmt::Return(Some(v)));
    let get = b.done();
    let mut b = Build::kernel("k");
    let x = b.ptr("x", Scalar::F32);
    let i = b.global_index();
    let v = b.func.new_value(Scalar::F32.into(), place(0));
    b.stmt(Stmt::Call { result: Some(v), func: FuncId::new(1), args: vec![x, i], raised: None });
    let code = compile(vec![b.done(), get]);
    let mut x = [0f32; 5];
    let fault = fault_of(launch(&code, 2, 3, &[buffer(&mut x)]));
    assert_eq!(fault.detail, "reads index 5 of `x`, which has 5 elements (float)");
    assert_eq!((fault.block, fault.thread), ([1, 0, 0], [2, 0, 0]));
}

/// `out[0] = a / b` or `a % b`.
fn divide(op: BinaryOp, s: Scalar) -> Function {
    let mut b = Build::kernel("divide");
    let out = b.ptr("out", s);
    let (x, y) = (b.scalar("a", s), b.scalar("b", s));
    let q = b.bin(op, x, y);
    b.store(out, q);
    b.done()
}

#[test]
fn division_by_zero_and_overflow_name_the_operands() {
    let mut out = [0i64; 1];
    let mut run = |op, s, a: i64, b: i64| {
        let code = compile(vec![divide(op, s)]);
        let fault = launch(&code, 1, 1, &[buffer(&mut out), RawArg::Scalar(a as u64), RawArg::Scalar(b as u64)]).fault;
        fault.map(|f| (f.kind, f.detail))
    };
    use FaultKind::{DivisionByZero, DivisionOverflow};
    assert_eq!(run(BinaryOp::Div, Scalar::I32, 12, 0), Some((DivisionByZero, "12 / 0".into())));
    assert_eq!(run(BinaryOp::Rem, Scalar::U64, -1, 0), Some((DivisionByZero, format!("{} % 0", u64::MAX))));
    assert_eq!(
        run(BinaryOp::Div, Scalar::I32, i32::MIN.into(), -1),
        Some((DivisionOverflow, "-2147483648 / -1: the quotient does not fit in `int`".into()))
    );
    assert_eq!(
        run(BinaryOp::Rem, Scalar::I64, i64::MIN, -1),
        Some((DivisionOverflow, "-9223372036854775808 % -1: the quotient does not fit in `long long`".into()))
    );
    assert_eq!(run(BinaryOp::Rem, Scalar::I32, 7, -1), None);
}

#[test]
fn assert_and_trap_end_the_launch() {
    let mut b = Build::kernel("checks");
    let i = b.global_index();
    let three = b.i32(3);
    let cond = b.cmp(CompareOp::Lt, i, three);
    b.stmt(Stmt::Assert { cond, message: "i < 3".into() });
    let span = b.here();
    let code = compile(vec![b.done()]);
    let fault = fault_of(launch(&code, 1, 8, &[]));
    assert_eq!((fault.kind, fault.detail.as_str(), fault.span), (FaultKind::Assert, "`i < 3` does not hold", span));
    assert_eq!(fault.thread, [3, 0, 0]);
    let mut b = Build::kernel("trap");
    b.stmt(Stmt::Trap);
    assert_eq!(fault_of(launch(&compile(vec![b.done()]), 1, 1, &[])).kind, FaultKind::Trap);
}

/// `void f(int n) { int a[256]; a[0] = n; f(n + 1); }`
pub(super) fn endless_recursion() -> Vec<Function> {
    let mut b = Build::kernel("k");
    let n = b.scalar("n", Scalar::I32);
    let zero = b.i32(0);
    let go = b.cmp(CompareOp::Ne, n, zero);
    b.when(go, |b| b.stmt(Stmt::Call { result: None, func: FuncId::new(1), args: vec![n], raised: None }));
    let kernel = b.done();
    let mut b = Build::new("f", FuncKind::Device);
    let n = b.scalar("n", Scalar::I32);
    let a = b.slot("a", Scalar::I32, 256);
    b.store(a, n);
    let one = b.i32(1);
    let next = b.bin(BinaryOp::Add, n, one);
    b.stmt(Stmt::Call { result: None, func: FuncId::new(1), args: vec![next], raised: None });
    vec![kernel, b.done()]
}

#[test]
fn recursion_without_end_is_a_fault_and_the_next_launch_works() {
    let code = compile(endless_recursion());
    for _ in 0..3 {
        let fault = fault_of(launch(&code, 4, 4, &[shift(1)]));
        assert_eq!((fault.kind, fault.block), (FaultKind::StackOverflow, [0; 3]));
        assert_eq!(launch(&code, 4, 4, &[shift(0)]).fault, None);
    }
}

#[test]
fn too_large_a_local_array_does_not_compile() {
    let mut b = Build::kernel("large");
    b.slot("a", Scalar::F64, 100_000);
    let diags =
        super::super::Code::compile(&module(vec![b.done()]), None, Tier::Auto, None).err().expect("a diagnostic");
    assert_eq!(diags[0].code, crate::diagnostic::Code::StackLimit);
}

#[test]
fn a_barrier_in_a_function_that_calls_itself_is_a_diagnostic() {
    let span = place(0);
    let mut inner = Function::new("inner", FuncKind::Device, span);
    inner.body.push(Stmt::Barrier(Scope::Block), span);
    inner.body.push(Stmt::Call { result: None, func: FuncId::new(0), args: vec![], raised: None }, span);
    let mut b = Build::kernel("barrier");
    b.stmt(Stmt::Call { result: None, func: FuncId::new(0), args: vec![], raised: None });
    let diags = super::super::Code::compile(&module(vec![inner, b.done()]), None, Tier::Auto, None)
        .err()
        .expect("a diagnostic");
    assert_eq!(diags[0].code, crate::diagnostic::Code::Unsupported);
    // The scratch of a failed compilation is not used again.
    drop(compile(vec![access(true, Scalar::F32)]));
}

#[test]
fn ir_that_breaks_the_rules_is_a_diagnostic() {
    let mut undefined = Build::kernel("undefined");
    let v = undefined.func.new_value(Scalar::I32.into(), place(0));
    let l = undefined.func.new_local("x", Scalar::I32.into());
    undefined.stmt(Stmt::Set(l, v));
    let mut stray = Build::kernel("stray");
    stray.stmt(Stmt::Break(Label::new(3)));
    let mut missing = Build::kernel("missing");
    missing.stmt(Stmt::Call { result: None, func: FuncId::new(9), args: vec![], raised: None });
    for b in [undefined, stray, missing] {
        let diags =
            super::super::Code::compile(&module(vec![b.done()]), None, Tier::Auto, None).err().expect("a diagnostic");
        assert_eq!(diags[0].code, crate::diagnostic::Code::BadIr);
    }
}

/// A kernel that never ends, from block `from` on.
fn endless(from: i64) -> (Function, crate::source::Span) {
    let mut b = Build::kernel("endless");
    let block = b.builtin(Builtin::BlockIdx(0));
    let first = b.int(Scalar::U32, from);
    let go = b.cmp(CompareOp::Ge, block, first);
    let mut span = place(0);
    b.when(go, |b| {
        span = b.forever(|b, _| {
            b.i32(1);
        })
    });
    (b.done(), span)
}

#[test]
fn an_endless_loop_meets_its_timeout() {
    let (func, span) = endless(2);
    let code = compile(vec![func]);
    for grid in [3, 64] {
        let config = LaunchConfig { timeout: Some(Duration::from_millis(50)), ..LaunchConfig::new(grid, 32) };
        let start = Instant::now();
        let fault = fault_of(code.launch(FuncId::new(0), &[], &config));
        let took = start.elapsed();
        assert_eq!((fault.kind, fault.span), (FaultKind::Timeout, span));
        assert_eq!((fault.block, fault.detail.as_str()), ([2, 0, 0], "still running after 50ms"));
        assert!(took >= Duration::from_millis(50) && took < Duration::from_secs(2), "{took:?}");
    }
    assert_eq!(launch(&code, 2, 32, &[]).fault, None);
}

#[test]
fn two_billion_small_blocks_meet_their_timeout() {
    let mut b = Build::kernel("many");
    b.i32(0);
    let code = compile(vec![b.done()]);
    let config = LaunchConfig {
        timeout: Some(Duration::from_millis(20)),
        ..LaunchConfig::new((i32::MAX as u32, 65_535, 65_535), 1)
    };
    let start = Instant::now();
    assert_eq!(fault_of(code.launch(FuncId::new(0), &[], &config)).kind, FaultKind::Timeout);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn an_interrupt_is_asked_on_the_launching_thread_and_stops_all() {
    struct Third {
        asked: AtomicUsize,
        thread: std::thread::ThreadId,
    }
    impl Interrupt for Third {
        fn interrupted(&self) -> bool {
            assert_eq!(std::thread::current().id(), self.thread);
            self.asked.fetch_add(1, Ordering::Relaxed) >= 2
        }
    }
    let (func, span) = endless(0);
    let code = compile(vec![func]);
    for (grid, serial) in [(1, true), (1, false), (64, false)] {
        let interrupt = Third { asked: AtomicUsize::new(0), thread: std::thread::current().id() };
        let config = LaunchConfig { interrupt: Some(&interrupt), serial, ..LaunchConfig::new(grid, 32) };
        let start = Instant::now();
        let fault = fault_of(code.launch(FuncId::new(0), &[], &config));
        assert_eq!((fault.kind, fault.span), (FaultKind::Interrupted, span));
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}

/// Blocks that are multiples of 100, from `first` on, write out of bounds; all others print and mark their place.
#[test]
fn the_lowest_fault_is_reported_with_the_output_up_to_it() {
    let mut b = Build::kernel("some");
    let (marks, first) = (b.ptr("marks", Scalar::I32), b.scalar("first", Scalar::I32));
    let block = b.builtin(Builtin::BlockIdx(0));
    let block = b.convert(Scalar::I32, block);
    b.stmt(Stmt::Printf { result: None, format: Format::new(0), args: vec![block] });
    let (hundred, zero, far) = (b.i32(100), b.i32(0), b.i32(1 << 20));
    let rest = b.bin(BinaryOp::Rem, block, hundred);
    let (round, late) = (b.cmp(CompareOp::Eq, rest, zero), b.cmp(CompareOp::Ge, block, first));
    let bad = b.bin(BinaryOp::And, round, late);
    let index = b.op(Scalar::I32, Op::Select(bad, far, block));
    let at = b.at(marks, index, Scalar::I32);
    let one = b.i32(1);
    b.store(at, one);
    let mut module = module(vec![b.done()]);
    module.formats.push(FormatData { text: "%d".into(), span: place(0) });
    let code = compile_module(&module);
    for first in [1, 250, 399, 400] {
        let mut marks = vec![0i32; 2000];
        let outcome = launch(&code, 2000, 1, &[buffer(&mut marks), shift(first)]);
        let lowest = (first as u32).next_multiple_of(100);
        let last = outcome.output.len() as u32 - 1;
        assert_eq!(fault_of(outcome.clone()).block, [lowest, 0, 0]);
        assert_eq!(last, lowest);
        assert!(outcome.output.iter().enumerate().all(|(i, r)| r.text == i.to_string()));
        assert!(marks[..lowest as usize].iter().all(|m| *m == 1));
    }
}

/// `out[index(threadIdx.x)] = threadIdx.x` in one row; the checks of such accesses are made once for the row.
fn scatter(index: impl FnOnce(&mut Build, Value) -> Value) -> Function {
    let mut b = Build::kernel("scatter");
    let out = b.ptr("out", Scalar::U32);
    let thread = b.builtin(Builtin::ThreadIdx(0));
    let index = index(&mut b, thread);
    // Through a local that is set once, as the front end has them.
    let local = b.func.new_local("i", b.func.ty(index));
    b.stmt(Stmt::Set(local, index));
    let index = b.op(b.func.ty(index), Op::Get(local));
    let at = b.at(out, index, Scalar::U32);
    b.store(at, thread);
    b.done()
}

#[test]
fn checks_made_for_a_row_at_once_find_the_same_fault() {
    let linear = |scale: i64, start: i64, s: Scalar| {
        move |b: &mut Build, thread: Value| {
            let (i, scale, start) = (b.convert(s, thread), b.int(s, scale), b.int(s, start));
            let product = b.bin(BinaryOp::Mul, i, scale);
            b.bin(BinaryOp::Add, product, start)
        }
    };
    // Scale, start, type; the first thread of 8 that is out of bounds of 16 elements, and its index.
    let two_to = |n: u32| 1i64 << n;
    for (scale, start, s, wrong) in [
        (2, 1, Scalar::I32, None),
        (-2, 15, Scalar::I32, None),
        (0, 3, Scalar::I64, None),
        (1, 9, Scalar::I32, Some((7, 16))),
        (-3, 15, Scalar::I64, Some((6, -3))),
        // The last thread is back in bounds, by wrapping.
        (two_to(30), 0, Scalar::I32, Some((1, two_to(30)))),
        (two_to(30), 0, Scalar::U32, Some((1, two_to(30)))),
        (1, two_to(32) - 4, Scalar::U32, Some((0, two_to(32) - 4))),
        (1, -4, Scalar::I32, Some((0, -4))),
        (two_to(60), 0, Scalar::I64, Some((1, two_to(60)))),
    ] {
        let code = compile(vec![scatter(linear(scale, start, s))]);
        let mut out = vec![u32::MAX; 16];
        let fault = launch(&code, 1, 8, &[buffer(&mut out)]).fault.map(|f| (i64::from(f.thread[0]), f.detail));
        let wanted = wrong.map(|(thread, index)| {
            (thread, format!("writes index {index} of `out`, which has 16 elements (unsigned int)"))
        });
        assert_eq!(fault, wanted, "{scale} {start} {s:?}");
        for thread in 0..wrong.map_or(8, |(thread, _)| thread) {
            assert_eq!(out[(scale * thread + start) as usize], if scale == 0 { 7 } else { thread as u32 });
        }
    }
}
