// Layer norm, a block a row: rows as float4, sums over the block by shuffles.
__device__ float block_sum(float value) {
    __shared__ float partial[32];
    __shared__ float total;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
        if (lane == 0) total = value;
    }
    __syncthreads();
    return total;
}

__global__ void layernorm_float4(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                                 float* __restrict__ out, int cols, float eps) {
    const float4* row = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * cols);
    const float4* w4 = reinterpret_cast<const float4*>(weight);
    const float4* b4 = reinterpret_cast<const float4*>(bias);
    float4* to = reinterpret_cast<float4*>(out + (size_t)blockIdx.x * cols);
    int quads = cols / 4;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 v = row[i];
        sum += v.x + v.y + v.z + v.w;
    }
    float mean = block_sum(sum) / cols;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 v = row[i];
        float a = v.x - mean, b = v.y - mean, c = v.z - mean, d = v.w - mean;
        squares += a * a + b * b + c * c + d * d;
    }
    float scale = rsqrtf(block_sum(squares) / cols + eps);
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 v = row[i], w = w4[i], b = b4[i];
        v.x = (v.x - mean) * scale * w.x + b.x;
        v.y = (v.y - mean) * scale * w.y + b.y;
        v.z = (v.z - mean) * scale * w.z + b.z;
        v.w = (v.w - mean) * scale * w.w + b.w;
        to[i] = v;
    }
}
