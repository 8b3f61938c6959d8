//! A tape: the operations of a call of host code on tensors that require grad, in order. When the call is over the tape stays, with the
//! memory of the call, as a [`Recording`], which turns gradients of the results into gradients of the arguments.
//!
//! A tensor has a number on the tape ([`HostTensor::variable`]), which tells its maker: an argument, an operation, a
//! `torch::autograd::Function`, another operator. An operation in place gives its target's number another maker, and, where the target is a
//! view, the number of the viewed tensor one as well. Any other view of that tensor is stale from then on: where it is used, its maker is a
//! view of what was written.
//!
//! # Backward
//! Tensors have numbers; operations, functions of `torch::autograd::Function` and calls of operators are nodes. A backward runs in the
//! call of its forward, with the context that this left, as often as it is asked for; no forward runs twice, so random numbers and
//! counters are right. `Function::apply` leaves a pointer to an instance (`__wb_back`) that takes gradients off the stack and calls the
//! user's backward. An operator called meanwhile records itself, and its `Recording` is one node. Nothing is recorded without a tensor
//! that requires grad. The module tells which operators need an autograd kernel in torch (`program/gradients.rs`); all others need none
//! in Python.

use std::collections::HashMap;

use super::super::answer::Answer;
use super::super::array::{DeviceTag, HostTensor};
use super::super::misfits::unfit;
use super::super::ops;
use super::super::ops::gradients::{self, ElementPlaces, Reads};
use super::super::value::Value;
use super::CallState;
use super::backward::Recording;
use crate::back::Exception;
use crate::ir::HostOp;
use crate::runtime::DType;

/// A node of the tape and one of its results.
pub(super) type Edge = (usize, usize);

/// The type, shape and device of a tensor's gradient.
#[derive(Clone)]
pub(super) struct Meta {
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    pub(super) device: DeviceTag,
}

impl Meta {
    pub(super) fn of(tensor: &HostTensor) -> Self {
        Meta { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), device: tensor.device() }
    }
}

/// The maker of a tensor.
pub(super) enum What {
    /// An argument, by its place among the tensors of all arguments.
    Input(usize),
    /// An operation.
    Operation { name: String, args: Vec<Value>, results: Vec<HostTensor> },
    /// A `Function`: its backward, its context, for each argument of `apply` whether it is a tensor, and whether missing gradients are
    /// zeros to it.
    Function { back: i64, context: u64, slots: Vec<bool>, materialize: bool },
    /// An operator that has recorded itself.
    Operator(Box<Recording>),
    /// An operator that has no gradient.
    Opaque(String),
    /// A tensor of which a view was written: its places before, and those of the view now.
    Region { whole: ElementPlaces, part: ElementPlaces },
    /// A view of a tensor that was written after the view was made.
    Part { whole: ElementPlaces, part: ElementPlaces },
    /// A tensor that was set to require grad: its gradient is not asked for.
    Leaf,
}

pub(super) struct Node {
    pub(super) what: What,
    /// The makers of its tensors, in order.
    pub(super) inputs: Vec<Option<Edge>>,
    pub(super) input_metas: Vec<Option<Meta>>,
    pub(super) results: Vec<Meta>,
    /// Memory that its gradient reads, with the number of writes to it so far.
    pub(super) saved: Vec<(usize, u32)>,
}

/// The facts about a tensor with a number.
#[derive(Clone)]
pub(super) struct Variable {
    pub(super) edge: Option<Edge>,
    /// The number of the tensor that it is a view of; 0: none that is recorded.
    pub(super) base: u32,
    pub(super) meta: Meta,
    pub(super) place: ElementPlaces,
    /// The number of times that a recorded operation had written its memory.
    pub(super) version: u32,
    /// The argument that it is.
    pub(super) input: Option<usize>,
}

/// The number of times that memory was written: by operations, and by those that were recorded.
#[derive(Default, Clone, Copy)]
pub(super) struct Written {
    pub(super) any: u32,
    recorded: u32,
}

/// A `Function` whose forward runs.
pub(super) struct Pending {
    grad_mode: bool,
    /// Its arguments, where it is recorded: the tensors, and `false` for each that is none.
    slots: Option<Vec<Value>>,
}

/// The tape of a call.
pub(super) struct Tape {
    /// True while anything is recorded.
    pub(super) on: bool,
    pub(super) grad_mode: bool,
    pub(super) below: bool,
    pub(super) variables: Vec<Variable>,
    pub(super) nodes: Vec<Node>,
    pub(super) pending: Vec<Pending>,
    pub(super) written: HashMap<usize, Written>,
    pub(super) is_random: bool,
    /// The context of the `Function` that is being recorded or whose backward runs.
    pub(super) context: u64,
}

/// The first address of a tensor's memory.
pub(super) fn memory_of(tensor: &HostTensor) -> usize {
    tensor.storage().ptr() as usize
}

/// Every tensor of a value, in order.
fn each_tensor<'v>(value: &'v Value, out: &mut Vec<&'v HostTensor>) {
    match value {
        Value::Tensor(t) => out.push(t),
        Value::List(all) | Value::Tuple(all) | Value::Set(all) => all.iter().for_each(|v| each_tensor(v, out)),
        Value::Dict(all) => all.iter().for_each(|(_, v)| each_tensor(v, out)),
        _ => {}
    }
}

/// Every tensor of some values, in order.
pub fn tensors_of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<&'v HostTensor> {
    let mut out = Vec::new();
    for value in values {
        each_tensor(value, &mut out);
    }
    out
}

/// A value with each of its tensors changed, in order.
pub(super) fn with_tensors(value: Value, change: &mut impl FnMut(HostTensor) -> HostTensor) -> Value {
    match value {
        Value::Tensor(t) => Value::Tensor(change(t)),
        Value::List(all) => Value::List(all.into_iter().map(|v| with_tensors(v, change)).collect()),
        Value::Tuple(all) => Value::Tuple(all.into_iter().map(|v| with_tensors(v, change)).collect()),
        Value::Set(all) => Value::Set(all.into_iter().map(|v| with_tensors(v, change)).collect()),
        Value::Dict(all) => Value::Dict(all.into_iter().map(|(k, v)| (k, with_tensors(v, change))).collect()),
        other => other,
    }
}

pub(super) fn runtime<T>(message: String) -> Answer<T> {
    Err((Exception::Runtime, message))
}

/// True if two tensors are the same elements at the same places.
pub(super) fn is_same_view(a: &HostTensor, b: &HostTensor) -> bool {
    memory_of(a) == memory_of(b)
        && a.offset() == b.offset()
        && a.dtype() == b.dtype()
        && a.shape() == b.shape()
        && a.strides() == b.strides()
}

impl What {
    pub(super) fn name(&self) -> String {
        match self {
            What::Input(i) => format!("argument {i}"),
            What::Operation { name, .. } => format!("`{name}`"),
            What::Function { .. } => "a torch::autograd::Function".to_owned(),
            What::Operator(_) => "an operator".to_owned(),
            What::Opaque(name) => format!("`{name}`"),
            What::Region { .. } => "a write to a view".to_owned(),
            What::Part { .. } => "a view".to_owned(),
            What::Leaf => "requires_grad_".to_owned(),
        }
    }
}

impl Tape {
    pub(super) fn new(below: bool) -> Self {
        Tape {
            on: false,
            grad_mode: true,
            below,
            variables: Vec::new(),
            nodes: Vec::new(),
            pending: Vec::new(),
            written: HashMap::new(),
            is_random: false,
            context: 0,
        }
    }

    pub(super) fn is_below(&self) -> bool {
        self.below
    }

    fn is_live(&self) -> bool {
        self.on && self.grad_mode && !self.below
    }

    fn fresh(&mut self, tensor: HostTensor, edge: Option<Edge>, input: Option<usize>) -> HostTensor {
        let version = self.written.get(&memory_of(&tensor)).copied().unwrap_or_default().recorded;
        let (meta, place) = (Meta::of(&tensor), ElementPlaces::of(&tensor));
        self.variables.push(Variable { edge, base: 0, meta, place, version, input });
        tensor.numbered(self.variables.len() as u32)
    }

    /// A tensor that host code is given, with a number.
    pub(super) fn known(&mut self, tensor: HostTensor) -> HostTensor {
        if self.on && tensor.variable() == 0 { self.fresh(tensor, None, None) } else { tensor }
    }

    /// A tensor that an operation on `args` made, with a number; it may be a view of one of them.
    fn made(&mut self, tensor: HostTensor, edge: Option<Edge>, args: &[&HostTensor]) -> HostTensor {
        let source = args.iter().find(|a| a.variable() != 0 && memory_of(a) == memory_of(&tensor));
        let base = source.and_then(|a| Some((a.variable(), self.variable(a)?.base)));
        let made = self.fresh(tensor, edge, None);
        if let (Some((own, root)), Some(last)) = (base, self.variables.last_mut()) {
            last.base = if root == 0 { own } else { root };
        }
        made
    }

    pub(super) fn variable(&self, tensor: &HostTensor) -> Option<&Variable> {
        self.variables.get((tensor.variable() as usize).checked_sub(1)?)
    }

    /// The edge to a tensor's maker.
    fn edge(&mut self, tensor: &HostTensor) -> Answer<Option<Edge>> {
        if !self.on {
            return Ok(None);
        }
        let Some(variable) = self.variable(tensor) else { return Ok(None) };
        let now = self.written.get(&memory_of(tensor)).copied().unwrap_or_default().recorded;
        if variable.version == now {
            return Ok(variable.edge);
        }
        let root = (variable.base as usize).checked_sub(1).map(|base| &self.variables[base]);
        let Some(root) = root.filter(|root| root.version == now && root.meta.dtype == variable.meta.dtype) else {
            return runtime(
                "a tensor is used that shares memory which was written in place meanwhile, in a computation that needs gradients; \
                 Workbench follows that for what is written, what that is a view of, and other views of the same: make this tensor anew"
                    .to_owned(),
            );
        };
        let (whole, part, meta) = (root.place.clone(), variable.place.clone(), variable.meta.clone());
        let edge = root.edge.map(|from| {
            let node = Node {
                what: What::Part { whole, part },
                inputs: vec![Some(from)],
                input_metas: vec![Some(root.meta.clone())],
                results: vec![meta],
                saved: Vec::new(),
            };
            self.nodes.push(node);
            (self.nodes.len() - 1, 0)
        });
        self.remake(tensor, edge);
        Ok(edge)
    }

    pub(super) fn edges(&mut self, tensors: &[&HostTensor]) -> Answer<Vec<Option<Edge>>> {
        tensors.iter().map(|t| self.edge(t)).collect()
    }

    /// The tensors of a call that require grad, if any does.
    pub(super) fn wants(&mut self, args: &[Value]) -> Answer<Option<Vec<bool>>> {
        if !self.is_live() {
            return Ok(None);
        }
        let wants: Vec<bool> = self.edges(&tensors_of(args))?.iter().map(Option::is_some).collect();
        Ok(wants.contains(&true).then_some(wants))
    }

    fn content(&self, tensor: &HostTensor) -> (usize, u32) {
        let at = memory_of(tensor);
        (at, self.written.get(&at).copied().unwrap_or_default().any)
    }

    /// Adds a node; `differentiable` are numbered as its results, in order.
    fn node(&mut self, what: What, tensors: &[&HostTensor], inputs: Vec<Option<Edge>>, results: Vec<Meta>) -> usize {
        let metas = tensors.iter().map(|t| Some(Meta::of(t))).collect();
        self.nodes.push(Node { what, inputs, input_metas: metas, results, saved: Vec::new() });
        self.nodes.len() - 1
    }

    /// Numbers the arguments of the call and begins to record.
    pub(super) fn begin(&mut self, args: &mut Vec<Value>, wants: &[bool]) {
        self.on = true;
        let mut i = 0;
        let numbered = std::mem::take(args).into_iter().map(|value| {
            with_tensors(value, &mut |tensor| {
                let is_wanted = wants.get(i).copied().unwrap_or(false) && tensor.dtype().is_float();
                let edge = is_wanted.then(|| (self.node(What::Input(i), &[], Vec::new(), vec![Meta::of(&tensor)]), 0));
                let made = self.fresh(tensor, edge, Some(i));
                i += 1;
                made
            })
        });
        *args = numbered.collect();
    }

    /// Notes the result of an operator that was called with tensors that require grad.
    pub(super) fn note_operator(
        &mut self,
        name: &str,
        args: &[Value],
        value: Value,
        recording: Option<Recording>,
    ) -> Answer<Value> {
        let given = tensors_of(args);
        let inputs = self.edges(&given)?;
        if let Some(recording) = &recording
            && !recording.dirty.is_empty()
        {
            return runtime(format!(
                "`{name}` writes an argument that requires grad; Workbench records no gradient of that within another function"
            ));
        }
        let results: Vec<Meta> = tensors_of([&value]).into_iter().map(Meta::of).collect();
        let has_edge: Vec<bool> = match &recording {
            Some(recording) => recording.differentiable(),
            None => results.iter().map(|m| m.dtype.is_float()).collect(),
        };
        let what = match recording {
            Some(recording) => What::Operator(Box::new(recording)),
            None => What::Opaque(name.to_owned()),
        };
        self.is_random |= matches!(&what, What::Operator(recording) if recording.is_random);
        let at = self.node(what, &given, inputs, results);
        let mut k = 0;
        Ok(with_tensors(value, &mut |tensor| {
            let edge = has_edge.get(k).copied().unwrap_or(false).then_some((at, k));
            k += 1;
            self.fresh(tensor, edge, None)
        }))
    }

    /// The number of `Function`s that are in their forward.
    pub(super) fn depth(&self) -> i64 {
        self.pending.len() as i64
    }

    /// Drops all `Function`s but the outer `depth`, which exceptions have left.
    pub(super) fn land(&mut self, depth: i64) {
        while self.pending.len() as i64 > depth
            && let Some(pending) = self.pending.pop()
        {
            self.grad_mode = pending.grad_mode;
        }
    }

    /// Runs an operation.
    pub(super) fn run(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        let set = |place: &mut bool, value: bool| Ok(Value::Bool(std::mem::replace(place, value)));
        match (op, args) {
            (HostOp::GradMode, []) => Ok(Value::Bool(self.grad_mode)),
            (HostOp::SetGradMode, [Value::Bool(on)]) => set(&mut self.grad_mode, *on),
            (HostOp::SetBelowAutograd, [Value::Bool(on)]) => set(&mut self.below, *on),
            (HostOp::Detach, [Value::Tensor(tensor)]) => Ok(Value::Tensor(tensor.clone().numbered(0))),
            (HostOp::RequiresGrad, [Value::Tensor(tensor)]) => {
                Ok(Value::Bool(self.variable(tensor).is_some_and(|v| v.edge.is_some())))
            }
            (HostOp::SetRequiresGrad, [Value::Tensor(tensor), Value::Bool(wanted)]) => {
                self.set_requires_grad(tensor, *wanted)
            }
            (HostOp::DetachInPlace, [Value::Tensor(tensor)]) => {
                self.remake(tensor, None);
                Ok(Value::Bool(false))
            }
            (HostOp::FunctionBegin, [Value::List(slots)]) => self.begin_function(slots),
            (
                HostOp::FunctionEnd,
                [
                    Value::Int(back),
                    Value::List(results),
                    Value::List(dirty),
                    Value::List(fixed),
                    Value::List(saved),
                    Value::Bool(materialize),
                ],
            ) => {
                let [dirty, fixed, saved] = [dirty, fixed, saved].map(tensors_of);
                self.end_function(*back, results, &dirty, &fixed, &saved, *materialize)
            }
            (HostOp::FunctionLeave, []) => {
                self.land(self.depth() - 1);
                Ok(Value::None)
            }
            _ => unfit(op, args),
        }
    }

    /// `requires_grad_`. A tensor that an operation made keeps its maker.
    fn set_requires_grad(&mut self, tensor: &HostTensor, wanted: bool) -> Answer<Value> {
        if wanted && !tensor.dtype().is_float() {
            return runtime("only Tensors of floating point dtype can require gradients".to_owned());
        }
        let edge = self.edge(tensor)?;
        let is_leaf = edge.is_none_or(|(at, _)| matches!(self.nodes[at].what, What::Input(_) | What::Leaf));
        if !wanted && !is_leaf {
            return runtime(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph \
                 that doesn't require differentiation use var_no_grad = var.detach()."
                    .to_owned(),
            );
        }
        if !self.on || edge.is_some() == wanted {
            return Ok(Value::Bool(wanted));
        }
        if !wanted {
            self.remake(tensor, None);
            return Ok(Value::Bool(wanted));
        }
        let at = self.variable(tensor).and_then(|v| v.input);
        let input = self.nodes.iter().position(|node| matches!(node.what, What::Input(i) if Some(i) == at));
        let node = input.unwrap_or_else(|| self.node(What::Leaf, &[], Vec::new(), vec![Meta::of(tensor)]));
        self.remake(tensor, Some((node, 0)));
        Ok(Value::Bool(wanted))
    }

    /// Begins a `Function`. Gives for each tensor whether a gradient of it is wanted, or nothing where none is.
    fn begin_function(&mut self, slots: &[Value]) -> Answer<Value> {
        let tensors = tensors_of(slots);
        let edges = if self.is_live() { self.edges(&tensors)? } else { Vec::new() };
        let is_recorded = edges.iter().any(Option::is_some);
        let grad_mode = std::mem::replace(&mut self.grad_mode, false);
        self.pending.push(Pending { grad_mode, slots: is_recorded.then(|| slots.to_vec()) });
        if !is_recorded {
            return Ok(Value::None);
        }
        let mut edges = edges.into_iter();
        let needs = slots.iter().filter(|slot| !matches!(slot, Value::Bool(_))).map(|slot| match slot {
            Value::Tensor(_) => Value::Bool(edges.next().flatten().is_some()),
            _ => Value::Bool(false),
        });
        Ok(Value::List(needs.collect()))
    }

    fn end_function(
        &mut self,
        back: i64,
        results: &[Value],
        dirty: &[&HostTensor],
        fixed: &[&HostTensor],
        saved: &[&HostTensor],
        materialize: bool,
    ) -> Answer<Value> {
        let Some(Pending { grad_mode, slots: Some(slots) }) = self.pending.pop() else {
            return runtime("a torch::autograd::Function ends that did not begin".to_owned());
        };
        self.grad_mode = grad_mode;
        let is_tensor: Vec<bool> = slots.iter().map(|slot| !matches!(slot, Value::Bool(_))).collect();
        let (mut inputs, mut metas) = (Vec::new(), Vec::new());
        for slot in &slots {
            match slot {
                Value::Tensor(t) => {
                    inputs.push(self.edge(t)?);
                    metas.push(Some(Meta::of(t)));
                }
                Value::Bool(_) => {}
                _ => {
                    inputs.push(None);
                    metas.push(None);
                }
            }
        }
        let is_among = |t: &HostTensor, all: &[&HostTensor]| all.iter().any(|o| o.variable() == t.variable());
        let shapes = results.iter().map(|value| match value {
            Value::Tensor(t) => Meta::of(t),
            _ => Meta { dtype: DType::Float32, shape: Vec::new(), device: DeviceTag::CPU },
        });
        let what = What::Function { back, context: self.context, slots: is_tensor, materialize };
        self.nodes.push(Node { what, inputs, input_metas: metas, results: shapes.collect(), saved: Vec::new() });
        let at = self.nodes.len() - 1;
        for tensor in dirty {
            self.write(tensor, true);
        }
        let mut made = Vec::new();
        for (k, value) in results.iter().enumerate() {
            let Value::Tensor(tensor) = value else {
                made.push(Value::None);
                continue;
            };
            let edge = (tensor.dtype().is_float() && !is_among(tensor, fixed)).then_some((at, k));
            if is_among(tensor, dirty) {
                self.remake(tensor, edge);
                self.remake_base(tensor, edge);
                made.push(value.clone());
            } else {
                made.push(Value::Tensor(self.fresh(tensor.clone().numbered(0), edge, None)));
            }
        }
        self.nodes[at].saved = saved.iter().map(|t| self.content(t)).collect();
        Ok(Value::List(made))
    }

    /// Notes that memory is written.
    fn write(&mut self, tensor: &HostTensor, is_recorded: bool) {
        let written = self.written.entry(memory_of(tensor)).or_default();
        written.any += 1;
        written.recorded += u32::from(is_recorded);
    }

    /// Gives a tensor that was written in place another maker.
    fn remake(&mut self, tensor: &HostTensor, edge: Option<Edge>) {
        let version = self.written.get(&memory_of(tensor)).copied().unwrap_or_default().recorded;
        if let Some(place) = (tensor.variable() as usize).checked_sub(1).and_then(|i| self.variables.get_mut(i)) {
            (place.edge, place.version) = (edge, version);
        }
    }

    /// Gives the tensor that a view is of another maker, too, as the view was written in place.
    fn remake_base(&mut self, tensor: &HostTensor, edge: Option<Edge>) {
        let now = self.written.get(&memory_of(tensor)).copied().unwrap_or_default().recorded;
        let Some(base) = self.variable(tensor).and_then(|v| (v.base as usize).checked_sub(1)) else { return };
        let root = &self.variables[base];
        if root.version + 1 != now {
            return;
        }
        let (meta, whole, part) = (root.meta.clone(), root.place.clone(), ElementPlaces::of(tensor));
        self.nodes.push(Node {
            what: What::Region { whole, part },
            inputs: vec![root.edge, edge],
            input_metas: vec![Some(meta.clone()), Some(Meta::of(tensor))],
            results: vec![meta],
            saved: Vec::new(),
        });
        let made = self.nodes.len() - 1;
        let root = &mut self.variables[base];
        (root.edge, root.version) = (Some((made, 0)), now);
    }

    /// The memory that an operation's derivative reads of its tensors, with the number of writes to it so far.
    fn contents(&self, args: &[Value], reads: &Reads) -> Vec<(usize, u32)> {
        let tensors = tensors_of(args);
        tensors.iter().zip(&reads.tensors).filter(|(_, reads)| **reads).map(|(t, _)| self.content(t)).collect()
    }

    /// Notes an operation that has run on tensors whose makers are `inputs`; `saved` is the memory that its derivative
    /// reads of them.
    fn note_operation(
        &mut self,
        name: &str,
        args: Vec<Value>,
        inputs: Vec<Option<Edge>>,
        made: Value,
        (mut saved, reads): (Vec<(usize, u32)>, Reads),
    ) -> Value {
        let given: Vec<HostTensor> = tensors_of(&args).into_iter().cloned().collect();
        let given: Vec<&HostTensor> = given.iter().collect();
        let results: Vec<HostTensor> = tensors_of([&made]).into_iter().cloned().collect();
        // An operation that gives back its very argument makes nothing.
        if results.iter().all(|t| t.variable() != 0 || !t.dtype().is_float()) {
            return made;
        }
        let metas = results.iter().map(Meta::of).collect();
        let read = results.iter().enumerate().filter(|(k, _)| reads.results.has(*k));
        saved.extend(read.map(|(_, t)| self.content(t)));
        let what = What::Operation { name: name.to_owned(), args, results };
        let at = self.node(what, &given, inputs, metas);
        self.nodes[at].saved = saved;
        let mut k = 0;
        with_tensors(made, &mut |tensor| {
            let edge = tensor.dtype().is_float().then_some((at, k));
            k += 1;
            if tensor.variable() != 0 { tensor } else { self.made(tensor, edge, &given) }
        })
    }
}

impl CallState {
    /// Runs an operation on tensors, and records it where a gradient is wanted.
    pub(super) fn operate(&mut self, name: &str, args: Vec<Value>) -> Answer<Value> {
        if !self.tape.on {
            return ops::run(name, args, self.device);
        }
        self.tape.is_random |= gradients::is_random(name);
        let in_place = match (name.strip_suffix('_'), args.first()) {
            (Some(plain), Some(Value::Tensor(target))) => Some((plain, target.clone())),
            _ => None,
        };
        // A tensor that is written in place has another maker even where that has no gradient.
        let wants = self.tape.is_live() && (in_place.is_some() || !gradients::is_constant(name));
        let edges = if wants { self.tape.edges(&tensors_of(&args))? } else { Vec::new() };
        if !edges.iter().any(Option::is_some) {
            let given: Vec<HostTensor> = tensors_of(&args).into_iter().cloned().collect();
            let made = ops::run(name, args, self.device)?;
            if let Some((_, target)) = in_place {
                self.tape.write(&target, false);
                return Ok(made);
            }
            if !self.tape.is_live() {
                return Ok(made);
            }
            let given: Vec<&HostTensor> = given.iter().collect();
            let tape = &mut self.tape;
            return Ok(with_tensors(made, &mut |t| if t.variable() != 0 { t } else { tape.made(t, None, &given) }));
        }
        let needs: Vec<bool> = edges.iter().map(Option::is_some).collect();
        let reads =
            gradients::reads(in_place.as_ref().map_or(name, |(plain, _)| plain), &args, &tensors_of(&args), &needs);
        let Some((plain, target)) = in_place else {
            let made = ops::run(name, args.clone(), self.device)?;
            let saved = self.tape.contents(&args, &reads);
            return Ok(self.tape.note_operation(name, args, edges, made, (saved, reads)));
        };
        // The gradient reads the target as it was before.
        let mut before = args.clone();
        if reads.tensors.first() == Some(&true) {
            before[0] = ops::run("clone", vec![Value::Tensor(target.clone())], self.device)?;
        }
        let saved = self.tape.contents(&before, &reads);
        ops::run(name, args, self.device)?;
        self.tape.write(&target, true);
        let made = Value::Tensor(target.clone().numbered(0));
        let Value::Tensor(noted) = self.tape.note_operation(plain, before, edges, made, (saved, reads)) else {
            return Ok(Value::Tensor(target));
        };
        let edge = self.tape.variable(&noted).and_then(|v| v.edge);
        self.tape.remake(&target, edge);
        self.tape.remake_base(&target, edge);
        Ok(Value::Tensor(target))
    }
}
