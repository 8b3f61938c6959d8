// Cross entropy of logits and the numbers of classes, as torch.nn.functional.cross_entropy has it: -weight[target] * log(softmax(input))[target]
// along the class dimension (Goodfellow, Bengio and Courville, "Deep Learning", 2016, section 6.2.2.3). Classes are dimension 1 of
// [batch, classes, ...], or the only one. The mean divides by the sum of the weights of the targets that are not ignored.

#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace {

constexpr int kThreads = 256;

// The sum over the block, known to every thread of it; blockDim.x is a multiple of 32.
template <typename acc_t>
__device__ acc_t block_sum(acc_t value) {
  __shared__ acc_t partial[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? partial[lane] : acc_t(0);
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();  // The next call writes `partial` again.
  return value;
}

// The greatest value of the block, likewise.
template <typename acc_t>
__device__ acc_t block_max(acc_t value) {
  __shared__ acc_t partial[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? partial[lane] : acc_t(-INFINITY);
  for (int offset = 16; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  __syncthreads();  // The next call writes `partial` again.
  return value;
}

// A row of logits for each target: class c of row r is at r / inner * classes * inner + r % inner + c * inner.
struct Logits {
  int64_t rows, classes, inner;
  __device__ int64_t first(int64_t row) const { return row / inner * classes * inner + row % inner; }
};

// log(sum(exp(logits))) of a row, from its greatest logit down so that nothing overflows.
template <typename scalar_t, typename acc_t>
__device__ acc_t log_sum_exp(const scalar_t* logits, int64_t classes, int64_t stride) {
  acc_t greatest = -INFINITY;
  for (int64_t c = threadIdx.x; c < classes; c += blockDim.x) greatest = max(greatest, static_cast<acc_t>(logits[c * stride]));
  greatest = block_max(greatest);
  acc_t sum = 0;
  for (int64_t c = threadIdx.x; c < classes; c += blockDim.x) sum += exp(static_cast<acc_t>(logits[c * stride]) - greatest);
  return greatest + log(block_sum(sum));
}

template <typename scalar_t, typename acc_t>
__device__ acc_t weight_of(const scalar_t* weight, int64_t target, int64_t classes, int64_t ignore_index) {
  if (target == ignore_index) return 0;
  CUDA_KERNEL_ASSERT(target >= 0 && target < classes && "cross_entropy: a target is not a class");
  return weight == nullptr ? acc_t(1) : static_cast<acc_t>(weight[target]);
}

template <typename scalar_t, typename acc_t>
__global__ void cross_entropy_kernel(const scalar_t* __restrict__ input, const int64_t* __restrict__ target,
                                     const scalar_t* __restrict__ weight, acc_t* __restrict__ losses, Logits s, int64_t ignore_index) {
  for (int64_t row = blockIdx.x; row < s.rows; row += gridDim.x) {
    const scalar_t* logits = input + s.first(row);
    const acc_t total = log_sum_exp<scalar_t, acc_t>(logits, s.classes, s.inner);
    if (threadIdx.x != 0) continue;
    const acc_t w = weight_of<scalar_t, acc_t>(weight, target[row], s.classes, ignore_index);
    losses[row] = target[row] == ignore_index ? acc_t(0) : w * (total - static_cast<acc_t>(logits[target[row] * s.inner]));
  }
}

// One block sums the losses and the weights of all rows, in an order that is the same in every run.
template <typename scalar_t, typename acc_t>
__global__ void reduce_kernel(const acc_t* __restrict__ losses, const int64_t* __restrict__ target, const scalar_t* __restrict__ weight,
                              scalar_t* __restrict__ out, Logits s, int64_t ignore_index, bool mean) {
  acc_t sum = 0, weights = 0;
  for (int64_t row = threadIdx.x; row < s.rows; row += blockDim.x) {
    sum += losses[row];
    weights += weight_of<scalar_t, acc_t>(weight, target[row], s.classes, ignore_index);
  }
  sum = block_sum(sum);
  weights = block_sum(weights);
  if (threadIdx.x == 0) out[0] = static_cast<scalar_t>(mean ? sum / weights : sum);
}

template <typename scalar_t, typename acc_t>
__global__ void total_weight_kernel(const int64_t* __restrict__ target, const scalar_t* __restrict__ weight, acc_t* __restrict__ out,
                                    Logits s, int64_t ignore_index) {
  acc_t weights = 0;
  for (int64_t row = threadIdx.x; row < s.rows; row += blockDim.x) {
    weights += weight_of<scalar_t, acc_t>(weight, target[row], s.classes, ignore_index);
  }
  weights = block_sum(weights);
  if (threadIdx.x == 0) out[0] = weights;
}

// d loss / d logit_c = weight * (softmax_c - [c == target]), times what arrives at the row's loss: grad, through the mean divided by the
// total weight. `grad_stride` is 0 where one number arrives for all rows.
template <typename scalar_t, typename acc_t>
__global__ void cross_entropy_backward_kernel(const scalar_t* __restrict__ grad, int64_t grad_stride, const acc_t* __restrict__ total_weight,
                                              const scalar_t* __restrict__ input, const int64_t* __restrict__ target,
                                              const scalar_t* __restrict__ weight, scalar_t* __restrict__ grad_input, Logits s,
                                              int64_t ignore_index) {
  for (int64_t row = blockIdx.x; row < s.rows; row += gridDim.x) {
    const int64_t first = s.first(row);
    const acc_t total = log_sum_exp<scalar_t, acc_t>(input + first, s.classes, s.inner);
    const bool ignored = target[row] == ignore_index;
    acc_t scale = weight_of<scalar_t, acc_t>(weight, target[row], s.classes, ignore_index) * static_cast<acc_t>(grad[row * grad_stride]);
    if (total_weight != nullptr) scale /= total_weight[0];
    for (int64_t c = threadIdx.x; c < s.classes; c += blockDim.x) {
      const int64_t at = first + c * s.inner;
      const acc_t p = exp(static_cast<acc_t>(input[at]) - total);
      // An ignored row gets 0 even where the mean has nothing to divide by.
      grad_input[at] = static_cast<scalar_t>(ignored ? acc_t(0) : scale * (p - (c == target[row] ? acc_t(1) : acc_t(0))));
    }
  }
}

int threads_for(int64_t size) { return size <= 64 ? 32 : size <= 512 ? 128 : kThreads; }
unsigned blocks_for(int64_t rows) { return static_cast<unsigned>(std::min<int64_t>(rows, 1 << 20)); }

template <typename scalar_t>
const scalar_t* data_or_null(const at::Tensor& x) { return x.defined() ? x.const_data_ptr<scalar_t>() : nullptr; }

Logits check_arguments(const char* op, const at::Tensor& input, const at::Tensor& target, const std::optional<at::Tensor>& weight,
                       std::string_view reduction) {
  TORCH_CHECK(input.is_cuda() && input.device() == target.device(), op, ": the tensors are on ", input.device(), " and ", target.device());
  TORCH_CHECK(target.scalar_type() == at::kLong, op, ": expected targets of Long, got ", target.scalar_type());
  TORCH_CHECK(input.dim() >= 1, op, ": the input has no dimension of classes");
  TORCH_CHECK_VALUE(reduction == "none" || reduction == "mean" || reduction == "sum", op, ": reduction must be 'none', 'mean' or 'sum', got '",
                    reduction, "'");
  Logits s{1, input.size(0), 1};
  if (input.dim() == 1) {
    TORCH_CHECK(target.dim() == 0, op, ": the input has the shape ", input.sizes(), ", so the target has none; got ", target.sizes());
  } else {
    s.classes = input.size(1);
    std::vector<int64_t> expected = input.sizes().vec();
    expected.erase(expected.begin() + 1);
    TORCH_CHECK(target.sizes() == at::IntArrayRef(expected), op, ": the input has the shape ", input.sizes(), ", the target ", target.sizes(),
                ", expected ", at::IntArrayRef(expected));
    for (size_t d = 1; d < expected.size(); ++d) s.inner *= expected[d];
    s.rows = input.size(0) * s.inner;
  }
  TORCH_CHECK(s.rows == 0 || s.classes > 0, op, ": the input has no classes");
  if (weight) {
    TORCH_CHECK(weight->dim() == 1 && weight->size(0) == s.classes, op, ": weight has the shape ", weight->sizes(), ", expected [", s.classes, "]");
    TORCH_CHECK(weight->scalar_type() == input.scalar_type(), op, ": weight is of ", weight->scalar_type(), ", the input of ", input.scalar_type());
    TORCH_CHECK(weight->device() == input.device(), op, ": weight is on ", weight->device(), ", the input on ", input.device());
  }
  return s;
}

at::Tensor cross_entropy_cuda(const at::Tensor& input, const at::Tensor& target, const std::optional<at::Tensor>& weight,
                              int64_t ignore_index, std::string_view reduction) {
  const Logits s = check_arguments("cross_entropy", input, target, weight, reduction);
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor in = input.contiguous(), labels = target.contiguous(), w = weight ? weight->contiguous() : at::Tensor();
  const auto stream = at::cuda::getCurrentCUDAStream();
  at::Tensor out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "cross_entropy", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    at::Tensor losses = at::empty(labels.sizes(), in.options().dtype(c10::CppTypeToScalarType<acc_t>::value));
    if (s.rows > 0) {
      cross_entropy_kernel<scalar_t, acc_t><<<blocks_for(s.rows), threads_for(s.classes), 0, stream>>>(
          in.const_data_ptr<scalar_t>(), labels.const_data_ptr<int64_t>(), data_or_null<scalar_t>(w), losses.mutable_data_ptr<acc_t>(), s,
          ignore_index);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    if (reduction == "none") {
      out = losses.to(in.scalar_type());
      return;
    }
    // Over no rows the sum is 0 and the mean 0 / 0, as in torch.
    out = at::empty({}, in.options());
    reduce_kernel<scalar_t, acc_t><<<1, kThreads, 0, stream>>>(losses.const_data_ptr<acc_t>(), labels.const_data_ptr<int64_t>(),
                                                               data_or_null<scalar_t>(w), out.mutable_data_ptr<scalar_t>(), s, ignore_index,
                                                               reduction == "mean");
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

at::Tensor cross_entropy_backward_cuda(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& target,
                                       const std::optional<at::Tensor>& weight, int64_t ignore_index, std::string_view reduction) {
  const Logits s = check_arguments("cross_entropy_backward", input, target, weight, reduction);
  const bool each = reduction == "none";
  TORCH_CHECK(grad.device() == input.device(), "cross_entropy_backward: grad is on ", grad.device(), ", the input on ", input.device());
  TORCH_CHECK(grad.scalar_type() == input.scalar_type(), "cross_entropy_backward: grad is of ", grad.scalar_type(), ", the input of ",
              input.scalar_type());
  TORCH_CHECK(each ? grad.sizes() == target.sizes() : grad.dim() == 0, "cross_entropy_backward: grad has the shape ", grad.sizes(),
              " for the reduction '", reduction, "'");
  const c10::cuda::CUDAGuard guard(input.device());
  const at::Tensor g = grad.contiguous(), in = input.contiguous(), labels = target.contiguous();
  const at::Tensor w = weight ? weight->contiguous() : at::Tensor();
  at::Tensor grad_input = at::empty_like(in);
  if (grad_input.numel() == 0) return grad_input;
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "cross_entropy_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    at::Tensor total_weight;
    if (reduction == "mean") {
      total_weight = at::empty({}, in.options().dtype(c10::CppTypeToScalarType<acc_t>::value));
      total_weight_kernel<scalar_t, acc_t><<<1, kThreads, 0, stream>>>(labels.const_data_ptr<int64_t>(), data_or_null<scalar_t>(w),
                                                                       total_weight.mutable_data_ptr<acc_t>(), s, ignore_index);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    cross_entropy_backward_kernel<scalar_t, acc_t><<<blocks_for(s.rows), threads_for(s.classes), 0, stream>>>(
        g.const_data_ptr<scalar_t>(), each ? 1 : 0, data_or_null<acc_t>(total_weight), in.const_data_ptr<scalar_t>(),
        labels.const_data_ptr<int64_t>(), data_or_null<scalar_t>(w), grad_input.mutable_data_ptr<scalar_t>(), s, ignore_index);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return grad_input;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(kernels, m) {
  m.def("cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean') -> Tensor");
  m.def("cross_entropy_backward(Tensor grad, Tensor input, Tensor target, Tensor? weight, int ignore_index, str reduction) -> Tensor");
}

TORCH_LIBRARY_IMPL(kernels, CUDA, m) {
  m.impl("cross_entropy", &cross_entropy_cuda);
  m.impl("cross_entropy_backward", &cross_entropy_backward_cuda);
}
