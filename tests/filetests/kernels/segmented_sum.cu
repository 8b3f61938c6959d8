// Sums of runs of equal, sorted keys: head flags, a segmented warp scan, and one atomic for each piece of a segment.

__device__ __forceinline__ float segmented_warp_scan(float value, int key, int lane)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const float left_value = __shfl_up_sync(0xffffffff, value, d);
        const int left_key = __shfl_up_sync(0xffffffff, key, d);
        if (lane >= d && left_key == key) value += left_value;
    }
    return value;
}

__global__ void segmented_sum_sorted(const float* __restrict__ values, const int* __restrict__ segment_ids,
                                     float* __restrict__ sums, int n)
{
    const int lane = threadIdx.x & 31;
    const int stride = gridDim.x * blockDim.x;
    const int rounded = (n + 31) / 32 * 32;  // whole warps stay in the loop
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rounded; i += stride) {
        const bool inside = i < n;
        const int key = inside ? segment_ids[i] : -1;
        const float scanned = segmented_warp_scan(inside ? values[i] : 0.0f, key, lane);
        const int next_key = __shfl_down_sync(0xffffffff, key, 1);
        const bool last_of_segment = lane == 31 || next_key != key;
        if (inside && last_of_segment) atomicAdd(&sums[key], scanned);
    }
}

// The same from offsets, a warp a segment, as ragged batches have it.
__global__ void segmented_sum_offsets(const float* __restrict__ values, const int* __restrict__ offsets,
                                      float* __restrict__ sums, int* __restrict__ lengths, int segments)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    const int lane = threadIdx.x % warpSize;
    if (warp >= segments) return;
    const int begin = offsets[warp], end = offsets[warp + 1];
    float sum = 0.0f;
    for (int i = begin + lane; i < end; i += warpSize) sum += values[i];
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) {
        sums[warp] = sum;
        lengths[warp] = end - begin;
    }
}
