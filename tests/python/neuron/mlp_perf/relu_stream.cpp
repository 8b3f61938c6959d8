// The rectifier through streams: elements come and go in their order.
#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>

static float rectify(float x) { return x > 0.0f ? x : 0.0f; }

torch::Tensor relu_stream(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::empty(t_in.sizes(), torch::kFloat);
  auto reader = t_in.read_stream_accessor<float>();
  auto writer = t_out.write_stream_accessor<float>();
  const int64_t total = t_in.numel();
  for (int64_t i = 0; i < total; i++) writer.write(rectify(reader.read()));
  // What was written is written back where the streams go out of scope.
  return t_out;
}

torch::Tensor relu_grad_stream(const torch::Tensor& t_grad, const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::empty(t_in.sizes(), torch::kFloat);
  auto grad = t_grad.read_stream_accessor<float>();
  auto in = t_in.read_stream_accessor<float>();
  auto out = t_out.write_stream_accessor<float>();
  for (int64_t i = 0; i < t_in.numel(); i++) {
    const auto g = grad.read();
    out.write(in.read() > 0.0f ? g : 0.0f);
  }
  grad.close();
  in.close();
  out.close();
  return t_out;
}

// Two passes: the first writes and closes, the second reads what is there now.
torch::Tensor running_mean_stream(const torch::Tensor& t_in) {
  const int64_t total = t_in.numel();
  torch::Tensor t_sums = torch::empty(t_in.sizes(), torch::kFloat);
  torch::Tensor t_out = torch::empty(t_in.sizes(), torch::kFloat);
  {
    auto in = t_in.read_stream_accessor<float>();
    auto sums = t_sums.write_stream_accessor<float>();
    float sum = 0.0f;
    for (int64_t i = 0; i < total; i++) {
      sum += in.read();
      sums.write(sum);
    }
    sums.close();
  }
  auto sums = t_sums.read_stream_accessor<float>();
  auto out = t_out.write_stream_accessor<float>();
  for (int64_t i = 0; i < total; i++) out.write(sums.read() / static_cast<float>(i + 1));
  return t_out;
}

// A reader and a writer of one tensor at once: an error as long as the tensor's policy is COHERENT, which it is by default.
torch::Tensor stream_conflict(const torch::Tensor& t_in, double quiet) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  if (quiet != 0.0) t_out.set_accessor_coherence_policy(torch::CoherencyEnforcer::Policy::INCOHERENT_QUIET);
  auto in = t_in.read_stream_accessor<float>();
  auto writer = t_out.write_stream_accessor<float>();
  auto reader = t_out.read_stream_accessor<float>();
  for (int64_t i = 0; i < t_in.numel(); i++) {
    const float before = reader.read();
    writer.write(in.read() + before);
  }
  return t_out;
}

// Reads on where there is nothing more.
torch::Tensor stream_overrun(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  auto in = t_in.read_stream_accessor<float>();
  float sum = 0.0f;
  for (int64_t i = 0; i < t_in.numel() + 1; i++) sum += in.read();
  t_out.fill_(sum);
  return t_out;
}
