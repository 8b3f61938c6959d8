"""Packed half2 and bfloat16x2 arithmetic with a scalar tail (intrinsics only: torch builds without the operators), float4 loads through a union."""
CPP = r'''
torch::Tensor half_axpb_relu(const torch::Tensor& x, const torch::Tensor& y, double a, double b);
torch::Tensor half_row_dot(const torch::Tensor& x, const torch::Tensor& y);
torch::Tensor bf16_scale_add(const torch::Tensor& x, const torch::Tensor& y, double scale);
'''
CUDA = r'''
#include <torch/extension.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <ATen/cuda/CUDAContext.h>

union Pack8 {
  float4 f;
  __half2 h[4];
};

__device__ __half2 fused(__half2 x, __half2 y, __half2 a, __half2 b) {
  return __hmax2(__hfma2(a, x, __hadd2(y, b)), __float2half2_rn(0.f));
}

__global__ void half_kernel(const __half* __restrict__ x, const __half* __restrict__ y, __half* __restrict__ out, int n, float a, float b) {
  const __half2 a2 = __float2half2_rn(a), b2 = __halves2half2(__float2half(b), __float2half(b));
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (i + 8 <= n) {
    Pack8 px, py, po;
    px.f = *reinterpret_cast<const float4*>(x + i);
    py.f = *reinterpret_cast<const float4*>(y + i);
#pragma unroll
    for (int k = 0; k < 4; ++k) po.h[k] = fused(px.h[k], py.h[k], a2, b2);
    *reinterpret_cast<float4*>(out + i) = po.f;
  } else {
    for (int k = i; k < n; ++k) out[k] = __low2half(fused(__half2half2(x[k]), __half2half2(y[k]), a2, b2));
  }
}

__global__ void half_dot_kernel(const __half2* __restrict__ x, const __half2* __restrict__ y, float* __restrict__ out, int pairs) {
  const __half2* xr = x + (size_t)blockIdx.x * pairs;
  const __half2* yr = y + (size_t)blockIdx.x * pairs;
  float2 acc = make_float2(0.f, 0.f);
  for (int i = threadIdx.x; i < pairs; i += warpSize) {
    const float2 a = __half22float2(xr[i]), b = __half22float2(__ldg(yr + i));
    acc.x = fmaf(a.x, b.x, acc.x);
    acc.y = fmaf(a.y, b.y, acc.y);
  }
  float v = acc.x + acc.y;
  v += __shfl_down_sync(0xffffffffu, v, 16);
  v += __shfl_down_sync(0xffffffffu, v, 8);
  v += __shfl_down_sync(0xffffffffu, v, 4);
  v += __shfl_down_sync(0xffffffffu, v, 2);
  v += __shfl_down_sync(0xffffffffu, v, 1);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

__global__ void bf16_kernel(const __nv_bfloat162* x, const __nv_bfloat162* y, __nv_bfloat162* out, int pairs, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const float2 a = __bfloat1622float2(x[i]);
  const float lo = fmaf(a.x, scale, __low2float(y[i])), hi = fmaf(a.y, scale, __bfloat162float(__high2bfloat16(y[i])));
  out[i] = __floats2bfloat162_rn(lo, hi);
}

template <typename To>
static const To* as(const torch::Tensor& t, torch::ScalarType wanted) {
  TORCH_CHECK(t.scalar_type() == wanted, "expected ", wanted, ", got ", t.scalar_type());
  TORCH_CHECK(t.is_contiguous(), "expected a contiguous tensor");
  return static_cast<const To*>(t.data_ptr());
}

torch::Tensor half_axpb_relu(const torch::Tensor& x, const torch::Tensor& y, double a, double b) {
  TORCH_CHECK(x.numel() == y.numel(), "sizes differ");
  auto out = torch::empty_like(x);
  const int n = x.numel(), threads = 64, blocks = (n + threads * 8 - 1) / (threads * 8);
  if (n == 0) return out;
  half_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(as<__half>(x, at::kHalf), as<__half>(y, at::kHalf), reinterpret_cast<__half*>(out.data_ptr<at::Half>()), n, a, b);
  return out;
}

torch::Tensor half_row_dot(const torch::Tensor& x, const torch::Tensor& y) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) % 2 == 0, "rows must be of even length, got ", x.size(-1));
  auto out = torch::empty({x.size(0)}, x.options().dtype(torch::kFloat));
  half_dot_kernel<<<x.size(0), 32>>>(as<__half2>(x, torch::kFloat16), as<__half2>(y, torch::kFloat16), out.data_ptr<float>(), x.size(1) / 2);
  return out;
}

torch::Tensor bf16_scale_add(const torch::Tensor& x, const torch::Tensor& y, double scale) {
  const auto xb = x.to(torch::kBFloat16).contiguous(), yb = y.to(at::kBFloat16).contiguous();
  TORCH_CHECK(xb.numel() % 2 == 0 && xb.sizes() == yb.sizes(), "want two tensors of one shape with an even count");
  auto out = torch::empty_like(xb);
  const int pairs = xb.numel() / 2;
  bf16_kernel<<<(pairs + 127) / 128, 128>>>(as<__nv_bfloat162>(xb, torch::kBFloat16), as<__nv_bfloat162>(yb, torch::kBFloat16), reinterpret_cast<__nv_bfloat162*>(out.data_ptr<at::BFloat16>()), pairs, (float)scale);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out.to(torch::kFloat);
}
'''
FUNCTIONS = ["half_axpb_relu", "half_row_dot", "bf16_scale_add"]


def check(m, t):
    import numpy as np

    for n in (1003, 8, 5):
        x, y = (t.rng.standard_normal(n).astype(np.float16) for _ in range(2))
        out = m.half_axpb_relu(t(x), t(y), 1.5, 0.25)
        assert t.np(out).dtype == np.float16
        t.close(out, np.maximum(1.5 * x.astype(np.float64) + y + 0.25, 0), rtol=2e-3, atol=3e-3)  # two roundings to 11 bits
    x, y = (t.rng.standard_normal((13, 74)).astype(np.float16) for _ in range(2))
    t.close(m.half_row_dot(t(x), t(y)), (x.astype(np.float64) * y).sum(1), rtol=1e-5, atol=1e-5)

    def bf16(v):  # to nearest, ties to even
        bits = v.astype(np.float32).view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) & np.uint64(0xFFFF0000)).astype(np.uint32).view(np.float32)

    a, b = (t.rng.standard_normal((7, 38)).astype(np.float32) for _ in range(2))
    want = bf16(bf16(a).astype(np.float64) * 0.75 + bf16(b))  # exact before the last rounding but for the one to float
    t.close(m.bf16_scale_add(t(a), t(b), 0.75), want, rtol=1e-6)
    assert t.np(m.half_axpb_relu(t(x[:0].copy()), t(y[:0].copy()), 1.0, 0.0)).shape == (0, 74)
    with t.raises(RuntimeError, "expected Half, got Float"):
        m.half_axpb_relu(t(a), t(b), 1.0, 0.0)
    with t.raises(RuntimeError, "rows must be of even length, got 73"):
        m.half_row_dot(t(x[:, :73].copy()), t(y[:, :73].copy()))
