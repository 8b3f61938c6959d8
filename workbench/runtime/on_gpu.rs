//! Kernels on a GPU: a kernel of the CPU's compiled for it, the queue there, and the faults of queued kernels.

use std::sync::PoisonError;

use super::program::Kernel;
use super::{CompileOptions, Device, Error, Fault, Program, Result, Tier};
use crate::back::{Interrupt, cuda};
use crate::ir::{Global, Param, Space};

impl From<cuda::Refused> for Error {
    fn from(refused: cuda::Refused) -> Self {
        match refused {
            cuda::Refused::Unavailable(why) => Error::DeviceUnavailable(why),
            cuda::Refused::Late(late) => Error::Fault(Box::new(Fault {
                kind: late.fault.kind,
                kernel: late.kernel,
                span: late.fault.span,
                block: late.fault.block,
                thread: late.fault.thread,
                detail: late.fault.detail,
                output: Vec::new(),
                dropped: 0,
                warnings: Vec::new(),
                sources: late.sources,
            })),
        }
    }
}

/// Waits for the kernels that were queued ([`super::LaunchConfig::queue`]), on every GPU; `false` when interrupted.
///
/// # Errors
/// [`Error::Fault`] for what one of them did wrong.
pub fn synchronize(interrupt: Option<&dyn Interrupt>) -> Result<bool> {
    Ok(cuda::synchronize(interrupt)?)
}

/// True if kernels were queued that have not been waited for.
pub fn has_queued() -> bool {
    cuda::has_queued()
}

impl Kernel {
    /// The kernel compiled for a GPU, from the same text with the same macros, headers and options. It is compiled when it is first
    /// asked for.
    ///
    /// # Errors
    /// As [`Program::compile`]; [`Error::Argument`] where it is another kernel there, as `__CUDA_ARCH__` may have it.
    pub fn for_gpu(&self) -> Result<Kernel> {
        if self.device() == Device::Cuda {
            return Ok(self.clone());
        }
        self.check_variables()?;
        let own = self.program();
        let program = {
            let mut known = own.twin().lock().unwrap_or_else(PoisonError::into_inner);
            match &*known {
                Some(program) => program.clone(),
                None => {
                    let options = CompileOptions { device: Device::Cuda, tier: Tier::Auto, ..own.options().clone() };
                    known.insert(Program::compile(own.text(), &options)?).clone()
                }
            }
        };
        let made = program.kernel(self.name())?;
        let alike = |a: &Param, b: &Param| a.ty == b.ty && a.name == b.name;
        let same = made.params().len() == self.params().len();
        if !(same && made.params().iter().zip(self.params()).all(|(a, b)| alike(a, b))) {
            let (here, there) = (self.signature(), made.signature());
            return Err(Error::argument(format!(
                "compiled for a GPU, `{here}` is `{there}`; register that one by itself"
            )));
        }
        Ok(made)
    }

    /// Checks that the variables of its program hold the values of the text, with which they begin on a GPU.
    ///
    /// # Errors
    /// [`Error::Argument`] naming one that does not.
    pub fn check_variables(&self) -> Result<()> {
        let Some(code) = self.program().cpu_code() else { return Ok(()) };
        for (i, data) in self.program().module().globals.iter().enumerate() {
            let is_changed = || code.read_global(Global::new(i)).is_some_and(|now| now != data.bytes);
            if data.space != Space::ReadOnly && is_changed() {
                return Err(Error::argument(format!(
                    "the variable `{}` has been written on the CPU, and the GPU has its own, as the text says it; give what it holds as an \
                     argument",
                    data.name
                )));
            }
        }
        Ok(())
    }
}
