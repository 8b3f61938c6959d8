// Largest element of windows with its place in the plane, one thread an output by a flat number.
__global__ void maxpool2d(const int nthreads, const float* bottom_data, const int channels, const int height, const int width,
                          const int pooled_height, const int pooled_width, const int kernel, const int stride, const int pad,
                          float* top_data, int* mask) {
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < nthreads; index += blockDim.x * gridDim.x) {
        const int pw = index % pooled_width;
        const int ph = (index / pooled_width) % pooled_height;
        const int c = (index / pooled_width / pooled_height) % channels;
        const int n = index / pooled_width / pooled_height / channels;
        int hstart = ph * stride - pad;
        int wstart = pw * stride - pad;
        const int hend = min(hstart + kernel, height);
        const int wend = min(wstart + kernel, width);
        hstart = max(hstart, 0);
        wstart = max(wstart, 0);
        float maxval = -3.402823466e+38f;
        int maxidx = -1;
        const float* bottom_slice = bottom_data + (n * channels + c) * height * width;
        for (int h = hstart; h < hend; ++h) {
            for (int w = wstart; w < wend; ++w) {
                if (bottom_slice[h * width + w] > maxval) {
                    maxidx = h * width + w;
                    maxval = bottom_slice[maxidx];
                }
            }
        }
        top_data[index] = maxval;
        mask[index] = maxidx;
    }
}
