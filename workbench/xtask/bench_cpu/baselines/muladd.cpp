// flags: -O3 -march=native -std=c++17 -fPIC -shared -pthread
// Streams: what is written is not read again soon, so it goes past the caches.
#include "pool.h"
#include "vec.h"

template <bool STREAM>
static void piece(const float* a, const float* b, const float* c, float* out, long begin, long end) {
    long i = begin;
    for (; i + 4 * LANES <= end; i += 4 * LANES)
        for (int u = 0; u < 4; ++u) {
            long j = i + u * LANES;
            put<STREAM>(out + j, _mm512_fmadd_ps(load(a + j), load(b + j), load(c + j)));
        }
    for (; i < end; ++i) out[i] = a[i] * b[i] + c[i];
    if (STREAM) _mm_sfence();
}

extern "C" void muladd(const float* a, const float* b, const float* c, float* out, long n) {
    bool stream = aligned(out);
    pool::pieces(n, 1 << 18, [=](long begin, long end) { (stream ? piece<true> : piece<false>)(a, b, c, out, begin, end); });
}
