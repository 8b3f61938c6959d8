// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void histogram_shared(const float* x, unsigned* bins, int n, float low, float scale) {
    constexpr int BINS = 512;
    for (int b = 0; b < BINS; ++b) bins[b] = 0;
#pragma omp parallel for reduction(+ : bins[:BINS])
    for (int i = 0; i < n; ++i) {
        int bin = (int)((x[i] - low) * scale);
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
        ++bins[bin];
    }
}
