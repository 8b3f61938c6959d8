// Index of the largest element of each row, a block a row: pairs of value and index through shuffles.
__device__ __forceinline__ void take_larger(float& value, int& index, float other, int other_index) {
    if (other > value || (other == value && other_index < index)) {
        value = other;
        index = other_index;
    }
}

__device__ __forceinline__ void warp_argmax(float& value, int& index) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        float other = __shfl_down_sync(0xffffffff, value, offset);
        int other_index = __shfl_down_sync(0xffffffff, index, offset);
        take_larger(value, index, other, other_index);
    }
}

__global__ void argmax_rows(const float* __restrict__ x, int* __restrict__ out, int cols) {
    __shared__ float values[32];
    __shared__ int indices[32];
    const float* row = x + (size_t)blockIdx.x * cols;
    float best = -INFINITY;
    int index = 0x7fffffff;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) take_larger(best, index, row[i], i);
    warp_argmax(best, index);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) {
        values[warp] = best;
        indices[warp] = index;
    }
    __syncthreads();
    if (warp == 0) {
        int warps = blockDim.x >> 5;
        best = lane < warps ? values[lane] : -INFINITY;
        index = lane < warps ? indices[lane] : 0x7fffffff;
        warp_argmax(best, index);
        if (lane == 0) out[blockIdx.x] = index;
    }
}
