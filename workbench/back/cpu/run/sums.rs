//! Sums that a worker keeps for itself while a launch runs, and adds to the arrays at its end; see
//! `wide/build/sums.rs`.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::back::cpu::abi::context::BufferDesc;

/// Most bytes of an array that gets copies: each worker has to go through its copy once.
const MAX_BYTES: u64 = 64 << 10;

/// Fewest blocks for which copies pay.
const MIN_BLOCKS: u64 = 16;

/// An array of a launch that workers have copies of.
pub struct Sum {
    param: usize,
    base: u64,
    bytes: usize,
    /// Bytes of an element: 4 or 8.
    size: usize,
}

/// The arrays that workers may have copies of, among the parameters that code only adds to (`sums`, with the sizes of the elements): small
/// ones that no other argument reaches. `args` has for each the address of its descriptor, `descs` and `derived` have all descriptors.
pub fn of_launch(
    sums: &[(usize, usize)],
    args: &[u64],
    descs: &[BufferDesc],
    derived: &[BufferDesc],
    blocks: u64,
) -> Vec<Sum> {
    if blocks < MIN_BLOCKS {
        return Vec::new();
    }
    let all = || descs.iter().chain(derived);
    let address = |desc: &BufferDesc| std::ptr::from_ref(desc) as u64;
    let find = |param: usize| all().find(|desc| args.get(param) == Some(&address(desc)));
    let of = |&(param, size): &(usize, usize)| {
        let desc = find(param)?;
        let shares = |other: &BufferDesc| {
            address(other) != address(desc)
                && other.base < desc.base.saturating_add(desc.len)
                && desc.base < other.base.saturating_add(other.len)
        };
        let fits = desc.len <= MAX_BYTES && desc.len > 0 && desc.base.is_multiple_of(size as u64);
        // An array that may not be written has no copies, so that the write faults.
        let is_own = desc.write[size.trailing_zeros() as usize] > 0 && !all().any(shares);
        (fits && is_own).then_some(Sum { param, base: desc.base, bytes: desc.len as usize, size })
    };
    sums.iter().filter_map(of).collect()
}

/// A worker's copies.
pub struct Own<'l> {
    sums: &'l [Sum],
    copies: Vec<Vec<u64>>,
    /// The copy for each parameter, or null.
    pointers: Vec<*mut u8>,
}

impl<'l> Own<'l> {
    /// Copies that are all zeros, for a kernel of so many parameters.
    pub fn new(sums: &'l [Sum], params: usize) -> Self {
        let mut copies: Vec<Vec<u64>> = sums.iter().map(|sum| vec![0; sum.bytes.div_ceil(8)]).collect();
        let mut pointers = vec![std::ptr::null_mut(); params];
        for (sum, copy) in sums.iter().zip(&mut copies) {
            if let Some(pointer) = pointers.get_mut(sum.param) {
                *pointer = copy.as_mut_ptr().cast();
            }
        }
        Own { sums, copies, pointers }
    }

    /// The copy for each parameter, or null, as generated code wants them.
    pub fn pointers(&self) -> *const *mut u8 {
        self.pointers.as_ptr()
    }

    /// Adds the copies to the arrays.
    pub fn add_up(self) {
        for (sum, copy) in self.sums.iter().zip(&self.copies) {
            let bytes: &[u8] = bytemuck::cast_slice(copy);
            for (i, element) in bytes[..sum.bytes].chunks_exact(sum.size).enumerate() {
                let at = (sum.base as usize + i * sum.size) as *mut u8;
                // SAFETY: the launch may write the array, which is aligned; others add to it at the same time.
                unsafe {
                    match element.try_into().map(u64::from_ne_bytes) {
                        Ok(0) => {}
                        Ok(n) => drop(AtomicU64::from_ptr(at.cast()).fetch_add(n, Ordering::Relaxed)),
                        Err(_) => match element.try_into().map_or(0, u32::from_ne_bytes) {
                            0 => {}
                            n => drop(AtomicU32::from_ptr(at.cast()).fetch_add(n, Ordering::Relaxed)),
                        },
                    }
                }
            }
        }
    }
}
