"""`torch::nn::functional` in host code: what torch's own functions give, called from the same text built by torch's compiler."""


import numpy as np
import pytest
import torch
from torch.utils.cpp_extension import load_inline

import workbench as wb

# The text read before the test's text; it is empty where the library has these names.

# Each a result of float tensors: `x` of 2 x 4 x 7 x 9, `v` of 3 x 6 x 11, `c` of 2 x 4 x 5 x 6 x 7, `w` of 4 x 2 x 3 x 3, `m` and `n` of
# 5 x 8, `p` of 5 x 8 in (0, 1), `t` of 5 classes.
CASES = [
    "F::relu(m)", "F::relu(m.clone(), F::ReLUFuncOptions().inplace(true))", "F::relu(m.clone(), true)", "F::relu6(m * 9)", "F::gelu(m)",
    "F::gelu(m, F::GELUFuncOptions().approximate(\"tanh\"))", "F::silu(m)", "F::mish(m)", "F::elu(m)", "F::elu(m, F::ELUFuncOptions().alpha(0.7))",
    "F::selu(m)", "F::celu(m, F::CELUFuncOptions().alpha(0.7))", "F::leaky_relu(m)", "F::leaky_relu(m, F::LeakyReLUFuncOptions().negative_slope(0.2).inplace(false))",
    "F::rrelu(m)", "F::rrelu(m, F::RReLUFuncOptions().lower(0.1).upper(0.9))", "F::hardtanh(m)", "F::hardtanh(m, F::HardtanhFuncOptions().min_val(-0.5).max_val(0.25))",
    "F::threshold(m, F::ThresholdFuncOptions(0.3, -2))", "F::prelu(x, torch::ones({4}) * 0.25)", "F::logsigmoid(m)", "F::softsign(m)", "F::tanhshrink(m)",
    "F::hardshrink(m)", "F::hardshrink(m, F::HardshrinkFuncOptions(0.7))", "F::softshrink(m)", "F::softshrink(m, 0.2)", "F::softplus(m)",
    "F::softplus(m, F::SoftplusFuncOptions().beta(2).threshold(1))", "F::glu(m)", "F::glu(x, F::GLUFuncOptions(1))", "F::glu(x, 1)",
    "F::softmax(m, F::SoftmaxFuncOptions(1))", "F::softmax(m, 0)", "F::softmax(m, F::SoftmaxFuncOptions(-1).dtype(torch::kFloat))", "F::softmin(m, F::SoftminFuncOptions(1))",
    "F::log_softmax(m, F::LogSoftmaxFuncOptions(1))", "F::log_softmax(m, /*dim=*/0)",
    "F::linear(m, n)", "F::linear(m, n, torch::ones({5}))", "F::linear(v, torch::ones({2, 11}), torch::ones({2}))", "F::bilinear(m, n, torch::ones({3, 8, 8}) * 0.1, torch::ones({3}))",
    "F::bilinear(v, v.flip({0}), v.index({0}).unsqueeze(2) * torch::ones({6, 11, 11}))",
    "F::conv1d(v, v.slice(2, 0, 3))", "F::conv1d(v, v.slice(2, 0, 3), F::Conv1dFuncOptions().stride(2).padding(1).bias(torch::ones({3})))",
    "F::conv2d(x, w.repeat({1, 2, 1, 1}), F::Conv2dFuncOptions().bias(torch::ones({4})).stride(2).padding({1, 2}).dilation({2, 1}))",
    "F::conv2d(x, w, F::Conv2dFuncOptions().groups(2).padding(torch::kSame))", "F::conv2d(x, w.slice(3, 0, 2), F::Conv2dFuncOptions().groups(2).padding(torch::kSame).dilation({1, 3}))",
    "F::conv2d(x, w, F::Conv2dFuncOptions().groups(2).padding(torch::kValid))", "F::conv2d(x[0], w, F::Conv2dFuncOptions().groups(2).padding(1))",
    "F::conv3d(c, torch::ones({3, 4, 2, 3, 2}) * 0.5, F::Conv3dFuncOptions().stride({1, 2, 1}).padding({1, 0, 1}))",
    "F::conv_transpose1d(v, v.reshape({6, 3, 11}).slice(2, 0, 4), F::ConvTranspose1dFuncOptions().stride(2).padding(1))",
    "F::conv_transpose2d(x, w, F::ConvTranspose2dFuncOptions().stride(2).padding(1).output_padding(1).bias(torch::ones({2})))",
    "F::conv_transpose3d(c, c.narrow(0, 0, 1).reshape({4, 1, 5, 6, 7}).slice(2, 0, 3).slice(3, 0, 2).slice(4, 0, 3).repeat({1, 2, 1, 1, 1}), F::ConvTranspose3dFuncOptions().stride({2, 1, 3}).padding({1, 0, 2}).output_padding({1, 0, 2}).groups(2).dilation({1, 2, 1}))",
    "F::conv_transpose3d(c[0], torch::ones({4, 2, 2, 2, 2}), F::ConvTranspose3dFuncOptions().bias(torch::ones({2})))",
    "F::batch_norm(x, torch::ones({4}), torch::ones({4}) * 3)", "F::batch_norm(x, torch::ones({4}), torch::ones({4}) * 3, F::BatchNormFuncOptions().weight(torch::arange(4).to(torch::kFloat)).bias(torch::ones({4})).eps(1e-3))",
    "F::batch_norm(m, {}, {}, F::BatchNormFuncOptions().training(true).momentum(0.1))", "F::instance_norm(x)",
    "F::instance_norm(x, F::InstanceNormFuncOptions().weight(torch::arange(4).to(torch::kFloat)).bias(torch::ones({4})).eps(1e-3))",
    "F::instance_norm(x, F::InstanceNormFuncOptions().running_mean(torch::ones({4})).running_var(torch::ones({4}) * 2).use_input_stats(false))",
    "F::layer_norm(m, F::LayerNormFuncOptions({8}))", "F::layer_norm(m, F::LayerNormFuncOptions({m.size(1)}).weight(n[0]).bias(n[1]).eps(1e-3))",
    "F::layer_norm(x, F::LayerNormFuncOptions({7, 9}).eps(2e-5))", "F::group_norm(x, F::GroupNormFuncOptions(2))",
    "F::group_norm(x, F::GroupNormFuncOptions(4).weight(torch::arange(4).to(torch::kFloat)).bias(torch::ones({4})))",
    "F::local_response_norm(x, F::LocalResponseNormFuncOptions(3).alpha(0.2).beta(0.5).k(2))", "F::local_response_norm(v, F::LocalResponseNormFuncOptions(2))", "F::local_response_norm(c, 4)",
    "F::normalize(m)", "F::normalize(m, F::NormalizeFuncOptions().p(1).dim(-1))", "F::normalize(x, F::NormalizeFuncOptions().p(3).dim(0).eps(0.5))",
    "F::max_pool1d(v, F::MaxPool1dFuncOptions(3).stride(2).padding(1))", "F::max_pool2d(x, F::MaxPool2dFuncOptions(3))", "F::max_pool2d(x, F::MaxPool2dFuncOptions({3, 2}).stride({2, 1}).padding({1, 0}))",
    "F::max_pool2d(x, F::MaxPool2dFuncOptions(3).stride(2).padding(1).dilation(2).ceil_mode(true))", "F::max_pool3d(c, F::MaxPool3dFuncOptions(2).stride(2).ceil_mode(true))",
    "std::get<0>(F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(3).stride(2).padding(1)))", "std::get<1>(F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(3).stride(2).padding(1).ceil_mode(true)))",
    "std::get<1>(F::max_pool2d_with_indices(x.round(), F::MaxPool2dFuncOptions({2, 3}).dilation({2, 1})))", "std::get<1>(F::max_pool1d_with_indices(v, F::MaxPool1dFuncOptions(3).stride(2)))", "std::get<1>(F::max_pool3d_with_indices(c, F::MaxPool3dFuncOptions(2)))",
    "std::get<1>(F::max_pool2d_with_indices(x * 0 - INFINITY, F::MaxPool2dFuncOptions(3).padding(1)))",
    "F::avg_pool1d(v, F::AvgPool1dFuncOptions(4).stride(3).padding(2))", "F::avg_pool2d(x, F::AvgPool2dFuncOptions({2, 3}).stride({1, 2}).padding({1, 1}).count_include_pad(false))",
    "F::avg_pool2d(x, F::AvgPool2dFuncOptions(3).stride(2).padding(1).ceil_mode(true))", "F::avg_pool2d(x, F::AvgPool2dFuncOptions(2).divisor_override(3))", "F::avg_pool3d(c, F::AvgPool3dFuncOptions(2).stride(1).padding(1))",
    "F::adaptive_avg_pool1d(v, F::AdaptiveAvgPool1dFuncOptions(5))", "F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({3, 4}))", "F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions(1))",
    "F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({torch::nullopt, 4}))", "F::adaptive_avg_pool3d(c, F::AdaptiveAvgPool3dFuncOptions({2, 4, 3}))",
    "F::adaptive_max_pool1d(v, F::AdaptiveMaxPool1dFuncOptions(5))", "F::adaptive_max_pool2d(x, F::AdaptiveMaxPool2dFuncOptions({3, 4}))", "std::get<1>(F::adaptive_max_pool2d_with_indices(x.round(), F::AdaptiveMaxPool2dFuncOptions({3, 4})))",
    "F::adaptive_max_pool3d(c, F::AdaptiveMaxPool3dFuncOptions(2))",
    "F::max_unpool2d(F::max_pool2d(x, F::MaxPool2dFuncOptions(2)), std::get<1>(F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(2))), F::MaxUnpool2dFuncOptions(2).output_size(std::vector<int64_t>({2, 4, 7, 9})))",
    "F::max_unpool1d(F::max_pool1d(v, F::MaxPool1dFuncOptions(2)), std::get<1>(F::max_pool1d_with_indices(v, F::MaxPool1dFuncOptions(2))), F::MaxUnpool1dFuncOptions(2))",
    "F::lp_pool1d(v.abs(), F::LPPool1dFuncOptions(2, 3).stride(2))", "F::lp_pool2d(x.abs(), F::LPPool2dFuncOptions(3, {2, 3}).ceil_mode(true))",
    "F::pad(x, F::PadFuncOptions({1, 2}))", "F::pad(x, F::PadFuncOptions({1, 2, 0, 1, 1, 0}).mode(torch::kConstant).value(2.5))", "F::pad(x, F::PadFuncOptions({-1, 2}))", "F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kReflect))",
    "F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kReplicate))", "F::pad(x, F::PadFuncOptions({9, 2, 3, 0}).mode(torch::kCircular))", "F::pad(v, F::PadFuncOptions({1, 2}).mode(torch::kReflect))",
    "F::pad(c, F::PadFuncOptions({1, 2, 3, 0, 1, 1}).mode(torch::kReflect))", "F::pad(c, F::PadFuncOptions({1, 2, 3, 0, 1, 1}).mode(torch::kReplicate))", "F::pad(c, F::PadFuncOptions({1, 2, 3, 0, 1, 1}).mode(torch::kCircular))",
    "F::pad(m, F::PadFuncOptions({1, 2}).mode(torch::kReplicate))", "torch::reflection_pad2d(x, {1, 2, 3, 0})", "torch::replication_pad1d(v, {4, 0})",
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>({10, 5})))", "F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>({2, 3})).mode(torch::kNearest))",
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{10, 5}).mode(torch::kBilinear).align_corners(false))", "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{10, 5}).mode(torch::kBilinear).align_corners(true))",
    "F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{1.7, 0.6}).mode(torch::kBilinear).align_corners(false))", "F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{1.7, 0.6}).mode(torch::kBilinear).align_corners(false).recompute_scale_factor(true))",
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{10, 5}).mode(torch::kBicubic).align_corners(false))", "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{10, 5}).mode(torch::kBicubic).align_corners(true))",
    "F::interpolate(v, F::InterpolateFuncOptions().size(std::vector<int64_t>{7}).mode(torch::kLinear).align_corners(false))", "F::interpolate(v, F::InterpolateFuncOptions().size(std::vector<int64_t>{7}))",
    "F::interpolate(c, F::InterpolateFuncOptions().size(std::vector<int64_t>{7, 3, 9}).mode(torch::kTrilinear).align_corners(false))", "F::interpolate(c, F::InterpolateFuncOptions().size(std::vector<int64_t>{7, 3, 9}).mode(torch::kNearest))",
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{10, 5}).mode(torch::kArea))", "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{10, 5}).mode(torch::kNearestExact))",
    "torch::upsample_linear1d(v, {20}, true)", "torch::upsample_bicubic2d(x, {10, 5}, false, 1.5, 0.6)", "torch::upsample_trilinear3d(c, {7, 3, 9}, true)", "torch::upsample_nearest3d(c, {7, 3, 9})",
    "F::pixel_shuffle(x, F::PixelShuffleFuncOptions(2))", "F::pixel_unshuffle(c, F::PixelUnshuffleFuncOptions(1))", "F::pixel_unshuffle(x.slice(2, 0, 6), 3)",
    "F::unfold(x, F::UnfoldFuncOptions({2, 3}).dilation({1, 2}).padding({1, 0}).stride({2, 1}))", "F::unfold(x, F::UnfoldFuncOptions(3))",
    "F::fold(F::unfold(x, F::UnfoldFuncOptions({2, 3}).dilation({1, 2}).padding({1, 0}).stride({2, 1})), F::FoldFuncOptions({7, 9}, {2, 3}).dilation({1, 2}).padding({1, 0}).stride({2, 1}))", "F::fold(v.transpose(0, 1).reshape({6, 33}).slice(1, 0, 30), F::FoldFuncOptions({6, 7}, {1, 2}).stride({1, 1}).padding(0).dilation(2))",
    "F::embedding(t, m.t())", "F::embedding(t, m.t(), F::EmbeddingFuncOptions().padding_idx(-1))", "F::embedding(t, m.t().clone(), F::EmbeddingFuncOptions().max_norm(1.5).norm_type(1))", "F::one_hot(t, 8).to(torch::kFloat)", "F::one_hot(t).to(torch::kFloat)",
    "F::embedding_bag(t, m.t(), F::EmbeddingBagFuncOptions().offsets(torch::tensor({0, 2, 2})))", "F::embedding_bag(t, m.t(), F::EmbeddingBagFuncOptions().mode(torch::kSum).offsets(torch::tensor({0, 2, 3, 5})).include_last_offset(true).per_sample_weights(p[0].slice(0, 0, 5)))",
    "F::embedding_bag(t, m.t(), F::EmbeddingBagFuncOptions().mode(torch::kMax).offsets(torch::tensor({0, 2, 2})))", "F::embedding_bag(torch::stack({t, t.flip({0})}), m.t(), F::EmbeddingBagFuncOptions().mode(torch::kMean))",
    "F::embedding_bag(torch::tensor({3, 1, 1, 2}), m.t(), F::EmbeddingBagFuncOptions().padding_idx(1).offsets(torch::tensor({0, 1, 3})))",
    "F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false))", "F::dropout(x, F::DropoutFuncOptions().p(0))", "F::dropout2d(x, F::Dropout2dFuncOptions().p(1))", "F::dropout3d(c, F::Dropout3dFuncOptions().training(false))", "F::alpha_dropout(m)",
    "F::cosine_similarity(m, n)", "F::cosine_similarity(m, n, F::CosineSimilarityFuncOptions().dim(0).eps(1e-2))", "F::pairwise_distance(m, n)", "F::pairwise_distance(m, n, F::PairwiseDistanceFuncOptions().p(1).keepdim(true))", "F::pdist(m)", "F::pdist(m, 1.5)",
    "F::l1_loss(m, n)", "F::l1_loss(m, n, F::L1LossFuncOptions(torch::kSum))", "F::mse_loss(m, n)", "F::mse_loss(m, n, F::MSELossFuncOptions().reduction(torch::kNone))", "F::mse_loss(m, n, F::MSELossFuncOptions(torch::kSum))",
    "F::smooth_l1_loss(m, n)", "F::smooth_l1_loss(m, n, F::SmoothL1LossFuncOptions().reduction(torch::kNone).beta(0.5))", "F::smooth_l1_loss(m, n, torch::kSum)", "F::smooth_l1_loss(m, n, F::SmoothL1LossFuncOptions(), 0.3)", "F::huber_loss(m, n, F::HuberLossFuncOptions().reduction(torch::kSum).delta(0.7))",
    "F::kl_div(p.log(), p.flip({0}), F::KLDivFuncOptions().reduction(torch::kBatchMean))", "F::kl_div(p.log(), p.flip({0}).log(), F::KLDivFuncOptions(torch::kSum).log_target(true))",
    "F::binary_cross_entropy(p, p.flip({1}))", "F::binary_cross_entropy(p, p.flip({1}), F::BinaryCrossEntropyFuncOptions().weight(p).reduction(torch::kNone))", "F::binary_cross_entropy_with_logits(m, p)",
    "F::binary_cross_entropy_with_logits(m, p, F::BinaryCrossEntropyWithLogitsFuncOptions().weight(p).pos_weight(p[0]).reduction(torch::kSum))", "F::nll_loss(m.log_softmax(1), t)", "F::nll_loss(m.log_softmax(1), t, F::NLLLossFuncOptions().weight(p[0]).ignore_index(3).reduction(torch::kSum))",
    "F::cross_entropy(m, t)", "F::cross_entropy(m, t, F::CrossEntropyFuncOptions().weight(p[0]).ignore_index(3).label_smoothing(0.1))", "F::cross_entropy(m, p / p.sum(1, true), F::CrossEntropyFuncOptions().reduction(torch::kNone))",
    "F::hinge_embedding_loss(m, n.sign(), F::HingeEmbeddingLossFuncOptions().margin(0.5))", "F::cosine_embedding_loss(m, n, m.sum(1).sign(), F::CosineEmbeddingLossFuncOptions().margin(0.2).reduction(torch::kNone))",
    "F::margin_ranking_loss(m, n, m.sign(), F::MarginRankingLossFuncOptions().margin(0.2))", "F::multi_margin_loss(m, t)", "F::multi_margin_loss(m, t, F::MultiMarginLossFuncOptions().p(2).margin(0.5).weight(p[0]).reduction(torch::kNone))",
    "F::multilabel_margin_loss(m, torch::stack({t, t.flip({0}), t - 1, t * 0 - 1, t, t, t, t}, 1).clamp_min(-1))", "F::multilabel_soft_margin_loss(m, p, F::MultilabelSoftMarginLossFuncOptions().weight(p[0]))", "F::soft_margin_loss(m, n.sign())",
    "F::triplet_margin_loss(m, n, p)", "F::triplet_margin_loss(m, n, p, F::TripletMarginLossFuncOptions().margin(0.5).p(1).swap(true).reduction(torch::kNone))",
    "F::poisson_nll_loss(m, p * 3)", "F::poisson_nll_loss(p, p * 3, F::PoissonNLLLossFuncOptions().log_input(false).full(true).eps(1e-4).reduction(torch::kSum))",
]  # fmt: skip
# Calls that torch refuses, and the class of its error.
REFUSED = [
    "F::glu(m.slice(1, 0, 3))", "F::softmax(m, 2)", "F::conv2d(x, w, F::Conv2dFuncOptions().groups(2).stride(2).padding(torch::kSame))", "F::conv2d(x, w, F::Conv2dFuncOptions().stride(IntArrayRef(std::vector<int64_t>({1, 2, 3}))))",
    "F::layer_norm(m, F::LayerNormFuncOptions({7}))", "F::batch_norm(m[0], {}, {})", "F::batch_norm(m.slice(0, 0, 1), {}, {}, F::BatchNormFuncOptions().training(true))", "F::group_norm(x, F::GroupNormFuncOptions(3))",
    "F::local_response_norm(m, 2)", "F::pad(x, F::PadFuncOptions({1}))", "F::pad(x, F::PadFuncOptions({9, 0}).mode(torch::kReflect))", "F::pad(x, F::PadFuncOptions({9, 0, 0, 0}).mode(torch::kReflect))", "F::pad(x, F::PadFuncOptions({10, 0, 0, 0}).mode(torch::kCircular))",
    "F::pad(x, F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReplicate).value(1))", "F::interpolate(x)", "F::interpolate(m, F::InterpolateFuncOptions().size(std::vector<int64_t>{3}))", "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{3}))",
    "F::interpolate(v, F::InterpolateFuncOptions().size(std::vector<int64_t>{3}).mode(torch::kBilinear).align_corners(false))", "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 3}).align_corners(true))", "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{0, 3}))",
    "F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 3}).scale_factor(std::vector<double>{3, 3}))", "F::pixel_unshuffle(x, 2)", "F::unfold(v, F::UnfoldFuncOptions(2))", "F::fold(x, F::FoldFuncOptions(4, 2))", "F::fold(v, F::FoldFuncOptions(4, 2))",
    "F::embedding(t, m.t(), F::EmbeddingFuncOptions().padding_idx(8))", "F::embedding_bag(t, m.t())", "F::embedding_bag(t, m.t(), F::EmbeddingBagFuncOptions().offsets(torch::tensor({0})).per_sample_weights(p[0].slice(0, 0, 5)))", "F::dropout(x, F::DropoutFuncOptions().p(1.5))",
    "F::nll_loss(m[0], t)", "F::nll_loss(m, t.slice(0, 0, 3))", "F::cross_entropy(m, t + 7)", "F::binary_cross_entropy(m, p)", "F::binary_cross_entropy(p, p[0])", "F::binary_cross_entropy_with_logits(p, p[0])", "F::huber_loss(m, n, F::HuberLossFuncOptions().delta(-1))", "F::smooth_l1_loss(m, n, F::SmoothL1LossFuncOptions().beta(1), 0.3)",
    "F::margin_ranking_loss(m, n, m[0])", "F::multi_margin_loss(m, t, F::MultiMarginLossFuncOptions().p(3))", "F::cosine_embedding_loss(m, n, m)", "F::max_unpool2d(x, torch::zeros_like(x).to(torch::kLong), F::MaxUnpool2dFuncOptions(2).output_size(std::vector<int64_t>{1, 2, 3}))",
    "F::softshrink(m, -1)", "F::multilabel_margin_loss(m, m.to(torch::kLong) - 7)", "F::multilabel_margin_loss(m, m.to(torch::kLong) + 9)", "F::multi_margin_loss(m, t + 8)", "F::embedding(t + 8, m.t())", "F::one_hot(t - 9)", "F::conv2d(x, w)", "F::gelu(m, F::GELUFuncOptions().approximate(\"x\"))", "F::rrelu(m, F::RReLUFuncOptions().lower(2))", "F::pdist(x)", "F::bilinear(m, n, torch::ones({3, 8, 7}))", "torch::reflection_pad2d(x, {1, 1})", "F::celu(m, F::CELUFuncOptions().alpha(0))", "F::local_response_norm(m, 3)",
]  # fmt: skip
# The same by their names in `at`.
AT = [
    "torch::hardshrink(m, 0.7)", "torch::softshrink(m)", "torch::rrelu(m)", "torch::bilinear(m, n, torch::ones({3, 8, 8}) * 0.1)", "at::pad(v, {1, 1}, \"reflect\")", "at::pad(x, {1, 1}, \"constant\", 2.0)", "at::pad(m, {-1, 1})",
    "torch::conv_transpose3d(c, torch::ones({4, 2, 2, 2, 2}), {}, 2)", "std::get<1>(torch::max_pool2d_with_indices(x, 3, 2, 1))", "std::get<1>(torch::adaptive_max_pool3d(c, {3, 2, 4}))", "std::get<0>(torch::adaptive_max_pool1d(v, 4))",
    "torch::max_unpool2d(std::get<0>(torch::max_pool2d_with_indices(x, 2)), std::get<1>(torch::max_pool2d_with_indices(x, 2)), {7, 9})", "torch::adaptive_avg_pool3d(c, {3, 2, 4})", "torch::pixel_unshuffle(x.slice(2, 0, 6), 3)", "torch::alpha_dropout(m, 0.3, false)",
    "torch::hinge_embedding_loss(m, n.sign())", "torch::cosine_embedding_loss(m, n, m.sum(1).sign())", "torch::multi_margin_loss(m, t)", "torch::multilabel_margin_loss(m[0], (3 - torch::arange(8)).clamp_min(-1))", "torch::soft_margin_loss(m, n.sign(), 2)", "torch::poisson_nll_loss(m, p, true, false, 1e-8, 1)", "torch::pdist(m)",
]  # fmt: skip
NAMES = ["x", "v", "c", "w", "m", "n", "p", "t"]


def text(dtype, cases):
    lines = [
        "#include <torch/extension.h>",
        "namespace F = torch::nn::functional;",
        "using torch::IntArrayRef;",
        f"static torch::Tensor ones(torch::IntArrayRef n) {{ return torch::ones(n, torch::{dtype}); }}",
    ]
    params = ", ".join(f"torch::Tensor {name}" for name in NAMES)
    for i, case in enumerate(cases):
        case = case.replace("torch::ones(", "ones(").replace("kFloat", dtype)
        lines.append(f"torch::Tensor f{i}({params}) {{ return {case}; }}")
    return "\n".join(lines)


def arrays(dtype):
    rng = np.random.default_rng(20261124)
    shapes = [(2, 4, 7, 9), (3, 6, 11), (2, 4, 5, 6, 7), (4, 2, 3, 3), (5, 8), (5, 8)]
    normal = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    return [*normal, rng.uniform(0.05, 0.95, (5, 8)).astype(dtype), rng.integers(0, 8, 5)]


@pytest.fixture(scope="module")
def built():
    functions = [f"f{i}" for i in range(len(CASES) + len(REFUSED))]
    theirs = load_inline("functional_of_torch", text("kDouble", CASES + REFUSED), functions=functions, extra_cflags=["-O0"])
    ours = {name: wb.load_inline(f"functional_{name}", text(name, CASES + REFUSED), functions=functions) for name in ("kDouble", "kFloat")}
    return theirs, ours


def compare(theirs, ours, name):
    expected = getattr(theirs, name)(*map(torch.from_numpy, arrays(np.float64))).numpy()
    double = getattr(ours["kDouble"], name)(*arrays(np.float64))
    assert double.shape == expected.shape and double.dtype == expected.dtype
    # Sums of at most a few hundred terms of about 1, whatever their order: 500 of them round by at most 500 * 500 * 1.1e-16 = 3e-11
    # altogether, by 500 * 1.1e-16 = 6e-14 where errors are independent.
    np.testing.assert_allclose(double, expected, rtol=1e-12, atol=1e-12)
    single = getattr(ours["kFloat"], name)(*arrays(np.float32))
    assert single.dtype == (np.float32 if expected.dtype == np.float64 else expected.dtype)
    # The same with 6e-8: 500 * 6e-8 = 3e-5, and inputs that were rounded to float.
    np.testing.assert_allclose(single, expected, rtol=2e-4, atol=4e-5)


@pytest.mark.parametrize("i", range(len(CASES)), ids=CASES)
def test_results_are_torchs(built, i):
    compare(*built, f"f{i}")


@pytest.fixture(scope="module")
def built_at():
    functions = [f"f{i}" for i in range(len(AT))]
    theirs = load_inline("functional_at_of_torch", text("kDouble", AT), functions=functions, extra_cflags=["-O0"])
    return theirs, {name: wb.load_inline(f"functional_at_{name}", text(name, AT), functions=functions) for name in ("kDouble", "kFloat")}


@pytest.mark.parametrize("i", range(len(AT)), ids=AT)
def test_operations_have_names_in_at(built_at, i):
    compare(*built_at, f"f{i}")


@pytest.mark.parametrize("i", range(len(REFUSED)), ids=REFUSED)
def test_what_torch_refuses_is_refused(built, i):
    theirs, ours = built
    at = f"f{len(CASES) + i}"
    with pytest.raises(Exception) as expected:
        getattr(theirs, at)(*map(torch.from_numpy, arrays(np.float64)))
    with pytest.raises(type(expected.value)):
        getattr(ours["kDouble"], at)(*arrays(np.float64))


def test_instance_norm_updates_what_it_is_given():
    source = """#include <torch/extension.h>
    namespace F = torch::nn::functional;
    torch::Tensor f(torch::Tensor x, torch::Tensor mean, torch::Tensor var) {
        return F::instance_norm(x, F::InstanceNormFuncOptions().running_mean(mean).running_var(var).momentum(0.3));
    }"""
    x = arrays(np.float32)[0]
    mean, var = np.full(4, 2, np.float32), np.full(4, 5, np.float32)
    out = wb.load_inline("functional_running", source, functions=["f"]).f(x, mean, var)
    running = [torch.full((4,), 2.0), torch.full((4,), 5.0)]
    expected = torch.nn.functional.instance_norm(torch.from_numpy(x), *running, momentum=0.3)
    # Means of 63 terms of about 1 in float.
    np.testing.assert_allclose(out, expected.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, running[0].numpy(), rtol=1e-5)
    np.testing.assert_allclose(var, running[1].numpy(), rtol=1e-5)
