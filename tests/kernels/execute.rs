//! Runs the data of `case` through the library: only this file knows the library's interface.

use std::time::Duration;

use workbench::ir::{Const, Param, Scalar};
use workbench::runtime::{
    Arg, BufferArg, CompileOptions, DType, Device, Dim3, Given, LaunchConfig, Packed, Program, Reach, Tier,
};

use crate::case::{Argument, Array, Extent, Handle, Kernel, Kind, Run, Step};

/// An array during its run: memory aligned for the largest vector type.
struct Memory {
    kind: Kind,
    chunks: Vec<u128>,
    bytes: usize,
    writable: bool,
}

impl Memory {
    fn new(array: &Array) -> Memory {
        let bytes = array.bytes.len();
        let mut chunks = vec![0u128; bytes.div_ceil(16).max(1)];
        bytemuck::cast_slice_mut::<u128, u8>(&mut chunks)[..bytes].copy_from_slice(&array.bytes);
        Memory { kind: array.kind, chunks, bytes, writable: array.writable }
    }

    fn contents(&self) -> Array {
        let bytes = bytemuck::cast_slice(&self.chunks)[..self.bytes].to_vec();
        Array { kind: self.kind, bytes, writable: self.writable }
    }

    fn arg(&mut self) -> Result<Arg, String> {
        Ok(Arg::Buffer(BufferArg {
            ptr: self.chunks.as_mut_ptr().cast(),
            bytes: self.bytes,
            dtype: dtype(self.kind)?,
            writable: self.writable,
        }))
    }
}

fn dtype(kind: Kind) -> Result<DType, String> {
    let name = match kind {
        Kind::I8 => "int8",
        Kind::U8 => "uint8",
        Kind::I32 => "int32",
        Kind::U32 => "uint32",
        Kind::I64 => "int64",
        Kind::U64 => "uint64",
        Kind::F16 => "float16",
        Kind::Bf16 => "bfloat16",
        Kind::F32 => "float32",
        Kind::F64 => "float64",
    };
    DType::from_name(name).ok_or_else(|| format!("there are no arrays of {name}"))
}

fn dim(extent: Extent) -> Dim3 {
    let [x, y, z] = extent.0;
    Dim3::new(x, y, z)
}

/// The memory behind arguments of one launch while it runs.
#[derive(Default)]
struct Lent {
    structs: Vec<Memory>,
    packed: Vec<Packed>,
}

fn argument(
    arg: &Argument,
    (index, param): (usize, &Param),
    arrays: &mut [Memory],
    Lent { structs, packed }: &mut Lent,
) -> Result<Arg, String> {
    Ok(match arg {
        Argument::Array(Handle(i)) => arrays[*i].arg()?,
        Argument::Null => Arg::Null,
        Argument::Accessor(Handle(i), shape) => {
            let Arg::Buffer(buffer) = arrays[*i].arg()? else { return Err("no memory".to_owned()) };
            let mut strides = vec![1isize; shape.len()];
            for d in (1..shape.len()).rev() {
                strides[d - 1] = strides[d] * shape[d] as isize;
            }
            let layout = param.layout.as_deref().ok_or("a parameter that is no accessor")?;
            let given = Given::Tensor { buffer, shape: shape.clone(), strides };
            let new = Packed::new(&param.name, index, layout, &given).map_err(|e| e.to_string())?;
            let arg = Arg::Buffer(new.buffer());
            packed.push(new);
            arg
        }
        Argument::Struct(bytes) => {
            let mut memory = Memory::new(&Array { kind: Kind::U8, bytes: bytes.clone(), writable: false });
            let arg = memory.arg()?;
            structs.push(memory);
            arg
        }
        Argument::Bool(x) => Arg::Scalar(Const::Bool(*x)),
        Argument::I32(x) => Arg::Scalar(Const::Int(Scalar::I32, i64::from(*x))),
        Argument::U32(x) => Arg::Scalar(Const::Int(Scalar::U32, i64::from(*x))),
        Argument::I64(x) => Arg::Scalar(Const::Int(Scalar::I64, *x)),
        Argument::U64(x) => Arg::Scalar(Const::Int(Scalar::U64, *x as i64)),
        Argument::F32(x) => Arg::Scalar(Const::F32(*x)),
        Argument::F64(x) => Arg::Scalar(Const::F64(*x)),
    })
}

fn set_symbol(program: &Program, name: &str, value: &Array) -> Result<(), String> {
    let symbol = program.symbol(name).map_err(|e| e.to_string())?;
    symbol.set_bytes(&value.bytes).map_err(|e| e.to_string())
}

/// The arrays after all steps.
fn execute(program: &Program, run: &Run) -> Result<Vec<Memory>, String> {
    let mut arrays: Vec<Memory> = run.arrays.iter().map(Memory::new).collect();
    for step in &run.steps {
        match step {
            Step::Symbol { name, value } => set_symbol(program, name, value)?,
            Step::Launch { kernel, grid, block, shared, args } => {
                let kernel = program.kernel(kernel).map_err(|e| e.to_string())?;
                let mut lent = Lent::default();
                let params = args.iter().zip(kernel.params().iter().enumerate());
                let args = params.map(|(a, param)| argument(a, param, &mut arrays, &mut lent));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                let reach: Vec<Reach> = lent.packed.iter().flat_map(Packed::reach).cloned().collect();
                let config = LaunchConfig {
                    shared_mem: *shared as u64,
                    reach: &reach,
                    timeout: Some(Duration::from_secs(60)),
                    ..LaunchConfig::new(dim(*grid), dim(*block))
                };
                kernel.launch_raw(&config, &args).map_err(|e| e.to_string())?;
                // A kernel that can be written in C must compile without a C compiler.
                if let Err(why) = kernel.c_source(dim(*block))
                    && why.contains("our own compiler")
                {
                    return Err(why);
                }
            }
        }
    }
    Ok(arrays)
}

/// Compiles a kernel's file and does all its runs: on the CPU in every tier, or on a GPU where `WORKBENCH_TEST_DEVICE` is `cuda`.
pub fn kernel(kernel: &Kernel, text: &str) -> Result<(), String> {
    if std::env::var("WORKBENCH_TEST_DEVICE").is_ok_and(|device| device == "cuda") {
        let options =
            CompileOptions { name: format!("{}.cu", kernel.name), device: Device::Cuda, ..CompileOptions::default() };
        return with(kernel, text, &options);
    }
    for tier in [Tier::Soon, Tier::Good, Tier::Lanes, Tier::Wide, Tier::Fibers] {
        let options = CompileOptions { name: format!("{}.cu", kernel.name), tier, ..CompileOptions::default() };
        with(kernel, text, &options).map_err(|e| format!("{tier:?}: {e}"))?;
    }
    Ok(())
}

fn with(kernel: &Kernel, text: &str, options: &CompileOptions) -> Result<(), String> {
    let program = Program::compile(text, options).map_err(|e| format!("does not compile:\n{e}"))?;
    for run in (kernel.runs)() {
        let arrays = execute(&program, &run).map_err(|e| format!("{}: {e}", run.label))?;
        for (Handle(i), expected) in &run.expected {
            let checked = expected.check(&arrays[*i].contents());
            checked.map_err(|e| format!("{}: array {i}: {e}", run.label))?;
        }
    }
    Ok(())
}
