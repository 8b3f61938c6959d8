// Non-maximum suppression: a bit mask of overlaps between tiles of 64 boxes, then one block walks it.

#define DIVUP(m, n) (((m) + (n) - 1) / (n))

using mask_t = unsigned long long;
constexpr int kTile = sizeof(mask_t) * 8;

template <typename T>
__device__ inline bool overlaps(const T* a, const T* b, const float threshold)
{
    const T width = max(min(a[2], b[2]) - max(a[0], b[0]), T(0));
    const T height = max(min(a[3], b[3]) - max(a[1], b[1]), T(0));
    const T shared = width * height;
    const T joint = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared;
    return shared / joint > threshold;
}

// Boxes come sorted by score; mask[i * tiles + t] tells which of tile t come after box i and overlap it.
template <typename T>
__global__ void nms_mask(int n, float threshold, const T* __restrict__ boxes, mask_t* __restrict__ mask)
{
    const int row_tile = blockIdx.y, col_tile = blockIdx.x;
    if (row_tile > col_tile) return;

    const int rows = min(n - row_tile * kTile, kTile);
    const int cols = min(n - col_tile * kTile, kTile);

    __shared__ T others[kTile * 4];
    if (threadIdx.x < cols) {
#pragma unroll
        for (int k = 0; k < 4; ++k) others[threadIdx.x * 4 + k] = boxes[(col_tile * kTile + threadIdx.x) * 4 + k];
    }
    __syncthreads();

    if (threadIdx.x < rows) {
        const int mine = row_tile * kTile + threadIdx.x;
        const T* box = boxes + mine * 4;
        mask_t bits = 0;
        for (int j = row_tile == col_tile ? threadIdx.x + 1 : 0; j < cols; ++j)
            if (overlaps<T>(box, others + j * 4, threshold)) bits |= 1ULL << j;
        mask[mine * DIVUP(n, kTile) + col_tile] = bits;
    }
}

__global__ void nms_gather(int n, const mask_t* __restrict__ mask, unsigned char* __restrict__ keep, int* __restrict__ kept)
{
    extern __shared__ mask_t removed[];
    const int tiles = DIVUP(n, kTile);
    for (int t = threadIdx.x; t < tiles; t += blockDim.x) removed[t] = 0;
    __syncthreads();

    int count = 0;
    for (int i = 0; i < n; ++i) {
        const bool alive = !((removed[i / kTile] >> (i % kTile)) & 1);
        __syncthreads();
        if (threadIdx.x == 0) keep[i] = alive;
        if (!alive) continue;  // the same for all threads
        ++count;
        for (int t = i / kTile + threadIdx.x; t < tiles; t += blockDim.x) removed[t] |= mask[i * tiles + t];
        __syncthreads();
    }
    if (threadIdx.x == 0) *kept = count;
}
