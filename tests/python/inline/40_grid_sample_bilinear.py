"""Bilinear sampling of NCHW images at normalised points (align_corners option), paper-repository style with Tensor accessors on device."""
CPP = "at::Tensor bilinear_points(at::Tensor image, at::Tensor points, bool align_corners);"
CUDA = r'''
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>

#define KERNEL_LOOP(i, n) \
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n; i += blockDim.x * static_cast<int64_t>(gridDim.x))

enum class Align { Corners, Centers };

template <typename T, Align A>
__device__ __forceinline__ T unnormalize(T v, int size) {
  if (A == Align::Corners) return (v + 1) / 2 * (size - 1);
  return ((v + 1) * size - 1) / 2;
}

template <typename T>
__device__ T pixel(const at::TensorAccessor<T, 2, at::DefaultPtrTraits, int>& plane, int y, int x) {
  return y >= 0 && y < plane.size(0) && x >= 0 && x < plane.size(1) ? plane[y][x] : T(0);
}

template <typename T, Align A>
__global__ void sample_kernel(const int64_t n, const at::PackedTensorAccessor32<T, 4> image, const at::PackedTensorAccessor32<T, 3> points,
                              at::PackedTensorAccessor32<T, 3> out) {
  const int C = image.size(1), P = points.size(1);
  KERNEL_LOOP(i, n) {
    const int p = i % P, c = i / P % C, b = i / (static_cast<int64_t>(P) * C);
    const T x = unnormalize<T, A>(points[b][p][0], image.size(3));
    const T y = unnormalize<T, A>(points[b][p][1], image.size(2));
    const int x0 = static_cast<int>(floor(x)), y0 = static_cast<int>(floor(y));
    const T fx = x - x0, fy = y - y0;
    const auto plane = image[b][c];
    out[b][c][p] = pixel<T>(plane, y0, x0) * (1 - fx) * (1 - fy) + pixel<T>(plane, y0, x0 + 1) * fx * (1 - fy) +
                   pixel<T>(plane, y0 + 1, x0) * (1 - fx) * fy + pixel<T>(plane, y0 + 1, x0 + 1) * fx * fy;
  }
}

at::Tensor bilinear_points(at::Tensor image, at::Tensor points, bool align_corners) {
  TORCH_CHECK(points.size(2) == 2, "points must be (N, P, 2)");
  auto out = at::empty({image.size(0), image.size(1), points.size(1)}, image.options());
  const int64_t n = out.numel();
  if (n == 0) return out;
  const int blocks = std::min<int64_t>((n + 63) / 64, 65535);
  AT_DISPATCH_FLOATING_TYPES(image.scalar_type(), "bilinear_points", [&] {
    const auto im = image.packed_accessor32<scalar_t, 4>();
    const auto pts = points.packed_accessor32<scalar_t, 3>();
    auto result = out.packed_accessor32<scalar_t, 3>();
    if (align_corners)
      sample_kernel<scalar_t, Align::Corners><<<blocks, 64, 0, at::cuda::getCurrentCUDAStream()>>>(n, im, pts, result);
    else
      sample_kernel<scalar_t, Align::Centers><<<blocks, 64, 0, at::cuda::getCurrentCUDAStream()>>>(n, im, pts, result);
  });
  C10_CUDA_CHECK(cudaGetLastError());
  return out;
}
'''
FUNCTIONS = ["bilinear_points"]


def check(m, t):
    import numpy as np

    image = t.rng.standard_normal((2, 3, 7, 11))
    pts = t.rng.uniform(-1.2, 1.2, (2, 37, 2))
    for align in (True, False):
        size = np.array([11, 7])
        xy = (pts + 1) / 2 * (size - 1) if align else ((pts + 1) * size - 1) / 2
        base = np.floor(xy).astype(int)
        frac = xy - base
        want = np.zeros((2, 3, 37))
        for b in range(2):
            for p in range(37):
                for dx in (0, 1):
                    for dy in (0, 1):
                        x, y = base[b, p, 0] + dx, base[b, p, 1] + dy
                        if 0 <= x < 11 and 0 <= y < 7:
                            wx = frac[b, p, 0] if dx else 1 - frac[b, p, 0]
                            wy = frac[b, p, 1] if dy else 1 - frac[b, p, 1]
                            want[b, :, p] += image[b, :, y, x] * wx * wy
        t.close(m.bilinear_points(t(image), t(pts), align), want, rtol=1e-11, atol=1e-12)
        t.close(m.bilinear_points(t(image.astype(np.float32)), t(pts.astype(np.float32)), align), want, rtol=1e-3, atol=1e-4)
        flipped = image.transpose(0, 1, 3, 2).astype(np.float32)
        got = m.bilinear_points(t(flipped), t(pts[..., ::-1].astype(np.float32).copy()), align)
        t.close(got, want, rtol=1e-3, atol=1e-4)
    assert t.np(m.bilinear_points(t(image), t(pts[:, :0].copy()), True)).shape == (2, 3, 0)
    with t.raises(RuntimeError, "points must be (N, P, 2)"):
        m.bilinear_points(t(image), t(np.zeros((2, 5, 3))), True)
