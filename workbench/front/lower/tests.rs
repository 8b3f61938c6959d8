//! Behaviour of the lowering as a whole.
