//! Shrinking of a failing kernel: fewer blocks and threads, fewer data sets, fewer statements, smaller expressions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::TIERS;
use super::kernel::Kernel;
use super::launch::{Failure, try_kernel};
use super::text;

/// The number of kernels that may be tried on the way.
const TRIES: usize = 1500;

/// The limit of a launch on the way: a kernel that lasts longer is not taken.
const LIMIT: Duration = Duration::from_secs(10);

struct Shrinker {
    left: usize,
    last: Failure,
}

impl Shrinker {
    /// True if a kernel still fails in the same way.
    fn fails(&mut self, kernel: &Kernel, source: &str) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let tried = catch_unwind(AssertUnwindSafe(|| try_kernel(kernel, source, &TIERS, LIMIT)));
        match tried {
            Ok(Err(failure)) if self.is_alike(&failure) => {
                self.last = failure;
                true
            }
            _ => false,
        }
    }

    /// True if a failure is like the last one. A smaller kernel may have become endless where another thread should fault first, which is
    /// no difference of a kernel that ended. Those of texts that do not compile are alike if the message's first line is the same.
    fn is_alike(&self, other: &Failure) -> bool {
        let head = |f: &Failure| f.message.lines().next().unwrap_or("").chars().take(40).collect::<String>();
        let is_same_kind = (other.differs, other.hangs) == (self.last.differs, self.last.hangs);
        is_same_kind && (other.differs || head(&self.last) == head(other))
    }
}

/// A smaller kernel that fails alike, and its failure.
pub fn shrink(kernel: &Kernel, failure: Failure) -> String {
    let mut kernel = kernel.clone();
    let mut s = Shrinker { left: TRIES, last: failure };
    for keep in (0..kernel.sizes.len()).rev() {
        let mut smaller = kernel.clone();
        smaller.sizes.truncate(keep);
        if keep > 0 && s.fails(&smaller, &text::render(&smaller.nodes)) {
            kernel = smaller;
        }
    }
    loop {
        let before = text::removable(&kernel.nodes);
        let mut which = before;
        while which > 0 {
            which -= 1;
            let mut smaller = kernel.clone();
            smaller.nodes = text::without(&kernel.nodes, which);
            if s.fails(&smaller, &text::render(&smaller.nodes)) {
                kernel = smaller;
                which = which.min(text::removable(&kernel.nodes));
            }
        }
        if text::removable(&kernel.nodes) == before {
            break;
        }
    }
    let mut source = text::render(&kernel.nodes);
    while let Some(smaller) = text::simpler(&source).into_iter().find(|t| s.fails(&kernel, t)) {
        source = smaller;
    }
    for change in [|k: &mut Kernel| k.grid = [1, 1, 1], |k: &mut Kernel| k.block = [k.block[0], 1, 1]] {
        let mut smaller = kernel.clone();
        change(&mut smaller);
        if s.fails(&smaller, &source) {
            kernel = smaller;
        }
    }
    while kernel.block[0] > 1 {
        let mut smaller = kernel.clone();
        smaller.block[0] -= smaller.block[0].div_ceil(4);
        if !s.fails(&smaller, &source) {
            break;
        }
        kernel = smaller;
    }
    let (grid, block) = (kernel.grid, kernel.block);
    format!("{}\n<<<{grid:?}, {block:?}>>>, {} cells\n{source}", s.last.message, kernel.cells)
}
