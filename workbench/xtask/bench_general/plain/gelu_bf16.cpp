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

extern "C" void gelu_bf16(const uint16_t* x, const uint16_t* bias, uint16_t* out, int m, int n) {
#pragma omp parallel for
    for (int row = 0; row < m; ++row) {
        for (int col = 0; col < n; ++col) {
            float v = widen(x[(long)row * n + col]) + widen(bias[col]);
            out[(long)row * n + col] = narrow(0.5f * v * (1.0f + std::tanh(0.7978845608f * (v + 0.044715f * v * v * v))));
        }
    }
}
