// Softmax forward and backward, a warp a row, the row in registers.
#include <cfloat>

#define WARP_SIZE 32

namespace {

struct AddOp { __device__ float operator()(float a, float b) const { return a + b; } };
struct MaxOp { __device__ float operator()(float a, float b) const { return a < b ? b : a; } };

template <typename Op, int kRows>
__device__ __forceinline__ void warp_reduce(float (&value)[kRows])
{
    Op op;
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
            const float other = __shfl_xor_sync(0xffffffff, value[i], offset, WARP_SIZE);
            value[i] = op(value[i], other);
        }
    }
}

}  // namespace

// Each warp handles kRows rows of at most kCols * WARP_SIZE elements.
template <int kCols, int kRows, bool is_log>
__global__ void softmax_warp_forward(float* dst, const float* src, int rows, int cols)
{
    const int first = (blockDim.y * blockIdx.x + threadIdx.y) * kRows;
    const int local = rows - first < kRows ? rows - first : kRows;
    if (local <= 0) return;

    float elements[kRows][kCols];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int it = 0; it < kCols; ++it) {
            const int c = threadIdx.x + it * WARP_SIZE;
            elements[i][it] = (i < local && c < cols) ? src[(first + i) * cols + c] : -FLT_MAX;
        }
    }

    float max_value[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        max_value[i] = elements[i][0];
        for (int it = 1; it < kCols; ++it) max_value[i] = fmaxf(max_value[i], elements[i][it]);
    }
    warp_reduce<MaxOp, kRows>(max_value);

    float sum[kRows]{};
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        for (int it = 0; it < kCols; ++it) {
            if constexpr (is_log) {
                sum[i] += expf(elements[i][it] - max_value[i]);
            } else {
                elements[i][it] = expf(elements[i][it] - max_value[i]);
                sum[i] += elements[i][it];
            }
        }
    }
    warp_reduce<AddOp>(sum);

    for (int i = 0; i < local; ++i) {
        for (int it = 0; it < kCols; ++it) {
            const int c = threadIdx.x + it * WARP_SIZE;
            if (c >= cols) break;
            float& out = dst[(first + i) * cols + c];
            if constexpr (is_log) out = elements[i][it] - max_value[i] - logf(sum[i]);
            else out = elements[i][it] / sum[i];
        }
    }
}

template <int kCols>
__global__ void softmax_warp_backward(float* grad_in, const float* grad_out, const float* out, int rows, int cols)
{
    const int row = blockDim.y * blockIdx.x + threadIdx.y;
    if (row >= rows) return;
    float g[kCols], y[kCols];
    float dot[1] = {0.f};
#pragma unroll
    for (int it = 0; it < kCols; ++it) {
        const int c = threadIdx.x + it * WARP_SIZE;
        g[it] = c < cols ? grad_out[row * cols + c] : 0.f;
        y[it] = c < cols ? out[row * cols + c] : 0.f;
        dot[0] += g[it] * y[it];
    }
    warp_reduce<AddOp>(dot);
#pragma unroll
    for (int it = 0; it < kCols; ++it) {
        const int c = threadIdx.x + it * WARP_SIZE;
        if (c < cols) grad_in[row * cols + c] = (g[it] - dot[0]) * y[it];
    }
}
