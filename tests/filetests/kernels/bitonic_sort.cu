// Bitonic sort of key-value pairs in shared memory, one array a block; longer arrays take one launch a step.

template <typename T>
__device__ __forceinline__ void exchange(T& a, T& b)
{
    const T old = a;
    a = b;
    b = old;
}

template <typename Key, typename Value, int kLength, bool kAscending>
__global__ void bitonic_sort_shared(Key* keys, Value* values)
{
    constexpr int kPairs = kLength / 2;
    __shared__ Key k[kLength];
    __shared__ Value v[kLength];
    keys += blockIdx.x * kLength;
    values += blockIdx.x * kLength;

    for (int i = threadIdx.x; i < kLength; i += kPairs) {
        k[i] = keys[i];
        v[i] = values[i];
    }

    for (int run = 2; run <= kLength; run *= 2) {
        for (int gap = run / 2; gap > 0; gap /= 2) {
            __syncthreads();
            // The lower partner of this thread's pair: a zero bit put in at the gap's place.
            const int low = threadIdx.x / gap * (2 * gap) + threadIdx.x % gap;
            const int high = low + gap;
            const bool rising = run == kLength ? kAscending : (low & run) == 0;
            if (rising ? k[high] < k[low] : k[low] < k[high]) {
                exchange(k[low], k[high]);
                exchange(v[low], v[high]);
            }
        }
    }
    __syncthreads();

    for (int i = threadIdx.x; i < kLength; i += kPairs) {
        keys[i] = k[i];
        values[i] = v[i];
    }
}

// One step of the network over global memory, for a length that is a power of two.
__global__ void bitonic_step(int* data, int gap, int run, int length)
{
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    const int partner = me ^ gap;
    if (me >= length || partner < me) return;
    const int a = data[me], b = data[partner];
    const bool rising = !(me & run);
    if ((a > b) == rising) {
        data[me] = b;
        data[partner] = a;
    }
}
