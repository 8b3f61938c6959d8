// Padding, extents, blocks.
struct PadFuncOptions {
    using mode_t = __wb_choice<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
    PadFuncOptions(std::vector<int64_t> pad) : pad_(pad) {}
    __WB_OPTION(std::vector<int64_t>, pad, {})
    __WB_OPTION(mode_t, mode, torch::kConstant)
    __WB_OPTION(double, value, 0)
};
struct InterpolateFuncOptions {
    using mode_t = __wb_choice<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic, enumtype::kTrilinear,
                               enumtype::kArea, enumtype::kNearestExact>;
    __WB_OPTION(std::optional<std::vector<int64_t>>, size, std::nullopt)
    __WB_OPTION(std::optional<std::vector<double>>, scale_factor, std::nullopt)
    __WB_OPTION(mode_t, mode, torch::kNearest)
    __WB_OPTION(std::optional<bool>, align_corners, std::nullopt)
    __WB_OPTION(std::optional<bool>, recompute_scale_factor, std::nullopt)
    __WB_OPTION(bool, antialias, false)
};
struct PixelShuffleFuncOptions {
    PixelShuffleFuncOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
    __WB_OPTION(int64_t, upscale_factor, 1)
};
struct PixelUnshuffleFuncOptions {
    PixelUnshuffleFuncOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
    __WB_OPTION(int64_t, downscale_factor, 1)
};
struct UnfoldFuncOptions {
    UnfoldFuncOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
    __WB_OPTION(ExpandingArray<2>, kernel_size, 1)
    __WB_OPTION(ExpandingArray<2>, dilation, 1)
    __WB_OPTION(ExpandingArray<2>, padding, 0)
    __WB_OPTION(ExpandingArray<2>, stride, 1)
};
struct FoldFuncOptions {
    FoldFuncOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size) : output_size_(output_size), kernel_size_(kernel_size) {}
    __WB_OPTION(ExpandingArray<2>, output_size, 1)
    __WB_OPTION(ExpandingArray<2>, kernel_size, 1)
    __WB_OPTION(ExpandingArray<2>, dilation, 1)
    __WB_OPTION(ExpandingArray<2>, padding, 0)
    __WB_OPTION(ExpandingArray<2>, stride, 1)
};
inline Tensor pad(const Tensor& input, const PadFuncOptions& options) {
    return at::__wb_pad_in(input, options.pad(), options.mode().number - enumtype::kConstant::__wb_number, options.value());
}
inline Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {}) {
    int64_t n = input.dim() - 2, number = options.mode().number;
    bool nearest = number == enumtype::kNearest::__wb_number, exact = number == enumtype::kNearestExact::__wb_number;
    bool area = number == enumtype::kArea::__wb_number, cubic = number == enumtype::kBicubic::__wb_number;
    if (n < 1 || n > 3) {
        __wb::fail(0, "", "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.dim(),
                   "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ", options.mode().name, ")");
    }
    if ((nearest || area) && options.align_corners().has_value()) {
        __wb::fail(0, "", "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear");
    }
    int64_t wanted = cubic || number == enumtype::kBilinear::__wb_number ? 2 : number == enumtype::kLinear::__wb_number ? 1 : 3;
    if (!nearest && !exact && !area && n != wanted) {
        __wb::fail(0, "", "Got ", n + 2, "D input, but ", options.mode().name, " mode needs ", wanted + 2, "D input");
    }
    if (options.antialias()) __wb::fail(0, "", "interpolate with antialias is not supported here");
    if (!options.size().has_value() && !options.scale_factor().has_value()) {
        __wb::fail(0, "", "either size or scale_factor should be defined");
    }
    if (options.size().has_value() && options.scale_factor().has_value()) {
        __wb::fail(0, "", "only one of size or scale_factor should be defined");
    }
    std::vector<int64_t> extents;
    std::vector<std::optional<double>> scales;
    if (options.size().has_value()) {
        extents = *options.size();
    } else {
        const std::vector<double>& factors = *options.scale_factor();
        if ((int64_t)factors.size() != n) {
            __wb::fail(0, "", "scale_factor shape must match input shape. Input is ", n, "D, scale_factor size is ", factors);
        }
        for (int64_t i = 0; i < n; ++i) {
            extents.push_back((int64_t)std::floor((double)input.size(i + 2) * factors[i]));
            if (!options.recompute_scale_factor().value_or(false)) scales.push_back(factors[i]);
        }
    }
    if (area) return at::__wb_adaptive_avg(input, n, extents);
    int64_t way = nearest ? 0 : exact ? 1 : cubic ? 3 : 2;
    return at::__wb_resized(input, extents, way, options.align_corners().value_or(false), scales);
}
inline Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options) {
    return at::pixel_shuffle(input, options.upscale_factor());
}
inline Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options) {
    return at::pixel_unshuffle(input, options.downscale_factor());
}
inline Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options) {
    if (input.dim() != 4) __wb::fail(0, "", "Input Error: Only 4D input Tensors are supported (got ", input.dim(), "D)");
    return at::im2col(input, options.kernel_size(), options.dilation(), options.padding(), options.stride());
}
inline Tensor fold(const Tensor& input, const FoldFuncOptions& options) {
    if (input.dim() != 2 && input.dim() != 3) {
        __wb::fail(0, "", "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ", input.dim(), "D)");
    }
    return at::col2im(input, options.output_size(), options.kernel_size(), options.dilation(), options.padding(), options.stride());
}

// Rows of tables.
struct EmbeddingFuncOptions {
    __WB_OPTION(std::optional<int64_t>, padding_idx, std::nullopt)
    __WB_OPTION(std::optional<double>, max_norm, std::nullopt)
    __WB_OPTION(double, norm_type, 2)
    __WB_OPTION(bool, scale_grad_by_freq, false)
    __WB_OPTION(bool, sparse, false)
};
using EmbeddingBagMode = __wb_choice<enumtype::kSum, enumtype::kMean, enumtype::kMax>;
struct EmbeddingBagFuncOptions {
    __WB_OPTION(Tensor, offsets, Tensor())
    __WB_OPTION(std::optional<double>, max_norm, std::nullopt)
    __WB_OPTION(double, norm_type, 2)
    __WB_OPTION(bool, scale_grad_by_freq, false)
    __WB_OPTION(EmbeddingBagMode, mode, torch::kMean)
    __WB_OPTION(bool, sparse, false)
    __WB_OPTION(Tensor, per_sample_weights, Tensor())
    __WB_OPTION(bool, include_last_offset, false)
    __WB_OPTION(std::optional<int64_t>, padding_idx, std::nullopt)
};
inline Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1) { return at::one_hot(tensor, num_classes); }
inline Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {}) {
    int64_t n = weight.size(0), padding = options.padding_idx().value_or(0);
    if (padding >= n || padding < -n) __wb::fail(0, "", "Padding_idx must be within num_embeddings");
    int64_t row = !options.padding_idx().has_value() ? -1 : padding < 0 ? padding + n : padding;
    if (options.max_norm().has_value()) {
        Tensor table = weight;
        at::embedding_renorm_(table, input, *options.max_norm(), options.norm_type());
    }
    return at::embedding(weight, input, row, options.scale_grad_by_freq());
}
inline Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {}) {
    Tensor indices = input, offsets = options.offsets(), scales = options.per_sample_weights();
    if (scales.defined() && !scales.sizes().equals(input.sizes())) {
        __wb::fail(0, "", "embedding_bag: If per_sample_weights (", scales.sizes(),
                   ") is not null, then it must have the same shape as the input (", input.sizes(), ")");
    }
    if (input.dim() == 2) {
        if (offsets.defined()) {
            __wb::fail(0, "",
                       "If input is 2D, then offsets has to be null, as input is treated is a mini-batch of fixed length sequences. However, found offsets of type Tensor");
        }
        offsets = at::arange(0, input.numel(), input.size(1), TensorOptions(c10::kLong));
        indices = input.reshape(-1);
        if (scales.defined()) scales = scales.reshape(-1);
    } else if (input.dim() != 1) {
        __wb::fail(0, "", "input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.dim());
    }
    if (!offsets.defined() || offsets.dim() != 1) __wb::fail(0, "", "offsets has to be a 1D Tensor");
    bool sum = options.mode().is<enumtype::kSum>(), most = options.mode().is<enumtype::kMax>();
    if (most && options.scale_grad_by_freq()) __wb::fail(0, "", "max mode does not support scaling the gradient by the frequency");
    if (most && options.sparse()) __wb::fail(0, "", "max mode does not support sparse weights");
    if (scales.defined() && !sum) {
        __wb::fail(0, "",
                   "embedding_bag: per_sample_weights was not null. per_sample_weights is only supported for mode='kSum' (got mode='", options.mode().name, "').Please open a feature request on GitHub.");
    }
    if (options.max_norm().has_value()) {
        Tensor table = weight;
        at::embedding_renorm_(table, indices, *options.max_norm(), options.norm_type());
    }
    return at::__wb_bags(weight, indices, offsets, sum ? 0 : most ? 2 : 1, scales, options.include_last_offset(), options.padding_idx());
}

// Dropout; the default of the last two is not to train.
struct DropoutFuncOptions {
    __WB_OPTION(double, p, 0.5)
    __WB_OPTION(bool, training, true)
    __WB_OPTION(bool, inplace, false)
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
struct AlphaDropoutFuncOptions {
    __WB_OPTION(double, p, 0.5)
    __WB_OPTION(bool, training, false)
    __WB_OPTION(bool, inplace, false)
};
struct FeatureAlphaDropoutFuncOptions {
    __WB_OPTION(double, p, 0.5)
    __WB_OPTION(bool, training, false)
    __WB_OPTION(bool, inplace, false)
};
inline Tensor dropout(Tensor input, const DropoutFuncOptions& options = {}) {
    return __wb_given(input, at::dropout(input, options.p(), options.training()), options.inplace());
}
inline Tensor __wb_feature_dropout(const Tensor& input, const DropoutFuncOptions& options, int64_t batched) {
    Tensor x = input.dim() == batched ? input : input.unsqueeze(0), made = at::feature_dropout(x, options.p(), options.training());
    return __wb_given(input, input.dim() == batched ? made : made.squeeze(0), options.inplace());
}
inline Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {}) { return __wb_feature_dropout(input, options, 4); }
inline Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {}) { return __wb_feature_dropout(input, options, 5); }
inline Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {}) {
    return __wb_given(input, at::__wb_alpha_dropout(input, options.p(), options.training(), false), options.inplace());
}
inline Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {}) {
    return __wb_given(input, at::__wb_alpha_dropout(input, options.p(), options.training(), true), options.inplace());
}

// Distances and losses.
struct CosineSimilarityFuncOptions {
    __WB_OPTION(int64_t, dim, 1)
    __WB_OPTION(double, eps, 1e-8)
};
struct PairwiseDistanceFuncOptions {
    __WB_OPTION(double, p, 2)
    __WB_OPTION(double, eps, 1e-6)
    __WB_OPTION(bool, keepdim, false)
};
struct L1LossFuncOptions { __WB_REDUCED_FIRST(L1LossFuncOptions) };
struct MSELossFuncOptions { __WB_REDUCED_FIRST(MSELossFuncOptions) };
struct SoftMarginLossFuncOptions { __WB_REDUCED_FIRST(SoftMarginLossFuncOptions) };
struct MultilabelMarginLossFuncOptions { __WB_REDUCED_FIRST(MultilabelMarginLossFuncOptions) };
struct SmoothL1LossFuncOptions {
    __WB_REDUCED_FIRST(SmoothL1LossFuncOptions)
    __WB_OPTION(std::optional<double>, beta, std::nullopt)
};
struct HuberLossFuncOptions {
    __WB_REDUCED_FIRST(HuberLossFuncOptions)
    __WB_OPTION(double, delta, 1)
};
struct KLDivFuncOptions {
    using reduction_t = __wb_choice<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
    KLDivFuncOptions() {}
    KLDivFuncOptions(enumtype::kNone way) : reduction_(way) {}
    KLDivFuncOptions(enumtype::kBatchMean way) : reduction_(way) {}
    KLDivFuncOptions(enumtype::kSum way) : reduction_(way) {}
    KLDivFuncOptions(enumtype::kMean way) : reduction_(way) {}
    __WB_OPTION(reduction_t, reduction, torch::kMean)
    __WB_OPTION(bool, log_target, false)
};
struct BinaryCrossEntropyFuncOptions {
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_REDUCED
};
struct BinaryCrossEntropyWithLogitsFuncOptions {
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_REDUCED
    __WB_OPTION(Tensor, pos_weight, Tensor())
};
struct NLLLossFuncOptions {
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_OPTION(int64_t, ignore_index, -100)
    __WB_REDUCED
};
struct CrossEntropyFuncOptions {
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_OPTION(int64_t, ignore_index, -100)
    __WB_REDUCED
    __WB_OPTION(double, label_smoothing, 0)
};
struct HingeEmbeddingLossFuncOptions {
    __WB_OPTION(double, margin, 1)
    __WB_REDUCED
};
struct CosineEmbeddingLossFuncOptions {
    __WB_OPTION(double, margin, 0)
    __WB_REDUCED
};
struct MarginRankingLossFuncOptions {
    __WB_OPTION(double, margin, 0)
    __WB_REDUCED
};
struct MultiMarginLossFuncOptions {
    __WB_OPTION(int64_t, p, 1)
    __WB_OPTION(double, margin, 1)
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_REDUCED
};
struct MultilabelSoftMarginLossFuncOptions {
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_REDUCED
};
struct TripletMarginLossFuncOptions {
    __WB_OPTION(double, margin, 1)
    __WB_OPTION(double, p, 2)
    __WB_OPTION(double, eps, 1e-6)
    __WB_OPTION(bool, swap, false)
    __WB_REDUCED
};
struct PoissonNLLLossFuncOptions {
    __WB_OPTION(bool, log_input, true)
    __WB_OPTION(bool, full, false)
    __WB_OPTION(double, eps, 1e-8)
    __WB_REDUCED
};
#undef __WB_REDUCED
#undef __WB_REDUCED_FIRST
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {}) {
    return at::cosine_similarity(x1, x2, options.dim(), options.eps());
}
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {}) {
    return at::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}
inline Tensor pdist(const Tensor& input, double p = 2) { return at::pdist(input, p); }
inline void __wb_warn_of_extents(const Tensor& input, const Tensor& target) {
    if (!target.sizes().equals(input.sizes())) {
        __wb::warn("Using a target size (", target.sizes(), ") that is different to the input size (", input.sizes(),
                   "). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.");
    }
}
inline Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {}) {
    return at::l1_loss(input, target, options.reduction().number);
}
inline Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {}) {
    __wb_warn_of_extents(input, target);
    return at::mse_loss(input, target, options.reduction().number);
}
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {}) {
    __wb_warn_of_extents(input, target);
    double beta = options.beta().value_or(1);
    if (beta < 0) __wb::fail(0, "", "smooth_l1_loss does not support negative values for beta.");
    return at::smooth_l1_loss(input, target, options.reduction().number, beta);
}
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, double beta) {
    if (options.beta().has_value()) __wb::fail(0, "", "expected beta not to be provided in 'options', but got ", *options.beta());
    SmoothL1LossFuncOptions with = options;
    return smooth_l1_loss(input, target, with.beta(beta));
}
inline Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {}) {
    __wb_warn_of_extents(input, target);
    if (options.delta() <= 0) __wb::fail(0, "", "huber_loss does not support non-positive values for delta.");
    return at::huber_loss(input, target, options.reduction().number, options.delta());
}
inline Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {}) {
    bool batch = options.reduction().is<enumtype::kBatchMean>();
    if (options.reduction().is<enumtype::kMean>()) {
        __wb::warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next major release.");
    }
    Tensor loss = at::kl_div(input, target, batch ? 2 : options.reduction().number, options.log_target());
    return batch && input.dim() != 0 ? loss / input.size(0) : loss;
}
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options = {}) {
    if (!target.sizes().equals(input.sizes())) {
        __wb::fail(0, "", "Using a target size (", target.sizes(), ") that is different to the input size (", input.sizes(),
                   ") is deprecated. Please ensure they have the same size.");
    }
    if (input.numel() > 0 && (input.min().item<double>() < 0 || input.max().item<double>() > 1)) {
        __wb::fail(0, "", "all elements of input should be between 0 and 1");
    }
    return at::binary_cross_entropy(input, target, options.weight(), options.reduction().number);
}
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                               const BinaryCrossEntropyWithLogitsFuncOptions& options = {}) {
    if (!target.sizes().equals(input.sizes())) {
        __wb::fail(0, "", "Target size (", target.sizes(), ") must be the same as input size (", input.sizes(), ")");
    }
    std::optional<Tensor> weight, positive;
    if (options.weight().defined()) weight = options.weight();
    if (options.pos_weight().defined()) positive = options.pos_weight();
    return at::binary_cross_entropy_with_logits(input, target, weight, positive, options.reduction().number);
}
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}) {
    if (input.dim() < 2) __wb::fail(0, "", "Expected 2 or more dimensions (got ", input.dim(), ")");
    if (input.size(0) != target.size(0)) {
        __wb::fail(0, "", "Expected input batch_size (", input.size(0), ") to match target batch_size (", target.size(0), ").");
    }
    return at::nll_loss_nd(input, target, options.weight(), options.reduction().number, options.ignore_index());
}
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}) {
    return at::cross_entropy_loss(input, target, options.weight(), options.reduction().number, options.ignore_index(),
                                  options.label_smoothing());
}
inline Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options = {}) {
    return at::hinge_embedding_loss(input, target, options.margin(), options.reduction().number);
}
inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                    const CosineEmbeddingLossFuncOptions& options = {}) {
    return at::cosine_embedding_loss(input1, input2, target, options.margin(), options.reduction().number);
}
inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                  const MarginRankingLossFuncOptions& options = {}) {
    if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
        __wb::fail(0, "", "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: ", input1.sizes(),
                   ", input2: ", input2.sizes(), ", target: ", target.sizes());
    }
    return at::margin_ranking_loss(input1, input2, target, options.margin(), options.reduction().number);
}
inline Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options = {}) {
    return at::multi_margin_loss(input, target, options.p(), options.margin(), options.weight(), options.reduction().number);
}
inline Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& options = {}) {
    return at::multilabel_margin_loss(input, target, options.reduction().number);
}
inline Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                          const MultilabelSoftMarginLossFuncOptions& options = {}) {
    Tensor loss = -(target * at::log_sigmoid(input) + (1 - target) * at::log_sigmoid(-input));
    if (options.weight().defined()) loss = loss * options.weight();
    return at::__wb_reduced(loss.sum(-1) / input.size(-1), options.reduction().number);
}
inline Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options = {}) {
    return at::soft_margin_loss(input, target, options.reduction().number);
}
inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                  const TripletMarginLossFuncOptions& options = {}) {
    return at::triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(), options.eps(), options.swap(),
                                   options.reduction().number);
}
inline Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options = {}) {
    return at::poisson_nll_loss(input, target, options.log_input(), options.full(), options.eps(), options.reduction().number);
}
#undef __WB_OPTION

}
}
}
