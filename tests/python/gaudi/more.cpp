// What Gaudi's own interface leaves out: several kernels in one operator, a list of tensors, extents that follow from elements, a tensor
// changed in place; and kernels that do not fit their descriptors.
#include "hpu_custom_op.h"
#include <torch/extension.h>

using habana::custom_op::InputDesc;
using habana::custom_op::OutputDesc;
using habana::custom_op::input_type;

__global__ void square_f32(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * x[i];
}
__global__ void add_one_f32(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0f;
}

// Two kernels.
void square_and_one(const at::Tensor& x, at::Tensor out) {
    at::Tensor dense = x.contiguous();
    int n = out.numel();
    if (n == 0) return;
    square_f32<<<(n + 127) / 128, 128>>>(dense.data_ptr<float>(), out.data_ptr<float>(), n);
    add_one_f32<<<(n + 127) / 128, 128>>>(out.data_ptr<float>(), n);
}

// A list and a list of numbers.
void weighted_sum(at::Tensor first, const std::vector<at::Tensor>& rest, const std::vector<int64_t>& weights, at::Tensor out) {
    out.copy_(first);
    for (size_t i = 0; i < rest.size(); ++i) out.add_(rest[i], weights[i]);
}

// The positive elements, as many as there are.
void keep_positive(const at::Tensor& x, at::Tensor out) {
    at::Tensor dense = x.contiguous();
    const float* in = dense.data_ptr<float>();
    float* to = out.data_ptr<float>();
    int64_t at = 0;
    for (int64_t i = 0; i < x.numel(); ++i)
        if (in[i] > 0) to[at++] = in[i];
}

void register_all() {
    std::vector<InputDesc> one{InputDesc{input_type::TENSOR, 0}};
    std::vector<OutputDesc> same{OutputDesc{0, c10::ScalarType::Float}};
    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_more::square_and_one", "square_and_one", one, same, nullptr);

    std::vector<InputDesc> several{InputDesc{input_type::TENSOR, 0}, InputDesc{input_type::TENSOR, 1}, InputDesc{input_type::SCALAR, 2}};
    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_more::weighted_sum", "weighted_sum", several, same, nullptr);

    auto count = [](const at::Stack& inputs) -> std::vector<int64_t> {
        return {(inputs[0].toTensor() > 0).sum().item<int64_t>()};
    };
    std::vector<OutputDesc> counted{OutputDesc{0, c10::ScalarType::Float, count}};
    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_more::keep_positive", "keep_positive", one, counted, nullptr);

    std::vector<OutputDesc> none;
    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_more::add_one_", "add_one_f32", one, none, nullptr);
    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_more::two_outputs", "add_one_f32", one, same, nullptr);
    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_more::no_kernel", "no_such_kernel_f32", one, same, nullptr);
    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_more::number_missing", "weighted_sum", one, same, nullptr);
}

at::Tensor run(const char* name, const std::vector<c10::IValue>& inputs) {
    register_all();
    auto made = habana::custom_op::HabanaCustomOpDescriptor::getCustomOpDescriptor(name).execute(inputs);
    return made.size() > 0 ? made[0] : inputs[0].toTensor();
}
at::Tensor square_and_one_execute(at::Tensor x) { return run("gaudi_more::square_and_one", {x}); }
at::Tensor weighted_sum_execute(at::Tensor first, std::vector<at::Tensor> rest, std::vector<int64_t> weights) {
    return run("gaudi_more::weighted_sum", {first, rest, weights});
}
at::Tensor keep_positive_execute(at::Tensor x) { return run("gaudi_more::keep_positive", {x}); }
at::Tensor add_one_execute(at::Tensor x) { return run("gaudi_more::add_one_", {x}); }
at::Tensor two_outputs_execute(at::Tensor x) { return run("gaudi_more::two_outputs", {x}); }
at::Tensor no_kernel_execute(at::Tensor x) { return run("gaudi_more::no_kernel", {x}); }
at::Tensor number_missing_execute(at::Tensor x) { return run("gaudi_more::number_missing", {x}); }
at::Tensor unregistered_execute(at::Tensor x) { return run("gaudi_more::nobody", {x}); }
at::Tensor too_many_execute(at::Tensor x) { return run("gaudi_more::square_and_one", {x, x}); }

TORCH_LIBRARY(gaudi_more, m) {
    m.def("square_and_one(Tensor x) -> Tensor");
    m.def("weighted_sum(Tensor first, Tensor[] rest, int[] weights) -> Tensor");
    m.def("keep_positive(Tensor x) -> Tensor");
    m.def("add_one_(Tensor(a!) x) -> Tensor(a!)");
    m.def("two_outputs(Tensor x) -> Tensor");
    m.def("no_kernel(Tensor x) -> Tensor");
    m.def("number_missing(Tensor x) -> Tensor");
    m.def("unregistered(Tensor x) -> Tensor");
    m.def("too_many(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(gaudi_more, HPU, m) {
    m.impl("square_and_one", square_and_one_execute);
    m.impl("weighted_sum", weighted_sum_execute);
    m.impl("keep_positive", keep_positive_execute);
    m.impl("add_one_", add_one_execute);
    m.impl("two_outputs", two_outputs_execute);
    m.impl("no_kernel", no_kernel_execute);
    m.impl("number_missing", number_missing_execute);
    m.impl("unregistered", unregistered_execute);
    m.impl("too_many", too_many_execute);
}
