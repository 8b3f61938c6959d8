"""Gaussian splatting's preprocessing: quaternion and scale to a 3-D covariance, projection, conic and radius; operators on float3, a struct camera."""
CPP = r'''
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor> preprocess(
    const torch::Tensor& means, const torch::Tensor& scales, const torch::Tensor& quats, const torch::Tensor& view, double focal_x, double focal_y,
    int width, int height);
'''
CUDA = r'''
#include <torch/extension.h>
#include <tuple>

struct Mat3 {
  float m[3][3];
  __device__ float* operator[](int i) { return m[i]; }
  __device__ const float* operator[](int i) const { return m[i]; }
};

__device__ inline Mat3 operator*(const Mat3& a, const Mat3& b) {
  Mat3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
  return c;
}
__device__ inline Mat3 transpose(const Mat3& a) {
  return Mat3{{{a[0][0], a[1][0], a[2][0]}, {a[0][1], a[1][1], a[2][1]}, {a[0][2], a[1][2], a[2][2]}}};
}
__device__ inline float3 operator*(const Mat3& a, const float3& v) {
  return make_float3(a[0][0] * v.x + a[0][1] * v.y + a[0][2] * v.z, a[1][0] * v.x + a[1][1] * v.y + a[1][2] * v.z, a[2][0] * v.x + a[2][1] * v.y + a[2][2] * v.z);
}
__device__ inline float3 operator+(const float3& a, const float3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

struct Camera {
  const float* __restrict__ view;  // 4x4, row major
  float fx, fy;
  int width, height;
  __device__ Mat3 rotation() const { return {{{view[0], view[1], view[2]}, {view[4], view[5], view[6]}, {view[8], view[9], view[10]}}}; }
  __device__ float3 translation() const { return {view[3], view[7], view[11]}; }
};

__device__ Mat3 rotation_of(float4 q) {
  const float inv = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  const float r = q.x * inv, x = q.y * inv, y = q.z * inv, z = q.w * inv;
  return Mat3{{{1.f - 2.f * (y * y + z * z), 2.f * (x * y - r * z), 2.f * (x * z + r * y)},
               {2.f * (x * y + r * z), 1.f - 2.f * (x * x + z * z), 2.f * (y * z - r * x)},
               {2.f * (x * z - r * y), 2.f * (y * z + r * x), 1.f - 2.f * (x * x + y * y)}}};
}

__global__ void preprocess_kernel(int P, const float3* means, const float3* scales, const float4* quats, const Camera cam, float2* xy, float* depth,
                                  float3* conic, int* radii) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= P) return;
  radii[idx] = 0;
  const Mat3 W = cam.rotation();
  const float3 p = W * means[idx] + cam.translation();
  depth[idx] = p.z;
  if (p.z <= 0.2f) return;  // behind the near plane

  Mat3 S = {};
  S[0][0] = scales[idx].x; S[1][1] = scales[idx].y; S[2][2] = scales[idx].z;
  const Mat3 M = rotation_of(quats[idx]) * S;
  const Mat3 sigma = M * transpose(M);
  const Mat3 J = {{{cam.fx / p.z, 0.f, -cam.fx * p.x / (p.z * p.z)}, {0.f, cam.fy / p.z, -cam.fy * p.y / (p.z * p.z)}, {0.f, 0.f, 0.f}}};
  const Mat3 T = J * W;
  const Mat3 cov = T * sigma * transpose(T);
  const float a = cov[0][0] + 0.3f, b = cov[0][1], c = cov[1][1] + 0.3f;
  const float det = a * c - b * b;
  if (det == 0.0f) return;
  conic[idx] = {c / det, -b / det, a / det};
  const float mid = 0.5f * (a + c);
  const float lambda = mid + sqrtf(fmaxf(0.1f, mid * mid - det));
  radii[idx] = static_cast<int>(ceilf(3.f * sqrtf(lambda)));
  xy[idx] = make_float2(cam.fx * p.x / p.z + 0.5f * cam.width, cam.fy * p.y / p.z + 0.5f * cam.height);
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor> preprocess(
    const torch::Tensor& means, const torch::Tensor& scales, const torch::Tensor& quats, const torch::Tensor& view, double focal_x, double focal_y,
    int width, int height) {
  if (means.ndimension() != 2 || means.size(1) != 3) AT_ERROR("means3D must have dimensions (num_points, 3)");
  const int P = means.size(0);
  auto fopt = means.options().dtype(torch::kFloat32);
  torch::Tensor xy = torch::full({P, 2}, 0.0, fopt), depth = torch::zeros({P}, fopt), conic = torch::zeros({P, 3}, fopt);
  torch::Tensor radii = torch::full({P}, 0, means.options().dtype(torch::kInt32));
  if (P != 0) {
    const Camera cam{view.contiguous().data_ptr<float>(), (float)focal_x, (float)focal_y, width, height};
    preprocess_kernel<<<(P + 255) / 256, 256>>>(P, (float3*)means.contiguous().data_ptr<float>(), (float3*)scales.contiguous().data_ptr<float>(),
                                                (float4*)quats.contiguous().data_ptr<float>(), cam, (float2*)xy.data_ptr<float>(),
                                                depth.data_ptr<float>(), (float3*)conic.data_ptr<float>(), radii.data_ptr<int>());
  }
  return std::make_tuple(xy, depth, conic, radii);
}
'''
FUNCTIONS = ["preprocess"]


def check(m, t):
    import numpy as np

    n, fx, fy, w, h = 301, 50.0, 45.0, 64, 48
    means = t.rng.uniform(-2, 2, (n, 3)).astype(np.float32)
    scales = t.rng.uniform(0.05, 0.4, (n, 3)).astype(np.float32)
    quats = t.rng.standard_normal((n, 4)).astype(np.float32)
    view = np.eye(4, dtype=np.float32)
    view[:3, :3] = np.linalg.qr(t.rng.standard_normal((3, 3)))[0]
    view[:3, 3] = 0.1, -0.2, 1.5
    xy, depth, conic, radii = (t.np(y) for y in m.preprocess(t(means), t(scales), t(quats), t(view), fx, fy, w, h))
    W = view.astype(np.float64)[:3, :3]
    p = means.astype(np.float64) @ W.T + view[:3, 3]
    t.close(depth, p[:, 2], rtol=1e-5, atol=1e-5)
    q = quats.astype(np.float64)
    r, i, j, k = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    checked = 0
    for s in range(n):
        x, y, z = p[s]
        if abs(z - 0.2) < 1e-4:
            continue
        if z < 0.2:
            assert radii[s] == 0 and not xy[s].any()
            continue
        a, b, c, d = r[s], i[s], j[s], k[s]  # columns are the unit vectors turned by the quaternion
        rot = np.array([[a*a+b*b-c*c-d*d, 2*(b*c-a*d), 2*(b*d+a*c)], [2*(b*c+a*d), a*a-b*b+c*c-d*d, 2*(c*d-a*b)], [2*(b*d-a*c), 2*(c*d+a*b), a*a-b*b-c*c+d*d]])
        sigma = rot @ np.diag(scales[s].astype(np.float64) ** 2) @ rot.T
        jac = np.array([[fx / z, 0, -fx * x / z**2], [0, fy / z, -fy * y / z**2]])
        cov = jac @ W @ sigma @ W.T @ jac.T + 0.3 * np.eye(2)
        inv = np.linalg.inv(cov)
        t.close(conic[s], np.array([inv[0, 0], inv[0, 1], inv[1, 1]]), rtol=1e-3, atol=1e-3 * np.abs(inv).max() * max(1, np.linalg.cond(cov) / 100))
        mid, det = np.trace(cov) / 2, np.linalg.det(cov)
        want = 3 * np.sqrt(mid + np.sqrt(max(0.1, mid * mid - det)))
        assert -1e-4 * want < radii[s] - want < 1 + 1e-4 * want  # rounded up
        t.close(xy[s], np.array([fx * x / z + w / 2, fy * y / z + h / 2]), rtol=1e-3, atol=1e-2)  # near the plane x / z is large
        checked += 1
    assert checked > n // 3
    with t.raises(RuntimeError, "means3D must have dimensions (num_points, 3)"):
        m.preprocess(t(means[:, :2]), t(scales), t(quats), t(view), fx, fy, w, h)
