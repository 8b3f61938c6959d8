// flags: -O3 -march=native -std=c++17 -fPIC -shared -pthread
// Sixteen bodies a vector, four vectors at once; the other bodies are broadcast one by one.
#include "pool.h"
#include "vec.h"

// 1 / sqrt(x): 14 bits and one step of Newton's.
static inline Vec rsqrt(Vec x) {
    Vec y = _mm512_rsqrt14_ps(x);
    Vec h = x * all(-0.5f) * y;
    return y * _mm512_fmadd_ps(h, y, all(1.5f));
}

constexpr int VECS = 4;

static void group(const float* bodies, float* out, long n, float softening, long first) {
    alignas(64) float part[3][VECS * LANES];
    for (int l = 0; l < VECS * LANES; ++l)
        for (int d = 0; d < 3; ++d) part[d][l] = bodies[(first + l) * 4 + d];
    Vec x[VECS], y[VECS], z[VECS], ax[VECS], ay[VECS], az[VECS];
    for (int v = 0; v < VECS; ++v) {
        x[v] = load(part[0] + v * LANES), y[v] = load(part[1] + v * LANES), z[v] = load(part[2] + v * LANES);
        ax[v] = ay[v] = az[v] = all(0);
    }
    for (long j = 0; j < n; ++j) {
        const float* b = bodies + j * 4;
        Vec bx = all(b[0]), by = all(b[1]), bz = all(b[2]), mass = all(b[3]);
#pragma GCC unroll 4
        for (int v = 0; v < VECS; ++v) {
            Vec dx = bx - x[v], dy = by - y[v], dz = bz - z[v];
            Vec r2 = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, all(softening))));
            Vec inverse = rsqrt(r2);
            Vec scale = mass * inverse * (inverse * inverse);
            ax[v] = _mm512_fmadd_ps(dx, scale, ax[v]);
            ay[v] = _mm512_fmadd_ps(dy, scale, ay[v]);
            az[v] = _mm512_fmadd_ps(dz, scale, az[v]);
        }
    }
    for (int v = 0; v < VECS; ++v) {
        store(part[0] + v * LANES, ax[v]), store(part[1] + v * LANES, ay[v]), store(part[2] + v * LANES, az[v]);
    }
    for (int l = 0; l < VECS * LANES; ++l) {
        float* o = out + (first + l) * 4;
        o[0] = part[0][l], o[1] = part[1][l], o[2] = part[2][l], o[3] = 0;
    }
}

// The number of bodies is a multiple of 64.
extern "C" void nbody(const float* bodies, float* out, long n, float softening) {
    pool::chunks(n / (VECS * LANES), [=](long i) { group(bodies, out, n, softening, i * VECS * LANES); });
}
