namespace at {

template <typename T> struct DefaultPtrTraits { using PtrType = T*; };
template <typename T> struct RestrictPtrTraits { using PtrType = T* __restrict__; };

// A tensor's elements by their indices; it does not own its extents and strides.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class TensorAccessor {
    typename PtrTraits<T>::PtrType data_;
    const index_t* sizes_;
    const index_t* strides_;

public:
    using PtrType = typename PtrTraits<T>::PtrType;
    __host__ __device__ TensorAccessor(PtrType data, const index_t* sizes, const index_t* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
    __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
    __host__ __device__ const index_t* sizes() const { return sizes_; }
    __host__ __device__ const index_t* strides() const { return strides_; }
    __host__ __device__ PtrType data() { return data_; }
    __host__ __device__ const PtrType data() const { return data_; }
    __host__ __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) {
        return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
    __host__ __device__ const TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
        return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
};
template <typename T, template <typename U> class PtrTraits, typename index_t>
class TensorAccessor<T, 1, PtrTraits, index_t> {
    typename PtrTraits<T>::PtrType data_;
    const index_t* sizes_;
    const index_t* strides_;

public:
    using PtrType = typename PtrTraits<T>::PtrType;
    __host__ __device__ TensorAccessor(PtrType data, const index_t* sizes, const index_t* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
    __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
    __host__ __device__ PtrType data() { return data_; }
    __host__ __device__ const PtrType data() const { return data_; }
    __host__ __device__ T& operator[](index_t i) { return data_[strides_[0] * i]; }
    __host__ __device__ const T& operator[](index_t i) const { return data_[strides_[0] * i]; }
};

// The same with extents and strides of its own: a launch takes it by value.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class GenericPackedTensorAccessor {
    typename PtrTraits<T>::PtrType data_;
    index_t sizes_[N];
    index_t strides_[N];

public:
    using PtrType = typename PtrTraits<T>::PtrType;
    GenericPackedTensorAccessor() = default;
    template <typename I> __host__ __device__ GenericPackedTensorAccessor(PtrType data, const I* sizes, const I* strides) : data_(data) {
        for (size_t i = 0; i < N; ++i) sizes_[i] = (index_t)sizes[i], strides_[i] = (index_t)strides[i];
    }
    __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
    __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
    __host__ __device__ PtrType data() { return data_; }
    __host__ __device__ const PtrType data() const { return data_; }
    __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) {
        return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
    __device__ const TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
        return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
};
template <typename T, template <typename U> class PtrTraits, typename index_t>
class GenericPackedTensorAccessor<T, 1, PtrTraits, index_t> {
    typename PtrTraits<T>::PtrType data_;
    index_t sizes_[1];
    index_t strides_[1];

public:
    using PtrType = typename PtrTraits<T>::PtrType;
    GenericPackedTensorAccessor() = default;
    template <typename I> __host__ __device__ GenericPackedTensorAccessor(PtrType data, const I* sizes, const I* strides) : data_(data) {
        sizes_[0] = (index_t)sizes[0];
        strides_[0] = (index_t)strides[0];
    }
    __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
    __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
    __host__ __device__ PtrType data() { return data_; }
    __host__ __device__ const PtrType data() const { return data_; }
    __device__ T& operator[](index_t i) { return data_[strides_[0] * i]; }
    __device__ const T& operator[](index_t i) const { return data_[strides_[0] * i]; }
};
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;

// The types that elements are computed in, and summed in.
template <typename T> struct OpMathType { using type = T; };
template <typename T> using opmath_type = typename OpMathType<T>::type;
template <typename T, bool is_cuda> struct AccumulateType { using type = T; };
template <> struct AccumulateType<signed char, true> { using type = int64_t; };
template <> struct AccumulateType<unsigned char, true> { using type = int64_t; };
template <> struct AccumulateType<short, true> { using type = int64_t; };
template <> struct AccumulateType<int, true> { using type = int64_t; };
#ifdef __WB_C10_HALVES
template <> struct OpMathType<c10::Half> { using type = float; };
template <> struct OpMathType<c10::BFloat16> { using type = float; };
template <bool is_cuda> struct AccumulateType<c10::Half, is_cuda> { using type = float; };
template <bool is_cuda> struct AccumulateType<c10::BFloat16, is_cuda> { using type = float; };
#endif
template <> struct AccumulateType<float, false> { using type = double; };
template <typename T, bool is_cuda> using acc_type = typename AccumulateType<T, is_cuda>::type;

template <typename T> __host__ __device__ constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <typename T> __host__ __device__ constexpr T round_up(T a, T b) { return ceil_div(a, b) * b; }
namespace cuda {
template <typename T> __host__ __device__ constexpr T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
}

}

namespace c10 {
namespace cuda {
namespace compat {
__device__ inline float abs(float x) { return fabsf(x); }
__device__ inline double abs(double x) { return fabs(x); }
__device__ inline float exp(float x) { return expf(x); }
__device__ inline double exp(double x) { return ::exp(x); }
__device__ inline float ceil(float x) { return ceilf(x); }
__device__ inline double ceil(double x) { return ::ceil(x); }
__device__ inline float copysign(float x, float y) { return copysignf(x, y); }
__device__ inline double copysign(double x, double y) { return ::copysign(x, y); }
__device__ inline float floor(float x) { return floorf(x); }
__device__ inline double floor(double x) { return ::floor(x); }
__device__ inline float log(float x) { return logf(x); }
__device__ inline double log(double x) { return ::log(x); }
__device__ inline float log1p(float x) { return log1pf(x); }
__device__ inline double log1p(double x) { return ::log1p(x); }
__device__ inline float max(float x, float y) { return fmaxf(x, y); }
__device__ inline double max(double x, double y) { return fmax(x, y); }
__device__ inline float min(float x, float y) { return fminf(x, y); }
__device__ inline double min(double x, double y) { return fmin(x, y); }
__device__ inline float pow(float x, float y) { return powf(x, y); }
__device__ inline double pow(double x, double y) { return ::pow(x, y); }
__device__ inline float sqrt(float x) { return sqrtf(x); }
__device__ inline double sqrt(double x) { return ::sqrt(x); }
__device__ inline float rsqrt(float x) { return rsqrtf(x); }
__device__ inline double rsqrt(double x) { return ::rsqrt(x); }
__device__ inline float tan(float x) { return tanf(x); }
__device__ inline double tan(double x) { return ::tan(x); }
__device__ inline float tanh(float x) { return tanhf(x); }
__device__ inline double tanh(double x) { return ::tanh(x); }
__device__ inline float normcdf(float x) { return normcdff(x); }
__device__ inline double normcdf(double x) { return ::normcdf(x); }
}
}
}

template <typename T> __device__ inline T WARP_BALLOT(T predicate, unsigned mask = 0xffffffffu) {
    return __ballot_sync(mask, predicate);
}
template <typename T> __device__ inline T WARP_SHFL(T value, int lane, int width = 32, unsigned mask = 0xffffffffu) {
    return __shfl_sync(mask, value, lane, width);
}
template <typename T> __device__ inline T WARP_SHFL_UP(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffffu) {
    return __shfl_up_sync(mask, value, delta, width);
}
template <typename T> __device__ inline T WARP_SHFL_DOWN(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffffu) {
    return __shfl_down_sync(mask, value, delta, width);
}
template <typename T> __device__ inline T WARP_SHFL_XOR(T value, int bits, int width = 32, unsigned mask = 0xffffffffu) {
    return __shfl_xor_sync(mask, value, bits, width);
}

template <typename T> __device__ inline T gpuAtomicAdd(T* address, T value) { return atomicAdd(address, value); }
template <typename T> __device__ inline void gpuAtomicAddNoReturn(T* address, T value) { atomicAdd(address, value); }
template <typename T> __device__ inline T gpuAtomicMax(T* address, T value) { return atomicMax(address, value); }
template <typename T> __device__ inline T gpuAtomicMin(T* address, T value) { return atomicMin(address, value); }

namespace at {
namespace native {
using ::gpuAtomicAdd;
template <typename T, typename I>
__device__ inline void fastAtomicAdd(T* tensor, I index, const I numel, T value, bool fast) {
    if (index >= 0 && index < numel) gpuAtomicAdd(tensor + index, value);
}
}
}

namespace torch {
using at::DefaultPtrTraits;
using at::RestrictPtrTraits;
using at::TensorAccessor;
using at::GenericPackedTensorAccessor;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::PackedTensorAccessor;
}
