"""Operators that the tests of `op.export` share: kernels with what a launcher has to do in them."""

import numpy as np

import workbench as wb

KERNELS = """
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define HALF 0.5f

__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}

__global__ void muladd_backward(const float* g, const float* a, const float* b, float* ga, float* gb, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { ga[i] = g[i] * b[i]; gb[i] = g[i] * a[i]; }
}

__global__ void shifted(const float* x, const float* by, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + (by ? by[i] : 1.0f);
}

__global__ void shifted_backward(const float* g, float* gx, float* gby, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) gx[i] = gby[i] = g[i];
}

__device__ float block_sum(float value, float* partial) {
    partial[threadIdx.x] = value;
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) partial[threadIdx.x] += partial[threadIdx.x + k];
        __syncthreads();
    }
    float sum = partial[0];
    __syncthreads();
    return sum;
}

__global__ void __launch_bounds__(128) rms_norm(
    const float* __restrict__ x, const float* weight, float eps, float* __restrict__ y, int rows, int cols) {
    __shared__ float partial[128];
    int row = blockIdx.x;
    float squares = 0;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) squares += x[row * cols + j] * x[row * cols + j];
    float scale = rsqrtf(block_sum(squares, partial) / cols + eps);
    for (int j = threadIdx.x; j < cols; j += blockDim.x) y[row * cols + j] = x[row * cols + j] * scale * (weight ? weight[j] : 1.0f);
}

__global__ void scale_(double* x, double by, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}

__global__ void halve(const half* x, __half* y, unsigned n, bool negate) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { float v = __half2float(x[i]) * HALF * FACTOR; y[i] = __float2half(negate ? -v : v); }
}

__global__ void outer(const float* a, const float* b, float* out, int* counts, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) out[i * n + j] = a[i] * b[j];
    if (i < m && j == 0) atomicAdd(&counts[0], 1);
}

template <typename T, int N>
__global__ void pick(const T* x, const long long* index, T* y, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i] % rows] * N;
}
template __global__ void pick<double, 2>(const double*, const long long*, double*, int, int);

// Called as its argument is, and arguments as the launcher's own variables.
__global__ void scale(const float* x, float scale, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * scale;
}

__global__ void linear(const float* x, const float* block, float* y, int in, int out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= out) return;
    float sum = 0;
    for (int j = 0; j < in; ++j) sum += block[i * in + j] * x[j];
    y[i] = sum;
}

struct Pair { float re, im; };
__global__ void conjugate(const Pair* grid, Pair* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { y[i].re = grid[i].re; y[i].im = -grid[i].im; }
}

__global__ void turned(const float4* a, float4* o, int q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < q) { float4 v = a[i]; o[i] = make_float4(v.w, v.z, v.y, v.x); }
}
"""

SWAP = """
namespace lab {
__global__ void swap(const float* a, float* o) { o[threadIdx.x] = __shfl_xor_sync(~0u, a[threadIdx.x], 1); }
}  // namespace lab
"""

# A kernel with as much dynamic shared memory as a row has.
MIRRORED = """
__global__ void mirrored(const float* x, float* y, int cols) {
    extern __shared__ float row[];
    for (int j = threadIdx.x; j < cols; j += blockDim.x) row[j] = x[blockIdx.x * cols + j];
    __syncthreads();
    for (int j = threadIdx.x; j < cols; j += blockDim.x) y[blockIdx.x * cols + j] = row[cols - 1 - j];
}
"""


# The norm's sums are of 300 products in float32, an error of 300 units of 2^-24 at most; linear's of five, whose terms may cancel.
TOLERANCES = {"rms_norm": 2e-5, "linear": 1e-5}


def operators(namespace):
    """Made in `namespace`, which no other test uses."""
    text = wb.compile(KERNELS, defines={"FACTOR": "3.0f"})

    def op(schema, kernel, **options):
        return wb.op(f"{namespace}::{schema}", text, kernel, **options)

    muladd = op("muladd(Tensor a, Tensor b, float c=1.0) -> Tensor", "muladd", shape="a[n], b[n] -> out[n]")
    op("muladd_backward(Tensor g, Tensor a, Tensor b) -> (Tensor, Tensor)", "muladd_backward", shape="g[n], a[n], b[n] -> ga[n], gb[n]")
    muladd.register_autograd(f"{namespace}::muladd_backward", saves=["a", "b"])
    shifted = op("shifted(Tensor x, Tensor? by=None) -> Tensor", "shifted", shape="x[n], by[n] -> out[n]")
    op("shifted_backward(Tensor g) -> (Tensor, Tensor)", "shifted_backward", shape="g[n] -> gx[n], gby[n]")
    shifted.register_autograd(f"{namespace}::shifted_backward", saves=[])
    return [
        muladd,
        # A call that leaves its last argument out passes no more than the first to autograd.
        shifted,
        op(
            "rms_norm(Tensor x, Tensor? weight=None, *, float eps=1e-5) -> Tensor",
            "rms_norm",
            shape="x[rows,cols], weight[cols] -> y[rows,cols]",
            grid="rows",
            block=128,
        ),
        op("scale_(Tensor(a!) x, Scalar by) -> Tensor(a!)", "scale_"),
        op("halve(Tensor x, bool negate) -> Tensor", "halve", shape="x[*] -> y[*]"),
        # Written in place, as a kernel that adds up has to.
        op("outer(Tensor a, Tensor b, Tensor(c!) counts) -> Tensor", "outer", shape="a[m], b[n], counts[1] -> out[m,n]", threads="n, m"),
        op("pick(Tensor x, Tensor index) -> Tensor", "pick<double, 2>", shape="x[rows], index[n] -> y[n]"),
        op("scale(Tensor x, float scale) -> Tensor", "scale", shape="x[*] -> y[*]"),
        op("scale.v2(Tensor a, Tensor b, float c) -> Tensor", "muladd", shape="a[n], b[n] -> out[n]"),
        op("linear(Tensor x, Tensor block) -> Tensor", "linear", shape="x[in], block[out,in] -> y[out]"),
        op("conjugate(Tensor grid) -> Tensor", "conjugate", shape="grid[n,2] -> y[n,2]", threads="n"),
        op("turned(Tensor a) -> Tensor", "turned", shape="a[q,4] -> o[q,4]", threads="q"),
        # Operators that have no CPU half.
        wb.op(f"{namespace}::mirrored(Tensor x) -> Tensor", MIRRORED, shape="x[r,cols] -> y[r,cols]", grid="r", block=64, shared_mem="4 * cols"),
        wb.op(f"{namespace}::swap(Tensor a) -> Tensor", SWAP, shape="a[32] -> o[32]", threads="32", block=32),
    ]


def arguments(rng):
    """Calls by name, with what they give: NumPy's results and, for those that write, the new values."""
    a, b = rng.standard_normal((2, 1003)).astype(np.float32)
    x, w = rng.standard_normal((5, 300)).astype(np.float32), rng.standard_normal(300).astype(np.float32)
    rms = (x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-5)).astype(np.float32)
    h = rng.standard_normal((3, 7)).astype(np.float16)
    d, index = rng.standard_normal(6), rng.integers(0, 6, 401)
    q, s = rng.standard_normal((9, 4)).astype(np.float32), rng.standard_normal(32).astype(np.float32)
    return [
        ("muladd", (a, b), {}, a * b + np.float32(1)),
        ("muladd", (a[:0], b[:0], 2.0), {}, a[:0]),
        ("shifted", (a,), {}, a + np.float32(1)),
        ("shifted", (a, b), {}, a + b),
        ("rms_norm", (x,), {}, rms),
        ("rms_norm", (x, w), {"eps": 1e-5}, rms * w),
        ("scale_", (d.copy(), 2.5), {}, d * 2.5),
        ("halve", (h, True), {}, (h.astype(np.float32) * np.float32(-1.5)).astype(np.float16)),
        ("outer", (a[:5], b[:33], np.array([10], np.int32)), {}, np.outer(a[:5], b[:33])),
        ("pick", (d, index), {}, d[index] * 2),
        ("scale", (a, 3.0), {}, a * np.float32(3)),
        ("linear", (a[:5], x[:3, :5].copy()), {}, (x[:3, :5] * a[:5]).astype(np.float64).sum(1)),
        ("conjugate", (q[:, :2].copy(),), {}, q[:, :2] * np.array([1, -1], np.float32)),
        ("turned", (q,), {}, q[:, ::-1]),
        ("mirrored", (x,), {}, x[:, ::-1]),
        ("swap", (s,), {}, s.reshape(16, 2)[:, ::-1].reshape(32)),
    ]
