//! Services: functions that generated host code calls to use its run time, to launch kernels and to catch exceptions.

use std::sync::atomic::Ordering;

use super::fault_messages;
use super::host::{Lent, Raised, Refusal, Reply, Word};
use super::launch::{Launch, Running};
use super::lookup::{lookup, lookup_as};
use crate::back::cpu::abi::context::{BufferDesc, DANGLING_DESC, Side, WorkerCtx};
use crate::back::cpu::abi::site::SiteKind;
use crate::back::{Dim3, Exception, FaultKind, LaunchConfig, RawArg, RawFault};
use crate::ir::Service;
use crate::ir::service::Kind;

/// # Safety
/// `desc` is a live descriptor.
unsafe fn lent(address: u64, desc: u64) -> Lent {
    // SAFETY: the caller's promise.
    let desc = unsafe { (desc as *const BufferDesc).as_ref() }.unwrap_or(&DANGLING_DESC);
    let off = address.wrapping_sub(desc.base);
    let bytes = if off <= desc.len { (desc.len - off) as usize } else { 0 };
    let side = desc.side_in_host();
    Lent { ptr: address as *mut u8, bytes, writable: desc.write[0] > 0 || desc.is_away(), side }
}

fn fail(ctx: &mut Running, launch: &Launch<'_>, site: u64, raised: Raised) -> u32 {
    let site = launch.site(site);
    let span = site.map_or(launch.entry.span, |s| s.span);
    ctx.worker.in_library = site.is_some_and(|s| s.library);
    ctx.worker.fault = Some(fault_messages::at(ctx, launch, raised.kind, span, raised.detail));
    1
}

fn nowhere() -> Raised {
    Raised { kind: FaultKind::Trap, detail: "host code runs without its surroundings".to_owned() }
}

/// Called by generated code: runs a service. The result takes the place of the operands; 1 when the call ends here.
///
/// # Safety
/// `ctx` is the running worker's; `words` holds the operands of the site, two words (address, descriptor) for a pointer, and has
/// room for two.
pub unsafe extern "C" fn service(ctx: *mut WorkerCtx, site: u64, words: *mut u64) -> u64 {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    let Some(SiteKind::Service(service)) = launch.site(site).map(|s| &s.kind) else { return 1 };
    let Some(host) = launch.host else { return u64::from(fail(ctx, launch, site, nowhere())) };
    let mut operands = [Word::Int(0); 4];
    let mut at = 0;
    for (operand, kind) in operands.iter_mut().zip(service.params()) {
        // SAFETY: the caller's promise.
        unsafe {
            let word = *words.add(at);
            *operand = match kind {
                Kind::Int => Word::Int(word as i64),
                Kind::Float => Word::Float(f64::from_bits(word)),
                Kind::Ptr => {
                    at += 1;
                    Word::Memory(lent(word, *words.add(at)))
                }
            };
        }
        at += 1;
    }
    if let (Service::Unasked, Word::Int(code)) = (service, operands[0]) {
        if code != 0 {
            let detail = host.why(code as i32);
            let refusal = Refusal { code: code as i32, detail: detail.clone(), is_empty: false };
            let span = launch.site(site).map_or(launch.entry.span, |s| s.span);
            host.refuse(&refusal, fault_messages::at(ctx, launch, FaultKind::Raised(Exception::Runtime), span, detail));
        }
        return 0;
    }
    if *service == Service::Seen {
        // SAFETY: the caller's promise.
        unsafe { *words.add(1) = lookup_as(ctx, launch, *words, Side::Both) as u64 };
        return 0;
    }
    let away = |word: &Word| matches!(word, Word::Memory(lent) if lent.side == Side::Device && lent.bytes > 0);
    if !service.takes_device() && operands.iter().any(away) {
        let detail = "host code uses memory of the device's: copy it with cudaMemcpy, or allocate with cudaMallocManaged, which both \
                      sides may use";
        return u64::from(fail(ctx, launch, site, Raised { kind: FaultKind::WrongMemory, detail: detail.to_owned() }));
    }
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        host.service(*service, &operands[..service.params().len()])
    }));
    let reply = match answer {
        Ok(Ok(reply)) => reply,
        Ok(Err(mut raised)) => {
            // Memory that the service could not read or write may have been given back.
            let dead = operands.iter().filter_map(|word| match word {
                Word::Memory(lent) if lent.bytes == 0 => host.memory().freed_at(lent.ptr as u64),
                _ => None,
            });
            let place = dead.into_iter().next();
            if place.is_some() {
                raised.detail.push_str(": the memory was freed");
            }
            let failed = fail(ctx, launch, site, raised);
            if let Some(fault) = &mut ctx.worker.fault {
                fault.related = place;
            }
            return u64::from(failed);
        }
        Err(_) => {
            let detail = format!("internal error in `{}`: please report it", service.name());
            return u64::from(fail(ctx, launch, site, Raised { kind: FaultKind::Trap, detail }));
        }
    };
    // SAFETY: the caller's promise.
    unsafe {
        match reply {
            Reply::Nothing => {}
            Reply::Again(fault) => {
                ctx.worker.in_library = false;
                ctx.worker.fault = Some(*fault);
                return 1;
            }
            Reply::Int(value) => *words = value as u64,
            Reply::Float(value) => *words = value.to_bits(),
            Reply::Address(address) => {
                *words = address;
                *words.add(1) = lookup(ctx.head(), address) as u64;
            }
        }
    }
    0
}

/// Called by generated code: launches a kernel and waits for it; 1 when the call ends here.
///
/// # Safety
/// As for [`service`]; the words are seven of extents and shared memory, then the arguments.
pub unsafe extern "C" fn launch(ctx: *mut WorkerCtx, site: u64, words: *const u64) -> u64 {
    // SAFETY: as above.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    let Some(SiteKind::Launch(kernel)) = launch.site(site).map(|s| &s.kind) else { return 1 };
    let Some(host) = launch.host else { return u64::from(fail(ctx, launch, site, nowhere())) };
    let Some(entry) = launch.image.entry(*kernel) else { return 1 };
    let side = entry.side(host.is_unified());
    // SAFETY: the caller's promise.
    let word = |at: usize| unsafe { *words.add(at) };
    let mut at = 7;
    let mut args = Vec::with_capacity(entry.params.len());
    for param in &entry.params {
        args.push(if !param.is_ptr {
            RawArg::Scalar(word(at))
        } else {
            let address = word(at);
            at += 1;
            // SAFETY: the caller's promise.
            let Lent { ptr, bytes, writable, side: of } = unsafe { lent(address, word(at)) };
            match address {
                0 => RawArg::Null,
                _ if param.by_value || side.sees(of) => RawArg::Buffer { ptr, bytes, writable },
                _ => RawArg::Away { ptr, bytes },
            }
        });
        at += 1;
    }
    let extents = |from: usize| Dim3::new(word(from) as u32, word(from + 1) as u32, word(from + 2) as u32);
    let config = LaunchConfig {
        shared_mem: word(6),
        timeout: launch.deadline.map(|d| d.saturating_duration_since(std::time::Instant::now())),
        interrupt: launch.interrupt,
        host: Some(host),
        ..LaunchConfig::new(extents(0), extents(3))
    };
    // The host function's slots stay as they are until the launch is over.
    let before = host.memory().frames.swap(ctx.frames.cast_mut(), Ordering::Relaxed);
    let launched = host.launch(*kernel, &args, &config);
    host.memory().frames.store(before, Ordering::Relaxed);
    match launched {
        Err(refusal) => {
            let span = launch.site(site).map_or(launch.entry.span, |s| s.span);
            let kind = FaultKind::Raised(Exception::Runtime);
            host.refuse(&refusal, fault_messages::at(ctx, launch, kind, span, refusal.detail.clone()));
            0
        }
        Ok(outcome) => {
            ctx.worker.output.append(outcome.output, outcome.dropped);
            let failed = outcome.fault.is_some();
            ctx.worker.in_library = false;
            ctx.worker.is_uncalled = false;
            ctx.worker.fault = outcome.fault.map(|f| RawFault { kernel: f.kernel.or(Some(*kernel)), ..f });
            // A kernel of the library is an algorithm that a line of the text calls.
            if let (Some(fault), Some(site)) = (&mut ctx.worker.fault, launch.site(site))
                && entry.span.file.is_common()
            {
                if fault.span.file.is_common() {
                    fault.span = site.span;
                    ctx.worker.in_library = site.library;
                }
                fault.called = Some(site.span);
                ctx.worker.is_uncalled = site.library;
            }
            u64::from(failed)
        }
    }
}

/// Called by generated code when a function of the library failed: to the user it happened at their call.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn relocate(ctx: *mut WorkerCtx, site: u64) {
    // SAFETY: as above.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    let (Some(fault), Some(site)) = (&mut ctx.worker.fault, launch.site(site)) else { return };
    if std::mem::take(&mut ctx.worker.is_uncalled) {
        fault.called = Some(site.span);
        ctx.worker.is_uncalled = site.library;
    }
    if ctx.worker.in_library {
        fault.span = site.span;
        ctx.worker.in_library = site.library;
    }
}

/// Called by generated code where a call failed and its caller wants to catch that: 1 where it was an exception, which is in flight now.
///
/// # Safety
/// `ctx` is the running worker's; `frames` is the link of the innermost slots of those who go on.
pub unsafe extern "C" fn catch(ctx: *mut WorkerCtx, frames: u64) -> u64 {
    // SAFETY: as above.
    let (ctx, launch) = unsafe { Running::of(ctx) };
    let is_exception = |fault: &RawFault| matches!(fault.kind, FaultKind::Raised(_));
    match (ctx.worker.fault.take(), launch.host) {
        (Some(fault), Some(host)) if is_exception(&fault) => {
            // The functions called have left without unlinking their slots.
            ctx.frames = frames as *const _;
            ctx.worker.fault = host.catch(fault);
            u64::from(ctx.worker.fault.is_none())
        }
        (fault, _) => {
            ctx.worker.fault = fault;
            0
        }
    }
}

/// The code of the function at an address of host code's, where it is one of that signature; 0 where not.
///
/// # Safety
/// `ctx` is the running worker's.
pub unsafe extern "C" fn function(ctx: *mut WorkerCtx, address: u64, signature: u64) -> u64 {
    // SAFETY: generated code passes the context it was given, and the launch outlives its workers.
    let (_, launch) = unsafe { Running::of(ctx) };
    launch.function(address, signature).unwrap_or(0) as u64
}
