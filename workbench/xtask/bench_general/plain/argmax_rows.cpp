// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void argmax_rows(const float* x, int* out, int rows, int cols) {
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        const float* row = x + (long)r * cols;
        int best = 0;
        for (int i = 1; i < cols; ++i)
            if (row[i] > row[best]) best = i;
        out[r] = best;
    }
}
