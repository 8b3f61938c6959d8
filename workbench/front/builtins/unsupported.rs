//! CUDA C++ that is understood but not supported yet: names, the tier that will bring them, what to write meanwhile.

/// Why something is refused and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Advice {
    /// Name, or the beginning of names when `prefix`.
    pub name: &'static str,
    /// Whether every name that begins with `name` is meant.
    pub prefix: bool,
    /// What it is, for "... is not supported yet".
    pub what: &'static str,
    /// The tier of the language plan that brings it.
    pub tier: &'static str,
    /// What to write meanwhile.
    pub help: &'static str,
}

macro_rules! advice {
    ($($name:literal $kind:ident, $tier:literal $what:literal, $help:literal;)*) => {
        &[$(Advice { name: $name, prefix: advice!(@ $kind), what: $what, tier: $tier, help: $help },)*]
    };
    (@ exact) => { false };
    (@ prefix) => { true };
}

const FUNCTIONS: &[Advice] = advice! {
    "clock" exact, "later" "a clock", "time the launch from outside with `bench`";
    "clock64" exact, "later" "a clock", "time the launch from outside with `bench`";
    "__globaltimer" exact, "later" "a clock", "time the launch from outside with `bench`";
    "memcpy" exact, "T7" "memcpy in a kernel", "copy element by element in a loop";
    "memset" exact, "T7" "memset in a kernel", "assign element by element in a loop";
    "memmove" exact, "T7" "memmove in a kernel", "copy element by element in a loop";
    "malloc" exact, "later" "a heap in a kernel", "use a local array, or pass a scratch buffer as a parameter";
    "free" exact, "later" "a heap in a kernel", "use a local array, or pass a scratch buffer as a parameter";
    "make_" prefix, "T6" "a vector type", "use one variable for each component";
    "dim3" exact, "T6" "a vector type", "use one variable for each component";
    "__half" prefix, "T10" "half precision", "compute in `float`";
    "__float2half" prefix, "T10" "half precision", "compute in `float`";
    "__float2bfloat" prefix, "T10" "bfloat16", "compute in `float`";
    "__bfloat" prefix, "T10" "bfloat16", "compute in `float`";
    "__h" prefix, "T10" "half precision arithmetic", "compute in `float`";
    "curand" prefix, "later" "cuRAND", "pass random numbers in as an array";
    "tex1D" prefix, "later" "a texture", "read a plain array and interpolate in the kernel";
    "tex2D" prefix, "later" "a texture", "read a plain array and interpolate in the kernel";
    "tex3D" prefix, "later" "a texture", "read a plain array and interpolate in the kernel";
    "surf" prefix, "later" "a surface", "read and write a plain array";
    "__pipeline" prefix, "later" "an asynchronous copy", "copy element by element";
    "__cvta" prefix, "later" "an address space conversion", "use the pointer as it is";
    "__isGlobal" exact, "later" "an address space query", "leave it out";
    "__isShared" exact, "later" "an address space query", "leave it out";
    "__builtin_" prefix, "later" "a compiler builtin", "leave it out";
    "__assume" exact, "later" "a compiler hint", "leave it out";
    "__prof_trigger" exact, "later" "a profiler counter", "leave it out";
    "asm" exact, "later" "inline PTX", "write the operation in C++";
    "cudaLaunchDevice" prefix, "later" "dynamic parallelism", "launch the second kernel from outside";
    "swap" exact, "T11" "std::swap", "swap through a third variable";
    "move" exact, "T11" "std::move", "leave it out";
    "forward" exact, "T11" "std::forward", "leave it out";
    "clamp" exact, "T11" "std::clamp", "write `min(max(x, lo), hi)`";
};

const TYPES: &[Advice] = advice! {
    "half" prefix, "T10" "half precision", "use `float`";
    "__half" prefix, "T10" "half precision", "use `float`";
    "__nv_bfloat" prefix, "T10" "bfloat16", "use `float`";
    "nv_bfloat" prefix, "T10" "bfloat16", "use `float`";
    "bfloat16" exact, "T10" "bfloat16", "use `float`";
    "__nv_fp8" prefix, "later" "fp8", "use `float`";
    "dim3" exact, "T6" "a vector type", "use one variable for each component";
    "char1" exact, "T6" "a vector type", "use one variable for each component";
    "cudaStream_t" exact, "later" "the CUDA runtime interface", "launch from the notebook: `m.kernel[grid, block](...)`";
    "cudaError_t" exact, "later" "the CUDA runtime interface", "launch from the notebook: `m.kernel[grid, block](...)`";
    "cudaTextureObject_t" exact, "later" "a texture", "read a plain array and interpolate in the kernel";
    "cudaSurfaceObject_t" exact, "later" "a surface", "read and write a plain array";
    "curand" prefix, "later" "cuRAND", "pass random numbers in as an array";
    "cuComplex" exact, "later" "complex numbers", "use one variable for each part";
    "cuFloatComplex" exact, "later" "complex numbers", "use one variable for each part";
    "cuDoubleComplex" exact, "later" "complex numbers", "use one variable for each part";
    "complex" exact, "later" "complex numbers", "use one variable for each part";
    "string" exact, "later" "a class of the standard library", "use an array";
    "vector" exact, "later" "a class of the standard library", "use an array";
    "array" exact, "T9" "a class of the standard library", "use a plain array";
    "pair" exact, "T9" "a class of the standard library", "use two variables";
    "tuple" exact, "T9" "a class of the standard library", "use one variable for each part";
    "__int128" exact, "later" "128-bit integers", "use two 64-bit integers";
    "__int128_t" exact, "later" "128-bit integers", "use two 64-bit integers";
    "__uint128_t" exact, "later" "128-bit integers", "use two 64-bit integers";
};

const VECTOR: Advice = Advice {
    name: "float4",
    prefix: false,
    what: "a vector type",
    tier: "T6",
    help: "use one variable for each component, and index the array of scalars",
};

const NAMESPACES: &[Advice] = advice! {
    "torch" exact, "host" "torch in C++", "write only the kernel here and call it from the notebook with arrays";
    "at" exact, "T13" "ATen in C++", "write only the kernel here and call it from the notebook with arrays";
    "c10" exact, "T13" "c10 in C++", "write only the kernel here and call it from the notebook with arrays";
    "cg" exact, "T14" "cooperative groups", "use `threadIdx` and `blockIdx`";
    "cub" exact, "later" "CUB", "write the reduction or scan out as a loop";
    "thrust" exact, "later" "Thrust", "write the algorithm out as a kernel";
    "nvcuda" exact, "later" "WMMA", "write the product out as loops";
    "wmma" exact, "later" "WMMA", "write the product out as loops";
    "cuda" exact, "later" "libcu++", "use the plain C++ form";
    "cutlass" exact, "later" "CUTLASS", "write the product out as loops";
    "cute" exact, "later" "CuTe", "write the product out as loops";
};

fn find(table: &'static [Advice], name: &str) -> Option<&'static Advice> {
    table.iter().find(|a| if a.prefix { name.starts_with(a.name) } else { name == a.name })
}

/// Advice on a function that is not supported.
pub fn unsupported(name: &str) -> Option<&'static Advice> {
    find(FUNCTIONS, name).or_else(|| unsupported_type(name))
}

/// Advice on a type that is not supported.
pub fn unsupported_type(name: &str) -> Option<&'static Advice> {
    const BASES: [&str; 12] = [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ];
    let is_vector = name.strip_suffix(['1', '2', '3', '4']).is_some_and(|base| BASES.contains(&base));
    if is_vector { Some(&VECTOR) } else { find(TYPES, name) }
}

/// Advice on a namespace that is not supported.
pub fn unsupported_namespace(name: &str) -> Option<&'static Advice> {
    find(NAMESPACES, name)
}

/// The exact names, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().filter(|a| !a.prefix).map(|a| a.name)
}
