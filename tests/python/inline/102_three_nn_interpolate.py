"""three_nn and three_interpolate with PackedTensorAccessor32 for float and double, std::tuple return, CUDAGuard and launch checks."""
CPP = r'''
#include <tuple>
std::tuple<torch::Tensor, torch::Tensor> three_nn(const torch::Tensor& unknown, const torch::Tensor& known);
torch::Tensor three_interpolate(const torch::Tensor& feats, const torch::Tensor& idx, const torch::Tensor& weight);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAException.h>
#include <limits>
#include <tuple>

template <typename T, int N>
using Acc = torch::PackedTensorAccessor32<T, N, torch::RestrictPtrTraits>;

namespace {
constexpr int kThreads = 64;
inline int blocks_for(int64_t n) { return static_cast<int>((n + kThreads - 1) / kThreads); }

template <typename scalar_t>
__global__ void __launch_bounds__(kThreads) three_nn_kernel(const Acc<scalar_t, 3> unknown, const Acc<scalar_t, 3> known, Acc<scalar_t, 3> dist2, Acc<int64_t, 3> idx) {
  const int b = blockIdx.y;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= unknown.size(1)) return;
  const auto u = unknown[b][i];
  scalar_t best[3];
  int besti[3] = {0, 0, 0};
#pragma unroll
  for (int q = 0; q < 3; ++q) best[q] = std::numeric_limits<scalar_t>::infinity();

  for (int k = 0; k < known.size(1); ++k) {
    scalar_t d = 0;
    for (int a = 0; a < 3; ++a) {
      const scalar_t diff = u[a] - known[b][k][a];
      d += diff * diff;
    }
    if (d < best[0]) {
      best[2] = best[1]; besti[2] = besti[1];
      best[1] = best[0]; besti[1] = besti[0];
      best[0] = d;       besti[0] = k;
    } else if (d < best[1]) {
      best[2] = best[1]; besti[2] = besti[1];
      best[1] = d;       besti[1] = k;
    } else if (d < best[2]) {
      best[2] = d;       besti[2] = k;
    }
  }
  for (int q = 0; q < 3; ++q) {
    dist2[b][i][q] = best[q];
    idx[b][i][q] = besti[q];
  }
}

template <typename scalar_t>
__global__ void interpolate_kernel(const Acc<scalar_t, 3> feats, const Acc<int64_t, 3> idx, const Acc<scalar_t, 3> w, Acc<scalar_t, 3> out) {
  const int b = blockIdx.z, c = blockIdx.y;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < out.size(2); i += gridDim.x * blockDim.x)
    out[b][c][i] = w[b][i][0] * feats[b][c][idx[b][i][0]] + w[b][i][1] * feats[b][c][idx[b][i][1]] + w[b][i][2] * feats[b][c][idx[b][i][2]];
}
}  // namespace

std::tuple<torch::Tensor, torch::Tensor> three_nn(const torch::Tensor& unknown, const torch::Tensor& known) {
  TORCH_CHECK_VALUE(known.size(1) >= 3, "three_nn needs at least 3 known points, got ", known.size(1));
  const at::cuda::OptionalCUDAGuard device_guard(device_of(unknown));
  const auto B = unknown.size(0), n = unknown.size(1);
  auto dist2 = torch::empty({B, n, 3}, unknown.options());
  auto idx = torch::empty({B, n, 3}, unknown.options().dtype(torch::kLong));
  if (B * n == 0) return std::make_tuple(dist2, idx);
  AT_DISPATCH_FLOATING_TYPES(unknown.scalar_type(), "three_nn", ([&] {
    three_nn_kernel<scalar_t><<<dim3(blocks_for(n), B), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        unknown.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(), known.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
        dist2.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(), idx.packed_accessor32<int64_t, 3, torch::RestrictPtrTraits>());
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return std::make_tuple(dist2.sqrt(), idx);
}

torch::Tensor three_interpolate(const torch::Tensor& feats, const torch::Tensor& idx, const torch::Tensor& weight) {
  const at::cuda::OptionalCUDAGuard device_guard(device_of(feats));
  auto out = torch::empty({feats.size(0), feats.size(1), idx.size(1)}, feats.options());
  AT_DISPATCH_FLOATING_TYPES(feats.scalar_type(), "three_interpolate", ([&] {
    interpolate_kernel<scalar_t><<<dim3(1, feats.size(1), feats.size(0)), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        feats.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(), idx.packed_accessor32<int64_t, 3, torch::RestrictPtrTraits>(),
        weight.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(), out.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>());
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
'''
FUNCTIONS = ["three_nn", "three_interpolate"]


def check(m, t):
    import numpy as np

    for dtype, tol in ((np.float32, 1e-5), (np.float64, 1e-12)):
        u, k = t.rng.standard_normal((2, 75, 3)).astype(dtype), t.rng.standard_normal((2, 19, 3)).astype(dtype)
        d = np.sqrt(((u.astype(np.float64)[:, :, None] - k.astype(np.float64)[:, None]) ** 2).sum(-1))
        idx = np.argsort(d, axis=-1, kind="stable")[..., :3]
        near = np.take_along_axis(d, idx, -1)
        dist, i = m.three_nn(t(u), t(k))
        t.close(i, idx)
        t.close(dist, near, rtol=tol, atol=tol)
        w = 1 / (near + 1e-8)
        w = (w / w.sum(-1, keepdims=True)).astype(dtype)
        f = t.rng.standard_normal((2, 7, 19)).astype(dtype)
        want = np.stack([(f[b].astype(np.float64)[:, idx[b]] * w[b]).sum(-1) for b in range(2)])
        t.close(m.three_interpolate(t(f), i, t(w)), want, rtol=10 * tol, atol=tol)
    strided = t.rng.standard_normal((3, 11, 2)).transpose(2, 1, 0)  # accessors follow strides
    t.close(m.three_nn(t(strided), t(k))[1], np.argsort(((strided[:, :, None] - k[:, None]) ** 2).sum(-1), -1)[..., :3])
    assert t.np(m.three_nn(t(u[:, :0].copy()), t(k))[0]).shape == (2, 0, 3)
    with t.raises(ValueError, "at least 3 known points, got 2"):
        m.three_nn(t(u), t(k[:, :2].copy()))
