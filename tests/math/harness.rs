//! A kernel run over many arguments at once.

use workbench::ir::Scalar;
use workbench::runtime::{Arg, BufferArg, CompileOptions, LaunchConfig, Program};

/// A program whose kernel `k` takes an output, an input and the number of outputs.
pub struct Kernel(Program);

/// A number in an array.
pub trait Element: bytemuck::Pod {
    /// Its type in kernels.
    const SCALAR: Scalar;
}

impl Element for u32 {
    const SCALAR: Scalar = Scalar::U32;
}
impl Element for u64 {
    const SCALAR: Scalar = Scalar::U64;
}
impl Element for f32 {
    const SCALAR: Scalar = Scalar::F32;
}
impl Element for f64 {
    const SCALAR: Scalar = Scalar::F64;
}

fn buffer<T: Element>(data: &mut [T]) -> Arg {
    let bytes = size_of_val(data);
    Arg::Buffer(BufferArg { ptr: data.as_mut_ptr().cast(), bytes, dtype: T::SCALAR.into(), writable: true })
}

impl Kernel {
    /// Compiles a text.
    pub fn new(text: &str) -> Self {
        let options = CompileOptions { name: "t.cu".to_owned(), ..CompileOptions::default() };
        match Program::compile(text, &options) {
            Ok(program) => Kernel(program),
            Err(e) => panic!("{e}\nin\n{text}"),
        }
    }

    /// Runs one thread for each of `n` outputs.
    pub fn map<I: Element, O: Element>(&self, input: &[I], n: usize) -> Vec<O> {
        self.map_blocks(input, n, n.div_ceil(256) as u32, 256)
    }

    /// Runs so many blocks of so many threads, which give `n` outputs.
    pub fn map_blocks<I: Element, O: Element>(&self, input: &[I], n: usize, grid: u32, block: u32) -> Vec<O> {
        let mut input = input.to_vec();
        let mut out = vec![O::zeroed(); n];
        let kernel = self.0.kernel("k").unwrap();
        let args =
            [buffer(&mut out), buffer(&mut input), Arg::Scalar(workbench::ir::Const::Int(Scalar::I32, n as i64))];
        let config = LaunchConfig::new(grid, block);
        kernel.launch_raw(&config, &args).unwrap();
        out
    }
}
