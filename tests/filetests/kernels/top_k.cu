// The k largest of each row: every thread keeps its own sorted list, the block merges them by repeated maximum.
#include <cfloat>

struct Entry {
    float value;
    int index;

    __device__ bool operator>(const Entry& other) const { return value > other.value; }
};

// The K best so far, best first.
template <int K>
class Shortlist {
    Entry entries[K];

public:
    __device__ Shortlist()
    {
#pragma unroll
        for (Entry& e : entries) e = Entry{-FLT_MAX, -1};
    }

    __device__ void offer(Entry candidate)
    {
        // The candidate sinks from the front; what it displaces sinks further.
#pragma unroll
        for (int i = 0; i < K; ++i) {
            if (candidate > entries[i]) {
                const Entry displaced = entries[i];
                entries[i] = candidate;
                candidate = displaced;
            }
        }
    }

    __device__ Entry operator[](int i) const { return i < K ? entries[i] : Entry{-FLT_MAX, -1}; }
};

template <int K, int BLOCK>
__launch_bounds__(BLOCK) __global__
void top_k_rows(const float* __restrict__ x, float* __restrict__ top_values, int* __restrict__ top_indices, int cols)
{
    Shortlist<K> mine;
    const float* row = x + blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += BLOCK) mine.offer({row[c], c});

    __shared__ float best[BLOCK];
    __shared__ int owner[BLOCK];
    int taken = 0;
    for (int k = 0; k < K; ++k) {
        best[threadIdx.x] = mine[taken].value;
        owner[threadIdx.x] = threadIdx.x;
        __syncthreads();
        for (int width = BLOCK / 2; width > 0; width >>= 1) {
            if (threadIdx.x < width && best[threadIdx.x + width] > best[threadIdx.x]) {
                best[threadIdx.x] = best[threadIdx.x + width];
                owner[threadIdx.x] = owner[threadIdx.x + width];
            }
            __syncthreads();
        }
        if (owner[0] == threadIdx.x) {
            const Entry winner = mine[taken++];
            top_values[blockIdx.x * K + k] = winner.value;
            top_indices[blockIdx.x * K + k] = winner.index;
        }
        __syncthreads();
    }
}
