"""Triplet margin loss with cooperative groups (tiled_partition, reduce by shuffles), one warp-sized tile per triplet."""
CPP = "torch::Tensor triplet(torch::Tensor anchor, torch::Tensor positive, torch::Tensor negative, double margin, std::string reduction);"
CUDA = r'''
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int SIZE>
__device__ float tile_sum(cg::thread_block_tile<SIZE> tile, float v) {
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) v += tile.shfl_down(v, offset);
    return tile.shfl(v, 0);
}

__global__ void triplet_kernel(const float* a, const float* p, const float* n, float* out, int rows, int dim, float margin) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int row = block.group_index().x * (block.size() / 32) + block.thread_rank() / 32;
    if (row >= rows) return;
    float ap = 0.f, an = 0.f;
    for (int i = warp.thread_rank(); i < dim; i += warp.size()) {
        const float x = a[row * dim + i];
        ap += powf(x - p[row * dim + i], 2.f);
        an += (x - n[row * dim + i]) * (x - n[row * dim + i]);
    }
    ap = sqrtf(tile_sum<32>(warp, ap));
    an = sqrtf(tile_sum<32>(warp, an));
    if (warp.thread_rank() == 0) out[row] = fmaxf(ap - an + margin, 0.f);
}

torch::Tensor triplet(torch::Tensor anchor, torch::Tensor positive, torch::Tensor negative, double margin, std::string reduction) {
    TORCH_CHECK(anchor.sizes() == positive.sizes() && anchor.sizes() == negative.sizes(),
                "anchor, positive and negative must agree in shape, got ", anchor.sizes(), ", ", positive.sizes(), ", ", negative.sizes());
    const int rows = anchor.size(0), dim = anchor.size(1);
    auto loss = torch::empty({rows}, anchor.options());
    triplet_kernel<<<(rows + 3) / 4, 128>>>(anchor.data_ptr<float>(), positive.data_ptr<float>(), negative.data_ptr<float>(), loss.data_ptr<float>(), rows, dim, margin);
    if (reduction == "mean") return loss.mean();
    if (reduction == "sum") return loss.sum();
    return loss;
}
'''
FUNCTIONS = ["triplet"]


def check(m, t):
    import numpy as np

    a, p, n = (t.rng.standard_normal((37, 45)).astype(np.float32) for _ in range(3))
    A = a.astype(np.float64)
    want = np.maximum(np.linalg.norm(A - p, axis=1) - np.linalg.norm(A - n, axis=1) + 1.0, 0)
    t.close(m.triplet(t(a), t(p), t(n), 1.0, "none"), want, rtol=1e-4, atol=1e-5)
    t.close(m.triplet(t(a), t(p), t(n), 1.0, "mean"), want.mean(), rtol=1e-4)
    t.close(m.triplet(t(a), t(p), t(n), 1.0, "sum"), want.sum(), rtol=1e-4)
    with t.raises(RuntimeError, "must agree in shape, got [37, 45], [5, 45], [37, 45]"):
        m.triplet(t(a), t(p[:5].copy()), t(n), 1.0, "none")
