//! The math functions of [`MathFn`] by name: `sin` (overloaded by argument) and `sinf`.

use std::collections::HashMap;

use crate::ir::MathFn;
use crate::once::Once;

/// Form of a math function: how the types of a call are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `float` when every argument is `float`, else `double` ([cmath.syn]).
    Overloaded,
    /// The `f` form: everything is `float`.
    Float,
}

/// Second names.
const ALIASES: &[(&str, MathFn)] = &[("nearbyint", MathFn::Rint)];

/// The functions by name.
static BY_NAME: Once<HashMap<&'static str, MathFn>> = Once::new(|| {
    let plain = MathFn::ALL.iter().copied().filter(|f| f.is_cudas()).map(|f| (f.name(), f));
    plain.chain(ALIASES.iter().copied()).collect()
});

fn find(name: &str) -> Option<MathFn> {
    BY_NAME.get(name).copied()
}

/// The math function of a name.
pub fn math(name: &str) -> Option<(MathFn, Form)> {
    if let Some(f) = find(name) {
        return Some((f, Form::Overloaded));
    }
    find(name.strip_suffix('f')?).map(|f| (f, Form::Float))
}

/// The names of the overloaded forms.
pub fn names() -> impl Iterator<Item = &'static str> {
    let plain = MathFn::ALL.iter().copied().filter(|f| f.is_cudas()).map(MathFn::name);
    plain.chain(ALIASES.iter().map(|(name, _)| *name))
}
