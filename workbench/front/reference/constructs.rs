//! Constructs of the language, each with a text that a test compiles; and constructs outside it, each with a text that
//! must be refused.

/// A construct of the language.
#[derive(Debug)]
pub struct Construct {
    /// Name of the construct, in the words of the standard or of CUDA's guide.
    pub what: &'static str,
    /// A text that uses it.
    pub example: &'static str,
}

macro_rules! constructs {
    ($($what:literal, $example:literal;)*) => { &[$(Construct { what: $what, example: $example },)*] };
}

/// Constructs that are supported, by subject. Every example compiles, and every kernel in it is made into machine code.
pub static SUPPORTED: &[(&str, &[Construct])] = &[
    (
        "Kernels and functions",
        constructs! {
            "`__global__`, `__device__`, `__host__`, `__forceinline__`, `__noinline__`, `__launch_bounds__`, `__restrict__`", "__device__ __forceinline__ float f(float x) { return x; } __global__ __launch_bounds__(256) void k(float* __restrict__ y) { y[0] = f(1); }";
            "overloads, default arguments, recursion", "__device__ int f(int n, int step = 1) { return n <= 0 ? 0 : 1 + f(n - step); } __device__ float f(float x) { return x; } __global__ void k(float* y) { y[0] = f(3) + f(1.0f); }";
            "overloaded kernels (the later ones are named with their parameters)", "__global__ void k(float* y) { y[0] = 1; } __global__ void k(double* y) { y[0] = 1; }";
            "function pointers, tables of functions", "__device__ float a(float x) { return x; } __device__ float b(float x) { return -x; } __global__ void k(float* y, int i) { float (*t[2])(float) = {a, b}; y[0] = t[i](2); }";
            "`static` variables in functions", "__device__ int next() { static int n = 5; return n++; } __global__ void k(int* y) { y[0] = next(); }";
            "`printf`, `assert`, `__trap`", "__global__ void k(int n) { assert(n > 0); printf(\"%d %s\\n\", n, \"text\"); if (n < 0) __trap(); }";
            "`extern \"C\"`, `#pragma unroll`, attributes, `__CUDA_ARCH__` (800 on the CPU)", "extern \"C\" __global__ void k(int* y) {\n#pragma unroll\nfor (int i = 0; i < 4; i++) y[i] = i;\n#if __CUDA_ARCH__ >= 700\ny[0] = 7;\n#endif\n}";
        },
    ),
    (
        "Memory",
        constructs! {
            "static shared memory of any type and rank", "__global__ void k(float* y) { __shared__ float t[8][9]; t[threadIdx.y][threadIdx.x] = 1; __syncthreads(); y[0] = t[0][0]; }";
            "dynamic shared memory, divided by pointers", "extern __shared__ unsigned char raw[]; __global__ void k(float* y) { float* a = reinterpret_cast<float*>(raw); int* b = (int*)(a + 32); b[threadIdx.x] = 1; __syncthreads(); y[0] = b[0]; }";
            "`__constant__` and `__device__` variables, set and read from the host", "__constant__ float c[4]; __device__ int n = 3; __global__ void k(float* y) { y[0] = c[0]; n += 1; }";
            "`__managed__` variables", "__managed__ int total; __global__ void k() { atomicAdd(&total, 1); } int f() { total = 0; k<<<1, 32>>>(); cudaDeviceSynchronize(); return total; }";
            "`volatile`, fences, local arrays", "__global__ void k(volatile int* f, int* y) { int t[4] = {1, 2}; y[0] = t[1]; __threadfence(); f[0] = 1; }";
            "punning: `reinterpret_cast`, unions, `memcpy`", "__global__ void k(float* y) { union { float f; unsigned u; } p; p.f = y[0]; unsigned b; memcpy(&b, &y[1], 4); *reinterpret_cast<unsigned*>(y + 2) = p.u ^ b; }";
            "`alignas`, `__align__`, vector loads", "struct alignas(16) V { float v[4]; }; __global__ void k(const float* x, float* y) { V v = *reinterpret_cast<const V*>(x); *reinterpret_cast<float4*>(y) = make_float4(v.v[0], v.v[1], v.v[2], v.v[3]); }";
        },
    ),
    (
        "Threads together",
        constructs! {
            "barriers anywhere control is the same for all threads: in loops, helpers, after early returns", "__device__ void step(float* s) { __syncthreads(); s[threadIdx.x] += 1; __syncthreads(); } __global__ void k(float* y, int n) { __shared__ float s[64]; if (threadIdx.x >= n) return; s[threadIdx.x] = 0; for (int i = 0; i < n; i++) step(s); y[threadIdx.x] = s[threadIdx.x]; }";
            "warp shuffles, votes, matches, reductions, under divergence as well", "__global__ void k(int* y) { int v = threadIdx.x; for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o); unsigned b = __ballot_sync(~0u, v > 3); y[threadIdx.x] = v + __popc(b) + __reduce_add_sync(~0u, 1); }";
            "atomics of every type CUDA has them for, on shared and global memory", "__global__ void k(int* h, double* d, unsigned long long* u) { atomicAdd(h, 1); atomicAdd(d, 0.5); atomicCAS(u, 0ull, 1ull); atomicMax_block(h, 2); }";
            "`last block done`, look-back scans, spin locks", "__device__ unsigned done; __global__ void k(int* y) { __threadfence(); if (atomicInc(&done, gridDim.x) == gridDim.x - 1) y[0] = 1; }";
            "cooperative groups within a block: tiles, partitions, reductions, scans, copies", "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups; __global__ void k(int* y) { auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); int s = cg::reduce(w, 1, cg::plus<int>()); b.sync(); y[b.thread_rank()] = s; }";
            "asynchronous copies to shared memory", "#include <cuda_pipeline.h>\n__global__ void k(const float4* x, float4* y) { __shared__ float4 s[32]; __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 16); __pipeline_commit(); __pipeline_wait_prior(0); y[threadIdx.x] = s[threadIdx.x]; }";
        },
    ),
    (
        "Types",
        constructs! {
            "structs with methods, constructors, operators, static members, inheritance", "struct A { int n; __device__ A(int n) : n(n) {} __device__ int twice() const { return 2 * n; } static constexpr int step = 3; }; struct B : A { __device__ B() : A(4) {} __device__ B& operator+=(int m) { n += m; return *this; } }; __global__ void k(int* y) { B b; b += B::step; y[0] = b.twice(); }";
            "structs by value as arguments of kernels, with pointers in them", "struct P { const float* x; float a; int n[2]; }; __global__ void k(P p, float* y) { y[0] = p.a * p.x[p.n[1]]; }";
            "vector types and their constructors", "__global__ void k(float4* y, dim3 d) { int2 i = make_int2(1, 2); y[0] = make_float4(i.x, i.y, d.x, 0); }";
            "enums, scoped ones, `using`, `typedef`, namespaces", "namespace a::b { enum class E : unsigned char { x, y = 4 }; } using E = a::b::E; typedef float real; __global__ void k(real* y) { y[0] = static_cast<int>(E::y); }";
            "`auto`, references, structured bindings, range-for, `constexpr`", "struct P { int a, b; }; constexpr int sq(int n) { return n * n; } __global__ void k(int* y) { int t[sq(2)] = {1, 2, 3, 4}; auto [a, b] = P{1, 2}; for (auto& v : t) v += a; y[0] = t[0] + b; }";
            "range-for over objects with `begin` and `end` whose iterators have `!=`, `*` and `++`", "struct Range { struct It { int i; __device__ int operator*() const { return i; } __device__ It& operator++() { ++i; return *this; } __device__ bool operator!=(It o) const { return i < o.i; } }; int n; __device__ It begin() const { return {0}; } __device__ It end() const { return {n}; } }; __global__ void k(int* y, int n) { for (int i : Range{n}) y[i] = i; }";
            "lambdas by value and by reference, generic ones", "template <typename F> __device__ float apply(F f, float x) { return f(x); } __global__ void k(float* y) { float a = 2; y[0] = apply([&](auto x) { return a * x; }, 3.0f); }";
            "bit-fields, `packed`, `aligned`, `#pragma pack`", "struct F { unsigned low : 3; }; struct __attribute__((packed)) P { char c; double d; }; __global__ void k(F* f, P* p, float* y) { f[0].low += 1; y[0] = p[0].d; }";
            "unions, anonymous structs, aggregates, designated initialisers", "struct P { int a; float b; }; __global__ void k(float* y) { P p = {.a = 1, .b = 2}; y[0] = p.a + p.b; }";
            "16-bit floats: `__half`, `__half2`, `__nv_bfloat16`, `__nv_bfloat162`; arrays of them", "#include <cuda_fp16.h>\n__global__ void k(const __half* x, __half2* y, __half a) { y[0] = __hfma2(__half2half2(x[0]), __half2half2(a), y[0]); }";
        },
    ),
    (
        "Templates",
        constructs! {
            "functions and classes with types, integers, bools, enums, functions and `auto` as parameters, defaults", "template <typename T, int N = 4, auto V = 1> struct S { T v[N]; }; template <float (*F)(float)> __device__ float on(float x) { return F(x); } __device__ float f(float x) { return x; } __global__ void k(float* y) { S<float> s; s.v[3] = on<f>(2); y[0] = s.v[3]; }";
            "deduction, explicit arguments, explicit instantiation, instances by name at launch", "template <typename T> __global__ void k(T* y) { y[0] = T(1); } template __global__ void k<float>(float*);";
            "full and partial specialisation, template template parameters", "template <typename T> struct A { static constexpr int n = 1; }; template <> struct A<float> { static constexpr int n = 2; }; template <typename T> struct A<T*> { static constexpr int n = 3; }; __global__ void k(int* y) { y[0] = A<int>::n + A<float>::n + A<int*>::n; }";
            "variadic packs, folds, `if constexpr`, `static_assert`, `<type_traits>`", "template <typename... T> __device__ float sum(T... v) { static_assert(sizeof...(v) > 0, \"none\"); if constexpr (std::is_same_v<float, float>) return (v + ...); else return 0; } __global__ void k(float* y) { y[0] = sum(1, 2.0f, 3.0); }";
            "SFINAE, `decltype`, `std::declval`, dependent names", "template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>> __device__ int f(T v) { return 1; } __device__ int f(float v) { return 2; } template <typename T> struct V { using type = T; }; template <typename T> __device__ typename V<T>::type g(T v) { return v; } __global__ void k(int* y) { decltype(f(1)) n = f(1); y[0] = n + f(1.0f) + g(2); }";
            "concepts and `requires` of constants", "template <typename T> concept small = sizeof(T) <= 4; template <small T> __device__ T twice(T x) { return x + x; } template <typename T> requires(sizeof(T) == 8) __device__ T twice(T x) { return x * 2; } __global__ void k(float* y) { y[0] = twice(y[0]) + twice(1.0); }";
        },
    ),
    (
        "Texts found in real code",
        constructs! {
            "macros of every kind, `#include` of the user's headers, kernels pasted by macros", "#define OP(NAME, EXPR) __global__ void NAME##_k(float* y) { float x = y[0]; y[0] = EXPR; }\nOP(square, x * x)\nOP(twice, x + x)";
            "`helper_math.h` of the CUDA samples: vector arithmetic, `dot`, `cross`, `lerp`, `clamp` ...", "#include <helper_math.h>\n__global__ void k(float* y, float3 a, float3 b) { y[0] = dot(a, 2.0f * b) + length(cross(a, b)); }";
            "warp matrix functions (`nvcuda::wmma`) of 16-bit floats, bytes, tf32 and `double`", "#include <mma.h>\nusing namespace nvcuda; __global__ void k(const __half* a, const __half* b, float* y) { wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x; wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> z; wmma::fragment<wmma::accumulator, 16, 16, 16, float> s; wmma::fill_fragment(s, 0.0f); wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(z, b, 16); wmma::mma_sync(s, x, z, s); wmma::store_matrix_sync(y, s, 16, wmma::mem_row_major); }";
            "CUB's collectives of blocks and warps: `BlockReduce`, `BlockScan`, `BlockRadixSort`, `WarpReduce` ...", "#include <cub/cub.cuh>\n__global__ void k(const int* x, int* y) { typedef cub::BlockReduce<int, 128> R; __shared__ typename R::TempStorage t; int all = R(t).Sum(x[threadIdx.x]); if (threadIdx.x == 0) y[0] = all; }";
            "8-bit floats (`cuda_fp8.h`)", "#include <cuda_fp8.h>\n__global__ void k(__nv_fp8_e4m3* x, float* y) { x[0] = __nv_fp8_e4m3(y[0]); y[1] = (float)x[0]; }";
            "complex numbers (`cuComplex.h`, `cuda/std/complex`, `thrust/complex.h`)", "#include <cuda/std/complex>\n__global__ void k(cuda::std::complex<float>* y) { y[0] = y[1] * conj(y[2]); }";
            "cuRAND's generators (`curand_kernel.h`): XORWOW, MRG32k3a, Philox", "#include <curand_kernel.h>\n__global__ void k(float* y) { curandStatePhilox4_32_10_t s; curand_init(7, threadIdx.x, 0, &s); y[threadIdx.x] = curand_normal(&s); }";
            "inline PTX: arithmetic, logic, conversions, loads and stores, atomics, shuffles, votes, fences, `cp.async`, `ldmatrix`, `mma.sync`", "__global__ void k(const float4* x, float* y) { float a, b, c, d; asm volatile(\"ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\" : \"=f\"(a), \"=f\"(b), \"=f\"(c), \"=f\"(d) : \"l\"(x)); asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y[0]) : \"f\"(a)); }";
            "torch's accessors and helpers", "#include <torch/extension.h>\ntemplate <typename scalar_t> __global__ void k(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x, float* y) { CUDA_KERNEL_LOOP(i, 4) y[i] = x[0][i]; } template __global__ void k<float>(const torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits>, float*);";
            "host functions with tensors: launches, `TORCH_CHECK`, `AT_DISPATCH_*`, `PYBIND11_MODULE`", "#include <torch/extension.h>\n__global__ void k(float* y) { y[0] = 1; } torch::Tensor run(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<float>()); return x; } PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"run\", &run); }";
            "declarations that are not supported and that no kernel needs: left out, with a warning", "__device__ void async(void* p) { asm volatile(\"cp.async.wait_all;\"); } __global__ void k(float* y) { y[0] = 1; }";
            "host functions of numbers", "__host__ __device__ double half_of(double x) { return x / 2; } __global__ void k(double* y) { y[0] = half_of(3); }";
            "Thrust: vectors, iterators, algorithms", "#include <thrust/sort.h>\n#include <thrust/execution_policy.h>\ntorch::Tensor f(torch::Tensor x) { thrust::sort(thrust::device, x.data_ptr<float>(), x.data_ptr<float>() + x.numel()); return x; }";
            "CUB for the whole device", "#include <cub/cub.cuh>\nvoid f(torch::Tensor x, torch::Tensor y) { size_t n = 0; cub::DeviceReduce::Sum(nullptr, n, x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); void* t; cudaMalloc(&t, n); cub::DeviceReduce::Sum(t, n, x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); }";
            "libcu++: atomics, barriers and pipelines of namespace `cuda`", "#include <cuda/atomic>\n__global__ void k(int* n) { cuda::atomic_ref<int, cuda::thread_scope_device> all(*n); all.fetch_add(1, cuda::memory_order_relaxed); }";
        },
    ),
];

/// Constructs that are known but not supported, each with a text that is refused. The message says what to write instead.
pub static OUTSIDE: &[Construct] = constructs! {
    "PTX of bulk copies, of memory barriers, of clusters, of matrices of warp groups", "__global__ void k(int* y) { asm volatile(\"cp.async.bulk.commit_group;\"); }";
    "textures and surfaces", "__global__ void k(cudaTextureObject_t t, float* y) { y[0] = tex2D<float>(t, 0, 0); }";
    "quasirandom generators of cuRAND", "#include <curand_kernel.h>\n__global__ void k(float* y) { curandStateSobol32_t s; }";
    "dynamic parallelism", "__global__ void a() {} __global__ void k() { a<<<1, 1>>>(); }";
    "`goto`", "__global__ void k(int* y) { goto end; end: y[0] = 1; }";
    "exceptions", "__global__ void k(int* y) { throw 1; }";
    "virtual functions", "struct A { __device__ virtual int f(); }; __global__ void k(int* y, A* a) { y[0] = a->f(); }";
    "`new` and `delete`", "__global__ void k(int** y) { y[0] = new int[4]; }";
    "thread block clusters", "__global__ void __cluster_dims__(2, 1, 1) k(int* y) { y[0] = 1; }";
    "clocks", "__global__ void k(long long* y) { y[0] = clock64(); }";
    "complex numbers of the host's library", "#include <complex>\n__global__ void k(std::complex<float>* y) {}";
    "`requires` with requirements in braces", "template <typename T> concept adds = requires(T a) { a + a; }; __global__ void k(int* y) { if (adds<int>) y[0] = 1; }";
};
