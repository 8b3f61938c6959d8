// Nearest centroid of each point, with the sums and counts for the next step gathered in shared memory first.
#include <cmath>

template <int kDims>
__global__ void kmeans_assign(const float* __restrict__ points, const float* __restrict__ centroids, int* __restrict__ labels,
                              float* __restrict__ sums, unsigned int* __restrict__ counts, int n, int k)
{
    // One allocation, three parts: centroids, sums, counts.
    extern __shared__ __align__(16) unsigned char raw[];
    float* s_centroids = reinterpret_cast<float*>(raw);
    float* s_sums = s_centroids + k * kDims;
    unsigned int* s_counts = reinterpret_cast<unsigned int*>(s_sums + k * kDims);

    for (int i = threadIdx.x; i < k * kDims; i += blockDim.x) {
        s_centroids[i] = centroids[i];
        s_sums[i] = 0.f;
    }
    for (int i = threadIdx.x; i < k; i += blockDim.x) s_counts[i] = 0u;
    __syncthreads();

    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
        float coords[kDims];
#pragma unroll
        for (int d = 0; d < kDims; ++d) coords[d] = points[p * kDims + d];

        int best = 0;
        float best_distance = INFINITY;
        for (int c = 0; c < k; ++c) {
            float distance = 0.f;
#pragma unroll
            for (int d = 0; d < kDims; ++d) {
                const float diff = coords[d] - s_centroids[c * kDims + d];
                distance += diff * diff;
            }
            if (distance < best_distance) {
                best_distance = distance;
                best = c;
            }
        }
        labels[p] = best;
        for (int d = 0; d < kDims; ++d) atomicAdd(&s_sums[best * kDims + d], coords[d]);
        atomicAdd(&s_counts[best], 1u);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < k * kDims; i += blockDim.x) atomicAdd(&sums[i], s_sums[i]);
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        if (s_counts[i]) atomicAdd(&counts[i], s_counts[i]);
}
