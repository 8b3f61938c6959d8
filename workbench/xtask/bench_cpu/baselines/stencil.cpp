// flags: -O3 -march=native -std=c++17 -fPIC -shared -pthread
// One plane of z a chunk: three planes of the input stay in the caches of the core; rows of the output are streamed.
#include <cstring>
#include "pool.h"
#include "vec.h"

template <bool STREAM>
static void plane(const float* in, float* out, long n, float centre, float side, long z) {
    long n2 = n * n;
    const float* p = in + z * n2;
    float* q = out + z * n2;
    if (z == 0 || z == n - 1) {
        std::memcpy(q, p, n2 * sizeof(float));
        return;
    }
    std::memcpy(q, p, n * sizeof(float));
    std::memcpy(q + n2 - n, p + n2 - n, n * sizeof(float));
    Vec middle = all(centre), around = all(side);
    for (long y = 1; y < n - 1; ++y) {
        const float* r = p + y * n;
        float* s = q + y * n;
        long x = 0;
        for (; x + LANES <= n; x += LANES) {
            const float* t = r + x;
            // The ends of a row are read one element further, which is inside the array: 0 < y < n - 1.
            Vec here = load(t);
            Vec sum = (load(t - 1) + load(t + 1)) + (load(t - n) + load(t + n)) + (load(t - n2) + load(t + n2));
            Vec value = _mm512_fmadd_ps(middle, here, around * sum);
            __mmask16 copied = (x == 0 ? 1 : 0) | (x + LANES == n ? 0x8000 : 0);
            put<STREAM>(s + x, _mm512_mask_mov_ps(value, copied, here));
        }
        for (; x < n; ++x)
            s[x] = x == 0 || x == n - 1 ? r[x] : centre * r[x] + side * (r[x - 1] + r[x + 1] + r[x - n] + r[x + n] + r[x - n2] + r[x + n2]);
    }
    if (STREAM) _mm_sfence();
}

extern "C" void stencil(const float* in, float* out, long n, float centre, float side) {
    bool stream = aligned(out) && n % LANES == 0;
    const long planes = 8;
    pool::pieces(n, planes, [=](long begin, long end) {
        for (long z = begin; z < end; ++z) (stream ? plane<true> : plane<false>)(in, out, n, centre, side, z);
    });
}
