//! CUDA C++ that is understood and not supported: names, what they are, what to write instead.

/// Reason why something is refused, and advice on what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Advice {
    /// Name, or the beginning of names when `prefix`.
    pub name: &'static str,
    /// Every name that begins with `name` is meant.
    pub prefix: bool,
    /// Description, for "... is not supported: it is ...".
    pub what: &'static str,
    /// Advice on what to write instead.
    pub help: &'static str,
}

macro_rules! advice {
    ($($name:literal $kind:ident, $what:literal, $help:literal;)*) => {
        &[$(Advice { name: $name, prefix: advice!(@ $kind), what: $what, help: $help },)*]
    };
    (@ exact) => { false };
    (@ prefix) => { true };
}

const FUNCTIONS: &[Advice] = advice! {
    "clock" exact, "a clock", "time the launch from outside with `bench`";
    "clock64" exact, "a clock", "time the launch from outside with `bench`";
    "__globaltimer" exact, "a clock", "time the launch from outside with `bench`";
    "malloc" exact, "a heap in a kernel", "use a local array, or pass a scratch buffer as a parameter, a part of it for each thread";
    "calloc" exact, "a heap in a kernel", "use a local array, or pass a scratch buffer as a parameter, a part of it for each thread";
    "realloc" exact, "a heap in a kernel", "use a local array, or pass a scratch buffer as a parameter, a part of it for each thread";
    "free" exact, "a heap in a kernel", "use a local array, or pass a scratch buffer as a parameter";
    "__h" prefix, "an intrinsic of 16-bit floats", "write it with operators, or compute in `float`";
    "__float2" prefix, "a conversion", "write a cast";
    "curand" prefix, "a generator of cuRAND that is not here", "use `curandState` or `curandStatePhilox4_32_10_t`, or pass random numbers in as an array";
    "tex1D" prefix, "a texture", "read a plain array and interpolate in the kernel";
    "tex2D" prefix, "a texture", "read a plain array and interpolate in the kernel";
    "tex3D" prefix, "a texture", "read a plain array and interpolate in the kernel";
    "surf" prefix, "a surface", "read and write a plain array";
    "__pipeline" prefix, "an asynchronous copy", "copy element by element";
    "__cvta" prefix, "a conversion between address spaces", "use the pointer as it is";
    "__isGlobal" exact, "an address space query", "leave it out";
    "__isShared" exact, "an address space query", "leave it out";
    "__builtin_" prefix, "a compiler builtin", "leave it out";
    "__assume" exact, "a compiler hint", "leave it out";
    "asm" exact, "an instruction of PTX that is not here", "write the operation in C++, or call CUDA's intrinsic for it";
    "cudaLaunchDevice" prefix, "dynamic parallelism", "launch the second kernel from outside";
    "cuda" prefix, "the CUDA runtime interface", "launch from the notebook: `m.kernel[grid, block](...)`";
};

macro_rules! host {
    ($($name:literal)*) => {
        &[$(Advice {
            name: $name,
            prefix: false,
            what: "of the host's libraries",
            help: "do it on the host, and pass the result as a parameter",
        },)*]
    };
}

/// Functions of the host's libraries: a host function that calls one is left out.
const HOST_FUNCTIONS: &[Advice] = host! {
    "atexit" "atol" "drand48" "fclose" "fflush" "fgets" "fopen" "fprintf"
    "fread" "fscanf" "fseek" "fwrite" "getchar" "getenv" "getopt" "lrand48" "omp_get_max_threads"
    "omp_get_num_threads" "omp_get_thread_num" "omp_get_wtime" "perror" "qsort" "rand_r" "random"
    "scanf" "setenv" "srand48" "srandom" "sscanf" "strtod" "strtof" "strtol"
    "strtoul" "system" "time"
};

/// Objects and constants of the host's libraries: a host function that names one is left out.
const HOST_OBJECTS: &[Advice] = host! {
    "CLOCKS_PER_SEC" "cerr" "cin" "cout" "endl" "stderr" "stdin" "stdout"
};

/// The function is of the host's libraries.
pub fn is_host_function(name: &str) -> bool {
    find(HOST_FUNCTIONS, name).is_some()
}

/// The object or constant is of the host's libraries.
pub fn is_host_object(name: &str) -> bool {
    find(HOST_OBJECTS, name).is_some()
}

const TYPES: &[Advice] = advice! {
    "cudaTextureObject_t" exact, "a texture", "read a plain array and interpolate in the kernel";
    "cudaSurfaceObject_t" exact, "a surface", "read and write a plain array";
    "cuda" prefix, "the CUDA runtime interface", "launch from the notebook: `m.kernel[grid, block](...)`";
    "curand" prefix, "a generator of cuRAND that is not here", "use `curandState` or `curandStatePhilox4_32_10_t`, or pass random numbers in as an array";
    "cublasLt" prefix, "a type of cuBLASLt", "use cuBLAS, or write the product as a kernel";
    "cudnn" prefix, "a type of cuDNN", "use torch's operation, or write it as a kernel";
    "cufft" prefix, "a type of cuFFT", "do it outside, and pass the result as an array";
    "cusparse" prefix, "a type of cuSPARSE", "write the operation as a kernel";
    "cusolver" prefix, "a type of cuSOLVER", "do it outside, and pass the result as an array";
    "cutensor" prefix, "a type of cuTENSOR", "write the operation as a kernel";
    "nccl" prefix, "a type of NCCL", "there is one device here";
    "nvml" prefix, "a type of NVML", "leave it out";
    "nvjpeg" prefix, "a type of nvJPEG", "do it outside, and pass the result as an array";
    "MPI_" prefix, "a type of MPI", "there is one process here";
    "complex" exact, "complex numbers of the host's library", "use `cuda::std::complex`, `thrust::complex` or `cuFloatComplex`";
    "string" exact, "a class of the standard library", "use an array";
    "vector" exact, "a class of the standard library", "use an array";
    "tuple" exact, "a class of the standard library", "use a struct";
    "FILE" exact, "a type of the host", "leave it out";
    "pthread_t" exact, "a type of the host", "leave it out";
    "ostream" exact, "a class of the standard library", "use `printf`";
    "istream" exact, "a class of the standard library", "pass the value as a parameter";
    "stringstream" exact, "a class of the standard library", "use `printf`";
    "ostringstream" exact, "a class of the standard library", "use `printf`";
    "ifstream" exact, "a class of the standard library", "pass the value as a parameter";
    "ofstream" exact, "a class of the standard library", "use `printf`";
    "function" exact, "a class of the standard library", "take the function as a template parameter";
    "map" exact, "a class of the standard library", "use an array";
    "unordered_map" exact, "a class of the standard library", "use an array";
    "set" exact, "a class of the standard library", "use an array";
    "unordered_set" exact, "a class of the standard library", "use an array";
    "unique_ptr" exact, "a class of the standard library", "use a plain pointer";
    "shared_ptr" exact, "a class of the standard library", "use a plain pointer";
    "initializer_list" exact, "a class of the standard library", "use an array";
    "__int128" exact, "128-bit integers", "use two 64-bit integers";
    "__int128_t" exact, "128-bit integers", "use two 64-bit integers";
    "__uint128_t" exact, "128-bit integers", "use two 64-bit integers";
};

const NAMESPACES: &[Advice] = advice! {
    "torch" exact, "torch in C++", "use another operation of torch's, or do it in Python around the call";
    "at" exact, "ATen in C++", "use another operation of torch's, or do it in Python around the call";
    "c10" exact, "c10 in C++", "use another operation of torch's, or do it in Python around the call";
    "thrust" exact, "Thrust's", "LANGUAGE.md lists what of Thrust there is; write the algorithm out as a kernel";
    "cuda" exact, "libcu++", "use the plain C++ form";
    "cutlass" exact, "CUTLASS", "write the product out as loops";
    "cute" exact, "CuTe", "write the product out as loops";
};

/// Methods of the library's classes that it declares and has not.
const METHODS: &[Advice] = advice! {
    "grid_group::sync" exact, "a barrier for the whole grid", "end the kernel there and launch a second one for the rest: launches of one stream run one after the other";
    "multi_grid_group::sync" exact, "a barrier for several grids", "end the kernel there and launch a second one for the rest: launches of one stream run one after the other";
    "cluster_group::sync" exact, "a barrier for a cluster of blocks", "end the kernel there and launch a second one for the rest: launches of one stream run one after the other";
};

/// Advice on a method that the library's class declares and has not.
pub fn unsupported_method(name: &str) -> Option<&'static Advice> {
    find(METHODS, name)
}

fn find(table: &'static [Advice], name: &str) -> Option<&'static Advice> {
    table.iter().find(|a| if a.prefix { name.starts_with(a.name) } else { name == a.name })
}

/// Advice on a function that is not supported.
pub fn unsupported(name: &str) -> Option<&'static Advice> {
    [FUNCTIONS, TYPES, HOST_FUNCTIONS, HOST_OBJECTS].into_iter().find_map(|table| find(table, name))
}

/// Advice on a type that is not supported.
pub fn unsupported_type(name: &str) -> Option<&'static Advice> {
    find(TYPES, name)
}

/// Advice on a namespace that is not supported.
pub fn unsupported_namespace(name: &str) -> Option<&'static Advice> {
    find(NAMESPACES, name)
}

/// The exact names, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().filter(|a| !a.prefix).map(|a| a.name)
}

/// All advice, for the page that lists it: functions, types, namespaces, the host's libraries.
pub fn all() -> [&'static [Advice]; 5] {
    [FUNCTIONS, TYPES, NAMESPACES, HOST_FUNCTIONS, HOST_OBJECTS]
}
