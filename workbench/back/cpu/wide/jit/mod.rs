//! Our own compiler of wide code: it makes vectors of 128 bits of the kernel that a C compiler would get as C, by the code generator of the tiers
//! below; with AVX-512, pieces that compute 32-bit lanes and nothing else run in registers of 512 bits ([`loops`]). It needs no compiler on the
//! machine and takes some tens of milliseconds.
//!
//! The lane IR ([`crate::back::lane`]) is its input: [`emit`] walks statements and makes CLIF as it goes, [`scalar`] does expressions,
//! [`functions`] and [`lanes`] do each operation, [`memory`] accesses. A group of 16 lanes is four vectors or, for 64-bit lanes, eight
//! ([`value`]). An operation without an instruction of the code generator, and the work after a fault, is a function of this process for
//! all 16 lanes ([`helpers`], [`atomics`], [`masked`]).

mod atomics;
mod emit;
mod functions;
mod helpers;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod loops;
mod masked;
mod memory;
mod scalar;
#[cfg(test)]
mod tests;
mod value;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use self::emit::Emitter;
use crate::back::Dim3;
use crate::back::cpu::code::jit::{Assembler, JitError, Links, MachineCode, NAMESPACE_HOST as HOST};
use crate::back::cpu::code::machine::Machine;
use crate::back::cpu::code::size;
use crate::back::cpu::isa::{self, Effort};
use crate::back::cpu::math::reciprocal;
use crate::back::lane::not_vectorised::Left;
use crate::back::lane::tree::Kernel;

/// True if this machine has the vectors that the code needs: 128 bits, the lowest lane first in memory.
pub const AVAILABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The part of a kernel that has no code.
#[derive(Debug)]
struct Bad(String);

type Result<T> = std::result::Result<T, Bad>;

fn bad(what: impl Into<String>) -> Bad {
    Bad(what.into())
}

/// The reason why there is no machine code.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// A valid kernel has a part without code, which is a mistake of ours.
    NoCode(String),
    /// Another reason, as a sentence.
    Other(String),
}

impl Failure {
    fn sentence(self) -> String {
        match self {
            Failure::NoCode(what) => format!("our own compiler has no code for {what}"),
            Failure::Other(why) => why,
        }
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Failure::Other(why.to_owned())
    }
}

/// The facts known besides the kernel.
struct Known {
    conv: CallConv,
    frame: TargetFrontendConfig,
    /// The number of threads of a block side by side, for blocks that are one long row; else 0.
    span: u32,
    /// The numbers of threads of a block in x and y.
    rows: [u32; 2],
    has_fma: bool,
    has_estimate: bool,
    /// True if there are instructions for [`loops`].
    has_widest: bool,
    /// Addresses of functions of this process, by the numbers that they are called by.
    hosts: RefCell<Vec<usize>>,
}

impl Known {
    fn host(&self, address: usize) -> u32 {
        let mut hosts = self.hosts.borrow_mut();
        hosts.push(address);
        hosts.len() as u32 - 1
    }
}

/// Machine code and the data that it reads.
pub struct Compiled {
    machine: Machine,
    _tables: Vec<Box<[u32]>>,
    /// The number of loops and stretches that run in the widest registers.
    loops: usize,
    /// The reasons why others do not.
    left: Vec<Left>,
}

impl Compiled {
    /// Bytes of stack a thread has to have left.
    pub fn stack_need(&self) -> usize {
        self.machine.stack_need
    }

    /// The number of loops and stretches that run in the widest registers, and the reasons why others do not.
    pub fn loops(&self) -> (usize, &[Left]) {
        (self.loops, &self.left)
    }

    /// The address of the kernel.
    pub fn address(&self) -> Option<usize> {
        self.machine.address(0)
    }
}

/// Compiles a valid kernel for blocks of a shape; `spans`: true if blocks are one long row of threads.
///
/// # Errors
/// One sentence.
///
/// # Panics
/// With debug assertions, where the kernel has something that there is no code for.
pub fn compile(kernel: &Kernel, block: Dim3, spans: bool) -> std::result::Result<Compiled, String> {
    // A panic of the code generator must not stop the launch.
    let made = catch_unwind(AssertUnwindSafe(|| compiled(kernel, block, spans, has_widest())));
    made.map_or_else(
        |_| Err("our own compiler failed".to_owned()),
        |made| {
            made.map_err(|why| {
                debug_assert!(!matches!(why, Failure::NoCode(_)), "a valid kernel of lanes: {why:?}");
                why.sentence()
            })
        },
    )
}

/// True if parts become code for registers of 512 bits.
#[cfg(target_arch = "x86_64")]
pub fn has_widest() -> bool {
    loops::available()
}

/// True if parts become code for registers of 512 bits.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_widest() -> bool {
    false
}

fn compiled(kernel: &Kernel, block: Dim3, spans: bool, has_widest: bool) -> std::result::Result<Compiled, Failure> {
    let isa = isa::host(Effort::Full)?;
    let known = Known {
        conv: isa.default_call_conv(),
        frame: isa.frontend_config(),
        span: if spans { block.x } else { 0 },
        rows: [block.x, block.y],
        has_fma: isa::has_fma(),
        has_estimate: reciprocal::has_estimate(),
        has_widest,
        hosts: RefCell::default(),
    };
    let unknown = |Bad(what): Bad| Failure::NoCode(what);
    let mut sig = Signature::new(known.conv);
    sig.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    sig.returns.push(AbiParam::new(types::I32));
    let mut func = Function::with_name_signature(UserFuncName::user(0, 0), sig);
    let mut builders = FunctionBuilderContext::new();
    let made = Emitter::run(FunctionBuilder::new(&mut func, &mut builders), kernel, &known).map_err(unknown)?;
    let failed = |e: JitError| match e {
        JitError::TooLarge => Failure::Other("it is too large".to_owned()),
        JitError::Other(why) => Failure::Other(why),
    };
    let effort = size::effort(&func).ok_or_else(|| failed(JitError::TooLarge))?;
    let isa = isa::host(effort)?;
    let mut ctx = Context::for_function(func);
    let code = MachineCode::new(&mut ctx, &**isa, &known.hosts.borrow(), false).map_err(failed)?;
    let mut assembler = Assembler::new(std::sync::Arc::new(Links::default()));
    assembler.add(&code);
    let loops = made.loops.len();
    for code in made.loops {
        assembler.add(&MachineCode::of_bytes(code));
    }
    let machine = Machine::new(assembler, false).map_err(failed)?;
    Ok(Compiled { machine, _tables: made.tables, loops, left: made.left })
}
