//! Shapes of the results of host functions, from shapes alone.
//!
//! The function runs on address space that was never written, with launches left out, and up to two more times with other values;
//! operations that ask for values are errors.

use std::time::Duration;

use super::host::{Export, Fill, HostTensor, Limits, Value, hollowly};
use super::program::Program;
use super::{Error, Result};
use crate::back::FaultKind;

/// The processor's time that the first runs for shapes may take if another is to follow.
const ANOTHER_RUN: Duration = Duration::from_millis(100);

impl Program {
    /// The shapes and types of the results of a host function that the text offers: it runs on tensors of the arguments' shapes that hold
    /// nothing, and its launches are left out. It runs up to three times, each time with other values: where that changes the shapes,
    /// they do not follow from shapes.
    ///
    /// # Errors
    /// As [`Program::call_export`]; [`Error::Other`] where the shapes depend on values.
    pub fn shapes(&self, export: &Export, args: &[Value], limits: Limits<'_>) -> Result<Value> {
        hollowly(|| self.shapes_of(export, args, limits))
    }

    fn shapes_of(&self, export: &Export, args: &[Value], limits: Limits<'_>) -> Result<Value> {
        let limits = Limits { shapes_only: true, ..limits };
        let needs_values = |why: &str| {
            let name = &export.name;
            Error::Other(format!("{name}: {why}, so its shapes do not follow from shapes: give a shape function"))
        };
        let begun = own_time();
        let first = match self.call_export(export, hollow(args, Fill::Zeros)?, limits) {
            Ok((value, _)) => value,
            Err(Error::Fault(fault)) if !matches!(fault.kind, FaultKind::Raised(_) | FaultKind::Interrupted) => {
                return Err(needs_values(&format!("on tensors that hold zeros there is a fault ({})", fault.detail)));
            }
            Err(error) => return Err(error),
        };
        // Zeros alone would hide differences: 0 / 0, or boxes without extent, say.
        for fill in [Fill::Ones, Fill::Mixed] {
            if own_time() - begun >= ANOTHER_RUN {
                break;
            }
            match self.call_export(export, hollow(args, fill)?, limits) {
                Ok((other, _)) if !first.is_alike(&other) => {
                    return Err(needs_values("it looks at the values of its tensors"));
                }
                Err(Error::Fault(fault)) if fault.kind == FaultKind::Interrupted => return Err(Error::Fault(fault)),
                // A check or an index that the values break there tells nothing of the shapes.
                _ => {}
            }
        }
        Ok(first)
    }
}

/// The processor's time of this thread. A thread that waits for the processor does not spend it, so the answer of a call does not depend on
/// what else the machine does.
#[cfg(unix)]
fn own_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: The time is written to a place of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// The time since the first call.
#[cfg(not(unix))]
fn own_time() -> Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed()
}

/// The values with new tensors in the place of theirs: of the same shapes, and holding the numbers that `fill` says.
fn hollow(values: &[Value], fill: Fill) -> Result<Vec<Value>> {
    values.iter().map(|value| hollow_one(value, fill)).collect()
}

fn hollow_one(value: &Value, fill: Fill) -> Result<Value> {
    Ok(match value {
        Value::Tensor(t) => Value::Tensor(
            HostTensor::filled(t.dtype(), t.shape(), t.device(), fill)
                .map_err(|(_, why)| Error::Other(why))?
                .ordered_as(t),
        ),
        Value::List(all) => Value::List(hollow(all, fill)?),
        Value::Tuple(all) => Value::Tuple(hollow(all, fill)?),
        Value::Dict(all) => {
            let pairs = all.iter().map(|(k, v)| Ok((k.clone(), hollow_one(v, fill)?)));
            Value::Dict(pairs.collect::<Result<_>>()?)
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `op.fake` once left out its other runs, and gave shapes that depend on values, when the machine was busy.
    #[test]
    fn waiting_is_not_counted() {
        let begun = own_time();
        std::thread::sleep(ANOTHER_RUN * 2);
        assert!(own_time() - begun < ANOTHER_RUN / 2 || cfg!(not(unix)));
    }
}
