// One pass of a radix sort, four bits: counts of digits a block, their exclusive scan, then ranks by ballots.
#define RADIX_BITS 4
#define RADIX (1 << RADIX_BITS)
#define ITEMS 4

__global__ void radix_count(const unsigned* keys, unsigned* counts, int n, int shift) {
    __shared__ unsigned bins[RADIX];
    if (threadIdx.x < RADIX) bins[threadIdx.x] = 0;
    __syncthreads();
    int first = blockIdx.x * blockDim.x * ITEMS;
    for (int j = 0; j < ITEMS; ++j) {
        int i = first + j * blockDim.x + threadIdx.x;
        if (i < n) atomicAdd(&bins[(keys[i] >> shift) & (RADIX - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < RADIX) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// One block of 1024 threads.
__global__ void radix_scan(const unsigned* counts, unsigned* offsets, int n) {
    __shared__ unsigned sums[32];
    unsigned carry = 0;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int start = 0; start < n; start += blockDim.x) {
        int i = start + threadIdx.x;
        unsigned own = i < n ? counts[i] : 0;
        unsigned value = own;
        for (int d = 1; d < 32; d <<= 1) {
            unsigned t = __shfl_up_sync(0xffffffff, value, d);
            if (lane >= d) value += t;
        }
        if (lane == 31) sums[warp] = value;
        __syncthreads();
        if (warp == 0) {
            unsigned s = sums[lane];
            for (int d = 1; d < 32; d <<= 1) {
                unsigned t = __shfl_up_sync(0xffffffff, s, d);
                if (lane >= d) s += t;
            }
            sums[lane] = s;
        }
        __syncthreads();
        if (warp > 0) value += sums[warp - 1];
        if (i < n) offsets[i] = carry + value - own;
        carry += sums[31];
        __syncthreads();
    }
}

__global__ void radix_scatter(const unsigned* keys, const unsigned* offsets, unsigned* out, int n, int shift) {
    __shared__ unsigned warp_counts[8][RADIX];
    __shared__ unsigned base[RADIX];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x < RADIX) base[threadIdx.x] = offsets[threadIdx.x * gridDim.x + blockIdx.x];
    int first = blockIdx.x * blockDim.x * ITEMS;
    for (int j = 0; j < ITEMS; ++j) {
        int i = first + j * blockDim.x + threadIdx.x;
        unsigned key = i < n ? keys[i] : 0xffffffffu;
        unsigned digit = (key >> shift) & (RADIX - 1);
        unsigned peers = __ballot_sync(0xffffffff, i < n);
        for (int b = 0; b < RADIX_BITS; ++b) {
            unsigned vote = __ballot_sync(0xffffffff, (digit >> b) & 1);
            peers &= (digit >> b) & 1 ? vote : ~vote;
        }
        unsigned rank = __popc(peers & ((1u << lane) - 1));
        if (lane < RADIX) warp_counts[warp][lane] = 0;
        __syncwarp();
        if (i < n && rank == 0) warp_counts[warp][digit] = __popc(peers);
        __syncthreads();
        if (i < n) {
            unsigned place = base[digit] + rank;
            for (int w = 0; w < warp; ++w) place += warp_counts[w][digit];
            out[place] = key;
        }
        __syncthreads();
        if (threadIdx.x < RADIX) {
            for (int w = 0; w < 8; ++w) base[threadIdx.x] += warp_counts[w][threadIdx.x];
        }
        __syncthreads();
    }
}
