// Sampling of NCHW images at grid points, with padding and interpolation modes as enums in the template.

enum class Interpolation { Bilinear, Nearest };
enum class Padding { Zeros, Border, Reflection };

// Folds a coordinate back and forth into [low, low + span].
__device__ __forceinline__ float mirror(float at, float low, float span)
{
    if (span == 0.f) return 0.f;
    const float distance = ::fabs(at - low);
    const float rest = ::fmod(distance, span);
    const bool turned = static_cast<int>(::floor(distance / span)) & 1;
    return low + (turned ? span - rest : rest);
}

// From [-1, 1] to pixels; where the padding mode says so, moved inside.
template <Padding kPadding>
__device__ __forceinline__ float pixel_coordinate(float at, int size, bool align_corners)
{
    const float last = static_cast<float>(size - 1);
    float pixel = align_corners ? (at + 1.f) / 2 * last : ((at + 1.f) * size - 1) / 2;
    if constexpr (kPadding == Padding::Reflection)
        pixel = align_corners ? mirror(pixel, 0.f, last) : mirror(pixel, -0.5f, static_cast<float>(size));
    if constexpr (kPadding != Padding::Zeros) pixel = ::fminf(::fmaxf(pixel, 0.f), last);
    return pixel;
}

__device__ __forceinline__ bool inside(int h, int w, int H, int W) { return h >= 0 && h < H && w >= 0 && w < W; }

template <Interpolation kMode, Padding kPadding>
__launch_bounds__(256) __global__
void sample_grid(const float* __restrict__ input, const float* __restrict__ grid, float* __restrict__ output,
                     int N, int C, int in_h, int in_w, int out_h, int out_w, bool align_corners)
{
    const int total = N * out_h * out_w;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < total; index += gridDim.x * blockDim.x) {
        const int n = index / (out_h * out_w);
        const int point = index % (out_h * out_w);
        const float2 xy = reinterpret_cast<const float2*>(grid)[index];
        const float ix = pixel_coordinate<kPadding>(xy.x, in_w, align_corners);
        const float iy = pixel_coordinate<kPadding>(xy.y, in_h, align_corners);
        const float* inp = input + n * C * in_h * in_w;
        float* out = output + n * C * out_h * out_w + point;

        if constexpr (kMode == Interpolation::Bilinear) {
            const int left = static_cast<int>(::floor(ix)), top = static_cast<int>(::floor(iy));
            const float fx = ix - left, fy = iy - top;
            const float weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
            for (int c = 0; c < C; ++c, inp += in_h * in_w, out += out_h * out_w) {
                float acc = 0.f;
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    const int x = left + (k & 1), y = top + (k >> 1);
                    if (inside(y, x, in_h, in_w)) acc += inp[y * in_w + x] * weights[k];
                }
                *out = acc;
            }
        } else {
            const int x = static_cast<int>(::nearbyint(ix)), y = static_cast<int>(::nearbyint(iy));
            for (int c = 0; c < C; ++c, inp += in_h * in_w, out += out_h * out_w)
                *out = inside(y, x, in_h, in_w) ? inp[y * in_w + x] : 0.f;
        }
    }
}
