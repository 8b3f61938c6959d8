// Host code with tensors: what extensions use of `<torch/extension.h>`, `<ATen/ATen.h>`, `<pybind11/pybind11.h>`.
namespace __wb {
template <typename T, size_t N> struct Accessor;
}

namespace c10 {

enum class ScalarType : signed char {
    Byte = 0, Char = 1, Short = 2, Int = 3, Long = 4, Half = 5, Float = 6, Double = 7, ComplexHalf = 8, ComplexFloat = 9,
    ComplexDouble = 10, Bool = 11, QInt8 = 12, QUInt8 = 13, QInt32 = 14, BFloat16 = 15, UInt16 = 27, UInt32 = 28, UInt64 = 29,
    Undefined = 45
};
enum class DeviceType : signed char { CPU = 0, CUDA = 1 };
enum class Layout : signed char { Strided = 0 };
enum class MemoryFormat : signed char { Contiguous = 0, Preserve = 1, ChannelsLast = 2 };
enum class DispatchKey : signed char { Undefined = 0, CPU = 1, CUDA = 2, Meta = 3, Autograd = 4, CompositeImplicitAutograd = 5 };
using DeviceIndex = signed char;

inline constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int,
    kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double,
    kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16, kUInt8 = ScalarType::Byte, kInt8 = ScalarType::Char,
    kInt16 = ScalarType::Short, kInt32 = ScalarType::Int, kInt64 = ScalarType::Long, kFloat16 = ScalarType::Half,
    kFloat32 = ScalarType::Float, kFloat64 = ScalarType::Double, kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32,
    kUInt64 = ScalarType::UInt64;
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
inline constexpr Layout kStrided = Layout::Strided;
using std::nullopt;
using std::optional;

template <typename T> struct CppTypeToScalarType;
#define __WB_SCALAR_TYPE(type, name) \
    template <> struct CppTypeToScalarType<type> { static constexpr ScalarType value = ScalarType::name; };
__WB_SCALAR_TYPE(unsigned char, Byte)
__WB_SCALAR_TYPE(signed char, Char)
__WB_SCALAR_TYPE(char, Char)
__WB_SCALAR_TYPE(short, Short)
__WB_SCALAR_TYPE(int, Int)
__WB_SCALAR_TYPE(long, Long)
__WB_SCALAR_TYPE(long long, Long)
__WB_SCALAR_TYPE(float, Float)
__WB_SCALAR_TYPE(double, Double)
__WB_SCALAR_TYPE(bool, Bool)
__WB_SCALAR_TYPE(unsigned short, UInt16)
__WB_SCALAR_TYPE(unsigned int, UInt32)
__WB_SCALAR_TYPE(unsigned long, UInt64)
__WB_SCALAR_TYPE(unsigned long long, UInt64)
#undef __WB_SCALAR_TYPE

struct Device {
    DeviceType type_;
    DeviceIndex index_;
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
    Device(const char* name) : type_(name[1] == 'u' ? DeviceType::CUDA : DeviceType::CPU), index_(-1) {}
    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    bool has_index() const { return index_ != -1; }
    bool is_cuda() const { return type_ == DeviceType::CUDA; }
    bool is_cpu() const { return type_ == DeviceType::CPU; }
    bool operator==(const Device& other) const { return type_ == other.type_ && index_ == other.index_; }
    bool operator!=(const Device& other) const { return !(*this == other); }
};

// Extents and the like: somebody else's numbers.
template <typename T> class ArrayRef {
    const T* data_ = nullptr;
    size_t size_ = 0;

public:
    ArrayRef() {}
    ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
    ArrayRef(std::initializer_list<T> list) : data_(list.begin()), size_(list.size()) {}
    ArrayRef(const std::vector<T>& other) : data_(other.data()), size_(other.size()) {}
    ArrayRef(const T& one) : data_(&one), size_(1) {}
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T* data() const { return data_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    const T& operator[](size_t i) const { return data_[i]; }
    const T& at(size_t i) const { return data_[i]; }
    const T& front() const { return data_[0]; }
    const T& back() const { return data_[size_ - 1]; }
    std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
    ArrayRef slice(size_t from, size_t n) const { return ArrayRef(data_ + from, n); }
    ArrayRef slice(size_t from) const { return ArrayRef(data_ + from, size_ - from); }
};
template <typename T> bool operator==(const ArrayRef<T>& a, const ArrayRef<T>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (!(a[i] == b[i])) return false;
    return true;
}
template <typename T> bool operator!=(const ArrayRef<T>& a, const ArrayRef<T>& b) { return !(a == b); }
using IntArrayRef = ArrayRef<int64_t>;

// A number of any type.
class Scalar {
    double float_ = 0;
    int64_t int_ = 0;
    signed char kind_ = 1;

public:
    Scalar() {}
    Scalar(bool value) : float_(value), int_(value), kind_(0) {}
    Scalar(int value) : float_(value), int_(value) {}
    Scalar(unsigned int value) : float_(value), int_(value) {}
    Scalar(long value) : float_(value), int_(value) {}
    Scalar(unsigned long value) : float_(value), int_(value) {}
    Scalar(long long value) : float_(value), int_(value) {}
    Scalar(float value) : float_(value), int_((int64_t)value), kind_(2) {}
    Scalar(double value) : float_(value), int_((int64_t)value), kind_(2) {}
    bool isFloatingPoint() const { return kind_ == 2; }
    bool isIntegral(bool with_bool = false) const { return kind_ == 1 || (with_bool && kind_ == 0); }
    bool isBoolean() const { return kind_ == 0; }
    double toDouble() const { return float_; }
    float toFloat() const { return (float)float_; }
    int64_t toLong() const { return int_; }
    int toInt() const { return (int)int_; }
    bool toBool() const { return float_ != 0; }
    template <typename T> T to() const {
        if constexpr (std::is_integral_v<T>) return (T)int_;
        else return T(float_);
    }
};

class TensorOptions {
    std::optional<ScalarType> dtype_;
    std::optional<Device> device_ = std::optional<Device>();
    bool requires_grad_ = false;

public:
    TensorOptions() {}
    TensorOptions(ScalarType dtype) : dtype_(dtype) {}
    TensorOptions(DeviceType device) : device_(Device(device)) {}
    TensorOptions(const Device& device) : device_(device) {}
    TensorOptions dtype(ScalarType dtype) const {
        TensorOptions other(*this);
        other.dtype_ = dtype;
        return other;
    }
    template <typename T> TensorOptions dtype() const { return dtype(CppTypeToScalarType<T>::value); }
    TensorOptions device(const Device& device) const {
        TensorOptions other(*this);
        other.device_ = device;
        return other;
    }
    TensorOptions device(DeviceType type, DeviceIndex index = -1) const { return device(Device(type, index)); }
    TensorOptions layout(Layout) const { return *this; }
    TensorOptions memory_format(MemoryFormat) const { return *this; }
    TensorOptions pinned_memory(bool) const { return *this; }
    TensorOptions requires_grad(bool value = true) const {
        TensorOptions other(*this);
        other.requires_grad_ = value;
        return other;
    }
    ScalarType dtype_or() const { return dtype_.value_or(kFloat); }
    ScalarType dtype() const { return dtype_.value_or(kFloat); }
    Device device() const { return device_.value_or(Device(kCPU)); }
    std::optional<ScalarType> dtype_opt() const { return dtype_; }
    std::optional<Device> device_opt() const { return device_; }
    bool requires_grad() const { return requires_grad_; }
};

}

namespace at {

using c10::ArrayRef;
using c10::Device;
using c10::DeviceType;
using c10::DeviceIndex;
using c10::IntArrayRef;
using c10::Layout;
using c10::MemoryFormat;
using c10::Scalar;
using c10::ScalarType;
using c10::TensorOptions;
using c10::DispatchKey;

// What `x.type()` gives.
struct TypeProperties {
    ScalarType type;
    bool cuda;
    operator ScalarType() const { return type; }
    ScalarType scalarType() const { return type; }
    bool is_cuda() const { return cuda; }
};

class Tensor {
    int64_t handle_ = 0;

    void set(int64_t handle) {
        __wb_release(handle_);
        handle_ = handle;
    }

public:
    Tensor() {}
    Tensor(const Tensor& other) : handle_(__wb_retain(other.handle_)) {}
    ~Tensor() { __wb_release(handle_); }
    Tensor& operator=(const Tensor& other) {
        set(__wb_retain(other.handle_));
        return *this;
    }
    Tensor __wb_assign(const Tensor& other) {
        copy_(other);
        return *this;
    }
    Tensor __wb_assign(const Scalar& value) {
        fill_(value);
        return *this;
    }
    static Tensor __wb_adopt(int64_t handle) {
        Tensor made;
        made.handle_ = handle;
        return made;
    }
    int64_t __wb_handle() const { return handle_; }

    bool defined() const { return handle_ != 0; }
    int64_t dim() const { return __wb_tensor_dim(handle_); }
    int64_t ndimension() const { return __wb_tensor_dim(handle_); }
    int64_t size(int64_t i) const { return __wb_tensor_size(handle_, i); }
    int64_t stride(int64_t i) const { return __wb_tensor_stride(handle_, i); }
    IntArrayRef sizes() const { return IntArrayRef((const int64_t*)__wb_tensor_sizes(handle_), __wb_tensor_dim(handle_)); }
    IntArrayRef strides() const { return IntArrayRef((const int64_t*)__wb_tensor_strides(handle_), __wb_tensor_dim(handle_)); }
    int64_t numel() const { return __wb_tensor_numel(handle_); }
    ScalarType scalar_type() const { return (ScalarType)__wb_tensor_dtype(handle_); }
    ScalarType dtype() const { return (ScalarType)__wb_tensor_dtype(handle_); }
    Device device() const {
        int64_t d = __wb_tensor_device(handle_);
        return Device((DeviceType)(d & 255), (DeviceIndex)((d >> 8) - 1));
    }
    bool is_cuda() const { return (__wb_tensor_device(handle_) & 255) == 1; }
    bool is_cpu() const { return (__wb_tensor_device(handle_) & 255) == 0; }
    TensorOptions options() const { return TensorOptions(device()).dtype(scalar_type()); }
    template <typename T> T* data_ptr() const {
        return (T*)__wb_tensor_data(handle_, (int64_t)c10::CppTypeToScalarType<std::remove_const_t<T>>::value);
    }
    void* data_ptr() const { return __wb_tensor_data(handle_, -1); }
    template <typename T> const T* const_data_ptr() const { return data_ptr<T>(); }
    template <typename T> T* mutable_data_ptr() const { return data_ptr<T>(); }
    template <typename T> T* data() const { return data_ptr<T>(); }
    bool is_contiguous() const { return __wb::op<bool>("is_contiguous", *this); }
    bool is_floating_point() const { return c10::isFloatingType(scalar_type()); }
    bool requires_grad() const { return false; }
    bool is_sparse() const { return false; }
    Layout layout() const { return Layout::Strided; }
    int64_t element_size() const { return c10::elementSize(scalar_type()); }
    int64_t itemsize() const { return c10::elementSize(scalar_type()); }
    int64_t nbytes() const { return numel() * element_size(); }
    int64_t get_device() const { return device().index(); }
    TypeProperties type() const { return TypeProperties{scalar_type(), is_cuda()}; }
    bool is_same(const Tensor& other) const { return __wb::op<bool>("same_memory", *this, other); }
    template <typename T, size_t N> auto accessor() const { return __wb::Accessor<T, N>::plain(*this); }
    template <typename T, size_t N, template <typename U> class P = at::DefaultPtrTraits> auto packed_accessor32() const {
        return __wb::Accessor<T, N>::template packed<P, int32_t>(*this);
    }
    template <typename T, size_t N, template <typename U> class P = at::DefaultPtrTraits> auto packed_accessor64() const {
        return __wb::Accessor<T, N>::template packed<P, int64_t>(*this);
    }
    template <typename T, size_t N, template <typename U> class P = at::DefaultPtrTraits, typename I = int64_t>
    auto packed_accessor() const {
        return __wb::Accessor<T, N>::template packed<P, I>(*this);
    }

    Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const { return __wb::op<Tensor>("contiguous", *this); }
    Tensor clone() const { return __wb::op<Tensor>("clone", *this); }
    Tensor detach() const { return *this; }
    Tensor variable_data() const { return *this; }
    Tensor to(ScalarType dtype, bool = false, bool = false) const { return __wb::op<Tensor>("to", *this, dtype); }
    Tensor to(const Device& device, bool = false, bool = false) const { return __wb::op<Tensor>("to", *this, device); }
    Tensor to(DeviceType device, bool = false, bool = false) const { return __wb::op<Tensor>("to", *this, Device(device)); }
    Tensor to(const Device& device, ScalarType dtype, bool = false, bool = false) const {
        return __wb::op<Tensor>("to", *this, dtype, device);
    }
    Tensor to(const TensorOptions& o, bool = false, bool = false) const {
        return __wb::op<Tensor>("to", *this, o.dtype_opt(), o.device_opt());
    }
    Tensor toType(ScalarType dtype) const { return __wb::op<Tensor>("to", *this, dtype); }
    Tensor type(ScalarType dtype) const { return __wb::op<Tensor>("to", *this, dtype); }
    Tensor to_type(ScalarType dtype) const { return __wb::op<Tensor>("to", *this, dtype); }
    Tensor cpu() const { return to(c10::kCPU); }
    Tensor cuda() const { return to(c10::kCUDA); }
    Tensor view(IntArrayRef size) const { return __wb::op<Tensor>("view", *this, size); }
    Tensor reshape(IntArrayRef size) const { return __wb::op<Tensor>("reshape", *this, size); }
    Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
    Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
    Tensor flatten(int64_t start = 0, int64_t end = -1) const { return __wb::op<Tensor>("flatten", *this, start, end); }
    Tensor permute(IntArrayRef dims) const { return __wb::op<Tensor>("permute", *this, dims); }
    Tensor transpose(int64_t a, int64_t b) const { return __wb::op<Tensor>("transpose", *this, a, b); }
    Tensor t() const { return __wb::op<Tensor>("t", *this); }
    Tensor squeeze() const { return __wb::op<Tensor>("squeeze", *this); }
    Tensor squeeze(int64_t dim) const { return __wb::op<Tensor>("squeeze", *this, dim); }
    Tensor unsqueeze(int64_t dim) const { return __wb::op<Tensor>("unsqueeze", *this, dim); }
    Tensor expand(IntArrayRef size, bool = false) const { return __wb::op<Tensor>("expand", *this, size); }
    Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
    Tensor narrow(int64_t dim, int64_t start, int64_t length) const { return __wb::op<Tensor>("narrow", *this, dim, start, length); }
    Tensor select(int64_t dim, int64_t index) const { return __wb::op<Tensor>("select", *this, dim, index); }
    Tensor operator[](int64_t index) const { return select(0, index); }
    Tensor slice(int64_t dim = 0, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
                 int64_t step = 1) const {
        return __wb::op<Tensor>("slice", *this, dim, start, end, step);
    }
    Tensor index_select(int64_t dim, const Tensor& index) const { return __wb::op<Tensor>("index_select", *this, dim, index); }
    Tensor& copy_(const Tensor& other, bool = false) {
        __wb::op<Tensor>("copy_", *this, other);
        return *this;
    }
    Tensor& fill_(const Scalar& value) {
        __wb::op<Tensor>("fill_", *this, value);
        return *this;
    }
    Tensor& zero_() {
        __wb::op<Tensor>("zero_", *this);
        return *this;
    }
    template <typename T> T item() const { return __wb::op<Scalar>("item", *this).template to<T>(); }
    Scalar item() const { return __wb::op<Scalar>("item", *this); }

#define __WB_UNARY(name) \
    Tensor name() const { return __wb::op<Tensor>(#name, *this); } \
    Tensor& name##_() { \
        __wb::op<Tensor>(#name "_", *this); \
        return *this; \
    }
    __WB_UNARY(abs) __WB_UNARY(neg) __WB_UNARY(exp) __WB_UNARY(log) __WB_UNARY(log2) __WB_UNARY(log1p) __WB_UNARY(expm1)
    __WB_UNARY(sqrt) __WB_UNARY(rsqrt) __WB_UNARY(sin) __WB_UNARY(cos) __WB_UNARY(tan) __WB_UNARY(tanh) __WB_UNARY(sigmoid)
    __WB_UNARY(relu) __WB_UNARY(erf) __WB_UNARY(floor) __WB_UNARY(ceil) __WB_UNARY(round) __WB_UNARY(trunc) __WB_UNARY(square)
    __WB_UNARY(sign) __WB_UNARY(reciprocal)
#undef __WB_UNARY
#define __WB_BINARY(name) \
    Tensor name(const Tensor& other) const { return __wb::op<Tensor>(#name, *this, other); } \
    Tensor name(const Scalar& other) const { return __wb::op<Tensor>(#name, *this, other); } \
    Tensor& name##_(const Tensor& other) { \
        __wb::op<Tensor>(#name "_", *this, other); \
        return *this; \
    } \
    Tensor& name##_(const Scalar& other) { \
        __wb::op<Tensor>(#name "_", *this, other); \
        return *this; \
    }
    __WB_BINARY(mul) __WB_BINARY(div) __WB_BINARY(pow) __WB_BINARY(remainder) __WB_BINARY(floor_divide)
    __WB_BINARY(eq) __WB_BINARY(ne) __WB_BINARY(lt) __WB_BINARY(le) __WB_BINARY(gt) __WB_BINARY(ge)
#undef __WB_BINARY
#define __WB_SCALED(name) \
    Tensor name(const Tensor& other, const Scalar& alpha = 1) const { return __wb::op<Tensor>(#name, *this, other, alpha); } \
    Tensor name(const Scalar& other, const Scalar& alpha = 1) const { return __wb::op<Tensor>(#name, *this, other, alpha); } \
    Tensor& name##_(const Tensor& other, const Scalar& alpha = 1) { \
        __wb::op<Tensor>(#name "_", *this, other, alpha); \
        return *this; \
    } \
    Tensor& name##_(const Scalar& other, const Scalar& alpha = 1) { \
        __wb::op<Tensor>(#name "_", *this, other, alpha); \
        return *this; \
    }
    __WB_SCALED(add) __WB_SCALED(sub)
#undef __WB_SCALED
    Tensor& operator+=(const Tensor& other) { return add_(other); }
    Tensor& operator+=(const Scalar& other) { return add_(other); }
    Tensor& operator-=(const Tensor& other) { return sub_(other); }
    Tensor& operator-=(const Scalar& other) { return sub_(other); }
    Tensor& operator*=(const Tensor& other) { return mul_(other); }
    Tensor& operator*=(const Scalar& other) { return mul_(other); }
    Tensor& operator/=(const Tensor& other) { return div_(other); }
    Tensor& operator/=(const Scalar& other) { return div_(other); }
    Tensor operator-() const { return neg(); }
    Tensor clamp(std::optional<Scalar> low = std::nullopt, std::optional<Scalar> high = std::nullopt) const {
        return __wb::op<Tensor>("clamp", *this, low, high);
    }
    Tensor clamp_min(const Scalar& low) const { return __wb::op<Tensor>("clamp", *this, low); }

#define __WB_REDUCTION(name) \
    Tensor name(std::optional<ScalarType> dtype = std::nullopt) const { \
        return __wb::op<Tensor>(#name, *this, std::optional<Scalar>(), false, dtype); \
    } \
    Tensor name(IntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) const { \
        return __wb::op<Tensor>(#name, *this, dim, keepdim, dtype); \
    }
    __WB_REDUCTION(sum) __WB_REDUCTION(mean)
#undef __WB_REDUCTION
    Tensor prod() const { return __wb::op<Tensor>("prod", *this); }
    Tensor any() const { return __wb::op<Tensor>("any", *this); }
    Tensor all() const { return __wb::op<Tensor>("all", *this); }
    Tensor max() const { return __wb::op<Tensor>("max", *this); }
    Tensor min() const { return __wb::op<Tensor>("min", *this); }
    std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const {
        return __wb::op<std::tuple<Tensor, Tensor>>("max", *this, dim, keepdim);
    }
    std::tuple<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const {
        return __wb::op<std::tuple<Tensor, Tensor>>("min", *this, dim, keepdim);
    }
    Tensor amax(IntArrayRef dim, bool keepdim = false) const { return __wb::op<Tensor>("amax", *this, dim, keepdim); }
    Tensor amin(IntArrayRef dim, bool keepdim = false) const { return __wb::op<Tensor>("amin", *this, dim, keepdim); }
    Tensor argmax(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const {
        return __wb::op<Tensor>("argmax", *this, dim, keepdim);
    }
    Tensor argmin(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const {
        return __wb::op<Tensor>("argmin", *this, dim, keepdim);
    }
    Tensor norm(const Scalar& p = 2) const { return __wb::op<Tensor>("norm", *this, p); }
#define __WB_SPREAD(name) \
    Tensor name(bool unbiased) const { \
        return __wb::op<Tensor>(#name, *this, std::optional<int64_t>(), false, std::optional<int64_t>(), unbiased); \
    } \
    Tensor name() const { return name(true); } \
    Tensor name(IntArrayRef dim, bool unbiased, bool keepdim = false) const { \
        return __wb::op<Tensor>(#name, *this, dim, keepdim, std::optional<int64_t>(), unbiased); \
    } \
    Tensor name(IntArrayRef dim) const { return name(dim, true, false); }
    __WB_SPREAD(var) __WB_SPREAD(std)
#undef __WB_SPREAD
    Tensor softmax(int64_t dim) const { return __wb::op<Tensor>("softmax", *this, dim); }
    Tensor log_softmax(int64_t dim) const { return __wb::op<Tensor>("log_softmax", *this, dim); }
    Tensor mm(const Tensor& other) const { return __wb::op<Tensor>("mm", *this, other); }
    Tensor matmul(const Tensor& other) const { return __wb::op<Tensor>("matmul", *this, other); }
    Tensor bmm(const Tensor& other) const { return __wb::op<Tensor>("bmm", *this, other); }
    Tensor mv(const Tensor& other) const { return __wb::op<Tensor>("mv", *this, other); }
    Tensor dot(const Tensor& other) const { return __wb::op<Tensor>("dot", *this, other); }
    bool equal(const Tensor& other) const { return __wb::op<bool>("equal", *this, other); }
    bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool = false) const {
        return __wb::op<bool>("allclose", *this, other, rtol, atol);
    }
    Tensor new_empty(IntArrayRef size, const TensorOptions& options = TensorOptions()) const {
        return __wb::op<Tensor>("empty", size, like(options));
    }
    Tensor new_zeros(IntArrayRef size, const TensorOptions& options = TensorOptions()) const {
        return __wb::op<Tensor>("zeros", size, like(options));
    }
    Tensor new_ones(IntArrayRef size, const TensorOptions& options = TensorOptions()) const {
        return __wb::op<Tensor>("ones", size, like(options));
    }
    Tensor new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options = TensorOptions()) const {
        return __wb::op<Tensor>("full", size, value, like(options));
    }
    TensorOptions like(const TensorOptions& o) const {
        return TensorOptions(o.device_opt().value_or(device())).dtype(o.dtype_opt().value_or(scalar_type()));
    }
};
using TensorList = c10::ArrayRef<Tensor>;

#define __WB_OPERATOR(sign, name) \
    inline Tensor operator sign(const Tensor& a, const Tensor& b) { return __wb::op<Tensor>(#name, a, b); } \
    inline Tensor operator sign(const Tensor& a, const Scalar& b) { return __wb::op<Tensor>(#name, a, b); } \
    inline Tensor operator sign(const Scalar& a, const Tensor& b) { return __wb::op<Tensor>(#name, a, b); }
__WB_OPERATOR(+, add)
__WB_OPERATOR(-, sub)
__WB_OPERATOR(*, mul)
__WB_OPERATOR(/, div)
__WB_OPERATOR(==, eq)
__WB_OPERATOR(!=, ne)
__WB_OPERATOR(<, lt)
__WB_OPERATOR(<=, le)
__WB_OPERATOR(>, gt)
__WB_OPERATOR(>=, ge)
#undef __WB_OPERATOR

#define __WB_UNARY(name) inline Tensor name(const Tensor& self) { return __wb::op<Tensor>(#name, self); }
__WB_UNARY(abs) __WB_UNARY(neg) __WB_UNARY(exp) __WB_UNARY(log) __WB_UNARY(log2) __WB_UNARY(log10) __WB_UNARY(log1p)
__WB_UNARY(expm1) __WB_UNARY(sqrt) __WB_UNARY(rsqrt) __WB_UNARY(sin) __WB_UNARY(cos) __WB_UNARY(tan) __WB_UNARY(asin)
__WB_UNARY(acos) __WB_UNARY(atan) __WB_UNARY(sinh) __WB_UNARY(cosh) __WB_UNARY(tanh) __WB_UNARY(sigmoid) __WB_UNARY(relu)
__WB_UNARY(erf) __WB_UNARY(erfc) __WB_UNARY(floor) __WB_UNARY(ceil) __WB_UNARY(round) __WB_UNARY(trunc) __WB_UNARY(square)
__WB_UNARY(sign) __WB_UNARY(reciprocal) __WB_UNARY(t) __WB_UNARY(max) __WB_UNARY(min) __WB_UNARY(any) __WB_UNARY(all)
__WB_UNARY(logical_not)
#undef __WB_UNARY
#define __WB_BINARY(name) \
    inline Tensor name(const Tensor& a, const Tensor& b) { return __wb::op<Tensor>(#name, a, b); } \
    inline Tensor name(const Tensor& a, const Scalar& b) { return __wb::op<Tensor>(#name, a, b); }
__WB_BINARY(mul) __WB_BINARY(div) __WB_BINARY(pow) __WB_BINARY(remainder) __WB_BINARY(floor_divide) __WB_BINARY(fmod)
__WB_BINARY(eq) __WB_BINARY(ne) __WB_BINARY(lt) __WB_BINARY(le) __WB_BINARY(gt) __WB_BINARY(ge)
#undef __WB_BINARY
#define __WB_TENSORS(name) inline Tensor name(const Tensor& a, const Tensor& b) { return __wb::op<Tensor>(#name, a, b); }
__WB_TENSORS(maximum) __WB_TENSORS(minimum) __WB_TENSORS(mm) __WB_TENSORS(matmul) __WB_TENSORS(bmm) __WB_TENSORS(mv)
__WB_TENSORS(dot) __WB_TENSORS(logical_and) __WB_TENSORS(logical_or) __WB_TENSORS(atan2)
#undef __WB_TENSORS
inline Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return __wb::op<Tensor>("add", a, b, alpha); }
inline Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return __wb::op<Tensor>("sub", a, b, alpha); }
inline Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) {
    return __wb::op<Tensor>("addmm", input, a, b, beta, alpha);
}
inline Tensor sum(const Tensor& self) { return self.sum(); }
inline Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false) { return self.sum(dim, keepdim); }
inline Tensor mean(const Tensor& self) { return self.mean(); }
inline Tensor mean(const Tensor& self, IntArrayRef dim, bool keepdim = false) { return self.mean(dim, keepdim); }
inline std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false) { return self.max(dim, keepdim); }
inline std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false) { return self.min(dim, keepdim); }
inline Tensor argmax(const Tensor& self, std::optional<int64_t> dim = std::nullopt, bool keepdim = false) {
    return self.argmax(dim, keepdim);
}
inline Tensor softmax(const Tensor& self, int64_t dim) { return self.softmax(dim); }
inline Tensor log_softmax(const Tensor& self, int64_t dim) { return self.log_softmax(dim); }
inline Tensor clamp(const Tensor& self, std::optional<Scalar> low = std::nullopt, std::optional<Scalar> high = std::nullopt) {
    return self.clamp(low, high);
}
inline Tensor where(const Tensor& cond, const Tensor& a, const Tensor& b) { return __wb::op<Tensor>("where", cond, a, b); }
inline Tensor cat(TensorList tensors, int64_t dim = 0) { return __wb::op<Tensor>("cat", tensors, dim); }
inline Tensor stack(TensorList tensors, int64_t dim = 0) { return __wb::op<Tensor>("stack", tensors, dim); }
inline Tensor transpose(const Tensor& self, int64_t a, int64_t b) { return self.transpose(a, b); }
inline Tensor reshape(const Tensor& self, IntArrayRef size) { return self.reshape(size); }
inline Tensor flatten(const Tensor& self, int64_t start = 0, int64_t end = -1) { return self.flatten(start, end); }
inline bool equal(const Tensor& a, const Tensor& b) { return a.equal(b); }
inline bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8) { return a.allclose(b, rtol, atol); }

#define __WB_FACTORY(name) \
    inline Tensor name(IntArrayRef size, const TensorOptions& options = TensorOptions()) { \
        return __wb::op<Tensor>(#name, size, options); \
    } \
    inline Tensor name##_like(const Tensor& self, const TensorOptions& options = TensorOptions()) { \
        return __wb::op<Tensor>(#name "_like", self, options); \
    }
__WB_FACTORY(empty)
__WB_FACTORY(zeros)
__WB_FACTORY(ones)
__WB_FACTORY(rand)
__WB_FACTORY(randn)
#undef __WB_FACTORY
inline Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("full", size, value, options);
}
inline Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("full_like", self, value, options);
}
inline Tensor arange(const Scalar& end, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("arange", Scalar(0), end, Scalar(1), options);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("arange", start, end, Scalar(1), options);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("arange", start, end, step, options);
}
inline Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("linspace", start.toDouble(), end.toDouble(), steps, options);
}
inline Tensor eye(int64_t n, const TensorOptions& options = TensorOptions()) { return __wb::op<Tensor>("eye", n, n, options); }
inline Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("tensor", value, options);
}
template <typename T> inline Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("tensor", std::vector<T>(values), options);
}
template <typename T> inline Tensor tensor(const std::vector<T>& values, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("tensor", values, options);
}
inline Tensor tensor(const Scalar& value, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("tensor", value, options);
}
inline void manual_seed(uint64_t seed) { __wb::op<Tensor>("manual_seed", (int64_t)seed); }

}

namespace c10 {
inline bool isFloatingType(ScalarType t) {
    return t == ScalarType::Half || t == ScalarType::Float || t == ScalarType::Double || t == ScalarType::BFloat16;
}
inline bool isIntegralType(ScalarType t, bool with_bool = false) {
    return !isFloatingType(t) && (with_bool || t != ScalarType::Bool);
}
inline int64_t elementSize(ScalarType t) {
    switch (t) {
        case ScalarType::Byte: case ScalarType::Char: case ScalarType::Bool: return 1;
        case ScalarType::Short: case ScalarType::UInt16: case ScalarType::Half: case ScalarType::BFloat16: return 2;
        case ScalarType::Int: case ScalarType::UInt32: case ScalarType::Float: return 4;
        default: return 8;
    }
}
inline ScalarType typeMetaToScalarType(ScalarType t) { return t; }
inline std::string toString(ScalarType t) {
    __wb_push_dtype((int64_t)t);
    __wb_op("workbench::to_string", 1);
    return __wb::Value<std::string>::get();
}
template <typename... A> inline std::string str(A... args) {
    (__wb::Value<A>::put(args), ...);
    __wb_op("workbench::join", sizeof...(A));
    return __wb::Value<std::string>::get();
}
template <ScalarType> struct ScalarTypeToCPPType;
template <> struct ScalarTypeToCPPType<ScalarType::Byte> { using type = unsigned char; };
template <> struct ScalarTypeToCPPType<ScalarType::Char> { using type = signed char; };
template <> struct ScalarTypeToCPPType<ScalarType::Short> { using type = short; };
template <> struct ScalarTypeToCPPType<ScalarType::Int> { using type = int; };
template <> struct ScalarTypeToCPPType<ScalarType::Long> { using type = int64_t; };
template <> struct ScalarTypeToCPPType<ScalarType::Float> { using type = float; };
template <> struct ScalarTypeToCPPType<ScalarType::Double> { using type = double; };
template <> struct ScalarTypeToCPPType<ScalarType::Bool> { using type = bool; };
template <> struct ScalarTypeToCPPType<ScalarType::UInt16> { using type = unsigned short; };
template <> struct ScalarTypeToCPPType<ScalarType::UInt32> { using type = unsigned int; };
template <> struct ScalarTypeToCPPType<ScalarType::UInt64> { using type = unsigned long; };
namespace impl {
template <ScalarType t> using ScalarTypeToCPPTypeT = typename c10::ScalarTypeToCPPType<t>::type;
}
}

namespace at {
using c10::toString;
using c10::isFloatingType;
using c10::isIntegralType;
using c10::elementSize;
using c10::typeMetaToScalarType;
}

namespace at {
using namespace c10;
}

namespace torch {
using namespace c10;
using namespace at;
inline TensorOptions dtype(ScalarType dtype) { return TensorOptions(dtype); }
inline TensorOptions device(const Device& device) { return TensorOptions(device); }
inline TensorOptions device(DeviceType device) { return TensorOptions(device); }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }
}

namespace __wb {

// How a value goes to the run time and comes from it.
template <typename T> struct Value;
#define __WB_NUMBER(type, kind) \
    template <> struct Value<type> { \
        static void put(type value) { __wb_push_##kind(value); } \
        static type get() { return (type)__wb_pop_##kind(); } \
    };
#define __WB_INTEGER(type) \
    template <> struct Value<type> { \
        static void put(type value) { __wb_push_int(value); } \
        static type get() { \
            int64_t value = __wb_pop_int(); \
            if ((int64_t)(type)value != value || (value < 0 && (type)-1 > (type)0)) { \
                __wb_push_c_string("an integer that does not fit `" #type "`: "); \
                __wb_push_int(value); \
                __wb_raise(2, 2); \
            } \
            return (type)value; \
        } \
    };
__WB_NUMBER(bool, bool)
__WB_INTEGER(char)
__WB_INTEGER(signed char)
__WB_INTEGER(unsigned char)
__WB_INTEGER(short)
__WB_INTEGER(unsigned short)
__WB_INTEGER(int)
__WB_INTEGER(unsigned int)
__WB_INTEGER(long)
__WB_INTEGER(unsigned long)
__WB_INTEGER(long long)
__WB_INTEGER(unsigned long long)
__WB_NUMBER(float, float)
__WB_NUMBER(double, float)
#undef __WB_NUMBER
#undef __WB_INTEGER
template <> struct Value<std::nullopt_t> {
    static void put(std::nullopt_t) { __wb_push_none(); }
};
template <> struct Value<at::Tensor> {
    static void put(const at::Tensor& value) { __wb_push_tensor(value.__wb_handle()); }
    static at::Tensor get() { return at::Tensor::__wb_adopt(__wb_pop_tensor()); }
};
template <> struct Value<c10::ScalarType> {
    static void put(c10::ScalarType value) { __wb_push_dtype((int64_t)value); }
    static c10::ScalarType get() { return (c10::ScalarType)__wb_pop_dtype(); }
};
template <> struct Value<c10::Device> {
    static void put(const c10::Device& value) { __wb_push_device((int64_t)value.type_, value.index_); }
    static c10::Device get() {
        int64_t d = __wb_pop_device();
        return c10::Device((c10::DeviceType)(d & 255), (c10::DeviceIndex)((d >> 8) - 1));
    }
};
template <> struct Value<c10::TensorOptions> {
    static void put(const c10::TensorOptions& value) {
        Value<std::optional<c10::ScalarType>>::put(value.dtype_opt());
        Value<std::optional<c10::Device>>::put(value.device_opt());
        __wb_push_list(2);
    }
};
template <typename T> struct Value<c10::ArrayRef<T>> {
    static void put(c10::ArrayRef<T> value) {
        if constexpr (std::is_same_v<T, int64_t>) {
            __wb_push_ints(value.data(), value.size());
        } else {
            for (size_t i = 0; i < value.size(); ++i) Value<T>::put(value[i]);
            __wb_push_list(value.size());
        }
    }
};
template <> struct Value<c10::Scalar> {
    static void put(const c10::Scalar& value) {
        if (value.isBoolean()) __wb_push_bool(value.toBool());
        else if (value.isFloatingPoint()) __wb_push_float(value.toDouble());
        else __wb_push_int(value.toLong());
    }
    static c10::Scalar get() {
        int64_t kind = __wb_top_kind();
        if (kind == 1) return c10::Scalar((bool)__wb_pop_bool());
        if (kind == 2) return c10::Scalar(__wb_pop_int());
        return c10::Scalar(__wb_pop_float());
    }
};
template <> struct Value<char*> {
    static void put(const char* value) { __wb_push_c_string(value); }
};
template <> struct Value<const char*> {
    static void put(const char* value) { __wb_push_c_string(value); }
};
template <> struct Value<std::string> {
    static void put(const std::string& value) { __wb_push_text(value.data(), value.size()); }
    static std::string get() {
        size_t size = __wb_text_size();
        const char* text = (const char*)__wb_pop_text();
        std::string made(text, size);
        __wb_free(text);
        return made;
    }
};
template <typename T> struct Value<std::optional<T>> {
    static void put(const std::optional<T>& value) {
        if (value.has_value()) Value<T>::put(*value);
        else __wb_push_none();
    }
    static std::optional<T> get() {
        if (__wb_top_kind() != 0) return std::optional<T>(Value<T>::get());
        __wb_drop();
        return std::optional<T>();
    }
};
template <typename T> struct Value<std::vector<T>> {
    static void put(const std::vector<T>& value) {
        for (size_t i = 0; i < value.size(); ++i) Value<T>::put(value[i]);
        __wb_push_list(value.size());
    }
    static std::vector<T> get() {
        int64_t n = __wb_pop_list();
        std::vector<T> made;
        made.reserve(n);
        for (int64_t i = 0; i < n; ++i) made.push_back(Value<T>::get());
        return made;
    }
};
template <typename... T> struct Value<std::tuple<T...>> {
    template <typename U, size_t... I> static void put_all(const U& value, std::index_sequence<I...>) {
        (Value<T>::put(std::get<I>(value)), ...);
    }
    static void put(const std::tuple<T...>& value) {
        put_all(value, std::index_sequence_for<T...>());
        __wb_push_tuple(sizeof...(T));
    }
    static std::tuple<T...> get() {
        __wb_pop_list();
        return std::tuple<T...>{Value<T>::get()...};
    }
};

// The end of a call: what `TORCH_CHECK` and its like do.
template <typename... A> inline void fail(int64_t kind, const char* condition, A... args) {
    if constexpr (sizeof...(A) == 0) {
        __wb_push_c_string("Expected ");
        __wb_push_c_string(condition);
        __wb_push_c_string(" to be true, but got false.");
        __wb_raise(kind, 3);
    } else {
        (Value<A>::put(args), ...);
        __wb_raise(kind, sizeof...(A));
    }
}

template <typename R, typename... A> inline R op(const char* name, const A&... args) {
    (Value<A>::put(args), ...);
    __wb_op(name, sizeof...(A));
    return Value<R>::get();
}

// An argument of a function that the notebook calls.
template <typename A> struct Held {
    std::remove_cv_t<std::remove_reference_t<A>> value;
    Held(int64_t i) : value((__wb_argument(i), Value<std::remove_cv_t<std::remove_reference_t<A>>>::get())) {}
};
template <typename F> struct Entry;
template <typename R, typename... A> struct Entry<R (*)(A...)> {
    static constexpr int64_t arity = sizeof...(A);
    static R run(R (*f)(A...), Held<A>... held) { return f(static_cast<A>(held.value)...); }
    template <size_t... I> static void with(R (*f)(A...), std::index_sequence<I...>) {
        if constexpr (std::is_void_v<R>) {
            run(f, Held<A>(I)...);
            __wb_push_none();
        } else {
            Value<std::remove_cv_t<std::remove_reference_t<R>>>::put(run(f, Held<A>(I)...));
        }
    }
    static void call(long f) { with(reinterpret_cast<R (*)(A...)>(f), std::index_sequence_for<A...>()); }
};
template <typename F> inline void define(const char* kind, const char* name, F f) {
    __wb_push_c_string(kind);
    __wb_push_c_string(name);
    void (*wrapper)(long) = &Entry<F>::call;
    __wb_push_int(reinterpret_cast<long>(wrapper));
    __wb_push_int(reinterpret_cast<long>(f));
    __wb_push_int(Entry<F>::arity);
}
template <typename F> inline void expose(const char* name, F f) {
    define("exposed", name, f);
    __wb_op("workbench::define", 5);
}

}

void __wb_entry_call(long wrapper, long f) { reinterpret_cast<void (*)(long)>(wrapper)(f); }

namespace pybind11 {

// `py::arg("x")`, `py::arg("x") = 1`
template <typename T> struct arg_v {
    const char* name;
    T value;
};
struct arg {
    const char* name;
    explicit arg(const char* name) : name(name) {}
    template <typename T> arg_v<T> operator=(T value) const { return arg_v<T>{name, value}; }
    arg& noconvert(bool = true) { return *this; }
};
struct none {};

struct module_ {
    template <typename F, typename... E> module_& def(const char* name, F f, E... extra) {
        __wb::define("module", name, f);
        (__wb::Value<E>::put(extra), ...);
        __wb_op("workbench::define", 5 + sizeof...(E));
        return *this;
    }
    module_& doc() { return *this; }
};

}

namespace __wb {
template <> struct Value<pybind11::arg> {
    static void put(const pybind11::arg& value) {
        __wb_push_c_string(value.name);
        __wb_push_list(1);
    }
};
template <typename T> struct Value<pybind11::arg_v<T>> {
    static void put(const pybind11::arg_v<T>& value) {
        __wb_push_c_string(value.name);
        Value<T>::put(value.value);
        __wb_push_list(2);
    }
};
template <> struct Value<pybind11::none> {
    static void put(const pybind11::none&) { __wb_push_none(); }
};
}
namespace py = pybind11;
