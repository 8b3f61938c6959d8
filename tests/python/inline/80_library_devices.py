"""Devices of tensors in implementations for CPU and for CUDA, and of the results of factories."""
CPP = r'''
#include <torch/library.h>
#include <torch/torch.h>
#include <string>
#include <vector>

namespace wb_devices {

static bool on_cuda(const at::Tensor& x) { return x.is_cuda(); }

static std::string device_name(const at::Tensor& x) { return x.device().str(); }

// for both keys: each runs it with tensors of its own
static std::vector<int64_t> answers(const at::Tensor& x) {
  return {x.is_cuda(), x.is_cpu(), x.device().is_cuda(), x.device().type() == at::kCUDA, x.device() == at::Device(at::kCPU), x.get_device()};
}

// what is made with the options of x is where x is; what is made for the CPU by name is there
static std::vector<int64_t> factories(const at::Tensor& x) {
  const auto options = x.options();
  return {
      at::empty_like(x).is_cuda(),
      at::zeros({3}, options).is_cuda(),
      x.new_ones({2, 2}).is_cuda(),
      torch::arange(4, options.dtype(at::kLong)).is_cuda(),
      at::full({}, 1.5, at::TensorOptions().device(x.device())).is_cuda(),
      (x + 1).is_cuda(),
      x.clone().view({-1}).is_cuda(),
      torch::zeros({2}, options.device(at::kCPU)).is_cuda(),
      x.to(at::kCPU).is_cuda(),
  };
}

static at::Tensor tagged_cpu(const at::Tensor& x) {
  TORCH_CHECK(!x.is_cuda(), "a CUDA tensor came to the CPU's implementation");
  return at::add(x, 1);
}

TORCH_LIBRARY(wb_devices, m) {
  m.def("is_cuda(Tensor x) -> bool");
  m.def("device_name(Tensor x) -> str");
  m.def("answers(Tensor x) -> int[]");
  m.def("factories(Tensor x) -> int[]");
  m.def("tagged(Tensor x) -> Tensor");
  m.def("cuda_alone(Tensor x) -> bool");
}

TORCH_LIBRARY_IMPL(wb_devices, CPU, m) {
  m.impl("is_cuda", &on_cuda);
  m.impl("device_name", &device_name);
  m.impl("answers", &answers);
  m.impl("factories", &factories);
  m.impl("tagged", &tagged_cpu);
}

TORCH_LIBRARY_IMPL(wb_devices, CUDA, m) {
  m.impl("device_name", &device_name);
  m.impl("answers", &answers);
  m.impl("factories", &factories);
}

}  // namespace wb_devices
'''
CUDA = r'''
#include <torch/library.h>
#include <torch/types.h>

namespace wb_devices {

static bool on_cuda(const at::Tensor& x) { return x.is_cuda(); }

__global__ void tag_kernel(const double* x, double* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + 2;
}

static at::Tensor tagged_cuda(const at::Tensor& x) {
  TORCH_CHECK(x.device().is_cuda(), "a CPU tensor came to CUDA's implementation");
  auto in = x.contiguous();
  auto out = torch::empty(in.sizes(), in.options());
  TORCH_CHECK(out.device() == x.device(), "the result is on ", out.device());
  tag_kernel<<<1, 64>>>(in.data_ptr<double>(), out.data_ptr<double>(), in.numel());
  return out;
}

TORCH_LIBRARY_IMPL(wb_devices, CUDA, m) {
  m.impl("is_cuda", &on_cuda);
  m.impl("cuda_alone", &on_cuda);
  m.impl("tagged", &tagged_cuda);
}

}  // namespace wb_devices
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_devices
    for x in (t.rng.standard_normal((5, 7)), np.zeros((0, 3)), np.array(1.5)):
        assert ops.is_cuda(t(x)) is False and t.prefer_cuda(ops.is_cuda, t(x)) is True
        assert ops.device_name(t(x)) == "cpu" and t.prefer_cuda(ops.device_name, t(x)) == "cuda:0"
        assert ops.answers(t(x)) == [0, 1, 0, 0, 1, -1]
        assert t.prefer_cuda(ops.answers, t(x)) == [1, 0, 1, 1, 0, 0]
        assert ops.factories(t(x)) == [0] * 9
        assert t.prefer_cuda(ops.factories, t(x)) == [1] * 7 + [0] * 2
        t.close(ops.tagged(t(x)), x + 1)
        t.close(t.prefer_cuda(ops.tagged, t(x)), x + 2)
        assert ops.cuda_alone(t(x)) is True  # an array goes to CUDA where there is nothing else for it
        assert ops.is_cuda(ops.tagged(t(x))) is False
