// Work-efficient exclusive scan: sums go up a tree and prefixes come down, in shared memory padded against bank conflicts.
// Sums of blocks are scanned by a second launch and added by a third.

#define LOG_BANKS 5
#define PADDED(i) ((i) + ((i) >> LOG_BANKS))

__global__ void prescan(int* out, int* block_sums, const int* in, int n)
{
    extern __shared__ int tree[];
    const int me = threadIdx.x;
    const int leaves = 2 * blockDim.x;
    const int base = blockIdx.x * leaves;

    for (int leaf = me; leaf < leaves; leaf += blockDim.x) tree[PADDED(leaf)] = base + leaf < n ? in[base + leaf] : 0;

    // Up: a node at `span` holds the sum of the span that ends there.
    int span = 1;
    for (int nodes = leaves / 2; nodes > 0; nodes /= 2, span *= 2) {
        __syncthreads();
        if (me < nodes) {
            const int left = PADDED(span * (2 * me + 1) - 1);
            const int right = PADDED(span * (2 * me + 2) - 1);
            tree[right] += tree[left];
        }
    }

    if (me == 0) {
        int& root = tree[PADDED(leaves - 1)];
        if (block_sums != nullptr) block_sums[blockIdx.x] = root;
        root = 0;
    }

    // Down: a node hands its prefix to the left child, and prefix plus left sum to the right one.
    for (int nodes = 1; nodes < leaves; nodes *= 2) {
        span /= 2;
        __syncthreads();
        if (me < nodes) {
            const int left = PADDED(span * (2 * me + 1) - 1);
            const int right = PADDED(span * (2 * me + 2) - 1);
            const int sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();

    for (int leaf = me; leaf < leaves; leaf += blockDim.x)
        if (base + leaf < n) out[base + leaf] = tree[PADDED(leaf)];
}

__global__ void add_block_offsets(int* data, const int* offsets, int n)
{
    const int base = blockIdx.x * 2 * blockDim.x;
    const int offset = offsets[blockIdx.x];
    for (int i = threadIdx.x; i < 2 * blockDim.x; i += blockDim.x)
        if (base + i < n) data[base + i] += offset;
}
