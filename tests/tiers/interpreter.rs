//! An interpreter that runs a kernel of a module as its IR says, one thread after the other: machine code is compared with its answer.
//!
//! A block's threads run to the next barrier or collective, in order; when all have arrived, those that may go on do so. So a fault is one
//! of the first stretch between two of these in which a thread faults. Warps need not wait for one another at a collective, so other warps
//! may have run ahead of that stretch and faulted there.

use workbench::back::FaultKind;
use workbench::ir::{Collective, FuncId, Module, ReduceOp, Scalar, Shuffle};
use workbench::source::Span;

use super::memory::{FIRST, Memory};
use super::thread::{Meeting, State, Thread, Trouble, Waiting, World, is_const};
use super::value::{self, Val};

/// An argument of a launch.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A number, as [`Val::bits`].
    Number(u64),
    /// An array.
    Array(Vec<u8>),
}

/// A thread's fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    pub span: Span,
    pub thread: [u32; 3],
}

/// The end of a launch.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    Good,
    /// The faults of the threads of a stretch, in their order, and those of warps that ran ahead of it.
    Faults {
        block: [u32; 3],
        faults: Vec<Fault>,
        ahead: Vec<Fault>,
    },
    /// More statements than allowed.
    Endless,
}

/// The order of the threads of a stretch; results must not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Forward,
    Backward,
}

/// Runs a kernel; arrays in `args` are left as the kernel leaves them.
pub fn launch(
    module: &Module,
    kernel: FuncId,
    args: &mut [Argument],
    grid: [u32; 3],
    block: [u32; 3],
    steps: u64,
    order: Order,
) -> Ending {
    let mut memory = Memory::new(1 << 32);
    let mut words = Vec::new();
    for (arg, param) in args.iter_mut().zip(&module.func(kernel).params) {
        words.push(match arg {
            Argument::Number(bits) => Val::new(*bits),
            Argument::Array(bytes) => {
                let at = memory.add(std::mem::take(bytes), !is_const(param));
                Val { bits: memory.buffers[at].base, buffer: FIRST + at as u32 }
            }
        });
    }
    let at = |size: usize, bytes: Option<&[u8]>, memory: &mut Memory| {
        let at = match bytes {
            Some(bytes) => memory.add(bytes.to_vec(), false),
            None => memory.poisoned(size),
        };
        Val { bits: memory.buffers[at].base, buffer: FIRST + at as u32 }
    };
    let globals: Vec<Val> = module.globals.iter().map(|g| at(0, Some(&g.bytes), &mut memory)).collect();
    for (global, place) in module.globals.iter().zip(&globals) {
        memory.buffers[(place.buffer - FIRST) as usize].writable = global.space.is_writable();
    }
    let shared: Vec<Val> = module.shared.iter().map(|m| at(m.size as usize, None, &mut memory)).collect();
    let mut world = World { module, memory, globals, shared, args: words.clone(), grid, block, at: [0; 3], steps };
    let mut ending = Ending::Good;
    'blocks: for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                world.at = [x, y, z];
                if let Err(other) = one_block(&mut world, kernel, order) {
                    ending = other;
                    break 'blocks;
                }
            }
        }
    }
    for (arg, word) in args.iter_mut().zip(&words) {
        if let Argument::Array(bytes) = arg {
            *bytes = std::mem::take(&mut world.memory.buffers[(word.buffer - FIRST) as usize].bytes);
        }
    }
    ending
}

fn one_block<'m>(world: &mut World<'m>, kernel: FuncId, order: Order) -> Result<(), Ending> {
    for place in &world.shared {
        world.memory.buffers[(place.buffer - FIRST) as usize].bytes.fill(workbench::ir::POISON);
    }
    let [nx, ny, nz] = world.block;
    let mut threads = Vec::with_capacity((nx * ny * nz) as usize);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                threads.push(Thread::new([x, y, z], kernel, world));
            }
        }
    }
    loop {
        let faults = stretch(world, &mut threads, order)?;
        if !faults.is_empty() {
            let mut ahead = Vec::new();
            while meet_in_warps(&mut threads) {
                ahead.extend(stretch(world, &mut threads, order)?);
            }
            return Err(Ending::Faults { block: world.at, faults, ahead });
        }
        if threads.iter().all(|t| matches!(t.state, State::Done)) {
            return Ok(());
        }
        if !meet(&mut threads) {
            let waiting = threads.iter().find_map(|t| match &t.state {
                State::Waiting(waiting) => Some((waiting, t.index)),
                _ => None,
            });
            let (waiting, thread) = waiting.expect("somebody waits");
            let kind = match waiting.meeting {
                Meeting::Barrier => FaultKind::BarrierDivergence,
                Meeting::Collective(op) if op.is_block() => FaultKind::BarrierDivergence,
                _ => FaultKind::CollectiveMismatch,
            };
            let faults = vec![Fault { kind, span: waiting.span, thread }];
            return Err(Ending::Faults { block: world.at, faults, ahead: Vec::new() });
        }
    }
}

/// Runs each thread that can go on until it waits, faults or is done; gives the faults.
fn stretch<'m>(world: &mut World<'m>, threads: &mut [Thread<'m>], order: Order) -> Result<Vec<Fault>, Ending> {
    let count = threads.len();
    let mut faults = Vec::new();
    for i in 0..count {
        let thread = &mut threads[if order == Order::Forward { i } else { count - 1 - i }];
        match thread.run(world) {
            Ok(()) => {}
            Err(Trouble::Fault(kind, span)) => {
                thread.state = State::Faulted;
                faults.push(Fault { kind, span, thread: thread.index });
            }
            Err(Trouble::Endless) => return Err(Ending::Endless),
            Err(Trouble::Unsupported(what)) => panic!("the interpreter does not know {what}"),
        }
    }
    Ok(faults)
}

fn waiting<'a>(thread: &'a Thread<'_>) -> Option<&'a Waiting> {
    match &thread.state {
        State::Waiting(waiting) => Some(waiting),
        _ => None,
    }
}

/// Lets threads go on that may; true if any may.
fn meet(threads: &mut [Thread<'_>]) -> bool {
    let live: Vec<usize> = (0..threads.len()).filter(|t| !matches!(threads[*t].state, State::Done)).collect();
    let first = waiting(&threads[live[0]]).expect("a live thread waits").clone();
    let of_block = match first.meeting {
        Meeting::Barrier => true,
        Meeting::Collective(op) => op.is_block(),
        Meeting::Warp => false,
    };
    if of_block && live.iter().all(|t| waiting(&threads[*t]).is_some_and(|w| w.path == first.path)) {
        let holds = live.iter().filter(|t| waiting(&threads[**t]).is_some_and(|w| w.args.first() == Some(&1))).count();
        let result = match first.meeting {
            Meeting::Collective(Collective::SyncAnd) => u64::from(holds == live.len()),
            Meeting::Collective(Collective::SyncOr) => u64::from(holds > 0),
            _ => holds as u64,
        };
        live.iter().for_each(|t| threads[*t].resume(result));
        return true;
    }
    meet_in_warps(threads)
}

/// Lets threads go on whose warps need no other one; true if any may.
fn meet_in_warps(threads: &mut [Thread<'_>]) -> bool {
    threads.chunks_mut(32).fold(false, |moved, warp| meet_in_warp(warp) | moved)
}

fn meet_in_warp(warp: &mut [Thread<'_>]) -> bool {
    let mut moved = false;
    let live = (0..warp.len()).filter(|l| !matches!(warp[*l].state, State::Done)).fold(0u32, |m, l| m | 1 << l);
    let mut left = live;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let Some(own) = waiting(&warp[lane]).cloned() else { continue };
        let mask = match own.meeting {
            Meeting::Barrier => continue,
            Meeting::Warp => live,
            Meeting::Collective(op) if op.is_block() => continue,
            Meeting::Collective(Collective::ActiveMask) => panic!("the interpreter does not know __activemask"),
            Meeting::Collective(_) => own.args[0] as u32,
        };
        let needed = mask & live;
        let there = |l: &usize| {
            let other = waiting(&warp[*l]);
            other.is_some_and(|w| w.path == own.path && (own.meeting == Meeting::Warp || w.args[0] as u32 == mask))
        };
        let lanes: Vec<usize> = (0..32).filter(|l| needed >> l & 1 != 0).collect();
        if mask >> lane & 1 == 0 || !lanes.iter().all(there) {
            continue;
        }
        let args: Vec<Option<Vec<u64>>> =
            (0..32).map(|l| lanes.contains(&l).then(|| waiting(&warp[l]).map(|w| w.args.clone())).flatten()).collect();
        for l in lanes {
            let result = match own.meeting {
                Meeting::Collective(op) => combined(op, l, &args, own.ty),
                _ => 0,
            };
            warp[l].resume(result);
            left &= !(1 << l);
        }
        moved = true;
    }
    moved
}

/// The result for a lane; `args` are those of the lanes that take part.
fn combined(op: Collective, lane: usize, args: &[Option<Vec<u64>>], ty: Option<Scalar>) -> u64 {
    let parts = || args.iter().enumerate().filter_map(|(l, a)| a.as_ref().map(|a| (l, a)));
    let own = args[lane].as_ref().expect("the lane takes part");
    let ballot =
        |holds: &dyn Fn(&Vec<u64>) -> bool| parts().filter(|(_, a)| holds(a)).fold(0u32, |m, (l, _)| m | 1 << l);
    let all = ballot(&|_| true);
    let votes = || ballot(&|a| a[1] != 0);
    match op {
        Collective::Shfl(kind) => {
            let from = source(kind, lane as i32, own[2] as i32, own[3] as i32);
            // A lane that does not take part gives zero, as `back/cpu/join.rs` promises.
            args.get(from).and_then(Option::as_ref).map_or(0, |a| a[1])
        }
        Collective::Ballot => u64::from(votes()),
        Collective::Any => u64::from(votes() != 0),
        Collective::All => u64::from(votes() == all),
        Collective::Uni => u64::from(votes() == all || votes() == 0),
        Collective::MatchAny => u64::from(ballot(&|a| a[1] == own[1])),
        Collective::MatchAll => u64::from(if ballot(&|a| a[1] == own[1]) == all { all } else { 0 }),
        Collective::Reduce(reduce) => {
            let s = ty.expect("a reduction has an operand");
            let numbers = parts().map(|(_, a)| value::number(s, a[1]));
            let result = match reduce {
                ReduceOp::Add => numbers.sum(),
                ReduceOp::Min => numbers.min().unwrap_or(0),
                ReduceOp::Max => numbers.max().unwrap_or(0),
                ReduceOp::And => numbers.fold(-1, |a, b| a & b),
                ReduceOp::Or => numbers.fold(0, |a, b| a | b),
                ReduceOp::Xor => numbers.fold(0, |a, b| a ^ b),
            };
            value::wrap(s, result)
        }
        Collective::SyncWarp
        | Collective::ActiveMask
        | Collective::SyncCount
        | Collective::SyncAnd
        | Collective::SyncOr => 0,
    }
}

/// The lane that a shuffle reads from: PTX ISA, `shfl.sync`, with the width as CUDA's header passes it.
fn source(kind: Shuffle, lane: i32, by: i32, width: i32) -> usize {
    let by = by & 31;
    let segment = (32 - width) & 31;
    let clamp = if kind == Shuffle::Up { 0 } else { 31 };
    let (least, most) = (lane & segment, (lane & segment) | (clamp & !segment));
    let (from, inside) = match kind {
        Shuffle::Up => (lane - by, lane - by >= most),
        Shuffle::Down => (lane + by, lane + by <= most),
        Shuffle::Xor => (lane ^ by, (lane ^ by) <= most),
        Shuffle::Idx => (least | (by & !segment), (least | (by & !segment)) <= most),
    };
    (if inside { from } else { lane }) as usize
}
