// CUDA C++'s words for the system's C++ compiler: enough to run kernels without a GPU, one block after another on each of torch's
// threads. Threads of a block are a loop, or, where the kernel has barriers, fibers that take turns from one barrier to the next.
#pragma once

#include <ATen/Parallel.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <climits>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One block at a time runs on a thread of the operating system, so what is its own is its block's.
#define __shared__ static thread_local

struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline thread_local uint3 threadIdx, blockIdx;
inline thread_local dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace workbench {

// The threads of a block as fibers.
struct Block {
  // Twice what CUDA gives a thread at most; a page without access lies below each.
  static constexpr size_t STACK = 1 << 20, GUARD = 4096;
  ucontext_t scheduler;
  std::vector<ucontext_t> fibers;
  std::vector<uint3> index;
  std::vector<bool> done;
  size_t current = 0;
  void (*call)(void*) = nullptr;
  void* kernel = nullptr;
};

inline thread_local Block* running = nullptr;
// Kept from block to block; pages that no fiber reaches cost nothing.
struct Stacks {
  char* memory = nullptr;
  size_t size = 0;

  Stacks() = default;
  Stacks(const Stacks&) = delete;
  ~Stacks() { release(); }

  void release() {
    if (memory != nullptr) munmap(memory, size);
    memory = nullptr;
  }

  void reserve(size_t count) {
    if (size >= count * Block::STACK && memory != nullptr) return;
    release();
    size = count * Block::STACK;
    void* const made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(made != MAP_FAILED, "no memory for the stacks of ", count, " threads");
    memory = static_cast<char*>(made);
    for (size_t i = 0; i < count; ++i) mprotect(memory + i * Block::STACK, Block::GUARD, PROT_NONE);
  }
};

inline thread_local Stacks stacks;

inline void enter() {
  Block& block = *running;
  block.call(block.kernel);
  block.done[block.current] = true;
  swapcontext(&block.fibers[block.current], &block.scheduler);
}

inline void barrier() {
  Block& block = *running;
  swapcontext(&block.fibers[block.current], &block.scheduler);
}

template <typename Each>
void for_blocks(dim3 grid, dim3 block, const Each& each) {
  const int64_t count = int64_t(grid.x) * grid.y * grid.z;
  at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    gridDim = grid;
    blockDim = block;
    for (int64_t i = begin; i < end; ++i) {
      blockIdx = {unsigned(i % grid.x), unsigned(i / grid.x % grid.y), unsigned(i / grid.x / grid.y)};
      each();
    }
  });
}

template <typename Kernel>
void run(dim3 grid, dim3 block, const Kernel& kernel) {
  for_blocks(grid, block, [&] {
    for (unsigned z = 0; z < block.z; ++z)
      for (unsigned y = 0; y < block.y; ++y)
        for (unsigned x = 0; x < block.x; ++x) {
          threadIdx = {x, y, z};
          kernel();
        }
  });
}

template <typename Kernel>
void run_with_barriers(dim3 grid, dim3 block, const Kernel& kernel) {
  const size_t threads = size_t(block.x) * block.y * block.z;
  for_blocks(grid, block, [&] {
    Block state;
    state.fibers.resize(threads);
    state.done.assign(threads, false);
    stacks.reserve(threads);
    state.call = [](void* kernel) { (*static_cast<const Kernel*>(kernel))(); };
    state.kernel = const_cast<Kernel*>(&kernel);
    for (unsigned z = 0; z < block.z; ++z)
      for (unsigned y = 0; y < block.y; ++y)
        for (unsigned x = 0; x < block.x; ++x) state.index.push_back({x, y, z});
    for (size_t i = 0; i < threads; ++i) {
      getcontext(&state.fibers[i]);
      state.fibers[i].uc_stack.ss_sp = stacks.memory + i * Block::STACK + Block::GUARD;
      state.fibers[i].uc_stack.ss_size = Block::STACK - Block::GUARD;
      makecontext(&state.fibers[i], &enter, 0);
    }
    Block* const outer = running;
    running = &state;
    for (size_t left = threads; left > 0;) {
      left = 0;
      for (size_t i = 0; i < threads; ++i) {
        if (state.done[i]) continue;
        state.current = i;
        threadIdx = state.index[i];
        swapcontext(&state.scheduler, &state.fibers[i]);
        left += !state.done[i];
      }
    }
    running = outer;
  });
}

template <typename T>
T atomic(T* address, T value, T (*combine)(T, T)) {
  T before;
  __atomic_load(address, &before, __ATOMIC_RELAXED);
  for (T after = combine(before, value); !__atomic_compare_exchange(address, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
    after = combine(before, value);
  return before;
}

template <typename T>
using same = std::common_type_t<T>;

}  // namespace workbench

inline void __syncthreads() { workbench::barrier(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <typename T> T atomicAdd(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T x, T y) { return T(x + y); }); }
template <typename T> T atomicSub(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T x, T y) { return T(x - y); }); }
template <typename T> T atomicMin(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T x, T y) { return y < x ? y : x; }); }
template <typename T> T atomicMax(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T x, T y) { return x < y ? y : x; }); }
template <typename T> T atomicAnd(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T x, T y) { return T(x & y); }); }
template <typename T> T atomicOr(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T x, T y) { return T(x | y); }); }
template <typename T> T atomicXor(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T x, T y) { return T(x ^ y); }); }
template <typename T> T atomicExch(T* a, workbench::same<T> v) { return workbench::atomic<T>(a, v, [](T, T y) { return y; }); }
template <typename T> T atomicCAS(T* a, workbench::same<T> compare, workbench::same<T> v) {
  T expected = compare, desired = v;
  __atomic_compare_exchange(a, &expected, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

// CUDA's min and max take two types.
template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b) { using T = std::common_type_t<A, B>; return T(b) < T(a) ? T(b) : T(a); }
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b) { using T = std::common_type_t<A, B>; return T(a) < T(b) ? T(b) : T(a); }
// The functions for floats are fmin and fmax: a NaN loses.
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
inline double min(float a, double b) { return std::fmin(double(a), b); }
inline double max(float a, double b) { return std::fmax(double(a), b); }
inline double min(double a, float b) { return std::fmin(a, double(b)); }
inline double max(double a, float b) { return std::fmax(a, double(b)); }

using std::abs; using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan; using std::atan2; using std::atanh;
using std::cbrt; using std::ceil; using std::copysign; using std::cos; using std::cosh; using std::erf; using std::erfc; using std::exp;
using std::exp2; using std::expm1; using std::fabs; using std::fdim; using std::floor; using std::fma; using std::fmax; using std::fmin;
using std::fmod; using std::frexp; using std::hypot; using std::ilogb; using std::isfinite; using std::isinf; using std::isnan;
using std::ldexp; using std::lgamma; using std::llrint; using std::llround; using std::log; using std::log10; using std::log1p;
using std::log2; using std::logb; using std::lrint; using std::lround; using std::modf; using std::nan; using std::nearbyint;
using std::nextafter; using std::pow; using std::remainder; using std::remquo; using std::rint; using std::round; using std::scalbn;
using std::signbit; using std::sin; using std::sinh; using std::sqrt; using std::tan; using std::tanh; using std::tgamma; using std::trunc;
using ::acosf; using ::acoshf; using ::asinf; using ::asinhf; using ::atan2f; using ::atanf; using ::atanhf; using ::cbrtf; using ::ceilf;
using ::copysignf; using ::cosf; using ::coshf; using ::erfcf; using ::erff; using ::exp2f; using ::expf; using ::expm1f; using ::fabsf;
using ::fdimf; using ::floorf; using ::fmaf; using ::fmaxf; using ::fminf; using ::fmodf; using ::frexpf; using ::hypotf; using ::ldexpf;
using ::lgammaf; using ::log10f; using ::log1pf; using ::log2f; using ::logf; using ::lrintf; using ::lroundf; using ::modff; using ::nanf;
using ::nearbyintf; using ::nextafterf; using ::powf; using ::remainderf; using ::rintf; using ::roundf; using ::sinf; using ::sinhf;
using ::sqrtf; using ::tanf; using ::tanhf; using ::tgammaf; using ::truncf; using ::sincos; using ::sincosf;

inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrt(float x) { return 1 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }
inline float exp10f(float x) { return float(std::pow(10.0, double(x))); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frsqrt_rn(float x) { return float(1 / std::sqrt(double(x))); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

template <typename To, typename From> To __workbench_bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To made;
  std::memcpy(&made, &value, sizeof made);
  return made;
}
inline int __float_as_int(float x) { return __workbench_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return __workbench_bits<unsigned>(x); }
inline float __int_as_float(int x) { return __workbench_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return __workbench_bits<float>(x); }
inline long long __double_as_longlong(double x) { return __workbench_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return __workbench_bits<double>(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __mul24(int x, int y) { return x * y; }
// Conversions saturate, and a NaN is 0.
inline int __workbench_int(float x) { return x >= 2147483648.0f ? INT_MAX : x >= -2147483648.0f ? int(x) : std::isnan(x) ? 0 : INT_MIN; }
inline int __float2int_rn(float x) { return __workbench_int(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return __workbench_int(x); }
inline int __float2int_rd(float x) { return __workbench_int(std::floor(x)); }
inline int __float2int_ru(float x) { return __workbench_int(std::ceil(x)); }
inline float __int2float_rn(int x) { return float(x); }
inline float __uint2float_rn(unsigned x) { return float(x); }

template <typename T> T __ldg(const T* address) { return *address; }
template <typename T> T __ldcg(const T* address) { return *address; }
template <typename T> T __ldcs(const T* address) { return *address; }
template <typename T> void __stcg(T* address, workbench::same<T> value) { *address = value; }
template <typename T> void __stcs(T* address, workbench::same<T> value) { *address = value; }

using __half = c10::Half;
using half = c10::Half;
using __nv_bfloat16 = c10::BFloat16;
using nv_bfloat16 = c10::BFloat16;
inline float __half2float(__half x) { return float(x); }
inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return float(x); }
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
struct float2 { float x, y; };
struct float3 { float x, y, z; };
struct __align__(16) float4 { float x, y, z, w; };
struct double2 { double x, y; };
struct int2 { int x, y; };
struct int3 { int x, y, z; };
struct __align__(16) int4 { int x, y, z, w; };
struct uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct uchar4 { unsigned char x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return {x, y, z, w}; }

#define CUDART_INF_F std::numeric_limits<float>::infinity()
#define CUDART_NAN_F std::numeric_limits<float>::quiet_NaN()
#define CUDART_INF std::numeric_limits<double>::infinity()
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931

// Names of the C and C++ libraries' that need nothing here: __restrict __VA_ARGS__ __FILE__ __LINE__ __func__
// INFINITY NAN FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON INT_MAX INT_MIN UINT_MAX LLONG_MAX LLONG_MIN printf assert
// size_t ptrdiff_t intptr_t uintptr_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t nullptr_t M_PI M_SQRT1_2 M_SQRT2 M_E
// Headers: cuda.h cuda_runtime.h cuda_runtime_api.h cuda_fp16.h cuda_bf16.h device_launch_parameters.h math_constants.h vector_types.h
// math.h stdio.h stdlib.h stdint.h stddef.h string.h float.h limits.h assert.h cmath cstdio cstdlib cstdint cstddef cstring cfloat climits
// cassert limits algorithm utility type_traits tuple array
