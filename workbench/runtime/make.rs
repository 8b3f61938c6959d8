//! From a module to code: the module of the front end is validated, prepared and handed to a back end.

use std::sync::Arc;

use super::program::CompileOptions;
use super::{Error, Result};
use crate::back::cpu::{self, Tier, discard};
use crate::back::cuda;
use crate::diagnostic::Diagnostic;
use crate::ir::{self, FuncId};
use crate::pass::check_and_dump;
use crate::source::SourceMap;
use crate::valid;

/// The code of a module with the warnings of its text; `None` where a body is needed that it leaves out.
pub(super) fn cpu_code(
    module: &ir::Module,
    mut diags: Vec<Diagnostic>,
    same: Option<&cpu::Code>,
    tier: Tier,
    ahead: Option<cpu::Ahead>,
) -> std::result::Result<Option<(cpu::Code, Vec<Diagnostic>)>, Vec<Diagnostic>> {
    if diags.iter().any(Diagnostic::is_error) {
        return Err(diags);
    }
    diags.extend(valid::validate(module));
    if diags.iter().any(Diagnostic::is_error) {
        return Err(diags);
    }
    check_and_dump::check_with(valid::problems);
    let make = |claim: Option<&cpu::Claim>| {
        let elsewhere = |id: FuncId| claim.is_some_and(|claim| claim.kernels.contains(&id));
        let function = |(id, func): (FuncId, &ir::Function)| match elsewhere(id) {
            true => cpu::absent(),
            false => func.clone(),
        };
        let functions = (0..).map(FuncId::new).zip(&module.functions).map(function).collect();
        let mut prepared = ir::Module {
            functions,
            globals: module.globals.clone(),
            shared: module.shared.clone(),
            formats: module.formats.clone(),
            templates: module.templates.clone(),
            deduced: module.deduced.clone(),
            addressed: module.addressed.clone(),
            left_out: Vec::new(),
        };
        cpu::prepare_part(&mut prepared, Some(module));
        let code = cpu::Code::compile(&prepared, same, tier, claim);
        discard(prepared);
        code
    };
    let claim = ahead.map(|ahead| ahead.claim(module)).filter(|claim| !claim.kernels.is_empty());
    let code = match make(claim.as_ref()) {
        // The whole is compiled without the code made ahead, so that errors are those of the whole.
        Ok(None) | Err(_) if claim.is_some() => make(None),
        code => code,
    };
    match code {
        Ok(code) => Ok(code.map(|code| (code, diags))),
        Err(more) => {
            diags.extend(more);
            Err(diags)
        }
    }
}

/// Compiles for a GPU. Kernels that the front end did not understand are left to NVRTC; their parameters are then read
/// off the declarations.
pub(super) fn cuda_code(
    text: &str,
    name: &str,
    options: &CompileOptions,
    sources: &mut SourceMap,
    module: ir::Module,
    diags: &[Diagnostic],
) -> Result<(ir::Module, cuda::Code, Vec<Diagnostic>)> {
    let module = if diags.iter().any(Diagnostic::is_error) { cuda::scan::declarations(text) } else { module };
    let cuda_options = cuda::Options {
        name: name.to_owned(),
        defines: options.front.defines.clone(),
        headers: options.front.headers.clone(),
        kernels: module.kernels().map(|(_, f)| f.name.clone()).collect(),
        fmad: options.front.fmad,
        nvrtc: options.nvrtc.clone(),
    };
    match cuda::Code::compile(crate::source::FileId(0), text, sources, &cuda_options) {
        Ok((code, warnings)) => Ok((module, code, warnings)),
        Err(cuda::CompileFailure::Argument(message)) => Err(Error::Argument(message)),
        Err(cuda::CompileFailure::Unavailable(message)) => Err(Error::DeviceUnavailable(message)),
        Err(cuda::CompileFailure::Diagnostics(diagnostics)) => {
            Err(Error::Compile { diagnostics, sources: Arc::new(sources.clone()) })
        }
    }
}
