#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cub/cub.cuh>
namespace cg = cooperative_groups;
#define WARP_SIZE 32
typedef struct { half2 d[2]; int8_t qs[32]; } block_q8_1;
static_assert(sizeof(block_q8_1) == 40, "size");
template<class T> struct SharedMemory { __device__ inline operator T *() { extern __shared__ int __smem[]; return (T *)__smem; }
  __device__ inline operator const T *() const { extern __shared__ int __smem[]; return (T *)__smem; } };
template<> struct SharedMemory<double> { __device__ inline operator double *() { extern __shared__ double __smem_d[]; return (double *)__smem_d; } };
enum class ActivationType { Relu, Gelu = 3 };
template <typename T> struct MaxOp { __device__ __forceinline__ T operator()(T const & x, T const & y) { return x > y ? x : y; } };
template <> struct MaxOp<float> { __device__ __forceinline__ float operator()(float const &x, float const &y) { return max(x, y); } };
template<int THREADS> struct Allreduce {
  static_assert(THREADS == 32 || THREADS == 16 || THREADS == 8 || THREADS == 4, "");
  template<typename T, typename Operator> static __device__ __forceinline__ T run(T x, Operator &op) {
    constexpr int OFFSET = THREADS / 2;
    x = op(x, __shfl_xor_sync(uint32_t(-1), x, OFFSET));
    return Allreduce<OFFSET>::run(x, op);
  } };
template<> struct Allreduce<2> { template<typename T, typename Operator> static __device__ T run(T x, Operator &op) { x = op(x, __shfl_xor_sync(uint32_t(-1), x, 1)); return x; } };
template <template<typename> class ReductionOp, typename T, int block_size>
__inline__ __device__ T BlockAllReduce(T val) {
  typedef cub::BlockReduce<T, block_size> BlockReduce;
  __shared__ typename BlockReduce::TempStorage temp_storage;
  __shared__ T result_broadcast;
  T result = BlockReduce(temp_storage).Reduce(val, ReductionOp<T>());
  if (threadIdx.x == 0) { result_broadcast = result; }
  __syncthreads();
  return result_broadcast;
}
template <typename T, int N> struct alignas(sizeof(T) * N) AlignedVector { T val[N]; };
template <typename T, int vec_size> __global__ void vec_kernel(T* __restrict__ out, const T* __restrict__ in, int n) {
  using VecT = AlignedVector<T, vec_size>;
  VecT v = *reinterpret_cast<const VecT*>(&in[vec_size * threadIdx.x]);
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<4>(warp);
  T s = cg::reduce(warp, v.val[0], cg::plus<T>{});
#pragma unroll
  for (int i = 0; i < vec_size; i++) { out[i] = static_cast<T>((float)v.val[i] * 2.f) + s; }
  auto idx = [&](int r, int c) -> int { return r * n + c; };
  const float2* p2 = (const float2*)(in + idx(1, 2));
  float4 f = make_float4(0.f, 0.f, 0.f, 0.f), *pf = &f;
  float (*mat)[16] = (float (*)[16])out;
  half h = __float2half(1.0f); h = (half)2.0f; half2 hh = {h, h};
  int x = n < 3 ? n : (n > 5), y = (x < n) && (n > (3));
  if constexpr (std::is_same_v<T, float> || std::is_same<T, half>::value) { out[0] = T(0); }
  else if constexpr (vec_size > 1 && sizeof(T) == 2) { return; }
  unsigned mask = 0xffffffffu; int warp_id = threadIdx.x >> 5;
  atomicAdd(reinterpret_cast<unsigned long long*>(out), (unsigned long long)1);
  int4 q{1, 2, 3, 4}; long long z = 1LL << 40;
  assert(x >= 0 && "positive");
}
template <typename T, typename Func, typename... Args> __global__ void launch_k(Func f, T *o, Args... args) { o[0] = f(args...); }
template <typename F> struct Fn; template <typename R, typename... A> struct Fn<R(A...)> { using type = R; static constexpr int n = sizeof...(A); };
template <bool C, class A, class B> struct cond { typedef A type; }; template <class A, class B> struct cond<false, A, B> { typedef B type; };
template <int D> using dtype = typename cond<(D > 8), float, double>::type;
static __device__ __forceinline__ float warp_reduce_sum(float x) { for (int mask = 16; mask > 0; mask >>= 1) x += __shfl_xor_sync(0xffffffff, x, mask, 32); return x; }
typedef float (*vec_dot_q_cuda_t)(const void * __restrict__ vbq, const block_q8_1 * __restrict__ bq8_1, const int & iqs);
template <int qk, int qi, typename block_q_t, int vdr, vec_dot_q_cuda_t vec_dot_q_cuda>
static __global__ void mul_mat_vec_q(const void * __restrict__ vx, float * __restrict__ dst) { const block_q_t * x = (const block_q_t *) vx; float t = vec_dot_q_cuda(&x[0], nullptr, 3); }
void host(float *d, cudaStream_t s) {
  dim3 grid(4, 2, 1), block(32); size_t smem = 2 * sizeof(float);
  vec_kernel<float, 4><<<grid, block, smem, s>>>(d, d, 3);
  launch_k<<<1, 1>>>([] __device__ (float a, float b) { return a + b; }, d, 1.f, 2.f);
  cudaFuncSetAttribute(vec_kernel<float, 4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304);
  cudaError_t err = cudaGetLastError(); if (err != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(err)); exit(EXIT_FAILURE); }
  void *args[] = {&d, &s}; cudaLaunchKernel((void*)vec_kernel<float, 4>, grid, block, args, smem, s);
  switch (block.x) { case 32: { vec_kernel<half, 8><<<1, 1>>>((half*)d, (const half*)d, 1); break; } default: break; }
  float ms = 0; cudaEvent_t start, stop; cudaEventElapsedTime(&ms, start, stop); std::cout << "x" << ms << std::endl; thrust::device_vector<int> v(10, 3);
  float *h = (float*)malloc(10 * sizeof *h); std::unique_ptr<float[]> up(new_array()); for (auto const& [k, w] : m) print(k);
}
int main(int argc, char **argv) { host(nullptr, 0); return 0; }
struct Complex { float r, i; __host__ __device__ Complex(float a = 0, float b = 0) : r(a), i(b) {} __device__ float magnitude2(void) { return r * r + i * i; }
  __device__ Complex operator*(const Complex& a) { return Complex(r*a.r - i*a.i, i*a.r + r*a.i); } };
inline __host__ __device__ float3 operator-(const float3& a, const float3& b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
template <typename T> __device__ T *shared() { extern __shared__ __align__(sizeof(double)) unsigned char raw[]; return reinterpret_cast<T *>(raw); }
__device__ __constant__ float coef[5] = {1, 2}; __device__ int counter; __constant__ Complex origin;
class Matrix { public: int w, h; float* e; __device__ float& at(int r, int c) const { return e[r * w + c]; } private: static int count; };
template<typename T> __global__ void __launch_bounds__(256, 2) foo(T a) {} template __global__ void foo<float>(float); template<> __global__ void foo<int>(int a) {}
