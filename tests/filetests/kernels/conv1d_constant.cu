// 1-D convolution, the filter in constant memory, the tile with its halo in shared memory.
#define MAX_FILTER 33
#define TILE 128

__constant__ float c_filter[MAX_FILTER];

__global__ void conv1d_basic(const float* in, float* out, int n, int radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; k++) {
        int j = i + k;
        if (j >= 0 && j < n) sum += in[j] * c_filter[radius - k];
    }
    out[i] = sum;
}

__global__ void conv1d_tiled(const float* __restrict__ in, float* __restrict__ out, int n, int radius)
{
    __shared__ float tile[TILE + MAX_FILTER - 1];
    const int start = blockIdx.x * TILE;

    for (int t = threadIdx.x; t < TILE + 2 * radius; t += TILE) {
        const int j = start + t - radius;
        tile[t] = (j < 0 || j >= n) ? 0.0f : in[j];
    }
    __syncthreads();

    const int i = start + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
#pragma unroll 4
        for (int k = 0; k <= 2 * radius; ++k) sum += tile[threadIdx.x + k] * c_filter[2 * radius - k];
        out[i] = sum;
    }
}
