//! `register_autograd` and vector-Jacobian products, under torch's contract, for Rust's arrays.

use std::sync::Arc;

use crate::ops::{Context, Gradient, IntoArgs, Op, Outputs, OwnedArg, fill_defaults};
use crate::plural::plural;
use crate::runtime::{Error, Result, Tensor};

/// A function from gradients of the outputs to gradients of the inputs.
pub struct Pullback {
    name: String,
    context: Context,
    gradient: Gradient,
    args: Vec<OwnedArg>,
    outputs: Vec<(Vec<usize>, crate::runtime::DType)>,
}

impl Pullback {
    /// One gradient per argument, `None` where the argument is no float array or the backward pass gives none.
    ///
    /// # Errors
    /// [`Error::Argument`] when the count, a shape or a type does not fit, naming the operator, the argument and both sides.
    pub fn call(&self, grads: &[Tensor]) -> Result<Vec<Option<Tensor>>> {
        let name = &self.name;
        if grads.len() != self.outputs.len() {
            return Err(Error::argument(format!(
                "`{name}` has {}, and {} came",
                plural(self.outputs.len(), "output"),
                plural(grads.len(), "gradient")
            )));
        }
        for (k, (grad, (shape, _))) in grads.iter().zip(&self.outputs).enumerate() {
            if grad.shape() != shape.as_slice() {
                return Err(Error::argument(format!(
                    "`{name}`: the gradient of output {k} has shape {:?}, and the output {shape:?}",
                    grad.shape()
                )));
            }
        }
        let made = (self.gradient.backward)(&self.context, grads)?;
        if made.len() != self.args.len() {
            return Err(Error::argument(format!(
                "`{name}`: its backward returned {} gradients for {} arguments (None where one is no array)",
                made.len(),
                self.args.len()
            )));
        }
        for (i, (grad, arg)) in made.iter().zip(&self.args).enumerate() {
            let Some(grad) = grad else { continue };
            match arg.tensor() {
                Some(tensor) if tensor.shape() == grad.shape() => {}
                Some(tensor) => {
                    return Err(Error::argument(format!(
                        "`{name}`: the gradient of argument {i} has shape {:?}, and the argument {:?}",
                        grad.shape(),
                        tensor.shape()
                    )));
                }
                None => {
                    return Err(Error::argument(format!(
                        "`{name}`: its backward returned a gradient for argument {i}, which is no array"
                    )));
                }
            }
        }
        Ok(made)
    }
}

impl Op {
    /// Registers or replaces the gradient. `backward(ctx, grads)` returns one gradient per argument; `setup_context(ctx, inputs, outputs)` runs
    /// after the forward pass and keeps what backward needs.
    pub fn register_autograd(
        &self,
        setup_context: impl Fn(&mut Context, &[OwnedArg], &[Tensor]) + Send + Sync + 'static,
        backward: impl Fn(&Context, &[Tensor]) -> Result<Vec<Option<Tensor>>> + Send + Sync + 'static,
    ) {
        self.set_gradient(Gradient { backward: Arc::new(backward), setup: Some(Arc::new(setup_context)), by: None });
    }

    /// Calls the operator and returns its outputs with the map from output gradients to input gradients.
    ///
    /// # Errors
    /// [`Error::Argument`] when no gradient is registered; otherwise as [`Op::call`].
    pub fn vjp(&self, args: impl IntoArgs) -> Result<(Outputs, Pullback)> {
        let gradient = self.gradient().ok_or_else(|| {
            Error::argument(format!("`{}` has no gradient; register one with register_autograd", self.name()))
        })?;
        let mut args = args.into_args();
        fill_defaults(&self.definition().schema, &mut args)?;
        let needs = args.iter().map(|a| a.tensor().is_some_and(|t| t.dtype().is_float())).collect();
        let outputs = self.call(args.clone())?;
        let mut context = Context::new(needs);
        match &gradient.setup {
            Some(setup) => setup(&mut context, &args, &outputs.tensors),
            None => context.save_for_backward(args.iter().cloned()),
        }
        let shapes = outputs.tensors.iter().map(|t| (t.shape().to_vec(), t.dtype())).collect();
        let name = self.name().to_owned();
        Ok((outputs, Pullback { name, context, gradient, args, outputs: shapes }))
    }
}
