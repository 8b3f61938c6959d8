// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void layernorm_float4(const float* x, const float* weight, const float* bias, float* out, int rows, int cols, float eps) {
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        const float* row = x + (long)r * cols;
        float* to = out + (long)r * cols;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < cols; ++i) sum += row[i];
        float mean = sum / cols;
#pragma omp simd reduction(+ : squares)
        for (int i = 0; i < cols; ++i) squares += (row[i] - mean) * (row[i] - mean);
        float scale = 1 / std::sqrt(squares / cols + eps);
        for (int i = 0; i < cols; ++i) to[i] = (row[i] - mean) * scale * weight[i] + bias[i];
    }
}
