//! Functions of this process that generated code calls: one row each, with its number (its place), name, signature and address.

use cranelift_codegen::ir::{self as clif, AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;

use crate::ir::MathFn;

/// The table, which is given to the macro `$read`. A row is
///
/// ```text
/// Variant "name in disassemblies" (types of parameters) (type of the result, if there is one) address;
/// ```
///
/// An address is that of a function (`at`), or is made at run time (`made`). [`addresses`](crate::back::cpu::make::addresses) reads the
/// table, and the names are those of that file.
macro_rules! host_fns {
    ($read:ident) => {
        $read! {
            /// [`fault`](crate::back::cpu::run::fault_messages::fault).
            Fault "fault" (I64, I32) () at(fault_messages::fault);
            /// [`tick`](crate::back::cpu::run::tick::tick), by way of [`thunk`](crate::back::cpu::make::thunk).
            Tick "tick" (I64, I64, I32) () made(thunk::tick()?);
            /// [`lookup`](crate::back::cpu::run::lookup::lookup).
            Lookup "lookup" (I64, I64) (I64) at(lookup::lookup);
            /// [`printf`](crate::back::cpu::run::output::printf).
            Printf "printf" (I64, I64, I64) (I64) at(output::printf);
            /// [`fill`](crate::back::cpu::run::memory::fill).
            Fill "fill" (I64, I64) () at(memory::fill);
            /// [`mask`](crate::back::cpu::run::block_sync::mask).
            Mask "mask" (I64, I64, I64, I64, I64, I64) (I64) at(block_sync::mask);
            /// [`barrier`](crate::back::cpu::run::block_sync::barrier).
            Barrier "barrier" (I64, I64, I64) (I64) at(block_sync::barrier);
            /// [`collect`](crate::back::cpu::run::block_sync::collect).
            Collect "collect" (I64, I64, I64, I64) (I64) at(block_sync::collect);
            /// [`collect_warp`](crate::back::cpu::run::block_sync::collect_warp).
            CollectWarp "collect_warp" (I64, I64, I64, I64, I64, I64) (I64) at(block_sync::collect_warp);
            /// [`service`](crate::back::cpu::run::services::service).
            Service "service" (I64, I64, I64) (I64) at(services::service);
            /// [`launch`](crate::back::cpu::run::services::launch).
            Launch "launch" (I64, I64, I64) (I64) at(services::launch);
            /// [`relocate`](crate::back::cpu::run::services::relocate).
            Relocate "relocate" (I64, I64) () at(services::relocate);
            /// [`function`](crate::back::cpu::run::services::function).
            Function "function" (I64, I64, I64) (I64) at(services::function);
            /// [`slots`](crate::back::cpu::run::memory::slots).
            Slots "slots" (I64, I64) () at(memory::slots);
            /// [`catch`](crate::back::cpu::run::services::catch).
            Catch "catch" (I64, I64) (I64) at(services::catch);
            /// [`meet`](crate::back::cpu::run::fibers::meet).
            Meet "meet" (I64, I64, I64) (I64) at(fibers::meet);
            /// [`give_way`](crate::back::cpu::run::fibers::give_way).
            GiveWay "give_way" (I64, I64, I64) (I64) at(fibers::give_way);
            /// [`tick`](crate::back::cpu::run::tick::tick) itself.
            Poll "poll" (I64, I64, I32) (I64) at(tick::tick);
        }
    };
}
pub(crate) use host_fns;

macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident $name:literal ($($param:ident),*) ($($ret:ident)?) $kind:ident $address:tt;)*) => {
        /// A function of this process.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum HostFn {
            $($(#[$doc])* $variant,)*
            /// A math function, on `double`s or `float`s.
            Math(MathFn, bool),
        }

        /// The functions by their numbers, those of mathematics after the others.
        enum Number {
            $($variant,)*
            FirstMath,
        }

        /// The names of all but the math functions, by number.
        const NAMES: &[&str] = &[$($name),*];

        /// The number of a function, in names and in [`addresses`](crate::back::cpu::make::addresses::addresses).
        pub fn index(host: HostFn) -> u32 {
            match host {
                $(HostFn::$variant => Number::$variant as u32,)*
                HostFn::Math(math, double) => Number::FirstMath as u32 + 2 * math as u32 + u32::from(double),
            }
        }

        /// The signature of a function in CLIF.
        pub fn signature(host: HostFn, conv: CallConv) -> Signature {
            // A poll is called hardly ever, at places where many values are live: it preserves every register, and gives its result in
            // the context.
            let mut sig = Signature::new(if host == HostFn::Tick { CallConv::PreserveAll } else { conv });
            let (params, ret): (Vec<clif::Type>, Option<clif::Type>) = match host {
                $(HostFn::$variant => (vec![$(types::$param),*], [$(types::$ret)?].first().copied()),)*
                HostFn::Math(math, double) => {
                    let ty = if double { types::F64 } else { types::F32 };
                    (vec![ty; math.arity()], Some(ty))
                }
            };
            sig.params.extend(params.into_iter().map(AbiParam::new));
            sig.returns.extend(ret.map(AbiParam::new));
            sig
        }
    };
}

host_fns!(functions);

/// The name of the function of a number, for disassemblies.
pub fn name(index: u32) -> String {
    if let Some(name) = NAMES.get(index as usize) {
        return (*name).to_owned();
    }
    let n = index - Number::FirstMath as u32;
    match MathFn::ALL.get((n / 2) as usize) {
        Some(math) => format!("{}{}", math.name(), if n.is_multiple_of(2) { "f" } else { "" }),
        None => format!("host{index}"),
    }
}

/// The reason why a thread yields without waiting for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PauseReason {
    /// The end of a round of a loop that looks at what other threads do.
    Spin,
    /// An operation that lanes do in step is about to be done, or has been.
    Step,
}
