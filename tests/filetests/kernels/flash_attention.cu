// Attention without the score matrix: keys and values stream through shared tiles, softmax is rescaled as it goes.
#include <math_constants.h>

#ifndef CUDART_INF_F
#define CUDART_INF_F __int_as_float(0x7f800000)
#endif

template <int Br, int Bc, int D, bool kCausal>
__global__ void __launch_bounds__(Br)
    flash_forward(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                  float* __restrict__ O, float* __restrict__ L, const int seq_q, const int seq_k, const float scale)
{
    extern __shared__ float sram[];
    float* Kj = sram;                  // [Bc][D]
    float* Vj = Kj + Bc * D;           // [Bc][D]
    float* S = Vj + Bc * D;            // [Br][Bc + 1]

    const int tx = threadIdx.x;
    const int head = blockIdx.y;
    const int row = blockIdx.x * Br + tx;
    const bool active = row < seq_q;

    const float* q_head = Q + (size_t)head * seq_q * D;
    const float* k_head = K + (size_t)head * seq_k * D;
    const float* v_head = V + (size_t)head * seq_k * D;

    float q[D], acc[D];
#pragma unroll
    for (int d = 0; d < D; ++d) {
        q[d] = active ? q_head[row * D + d] * scale : 0.f;
        acc[d] = 0.f;
    }
    float row_max = -CUDART_INF_F, row_sum = 0.f;

    const int tiles = (seq_k + Bc - 1) / Bc;
    for (int j = 0; j < tiles; ++j) {
        if (kCausal && j * Bc > (int)(blockIdx.x * Br + Br - 1)) break;  // all of this tile is in the future
        for (int i = tx; i < Bc * D; i += Br) {
            const bool inside = j * Bc + i / D < seq_k;
            Kj[i] = inside ? k_head[j * Bc * D + i] : 0.f;
            Vj[i] = inside ? v_head[j * Bc * D + i] : 0.f;
        }
        __syncthreads();

        float* s = S + tx * (Bc + 1);
        float tile_max = -CUDART_INF_F;
        for (int c = 0; c < Bc; ++c) {
            const int key = j * Bc + c;
            float score = 0.f;
#pragma unroll
            for (int d = 0; d < D; ++d) score += q[d] * Kj[c * D + d];
            if (key >= seq_k || (kCausal && key > row)) score = -CUDART_INF_F;
            s[c] = score;
            tile_max = fmaxf(tile_max, score);
        }

        const float new_max = fmaxf(row_max, tile_max);
        if (new_max != -CUDART_INF_F) {
            const float correction = expf(row_max - new_max);
            row_sum *= correction;
#pragma unroll
            for (int d = 0; d < D; ++d) acc[d] *= correction;
            for (int c = 0; c < Bc; ++c) {
                const float p = expf(s[c] - new_max);
                row_sum += p;
#pragma unroll
                for (int d = 0; d < D; ++d) acc[d] += p * Vj[c * D + d];
            }
            row_max = new_max;
        }
        __syncthreads();
    }

    if (!active) return;
    const float inverse = 1.f / row_sum;
#pragma unroll
    for (int d = 0; d < D; ++d) O[((size_t)head * seq_q + row) * D + d] = acc[d] * inverse;
    L[head * seq_q + row] = row_max + logf(row_sum);
}
