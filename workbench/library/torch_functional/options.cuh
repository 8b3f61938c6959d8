namespace torch {
using Dtype = c10::ScalarType;

// Choices of options: a type for each name, and an object of it.
namespace enumtype {
#define __WB_TAG(name, number) \
    struct k##name { \
        static constexpr int __wb_number = number; \
        static const char* __wb_name() { return "k" #name; } \
    };
#define __WB_TAGS(X) \
    X(None, 0) X(Mean, 1) X(Sum, 2) X(BatchMean, 3) X(Max, 4) X(Constant, 5) X(Reflect, 6) X(Replicate, 7) X(Circular, 8) X(Zeros, 9) \
    X(Border, 10) X(Reflection, 11) X(Nearest, 12) X(Linear, 13) X(Bilinear, 14) X(Bicubic, 15) X(Trilinear, 16) X(Area, 17) \
    X(NearestExact, 18) X(Valid, 19) X(Same, 20) X(Sigmoid, 21) X(Tanh, 22) X(ReLU, 23) X(GELU, 24) X(SiLU, 25) X(Mish, 26) \
    X(LeakyReLU, 27) X(FanIn, 28) X(FanOut, 29) X(Conv1D, 30) X(Conv2D, 31) X(Conv3D, 32) X(ConvTranspose1D, 33) X(ConvTranspose2D, 34) \
    X(ConvTranspose3D, 35) X(RNN_TANH, 36) X(RNN_RELU, 37) X(LSTM, 38) X(GRU, 39)
__WB_TAGS(__WB_TAG)
#undef __WB_TAG
}
#define __WB_TAG(name, number) inline constexpr enumtype::k##name k##name{};
__WB_TAGS(__WB_TAG)
#undef __WB_TAG
#undef __WB_TAGS
template <typename... T> struct __wb_choice {
    int number;
    const char* name;
    template <typename U> __wb_choice(const U&) : number(U::__wb_number), name(U::__wb_name()) {
        static_assert((std::is_same_v<U, T> || ...), "the option does not take this name");
    }
    template <typename U> bool is() const { return number == U::__wb_number; }
};

// A number for each dimension, or one for all.
template <size_t D, typename T = int64_t> class ExpandingArray {
    std::array<T, D> values_;

public:
    ExpandingArray(ArrayRef<T> values) {
        if (values.size() != D) __wb::fail(0, "", "Expected ", D, " values, but instead got ", values.size());
        for (size_t i = 0; i < D; ++i) values_[i] = values[i];
    }
    ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
    ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}
    ExpandingArray(T one) {
        for (size_t i = 0; i < D; ++i) values_[i] = one;
    }
    ExpandingArray(const std::array<T, D>& values) : values_(values) {}
    std::array<T, D>& operator*() { return values_; }
    const std::array<T, D>& operator*() const { return values_; }
    std::array<T, D>* operator->() { return &values_; }
    const std::array<T, D>* operator->() const { return &values_; }
    operator ArrayRef<T>() const { return ArrayRef<T>(values_.data(), D); }
    size_t size() const { return D; }
};
template <size_t D, typename T = int64_t> class ExpandingArrayWithOptionalElem {
    std::array<std::optional<T>, D> values_;

public:
    ExpandingArrayWithOptionalElem(ArrayRef<std::optional<T>> values) {
        if (values.size() != D) __wb::fail(0, "", "Expected ", D, " values, but instead got ", values.size());
        for (size_t i = 0; i < D; ++i) values_[i] = values[i];
    }
    ExpandingArrayWithOptionalElem(ArrayRef<T> values) {
        if (values.size() != D) __wb::fail(0, "", "Expected ", D, " values, but instead got ", values.size());
        for (size_t i = 0; i < D; ++i) values_[i] = values[i];
    }
    ExpandingArrayWithOptionalElem(std::initializer_list<std::optional<T>> list) : ExpandingArrayWithOptionalElem(ArrayRef<std::optional<T>>(list)) {}
    ExpandingArrayWithOptionalElem(const std::vector<T>& values) : ExpandingArrayWithOptionalElem(ArrayRef<T>(values)) {}
    ExpandingArrayWithOptionalElem(T one) {
        for (size_t i = 0; i < D; ++i) values_[i] = one;
    }
    const std::array<std::optional<T>, D>& operator*() const { return values_; }
    // The extents, or those of `x` if there are none.
    std::vector<int64_t> __wb_of(const Tensor& x) const {
        std::vector<int64_t> all;
        for (size_t i = 0; i < D; ++i) all.push_back(values_[i].has_value() ? *values_[i] : x.size(x.dim() - D + i));
        return all;
    }
};
}

namespace torch {
namespace nn {
namespace functional {

// An option: `name(value)` sets it and gives the options, `name()` reads it.
#define __WB_OPTION(T, name, ...) \
private: \
    T name##_ = __VA_ARGS__; \
\
public: \
    auto& name(const T& value) { \
        name##_ = value; \
        return *this; \
    } \
    const T& name() const { return name##_; } \
    T& name() { return name##_; }
#define __WB_REDUCED \
    using reduction_t = __wb_choice<enumtype::kNone, enumtype::kMean, enumtype::kSum>; \
    __WB_OPTION(reduction_t, reduction, torch::kMean)
// The option with a constructor from each name: for losses whose options begin with the reduction.
#define __WB_REDUCED_FIRST(name) \
    name() {} \
    name(enumtype::kNone way) : reduction_(way) {} \
    name(enumtype::kMean way) : reduction_(way) {} \
    name(enumtype::kSum way) : reduction_(way) {} \
    __WB_REDUCED

// Activations.
#define __WB_IN_PLACE_OPTIONS(name) \
    struct name { \
        name(bool inplace = false) : inplace_(inplace) {} \
        __WB_OPTION(bool, inplace, false) \
    };
inline Tensor __wb_given(const Tensor& input, const Tensor& made, bool inplace) { return inplace ? input.copy_(made) : made; }
__WB_IN_PLACE_OPTIONS(ReLUFuncOptions)
__WB_IN_PLACE_OPTIONS(ReLU6FuncOptions)
__WB_IN_PLACE_OPTIONS(SELUFuncOptions)
#undef __WB_IN_PLACE_OPTIONS
struct ELUFuncOptions {
    __WB_OPTION(double, alpha, 1.0)
    __WB_OPTION(bool, inplace, false)
};
struct CELUFuncOptions {
    __WB_OPTION(double, alpha, 1.0)
    __WB_OPTION(bool, inplace, false)
};
struct LeakyReLUFuncOptions {
    __WB_OPTION(double, negative_slope, 1e-2)
    __WB_OPTION(bool, inplace, false)
};
struct RReLUFuncOptions {
    __WB_OPTION(double, lower, 1.0 / 8.0)
    __WB_OPTION(double, upper, 1.0 / 3.0)
    __WB_OPTION(bool, training, false)
    __WB_OPTION(bool, inplace, false)
};
struct HardtanhFuncOptions {
    __WB_OPTION(double, min_val, -1.0)
    __WB_OPTION(double, max_val, 1.0)
    __WB_OPTION(bool, inplace, false)
};
struct ThresholdFuncOptions {
    ThresholdFuncOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
    __WB_OPTION(double, threshold, 0)
    __WB_OPTION(double, value, 0)
    __WB_OPTION(bool, inplace, false)
};
struct GELUFuncOptions {
    __WB_OPTION(std::string, approximate, "none")
};
struct GLUFuncOptions {
    GLUFuncOptions(int64_t dim = -1) : dim_(dim) {}
    __WB_OPTION(int64_t, dim, -1)
};
struct HardshrinkFuncOptions {
    HardshrinkFuncOptions(double lambda = 0.5) : lambda_(lambda) {}
    __WB_OPTION(double, lambda, 0.5)
};
struct SoftshrinkFuncOptions {
    SoftshrinkFuncOptions(double lambda = 0.5) : lambda_(lambda) {}
    __WB_OPTION(double, lambda, 0.5)
};
struct SoftplusFuncOptions {
    __WB_OPTION(double, beta, 1.0)
    __WB_OPTION(double, threshold, 20.0)
};
#define __WB_SOFTMAX_OPTIONS(name) \
    struct name { \
        name(int64_t dim) : dim_(dim) {} \
        __WB_OPTION(int64_t, dim, 0) \
        __WB_OPTION(std::optional<Dtype>, dtype, std::nullopt) \
    };
__WB_SOFTMAX_OPTIONS(SoftmaxFuncOptions)
__WB_SOFTMAX_OPTIONS(SoftminFuncOptions)
__WB_SOFTMAX_OPTIONS(LogSoftmaxFuncOptions)
#undef __WB_SOFTMAX_OPTIONS
struct GumbelSoftmaxFuncOptions {
    __WB_OPTION(double, tau, 1.0)
    __WB_OPTION(bool, hard, false)
    __WB_OPTION(int, dim, -1)
};
inline Tensor relu(Tensor input, const ReLUFuncOptions& options = {}) { return __wb_given(input, at::relu(input), options.inplace()); }
inline Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {}) { return __wb_given(input, at::relu6(input), options.inplace()); }
inline Tensor selu(Tensor input, const SELUFuncOptions& options = {}) { return __wb_given(input, at::selu(input), options.inplace()); }
inline Tensor elu(Tensor input, const ELUFuncOptions& options = {}) {
    return __wb_given(input, at::elu(input, options.alpha()), options.inplace());
}
inline Tensor celu(Tensor input, const CELUFuncOptions& options = {}) {
    if (options.alpha() == 0) __wb::fail(0, "", "ZeroDivisionError: alpha cannot be 0 for CELU");
    return __wb_given(input, at::celu(input, options.alpha()), options.inplace());
}
inline Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {}) {
    return __wb_given(input, at::leaky_relu(input, options.negative_slope()), options.inplace());
}
inline Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {}) {
    return __wb_given(input, at::rrelu(input, options.lower(), options.upper(), options.training()), options.inplace());
}
inline Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {}) {
    return __wb_given(input, at::hardtanh(input, options.min_val(), options.max_val()), options.inplace());
}
inline Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
    return __wb_given(input, at::threshold(input, options.threshold(), options.value()), options.inplace());
}
inline Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {}) { return at::gelu(input, options.approximate()); }
inline Tensor silu(const Tensor& input) { return at::silu(input); }
inline Tensor mish(const Tensor& input) { return at::mish(input); }
inline Tensor prelu(const Tensor& input, const Tensor& weight) { return at::prelu(input, weight); }
inline Tensor logsigmoid(const Tensor& input) { return at::log_sigmoid(input); }
inline Tensor softsign(const Tensor& input) { return input / (input.abs() + 1); }
inline Tensor tanhshrink(const Tensor& input) { return input - input.tanh(); }
inline Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {}) {
    return at::hardshrink(input, options.lambda());
}
inline Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {}) {
    return at::softshrink(input, options.lambda());
}
inline Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {}) {
    return at::softplus(input, options.beta(), options.threshold());
}
inline Tensor glu(const Tensor& input, const GLUFuncOptions& options = {}) {
    if (input.dim() == 0) __wb::fail(0, "", "glu does not support scalars because halving size must be even");
    return at::glu(input, options.dim());
}
inline Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) { return input.softmax(options.dim(), options.dtype()); }
inline Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) { return (-input).softmax(options.dim(), options.dtype()); }
inline Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
    return input.log_softmax(options.dim(), options.dtype());
}
inline Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {}) {
    Tensor soft = ((logits - (-(1 - at::rand_like(logits)).log()).log()) / options.tau()).softmax(options.dim());
    if (!options.hard()) return soft;
    return at::zeros_like(logits).scatter(options.dim(), soft.argmax(options.dim(), true), 1);
}
