// Work-efficient exclusive scan: up-sweep and down-sweep in padded shared memory, block sums scanned by a second launch.
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

__global__ void prescan(int* g_odata, int* block_sums, const int* g_idata, int n)
{
    extern __shared__ int temp[];
    const int thid = threadIdx.x;
    const int elements = 2 * blockDim.x;
    const int base = blockIdx.x * elements;

    int ai = thid;
    int bi = thid + (elements / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = base + ai < n ? g_idata[base + ai] : 0;
    temp[bi + bankOffsetB] = base + bi < n ? g_idata[base + bi] : 0;

    int offset = 1;
    for (int d = elements >> 1; d > 0; d >>= 1) {  // build the sum in place up the tree
        __syncthreads();
        if (thid < d) {
            int i = offset * (2 * thid + 1) - 1;
            int j = offset * (2 * thid + 2) - 1;
            i += CONFLICT_FREE_OFFSET(i);
            j += CONFLICT_FREE_OFFSET(j);
            temp[j] += temp[i];
        }
        offset *= 2;
    }

    if (thid == 0) {
        const int last = elements - 1 + CONFLICT_FREE_OFFSET(elements - 1);
        if (block_sums) block_sums[blockIdx.x] = temp[last];
        temp[last] = 0;
    }

    for (int d = 1; d < elements; d *= 2) {  // traverse down the tree
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int i = offset * (2 * thid + 1) - 1;
            int j = offset * (2 * thid + 2) - 1;
            i += CONFLICT_FREE_OFFSET(i);
            j += CONFLICT_FREE_OFFSET(j);
            int t = temp[i];
            temp[i] = temp[j];
            temp[j] += t;
        }
    }
    __syncthreads();

    if (base + ai < n) g_odata[base + ai] = temp[ai + bankOffsetA];
    if (base + bi < n) g_odata[base + bi] = temp[bi + bankOffsetB];
}

__global__ void add_block_offsets(int* data, const int* offsets, int n)
{
    const int base = blockIdx.x * 2 * blockDim.x;
    const int offset = offsets[blockIdx.x];
    for (int i = threadIdx.x; i < 2 * blockDim.x; i += blockDim.x)
        if (base + i < n) data[base + i] += offset;
}
