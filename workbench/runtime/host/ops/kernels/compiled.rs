//! Compiled kernels, kept by what they are for, and their launches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::super::super::answer::Answer;
use super::super::super::array::HostTensor;
use super::super::super::work;
use crate::back::cpu::{self, Code, Raised, Tier};
use crate::back::{Dim3, Exception, Interrupt, LaunchConfig, RawArg};
use crate::diagnostic::Diagnostic;
use crate::front;
use crate::ir::FuncId;
use crate::runtime::DType;
use crate::source::SourceMap;

/// The purpose of a kernel: its operation, the types of its elements, and a number for the form of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub operation: &'static str,
    pub from: DType,
    pub to: DType,
    pub form: u64,
}

/// A compiled kernel.
pub struct Kernel {
    code: Code,
    func: FuncId,
}

type Kept = HashMap<Key, Arc<Kernel>>;

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// The kept kernels; `None` where another thread has them for a tenth of a second, as in the child of a process that forked meanwhile, which
/// never gets them and waits once.
fn kept() -> Option<MutexGuard<'static, Option<Kept>>> {
    const SPINS: usize = 100;
    const WAITS: usize = 100;
    static IS_STUCK: AtomicBool = AtomicBool::new(false);
    let tries = if IS_STUCK.load(Ordering::Relaxed) { SPINS } else { SPINS + WAITS };
    for tried in 0..tries {
        match KEPT.try_lock() {
            Ok(kept) => return Some(kept),
            Err(TryLockError::Poisoned(kept)) => return Some(PoisonError::into_inner(kept)),
            Err(TryLockError::WouldBlock) if tried < SPINS => std::hint::spin_loop(),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    IS_STUCK.store(true, Ordering::Relaxed);
    None
}

/// The kernel for a purpose, compiled from `text` where it is new.
pub fn kernel(key: Key, text: impl FnOnce() -> String) -> Option<Arc<Kernel>> {
    if let Some(known) = kept()?.get_or_insert_default().get(&key) {
        return Some(known.clone());
    }
    // Two threads may compile the same text: the first one's stays.
    let made = Arc::new(Kernel::compile(&text())?);
    Some(kept()?.get_or_insert_default().entry(key).or_insert(made).clone())
}

/// The call's wish to end, asked by a launch.
#[derive(Default)]
struct Asking(Mutex<Option<Raised>>);

impl Interrupt for Asking {
    fn interrupted(&self) -> bool {
        let raised = work::asked().err();
        let ends = raised.is_some();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = raised;
        ends
    }
}

impl Kernel {
    /// Compiles the one kernel of a text.
    fn compile(text: &str) -> Option<Self> {
        // Functions that are known are left out of the text's code, unless it turns out to need their bodies.
        let keepers: [Option<crate::ir::kept::Keeper>; 2] = [Some(cpu::known), None];
        for keeper in keepers {
            // What one operation rounds, another that stands for it rounds as well.
            let options = front::Options { fmad: Some(false), ..front::Options::default() };
            let mut sources = SourceMap::new();
            let (mut module, diags) = front::compile_with(&mut sources, "tensors.cu", text, &options, keeper, None);
            if diags.iter().any(Diagnostic::is_error) {
                debug_assert!(false, "{diags:?}\n{text}");
                return None;
            }
            let (func, _) = module.kernels().next()?;
            cpu::prepare(&mut module);
            match Code::compile(&module, None, Tier::Auto, None) {
                Ok(Some(code)) => return Some(Kernel { code, func }),
                Ok(None) => {}
                Err(diags) => {
                    debug_assert!(false, "{diags:?}\n{text}");
                    return None;
                }
            }
        }
        None
    }

    /// Runs the kernel, and ends the operation where its call is to end.
    ///
    /// # Errors
    /// `RuntimeError` for a fault, of which there are none in right code.
    pub fn launch(&self, grid: impl Into<Dim3>, block: impl Into<Dim3>, args: &[RawArg]) -> Answer<()> {
        let asking = Asking::default();
        let config = LaunchConfig { interrupt: Some(&asking), ..LaunchConfig::new(grid, block) };
        let fault = self.code.launch(self.func, args, &config).fault;
        if let Some(raised) = asking.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            work::end(raised);
        }
        match fault {
            None => Ok(()),
            Some(fault) => Err((Exception::Runtime, format!("a kernel of the library: {}", fault.detail))),
        }
    }
}

/// Extents, strides and places, as arguments.
pub fn int(value: i64) -> RawArg {
    RawArg::Scalar(value as u64)
}

/// A tensor that is read, with its elements from the first to the one so far behind it.
pub fn read(t: &HostTensor, last: i64) -> RawArg {
    RawArg::Buffer { ptr: t.ptr(), bytes: (last as usize + 1) * t.dtype().size(), writable: false }
}

/// A tensor that is written likewise.
pub fn written(t: &HostTensor, last: i64) -> RawArg {
    RawArg::Buffer { ptr: t.ptr(), bytes: (last as usize + 1) * t.dtype().size(), writable: true }
}
