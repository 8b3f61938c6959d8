// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void dp4a_matvec(const signed char* matrix, const signed char* vector, int* out, int rows, int cols) {
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        const signed char* row = matrix + (long)r * cols;
        int sum = 0;
        for (int i = 0; i < cols; ++i) sum += row[i] * vector[i];
        out[r] = sum;
    }
}
