//! From CLIF functions to executable memory: compiles, lays functions out one after another, patches absolute addresses.
//!
//! `cranelift-jit` is not used: one mapping for a whole module, freed on drop, without symbol tables, is faster to set up
//! and less code. Functions are declared not colocated, so that each reference is one absolute 8-byte address.

use std::sync::Arc;

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function, LibCall};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{CodegenError, Context, FinalizedRelocTarget};
use memmap2::{Mmap, MmapMut};

use crate::back::cpu::abi::host_fn;
use crate::back::cpu::math::rounded;

/// The namespace of names that are functions of the module being compiled.
pub const NAMESPACE_MODULE: u32 = 0;
/// The namespace of names that are functions of this crate.
pub const NAMESPACE_HOST: u32 = 1;

/// The namespace of names that are kept code, by their index in [`Links`].
pub const NAMESPACE_KEPT: u32 = 2;

/// The reason that code could not be made.
#[derive(Debug)]
pub enum JitError {
    /// A function is larger than the code generator's limits.
    TooLarge,
    /// Anything else, as one sentence.
    Other(String),
}

/// Executable memory; freed on drop.
pub struct CodeMemory {
    map: Option<Mmap>,
    starts: Vec<usize>,
}

impl CodeMemory {
    /// The address of a function, by the number [`Assembler::add`] gave.
    pub fn address(&self, index: usize) -> Option<usize> {
        let start = *self.starts.get(index)?;
        self.map.as_ref().map(|m| m.as_ptr() as usize + start)
    }
}

#[derive(Clone, Copy)]
enum Target {
    /// A function of the assembler, by its number.
    Module(u32),
    /// Kept code, by its index in the links.
    Kept(u32),
    /// An absolute address.
    Address(usize),
    /// An offset in the function; in the assembler's code, once it is there.
    Offset(usize),
}

struct Fixup {
    at: usize,
    target: Target,
    addend: i64,
}

/// The machine code of one function.
pub struct MachineCode {
    bytes: Vec<u8>,
    align: usize,
    /// The places of absolute addresses, as offsets into `bytes`; a [`Target::Offset`] is one too.
    fixups: Vec<Fixup>,
    /// Bytes of its stack frame.
    pub frame: u32,
    /// The code as text, when that was asked for.
    pub text: Option<String>,
}

impl MachineCode {
    /// Compiles the function in `ctx` for `isa`. A name of [`NAMESPACE_MODULE`] is the number of a function, in the order they are
    /// added to the [`Assembler`]; `hosts` are the addresses that names of [`NAMESPACE_HOST`] index.
    ///
    /// # Errors
    /// The code generator's.
    pub fn new(ctx: &mut Context, isa: &dyn TargetIsa, hosts: &[usize], disasm: bool) -> Result<Self, JitError> {
        ctx.set_disasm(disasm);
        // The error borrows the function it is about; only its text leaves this match.
        match ctx.compile(isa, &mut ControlPlane::default()) {
            Ok(_) => {}
            Err(e) => {
                return Err(match &e.inner {
                    CodegenError::CodeTooLarge | CodegenError::ImplLimitExceeded => JitError::TooLarge,
                    inner => JitError::Other(inner.to_string()),
                });
            }
        }
        let code = ctx.take_compiled_code().ok_or_else(|| JitError::Other("no code came back".to_owned()))?;
        let mut fixups = Vec::with_capacity(code.buffer.relocs().len());
        for reloc in code.buffer.relocs() {
            if reloc.kind != Reloc::Abs8 {
                return Err(JitError::Other(format!("unexpected relocation {:?}", reloc.kind)));
            }
            let target = match &reloc.target {
                FinalizedRelocTarget::ExternalName(name) => resolve(name, &ctx.func, hosts)?,
                FinalizedRelocTarget::Func(offset) => Target::Offset(*offset as usize),
            };
            fixups.push(Fixup { at: reloc.offset as usize, target, addend: reloc.addend });
        }
        Ok(MachineCode {
            bytes: code.buffer.data().to_vec(),
            align: (code.buffer.alignment as usize).max(isa.function_alignment().minimum as usize).max(16),
            fixups,
            frame: code.buffer.frame_layout().map_or(0, |f| f.frame_to_fp_offset),
            text: code.vcode.map(|text| name_callees(text, &ctx.func)),
        })
    }

    /// A function made elsewhere, which calls no other and keeps at most 128 bytes on the stack.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        MachineCode { bytes, align: 64, fixups: Vec::new(), frame: 128, text: None }
    }
}

/// Functions outside a program that its functions reach, by the index that names each of them ([`NAMESPACE_KEPT`]).
#[derive(Default)]
pub struct Links {
    /// Bytes of the stack frame of each.
    pub frames: Vec<u32>,
    /// The address of each, once it has code.
    pub outside: Option<Outside>,
    /// The functions that are the assembler's own, in the order of their numbers.
    pub own: Vec<u32>,
}

/// The address of the function of an index, once it has code.
pub type Outside = Box<dyn Fn(u32) -> Option<usize> + Send + Sync>;

impl Links {
    /// The number of the assembler's own function that a piece of kept code is.
    fn own_number(&self, index: u32) -> Option<usize> {
        self.own.iter().position(|own| *own == index)
    }
}

/// Collects compiled functions.
#[derive(Default)]
pub struct Assembler {
    links: Arc<Links>,
    bytes: Vec<u8>,
    starts: Vec<usize>,
    fixups: Vec<Fixup>,
    frame: u32,
    all_frames: usize,
}

impl Assembler {
    /// An assembler without functions yet, for code that uses `links`.
    pub fn new(links: Arc<Links>) -> Self {
        let others =
            || (0..).zip(&links.frames).filter(|(i, _)| links.own_number(*i).is_none()).map(|(_, frame)| *frame);
        let (frame, all_frames) = (others().max().unwrap_or(0), others().map(|f| f as usize).sum());
        Assembler { links, frame, all_frames, ..Assembler::default() }
    }

    /// The stack frames of all functions added and of all kept code, in bytes.
    pub fn all_frames(&self) -> usize {
        self.all_frames
    }

    /// The largest of these stack frames.
    pub fn largest_frame(&self) -> usize {
        self.frame as usize
    }

    /// Appends a function; functions are numbered in the order they are added.
    pub fn add(&mut self, code: &MachineCode) {
        self.bytes.resize(self.bytes.len().next_multiple_of(code.align), 0);
        let start = self.bytes.len();
        self.starts.push(start);
        self.bytes.extend_from_slice(&code.bytes);
        self.frame = self.frame.max(code.frame);
        self.all_frames += code.frame as usize;
        self.fixups.extend(code.fixups.iter().map(|fixup| Fixup {
            at: start + fixup.at,
            target: match fixup.target {
                Target::Offset(offset) => Target::Offset(start + offset),
                other => other,
            },
            addend: fixup.addend,
        }));
    }

    /// Makes everything added executable.
    ///
    /// # Errors
    /// When the system gives no executable memory.
    pub fn finish(self) -> Result<CodeMemory, JitError> {
        if self.bytes.is_empty() {
            return Ok(CodeMemory { map: None, starts: self.starts });
        }
        let system = |e: std::io::Error| JitError::Other(format!("no executable memory: {e}"));
        let mut map = MmapMut::map_anon(self.bytes.len()).map_err(system)?;
        map[..self.bytes.len()].copy_from_slice(&self.bytes);
        let base = map.as_ptr() as usize;
        let own = |index: usize| self.starts.get(index).map(|start| base + start);
        let missing = |what: &str, index: u32| JitError::Other(format!("call of {what} {index}, which has no code"));
        for fixup in &self.fixups {
            let target = match fixup.target {
                Target::Address(address) => address,
                Target::Offset(offset) => base + offset,
                Target::Module(index) => own(index as usize).ok_or_else(|| missing("function", index))?,
                Target::Kept(index) => match self.links.own_number(index) {
                    Some(number) => own(number),
                    None => self.links.outside.as_ref().and_then(|outside| outside(index)),
                }
                .ok_or_else(|| missing("kept function", index))?,
            };
            let value = (target as u64).wrapping_add_signed(fixup.addend);
            map[fixup.at..fixup.at + 8].copy_from_slice(&value.to_ne_bytes());
        }
        let map = map.make_exec().map_err(system)?;
        flush_instruction_cache(&map);
        Ok(CodeMemory { map: Some(map), starts: self.starts })
    }
}

/// Machine code as text, with the names of the functions it calls in this process.
fn name_callees(mut text: String, func: &Function) -> String {
    for (reference, user) in func.params.user_named_funcs().iter() {
        let name = match user.namespace {
            NAMESPACE_HOST => host_fn::name(user.index),
            _ => format!("function {}", user.index),
        };
        text = text.replace(&format!("{reference}+0"), &name);
    }
    text
}

/// x86 keeps instruction fetches coherent with stores; other machines need a flush.
fn flush_instruction_cache(map: &Mmap) {
    #[cfg(target_arch = "aarch64")]
    {
        let (start, end) = (map.as_ptr() as usize, map.as_ptr() as usize + map.len());
        // Cache lines are at least 16 bytes (the smallest CTR_EL0 can state).
        // SAFETY: cache maintenance by address on memory mapped here.
        unsafe {
            for line in (start..end).step_by(16) {
                std::arch::asm!("dc cvau, {0}", in(reg) line, options(nostack, preserves_flags));
            }
            std::arch::asm!("dsb ish", options(nostack, preserves_flags));
            for line in (start..end).step_by(16) {
                std::arch::asm!("ic ivau, {0}", in(reg) line, options(nostack, preserves_flags));
            }
            std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags));
        }
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = map;
}

fn resolve(name: &ExternalName, func: &Function, hosts: &[usize]) -> Result<Target, JitError> {
    let unknown = || JitError::Other(format!("reference to unknown `{name:?}`"));
    match name {
        ExternalName::User(reference) => {
            let user = &func.params.user_named_funcs()[*reference];
            match user.namespace {
                NAMESPACE_MODULE => Ok(Target::Module(user.index)),
                NAMESPACE_KEPT => Ok(Target::Kept(user.index)),
                NAMESPACE_HOST => hosts.get(user.index as usize).map(|&a| Target::Address(a)).ok_or_else(unknown),
                _ => Err(unknown()),
            }
        }
        ExternalName::LibCall(call) => libcall(*call).map(Target::Address).ok_or_else(unknown),
        _ => Err(unknown()),
    }
}

/// The functions that the code generator calls on processors that lack an instruction (rounding before SSE4.1, `fma`).
fn libcall(call: LibCall) -> Option<usize> {
    Some(match call {
        LibCall::CeilF32 => rounded::ceil_f32 as *const () as usize,
        LibCall::CeilF64 => rounded::ceil_f64 as *const () as usize,
        LibCall::FloorF32 => rounded::floor_f32 as *const () as usize,
        LibCall::FloorF64 => rounded::floor_f64 as *const () as usize,
        LibCall::TruncF32 => rounded::trunc_f32 as *const () as usize,
        LibCall::TruncF64 => rounded::trunc_f64 as *const () as usize,
        LibCall::NearestF32 => rounded::rint_f32 as *const () as usize,
        LibCall::NearestF64 => rounded::rint_f64 as *const () as usize,
        LibCall::FmaF32 => rounded::fma_f32 as *const () as usize,
        LibCall::FmaF64 => rounded::fma_f64 as *const () as usize,
        _ => return None,
    })
}
