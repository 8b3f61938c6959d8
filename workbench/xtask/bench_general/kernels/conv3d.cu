// Convolution in three dimensions without padding, 3 x 3 x 3: x and y of an output from the block, channel and depth from z.
template <int KS>
__global__ void conv3d(const float* __restrict__ in, const float* __restrict__ filter, float* __restrict__ out, int channels, int depth,
                       int height, int width) {
    const int od = depth - KS + 1, oh = height - KS + 1, ow = width - KS + 1;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z % od;
    const int k = blockIdx.z / od;
    if (x >= ow || y >= oh) return;
    float acc = 0.0f;
    for (int c = 0; c < channels; ++c) {
        const float* plane = in + c * depth * height * width;
        const float* f = filter + (k * channels + c) * KS * KS * KS;
#pragma unroll
        for (int dz = 0; dz < KS; ++dz)
#pragma unroll
            for (int dy = 0; dy < KS; ++dy)
#pragma unroll
                for (int dx = 0; dx < KS; ++dx)
                    acc += plane[((z + dz) * height + y + dy) * width + x + dx] * f[(dz * KS + dy) * KS + dx];
    }
    out[((k * od + z) * oh + y) * ow + x] = acc;
}

template __global__ void conv3d<3>(const float*, const float*, float*, int, int, int, int);
