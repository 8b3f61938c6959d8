// Fifteen operators in one library and five in another. On Neuron itself a model has one library of at most ten functions, and a
// function returns one tensor and takes no vectors: this folder goes beyond that.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <torch/torch.h>

#include <tuple>
#include <vector>

// shape.cpp has a function of the same name and type that does something else: the two are compiled apart.
static int64_t extent(const torch::Tensor& t, int dim) { return t.sizes()[dim]; }

torch::Tensor negate(const torch::Tensor& t_in) {
  const size_t count = t_in.numel();
  torch::Tensor t_out = torch::zeros({(int64_t)count}, torch::kFloat);
  auto in = t_in.accessor<float, 1>();
  auto out = t_out.accessor<float, 1>();
  for (size_t i = 0; i < count; i++) out[i] = -1 * in[i];
  return t_out;
}

torch::Tensor magnitude(const torch::Tensor& t_in) {
  torch::Tensor t = t_in;
  return torch::abs(t);
}

torch::Tensor soft(const torch::Tensor& t_in) {
  torch::Tensor t = t_in;
  torch::Tensor t_exp = torch::exp(t);
  torch::Tensor t_one = torch::add(t_exp, 1.0);
  return torch::log(t_one);
}

torch::Tensor scale(const torch::Tensor& t_in, double factor) { return torch::mul(t_in, factor); }

torch::Tensor shift(const torch::Tensor& t_in, int64_t by) {
  const int64_t count = extent(t_in, 0);
  torch::Tensor t_out = torch::empty({count}, torch::kInt);
  auto in = t_in.accessor<int32_t, 1>();
  auto out = t_out.accessor<int32_t, 1>();
  for (int64_t i = 0; i < count; i++) out[(i + by % count + count) % count] = in[i];
  return t_out;
}

torch::Tensor limit(const torch::Tensor& t_in, const torch::Scalar& low, const torch::Scalar& high) {
  return torch::clamp(t_in, low, high);
}

torch::Tensor weighted_sum(const torch::Tensor& t_a, const torch::Tensor& t_b, double alpha) {
  return torch::add(t_a, t_b, alpha);
}

torch::Tensor ratio(const torch::Tensor& t_a, const torch::Tensor& t_b) {
  torch::Tensor t_out = torch::ones(t_a.sizes(), torch::kFloat);
  torch::Tensor t_difference = torch::sub(t_a, t_b, 2.0);
  torch::div_out(t_out, t_difference, t_b);
  return t_out;
}

torch::Tensor power_of(double base, const torch::Tensor& t_in) { return torch::pow(torch::Scalar(base), t_in); }

torch::Tensor circle(const torch::Tensor& t_in) {
  torch::Tensor t = t_in;
  torch::Tensor t_sin = torch::empty(t_in.sizes(), torch::kFloat);
  torch::Tensor t_cos = torch::empty(t_in.sizes(), torch::kFloat);
  torch::sin_out(t_sin, t);
  torch::cos_out(t_cos, t);
  return torch::add(torch::mul(t_sin, t_sin), torch::mul(t_cos, t_cos));
}

torch::Tensor bit_mix(const torch::Tensor& t_a, const torch::Tensor& t_b) {
  torch::Tensor t_both = torch::bitwise_and(t_a, t_b);
  torch::Tensor t_any = torch::bitwise_or(t_a, t_b);
  torch::Tensor t_not = torch::empty(t_a.sizes(), torch::kInt);
  torch::bitwise_not_out(t_not, t_both);
  return torch::bitwise_and(t_any, t_not);
}

torch::Tensor unit_like(const torch::Tensor& t_in) { return torch::eye(extent(t_in, 0), extent(t_in, 1), torch::kFloat); }

torch::Tensor row_sums(const torch::Tensor& t_in) {
  const int64_t rows = extent(t_in, 0), cols = extent(t_in, 1);
  torch::Tensor t_out = torch::full({rows}, 0.0, torch::kFloat);
  auto in = t_in.accessor<float, 2>();
  auto out = t_out.accessor<float, 1>();
  for (int64_t i = 0; i < rows; i++) {
    float sum = 0.0f;
    for (int64_t j = 0; j < cols; j++) sum += in[i][j];
    out[i] = sum;
  }
  return t_out;
}

torch::Tensor matmul(const torch::Tensor& t_a, const torch::Tensor& t_b) {
  const int64_t m = extent(t_a, 0), k = extent(t_a, 1), n = extent(t_b, 1);
  torch::Tensor t_out = torch::zeros({m, n}, torch::kFloat);
  auto a = t_a.accessor<float, 2>();
  auto b = t_b.accessor<float, 2>();
  auto out = t_out.accessor<float, 2>();
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t l = 0; l < k; l++) out[i][j] += a[i][l] * b[l][j];
  return t_out;
}

// The shape function has this very name.
torch::Tensor transpose(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::empty({extent(t_in, 1), extent(t_in, 0)}, torch::kFloat);
  auto in = t_in.accessor<float, 2>();
  auto out = t_out.accessor<float, 2>();
  for (int64_t i = 0; i < extent(t_in, 0); i++)
    for (int64_t j = 0; j < extent(t_in, 1); j++) out[j][i] = in[i][j];
  return t_out;
}

// The second library: more than one tensor, and lines of text.

std::vector<torch::Tensor> halves(const torch::Tensor& t_in) {
  const int64_t count = extent(t_in, 0), middle = count / 2;
  torch::Tensor t_low = torch::zeros({middle}, torch::kFloat);
  torch::Tensor t_high = torch::zeros({count - middle}, torch::kFloat);
  auto in = t_in.accessor<float, 1>();
  auto low = t_low.accessor<float, 1>();
  auto high = t_high.accessor<float, 1>();
  for (int64_t i = 0; i < count; i++) {
    if (i < middle) low[i] = in[i];
    else high[i - middle] = in[i];
  }
  return {t_low, t_high};
}

std::tuple<torch::Tensor, torch::Tensor> mean_and_var(const torch::Tensor& t_in) {
  const int64_t rows = extent(t_in, 0), cols = extent(t_in, 1);
  torch::Tensor t_mean = torch::zeros({rows}, torch::kFloat);
  torch::Tensor t_var = torch::zeros({rows, 1}, torch::kFloat);
  auto in = t_in.accessor<float, 2>();
  auto mean = t_mean.accessor<float, 1>();
  auto var = t_var.accessor<float, 2>();
  for (int64_t i = 0; i < rows; i++) {
    float sum = 0.0f, squares = 0.0f;
    for (int64_t j = 0; j < cols; j++) sum += in[i][j];
    mean[i] = sum / cols;
    for (int64_t j = 0; j < cols; j++) {
      const float d = in[i][j] - mean[i];
      squares += d * d;
    }
    var[i][0] = squares / cols;
  }
  return std::make_tuple(t_mean, t_var);
}

torch::Tensor stack_sum(const std::vector<torch::Tensor>& parts) {
  torch::Tensor t_out = torch::zeros(parts[0].sizes(), torch::kFloat);
  auto out = t_out.accessor<float, 1>();
  for (const torch::Tensor& part : parts) {
    auto in = part.accessor<float, 1>();
    for (int64_t i = 0; i < part.numel(); i++) out[i] += in[i];
  }
  return t_out;
}

torch::Tensor loud_negate(const torch::Tensor& t_in) {
  const int count = t_in.numel();
  torch::Tensor t_out = torch::zeros({count}, torch::kFloat);
  auto in = t_in.accessor<float, 1>();
  auto out = t_out.accessor<float, 1>();
  for (int i = 0; i < count; i++) {
    const float value = -1 * in[i];
    printf("element %d is %f now\n", i, value);
    out[i] = value;
  }
  return t_out;
}
