//! Expressions of a wanted C type. They are total, given what the IR defines (integers wrap, conversions saturate), and no bits of a NaN
//! can be told apart.

use super::random::Random;
use super::ty::Ty::{self, Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use super::ty::{Array, Helper, Var};

/// The parts that expressions are made of.
pub struct Scope {
    pub rng: Random,
    pub vars: Vec<Var>,
    pub arrays: Vec<Array>,
    pub helpers: Vec<Helper>,
    /// True if only values that are the same for all threads of a block are used.
    pub uniform: bool,
    /// True if the thread's own cells may be read: `i` is known.
    pub cell: bool,
    /// True if `n - 1 - i` is an index.
    pub guarded: bool,
    /// True if only code is wanted that the vector tiers are likely to support: common types, accesses to consecutive elements.
    pub simple: bool,
    /// True inside the kernel, not in a helper.
    pub kernel: bool,
    /// The number of values that `i` may have.
    pub span: usize,
    /// Threads of a block.
    pub threads: usize,
}

impl Scope {
    pub fn uniformly<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.uniform, true);
        let out = f(self);
        self.uniform = before;
        out
    }

    pub fn constant(&mut self, ty: Ty) -> String {
        let rng = &mut self.rng;
        let small = rng.below(12) as i64 - 3;
        let int = match rng.below(8) {
            0 => *rng.pick(&[31, 32, 64, 100, 255, 256, 1000, 65535, 65536, -128, 127, -1, 0x7fff_ffff, 1 << 20]),
            1 => rng.bits() as i64 >> 40,
            _ => small,
        };
        match ty {
            Bool => ["false", "true"][rng.below(2)].to_owned(),
            I32 if int < 0 => format!("({int})"),
            I32 => int.to_string(),
            U32 => format!("{}u", int as u32),
            I64 if rng.one_in(4) => format!("({}LL)", (rng.bits() as i64 >> 8) * small),
            I64 => format!("({int}LL)"),
            U64 => format!("{}ull", int as u64),
            I8 | U8 | I16 | U16 => format!("({})({int})", ty.name()),
            F32 => (*rng.pick(&[
                "0.0f",
                "1.0f",
                "0.5f",
                "-1.0f",
                "2.0f",
                "0.1f",
                "-0.0f",
                "3.5f",
                "1e30f",
                "-2.25f",
                "1e-40f",
                "100.0f",
                "0.33333334f",
                "16777216.0f",
                "-7.0f",
                "1e-3f",
            ]))
            .to_owned(),
            F64 => (*rng.pick(&[
                "0.0", "1.0", "0.5", "-1.0", "2.0", "0.1", "-0.0", "3.5", "1e300", "-2.25", "1e-310", "1e10", "1e-3",
            ]))
            .to_owned(),
        }
    }

    /// An index that is in every input array.
    pub fn index(&mut self, depth: usize) -> String {
        let c = self.rng.below(40);
        if self.simple && self.kernel && self.cell {
            return match self.rng.below(10) {
                0 => format!("k + {c}"),
                1 => c.to_string(),
                2 => "k".to_owned(),
                3 if !self.uniform => format!("i + {c}"),
                _ if !self.uniform => "i".to_owned(),
                _ => format!("{c}"),
            };
        }
        let ranged: Vec<(String, usize)> = self
            .vars
            .iter()
            .filter(|v| v.uniform || !self.uniform)
            .filter_map(|v| Some((v.name.clone(), v.max?)))
            .collect();
        let threads = self.kernel && !self.uniform;
        let cell = threads && self.cell;
        match self.rng.below(24) {
            0..=5 if cell => "i".to_owned(),
            6 | 7 if cell => format!("i + {c}"),
            8 if cell => format!("2 * i + {c}"),
            9 if cell => format!("i * 3 + {c}"),
            10 if cell && self.guarded => "n - 1 - i".to_owned(),
            10 | 11 if cell => format!("{} - i", self.span - 1 + c),
            12 if cell => format!("(long long)i + {c}"),
            13 if cell => format!("k + i * {}", 1 + c % 2),
            14 if threads => "threadIdx.x".to_owned(),
            15 if threads => format!("threadIdx.x * 2 + {c}u"),
            16 if threads => format!("tid + {c}"),
            17 if threads => format!("threadIdx.x + {c} * threadIdx.y"),
            18 if self.kernel => format!("k + {c}"),
            19 => c.to_string(),
            20 | 21 if !ranged.is_empty() => {
                let (name, max) = self.rng.pick(&ranged).clone();
                if max <= 3 && cell && c.is_multiple_of(2) {
                    format!("i + {name} * n")
                } else if max <= 20 && cell {
                    format!("i + {name} * {}", 1 + c % 4)
                } else if max <= 100 {
                    format!("{name} + {c}")
                } else {
                    name
                }
            }
            _ if depth == 0 && cell => "i".to_owned(),
            _ if depth == 0 && self.kernel => "k".to_owned(),
            _ if depth == 0 => c.to_string(),
            22 => format!("{} % {}u", self.expr(U32, depth - 1), [251, 64, 17, 300][c % 4]),
            _ => format!("{} & {}", self.expr(I32, depth - 1), [255, 127, 15, 7][c % 4]),
        }
    }

    fn load(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let own = self.kernel && self.cell && !self.uniform && self.rng.one_in(5);
        let (input, output) = match ty {
            F32 => ("a", Some("y")),
            I32 => ("p", Some("r")),
            F64 => ("d", Some("e")),
            I64 => ("q", Some("z")),
            I16 => ("", Some("g")),
            U32 => ("u", None),
            U8 => ("c", None),
            _ => return None,
        };
        if let Some(output) = output.filter(|_| own) {
            return Some(format!("{output}[i]"));
        }
        if input.is_empty() {
            return None;
        }
        let input = if ty == F32 && self.kernel && self.rng.one_in(3) { "b" } else { input };
        if !self.kernel && ty != F32 {
            return None;
        }
        Some(format!("{input}[{}]", self.index(depth)))
    }

    pub fn leaf(&mut self, ty: Ty, depth: usize) -> String {
        let fitting = |v: &&Var, s: &Self| v.ty == ty && (v.uniform || !s.uniform);
        let mine: Vec<String> = self.vars.iter().filter(|v| fitting(v, self)).map(|v| v.name.clone()).collect();
        match self.rng.below(10) {
            0..=3 if !mine.is_empty() => return self.rng.pick(&mine).clone(),
            4 | 5 if depth > 0 => {
                if let Some(load) = self.load(ty, depth - 1) {
                    return load;
                }
            }
            6 if !self.uniform => {
                let arrays: Vec<Array> = self.arrays.iter().filter(|a| a.ty == ty).cloned().collect();
                if !arrays.is_empty() {
                    let array = self.rng.pick(&arrays).clone();
                    let at = self.element(array.len, depth.saturating_sub(1));
                    return format!("{}[{at}]", array.name);
                }
            }
            7 => {
                let others: Vec<Var> = self.vars.iter().filter(|v| v.uniform || !self.uniform).cloned().collect();
                if !others.is_empty() {
                    let other = self.rng.pick(&others);
                    let text = format!("({})({})", ty.name(), other.name);
                    return if ty == Bool { format!("({} != 0)", other.name) } else { text };
                }
            }
            8 if self.kernel && !self.uniform => {
                let thread = *self.rng.pick(&["threadIdx.x", "threadIdx.y", "threadIdx.x", "blockIdx.x", "tid"]);
                return match ty {
                    U32 if thread != "tid" => thread.to_owned(),
                    Bool => format!("({thread} != 3)"),
                    _ => format!("({}){thread}", ty.name()),
                };
            }
            9 if self.kernel => {
                let scalar = *self.rng.pick(&["n", "k", "s", "blockDim.x", "blockIdx.x", "gridDim.x", "s"]);
                return match ty {
                    F32 if scalar == "s" => scalar.to_owned(),
                    I32 if scalar == "n" || scalar == "k" => scalar.to_owned(),
                    Bool => format!("({scalar} > 1)"),
                    _ => format!("({}){scalar}", ty.name()),
                };
            }
            _ => {}
        }
        if !mine.is_empty() && self.rng.below(3) > 0 {
            return self.rng.pick(&mine).clone();
        }
        if self.rng.below(6) > 0 {
            if let Some(load) = self.load(ty, depth.saturating_sub(1)) {
                return load;
            }
            if ty == Bool {
                let of = *self.rng.pick(&[F32, I32, U32, F64]);
                let op = *self.rng.pick(&["<", ">", "!=", ">="]);
                return format!("({} {op} {})", self.leaf(of, 0), self.leaf(of, 0));
            }
        }
        self.constant(ty)
    }

    /// An index into a local array.
    pub fn element(&mut self, len: usize, depth: usize) -> String {
        if self.rng.below(3) == 0 {
            return self.rng.below(len).to_string();
        }
        let small: Vec<String> =
            self.vars.iter().filter(|v| v.max.is_some_and(|m| m < len)).map(|v| v.name.clone()).collect();
        if !small.is_empty() && self.rng.one_in(2) {
            return self.rng.pick(&small).clone();
        }
        format!("{} & {}", self.expr(I32, depth), len - 1)
    }

    pub fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.rng.below(5) == 0 {
            return self.leaf(ty, depth);
        }
        let d = depth - 1;
        if self.rng.one_in(12) {
            let fitting: Vec<Helper> = self.helpers.iter().filter(|h| h.ret == ty && !h.warp).cloned().collect();
            if !fitting.is_empty() {
                let helper = self.rng.pick(&fitting).clone();
                return self.call(&helper, d);
            }
        }
        if ty.is_narrow() && ty != Bool {
            let from = *self.rng.pick(&[I32, I32, U32, F32, I64]);
            return format!("({})({})", ty.name(), self.expr(from, d));
        }
        match ty {
            Bool => self.condition(d),
            F32 | F64 => self.float(ty, d),
            _ => self.integer(ty, d),
        }
    }

    pub fn call(&mut self, helper: &Helper, depth: usize) -> String {
        let args: Vec<String> = helper.params.iter().map(|p| self.expr(*p, depth)).collect();
        format!("{}(a{}{})", helper.name, if args.is_empty() { "" } else { ", " }, args.join(", "))
    }

    fn other(&mut self, ty: Ty) -> Ty {
        let all = [F32, F32, I32, I32, U32, F64, I64, U64, I16, U8, U16, I8];
        loop {
            let other = *self.rng.pick(&all[..if self.simple { 6 } else { all.len() }]);
            if other != ty {
                return other;
            }
        }
    }

    pub fn condition(&mut self, d: usize) -> String {
        match self.rng.below(8) {
            0 => format!("({} && {})", self.expr(Bool, d), self.expr(Bool, d)),
            1 => format!("({} || {})", self.expr(Bool, d), self.expr(Bool, d)),
            2 => format!("(!{})", self.expr(Bool, d)),
            3 => format!("(({} & {}) != 0)", self.expr(I32, d), 1 << self.rng.below(5)),
            _ => {
                let all = [F32, F32, I32, I32, U32, F64, I64, U64, U8, I16];
                let ty = *self.rng.pick(&all[..if self.simple { 6 } else { all.len() }]);
                let op = *self.rng.pick(&["<", "<=", ">", ">=", "==", "!=", "<", ">"]);
                format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
            }
        }
    }

    /// A float that is not a NaN.
    /// A dot product of bytes, which CUDA declares for numbers of one type alone.
    fn dot_of_bytes(&mut self, ty: Ty, d: usize) -> String {
        let [x, y, sum] = [(); 3].map(|()| format!("({})({})", ty.name(), self.expr(ty, d)));
        format!("__dp4a({x}, {y}, {sum})")
    }

    fn number(&mut self, ty: Ty, d: usize) -> String {
        let e = self.expr(ty, d);
        // Both are exact, and a NaN loses to a number.
        if ty == F32 { format!("fminf({e}, 1e37f)") } else { format!("fmin({e}, 1e300)") }
    }

    fn float(&mut self, ty: Ty, d: usize) -> String {
        let f = if ty == F32 { "f" } else { "" };
        match self.rng.below(20) {
            0..=8 => {
                let op = *self.rng.pick(&["+", "-", "*", "+", "-", "*", "/"]);
                format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
            }
            9 => format!("sqrt{f}(fabs{f}({}))", self.expr(ty, d)),
            10 => {
                let name = *self.rng.pick(&["floor", "ceil", "trunc", "rint", "round", "fabs", "logb"]);
                format!("{name}{f}({})", self.expr(ty, d))
            }
            11 => format!("fma{f}({}, {}, {})", self.expr(ty, d), self.expr(ty, d), self.expr(ty, d)),
            12 | 13 => {
                let name = *self.rng.pick(&["fmin", "fmax", "fdim", "nextafter"]);
                format!("{name}{f}({}, {})", self.expr(ty, d), self.expr(ty, d))
            }
            14 => format!("copysign{f}({}, {})", self.expr(ty, d), self.number(ty, d)),
            15 | 16 => format!("({} ? {} : {})", self.expr(Bool, d), self.expr(ty, d), self.expr(ty, d)),
            17 => format!("(- {})", self.expr(ty, d)),
            18 if ty == F32 && self.rng.one_in(3) => format!("__int_as_float({})", self.expr(I32, d)),
            _ => {
                let other = self.other(ty);
                format!("({})({})", ty.name(), self.expr(other, d))
            }
        }
    }

    fn integer(&mut self, ty: Ty, d: usize) -> String {
        let ll = match ty {
            I64 => "LL",
            U64 => "ull",
            U32 => "u",
            _ => "",
        };
        match self.rng.below(24) {
            0..=7 => {
                let op = *self.rng.pick(&["+", "-", "*", "+", "-", "*", "&", "|", "^"]);
                format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
            }
            8 | 9 => {
                let op = *self.rng.pick(&["<<", ">>"]);
                let (left, amount) = (self.expr(ty, d), self.rng.below(ty.bits() as usize));
                match self.rng.below(5) {
                    0 => format!("({left} {op} ({} & {}))", self.expr(I32, d), ty.bits() - 1),
                    1 => format!("({left} {op} ({} & 127))", self.expr(I32, d)),
                    // Amounts past 32 bits shift everything out as well.
                    2 => format!("({left} {op} {})", self.expr(U64, d)),
                    _ => format!("({left} {op} {amount})"),
                }
            }
            10 | 11 if self.simple && self.rng.below(4) > 0 => {
                // A division that might fault, but by the same number for all threads.
                let op = *self.rng.pick(&["/", "%"]);
                self.uniformly(|s| format!("({} {op} ((({})k & 3) + 1))", s.leaf(ty, 1), ty.name()))
            }
            10 | 11 => {
                let op = *self.rng.pick(&["/", "%"]);
                let left = self.expr(ty, d);
                match self.rng.below(4) {
                    0 => format!("({left} {op} (({} & 15) + 1{ll}))", self.expr(ty, d)),
                    1 if ty.is_signed() => format!("({left} {op} (-{}{ll}))", 2 + self.rng.below(9)),
                    1 => format!("({left} {op} ({} | 1{ll}))", self.expr(ty, d)),
                    _ => format!("({left} {op} {}{ll})", [2, 3, 7, 8, 10, 16, 100, 641][self.rng.below(8)]),
                }
            }
            12 | 13 => {
                let name = *self.rng.pick(&["min", "max"]);
                format!("{name}({}, {})", self.expr(ty, d), self.expr(ty, d))
            }
            14 => format!("(~{})", self.expr(ty, d)),
            15 if ty.is_signed() => format!("(- {})", self.expr(ty, d)),
            16 | 17 => format!("({} ? {} : {})", self.expr(Bool, d), self.expr(ty, d), self.expr(ty, d)),
            18 if ty == I32 => match self.rng.below(7) {
                6 => self.dot_of_bytes(I32, d),
                0 => format!("__popc({})", self.expr(U32, d)),
                1 => format!("__clz({})", self.expr(I32, d)),
                2 => format!("__ffs({})", self.expr(I32, d)),
                3 => format!("__mulhi({}, {})", self.expr(I32, d), self.expr(I32, d)),
                4 => format!("abs({} >> 1)", self.expr(I32, d)),
                _ => format!("__popcll({})", self.expr(U64, d)),
            },
            18 if ty == U32 => match self.rng.below(5) {
                1 => self.dot_of_bytes(U32, d),
                2 => format!("__wb_half_to_float_bits({})", self.expr(U32, d)),
                3 => format!("__wb_float_to_half_bits({})", self.expr(U32, d)),
                0 => format!("__brev({})", self.expr(U32, d)),
                _ => format!("__umulhi({}, {})", self.expr(U32, d), self.expr(U32, d)),
            },
            19 if ty == I32 => format!("__float_as_int({})", self.number(F32, d)),
            19 if ty == I64 => format!("__double_as_longlong({})", self.number(F64, d)),
            20 => format!("({})({})", ty.name(), self.expr(Bool, d)),
            _ => {
                let other = self.other(ty);
                format!("({})({})", ty.name(), self.expr(other, d))
            }
        }
    }
}
