// Cross entropy from logits, forward and backward, with an ignored label and label smoothing.
#include <cassert>
#include <cfloat>
#include <cstdint>

typedef int64_t label_t;

__device__ float block_reduce_max(float v, float* smem)
{
    smem[threadIdx.x] = v;
    __syncthreads();
    for (int s = blockDim.x >> 1; s; s >>= 1) {
        if (threadIdx.x < s) smem[threadIdx.x] = fmaxf(smem[threadIdx.x], smem[threadIdx.x + s]);
        __syncthreads();
    }
    const float result = smem[0];
    __syncthreads();
    return result;
}

__device__ float block_reduce_sum(float v, float* smem)
{
    smem[threadIdx.x] = v;
    __syncthreads();
    for (int s = blockDim.x >> 1; s; s >>= 1) {
        if (threadIdx.x < s) smem[threadIdx.x] += smem[threadIdx.x + s];
        __syncthreads();
    }
    const float result = smem[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void cross_entropy_forward(const float* __restrict__ logits, const label_t* __restrict__ labels,
                                                 float* __restrict__ losses, float* __restrict__ lse, int classes,
                                                 float smoothing, label_t ignore_index)
{
    extern __shared__ float smem[];
    const int row = blockIdx.x;
    const float* z = logits + (size_t)row * classes;

    float local_max = -FLT_MAX;
    for (int c = threadIdx.x; c < classes; c += blockDim.x) local_max = fmaxf(local_max, z[c]);
    const float row_max = block_reduce_max(local_max, smem);

    float local_sum = 0.f, local_logits = 0.f;
    for (int c = threadIdx.x; c < classes; c += blockDim.x) {
        local_sum += expf(z[c] - row_max);
        local_logits += z[c];
    }
    const float row_lse = row_max + logf(block_reduce_sum(local_sum, smem));
    const float total_logits = block_reduce_sum(local_logits, smem);

    if (threadIdx.x != 0) return;
    lse[row] = row_lse;
    const label_t label = labels[row];
    if (label == ignore_index) {
        losses[row] = 0.f;
        return;
    }
    assert(label >= 0 && label < classes);
    const float nll = row_lse - z[label];
    const float uniform = row_lse - total_logits / classes;
    losses[row] = (1.f - smoothing) * nll + smoothing * uniform;
}

extern "C" __global__ void cross_entropy_backward(const float* __restrict__ grad_losses, const float* __restrict__ logits,
                                                  const label_t* __restrict__ labels, const float* __restrict__ lse,
                                                  float* __restrict__ grad_logits, int rows, int classes,
                                                  float smoothing, label_t ignore_index)
{
    const int64_t total = (int64_t)rows * classes;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < total; i += (int64_t)gridDim.x * blockDim.x) {
        const int row = i / classes, c = i % classes;
        const label_t label = labels[row];
        const float target = (c == label ? 1.f - smoothing : 0.f) + smoothing / classes;
        grad_logits[i] = label == ignore_index ? 0.f : grad_losses[row] * (expf(logits[i] - lse[row]) - target);
    }
}
