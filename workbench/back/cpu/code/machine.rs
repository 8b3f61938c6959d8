//! Machine code of a module, and the cell in which good code takes the place of code made soon.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use cranelift_codegen::ir::Function;

use super::jit::{Assembler, CodeMemory, JitError, Links};
use crate::back::cpu::isa::Effort;
use crate::back::cpu::stack;

/// Executable code of every part of a module.
pub struct Machine {
    memory: CodeMemory,
    /// Bytes of stack a thread has to have left.
    pub stack_need: usize,
}

impl Machine {
    /// The code in `assembler`; `calls`: whether its functions call one another. Without executable memory or a frame of a size that
    /// can be had, the error.
    pub fn new(assembler: Assembler, calls: bool) -> Result<Self, JitError> {
        let frame = assembler.largest_frame();
        if frame > stack::MAX_FRAME {
            return Err(JitError::TooLarge);
        }
        let stack_need = stack::MARGIN + frame + if calls { stack::CALLS } else { 0 };
        Ok(Machine { memory: assembler.finish()?, stack_need })
    }

    /// The address of a part, by its number.
    pub fn address(&self, part: usize) -> Option<usize> {
        self.memory.address(part)
    }
}

/// The input for making the good code.
pub struct Job {
    /// The parts, in the order of their numbers.
    pub parts: Vec<(Function, Effort)>,
    /// True if the functions call one another, as [`Machine::new`] wants to know.
    pub calls: bool,
    /// The links of the parts.
    pub links: Arc<Links>,
    /// The code that the parts call, which should be good by then.
    pub needs: Vec<&'static Tiers>,
}

/// The code of a program as it is now.
pub struct Tiers {
    first: Machine,
    /// The good code, set once; `None` in it where there is nothing better than the first.
    good: OnceLock<Option<Machine>>,
    /// The job, until a thread takes it. It is in a pointer, so that no lock can be held while the process forks.
    job: AtomicPtr<Job>,
    /// The process that took the job.
    taken_by: AtomicU32,
    /// The number of values in the parts.
    pub values: usize,
    /// The process whose thread has the job in its queue.
    pub queued_by: AtomicU32,
    /// True once a launch has waited.
    pub waited: AtomicBool,
    /// The last job of wide code in the queue: the process, and the count of finished jobs at which it is done.
    pub wide_due: AtomicU64,
}

impl Tiers {
    /// The first code, and the job for better code.
    pub fn new(first: Machine, job: Option<Job>) -> Self {
        let good = OnceLock::new();
        let values = job.as_ref().map_or(0, |job| job.parts.iter().map(|(func, _)| func.dfg.num_values()).sum());
        let job = match job {
            Some(job) => Box::into_raw(Box::new(job)),
            None => {
                let _ = good.set(None);
                std::ptr::null_mut()
            }
        };
        Tiers {
            first,
            good,
            job: AtomicPtr::new(job),
            taken_by: AtomicU32::new(0),
            values,
            queued_by: AtomicU32::new(0),
            waited: AtomicBool::new(false),
            wide_due: AtomicU64::new(0),
        }
    }

    /// The best code there is.
    pub fn now(&self) -> &Machine {
        self.good.get().and_then(Option::as_ref).unwrap_or(&self.first)
    }

    /// True if launches run the best code they ever will.
    pub fn are_settled(&self) -> bool {
        self.good.get().is_some()
    }

    /// True if good code has taken the place of other code.
    pub fn are_good(&self) -> bool {
        !std::ptr::eq(self.now(), &raw const self.first)
    }

    /// True if good code is to be made and no thread has begun.
    pub fn has_job(&self) -> bool {
        !self.job.load(Ordering::Acquire).is_null()
    }

    /// Takes the job for this process; `None` where another thread did.
    pub fn take_job(&self) -> Option<Box<Job>> {
        if !self.has_job() {
            return None;
        }
        // The process is noted first: a thread that finds the job taken has to find by whom.
        self.taken_by.store(std::process::id(), Ordering::Release);
        let job = self.job.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the pointer was made by `Box::into_raw`, and only the thread that swaps it out owns it.
        (!job.is_null()).then(|| unsafe { Box::from_raw(job) })
    }

    /// True if the process of that number has taken the job.
    pub fn is_taken_by(&self, process: u32) -> bool {
        self.taken_by.load(Ordering::Acquire) == process
    }

    /// Puts good code in the place of the first, or notes that there is none.
    pub fn set_good(&self, machine: Option<Machine>) {
        let _ = self.good.set(machine);
    }
}

impl Drop for Tiers {
    fn drop(&mut self) {
        let job = *self.job.get_mut();
        if !job.is_null() {
            // SAFETY: as in `take_job`.
            drop(unsafe { Box::from_raw(job) });
        }
    }
}
