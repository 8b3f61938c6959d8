//! What host code leaves with its program: descriptors of operators, kernels by their names. Memory ends with a call; numbers and texts
//! under a key do not.
//!
//! Gaudi's descriptors (`library/gaudi.cuh`, `gaudi_tensorflow.cuh`) are kept like that. `registrations::gaudi_text` writes what makes the
//! kernels of such a text known; a kernel's parameters are bound by a template from its type.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::array::Answer;
use super::value::Value;
use crate::back::Exception;

/// Most values under one key.
const MAX_VALUES: usize = 1 << 16;

/// Lists of values by what they are and their names.
#[derive(Debug, Default)]
pub struct Notes(Mutex<HashMap<(String, String), Vec<Value>>>);

impl Notes {
    /// Does an operation; `None` for one that is not of notes.
    pub(super) fn run(&self, name: &str, args: &[Value]) -> Option<Answer<Value>> {
        let [Value::Text(kind), Value::Text(key), values @ ..] = args else { return None };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (kind.clone(), key.clone());
        Some(match name {
            "note" => {
                all.insert(place, values.to_vec());
                Ok(Value::None)
            }
            "note_more" => {
                let list = all.entry(place).or_default();
                if list.len() + values.len() > MAX_VALUES {
                    return Some(Err((Exception::Runtime, format!("too many values are noted for {kind} `{key}`"))));
                }
                list.extend_from_slice(values);
                Ok(Value::None)
            }
            "noted" => match all.get(&place) {
                Some(list) => Ok(Value::List(list.clone())),
                None => {
                    let mut known: Vec<&str> = all.keys().filter(|(k, _)| k == kind).map(|(_, n)| n.as_str()).collect();
                    known.sort_unstable();
                    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                    Err((Exception::Runtime, format!("there is no {kind} `{key}`; there is: {known}")))
                }
            },
            _ => return None,
        })
    }
}
