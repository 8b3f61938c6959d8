// The CUDA runtime's interface, for host code: one device, which is this machine, and streams that are all one.
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};
struct CUstream_st;
using cudaStream_t = CUstream_st*;
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }
template <typename T> inline cudaError_t cudaMalloc(T** place, size_t bytes) {
    *place = (T*)__wb_alloc(bytes);
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* place) {
    __wb_free(place);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t = 0) {
    memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void* place, int value, size_t bytes) {
    memset(place, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* place, int value, size_t bytes, cudaStream_t = 0) {
    memset(place, value, bytes);
    return cudaSuccess;
}

namespace c10 {
namespace cuda {
struct CUDAStream {
    cudaStream_t stream() const { return nullptr; }
    operator cudaStream_t() const { return nullptr; }
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
