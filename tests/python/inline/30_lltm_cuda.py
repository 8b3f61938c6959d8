"""The tutorial's kind of LSTM-like cell in CUDA: tensor ops for the gates, a fused pointwise kernel, packed accessors, backward too."""
CPP = r'''
#include <torch/extension.h>
#include <vector>

std::vector<torch::Tensor> cell_cuda_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor old_h, torch::Tensor old_cell);
std::vector<torch::Tensor> cell_cuda_backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor new_cell, torch::Tensor gates,
                                              torch::Tensor X, torch::Tensor weights, torch::Tensor old_cell);

#define CHECK_CUDA(x) TORCH_CHECK(x.type().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

std::vector<torch::Tensor> cell_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor old_h, torch::Tensor old_cell) {
  CHECK_INPUT(input);
  CHECK_INPUT(weights);
  CHECK_INPUT(bias);
  CHECK_INPUT(old_h);
  CHECK_INPUT(old_cell);
  return cell_cuda_forward(input, weights, bias, old_h, old_cell);
}

std::vector<torch::Tensor> cell_backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor new_cell, torch::Tensor gates,
                                         torch::Tensor X, torch::Tensor weights, torch::Tensor old_cell) {
  return cell_cuda_backward(grad_h, grad_cell, new_cell, gates, X, weights, old_cell);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &cell_forward, "cell forward (CUDA)");
  m.def("backward", &cell_backward, "cell backward (CUDA)");
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

namespace {
template <typename scalar_t>
__device__ __forceinline__ scalar_t sigmoid(scalar_t z) { return 1.0 / (1.0 + exp(-z)); }

template <typename scalar_t>
__device__ __forceinline__ scalar_t d_sigmoid(scalar_t s) { return (1.0 - s) * s; }

template <typename scalar_t>
__global__ void cell_fwd_kernel(torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> gates,
                                const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> old_cell,
                                torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> new_h,
                                torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> new_cell) {
  const int n = blockIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < gates.size(2)) {
    gates[n][0][c] = sigmoid(gates[n][0][c]);
    gates[n][1][c] = sigmoid(gates[n][1][c]);
    gates[n][2][c] = tanh(gates[n][2][c]);
    new_cell[n][c] = old_cell[n][c] + gates[n][2][c] * gates[n][0][c];
    new_h[n][c] = tanh(new_cell[n][c]) * gates[n][1][c];
  }
}

template <typename scalar_t>
__global__ void cell_bwd_kernel(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> d_old_cell,
                                torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> d_gates,
                                const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> grad_h,
                                const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> grad_cell,
                                const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> new_cell,
                                const torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> gates) {
  const int n = blockIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < d_gates.size(2)) {
    const auto i = gates[n][0][c], o = gates[n][1][c], g = gates[n][2][c];
    const auto th = tanh(new_cell[n][c]);
    const auto d_cell = grad_cell[n][c] + grad_h[n][c] * o * (1 - th * th);
    d_old_cell[n][c] = d_cell;
    d_gates[n][0][c] = d_cell * g * d_sigmoid(i);
    d_gates[n][1][c] = grad_h[n][c] * th * d_sigmoid(o);
    d_gates[n][2][c] = d_cell * i * (1 - g * g);
  }
}
}  // namespace

std::vector<torch::Tensor> cell_cuda_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor old_h, torch::Tensor old_cell) {
  auto X = torch::cat({old_h, input}, /*dim=*/1);
  auto gate_weights = torch::addmm(bias, X, weights.transpose(0, 1));
  const auto batch_size = old_cell.size(0);
  const auto state_size = old_cell.size(1);
  auto gates = gate_weights.reshape({batch_size, 3, state_size});
  auto new_h = torch::zeros_like(old_cell);
  auto new_cell = torch::zeros_like(old_cell);
  const int threads = 1024;
  const dim3 blocks((state_size + threads - 1) / threads, batch_size);
  AT_DISPATCH_FLOATING_TYPES(gates.scalar_type(), "cell_forward_cuda", ([&] {
    cell_fwd_kernel<scalar_t><<<blocks, threads>>>(
        gates.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
        old_cell.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        new_h.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        new_cell.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
  }));
  return {new_h, new_cell, gates, X};
}

std::vector<torch::Tensor> cell_cuda_backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor new_cell, torch::Tensor gates,
                                              torch::Tensor X, torch::Tensor weights, torch::Tensor old_cell) {
  auto d_old_cell = torch::zeros_like(new_cell);
  auto d_gates = torch::zeros_like(gates);
  const auto batch_size = new_cell.size(0);
  const auto state_size = new_cell.size(1);
  const dim3 blocks((state_size + 63) / 64, batch_size);
  AT_DISPATCH_FLOATING_TYPES(X.scalar_type(), "cell_backward_cuda", ([&] {
    cell_bwd_kernel<scalar_t><<<blocks, 64>>>(
        d_old_cell.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), d_gates.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
        grad_h.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), grad_cell.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        new_cell.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), gates.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>());
  }));
  auto d_gate_weights = d_gates.flatten(1, 2);
  auto d_weights = d_gate_weights.t().mm(X);
  auto d_bias = d_gate_weights.sum(/*dim=*/0, /*keepdim=*/true);
  auto d_X = d_gate_weights.mm(weights);
  auto d_old_h = d_X.slice(/*dim=*/1, 0, state_size);
  auto d_input = d_X.slice(/*dim=*/1, state_size);
  return {d_old_h, d_input, d_weights, d_bias, d_old_cell, d_gates};
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    b, i, s = 5, 7, 11
    x, h, c, w, bias = (t.rng.standard_normal(k) for k in ((b, i), (b, s), (b, s), (3 * s, s + i), (3 * s,)))
    gh, gc = (t.rng.standard_normal((b, s)) for _ in range(2))
    sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    for dtype, tol in ((np.float64, 1e-12), (np.float32, 1e-4)):
        x, h, c, w, bias, gh, gc = (a.astype(dtype) for a in (x, h, c, w, bias, gh, gc))
        X = np.concatenate([h, x], 1).astype(np.float64)
        z = (X @ w.T + bias).reshape(b, 3, s)
        gates = np.stack([sig(z[:, 0]), sig(z[:, 1]), np.tanh(z[:, 2])], 1)
        new_c = c + gates[:, 2] * gates[:, 0]
        th = np.tanh(new_c)
        got = m.forward(t(x), t(w), t(bias), t(h), t(c))
        for a, e in zip(got, (th * gates[:, 1], new_c, gates, X)):
            t.close(a, e, rtol=tol, atol=tol)
        dc = gc + gh * gates[:, 1] * (1 - th**2)
        dg = np.stack(
            [dc * gates[:, 2] * gates[:, 0] * (1 - gates[:, 0]), gh * th * gates[:, 1] * (1 - gates[:, 1]), dc * gates[:, 0] * (1 - gates[:, 2] ** 2)], 1
        )
        flat = dg.reshape(b, -1)
        dX = flat @ w
        back = m.backward(t(gh), t(gc), got[1], got[2], got[3], t(w), t(c))
        for a, e in zip(back, (dX[:, :s], dX[:, s:], flat.T @ X, flat.sum(0, keepdims=True), dc, dg)):
            t.close(a, e, rtol=tol, atol=tol)
    with t.raises(RuntimeError, "weights must be contiguous"):
        m.forward(t(x), t(np.asfortranarray(w)), t(bias), t(h), t(c))
