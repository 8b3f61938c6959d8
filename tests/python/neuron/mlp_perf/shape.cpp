// Shapes for both sources of the folder; they are one library.
#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor same_shape(torch::Tensor t_in) { return torch::zeros(t_in.sizes(), torch::kFloat); }

torch::Tensor grad_shape(torch::Tensor t_grad, torch::Tensor t_in) { return torch::zeros(t_in.sizes(), torch::kFloat); }

torch::Tensor fits_shape(torch::Tensor t_bytes) {
  const int count = t_bytes.numel();
  return torch::zeros({count}, torch::kInt);
}

torch::Tensor conflict_shape(torch::Tensor t_in, double quiet) { return torch::zeros(t_in.sizes(), torch::kFloat); }

NEURON_LIBRARY(mlp_ops, m) {
  m.def("relu_tcm", &same_shape, "relu_tcm");
  m.def("fold_tcm", &same_shape, "fold_tcm");
  m.def("tcm_fits", &fits_shape, "tcm_fits");
  m.def("tcm_overrun", &same_shape, "tcm_overrun");
  m.def("relu_stream", &same_shape, "relu_stream");
  m.def("relu_grad_stream", &grad_shape, "relu_grad_stream");
  m.def("running_mean_stream", &same_shape, "running_mean_stream");
  m.def("stream_conflict", &conflict_shape, "stream_conflict");
  m.def("stream_overrun", &same_shape, "stream_overrun");
}
