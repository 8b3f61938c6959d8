"""Furthest point sampling, point-cloud repository style: block size as a template argument, dispatch by switch, argmax unrolled by hand."""
CPP = "at::Tensor furthest_point_sampling(at::Tensor points, const int nsamples);"
CUDA = r'''
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <cmath>

#define TOTAL_THREADS 128
#define CHECK_CONTIGUOUS(x)                                              \
  do {                                                                   \
    AT_ASSERT((x).is_contiguous(), #x " must be a contiguous tensor");   \
  } while (0)

inline int opt_n_threads(int work_size) {
  const int pow_2 = std::log(static_cast<double>(work_size)) / std::log(2.0);
  return std::max(std::min(1 << pow_2, TOTAL_THREADS), 1);
}

__device__ void __update(float *__restrict__ dists, int *__restrict__ dists_i, int idx1, int idx2) {
  const float v1 = dists[idx1], v2 = dists[idx2];
  const int i1 = dists_i[idx1], i2 = dists_i[idx2];
  const bool second = v2 > v1 || (v2 == v1 && i2 < i1);
  dists[idx1] = max(v1, v2);
  dists_i[idx1] = second ? i2 : i1;
}

// dataset: (b, n, 3), temp: (b, n), idxs: (b, m)
template <unsigned int block_size>
__global__ void fps_kernel(int b, int n, int m, const float *__restrict__ dataset, float *__restrict__ temp, int *__restrict__ idxs) {
  if (m <= 0) return;
  __shared__ float dists[block_size];
  __shared__ int dists_i[block_size];

  int batch_index = blockIdx.x;
  dataset += batch_index * n * 3;
  temp += batch_index * n;
  idxs += batch_index * m;

  int tid = threadIdx.x;
  const int stride = block_size;
  int old = 0;
  if (threadIdx.x == 0) idxs[0] = old;

  __syncthreads();
  for (int j = 1; j < m; j++) {
    int besti = n;
    float best = -1;
    float x1 = dataset[old * 3 + 0];
    float y1 = dataset[old * 3 + 1];
    float z1 = dataset[old * 3 + 2];
    for (int k = tid; k < n; k += stride) {
      float x2 = dataset[k * 3 + 0], y2 = dataset[k * 3 + 1], z2 = dataset[k * 3 + 2];
      float d = (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1) + (z2 - z1) * (z2 - z1);
      float d2 = min(d, temp[k]);
      temp[k] = d2;
      besti = d2 > best ? k : besti;
      best = d2 > best ? d2 : best;
    }
    dists[tid] = best;
    dists_i[tid] = besti;
    __syncthreads();

    if (block_size >= 128) { if (tid < 64) __update(dists, dists_i, tid, tid + 64); __syncthreads(); }
    if (block_size >= 64) { if (tid < 32) __update(dists, dists_i, tid, tid + 32); __syncthreads(); }
    if (block_size >= 32) { if (tid < 16) __update(dists, dists_i, tid, tid + 16); __syncthreads(); }
    if (block_size >= 16) { if (tid < 8) __update(dists, dists_i, tid, tid + 8); __syncthreads(); }
    if (block_size >= 8) { if (tid < 4) __update(dists, dists_i, tid, tid + 4); __syncthreads(); }
    if (block_size >= 4) { if (tid < 2) __update(dists, dists_i, tid, tid + 2); __syncthreads(); }
    if (block_size >= 2) { if (tid < 1) __update(dists, dists_i, tid, tid + 1); __syncthreads(); }

    old = dists_i[0];
    if (tid == 0) idxs[j] = old;
    __syncthreads();
  }
}

at::Tensor furthest_point_sampling(at::Tensor points, const int nsamples) {
  CHECK_CONTIGUOUS(points);
  TORCH_CHECK(nsamples <= points.size(1), "cannot take ", nsamples, " of ", points.size(1), " points");
  const int b = points.size(0), n = points.size(1);
  at::Tensor output = torch::zeros({b, nsamples}, at::device(points.device()).dtype(at::ScalarType::Int));
  at::Tensor tmp = torch::full({b, n}, 1e10, at::device(points.device()).dtype(at::ScalarType::Float));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
#define FPS_CASE(N) \
  case N: fps_kernel<N><<<b, N, 0, stream>>>(b, n, nsamples, points.data_ptr<float>(), tmp.data_ptr<float>(), output.data_ptr<int>()); break;
  switch (opt_n_threads(n)) {
    FPS_CASE(128) FPS_CASE(64) FPS_CASE(32) FPS_CASE(16) FPS_CASE(8) FPS_CASE(4) FPS_CASE(2) FPS_CASE(1)
  }
#undef FPS_CASE
  return output;
}
'''
FUNCTIONS = ["furthest_point_sampling"]


def check(m, t):
    import numpy as np

    for b, n, s in ((2, 203, 17), (3, 37, 37), (1, 5, 1), (2, 1, 1)):
        for points in (t.rng.standard_normal((b, n, 3)), t.rng.integers(-3, 4, (b, n, 3))):  # the integers have ties: the first one wins
            points = points.astype(np.float32)
            want = np.zeros((b, s), np.int32)
            for i, p in enumerate(points.astype(np.float64)):
                nearest = np.full(n, 1e10)
                for j in range(1, s):
                    nearest = np.minimum(nearest, ((p - p[want[i, j - 1]]) ** 2).sum(1))
                    want[i, j] = nearest.argmax()
            t.close(m.furthest_point_sampling(t(points), s), want)
    with t.raises(RuntimeError, "cannot take 6 of 5 points"):
        m.furthest_point_sampling(t(np.zeros((1, 5, 3), np.float32)), 6)
