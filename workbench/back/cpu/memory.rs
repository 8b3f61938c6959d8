//! Buffers: module data, the descriptors of a launch's arguments, and the search for the allocation an address lies in.

use super::context::{BufferDesc, DANGLING_DESC, DescKind, NULL_DESC, SlotFrame, WorkerCtx};
use super::faults::Named;
use crate::back::RawArg;
use crate::ir::{Module, POISON};

/// Module data in memory of its own, 16-byte aligned, at addresses that are baked into code.
pub struct Globals {
    /// Kept for the addresses in `descs`.
    _storage: Box<[u128]>,
    /// One for each [`crate::ir::Global`]; generated code holds their addresses.
    pub descs: Box<[BufferDesc]>,
    /// What messages call them.
    pub names: Vec<Named>,
}

impl Globals {
    /// Copies the data of a module.
    pub fn new(module: &Module) -> Self {
        let words: usize = module.globals.iter().map(|g| g.bytes.len().div_ceil(16)).sum();
        let mut storage = vec![0u128; words].into_boxed_slice();
        let base = storage.as_mut_ptr() as u64;
        let mut descs = Vec::with_capacity(module.globals.len());
        let mut names = Vec::with_capacity(module.globals.len());
        let mut start = 0;
        for (i, global) in module.globals.iter().enumerate() {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut storage);
            bytes[start..start + global.bytes.len()].copy_from_slice(&global.bytes);
            let (len, meta) = (global.bytes.len() as u64, BufferDesc::meta(DescKind::Global, i as u32));
            descs.push(BufferDesc::new(base + start as u64, len, false, meta));
            names.push(Named { name: global.name.clone(), size: len, elem: global.elem });
            start += global.bytes.len().next_multiple_of(16);
        }
        Globals { _storage: storage, descs: descs.into(), names }
    }
}

/// The descriptor of an argument; a scalar has none and gets the null one.
pub fn describe_arg(index: usize, arg: &RawArg) -> BufferDesc {
    let index = index as u32;
    match *arg {
        RawArg::Scalar(_) => NULL_DESC,
        RawArg::Null => BufferDesc::new(0, 0, false, BufferDesc::meta(DescKind::NullParam, index)),
        RawArg::Buffer { ptr, bytes, writable } => {
            BufferDesc::new(ptr as u64, bytes as u64, writable, BufferDesc::meta(DescKind::Param, index))
        }
    }
}

/// The buffer of an address that came out of memory or an integer. An address one past the end belongs to its allocation
/// unless another one starts there.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn lookup(ctx: *const WorkerCtx, addr: u64) -> *const BufferDesc {
    if addr == 0 {
        return &raw const NULL_DESC;
    }
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { (&*ctx, &*(*ctx).launch) };
    let mut past_end = &raw const DANGLING_DESC;
    let mut search = |descs: &[BufferDesc]| {
        for desc in descs.iter().filter(|d| d.base != 0) {
            let off = addr.wrapping_sub(desc.base);
            if off < desc.len {
                return Some(std::ptr::from_ref(desc));
            }
            if off == desc.len {
                past_end = desc;
            }
        }
        None
    };
    if let Some(found) = search(launch.descs).or_else(|| search(&launch.image.globals.descs)) {
        return found;
    }
    let mut frame = ctx.frames;
    // SAFETY: generated code links a frame while its activation runs and unlinks it before it ends.
    while let Some(SlotFrame { prev, descs, count }) = unsafe { frame.as_ref() } {
        // SAFETY: `count` descriptors start there, on the stack of that activation.
        if let Some(found) = search(unsafe { std::slice::from_raw_parts(*descs, *count as usize) }) {
            return found;
        }
        frame = *prev;
    }
    past_end
}

/// Fills uninitialised memory with the poison pattern.
///
/// # Safety
/// `len` bytes at `ptr` are the caller's to write.
pub unsafe extern "C" fn fill(ptr: *mut u8, len: u64) {
    // SAFETY: as above.
    unsafe { ptr.write_bytes(POISON, len as usize) }
}
