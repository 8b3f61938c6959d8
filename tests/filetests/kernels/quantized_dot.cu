// Matrix-vector product of 8-bit blocks: activations are quantised first, then blocks of 32 go through __dp4a.
#include <cstdint>

#define QK 32

// Scale of a block is max|x| / 127.
__global__ void quantize_q8(const float* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scales, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = i < n ? x[i] : 0.0f;
    float amax = fabsf(value);
#pragma unroll
    for (int mask = QK / 2; mask > 0; mask >>= 1) amax = fmaxf(amax, __shfl_xor_sync(0xffffffff, amax, mask, QK));
    const float d = amax / 127.0f;
    if (i >= n) return;
    q[i] = amax == 0.0f ? 0 : static_cast<int8_t>(roundf(value / d));
    if (i % QK == 0) scales[i / QK] = d;
}

__device__ __forceinline__ int get_int(const int8_t* q, int i) { return reinterpret_cast<const int*>(q)[i]; }

static __device__ __forceinline__ float dot_block(const int8_t* a, const int8_t* b, float scale)
{
    int sumi = 0;
#pragma unroll
    for (int i = 0; i < QK / 4; ++i) sumi = __dp4a(get_int(a, i), get_int(b, i), sumi);
    return scale * sumi;
}

__global__ void matvec_q8(const int8_t* __restrict__ w, const float* __restrict__ w_scales, const int8_t* __restrict__ x,
                          const float* __restrict__ x_scales, float* __restrict__ y, int rows, int blocks_per_row)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks_per_row; b += 32) {
        const int wb = row * blocks_per_row + b;
        sum += dot_block(w + wb * QK, x + b * QK, w_scales[wb] * x_scales[b]);
    }
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (threadIdx.x == 0) y[row] = sum;
}
