// `torch::nn::functional`: functions with options, and those operations behind them that
// are not elsewhere. Formulas: the documentation of `torch.nn`. `sparse` changes no result.
namespace at {

// The negative slope is drawn anew for each element where the function trains.
inline Tensor rrelu(const Tensor& self, const Scalar& lower = 0.125, const Scalar& upper = 1.0 / 3, bool training = false) {
    double from = lower.toDouble(), to = upper.toDouble();
    if (from > to) __wb::fail(0, "", "Lower bound should be less than or equal to the upper bound");
    if (!training) return at::leaky_relu(self, (from + to) / 2);
    return at::where(self > 0, self, self * (at::rand_like(self) * (to - from) + from));
}
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                            const std::optional<Tensor>& bias = std::nullopt) {
    if (input1.dim() != input2.dim()) {
        __wb::fail(0, "", "bilinear(): input dimensions do not match: got ", input1.dim(), " and ", input2.dim());
    }
    int64_t out = weight.size(0), n = weight.size(1), m = weight.size(2);
    if (input1.size(-1) != n || input2.size(-1) != m) {
        __wb::fail(0, "", "bilinear(): input sizes ", input1.size(-1), " and ", input2.size(-1), " do not match weight size: got ", n,
                   " and ", m);
    }
    std::vector<int64_t> shape = input1.sizes().vec();
    shape[shape.size() - 1] = out;
    Tensor rows = input1.reshape({-1, n}).matmul(weight.transpose(0, 1).reshape({n, out * m})).reshape({-1, out, m});
    Tensor sum = (rows * input2.reshape({-1, 1, m})).sum(-1).reshape(shape);
    return bias.has_value() && bias->defined() ? sum + *bias : sum;
}
// Rows that are mentioned and longer than `max_norm` are scaled to that length.
inline Tensor& embedding_renorm_(Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
    Tensor norms = weight.norm(norm_type, 1), named = at::zeros_like(norms).index_fill(0, indices.reshape(-1), 1) > 0;
    Tensor scale = at::where(at::logical_and(named, norms > max_norm), max_norm / (norms + 1e-7), at::ones_like(norms));
    return weight.mul_(scale.unsqueeze(1).to(weight.scalar_type()));
}
// Sums (mode 0), means (1) or maxima (2) of rows, a bag from each offset to the next.
inline Tensor __wb_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode, const Tensor& scales,
                        bool include_last_offset, std::optional<int64_t> padding_idx) {
    int64_t n = indices.size(0), bags = offsets.size(0) - (include_last_offset ? 1 : 0);
    Tensor starts = offsets.narrow(0, 0, bags);
    Tensor rows = weight.index_select(0, indices), bag = (at::arange(n).unsqueeze(1) >= starts.unsqueeze(0)).to(c10::kLong).sum(1) - 1;
    Tensor counts = at::ones({n, 1}, weight.options());
    if (padding_idx.has_value()) {
        counts = (indices != c10::maybe_wrap_dim(*padding_idx, weight.size(0))).to(weight.scalar_type()).unsqueeze(1);
    }
    Tensor zeros = at::zeros({bags, weight.size(1)}, weight.options());
    Tensor held = at::zeros({bags, 1}, weight.options()).index_add(0, bag, counts);
    if (mode == 2) {
        // The rows of each bag in turn; each step takes one row.
        Tensor made = zeros - INFINITY;
        rows = at::where(counts > 0, rows, at::zeros_like(rows) - INFINITY);
        for (int64_t i = 0; i < n; ++i) {
            Tensor mine = bag.narrow(0, i, 1), best = made.index_select(0, mine);
            made = made.index_copy(0, mine, at::maximum(best, rows.narrow(0, i, 1)));
        }
        return at::where(held > 0, made, zeros);
    }
    rows = rows * counts;
    if (scales.defined()) rows = rows * scales.unsqueeze(1);
    Tensor sums = zeros.index_add(0, bag, rows);
    return mode == 1 ? sums / held.clamp_min(1) : sums;
}

// Elements of the input in place of padding: 1 mirrored at the edge, 2 the edge itself, 3 from the other end.
inline Tensor __wb_pad_along(const Tensor& x, int64_t dim, int64_t before, int64_t after, int64_t mode) {
    int64_t n = x.size(dim);
    if (mode == 1 && (before >= n || after >= n)) {
        __wb::fail(0, "", "Padding size should be less than the corresponding input dimension, but got: padding (", before, ", ", after,
                   ") at dimension ", dim, " of input ", x.sizes());
    }
    if (mode == 3 && (before > n || after > n)) __wb::fail(0, "", "Padding value causes wrapping around more than once.");
    if (n == 0) __wb::fail(0, "", "padding takes elements of dimension ", dim, ", which has none");
    Tensor places = at::arange(-before, n + after, TensorOptions(c10::kLong));
    if (mode == 1) places = (n - 1) - ((n - 1) - places.abs()).abs();
    else if (mode == 2) places = places.clamp(0, n - 1);
    else places = places.remainder(n);
    return x.index_select(dim, places);
}
inline Tensor __wb_pad(const Tensor& x, IntArrayRef pad, int64_t mode) {
    int64_t n = (int64_t)pad.size() / 2;
    if (pad.size() % 2 != 0) __wb::fail(0, "", "Padding length must be divisible by 2");
    if (n < 1 || n > 3 || (x.dim() != n + 1 && x.dim() != n + 2)) {
        __wb::fail(4, "", "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
    }
    Tensor out = x;
    for (int64_t i = 0; i < n; ++i) out = __wb_pad_along(out, x.dim() - 1 - i, pad[2 * i], pad[2 * i + 1], mode);
    return out;
}
inline Tensor __wb_pad_by(const char* name, const Tensor& x, IntArrayRef pad, size_t n, int64_t mode) {
    if (pad.size() != 2 * n) __wb::fail(0, "", name, ": padding size is expected to be ", 2 * n, ", but got: ", pad.size());
    return __wb_pad(x, pad, mode);
}
#define __WB_PAD(n) \
    inline Tensor reflection_pad##n##d(const Tensor& self, IntArrayRef padding) { \
        return __wb_pad_by("reflection_pad" #n "d", self, padding, n, 1); \
    } \
    inline Tensor replication_pad##n##d(const Tensor& self, IntArrayRef padding) { \
        return __wb_pad_by("replication_pad" #n "d", self, padding, n, 2); \
    }
__WB_PAD(1) __WB_PAD(2) __WB_PAD(3)
#undef __WB_PAD
inline Tensor __wb_pad_in(const Tensor& self, IntArrayRef pad, int64_t mode, std::optional<double> value) {
    if (pad.size() % 2 != 0) __wb::fail(0, "", "Padding length must be divisible by 2");
    if (mode == 0) return at::constant_pad_nd(self, pad, value.value_or(0));
    if (value.has_value() && *value != 0) {
        __wb::fail(0, "", "Padding mode \"", mode == 1 ? "reflect" : mode == 2 ? "replicate" : "circular",
                   "\" doesn't take in value argument");
    }
    return __wb_pad(self, pad, mode);
}

// The sum of transposed convolutions in two dimensions, one for each depth of the kernel.
inline Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt,
                               IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0, int64_t groups = 1,
                               IntArrayRef dilation = 1) {
    __wb_needs_rank("conv_transpose3d", input, 4, 5);
    bool batched = input.dim() == 5;
    Tensor x = batched ? input : input.unsqueeze(0), sum;
    int64_t s = __wb_at(stride, 0), p = __wb_at(padding, 0), more = __wb_at(output_padding, 0), d = __wb_at(dilation, 0);
    if (more >= s && more >= d) __wb::fail(0, "", "output padding must be smaller than either stride or dilation, but got ", more);
    int64_t n = x.size(0), depth = x.size(2), all = (depth - 1) * s + d * (weight.size(2) - 1) + 1 + more;
    std::vector<int64_t> strides = {__wb_at(stride, 1), __wb_at(stride, 2)}, paddings = {__wb_at(padding, 1), __wb_at(padding, 2)},
                         others = {__wb_at(output_padding, 1), __wb_at(output_padding, 2)},
                         dilations = {__wb_at(dilation, 1), __wb_at(dilation, 2)};
    Tensor frames = x.transpose(1, 2).flatten(0, 1);
    for (int64_t k = 0; k < weight.size(2); ++k) {
        Tensor part = at::conv_transpose2d(frames, weight.select(2, k), std::nullopt, strides, paddings, others, groups, dilations);
        part = part.unflatten(0, {n, depth}).transpose(1, 2);
        if (!sum.defined()) sum = at::zeros({n, part.size(1), all, part.size(3), part.size(4)}, part.options());
        sum.slice(2, k * d, k * d + (depth - 1) * s + 1, s).add_(part);
    }
    sum = sum.narrow(2, p, all - 2 * p);
    if (bias.has_value() && bias->defined()) sum = sum + bias->reshape({1, -1, 1, 1, 1});
    return (batched ? sum : sum.squeeze(0)).contiguous();
}

// The place of the first of the greatest elements of each window, counted in the input's last `n` dimensions.
inline std::tuple<Tensor, Tensor> __wb_max_pool_places(const char* name, const Tensor& x, int64_t n, IntArrayRef kernel, IntArrayRef stride,
                                                       IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
    Tensor best = __wb_max_pool(name, x, n, kernel, stride, padding, dilation, ceil_mode);
    Tensor windows = __wb_flat_windows(__wb_windows(x, n, kernel, stride, padding, dilation, ceil_mode, -INFINITY), n);
    IntArrayRef extents = x.sizes().slice(x.dim() - n);
    Tensor places = at::arange(c10::multiply_integers(extents)).reshape(extents);
    places = __wb_flat_windows(__wb_windows(places, n, kernel, stride, padding, dilation, ceil_mode, -1), n).expand_as(windows);
    Tensor hit = at::logical_and(at::logical_or(windows == best.unsqueeze(-1), windows.isnan()), places >= 0);
    return std::tuple<Tensor, Tensor>(best, places.gather(-1, hit.to(c10::kLong).argmax(-1, true)).squeeze(-1));
}
inline std::tuple<Tensor, Tensor> __wb_adaptive_max(const char* name, const Tensor& self, int64_t n, IntArrayRef output_size) {
    __wb_needs_rank(name, self, n + 1, n + 2);
    if ((int64_t)output_size.size() != n) __wb::fail(0, "", name, ": internal error: output_size.size() must be ", n);
    IntArrayRef extents = self.sizes().slice(self.dim() - n);
    Tensor x = self, places = at::arange(c10::multiply_integers(extents)).reshape(extents).expand_as(self);
    // The last dimension comes first: so the first of equal elements, in the order of the elements, stays.
    for (int64_t k = n; k-- > 0;) {
        int64_t dim = x.dim() - n + k, in = x.size(dim), out = output_size[k];
        std::vector<Tensor> values, origins;
        for (int64_t i = 0; i < out; ++i) {
            int64_t from = i * in / out, length = ((i + 1) * in + out - 1) / out - from;
            auto best = x.narrow(dim, from, length).max(dim, true);
            values.push_back(std::get<0>(best));
            origins.push_back(places.narrow(dim, from, length).gather(dim, std::get<1>(best)));
        }
        x = at::cat(values, dim);
        places = at::cat(origins, dim);
    }
    return std::tuple<Tensor, Tensor>(x, places);
}
inline Tensor __wb_unpool(const char* name, const Tensor& self, const Tensor& indices, int64_t n, IntArrayRef output_size) {
    __wb_needs_rank(name, self, n + 1, n + 2);
    if (!self.sizes().equals(indices.sizes())) {
        __wb::fail(0, "", name, ": Expected shape of indices to be same as that of the input tensor (", self.sizes(),
                   ") but got indices tensor with shape: ", indices.sizes());
    }
    int64_t room = c10::multiply_integers(output_size), first = self.dim() - n;
    if (indices.numel() > 0 && (indices.min().item<int64_t>() < 0 || indices.max().item<int64_t>() >= room)) {
        __wb::fail(0, "", name, ": found an invalid max index: ", indices.max().item<int64_t>(), " (output volumes are of size ",
                   output_size, ")");
    }
    std::vector<int64_t> shape = self.sizes().slice(0, first).vec(), flat = shape;
    flat.push_back(room);
    for (int64_t extent : output_size) shape.push_back(extent);
    return at::zeros(flat, self.options()).scatter(-1, indices.flatten(first), self.flatten(first)).reshape(shape);
}
inline Tensor __wb_adaptive_avg(const Tensor& self, int64_t n, IntArrayRef output_size) {
    if ((int64_t)output_size.size() != n) {
        __wb::fail(0, "", "It is expected output_size equals to ", n, ", but got size ", output_size.size());
    }
    Tensor x = self;
    for (int64_t i = 0; i < n; ++i) x = __wb_adaptive(x, x.dim() - n + i, output_size[i]);
    return x;
}

// Blocks are added where they were taken: this undoes `im2col` except for the counts.
inline Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                     IntArrayRef stride) {
    __wb_needs_rank("col2im", self, 2, 3);
    Tensor x = self.dim() == 3 ? self : self.unsqueeze(0);
    int64_t kh = __wb_at(kernel_size, 0), kw = __wb_at(kernel_size, 1), dh = __wb_at(dilation, 0), dw = __wb_at(dilation, 1);
    int64_t ph = __wb_at(padding, 0), pw = __wb_at(padding, 1), sh = __wb_at(stride, 0), sw = __wb_at(stride, 1);
    int64_t h = __wb_at(output_size, 0), w = __wb_at(output_size, 1);
    int64_t rows = (h + 2 * ph - dh * (kh - 1) - 1) / sh + 1, columns = (w + 2 * pw - dw * (kw - 1) - 1) / sw + 1;
    if (x.size(1) % (kh * kw) != 0) {
        __wb::fail(0, "", "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
                   x.size(1), " and kernel_size=(", kh, ", ", kw, ").");
    }
    if (x.size(2) != rows * columns) {
        __wb::fail(0, "", "Expected size of input's dimension 2 to match the calculated number of sliding blocks ", rows, " * ", columns,
                   " = ", rows * columns, ", but got input.size(2)=", x.size(2), ".");
    }
    Tensor blocks = x.reshape({x.size(0), -1, kh, kw, rows, columns});
    Tensor sum = at::zeros({x.size(0), blocks.size(1), h + 2 * ph, w + 2 * pw}, x.options());
    for (int64_t i = 0; i < kh; ++i) {
        for (int64_t j = 0; j < kw; ++j) {
            Tensor place = sum.slice(2, i * dh, i * dh + (rows - 1) * sh + 1, sh).slice(3, j * dw, j * dw + (columns - 1) * sw + 1, sw);
            place.add_(blocks.select(2, i).select(2, j));
        }
    }
    sum = sum.narrow(2, ph, h).narrow(3, pw, w).contiguous();
    return self.dim() == 3 ? sum : sum.squeeze(0);
}
inline Tensor pixel_unshuffle(const Tensor& self, int64_t r) {
    if (self.dim() < 3) {
        __wb::fail(0, "", "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ", self.dim(), " dimension(s)");
    }
    if (r <= 0) __wb::fail(0, "", "pixel_unshuffle expects a positive downscale_factor, but got ", r);
    int64_t n = self.dim() - 3, c = self.size(-3), h = self.size(-2), w = self.size(-1);
    if (h % r != 0 || w % r != 0) {
        __wb::fail(0, "", "pixel_unshuffle expects height and width to be divisible by downscale_factor, but input.size(-2)=", h,
                   " and input.size(-1)=", w, " are not both divisible by ", r);
    }
    std::vector<int64_t> shape = self.sizes().slice(0, n).vec();
    shape.push_back(c * r * r);
    shape.push_back(h / r);
    shape.push_back(w / r);
    return self.reshape({-1, c, h / r, r, w / r, r}).permute({0, 1, 3, 5, 2, 4}).reshape(shape);
}

// Resizing by the nearest element to the middle of each; and by cubic convolution of four, with A = -0.75, edges repeated.
inline Tensor __wb_nearest_exact(const Tensor& x, int64_t dim, int64_t out, std::optional<double> scale) {
    double step = scale.has_value() && *scale > 0 ? 1 / *scale : (double)x.size(dim) / out;
    Tensor places = ((at::arange(out, TensorOptions(c10::kDouble)) + 0.5) * step).floor().clamp_max(x.size(dim) - 1);
    return x.index_select(dim, places.to(c10::kLong));
}
inline Tensor __wb_cubically(const Tensor& x, int64_t dim, int64_t out, bool align_corners, std::optional<double> scale) {
    int64_t in = x.size(dim);
    double step = align_corners ? (out > 1 ? (double)(in - 1) / (out - 1) : 0) : scale.has_value() && *scale > 0 ? 1 / *scale : (double)in / out;
    Tensor place = at::arange(out, TensorOptions(c10::kDouble)) * step;
    if (!align_corners) place = place + (0.5 * step - 0.5);
    Tensor low = place.floor(), sum;
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < x.dim(); ++i) shape.push_back(1);
    shape[c10::maybe_wrap_dim(dim, x.dim())] = out;
    for (int64_t k = -1; k < 3; ++k) {
        Tensor off = (place - low - k).abs();
        Tensor weight = k == 0 || k == 1 ? (off * 1.25 - 2.25) * off * off + 1 : ((off * -0.75 + 3.75) * off - 6) * off + 3;
        Tensor part = x.index_select(dim, (low + k).clamp(0, in - 1).to(c10::kLong)) * weight.reshape(shape).to(x.scalar_type());
        if (sum.defined()) sum = sum + part;
        else sum = part;
    }
    return sum;
}
// The ways to resize the last dimensions: 0 nearest, 1 nearest to the middle, 2 linear, 3 cubic.
inline Tensor __wb_resized(const Tensor& input, IntArrayRef output_size, int64_t way, bool align_corners,
                           ArrayRef<std::optional<double>> scales) {
    int64_t n = (int64_t)output_size.size();
    if (input.dim() != n + 2) {
        __wb::fail(0, "", "It is expected output_size equals to ", input.dim() - 2, ", but got size ", n);
    }
    Tensor x = way < 2 ? input : __wb_widened(input);
    for (int64_t i = 0; i < n; ++i) {
        int64_t out = output_size[i];
        if (out <= 0 || x.size(2 + i) <= 0) {
            __wb::fail(0, "", "Input and output sizes should be greater than 0, but got input ", input.sizes(), " output ", output_size);
        }
        std::optional<double> scale = scales.empty() ? std::optional<double>() : scales[i];
        if (way == 0) x = __wb_nearest(x, 2 + i, out, scale);
        else if (way == 1) x = __wb_nearest_exact(x, 2 + i, out, scale);
        else if (way == 2) x = __wb_linearly(x, 2 + i, out, align_corners, scale);
        else x = __wb_cubically(x, 2 + i, out, align_corners, scale);
    }
    return x.to(input.scalar_type());
}
using __wb_scale = std::optional<double>;
inline Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size, __wb_scale scales = std::nullopt) {
    return __wb_resized(self, output_size, 0, false, {scales});
}
inline Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size, __wb_scale scales_d = std::nullopt,
                                 __wb_scale scales_h = std::nullopt, __wb_scale scales_w = std::nullopt) {
    return __wb_resized(self, output_size, 0, false, {scales_d, scales_h, scales_w});
}
inline Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners, __wb_scale scales = std::nullopt) {
    return __wb_resized(self, output_size, 2, align_corners, {scales});
}
inline Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners, __wb_scale scales_h = std::nullopt,
                                 __wb_scale scales_w = std::nullopt) {
    return __wb_resized(self, output_size, 3, align_corners, {scales_h, scales_w});
}
inline Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners, __wb_scale scales_d = std::nullopt,
                                   __wb_scale scales_h = std::nullopt, __wb_scale scales_w = std::nullopt) {
    return __wb_resized(self, output_size, 2, align_corners, {scales_d, scales_h, scales_w});
}

// Dropout of whole channels; alpha dropout keeps the mean and variance of `selu`.
inline Tensor feature_dropout(const Tensor& input, double p, bool train) {
    if (p < 0 || p > 1) __wb::fail(0, "", "dropout probability has to be between 0 and 1, but got ", p);
    if (input.dim() < 2) __wb::fail(0, "", "Feature dropout requires at least 2 dimensions in the input");
    if (!train || p == 0) return input;
    if (p == 1) return input * 0;
    std::vector<int64_t> shape = {input.size(0), input.size(1)};
    for (int64_t i = 2; i < input.dim(); ++i) shape.push_back(1);
    return input * ((at::rand(shape) >= p).to(input.scalar_type()) / (1 - p));
}
inline Tensor __wb_alpha_dropout(const Tensor& input, double p, bool train, bool features) {
    if (p < 0 || p > 1) __wb::fail(0, "", "dropout probability has to be between 0 and 1, but got ", p);
    if (!train || p == 0) return input;
    if (p == 1) return input * 0;
    double alpha = 1.7580993408473766, a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < input.dim(); ++i) shape.push_back(features && i > 1 ? 1 : input.size(i));
    Tensor kept = (at::rand(shape) >= p).to(input.scalar_type());
    return input * (kept * a) + ((kept - 1) * (alpha * a) + alpha * a * p);
}

// Losses.
inline Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin = 1, int64_t reduction = 1) {
    Tensor zeros = at::zeros_like(self);
    return __wb_reduced(at::where(target != 1, (margin - self).clamp_min(0), zeros) + at::where(target != -1, self, zeros), reduction);
}
inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0,
                                         int64_t reduction = 1) {
    if (target.dim() > 1) __wb::fail(0, "", "0D or 1D target tensor expected, multi-target not supported");
    if (input1.dim() != target.dim() + 1 || input2.dim() != input1.dim()) {
        __wb::fail(0, "", target.dim(), "D target tensor expects ", target.dim() + 1, "D input tensors, but found inputs with sizes ",
                   input1.sizes(), " and ", input2.sizes(), ".");
    }
    int64_t axis = target.dim();
    Tensor length = (((input1 * input1).sum(axis) + 1e-12) * ((input2 * input2).sum(axis) + 1e-12)).sqrt();
    Tensor cosine = (input1 * input2).sum(axis) / length, zeros = at::zeros_like(cosine);
    return __wb_reduced(at::where(target == 1, 1 - cosine, zeros) + at::where(target == -1, (cosine - margin).clamp_min(0), zeros),
                        reduction);
}
inline Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p = 1, const Scalar& margin = 1,
                                const std::optional<Tensor>& weight = std::nullopt, int64_t reduction = 1) {
    if (p.toLong() != 1 && p.toLong() != 2) __wb::fail(0, "", "only p == 1 and p == 2 supported");
    Tensor x = self.dim() == 1 ? self.unsqueeze(0) : self, t = target.reshape({-1, 1});
    if (t.size(0) != x.size(0)) __wb::fail(0, "", "inconsistent target size, expected ", x.size(0), " but got ", target.sizes());
    Tensor over = (margin.toDouble() - x.gather(1, t) + x).clamp_min(0);
    if (p.toLong() == 2) over = over * over;
    if (weight.has_value() && weight->defined()) over = over * weight->index_select(0, t.flatten()).unsqueeze(1);
    return __wb_reduced((over.scatter(1, t, 0).sum(1) / x.size(1)).reshape(target.sizes()), reduction);
}
// The classes before the first negative one are a sample's.
inline Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1) {
    if (!self.sizes().equals(target.sizes())) {
        __wb::fail(0, "", "inconsistent target size: ", target.sizes(), " for self of size: ", self.sizes());
    }
    if (target.numel() > 0 && (target.min().item<int64_t>() < -1 || target.max().item<int64_t>() >= self.size(-1))) {
        __wb::fail(0, "", "argument #2 'target' is out of range");
    }
    Tensor x = self.dim() == 1 ? self.unsqueeze(0) : self, t = self.dim() == 1 ? target.unsqueeze(0) : target;
    Tensor counts = ((t < 0).to(c10::kLong).cumsum(1) == 0).to(x.scalar_type()), safe = t.clamp_min(0);
    Tensor others = (at::zeros_like(x).scatter_add(1, safe, counts) == 0).to(x.scalar_type());
    Tensor over = (1 - x.gather(1, safe).unsqueeze(2) + x.unsqueeze(1)).clamp_min(0) * counts.unsqueeze(2) * others.unsqueeze(1);
    Tensor loss = over.sum({1, 2}) / x.size(1);
    return __wb_reduced(self.dim() == 1 ? loss.squeeze(0) : loss, reduction);
}
inline Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1) {
    return __wb_reduced((-self * target).exp().log1p(), reduction);
}
inline Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, int64_t reduction) {
    Tensor loss = log_input ? input.exp() - target * input : input - target * (input + eps).log();
    if (full) loss = loss + (target * target.log() - target + (target * 6.283185307179586).log() * 0.5).masked_fill(target <= 1, 0);
    return __wb_reduced(loss, reduction);
}
inline Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = std::nullopt,
                          int64_t reduction = 1,
                          int64_t ignore_index = -100) {
    __wb_needs_classes(target);
    return __wb_nll(self, target.to(c10::kLong), weight, reduction, ignore_index);
}
// Distances of each row to those after it.
inline Tensor pdist(const Tensor& self, double p = 2) {
    if (self.dim() != 2) __wb::fail(0, "", "pdist only supports 2D tensors, got: ", self.dim(), "D");
    std::vector<int64_t> left, right;
    for (int64_t i = 0; i < self.size(0); ++i) {
        for (int64_t j = i + 1; j < self.size(0); ++j) {
            left.push_back(i);
            right.push_back(j);
        }
    }
    return (self.index_select(0, at::tensor(left)) - self.index_select(0, at::tensor(right))).norm(p, 1);
}

}

// The functions by their names in `at`.
namespace at {
inline Tensor pad(const Tensor& self, IntArrayRef pad, std::string mode = "constant", std::optional<double> value = std::nullopt) {
    int64_t kind = mode == "constant" ? 0 : mode == "reflect" ? 1 : mode == "replicate" ? 2 : mode == "circular" ? 3 : -1;
    if (kind < 0) __wb::fail(4, "", "Unrecognised padding mode ", mode);
    return __wb_pad_in(self, pad, kind, value);
}
#define __WB_POOL(n) \
    inline std::tuple<Tensor, Tensor> max_pool##n##d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, \
                                                                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) { \
        return __wb_max_pool_places("max_pool" #n "d_with_indices", self, n, kernel_size, stride, padding, dilation, ceil_mode); \
    } \
    inline std::tuple<Tensor, Tensor> adaptive_max_pool##n##d(const Tensor& self, IntArrayRef output_size) { \
        return __wb_adaptive_max("adaptive_max_pool" #n "d", self, n, output_size); \
    }
__WB_POOL(1) __WB_POOL(2) __WB_POOL(3)
#undef __WB_POOL
inline Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
    return __wb_unpool("max_unpool2d", self, indices, 2, output_size);
}
inline Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) { return __wb_adaptive_avg(self, 3, output_size); }
inline Tensor alpha_dropout(const Tensor& input, double p, bool train) { return __wb_alpha_dropout(input, p, train, false); }
inline Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) { return __wb_alpha_dropout(input, p, train, true); }
}
