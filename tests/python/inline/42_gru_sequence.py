"""A GRU over a sequence with unbind, linear, chunk and stack; range-for over tensors; std::tuple result, optional initial state."""
CPP = r'''
#include <tuple>
using torch::Tensor;

static Tensor gru_step(const Tensor& x, const Tensor& h, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
    const auto gi = torch::linear(x, w_ih, b_ih).chunk(3, 1);
    const auto gh = torch::linear(h, w_hh, b_hh).chunk(3, 1);
    const Tensor r = (gi[0] + gh[0]).sigmoid();
    const Tensor z = (gi[1] + gh[1]).sigmoid();
    const Tensor n = (gi[2] + r * gh[2]).tanh();
    return torch::lerp(n, h, z);
}

std::tuple<Tensor, Tensor> run_gru(const Tensor& sequence, const std::vector<Tensor>& weights, c10::optional<Tensor> h0, bool reverse) {
    TORCH_CHECK(weights.size() == 4, "expected 4 weights (w_ih, w_hh, b_ih, b_hh), got ", weights.size());
    Tensor h = h0 ? *h0 : sequence.new_zeros({sequence.size(1), weights[1].size(1)});
    std::vector<Tensor> outputs;
    Tensor ordered = reverse ? sequence.flip({0}) : sequence;
    for (const Tensor& x : ordered.unbind(0)) {
        h = gru_step(x, h, weights[0], weights[1], weights[2], weights[3]);
        outputs.emplace_back(h);
    }
    if (reverse) std::reverse(outputs.begin(), outputs.end());
    return {torch::stack(outputs, 0), h};
}
'''
CUDA = ""
FUNCTIONS = ["run_gru"]


def check(m, t):
    import numpy as np

    T, b, i, s = 6, 3, 5, 4
    x = t.rng.standard_normal((T, b, i)).astype(np.float32)
    weights = [t.rng.standard_normal(k).astype(np.float32) for k in ((3 * s, i), (3 * s, s), (3 * s,), (3 * s,))]
    start = t.rng.standard_normal((b, s)).astype(np.float32)
    sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    for h0, reverse in ((None, False), (start, False), (start, True)):
        h = np.zeros((b, s)) if h0 is None else h0.astype(np.float64)
        outs = []
        for k in range(T)[::-1] if reverse else range(T):
            gi, gh = x[k].astype(np.float64) @ weights[0].T + weights[2], h @ weights[1].T + weights[3]
            r, z = sig(gi[:, :s] + gh[:, :s]), sig(gi[:, s : 2 * s] + gh[:, s : 2 * s])
            n = np.tanh(gi[:, 2 * s :] + r * gh[:, 2 * s :])
            h = n + z * (h - n)
            outs.append(h)
        got, last = m.run_gru(t(x), [t(w) for w in weights], None if h0 is None else t(h0), reverse)
        t.close(got, np.stack(outs[::-1] if reverse else outs), rtol=1e-4, atol=1e-5)
        t.close(last, h, rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "expected 4 weights (w_ih, w_hh, b_ih, b_hh), got 1"):
        m.run_gru(t(x), [t(weights[0])], None, False)
