// Streams, events, guards and devices by torch's names, on `cudart.cuh`: one device, this machine, on
// which everything runs in order. A stream is a handle, a wait does nothing, and a guard changes nothing.
namespace c10 {
using StreamId = int64_t;

class Stream {
    Device device_;
    StreamId id_;

public:
    enum Unsafe { UNSAFE };
    enum Default { DEFAULT };
    Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
    Stream(Default, Device device) : device_(device), id_(0) {}
    Device device() const { return device_; }
    DeviceType device_type() const { return device_.type(); }
    DeviceIndex device_index() const { return device_.index(); }
    StreamId id() const { return id_; }
    bool query() const { return true; }
    void synchronize() const {}
    bool operator==(const Stream& other) const { return device_ == other.device_ && id_ == other.id_; }
    bool operator!=(const Stream& other) const { return !(*this == other); }
};

// A guard for a device of any type; there is only one.
struct DeviceGuard {
    Device device_;
    explicit DeviceGuard(Device device) : device_(device) {}
    void reset_device(Device device) { device_ = device; }
    void set_index(DeviceIndex index) { device_.index_ = index; }
    Device original_device() const { return device_; }
    Device current_device() const { return device_; }
};
struct OptionalDeviceGuard {
    std::optional<Device> device_;
    explicit OptionalDeviceGuard() {}
    explicit OptionalDeviceGuard(Device device) : device_(device) {}
    explicit OptionalDeviceGuard(std::optional<Device> device) : device_(device) {}
    void reset_device(Device device) { device_ = device; }
    std::optional<Device> original_device() const { return device_; }
    std::optional<Device> current_device() const { return device_; }
};

// Memory with its device.
class DataPtr {
    void* data_ = nullptr;
    Device device_ = Device(DeviceType::CUDA, 0);

public:
    DataPtr() {}
    DataPtr(void* data, Device device) : data_(data), device_(device) {}
    void* get() const { return data_; }
    void* mutable_get() const { return data_; }
    Device device() const { return device_; }
    explicit operator bool() const { return data_ != nullptr; }
    void clear() { data_ = nullptr; }
};
// Memory from here belongs to the call.
struct Allocator {
    void* raw_allocate(size_t bytes) const {
        char* made = nullptr;
        if (bytes > 0 && cudaMalloc(&made, bytes) != cudaSuccess) {
            __wb_push_c_string("CUDA out of memory");
            __wb_raise(21, 1);
        }
        return made;
    }
    DataPtr allocate(size_t bytes) const { return DataPtr(raw_allocate(bytes), Device(DeviceType::CUDA, 0)); }
    void raw_deallocate(void* data) const { cudaFree(data); }
    void* raw_alloc(size_t bytes) const { return raw_allocate(bytes); }
    void* raw_alloc_with_stream(size_t bytes, cudaStream_t) const { return raw_allocate(bytes); }
    void raw_delete(void* data) const { cudaFree(data); }
    void emptyCache() const {}
    void recordStream(const DataPtr&, cudaStream_t) const {}
};

namespace cuda {
inline void __wb_expect_device(int64_t device) {
    if (device > 0 || device < -1) __wb::fail(0, "", "CUDA error: ", cudaGetErrorString(cudaErrorInvalidDevice));
}
inline DeviceIndex device_count() { return 1; }
inline DeviceIndex device_count_ensure_non_zero() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void set_device(DeviceIndex device, bool = false) { __wb_expect_device(device); }
inline void device_synchronize() {}
inline void stream_synchronize(cudaStream_t) {}
inline void memcpy_and_sync(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    cudaMemcpy(to, from, (size_t)bytes, kind);
}
inline cudaError_t GetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
inline cudaError_t GetDevice(DeviceIndex* device) {
    *device = 0;
    return cudaSuccess;
}
inline cudaError_t SetDevice(DeviceIndex device, bool = false) { return device > 0 || device < -1 ? cudaErrorInvalidDevice : cudaSuccess; }
inline cudaError_t MaybeSetDevice(DeviceIndex device) { return SetDevice(device); }
inline DeviceIndex ExchangeDevice(DeviceIndex device) {
    __wb_expect_device(device);
    return 0;
}
inline DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }

inline CUDAStream getStreamFromPool(bool = false, DeviceIndex device = -1) {
    __wb_expect_device(device);
    return CUDAStream();
}
inline CUDAStream getStreamFromPool(int, DeviceIndex device = -1) {
    __wb_expect_device(device);
    return CUDAStream();
}
inline CUDAStream getStreamFromExternal(cudaStream_t, DeviceIndex device) {
    __wb_expect_device(device);
    return CUDAStream();
}
inline void setCurrentCUDAStream(CUDAStream) {}
struct CUDAStreamGuard {
    CUDAStream stream_;
    explicit CUDAStreamGuard(CUDAStream stream) : stream_(stream) {}
    void reset_stream(CUDAStream stream) { stream_ = stream; }
    CUDAStream original_stream() const { return CUDAStream(); }
    CUDAStream current_stream() const { return stream_; }
    Device current_device() const { return Device(DeviceType::CUDA, 0); }
    Device original_device() const { return Device(DeviceType::CUDA, 0); }
};
struct OptionalCUDAStreamGuard {
    bool there_ = false;
    CUDAStream stream_;
    explicit OptionalCUDAStreamGuard() {}
    explicit OptionalCUDAStreamGuard(CUDAStream stream) : there_(true), stream_(stream) {}
    explicit OptionalCUDAStreamGuard(const std::optional<CUDAStream>& stream) : there_(stream.has_value()) {}
    void reset_stream(CUDAStream stream) {
        there_ = true;
        stream_ = stream;
    }
    std::optional<CUDAStream> original_stream() const { return there_ ? std::optional<CUDAStream>(CUDAStream()) : std::optional<CUDAStream>(); }
    std::optional<CUDAStream> current_stream() const { return there_ ? std::optional<CUDAStream>(stream_) : std::optional<CUDAStream>(); }
    void reset() { there_ = false; }
};
struct CUDAMultiStreamGuard {
    explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream>) {}
};

// An event is made when it is first recorded; a copy is the same event, which lives as long as the call.
class CUDAEvent {
    unsigned int flags_ = cudaEventDisableTiming;
    bool recorded_ = false;
    cudaEvent_t event_ = nullptr;

public:
    CUDAEvent() {}
    CUDAEvent(unsigned int flags) : flags_(flags) {}
    operator cudaEvent_t() const { return event_; }
    cudaEvent_t event() const { return event_; }
    bool isCreated() const { return event_ != nullptr; }
    std::optional<Device> device() const {
        return event_ != nullptr ? std::optional<Device>(Device(DeviceType::CUDA, 0)) : std::optional<Device>();
    }
    DeviceIndex device_index() const { return event_ != nullptr ? 0 : -1; }
    bool query() const { return true; }
    void create(DeviceIndex device) {
        __wb_expect_device(device);
        if (event_ == nullptr) cudaEventCreateWithFlags(&event_, flags_);
    }
    void record(const CUDAStream& stream) {
        create(0);
        cudaEventRecord(event_, stream);
        recorded_ = true;
    }
    void record() { record(getCurrentCUDAStream()); }
    void recordOnce(const CUDAStream& stream) {
        if (!recorded_) record(stream);
    }
    void block(const CUDAStream&) const {}
    void synchronize() const {}
    float elapsed_time(const CUDAEvent& other) const {
        if (flags_ & cudaEventDisableTiming || other.flags_ & cudaEventDisableTiming) {
            __wb::fail(1, "", "Both events must be created with argument 'enable_timing=True'.");
        }
        if (!recorded_ || !other.recorded_) __wb::fail(1, "", "Both events must be recorded before calculating elapsed time.");
        float milliseconds = 0;
        cudaEventElapsedTime(&milliseconds, event_, other.event_);
        return milliseconds;
    }
};

namespace CUDACachingAllocator {
inline constexpr Allocator __wb_allocator{};
inline Allocator* get() { return (Allocator*)&__wb_allocator; }
inline void* raw_alloc(size_t bytes) { return Allocator().raw_allocate(bytes); }
inline void* raw_alloc_with_stream(size_t bytes, cudaStream_t) { return raw_alloc(bytes); }
inline void raw_delete(void* data) { cudaFree(data); }
inline void emptyCache() {}
inline void recordStream(const DataPtr&, cudaStream_t) {}
}
}
}

namespace at {

// The settings of a context, with torch's defaults. Sums have one order here, whatever is set, and `float` has its own precision.
enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };
class Context {
    bool tf32_blas_ = false, tf32_cudnn_ = true, deterministic_ = false, warns_ = false, cudnn_ = true, benchmark_ = false;
    bool cudnn_deterministic_ = false, mkldnn_ = true;

public:
    bool allowTF32CuBLAS() const { return tf32_blas_; }
    void setAllowTF32CuBLAS(bool value) { tf32_blas_ = value; }
    bool allowTF32CuDNN() const { return tf32_cudnn_; }
    void setAllowTF32CuDNN(bool value) { tf32_cudnn_ = value; }
    Float32MatmulPrecision float32MatmulPrecision() const { return tf32_blas_ ? Float32MatmulPrecision::HIGH : Float32MatmulPrecision::HIGHEST; }
    void setFloat32MatmulPrecision(const std::string& name) {
        if (name != "highest" && name != "high" && name != "medium") __wb::warn(name,
                                                                                " is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has no effect.");
        else tf32_blas_ = name != "highest";
    }
    bool deterministicAlgorithms() const { return deterministic_; }
    bool deterministicAlgorithmsWarnOnly() const { return warns_; }
    void setDeterministicAlgorithms(bool value, bool warn_only = false) {
        deterministic_ = value;
        warns_ = warn_only;
    }
    void alertNotDeterministic(const std::string& caller) const {
        if (!deterministic_) return;
        if (warns_) __wb::warn(caller,
                               " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True, warn_only=True)'.");
        else __wb::fail(0, "", caller,
                        " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'.");
    }
    bool userEnabledCuDNN() const { return cudnn_; }
    void setUserEnabledCuDNN(bool value) { cudnn_ = value; }
    bool deterministicCuDNN() const { return cudnn_deterministic_; }
    void setDeterministicCuDNN(bool value) { cudnn_deterministic_ = value; }
    bool benchmarkCuDNN() const { return benchmark_; }
    void setBenchmarkCuDNN(bool value) { benchmark_ = value; }
    bool userEnabledMkldnn() const { return mkldnn_; }
    void setUserEnabledMkldnn(bool value) { mkldnn_ = value; }
    static bool hasCUDA() { return true; }
    static bool hasCUDART() { return true; }
    static bool hasCuDNN() { return false; }
    static bool hasMKL() { return false; }
    static bool hasMKLDNN() { return false; }
    static bool hasOpenMP() { return false; }
    static bool hasHIP() { return false; }
    static bool hasROCM() { return false; }
    static bool hasMPS() { return false; }
    static bool hasXPU() { return false; }
    void lazyInitCUDA() {}
    void lazyInitDevice(DeviceType) {}
};
inline Context __wb_context;
inline Context& globalContext() { return __wb_context; }
inline void init() {}
inline bool hasCUDA() { return true; }
inline bool hasCuDNN() { return false; }
inline bool hasMKL() { return false; }
inline bool hasOpenMP() { return false; }
namespace cuda {
using c10::cuda::getStreamFromPool;
using c10::cuda::getStreamFromExternal;
using c10::cuda::setCurrentCUDAStream;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::OptionalCUDAStreamGuard;
using c10::cuda::CUDAMultiStreamGuard;
using c10::cuda::CUDAEvent;
using c10::cuda::device_count;
using c10::cuda::current_device;
using c10::cuda::set_device;
using c10::cuda::device_synchronize;
using c10::cuda::stream_synchronize;
inline bool is_available() { return true; }
inline int64_t getNumGPUs() { return 1; }
inline bool canDeviceAccessPeer(int64_t, int64_t) { return false; }
inline c10::Allocator* getCUDADeviceAllocator() { return c10::cuda::CUDACachingAllocator::get(); }
}
}

namespace torch {
namespace cuda {
inline c10::DeviceIndex device_count() { return 1; }
inline bool is_available() { return true; }
inline bool cudnn_is_available() { return false; }
inline void manual_seed(uint64_t seed) { at::manual_seed(seed); }
inline void manual_seed_all(uint64_t seed) { at::manual_seed(seed); }
inline void synchronize(int64_t device = -1) { c10::cuda::__wb_expect_device(device); }
}
}
