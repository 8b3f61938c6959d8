//! Code that is there soon, and good code in its place.

use std::sync::Arc;

use std::sync::atomic::{AtomicUsize, Ordering};

use super::build::*;
use super::faults::endless_recursion;
use crate::back::cpu::Code;
use crate::back::cpu::make::background::settle;
use crate::back::cpu::make::choose_tier::Later;
use crate::back::cpu::run::bind::Binding;
use crate::back::cpu::run::launch::{Better, BoundArgs, LaunchCode};
use crate::back::cpu::run::schedule;
use crate::back::cpu::run::wide_code::WideCode;
use crate::back::cpu::tier::Tier;
use crate::back::{FaultKind, Interrupt, LaunchConfig, Outcome, RawArg};
use crate::ir::*;

/// `y[i] = x[i] * i + i`.
fn kernel() -> Module {
    let mut b = Build::kernel("k");
    let (x, y) = (b.ptr("x", Scalar::F32), b.ptr("y", Scalar::F32));
    let i = b.global_index();
    let from = b.at(x, i, Scalar::F32);
    let value = b.load(from, Scalar::F32);
    let index = b.convert(Scalar::F32, i);
    let value = b.bin(BinaryOp::Mul, value, index);
    let value = b.bin(BinaryOp::Add, value, index);
    let to = b.at(y, i, Scalar::F32);
    b.store(to, value);
    module(vec![b.done()])
}

fn code(module: &Module, tier: Tier) -> Code {
    Code::compile(module, None, tier, None).unwrap_or_else(|diags| panic!("{diags:?}")).expect("it has all bodies")
}

fn run(code: &Code, n: usize) -> Vec<f32> {
    let x: Vec<f32> = (0..n).map(|i| (i as f32).sin()).collect();
    let mut y = vec![f32::NAN; n];
    let outcome = code.launch(FuncId::new(0), &[read_only(&x), buffer(&mut y)], &LaunchConfig::new(1, n as u32));
    assert_eq!(outcome.fault, None);
    y
}

fn expected(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i as f32).sin() * i as f32 + i as f32).collect()
}

#[test]
fn good_code_takes_the_place_of_the_first() {
    let code = code(&kernel(), Tier::Auto);
    assert_eq!(run(&code, 37), expected(37));
    settle();
    assert!(code.0.tiers.are_good());
    assert_eq!(run(&code, 37), expected(37));
}

#[test]
fn one_tier_stays_as_it_is() {
    for tier in [Tier::Soon, Tier::Good] {
        let code = code(&kernel(), tier);
        settle();
        assert!(!code.0.tiers.are_good(), "{tier:?} is not replaced");
        assert_eq!(run(&code, 5), expected(5));
    }
}

#[test]
fn a_long_launch_runs_good_code() {
    let mut b = Build::kernel("long");
    let y = b.ptr("y", Scalar::F32);
    let i = b.global_index();
    let to = b.at(y, i, Scalar::F32);
    let value = b.load(to, Scalar::F32);
    b.store(to, value);
    // The launch alone makes the good code.
    let module = module(vec![b.done()]);
    let globals = Arc::new(crate::back::cpu::data::Globals::new(&module, crate::back::cpu::data::Others::None));
    let image = crate::back::cpu::make::build::build(&module, globals, Tier::Auto);
    let code = Code(Arc::new(image.expect("it compiles").expect("it has all bodies")));
    let mut y = vec![0.0f32; 1 << 23];
    let one = code.launch(FuncId::new(0), &[buffer(&mut y)], &LaunchConfig::new(1, 32));
    assert_eq!((one.fault, code.0.tiers.are_settled()), (None, false));
    let outcome = code.launch(FuncId::new(0), &[buffer(&mut y)], &LaunchConfig::new(1 << 13, 1 << 10));
    assert_eq!(outcome.fault, None);
    assert!(code.0.tiers.are_good());
}

/// The greatest depth of a recursion depends on the frames.
#[test]
fn what_calls_itself_has_one_tier() {
    let code = code(&module(endless_recursion()), Tier::Auto);
    settle();
    assert!(!code.0.tiers.are_good());
}

/// A chain of calls must not overflow the stack in one tier and fit in the other: where the frames of the chain are too large together, there is one
/// tier.
#[test]
fn large_frames_that_call_one_another_have_one_tier() {
    let chain = |bytes: u32| {
        let call = |b: &mut Build, callee| {
            b.stmt(Stmt::Call { result: None, func: FuncId::new(callee), args: vec![], raised: None });
        };
        let mut kernel = Build::kernel("k");
        let y = kernel.ptr("y", Scalar::F32);
        let i = kernel.global_index();
        let to = kernel.at(y, i, Scalar::F32);
        let value = kernel.load(to, Scalar::F32);
        call(&mut kernel, 1);
        kernel.store(to, value);
        let mut functions = vec![kernel.done()];
        for callee in [Some(2), Some(3), None] {
            let mut b = Build::new("f", FuncKind::Device);
            let a = b.slot("a", Scalar::F32, bytes / 4);
            let zero = b.op(Scalar::F32, Op::Const(Const::F32(0.0)));
            b.store(a, zero);
            if let Some(callee) = callee {
                call(&mut b, callee);
            }
            functions.push(b.done());
        }
        code(&module(functions), Tier::Auto)
    };
    for (bytes, has_two) in [(1 << 10, true), (400 << 10, false)] {
        let code = chain(bytes);
        settle();
        assert_eq!(code.0.tiers.are_good(), has_two, "{bytes} bytes a function");
    }
}

/// Functions that do not call one another need no more of the stack than the largest of them.
#[test]
fn large_frames_side_by_side_have_two_tiers() {
    let mut kernel = Build::kernel("k");
    let mut functions = Vec::new();
    for callee in 1..=3 {
        kernel.stmt(Stmt::Call { result: None, func: FuncId::new(callee), args: vec![], raised: None });
        let mut b = Build::new("f", FuncKind::Device);
        let a = b.slot("a", Scalar::F32, 100 << 10);
        let zero = b.op(Scalar::F32, Op::Const(Const::F32(0.0)));
        b.store(a, zero);
        functions.push(b.done());
    }
    functions.insert(0, kernel.done());
    let code = code(&module(functions), Tier::Auto);
    settle();
    assert!(code.0.tiers.are_good());
}

#[test]
fn launches_go_on_while_code_is_replaced() {
    let expected = expected(64);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let code = code(&kernel(), Tier::Auto);
                    while !code.0.tiers.are_good() {
                        assert_eq!(run(&code, 64), expected);
                    }
                    assert_eq!(run(&code, 64), expected);
                }
            });
        }
    });
}

/// The programs that other threads have queued meanwhile do not count for one's own.
#[test]
fn each_thread_settles_its_own() {
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let code = code(&kernel(), Tier::Auto);
                    settle();
                    assert!(code.0.tiers.are_good());
                }
            });
        }
    });
}

/// A program that is let go while its code is made takes nothing with it.
#[test]
fn programs_may_end_before_their_code() {
    for _ in 0..200 {
        drop(code(&kernel(), Tier::Auto));
    }
    settle();
    let code = code(&kernel(), Tier::Auto);
    assert_eq!(run(&code, 3), expected(3));
}

/// `y[i] += x[i]`, after a loop of a hundred sums and differences that give `x[i]` again: a block that ran twice would show.
fn long_kernel() -> Module {
    let mut b = Build::kernel("k");
    let (x, y) = (b.ptr("x", Scalar::F32), b.ptr("y", Scalar::F32));
    let i = b.global_index();
    let from = b.at(x, i, Scalar::F32);
    let value = b.load(from, Scalar::F32);
    let sum = b.func.new_local("sum", Scalar::F32.into());
    b.stmt(Stmt::Set(sum, value));
    let rounds = b.i32(100);
    b.count_to(rounds, |b, _| {
        let now = b.op(Scalar::F32, Op::Get(sum));
        let more = b.bin(BinaryOp::Add, now, now);
        let back = b.bin(BinaryOp::Sub, more, now);
        b.stmt(Stmt::Set(sum, back));
    });
    let value = b.op(Scalar::F32, Op::Get(sum));
    let to = b.at(y, i, Scalar::F32);
    let before = b.load(to, Scalar::F32);
    let value = b.bin(BinaryOp::Add, before, value);
    b.store(to, value);
    module(vec![b.done()])
}

/// Better code that is there at the `at`th look, and at no other: another thread may hold its lock.
struct FromLook<'a> {
    later: Later<'a>,
    looks: AtomicUsize,
    at: usize,
}

impl Better for FromLook<'_> {
    fn begin(&self) {}

    fn code(&self, now: Option<&Arc<WideCode>>) -> Option<(Arc<WideCode>, bool)> {
        if self.looks.fetch_add(1, Ordering::Relaxed) == self.at { self.later.code(now) } else { None }
    }
}

struct Never;

impl Interrupt for Never {
    fn interrupted(&self) -> bool {
        false
    }
}

/// Launches a kernel in good code, of which lanes take the place at the `at`th look; gives the tier that ran last.
fn run_and_switch(
    code: &Code,
    args: &[RawArg],
    config: &LaunchConfig<'_>,
    at: usize,
) -> (Outcome, Option<&'static str>) {
    let (func, compiled) = (FuncId::new(0), &code.0);
    let image = &*compiled.image;
    let entry = image.entry(func).expect("a kernel");
    let binding = Binding::new(image, entry, args, config);
    let words = binding.words(entry, args);
    let wide = compiled.wide.as_ref().expect("lanes can be made");
    assert!(wide.make_for(&image.globals, (func, config.block), &words, &Never).is_ok());
    let later = Later { module: compiled, func, block: config.block, args: &words };
    let better = FromLook { later, looks: AtomicUsize::new(0), at };
    let first = LaunchCode { machine: compiled.tiers.now(), wide: None, tier: Tier::Good, better: Some(&better) };
    let bound = BoundArgs { descs: &binding.descs, derived: &binding.derived, args: &words, deadline: None };
    let (_, outcome) = schedule::run(image, entry, first, &bound, config);
    (outcome, code.last_tier(func))
}

#[test]
fn lanes_take_over_within_a_launch_that_lasts() {
    // A launch of a few milliseconds at least, on any machine: a hundred dependent operations for each of four million threads.
    const BLOCKS: u32 = 1 << 15;
    let n = BLOCKS as usize * 128;
    let code = code(&long_kernel(), Tier::Lanes);
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    for at in [0, 1, 3] {
        let mut y = vec![0f32; n];
        let config = LaunchConfig::new(BLOCKS, 128);
        let (outcome, tier) = run_and_switch(&code, &[read_only(&x), buffer(&mut y)], &config, at);
        assert_eq!((outcome.fault, tier), (None, Some("lanes")), "{at}");
        assert!(x == y, "{at}");
    }
    // A fault of the last block is found by lanes, one of the first by the code before them.
    for (len, block) in [(n - 1, BLOCKS - 1), (5, 0)] {
        let mut y = vec![0f32; len];
        let config = LaunchConfig::new(BLOCKS, 128);
        let (outcome, tier) = run_and_switch(&code, &[read_only(&x), buffer(&mut y)], &config, 0);
        let fault = outcome.fault.expect("y is too short");
        assert_eq!((fault.kind, fault.block), (FaultKind::OutOfBoundsRead, [block, 0, 0]));
        assert_eq!(tier, Some(if block == 0 { "good" } else { "lanes" }));
    }
}
