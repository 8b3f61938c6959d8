//! Memory that a call of host code asks for and gives back, and tensors that become others.

use std::alloc::Layout;

use super::super::array::Answer;
use super::super::value::cpp_name;
use super::super::{ops, room, work};
use super::{MAX_VALUES, State};
use crate::back::Exception;
use crate::back::cpu::{HostMemory, Reply};
use crate::source::Span;

impl State {
    /// Memory of so many bytes.
    pub(super) fn allocate(&mut self, memory: &HostMemory, bytes: i64) -> Answer<Reply> {
        let failed = || (Exception::Memory, format!("no memory for {bytes} bytes"));
        let size = usize::try_from(bytes).ok().filter(|b| *b <= ops::MAX_BYTES).ok_or_else(failed)?;
        if self.blocks.len() >= MAX_VALUES {
            return Err((Exception::Runtime, "too many allocations".to_owned()));
        }
        // Beside the bytes what is known of them.
        if !room::has(size.saturating_add(256)) || self.blocks.try_reserve(1).is_err() {
            return Err(failed());
        }
        let layout = Layout::from_size_align(size.max(1), 16).map_err(|_| failed())?;
        // SAFETY: the layout's size is not 0.
        let ptr = unsafe { std::alloc::alloc(layout) };
        if ptr.is_null() {
            return Err(failed());
        }
        self.blocks.insert(ptr as u64, (layout, size));
        // SAFETY: that many bytes are there, and nobody else's.
        work::fill(unsafe { std::slice::from_raw_parts_mut(ptr.cast(), layout.size()) }, crate::ir::POISON);
        memory.lend(ptr as u64, size as u64, true, "", None);
        Ok(Reply::Address(ptr as u64))
    }

    /// Gives memory back; `place` is where the text does that itself.
    pub(super) fn free(&mut self, memory: &HostMemory, address: u64, place: Option<Span>) -> Answer<Reply> {
        if address == 0 {
            return Ok(Reply::Nothing);
        }
        let Some((layout, size)) = self.blocks.remove(&address) else {
            let message = format!("address {address:#x} is freed, which was not allocated or is freed already");
            return Err((Exception::Runtime, message));
        };
        memory.take_back(address);
        if let Some(place) = place {
            memory.note_freed(address, size as u64, place);
        }
        if self.has_blobs {
            self.zombies.push((address, layout));
            return Ok(Reply::Nothing);
        }
        // SAFETY: allocated in `allocate` with this layout, and out of the table now.
        unsafe { std::alloc::dealloc(address as *mut u8, layout) };
        Ok(Reply::Nothing)
    }

    /// `set_`: the tensor of a handle is another one from now on. Arrays of the caller's keep the memory that they have.
    pub(super) fn rebind(&mut self, memory: &HostMemory, handle: i64, from: i64) -> Answer<Reply> {
        let source = self.tensor(from)?.clone();
        let target = self.tensor(handle)?;
        if target.storage().lender().is_some() {
            let message = "a tensor of the caller's is given other memory or another size (set_, resize_), which the caller would not \
                           see; return the tensor instead";
            return Err((Exception::NotImplemented, message.to_owned()));
        }
        if target.dtype() != source.dtype() {
            let (a, b) = (cpp_name(source.dtype()), cpp_name(target.dtype()));
            return Err((Exception::Runtime, format!("Could not set tensor of type {a} to a tensor of type {b}")));
        }
        let place = handle as usize - 1;
        if let Some(Some((tensor, _))) = self.tensors.get_mut(place) {
            *tensor = source;
        }
        for strides in [false, true] {
            if let Some(words) = self.extents.remove(&(place + 1, strides)) {
                memory.take_back(words.as_ptr() as u64);
            }
        }
        Ok(Reply::Nothing)
    }
}
