"""Fused residual add + RMSNorm for half and bfloat16 (AT_DISPATCH_REDUCED_FLOATING_TYPES), float accumulation, opmath style."""
CPP = r'''
std::vector<torch::Tensor> add_rmsnorm(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, double eps);
std::vector<torch::Tensor> add_rmsnorm_as(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, std::string dtype) {
  torch::ScalarType type;
  if (dtype == "bf16") type = torch::kBFloat16;
  else if (dtype == "fp16") type = torch::kFloat16;
  else throw std::invalid_argument("dtype must be bf16 or fp16");
  auto out = add_rmsnorm(x.to(type), residual.to(type), weight.to(type), 1e-6);
  for (auto& o : out) o = o.to(torch::kFloat32);
  return out;
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void add_rmsnorm_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ residual, const scalar_t* __restrict__ weight,
                                   scalar_t* __restrict__ y, scalar_t* __restrict__ sum, int hidden, float eps) {
  using opmath_t = at::opmath_type<scalar_t>;
  extern __shared__ float smem[];
  const int64_t base = (int64_t)blockIdx.x * hidden;
  opmath_t ss = 0;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    const scalar_t s = static_cast<scalar_t>(static_cast<opmath_t>(x[base + i]) + static_cast<opmath_t>(residual[base + i]));
    sum[base + i] = s;
    const opmath_t v = static_cast<opmath_t>(s);
    ss += v * v;
  }
  smem[threadIdx.x] = ss;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) smem[threadIdx.x] += smem[threadIdx.x + s];
    __syncthreads();
  }
  const opmath_t r = rsqrtf(smem[0] / hidden + eps);
  for (int i = threadIdx.x; i < hidden; i += blockDim.x)
    y[base + i] = static_cast<scalar_t>(static_cast<opmath_t>(sum[base + i]) * r * static_cast<opmath_t>(weight[i]));
}

std::vector<torch::Tensor> add_rmsnorm(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, double eps) {
  TORCH_CHECK(x.sizes() == residual.sizes(), "shape mismatch");
  const int hidden = x.size(-1), rows = x.numel() / hidden, threads = 64;
  auto y = torch::empty_like(x), sum = torch::empty_like(x);
  AT_DISPATCH_REDUCED_FLOATING_TYPES(x.scalar_type(), "add_rmsnorm", [&] {
    add_rmsnorm_kernel<scalar_t><<<rows, threads, threads * sizeof(float), at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), residual.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), sum.data_ptr<scalar_t>(),
        hidden, static_cast<float>(eps));
  });
  return {y, sum};
}
'''
FUNCTIONS = ["add_rmsnorm_as", "add_rmsnorm"]


def check(m, t):
    import numpy as np

    x, r = (t.rng.standard_normal((3, 7, 75)).astype(np.float32) for _ in range(2))
    w = t.rng.standard_normal(75).astype(np.float32)
    s = x.astype(np.float64) + r
    want = s / np.sqrt((s * s).mean(-1, keepdims=True) + 1e-6) * w
    for dtype, tol in (("fp16", 4e-3), ("bf16", 4e-2)):  # several roundings to 11 or 8 bits
        y, total = m.add_rmsnorm_as(t(x), t(r), t(w), dtype)
        t.close(total, s, rtol=tol, atol=tol)
        t.close(y, want, rtol=tol, atol=tol)
    with t.raises(RuntimeError, "dtype must be bf16 or fp16"):  # functions=: torch turns every std::exception into RuntimeError
        m.add_rmsnorm_as(t(x), t(r), t(w), "fp8")
    with t.raises(RuntimeError, "not implemented for 'Float'"):
        m.add_rmsnorm(t(x), t(r), t(w), 1e-6)
