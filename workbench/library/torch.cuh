// Host code with tensors: the parts of `<torch/extension.h>`, `<ATen/ATen.h>` and `<pybind11/pybind11.h>` that extensions use.
namespace __wb {
template <typename T, size_t N> struct Accessor;
struct Index;
template <typename T> struct ReadStream;
template <typename T> struct WriteStream;
template <typename D> class Tcm;
template <typename D> struct Coherence;
}

// Operations by torch's names, each a member of a tensor and a function: the result, the name, the parameters after the tensor.
#define __WB_LIST(...) __VA_ARGS__
#define __WB_UNARIES(X) \
    X(abs) X(neg) X(exp) X(exp2) X(log) X(log2) X(log10) X(log1p) X(expm1) X(sqrt) X(rsqrt) X(sin) X(cos) X(tan) X(asin) X(acos) \
    X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(sigmoid) X(relu) X(relu6) X(silu) X(mish) X(selu) X(hardswish) \
    X(hardsigmoid) X(log_sigmoid) X(erf) X(erfc) X(erfinv) X(lgamma) X(floor) X(ceil) X(round) X(trunc) X(frac) X(square) X(sign) \
    X(reciprocal) X(logical_not) X(bitwise_not) X(deg2rad) X(rad2deg)
#define __WB_BINARIES(X) \
    X(mul) X(pow) X(remainder) X(floor_divide) X(fmod) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(maximum) X(minimum) X(atan2) \
    X(logical_and) X(logical_or) X(logical_xor) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_left_shift) \
    X(bitwise_right_shift) X(hypot) X(nextafter)
#define __WB_NATIVES(X) \
    X(Tensor, clamp, (std::optional<Scalar> low = std::nullopt, std::optional<Scalar> high = std::nullopt), low, high) \
    X(Tensor, clamp, (const std::optional<Tensor>& low, const std::optional<Tensor>& high = std::nullopt), low, high) \
    X(Tensor, clamp_min, (const Scalar& low), low) \
    X(Tensor, clamp_max, (const Scalar& high), high) \
    X(Tensor, clamp_min, (const Tensor& low), low) \
    X(Tensor, clamp_max, (const Tensor& high), high) \
    X(Tensor, fmax, (const Tensor& other), other) \
    X(Tensor, fmin, (const Tensor& other), other) \
    X(Tensor, leaky_relu, (const Scalar& slope = 0.01), slope) \
    X(Tensor, elu, (const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1), alpha, scale, input_scale) \
    X(Tensor, gelu, (std::string approximate = "none"), approximate) \
    X(Tensor, softplus, (const Scalar& beta = 1, const Scalar& threshold = 20), beta, threshold) \
    X(Tensor, hardtanh, (const Scalar& low = -1, const Scalar& high = 1), low, high) \
    X(Tensor, threshold, (const Scalar& threshold, const Scalar& value), threshold, value) \
    X(Tensor, lerp, (const Tensor& end, const Scalar& weight), end, weight) \
    X(Tensor, lerp, (const Tensor& end, const Tensor& weight), end, weight) \
    X(Tensor, addcmul, (const Tensor& a, const Tensor& b, const Scalar& value = 1), a, b, value) \
    X(Tensor, addcdiv, (const Tensor& a, const Tensor& b, const Scalar& value = 1), a, b, value) \
    X(Tensor, masked_fill, (const Tensor& mask, const Scalar& value), mask, value) \
    X(Tensor, masked_fill, (const Tensor& mask, const Tensor& value), mask, value) \
    X(Tensor, masked_select, (const Tensor& mask), mask) \
    X(Tensor, mm, (const Tensor& other), other) \
    X(Tensor, matmul, (const Tensor& other), other) \
    X(Tensor, bmm, (const Tensor& other), other) \
    X(Tensor, mv, (const Tensor& other), other) \
    X(Tensor, dot, (const Tensor& other), other) \
    X(Tensor, outer, (const Tensor& other), other) \
    X(Tensor, baddbmm, (const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1), a, b, beta, alpha) \
    X(Tensor, addmv, (const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1), a, b, beta, alpha) \
    X(Tensor, softmax, (int64_t dim, std::optional<ScalarType> dtype = std::nullopt), dim, dtype) \
    X(Tensor, log_softmax, (int64_t dim, std::optional<ScalarType> dtype = std::nullopt), dim, dtype) \
    X(Tensor, logsumexp, (IntArrayRef dim, bool keepdim = false), dim, keepdim) \
    X(Tensor, prod, (std::optional<ScalarType> dtype = std::nullopt), std::nullopt, false, dtype) \
    X(Tensor, prod, (int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt), dim, keepdim, dtype) \
    X(Tensor, any, (std::optional<int64_t> dim = std::nullopt, bool keepdim = false), dim, keepdim) \
    X(Tensor, all, (std::optional<int64_t> dim = std::nullopt, bool keepdim = false), dim, keepdim) \
    X(Tensor, amax, (IntArrayRef dim = {}, bool keepdim = false), dim, keepdim) \
    X(Tensor, amin, (IntArrayRef dim = {}, bool keepdim = false), dim, keepdim) \
    X(Tensor, argmax, (std::optional<int64_t> dim = std::nullopt, bool keepdim = false), dim, keepdim) \
    X(Tensor, argmin, (std::optional<int64_t> dim = std::nullopt, bool keepdim = false), dim, keepdim) \
    X(Tensor, count_nonzero, (std::optional<int64_t> dim = std::nullopt), dim) \
    X(Tensor, cumsum, (int64_t dim, std::optional<ScalarType> dtype = std::nullopt), dim, dtype) \
    X(Tensor, cumprod, (int64_t dim, std::optional<ScalarType> dtype = std::nullopt), dim, dtype) \
    X(__WB_PAIR, sort, (int64_t dim = -1, bool descending = false), dim, descending) \
    X(Tensor, argsort, (int64_t dim = -1, bool descending = false), dim, descending) \
    X(__WB_PAIR, topk, (int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true), k, dim, largest, sorted) \
    X(Tensor, gather, (int64_t dim, const Tensor& index, bool sparse_grad = false), dim, index) \
    X(Tensor, scatter, (int64_t dim, const Tensor& index, const Tensor& src), dim, index, src) \
    X(Tensor, scatter, (int64_t dim, const Tensor& index, const Scalar& value), dim, index, value) \
    X(Tensor, scatter_add, (int64_t dim, const Tensor& index, const Tensor& src), dim, index, src) \
    X(Tensor, index_add, (int64_t dim, const Tensor& index, const Tensor& src, const Scalar& alpha = 1), dim, index, src, alpha) \
    X(Tensor, index_copy, (int64_t dim, const Tensor& index, const Tensor& src), dim, index, src) \
    X(Tensor, index_fill, (int64_t dim, const Tensor& index, const Scalar& value), dim, index, value) \
    X(Tensor, index_select, (int64_t dim, const Tensor& index), dim, index) \
    X(Tensor, take, (const Tensor& index), index) \
    X(Tensor, put, (const Tensor& index, const Tensor& source, bool accumulate = false), index, source, accumulate) \
    X(Tensor, tril, (int64_t diagonal = 0), diagonal) \
    X(Tensor, triu, (int64_t diagonal = 0), diagonal) \
    X(Tensor, diag, (int64_t diagonal = 0), diagonal) \
    X(Tensor, flip, (IntArrayRef dims), dims) \
    X(Tensor, roll, (IntArrayRef shifts, IntArrayRef dims = {}), shifts, dims) \
    X(Tensor, repeat, (IntArrayRef repeats), repeats) \
    X(Tensor, repeat_interleave, (int64_t repeats, std::optional<int64_t> dim = std::nullopt), repeats, dim) \
    X(Tensor, bincount, (const std::optional<Tensor>& weights = std::nullopt, int64_t minlength = 0), weights, minlength) \
    X(std::vector<Tensor>, chunk, (int64_t chunks, int64_t dim = 0), chunks, dim) \
    X(std::vector<Tensor>, split_with_sizes, (IntArrayRef sizes, int64_t dim = 0), sizes, dim) \
    X(std::vector<Tensor>, unbind, (int64_t dim = 0), dim) \
    X(Tensor, reshape, (IntArrayRef size), size) \
    X(Tensor, flatten, (int64_t start = 0, int64_t end = -1), start, end) \
    X(Tensor, permute, (IntArrayRef dims), dims) \
    X(Tensor, transpose, (int64_t a, int64_t b), a, b) \
    X(Tensor, swapaxes, (int64_t a, int64_t b), a, b) \
    X(Tensor, unsqueeze, (int64_t dim), dim) \
    X(Tensor, unflatten, (int64_t dim, IntArrayRef sizes), dim, sizes) \
    X(Tensor, unfold, (int64_t dim, int64_t size, int64_t step), dim, size, step) \
    X(Tensor, as_strided, (IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset = std::nullopt), size, stride, offset) \
    X(Tensor, narrow, (int64_t dim, int64_t start, int64_t length), dim, start, length) \
    X(Tensor, slice, (int64_t dim = 0, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt, int64_t step = 1), dim, start, end, step) \
    X(Tensor, constant_pad_nd, (IntArrayRef pad, const Scalar& value = 0), pad, value)
#define __WB_PAIR std::tuple<Tensor, Tensor>

namespace c10 {
using string_view = std::string_view;

enum class ScalarType : signed char {
    Byte = 0, Char = 1, Short = 2, Int = 3, Long = 4, Half = 5, Float = 6, Double = 7, ComplexHalf = 8, ComplexFloat = 9,
    ComplexDouble = 10, Bool = 11, QInt8 = 12, QUInt8 = 13, QInt32 = 14, BFloat16 = 15, Float8_e5m2 = 23, Float8_e4m3fn = 24,
    Float8_e5m2fnuz = 25, Float8_e4m3fnuz = 26, UInt16 = 27, UInt32 = 28, UInt64 = 29, Float8_e8m0fnu = 44, Undefined = 47
};
enum class DeviceType : signed char { CPU = 0, CUDA = 1, Meta = 14 };
enum class Layout : signed char { Strided = 0 };
enum class MemoryFormat : signed char { Contiguous = 0, Preserve = 1, ChannelsLast = 2, ChannelsLast3d = 3 };
enum class DispatchKey : signed char { Undefined = 0, CPU = 1, CUDA = 2, Meta = 3, Autograd = 4, CompositeImplicitAutograd = 5, CompositeExplicitAutograd = 6 };
using DeviceIndex = signed char;

inline constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int,
    kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double,
    kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16, kUInt8 = ScalarType::Byte, kInt8 = ScalarType::Char,
    kInt16 = ScalarType::Short, kInt32 = ScalarType::Int, kInt64 = ScalarType::Long, kFloat16 = ScalarType::Half,
    kFloat32 = ScalarType::Float, kFloat64 = ScalarType::Double, kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32,
    kUInt64 = ScalarType::UInt64, kFloat8_e5m2 = ScalarType::Float8_e5m2, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn,
    kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz, kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz,
    kFloat8_e8m0fnu = ScalarType::Float8_e8m0fnu;
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta;
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

// The result of `x.dtype()`: printed, it is the C++ type.
struct TypeMeta {
    ScalarType type;
    operator ScalarType() const { return type; }
    ScalarType toScalarType() const { return type; }
    const char* name() const {
        switch (type) {
            case ScalarType::Byte: return "unsigned char";
            case ScalarType::Char: return "signed char";
            case ScalarType::Short: return "short int";
            case ScalarType::Int: return "int";
            case ScalarType::Long: return "long int";
            case ScalarType::Half: return "c10::Half";
            case ScalarType::Float: return "float";
            case ScalarType::Double: return "double";
            case ScalarType::Bool: return "bool";
            case ScalarType::BFloat16: return "c10::BFloat16";
            case ScalarType::UInt16: return "unsigned short int";
            case ScalarType::UInt32: return "unsigned int";
            default: return "unsigned long int";
        }
    }
};
inline bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
inline bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
inline bool operator==(TypeMeta a, ScalarType b) { return a.type == b; }
inline bool operator!=(TypeMeta a, ScalarType b) { return a.type != b; }
inline bool operator==(ScalarType a, TypeMeta b) { return a == b.type; }
inline bool operator!=(ScalarType a, TypeMeta b) { return a != b.type; }

struct Device {
    DeviceType type_;
    DeviceIndex index_;
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
    Device(const char* name) : type_(name[1] == 'u' ? DeviceType::CUDA : DeviceType::CPU), index_(-1) {
        while (*name && *name != ':') ++name;
        if (*name == ':') index_ = (DeviceIndex)(name[1] - '0');
    }
    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    bool has_index() const { return index_ != -1; }
    bool is_cuda() const { return type_ == DeviceType::CUDA; }
    bool is_cpu() const { return type_ == DeviceType::CPU; }
    bool is_meta() const { return type_ == DeviceType::Meta; }
    std::string str() const {
        __wb_push_device((int64_t)type_, index_);
        __wb_run_op(__wb_host_op("to_string"), 1);
        return __wb::Value<std::string>::get();
    }
    bool operator==(const Device& other) const { return type_ == other.type_ && index_ == other.index_; }
    bool operator!=(const Device& other) const { return !(*this == other); }
};

// Extents and other numbers that it does not own.
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
    bool equals(const ArrayRef& other) const { return *this == other; }
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
// Sizes are numbers here, never symbols.
using SymInt = int64_t;
using SymIntArrayRef = IntArrayRef;

// The part for 16-bit floats completes them.
struct Half;
struct BFloat16;

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
    Scalar(const Half& value) : Scalar((float)value) {}
    Scalar(const BFloat16& value) : Scalar((float)value) {}
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
    std::optional<MemoryFormat> format_ = std::optional<MemoryFormat>();
    bool requires_grad_ = false;

public:
    TensorOptions() {}
    TensorOptions(ScalarType dtype) : dtype_(dtype) {}
    TensorOptions(TypeMeta dtype) : dtype_(dtype.type) {}
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
    TensorOptions memory_format(MemoryFormat format) const {
        TensorOptions other(*this);
        other.format_ = format;
        return other;
    }
    std::optional<MemoryFormat> memory_format_opt() const { return format_; }
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
using c10::SymInt;
using c10::SymIntArrayRef;

// The result of `x.type()`.
struct TypeProperties {
    ScalarType type;
    bool cuda;
    operator ScalarType() const { return type; }
    operator TensorOptions() const { return TensorOptions(type).device(cuda ? c10::kCUDA : c10::kCPU); }
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
    Tensor& set_(const Tensor& source) const {
        __wb_rebind(handle_, source.__wb_handle());
        return *(Tensor*)this;
    }
    Tensor& resize_(IntArrayRef size) const {
        if (sizes() == size) return *(Tensor*)this;
        int64_t count = 1;
        for (int64_t extent : size) count *= extent;
        if (count <= numel() && is_contiguous()) return set_(flatten().narrow(0, 0, count).view(size));
        Tensor made = at::empty(size, options());
        int64_t kept = count < numel() ? count : numel();
        if (kept > 0) made.flatten().narrow(0, 0, kept).copy_(flatten().narrow(0, 0, kept));
        return set_(made);
    }
    Tensor& resize_as_(const Tensor& other) const { return resize_(other.sizes()); }
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
    c10::SymInt sym_size(int64_t i) const { return size(i); }
    c10::SymInt sym_stride(int64_t i) const { return stride(i); }
    c10::SymInt sym_numel() const { return numel(); }
    IntArrayRef sym_sizes() const { return sizes(); }
    IntArrayRef sym_strides() const { return strides(); }
    ScalarType scalar_type() const { return (ScalarType)__wb_tensor_dtype(handle_); }
    c10::TypeMeta dtype() const { return c10::TypeMeta{(ScalarType)__wb_tensor_dtype(handle_)}; }
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
    const void* const_data_ptr() const { return data_ptr(); }
    void* mutable_data_ptr() const { return data_ptr(); }
    template <typename T> T* data() const { return data_ptr<T>(); }
    bool is_contiguous() const { return __wb::op<bool>("is_contiguous", *this); }
    bool is_contiguous(MemoryFormat format) const {
        if (format == MemoryFormat::Contiguous) return is_contiguous();
        return dim() == (format == MemoryFormat::ChannelsLast ? 4 : 5) && movedim(1, dim() - 1).is_contiguous();
    }
    MemoryFormat suggest_memory_format(bool = false) const {
        if (!is_contiguous() && is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
        if (!is_contiguous() && is_contiguous(MemoryFormat::ChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
        return MemoryFormat::Contiguous;
    }
    bool is_floating_point() const { return c10::isFloatingType(scalar_type()); }
    bool requires_grad() const { return __wb::host_op<bool>(__wb_host_op("requires_grad"), *this); }
    bool is_sparse() const { return false; }
    Layout layout() const { return Layout::Strided; }
    int64_t element_size() const { return c10::elementSize(scalar_type()); }
    int64_t itemsize() const { return c10::elementSize(scalar_type()); }
    int64_t nbytes() const { return numel() * element_size(); }
    int64_t get_device() const { return device().index(); }
    int32_t get_device_index() const { return device().index(); }
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

    // The accessors of Neuron.
    template <typename T> auto read_stream_accessor() const { return __wb::ReadStream<T>(*this); }
    template <typename T> auto write_stream_accessor() const { return __wb::WriteStream<T>(*this); }
    template <typename D = void> auto tcm_accessor() const { return __wb::Tcm<D>(*this); }
    template <typename D = void> auto get_accessor_coherence_policy() const { return __wb::Coherence<D>::get(*this); }
    template <typename P> void set_accessor_coherence_policy(P policy) const {
        __wb::host_op<bool>(__wb_host_op("set_coherence"), *this, (int64_t)policy);
    }

    // The tensor with its channels (dimension 1) last, and back.
    Tensor __wb_channels_last(MemoryFormat format) const {
        int64_t wanted = format == MemoryFormat::ChannelsLast ? 4 : 5;
        if (dim() != wanted) {
            __wb_push_c_string("required rank ");
            __wb_push_int(wanted);
            __wb_push_c_string(" tensor to use the channels_last format");
            __wb_raise(0, 3);
        }
        return movedim(1, wanted - 1);
    }
    Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
        if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) {
            if (is_contiguous(format)) return *this;
            // The function does not call itself: programs that may recurse get good code at once, which takes longer.
            return __wb::op<Tensor>("contiguous", __wb_channels_last(format)).movedim(dim() - 1, 1);
        }
        // A contiguous tensor is returned itself, as in torch: so an accessor of the result outlives it.
        return is_contiguous() ? *this : __wb::op<Tensor>("contiguous", *this);
    }
    Tensor clone() const { return __wb::op<Tensor>("clone", *this); }
    Tensor clone(MemoryFormat format) const {
        Tensor copy = clone();
        return format == MemoryFormat::Preserve ? copy : copy.contiguous(format);
    }
    Tensor detach() const { return __wb::host_op<Tensor>(__wb_host_op("detach"), *this); }
    Tensor& detach_() const {
        __wb::host_op<bool>(__wb_host_op("detach_"), *this);
        return *(Tensor*)this;
    }
    Tensor variable_data() const { return detach(); }
    Tensor to(c10::TypeMeta dtype, bool = false, bool copy = false) const { return to(dtype.type, false, copy); }
    Tensor to(ScalarType dtype, bool = false, bool copy = false) const {
        return copy ? __wb::op<Tensor>("to", clone(), dtype) : __wb::op<Tensor>("to", *this, dtype);
    }
    Tensor to(const Device& device, bool = false, bool = false) const { return __wb::op<Tensor>("to", *this, device); }
    Tensor to(DeviceType device, bool = false, bool = false) const { return __wb::op<Tensor>("to", *this, Device(device)); }
    Tensor to(const Device& device, ScalarType dtype, bool = false, bool copy = false) const {
        return copy ? __wb::op<Tensor>("to", clone(), dtype, device) : __wb::op<Tensor>("to", *this, dtype, device);
    }
    Tensor to(const TensorOptions& o, bool = false, bool copy = false) const {
        Tensor made = __wb::op<Tensor>("to", copy ? clone() : *this, o.dtype_opt(), o.device_opt());
        auto format = o.memory_format_opt();
        return format && *format != MemoryFormat::Preserve ? made.contiguous(*format) : made;
    }
    Tensor toType(ScalarType dtype) const { return __wb::op<Tensor>("to", *this, dtype); }
    Tensor type(ScalarType dtype) const { return __wb::op<Tensor>("to", *this, dtype); }
    Tensor to_type(ScalarType dtype) const { return __wb::op<Tensor>("to", *this, dtype); }
    Tensor cpu() const { return to(c10::kCPU); }
    Tensor cuda() const { return to(c10::kCUDA); }
    Tensor view(IntArrayRef size) const { return __wb::op<Tensor>("view", *this, size); }
    Tensor movedim(int64_t from, int64_t to) const { return __wb::op<Tensor>("movedim", *this, from, to); }
    Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
    Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
    Tensor t() const { return __wb::op<Tensor>("t", *this); }
    Tensor squeeze() const { return __wb::op<Tensor>("squeeze", *this); }
    Tensor squeeze(int64_t dim) const { return __wb::op<Tensor>("squeeze", *this, dim); }
    Tensor expand(IntArrayRef size, bool = false) const { return __wb::op<Tensor>("expand", *this, size); }
    Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
    Tensor select(int64_t dim, int64_t index) const { return __wb::op<Tensor>("select", *this, dim, index); }
    Tensor operator[](int64_t index) const { return select(0, index); }
    // In-place operations are const: they change the elements, not the handle.
    template <typename... A> Tensor& __wb_in_place(const char* name, const A&... args) const {
        __wb::op<Tensor>(name, *this, args...);
        return *(Tensor*)this;
    }
    Tensor& copy_(const Tensor& other, bool = false) const { return __wb_in_place("copy_", other); }
    Tensor& fill_(const Scalar& value) const { return __wb_in_place("fill_", value); }
    Tensor& zero_() const { return __wb_in_place("zero_"); }
    Tensor& uniform_(double from = 0, double to = 1) const { return __wb_in_place("uniform_", from, to); }
    Tensor& normal_(double mean = 0, double std = 1) const { return __wb_in_place("normal_", mean, std); }
    template <typename T> T item() const { return __wb::op<Scalar>("item", *this).template to<T>(); }
    Scalar item() const { return __wb::op<Scalar>("item", *this); }

    // Other names.
    Tensor negative() const { return neg(); }
    Tensor absolute() const { return abs(); }
    Tensor ravel() const { return reshape(-1); }
    Tensor tile(IntArrayRef repeats) const { return repeat(repeats); }
    Tensor broadcast_to(IntArrayRef size) const { return expand(size); }
#define __WB_ALIAS(name, of) \
    Tensor name(const Tensor& other) const { return of(other); } \
    Tensor name(const Scalar& other) const { return of(other); } \
    Tensor& name##_(const Tensor& other) const { return of##_(other); } \
    Tensor& name##_(const Scalar& other) const { return of##_(other); }
    __WB_ALIAS(multiply, mul) __WB_ALIAS(divide, div) __WB_ALIAS(true_divide, div) __WB_ALIAS(subtract, sub) __WB_ALIAS(greater, gt)
    __WB_ALIAS(greater_equal, ge) __WB_ALIAS(less, lt) __WB_ALIAS(less_equal, le) __WB_ALIAS(not_equal, ne)
#undef __WB_ALIAS
    Tensor clip(std::optional<Scalar> low = std::nullopt, std::optional<Scalar> high = std::nullopt) const { return clamp(low, high); }
    Tensor& clip_(std::optional<Scalar> low = std::nullopt, std::optional<Scalar> high = std::nullopt) const {
        return clamp_(low, high);
    }
    Tensor& div_(const Tensor& other, std::optional<std::string> rounding) const { return __wb_in_place("div_", other, rounding); }
    Tensor& div_(const Scalar& other, std::optional<std::string> rounding) const { return __wb_in_place("div_", other, rounding); }

#define __WB_UNARY(name) \
    Tensor name() const { return __wb::op<Tensor>(#name, *this); } \
    Tensor& name##_() const { return __wb_in_place(#name "_"); }
    __WB_UNARIES(__WB_UNARY)
#undef __WB_UNARY
#define __WB_BINARY(name) \
    Tensor name(const Tensor& other) const { return __wb::op<Tensor>(#name, *this, other); } \
    Tensor name(const Scalar& other) const { return __wb::op<Tensor>(#name, *this, other); } \
    Tensor& name##_(const Tensor& other) const { return __wb_in_place(#name "_", other); } \
    Tensor& name##_(const Scalar& other) const { return __wb_in_place(#name "_", other); }
    __WB_BINARIES(__WB_BINARY) __WB_BINARY(div)
#undef __WB_BINARY
    Tensor div(const Tensor& other, std::optional<std::string> rounding) const {
        return __wb::op<Tensor>("div", *this, other, rounding);
    }
    Tensor div(const Scalar& other, std::optional<std::string> rounding) const {
        return __wb::op<Tensor>("div", *this, other, rounding);
    }
#define __WB_SCALED(name) \
    Tensor name(const Tensor& other, const Scalar& alpha = 1) const { return __wb::op<Tensor>(#name, *this, other, alpha); } \
    Tensor name(const Scalar& other, const Scalar& alpha = 1) const { return __wb::op<Tensor>(#name, *this, other, alpha); } \
    Tensor& name##_(const Tensor& other, const Scalar& alpha = 1) const { return __wb_in_place(#name "_", other, alpha); } \
    Tensor& name##_(const Scalar& other, const Scalar& alpha = 1) const { return __wb_in_place(#name "_", other, alpha); }
    __WB_SCALED(add) __WB_SCALED(sub)
#undef __WB_SCALED
#define __WB_NATIVE(R, name, params, ...) \
    R name params const { return __wb::op<R>(#name, *this, __VA_ARGS__); }
    __WB_NATIVES(__WB_NATIVE)
#undef __WB_NATIVE
#define __WB_IN_PLACE(name, params, ...) \
    Tensor& name params const { return __wb_in_place(#name, __VA_ARGS__); }
    __WB_IN_PLACE(clamp_, (std::optional<Scalar> low = std::nullopt, std::optional<Scalar> high = std::nullopt), low, high)
    __WB_IN_PLACE(clamp_min_, (const Scalar& low), low)
    __WB_IN_PLACE(clamp_max_, (const Scalar& high), high)
    __WB_IN_PLACE(clamp_, (const std::optional<Tensor>& low, const std::optional<Tensor>& high = std::nullopt), low, high)
    __WB_IN_PLACE(clamp_min_, (const Tensor& low), low)
    __WB_IN_PLACE(clamp_max_, (const Tensor& high), high)
    __WB_IN_PLACE(masked_fill_, (const Tensor& mask, const Scalar& value), mask, value)
    __WB_IN_PLACE(masked_fill_, (const Tensor& mask, const Tensor& value), mask, value)
    __WB_IN_PLACE(scatter_, (int64_t dim, const Tensor& index, const Tensor& src), dim, index, src)
    __WB_IN_PLACE(scatter_, (int64_t dim, const Tensor& index, const Scalar& value), dim, index, value)
    __WB_IN_PLACE(scatter_add_, (int64_t dim, const Tensor& index, const Tensor& src), dim, index, src)
    __WB_IN_PLACE(index_add_, (int64_t dim, const Tensor& index, const Tensor& src, const Scalar& alpha = 1), dim, index, src, alpha)
    __WB_IN_PLACE(index_copy_, (int64_t dim, const Tensor& index, const Tensor& src), dim, index, src)
    __WB_IN_PLACE(put_, (const Tensor& index, const Tensor& source, bool accumulate = false), index, source, accumulate)
    __WB_IN_PLACE(index_fill_, (int64_t dim, const Tensor& index, const Scalar& value), dim, index, value)
    __WB_IN_PLACE(addcmul_, (const Tensor& a, const Tensor& b, const Scalar& value = 1), a, b, value)
    __WB_IN_PLACE(addcdiv_, (const Tensor& a, const Tensor& b, const Scalar& value = 1), a, b, value)
    __WB_IN_PLACE(lerp_, (const Tensor& end, const Scalar& weight), end, weight)
    __WB_IN_PLACE(lerp_, (const Tensor& end, const Tensor& weight), end, weight)
    __WB_IN_PLACE(addmm_, (const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1), a, b, beta, alpha)
    __WB_IN_PLACE(tril_, (int64_t diagonal = 0), diagonal)
    __WB_IN_PLACE(triu_, (int64_t diagonal = 0), diagonal)
#undef __WB_IN_PLACE
    Tensor index(std::initializer_list<__wb::Index> indices) const {
        return __wb::op<Tensor>("index", *this, ArrayRef<__wb::Index>(indices));
    }
    Tensor index(const std::vector<__wb::Index>& indices) const {
        return __wb::op<Tensor>("index", *this, ArrayRef<__wb::Index>(indices));
    }
    Tensor& index_put_(std::initializer_list<__wb::Index> indices, const Tensor& value, bool accumulate = false) const {
        return __wb_in_place("index_put_", ArrayRef<__wb::Index>(indices), value, accumulate);
    }
    Tensor& index_put_(std::initializer_list<__wb::Index> indices, const Scalar& value, bool accumulate = false) const {
        return __wb_in_place("index_put_", ArrayRef<__wb::Index>(indices), value, accumulate);
    }
    bool is_nonzero() const { return __wb::op<bool>("is_nonzero", *this); }
    // Operations that `torch_composites.cuh` makes of others.
#define __WB_MORE(R, name, params, ...) \
    R name params const { return at::name(*this, __VA_ARGS__); }
#define __WB_MORE_BARE(name) \
    Tensor name() const { return at::name(*this); }
#define __WB_MORE_PAIR(name, params, ...) \
    std::tuple<Tensor, Tensor> name params const { return at::name(*this, __VA_ARGS__); }
    __WB_MORE_BARE(median) __WB_MORE_BARE(nanmedian) __WB_MORE_BARE(msort) __WB_MORE_BARE(nansum) __WB_MORE_BARE(sinc) __WB_MORE_BARE(sgn)
    __WB_MORE_BARE(signbit) __WB_MORE_BARE(argwhere) __WB_MORE_BARE(fliplr) __WB_MORE_BARE(flipud) __WB_MORE_BARE(bernoulli)
    __WB_MORE_PAIR(median, (int64_t dim, bool keepdim = false), dim, keepdim)
    __WB_MORE_PAIR(nanmedian, (int64_t dim, bool keepdim = false), dim, keepdim)
    __WB_MORE_PAIR(kthvalue, (int64_t k, int64_t dim = -1, bool keepdim = false), k, dim, keepdim)
    __WB_MORE_PAIR(mode, (int64_t dim = -1, bool keepdim = false), dim, keepdim)
    __WB_MORE_PAIR(cummax, (int64_t dim), dim)
    __WB_MORE_PAIR(cummin, (int64_t dim), dim)
    __WB_MORE(Tensor, quantile, (const Tensor& q, std::optional<int64_t> dim = std::nullopt, bool keepdim = false, std::string interpolation = "linear"), q, dim, keepdim, interpolation)
    __WB_MORE(Tensor, quantile, (double q, std::optional<int64_t> dim = std::nullopt, bool keepdim = false, std::string interpolation = "linear"), q, dim, keepdim, interpolation)
    __WB_MORE(Tensor, histc, (int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0), bins, min, max)
    __WB_MORE(Tensor, nansum, (IntArrayRef dim, bool keepdim = false), dim, keepdim)
    __WB_MORE(Tensor, nan_to_num, (std::optional<double> nan = std::nullopt, std::optional<double> posinf = std::nullopt, std::optional<double> neginf = std::nullopt), nan, posinf, neginf)
    __WB_MORE(Tensor, logaddexp, (const Tensor& other), other)
    __WB_MORE(Tensor, logit, (std::optional<double> eps = std::nullopt), eps)
    __WB_MORE(Tensor, xlogy, (const Tensor& other), other)
    __WB_MORE(Tensor, copysign, (const Tensor& other), other)
    __WB_MORE(Tensor, copysign, (const Scalar& other), other)
    __WB_MORE(Tensor, heaviside, (const Tensor& values), values)
    __WB_MORE(Tensor, hardshrink, (const Scalar& lambd = 0.5), lambd)
    __WB_MORE(Tensor, isclose, (const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false), other, rtol, atol, equal_nan)
    __WB_MORE(Tensor, diff, (int64_t n = 1, int64_t dim = -1, const std::optional<Tensor>& prepend = std::nullopt, const std::optional<Tensor>& append = std::nullopt), n, dim, prepend, append)
    __WB_MORE(Tensor, ger, (const Tensor& other), other)
    __WB_MORE(Tensor, vdot, (const Tensor& other), other)
    __WB_MORE(Tensor, kron, (const Tensor& other), other)
    __WB_MORE(Tensor, dist, (const Tensor& other, const Scalar& p = 2), other, p)
    __WB_MORE(Tensor, cross, (const Tensor& other, std::optional<int64_t> dim = std::nullopt), other, dim)
    __WB_MORE(Tensor, addr, (const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1), a, b, beta, alpha)
    __WB_MORE(Tensor, addbmm, (const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1), a, b, beta, alpha)
    __WB_MORE(Tensor, take_along_dim, (const Tensor& indices, std::optional<int64_t> dim = std::nullopt), indices, dim)
    __WB_MORE(std::vector<Tensor>, tensor_split, (int64_t sections, int64_t dim = 0), sections, dim)
    __WB_MORE(std::vector<Tensor>, tensor_split, (IntArrayRef indices, int64_t dim = 0), indices, dim)
    __WB_MORE(std::vector<Tensor>, hsplit, (int64_t sections), sections)
    __WB_MORE(std::vector<Tensor>, vsplit, (int64_t sections), sections)
    __WB_MORE(Tensor, rot90, (int64_t k = 1, IntArrayRef dims = {0, 1}), k, dims)
    __WB_MORE(Tensor, diagonal, (int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1), offset, dim1, dim2)
    __WB_MORE(Tensor, diag_embed, (int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1), offset, dim1, dim2)
    __WB_MORE(Tensor, masked_scatter, (const Tensor& mask, const Tensor& source), mask, source)
    __WB_MORE(Tensor, scatter_reduce, (int64_t dim, const Tensor& index, const Tensor& src, std::string reduce, bool include_self = true), dim, index, src, reduce, include_self)
    __WB_MORE(Tensor, bernoulli, (double p), p)
    __WB_MORE(Tensor, multinomial, (int64_t n, bool replacement = false), n, replacement)
#undef __WB_MORE
#undef __WB_MORE_BARE
#undef __WB_MORE_PAIR
    Tensor& nan_to_num_(std::optional<double> nan = std::nullopt, std::optional<double> posinf = std::nullopt, std::optional<double> neginf = std::nullopt) const {
        return copy_(at::nan_to_num(*this, nan, posinf, neginf));
    }
    Tensor& masked_scatter_(const Tensor& mask, const Tensor& source) const { return copy_(at::masked_scatter(*this, mask, source)); }
    Tensor& scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& src, std::string reduce, bool include_self = true) const {
        return copy_(at::scatter_reduce(*this, dim, index, src, reduce, include_self));
    }
    Tensor& fill_diagonal_(const Scalar& value) const {
        at::__wb_fill_diagonal(*this, value);
        return *(Tensor*)this;
    }
    Tensor& bernoulli_(double p = 0.5) const { return copy_(at::bernoulli(*this, p)); }
    Tensor& exponential_(double lambd = 1) const { return copy_(at::rand(sizes(), c10::kDouble).neg().log1p() / -lambd); }
    Tensor& random_(int64_t from, int64_t to) const { return copy_(at::randint(from, to, sizes())); }
    Tensor& random_(int64_t to) const { return random_(0, to); }
    Tensor index_put(std::initializer_list<__wb::Index> indices, const Tensor& value, bool accumulate = false) const {
        return clone().index_put_(indices, value, accumulate);
    }
    bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }
    Tensor isnan() const { return __wb::op<Tensor>("isnan", *this); }
    Tensor isinf() const { return __wb::op<Tensor>("isinf", *this); }
    Tensor isfinite() const { return __wb::op<Tensor>("isfinite", *this); }
    Tensor nonzero() const { return __wb::op<Tensor>("nonzero", *this); }
    Tensor trace() const { return __wb::op<Tensor>("trace", *this); }
    Tensor type_as(const Tensor& other) const { return to(other.scalar_type()); }
    std::tuple<Tensor, Tensor> sort(std::optional<bool> stable, int64_t dim, bool descending) const {
        return __wb::op<std::tuple<Tensor, Tensor>>("sort", *this, dim, descending);
    }
    Tensor argsort(bool stable, int64_t dim, bool descending) const { return __wb::op<Tensor>("argsort", *this, dim, descending); }
    std::vector<Tensor> split(int64_t size, int64_t dim = 0) const { return __wb::op<std::vector<Tensor>>("split", *this, size, dim); }
    std::vector<Tensor> split(IntArrayRef sizes, int64_t dim = 0) const {
        return __wb::op<std::vector<Tensor>>("split", *this, sizes, dim);
    }
    Tensor norm(const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim = false) const {
        return __wb::op<Tensor>("norm", *this, dim, keepdim, std::nullopt, std::nullopt, p);
    }
    Tensor norm(const Scalar& p = 2) const { return __wb::op<Tensor>("norm", *this, p); }
    int64_t storage_offset() const { return __wb::op<int64_t>("storage_offset", *this); }
    bool has_storage() const { return defined(); }
    bool is_signed() const { return scalar_type() != ScalarType::Bool && __wb::op<bool>("is_signed", *this); }
    bool is_complex() const { return false; }
    bool is_meta() const { return false; }
    bool is_leaf() const { return true; }
    bool is_non_overlapping_and_dense() const {
        // The dimensions of more than one element, in some order, each begin where those before end.
        int64_t reached = 1, left = 0;
        for (int64_t i = 0; i < dim(); ++i) left += size(i) > 1;
        while (left > 0) {
            int64_t next = 0;
            for (int64_t i = 0; i < dim(); ++i) {
                if (size(i) > 1 && stride(i) == reached) next = size(i);
            }
            if (next == 0) return numel() == 0;
            reached *= next;
            --left;
        }
        return true;
    }
    Tensor& set_requires_grad(bool requires_grad) const {
        __wb::host_op<bool>(__wb_host_op("set_requires_grad"), *this, requires_grad);
        return *(Tensor*)this;
    }
    Tensor& requires_grad_(bool requires_grad = true) const { return set_requires_grad(requires_grad); }
    Tensor grad() const { return Tensor(); }
    void reset() { set(0); }
    Tensor& operator+=(const Tensor& other) { return add_(other); }
    Tensor& operator+=(const Scalar& other) { return add_(other); }
    Tensor& operator-=(const Tensor& other) { return sub_(other); }
    Tensor& operator-=(const Scalar& other) { return sub_(other); }
    Tensor& operator*=(const Tensor& other) { return mul_(other); }
    Tensor& operator*=(const Scalar& other) { return mul_(other); }
    Tensor& operator/=(const Tensor& other) { return div_(other); }
    Tensor& operator/=(const Scalar& other) { return div_(other); }
    Tensor& operator&=(const Tensor& other) { return __wb_in_place("bitwise_and_", other); }
    Tensor& operator|=(const Tensor& other) { return __wb_in_place("bitwise_or_", other); }
    Tensor& operator^=(const Tensor& other) { return __wb_in_place("bitwise_xor_", other); }
    Tensor operator-() const { return neg(); }
    Tensor operator~() const { return bitwise_not(); }
    Tensor operator!() const { return logical_not(); }

#define __WB_REDUCTION(name) \
    Tensor name(std::optional<ScalarType> dtype = std::nullopt) const { \
        return __wb::op<Tensor>(#name, *this, std::optional<Scalar>(), false, dtype); \
    } \
    Tensor name(IntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) const { \
        return __wb::op<Tensor>(#name, *this, dim, keepdim, dtype); \
    }
    __WB_REDUCTION(sum) __WB_REDUCTION(mean)
#undef __WB_REDUCTION
    Tensor max() const { return __wb::op<Tensor>("max", *this); }
    Tensor min() const { return __wb::op<Tensor>("min", *this); }
    Tensor max(const Tensor& other) const { return __wb::op<Tensor>("maximum", *this, other); }
    Tensor min(const Tensor& other) const { return __wb::op<Tensor>("minimum", *this, other); }
    std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const {
        return __wb::op<std::tuple<Tensor, Tensor>>("max", *this, dim, keepdim);
    }
    std::tuple<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const {
        return __wb::op<std::tuple<Tensor, Tensor>>("min", *this, dim, keepdim);
    }
#define __WB_SPREAD(name) \
    Tensor name(bool unbiased) const { \
        return __wb::op<Tensor>(#name, *this, std::optional<int64_t>(), false, std::optional<int64_t>(), unbiased); \
    } \
    Tensor name() const { return name(true); } \
    /* A number is a dimension, not the flag to divide by one less. */ \
    Tensor name(int dim) const { return name(IntArrayRef((int64_t)dim)); } \
    Tensor name(IntArrayRef dim, bool unbiased, bool keepdim = false) const { \
        return __wb::op<Tensor>(#name, *this, dim, keepdim, std::optional<int64_t>(), unbiased); \
    } \
    Tensor name(IntArrayRef dim) const { return name(dim, true, false); }
    __WB_SPREAD(var) __WB_SPREAD(std)
#undef __WB_SPREAD
    bool equal(const Tensor& other) const { return __wb::op<bool>("equal", *this, other); }
    bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool = false) const {
        return __wb::op<bool>("allclose", *this, other, rtol, atol);
    }
    Tensor new_empty_symint(IntArrayRef size, const TensorOptions& options = TensorOptions()) const {
        return new_empty(size, options);
    }
    Tensor new_zeros_symint(IntArrayRef size, const TensorOptions& options = TensorOptions()) const {
        return new_zeros(size, options);
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
}

namespace at {
namespace indexing {
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};
inline constexpr std::nullopt_t None{};
struct Slice {
    std::optional<int64_t> start_, stop_, step_;
    Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
          std::optional<int64_t> step = std::nullopt)
        : start_(start), stop_(stop), step_(step) {}
};
}
}

namespace __wb {
// A subscript of `x.index({..})`.
struct Index {
    int64_t kind;
    int64_t number = 0;
    at::indexing::Slice slice;
    at::Tensor tensor;
    Index(std::nullopt_t) : kind(0) {}
    Index(at::indexing::EllipsisIndexType) : kind(1) {}
    Index(const char*) : kind(1) {}
    Index(int i) : kind(2), number(i) {}
    Index(int64_t i) : kind(2), number(i) {}
    Index(bool b) : kind(3), number(b) {}
    Index(const at::indexing::Slice& s) : kind(4), slice(s) {}
    Index(const at::Tensor& t) : kind(5), tensor(t) {}
};
}

namespace at {
using TensorIndex = __wb::Index;
namespace indexing {
using TensorIndex = __wb::Index;
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dim, bool unbiased = true, bool keepdim = false) {
    return std::tuple<Tensor, Tensor>(self.var(dim, unbiased, keepdim), self.mean(dim, keepdim));
}
inline Tensor var(const Tensor& self, bool unbiased = true) { return self.var(unbiased); }
inline Tensor var(const Tensor& self, int dim) { return self.var(dim); }
inline Tensor var(const Tensor& self, IntArrayRef dim, bool unbiased = true, bool keepdim = false) {
    return self.var(dim, unbiased, keepdim);
}
inline Tensor where(const Tensor& cond, const Tensor& a, const Scalar& b) { return __wb::op<Tensor>("where", cond, a, b); }
inline Tensor where(const Tensor& cond, const Scalar& a, const Tensor& b) { return __wb::op<Tensor>("where", cond, a, b); }
inline Tensor where(const Tensor& cond, const Scalar& a, const Scalar& b) { return __wb::op<Tensor>("where", cond, a, b); }
inline std::vector<Tensor> meshgrid(TensorList tensors, std::string indexing = "ij") {
    return __wb::op<std::vector<Tensor>>("meshgrid", tensors, indexing);
}
inline Tensor cdist(const Tensor& a, const Tensor& b, double p = 2) {
    if (a.dim() < 2 || b.dim() < 2) {
        __wb_push_c_string("cdist only supports at least 2D tensors");
        __wb_raise(0, 1);
    }
    if (a.size(-1) != b.size(-1)) {
        __wb_push_c_string("X1 and X2 must have the same number of columns.");
        __wb_raise(0, 1);
    }
    return (a.unsqueeze(-2) - b.unsqueeze(-3)).norm(p, -1);
}
// The common type of operands.
inline ScalarType result_type(const Tensor& a, const Tensor& b) { return __wb::op<ScalarType>("result_type", a, b); }
inline ScalarType result_type(const Tensor& a, const Scalar& b) { return __wb::op<ScalarType>("result_type", a, b); }
inline ScalarType result_type(const Scalar& a, const Tensor& b) { return __wb::op<ScalarType>("result_type", a, b); }
inline ScalarType result_type(const Scalar& a, const Scalar& b) { return __wb::op<ScalarType>("result_type", a, b); }
// Floats do not convert to integers, nor numbers to truth values.
inline void __wb_goes_into(ScalarType made, ScalarType target) {
    auto rank = [](ScalarType t) { return c10::isFloatingType(t) ? 2 : t == ScalarType::Bool ? 0 : 1; };
    if (rank(made) > rank(target)) __wb::fail(0, "", "result type ", c10::toString(made), " can't be cast to the desired output type ", c10::toString(target));
}
inline Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight = std::nullopt,
    const std::optional<Tensor>& pos_weight = std::nullopt, int64_t reduction = 1) {
    // The formula is (1 - y) x - w log(sigmoid(x)), w = 1 + (p - 1) y; of the target's type, as in torch.
    Tensor logs = at::log_sigmoid(input);
    if (pos_weight.has_value() && pos_weight->defined()) logs = logs * ((*pos_weight - 1) * target + 1);
    Tensor loss = 1 - target;
    __wb_goes_into(at::result_type(loss, input), loss.scalar_type());
    Tensor product = loss * input;
    if (product.dim() > target.dim()) __wb::fail(0, "", "output with shape ", target.sizes(), " doesn't match the broadcast shape ", product.sizes());
    product = product.to(loss.scalar_type());
    __wb_goes_into(at::result_type(product, logs), loss.scalar_type());
    loss = (product - logs).to(loss.scalar_type());
    if (weight.has_value() && weight->defined()) loss = loss * *weight;
    return reduction == 0 ? loss : reduction == 1 ? loss.mean() : loss.sum();
}
inline Tensor l1_loss(const Tensor& input, const Tensor& target, int64_t reduction = 1) {
    Tensor loss = (input - target).abs();
    return reduction == 0 ? loss : reduction == 1 ? loss.mean() : loss.sum();
}
inline Tensor one_hot(const Tensor& self, int64_t classes = -1) {
    if (self.scalar_type() != c10::kLong) __wb::fail(0, "", "one_hot is only applicable to index tensor of type LongTensor.");
    int64_t n = classes < 0 ? self.max().item<int64_t>() + 1 : classes;
    if (self.numel() > 0 && (self.min().item<int64_t>() < 0 || self.max().item<int64_t>() >= n)) {
        __wb_push_c_string(self.min().item<int64_t>() < 0 ? "Class values must be non-negative." : "Class values must be smaller than num_classes.");
        __wb_raise(0, 1);
    }
    return (self.unsqueeze(-1) == at::arange(n)).to(c10::kLong);
}
inline std::tuple<Tensor, Tensor, Tensor> _unique2(
    const Tensor& self, bool sorted = true, bool return_inverse = false, bool return_counts = false) {
    return __wb::op<std::tuple<Tensor, Tensor, Tensor>>("unique", self, return_inverse, return_counts, false);
}
inline std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted = true, bool return_inverse = false) {
    auto all = at::_unique2(self, sorted, return_inverse);
    return std::tuple<Tensor, Tensor>(std::get<0>(all), std::get<1>(all));
}
inline std::tuple<Tensor, Tensor, Tensor> unique_consecutive(
    const Tensor& self, bool return_inverse = false, bool return_counts = false) {
    return __wb::op<std::tuple<Tensor, Tensor, Tensor>>("unique", self, return_inverse, return_counts, true);
}
inline Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) { return __wb::op<Tensor>("sub", other, self, alpha); }
inline Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) { return other.sub(self, alpha); }
inline Tensor concat(TensorList tensors, int64_t dim = 0) { return __wb::op<Tensor>("cat", tensors, dim); }
inline Tensor hstack(TensorList tensors) { return __wb::op<Tensor>("cat", tensors, tensors[0].dim() == 1 ? 0 : 1); }
inline Tensor vstack(TensorList tensors) { return __wb::op<Tensor>("cat", tensors, 0); }
inline Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = TensorOptions(c10::kLong)) {
    return __wb::op<Tensor>("rand", size, TensorOptions(c10::kDouble)).mul(high - low).floor().add(low).to(options.dtype_opt().value_or(c10::kLong));
}
inline Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = TensorOptions(c10::kLong)) {
    return randint(0, high, size, options);
}
#define __WB_ALIAS(name, of) \
    inline Tensor name(const Tensor& self, const Tensor& other) { return self.of(other); } \
    inline Tensor name(const Tensor& self, const Scalar& other) { return self.of(other); }
__WB_ALIAS(multiply, mul) __WB_ALIAS(divide, div) __WB_ALIAS(true_divide, div) __WB_ALIAS(subtract, sub) __WB_ALIAS(greater, gt)
__WB_ALIAS(greater_equal, ge) __WB_ALIAS(less, lt) __WB_ALIAS(less_equal, le) __WB_ALIAS(not_equal, ne)
#undef __WB_ALIAS
inline Tensor negative(const Tensor& self) { return self.neg(); }
inline Tensor absolute(const Tensor& self) { return self.abs(); }
inline Tensor ravel(const Tensor& self) { return self.ravel(); }
inline Tensor tile(const Tensor& self, IntArrayRef repeats) { return self.repeat(repeats); }
inline Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return self.expand(size); }
inline Tensor clip(const Tensor& self, std::optional<Scalar> low = std::nullopt, std::optional<Scalar> high = std::nullopt) {
    return self.clamp(low, high);
}
inline std::vector<Tensor> where(const Tensor& cond) { return cond.nonzero().unbind(1); }
inline bool is_nonzero(const Tensor& self) { return self.is_nonzero(); }
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = TensorOptions()) {
    int64_t count = 1;
    bool empty = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
        count += (sizes[i] - 1) * strides[i];
        if (sizes[i] == 0) empty = true;
    }
    if (empty) count = 0;
    __wb_push_blob(data, count * c10::elementSize(options.dtype()));
    __wb::Value<IntArrayRef>::put(sizes);
    __wb::Value<IntArrayRef>::put(strides);
    __wb::Value<c10::ScalarType>::put(options.dtype());
    __wb_op("from_blob", 4);
    return __wb::Value<Tensor>::get();
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = TensorOptions()) {
    int64_t count = 1;
    for (int64_t n : sizes) count *= n;
    __wb_push_blob(data, count * c10::elementSize(options.dtype()));
    __wb::Value<IntArrayRef>::put(sizes);
    __wb_push_none();
    __wb::Value<c10::ScalarType>::put(options.dtype());
    __wb_op("from_blob", 4);
    return __wb::Value<Tensor>::get();
}
template <typename D> inline Tensor from_blob(void* data, IntArrayRef sizes, const D& deleter, const TensorOptions& options) {
    return at::from_blob(data, sizes, options).clone();
}
template <typename T, typename F, typename G>
inline T parallel_reduce(int64_t begin, int64_t end, int64_t grain, T identity, const F& f, const G& join) {
    return begin < end ? join(identity, f(begin, end, identity)) : identity;
}
template <typename F> inline void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
    if (begin < end) f(begin, end);
}
inline int get_num_threads() { return 1; }
inline int get_thread_num() { return 0; }
inline bool in_parallel_region() { return false; }
inline void set_num_threads(int) {}
namespace Reduction {
enum Reduction { None = 0, Mean = 1, Sum = 2, END = 3 };
}
// Guards, which set what gradients are recorded of (`torch_autograd.cuh`) as long as they live.
#define __WB_GUARD(name, what, ...) \
    struct name { \
        bool before; \
        name(__VA_ARGS__) : before(__wb::host_op<bool>(__wb_host_op("set_" what), what[0] == 'b')) {} \
        name(const name&) = delete; \
        ~name() { __wb::host_op<bool>(__wb_host_op("set_" what), before); } \
    };
__WB_GUARD(NoGradGuard, "grad_mode")
__WB_GUARD(AutoDispatchBelowADInplaceOrView, "below_autograd")
__WB_GUARD(AutoDispatchBelowAutograd, "below_autograd")
__WB_GUARD(AutoNonVariableTypeMode, "below_autograd", bool = true)

#define __WB_OPERATOR(sign, name) \
    inline Tensor operator sign(const Tensor& a, const Tensor& b) { return __wb::op<Tensor>(#name, a, b); } \
    inline Tensor operator sign(const Tensor& a, const Scalar& b) { return __wb::op<Tensor>(#name, a, b); }
#define __WB_SWAPPED(sign, name, swapped) \
    __WB_OPERATOR(sign, name) \
    inline Tensor operator sign(const Scalar& a, const Tensor& b) { return __wb::op<Tensor>(#swapped, b, a); }
// A number on the left is put into a tensor of the other's type first, as in ATen's operators.
#define __WB_FILLED(sign, name) \
    __WB_OPERATOR(sign, name) \
    inline Tensor operator sign(const Scalar& a, const Tensor& b) { \
        return __wb::op<Tensor>("empty_like", b).fill_(a).__wb_in_place(#name "_", b); \
    }
__WB_SWAPPED(+, add, add)
__WB_FILLED(-, sub)
__WB_SWAPPED(*, mul, mul)
__WB_FILLED(/, div)
__WB_SWAPPED(==, eq, eq)
__WB_SWAPPED(!=, ne, ne)
__WB_SWAPPED(<, lt, gt)
__WB_SWAPPED(<=, le, ge)
__WB_SWAPPED(>, gt, lt)
__WB_SWAPPED(>=, ge, le)
__WB_SWAPPED(&, bitwise_and, bitwise_and)
__WB_SWAPPED(|, bitwise_or, bitwise_or)
__WB_SWAPPED(^, bitwise_xor, bitwise_xor)
__WB_FILLED(%, remainder)
__WB_SWAPPED(&&, logical_and, logical_and)
__WB_SWAPPED(||, logical_or, logical_or)
#undef __WB_SWAPPED
#undef __WB_FILLED
#undef __WB_OPERATOR

#define __WB_UNARY(name) \
    inline Tensor name(const Tensor& self) { return __wb::op<Tensor>(#name, self); } \
    inline Tensor& name##_(Tensor& self) { return self.__wb_in_place(#name "_"); }
__WB_UNARIES(__WB_UNARY)
#undef __WB_UNARY
#define __WB_UNARY(name) inline Tensor name(const Tensor& self) { return __wb::op<Tensor>(#name, self); }
__WB_UNARY(t) __WB_UNARY(max) __WB_UNARY(min) __WB_UNARY(clone) __WB_UNARY(squeeze) __WB_UNARY(isnan) __WB_UNARY(isinf) __WB_UNARY(isfinite)
#undef __WB_UNARY
#define __WB_BINARY(name) \
    inline Tensor name(const Tensor& a, const Tensor& b) { return __wb::op<Tensor>(#name, a, b); } \
    inline Tensor name(const Tensor& a, const Scalar& b) { return __wb::op<Tensor>(#name, a, b); }
__WB_BINARIES(__WB_BINARY) __WB_BINARY(div)
#undef __WB_BINARY
inline Tensor pow(const Scalar& a, const Tensor& b) { return __wb::op<Tensor>("pow", a, b); }
inline Tensor div(const Tensor& a, const Tensor& b, std::optional<std::string> rounding) { return a.div(b, rounding); }
inline Tensor div(const Tensor& a, const Scalar& b, std::optional<std::string> rounding) { return a.div(b, rounding); }
inline Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return __wb::op<Tensor>("add", a, b, alpha); }
inline Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha = 1) { return __wb::op<Tensor>("add", a, b, alpha); }
inline Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return __wb::op<Tensor>("sub", a, b, alpha); }
inline Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha = 1) { return __wb::op<Tensor>("sub", a, b, alpha); }
#define __WB_NATIVE(R, name, params, ...) \
    inline R name(const Tensor& self, __WB_LIST params) { return __wb::op<R>(#name, self, __VA_ARGS__); }
__WB_NATIVES(__WB_NATIVE)
#undef __WB_NATIVE
// `name_out(out, ..)`: the result is written to `out`, whose extents it has.
#define __WB_OUT(name) \
    template <typename... A> inline Tensor& name##_out(Tensor& out, const A&... args) { return out.copy_(name(args...)); }
__WB_OUT(add) __WB_OUT(sub) __WB_OUT(mul) __WB_OUT(div) __WB_OUT(mm) __WB_OUT(matmul) __WB_OUT(bmm) __WB_OUT(addmm)
__WB_OUT(exp) __WB_OUT(log) __WB_OUT(sqrt) __WB_OUT(sigmoid) __WB_OUT(tanh) __WB_OUT(relu) __WB_OUT(sum) __WB_OUT(mean)
__WB_OUT(abs) __WB_OUT(ceil) __WB_OUT(floor) __WB_OUT(sin) __WB_OUT(cos) __WB_OUT(tan) __WB_OUT(log2) __WB_OUT(log10) __WB_OUT(pow)
__WB_OUT(bitwise_and) __WB_OUT(bitwise_or) __WB_OUT(bitwise_not) __WB_OUT(softmax) __WB_OUT(clamp) __WB_OUT(where) __WB_OUT(cat) __WB_OUT(maximum) __WB_OUT(minimum)
#undef __WB_OUT
inline std::vector<Tensor> split(const Tensor& self, int64_t size, int64_t dim = 0) { return self.split(size, dim); }
inline std::vector<Tensor> split(const Tensor& self, IntArrayRef sizes, int64_t dim = 0) { return self.split(sizes, dim); }
inline Tensor nonzero(const Tensor& self) { return self.nonzero(); }
inline Tensor trace(const Tensor& self) { return self.trace(); }
inline Tensor squeeze(const Tensor& self, int64_t dim) { return self.squeeze(dim); }
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) { return self.select(dim, index); }
inline Tensor movedim(const Tensor& self, int64_t from, int64_t to) { return self.movedim(from, to); }
inline Tensor norm(const Tensor& self, const Scalar& p = 2) { return self.norm(p); }
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim = false) {
    return self.norm(p, dim, keepdim);
}
inline Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt) {
    return __wb::op<Tensor>("linear", input, weight, bias);
}
#define __WB_CONVOLUTION(name) \
    inline Tensor name(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt, \
                       IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) { \
        return __wb::op<Tensor>(#name, input, weight, bias, stride, padding, dilation, groups); \
    }
__WB_CONVOLUTION(conv1d) __WB_CONVOLUTION(conv2d)
#undef __WB_CONVOLUTION
inline Tensor einsum(std::string equation, TensorList tensors) { return __wb::op<Tensor>("einsum", equation, tensors); }
inline Tensor layer_norm(const Tensor& input, IntArrayRef shape, const std::optional<Tensor>& weight = std::nullopt,
                         const std::optional<Tensor>& bias = std::nullopt, double eps = 1e-5, bool = true) {
    return __wb::op<Tensor>("layer_norm", input, shape, weight, bias, eps);
}
inline Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false, bool = false) {
    return __wb::op<Tensor>("embedding", weight, indices, padding_idx, scale_grad_by_freq);
}
inline Tensor special_entr(const Tensor& self) { return __wb::op<Tensor>("special_entr", self); }
inline Tensor special_xlog1py(const Tensor& self, const Tensor& other) { return __wb::op<Tensor>("special_xlog1py", self, other); }
inline Tensor special_xlog1py(const Tensor& self, const Scalar& other) { return __wb::op<Tensor>("special_xlog1py", self, other); }
inline Tensor special_xlog1py(const Scalar& self, const Tensor& other) { return __wb::op<Tensor>("special_xlog1py", self, other); }
inline Tensor mse_loss(const Tensor& input, const Tensor& target, int64_t reduction = 1) {
    return __wb::op<Tensor>("mse_loss", input, target, reduction);
}
inline Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) {
    return __wb::op<Tensor>("addmm", input, a, b, beta, alpha);
}
inline Tensor sum(const Tensor& self) { return self.sum(); }
inline Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false) { return self.sum(dim, keepdim); }
inline Tensor mean(const Tensor& self) { return self.mean(); }
inline Tensor mean(const Tensor& self, IntArrayRef dim, bool keepdim = false) { return self.mean(dim, keepdim); }
inline Tensor max(const Tensor& self, const Tensor& other) { return self.max(other); }
inline Tensor min(const Tensor& self, const Tensor& other) { return self.min(other); }
inline std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false) { return self.max(dim, keepdim); }
inline std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false) { return self.min(dim, keepdim); }
inline Tensor where(const Tensor& cond, const Tensor& a, const Tensor& b) { return __wb::op<Tensor>("where", cond, a, b); }
inline Tensor cat(TensorList tensors, int64_t dim = 0) { return __wb::op<Tensor>("cat", tensors, dim); }
inline Tensor stack(TensorList tensors, int64_t dim = 0) { return __wb::op<Tensor>("stack", tensors, dim); }
inline bool equal(const Tensor& a, const Tensor& b) { return a.equal(b); }
inline bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8) { return a.allclose(b, rtol, atol); }

inline Tensor __wb_in_format(const Tensor& made, const TensorOptions& options) {
    auto format = options.memory_format_opt();
    return format && *format != MemoryFormat::Preserve ? made.contiguous(*format) : made;
}
#define __WB_FACTORY(name) \
    inline Tensor name(IntArrayRef size, const TensorOptions& options = TensorOptions()) { \
        return __wb_in_format(__wb::op<Tensor>(#name, size, options), options); \
    } \
    inline Tensor name##_like(const Tensor& self, const TensorOptions& options = TensorOptions()) { \
        return __wb_in_format(__wb::op<Tensor>(#name "_like", self, options), options); \
    }
__WB_FACTORY(empty)
__WB_FACTORY(zeros)
__WB_FACTORY(ones)
__WB_FACTORY(rand)
__WB_FACTORY(randn)
#undef __WB_FACTORY
inline Tensor empty(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> format) {
    Tensor made = empty(size, options);
    return format ? made.contiguous(*format) : made;
}
inline Tensor empty_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
    if (!format || *format == MemoryFormat::Preserve) return empty_like(self, options);
    return empty(self.sizes(), TensorOptions(options.dtype_opt().value_or(self.scalar_type())).device(options.device_opt().value_or(self.device())), format);
}
inline Tensor empty_like(const Tensor& self, MemoryFormat format) { return empty_like(self, TensorOptions(), format); }
inline Tensor zeros_like(const Tensor& self, MemoryFormat format) { return empty_like(self, format).zero_(); }
inline Tensor ones_like(const Tensor& self, MemoryFormat format) { return empty_like(self, format).fill_(1); }
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
    return __wb::op<Tensor>("linspace", start, end, steps, options);
}
inline Tensor eye(int64_t n, const TensorOptions& options = TensorOptions()) { return __wb::op<Tensor>("eye", n, n, options); }
inline Tensor eye(int64_t n, int64_t m, const TensorOptions& options = TensorOptions()) { return __wb::op<Tensor>("eye", n, m, options); }
inline Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = TensorOptions()) {
    // 16-bit floats become infinite without a check.
    ScalarType type = options.dtype_opt().value_or(c10::kFloat);
    bool is_short = type == c10::kHalf || type == c10::kBFloat16;
    Tensor made = __wb::op<Tensor>("full", std::vector<int64_t>(), value, TensorOptions(options).dtype(is_short ? c10::kDouble : type));
    return is_short ? made.to(type) : made;
}
template <typename T> inline Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("tensor", std::vector<T>(values), options);
}
template <typename T>
inline Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, const TensorOptions& options = TensorOptions()) {
    std::vector<T> values;
    for (const auto& row : rows)
        for (const T& value : row) values.push_back(value);
    int64_t n = rows.size();
    return __wb::op<Tensor>("tensor", values, options).reshape({n, n > 0 ? (int64_t)values.size() / n : 0});
}
template <typename T> inline Tensor tensor(ArrayRef<T> values, const TensorOptions& options = TensorOptions()) {
    return __wb::op<Tensor>("tensor", values, options);
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
inline ScalarType typeMetaToScalarType(TypeMeta t) { return t.type; }
inline std::string toString(ScalarType t) {
    __wb_push_dtype((int64_t)t);
    __wb_run_op(__wb_host_op("to_string"), 1);
    return __wb::Value<std::string>::get();
}
template <typename... A> inline std::string str(A... args) {
    (__wb::Value<A>::put(args), ...);
    __wb_run_op(__wb_host_op("join"), sizeof...(A));
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

namespace c10 {
struct SourceLocation {
    const char* function;
    const char* file;
    uint32_t line;
};
struct Error : std::exception {
    explicit Error(const std::string& what) : std::exception(what) {}
    Error(SourceLocation, const std::string& what) : std::exception(what) {}
    Error(const std::string& what, const std::string&, const void* = nullptr) : std::exception(what) {}
    const std::string& msg() const { return __wb_what; }
    const char* what_without_backtrace() const { return what(); }
};
#define __WB_ERROR(name, kind) \
    struct name : Error { \
        static constexpr int __wb_kind = kind; \
        explicit name(const std::string& what) : Error(what) {} \
        name(SourceLocation, const std::string& what) : Error(what) {} \
    };
__WB_ERROR(ValueError, 1)
__WB_ERROR(TypeError, 2)
__WB_ERROR(IndexError, 3)
__WB_ERROR(NotImplementedError, 4)
__WB_ERROR(OutOfMemoryError, 5)
#undef __WB_ERROR
template <typename C> int64_t multiply_integers(const C& container) {
    int64_t product = 1;
    for (auto x : container) product *= (int64_t)x;
    return product;
}
}

template <> struct __wb_raised<true> {
    static void embody(int64_t kind, const std::string& what) {
        switch (kind) {
            case 1: return __wb_embody_as<c10::ValueError>(what);
            case 2: return __wb_embody_as<c10::TypeError>(what);
            case 3: return __wb_embody_as<c10::IndexError>(what);
            case 4: return __wb_embody_as<c10::NotImplementedError>(what);
            case 5: return __wb_embody_as<c10::OutOfMemoryError>(what);
            case 96: return __wb_embody_as<pybind11::error_already_set>(what);
            case 112: return __wb_embody_as<pybind11::cast_error>(what);
            default: return __wb_embody_as<c10::Error>(what);
        }
    }
};

namespace at {
using c10::toString;
using c10::isFloatingType;
using c10::isIntegralType;
using c10::elementSize;
using c10::typeMetaToScalarType;
}

namespace at {
using namespace c10;
inline TensorOptions dtype(ScalarType dtype) { return TensorOptions(dtype); }
inline TensorOptions device(const Device& device) { return TensorOptions(device); }
inline TensorOptions device(DeviceType device) { return TensorOptions(device); }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }
}

namespace torch {
using namespace c10;
using namespace at;
namespace indexing = at::indexing;
template <typename F> inline F wrap_pybind_function(F f) { return f; }
template <typename F> inline F wrap_pybind_function_no_gil(F f) { return f; }
struct InferenceMode {
    bool before;
    explicit InferenceMode(bool on = true) : before(__wb::host_op<bool>(__wb_host_op("grad_mode"))) {
        if (on) __wb::host_op<bool>(__wb_host_op("set_grad_mode"), false);
    }
    InferenceMode(const InferenceMode&) = delete;
    ~InferenceMode() { __wb::host_op<bool>(__wb_host_op("set_grad_mode"), before); }
};
}

namespace __wb {

// The passing of a value to the run time and back.
template <typename T> struct Value;
#define __WB_NUMBER(type, kind) \
    template <> struct Value<type> { \
        static void put(type value) { __wb_push_##kind(value); } \
        static type get() { return (type)__wb_pop_##kind(); } \
    };
#define __WB_INTEGER(type) \
    template <> struct Value<type> { \
        static void put(type value) { \
            __wb_push_int((int64_t)value); \
            if constexpr (sizeof(type) == 8 && (type)-1 > (type)0) { \
                if (value > (type)0x7fffffffffffffff) __wb_run_op(__wb_host_op("unsigned"), 1); \
            } \
        } \
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
template <> struct Value<c10::TypeMeta> {
    static void put(c10::TypeMeta value) { __wb_push_c_string(value.name()); }
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
    // The numbers belong to the call.
    static c10::ArrayRef<T> get() {
        int64_t n = __wb_pop_list();
        T* all = (T*)__wb_alloc(n * sizeof(T));
        for (int64_t i = 0; i < n; ++i) __wb_construct(all + i, Value<T>::get());
        return c10::ArrayRef<T>(all, n);
    }
};
template <> struct Value<Index> {
    static void put(const Index& value) {
        __wb_push_int(value.kind);
        if (value.kind == 4) {
            Value<std::optional<int64_t>>::put(value.slice.start_);
            Value<std::optional<int64_t>>::put(value.slice.stop_);
            Value<std::optional<int64_t>>::put(value.slice.step_);
            __wb_push_list(4);
            return;
        }
        if (value.kind == 5) __wb_push_tensor(value.tensor.__wb_handle());
        else if (value.kind == 3) __wb_push_bool(value.number);
        else __wb_push_int(value.number);
        __wb_push_list(2);
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
// A character is a text of length one.
template <> struct Value<char> {
    static void put(char value) { __wb_push_text(&value, 1); }
    static char get() {
        size_t size = __wb_text_size();
        const char* text = (const char*)__wb_pop_text();
        if (size != 1) {
            __wb_push_c_string("Expected a character, but multi-character string found");
            __wb_raise(1, 1);
        }
        return text[0];
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
// A list that becomes a tuple has the tuple's number of elements.
inline void must_be(int64_t n, int64_t wanted) {
    if (n == wanted) return;
    __wb_push_c_string("a list of ");
    __wb_push_int(n);
    __wb_push_c_string(" is taken as a tuple of ");
    __wb_push_int(wanted);
    __wb_raise(2, 4);
}
template <typename... T> struct Value<std::tuple<T...>> {
    template <typename U, size_t... I> static void put_all(const U& value, std::index_sequence<I...>) {
        (Value<std::remove_cv_t<std::remove_reference_t<T>>>::put(std::get<I>(value)), ...);
    }
    static void put(const std::tuple<T...>& value) {
        put_all(value, std::index_sequence_for<T...>());
        __wb_push_tuple(sizeof...(T));
    }
    static std::tuple<T...> get() {
        must_be(__wb_pop_list(), sizeof...(T));
        return std::tuple<T...>{Value<T>::get()...};
    }
};

template <typename A, typename B> struct Value<std::pair<A, B>> {
    static void put(const std::pair<A, B>& value) {
        Value<A>::put(value.first);
        Value<B>::put(value.second);
        __wb_push_tuple(2);
    }
    static std::pair<A, B> get() {
        must_be(__wb_pop_list(), 2);
        A first = Value<A>::get();
        return std::pair<A, B>(first, Value<B>::get());
    }
};

template <typename K, typename V> struct Value<std::map<K, V>> {
    static void put(const std::map<K, V>& value) {
        for (const auto& entry : value) {
            Value<K>::put(entry.first);
            Value<V>::put(entry.second);
        }
        __wb_push_dict(value.size());
    }
    static std::map<K, V> get() {
        int64_t n = __wb_pop_dict();
        std::map<K, V> made;
        for (int64_t i = 0; i < n; ++i) {
            K key = Value<K>::get();
            made[key] = Value<V>::get();
        }
        return made;
    }
};
template <typename T> struct Value<std::set<T>> {
    static void put(const std::set<T>& value) {
        for (const T& one : value) Value<T>::put(one);
        __wb_push_list(value.size());
        __wb_run_op(__wb_host_op("set"), 1);
    }
    static std::set<T> get() {
        int64_t n = __wb_pop_list();
        std::set<T> made;
        for (int64_t i = 0; i < n; ++i) made.insert(Value<T>::get());
        return made;
    }
};
template <typename T, size_t N> struct Value<std::array<T, N>> {
    static void put(const std::array<T, N>& value) {
        for (size_t i = 0; i < N; ++i) Value<T>::put(value[i]);
        __wb_push_list(N);
    }
    static std::array<T, N> get() {
        int64_t n = __wb_pop_list();
        if (n != N) {
            __wb_push_c_string("a list of another length is taken as a std::array");
            __wb_raise(2, 1);
        }
        std::array<T, N> made;
        for (size_t i = 0; i < N; ++i) made[i] = Value<T>::get();
        return made;
    }
};

// The end of a call by `TORCH_CHECK` and its like.
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

template <typename... A> inline void warn(A... args) {
    (Value<A>::put(args), ...);
    __wb_run_op(__wb_host_op("warn"), sizeof...(A));
    __wb_drop();
}
template <typename... A> inline void fail_internal(const char* condition, const char* file, int64_t line, A... args) {
    __wb_push_c_string(condition);
    __wb_push_c_string(" INTERNAL ASSERT FAILED at \"");
    __wb_push_c_string(file);
    __wb_push_c_string("\":");
    __wb_push_int(line);
    __wb_push_c_string(", please report a bug to PyTorch. ");
    (Value<A>::put(args), ...);
    __wb_raise(0, 6 + sizeof...(A));
}

// `TORCH_CHECK_EQ(a, b)` and its like.
template <typename T, typename U, typename... A>
inline void fail_compare(const char* left, const char* right, const char* sign, const T& a, const U& b, A... args) {
    __wb_push_c_string("Check failed: ");
    __wb_push_c_string(left);
    __wb_push_c_string(" ");
    __wb_push_c_string(sign);
    __wb_push_c_string(" ");
    __wb_push_c_string(right);
    __wb_push_c_string(" (");
    Value<T>::put(a);
    __wb_push_c_string(" vs. ");
    Value<U>::put(b);
    __wb_push_c_string("). ");
    (Value<A>::put(args), ...);
    __wb_raise(0, 10 + sizeof...(A));
}

template <typename R, typename... A> inline R op(const char* name, const A&... args) {
    (Value<A>::put(args), ...);
    __wb_op(name, sizeof...(A));
    return Value<R>::get();
}
template <typename R, typename... A> inline R host_op(long number, const A&... args) {
    (Value<A>::put(args), ...);
    __wb_run_op(number, sizeof...(A));
    return Value<R>::get();
}

// An argument of a function that the notebook calls.
template <typename A> struct Held {
    std::remove_cv_t<std::remove_reference_t<A>> value;
    Held(int64_t i) : value((__wb_argument(i), Value<std::remove_cv_t<std::remove_reference_t<A>>>::get())) {}
};
// The kind of pybind11 object that a parameter is: 1 for the arguments left, 2 for those with names, 4 for any other.
template <typename T> struct Objects {
    static constexpr int64_t value = 0;
};
template <typename F> struct Entry;
template <typename R, typename... A> struct Entry<R (*)(A...)> {
    // The number of parameters, and the kinds of objects among them (`Objects::of_word`).
    static constexpr int64_t arity = sizeof...(A) | (Objects<std::remove_cv_t<std::remove_reference_t<A>>>::value | ... | 0) << 32;
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
    __wb_run_op(__wb_host_op("define"), 5);
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
    arg& none(bool allowed = true) {
        if (!allowed) __wb::fail(4, "", "py::arg(\"", name, "\").none(false) is not supported: check the argument in the function");
        return *this;
    }
};
struct none {};

// The overload that takes these parameters.
template <typename... Args> struct __wb_overload {
    template <typename R> auto operator()(R (*function)(Args...)) const { return function; }
};
template <typename... Args> constexpr __wb_overload<Args...> overload_cast{};

struct doc_ {
    void operator=(const char* text) const {
        __wb_push_c_string(text);
        __wb_run_op(__wb_host_op("doc"), 1);
        __wb_drop();
    }
};
struct attr_ {
    const char* name;
    template <typename T> void operator=(const T& value) const {
        __wb_push_c_string(name);
        __wb::Value<std::decay_t<T>>::put(value);
        __wb_run_op(__wb_host_op("attr"), 2);
        __wb_drop();
    }
};
struct kw_only {};
#define __WB_ERROR(name, kind) \
    struct name : std::runtime_error { \
        static constexpr int __wb_kind = kind; \
        explicit name(const char* what = "") : std::runtime_error(what) {} \
        explicit name(const std::string& what) : std::runtime_error(what) {} \
    };
__WB_ERROR(value_error, 1)
__WB_ERROR(type_error, 2)
__WB_ERROR(index_error, 3)
__WB_ERROR(buffer_error, 0)
__WB_ERROR(key_error, 7)
__WB_ERROR(attribute_error, 11)
__WB_ERROR(stop_iteration, 12)
__WB_ERROR(import_error, 15)
__WB_ERROR(cast_error, 0)
// An exception that Python raised; made without a text, it raises the error that the C interface has set.
struct error_already_set : std::runtime_error {
    static constexpr int __wb_kind = 0;
    error_already_set() : std::runtime_error("Internal error: pybind11::error_already_set called while Python error indicator not set.") {
        __wb_run_op(__wb_host_op("py_check"), 0);
        __wb_drop();
    }
    explicit error_already_set(const std::string& what) : std::runtime_error(what) {}
};
#undef __WB_ERROR
namespace literals {}
template <typename T> struct call_guard {};
struct gil_scoped_release {};
struct object;
struct module_ {
    template <typename F, typename... E> module_& def(const char* name, F f, E... extra) {
        if constexpr (__wb_is_class(*(F*)nullptr)) __wb::define("module", name, +f);
        else __wb::define("module", name, f);
        (__wb::Value<E>::put(extra), ...);
        __wb_run_op(__wb_host_op("define"), 5 + sizeof...(E));
        return *this;
    }
    template <typename T = object> static T import(const char* name) {
        __wb_push_c_string(name);
        return T(__wb::py_object(__wb_host_op("py_import"), 1));
    }
    attr_ attr(const char* name) { return attr_{name}; }
    doc_ doc() { return doc_(); }
};
using module = module_;

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
template <typename T> struct Value<pybind11::call_guard<T>> {
    static void put(const pybind11::call_guard<T>&) { __wb_push_none(); }
};
template <> struct Value<pybind11::kw_only> {
    static void put(const pybind11::kw_only&) { __wb_push_bool(1); }
};
template <> struct Value<pybind11::none> {
    static void put(const pybind11::none&) { __wb_push_none(); }
};
}
namespace py = pybind11;

namespace c10 {
// `for (auto i : c10::irange(n))`
template <typename T> struct __wb_range {
    struct iterator {
        T at;
        T operator*() const { return at; }
        iterator& operator++() { ++at; return *this; }
        bool operator!=(const iterator& other) const { return at != other.at; }
    };
    T from, to;
    iterator begin() const { return iterator{from}; }
    iterator end() const { return iterator{to}; }
};
template <typename T> inline __wb_range<T> irange(T end) { return __wb_range<T>{T(), end < T() ? T() : end}; }
template <typename T, typename U> inline __wb_range<U> irange(T begin, U end) {
    return __wb_range<U>{(U)begin, end < (U)begin ? (U)begin : end};
}
// A dimension that may be counted from the end, as one counted from the start.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t rank, bool wrap_scalar = true) {
    if (rank <= 0) {
        if (!wrap_scalar) __wb::fail(3, "", "Dimension specified as ", dim, " but tensor has no dimensions");
        rank = 1;
    }
    if (dim < -rank || dim >= rank) {
        __wb::fail(3, "", "Dimension out of range (expected to be in range of [", -rank, ", ", rank - 1, "], but got ", dim, ")");
    }
    return dim < 0 ? dim + rank : dim;
}
}
namespace at {
using c10::maybe_wrap_dim;
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }
namespace internal {
inline constexpr int64_t GRAIN_SIZE = 32768;
}
}
