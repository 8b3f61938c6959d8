// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void attention_backward(const float* q, const float* k, const float* v, const float* go, const float* l, const float* delta,
                                   float* gk, float* gv, int heads, int n, float scale) {
    constexpr int D = 32;
#pragma omp parallel for collapse(2)
    for (int h = 0; h < heads; ++h) {
        for (int j = 0; j < n; ++j) {
            const float* kj = k + ((long)h * n + j) * D;
            const float* vj = v + ((long)h * n + j) * D;
            float dk[D] = {}, dv[D] = {};
            for (int i = 0; i < n; ++i) {
                const float* qi = q + ((long)h * n + i) * D;
                const float* gi = go + ((long)h * n + i) * D;
                float s = 0, dp = 0;
#pragma omp simd reduction(+ : s, dp)
                for (int d = 0; d < D; ++d) {
                    s += qi[d] * kj[d];
                    dp += gi[d] * vj[d];
                }
                float p = std::exp(s * scale - l[h * n + i]);
                float ds = p * (dp - delta[h * n + i]) * scale;
                for (int d = 0; d < D; ++d) {
                    dv[d] += p * gi[d];
                    dk[d] += ds * qi[d];
                }
            }
            for (int d = 0; d < D; ++d) {
                gk[((long)h * n + j) * D + d] = dk[d];
                gv[((long)h * n + j) * D + d] = dv[d];
            }
        }
    }
}
