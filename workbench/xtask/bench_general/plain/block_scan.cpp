// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void block_scan(const float* x, float* out, int n) {
#pragma omp parallel for
    for (int block = 0; block < n; block += 1024) {
        int end = block + 1024 < n ? block + 1024 : n;
        float sum = 0;
        for (int i = block; i < end; ++i) {
            sum += x[i];
            out[i] = sum;
        }
    }
}
