"""Multi-head attention block from tensor operations: view/transpose heads, matmul, masked_fill, softmax, layer_norm, gelu feed-forward."""
CPP = r'''
namespace nn {
struct Weights {
  torch::Tensor qkv, proj, up, down, g1, b1, g2, b2;
};

torch::Tensor heads(const torch::Tensor& x, int64_t h) {   // (B, L, D) -> (B, h, L, D/h)
  return x.view({x.size(0), x.size(1), h, x.size(2) / h}).transpose(1, 2);
}

torch::Tensor attend(const torch::Tensor& x, const Weights& w, int64_t h, bool causal) {
  const auto L = x.size(1), D = x.size(2);
  auto parts = torch::matmul(x, w.qkv).split(D, -1);
  auto q = heads(parts[0], h), k = heads(parts[1], h), v = heads(parts[2], h);
  auto scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(D / h));
  if (causal) {
    auto mask = torch::ones({L, L}, torch::kBool).triu(1);
    scores = scores.masked_fill(mask, -std::numeric_limits<float>::infinity());
  }
  auto out = torch::matmul(torch::softmax(scores, -1), v);
  return torch::matmul(out.transpose(1, 2).contiguous().view({x.size(0), L, D}), w.proj);
}
}  // namespace nn

torch::Tensor block(torch::Tensor x, std::vector<torch::Tensor> w, int64_t num_heads, bool causal) {
  TORCH_CHECK(x.size(-1) % num_heads == 0, "embed dim ", x.size(-1), " not divisible by ", num_heads);
  const nn::Weights weights{w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]};
  const int64_t D = x.size(-1);
  x = x + nn::attend(torch::layer_norm(x, {D}, weights.g1, weights.b1, 1e-5), weights, num_heads, causal);
  auto y = torch::layer_norm(x, {D}, weights.g2, weights.b2, 1e-5);
  return x + torch::gelu(y.matmul(weights.up)).matmul(weights.down);
}
'''
CUDA = ""
FUNCTIONS = {"block": "A pre-norm transformer block."}


def check(m, t):
    import math

    import numpy as np

    erf = np.vectorize(math.erf)
    b, length, d, h = 2, 7, 12, 3
    x = t.rng.standard_normal((b, length, d)).astype(np.float32)
    shapes = [(d, 3 * d), (d, d), (d, 4 * d), (4 * d, d), (d,), (d,), (d,), (d,)]
    w = [(0.3 * t.rng.standard_normal(s)).astype(np.float32) for s in shapes]
    W = [a.astype(np.float64) for a in w]

    def norm(v, g, c):
        return (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5) * g + c

    for causal in (False, True):
        X = x.astype(np.float64)
        q, k, v = ((norm(X, W[4], W[5]) @ W[0])[..., i * d : (i + 1) * d].reshape(b, length, h, d // h).transpose(0, 2, 1, 3) for i in range(3))
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(d // h)
        if causal:
            s = np.where(np.triu(np.ones((length, length), bool), 1), -np.inf, s)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        X = X + (p @ v).transpose(0, 2, 1, 3).reshape(b, length, d) @ W[1]
        u = norm(X, W[6], W[7]) @ W[2]
        X = X + 0.5 * u * (1 + erf(u / math.sqrt(2))) @ W[3]
        t.close(m.block(t(x), [t(a) for a in w], h, causal), X, rtol=1e-4, atol=1e-4)  # a chain of float32 products
    with t.raises(RuntimeError, "embed dim 12 not divisible by 5"):
        m.block(t(x), [t(a) for a in w], 5, False)
