"""Scaled dot-product attention in three naive kernels (scores, softmax, weighted sum), causal flag; returns output and weights."""
CPP = "std::vector<torch::Tensor> attention(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal, c10::optional<double> scale);"
CUDA = r'''
#include <torch/extension.h>
#include <cmath>
#include <vector>

__global__ void qk_kernel(const float* Q, const float* K, float* S, int L, int T, int D, float scale, bool causal) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int bh = blockIdx.z;
    if (i >= L || j >= T) return;
    const float* q = Q + (bh * L + i) * D;
    const float* k = K + (bh * T + j) * D;
    float dot = 0.0f;
    for (int d = 0; d < D; d++) dot += q[d] * k[d];
    S[(bh * L + i) * T + j] = (causal && j > i) ? -INFINITY : dot * scale;
}

__global__ void softmax_rows(float* S, int rows, int T) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float* s = S + (size_t)r * T;
    float m = s[0];
    for (int j = 1; j < T; j++) m = max(m, s[j]);
    float sum = 0.0f;
    for (int j = 0; j < T; j++) {
        s[j] = exp(s[j] - m);
        sum += s[j];
    }
    for (int j = 0; j < T; j++) s[j] /= sum;
}

__global__ void pv_kernel(const float* P, const float* V, float* O, int L, int T, int D) {
    int i = blockIdx.x, bh = blockIdx.y;
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float acc = 0.0f;
        for (int j = 0; j < T; j++) acc += P[(bh * L + i) * T + j] * V[(bh * T + j) * D + d];
        O[(bh * L + i) * D + d] = acc;
    }
}

std::vector<torch::Tensor> attention(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal, c10::optional<double> scale) {
    TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && v.dim() == 4, "q, k, v must be (B, H, L, D)");
    TORCH_CHECK(q.size(3) == k.size(3), "head dimensions differ: ", q.size(3), " and ", k.size(3));
    q = q.contiguous(); k = k.contiguous(); v = v.contiguous();
    const int B = q.size(0), H = q.size(1), L = q.size(2), D = q.size(3), T = k.size(2);
    const float s = scale.has_value() ? *scale : 1.0 / std::sqrt(static_cast<double>(D));
    auto P = torch::empty({B, H, L, T}, q.options());
    auto O = torch::empty({B, H, L, v.size(3)}, q.options());
    dim3 block(16, 16);
    qk_kernel<<<dim3((T + 15) / 16, (L + 15) / 16, B * H), block>>>(q.data_ptr<float>(), k.data_ptr<float>(), P.data_ptr<float>(), L, T, D, s, causal);
    softmax_rows<<<(B * H * L + 63) / 64, 64>>>(P.data_ptr<float>(), B * H * L, T);
    pv_kernel<<<dim3(L, B * H), 32>>>(P.data_ptr<float>(), v.data_ptr<float>(), O.data_ptr<float>(), L, T, v.size(3));
    return {O, P};
}
'''
FUNCTIONS = ["attention"]


def check(m, t):
    import numpy as np

    q = t.rng.standard_normal((2, 3, 13, 20)).astype(np.float32)
    k = t.rng.standard_normal((2, 3, 17, 20)).astype(np.float32)
    v = t.rng.standard_normal((2, 3, 17, 9)).astype(np.float32)
    for causal, scale in ((False, None), (True, None), (False, 0.5)):
        s = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) * (scale or 20**-0.5)
        if causal:
            s = np.where(np.arange(17) > np.arange(13)[:, None], -np.inf, s)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        o, w = m.attention(t(q), t(k), t(v), causal, scale)
        t.close(w, p, rtol=1e-4, atol=1e-6)
        t.close(o, p @ v, rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "head dimensions differ: 20 and 9"):
        m.attention(t(q), t(v), t(v), False, None)
