//! Faults as text: the user's line with a caret, the thread, the detail.

use super::Fault;

/// A fault as terminal text.
pub fn fault(fault: &Fault) -> String {
    let place = fault.sources.place(fault.span);
    format!("{}: {} in kernel `{}`: {}", place, fault.kind.name(), fault.kernel, fault.detail)
}
