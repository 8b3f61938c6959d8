// Matrix of 4-bit numbers times a vector, a warp a row: blocks of 32 numbers with one scale in half, the numbers less 8 in nibbles.
#include <cuda_fp16.h>
#include <stdint.h>

#define QK4_0 32

typedef struct {
    half d;
    uint8_t qs[QK4_0 / 2];
} block_q4_0;

__global__ void q4_matvec(const void* __restrict__ vx, const float* __restrict__ y, float* __restrict__ dst, const int ncols,
                          const int nrows) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= nrows) return;
    const int blocks_per_row = ncols / QK4_0;
    const block_q4_0* x = (const block_q4_0*)vx + (size_t)row * blocks_per_row;
    float tmp = 0.0f;
    for (int i = threadIdx.x; i < blocks_per_row; i += 32) {
        const float d = __half2float(x[i].d);
        const float* yb = y + i * QK4_0;
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < QK4_0 / 2; ++j) {
            const int vui = x[i].qs[j];
            sum += ((vui & 0xF) - 8) * yb[j];
            sum += ((vui >> 4) - 8) * yb[j + QK4_0 / 2];
        }
        tmp += d * sum;
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) tmp += __shfl_xor_sync(0xffffffff, tmp, mask, 32);
    if (threadIdx.x == 0) dst[row] = tmp;
}
