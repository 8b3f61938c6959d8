// test run
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// Half arrays are arrays of 16-bit floats: elements are given and compared as numbers, indices count elements.
__global__ void scale(const __half* x, __half* y, __half a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * a;
}
// run: scale<<<1, 32>>>(x = [1, 2.5, -0.125, 65504, 0.1], y = poison(5), a = 2, n = 5)
//   y == [2, 5, -0.25, inf, 0.2]
// run: scale<<<1, 32>>>(x = [1, 2], y = poison(2), a = 0.5, n = 3)
//   fault: out-of-bounds read at 8:23 block (0,0,0) thread (2,0,0): reads index 2 of `x`, which has 2 elements (__half)

__global__ void pairs(const __half2* x, __half2* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = __hfma2(x[i], x[i], __float2half2_rn(1.0f));
}
// run: pairs<<<1, 4>>>(x = [1, 2, 3, 4], y = poison(4), n = 2)
//   y == [2, 5, 10, 17]

__global__ void brain(const __nv_bfloat16* x, __nv_bfloat16* y, __nv_bfloat162 a, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = x[i] + __float2bfloat16(0.5f);
}
// run: brain<<<1, 4>>>(x = [1, 256, 3e38], y = poison(3), a = bytes(u16 0, u16 0), n = 3)
//   y == [1.5, 256, 3e38]

template <typename T> __global__ void relu(const T* x, T* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = x[i] > T(0.0f) ? x[i] : T(0.0f);
}
template __global__ void relu<__half>(const __half*, __half*, int);
template __global__ void relu<__nv_bfloat16>(const __nv_bfloat16*, __nv_bfloat16*, int);
// run: relu<__half><<<1, 4>>>(x = [-1, 0.5, nan], y = poison(3), n = 3)
//   y == [0, 0.5, 0]
// run: relu<__nv_bfloat16><<<1, 4>>>(x = [-1, 0.5, 7], y = poison(3), n = 3)
//   y == [0, 0.5, 7]

// Shared memory, vectors of eight halves at once, and sums in float.
__global__ void total(const __half* __restrict__ x, float* y, int n) {
    __shared__ __half tile[64];
    int t = threadIdx.x;
    *reinterpret_cast<float4*>(&tile[t * 8]) = *reinterpret_cast<const float4*>(x + t * 8);
    __syncthreads();
    if (t == 0) {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += __half2float(tile[i]);
        y[0] = sum;
    }
}
// run: total<<<1, 8>>>(x = iota(64), y = poison(1), n = 64)
//   y == [2016]
