//! The tensors of a call by their handles, as host code holds them.

use std::sync::Arc;

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::{Value, cpp_name, of_torch_number, torch_number};
use super::{CallState, MAX_VALUES, no_memory};
use crate::back::Exception;
use crate::back::cpu::{HostMemory, Reply};

impl CallState {
    /// Makes a handle for a tensor.
    pub(super) fn adopt(&mut self, tensor: HostTensor) -> Answer<i64> {
        let place = match self.free.pop() {
            Some(place) => place,
            None if self.tensors.len() >= MAX_VALUES => {
                return Err((Exception::Runtime, "too many tensors".to_owned()));
            }
            None => {
                self.tensors.try_reserve(1).map_err(|_| no_memory("a tensor"))?;
                self.tensors.push(None);
                self.tensors.len() - 1
            }
        };
        self.tensors[place] = Some((self.tape.known(tensor), 1));
        Ok(place as i64 + 1)
    }

    /// The tensor of a handle.
    pub(super) fn tensor(&self, handle: i64) -> Answer<&HostTensor> {
        let place = usize::try_from(handle).ok().and_then(|h| h.checked_sub(1));
        match place.and_then(|p| self.tensors.get(p)).and_then(Option::as_ref) {
            Some((tensor, _)) => Ok(tensor),
            None => Err((Exception::Runtime, "an undefined Tensor is used".to_owned())),
        }
    }

    /// Puts a tensor on the stack. An undefined one is `None` to Python.
    pub(super) fn push_tensor(&mut self, handle: i64) -> Answer<Reply> {
        if handle == 0 {
            return self.push(Value::None);
        }
        let tensor = self.tensor(handle)?.clone();
        self.push(Value::Tensor(tensor))
    }

    /// Takes a tensor from the stack.
    pub(super) fn pop_tensor(&mut self) -> Answer<Reply> {
        match self.pop()? {
            Value::Tensor(tensor) => {
                let handle = self.adopt(tensor)?;
                // Who calls holds his arguments until the call ends, whatever becomes of the parameter.
                if self.argument.is_some() {
                    self.hold(handle);
                }
                Ok(Reply::Int(handle))
            }
            Value::None if self.argument.is_none() => Ok(Reply::Int(0)),
            other => Err(self.misfit(&other, "Tensor")),
        }
    }

    /// One more holds a tensor.
    fn hold(&mut self, handle: i64) {
        if let Some(Some((_, holders))) = self.tensors.get_mut(handle as usize - 1) {
            *holders += 1;
        }
    }

    /// One more holds what may be a tensor or undefined.
    pub(super) fn retain(&mut self, handle: i64) -> Answer<Reply> {
        if handle != 0 {
            self.tensor(handle)?;
            self.hold(handle);
        }
        Ok(Reply::Int(handle))
    }

    /// The extent or the stride along a dimension.
    pub(super) fn along(&self, handle: i64, axis: i64, words: impl Fn(&HostTensor) -> &[i64]) -> Answer<Reply> {
        let tensor = self.tensor(handle)?;
        let i = tensor.axis(axis)?;
        match words(tensor).get(i) {
            Some(v) => Ok(Reply::Int(*v)),
            None => Err((Exception::Index, "dimension specified as 0 but tensor has no dimensions".to_owned())),
        }
    }

    /// The address of a tensor's extents or strides.
    pub(super) fn extents(&mut self, memory: &HostMemory, handle: i64, strides: bool) -> Answer<Reply> {
        let tensor = self.tensor(handle)?;
        let words = if strides { tensor.strides() } else { tensor.shape() };
        let len = words.len() as u64;
        let made: Box<[i64]> = if words.is_empty() { Box::new([0]) } else { words.into() };
        let kept = self.extents.entry((handle as usize, strides)).or_insert_with(|| {
            memory.lend_extents(made.as_ptr() as u64, 8 * len);
            made
        });
        Ok(Reply::Address(kept.as_ptr() as u64))
    }

    /// Gives a handle back; the tensor goes with its last handle.
    pub(super) fn release(&mut self, memory: &HostMemory, handle: i64) -> Reply {
        let Some(place) = usize::try_from(handle).ok().and_then(|h| h.checked_sub(1)) else { return Reply::Nothing };
        let Some(Some((_, holders))) = self.tensors.get_mut(place) else { return Reply::Nothing };
        *holders -= 1;
        if *holders == 0 {
            self.tensors[place] = None;
            for strides in [false, true] {
                if let Some(words) = self.extents.remove(&(place + 1, strides)) {
                    memory.take_back(words.as_ptr() as u64);
                }
            }
            self.free.push(place);
        }
        Reply::Nothing
    }

    /// The address of a tensor's elements, which are of a type wanted by number.
    pub(super) fn data(&self, memory: &Arc<HostMemory>, handle: i64, wanted: i64) -> Answer<Reply> {
        let tensor = self.tensor(handle)?;
        let dtype = tensor.dtype();
        if wanted >= 0 && torch_number(dtype) != wanted {
            let wanted = of_torch_number(wanted).map_or("another type", cpp_name);
            let message = format!("expected scalar type {wanted} but found {}", cpp_name(dtype));
            return Err((Exception::Runtime, message));
        }
        let ptr = tensor.ptr();
        if !ptr.is_null() {
            tensor.storage().show(memory, "", dtype);
        }
        Ok(Reply::Address(ptr as u64))
    }
}
