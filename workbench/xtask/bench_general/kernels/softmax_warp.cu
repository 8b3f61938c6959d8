// Softmax, a warp a row: the row lies in a local array, the maximum and the sum go through shuffles.
template <int COLS>
__global__ void softmax_warp(const float* __restrict__ x, float* __restrict__ out, int rows) {
    constexpr int PER_LANE = COLS / 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* in = x + row * COLS;
    float values[PER_LANE];
    float largest = -INFINITY;
#pragma unroll
    for (int i = 0; i < PER_LANE; i++) {
        values[i] = in[lane + i * 32];
        largest = fmaxf(largest, values[i]);
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < PER_LANE; i++) {
        values[i] = expf(values[i] - largest);
        sum += values[i];
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < PER_LANE; i++) out[row * COLS + lane + i * 32] = values[i] * scale;
}

template __global__ void softmax_warp<1024>(const float*, float*, int);
