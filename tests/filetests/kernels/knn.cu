// k nearest neighbours of points in space: reference points in tiles, the best so far in a sorted local list.

#include <cmath>

#define MAX_K 16
#define TILE 64

__global__ void knn_points(const float3* __restrict__ queries, const float3* __restrict__ refs, int* __restrict__ indices,
                           float* __restrict__ distances, int num_queries, int num_refs, int k)
{
    __shared__ float3 tile[TILE];

    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    const bool active = q < num_queries;
    const float3 p = active ? queries[q] : float3{0.f, 0.f, 0.f};

    float best_d[MAX_K];
    int best_i[MAX_K];
    for (int i = 0; i < k; ++i) {
        best_d[i] = INFINITY;
        best_i[i] = -1;
    }

    for (int start = 0; start < num_refs; start += TILE) {
        __syncthreads();
        for (int t = threadIdx.x; t < TILE && start + t < num_refs; t += blockDim.x) tile[t] = refs[start + t];
        __syncthreads();
        if (!active) continue;
        const int count = min(TILE, num_refs - start);
        for (int t = 0; t < count; ++t) {
            const float dx = p.x - tile[t].x, dy = p.y - tile[t].y, dz = p.z - tile[t].z;
            const float d = dx * dx + dy * dy + dz * dz;
            if (d >= best_d[k - 1]) continue;
            int slot = k - 1;
            for (; slot > 0 && best_d[slot - 1] > d; --slot) {
                best_d[slot] = best_d[slot - 1];
                best_i[slot] = best_i[slot - 1];
            }
            best_d[slot] = d;
            best_i[slot] = start + t;
        }
    }

    if (!active) return;
    for (int i = 0; i < k; ++i) {
        indices[q * k + i] = best_i[i];
        distances[q * k + i] = best_d[i];
    }
}
