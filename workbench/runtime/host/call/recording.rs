//! A tape: what a call of host code does with tensors that require grad, in order. Where the call is over the tape stays, with the memory of
//! the call, as a [`Recording`], which turns gradients of the results into gradients of the arguments.
//!
//! A tensor has a number on the tape ([`HostTensor::variable`]), which says what made it: an argument, an operation, a
//! `torch::autograd::Function`, another operator. An operation in place gives its target's number another maker, and what it is a view of one
//! as well; any other view of that memory is stale from then on: to use it is an error.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::array::{Answer, DeviceTag, Dims, HostTensor};
use super::super::ops::{self, gradients};
use super::super::value::Value;
use super::{Call, Limits, State};
use crate::back::cpu::HostMemory;
use crate::back::{Exception, PrintfRecord};
use crate::runtime::program::{Program, Report};
use crate::runtime::{DType, Error};

/// A node of the tape and one of its results.
type Edge = (usize, usize);

/// What a gradient of a tensor looks like.
#[derive(Clone)]
struct Meta {
    dtype: DType,
    shape: Vec<i64>,
    device: DeviceTag,
}

impl Meta {
    fn of(tensor: &HostTensor) -> Self {
        Meta { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), device: tensor.device() }
    }
}

/// What made a tensor.
enum What {
    /// It is an argument, by its place among the tensors of all.
    Input(usize),
    /// An operation.
    Operation { name: String, args: Vec<Value>, results: Vec<HostTensor> },
    /// A `Function`: its backward, its context, for each argument of `apply` whether it is a tensor, and whether gradients that do not
    /// come are zeros to it.
    Function { back: i64, context: u64, slots: Vec<bool>, materialize: bool },
    /// An operator that has recorded itself.
    Operator(Box<Recording>),
    /// An operator that has no gradient.
    Opaque(String),
    /// A tensor of which a view was written: what it was, and what the view is now.
    Region { whole: Place, part: Place },
}

/// Where a tensor's elements lie in its memory.
#[derive(Clone)]
struct Place {
    shape: Dims,
    strides: Dims,
    offset: i64,
}

impl Place {
    fn of(tensor: &HostTensor) -> Self {
        Place { shape: tensor.shape().into(), strides: tensor.strides().into(), offset: tensor.offset() }
    }

    /// How far its last element lies from its first.
    fn reach(&self) -> i64 {
        self.shape.iter().zip(&self.strides).map(|(n, s)| (n - 1).max(0) * s).sum()
    }
}

struct Node {
    what: What,
    /// What made its tensors, in order.
    inputs: Vec<Option<Edge>>,
    input_metas: Vec<Option<Meta>>,
    results: Vec<Meta>,
    /// Memory that its gradient reads, with how often that had been written.
    saved: Vec<(usize, u32)>,
}

/// What is known of a number.
#[derive(Clone)]
struct Variable {
    edge: Option<Edge>,
    /// The number of what it is a view of; 0: of nothing that is recorded.
    base: u32,
    meta: Meta,
    place: Place,
    /// How often a recorded operation had written its memory.
    version: u32,
    /// Which argument it is.
    input: Option<usize>,
}

/// How often memory was written: by operations, and by those that were recorded.
#[derive(Default, Clone, Copy)]
struct Written {
    any: u32,
    recorded: u32,
}

/// A `Function` whose forward runs.
struct Pending {
    grad_mode: bool,
    /// Its tensors, where it is recorded: `false` stands for what is none.
    slots: Option<Vec<Value>>,
}

/// The tape of a call.
pub(in crate::runtime::host) struct Tape {
    /// Whether anything is recorded.
    on: bool,
    grad_mode: bool,
    below: bool,
    variables: Vec<Variable>,
    nodes: Vec<Node>,
    pending: Vec<Pending>,
    written: HashMap<usize, Written>,
    is_random: bool,
    /// The context of the `Function` that is being recorded or whose backward runs.
    pub(super) context: u64,
}

/// Where a tensor's memory begins.
fn memory_of(tensor: &HostTensor) -> usize {
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
fn with_tensors(value: Value, change: &mut impl FnMut(HostTensor) -> HostTensor) -> Value {
    match value {
        Value::Tensor(t) => Value::Tensor(change(t)),
        Value::List(all) => Value::List(all.into_iter().map(|v| with_tensors(v, change)).collect()),
        Value::Tuple(all) => Value::Tuple(all.into_iter().map(|v| with_tensors(v, change)).collect()),
        Value::Set(all) => Value::Set(all.into_iter().map(|v| with_tensors(v, change)).collect()),
        Value::Dict(all) => Value::Dict(all.into_iter().map(|(k, v)| (k, with_tensors(v, change))).collect()),
        other => other,
    }
}

fn runtime<T>(message: String) -> Answer<T> {
    Err((Exception::Runtime, message))
}

/// Whether two tensors are the same elements at the same places.
fn is_same_view(a: &HostTensor, b: &HostTensor) -> bool {
    memory_of(a) == memory_of(b)
        && a.offset() == b.offset()
        && a.dtype() == b.dtype()
        && a.shape() == b.shape()
        && a.strides() == b.strides()
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
        let (meta, place) = (Meta::of(&tensor), Place::of(&tensor));
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

    fn variable(&self, tensor: &HostTensor) -> Option<&Variable> {
        self.variables.get((tensor.variable() as usize).checked_sub(1)?)
    }

    /// What made a tensor.
    fn edge(&self, tensor: &HostTensor) -> Answer<Option<Edge>> {
        if !self.on {
            return Ok(None);
        }
        let Some(variable) = self.variable(tensor) else { return Ok(None) };
        let now = self.written.get(&memory_of(tensor)).copied().unwrap_or_default().recorded;
        if variable.version != now {
            return runtime(
                "a tensor is used that is a view of memory which was written in place meanwhile, in a computation that needs gradients; \
                 Workbench follows that for what is written and for what that is a view of: make this view anew"
                    .to_owned(),
            );
        }
        Ok(variable.edge)
    }

    fn edges(&self, tensors: &[&HostTensor]) -> Answer<Vec<Option<Edge>>> {
        tensors.iter().map(|t| self.edge(t)).collect()
    }

    /// Which tensors of a call require grad, if any does.
    pub(super) fn wants(&self, args: &[Value]) -> Answer<Option<Vec<bool>>> {
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
    fn begin(&mut self, args: &mut Vec<Value>, wants: &[bool]) {
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

    /// What an operator gave that was called with tensors that require grad.
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
            Some(recording) => recording.outputs.iter().map(Option::is_some).collect(),
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

    /// How many `Function`s are in their forward.
    pub(super) fn depth(&self) -> i64 {
        self.pending.len() as i64
    }

    /// Exceptions have left all but so many.
    pub(super) fn land(&mut self, depth: i64) {
        while self.pending.len() as i64 > depth
            && let Some(pending) = self.pending.pop()
        {
            self.grad_mode = pending.grad_mode;
        }
    }

    /// What the library asks by name.
    pub(super) fn run(&mut self, name: &str, args: &[Value]) -> Option<Answer<Value>> {
        let set = |place: &mut bool, value: bool| Some(Ok(Value::Bool(std::mem::replace(place, value))));
        match (name, args) {
            ("grad_mode", []) => Some(Ok(Value::Bool(self.grad_mode))),
            ("set_grad_mode", [Value::Bool(on)]) => set(&mut self.grad_mode, *on),
            ("set_below_autograd", [Value::Bool(on)]) => set(&mut self.below, *on),
            ("detach", [Value::Tensor(tensor)]) => Some(Ok(Value::Tensor(tensor.clone().numbered(0)))),
            ("requires_grad", [Value::Tensor(tensor)]) => {
                Some(Ok(Value::Bool(self.variable(tensor).is_some_and(|v| v.edge.is_some()))))
            }
            ("requires_grad" | "detach", [Value::None]) => Some(runtime("an undefined Tensor is used".to_owned())),
            ("function_begin", [Value::List(slots)]) => Some(self.begin_function(slots)),
            (
                "function_end",
                [
                    Value::Int(back),
                    Value::List(results),
                    Value::List(dirty),
                    Value::List(fixed),
                    Value::List(saved),
                    Value::Bool(materialize),
                ],
            ) => {
                let [dirty, fixed, saved] = [dirty, fixed, saved].map(|all| tensors_of(all));
                Some(self.end_function(*back, results, &dirty, &fixed, &saved, *materialize))
            }
            ("function_end", []) => {
                self.land(self.depth() - 1);
                Some(Ok(Value::None))
            }
            _ => None,
        }
    }

    /// A `Function` begins: for each tensor whether a gradient of it is wanted, or nothing where none is.
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

    /// Memory is written.
    fn write(&mut self, tensor: &HostTensor, is_recorded: bool) {
        let written = self.written.entry(memory_of(tensor)).or_default();
        written.any += 1;
        written.recorded += u32::from(is_recorded);
    }

    /// A tensor that was written in place has another maker.
    fn remake(&mut self, tensor: &HostTensor, edge: Option<Edge>) {
        let version = self.written.get(&memory_of(tensor)).copied().unwrap_or_default().recorded;
        if let Some(place) = (tensor.variable() as usize).checked_sub(1).and_then(|i| self.variables.get_mut(i)) {
            (place.edge, place.version) = (edge, version);
        }
    }

    /// A view was written in place: what it is a view of has another maker, too.
    fn remake_base(&mut self, tensor: &HostTensor, edge: Option<Edge>) {
        let now = self.written.get(&memory_of(tensor)).copied().unwrap_or_default().recorded;
        let Some(base) = self.variable(tensor).and_then(|v| (v.base as usize).checked_sub(1)) else { return };
        let root = &self.variables[base];
        if root.version + 1 != now {
            return;
        }
        let (meta, whole, part) = (root.meta.clone(), root.place.clone(), Place::of(tensor));
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

    /// An operation has run on `tensors`, whose makers are `inputs`.
    fn note_operation(&mut self, name: &str, args: Vec<Value>, inputs: Vec<Option<Edge>>, made: Value) -> Value {
        let given: Vec<HostTensor> = tensors_of(&args).into_iter().cloned().collect();
        let given: Vec<&HostTensor> = given.iter().collect();
        let results: Vec<HostTensor> = tensors_of([&made]).into_iter().cloned().collect();
        // What gives its very argument makes nothing.
        if results.iter().all(|t| t.variable() != 0 || !t.dtype().is_float()) {
            return made;
        }
        let metas = results.iter().map(Meta::of).collect();
        let (reads_args, reads_results) = gradients::reads(name);
        let mut saved: Vec<(usize, u32)> = Vec::new();
        if reads_args {
            saved.extend(given.iter().map(|t| self.content(t)));
        }
        if reads_results {
            saved.extend(results.iter().map(|t| self.content(t)));
        }
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

impl State {
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
        // What is written in place has another maker even where that has no gradient.
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
        let Some((plain, target)) = in_place else {
            let made = ops::run(name, args.clone(), self.device)?;
            return Ok(self.tape.note_operation(name, args, edges, made));
        };
        // What the gradient reads of the target is what it was.
        let mut before = args.clone();
        if gradients::reads(plain).0 {
            before[0] = ops::run("clone", vec![Value::Tensor(target.clone())], self.device)?;
        }
        ops::run(name, args, self.device)?;
        self.tape.write(&target, true);
        let made = Value::Tensor(target.clone().numbered(0));
        let Value::Tensor(noted) = self.tape.note_operation(plain, before, edges, made) else {
            return Ok(Value::Tensor(target));
        };
        let edge = self.tape.variable(&noted).and_then(|v| v.edge);
        self.tape.remake(&target, edge);
        self.tape.remake_base(&target, edge);
        Ok(Value::Tensor(target))
    }
}

/// A call that is over, and what it recorded. It keeps the memory of the call.
pub struct Recording {
    program: Program,
    memory: Arc<HostMemory>,
    state: Mutex<Option<State>>,
    inputs: usize,
    /// What made the tensors of the result, in order, and after them those that it wrote.
    outputs: Vec<Option<Edge>>,
    metas: Vec<Meta>,
    /// For each tensor of the result the argument that it is, where it is one as it was.
    pub aliases: Vec<Option<usize>>,
    /// Arguments that it wrote in place, in ways that gradients follow.
    pub dirty: Vec<usize>,
    /// For each argument whether its gradients read it.
    pub reads_inputs: Vec<bool>,
    /// For each tensor of the result the same.
    pub reads_outputs: Vec<bool>,
    /// Whether it drew random numbers.
    pub is_random: bool,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recording({} inputs, {} outputs)", self.inputs, self.outputs.len())
    }
}

impl<'p> Call<'p> {
    /// The same, recording what is done with the tensors of its arguments that require grad.
    #[must_use]
    pub fn recorded(mut self, wants: &[bool]) -> Self {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut args: Vec<Value> = std::mem::take(&mut state.stack).into_iter().rev().collect();
        state.tape.begin(&mut args, wants);
        state.stack = args.into_iter().rev().collect();
        self
    }

    /// Its result and what it recorded, when it is over.
    ///
    /// # Errors
    /// As of a tensor that is stale.
    pub fn into_recording(self, program: &Program, given: &[Value]) -> Answer<(Value, Recording)> {
        let memory = self.memory;
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let value = state.stack.pop().unwrap_or(Value::None);
        state.stack.clear();
        let tape = &state.tape;
        let given = tensors_of(given);
        let made = tensors_of([&value]);
        let mut outputs = tape.edges(&made)?;
        let is_input = |edge: &Option<Edge>| match edge.map(|(node, _)| &tape.nodes[node].what) {
            Some(What::Input(i)) => Some(*i),
            _ => None,
        };
        let variables = &tape.variables;
        let changed = |v: &Variable| v.input.filter(|i| is_input(&v.edge) != Some(*i) && v.edge.is_some());
        let dirty: Vec<usize> = variables.iter().filter_map(changed).collect();
        // Of a view of an argument the gradient is recorded; the argument itself is it.
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
        let (program, state) = (program.clone(), Mutex::new(Some(state)));
        let recording = Recording {
            program,
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
    fn again(program: &'p Program, memory: &Arc<HostMemory>, mut state: State, limits: Limits<'p>) -> Self {
        (state.argument, state.freeing) = (None, None);
        state.warnings.clear();
        "backward".clone_into(&mut state.function);
        state.parameters.clear();
        (state.tape.grad_mode, state.tape.below) = (false, false);
        state.tape.pending.clear();
        let polled = Mutex::new(std::time::Instant::now());
        Call { program, limits, polled, memory: memory.clone(), state: Mutex::new(state) }
    }
}

/// Gradients that have come so far.
type Coming = HashMap<Edge, HostTensor>;

fn failed((exception, message): (Exception, String)) -> Error {
    match exception {
        Exception::Memory => Error::Other(format!("out of memory: {message}")),
        _ => Error::Other(message),
    }
}

/// Adds a gradient to what came.
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
    /// Whether a gradient goes through each tensor of the result, and after them those of arguments that it wrote.
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
        state: &mut State,
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
                What::Input(_) => continue,
                What::Operation { name, args, results } => {
                    let needs: Vec<bool> = node.inputs.iter().map(Option::is_some).collect();
                    gradients::backward(name, args, results, &came, &needs).map_err(failed)?
                }
                What::Function { back, context, slots, materialize } => {
                    let grads = if *materialize { zeros(came, &node.results)? } else { came };
                    self.function(state, *back, *context, slots, grads, limits, report)?
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
        state: &mut State,
        back: i64,
        context: u64,
        slots: &[bool],
        grads: Vec<Option<HostTensor>>,
        limits: Limits<'_>,
        report: &mut Report,
    ) -> Result<Vec<Option<HostTensor>>, Error> {
        let grads = grads.into_iter().map(|grad| grad.map_or(Value::None, Value::Tensor)).collect();
        let mut own = std::mem::replace(state, State::new(&self.program, "", Vec::new(), DeviceTag::CPU, false));
        own.stack = vec![Value::List(grads)];
        own.tape.context = context;
        let call = Call::again(&self.program, &self.memory, own, limits);
        let ran = self.program.call_back(&call, back, limits);
        *state = call.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let value = state.stack.pop().unwrap_or(Value::None);
        state.stack.clear();
        join(report, ran?);
        let Value::List(mut made) = value else {
            return Err(Error::Other("a backward gave no list of gradients".to_owned()));
        };
        // As torch, more than there are arguments may come where they are none.
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

impl What {
    fn name(&self) -> String {
        match self {
            What::Input(i) => format!("argument {i}"),
            What::Operation { name, .. } => format!("`{name}`"),
            What::Function { .. } => "a torch::autograd::Function".to_owned(),
            What::Operator(_) => "an operator".to_owned(),
            What::Opaque(name) => format!("`{name}`"),
            What::Region { .. } => "a write to a view".to_owned(),
        }
    }
}

/// A gradient of a tensor of which a part was written: that of the rest, and that of the part.
fn divided(grad: HostTensor, whole: &Place, part: &Place) -> Answer<Vec<Option<HostTensor>>> {
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

/// A gradient of the shape and type of what it is of: summed where that was broadcast, as torch has it.
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
