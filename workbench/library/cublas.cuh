// <cublas_v2.h>, for host code: matrices are column-major, so a tensor of rows is the transposed matrix. The work is done by operations on
// tensors; 16-bit floats are summed in `float`. Streams are all one, and scalars are read and written where they lie, in either pointer mode.
enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
// The algorithm has no effect here.
enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1, CUBLAS_GEMM_ALGO2, CUBLAS_GEMM_ALGO3, CUBLAS_GEMM_ALGO4, CUBLAS_GEMM_ALGO5,
    CUBLAS_GEMM_ALGO6, CUBLAS_GEMM_ALGO7, CUBLAS_GEMM_ALGO8, CUBLAS_GEMM_ALGO9, CUBLAS_GEMM_ALGO10, CUBLAS_GEMM_ALGO11,
    CUBLAS_GEMM_ALGO12, CUBLAS_GEMM_ALGO13, CUBLAS_GEMM_ALGO14, CUBLAS_GEMM_ALGO15, CUBLAS_GEMM_ALGO16, CUBLAS_GEMM_ALGO17,
    CUBLAS_GEMM_ALGO18, CUBLAS_GEMM_ALGO19, CUBLAS_GEMM_ALGO20, CUBLAS_GEMM_ALGO21, CUBLAS_GEMM_ALGO22, CUBLAS_GEMM_ALGO23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100, CUBLAS_GEMM_ALGO1_TENSOR_OP, CUBLAS_GEMM_ALGO2_TENSOR_OP, CUBLAS_GEMM_ALGO3_TENSOR_OP,
    CUBLAS_GEMM_ALGO4_TENSOR_OP, CUBLAS_GEMM_ALGO5_TENSOR_OP, CUBLAS_GEMM_ALGO6_TENSOR_OP, CUBLAS_GEMM_ALGO7_TENSOR_OP,
    CUBLAS_GEMM_ALGO8_TENSOR_OP, CUBLAS_GEMM_ALGO9_TENSOR_OP, CUBLAS_GEMM_ALGO10_TENSOR_OP, CUBLAS_GEMM_ALGO11_TENSOR_OP,
    CUBLAS_GEMM_ALGO12_TENSOR_OP, CUBLAS_GEMM_ALGO13_TENSOR_OP, CUBLAS_GEMM_ALGO14_TENSOR_OP, CUBLAS_GEMM_ALGO15_TENSOR_OP
};
enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
// <library_types.h>
enum cudaDataType_t {
    CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_8I = 3, CUDA_C_32F = 4, CUDA_C_64F = 5, CUDA_C_16F = 6, CUDA_C_8I = 7,
    CUDA_R_8U = 8, CUDA_C_8U = 9, CUDA_R_32I = 10, CUDA_C_32I = 11, CUDA_R_32U = 12, CUDA_C_32U = 13, CUDA_R_16BF = 14, CUDA_C_16BF = 15,
    CUDA_R_4I = 16, CUDA_C_4I = 17, CUDA_R_4U = 18, CUDA_C_4U = 19, CUDA_R_16I = 20, CUDA_C_16I = 21, CUDA_R_16U = 22, CUDA_C_16U = 23,
    CUDA_R_64I = 24, CUDA_C_64I = 25, CUDA_R_64U = 26, CUDA_C_64U = 27, CUDA_R_8F_E4M3 = 28, CUDA_R_8F_E5M2 = 29
};
using cudaDataType = cudaDataType_t;
using cublasDataType_t = cudaDataType;
enum libraryPropertyType_t { MAJOR_VERSION = 0, MINOR_VERSION = 1, PATCH_LEVEL = 2 };
using libraryPropertyType = libraryPropertyType_t;

struct cublasContext {
    bool alive = false;
    cudaStream_t stream = nullptr;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};
using cublasHandle_t = cublasContext*;

namespace __wb {

// The enumerations are numbers in messages, and to and from Python.
#define __WB_BLAS_NUMBER(T) \
    template <> struct Value<T> { \
        static void put(T value) { Value<int>::put((int)value); } \
        static T get() { return (T)Value<int>::get(); } \
    };
__WB_BLAS_NUMBER(cublasStatus_t)
__WB_BLAS_NUMBER(cublasOperation_t)
__WB_BLAS_NUMBER(cublasMath_t)
__WB_BLAS_NUMBER(cublasGemmAlgo_t)
__WB_BLAS_NUMBER(cublasComputeType_t)
__WB_BLAS_NUMBER(cudaDataType_t)
#undef __WB_BLAS_NUMBER

// Handles outlive calls, as texts keep them in variables; the first is torch's. If none is free, the oldest is handed out again.
inline cublasContext* blas_context(bool torchs) {
    constexpr int last = 255;
    static cublasContext all[last + 1];
    static int next = 1;
    if (torchs) {
        all[0].alive = true;
        return &all[0];
    }
    int at = next;
    for (int i = 0; i < last && all[at].alive; ++i) at = at % last + 1;
    next = at % last + 1;
    all[at] = cublasContext();
    all[at].alive = true;
    return &all[at];
}
// The value behind a pointer, in memory of either side.
template <typename T> inline T& blas_at(T* at) { return *(T*)__wb_seen((const void*)at); }
inline bool blas_alive(cublasHandle_t handle) { return handle != nullptr && handle->alive; }

inline c10::ScalarType blas_type(cudaDataType type) {
    switch (type) {
        case CUDA_R_16F: return c10::ScalarType::Half;
        case CUDA_R_16BF: return c10::ScalarType::BFloat16;
        case CUDA_R_32F: return c10::ScalarType::Float;
        case CUDA_R_64F: return c10::ScalarType::Double;
        case CUDA_R_8I: return c10::ScalarType::Char;
        case CUDA_R_32I: return c10::ScalarType::Int;
        default: return c10::ScalarType::Undefined;
    }
}

// Reads an element and drops it: if it lies in no memory, the fault names the argument.
inline void blas_touch(const void* place, c10::ScalarType type, int64_t at) {
    switch (type) {
        case c10::ScalarType::Double: { double x = ((const double*)place)[at]; break; }
        case c10::ScalarType::Float: { float x = ((const float*)place)[at]; break; }
        case c10::ScalarType::Int: { int x = ((const int*)place)[at]; break; }
        case c10::ScalarType::Char: { signed char x = ((const signed char*)place)[at]; break; }
        default: { unsigned short x = ((const unsigned short*)place)[at]; }
    }
}

// A scalar, of the compute type.
inline c10::Scalar blas_scalar(const void* pointer, c10::ScalarType type) {
    const void* place = __wb_seen(pointer);
    switch (type) {
        case c10::ScalarType::Double: return *(const double*)place;
        case c10::ScalarType::Half: return (float)*(const __half*)place;
        case c10::ScalarType::Int: return *(const int*)place;
        default: return *(const float*)place;
    }
}

// The place of a matrix: columns are `ld` apart, and matrices of a batch `stride` apart.
struct BlasPlace {
    const void* at;
    c10::ScalarType type;
    int64_t ld;
    int64_t stride;
};

// A matrix, or a batch of them, transposed.
inline at::Tensor blas_columns(const BlasPlace& place, int64_t rows, int64_t columns, int64_t batch = 1) {
    if (rows == 0 || columns == 0) return batch == 1 ? at::empty({columns, rows}, place.type) : at::empty({batch, columns, rows}, place.type);
    blas_touch(place.at, place.type, 0);
    blas_touch(place.at, place.type, (batch - 1) * place.stride + (columns - 1) * place.ld + rows - 1);
    if (batch == 1) return at::from_blob((void*)place.at, {columns, rows}, {place.ld, 1}, place.type);
    return at::from_blob((void*)place.at, {batch, columns, rows}, {place.stride, place.ld, 1}, place.type);
}
// The transpose of `op` of it; `op` of it has so many rows.
inline at::Tensor blas_operand(const BlasPlace& place, cublasOperation_t op, int64_t rows, int64_t columns, int64_t batch = 1) {
    if (op == CUBLAS_OP_N) return blas_columns(place, rows, columns, batch);
    return blas_columns(place, columns, rows, batch).transpose(-2, -1);
}
inline bool blas_is_op(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }
inline int64_t blas_least(int64_t n) { return n > 1 ? n : 1; }

// `c = alpha a b + beta c`; an operand with the factor 0 is not read, so its NaNs do not matter.
inline void blas_multiply(const at::Tensor& c, at::Tensor a, at::Tensor b, const c10::Scalar& alpha, const c10::Scalar& beta,
                          c10::ScalarType compute) {
    bool fresh = beta.toDouble() == 0;
    if (alpha.toDouble() == 0 || a.numel() == 0) {
        if (fresh) c.zero_();
        else if (beta.toDouble() != 1) c.copy_(c.to(compute).mul(beta));
        return;
    }
    if (a.scalar_type() != compute) a = a.to(compute);
    if (b.scalar_type() != compute) b = b.to(compute);
    if (alpha.toDouble() == 1 && fresh) {
        c.copy_(a.matmul(b));
    } else if (c.dim() == 2) {
        c.addmm_(a, b, beta, alpha);
    } else {
        at::Tensor made = a.matmul(b).mul(alpha);
        c.copy_(fresh ? made : made.add(c.to(compute), beta));
    }
}

inline cublasStatus_t blas_check_gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                                      int64_t k, const void* alpha, int64_t lda, int64_t ldb, const void* beta, int64_t ldc,
                                      int64_t batch) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool fits = blas_is_op(transa) && blas_is_op(transb) && m >= 0 && n >= 0 && k >= 0 && batch >= 0 && alpha && beta;
    fits = fits && lda >= blas_least(transa == CUBLAS_OP_N ? m : k) && ldb >= blas_least(transb == CUBLAS_OP_N ? k : n);
    return fits && ldc >= blas_least(m) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline void blas_gemm_one(cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const c10::Scalar& alpha,
                          const BlasPlace& a, const BlasPlace& b, const c10::Scalar& beta, const BlasPlace& c, int64_t batch,
                          c10::ScalarType compute) {
    at::Tensor out = blas_columns(c, m, n, batch);
    if (alpha.toDouble() == 0) k = 0;
    blas_multiply(out, blas_operand(b, transb, k, n, batch), blas_operand(a, transa, m, k, batch), alpha, beta, compute);
}
inline cublasStatus_t blas_gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                const void* alpha, const BlasPlace& a, const BlasPlace& b, const void* beta, const BlasPlace& c,
                                int64_t batch, c10::ScalarType compute, c10::ScalarType scale) {
    cublasStatus_t status = blas_check_gemm(handle, transa, transb, m, n, k, alpha, a.ld, b.ld, beta, c.ld, batch);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (batch > 1 && (a.stride < 0 || b.stride < 0 || c.stride < 0)) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    blas_gemm_one(transa, transb, m, n, k, blas_scalar(alpha, scale), a, b, blas_scalar(beta, scale), c, batch, compute);
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t blas_gemm_batched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                                        int64_t k, const void* alpha, const void* const a[], c10::ScalarType a_type, int64_t lda,
                                        const void* const b[], c10::ScalarType b_type, int64_t ldb, const void* beta, void* const c[],
                                        c10::ScalarType c_type, int64_t ldc, int64_t batch, c10::ScalarType compute,
                                        c10::ScalarType scale) {
    cublasStatus_t status = blas_check_gemm(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batch);
    if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0) return status;
    c10::Scalar by = blas_scalar(alpha, scale), keep = blas_scalar(beta, scale);
    for (int64_t i = 0; i < batch; ++i) {
        BlasPlace first{blas_at(a + i), a_type, lda, 0}, second{blas_at(b + i), b_type, ldb, 0}, out{blas_at(c + i), c_type, ldc, 0};
        blas_gemm_one(transa, transb, m, n, k, by, first, second, keep, out, 1, compute);
    }
    return CUBLAS_STATUS_SUCCESS;
}

// The compute type of products with types, and the type of their scalars: only the combinations of cuBLAS.
struct BlasCompute {
    bool known = false;
    c10::ScalarType compute = c10::ScalarType::Float;
    c10::ScalarType scale = c10::ScalarType::Float;
};
inline BlasCompute blas_compute(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t type) {
    BlasCompute found;
    switch (type) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            found.known = a == CUDA_R_16F && b == a && c == a;
            found.scale = c10::ScalarType::Half;
            break;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            found.known = a == CUDA_R_64F && b == a && c == a;
            found.compute = found.scale = c10::ScalarType::Double;
            break;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            found.known = a == CUDA_R_8I && b == a && c == CUDA_R_32I;
            found.compute = found.scale = c10::ScalarType::Int;
            break;
        case CUBLAS_COMPUTE_32F:
        case CUBLAS_COMPUTE_32F_PEDANTIC: {
            bool narrow = a == CUDA_R_16F || a == CUDA_R_16BF || a == CUDA_R_32F;
            found.known = b == a && (narrow && (c == a || c == CUDA_R_32F) || a == CUDA_R_8I && c == CUDA_R_32F);
            break;
        }
        case CUBLAS_COMPUTE_32F_FAST_16F:
        case CUBLAS_COMPUTE_32F_FAST_16BF:
        case CUBLAS_COMPUTE_32F_FAST_TF32: found.known = a == CUDA_R_32F && b == a && c == a; break;
        default: break;
    }
    return found;
}
// The compute type for a data type, as before CUDA 11.
inline cublasComputeType_t blas_compute_type(cudaDataType type) {
    switch (type) {
        case CUDA_R_16F: return CUBLAS_COMPUTE_16F;
        case CUDA_R_32F: return CUBLAS_COMPUTE_32F;
        case CUDA_R_64F: return CUBLAS_COMPUTE_64F;
        case CUDA_R_32I: return CUBLAS_COMPUTE_32I;
        default: return (cublasComputeType_t)0;
    }
}

// A vector; with a negative step the first element is the last in memory. A reversed vector is a copy, to be written back by `blas_store`.
template <typename T> inline at::Tensor blas_span(const T* x, int64_t n, int64_t step) {
    constexpr c10::ScalarType type = c10::CppTypeToScalarType<T>::value;
    int64_t distance = step < 0 ? -step : step;
    if (n > 0) {
        blas_touch(x, type, 0);
        blas_touch(x, type, (n - 1) * distance);
    }
    return at::from_blob((void*)x, {n}, {distance}, type);
}
template <typename T> inline at::Tensor blas_vector(const T* x, int64_t n, int64_t step) {
    at::Tensor span = blas_span(x, n, step);
    return step < 0 ? span.flip(0) : span;
}
template <typename T> inline void blas_store(T* x, int64_t n, int64_t step, const at::Tensor& value) {
    blas_span(x, n, step).copy_(step < 0 ? value.flip(0) : value);
}
template <typename T> inline BlasPlace blas_place(const T* x, int64_t ld, int64_t stride = 0) {
    return BlasPlace{x, c10::CppTypeToScalarType<T>::value, ld, stride};
}

template <typename T> inline cublasStatus_t blas_axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (n <= 0 || blas_at(alpha) == 0) return CUBLAS_STATUS_SUCCESS;
    blas_store(y, n, incy, blas_vector(y, n, incy).add(blas_vector(x, n, incx), blas_at(alpha)));
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    blas_at(result) = 0;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor a = blas_vector(x, n, incx).to(c10::kDouble), b = blas_vector(y, n, incy).to(c10::kDouble);
    blas_at(result) = (T)a.dot(b).template item<double>();
    return CUBLAS_STATUS_SUCCESS;
}
// Norms and the like of a vector: zero for an empty one, and for steps that are not positive.
template <typename T> inline cublasStatus_t blas_nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    blas_at(result) = 0;
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    // The largest element scales the others first: squares neither overflow nor vanish.
    at::Tensor a = blas_span(x, n, incx).to(c10::kDouble);
    double most = a.abs().max().template item<double>();
    if (most == 0 || most != most || most > 1.7976931348623157e308) {
        blas_at(result) = (T)most;
        return CUBLAS_STATUS_SUCCESS;
    }
    a = a.div(most);
    blas_at(result) = (T)(most * sqrt(a.dot(a).template item<double>()));
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_asum(cublasHandle_t handle, int n, const T* x, int incx, T* result) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    blas_at(result) = 0;
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    blas_at(result) = (T)blas_span(x, n, incx).to(c10::kDouble).abs().sum().template item<double>();
    return CUBLAS_STATUS_SUCCESS;
}
// Places count from 1.
template <typename T> inline cublasStatus_t blas_iam(cublasHandle_t handle, int n, const T* x, int incx, int* result, bool most) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    blas_at(result) = 0;
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor a = blas_span(x, n, incx).abs();
    blas_at(result) = (int)(most ? a.argmax() : a.argmin()).template item<int64_t>() + 1;
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (n > 0 && incx > 0) blas_span(x, n, incx).mul_(blas_at(alpha));
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n > 0) blas_store(y, n, incy, blas_vector(x, n, incx));
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor kept = blas_vector(x, n, incx).clone();
    blas_store(x, n, incx, blas_vector(y, n, incy));
    blas_store(y, n, incy, kept);
    return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
inline cublasStatus_t blas_gemv(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, c10::Scalar alpha, const T* a,
                                int64_t lda, const T* x, int64_t incx, c10::Scalar beta, T* y, int64_t incy) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!blas_is_op(trans) || m < 0 || n < 0 || lda < blas_least(m) || incx == 0 || incy == 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    int64_t rows = trans == CUBLAS_OP_N ? m : n, columns = trans == CUBLAS_OP_N ? n : m;
    c10::ScalarType compute = c10::CppTypeToScalarType<T>::value == c10::kDouble ? c10::kDouble : c10::kFloat;
    at::Tensor made;
    if (alpha.toDouble() != 0) {
        at::Tensor matrix = blas_operand(blas_place(a, lda), trans, rows, columns).t();
        made = matrix.to(compute).mv(blas_vector(x, columns, incx).to(compute)).mul(alpha);
    }
    if (beta.toDouble() != 0) {
        at::Tensor kept = blas_vector(y, rows, incy).to(compute).mul(beta);
        made = made.defined() ? made.add(kept) : kept;
    }
    blas_store(y, rows, incy, made.defined() ? made : at::zeros({rows}, compute));
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_ger(
    cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a, int lda) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || incx == 0 || incy == 0 || lda < blas_least(m) || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || blas_at(alpha) == 0) return CUBLAS_STATUS_SUCCESS;
    blas_columns(blas_place(a, lda), m, n).add_(blas_vector(y, n, incy).outer(blas_vector(x, m, incx)), blas_at(alpha));
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_geam(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, const T* alpha, const T* a, int lda,
    const T* beta, const T* b, int ldb, T* c, int ldc) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!blas_is_op(transa) || !blas_is_op(transb) || m < 0 || n < 0 || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (lda < blas_least(transa == CUBLAS_OP_N ? m : n) || ldb < blas_least(transb == CUBLAS_OP_N ? m : n) || ldc < blas_least(m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor out = blas_columns(blas_place(c, ldc), m, n), made;
    if (blas_at(alpha) != 0) made = blas_operand(blas_place(a, lda), transa, m, n).mul(blas_at(alpha));
    if (blas_at(beta) != 0) {
        at::Tensor other = blas_operand(blas_place(b, ldb), transb, m, n);
        made = made.defined() ? made.add(other, blas_at(beta)) : other.mul(blas_at(beta));
    }
    if (made.defined()) out.copy_(made);
    else out.zero_();
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_dgmm(
    cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* a, int lda, const T* x, int incx, T* c, int ldc) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || lda < blas_least(m) || ldc < blas_least(m)) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor by = side == CUBLAS_SIDE_LEFT ? blas_vector(x, m, incx) : blas_vector(x, n, incx).unsqueeze(1);
    blas_columns(blas_place(c, ldc), m, n).copy_(blas_columns(blas_place(a, lda), m, n).mul(by));
    return CUBLAS_STATUS_SUCCESS;
}

inline bool blas_is_fill(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER; }
// A triangle of a matrix, transposed, without the elements outside of it; `unit`: with ones on the diagonal.
template <typename T> inline at::Tensor blas_triangle(const T* a, int64_t lda, int64_t n, cublasFillMode_t uplo, bool unit) {
    at::Tensor all = blas_columns(blas_place(a, lda), n, n);
    int64_t from = unit ? 1 : 0;
    at::Tensor kept = uplo == CUBLAS_FILL_MODE_LOWER ? all.triu(from) : all.tril(-from);
    return unit ? kept.add(at::eye(n, all.scalar_type())) : kept;
}
template <typename T> inline cublasStatus_t blas_syrk(
    cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const T* alpha, const T* a, int lda, const T* beta,
    T* c, int ldc) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!blas_is_fill(uplo) || !blas_is_op(trans) || n < 0 || k < 0 || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (lda < blas_least(trans == CUBLAS_OP_N ? n : k) || ldc < blas_least(n)) return CUBLAS_STATUS_INVALID_VALUE;
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor out = blas_columns(blas_place(c, ldc), n, n);
    at::Tensor factor = blas_operand(blas_place(a, lda), trans, n, blas_at(alpha) == 0 ? 0 : k);
    at::Tensor made = out.clone();
    blas_multiply(made, factor.t(), factor, blas_at(alpha), blas_at(beta), out.scalar_type());
    at::Tensor ones = at::ones({n, n}, c10::kBool);
    out.copy_(at::where(uplo == CUBLAS_FILL_MODE_LOWER ? ones.triu() : ones.tril(), made, out));
    return CUBLAS_STATUS_SUCCESS;
}
template <typename T> inline cublasStatus_t blas_symm(
    cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const T* alpha, const T* a, int lda, const T* b,
    int ldb, const T* beta, T* c, int ldc) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    int order = side == CUBLAS_SIDE_LEFT ? m : n;
    if (!blas_is_fill(uplo) || m < 0 || n < 0 || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (lda < blas_least(order) || ldb < blas_least(m) || ldc < blas_least(m)) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor half = blas_triangle(a, lda, order, uplo, false);
    at::Tensor whole = half.add(uplo == CUBLAS_FILL_MODE_LOWER ? half.triu(1).t() : half.tril(-1).t());
    at::Tensor other = blas_columns(blas_place(b, ldb), m, n), out = blas_columns(blas_place(c, ldc), m, n);
    bool left = side == CUBLAS_SIDE_LEFT;
    blas_multiply(out, left ? other : whole, left ? whole : other, blas_at(alpha), blas_at(beta), out.scalar_type());
    return CUBLAS_STATUS_SUCCESS;
}
inline bool blas_is_triangular(cublasFillMode_t uplo, cublasOperation_t trans, int m, int n, int order, int lda, int ldb) {
    return blas_is_fill(uplo) && blas_is_op(trans) && m >= 0 && n >= 0 && lda >= blas_least(order) && ldb >= blas_least(m);
}
template <typename T> inline cublasStatus_t blas_trmm(
    cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
    const T* alpha, const T* a, int lda, const T* b, int ldb, T* c, int ldc) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool left = side == CUBLAS_SIDE_LEFT;
    int order = left ? m : n;
    if (!blas_is_triangular(uplo, trans, m, n, order, lda, ldb) || ldc < blas_least(m) || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor out = blas_columns(blas_place(c, ldc), m, n), other = blas_columns(blas_place(b, ldb), m, n);
    at::Tensor factor = blas_triangle(a, lda, order, uplo, diag == CUBLAS_DIAG_UNIT);
    if (trans != CUBLAS_OP_N) factor = factor.t();
    blas_multiply(out, left ? other : factor, left ? factor : other, blas_at(alpha), 0.0, out.scalar_type());
    return CUBLAS_STATUS_SUCCESS;
}
// `x` such that `l x = b`, with `l` a lower triangle, in `b`: by blocks of rows, in `double`.
inline void blas_solve(const at::Tensor& l, const at::Tensor& b, bool unit) {
    constexpr int64_t block = 64;
    int64_t n = l.size(0);
    for (int64_t from = 0; from < n; from += block) {
        int64_t rows = n - from < block ? n - from : block;
        at::Tensor part = b.narrow(0, from, rows), line = l.narrow(0, from, rows);
        if (from > 0) part.sub_(line.narrow(1, 0, from).matmul(b.narrow(0, 0, from)));
        at::Tensor square = line.narrow(1, from, rows);
        for (int64_t i = 0; i < rows; ++i) {
            at::Tensor row = part.select(0, i);
            if (i > 0) row.sub_(square.select(0, i).narrow(0, 0, i).matmul(part.narrow(0, 0, i)));
            if (!unit) row.div_(square.select(0, i).select(0, i));
        }
    }
}
template <typename T> inline cublasStatus_t blas_trsm(
    cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
    const T* alpha, const T* a, int lda, T* b, int ldb) {
    if (!blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool left = side == CUBLAS_SIDE_LEFT, lower = uplo == CUBLAS_FILL_MODE_LOWER;
    int order = left ? m : n;
    if (!blas_is_triangular(uplo, trans, m, n, order, lda, ldb) || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    at::Tensor out = blas_columns(blas_place(b, ldb), m, n);
    if (blas_at(alpha) == 0) {
        out.zero_();
        return CUBLAS_STATUS_SUCCESS;
    }
    // The equation is `op(A) X = B` for a factor on the left, `op(A)' X' = B'` for one on the right; `out` is `B'`, and `factor` is `A'`.
    bool unit = diag == CUBLAS_DIAG_UNIT, turned = left == (trans == CUBLAS_OP_N);
    at::Tensor factor = blas_triangle(a, lda, order, uplo, unit).to(c10::kDouble);
    if (turned) factor = factor.t();
    at::Tensor solved = (left ? out.t() : out).to(c10::kDouble).mul((double)blas_at(alpha));
    if (lower == turned) {
        blas_solve(factor, solved, unit);
    } else {
        at::Tensor back = solved.flip(0);
        blas_solve(factor.flip({0, 1}), back, unit);
        solved = back.flip(0);
    }
    out.copy_(left ? solved.t() : solved);
    return CUBLAS_STATUS_SUCCESS;
}

}

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = __wb::blas_context(false);
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    if (!__wb::blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->alive = false;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUDART_VERSION / 1000 * 10000 + CUDART_VERSION % 1000 / 10 * 100;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
    if (!value) return CUBLAS_STATUS_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? CUDART_VERSION / 1000 : type == MINOR_VERSION ? CUDART_VERSION % 1000 / 10 : 0;
    return CUBLAS_STATUS_SUCCESS;
}
inline size_t cublasGetCudartVersion() { return CUDART_VERSION; }
#define __WB_BLAS_SETTING(name, T, member) \
    inline cublasStatus_t cublasSet##name(cublasHandle_t handle, T value) { \
        if (!__wb::blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED; \
        handle->member = value; \
        return CUBLAS_STATUS_SUCCESS; \
    } \
    inline cublasStatus_t cublasGet##name(cublasHandle_t handle, T* value) { \
        if (!__wb::blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED; \
        if (!value) return CUBLAS_STATUS_INVALID_VALUE; \
        *value = handle->member; \
        return CUBLAS_STATUS_SUCCESS; \
    }
__WB_BLAS_SETTING(Stream, cudaStream_t, stream)
__WB_BLAS_SETTING(MathMode, cublasMath_t, math)
__WB_BLAS_SETTING(PointerMode, cublasPointerMode_t, pointers)
__WB_BLAS_SETTING(AtomicsMode, cublasAtomicsMode_t, atomics)
#undef __WB_BLAS_SETTING
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) {
    return __wb::blas_alive(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
        case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
        case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
        case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
        case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
        case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
        case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
        case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
        case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
        case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
        default: return "unrecognized cuBLAS status";
    }
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS: return "success";
        case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
        case CUBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
        case CUBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
        case CUBLAS_STATUS_ARCH_MISMATCH: return "the function requires a feature that the device does not have";
        case CUBLAS_STATUS_MAPPING_ERROR: return "an access to GPU memory space failed";
        case CUBLAS_STATUS_EXECUTION_FAILED: return "the GPU program failed to execute";
        case CUBLAS_STATUS_INTERNAL_ERROR: return "an internal operation failed";
        case CUBLAS_STATUS_NOT_SUPPORTED: return "the functionality requested is not supported";
        case CUBLAS_STATUS_LICENSE_ERROR: return "the functionality requested requires a license";
        default: return "unrecognized cuBLAS status";
    }
}

// Copies between host and device, element by element.
namespace __wb {
inline cublasStatus_t blas_copy_vector(
    int n, int size, const void* x, int incx, void* y, int incy, cudaMemcpyKind kind) {
    if (n < 0 || size <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (incx == 1 && incy == 1) {
        return cudaMemcpy(y, x, (size_t)n * size, kind) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
    }
    for (int64_t i = 0; i < n; ++i)
        if (cudaMemcpy((char*)y + i * incy * size, (const char*)x + i * incx * size, size, kind) != cudaSuccess)
            return CUBLAS_STATUS_MAPPING_ERROR;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t blas_copy_matrix(
    int rows, int columns, int size, const void* a, int lda, void* b, int ldb, cudaMemcpyKind kind) {
    if (rows < 0 || columns < 0 || size <= 0 || lda < blas_least(rows) || ldb < blas_least(rows))
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int64_t i = 0; i < columns; ++i)
        if (cudaMemcpy((char*)b + i * ldb * size, (const char*)a + i * lda * size, (size_t)rows * size, kind) != cudaSuccess)
            return CUBLAS_STATUS_MAPPING_ERROR;
    return CUBLAS_STATUS_SUCCESS;
}
}
inline cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* y, int incy) {
    return __wb::blas_copy_vector(n, size, x, incx, y, incy, cudaMemcpyHostToDevice);
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb) {
    return __wb::blas_copy_matrix(rows, columns, size, a, lda, b, ldb, cudaMemcpyHostToDevice);
}
inline cublasStatus_t cublasGetVector(int n, int size, const void* x, int incx, void* y, int incy) {
    return __wb::blas_copy_vector(n, size, x, incx, y, incy, cudaMemcpyDeviceToHost);
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb) {
    return __wb::blas_copy_matrix(rows, columns, size, a, lda, b, ldb, cudaMemcpyDeviceToHost);
}
inline cublasStatus_t cublasSetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy, cudaStream_t) {
    return cublasSetVector(n, size, x, incx, y, incy);
}
inline cublasStatus_t cublasGetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy, cudaStream_t) {
    return cublasGetVector(n, size, x, incx, y, incy);
}
inline cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void* a, int lda, void* b, int ldb, cudaStream_t) {
    return cublasSetMatrix(rows, columns, size, a, lda, b, ldb);
}
inline cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void* a, int lda, void* b, int ldb, cudaStream_t) {
    return cublasGetMatrix(rows, columns, size, a, lda, b, ldb);
}

// Products of matrices: the type, and the type of sums.
#define __WB_BLAS_GEMM(name, T, compute) \
    inline cublasStatus_t cublas##name##gemm( \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, const T* A, \
        int lda, const T* B, int ldb, const T* beta, T* C, int ldc) { \
        return __wb::blas_gemm(handle, transa, transb, m, n, k, alpha, __wb::blas_place(A, lda), __wb::blas_place(B, ldb), beta, \
                               __wb::blas_place(C, ldc), 1, c10::ScalarType::compute, c10::CppTypeToScalarType<T>::value); \
    } \
    inline cublasStatus_t cublas##name##gemmStridedBatched( \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, const T* A, \
        int lda, long long int strideA, const T* B, int ldb, long long int strideB, const T* beta, T* C, int ldc, \
        long long int strideC, int batchCount) { \
        return __wb::blas_gemm(handle, transa, transb, m, n, k, alpha, __wb::blas_place(A, lda, strideA), \
                               __wb::blas_place(B, ldb, strideB), beta, __wb::blas_place(C, ldc, strideC), batchCount, \
                               c10::ScalarType::compute, c10::CppTypeToScalarType<T>::value); \
    } \
    inline cublasStatus_t cublas##name##gemmBatched( \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, \
        const T* const Aarray[], int lda, const T* const Barray[], int ldb, const T* beta, T* const Carray[], int ldc, \
        int batchCount) { \
        constexpr c10::ScalarType type = c10::CppTypeToScalarType<T>::value; \
        return __wb::blas_gemm_batched(handle, transa, transb, m, n, k, alpha, (const void* const*)Aarray, type, lda, \
                                       (const void* const*)Barray, type, ldb, beta, (void* const*)Carray, type, ldc, batchCount, \
                                       c10::ScalarType::compute, type); \
    }
__WB_BLAS_GEMM(S, float, Float)
__WB_BLAS_GEMM(D, double, Double)
__WB_BLAS_GEMM(H, __half, Float)
#undef __WB_BLAS_GEMM

inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void* alpha, const void* A,
    cudaDataType Atype, int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb, long long int strideB,
    const void* beta, void* C, cudaDataType Ctype, int ldc, long long int strideC, int batchCount, cublasComputeType_t computeType,
    cublasGemmAlgo_t) {
    __wb::BlasCompute types = __wb::blas_compute(Atype, Btype, Ctype, computeType);
    if (!__wb::blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!types.known) return CUBLAS_STATUS_NOT_SUPPORTED;
    __wb::BlasPlace a{A, __wb::blas_type(Atype), lda, strideA}, b{B, __wb::blas_type(Btype), ldb, strideB},
        c{C, __wb::blas_type(Ctype), ldc, strideC};
    return __wb::blas_gemm(handle, transa, transb, m, n, k, alpha, a, b, beta, c, batchCount, types.compute, types.scale);
}
inline cublasStatus_t cublasGemmEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void* alpha, const void* A,
    cudaDataType Atype, int lda, const void* B, cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
    cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, 0, B, Btype, ldb, 0, beta, C, Ctype, ldc, 0,
                                      1, computeType, algo);
}
inline cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void* alpha,
    const void* const Aarray[], cudaDataType Atype, int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
    void* const Carray[], cudaDataType Ctype, int ldc, int batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t) {
    __wb::BlasCompute types = __wb::blas_compute(Atype, Btype, Ctype, computeType);
    if (!__wb::blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!types.known) return CUBLAS_STATUS_NOT_SUPPORTED;
    return __wb::blas_gemm_batched(handle, transa, transb, m, n, k, alpha, Aarray, __wb::blas_type(Atype), lda, Barray,
                                   __wb::blas_type(Btype), ldb, beta, Carray, __wb::blas_type(Ctype), ldc, batchCount, types.compute,
                                   types.scale);
}
// The form before CUDA 11.
inline cublasStatus_t cublasGemmEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void* alpha, const void* A,
    cudaDataType Atype, int lda, const void* B, cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
    cudaDataType computeType, cublasGemmAlgo_t algo) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                        __wb::blas_compute_type(computeType), algo);
}
inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void* alpha, const void* A,
    cudaDataType Atype, int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb, long long int strideB,
    const void* beta, void* C, cudaDataType Ctype, int ldc, long long int strideC, int batchCount, cudaDataType computeType,
    cublasGemmAlgo_t algo) {
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, strideA, B, Btype, ldb, strideB, beta, C,
                                      Ctype, ldc, strideC, batchCount, __wb::blas_compute_type(computeType), algo);
}
inline cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void* alpha,
    const void* const Aarray[], cudaDataType Atype, int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
    void* const Carray[], cudaDataType Ctype, int ldc, int batchCount, cudaDataType computeType, cublasGemmAlgo_t algo) {
    return cublasGemmBatchedEx(handle, transa, transb, m, n, k, alpha, Aarray, Atype, lda, Barray, Btype, ldb, beta, Carray, Ctype, ldc,
                               batchCount, __wb::blas_compute_type(computeType), algo);
}
inline cublasStatus_t cublasSgemmEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const float* alpha, const void* A,
    cudaDataType Atype, int lda, const void* B, cudaDataType Btype, int ldb, const float* beta, void* C, cudaDataType Ctype, int ldc) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
}

// The remaining functions, for `float` and `double`.
#define __WB_BLAS(S, s, T) \
    inline cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy) { \
        return __wb::blas_axpy(handle, n, alpha, x, incx, y, incy); \
    } \
    inline cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result) { \
        return __wb::blas_dot(handle, n, x, incx, y, incy, result); \
    } \
    inline cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result) { \
        return __wb::blas_nrm2(handle, n, x, incx, result); \
    } \
    inline cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T* x, int incx, T* result) { \
        return __wb::blas_asum(handle, n, x, incx, result); \
    } \
    inline cublasStatus_t cublasI##s##amax(cublasHandle_t handle, int n, const T* x, int incx, int* result) { \
        return __wb::blas_iam(handle, n, x, incx, result, true); \
    } \
    inline cublasStatus_t cublasI##s##amin(cublasHandle_t handle, int n, const T* x, int incx, int* result) { \
        return __wb::blas_iam(handle, n, x, incx, result, false); \
    } \
    inline cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) { \
        return __wb::blas_scal(handle, n, alpha, x, incx); \
    } \
    inline cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) { \
        return __wb::blas_copy(handle, n, x, incx, y, incy); \
    } \
    inline cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) { \
        return __wb::blas_swap(handle, n, x, incx, y, incy); \
    } \
    inline cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha, const T* A, \
                                          int lda, const T* x, int incx, const T* beta, T* y, int incy) { \
        if (!__wb::blas_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED; \
        if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE; \
        return __wb::blas_gemv(handle, trans, m, n, __wb::blas_at(alpha), A, lda, x, incx, __wb::blas_at(beta), y, incy); \
    } \
    inline cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, \
                                         int incy, T* A, int lda) { \
        return __wb::blas_ger(handle, m, n, alpha, x, incx, y, incy, A, lda); \
    } \
    inline cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, \
                                          const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, int ldc) { \
        return __wb::blas_geam(handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc); \
    } \
    inline cublasStatus_t cublas##S##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* A, int lda, const T* x, \
                                          int incx, T* C, int ldc) { \
        return __wb::blas_dgmm(handle, side, m, n, A, lda, x, incx, C, ldc); \
    } \
    inline cublasStatus_t cublas##S##syrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, \
                                          const T* alpha, const T* A, int lda, const T* beta, T* C, int ldc) { \
        return __wb::blas_syrk(handle, uplo, trans, n, k, alpha, A, lda, beta, C, ldc); \
    } \
    inline cublasStatus_t cublas##S##symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, \
                                          const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta, T* C, int ldc) { \
        return __wb::blas_symm(handle, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc); \
    } \
    inline cublasStatus_t cublas##S##trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, \
                                          cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, \
                                          int lda, const T* B, int ldb, T* C, int ldc) { \
        return __wb::blas_trmm(handle, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, C, ldc); \
    } \
    inline cublasStatus_t cublas##S##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, \
                                          cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, \
                                          int lda, T* B, int ldb) { \
        return __wb::blas_trsm(handle, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb); \
    }
__WB_BLAS(S, s, float)
__WB_BLAS(D, d, double)
#undef __WB_BLAS

// <ATen/cuda/CUDAContext.h>, <ATen/cuda/CUDABlas.h>, <ATen/cuda/Exceptions.h>
namespace at {
namespace cuda {
inline cublasHandle_t getCurrentCUDABlasHandle() { return __wb::blas_context(true); }
namespace blas {
inline const char* _cublasGetErrorEnum(cublasStatus_t error) { return cublasGetStatusName(error); }
inline cublasOperation_t __wb_op_of(char trans) {
    switch (trans) {
        case 'n':
        case 'N': return CUBLAS_OP_N;
        case 't':
        case 'T': return CUBLAS_OP_T;
        case 'c':
        case 'C': return CUBLAS_OP_C;
        default: break;
    }
    __wb::fail(0, "", "trans must be one of: N, T, C");
    return CUBLAS_OP_N;
}
inline void __wb_expect(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) __wb::fail(0, "", "CUDA error: ", cublasGetStatusName(status), " when calling `", what, "`");
}
template <typename T> inline void bgemm(
    char transa, char transb, int64_t m, int64_t n, int64_t k, at::opmath_type<T> alpha, const T* a, int64_t lda, int64_t stridea,
    const T* b, int64_t ldb, int64_t strideb, at::opmath_type<T> beta, T* c, int64_t ldc, int64_t stridec, int64_t num_batches) {
    cublasOperation_t opa = __wb_op_of(transa), opb = __wb_op_of(transb);
    // The leading dimension of a single row or column is ignored.
    if (n <= 1) ldc = __wb::blas_least(m);
    if ((opa == CUBLAS_OP_N ? k : m) <= 1) lda = __wb::blas_least(opa == CUBLAS_OP_N ? m : k);
    if ((opb == CUBLAS_OP_N ? n : k) <= 1) ldb = __wb::blas_least(opb == CUBLAS_OP_N ? k : n);
    constexpr c10::ScalarType compute = c10::CppTypeToScalarType<at::opmath_type<T>>::value;
    __wb_expect(__wb::blas_gemm(getCurrentCUDABlasHandle(), opa, opb, m, n, k, &alpha, __wb::blas_place(a, lda, stridea),
                                __wb::blas_place(b, ldb, strideb), &beta, __wb::blas_place(c, ldc, stridec), num_batches, compute, compute),
                "gemm");
}
template <typename T> inline void gemm(
    char transa, char transb, int64_t m, int64_t n, int64_t k, at::opmath_type<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
    at::opmath_type<T> beta, T* c, int64_t ldc) {
    bgemm<T>(transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
template <typename T> inline void gemv(
    char trans, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x, int64_t incx, T beta, T* y, int64_t incy) {
    if (n == 1) lda = __wb::blas_least(m);
    __wb_expect(__wb::blas_gemv(getCurrentCUDABlasHandle(), __wb_op_of(trans), m, n, c10::Scalar(alpha), a, lda, x, incx,
                                c10::Scalar(beta), y, incy),
                "gemv");
}
}
}
}
