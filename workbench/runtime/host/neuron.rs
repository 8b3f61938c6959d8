//! AWS Neuron's dialect of host code: tightly coupled memory, streams, and a destination that several cores write.
//!
//! Neuron's libraries (`library/neuron.cuh`) are operators with a shape function beside the kernel, which several cores run in turn.

use std::collections::HashMap;

use super::answer::Answer;
use super::array::HostTensor;
use super::misfits::unfit;
use super::value::Value;
use crate::back::Exception;
use crate::ir::HostOp;

/// Bytes of the pool that `tcm_malloc` gives from (NeuronX custom C++ operators' reference: "a 16 KB pool").
const TCM_BYTES: i64 = 16 << 10;

/// The policy that allows readers beside a writer (`CoherencyEnforcer::COHERENT` is 0).
const COHERENT: i64 = 0;

/// The core that runs a call, and the tensor that the cores write.
#[derive(Debug, Clone)]
pub struct Core {
    /// Its number.
    pub id: u32,
    /// The number of cores.
    pub count: u32,
    /// The tensor that `get_dst_tensor()` gives; none where results are several.
    pub destination: Option<HostTensor>,
}

/// The state of a call in Neuron's dialect.
#[derive(Default)]
pub(super) struct Neuron {
    /// The core, where the call is one of Neuron's.
    pub core: Option<Core>,
    /// True once the kernel has asked for the destination.
    pub has_asked: bool,
    used: i64,
    held: HashMap<i64, i64>,
    /// The streams: the memory of each, and whether it is written; `None` when closed.
    streams: Vec<Option<(usize, bool)>>,
    policies: HashMap<usize, i64>,
}

fn wrong<T>(message: impl Into<String>) -> Answer<T> {
    Err((Exception::Runtime, message.into()))
}

/// The first address of a tensor's memory.
fn place(tensor: &HostTensor) -> usize {
    tensor.storage().ptr() as usize
}

impl Neuron {
    /// Runs an operation.
    pub fn run(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::TcmTake, [Value::Int(bytes)]) => {
                let fits = *bytes >= 0 && *bytes <= TCM_BYTES - self.used;
                self.used += if fits { *bytes } else { 0 };
                Ok(Value::Bool(fits))
            }
            (HostOp::TcmHold, [Value::Int(address), Value::Int(bytes)]) => {
                self.held.insert(*address, *bytes);
                Ok(Value::Bool(true))
            }
            (HostOp::TcmGive, [Value::Int(address)]) => match self.held.remove(address) {
                Some(bytes) => {
                    self.used -= bytes;
                    Ok(Value::Bool(true))
                }
                None => wrong("tcm_free: this is no memory of tcm_malloc, or is freed already"),
            },
            (HostOp::StreamOpen, [Value::Tensor(tensor), Value::Bool(writes)]) => self.open(tensor, *writes),
            (HostOp::StreamClose, [Value::Int(number)]) => {
                let stream = usize::try_from(*number - 1).ok().and_then(|i| self.streams.get_mut(i));
                stream.into_iter().for_each(|s| *s = None);
                Ok(Value::Bool(true))
            }
            (HostOp::Coherence, [Value::Tensor(tensor)]) => {
                Ok(Value::Int(self.policies.get(&place(tensor)).copied().unwrap_or(COHERENT)))
            }
            (HostOp::SetCoherence, [Value::Tensor(tensor), Value::Int(policy)]) => {
                self.policies.insert(place(tensor), *policy);
                Ok(Value::Bool(true))
            }
            (HostOp::Core, []) => Ok(Value::Int(self.core.as_ref().map_or(0, |c| c.id.into()))),
            (HostOp::Cores, []) => Ok(Value::Int(self.core.as_ref().map_or(1, |c| c.count.into()))),
            (HostOp::Destination, []) => match self.core.as_ref().and_then(|c| c.destination.clone()) {
                Some(tensor) => {
                    self.has_asked = true;
                    Ok(Value::Tensor(tensor))
                }
                None => wrong(
                    "get_dst_tensor(): there is no destination: the operator was not registered in a NEURON_LIBRARY, or its shape \
                     function gives several tensors",
                ),
            },
            _ => unfit(op, args),
        }
    }

    /// Opens a stream. A tensor has many readers or one writer, unless its policy allows both.
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
