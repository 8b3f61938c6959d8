//! Workbench: write a CUDA kernel in a notebook cell; call it, check it, time it, see it.
//!
//! The pipeline, in the order text takes through it: [`source`] -> [`front`] -> [`ir`] -> [`valid`] -> [`pass`] ->
//! [`back`] -> [`runtime`] -> [`ops`] -> [`autograd`], [`check`], [`bench`] -> [`plot`] -> [`display`].
//! `ARCHITECTURE.md` beside this file tells the whole story.

pub mod autograd;
pub mod back;
pub mod bench;
pub mod check;
pub mod diagnostic;
pub mod display;
pub mod front;
pub mod ir;
pub mod ops;
pub mod pass;
pub mod plot;
pub mod runtime;
pub mod source;
pub mod valid;
