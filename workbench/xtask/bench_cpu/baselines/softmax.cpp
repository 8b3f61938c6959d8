// flags: -O3 -march=native -std=c++17 -fPIC -shared -pthread
// A row of the exponentials stays in the first cache between the two passes over it. Rows are whole vectors, 8192 elements at most.
#include <cmath>
#include "pool.h"
#include "vec.h"

template <bool STREAM>
static void row(const float* x, float* out, long cols) {
    alignas(64) float held[8192];
    Vec m0 = all(-INFINITY), m1 = m0, m2 = m0, m3 = m0;
    long i = 0;
    for (; i + 4 * LANES <= cols; i += 4 * LANES) {
        m0 = _mm512_max_ps(m0, load(x + i));
        m1 = _mm512_max_ps(m1, load(x + i + LANES));
        m2 = _mm512_max_ps(m2, load(x + i + 2 * LANES));
        m3 = _mm512_max_ps(m3, load(x + i + 3 * LANES));
    }
    for (; i < cols; i += LANES) m0 = _mm512_max_ps(m0, load(x + i));
    Vec largest = all(_mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(m0, m1), _mm512_max_ps(m2, m3))));
    Vec s0 = all(0), s1 = s0, s2 = s0, s3 = s0;
    for (i = 0; i + 4 * LANES <= cols; i += 4 * LANES) {
        Vec e0 = vexp(load(x + i) - largest), e1 = vexp(load(x + i + LANES) - largest);
        Vec e2 = vexp(load(x + i + 2 * LANES) - largest), e3 = vexp(load(x + i + 3 * LANES) - largest);
        s0 += e0, s1 += e1, s2 += e2, s3 += e3;
        store(held + i, e0), store(held + i + LANES, e1), store(held + i + 2 * LANES, e2), store(held + i + 3 * LANES, e3);
    }
    for (; i < cols; i += LANES) {
        Vec e = vexp(load(x + i) - largest);
        s0 += e;
        store(held + i, e);
    }
    Vec scale = all(1 / _mm512_reduce_add_ps((s0 + s1) + (s2 + s3)));
    for (i = 0; i < cols; i += LANES) put<STREAM>(out + i, load(held + i) * scale);
}

extern "C" void softmax(const float* x, float* out, long rows, long cols) {
    bool stream = aligned(out);
    pool::pieces(rows, 32, [=](long begin, long end) {
        for (long r = begin; r < end; ++r) (stream ? row<true> : row<false>)(x + r * cols, out + r * cols, cols);
        if (stream) _mm_sfence();
    });
}
