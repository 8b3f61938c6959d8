//! The textual IR.
