// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void rmsnorm_half2(const _Float16* x, const _Float16* weight, _Float16* out, int rows, int cols, float eps) {
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        const _Float16* row = x + (long)r * cols;
        _Float16* to = out + (long)r * cols;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < cols; ++i) sum += (float)row[i] * (float)row[i];
        float scale = 1 / std::sqrt(sum / cols + eps);
        for (int i = 0; i < cols; ++i) to[i] = (_Float16)((float)row[i] * scale) * weight[i];
    }
}
