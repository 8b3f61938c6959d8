// Four-by-four register transposes with 16-byte loads and stores. Rows and columns are multiples of four.
#define FLOAT4(value) (reinterpret_cast<float4*>(&(value))[0])
#define CFLOAT4(value) (reinterpret_cast<const float4*>(&(value))[0])

__global__ void transpose_float4(const float* __restrict__ x, float* __restrict__ y, const int M, const int N)
{
    const int c4 = blockIdx.x * blockDim.x + threadIdx.x;
    const int r4 = blockIdx.y * blockDim.y + threadIdx.y;
    if (c4 * 4 >= N || r4 * 4 >= M) return;

    float4 row[4];
#pragma unroll
    for (int i = 0; i < 4; i++) row[i] = CFLOAT4(x[(r4 * 4 + i) * N + c4 * 4]);

    float4 col;
#define STORE_COLUMN(k, member)                                                        \
    col = make_float4(row[0].member, row[1].member, row[2].member, row[3].member);     \
    FLOAT4(y[(c4 * 4 + k) * M + r4 * 4]) = col;
    STORE_COLUMN(0, x)
    STORE_COLUMN(1, y)
    STORE_COLUMN(2, z)
    STORE_COLUMN(3, w)
#undef STORE_COLUMN
}
