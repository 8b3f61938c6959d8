// Single-pass scan with decoupled look-back: a block publishes its sum, then its prefix, and reads those before it.

enum Status : unsigned int { kInvalid = 0, kAggregate = 1, kPrefix = 2 };

// Status and value travel together in one 64-bit word.
struct TileState {
    unsigned long long word;

    __device__ static TileState make(Status status, unsigned int value)
    {
        return TileState{(static_cast<unsigned long long>(status) << 32) | value};
    }
    __device__ Status status() const { return static_cast<Status>(word >> 32); }
    __device__ unsigned int value() const { return static_cast<unsigned int>(word & 0xffffffffull); }
};

__device__ unsigned int look_back(volatile unsigned long long* states, int tile)
{
    unsigned int exclusive = 0;
    for (int predecessor = tile - 1; predecessor >= 0; --predecessor) {
        TileState state;
        do {
            state.word = states[predecessor];
        } while (state.status() == kInvalid);
        exclusive += state.value();
        if (state.status() == kPrefix) break;
    }
    return exclusive;
}

__global__ void init_tiles(unsigned long long* states, unsigned int* tile_counter, int tiles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tiles) states[i] = TileState::make(kInvalid, 0).word;
    if (i == 0) *tile_counter = 0;
}

template <int BLOCK, int ITEMS>
__global__ void lookback_scan(const unsigned int* __restrict__ in, unsigned int* __restrict__ out,
                              unsigned long long* states, unsigned int* tile_counter, int n)
{
    __shared__ unsigned int sums[BLOCK];
    __shared__ unsigned int s_prefix;
    __shared__ int s_tile;

    if (threadIdx.x == 0) s_tile = atomicAdd(tile_counter, 1u);  // tiles in the order blocks start
    __syncthreads();
    const int tile = s_tile;
    const int first = (tile * BLOCK + threadIdx.x) * ITEMS;

    unsigned int items[ITEMS];
    unsigned int sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        items[i] = first + i < n ? in[first + i] : 0u;
        sum += items[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 1; d < BLOCK; d <<= 1) {
        const unsigned int left = threadIdx.x >= d ? sums[threadIdx.x - d] : 0u;
        __syncthreads();
        sums[threadIdx.x] += left;
        __syncthreads();
    }

    if (threadIdx.x == 0) {
        const unsigned int aggregate = sums[BLOCK - 1];
        unsigned int exclusive = 0;
        if (tile == 0) {
            atomicExch(&states[0], TileState::make(kPrefix, aggregate).word);
        } else {
            atomicExch(&states[tile], TileState::make(kAggregate, aggregate).word);
            __threadfence();
            exclusive = look_back(states, tile);
            atomicExch(&states[tile], TileState::make(kPrefix, exclusive + aggregate).word);
        }
        s_prefix = exclusive;
    }
    __syncthreads();

    unsigned int running = s_prefix + sums[threadIdx.x] - sum;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        running += items[i];
        if (first + i < n) out[first + i] = running;
    }
}
