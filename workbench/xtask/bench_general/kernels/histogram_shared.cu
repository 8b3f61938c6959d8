// Histogram of floats between two bounds: atomic additions in shared memory, then one pass over the bins.
#define BINS 512

__global__ void histogram_shared(const float* __restrict__ data, unsigned int* __restrict__ bins, int n, float low, float scale) {
    __shared__ unsigned int local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
    __syncthreads();
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int bin = (int)((data[i] - low) * scale);
        bin = bin < 0 ? 0 : (bin >= BINS ? BINS - 1 : bin);
        atomicAdd(&local[bin], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (local[b]) atomicAdd(&bins[b], local[b]);
}
