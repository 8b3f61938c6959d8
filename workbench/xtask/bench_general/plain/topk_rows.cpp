// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void topk_rows(const float* x, float* values, int* indices, int rows, int cols) {
    constexpr int K = 8;
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        const float* row = x + (long)r * cols;
        float* best = values + r * K;
        int* where = indices + r * K;
        for (int k = 0; k < K; ++k) best[k] = -INFINITY, where[k] = -1;
        for (int i = 0; i < cols; ++i) {
            if (!(row[i] > best[K - 1])) continue;
            int k = K - 1;
            for (; k > 0 && row[i] > best[k - 1]; --k) best[k] = best[k - 1], where[k] = where[k - 1];
            best[k] = row[i], where[k] = i;
        }
    }
}
