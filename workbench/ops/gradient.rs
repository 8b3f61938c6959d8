//! Registered gradients, under torch's contract: `backward(ctx, *grads)` and `setup_context(ctx, inputs, output)`.

use std::sync::Arc;

use super::call::OwnedArg;
use super::registry::Op;
use crate::plural::plural;
use crate::runtime::{Error, Result, Tensor};

/// The context that `setup_context` fills for `backward`.
#[derive(Debug, Clone, Default)]
pub struct Context {
    saved: Vec<OwnedArg>,
    needs: Vec<bool>,
}

impl Context {
    /// A context for inputs; `needs` is true for those that want a gradient.
    pub fn new(needs: Vec<bool>) -> Self {
        Context { saved: Vec::new(), needs }
    }

    /// Keeps arguments or outputs for the backward pass.
    pub fn save_for_backward(&mut self, saved: impl IntoIterator<Item = OwnedArg>) {
        self.saved = saved.into_iter().collect();
    }

    /// The saved values.
    pub fn saved(&self) -> &[OwnedArg] {
        &self.saved
    }

    /// The saved arrays.
    pub fn saved_tensors(&self) -> Vec<&Tensor> {
        self.saved.iter().filter_map(|s| if let OwnedArg::Tensor(t) = s { Some(t) } else { None }).collect()
    }

    /// True for each argument whose gradient is wanted: the arrays of floats.
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
    /// The function that runs before it; `None` saves every argument.
    pub setup: Option<SetupFn>,
    /// The operator that computes it, if one does.
    pub by: Option<Arc<GradientBy>>,
}

/// A gradient that another operator computes.
#[derive(Debug, Clone)]
pub struct GradientBy {
    /// The operator. It is called with the gradients of the outputs that are floats, then with the saved values.
    pub operator: Op,
    /// The saved values: arguments of the operator or outputs, in order.
    pub saves: Vec<Saved>,
    /// The arguments that it gives gradients for, by their numbers, in order.
    pub differentiable: Vec<usize>,
}

/// A value of the forward pass that a backward pass needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// An argument, by its number.
    Argument(usize),
    /// An output, by its number.
    Output(usize),
}

impl GradientBy {
    /// `saves` names arguments of `of`, or "output", "output.1"; `differentiable` the arguments that get gradients.
    fn new(of: &Op, operator: &Op, saves: &[&str], differentiable: &[&str]) -> Result<Self> {
        let definition = of.definition();
        let args = &definition.schema.args;
        let unknown = |name: &str| {
            let known: Vec<&str> = args.iter().map(|a| a.name.as_str()).collect();
            Error::argument(format!(
                "`{}` has no argument `{name}`; it has {}, and \"output\"",
                of.name(),
                known.join(", ")
            ))
        };
        let argument = |name: &str| args.iter().position(|a| a.name == name);
        let saved = |name: &&str| {
            if let Some(a) = argument(name) {
                return Ok(Saved::Argument(a));
            }
            let (lead, number) = name.split_once('.').unwrap_or((name, "0"));
            let k: usize = number.parse().map_err(|_| unknown(name))?;
            if lead != "output" {
                return Err(unknown(name));
            }
            if k >= definition.output_count() {
                let count = definition.output_count();
                return Err(Error::argument(format!(
                    "`{}` has no `{name}`: it has {}",
                    of.name(),
                    plural(count, "output")
                )));
            }
            Ok(Saved::Output(k))
        };
        let by = GradientBy {
            operator: operator.clone(),
            saves: saves.iter().map(saved).collect::<Result<_>>()?,
            differentiable: differentiable
                .iter()
                .map(|name| argument(name).filter(|a| args[*a].is_tensor()).ok_or_else(|| unknown(name)))
                .collect::<Result<_>>()?,
        };
        let backward = operator.definition();
        let (given, wanted) = (definition.output_count() + by.saves.len(), backward.schema.args.len());
        if given > wanted {
            return Err(Error::argument(format!(
                "`{}` takes {wanted} arguments; as the backward of `{}` it gets {given}: the gradients of its outputs, then what is saved",
                operator.name(),
                of.name()
            )));
        }
        let (gives, wants) = (backward.output_count(), by.differentiable.len());
        if gives != wants {
            return Err(Error::argument(format!(
                "`{}` gives {gives} gradients for {wants} arguments of `{}` ({})",
                operator.name(),
                of.name(),
                differentiable.join(", ")
            )));
        }
        Ok(by)
    }

    fn gradient(self) -> Gradient {
        let by = Arc::new(self);
        let (saving, running) = (by.clone(), by.clone());
        let setup = move |ctx: &mut Context, inputs: &[OwnedArg], outputs: &[Tensor]| {
            let floats = outputs.iter().map(|o| OwnedArg::Bool(o.dtype().is_float()));
            let saved = saving.saves.iter().map(|saved| match saved {
                Saved::Argument(a) => inputs[*a].clone(),
                Saved::Output(k) => OwnedArg::Tensor(outputs[*k].clone()),
            });
            ctx.save_for_backward(floats.chain(saved).collect::<Vec<_>>());
        };
        let backward = move |ctx: &Context, grads: &[Tensor]| {
            let (floats, saved) = ctx.saved().split_at(grads.len());
            let given = grads.iter().zip(floats).filter(|(_, float)| matches!(float, OwnedArg::Bool(true)));
            let args: Vec<OwnedArg> = given.map(|(g, _)| OwnedArg::Tensor(g.clone())).chain(saved.to_vec()).collect();
            let mut made = vec![None; ctx.needs_input_grad().len()];
            for (tensor, &a) in running.operator.call(args)?.tensors.into_iter().zip(&running.differentiable) {
                made[a] = Some(tensor);
            }
            Ok(made)
        };
        Gradient { backward: Arc::new(backward), setup: Some(Arc::new(setup)), by: Some(by) }
    }
}

impl Op {
    /// Registers another operator as the gradient. It is called with the gradients of the outputs that are floats and then with the values
    /// that `saves` names, arguments or "output", "output.1"; it gives one gradient for each argument in `differentiable`.
    ///
    /// ```
    /// use workbench::prelude::*;
    ///
    /// let src = "
    ///     __global__ void square(const float* x, float* y, int n) {
    ///         int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i];
    ///     }
    ///     __global__ void square_backward(const float* g, const float* x, float* gx, int n) {
    ///         int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) gx[i] = 2 * x[i] * g[i];
    ///     }";
    /// let square = Op::new("doc::square(Tensor x) -> Tensor").source(src).kernel("square").shape("x[n] -> y[n]").build()?;
    /// let backward = Op::new("doc::square_backward(Tensor g, Tensor x) -> Tensor").source(src).kernel("square_backward")
    ///     .shape("g[n], x[n] -> gx[n]").build()?;
    /// square.register_backward(&backward, &["x"], &["x"])?;
    /// let (_, pullback) = square.vjp((&array![1.0f32, 3.0],))?;
    /// let grads = pullback.call(&[Tensor::from_slice(&[2], &[1.0f32, 10.0])?])?;
    /// assert_eq!(grads[0].as_ref().and_then(|g| g.as_slice::<f32>()), Some(&[2.0, 60.0][..]));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] for names that do not exist, and where the operator has too many or too few arguments or results.
    pub fn register_backward(&self, backward: &Op, saves: &[&str], differentiable: &[&str]) -> Result<()> {
        self.set_gradient(GradientBy::new(self, backward, saves, differentiable)?.gradient());
        Ok(())
    }
}
