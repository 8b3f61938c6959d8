//! PTX instructions as C++ statements, by NVIDIA's "Parallel Thread Execution ISA". A register holds bits; the suffix of an instruction says what
//! they are, which `__wb_ptx::as` and `__wb_ptx::put` follow. Hints for caches and the precision of approximations change nothing that a program
//! may count on; everything else that is not known is refused by name.

use std::fmt::Write;

use super::NAMESPACE;

/// A register that the instructions declare, by its name.
struct Register {
    name: String,
    variable: String,
}

struct Translator<'a> {
    /// Names of the statement's operands, for `%[name]`.
    operands: &'a [&'a str],
    /// How many of them are outputs, which come first.
    outputs: usize,
    registers: Vec<Register>,
    /// How many registers there were where each open brace began.
    scopes: Vec<usize>,
    /// How many were declared in all.
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
        let end = if rest[at..].starts_with("//") {
            rest[at..].find('\n').map(|n| at + n)
        } else {
            rest[at..].find("*/").map(|n| at + n + 2)
        };
        rest = end.map_or("", |end| &rest[end..]);
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

/// The type twice as wide.
fn wide(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "u16" => "unsigned",
        "s16" => "int",
        "u32" => "unsigned long long",
        "s32" => "long long",
        _ => return None,
    })
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
                let (guard, line) = rest.split_once(' ').ok_or_else(|| refused(line))?;
                (Some(guard), line.trim())
            }
            None => (None, line),
        };
        let (opcode, rest) = line.split_once(' ').unwrap_or((line, ""));
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
                    (0..count.min(256)).map(|i| format!("{stem}{i}")).collect()
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

    /// Where `[a+16]` points, as an argument of `at`.
    fn address(&self, text: &str) -> Result<String> {
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(|| refused(text))?;
        let (base, offset) = match inner.rfind(['+', '-']).filter(|at| *at > 0) {
            Some(at) => (&inner[..at], inner[at..].replace(' ', "").replacen('+', "", 1)),
            None => (inner, "0".to_owned()),
        };
        let offset: i64 = offset.parse().map_err(|_| refused(text))?;
        Ok(format!("{}, {offset}", self.variable(base.trim())?))
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
                let shared = modifiers.contains(&"shared") || ty == "u32";
                return if shared { Ok(None) } else { self.put(to, &value).map(Some) };
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
                return self.address(place).map(|_| Some(()));
            }
            "shfl" | "vote" | "activemask" | "redux" | "match" => return self.collective(parts, args),
            _ => {}
        }
        self.arithmetic(parts[0], modifiers, ty, args)
    }

    fn moved(&mut self, ty: &str, args: &[&str]) -> Result<Option<()>> {
        let [to, from] = args else { return Ok(None) };
        let list = |text: &str| text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(operands);
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
            (None, None) => {
                let Some(ty) = cpp(ty) else { return Ok(None) };
                let value = self.read(from, ty)?;
                self.put(to, &value).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn load(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let Some((ty, n, order)) = memory(parts) else { return Ok(None) };
        let [to, from, ..] = args else { return Ok(None) };
        let from = self.address(from)?;
        let place = if order.is_empty() { "at" } else { "volatile_at" };
        if n == 1 {
            let Some(ty) = cpp(ty) else { return Ok(None) };
            self.put(to, &format!("{NAMESPACE}::{place}<{ty}>({from})"))?;
        } else {
            let to = to.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(operands).unwrap_or_default();
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

    fn store(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let Some((ty, n, order)) = memory(parts) else { return Ok(None) };
        let [to, from, ..] = args else { return Ok(None) };
        let to = self.address(to)?;
        if order == "release" {
            self.out.push_str("__threadfence(); ");
        }
        let place = if order.is_empty() { "at" } else { "volatile_at" };
        let Some(one) = cpp(ty) else { return Ok(None) };
        if n == 1 {
            let value = self.read(from, one)?;
            let _ = write!(self.out, "{NAMESPACE}::{place}<{one}>({to}) = {value}; ");
        } else {
            let from = from.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(operands).unwrap_or_default();
            let Some(vector) = vector(ty, n).filter(|_| from.len() == n && order.is_empty()) else { return Ok(None) };
            let values: Result<Vec<String>> = from.iter().map(|from| self.read(from, one)).collect();
            let _ = write!(self.out, "{NAMESPACE}::at<{vector}>({to}) = make_{vector}({}); ", values?.join(", "));
        }
        Ok(Some(()))
    }

    fn atomic(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let ty = parts.last().copied().unwrap_or("");
        let known = |part: &&str| {
            matches!(*part, "global" | "relaxed" | "acquire" | "release" | "acq_rel" | "gpu" | "sys" | "cta")
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
        let place = self.address(place)?;
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

    fn compare(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let [_, how, rest @ .., ty] = parts else { return Ok(None) };
        let Some(cpp) = cpp(ty) else { return Ok(None) };
        let ([a, b, and @ ..], [to]) = (&args[1.min(args.len())..], &args[..1.min(args.len())]) else {
            return Ok(None);
        };
        let (a, b) = (self.read(a, cpp)?, self.read(b, cpp)?);
        let is_float = ty.starts_with('f');
        let flush = |x: String| if rest.contains(&"ftz") { format!("{NAMESPACE}::flush({x})") } else { x };
        let (a, b) = (flush(a), flush(b));
        let test = match *how {
            "eq" => format!("{a} == {b}"),
            "ne" if is_float => format!("{a} < {b} || {a} > {b}"),
            "ne" => format!("{a} != {b}"),
            "lt" | "lo" => format!("{a} < {b}"),
            "le" | "ls" => format!("{a} <= {b}"),
            "gt" | "hi" => format!("{a} > {b}"),
            "ge" | "hs" => format!("{a} >= {b}"),
            "equ" => format!("!({a} < {b} || {a} > {b})"),
            "neu" => format!("{a} != {b}"),
            "ltu" => format!("!({a} >= {b})"),
            "leu" => format!("!({a} > {b})"),
            "gtu" => format!("!({a} <= {b})"),
            "geu" => format!("!({a} < {b})"),
            "num" => format!("{a} == {a} && {b} == {b}"),
            "nan" => format!("{a} != {a} || {b} != {b}"),
            _ => return Ok(None),
        };
        let with = match (rest, and) {
            ([] | ["ftz"], []) => String::new(),
            (["and"] | ["and", "ftz"], [with]) => format!(" && {}", self.negatable(with)?),
            (["or"] | ["or", "ftz"], [with]) => format!(" || {}", self.negatable(with)?),
            (["xor"] | ["xor", "ftz"], [with]) => format!(" != {}", self.negatable(with)?),
            _ => return Ok(None),
        };
        let (yes, no) = to.split_once('|').map_or((*to, None), |(yes, no)| (yes.trim(), Some(no.trim())));
        // Both are known before either is written, which the last operand may be.
        let _ = write!(self.out, "const bool __wb_m = {test}, __wb_y = __wb_m{with}, __wb_n = (!__wb_m){with}; ");
        self.put(yes, "__wb_y")?;
        match no {
            Some(no) => self.put(no, "__wb_n").map(Some),
            None => Ok(Some(())),
        }
    }

    fn negatable(&self, text: &str) -> Result<String> {
        match text.strip_prefix('!') {
            Some(text) => Ok(format!("!{}", self.read(text, "bool")?)),
            None => self.read(text, "bool"),
        }
    }

    fn convert(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let [_, modifiers @ .., to, from] = parts else { return Ok(None) };
        let mut modifiers = modifiers.to_vec();
        // Denormals of conversions from and to 16-bit floats are never flushed; of others they are.
        let ftz = modifiers.iter().position(|m| *m == "ftz").map(|at| modifiers.remove(at)).is_some();
        let round = match modifiers[..] {
            [] => "",
            [round @ ("rn" | "rni" | "rzi" | "rmi" | "rpi")] => round,
            _ => return Ok(None),
        };
        let whole = |round: &str, x: &str, f64: bool| {
            let f = if f64 { "" } else { "f" };
            Some(match round {
                "rni" => format!("rint{f}({x})"),
                "rzi" => format!("trunc{f}({x})"),
                "rmi" => format!("floor{f}({x})"),
                "rpi" => format!("ceil{f}({x})"),
                _ => return None,
            })
        };
        let is_float = |ty: &str| ty == "f32" || ty == "f64";
        let flushed = |x: String| if ftz { format!("{NAMESPACE}::flush({x})") } else { x };
        let value = match (*to, *from, args) {
            ("f16", "f32", [_, a]) if round == "rn" => format!("__half_as_ushort(__half({}))", self.read(a, "float")?),
            ("bf16", "f32", [_, a]) if round == "rn" => {
                format!("__bfloat16_as_ushort(__nv_bfloat16({}))", self.read(a, "float")?)
            }
            ("f32", "f16", [_, a]) if round.is_empty() => {
                format!("(float)__ushort_as_half({})", self.read(a, "unsigned short")?)
            }
            ("f32", "bf16", [_, a]) if round.is_empty() => {
                format!("__uint_as_float((unsigned){} << 16)", self.read(a, "unsigned short")?)
            }
            ("f16x2" | "bf16x2", "f32", [_, high, low]) if round == "rn" => {
                let (cast, class) = match *to {
                    "f16x2" => ("__half_as_ushort", "__half"),
                    _ => ("__bfloat16_as_ushort", "__nv_bfloat16"),
                };
                let one = |x: &str| Ok(format!("(unsigned){cast}({class}({}))", self.read(x, "float")?));
                let (high, low): (Result<String>, Result<String>) = (one(high), one(low));
                format!("({} << 16 | {})", high?, low?)
            }
            (to, from, [_, a]) => {
                let (Some(d), Some(s)) = (cpp(to), cpp(from)) else { return Ok(None) };
                let x = self.read(a, s)?;
                match (is_float(to), is_float(from), round) {
                    (false, false, "") => format!("({d})({x})"),
                    (false, true, round) => match whole(round, &flushed(x), from == "f64") {
                        // Conversions from floats stop at the ends of the type.
                        Some(x) if to.ends_with("8") || to.ends_with("16") => {
                            format!("{NAMESPACE}::narrow<{d}>((int)({x}))")
                        }
                        Some(x) => format!("({d})({x})"),
                        None => return Ok(None),
                    },
                    (true, false, "rn") => format!("({d})({x})"),
                    (true, true, "") if to == "f64" || to == from => format!("({d})({})", flushed(x)),
                    (true, true, "rn") if to == "f32" && from == "f64" => flushed(format!("({d})({x})")),
                    (true, true, round) if to == from => match whole(round, &flushed(x), from == "f64") {
                        Some(x) => x,
                        None => return Ok(None),
                    },
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        self.put(args[0], &value).map(Some)
    }

    fn collective(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let value = match (parts, args) {
            (["shfl", "sync", mode, "b32"], [_, a, b, c, mask]) => {
                // The width is 32 where the clamp lets all lanes through and no segment is asked for.
                let all = if *mode == "up" { ["0", "0x0"] } else { ["31", "0x1f"] };
                if !all.contains(&c.to_lowercase().as_str()) {
                    return Ok(None);
                }
                let call = match *mode {
                    "bfly" => "__shfl_xor_sync",
                    "up" => "__shfl_up_sync",
                    "down" => "__shfl_down_sync",
                    "idx" => "__shfl_sync",
                    _ => return Ok(None),
                };
                let (mask, a, b) = (self.read(mask, "unsigned")?, self.read(a, "unsigned")?, self.read(b, "unsigned")?);
                format!("{call}({mask}, {a}, {b})")
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

    fn arithmetic(&mut self, op: &str, modifiers: &[&str], ty: &str, args: &[&str]) -> Result<Option<()>> {
        let Some(cpp_type) = cpp(ty) else { return Ok(None) };
        let [to, rest @ ..] = args else { return Ok(None) };
        let is_float = ty.starts_with('f');
        let mut modifiers = modifiers.to_vec();
        let ftz = modifiers.iter().position(|m| *m == "ftz").map(|at| modifiers.remove(at)).is_some();
        let saturates = is_float && modifiers.iter().position(|m| *m == "sat").map(|at| modifiers.remove(at)).is_some();
        // For floats the nearest is the default, and approximations may be better than they have to.
        if is_float {
            modifiers.retain(|m| !matches!(*m, "rn" | "approx" | "full"));
        }
        let mut values = Vec::with_capacity(rest.len());
        for (i, arg) in rest.iter().enumerate() {
            let ty = match (op, i) {
                ("selp", 2) => "bool",
                ("shl" | "shr", 1) | ("bfe", 1 | 2) | ("bfi", 2 | 3) => "unsigned",
                ("mad", 2) if modifiers == ["wide"] => wide(ty).ok_or_else(|| refused(op))?,
                _ => cpp_type,
            };
            let value = if ty == "bool" { self.negatable(arg)? } else { self.read(arg, ty)? };
            values.push(if ftz && is_float { format!("{NAMESPACE}::flush({value})") } else { value });
        }
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let Some(value) = expression(op, &modifiers, ty, cpp_type, &values) else { return Ok(None) };
        let value = if ftz && is_float { format!("{NAMESPACE}::flush({value})") } else { value };
        let value = if saturates { format!("__saturatef({value})") } else { value };
        self.put(to, &value).map(Some)
    }
}

/// What an instruction computes from its operands.
fn expression(op: &str, modifiers: &[&str], ty: &str, cpp: &str, values: &[&str]) -> Option<String> {
    let is_float = ty.starts_with('f');
    let f = if ty == "f64" { "" } else { "f" };
    let ll = if ty.ends_with("64") { "ll" } else { "" };
    Some(match (op, modifiers, values) {
        ("add", [], [a, b]) => format!("({cpp})({a} + {b})"),
        ("sub", [], [a, b]) => format!("({cpp})({a} - {b})"),
        ("mul", [], [a, b]) if is_float => format!("({a} * {b})"),
        ("mul" | "mul24", ["lo"], [a, b]) if op == "mul" && !is_float => format!("({cpp})({a} * {b})"),
        ("mul", ["hi"], [a, b]) => format!("{}({a}, {b})", high(ty)?),
        ("mul", ["wide"], [a, b]) => format!("(({w}){a} * ({w}){b})", w = wide(ty)?),
        ("mad", ["lo"], [a, b, c]) if !is_float => format!("({cpp})({a} * {b} + {c})"),
        ("mad", ["hi"], [a, b, c]) => format!("({cpp})({}({a}, {b}) + {c})", high(ty)?),
        ("mad", ["wide"], [a, b, c]) => format!("(({w}){a} * ({w}){b} + {c})", w = wide(ty)?),
        ("fma" | "mad", [], [a, b, c]) if is_float => format!("fma{f}({a}, {b}, {c})"),
        ("div", [], [a, b]) => format!("({cpp})({a} / {b})"),
        ("rem", [], [a, b]) if !is_float => format!("({cpp})({a} % {b})"),
        ("abs", [], [a]) if is_float => format!("fabs{f}({a})"),
        ("abs", [], [a]) => format!("({cpp})({a} < 0 ? -{a} : {a})"),
        ("neg", [], [a]) => format!("({cpp})(-{a})"),
        ("min" | "max", [], [a, b]) if is_float => format!("f{op}{f}({a}, {b})"),
        ("min", [], [a, b]) => format!("({a} < {b} ? {a} : {b})"),
        ("max", [], [a, b]) => format!("({a} > {b} ? {a} : {b})"),
        ("and", [], [a, b]) => format!("({cpp})({a} & {b})"),
        ("or", [], [a, b]) => format!("({cpp})({a} | {b})"),
        ("xor", [], [a, b]) => format!("({cpp})({a} ^ {b})"),
        ("not", [], [a]) if cpp == "bool" => format!("(!{a})"),
        ("not", [], [a]) => format!("({cpp})(~{a})"),
        ("shl", [], [a, n]) => format!("{NAMESPACE}::shl<{cpp}>({a}, {n})"),
        ("shr", [], [a, n]) => format!("{NAMESPACE}::shr<{cpp}>({a}, {n})"),
        ("selp", [], [a, b, p]) => format!("({p} ? {a} : {b})"),
        ("sqrt", [], [a]) => format!("sqrt{f}({a})"),
        ("rsqrt", [], [a]) => format!("rsqrt{f}({a})"),
        ("rcp", [], [a]) => format!("(({cpp})1 / {a})"),
        ("ex2", [], [a]) if ty == "f32" => format!("exp2f({a})"),
        ("lg2", [], [a]) if ty == "f32" => format!("log2f({a})"),
        ("sin", [], [a]) if ty == "f32" => format!("sinf({a})"),
        ("cos", [], [a]) if ty == "f32" => format!("cosf({a})"),
        ("tanh", [], [a]) if ty == "f32" => format!("tanhf({a})"),
        ("popc", [], [a]) => format!("__popc{ll}({a})"),
        ("clz", [], [a]) => format!("__clz{ll}({a})"),
        ("brev", [], [a]) => format!("__brev{ll}({a})"),
        ("bfe", [], [a, at, n]) if ty.ends_with("32") => format!("{NAMESPACE}::bfe<{cpp}>({a}, {at}, {n})"),
        ("bfi", [], [a, b, at, n]) if ty == "b32" => format!("{NAMESPACE}::bfi({a}, {b}, {at}, {n})"),
        ("prmt", [], [a, b, c]) if ty == "b32" => format!("{NAMESPACE}::prmt({a}, {b}, {c})"),
        ("lop3", [], [a, b, c, table]) if ty == "b32" => format!("{NAMESPACE}::lop3({a}, {b}, {c}, {table})"),
        ("shf", ["l", "wrap"], [a, b, n]) if ty == "b32" => format!("__funnelshift_l({a}, {b}, {n})"),
        ("shf", ["l", "clamp"], [a, b, n]) if ty == "b32" => format!("__funnelshift_lc({a}, {b}, {n})"),
        ("shf", ["r", "wrap"], [a, b, n]) if ty == "b32" => format!("__funnelshift_r({a}, {b}, {n})"),
        ("shf", ["r", "clamp"], [a, b, n]) if ty == "b32" => format!("__funnelshift_rc({a}, {b}, {n})"),
        _ => return None,
    })
}

/// What gives the high half of a product.
fn high(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "u32" => "__umulhi",
        "s32" => "__mulhi",
        "u64" => "__umul64hi",
        "s64" => "__mul64hi",
        _ => return None,
    })
}

/// What an access moves: the type, how many of it, and its order among others'.
fn memory<'a>(parts: &[&'a str]) -> Option<(&'a str, usize, &'a str)> {
    let ty = parts.last()?;
    let (mut n, mut order) = (1, "");
    for part in parts.get(1..parts.len() - 1).unwrap_or_default() {
        match *part {
            // Shared memory is told by 32-bit numbers, which are no addresses here.
            "global" | "const" | "weak" | "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" => {}
            "gpu" | "sys" | "cta" => {}
            "v2" => n = 2,
            "v4" => n = 4,
            "volatile" | "relaxed" | "acquire" | "release" => order = part,
            _ if part.starts_with("L1::") || part.starts_with("L2::") => {}
            // `L1::no_allocate` and its like are cut at their dots only.
            _ => return None,
        }
    }
    Some((ty, n, order))
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
            ("ld.shared.b32 %0, [%1];", "ld.shared.b32"),
            ("add.cc.u32 %0, %1, %1;", "add.cc.u32"),
            ("ld;", "ld"),
            ("st %0;", "st"),
            ("atom;", "atom"),
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
