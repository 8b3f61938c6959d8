//! Values that are made once in a process, and never under a lock: another thread may fork the process meanwhile, and a lock that this
//! thread holds would stay locked in the child for ever.

use std::ops::Deref;
use std::sync::OnceLock;

/// A value that its first user makes. If there are several first users, each makes one, and all get the same.
pub(crate) struct Once<T> {
    made: OnceLock<T>,
    make: fn() -> T,
}

impl<T> Once<T> {
    /// A value that nobody has used yet.
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Once { made: OnceLock::new(), make }
    }
}

impl<T> Deref for Once<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self.made.get() {
            Some(made) => made,
            None => {
                let made = (self.make)();
                self.made.get_or_init(|| made)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Once;

    static VALUE: Once<usize> = Once::new(|| {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            // This would wait for itself if the value were made under the lock.
            assert_eq!(*VALUE, 1);
        }
        number
    });

    #[test]
    fn nobody_waits_for_who_makes_it() {
        assert_eq!(*VALUE, 1);
        assert_eq!(*VALUE, 1);
    }
}
