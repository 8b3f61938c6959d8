// Cross-entropy forward, a block a row: the maximum and the sum of exponentials of a row kept together, then minus the log-probability of the target.
struct MaxSum {
    float largest;
    float sum;
};

__device__ __forceinline__ MaxSum merge(MaxSum a, MaxSum b) {
    bool a_larger = a.largest > b.largest;
    MaxSum big = a_larger ? a : b, small = a_larger ? b : a;
    MaxSum out;
    out.largest = big.largest;
    out.sum = big.sum + small.sum * expf(small.largest - big.largest);
    return out;
}

__device__ __forceinline__ MaxSum warp_merge(MaxSum v) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        MaxSum other;
        other.largest = __shfl_xor_sync(0xffffffff, v.largest, offset);
        other.sum = __shfl_xor_sync(0xffffffff, v.sum, offset);
        v = merge(v, other);
    }
    return v;
}

__global__ void cross_entropy(const float* __restrict__ logits, const int* __restrict__ targets, float* __restrict__ losses,
                              float* __restrict__ log_sums, int classes) {
    __shared__ MaxSum partial[32];
    const float* row = logits + (size_t)blockIdx.x * classes;
    MaxSum v = {-3.402823466e+38f, 0.0f};
    for (int i = threadIdx.x; i < classes; i += blockDim.x) {
        float x = row[i];
        float largest = fmaxf(v.largest, x);
        v.sum = v.sum * expf(v.largest - largest) + expf(x - largest);
        v.largest = largest;
    }
    v = warp_merge(v);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        MaxSum none = {-3.402823466e+38f, 0.0f};
        v = lane < blockDim.x / 32 ? partial[lane] : none;
        v = warp_merge(v);
        if (lane == 0) {
            float log_sum = v.largest + logf(v.sum);
            log_sums[blockIdx.x] = log_sum;
            losses[blockIdx.x] = log_sum - row[targets[blockIdx.x]];
        }
    }
}
