// Bilinear upsampling of planes, corners not aligned; one thread an output, its indices by division.
__device__ __forceinline__ float source_index(float scale, int dst) {
    float src = scale * (dst + 0.5f) - 0.5f;
    return src < 0.0f ? 0.0f : src;
}

__global__ void upsample_bilinear(const int n, const float rheight, const float rwidth, const float* __restrict__ idata,
                                  float* __restrict__ odata, const int height1, const int width1, const int height2, const int width2) {
    int index = threadIdx.x + blockIdx.x * blockDim.x;
    if (index >= n) return;
    const int w2 = index % width2;
    const int h2 = (index / width2) % height2;
    const int nc = index / (width2 * height2);
    const float h1r = source_index(rheight, h2);
    const int h1 = h1r;
    const int h1p = (h1 < height1 - 1) ? 1 : 0;
    const float h1lambda = h1r - h1;
    const float h0lambda = 1.0f - h1lambda;
    const float w1r = source_index(rwidth, w2);
    const int w1 = w1r;
    const int w1p = (w1 < width1 - 1) ? 1 : 0;
    const float w1lambda = w1r - w1;
    const float w0lambda = 1.0f - w1lambda;
    const float* at = idata + (nc * height1 + h1) * width1 + w1;
    odata[index] = h0lambda * (w0lambda * at[0] + w1lambda * at[w1p]) +
                   h1lambda * (w0lambda * at[h1p * width1] + w1lambda * at[h1p * width1 + w1p]);
}
