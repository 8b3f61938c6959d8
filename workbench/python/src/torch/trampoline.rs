//! The few instructions between torch's dispatcher and a boxed kernel of ours.
//!
//! A boxed kernel is called with a stack and two counts, which do not say for which operator it is called. So each operator has
//! instructions of its own that put an address into the register of a fourth argument and jump. They make no frame, so an exception passes
//! as if they were not there.

use memmap2::MmapMut;

use super::abi::BoxedKernel;

/// Makes a kernel that calls `target(stack, arguments, results, user)`; it stays until the process ends. `None` if this machine has another
/// instruction set, or no memory that may be executed.
pub fn make(target: *const (), user: *const ()) -> Option<BoxedKernel> {
    let code = instructions(target as u64, user as u64)?;
    let mut memory = MmapMut::map_anon(code.len()).ok()?;
    memory.copy_from_slice(&code);
    let memory = Box::leak(Box::new(memory.make_exec().ok()?));
    // SAFETY: these are the instructions of such a function, and they stay where they are.
    Some(unsafe { std::mem::transmute::<*const u8, BoxedKernel>(memory.as_ptr()) })
}

#[cfg(all(target_arch = "x86_64", unix))]
fn instructions(target: u64, user: u64) -> Option<Vec<u8>> {
    // endbr64; mov rcx, user; mov rax, target; jmp rax
    let mut code = vec![0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0xb9];
    code.extend(user.to_le_bytes());
    code.extend([0x48, 0xb8]);
    code.extend(target.to_le_bytes());
    code.extend([0xff, 0xe0]);
    Some(code)
}

#[cfg(all(target_arch = "aarch64", unix))]
fn instructions(target: u64, user: u64) -> Option<Vec<u8>> {
    // ldr x3, user; ldr x16, target; br x16; nop; user; target
    let words = [0x5800_0083_u32, 0x5800_00b0, 0xd61f_0200, 0xd503_201f];
    let mut code: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    code.extend(user.to_le_bytes());
    code.extend(target.to_le_bytes());
    Some(code)
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix)))]
fn instructions(_: u64, _: u64) -> Option<Vec<u8>> {
    None
}
