// The k largest, or smallest, along a dimension, by a descriptor of <hpu_custom_op_pt2.h>. The kernel counts dimensions from the last.
#include <torch/extension.h>
#include "hpu_custom_op_pt2.h"
#include "synapse_common_types.hpp"

// One thread for each row along the dimension: the best of those not taken yet, k times.
__global__ void topk_rows(tpc::tensor<const float> x, tpc::tensor<float> values, tpc::tensor<int64_t> indices, int axis, int k,
                          bool smallest, int64_t rows) {
    int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int64_t from = 0, to = 0, rest = row;
    for (int64_t d = x.dim() - 1; d >= 0; --d) {
        if (d == axis) continue;
        int64_t i = rest % x.size(d);
        rest /= x.size(d);
        from += i * x.stride(d);
        to += i * values.stride(d);
    }
    int64_t step = x.stride(axis), place = values.stride(axis);
    int64_t last = -1;
    for (int j = 0; j < k; ++j) {
        int64_t best = -1;
        for (int64_t i = 0; i < x.size(axis); ++i) {
            float v = x[from + i * step];
            if (j > 0) {
                float taken = x[from + last * step];
                bool behind = smallest ? v > taken : v < taken;
                if (!behind && !(v == taken && i > last)) continue;
            }
            if (best < 0 || (smallest ? v < x[from + best * step] : v > x[from + best * step])) best = i;
        }
        values[to + j * place] = x[from + best * step];
        indices[to + j * place] = best;
        last = best;
    }
}

static habana::PartialOutputMetaDataVector output_meta(const at::Stack& inputs) {
    auto self = inputs[0].toTensor();
    auto k = inputs[1].toInt();
    auto dim = inputs[2].toInt();
    TORCH_CHECK(dim >= 0 && dim < self.dim(), "dim ", dim, " of a tensor of ", self.dim(), " dimensions");
    TORCH_CHECK(k >= 0 && k <= self.size(dim), "k is ", k, ", and the dimension has ", self.size(dim));
    std::vector<int64_t> output_shape = self.sizes().vec();
    if (output_shape.size() > 0) {
        output_shape[dim] = k;
    }
    habana::PartialOutputMetaData meta_output{c10::ScalarType::Float, output_shape};
    habana::PartialOutputMetaData meta_indices{c10::ScalarType::Long, output_shape};
    return {meta_output, meta_indices};
}

static std::shared_ptr<void> fill_params(const at::Stack& inputs, size_t& size) {
    HPU_PARAMS_STUB(synBeamParams);
    auto self = inputs[0].toTensor();
    params->bsw = inputs[1].toInt();
    auto dim = inputs[2].toInt();
    params->axis = self.dim() - dim - 1;
    params->bottomK = !inputs[3].toBool();
    return params;
}

template <typename T> tpc::tensor<T> seen(const at::Tensor& x) {
    tpc::tensor<T> made;
    made.data = x.data_ptr<T>();
    made.rank = x.dim();
    made.count = x.numel();
    for (int64_t i = 0; i < x.dim(); ++i) {
        made.sizes[i] = x.size(i);
        made.strides[i] = x.stride(i);
    }
    return made;
}

// The kernel that the descriptor names: it launches one of its own.
void topk(const at::Tensor& x, at::Tensor values, at::Tensor indices, const synBeamParams& params) {
    if (values.numel() == 0) return;
    int axis = x.dim() - params.axis - 1;
    int64_t rows = values.numel() / params.bsw;
    topk_rows<<<(rows + 63) / 64, 64>>>(seen<const float>(x), seen<float>(values), seen<int64_t>(indices), axis, params.bsw,
                                       params.bottomK, rows);
}

bool register_custom_topk() {
    habana::custom_op::registerUserCustomOp("gaudi_topk::custom_topk", "topk", output_meta, fill_params);
    return true;
}

std::tuple<at::Tensor, at::Tensor> custom_topk(at::Tensor a, at::Scalar k, at::Scalar dim, bool descending) {
    auto op_desc = habana::custom_op::UserCustomOpDescriptor::getUserCustomOpDescriptor("gaudi_topk::custom_topk");
    std::vector<c10::IValue> inputs{a, k, dim, descending};
    std::vector<at::Tensor> output = op_desc.execute(inputs);
    return {output[0], output[1]};
}

TORCH_LIBRARY(gaudi_topk, m) {
    m.def("custom_topk(Tensor a, Scalar k, Scalar dim, bool descending) -> (Tensor values, Tensor indices)");
}
TORCH_LIBRARY_IMPL(gaudi_topk, HPU, m) {
    m.impl("custom_topk", custom_topk);
}

static const auto& KernelReg = register_custom_topk();
