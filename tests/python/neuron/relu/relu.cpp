// The rectifier and its gradient, element by element through standard accessors.
#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>

torch::Tensor relu_forward(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  auto in = t_in.accessor<float, 2>();
  auto out = t_out.accessor<float, 2>();
  auto shape = t_in.sizes();
  for (int64_t row = 0; row < shape[0]; row++) {
    for (int64_t col = 0; col < shape[1]; col++) {
      const float x = in[row][col];
      out[row][col] = x > 0.0f ? x : 0.0f;
    }
  }
  return t_out;
}

torch::Tensor relu_backward(const torch::Tensor& t_grad, const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  auto grad = t_grad.accessor<float, 2>();
  auto in = t_in.accessor<float, 2>();
  auto out = t_out.accessor<float, 2>();
  auto shape = t_in.sizes();
  for (int64_t row = 0; row < shape[0]; row++) {
    for (int64_t col = 0; col < shape[1]; col++) {
      if (in[row][col] > 0.0f) out[row][col] = grad[row][col];
    }
  }
  return t_out;
}
