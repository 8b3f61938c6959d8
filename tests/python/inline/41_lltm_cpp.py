"""The tutorial's kind of recurrent unit in pure C++ tensor operations: addmm, cat, chunk, sigmoid, elu, and its backward."""
CPP = r'''
#include <torch/extension.h>
#include <iostream>
#include <vector>

// s'(z) = (1 - s(z)) * s(z)
torch::Tensor d_sigmoid(torch::Tensor z) {
  auto s = torch::sigmoid(z);
  return (1 - s) * s;
}

// tanh'(z) = 1 - tanh^2(z)
torch::Tensor d_tanh(torch::Tensor z) {
  return 1 - z.tanh().pow(2);
}

// elu'(z) = relu'(z) + { alpha * exp(z) if (alpha * (exp(z) - 1)) < 0, else 0}
torch::Tensor d_elu(torch::Tensor z, torch::Scalar alpha = 1.0) {
  auto e = z.exp();
  auto mask = (alpha * (e - 1)) < 0;
  return (z > 0).type_as(z) + mask.type_as(z) * (alpha * e);
}

std::vector<at::Tensor> unit_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor old_h, torch::Tensor old_cell) {
  auto X = torch::cat({old_h, input}, /*dim=*/1);

  auto gate_weights = torch::addmm(bias, X, weights.transpose(0, 1));
  auto gates = gate_weights.chunk(3, /*dim=*/1);

  auto input_gate = torch::sigmoid(gates[0]);
  auto output_gate = torch::sigmoid(gates[1]);
  auto candidate_cell = torch::elu(gates[2], /*alpha=*/1.0);

  auto new_cell = old_cell + candidate_cell * input_gate;
  auto new_h = torch::tanh(new_cell) * output_gate;

  return {new_h, new_cell, input_gate, output_gate, candidate_cell, X, gate_weights};
}

std::vector<torch::Tensor> unit_backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor new_cell, torch::Tensor input_gate,
                                         torch::Tensor output_gate, torch::Tensor candidate_cell, torch::Tensor X, torch::Tensor gate_weights,
                                         torch::Tensor weights) {
  auto d_output_gate = torch::tanh(new_cell) * grad_h;
  auto d_tanh_new_cell = output_gate * grad_h;
  auto d_new_cell = d_tanh(new_cell) * d_tanh_new_cell + grad_cell;

  auto d_old_cell = d_new_cell;
  auto d_candidate_cell = input_gate * d_new_cell;
  auto d_input_gate = candidate_cell * d_new_cell;

  auto gates = gate_weights.chunk(3, /*dim=*/1);
  d_input_gate *= d_sigmoid(gates[0]);
  d_output_gate *= d_sigmoid(gates[1]);
  d_candidate_cell *= d_elu(gates[2]);

  auto d_gates = torch::cat({d_input_gate, d_output_gate, d_candidate_cell}, /*dim=*/1);

  auto d_weights = d_gates.t().mm(X);
  auto d_bias = d_gates.sum(/*dim=*/0, /*keepdim=*/true);

  auto d_X = d_gates.mm(weights);
  const auto state_size = grad_h.size(1);
  auto d_old_h = d_X.slice(/*dim=*/1, 0, state_size);
  auto d_input = d_X.slice(/*dim=*/1, state_size);

  return {d_old_h, d_input, d_weights, d_bias, d_old_cell};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &unit_forward, "unit forward");
  m.def("backward", &unit_backward, "unit backward");
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    b, i, s = 5, 7, 11
    sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    for dtype, tol in ((np.float64, 1e-12), (np.float32, 1e-4)):
        x, h, c, w, bias, gh, gc = (
            t.rng.standard_normal(k).astype(dtype) for k in ((b, i), (b, s), (b, s), (3 * s, s + i), (1, 3 * s), (b, s), (b, s))
        )
        X = np.concatenate([h, x], 1).astype(np.float64)
        z = X @ w.T + bias
        zi, zo, zc = z[:, :s], z[:, s : 2 * s], z[:, 2 * s :]
        ig, og, cand = sig(zi), sig(zo), np.where(zc > 0, zc, np.expm1(zc))
        nc = c + cand * ig
        nh = np.tanh(nc) * og
        got = m.forward(t(x), t(w), t(bias), t(h), t(c))
        assert len(got) == 7
        for a, e in zip(got, (nh, nc, ig, og, cand, X, z)):
            t.close(a, e, rtol=tol, atol=tol)
        dn = (1 - np.tanh(nc) ** 2) * og * gh + gc
        d = np.concatenate([cand * dn * ig * (1 - ig), np.tanh(nc) * gh * og * (1 - og), ig * dn * np.where(zc > 0, 1, np.exp(zc))], 1)
        dX = d @ w
        back = m.backward(t(gh), t(gc), *got[1:], t(w))
        for a, e in zip(back, (dX[:, :s], dX[:, s:], d.T @ X, d.sum(0, keepdims=True), dn)):
            t.close(a, e, rtol=tol, atol=tol)
