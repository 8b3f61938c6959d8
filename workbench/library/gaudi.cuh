// Intel Gaudi's custom operators: the parts of `<hpu_custom_op.h>` and `<hpu_custom_op_pt2.h>` that sources use, and the
// running of a kernel that a descriptor names. Descriptors stay with the program between calls, as numbers and texts.
// Parameters of kernels that come with Gaudi.
namespace ns_ReluKernel {
union Threshold {
    int i;
    float f;
};
struct Params {
    Threshold threshold;
};
}
struct synBeamParams {
    int bsw;
    int axis;
    bool bottomK;
};

namespace at {
using Stack = std::vector<c10::IValue>;
// The extents that two tensors broadcast to.
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
    size_t n = a.size() > b.size() ? a.size() : b.size();
    std::vector<int64_t> made(n, 1);
    for (size_t i = 0; i < n; ++i) {
        int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) __wb::fail(0, "", "extents ", x, " and ", y, " do not broadcast");
        made[n - 1 - i] = x == 1 ? y : x;
    }
    return made;
}
}
namespace torch {
namespace jit {
using Stack = at::Stack;
}
}

// The parameter of a kernel, in place of a pointer, that gives a tensor's extents; strides count elements.
namespace tpc {
template <typename T> struct tensor {
    T* data;
    int64_t sizes[8];
    int64_t strides[8];
    int64_t rank;
    int64_t count;
    __host__ __device__ int64_t dim() const { return rank; }
    __host__ __device__ int64_t size(int64_t i) const { return sizes[i]; }
    __host__ __device__ int64_t stride(int64_t i) const { return strides[i]; }
    __host__ __device__ int64_t numel() const { return count; }
    __host__ __device__ T& operator[](int64_t i) const { return data[i]; }
};
}

namespace __wb {

template <> struct Value<c10::IValue> {
    static c10::IValue get() {
        int64_t kind = __wb_top_kind();
        if (kind == 1) return c10::IValue((bool)__wb_pop_bool());
        if (kind == 2) return c10::IValue((int64_t)__wb_pop_int());
        if (kind == 3) return c10::IValue((double)__wb_pop_float());
        if (kind == 4) return c10::IValue(Value<std::string>::get());
        if (kind == 5) return c10::IValue(Value<at::Tensor>::get());
        if (kind == 6) {
            int64_t n = __wb_pop_list();
            bool has_tensors = n > 0 && __wb_top_kind() == 5;
            std::vector<at::Tensor> tensors;
            std::vector<int64_t> ints;
            for (int64_t i = 0; i < n; ++i) {
                if (has_tensors) tensors.push_back(Value<at::Tensor>::get());
                else ints.push_back(Value<int64_t>::get());
            }
            if (has_tensors) return c10::IValue(tensors);
            return c10::IValue(ints);
        }
        if (kind != 0) fail(2, "", "an operator takes tensors, numbers, texts and lists of tensors and integers");
        __wb_drop();
        return c10::IValue();
    }
};

// Notes stay with the program: a key keeps the last one, or all of them.
inline void note(const char* kind, const std::string& key) {
    __wb_push_c_string(kind);
    __wb_push_c_string(key.c_str());
}
inline void note_end(bool adds, int64_t n) {
    __wb_run_op(adds ? __wb_host_op("note_more") : __wb_host_op("note"), 2 + n);
    __wb_drop();
}
// The notes of a key, as a list whose values are then on the stack; gives their number.
inline int64_t noted(const char* kind, const std::string& key) {
    __wb_push_c_string(kind);
    __wb_push_c_string(key.c_str());
    __wb_run_op(__wb_host_op("noted"), 2);
    return __wb_pop_list();
}

// The inputs of a kernel: tensors in the order of the descriptors, inputs first; numbers; the user's parameters.
struct TpcNode {
    std::string guid;
    std::vector<c10::IValue> tensors;
    size_t inputs = 0;
    std::vector<c10::IValue> numbers;
    const void* params = nullptr;
    size_t params_size = 0;
    // Elements of the first output, or of the first tensor if there is no output.
    int64_t count = 0;
    std::vector<at::Tensor> held;
    size_t tensor_at = 0;
    size_t number_at = 0;

    const c10::IValue& next() { return tensors[tensor_at++]; }
    // A dense tensor for reading; one that is written must be dense.
    at::Tensor dense(const at::Tensor& x, bool writes) {
        if (x.is_contiguous()) return x;
        if (writes) fail(0, "", "kernel `", guid, "` writes a tensor that is not contiguous");
        held.push_back(x.contiguous());
        return held.back();
    }
    void measure() {
        for (size_t i = inputs < tensors.size() ? inputs : 0; i < tensors.size(); ++i) {
            if (!tensors[i].isTensor()) continue;
            count = tensors[i].toTensor().numel();
            return;
        }
    }
};

// The number of an element type; -1 where torch has none for it.
template <typename T> struct ElementOf { static constexpr int64_t value = -1; };
#define __WB_ELEMENT(type) \
    template <> struct ElementOf<type> { static constexpr int64_t value = (int64_t)c10::CppTypeToScalarType<type>::value; };
__WB_ELEMENT(unsigned char)
__WB_ELEMENT(signed char)
__WB_ELEMENT(char)
__WB_ELEMENT(short)
__WB_ELEMENT(int)
__WB_ELEMENT(long)
__WB_ELEMENT(long long)
__WB_ELEMENT(float)
__WB_ELEMENT(double)
__WB_ELEMENT(bool)
__WB_ELEMENT(unsigned short)
__WB_ELEMENT(unsigned int)
__WB_ELEMENT(unsigned long)
__WB_ELEMENT(unsigned long long)
#undef __WB_ELEMENT
template <typename T> inline T* tpc_data(TpcNode& node, const at::Tensor& x) {
    using E = std::remove_const_t<T>;
    if (ElementOf<E>::value < 0 && sizeof(E) % x.element_size() != 0)
        fail(0, "", "kernel `", node.guid, "` takes elements of ", sizeof(E), " bytes, and the tensor is of ", x.dtype());
    return (T*)__wb_tensor_data(x.__wb_handle(), ElementOf<E>::value);
}

// A parameter of a kernel: its kind and its value. A struct is the user's parameters.
template <typename T> struct TpcArg {
    static constexpr int64_t tensors = 0;
    static constexpr int64_t numbers = std::is_arithmetic_v<T> ? 1 : 0;
    T value;
    explicit TpcArg(TpcNode* node) : value(take(*node)) {}
    static T take(TpcNode& node) {
        if constexpr (std::is_arithmetic_v<T>) {
            if (node.number_at < node.numbers.size()) return node.numbers[node.number_at++].toScalar().template to<T>();
            return (T)node.count;
        } else {
            if (node.params == nullptr) fail(0, "", "kernel `", node.guid, "` takes user parameters, and none are given");
            if (node.params_size != sizeof(T)) {
                fail(0, "", "kernel `", node.guid, "` takes user parameters of ", sizeof(T), " bytes, and ", node.params_size,
                     " are given");
            }
            return *(const T*)node.params;
        }
    }
};
template <typename T> struct TpcArg<T*> {
    static constexpr int64_t tensors = 1;
    static constexpr int64_t numbers = 0;
    T* value;
    explicit TpcArg(TpcNode* node) : value(take(*node)) {}
    static T* take(TpcNode& node) {
        const c10::IValue& given = node.next();
        if (given.isNone()) return nullptr;
        return tpc_data<T>(node, node.dense(given.toTensor(), !std::is_const_v<T>));
    }
};
template <typename T> struct TpcArg<tpc::tensor<T>> {
    static constexpr int64_t tensors = 1;
    static constexpr int64_t numbers = 0;
    tpc::tensor<T> value;
    explicit TpcArg(TpcNode* node) : value(take(*node)) {}
    static tpc::tensor<T> take(TpcNode& node) {
        tpc::tensor<T> made;
        at::Tensor x = node.next().toTensor();
        if (x.dim() > 8) fail(0, "", "kernel `", node.guid, "` takes tensors of at most 8 dimensions");
        made.data = tpc_data<T>(node, x);
        made.rank = x.dim();
        made.count = x.numel();
        for (int64_t i = 0; i < 8; ++i) {
            made.sizes[i] = i < made.rank ? x.size(i) : 1;
            made.strides[i] = i < made.rank ? x.stride(i) : 0;
        }
        return made;
    }
};
template <> struct TpcArg<at::Tensor> {
    static constexpr int64_t tensors = 1;
    static constexpr int64_t numbers = 0;
    at::Tensor value;
    explicit TpcArg(TpcNode* node) : value(take(*node)) {}
    static at::Tensor take(TpcNode& node) {
        const c10::IValue& given = node.next();
        if (given.isNone()) return at::Tensor();
        return given.toTensor();
    }
};
template <> struct TpcArg<std::vector<at::Tensor>> {
    static constexpr int64_t tensors = 1;
    static constexpr int64_t numbers = 0;
    std::vector<at::Tensor> value;
    explicit TpcArg(TpcNode* node) : value(node->next().toTensorVector()) {}
};
template <> struct TpcArg<std::vector<int64_t>> {
    static constexpr int64_t tensors = 0;
    static constexpr int64_t numbers = 1;
    std::vector<int64_t> value;
    explicit TpcArg(TpcNode* node) : value(take(*node)) {}
    static std::vector<int64_t> take(TpcNode& node) {
        if (node.number_at >= node.numbers.size()) fail(0, "", "kernel `", node.guid, "` takes a list that is not given");
        return node.numbers[node.number_at++].toIntVector();
    }
};

// Runs a kernel by its address: its parameters are bound by their kinds, in order.
template <typename F> struct TpcKernel;
template <typename... A> struct TpcKernel<void (*)(A...)> {
    static void check(const TpcNode& node) {
        int64_t tensors = 0, numbers = 0;
        ((tensors += TpcArg<std::remove_cv_t<std::remove_reference_t<A>>>::tensors), ...);
        ((numbers += TpcArg<std::remove_cv_t<std::remove_reference_t<A>>>::numbers), ...);
        int64_t given = node.tensors.size(), scalars = node.numbers.size();
        if (tensors != given) {
            fail(0, "", "kernel `", node.guid, "` takes ", tensors, " tensors, and the operator has ", given, " (", node.inputs,
                 " inputs, ", given - (int64_t)node.inputs, " outputs)");
        }
        if (numbers != scalars && numbers != scalars + 1) {
            fail(0, "", "kernel `", node.guid, "` takes ", numbers, " numbers, and the operator has ", scalars,
                 " scalar inputs, which the number of elements may follow");
        }
    }
    static void start(void (*f)(A...), int64_t count, TpcArg<std::remove_cv_t<std::remove_reference_t<A>>>... args) {
        if (count > 0) f<<<(count + 255) / 256, 256>>>(args.value...);
    }
    static void launch(long f, TpcNode* node) {
        check(*node);
        start(reinterpret_cast<void (*)(A...)>(f), node->count, TpcArg<std::remove_cv_t<std::remove_reference_t<A>>>(node)...);
    }
    static void enter(void (*f)(A...), TpcArg<std::remove_cv_t<std::remove_reference_t<A>>>... args) {
        f(static_cast<A>(args.value)...);
    }
    static void call(long f, TpcNode* node) {
        check(*node);
        enter(reinterpret_cast<void (*)(A...)>(f), TpcArg<std::remove_cv_t<std::remove_reference_t<A>>>(node)...);
    }
};

// A kernel, or a host function, that descriptors may name.
inline void tpc_offer(const char* name, long wrapper, long function) {
    note("kernel", name);
    __wb_push_int(wrapper);
    __wb_push_int(function);
    note_end(false, 2);
}
template <typename F> inline void tpc_kernel(const char* name, F f) {
    void (*wrapper)(long, TpcNode*) = &TpcKernel<F>::launch;
    tpc_offer(name, reinterpret_cast<long>(wrapper), reinterpret_cast<long>(f));
}
template <typename F> inline void tpc_host(const char* name, F f) {
    void (*wrapper)(long, TpcNode*) = &TpcKernel<F>::call;
    tpc_offer(name, reinterpret_cast<long>(wrapper), reinterpret_cast<long>(f));
}
template <typename T> inline void tpc_seen(const T&) {}

inline void tpc_run(TpcNode& node) {
    if (noted("kernel", node.guid) != 2) fail(0, "", "kernel `", node.guid, "` is noted wrongly");
    long wrapper = __wb_pop_int();
    long function = __wb_pop_int();
    node.measure();
    reinterpret_cast<void (*)(long, TpcNode*)>(wrapper)(function, &node);
}

// A callback that fills the user's parameters: its function, and a caller for any type of parameters.
template <typename F> struct ParamsCall;
template <typename P> struct ParamsCall<std::shared_ptr<P> (*)(const at::Stack&, size_t&)> {
    static const void* call(long f, const at::Stack& inputs, size_t& size) {
        // The owner lives as long as the call.
        auto* owner = new std::shared_ptr<P>(reinterpret_cast<std::shared_ptr<P> (*)(const at::Stack&, size_t&)>(f)(inputs, size));
        return (const void*)owner->get();
    }
};
struct Callback {
    long wrapper = 0;
    long function = 0;
};
template <typename F> inline Callback params_callback(F f) {
    Callback made;
    if constexpr (std::is_same_v<F, std::nullptr_t>) {
        return made;
    } else if constexpr (__wb_is_class(*(F*)nullptr)) {
        return params_callback(+f);
    } else {
        const void* (*wrapper)(long, const at::Stack&, size_t&) = &ParamsCall<F>::call;
        made.wrapper = reinterpret_cast<long>(wrapper);
        made.function = reinterpret_cast<long>(f);
        return made;
    }
}
template <typename F> inline long plain_callback(F f) {
    if constexpr (std::is_same_v<F, std::nullptr_t>) return 0;
    else if constexpr (__wb_is_class(*(F*)nullptr)) return plain_callback(+f);
    else return reinterpret_cast<long>(f);
}
inline void fill_params(TpcNode& node, const Callback& callback, const at::Stack& inputs) {
    if (callback.function == 0) return;
    size_t size = 0;
    node.params = reinterpret_cast<const void* (*)(long, const at::Stack&, size_t&)>(callback.wrapper)(callback.function, inputs, size);
    node.params_size = node.params == nullptr ? 0 : size;
}
// The first tensor among arguments, alone or in a list; an undefined one if there is none.
inline at::Tensor first_tensor(const at::Stack& inputs) {
    for (const c10::IValue& input : inputs) {
        if (input.isTensor()) return input.toTensor();
        if (input.isTensorList() && input.toTensorVector().size() > 0) return input.toTensorVector()[0];
    }
    return at::Tensor();
}
inline at::Tensor fresh(const at::Stack& inputs, const std::vector<int64_t>& shape, c10::ScalarType dtype) {
    at::Tensor like = first_tensor(inputs);
    if (like.defined()) return like.new_empty(shape, at::TensorOptions(dtype));
    return at::empty(shape, at::TensorOptions(dtype));
}

}

namespace habana {

// An output, as a callback of `registerUserCustomOp` describes it.
struct PartialOutputMetaData {
    at::ScalarType dtype = at::ScalarType::Undefined;
    std::vector<int64_t> shape;
    PartialOutputMetaData() {}
    PartialOutputMetaData(at::ScalarType type, const std::vector<int64_t>& extents) : dtype(type), shape(extents) {}
};
using PartialOutputMetaDataVector = std::vector<PartialOutputMetaData>;
inline int64_t get_dim_in_tpc_order(int64_t dim, int64_t rank) { return rank - dim - 1; }

namespace custom_op {

enum class input_type { TENSOR, SCALAR, USER_PARAMS };
using compute_output_shape_function = std::vector<int64_t> (*)(const at::Stack&);

// An input: its kind for the kernel. Inputs of kind USER_PARAMS are read by their callback alone.
struct InputDesc {
    input_type type;
    unsigned index;
};

// An output: without a callback it has the extents of input 0.
struct OutputDesc {
    unsigned index = 0;
    c10::ScalarType dtype = c10::ScalarType::Float;
    compute_output_shape_function compute_output_shape_func = nullptr;
    OutputDesc() {}
    OutputDesc(unsigned i) : index(i) {}
    OutputDesc(unsigned i, c10::ScalarType type) : index(i), dtype(type) {}
    template <typename F>
    OutputDesc(unsigned i, c10::ScalarType type, F f)
        : index(i), dtype(type), compute_output_shape_func(reinterpret_cast<compute_output_shape_function>(__wb::plain_callback(f))) {}
};

// A kernel by its name, and the callback that fills its parameters.
struct NodeDesc {
    std::string tpc_guid;
    std::string schema_name;
    __wb::Callback user_param_func;
    NodeDesc() {}
    template <typename F>
    NodeDesc(const std::string& guid, const std::string& schema, F f)
        : tpc_guid(guid), schema_name(schema), user_param_func(__wb::params_callback(f)) {}
};

class HabanaCustomOpDescriptor {
    NodeDesc node_desc_;
    std::vector<InputDesc> inputs_;
    std::vector<OutputDesc> outputs_;

public:
    HabanaCustomOpDescriptor() {}
    HabanaCustomOpDescriptor(const NodeDesc& node, const std::vector<InputDesc>& inputs, const std::vector<OutputDesc>& outputs)
        : node_desc_(node), inputs_(inputs), outputs_(outputs) {}

    const std::string& getSchemaName() const { return node_desc_.schema_name; }
    const std::string& getGuid() const { return node_desc_.tpc_guid; }
    size_t getInputsSize() const { return inputs_.size(); }
    size_t getOutputsSize() const { return outputs_.size(); }
    const std::vector<InputDesc>& getInputs() const { return inputs_; }
    const std::vector<OutputDesc>& getOutputs() const { return outputs_; }
    bool hasUserParamsFunc() const { return node_desc_.user_param_func.function != 0; }

    // Makes the outputs, runs the kernel, and gives the outputs by their indices.
    std::vector<at::Tensor> execute(const std::vector<c10::IValue>& inputs) const {
        if (inputs.size() != inputs_.size()) {
            __wb::fail(0, "", node_desc_.schema_name, " has ", inputs_.size(), " inputs, ", inputs.size(), " given");
        }
        __wb::TpcNode node;
        node.guid = node_desc_.tpc_guid;
        for (size_t i = 0; i < inputs.size(); ++i) {
            if (inputs_[i].type == input_type::TENSOR) node.tensors.push_back(inputs[i]);
            else if (inputs_[i].type == input_type::SCALAR) node.numbers.push_back(inputs[i]);
        }
        node.inputs = node.tensors.size();
        std::vector<at::Tensor> made;
        made.resize(outputs_.size());
        for (size_t i = 0; i < outputs_.size(); ++i) {
            const OutputDesc& output = outputs_[i];
            if (output.index >= outputs_.size())
                __wb::fail(3, "", node_desc_.schema_name, " has ", outputs_.size(), " outputs, and one of index ", output.index);
            std::vector<int64_t> shape;
            if (output.compute_output_shape_func != nullptr) shape = output.compute_output_shape_func(inputs);
            else shape = inputs[0].toTensor().sizes().vec();
            made[output.index] = __wb::fresh(inputs, shape, output.dtype);
        }
        for (const at::Tensor& output : made) node.tensors.push_back(c10::IValue(output));
        __wb::fill_params(node, node_desc_.user_param_func, inputs);
        __wb::tpc_run(node);
        return made;
    }

    static HabanaCustomOpDescriptor getCustomOpDescriptor(const std::string& op) {
        __wb::noted("descriptor", op);
        HabanaCustomOpDescriptor made;
        made.node_desc_.tpc_guid = __wb::Value<std::string>::get();
        made.node_desc_.schema_name = op;
        made.node_desc_.user_param_func.wrapper = __wb_pop_int();
        made.node_desc_.user_param_func.function = __wb_pop_int();
        int64_t inputs = __wb_pop_int();
        for (int64_t i = 0; i < inputs; ++i) {
            InputDesc input;
            input.type = (input_type)__wb_pop_int();
            input.index = (unsigned)__wb_pop_int();
            made.inputs_.push_back(input);
        }
        int64_t outputs = __wb_pop_int();
        for (int64_t i = 0; i < outputs; ++i) {
            OutputDesc output;
            output.index = (unsigned)__wb_pop_int();
            output.dtype = (c10::ScalarType)__wb_pop_int();
            long shape = __wb_pop_int();
            output.compute_output_shape_func = reinterpret_cast<compute_output_shape_function>(shape);
            made.outputs_.push_back(output);
        }
        return made;
    }
    void __wb_note() const {
        __wb::note("descriptor", node_desc_.schema_name);
        __wb_push_c_string(node_desc_.tpc_guid.c_str());
        __wb_push_int(node_desc_.user_param_func.wrapper);
        __wb_push_int(node_desc_.user_param_func.function);
        __wb_push_int(inputs_.size());
        for (const InputDesc& input : inputs_) {
            __wb_push_int((int64_t)input.type);
            __wb_push_int(input.index);
        }
        __wb_push_int(outputs_.size());
        for (const OutputDesc& output : outputs_) {
            __wb_push_int(output.index);
            __wb_push_int((int64_t)output.dtype);
            __wb_push_int(reinterpret_cast<long>(output.compute_output_shape_func));
        }
        __wb::note_end(false, 5 + 2 * (int64_t)inputs_.size() + 3 * (int64_t)outputs_.size());
    }
};

inline void registerKernel(const HabanaCustomOpDescriptor& descriptor) { descriptor.__wb_note(); }
template <typename F>
inline void __wb_register(const char* schema, const char* guid, const std::vector<InputDesc>& inputs,
                          const std::vector<OutputDesc>& outputs, F params) {
    registerKernel(HabanaCustomOpDescriptor(NodeDesc(guid, schema, params), inputs, outputs));
}

// The form of `<hpu_custom_op_pt2.h>`: one callback describes all outputs, and every tensor among the arguments is an input.
using OutputMetaFn = PartialOutputMetaDataVector (*)(const at::Stack&);
class UserCustomOpDescriptor {
    std::string schema_;
    std::string guid_;
    OutputMetaFn output_meta_fn_ = nullptr;
    __wb::Callback fill_params_fn_;

public:
    UserCustomOpDescriptor() {}
    template <typename F, typename G>
    UserCustomOpDescriptor(const std::string& schema, const std::string& guid, F meta, G params)
        : schema_(schema), guid_(guid), output_meta_fn_(reinterpret_cast<OutputMetaFn>(__wb::plain_callback(meta))),
          fill_params_fn_(__wb::params_callback(params)) {}

    const std::string& getSchemaName() const { return schema_; }
    const std::string& getGuid() const { return guid_; }
    const __wb::Callback& getFillParamsFn() const { return fill_params_fn_; }

    std::vector<at::Tensor> execute(const std::vector<c10::IValue>& inputs) const {
        if (output_meta_fn_ == nullptr) __wb::fail(0, "", schema_, " is registered without a callback that tells of its outputs");
        PartialOutputMetaDataVector outputs = output_meta_fn_(inputs);
        __wb::TpcNode node;
        node.guid = guid_;
        // Numbers go to the kernel in the parameters that the callback fills, and as they are if there is no such callback.
        bool passes = fill_params_fn_.function == 0;
        for (const c10::IValue& input : inputs) {
            if (input.isTensor() || input.isTensorList()) node.tensors.push_back(input);
            else if (passes && (input.isScalar() || input.isIntList())) node.numbers.push_back(input);
        }
        node.inputs = node.tensors.size();
        std::vector<at::Tensor> made;
        for (const PartialOutputMetaData& output : outputs) {
            made.push_back(__wb::fresh(inputs, output.shape, output.dtype));
            node.tensors.push_back(c10::IValue(made.back()));
        }
        __wb::fill_params(node, fill_params_fn_, inputs);
        __wb::tpc_run(node);
        return made;
    }

    static UserCustomOpDescriptor getUserCustomOpDescriptor(const std::string& op) {
        __wb::noted("descriptor", op);
        UserCustomOpDescriptor made;
        made.schema_ = op;
        made.guid_ = __wb::Value<std::string>::get();
        long meta = __wb_pop_int();
        made.output_meta_fn_ = reinterpret_cast<OutputMetaFn>(meta);
        made.fill_params_fn_.wrapper = __wb_pop_int();
        made.fill_params_fn_.function = __wb_pop_int();
        return made;
    }
    void __wb_note() const {
        __wb::note("descriptor", schema_);
        __wb_push_c_string(guid_.c_str());
        __wb_push_int(reinterpret_cast<long>(output_meta_fn_));
        __wb_push_int(fill_params_fn_.wrapper);
        __wb_push_int(fill_params_fn_.function);
        __wb::note_end(false, 4);
    }
};

template <typename F, typename G>
inline void registerUserCustomOp(const std::string& schema, const std::string& guid, F output_meta, G fill_params) {
    UserCustomOpDescriptor(schema, guid, output_meta, fill_params).__wb_note();
}

}

}

namespace __wb {

// Runs a kernel of the text for a descriptor of the notebook's: roles of the inputs (0 a tensor, 1 a number, 2 for the callbacks alone),
// extents and types of the outputs, the bytes of the user's parameters.
inline std::vector<at::Tensor> tpc_execute(std::string guid, std::vector<c10::IValue> inputs, std::vector<int64_t> roles,
                                           std::vector<std::vector<int64_t>> shapes, std::vector<int64_t> dtypes,
                                           std::optional<std::vector<int64_t>> params) {
    TpcNode node;
    node.guid = guid;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (roles[i] == 0) node.tensors.push_back(inputs[i]);
        else if (roles[i] == 1) node.numbers.push_back(inputs[i]);
    }
    node.inputs = node.tensors.size();
    std::vector<at::Tensor> made;
    for (size_t i = 0; i < shapes.size(); ++i) {
        made.push_back(fresh(inputs, shapes[i], (c10::ScalarType)dtypes[i]));
        node.tensors.push_back(c10::IValue(made.back()));
    }
    if (params.has_value()) {
        const std::vector<int64_t>& bytes = params.value();
        char* memory = (char*)__wb_alloc(bytes.size());
        for (size_t i = 0; i < bytes.size(); ++i) memory[i] = (char)bytes[i];
        node.params = memory;
        node.params_size = bytes.size();
    }
    tpc_run(node);
    return made;
}

// An entry point of the run time, which the notebook calls by its name.
template <typename F> inline void tpc_entry(const char* name, F f) {
    __wb_push_c_string("entry");
    __wb_push_c_string("");
    __wb_push_c_string("");
    __wb_push_c_string(name);
    __wb_push_c_string("");
    void (*wrapper)(long) = &Entry<F>::call;
    __wb_push_int(reinterpret_cast<long>(wrapper));
    __wb_push_int(reinterpret_cast<long>(f));
    __wb_push_int(Entry<F>::arity);
    __wb_run_op(__wb_host_op("library"), 8);
    __wb_drop();
}
inline void tpc_entries() { tpc_entry("tpc_execute", &tpc_execute); }

}
