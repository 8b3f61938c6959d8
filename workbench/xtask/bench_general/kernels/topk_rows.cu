// The K largest elements of each row with their indices, a warp a row: every lane keeps its own K in registers, sorted; then the warp takes
// the largest head K times.
template <int K>
__global__ void topk_rows(const float* __restrict__ x, float* __restrict__ values, int* __restrict__ indices, int rows, int cols) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const int lane = threadIdx.x;
    if (row >= rows) return;
    const float* in = x + (size_t)row * cols;
    float best[K];
    int where[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        best[k] = -INFINITY;
        where[k] = 0x7fffffff;
    }
    for (int i = lane; i < cols; i += 32) {
        float value = in[i];
        if (value > best[K - 1]) {
            best[K - 1] = value;
            where[K - 1] = i;
#pragma unroll
            for (int k = K - 1; k > 0; --k) {
                if (best[k] > best[k - 1]) {
                    float v = best[k];
                    best[k] = best[k - 1];
                    best[k - 1] = v;
                    int w = where[k];
                    where[k] = where[k - 1];
                    where[k - 1] = w;
                }
            }
        }
    }
    for (int k = 0; k < K; ++k) {
        float value = best[0];
        int index = where[0];
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2) {
            float other = __shfl_xor_sync(0xffffffff, value, offset);
            int other_index = __shfl_xor_sync(0xffffffff, index, offset);
            if (other > value || (other == value && other_index < index)) {
                value = other;
                index = other_index;
            }
        }
        if (index == where[0]) {
#pragma unroll
            for (int j = 0; j < K - 1; ++j) {
                best[j] = best[j + 1];
                where[j] = where[j + 1];
            }
            best[K - 1] = -INFINITY;
            where[K - 1] = 0x7fffffff;
        }
        if (lane == 0) {
            values[row * K + k] = value;
            indices[row * K + k] = index;
        }
    }
}

template __global__ void topk_rows<8>(const float*, float*, int*, int, int);
