"""Whole-tensor sum: grid-stride loop, warp shuffles, one atomicAdd per block; course homework style with a cudaCheck macro."""
CPP = "torch::Tensor sum_all(torch::Tensor x); double sum_all_item(torch::Tensor x);"
CUDA = r'''
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdexcept>

#define cudaCheck(call)                                                                          \
    do {                                                                                         \
        cudaError_t err_ = (call);                                                               \
        if (err_ != cudaSuccess) {                                                               \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(err_), __FILE__, __LINE__); \
            throw std::runtime_error(cudaGetErrorString(err_));                                  \
        }                                                                                        \
    } while (0)

#define WARP_SIZE 32
#define FULL_MASK 0xffffffffu

__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        val += __shfl_down_sync(FULL_MASK, val, offset);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[WARP_SIZE];
    int lane = threadIdx.x % WARP_SIZE;
    int wid = threadIdx.x / WARP_SIZE;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / WARP_SIZE) ? shared[lane] : 0.0f;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

__global__ void sum_kernel(const float* x, float* out, int n) {
    float acc = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) acc += x[i];
    acc = blockReduceSum(acc);
    if (threadIdx.x == 0) atomicAdd(out, acc);
}

torch::Tensor sum_all(torch::Tensor x) {
    x = x.contiguous();
    torch::Tensor out = torch::zeros({}, x.options());
    if (x.numel() > 0) {
        sum_kernel<<<4, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), static_cast<int>(x.numel()));
        cudaCheck(cudaGetLastError());
        cudaCheck(cudaDeviceSynchronize());
    }
    return out;
}

double sum_all_item(torch::Tensor x) { return sum_all(x).item<float>(); }
'''
FUNCTIONS = {"sum_all": "Sum of all elements (zero-dim tensor).", "sum_all_item": "The same as a Python float."}


def check(m, t):
    import numpy as np

    for shape in ((1,), (1003,), (61, 113)):
        x = t.rng.random(shape).astype(np.float32)
        want = x.astype(np.float64).sum()
        t.close(m.sum_all(t(x)), want, rtol=1e-5)  # partial sums of positive floats: error far below n*eps
        assert abs(m.sum_all_item(t(x)) - want) <= 1e-5 * want
    x = t.rng.random((12, 31)).astype(np.float32)
    t.close(m.sum_all(t(x.T)), x.astype(np.float64).sum())
    assert m.sum_all_item(t(np.zeros(0, np.float32))) == 0.0
    assert "Sum of all elements" in m.sum_all.__doc__
