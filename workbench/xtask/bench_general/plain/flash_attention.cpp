// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>
#include <vector>

extern "C" void flash_attention(const float* q, const float* k, const float* v, float* o, float* l, int heads, int n, float scale) {
    constexpr int D = 64;
#pragma omp parallel
    {
        std::vector<float> p(n);
#pragma omp for collapse(2)
        for (int h = 0; h < heads; ++h) {
            for (int i = 0; i < n; ++i) {
                const float* qi = q + ((long)h * n + i) * D;
                const float* kh = k + (long)h * n * D;
                const float* vh = v + (long)h * n * D;
                float largest = -INFINITY, sum = 0, acc[D] = {};
                for (int j = 0; j < n; ++j) {
                    float dot = 0;
#pragma omp simd reduction(+ : dot)
                    for (int d = 0; d < D; ++d) dot += qi[d] * kh[j * D + d];
                    p[j] = dot * scale;
                    largest = p[j] > largest ? p[j] : largest;
                }
                for (int j = 0; j < n; ++j) {
                    float e = std::exp(p[j] - largest);
                    sum += e;
                    for (int d = 0; d < D; ++d) acc[d] += e * vh[j * D + d];
                }
                for (int d = 0; d < D; ++d) o[((long)h * n + i) * D + d] = acc[d] / sum;
                l[(long)h * n + i] = largest + std::log(sum);
            }
        }
    }
}
