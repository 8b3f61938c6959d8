// Fused AdamW: hyperparameters in a struct passed by value, four parameters a thread where they are aligned.

struct AdamConfig {
    float lr, beta1, beta2, eps, weight_decay;
    int step;

    __device__ float correction1() const { return 1.0f - powf(beta1, static_cast<float>(step)); }
    __device__ float correction2() const { return 1.0f - powf(beta2, static_cast<float>(step)); }
};

enum class Decay : int { kL2 = 0, kDecoupled = 1 };

template <Decay kDecay>
__device__ __forceinline__ void adam_update(float& p, float g, float& m, float& v, const AdamConfig& c, float bc1, float bc2_sqrt)
{
    if constexpr (kDecay == Decay::kL2) g += c.weight_decay * p;
    else p -= c.lr * c.weight_decay * p;
    m = c.beta1 * m + (1.0f - c.beta1) * g;
    v = c.beta2 * v + (1.0f - c.beta2) * g * g;
    p -= c.lr / bc1 * m / (sqrtf(v) / bc2_sqrt + c.eps);
}

template <Decay kDecay>
__global__ void adam_step(float* __restrict__ params, const float* __restrict__ grads, float* __restrict__ exp_avg,
                          float* __restrict__ exp_avg_sq, int n, const AdamConfig config)
{
    const float bc1 = config.correction1();
    const float bc2_sqrt = sqrtf(config.correction2());
    const int vectors = n / 4;
    const int stride = gridDim.x * blockDim.x;
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = tid; i < vectors; i += stride) {
        float4 p = reinterpret_cast<float4*>(params)[i];
        const float4 g = reinterpret_cast<const float4*>(grads)[i];
        float4 m = reinterpret_cast<float4*>(exp_avg)[i];
        float4 v = reinterpret_cast<float4*>(exp_avg_sq)[i];
        adam_update<kDecay>(p.x, g.x, m.x, v.x, config, bc1, bc2_sqrt);
        adam_update<kDecay>(p.y, g.y, m.y, v.y, config, bc1, bc2_sqrt);
        adam_update<kDecay>(p.z, g.z, m.z, v.z, config, bc1, bc2_sqrt);
        adam_update<kDecay>(p.w, g.w, m.w, v.w, config, bc1, bc2_sqrt);
        reinterpret_cast<float4*>(params)[i] = p;
        reinterpret_cast<float4*>(exp_avg)[i] = m;
        reinterpret_cast<float4*>(exp_avg_sq)[i] = v;
    }
    for (int i = vectors * 4 + tid; i < n; i += stride)
        adam_update<kDecay>(params[i], grads[i], exp_avg[i], exp_avg_sq[i], config, bc1, bc2_sqrt);
}
