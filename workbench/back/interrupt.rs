//! The user's wish to stop.

/// Polled on the launching thread every few milliseconds; `true` stops the launch with
/// [`FaultKind::Interrupted`](super::FaultKind::Interrupted).
pub trait Interrupt: Sync {
    /// True if the user wants it to stop.
    fn interrupted(&self) -> bool;
}
