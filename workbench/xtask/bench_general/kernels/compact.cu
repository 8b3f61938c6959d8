// Stream compaction: counts of kept elements a block, their exclusive scan, then every kept element to its place.
__device__ __forceinline__ bool keeps(float x) { return x > 0.5f; }

__global__ void compact_count(const float* x, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int kept = __syncthreads_count(i < n && keeps(x[i]));
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

// One block of 1024 threads, each with a run of counts of its own.
__global__ void compact_scan(const int* counts, int* offsets, int* total, int blocks) {
    __shared__ int sums[1024];
    int per_thread = (blocks + blockDim.x - 1) / blockDim.x;
    int begin = min((int)threadIdx.x * per_thread, blocks), end = min(begin + per_thread, blocks);
    int sum = 0;
    for (int i = begin; i < end; ++i) sum += counts[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int t = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
        __syncthreads();
        sums[threadIdx.x] += t;
        __syncthreads();
    }
    int at = sums[threadIdx.x] - sum;
    for (int i = begin; i < end; ++i) {
        offsets[i] = at;
        at += counts[i];
    }
    if (threadIdx.x == blockDim.x - 1) *total = sums[threadIdx.x];
}

__global__ void compact_scatter(const float* x, const int* offsets, float* out, int n) {
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float value = i < n ? x[i] : 0.0f;
    bool kept = i < n && keeps(value);
    unsigned votes = __ballot_sync(0xffffffff, kept);
    if (lane == 0) warps[warp] = __popc(votes);
    __syncthreads();
    int before = 0;
    for (int w = 0; w < warp; ++w) before += warps[w];
    if (kept) out[offsets[blockIdx.x] + before + __popc(votes & ((1u << lane) - 1))] = value;
}
