// Batch norm in training, tensors as packed accessors: a block a channel, statistics by two passes in shared memory.
#include <torch/extension.h>

template <typename scalar_t, int DIM>
using Accessor = torch::PackedTensorAccessor32<scalar_t, DIM, torch::RestrictPtrTraits>;

template <typename acc_t, int kThreads>
__device__ acc_t reduce_block(acc_t value)
{
    __shared__ acc_t scratch[kThreads];
    scratch[threadIdx.x] = value;
    for (int s = kThreads / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
    }
    __syncthreads();
    const acc_t total = scratch[0];
    __syncthreads();
    return total;
}

template <typename scalar_t, int kThreads>
__global__ void batch_norm_train(const Accessor<scalar_t, 3> input,   // [N, C, L]
                                 const Accessor<scalar_t, 1> weight,
                                 const Accessor<scalar_t, 1> bias,
                                 Accessor<scalar_t, 3> output,
                                 Accessor<scalar_t, 1> running_mean,
                                 scalar_t momentum, scalar_t eps)
{
    const int channel = blockIdx.x;
    const int batch = input.size(0), length = input.size(2);
    const int count = batch * length;

    scalar_t sum = 0;
    for (int i = threadIdx.x; i < count; i += kThreads) sum += input[i / length][channel][i % length];
    const scalar_t mean = reduce_block<scalar_t, kThreads>(sum) / count;

    scalar_t squares = 0;
    for (int i = threadIdx.x; i < count; i += kThreads) {
        const scalar_t d = input[i / length][channel][i % length] - mean;
        squares += d * d;
    }
    const scalar_t invstd = scalar_t(1) / sqrt(reduce_block<scalar_t, kThreads>(squares) / count + eps);

    for (int i = threadIdx.x; i < count; i += kThreads) {
        const int n = i / length, l = i % length;
        output[n][channel][l] = (input[n][channel][l] - mean) * invstd * weight[channel] + bias[channel];
    }
    if (threadIdx.x == 0) running_mean[channel] = (1 - momentum) * running_mean[channel] + momentum * mean;
}
