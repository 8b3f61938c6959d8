// Operations of torch that are made of others. Formulas: the documentation of `torch`.
namespace at {

inline void __wb_wants(bool is_so, const char* what) {
    if (!is_so) __wb::fail(0, "", what);
}
inline void __wb_not_of(const char* name, const Tensor& x) { __wb::fail(4, "", "\"", name, "\" not implemented for '", c10::toString(x.scalar_type()), "'"); }
inline void __wb_needs_floats(const char* name, const Tensor& x) {
    if (!x.is_floating_point()) __wb_not_of(name, x);
}
inline void __wb_needs_numbers(const char* name, const Tensor& x) {
    if (x.scalar_type() == c10::kBool) __wb_not_of(name, x);
}
// 16-bit floats are computed in float.
inline Tensor __wb_widened(const Tensor& x) {
    return x.scalar_type() == c10::kHalf || x.scalar_type() == c10::kBFloat16 ? x.to(c10::kFloat) : x;
}
// The largest finite number of a floating-point type.
inline double __wb_largest(ScalarType type) {
    return type == c10::kDouble ? 1.7976931348623157e308 : type == c10::kHalf ? 65504.0 : type == c10::kBFloat16 ? 3.3895313892515355e38 : 3.4028234663852886e38;
}
// A number, rounded to the compute type.
inline double __wb_factor(const Scalar& number, const Tensor& x) {
    double value = number.toDouble();
    if (x.scalar_type() == c10::kDouble) return value;
    if (std::isfinite(value) && std::fabs(value) > __wb_largest(c10::kFloat)) __wb::fail(0, "", "value cannot be converted to type float without overflow");
    return (float)value;
}
// The type itself for floats, `float` for integers.
inline ScalarType __wb_float_type(ScalarType type) { return c10::isFloatingType(type) ? type : c10::kFloat; }
inline std::vector<Tensor> broadcast_tensors(TensorList tensors) {
    std::vector<int64_t> shape;
    for (const Tensor& t : tensors) {
        while ((int64_t)shape.size() < t.dim()) shape.insert(shape.begin(), 1);
        for (int64_t i = 1; i <= t.dim(); ++i) {
            int64_t& extent = shape[shape.size() - i];
            if (extent == 1) extent = t.size(-i);
        }
    }
    // Shapes that do not fit are reported by `expand`.
    std::vector<Tensor> made;
    for (const Tensor& t : tensors) made.push_back(t.expand(shape));
    return made;
}
inline Tensor __wb_first(const Tensor& x, int64_t dim, int64_t n, bool keepdim) {
    return keepdim ? x.narrow(dim, n, 1) : x.select(dim, n);
}

// The k-th smallest along a dimension; `median` gives the first NaN, if there is one.
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false) {
    dim = at::maybe_wrap_dim(dim, self.dim());
    __wb_needs_numbers("kthvalue_cpu", self);
    if (self.dim() == 0) {
        __wb_wants(k == 1, "kthvalue(): selected number k out of range for dimension 0");
        return std::tuple<Tensor, Tensor>(self.clone(), at::zeros_like(self, c10::kLong));
    }
    if (self.size(dim) == 0) __wb::fail(3, "", "kthvalue(): Expected reduction dim ", dim, " to have non-zero size.");
    __wb_wants(k >= 1 && k <= self.size(dim), "kthvalue(): selected number k out of range for dimension");
    auto all = self.sort(dim);
    return std::tuple<Tensor, Tensor>(__wb_first(std::get<0>(all), dim, k - 1, keepdim), __wb_first(std::get<1>(all), dim, k - 1, keepdim));
}
inline std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim = false) {
    dim = at::maybe_wrap_dim(dim, self.dim());
    __wb_needs_numbers("median_out", self);
    if (self.dim() == 0) return at::kthvalue(self, 1, dim, keepdim);
    if (self.size(dim) == 0) __wb::fail(3, "", "median(): Expected reduction dim ", dim, " to have non-zero size.");
    auto middle = at::kthvalue(self, (self.size(dim) + 1) / 2, dim, keepdim);
    if (!self.is_floating_point()) return middle;
    Tensor nan = self.isnan(), some = nan.any(dim, keepdim);
    Tensor place = at::where(some, nan.to(c10::kByte).argmax(dim, keepdim), std::get<1>(middle));
    Tensor value = self.gather(dim, keepdim ? place : place.unsqueeze(dim));
    return std::tuple<Tensor, Tensor>(keepdim ? value : value.squeeze(dim), place);
}
inline Tensor median(const Tensor& self) {
    if (self.numel() == 0) return self.is_floating_point() ? self.new_full({}, NAN) : self.new_full({}, c10::elementSize(self.scalar_type()) == 8 ? INT64_MIN : INT32_MIN);
    Tensor value = std::get<0>(at::median(self.detach().flatten(), 0));
    if (!self.requires_grad()) return value;
    // Equal elements share the gradient.
    return self.masked_select(at::where(value.isnan(), self.isnan(), self == value)).max();
}
// The most frequent value, the smallest of several, and the place of its last element:
// sorted, equal elements are a run, and the last one's place in it counts them.
inline std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim = -1, bool keepdim = false) {
    dim = at::maybe_wrap_dim(dim, self.dim());
    if (self.dim() == 0) return std::tuple<Tensor, Tensor>(self.clone(), at::zeros_like(self, c10::kLong));
    if (self.size(dim) == 0) __wb::fail(3, "", "mode(): Expected reduction dim ", dim, " to have non-zero size.");
    auto all = self.sort(true, dim, false);
    Tensor values = std::get<0>(all), n = at::arange(self.size(dim), c10::kLong);
    for (int64_t i = dim + 1; i < self.dim(); ++i) n = n.unsqueeze(-1);
    Tensor begins = at::ones_like(values, c10::kBool);
    if (self.size(dim) > 1) {
        begins = at::cat({begins.narrow(dim, 0, 1), values.narrow(dim, 1, self.size(dim) - 1) != values.narrow(dim, 0, self.size(dim) - 1)}, dim);
    }
    Tensor since = std::get<0>(at::where(begins, n, at::zeros_like(n)).cummax(dim));
    Tensor last = (n - since).argmax(dim, true);
    Tensor value = values.gather(dim, last), place = std::get<1>(all).gather(dim, last);
    return keepdim ? std::tuple<Tensor, Tensor>(value, place) : std::tuple<Tensor, Tensor>(value.squeeze(dim), place.squeeze(dim));
}
// The norm of 16-bit floats is computed in `float`; without an epsilon it is the input type's own.
inline Tensor rms_norm(const Tensor& input, IntArrayRef shape, const std::optional<Tensor>& weight = std::nullopt,
                       std::optional<double> eps = std::nullopt) {
    bool fits = shape.size() > 0 && input.dim() >= (int64_t)shape.size();
    for (size_t i = 1; fits && i <= shape.size(); ++i) fits = input.size(-(int64_t)i) == shape[shape.size() - i];
    if (shape.size() == 0) __wb::fail(0, "", "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = ", shape);
    if (!fits) __wb::fail(0, "", "Given normalized_shape=", shape, ", expected input with shape matching its last dimensions, but got input of size", input.sizes());
    std::vector<int64_t> dims;
    for (int64_t i = 1; i <= (int64_t)shape.size(); ++i) dims.push_back(-i);
    __wb_needs_floats("rms_norm", input);
    double least = input.scalar_type() == c10::kDouble ? 2.220446049250313e-16 : input.scalar_type() == c10::kFloat ? 1.1920928955078125e-07
                 : input.scalar_type() == c10::kHalf ? 0.0009765625 : 0.0078125;
    Tensor x = input.scalar_type() == c10::kDouble ? input : input.to(c10::kFloat);
    Tensor made = (x * (x * x).mean(dims, true).add(eps.value_or(least)).rsqrt()).to(input.scalar_type());
    return weight.has_value() ? made * *weight : made;
}
inline std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim, bool keepdim = false) {
    if (self.dim() == 0 || !self.is_floating_point() || self.size(dim) == 0) return at::median(self, dim, keepdim);
    // NaNs are sorted after all numbers.
    auto all = self.sort(dim);
    Tensor count = self.isnan().logical_not().sum(dim, true);
    Tensor place = ((count - 1).clamp_min(0)).div(2, "floor").to(c10::kLong);
    Tensor value = std::get<0>(all).gather(dim, place), index = std::get<1>(all).gather(dim, place);
    return std::tuple<Tensor, Tensor>(keepdim ? value : value.squeeze(dim), keepdim ? index : index.squeeze(dim));
}
inline Tensor nanmedian(const Tensor& self) { return self.numel() == 0 ? at::median(self) : std::get<0>(at::nanmedian(self.flatten(), 0)); }
inline Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = std::nullopt, bool keepdim = false,
                       std::string interpolation = "linear") {
    __wb_wants(self.numel() > 0, "quantile() input tensor must be non-empty");
    __wb_wants(self.scalar_type() == c10::kFloat || self.scalar_type() == c10::kDouble, "quantile() input tensor must be either float or double dtype");
    __wb_wants(q.scalar_type() == self.scalar_type(), "quantile() q tensor must be same dtype as the input tensor");
    __wb_wants(q.dim() <= 1, "quantile() q must be a scalar or 1D tensor");
    __wb_wants(!at::any((q < 0).logical_or(q > 1)).item<bool>(), "quantile() q values must be in the range [0, 1]");
    Tensor flat = dim.has_value() && self.dim() > 0 ? self.movedim(*dim, -1) : self.flatten();
    Tensor order = std::get<0>(flat.sort(-1)), at_ = q.flatten() * (flat.size(-1) - 1), low = at_.floor();
    Tensor below = order.index_select(-1, low.to(c10::kLong)), above = order.index_select(-1, at_.ceil().to(c10::kLong));
    Tensor made;
    if (interpolation == "linear") made = at::lerp(below, above, at_ - low);
    else if (interpolation == "lower") made = below;
    else if (interpolation == "higher") made = above;
    else if (interpolation == "midpoint") made = at::lerp(below, above, at::full_like(at_, 0.5));
    else if (interpolation == "nearest") made = order.index_select(-1, at_.round().to(c10::kLong));
    else __wb_wants(false, "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest");
    made = at::where(flat.isnan().any(-1, true), made.new_full({}, NAN), made);
    made = made.movedim(-1, 0);
    if (keepdim) {
        if (dim.has_value()) made = made.unsqueeze(*dim < 0 ? *dim : *dim + 1);
        else for (int64_t i = 0; i < self.dim(); ++i) made = made.unsqueeze(-1);
    }
    return q.dim() == 0 ? made.squeeze(0) : made;
}
inline Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim = std::nullopt, bool keepdim = false,
                       std::string interpolation = "linear") {
    return at::quantile(self, self.new_full({}, q), dim, keepdim, interpolation);
}
inline Tensor msort(const Tensor& self) { return self.dim() == 0 ? self.clone() : std::get<0>(self.sort(0)); }
inline std::tuple<Tensor, Tensor> aminmax(const Tensor& self) { return std::tuple<Tensor, Tensor>(self.amin(), self.amax()); }
inline std::tuple<Tensor, Tensor> aminmax(const Tensor& self, int64_t dim, bool keepdim = false) {
    return std::tuple<Tensor, Tensor>(self.amin(dim, keepdim), self.amax(dim, keepdim));
}
inline std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) { return __wb::op<std::tuple<Tensor, Tensor>>("cummax", self, dim); }
inline std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) { return __wb::op<std::tuple<Tensor, Tensor>>("cummin", self, dim); }

// Places of values in a sorted order.
inline Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool out_int32 = false, bool right = false,
                           std::optional<std::string> side = std::nullopt, const std::optional<Tensor>& sorter = std::nullopt) {
    if (side.has_value()) {
        __wb_wants(*side == "left" || *side == "right", "torch.searchsorted(): side can only be 'left' or 'right'");
        __wb_wants(!right || *side == "right", "torch.searchsorted(): side and right can't be set to opposites");
    }
    ScalarType type = at::result_type(sorted, values);
    Tensor order = (sorter.has_value() && sorter->defined() ? sorted.gather(-1, *sorter) : sorted).to(type);
    __wb_needs_numbers("searchsorted_out_cpu", order);
    Tensor made = __wb::op<Tensor>("searchsorted", order, values.to(type), right || side.value_or("left") == "right");
    return out_int32 ? made.to(c10::kInt) : made;
}
inline Tensor __wb_of_number(const Scalar& value) {
    return at::full({}, value, value.isFloatingPoint() ? c10::kDouble : value.isBoolean() ? c10::kBool : c10::kLong);
}
inline Tensor searchsorted(const Tensor& sorted, const Scalar& value, bool out_int32 = false, bool right = false) {
    return at::searchsorted(sorted, __wb_of_number(value).to(at::result_type(sorted, value)), out_int32, right);
}
inline Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
    __wb_wants(boundaries.dim() == 1, "torch.bucketize(): boundaries tensor must be 1 dimension");
    return at::searchsorted(boundaries, self, out_int32, right);
}
inline Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
    return at::searchsorted(boundaries, self, out_int32, right);
}
inline Tensor isin(const Tensor& elements, const Tensor& test, bool = false, bool invert = false) {
    if (elements.scalar_type() == c10::kBool || test.scalar_type() == c10::kBool) __wb::fail(4, "", "Unsupported input type encountered for isin(): Bool");
    ScalarType type = at::result_type(elements, test);
    // NaN equals nothing, and has no place in the order.
    Tensor all = test.to(type).flatten(), wanted = elements.to(type);
    Tensor known = std::get<0>((c10::isFloatingType(type) ? all.masked_select(all == all) : all).sort(0));
    if (known.numel() == 0) return at::full(elements.sizes(), invert, c10::kBool);
    Tensor place = at::searchsorted(known, wanted).clamp_max(known.numel() - 1);
    Tensor found = known.take(place).eq(wanted);
    return invert ? found.logical_not() : found;
}
inline Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0) {
    __wb_needs_floats("histogram_cpu", self);
    __wb_wants(bins > 0, "torch.histc(): bins must be > 0");
    double low = min.toDouble(), high = max.toDouble();
    if (low == high && self.numel() > 0) {
        low = self.min().item<double>();
        high = self.max().item<double>();
    }
    if (low == high) {
        low -= 1;
        high += 1;
    }
    __wb_wants(low < high, "torch.histc(): max must be larger than min");
    Tensor x = __wb_widened(self.flatten()), within = x.masked_select((x >= low).logical_and(x <= high));
    Tensor place = ((within - low) / (high - low) * bins).to(c10::kLong).clamp_max(bins - 1);
    return at::bincount(place, std::nullopt, bins).to(self.scalar_type());
}

// Numbers.
inline Tensor nansum(const Tensor& self) { return at::where(self.isnan(), self.new_zeros({}), self).sum(); }
inline Tensor nansum(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
    return at::where(self.isnan(), self.new_zeros({}), self).sum(dim, keepdim);
}
inline Tensor nan_to_num(const Tensor& self, std::optional<double> nan = std::nullopt, std::optional<double> posinf = std::nullopt,
                         std::optional<double> neginf = std::nullopt) {
    if (!self.is_floating_point()) return self.clone();
    double most = __wb_largest(self.scalar_type());
    auto number = [&](double value) { return at::full({}, value, c10::kDouble).to(self.scalar_type()); };
    Tensor made = at::where(self.isnan(), number(nan.value_or(0.0)), self);
    made = at::where(self == INFINITY, number(posinf.value_or(most)), made);
    return at::where(self == -INFINITY, number(neginf.value_or(-most)), made);
}
inline Tensor logaddexp(const Tensor& self, const Tensor& other) {
    ScalarType type = at::result_type(self, other);
    if (!c10::isFloatingType(type)) __wb::fail(4, "", "\"logaddexp_cpu\" not implemented for '", c10::toString(type), "'");
    Tensor a = __wb_widened(self.to(type)), b = __wb_widened(other.to(type));
    Tensor top = at::maximum(a, b), gap = (a - b).abs().neg();
    // Equal infinities have no difference.
    return at::where(top.isinf().logical_and(a == b), top, top + gap.exp().log1p()).to(type);
}
inline Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt) {
    ScalarType type = __wb_float_type(self.scalar_type());
    Tensor x = self.to(type), low = at::full({}, eps.value_or(-1), x.options()), high = 1 - low;
    if (eps.has_value() && !(*eps < 0)) x = at::where(x < low, low, at::where(x > high, high, x));
    Tensor made = (x / (1 - x)).log();
    if (!x.requires_grad()) return made;
    // The other formula has the same value, with a gradient at 0 and 1 as well.
    Tensor other = x.log() - (1 - x).log();
    NoGradGuard guard;
    other.copy_(made);
    return other;
}
inline Tensor xlogy(const Tensor& self, const Tensor& other) {
    ScalarType type = __wb_float_type(at::result_type(self, other));
    Tensor a = self.to(type), b = other.to(type);
    // The logarithm that is not used has no gradient either.
    if (a.requires_grad()) b = at::where((a == 0).logical_and((b <= 0).logical_or(b == INFINITY)), at::ones_like(b), b);
    Tensor made = a * b.log();
    if (a.requires_grad()) return made;
    return at::where((a == 0).logical_and(b.isnan().logical_not()), at::zeros_like(made), made);
}
inline Tensor sinc(const Tensor& self) {
    ScalarType type = __wb_float_type(self.scalar_type());
    Tensor x = __wb_widened(self.to(type)) * 3.14159265358979323846;
    Tensor divisor = at::where(x == 0, at::ones_like(x), x);
    return at::where(x == 0, at::ones_like(x), x.sin() / divisor).to(type);
}
inline Tensor sgn(const Tensor& self) { return self.sign(); }
inline Tensor signbit(const Tensor& self) { return __wb::op<Tensor>("signbit", self); }
inline Tensor copysign(const Tensor& self, const Tensor& other) {
    Tensor size = self.to(__wb_float_type(at::result_type(self, other))).abs();
    return at::where(at::signbit(other), size.neg(), size);
}
inline Tensor copysign(const Tensor& self, const Scalar& other) {
    Tensor size = self.to(__wb_float_type(at::result_type(self, other))).abs();
    return at::where(at::signbit(__wb_of_number(other)), size.neg(), size);
}
inline Tensor heaviside(const Tensor& self, const Tensor& values) {
    __wb_wants(self.scalar_type() == values.scalar_type(), "heaviside is not yet implemented for tensors with different dtypes.");
    return at::where(self == 0, values, (self > 0).to(self.scalar_type()));
}
inline Tensor hardshrink(const Tensor& self, const Scalar& lambd = 0.5) {
    __wb_needs_floats("hardshrink_cpu", self);
    Tensor l = at::full({}, lambd, self.options());
    return at::where((self >= l.neg()).logical_and(self <= l), at::zeros_like(self), self);
}
inline Tensor softshrink(const Tensor& self, const Scalar& lambd = 0.5) {
    __wb_needs_floats("softshrink_check", self);
    double most = __wb_largest(self.scalar_type());
    if (!(lambd.toDouble() >= 0 && lambd.toDouble() <= most)) {
        __wb::fail(0, "", "lambda must be in range [0, ", most, "] for input dtype ", c10::toString(self.scalar_type()), ", but found ", lambd.toDouble());
    }
    Tensor l = at::full({}, lambd, self.options());
    return at::where(self > l, self - l, at::where(self < l.neg(), self + l, self * 0));
}
inline Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
    if (self.scalar_type() != other.scalar_type()) __wb::fail(0, "", c10::toString(self.scalar_type()), " did not match ", c10::toString(other.scalar_type()));
    Tensor close = self == other;
    if (equal_nan && self.is_floating_point()) close = close.logical_or(self.isnan().logical_and(other.isnan()));
    if (rtol == 0 && atol == 0) return close;
    // Integers are compared by their distance in `float`.
    Tensor a = self.scalar_type() == c10::kBool ? self.to(c10::kFloat) : self, b = self.is_floating_point() ? other : other.to(c10::kFloat);
    Tensor near = (a - b).abs();
    return close.logical_or(near.isfinite().logical_and(near <= (b * rtol).abs() + atol));
}
inline Tensor diff(const Tensor& self, int64_t n = 1, int64_t dim = -1, const std::optional<Tensor>& prepend = std::nullopt,
                   const std::optional<Tensor>& append = std::nullopt) {
    __wb_wants(n >= 0, "diff(): order must be non-negative");
    std::vector<Tensor> parts;
    if (prepend.has_value() && prepend->defined()) parts.push_back(*prepend);
    parts.push_back(self);
    if (append.has_value() && append->defined()) parts.push_back(*append);
    Tensor x = parts.size() == 1 ? self : at::cat(parts, dim);
    for (; n > 0 && x.size(dim) > 0; --n) {
        int64_t count = x.size(dim) - 1;
        Tensor later = x.narrow(dim, 1, count), before = x.narrow(dim, 0, count);
        x = x.scalar_type() == c10::kBool ? later.logical_xor(before) : later - before;
    }
    return x;
}

// Products.
inline Tensor ger(const Tensor& self, const Tensor& other) { return self.outer(other); }
inline Tensor vdot(const Tensor& self, const Tensor& other) { return self.dot(other); }
inline void __wb_needs_factors(const Tensor& x, const Scalar& beta, const Scalar& alpha) {
    __wb_wants(x.is_floating_point() || !beta.isFloatingPoint(), "For integral input tensors, argument beta must not be a floating point number.");
    __wb_wants(x.is_floating_point() || !alpha.isFloatingPoint(), "For integral input tensors, argument alpha must not be a floating point number.");
}
inline Tensor addr(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) {
    __wb_needs_factors(self, beta, alpha);
    return self * beta + a.outer(b) * alpha;
}
inline Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) {
    __wb_needs_factors(self, beta, alpha);
    __wb_wants(a.size(2) == b.size(1), "Incompatible matrix sizes for bmm");
    return self * beta + a.bmm(b).sum(0).to(self.scalar_type()) * alpha;
}
inline Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim = std::nullopt) {
    auto both = at::broadcast_tensors({self, other});
    Tensor a = both[0], b = both[1];
    int64_t along = 0;
    if (dim.has_value()) along = *dim;
    else while (along < a.dim() && a.size(along) != 3) ++along;
    __wb_wants(along < a.dim() && a.size(along) == 3, "cross(): no dimension of size 3 in input");
    return a.roll(-1, along) * b.roll(-2, along) - a.roll(-2, along) * b.roll(-1, along);
}
inline Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p = 2) { return (self - other).norm(p); }
inline Tensor kron(const Tensor& self, const Tensor& other) {
    Tensor a = self, b = other;
    while (a.dim() < b.dim()) a = a.unsqueeze(0);
    while (b.dim() < a.dim()) b = b.unsqueeze(0);
    std::vector<int64_t> made;
    for (int64_t i = 0, n = a.dim(); i < n; ++i) made.push_back(a.size(i) * b.size(i));
    // Extents of one and of the other alternate.
    for (int64_t i = a.dim(); i-- > 0;) {
        a = a.unsqueeze(i + 1);
        b = b.unsqueeze(i);
    }
    return (a * b).reshape(made);
}
inline Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
    __wb_wants(dims_self.size() == dims_other.size(), "both dimension lists should have same length");
    std::vector<int64_t> shape, left, right;
    std::vector<bool> taken_left(self.dim(), false), taken_right(other.dim(), false);
    int64_t inner = 1, rows = 1, cols = 1;
    for (size_t i = 0; i < dims_self.size(); ++i) {
        int64_t a = dims_self[i] < 0 ? dims_self[i] + self.dim() : dims_self[i], b = dims_other[i] < 0 ? dims_other[i] + other.dim() : dims_other[i];
        __wb_wants(self.size(a) == other.size(b), "contracted dimensions need to match");
        taken_left[a] = true;
        taken_right[b] = true;
        inner *= self.size(a);
    }
    for (int64_t i = 0; i < self.dim(); ++i) {
        if (taken_left[i]) continue;
        left.push_back(i);
        shape.push_back(self.size(i));
        rows *= self.size(i);
    }
    for (size_t i = 0; i < dims_self.size(); ++i) {
        left.push_back(dims_self[i]);
        right.push_back(dims_other[i]);
    }
    for (int64_t i = 0; i < other.dim(); ++i) {
        if (taken_right[i]) continue;
        right.push_back(i);
        shape.push_back(other.size(i));
        cols *= other.size(i);
    }
    return self.permute(left).reshape({rows, inner}).mm(other.permute(right).reshape({inner, cols})).reshape(shape);
}

// Shapes.
inline Tensor argwhere(const Tensor& self) { return self.nonzero(); }
inline Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim = std::nullopt) {
    if (!dim.has_value()) return self.flatten().gather(0, indices.flatten());
    std::vector<int64_t> from, to;
    int64_t along = *dim < 0 ? *dim + self.dim() : *dim;
    for (int64_t i = 0; i < self.dim(); ++i) {
        int64_t a = self.size(i), b = indices.size(i), wide = a == 1 ? b : a;
        from.push_back(i == along ? a : wide);
        to.push_back(i == along ? b : wide);
    }
    return self.expand(from).gather(along, indices.expand(to));
}
inline std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim = 0) {
    __wb_wants(sections > 0, "number of sections must be larger than 0");
    std::vector<int64_t> sizes;
    for (int64_t i = 0, n = self.size(dim); i < sections; ++i) sizes.push_back(n / sections + (i < n % sections));
    return self.split(sizes, dim);
}
inline std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim = 0) {
    std::vector<Tensor> parts;
    int64_t from = 0;
    for (size_t i = 0; i <= indices.size(); ++i) {
        int64_t to = i < indices.size() ? indices[i] : self.size(dim);
        parts.push_back(self.slice(dim, from, to));
        from = to;
    }
    return parts;
}
inline std::vector<Tensor> __wb_evenly(const char* name, const Tensor& self, int64_t sections, int64_t rank, int64_t dim) {
    if (self.dim() < rank) __wb::fail(0, "", "torch.", name, " requires a tensor with at least ", rank, " dimension, but got a tensor with ", self.dim(), " dimensions!");
    if (sections <= 0 || self.size(dim) % sections != 0) {
        __wb::fail(0, "", "torch.", name, " attempted to split along dimension ", dim, ", but the size of the dimension ", self.size(dim),
                   " is not divisible by the split_size ", sections, "!");
    }
    return at::tensor_split(self, sections, dim);
}
inline std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) { return __wb_evenly("hsplit", self, sections, 1, self.dim() == 1 ? 0 : 1); }
inline std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) { return __wb_evenly("vsplit", self, sections, 2, 0); }
inline std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) { return __wb_evenly("dsplit", self, sections, 3, 2); }
inline Tensor dstack(TensorList tensors) {
    std::vector<Tensor> all;
    for (const Tensor& t : tensors) all.push_back(t.dim() == 0 ? t.reshape({1, 1, 1}) : t.dim() == 1 ? t.reshape({1, -1, 1}) : t.dim() == 2 ? t.unsqueeze(-1) : t);
    return at::cat(all, 2);
}
inline Tensor column_stack(TensorList tensors) {
    std::vector<Tensor> all;
    for (const Tensor& t : tensors) all.push_back(t.dim() <= 1 ? t.reshape({t.numel(), 1}) : t);
    return at::cat(all, 1);
}
inline Tensor block_diag(TensorList tensors) {
    int64_t rows = 0, cols = 0;
    std::vector<Tensor> all;
    for (const Tensor& t : tensors) {
        __wb_wants(t.dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions.");
        all.push_back(t.dim() == 2 ? t : t.reshape({1, t.numel()}));
        rows += all.back().size(0);
        cols += all.back().size(1);
    }
    Tensor made = at::zeros({rows, cols}, tensors[0].options());
    rows = cols = 0;
    for (const Tensor& t : all) {
        made.narrow(0, rows, t.size(0)).narrow(1, cols, t.size(1)).copy_(t);
        rows += t.size(0);
        cols += t.size(1);
    }
    return made;
}
inline Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0, 1}) {
    int64_t a = dims[0], b = dims[1];
    k = (k % 4 + 4) % 4;
    if (k == 1) return self.flip(b).transpose(a, b);
    if (k == 2) return self.flip({a, b});
    return k == 3 ? self.flip(a).transpose(a, b) : self.clone();
}
inline Tensor fliplr(const Tensor& self) {
    __wb_wants(self.dim() >= 2, "Input must be >= 2-d.");
    return self.flip(1);
}
inline Tensor flipud(const Tensor& self) {
    __wb_wants(self.dim() >= 1, "Input must be >= 1-d.");
    return self.flip(0);
}
// A view of the elements whose two places differ by the offset.
inline Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
    int64_t n = self.dim(), a = at::maybe_wrap_dim(dim1, n), b = at::maybe_wrap_dim(dim2, n);
    __wb_wants(a != b, "diagonal dimensions cannot be identical");
    int64_t rows = self.size(a) + (offset < 0 ? offset : 0), cols = self.size(b) - (offset > 0 ? offset : 0);
    int64_t count = rows < cols ? rows : cols, from = self.storage_offset();
    if (count < 0) count = 0;
    if (count > 0) from += offset > 0 ? offset * self.stride(b) : -offset * self.stride(a);
    std::vector<int64_t> sizes, strides;
    for (int64_t i = 0; i < n; ++i) {
        if (i == a || i == b) continue;
        sizes.push_back(self.size(i));
        strides.push_back(self.stride(i));
    }
    sizes.push_back(count);
    strides.push_back(self.stride(a) + self.stride(b));
    return self.as_strided(sizes, strides, from);
}
inline void __wb_fill_diagonal(const Tensor& self, const Scalar& value) {
    __wb_wants(self.dim() >= 2, "dimensions must larger than 1");
    if (self.dim() == 2) {
        at::diagonal(self).fill_(value);
        return;
    }
    int64_t step = 0;
    for (int64_t i = 0; i < self.dim(); ++i) {
        __wb_wants(self.size(i) == self.size(0), "all dimensions of input must be of equal length");
        step += self.stride(i);
    }
    self.as_strided({self.size(0)}, {step}, self.storage_offset()).fill_(value);
}
inline Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1) {
    int64_t n = self.dim() + 1, a = at::maybe_wrap_dim(dim1, n), b = at::maybe_wrap_dim(dim2, n), side = self.size(-1) + (offset < 0 ? -offset : offset);
    __wb_wants(a != b, "diagonal dimensions cannot be identical");
    std::vector<int64_t> sizes = self.sizes().vec();
    sizes.pop_back();
    sizes.push_back(side);
    sizes.push_back(side);
    Tensor made = at::zeros(sizes, self.options());
    at::diagonal(made, offset, -2, -1).copy_(self);
    std::vector<int64_t> order;
    for (int64_t i = 0, next = 0; i < n; ++i) order.push_back(i == a ? n - 2 : i == b ? n - 1 : next++);
    return made.permute(order);
}
inline Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
    Tensor made = self.clone();
    at::diagonal(made, offset, dim1, dim2).copy_(src);
    return made;
}
inline Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
    Tensor made = self.clone();
    made.select(dim, index).copy_(src);
    return made;
}
inline Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0, std::optional<int64_t> start = std::nullopt,
                            std::optional<int64_t> end = std::nullopt, int64_t step = 1) {
    Tensor made = self.clone();
    made.slice(dim, start, end, step).copy_(src);
    return made;
}
inline Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
    __wb_wants(mask.scalar_type() == c10::kBool, "masked_scatter_ only supports boolean masks");
    __wb_wants(self.scalar_type() == source.scalar_type(), "masked_scatter: expected self and source to have same dtypes");
    Tensor made = self.contiguous().clone(), flat = made.view({-1}), places = mask.expand_as(self).flatten().nonzero().flatten();
    __wb_wants(places.numel() <= source.numel(), "masked_scatter: Number of elements of source < number of ones in mask");
    flat.index_copy_(0, places, source.flatten().narrow(0, 0, places.numel()));
    return made;
}
inline Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string reduce, bool include_self = true) {
    if (reduce == "mean") __wb_needs_numbers("scatter_gather_tensor_cpu_reduce_mean", self);
    return __wb::op<Tensor>("scatter_reduce", self, dim, index, src, reduce, include_self);
}
inline Tensor tril_indices(int64_t rows, int64_t cols, int64_t offset = 0, const TensorOptions& options = TensorOptions(c10::kLong)) {
    return at::ones({rows, cols}, c10::kBool).tril(offset).nonzero().t().contiguous().to(options.dtype_opt().value_or(c10::kLong));
}
inline Tensor triu_indices(int64_t rows, int64_t cols, int64_t offset = 0, const TensorOptions& options = TensorOptions(c10::kLong)) {
    return at::ones({rows, cols}, c10::kBool).triu(offset).nonzero().t().contiguous().to(options.dtype_opt().value_or(c10::kLong));
}
inline Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10, const TensorOptions& options = TensorOptions()) {
    return at::full({}, base, c10::kDouble).pow(at::linspace(start, end, steps, c10::kDouble)).to(options.dtype_opt().value_or(c10::kFloat));
}

// Random numbers.
inline Tensor randperm(int64_t n, const TensorOptions& options = TensorOptions(c10::kLong)) {
    __wb_wants(n >= 0, "n must be non-negative");
    return at::rand({n}, c10::kDouble).argsort(0).to(options.dtype_opt().value_or(c10::kLong));
}
inline Tensor bernoulli(const Tensor& self) {
    return (at::rand(self.sizes(), c10::kDouble) < self).to(self.scalar_type());
}
inline Tensor bernoulli(const Tensor& self, double p) { return (at::rand(self.sizes(), c10::kDouble) < p).to(self.scalar_type()); }
inline Tensor normal(double mean, double std, IntArrayRef size, const TensorOptions& options = TensorOptions()) {
    return at::randn(size, options) * std + mean;
}
inline Tensor normal(const Tensor& mean, const Tensor& std) {
    auto both = at::broadcast_tensors({mean, std});
    return at::randn(both[0].sizes(), mean.options()) * std + mean;
}
inline Tensor normal(const Tensor& mean, double std = 1) { return at::randn(mean.sizes(), mean.options()) * std + mean; }
inline Tensor randint_like(const Tensor& self, int64_t low, int64_t high) { return at::randint(low, high, self.sizes(), self.options().dtype(self.scalar_type())); }
inline Tensor randint_like(const Tensor& self, int64_t high) { return at::randint_like(self, 0, high); }
inline Tensor multinomial(const Tensor& self, int64_t n, bool replacement = false) {
    __wb_wants(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
    __wb_wants(n > 0, "cannot sample n_sample <= 0 samples");
    __wb_wants(replacement || n <= self.size(-1), "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    Tensor p = self.to(c10::kDouble);
    __wb_wants(!at::any((p < 0).logical_or(p.isfinite().logical_not())).item<bool>(), "probability tensor contains either `inf`, `nan` or element < 0");
    __wb_wants(!at::any(p.sum(-1) == 0).item<bool>(), "invalid multinomial distribution (sum of probabilities <= 0)");
    // Exponential waiting times: the shortest come first.
    if (!replacement) return std::get<1>((at::rand(p.sizes(), c10::kDouble).neg().log1p().neg() / p).topk(n, -1, false));
    std::vector<int64_t> sizes = self.sizes().vec();
    sizes.back() = n;
    Tensor sums = p.cumsum(-1), at_ = at::rand(sizes, c10::kDouble) * sums.narrow(-1, sums.size(-1) - 1, 1);
    return at::searchsorted(sums, at_, false, true).clamp_max(self.size(-1) - 1);
}

// Gradients that extensions call.
inline Tensor _softmax_backward_data(const Tensor& grad, const Tensor& output, int64_t dim, ScalarType dtype) {
    return ((grad - (grad * output).sum(dim, true)) * output).to(dtype);
}
inline Tensor _log_softmax_backward_data(const Tensor& grad, const Tensor& output, int64_t dim, ScalarType dtype) {
    return (grad - output.exp() * grad.sum(dim, true)).to(dtype);
}
inline Tensor threshold_backward(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
    __wb_needs_numbers("threshold_cpu", self);
    // Integers are compared in their own type.
    if (!self.is_floating_point()) return at::where(self <= at::full({}, threshold, self.options()), at::zeros_like(grad), grad);
    return at::where(__wb_widened(self) <= __wb_factor(threshold, self), at::zeros_like(grad), grad);
}
inline Tensor sigmoid_backward(const Tensor& grad, const Tensor& output) {
    __wb_needs_floats("sigmoid_backward_cpu", output);
    // torch rounds each step of `c10::Half`.
    if (output.scalar_type() == c10::kHalf) return grad * (1 - output) * output;
    Tensor g = __wb_widened(grad), y = __wb_widened(output);
    return (g * (1 - y) * y).to(output.scalar_type());
}
inline Tensor tanh_backward(const Tensor& grad, const Tensor& output) {
    __wb_needs_floats("tanh_backward_cpu", output);
    Tensor g = __wb_widened(grad), y = __wb_widened(output);
    return (g * (1 - y * y)).to(output.scalar_type());
}
inline Tensor silu_backward(const Tensor& grad, const Tensor& self) {
    __wb_needs_floats("silu_backward_cpu", self);
    Tensor g = __wb_widened(grad), x = __wb_widened(self), s = x.sigmoid();
    return (g * s * (1 + x * (1 - s))).to(self.scalar_type());
}
inline Tensor gelu_backward(const Tensor& grad, const Tensor& self, std::string approximate = "none") {
    __wb_needs_floats("GeluBackwardKernelImpl", self);
    Tensor g = __wb_widened(grad), x = __wb_widened(self);
    if (approximate == "tanh") {
        Tensor inner = (x + x * x * x * 0.044715) * 0.7978845608028654, t = inner.tanh();
        return (g * ((1 + t) * 0.5 + x * 0.5 * (1 - t * t) * (0.7978845608028654 * (1 + x * x * (3 * 0.044715))))).to(self.scalar_type());
    }
    __wb_wants(approximate == "none", "approximate argument must be either none or tanh.");
    return (g * ((1 + (x * 0.7071067811865476).erf()) * 0.5 + x * (x * x * -0.5).exp() * 0.3989422804014327)).to(self.scalar_type());
}
inline Tensor leaky_relu_backward(const Tensor& grad, const Tensor& self, const Scalar& slope, bool) {
    __wb_needs_floats("leaky_relu_backward_cpu", self);
    return at::where(self > 0, grad, (__wb_widened(grad) * __wb_factor(slope, self)).to(grad.scalar_type()));
}
inline Tensor hardtanh_backward(const Tensor& grad, const Tensor& self, const Scalar& low, const Scalar& high) {
    __wb_needs_floats("hardshrink_backward_cpu", self);
    Tensor x = __wb_widened(self);
    return at::where((x <= __wb_factor(low, self)).logical_or(x >= __wb_factor(high, self)), at::zeros_like(grad), grad);
}
inline Tensor softplus_backward(const Tensor& grad, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
    __wb_needs_floats("softplus_backward_cpu", self);
    Tensor g = __wb_widened(grad), x = __wb_widened(self) * __wb_factor(beta, self), z = x.exp();
    return at::where(x > __wb_factor(threshold, self), g, g * z / (z + 1)).to(grad.scalar_type());
}
inline Tensor elu_backward(const Tensor& grad, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result, const Tensor& self) {
    __wb_needs_floats("elu_backward_cpu", self);
    Tensor g = __wb_widened(grad), x = __wb_widened(self);
    double above = __wb_factor(scale, self), k = __wb_factor(input_scale, self), a = __wb_factor(alpha, self) * above;
    Tensor below = is_result ? g * k * (x + a) : g * (k * a) * (x * k).exp();
    return at::where(x <= 0, below, g * above).to(grad.scalar_type());
}

}
