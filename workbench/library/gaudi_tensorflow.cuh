// Intel Gaudi's custom operators of TensorFlow: the parts of `<hpu_kernel.h>`, `<hpu_kernel_context.h>` and of TensorFlow's headers with
// them that sources use. A functor's class is known where it is registered, so that its `DefineNode` is called without virtual functions.
namespace tensorflow {

enum DataType {
    DT_INVALID = 0, DT_FLOAT = 1, DT_DOUBLE = 2, DT_INT32 = 3, DT_UINT8 = 4, DT_INT16 = 5, DT_INT8 = 6, DT_STRING = 7, DT_INT64 = 9,
    DT_BOOL = 10, DT_BFLOAT16 = 14, DT_UINT16 = 17, DT_HALF = 19, DT_UINT32 = 22, DT_UINT64 = 23
};
struct bfloat16 {
    unsigned short value;
};
inline constexpr int INFO = 0, WARNING = 1, ERROR = 2, FATAL = 3;
using int64 = long long;
using int32 = int;
using uint8 = unsigned char;
using string = std::string;
using StringPiece = std::string;

inline c10::ScalarType __wb_scalar_type(DataType type) {
    switch (type) {
        case DT_FLOAT: return c10::ScalarType::Float;
        case DT_DOUBLE: return c10::ScalarType::Double;
        case DT_INT32: return c10::ScalarType::Int;
        case DT_UINT8: return c10::ScalarType::Byte;
        case DT_INT16: return c10::ScalarType::Short;
        case DT_INT8: return c10::ScalarType::Char;
        case DT_INT64: return c10::ScalarType::Long;
        case DT_BOOL: return c10::ScalarType::Bool;
        case DT_BFLOAT16: return c10::ScalarType::BFloat16;
        case DT_UINT16: return c10::ScalarType::UInt16;
        case DT_HALF: return c10::ScalarType::Half;
        case DT_UINT32: return c10::ScalarType::UInt32;
        case DT_UINT64: return c10::ScalarType::UInt64;
        default: return c10::ScalarType::Undefined;
    }
}
inline DataType __wb_data_type(c10::ScalarType type) {
    switch (type) {
        case c10::ScalarType::Float: return DT_FLOAT;
        case c10::ScalarType::Double: return DT_DOUBLE;
        case c10::ScalarType::Int: return DT_INT32;
        case c10::ScalarType::Byte: return DT_UINT8;
        case c10::ScalarType::Short: return DT_INT16;
        case c10::ScalarType::Char: return DT_INT8;
        case c10::ScalarType::Long: return DT_INT64;
        case c10::ScalarType::Bool: return DT_BOOL;
        case c10::ScalarType::BFloat16: return DT_BFLOAT16;
        case c10::ScalarType::UInt16: return DT_UINT16;
        case c10::ScalarType::Half: return DT_HALF;
        case c10::ScalarType::UInt32: return DT_UINT32;
        case c10::ScalarType::UInt64: return DT_UINT64;
        default: return DT_INVALID;
    }
}
template <typename T> struct DataTypeToEnum;
#define __WB_DATA_TYPE(type, name) \
    template <> struct DataTypeToEnum<type> { static constexpr DataType value = name; };
__WB_DATA_TYPE(float, DT_FLOAT)
__WB_DATA_TYPE(double, DT_DOUBLE)
__WB_DATA_TYPE(int, DT_INT32)
__WB_DATA_TYPE(unsigned char, DT_UINT8)
__WB_DATA_TYPE(short, DT_INT16)
__WB_DATA_TYPE(signed char, DT_INT8)
__WB_DATA_TYPE(long, DT_INT64)
__WB_DATA_TYPE(long long, DT_INT64)
__WB_DATA_TYPE(bool, DT_BOOL)
__WB_DATA_TYPE(bfloat16, DT_BFLOAT16)
__WB_DATA_TYPE(unsigned short, DT_UINT16)
__WB_DATA_TYPE(unsigned int, DT_UINT32)
__WB_DATA_TYPE(unsigned long, DT_UINT64)
__WB_DATA_TYPE(unsigned long long, DT_UINT64)
#undef __WB_DATA_TYPE
inline const char* DataTypeString(DataType type) {
    switch (type) {
        case DT_FLOAT: return "float";
        case DT_DOUBLE: return "double";
        case DT_INT32: return "int32";
        case DT_UINT8: return "uint8";
        case DT_INT16: return "int16";
        case DT_INT8: return "int8";
        case DT_INT64: return "int64";
        case DT_BOOL: return "bool";
        case DT_BFLOAT16: return "bfloat16";
        case DT_UINT16: return "uint16";
        case DT_HALF: return "half";
        case DT_UINT32: return "uint32";
        case DT_UINT64: return "uint64";
        default: return "invalid";
    }
}

class TensorShape {
    std::vector<int64_t> dims_;

public:
    TensorShape() {}
    TensorShape(std::initializer_list<int64_t> dims) : dims_(dims) {}
    TensorShape(const std::vector<int64_t>& dims) : dims_(dims) {}
    int dims() const { return (int)dims_.size(); }
    int64_t dim_size(int i) const { return dims_.at(i); }
    int64_t num_elements() const {
        int64_t n = 1;
        for (int64_t d : dims_) n *= d;
        return n;
    }
    void AddDim(int64_t size) { dims_.push_back(size); }
    void set_dim(int i, int64_t size) { dims_.at(i) = size; }
    void RemoveDim(int i) { dims_.erase(dims_.begin() + i); }
    bool IsSameSize(const TensorShape& other) const { return dims_ == other.dims_; }
    const std::vector<int64_t>& dim_sizes() const { return dims_; }
    std::string DebugString() const {
        std::string text("[");
        for (size_t i = 0; i < dims_.size(); ++i) {
            if (i > 0) text += ",";
            text += std::to_string(dims_[i]);
        }
        text += "]";
        return text;
    }
};
inline bool operator==(const TensorShape& a, const TensorShape& b) { return a.IsSameSize(b); }
inline bool operator!=(const TensorShape& a, const TensorShape& b) { return !a.IsSameSize(b); }

// Elements of a tensor, by their number or, in a matrix, by row and column.
template <typename T> struct __wb_Elements {
    T* data_;
    int64_t rows_;
    int64_t columns_;
    int64_t size() const { return rows_ * columns_; }
    T* data() const { return data_; }
    int64_t dimension(int i) const { return i == 0 ? rows_ : columns_; }
    T& operator()() const { return data_[0]; }
    T& operator()(int64_t i) const { return data_[i]; }
    T& operator()(int64_t i, int64_t j) const { return data_[i * columns_ + j]; }
};

// A tensor whose elements the host may read: one of host memory.
class Tensor {
    at::Tensor tensor_;

public:
    Tensor() {}
    explicit Tensor(const at::Tensor& tensor) : tensor_(tensor) {}
    DataType dtype() const { return __wb_data_type(tensor_.scalar_type()); }
    TensorShape shape() const { return TensorShape(tensor_.sizes().vec()); }
    int dims() const { return (int)tensor_.dim(); }
    int64_t dim_size(int i) const { return tensor_.size(i); }
    int64_t NumElements() const { return tensor_.numel(); }
    bool IsInitialized() const { return tensor_.defined(); }
    template <typename T> __wb_Elements<T> flat() const { return __wb_Elements<T>{tensor_.data_ptr<T>(), tensor_.numel(), 1}; }
    template <typename T> __wb_Elements<T> vec() const { return flat<T>(); }
    template <typename T> __wb_Elements<T> scalar() const { return flat<T>(); }
    template <typename T> __wb_Elements<T> matrix() const {
        return __wb_Elements<T>{tensor_.data_ptr<T>(), tensor_.size(0), tensor_.size(1)};
    }
};

namespace error {
enum Code {
    OK = 0, CANCELLED = 1, UNKNOWN = 2, INVALID_ARGUMENT = 3, DEADLINE_EXCEEDED = 4, NOT_FOUND = 5, ALREADY_EXISTS = 6,
    PERMISSION_DENIED = 7, RESOURCE_EXHAUSTED = 8, FAILED_PRECONDITION = 9, ABORTED = 10, OUT_OF_RANGE = 11, UNIMPLEMENTED = 12,
    INTERNAL = 13, UNAVAILABLE = 14, DATA_LOSS = 15
};
}

class Status {
    int code_ = 0;
    std::string message_;

public:
    Status() {}
    Status(error::Code code, const std::string& message) : code_((int)code), message_(message) {}
    static Status OK() { return Status(); }
    bool ok() const { return code_ == 0; }
    error::Code code() const { return (error::Code)code_; }
    const std::string& error_message() const { return message_; }
    const std::string& message() const { return message_; }
    std::string ToString() const { return ok() ? std::string("OK") : message_; }
    void Update(const Status& other) {
        if (ok()) *this = other;
    }
};
inline Status OkStatus() { return Status(); }

namespace errors {
#define __WB_TF_ERROR(name, code) \
    template <typename... A> inline Status name(A... args) { return Status(error::code, c10::str(args...)); }
__WB_TF_ERROR(InvalidArgument, INVALID_ARGUMENT)
__WB_TF_ERROR(NotFound, NOT_FOUND)
__WB_TF_ERROR(AlreadyExists, ALREADY_EXISTS)
__WB_TF_ERROR(FailedPrecondition, FAILED_PRECONDITION)
__WB_TF_ERROR(OutOfRange, OUT_OF_RANGE)
__WB_TF_ERROR(Unimplemented, UNIMPLEMENTED)
__WB_TF_ERROR(Internal, INTERNAL)
__WB_TF_ERROR(Unavailable, UNAVAILABLE)
#undef __WB_TF_ERROR
}

// Outputs get their extents in `DefineNode`; the shapes in an operator's registration are not used.
namespace shape_inference {
class InferenceContext;
inline Status UnchangedShape(InferenceContext*) { return Status(); }
inline Status UnknownShape(InferenceContext*) { return Status(); }
inline Status ScalarShape(InferenceContext*) { return Status(); }
inline Status MergeBothInputsShapeFn(InferenceContext*) { return Status(); }
}

// `REGISTER_OP("Name").Input("x: T")..`: each line is a text of the note that the conversion at the end writes.
class OpDefBuilder {
    const char* name_;
    std::vector<std::string> lines_;

public:
    explicit OpDefBuilder(const char* name) : name_(name) {}
    OpDefBuilder& __wb_line(const char* what, const std::string& text) {
        lines_.push_back(std::string(what) + text);
        return *this;
    }
    OpDefBuilder& Input(const std::string& spec) { return __wb_line("in ", spec); }
    OpDefBuilder& Output(const std::string& spec) { return __wb_line("out ", spec); }
    OpDefBuilder& Attr(const std::string& spec) { return __wb_line("attr ", spec); }
    OpDefBuilder& Doc(const std::string& text) { return __wb_line("doc ", text); }
    OpDefBuilder& SetIsStateful() { return *this; }
    OpDefBuilder& SetIsCommutative() { return *this; }
    template <typename F> OpDefBuilder& SetShapeFn(F) { return *this; }
    operator bool() const {
        __wb::note("op", name_);
        for (const std::string& line : lines_) __wb_push_c_string(line.c_str());
        __wb::note_end(false, lines_.size());
        std::string all;
        for (const std::string& line : lines_) {
            all += line;
            all += "\n";
        }
        __wb_push_c_string("tensorflow");
        __wb_push_c_string(all.c_str());
        __wb_push_c_string("");
        __wb_push_c_string(name_);
        __wb_push_c_string("");
        __wb_run_op(__wb_host_op("library"), 5);
        __wb_drop();
        return true;
    }
};

namespace register_kernel {
// The registration of a kernel: an operator, types of its attributes, and those of its tensors that lie in host memory.
class ForHpuWithName {
    const char* op_;
    std::vector<std::string> lines_;

public:
    explicit ForHpuWithName(const char* op) : op_(op) {}
    template <typename T> ForHpuWithName& TypeConstraint(const char* attr) {
        return TypeConstraint(attr, DataTypeToEnum<T>::value);
    }
    ForHpuWithName& TypeConstraint(const char* attr, DataType type) {
        lines_.push_back(std::string(attr) + std::string("=") + std::to_string((int64_t)type));
        return *this;
    }
    ForHpuWithName& HostMemory(const char* name) {
        lines_.push_back(std::string("host ") + std::string(name));
        return *this;
    }
    ForHpuWithName& Priority(int) { return *this; }
    void __wb_note(long run) const {
        __wb::note("kernel of op", op_);
        __wb_push_int(run);
        __wb_push_int(lines_.size());
        for (const std::string& line : lines_) __wb_push_c_string(line.c_str());
        __wb::note_end(true, 2 + (int64_t)lines_.size());
    }
};
}

}

namespace __wb {
template <> struct Value<tensorflow::TensorShape> {
    static void put(const tensorflow::TensorShape& value) { Value<std::string>::put(value.DebugString()); }
};
template <> struct Value<tensorflow::DataType> {
    static void put(tensorflow::DataType value) { __wb_push_c_string(tensorflow::DataTypeString(value)); }
};
template <> struct Value<tensorflow::Status> {
    static void put(const tensorflow::Status& value) { Value<std::string>::put(value.ToString()); }
};

// An output of a node: its extents and type, and its tensor once it is needed.
struct TfOutput {
    bool is_defined = false;
    tensorflow::DataType dtype = tensorflow::DT_INVALID;
    tensorflow::TensorShape shape;
    at::Tensor tensor;
    tensorflow::Tensor host;
    bool is_host = false;
};
struct TfNode {
    TpcNode node;
    std::vector<int> inputs;
    std::vector<int> outputs;
};
}

namespace habana {

// The facts about a tensor on the host.
struct TensorInfo {
    tensorflow::DataType dtype;
    tensorflow::TensorShape shape;
};

// A kernel by its name, and its parameters, which are copied.
struct NodeDesc {
    std::string guid;
    void* user_params = nullptr;
    unsigned params_size = 0;
    std::string name;
};

// An operator that is being run: `DefineNode` of its functor tells of the outputs and the kernels, which run when it has returned.
class HpuKernelContext {
    std::vector<at::Tensor> inputs_;
    std::vector<tensorflow::Tensor> host_inputs_;
    std::vector<bool> is_host_;
    std::vector<__wb::TfOutput> outputs_;
    std::vector<__wb::TfNode> nodes_;
    std::vector<std::string> attr_names_;
    std::vector<c10::IValue> attrs_;
    tensorflow::Status status_;

    // Numbers of tensors: the inputs', and after them the outputs'.
    tensorflow::Status check_tensor(int i, const char* what) const {
        if (i >= 0 && i < NumInputs() + NumOutputs() && (i < NumInputs() || outputs_[i - NumInputs()].is_defined))
            return tensorflow::Status();
        return tensorflow::errors::InvalidArgument(what, " ", i, " is none: there are ", NumInputs(), " inputs, and after them the ",
                                                   NumOutputs(), " outputs, as far as they are defined");
    }

public:
    HpuKernelContext() {}

    int NumInputs() const { return (int)inputs_.size(); }
    int NumOutputs() const { return (int)outputs_.size(); }
    tensorflow::Status InputInfo(int i, TensorInfo& info) const {
        if (i < 0 || i >= NumInputs()) return tensorflow::errors::InvalidArgument("there is no input ", i);
        info.dtype = tensorflow::__wb_data_type(inputs_[i].scalar_type());
        info.shape = tensorflow::TensorShape(inputs_[i].sizes().vec());
        return tensorflow::Status();
    }
    tensorflow::Status OutputInfo(int i, TensorInfo& info) const {
        if (i < 0 || i >= NumOutputs() || !outputs_[i].is_defined)
            return tensorflow::errors::InvalidArgument("there is no output ", i, ", or it is not defined yet");
        info.dtype = outputs_[i].dtype;
        info.shape = outputs_[i].shape;
        return tensorflow::Status();
    }
    tensorflow::Status DefineOutputInfo(int i, const TensorInfo& info) {
        if (i < 0 || i >= NumOutputs()) return tensorflow::errors::InvalidArgument("there is no output ", i);
        if (outputs_[i].is_defined) return tensorflow::errors::AlreadyExists("output ", i, " is defined already");
        outputs_[i].is_defined = true;
        outputs_[i].dtype = info.dtype;
        outputs_[i].shape = info.shape;
        return tensorflow::Status();
    }
    // The output is the input's tensor itself, which the kernels change.
    tensorflow::Status DefineOutputInPlace(int i, int input) {
        TensorInfo info;
        tensorflow::Status status = InputInfo(input, info);
        if (status.ok()) status = DefineOutputInfo(i, info);
        if (status.ok()) outputs_[i].tensor = inputs_[input];
        return status;
    }
    // Elements of an input that was registered as host memory; null for others, which have only a shape on the host.
    const tensorflow::Tensor* HostMemoryInput(int i) const {
        if (i < 0 || i >= NumInputs() || !is_host_[i]) return nullptr;
        return &host_inputs_[i];
    }
    // Elements of an output that was registered as host memory, for `DefineNode` to write.
    tensorflow::Tensor* HostMemoryOutput(int i) {
        if (i < 0 || i >= NumOutputs() || !outputs_[i].is_host || !outputs_[i].is_defined) return nullptr;
        __wb_make(i);
        outputs_[i].host = tensorflow::Tensor(outputs_[i].tensor);
        return &outputs_[i].host;
    }
    template <typename T> tensorflow::Status GetAttr(const std::string& name, T* value) const {
        for (size_t i = 0; i < attr_names_.size(); ++i) {
            if (attr_names_[i] != name) continue;
            const c10::IValue& found = attrs_[i];
            if constexpr (std::is_same_v<T, std::string>) {
                if (!found.isString()) return tensorflow::errors::InvalidArgument("attribute ", name, " is ", found.tagKind());
                *value = found.toStringRef();
            } else if constexpr (std::is_same_v<T, tensorflow::DataType>) {
                *value = (tensorflow::DataType)found.toInt();
            } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
                if (!found.isIntList()) return tensorflow::errors::InvalidArgument("attribute ", name, " is ", found.tagKind());
                *value = found.toIntVector();
            } else {
                if (!found.isScalar() || (std::is_integral_v<T> && found.isDouble()))
                    return tensorflow::errors::InvalidArgument("attribute ", name, " is ", found.tagKind());
                *value = found.toScalar().template to<T>();
            }
            return tensorflow::Status();
        }
        return tensorflow::errors::NotFound("there is no attribute ", name);
    }

    // One more kernel; kernels run in the order in which they are defined. An input numbered past the inputs is an output of an earlier kernel.
    tensorflow::Status DefineNode(const NodeDesc& desc, const std::vector<int>& inputs, const std::vector<int>& outputs) {
        tensorflow::Status status;
        for (int i : inputs) status.Update(check_tensor(i, "input"));
        for (int i : outputs) status.Update(check_tensor(NumInputs() + i, "output"));
        if (!status.ok()) return status;
        __wb::TfNode made;
        made.node.guid = desc.guid;
        made.inputs = inputs;
        made.outputs = outputs;
        if (desc.user_params != nullptr && desc.params_size > 0) {
            void* copy = __wb_alloc(desc.params_size);
            __builtin_memcpy(copy, (const void*)desc.user_params, desc.params_size);
            made.node.params = copy;
            made.node.params_size = desc.params_size;
        }
        nodes_.push_back(made);
        return status;
    }
    tensorflow::Status DefineNode(const NodeDesc& desc, const std::vector<int>& inputs, const std::vector<TensorInfo>& outputs) {
        std::vector<int> indices;
        for (size_t i = 0; i < outputs.size(); ++i) {
            tensorflow::Status status = DefineOutputInfo((int)i, outputs[i]);
            if (!status.ok()) return status;
            indices.push_back((int)i);
        }
        return DefineNode(desc, inputs, indices);
    }
    void SetStatus(const tensorflow::Status& status) { status_.Update(status); }
    const tensorflow::Status& Status() const { return status_; }
    void CtxFailure(const tensorflow::Status& status) { SetStatus(status); }
    void CtxFailureWithWarning(const tensorflow::Status& status) { SetStatus(status); }

    void __wb_open(const std::vector<at::Tensor>& inputs, const std::vector<bool>& host_inputs, const std::vector<bool>& host_outputs,
                   const std::vector<std::string>& names, const std::vector<c10::IValue>& values) {
        inputs_ = inputs;
        is_host_ = host_inputs;
        for (const at::Tensor& input : inputs) host_inputs_.push_back(tensorflow::Tensor(input.contiguous()));
        outputs_.resize(host_outputs.size());
        for (size_t i = 0; i < host_outputs.size(); ++i) outputs_[i].is_host = host_outputs[i];
        attr_names_ = names;
        attrs_ = values;
    }
    void __wb_make(int i) {
        if (outputs_[i].tensor.defined()) return;
        at::Stack stack;
        for (const at::Tensor& input : inputs_) stack.push_back(c10::IValue(input));
        c10::ScalarType type = tensorflow::__wb_scalar_type(outputs_[i].dtype);
        outputs_[i].tensor = __wb::fresh(stack, outputs_[i].shape.dim_sizes(), type);
    }
    std::vector<at::Tensor> __wb_finish() {
        // An error that the functor has found ends the call.
        if (!status_.ok()) {
            int code = (int)status_.code();
            int kind = code == 3 ? 1 : code == 11 ? 3 : code == 12 ? 4 : 0;
            __wb::fail(kind, "", status_.message());
        }
        for (int i = 0; i < NumOutputs(); ++i) {
            if (!outputs_[i].is_defined) __wb::fail(0, "", "output ", i, " is not defined");
            __wb_make(i);
        }
        for (__wb::TfNode& one : nodes_) {
            for (int i : one.inputs)
                one.node.tensors.push_back(c10::IValue(i < NumInputs() ? inputs_[i] : outputs_[i - NumInputs()].tensor));
            one.node.inputs = one.node.tensors.size();
            for (int i : one.outputs) one.node.tensors.push_back(c10::IValue(outputs_[i].tensor));
            __wb::tpc_run(one.node);
        }
        std::vector<at::Tensor> made;
        for (const __wb::TfOutput& output : outputs_) made.push_back(output.tensor);
        return made;
    }
};

struct BaseFunctor {};
template <typename Functor> struct HpuKernel {
    static void __wb_run(HpuKernelContext* context) {
        Functor functor;
        functor.DefineNode(context);
    }
};

}

using tensorflow::register_kernel::ForHpuWithName;

namespace __wb {

template <typename K> inline void tf_kernel(const tensorflow::register_kernel::ForHpuWithName& builder) {
    void (*run)(habana::HpuKernelContext*) = &K::__wb_run;
    builder.__wb_note(reinterpret_cast<long>(run));
}

// The name in `name: T`.
inline std::string tf_name(const std::string& spec, size_t from) {
    size_t end = from;
    while (end < spec.size() && spec[end] != ':' && spec[end] != ' ') ++end;
    return spec.substr(from, end - from);
}

// Runs an operator: the first of its kernels whose types match the attributes.
inline std::vector<at::Tensor> tf_execute(std::string op, std::vector<at::Tensor> inputs, std::vector<std::string> names,
                                          std::vector<c10::IValue> values) {
    std::vector<std::string> in, out;
    int64_t lines = noted("op", op);
    for (int64_t i = 0; i < lines; ++i) {
        std::string line = Value<std::string>::get();
        if (line.starts_with("in ")) in.push_back(tf_name(line, 3));
        else if (line.starts_with("out ")) out.push_back(tf_name(line, 4));
    }
    std::vector<bool> host_inputs(in.size(), false), host_outputs(out.size(), false);
    long run = 0;
    int64_t left = noted("kernel of op", op);
    while (left > 0) {
        long candidate = __wb_pop_int();
        int64_t n = __wb_pop_int();
        left -= 2 + n;
        bool fits = true;
        std::vector<bool> h_in(in.size(), false), h_out(out.size(), false);
        for (int64_t i = 0; i < n; ++i) {
            std::string line = Value<std::string>::get();
            if (line.starts_with("host ")) {
                std::string name = line.substr(5);
                for (size_t j = 0; j < in.size(); ++j)
                    if (in[j] == name) h_in[j] = true;
                for (size_t j = 0; j < out.size(); ++j)
                    if (out[j] == name) h_out[j] = true;
                continue;
            }
            size_t sign = line.find("=");
            std::string attr = line.substr(0, sign);
            int64_t type = std::stoi(line.substr(sign + 1));
            bool same = false;
            for (size_t j = 0; j < names.size(); ++j)
                if (names[j] == attr && values[j].isInt() && values[j].toInt() == type) same = true;
            if (!same) fits = false;
        }
        if (fits && run == 0) {
            run = candidate;
            host_inputs = h_in;
            host_outputs = h_out;
        }
    }
    if (run == 0) fail(4, "", "no kernel of ", op, " is registered for these types");
    if (inputs.size() != in.size()) fail(2, "", op, " has ", in.size(), " inputs, ", inputs.size(), " given");
    habana::HpuKernelContext context;
    context.__wb_open(inputs, host_inputs, host_outputs, names, values);
    reinterpret_cast<void (*)(habana::HpuKernelContext*)>(run)(&context);
    return context.__wb_finish();
}
inline void tf_entries() { tpc_entry("tf_execute", &tf_execute); }

}
