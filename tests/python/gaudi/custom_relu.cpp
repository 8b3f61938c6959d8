// ReLU and its gradient by descriptors of <hpu_custom_op.h>.
#include "hpu_custom_op.h"
#include <torch/extension.h>
#include <perf_lib_layer_params.h>

__global__ void relu_fwd_f32(const float* x, float* out, ns_ReluKernel::Params params, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] > params.threshold.f ? x[i] : 0.0f;
}

__global__ void relu_bwd_f32(const float* grad, const float* x, float threshold, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] > threshold ? grad[i] : 0.0f;
}

bool register_custom_relu() {
    habana::custom_op::InputDesc x_desc{habana::custom_op::input_type::TENSOR, 0};
    std::vector<habana::custom_op::InputDesc> inputs_desc{x_desc};

    auto output_size_lambda = [](const at::Stack& inputs) -> std::vector<int64_t> {
        auto self = inputs[0].toTensor();
        std::vector<int64_t> result_sizes = self.sizes().vec();
        return result_sizes;
    };
    habana::custom_op::OutputDesc output_desc{0, c10::ScalarType::Float, output_size_lambda};
    std::vector<habana::custom_op::OutputDesc> outputs_desc{output_desc};

    auto user_params_lambda = [](const at::Stack& inputs, size_t& size) {
        HPU_PARAMS_STUB(ns_ReluKernel::Params);
        params->threshold.f = 0.0;
        return params;
    };

    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_relu::custom_relu", "relu_fwd_f32", inputs_desc, outputs_desc, user_params_lambda);
    return true;
}

bool register_custom_relu_backward() {
    habana::custom_op::InputDesc grad_desc{habana::custom_op::input_type::TENSOR, 0};
    habana::custom_op::InputDesc x_desc{habana::custom_op::input_type::TENSOR, 1};
    habana::custom_op::InputDesc threshold_desc{habana::custom_op::input_type::SCALAR, 2};
    std::vector<habana::custom_op::InputDesc> inputs_desc{grad_desc, x_desc, threshold_desc};

    // Without a callback: the extents of input 0.
    habana::custom_op::OutputDesc output_desc{0, c10::ScalarType::Float};
    std::vector<habana::custom_op::OutputDesc> outputs_desc{output_desc};

    REGISTER_CUSTOM_OP_ATTRIBUTES("gaudi_relu::custom_relu_backward", "relu_bwd_f32", inputs_desc, outputs_desc, nullptr);
    return true;
}

at::Tensor custom_relu_execute(torch::Tensor x) {
    TORCH_CHECK(x.scalar_type() == c10::ScalarType::Float, "Input x expected to be Float tensor");
    static bool registered = register_custom_relu();
    TORCH_CHECK(registered, "custom_relu kernel not registered");
    std::vector<c10::IValue> inputs{x};
    auto op_desc = habana::custom_op::HabanaCustomOpDescriptor::getCustomOpDescriptor("gaudi_relu::custom_relu");
    std::vector<at::Tensor> output = op_desc.execute(inputs);
    return output[0];
}

at::Tensor custom_relu_backward_execute(torch::Tensor grad, torch::Tensor x, c10::Scalar threshold) {
    TORCH_CHECK(grad.scalar_type() == c10::ScalarType::Float, "Input grad expected to be Float tensor");
    TORCH_CHECK(threshold.to<float>() == 0.0, "Threshold values other than 0 are not supported")
    static bool registered = register_custom_relu_backward();
    TORCH_CHECK(registered, "custom_relu_backward kernel not registered");
    std::vector<c10::IValue> inputs{grad, x, threshold};
    auto op_desc = habana::custom_op::HabanaCustomOpDescriptor::getCustomOpDescriptor("gaudi_relu::custom_relu_backward");
    std::vector<at::Tensor> output = op_desc.execute(inputs);
    return output[0];
}

TORCH_LIBRARY(gaudi_relu, m) {
    m.def("custom_relu(Tensor self) -> Tensor");
    m.def("custom_relu_backward(Tensor grad, Tensor self, Scalar threshold) -> Tensor");
}
TORCH_LIBRARY_IMPL(gaudi_relu, HPU, m) {
    m.impl("custom_relu", custom_relu_execute);
    m.impl("custom_relu_backward", custom_relu_backward_execute);
}
