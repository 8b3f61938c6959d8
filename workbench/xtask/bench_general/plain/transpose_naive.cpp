// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void transpose_naive(const float* in, float* out, int width, int height) {
#pragma omp parallel for
    for (int x = 0; x < width; ++x)
        for (int y = 0; y < height; ++y) out[(long)x * height + y] = in[(long)y * width + x];
}
