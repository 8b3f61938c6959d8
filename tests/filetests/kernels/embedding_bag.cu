// Embedding bags: rows of a table summed, averaged or maximised by bag, and the table's gradient by atomics.
#include <cfloat>

enum BagMode { BAG_SUM, BAG_MEAN, BAG_MAX };

template <int MODE>
__global__ void embedding_bag_forward(const float* __restrict__ table, const long long* __restrict__ indices,
                                      const long long* __restrict__ offsets, float* __restrict__ out,
                                      int* __restrict__ winners, int bags, int dim, int padding_idx)
{
    for (int bag = blockIdx.x; bag < bags; bag += gridDim.x) {
        const long long begin = offsets[bag], end = offsets[bag + 1];
        for (int d = threadIdx.x; d < dim; d += blockDim.x) {
            float acc = MODE == BAG_MAX ? -FLT_MAX : 0.0f;
            int winner = -1, used = 0;
            for (long long i = begin; i < end; ++i) {
                const long long row = indices[i];
                if (row == padding_idx) continue;
                const float value = table[row * dim + d];
                switch (MODE) {
                    case BAG_MAX:
                        if (value > acc) {
                            acc = value;
                            winner = static_cast<int>(row);
                        }
                        break;
                    default:
                        acc += value;
                }
                ++used;
            }
            if (MODE == BAG_MEAN && used > 0) acc /= used;
            if (MODE == BAG_MAX) {
                if (used == 0) acc = 0.0f;
                winners[bag * dim + d] = winner;
            }
            out[bag * dim + d] = acc;
        }
    }
}

// Sum mode: every use of a row adds its bag's gradient.
__global__ void embedding_bag_backward(const float* __restrict__ grad_out, const long long* __restrict__ indices,
                                       const int* __restrict__ bag_of, float* grad_table, int n, int dim, int padding_idx)
{
    const int d = threadIdx.x + blockIdx.y * blockDim.x;
    if (d >= dim) return;
    for (int i = blockIdx.x * blockDim.y + threadIdx.y; i < n; i += gridDim.x * blockDim.y) {
        const long long row = indices[i];
        if (row != padding_idx) atomicAdd(grad_table + row * dim + d, grad_out[bag_of[i] * dim + d]);
    }
}
