"""Ball query and grouping for point clouds: a raw-pointer launcher apart from the tensor wrapper, fprintf-and-exit error check, backward."""
CPP = r'''
#include <torch/extension.h>
at::Tensor ball_query(at::Tensor new_xyz, at::Tensor xyz, float radius, int nsample);
at::Tensor group_points(at::Tensor features, at::Tensor idx);
at::Tensor group_points_grad(at::Tensor grad_out, at::Tensor idx, int n);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("ball_query", &ball_query, "ball query", py::arg("new_xyz"), py::arg("xyz"), py::arg("radius") = 0.5f, py::arg("nsample") = 8);
  m.def("group_points", &group_points);
  m.def("group_points_grad", &group_points_grad);
}
'''
CUDA = r'''
#include <cstdio>
#include <cstdlib>
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>

#define CUDA_CHECK_ERRORS()                                                                           \
  {                                                                                                   \
    cudaError_t err = cudaGetLastError();                                                             \
    if (cudaSuccess != err) {                                                                         \
      fprintf(stderr, "CUDA kernel failed : %s at L:%d in %s\n", cudaGetErrorString(err), __LINE__, __FILE__); \
      exit(-1);                                                                                       \
    }                                                                                                 \
  }

__global__ void query_ball_point_kernel(int b, int n, int m, float radius, int nsample, const float *__restrict__ new_xyz,
                                        const float *__restrict__ xyz, int *__restrict__ idx) {
  const int batch_index = blockIdx.x;
  xyz += batch_index * n * 3;
  new_xyz += batch_index * m * 3;
  idx += m * nsample * batch_index;

  const float radius2 = radius * radius;
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    const float new_x = new_xyz[j * 3 + 0], new_y = new_xyz[j * 3 + 1], new_z = new_xyz[j * 3 + 2];
    for (int k = 0, cnt = 0; k < n && cnt < nsample; ++k) {
      const float dx = new_x - xyz[k * 3 + 0], dy = new_y - xyz[k * 3 + 1], dz = new_z - xyz[k * 3 + 2];
      if (dx * dx + dy * dy + dz * dz < radius2) {
        if (cnt == 0)
          for (int l = 0; l < nsample; ++l) idx[j * nsample + l] = k;   // pad with the first one
        idx[j * nsample + cnt] = k;
        ++cnt;
      }
    }
  }
}

__global__ void group_kernel(int c, int n, int npoints, int nsample, const float *__restrict__ points, const int *__restrict__ idx, float *__restrict__ out) {
  points += blockIdx.x * n * c;
  idx += blockIdx.x * npoints * nsample;
  out += blockIdx.x * npoints * nsample * c;
  const int index = threadIdx.y * blockDim.x + threadIdx.x, stride = blockDim.y * blockDim.x;
  for (int i = index; i < c * npoints; i += stride) {
    const int l = i / npoints, j = i % npoints;
    for (int k = 0; k < nsample; ++k) out[(l * npoints + j) * nsample + k] = points[l * n + idx[j * nsample + k]];
  }
}

__global__ void group_grad_kernel(int c, int n, int npoints, int nsample, const float *grad_out, const int *idx, float *grad_points) {
  const int bs = blockIdx.z, cs = blockIdx.y, pt = blockIdx.x * blockDim.x + threadIdx.x;
  if (cs >= c || pt >= npoints * nsample) return;
  atomicAdd(grad_points + (bs * c + cs) * n + idx[bs * npoints * nsample + pt], grad_out[(bs * c + cs) * npoints * nsample + pt]);
}

at::Tensor ball_query(at::Tensor new_xyz, at::Tensor xyz, float radius, int nsample) {
  TORCH_CHECK(new_xyz.is_contiguous() && xyz.is_contiguous(), "ball_query wants contiguous tensors");
  at::Tensor idx = torch::zeros({new_xyz.size(0), new_xyz.size(1), nsample}, at::device(new_xyz.device()).dtype(at::ScalarType::Int));
  query_ball_point_kernel<<<xyz.size(0), 64, 0, at::cuda::getCurrentCUDAStream()>>>(
      xyz.size(0), xyz.size(1), new_xyz.size(1), radius, nsample, new_xyz.data_ptr<float>(), xyz.data_ptr<float>(), idx.data_ptr<int>());
  CUDA_CHECK_ERRORS();
  return idx;
}

at::Tensor group_points(at::Tensor features, at::Tensor idx) {
  const int b = features.size(0), c = features.size(1), n = features.size(2);
  auto out = torch::zeros({b, c, idx.size(1), idx.size(2)}, features.options());
  group_kernel<<<b, dim3(32, 2)>>>(c, n, idx.size(1), idx.size(2), features.data_ptr<float>(), idx.data_ptr<int>(), out.data_ptr<float>());
  CUDA_CHECK_ERRORS();
  return out;
}

at::Tensor group_points_grad(at::Tensor grad_out, at::Tensor idx, int n) {
  const int b = grad_out.size(0), c = grad_out.size(1), np = grad_out.size(2), ns = grad_out.size(3);
  auto grad = torch::zeros({b, c, n}, grad_out.options());
  dim3 blocks((np * ns + 127) / 128, c, b), threads(128);
  group_grad_kernel<<<blocks, threads>>>(c, n, np, ns, grad_out.data_ptr<float>(), idx.data_ptr<int>(), grad.data_ptr<float>());
  CUDA_CHECK_ERRORS();
  return grad;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    xyz = (t.rng.integers(-8, 9, (2, 101, 3)) / 8).astype(np.float32)  # eighths: the distances are exact, so are the comparisons
    centres = (t.rng.integers(-8, 9, (2, 13, 3)) / 8).astype(np.float32)
    for radius, k in ((0.5, 8), (0.75, 3), (0.125, 4)):
        want = np.zeros((2, 13, k), np.int32)
        for b in range(2):
            for j in range(13):
                hits = np.flatnonzero(((centres[b, j].astype(np.float64) - xyz[b]) ** 2).sum(1) < radius**2)[:k]
                if len(hits):
                    want[b, j] = hits[0]
                    want[b, j, : len(hits)] = hits
        t.close(m.ball_query(t(centres), t(xyz), radius, k), want)
    t.close(m.ball_query(t(centres), xyz=t(xyz), nsample=4, radius=0.125), want)
    f = t.rng.standard_normal((2, 5, 101)).astype(np.float32)
    grouped = np.stack([f[b][:, want[b]] for b in range(2)])
    t.close(m.group_points(t(f), t(want)), grouped, rtol=0, atol=0)
    g = t.rng.standard_normal(grouped.shape).astype(np.float32)
    grad = np.zeros((2, 5, 101))
    for b in range(2):
        for c in range(5):
            np.add.at(grad[b, c], want[b].ravel(), g[b, c].ravel().astype(np.float64))
    t.close(m.group_points_grad(t(g), t(want), 101), grad, rtol=1e-4, atol=1e-5)
