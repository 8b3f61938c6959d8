//! Instructions of a warp's matrices, and copies into shared memory that go on meanwhile.

use std::fmt::Write;

use super::{NAMESPACE, Result, Translator, list};

impl Translator<'_> {
    /// `cp.async.cg.shared.global [to], [from], 16, n;`: of the bytes all from the `n`-th on are zeros.
    pub(super) fn copy_async(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let known =
            |part: &&str| matches!(*part, "ca" | "cg" | "shared" | "shared::cta" | "global" | "shared::cluster");
        match parts.get(2..).unwrap_or_default() {
            // Everything is there at once.
            ["commit_group"] if args.is_empty() => return Ok(Some(())),
            ["wait_all"] if args.is_empty() => return Ok(Some(())),
            ["wait_group"] if args.len() == 1 => return self.read(args[0], "int").map(|_| Some(())),
            rest => {
                let mut rest = rest.to_vec();
                rest.retain(|part| !part.starts_with("L2::"));
                if rest.len() != 3 || !rest.iter().all(known) {
                    return Ok(None);
                }
            }
        }
        let hinted = parts.contains(&"L2::cache_hint");
        let (to, from, size, n) = match args {
            [to, from, size] => (to, from, size, size),
            [to, from, size, _] if hinted => (to, from, size, size),
            [to, from, size, n] => (to, from, size, n),
            [to, from, size, n, _] if hinted => (to, from, size, n),
            _ => return Ok(None),
        };
        let (to, from) = (self.address(to, true)?, self.address(from, false)?);
        // Past the first cache go 16 bytes and nothing else.
        let any = !parts.contains(&"cg");
        let allowed = |size: &str| size == "16" || any && matches!(size, "4" | "8");
        if size.starts_with(|c: char| c.is_ascii_digit()) && !allowed(size) {
            return Ok(None);
        }
        let (size, n) = (self.read(size, "unsigned")?, self.read(n, "unsigned")?);
        let _ = write!(
            self.out,
            "void* __wb_t = &{NAMESPACE}::at<char>({to}); const void* __wb_f = &{NAMESPACE}::at<char>({from}); \
             const unsigned __wb_n = {n}, __wb_s = {size}; \
             if (__wb_n > __wb_s) __trap(); \
             else if (__wb_s == 16) {NAMESPACE}::copy<uint4>(__wb_t, __wb_f, __wb_n); \
             else if (__wb_s == 8 && {any}) {NAMESPACE}::copy<uint2>(__wb_t, __wb_f, __wb_n); \
             else if (__wb_s == 4 && {any}) {NAMESPACE}::copy<unsigned>(__wb_t, __wb_f, __wb_n); \
             else __trap(); "
        );
        Ok(Some(()))
    }

    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {a, b, c, d}, [p];`, and `stmatrix`, which has them the other way round.
    pub(super) fn tiles(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        // The count may come before the shape.
        let (["sync", "aligned", "m8n8", rest @ .., "b16"] | ["sync", "aligned", rest @ .., "b16"]) =
            parts.get(1..).unwrap_or_default()
        else {
            return Ok(None);
        };
        let rest: Vec<&str> = rest.iter().copied().filter(|part| *part != "m8n8").collect();
        if parts.iter().filter(|part| **part == "m8n8").count() != 1 {
            return Ok(None);
        }
        let (count, transposed) = match rest[..] {
            [count, "shared" | "shared::cta"] => (count, false),
            [count, "trans", "shared" | "shared::cta"] | [count, "shared" | "shared::cta", "trans"] => (count, true),
            _ => return Ok(None),
        };
        let loads = parts[0] == "ldmatrix";
        let [first, second] = args else { return Ok(None) };
        let (registers, place) = if loads { (first, second) } else { (second, first) };
        let registers = list(registers).unwrap_or_else(|| vec![(*registers).to_owned()]);
        let wanted = match count {
            "x1" => 1,
            "x2" => 2,
            "x4" => 4,
            _ => return Ok(None),
        };
        if registers.len() != wanted {
            return Ok(None);
        }
        let place = self.address(place, true)?;
        let _ = write!(self.out, "void* __wb_p = &{NAMESPACE}::at<char>({place}); ");
        for (n, register) in registers.iter().enumerate() {
            if loads {
                // All are there before any is written, which may be the address.
                let _ = write!(self.out, "const unsigned __wb_m{n} = {NAMESPACE}::tile<{transposed}>(__wb_p, {n}); ");
            } else {
                let word = self.read(register, "unsigned")?;
                let _ = write!(self.out, "{NAMESPACE}::store_tile<{transposed}>(__wb_p, {n}, {word}); ");
            }
        }
        for (n, register) in registers.iter().enumerate().filter(|_| loads) {
            self.put(register, &format!("__wb_m{n}"))?;
        }
        Ok(Some(()))
    }

    /// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d, ..}, {a, ..}, {b, ..}, {c, ..};`
    pub(super) fn product(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let [_, "sync", "aligned", shape, "row", "col", rest @ ..] = parts else { return Ok(None) };
        let (saturates, types) = match rest {
            ["satfinite", types @ ..] => (true, types),
            types => (false, types),
        };
        let [to, a, b, from] = types else { return Ok(None) };
        let Some(depth) = shape.strip_prefix("m16n8k").and_then(|k| k.parse::<usize>().ok()) else { return Ok(None) };
        let (Some((left, width)), Some((right, other))) = (element(a), element(b)) else { return Ok(None) };
        // A register is so many elements, and four lanes hold a row.
        let words = depth * width / 128;
        let fits = width == other && (a == b || width == 8) && words * 128 == depth * width && matches!(words, 1 | 2);
        let results = match (*to, *from, width) {
            ("f32", "f32", 16 | 32) if !saturates => ("float", 4),
            ("f16", "f16", 16) if *a == "f16" && !saturates => ("unsigned", 2),
            ("s32", "s32", 8) => ("int", 4),
            _ => return Ok(None),
        };
        let (result, count) = results;
        let [d, factor, other, c] = args else { return Ok(None) };
        let lists = [(list(d), count), (list(factor), 2 * words), (list(other), words), (list(c), count)];
        let [Some(d), Some(factor), Some(other), Some(c)] =
            lists.map(|(list, n)| list.filter(|list| list.len() == n && fits))
        else {
            return Ok(None);
        };
        for (name, ty, registers) in [("a", "unsigned", &factor), ("b", "unsigned", &other), ("c", result, &c)] {
            let values: Result<Vec<String>> = registers.iter().map(|register| self.read(register, ty)).collect();
            let _ = write!(self.out, "const {ty} __wb_m{name}[{}] = {{{}}}; ", registers.len(), values?.join(", "));
        }
        let (call, last) = match result {
            "unsigned" => ("mma_half", String::new()),
            _ => ("mma", format!(", {saturates}")),
        };
        let _ = write!(
            self.out,
            "{result} __wb_md[{count}]; {NAMESPACE}::{call}<{left}, {right}, {words}>(__wb_md, __wb_ma, __wb_mb, __wb_mc{last}); "
        );
        for (i, register) in d.iter().enumerate() {
            self.put(register, &format!("__wb_md[{i}]"))?;
        }
        Ok(Some(()))
    }
}

/// The class of a factor's elements, and their bits.
fn element(ty: &str) -> Option<(&'static str, usize)> {
    Some(match ty {
        // The name `__half` asks for the part of the library with 16-bit floats.
        "f16" => ("__wb_ptx::f16<__half>", 16),
        "bf16" => ("__wb_ptx::bf16", 16),
        "tf32" => ("__wb_ptx::tf32", 32),
        "s8" => ("__wb_ptx::byte8<signed char>", 8),
        "u8" => ("__wb_ptx::byte8<unsigned char>", 8),
        _ => return None,
    })
}
