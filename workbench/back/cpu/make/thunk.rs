//! The way from generated code to [`tick`](crate::back::cpu::run::tick::tick): a function that preserves every register, made once in a
//! process.
//!
//! Polls are in every loop, where many values are live. If calling one could change registers, the allocator would have to find each
//! live value another place around a call that is nearly never made.

use std::sync::OnceLock;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, ExtFuncData, ExternalName, InstBuilder, Signature, UserExternalName, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use crate::back::cpu::abi::context::Field;
use crate::back::cpu::abi::flags::trusted;
use crate::back::cpu::abi::host_fn::{self, HostFn};
use crate::back::cpu::code::jit::{Assembler, CodeMemory, JitError, MachineCode, NAMESPACE_HOST};
use crate::back::cpu::isa::{self, Effort};
use crate::back::cpu::run::tick;

/// The address of a function with [`HostFn::Tick`]'s signature; it leaves the result in the context's budget.
///
/// # Errors
/// A sentence, on a machine Cranelift makes no code for, or where there is no executable memory; the next call tries again.
pub fn tick() -> Result<usize, String> {
    static CODE: OnceLock<CodeMemory> = OnceLock::new();
    if CODE.get().is_none() {
        // Made outside the lock: a process may fork meanwhile.
        let made = make().map_err(|e| match e {
            JitError::TooLarge => "a function of three lines is too large".to_owned(),
            JitError::Other(what) => what,
        })?;
        let _ = CODE.set(made);
    }
    CODE.get().and_then(|code| code.address(0)).ok_or_else(|| "no code came back".to_owned())
}

fn make() -> Result<CodeMemory, JitError> {
    let isa = isa::host(Effort::Full).map_err(|e| JitError::Other(e.to_owned()))?;
    let conv = isa.default_call_conv();
    let mut ctx = Context::new();
    ctx.func.signature = host_fn::signature(HostFn::Tick, conv);
    let mut builder_ctx = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut ctx.func, &mut builder_ctx);
    let mut sig = Signature::new(conv);
    sig.params.extend([types::I64, types::I64, types::I32].map(AbiParam::new));
    sig.returns.push(AbiParam::new(types::I64));
    let signature = b.import_signature(sig);
    let name = ExternalName::user(b.func.declare_imported_user_function(UserExternalName::new(NAMESPACE_HOST, 0)));
    let callee = b.import_function(ExtFuncData { name, signature, colocated: false, patchable: false });
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let args = b.block_params(block).to_vec();
    let call = b.ins().call(callee, &args);
    let budget = b.inst_results(call)[0];
    b.ins().store(trusted(), budget, args[0], Field::BUDGET);
    b.ins().return_(&[]);
    b.finalize(isa.frontend_config());
    let mut assembler = Assembler::default();
    assembler.add(&MachineCode::new(&mut ctx, isa.as_ref(), &[tick::tick as *const () as usize], false)?);
    assembler.finish()
}
