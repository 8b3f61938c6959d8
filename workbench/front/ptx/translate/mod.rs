//! PTX instructions as C++ statements, by NVIDIA's "Parallel Thread Execution ISA". A register holds bits; the suffix of an instruction says what
//! they are, which `__wb_ptx::as` and `__wb_ptx::put` follow. Hints for caches and the precision of approximations change nothing that a program
//! may count on; everything else that is not known is refused by name.

mod compute;
mod matrix;
mod memory;

use std::fmt::Write;

use super::NAMESPACE;

/// A register that the instructions declare, by its name.
struct Register {
    name: String,
    variable: String,
}

/// Most registers of one declaration.
const MAX_REGISTERS: usize = 1024;

struct Translator<'a> {
    /// Names of the statement's operands, for `%[name]`.
    operands: &'a [&'a str],
    /// Number of those that are outputs, which come first.
    outputs: usize,
    registers: Vec<Register>,
    /// Numbers of registers that there were where each open brace began.
    scopes: Vec<usize>,
    /// Number of registers declared in all.
    declared: usize,
    out: String,
}

type Result<T> = std::result::Result<T, String>;

/// The C++ statements that a template means.
pub fn statements(template: &str, operands: &[&str], outputs: usize) -> Result<String> {
    let mut translator =
        Translator { operands, outputs, registers: Vec::new(), scopes: Vec::new(), declared: 0, out: String::new() };
    let mut text = String::new();
    let mut rest = template;
    // Comments.
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        text.push_str(&rest[..at]);
        rest = if rest[at..].starts_with("//") {
            rest[at..].find('\n').map_or("", |n| &rest[at + n..])
        } else {
            rest[at..].find("*/").map(|n| &rest[at + n + 2..]).ok_or("a /* without its */")?
        };
    }
    text.push_str(rest);
    for line in split(&text) {
        translator.instruction(&line)?;
    }
    if translator.scopes.is_empty() { Ok(translator.out) } else { Err("a { without its }".to_owned()) }
}

/// The instructions of a text: between `;`, and braces that are no operands' stand for themselves.
fn split(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    for c in text.chars() {
        let is_scope = current.trim().is_empty() && (c == '{' || c == '}');
        match c {
            ';' => found.push(std::mem::take(&mut current)),
            '{' | '}' if is_scope => found.push(c.to_string()),
            _ => current.push(c),
        }
    }
    found.push(current);
    let trimmed = found.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    trimmed.filter(|line| !line.is_empty()).collect()
}

/// C++'s name of a type of PTX's.
fn cpp(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "b8" | "u8" => "unsigned char",
        "s8" => "signed char",
        "b16" | "u16" => "unsigned short",
        "s16" => "short",
        "b32" | "u32" => "unsigned",
        "s32" => "int",
        "b64" | "u64" => "unsigned long long",
        "s64" => "long long",
        "f32" => "float",
        "f64" => "double",
        "pred" => "bool",
        _ => return None,
    })
}

/// Operands between commas, those within brackets and braces together.
fn operands(text: &str) -> Vec<String> {
    let (mut found, mut current, mut depth) = (Vec::new(), String::new(), 0);
    for c in text.chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            found.push(std::mem::take(&mut current).trim().to_owned());
        } else {
            current.push(c);
        }
    }
    if !current.trim().is_empty() {
        found.push(current.trim().to_owned());
    }
    found
}

/// The parts within braces.
fn list(text: &str) -> Option<Vec<String>> {
    text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(operands)
}

impl Translator<'_> {
    fn instruction(&mut self, line: &str) -> Result<()> {
        if line == "{" {
            self.scopes.push(self.registers.len());
            return Ok(());
        }
        if line == "}" {
            let before = self.scopes.pop().ok_or("a } without its {")?;
            self.registers.truncate(before);
            return Ok(());
        }
        if let Some(declared) = line.strip_prefix(".reg") {
            return self.declare(declared.trim());
        }
        let (guard, line) = match line.strip_prefix('@') {
            Some(rest) => {
                let (guard, line) = rest.trim_start().split_once(' ').ok_or_else(|| refused(line))?;
                (Some(guard), line.trim())
            }
            None => (None, line),
        };
        // An operand in braces or brackets, or a register, needs no space before it.
        let end = line.find([' ', '{', '[', '%']).unwrap_or(line.len());
        let (opcode, rest) = line.split_at(end);
        let rest = rest.trim_start();
        let parts: Vec<&str> = opcode.split('.').collect();
        let args = operands(rest);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let before = std::mem::take(&mut self.out);
        let known = self.known(&parts, &args);
        let made = std::mem::replace(&mut self.out, before);
        known?.ok_or_else(|| refused(opcode))?;
        match guard {
            Some(guard) => {
                let (sense, guard) = guard.strip_prefix('!').map_or(("", guard), |guard| ("!", guard));
                let guard = self.read(guard, "bool")?;
                let _ = write!(self.out, "if ({sense}{guard}) {{ {made} }} ");
            }
            None => {
                let _ = write!(self.out, "{{ {made} }} ");
            }
        }
        Ok(())
    }

    /// `.reg .b32 a, b<3>`
    fn declare(&mut self, text: &str) -> Result<()> {
        let (ty, names) = text.split_once(' ').ok_or_else(|| refused(text))?;
        let ty = cpp(ty.trim_start_matches('.')).ok_or_else(|| refused(&format!(".reg {ty}")))?;
        for name in operands(names) {
            let all = match name.split_once('<') {
                Some((stem, count)) => {
                    let count: usize = count.trim_end_matches('>').parse().map_err(|_| refused(&name))?;
                    if count > MAX_REGISTERS {
                        return Err(refused(&name));
                    }
                    (0..count).map(|i| format!("{stem}{i}")).collect()
                }
                None => vec![name],
            };
            for name in all {
                let variable = format!("__wb_r{}", self.declared);
                self.declared += 1;
                let _ = write!(self.out, "{ty} {variable}; ");
                self.registers.push(Register { name: name.replace("%%", "%"), variable });
            }
        }
        Ok(())
    }

    /// The variable of an operand.
    fn variable(&self, text: &str) -> Result<String> {
        if let Some(name) = text.strip_prefix("%[").and_then(|rest| rest.strip_suffix(']')) {
            let at = self.operands.iter().position(|operand| *operand == name);
            return at.map(|i| format!("__wb_a{i}")).ok_or_else(|| refused(text));
        }
        if let Some(number) = text.strip_prefix('%').and_then(|rest| rest.parse::<usize>().ok()) {
            return if number < self.operands.len() { Ok(format!("__wb_a{number}")) } else { Err(refused(text)) };
        }
        let name = text.replace("%%", "%");
        let found = self.registers.iter().rev().find(|register| register.name == name);
        found.map(|register| register.variable.clone()).ok_or_else(|| refused(text))
    }

    /// The value of an operand, of a type of C++'s.
    fn read(&self, text: &str, ty: &str) -> Result<String> {
        if let Some(special) = special(&text.replace("%%", "%")) {
            return Ok(format!("__wb_ptx::as<{ty}>({special})"));
        }
        if let Some(bits) = text.strip_prefix("0f").or(text.strip_prefix("0F")).filter(|bits| bits.len() == 8) {
            return Ok(format!("__wb_ptx::as<{ty}>(__uint_as_float(0x{bits}u))"));
        }
        if let Some(bits) = text.strip_prefix("0d").or(text.strip_prefix("0D")).filter(|bits| bits.len() == 16) {
            return Ok(format!("__wb_ptx::as<{ty}>(__longlong_as_double(0x{bits}ll))"));
        }
        if text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) {
            let plain = text.trim_end_matches(['U', 'u']);
            let digits = plain.trim_start_matches('-');
            let hex = digits.starts_with("0x") || digits.starts_with("0X");
            if !hex && digits.chars().any(|c| c.is_ascii_alphabetic()) {
                return Err(refused(text));
            }
            let is_number = plain.chars().all(|c| c.is_ascii_hexdigit() || "-.xX".contains(c));
            return if is_number { Ok(format!("({ty})({plain})")) } else { Err(refused(text)) };
        }
        if text == "WARP_SZ" {
            return Ok(format!("({ty})32"));
        }
        Ok(format!("__wb_ptx::as<{ty}>({})", self.variable(text)?))
    }

    /// Gives an operand a value.
    fn put(&mut self, text: &str, value: &str) -> Result<()> {
        // `_` is nothing.
        if text == "_" {
            return Ok(());
        }
        let variable = self.variable(text)?;
        let number = variable.strip_prefix("__wb_a").and_then(|n| n.parse::<usize>().ok());
        if number.is_some_and(|n| n >= self.outputs) {
            return Err(format!("{text} is written, and is no output"));
        }
        let _ = write!(self.out, "__wb_ptx::put({variable}, {value}); ");
        Ok(())
    }

    /// The address that `[a+16]` means, as arguments of `at`.
    fn address(&self, text: &str, shared: bool) -> Result<String> {
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(|| refused(text))?;
        let (base, offset) = match inner.rfind(['+', '-']).filter(|at| *at > 0) {
            Some(at) => (&inner[..at], inner[at..].replace(' ', "").replacen('+', "", 1)),
            None => (inner, "0".to_owned()),
        };
        let offset: i64 = offset.parse().map_err(|_| refused(text))?;
        let base = self.variable(base.trim())?;
        // The whole number tells which memory it is of, so the offset is passed with it.
        Ok(if shared { format!("{NAMESPACE}::shared({base}, {offset}), 0") } else { format!("{base}, {offset}") })
    }

    /// Translates an instruction; `None` where it is not known.
    fn known(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let ty = parts.last().copied().unwrap_or("");
        let modifiers = parts.get(1..parts.len() - 1).unwrap_or_default();
        match parts[0] {
            "ld" | "ldu" => return self.load(parts, args),
            "st" => return self.store(parts, args),
            "atom" | "red" => return self.atomic(parts, args),
            "cvt" => return self.convert(parts, args),
            "setp" => return self.compare(parts, args),
            "mov" => return self.moved(ty, args),
            "cvta" => {
                let [to, from] = args else { return Ok(None) };
                let value = self.read(from, "unsigned long long")?;
                let value = match (modifiers, ty) {
                    (["to", "shared" | "shared::cta"], "u64" | "u32") => format!("(unsigned)({value})"),
                    (["shared" | "shared::cta"], "u64") => format!("(unsigned long long){NAMESPACE}::shared({value})"),
                    (["to", "global" | "const" | "local"] | ["global" | "const" | "local"], "u64") => value,
                    _ => return Ok(None),
                };
                return self.put(to, &value).map(Some);
            }
            "membar" | "fence" => {
                let fence = match (parts[0], ty) {
                    _ if parts.contains(&"proxy") || parts.contains(&"mbarrier_init") => return Ok(None),
                    (_, "cta") => "__threadfence_block",
                    (_, "sys") => "__threadfence_system",
                    ("membar", "gl") | ("fence", "gpu" | "cluster") => "__threadfence",
                    _ => return Ok(None),
                };
                let _ = write!(self.out, "{fence}(); ");
                return Ok(Some(()));
            }
            "bar" | "barrier" => {
                let call = match (parts.get(1..).unwrap_or_default(), args) {
                    (["sync"] | ["cta", "sync"] | ["sync", "aligned"] | ["cta", "sync", "aligned"], ["0"]) => {
                        "__syncthreads()".to_owned()
                    }
                    (["warp", "sync"], [mask]) => format!("__syncwarp({})", self.read(mask, "unsigned")?),
                    _ => return Ok(None),
                };
                let _ = write!(self.out, "{call}; ");
                return Ok(Some(()));
            }
            "trap" => {
                self.out.push_str("__trap(); ");
                return Ok(Some(()));
            }
            // Hints.
            "nanosleep" if parts == ["nanosleep", "u32"] => return Ok(Some(())),
            "griddepcontrol" if matches!(parts, [_, "wait" | "launch_dependents"]) => return Ok(Some(())),
            "prefetch" | "prefetchu" if matches!(ty, "L1" | "L2" | "evict_last" | "evict_normal") => {
                let [place] = args else { return Ok(None) };
                return self.address(place, false).map(|_| Some(()));
            }
            // A policy is for caches, and there is but one.
            "createpolicy" if ty == "b64" && modifiers.contains(&"fractional") => {
                let [to, _] = args else { return Ok(None) };
                return self.put(to, "0ull").map(Some);
            }
            "cp" if parts.get(1) == Some(&"async") => return self.copy_async(parts, args),
            "ldmatrix" | "stmatrix" => return self.tiles(parts, args),
            "mma" => return self.product(parts, args),
            "shfl" | "vote" | "activemask" | "redux" | "match" => return self.collective(parts, args),
            _ => {}
        }
        self.arithmetic(parts[0], modifiers, ty, args)
    }

    fn moved(&mut self, ty: &str, args: &[&str]) -> Result<Option<()>> {
        let [to, from] = args else { return Ok(None) };
        let half = |ty: &str| match ty {
            "b32" | "u32" => Some(("unsigned short", "unsigned", 16)),
            "b64" | "u64" | "f64" => Some(("unsigned", "unsigned long long", 32)),
            _ => None,
        };
        match (list(to), list(from)) {
            (Some(to), None) if to.len() == 2 => {
                let Some((part, whole, bits)) = half(ty) else { return Ok(None) };
                let _ = write!(self.out, "const {whole} __wb_m = {}; ", self.read(from, whole)?);
                self.put(&to[0], &format!("({part})__wb_m"))?;
                self.put(&to[1], &format!("({part})(__wb_m >> {bits})")).map(Some)
            }
            (None, Some(from)) if from.len() == 2 => {
                let Some((part, whole, bits)) = half(ty) else { return Ok(None) };
                let (low, high) = (self.read(&from[0], part)?, self.read(&from[1], part)?);
                self.put(to, &format!("(({whole}){low} | ({whole}){high} << {bits})")).map(Some)
            }
            (Some(to), None) if to.len() == 4 && ty == "b64" => {
                let _ =
                    write!(self.out, "const unsigned long long __wb_m = {}; ", self.read(from, "unsigned long long")?);
                for (i, to) in to.iter().enumerate() {
                    self.put(to, &format!("(unsigned short)(__wb_m >> {})", 16 * i))?;
                }
                Ok(Some(()))
            }
            (None, Some(from)) if from.len() == 4 && ty == "b64" => {
                let parts: Result<Vec<String>> = (from.iter().enumerate())
                    .map(|(i, from)| {
                        Ok(format!("(unsigned long long){} << {}", self.read(from, "unsigned short")?, 16 * i))
                    })
                    .collect();
                self.put(to, &format!("({})", parts?.join(" | "))).map(Some)
            }
            (None, None) => {
                let Some(ty) = cpp(ty) else { return Ok(None) };
                let value = self.read(from, ty)?;
                self.put(to, &value).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn negatable(&self, text: &str) -> Result<String> {
        match text.strip_prefix('!') {
            Some(text) => Ok(format!("!{}", self.read(text, "bool")?)),
            None => self.read(text, "bool"),
        }
    }
}

/// A special register.
fn special(name: &str) -> Option<&'static str> {
    Some(match name {
        "%tid.x" => "threadIdx.x",
        "%tid.y" => "threadIdx.y",
        "%tid.z" => "threadIdx.z",
        "%ntid.x" => "blockDim.x",
        "%ntid.y" => "blockDim.y",
        "%ntid.z" => "blockDim.z",
        "%ctaid.x" => "blockIdx.x",
        "%ctaid.y" => "blockIdx.y",
        "%ctaid.z" => "blockIdx.z",
        "%nctaid.x" => "gridDim.x",
        "%nctaid.y" => "gridDim.y",
        "%nctaid.z" => "gridDim.z",
        "%laneid" => "__wb_ptx::lane()",
        "%warpid" => "(__wb_ptx::thread() / 32u)",
        "%lanemask_eq" => "(1u << __wb_ptx::lane())",
        "%lanemask_lt" => "((1u << __wb_ptx::lane()) - 1u)",
        "%lanemask_le" => "((2u << __wb_ptx::lane()) - 1u)",
        "%lanemask_gt" => "~((2u << __wb_ptx::lane()) - 1u)",
        "%lanemask_ge" => "~((1u << __wb_ptx::lane()) - 1u)",
        _ => return None,
    })
}

/// The reason why an instruction is not translated: what of it is not known.
fn refused(what: &str) -> String {
    what.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_become_statements() {
        let made = statements("add.s32 %0, %1, 5;", &["", ""], 1).unwrap();
        assert_eq!(made, "{ __wb_ptx::put(__wb_a0, (int)(__wb_ptx::as<int>(__wb_a1) + (int)(5)));  } ");
    }

    #[test]
    fn nothing_is_nothing() {
        for text in ["", "  \n", "// a comment", "/* one */ // two"] {
            assert_eq!(statements(text, &[], 0).unwrap(), "");
        }
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (text, named) in [
            ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned"),
            ("add.s32 %0, %1, 5; foo.b32 %0, %1;", "foo.b32"),
            ("mov.u32 %0, %%smid;", "%%smid"),
            ("add.s32 %0, %9, 5;", "%9"),
            ("ld.shared::cluster.b32 %0, [%1];", "ld.shared::cluster.b32"),
            ("cp.async.bulk.commit_group;", "cp.async.bulk.commit_group"),
            ("cp.async.ca.shared.global [%0], [%1];", "cp.async.ca.shared.global"),
            (
                "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0}, {%1}, {%1}, {%0};",
                "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
            ),
            (
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0}, {%1}, {%1}, {%0};",
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            ),
            ("add.cc.u32 %0, %1, %1;", "add.cc.u32"),
            ("ld;", "ld"),
            ("st %0;", "st"),
            ("atom;", "atom"),
            ("ld.global.u32 %0, [%1], %1;", "ld.global.u32"),
            ("mov.u32 %0, 1; /* and so on", "a /* without its */"),
            (".reg .u32 a<99999999999>;", "a<99999999999>"),
            ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0}, [%1];", "ldmatrix.sync.aligned.m8n8.x2.shared.b16"),
            ("movl %1, %0;", "movl"),
            ("cvt; setp; mov; ;", "cvt"),
            ("{ .reg .u32 a; } mov.u32 %0, a;", "a"),
            ("mov.u32 %0, %1; }", "a } without its {"),
            ("mov.u32 %1, %0;", "%1 is written, and is no output"),
            ("mov.f32 %0, 0f3F8;", "0f3F8"),
            ("mov.u32 %0, 1e5;", "1e5"),
        ] {
            assert_eq!(statements(text, &["", ""], 1), Err(named.to_owned()), "{text}");
        }
    }
}
