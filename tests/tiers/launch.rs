//! One kernel on its data sets: by the interpreter, on the IR before and after the passes, and by each tier of machine code.

use std::time::Duration;

use workbench::back::FaultKind;
use workbench::front;
use workbench::ir::{Const, FuncId, Module, ParamType, Scalar, Stmt};
use workbench::pass;
use workbench::runtime::{Arg, BufferArg, CompileOptions, DType, Dim3, Error, LaunchConfig, Program, Tier};

use super::interpreter::{self, Argument, Ending, Order};
use super::kernel::Kernel;
use super::random::Random;

/// The number of statements of a launch; longer launches are left out.
const STEPS: u64 = 30_000_000;

/// The result of a launch: its arrays, or its faults.
#[derive(Debug, Clone, PartialEq)]
enum Result {
    Good(Vec<Vec<u64>>),
    /// The faults of the interpreter are all that may occur; the first is of the lowest thread. The last are of warps that ran ahead.
    Faults([u32; 3], Vec<Fault>, Vec<Fault>),
}

/// A fault: its kind, its line in the text, and its thread.
#[derive(Debug, Clone, PartialEq)]
struct Fault {
    kind: FaultKind,
    line: u32,
    thread: [u32; 3],
}

impl Result {
    /// True if machine code may end in `other` where the interpreter ended in `self`; `exact` where no other fault than the lowest thread's
    /// will do. Fibers, and warps whose threads run in step, let a warp run ahead of others.
    fn allows(&self, other: &Result, tier: Tier, exact: bool) -> bool {
        match (self, other) {
            (Result::Faults(block, all, ahead), Result::Faults(at, came, _)) => {
                let all = if exact { &all[..1] } else { &all[..] };
                let runs_ahead = matches!(tier, Tier::Fibers | Tier::Lanes | Tier::Wide);
                let ahead = if runs_ahead { &ahead[..] } else { &[] };
                block == at && came.iter().all(|fault| all.contains(fault) || ahead.contains(fault))
            }
            _ => self == other,
        }
    }

    /// True if the launch did not end in time.
    fn hangs(&self) -> bool {
        matches!(self, Result::Faults(_, faults, _) if faults.iter().any(|fault| fault.kind == FaultKind::Timeout))
    }
}

/// True if threads of a kernel meet only at statements that all of them reach: threads that go on have then passed everything before.
/// Otherwise threads of a block may have stopped at a construct that holds a barrier, before the fault of a lower thread that comes after
/// it.
fn meets_in_the_open(module: &Module, id: FuncId) -> bool {
    let meets = |stmt: &Stmt| matches!(stmt, Stmt::Barrier(_) | Stmt::Collective { .. });
    module.func(id).body.stmts.iter().all(|stmt| {
        let mut any = false;
        stmt.blocks().iter().for_each(|block| block.for_each_stmt(&mut |inner| any |= meets(inner)));
        !any
    })
}

/// A disagreement.
#[derive(Debug, Clone)]
pub struct Failure {
    pub message: String,
    /// True if results differ; false for a text that does not compile or a kernel that races.
    pub differs: bool,
    /// True if the launch did not end in time.
    pub hangs: bool,
}

/// The outcome of a kernel that all agree on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ended {
    pub faults: usize,
}

/// The arrays and numbers of a data set.
struct Data {
    args: Vec<Argument>,
    /// Elements by which an array is off a multiple of 64 bytes.
    shift: usize,
}

fn floats(rng: &mut Random, count: usize, odd: bool) -> Vec<f64> {
    let mut one = || match rng.below(if odd { 4 } else { 4000 }) {
        0 => *rng.pick(&[
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            -f64::INFINITY,
            1e-40,
            0.5,
            -2.5,
            1e38,
            3e9,
            -1e19,
            65504.0,
        ]),
        1 => f64::from(f32::from_bits(rng.bits() as u32)),
        2 => rng.below(20) as f64 - 10.0,
        _ => (rng.bits() as i32) as f64 / f64::from(1 << 28),
    };
    (0..count).map(|_| one()).collect()
}

fn ints(rng: &mut Random, count: usize) -> Vec<u64> {
    let mut one = || match rng.below(4) {
        0 => rng.bits(),
        1 => *rng.pick(&[0, 1, u64::MAX, i32::MAX as u64, i32::MIN as i64 as u64, 1 << 63, 255, 256, 65535]),
        // These end in another float if they are rounded to a double and then to a float.
        2 if rng.one_in(3) => {
            *rng.pick(&[(1 << 62) + (1 << 38) + 1, (1 << 63) + (1 << 39) + 1, (1 << 60) + (3 << 36) - 1])
        }
        2 => (rng.below(41) as i64 - 20) as u64,
        _ => rng.bits() >> 33,
    };
    (0..count).map(|_| one()).collect()
}

impl Data {
    fn new(kernel: &Kernel, module: &Module, id: FuncId, number: usize) -> Data {
        let mut rng = Random::new(kernel.cells as u64 * 31 + number as u64);
        let (n, k) = kernel.sizes[number];
        let odd = number > 0;
        let mut args = Vec::new();
        for param in &module.func(id).params {
            args.push(match param.ty {
                ParamType::Ptr { elem, is_const } => {
                    let scalar = elem.and_then(|e| e.scalar()).expect("arrays are of scalars");
                    let count = match (is_const, param.name.as_str()) {
                        (true, _) => kernel.inputs,
                        (false, "h") => 80,
                        (false, "z" | "g") => kernel.cells - kernel.short,
                        (false, _) => kernel.cells,
                    };
                    let bytes = match scalar {
                        Scalar::F32 => {
                            floats(&mut rng, count, odd).iter().flat_map(|x| (*x as f32).to_le_bytes()).collect()
                        }
                        Scalar::F64 => floats(&mut rng, count, odd).iter().flat_map(|x| x.to_le_bytes()).collect(),
                        s => {
                            let size = s.size() as usize;
                            ints(&mut rng, count).iter().flat_map(|x| x.to_le_bytes()[..size].to_vec()).collect()
                        }
                    };
                    Argument::Array(bytes)
                }
                ParamType::Scalar(Scalar::F32) => {
                    Argument::Number(u64::from([1.5f32, -0.25, 3e5][number % 3].to_bits()))
                }
                ParamType::Scalar(_) => Argument::Number(if param.name == "n" { n } else { k } as i64 as u64),
                ParamType::Bytes { .. } => unreachable!("no kernel here takes a struct"),
            });
        }
        Data { args, shift: number }
    }
}

/// An array's elements as bits, in which all NaNs are the same.
fn elements(bytes: &[u8], scalar: Scalar) -> Vec<u64> {
    let one = |chunk: &[u8]| {
        let mut wide = [0; 8];
        wide[..chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_le_bytes(wide);
        match scalar {
            Scalar::F32 if f32::from_bits(bits as u32).is_nan() => u64::from(f32::NAN.to_bits()),
            Scalar::F64 if f64::from_bits(bits).is_nan() => f64::NAN.to_bits(),
            _ => bits,
        }
    };
    bytes.chunks(scalar.size() as usize).map(one).collect()
}

fn scalars(module: &Module, id: FuncId) -> Vec<Option<Scalar>> {
    let of = |ty| match ty {
        ParamType::Ptr { elem, .. } => elem.and_then(|e| e.scalar()),
        _ => None,
    };
    module.func(id).params.iter().map(|p| of(p.ty)).collect()
}

fn interpreted(program: &Program, module: &Module, kernel: &Kernel, data: &Data, order: Order) -> Option<Result> {
    let id = module.find("kernel").expect("there is a kernel");
    let mut args = data.args.clone();
    match interpreter::launch(module, id, &mut args, kernel.grid, kernel.block, STEPS, order) {
        Ending::Endless => None,
        Ending::Faults { block, faults, ahead } => {
            let line = |span| program.sources().line_column(span).map_or(0, |at| at.line);
            let told = |all: Vec<interpreter::Fault>| {
                all.iter().map(|f| Fault { kind: f.kind, line: line(f.span), thread: f.thread }).collect()
            };
            Some(Result::Faults(block, told(faults), told(ahead)))
        }
        Ending::Good => {
            let arrays = args.iter().zip(scalars(module, id)).filter_map(|(arg, scalar)| match arg {
                Argument::Array(bytes) => Some(elements(bytes, scalar?)),
                Argument::Number(_) => None,
            });
            Some(Result::Good(arrays.collect()))
        }
    }
}

/// Bytes on either side of an array that nothing may touch.
const FENCE: usize = 256;

fn compiled(program: &Program, kernel: &Kernel, data: &Data, limit: Duration) -> std::result::Result<Result, String> {
    let function = program.kernel("kernel").map_err(|e| e.to_string())?;
    let module = program.module();
    let id = module.find("kernel").expect("there is a kernel");
    let scalars = scalars(module, id);
    let mut memory: Vec<(Vec<u64>, usize, usize)> = Vec::new();
    for (arg, scalar) in data.args.iter().zip(&scalars) {
        if let (Argument::Array(bytes), Some(scalar)) = (arg, scalar) {
            let words = vec![0x5555_5555_5555_5555u64; (bytes.len() + 2 * FENCE + 128) / 8];
            let start = FENCE + words.as_ptr().cast::<u8>().align_offset(64) + data.shift * scalar.size() as usize;
            memory.push((words, start, bytes.len()));
            let (words, ..) = memory.last_mut().expect("just added");
            view(words)[start..start + bytes.len()].copy_from_slice(bytes);
        }
    }
    let mut args = Vec::new();
    let mut arrays = memory.iter_mut();
    for (arg, param) in data.args.iter().zip(&module.func(id).params) {
        args.push(match (arg, param.ty) {
            (Argument::Array(bytes), ParamType::Ptr { elem: Some(elem), is_const }) => {
                let (words, start, _) = arrays.next().expect("each array has memory");
                let ptr = view(words)[*start..].as_mut_ptr();
                Arg::Buffer(BufferArg { ptr, bytes: bytes.len(), dtype: DType::from(elem), writable: !is_const })
            }
            (Argument::Number(bits), ParamType::Scalar(Scalar::F32)) => {
                Arg::Scalar(Const::F32(f32::from_bits(*bits as u32)))
            }
            (Argument::Number(bits), ParamType::Scalar(s)) => Arg::Scalar(Const::Int(s, *bits as i64)),
            _ => unreachable!("arguments fit parameters"),
        });
    }
    let three = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
    let mut config = LaunchConfig::new(three(kernel.grid), three(kernel.block));
    config.timeout = Some(limit);
    let ended = function.launch_raw(&config, &args);
    // A kernel that can be written in C must compile without a C compiler.
    if let Err(why) = function.c_source(three(kernel.block))
        && why.contains("our own compiler")
    {
        return Err(why);
    }
    match ended {
        Err(Error::Fault(fault)) => {
            let line = fault.sources.line_column(fault.span).map_or(0, |at| at.line);
            Ok(Result::Faults(fault.block, vec![Fault { kind: fault.kind, line, thread: fault.thread }], Vec::new()))
        }
        Err(other) => Err(other.to_string()),
        Ok(_) => {
            let mut out = Vec::new();
            for ((words, start, len), scalar) in memory.iter_mut().zip(scalars.iter().flatten()) {
                let bytes = view(words);
                let outside = bytes[..*start].iter().chain(&bytes[*start + *len..]);
                if outside.into_iter().any(|b| *b != 0x55) {
                    return Err("memory outside the arrays was written".to_owned());
                }
                out.push(elements(&bytes[*start..*start + *len], *scalar));
            }
            Ok(Result::Good(out))
        }
    }
}

fn view(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: any bytes are valid for words, and a word is eight bytes.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}

/// The difference, in words.
fn difference(module: &Module, expected: &Result, came: &Result) -> String {
    let (Result::Good(expected), Result::Good(came)) = (expected, came) else {
        let tell = |r: &Result| match r {
            Result::Good(_) => "no fault".to_owned(),
            Result::Faults(block, faults, _) => {
                let more = if faults.len() > 1 { format!(" (and {} more)", faults.len() - 1) } else { String::new() };
                format!("{:?} in block {block:?}{more}", faults[0])
            }
        };
        return format!("expected {}, came {}", tell(expected), tell(came));
    };
    let id = module.find("kernel").expect("there is a kernel");
    let names: Vec<(&str, Scalar)> = module
        .func(id)
        .params
        .iter()
        .zip(scalars(module, id))
        .filter_map(|(p, s)| Some((p.name.as_str(), s?)))
        .collect();
    let mut out = Vec::new();
    for (((name, scalar), e), c) in names.iter().zip(expected).zip(came) {
        let wrong: Vec<usize> = (0..e.len()).filter(|i| e[*i] != c[*i]).collect();
        if let Some(first) = wrong.first() {
            let show = |bits: u64| match scalar {
                Scalar::F32 => format!("{:?} ({bits:#x})", f32::from_bits(bits as u32)),
                Scalar::F64 => format!("{:?} ({bits:#x})", f64::from_bits(bits)),
                _ => format!("{bits:#x}"),
            };
            let (e, c) = (show(e[*first]), show(c[*first]));
            out.push(format!("{name}[{first}]: expected {e}, came {c} ({} differ)", wrong.len()));
        }
    }
    out.join("; ")
}

fn program(source: &str, tier: Tier, fmad: bool) -> std::result::Result<Program, Failure> {
    let front = front::Options { fmad: Some(fmad), ..front::Options::default() };
    let options = CompileOptions { tier, front, ..CompileOptions::default() };
    Program::compile(source, &options).map_err(|e| Failure {
        message: format!("{tier:?} does not compile: {e}"),
        differs: false,
        hangs: false,
    })
}

/// Runs a kernel in every way on all its data sets. `limit` is for each launch, and the C compiler's time counts.
pub fn try_kernel(
    kernel: &Kernel,
    source: &str,
    tiers: &[Tier],
    limit: Duration,
) -> std::result::Result<Ended, Failure> {
    let mut programs = Vec::new();
    for tier in tiers {
        programs.push((*tier, program(source, *tier, kernel.fmad)?));
    }
    let first = &programs[0].1;
    let module = first.module();
    let id = module.find("kernel").ok_or(Failure { message: "no kernel".to_owned(), differs: false, hangs: false })?;
    let mut prepared = module.clone();
    pass::prepare_for_cpu(&mut prepared);
    let exact = meets_in_the_open(&prepared, id);
    let mut ended = Ended::default();
    for number in 0..kernel.sizes.len() {
        let data = Data::new(kernel, module, id, number);
        let (n, k) = kernel.sizes[number];
        let fail = |what: &str, message: String| Failure {
            message: format!("{what} with data set {number} (n = {n}, k = {k}): {message}"),
            differs: true,
            hangs: false,
        };
        // A pass decides what becomes one `fma`, so such a kernel is what it is after the passes.
        let meant = if kernel.fmad { &prepared } else { module };
        let Some(expected) = interpreted(first, meant, kernel, &data, Order::Forward) else { continue };
        ended.faults += usize::from(matches!(expected, Result::Faults(..)));
        // The IR after the passes, and threads in another order: the former finds mistakes of the passes, the latter kernels that race.
        if number == 0 {
            if let Some(other) = interpreted(first, &prepared, kernel, &data, Order::Forward)
                && other != expected
            {
                return Err(fail("after the passes", difference(module, &expected, &other)));
            }
            if let Some(other) = interpreted(first, meant, kernel, &data, Order::Backward)
                && other != expected
                && matches!((&other, &expected), (Result::Good(_), _) | (_, Result::Good(_)))
            {
                let message = format!("the kernel races: {}", difference(module, &expected, &other));
                return Err(Failure { differs: false, ..fail("backwards", message) });
            }
        }
        for (tier, program) in &programs {
            match compiled(program, kernel, &data, limit) {
                Ok(came) if expected.allows(&came, *tier, exact) => {}
                Ok(came) => {
                    let failure = fail(&format!("{tier:?}"), difference(module, &expected, &came));
                    return Err(Failure { hangs: came.hangs(), ..failure });
                }
                Err(message) => return Err(fail(&format!("{tier:?}"), message)),
            }
        }
    }
    Ok(ended)
}
