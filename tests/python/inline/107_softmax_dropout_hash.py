"""Fused masked softmax and dropout with a counter-based integer hash for the randomness; warp per row, functors for the reductions."""
CPP = r'''
std::tuple<at::Tensor, at::Tensor> softmax_dropout(const at::Tensor& scores, const std::optional<at::Tensor>& mask, double p, int64_t seed);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <optional>

#define FULL_MASK 0xffffffffu

struct MaxOp { __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct AddOp { __device__ __forceinline__ float operator()(float a, float b) const { return a + b; } };

template <class Op>
__device__ __forceinline__ float warp_all_reduce(float v, Op op) {
#pragma unroll
  for (int lane = 16; lane >= 1; lane /= 2) v = op(v, __shfl_xor_sync(FULL_MASK, v, lane));
  return v;
}

// a 32-bit finaliser: multiply and shift
__host__ __device__ inline uint32_t mix(uint32_t h) {
  h ^= h >> 16; h *= 0x7feb352dU;
  h ^= h >> 15; h *= 0x846ca68bU;
  return h ^ (h >> 16);
}

template <bool HasMask, bool Drop>
__global__ void softmax_dropout_kernel(const float* __restrict__ in, const bool* __restrict__ mask, float* __restrict__ out, uint8_t* __restrict__ kept,
                                       int rows, int cols, uint32_t threshold, float rescale, uint32_t seed) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* x = in + (int64_t)row * cols;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 32)
    if (!HasMask || mask[(int64_t)row * cols + c]) m = fmaxf(m, x[c]);
  m = warp_all_reduce(m, MaxOp());
  float s = 0.f;
  for (int c = threadIdx.x; c < cols; c += 32)
    if (!HasMask || mask[(int64_t)row * cols + c]) s += expf(x[c] - m);
  s = warp_all_reduce(s, AddOp{});
  for (int c = threadIdx.x; c < cols; c += 32) {
    const int64_t i = (int64_t)row * cols + c;
    float y = (!HasMask || mask[i]) ? __fdividef(expf(x[c] - m), s) : 0.f;
    bool keep = true;
    if (Drop) {
      keep = mix(static_cast<uint32_t>(i) ^ seed) >= threshold;
      y = keep ? y * rescale : 0.f;
    }
    out[i] = y;
    kept[i] = keep;
  }
}

std::tuple<at::Tensor, at::Tensor> softmax_dropout(const at::Tensor& scores, const std::optional<at::Tensor>& mask, double p, int64_t seed) {
  TORCH_CHECK(p >= 0 && p < 1, "dropout probability has to be in [0, 1), but got ", p);
  TORCH_CHECK(scores.scalar_type() == at::kFloat, "expected Float but found ", scores.scalar_type());
  if (mask.has_value()) {
    TORCH_CHECK(mask->scalar_type() == at::kBool, "the mask must be bool");
    TORCH_CHECK(mask->sizes().equals(scores.sizes()), "mask ", mask->sizes(), " does not match scores ", scores.sizes());
  }
  const c10::cuda::CUDAGuard guard(scores.device());
  const auto x = scores.contiguous();
  const int cols = x.size(-1), rows = x.numel() / std::max(cols, 1);
  auto out = at::empty_like(x);
  auto kept = at::empty(x.sizes(), x.options().dtype(at::kByte));
  if (x.numel() == 0) return {out, kept};
  const dim3 block(32, 4);
  const int grid = (rows + block.y - 1) / block.y;
  const auto threshold = static_cast<uint32_t>(p * 4294967296.0);
  const float rescale = 1.0 / (1.0 - p);
  const bool* mp = mask ? mask->contiguous().const_data_ptr<bool>() : nullptr;
  auto launch = [&](auto kernel) {
    kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), mp, out.data_ptr<float>(), kept.data_ptr<uint8_t>(), rows, cols, threshold, rescale, (uint32_t)seed);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  };
  if (mp && p > 0) launch(softmax_dropout_kernel<true, true>);
  else if (mp) launch(softmax_dropout_kernel<true, false>);
  else if (p > 0) launch(softmax_dropout_kernel<false, true>);
  else launch(softmax_dropout_kernel<false, false>);
  return {out, kept};
}
'''
FUNCTIONS = ["softmax_dropout"]


def check(m, t):
    import numpy as np

    def mix(h):
        h = h.astype(np.uint32)
        h ^= h >> np.uint32(16)
        h = h * np.uint32(0x7FEB352D)
        h ^= h >> np.uint32(15)
        h = h * np.uint32(0x846CA68B)
        return h ^ (h >> np.uint32(16))

    for shape in ((2, 7, 45), (5, 3), (1, 129)):
        x = t.rng.standard_normal(shape).astype(np.float32)
        allowed = t.rng.random(shape) > 0.3
        allowed[..., 0] = True
        for mask in (None, allowed):
            for p in (0.0, 0.25):
                e = np.exp(x.astype(np.float64)) * (1 if mask is None else mask)
                soft = e / e.sum(-1, keepdims=True)
                keep = mix(np.arange(x.size).reshape(shape) ^ 12345) >= np.uint32(p * 2**32)
                y, kept = m.softmax_dropout(t(x), None if mask is None else t(mask), p, 12345)
                t.close(kept, keep.astype(np.uint8))
                t.close(y, soft * keep / (1 - p), rtol=1e-5, atol=1e-6)
    assert t.np(m.softmax_dropout(t(np.zeros((0, 5), np.float32)), None, 0.5, 1)[0]).shape == (0, 5)
    with t.raises(RuntimeError, "has to be in [0, 1), but got 1"):
        m.softmax_dropout(t(x), None, 1.0, 0)
    with t.raises(RuntimeError, "mask [1, 5] does not match scores [1, 129]"):
        m.softmax_dropout(t(x), t(np.ones((1, 5), bool)), 0.0, 0)
    with t.raises(RuntimeError, "expected Float but found Double"):
        m.softmax_dropout(t(x.astype(np.float64)), None, 0.0, 0)
