// Depthwise convolution, padded: a loop over flat numbers of outputs with the stride of the grid.
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

template <typename scalar_t, int kSize>
__global__ void depthwise_conv(const scalar_t* __restrict__ input, const scalar_t* __restrict__ weight, const scalar_t* __restrict__ bias,
                               scalar_t* __restrict__ output, int total, int channels, int height, int width, int pad) {
    CUDA_KERNEL_LOOP(index, total) {
        const int w = index % width;
        const int h = (index / width) % height;
        const int c = (index / width / height) % channels;
        const int n = index / width / height / channels;
        const int offset0 = (n * channels + c) * height * width;
        scalar_t value = bias[c];
#pragma unroll
        for (int kH = 0; kH < kSize; ++kH) {
#pragma unroll
            for (int kW = 0; kW < kSize; ++kW) {
                const int h_in = -pad + h + kH;
                const int w_in = -pad + w + kW;
                if ((h_in >= 0) && (h_in < height) && (w_in >= 0) && (w_in < width)) {
                    const int offset = offset0 + h_in * width + w_in;
                    value += weight[(c * kSize + kH) * kSize + kW] * input[offset];
                }
            }
        }
        output[index] = value;
    }
}

template __global__ void depthwise_conv<float, 3>(const float*, const float*, const float*, float*, int, int, int, int, int);
