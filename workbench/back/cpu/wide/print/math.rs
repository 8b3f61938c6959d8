//! The math functions as C: the same straight-line code that scalar code runs, printed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Printer, ctype, suffix, vtype};
use crate::back::cpu::math::lanes::{self, Lanes, Rare};
use crate::back::cpu::wide::Result;
use crate::ir::{MathFn, Scalar};

/// A C variable.
#[derive(Debug, Clone, Copy)]
pub struct Var(u32);

/// A C function being printed.
#[derive(Default)]
struct Text {
    out: String,
    next: u32,
}

impl Text {
    fn define(&mut self, ty: &str, value: &str) -> Var {
        self.next += 1;
        let _ = writeln!(self.out, "const {ty} x{} = {value};", self.next);
        Var(self.next)
    }

    fn two(&mut self, ty: &str, name: &str, a: Var, b: Var) -> Var {
        self.define(ty, &format!("{name}(x{}, x{})", a.0, b.0))
    }

    fn one(&mut self, ty: &str, name: &str, a: Var) -> Var {
        self.define(ty, &format!("{name}(x{})", a.0))
    }

    fn shift(&mut self, ty: &str, name: &str, a: Var, n: u32) -> Var {
        let kind = &ty[1..];
        self.define(ty, &format!("{name}(x{}, splat_{kind}({n}))", a.0))
    }

    fn choose(&mut self, ty: &str, m: Var, a: Var, b: Var) -> Var {
        let kind = &ty[1..];
        self.define(ty, &format!("select_{kind}(x{}, x{}, x{})", m.0, a.0, b.0))
    }

    fn seldom(&mut self, (ty, scalar): (&str, &str), mask: Var, address: usize, args: &[Var], fast: Var) -> Var {
        let kind = &ty[1..];
        self.next += 1;
        let (n, x) = (self.next, args[0].0);
        let _ = writeln!(
            self.out,
            "{ty} x{n} = x{}; if (unlikely(x{})) x{n} = select_{kind}(x{}, each1_{kind}(x{}, ({scalar} (*)({scalar})){address:#x}ull, x{x}), x{n});",
            fast.0, mask.0, mask.0, mask.0
        );
        Var(n)
    }
}

macro_rules! twos {
    ($($name:ident $ty:literal $c:literal;)*) => {$(
        fn $name(&mut self, a: Var, b: Var) -> Var {
            self.two($ty, $c, a, b)
        }
    )*};
}

macro_rules! ones {
    ($($name:ident $ty:literal $c:literal;)*) => {$(
        fn $name(&mut self, a: Var) -> Var {
            self.one($ty, $c, a)
        }
    )*};
}

macro_rules! shifts {
    ($($name:ident $ty:literal $c:literal;)*) => {$(
        fn $name(&mut self, a: Var, n: u32) -> Var {
            self.shift($ty, $c, a, n)
        }
    )*};
}

macro_rules! chooses {
    ($($name:ident $ty:literal;)*) => {$(
        fn $name(&mut self, m: Var, a: Var, b: Var) -> Var {
            self.choose($ty, m, a, b)
        }
    )*};
}

impl Lanes for Text {
    type F = Var;
    type I = Var;
    type D = Var;
    type L = Var;
    type M = Var;

    fn f(&mut self, x: f32) -> Var {
        self.define("vf32", &format!("splat_f32(f32_of({:#x}u))", x.to_bits()))
    }
    fn i(&mut self, n: i32) -> Var {
        self.define("vi32", &format!("splat_i32((i32){:#x}u)", n as u32))
    }
    fn d(&mut self, x: f64) -> Var {
        self.define("vf64", &format!("splat_f64(f64_of({:#x}ull))", x.to_bits()))
    }
    fn l(&mut self, n: i64) -> Var {
        self.define("vi64", &format!("splat_i64((i64){:#x}ull)", n as u64))
    }

    twos! {
    add "vf32" "add_f32"; sub "vf32" "sub_f32"; mul "vf32" "mul_f32"; div "vf32" "div_f32";
    min "vf32" "min2_f32"; max "vf32" "max2_f32"; scale "vf32" "scale_f32";
    iadd "vi32" "add_i32"; isub "vi32" "sub_i32"; iand "vi32" "and_i32"; ixor "vi32" "xor_i32";
    lt "m16" "lt_f32"; le "m16" "le_f32"; eq "m16" "eq_f32"; ilt "m16" "lt_i32"; dadd "vf64" "add_f64"; dsub "vf64" "sub_f64"; dmul "vf64" "mul_f64"; ddiv "vf64" "div_f64";
    dmin "vf64" "min2_f64"; dmax "vf64" "max2_f64"; dscale "vf64" "scale_f64";
    ladd "vi64" "add_i64"; lsub "vi64" "sub_i64"; land "vi64" "and_i64"; lxor "vi64" "xor_i64";
    dlt "m16" "lt_f64"; dle "m16" "le_f64"; deq "m16" "eq_f64"; llt "m16" "lt_i64"; }
    ones! {
        neg "vf32" "neg_f32"; abs "vf32" "fabs_f32"; sqrt "vf32" "sqrt_f32"; rint "vf32" "rint_f32";
        to_i "vi32" "whole_i32"; to_f "vf32" "i32_to_f32"; bits "vi32" "cast_f32_i32"; of_bits "vf32" "cast_i32_f32";
        dneg "vf64" "neg_f64"; dabs "vf64" "fabs_f64"; dsqrt "vf64" "sqrt_f64"; drint "vf64" "rint_f64";
        dbits "vi64" "cast_f64_i64"; dof_bits "vf64" "cast_i64_f64";
        widen "vf64" "f32_to_f64"; narrow "vf32" "f64_to_f32";
    }
    shifts! {
    ishl "vi32" "shl_i32"; ishr "vi32" "shr_i32"; lshl "vi64" "shl_i64"; lshr "vi64" "shr_i64"; }
    chooses! {
        select "vf32"; iselect "vi32"; dselect "vf64"; lselect "vi64";
    }

    fn fma(&mut self, a: Var, b: Var, c: Var) -> Var {
        self.define("vf32", &format!("fma_f32(x{}, x{}, x{})", a.0, b.0, c.0))
    }
    fn dfma(&mut self, a: Var, b: Var, c: Var) -> Var {
        self.define("vf64", &format!("fma_f64(x{}, x{}, x{})", a.0, b.0, c.0))
    }
    fn and(&mut self, a: Var, b: Var) -> Var {
        self.define("m16", &format!("(m16)(x{} & x{})", a.0, b.0))
    }
    fn or(&mut self, a: Var, b: Var) -> Var {
        self.define("m16", &format!("(m16)(x{} | x{})", a.0, b.0))
    }
    fn not(&mut self, a: Var) -> Var {
        self.define("m16", &format!("(m16)~x{}", a.0))
    }
    fn split(&mut self, x: Var) -> (Var, Var) {
        let m = self.one("vf32", "mantissa_f32", x);
        (self.two("vf32", "exponent_f32", x, m), m)
    }
    fn rare(&mut self, mask: Var, rare: Rare, args: &[Var], fast: Var) -> Var {
        self.seldom(("vf32", "f32"), mask, lanes::rare_float(rare), args, fast)
    }
    fn drare(&mut self, mask: Var, rare: Rare, args: &[Var], fast: Var) -> Var {
        self.seldom(("vf64", "f64"), mask, lanes::rare_double(rare), args, fast)
    }
}

/// The C function of a math function, where there is straight-line code for it.
fn function(math: MathFn, s: Scalar) -> Option<String> {
    let mut text = Text { out: String::new(), next: math.arity() as u32 };
    let args: Vec<Var> = (1..=math.arity() as u32).map(Var).collect();
    let result = match s {
        Scalar::F32 => lanes::of_floats(&mut text, math, &args)?,
        _ => lanes::of_doubles(&mut text, math, &args)?,
    };
    let (ty, kind) = (vtype(s), suffix(s));
    let params: Vec<String> = args.iter().map(|a| format!("{ty} x{}", a.0)).collect();
    Some(format!(
        "FN {ty} math_{}_{kind}({}) {{\n{}return x{};\n}}\n",
        math.name(),
        params.join(", "),
        text.out,
        result.0
    ))
}

/// The math functions that a kernel names.
#[derive(Default)]
pub struct Functions {
    text: String,
    known: BTreeSet<String>,
}

impl Printer<'_> {
    /// A call of a math function that no instruction is.
    pub(super) fn math_call(&mut self, math: MathFn, s: Scalar, args: &str) -> Result<String> {
        let name = format!("math_{}_{}", math.name(), suffix(s));
        if !self.functions.known.contains(&name) {
            match function(math, s) {
                Some(text) => {
                    self.functions.text.push_str(&text);
                    self.functions.known.insert(name.clone());
                }
                None => {
                    let pointer = self.math_pointer(math, s)?;
                    return Ok(format!("each{}_{}(0xffff, {pointer}, {args})", math.arity(), ctype(s)));
                }
            }
        }
        Ok(format!("{name}({args})"))
    }

    /// Their text.
    pub(super) fn functions(&mut self) -> String {
        std::mem::take(&mut self.functions.text)
    }
}
