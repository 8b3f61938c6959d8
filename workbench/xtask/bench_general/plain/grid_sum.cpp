// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void grid_sum(const float* x, float* out, int n) {
    float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += x[i];
    *out = sum;
}
