// Layers and losses of torch that extensions call, made of the existing
// operations on tensors. Formulas: the documentation of `torch.nn`.
namespace at {

// A number for each dimension, or one for all.
inline int64_t __wb_at(IntArrayRef numbers, size_t i) { return numbers[numbers.size() == 1 ? 0 : i]; }
inline Tensor __wb_reduced(const Tensor& loss, int64_t reduction) {
    return reduction == 0 ? loss : reduction == 1 ? loss.mean() : loss.sum();
}
inline void __wb_needs_rank(const char* name, const Tensor& x, int64_t least, int64_t most) {
    if (x.dim() < least || x.dim() > most) {
        __wb::fail(0, "", name, ": Expected ", least, "D or ", most, "D (batch mode) input, but got a tensor of ", x.dim(), " dimensions");
    }
}

// The windows that move over the last `n` dimensions: those dimensions count the windows, `n` more at the end hold the elements of each.
inline Tensor __wb_windows(Tensor x, int64_t n, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                           bool ceil_mode, double fill) {
    int64_t first = x.dim() - n;
    std::vector<int64_t> pad;
    for (int64_t i = n; i-- > 0;) {
        int64_t k = __wb_at(kernel, i), p = __wb_at(padding, i), s = stride.empty() ? k : __wb_at(stride, i);
        int64_t span = (k - 1) * __wb_at(dilation, i) + 1, in = x.size(first + i), all = in + 2 * p;
        if (k <= 0 || s <= 0) __wb::fail(0, "", "pooling: kernel size and stride should be greater than zero");
        // The limit is half of the kernel itself, dilated or not.
        if (2 * p > k) __wb::fail(0, "", "pad should be at most half of the kernel's size, but got pad=", p, " and kernel_size=", k);
        if (all < span) __wb::fail(0, "", "pooling: the input's ", in, " elements and the padding hold no window of ", span);
        int64_t out = (all - span + (ceil_mode ? s - 1 : 0)) / s + 1;
        // The last window has to begin inside of the input or of the padding before it.
        if (ceil_mode && (out - 1) * s >= in + p) --out;
        int64_t more = (out - 1) * s + span - all;
        pad.push_back(p);
        pad.push_back(p + (more > 0 ? more : 0));
    }
    x = at::constant_pad_nd(x, pad, fill);
    for (int64_t i = 0; i < n; ++i) {
        int64_t k = __wb_at(kernel, i), d = __wb_at(dilation, i);
        x = x.unfold(first + i, (k - 1) * d + 1, stride.empty() ? k : __wb_at(stride, i)).slice(-1, 0, std::nullopt, d);
    }
    return x;
}
inline Tensor __wb_flat_windows(const Tensor& windows, int64_t n) { return windows.flatten(windows.dim() - n, -1); }
inline Tensor __wb_max_pool(const char* name, const Tensor& x, int64_t n, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                            IntArrayRef dilation, bool ceil_mode) {
    __wb_needs_rank(name, x, n + 1, n + 2);
    if (!c10::isFloatingType(x.scalar_type())) __wb::fail(0, "", name, " takes floating-point tensors");
    Tensor windows = __wb_windows(x, n, kernel, stride, padding, dilation, ceil_mode, -INFINITY);
    return __wb_flat_windows(windows, n).amax(-1);
}
inline Tensor __wb_avg_pool(const char* name, const Tensor& x, int64_t n, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                            bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor) {
    __wb_needs_rank(name, x, n + 1, n + 2);
    Tensor wide = __wb_widened(x);
    Tensor sum = __wb_flat_windows(__wb_windows(wide, n, kernel, stride, padding, 1, ceil_mode, 0), n).sum(-1);
    if (divisor.has_value()) return (sum / *divisor).to(x.scalar_type());
    // The divisor counts the input, and the padding if `count_include_pad` says so; not the elements that rounding up adds.
    std::vector<int64_t> extents;
    for (int64_t i = 0; i < n; ++i) extents.push_back(x.size(x.dim() - n + i) + (count_include_pad ? 2 * __wb_at(padding, i) : 0));
    Tensor there = at::ones(extents, wide.options());
    std::vector<int64_t> rest, pad;
    for (int64_t i = 0; i < n; ++i) rest.push_back(count_include_pad ? 0 : __wb_at(padding, i));
    for (int64_t i = n; i-- > 0;) {
        int64_t k = __wb_at(kernel, i), s = stride.empty() ? k : __wb_at(stride, i), all = extents[i] + 2 * rest[i];
        int64_t more = (sum.size(sum.dim() - n + i) - 1) * s + k - all;
        pad.push_back(rest[i]);
        pad.push_back(rest[i] + (more > 0 ? more : 0));
    }
    Tensor count = __wb_flat_windows(__wb_windows(at::constant_pad_nd(there, pad, 0), n, kernel, stride, 0, 1, false, 0), n).sum(-1);
    return (sum / count).to(x.scalar_type());
}
#define __WB_POOL(n) \
    inline Tensor max_pool##n##d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, \
                                 IntArrayRef dilation = 1, bool ceil_mode = false) { \
        return __wb_max_pool("max_pool" #n "d", self, n, kernel_size, stride, padding, dilation, ceil_mode); \
    } \
    inline Tensor avg_pool##n##d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, \
                                 bool ceil_mode = false, bool count_include_pad = true, \
                                 std::optional<int64_t> divisor_override = std::nullopt) { \
        return __wb_avg_pool("avg_pool" #n "d", self, n, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); \
    }
__WB_POOL(1) __WB_POOL(2) __WB_POOL(3)
#undef __WB_POOL
// Output i is the mean of the inputs from floor(i in / out) to ceil((i + 1) in / out).
inline Tensor __wb_adaptive(const Tensor& x, int64_t dim, int64_t out) {
    int64_t in = x.size(dim);
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < out; ++i) {
        int64_t from = i * in / out, to = ((i + 1) * in + out - 1) / out;
        parts.push_back(x.narrow(dim, from, to - from).mean(dim, true));
    }
    return at::cat(parts, dim);
}
inline Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
    if (output_size.size() != 1) __wb::fail(0, "", "adaptive_avg_pool1d: output_size must be 1");
    return __wb_adaptive(self, -1, output_size[0]);
}
inline Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
    if (output_size.size() != 2) __wb::fail(0, "", "adaptive_avg_pool2d: output_size must be 2");
    return __wb_adaptive(__wb_adaptive(self, -2, output_size[0]), -1, output_size[1]);
}

// A transposed convolution, which undoes the extents of a convolution: weights of [in, out / groups, ..], flipped.
inline Tensor __wb_transposed(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, int64_t n, IntArrayRef stride,
                              IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
    for (int64_t i = 0; i < n; ++i) {
        int64_t more = __wb_at(output_padding, i);
        if (more >= __wb_at(stride, i) && more >= __wb_at(dilation, i)) {
            __wb::fail(0, "", "output padding must be smaller than either stride or dilation, but got ", more);
        }
    }
    bool batched = input.dim() == n + 2;
    Tensor x = batched ? input : input.unsqueeze(0);
    std::vector<int64_t> extents = {x.size(0), x.size(1)}, pad, spatial;
    for (int64_t i = 0; i < n; ++i) extents.push_back((x.size(2 + i) - 1) * __wb_at(stride, i) + 1);
    for (int64_t i = n; i-- > 0;) {
        int64_t reach = __wb_at(dilation, i) * (weight.size(2 + i) - 1);
        pad.push_back(reach);
        pad.push_back(reach + __wb_at(output_padding, i));
        spatial.push_back(2 + i);
    }
    Tensor spread = at::zeros(extents, x.options()), places = spread;
    for (int64_t i = 0; i < n; ++i) places = places.slice(2 + i, 0, std::nullopt, __wb_at(stride, i));
    places.copy_(x);
    std::vector<int64_t> split = {groups, weight.size(0) / groups}, joined = {weight.size(1) * groups, weight.size(0) / groups};
    for (int64_t i = 1; i < weight.dim(); ++i) split.push_back(weight.size(i));
    for (int64_t i = 2; i < weight.dim(); ++i) joined.push_back(weight.size(i));
    Tensor turned = weight.reshape(split).transpose(1, 2).reshape(joined).flip(spatial);
    spread = at::constant_pad_nd(spread, pad, 0);
    Tensor out = n == 1 ? at::conv1d(spread, turned, bias, 1, 0, dilation, groups) : at::conv2d(spread, turned, bias, 1, 0, dilation, groups);
    for (int64_t i = 0; i < n; ++i) {
        int64_t p = __wb_at(padding, i);
        out = out.narrow(2 + i, p, out.size(2 + i) - 2 * p);
    }
    return (batched ? out : out.squeeze(0)).contiguous();
}
#define __WB_TRANSPOSED(n) \
    inline Tensor conv_transpose##n##d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt, \
                                       IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0, \
                                       int64_t groups = 1, IntArrayRef dilation = 1) { \
        return __wb_transposed(input, weight, bias, n, stride, padding, output_padding, groups, dilation); \
    }
__WB_TRANSPOSED(1) __WB_TRANSPOSED(2)
#undef __WB_TRANSPOSED
// The sum of two-dimensional convolutions, one for each depth of the kernel.
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt, IntArrayRef stride = 1,
                     IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) {
    bool batched = input.dim() == 5;
    Tensor x = batched ? input : input.unsqueeze(0);
    int64_t p = __wb_at(padding, 0), s = __wb_at(stride, 0), d = __wb_at(dilation, 0);
    x = at::constant_pad_nd(x, {0, 0, 0, 0, p, p}, 0);
    if (x.size(2) <= d * (weight.size(2) - 1)) __wb::fail(0, "", "Kernel size can't be greater than actual input size");
    int64_t depth = (x.size(2) - d * (weight.size(2) - 1) - 1) / s + 1, n = x.size(0);
    std::vector<int64_t> strides = {__wb_at(stride, 1), __wb_at(stride, 2)}, paddings = {__wb_at(padding, 1), __wb_at(padding, 2)},
                         dilations = {__wb_at(dilation, 1), __wb_at(dilation, 2)};
    Tensor sum;
    for (int64_t k = 0; k < weight.size(2); ++k) {
        Tensor frames = x.slice(2, k * d, k * d + (depth - 1) * s + 1, s).transpose(1, 2).flatten(0, 1);
        Tensor part = at::conv2d(frames, weight.select(2, k), std::nullopt, strides, paddings, dilations, groups);
        if (sum.defined()) sum = sum + part;
        else sum = part;
    }
    sum = sum.unflatten(0, {n, depth}).transpose(1, 2);
    if (bias.has_value() && bias->defined()) sum = sum + bias->reshape({1, -1, 1, 1, 1});
    return (batched ? sum : sum.squeeze(0)).contiguous();
}
inline Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                          IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups) {
    int64_t n = weight.dim() - 2;
    if (transposed && n < 3) return __wb_transposed(input, weight, bias, n, stride, padding, output_padding, groups, dilation);
    if (transposed) __wb::fail(0, "", "transposed convolutions of ", n, " dimensions are not supported");
    if (n == 1) return at::conv1d(input, weight, bias, stride, padding, dilation, groups);
    if (n == 2) return at::conv2d(input, weight, bias, stride, padding, dilation, groups);
    return at::conv3d(input, weight, bias, stride, padding, dilation, groups);
}

// (x - mean) / sqrt(var + eps), times the weight and plus the bias, if any; these have the extents `shape`.
inline Tensor __wb_normalised(const Tensor& x, const Tensor& mean, const Tensor& var, const std::optional<Tensor>& weight,
                              const std::optional<Tensor>& bias, double eps, IntArrayRef shape) {
    Tensor out = (x - mean.reshape(shape)) * (var + eps).rsqrt().reshape(shape);
    if (weight.has_value() && weight->defined()) out = out * weight->reshape(shape);
    if (bias.has_value() && bias->defined()) out = out + bias->reshape(shape);
    return out;
}
inline Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                         const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
                         double momentum, double eps, bool cudnn_enabled = true) {
    Tensor x = __wb_widened(input), mean, var;
    std::vector<int64_t> others = {0}, shape = {1, x.size(1)};
    for (int64_t i = 2; i < x.dim(); ++i) {
        others.push_back(i);
        shape.push_back(1);
    }
    bool runs = running_mean.has_value() && running_mean->defined();
    if (training) {
        mean = x.mean(others);
        var = x.var(others, false);
        if (runs) {
            double n = (double)x.numel() / x.size(1);
            running_mean->mul_(1 - momentum).add_(mean.to(running_mean->scalar_type()), momentum);
            running_var->mul_(1 - momentum).add_((var * (n / (n - 1))).to(running_var->scalar_type()), momentum);
        }
    } else {
        if (!runs) __wb::fail(0, "", "Expected running_mean and running_var to be defined when training=False");
        mean = __wb_widened(*running_mean);
        var = __wb_widened(*running_var);
    }
    return __wb_normalised(x, mean, var, weight, bias, eps, shape).to(input.scalar_type());
}
inline Tensor group_norm(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight = std::nullopt,
                         const std::optional<Tensor>& bias = std::nullopt, double eps = 1e-5, bool cudnn_enabled = true) {
    if (num_groups <= 0 || input.size(1) % num_groups != 0) {
        __wb::fail(0, "", "Expected number of channels in input to be divisible by num_groups, but got input of shape ", input.sizes(),
                   " and num_groups=", num_groups);
    }
    Tensor x = __wb_widened(input).reshape({input.size(0), num_groups, -1});
    x = ((x - x.mean(-1, true)) * (x.var(-1, false, true) + eps).rsqrt()).reshape(input.sizes());
    std::vector<int64_t> shape = {1, input.size(1)};
    for (int64_t i = 2; i < input.dim(); ++i) shape.push_back(1);
    if (weight.has_value() && weight->defined()) x = x * weight->reshape(shape);
    if (bias.has_value() && bias->defined()) x = x + bias->reshape(shape);
    return x.to(input.scalar_type());
}
inline Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                            const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool use_input_stats,
                            double momentum, double eps, bool cudnn_enabled = true) {
    if (running_mean.has_value() && running_mean->defined()) {
        if (use_input_stats) __wb::fail(0, "", "instance_norm that updates running statistics is not supported");
        return at::batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
    }
    return at::group_norm(input, input.size(1), weight, bias, eps);
}
inline std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                            const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                                            double eps) {
    std::vector<int64_t> last;
    for (size_t i = 0; i < normalized_shape.size(); ++i) last.push_back(-1 - (int64_t)i);
    Tensor mean = input.mean(last, true), rstd = (input.var(last, false, true) + eps).rsqrt();
    return std::tuple<Tensor, Tensor, Tensor>(at::layer_norm(input, normalized_shape, weight, bias, eps), mean, rstd);
}

inline Tensor dropout(const Tensor& input, double p, bool train) {
    if (p < 0 || p > 1) __wb::fail(0, "", "dropout probability has to be between 0 and 1, but got ", p);
    if (!train || p == 0) return input;
    if (p == 1) return input * 0;
    return input * (at::rand_like(input) >= p).to(input.scalar_type()) / (1 - p);
}
inline Tensor celu(const Tensor& self, const Scalar& alpha = 1) {
    __wb_wants(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
    return at::elu(self, alpha, 1, 1 / alpha.toDouble());
}
inline Tensor prelu(const Tensor& self, const Tensor& weight) {
    if (self.scalar_type() != weight.scalar_type()) __wb::fail(0, "", "prelu: Type promoting not supported. Got ", c10::toString(self.scalar_type()), " and ", c10::toString(weight.scalar_type()));
    __wb_needs_floats("prelu_cpu", self);
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < self.dim(); ++i) shape.push_back(i == 1 ? weight.numel() : 1);
    return at::where(self > 0, self, self * (weight.numel() == 1 ? weight.reshape({}) : weight.reshape(shape)));
}
inline Tensor glu(const Tensor& self, int64_t dim = -1) {
    auto halves = self.chunk(2, dim);
    if (self.size(dim) % 2 != 0) __wb::fail(0, "", "Halving dimension must be even, but dimension ", dim, " is size ", self.size(dim));
    return halves[0] * halves[1].sigmoid();
}
inline Tensor _softmax(const Tensor& self, int64_t dim, bool half_to_float) {
    return self.softmax(dim, half_to_float ? std::optional<ScalarType>(c10::kFloat) : std::nullopt);
}
inline Tensor _log_softmax(const Tensor& self, int64_t dim, bool half_to_float) {
    return self.log_softmax(dim, half_to_float ? std::optional<ScalarType>(c10::kFloat) : std::nullopt);
}
inline Tensor pixel_shuffle(const Tensor& self, int64_t r) {
    if (self.size(-3) % (r * r) != 0) {
        __wb::fail(0, "", "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but got ",
                   self.size(-3), " channels and ", r);
    }
    int64_t n = self.dim() - 3, c = self.size(-3) / (r * r), h = self.size(-2), w = self.size(-1);
    Tensor x = self.reshape({-1, c, r, r, h, w}).permute({0, 1, 4, 2, 5, 3});
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < n; ++i) shape.push_back(self.size(i));
    shape.push_back(c);
    shape.push_back(h * r);
    shape.push_back(w * r);
    return x.reshape(shape);
}
inline Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
    std::vector<int64_t> pad = {__wb_at(padding, 1), __wb_at(padding, 1), __wb_at(padding, 0), __wb_at(padding, 0)};
    Tensor x = __wb_windows(at::constant_pad_nd(self, pad, 0), 2, kernel_size, stride, 0, dilation, false, 0);
    bool batched = self.dim() == 4;
    x = batched ? x : x.unsqueeze(0);
    x = x.permute({0, 1, 4, 5, 2, 3}).flatten(4, 5).flatten(1, 3);
    return batched ? x : x.squeeze(0);
}
inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                           const std::optional<Tensor>& attn_mask = std::nullopt, double dropout_p = 0,
                                           bool is_causal = false, std::optional<double> scale = std::nullopt) {
    if (is_causal && attn_mask.has_value() && attn_mask->defined()) {
        __wb::fail(0, "", "scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    }
    Tensor scores = query.matmul(key.transpose(-2, -1)) * scale.value_or(1 / std::sqrt((double)query.size(-1)));
    if (is_causal) {
        Tensor later = at::ones({query.size(-2), key.size(-2)}, query.options()).triu(1).to(c10::kBool);
        scores = scores.masked_fill(later, -INFINITY);
    }
    if (attn_mask.has_value() && attn_mask->defined()) {
        scores = attn_mask->scalar_type() == c10::kBool ? scores.masked_fill(attn_mask->logical_not(), -INFINITY) : scores + *attn_mask;
    }
    return at::dropout(scores.softmax(-1), dropout_p, dropout_p > 0).matmul(value);
}
// The output i is input floor(i in / out), or floor(i / scale) if a scale is given.
inline Tensor __wb_nearest(const Tensor& x, int64_t dim, int64_t out, std::optional<double> scale) {
    Tensor places = at::arange(out, TensorOptions(c10::kLong));
    if (scale.has_value() && *scale > 0) places = (places.to(c10::kDouble) * (1 / *scale)).floor().clamp_max(x.size(dim) - 1).to(c10::kLong);
    else places = (places * x.size(dim)).floor_divide(out);
    return x.index_select(dim, places);
}
inline Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h = std::nullopt,
                                 std::optional<double> scales_w = std::nullopt) {
    return __wb_nearest(__wb_nearest(self, -2, output_size[0], scales_h), -1, output_size[1], scales_w);
}
inline Tensor __wb_linearly(const Tensor& x, int64_t dim, int64_t out, bool align_corners, std::optional<double> scale) {
    int64_t in = x.size(dim);
    double step = align_corners ? (out > 1 ? (double)(in - 1) / (out - 1) : 0) : scale.has_value() && *scale > 0 ? 1 / *scale : (double)in / out;
    Tensor place = at::arange(out, TensorOptions(c10::kDouble)) * step;
    if (!align_corners) place = ((place + 0.5 * step) - 0.5).clamp_min(0);
    Tensor low = place.floor().clamp_max(in - 1);
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < x.dim(); ++i) shape.push_back(1);
    shape[c10::maybe_wrap_dim(dim, x.dim())] = out;
    Tensor part = (place - low).reshape(shape).to(x.scalar_type());
    Tensor a = x.index_select(dim, low.to(c10::kLong)), b = x.index_select(dim, (low + 1).clamp_max(in - 1).to(c10::kLong));
    return a * (1 - part) + b * part;
}
inline Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                  std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt) {
    Tensor rows = __wb_linearly(__wb_widened(self), -2, output_size[0], align_corners, scales_h);
    return __wb_linearly(rows, -1, output_size[1], align_corners, scales_w).to(self.scalar_type());
}

// Losses of classes; an ignored class has the loss 0, and is left out of the mean.
inline Tensor __wb_nll(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index) {
    int64_t axis = self.dim() == 1 ? 0 : 1, classes = self.size(axis);
    Tensor counts = target != ignore_index, safe = at::where(counts, target, at::zeros_like(target));
    if (target.numel() > 0 && (safe.min().item<int64_t>() < 0 || safe.max().item<int64_t>() >= classes)) {
        __wb::fail(3, "", "Target ", safe.min().item<int64_t>() < 0 ? safe.min().item<int64_t>() : safe.max().item<int64_t>(), " is out of bounds.");
    }
    Tensor loss = -self.gather(axis, safe.unsqueeze(axis)).squeeze(axis);
    Tensor scale = counts.to(self.scalar_type());
    if (weight.has_value() && weight->defined()) scale = scale * weight->index_select(0, safe.flatten()).reshape(safe.sizes());
    loss = at::where(counts, loss * scale, at::zeros_like(loss));
    return reduction == 0 ? loss : reduction == 1 ? loss.sum() / scale.sum() : loss.sum();
}
inline void __wb_needs_classes(const Tensor& target) {
    __wb_wants(target.scalar_type() == c10::kLong || target.scalar_type() == c10::kByte, "expected target dtype to be Long or Byte");
}
inline Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = std::nullopt, int64_t reduction = 1,
                       int64_t ignore_index = -100) {
    __wb_wants(self.dim() == 1 || self.dim() == 2, "input tensor should be 1D or 2D");
    __wb_wants(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    if (self.dim() == 2 && (target.dim() != 1 || target.size(0) != self.size(0))) {
        __wb::fail(0, "", "size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
    }
    __wb_needs_classes(target);
    return __wb_nll(self, target.to(c10::kLong), weight, reduction, ignore_index);
}
inline Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = std::nullopt,
                                 int64_t reduction = 1, int64_t ignore_index = -100, double label_smoothing = 0) {
    int64_t axis = self.dim() == 1 ? 0 : 1, classes = self.size(axis);
    Tensor logs = self.log_softmax(axis);
    bool weighted = weight.has_value() && weight->defined();
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < self.dim(); ++i) shape.push_back(i == axis ? classes : 1);
    if (c10::isFloatingType(target.scalar_type())) {
        Tensor wanted = label_smoothing > 0 ? target * (1 - label_smoothing) + label_smoothing / classes : target;
        Tensor terms = weighted ? logs * wanted * weight->reshape(shape) : logs * wanted;
        Tensor loss = -terms.sum(axis);
        return reduction == 0 ? loss : reduction == 1 ? loss.sum() / (self.numel() / classes) : loss.sum();
    }
    __wb_needs_classes(target);
    if (self.dim() > 1 && (target.dim() + 1 != self.dim() || target.size(0) != self.size(0))) {
        __wb::fail(1, "", "Expected input batch_size (", self.size(0), ") to match target batch_size (", target.dim() == 0 ? 0 : target.size(0), ").");
    }
    Tensor loss = __wb_nll(logs, target.to(c10::kLong), weight, reduction, ignore_index);
    if (label_smoothing == 0) return loss;
    Tensor counts = target != ignore_index;
    Tensor smooth = -(weighted ? logs * weight->reshape(shape) : logs).sum(axis) * counts.to(self.scalar_type());
    if (reduction == 1) {
        Tensor safe = at::where(counts, target, at::zeros_like(target));
        Tensor scale = counts.to(self.scalar_type());
        if (weighted) scale = scale * weight->index_select(0, safe.flatten()).reshape(safe.sizes());
        smooth = smooth.sum() / scale.sum();
    } else if (reduction == 2) {
        smooth = smooth.sum();
    }
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / classes);
}
inline Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction = 1, bool log_target = false) {
    __wb_wants(self.is_floating_point() && target.is_floating_point(), "kl_div: Integral inputs not supported.");
    return __wb_reduced(log_target ? target.exp() * (target - self) : at::xlogy(target, target) - target * self, reduction);
}
// The common type of a loss's operands.
inline ScalarType __wb_loss_type(const char* name, const Tensor& self, const Tensor& target) {
    ScalarType type = at::result_type(self, target);
    if (!c10::isFloatingType(type)) __wb::fail(4, "", "\"", name, "\" not implemented for '", c10::toString(type), "'");
    return type;
}
// Distances, for one 16-bit type in `float`; for the other one torch rounds each step.
inline Tensor __wb_off(const Tensor& self, const Tensor& target, ScalarType type, ScalarType widened) {
    Tensor a = self.to(type), b = target.to(type);
    return type == widened ? (__wb_widened(a) - __wb_widened(b)).abs() : (a - b).abs();
}
inline Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1, double beta = 1) {
    __wb_wants(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
    if (beta == 0) return at::l1_loss(self, target, reduction);
    ScalarType type = __wb_loss_type("smooth_l1_cpu", self, target);
    Tensor off = __wb_off(self, target, type, c10::kBFloat16);
    return __wb_reduced(at::where(off < beta, off * 0.5 * off / beta, off - 0.5 * beta).to(type), reduction);
}
inline Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1, double delta = 1) {
    __wb_wants(delta > 0, "huber_loss does not support non-positive values for delta.");
    __wb_goes_into(at::result_type(self, target), self.scalar_type());
    ScalarType type = __wb_loss_type("huber_cpu", self, target);
    Tensor off = __wb_off(self, target, type, c10::kHalf);
    return __wb_reduced(at::where(off <= delta, off * 0.5 * off, (off - 0.5 * delta) * delta).to(self.scalar_type()), reduction);
}
// Logarithms are at least -100.
inline Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = std::nullopt,
                                   int64_t reduction = 1) {
    Tensor loss = (target - 1) * (1 - self).log().clamp_min(-100) - target * self.log().clamp_min(-100);
    if (weight.has_value() && weight->defined()) loss = loss * *weight;
    return __wb_reduced(loss, reduction);
}
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-8) {
    // The shape that both broadcast to is that of their sum.
    std::vector<int64_t> common = (x1 + x2).sizes().vec();
    Tensor left = x1.expand(common), right = x2.expand(common);
    Tensor a = left.norm(2, dim, true).clamp_min(eps), b = right.norm(2, dim, true).clamp_min(eps);
    return ((left / a) * (right / b)).sum(dim);
}
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6, bool keepdim = false) {
    return (x1 - x2 + eps).norm(p, -1, keepdim);
}
inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin = 1, double p = 2,
                                  double eps = 1e-6, bool swap = false, int64_t reduction = 1) {
    Tensor near = at::pairwise_distance(anchor, positive, p, eps), far = at::pairwise_distance(anchor, negative, p, eps);
    if (swap) far = at::minimum(far, at::pairwise_distance(positive, negative, p, eps));
    return __wb_reduced((near - far + margin).clamp_min(0), reduction);
}
inline Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0, int64_t reduction = 1) {
    return __wb_reduced((-target * (a - b) + margin).clamp_min(0), reduction);
}

}
