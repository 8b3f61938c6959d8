//! Messages of faults, made of the number of a site and the two words of operands that generated code leaves.
//!
//! The site knows the access (see `abi/site.rs`). The whole text with its line and thread is `runtime/fault_display.rs`.

use std::borrow::Cow;

use super::host::Source;
use super::launch::{Launch, Running};
use super::lookup::lookup_outside;
use crate::back::cpu::abi::context::{BufferDesc, DescKind, Side, WorkerCtx};
use crate::back::cpu::abi::site::{FAR, Named, SiteKind, SiteRoot, WIDE_SLOT};
use crate::back::cpu::code::kept_code;
use crate::back::{FaultKind, RawFault};
use crate::ir::{ENDED, Elem, Scalar, Type};
use crate::source::Span;

/// Called by generated code at a fault, which is in the context, while the frames its operands may point into are still there.
/// `packed` is as [`WorkerCtx::unpack_thread`] wants it.
///
/// # Safety
/// `ctx` is the running worker's; the second operand is a descriptor where the site says so.
pub unsafe extern "C" fn fault(ctx: *mut WorkerCtx, packed: u32) {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    ctx.unpack_thread(packed);
    let [site, a, b] = ctx.fault;
    // SAFETY: as above.
    ctx.worker.fault = Some(unsafe { describe(ctx, launch, site, a, b) });
    ctx.worker.in_library = launch.site(site).is_some_and(|s| s.library);
}

/// # Safety
/// `b` is a descriptor where the site says so.
unsafe fn describe(ctx: &Running, launch: &Launch<'_>, site: u64, a: u64, b: u64) -> RawFault {
    let site = launch.site(site);
    let span = site.map_or(launch.entry.span, |s| s.span);
    let mut freed = None;
    let (kind, detail) = match site.map(|s| &s.kind) {
        Some(SiteKind::Access { write, ty, root, indexed }) => {
            // SAFETY: the caller's promise.
            let (desc, off) = unsafe { locate(ctx, launch, *root, a, b) };
            let before = match (*root, desc.kind()) {
                (SiteRoot::KernelParam(param), _) => launch.before(param as usize),
                (_, (DescKind::Param, param)) => launch.before(param),
                _ => 0,
            };
            let (mut buffer, off) = (Buffer { before, ..buffer(launch, desc) }, off.wrapping_sub(before as i64));
            if let (Some(member), true) = (launch.member(*root), buffer.name.is_empty()) {
                buffer.name = Cow::Borrowed(&launch.entry.derived[member].name);
            }
            if !launch.entry.is_host && launch.entry.span.file.is_common() {
                buffer.name = users_part(&buffer.name).into();
            }
            let index = indexed.then_some(b as i64);
            freed = launch.host.filter(|_| desc.len == 0).and_then(|h| h.memory().freed_at(address(&desc, off)));
            match freed {
                Some(_) => gone(&buffer, *write, *ty, off),
                None if desc.is_away() => wrong_side(launch, &buffer, *write, *ty, off, index),
                None => explain(&buffer, *write, *ty, off, index),
            }
        }
        Some(SiteKind::Divide { ty, rem }) => divide(*ty, *rem, a, b),
        Some(SiteKind::Assert(text)) => (FaultKind::Assert, format!("`{text}` does not hold")),
        Some(SiteKind::Align(align)) => {
            let what =
                format!("a vector of {align} bytes is read or written at address {a:#x}, not a multiple of {align}");
            (FaultKind::Misaligned, what)
        }
        Some(SiteKind::Dispatch) if a == 0 => (FaultKind::NullPointer, "a null function pointer was called".to_owned()),
        Some(SiteKind::Dispatch) => {
            let what = format!("a function pointer was called that points at no function of its type ({a:#x})");
            (FaultKind::Trap, what)
        }
        Some(SiteKind::Trap) => (FaultKind::Trap, "`__trap()` was called".to_owned()),
        Some(SiteKind::MissingReturn(name)) => (FaultKind::Trap, format!("`{name}` ended without returning a value")),
        Some(SiteKind::Stack(name)) => {
            (FaultKind::StackOverflow, format!("the call of `{name}` needs more stack than a thread has"))
        }
        Some(
            SiteKind::Poll { .. }
            | SiteKind::Jump
            | SiteKind::Join(_)
            | SiteKind::Printf { .. }
            | SiteKind::Service(_)
            | SiteKind::Launch(_)
            | SiteKind::Call,
        )
        | None => (FaultKind::Trap, "the launch was stopped".to_owned()),
    };
    RawFault { related: freed, ..at(ctx, launch, kind, span, detail) }
}

/// The text's name for a member of an argument of a library kernel: `f.x.__f.p` is `p` of the text's functor. Empty where the text has no name
/// for it.
fn users_part(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').skip(2).collect();
    let own = parts.iter().rposition(|part| part.starts_with("__")).map_or(0, |at| at + 1);
    parts[own..].join(".")
}

/// The address that a pointer into a buffer points at.
fn address(desc: &BufferDesc, off: i64) -> u64 {
    desc.base.wrapping_add_signed(off)
}

/// A use of memory that the text has given back; the place where it did is added to the message later.
fn gone(buffer: &Buffer<'_>, write: bool, ty: Type, off: i64) -> (FaultKind, String) {
    let size = u64::from(ty.size());
    let verb = if write { "writes" } else { "reads" };
    let what = match buffer.name.as_ref() {
        "" => format!("{verb} {} of memory that was freed", bytes(size)),
        name => format!("{verb} {} of `{name}`, which was freed", place(buffer.elem, off, size, None)),
    };
    (FaultKind::DanglingPointer, what)
}

/// A fault of the thread that `ctx` is running.
pub fn at(ctx: &Running, launch: &Launch<'_>, kind: FaultKind, span: Span, detail: String) -> RawFault {
    let block = launch.grid.unflatten(ctx.block_linear);
    RawFault { kind, span, block, thread: ctx.thread, detail, related: None, kernel: None, called: None }
}

fn divide(ty: Scalar, rem: bool, a: u64, b: u64) -> (FaultKind, String) {
    let show = |bits: u64| if ty.is_signed() { (bits as i64).to_string() } else { bits.to_string() };
    let op = if rem { '%' } else { '/' };
    if b == 0 {
        (FaultKind::DivisionByZero, format!("{} {op} 0", show(a)))
    } else {
        // CUDA C++ defines `a % b` by `a / b`, and it is the quotient that does not fit.
        let what = format!("{} {op} {}: the quotient does not fit in `{}`", show(a), show(b), ty.c_name());
        (FaultKind::DivisionOverflow, what)
    }
}

/// The facts about the buffer of an access that a message tells.
struct Buffer<'a> {
    desc: BufferDesc,
    name: Cow<'a, str>,
    elem: Option<Elem>,
    /// "`c`", "the array", "a string literal".
    noun: &'static str,
    /// Bytes of it before the place that offsets count from.
    before: u64,
}

/// The name of a slot, by its index in a site or a descriptor.
fn slot<'a>(launch: &'a Launch<'_>, index: usize) -> Option<&'a Named> {
    if let (Some(wide), true) = (&launch.wide, index >> 30 == 1) {
        return wide.slots.get(index & !(WIDE_SLOT as usize));
    }
    kept_code::slot(&launch.image.slots, index)
}

fn buffer<'a>(launch: &'a Launch<'_>, desc: BufferDesc) -> Buffer<'a> {
    let (kind, index) = desc.kind();
    let unnamed = Buffer { desc, name: Cow::Borrowed(""), elem: None, noun: "the buffer", before: 0 };
    match kind {
        DescKind::Param | DescKind::NullParam => match launch.entry.params.get(index) {
            Some(p) => Buffer { name: Cow::Borrowed(&p.name), elem: p.elem, ..unnamed },
            None => match launch.reach.get(index - launch.entry.params.len()) {
                Some(r) => Buffer { name: Cow::Borrowed(&r.name), elem: r.elem.map(Elem::from), ..unnamed },
                None => unnamed,
            },
        },
        DescKind::Slot => match slot(launch, index) {
            Some(s) => {
                Buffer { name: Cow::Borrowed(&s.name), elem: s.elem.map(Elem::from), noun: "a local array", ..unnamed }
            }
            None => unnamed,
        },
        DescKind::Global => match kept_code::global(launch.image.data(), index) {
            Some((_, g)) => {
                Buffer { name: Cow::Borrowed(&g.name), elem: g.elem.map(Elem::from), noun: "a literal", ..unnamed }
            }
            None => unnamed,
        },
        DescKind::Shared => match launch.image.shared.get(index) {
            Some(m) => {
                Buffer { name: Cow::Borrowed(&m.name), elem: m.elem.map(Elem::from), noun: "shared memory", ..unnamed }
            }
            None => unnamed,
        },
        DescKind::Host => match launch.host.and_then(|host| host.memory().named(index)) {
            Some(m) => Buffer { name: Cow::Owned(m.name), elem: m.elem.map(Elem::from), ..unnamed },
            None => unnamed,
        },
        DescKind::Null | DescKind::Dangling => unnamed,
    }
}

/// The buffer of a faulting access, and the access's offset in it.
///
/// # Safety
/// `b` is a descriptor where `root` says so.
unsafe fn locate(ctx: &Running, launch: &Launch<'_>, root: SiteRoot, a: u64, b: u64) -> (BufferDesc, i64) {
    let table = |kind, index: u32, named: Option<&Named>| {
        let len = named.map_or(0, |n| n.size);
        BufferDesc::new(0, len, true, BufferDesc::meta(kind, index))
    };
    let passed = || {
        // SAFETY: the caller's promise.
        unsafe { (b as *const BufferDesc).as_ref() }.copied().unwrap_or(crate::back::cpu::abi::context::DANGLING_DESC)
    };
    match root {
        SiteRoot::KernelParam(i) => match launch.member(root) {
            Some(member) => {
                let part = launch.derived[member];
                // SAFETY: host code waits for its launches.
                let whole = unsafe { lookup_outside(&launch.outside(), part.base) };
                // Memory without a name is known by the member; other memory is shown as a whole.
                match whole.kind().0 {
                    DescKind::Host => (part, a as i64),
                    _ => (whole, part.base.wrapping_sub(whole.base).wrapping_add(a) as i64),
                }
            }
            None => {
                (launch.descs.get(i as usize).copied().unwrap_or(crate::back::cpu::abi::context::NULL_DESC), a as i64)
            }
        },
        SiteRoot::Slot(i) => (table(DescKind::Slot, i, slot(launch, i as usize)), a as i64),
        SiteRoot::Global(i) => {
            let side = if launch.entry.is_host { Side::Host } else { Side::Both };
            let own = launch.image.data().view(i as usize, side);
            let desc =
                own.or_else(|| kept_code::global(launch.image.data(), i as usize).map(|(desc, _)| desc)).copied();
            (desc.unwrap_or(crate::back::cpu::abi::context::DANGLING_DESC), a as i64)
        }
        SiteRoot::Shared(i) => {
            // SAFETY: every worker has a descriptor for each shared variable.
            let desc = unsafe { ctx.shared.add(i as usize).as_ref() };
            (desc.copied().unwrap_or(crate::back::cpu::abi::context::DANGLING_DESC), a as i64)
        }
        SiteRoot::Null => (crate::back::cpu::abi::context::NULL_DESC, a as i64),
        SiteRoot::Offset => (passed(), a as i64),
        SiteRoot::Address => {
            let desc = passed();
            (desc, a.wrapping_sub(desc.base) as i64)
        }
    }
}

/// Host code that touches the device's memory, or a kernel that touches the host's.
fn wrong_side(
    launch: &Launch<'_>,
    buffer: &Buffer<'_>,
    write: bool,
    ty: Type,
    off: i64,
    index: Option<i64>,
) -> (FaultKind, String) {
    let verb = if write { "writes" } else { "reads" };
    let place = place(buffer.elem, off, u64::from(ty.size()), index);
    let (kind, number) = buffer.desc.kind();
    // The source of memory is known by its address, whatever a parameter or a struct calls it.
    let asked = launch.host.and_then(|host| host.memory().ask(address(&buffer.desc, off.max(0))));
    let source = asked.map(|(_, source, ..)| source);
    let name = if buffer.name.is_empty() { String::new() } else { format!("`{}`, which is ", buffer.name) };
    let detail = if launch.entry.is_host {
        let (of, copy) = match kind {
            DescKind::Global => {
                let name = launch.image.data().names.get(number).map_or("", |named| named.name.as_str());
                let copy = if write { "cudaMemcpyToSymbol" } else { "cudaMemcpyFromSymbol" };
                (format!("the variable `{name}` of the device"), copy)
            }
            _ => (format!("{name}memory of the device that `cudaMalloc` gave"), "cudaMemcpy"),
        };
        let managed =
            if kind == DescKind::Global { "declare it `__managed__`" } else { "allocate with cudaMallocManaged" };
        format!("host code {verb} {place} of {of}: copy it with {copy}, or {managed}, which both sides may use")
    } else {
        let of = match (source, kind) {
            (Some(Source::Heap), _) => "memory of the host (`malloc`, `new` or a container gave it)",
            (_, DescKind::Global) => "a variable of host code",
            (Some(_), _) => "memory of the host",
            (None, _) => "a local variable, a variable at namespace scope or a literal of host code",
        };
        format!(
            "the kernel {verb} {place} of {name}{of}: copy it to memory that cudaMalloc gave (cudaMemcpy), or allocate with \
             cudaMallocManaged; `unified_memory=True` is for machines whose GPUs reach the host's memory"
        )
    };
    (FaultKind::WrongMemory, detail)
}

fn explain(buffer: &Buffer<'_>, write: bool, ty: Type, off: i64, index: Option<i64>) -> (FaultKind, String) {
    let size = u64::from(ty.size());
    let verb = if write { "writes" } else { "reads" };
    let name = if buffer.name.is_empty() { buffer.noun.to_owned() } else { format!("`{}`", buffer.name) };
    match buffer.desc.kind().0 {
        DescKind::Null => return (FaultKind::NullPointer, format!("{verb} {} through a null pointer", bytes(size))),
        DescKind::NullParam => {
            let place = place(buffer.elem, off, size, index);
            return (FaultKind::NullPointer, format!("{verb} {place} of {name}, which is a null pointer"));
        }
        DescKind::Dangling => {
            let address = buffer.desc.base.wrapping_add_signed(off);
            if address.wrapping_sub(ENDED as u64).cast_signed().unsigned_abs() < 1 << 40 {
                let what = format!("{verb} {} through a pointer to a variable whose scope has ended", bytes(size));
                return (FaultKind::DanglingPointer, what);
            }
            let what = format!("{verb} {} at address {address:#x}, which is in no live allocation", bytes(size));
            return (FaultKind::DanglingPointer, what);
        }
        DescKind::Param | DescKind::Slot | DescKind::Global | DescKind::Shared | DescKind::Host => {}
    }
    let place = place(buffer.elem, off, size, index);
    let from_start = off.wrapping_add(buffer.before as i64);
    if from_start as u64 >= BufferDesc::starts(buffer.desc.len, size) {
        let kind = if write { FaultKind::OutOfBoundsWrite } else { FaultKind::OutOfBoundsRead };
        return (kind, format!("{verb} {place} of {name}, which {}", extent(buffer, off, size)));
    }
    if write && buffer.desc.write == [0; crate::back::cpu::abi::context::SIZES] {
        return (FaultKind::ReadOnlyWrite, format!("writes {place} of {name}, which is read-only"));
    }
    let address = buffer.desc.base.wrapping_add_signed(from_start);
    let what = match ty {
        Type::Scalar(s) => format!("`{}`", s.c_name()),
        Type::Ptr => "pointer".to_owned(),
    };
    let detail = format!("{verb} a {what} at byte {off} of {name} (address {address:#x}), not a multiple of {size}");
    (FaultKind::Misaligned, detail)
}

/// `index 5`, or `4 bytes at byte 6` where the access is no element of the buffer. `index` is the number that the pointer
/// was moved by.
fn place(elem: Option<Elem>, off: i64, size: u64, index: Option<i64>) -> String {
    let is_far = off.wrapping_sub(FAR).unsigned_abs() < 1 << 50;
    match (elem.filter(|e| u64::from(e.size()) == size && off % size as i64 == 0), index) {
        (_, Some(index)) if is_far => format!("index {index}"),
        (_, None) if is_far => "an index past all memory".to_owned(),
        (Some(_), _) => format!("index {}", off / size as i64),
        (None, _) => format!("{} at byte {off}", bytes(size)),
    }
}

/// `has 7 elements (float)`, or `points at element 1 of 8 (float)` where the place lies before a pointer into the middle of the
/// buffer.
fn extent(buffer: &Buffer<'_>, off: i64, size: u64) -> String {
    let (len, before) = (buffer.desc.len, buffer.before);
    let elem = buffer.elem.filter(|e| u64::from(e.size()) == size && off % size as i64 == 0);
    match elem {
        Some(elem) if off < 0 && before > 0 => {
            format!("points at element {} of {} ({})", before / size, len / size, elem.c_name())
        }
        None if off < 0 && before > 0 => format!("points at byte {before} of {len}"),
        Some(elem) => match (len - before) / size {
            1 => format!("has 1 element ({})", elem.c_name()),
            n => format!("has {n} elements ({})", elem.c_name()),
        },
        None => format!("has {}", bytes(len - before)),
    }
}

fn bytes(n: u64) -> String {
    if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") }
}
