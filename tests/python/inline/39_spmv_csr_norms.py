"""CSR sparse matrix times vector (a warp a row) and a power iteration in the host code with tensor ops; std::optional start vector."""
CPP = r'''
torch::Tensor spmv(const torch::Tensor& indptr, const torch::Tensor& indices, const torch::Tensor& data, const torch::Tensor& x);

std::tuple<double, torch::Tensor, int64_t> power_iteration(const torch::Tensor& indptr, const torch::Tensor& indices, const torch::Tensor& data,
                                                           std::optional<torch::Tensor> start, int64_t max_iter, double tol) {
    const int64_t n = indptr.size(0) - 1;
    torch::Tensor v = start.has_value() ? start->clone() : torch::ones({n}, data.options());
    v /= v.norm();
    double previous = 0.0, value = 0.0;
    int64_t it = 0;
    for (; it < max_iter; ++it) {
        torch::Tensor w = spmv(indptr, indices, data, v);
        value = torch::dot(v, w).item<double>();
        v = w / torch::norm(w);
        if (std::abs(value - previous) < tol * std::abs(value)) break;
        previous = value;
    }
    return std::make_tuple(value, v, it);
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>

template <typename T, typename I, unsigned WARPS>
__global__ void spmv_kernel(const I* __restrict__ indptr, const I* __restrict__ indices, const T* __restrict__ data, const T* __restrict__ x, T* __restrict__ y, I rows) {
    const unsigned lane = threadIdx.x & 31u;
    const I row = blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (row >= rows) return;
    T sum{};
    for (I k = indptr[row] + lane; k < indptr[row + 1]; k += 32) sum += data[k] * x[indices[k]];
    for (unsigned o = 16u; o != 0u; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0u) y[row] = sum;
}

torch::Tensor spmv(const torch::Tensor& indptr, const torch::Tensor& indices, const torch::Tensor& data, const torch::Tensor& x) {
    TORCH_CHECK(indptr.scalar_type() == indices.scalar_type(), "indptr and indices must share their dtype");
    TORCH_CHECK(indices.numel() == data.numel(), "indices and data differ in length");
    const at::cuda::CUDAGuard device_guard{data.device()};
    const auto rows = indptr.numel() - 1;
    auto y = torch::empty({rows}, data.options());
    constexpr unsigned kWarps = 4;
    AT_DISPATCH_FLOATING_TYPES(data.scalar_type(), "spmv", [&] {
        AT_DISPATCH_INDEX_TYPES(indices.scalar_type(), "spmv_index", [&] {
            spmv_kernel<scalar_t, index_t, kWarps><<<(rows + kWarps - 1) / kWarps, kWarps * 32>>>(
                indptr.data_ptr<index_t>(), indices.data_ptr<index_t>(), data.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rows);
        });
    });
    return y;
}
'''
FUNCTIONS = ["spmv", "power_iteration"]


def check(m, t):
    import numpy as np

    dense = t.rng.random((53, 53)) * (t.rng.random((53, 53)) < 0.3)
    dense = dense + dense.T + np.diag(np.full(53, 2.0))
    rows, cols = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=53))])
    x = t.rng.standard_normal(53)
    for itype in (np.int32, np.int64):
        for dtype, tol in ((np.float32, 1e-4), (np.float64, 1e-12)):
            got = m.spmv(t(indptr.astype(itype)), t(cols.astype(itype)), t(dense[rows, cols].astype(dtype)), t(x.astype(dtype)))
            t.close(got, dense @ x, rtol=tol, atol=tol)
    args = t(indptr.astype(np.int32)), t(cols.astype(np.int32)), t(dense[rows, cols])
    top = np.linalg.eigvalsh(dense)[-1]
    for start in (None, t(t.rng.random(53))):
        value, vector, steps = m.power_iteration(*args, start, 500, 1e-12)
        assert abs(value - top) < 1e-6 * top and isinstance(steps, int) and 0 < steps < 500
        v = t.np(vector)
        np.testing.assert_allclose(dense @ v, top * v, atol=1e-3 * top)
    with t.raises(RuntimeError, "indptr and indices must share their dtype"):
        m.spmv(t(indptr.astype(np.int64)), *args[1:], t(x))
