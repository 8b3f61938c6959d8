// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <algorithm>

// Columns of a piece of rows at a time, as they lie in memory.
extern "C" void ell_spmv(int rows, int per_row, const int* indices, const float* data, const float* x, float* y) {
    constexpr int PIECE = 1024;
#pragma omp parallel for
    for (int begin = 0; begin < rows; begin += PIECE) {
        int end = std::min(begin + PIECE, rows);
        for (int r = begin; r < end; ++r) y[r] = 0;
        for (int n = 0; n < per_row; ++n) {
            const int* columns = indices + (long)rows * n;
            const float* values = data + (long)rows * n;
            for (int r = begin; r < end; ++r)
                if (columns[r] >= 0) y[r] += values[r] * x[columns[r]];
        }
    }
}
