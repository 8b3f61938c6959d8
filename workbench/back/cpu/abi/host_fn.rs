//! Functions of this process that generated code calls: their numbers, names and signatures. [`addresses`](crate::back::cpu::make::addresses)
//! says where they are.

use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;

use crate::ir::MathFn;

/// A function of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFn {
    /// [`fault`](crate::back::cpu::run::faults::fault).
    Fault,
    /// [`tick`](crate::back::cpu::run::tick::tick), by way of [`thunk`](crate::back::cpu::make::thunk).
    Tick,
    /// [`lookup`](crate::back::cpu::run::lookup::lookup).
    Lookup,
    /// [`printf`](crate::back::cpu::run::output::printf).
    Printf,
    /// [`fill`](crate::back::cpu::run::memory::fill).
    Fill,
    /// [`mask`](crate::back::cpu::run::block_sync::mask).
    Mask,
    /// [`barrier`](crate::back::cpu::run::block_sync::barrier).
    Barrier,
    /// [`collect`](crate::back::cpu::run::block_sync::collect).
    Collect,
    /// [`service`](crate::back::cpu::run::services::service).
    Service,
    /// [`launch`](crate::back::cpu::run::services::launch).
    Launch,
    /// [`relocate`](crate::back::cpu::run::services::relocate).
    Relocate,
    /// [`function`](crate::back::cpu::run::services::function).
    Function,
    /// [`slots`](crate::back::cpu::run::memory::slots).
    Slots,
    /// [`catch`](crate::back::cpu::run::services::catch).
    Catch,
    /// [`meet`](crate::back::cpu::run::fibers::meet).
    Meet,
    /// [`give_way`](crate::back::cpu::run::fibers::give_way).
    GiveWay,
    /// [`tick`](crate::back::cpu::run::tick::tick) itself.
    Poll,
    /// A math function, on `double`s or `float`s.
    Math(MathFn, bool),
}

const HELPERS: u32 = 17;

/// The number of a function, in names and in [`addresses`](crate::back::cpu::make::addresses::addresses).
pub fn index(host: HostFn) -> u32 {
    match host {
        HostFn::Fault => 0,
        HostFn::Tick => 1,
        HostFn::Lookup => 2,
        HostFn::Printf => 3,
        HostFn::Fill => 4,
        HostFn::Mask => 5,
        HostFn::Barrier => 6,
        HostFn::Collect => 7,
        HostFn::Service => 8,
        HostFn::Launch => 9,
        HostFn::Relocate => 10,
        HostFn::Function => 11,
        HostFn::Slots => 12,
        HostFn::Catch => 13,
        HostFn::Meet => 14,
        HostFn::GiveWay => 15,
        HostFn::Poll => 16,
        HostFn::Math(math, double) => HELPERS + 2 * math as u32 + u32::from(double),
    }
}

/// The name of the function of a number, for disassemblies.
pub fn name(index: u32) -> String {
    match index {
        0 => "fault".to_owned(),
        1 => "tick".to_owned(),
        2 => "lookup".to_owned(),
        3 => "printf".to_owned(),
        4 => "fill".to_owned(),
        5 => "mask".to_owned(),
        6 => "barrier".to_owned(),
        7 => "collect".to_owned(),
        8 => "service".to_owned(),
        9 => "launch".to_owned(),
        10 => "relocate".to_owned(),
        11 => "function".to_owned(),
        12 => "slots".to_owned(),
        13 => "catch".to_owned(),
        14 => "meet".to_owned(),
        15 => "give_way".to_owned(),
        16 => "poll".to_owned(),
        n => match MathFn::ALL.get(((n - HELPERS) / 2) as usize) {
            Some(math) => format!("{}{}", math.name(), if (n - HELPERS).is_multiple_of(2) { "f" } else { "" }),
            None => format!("host{n}"),
        },
    }
}

/// The signature of a function in CLIF.
pub fn signature(host: HostFn, conv: CallConv) -> Signature {
    // A poll is called where much is live and nearly never: it preserves whatever it uses, and gives its result in the context.
    let mut sig = Signature::new(if host == HostFn::Tick { CallConv::PreserveAll } else { conv });
    let (params, ret) = match host {
        HostFn::Fault => (vec![types::I64, types::I32], None),
        HostFn::Tick => (vec![types::I64, types::I64, types::I32], None),
        HostFn::Poll => (vec![types::I64, types::I64, types::I32], Some(types::I64)),
        HostFn::Lookup | HostFn::Catch => (vec![types::I64; 2], Some(types::I64)),
        HostFn::Printf
        | HostFn::Barrier
        | HostFn::Service
        | HostFn::Launch
        | HostFn::Function
        | HostFn::Meet
        | HostFn::GiveWay => (vec![types::I64; 3], Some(types::I64)),
        HostFn::Mask => (vec![types::I64; 6], Some(types::I64)),
        HostFn::Collect => (vec![types::I64; 4], Some(types::I64)),
        HostFn::Fill | HostFn::Slots | HostFn::Relocate => (vec![types::I64; 2], None),
        HostFn::Math(math, double) => {
            let ty = if double { types::F64 } else { types::F32 };
            (vec![ty; math.arity()], Some(ty))
        }
    };
    sig.params.extend(params.into_iter().map(AbiParam::new));
    sig.returns.extend(ret.map(AbiParam::new));
    sig
}

/// The reason why a thread gives way without waiting for anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PauseReason {
    /// A round of a loop that looks at what others do is over.
    Spin,
    /// An operation that lanes do in step is about to be done, or has been.
    Step,
}
