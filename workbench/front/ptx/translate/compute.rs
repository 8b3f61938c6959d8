//! Instructions that compute: arithmetic, logic, comparisons, conversions.

use std::fmt::Write;

use super::{NAMESPACE, Result, Translator, cpp, refused};

impl Translator<'_> {
    pub(super) fn compare(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
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

    pub(super) fn convert(&mut self, parts: &[&str], args: &[&str]) -> Result<Option<()>> {
        let [_, modifiers @ .., to, from] = parts else { return Ok(None) };
        let mut modifiers = modifiers.to_vec();
        // A denormal float is zero as a half anyway, and a half is no denormal float.
        let ftz = modifiers.iter().position(|m| *m == "ftz").map(|at| modifiers.remove(at)).is_some();
        let round = match modifiers[..] {
            [] => "",
            [round @ ("rn" | "rni" | "rzi" | "rmi" | "rpi" | "rna")] => round,
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
            ("bf16", "f32", [_, a]) if round == "rn" && !ftz => {
                format!("__bfloat16_as_ushort(__nv_bfloat16({}))", self.read(a, "float")?)
            }
            // The result has 10 bits, rounded to the nearest, halves away from zero.
            ("tf32", "f32", [_, a]) if round == "rna" && !ftz => {
                let x = self.read(a, "unsigned")?;
                format!("(({x} & 0x7f800000u) == 0x7f800000u ? {x} : ({x} + 0x1000u) & 0xffffe000u)")
            }
            ("f32", "f16", [_, a]) if round.is_empty() => {
                format!("(float)__ushort_as_half({})", self.read(a, "unsigned short")?)
            }
            ("f32", "bf16", [_, a]) if round.is_empty() => {
                format!("__uint_as_float((unsigned){} << 16)", self.read(a, "unsigned short")?)
            }
            ("f16x2" | "bf16x2", "f32", [_, high, low]) if round == "rn" && !ftz => {
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

    /// Instructions on 16-bit floats, one or two of them, by CUDA's functions.
    fn halves(&mut self, op: &str, modifiers: &[&str], ty: &str, args: &[&str]) -> Result<Option<()>> {
        let (class, pair) = match ty {
            "f16" => ("__half", false),
            "f16x2" => ("__half2", true),
            "bf16" => ("__nv_bfloat16", false),
            "bf16x2" => ("__nv_bfloat162", true),
            _ => return Ok(None),
        };
        let [to, rest @ ..] = args else { return Ok(None) };
        let two = if pair { "2" } else { "" };
        let call = match (op, modifiers, rest.len()) {
            ("add" | "sub" | "mul", [] | ["rn"], 2) => format!("__h{op}{two}"),
            ("fma", ["rn"], 3) => format!("__hfma{two}"),
            ("fma", ["rn", "relu"], 3) => format!("__hfma{two}_relu"),
            ("min" | "max", [], 2) => format!("__h{op}{two}"),
            ("min" | "max", ["NaN"], 2) => format!("__h{op}{two}_nan"),
            ("neg", [], 1) => format!("__hneg{two}"),
            ("abs", [], 1) => format!("__habs{two}"),
            ("ex2", ["approx"], 1) if !ty.starts_with('b') => format!("h{two}exp2"),
            ("tanh", ["approx"], 1) => String::new(),
            _ => return Ok(None),
        };
        let bits = if pair { "unsigned" } else { "unsigned short" };
        let mut values = Vec::with_capacity(rest.len());
        for arg in rest {
            values.push(format!("{NAMESPACE}::bits<{class}>({})", self.read(arg, bits)?));
        }
        let value = match (op, pair) {
            ("tanh", false) => format!("{class}(tanhf((float){}))", values[0]),
            ("tanh", true) => format!("{NAMESPACE}::tanh2({})", values[0]),
            _ => format!("{call}({})", values.join(", ")),
        };
        self.put(to, &format!("{NAMESPACE}::bits<{bits}>({value})")).map(Some)
    }

    pub(super) fn arithmetic(&mut self, op: &str, modifiers: &[&str], ty: &str, args: &[&str]) -> Result<Option<()>> {
        if ty.contains("f16") {
            return self.halves(op, modifiers, ty, args);
        }
        let Some(cpp_type) = cpp(ty) else { return Ok(None) };
        let [to, rest @ ..] = args else { return Ok(None) };
        let is_float = ty.starts_with('f');
        let mut modifiers = modifiers.to_vec();
        let ftz = modifiers.iter().position(|m| *m == "ftz").map(|at| modifiers.remove(at)).is_some();
        let saturates = is_float && modifiers.iter().position(|m| *m == "sat").map(|at| modifiers.remove(at)).is_some();
        // Rounding to the nearest is the default for floats, and approximations may be better than they have to.
        if is_float {
            modifiers.retain(|m| !matches!(*m, "rn" | "approx" | "full"));
        }
        // One that is not known is named, whatever its operands are.
        if expression(op, &modifiers, ty, cpp_type, &vec![""; rest.len()]).is_none() {
            return Ok(None);
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

/// The expression that an instruction computes from its operands.
fn expression(op: &str, modifiers: &[&str], ty: &str, cpp: &str, values: &[&str]) -> Option<String> {
    let is_float = ty.starts_with('f');
    let f = if ty == "f64" { "" } else { "f" };
    let ll = if ty.ends_with("64") { "ll" } else { "" };
    Some(match (op, modifiers, values) {
        ("add", [], [a, b]) => format!("({cpp})({a} + {b})"),
        ("sub", [], [a, b]) => format!("({cpp})({a} - {b})"),
        ("mul", [], [a, b]) if is_float => format!("({a} * {b})"),
        ("mul", ["lo"], [a, b]) if !is_float => format!("({cpp})({a} * {b})"),
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
        // A shift by the width or more shifts all bits out, as in PTX.
        ("shl", [], [a, n]) => format!("({cpp})({a} << {n})"),
        ("shr", [], [a, n]) => format!("({cpp})({a} >> {n})"),
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

/// The function that gives the high half of a product.
fn high(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "u32" => "__umulhi",
        "s32" => "__mulhi",
        "u64" => "__umul64hi",
        "s64" => "__mul64hi",
        _ => return None,
    })
}
