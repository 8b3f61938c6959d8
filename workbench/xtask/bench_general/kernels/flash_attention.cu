// Attention forward, a query a thread: tiles of keys and values in shared memory, maximum and sum kept up as the tiles pass.
template <int D, int TILE>
__global__ void flash_attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O,
                                float* __restrict__ L, int N, float scale) {
    __shared__ float Ks[TILE][D];
    __shared__ float Vs[TILE][D];
    const size_t head = (size_t)blockIdx.y * N * D;
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float q[D], acc[D];
    for (int d = 0; d < D; d++) {
        q[d] = Q[head + (size_t)row * D + d] * scale;
        acc[d] = 0.0f;
    }
    float m = -INFINITY, l = 0.0f;
    for (int start = 0; start < N; start += TILE) {
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * D; i += blockDim.x) {
            Ks[i / D][i % D] = K[head + (size_t)start * D + i];
            Vs[i / D][i % D] = V[head + (size_t)start * D + i];
        }
        __syncthreads();
        float s[TILE];
        float largest = m;
        for (int j = 0; j < TILE; j++) {
            float dot = 0.0f;
            for (int d = 0; d < D; d++) dot += q[d] * Ks[j][d];
            s[j] = dot;
            largest = fmaxf(largest, dot);
        }
        float correction = expf(m - largest);
        l *= correction;
        for (int d = 0; d < D; d++) acc[d] *= correction;
        for (int j = 0; j < TILE; j++) {
            float p = expf(s[j] - largest);
            l += p;
            for (int d = 0; d < D; d++) acc[d] += p * Vs[j][d];
        }
        m = largest;
    }
    for (int d = 0; d < D; d++) O[head + (size_t)row * D + d] = acc[d] / l;
    L[(size_t)blockIdx.y * N + row] = m + logf(l);
}

template __global__ void flash_attention<64, 32>(const float*, const float*, const float*, float*, float*, int, float);
