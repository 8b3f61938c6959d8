// Group norm, a block a group of one sample: sum and sum of squares in one pass.
template <typename T>
__device__ T WarpSum(T val) {
    for (int offset = 16; offset > 0; offset >>= 1) val += __shfl_xor_sync(0xffffffff, val, offset, 32);
    return val;
}

template <typename T, int BLOCK>
__device__ T BlockSum(T val, T* shared) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    val = WarpSum(val);
    __syncthreads();
    if (lane == 0) shared[warp] = val;
    __syncthreads();
    T sum = 0;
#pragma unroll
    for (int w = 0; w < BLOCK / 32; ++w) sum += shared[w];
    return sum;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) groupnorm(const float* x, const float* gamma, const float* beta, float* out, int channels,
                                                   int groups, int plane, float eps) {
    __shared__ float shared[BLOCK / 32];
    const int per_group = channels / groups;
    const int size = per_group * plane;
    const int group = blockIdx.x % groups;
    const float* in = x + (long long)blockIdx.x * size;
    float* to = out + (long long)blockIdx.x * size;
    float sum = 0.f, squares = 0.f;
    for (int i = threadIdx.x; i < size; i += BLOCK) {
        float v = in[i];
        sum += v;
        squares += v * v;
    }
    sum = BlockSum<float, BLOCK>(sum, shared);
    squares = BlockSum<float, BLOCK>(squares, shared);
    const float mean = sum / size;
    const float rstd = rsqrtf(squares / size - mean * mean + eps);
    for (int i = threadIdx.x; i < size; i += BLOCK) {
        const int c = group * per_group + i / plane;
        const float a = rstd * gamma[c];
        to[i] = in[i] * a + (beta[c] - mean * a);
    }
}

template __global__ void groupnorm<256>(const float*, const float*, const float*, float*, int, int, int, float);
