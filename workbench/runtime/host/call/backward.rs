//! A call that is over, with its tape, and the backward pass along that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::answer::Answer;
use super::super::array::{DeviceTag, HostTensor};
use super::super::export::Names;
use super::super::ops;
use super::super::ops::gradients::{self, ElementPlaces};
use super::super::value::Value;
use super::tape::{Edge, Meta, Node, Variable, What, is_same_view, memory_of, runtime, tensors_of, with_tensors};
use super::{Call, CallState, HostProgram, Limits, ProgramState};
use crate::back::cpu::HostMemory;
use crate::back::{Exception, PrintfRecord};
use crate::runtime::{Error, Report};

/// A call that is over, and what it recorded. It keeps the memory of the call.
pub struct Recording {
    program: Arc<dyn HostProgram>,
    shared: ProgramState,
    memory: Arc<HostMemory>,
    state: Mutex<Option<Box<CallState>>>,
    inputs: usize,
    /// The makers of the result's tensors, in order, and after them those of arguments that it wrote.
    outputs: Vec<Option<Edge>>,
    metas: Vec<Meta>,
    /// The argument that each tensor of the result is, where it is an unchanged argument.
    pub aliases: Vec<Option<usize>>,
    /// Arguments that it wrote in place, in ways that gradients follow.
    pub dirty: Vec<usize>,
    /// True for each argument that its gradients read.
    pub reads_inputs: Vec<bool>,
    /// True for each tensor of the result that its gradients read.
    pub reads_outputs: Vec<bool>,
    /// True if it drew random numbers.
    pub is_random: bool,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recording({} inputs, {} outputs)", self.inputs, self.outputs.len())
    }
}

impl<'p> Call<'p> {
    /// The same call, recording the operations on those tensors of its arguments that require grad.
    #[must_use]
    pub fn recorded(mut self, wants: &[bool]) -> Self {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut args: Vec<Value> = std::mem::take(&mut state.stack).into_iter().rev().collect();
        state.tape.begin(&mut args, wants);
        state.stack = args.into_iter().rev().collect();
        self
    }

    /// The result of the call and its record, when it is over.
    ///
    /// # Errors
    /// As of a tensor that is stale.
    pub fn into_recording(self, program: Arc<dyn HostProgram>, given: &[Value]) -> Answer<(Value, Recording)> {
        let memory = self.memory;
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let value = state.stack.pop().unwrap_or(Value::None);
        state.stack.clear();
        let given = tensors_of(given);
        let made = tensors_of([&value]);
        let mut outputs = state.tape.edges(&made)?;
        let tape = &state.tape;
        let is_input = |edge: &Option<Edge>| match edge.map(|(node, _)| &tape.nodes[node].what) {
            Some(What::Input(i)) => Some(*i),
            _ => None,
        };
        let variables = &tape.variables;
        // An argument that was set to require grad counts as unchanged.
        let is_leaf = |edge: &Option<Edge>| edge.is_some_and(|(node, _)| matches!(tape.nodes[node].what, What::Leaf));
        let is_other = |v: &Variable, i: usize| is_input(&v.edge) != Some(i) && v.edge.is_some() && !is_leaf(&v.edge);
        let changed = |v: &Variable| v.input.filter(|i| is_other(v, *i));
        let dirty: Vec<usize> = variables.iter().filter_map(changed).collect();
        // A view of an argument has its gradient recorded; the argument itself is an alias.
        let aliases = made.iter().zip(&outputs).map(|(t, edge)| {
            let at = is_input(edge).or_else(|| tape.variable(t).and_then(|v| v.input))?;
            let fits = given.get(at).is_some_and(|g| is_same_view(g, t));
            (fits && !dirty.contains(&at)).then_some(at)
        });
        let aliases: Vec<Option<usize>> = aliases.collect();
        let saved: Vec<usize> = tape.nodes.iter().flat_map(|node| node.saved.iter().map(|(at, _)| *at)).collect();
        let reads_inputs = given.iter().map(|t| saved.contains(&memory_of(t))).collect();
        let reads_outputs = made.iter().map(|t| saved.contains(&memory_of(t))).collect();
        let mut metas: Vec<Meta> = made.iter().map(|t| Meta::of(t)).collect();
        for &i in &dirty {
            outputs.push(variables.iter().find(|v| v.input == Some(i)).and_then(|v| v.edge));
            metas.push(Meta::of(given[i]));
        }
        let inputs = given.len();
        let value = with_tensors(value, &mut |t| t.numbered(0)).kept();
        state.tape.on = false;
        let is_random = state.tape.is_random;
        let (shared, state) = (self.shared, Mutex::new(Some(state)));
        let recording = Recording {
            program,
            shared,
            memory,
            state,
            inputs,
            outputs,
            metas,
            aliases,
            dirty,
            reads_inputs,
            reads_outputs,
            is_random,
        };
        Ok((value, recording))
    }

    /// A call of a `Function`'s backward in the memory of the call that recorded it.
    fn again(recording: &'p Recording, mut state: Box<CallState>, limits: Limits<'p>) -> Self {
        (state.argument, state.freeing) = (None, None);
        state.warnings.clear();
        state.names = Arc::new(Names::of("backward"));
        (state.tape.grad_mode, state.tape.below) = (false, false);
        state.tape.pending.clear();
        let (limit, polled) = (limits.left(), Mutex::default());
        let (shared, memory) = (recording.shared.clone(), recording.memory.clone());
        Call { program: &*recording.program, shared, limits, limit, polled, memory, state: Mutex::new(state) }
    }
}

/// The gradients that have come so far, by edge.
type Coming = HashMap<Edge, HostTensor>;

fn failed((exception, message): (Exception, String)) -> Error {
    match exception {
        Exception::Memory => Error::Other(format!("out of memory: {message}")),
        _ => Error::Other(message),
    }
}

/// Adds a gradient to the one that has come for an edge.
fn add(coming: &mut Coming, edge: Edge, grad: HostTensor) -> Result<(), Error> {
    let sum = match coming.remove(&edge) {
        None => grad,
        Some(known) => {
            let device = known.device();
            match ops::run("add", vec![Value::Tensor(known), Value::Tensor(grad)], device).map_err(failed)? {
                Value::Tensor(sum) => sum,
                _ => return Err(Error::Other("gradients could not be added".to_owned())),
            }
        }
    };
    coming.insert(edge, sum);
    Ok(())
}

impl Recording {
    /// True for each tensor of the result that a gradient goes through, and after them for each argument that it wrote.
    pub fn differentiable(&self) -> Vec<bool> {
        self.outputs.iter().map(Option::is_some).collect()
    }

    /// Gradients of the arguments' tensors for gradients of the result's; `None` is zero.
    ///
    /// # Errors
    /// [`Error::Fault`] when a backward does something wrong, [`Error::Other`] for what has no gradient, by its name.
    pub fn backward(
        &self,
        grads: Vec<Option<HostTensor>>,
        limits: Limits<'_>,
    ) -> Result<(Vec<Option<HostTensor>>, Report), Error> {
        let mut slot = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut state) = slot.take() else {
            return Err(Error::Other(
                "a gradient is asked for that failed before in a way that left nothing".to_owned(),
            ));
        };
        let mut report = Report::default();
        let nodes = std::mem::take(&mut state.tape.nodes);
        let made = self.walk(&nodes, &mut state, grads, limits, &mut report);
        state.tape.nodes = nodes;
        *slot = Some(state);
        made.map(|made| (made, report))
    }

    fn walk(
        &self,
        nodes: &[Node],
        state: &mut CallState,
        grads: Vec<Option<HostTensor>>,
        limits: Limits<'_>,
        report: &mut Report,
    ) -> Result<Vec<Option<HostTensor>>, Error> {
        let mut coming = Coming::new();
        for ((edge, meta), grad) in self.outputs.iter().zip(&self.metas).zip(grads) {
            if let (Some(edge), Some(grad)) = (edge, grad) {
                if grad.shape() != meta.shape {
                    let (came, wanted) = (grad.shape().to_vec(), &meta.shape);
                    return Err(Error::argument(format!(
                        "a gradient of shape {came:?} came for a result of shape {wanted:?}"
                    )));
                }
                add(&mut coming, *edge, grad.on(meta.device))?;
            }
        }
        let mut result: Vec<Option<HostTensor>> = vec![None; self.inputs];
        for (at, node) in nodes.iter().enumerate().rev() {
            let came: Vec<Option<HostTensor>> = (0..node.results.len()).map(|k| coming.remove(&(at, k))).collect();
            if came.iter().all(Option::is_none) {
                continue;
            }
            if let What::Input(i) = node.what {
                result[i] = came.into_iter().next().flatten();
                continue;
            }
            let is_changed =
                |&(memory, version): &(usize, u32)| state.tape.written.get(&memory).map_or(0, |w| w.any) != version;
            if node.saved.iter().any(is_changed) {
                return Err(Error::Other(format!(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: the gradient of \
                     {} reads it",
                    node.what.name()
                )));
            }
            let made = match &node.what {
                What::Input(_) | What::Leaf => continue,
                What::Part { whole, part } => {
                    let grad = came.into_iter().next().flatten();
                    vec![grad.map(|grad| gradients::of_whole(&grad, whole, part)).transpose().map_err(failed)?]
                }
                What::Operation { name, args, results } => {
                    let needs: Vec<bool> = node.inputs.iter().map(Option::is_some).collect();
                    gradients::backward(name, args, results, &came, &needs).map_err(failed)?
                }
                function @ What::Function { materialize, .. } => {
                    let grads = if *materialize { zeros(came, &node.results)? } else { came };
                    self.function(state, function, grads, limits, report)?
                }
                What::Operator(recording) => {
                    let (made, more) = recording.backward(came, limits)?;
                    join(report, more);
                    made
                }
                What::Region { whole, part } => came
                    .into_iter()
                    .next()
                    .flatten()
                    .map_or_else(|| Ok(vec![None, None]), |grad| divided(grad, whole, part).map_err(failed))?,
                What::Opaque(name) => {
                    return Err(Error::Other(format!(
                        "`{name}` has no gradient: no implementation is registered for the dispatch key Autograd, and it is no \
                         composite of operations"
                    )));
                }
            };
            for (i, (edge, grad)) in node.inputs.iter().zip(made).enumerate() {
                if let (Some(edge), Some(grad), Some(meta)) = (edge, grad, &node.input_metas[i]) {
                    add(&mut coming, *edge, fitted(grad, meta, &node.what, i)?)?;
                }
            }
        }
        Ok(result)
    }

    /// Runs a `Function`'s backward: a gradient for each of its tensors.
    fn function(
        &self,
        state: &mut CallState,
        function: &What,
        grads: Vec<Option<HostTensor>>,
        limits: Limits<'_>,
        report: &mut Report,
    ) -> Result<Vec<Option<HostTensor>>, Error> {
        let What::Function { back, context, slots, .. } = function else { return Ok(Vec::new()) };
        let grads = grads.into_iter().map(|grad| grad.map_or(Value::None, Value::Tensor)).collect();
        let notes = self.shared.notes.clone();
        let mut own =
            std::mem::replace(state, CallState::new(notes, Arc::default(), Vec::new(), DeviceTag::CPU, false));
        own.stack = vec![Value::List(grads)];
        own.tape.context = *context;
        let call = Call::again(self, Box::new(own), limits);
        let ran = self.program.call_back(&call, *back, limits);
        *state = *call.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let value = state.stack.pop().unwrap_or(Value::None);
        state.stack.clear();
        join(report, ran?);
        let Value::List(mut made) = value else {
            return Err(Error::Other("a backward gave no list of gradients".to_owned()));
        };
        // More gradients than arguments may come where they are `None`, as in torch.
        while made.len() > slots.len() && matches!(made.last(), Some(Value::None)) {
            made.pop();
        }
        if made.len() != slots.len() {
            let (wanted, came) = (slots.len(), made.len());
            return Err(Error::Other(format!(
                "a torch::autograd::Function returned an incorrect number of gradients (expected {wanted}, got {came})"
            )));
        }
        let mut gradients = Vec::new();
        for (i, (value, is_tensor)) in made.into_iter().zip(slots).enumerate() {
            match (value, is_tensor) {
                (Value::Tensor(grad), true) => gradients.push(Some(grad.numbered(0))),
                (_, true) => gradients.push(None),
                (Value::Tensor(_), false) => {
                    return Err(Error::Other(format!(
                        "a torch::autograd::Function returned a gradient different from None at position {}, but the corresponding \
                         forward input was not a Variable",
                        i + 1
                    )));
                }
                (_, false) => {}
            }
        }
        Ok(gradients)
    }
}

/// The gradients of the two parts of a tensor of which a part was written: of the rest, and of that part.
fn divided(grad: HostTensor, whole: &ElementPlaces, part: &ElementPlaces) -> Answer<Vec<Option<HostTensor>>> {
    let device = grad.device();
    let buffer = HostTensor::new(grad.dtype(), &[whole.reach() + 1], device, true)?;
    let rest = buffer.viewed(whole.shape.clone(), whole.strides.clone(), 0);
    let inner = buffer.viewed(part.shape.clone(), part.strides.clone(), part.offset - whole.offset);
    if inner.offset() < 0 || inner.offset() + part.reach() > whole.reach() {
        return runtime(
            "a view was written that reaches beyond what it is a view of; its gradient is not recorded".to_owned(),
        );
    }
    ops::run("copy_", vec![Value::Tensor(rest.clone()), Value::Tensor(grad)], device)?;
    let Value::Tensor(of_part) = ops::run("clone", vec![Value::Tensor(inner.clone())], device)? else {
        return runtime("a gradient could not be copied".to_owned());
    };
    ops::run("fill_", vec![Value::Tensor(inner), Value::Int(0)], device)?;
    Ok(vec![Some(rest), Some(of_part)])
}

/// Zeros where no gradient came.
fn zeros(came: Vec<Option<HostTensor>>, metas: &[Meta]) -> Result<Vec<Option<HostTensor>>, Error> {
    let each = came.into_iter().zip(metas).map(|(grad, meta)| match grad {
        Some(grad) => Ok(Some(grad)),
        None => HostTensor::new(meta.dtype, &meta.shape, meta.device, true).map(Some).map_err(failed),
    });
    each.collect()
}

/// A gradient in the shape and type of its tensor: summed where that was broadcast, as in torch.
fn fitted(grad: HostTensor, meta: &Meta, what: &What, i: usize) -> Result<HostTensor, Error> {
    let came = grad.shape().to_vec();
    let fits = came.len() >= meta.shape.len()
        && came.iter().rev().zip(meta.shape.iter().rev()).all(|(a, b)| a == b || *b == 1);
    if !fits {
        let (name, wanted) = (what.name(), &meta.shape);
        return Err(Error::Other(format!(
            "{name} returned an invalid gradient at index {i} - got {came:?} but expected shape compatible with {wanted:?}"
        )));
    }
    gradients::reduced(grad, &meta.shape)
        .and_then(|grad| gradients::cast(grad, meta.dtype, meta.device))
        .map_err(failed)
}

fn join(report: &mut Report, more: Report) {
    let more_output: Vec<PrintfRecord> = more.output;
    report.output.extend(more_output);
    report.dropped += more.dropped;
    report.warnings.extend(more.warnings);
}
