// The rectifier through tightly coupled memory: a block at a time is copied in, changed and copied out.
#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>
#include <neuron/neuron-utils.hpp>

// relu_stream.cpp has its own of this name: each source is compiled by itself.
static void rectify(float& x) {
  if (!(x > 0.0f)) x = 0.0f;
}

torch::Tensor relu_tcm(const torch::Tensor& t_in) {
  const size_t total = t_in.numel();
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);

  static constexpr size_t block = 1024;
  float* buffer = (float*)torch::neuron::tcm_malloc(sizeof(float) * block);
  if (buffer != nullptr) {
    auto in = t_in.tcm_accessor();
    auto out = t_out.tcm_accessor();
    for (size_t start = 0; start < total; start += block) {
      const size_t left = total - start;
      const size_t count = left < block ? left : block;
      in.tensor_to_tcm<float>(buffer, start, count);
      for (size_t j = 0; j < count; j++) rectify(buffer[j]);
      out.tcm_to_tensor<float>(buffer, start, count);
    }
    torch::neuron::tcm_free(buffer);
  }
  return t_out;
}

// Two buffers at once, one from the front and one from the back: x[i] + x[n - 1 - i].
torch::Tensor fold_tcm(const torch::Tensor& t_in) {
  const size_t total = t_in.numel();
  torch::Tensor t_out = torch::empty(t_in.sizes(), torch::kFloat);
  const size_t block = 300;
  float* front = static_cast<float*>(torch::neuron::tcm_malloc(block * sizeof(float)));
  float* back = static_cast<float*>(torch::neuron::tcm_malloc(block * sizeof(float)));
  auto in = t_in.tcm_accessor();
  auto out = t_out.tcm_accessor();
  for (size_t start = 0; start < total; start += block) {
    const size_t count = total - start < block ? total - start : block;
    in.tensor_to_tcm<float>(front, start, count);
    in.tensor_to_tcm<float>(back, total - start - count, count);
    for (size_t j = 0; j < count; j++) front[j] += back[count - 1 - j];
    out.tcm_to_tensor<float>(front, start, count);
  }
  torch::neuron::tcm_free(back);
  torch::neuron::tcm_free(front);
  return t_out;
}

// For every number of bytes whether the pool can give it.
torch::Tensor tcm_fits(const torch::Tensor& t_bytes) {
  const int count = t_bytes.numel();
  torch::Tensor t_out = torch::zeros({count}, torch::kInt);
  auto bytes = t_bytes.accessor<int32_t, 1>();
  auto out = t_out.accessor<int32_t, 1>();
  for (int i = 0; i < count; i++) {
    void* given = torch::neuron::tcm_malloc((size_t)(int32_t)bytes[i]);
    out[i] = given != nullptr;
    if (given != nullptr) torch::neuron::tcm_free(given);
  }
  return t_out;
}

// Reads one element more than there are.
torch::Tensor tcm_overrun(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  const size_t count = t_in.numel() + 1;
  float* buffer = (float*)torch::neuron::tcm_malloc(sizeof(float) * count);
  t_in.tcm_accessor().tensor_to_tcm<float>(buffer, 0, count);
  torch::neuron::tcm_free(buffer);
  return t_out;
}
