//! Arithmetic as C: on one number, and on lanes.

use super::{Printer, ctype, signed_suffix, suffix};
use crate::back::cpu::abi::host_fn::HostFn;
use crate::back::cpu::math::reciprocal;
use crate::back::cpu::wide::{Result, Unsupported};
use crate::ir::{BinaryOp, BitFn, CompareOp, MathFn, Scalar, UnaryOp, Value};

/// C's operator.
pub(super) fn comparison(op: CompareOp) -> (&'static str, &'static str) {
    match op {
        CompareOp::Eq => ("==", "eq"),
        CompareOp::Ne => ("!=", "ne"),
        CompareOp::Lt => ("<", "lt"),
        CompareOp::Le => ("<=", "le"),
        CompareOp::Gt => (">", "gt"),
        CompareOp::Ge => (">=", "ge"),
    }
}

fn unsigned(s: Scalar) -> &'static str {
    match s.bits() {
        8 => "u8",
        16 => "u16",
        32 => "u32",
        _ => "u64",
    }
}

pub(super) fn unary(op: UnaryOp, s: Scalar, a: &str) -> String {
    match (op, s) {
        (UnaryOp::Neg, Scalar::F32) => format!("f32_of(bits_f32({a}) ^ 0x80000000u)"),
        (UnaryOp::Neg, Scalar::F64) => format!("f64_of(bits_f64({a}) ^ 0x8000000000000000ull)"),
        (UnaryOp::Neg, _) => format!("({})(0 - {a})", ctype(s)),
        (UnaryOp::Not, Scalar::Bool) => format!("(b1)!{a}"),
        (UnaryOp::Not, _) => format!("({})~{a}", ctype(s)),
    }
}

/// Lanes of a narrow type as they are kept.
pub(super) fn fit(s: Scalar, lanes: String) -> String {
    match s {
        Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => format!("fit_{}({lanes})", s.name()),
        _ => lanes,
    }
}

/// A unary operation on lanes.
pub(super) fn unary_lanes(op: UnaryOp, s: Scalar, a: &str) -> String {
    let kind = suffix(s);
    match (op, s) {
        (UnaryOp::Not, Scalar::Bool) => format!("(m16)~{a}"),
        (UnaryOp::Not, _) => fit(s, format!("not_{kind}({a})")),
        (UnaryOp::Neg, _) => fit(s, format!("neg_{kind}({a})")),
    }
}

/// Of a type and an amount's; not division.
pub(super) fn binary(op: BinaryOp, s: Scalar, amount: Scalar, a: &str, b: &str) -> Result<String> {
    let ty = ctype(s);
    let sign = match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Min => return Ok(format!("({a} < {b} ? {a} : {b})")),
        BinaryOp::Max => return Ok(format!("({a} > {b} ? {a} : {b})")),
        BinaryOp::Shl => {
            return Ok(format!(
                "({ty})SLL(({}){a}, ({}){b})",
                unsigned(s).replace("u8", "u32").replace("u16", "u32"),
                unsigned(amount)
            ));
        }
        BinaryOp::Shr if s.is_signed() => return Ok(format!("({ty})SRA(({ty}){a}, ({}){b})", unsigned(amount))),
        BinaryOp::Shr => return Ok(format!("({ty})SRL(({ty}){a}, ({}){b})", unsigned(amount))),
        BinaryOp::MulHi => {
            return Ok(match s {
                Scalar::I32 => format!("(i32)(((i64){a} * {b}) >> 32)"),
                Scalar::U32 => format!("(u32)(((u64){a} * {b}) >> 32)"),
                Scalar::I64 => format!("(i64)(((__int128){a} * {b}) >> 64)"),
                Scalar::U64 => format!("(u64)(((unsigned __int128){a} * {b}) >> 64)"),
                _ => return Err(Unsupported("the high half of a narrow product")),
            });
        }
    };
    Ok(format!("({ty})({a} {sign} {b})"))
}

pub(super) fn convert(from: Scalar, to: Scalar, a: &str) -> String {
    let ty = ctype(to);
    if from == to {
        return a.to_owned();
    }
    if to == Scalar::Bool {
        return format!("(b1)({a} != 0)");
    }
    if !from.is_float() || to.is_float() {
        return format!("({ty}){a}");
    }
    match to {
        Scalar::I32 | Scalar::U32 if from == Scalar::F64 => format!("d_to_{ty}({a})"),
        Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 => format!("s_to_{ty}({a})"),
        _ => {
            let bits = to.bits();
            let (least, most) =
                if to.is_signed() { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
            let n = format!("{}_to_i32({a})", if from == Scalar::F64 { 'd' } else { 's' });
            format!("({ty})({n} < {least} ? {least} : {n} > {most} ? {most} : {n})")
        }
    }
}

pub(super) fn bitcast(from: Scalar, to: Scalar, a: &str) -> String {
    match (from, to) {
        (_, Scalar::Bool) => convert(from, to, a),
        (Scalar::F32, Scalar::F32) | (Scalar::F64, Scalar::F64) => a.to_owned(),
        (Scalar::F32, _) => format!("({})bits_f32({a})", ctype(to)),
        (Scalar::F64, _) => format!("({})bits_f64({a})", ctype(to)),
        (_, Scalar::F32) => format!("f32_of((u32){a})"),
        (_, Scalar::F64) => format!("f64_of((u64){a})"),
        _ => format!("({}){a}", ctype(to)),
    }
}

pub(super) fn bit(bit: BitFn, s: Scalar, a: &str) -> Result<String> {
    let (u, ll) = match s.bits() {
        32 => ("u32", ""),
        64 => ("u64", "ll"),
        _ => return Err(Unsupported("a bit function of a narrow number")),
    };
    Ok(match bit {
        BitFn::Clz => format!("clz_s{}(({u}){a})", s.bits()),
        BitFn::Popc => format!("(i32)__builtin_popcount{ll}(({u}){a})"),
        BitFn::Ffs => format!("(i32)__builtin_ffs{ll}({a})"),
        BitFn::Brev => format!("({})brev_s{}(({u}){a})", ctype(s), s.bits()),
    })
}

/// A bit function on lanes.
pub(super) fn bit_lanes(bit: BitFn, s: Scalar, a: &str) -> Result<String> {
    let name = match bit {
        BitFn::Clz => "clz",
        BitFn::Popc => "popc",
        BitFn::Ffs => "ffs",
        BitFn::Brev => "brev",
    };
    if s.bits() < 32 {
        return Err(Unsupported("a bit function of a narrow number"));
    }
    Ok(format!("{name}_{}({a})", s.bits()))
}

impl Printer<'_> {
    /// A binary operation on lanes.
    pub(super) fn binary_lanes(&mut self, op: BinaryOp, s: Scalar, a: Value, b: Value, u: u32) -> Result<String> {
        let amount = self.scalar(b);
        let by = self.known(b);
        let (x, y) = (self.lanes(a, u)?, self.lanes(b, u)?);
        let kind = suffix(s);
        if s == Scalar::Bool {
            let sign = match op {
                BinaryOp::And => "&",
                BinaryOp::Or => "|",
                BinaryOp::Xor => "^",
                _ => return Err(Unsupported("arithmetic of truth values")),
            };
            return Ok(format!("(m16)({x} {sign} {y})"));
        }
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::Div if s.is_float() => "div",
            BinaryOp::Min => return Ok(format!("min_{}({x}, {y})", signed_suffix(s))),
            BinaryOp::Max => return Ok(format!("max_{}({x}, {y})", signed_suffix(s))),
            BinaryOp::MulHi => return Ok(format!("mulhi_{}({x}, {y})", s.name())),
            BinaryOp::Div | BinaryOp::Rem => {
                let is_div = op == BinaryOp::Div;
                // The compiler knows multiplications that divide by a constant.
                if let Some(n) = by.filter(|n| !matches!(*n, 0 | -1) && s.bits() <= 32) {
                    let name = if is_div { "div" } else { "rem" };
                    let ty = if s == Scalar::U32 { "u32" } else { "i32" };
                    return Ok(format!("{name}_by_{ty}({x}, ({ty}){n}ll)"));
                }
                let quotient = format!("{}_{}({x}, {y})", if is_div { "div" } else { "rem" }, signed_suffix(s));
                return Ok(fit(s, quotient));
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let y = match (kind, suffix(amount)) {
                    ("i32", "i64") => format!("narrow_i64(min_u64({y}, splat_i64(64)))"),
                    ("i64", "i32") => format!("widen_u32({y})"),
                    _ => y,
                };
                return Ok(match op {
                    BinaryOp::Shl => fit(s, format!("shl_{kind}({x}, {y})")),
                    _ if s.is_signed() => format!("shr_{kind}({x}, {y})"),
                    _ => format!("shr_{}({x}, {y})", kind.replace('i', "u")),
                });
            }
        };
        Ok(fit(s, format!("{name}_{kind}({x}, {y})")))
    }

    pub(super) fn math_one(&self, math: MathFn, s: Scalar, args: &[String]) -> Result<String> {
        let f = if s == Scalar::F32 { "f" } else { "" };
        let all = args.join(", ");
        Ok(match math {
            MathFn::Ceil
            | MathFn::Floor
            | MathFn::Trunc
            | MathFn::Rint
            | MathFn::Sqrt
            | MathFn::Fabs
            | MathFn::Copysign
            | MathFn::Fma => {
                format!("__builtin_{}{f}({all})", math.name())
            }
            MathFn::Fmin | MathFn::Fmax => format!("s{}_{}({all})", math.name(), ctype(s)),
            MathFn::Rsqrt if s == Scalar::F32 && !reciprocal::has_estimate() => {
                format!("(1.0f / __builtin_sqrtf({all}))")
            }
            _ => format!("{}({all})", self.math_pointer(math, s)?),
        })
    }

    /// A C expression for the function of this process.
    pub(super) fn math_pointer(&self, math: MathFn, s: Scalar) -> Result<String> {
        let ty = ctype(s);
        let params = vec![ty; math.arity()].join(", ");
        let address = self.host(HostFn::Math(math, s == Scalar::F64))?;
        Ok(format!("(({ty} (*)({params})){address:#x}ull)"))
    }
}
