//! The results, the output and the after-effects of launches.

use std::time::{Duration, Instant};

use super::build::*;
use crate::back::LaunchConfig;
use crate::ir::*;

/// `if (i < n) y[i] = a * x[i] + y[i];`
pub fn saxpy() -> Function {
    let mut b = Build::kernel("saxpy");
    let (n, a) = (b.scalar("n", Scalar::I32), b.scalar("a", Scalar::F32));
    let (x, y) = (b.ptr("x", Scalar::F32), b.ptr("y", Scalar::F32));
    let i = b.global_index();
    let inside = b.cmp(CompareOp::Lt, i, n);
    b.when(inside, |b| {
        let (px, py) = (b.at(x, i, Scalar::F32), b.at(y, i, Scalar::F32));
        let (vx, vy) = (b.load(px, Scalar::F32), b.load(py, Scalar::F32));
        let ax = b.bin(BinaryOp::Mul, a, vx);
        let sum = b.bin(BinaryOp::Add, ax, vy);
        b.store(py, sum);
    });
    b.done()
}

fn random(n: usize) -> Vec<f32> {
    let mut state = 0x1234_5678_9ABC_DEFFu64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 20) as f32 - 8.0
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn saxpy_equals_rust_at_every_size() {
    let code = compile(vec![saxpy()]);
    for n in [0usize, 1, 2, 31, 33, 255, 256, 257, 1000, 4097, 300_001] {
        let (x, mut y) = (random(n), random(n).into_iter().rev().collect::<Vec<_>>());
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
        let args =
            [RawArg::Scalar(n as u64), RawArg::Scalar(u64::from(2.5f32.to_bits())), read_only(&x), buffer(&mut y)];
        for serial in [true, false] {
            let before = y.clone();
            let config = LaunchConfig { serial, ..LaunchConfig::new(n.div_ceil(128).max(1) as u32, 128) };
            let outcome = code.launch(FuncId::new(0), &args, &config);
            assert_eq!(outcome.fault, None);
            assert!(y == expected, "{n} elements, serial: {serial}");
            y.copy_from_slice(&before);
        }
    }
}

use crate::back::RawArg;

/// `out[((bz*gy+by)*gx+bx)*threads + (tz*dy+ty)*dx+tx] = that index`, through a helper function when asked.
fn indices(through_call: bool) -> Vec<Function> {
    let flat = |b: &mut Build, make: fn(u8) -> Builtin, dims: fn(u8) -> Builtin| {
        let [x, y, z] = [0, 1, 2].map(|d| b.builtin(make(d)));
        let (dx, dy) = (b.builtin(dims(0)), b.builtin(dims(1)));
        let plane = b.bin(BinaryOp::Mul, z, dy);
        let row = b.bin(BinaryOp::Add, plane, y);
        let row = b.bin(BinaryOp::Mul, row, dx);
        b.bin(BinaryOp::Add, row, x)
    };
    let linear = move |b: &mut Build| {
        let block = flat(b, Builtin::BlockIdx, Builtin::GridDim);
        let thread = flat(b, Builtin::ThreadIdx, Builtin::BlockDim);
        let [dx, dy, dz] = [0, 1, 2].map(|d| b.builtin(Builtin::BlockDim(d)));
        let plane = b.bin(BinaryOp::Mul, dx, dy);
        let size = b.bin(BinaryOp::Mul, plane, dz);
        let start = b.bin(BinaryOp::Mul, block, size);
        b.bin(BinaryOp::Add, start, thread)
    };
    let mut b = Build::kernel("indices");
    let out = b.ptr("out", Scalar::U32);
    let mut functions = Vec::new();
    let index = if through_call {
        let mut helper = Build::new("linear", FuncKind::Device);
        helper.func.ret = Some(Scalar::U32.into());
        let index = linear(&mut helper);
        helper.stmt(Stmt::Return(Some(index)));
        functions.push(helper.done());
        let result = b.func.new_value(Scalar::U32.into(), place(0));
        b.stmt(Stmt::Call { result: Some(result), func: FuncId::new(1), args: vec![], raised: None });
        result
    } else {
        linear(&mut b)
    };
    let to = b.at(out, index, Scalar::U32);
    b.store(to, index);
    functions.insert(0, b.done());
    functions
}

#[test]
fn every_thread_of_a_three_dimensional_grid_runs_once_with_its_own_indices() {
    for through_call in [false, true] {
        let code = compile(indices(through_call));
        let mut out = vec![u32::MAX; 3 * 4 * 5 * 6 * 3 * 2];
        let config = LaunchConfig::new((3, 4, 5), (6, 3, 2));
        let outcome = code.launch(FuncId::new(0), &[buffer(&mut out)], &config);
        assert_eq!(outcome.fault, None);
        assert!(out.iter().enumerate().all(|(i, v)| i as u32 == *v));
    }
}

/// `fib` by plain recursion, as a device function, a kernel and a host function.
fn fib() -> Vec<Function> {
    let mut b = Build::new("fib", FuncKind::Device);
    b.func.ret = Some(Scalar::I32.into());
    let n = b.scalar("n", Scalar::I32);
    let two = b.i32(2);
    let small = b.cmp(CompareOp::Lt, n, two);
    b.when(small, |b| b.stmt(Stmt::Return(Some(n))));
    let one = b.i32(1);
    let mut parts = Vec::new();
    for by in [one, two] {
        let less = b.bin(BinaryOp::Sub, n, by);
        let result = b.func.new_value(Scalar::I32.into(), place(0));
        b.stmt(Stmt::Call { result: Some(result), func: FuncId::new(0), args: vec![less], raised: None });
        parts.push(result);
    }
    let sum = b.bin(BinaryOp::Add, parts[0], parts[1]);
    b.stmt(Stmt::Return(Some(sum)));
    let device = b.done();

    let mut b = Build::new("fib_host", FuncKind::Host);
    b.func.ret = Some(Scalar::I32.into());
    let n = b.scalar("n", Scalar::I32);
    let result = b.func.new_value(Scalar::I32.into(), place(0));
    b.stmt(Stmt::Call { result: Some(result), func: FuncId::new(0), args: vec![n], raised: None });
    let negated = b.op(Scalar::I32, Op::Unary(UnaryOp::Neg, result));
    b.stmt(Stmt::Return(Some(negated)));
    vec![device, b.done()]
}

#[test]
fn a_host_function_gives_its_result_sign_extended() {
    let code = compile(fib());
    let (bits, outcome) = code.call(FuncId::new(1), &[RawArg::Scalar(20)], &LaunchConfig::new(1, 1));
    assert_eq!(outcome.fault, None);
    assert_eq!(bits, Some(-6765i64 as u64));
}

#[test]
fn exponential_recursion_without_loops_still_meets_its_timeout() {
    let code = compile(fib());
    let config = LaunchConfig { timeout: Some(Duration::from_millis(30)), ..LaunchConfig::new(1, 1) };
    let start = Instant::now();
    let (bits, outcome) = code.call(FuncId::new(1), &[RawArg::Scalar(60)], &config);
    assert_eq!(bits, None);
    assert_eq!(outcome.fault.map(|f| f.kind), Some(crate::back::FaultKind::Timeout));
    assert!(start.elapsed() < Duration::from_secs(2));
}

/// `int a[8]; for (k < 8) a[k] = i + k; for (k < 8) sum += a[7 - k]; out[i] = sum`, the array reached through a local
/// pointer that also takes the value of another array's address, so that its buffer is known only at run time.
#[test]
fn local_arrays_and_pointers_that_change_buffers_work() {
    let mut b = Build::kernel("arrays");
    let out = b.ptr("out", Scalar::I32);
    let i = b.global_index();
    let (first, second) = (b.slot("first", Scalar::I32, 8), b.slot("second", Scalar::I32, 8));
    let eight = b.i32(8);
    b.count_to(eight, |b, k| {
        let sum = b.bin(BinaryOp::Add, i, k);
        let (p, q) = (b.at(first, k, Scalar::I32), b.at(second, k, Scalar::I32));
        b.store(p, sum);
        let twice = b.bin(BinaryOp::Add, sum, sum);
        b.store(q, twice);
    });
    let (chosen, sum) = (b.func.new_local("chosen", Type::Ptr), b.func.new_local("sum", Scalar::I32.into()));
    b.stmt(Stmt::Set(chosen, first));
    let one = b.i32(1);
    let odd = b.bin(BinaryOp::And, i, one);
    let zero = b.i32(0);
    let is_odd = b.cmp(CompareOp::Ne, odd, zero);
    b.when(is_odd, |b| b.stmt(Stmt::Set(chosen, second)));
    b.stmt(Stmt::Set(sum, zero));
    b.count_to(eight, |b, k| {
        let p = b.op(Type::Ptr, Op::Get(chosen));
        let at = b.at(p, k, Scalar::I32);
        let v = b.load(at, Scalar::I32);
        let old = b.op(Scalar::I32, Op::Get(sum));
        let new = b.bin(BinaryOp::Add, old, v);
        b.stmt(Stmt::Set(sum, new));
    });
    let total = b.op(Scalar::I32, Op::Get(sum));
    let to = b.at(out, i, Scalar::I32);
    b.store(to, total);
    let code = compile(vec![b.done()]);
    let mut out = vec![0i32; 100];
    assert_eq!(launch(&code, 10, 10, &[buffer(&mut out)]).fault, None);
    for (i, v) in out.iter().enumerate() {
        let plain: i32 = (0..8).map(|k| i as i32 + k).sum();
        assert_eq!(*v, if i % 2 == 1 { 2 * plain } else { plain });
    }
}

/// A pointer kept in an array, by its eight bytes, finds its buffer again.
#[test]
fn pointers_survive_memory() {
    let mut b = Build::kernel("kept");
    let out = b.ptr("out", Scalar::F32);
    let slot = b.func.new_slot(SlotData { name: "kept".into(), size: 8, align: 8, elem: None });
    let kept = b.op(Type::Ptr, Op::SlotAddr(slot));
    let i = b.global_index();
    let at = b.at(out, i, Scalar::F32);
    b.store(kept, at);
    let again = b.load(kept, Type::Ptr);
    let value = b.op(Scalar::F32, Op::Const(Const::F32(7.0)));
    b.store(again, value);
    let code = compile(vec![b.done()]);
    let mut data = vec![0f32; 4];
    assert_eq!(launch(&code, 1, 4, &[buffer(&mut data)]).fault, None);
    assert_eq!(data, [7.0; 4]);
    let outcome = launch(&code, 1, 5, &[buffer(&mut data)]);
    let fault = outcome.fault.expect("the fifth thread writes past the end");
    assert_eq!((fault.kind, fault.thread), (crate::back::FaultKind::OutOfBoundsWrite, [4, 0, 0]));
}

/// `out[0] = what an unset local and array hold`.
#[test]
fn what_was_never_set_is_poison() {
    let mut b = Build::kernel("poison");
    let out = b.ptr("out", Scalar::U32);
    let local = b.func.new_local("x", Scalar::U32.into());
    let array = b.slot("a", Scalar::U32, 100);
    let v = b.op(Scalar::U32, Op::Get(local));
    b.store(out, v);
    let (n, one) = (b.i32(99), b.i32(1));
    let from = b.at(array, n, Scalar::U32);
    let v = b.load(from, Scalar::U32);
    let to = b.at(out, one, Scalar::U32);
    b.store(to, v);
    // The next thread must not see this.
    b.store(from, n);
    let code = compile(vec![b.done()]);
    let mut data = vec![0u32; 2];
    assert_eq!(launch(&code, 1, 3, &[buffer(&mut data)]).fault, None);
    assert_eq!(data, [0xCBCB_CBCB; 2]);
}

/// `switch (i) { case 0: x = 1; break; case 1: x = 2; /* falls */ case -3: x += 10; break; default: x = 100; }`
#[test]
fn switch_falls_through_and_breaks() {
    let mut b = Build::kernel("switch");
    let out = b.ptr("out", Scalar::I32);
    let i = b.global_index();
    let four = b.i32(4);
    let key = b.bin(BinaryOp::Sub, i, four);
    let x = b.func.new_local("x", Scalar::I32.into());
    let label = b.func.new_label();
    let zero = b.i32(0);
    b.stmt(Stmt::Set(x, zero));
    let mut cases = Vec::new();
    for (values, default, put, falls_through) in [
        (vec![0], false, Some(1), false),
        (vec![1], false, Some(2), true),
        (vec![-3], false, None, false),
        (vec![], true, Some(100), false),
    ] {
        b.open();
        let v = match put {
            Some(n) => b.i32(n),
            None => {
                let (old, ten) = (b.op(Scalar::I32, Op::Get(x)), b.i32(10));
                b.bin(BinaryOp::Add, old, ten)
            }
        };
        b.stmt(Stmt::Set(x, v));
        if !falls_through {
            b.stmt(Stmt::Break(label));
        }
        let body = b.close();
        cases.push(Case { values, default, body, falls_through });
    }
    b.stmt(Stmt::Switch { label, value: key, cases });
    let v = b.op(Scalar::I32, Op::Get(x));
    let to = b.at(out, i, Scalar::I32);
    b.store(to, v);
    let code = compile(vec![b.done()]);
    let mut out = vec![0i32; 8];
    assert_eq!(launch(&code, 1, 8, &[buffer(&mut out)]).fault, None);
    let expected: Vec<i32> = (-4..4)
        .map(|k| match k {
            0 => 1,
            1 => 12,
            -3 => 10,
            _ => 100,
        })
        .collect();
    assert_eq!(out, expected);
}

/// A kernel that prints its block and thread `times` times.
fn printing(times: i64) -> Module {
    let mut b = Build::kernel("hello");
    let (block, thread) = (b.builtin(Builtin::BlockIdx(0)), b.builtin(Builtin::ThreadIdx(0)));
    let n = b.i32(times);
    b.count_to(n, |b, k| {
        let (block, thread) = (b.convert(Scalar::I32, block), b.convert(Scalar::I32, thread));
        let s = b.op(Type::Ptr, Op::GlobalAddr(Global::new(0)));
        b.stmt(Stmt::Printf { result: None, format: Format::new(0), args: vec![s, block, thread, k] });
    });
    let mut module = module(vec![b.done()]);
    module.globals.push(GlobalData {
        name: String::new(),
        bytes: b"at\0".to_vec(),
        align: 1,
        elem: Some(Scalar::I8),
        space: Space::ReadOnly,
    });
    module.formats.push(FormatData { text: "%s %d.%d.%d\n".into(), span: place(0) });
    module
}

#[test]
fn output_comes_in_block_thread_time_order() {
    let code = compile_module(&printing(3));
    let outcome = launch(&code, 40, 5, &[]);
    let mut expected = Vec::new();
    for block in 0..40 {
        for thread in 0..5 {
            expected.extend((0..3).map(|k| (block, thread, format!("at {block}.{thread}.{k}\n"))));
        }
    }
    assert!(outcome.output.iter().all(|record| record.kernel.as_deref() == Some("hello")));
    let got: Vec<_> = outcome.output.into_iter().map(|r| (r.block[0], r.thread[0], r.text)).collect();
    assert!(got == expected);
    assert_eq!(outcome.dropped, 0);
}

#[test]
fn a_million_lines_are_bounded_and_the_first_are_kept() {
    let code = compile_module(&printing(10));
    let outcome = launch(&code, 1000, 100, &[]);
    assert_eq!(outcome.output.len(), 100_000);
    assert_eq!(outcome.dropped, 900_000);
    assert_eq!(outcome.output.last().map(|r| r.text.as_str()), Some("at 99.99.9\n"));
}

#[test]
fn dropping_the_last_handle_frees_the_code() {
    // Executable memory that is no file's; other tests, running meanwhile, have little of it.
    let mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        maps.lines().filter(|l| l.contains(" r-xp 00000000 00:00 0") && !l.contains('[')).count()
    };
    let module = module(vec![saxpy()]);
    let run = |times: usize| (0..times).for_each(|_| drop(compile_module(&module)));
    let before = mapped();
    run(500);
    assert!(mapped() < before + 100, "{before} mappings grew to {}", mapped());
    let kept = compile_module(&module);
    let clone = kept.clone();
    drop(kept);
    assert_eq!(launch(&clone, 0, 0, &[RawArg::Scalar(0), RawArg::Scalar(0), RawArg::Null, RawArg::Null]).fault, None);
}

#[test]
fn a_launch_from_a_pool_thread_ends() {
    let code = compile(indices(false));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    pool.install(|| {
        let mut out = vec![0u32; 1 << 16];
        let outcome = launch(&code, 1 << 10, 64, &[buffer(&mut out)]);
        assert_eq!(outcome.fault, None);
        assert!(out.iter().enumerate().all(|(i, v)| i as u32 == *v));
    });
}

#[test]
fn a_zero_grid_or_block_runs_nothing() {
    let code = compile(indices(false));
    assert_eq!(launch(&code, 0, 5, &[buffer::<u32>(&mut [])]).fault, None);
    assert_eq!(launch(&code, 5, 0, &[buffer::<u32>(&mut [])]).fault, None);
}

#[test]
fn the_code_can_be_read() {
    let module = module(indices(true));
    let code = compile_module(&module);
    let all = code.asm(&module, None);
    assert!(all.contains("; indices") && all.contains("; linear") && all.contains("ret"), "{all}");
    assert!(all.contains(" function 1,") && all.contains(" fault,"), "{all}");
    assert!(!code.asm(&module, Some(FuncId::new(1))).contains("; indices"));
}

#[test]
fn a_small_stack_of_the_caller_does_not_matter() {
    let code = compile(fib());
    let run = move || code.call(FuncId::new(1), &[RawArg::Scalar(15)], &LaunchConfig::new(1, 1)).0;
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread");
    assert_eq!(thread.join().ok().flatten(), Some(-610i64 as u64));
}

#[test]
#[ignore = "a measurement, not a check"]
fn measure_compile_and_launch() {
    let module = module(vec![saxpy()]);
    drop(compile_module(&module));
    let mut times: Vec<Duration> = (0..500)
        .map(|_| {
            let start = Instant::now();
            let code = compile_module(&module);
            let took = start.elapsed();
            drop(code);
            took
        })
        .collect();
    times.sort();
    println!("compile: {:?} median, {:?} p90", times[250], times[450]);
    let code = compile_module(&module);
    for n in [8usize, 1 << 12, 1 << 16, 1 << 20, 1 << 24] {
        let (x, mut y) = (vec![1f32; n], vec![2f32; n]);
        let args =
            [RawArg::Scalar(n as u64), RawArg::Scalar(u64::from(0.5f32.to_bits())), read_only(&x), buffer(&mut y)];
        for serial in [true, false] {
            let mut times: Vec<Duration> = (0..31)
                .map(|_| {
                    let start = Instant::now();
                    let config = LaunchConfig { serial, ..LaunchConfig::new(n.div_ceil(256) as u32, 256) };
                    assert_eq!(code.launch(FuncId::new(0), &args, &config).fault, None);
                    start.elapsed()
                })
                .collect();
            times.sort();
            let ns = times[15].as_nanos() as f64;
            println!(
                "n={n} serial={serial}: {:?}, {:.2} ns/element, {:.1} GB/s",
                times[15],
                ns / n as f64,
                12.0 * n as f64 / ns
            );
        }
        let mut times: Vec<Duration> = (0..31)
            .map(|_| {
                let start = Instant::now();
                y.iter_mut().zip(&x).for_each(|(y, x)| *y += 0.5 * x);
                std::hint::black_box(&mut y);
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("   rust loop: {:?}", times[15]);
    }
}
