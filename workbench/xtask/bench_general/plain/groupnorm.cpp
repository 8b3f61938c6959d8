// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void groupnorm(const float* x, const float* gamma, const float* beta, float* out, int batch, int channels, int groups, int plane,
                          float eps) {
    int per_group = channels / groups;
#pragma omp parallel for
    for (int b = 0; b < batch * groups; ++b) {
        long size = (long)per_group * plane;
        const float* in = x + b * size;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
        for (long i = 0; i < size; ++i) {
            sum += in[i];
            squares += in[i] * in[i];
        }
        float mean = sum / size, rstd = 1 / std::sqrt(squares / size - mean * mean + eps);
        for (int k = 0; k < per_group; ++k) {
            int c = b % groups * per_group + k;
            float a = rstd * gamma[c], shift = beta[c] - mean * a;
            const float* from = in + (long)k * plane;
            float* to = out + b * size + (long)k * plane;
            for (int p = 0; p < plane; ++p) to[p] = from[p] * a + shift;
        }
    }
}
