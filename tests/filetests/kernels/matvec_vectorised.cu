// y = A x, a warp a row, 16-byte loads where the row allows them.

using vec_t = float4;

template <int WARPS_PER_BLOCK>
__global__ void sgemv_warp(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int M, int K)
{
    constexpr int VEC = sizeof(vec_t) / sizeof(float);
    const int lane = threadIdx.x;
    const int row = blockIdx.x * WARPS_PER_BLOCK + threadIdx.y;
    if (row >= M) return;

    const float* a_row = a + static_cast<long long>(row) * K;
    float sum = 0.0f;

    int tail = 0;
    if (K % VEC == 0) {
        const vec_t* a4 = reinterpret_cast<const vec_t*>(a_row);
        const vec_t* x4 = reinterpret_cast<const vec_t*>(x);
        for (int i = lane; i < K / VEC; i += warpSize) {
            const vec_t av = __ldg(a4 + i);
            const vec_t xv = __ldg(x4 + i);
            sum += av.x * xv.x + av.y * xv.y + av.z * xv.z + av.w * xv.w;
        }
        tail = K;
    }
    for (int i = tail + lane; i < K; i += warpSize) sum += a_row[i] * x[i];

#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask, 32);
    if (lane == 0) y[row] = sum;
}
