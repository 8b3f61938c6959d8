// 2-D convolution in NCHW, an output tile a block, the input tile with halo in dynamic shared memory.

template <int KERNEL, int TILE_W, int TILE_H>
__global__ void conv2d_tiled(const float* __restrict__ input,    // [N, C, H, W]
                             const float* __restrict__ weight,   // [O, C, K, K]
                             const float* __restrict__ bias,     // [O], may be null
                             float* __restrict__ output,         // [N, O, H, W]
                             int C, int O, int H, int W)
{
    constexpr int R = KERNEL / 2;
    constexpr int SW = TILE_W + 2 * R;
    constexpr int SH = TILE_H + 2 * R;
    extern __shared__ float shared[];
    float* tile = shared;              // SH x SW
    float* filter = shared + SH * SW;  // KERNEL x KERNEL

    const int n = blockIdx.z / O, o = blockIdx.z % O;
    const int x0 = blockIdx.x * TILE_W, y0 = blockIdx.y * TILE_H;
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int threads = blockDim.x * blockDim.y;

    float acc = bias ? bias[o] : 0.f;
    for (int c = 0; c < C; ++c) {
        const float* plane = input + (n * C + c) * H * W;
        for (int i = tid; i < SH * SW; i += threads) {
            const int iy = y0 + i / SW - R, ix = x0 + i % SW - R;
            tile[i] = (iy >= 0 && iy < H && ix >= 0 && ix < W) ? plane[iy * W + ix] : 0.f;
        }
        for (int i = tid; i < KERNEL * KERNEL; i += threads) filter[i] = weight[(o * C + c) * KERNEL * KERNEL + i];
        __syncthreads();

#pragma unroll
        for (int ky = 0; ky < KERNEL; ++ky)
#pragma unroll
            for (int kx = 0; kx < KERNEL; ++kx)
                acc += tile[(threadIdx.y + ky) * SW + threadIdx.x + kx] * filter[ky * KERNEL + kx];
        __syncthreads();
    }
    if (x < W && y < H) output[((n * O + o) * H + y) * W + x] = acc;
}
