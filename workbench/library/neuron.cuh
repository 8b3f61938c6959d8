// AWS Neuron's custom operators: the parts of its `<torch/torch.h>` and `<neuron/neuron-utils.hpp>` that
// kernels use. A tensor's elements are numbered as if it were flattened, whatever lies between them in memory.
namespace torch {

// The policy for streams of a tensor that see it in different states.
struct CoherencyEnforcer {
    enum Policy { COHERENT = 0, INCOHERENT_VERBOSE = 1, INCOHERENT_QUIET = 2 };
};

namespace neuron {

// Tightly coupled memory: a pool of 16 KiB; null if it has not enough left.
inline void* tcm_malloc(size_t bytes) {
    if (!__wb::host_op<bool>(__wb_host_op("tcm_take"), (int64_t)bytes)) return nullptr;
    void* made = __wb_alloc(bytes);
    __wb::host_op<bool>(__wb_host_op("tcm_hold"), reinterpret_cast<long>(made), (int64_t)bytes);
    return made;
}
inline void tcm_free(void* memory) {
    if (memory == nullptr) return;
    __wb::host_op<bool>(__wb_host_op("tcm_give"), reinterpret_cast<long>(memory));
    __wb_free(memory);
}

// A library while it is registered.
class Library {
    const char* name_;

public:
    explicit Library(const char* name) : name_(name) {}
    template <typename F> Library& def(const char* op, F shape, const char* kernel) {
        __wb_push_c_string("neuron");
        __wb_push_c_string(kernel);
        __wb_push_c_string(name_);
        __wb_push_c_string(op);
        __wb_push_c_string("");
        __wb_run_op(__wb_host_op("library"), 5 + __wb::put_implementation(shape));
        __wb_drop();
        return *this;
    }
};

}

}

namespace __wb {

// The place of an element by its number among all.
inline int64_t place_of(const at::Tensor& x, int64_t i) {
    int64_t at = 0;
    for (int64_t d = x.dim() - 1; d >= 0; --d) {
        at += i % x.size(d) * x.stride(d);
        i /= x.size(d);
    }
    return at;
}

template <typename D> class Tcm {
    at::Tensor tensor_;
    bool is_contiguous_;

    void check(int64_t offset, int64_t count) const {
        if (offset < 0 || count < 0 || offset + count > tensor_.numel())
            fail(3, "", "elements ", offset, " to ", offset + count, " of a tensor of ", tensor_.numel(), " are copied");
    }

public:
    explicit Tcm(const at::Tensor& tensor) : tensor_(tensor), is_contiguous_(tensor.is_contiguous()) {}
    template <typename T> void tensor_to_tcm(T* tcm, size_t offset, size_t count) const {
        check(offset, count);
        if (count == 0) return;
        const T* data = tensor_.data_ptr<T>();
        if (is_contiguous_) {
            __builtin_memcpy((void*)tcm, (const void*)(data + offset), count * sizeof(T));
        } else {
            for (size_t i = 0; i < count; ++i) tcm[i] = data[place_of(tensor_, offset + i)];
        }
    }
    template <typename T> void tcm_to_tensor(T* tcm, size_t offset, size_t count) const {
        check(offset, count);
        if (count == 0) return;
        T* data = tensor_.data_ptr<T>();
        if (is_contiguous_) {
            __builtin_memcpy((void*)(data + offset), (const void*)tcm, count * sizeof(T));
        } else {
            for (size_t i = 0; i < count; ++i) data[place_of(tensor_, offset + i)] = tcm[i];
        }
    }
};

// Elements one after the other; the run time knows the open streams of a tensor, and refuses readers beside a writer.
template <typename T> class Stream {
    at::Tensor tensor_;
    T* data_;
    int64_t at_ = 0;
    int64_t count_;
    int64_t number_;
    bool is_contiguous_;

public:
    Stream(const at::Tensor& tensor, bool writes)
        : tensor_(tensor), data_(tensor.data_ptr<T>()), count_(tensor.numel()), is_contiguous_(tensor.is_contiguous()) {
        number_ = host_op<int64_t>(__wb_host_op("stream_open"), tensor, writes);
    }
    Stream(const Stream&) = delete;
    ~Stream() { close(); }
    T* next(const char* what) {
        if (number_ == 0) fail(0, "", "a stream is ", what, " that is closed");
        if (at_ >= count_) fail(3, "", "a stream of ", count_, " elements is ", what, " past its end");
        int64_t i = at_;
        ++at_;
        return data_ + (is_contiguous_ ? i : place_of(tensor_, i));
    }
    int close() {
        if (number_ != 0) host_op<bool>(__wb_host_op("stream_close"), number_);
        number_ = 0;
        return 0;
    }
};
template <typename T> struct ReadStream : Stream<T> {
    explicit ReadStream(const at::Tensor& tensor) : Stream<T>(tensor, false) {}
    T read() { return *this->next("read"); }
};
template <typename T> struct WriteStream : Stream<T> {
    explicit WriteStream(const at::Tensor& tensor) : Stream<T>(tensor, true) {}
    void write(T value) { *this->next("written") = value; }
};

template <typename D> struct Coherence {
    static torch::CoherencyEnforcer::Policy get(const at::Tensor& x) {
        return (torch::CoherencyEnforcer::Policy)host_op<int64_t>(__wb_host_op("coherence"), x);
    }
};

}

template <typename T> using TensorReadStreamAccessor = __wb::ReadStream<T>;
template <typename T> using TensorWriteStreamAccessor = __wb::WriteStream<T>;

// The cores of the engine; each runs the kernel, and writes its part of the destination.
inline uint32_t get_cpu_id() { return (uint32_t)__wb::host_op<int64_t>(__wb_host_op("core")); }
inline uint32_t get_cpu_count() { return (uint32_t)__wb::host_op<int64_t>(__wb_host_op("cores")); }
inline at::Tensor get_dst_tensor() { return __wb::host_op<at::Tensor>(__wb_host_op("destination")); }
