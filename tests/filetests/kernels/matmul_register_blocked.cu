// C = alpha * A * B + beta * C, each thread a TM x TN patch of C in registers.

// Copies a tile into shared memory, zero outside the matrix; `Put` says where an element goes.
template <int kRows, int kCols, int kThreads, typename Put>
__device__ __forceinline__ void load_tile(const float* __restrict__ src, int row0, int col0, int rows, int cols, Put put)
{
    for (int i = threadIdx.x; i < kRows * kCols; i += kThreads) {
        const int r = i / kCols, c = i % kCols;
        const bool inside = row0 + r < rows && col0 + c < cols;
        put(r, c, inside ? src[(row0 + r) * cols + col0 + c] : 0.0f);
    }
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 1)
    sgemm_blocked(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C)
{
    constexpr int kThreads = (BM / TM) * (BN / TN);
    static_assert(BN % TN == 0 && BM % TM == 0 && TN % 4 == 0, "patches must tile the block");

    __shared__ float a_tile[BK][BM];                   // turned over: a column of A is contiguous
    __shared__ __align__(16) float b_tile[BK][BN];

    const int patch_row = threadIdx.x / (BN / TN) * TM;
    const int patch_col = threadIdx.x % (BN / TN) * TN;
    float patch[TM][TN] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        load_tile<BM, BK, kThreads>(A, blockIdx.y * BM, k0, M, K, [&](int r, int c, float v) { a_tile[c][r] = v; });
        load_tile<BK, BN, kThreads>(B, k0, blockIdx.x * BN, K, N, [&](int r, int c, float v) { b_tile[r][c] = v; });
        __syncthreads();

#pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float b_row[TN];
#pragma unroll
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4*>(&b_row[j]) = *reinterpret_cast<const float4*>(&b_tile[k][patch_col + j]);
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                const float a = a_tile[k][patch_row + i];
#pragma unroll
                for (int j = 0; j < TN; ++j) patch[i][j] += a * b_row[j];
            }
        }
        __syncthreads();
    }

    const int row0 = blockIdx.y * BM + patch_row, col0 = blockIdx.x * BN + patch_col;
    for (int i = 0; i < TM && row0 + i < M; ++i) {
        for (int j = 0; j < TN && col0 + j < N; ++j) {
            float& c = C[(row0 + i) * N + col0 + j];
            c = alpha * patch[i][j] + beta * c;
        }
    }
}
