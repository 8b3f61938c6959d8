// One pass of a stable radix sort: digit counts a block, their scan, and a scatter ranked by ballots.
#include <cstdint>

template <int RADIX_BITS>
__device__ __forceinline__ uint32_t digit_of(uint32_t key, int shift)
{
    return (key >> shift) & ((1u << RADIX_BITS) - 1u);
}

// counts is digit-major: counts[digit * blocks + block], so that one scan gives every block's place.
template <int RADIX_BITS>
__global__ void radix_count(const uint32_t* __restrict__ keys, uint32_t* __restrict__ counts, int n, int shift)
{
    constexpr int RADIX = 1 << RADIX_BITS;
    __shared__ uint32_t bins[RADIX];
    for (int d = threadIdx.x; d < RADIX; d += blockDim.x) bins[d] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[digit_of<RADIX_BITS>(keys[i], shift)], 1u);
    __syncthreads();
    for (int d = threadIdx.x; d < RADIX; d += blockDim.x) counts[d * gridDim.x + blockIdx.x] = bins[d];
}

__global__ void radix_exclusive_scan(uint32_t* counts, int n)
{
    if (blockIdx.x || threadIdx.x) return;
    uint32_t running = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t c = counts[i];
        counts[i] = running;
        running += c;
    }
}

template <int RADIX_BITS, int BLOCK>
__global__ void radix_scatter(const uint32_t* __restrict__ keys, const uint32_t* __restrict__ values,
                              const uint32_t* __restrict__ offsets, uint32_t* __restrict__ keys_out,
                              uint32_t* __restrict__ values_out, int n, int shift)
{
    constexpr int RADIX = 1 << RADIX_BITS;
    constexpr int WARPS = BLOCK / 32;
    __shared__ uint32_t warp_counts[WARPS][RADIX];

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < WARPS * RADIX; i += BLOCK) warp_counts[i / RADIX][i % RADIX] = 0;
    __syncthreads();

    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const bool valid = i < n;
    const uint32_t key = valid ? keys[i] : 0u;
    const uint32_t digit = digit_of<RADIX_BITS>(key, shift);

    // The lanes of the warp with the same digit, found a bit at a time.
    uint32_t peers = __ballot_sync(0xffffffffu, valid);
#pragma unroll
    for (int bit = 0; bit < RADIX_BITS; ++bit) {
        const bool set = (digit >> bit) & 1u;
        const uint32_t vote = __ballot_sync(0xffffffffu, set);
        peers &= set ? vote : ~vote;
    }
    const uint32_t rank_in_warp = __popc(peers & ((1u << lane) - 1u));
    if (valid && rank_in_warp == 0) warp_counts[warp][digit] = __popc(peers);
    __syncthreads();

    if (valid) {
        uint32_t place = offsets[digit * gridDim.x + blockIdx.x] + rank_in_warp;
        for (int w = 0; w < warp; ++w) place += warp_counts[w][digit];
        keys_out[place] = key;
        values_out[place] = values[i];
    }
}
