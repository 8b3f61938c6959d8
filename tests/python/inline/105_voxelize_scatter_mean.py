"""Voxelisation of a point cloud: integer voxel keys, unique by at::ops, a scatter-mean with atomics, max points kept by an atomic counter."""
CPP = r'''
#include <array>
std::vector<at::Tensor> voxelize_mean(const at::Tensor& points, std::array<double, 3> voxel, std::array<double, 3> lower, std::array<int64_t, 3> grid);
at::Tensor occupancy(const at::Tensor& points, std::array<double, 3> voxel, std::array<double, 3> lower, std::array<int64_t, 3> grid, int max_points);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/detail/KernelUtils.h>
#include <array>
#include <vector>

template <typename T>
struct Box {
  T vx, vy, vz, x0, y0, z0;
  int nx, ny, nz;
  // -1 for a point outside
  __device__ int key(const T* p) const {
    const int ix = floor((p[0] - x0) / vx), iy = floor((p[1] - y0) / vy), iz = floor((p[2] - z0) / vz);
    if (ix < 0 || ix >= nx || iy < 0 || iy >= ny || iz < 0 || iz >= nz) return -1;
    return (iz * ny + iy) * nx + ix;
  }
};

template <typename T>
Box<T> make_box(const std::array<double, 3>& v, const std::array<double, 3>& lo, const std::array<int64_t, 3>& g) {
  return {T(v[0]), T(v[1]), T(v[2]), T(lo[0]), T(lo[1]), T(lo[2]), (int)g[0], (int)g[1], (int)g[2]};
}

template <typename T>
__global__ void keys_kernel(const T* __restrict__ points, int n, int width, Box<T> box, int64_t* __restrict__ keys) {
  CUDA_KERNEL_LOOP(i, n) { keys[i] = box.key(points + i * width); }
}

template <typename T>
__global__ void scatter_kernel(const T* __restrict__ points, const int64_t* __restrict__ voxel_of, int n, int width, T* sums, int* counts) {
  const int i = blockIdx.x * blockDim.y + threadIdx.y;
  if (i >= n) return;
  const int64_t v = voxel_of[i];
  for (int c = threadIdx.x; c < width; c += blockDim.x) atomicAdd(&sums[v * width + c], points[i * width + c]);
  if (threadIdx.x == 0) atomicAdd(&counts[v], 1);
}

template <typename T>
__global__ void occupancy_kernel(const T* points, int n, int width, Box<T> box, int max_points, int* used) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int k = box.key(points + i * width);
  if (k < 0) return;
  int seen = used[k], assumed;
  do {  // never beyond max_points
    assumed = seen;
    if (assumed >= max_points) break;
    seen = atomicCAS(&used[k], assumed, assumed + 1);
  } while (seen != assumed);
}

std::vector<at::Tensor> voxelize_mean(const at::Tensor& points_, std::array<double, 3> voxel, std::array<double, 3> lower, std::array<int64_t, 3> grid) {
  TORCH_CHECK(points_.dim() == 2 && points_.size(1) >= 3, "points must be (N, 3 + C)");
  const auto all = points_.contiguous();
  const int n = all.size(0), width = all.size(1);
  auto keys = at::empty({n}, all.options().dtype(at::kLong));
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES(all.scalar_type(), "voxel_keys", [&] {
    if (n) keys_kernel<scalar_t><<<(n + 127) / 128, 128, 0, stream>>>(all.data_ptr<scalar_t>(), n, width, make_box<scalar_t>(voxel, lower, grid), keys.data_ptr<int64_t>());
  });
  const auto inside = keys >= 0;
  const auto points = all.index({inside}).contiguous();
  at::Tensor unique, inverse, unused;
  std::tie(unique, inverse, unused) = at::_unique2(keys.masked_select(inside), /*sorted=*/true, /*return_inverse=*/true, /*return_counts=*/false);
  const int64_t voxels = unique.numel();
  auto sums = at::zeros({voxels, width}, points.options());
  auto counts = at::zeros({voxels}, points.options().dtype(at::kInt));
  const int kept = points.size(0);
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "voxel_scatter", [&] {
    if (kept) scatter_kernel<scalar_t><<<(kept + 15) / 16, dim3(4, 16), 0, stream>>>(points.data_ptr<scalar_t>(), inverse.contiguous().data_ptr<int64_t>(), kept, width, sums.data_ptr<scalar_t>(), counts.data_ptr<int>());
  });
  return {sums / counts.unsqueeze(1), unique, counts};
}

at::Tensor occupancy(const at::Tensor& points, std::array<double, 3> voxel, std::array<double, 3> lower, std::array<int64_t, 3> grid, int max_points) {
  auto used = at::zeros({grid[2], grid[1], grid[0]}, points.options().dtype(at::kInt));
  const int n = points.size(0);
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "occupancy", [&] {
    occupancy_kernel<scalar_t><<<(n + 255) / 256, 256>>>(points.data_ptr<scalar_t>(), n, points.size(1), make_box<scalar_t>(voxel, lower, grid), max_points, used.data_ptr<int>());
  });
  return used;
}
'''
FUNCTIONS = ["voxelize_mean", "occupancy"]


def check(m, t):
    import numpy as np

    voxel, lower, grid = [0.5, 0.25, 1.0], [-1.0, -1.0, -1.0], [4, 8, 2]
    for dtype, tol in ((np.float32, 1e-5), (np.float64, 1e-12)):
        p = t.rng.uniform(-1.2, 1.2, (503, 5)).astype(dtype)
        ijk = np.floor((p[:, :3] - np.array(lower, dtype)) / np.array(voxel, dtype)).astype(int)  # powers of two: exact but for the subtraction
        inside = ((ijk >= 0) & (ijk < grid)).all(1)
        key = ((ijk[:, 2] * 8 + ijk[:, 1]) * 4 + ijk[:, 0])[inside]
        unique, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        sums = np.zeros((len(unique), 5))
        np.add.at(sums, inverse, p[inside].astype(np.float64))
        mean, keys, n = m.voxelize_mean(t(p), voxel, lower, grid)
        t.close(keys, unique)
        t.close(n, counts)
        t.close(mean, sums / counts[:, None], rtol=10 * tol, atol=tol)
        dense = np.zeros(64, int)
        dense[unique] = np.minimum(counts, 6)
        t.close(m.occupancy(t(p), voxel, lower, grid, 6), dense.reshape(2, 8, 4))
    outside = t(np.full((3, 4), 9, np.float32))
    assert [t.np(y).shape for y in m.voxelize_mean(outside, voxel, lower, grid)] == [(0, 4), (0,), (0,)]
    with t.raises(RuntimeError, "points must be (N, 3 + C)"):
        m.voxelize_mean(t(p[:, :2]), voxel, lower, grid)
