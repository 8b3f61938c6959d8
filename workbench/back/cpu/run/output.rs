//! `printf`: formats the arguments of a thread and keeps the text in its worker's [`records`](super::records).

use super::fault_messages;
use super::launch::Running;
use crate::back::cpu::abi::context::{BufferDesc, DANGLING_DESC, Side, WorkerCtx};
use crate::back::cpu::abi::site::SiteKind;
use crate::back::printf::{PrintfArg, format_record};
use crate::back::{FaultKind, PrintfRecord};
use crate::ir::printf_format::{ArgKind, Piece, arg_kinds};
use crate::ir::{Scalar, Type};

/// Most bytes of one `%s`.
const MAX_STRING: u64 = 1 << 20;

/// Called by generated code: formats and keeps a record. Gives printf's result, or -1 after a fault.
///
/// # Safety
/// `ctx` is the running worker's; `words` holds the arguments of the site: one word each, two (address, descriptor) for a
/// pointer.
pub unsafe extern "C" fn printf(ctx: *mut WorkerCtx, site: u64, words: *const u64) -> i64 {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    let Some(site) = launch.site(site) else { return 0 };
    let SiteKind::Printf { format, args, host } = &site.kind else { return 0 };
    let Some(pieces) = launch.image.formats.get(*format) else { return 0 };
    if !*host && ctx.worker.output.is_full() {
        ctx.worker.output.drop_one();
        return args.len() as i64;
    }
    let count: usize = args.iter().map(|ty| if *ty == Type::Ptr { 2 } else { 1 }).sum();
    // SAFETY: the caller's promise.
    let words = unsafe { std::slice::from_raw_parts(words, count) };
    // SAFETY: descriptors among the words are live, as those of any pointer in generated code.
    let values = match unsafe { arguments(pieces, args, words) } {
        Ok(values) => values,
        Err((kind, detail)) => {
            ctx.worker.fault = Some(fault_messages::at(ctx, launch, kind, site.span, detail));
            return -1;
        }
    };
    let text = format_record(pieces, &values);
    // CUDA's printf gives the number of arguments, C's the number of characters.
    let result = if *host { text.len() as i64 } else { args.len() as i64 };
    // The launch adds the kernel's name at its end, once for all records.
    let block = launch.grid.unflatten(ctx.block_linear);
    let record = PrintfRecord { block, thread: ctx.thread, text, kernel: None };
    ctx.worker.output.push(ctx.block_linear, record);
    result
}

type Misread = (FaultKind, String);

/// # Safety
/// The descriptors among the words are live.
unsafe fn arguments(pieces: &[Piece], types: &[Type], words: &[u64]) -> Result<Vec<PrintfArg>, Misread> {
    let kinds = arg_kinds(pieces);
    let mut words = words.iter().copied();
    let mut next = || words.next().unwrap_or(0);
    let mut values = Vec::with_capacity(types.len());
    for (i, ty) in types.iter().enumerate() {
        let value = match ty {
            Type::Scalar(Scalar::F64) => PrintfArg::Double(f64::from_bits(next())),
            Type::Scalar(Scalar::F32) => PrintfArg::Double(f64::from(f32::from_bits(next() as u32))),
            Type::Scalar(s) if s.is_signed() => PrintfArg::Int(next() as i64),
            Type::Scalar(_) => PrintfArg::UInt(next()),
            Type::Ptr => {
                let (address, desc) = (next(), next());
                if kinds.get(i) == Some(&ArgKind::Str) {
                    // SAFETY: the caller's promise.
                    let desc = unsafe { (desc as *const BufferDesc).as_ref() }.unwrap_or(&DANGLING_DESC);
                    // SAFETY: as above: a live descriptor describes memory that can be read.
                    unsafe { string(address, desc) }?
                } else {
                    PrintfArg::Pointer(address)
                }
            }
        };
        values.push(value);
    }
    Ok(values)
}

/// # Safety
/// The memory the descriptor describes can be read.
unsafe fn string(address: u64, desc: &BufferDesc) -> Result<PrintfArg, Misread> {
    if address == 0 {
        return Ok(PrintfArg::Str("(null)".to_owned()));
    }
    let off = address.wrapping_sub(desc.base);
    if desc.is_away() {
        let whose = if desc.side() == Side::Device { "device" } else { "host" };
        return Err((
            FaultKind::WrongMemory,
            format!("`%s` of memory of the {whose}: copy it with cudaMemcpy, or allocate with cudaMallocManaged"),
        ));
    }
    if desc.len == 0 {
        return Err((FaultKind::DanglingPointer, "`%s` of a pointer into no live allocation".to_owned()));
    }
    if off >= desc.len {
        let detail = format!("`%s` starts at byte {} of a buffer of {} bytes", off as i64, desc.len);
        return Err((FaultKind::OutOfBoundsRead, detail));
    }
    let available = desc.len - off;
    // SAFETY: `available` bytes from `address` lie in the allocation.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, available.min(MAX_STRING) as usize) };
    match bytes.iter().position(|&b| b == 0) {
        Some(end) => Ok(PrintfArg::Str(String::from_utf8_lossy(&bytes[..end]).into_owned())),
        None if available > MAX_STRING => Ok(PrintfArg::Str(String::from_utf8_lossy(bytes).into_owned())),
        None => Err((FaultKind::OutOfBoundsRead, "`%s` of a string without a closing NUL".to_owned())),
    }
}
