#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>
#include "torchneuron/register.h"

#include <tuple>
#include <vector>

// From the end, unlike ops.cpp's.
static int64_t extent(const torch::Tensor& t, int dim) { return t.sizes()[t.dim() - 1 - dim]; }

torch::Tensor flat(torch::Tensor t_in) { return torch::zeros({t_in.numel()}, torch::kFloat); }
torch::Tensor same(torch::Tensor t_in) { return torch::zeros(t_in.sizes(), torch::kFloat); }
torch::Tensor same_two(torch::Tensor t_a, torch::Tensor t_b) { return torch::zeros(t_a.sizes(), torch::kFloat); }
torch::Tensor same_double(torch::Tensor t_in, double) { return torch::zeros(t_in.sizes(), torch::kFloat); }
torch::Tensor same_scalars(torch::Tensor t_in, torch::Scalar low, torch::Scalar high) { return torch::zeros(t_in.sizes(), torch::kFloat); }
torch::Tensor shift_shape(torch::Tensor t_in, int64_t by) { return torch::zeros(t_in.sizes(), torch::kInt); }
torch::Tensor sum_shape(torch::Tensor t_a, torch::Tensor t_b, double alpha) { return torch::zeros(t_a.sizes(), torch::kFloat); }
torch::Tensor power_shape(double base, torch::Tensor t_in) { return torch::zeros(t_in.sizes(), torch::kFloat); }
torch::Tensor bits_shape(torch::Tensor t_a, torch::Tensor t_b) { return torch::zeros(t_a.sizes(), torch::kInt); }
torch::Tensor rows_shape(torch::Tensor t_in) { return torch::zeros({extent(t_in, 1)}, torch::kFloat); }
torch::Tensor matmul_shape(torch::Tensor t_a, torch::Tensor t_b) {
  TORCH_CHECK(extent(t_a, 0) == extent(t_b, 1), "matmul of ", t_a.sizes(), " and ", t_b.sizes());
  return torch::zeros({extent(t_a, 1), extent(t_b, 0)}, torch::kFloat);
}
torch::Tensor transpose(torch::Tensor t_in) { return torch::zeros({extent(t_in, 0), extent(t_in, 1)}, torch::kFloat); }

std::vector<torch::Tensor> halves_shape(torch::Tensor t_in) {
  const int64_t count = t_in.numel();
  return {torch::zeros({count / 2}, torch::kFloat), torch::zeros({count - count / 2}, torch::kFloat)};
}
std::tuple<torch::Tensor, torch::Tensor> moments_shape(torch::Tensor t_in) {
  return std::make_tuple(torch::zeros({extent(t_in, 1)}, torch::kFloat), torch::zeros({extent(t_in, 1), 1}, torch::kFloat));
}
torch::Tensor stack_shape(std::vector<torch::Tensor> parts) { return torch::zeros(parts[0].sizes(), torch::kFloat); }

NEURON_LIBRARY(many_ops, m) {
  m.def("negate", &flat, "negate");
  m.def("magnitude", &same, "magnitude");
  m.def("soft", &same, "soft");
  m.def("scale", &same_double, "scale");
  m.def("shift", &shift_shape, "shift");
  m.def("limit", &same_scalars, "limit");
  m.def("weighted_sum", &sum_shape, "weighted_sum");
  m.def("ratio", &same_two, "ratio");
  m.def("power_of", &power_shape, "power_of");
  m.def("circle", &same, "circle");
  m.def("bit_mix", &bits_shape, "bit_mix");
  m.def("unit_like", &same, "unit_like");
  m.def("row_sums", &rows_shape, "row_sums");
  m.def("matmul", &matmul_shape, "matmul");
  m.def("transpose", &transpose, "transpose");
}

NEURON_LIBRARY(more_ops, m) {
  m.def("halves", &halves_shape, "halves");
  m.def("mean_and_var", &moments_shape, "mean_and_var");
  m.def("stack_sum", &stack_shape, "stack_sum");
  m.def("loud_negate", &flat, "loud_negate");
  m.def("quiet_negate", &flat, "negate");
}
