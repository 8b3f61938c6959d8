//! Binding: descriptors of a launch's arguments, and of the parameters that the launch works out from them.

use smallvec::SmallVec;

use super::host::Host;
use super::launch::Outside;
use super::lookup::lookup_outside;
use crate::back::cpu::abi::context::{BufferDesc, DescKind, NULL_DESC, Side};
use crate::back::cpu::image::{EntryPoint, Image};
use crate::back::{LaunchConfig, RawArg};
use crate::ir::{Derived, Elem, MemberAt, ParamType};

/// The descriptors of a launch's arguments, and the parameters that the launch works out from these.
pub struct Binding {
    /// A descriptor for each argument, then one for each buffer that pointers in structs point at.
    pub descs: SmallVec<[BufferDesc; 8]>,
    /// A descriptor for each parameter that no launch passes.
    pub derived: Vec<BufferDesc>,
    /// The bits of those of these that are numbers.
    bits: Vec<u64>,
}

impl Binding {
    /// Binds the arguments of an entry point, which fit its parameters.
    pub fn new(image: &Image, entry: &EntryPoint, args: &[RawArg], config: &LaunchConfig<'_>) -> Self {
        let lent = config.reach.iter().map(|r| RawArg::Buffer { ptr: r.ptr, bytes: r.bytes, writable: r.writable });
        let mut descs: SmallVec<[BufferDesc; 8]> = SmallVec::with_capacity(args.len() + config.reach.len());
        for (i, arg) in args.iter().copied().chain(lent).enumerate() {
            descs.push(describe_arg(i, &arg));
        }
        let (mut bits, mut derived) =
            (Vec::with_capacity(entry.derived.len()), Vec::with_capacity(entry.derived.len()));
        for info in &entry.derived {
            let (word, desc) = match info.derived {
                Derived::Member(member) => {
                    let side = entry.side(config.host.is_some_and(Host::is_unified));
                    let outside = Outside { descs: &descs, globals: image.data(), host: config.host, side };
                    // SAFETY: the lender of the arguments' memory keeps it until the launch returns, and only a launch changes it.
                    unsafe { read_member(member, info.ty, args, &outside) }
                }
                Derived::Anchor(anchored) => {
                    let param = anchored.param as usize;
                    let pointer = match param.checked_sub(args.len()) {
                        None => &mut descs[param],
                        Some(member) => &mut derived[member],
                    };
                    (anchor(pointer, anchored.unit, config.host), NULL_DESC)
                }
            };
            bits.push(word);
            derived.push(desc);
        }
        Binding { descs, derived, bits }
    }

    /// A word for each parameter: a scalar's bits, or the address of a descriptor of this binding, which must stay where it is.
    pub fn words(&self, entry: &EntryPoint, args: &[RawArg]) -> SmallVec<[u64; 12]> {
        let passed = args.iter().zip(&self.descs).map(|(arg, desc)| match arg {
            RawArg::Scalar(bits) => *bits,
            RawArg::Buffer { .. } | RawArg::Away { .. } | RawArg::Null => std::ptr::from_ref(desc) as u64,
        });
        let read = entry.derived.iter().zip(&self.bits).zip(&self.derived).map(|((info, bits), desc)| match info.ty {
            ParamType::Scalar(_) => *bits,
            ParamType::Ptr { .. } | ParamType::Bytes { .. } => std::ptr::from_ref(desc) as u64,
        });
        passed.chain(read).collect()
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
        RawArg::Away { ptr, bytes } => {
            let desc = BufferDesc::new(ptr as u64, bytes as u64, false, BufferDesc::meta(DescKind::Param, index));
            desc.of(Side::Host).away()
        }
    }
}

/// The buffer of a pointer member of a struct: the part from the address on of the launch's buffer that it lies in. Accesses of `size`
/// bytes fail where the address is not aligned to that; code relies on it.
///
/// # Safety
/// As for [`lookup_outside`].
pub unsafe fn describe_member(outside: &Outside<'_>, addr: u64, size: Option<u32>) -> BufferDesc {
    // SAFETY: the caller's promise.
    let whole = unsafe { lookup_outside(outside, addr) };
    let left = if whole.base == 0 { 0 } else { whole.len - addr.wrapping_sub(whole.base) };
    let mut desc = BufferDesc::new(addr, left, whole.write[0] > 0, whole.meta);
    if whole.is_away() {
        desc = desc.away();
    }
    hold_aligned(&mut desc, size.unwrap_or(1));
    desc
}

/// The bits of a struct's member, with the buffer they point into.
///
/// # Safety
/// The struct is there, and as large as its parameter says; nobody changes the host's memory meanwhile.
pub unsafe fn read_member(
    member: MemberAt,
    ty: ParamType,
    args: &[RawArg],
    outside: &Outside<'_>,
) -> (u64, BufferDesc) {
    let (offset, size) = (member.offset as usize, ty.ty().size() as usize);
    let ptr = match args.get(member.param as usize) {
        Some(RawArg::Buffer { ptr, bytes, .. }) if offset + size <= *bytes => ptr,
        _ => return (0, NULL_DESC),
    };
    let mut bytes = [0; 8];
    // SAFETY: the member lies inside the struct.
    unsafe {
        std::ptr::copy_nonoverlapping(ptr.add(offset), bytes.as_mut_ptr(), size);
    }
    let bits = u64::from_le_bytes(bytes);
    match ty {
        ParamType::Ptr { elem, .. } => {
            // SAFETY: the caller's promise.
            (bits, unsafe { describe_member(outside, bits, elem.map(Elem::size)) })
        }
        ParamType::Scalar(_) | ParamType::Bytes { .. } => (bits, NULL_DESC),
    }
}

/// Makes all accesses of `size` bytes fail where the buffer does not start at a multiple of that; code relies on it.
fn hold_aligned(desc: &mut BufferDesc, size: u32) {
    if !desc.base.is_multiple_of(u64::from(size)) {
        let k = size.trailing_zeros() as usize;
        (desc.read[k], desc.write[k]) = (0, 0);
    }
}

/// Makes a pointer's buffer the whole allocation of host code's that the pointer points into, and gives the number of units before the
/// pointer.
pub fn anchor(buffer: &mut BufferDesc, unit: u32, host: Option<&dyn Host>) -> u64 {
    let host = host.filter(|_| buffer.base != 0 && !buffer.is_away());
    let Some(whole) = host.and_then(|host| host.memory().find(buffer.base, Side::Both)) else { return 0 };
    // SAFETY: the host keeps every descriptor it ever had, and no thread changes it while host code waits for a launch.
    let whole = unsafe { *whole };
    let (before, size) = (buffer.base - whole.base, u64::from(unit));
    if !before.is_multiple_of(size) || !whole.base.is_multiple_of(size) {
        hold_aligned(buffer, unit);
        return 0;
    }
    if before == 0 || before + buffer.len != whole.len {
        return 0;
    }
    // An empty buffer tells nothing of whether its memory may be written.
    let is_writable = whole.write[0] > 0 && (buffer.len == 0 || buffer.write[0] > 0);
    *buffer = BufferDesc::new(whole.base, whole.len, is_writable, buffer.meta);
    before / size
}
