// Linear maps and convolutions. Padding is numbers, none, or as much as keeps the extents.
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) { return at::linear(input, weight, bias); }
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = Tensor()) {
    return at::bilinear(input1, input2, weight, bias);
}
template <size_t D> struct __wb_padding {
    ExpandingArray<D> numbers;
    bool same = false;
    __wb_padding(enumtype::kValid) : numbers(0) {}
    __wb_padding(enumtype::kSame) : numbers(0), same(true) {}
    __wb_padding(const ExpandingArray<D>& numbers) : numbers(numbers) {}
    __wb_padding(int64_t one) : numbers(one) {}
    __wb_padding(IntArrayRef numbers) : numbers(numbers) {}
    __wb_padding(const std::vector<int64_t>& numbers) : numbers(numbers) {}
};
template <size_t D> struct ConvFuncOptions {
    using padding_t = __wb_padding<D>;
    __WB_OPTION(Tensor, bias, Tensor())
    __WB_OPTION(ExpandingArray<D>, stride, 1)
    __WB_OPTION(padding_t, padding, 0)
    auto& padding(std::initializer_list<int64_t> list) { return padding(IntArrayRef(list)); }
    __WB_OPTION(ExpandingArray<D>, dilation, 1)
    __WB_OPTION(int64_t, groups, 1)
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;
template <size_t D> struct ConvTransposeFuncOptions {
    __WB_OPTION(Tensor, bias, Tensor())
    __WB_OPTION(ExpandingArray<D>, stride, 1)
    __WB_OPTION(ExpandingArray<D>, padding, 0)
    __WB_OPTION(ExpandingArray<D>, output_padding, 0)
    __WB_OPTION(int64_t, groups, 1)
    __WB_OPTION(ExpandingArray<D>, dilation, 1)
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;
template <size_t D> inline Tensor __wb_padded(const Tensor& input, const Tensor& weight, const ConvFuncOptions<D>& options) {
    if (!options.padding().same) return input;
    std::vector<int64_t> pad;
    for (size_t i = D; i-- > 0;) {
        if ((*options.stride())[i] != 1) __wb::fail(0, "", "padding='same' is not supported for strided convolutions");
        int64_t all = (*options.dilation())[i] * (weight.size(2 + i) - 1);
        pad.push_back(all / 2);
        pad.push_back(all - all / 2);
    }
    return at::constant_pad_nd(input, pad, 0);
}
#define __WB_CONVOLUTION(n, transposed) \
    inline Tensor conv##n##d(const Tensor& input, const Tensor& weight, const Conv##n##dFuncOptions& options = {}) { \
        return at::conv##n##d(__wb_padded<n>(input, weight, options), weight, options.bias(), options.stride(), options.padding().numbers, \
                              options.dilation(), options.groups()); \
    } \
    inline Tensor conv_transpose##n##d(const Tensor& input, const Tensor& weight, const ConvTranspose##n##dFuncOptions& options = {}) { \
        return at::transposed(input, weight, options.bias(), options.stride(), options.padding(), options.output_padding(), \
                              options.groups(), \
                              options.dilation()); \
    }
__WB_CONVOLUTION(1, conv_transpose1d) __WB_CONVOLUTION(2, conv_transpose2d) __WB_CONVOLUTION(3, conv_transpose3d)
#undef __WB_CONVOLUTION

// Normalisation.
struct BatchNormFuncOptions {
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_OPTION(Tensor, bias, Tensor())
    __WB_OPTION(bool, training, false)
    __WB_OPTION(double, momentum, 0.1)
    __WB_OPTION(double, eps, 1e-5)
};
struct InstanceNormFuncOptions {
    __WB_OPTION(Tensor, running_mean, Tensor())
    __WB_OPTION(Tensor, running_var, Tensor())
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_OPTION(Tensor, bias, Tensor())
    __WB_OPTION(bool, use_input_stats, true)
    __WB_OPTION(double, momentum, 0.1)
    __WB_OPTION(double, eps, 1e-5)
};
struct LayerNormFuncOptions {
    LayerNormFuncOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(normalized_shape) {}
    __WB_OPTION(std::vector<int64_t>, normalized_shape, {})
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_OPTION(Tensor, bias, Tensor())
    __WB_OPTION(double, eps, 1e-5)
};
struct GroupNormFuncOptions {
    GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}
    __WB_OPTION(int64_t, num_groups, 1)
    __WB_OPTION(Tensor, weight, Tensor())
    __WB_OPTION(Tensor, bias, Tensor())
    __WB_OPTION(double, eps, 1e-5)
};
struct LocalResponseNormFuncOptions {
    LocalResponseNormFuncOptions(int64_t size) : size_(size) {}
    __WB_OPTION(int64_t, size, 1)
    __WB_OPTION(double, alpha, 1e-4)
    __WB_OPTION(double, beta, 0.75)
    __WB_OPTION(double, k, 1)
};
struct NormalizeFuncOptions {
    __WB_OPTION(double, p, 2)
    __WB_OPTION(int64_t, dim, 1)
    __WB_OPTION(double, eps, 1e-12)
    __WB_OPTION(std::optional<Tensor>, out, std::nullopt)
};
inline Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                         const BatchNormFuncOptions& options = {}) {
    if (input.dim() < 2) __wb::fail(0, "", "Expected at least 2 input dimensions, but got ", input.dim());
    if (options.training() && input.numel() == input.size(1)) {
        __wb::fail(0, "", "Expected more than 1 value per channel when training, got input size ", input.sizes());
    }
    return at::batch_norm(input, options.weight(), options.bias(), running_mean, running_var, options.training(), options.momentum(),
                          options.eps());
}
// The channels of all samples become channels of one; running statistics get the mean over samples.
inline Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {}) {
    if (!options.running_mean().defined()) {
        if (!options.use_input_stats()) {
            __wb::fail(0, "", "Expected running_mean and running_var to be defined when use_input_stats is false");
        }
        return at::instance_norm(input, options.weight(), options.bias(), {}, {}, true, options.momentum(), options.eps());
    }
    int64_t n = input.size(0), c = input.size(1);
    std::vector<int64_t> shape = input.sizes().vec();
    shape[0] = 1;
    shape[1] = n * c;
    Tensor mean = options.running_mean().repeat({n}), var = options.running_var().repeat({n}), weight, bias;
    if (options.weight().defined()) weight = options.weight().repeat({n});
    if (options.bias().defined()) bias = options.bias().repeat({n});
    Tensor out = at::batch_norm(input.reshape(shape), weight, bias, mean, var, options.use_input_stats(), options.momentum(),
                                options.eps());
    if (options.use_input_stats()) {
        options.running_mean().copy_(mean.reshape({n, c}).mean(0));
        options.running_var().copy_(var.reshape({n, c}).mean(0));
    }
    return out.reshape(input.sizes());
}
inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
    return at::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(), options.eps());
}
inline Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
    return at::group_norm(input, options.num_groups(), options.weight(), options.bias(), options.eps());
}
// The sum is over a window of `size` channels; missing channels count as zeros.
inline Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options) {
    if (input.dim() < 3) __wb::fail(0, "", "Expected 3D or higher dimensionality input (got ", input.dim(), " dimensions)");
    int64_t n = options.size();
    std::vector<int64_t> pad;
    for (int64_t i = 2; i < input.dim(); ++i) {
        pad.push_back(0);
        pad.push_back(0);
    }
    pad.push_back(n / 2);
    pad.push_back((n - 1) / 2);
    Tensor mean = at::constant_pad_nd(input * input, pad, 0).unfold(1, n, 1).mean(-1);
    return input / (mean * options.alpha() + options.k()).pow(options.beta());
}
inline Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {}) {
    Tensor made = input / input.norm(options.p(), options.dim(), true).clamp_min(options.eps());
    return options.out().has_value() ? options.out()->copy_(made) : made;
}

// Pools; the stride is the kernel's extent unless it is given.
template <size_t D> struct AvgPoolFuncOptions {
    AvgPoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
    __WB_OPTION(ExpandingArray<D>, kernel_size, 1)
    __WB_OPTION(ExpandingArray<D>, stride, 1)
    __WB_OPTION(ExpandingArray<D>, padding, 0)
    __WB_OPTION(bool, ceil_mode, false)
    __WB_OPTION(bool, count_include_pad, true)
    __WB_OPTION(std::optional<int64_t>, divisor_override, std::nullopt)
};
template <size_t D> struct MaxPoolFuncOptions {
    MaxPoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
    __WB_OPTION(ExpandingArray<D>, kernel_size, 1)
    __WB_OPTION(ExpandingArray<D>, stride, 1)
    __WB_OPTION(ExpandingArray<D>, padding, 0)
    __WB_OPTION(ExpandingArray<D>, dilation, 1)
    __WB_OPTION(bool, ceil_mode, false)
};
template <size_t D> struct LPPoolFuncOptions {
    LPPoolFuncOptions(double norm_type,
                      ExpandingArray<D> kernel_size) : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
    __WB_OPTION(double, norm_type, 2)
    __WB_OPTION(ExpandingArray<D>, kernel_size, 1)
    __WB_OPTION(ExpandingArray<D>, stride, 1)
    __WB_OPTION(bool, ceil_mode, false)
};
template <size_t D> struct MaxUnpoolFuncOptions {
    MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
    __WB_OPTION(ExpandingArray<D>, kernel_size, 1)
    __WB_OPTION(ExpandingArray<D>, stride, 1)
    __WB_OPTION(ExpandingArray<D>, padding, 0)
    __WB_OPTION(std::optional<std::vector<int64_t>>, output_size, std::nullopt)
};
template <typename S> struct AdaptiveMaxPoolFuncOptions {
    AdaptiveMaxPoolFuncOptions(S output_size) : output_size_(output_size) {}
    __WB_OPTION(S, output_size, 1)
};
template <typename S> struct AdaptiveAvgPoolFuncOptions {
    AdaptiveAvgPoolFuncOptions(S output_size) : output_size_(output_size) {}
    __WB_OPTION(S, output_size, 1)
};
template <size_t D> inline Tensor __wb_unpooled(const char* name, const Tensor& input, const Tensor& indices,
                                                const MaxUnpoolFuncOptions<D>& options) {
    std::vector<int64_t> extents;
    for (size_t i = 0; i < D; ++i) {
        int64_t in = input.size(input.dim() - D + i);
        extents.push_back((in - 1) * (*options.stride())[i] + (*options.kernel_size())[i] - 2 * (*options.padding())[i]);
    }
    if (options.output_size().has_value()) {
        const std::vector<int64_t>& wanted = *options.output_size();
        if (wanted.size() != D && wanted.size() != D + 2) {
            __wb::fail(0, "", "output_size should be a sequence containing ", D, " or ", D + 2, " elements, but it has a length of '",
                       wanted.size(), "'");
        }
        for (size_t i = 0; i < D; ++i) {
            int64_t out = wanted[wanted.size() - D + i], s = (*options.stride())[i];
            if (out < extents[i] - s || out > extents[i] + s) {
                __wb::fail(0, "", "invalid output_size ", wanted, " (dim ", i, " must be between ", extents[i] - s, " and ", extents[i] + s,
                           ")");
            }
            extents[i] = out;
        }
    }
    return at::__wb_unpool(name, input, indices, D, extents);
}
#define __WB_POOL(n, S) \
    using AvgPool##n##dFuncOptions = AvgPoolFuncOptions<n>; \
    using MaxPool##n##dFuncOptions = MaxPoolFuncOptions<n>; \
    using LPPool##n##dFuncOptions = LPPoolFuncOptions<n>; \
    using MaxUnpool##n##dFuncOptions = MaxUnpoolFuncOptions<n>; \
    using AdaptiveMaxPool##n##dFuncOptions = AdaptiveMaxPoolFuncOptions<S<n>>; \
    using AdaptiveAvgPool##n##dFuncOptions = AdaptiveAvgPoolFuncOptions<S<n>>; \
    inline Tensor avg_pool##n##d(const Tensor& input, const AvgPool##n##dFuncOptions& options) { \
        return at::avg_pool##n##d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(), \
                                  options.count_include_pad(), options.divisor_override()); \
    } \
    inline Tensor max_pool##n##d(const Tensor& input, const MaxPool##n##dFuncOptions& options) { \
        return at::max_pool##n##d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), \
                                  options.ceil_mode()); \
    } \
    inline std::tuple<Tensor, Tensor> max_pool##n##d_with_indices(const Tensor& input, const MaxPool##n##dFuncOptions& options) { \
        return at::__wb_max_pool_places("max_pool" #n "d_with_indices", input, n, options.kernel_size(), options.stride(), \
                                        options.padding(), \
                                        options.dilation(), options.ceil_mode()); \
    } \
    inline Tensor lp_pool##n##d(const Tensor& input, const LPPool##n##dFuncOptions& options) { \
        Tensor mean = at::avg_pool##n##d(input.pow(options.norm_type()), options.kernel_size(), options.stride(), 0, options.ceil_mode()); \
        double all = (double)c10::multiply_integers(*options.kernel_size()); \
        return (mean.sign() * mean.abs().relu()).mul(all).pow(1 / options.norm_type()); \
    } \
    inline Tensor max_unpool##n##d(const Tensor& input, const Tensor& indices, const MaxUnpool##n##dFuncOptions& options) { \
        return __wb_unpooled<n>("max_unpool" #n "d", input, indices, options); \
    } \
    inline std::tuple<Tensor, Tensor> adaptive_max_pool##n##d_with_indices(const Tensor& input, \
                                                                           const AdaptiveMaxPool##n##dFuncOptions& options) { \
        return at::__wb_adaptive_max("adaptive_max_pool" #n "d", input, n, __wb_extents(options.output_size(), input)); \
    } \
    inline Tensor adaptive_max_pool##n##d(const Tensor& input, const AdaptiveMaxPool##n##dFuncOptions& options) { \
        return std::get<0>(adaptive_max_pool##n##d_with_indices(input, options)); \
    } \
    inline Tensor adaptive_avg_pool##n##d(const Tensor& input, const AdaptiveAvgPool##n##dFuncOptions& options) { \
        return at::__wb_adaptive_avg(input, n, __wb_extents(options.output_size(), input)); \
    }
template <size_t D> inline std::vector<int64_t> __wb_extents(const ExpandingArray<D>& extents, const Tensor&) {
    return IntArrayRef(extents).vec();
}
template <size_t D> inline std::vector<int64_t> __wb_extents(const ExpandingArrayWithOptionalElem<D>& extents, const Tensor& x) {
    return extents.__wb_of(x);
}
__WB_POOL(1, ExpandingArray)
__WB_POOL(2, ExpandingArrayWithOptionalElem)
__WB_POOL(3, ExpandingArrayWithOptionalElem)
#undef __WB_POOL
