// Bilinear resampling of NCHW images, corners aligned or not; the gradient scatters with atomics.

template <typename accscalar_t>
__device__ __forceinline__ accscalar_t area_pixel_source_index(accscalar_t scale, int dst_index, bool align_corners)
{
    if (align_corners) return scale * dst_index;
    const accscalar_t src_idx = scale * (dst_index + accscalar_t(0.5)) - accscalar_t(0.5);
    return src_idx < accscalar_t(0) ? accscalar_t(0) : src_idx;
}

struct Corner {
    int lo, hi;
    float w_lo, w_hi;
};

__device__ __forceinline__ Corner locate(float scale, int dst, int size, bool align_corners)
{
    Corner c;
    const float src = area_pixel_source_index<float>(scale, dst, align_corners);
    c.lo = min(static_cast<int>(src), size - 1);
    c.hi = c.lo + (c.lo < size - 1 ? 1 : 0);
    c.w_hi = src - c.lo;
    c.w_lo = 1.0f - c.w_hi;
    return c;
}

template <typename scalar_t>
__global__ void upsample_bilinear2d_out_frame(const int n, const float rheight, const float rwidth, const bool align_corners,
                                              const scalar_t* __restrict__ idata, scalar_t* __restrict__ odata,
                                              const int planes, const int height1, const int width1,
                                              const int height2, const int width2)
{
    const int index = threadIdx.x + blockIdx.x * blockDim.x;
    if (index >= n) return;
    const Corner w = locate(rwidth, index % width2, width1, align_corners);
    const Corner h = locate(rheight, index / width2, height1, align_corners);
    for (int p = 0; p < planes; ++p) {
        const scalar_t* in = idata + p * height1 * width1;
        const float top = w.w_lo * in[h.lo * width1 + w.lo] + w.w_hi * in[h.lo * width1 + w.hi];
        const float bottom = w.w_lo * in[h.hi * width1 + w.lo] + w.w_hi * in[h.hi * width1 + w.hi];
        odata[p * height2 * width2 + index] = static_cast<scalar_t>(h.w_lo * top + h.w_hi * bottom);
    }
}

__global__ void upsample_bilinear2d_backward(const int n, const float rheight, const float rwidth, const bool align_corners,
                                             float* __restrict__ grad_input, const float* __restrict__ grad_output,
                                             const int planes, const int height1, const int width1,
                                             const int height2, const int width2)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * planes; i += blockDim.x * gridDim.x) {
        const int index = i % n, p = i / n;
        const Corner w = locate(rwidth, index % width2, width1, align_corners);
        const Corner h = locate(rheight, index / width2, height1, align_corners);
        float* grad = grad_input + p * height1 * width1;
        const float g = grad_output[i];
        atomicAdd(grad + h.lo * width1 + w.lo, h.w_lo * w.w_lo * g);
        atomicAdd(grad + h.lo * width1 + w.hi, h.w_lo * w.w_hi * g);
        atomicAdd(grad + h.hi * width1 + w.lo, h.w_hi * w.w_lo * g);
        atomicAdd(grad + h.hi * width1 + w.hi, h.w_hi * w.w_hi * g);
    }
}
