// Operators of the dispatcher: the parts of `<torch/library.h>` and of the stable interface `<torch/csrc/stable/...>` that extensions use.
namespace __wb {

// A type as schemas write it, in parts; the number of parts.
template <typename T> struct SchemaType;
#define __WB_SCHEMA_TYPE(type, name) \
    template <> struct SchemaType<type> { \
        static int64_t put() { \
            __wb_push_c_string(name); \
            return 1; \
        } \
    };
__WB_SCHEMA_TYPE(at::Tensor, "Tensor")
__WB_SCHEMA_TYPE(bool, "bool")
__WB_SCHEMA_TYPE(long, "int")
__WB_SCHEMA_TYPE(long long, "int")
__WB_SCHEMA_TYPE(double, "float")
__WB_SCHEMA_TYPE(c10::Scalar, "Scalar")
__WB_SCHEMA_TYPE(c10::ScalarType, "ScalarType")
__WB_SCHEMA_TYPE(c10::Device, "Device")
__WB_SCHEMA_TYPE(std::string, "str")
// Types that torch does not take either; the error is the run time's.
__WB_SCHEMA_TYPE(int, "!int")
__WB_SCHEMA_TYPE(float, "!float")
__WB_SCHEMA_TYPE(short, "!short")
__WB_SCHEMA_TYPE(signed char, "!signed char")
__WB_SCHEMA_TYPE(unsigned char, "!unsigned char")
__WB_SCHEMA_TYPE(unsigned int, "!unsigned int")
__WB_SCHEMA_TYPE(unsigned long, "!unsigned long")
#undef __WB_SCHEMA_TYPE
template <typename T> struct SchemaType<std::optional<T>> {
    static int64_t put() {
        int64_t n = SchemaType<T>::put();
        __wb_push_c_string("?");
        return n + 1;
    }
};
#define __WB_SCHEMA_LIST(type) \
    template <typename T> struct SchemaType<type> { \
        static int64_t put() { \
            int64_t n = SchemaType<T>::put(); \
            __wb_push_c_string("[]"); \
            return n + 1; \
        } \
    };
__WB_SCHEMA_LIST(std::vector<T>)
__WB_SCHEMA_LIST(c10::ArrayRef<T>)
#undef __WB_SCHEMA_LIST

// A single result.
template <typename T> struct SchemaResult {
    static int64_t put() {
        __wb_push_c_string("(");
        int64_t n = SchemaType<T>::put();
        __wb_push_c_string(",");
        return n + 2;
    }
};
template <> struct SchemaResult<void> {
    static int64_t put() {
        __wb_push_c_string("(");
        return 1;
    }
};
template <typename... T> struct SchemaResult<std::tuple<T...>> {
    template <typename U> static int64_t one() {
        int64_t n = SchemaType<std::remove_cv_t<std::remove_reference_t<U>>>::put();
        __wb_push_c_string(",");
        return n + 1;
    }
    static int64_t put() {
        __wb_push_c_string("(");
        int64_t n = 1;
        ((n += one<T>()), ...);
        return n;
    }
};

template <typename F> struct Signature;
template <typename R, typename... A> struct Signature<R (*)(A...)> {
    template <typename U> static int64_t one() {
        int64_t n = SchemaType<std::remove_cv_t<std::remove_reference_t<U>>>::put();
        __wb_push_c_string(",");
        return n + 1;
    }
    static int64_t put() {
        int64_t n = 0;
        ((n += one<A>()), ...);
        return n + SchemaResult<std::remove_cv_t<std::remove_reference_t<R>>>::put();
    }
};

// An implementation: pointers to its wrapper and to itself, the number of its arguments, the parts of its schema.
template <typename F> inline int64_t put_implementation(F f) {
    if constexpr (__wb_is_class(*(F*)nullptr)) {
        return put_implementation(+f);
    } else {
        void (*wrapper)(long) = &Entry<F>::call;
        __wb_push_int(reinterpret_cast<long>(wrapper));
        __wb_push_int(reinterpret_cast<long>(f));
        __wb_push_int(Entry<F>::arity);
        return 3 + Signature<F>::put();
    }
}

}

namespace at {
enum class Tag : int {
    core, data_dependent_output, dynamic_output_shape, flexible_layout, generated, inplace_view, maybe_aliasing_or_mutating,
    needs_contiguous_strides, needs_exact_strides, needs_fixed_stride_order, nondeterministic_bitwise, nondeterministic_seeded,
    pointwise, pt2_compliant_tag, view_copy
};
}

// torch's C interface, as far as stable extensions use it.
using AOTITorchError = int32_t;
inline AOTITorchError aoti_torch_get_current_cuda_stream(int32_t, void** stream) {
    *stream = nullptr;
    return 0;
}

namespace torch {

// The result of `torch::dispatch(key, f)`.
template <typename F> struct CppFunction {
    F function;
    const char* key;
};

namespace __wb_library {
inline const char* key_name(c10::DispatchKey key) {
    switch (key) {
        case c10::DispatchKey::CPU: return "CPU";
        case c10::DispatchKey::CUDA: return "CUDA";
        case c10::DispatchKey::Meta: return "Meta";
        case c10::DispatchKey::Autograd: return "Autograd";
        case c10::DispatchKey::CompositeImplicitAutograd: return "CompositeImplicitAutograd";
        case c10::DispatchKey::CompositeExplicitAutograd: return "CompositeExplicitAutograd";
        default: return "";
    }
}
inline const char* key_name(c10::DeviceType type) { return type == c10::DeviceType::CUDA ? "CUDA" : "CPU"; }
}

template <typename K, typename F> inline CppFunction<F> dispatch(K key, F f) { return CppFunction<F>{f, __wb_library::key_name(key)}; }
inline const char* schema(const char* text) { return text; }

class Library {
    const char* kind_;
    const char* namespace_;
    const char* key_;

    void begin(const char* what, const char* text, const char* key) {
        __wb_push_c_string(what);
        __wb_push_c_string(kind_);
        __wb_push_c_string(namespace_);
        __wb_push_c_string(text);
        __wb_push_c_string(key);
    }
    Library& end(int64_t parts) {
        __wb_run_op(__wb_host_op("library"), 5 + parts);
        __wb_drop();
        return *this;
    }

public:
    Library(const char* kind, const char* name, const char* key) : kind_(kind), namespace_(name), key_(key) {}
    Library& def(const char* schema) {
        begin("def", schema, key_);
        return end(0);
    }
    Library& def(const char* schema, std::initializer_list<at::Tag>) { return def(schema); }
    Library& def(const char* schema, const std::vector<at::Tag>&) { return def(schema); }
    Library& def(const std::string& schema) { return def(schema.c_str()); }
    template <typename F> Library& def(const std::string& schema, F f) { return def(schema.c_str(), f); }
    template <typename F> Library& impl(const std::string& name, F f) { return impl(name.c_str(), f); }
    template <typename F> Library& def(const char* schema, F f) {
        begin("def", schema, key_);
        return end(__wb::put_implementation(f));
    }
    template <typename F> Library& def(const char* schema, CppFunction<F> f) {
        begin("def", schema, f.key);
        return end(__wb::put_implementation(f.function));
    }
    template <typename F> Library& def(const char* schema, F f, std::initializer_list<at::Tag>) { return def(schema, f); }
    template <typename F> Library& impl(const char* name, F f) {
        begin("impl", name, key_);
        return end(__wb::put_implementation(f));
    }
    template <typename F> Library& impl(const char* name, CppFunction<F> f) {
        begin("impl", name, f.key);
        return end(__wb::put_implementation(f.function));
    }
    template <typename K, typename F> Library& impl(const char* name, K key, F f) {
        begin("impl", name, __wb_library::key_name(key));
        return end(__wb::put_implementation(f));
    }
    Library& set_python_module(const char* name, const char* = "") {
        begin("python", name, key_);
        return end(0);
    }
    Library& impl_abstract_pystub(const char* name, const char* context = "") { return set_python_module(name, context); }
};
// The registration before `TORCH_LIBRARY`: names are qualified.
struct RegisterOperators {
    RegisterOperators() {}
    template <typename F> RegisterOperators(const char* schema, F f) { op(schema, f); }
    template <typename F, typename... O> RegisterOperators& op(const char* schema, F f, const O&...) {
        (void)&__wb_entry_call;
        Library("fragment", "", "").def(schema, f);
        return *this;
    }
    template <typename F> RegisterOperators& op(const std::string& schema, F f) { return op(schema.c_str(), f); }
};
namespace jit {
using torch::RegisterOperators;
}

namespace headeronly {
using c10::DeviceType;
using c10::Layout;
using c10::MemoryFormat;
using c10::ScalarType;
using c10::IntArrayRef;
}

namespace stable {
using namespace at;
using Tensor = at::Tensor;
using Device = c10::Device;
inline Tensor new_empty(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt) {
    return self.new_empty(size, TensorOptions(dtype.value_or(self.scalar_type())));
}
inline Tensor new_zeros(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt) {
    return self.new_zeros(size, TensorOptions(dtype.value_or(self.scalar_type())));
}
inline Tensor contiguous(const Tensor& self) { return self.contiguous(); }
inline Tensor& copy_(Tensor& self, const Tensor& other, bool = false) { return self.copy_(other); }
inline Tensor& fill_(Tensor& self, const Scalar& value) { return self.fill_(value); }
inline Tensor& zero_(Tensor& self) { return self.zero_(); }
inline Tensor to(const Tensor& self, ScalarType dtype) { return self.to(dtype); }
inline Tensor view(const Tensor& self, IntArrayRef size) { return self.view(size); }
namespace accelerator {
using DeviceIndex = c10::DeviceIndex;
struct DeviceGuard {
    explicit DeviceGuard(DeviceIndex = 0) {}
    void set_index(DeviceIndex) {}
};
struct Stream {
    int64_t id() const { return 0; }
};
inline Stream getCurrentStream(DeviceIndex = 0) { return Stream(); }
inline DeviceIndex getCurrentDeviceIndex() { return 0; }
}
}

}

// Calls of registered operators from host code.
namespace c10 {
template <typename F> class TypedOperatorHandle;
template <typename R, typename... A> class TypedOperatorHandle<R(A...)> {
    const char* name_;
    const char* overload_;

public:
    TypedOperatorHandle(const char* name, const char* overload) : name_(name), overload_(overload) {}
    R call(A... args) const {
        __wb_push_c_string(name_);
        __wb_push_c_string(overload_);
        (__wb::Value<std::remove_cv_t<std::remove_reference_t<A>>>::put(args), ...);
        __wb_run_op(__wb_host_op("call"), 2 + sizeof...(A));
        if constexpr (std::is_void_v<R>) __wb_drop();
        else return __wb::Value<std::remove_cv_t<std::remove_reference_t<R>>>::get();
    }
    R operator()(A... args) const { return call(args...); }
};
class OperatorHandle {
    const char* name_;
    const char* overload_;

public:
    OperatorHandle(const char* name, const char* overload) : name_(name), overload_(overload) {}
    template <typename F> TypedOperatorHandle<F> typed() const { return TypedOperatorHandle<F>(name_, overload_); }
};
class Dispatcher {
public:
    static Dispatcher& singleton() {
        static Dispatcher only;
        return only;
    }
    OperatorHandle findSchemaOrThrow(const char* name, const char* overload) const { return OperatorHandle(name, overload); }
};
}
