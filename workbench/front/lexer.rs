//! Tokens.

/// A token.
pub struct Token {}
