"""Chamfer distance: tiles of the other cloud in shared memory, both directions by one kernel, a return code checked in C++, backward by atomics."""
CPP = r'''
#include <torch/torch.h>
#include <vector>

int chamfer_cuda_forward(at::Tensor xyz1, at::Tensor xyz2, at::Tensor dist1, at::Tensor dist2, at::Tensor idx1, at::Tensor idx2);
void chamfer_cuda_backward(at::Tensor xyz1, at::Tensor xyz2, at::Tensor g1, at::Tensor g2, at::Tensor graddist, at::Tensor idx);

std::vector<at::Tensor> chamfer_forward(at::Tensor xyz1, at::Tensor xyz2) {
    const auto opts = xyz1.options();
    auto dist1 = torch::zeros({xyz1.size(0), xyz1.size(1)}, opts), dist2 = torch::zeros({xyz2.size(0), xyz2.size(1)}, opts);
    auto idx1 = torch::zeros(dist1.sizes(), opts.dtype(torch::kInt)), idx2 = torch::zeros(dist2.sizes(), opts.dtype(torch::kInt));
    if (chamfer_cuda_forward(xyz1, xyz2, dist1, dist2, idx1, idx2) != 1) {
        throw std::runtime_error("chamfer: empty cloud");
    }
    return {dist1, dist2, idx1, idx2};
}

std::vector<at::Tensor> chamfer_backward(at::Tensor xyz1, at::Tensor xyz2, at::Tensor gd1, at::Tensor gd2, at::Tensor idx1, at::Tensor idx2) {
    at::Tensor g1 = at::zeros_like(xyz1), g2 = at::zeros_like(xyz2);
    chamfer_cuda_backward(xyz1, xyz2, g1, g2, gd1, idx1);
    chamfer_cuda_backward(xyz2, xyz1, g2, g1, gd2, idx2);
    return {g1, g2};
}
'''
CUDA = r'''
#include <cstdio>
#include <ATen/ATen.h>

__global__ void NmDistanceKernel(int b, int n, const float *xyz, int m, const float *xyz2, float *result, int *result_i) {
    const int batch = 48;
    __shared__ float buf[batch * 3];
    for (int i = blockIdx.x; i < b; i += gridDim.x) {
        for (int k2 = 0; k2 < m; k2 += batch) {
            const int end_k = min(m, k2 + batch) - k2;
            for (int j = threadIdx.x; j < end_k * 3; j += blockDim.x) buf[j] = xyz2[(i * m + k2) * 3 + j];
            __syncthreads();
            for (int j = threadIdx.x + blockIdx.y * blockDim.x; j < n; j += blockDim.x * gridDim.y) {
                const float x1 = xyz[(i * n + j) * 3 + 0];
                const float y1 = xyz[(i * n + j) * 3 + 1];
                const float z1 = xyz[(i * n + j) * 3 + 2];
                int best_i = 0;
                float best = 0;
                for (int k = 0; k < end_k; k++) {
                    const float x2 = buf[k * 3 + 0] - x1, y2 = buf[k * 3 + 1] - y1, z2 = buf[k * 3 + 2] - z1;
                    const float d = x2 * x2 + y2 * y2 + z2 * z2;
                    if (k == 0 || d < best) {
                        best = d;
                        best_i = k + k2;
                    }
                }
                if (k2 == 0 || result[i * n + j] > best) {
                    result[i * n + j] = best;
                    result_i[i * n + j] = best_i;
                }
            }
            __syncthreads();
        }
    }
}

int chamfer_cuda_forward(at::Tensor xyz1, at::Tensor xyz2, at::Tensor dist1, at::Tensor dist2, at::Tensor idx1, at::Tensor idx2) {
    const auto batch_size = xyz1.size(0);
    const auto n = xyz1.size(1);
    const auto m = xyz2.size(1);
    if (n == 0 || m == 0) return 0;
    NmDistanceKernel<<<dim3(32, 16, 1), 64>>>(batch_size, n, xyz1.data_ptr<float>(), m, xyz2.data_ptr<float>(), dist1.data_ptr<float>(), idx1.data_ptr<int>());
    NmDistanceKernel<<<dim3(32, 16, 1), 64>>>(batch_size, m, xyz2.data_ptr<float>(), n, xyz1.data_ptr<float>(), dist2.data_ptr<float>(), idx2.data_ptr<int>());
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        printf("error in nnd updateOutput: %s\n", cudaGetErrorString(err));
        return 0;
    }
    return 1;
}

__global__ void NmDistanceGradKernel(int b, int n, const float *xyz1, int m, const float *xyz2, const float *grad_dist1, const int *idx1, float *g1, float *g2) {
    for (int i = blockIdx.x; i < b; i += gridDim.x) {
        for (int j = threadIdx.x + blockIdx.y * blockDim.x; j < n; j += blockDim.x * gridDim.y) {
            const float *p = xyz1 + (i * n + j) * 3;
            const int j2 = idx1[i * n + j];
            const float g = grad_dist1[i * n + j] * 2;
            for (int a = 0; a < 3; a++) {
                const float d = g * (p[a] - xyz2[(i * m + j2) * 3 + a]);
                atomicAdd(&(g1[(i * n + j) * 3 + a]), d);
                atomicAdd(&(g2[(i * m + j2) * 3 + a]), -d);
            }
        }
    }
}

void chamfer_cuda_backward(at::Tensor xyz1, at::Tensor xyz2, at::Tensor g1, at::Tensor g2, at::Tensor graddist, at::Tensor idx) {
    NmDistanceGradKernel<<<dim3(1, 4, 1), 32>>>(xyz1.size(0), xyz1.size(1), xyz1.data_ptr<float>(), xyz2.size(1), xyz2.data_ptr<float>(),
                                                graddist.data_ptr<float>(), idx.data_ptr<int>(), g1.data_ptr<float>(), g2.data_ptr<float>());
}
'''
FUNCTIONS = ["chamfer_forward", "chamfer_backward"]


def check(m, t):
    import numpy as np

    a, b = t.rng.standard_normal((2, 101, 3)).astype(np.float32), t.rng.standard_normal((2, 53, 3)).astype(np.float32)
    A, B = a.astype(np.float64), b.astype(np.float64)
    d = ((A[:, :, None] - B[:, None]) ** 2).sum(-1)
    i1, i2 = d.argmin(2), d.argmin(1)
    d1, d2, j1, j2 = m.chamfer_forward(t(a), t(b))
    t.close(j1, i1)
    t.close(j2, i2)
    t.close(d1, d.min(2))
    t.close(d2, d.min(1))
    w1, w2 = t.rng.standard_normal((2, 101)).astype(np.float32), t.rng.standard_normal((2, 53)).astype(np.float32)
    g1, g2 = np.zeros(a.shape), np.zeros(b.shape)
    for n in range(2):
        e = 2 * w1[n][:, None] * (A[n] - B[n, i1[n]])
        g1[n] += e
        np.add.at(g2[n], i1[n], -e)
        e = 2 * w2[n][:, None] * (B[n] - A[n, i2[n]])
        g2[n] += e
        np.add.at(g1[n], i2[n], -e)
    got = m.chamfer_backward(t(a), t(b), t(w1), t(w2), j1, j2)
    t.close(got[0], g1, rtol=1e-4, atol=1e-5)
    t.close(got[1], g2, rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "chamfer: empty cloud"):
        m.chamfer_forward(t(a[:, :0].copy()), t(b))
