//! The stack that the running thread has left. Generated code is given a limit and never runs past it.

use std::cell::Cell;

/// Stack kept free below a thread's limit for the Rust (and the interrupt callback's Python) that generated code calls.
pub const MARGIN: usize = 256 << 10;

/// Stack that a thread of a kernel which calls functions may use, the same wherever it runs.
pub const CALLS: usize = 1 << 20;

/// Largest frame of a function.
pub const MAX_FRAME: usize = 1 << 20;

/// Most bytes of local arrays a function may have (CUDA's limit on local memory per thread).
pub const MAX_SLOTS: u64 = 512 << 10;

/// Stack of the threads of our pool: room for everything above.
pub const POOL_THREAD: usize = 4 << 20;

/// An address near the stack pointer.
pub fn pointer() -> usize {
    let here = 0u8;
    std::ptr::from_ref(std::hint::black_box(&here)) as usize
}

/// Bytes left on this thread's stack; `None` where the system does not tell.
pub fn remaining() -> Option<usize> {
    thread_local! {
        // Asking takes tens of microseconds on the main thread; the answer does not change.
        static LOWEST: Cell<Option<Option<usize>>> = const { Cell::new(None) };
    }
    let lowest = LOWEST.get().unwrap_or_else(|| {
        let lowest = lowest_address();
        LOWEST.set(Some(lowest));
        lowest
    });
    lowest.map(|low| pointer().saturating_sub(low))
}

#[cfg(target_os = "linux")]
fn lowest_address() -> Option<usize> {
    // SAFETY: the attributes are initialised by pthread_getattr_np before they are read, and destroyed after.
    unsafe {
        let mut attr = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        if libc::pthread_getattr_np(libc::pthread_self(), attr.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut low, mut size, mut guard) = (std::ptr::null_mut(), 0, 0);
        let ok = libc::pthread_attr_getstack(attr.as_ptr(), &raw mut low, &raw mut size) == 0
            && libc::pthread_attr_getguardsize(attr.as_ptr(), &raw mut guard) == 0;
        libc::pthread_attr_destroy(attr.as_mut_ptr());
        // The guard may lie inside the range reported as stack (glibc before 2.27).
        ok.then(|| low as usize + guard)
    }
}

#[cfg(target_os = "macos")]
fn lowest_address() -> Option<usize> {
    // SAFETY: both functions only read the calling thread's descriptor.
    unsafe {
        let this = libc::pthread_self();
        let top = libc::pthread_get_stackaddr_np(this) as usize;
        top.checked_sub(libc::pthread_get_stacksize_np(this))
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn lowest_address() -> Option<usize> {
    None
}
