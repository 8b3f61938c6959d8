// GELU in its tanh form (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, section 2), forward and backward.

#define SQRT_2_OVER_PI 0.7978845608f
#define CUBIC 0.044715f

__device__ float gelu_inner(float x) {
    return SQRT_2_OVER_PI * (x + CUBIC * x * x * x);
}

__global__ void gelu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1.0f + tanhf(gelu_inner(x[i])));
}

__global__ void gelu_backward(const float* x, const float* grad, float* grad_x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = tanhf(gelu_inner(x[i]));
        float slope = SQRT_2_OVER_PI * (1.0f + 3.0f * CUBIC * x[i] * x[i]);
        grad_x[i] = grad[i] * (0.5f * (1.0f + t) + 0.5f * x[i] * (1.0f - t * t) * slope);
    }
}
