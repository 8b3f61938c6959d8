// C = A * B through square shared tiles, any M, N, K.

template <typename scalar_t, int TILE>
__global__ void matmul_tiled(const scalar_t* __restrict__ A,
                             const scalar_t* __restrict__ B,
                             scalar_t* __restrict__ C,
                             const int M, const int N, const int K)
{
    __shared__ scalar_t As[TILE][TILE];
    __shared__ scalar_t Bs[TILE][TILE];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    scalar_t acc = 0;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        const int a_col = t * TILE + tx;
        const int b_row = t * TILE + ty;
        As[ty][tx] = (row < M && a_col < K) ? A[row * K + a_col] : scalar_t(0);
        Bs[ty][tx] = (b_row < K && col < N) ? B[b_row * N + col] : scalar_t(0);
        __syncthreads();

#pragma unroll
        for (int k = 0; k < TILE; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }

    if (row < M && col < N) C[row * N + col] = acc;
}
