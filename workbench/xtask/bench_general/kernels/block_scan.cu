// Inclusive scan of each block's 1024 elements: every warp by shuffles, the sums of warps by the first one.
__global__ void block_scan(const float* __restrict__ x, float* __restrict__ out, int n) {
    __shared__ float sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    float value = i < n ? x[i] : 0.0f;
    for (int offset = 1; offset < 32; offset <<= 1) {
        float other = __shfl_up_sync(0xffffffff, value, offset);
        if (lane >= offset) value += other;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        float sum = lane < (blockDim.x >> 5) ? sums[lane] : 0.0f;
        for (int offset = 1; offset < 32; offset <<= 1) {
            float other = __shfl_up_sync(0xffffffff, sum, offset);
            if (lane >= offset) sum += other;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    if (i < n) out[i] = value;
}
