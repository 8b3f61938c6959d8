"""One namespace from two fragments, with implementations for CUDA alone: AT_DISPATCH, template kernels, functors."""
CPP = r'''
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(wb_fragments, m) {
  m.def("pythag(Tensor x, Tensor y) -> Tensor");
}

TORCH_LIBRARY_FRAGMENT(wb_fragments, m) {
  m.def("shrink(Tensor x, Scalar limit) -> Tensor");
  m.def("row_sums(Tensor x, *, bool squared=False) -> Tensor");
}
'''
CUDA = r'''
#include <torch/all.h>
#include <torch/library.h>
#include <ATen/AccumulateType.h>
#include <ATen/Dispatch.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

namespace wb_fragments {
namespace {

template <typename T>
struct Shrink {
  T limit;
  __device__ T operator()(T v) const { return v > limit ? v - limit : v < -limit ? v + limit : T(0); }
};

template <typename T, typename F>
__global__ void map_kernel(const T* __restrict__ x, T* __restrict__ y, int64_t n, F f) {
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x) y[i] = f(x[i]);
}

template <typename T>
__global__ void pythag_kernel(const T* x, const T* y, T* out, int64_t n) {
  using acc_t = at::acc_type<T, true>;
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) {
    const acc_t a = static_cast<acc_t>(x[i]), b = static_cast<acc_t>(y[i]);
    out[i] = static_cast<T>(::sqrt(a * a + b * b));
  }
}

template <typename T, bool SQUARED>
__global__ void row_sums_kernel(const T* x, double* out, int cols) {
  __shared__ double partial[64];
  double sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const double v = static_cast<double>(x[blockIdx.x * int64_t(cols) + c]);
    sum += SQUARED ? v * v : v;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half >>= 1) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

at::Tensor pythag(const at::Tensor& x, const at::Tensor& y) {
  TORCH_CHECK(x.is_cuda() && y.is_cuda(), "pythag runs on CUDA tensors");
  TORCH_CHECK(x.scalar_type() == y.scalar_type(), "dtypes differ: ", x.scalar_type(), " and ", y.scalar_type());
  auto a = x.contiguous(), b = y.expand_as(x).contiguous(), out = at::empty_like(a);
  const c10::cuda::CUDAGuard guard(x.device());
  if (const int64_t n = a.numel()) {
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "pythag", [&] {
      pythag_kernel<<<at::ceil_div(n, int64_t(128)), 128, 0, at::cuda::getCurrentCUDAStream()>>>(
          a.const_data_ptr<scalar_t>(), b.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), n);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  return out;
}

at::Tensor shrink(const at::Tensor& x, const at::Scalar& limit) {
  auto in = x.contiguous(), out = at::empty_like(in);
  if (in.numel() == 0) return out;
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "shrink", [&] {
    const Shrink<scalar_t> f{limit.to<scalar_t>()};
    map_kernel<scalar_t><<<3, 96>>>(in.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), in.numel(), f);
  });
  return out;
}

at::Tensor row_sums(const at::Tensor& x, bool squared) {
  TORCH_CHECK(x.dim() == 2, "row_sums takes a matrix, got ", x.dim(), " dimensions");
  auto in = x.contiguous();
  auto out = at::zeros({x.size(0)}, x.options().dtype(at::kDouble));
  if (in.numel() == 0) return out;
  AT_DISPATCH_ALL_TYPES_AND(at::ScalarType::Half, x.scalar_type(), "row_sums", [&] {
    auto kernel = squared ? &row_sums_kernel<scalar_t, true> : &row_sums_kernel<scalar_t, false>;
    kernel<<<x.size(0), 64>>>(in.const_data_ptr<scalar_t>(), out.mutable_data_ptr<double>(), x.size(1));
  });
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(wb_fragments, CUDA, m) {
  m.impl("pythag", &pythag);
  m.impl("shrink", &shrink);
  m.impl("row_sums", &row_sums);
}
}  // namespace wb_fragments
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_fragments
    for dtype, tol in ((np.float64, 1e-14), (np.float32, 1e-6), (np.float16, 1e-3)):
        for shape in ((1003,), (3, 7, 11), (0, 4), ()):
            x, y = (np.asarray(t.rng.standard_normal(shape), dtype) for _ in range(2))
            t.close(ops.pythag(t(x), t(y)), np.hypot(x.astype(np.float64), y.astype(np.float64)), rtol=tol)
    x, y = t.rng.standard_normal((13, 5)), t.rng.standard_normal(5)
    t.close(ops.pythag(t(x), y=t(y)), np.hypot(x, y))
    t.close(ops.pythag(t(x), t(x)), t.np(t.prefer_cuda(ops.pythag, t(x), t(x))), rtol=0, atol=0)
    for dtype, limit in ((np.float32, 0.5), (np.int64, 3), (np.int16, 3.75)):
        v = (t.rng.standard_normal(771) * 6).astype(dtype)
        lim = dtype(limit)
        t.close(ops.shrink(t(v), limit), np.where(v > lim, v - lim, np.where(v < -lim, v + lim, 0)).astype(dtype))
    for dtype in (np.float32, np.int32, np.float16):
        v = (t.rng.standard_normal((9, 131)) * 4).astype(dtype)
        t.close(ops.row_sums(t(v)), v.astype(np.float64).sum(1))
        t.close(ops.row_sums(t(v), squared=True), (v.astype(np.float64) ** 2).sum(1))
    t.close(ops.row_sums(t(np.zeros((4, 0), np.float32))), np.zeros(4))
    with t.raises(RuntimeError, "dtypes differ: Double and Float"):
        ops.pythag(t(x), t(x.astype(np.float32)))
    with t.raises(RuntimeError, '"pythag" not implemented for \'Int\''):
        ops.pythag(t(np.ones(3, np.int32)), t(np.ones(3, np.int32)))
    with t.raises(RuntimeError, "row_sums takes a matrix, got 1 dimensions"):
        ops.row_sums(t(y))
    with t.raises(t.argument_error):
        ops.row_sums(t(x), True)  # squared is for keywords alone
