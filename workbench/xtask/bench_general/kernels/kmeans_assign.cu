// The nearest centroid of each point, a thread a point; centroids in shared memory.
__global__ void kmeans_assign(const float* __restrict__ points, const float* __restrict__ centroids, int* __restrict__ labels,
                              float* __restrict__ distances, int n, int k, int dims) {
    extern __shared__ float shared_centroids[];
    for (int i = threadIdx.x; i < k * dims; i += blockDim.x) shared_centroids[i] = centroids[i];
    __syncthreads();
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= n) return;
    float min_dist = 3.402823466e+38f;
    int best = 0;
    for (int c = 0; c < k; c++) {
        float dist = 0.0f;
        for (int d = 0; d < dims; d++) {
            float diff = points[idx * dims + d] - shared_centroids[c * dims + d];
            dist += diff * diff;
        }
        if (dist < min_dist) {
            min_dist = dist;
            best = c;
        }
    }
    labels[idx] = best;
    distances[idx] = min_dist;
}
