// The CUDA runtime's interface, for host code: one device, which is this machine, and streams that are all one.
enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorAssert = 710,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
using cudaError_t = cudaError;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2 };
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterIoMemory = 4 };
enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};
struct CUstream_st;
using cudaStream_t = CUstream_st*;
// The time when it was recorded last, or -1.
struct CUevent_st {
    double at;
    bool is_timed;
};
using cudaEvent_t = CUevent_st*;
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache { cudaFuncCachePreferNone = 0, cudaFuncCachePreferShared = 1, cudaFuncCachePreferL1 = 2 };
// The device that kernels run on here, described by itself: the CPU, with the limits of launches.
struct cudaDeviceProp {
    char name[256] = "Workbench CPU";
    size_t totalGlobalMem = (size_t)1 << 40;
    size_t sharedMemPerBlock = 49152;
    size_t sharedMemPerBlockOptin = 232448;
    size_t sharedMemPerMultiprocessor = 233472;
    int regsPerBlock = 65536;
    int warpSize = 32;
    int maxThreadsPerBlock = 1024;
    int maxThreadsDim[3] = {1024, 1024, 64};
    int maxGridSize[3] = {2147483647, 65535, 65535};
    int clockRate = 1980000;
    size_t totalConstMem = 65536;
    int major = 9;
    int minor = 0;
    int multiProcessorCount = 1;
    int maxThreadsPerMultiProcessor = 2048;
    int l2CacheSize = 1048576;
};
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (properties == nullptr) return __wb_failed(cudaErrorInvalidValue);
    if (device != 0) return __wb_failed(cudaErrorInvalidDevice);
    *properties = cudaDeviceProp();
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (value == nullptr) return __wb_failed(cudaErrorInvalidValue);
    if (device != 0) return __wb_failed(cudaErrorInvalidDevice);
    cudaDeviceProp properties;
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)properties.sharedMemPerBlock; break;
        case cudaDevAttrWarpSize: *value = properties.warpSize; break;
        case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; break;
        case cudaDevAttrComputeCapabilityMajor: *value = properties.major; break;
        case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)properties.sharedMemPerBlockOptin; break;
        default: return __wb_failed(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) return __wb_failed(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    if (event == nullptr || flags > 7) return __wb_failed(cudaErrorInvalidValue);
    *event = (cudaEvent_t)__wb_alloc(sizeof(CUevent_st));
    (*event)->at = -1;
    (*event)->is_timed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = 0) {
    if (event == nullptr) return __wb_failed(cudaErrorInvalidResourceHandle);
    event->at = __wb_seconds();
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return event == nullptr ? __wb_failed(cudaErrorInvalidResourceHandle) : cudaSuccess;
}
// An event that was not recorded, or is not timed, has no time.
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (milliseconds == nullptr) return __wb_failed(cudaErrorInvalidValue);
    if (start == nullptr || end == nullptr || !start->is_timed || !end->is_timed || start->at < 0 || end->at < 0)
        return __wb_failed(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)((end->at - start->at) * 1e3);
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (event == nullptr) return __wb_failed(cudaErrorInvalidResourceHandle);
    __wb_free(event);
    return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0) { return cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    if (stream == nullptr) return __wb_failed(cudaErrorInvalidValue);
    *stream = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int, int) { return cudaStreamCreate(stream); }
// Every stream that is made here is the null one.
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return stream == nullptr ? cudaSuccess : __wb_failed(cudaErrorInvalidResourceHandle);
}
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = 0;
    return cudaSuccess;
}
// Checks that bytes of a symbol may be copied in a direction: `wrong` is the one of host-to-device and device-to-host that does not fit.
template <typename T>
inline cudaError_t __wb_of_symbol(const T& symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaMemcpyKind wrong) {
    if (kind == cudaMemcpyHostToHost || kind == wrong) return cudaErrorInvalidMemcpyDirection;
    return offset > sizeof(T) || bytes > sizeof(T) - offset ? cudaErrorInvalidValue : cudaSuccess;
}
template <typename T> inline cudaError_t cudaMemcpyToSymbol(
    T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    cudaError_t error = __wb_of_symbol(symbol, bytes, offset, kind, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return __wb_failed(error);
    error = (cudaError_t)__wb_direction((const char*)&symbol, from, kind);
    if (error != cudaSuccess) return __wb_failed(error);
    __wb_write_symbol((char*)&symbol + offset, from, bytes);
    return cudaSuccess;
}
template <typename T> inline cudaError_t cudaMemcpyToSymbolAsync(
    T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = 0) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <typename T> inline cudaError_t cudaMemcpyFromSymbol(
    void* to, const T& symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    cudaError_t error = __wb_of_symbol(symbol, bytes, offset, kind, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) return __wb_failed(error);
    return cudaMemcpy(to, (const char*)&symbol + offset, bytes, kind);
}
template <typename T> inline cudaError_t cudaMemcpyFromSymbolAsync(
    void* to, const T& symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = 0) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
// Memory by its number in the run time (`Source::of_number`): 1 for the device's, 2 for host memory
// that the device reaches, 3 for managed memory. If there is none, the pointer stays as it was.
template <typename T> inline cudaError_t __wb_allocated(T** place, size_t bytes, int64_t number) {
    if (place == nullptr) return __wb_failed(cudaErrorInvalidValue);
    void* made = __wb_alloc_from((int64_t)bytes, number);
    if (made == nullptr) return __wb_failed(cudaErrorMemoryAllocation);
    *place = (T*)made;
    return cudaSuccess;
}
template <typename T> inline cudaError_t cudaMallocAsync(T** place, size_t bytes, cudaStream_t) { return cudaMalloc(place, bytes); }
template <typename T> inline cudaError_t cudaMallocHost(T** place, size_t bytes, unsigned int flags = 0) {
    return flags > 7 ? __wb_failed(cudaErrorInvalidValue) : __wb_allocated(place, bytes, 2);
}
template <typename T> inline cudaError_t cudaMallocManaged(T** place, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return __wb_failed(cudaErrorInvalidValue);
    return __wb_allocated(place, bytes, 3);
}
template <typename T> inline cudaError_t cudaHostAlloc(T** place, size_t bytes, unsigned int flags) { return cudaMallocHost(place, bytes, flags); }
inline cudaError_t cudaHostRegister(void* place, size_t, unsigned int) {
    int64_t code = __wb_register(place, 1);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
inline cudaError_t cudaHostUnregister(void* place) {
    int64_t code = __wb_register(place, 0);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
template <typename T, typename U> inline cudaError_t cudaHostGetDevicePointer(T** place, U* host, unsigned int flags) {
    if (place == nullptr || flags != 0) return __wb_failed(cudaErrorInvalidValue);
    if (__wb_memory_type((const void*)host) != cudaMemoryTypeHost) return __wb_failed(cudaErrorInvalidValue);
    *place = (T*)host;
    return cudaSuccess;
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (attributes == nullptr) return __wb_failed(cudaErrorInvalidValue);
    cudaMemoryType type = (cudaMemoryType)__wb_memory_type(pointer);
    attributes->type = type;
    attributes->device = type == cudaMemoryTypeUnregistered ? -2 : 0;
    attributes->devicePointer = type == cudaMemoryTypeUnregistered ? nullptr : (void*)pointer;
    attributes->hostPointer = type == cudaMemoryTypeDevice ? nullptr : (void*)pointer;
    return cudaSuccess;
}
template <typename T> inline cudaError_t cudaMallocPitch(T** place, size_t* pitch, size_t width, size_t height) {
    if (pitch == nullptr) return __wb_failed(cudaErrorInvalidValue);
    size_t most = cudaDeviceProp().totalGlobalMem;
    if (width > most || (height > 0 && width > most / height)) return __wb_failed(cudaErrorMemoryAllocation);
    size_t row = (width + 511) / 512 * 512;
    cudaError_t error = cudaMalloc(place, row * height);
    if (error == cudaSuccess) *pitch = row;
    return error;
}
template <typename T> inline cudaError_t cudaGetSymbolAddress(void** place, const T& symbol) {
    if (place == nullptr) return __wb_failed(cudaErrorInvalidValue);
    *place = (void*)&symbol;
    return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = 0) { return cudaSuccess; }
inline cudaError_t cudaMemset2D(void* place, size_t pitch, int value, size_t width, size_t height) {
    // The pitch of a single row is ignored.
    if (height > 1 && width > pitch) return __wb_failed(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < height && error == cudaSuccess; ++i) error = cudaMemset((char*)place + i * pitch, value, width);
    return error;
}
inline cudaError_t cudaFreeAsync(void* place, cudaStream_t) { return cudaFree(place); }
inline cudaError_t cudaFreeHost(void* place) {
    int64_t code = __wb_free_from(place, 1);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
template <typename K> inline cudaError_t cudaFuncSetCacheConfig(K, cudaFuncCache) { return cudaSuccess; }
template <typename K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K, size_t = 0, int limit = 0) {
    *grid = 1;
    *block = limit > 0 && limit < 256 ? limit : 256;
    return cudaSuccess;
}
template <typename K> inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K, int threads, size_t) {
    *blocks = 2048 / (threads > 0 ? threads : 1);
    return cudaSuccess;
}
inline cudaError_t __wb_last_error(bool resets) {
    __wb_push_bool(resets);
    __wb_run_op(__wb_host_op("last_error"), 1);
    return (cudaError_t)__wb_pop_int();
}
// The error of a call of the runtime itself, which the next `cudaGetLastError` gives too.
inline cudaError_t __wb_failed(cudaError_t error) {
    __wb_push_int(error);
    __wb_run_op(__wb_host_op("failed"), 1);
    __wb_drop();
    return error;
}
template <typename K> inline cudaError_t cudaFuncSetAttribute(K kernel, cudaFuncAttribute attribute, int value) {
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value < -1 || value > 100 ? __wb_failed(cudaErrorInvalidValue) : cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return __wb_failed(cudaErrorInvalidValue);
    cudaError_t error = (cudaError_t)__wb_allow_shared((const void*)kernel, value);
    return error == cudaSuccess ? error : __wb_failed(error);
}
inline cudaError_t cudaGetLastError() { return __wb_last_error(true); }
inline cudaError_t cudaPeekAtLastError() { return __wb_last_error(false); }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
template <typename K, typename G, typename B> inline cudaError_t cudaLaunchKernel(
    K kernel, G grid, B block, void** args, size_t bytes = 0, cudaStream_t = 0) {
    dim3 g(grid), b(block);
    __wb_launch_kernel((void*)kernel, g.x, g.y, g.z, b.x, b.y, b.z, bytes, (void*)args);
    return cudaPeekAtLastError();
}
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
inline cudaError_t cudaMemGetInfo(size_t* left, size_t* all) {
    if (left == nullptr || all == nullptr) return __wb_failed(cudaErrorInvalidValue);
    *all = cudaDeviceProp().totalGlobalMem;
    *left = *all;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : __wb_failed(cudaErrorInvalidDevice); }
inline cudaError_t cudaGetDevice(int* device) {
    if (device == nullptr) return __wb_failed(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}
inline const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "cudaSuccess";
        case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorInitializationError: return "cudaErrorInitializationError";
        case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
        case cudaErrorInvalidPitchValue: return "cudaErrorInvalidPitchValue";
        case cudaErrorInvalidSymbol: return "cudaErrorInvalidSymbol";
        case cudaErrorInvalidDevicePointer: return "cudaErrorInvalidDevicePointer";
        case cudaErrorInvalidMemcpyDirection: return "cudaErrorInvalidMemcpyDirection";
        case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
        case cudaErrorNoDevice: return "cudaErrorNoDevice";
        case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
        case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
        case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
        case cudaErrorNotReady: return "cudaErrorNotReady";
        case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
        case cudaErrorLaunchOutOfResources: return "cudaErrorLaunchOutOfResources";
        case cudaErrorLaunchTimeout: return "cudaErrorLaunchTimeout";
        case cudaErrorAssert: return "cudaErrorAssert";
        case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
        case cudaErrorNotSupported: return "cudaErrorNotSupported";
        case cudaErrorUnknown: return "cudaErrorUnknown";
        default: return "unrecognized error code";
    }
}
inline const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorInitializationError: return "initialization error";
        case cudaErrorInvalidConfiguration: return "invalid configuration argument";
        case cudaErrorInvalidPitchValue: return "invalid pitch argument";
        case cudaErrorInvalidSymbol: return "invalid device symbol";
        case cudaErrorInvalidDevicePointer: return "invalid device pointer";
        case cudaErrorInvalidMemcpyDirection: return "invalid copy direction for memcpy";
        case cudaErrorInvalidDeviceFunction: return "invalid device function";
        case cudaErrorNoDevice: return "no CUDA-capable device is detected";
        case cudaErrorInvalidDevice: return "invalid device ordinal";
        case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
        case cudaErrorInvalidResourceHandle: return "invalid resource handle";
        case cudaErrorNotReady: return "device not ready";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        case cudaErrorLaunchOutOfResources: return "too many resources requested for launch";
        case cudaErrorLaunchTimeout: return "the launch timed out and was terminated";
        case cudaErrorAssert: return "device-side assert triggered";
        case cudaErrorLaunchFailure: return "unspecified launch failure";
        case cudaErrorNotSupported: return "operation not supported";
        case cudaErrorUnknown: return "unknown error";
        default: return "unrecognized error code";
    }
}
template <typename T> inline cudaError_t cudaMalloc(T** place, size_t bytes) { return __wb_allocated(place, bytes, 1); }
inline cudaError_t cudaFree(void* place) {
    int64_t code = __wb_free_from(place, 0);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    int64_t code = __wb_copy(to, from, bytes, kind);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t = 0) {
    int64_t code = __wb_copy(to, from, bytes, kind);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
inline cudaError_t cudaMemcpy2D(
    void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) return __wb_failed(cudaErrorInvalidPitchValue);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < height && error == cudaSuccess; ++i)
        error = cudaMemcpy((char*)to + i * to_pitch, (const char*)from + i * from_pitch, width, kind);
    return error;
}
inline cudaError_t cudaMemset(void* place, int value, size_t bytes) {
    int64_t code = __wb_fill(place, value, bytes);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
inline cudaError_t cudaMemsetAsync(void* place, int value, size_t bytes, cudaStream_t = 0) {
    int64_t code = __wb_fill(place, value, bytes);
    return code == 0 ? cudaSuccess : __wb_failed((cudaError_t)code);
}
// Names from before CUDA 13.
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaSuccess; }
// NVTX: marks for a profiler; there is none here.
inline int nvtxRangePushA(const char*) { return 0; }
inline int nvtxRangePush(const char*) { return 0; }
inline int nvtxRangePop() { return 0; }
inline void nvtxMarkA(const char*) {}
inline void nvtxMark(const char*) {}
inline unsigned long nvtxRangeStartA(const char*) { return 0; }
inline void nvtxRangeEnd(unsigned long) {}

namespace c10 {
namespace cuda {
struct CUDAStream {
    cudaStream_t stream() const { return nullptr; }
    operator cudaStream_t() const { return nullptr; }
    void synchronize() const {}
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return CUDAStream(); }
inline CUDAStream getDefaultCUDAStream(int = -1) { return CUDAStream(); }
struct CUDAGuard {
    template <typename D> explicit CUDAGuard(const D&) {}
};
struct OptionalCUDAGuard {
    OptionalCUDAGuard() {}
    template <typename D> explicit OptionalCUDAGuard(const D&) {}
};
}
}
namespace at {
namespace cuda {
inline cudaDeviceProp* getCurrentDeviceProperties() {
    cudaDeviceProp* properties = (cudaDeviceProp*)__wb_alloc(sizeof(cudaDeviceProp));
    cudaGetDeviceProperties(properties, 0);
    return properties;
}
inline cudaDeviceProp* getDeviceProperties(int64_t) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 32; }
using c10::cuda::CUDAStream;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::CUDAGuard;
using c10::cuda::OptionalCUDAGuard;
}
inline std::optional<c10::Device> device_of(const Tensor& x) {
    return x.defined() ? std::optional<c10::Device>(x.device()) : std::optional<c10::Device>();
}
}
