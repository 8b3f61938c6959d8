//! What a registered gradient is: torch's contract, `backward(ctx, *grads)` and `setup_context(ctx, inputs, output)`.

use std::sync::Arc;

use super::call::OwnedArg;
use crate::runtime::{Result, Tensor};

/// What `setup_context` leaves for `backward`.
#[derive(Debug, Clone, Default)]
pub struct Context {
    saved: Vec<OwnedArg>,
    needs: Vec<bool>,
}

impl Context {
    /// A context for inputs of which `needs` want a gradient.
    pub fn new(needs: Vec<bool>) -> Self {
        Context { saved: Vec::new(), needs }
    }

    /// Keeps arguments or outputs for the backward pass.
    pub fn save_for_backward(&mut self, saved: impl IntoIterator<Item = OwnedArg>) {
        self.saved = saved.into_iter().collect();
    }

    /// What was saved.
    pub fn saved(&self) -> &[OwnedArg] {
        &self.saved
    }

    /// The saved arrays.
    pub fn saved_tensors(&self) -> Vec<&Tensor> {
        self.saved.iter().filter_map(|s| if let OwnedArg::Tensor(t) = s { Some(t) } else { None }).collect()
    }

    /// For each argument whether a gradient is wanted: the arrays of floats.
    pub fn needs_input_grad(&self) -> &[bool] {
        &self.needs
    }
}

/// `backward(ctx, grads)`: one gradient per argument, `None` where the argument is no array or takes none.
pub type BackwardFn = Arc<dyn Fn(&Context, &[Tensor]) -> Result<Vec<Option<Tensor>>> + Send + Sync>;

/// `setup_context(ctx, inputs, outputs)`.
pub type SetupFn = Arc<dyn Fn(&mut Context, &[OwnedArg], &[Tensor]) + Send + Sync>;

/// A registered gradient.
#[derive(Clone)]
pub struct Gradient {
    /// The backward pass.
    pub backward: BackwardFn,
    /// What runs before it; `None` saves every argument.
    pub setup: Option<SetupFn>,
}
