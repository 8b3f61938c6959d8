// Work for every core of the GPSIMD engine: each takes a part of its own, by TCM alone, and writes to the destination.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <torch/torch.h>
#include <neuron/neuron-utils.hpp>

// This core's part of n elements, rounded up so that all are taken; of the last parts some may be empty.
static void part(size_t n, size_t* begin, size_t* end) {
  const size_t id = get_cpu_id();
  const size_t count = get_cpu_count();
  const size_t each = (n + count - 1) / count;
  *begin = id * each < n ? id * each : n;
  *end = *begin + each < n ? *begin + each : n;
}

torch::Tensor add_forward(const torch::Tensor& t_a, const torch::Tensor& t_b) {
  torch::Tensor t_out = get_dst_tensor();
  size_t begin, end;
  part(t_a.numel(), &begin, &end);

  static constexpr size_t block = 1024;
  float* a = (float*)torch::neuron::tcm_malloc(sizeof(float) * block);
  float* b = (float*)torch::neuron::tcm_malloc(sizeof(float) * block);
  if (a != nullptr && b != nullptr) {
    auto a_acc = t_a.tcm_accessor();
    auto b_acc = t_b.tcm_accessor();
    auto out_acc = t_out.tcm_accessor();
    for (size_t i = begin; i < end; i += block) {
      const size_t count = end - i < block ? end - i : block;
      a_acc.tensor_to_tcm<float>(a, i, count);
      b_acc.tensor_to_tcm<float>(b, i, count);
      for (size_t j = 0; j < count; j++) a[j] += b[j];
      out_acc.tcm_to_tensor<float>(a, i, count);
    }
  }
  torch::neuron::tcm_free(b);
  torch::neuron::tcm_free(a);
  return t_out;
}

// What is returned is ignored as soon as the destination was asked for.
torch::Tensor negate_forward(const torch::Tensor& t_in) {
  torch::Tensor t_out = get_dst_tensor();
  size_t begin, end;
  part(t_in.numel(), &begin, &end);
  float* buffer = (float*)torch::neuron::tcm_malloc(sizeof(float) * 64);
  auto in = t_in.tcm_accessor();
  auto out = t_out.tcm_accessor();
  for (size_t i = begin; i < end; i += 64) {
    const size_t count = end - i < 64 ? end - i : 64;
    in.tensor_to_tcm<float>(buffer, i, count);
    for (size_t j = 0; j < count; j++) buffer[j] *= -1.0f;
    out.tcm_to_tensor<float>(buffer, i, count);
  }
  torch::neuron::tcm_free(buffer);
  return torch::zeros({1}, torch::kFloat);
}

// Which core wrote what, and among how many.
torch::Tensor core_ids(const torch::Tensor& t_in) {
  torch::Tensor t_out = get_dst_tensor();
  size_t begin, end;
  part(t_in.numel(), &begin, &end);
  int32_t* pair = (int32_t*)torch::neuron::tcm_malloc(sizeof(int32_t) * 2);
  pair[0] = (int32_t)get_cpu_id();
  pair[1] = (int32_t)get_cpu_count();
  auto out = t_out.tcm_accessor();
  for (size_t i = begin; i < end; i++) out.tcm_to_tensor<int32_t>(pair, 2 * i, 2);
  torch::neuron::tcm_free(pair);
  if (get_cpu_id() == 0) printf("core 0 of %d wrote %d pairs\n", (int)get_cpu_count(), (int)(end - begin));
  return t_out;
}
