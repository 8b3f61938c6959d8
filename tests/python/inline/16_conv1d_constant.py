"""1-D convolution with the mask in __constant__ memory copied by cudaMemcpyToSymbol, textbook chapter style."""
CPP = "torch::Tensor conv1d_const(torch::Tensor signal, torch::Tensor mask);"
CUDA = r'''
#include <stdexcept>
#define MAX_MASK_WIDTH 15
#define O_TILE_WIDTH 64

__constant__ float d_mask[MAX_MASK_WIDTH];
__constant__ int d_width;

__global__ void conv1d_kernel(const float* N, float* P, int width) {
    __shared__ float N_ds[O_TILE_WIDTH + MAX_MASK_WIDTH - 1];
    const int r = d_width / 2;
    const int out = blockIdx.x * O_TILE_WIDTH + threadIdx.x;
    const int first = blockIdx.x * O_TILE_WIDTH - r;
    for (int i = threadIdx.x; i < O_TILE_WIDTH + d_width - 1; i += blockDim.x) {
        const int g = first + i;
        N_ds[i] = (g >= 0 && g < width) ? N[g] : 0.0f;
    }
    __syncthreads();
    if (out < width) {
        float acc = 0.0f;
        for (int j = 0; j < d_width; j++) acc += d_mask[j] * N_ds[threadIdx.x + j];
        P[out] = acc;
    }
}

torch::Tensor conv1d_const(torch::Tensor signal, torch::Tensor mask) {
    const int width = signal.numel();
    const int mask_width = mask.numel();
    if (mask_width > MAX_MASK_WIDTH || mask_width % 2 == 0)
        throw std::runtime_error("mask width must be odd and at most " + std::to_string(MAX_MASK_WIDTH));
    torch::Tensor host = mask.to(torch::kCPU).contiguous();
    cudaMemcpyToSymbol(d_mask, host.data_ptr<float>(), mask_width * sizeof(float));
    cudaMemcpyToSymbol(d_width, &mask_width, sizeof(int));
    torch::Tensor result = torch::empty_like(signal);
    conv1d_kernel<<<(width + O_TILE_WIDTH - 1) / O_TILE_WIDTH, O_TILE_WIDTH>>>(signal.data_ptr<float>(), result.data_ptr<float>(), width);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) throw std::runtime_error(std::string("launch failed: ") + cudaGetErrorString(e));
    return result;
}
'''
FUNCTIONS = ["conv1d_const"]


def check(m, t):
    import numpy as np

    x = t.rng.standard_normal(1003).astype(np.float32)
    for width in (1, 5, 15):
        k = t.rng.standard_normal(width).astype(np.float32)
        want = np.convolve(x.astype(np.float64), k[::-1].astype(np.float64), "same")
        t.close(m.conv1d_const(t(x), t(k)), want, rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "mask width must be odd and at most 15"):
        m.conv1d_const(t(x), t(np.ones(4, np.float32)))
