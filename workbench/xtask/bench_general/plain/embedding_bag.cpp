// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cstdint>

extern "C" void embedding_bag(const int64_t* input, const int64_t* offsets, const float* weight, float* out, int bags, int indices,
                              int features) {
#pragma omp parallel for
    for (int bag = 0; bag < bags; ++bag) {
        int64_t end = bag + 1 < bags ? offsets[bag + 1] : indices;
        float* row = out + (int64_t)bag * features;
        for (int f = 0; f < features; ++f) row[f] = 0;
        for (int64_t i = offsets[bag]; i < end; ++i) {
            const float* from = weight + input[i] * features;
            for (int f = 0; f < features; ++f) row[f] += from[f];
        }
    }
}
