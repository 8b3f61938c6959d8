// max(x, 0), and its gradient (0 at 0, as torch has it).

__global__ void relu(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = fmaxf(x[i], 0.0f);
    }
}

__global__ void relu_backward(const float* x, const float* grad, float* grad_x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        grad_x[i] = x[i] > 0.0f ? grad[i] : 0.0f;
    }
}
