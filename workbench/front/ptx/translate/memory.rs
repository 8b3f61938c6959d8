//! Instructions that move data: loads and stores, atomics, and what a warp does together.

use std::fmt::Write;

use super::{NAMESPACE, Result, Translator, cpp, list};

impl Translator<'_> {
    pub(super) fn load(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let Some((ty, n, order)) = memory(parts) else { return Ok(None) };
        let Some([to, from]) = without_policy(parts, args) else { return Ok(None) };
        let from = self.address(from, is_shared(parts))?;
        let place = if order.is_empty() { "at" } else { "volatile_at" };
        if n == 1 {
            let Some(ty) = cpp(ty) else { return Ok(None) };
            self.put(to, &format!("{NAMESPACE}::{place}<{ty}>({from})"))?;
        } else {
            let to = list(to).unwrap_or_default();
            let Some(vector) = vector(ty, n).filter(|_| to.len() == n && order.is_empty()) else { return Ok(None) };
            let _ = write!(self.out, "const {vector} __wb_m = {NAMESPACE}::at<{vector}>({from}); ");
            for (to, member) in to.iter().zip(["x", "y", "z", "w"]) {
                self.put(to, &format!("__wb_m.{member}"))?;
            }
        }
        if order == "acquire" {
            self.out.push_str("__threadfence(); ");
        }
        Ok(Some(()))
    }

    pub(super) fn store(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let Some((ty, n, order)) = memory(parts) else { return Ok(None) };
        let Some([to, from]) = without_policy(parts, args) else { return Ok(None) };
        let to = self.address(to, is_shared(parts))?;
        if order == "release" {
            self.out.push_str("__threadfence(); ");
        }
        let place = if order.is_empty() { "at" } else { "volatile_at" };
        let Some(one) = cpp(ty) else { return Ok(None) };
        if n == 1 {
            let value = self.read(from, one)?;
            let _ = write!(self.out, "{NAMESPACE}::{place}<{one}>({to}) = {value}; ");
        } else {
            let from = list(from).unwrap_or_default();
            let Some(vector) = vector(ty, n).filter(|_| from.len() == n && order.is_empty()) else { return Ok(None) };
            let values: Result<Vec<String>> = from.iter().map(|from| self.read(from, one)).collect();
            let _ = write!(self.out, "{NAMESPACE}::at<{vector}>({to}) = make_{vector}({}); ", values?.join(", "));
        }
        Ok(Some(()))
    }

    pub(super) fn atomic(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let ty = parts.last().copied().unwrap_or("");
        let known = |part: &&str| {
            matches!(
                *part,
                "global"
                    | "shared"
                    | "shared::cta"
                    | "relaxed"
                    | "acquire"
                    | "release"
                    | "acq_rel"
                    | "gpu"
                    | "sys"
                    | "cta"
            )
        };
        let between = parts.get(1..parts.len() - 1).unwrap_or_default();
        let rest: Vec<&str> = between.iter().copied().filter(|part| !known(part)).collect();
        let [operation] = rest[..] else { return Ok(None) };
        let (to, args) = match (parts[0], args) {
            ("atom", [to, args @ ..]) => (Some(*to), args),
            ("red", args) => (None, args),
            _ => return Ok(None),
        };
        let call = match (operation, ty) {
            ("add", "u32" | "s32" | "u64" | "f32" | "f64") => "atomicAdd",
            ("min", "u32" | "s32" | "u64" | "s64") => "atomicMin",
            ("max", "u32" | "s32" | "u64" | "s64") => "atomicMax",
            ("exch", "b32" | "b64") => "atomicExch",
            ("and", "b32") => "atomicAnd",
            ("or", "b32") => "atomicOr",
            ("xor", "b32") => "atomicXor",
            ("inc", "u32") => "atomicInc",
            ("dec", "u32") => "atomicDec",
            ("cas", "b32" | "b64") => "atomicCAS",
            _ => return Ok(None),
        };
        let Some(ty) = cpp(ty) else { return Ok(None) };
        let [place, values @ ..] = args else { return Ok(None) };
        if values.len() != 1 + usize::from(operation == "cas") {
            return Ok(None);
        }
        let place = self.address(place, is_shared(parts))?;
        let values: Result<Vec<String>> = values.iter().map(|value| self.read(value, ty)).collect();
        let call = format!("{call}(&{NAMESPACE}::at<{ty}>({place}), {})", values?.join(", "));
        match to {
            Some(to) => self.put(to, &call)?,
            None => {
                let _ = write!(self.out, "{call}; ");
            }
        }
        Ok(Some(()))
    }

    pub(super) fn collective(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let value = match (parts, args) {
            (["shfl", "sync", mode, "b32"], [to, a, b, c, mask]) => {
                // The width is 32 where the clamp lets all lanes through and no segment is asked for.
                let all = if *mode == "up" { ["0", "0x0"] } else { ["31", "0x1f"] };
                let (name, number) = match *mode {
                    "bfly" => ("_xor", 0),
                    "up" => ("_up", 1),
                    "down" => ("_down", 2),
                    "idx" => ("", 3),
                    _ => return Ok(None),
                };
                let plain = all.contains(&c.to_lowercase().as_str()) && !to.contains('|');
                let (mask, a, b) = (self.read(mask, "unsigned")?, self.read(a, "unsigned")?, self.read(b, "unsigned")?);
                if plain {
                    format!("__shfl{name}_sync({mask}, {a}, {b})")
                } else {
                    let c = self.read(c, "unsigned")?;
                    let (to, there) = to.split_once('|').map_or((*to, "_"), |(to, there)| (to.trim(), there.trim()));
                    let _ = write!(
                        self.out,
                        "bool __wb_y; const unsigned __wb_m = {NAMESPACE}::shfl<{number}>({mask}, {a}, {b}, {c}, __wb_y); "
                    );
                    self.put(to, "__wb_m")?;
                    return self.put(there, "__wb_y").map(Some);
                }
            }
            (["vote", "sync", what, "b32" | "pred"], [_, p, mask]) => {
                let call = match *what {
                    "ballot" => "__ballot_sync",
                    "any" => "__any_sync",
                    "all" => "__all_sync",
                    _ => return Ok(None),
                };
                format!("{call}({}, {})", self.read(mask, "unsigned")?, self.negatable(p)?)
            }
            (["activemask", "b32"], [_]) => "__activemask()".to_owned(),
            (["redux", "sync", what, ty], [_, a, mask]) => {
                if !["add", "min", "max", "and", "or", "xor"].contains(what) || !["u32", "s32", "b32"].contains(ty) {
                    return Ok(None);
                }
                let Some(ty) = cpp(ty) else { return Ok(None) };
                format!("__reduce_{what}_sync({}, {})", self.read(mask, "unsigned")?, self.read(a, ty)?)
            }
            (["match", "any", "sync", "b32"], [_, a, mask]) => {
                format!("__match_any_sync({}, {})", self.read(mask, "unsigned")?, self.read(a, "unsigned")?)
            }
            _ => return Ok(None),
        };
        if args[0].contains('|') {
            return Ok(None);
        }
        self.put(args[0], &value).map(Some)
    }
}

/// The address is one of shared memory, by its 32-bit number.
fn is_shared(parts: &[&str]) -> bool {
    parts.iter().any(|part| matches!(*part, "shared" | "shared::cta"))
}

/// CUDA's type of several of a type.
fn vector(ty: &str, n: usize) -> Option<String> {
    let base = match ty {
        "b32" | "u32" => "uint",
        "s32" => "int",
        "f32" => "float",
        "f64" => "double",
        "b64" | "u64" => "ulonglong",
        "s64" => "longlong",
        "b16" | "u16" => "ushort",
        "s16" => "short",
        "b8" | "u8" => "uchar",
        "s8" => "char",
        _ => return None,
    };
    Some(format!("{base}{n}"))
}

/// The object of an access: the type, the number of values, and its order among others'.
fn memory<'a>(parts: &[&'a str]) -> Option<(&'a str, usize, &'a str)> {
    let ty = parts.last()?;
    let (mut n, mut order) = (1, "");
    for part in parts.get(1..parts.len() - 1).unwrap_or_default() {
        match *part {
            "shared" | "shared::cta" | "global" | "const" | "weak" | "nc" | "ca" | "cg" | "cs" | "lu" | "wb" | "wt" => {
            }
            "gpu" | "sys" | "cta" => {}
            "v2" => n = 2,
            "v4" => n = 4,
            // Memory that is read past the caches may have been written meanwhile.
            "cv" => order = "volatile",
            "volatile" | "relaxed" | "acquire" | "release" => order = part,
            _ if part.starts_with("L1::") || part.starts_with("L2::") => {}
            _ => return None,
        }
    }
    // One element past the first cache is what a thread waits on; several are a stream.
    if n == 1 && order.is_empty() && parts.contains(&"cg") && !parts.contains(&"nc") {
        order = "volatile";
    }
    Some((ty, n, order))
}

/// The operands of an access, of which a third may be a policy of caches.
fn without_policy<'a>(parts: &[&str], args: &[&'a str]) -> Option<[&'a str; 2]> {
    match args {
        [to, from] => Some([to, from]),
        [to, from, _] if parts.iter().any(|part| part.ends_with("::cache_hint")) => Some([to, from]),
        _ => None,
    }
}
