"""Batched matmul on a 3-D grid with packed_accessor64, any strides, broadcast of a 2-D right operand by expand."""
CPP = ["torch::Tensor bmm_any(torch::Tensor a, torch::Tensor b);", "int64_t flops(torch::Tensor a, torch::Tensor b) { return 2 * a.size(0) * a.size(1) * a.size(2) * b.size(-1); }"]
CUDA = [r'''
#include <torch/extension.h>
template <typename scalar_t>
__global__ void bmm_kernel(const torch::PackedTensorAccessor64<scalar_t, 3> a,
                           const torch::PackedTensorAccessor64<scalar_t, 3> b,
                           torch::PackedTensorAccessor64<scalar_t, 3> c) {
    const int64_t z = blockIdx.z;
    const int64_t i = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < c.size(1) && j < c.size(2)) {
        scalar_t s = 0;
        for (int64_t k = 0; k < a.size(2); ++k) s += a[z][i][k] * b[z][k][j];
        c[z][i][j] = s;
    }
}
''', r'''
torch::Tensor bmm_any(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.dim() == 3, "a must be 3-D");
    if (b.dim() == 2) {
        b = b.unsqueeze(0).expand({a.size(0), b.size(0), b.size(1)});
    }
    TORCH_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1), "shapes ", a.sizes(), " and ", b.sizes(), " do not match");
    auto c = torch::empty({a.size(0), a.size(1), b.size(2)}, a.options());
    const dim3 block(8, 4);
    const dim3 grid((c.size(2) + 7) / 8, (c.size(1) + 3) / 4, c.size(0));
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "bmm_any", ([&] {
        bmm_kernel<scalar_t><<<grid, block>>>(a.packed_accessor64<scalar_t, 3>(), b.packed_accessor64<scalar_t, 3>(),
                                              c.packed_accessor64<scalar_t, 3>());
    }));
    return c;
}
''']
FUNCTIONS = ["bmm_any", "flops"]


def check(m, t):
    import numpy as np

    a = t.rng.standard_normal((3, 7, 11)).astype(np.float32)
    b = t.rng.standard_normal((3, 11, 5)).astype(np.float32)
    t.close(m.bmm_any(t(a), t(b)), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-5)
    t.close(m.bmm_any(t(a), t(b[1].copy())), a.astype(np.float64) @ b[1], rtol=1e-4, atol=1e-5)
    back = b.transpose(0, 2, 1)
    t.close(m.bmm_any(t(back), t(a.transpose(0, 2, 1))), back.astype(np.float64) @ a.transpose(0, 2, 1), rtol=1e-4, atol=1e-5)
    t.close(m.bmm_any(t(a.astype(np.float64)), t(b.astype(np.float64))), a.astype(np.float64) @ b, rtol=1e-12)
    assert m.flops(t(a), t(b)) == 2 * 3 * 7 * 11 * 5
    with t.raises(RuntimeError, "shapes [3, 7, 11] and [3, 5, 11] do not match"):
        m.bmm_any(t(a), t(np.ascontiguousarray(back)))
