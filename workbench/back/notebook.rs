//! A Rust notebook: its stop button, and what a cell tells beside its output. Its kernel sets [`VARIABLE`] for the process that runs the cells, and sends it `SIGUSR1` to stop a
//! cell and `SIGUSR2` when the next one begins (`workbench/evcxr/src/stop.rs`). In between launches end with
//! [`FaultKind::Interrupted`](super::FaultKind::Interrupted).
//!
//! A cell tells its kernel how far it is, and the error that ends it, by lines of its output between two marks, which hold JSON
//! (`workbench/evcxr/src/protocol.rs`). evcxr reads the end of a cell from the same stream, so that they are read before.
//!
//! A notebook that names the crate itself, and not the library that cells share (`workbench/evcxr/library`), has a copy of this module for each
//! cell. A handler therefore calls the one that it took the place of.

use std::cell::Cell;
use std::io::Write as _;

use serde_json::{Value, json};

use super::interrupt::Interrupt;

/// The environment variable by which a process knows that its cells can be stopped.
pub const VARIABLE: &str = "WORKBENCH_NOTEBOOK";

/// The user's wish to stop the cell that runs, for launches that were given no other; `None` outside of a notebook.
pub fn interrupt() -> Option<&'static dyn Interrupt> {
    listens().then_some(&StopButton as &dyn Interrupt)
}

/// True if the cell that runs is to stop.
pub fn is_stopped() -> bool {
    listens() && StopButton.interrupted()
}

/// A line that tells how far a measurement is, with a picture or without; it goes when this does. Outside of a notebook it does nothing.
#[derive(Debug, Default)]
pub struct Line {
    is_shown: Cell<bool>,
}

impl Line {
    /// Shows the line, and a picture as HTML or nothing, in place of the line before.
    pub fn show(&self, line: &str, html: &str) {
        self.is_shown.set(tell(&json!({ "progress": { "line": line, "html": html } })));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.is_shown.get() {
            tell(&json!({ "progress": { "line": "", "html": "" } }));
        }
    }
}

/// Shows something among the outputs of the cell, as text and as HTML; false where nobody listens.
pub fn show(plain: &str, html: &str) -> bool {
    tell(&json!({ "display": { "plain": plain, "html": html } }))
}

/// Tells the error that ends the cell; false where nobody listens.
pub fn tell_error(name: &str, text: &str) -> bool {
    tell(&json!({ "error": { "name": name, "text": text } }))
}

/// Tells the kernel something; false outside of a notebook.
fn tell(what: &Value) -> bool {
    // JSON holds no control characters, so it cannot hold the second mark.
    listens() && writeln!(std::io::stdout().lock(), "\u{1b}_workbench {what}\u{1b}\\").is_ok()
}

struct StopButton;

#[cfg(not(unix))]
impl Interrupt for StopButton {
    fn interrupted(&self) -> bool {
        false
    }
}

#[cfg(not(unix))]
fn listens() -> bool {
    false
}

#[cfg(unix)]
use signals::listens;

#[cfg(unix)]
mod signals {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::{Interrupt, StopButton, VARIABLE};
    use crate::once::Once;

    static STOPPED: AtomicBool = AtomicBool::new(false);

    /// The handlers that were there before, as addresses; zero for none.
    static EARLIER: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

    impl Interrupt for StopButton {
        fn interrupted(&self) -> bool {
            STOPPED.load(Ordering::Relaxed)
        }
    }

    /// True in a notebook; the first call begins to listen.
    pub fn listens() -> bool {
        static LISTENS: Once<bool> = Once::new(|| {
            let wanted = std::env::var_os(VARIABLE).is_some_and(|v| v == "1");
            if wanted {
                listen(libc::SIGUSR1, &EARLIER[0], on_stop);
                listen(libc::SIGUSR2, &EARLIER[1], on_go_on);
            }
            wanted
        });
        *LISTENS
    }

    fn listen(signal: libc::c_int, earlier: &AtomicUsize, handler: extern "C" fn(libc::c_int)) {
        // SAFETY: an action of zeros is valid; the handlers do only what is allowed in one, to load and store atomics.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            // A wait that the signal interrupts goes on.
            action.sa_flags = libc::SA_RESTART;
            let mut old: libc::sigaction = std::mem::zeroed();
            // The earlier handler is read first: a signal may come as soon as the handler is set.
            if libc::sigaction(signal, std::ptr::null(), &mut old) == 0 {
                let is_function = old.sa_sigaction != libc::SIG_IGN && old.sa_sigaction != libc::SIG_DFL;
                earlier.store(if is_function { old.sa_sigaction } else { 0 }, Ordering::Relaxed);
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }

    extern "C" fn on_stop(signal: libc::c_int) {
        STOPPED.store(true, Ordering::Relaxed);
        pass_on(signal, &EARLIER[0]);
    }

    extern "C" fn on_go_on(signal: libc::c_int) {
        STOPPED.store(false, Ordering::Relaxed);
        pass_on(signal, &EARLIER[1]);
    }

    fn pass_on(signal: libc::c_int, earlier: &AtomicUsize) {
        let address = earlier.load(Ordering::Relaxed);
        if address != 0 {
            // SAFETY: the address is that of a handler that was set for this signal. Libraries of cells are never unloaded.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(address) };
            handler(signal);
        }
    }
}
