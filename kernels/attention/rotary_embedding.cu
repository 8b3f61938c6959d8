// Rotary position embedding: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, equation 34. Each pair of
// features is turned by the angle of its position, given by its cosine and sine of [seq, dim / 2]. The pairs are (i, i + dim / 2), as in
// LLaMA's code, or interleaved (2 i, 2 i + 1), as in the paper.

#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

namespace {

constexpr int kThreads = 256;

// One thread for each pair. `direction` is 1, or -1 to turn back.
template <typename scalar_t, typename acc_t>
__global__ void rotate_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ cos, const scalar_t* __restrict__ sin,
                              scalar_t* __restrict__ out, int64_t pairs, int64_t seq, int64_t half, bool interleaved, acc_t direction) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const int64_t feature = i % half, row = i / half, angle = row % seq * half + feature;
  const int64_t a = row * 2 * half + (interleaved ? 2 * feature : feature), b = a + (interleaved ? 1 : half);
  const acc_t c = static_cast<acc_t>(cos[angle]), s = direction * static_cast<acc_t>(sin[angle]);
  const acc_t first = static_cast<acc_t>(x[a]), second = static_cast<acc_t>(x[b]);
  out[a] = static_cast<scalar_t>(first * c - second * s);
  out[b] = static_cast<scalar_t>(first * s + second * c);
}

at::Tensor rotate(const char* op, const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, bool interleaved, int direction) {
  TORCH_CHECK(x.is_cuda() && x.device() == cos.device() && x.device() == sin.device(), op, ": the tensors are on ", x.device(), ", ", cos.device(),
              " and ", sin.device());
  TORCH_CHECK(x.dim() == 4, op, ": expected an input of [batch, heads, seq, dim], got the shape ", x.sizes());
  TORCH_CHECK(x.size(3) % 2 == 0, op, ": dim is ", x.size(3), ", expected an even number");
  TORCH_CHECK(cos.dim() == 2 && cos.size(0) == x.size(2) && cos.size(1) == x.size(3) / 2,
              op, ": cos has the shape ", cos.sizes(), ", expected [", x.size(2), ", ", x.size(3) / 2, "]");
  TORCH_CHECK(sin.sizes() == cos.sizes(), op, ": sin has the shape ", sin.sizes(), ", cos ", cos.sizes());
  TORCH_CHECK(cos.scalar_type() == x.scalar_type() && sin.scalar_type() == x.scalar_type(),
              op, ": the input is of ", x.scalar_type(), ", cos of ", cos.scalar_type(), ", sin of ", sin.scalar_type());
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous(), c = cos.contiguous(), s = sin.contiguous();
  at::Tensor out = at::empty_like(in);
  const int64_t pairs = in.numel() / 2;
  if (pairs == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rotary_embedding", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    rotate_kernel<scalar_t, acc_t><<<at::ceil_div(pairs, int64_t{kThreads}), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.const_data_ptr<scalar_t>(), c.const_data_ptr<scalar_t>(), s.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), pairs,
        in.size(2), in.size(3) / 2, interleaved, static_cast<acc_t>(direction));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

at::Tensor rotary_embedding_cuda(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, bool interleaved) {
  return rotate("rotary_embedding", x, cos, sin, interleaved, 1);
}

// A rotation's transpose turns back. The angles are constants and get no gradient.
at::Tensor rotary_embedding_backward_cuda(const at::Tensor& grad, const at::Tensor& cos, const at::Tensor& sin, bool interleaved) {
  return rotate("rotary_embedding_backward", grad, cos, sin, interleaved, -1);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("rotary_embedding(Tensor x, Tensor cos, Tensor sin, bool interleaved=False) -> Tensor");
  m.def("rotary_embedding_backward(Tensor grad, Tensor cos, Tensor sin, bool interleaved) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("rotary_embedding", &rotary_embedding_cuda);
  m.impl("rotary_embedding_backward", &rotary_embedding_backward_cuda);
}
