// Grouped product of a mixture of experts: rows sorted by expert, one weight matrix each, and an epilogue as a functor.

struct Identity {
    __device__ __forceinline__ float operator()(float acc, float) const { return acc; }
};

struct BiasRelu {
    __device__ __forceinline__ float operator()(float acc, float bias) const { return fmaxf(acc + bias, 0.0f); }
};

template <int kPower>
struct ClampedPower {
    __device__ __forceinline__ float operator()(float acc, float bias) const
    {
        const float base = fminf(fmaxf(acc + bias, -1.0f), 1.0f);
        float result = 1.0f;
#pragma unroll
        for (int i = 0; i < kPower; ++i) result *= base;
        return result;
    }
};

struct GroupView {
    const int* offsets;
    int group;

    __device__ GroupView(const int* o, int g) : offsets(o), group(g) {}
    __device__ int begin() const { return offsets[group]; }
    __device__ int end() const { return offsets[group + 1]; }
    __device__ bool empty() const { return begin() == end(); }
};

template <int TILE_M, int TILE_N, int TILE_K, class Epilogue>
__global__ void grouped_gemm(const float* __restrict__ x,        // [tokens, K]
                             const float* __restrict__ weight,   // [experts, K, N]
                             const float* __restrict__ bias,     // [experts, N]
                             const int* __restrict__ offsets,    // [experts + 1]
                             float* __restrict__ y,              // [tokens, N]
                             int N, int K)
{
    const GroupView group(offsets, blockIdx.z);
    if (group.empty()) return;
    const Epilogue epilogue;

    __shared__ float xs[TILE_M][TILE_K];
    __shared__ float ws[TILE_K][TILE_N + 1];

    const float* w = weight + static_cast<size_t>(group.group) * K * N;
    const int n = blockIdx.x * TILE_N + threadIdx.x;
    const int tid = threadIdx.y * TILE_N + threadIdx.x;

    for (int m0 = group.begin() + blockIdx.y * TILE_M; m0 < group.end(); m0 += gridDim.y * TILE_M) {
        const int m = m0 + threadIdx.y;
        float acc = 0.0f;
        for (int k0 = 0; k0 < K; k0 += TILE_K) {
            for (int i = tid; i < TILE_M * TILE_K; i += TILE_M * TILE_N) {
                const int r = m0 + i / TILE_K, k = k0 + i % TILE_K;
                xs[i / TILE_K][i % TILE_K] = r < group.end() && k < K ? x[r * K + k] : 0.0f;
            }
            for (int i = tid; i < TILE_K * TILE_N; i += TILE_M * TILE_N) {
                const int k = k0 + i / TILE_N, c = blockIdx.x * TILE_N + i % TILE_N;
                ws[i / TILE_N][i % TILE_N] = k < K && c < N ? w[k * N + c] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < TILE_K; ++k) acc = fmaf(xs[threadIdx.y][k], ws[k][threadIdx.x], acc);
            __syncthreads();
        }
        if (m < group.end() && n < N) y[m * N + n] = epilogue(acc, bias[group.group * N + n]);
    }
}
