// test run
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAMathCompat.h>

// The vocabulary of torch's headers that kernels use.
template <typename scalar_t>
C10_LAUNCH_BOUNDS_1(256) __global__ void scaled(const scalar_t* C10_RESTRICT x, scalar_t* y, int n) {
    using opmath_t = at::opmath_type<scalar_t>;
    using acc_t = at::acc_type<scalar_t, true>;
    CUDA_KERNEL_LOOP(i, n) {
        CUDA_KERNEL_ASSERT(i < n);
        opmath_t v = static_cast<opmath_t>(x[i]);
        acc_t twice = c10::cuda::compat::max(v, opmath_t(0)) * acc_t(2);
        y[i] = static_cast<scalar_t>(twice + at::ceil_div(n, 4));
    }
}
template __global__ void scaled<float>(const float*, float*, int);
// ceil(7 / 4) = 2
// run: scaled<float><<<2, 2>>>(x = [1, -2, 3, -4, 5, 6, 0.5], y = poison(7), n = 7)
//   y == [4, 2, 8, 2, 12, 14, 3]

__global__ void summed(const float* x, float* total) {
    float v = x[threadIdx.x];
    for (int d = C10_WARP_SIZE / 2; d > 0; d >>= 1) v += WARP_SHFL_DOWN(v, d);
    if (threadIdx.x == 0) gpuAtomicAdd(total, v);
}
// run: summed<<<2, 32>>>(x = iota(32), total = [1])
//   total == [993]
