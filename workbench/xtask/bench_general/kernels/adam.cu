// A step of Adam with decoupled decay of weights, in place.
__device__ inline float lerp(float start, float end, float weight) { return fmaf(weight, end, fmaf(-weight, start, start)); }

__global__ void adam(float* params, const float* grads, float* m_memory, float* v_memory, size_t num_parameters, float learning_rate,
                     float beta1, float beta2, float beta1_correction, float beta2_correction, float eps, float weight_decay) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_parameters) return;
    float grad = grads[i];
    float m = m_memory[i];
    float v = v_memory[i];
    m = lerp(grad, m, beta1);
    m_memory[i] = m;
    v = lerp(grad * grad, v, beta2);
    v_memory[i] = v;
    m /= beta1_correction;
    v /= beta2_correction;
    params[i] -= learning_rate * (m / (sqrtf(v) + eps) + weight_decay * params[i]);
}
