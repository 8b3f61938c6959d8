// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>
#include <cstdint>
#include <cstring>

static float widen(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float out;
    std::memcpy(&out, &bits, 4);
    return out;
}

// To the nearest, ties to even; no NaN comes here.
static uint16_t narrow(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

extern "C" void swiglu_bf16(const uint16_t* gate, const uint16_t* up, uint16_t* out, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        float g = widen(gate[i]);
        out[i] = narrow(g / (1.0f + std::exp(-g)) * widen(up[i]));
    }
}
