// Bilinear resampling of NCHW images, corners aligned or not; the gradient scatters with atomics.

struct Corner {
    int lo, hi;
    float w_lo, w_hi;
};

__device__ __forceinline__ Corner locate(float scale, int dst, int size, bool align_corners)
{
    Corner c;
    // Between corners, or between the middles of pixels.
    const float src = align_corners ? scale * dst : fmaxf(scale * (dst + 0.5f) - 0.5f, 0.0f);
    c.lo = min(static_cast<int>(src), size - 1);
    c.hi = c.lo + (c.lo < size - 1 ? 1 : 0);
    c.w_hi = src - c.lo;
    c.w_lo = 1.0f - c.w_hi;
    return c;
}

template <typename scalar_t>
__global__ void upsample_bilinear(const int n, const float scale_h, const float scale_w, const bool align_corners,
                                  const scalar_t* __restrict__ input, scalar_t* __restrict__ output,
                                  const int planes, const int in_h, const int in_w,
                                  const int out_h, const int out_w)
{
    const int index = threadIdx.x + blockIdx.x * blockDim.x;
    if (index >= n) return;
    const Corner w = locate(scale_w, index % out_w, in_w, align_corners);
    const Corner h = locate(scale_h, index / out_w, in_h, align_corners);
    for (int p = 0; p < planes; ++p) {
        const scalar_t* in = input + p * in_h * in_w;
        const float top = w.w_lo * in[h.lo * in_w + w.lo] + w.w_hi * in[h.lo * in_w + w.hi];
        const float bottom = w.w_lo * in[h.hi * in_w + w.lo] + w.w_hi * in[h.hi * in_w + w.hi];
        output[p * out_h * out_w + index] = static_cast<scalar_t>(h.w_lo * top + h.w_hi * bottom);
    }
}

__global__ void upsample_bilinear_backward(const int n, const float scale_h, const float scale_w, const bool align_corners,
                                           float* __restrict__ grad_input, const float* __restrict__ grad_output,
                                           const int planes, const int in_h, const int in_w,
                                           const int out_h, const int out_w)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * planes; i += blockDim.x * gridDim.x) {
        const int index = i % n, p = i / n;
        const Corner w = locate(scale_w, index % out_w, in_w, align_corners);
        const Corner h = locate(scale_h, index / out_w, in_h, align_corners);
        float* grad = grad_input + p * in_h * in_w;
        const float g = grad_output[i];
        atomicAdd(grad + h.lo * in_w + w.lo, h.w_lo * w.w_lo * g);
        atomicAdd(grad + h.lo * in_w + w.hi, h.w_lo * w.w_hi * g);
        atomicAdd(grad + h.hi * in_w + w.lo, h.w_hi * w.w_lo * g);
        atomicAdd(grad + h.hi * in_w + w.hi, h.w_hi * w.w_hi * g);
    }
}
