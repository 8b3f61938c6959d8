//! Lookups: the search for the allocation that an address lies in.

use std::sync::atomic::Ordering;

use super::host::HostMemory;
use super::launch::{Launch, Outside, Running};
use crate::back::cpu::abi::context::{BufferDesc, DANGLING_DESC, DescKind, NULL_DESC, Side, SlotFrame, WorkerCtx};
use crate::back::cpu::code::kept_code;

/// A search for the allocation of an address. One past the end belongs to its allocation unless another one starts there.
struct Search {
    addr: u64,
    past_end: *const BufferDesc,
}

impl Search {
    fn new(addr: u64) -> Self {
        Search { addr, past_end: &raw const DANGLING_DESC }
    }

    /// The descriptor of the buffer that holds the address; of several, one that may be written: what one parameter
    /// only reads another may write.
    fn among(&mut self, descs: &[BufferDesc]) -> Option<*const BufferDesc> {
        let mut found = None;
        for desc in descs.iter().filter(|d| d.base != 0) {
            let off = self.addr.wrapping_sub(desc.base);
            if off < desc.len && desc.write[0] > 0 {
                return Some(std::ptr::from_ref(desc));
            }
            if off < desc.len {
                found = found.or(Some(std::ptr::from_ref(desc)));
            }
            if off == desc.len {
                self.past_end = desc;
            }
        }
        found
    }

    fn outside(&mut self, outside: &Outside<'_>) -> Option<*const BufferDesc> {
        if self.addr == 0 {
            return Some(&raw const NULL_DESC);
        }
        let globals = outside.globals;
        if let Some(found) = self.among(outside.descs).or_else(|| self.among(&globals.descs)) {
            // SAFETY: the descriptor is one of the two lists'.
            let (kind, index) = unsafe { (*found).kind() };
            let view = globals.view(index, outside.side).filter(|_| kind == DescKind::Global);
            return Some(view.map_or(found, std::ptr::from_ref));
        }
        let memory = outside.host?.memory();
        self.of_host(memory, outside.side).or_else(|| self.of_locals(memory, outside.side))
    }

    /// Searches the local variables of host code that waits for a launch.
    fn of_locals(&mut self, memory: &HostMemory, side: Side) -> Option<*const BufferDesc> {
        let frames = memory.frames.load(Ordering::Relaxed);
        // SAFETY: the descriptors stay as long as the launch.
        let found = unsafe { self.in_frames(frames) }?;
        // SAFETY: the descriptor is one of those of the frames.
        if side.sees(Side::Host) { Some(found) } else { Some(memory.stray(unsafe { &*found })) }
    }

    /// Searches the slots of activations, innermost first.
    ///
    /// # Safety
    /// They go on until the search is over.
    unsafe fn in_frames(&mut self, mut frame: *const SlotFrame) -> Option<*const BufferDesc> {
        // SAFETY: generated code links a frame while its activation runs and unlinks it before it ends.
        while let Some(SlotFrame { prev, descs, count }) = unsafe { frame.as_ref() } {
            // SAFETY: `count` descriptors start there, on the stack of that activation.
            if let Some(found) = self.among(unsafe { std::slice::from_raw_parts(*descs, *count as usize) }) {
                return Some(found);
            }
            frame = *prev;
        }
        None
    }

    /// Searches the memory that host code has, and the library's strings, whose addresses a class of the user's may keep. Allocations
    /// may lie next to one another: the end of one may be the beginning of another.
    fn of_host(&mut self, memory: &HostMemory, side: Side) -> Option<*const BufferDesc> {
        let mut holds = |desc: *const BufferDesc| {
            // SAFETY: the descriptor is static, or the host's, which keeps every one it ever had.
            let (base, len) = unsafe { ((*desc).base, (*desc).len) };
            if self.addr - base >= len {
                self.past_end = desc;
            }
            self.addr - base < len
        };
        let own = memory.find(self.addr, side).filter(|desc| holds(*desc));
        own.or_else(|| kept_code::find(self.addr).map(std::ptr::from_ref).filter(|desc| holds(*desc)))
    }
}

/// The buffer of an address that no thread of the launch made.
///
/// # Safety
/// Nobody changes the host's memory meanwhile.
pub unsafe fn lookup_outside(outside: &Outside<'_>, addr: u64) -> BufferDesc {
    let mut search = Search::new(addr);
    let found = search.outside(outside).unwrap_or(search.past_end);
    // SAFETY: the descriptor is static, one of `outside`'s, or the host's, which keeps every one it ever had.
    unsafe { *found }
}

/// The buffer of an address that came out of memory or an integer.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn lookup(ctx: *const WorkerCtx, addr: u64) -> *const BufferDesc {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { Running::of(ctx.cast_mut()) };
    lookup_in(ctx, launch, &launch.outside(), addr)
}

/// The buffer of an address as code of a side finds it.
pub fn lookup_as(ctx: &Running, launch: &Launch<'_>, addr: u64, side: Side) -> *const BufferDesc {
    lookup_in(ctx, launch, &Outside { side, ..launch.outside() }, addr)
}

fn lookup_in(ctx: &Running, launch: &Launch<'_>, outside: &Outside<'_>, addr: u64) -> *const BufferDesc {
    let mut search = Search::new(addr);
    if let Some(found) = search.outside(outside) {
        return found;
    }
    if !ctx.shared.is_null() {
        // SAFETY: a worker has a descriptor for each shared variable of the module, or none at all.
        let shared = unsafe { std::slice::from_raw_parts(ctx.shared, launch.image.shared.len()) };
        if let Some(found) = search.among(shared) {
            return found;
        }
    }
    // SAFETY: the frames are of activations that wait for this.
    unsafe { search.in_frames(ctx.frames) }.unwrap_or(search.past_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{GlobalData, Scalar, Space};

    #[test]
    fn what_begins_where_something_else_ends_is_what_begins() {
        let bytes = b"fifteen letters\0".to_vec();
        let text = GlobalData { name: String::new(), bytes, align: 1, elem: Some(Scalar::I8), space: Space::ReadOnly };
        let (text, _) = kept_code::literal(&text).expect("there is room");
        let memory = HostMemory::default();
        memory.lend(text.base - 32, 32, true, "before", None);
        memory.lend(text.base + text.len, 8, true, "behind", None);
        let found = |addr: u64| {
            let mut search = Search::new(addr);
            let found = search.of_host(&memory, Side::Host).unwrap_or(search.past_end);
            // SAFETY: the descriptors are those of `memory`, and static ones.
            unsafe { (*found).base }
        };
        assert_eq!(found(text.base - 32), text.base - 32);
        assert_eq!(found(text.base - 1), text.base - 32);
        assert_eq!(found(text.base), text.base);
        assert_eq!(found(text.base + text.len), text.base + text.len);
        // The address is one past the end, and nothing begins there.
        assert_eq!(found(text.base + text.len + 8), text.base + text.len);
        assert_eq!(found(text.base + text.len + 9), DANGLING_DESC.base);
    }
}
