"""scatter_max with the argument, segment reductions over CSR pointers: float max by atomicCAS on the bits, and a template enum for the reduction."""
CPP = r'''
#include <torch/extension.h>
#include <optional>
std::tuple<torch::Tensor, torch::Tensor> scatter_max(torch::Tensor src, torch::Tensor index, std::optional<int64_t> dim_size);
torch::Tensor segment_csr(torch::Tensor src, torch::Tensor indptr, std::string reduce);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scatter_max", &scatter_max, py::arg("src"), py::arg("index"), py::arg("dim_size") = py::none());
  m.def("segment_csr", &segment_csr, py::arg("src"), py::arg("indptr"), py::arg("reduce") = "sum");
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <limits>
#include <map>
#include <optional>

#define THREADS 256
#define BLOCKS(N) (N + THREADS - 1) / THREADS
#define CHECK_CONTIG(x) TORCH_CHECK(x.is_contiguous(), #x, " is not contiguous")

static inline __device__ void atomMax(float *address, float val) {
  int *address_as_i = (int *)address;
  int old = *address_as_i, assumed;
  do {
    assumed = old;
    old = atomicCAS(address_as_i, assumed, __float_as_int(fmaxf(val, __int_as_float(assumed))));
  } while (assumed != old);
}
static inline __device__ void atomMax(double *address, double val) {
  unsigned long long int *address_as_ull = (unsigned long long int *)address;
  unsigned long long int old = *address_as_ull, assumed;
  do {
    assumed = old;
    old = atomicCAS(address_as_ull, assumed, __double_as_longlong(max(val, __longlong_as_double(assumed))));
  } while (assumed != old);
}

template <typename scalar_t>
__global__ void scatter_max_kernel(const scalar_t *src, const int64_t *index, scalar_t *out, int64_t E, int64_t K) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < E * K) atomMax(out + index[i / K] * K + i % K, src[i]);
}

template <typename scalar_t>
__global__ void scatter_arg_kernel(const scalar_t *src, const int64_t *index, const scalar_t *out, long long *arg, int64_t E, int64_t K) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= E * K) return;
  const int64_t o = index[i / K] * K + i % K;
  if (src[i] == out[o]) atomicMin(arg + o, (long long)(i / K));  // the first of equals
}

std::tuple<torch::Tensor, torch::Tensor> scatter_max(torch::Tensor src, torch::Tensor index, std::optional<int64_t> dim_size) {
  CHECK_CONTIG(src);
  TORCH_CHECK(src.dim() == 2 && index.dim() == 1 && index.size(0) == src.size(0), "index of ", index.sizes(), " for src of ", src.sizes());
  const auto E = src.size(0), K = src.size(1);
  const int64_t N = dim_size ? *dim_size : (index.numel() == 0 ? 0 : 1 + *index.max().cpu().data_ptr<int64_t>());
  auto out = torch::empty({N, K}, src.options());
  auto arg = torch::full({N, K}, E, index.options());
  if (E * K == 0) return std::make_tuple(out.fill_(0), arg);
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES(src.scalar_type(), "scatter_max", [&] {
    out.fill_(std::numeric_limits<scalar_t>::lowest());
    scatter_max_kernel<scalar_t><<<BLOCKS(E * K), THREADS, 0, stream>>>(src.data_ptr<scalar_t>(), index.data_ptr<int64_t>(), out.data_ptr<scalar_t>(), E, K);
    scatter_arg_kernel<scalar_t><<<BLOCKS(E * K), THREADS, 0, stream>>>(src.data_ptr<scalar_t>(), index.data_ptr<int64_t>(), out.data_ptr<scalar_t>(), reinterpret_cast<long long *>(arg.data_ptr<int64_t>()), E, K);
    out.masked_fill_(out == std::numeric_limits<scalar_t>::lowest(), (scalar_t)0);
  });
  return std::make_tuple(out, arg);
}

enum ReductionType { SUM, MEAN, MIN, MAX };
const std::map<std::string, ReductionType> reduce2REDUCE = {{"sum", SUM}, {"mean", MEAN}, {"min", MIN}, {"max", MAX}};

template <typename scalar_t, ReductionType REDUCE>
struct Reducer {
  static inline __device__ scalar_t init() {
    if (REDUCE == MIN) return std::numeric_limits<scalar_t>::max();
    else if (REDUCE == MAX) return std::numeric_limits<scalar_t>::lowest();
    else return (scalar_t)0;
  }
  static inline __device__ void update(scalar_t *val, scalar_t other) {
    if ((REDUCE == MIN && other < *val) || (REDUCE == MAX && other > *val)) *val = other;
    else if (REDUCE == SUM || REDUCE == MEAN) *val += other;
  }
  static inline __device__ scalar_t finish(scalar_t val, int count) {
    if (count == 0) return 0;
    return REDUCE == MEAN ? val / (scalar_t)count : val;
  }
};

// a warp for each segment
template <typename scalar_t, ReductionType REDUCE>
__global__ void segment_csr_kernel(const scalar_t *src, const int64_t *indptr, scalar_t *out, int N) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= N) return;
  const int64_t begin = __ldg(indptr + row), end = __ldg(indptr + row + 1);
  scalar_t val = Reducer<scalar_t, REDUCE>::init();
  for (int64_t e = begin + lane; e < end; e += 32) Reducer<scalar_t, REDUCE>::update(&val, src[e]);
#pragma unroll
  for (int i = 32 / 2; i > 0; i /= 2) Reducer<scalar_t, REDUCE>::update(&val, __shfl_down_sync(0xffffffff, val, i));
  if (lane == 0) out[row] = Reducer<scalar_t, REDUCE>::finish(val, end - begin);
}

torch::Tensor segment_csr(torch::Tensor src, torch::Tensor indptr, std::string reduce) {
  CHECK_CONTIG(src);
  const int N = indptr.numel() - 1;
  auto out = torch::empty({N}, src.options());
  if (N <= 0) return out;
  // in the lambda below
#define LAUNCH(R) case R: segment_csr_kernel<scalar_t, R><<<BLOCKS(32 * N), THREADS>>>(src.data_ptr<scalar_t>(), indptr.data_ptr<int64_t>(), out.data_ptr<scalar_t>(), N); break;
  AT_DISPATCH_FLOATING_TYPES(src.scalar_type(), "segment_csr", [&] {
    switch (reduce2REDUCE.at(reduce)) { LAUNCH(SUM) LAUNCH(MEAN) LAUNCH(MIN) LAUNCH(MAX) }
  });
#undef LAUNCH
  return out;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for dtype, tol in ((np.float32, 1e-5), (np.float64, 1e-12)):
        src = (t.rng.integers(-20, 21, (203, 7)) / 4).astype(dtype)  # many ties
        index = t.rng.integers(0, 23, 203)
        index[index == 5] = 6
        want, arg = np.zeros((25, 7)), np.full((25, 7), 203)
        for s in set(index):
            rows = np.flatnonzero(index == s)
            want[s], arg[s] = src[rows].max(0), rows[src[rows].argmax(0)]
        out, where = m.scatter_max(t(src), t(index), 25)
        t.close(out, want, rtol=0, atol=0)
        t.close(where, arg)
        assert t.np(m.scatter_max(t(src), t(index))[0]).shape == (index.max() + 1, 7)
        counts = t.rng.integers(0, 90, 19)
        counts[[0, 7]] = 0
        ptr = np.concatenate([[0], np.cumsum(counts)])
        x = t.rng.standard_normal(ptr[-1]).astype(dtype)
        for name in ("sum", "mean", "min", "max"):
            f = getattr(np, name)
            segments = np.array([f(x[a:b].astype(np.float64)) if b > a else 0 for a, b in zip(ptr, ptr[1:])])
            t.close(m.segment_csr(t(x), t(ptr), reduce=name), segments, rtol=10 * tol, atol=10 * tol)
    with t.raises(RuntimeError, "index of [3] for src of [203, 7]"):
        m.scatter_max(t(src), t(index[:3].copy()))
    with t.raises(RuntimeError, "src is not contiguous"):
        m.scatter_max(t(src.T), t(index))
    with t.raises(IndexError):  # std::map::at throws out_of_range
        m.segment_csr(t(x), t(ptr), "median")
