// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void adam(float* params, const float* grads, float* ms, float* vs, int n, float rate, float beta1, float beta2, float correction1,
                     float correction2, float eps, float decay) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        float g = grads[i];
        float m = beta1 * ms[i] + (1 - beta1) * g;
        float v = beta2 * vs[i] + (1 - beta2) * g * g;
        ms[i] = m;
        vs[i] = v;
        params[i] -= rate * (m / correction1 / (std::sqrt(v / correction2) + eps) + decay * params[i]);
    }
}
