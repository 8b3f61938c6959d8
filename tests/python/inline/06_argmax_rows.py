"""Row-wise max and argmax (values, int64 indices) via a shared-memory tree; returns std::tuple, struct pair of value and index."""
CPP = "std::tuple<torch::Tensor, torch::Tensor> row_max(torch::Tensor x);"
CUDA = r'''
#include <limits>
#include <tuple>

struct __align__(8) Best {
    float value;
    int index;
};

__device__ __forceinline__ Best better(const Best& a, const Best& b) {
    if (a.value > b.value) return a;
    if (b.value > a.value) return b;
    return a.index < b.index ? a : b;   // ties: the first
}

constexpr int kThreads = 128;

__global__ void row_max_kernel(const float* __restrict__ x, float* __restrict__ values, int64_t* __restrict__ indices, int cols) {
    __shared__ Best tile[kThreads];
    const int row = blockIdx.x;
    const float* mine = x + static_cast<size_t>(row) * cols;
    Best best{-INFINITY, cols};
    for (int c = threadIdx.x; c < cols; c += kThreads) best = better(best, Best{mine[c], c});
    tile[threadIdx.x] = best;
    __syncthreads();
#pragma unroll
    for (int s = kThreads / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) tile[threadIdx.x] = better(tile[threadIdx.x], tile[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        values[row] = tile[0].value;
        indices[row] = tile[0].index;
    }
}

std::tuple<torch::Tensor, torch::Tensor> row_max(torch::Tensor x) {
    TORCH_CHECK(x.dim() == 2, "row_max expects a matrix, got ", x.dim(), " dimensions");
    TORCH_CHECK(x.size(1) > 0, "row_max: rows must not be empty");
    auto values = torch::empty({x.size(0)}, x.options());
    auto indices = torch::empty({x.size(0)}, x.options().dtype(torch::kInt64));
    row_max_kernel<<<x.size(0), kThreads>>>(x.data_ptr<float>(), values.data_ptr<float>(), indices.data_ptr<int64_t>(), x.size(1));
    return std::make_tuple(values, indices);
}
'''
FUNCTIONS = ["row_max"]


def check(m, t):
    import numpy as np

    for rows, cols in ((37, 5), (3, 1003), (1, 1)):
        x = np.round(t.rng.standard_normal((rows, cols)) * 4).astype(np.float32)  # many ties
        values, indices = m.row_max(t(x))
        t.close(values, x.max(1), rtol=0, atol=0)
        t.close(indices, x.argmax(1).astype(np.int64))
        assert t.np(indices).dtype == np.int64
    with t.raises(RuntimeError, "row_max expects a matrix, got 1 dimensions"):
        m.row_max(t(np.zeros(3, np.float32)))
    with t.raises(RuntimeError, "rows must not be empty"):
        m.row_max(t(np.zeros((3, 0), np.float32)))
