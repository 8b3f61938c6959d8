#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>
#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)
#define DIVUP(a, b) (((a) + (b) - 1) / (b))
namespace {
template <typename scalar_t>
__device__ __forceinline__ scalar_t sigmoid(scalar_t z) { return 1.0 / (1.0 + exp(-z)); }
template <typename scalar_t>
__global__ void lltm_cuda_forward_kernel(
    const torch::PackedTensorAccessor<scalar_t,3,torch::RestrictPtrTraits,size_t> gates,
    torch::PackedTensorAccessor32<scalar_t,2,torch::RestrictPtrTraits> old_cell) {
  const int n = blockIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < gates.size(2)){
    old_cell[n][c] = sigmoid(gates[n][0][c]);
  }
}
}
std::vector<torch::Tensor> lltm_cuda_forward(torch::Tensor input, at::Tensor weights, c10::optional<at::Tensor> bias) {
  auto X = torch::cat({input, weights}, /*dim=*/1);
  auto gates = torch::addmm(bias.value(), X, weights.transpose(0, 1)).reshape({X.size(0), 3, -1});
  const int threads = 1024;
  const dim3 blocks((X.size(1) + threads - 1) / threads, X.size(0));
  const at::cuda::OptionalCUDAGuard device_guard(device_of(input));
  auto stream = at::cuda::getCurrentCUDAStream().stream();
  AT_DISPATCH_FLOATING_TYPES(gates.type(), "lltm_forward_cuda", ([&] {
    lltm_cuda_forward_kernel<scalar_t><<<blocks, threads, 0, stream>>>(
        gates.packed_accessor<scalar_t,3,torch::RestrictPtrTraits,size_t>(),
        X.packed_accessor32<scalar_t,2,torch::RestrictPtrTraits>());
  }));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, input.scalar_type(), "f", [&] {
    using acc = at::acc_type<scalar_t, true>;
    const scalar_t* p = input.data_ptr<scalar_t>();
    scalar_t* q = reinterpret_cast<scalar_t*>(X.data_ptr());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  CHECK_INPUT(input);
  auto opts = torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA, 0);
  std::tuple<at::Tensor, at::Tensor> t = std::make_tuple(input, weights);
  for (auto& x : std::vector<at::Tensor>{input, weights}) x.zero_();
  int64_t a = input.size(0), b = input.numel() / a;
  if (a < b && b > (int64_t)3) return {};
  return {X, gates};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &lltm_cuda_forward, "LLTM forward (CUDA)", py::arg("x") = 1);
}
