// Attention backward, the gradients of keys and values: a key a thread, tiles of queries in shared memory.
#define D 32
#define TILE 32

__global__ void attention_backward(const float* Q, const float* K, const float* V, const float* dO, const float* L, const float* delta,
                                   float* dK, float* dV, int N, float scale) {
    extern __shared__ float sram[];
    float* Qi = sram;
    float* dOi = Qi + TILE * D;
    float* Li = dOi + TILE * D;
    float* Di = Li + TILE;
    const int head = blockIdx.y * N;
    const int key = blockIdx.x * blockDim.x + threadIdx.x;
    float k[D], v[D], dk[D], dv[D];
#pragma unroll
    for (int d = 0; d < D; ++d) {
        k[d] = K[(head + key) * D + d];
        v[d] = V[(head + key) * D + d];
        dk[d] = 0.f;
        dv[d] = 0.f;
    }
    for (int start = 0; start < N; start += TILE) {
        for (int i = threadIdx.x; i < TILE * D; i += blockDim.x) {
            Qi[i] = Q[(head + start) * D + i];
            dOi[i] = dO[(head + start) * D + i];
        }
        if (threadIdx.x < TILE) {
            Li[threadIdx.x] = L[head + start + threadIdx.x];
            Di[threadIdx.x] = delta[head + start + threadIdx.x];
        }
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            float s = 0.f, dp = 0.f;
#pragma unroll
            for (int d = 0; d < D; ++d) {
                s += Qi[i * D + d] * k[d];
                dp += dOi[i * D + d] * v[d];
            }
            float p = __expf(s * scale - Li[i]);
            float ds = p * (dp - Di[i]) * scale;
#pragma unroll
            for (int d = 0; d < D; ++d) {
                dv[d] += p * dOi[i * D + d];
                dk[d] += ds * Qi[i * D + d];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int d = 0; d < D; ++d) {
        dK[(head + key) * D + d] = dk[d];
        dV[(head + key) * D + d] = dv[d];
    }
}
