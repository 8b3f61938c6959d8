// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cstring>

extern "C" void coo_spmv(int elements, int rows, const int* row, const int* col, const float* value, const float* x, float* y) {
    std::memset(y, 0, sizeof(float) * rows);
#pragma omp parallel for
    for (int i = 0; i < elements; ++i) {
        float product = x[col[i]] * value[i];
#pragma omp atomic
        y[row[i]] += product;
    }
}
