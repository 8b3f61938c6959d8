"""logsumexp over an inner dimension with AT_DISPATCH_FLOATING_TYPES and dynamic shared memory typed through extern unsigned char."""
CPP = r'''
#include <vector>
at::Tensor lse_cuda(const at::Tensor& x);

// C++ interface
at::Tensor lse(const at::Tensor& x, int64_t dim) {
  TORCH_CHECK(x.is_floating_point(), "lse: expected a floating point tensor");
  dim = dim < 0 ? dim + x.dim() : dim;
  TORCH_CHECK(dim >= 0 && dim < x.dim(), "lse: dim out of range");
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < x.dim(); ++i)
    if (i != dim) kept.push_back(x.size(i));
  auto rows = x.transpose(dim, -1).contiguous();
  // [.., last at dim, ..]: swap back what the transpose moved
  auto flat = lse_cuda(rows.view({-1, x.size(dim)}));
  auto shape = rows.sizes().vec();
  shape.back() = 1;
  return flat.view(shape).transpose(dim, -1).squeeze(dim);
}
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <limits>

template <typename scalar_t>
__global__ void lse_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ out, int n) {
  extern __shared__ unsigned char raw[];
  scalar_t* buf = reinterpret_cast<scalar_t*>(raw);
  const scalar_t* row = x + blockIdx.x * (size_t)n;
  const int tid = threadIdx.x;
  scalar_t m = -std::numeric_limits<scalar_t>::infinity();
  for (int i = tid; i < n; i += blockDim.x) m = row[i] > m ? row[i] : m;
  buf[tid] = m;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s; s >>= 1) {
    if (tid < s) buf[tid] = buf[tid] > buf[tid + s] ? buf[tid] : buf[tid + s];
    __syncthreads();
  }
  m = buf[0];
  __syncthreads();
  scalar_t sum = 0;
  for (int i = tid; i < n; i += blockDim.x) sum += exp(row[i] - m);
  buf[tid] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s; s >>= 1) {
    if (tid < s) buf[tid] += buf[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = m + log(buf[0]);
}

at::Tensor lse_cuda(const at::Tensor& x) {
  const auto rows = x.size(0), cols = x.size(1);
  auto out = at::empty({rows}, x.options());
  constexpr int threads = 64;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "lse_cuda", ([&] {
    lse_kernel<scalar_t><<<rows, threads, threads * sizeof(scalar_t), at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), cols);
  }));
  AT_CUDA_CHECK(cudaGetLastError());
  return out;
}
'''
FUNCTIONS = ["lse"]


def check(m, t):
    import numpy as np

    x = (4 * t.rng.standard_normal((5, 37, 3))).astype(np.float32)
    for dim in (0, 1, 2, -1, -2):
        d = x.astype(np.float64)
        top = d.max(dim, keepdims=True)
        want = (top + np.log(np.exp(d - top).sum(dim, keepdims=True))).squeeze(dim)
        t.close(m.lse(t(x), dim), want)
        t.close(m.lse(t(d), dim), want, rtol=1e-12)
    with t.raises(RuntimeError, "expected a floating point tensor"):
        m.lse(t(np.zeros((2, 2), np.int64)), 0)
    with t.raises(RuntimeError, "lse: dim out of range"):
        m.lse(t(x), 3)
