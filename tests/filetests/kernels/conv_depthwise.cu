// Depthwise convolution, one thread an output: the filter's size is a template argument, or zero and known only at launch.
#include <cstdint>

#define GRID_STRIDE_LOOP(i, count)                                                       \
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;        \
         i < static_cast<int64_t>(count);                                                \
         i += static_cast<int64_t>(gridDim.x) * blockDim.x)

// Coordinates of a flat output index, innermost first.
struct Place {
    int x, y, channel, image;

    __device__ __forceinline__ Place(int flat, int width, int height, int channels)
    {
        x = flat % width;
        flat /= width;
        y = flat % height;
        flat /= height;
        channel = flat % channels;
        image = flat / channels;
    }
};

template <int kStaticSize, typename scalar_t>
__global__ void depthwise_forward(const scalar_t* __restrict__ input, scalar_t* __restrict__ output,
                                  const scalar_t* __restrict__ filters, const scalar_t* __restrict__ bias,
                                  bool has_bias, int total, int out_channels, int multiplier,
                                  int in_w, int in_h, int out_w, int out_h,
                                  int filter_w, int filter_h, int stride, int pad, int dilation)
{
    if constexpr (kStaticSize > 0) {
        filter_w = kStaticSize;
        filter_h = kStaticSize;
    }
    const int in_channels = out_channels / multiplier;

    GRID_STRIDE_LOOP(flat, total) {
        const Place at(static_cast<int>(flat), out_w, out_h, out_channels);
        const scalar_t* plane = input + (at.image * in_channels + at.channel / multiplier) * in_h * in_w;
        const scalar_t* tap = filters + at.channel * filter_h * filter_w;

        scalar_t sum = has_bias ? __ldg(&bias[at.channel]) : scalar_t(0);
        int y = at.y * stride - pad;
#pragma unroll
        for (int fy = 0; fy < filter_h; ++fy, y += dilation) {
            int x = at.x * stride - pad;
#pragma unroll
            for (int fx = 0; fx < filter_w; ++fx, x += dilation, ++tap) {
                const bool outside = y < 0 || y >= in_h || x < 0 || x >= in_w;
                if (outside) continue;
                sum += *tap * __ldg(plane + y * in_w + x);
            }
        }
        output[flat] = sum;
    }
}
