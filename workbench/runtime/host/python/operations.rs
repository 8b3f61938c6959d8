//! The operations of Python's C interface.

use super::super::answer::Answer;
use super::super::export::{Export, Registration};
use super::super::misfits::unfit;
use super::super::value::Value;
use super::number::Integer;
use super::{Dict, FAILED, MAX_OBJECTS, NULL, Object, Python, Surroundings, TYPES, class_of, is_of};
use crate::back::Exception;
use crate::ir::HostOp;
use crate::ir::host_op::Chapter;

fn int(i: i64) -> Answer<Value> {
    Ok(Value::Int(i))
}

impl Python {
    /// Runs an operation.
    pub(in crate::runtime::host) fn run(
        &mut self,
        op: HostOp,
        args: &[Value],
        around: Surroundings<'_>,
    ) -> Answer<Value> {
        self.knows_shapes_only = around.shapes_only;
        match op.chapter() {
            Chapter::PythonValue => self.run_value(op, args),
            Chapter::PythonType => self.run_type(op, args),
            Chapter::PythonError => self.run_error(op, args),
            Chapter::PythonNumber => self.run_number(op, args),
            Chapter::PythonSequence => self.run_sequence(op, args),
            Chapter::PythonAttribute => self.run_attribute(op, args),
            Chapter::PythonDict => self.run_dict(op, args),
            _ => self.run_any(op, args, around),
        }
    }

    /// Operations that make objects of values and values of arguments.
    fn run_value(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::PyObject, [value]) => self.leaf(value.clone()),
            (HostOp::PyUnsigned, [Value::Int(bits)]) => match i64::try_from(*bits as u64) {
                Ok(i) => self.leaf(Value::Int(i)),
                Err(_) => self.leaf(Value::BigInt((*bits as u64).to_string())),
            },
            (HostOp::PyBytes, [Value::Tensor(tensor)]) => {
                let n = usize::try_from(tensor.numel()).unwrap_or(0);
                let mut bytes = vec![0; n];
                // SAFETY: the tensor holds bytes in memory of the call, and its length was checked when it was made.
                unsafe { std::ptr::copy_nonoverlapping(tensor.ptr().cast_const(), bytes.as_mut_ptr(), n) };
                self.leaf(Value::Bytes(bytes))
            }
            (HostOp::PyArgument, [value]) => self.import(value, true).map(Value::Int),
            // The value's type was looked at before; a value made for the call may be changed.
            (HostOp::PyExpect, [value, Value::Text(_), Value::Int(own)]) => {
                let handle = self.import(value, true)?;
                if *own != 0 {
                    let place = self.place(handle)?;
                    self.entries[place].foreign = false;
                }
                int(handle)
            }
            (HostOp::PyKeywords, [Value::Dict(pairs)]) if pairs.is_empty() => Ok(NULL),
            (HostOp::PyKeywords, [value]) => {
                let handle = self.import(value, true)?;
                // The dictionary itself is made for the call.
                let place = self.place(handle)?;
                self.entries[place].foreign = false;
                int(handle)
            }
            (HostOp::PyParse, [Value::Int(args), Value::Int(keywords), names, Value::Text(format), slots @ ..]) => {
                self.parse(*args, *keywords, names, format, slots)
            }
            (HostOp::PyUnpack, [Value::Int(args), name, Value::Int(low), Value::Int(high), slots @ ..]) => {
                self.unpack(*args, name, *low, *high, slots.len() / 2)
            }
            (HostOp::PyBuild, [Value::Text(format), args @ ..]) => self.build(format, args),
            _ => unfit(op, args),
        }
    }

    /// Operations on any object, on the function's result and on the module.
    fn run_any(&mut self, op: HostOp, args: &[Value], around: Surroundings<'_>) -> Answer<Value> {
        match (op, args) {
            (HostOp::PyReturn, [Value::Int(handle)]) => self.returned(*handle, around.function),
            (HostOp::PyInit, [Value::Int(handle)]) => match (self.pending.take(), handle) {
                (Some(error), _) => Err(error),
                (None, 0) => {
                    let message = "initialization of the module failed without raising an exception";
                    Err((Exception::System, message.to_owned()))
                }
                _ => Ok(Value::None),
            },
            (HostOp::PyCheck, []) => match self.pending.take() {
                Some(error) => Err(error),
                None => Ok(Value::None),
            },
            (HostOp::PyModule, []) => {
                if self.module == 0 {
                    self.module = self.add(Object::Module)?;
                }
                int(self.module)
            }
            (
                HostOp::PyDefine,
                [Value::Text(name), doc, Value::Int(flags), Value::Int(wrapper), Value::Int(function)],
            ) => {
                if *wrapper == 0 || *function == 0 {
                    let message = format!("method {name}: the calling convention of flags {flags:#x} is not supported");
                    return Err((Exception::System, message));
                }
                only_at_import("PyModule_AddFunctions", &around)?;
                let mut export = Export::constant(name, Value::None);
                export.registration = Registration::Python(*flags);
                (export.arity, export.wrapper, export.function) = (2, *wrapper, *function);
                if let Value::Text(doc) = doc {
                    export.doc.clone_from(doc);
                }
                around.exports.push(export);
                Ok(Value::None)
            }
            (HostOp::PyAttr, [Value::Text(name), Value::Int(handle)]) => {
                if *handle == 0 {
                    if self.pending.is_none() {
                        let message =
                            "PyModule_AddObjectRef() must be called with an exception raised if value is NULL";
                        self.set(Exception::System, message);
                    }
                    return Ok(FAILED);
                }
                only_at_import("PyModule_AddObject", &around)?;
                let value = self.export(*handle)?;
                around.exports.push(Export::constant(name, value));
                int(0)
            }
            (HostOp::PyTruth, [Value::Int(handle)]) => self.truth(*handle).map(|t| Value::Int(t.map_or(-1, i64::from))),
            (HostOp::PyRepr, [Value::Int(handle)]) => {
                let text = self.repr(*handle)?;
                self.leaf(Value::Text(text))
            }
            (HostOp::PyStr, [Value::Int(handle)]) => {
                let text = self.str(*handle)?;
                self.leaf(Value::Text(text))
            }
            (HostOp::PyCompare, [Value::Int(a), Value::Int(b), Value::Int(operation)]) => {
                self.compare(*a, *b, *operation)
            }
            _ => unfit(op, args),
        }
    }

    /// Operations on types.
    fn run_type(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        let place = |kind: &i64| usize::try_from(*kind).ok().filter(|k| *k < TYPES.len());
        match (op, args) {
            (HostOp::PyType, [Value::Int(handle)]) => self.type_of(*handle).map(|kind| Value::Int(kind as i64)),
            (HostOp::PyTypeName, [Value::Int(kind)]) => {
                Ok(Value::Text(place(kind).map_or("object", |k| TYPES[k]).to_owned()))
            }
            (HostOp::PyTypeKnown, [Value::Int(kind)]) => int(place(kind).map_or(0, |k| self.types[k])),
            (HostOp::PyTypeKeep, [Value::Int(kind), Value::Int(address)]) => {
                if let Some(k) = place(kind) {
                    self.types[k] = *address;
                }
                Ok(Value::None)
            }
            (HostOp::PyClassName, [Value::Int(handle)]) => self.type_name(*handle).map(Value::Text),
            (HostOp::PyIs, [Value::Int(0), Value::Int(_)]) => int(0),
            (HostOp::PyIs, [Value::Int(handle), Value::Int(kind)]) => {
                self.type_of(*handle).map(|of| Value::Int(is_of(of, *kind).into()))
            }
            (HostOp::PyIsInstance, [Value::Int(handle), Value::Int(class)]) => self.is_instance(*handle, *class),
            _ => unfit(op, args),
        }
    }

    fn is_instance(&mut self, handle: i64, class: i64) -> Answer<Value> {
        if let Some((is, _)) = self.is_at(handle, class)? {
            return int(is.into());
        }
        match self.get(class) {
            Ok(Object::Tuple(classes)) => {
                for class in classes {
                    if let Some((true, _)) = self.is_at(handle, *class)? {
                        return int(1);
                    }
                }
                int(0)
            }
            Ok(Object::Exception(_)) => int(0),
            _ => self.failed(Exception::Type, "isinstance() arg 2 must be a type, a tuple of types, or a union"),
        }
    }

    /// Operations on the error.
    fn run_error(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::PySetError, [Value::Int(class), Value::Text(message)]) => {
                self.exception(*class).map(|exception| {
                    self.set(exception, message.clone());
                    Value::None
                })
            }
            (HostOp::PySetObject, [Value::Int(class), Value::Int(value)]) => self.set_object(*class, *value),
            (HostOp::PyFormatError, [Value::Int(class), Value::Text(format), args @ ..]) => {
                self.set_formatted(*class, format, args)
            }
            (HostOp::PyOccurred, []) => int(self.pending.as_ref().map_or(0, |(e, _)| class_of(*e))),
            (HostOp::PyClear, []) => {
                self.pending = None;
                Ok(Value::None)
            }
            (HostOp::PyMatches, [Value::Int(class)]) => match self.pending.as_ref().map(|(e, _)| *e) {
                Some(exception) => self.matches(exception, *class).map(|m| Value::Int(m.into())),
                None => int(0),
            },
            (HostOp::PyGivenMatches, [Value::Int(0), Value::Int(_)]) => int(0),
            (HostOp::PyGivenMatches, [Value::Int(given), Value::Int(class)]) => self
                .exception(*given)
                .and_then(|given| self.matches(given, *class))
                .map(|matches| Value::Int(matches.into())),
            (HostOp::PyNoMemory, []) => self.null(Exception::Memory, ""),
            (HostOp::PyBadArgument, []) => {
                self.set(Exception::Type, "bad argument type for built-in operation");
                int(0)
            }
            (HostOp::PyBadCall, []) => {
                self.bad_call();
                Ok(Value::None)
            }
            _ => unfit(op, args),
        }
    }

    fn set_object(&mut self, class: i64, value: i64) -> Answer<Value> {
        let exception = self.exception(class)?;
        let message = if value == 0 { String::new() } else { self.str(value)? };
        self.set(exception, message);
        Ok(Value::None)
    }

    fn set_formatted(&mut self, class: i64, format: &str, args: &[Value]) -> Answer<Value> {
        let exception = self.exception(class)?;
        let message = self.formatted(format, args)?;
        self.null(exception, message)
    }

    /// Operations on numbers and texts.
    fn run_number(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::PyAsInt, [Value::Int(handle), Value::Text(what)]) => {
                self.as_int(*handle, what).map(|i| Value::Int(i.unwrap_or(-1)))
            }
            (HostOp::PyOverflow, [Value::Int(handle)]) => self.integer(*handle).map(|integer| match integer {
                Some(Integer::Big(digits)) => Value::Int(if digits.starts_with('-') { -1 } else { 1 }),
                _ => Value::Int(0),
            }),
            (HostOp::PyAsDouble, [Value::Int(handle)]) => {
                self.as_double(*handle).map(|x| Value::Float(x.unwrap_or(-1.0)))
            }
            (HostOp::PyLongOfDouble, [Value::Float(x)]) => self.int_of_float(*x),
            (HostOp::PyToInt, [Value::Int(handle)]) => self.made_integer(*handle),
            (HostOp::PyToIndex, [Value::Int(handle)]) => match self.integer(*handle) {
                Ok(Some(_)) => int(*handle),
                Ok(None) => self.not_an_integer(*handle).map(|()| NULL),
                Err(error) => Err(error),
            },
            (HostOp::PyToFloat, [Value::Int(handle)]) => self.made_number(*handle),
            (HostOp::PyArithmetic, [Value::Text(sign), Value::Int(a), Value::Int(b)]) => self.arithmetic(sign, *a, *b),
            (HostOp::PyFromFormat, [Value::Text(format), args @ ..]) => match self.formatted(format, args) {
                Ok(text) => self.leaf(Value::Text(text)),
                Err(error) => Err(error),
            },
            (HostOp::PyAsText, [Value::Int(handle)]) => match self.get(*handle) {
                Ok(Object::Leaf(value @ Value::Text(_))) => Ok(value.clone()),
                Ok(_) => {
                    self.set(Exception::Type, "bad argument type for built-in operation");
                    Ok(Value::None)
                }
                Err(error) => Err(error),
            },
            (HostOp::PyToBytes, [Value::Int(handle)]) => match self.get(*handle) {
                Ok(Object::Leaf(Value::Text(text))) => {
                    let bytes = text.clone().into_bytes();
                    self.leaf(Value::Bytes(bytes))
                }
                Ok(_) => self.null(Exception::Type, "bad argument type for built-in operation"),
                Err(error) => Err(error),
            },
            (HostOp::PyByte, [Value::Int(handle), Value::Int(i)]) => self.get(*handle).map(|object| match object {
                Object::Leaf(Value::Bytes(bytes)) => {
                    let byte = usize::try_from(*i).ok().and_then(|i| bytes.get(i));
                    Value::Int(byte.map_or(0, |b| (*b).into()))
                }
                _ => Value::Int(0),
            }),
            (HostOp::PyCompareText, [Value::Int(handle), Value::Text(other)]) => {
                self.get(*handle).map(|object| match object {
                    Object::Leaf(Value::Text(text)) => Value::Int(text.cmp(other) as i64),
                    _ => FAILED,
                })
            }
            _ => unfit(op, args),
        }
    }

    fn made_integer(&mut self, handle: i64) -> Answer<Value> {
        match self.get(handle)? {
            Object::Leaf(Value::Float(x)) => {
                let x = *x;
                self.int_of_float(x)
            }
            Object::Leaf(Value::Bool(b)) => {
                let i = i64::from(*b);
                self.leaf(Value::Int(i))
            }
            Object::Leaf(Value::Int(_) | Value::BigInt(_)) => int(handle),
            _ => {
                let came = self.type_name(handle)?;
                self.null(Exception::Type, format!("int() of a '{came}' object is not supported"))
            }
        }
    }

    fn made_number(&mut self, handle: i64) -> Answer<Value> {
        if let Object::Leaf(Value::Text(text)) = self.get(handle)? {
            return match text.trim().parse() {
                Ok(x) => self.leaf(Value::Float(x)),
                Err(_) => {
                    let shown = self.repr(handle)?;
                    self.null(Exception::Value, format!("could not convert string to float: {shown}"))
                }
            };
        }
        match self.as_double(handle)? {
            Some(x) => self.leaf(Value::Float(x)),
            None => Ok(NULL),
        }
    }

    /// Operations on objects with elements.
    fn run_sequence(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::PySize, [Value::Int(handle), Value::Int(kind)]) => self.size(*handle, *kind),
            (HostOp::PyNew, [Value::Int(kind), Value::Int(size)]) => self.new_container(*kind, *size),
            (HostOp::PyGet, [Value::Int(handle), Value::Int(kind), Value::Int(i)]) => self.element(*handle, *kind, *i),
            (HostOp::PySet, [Value::Int(handle), Value::Int(kind), Value::Int(i), Value::Int(value)]) => {
                self.set_element(*handle, *kind, *i, *value)
            }
            (HostOp::PyAppend, [Value::Int(handle), Value::Int(value)]) => self.insert(*handle, i64::MAX, *value),
            (HostOp::PyInsert, [Value::Int(handle), Value::Int(i), Value::Int(value)]) => {
                self.insert(*handle, *i, *value)
            }
            (HostOp::PyReverse, [Value::Int(handle)]) => match self.list(*handle) {
                Ok(Some(list)) => {
                    list.reverse();
                    int(0)
                }
                Ok(None) => self.bad_call_number(),
                Err(error) => Err(error),
            },
            (HostOp::PySort, [Value::Int(handle)]) => self.sort(*handle),
            (HostOp::PySlice, [Value::Int(handle), Value::Int(kind), Value::Int(low), Value::Int(high)]) => {
                self.slice(*handle, *kind, *low, *high)
            }
            (HostOp::PyToSequence, [Value::Int(handle), Value::Int(kind)]) => self.made_sequence(*handle, *kind),
            (HostOp::PyFast, [Value::Int(handle), Value::Text(message)]) => self.fast(*handle, message),
            (HostOp::PyContains, [Value::Int(handle), Value::Int(value)]) => self.contains(*handle, *value),
            (HostOp::PyItem, [Value::Int(handle), Value::Int(key)]) => self.item(*handle, *key),
            (HostOp::PyIter, [Value::Int(handle)]) => self.iter(*handle),
            (HostOp::PyNext, [Value::Int(handle)]) => self.next(*handle),
            _ => unfit(op, args),
        }
    }

    fn new_container(&mut self, kind: i64, size: i64) -> Answer<Value> {
        let n = match usize::try_from(size) {
            Ok(n) if n <= MAX_OBJECTS => n,
            Ok(_) => return self.null(Exception::Memory, ""),
            Err(_) => {
                self.bad_call();
                return Ok(NULL);
            }
        };
        let object = match kind {
            6 => Object::List(vec![0; n]),
            7 => Object::Tuple(vec![0; n]),
            _ => Object::Dict(Dict::default()),
        };
        self.add(object).map(Value::Int)
    }

    fn slice(&mut self, handle: i64, kind: i64, low: i64, high: i64) -> Answer<Value> {
        let items = match (self.get(handle)?, kind) {
            (Object::List(items), 6) | (Object::Tuple(items), 7) => items,
            _ => {
                self.bad_call();
                return Ok(NULL);
            }
        };
        let clamp = |i: i64| usize::try_from(i).unwrap_or(0).min(items.len());
        let part = items.get(clamp(low)..clamp(high)).unwrap_or_default().to_vec();
        self.add(if kind == 6 { Object::List(part) } else { Object::Tuple(part) }).map(Value::Int)
    }

    pub(super) fn made_sequence(&mut self, handle: i64, kind: i64) -> Answer<Value> {
        if kind == 7 && matches!(self.get(handle)?, Object::Tuple(_)) {
            return int(handle);
        }
        match self.items(handle)? {
            Some(items) => self.add(if kind == 6 { Object::List(items) } else { Object::Tuple(items) }).map(Value::Int),
            None => self.not_iterable(handle),
        }
    }

    fn fast(&mut self, handle: i64, message: &str) -> Answer<Value> {
        if matches!(self.get(handle)?, Object::List(_) | Object::Tuple(_)) {
            return int(handle);
        }
        match self.items(handle)? {
            Some(items) => self.add(Object::List(items)).map(Value::Int),
            None => self.null(Exception::Type, message),
        }
    }

    pub(super) fn contains(&mut self, handle: i64, value: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)? {
            let value = self.export(value)?;
            return match foreign.contains(&value) {
                Ok(found) => int(found.into()),
                Err((exception, message)) => self.failed(exception, message),
            };
        }
        if matches!(self.get(handle)?, Object::Dict(_)) {
            return int(self.find(handle, value)?.map_or(-1, |found| found.is_some().into()));
        }
        if let (Object::Leaf(Value::Text(text)), Object::Leaf(Value::Text(part))) =
            (self.get(handle)?, self.get(value)?)
        {
            return int(text.contains(part.as_str()).into());
        }
        let Some(items) = self.items(handle)? else {
            let came = self.type_name(handle)?;
            return self.failed(Exception::Type, format!("argument of type '{came}' is not iterable"));
        };
        for item in items {
            if self.equal(item, value, 0)? {
                return int(1);
            }
        }
        int(0)
    }

    pub(super) fn item(&mut self, handle: i64, key: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)? {
            let key = self.export(key)?;
            return self.received(foreign.item(&key));
        }
        if matches!(self.get(handle)?, Object::Dict(_)) {
            return match self.find(handle, key)? {
                Some(Some(value)) => int(value),
                Some(None) => {
                    let shown = self.repr(key)?;
                    self.null(Exception::Key, shown)
                }
                None => Ok(NULL),
            };
        }
        match self.as_int(key, "ssize_t")? {
            Some(i) => self.element(handle, -1, i),
            None => Ok(NULL),
        }
    }

    pub(super) fn iter(&mut self, handle: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)? {
            return self.received(foreign.iter());
        }
        let of = match self.get(handle)? {
            Object::Iterator { .. } => return int(handle),
            Object::List(_) | Object::Tuple(_) => handle,
            _ => match self.items(handle)? {
                Some(items) => self.add(Object::Tuple(items))?,
                None => return self.not_iterable(handle),
            },
        };
        self.add(Object::Iterator { of, at: 0 }).map(Value::Int)
    }

    fn next(&mut self, handle: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)? {
            return match foreign.next() {
                Ok(Some(value)) => self.import(&value, true).map(Value::Int),
                Ok(None) => int(0),
                Err((exception, message)) => self.null(exception, message),
            };
        }
        let Object::Iterator { of, at } = *self.get(handle)? else {
            let came = self.type_name(handle)?;
            return self.null(Exception::Type, format!("'{came}' object is not an iterator"));
        };
        let next = match self.get(of)? {
            Object::List(items) | Object::Tuple(items) => items.get(at).copied(),
            _ => None,
        };
        if next.is_some() {
            let place = self.place(handle)?;
            self.entries[place].object = Object::Iterator { of, at: at + 1 };
        }
        int(next.unwrap_or(0))
    }

    /// Operations on dictionaries.
    fn run_dict(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::PyDictSet, [Value::Int(dict), Value::Int(key), Value::Int(value)]) => {
                self.dict_set(*dict, *key, *value)
            }
            (HostOp::PyDictGet, [Value::Int(dict), Value::Int(key)]) => self.dict_get(*dict, *key),
            (HostOp::PyDictContains, [Value::Int(dict), Value::Int(key)]) => match self.get(*dict) {
                Ok(Object::Dict(_)) => self.contains(*dict, *key),
                Ok(_) => self.bad_call_number(),
                Err(error) => Err(error),
            },
            (HostOp::PyDictDelete, [Value::Int(dict), Value::Int(key)]) => self.dict_delete(*dict, *key),
            (HostOp::PyDictEntries, [Value::Int(dict), Value::Int(what)]) => self.dict_entries(*dict, *what),
            (HostOp::PyDictNext, [Value::Int(dict), Value::Int(from)]) => self.get(*dict).map(|object| {
                let Object::Dict(dict) = object else { return NULL };
                let from = usize::try_from(*from).unwrap_or(usize::MAX);
                let next = dict.pairs.iter().enumerate().skip(from).find_map(|(i, pair)| pair.map(|p| (i, p)));
                next.map_or(NULL, |(i, (key, value))| {
                    Value::List(vec![Value::Int(i as i64 + 1), Value::Int(key), Value::Int(value)])
                })
            }),
            _ => unfit(op, args),
        }
    }

    fn dict_get(&mut self, dict: i64, key: i64) -> Answer<Value> {
        if !matches!(self.get(dict)?, Object::Dict(_)) {
            self.bad_call();
            return Ok(NULL);
        }
        int(self.find(dict, key)?.flatten().unwrap_or(0))
    }

    pub(super) fn dict_entries(&mut self, dict: i64, what: i64) -> Answer<Value> {
        let Object::Dict(found) = self.get(dict)? else {
            self.bad_call();
            return Ok(NULL);
        };
        let pairs: Vec<(i64, i64)> = found.live().collect();
        let list = match what {
            0 => pairs.into_iter().map(|(key, _)| key).collect(),
            1 => pairs.into_iter().map(|(_, value)| value).collect(),
            2 => {
                let mut all = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    all.push(self.add(Object::Tuple(vec![key, value]))?);
                }
                all
            }
            _ => {
                let copy = self.add(Object::Dict(Dict::default()))?;
                for (key, value) in pairs {
                    self.dict_set(copy, key, value)?;
                }
                return int(copy);
            }
        };
        self.add(Object::List(list)).map(Value::Int)
    }
}

fn only_at_import(what: &str, around: &Surroundings<'_>) -> Answer<()> {
    if around.registers {
        return Ok(());
    }
    Err((Exception::NotImplemented, format!("{what} is supported while a module is imported only")))
}
