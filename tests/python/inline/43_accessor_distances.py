"""Pairwise distances and a matrix-vector product by TensorAccessor loops on the CPU, double and float, forum style."""
CPP = r'''
#include <torch/extension.h>
#include <cmath>

template <typename T>
void dist_impl(torch::TensorAccessor<T, 2> a, torch::TensorAccessor<T, 2> b, torch::TensorAccessor<T, 2> out, int p) {
    for (int64_t i = 0; i < a.size(0); i++) {
        auto ai = a[i];
        for (int64_t j = 0; j < b.size(0); j++) {
            T acc = 0;
            for (int64_t k = 0; k < a.size(1); k++) {
                T d = std::abs(ai[k] - b[j][k]);
                acc += p == 1 ? d : d * d;
            }
            out[i][j] = p == 1 ? acc : std::sqrt(acc);
        }
    }
}

at::Tensor distances(const at::Tensor& a, const at::Tensor& b, int p) {
    TORCH_CHECK(a.device().is_cpu() && b.device().is_cpu(), "only CPU tensors");
    TORCH_CHECK(p == 1 || p == 2, "p must be 1 or 2");
    auto out = at::empty({a.size(0), b.size(0)}, a.options());
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "distances", [&] {
        dist_impl<scalar_t>(a.accessor<scalar_t, 2>(), b.accessor<scalar_t, 2>(), out.accessor<scalar_t, 2>(), p);
    });
    return out;
}

at::Tensor matvec(at::Tensor m, at::Tensor v) {
    auto y = torch::zeros(m.size(0), torch::dtype(torch::kFloat32));
    auto ma = m.accessor<float, 2>();
    auto va = v.accessor<float, 1>();
    auto ya = y.accessor<float, 1>();
    for (int i = 0; i < ma.size(0); ++i)
        for (int j = 0; j < ma.size(1); ++j)
            ya[i] += ma[i][j] * va[j];
    return y;
}
'''
CUDA = ""
FUNCTIONS = ["distances", "matvec"]


def check(m, t):
    import numpy as np

    a, b = t.rng.standard_normal((13, 5)), t.rng.standard_normal((7, 5))
    diff = abs(a[:, None] - b[None])
    for dtype, tol in ((np.float64, 1e-12), (np.float32, 1e-5)):
        t.close(m.distances(t(a.astype(dtype)), t(b.astype(dtype)), 1), diff.sum(-1), rtol=tol)
        t.close(m.distances(t(a.astype(dtype)), t(b.astype(dtype)), 2), np.sqrt((diff**2).sum(-1)), rtol=tol)
    t.close(m.distances(t(a[::2]), t(b[::-1].copy()), 1), diff.sum(-1)[::2, ::-1], rtol=1e-12)  # strides
    M, v = t.rng.standard_normal((5, 9)).astype(np.float32), t.rng.standard_normal(9).astype(np.float32)
    t.close(m.matvec(t(M), t(v)), M.astype(np.float64) @ v, rtol=1e-4, atol=1e-5)
    t.close(m.matvec(t(M.T), t(v[:5].copy())), M.T.astype(np.float64) @ v[:5], rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "p must be 1 or 2"):
        m.distances(t(a), t(b), 3)
    assert t.np(m.distances(t(a[:0].copy()), t(b), 2)).shape == (0, 7)
