// Sum of squares with cooperative groups: tiles of any power of two, reduced by their own shuffles.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <int TILE>
__device__ float tile_sum(cg::thread_block_tile<TILE> tile, float v)
{
    for (int i = tile.size() / 2; i > 0; i /= 2) v += tile.shfl_down(v, i);
    return v;
}

template <int TILE>
__global__ void sum_of_squares(const float* x, float* out, int groups, int length)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<TILE> tile = cg::tiled_partition<TILE>(block);

    const int tiles_per_block = block.size() / TILE;
    const int group = block.group_index().x * tiles_per_block + tile.meta_group_rank();
    if (group >= groups) return;  // whole tiles leave together

    float sum = 0.0f;
    for (int i = tile.thread_rank(); i < length; i += tile.size()) {
        const float v = x[group * length + i];
        sum += v * v;
    }
    sum = tile_sum<TILE>(tile, sum);
    if (tile.thread_rank() == 0) out[group] = sum;
}

__global__ void block_sum_of_squares(const float* x, float* out, int length)
{
    extern __shared__ float scratch[];
    auto block = cg::this_thread_block();
    float sum = 0.0f;
    for (int i = block.thread_rank(); i < length; i += block.size()) sum += x[i] * x[i];
    scratch[block.thread_rank()] = sum;
    block.sync();
    auto warp = cg::tiled_partition<32>(block);
    if (warp.meta_group_rank() == 0) {
        float total = 0.0f;
        for (int i = warp.thread_rank(); i < block.size(); i += 32) total += scratch[i];
        total = tile_sum<32>(warp, total);
        if (warp.thread_rank() == 0) *out = total;
    }
}
