// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void csr_spmv(int rows, const int* row_ptr, const int* col_idx, const float* vals, const float* x, float* y) {
#pragma omp parallel for schedule(dynamic, 256)
    for (int r = 0; r < rows; ++r) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int j = row_ptr[r]; j < row_ptr[r + 1]; ++j) sum += vals[j] * x[col_idx[j]];
        y[r] = sum;
    }
}
