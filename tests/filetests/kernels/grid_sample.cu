// Sampling of NCHW images at grid points, with padding and interpolation modes as enums in the template.

enum class Interpolation { Bilinear, Nearest };
enum class Padding { Zeros, Border, Reflection };

static __forceinline__ __device__ float unnormalize(float coord, int size, bool align_corners)
{
    return align_corners ? ((coord + 1.f) / 2) * (size - 1) : ((coord + 1.f) * size - 1) / 2;
}

static __forceinline__ __device__ float clip_coordinates(float in, int clip_limit)
{
    return ::fminf(static_cast<float>(clip_limit - 1), ::fmaxf(in, 0.f));
}

static __forceinline__ __device__ float reflect_coordinates(float in, int twice_low, int twice_high)
{
    if (twice_low == twice_high) return 0.f;
    const float low = static_cast<float>(twice_low) / 2;
    const float span = static_cast<float>(twice_high - twice_low) / 2;
    in = ::fabs(in - low);
    const float extra = ::fmod(in, span);
    const int flips = static_cast<int>(::floor(in / span));
    return flips % 2 == 0 ? extra + low : span - extra + low;
}

template <Padding kPadding>
__forceinline__ __device__ float source_index(float coord, int size, bool align_corners)
{
    coord = unnormalize(coord, size, align_corners);
    if constexpr (kPadding == Padding::Border) {
        coord = clip_coordinates(coord, size);
    } else if constexpr (kPadding == Padding::Reflection) {
        coord = align_corners ? reflect_coordinates(coord, 0, 2 * (size - 1)) : reflect_coordinates(coord, -1, 2 * size - 1);
        coord = clip_coordinates(coord, size);
    }
    return coord;
}

static __forceinline__ __device__ bool within_bounds(int h, int w, int H, int W) { return h >= 0 && h < H && w >= 0 && w < W; }

template <Interpolation kMode, Padding kPadding>
__launch_bounds__(256) __global__
void grid_sampler_2d(const float* __restrict__ input, const float* __restrict__ grid, float* __restrict__ output,
                     int N, int C, int inp_H, int inp_W, int out_H, int out_W, bool align_corners)
{
    const int total = N * out_H * out_W;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < total; index += gridDim.x * blockDim.x) {
        const int n = index / (out_H * out_W);
        const int point = index % (out_H * out_W);
        const float2 xy = reinterpret_cast<const float2*>(grid)[index];
        const float ix = source_index<kPadding>(xy.x, inp_W, align_corners);
        const float iy = source_index<kPadding>(xy.y, inp_H, align_corners);
        const float* inp = input + n * C * inp_H * inp_W;
        float* out = output + n * C * out_H * out_W + point;

        if constexpr (kMode == Interpolation::Bilinear) {
            const int ix_nw = static_cast<int>(::floor(ix)), iy_nw = static_cast<int>(::floor(iy));
            const float fx = ix - ix_nw, fy = iy - iy_nw;
            const float weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
            for (int c = 0; c < C; ++c, inp += inp_H * inp_W, out += out_H * out_W) {
                float acc = 0.f;
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    const int x = ix_nw + (k & 1), y = iy_nw + (k >> 1);
                    if (within_bounds(y, x, inp_H, inp_W)) acc += inp[y * inp_W + x] * weights[k];
                }
                *out = acc;
            }
        } else {
            const int x = static_cast<int>(::nearbyint(ix)), y = static_cast<int>(::nearbyint(iy));
            for (int c = 0; c < C; ++c, inp += inp_H * inp_W, out += out_H * out_W)
                *out = within_bounds(y, x, inp_H, inp_W) ? inp[y * inp_W + x] : 0.f;
        }
    }
}
