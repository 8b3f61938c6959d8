"""All-pairs gravity with float4 tiles in shared memory and a leapfrog step in place; SPH densities and pressures by a cell grid built on the host side."""
CPP = r'''
#include <torch/extension.h>
torch::Tensor accelerations(torch::Tensor bodies, float eps2);
void leapfrog(torch::Tensor bodies, torch::Tensor velocities, int steps, float dt, float eps2);
torch::Tensor sph_density(torch::Tensor positions, float h, float mass);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("accelerations", &accelerations, py::arg("bodies"), py::arg("eps2") = 1e-2f);
  m.def("leapfrog", &leapfrog, py::arg("bodies"), py::arg("velocities"), py::arg("steps"), py::arg("dt") = 0.01f, py::arg("eps2") = 1e-2f);
  m.def("sph_density", &sph_density);
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <vector_types.h>

static __device__ __forceinline__ float3 &operator+=(float3 &a, const float3 b) { a.x += b.x; a.y += b.y; a.z += b.z; return a; }
static __device__ __forceinline__ float3 operator*(const float s, const float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }

__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj, float eps2) {
  float3 r = {bj.x - bi.x, bj.y - bi.y, bj.z - bi.z};
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + eps2;
  float invDist = rsqrtf(distSqr);
  ai += (bj.w * invDist * invDist * invDist) * r;
  return ai;
}

template <int P>
__global__ void __launch_bounds__(P, 2) forces(const float4 *__restrict__ bodies, float4 *__restrict__ acc, int n, float eps2) {
  __shared__ float4 tile[P];
  const int i = blockIdx.x * P + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 a{0.f, 0.f, 0.f};
  for (int t = 0; t < gridDim.x; ++t) {
    const int j = t * P + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0.f, 0.f, 0.f, 0.f);  // without mass, no force
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < P; ++k) a = bodyBodyInteraction(a, me, tile[k], eps2);
    __syncthreads();
  }
  if (i < n) acc[i] = {a.x, a.y, a.z, 0.f};
}

__global__ void kick_drift(float4 *x, float4 *v, const float4 *a, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 vi = v[i], xi = x[i];
  vi.x += a[i].x * dt; vi.y += a[i].y * dt; vi.z += a[i].z * dt;
  xi.x += vi.x * dt;   xi.y += vi.y * dt;   xi.z += vi.z * dt;
  v[i] = vi;
  x[i] = xi;
}

inline float4 *as4(const torch::Tensor &t) {
  TORCH_CHECK(t.size(-1) == 4 && t.is_contiguous() && t.scalar_type() == torch::kFloat32, "bodies are contiguous rows of 4 floats");
  return reinterpret_cast<float4 *>(t.data_ptr<float>());
}

torch::Tensor accelerations(torch::Tensor bodies, float eps2) {
  auto acc = torch::zeros_like(bodies);
  const int n = bodies.size(0);
  if (n > 0) forces<64><<<(n + 63) / 64, 64>>>(as4(bodies), as4(acc), n, eps2);
  return acc.narrow(1, 0, 3).contiguous();
}

void leapfrog(torch::Tensor bodies, torch::Tensor velocities, int steps, float dt, float eps2) {
  auto acc = torch::empty_like(bodies);
  const int n = bodies.size(0);
  for (int s = 0; s < steps; ++s) {
    forces<32><<<(n + 31) / 32, 32>>>(as4(bodies), as4(acc), n, eps2);
    kick_drift<<<(n + 127) / 128, 128>>>(as4(bodies), as4(velocities), as4(acc), n, dt);
  }
}

struct Grid {
  float h;
  int3 dims;
  float3 low;
  __device__ int3 cell(float x, float y, float z) const {
    return make_int3(min(max((int)((x - low.x) / h), 0), dims.x - 1), min(max((int)((y - low.y) / h), 0), dims.y - 1), min(max((int)((z - low.z) / h), 0), dims.z - 1));
  }
  __device__ int flat(int3 c) const { return (c.z * dims.y + c.y) * dims.x + c.x; }
};

__global__ void cells_kernel(const float *p, int n, Grid g, int64_t *cell) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) cell[i] = g.flat(g.cell(p[3 * i], p[3 * i + 1], p[3 * i + 2]));
}

__global__ void density_kernel(const float *p, const int64_t *order, const int64_t *start, int n, Grid g, float mass, float *rho) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2], h2 = g.h * g.h;
  const int3 c = g.cell(x, y, z);
  float sum = 0.f;
  for (int dz = max(c.z - 1, 0); dz <= min(c.z + 1, g.dims.z - 1); ++dz)
    for (int dy = max(c.y - 1, 0); dy <= min(c.y + 1, g.dims.y - 1); ++dy)
      for (int dx = max(c.x - 1, 0); dx <= min(c.x + 1, g.dims.x - 1); ++dx) {
        const int f = g.flat(make_int3(dx, dy, dz));
        for (int64_t k = start[f]; k < start[f + 1]; ++k) {
          const float *q = p + 3 * order[k];
          const float r2 = (q[0] - x) * (q[0] - x) + (q[1] - y) * (q[1] - y) + (q[2] - z) * (q[2] - z);
          if (r2 < h2) sum += (h2 - r2) * (h2 - r2) * (h2 - r2);
        }
      }
  rho[i] = mass * 315.f / (64.f * 3.14159265358979f * powf(g.h, 9.f)) * sum;  // poly6
}

torch::Tensor sph_density(torch::Tensor positions, float h, float mass) {
  const int n = positions.size(0);
  auto rho = torch::zeros({n}, positions.options());
  if (n == 0) return rho;
  auto low = std::get<0>(positions.min(0)).cpu(), high = std::get<0>(positions.max(0)).cpu();
  const auto lo = low.accessor<float, 1>(), hi = high.accessor<float, 1>();
  Grid g{h, make_int3((hi[0] - lo[0]) / h + 1, (hi[1] - lo[1]) / h + 1, (hi[2] - lo[2]) / h + 1), make_float3(lo[0], lo[1], lo[2])};
  auto cell = torch::empty({n}, positions.options().dtype(torch::kLong));
  cells_kernel<<<(n + 63) / 64, 64>>>(positions.data_ptr<float>(), n, g, cell.data_ptr<int64_t>());
  auto order = cell.argsort();
  auto counts = torch::bincount(cell, /*weights=*/{}, g.dims.x * g.dims.y * g.dims.z);
  auto start = torch::cat({torch::zeros({1}, counts.options()), counts.cumsum(0)});
  density_kernel<<<(n + 63) / 64, 64>>>(positions.data_ptr<float>(), order.data_ptr<int64_t>(), start.data_ptr<int64_t>(), n, g, mass, rho.data_ptr<float>());
  return rho;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    def pull(x):
        d = x[None, :, :3] - x[:, None, :3]
        return (x[None, :, 3:] * d / ((d**2).sum(-1, keepdims=True) + 1e-2) ** 1.5).sum(1)

    for n in (101, 64, 1):
        b = t.rng.standard_normal((n, 4)).astype(np.float32)
        b[:, 3] = t.rng.random(n) / n
        t.close(m.accelerations(t(b)), pull(b.astype(np.float64)), rtol=1e-3, atol=1e-5)  # rsqrt and sums that cancel
        v = t.rng.standard_normal((n, 4)).astype(np.float32)
        X, V = b.astype(np.float64), v.astype(np.float64)
        x, u = t(b), t(v)
        m.leapfrog(x, u, 5, dt=0.02)
        for _ in range(5):
            V[:, :3] += 0.02 * pull(X)
            X[:, :3] += 0.02 * V[:, :3]
        t.close(x, X, rtol=1e-3, atol=1e-4)
        t.close(u, V, rtol=1e-3, atol=1e-4)
    for n, h in ((303, 0.3), (7, 5.0)):
        p = t.rng.random((n, 3)).astype(np.float32)
        r2 = ((p.astype(np.float64)[:, None] - p) ** 2).sum(-1)
        want = 0.5 * 315 / (64 * np.pi * h**9) * (np.maximum(h * h - r2, 0) ** 3).sum(1)
        t.close(m.sph_density(t(p), h, 0.5), want, rtol=1e-4)  # the ninth power, and cubes of differences
    assert t.np(m.sph_density(t(p[:0].copy()), 0.5, 1.0)).shape == (0,)
    with t.raises(RuntimeError, "bodies are contiguous rows of 4 floats"):
        m.accelerations(t(b[:, :3].copy()))
