//! Tiers: which machine code is made of a module, and which a launch ran.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

/// Machine code of one kind; see [`make`](super::make).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Tier {
    /// Soon code first, good code in its place once that is made, and for hot kernels lanes, then wide code.
    Auto = 0,
    /// Soon code: it is made quickly and runs slower.
    Soon = 1,
    /// Good code, which takes longer to make.
    Good = 2,
    /// Lanes by our own compiler, which the first launch makes and waits for; good code where there are none.
    Lanes = 3,
    /// Wide code, which the first launch makes and waits for; good code where there is none.
    Wide = 4,
    /// Good code, each thread of which runs as a fiber, also where none has to wait for another: slow, and independent of any order.
    Fibers = 5,
}

/// The number of the tier that [`Tier::default`] gives.
static DEFAULT_TIER: AtomicU8 = AtomicU8::new(Tier::Auto as u8);

thread_local! {
    /// The tiers of the code that launches of this thread have run since it last asked.
    static RAN: Cell<Tiers> = const { Cell::new(Tiers(0)) };
}

/// A set of tiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tiers(u8);

impl Tiers {
    /// The tiers of the code that launches of this thread have run since it last asked; after that there are none.
    pub fn take() -> Tiers {
        RAN.take()
    }

    /// True if there is no tier.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The tiers of both.
    #[must_use]
    pub fn and(self, other: Tiers) -> Tiers {
        Tiers(self.0 | other.0)
    }

    /// The names, with commas, in the order of [`Tier::ALL`].
    pub fn names(self) -> String {
        let names: Vec<&str> =
            Tier::ALL.into_iter().filter(|&tier| self.0 & 1 << tier as u8 != 0).map(Tier::name).collect();
        names.join(", ")
    }
}

impl Default for Tier {
    /// [`Tier::Auto`], or the tier of the last [`Tier::make_default`].
    fn default() -> Self {
        Tier::of_number(DEFAULT_TIER.load(Ordering::Relaxed)).unwrap_or(Tier::Auto)
    }
}

impl Tier {
    /// All tiers, each at its number.
    pub const ALL: [Tier; 6] = [Tier::Auto, Tier::Soon, Tier::Good, Tier::Lanes, Tier::Wide, Tier::Fibers];

    /// Makes this the tier that is compiled in this process from now on, unless another is asked for.
    pub fn make_default(self) {
        DEFAULT_TIER.store(self as u8, Ordering::Relaxed);
    }

    /// Notes that a launch of this thread runs code of this tier.
    pub fn note_run(self) {
        RAN.set(RAN.get().and(Tiers(1 << self as u8)));
    }

    /// `auto`, `soon`, `good`, `lanes`, `wide` or `fibers`.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Auto => "auto",
            Tier::Soon => "soon",
            Tier::Good => "good",
            Tier::Lanes => "lanes",
            Tier::Wide => "wide",
            Tier::Fibers => "fibers",
        }
    }

    /// The tier of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Tier::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// The tier of its number.
    pub fn of_number(number: u8) -> Option<Self> {
        Tier::ALL.get(usize::from(number)).copied()
    }

    /// True if there is good code from the first launch on, and none sooner.
    pub fn begins_good(self) -> bool {
        matches!(self, Tier::Good | Tier::Lanes | Tier::Wide | Tier::Fibers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_knows_the_tiers_that_it_ran_since_it_asked() {
        Tiers::take();
        assert!(Tiers::take().is_empty());
        Tier::Wide.note_run();
        Tier::Soon.note_run();
        assert_eq!(Tiers::take().names(), "soon, wide");
        Tier::Good.note_run();
        std::thread::spawn(|| assert!(Tiers::take().is_empty())).join().unwrap();
        assert_eq!(Tiers::take().names(), "good");
    }
}
