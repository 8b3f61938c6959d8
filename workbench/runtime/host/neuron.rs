//! AWS Neuron's dialect of host code: tightly coupled memory, streams, and a destination that several cores write.
//!
//! Neuron's libraries (`library/neuron.cuh`) are operators with a shape function beside the kernel, which several cores run in turn.

use std::collections::HashMap;

use super::array::{Answer, HostTensor};
use super::value::Value;
use crate::back::Exception;

/// Bytes of the pool that `tcm_malloc` gives from (NeuronX custom C++ operators' reference: "a 16 KB pool").
const TCM_BYTES: i64 = 16 << 10;

/// The policy that sees no harm in readers beside a writer (`CoherencyEnforcer::COHERENT` is 0).
const COHERENT: i64 = 0;

/// Which of how many cores runs a call, and what they write.
#[derive(Debug, Clone)]
pub struct Core {
    /// Its number.
    pub id: u32,
    /// How many there are.
    pub count: u32,
    /// What `get_dst_tensor()` gives; none where results are several.
    pub destination: Option<HostTensor>,
}

/// What a call knows of it.
#[derive(Default)]
pub(super) struct Neuron {
    /// The core, where the call is one of Neuron's.
    pub core: Option<Core>,
    /// Whether the kernel asked for the destination.
    pub has_asked: bool,
    used: i64,
    held: HashMap<i64, i64>,
    /// Open streams: the memory, and whether it is written; `None` when closed.
    streams: Vec<Option<(usize, bool)>>,
    policies: HashMap<usize, i64>,
}

fn wrong<T>(message: impl Into<String>) -> Answer<T> {
    Err((Exception::Runtime, message.into()))
}

/// Where a tensor's memory begins.
fn place(tensor: &HostTensor) -> usize {
    tensor.storage().ptr() as usize
}

impl Neuron {
    /// Does an operation; `None` for one that is not Neuron's.
    pub fn run(&mut self, name: &str, args: &[Value]) -> Option<Answer<Value>> {
        Some(match (name, args) {
            ("tcm_take", [Value::Int(bytes)]) => {
                let fits = *bytes >= 0 && *bytes <= TCM_BYTES - self.used;
                self.used += if fits { *bytes } else { 0 };
                Ok(Value::Bool(fits))
            }
            ("tcm_hold", [Value::Int(address), Value::Int(bytes)]) => {
                self.held.insert(*address, *bytes);
                Ok(Value::Bool(true))
            }
            ("tcm_give", [Value::Int(address)]) => match self.held.remove(address) {
                Some(bytes) => {
                    self.used -= bytes;
                    Ok(Value::Bool(true))
                }
                None => wrong("tcm_free: this is no memory of tcm_malloc, or is freed already"),
            },
            ("stream_open", [Value::Tensor(tensor), Value::Bool(writes)]) => self.open(tensor, *writes),
            ("stream_close", [Value::Int(number)]) => {
                let stream = usize::try_from(*number - 1).ok().and_then(|i| self.streams.get_mut(i));
                stream.into_iter().for_each(|s| *s = None);
                Ok(Value::Bool(true))
            }
            ("coherence", [Value::Tensor(tensor)]) => {
                Ok(Value::Int(self.policies.get(&place(tensor)).copied().unwrap_or(COHERENT)))
            }
            ("set_coherence", [Value::Tensor(tensor), Value::Int(policy)]) => {
                self.policies.insert(place(tensor), *policy);
                Ok(Value::Bool(true))
            }
            ("core", []) => Ok(Value::Int(self.core.as_ref().map_or(0, |c| c.id.into()))),
            ("cores", []) => Ok(Value::Int(self.core.as_ref().map_or(1, |c| c.count.into()))),
            ("destination", []) => match self.core.as_ref().and_then(|c| c.destination.clone()) {
                Some(tensor) => {
                    self.has_asked = true;
                    Ok(Value::Tensor(tensor))
                }
                None => wrong(
                    "get_dst_tensor(): there is no destination: the operator was not registered in a NEURON_LIBRARY, or its shape \
                     function gives several tensors",
                ),
            },
            _ => return None,
        })
    }

    /// Many readers, or one writer, unless the tensor's policy says that it does not matter.
    fn open(&mut self, tensor: &HostTensor, writes: bool) -> Answer<Value> {
        let at = place(tensor);
        let conflicts = |open: &&(usize, bool)| open.0 == at && (writes || open.1);
        if self.policies.get(&at).copied().unwrap_or(COHERENT) == COHERENT
            && let Some((_, is_written)) = self.streams.iter().flatten().find(conflicts)
        {
            let (new, old) = (if writes { "write" } else { "read" }, if *is_written { "write" } else { "read" });
            return wrong(format!(
                "a stream to {new} a tensor that another stream is open to {old}: close that one first"
            ));
        }
        self.streams.push(Some((at, writes)));
        Ok(Value::Int(self.streams.len() as i64))
    }
}
