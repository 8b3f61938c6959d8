// flags: -O3 -march=native -std=c++17 -fPIC -shared -pthread
// x (1 + tanh u) / 2 = x / (1 + e^(-2u)): one exponential and one division.
#include <cmath>
#include "pool.h"
#include "vec.h"

static inline Vec value(Vec x) {
    const float k = -2 * 0.7978845608f;
    Vec u = x * _mm512_fmadd_ps(x * x, all(k * 0.044715f), all(k));
    // Past 88 the exponential overflows, and the inverse of infinity is not a number after Newton's step.
    return x * inverse(all(1.0f) + vexp(_mm512_min_ps(u, all(87.0f))));
}

template <bool STREAM>
static void piece(const float* x, float* out, long begin, long end) {
    long i = begin;
    for (; i + 4 * LANES <= end; i += 4 * LANES)
        for (int u = 0; u < 4; ++u) put<STREAM>(out + i + u * LANES, value(load(x + i + u * LANES)));
    for (; i < end; ++i) out[i] = 0.5f * x[i] * (1 + std::tanh(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
    if (STREAM) _mm_sfence();
}

extern "C" void gelu(const float* x, float* out, long n) {
    bool stream = aligned(out);
    pool::pieces(n, 1 << 18, [=](long begin, long end) { (stream ? piece<true> : piece<false>)(x, out, begin, end); });
}
