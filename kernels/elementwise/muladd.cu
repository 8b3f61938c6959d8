// a * b + c, and its gradient with respect to a and b.

__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}

__global__ void muladd_backward(const float* a, const float* b, const float* grad, float* grad_a, float* grad_b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        grad_a[i] = grad[i] * b[i];
        grad_b[i] = grad[i] * a[i];
    }
}
