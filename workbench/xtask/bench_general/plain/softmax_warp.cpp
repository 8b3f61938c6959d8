// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void softmax_warp(const float* x, float* out, int rows, int cols) {
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        const float* in = x + (long)r * cols;
        float* to = out + (long)r * cols;
        float largest = -INFINITY, sum = 0;
#pragma omp simd reduction(max : largest)
        for (int i = 0; i < cols; ++i) largest = in[i] > largest ? in[i] : largest;
        for (int i = 0; i < cols; ++i) {
            to[i] = std::exp(in[i] - largest);
            sum += to[i];
        }
        float scale = 1 / sum;
        for (int i = 0; i < cols; ++i) to[i] *= scale;
    }
}
