//! The whole C text of a kernel: what its operations are, then the kernel.

use std::fmt::Write as _;

use super::prelude;
use crate::back::Dim3;
use crate::back::cpu::abi::context::Field;
use crate::back::cpu::abi::host_fn::{self, HostFn};
use crate::back::lane::tree::Kernel;
use crate::back::lane::write_c;

/// The text of a kernel for blocks of a shape; `spans`: whether blocks are one long row of threads. `addresses` are those of the functions
/// that it calls, by their numbers in [`host_fn`].
pub fn text(kernel: &Kernel, block: Dim3, spans: bool, addresses: &[usize]) -> String {
    let Dim3 { x, y, z } = block;
    let mut out = String::new();
    out.push_str(prelude::text());
    if spans {
        let _ = writeln!(out, "#define SPAN {x}u");
    }
    out.push_str(prelude::FAULTS);
    out.push_str(&write_c::before(kernel));
    let pack = match (y, z) {
        (1, 1) => "t".to_owned(),
        _ => format!("t % {x} | t / {x} % {y} << 10 | t / {} << 20", x * y),
    };
    let [fault, poll] = [HostFn::Fault, HostFn::Poll].map(|host| addresses[host_fn::index(host) as usize]);
    let _ = writeln!(
        out,
        "FN u32 pack(u32 t) {{ return {pack}; }}\n\
         COLD u32 stop(char* ctx, State* st) {{\n\
         u64* f = (u64*)(ctx + {}); f[0] = st->site; f[1] = st->a; f[2] = st->b; *(u64*)(ctx + {}) += st->block;\n\
         ((void (*)(char*, u32)){fault:#x}ull)(ctx, pack(st->thread)); return 1; }}",
        Field::FAULT,
        Field::BLOCK_LINEAR
    );
    let _ = writeln!(
        out,
        "COLD i64 tick(char* ctx, State* st, u64 site, u32 t) {{\n\
         if (st->faulted && st->now >= st->block && st->thread <= t) {{ stop(ctx, st); return -1; }}\n\
         return ((i64 (*)(char*, u64, u32)){poll:#x}ull)(ctx, site, pack(t)); }}"
    );
    out.push_str(&write_c::kernel(kernel));
    out
}
