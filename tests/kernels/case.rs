//! Test cases of a kernel, as plain data: arrays, launches in order, and the contents that each array must have afterwards. Nothing here
//! knows how a kernel is run.

use half::{bf16, f16};

/// The unit roundoff of `float`: each operation's result is off by at most this factor.
pub const U: f64 = 1.0 / (1u64 << 24) as f64;
/// The unit roundoff of `__half`.
pub const U16: f64 = 1.0 / 2048.0;
/// The unit roundoff of `__nv_bfloat16`.
pub const UB16: f64 = 1.0 / 256.0;

/// Higham's gamma: the relative bound of `n` roundings in a row. A sum of n products in any order is off by at most
/// `gamma(n) * sum |a| |b|` (Accuracy and Stability of Numerical Algorithms, section 3.1).
pub fn gamma(n: usize) -> f64 {
    let nu = n as f64 * U;
    nu / (1.0 - nu)
}

/// The byte that outputs are filled with before the launch: 0xcb in every byte is no plausible result of any type.
const POISON: u8 = 0xcb;

/// A kernel of `tests/filetests/kernels/` with its runs.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The file's name without `.cu`.
    pub name: &'static str,
    /// Makes the runs.
    pub runs: fn() -> Vec<Run>,
}

/// The element type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    I8,
    U8,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Kind {
    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::F16 | Kind::Bf16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }
}

/// A Rust type that arrays hold.
pub trait Element: Copy {
    /// Its name here.
    const KIND: Kind;
    /// Appends its bytes.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! elements {
    ($($ty:ty => $kind:ident;)*) => {$(
        impl Element for $ty {
            const KIND: Kind = Kind::$kind;
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
        }
    )*};
}

elements! {
    i8 => I8; u8 => U8; i32 => I32; u32 => U32; i64 => I64; u64 => U64; f16 => F16; bf16 => Bf16; f32 => F32; f64 => F64;
}

/// Contents of an array.
#[derive(Debug, Clone)]
pub struct Array {
    pub kind: Kind,
    pub bytes: Vec<u8>,
    /// True if the kernel may write it.
    pub writable: bool,
}

impl Array {
    fn new<T: Element>(values: &[T], writable: bool) -> Array {
        let mut bytes = Vec::with_capacity(values.len() * T::KIND.size());
        for v in values {
            v.put(&mut bytes);
        }
        Array { kind: T::KIND, bytes, writable }
    }

    /// The element at `i`, and its value if that is a float.
    fn element(&self, i: usize) -> (i128, f64) {
        let size = self.kind.size();
        let mut wide = [0u8; 8];
        wide[..size].copy_from_slice(&self.bytes[i * size..(i + 1) * size]);
        let bits = u64::from_le_bytes(wide);
        match self.kind {
            Kind::I8 => (i128::from(bits as i8), 0.0),
            Kind::I32 => (i128::from(bits as i32), 0.0),
            Kind::I64 => (i128::from(bits as i64), 0.0),
            Kind::U8 | Kind::U32 | Kind::U64 => (i128::from(bits), 0.0),
            Kind::F16 => (i128::from(bits), f64::from(f16::from_bits(bits as u16))),
            Kind::Bf16 => (i128::from(bits), f64::from(bf16::from_bits(bits as u16))),
            Kind::F32 => (i128::from(bits), f64::from(f32::from_bits(bits as u32))),
            Kind::F64 => (i128::from(bits), f64::from_bits(bits)),
        }
    }

    fn is_float(&self) -> bool {
        matches!(self.kind, Kind::F16 | Kind::Bf16 | Kind::F32 | Kind::F64)
    }

    fn show(&self, i: usize) -> String {
        let (int, float) = self.element(i);
        if self.is_float() { format!("{float:?}") } else { int.to_string() }
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.kind.size()
    }
}

/// An array of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(pub usize);

/// An argument of a launch.
#[derive(Debug, Clone)]
pub enum Argument {
    Array(Handle),
    /// A null pointer.
    Null,
    /// A tensor accessor passed by value: its array and extents, row-major.
    Accessor(Handle, Vec<usize>),
    /// A struct passed by value.
    Struct(Vec<u8>),
    Bool(bool),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
}

macro_rules! arguments {
    ($($ty:ty => $name:ident;)*) => {$(
        impl From<$ty> for Argument {
            fn from(x: $ty) -> Argument {
                Argument::$name(x)
            }
        }
    )*};
}

arguments! {
    Handle => Array; bool => Bool; i32 => I32; u32 => U32; i64 => I64; u64 => U64; f32 => F32; f64 => F64;
}

/// Arguments of a launch from values of many types.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { vec![$($crate::case::Argument::from($arg)),*] };
}
pub(crate) use args;

/// An extent of a grid or a block.
#[derive(Debug, Clone, Copy)]
pub struct Extent(pub [u32; 3]);

impl From<usize> for Extent {
    fn from(x: usize) -> Extent {
        Extent([x as u32, 1, 1])
    }
}

impl From<(usize, usize)> for Extent {
    fn from((x, y): (usize, usize)) -> Extent {
        Extent([x as u32, y as u32, 1])
    }
}

impl From<(usize, usize, usize)> for Extent {
    fn from((x, y, z): (usize, usize, usize)) -> Extent {
        Extent([x as u32, y as u32, z as u32])
    }
}

/// The steps of a run, in order.
#[derive(Debug, Clone)]
pub enum Step {
    /// Launches a kernel, given by its name expression.
    Launch { kernel: String, grid: Extent, block: Extent, shared: usize, args: Vec<Argument> },
    /// Sets a `__constant__` or `__device__` variable.
    Symbol { name: &'static str, value: Array },
}

/// The contents that an array must have.
#[derive(Debug, Clone)]
pub enum Expectation {
    /// These bytes.
    Exactly(Array),
    /// Numbers, each within its own absolute bound.
    Near { want: Vec<f64>, bound: Vec<f64> },
}

impl Expectation {
    /// Compares; the message shows the first difference.
    pub fn check(&self, got: &Array) -> Result<(), String> {
        match self {
            Expectation::Exactly(want) => {
                if got.kind != want.kind || got.len() != want.len() {
                    return Err(format!("the expectation has {} {:?}", want.len(), want.kind));
                }
                match (0..got.len()).find(|&i| got.element(i).0 != want.element(i).0) {
                    Some(i) => Err(format!("[{i}] is {}, not {}", got.show(i), want.show(i))),
                    None => Ok(()),
                }
            }
            Expectation::Near { want, bound } => {
                if !got.is_float() || got.len() != want.len() || bound.len() != want.len() {
                    return Err(format!("the expectation has {} floats", want.len()));
                }
                for (i, (w, b)) in want.iter().zip(bound).enumerate() {
                    let value = got.element(i).1;
                    if !(value == *w || (value - w).abs() <= *b || (value.is_nan() && w.is_nan())) {
                        return Err(format!("[{i}] is {value:?}, not {w:?} within {b:e}"));
                    }
                }
                Ok(())
            }
        }
    }
}

/// One set of inputs with its launches and expectations.
#[derive(Debug, Clone)]
pub struct Run {
    /// The name of its shape.
    pub label: String,
    pub arrays: Vec<Array>,
    pub steps: Vec<Step>,
    pub expected: Vec<(Handle, Expectation)>,
}

impl Run {
    /// An empty run.
    pub fn new(label: impl Into<String>) -> Run {
        Run { label: label.into(), arrays: Vec::new(), steps: Vec::new(), expected: Vec::new() }
    }

    fn add(&mut self, array: Array) -> Handle {
        self.arrays.push(array);
        Handle(self.arrays.len() - 1)
    }

    /// An array that is only read.
    pub fn input<T: Element>(&mut self, values: &[T]) -> Handle {
        self.add(Array::new(values, false))
    }

    /// An array that is read and written.
    pub fn state<T: Element>(&mut self, values: &[T]) -> Handle {
        self.add(Array::new(values, true))
    }

    /// An array that is written: poisoned, so that elements that are never written show.
    pub fn output<T: Element>(&mut self, len: usize) -> Handle {
        self.add(Array { kind: T::KIND, bytes: vec![POISON; len * T::KIND.size()], writable: true })
    }

    /// Adds the next launch.
    pub fn launch(
        &mut self,
        kernel: impl Into<String>,
        grid: impl Into<Extent>,
        block: impl Into<Extent>,
        shared: usize,
        args: Vec<Argument>,
    ) {
        self.steps.push(Step::Launch { kernel: kernel.into(), grid: grid.into(), block: block.into(), shared, args });
    }

    /// Sets a `__constant__` or `__device__` variable.
    pub fn symbol<T: Element>(&mut self, name: &'static str, values: &[T]) {
        self.steps.push(Step::Symbol { name, value: Array::new(values, false) });
    }

    /// Expects these values in an array, bit for bit.
    pub fn exactly<T: Element>(&mut self, array: Handle, values: &[T]) {
        self.expected.push((array, Expectation::Exactly(Array::new(values, false))));
    }

    /// Expects these values in an array, each within its absolute bound.
    pub fn near(&mut self, array: Handle, want: Vec<f64>, bound: Vec<f64>) {
        self.expected.push((array, Expectation::Near { want, bound }));
    }

    /// Expects these values in an array, within a relative bound.
    pub fn near_relative(&mut self, array: Handle, want: Vec<f64>, relative: f64) {
        let bound = want.iter().map(|w| w.abs() * relative).collect();
        self.near(array, want, bound);
    }
}

/// The number of blocks that cover `n` elements, `per` in each block.
pub fn cover(n: usize, per: usize) -> usize {
    n.div_ceil(per)
}

/// Floats as doubles.
pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|v| f64::from(*v)).collect()
}

/// Random numbers: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Rng(u64);

impl Rng {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// An integer below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 11) as usize % n
    }

    /// Uniform in [lo, hi), a multiple of 2^-23 of the width.
    pub fn between(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (hi - lo) * ((self.bits() >> 41) as f32 / (1u32 << 23) as f32)
    }

    /// Floats uniform in [-1, 1).
    pub fn floats(&mut self, n: usize) -> Vec<f32> {
        self.uniform(n, -1.0, 1.0)
    }

    /// Floats uniform in [lo, hi).
    pub fn uniform(&mut self, n: usize, lo: f32, hi: f32) -> Vec<f32> {
        (0..n).map(|_| self.between(lo, hi)).collect()
    }

    /// Integers in lo..hi.
    pub fn ints(&mut self, n: usize, lo: i32, hi: i32) -> Vec<i32> {
        (0..n).map(|_| lo + self.below((hi - lo) as usize) as i32).collect()
    }
}
