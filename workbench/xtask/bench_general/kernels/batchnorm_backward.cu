// Batch norm backward, a block a channel: two sums over batch and plane, then the gradient of the input.
#define WARP_SIZE 32

__device__ __forceinline__ float warp_reduce(float v) {
#pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask /= 2) v += __shfl_xor_sync(0xffffffff, v, mask);
    return v;
}

__device__ float2 block_reduce(float2 v) {
    __shared__ float2 shared[WARP_SIZE];
    const int lane = threadIdx.x % WARP_SIZE;
    const int wid = threadIdx.x / WARP_SIZE;
    v.x = warp_reduce(v.x);
    v.y = warp_reduce(v.y);
    __syncthreads();
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    v = lane < blockDim.x / WARP_SIZE ? shared[lane] : make_float2(0.f, 0.f);
    v.x = warp_reduce(v.x);
    v.y = warp_reduce(v.y);
    return v;
}

__global__ void batchnorm_backward(const float* __restrict__ x, const float* __restrict__ dy, const float* __restrict__ weight,
                                   const float* __restrict__ mean, const float* __restrict__ invstd, float* __restrict__ dx,
                                   float* __restrict__ dweight, float* __restrict__ dbias, size_t batch, size_t channels, size_t plane) {
    const size_t c = blockIdx.x;
    const float m = mean[c], s = invstd[c];
    const size_t count = batch * plane;
    float2 sums = make_float2(0.f, 0.f);
    for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
        const size_t n = i / plane, p = i % plane;
        const size_t at = (n * channels + c) * plane + p;
        const float g = dy[at];
        sums.x += g;
        sums.y += g * (x[at] - m) * s;
    }
    sums = block_reduce(sums);
    if (threadIdx.x == 0) {
        dbias[c] = sums.x;
        dweight[c] = sums.y;
    }
    const float a = sums.x / count, b = sums.y / count, scale = weight[c] * s;
    for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
        const size_t n = i / plane, p = i % plane;
        const size_t at = (n * channels + c) * plane + p;
        dx[at] = (dy[at] - a - (x[at] - m) * s * b) * scale;
    }
}
