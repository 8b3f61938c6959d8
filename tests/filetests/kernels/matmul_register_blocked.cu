// C = alpha * A * B + beta * C, each thread a TM x TN patch in registers.
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemm_blocked(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C)
{
    constexpr int kThreads = (BM * BN) / (TM * TN);
    static_assert(BN % TN == 0 && BM % TM == 0 && TN % 4 == 0, "patches must tile the block");

    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);
    const int rowBase = blockIdx.y * BM;
    const int colBase = blockIdx.x * BN;

    __shared__ float As[BK * BM];                  // transposed: a column of A is contiguous
    __shared__ __align__(16) float Bs[BK * BN];

    float threadResults[TM * TN] = {0.0f};
    float regM[TM] = {0.0f};
    float regN[TN] = {0.0f};

    for (int bkIdx = 0; bkIdx < CEIL_DIV(K, BK); ++bkIdx) {
        for (int i = threadIdx.x; i < BM * BK; i += kThreads) {
            const int r = i / BK, k = i % BK;
            const int gr = rowBase + r, gk = bkIdx * BK + k;
            As[k * BM + r] = (gr < M && gk < K) ? A[gr * K + gk] : 0.0f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += kThreads) {
            const int k = i / BN, c = i % BN;
            const int gk = bkIdx * BK + k, gc = colBase + c;
            Bs[k * BN + c] = (gk < K && gc < N) ? B[gk * N + gc] : 0.0f;
        }
        __syncthreads();

        for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
#pragma unroll
            for (int i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                const float4 tmp = reinterpret_cast<const float4*>(&Bs[dotIdx * BN + threadCol * TN + j])[0];
                regN[j] = tmp.x;
                regN[j + 1] = tmp.y;
                regN[j + 2] = tmp.z;
                regN[j + 3] = tmp.w;
            }
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) threadResults[i * TN + j] += regM[i] * regN[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < TM; ++i) {
        const int r = rowBase + threadRow * TM + i;
        if (r >= M) break;
        for (int j = 0; j < TN; ++j) {
            const int c = colBase + threadCol * TN + j;
            if (c >= N) break;
            C[r * N + c] = alpha * threadResults[i * TN + j] + beta * C[r * N + c];
        }
    }
}
