// Segmented inclusive scan of rows, a block a row: pairs of value and flag through shuffles, and a carry from tile to tile.
__device__ __forceinline__ void combine(float& value, int& flag, float before, int before_flag) {
    if (!flag) value += before;
    flag |= before_flag;
}

__device__ __forceinline__ void warp_scan(float& value, int& flag, int lane) {
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        float before = __shfl_up_sync(0xffffffff, value, offset);
        int before_flag = __shfl_up_sync(0xffffffff, flag, offset);
        if (lane >= offset) combine(value, flag, before, before_flag);
    }
}

__global__ void segmented_scan(const float* x, const unsigned char* heads, float* out, int cols) {
    __shared__ float warp_values[32];
    __shared__ int warp_flags[32];
    __shared__ float carry;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const size_t row = (size_t)blockIdx.x * cols;
    if (threadIdx.x == 0) carry = 0.0f;
    __syncthreads();
    for (int start = 0; start < cols; start += blockDim.x) {
        int i = start + threadIdx.x;
        float value = i < cols ? x[row + i] : 0.0f;
        int flag = i < cols ? heads[row + i] : 0;
        warp_scan(value, flag, lane);
        if (lane == 31) {
            warp_values[warp] = value;
            warp_flags[warp] = flag;
        }
        __syncthreads();
        if (warp == 0) {
            float v = lane < warps ? warp_values[lane] : 0.0f;
            int f = lane < warps ? warp_flags[lane] : 0;
            warp_scan(v, f, lane);
            warp_values[lane] = v;
            warp_flags[lane] = f;
        }
        __syncthreads();
        float before = carry;
        int before_flag = 0;
        if (warp > 0) {
            float v = warp_values[warp - 1];
            int f = warp_flags[warp - 1];
            combine(v, f, before, 0);
            before = v;
            before_flag = f;
        }
        combine(value, flag, before, before_flag);
        if (i < cols) out[row + i] = value;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) carry = value;
        __syncthreads();
    }
}
