// Bitonic sort of key-value pairs: one block sorts in shared memory, longer arrays merge through global memory.

template <typename K, typename V>
__device__ __forceinline__ void comparator(K& keyA, V& valA, K& keyB, V& valB, bool ascending)
{
    if ((keyA > keyB) == ascending) {
        K k = keyA; keyA = keyB; keyB = k;
        V v = valA; valA = valB; valB = v;
    }
}

template <typename K, typename V, int LENGTH, bool kAscending>
__global__ void bitonic_sort_shared(K* keys, V* vals)
{
    __shared__ K s_key[LENGTH];
    __shared__ V s_val[LENGTH];
    keys += blockIdx.x * LENGTH;
    vals += blockIdx.x * LENGTH;

    const unsigned int t = threadIdx.x;
    s_key[t] = keys[t];
    s_val[t] = vals[t];
    s_key[t + LENGTH / 2] = keys[t + LENGTH / 2];
    s_val[t + LENGTH / 2] = vals[t + LENGTH / 2];

    for (unsigned int size = 2; size <= LENGTH; size <<= 1) {
        const bool direction = size == LENGTH ? kAscending : ((t & (size / 2)) == 0);
        for (unsigned int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const unsigned int pos = 2 * t - (t & (stride - 1));
            comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], direction);
        }
    }

    __syncthreads();
    keys[t] = s_key[t];
    vals[t] = s_val[t];
    keys[t + LENGTH / 2] = s_key[t + LENGTH / 2];
    vals[t + LENGTH / 2] = s_val[t + LENGTH / 2];
}

// One step of the network over all of global memory; n is a power of two.
__global__ void bitonic_step(int* dev_values, int j, int k, int n)
{
    unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n) return;
    unsigned int ixj = i ^ j;
    if (ixj > i) {
        if ((i & k) == 0) {
            if (dev_values[i] > dev_values[ixj]) {
                int temp = dev_values[i];
                dev_values[i] = dev_values[ixj];
                dev_values[ixj] = temp;
            }
        }
        if ((i & k) != 0) {
            if (dev_values[i] < dev_values[ixj]) {
                int temp = dev_values[i];
                dev_values[i] = dev_values[ixj];
                dev_values[ixj] = temp;
            }
        }
    }
}
