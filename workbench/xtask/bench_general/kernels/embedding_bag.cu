// Sums of rows of a table, a bag a row of threads: threads in x walk the features.
#include <stdint.h>

__global__ void embedding_bag(const int64_t* __restrict__ input, const int64_t* __restrict__ offsets, const float* __restrict__ weight,
                              float* __restrict__ output, int64_t numBags, int64_t numIndices, int64_t featureSize) {
    int64_t bag = blockIdx.x * (int64_t)blockDim.y + threadIdx.y;
    if (bag >= numBags) return;
    int64_t begin = offsets[bag];
    int64_t end = bag < numBags - 1 ? offsets[bag + 1] : numIndices;
    for (int64_t feature = threadIdx.x; feature < featureSize; feature += blockDim.x) {
        float sum = 0;
        for (int64_t emb = begin; emb < end; emb++) {
            sum += weight[input[emb] * featureSize + feature];
        }
        output[bag * featureSize + feature] = sum;
    }
}
