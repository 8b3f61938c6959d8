//! Attributes of objects and calls of their methods, for `object.attr("name")` of pybind11.

use super::super::answer::Answer;
use super::super::array::DeviceTag;
use super::super::call::{VALUES, needs_values};
use super::super::foreign::{self, Foreign};
use super::super::misfits::unfit;
use super::super::ops;
use super::super::value::Value;
use super::{FAILED, NONE, NULL, Object, Python, truth};
use crate::back::Exception;
use crate::ir::HostOp;

/// Arguments without names, and names with arguments.
type Given = (Vec<Value>, Vec<(Value, Value)>);

impl Python {
    /// Operations on attributes.
    pub(super) fn run_attribute(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::PyAttribute, [Value::Int(handle), Value::Text(name)]) => self.attribute(*handle, name),
            (HostOp::PySetAttribute, [Value::Int(handle), Value::Text(name), Value::Int(value)]) => {
                self.set_attribute(*handle, name, *value)
            }
            (HostOp::PyCall, [Value::Int(handle), Value::Int(args), Value::Int(keywords)]) => {
                self.call_object(*handle, *args, *keywords)
            }
            (HostOp::PyCallMethod, [Value::Int(handle), Value::Text(name), Value::Int(args), Value::Int(keywords)]) => {
                self.call_method(*handle, name, *args, *keywords)
            }
            (HostOp::PySetItem, [Value::Int(handle), Value::Int(key), Value::Int(value)]) => {
                self.set_item(*handle, *key, *value)
            }
            (HostOp::PyImport, [Value::Text(name)]) => match foreign::import(name) {
                Ok(module) => self.import(&module, true).map(Value::Int),
                Err(error) => Err(error),
            },
            (HostOp::PyIsCallable, [Value::Int(handle)]) => {
                self.foreign(*handle).map(|foreign| Value::Int(foreign.is_some_and(|f| f.is_callable()).into()))
            }
            _ => unfit(op, args),
        }
    }

    /// The notebook's object that a handle stands for, if it is one.
    pub(super) fn foreign(&self, handle: i64) -> Answer<Option<Foreign>> {
        Ok(match self.get(handle)? {
            Object::Leaf(Value::Foreign(foreign)) => Some(foreign.clone()),
            _ => None,
        })
    }

    /// The object that the notebook's code gave, or the error that it raised.
    pub(super) fn received(&mut self, answer: Answer<Value>) -> Answer<Value> {
        match answer {
            Ok(value) => self.import(&value, true).map(Value::Int),
            Err((exception, message)) => self.null(exception, message),
        }
    }

    fn attribute(&mut self, handle: i64, name: &str) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)? {
            return self.received(foreign.attribute(name));
        }
        if let Object::Leaf(Value::Tensor(tensor)) = self.get(handle)? {
            let found = match name {
                "shape" => Some(Value::Tuple(tensor.shape().iter().map(|n| Value::Int(*n)).collect())),
                "dtype" => Some(Value::DType(tensor.dtype())),
                "device" => Some(Value::Device(tensor.device())),
                "ndim" => Some(Value::Int(tensor.shape().len() as i64)),
                "is_cuda" => Some(Value::Bool(tensor.device().is_cuda)),
                "T" => {
                    let tensor = Value::Tensor(tensor.clone());
                    return self.operation("t", vec![tensor]);
                }
                _ => None,
            };
            if let Some(value) = found {
                return self.import(&value, false).map(Value::Int);
            }
        }
        if self.has_method(handle, name)? {
            return self.add(Object::Method { of: handle, name: name.to_owned() }).map(Value::Int);
        }
        self.no_attribute(handle, name)
    }

    /// True if an object that is none of the notebook's has a method that [`call_method`](Self::call_method) knows.
    fn has_method(&self, handle: i64, name: &str) -> Answer<bool> {
        let any = ["__str__", "__repr__"];
        let sized = ["__len__", "__getitem__", "__contains__"];
        let own: &[&str] = match self.get(handle)? {
            Object::Dict(_) => {
                &["keys", "values", "items", "copy", "get", "setdefault", "pop", "update", "__setitem__", "__iter__"]
            }
            Object::List(_) => &[
                "append",
                "insert",
                "extend",
                "pop",
                "reverse",
                "sort",
                "copy",
                "index",
                "count",
                "__setitem__",
                "__iter__",
            ],
            Object::Tuple(_) => &["index", "count", "__iter__"],
            Object::Leaf(Value::Text(_)) => {
                &["upper", "lower", "strip", "startswith", "endswith", "find", "replace", "split", "join", "__iter__"]
            }
            Object::Leaf(Value::Tensor(_)) => {
                return Ok(
                    ["size", "dim", "numel", "detach", "cpu", "cuda", "data_ptr", "element_size"].contains(&name)
                );
            }
            _ => return Ok(any.contains(&name)),
        };
        Ok(any.contains(&name) || sized.contains(&name) || own.contains(&name))
    }

    fn no_attribute(&mut self, handle: i64, name: &str) -> Answer<Value> {
        let of = self.type_name(handle)?;
        self.null(Exception::Attribute, format!("'{of}' object has no attribute '{name}'"))
    }

    fn set_attribute(&mut self, handle: i64, name: &str, value: i64) -> Answer<Value> {
        let Some(foreign) = self.foreign(handle)? else {
            self.no_attribute(handle, name)?;
            return Ok(FAILED);
        };
        let value = self.export(value)?;
        self.done(foreign.set_attribute(name, &value))
    }

    /// 0, or the error that the notebook's code raised.
    fn done(&mut self, answer: Answer<()>) -> Answer<Value> {
        match answer {
            Ok(()) => Ok(Value::Int(0)),
            Err((exception, message)) => self.failed(exception, message),
        }
    }

    fn call_object(&mut self, handle: i64, args: i64, keywords: i64) -> Answer<Value> {
        if let Object::Method { of, name } = self.get(handle)? {
            let (of, name) = (*of, name.clone());
            return self.call_method(of, &name, args, keywords);
        }
        let Some(foreign) = self.foreign(handle)? else {
            let of = self.type_name(handle)?;
            return self.null(Exception::Type, format!("'{of}' object is not callable"));
        };
        let (args, keywords) = self.given(args, keywords)?;
        if self.knows_shapes_only && args.iter().chain(keywords.iter().map(|(_, value)| value)).any(Value::has_tensor) {
            return self.no_values("a function of Python's");
        }
        self.received(foreign.call(&args, &keywords))
    }

    /// Arguments as values, out of a tuple and a dictionary.
    fn given(&self, args: i64, keywords: i64) -> Answer<Given> {
        let args = match self.export(args)? {
            Value::Tuple(args) => args,
            _ => Vec::new(),
        };
        let keywords = match keywords {
            0 => Vec::new(),
            handle => match self.export(handle)? {
                Value::Dict(pairs) => pairs,
                _ => Vec::new(),
            },
        };
        Ok((args, keywords))
    }

    fn call_method(&mut self, handle: i64, name: &str, args: i64, keywords: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)? {
            let method = match foreign.attribute(name) {
                Ok(method) => method,
                Err((exception, message)) => return self.null(exception, message),
            };
            let method = self.import(&method, true)?;
            return self.call_object(method, args, keywords);
        }
        let given = match self.get(args)? {
            Object::Tuple(items) => items.clone(),
            _ => Vec::new(),
        };
        if let Object::Leaf(Value::Tensor(_)) = self.get(handle)? {
            let (args, keywords) = self.given(args, keywords)?;
            return self.tensor_method(handle, name, args, &keywords);
        }
        if keywords != 0 && !matches!(self.get(keywords)?, Object::Dict(dict) if dict.places.is_empty()) {
            let of = self.type_name(handle)?;
            return self.null(Exception::Type, format!("{of}.{name}() takes no keyword arguments"));
        }
        let found = match self.get(handle)? {
            _ if !self.has_method(handle, name)? => None,
            Object::Dict(_) => self.dict_method(handle, name, &given)?,
            Object::List(_) | Object::Tuple(_) => self.sequence_method(handle, name, &given)?,
            Object::Leaf(Value::Text(text)) => {
                let text = text.clone();
                self.text_method(&text, name, &given)?
            }
            _ => None,
        };
        let found = match (found, name, given.as_slice()) {
            (Some(answer), ..) => Some(answer),
            (None, "__iter__", []) => Some(self.iter(handle)?),
            (None, "__getitem__", [key]) => Some(self.item(handle, *key)?),
            (None, "__setitem__", [key, value]) => {
                let answer = self.set_item(handle, *key, *value)?;
                Some(nothing(answer))
            }
            (None, "__len__", []) => {
                let size = self.size(handle, -1)?;
                Some(self.number_or_null(size)?)
            }
            (None, "__contains__", [value]) => {
                let found = self.contains(handle, *value)?;
                Some(truth_or_null(found))
            }
            (None, "__str__", []) => {
                let text = self.str(handle)?;
                Some(self.leaf(Value::Text(text))?)
            }
            (None, "__repr__", []) => {
                let text = self.repr(handle)?;
                Some(self.leaf(Value::Text(text))?)
            }
            _ => None,
        };
        match found {
            Some(answer) => Ok(answer),
            None => {
                let of = self.type_name(handle)?;
                let many = given.len();
                let message = format!("'{of}' object has no method '{name}' that takes {many} arguments here");
                self.null(Exception::Attribute, message)
            }
        }
    }

    fn number_or_null(&mut self, number: Value) -> Answer<Value> {
        match number {
            Value::Int(n) if n >= 0 => self.leaf(Value::Int(n)),
            _ => Ok(NULL),
        }
    }

    fn dict_method(&mut self, dict: i64, name: &str, args: &[i64]) -> Answer<Option<Value>> {
        Ok(Some(match (name, args) {
            ("keys", []) => self.dict_entries(dict, 0)?,
            ("values", []) => self.dict_entries(dict, 1)?,
            ("items", []) => self.dict_entries(dict, 2)?,
            ("copy", []) => self.dict_entries(dict, 3)?,
            ("get", [key] | [key, _]) => match self.find(dict, *key)? {
                Some(Some(value)) => Value::Int(value),
                Some(None) => Value::Int(args.get(1).copied().unwrap_or(NONE)),
                None => NULL,
            },
            ("setdefault", [key] | [key, _]) => match self.find(dict, *key)? {
                Some(Some(value)) => Value::Int(value),
                Some(None) => {
                    let value = args.get(1).copied().unwrap_or(NONE);
                    self.dict_set(dict, *key, value)?;
                    Value::Int(value)
                }
                None => NULL,
            },
            ("pop", [key] | [key, _]) => match (self.find(dict, *key)?, args.get(1)) {
                (Some(Some(value)), _) => {
                    self.dict_delete(dict, *key)?;
                    Value::Int(value)
                }
                (Some(None), Some(other)) => Value::Int(*other),
                (Some(None), None) => {
                    let shown = self.repr(*key)?;
                    self.null(Exception::Key, shown)?
                }
                (None, _) => NULL,
            },
            ("update", [other]) => {
                let Object::Dict(found) = self.get(*other)? else {
                    return self.null(Exception::Type, "a dict is updated with something that is none").map(Some);
                };
                let pairs: Vec<(i64, i64)> = found.live().collect();
                for (key, value) in pairs {
                    self.dict_set(dict, key, value)?;
                }
                Value::Int(NONE)
            }
            _ => return Ok(None),
        }))
    }

    fn sequence_method(&mut self, list: i64, name: &str, args: &[i64]) -> Answer<Option<Value>> {
        Ok(Some(match (name, args) {
            ("append", [value]) => nothing(self.insert(list, i64::MAX, *value)?),
            ("insert", [at, value]) => match self.as_int(*at, "ssize_t")? {
                Some(at) => nothing(self.insert(list, at, *value)?),
                None => NULL,
            },
            ("extend", [other]) => match self.items(*other)? {
                Some(items) => {
                    for item in items {
                        self.insert(list, i64::MAX, item)?;
                    }
                    Value::Int(NONE)
                }
                None => self.not_iterable(*other)?,
            },
            ("pop", [] | [_]) => {
                let at = match args.first() {
                    Some(at) => self.as_int(*at, "ssize_t")?,
                    None => Some(-1),
                };
                let Some(at) = at else { return Ok(Some(NULL)) };
                let popped = self.list(list)?.map(|list| {
                    let at = if at < 0 { at + list.len() as i64 } else { at };
                    usize::try_from(at).ok().filter(|at| *at < list.len()).map(|at| list.remove(at))
                });
                match popped {
                    Some(Some(value)) => Value::Int(value),
                    Some(None) => self.null(Exception::Index, "pop index out of range")?,
                    None => return Ok(None),
                }
            }
            ("reverse", []) => match self.list(list)? {
                Some(list) => {
                    list.reverse();
                    Value::Int(NONE)
                }
                None => return Ok(None),
            },
            ("sort", []) => nothing(self.sort(list)?),
            ("copy", []) => self.made_sequence(list, 6)?,
            ("index" | "count", [wanted]) => {
                let items = self.items(list)?.unwrap_or_default();
                let (mut first, mut count) = (None, 0);
                for (i, item) in items.into_iter().enumerate() {
                    if self.equal(item, *wanted, 0)? {
                        first.get_or_insert(i);
                        count += 1;
                    }
                }
                match (name, first) {
                    ("count", _) => self.leaf(Value::Int(count))?,
                    (_, Some(i)) => self.leaf(Value::Int(i as i64))?,
                    (_, None) => {
                        let shown = self.repr(*wanted)?;
                        self.null(Exception::Value, format!("{shown} is not in list"))?
                    }
                }
            }
            _ => return Ok(None),
        }))
    }

    fn text_method(&mut self, text: &str, name: &str, args: &[i64]) -> Answer<Option<Value>> {
        let mut texts = Vec::with_capacity(args.len());
        for arg in args {
            match self.get(*arg)? {
                Object::Leaf(Value::Text(text)) => texts.push(text.clone()),
                _ if name == "join" => {}
                _ => return Ok(None),
            }
        }
        let value = match (name, texts.iter().map(String::as_str).collect::<Vec<_>>().as_slice()) {
            ("upper", []) => Value::Text(text.to_uppercase()),
            ("lower", []) => Value::Text(text.to_lowercase()),
            ("strip", []) => Value::Text(text.trim().to_owned()),
            ("startswith", [other]) => Value::Bool(text.starts_with(other)),
            ("endswith", [other]) => Value::Bool(text.ends_with(other)),
            ("find", [other]) => Value::Int(text.find(other).map_or(-1, |at| text[..at].chars().count() as i64)),
            ("replace", [from, to]) => Value::Text(text.replace(from, to)),
            ("split", []) => Value::List(text.split_whitespace().map(|part| Value::Text(part.to_owned())).collect()),
            ("split", [by]) if !by.is_empty() => {
                Value::List(text.split(by).map(|part| Value::Text(part.to_owned())).collect())
            }
            ("join", []) => {
                let [parts] = args else { return Ok(None) };
                let mut made = String::new();
                for (i, part) in self.items(*parts)?.unwrap_or_default().into_iter().enumerate() {
                    let Object::Leaf(Value::Text(part)) = self.get(part)? else {
                        let message = format!("sequence item {i}: expected str instance");
                        return self.null(Exception::Type, message).map(Some);
                    };
                    made.push_str(if i > 0 { text } else { "" });
                    made.push_str(part);
                }
                Value::Text(made)
            }
            _ => return Ok(None),
        };
        self.import(&value, false).map(|handle| Some(Value::Int(handle)))
    }

    /// Calls a method of a tensor: the operation of its name, except those that tell properties of the tensor.
    fn tensor_method(
        &mut self,
        handle: i64,
        name: &str,
        args: Vec<Value>,
        keywords: &[(Value, Value)],
    ) -> Answer<Value> {
        let Object::Leaf(Value::Tensor(tensor)) = self.get(handle)? else { return Ok(NULL) };
        let value = match (name, args.as_slice()) {
            _ if self.knows_shapes_only && VALUES.contains(&name.trim_end_matches('_')) => return self.no_values(name),
            _ if !keywords.is_empty() => {
                let message = format!("Tensor.{name}() of an object takes no arguments with names in host code");
                return self.null(Exception::Type, message);
            }
            ("size", []) => Value::Tuple(tensor.shape().iter().map(|n| Value::Int(*n)).collect()),
            ("size", [Value::Int(i)]) => {
                let rank = tensor.shape().len() as i64;
                let at = if *i < 0 { i + rank } else { *i };
                match usize::try_from(at).ok().and_then(|at| tensor.shape().get(at)) {
                    Some(n) => Value::Int(*n),
                    None => {
                        let message = format!("Dimension out of range (got {i} of {rank})");
                        return self.null(Exception::Index, message);
                    }
                }
            }
            ("dim" | "ndimension", []) => Value::Int(tensor.shape().len() as i64),
            ("numel" | "nelement", []) => Value::Int(tensor.numel()),
            ("element_size", []) => Value::Int(tensor.dtype().size() as i64),
            ("data_ptr", []) => Value::Int(tensor.ptr() as i64),
            ("detach" | "cpu" | "cuda", []) => Value::Tensor(tensor.clone()),
            _ => {
                let all = std::iter::once(Value::Tensor(tensor.clone())).chain(args).collect();
                return self.operation(name, all);
            }
        };
        self.import(&value, false).map(Value::Int)
    }

    /// Ends a call that only wants shapes, where values would be looked at.
    fn no_values(&mut self, what: &str) -> Answer<Value> {
        self.ends_call = true;
        Err((Exception::Runtime, needs_values(what)))
    }

    fn operation(&mut self, name: &str, args: Vec<Value>) -> Answer<Value> {
        match ops::run(name, args, DeviceTag::CPU) {
            Ok(value) => self.import(&value, false).map(Value::Int),
            Err((exception, message)) => self.null(exception, message),
        }
    }

    /// `object[key] = value`
    fn set_item(&mut self, handle: i64, key: i64, value: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)? {
            let (key, value) = (self.export(key)?, self.export(value)?);
            return self.done(foreign.set_item(&key, &value));
        }
        match self.get(handle)? {
            Object::Dict(_) => self.dict_set(handle, key, value),
            Object::List(_) => match self.as_int(key, "ssize_t")? {
                Some(i) => self.set_element(handle, -1, i, value),
                None => Ok(FAILED),
            },
            // Only the code that made a tuple may set its elements.
            Object::Tuple(_) => match self.as_int(key, "ssize_t")? {
                Some(i) => self.set_element(handle, 7, i, value),
                None => Ok(FAILED),
            },
            _ => {
                let of = self.type_name(handle)?;
                self.failed(Exception::Type, format!("'{of}' object does not support item assignment"))
            }
        }
    }
}

/// `None`, unless the number tells of a failure.
fn nothing(number: Value) -> Value {
    if matches!(number, Value::Int(n) if n < 0) { NULL } else { Value::Int(NONE) }
}

/// The truth value of a number, unless that tells of a failure.
fn truth_or_null(number: Value) -> Value {
    match number {
        Value::Int(n) if n >= 0 => Value::Int(truth(n != 0)),
        _ => NULL,
    }
}
