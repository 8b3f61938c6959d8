//! Operations of the run time's own ([`HostOp`]): which part runs which, and those that need no more than the call.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use super::super::answer::Answer;
use super::super::exceptions::{ENDS, PYTHON};
use super::super::export::{Export, Inferred, LibraryEntry, LibraryLine, Objects, Registration};
use super::super::misfits::unfit;
use super::super::python::Surroundings;
use super::super::value::Value;
use super::super::{snprintf, work};
use super::{Call, CallState, Limits, MAX_WARNINGS, memory};
use crate::ir::HostOp;
use crate::ir::host_op::Chapter;

impl CallState {
    /// Runs an operation; `argument` is the one that was being taken.
    pub(super) fn run_op(
        &mut self,
        op: HostOp,
        args: Vec<Value>,
        argument: Option<usize>,
        limits: Limits<'_>,
    ) -> Answer<Value> {
        match op.chapter() {
            Chapter::Operator => self.dispatch(args, limits),
            Chapter::Registration => self.run_registration(op, &args),
            Chapter::Value => self.run_value(op, &args),
            Chapter::Time => run_time(op, &args, limits.shapes_only),
            Chapter::Refusal => {
                if let (HostOp::Failed, [Value::Int(code)]) = (op, args.as_slice()) {
                    // The reason that a service has given, or CUDA's words.
                    self.told = Some(self.why.take().unwrap_or_else(|| memory::words(*code)));
                }
                self.refusals.run(op, &args)
            }
            Chapter::Note => self.notes.run(op, &args),
            Chapter::Tape => self.tape.run(op, &args),
            Chapter::Neuron => self.neuron.run(op, &args),
            Chapter::PythonValue
            | Chapter::Python
            | Chapter::PythonType
            | Chapter::PythonError
            | Chapter::PythonNumber
            | Chapter::PythonSequence
            | Chapter::PythonAttribute
            | Chapter::PythonDict => self.run_python(op, &args, argument, limits.shapes_only),
        }
    }

    fn run_python(&mut self, op: HostOp, args: &[Value], argument: Option<usize>, shapes_only: bool) -> Answer<Value> {
        // One of pybind11's objects.
        if let (HostOp::PyExpect, [value, Value::Text(wanted), Value::Int(_)]) = (op, args)
            && !value.is_object_of(wanted)
        {
            self.argument = argument;
            return Err(self.misfit(value, wanted));
        }
        let function = &*self.names.function;
        let (registers, exports) = (function.starts_with(Call::REGISTER), &mut self.exports);
        let around = Surroundings { function, registers, shapes_only, exports };
        let answer = self.python.get_or_insert_default().run(op, args, around);
        if answer.is_err() {
            let ends = self.python.as_ref().is_some_and(|python| python.ends_call);
            self.exceptions.raise(if ends { ENDS } else { PYTHON });
        }
        answer
    }

    /// Runs a registration of the text.
    fn run_registration(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::Define, _) => self.define(op, args),
            (HostOp::Library, _) => self.library_line(op, args),
            (HostOp::Doc, [value]) => {
                self.exports.push(Export::constant("__doc__", value.clone()));
                Ok(Value::None)
            }
            (HostOp::Attr, [Value::Text(name), value]) => {
                self.exports.push(Export::constant(name, value.clone()));
                Ok(Value::None)
            }
            _ => unfit(op, args),
        }
    }

    /// Registers a function.
    fn define(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (
                HostOp::Define,
                [
                    Value::Text(kind),
                    Value::Text(name),
                    Value::Int(wrapper),
                    Value::Int(function),
                    Value::Int(arity),
                    extra @ ..,
                ],
            ) => {
                let registration = match kind.as_str() {
                    "module" => Registration::Module,
                    _ => Registration::Exposed,
                };
                let (arity, objects) = Objects::of_word(*arity);
                let mut export = Export {
                    name: name.clone(),
                    registration,
                    doc: String::new(),
                    arguments: Vec::new(),
                    positional: None,
                    arity,
                    objects,
                    wrapper: *wrapper,
                    function: *function,
                    names: Arc::default(),
                };
                for value in extra {
                    match value {
                        Value::Text(doc) => export.doc.clone_from(doc),
                        // `py::kw_only()`
                        Value::Bool(true) => export.positional = Some(export.arguments.len()),
                        Value::List(parts) => {
                            if let [Value::Text(name), default @ ..] = parts.as_slice() {
                                export.arguments.push((name.clone(), default.first().cloned()));
                            }
                        }
                        _ => {}
                    }
                }
                self.exports.push(export);
                Ok(Value::None)
            }
            _ => unfit(op, args),
        }
    }

    /// Registers a line of a library.
    fn library_line(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (
                HostOp::Library,
                [
                    Value::Text(what),
                    Value::Text(kind),
                    Value::Text(namespace),
                    Value::Text(text),
                    Value::Text(key),
                    rest @ ..,
                ],
            ) => {
                let (mut function, mut inferred) = (None, None);
                if let [Value::Int(wrapper), Value::Int(pointer), Value::Int(arity), parts @ ..] = rest {
                    let (arity, objects) = Objects::of_word(*arity);
                    function = Some(Export {
                        name: text.split('(').next().unwrap_or("").trim().to_owned(),
                        registration: Registration::Library(key.clone()),
                        doc: String::new(),
                        arguments: Vec::new(),
                        positional: None,
                        arity,
                        objects,
                        wrapper: *wrapper,
                        function: *pointer,
                        names: Arc::default(),
                    });
                    inferred = Some(Inferred::of_parts(parts.iter().filter_map(|v| match v {
                        Value::Text(part) => Some(part.as_str()),
                        _ => None,
                    })));
                }
                let what = match what.as_str() {
                    "def" => LibraryLine::Define(text.clone()),
                    "impl" => LibraryLine::Implement(text.clone()),
                    "neuron" => LibraryLine::Neuron(text.clone(), kind.clone()),
                    "entry" => LibraryLine::Entry(text.clone()),
                    "tensorflow" => LibraryLine::TensorFlow(text.clone(), kind.clone()),
                    _ => LibraryLine::PythonModule(text.clone()),
                };
                self.library.push(LibraryEntry { namespace: namespace.clone(), what, function, inferred });
                Ok(Value::None)
            }
            _ => unfit(op, args),
        }
    }

    /// Texts, numbers and warnings.
    fn run_value(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::Warn, parts) => {
                if self.warnings.len() < MAX_WARNINGS {
                    self.warnings.push(parts.iter().map(Value::to_string).collect());
                }
                Ok(Value::None)
            }
            // `snprintf(..)`
            (HostOp::Format, [Value::Text(format), args @ ..]) => snprintf::c(format, args).map(Value::Text),
            (HostOp::Set, [Value::List(all)]) => Ok(Value::Set(all.clone())),
            // `c10::str(..)`
            (HostOp::Join, parts) => Ok(Value::Text(parts.iter().map(Value::to_string).collect())),
            // As a stream writes it.
            (HostOp::Streamed, [value]) => Ok(Value::Text(value.to_string())),
            // `std::stod`, `std::stof`: the nearest number of the type.
            (HostOp::Number, [Value::Text(text), Value::Bool(single)]) => Ok(Value::Float(match single {
                true => text.parse::<f32>().map_or(f64::NAN, f64::from),
                false => text.parse().unwrap_or(f64::NAN),
            })),
            // An integer of more than 63 bits.
            (HostOp::Unsigned, [Value::Int(bits)]) => Ok(Value::BigInt((*bits as u64).to_string())),
            (HostOp::ToString, [value]) => Ok(Value::Text(match value {
                Value::Float(x) => format!("{x:.6}"),
                other => other.to_string(),
            })),
            _ => unfit(op, args),
        }
    }
}

/// Runs operations on clocks, waiting and randomness.
fn run_time(op: HostOp, args: &[Value], shapes_only: bool) -> Answer<Value> {
    match (op, args) {
        (HostOp::Time, []) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            Ok(Value::Int(now.map_or(0, |now| now.as_secs() as i64)))
        }
        // `std::random_device`: the seeds of a hash table come from the system.
        (HostOp::Entropy, []) => Ok(Value::Int(RandomState::new().hash_one(Instant::now()) as i64)),
        // The time since 1970, by a clock that never goes back.
        (HostOp::Nanoseconds, []) => {
            static START: LazyLock<(SystemTime, Instant)> = LazyLock::new(|| (SystemTime::now(), Instant::now()));
            let since = START.0.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default() + START.1.elapsed();
            Ok(Value::Int(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)))
        }
        // `std::this_thread::sleep_for(..)`, in nanoseconds; there is no wait where only shapes are wanted.
        (HostOp::Sleep, [Value::Int(time)]) => {
            if !shapes_only {
                work::wait(Duration::from_nanos(u64::try_from(*time).unwrap_or(0)));
            }
            Ok(Value::None)
        }
        _ => unfit(op, args),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::array::{DeviceTag, HostTensor};
    use super::super::super::kept_between_calls::Notes;
    use super::*;
    use crate::ir::host_op::Operand;
    use crate::runtime::DType;

    /// The answer of an operation that is given such values.
    fn answer(op: HostOp, args: Vec<Value>) -> Answer<Value> {
        let mut state = CallState::new(Arc::new(Notes::default()), Arc::default(), Vec::new(), DeviceTag::CPU, false);
        state.run_op(op, args, None, Limits::default())
    }

    /// True if the answer is that the operation does not take such values.
    fn is_unfit(answer: &Answer<Value>, op: HostOp) -> bool {
        let begin = format!("the operation `{}` takes (", op.name());
        matches!(answer, Err((_, message)) if message.starts_with(&begin))
    }

    fn value_of(operand: Operand) -> Value {
        match operand {
            Operand::Any => Value::None,
            Operand::Bool => Value::Bool(false),
            Operand::Int | Operand::Rest => Value::Int(0),
            Operand::Float => Value::Float(0.5),
            Operand::Text => Value::Text(String::new()),
            Operand::List => Value::List(Vec::new()),
            Operand::Tensor => {
                let made = HostTensor::new(DType::UInt8, &[0], DeviceTag::CPU, true);
                Value::Tensor(made.expect("a tensor of no elements"))
            }
        }
    }

    /// Values that fit the row of an operation, without a rest.
    fn fitting(op: HostOp) -> Vec<Value> {
        op.operands().iter().filter(|operand| **operand != Operand::Rest).map(|operand| value_of(*operand)).collect()
    }

    #[test]
    fn each_operation_is_run_by_its_chapter_with_what_its_row_says() {
        for op in HostOp::ALL {
            let answer = answer(*op, fitting(*op));
            assert!(!is_unfit(&answer, *op), "{}: {answer:?}", op.name());
        }
    }

    #[test]
    fn an_operation_refuses_what_its_row_does_not_say() {
        for op in HostOp::ALL {
            for (i, operand) in op.operands().iter().enumerate() {
                if matches!(operand, Operand::Any | Operand::Rest) {
                    continue;
                }
                let mut args = fitting(*op);
                args[i] = Value::DType(DType::Float32);
                let other = answer(*op, args);
                assert!(is_unfit(&other, *op), "{} with another value at {i}: {other:?}", op.name());
                let fewer = answer(*op, fitting(*op)[..i].to_vec());
                assert!(is_unfit(&fewer, *op), "{} with {i} values: {fewer:?}", op.name());
            }
        }
    }

    #[test]
    fn an_undefined_tensor_is_said_to_be_one() {
        let answer = answer(HostOp::StreamOpen, vec![Value::None, Value::Bool(false)]);
        assert!(matches!(answer, Err((_, message)) if message == "an undefined Tensor is used"));
    }

    /// The names that texts of the library ask for: `__wb_host_op("name")`, and `__wb_host_op("set_" what)`, whose `what` is an argument
    /// of the macro that it stands in.
    fn asked() -> BTreeSet<String> {
        let mut asked = BTreeSet::new();
        for part in crate::library::all() {
            for found in part.text.split("__wb_host_op(\"").skip(1) {
                let (name, after) = found.split_once('"').expect("the name ends");
                if after.starts_with(')') {
                    asked.insert(name.to_owned());
                    continue;
                }
                assert!(name == "set_" && after.starts_with(" what)"), "a name is a literal, or a guard's");
                for guard in part.text.split("\n__WB_GUARD(").skip(1) {
                    let what = guard.split('"').nth(1).expect("a guard has a name");
                    asked.insert(format!("set_{what}"));
                }
            }
        }
        asked
    }

    #[test]
    fn the_library_asks_for_each_operation_and_for_no_other() {
        let known: BTreeSet<String> = HostOp::ALL.iter().map(|op| op.name().to_owned()).collect();
        let asked = asked();
        assert_eq!(asked.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "asked for, in no row");
        assert_eq!(known.difference(&asked).collect::<Vec<_>>(), Vec::<&String>::new(), "a row that nobody asks for");
    }
}
