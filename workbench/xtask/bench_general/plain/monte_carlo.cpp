// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cstdint>

struct Pcg {
    uint64_t state = 0, inc;

    Pcg(uint64_t seed, uint64_t sequence) : inc(sequence << 1 | 1) {
        next();
        state += seed;
        next();
    }

    uint32_t next() {
        uint64_t old = state;
        state = old * 6364136223846793005ULL + inc;
        uint32_t shifted = ((old >> 18) ^ old) >> 27, turn = old >> 59;
        return shifted >> turn | shifted << (-turn & 31);
    }

    float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }
};

extern "C" void monte_carlo(int* hits, uint64_t seed, int samples, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        Pcg rng(seed, i);
        int inside = 0;
        for (int s = 0; s < samples; ++s) {
            float x = rng.uniform(), y = rng.uniform();
            inside += x * x + y * y <= 1.0f;
        }
        hits[i] = inside;
    }
}
