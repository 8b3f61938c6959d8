// ROI align: averages of bilinear samples in the bins of boxes, and its gradient by atomics.

// The four neighbours of a point and their weights; all zero outside the image.
struct Sample {
    int place[4];
    float weight[4];

    __device__ Sample(int height, int width, float y, float x) : place{0, 0, 0, 0}, weight{0.f, 0.f, 0.f, 0.f}
    {
        if (y < -1.f || y > height || x < -1.f || x > width) return;
        y = fminf(fmaxf(y, 0.f), height - 1.f);
        x = fminf(fmaxf(x, 0.f), width - 1.f);
        const int top = static_cast<int>(y), left = static_cast<int>(x);
        const int bottom = min(top + 1, height - 1), right = min(left + 1, width - 1);
        const float fy = y - top, fx = x - left;
        place[0] = top * width + left;
        place[1] = top * width + right;
        place[2] = bottom * width + left;
        place[3] = bottom * width + right;
        weight[0] = (1.f - fy) * (1.f - fx);
        weight[1] = (1.f - fy) * fx;
        weight[2] = fy * (1.f - fx);
        weight[3] = fy * fx;
    }
};

// Calls visit(sample) for each sample of a bin.
template <typename Visit>
__device__ __forceinline__ void for_each_sample(const float* roi, float scale, int bin_y, int bin_x, int pooled, int ratio,
                                                int height, int width, Visit&& visit)
{
    const float x0 = roi[1] * scale - 0.5f, y0 = roi[2] * scale - 0.5f;
    const float bin_w = (roi[3] - roi[1]) * scale / pooled;
    const float bin_h = (roi[4] - roi[2]) * scale / pooled;
    for (int iy = 0; iy < ratio; ++iy) {
        const float y = y0 + bin_y * bin_h + (iy + 0.5f) * bin_h / ratio;
        for (int ix = 0; ix < ratio; ++ix) {
            const float x = x0 + bin_x * bin_w + (ix + 0.5f) * bin_w / ratio;
            visit(Sample(height, width, y, x));
        }
    }
}

#define FOR_ALL_BINS(total)                                                                                     \
    for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < (total); id += blockDim.x * gridDim.x)

extern "C" __global__ void roi_align_forward(const float* __restrict__ features, const float* __restrict__ rois,
                                             float* __restrict__ out, int num_rois, int channels, int height, int width,
                                             int pooled, int ratio, float scale)
{
    FOR_ALL_BINS(num_rois * channels * pooled * pooled) {
        const int px = id % pooled, py = id / pooled % pooled, c = id / pooled / pooled % channels;
        const float* roi = rois + id / pooled / pooled / channels * 5;
        const float* plane = features + (static_cast<int>(roi[0]) * channels + c) * height * width;
        float sum = 0.f;
        for_each_sample(roi, scale, py, px, pooled, ratio, height, width, [&](const Sample& s) {
#pragma unroll
            for (int k = 0; k < 4; ++k) sum += s.weight[k] * plane[s.place[k]];
        });
        out[id] = sum / (ratio * ratio);
    }
}

extern "C" __global__ void roi_align_backward(const float* __restrict__ grad_out, const float* __restrict__ rois,
                                              float* __restrict__ grad_features, int num_rois, int channels, int height,
                                              int width, int pooled, int ratio, float scale)
{
    FOR_ALL_BINS(num_rois * channels * pooled * pooled) {
        const int px = id % pooled, py = id / pooled % pooled, c = id / pooled / pooled % channels;
        const float* roi = rois + id / pooled / pooled / channels * 5;
        float* plane = grad_features + (static_cast<int>(roi[0]) * channels + c) * height * width;
        const float g = grad_out[id] / (ratio * ratio);
        for_each_sample(roi, scale, py, px, pooled, ratio, height, width, [=](const Sample& s) {
            for (int k = 0; k < 4; ++k)
                if (s.weight[k] != 0.f) atomicAdd(&plane[s.place[k]], s.weight[k] * g);
        });
    }
}
