// The k largest of each row: every thread keeps its own sorted list, the block merges them by repeated maximum.
#include <cfloat>

template <int K>
struct TopK {
    float u[K];
    int p[K];

    __device__ __forceinline__ void init()
    {
#pragma unroll
        for (int i = 0; i < K; ++i) {
            u[i] = -FLT_MAX;
            p[i] = -1;
        }
    }

    __device__ __forceinline__ void insert(float elem, int elem_id)
    {
        if (elem <= u[K - 1]) return;
        u[K - 1] = elem;
        p[K - 1] = elem_id;
#pragma unroll
        for (int k = K - 2; k >= 0; --k) {
            if (u[k + 1] > u[k]) {
                float u2 = u[k]; int p2 = p[k];
                u[k] = u[k + 1]; p[k] = p[k + 1];
                u[k + 1] = u2; p[k + 1] = p2;
            }
        }
    }
};

template <int K, int BLOCK>
__launch_bounds__(BLOCK) __global__
void top_k_rows(const float* __restrict__ x, float* __restrict__ top_values, int* __restrict__ top_indices, int cols)
{
    TopK<K> partial;
    partial.init();
    const float* row = x + blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += BLOCK) partial.insert(row[c], c);

    __shared__ float s_value[BLOCK];
    __shared__ int s_thread[BLOCK];
    int head = 0;
    for (int k = 0; k < K; ++k) {
        // The best left of this thread; a dynamic index into the list.
        s_value[threadIdx.x] = head < K ? partial.u[head] : -FLT_MAX;
        s_thread[threadIdx.x] = threadIdx.x;
        __syncthreads();
        for (int s = BLOCK / 2; s > 0; s >>= 1) {
            if (threadIdx.x < s && s_value[threadIdx.x + s] > s_value[threadIdx.x]) {
                s_value[threadIdx.x] = s_value[threadIdx.x + s];
                s_thread[threadIdx.x] = s_thread[threadIdx.x + s];
            }
            __syncthreads();
        }
        if (s_thread[0] == threadIdx.x) {
            top_values[blockIdx.x * K + k] = s_value[0];
            top_indices[blockIdx.x * K + k] = head < K ? partial.p[head] : -1;
            ++head;
        }
        __syncthreads();
    }
}
