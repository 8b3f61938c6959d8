// Histograms by atomics: on global memory, and privatised in shared memory with four bytes a load.
typedef unsigned char uchar;
typedef unsigned int uint;

#define BINS 256

__global__ void histogram_global(const uchar* data, uint* bins, uint n)
{
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i]], 1);
}

__device__ inline void count_bytes(uint* local, uint word)
{
#pragma unroll
    for (int byte = 0; byte < 4; ++byte, word >>= 8) atomicAdd(local + (word & 0xFFU), 1U);
}

__global__ void histogram_shared(const uchar* __restrict__ data, uint* __restrict__ bins, uint n)
{
    __shared__ uint local_bins[BINS];
    for (uint b = threadIdx.x; b < BINS; b += blockDim.x) local_bins[b] = 0;
    __syncthreads();

    const uint words = n / sizeof(uint);
    const uint* data32 = (const uint*)data;
    const uint stride = gridDim.x * blockDim.x;
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) count_bytes(local_bins, data32[i]);
    if (blockIdx.x == 0)
        for (uint i = words * sizeof(uint) + threadIdx.x; i < n; i += blockDim.x) atomicAdd(&local_bins[data[i]], 1U);
    __syncthreads();

    for (uint b = threadIdx.x; b < BINS; b += blockDim.x)
        if (const uint count = local_bins[b]) atomicAdd(&bins[b], count);
}

// Values in equal bins over [lo, hi); others are counted apart. Dynamic shared memory holds the bins.
__global__ void histogram_range(const float* __restrict__ x, int* __restrict__ bins, int* outside, int n, int nbins, float lo, float hi)
{
    extern __shared__ int local[];
    for (int b = threadIdx.x; b <= nbins; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        int bin = nbins;
        if (v >= lo && v < hi) {
            bin = (int)((v - lo) * nbins / (hi - lo));
            bin = min(bin, nbins - 1);
        }
        atomicAdd(&local[bin], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < nbins; b += blockDim.x) atomicAdd(bins + b, local[b]);
    if (threadIdx.x == 0) atomicAdd(outside, local[nbins]);
}
