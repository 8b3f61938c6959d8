// test run
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// The classic sum: tree in shared memory by the block, then in a warp.
__device__ int sum_of(cg::thread_group g, int* temp, int value) {
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        temp[lane] = value;
        g.sync();
        if (lane < i) value += temp[lane + i];
        g.sync();
    }
    return value;
}

__global__ void sums(const int* x, int* total, int* ranks) {
    __shared__ int temp[64];
    auto block = cg::this_thread_block();
    int value = sum_of(block, temp, x[block.thread_rank()]);
    if (block.thread_rank() == 0) total[0] = value;
    dim3 at = block.thread_index(), size = block.group_dim();
    if (block.thread_rank() % 21 == 0) ranks[block.thread_rank() / 21] = at.x + at.y * size.x + 1000 * size.y;
}
// 0 + 1 + .. + 63
// run: sums<<<1, (16, 4)>>>(x = iota(64), total = poison(1), ranks = poison(4))
//   total == [2016]
//   ranks == [4000, 4021, 4042, 4063]

// A tile of 8: shuffles stay inside, votes count from its first thread.
__global__ void tiles(const int* x, int* sum, int* up, unsigned* votes, unsigned* meta) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    unsigned i = block.thread_rank();
    int v = x[i], s = v;
    for (int d = tile.size() / 2; d > 0; d /= 2) s += tile.shfl_down(s, d);
    sum[i] = tile.shfl(s, 0);
    up[i] = tile.shfl_up(v, 1);
    votes[i] = tile.ballot(v % 3 == 0) + 1000 * tile.any(v == 9) + 2000 * tile.all(v >= 8);
    meta[i] = tile.meta_group_rank() * 100 + tile.thread_rank() * 10 + tile.meta_group_size();
}
// x = 0..15: sums 28 and 92; multiples of 3: 0, 3, 6 in the first (bits 0, 3, 6: 73), 9, 12, 15 in the second (bits 1, 4, 7: 146);
// all of the second are at least 8 and one is 9.
// run: tiles<<<1, 16>>>(x = iota(16), sum = poison(16), up = poison(16), votes = poison(16), meta = poison(16))
//   sum == [28, 28, 28, 28, 28, 28, 28, 28, 92, 92, 92, 92, 92, 92, 92, 92]
//   up == [0, 0, 1, 2, 3, 4, 5, 6, 8, 8, 9, 10, 11, 12, 13, 14]
//   votes == [73, 73, 73, 73, 73, 73, 73, 73, 3146, 3146, 3146, 3146, 3146, 3146, 3146, 3146]
//   meta == [2, 12, 22, 32, 42, 52, 62, 72, 102, 112, 122, 132, 142, 152, 162, 172]

// Reductions and scans over tiles, of types other than numbers too.
struct Pair { float value; int index; };
__global__ void reduced(const float* x, float* sums, int* best, float* scanned, int* before) {
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int i = threadIdx.x;
    sums[i] = cg::reduce(tile, x[i], cg::plus<float>());
    Pair mine = {x[i], i};
    Pair top = cg::reduce(tile, mine, [](Pair a, Pair b) { return a.value >= b.value ? a : b; });
    best[i] = top.index;
    scanned[i] = cg::inclusive_scan(tile, x[i], cg::plus<float>());
    before[i] = cg::exclusive_scan(tile, 2);
}
// run: reduced<<<1, 8>>>(x = [1, 5, 3, 2, -1, -4, -2, -8], sums = poison(8), best = poison(8), scanned = poison(8), before = poison(8))
//   sums == [11, 11, 11, 11, -15, -15, -15, -15]
//   best == [1, 1, 1, 1, 4, 4, 4, 4]
//   scanned == [1, 6, 9, 11, -1, -5, -7, -15]
//   before == [0, 2, 4, 6, 0, 2, 4, 6]

// The threads that take a branch are a group: one atomic adds for all of them.
__global__ void filtered(const int* x, int* out, int* count) {
    int v = x[threadIdx.x];
    if (v % 3 != 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0) first = atomicAdd(count, active.size());
        first = active.shfl(first, 0);
        out[first + active.thread_rank()] = v;
    }
}
// run: filtered<<<1, 8>>>(x = [0, 1, 2, 3, 4, 5, 6, 7], out = fill(8, -1), count = [0])
//   out == [0, 2, 3, 5, 6, -1, -1, -1]
//   count == [5]

__global__ void partitions(const int* x, unsigned* sizes, unsigned* ranks, int* maxima) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto same = cg::labeled_partition(warp, x[threadIdx.x] % 3);
    sizes[threadIdx.x] = same.size();
    ranks[threadIdx.x] = same.thread_rank() + 10 * same.meta_group_rank() + 100 * same.meta_group_size();
    auto half = cg::binary_partition(warp, x[threadIdx.x] >= 4);
    maxima[threadIdx.x] = cg::reduce(half, x[threadIdx.x], cg::greater<int>());
}
// run: partitions<<<1, 8>>>(x = iota(8), sizes = poison(8), ranks = poison(8), maxima = poison(8))
//   sizes == [3, 3, 2, 3, 3, 2, 3, 3]
//   ranks == [300, 310, 320, 301, 311, 321, 302, 312]
//   maxima == [3, 3, 3, 3, 7, 7, 7, 7]

// A copy by all threads of the block, seen by all after the wait.
__global__ void copied(const float* x, float* y) {
    extern __shared__ float staged[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, staged, x, sizeof(float) * 7);
    cg::wait(block);
    y[threadIdx.x] = staged[6 - threadIdx.x];
    unsigned long long rank = cg::this_grid().thread_rank();
    if (rank == 0) y[7] = cg::this_grid().size();
}
// run: copied<<<1, 7, 28>>>(x = iota(7), y = poison(8))
//   y == [6, 5, 4, 3, 2, 1, 0, 7]
