//! Notes that host code leaves with its program: descriptors of operators, kernels by their names. Memory ends with a call; numbers and
//! texts under a key do not.
//!
//! Gaudi's descriptors (`library/gaudi.cuh`, `gaudi_tensorflow.cuh`) are kept like that. `registrations::gaudi_text` writes the
//! registrations of the kernels of such a text; a kernel's parameters are bound by a template from its type.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::answer::Answer;
use super::misfits::unfit;
use super::value::Value;
use crate::back::Exception;
use crate::ir::HostOp;

/// Most values under one key.
const MAX_VALUES: usize = 1 << 16;

/// Lists of values by their kinds and names.
#[derive(Debug, Default)]
pub struct Notes(Mutex<HashMap<(String, String), Vec<Value>>>);

impl Notes {
    /// Runs an operation.
    pub(super) fn run(&self, op: HostOp, args: &[Value]) -> Answer<Value> {
        let [Value::Text(kind), Value::Text(key), values @ ..] = args else { return unfit(op, args) };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (kind.clone(), key.clone());
        match op {
            HostOp::Note => {
                all.insert(place, values.to_vec());
                Ok(Value::None)
            }
            HostOp::NoteMore => {
                let list = all.entry(place).or_default();
                if list.len() + values.len() > MAX_VALUES {
                    return Err((Exception::Runtime, format!("too many values are noted for {kind} `{key}`")));
                }
                list.extend_from_slice(values);
                Ok(Value::None)
            }
            HostOp::Noted => match all.get(&place) {
                Some(list) => Ok(Value::List(list.clone())),
                None => {
                    let mut known: Vec<&str> = all.keys().filter(|(k, _)| k == kind).map(|(_, n)| n.as_str()).collect();
                    known.sort_unstable();
                    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                    Err((Exception::Runtime, format!("there is no {kind} `{key}`; there is: {known}")))
                }
            },
            _ => unfit(op, args),
        }
    }
}
