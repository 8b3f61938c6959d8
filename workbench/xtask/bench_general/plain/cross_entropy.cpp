// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void cross_entropy(const float* logits, const int* targets, float* losses, float* log_sums, int rows, int classes) {
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        const float* row = logits + (long)r * classes;
        float largest = -INFINITY, sum = 0;
#pragma omp simd reduction(max : largest)
        for (int i = 0; i < classes; ++i) largest = row[i] > largest ? row[i] : largest;
        for (int i = 0; i < classes; ++i) sum += std::exp(row[i] - largest);
        log_sums[r] = largest + std::log(sum);
        losses[r] = log_sums[r] - row[targets[r]];
    }
}
