// Online softmax: running maximum and normaliser in one pass, merged over the block as pairs.
#include <cfloat>

struct __align__(8) MD {
    float m;
    float d;
};

__device__ __forceinline__ MD reduce_md_op(MD a, MD b)
{
    const bool a_bigger = (a.m > b.m);
    MD bigger_m = a_bigger ? a : b;
    MD smaller_m = a_bigger ? b : a;
    MD res;
    res.d = bigger_m.d + smaller_m.d * expf(smaller_m.m - bigger_m.m);
    res.m = bigger_m.m;
    return res;
}

template <int THREADBLOCK_SIZE>
__launch_bounds__(THREADBLOCK_SIZE)
__global__ void online_softmax(const float* __restrict x, float* __restrict y, int V)
{
    const int thread_id = threadIdx.x;
    const int vector_id = blockIdx.x;

    // Position the pointers on this block's vector.
    x += vector_id * V;
    y += vector_id * V;

    __shared__ MD partial[THREADBLOCK_SIZE / 32];
    __shared__ MD md_total;

    MD md_partial{-FLT_MAX, 0.0F};
    for (int elem_id = thread_id; elem_id < V; elem_id += THREADBLOCK_SIZE) {
        MD new_elem;
        new_elem.m = x[elem_id];
        new_elem.d = 1.0F;
        md_partial = reduce_md_op(md_partial, new_elem);
    }

    for (int offset = 16; offset > 0; offset >>= 1) {
        MD other;
        other.m = __shfl_xor_sync(~0u, md_partial.m, offset);
        other.d = __shfl_xor_sync(~0u, md_partial.d, offset);
        md_partial = reduce_md_op(md_partial, other);
    }
    if (thread_id % 32 == 0) partial[thread_id / 32] = md_partial;
    __syncthreads();
    if (thread_id == 0) {
        MD total = partial[0];
        for (int w = 1; w < THREADBLOCK_SIZE / 32; ++w) total = reduce_md_op(total, partial[w]);
        md_total = total;
    }
    __syncthreads();

    const float d_total_inverse = 1.0F / md_total.d;
    for (int elem_id = thread_id; elem_id < V; elem_id += THREADBLOCK_SIZE)
        y[elem_id] = expf(x[elem_id] - md_total.m) * d_total_inverse;
}
