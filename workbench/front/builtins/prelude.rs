//! What of the C++ library is written in C++ itself: `<type_traits>`, `<utility>`, `<array>`, `<limits>`.

/// A text that is read before the user's.
#[derive(Debug)]
pub struct Prelude {
    /// What messages call it.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

/// The part of the library written in CUDA C++.
static STD: Prelude = Prelude { name: "<std>", text: include_str!("std.cuh") };

/// The text to read first, if the user's mentions anything of it; `mentions` tells of an identifier.
pub fn prelude(mentions: impl Fn(&str) -> bool) -> Option<&'static Prelude> {
    mentions("std").then_some(&STD)
}
