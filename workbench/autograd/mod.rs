//! Gradients: registered ones, vector-Jacobian products through them, and their check by finite differences.

pub mod gradcheck;
pub mod vjp;

#[cfg(test)]
mod tests;

pub use gradcheck::{GradMismatch, GradOptions, GradReport, GradWriter, Jacobian, gradcheck};
pub use vjp::Pullback;
