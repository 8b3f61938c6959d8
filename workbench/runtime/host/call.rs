//! A call of host code: its values, its tensors, its memory.

pub mod backward;
mod host_ops;
mod memory;
mod operands;
pub mod tape;
mod tensors;

use std::alloc::Layout;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use self::backward::Recording;
use self::operands::Operands;
use self::tape::Tape;
use super::answer::Answer;
use super::array::{DeviceTag, HostTensor};
use super::exceptions::{ENDS, Exceptions, WHOSE};
use super::export::{Export, LibraryEntry, Names};
use super::kept_between_calls::Notes;
use super::misfits::unfit;
use super::neuron::{Core, Neuron};
use super::python::Python;
use super::refusal::Refusals;
use super::value::{Value, of_torch_number, torch_number};
use super::{memory_limit, work};
use crate::back::cpu::{Host, HostMemory, Raised, Refusal, Reply, Source, Word};
use crate::back::{Exception, FaultKind, Interrupt, LaunchConfig, Outcome, PrintfRecord, RawArg, RawFault, notebook};
use crate::ir::{FuncId, HostOp, Service};
use crate::runtime::{Error, Report};
use crate::source::Span;

/// Most values on the stack, tensors, and allocations of a call.
const MAX_VALUES: usize = 1 << 20;

/// The interval at which a call that asks much of the run time asks the user whether it is to end.
const POLL: Duration = Duration::from_millis(5);

/// The number of services of little work between two looks at the clock.
const SERVICES: u32 = 256;

/// Most warnings of a call.
const MAX_WARNINGS: usize = 100;

/// The limits and modes of a call of host code.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The user's wish to end it.
    pub interrupt: Option<&'a dyn Interrupt>,
    /// The time at which it ends.
    pub deadline: Option<Instant>,
    /// True if only the shapes and types of the results are wanted: launches are left out, and tensors hold nothing.
    pub shapes_only: bool,
    /// True if implementations for the key `Autograd` are passed over, as below torch's autograd.
    pub below_autograd: bool,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits { interrupt: notebook::interrupt(), deadline: None, shapes_only: false, below_autograd: false }
    }
}

impl Limits<'_> {
    /// The time that is left.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }
}

/// Operations that ask for the values of a tensor.
pub(super) const VALUES: [&str; 9] =
    ["item", "is_nonzero", "nonzero", "masked_select", "equal", "allclose", "bincount", "unique", "repeat_interleave"];

/// The message of such an operation where only shapes are wanted.
pub(super) fn needs_values(what: &str) -> String {
    format!("`{what}` needs the values of a tensor, and only shapes are known: give a shape function")
}

/// Calls a registered operator for host code: its qualified name, its overload and the arguments, and which of their tensors require grad
/// where a gradient is recorded; its result, or why there is none, and what it printed and warned of.
pub type Dispatcher = fn(&str, &str, Vec<Value>, Option<&[bool]>, Limits<'_>) -> (Answer<Dispatched>, Report);

/// The result of a registered operator, and the record of its gradient where it has one and one was asked for.
pub type Dispatched = (Value, Option<Recording>);

static DISPATCHER: OnceLock<Dispatcher> = OnceLock::new();

/// Sets the dispatcher of registered operators; the first one set stays.
pub fn set_dispatcher(dispatcher: Dispatcher) {
    _ = DISPATCHER.set(dispatcher);
}

/// The program that host code is a part of, as far as its calls need it.
pub trait HostProgram: Send + Sync {
    /// Launches a kernel of the program.
    ///
    /// # Errors
    /// The reason that it could not be launched.
    fn launch(&self, kernel: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> Result<Outcome, Refusal>;

    /// Lets host code launch the kernel at an address with so many bytes of dynamic shared memory; gives CUDA's code.
    fn allow_shared(&self, address: u64, bytes: i64) -> i32;

    /// Runs the backward of a `Function` at an address, in a call that is made for it.
    ///
    /// # Errors
    /// The error that ended it.
    fn call_back(&self, call: &Call<'_>, back: i64, limits: Limits<'_>) -> Result<Report, Error>;
}

/// The state of a program that each call of its host code has.
#[derive(Debug, Clone)]
pub struct ProgramState {
    /// The notes that host code has left for later calls.
    pub notes: Arc<Notes>,
    /// True if kernels may touch the host's own memory (`unified_memory`).
    pub is_unified: bool,
}

/// The run time of one call of host code.
pub struct Call<'p> {
    program: &'p dyn HostProgram,
    shared: ProgramState,
    limits: Limits<'p>,
    /// The time that the call may take.
    limit: Option<Duration>,
    /// The time at which the user was last asked whether it is to end; none: before the first time that it mattered.
    polled: Mutex<Option<Instant>>,
    memory: Arc<HostMemory>,
    /// The state, in a box because it is large and the call is moved.
    state: Mutex<Box<CallState>>,
}

/// An allocation of the text's.
struct Allocated {
    layout: Layout,
    /// The number of bytes that were asked for.
    size: usize,
    source: Source,
}

/// The state that changes during a call.
pub(super) struct CallState {
    /// The stack of values.
    pub stack: Vec<Value>,
    /// Tensors by their handles, less one, each with its number of holders.
    tensors: Vec<Option<(HostTensor, u64)>>,
    free: Vec<usize>,
    /// Extents and strides that host code has pointers to, by handle.
    extents: HashMap<(usize, bool), Box<[i64]>>,
    /// Allocations of the text's own, by address.
    blocks: HashMap<u64, Allocated>,
    /// Allocations that were freed while a tensor might lie in them: kept to the end.
    zombies: Vec<(u64, Layout)>,
    /// True once tensors were made of memory of the call.
    has_blobs: bool,
    /// The place at which the text is about to give memory back.
    freeing: Option<Span>,
    /// The argument that is being taken.
    argument: Option<usize>,
    /// The warnings of `TORCH_WARN`.
    warnings: Vec<String>,
    /// The output of operators that were called, and the number of records of it that were dropped.
    output: (Vec<PrintfRecord>, u64),
    /// The functions that registrations have left.
    pub exports: Vec<Export>,
    /// The entries that registrations with the dispatcher have left.
    pub library: Vec<LibraryEntry>,
    /// The objects of Python's C interface, where it is used.
    python: Option<Box<Python>>,
    /// The names of the function called and its parameters, for messages.
    names: Arc<Names>,
    /// The device that factories put tensors on.
    pub device: DeviceTag,
    /// Launches that could not begin.
    refusals: Refusals,
    /// The reason for the error of the last call about memory that gave one.
    why: Option<String>,
    /// The message for the last error that a call of CUDA's runtime gave.
    told: Option<String>,
    /// The exceptions thrown and caught.
    exceptions: Exceptions,
    /// The state of Neuron's dialect.
    neuron: Neuron,
    /// The notes that the program keeps between calls.
    notes: Arc<Notes>,
    /// The number of services so far.
    served: u32,
    /// The record for gradients.
    tape: Tape,
}

/// The exception where there is no memory for something.
fn no_memory(what: &str) -> (Exception, String) {
    (Exception::Memory, format!("no memory for {what}"))
}

fn raised((exception, detail): (Exception, String)) -> Raised {
    Raised { kind: FaultKind::Raised(exception), detail }
}

impl<'p> Call<'p> {
    /// The beginning of the names of functions that register others.
    pub const REGISTER: &'static str = "__wb_entry_register";
    /// The beginning of the name of the function that computes the text's variables.
    pub const COMPUTE: &'static str = "__wb_entry_register_0";
    /// The function that calls a wrapper, by pointers to both.
    pub const ENTRY: &'static str = "__wb_entry_call";

    /// A call of the function with these names; `args` are taken from the stack, the last first.
    pub fn new(
        program: &'p dyn HostProgram,
        shared: ProgramState,
        names: Arc<Names>,
        args: Vec<Value>,
        device: DeviceTag,
        limits: Limits<'p>,
    ) -> Self {
        let state = Box::new(CallState::new(shared.notes.clone(), names, args, device, limits.below_autograd));
        let limit = limits.left();
        let (polled, memory, state) = (Mutex::default(), Arc::default(), Mutex::new(state));
        Call { program, shared, limits, limit, polled, memory, state }
    }

    /// The warnings of `TORCH_WARN` so far.
    pub fn warnings(&self) -> Vec<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).warnings.clone()
    }

    /// The same, as one of Neuron's cores.
    #[must_use]
    pub fn on_core(mut self, core: Core) -> Self {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).neuron.core = Some(core);
        self
    }

    /// The argument that was being taken when the call ended.
    pub fn argument(&self) -> Option<usize> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).argument
    }

    /// True if the kernel has asked for the destination that its core has.
    pub fn has_asked(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).neuron.has_asked
    }

    /// Ends the call if its time is up, or if the user wants it to end, which is asked every few milliseconds.
    fn poll(&self) -> Result<(), Raised> {
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let detail =
                self.limit.map_or("still running".to_owned(), |limit| format!("still running after {limit:?}"));
            return Err(Raised { kind: FaultKind::Timeout, detail });
        }
        let Some(interrupt) = self.limits.interrupt else { return Ok(()) };
        let mut last = self.polled.lock().unwrap_or_else(PoisonError::into_inner);
        if last.get_or_insert_with(Instant::now).elapsed() < POLL {
            return Ok(());
        }
        let interrupted = interrupt.interrupted();
        *last = Some(Instant::now());
        if interrupted {
            return Err(Raised { kind: FaultKind::Interrupted, detail: "interrupted here".to_owned() });
        }
        Ok(())
    }

    /// Puts the output of the operators that it called before its own, and adds a fault that the code itself does not
    /// know of.
    pub fn complete(&self, outcome: &mut Outcome) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if outcome.fault.is_none() {
            outcome.fault = state.refusals.take();
        }
        let (output, dropped) = std::mem::take(&mut state.output);
        outcome.output.splice(0..0, output);
        outcome.dropped += dropped;
    }

    /// The values on the stack and the registrations that are left when the call is over.
    pub fn finish(self) -> (Vec<Value>, Vec<Export>, Vec<LibraryEntry>) {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let stack = std::mem::take(&mut state.stack).into_iter().map(Value::kept).collect();
        state.free_blocks();
        (stack, std::mem::take(&mut state.exports), std::mem::take(&mut state.library))
    }
}

impl Drop for CallState {
    fn drop(&mut self) {
        self.free_blocks();
    }
}

impl Host for Call<'_> {
    fn memory(&self) -> &HostMemory {
        &self.memory
    }

    fn service(&self, service: Service, operands: &[Word]) -> Result<Reply, Raised> {
        // A service that may take long lies between two looks of the code itself at the clock.
        if matches!(service, Service::Op | Service::RunOp | Service::Alloc) {
            self.poll()?;
        }
        if let (Service::AllowShared, [Word::Memory(kernel), Word::Int(bytes)]) = (service, operands) {
            return Ok(Reply::Int(self.program.allow_shared(kernel.ptr as u64, *bytes).into()));
        }
        if let Some(answer) = self.copying(service, &Operands(operands)) {
            return answer.map(|code| Reply::Int(code.into()));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.served = state.served.wrapping_add(1);
        if state.served.is_multiple_of(SERVICES) {
            self.poll()?;
        }
        let serve = || work::contained(|| state.serve(&self.memory, service, Operands(operands), self.limits));
        work::watched(&|| self.poll(), serve)?.map_err(raised)
    }

    fn why(&self, code: i32) -> String {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.told.clone().unwrap_or_else(|| memory::words(code.into()))
    }

    fn is_unified(&self) -> bool {
        self.shared.is_unified
    }

    fn catch(&self, exception: RawFault) -> Option<RawFault> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).exceptions.catch(exception)
    }

    fn launch(&self, kernel: FuncId, args: &[RawArg], config: &LaunchConfig<'_>) -> Result<Outcome, Refusal> {
        if self.limits.shapes_only {
            return Ok(Outcome { output: Vec::new(), dropped: 0, fault: None });
        }
        self.program.launch(kernel, args, config)
    }

    fn refuse(&self, refusal: &Refusal, fault: RawFault) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).refusals.note(refusal, fault);
    }
}

impl CallState {
    fn new(notes: Arc<Notes>, names: Arc<Names>, mut args: Vec<Value>, device: DeviceTag, below: bool) -> Self {
        args.reverse();
        CallState {
            stack: args,
            tensors: Vec::new(),
            free: Vec::new(),
            extents: HashMap::new(),
            blocks: HashMap::new(),
            zombies: Vec::new(),
            has_blobs: false,
            argument: None,
            warnings: Vec::new(),
            output: (Vec::new(), 0),
            exports: Vec::new(),
            library: Vec::new(),
            python: None,
            names,
            device,
            refusals: Refusals::default(),
            why: None,
            told: None,
            freeing: None,
            exceptions: Exceptions::default(),
            neuron: Neuron::default(),
            notes,
            served: 0,
            tape: Tape::new(below),
        }
    }

    fn free_blocks(&mut self) {
        let blocks = self.blocks.drain().map(|(address, block)| (address, block.layout));
        for (address, layout) in blocks.chain(self.zombies.drain(..)) {
            // SAFETY: the block was allocated in `allocate` with this layout, and is in the table, so it is not freed
            // yet.
            unsafe { std::alloc::dealloc(address as *mut u8, layout) };
        }
    }

    fn push(&mut self, value: Value) -> Answer<Reply> {
        if self.stack.len() >= MAX_VALUES {
            return Err((Exception::Runtime, "too many values".to_owned()));
        }
        self.stack.try_reserve(1).map_err(|_| no_memory("a value"))?;
        self.stack.push(value);
        Ok(Reply::Nothing)
    }

    fn pop(&mut self) -> Answer<Value> {
        self.stack.pop().ok_or_else(|| (Exception::Runtime, "a value is taken where none is left".to_owned()))
    }

    /// The last so many values, in order.
    fn take(&mut self, n: i64) -> Answer<Vec<Value>> {
        let from = usize::try_from(n).ok().and_then(|n| self.stack.len().checked_sub(n));
        match from {
            Some(from) if memory_limit::has_elements::<Value>(self.stack.len() - from) => {
                Ok(self.stack.split_off(from))
            }
            Some(_) => Err(no_memory("a list of values")),
            None => Err((Exception::Runtime, format!("{n} values are taken of {}", self.stack.len()))),
        }
    }

    /// The exception for a value that does not fit, in the words that pybind11's callers expect.
    fn misfit(&self, value: &Value, wanted: &str) -> (Exception, String) {
        let came = value.type_name();
        match self.argument {
            Some(i) => {
                let name = self.names.parameters.get(i).filter(|n| !n.is_empty()).map(|n| format!(" ({n})"));
                let (function, name) = (&self.names.function, name.unwrap_or_default());
                let message = format!("{function}(): argument {}{name} must be {wanted}, not {came}", i + 1);
                (Exception::Type, message)
            }
            None => (Exception::Type, format!("a value of type {came} is taken as {wanted}")),
        }
    }

    fn serve(
        &mut self,
        memory: &Arc<HostMemory>,
        service: Service,
        given: Operands<'_>,
        limits: Limits<'_>,
    ) -> Answer<Reply> {
        let int = |v: i64| Ok(Reply::Int(v));
        match service {
            Service::PushNone => self.push(Value::None),
            Service::PushBool => self.push(Value::Bool(given.int(0) != 0)),
            Service::PushInt => self.push(Value::Int(given.int(0))),
            Service::PushFloat => self.push(Value::Float(given.float(0))),
            Service::PushText => self.push_text(given.bytes(0, given.int(1))?),
            Service::PushCString => self.push(Value::Text(given.text(0)?)),
            Service::PushTensor => self.push_tensor(given.int(0)),
            Service::PushDType => self.push_dtype(given.int(0)),
            Service::PushDevice => self.push_device(given.int(0), given.int(1)),
            Service::PushList => self.take(given.int(0)).and_then(|all| self.push(Value::List(all))),
            Service::PushTuple => self.take(given.int(0)).and_then(|all| self.push(Value::Tuple(all))),
            Service::PushDict => self.push_dict(given.int(0)),
            Service::PopDict => self.pop_dict(),
            Service::PushInts => self.push_ints(given.bytes(0, given.int(1).saturating_mul(8))?),
            Service::PushBlob => self.blob(given.memory(0), given.int(1)).and_then(|blob| self.push(blob)),
            Service::TopKind => int(self.stack.last().map_or(0, Value::kind)),
            Service::Drop => self.pop().map(|_| Reply::Nothing),
            Service::PopBool => self.pop_bool(),
            Service::PopInt => self.pop_int(),
            Service::PopFloat => self.pop_float(),
            Service::PopTensor => self.pop_tensor(),
            Service::TextSize => self.text_size(),
            Service::PopText => self.pop_text(memory),
            Service::PopList => self.pop_list(),
            Service::PopDType => self.pop_dtype(),
            Service::PopDevice => self.pop_device(),
            Service::Argument => self.begin_argument(given.int(0)),
            Service::Op => self.serve_operation(&given, limits),
            Service::RunOp => self.serve_host_op(given.int(0), given.int(1), limits),
            Service::Raise => self.raise(given.int(0), given.int(1)),
            Service::Thrown => given.object().map(|object| self.exceptions.throw(object)).map(|()| Reply::Nothing),
            Service::Embody => given.object().map(|object| self.exceptions.embody(object)).map(|()| Reply::Nothing),
            Service::CaughtKind => int(self.exceptions.kind()),
            Service::CaughtText => self.push(Value::Text(self.exceptions.text())),
            Service::CaughtAs => Ok(Reply::Address(self.exceptions.caught_as(&given.text(0)?).unwrap_or(0))),
            Service::BeginCatch => {
                self.exceptions.begin();
                Ok(Reply::Nothing)
            }
            Service::EndCatch => Ok(Reply::Address(self.exceptions.end())),
            Service::Destroyer => Ok(Reply::Address(self.exceptions.destroyer())),
            Service::Rethrow => Ok(Reply::Again(Box::new(self.exceptions.rethrow()?))),
            Service::Resume => Ok(Reply::Again(Box::new(self.exceptions.resume()?))),
            Service::Terminate => Ok(Reply::Again(Box::new(self.exceptions.terminate(&given.text(0)?)?))),
            Service::Depth => int(self.stack.len() as i64 | self.tape.depth() << 32),
            Service::Land => self.land(given.int(0)),
            Service::Retain => self.retain(given.int(0)),
            Service::Release => Ok(self.release(memory, given.int(0))),
            Service::Dim => int(self.tensor(given.int(0))?.dim() as i64),
            Service::Size => self.along(given.int(0), given.int(1), HostTensor::shape),
            Service::Stride => self.along(given.int(0), given.int(1), HostTensor::strides),
            Service::Sizes => self.extents(memory, given.int(0), false),
            Service::Strides => self.extents(memory, given.int(0), true),
            Service::Numel => int(self.tensor(given.int(0))?.numel()),
            Service::DTypeOf => int(torch_number(self.tensor(given.int(0))?.dtype())),
            Service::DeviceOf => int(self.tensor(given.int(0))?.device().number()),
            Service::Data => self.data(memory, given.int(0), given.int(1)),
            Service::WriteSymbol => self.write_symbol(given.memory(0), given.bytes(1, given.int(2))?),
            Service::Seconds => Ok(Reply::Float(super::seconds())),
            // The back end runs the last two itself.
            Service::AllowShared | Service::Copy | Service::Fill | Service::Direction => int(0),
            Service::Unasked | Service::Seen => Ok(Reply::Nothing),
            Service::NoteContext => {
                self.tape.context = given.memory(0).ptr as u64;
                Ok(Reply::Nothing)
            }
            Service::Context => Ok(Reply::Address(self.tape.context)),
            Service::Alloc => self.allocate(memory, given.int(0), Source::Heap),
            Service::AllocFrom => self.allocate_from(memory, given.int(0), Source::of_number(given.int(1))),
            Service::FreeFrom => self.free_from(memory, given.memory(0).ptr as u64, given.int(1) != 0),
            Service::MemoryType => int(Self::memory_type(memory, given.memory(0))),
            Service::Register => {
                self.why = None;
                int(Self::register(memory, given.memory(0), given.int(1)).into())
            }
            Service::BlockSize => self.block_size(given.memory(0).ptr as u64),
            Service::Rebind => self.rebind(memory, given.int(0), given.int(1)),
            Service::Freeing => self.begin_freeing([0, 1, 2].map(|i| given.int(i) as u32)),
            Service::Free => {
                let place = self.freeing.take();
                self.free(memory, given.memory(0).ptr as u64, place)
            }
        }
    }

    /// `name(..)` on so many values, where `given` is both.
    fn serve_operation(&mut self, given: &Operands<'_>, limits: Limits<'_>) -> Answer<Reply> {
        // The value taken next is its result, not an argument.
        self.argument = None;
        let name = given.text(0)?;
        let args = self.take(given.int(1))?;
        if limits.shapes_only && VALUES.contains(&name.trim_end_matches('_')) {
            // No handler of the text's can deal with this.
            self.exceptions.raise(ENDS);
            return Err((Exception::Runtime, needs_values(&name)));
        }
        let value = self.operate(&name, args)?;
        self.push(value)
    }

    fn serve_host_op(&mut self, number: i64, n: i64, limits: Limits<'_>) -> Answer<Reply> {
        let argument = self.argument.take();
        let args = self.take(n)?;
        let Some(op) = HostOp::of_number(number) else {
            return Err((Exception::Runtime, format!("the run time has no operation {number}")));
        };
        let value = self.run_op(op, args, argument, limits)?;
        self.push(value)
    }

    /// Raises what the number says, with a message of so many values.
    fn raise(&mut self, number: i64, n: i64) -> Answer<Reply> {
        let parts = self.take(n)?;
        let message: String = parts.iter().map(Value::to_string).collect();
        self.exceptions.raise(number);
        let exception = usize::try_from(number % WHOSE).ok().and_then(|i| Exception::ALL.get(i));
        Err((exception.copied().unwrap_or(Exception::Runtime), message))
    }

    /// Drops what was made since `depth` was asked for.
    fn land(&mut self, depth: i64) -> Answer<Reply> {
        self.stack.truncate((depth & 0xffff_ffff) as usize);
        self.tape.land(depth >> 32);
        Ok(Reply::Nothing)
    }

    fn begin_argument(&mut self, number: i64) -> Answer<Reply> {
        self.argument = usize::try_from(number).ok();
        Ok(Reply::Nothing)
    }

    fn push_text(&mut self, bytes: &[u8]) -> Answer<Reply> {
        self.push(Value::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn push_dtype(&mut self, number: i64) -> Answer<Reply> {
        match of_torch_number(number) {
            Some(dtype) => self.push(Value::DType(dtype)),
            None => Err((
                Exception::NotImplemented,
                "tensors of complex numbers, 8-bit floats and quantised ones are not supported".to_owned(),
            )),
        }
    }

    fn push_device(&mut self, kind: i64, index: i64) -> Answer<Reply> {
        self.push(Value::Device(DeviceTag { is_cuda: kind == 1, index: index as i8 }))
    }

    fn push_dict(&mut self, n: i64) -> Answer<Reply> {
        let all = self.take(n.saturating_mul(2))?;
        let mut all = all.into_iter();
        let mut pairs = Vec::new();
        while let (Some(key), Some(value)) = (all.next(), all.next()) {
            pairs.push((key, value));
        }
        self.push(Value::Dict(pairs))
    }

    fn push_ints(&mut self, bytes: &[u8]) -> Answer<Reply> {
        let words = bytes.chunks_exact(8).map(|w| Value::Int(i64::from_ne_bytes(w.try_into().unwrap_or([0; 8]))));
        let list = Value::List(work::collected(bytes.len() / 8, words));
        self.push(list)
    }

    /// What pybind11 takes for one: all that has a truth value but texts and containers.
    fn pop_bool(&mut self) -> Answer<Reply> {
        match self.pop()?.number(true) {
            Value::Bool(b) => Ok(Reply::Int(b.into())),
            Value::Int(i) => Ok(Reply::Int((i != 0).into())),
            Value::Float(x) => Ok(Reply::Int((x != 0.0).into())),
            Value::None if self.argument.is_some() => Ok(Reply::Int(0)),
            other => Err(self.misfit(&other, "bool")),
        }
    }

    fn pop_int(&mut self) -> Answer<Reply> {
        match self.pop()?.number(false) {
            Value::Int(i) => Ok(Reply::Int(i)),
            Value::Bool(b) => Ok(Reply::Int(b.into())),
            other => Err(self.misfit(&other, "int")),
        }
    }

    fn pop_float(&mut self) -> Answer<Reply> {
        match self.pop()?.number(true) {
            Value::Float(x) => Ok(Reply::Float(x)),
            Value::Int(i) => Ok(Reply::Float(i as f64)),
            Value::Bool(b) => Ok(Reply::Float(f64::from(u8::from(b)))),
            other => Err(self.misfit(&other, "float")),
        }
    }

    fn text_size(&self) -> Answer<Reply> {
        match self.stack.last() {
            Some(Value::Text(text)) => Ok(Reply::Int(text.len() as i64)),
            Some(other) => Err(self.misfit(other, "str")),
            None => Ok(Reply::Int(0)),
        }
    }

    /// A text as memory of the heap, with a zero byte at its end.
    fn pop_text(&mut self, memory: &Arc<HostMemory>) -> Answer<Reply> {
        match self.pop()? {
            Value::Text(text) => {
                let reply = self.allocate(memory, text.len() as i64 + 1, Source::Heap)?;
                if let Reply::Address(at) = reply {
                    // SAFETY: the memory was just allocated, with one byte more than the text.
                    unsafe {
                        std::ptr::copy_nonoverlapping(text.as_ptr(), at as *mut u8, text.len());
                        *(at as *mut u8).add(text.len()) = 0;
                    }
                }
                Ok(reply)
            }
            other => Err(self.misfit(&other, "str")),
        }
    }

    /// How many elements a list has, which lie on the stack then.
    fn pop_list(&mut self) -> Answer<Reply> {
        match self.pop()? {
            Value::List(all) | Value::Tuple(all) | Value::Set(all) => {
                let n = all.len() as i64;
                self.stack.extend(all.into_iter().rev());
                Ok(Reply::Int(n))
            }
            other => Err(self.misfit(&other, "a list")),
        }
    }

    /// How many pairs a dictionary has, which lie on the stack then.
    fn pop_dict(&mut self) -> Answer<Reply> {
        match self.pop()? {
            Value::Dict(all) => {
                let n = all.len() as i64;
                self.stack.extend(all.into_iter().rev().flat_map(|(key, value)| [value, key]));
                Ok(Reply::Int(n))
            }
            other => Err(self.misfit(&other, "a dict")),
        }
    }

    fn pop_dtype(&mut self) -> Answer<Reply> {
        match self.pop()? {
            Value::DType(d) => Ok(Reply::Int(torch_number(d))),
            other => Err(self.misfit(&other, "dtype")),
        }
    }

    fn pop_device(&mut self) -> Answer<Reply> {
        match self.pop()? {
            Value::Device(d) => Ok(Reply::Int(d.number())),
            other => Err(self.misfit(&other, "device")),
        }
    }

    /// `Dispatcher::singleton().findSchemaOrThrow(name, overload).call(..)`
    fn dispatch(&mut self, mut args: Vec<Value>, limits: Limits<'_>) -> Answer<Value> {
        let rest = args.split_off(args.len().min(2));
        let (name, overload) = match args.as_slice() {
            [Value::Text(name), Value::Text(overload)] => (name.clone(), overload.clone()),
            _ => return unfit(HostOp::Call, &args),
        };
        let Some(dispatcher) = DISPATCHER.get() else {
            return Err((Exception::Runtime, format!("Could not find schema for {name}.{overload}.")));
        };
        let wants = self.tape.wants(&rest)?;
        let limits = Limits { below_autograd: self.tape.is_below(), ..limits };
        let (answer, report) = dispatcher(&name, &overload, rest.clone(), wants.as_deref(), limits);
        self.hear(report);
        let (value, recording) = answer?;
        Ok(if wants.is_some() { self.tape.note_operator(&name, &rest, value, recording)? } else { value })
    }

    /// Keeps the output and the warnings of an operator that was called.
    fn hear(&mut self, report: Report) {
        let room = MAX_VALUES.saturating_sub(self.output.0.len()).min(report.output.len());
        self.output.1 += report.dropped + (report.output.len() - room) as u64;
        self.output.0.extend(report.output.into_iter().take(room));
        let room = MAX_WARNINGS.saturating_sub(self.warnings.len());
        self.warnings.extend(report.warnings.into_iter().take(room));
    }
}
