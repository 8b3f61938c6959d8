//! Operators that texts register with the dispatcher (`TORCH_LIBRARY`, `TORCH_LIBRARY_IMPL` and their kin): schemas, implementations by
//! dispatch key, calls by name. Texts add to one another: one may define an operator and another implement it, and a text that is run again
//! replaces its earlier registrations.
//!
//! Functions are checked here against schemas, arguments are bound, and dispatch keys chosen. Arguments that a schema does not mark as
//! written are read-only during the call. `wb.op` of a host function appends a `TORCH_LIBRARY_FRAGMENT` to the text, so such an operator is
//! one of these; an operator made of a callable has its schema here and its function in Python. [`set_shape_rule`] has the results of every
//! call checked against a shape.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Once, PoisonError, RwLock};

use super::schema::{Argument, Default, Kind, Schema, scalar_type};
use super::unknown_argument;
use crate::back::{Exception, FaultKind};
use crate::plural::plural;
use crate::runtime::arrange::{Misarranged, arrange};
use crate::runtime::host::{
    self, Answer, Core, DeviceTag, Dispatched, Export, HostTensor, Inferred, LibraryEntry, LibraryLine, Limits, Value,
};
use crate::runtime::{DType, Error, Program, Report, Result};

/// The limit on operators that call one another.
const MAX_DEPTH: u32 = 64;

/// A function that implements an operator.
#[derive(Clone)]
pub struct Implementation {
    /// The dispatch key: `CPU`, `CUDA`, `CompositeExplicitAutograd`, ...; empty: any.
    pub key: String,
    /// The text it is in.
    pub program: Program,
    /// The function.
    pub export: Export,
    inferred: Option<Inferred>,
}

/// A check of the shapes of results against a rule that the author gave. It is called with a call's arguments and its results.
pub type ShapeRule = Arc<dyn Fn(&[Value], &Value) -> Result<()> + Send + Sync>;

/// One overload of an operator; most have one, without a name.
#[derive(Clone)]
pub struct Overload {
    /// The schema; `None` while only an implementation is known.
    pub schema: Option<Schema>,
    /// The implementations, in the order they were registered.
    pub implementations: Vec<Implementation>,
    /// The module that `m.set_python_module` names.
    pub python_module: Option<String>,
    /// The text that defines the schema.
    pub definition: Option<Program>,
    /// True if the schema was inferred from the function's type. Such a schema does not say which arguments are written: any may be, as in
    /// torch.
    is_inferred: bool,
    name: String,
    neuron: Option<Neuron>,
    rule: Option<ShapeRule>,
}

/// The parts of an operator of a `NEURON_LIBRARY` besides its kernel.
#[derive(Clone)]
struct Neuron {
    /// The program and the function that compute the shape of the result.
    shape: (Program, Export),
    /// The number of cores that run the kernel.
    cores: u32,
}

/// All overloads of one name.
type Packet = Arc<Vec<Arc<Overload>>>;

static OPERATORS: LazyLock<RwLock<HashMap<String, Packet>>> = LazyLock::new(RwLock::default);

/// Registers the operators of a text; gives the qualified names of those it defines or implements, in order.
///
/// # Errors
/// [`Error::Argument`] for a malformed schema, a function that does not fit its schema, and an operator defined twice in one text;
/// [`Error::Fault`] when a registration faults. Nothing is registered then.
pub fn load(program: &Program) -> Result<Vec<String>> {
    static CONNECT: Once = Once::new();
    CONNECT.call_once(|| host::set_dispatcher(dispatch));
    let lines = program.library()?;
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let mut replaced = Vec::new();
    let mut all = OPERATORS.write().unwrap_or_else(PoisonError::into_inner);
    let mut changed: HashMap<String, Vec<Overload>> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut defined: Vec<(String, String)> = Vec::new();
    let mut python_modules: HashMap<&str, &str> = HashMap::new();
    for line in lines {
        let (name, overload, schema) = match &line.what {
            LibraryLine::PythonModule(module) => {
                python_modules.insert(&line.namespace, module);
                continue;
            }
            LibraryLine::Define(text) => {
                let schema = defined_schema(line, text)?;
                (format!("{}::{}", schema.namespace, schema.name), schema.overload.clone(), Some(schema))
            }
            LibraryLine::Neuron(..) | LibraryLine::Entry(_) | LibraryLine::TensorFlow(..) => continue,
            LibraryLine::Implement(text) => {
                let (name, overload) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
                let name = qualified(&line.namespace, name)?;
                (name, overload.to_owned(), None)
            }
        };
        let packet = changed.entry(name.clone()).or_insert_with(|| {
            order.push(name.clone());
            all.get(&name).map(|known| known.iter().map(|o| (**o).clone()).collect()).unwrap_or_default()
        });
        let at = packet.iter().position(|o| o.name == overload).unwrap_or_else(|| {
            let name = overload.clone();
            packet.push(Overload::new(name));
            packet.len() - 1
        });
        let place = &mut packet[at];
        if let Some(schema) = schema {
            let key = (name.clone(), overload.clone());
            if defined.contains(&key) {
                let dot = if overload.is_empty() { "" } else { "." };
                let message = format!(
                    "Tried to register an operator ({schema}) with the same name and overload name multiple times: {name}{dot}{overload}"
                );
                return Err(Error::argument(message));
            }
            defined.push(key);
            if place.schema.as_ref().is_some_and(|known| *known != schema) {
                // Implementations registered for another schema serve no longer.
                place.implementations.clear();
            }
            place.schema = Some(schema);
            place.rule = None;
            place.is_inferred = matches!(&line.what, LibraryLine::Define(text) if !text.contains('('));
            place.definition = Some(program.clone());
            place.python_module = python_modules.get(line.namespace.as_str()).map(|m| (*m).to_owned());
        }
        if let Some(export) = &line.function {
            let key = match &export.registration {
                host::Registration::Library(key) => key.clone(),
                _ => String::new(),
            };
            place.implementations.retain(|i| i.key != key);
            let (program, export) = (program.clone(), export.clone());
            place.implementations.push(Implementation { key, program, export, inferred: line.inferred.clone() });
        }
    }
    for (name, packet) in &changed {
        for overload in packet {
            overload.check(name)?;
        }
    }
    for (name, packet) in changed {
        replaced.extend(all.insert(name, Arc::new(packet.into_iter().map(Arc::new).collect())));
    }
    drop(all);
    // Rules made in Python are dropped when no lock is held.
    drop(replaced);
    Ok(order)
}

/// Defines an operator by its schema alone: its caller runs it.
///
/// # Errors
/// [`Error::Argument`] for a malformed schema.
pub fn define(schema: &str) -> Result<String> {
    let schema = Schema::parse_operator(schema)?;
    let name = format!("{}::{}", schema.namespace, schema.name);
    let mut overload = Overload::new(schema.overload.clone());
    overload.schema = Some(schema);
    let mut all = OPERATORS.write().unwrap_or_else(PoisonError::into_inner);
    let mut packet: Vec<Arc<Overload>> = all.get(&name).map(|known| known.to_vec()).unwrap_or_default();
    packet.retain(|known| known.name != overload.name);
    packet.push(Arc::new(overload));
    all.insert(name.clone(), Arc::new(packet));
    Ok(name)
}

/// Changes the overload without a name of an existing operator.
fn change(name: &str, how: impl FnOnce(&mut Overload)) {
    let mut all = OPERATORS.write().unwrap_or_else(PoisonError::into_inner);
    let Some(packet) = all.get_mut(name) else { return };
    let mut changed: Vec<Arc<Overload>> = packet.to_vec();
    if let Some(place) = changed.iter_mut().find(|o| o.name.is_empty()) {
        let mut overload = (**place).clone();
        how(&mut overload);
        *place = Arc::new(overload);
        *packet = Arc::new(changed);
    }
}

/// Checks the results of an operator's calls against a rule from now on, or against none.
pub fn set_shape_rule(name: &str, rule: Option<ShapeRule>) {
    let mut old = None;
    change(name, |overload| old = std::mem::replace(&mut overload.rule, rule));
    // The old rule may be made in Python, so it is dropped when no lock is held.
    drop(old);
}

/// Takes an inferred schema as exact: it marks nothing as written, so nothing may be written.
pub fn hold_to_schema(name: &str) {
    change(name, |overload| overload.is_inferred = false);
}

/// The kernels that a shape source of Neuron's names, in order.
///
/// # Errors
/// [`Error::Fault`] when a registration faults.
pub fn neuron_kernels(shape: &Program) -> Result<Vec<String>> {
    let mut kernels: Vec<String> = Vec::new();
    for line in shape.library()? {
        if let LibraryLine::Neuron(_, kernel) = &line.what
            && !kernels.contains(kernel)
        {
            kernels.push(kernel.clone());
        }
    }
    Ok(kernels)
}

/// Registers the operators of Neuron's shape source `shape`, whose kernels are in `compute`; gives their qualified names. Operators that a
/// library of that name had before are removed.
///
/// # Errors
/// [`Error::Argument`] for a kernel that is missing or takes another number of arguments, and for a source without a `NEURON_LIBRARY`;
/// [`Error::Fault`] when a registration faults.
pub fn load_neuron(shape: &Program, compute: &Program, cores: u32) -> Result<Vec<String>> {
    let mut made: Vec<(String, Overload)> = Vec::new();
    for line in shape.library()? {
        let (LibraryLine::Neuron(op, kernel), Some(rule), Some(inferred)) =
            (&line.what, &line.function, &line.inferred)
        else {
            continue;
        };
        let name = format!("{}::{op}", line.namespace);
        let Some(export) = compute.exports()?.iter().find(|e| e.name == *kernel) else {
            return Err(Error::argument(format!("{name}: no compute source has a function `{kernel}`")));
        };
        if export.arity != rule.arity {
            return Err(Error::argument(format!(
                "{name}: `{kernel}` takes {}, and its shape function {}",
                plural(export.arity, "argument"),
                rule.arity
            )));
        }
        let mut overload = Overload::new(String::new());
        overload.schema = Some(Schema::parse(&inferred_schema(&name, inferred))?);
        let (program, export) = (compute.clone(), export.clone());
        overload.implementations = vec![Implementation { key: String::new(), program, export, inferred: None }];
        overload.neuron = Some(Neuron { shape: (shape.clone(), rule.clone()), cores });
        made.push((name, overload));
    }
    if made.is_empty() {
        return Err(Error::argument("no shape source has a NEURON_LIBRARY that defines an operator"));
    }
    let namespace = |name: &str| name.split("::").next().unwrap_or("").to_owned();
    let mut all = OPERATORS.write().unwrap_or_else(PoisonError::into_inner);
    all.retain(|name, packet| {
        !packet.iter().any(|o| o.neuron.is_some()) || !made.iter().any(|(n, _)| namespace(n) == namespace(name))
    });
    let names = made.iter().map(|(name, _)| name.clone()).collect();
    all.extend(made.into_iter().map(|(name, overload)| (name, Arc::new(vec![Arc::new(overload)]))));
    Ok(names)
}

/// The overloads of an operator by its qualified name, `lab::muladd`.
pub fn overloads(name: &str) -> Option<Packet> {
    OPERATORS.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
}

/// The qualified names of all operators.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = OPERATORS.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
    names.sort();
    names
}

/// `ns::name` of a name that may have its namespace already.
fn qualified(namespace: &str, name: &str) -> Result<String> {
    match name.split_once("::") {
        None => Ok(format!("{namespace}::{name}")),
        // `RegisterOperators` has no namespace of its own.
        Some((own, _)) if own == namespace || namespace.is_empty() => Ok(name.to_owned()),
        Some((own, _)) => Err(Error::argument(format!(
            "Explicitly provided namespace ({own}) in operator name does not match namespace of enclosing TORCH_LIBRARY block ({namespace})"
        ))),
    }
}

/// The schema of an `m.def`, inferred from the function's type where only a name is given.
fn defined_schema(line: &LibraryEntry, text: &str) -> Result<Schema> {
    let Some(open) = text.find('(') else {
        let name = qualified(&line.namespace, text.trim())?;
        let Some(inferred) = &line.inferred else {
            return Err(Error::argument(format!(
                "`m.def(\"{text}\")`: a name alone needs a function to take the schema from; write one as in \"{text}(Tensor x) -> Tensor\""
            )));
        };
        return Schema::parse_operator(&inferred_schema(&name, inferred));
    };
    qualified(&line.namespace, text[..open].split('.').next().unwrap_or("").trim())?;
    match text[..open].contains("::") {
        true => Schema::parse_operator(text),
        false => Schema::parse_operator(&format!("{}::{}", line.namespace, text.trim())),
    }
}

/// An inferred schema with torch's names for arguments: `_0`, `_1`, ...
fn inferred_schema(name: &str, inferred: &Inferred) -> String {
    let plain = |ty: &str| ty.trim_start_matches('!').to_owned();
    let args: Vec<String> = inferred.args.iter().enumerate().map(|(i, ty)| format!("{} _{i}", plain(ty))).collect();
    let returns: Vec<String> = inferred.returns.iter().map(|ty| plain(ty)).collect();
    let returns = if returns.len() == 1 { returns.join("") } else { format!("({})", returns.join(", ")) };
    format!("{name}({}) -> {returns}", args.join(", "))
}

impl Overload {
    fn new(name: String) -> Self {
        Overload {
            schema: None,
            implementations: Vec::new(),
            python_module: None,
            definition: None,
            is_inferred: false,
            name,
            neuron: None,
            rule: None,
        }
    }

    /// True if calls may write an argument of the schema's.
    pub fn may_write(&self, arg: &Argument) -> bool {
        arg.mutated || self.is_inferred
    }

    /// Its name; empty for most.
    pub fn name(&self) -> &str {
        if self.name.is_empty() { "default" } else { &self.name }
    }

    /// Checks that the implementations fit the schema.
    fn check(&self, name: &str) -> Result<()> {
        let Some(schema) = &self.schema else { return Ok(()) };
        for Implementation { inferred, .. } in &self.implementations {
            let Some(inferred) = inferred else { continue };
            for ty in inferred.args.iter().chain(&inferred.returns) {
                if let Some(ty) = ty.strip_prefix('!') {
                    let instead = if ty == "float" { "double" } else { "int64_t" };
                    return Err(Error::argument(format!(
                        "{name}: You tried to register a kernel with an unsupported input type: {ty}. Please use {instead} instead."
                    )));
                }
            }
            let expected: Vec<String> = schema.args.iter().map(|a| unsized_kind(&a.kind)).collect();
            let returned: Vec<String> = schema.returns.iter().map(|r| unsized_kind(&r.kind)).collect();
            let at = expected.iter().zip(&inferred.args).position(|(a, b)| a != b);
            let reason = if expected.len() != inferred.args.len() {
                format!("The number of arguments is different. {} vs {}.", expected.len(), inferred.args.len())
            } else if let Some(i) = at {
                format!("Type mismatch in argument {}: {} vs {}", i + 1, expected[i], inferred.args[i])
            } else if returned.len() != inferred.returns.len() {
                format!("The number of returns is different. {} vs {}", returned.len(), inferred.returns.len())
            } else if let Some(i) = returned.iter().zip(&inferred.returns).position(|(a, b)| a != b) {
                format!("Type mismatch in return {}: {} vs {}", i + 1, returned[i], inferred.returns[i])
            } else {
                continue;
            };
            return Err(Error::argument(format!(
                "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n  operator: {name}\n  \
                 expected schema: {schema}\n  inferred schema: {}\n  reason: {reason}",
                inferred_schema(name, inferred)
            )));
        }
        Ok(())
    }

    /// The implementation for an array of the host: the one for the CPU, or one for any device, or else the one for CUDA, whose kernels run
    /// on the CPU as well; the other way round where CUDA is preferred.
    ///
    /// # Errors
    /// The message of torch when there is none: `NotImplementedError` to Python.
    pub fn implementation(&self, prefer_cuda: bool) -> std::result::Result<&Implementation, String> {
        self.implementation_below(prefer_cuda, false)
    }

    /// The implementation for torch's autograd, which takes precedence over all others.
    fn of_autograd(&self, prefer_cuda: bool) -> Option<&Implementation> {
        let device = if prefer_cuda { "AutogradCUDA" } else { "AutogradCPU" };
        let find = |key: &str| self.implementations.iter().find(|i| i.key == key);
        find(device).or_else(|| find("Autograd"))
    }

    /// The implementation as [`Overload::implementation`] finds it; below torch's autograd, the one for autograd is skipped.
    fn implementation_below(&self, prefer_cuda: bool, below: bool) -> std::result::Result<&Implementation, String> {
        if let Some(found) = self.of_autograd(prefer_cuda).filter(|_| !below) {
            return Ok(found);
        }
        let find = |key: &str| self.implementations.iter().find(|i| i.key == key);
        let (first, last) = if prefer_cuda { ("CUDA", "CPU") } else { ("CPU", "CUDA") };
        // Gaudi's device is this one, too.
        let anywhere = ["CompositeExplicitAutograd", "", "CompositeImplicitAutograd"];
        // An implementation without a device of its own usually serves both.
        let found = [first].into_iter().chain(anywhere).chain([last, "HPU"]).find_map(find);
        match found {
            Some(found) if found.program.options().strict_device && found.key == "CUDA" => Err(self.lacks("CPU")),
            Some(found) => Ok(found),
            None => Err(self.lacks("CPU")),
        }
    }

    fn lacks(&self, backend: &str) -> String {
        let name = self.schema.as_ref().map_or_else(|| self.name.clone(), Schema::qualified_name);
        let keys: Vec<&str> = self.implementations.iter().map(|i| i.key.as_str()).collect();
        let have = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
        format!(
            "Could not run '{name}' with arguments from the '{backend}' backend; it has implementations for: {have}"
        )
    }

    /// Arguments in the schema's order, converted to its types; those that it may not write are read-only.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the argument that is missing, unknown, or of another type.
    pub fn bind(&self, given: Vec<Value>, mut named: Vec<(String, Value)>) -> Result<Vec<Value>> {
        let Some(schema) = &self.schema else {
            return Err(Error::argument(format!("Could not find schema for {}.", self.name())));
        };
        let mut values = Vec::with_capacity(schema.args.len());
        let put = |at: usize, value: Option<Value>| {
            let arg = &schema.args[at];
            let value = value.or_else(|| default_of(arg)).ok_or_else(|| {
                let default = arg.default.as_ref().map(ToString::to_string).unwrap_or_default();
                let name = schema.qualified_name();
                let message = format!(
                    "{name}(): give argument `{}`; host code has no value for its default `{default}`",
                    arg.name
                );
                Error::argument(message)
            })?;
            let came = value.type_name();
            let value = fit(&arg.kind, value).ok_or_else(|| {
                Error::argument(format!(
                    "{}() Expected a value of type '{}' for argument '{}' but instead found type '{came}'. Position: {at}. {schema}",
                    schema.qualified_name(),
                    arg.kind,
                    arg.name
                ))
            })?;
            values.push(if self.may_write(arg) { value } else { value.sealed() });
            Ok(())
        };
        let wrong = |wrong| misarranged(schema, wrong);
        arrange(&schema.args, schema.positional(), given.into_iter(), &mut named, put, wrong)?;
        Ok(values)
    }

    /// Calls it with bound arguments.
    ///
    /// # Errors
    /// [`Error::Fault`] when it faults, [`Error::Argument`] where it gives another number of results than its schema says.
    pub fn call(&self, values: Vec<Value>, prefer_cuda: bool, limits: Limits<'_>) -> Result<(Value, Report)> {
        let found = self.implementation_below(prefer_cuda, limits.below_autograd).map_err(Error::argument)?;
        // Operators that it calls are chosen again, but below autograd where this one is.
        let limits = Limits { below_autograd: limits.below_autograd || self.is_below(found), ..limits };
        let given = values.clone();
        let (value, report) = match &self.neuron {
            Some(neuron) => self.call_neuron(found, neuron, values, limits)?,
            None => found.program.call_export(&found.export, values, limits)?,
        };
        Ok((self.held(value, &given)?, report))
    }

    /// True if an implementation runs below torch's autograd: one for a device.
    fn is_below(&self, found: &Implementation) -> bool {
        !matches!(found.key.as_str(), "" | "CompositeImplicitAutograd") && !found.key.starts_with("Autograd")
    }

    /// A result that shares no memory it may not share, and that has the shape of the rule.
    fn held(&self, value: Value, given: &[Value]) -> Result<Value> {
        let value = self.fresh(value, given)?;
        if let Some(rule) = &self.rule {
            rule(given, &value)?;
        }
        Ok(value)
    }

    /// The implementation whose gradient is recorded: one for torch's autograd, or a composite.
    fn recorded(&self, prefer_cuda: bool) -> Option<&Implementation> {
        let found = self.implementation(prefer_cuda).ok()?;
        (self.neuron.is_none() && !self.is_below(found)).then_some(found)
    }

    /// True if calls may have a gradient that is recorded as they run.
    pub fn has_gradient(&self) -> bool {
        let has = |found: &Implementation| {
            found.key.starts_with("Autograd") || found.program.may_have_gradient(&found.export)
        };
        [false, true].into_iter().any(|prefer_cuda| self.recorded(prefer_cuda).is_some_and(has))
    }

    /// Calls it with bound arguments and records its operations on tensors that require grad; `wants` says which of them do, in order. No
    /// record where it has no gradient.
    ///
    /// # Errors
    /// The errors of [`Overload::call`].
    pub fn record(
        &self,
        values: Vec<Value>,
        wants: &[bool],
        prefer_cuda: bool,
        limits: Limits<'_>,
    ) -> Result<(Dispatched, Report)> {
        let Some(found) = self.recorded(prefer_cuda).filter(|_| !limits.below_autograd) else {
            let (value, report) = self.call(values, prefer_cuda, limits)?;
            return Ok(((value, None), report));
        };
        let given = values.clone();
        let (value, report, recording) = found.program.record_export(&found.export, values, wants, limits)?;
        Ok(((self.held(value, &given)?, Some(recording)), report))
    }

    /// Results that share memory with an argument although the schema does not say so, as copies.
    fn fresh(&self, value: Value, given: &[Value]) -> Result<Value> {
        let Some(schema) = self.schema.as_ref().filter(|_| !self.is_inferred) else { return Ok(value) };
        match value {
            Value::Tuple(all) if schema.returns.len() != 1 => {
                let each = all.into_iter().enumerate().map(|(i, one)| {
                    let may = schema.returns.get(i).is_none_or(|ret| ret.alias.is_some());
                    if may { Ok(one) } else { unshared(one, given) }
                });
                each.collect::<Result<_>>().map(Value::Tuple)
            }
            one if schema.returns.first().is_some_and(|ret| ret.alias.is_none()) => unshared(one, given),
            one => Ok(one),
        }
    }

    /// The shapes and types of the results, for bound arguments of these shapes and types.
    ///
    /// # Errors
    /// The errors of [`Program::shapes`].
    pub fn shapes(&self, values: &[Value], limits: Limits<'_>) -> Result<Value> {
        if let Some(neuron) = &self.neuron {
            let (program, rule) = &neuron.shape;
            return program.shapes(rule, values, limits);
        }
        // An implementation for tensors without data serves this purpose.
        let meta = self.implementations.iter().find(|i| i.key == "Meta");
        let found = match meta {
            Some(meta) => meta,
            None => {
                let below = self.implementation_below(false, true);
                below.or_else(|_| self.implementation(false)).map_err(Error::argument)?
            }
        };
        found.program.shapes(&found.export, values, limits)
    }

    /// The shape function, then the kernel on every core.
    fn call_neuron(
        &self,
        found: &Implementation,
        neuron: &Neuron,
        values: Vec<Value>,
        limits: Limits<'_>,
    ) -> Result<(Value, Report)> {
        let name = self.schema.as_ref().map_or_else(|| self.name.clone(), Schema::qualified_name);
        let (program, rule) = &neuron.shape;
        let (wanted, mut report) = program.call_export(rule, values.clone(), limits)?;
        let destination = match &wanted {
            Value::Tensor(t) => {
                let made = HostTensor::new(t.dtype(), t.shape(), DeviceTag::CPU, false);
                Some(made.map_err(|(_, message)| Error::Other(message))?)
            }
            _ => None,
        };
        let mut result = Value::None;
        for id in 0..neuron.cores {
            let core = Core { id, count: neuron.cores, destination: destination.clone() };
            let (value, more, has_asked) =
                found.program.call_on_core(&found.export, values.clone(), limits, Some(core))?;
            if !has_asked && neuron.cores > 1 {
                return Err(Error::Other(format!(
                    "{name}: with multicore=True a kernel writes to get_dst_tensor(), and `{}` did not ask for it",
                    found.export.name
                )));
            }
            result = match destination.clone().filter(|_| has_asked) {
                Some(tensor) => Value::Tensor(tensor),
                None => value,
            };
            // Only the first core prints.
            if id == 0 {
                report.output.extend(more.output);
                report.dropped += more.dropped;
                report.warnings.extend(more.warnings);
            }
        }
        if !wanted.is_alike(&result) {
            return Err(Error::Other(format!(
                "{name}: `{}` gave {}, and the shape function `{}` said {}",
                found.export.name,
                described(&result),
                rule.name,
                described(&wanted)
            )));
        }
        Ok((result, report))
    }
}

/// A value whose tensors share no memory with others.
fn unshared(value: Value, others: &[Value]) -> Result<Value> {
    fn shares(tensor: &HostTensor, other: &Value) -> bool {
        match other {
            Value::Tensor(o) => o.storage().ptr() == tensor.storage().ptr() && o.storage().bytes() > 0,
            Value::List(all) | Value::Tuple(all) => all.iter().any(|one| shares(tensor, one)),
            _ => false,
        }
    }
    match value {
        Value::Tensor(tensor) if others.iter().any(|other| shares(&tensor, other)) => {
            let device = tensor.device();
            host::ops::run("clone", vec![Value::Tensor(tensor)], device).map_err(|(_, message)| Error::Other(message))
        }
        Value::List(all) => all.into_iter().map(|one| unshared(one, others)).collect::<Result<_>>().map(Value::List),
        value => Ok(value),
    }
}

/// `float32 [5, 3]`
fn described(value: &Value) -> String {
    match value {
        Value::Tensor(t) => format!("{} {:?}", t.dtype(), t.shape()),
        Value::List(all) | Value::Tuple(all) => {
            format!("({})", all.iter().map(described).collect::<Vec<_>>().join(", "))
        }
        other => other.type_name().to_owned(),
    }
}

/// A type as far as C++ knows it: without the sizes of lists, and with all integers alike.
fn unsized_kind(kind: &Kind) -> String {
    match kind {
        Kind::List(inner, _) => format!("{}[]", unsized_kind(inner)),
        Kind::Optional(inner) => format!("{}?", unsized_kind(inner)),
        // A function of int64_t serves both, as in torch: symbols are numbers when it is called.
        Kind::SymInt => Kind::Int.to_string(),
        kind => kind.to_string(),
    }
}

/// A value converted to a type of schemas, if it fits.
fn fit(kind: &Kind, value: Value) -> Option<Value> {
    match (kind, value) {
        (Kind::Optional(_), Value::None) => Some(Value::None),
        (Kind::Optional(inner), value) => fit(inner, value),
        (Kind::List(inner, _), Value::List(all) | Value::Tuple(all)) => {
            all.into_iter().map(|v| fit(inner, v)).collect::<Option<_>>().map(Value::List)
        }
        // A single number stands for a list of a stated size, but not for a list of lists.
        (Kind::List(inner, Some(n)), value)
            if matches!(**inner, Kind::Int | Kind::SymInt | Kind::Float | Kind::Bool) =>
        {
            fit(inner, value).map(|v| Value::List(vec![v; *n as usize]))
        }
        (Kind::Tuple(kinds), Value::List(all) | Value::Tuple(all)) if kinds.len() == all.len() => {
            kinds.iter().zip(all).map(|(kind, v)| fit(kind, v)).collect::<Option<_>>().map(Value::Tuple)
        }
        (Kind::Generic(name, kinds), value) => fit_generic(name, kinds, value),
        (Kind::Tensor, value @ Value::Tensor(_))
        | (Kind::Int | Kind::SymInt, value @ (Value::Int(_) | Value::Bool(_)))
        | (Kind::Bool, value @ Value::Bool(_))
        | (Kind::Str, value @ Value::Text(_))
        | (Kind::Scalar, value @ (Value::Int(_) | Value::Float(_) | Value::Bool(_)))
        | (Kind::ScalarType, value @ Value::DType(_)) => Some(value),
        (Kind::Float, Value::Float(x)) => Some(Value::Float(x)),
        (Kind::Float, Value::Int(i)) => Some(Value::Float(i as f64)),
        (Kind::Float, Value::Bool(b)) => Some(Value::Float(f64::from(u8::from(b)))),
        (Kind::ScalarType, Value::Text(name)) => DType::from_name(&name).map(Value::DType),
        (Kind::Named(name), value @ Value::Device(_)) if name == "Device" => Some(value),
        (Kind::Named(name), Value::Text(text)) if name == "Device" => device(&text).map(Value::Device),
        (Kind::Named(name), value @ (Value::Int(_) | Value::Float(_))) if name == "complex" => Some(value),
        (Kind::Named(name), Value::Foreign(object)) if name == "complex" => {
            (object.type_name() == "complex").then_some(Value::Foreign(object))
        }
        (Kind::Scalar, Value::Foreign(object)) => (object.type_name() == "complex").then_some(Value::Foreign(object)),
        (Kind::Named(name), value) if name != "Device" && name != "complex" => Some(value),
        _ => None,
    }
}

/// Converts as [`fit`] does, for generic types.
fn fit_generic(name: &str, kinds: &[Kind], value: Value) -> Option<Value> {
    match (name, kinds, value) {
        ("Dict", [key, of], Value::Dict(all)) => {
            let pairs = all.into_iter().map(|(k, v)| Some((fit(key, k)?, fit(of, v)?)));
            pairs.collect::<Option<_>>().map(Value::Dict)
        }
        ("Union", _, value) => kinds.iter().find_map(|kind| fit(kind, value.clone())),
        // Objects of torch's own.
        ("Future" | "RRef" | "Await", _, value @ Value::Foreign(_)) => Some(value),
        _ => None,
    }
}

/// `cpu`, `cuda`, `cuda:1`.
fn device(text: &str) -> Option<DeviceTag> {
    let (name, index) = text.split_once(':').map_or((text, Some(-1)), |(name, i)| (name, i.parse().ok()));
    match name {
        "cpu" | "cuda" => Some(DeviceTag { is_cuda: name == "cuda", index: index? }),
        _ => None,
    }
}

/// The error, in torch's words, about arguments that a schema does not take.
pub fn misarranged(schema: &Schema, wrong: Misarranged) -> Error {
    let name = schema.qualified_name();
    Error::argument(match wrong {
        Misarranged::TooMany { most, given } => {
            format!("{name}() takes {most} positional arguments, {given} given. {schema}")
        }
        Misarranged::Twice(at) => format!("{name}() got two values for argument `{}`", schema.args[at].name),
        Misarranged::Missing { at, unknown: None } => {
            format!("{name}() is missing value for argument '{}'. {schema}", schema.args[at].name)
        }
        Misarranged::Missing { unknown: Some(keyword), .. } | Misarranged::Unknown(keyword) => {
            unknown_argument(schema, &keyword)
        }
    })
}

/// The default of an argument as a value; `None` where it has none, or one that has no meaning here.
pub fn default_of(arg: &Argument) -> Option<Value> {
    default_value(arg.default.as_ref()?, &arg.kind)
}

/// A default as a value; `None` for one that has no meaning here, such as complex numbers.
fn default_value(default: &Default, kind: &Kind) -> Option<Value> {
    let value = match default {
        Default::Int(v) if matches!(kind, Kind::ScalarType) => Value::DType(scalar_type(*v)?),
        Default::Int(v @ (0 | 1)) if *kind == Kind::Bool => Value::Bool(*v == 1),
        Default::Int(v) => Value::Int(*v),
        Default::Float(v) => Value::Float(*v),
        Default::Bool(v) => Value::Bool(*v),
        Default::Str(v) => Value::Text(v.clone()),
        Default::None => Value::None,
        Default::Imaginary(_) => return None,
        Default::List(all) => {
            let Kind::List(inner, _) = kind else { return None };
            Value::List(all.iter().map(|one| default_value(one, inner)).collect::<Option<_>>()?)
        }
    };
    fit(kind, value)
}

/// The first overload that takes the arguments, and the arguments bound to it.
///
/// # Errors
/// The error of [`Overload::bind`] for the only overload, or one that names all of them.
pub fn resolve(
    name: &str,
    packet: &[Arc<Overload>],
    given: &[Value],
    named: &[(String, Value)],
) -> Result<(Arc<Overload>, Vec<Value>)> {
    let mut reasons = Vec::new();
    for overload in packet {
        match overload.bind(given.to_vec(), named.to_vec()) {
            Ok(values) => return Ok((overload.clone(), values)),
            Err(error) if packet.len() == 1 => return Err(error),
            Err(error) => reasons.push(format!("  {}: {error}", overload.name())),
        }
    }
    Err(Error::argument(format!("{name}(): no overload takes these arguments:\n{}", reasons.join("\n"))))
}

thread_local! {
    /// The depth to which the operators that this thread runs have called one another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The function behind host code's `Dispatcher`.
fn dispatch(
    name: &str,
    overload: &str,
    values: Vec<Value>,
    wants: Option<&[bool]>,
    limits: Limits<'_>,
) -> (Answer<Dispatched>, Report) {
    let wrong = |message: String| (Err((Exception::Runtime, message)), Report::default());
    let found = overloads(name).and_then(|all| all.iter().find(|o| o.name == overload).cloned());
    let Some(found) = found.filter(|o| o.schema.is_some()) else {
        return wrong(format!("Could not find schema for {name}.{overload}."));
    };
    // A tensor that claims to be on CUDA is served by the implementations for CUDA.
    let prefer_cuda = values.iter().any(|v| matches!(v, Value::Tensor(t) if t.device().is_cuda));
    let values = match found.bind(values, Vec::new()) {
        Ok(values) => values,
        Err(error) => return wrong(error.to_string()),
    };
    if DEPTH.get() >= MAX_DEPTH {
        return wrong(format!("{name}: operators call one another more than {MAX_DEPTH} deep"));
    }
    DEPTH.set(DEPTH.get() + 1);
    let answer = match wants {
        Some(wants) => found.record(values, wants, prefer_cuda, limits),
        None => found.call(values, prefer_cuda, limits).map(|(value, report)| ((value, None), report)),
    };
    DEPTH.set(DEPTH.get() - 1);
    match answer {
        Ok((value, report)) => (Ok(value), report),
        Err(Error::Fault(fault)) => {
            let (output, warnings) = (fault.output.clone(), fault.warnings.clone());
            let report = Report { output, dropped: fault.dropped, warnings };
            let exception = match fault.kind {
                FaultKind::Raised(exception) => exception,
                _ => Exception::Runtime,
            };
            (Err((exception, fault.detail.clone())), report)
        }
        Err(error) => wrong(error.to_string()),
    }
}
