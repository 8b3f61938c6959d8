"""Kernels that several tests launch."""

SAXPY = """
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
MULADD = """
template <typename T> __global__ void muladd(const T* a, const T* b, float c, T* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + T(c);
}
"""
