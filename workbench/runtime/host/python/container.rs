//! Lists, tuples, dictionaries and other objects with elements.

use super::super::answer::Answer;
use super::super::value::Value;
use super::{FAILED, Key, MAX_OBJECTS, NULL, Object, Python, refuse_foreign};
use crate::back::Exception;

impl Python {
    pub(super) fn size(&mut self, handle: i64, kind: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)?.filter(|_| kind < 0) {
            return match foreign.size() {
                Ok(n) => Ok(Value::Int(n as i64)),
                Err((exception, message)) => self.failed(exception, message),
            };
        }
        let (found, of) = match self.get(handle)? {
            Object::Leaf(Value::Text(text)) => (Some(text.chars().count()), 4),
            Object::Leaf(Value::Bytes(bytes)) => (Some(bytes.len()), 5),
            Object::List(items) => (Some(items.len()), 6),
            Object::Tuple(items) => (Some(items.len()), 7),
            Object::Dict(dict) => (Some(dict.places.len()), 8),
            Object::Leaf(Value::Tensor(tensor)) => {
                (tensor.shape().first().map(|n| usize::try_from(*n).unwrap_or(0)), 10)
            }
            _ => (None, -3),
        };
        let fits = kind == of || kind == -1 || kind == -2 && of != 8;
        if let Some(n) = found.filter(|_| fits) {
            return Ok(Value::Int(n as i64));
        }
        let came = self.type_name(handle)?;
        match kind {
            4 => self.failed(Exception::Type, "bad argument type for built-in operation"),
            5 => self.failed(Exception::Type, format!("expected bytes, {came} found")),
            6..=8 => self.bad_call_number(),
            -2 if of == 8 => self.failed(Exception::Type, "dict is not a sequence"),
            _ => self.failed(Exception::Type, format!("object of type '{came}' has no len()")),
        }
    }

    pub(super) fn element(&mut self, handle: i64, kind: i64, i: i64) -> Answer<Value> {
        if let Some(foreign) = self.foreign(handle)?.filter(|_| kind == -1) {
            return self.received(foreign.item(&Value::Int(i)));
        }
        let at = |n: usize| {
            let i = if kind < 0 && i < 0 { i + n as i64 } else { i };
            usize::try_from(i).ok().filter(|i| *i < n)
        };
        /// An object that is there, or one that is made.
        enum Found {
            Here(i64),
            New(Value),
        }
        let (found, name) = match (self.get(handle)?, kind) {
            (Object::List(items), 6 | -1) => (at(items.len()).map(|i| Found::Here(items[i])), "list"),
            (Object::Tuple(items), 7 | -1) => (at(items.len()).map(|i| Found::Here(items[i])), "tuple"),
            (Object::Leaf(Value::Text(text)), -1) => {
                let char = at(text.chars().count()).and_then(|i| text.chars().nth(i));
                (char.map(|c| Found::New(Value::Text(c.to_string()))), "string")
            }
            (Object::Leaf(Value::Bytes(bytes)), -1) => {
                (at(bytes.len()).map(|i| Found::New(Value::Int(bytes[i].into()))), "index")
            }
            (_, -1) => {
                let came = self.type_name(handle)?;
                return self.null(Exception::Type, format!("'{came}' object does not support indexing"));
            }
            _ => {
                self.bad_call();
                return Ok(NULL);
            }
        };
        match found {
            Some(Found::Here(item)) => Ok(Value::Int(item)),
            Some(Found::New(value)) => self.leaf(value),
            None => self.null(Exception::Index, format!("{name} index out of range")),
        }
    }

    pub(super) fn set_element(&mut self, handle: i64, kind: i64, i: i64, value: i64) -> Answer<Value> {
        let is_tuple = matches!(self.get(handle)?, Object::Tuple(_));
        let fits = match self.get(handle)? {
            Object::List(_) => matches!(kind, 6 | -1),
            Object::Tuple(_) => kind == 7,
            _ => false,
        };
        if !fits {
            if kind < 0 {
                let came = self.type_name(handle)?;
                return self.failed(Exception::Type, format!("'{came}' object does not support item assignment"));
            }
            return self.bad_call_number();
        }
        let place = self.place(handle)?;
        if is_tuple && self.entries[place].foreign {
            return self.bad_call_number();
        }
        refuse_foreign(&self.entries[place])?;
        let (Object::List(items) | Object::Tuple(items)) = &mut self.entries[place].object else {
            return self.bad_call_number();
        };
        let i = if kind < 0 && i < 0 { i + items.len() as i64 } else { i };
        match usize::try_from(i).ok().and_then(|i| items.get_mut(i)) {
            Some(item) => {
                *item = value;
                Ok(Value::Int(0))
            }
            None if is_tuple => self.failed(Exception::Index, "tuple assignment index out of range"),
            None => self.failed(Exception::Index, "list assignment index out of range"),
        }
    }

    pub(super) fn insert(&mut self, handle: i64, i: i64, value: i64) -> Answer<Value> {
        if value == 0 {
            if self.pending.is_none() {
                self.bad_call();
            }
            return Ok(FAILED);
        }
        let Some(list) = self.list(handle)? else { return self.bad_call_number() };
        if list.len() >= MAX_OBJECTS {
            return self.failed(Exception::Memory, "");
        }
        let n = list.len() as i64;
        let i = if i < 0 { (i + n).max(0) } else { i.min(n) };
        list.insert(i as usize, value);
        Ok(Value::Int(0))
    }

    pub(super) fn sort(&mut self, handle: i64) -> Answer<Value> {
        let Some(list) = self.list(handle)? else { return self.bad_call_number() };
        let mut items = list.clone();
        // Runs of 1, 2, 4, .. elements are merged: NaN has no order, at which the standard library's sort may panic.
        let mut run = 1;
        while run < items.len() {
            let mut merged = Vec::with_capacity(items.len());
            for chunk in items.chunks(2 * run) {
                let (mut left, mut right) = chunk.split_at(run.min(chunk.len()));
                while let ([x, after_x @ ..], [y, after_y @ ..]) = (left, right) {
                    let swap = match self.compare(*y, *x, 0)? {
                        Value::Int(-1) => return Ok(FAILED),
                        Value::Int(less) => less == 1,
                        _ => false,
                    };
                    if swap {
                        (right, _) = (after_y, merged.push(*y));
                    } else {
                        (left, _) = (after_x, merged.push(*x));
                    }
                }
                merged.extend(left.iter().chain(right));
            }
            items = merged;
            run *= 2;
        }
        if let Some(list) = self.list(handle)? {
            *list = items;
        }
        Ok(Value::Int(0))
    }

    /// The elements of an object that can be iterated over.
    pub(super) fn items(&mut self, handle: i64) -> Answer<Option<Vec<i64>>> {
        if let Some(foreign) = self.foreign(handle)? {
            let items = foreign.items()?;
            return items.iter().map(|value| self.import(value, true)).collect::<Answer<_>>().map(Some);
        }
        let values: Vec<Value> = match self.get(handle)? {
            Object::List(items) | Object::Tuple(items) => return Ok(Some(items.clone())),
            Object::Dict(dict) => return Ok(Some(dict.live().map(|(key, _)| key).collect())),
            Object::Iterator { of, at } => {
                let rest = match self.get(*of)? {
                    Object::List(items) | Object::Tuple(items) => items.get(*at..).unwrap_or_default().to_vec(),
                    _ => Vec::new(),
                };
                return Ok(Some(rest));
            }
            Object::Leaf(Value::Text(text)) => text.chars().map(|c| Value::Text(c.to_string())).collect(),
            Object::Leaf(Value::Bytes(bytes)) => bytes.iter().map(|b| Value::Int((*b).into())).collect(),
            _ => return Ok(None),
        };
        values.iter().map(|value| self.import(value, false)).collect::<Answer<_>>().map(Some)
    }

    pub(super) fn not_iterable(&mut self, handle: i64) -> Answer<Value> {
        let came = self.type_name(handle)?;
        self.null(Exception::Type, format!("'{came}' object is not iterable"))
    }

    /// The key that a dictionary finds an object by; `None` where it has no hash.
    pub(super) fn key(&self, handle: i64, depth: u32) -> Answer<Option<Key>> {
        self.look(depth)?;
        Ok(match self.get(handle)? {
            Object::Leaf(value) => match value {
                Value::Int(i) => Some(Key::Int(*i)),
                Value::Bool(b) => Some(Key::Int((*b).into())),
                Value::BigInt(digits) => Some(Key::Big(digits.clone())),
                Value::Float(x) if x.is_nan() => Some(Key::Same(handle)),
                Value::Float(x) if x.fract() == 0.0 && x.abs() < 9.0e18 => Some(Key::Int(*x as i64)),
                Value::Float(x) => Some(Key::Float(x.to_bits())),
                Value::Text(text) => Some(Key::Text(text.clone())),
                Value::Bytes(bytes) => Some(Key::Bytes(bytes.clone())),
                Value::None | Value::DType(_) | Value::Device(_) => Some(Key::Same(handle)),
                Value::Foreign(foreign) => Some(Key::Foreign(foreign.identity())),
                _ => None,
            },
            Object::Tuple(items) => {
                let keys: Answer<Option<Vec<Key>>> = items.iter().map(|item| self.key(*item, depth + 1)).collect();
                keys?.map(Key::Tuple)
            }
            Object::List(_) | Object::Dict(_) => None,
            Object::Module | Object::Method { .. } | Object::Exception(_) | Object::Iterator { .. } => {
                Some(Key::Same(handle))
            }
        })
    }

    /// The key of an object; `None` where the error is set.
    pub(super) fn hashed(&mut self, handle: i64) -> Answer<Option<Key>> {
        let key = self.key(handle, 0)?;
        if key.is_none() {
            let came = self.type_name(handle)?;
            self.set(Exception::Type, format!("unhashable type: '{came}'"));
        }
        Ok(key)
    }

    /// The value in a dictionary for a key; `None` where the error is set.
    pub(super) fn find(&mut self, dict: i64, key: i64) -> Answer<Option<Option<i64>>> {
        let Some(key) = self.hashed(key)? else { return Ok(None) };
        let Object::Dict(dict) = self.get(dict)? else { return Ok(Some(None)) };
        let pair = dict.places.get(&key).and_then(|i| dict.pairs.get(*i)).copied().flatten();
        Ok(Some(pair.map(|(_, value)| value)))
    }

    /// The value in a dictionary for a text.
    pub(super) fn find_text(&self, dict: i64, key: &str) -> Answer<Option<i64>> {
        let Object::Dict(dict) = self.get(dict)? else { return Ok(None) };
        let pair = dict.places.get(&Key::Text(key.to_owned())).and_then(|i| dict.pairs.get(*i)).copied().flatten();
        Ok(pair.map(|(_, value)| value))
    }

    /// The keys of a dictionary that are texts.
    pub(super) fn text_keys(&self, dict: i64) -> Answer<Vec<String>> {
        let Object::Dict(dict) = self.get(dict)? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (key, _) in dict.live() {
            if let Object::Leaf(Value::Text(text)) = self.get(key)? {
                all.push(text.clone());
            }
        }
        Ok(all)
    }

    pub(super) fn dict_set(&mut self, dict: i64, key: i64, value: i64) -> Answer<Value> {
        if !matches!(self.get(dict)?, Object::Dict(_)) || key == 0 || value == 0 {
            if self.pending.is_none() {
                self.bad_call();
            }
            return Ok(FAILED);
        }
        let Some(hashed) = self.hashed(key)? else { return Ok(FAILED) };
        let place = self.place(dict)?;
        refuse_foreign(&self.entries[place])?;
        if let Object::Dict(dict) = &mut self.entries[place].object {
            match dict.places.get(&hashed).and_then(|i| dict.pairs.get_mut(*i)) {
                // The first key stays.
                Some(Some((_, old))) => *old = value,
                _ => {
                    dict.places.insert(hashed, dict.pairs.len());
                    dict.pairs.push(Some((key, value)));
                }
            }
        }
        Ok(Value::Int(0))
    }

    pub(super) fn dict_delete(&mut self, dict: i64, key: i64) -> Answer<Value> {
        if !matches!(self.get(dict)?, Object::Dict(_)) {
            return self.bad_call_number();
        }
        let Some(hashed) = self.hashed(key)? else { return Ok(FAILED) };
        let place = self.place(dict)?;
        refuse_foreign(&self.entries[place])?;
        if let Object::Dict(dict) = &mut self.entries[place].object
            && let Some(i) = dict.places.remove(&hashed)
        {
            dict.pairs[i] = None;
            return Ok(Value::Int(0));
        }
        let shown = self.repr(key)?;
        self.failed(Exception::Key, shown)
    }

    /// The truth value of an object; `None` where the error is set.
    pub(super) fn truth(&mut self, handle: i64) -> Answer<Option<bool>> {
        Ok(Some(match self.get(handle)? {
            Object::Leaf(value) => match value {
                Value::None => false,
                Value::Bool(b) => *b,
                Value::Int(i) => *i != 0,
                Value::Float(x) => *x != 0.0,
                Value::Text(text) => !text.is_empty(),
                Value::Bytes(bytes) => !bytes.is_empty(),
                Value::Tensor(_) => {
                    self.set(Exception::Value, "the truth value of an array is not known to host code");
                    return Ok(None);
                }
                Value::Foreign(foreign) => match foreign.truth() {
                    Ok(truth) => truth,
                    Err((exception, message)) => {
                        self.set(exception, message);
                        return Ok(None);
                    }
                },
                _ => true,
            },
            Object::List(items) | Object::Tuple(items) => !items.is_empty(),
            Object::Dict(dict) => !dict.places.is_empty(),
            Object::Module | Object::Method { .. } | Object::Exception(_) | Object::Iterator { .. } => true,
        }))
    }
}
